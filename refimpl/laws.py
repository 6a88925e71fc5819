"""Laws of released values: each knows how to `sample` and its exact `logpdf` (log-probability for indices).

Scales are given as the papers print them, so that a check can compare the printed scale with the claimed spend.
Idealised: samples are floats drawn by floating-point transformations of pseudo-random bits; the densities are those of
the continuous laws.
"""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, lambertw, logsumexp

from tailproof.refimpl.identity import parts_of, same_bits
from tailproof.refimpl.validation import FloatArray, InputError, IntArray

Value = NDArray[Any]


class Law(Protocol):
    def sample(self, rng: np.random.Generator) -> Value: ...
    def logpdf(self, value: Value) -> float: ...


def _numbers(name: str, value: ArrayLike) -> FloatArray:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} = {value!r}: must be a number or an array of numbers") from None


def _location(value: ArrayLike, name: str = "location") -> FloatArray:
    array = _numbers(name, value)
    if array.ndim > 1:
        raise InputError(f"{name}: has shape {array.shape}; must be a number or a vector")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: every entry must be finite")
    array.setflags(write=False)
    return array


def _scale(value: ArrayLike, location: FloatArray) -> FloatArray:
    if isinstance(value, float) and 0 < value < math.inf:  # the usual case, and by far the cheapest
        array = np.asarray(value)
        array.setflags(write=False)
        return array
    array = _numbers("scale", value)
    if array.ndim > 0 and array.shape != location.shape:
        raise InputError(f"scale: has shape {array.shape}; must be one number or match the location's {location.shape}")
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise InputError(f"scale = {array!r}: every entry must be finite and > 0")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class _LocationScale:
    location: FloatArray
    scale: FloatArray

    def __init__(self, location: ArrayLike, scale: ArrayLike) -> None:
        object.__setattr__(self, "location", _location(location))
        object.__setattr__(self, "scale", _scale(scale, self.location))

    def _standardised(self, value: Value) -> FloatArray:
        return np.asarray((value - self.location) / self.scale, dtype=np.float64)

    def _log_scale(self) -> float:
        """Σ log scale over the coordinates: the Jacobian of standardising."""
        return float(np.log(np.broadcast_to(self.scale, self.location.shape)).sum())


@dataclass(frozen=True, eq=False, init=False)
class Gaussian(_LocationScale):
    """Independent N(location_j, scale_j²)."""

    def sample(self, rng: np.random.Generator) -> Value:
        return np.asarray(self.location + self.scale * rng.standard_normal(self.location.shape))

    def logpdf(self, value: Value) -> float:
        z = self._standardised(value)
        return -0.5 * float(np.sum(z * z)) - self._log_scale() - 0.5 * z.size * math.log(2 * math.pi)


@dataclass(frozen=True, eq=False, init=False)
class Laplace(_LocationScale):
    """Independent double exponentials, density exp(−|x − location_j|/scale_j)/(2 scale_j)."""

    def sample(self, rng: np.random.Generator) -> Value:
        return np.asarray(self.location + self.scale * rng.laplace(size=self.location.shape))

    def logpdf(self, value: Value) -> float:
        z = self._standardised(value)
        return -float(np.sum(np.abs(z))) - self._log_scale() - z.size * math.log(2)


@dataclass(frozen=True, eq=False, init=False)
class L2Laplace(_LocationScale):
    """Density ∝ exp(−‖x − location‖₂/scale): uniform direction, radius ~ Gamma(d, scale).  Scale Δ/ε makes it ε-DP."""

    def __init__(self, location: ArrayLike, scale: float) -> None:
        super().__init__(location, scale)
        if self.scale.ndim:
            raise InputError(f"scale: has shape {self.scale.shape}; must be one number")

    def sample(self, rng: np.random.Generator) -> Value:
        d = self.location.size
        direction = rng.standard_normal(self.location.shape)
        radius = rng.gamma(d, float(self.scale))
        return np.asarray(self.location + radius * direction / np.linalg.norm(direction))

    def logpdf(self, value: Value) -> float:
        d = self.location.size
        distance = float(np.linalg.norm(np.atleast_1d(self._standardised(value))))
        # ∫ exp(−‖z‖) dz = (surface of the unit sphere) · Γ(d) = 2 π^{d/2} Γ(d) / Γ(d/2)
        log_volume = math.log(2) + (d / 2) * math.log(math.pi) + float(gammaln(d) - gammaln(d / 2))
        return -distance - d * math.log(float(self.scale)) - log_volume


def lln_log_density(z: ArrayLike, sigma: float) -> FloatArray:
    """log density of X·e^{σY}, X ~ Lap(1), Y ~ N(0,1), at every z, to about 1e-13.

    The density is ∫ φ(y) ½ e^{−σy} exp(−|z| e^{−σy}) dy.  The integrand's only mode is y* = u/σ − σ, u = W(σ²e^{σ²}|z|)
    (Lambert's W); relative to it the logarithm is −t²/2 − (u/σ²)(e^{−σt} − 1 + σt), at most −t²/2 and with curvature
    1 + u at the mode, so the trapezoidal rule over |t| ≤ 9 with a step in units of 1/√(1+u) has converged.
    """
    z = np.abs(np.asarray(z, dtype=np.float64))
    u = np.real(lambertw(sigma**2 * math.exp(sigma**2) * z))
    mode = u / sigma - sigma
    log_peak = -0.5 * mode**2 - sigma * mode - u / sigma**2 - math.log(2 * math.sqrt(2 * math.pi))
    total = np.empty_like(u)
    # points of similar curvature share a step
    octave = np.floor(np.log2(1 + u))
    for level in np.unique(octave):
        chosen = octave == level
        step = 0.2 / math.sqrt(2.0 ** (level + 1))
        t = np.arange(-9.0, 9.0 + step, step)
        # e^{−x} − 1 + x loses digits for small x = σt, but there the term itself is negligible beside t²/2
        bend = (np.expm1(-sigma * t) + sigma * t) / sigma**2
        near = 0.5 * t**2 + (2.0**level - 1) * bend <= 45  # the rest is less than e^{−45} of the peak, for every u here
        total[chosen] = np.exp(-0.5 * t[near] ** 2 - u[chosen][..., np.newaxis] * bend[near]).sum(axis=-1) * step
    return np.asarray(log_peak + np.log(total))


@dataclass(frozen=True, eq=False, init=False)
class LLN(_LocationScale):
    """location + scale·X·e^{σY}, X ~ Lap(1), Y ~ N(0,1), independent coordinates (Laplace-log-normal noise)."""

    sigma: float

    def __init__(self, location: ArrayLike, scale: ArrayLike, sigma: float) -> None:
        super().__init__(location, scale)
        if not (math.isfinite(sigma) and sigma > 0):
            raise InputError(f"sigma = {sigma!r}: must be finite and > 0")
        object.__setattr__(self, "sigma", float(sigma))

    def sample(self, rng: np.random.Generator) -> Value:
        shape = self.location.shape
        noise = rng.laplace(size=shape) * np.exp(self.sigma * rng.standard_normal(shape))
        return np.asarray(self.location + self.scale * noise)

    def logpdf(self, value: Value) -> float:
        return float(lln_log_density(self._standardised(value), self.sigma).sum()) - self._log_scale()


@dataclass(frozen=True, eq=False)
class Finite:
    """An index with probability ∝ exp(logit); −inf logits have probability 0."""

    logits: FloatArray

    def __post_init__(self) -> None:
        logits = _numbers("logits", self.logits)
        if logits.ndim != 1 or np.isnan(logits).any() or np.isposinf(logits).any() or not np.isfinite(logits).any():
            raise InputError("logits: must be a vector of numbers below +inf, not all of them −inf")
        logits.setflags(write=False)
        object.__setattr__(self, "logits", logits)

    def log_probabilities(self) -> FloatArray:
        logits = self.logits - self.logits.max()  # first, so that a common offset cannot cost digits
        return np.asarray(logits - logsumexp(logits))

    def sample(self, rng: np.random.Generator) -> Value:
        # Gumbel's trick: exact for any spread of the logits, where normalised probabilities would underflow.
        logits = self.logits - self.logits.max()
        return np.asarray(np.argmax(logits + rng.gumbel(size=logits.shape)), dtype=np.int64)

    def logpdf(self, value: Value) -> float:
        return float(self.log_probabilities()[int(value)])


@dataclass(frozen=True, eq=False)
class Softmax:
    """An index with probability ∝ exp(score/scale): the exponential mechanism with its scores.

    The scale is that of the Gumbel noise with which the largest noisy score has this law.
    """

    scores: FloatArray
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", _location(self.scores, "scores"))
        if self.scores.ndim != 1 or not self.scores.size or not 0 < self.scale < math.inf:
            raise InputError(f"scores, scale = {self.scale!r}: must be a vector of numbers and a number > 0")

    def finite(self) -> Finite:
        return Finite((self.scores - self.scores.max()) / self.scale)

    def log_probabilities(self) -> FloatArray:
        return self.finite().log_probabilities()

    def sample(self, rng: np.random.Generator) -> Value:
        return self.finite().sample(rng)

    def logpdf(self, value: Value) -> float:
        return self.finite().logpdf(value)


@dataclass(frozen=True, eq=False)
class NoisyArgmax:
    """The index of the largest values_j + Lap(scale), without the `excluded` ones.  Only the index is released."""

    values: FloatArray
    scale: float
    excluded: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        values = _location(self.values, "values")
        excluded = tuple(int(j) for j in self.excluded)
        if values.ndim != 1 or values.size == 0:
            raise InputError(f"values: has shape {values.shape}; must be a vector of at least one")
        if not all(0 <= j < values.size for j in excluded):
            raise InputError(f"excluded = {excluded}: must be indices of the {values.size} values")
        if len(set(excluded)) >= values.size:
            raise InputError(f"excluded = {excluded}: at least one index that is not excluded is needed")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "scale", float(_scale(self.scale, _location(0.0))))
        object.__setattr__(self, "excluded", excluded)

    def allowed(self) -> IntArray:
        return np.delete(np.arange(self.values.size), np.array(self.excluded, dtype=np.int64))

    def log_probabilities(self) -> FloatArray:
        """Of every index; −inf for the excluded ones."""
        result = np.full(self.values.size, -np.inf)
        allowed = self.allowed()
        values = self.values[allowed]
        result[allowed] = _cached_log_argmax(tuple(((values - values.max()) / self.scale).tolist()))
        return result

    def sample(self, rng: np.random.Generator) -> Value:
        allowed = self.allowed()
        values = self.values[allowed]
        noisy = (values - values.max()) / self.scale + rng.laplace(size=values.shape)
        return np.asarray(allowed[np.argmax(noisy)], dtype=np.int64)

    def logpdf(self, value: Value) -> float:
        return float(self.log_probabilities()[int(value)])


# Gauss–Legendre rules: a cell much shorter than 1 needs few nodes for full accuracy.
_COARSE, _FINE = np.polynomial.legendre.leggauss(16), np.polynomial.legendre.leggauss(4)
_LAYER = 40.0  # farther than this from every value, each factor is a pure exponential to a relative e^{−40}
_BLOCK = 1 << 21  # entries of one block of the (index × level) table


def _log_laplace_cdf(x: FloatArray) -> FloatArray:
    return np.where(x < 0, np.minimum(x, 0) - math.log(2), np.log1p(-0.5 * np.exp(-np.maximum(x, 0))))


def _log_argmax_probabilities(a: FloatArray) -> FloatArray:
    """log P(a_j + X_j is the largest) for every j, X independent Lap(1): an integral over the winning level t.

    The integrand is f(t − a_j) Π_{i≠j} F(t − a_i), analytic between consecutive values.  Near the values it is
    integrated by Gauss's rule on cells of length ≤ 1; on stretches far from all values it is a pure exponential, done in
    closed form; beyond the extreme values it decays at least like e^{−|t|}.
    """
    cells, stretches = _cells(np.unique(a))
    half = (cells[:, 1] - cells[:, 0]) / 2
    cells, half = cells[half > 1e-290], half[half > 1e-290]  # shorter ones count for nothing, and their logarithm underflows
    centre = cells.mean(axis=1)
    total = np.full(a.size, -np.inf)
    for chosen, (nodes, weights) in ((half > 0.02, _COARSE), (half <= 0.02, _FINE)):
        levels = (centre[chosen, np.newaxis] + half[chosen, np.newaxis] * nodes).ravel()
        log_weights = np.log(half[chosen, np.newaxis] * weights).ravel()
        stride = max(1, _BLOCK // a.size)
        for start in range(0, levels.size, stride):
            block = slice(start, start + stride)
            total = np.logaddexp(total, logsumexp(_log_winning(levels[block], a) + log_weights[block], axis=1))
    if stretches.size:
        low, high = _log_winning(stretches[:, 0], a), _log_winning(stretches[:, 1], a)
        # ∫ exp(linear) = length · e^peak · (1 − e^{−drop})/drop; the slopes are whole numbers, 0 included
        drop = np.abs(high - low)
        mean = np.divide(-np.expm1(-drop), drop, out=np.ones_like(drop), where=drop > 0)
        log_mean = np.maximum(low, high) + np.log(mean)
        total = np.logaddexp(total, logsumexp(log_mean + np.log(stretches[:, 1] - stretches[:, 0]), axis=1))
    return total


@lru_cache(maxsize=4096)
def _cached_log_argmax(values: tuple[float, ...]) -> FloatArray:
    """A study asks for the same few laws again and again."""
    return _log_argmax_probabilities(np.array(values))


def _cells(corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Intervals (low, high): cells of length ≤ 1 within a layer of the corners, and the stretches between."""
    cells: list[FloatArray] = []
    stretches: list[tuple[float, float]] = []
    for left, right in itertools.pairwise([corners[0] - _LAYER, *corners, corners[-1] + _LAYER]):
        if right - left > 2 * _LAYER + 1:
            stretches.append((left + _LAYER, right - _LAYER))
            blocks = [(left, left + _LAYER), (right - _LAYER, right)]
        else:
            blocks = [(left, right)]
        for low, high in blocks:
            grid = np.linspace(low, high, 1 + max(1, math.ceil(high - low)))
            cells.append(np.column_stack([grid[:-1], grid[1:]]))
    return np.concatenate(cells), np.array(stretches)


def _log_winning(t: FloatArray, a: FloatArray) -> FloatArray:
    """[j, t]: log of f(t − a_j) Π_{i≠j} F(t − a_i)."""
    distance = t[np.newaxis, :] - a[:, np.newaxis]
    log_cdf = _log_laplace_cdf(distance)
    return np.asarray(-np.abs(distance) - math.log(2) - log_cdf + log_cdf.sum(axis=0))


class Tiltable(Protocol):
    """A problem with one minimiser for every tilt b, and the way back: b(y), a bi-Lipschitz bijection of R^d."""

    @property
    def dimension(self) -> int: ...
    def minimiser(self, tilt: FloatArray) -> FloatArray:
        """The y with b(y) = tilt, up to the accuracy that the problem states."""

    def tilt(self, y: FloatArray) -> FloatArray: ...
    def tilts(self, ys: FloatArray) -> FloatArray: ...
    def log_jacobians(self, ys: FloatArray) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class PerturbedMinimiser:
    """The minimiser of a problem under a random tilt with density ∝ exp(−‖b‖₂/scale)."""

    problem: Tiltable
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", float(_scale(self.scale, _location(0.0))))

    def noise(self) -> L2Laplace:
        return L2Laplace(np.zeros(self.problem.dimension), self.scale)

    def sample(self, rng: np.random.Generator) -> Value:
        return np.array(self.problem.minimiser(self.noise().sample(rng)))

    def logpdf(self, value: Value) -> float:
        y = np.asarray(value, dtype=np.float64)
        return self.noise().logpdf(self.problem.tilt(y)) + float(self.problem.log_jacobians(y[np.newaxis])[0])

    def logpdfs(self, values: FloatArray) -> FloatArray:
        """Of every row, with ordinary sums."""
        lengths = np.linalg.norm(self.problem.tilts(values), axis=1)
        return np.asarray(
            self.noise().logpdf(self.noise().location) - lengths / self.scale + self.problem.log_jacobians(values)
        )


class Potential(Protocol):
    """A function V on a bounded convex set that is the same for all data, with a way to draw from densities ∝ exp(−V/T)."""

    @property
    def dimension(self) -> int: ...
    def scores(self, points: FloatArray) -> FloatArray:
        """−V at every row."""

    def net(self) -> FloatArray:
        """Points all over the set, the same for all data."""

    def draw(self, temperature: float, rng: np.random.Generator) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class Gibbs:
    """A point with density ∝ exp(−V/scale): the continuous exponential mechanism."""

    potential: Potential
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", float(_scale(self.scale, _location(0.0))))

    @cached_property
    def on_net(self) -> Softmax:
        """The same density on the net's points only: what two such laws are compared by."""
        return Softmax(self.potential.scores(self.potential.net()), self.scale)

    def sample(self, rng: np.random.Generator) -> Value:
        return self.potential.draw(self.scale, rng)

    def logpdf(self, value: Value) -> float:
        """With respect to the uniform law on the set, its normalisation being a mean over the net."""
        score = float(self.potential.scores(np.atleast_2d(value))[0]) / self.scale
        scores = self.on_net.scores / self.scale
        return score - float(logsumexp(scores)) + math.log(scores.size)


@dataclass(frozen=True, eq=False, init=False)
class Point(_LocationScale):
    """The value itself, without noise: what a helper that claims no privacy returns."""

    def __init__(self, location: ArrayLike, scale: ArrayLike = 1.0) -> None:
        super().__init__(location, scale)

    def sample(self, rng: np.random.Generator) -> Value:  # noqa: ARG002  (nothing random)
        return np.array(self.location)

    def logpdf(self, value: Value) -> float:
        return 0.0 if np.array_equal(value, self.location) else -math.inf


@dataclass(frozen=True, eq=False)
class UniformPermutation:
    """A uniformly random order of n records: hidden randomness that does not depend on the data."""

    size: int

    def sample(self, rng: np.random.Generator) -> Value:
        return np.asarray(rng.permutation(self.size), dtype=np.int64)

    def logpdf(self, value: Value) -> float:  # noqa: ARG002  (every order is equally likely)
        return -float(gammaln(self.size + 1))


@dataclass(frozen=True, eq=False)
class UniformSubset:
    """So many of n records, all subsets equally likely, in increasing order: hidden randomness without data."""

    size: int
    members: int

    def __post_init__(self) -> None:
        if not 0 <= self.members <= self.size:
            raise InputError(f"members = {self.members!r}: must be between 0 and the size, {self.size!r}")

    def sample(self, rng: np.random.Generator) -> Value:
        return np.asarray(np.sort(rng.choice(self.size, self.members, replace=False, shuffle=False)), dtype=np.int64)

    def logpdf(self, value: Value) -> float:  # noqa: ARG002  (every subset is equally likely)
        return float(gammaln(self.members + 1) + gammaln(self.size - self.members + 1) - gammaln(self.size + 1))


TRUSTED: tuple[type[Any], ...] = (
    Gaussian,
    Laplace,
    L2Laplace,
    LLN,
    Finite,
    Softmax,
    NoisyArgmax,
    PerturbedMinimiser,
    Gibbs,
    Point,
    UniformPermutation,
    UniformSubset,
)
"""The laws whose samplers are tested here; `GridWalk`, which lives with its walk, is another one.  A subclass is none of them."""
LAWS: dict[str, type[Any]] = {law.__name__: law for law in TRUSTED}
_WALK = ("tailproof.refimpl.pure_dp.grid_walk", "GridWalk")


def is_trusted(law: Law) -> bool:
    """Of exactly one of the types above; what it is made of (a problem, a potential) is of this package, too."""
    kind = type(law)
    if (kind.__module__, kind.__qualname__) == _WALK:
        return _is_ours(law)
    if kind not in TRUSTED:
        return False
    parts = [getattr(law, name) for name in ("problem", "potential") if hasattr(law, name)]
    return all(_is_ours(part) for part in parts)


def _is_ours(value: Any) -> bool:
    """Its class is really the one that a module of this package has under that name."""
    kind = type(value)
    module = sys.modules.get(kind.__module__)
    return kind.__module__.startswith("tailproof.refimpl.") and getattr(module, kind.__qualname__, None) is kind


_COPIED = frozenset(TRUSTED) - {PerturbedMinimiser, Gibbs}


def sealed(law: Law) -> Law:
    """The same law, checked again, in arrays that nobody else holds.  A law of another type is taken as it is, if it is one."""
    if type(law) in _COPIED:
        copied: Law = type(law)(**law_fields(law))
        return copied
    if isinstance(law, TRUSTED):
        if type(law) in (PerturbedMinimiser, Gibbs):
            return law  # type: ignore[no-any-return]
        raise InputError(
            f"law: {type(law).__name__} is a subclass of a law; must be one of the laws itself, or a law of its own"
        )
    if not (callable(getattr(law, "sample", None)) and callable(getattr(law, "logpdf", None))):
        raise InputError(f"law = {law!r}: must be a law such as Gaussian(location, scale)")
    return law


def law_fields(law: Law) -> dict[str, Any]:
    """Name to value of a law's parameters (for comparing and writing laws)."""
    return {field.name: getattr(law, field.name) for field in fields(law)}  # type: ignore[arg-type]


def same_law(first: Law, second: Law) -> bool:
    """Bit for bit the same law.  Two laws without parameters cannot be compared: they count as different."""
    if first is second:
        return is_trusted(first)
    return bool(parts_of(first)) and same_bits(first, second)


def equal_law(first: Law, second: Law) -> bool:
    """The same law of a location and a scale, whatever the signs of its zeros."""
    if type(first) is not type(second) or not isinstance(first, _LocationScale) or type(first) not in TRUSTED:
        return False
    ours, theirs = law_fields(first), law_fields(second)
    return all(np.array_equal(ours[name], theirs[name]) for name in ours)


def support_shape(law: Law) -> tuple[Any, ...]:
    """What must agree between the laws of one release on two data sets: kind, and shape of what is released."""
    if isinstance(law, _LocationScale):
        return (type(law).__name__, law.location.shape)
    if isinstance(law, Finite):
        return ("Finite", law.logits.shape)
    if isinstance(law, Softmax):
        return ("Softmax", law.scores.shape)
    if isinstance(law, NoisyArgmax):
        return ("NoisyArgmax", law.values.shape, law.excluded)
    if isinstance(law, UniformPermutation):
        return ("UniformPermutation", law.size)
    if isinstance(law, UniformSubset):
        return ("UniformSubset", law.size, law.members)
    if isinstance(law, PerturbedMinimiser):
        return ("PerturbedMinimiser", law.problem.dimension)
    if isinstance(law, Gibbs):
        return ("Gibbs", law.potential.dimension)
    return (type(law).__name__, np.shape(getattr(law, "scores", ())))
