"""Other packages' lower bounds of a privacy parameter, from the same outputs as ours.

jax-privacy (its `auditing.CanaryScoreAuditor`) bounds ε by two Clopper–Pearson limits, over all thresholds with Bonferroni's
correction or at one that half of the outputs chose, and bounds ε under the assumption of Gaussian differential privacy.
privacy-estimates bounds ε from the counts of one attack: the threshold is chosen on half of the outputs, by the same bound.  Both
install from PyPI and are imported only here.  DP-Sniper and DP-Auditorium are not on PyPI.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from refimpl.claims import GDP, ApproxDP, Claim, PureDP, gaussian_mu
from refimpl.validation import FloatArray
from verification.auditing import audit

Bound = Callable[[FloatArray, FloatArray, float], float]
SIGNIFICANCE = 0.05
GDP_DELTA = 1e-5  # at which jax-privacy states its Gaussian bound


class Recorded:
    """A subject whose outputs were drawn before: the first N of either side are those that the other packages get, the rest makes
    up for coins that fall on one side more often."""

    def __init__(self, first: FloatArray, second: FloatArray) -> None:
        self._outputs, self._used = {0.0: first, 1.0: second}, {0.0: 0, 1.0: 0}

    def sample(self, data: float, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG002
        start = self._used[data]
        self._used[data] += size
        return self._outputs[data][start : start + size]


def jax_bonferroni(first: FloatArray, second: FloatArray, delta: float) -> float:
    from jax_privacy import auditing

    return float(auditing.CanaryScoreAuditor(second, first).epsilon_clopper_pearson(SIGNIFICANCE, delta, one_sided=False))


def jax_split(first: FloatArray, second: FloatArray, delta: float) -> float:
    from jax_privacy import auditing

    auditor, split = auditing.CanaryScoreAuditor(second, first), auditing.Split(seed=0)
    return float(auditor.epsilon_clopper_pearson(SIGNIFICANCE, delta, one_sided=False, threshold_strategy=split))


def jax_gaussian(first: FloatArray, second: FloatArray, delta: float) -> float:
    """As μ."""
    from jax_privacy import auditing

    epsilon = float(auditing.CanaryScoreAuditor(second, first).epsilon_from_gdp(SIGNIFICANCE, delta))
    return gaussian_mu(epsilon, delta) if epsilon > 0 else 0.0


def estimates(method: str) -> Bound:
    """`privacy_estimates`, with its threshold chosen on the first halves."""

    def bound(first: FloatArray, second: FloatArray, delta: float) -> float:
        import privacy_estimates

        def at(threshold: float, out: FloatArray, inside: FloatArray) -> float:
            false, true = int((out > threshold).sum()), int((inside > threshold).sum())
            counts = privacy_estimates.AttackResults(FN=len(inside) - true, FP=false, TN=len(out) - false, TP=true)
            return float(privacy_estimates.compute_eps_lo(counts, delta, SIGNIFICANCE, method))

        half = len(first) // 2
        thresholds = np.quantile(np.concatenate([first[:half], second[:half]]), np.linspace(0.01, 0.99, 99))
        chosen = max(thresholds, key=lambda t: at(t, first[:half], second[:half]))
        return at(float(chosen), first[half:], second[half:])

    return bound


OTHERS: dict[str, tuple[type[Claim], Bound]] = {
    "jax-privacy, all thresholds": (PureDP, jax_bonferroni),
    "jax-privacy, split": (PureDP, jax_split),
    "jax-privacy, Gaussian": (GDP, jax_gaussian),
    "privacy-estimates, beta": (PureDP, estimates("beta")),
    "privacy-estimates, jeffreys": (PureDP, estimates("jeffreys")),
}


def bounds(subject: Any, claim: Claim, per_side: int, seed: int) -> dict[str, tuple[float, float]]:
    """Auditor -> (bound, seconds) from one set of outputs."""
    rng, more = np.random.default_rng([seed, per_side]), per_side + 5 * int(per_side**0.5)
    first, second = (np.asarray(subject(data, rng, more)) for data in (0.0, 1.0))
    found = {}
    start = time.perf_counter()
    ours = audit(Recorded(first, second), claim, [(0.0, 1.0)], budget=2 * per_side, confidence=1 - SIGNIFICANCE, seed=seed)
    found["ours"] = (ours.lower, time.perf_counter() - start)
    wanted = GDP if isinstance(claim, GDP) else PureDP
    delta = claim.delta if isinstance(claim, ApproxDP) else GDP_DELTA if wanted is GDP else 0.0
    for name, (kind, bound) in OTHERS.items():
        if kind is wanted:
            start = time.perf_counter()
            found[name] = (bound(first[:per_side], second[:per_side], delta), time.perf_counter() - start)
    return found


def compared(subject: Any, claim: Claim, per_side: int, seeds: range) -> dict[str, dict[str, float]]:
    """Auditor -> median bound, in units of the claim, and median time."""
    unit = claim.mu if isinstance(claim, GDP) else claim.epsilon if isinstance(claim, PureDP | ApproxDP) else 1.0
    runs = [bounds(subject, claim, per_side, seed) for seed in seeds]
    return {
        name: {
            "median": float(np.median([run[name][0] for run in runs])) / unit,
            "above": sum(run[name][0] > unit for run in runs),
            "seconds": float(np.median([run[name][1] for run in runs])),
        }
        for name in runs[0]
    }
