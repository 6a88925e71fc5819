"""The public numbers of a problem as flags of the command line, and the parameters that an optimiser's preset makes of them."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np

from tailproof.refimpl.approx_dp.presets import THEORY, Facts, Kind, preset
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.validation import InputError, MissingError, RangeError
from tailproof.verification.shown import Shown, Table

Numbers: TypeAlias = dict[str, Any]

# Of whose moments --moment-order and --moment-bound speak, as the paper's theorems have it.
MOMENTS = {"P0": "norm", "P1": "coordinate", "P2": "direction", "P3": "coordinate"}

PLAIN = ("smoothness", "record_smoothness", "strong_convexity", "lipschitz", "theta", "sparsity", "mean_slope", "failure")
FACTS = ("moment_order", "moment_bound", *PLAIN)
FLAGS = {"sparsity": "true_sparsity"}  # a flag of this name stands for the fact

MOST_WORK = 1e11
"""Gradients of single records in a run: hours."""


def given_facts(arguments: argparse.Namespace) -> Numbers:
    """The public numbers among the flags, by the flags' names."""
    flags = (FLAGS.get(name, name) for name in FACTS)
    return {flag: value for flag in flags if (value := getattr(arguments, flag)) is not None}


def parameters_of(
    identifier: str, given: Numbers, kind: Kind, *, records: int, dimension: int, domain: Domain | None, claim: Numbers
) -> Numbers:
    """What the preset chooses; a public number that it lacks is asked for by its flag."""
    moments = MOMENTS[identifier.partition(".")[0]]
    known = {name: given.get(FLAGS.get(name, name)) for name in PLAIN}
    known |= {f"{moments}_order": given.get("moment_order"), f"{moments}_moment": given.get("moment_bound")}
    diameter = math.inf if domain is None else domain.diameter_upper()
    sizes: Numbers = {"records": records, "dimension": dimension, "diameter": diameter, **claim}
    facts = Facts(**sizes, **{name: value for name, value in known.items() if value is not None})
    if kind == "theory" and identifier not in THEORY:
        raise InputError(f"preset = 'theory': no theorem chooses the parameters of {identifier}; must be 'tuned'")
    try:
        chosen = preset(identifier, facts, kind)
    except MissingError as error:
        raise InputError(f"--{flag_of(error.name)} is missing: the {kind} preset of {identifier} needs it") from None
    except RangeError as error:
        raise RangeError(flag_of(error.name).replace("-", "_"), error.value, error.allowed) from None
    if (work := _work(chosen, records)) > MOST_WORK:
        raise InputError(
            f"preset = {kind!r}: {identifier} would take {work:.2g} gradients of single records here; at most {MOST_WORK:.0e} "
            "are allowed"
        )
    return chosen


def flag_of(fact: str) -> str:
    for ending, flag in (("_moment", "moment_bound"), ("_order", "moment_order")):
        if fact.endswith(ending):
            fact = flag
    return FLAGS.get(fact, fact).replace("_", "-")


def _work(parameters: Numbers, records: int) -> float:
    parts = [part for value in parameters.values() if _is_parts(value) for part in value]
    if parts:
        return float(sum(_work(_members(part), part.size) for part in parts))
    return float(records * parameters.get("steps", 1)) if "batch" not in parameters else 0.0


# ------------------------------------------------------------------------------------------------------------- said and kept


def described(parameters: Numbers, indent: str = "  ") -> list[Shown]:
    """Numbers on a line, phases and parts in tables below it."""
    plain = {name: value for name, value in parameters.items() if not _is_parts(value)}
    lines: list[Shown] = [indent + ", ".join(f"{name} = {_text(value)}" for name, value in plain.items())] if plain else []
    for name, parts in parameters.items():
        if not _is_parts(parts):
            continue
        rows = [_members(part) for part in parts]
        lines.append(f"{indent}{name}:")
        if any(_is_parts(value) for value in rows[0].values()):
            for row in rows:
                lines += described(row, indent + "  ")
        else:
            cells = [[_text(value) for value in row.values()] for row in rows]
            lines.append(Table(cells, list(rows[0]), indent=len(indent) + 2))
    return lines


def as_json(value: Any) -> Any:
    """The value with its phases and parts as JSON objects."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return {name: as_json(item) for name, item in _members(value).items()}
    if isinstance(value, dict):
        return {name: as_json(item) for name, item in value.items()}
    return [as_json(item) for item in value] if isinstance(value, tuple | list) else value


def _is_parts(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and bool(value) and is_dataclass(value[0])


def _members(part: Any) -> Numbers:
    return {field.name: getattr(part, field.name) for field in fields(part)}


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
