"""What the published output alone tells: a lower bound of ε from many runs on each of two neighbouring data sets.

A transcript holds every noisy value, the published point does not, and a claim is about the point.  Outputs on both data sets are
projected on the direction in which their means differ; half of the runs choose direction and threshold, the other half bound the
two probabilities of the event by Clopper and Pearson's exact intervals.  P(S) ≤ e^ε Q(S) + δ gives ε ≥ log((P(S) − δ)/Q(S)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from refimpl.catalogue import algorithm
from refimpl.channel import Mechanism
from refimpl.claims import ZCDP, ApproxDP, Claim, zcdp_epsilon
from refimpl.validation import FloatArray
from verification.composition import binomial_lower
from verification.pair_checks import Measurement
from verification.subject import Pair, Subject

FALSE_ALARM = 1e-7
"""Probability with which one check here calls a true claim violated."""

DELTA = 1e-3  # at which a zCDP claim is read
THRESHOLDS = 40


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
    "P0.R3": Audit(0, 20),
    "P1.A1": Audit(1, 150),
    "P1.A3": Audit(0, 300),
    "P1.A4": Audit(0, 150),
    "P2.A1": Audit(1, 150),
    "P3.A2": Audit(0, 150),
    "P3.A5": Audit(1, 40),
}
"""The optimisers."""


@dataclass(frozen=True)
class _Event:
    """{sign·⟨direction, output⟩ > threshold}."""

    direction: FloatArray
    sign: float
    threshold: float

    def count(self, outputs: FloatArray) -> int:
        return int((self.sign * (outputs @ self.direction) > self.threshold).sum())


def claimed(claim: Claim) -> tuple[float, float]:
    """(ε, δ) of the claim."""
    if isinstance(claim, ApproxDP):
        return claim.epsilon, claim.delta
    assert isinstance(claim, ZCDP)
    return zcdp_epsilon(claim.rho, DELTA), DELTA


def check_output(subject: Subject, pair: Pair, seed: int, *, runs: int) -> Measurement:
    """A lower confidence bound of ε at the claim's δ, the better of the two directions."""
    assert subject.claim is not None
    epsilon, delta = claimed(subject.claim)
    first, second = (
        np.array([np.ravel(subject.run(data, seed + 2 * run + side)[0]) for run in range(runs)])
        for side, data in enumerate(pair)
    )
    half = runs // 2
    found = max(
        _epsilon_lower(_best_event(p[:half], q[:half], delta), p[half:], q[half:], delta, FALSE_ALARM / 4)
        for p, q in ((first, second), (second, first))
    )
    return Measurement(max(0.0, found), epsilon, f"lower bound of ε at δ = {delta:g} from {runs} outputs on each data set")


def _epsilon_lower(event: _Event, p: FloatArray, q: FloatArray, delta: float, error: float) -> float:
    likely = binomial_lower(event.count(p), len(p), error)
    rare = 1 - binomial_lower(len(q) - event.count(q), len(q), error)
    return math.log((likely - delta) / rare) if likely > delta else -math.inf


def _best_event(p: FloatArray, q: FloatArray, delta: float) -> _Event:
    """The direction of the difference of the means, each coordinate in units of its spread; the threshold that does best here."""
    spread = p.var(axis=0) + q.var(axis=0)
    difference = p.mean(axis=0) - q.mean(axis=0)
    direction = np.divide(difference, spread, out=np.array(difference), where=spread > 0)
    length = float(np.linalg.norm(direction))
    direction = direction / length if length > 0 else np.eye(len(direction))[0]
    scores = np.concatenate([p, q]) @ direction
    thresholds = np.quantile(scores, np.linspace(0, 1, THRESHOLDS + 1)[:-1])
    events = [_Event(direction, sign, sign * level) for sign, level in product((1.0, -1.0), thresholds)]
    return max(events, key=lambda event: _epsilon_lower(event, p, q, delta, 0.05))


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
