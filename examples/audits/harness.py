"""A case is a subject, a setting inside its documented assumptions, a claim that its documentation makes, and a test.

Cases that can be computed give the exact largest privacy loss over a few pairs of neighbours (`laws.py`); all others run the
library through its public interface and leave the rest to `tailproof.verification.auditing.audit`.  Where the documentation does
not say whether neighbours replace a record or add one, a case is `violated` only if neither reading saves it; what one reading
saves is `inconclusive`, with a note.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailproof.refimpl.claims import Claim
from tailproof.verification.auditing import audit, limits

Run = Callable[[Any, np.random.Generator], Any]
Test = Callable[["Case"], "Outcome"]
CONFIDENCE = 0.99999  # of a case; of a hundred together 0.999
QUADRATURE = 1e-4  # relative accuracy of exact losses
PRINTED = 1e-6  # relative accuracy that a calculator is allowed


@dataclass(frozen=True)
class Outcome:
    """`found`: the exact value, or a lower bound at this confidence; `samples` is 0 for exact computations."""

    verdict: str
    found: float
    confidence: float
    samples: int
    how: str
    claimed: float | None = None  # a calculator's answer; else the claim's parameter is what `found` may not exceed


@dataclass(frozen=True)
class Case:
    """`witness`: the pair of data sets; `script`: what reproduces a violation; `exceeded`: the verdict above the claim."""

    library: str
    subject: str
    setting: str
    claim: Claim
    test: Test
    witness: str
    script: str = ""
    note: str = ""
    exceeded: str = "violated"
    stated: str = ""  # instead of the claim, where a table shows it

    @property
    def key(self) -> str:
        return f"{self.library} {self.subject} {self.setting}"


def exactly(loss: Callable[[], float]) -> Test:
    """The largest loss is computed."""

    def test(case: Case) -> Outcome:
        found = loss()
        above = found > limits.parameter(case.claim) * (1 + QUADRATURE)
        return Outcome(case.exceeded if above else "consistent", found, 1.0, 0, "exact")

    return test


def by_runs(run: Run, pair: tuple[Any, Any], *, budget: int) -> Test:
    """A black-box audit of a pair; outputs are numbers or arrays."""

    def test(case: Case) -> Outcome:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = audit(
                run, case.claim, [pair], budget=budget, confidence=CONFIDENCE, seed=1, vectorised=False, exhaustive=True
            )
        verdict = case.exceeded if found.verdict == "violated" else found.verdict
        return Outcome(verdict, found.lower, CONFIDENCE, found.samples, "runs")

    return test


def at_most(exact: Callable[[], float], said: Callable[[], float]) -> Test:
    """A calculator's answer, an upper bound of ε or δ, against the exact one."""

    def test(case: Case) -> Outcome:
        found, upper = exact(), said()
        above = found > upper * (1 + PRINTED)
        return Outcome(case.exceeded if above else "consistent", found, 1.0, 0, f"exact, against {upper:.8g}", upper)

    return test
