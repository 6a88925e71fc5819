"""What `tailproof verify` says of a row, quick, in the copy of the repository that stands first on the path.

A finding kills if `verify` itself counts it as a failure.  A mechanism that raises on every input at every setting is a crash, and
counts apart; one that raises on some, or makes a check raise, is killed: `verify` would not get to its end.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Setting, algorithm
from tailproof.refimpl.channel import run
from tailproof.verification.check import QUICK, part_findings, parts_of
from tailproof.verification.verify import _failures
from tailproof.verification.workers import one_thread

SEED = 0
SETS = 6  # data sets a setting, to see whether a mechanism runs at all


def verdict(row: str) -> dict[str, Any]:
    """status: crashed, killed or survived; the checks that fail in the first part of the row in which any does."""
    warnings.simplefilter("ignore")
    with one_thread():
        crash = crashes(row)
        if crash:
            return {"status": "crashed", "failing": [], "detail": crash}
        entry = algorithm(row)
        for part in parts_of(entry):
            try:
                findings = [finding.to_json() for finding in part_findings(entry, part, SEED, QUICK)]
            except Exception as error:
                return {
                    "status": "killed",
                    "failing": [f"raises {type(error).__name__}"],
                    "detail": f"{part}: {error}"[:300],
                }
            wrong = [finding for finding in findings if _failures([finding], [], [], [])]
            if wrong:
                failing = list(dict.fromkeys(finding["check"] for finding in wrong))
                return {"status": "killed", "failing": failing, "detail": f"{part}: {wrong[0]['detail']}"[:300]}
    return {"status": "survived", "failing": [], "detail": ""}


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
