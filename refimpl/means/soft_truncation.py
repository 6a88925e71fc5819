"""[P1, Algorithm 4, mean part] Soft truncation: Catoni's influence function smoothed by multiplicative Gaussian noise.

Setting: x_1..x_n in R^d, E x_j² ≤ v for every coordinate.  Statement: each scalar release is ½ε̃²/(dT)-zCDP, so T
iterations are ½ε̃²-zCDP and (ε, δ)-DP [P1 Theorem 7].  Per record and coordinate the estimator uses s·E φ(a + |a|N/√β),
a = x/s, N standard Gaussian, φ(x) = x − x³/6 on |x| ≤ √2 and ±2√2/3 beyond, s = √(nv/(2log(1/δ'))), β = log(1/δ').
Departures: the estimator as displayed in P1's proof of Theorem 7 adds C(|a|, b) without its sign and without the factor
s, which makes a record's value unbounded (see the errata); here it is s·Eφ, clamped to ±2√2s/3 against rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from tailproof.refimpl import validation
from tailproof.refimpl.channel import Bound, Channel, LInf
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.means.rows import blocks, column_sums, replace_record
from tailproof.refimpl.means.trimmed import privacy
from tailproof.refimpl.validation import FloatArray

__all__ = ["correction", "influence", "privacy", "sensitivity", "smoothed_influence", "soft_truncated_mean"]

PLATEAU = 2 * math.sqrt(2) / 3  # φ beyond √2
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_LIMIT = 1e150  # beyond this |a| the influence is its limit to the last digit; also what stands for an overflow
# Where √2 is z = 8 deviations b away, b ≤ √2/(√β + z), what lies beyond it is at most p(z)(√2b²/z³ + b³/z⁴), p the normal density
# [the Mills ratio's expansion]: less than 3e-18/√β of E φ, so that the cubic polynomial is E φ to the last digit.
_DEVIATIONS = 8.0
_FAR = 3.0  # beyond this |a| the closed form loses digits; quadrature of the bounded part is exact there


def soft_truncated_mean(
    data: ArrayLike,
    channel: Channel,
    *,
    epsilon: float,
    delta: float,
    second_moment: float,
    failure: float,
    iterations: int = 1,
    scale: float | None = None,
) -> FloatArray:
    """`second_moment` is v, `failure` is δ', `iterations` is T: this is one of T equal releases; `scale` is s if it is not the
    published one."""
    spend = privacy(epsilon=epsilon, delta=delta, iterations=iterations)
    published_parameters(1, second_moment=second_moment, failure=failure)  # refuses bad ones before the data are looked at
    if scale is not None:
        validation.positive("scale", scale)
    data = validation.records("data", data)
    n, d = data.shape
    published, beta = published_parameters(n, second_moment=second_moment, failure=failure)
    scale = published if scale is None else float(scale)
    mean = query(data, scale=scale, beta=beta)
    reach = sensitivity(n, scale=scale)
    law = Gaussian(mean, reach.value * math.sqrt(d / (2 * spend.rho)))  # each scalar: Δ²/(2σ²) = ρ/d
    return channel.release("mean", law, sensitivity=reach, spend=spend)


def published_parameters(n: int, *, second_moment: float, failure: float) -> tuple[float, float]:
    """(s, β) = (√(nv/(2log(1/δ'))), log(1/δ')).  Public: no record enters."""
    second_moment = validation.positive("second_moment", second_moment)
    beta = math.log(1 / validation.probability("failure", failure))
    return math.sqrt(n * second_moment / (2 * beta)), beta


def query(data: FloatArray, *, scale: float, beta: float) -> FloatArray:
    """(1/n) Σ_i s·E φ(x_i/s·(1 + N/√β)), coordinate by coordinate."""
    total = np.zeros(data.shape[1])
    for rows in blocks(data):
        with np.errstate(over="ignore"):
            a = data[rows] * (1 / scale) if scale > 1e-300 else data[rows] / scale  # a product takes a quarter of the time
        total += column_sums(smoothed_influence(a, beta))
    return total * (scale / len(data))


def influence(x: ArrayLike) -> FloatArray:
    """φ(x) = x − x³/6 on |x| ≤ √2, ±2√2/3 beyond."""
    inside = np.clip(np.asarray(x, dtype=np.float64), -math.sqrt(2), math.sqrt(2))
    return np.asarray(inside - inside**3 / 6)


def smoothed_influence(a: ArrayLike, beta: float) -> FloatArray:
    """E φ(a(1 + N/√β)), N standard Gaussian: odd, increasing, never beyond ±2√2/3.

    Increasing because its derivative is ∫_0^∞ z φ'(az)(p(z) − p(−z)) dz with φ' ≥ 0 even and p the density of N(1, 1/β);
    so its supremum is the limit (2√2/3)(2Φ(√β) − 1).
    """
    a = np.asarray(a, dtype=np.float64)
    near = math.sqrt(2) / (1 + _DEVIATIONS / math.sqrt(beta))
    with np.errstate(over="ignore", invalid="ignore"):
        value = np.square(a)
        beyond = np.flatnonzero((value > near * near).ravel(order="K"))
        value *= 0.5 / beta + 1 / 6
        np.subtract(1, value, out=value)
        value *= a
    if len(beyond):  # `a` and `value` lie in memory alike
        part = a.ravel(order="K")[beyond]
        value.ravel(order="K")[beyond] = np.copysign(_beyond(np.minimum(np.abs(part), _LIMIT), beta), part)
    return np.asarray(value)


def _beyond(a: FloatArray, beta: float) -> FloatArray:
    close = np.minimum(a, _FAR)
    spread = close / math.sqrt(beta)
    value = close * (1 - spread * spread / 2 - close * close / 6) + correction(close, spread)
    far = np.flatnonzero(a > _FAR)
    if len(far):
        value[far] = _by_quadrature(a[far], beta)
    return np.minimum(value, PLATEAU)


def correction(a: FloatArray, b: FloatArray) -> FloatArray:
    """C(a, b) with E φ(a + bN) = a(1 − b²/2) − a³/6 + C(a, b): how far φ is from the cubic beyond √2, less the same beyond −√2.

    That is what P1's (19)–(27) sum up to, from half as many special functions.  The latter is left out where it is below rounding.
    """
    both = np.flatnonzero(math.sqrt(2) + a < _DEVIATIONS * b)
    tails = _tail(np.concatenate([a, -a[both]]), np.concatenate([b, b[both]]))
    value = tails[: len(a)]
    value[both] -= tails[len(a) :]
    return value


def _tail(a: FloatArray, b: FloatArray) -> FloatArray:
    """E(y²/√2 + y³/6) for y = max(a + bN − √2, 0): how far φ is above the cubic beyond √2, where both have slope 0."""
    z = (math.sqrt(2) - a) / b
    square = z * z
    beyond, density = ndtr(-z), np.exp(-0.5 * square)
    density *= 1 / math.sqrt(2 * math.pi)
    # E y² = b²((1 + z²)P − zp) and E y³ = b³((2 + z²)p − (3 + z²)zP), P = P(N > z) and p the density there
    sixth = b / 6
    beyond *= (1 + square) * math.sqrt(0.5) - (3 + square) * z * sixth
    density *= (2 + square) * sixth - z * math.sqrt(0.5)
    beyond += density
    return np.asarray(beyond * b * b)


def _by_quadrature(a: FloatArray, beta: float) -> FloatArray:
    """E φ = (2√2/3)(P(z > √2) − P(z < −√2)) + ∫_{−√2}^{√2} φ(z) p(z) dz, z ~ N(a, a²/β); only for a ≥ 3.

    The integrand is smooth on the scale b = a/√β: the rule has converged where the integral is not 0 in floating point.
    """
    b = a / math.sqrt(beta)
    root = math.sqrt(2)
    plateau = PLATEAU * (ndtr((a - root) / b) - ndtr((-root - a) / b))
    z = root * _NODES
    density = np.exp(-0.5 * ((z - a[:, np.newaxis]) / b[:, np.newaxis]) ** 2) / (b[:, np.newaxis] * math.sqrt(2 * math.pi))
    return np.asarray(plateau + density @ (root * _WEIGHTS * influence(z)))


def sensitivity(n: int, *, scale: float) -> Bound:
    """Every record's value lies within ±2√2s/3, so a coordinate of the mean moves by at most 4√2s/(3n)  [P1, Theorem 7].

    The supremum is smaller by the factor 2Φ(√β) − 1: see `smoothed_influence` and `sensitivity_supremum`.
    """
    return LInf(2 * PLATEAU * scale / n)


def sensitivity_supremum(n: int, *, second_moment: float, failure: float) -> float:
    scale, beta = published_parameters(n, second_moment=second_moment, failure=failure)
    return sensitivity(n, scale=scale).value * (2 * float(ndtr(math.sqrt(beta))) - 1)


def worst_neighbours(
    n: int, d: int, *, second_moment: float, failure: float, **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Opposite outliers of growing size: the influence grows towards its plateau."""
    scale, _beta = published_parameters(n, second_moment=second_moment, failure=failure)
    for size in (2.0, 1e3, 1e12):
        data = np.zeros((n, d))
        data[0] = size * scale
        yield data, replace_record(data, 0, -size * scale)
