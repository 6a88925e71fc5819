"""What the published output alone tells: a black-box audit of the last point, beside the transcript's checks.

A transcript holds every noisy value, the published point does not, and a claim is about the point.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tailproof.refimpl.catalogue import algorithm
from tailproof.refimpl.channel import Mechanism
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing import audit
from tailproof.verification.auditing.limits import parameter
from tailproof.verification.auditing.outputs import seed_of
from tailproof.verification.pair_checks import Measurement
from tailproof.verification.subject import Pair, Subject

FALSE_ALARM = 1e-7
"""Probability with which one check here calls a true claim violated."""


@dataclass(frozen=True)
class Audit:
    """A setting of the catalogue, by its number and what is changed in it, and how many runs on each data set are a quick check."""

    setting: int
    runs: int
    changes: dict[str, float] = field(default_factory=dict)


# a large budget, where the public parameters do not depend on it: what a few hundred runs show is at most an ε of about 2
AUDITED: dict[str, Audit] = {
    "P0.A3": Audit(0, 40),
    "P0.A4": Audit(0, 40),
    "P0.A5": Audit(0, 40),
    "P0.A6": Audit(2, 300, {"rho": 8.0}),
    "P0.A7": Audit(1, 300, {"rho": 8.0}),
    "P0.B": Audit(0, 300, {"epsilon": 8.0}),
    "P0.R3": Audit(0, 30),
    "P1.A1": Audit(1, 150),
    "P1.A3": Audit(0, 300),
    "P1.A4": Audit(0, 150),
    "P2.A1": Audit(1, 150),
    "P3.A2": Audit(0, 150),
    "P3.A5": Audit(1, 40),
}
"""The optimisers."""


def check_output(subject: Subject, pair: Pair, seed: int, *, runs: int) -> Measurement:
    """A lower confidence bound of the claim's parameter from so many runs on each data set."""
    assert subject.claim is not None

    def point(data: FloatArray, rng: np.random.Generator) -> FloatArray:
        return np.ravel(subject.run(data, seed_of(rng))[0])

    found = audit(point, subject.claim, [pair], budget=2 * runs, confidence=1 - FALSE_ALARM, seed=seed, exhaustive=True)
    letter = {"epsilon": "ε", "mu": "μ", "rho": "ρ"}[found.parameter]
    undecided = str(found.incidents[0]) if found.verdict == "inconclusive" else ""
    detail = f"lower bound of {letter} from {runs} outputs on each data set"
    return Measurement(found.lower, parameter(subject.claim), detail, undecided=undecided)


def audited(identifier: str, *, mechanism: Mechanism | None = None, mutant: str | None = None) -> tuple[Subject, Pair]:
    """The subject, and the first of the neighbours that ship beside the algorithm."""
    published, audit = algorithm(identifier).implementation, AUDITED[identifier]
    assert published is not None
    setting = published.settings[audit.setting]
    setting = replace(setting, parameters={**setting.parameters, **audit.changes})
    subject = Subject(
        algorithm=identifier,
        mechanism=mechanism or published.mechanism,
        setting=setting,
        setting_index=audit.setting,
        claim=published.privacy(setting),
        mutant=mutant,
    )
    return subject, next(iter(published.worst_neighbours(setting)))
