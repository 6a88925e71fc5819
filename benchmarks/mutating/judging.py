"""What `tailproof verify` says of a row, quick, in the copy of the repository that stands first on the path.

A finding kills if `verify` itself counts it as a failure.  A mechanism that raises on every input at every setting is a crash, and
counts apart; one that raises on some, or makes a check raise, is killed: `verify` would not get to its end.  The checks are those
of `verify`, with its seeds.  Two that take milliseconds go first, at all settings, since the first failure ends the matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from mutating import equivalence
from tailproof.refimpl.catalogue import Algorithm, Setting, algorithm
from tailproof.refimpl.channel import run
from tailproof.verification import check
from tailproof.verification.check import QUICK, part_findings, parts_of
from tailproof.verification.seeds import task_seed
from tailproof.verification.subject import subject_of
from tailproof.verification.verify import _failures
from tailproof.verification.workers import one_thread

SEED = 0
SETS = 6  # data sets a setting, to see whether a mechanism runs at all


def judged(row: str, file: str, known: bool | None) -> dict[str, Any]:
    """Whether the edit changes anything at the random settings of the file, unless that is known; if it does, what verify says."""
    same = equivalence.compare(row, file) if known is None else {"equivalent": known}
    return {"equivalence": same, "verify": None if same["equivalent"] else verdict(row)}


def verdict(row: str) -> dict[str, Any]:
    """status: crashed, killed or survived; the checks that fail in the first part of the row in which any does."""
    warnings.simplefilter("ignore")
    with one_thread():
        crash = crashes(row)
        if crash:
            return {"status": "crashed", "failing": [], "detail": crash}
        entry = algorithm(row)
        for part, findings in _parts(entry):
            try:
                wrong = [one for one in (finding.to_json() for finding in findings) if _failures([one], [], [], [])]
            except Exception as error:
                return {
                    "status": "killed",
                    "failing": [f"raises {type(error).__name__}"],
                    "detail": f"{part}: {error}"[:300],
                }
            if wrong:
                failing = list(dict.fromkeys(finding["check"] for finding in wrong))
                return {"status": "killed", "failing": failing, "detail": f"{part}: {wrong[0]['detail']}"[:300]}
    return {"status": "survived", "failing": [], "detail": ""}


def _parts(entry: Algorithm) -> Iterator[tuple[str, Iterator[Any]]]:
    """(part of the row, its findings): the quick ones, then all."""
    assert entry.implementation is not None
    for index in range(len(entry.implementation.settings)):
        yield f"setting {index}", _quick(entry, index)
    for part in parts_of(entry):
        yield part, part_findings(entry, part, SEED, QUICK)


def _quick(entry: Algorithm, index: int) -> Iterator[Any]:
    """As `check.subject_findings` has them, where nothing is pinned; an older tree has no published queries."""
    assert entry.implementation is not None
    subject = subject_of(entry.id, index, implementation=entry.implementation)
    own, pins = task_seed(SEED, entry.id, index), {pin.check for pin in getattr(subject.setting, "pins", ())}
    if subject.setting.refuted is not None:
        return
    if entry.id in check.PUBLISHED and "calibration" not in pins:
        yield check.calibration_finding(subject, task_seed(SEED, entry.id, index, "calibration"))
    written = getattr(check, "plain_algorithms", dict)()
    if entry.id in written and "published query" not in pins:
        yield check.query_finding(subject, task_seed(own, "query"))


def crashes(row: str) -> str:
    """What it raises if it raises always, otherwise nothing."""
    implementation = algorithm(row).implementation
    assert implementation is not None
    said = ""
    for setting in implementation.settings:
        for data in _inputs(setting):
            try:
                run(implementation.mechanism, data, np.random.default_rng(0), **setting.parameters)
            except Exception as error:
                said = said or f"{type(error).__name__}: {error}"[:200]
            else:
                return ""
    return said


def _inputs(setting: Setting) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(1)
    shape = (setting.n, setting.d)
    yield setting.admissible(np.zeros(shape))
    for scale in 10.0 ** np.linspace(-3, 3, SETS - 1):
        yield setting.admissible(scale * rng.standard_t(2, size=shape))
