"""[P1, Algorithm 3, mean part] Coordinate-wise trimmed mean with noise scaled to its smooth sensitivity.

Setting: x_1..x_n in R^d; each coordinate's mean is known to lie in [a, b].  Statement: each scalar release is
½ε̃²/(dT)-zCDP, ε̃ = √(2log(1/δ)+2ε) − √(2log(1/δ)), so T iterations are ½ε̃²-zCDP and (ε, δ)-DP [P1 Theorem 4, after
Bun–Steinke 2019].
Release: Trim_m(x) + (S/s)·Z, Z = X·e^{σY} with X ~ Lap(1), Y ~ N(0,1), S the t-smooth sensitivity; this is ½ε²-zCDP
with ε = t/σ + e^{1.5σ²}s, and σ, s minimise the variance of Z/s.
Departures: the paper leaves t free; the default is a quarter of the scalar release's ε.  `clamp="output"` (the paper's:
data unbounded, the trimmed mean clamped to [a, b]) uses a smooth upper bound U of the smooth sensitivity; `clamp="data"`
clamps the data instead and uses the exact smooth sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from tailproof.refimpl import validation
from tailproof.refimpl.channel import Channel, Smooth
from tailproof.refimpl.claims import ZCDP, zcdp_budget
from tailproof.refimpl.laws import LLN
from tailproof.refimpl.means.rows import replace_record
from tailproof.refimpl.validation import FloatArray

CLAMPS = ("output", "data")
_FLOOR = 1e-200  # of the smooth sensitivity, in units of b − a: keeps the noise positive where e^{−mt} underflows


def trimmed_mean(
    data: ArrayLike,
    channel: Channel,
    *,
    epsilon: float,
    delta: float,
    lower: float,
    upper: float,
    trim: int,
    smoothness: float | None = None,
    iterations: int = 1,
    clamp: str = "output",
) -> FloatArray:
    """`lower`, `upper` are a, b; `trim` is m; `smoothness` is t; `iterations` is T: this is one of T equal releases."""
    spend = privacy(epsilon=epsilon, delta=delta, iterations=iterations)
    lower, upper = check_parameters(lower=lower, upper=upper, trim=trim, smoothness=smoothness, clamp=clamp)
    data = validation.records("data", data)
    n, d = data.shape
    trim = validation.whole("trim", trim, least=1, most=(n - 1) // 2)
    scalar = math.sqrt(2 * spend.rho / d)  # ε of one scalar release: ½ε² = ρ/d
    smoothness = scalar / 4 if smoothness is None else float(smoothness)
    sigma, shrink = noise_shape(scalar, smoothness)
    columns = np.array(data.T, order="C")
    centre, bound = query(columns, lower=lower, upper=upper, trim=trim, smoothness=smoothness, clamp=clamp)
    law = LLN(centre, bound / shrink, sigma)
    return channel.release("mean", law, sensitivity=Smooth(bound, smoothness), spend=spend)


def check_parameters(*, lower: float, upper: float, trim: int, smoothness: float | None, clamp: str) -> tuple[float, float]:
    """What can be said without the data; a and b."""
    lower, upper = validation.real("lower", lower), validation.real("upper", upper)
    if lower >= upper:
        raise validation.InputError(f"lower = {lower!r}: must be < upper = {upper!r}")
    validation.choice("clamp", clamp, CLAMPS)
    validation.whole("trim", trim, least=1)
    if smoothness is not None:
        validation.positive("smoothness", smoothness)
    return lower, upper


@lru_cache(maxsize=64)
def noise_shape(epsilon: float, smoothness: float) -> tuple[float, float]:
    """(σ, s) with t/σ + e^{1.5σ²}s = ε that minimise Var(Z/s) = 2e^{2σ²}/s²: 5(ε/t)σ³ − 5σ² − 1 = 0."""
    ratio = epsilon / smoothness
    # the cubic is −1 at σ = t/ε and increases from there
    high = 1 / ratio + 1
    while 5 * ratio * high**3 - 5 * high**2 - 1 <= 0:
        high *= 2
    sigma = float(brentq(lambda x: 5 * ratio * x**3 - 5 * x**2 - 1, 1 / ratio, high, xtol=1e-300, rtol=8.9e-16))
    return sigma, math.exp(-1.5 * sigma**2) * (epsilon - smoothness / sigma)


def query(
    columns: FloatArray, *, lower: float, upper: float, trim: int, smoothness: float, clamp: str
) -> tuple[FloatArray, FloatArray]:
    """(trimmed means, their smooth sensitivities) of the rows of `columns`, one coordinate each.  Overwrites `columns`."""
    if clamp == "data":
        np.clip(columns, lower, upper, out=columns)
    means = trimmed_means(columns, trim)
    bounds = smooth_sensitivities(columns, trim, lower=lower, upper=upper, smoothness=smoothness, clamp=clamp)
    return np.clip(means, lower, upper), bounds


def trimmed_means(columns: FloatArray, m: int) -> FloatArray:
    """The mean of every row without its m smallest and m largest entries.  Partitions the rows at m and n−m−1."""
    n = columns.shape[1]
    columns.partition(m, axis=1)  # one order statistic at a time: many times faster than both at once
    if n - 2 * m > 1:
        columns[:, m + 1 :].partition(n - 2 * m - 2, axis=1)
    rows = columns[:, m : n - m]
    with np.errstate(over="ignore", invalid="ignore"):
        means: FloatArray = rows.sum(axis=1) / rows.shape[1]
    if not np.isfinite(means).all():  # a sum may overflow where the mean does not
        means = (rows / rows.shape[1]).sum(axis=1)
    return means


def smooth_sensitivities(
    columns: FloatArray, m: int, *, lower: float, upper: float, smoothness: float, clamp: str
) -> FloatArray:
    """Of every row's trimmed mean; rows are partitioned at m and n−m−1, and are partitioned further.

    With u_i = x_(n−m+1+i) and w_l = −x_(m+1−l), the formulas ask for the maximum over k = i + l ≥ 0, i ≥ −1, l ≥ 0 of
    e^{−kt}·min(u_i + w_l, cap)/(n−2m).  Data clamped: x beyond either end is a or b, and the cap, b − a, is never exceeded.  Output
    clamped: the cap is (n−2m)(b−a), and there is e^{−mt}(b−a) besides, which terms with k ≥ m do not exceed.
    As u_i + w_l ≤ x_(n) − x_(1), and the term of k = 0 is at least x_(n−m) − x_(m+1), large k do not matter; nor do, of what is
    left, large k if the sum of the last u_i and w_l is not much more.
    """
    n, width = columns.shape[1], upper - lower
    low, high = columns[:, : m + 1], columns[:, n - m - 1 :]
    cap, end = (width, 0.0) if clamp == "data" else (width * (n - 2 * m), width * math.exp(-smoothness * m))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        spread = np.minimum(high.max(axis=1) - low.min(axis=1), cap) if clamp == "output" else np.array([width])
        if (spread <= end * (n - 2 * m)).all():  # no term exceeds e^{−mt}(b−a)
            return np.full(len(columns), max(end, _FLOOR * width))
        least = np.maximum(np.minimum(high[:, 0] - low[:, -1], cap), end * (n - 2 * m))
        far = max(float(np.log(spread / least).max()) / smoothness, 0.0)
    depth = math.ceil(far) + 4 if far < m - 3 else m + 1  # NaN where all is equal
    while depth < low.shape[1]:
        low.partition(low.shape[1] - depth, axis=1)
        high.partition(depth - 1, axis=1)
        low, high = low[:, -depth:], high[:, :depth]
        with np.errstate(over="ignore"):  # what the same says of a quarter of it
            reach = np.minimum(high[:, -1] - low[:, 0], cap) * math.exp(-smoothness * (depth // 4 - 2))
        depth = depth // 4 if depth > 64 and (reach <= least).all() else depth
    u, w = np.sort(high, axis=1), -np.sort(low, axis=1)[:, ::-1]  # u[:, 0] is i = −1
    if clamp == "data" and depth > m:
        u, w = (np.column_stack([part, np.full(len(part), limit)]) for part, limit in ((u, upper), (w, -lower)))
    found = _largest_terms(u, w, smoothness, cap=cap) / (n - 2 * m)
    return np.asarray(np.maximum(found, max(end, _FLOOR * width)))


def _largest_terms(u: FloatArray, w: FloatArray, rate: float, *, cap: float) -> FloatArray:
    """max e^{−rate(i+l)}·min(u_i + w_l, cap), row by row.

    Those with i ≤ 0 or l = 0 are all tried.  Others are at most e^{−it}((u_i − h) + max_l e^{−lt}(w_l + h)), h = x_(n−m), since
    both brackets are ≥ 0, and likewise for l: most rows need no search.
    """
    edge, u = u[:, :1], u[:, 1:]  # i = −1 needs l ≥ 1
    decay = np.exp(-rate * np.arange(w.shape[1]))
    fall = decay[: u.shape[1]]
    with np.errstate(over="ignore"):  # a sum that overflows is beyond the cap
        best = (decay[:-1] * np.minimum(edge + w[:, 1:], cap)).max(axis=1)
        best = np.maximum(best, (fall * np.minimum(u + w[:, :1], cap)).max(axis=1))
        best = np.maximum(best, (decay * np.minimum(u[:, :1] + w, cap)).max(axis=1))
        above, below = np.minimum(u - edge, cap), np.minimum(w + edge, cap)
        most_u, most_w = ((d * part).max(axis=1, keepdims=True) for d, part in ((fall, above), (decay, below)))
        hope = best[:, np.newaxis] * (1 - 1e-12)
        better_u = (fall * np.minimum(above + most_w, cap) > hope)[:, 1:].any(axis=1)
        better_w = (decay * np.minimum(below + most_u, cap) > hope)[:, 1:].any(axis=1)
        for j in np.flatnonzero(better_u & better_w):
            best[j] = _search(u[j], w[j], rate, cap, best[j])
    return np.asarray(best)


def _search(u: FloatArray, w: FloatArray, rate: float, cap: float, best: float) -> float:
    """Squares of pairs are halved until their bound, the near corner's decay times the far corner's sum, is no more than is found.

    Sums that grow as fast as the decay are the worst: some 2/rate pairs are then within e^{−rate} of the best.
    """
    size = 1 << (max(len(u), len(w)) - 1).bit_length()
    i, k = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    while size:
        last = np.minimum(i + size, len(u)) - 1, np.minimum(k + size, len(w)) - 1
        decay = np.exp(-rate * (i + k))
        hopeful = decay * np.minimum(u[last[0]] + w[last[1]], cap) > best
        best = max(best, float((decay * np.minimum(u[i] + w[k], cap)).max(initial=best)))
        size //= 2
        i, k = (
            np.add.outer(shift, start[hopeful]).ravel()
            for shift, start in (([0, size, 0, size], i), ([0, 0, size, size], k))
        )
        inside = (i < len(u)) & (k < len(w))
        i, k = i[inside], k[inside]
    return best


def privacy(*, epsilon: float, delta: float, iterations: int = 1) -> ZCDP:
    """[P1, Theorem 4] ½ε̃²/T-zCDP for one of T releases; T of them convert to (ε, δ)-DP by P1 Lemma 3 exactly."""
    iterations = validation.whole("iterations", iterations, least=1)
    return ZCDP(zcdp_budget(epsilon, delta) / iterations)


def worst_neighbours(
    n: int, d: int, *, lower: float, upper: float, trim: int, **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Two blocks at the ends of [a, b], the cut between them at the edge of what is trimmed; a record changes sides."""
    for low_count in (trim + 1, trim, n // 2):
        data = np.full((n, d), upper)
        data[:low_count] = lower
        yield data, replace_record(data, 0, upper)
        yield data, replace_record(data, n - 1, lower)
    # m + 1 records at the middle, the rest far outside: the trimmed mean is pulled as far as one record can
    wide = np.linspace(lower, upper, n)[:, np.newaxis] * np.ones(d)
    yield wide, replace_record(wide, trim, 1e12 * (upper - lower))
