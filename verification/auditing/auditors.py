"""Auditing auditors: how often does an estimator's lower bound of a privacy parameter exceed the truth?

A `Known` mechanism has two laws whose privacy is known exactly: its `truth` is the least ε at its δ (or the least μ) that holds for
the pair.  A bound at confidence c may exceed it with probability at most 1 − c, on every pair of laws, and also where both laws are
the same and the truth is 0: there every positive bound is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import beta

from tailproof.refimpl.claims import gaussian_mu
from tailproof.refimpl.validation import FloatArray, InputError, probability, whole

Sampler: TypeAlias = Callable[[float, np.random.Generator, int], FloatArray]
"""Outputs of so many runs on a side, 0 or 1."""
Estimator: TypeAlias = Callable[[FloatArray, FloatArray, float, float], float]
"""(outputs of one side, of the other, δ, confidence) ↦ a lower bound."""

ROUNDING = 1e-9  # relative; a bound that exceeds the truth by less is not counted
CERTAIN = 0.99  # confidence of each one-sided limit of a rate
COLUMNS = 5


@dataclass(frozen=True)
class Known:
    """`parameter`: what `truth` is the least value of, "epsilon" (at `delta`) or "mu"."""

    name: str
    sampler: Sampler
    truth: float
    parameter: str = "epsilon"
    delta: float = 0.0


# --- laws --------------------------------------------------------------------------------------------------------------------


def laplace(scale: float) -> Sampler:
    return lambda side, rng, size: side + scale * rng.laplace(size=size)


def gaussian(scale: float) -> Sampler:
    return lambda side, rng, size: side + scale * rng.normal(size=size)


def geometric(side: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Two-sided geometric noise, ε = 1."""
    chance = 1 - math.exp(-1)
    return np.asarray(side + rng.geometric(chance, size) - rng.geometric(chance, size))


def response(side: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Randomised response, ε = 1."""
    return np.where(rng.random(size) < math.e / (1 + math.e), side, 1 - side)


def leaky_response(side: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Randomised response with ε = 1 that names the side with probability 0.02: exactly (1, 0.02)."""
    return np.where(rng.random(size) < 0.02, 10 + side, response(side, rng, size))


def one_sided_response(side: float, rng: np.random.Generator, size: int) -> FloatArray:
    """A rare output, e times as likely on one side as on the other: ε = 1, and all but one run in a hundred tell nothing."""
    return np.asarray((rng.random(size) < 0.01 * math.exp(-side)).astype(np.float64))


def several_laplace(side: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Five coordinates, all shifted, Laplace noise for ε = 1 in all."""
    return np.asarray(side + COLUMNS * rng.laplace(size=(size, COLUMNS)))


def several_gaussian(side: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Five coordinates, all shifted, a shift of one standard deviation in all."""
    return np.asarray(side + math.sqrt(COLUMNS) * rng.normal(size=(size, COLUMNS)))


def same(side: float, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG001
    return rng.standard_cauchy(size)


def same_normal(side: float, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG001
    return rng.normal(size=size)


def same_discrete(side: float, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG001
    return rng.integers(0, 4, (size, 3)).astype(float)


def same_bit(side: float, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG001
    return rng.integers(0, 2, size).astype(float)


MU = gaussian_mu(1.0, 1e-5)

KNOWN: tuple[Known, ...] = (
    Known("Laplace, ε = 1", laplace(1.0), 1.0),
    Known("Laplace, ε = 0.1", laplace(10.0), 0.1),
    Known("two-sided geometric, ε = 1", geometric, 1.0),
    Known("randomised response, ε = 1", response, 1.0),
    Known("rare output, ε = 1", one_sided_response, 1.0),
    Known("randomised response that leaks, (1, 0.02)", leaky_response, 1.0, delta=0.02),
    Known("Gaussian, (1, 1e-5)", gaussian(1 / MU), 1.0, delta=1e-5),
    Known("identical laws, Cauchy", same, 0.0),
    Known("identical laws, a bit", same_bit, 0.0),
    Known("Gaussian, μ = 1", gaussian(1.0), 1.0, "mu"),
    Known("identical laws, normal, μ", same_normal, 0.0, "mu"),
    Known("identical laws, Cauchy, μ", same, 0.0, "mu"),
)


# --- how often an estimator is wrong -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Overstated:
    """`exceeded` of `runs` bounds were above the truth; `largest` is the largest of all."""

    exceeded: int
    runs: int
    confidence: float
    largest: float
    median: float

    @property
    def rate(self) -> float:
        return self.exceeded / self.runs

    @property
    def limits(self) -> tuple[float, float]:
        """Clopper and Pearson's one-sided limits of the rate, below and above."""
        k, n = self.exceeded, self.runs
        low = float(beta.ppf(1 - CERTAIN, k, n - k + 1)) if k else 0.0
        high = float(beta.ppf(CERTAIN, k + 1, n - k)) if k < n else 1.0
        return low, high

    @property
    def wrong(self) -> bool:
        """Whether it is wrong more often than its confidence allows, for certain."""
        return self.limits[0] > 1 - self.confidence

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "rate": self.rate, "limits": list(self.limits), "wrong": self.wrong}


def bounds_of(
    estimator: Estimator, known: Known, *, runs: Iterable[int], per_side: int, confidence: float, seed: int
) -> list[float]:
    """Its bounds on fresh outputs, one for every number in `runs`; the outputs depend on seed, mechanism and number alone."""
    per_side, confidence = whole("per_side", per_side, least=1), probability("confidence", confidence)
    found = []
    for number in runs:
        rng = np.random.default_rng([seed, number, *known.name.encode()])
        first, second = (np.asarray(known.sampler(side, rng, per_side), dtype=np.float64) for side in (0.0, 1.0))
        bound = float(estimator(first, second, known.delta, confidence))
        if math.isnan(bound):
            raise InputError(f"estimator: gave NaN on {known.name!r} (seed {seed}, run {number}); must be a number")
        found.append(bound)
    return found


def overstated(known: Known, bounds: Iterable[float], confidence: float) -> Overstated:
    values = np.array(list(bounds))
    if not len(values):
        raise InputError("bounds: there are none; at least 1 is needed")
    exceeded = int((values > known.truth * (1 + ROUNDING) + 1e-300).sum())
    return Overstated(exceeded, len(values), confidence, float(values.max()), float(np.median(values)))


def check_auditor(
    estimator: Estimator,
    mechanisms: Iterable[Known] = KNOWN,
    *,
    runs: int = 1000,
    per_side: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[str, Overstated]:
    """How often the estimator overstates the privacy parameter of each mechanism, by name."""
    numbers = range(whole("runs", runs, least=1))
    return {
        one.name: overstated(
            one,
            bounds_of(estimator, one, runs=numbers, per_side=per_side, confidence=confidence, seed=seed),
            confidence,
        )
        for one in mechanisms
    }
