"""Heavy-tailed problems whose excess population risk is known, so that what is measured can meet what is claimed.

Laws of one real variable come first, then problems built from them.  A law states its moments about any centre and its
partial means, hence the bias of clipping; a problem states its minimiser, its risk and its excess risk.

Records are laid out as in `tailproof.refimpl.losses`: [features | target], labels ±1; `loss_name` is that
module's name of the loss.

Accuracy.  Closed forms where there are any, else Gauss–Legendre rules on panels that follow the law's own quantiles,
to a relative error below 1e-10 for tails of index 0.3 and more.  An excess risk is never computed as a difference of
risks but from w − w*, as a quadratic form or an integral of a non-negative function, so that it stays accurate near the
minimiser; for absolute loss, whose integrand is a probability near 0, up to an error of about 1e-16·‖w − w*‖.  Results
named `_upper` are rounded outward.

Idealised: samples are floats made from pseudo-random bits; a law so heavy that it leaves the range of floats may
produce an infinite record, which every algorithm refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from tailproof.refimpl.validation import (
    FloatArray,
    InputError,
    IntArray,
    between,
    choice,
    matrix,
    nonnegative,
    positive,
    probability,
    real,
    vector,
    whole,
)

Size = int | tuple[int, ...]


class DataLaw(Protocol):
    """The law of a real random variable X; `cdf`, `survival` and the quantiles work on arrays."""

    # --- what a law states --------------------------------------------------------------------------------------------

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray: ...

    def mean(self) -> float:
        """E X; nan where it does not exist."""
        ...

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        """E|X − centre|^k for real k > 0; inf where it diverges."""
        ...

    def mean_between(self, low: float, high: float) -> float:
        """E[X·1{low < X ≤ high}] for low ≤ high, infinite ends allowed."""
        ...

    def cdf(self, x: ArrayLike) -> FloatArray:
        """P[X ≤ x]."""
        ...

    def survival(self, x: ArrayLike) -> FloatArray:
        """P[X > x], accurate where it is small."""
        ...

    def quantile(self, level: ArrayLike) -> FloatArray:
        """The least x with P[X ≤ x] ≥ level; at level 0 the lower end of the support."""
        ...

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        """The least x with P[X > x] ≤ level, accurate where the level is small."""
        ...

    # --- what follows from it -----------------------------------------------------------------------------------------

    def variance(self) -> float:
        return self.central_absolute_moment(2)

    def central_absolute_moment(self, k: float) -> float:
        """E|X − E X|^k; inf where there is no mean."""
        mean = self.mean()
        return self.absolute_moment(k, centre=mean) if math.isfinite(mean) else math.inf

    def truncated_mean(self, bound: float) -> float:
        """E[X·1{|X| ≤ bound}]."""
        bound = nonnegative("bound", bound)
        return self.mean_between(float(_just_below(-bound)), bound)

    def tail_mean(self, bound: float) -> float:
        """E[|X|·1{|X| > bound}]: what clipping at the bound can lose."""
        bound = nonnegative("bound", bound)
        return self.mean_between(bound, math.inf) - self.mean_between(-math.inf, float(_just_below(-bound)))

    def mean_distance(self, point: float) -> float:
        """E|X − point|, from partial means."""
        above = self.mean_between(point, math.inf) - point * float(self.survival(point))
        below = point * float(self.cdf(point)) - self.mean_between(-math.inf, point)
        return above + below

    def landmarks(self) -> FloatArray:
        """Points between which the distribution function is smooth and changes little: panels for quadrature."""
        levels = 10.0 ** -np.arange(0.5, 16, 0.25)
        return np.concatenate([self.quantile(levels), self.quantile([0.4, 0.5]), self.upper_quantile([0.4, *levels])])


# --- heavy tails --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudentT(DataLaw):
    """location + scale·T, T with `df` degrees of freedom: E|X|^k is finite for k < df."""

    df: float
    location: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        positive("df", self.df)
        real("location", self.location)
        positive("scale", self.scale)

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        return self.location + self.scale * rng.standard_t(self.df, size)

    def mean(self) -> float:
        return self.location if self.df > 1 else math.nan

    def variance(self) -> float:
        return self.scale**2 * self.df / (self.df - 2) if self.df > 2 else math.inf

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        k = positive("k", k)
        if k >= self.df:
            return math.inf
        if centre != self.location:
            return _moment_by_tails(self, k, centre, tail_index=self.df)
        gammas = math.lgamma((k + 1) / 2) + math.lgamma((self.df - k) / 2) - math.lgamma(self.df / 2)
        return _exp(k * math.log(self.scale * math.sqrt(self.df)) + gammas) / math.sqrt(math.pi)

    def mean_between(self, low: float, high: float) -> float:
        # With s = log(1 + z²/df), z·density(z) dz = (peak·df/2)·exp(−s(df−1)/2) ds.
        peak = math.exp(math.lgamma((self.df + 1) / 2) - math.lgamma(self.df / 2)) / math.sqrt(math.pi * self.df)
        ends = [math.log1p(z * z / self.df) for z in ((x - self.location) / self.scale for x in (low, high))]
        moved = self.scale * peak * self.df / 2 * _exponential_integral((self.df - 1) / 2, *ends)
        return self.location * probability_between(self, low, high) + moved

    def cdf(self, x: ArrayLike) -> FloatArray:
        return _student_survival(self.df, (self.location - _array(x)) / self.scale)

    def survival(self, x: ArrayLike) -> FloatArray:
        return _student_survival(self.df, (_array(x) - self.location) / self.scale)

    def quantile(self, level: ArrayLike) -> FloatArray:
        return self.location - self.scale * _student_upper_quantile(self.df, _levels(level))

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        return self.location + self.scale * _student_upper_quantile(self.df, _levels(level))


@dataclass(frozen=True)
class Pareto(DataLaw):
    """P[X > x] = (scale/x)^shape for x ≥ scale: E X^k is finite for k < shape.  `Symmetric` gives it a random sign."""

    shape: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        positive("shape", self.shape)
        positive("scale", self.scale)

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.scale * np.exp(rng.standard_exponential(size) / self.shape)

    def mean(self) -> float:
        return self.absolute_moment(1)

    def variance(self) -> float:
        if self.shape <= 2:
            return math.inf
        return self.scale**2 * self.shape / ((self.shape - 1) ** 2 * (self.shape - 2))

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        k = positive("k", k)
        if k >= self.shape:
            return math.inf
        if centre != 0:
            return _moment_by_tails(self, k, centre, tail_index=self.shape)
        return self.shape / (self.shape - k) * _power(self.scale, k)

    def mean_between(self, low: float, high: float) -> float:
        ends = [math.log1p(max(x - self.scale, 0.0) / self.scale) for x in (low, high)]
        return self.scale * self.shape * _exponential_integral(self.shape - 1, *ends)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return _array(-np.expm1(self._log_survival(x)))

    def survival(self, x: ArrayLike) -> FloatArray:
        return _array(np.exp(self._log_survival(x)))

    def quantile(self, level: ArrayLike) -> FloatArray:
        return self._at_log_survival(_log_complement(level))

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        return self._at_log_survival(_log(level))

    def _log_survival(self, x: ArrayLike) -> FloatArray:
        with np.errstate(over="ignore"):
            return -self.shape * np.log1p(np.maximum(_array(x) - self.scale, 0) / self.scale)

    def _at_log_survival(self, logarithm: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.scale * np.exp(-logarithm / self.shape)


@dataclass(frozen=True)
class Lognormal(DataLaw):
    """log X is Gaussian with mean `mu` and standard deviation `sigma`: every moment is finite, no exponential one is."""

    mu: float = 0.0
    sigma: float = 1.0

    def __post_init__(self) -> None:
        real("mu", self.mu)
        positive("sigma", self.sigma)

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        return rng.lognormal(self.mu, self.sigma, size)

    def mean(self) -> float:
        return self.absolute_moment(1)

    def variance(self) -> float:
        return -_exp(2 * self.mu + 2 * self.sigma**2) * math.expm1(-(self.sigma**2))

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        k = positive("k", k)
        if centre != 0:
            return _moment_by_tails(self, k, centre, tail_index=math.inf)
        return _exp(k * self.mu + (k * self.sigma) ** 2 / 2)

    def mean_between(self, low: float, high: float) -> float:
        # Under the density x·f(x)/E X the logarithm is Gaussian again, with mean mu + sigma².
        ends = [float(self._standard(x)) - self.sigma for x in (low, high)]
        return self.mean() * probability_between(Gaussian(), *ends)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return _array(special.ndtr(self._standard(x)))

    def survival(self, x: ArrayLike) -> FloatArray:
        return _array(special.ndtr(-self._standard(x)))

    def quantile(self, level: ArrayLike) -> FloatArray:
        return _array(np.exp(self.mu + self.sigma * special.ndtri(_levels(level))))

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        return _array(np.exp(self.mu - self.sigma * special.ndtri(_levels(level))))

    def _standard(self, x: ArrayLike) -> FloatArray:
        return (_log_of_positive_part(x) - self.mu) / self.sigma


@dataclass(frozen=True)
class LogLogistic(DataLaw):
    """P[X > x] = 1/(1 + (x/scale)^shape) for x ≥ 0: E X^k is finite for k < shape.

    log X is logistic with location log(scale) and scale 1/shape.  The literature's Loglogistic(0.2, 0.2) gives these
    two numbers, μ and σ: it is `LogLogistic.of_logarithm(0.2, 0.2)`, of shape 1/0.2 = 5 and scale e^0.2.
    """

    shape: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        positive("shape", self.shape)
        positive("scale", self.scale)

    @classmethod
    def of_logarithm(cls, mu: float, sigma: float) -> LogLogistic:
        """log X logistic with location `mu` and scale `sigma`."""
        return cls(shape=1 / positive("sigma", sigma), scale=math.exp(real("mu", mu)))

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.scale * np.exp(rng.logistic(size=size) / self.shape)

    def mean(self) -> float:
        return self.absolute_moment(1)

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        k = positive("k", k)
        if k >= self.shape:
            return math.inf
        if centre != 0:
            return _moment_by_tails(self, k, centre, tail_index=self.shape)
        return _power(self.scale, k) / float(np.sinc(k / self.shape))

    def mean_between(self, low: float, high: float) -> float:
        if self.shape <= 1:
            return self._mean_between_by_quadrature(low, high)
        # X·density is, in the variable u = P[X ≤ x], the mean times a beta density.
        a, b = 1 + 1 / self.shape, 1 - 1 / self.shape
        ends = np.array([low, high])
        below, above = special.betainc(a, b, self.cdf(ends)), special.betainc(b, a, self.survival(ends))
        return self.mean() * float(below[1] - below[0] if below[1] < 0.5 else above[0] - above[1])

    def cdf(self, x: ArrayLike) -> FloatArray:
        return _array(special.expit(self._logit(x)))

    def survival(self, x: ArrayLike) -> FloatArray:
        return _array(special.expit(-self._logit(x)))

    def quantile(self, level: ArrayLike) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.scale * np.exp(_array(special.logit(_levels(level))) / self.shape)

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.scale * np.exp(-_array(special.logit(_levels(level))) / self.shape)

    def _logit(self, x: ArrayLike) -> FloatArray:
        return self.shape * (_log_of_positive_part(x) - math.log(self.scale))

    def _mean_between_by_quadrature(self, low: float, high: float) -> float:
        """Where the mean is infinite: ∫ x·density(x) dx with x = scale·e^s."""
        if high == math.inf:
            return math.inf
        start, stop = (float(_log_of_positive_part(x)) - math.log(self.scale) for x in (low, high))
        if stop == -math.inf:
            return 0.0
        start = max(start, min(stop, 0.0) - 45)  # the integrand falls like e^s below 0

        def integrand(s: FloatArray) -> FloatArray:
            return _array(np.exp(s) * special.expit(self.shape * s) * special.expit(-self.shape * s))

        return self.scale * self.shape * _integrate(integrand, np.linspace(start, stop, 2 + int(stop - start)))


@dataclass(frozen=True)
class TwoPoint(DataLaw):
    """`value` with the given probability, else 0: the hard case of lower bounds for means."""

    value: float
    probability: float

    def __post_init__(self) -> None:
        if real("value", self.value) == 0:
            raise InputError("value = 0: must not be 0")
        if between("probability", self.probability, 0, 1) == 0:
            raise InputError("probability = 0: must be > 0")

    @classmethod
    def with_moment(cls, *, probability: float, order: float, moment: float) -> TwoPoint:
        """The positive value for which E|X|^order = moment: (moment/probability)^(1/order), where order = 1 + v."""
        size = positive("moment", moment) / positive("probability", probability)
        return cls(value=size ** (1 / positive("order", order)), probability=probability)

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        return np.where(rng.random(size) < self.probability, float(self.value), 0.0)

    def mean(self) -> float:
        return self.probability * self.value

    def variance(self) -> float:
        return self.probability * (1 - self.probability) * self.value**2

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        k = positive("k", k)
        return self.probability * _power(abs(self.value - centre), k) + (1 - self.probability) * _power(abs(centre), k)

    def mean_between(self, low: float, high: float) -> float:
        return self.mean() if low < self.value <= high else 0.0

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self._weight(np.greater_equal(x, self.value), np.greater_equal(x, 0))

    def survival(self, x: ArrayLike) -> FloatArray:
        return self._weight(np.less(x, self.value), np.less(x, 0))

    def quantile(self, level: ArrayLike) -> FloatArray:
        return np.where(_levels(level) <= self.cdf(min(self.value, 0)), min(self.value, 0.0), max(self.value, 0.0))

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        return np.where(_levels(level) >= self.survival(min(self.value, 0)), min(self.value, 0.0), max(self.value, 0.0))

    def landmarks(self) -> FloatArray:
        return np.array([0.0, self.value])

    def _weight(self, has_value: ArrayLike, has_zero: ArrayLike) -> FloatArray:
        return _array(has_value) * self.probability + _array(has_zero) * (1 - self.probability)


# --- light tails, for comparison ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gaussian(DataLaw):
    location: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        real("location", self.location)
        positive("scale", self.scale)

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        return rng.normal(self.location, self.scale, size)

    def mean(self) -> float:
        return self.location

    def variance(self) -> float:
        return self.scale**2

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        k = positive("k", k)
        if centre != self.location:
            return _moment_by_tails(self, k, centre, tail_index=math.inf)
        return _exp(k * math.log(self.scale * math.sqrt(2)) + math.lgamma((k + 1) / 2)) / math.sqrt(math.pi)

    def mean_between(self, low: float, high: float) -> float:
        heights = [math.exp(-z * z / 2) for z in ((x - self.location) / self.scale for x in (low, high))]
        moved = self.scale * (heights[0] - heights[1]) / math.sqrt(2 * math.pi)
        return self.location * probability_between(self, low, high) + moved

    def cdf(self, x: ArrayLike) -> FloatArray:
        return _array(special.ndtr((_array(x) - self.location) / self.scale))

    def survival(self, x: ArrayLike) -> FloatArray:
        return _array(special.ndtr((self.location - _array(x)) / self.scale))

    def quantile(self, level: ArrayLike) -> FloatArray:
        return self.location + self.scale * _array(special.ndtri(_levels(level)))

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        return self.location - self.scale * _array(special.ndtri(_levels(level)))


@dataclass(frozen=True)
class Exponential(DataLaw):
    """P[X > x] = exp(−x/scale) for x ≥ 0."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        positive("scale", self.scale)

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        return rng.exponential(self.scale, size)

    def mean(self) -> float:
        return self.scale

    def variance(self) -> float:
        return self.scale**2

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        k = positive("k", k)
        if centre != 0:
            return _moment_by_tails(self, k, centre, tail_index=math.inf)
        return _exp(k * math.log(self.scale) + math.lgamma(k + 1))

    def mean_between(self, low: float, high: float) -> float:
        ends = self._standard([low, high])
        below, above = special.gammainc(2, ends), special.gammaincc(2, ends)
        return self.scale * float(below[1] - below[0] if below[1] < 0.5 else above[0] - above[1])

    def cdf(self, x: ArrayLike) -> FloatArray:
        return -np.expm1(-self._standard(x))

    def survival(self, x: ArrayLike) -> FloatArray:
        return np.exp(-self._standard(x))

    def quantile(self, level: ArrayLike) -> FloatArray:
        return -self.scale * _log_complement(level)

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        return -self.scale * _log(level)

    def _standard(self, x: ArrayLike) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.maximum(_array(x), 0) / self.scale


# --- laws made of laws --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Symmetric(DataLaw):
    """±Y with a fair sign, Y ≥ 0 of the given law."""

    law: DataLaw

    def __post_init__(self) -> None:
        if float(self.law.quantile(0.0)) < 0:
            raise InputError(f"law = {self.law!r}: must be the law of a non-negative variable")

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        return np.where(rng.random(size) < 0.5, 1.0, -1.0) * self.law.sample(rng, size)

    def mean(self) -> float:
        return 0.0 if math.isfinite(self.law.mean()) else math.nan

    def variance(self) -> float:
        return self.law.absolute_moment(2)

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        if centre == 0:
            return self.law.absolute_moment(k)
        return (self.law.absolute_moment(k, centre=centre) + self.law.absolute_moment(k, centre=-centre)) / 2

    def mean_between(self, low: float, high: float) -> float:
        positive_part = self.law.mean_between(max(low, 0.0), max(high, 0.0))
        # −Y lies in (low, high] when Y lies in [−high, −low).
        start, stop = (float(_just_below(max(-end, 0.0))) for end in (high, low))
        negative_part = self.law.mean_between(start, stop)
        return (positive_part - negative_part) / 2

    def cdf(self, x: ArrayLike) -> FloatArray:
        x = _array(x)
        return np.where(x < 0, self.law.survival(_just_below(-x)), 1 + self.law.cdf(x)) / 2

    def survival(self, x: ArrayLike) -> FloatArray:
        x = _array(x)
        return np.where(x < 0, 1 + self.law.cdf(_just_below(-x)), self.law.survival(x)) / 2

    def quantile(self, level: ArrayLike) -> FloatArray:
        level = _levels(level)
        low, high = -self.law.upper_quantile(np.minimum(2 * level, 1)), self.law.quantile(np.maximum(2 * level - 1, 0))
        return np.where(level <= 0.5, low, high)

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        level = _levels(level)
        high, low = self.law.upper_quantile(np.minimum(2 * level, 1)), -self.law.quantile(np.maximum(2 * level - 1, 0))
        return np.where(level < 0.5, high, low)

    def landmarks(self) -> FloatArray:
        points = self.law.landmarks()
        return np.concatenate([-points, points])


@dataclass(frozen=True)
class Shifted(DataLaw):
    """Y + by, Y of the given law.  At an atom of the law the shift's rounding decides on which side of a bound it lies."""

    law: DataLaw
    by: float

    def __post_init__(self) -> None:
        real("by", self.by)

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        return self.law.sample(rng, size) + self.by

    def mean(self) -> float:
        return self.law.mean() + self.by

    def variance(self) -> float:
        return self.law.variance()

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        return self.law.absolute_moment(k, centre=centre - self.by)

    def mean_between(self, low: float, high: float) -> float:
        low, high = low - self.by, high - self.by
        return self.law.mean_between(low, high) + self.by * probability_between(self.law, low, high)

    def cdf(self, x: ArrayLike) -> FloatArray:
        return self.law.cdf(_array(x) - self.by)

    def survival(self, x: ArrayLike) -> FloatArray:
        return self.law.survival(_array(x) - self.by)

    def quantile(self, level: ArrayLike) -> FloatArray:
        return self.law.quantile(level) + self.by

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        return self.law.upper_quantile(level) + self.by

    def landmarks(self) -> FloatArray:
        return self.law.landmarks() + self.by


@dataclass(frozen=True)
class Contaminated(DataLaw):
    """From `outlier` with probability `fraction`, else from `base`."""

    base: DataLaw
    outlier: DataLaw
    fraction: float

    def __post_init__(self) -> None:
        probability("fraction", self.fraction)

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        is_outlier = rng.random(size) < self.fraction
        return np.where(is_outlier, self.outlier.sample(rng, size), self.base.sample(rng, size))

    def mean(self) -> float:
        return self._mixed(self.base.mean(), self.outlier.mean())

    def variance(self) -> float:
        if not math.isfinite(self.mean()):
            return math.inf
        apart = self.fraction * (1 - self.fraction) * (self.outlier.mean() - self.base.mean()) ** 2
        return self._mixed(self.base.variance(), self.outlier.variance()) + apart

    def absolute_moment(self, k: float, *, centre: float = 0.0) -> float:
        return self._mixed(
            self.base.absolute_moment(k, centre=centre),
            self.outlier.absolute_moment(k, centre=centre),
        )

    def mean_between(self, low: float, high: float) -> float:
        return self._mixed(self.base.mean_between(low, high), self.outlier.mean_between(low, high))

    def cdf(self, x: ArrayLike) -> FloatArray:
        return (1 - self.fraction) * self.base.cdf(x) + self.fraction * self.outlier.cdf(x)

    def survival(self, x: ArrayLike) -> FloatArray:
        return (1 - self.fraction) * self.base.survival(x) + self.fraction * self.outlier.survival(x)

    def quantile(self, level: ArrayLike) -> FloatArray:
        level = _levels(level)
        ends = self.base.quantile(level), self.outlier.quantile(level)
        return np.where(level == 1, np.maximum(*ends), _least_point(lambda x: self.cdf(x) >= level, *ends))

    def upper_quantile(self, level: ArrayLike) -> FloatArray:
        level = _levels(level)
        ends = self.base.upper_quantile(level), self.outlier.upper_quantile(level)
        return np.where(level == 0, np.maximum(*ends), _least_point(lambda x: self.survival(x) <= level, *ends))

    def landmarks(self) -> FloatArray:
        return np.concatenate([self.base.landmarks(), self.outlier.landmarks()])

    def _mixed(self, base: float, outlier: float) -> float:
        return (1 - self.fraction) * base + self.fraction * outlier


def laplace(location: float = 0.0, scale: float = 1.0) -> DataLaw:
    """Density exp(−|x − location|/scale)/(2·scale)."""
    return Shifted(Symmetric(Exponential(scale)), location)


def centred(law: DataLaw) -> DataLaw:
    """The law moved to mean zero."""
    mean = law.mean()
    if not math.isfinite(mean):
        raise InputError(f"law = {law!r}: has no finite mean to move to zero")
    return law if mean == 0 else Shifted(law, -mean)


def probability_between(law: DataLaw, low: float, high: float) -> float:
    """P[low < X ≤ high], from the tail in which it loses less."""
    if float(law.cdf(high)) < 0.5:
        return float(law.cdf(high)) - float(law.cdf(low))
    return float(law.survival(low)) - float(law.survival(high))


def parse_law(text: str) -> DataLaw:
    """The law named on a command line: 'student:2.5', 'lognormal:0,1', 'symmetric-pareto:2.1', 'centred-exponential'.

    A name, then its parameters in the order of the law's own; left-out parameters take the law's defaults.
    """
    laws: dict[str, tuple[Callable[..., DataLaw], str, int]] = {
        "exponential": (Exponential, "[SCALE]", 0),
        "gaussian": (Gaussian, "[LOCATION[,SCALE]]", 0),
        "laplace": (laplace, "[LOCATION[,SCALE]]", 0),
        "loglogistic": (LogLogistic, "SHAPE[,SCALE]", 1),
        "lognormal": (Lognormal, "[MU[,SIGMA]]", 0),
        "pareto": (Pareto, "SHAPE[,SCALE]", 1),
        "student": (StudentT, "DF[,LOCATION[,SCALE]]", 1),
        "twopoint": (TwoPoint, "VALUE,PROBABILITY", 2),
    }
    for prefix, wrap in (("centred-", centred), ("symmetric-", Symmetric)):
        if text.startswith(prefix):
            return wrap(parse_law(text.removeprefix(prefix)))
    name, _, listed = text.partition(":")
    if name not in laws:
        allowed = ", ".join(f"{known}:{usage}" for known, (_, usage, _) in laws.items())
        raise InputError(f"law = {text!r}: must be one of {allowed}, with centred- or symmetric- before it if wanted")
    make, usage, least = laws[name]
    try:
        numbers = [float(number) for number in listed.split(",")] if listed else []
    except ValueError:
        raise InputError(f"law = {text!r}: parameters must be numbers, {name}:{usage}") from None
    if not least <= len(numbers) <= usage.count(",") + 1:
        raise InputError(f"law = {text!r}: has {len(numbers)} parameters; must read {name}:{usage}")
    return make(*numbers)


# --- problems -----------------------------------------------------------------------------------------------------------


class Problem(Protocol):
    """A convex loss and a law of records: minimise F(w) = E f(w, record)."""

    @property
    def dimension(self) -> int: ...

    @property
    def loss_name(self) -> str: ...

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        """n independent records."""
        ...

    def minimiser(self) -> FloatArray: ...

    def risk(self, w: ArrayLike) -> float:
        """F(w); inf where the loss has no mean although differences of losses may have one."""
        ...

    def excess_risk(self, w: ArrayLike) -> float:
        """E[f(w, record) − f(w*, record)], w* the minimiser."""
        ...


@dataclass(frozen=True)
class MeanEstimation:
    """f = ½‖w − x‖², the coordinates of x independent with one law; the gradient at w is w − x."""

    law: DataLaw
    dimension: int = 1

    def __post_init__(self) -> None:
        whole("dimension", self.dimension, least=1)
        if not math.isfinite(self.law.mean()):
            raise InputError(f"law = {self.law!r}: must have a finite mean")

    @property
    def loss_name(self) -> str:
        return "quadratic"

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        return self.law.sample(rng, (whole("n", n, least=1), self.dimension))

    def minimiser(self) -> FloatArray:
        return np.full(self.dimension, self.law.mean())

    def risk(self, w: ArrayLike) -> float:
        return self.excess_risk(w) + self.dimension * self.law.variance() / 2

    def excess_risk(self, w: ArrayLike) -> float:
        gap = vector("w", w, size=self.dimension) - self.minimiser()
        return float(gap @ gap) / 2

    def coordinate_moment(self, k: float, *, centre: float = 0.0) -> float:
        """E|X_1 − centre|^k."""
        return self.law.absolute_moment(k, centre=centre)

    def direction_moment_upper(self, p: float, *, at: ArrayLike | None = None) -> float:
        """An upper bound of sup_{‖u‖=1} E|⟨u, X − at⟩|^p, `at` the origin unless given, p ≥ 1.

        Exact but for rounding when p = 2 or d = 1.  It is the least of three, with Y = X_1 − E X_1 and m = E X − at:
        p ≥ 2: (‖m‖² + (p−1)‖Y‖_p²)^{p/2}, since ‖M‖_p² ≤ M_0² + (p−1)Σ‖M_j − M_{j−1}‖_p² for a martingale M (Rio 2009);
        p ≤ 2: (‖m‖² + Var Y)^{p/2}, and (‖m‖ + (2d^{1−p/2}E|Y|^p)^{1/p})^p (von Bahr and Esseen 1965);
        every p: (Σ_j ‖X_j − at_j‖_p²)^{p/2} (Minkowski, Cauchy–Schwarz).
        """
        if real("p", p) < 1:
            raise InputError(f"p = {p!r}: must be >= 1")
        point = self._point(at)
        drift = float(np.linalg.norm(self.minimiser() - point))
        spread = self.law.central_absolute_moment(p)
        bounds = [_power(self._coordinate_norms(p, point), p)]
        if p >= 2:
            bounds.append(_power(drift**2 + (p - 1) * _power(spread, 2 / p), p / 2))
        else:
            bounds.append(_power(drift**2 + self.law.variance(), p / 2))
            bounds.append(_power(drift + _power(2 * self.dimension ** (1 - p / 2) * spread, 1 / p), p))
        return _outward(min(bounds))

    def norm_moment_upper(self, k: float, *, at: ArrayLike | None = None) -> float:
        """An upper bound of E‖X − at‖^k, k > 0; exact but for rounding when k = 2 or d = 1.

        k ≥ 2: (Σ_j ‖X_j − at_j‖_k²)^{k/2}; k ≤ 2: the lesser of (Σ_j E(X_j − at_j)²)^{k/2} and Σ_j E|X_j − at_j|^k.
        """
        positive("k", k)
        point = self._point(at)
        if k >= 2:
            return _outward(_power(self._coordinate_norms(k, point), k))
        moments = sum(self.law.absolute_moment(k, centre=float(x)) for x in point)
        return _outward(min(moments, _power(self._coordinate_norms(2, point), k)))

    def _point(self, at: ArrayLike | None) -> FloatArray:
        return np.zeros(self.dimension) if at is None else vector("at", at, size=self.dimension)

    def _coordinate_norms(self, p: float, point: FloatArray) -> float:
        """(Σ_j ‖X_j − point_j‖_p²)^{1/2}."""
        values, counts = np.unique(point, return_counts=True)
        moments = [self.law.absolute_moment(p, centre=float(value)) for value in values]
        return math.sqrt(sum(int(count) * _power(moment, 2 / p) for count, moment in zip(counts, moments, strict=True)))


@dataclass(frozen=True)
class MedianEstimation:
    """f = |w − x|, x real: absolute loss on the records [1 | x].  The minimiser is the least median."""

    law: DataLaw

    @property
    def dimension(self) -> int:
        return 1

    @property
    def loss_name(self) -> str:
        return "absolute"

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        n = whole("n", n, least=1)
        return np.column_stack([np.ones(n), self.law.sample(rng, n)])

    def minimiser(self) -> FloatArray:
        return np.array([float(self.law.quantile(0.5))])

    def risk(self, w: ArrayLike) -> float:
        return self.law.mean_distance(float(vector("w", w, size=1)[0]))

    def excess_risk(self, w: ArrayLike) -> float:
        """∫ (2·cdf − 1) from the median to w."""
        ends = np.sort([float(vector("w", w, size=1)[0]), float(self.minimiser()[0])])
        return _integrate(lambda x: np.abs(self.law.cdf(x) - self.law.survival(x)), _edges(ends, self.law.landmarks()))


@dataclass(frozen=True, eq=False)
class GaussianFeatures:
    """Centred Gaussian features with a positive definite covariance Σ."""

    covariance: FloatArray

    def __post_init__(self) -> None:
        square = matrix("covariance", self.covariance)
        if square.shape[0] != square.shape[1] or not square.size or not np.array_equal(square, square.T):
            raise InputError(f"covariance: has shape {square.shape}; must be square and symmetric")
        object.__setattr__(self, "covariance", _read_only(square))
        try:
            _ = self.root
        except np.linalg.LinAlgError:
            raise InputError("covariance: must be positive definite") from None

    @classmethod
    def isotropic(cls, dimension: int) -> GaussianFeatures:
        return cls(np.eye(whole("dimension", dimension, least=1)))

    @property
    def dimension(self) -> int:
        return len(self.covariance)

    @cached_property
    def root(self) -> FloatArray:
        """The lower triangular L with LLᵀ = Σ."""
        return _array(np.linalg.cholesky(self.covariance))

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        return _array(rng.standard_normal((n, self.dimension)) @ self.root.T)

    def margin(self, w: FloatArray) -> FloatArray:
        """Lᵀw: the inner products of these vectors are the covariances of the margins ⟨w, x⟩."""
        return _array(self.root.T @ w)

    def margin_second_moment(self, w: FloatArray) -> float:
        return float(self.margin(w) @ self.margin(w))


@dataclass(frozen=True)
class IndependentFeatures:
    """Independent coordinates with one law of finite variance."""

    law: DataLaw
    dimension: int

    def __post_init__(self) -> None:
        whole("dimension", self.dimension, least=1)
        if not math.isfinite(self.law.variance()):
            raise InputError(f"law = {self.law!r}: must have a finite variance")

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        return self.law.sample(rng, (n, self.dimension))

    def margin_second_moment(self, w: FloatArray) -> float:
        return self.law.variance() * float(w @ w) + (self.law.mean() * float(w.sum())) ** 2


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearRegression:
    """Target ⟨weights, x⟩ + noise, the noise independent of the features x; loss ½(⟨w, x⟩ − target)² or |⟨w, x⟩ − target|.

    The weights are the minimiser: for squared loss when the noise has mean zero, for absolute loss with centred Gaussian
    features whatever the noise, because E|ξ − sZ| ≥ E|ξ − s·E Z| = E|ξ|.
    """

    features: GaussianFeatures | IndependentFeatures
    weights: FloatArray
    noise: DataLaw
    loss_name: str = "squared"

    def __post_init__(self) -> None:
        choice("loss_name", self.loss_name, ("squared", "absolute"))
        object.__setattr__(self, "weights", _read_only(vector("weights", self.weights, size=self.dimension)))
        size = self.noise.absolute_moment(1)
        if not math.isfinite(size):
            raise InputError(f"noise = {self.noise!r}: must have a finite mean")
        if self.loss_name == "squared" and abs(self.noise.mean()) > 1e-12 * size:
            raise InputError(f"noise = {self.noise!r}: must have mean zero for squared loss; use centred(noise)")
        if self.loss_name == "absolute" and not isinstance(self.features, GaussianFeatures):
            raise InputError(f"features = {self.features!r}: must be Gaussian for absolute loss")

    @property
    def dimension(self) -> int:
        return self.features.dimension

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        n = whole("n", n, least=1)
        features = self.features.sample(rng, n)
        return np.column_stack([features, features @ self.weights + self.noise.sample(rng, n)])

    def minimiser(self) -> FloatArray:
        return self.weights.copy()

    def risk(self, w: ArrayLike) -> float:
        least = self.noise.variance() / 2 if self.loss_name == "squared" else self.noise.absolute_moment(1)
        return least + self.excess_risk(w)

    def excess_risk(self, w: ArrayLike) -> float:
        """½E⟨w − w*, x⟩², or E|ξ − sZ| − E|ξ| = ∫_0^∞ P[|ξ| ≤ x]·P[|sZ| > x] dx with s² = E⟨w − w*, x⟩²."""
        variance = self.features.margin_second_moment(vector("w", w, size=self.dimension) - self.weights)
        if self.loss_name == "squared":
            return variance / 2
        s = math.sqrt(variance)

        def integrand(x: FloatArray) -> FloatArray:
            within = self.noise.cdf(x) - self.noise.cdf(_just_below(-x))
            return _array(within * special.erfc(x / (s * math.sqrt(2))))

        # Beyond 39 standard deviations the Gaussian tail is below the least float.
        return _integrate(integrand, _edges(s * np.arange(0, 39.5, 0.5), np.abs(self.noise.landmarks()))) if s else 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearLoss:
    """f = −⟨w, x⟩ on the ball of radius diameter/2 about 0, x = A·direction with A real of the given law.

    The lower bounds' instances: `TwoPoint` gives (1−p)δ_0 + p·δ_{τv}, `Shifted(TwoPoint(2G, (1+t)/2), -G)` the signs ±G.
    A record is −x, so that f is the affine loss ⟨w, record⟩.
    """

    law: DataLaw
    direction: FloatArray
    diameter: float

    def __post_init__(self) -> None:
        direction = _read_only(vector("direction", self.direction))
        object.__setattr__(self, "direction", direction)
        positive("diameter", self.diameter)
        if not direction.any():
            raise InputError("direction: must not be zero")
        if not math.isfinite(self.law.mean()) or self.law.mean() == 0:
            raise InputError(f"law = {self.law!r}: must have a finite mean other than 0")

    @property
    def dimension(self) -> int:
        return len(self.direction)

    @property
    def loss_name(self) -> str:
        return "affine"

    def mean(self) -> FloatArray:
        """E x."""
        return self.law.mean() * self.direction

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        return -np.outer(self.law.sample(rng, whole("n", n, least=1)), self.direction)

    def minimiser(self) -> FloatArray:
        unit = self.direction / np.linalg.norm(self.direction)
        return _array(math.copysign(self.diameter / 2, self.law.mean()) * unit)

    def risk(self, w: ArrayLike) -> float:
        return -float(self.mean() @ self._inside(w))

    def excess_risk(self, w: ArrayLike) -> float:
        return float(self.mean() @ (self.minimiser() - self._inside(w)))

    def _inside(self, w: ArrayLike) -> FloatArray:
        point = vector("w", w, size=self.dimension)
        norm = float(np.linalg.norm(point))
        if norm > self.diameter / 2 * (1 + 1e-9):
            raise InputError(f"w: has norm {norm!r}; must lie in the ball of radius {self.diameter / 2!r} about 0")
        return point


@dataclass(frozen=True)
class PowerGrowth:
    """f = −⟨w, x⟩ + ‖w‖^θ/θ, the coordinates of x independent with one symmetric law: F(w) = ‖w‖^θ/θ, with its minimum at 0.

    So F satisfies the Tsybakov noise condition F(w) − F(0) ≥ λ‖w‖^θ with λ = 1/θ, as an equality: no smaller θ will do.
    A record is −x, so that f is an affine loss with a penalty.
    """

    law: DataLaw
    dimension: int
    theta: float

    def __post_init__(self) -> None:
        whole("dimension", self.dimension, least=1)
        if real("theta", self.theta) < 2:
            raise InputError(f"theta = {self.theta!r}: must be >= 2")
        if not abs(self.law.mean()) <= 1e-12 * self.law.absolute_moment(1):
            raise InputError(f"law = {self.law!r}: must have mean 0")

    @property
    def loss_name(self) -> str:
        return "ridge:1:affine" if self.theta == 2 else f"power:{self.theta!r}:1:affine"

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        return self.law.sample(rng, (whole("n", n, least=1), self.dimension))

    def minimiser(self) -> FloatArray:
        return np.zeros(self.dimension)

    def risk(self, w: ArrayLike) -> float:
        return float(np.linalg.norm(vector("w", w, size=self.dimension)) ** self.theta / self.theta)

    def excess_risk(self, w: ArrayLike) -> float:
        return self.risk(w)


@dataclass(frozen=True, eq=False)
class FourthPowerRegression:
    """f = (⟨w, x⟩ − t)⁴ with t = ⟨weights, x⟩ and no noise; the coordinates of x independent with one symmetric law.

    With v = w − weights, F(w) = E⟨v, x⟩⁴ = 3m₂²‖v‖⁴ + (m₄ − 3m₂²)Σv_j⁴ ≥ (E⟨v, x⟩²)² = m₂²‖v‖⁴: the Tsybakov noise condition
    with θ = 4 and λ = m₂².  (Noise of variance s² would add 6s²m₂‖v‖², and θ would be 2.)
    """

    law: DataLaw
    weights: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _read_only(vector("weights", self.weights)))
        if not math.isfinite(self.law.absolute_moment(4)) or abs(self.law.mean()) > 1e-12 * self.law.absolute_moment(1):
            raise InputError(f"law = {self.law!r}: must have mean 0 and a fourth moment")

    @property
    def dimension(self) -> int:
        return len(self.weights)

    @property
    def loss_name(self) -> str:
        return "l4"

    @property
    def growth(self) -> float:
        """λ of the noise condition."""
        return self.law.absolute_moment(2) ** 2

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        features = self.law.sample(rng, (whole("n", n, least=1), self.dimension))
        return np.column_stack([features, features @ self.weights])

    def minimiser(self) -> FloatArray:
        return self.weights.copy()

    def risk(self, w: ArrayLike) -> float:
        squares = np.square(vector("w", w, size=self.dimension) - self.weights)
        second, fourth = self.law.absolute_moment(2), self.law.absolute_moment(4)
        return float(3 * second**2 * squares.sum() ** 2 + (fourth - 3 * second**2) * np.square(squares).sum())

    def excess_risk(self, w: ArrayLike) -> float:
        return self.risk(w)


@dataclass(frozen=True, eq=False, kw_only=True)
class LogisticRegression:
    """Label 1 with probability 1/(1 + exp(−⟨weights, x⟩)), else −1; loss log(1 + exp(−label·⟨w, x⟩)); Gaussian x."""

    features: GaussianFeatures
    weights: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _read_only(vector("weights", self.weights, size=self.dimension)))

    @property
    def dimension(self) -> int:
        return self.features.dimension

    @property
    def loss_name(self) -> str:
        return "logistic"

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        n = whole("n", n, least=1)
        features = self.features.sample(rng, n)
        labels = np.where(rng.random(n) < special.expit(features @ self.weights), 1.0, -1.0)
        return np.column_stack([features, labels])

    def minimiser(self) -> FloatArray:
        return self.weights.copy()

    def risk(self, w: ArrayLike) -> float:
        """E log(1 + e^b) − E[σ(a)·b] for the margins a of the weights and b of w; E[σ(a)·b] = Cov(a, b)·E σ'(a) (Stein)."""
        a, b = (self.features.margin(point) for point in (self.weights, vector("w", w, size=self.dimension)))
        size_a, size_b = (_array(np.linalg.norm(margin)) for margin in (a, b))
        softplus = float(size_b) / math.sqrt(2 * math.pi) + _even_mean(lambda m: np.log1p(np.exp(-m)), size_b)
        return float(softplus - (a @ b) * _even_mean(_logistic_curvature, size_a))

    def excess_risk(self, w: ArrayLike) -> float:
        """Taylor's remainder ∫_0^1 (1−t)·E[⟨Δ, x⟩²σ'(⟨w* + tΔ, x⟩)] dt, Δ = w − w*, since the gradient vanishes at w*."""
        start = self.features.margin(self.weights)
        step = self.features.margin(vector("w", w, size=self.dimension) - self.weights)
        length = float(np.linalg.norm(step))
        if length == 0:
            return 0.0

        def integrand(t: FloatArray) -> FloatArray:
            # ⟨Δ, x⟩ = slope·m + an independent Gaussian of variance `rest`, m the margin at w* + tΔ of variance size².
            points = start + t[..., np.newaxis] * step
            size = np.linalg.norm(points, axis=-1)
            slope = np.divide(points @ step, size**2, out=np.zeros_like(size), where=size > 0)
            rest = ((step - slope[..., np.newaxis] * points) ** 2).sum(axis=-1)
            along = _even_mean(lambda m: m**2 * _logistic_curvature(m), size)
            return _array((1 - t) * (slope**2 * along + rest * _even_mean(_logistic_curvature, size)))

        # The integrand varies on the scale max(1, size)/length, least where the segment passes nearest to 0.
        nearest = -float(start @ step) / length**2
        offsets = 0.5 * 1.5 ** np.arange(2 + math.ceil(math.log(2 * (length + np.linalg.norm(start)) + 1, 1.5))) / length
        return _integrate(integrand, _edges(np.array([0.0, 1.0]), nearest + np.concatenate([-offsets, [0.0], offsets])))


# --- quadrature and other small tools -----------------------------------------------------------------------------------

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def _integrate(function: Callable[[FloatArray], FloatArray], edges: FloatArray) -> float:
    """The composite Gauss–Legendre rule with 20 nodes on every panel between consecutive edges."""
    half = np.diff(edges) / 2
    points = edges[:-1, np.newaxis] + half[:, np.newaxis] * (1 + _NODES)
    return float(half @ (function(points) @ _WEIGHTS))


def _edges(grid: FloatArray, marks: FloatArray) -> FloatArray:
    """The grid and those marks that lie between its ends, in order."""
    inside = marks[(marks > grid[0]) & (marks < grid[-1])]
    return np.unique(np.concatenate([grid, inside]))


def _moment_by_tails(law: DataLaw, k: float, centre: float, *, tail_index: float) -> float:
    """E|X − centre|^k = ∫ k·t^{k−1}·P[|X − centre| > t] dt for a law without atoms and k < tail_index.

    With t = unit·e^s a power tail becomes an exponential, which panels of width 1 resolve.  Before the first panel the
    probability is 1; beyond the last one the tail is a power, integrated exactly, or else nothing is left.
    """
    real("centre", centre)
    unit = max(float(law.quantile(0.75) - law.quantile(0.25)), abs(float(law.quantile(0.5)) - centre))
    first, last = math.log(1e-17), 600 / max(k, 1.9)  # within the range of floats, and their squares too

    def integrand(s: FloatArray) -> FloatArray:
        t = unit * np.exp(s)
        return k * np.exp(k * s) * (law.survival(centre + t) + law.cdf(centre - t))

    distances = np.abs(law.landmarks() - centre)
    marks = np.log(distances[distances > 0] / unit)
    body = math.exp(k * first) + _integrate(integrand, _edges(np.linspace(first, last, 2 + int(last - first)), marks))
    before, end = (float(value) for value in integrand(np.array([last - 1, last])))
    rest = end / (tail_index - k)
    wrong = 0.0 if end == 0 else end if rest == 0 else rest * abs(math.log(before / end) - (tail_index - k))
    if wrong > 1e-11 * (body + rest):
        raise InputError(f"k = {k!r}: floats cannot hold what the moment of {law!r} about {centre!r} needs")
    return _power(unit, k) * (body + rest)


def _even_mean(function: Callable[[FloatArray], FloatArray], size: FloatArray) -> FloatArray:
    """E function(|size·Z|), Z standard Gaussian, for functions of m ≥ 0 that fall like exp(−m); for every size at once."""
    reach = np.minimum(12.0, 45 / np.maximum(size, 1.0))  # in units of Z; what lies beyond weighs less than 1e-19
    panels = 24
    grid = ((np.arange(panels)[:, np.newaxis] + (1 + _NODES) / 2) / panels).ravel()
    z = reach[..., np.newaxis] * grid
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return _array(reach / panels * ((function(size[..., np.newaxis] * z) * density) @ np.tile(_WEIGHTS, panels)))


def _logistic_curvature(m: FloatArray) -> FloatArray:
    return _array(special.expit(m) * special.expit(-m))


def _student_survival(df: float, z: FloatArray) -> FloatArray:
    """P[T > z] from incomplete beta functions: scipy's own `stdtr` is off by 1e-9 near 0 for one degree of freedom."""
    size = np.abs(z) / math.sqrt(df)
    small, large = np.minimum(size, 1.0) ** 2, np.clip(size, 1.0, 1e9) ** 2
    near = special.betainc(0.5, df / 2, small / (1 + small)) / 2  # P[0 < T ≤ |z|]
    tail = special.betainc(df / 2, 0.5, 1 / (1 + large)) / 2  # P[T > |z|]
    tail *= (np.maximum(size, 1e9) / 1e9) ** -df  # a power but for 1e-18
    return _array(np.where(size < 1, 0.5 - np.copysign(near, z), np.where(z > 0, tail, 1 - tail)))


def _student_upper_quantile(df: float, level: FloatArray) -> FloatArray:
    """The z with P[T > z] = level, by inverting whichever of the two incomplete beta functions is accurate."""
    tail = np.minimum(level, 1 - level)
    near = special.betaincinv(0.5, df / 2, np.minimum(np.abs(1 - 2 * level), 0.5))
    far = np.maximum(special.betaincinv(df / 2, 0.5, np.minimum(2 * tail, 0.5)), 1e-18)
    with np.errstate(divide="ignore", over="ignore"):
        power = (df * special.beta(df / 2, 0.5) * tail) ** (-1 / df)  # where z/√df exceeds 1e9
        size = np.where(tail > 0.25, np.sqrt(near / (1 - near)), np.where(far > 1e-18, np.sqrt((1 - far) / far), power))
        return _array(np.copysign(math.sqrt(df) * size, 0.5 - level))


def _exponential_integral(rate: float, start: float, stop: float) -> float:
    """∫ exp(−rate·s) ds from start to stop, both ≥ 0 and possibly infinite; any sign of the rate."""
    if start > stop:
        return -_exponential_integral(rate, stop, start)
    if start == math.inf:
        return 0.0 if rate > 0 else math.nan
    if stop == math.inf:
        return math.exp(-rate * start) / rate if rate > 0 else math.inf
    length = stop - start
    return math.exp(-rate * start) * length * float(special.exprel(-rate * length))


def _least_point(holds: Callable[[FloatArray], NDArray[np.bool_]], one: FloatArray, other: FloatArray) -> FloatArray:
    """The least float between the two ends at which a monotone condition holds; it holds at the greater one.

    Bisection over the floats' places in their own order, so 64 steps are enough for any ends, infinite ones too.
    """
    low, high = _place(np.minimum(one, other)), _place(np.maximum(one, other))
    for _ in range(64):
        middle = (low & high) + ((low ^ high) >> 1)  # the mean rounded down, without overflow
        held = holds(_at_place(middle))
        low, high = np.where(held | (middle == high), low, middle + 1), np.where(held, middle, high)
    return _at_place(high)


def _place(x: FloatArray) -> IntArray:
    """Integers in the order of the floats: their bits, those after the sign turned round for negative numbers."""
    bits = _array(x).view(np.int64)
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


def _at_place(place: IntArray) -> FloatArray:
    return np.where(place < 0, place ^ np.iinfo(np.int64).max, place).view(np.float64)


def _array(value: ArrayLike) -> FloatArray:
    return np.asarray(value, dtype=np.float64)


def _read_only(array: FloatArray) -> FloatArray:
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def _levels(level: ArrayLike) -> FloatArray:
    levels = _array(level)
    if not np.all((levels >= 0) & (levels <= 1)):
        raise InputError(f"level = {level!r}: must lie in [0, 1]")
    return levels


def _log(level: ArrayLike) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(_levels(level))


def _log_complement(level: ArrayLike) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log1p(-_levels(level))


def _log_of_positive_part(x: ArrayLike) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(x, 0.0))


def _just_below(x: ArrayLike) -> FloatArray:
    """The next smaller float, infinity's being itself: turns an open end of an interval into a closed one."""
    return np.where(np.isinf(x), x, np.nextafter(x, -np.inf))


def _exp(x: float) -> float:
    """e^x, inf where it exceeds the largest float."""
    return math.exp(x) if x < 709.78 else math.inf


def _power(base: float, exponent: float) -> float:
    """base^exponent for base ≥ 0, inf where it exceeds the largest float."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


def _outward(bound: float) -> float:
    """Larger by more than quadrature and rounding can have lost."""
    return bound * (1 + 1e-10)
