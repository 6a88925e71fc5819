"""Witnesses of audits: the pair of neighbours on which a claim was refuted, and what it takes to refute it there again, as JSON.

A replay runs the subject again on this pair, with coins of its own: the verdict of a false alarm would hardly repeat itself.  The
subject is found by MODULE:FUNCTION, in the folder from which it was imported, or by the program's command line; a function without
such a name is handed to `replay_audit`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from tailproof.refimpl.claims import claim_from_json, claim_to_json
from tailproof.refimpl.validation import InputError
from tailproof.verification import files
from tailproof.verification.auditing import limits
from tailproof.verification.auditing.audit import audit
from tailproof.verification.auditing.places import load
from tailproof.verification.auditing.programs import CommandRunner
from tailproof.verification.auditing.result import AuditResult
from tailproof.verification.auditing.runner import Runner
from tailproof.verification.report import plain

LARGEST = 10**6  # numbers of a data set that a witness holds
TIME_LIMIT = 60.0  # seconds of a program's batch


# --- writing and running again ----------------------------------------------------------------------------------------------


def witness_of_audit(result: AuditResult, place: Mapping[str, Any], *, budget: int) -> dict[str, Any] | None:
    """What `replay_audit` needs; None where the data are not arrays or lists of numbers of a size to be written down."""
    if result.pair is None:
        return None
    data, neighbour = map(_written, result.pair)
    if data is None or neighbour is None:
        return None
    witness: dict[str, Any] = plain(
        {
            "tailproof": "witness",
            "check": "audit",
            **place,
            "claim": claim_to_json(result.claim),
            "budget": budget,
            "confidence": result.confidence,
            "sequential": result.sequential,
            "exhaustive": result.exhaustive,
            "shrunk": result.shrunk,
            "seed": result.seed,
            f"{result.parameter}_lower": result.lower,
            "region": result.witness["region"],
            "data": data,
            "neighbour": neighbour,
        }
    )
    return witness


def _written(data: Any) -> dict[str, Any] | None:
    """Numbers with what an empty array or a list of whole numbers would lose."""
    try:
        values = np.asarray(data)
    except ValueError:
        return None
    if values.dtype.kind not in "biuf" or values.size > LARGEST or not np.isfinite(values).all():
        return None
    kind = "list" if isinstance(data, list) else str(values.dtype)
    return {"kind": kind, "shape": list(values.shape), "values": values.ravel().tolist()}


def _read(written: dict[str, Any]) -> Any:
    kind = written["kind"]
    if kind != "list" and np.dtype(kind).kind not in "biuf":
        raise ValueError(f"no numbers: {kind}")
    values = np.array(written["values"], dtype=None if kind == "list" else kind).reshape(written["shape"])
    return values.tolist() if kind == "list" else values


def write_witness(witness: dict[str, Any], path: Path) -> None:
    files.make_folder("witness", path.parent)
    files.write("witness", path, json.dumps(witness, allow_nan=False) + "\n")


def read_witness(path: Path) -> dict[str, Any]:
    try:
        witness = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"witness = {str(path)!r}: there is no such file") from None
    except OSError as error:
        raise InputError(f"witness = {str(path)!r}: could not be read ({error.strerror})") from None
    except ValueError as error:
        raise InputError(f"witness = {str(path)!r}: is not a JSON file ({error})") from None
    if not isinstance(witness, dict) or witness.get("tailproof") != "witness":
        raise InputError(f"witness = {str(path)!r}: is not a witness written by tailproof")
    return witness


def replay_audit(
    witness: dict[str, Any] | str | Path, mechanism: Callable[..., Any] | Runner | None = None, *, seed: int | None = None
) -> AuditResult:
    """Audit the pair of a witness again, of the mechanism that it names or of this one: `violated` if it still violates."""
    found = witness if isinstance(witness, dict) else read_witness(Path(witness))
    if found.get("check") != "audit":
        raise InputError(f"witness: is one of the check {found.get('check')!r}; must be one of an audit")
    try:
        claim = claim_from_json(found["claim"])
        pair = _read(found["data"]), _read(found["neighbour"])
        settings = {key: found[key] for key in ("budget", "confidence")}
        settings["exhaustive"] = bool(found.get("exhaustive", not found["sequential"]))
        seed = found["seed"] + 1 if seed is None else seed  # not the coins that chose this pair
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"witness: damaged or of another version ({type(error).__name__}: {error})") from None
    with ExitStack() as stack:
        subject = mechanism if mechanism is not None else _subject(found, stack)
        return audit(subject, claim, [pair], seed=seed, **settings)


def _subject(witness: dict[str, Any], stack: ExitStack) -> Callable[..., Any] | Runner:
    if "command" in witness:
        return stack.enter_context(
            CommandRunner(witness["command"], time_limit=TIME_LIMIT, parameters=witness.get("parameters"))
        )
    if "mechanism" in witness:
        return load("mechanism", witness["mechanism"], witness.get("folder"))
    raise InputError(
        "witness: names no function that can be imported; call tailproof.verification.replay_audit(FILE, mechanism)"
    )


def replayed(witness: dict[str, Any]) -> tuple[int, dict[str, Any], str]:
    """(exit code, JSON value, text) of `tailproof replay`: as `tailproof audit` has them."""
    result = replay_audit(witness)
    subject = witness.get("mechanism", witness.get("command"))
    claimed = limits.parameter(result.claim)
    verdict = {"violated": "still violates", "consistent": "does not violate", "inconclusive": "no verdict"}[result.verdict]
    value = {
        "mechanism": subject,
        "check": "audit",
        "claimed": claimed,
        "found": result.lower,
        "violates": result.verdict == "violated",
        "detail": str(result),
        "audit": result.to_json(),
    }
    code = {"violated": 1, "consistent": 0, "inconclusive": 4}[result.verdict]
    return code, value, f"{subject}, audit:\n{result}\nclaimed {claimed:.12g}, found {result.lower:.12g}: {verdict}"
