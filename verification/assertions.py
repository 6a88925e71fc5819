"""`assert_private`: an audit as an assertion of a test.

A claim that is refuted raises `ClaimRefuted`, whose text says what was claimed and found, on which neighbours, and how to run it
again.  A test that passes says that so many runs did not refute the claim, and nothing more.  `sessions` says how all assertions
of a test session together keep their chance of a false alarm.
"""

from __future__ import annotations

import inspect
import math
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tailproof.refimpl.claims import Claim
from tailproof.refimpl.validation import probability
from tailproof.verification import sessions
from tailproof.verification.auditing.audit import audit, checked_claim, stated_space
from tailproof.verification.auditing.places import place_of
from tailproof.verification.auditing.result import AuditResult
from tailproof.verification.auditing.runner import Runner
from tailproof.verification.auditing.runs import Pair
from tailproof.verification.auditing.search import Spaces
from tailproof.verification.auditing.shown import shown_pair
from tailproof.verification.auditing.witnesses import witness_of_audit, write_witness

BUDGET = 20_000

Mechanism = Callable[..., Any] | Runner


def failed_assertion(failure: Any) -> bool:
    """Whether pytest may leave our frames out of the traceback: of a failed assertion, not of a mistake of ours."""
    return failure is None or isinstance(failure.value, AssertionError)


__tracebackhide__ = failed_assertion


class ClaimRefuted(AssertionError):
    """An audit refuted the claim.  `result` is what it found, `witness` the file for `tailproof replay` if one could be written."""

    def __init__(self, text: str, result: AuditResult, witness: Path | None) -> None:
        super().__init__(text)
        self.result = result
        self.witness = witness


def assert_private(
    mechanism: Mechanism,
    claim: Claim | str,
    pairs: Iterable[Pair] | None = None,
    *,
    records: int | None = None,
    columns: int | None = None,
    bounds: tuple[float, float] | None = None,
    space: Spaces | None = None,
    budget: int = BUDGET,
    exhaustive: bool = False,
    sequential: bool | None = None,
    false_alarm: float | None = None,
    seed: int | None = None,
    vectorised: bool | None = None,
    time_limit: float | None = None,
    folder: str | Path | None = None,
) -> AuditResult:
    """Fail when `budget` runs of the mechanism refute the claim, or when it fails itself before there is a verdict.

    Mechanism, claim, pairs, records, columns, bounds, space, budget, exhaustive, vectorised and time_limit are those of `audit`,
    which stops as soon as the claim is refuted and shrinks the pair it found.  All calls of a test session share
    its false-alarm budget, unless `false_alarm` states the probability with which this one may call a true claim refuted.  The
    seed follows from the name of the test.  The witness of a refuted claim is written to `folder` (default .tailproof).
    """
    stated = checked_claim(claim)
    chosen = stated_space(stated, pairs, space, records, columns, bounds)
    session = sessions.current()
    charge = session.charge(None if false_alarm is None else probability("false_alarm", false_alarm))
    result = audit(
        mechanism,
        stated,
        pairs,
        space=chosen,
        budget=budget,
        confidence=_confidence(charge.false_alarm),
        exhaustive=exhaustive,
        sequential=sequential,
        seed=charge.seed if seed is None else seed,
        vectorised=vectorised,
        time_limit=time_limit,
    )
    if result.verdict == "consistent":
        return result
    frame = inspect.currentframe()
    caller = frame.f_back.f_globals if frame is not None and frame.f_back is not None else None
    place = place_of(mechanism, caller)
    name = place.get("mechanism") or str(getattr(mechanism, "__qualname__", type(mechanism).__name__))
    if result.verdict == "inconclusive":
        raise AssertionError(_no_verdict(name, result))
    witness, path = witness_of_audit(result, place, budget=budget), None
    if witness is not None:
        path = _file(Path(session.folder if folder is None else folder), name, charge)
        write_witness(witness, path)
    raise ClaimRefuted(refutation(name, result, _how_to_replay(place, path, result)), result, path)


def _confidence(false_alarm: float) -> float:
    """One minus that, rounded up: what is left to one must not exceed it."""
    confidence = 1 - false_alarm
    return confidence if 1 - confidence <= false_alarm else math.nextafter(confidence, 1.0)


# --- the text of a failure ----------------------------------------------------------------------------------------------------


def refutation(name: str, result: AuditResult, replay: str) -> str:
    """What was claimed, what was found, on which pair, and how to run it again."""
    lines = [
        f"{name} does not keep {result.claim}",
        f"claimed     {result.claim}, {result.claim.neighbouring} neighbours",
        f"found       {result.bound}; {result.samples} runs, pairs tried: {result.pairs_tried}",
        *shown_pair(result.pair),
        f"told apart  {result.rule}",
        f"replay      {replay}",
        *(f"note        {incident}" for incident in result.incidents),
    ]
    return "\n  ".join(lines)


def _no_verdict(name: str, result: AuditResult) -> str:
    lines = [
        result.incidents[0].of(name) if result.incidents else f"{name} failed",
        f"no verdict on {result.claim}, after {result.samples} runs",
        *(str(incident) for incident in result.incidents),
        *shown_pair(result.pair),
    ]
    return "\n  ".join(lines)


# --- how to run it again --------------------------------------------------------------------------------------------------------


def _file(folder: Path, name: str, charge: sessions.Charge) -> Path:
    """Named by the test, so that a rerun overwrites it; the folder keeps itself out of version control."""
    folder.mkdir(parents=True, exist_ok=True)
    ignored = folder / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n")
    readable = re.sub(r"[^\w.-]+", "-", (charge.test or name).rpartition("/")[2]).strip("-")
    return folder / f"{readable}-{charge.number}.json"


def _how_to_replay(place: dict[str, str], path: Path | None, result: AuditResult) -> str:
    if path is None:
        return f"this test again, with the seed {result.seed}: the data are no arrays of numbers that a file could hold"
    if place:
        return f"tailproof replay {shlex.quote(str(path))}"
    return f"from tailproof.verification import replay_audit; print(replay_audit({str(path)!r}, mechanism))"
