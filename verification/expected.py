"""Which checks must say something, and why the others do not apply: of every row, at every setting, by name.

One function says it for a setting and one for what needs no setting; `verify` holds its findings against both.  A check that
is asked for and says nothing is missing, and fails.  What is expected depends on the published algorithm alone, never on the
mechanism that is looked at: an edit that loses a release loses no check.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tailproof.refimpl.catalogue import Algorithm, Implementation, algorithm
from tailproof.refimpl.channel import ledger
from tailproof.refimpl.claims import ApproxDP
from tailproof.refimpl.laws import PerturbedMinimiser
from tailproof.verification import amplification, marginal, utility
from tailproof.verification.calibration import PUBLISHED
from tailproof.verification.recorded_runs import is_recorded
from tailproof.verification.subject import Subject, subject_of

CHECKS = (
    "sensitivity",
    "sensitivity search",
    "release privacy",
    "transcript",
    "composition",
    "ledger",
    "measured ledger",
    "calibration",
    "published query",
    "closed",
    "declarations",
    "forced replay",
    "every row",
    "state",
    "outcomes",
    "accuracy",
    "amplification conditions",
    "amplified claim",
    "final iterate",
    "utility",
    "vectors",
)
"""All of them, in the order of the matrix."""

OF_ROWS = ("final iterate", "utility", "vectors")
"""Those that are done once for a row, not at each of its settings."""

APPLIES = ""


# --- what is expected -------------------------------------------------------------------------------------------------------


def expected_checks(subject: Subject) -> dict[str, str]:
    """By name: empty where the check must say something about this subject, otherwise why it does not apply."""
    claim = subject.checked_claim
    of_claim = APPLIES if subject.claim is not None else "nothing is claimed"
    query = _published(subject.algorithm).query
    several, approximate = _shape(subject.algorithm, subject.setting_index)
    composition = "claims no (ε, δ): its spends add up in the ledgers"
    if isinstance(claim, ApproxDP):
        composition = APPLIES if several else "no record is in two releases: the transcript's check is exact"
    amplified = "nothing hidden amplifies this claim"
    if isinstance(subject.claim, ApproxDP) and (subject.amplified or amplification.conditions(subject)):
        amplified = APPLIES
    found = dict.fromkeys(CHECKS, APPLIES)
    found |= {
        "release privacy": "a query: nothing is released" if query else APPLIES,
        "transcript": of_claim,
        "composition": of_claim or composition,
        "ledger": of_claim,
        "measured ledger": of_claim,
        "calibration": APPLIES if subject.algorithm in PUBLISHED else "a query: it adds no noise",
        "accuracy": APPLIES if approximate else "nothing released is approximate",
        "amplification conditions": of_claim or amplified,
        "amplified claim": of_claim or amplified,
    }
    return {name: reason for name, reason in found.items() if name not in OF_ROWS}


def expected_of_row(entry: Algorithm) -> dict[str, str]:
    """The same of what is done once for a row."""
    claims = not entry.claim.startswith("none")
    outputs = "its transcript, which is checked, reveals at least as much" if claims else "nothing is claimed"
    return {
        "final iterate": APPLIES if entry.id in marginal.AUDITED else outputs,
        "utility": APPLIES if entry.id in utility.BOUNDS else "no bound on its error with explicit constants",
        "vectors": APPLIES if is_recorded(entry.id) else "no runs of it are recorded",
    }


def applying(expected: dict[str, str]) -> set[str]:
    return {name for name, reason in expected.items() if reason == APPLIES}


def _published(identifier: str) -> Implementation:
    implementation = algorithm(identifier).implementation
    assert implementation is not None
    return implementation


@cache
def _shape(identifier: str, setting_index: int) -> tuple[bool, bool]:
    """(whether a record is in two releases, whether one of them is a computed minimiser), of a run: both are public."""
    implementation = _published(identifier)
    if setting_index >= len(implementation.settings):
        return False, False  # one of those for amplified claims, where nothing else is asked
    subject = subject_of(identifier, setting_index, implementation=implementation)
    _, transcript = subject.run(np.zeros((subject.setting.n, subject.setting.d)), 0)
    several = any(len(names) > 1 for names in ledger(transcript, subject.setting.n))
    return several, any(isinstance(release.law, PerturbedMinimiser) for release in transcript)
