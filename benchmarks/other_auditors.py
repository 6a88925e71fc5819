"""Other packages' lower bounds of a privacy parameter, from the same outputs as ours.

jax-privacy (its `auditing.CanaryScoreAuditor`) bounds ε by two Clopper–Pearson limits, over all thresholds with Bonferroni's
correction or at one that half of the outputs chose, and bounds ε under the assumption of Gaussian differential privacy.
privacy-estimates bounds ε from the counts of one attack: the threshold is chosen on half of the outputs, by the same bound.  Both
install from PyPI and are imported only here.  DP-Sniper and DP-Auditorium are not on PyPI.
"""

from __future__ import annotations

import time

import numpy as np

from tailproof.refimpl.claims import GDP, ApproxDP, Claim, PureDP, gaussian_mu
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing import audit
from tailproof.verification.auditing.auditors import Estimator, Known, bounds_of

GDP_DELTA = 1e-5  # at which jax-privacy states its Gaussian bound


class Recorded:
    """A subject whose outputs were drawn before, used in their order."""

    def __init__(self, first: FloatArray, second: FloatArray) -> None:
        self._outputs, self._used = {0.0: first, 1.0: second}, {0.0: 0, 1.0: 0}

    def sample(self, data: float, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG002
        start = self._used[data]
        self._used[data] += size
        return self._outputs[data][start : start + size]


def ours(claim: type[Claim], *, sequential: bool = False) -> Estimator:
    """Our own bound from recorded outputs: coins pick the sides, so that a few outputs are left over."""

    def bound(first: FloatArray, second: FloatArray, delta: float, confidence: float) -> float:
        stated = GDP(1.0) if claim is GDP else ApproxDP(1.0, delta) if delta else PureDP(1.0)
        seed = int(
            np.frombuffer(first[:1].tobytes(), dtype=np.uint32)[0]
        )  # coins that have nothing to do with the outputs' order
        budget = 2 * len(first) - int(8 * len(first) ** 0.5)  # more than 5 standard deviations of the coins
        recorded = Recorded(first, second)
        return audit(
            recorded, stated, [(0.0, 1.0)], budget=budget, confidence=confidence, seed=seed, exhaustive=not sequential
        ).lower

    return bound


def jax_bonferroni(first: FloatArray, second: FloatArray, delta: float, confidence: float) -> float:
    from jax_privacy import auditing

    auditor = auditing.CanaryScoreAuditor(second, first)
    return float(auditor.epsilon_clopper_pearson(1 - confidence, delta, one_sided=False))


def jax_split(first: FloatArray, second: FloatArray, delta: float, confidence: float) -> float:
    from jax_privacy import auditing

    auditor, split = auditing.CanaryScoreAuditor(second, first), auditing.Split(seed=0)
    return float(auditor.epsilon_clopper_pearson(1 - confidence, delta, one_sided=False, threshold_strategy=split))


def jax_gaussian(first: FloatArray, second: FloatArray, _: float, confidence: float) -> float:
    """As μ."""
    from jax_privacy import auditing

    epsilon = float(auditing.CanaryScoreAuditor(second, first).epsilon_from_gdp(1 - confidence, GDP_DELTA))
    return gaussian_mu(epsilon, GDP_DELTA) if epsilon > 0 else 0.0


def jax_counts(first: FloatArray, second: FloatArray, delta: float, _: float) -> float:
    """An estimate, not a bound: it states no confidence."""
    from jax_privacy import auditing

    return float(auditing.CanaryScoreAuditor(second, first).epsilon_raw_counts(delta=delta, one_sided=False))


def estimates(method: str) -> Estimator:
    """`privacy_estimates`, with its threshold chosen on the first halves."""

    def bound(first: FloatArray, second: FloatArray, delta: float, confidence: float) -> float:
        import privacy_estimates

        def at(threshold: float, out: FloatArray, inside: FloatArray) -> float:
            false, true = int((out > threshold).sum()), int((inside > threshold).sum())
            counts = privacy_estimates.AttackResults(FN=len(inside) - true, FP=false, TN=len(out) - false, TP=true)
            return float(privacy_estimates.compute_eps_lo(counts, delta, 1 - confidence, method))

        half = len(first) // 2
        thresholds = np.quantile(np.concatenate([first[:half], second[:half]]), np.linspace(0.01, 0.99, 99))
        chosen = max(thresholds, key=lambda t: at(t, first[:half], second[:half]))
        return at(float(chosen), first[half:], second[half:])

    return bound


OTHERS: dict[str, tuple[str, Estimator]] = {
    "jax-privacy, all thresholds": ("epsilon", jax_bonferroni),
    "jax-privacy, split": ("epsilon", jax_split),
    "jax-privacy, Gaussian": ("mu", jax_gaussian),
    "privacy-estimates, beta": ("epsilon", estimates("beta")),
    "privacy-estimates, jeffreys": ("epsilon", estimates("jeffreys")),
}
"""What they bound, and how."""


def bounds(known: Known, per_side: int, number: int, confidence: float) -> dict[str, tuple[float, float]]:
    """Auditor -> (bound, seconds), all from the same outputs."""
    mine = ours(GDP if known.parameter == "mu" else PureDP)
    auditors = {"ours": mine} | {name: bound for name, (parameter, bound) in OTHERS.items() if parameter == known.parameter}
    found = {}
    for name, bound in auditors.items():
        start = time.perf_counter()
        (value,) = bounds_of(bound, known, runs=[number], per_side=per_side, confidence=confidence, seed=0)
        found[name] = (value, time.perf_counter() - start)
    return found


def compared(known: Known, per_side: int, seeds: range, *, confidence: float = 0.95) -> dict[str, dict[str, float]]:
    """Auditor -> median bound, in units of the truth, and median time (with that of drawing the outputs)."""
    runs = [bounds(known, per_side, seed, confidence) for seed in seeds]
    return {
        name: {
            "median": float(np.median([run[name][0] for run in runs])) / known.truth,
            "above": sum(run[name][0] > known.truth for run in runs),
            "seconds": float(np.median([run[name][1] for run in runs])),
        }
        for name in runs[0]
    }
