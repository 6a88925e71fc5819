"""`tailproof solve`: run a private mean estimator on a user's file."""

from __future__ import annotations

import argparse
import inspect
import warnings
from typing import Any

import numpy as np

from refimpl.catalogue import ALGORITHMS, Implementation, Setting
from refimpl.channel import ledger, run, spends_of
from refimpl.claims import claim_to_json
from refimpl.validation import InputError, records
from verification.datafile import read_table


def solve(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """(JSON value, readable lines)."""
    implementation = _implementation(arguments.id)
    parameters = _parameters(arguments, implementation)
    table = read_table(arguments.data)
    data = records("data", table.rows if not arguments.columns else table.select(arguments.columns))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimate, transcript = run(implementation.mechanism, data, np.random.default_rng(arguments.seed), **parameters)
    n, d = data.shape
    claim = implementation.privacy(Setting(n, d, parameters))
    assert claim is not None
    books: list[dict[str, Any]] = [
        {"records": count, "releases": len(names), "spends": [str(spend) for spend in spends_of(transcript, names)][:3]}
        for names, count in ledger(transcript, n).items()
    ]
    vector = np.atleast_1d(estimate).tolist()
    value = {
        "algorithm": arguments.id,
        "records": n,
        "parameters": parameters,
        "claim": claim_to_json(claim),
        "ledger": books,
        "estimate": vector,
        "notes": [str(note.message) for note in caught],
    }
    lines = [f"{arguments.id} on {n} records of {d} columns", f"claim: {claim}, {claim.neighbouring}"]
    lines += [
        f"ledger: {b['releases']} release(s) touch each of {b['records']} records, spending {b['spends'][0]} each"
        for b in books
    ]
    lines += [f"note: {note}" for note in value["notes"]]
    lines.append("estimate: " + " ".join(f"{x:.10g}" for x in vector))
    return value, "\n".join(lines)


def _implementation(identifier: str) -> Implementation:
    usable = [a for a in ALGORITHMS if a.implementation is not None and not a.implementation.query]
    for entry in usable:
        if entry.id == identifier and entry.implementation is not None:
            return entry.implementation
    raise InputError(f"id = {identifier!r}: must be one of {', '.join(entry.id for entry in usable)}")


def _parameters(arguments: argparse.Namespace, implementation: Implementation) -> dict[str, Any]:
    """The flags and the `--set` pairs, checked against what the estimator takes."""
    signature = inspect.signature(implementation.mechanism).parameters
    known = {name: p for name, p in signature.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}
    given: dict[str, Any] = {name: v for name in ("epsilon", "delta", "rho") if (v := getattr(arguments, name)) is not None}
    for pair in arguments.set:
        name, equals, text = pair.partition("=")
        if not equals:
            raise InputError(f"set = {pair!r}: must read NAME=VALUE")
        given[name] = _value(text)
    unknown = [name for name in given if name not in known]
    needed = [name for name, p in known.items() if p.default is inspect.Parameter.empty and name not in given]
    if unknown or needed:
        wrong = f"{unknown[0]} is not a parameter" if unknown else f"{needed[0]} is missing"
        raise InputError(f"{wrong}: {arguments.id} takes {', '.join(_described(p) for p in known.values())}")
    return given


def _described(parameter: inspect.Parameter) -> str:
    return (
        parameter.name if parameter.default is inspect.Parameter.empty else f"{parameter.name} (default {parameter.default})"
    )


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
