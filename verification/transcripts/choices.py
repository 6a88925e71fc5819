"""The choices of a mechanism's own code, on pairs of neighbours, along forced values, and on data steered towards them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.branches import Branch, Exploration, Forcing, explore
from tailproof.verification.pair_checks import Measurement
from tailproof.verification.subject import Pair, Subject
from tailproof.verification.transcripts.forcing import Path, drawing, forced_paths

FORCED_PATHS = 80
TAILS = (Path("scales", 1000.0), Path("scales", -1000.0))


def explored(subject: Subject, mechanism: Any, pairs: Sequence[Pair], *, budget: int, seed: int) -> Exploration:
    """`mechanism` is what the subject runs, as its author wrote it."""
    setting = subject.setting
    as_given = replace(subject, setting=replace(setting, admissible=_unchanged))

    def run(data: FloatArray) -> None:
        as_given.run(data, seed)
        for path in TAILS:
            as_given.through(data, drawing(path, np.random.default_rng(seed)))

    def along(data: FloatArray, path: Path) -> None:
        subject.through(data, drawing(path, np.random.default_rng(seed)))

    def releases(data: FloatArray) -> int:
        try:
            return len(subject.run(data, seed)[1])
        except Exception:  # other checks say what an exception means
            return 0

    forcing = Forcing(
        along=along,
        offered=lambda data: forced_paths(subject, (data, data), seed, FORCED_PATHS),
        value=lambda release, amount, then: Path("value", amount, release, then=then),
        releases=releases,
    )
    shape, admissible = (setting.n, setting.d), setting.admissible
    return explore(run, mechanism, shape, admissible, budget=budget, seed=seed, pairs=pairs, forcing=forcing)


def check_choices(untaken: Sequence[Branch]) -> Measurement:
    """A branch that no pair took may hide anything: nothing is certified, and it is named."""
    said = "; ".join(map(str, untaken)) if untaken else "every choice of the code was taken both ways"
    return Measurement(0.0, 1.0, said, undecided=said if untaken else "")


def _unchanged(data: FloatArray) -> FloatArray:
    return data
