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

from refimpl import validation
from refimpl.channel import Channel, Smooth
from refimpl.claims import ZCDP, zcdp_budget
from refimpl.laws import LLN
from refimpl.means.rows import replace_record
from refimpl.validation import FloatArray, IntArray

CLAMPS = ("output", "data")
_MOST_PAIRS = 10_000  # that are tried one by one; more take O(m log m)
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
    """`smooth_sensitivity` of every row, to rounding, from as few order statistics as it takes; rows are partitioned already.

    Both formulas are the maximum of e^{−kt}·min(u_i + w_l, cap)/(n−2m): clamped data never exceed the cap b − a, and where the
    output is clamped k ≥ m adds no more than e^{−mt}(b−a).  As u_i + w_l ≤ x_(n) − x_(1), and the term of k = 0 is at least
    x_(n−m) − x_(m+1), large k do not matter.
    """
    n, width = columns.shape[1], upper - lower
    low, high = columns[:, : m + 1], columns[:, n - m - 1 :]
    cap, end = (width, 0.0) if clamp == "data" else (width * (n - 2 * m), width * math.exp(-smoothness * m))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        spread = np.minimum(high.max(axis=1) - low.min(axis=1), cap) if clamp == "output" else np.array([width])
        least = np.maximum(np.minimum(high[:, 0] - low[:, -1], cap), end * (n - 2 * m))
        far = max(float(np.log(spread / least).max()) / smoothness, 0.0)
    depth = math.ceil(far) + 4 if far < m - 3 else m + 1  # NaN where all is equal
    if depth <= m:
        low.partition(m + 1 - depth, axis=1)
        high.partition(depth - 1, axis=1)
    u, w = np.sort(high[:, :depth], axis=1), -np.sort(low[:, m + 1 - depth :], axis=1)[:, ::-1]  # u[:, 0] is i = −1
    if clamp == "data" and depth > m:
        u, w = (np.column_stack([part, np.full(len(part), limit)]) for part, limit in ((u, upper), (w, -lower)))
    found = _largest_terms(u, w, smoothness, cap=cap) / (n - 2 * m)
    for j in np.flatnonzero(np.isnan(found)):
        ordered = np.sort(low[j]), np.sort(high[j])
        found[j] = smooth_sensitivity(*ordered, n, lower=lower, upper=upper, smoothness=smoothness, clamp=clamp)
    return np.asarray(np.maximum(found, max(end, _FLOOR * width)))


def _largest_terms(u: FloatArray, w: FloatArray, rate: float, *, cap: float) -> FloatArray:
    """max e^{−rate(i+l)}·min(u_i + w_l, cap), row by row; NaN where too many pairs are left to be tried.

    Those with i ≤ 0 or l = 0 are all tried.  Others are at most e^{−it}((u_i − h) + max_l e^{−lt}(w_l + h)), h = x_(n−m), since
    both brackets are ≥ 0, and likewise for l: few i and few l can be better than what is found already.
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
        rows = fall * np.minimum(above + most_w, cap) > hope
        lines = decay * np.minimum(below + most_u, cap) > hope
        for j in np.flatnonzero(rows[:, 1:].any(axis=1) & lines[:, 1:].any(axis=1)):
            i, k = np.flatnonzero(rows[j]), np.flatnonzero(lines[j])
            if len(i) * len(k) > _MOST_PAIRS:
                best[j] = math.nan
            else:
                terms = np.minimum(u[j, i, np.newaxis] + w[j, k], cap) * fall[i, np.newaxis] * decay[k]
                best[j] = max(best[j], terms.max())
    return np.asarray(best)


def smooth_sensitivity(
    low: FloatArray, high: FloatArray, n: int, *, lower: float, upper: float, smoothness: float, clamp: str
) -> float:
    """From the m+1 smallest and the m+1 largest values, in increasing order.

    With u_i = x_(n−m+1+i) and w_l = −x_(m+1−l), the formulas ask for the maximum over k = i + l ≥ 0, i ≥ −1, l ≥ 0 of
    e^{−kt}(u_i + w_l)/(n−2m).  Data clamped: x beyond either end is a or b, all k.  Output clamped: k < m, each term cut
    off at b − a, and e^{−mt}(b−a) besides.
    """
    m, width = len(low) - 1, upper - lower
    u, w = high, -low[::-1]  # u[0] is i = −1, w[0] is l = 0
    if clamp == "data":
        u, w = np.append(u, upper), np.append(w, -lower)
        return max(_largest(u, w, smoothness, most=2 * m + 1, cap=math.inf) / (n - 2 * m), _FLOOR * width)
    cap = width * (n - 2 * m)
    with np.errstate(over="ignore"):  # a sum that overflows is beyond the cap
        inner = _largest(u, w, smoothness, most=m - 1, cap=cap) / (n - 2 * m)
        first = _first_at_cap(u, w, most=m - 1, cap=cap)
    at_cap = 0.0 if first is None else width * math.exp(-smoothness * first)
    return max(inner, at_cap, width * math.exp(-smoothness * m), _FLOOR * width)


def _largest(u: FloatArray, w: FloatArray, rate: float, *, most: int, cap: float) -> float:
    """max e^{−rate(i+l)}(u_i + w_l) over 0 ≤ i + l ≤ most with u_i + w_l ≤ cap; u[0] is i = −1.  O(m log m).

    For every i ≥ 0 the best l is the highest, at u_i, of the lines with slope p_l = e^{−rate·l} and intercept p_l·w_l.
    """
    decay = np.exp(-rate * np.arange(max(len(u), len(w))))
    edge = u[0] + w[1 : most + 2]  # i = −1 needs l ≥ 1
    best = float(np.where(edge <= cap, edge * decay[: len(edge)], -math.inf).max(initial=-math.inf))
    u = u[1 : most + 2]
    reach = np.minimum(len(w) - 1, most - np.arange(len(u)))
    if math.isfinite(cap):
        reach = np.minimum(reach, np.searchsorted(w, cap - u, side="right") - 1)
    count = int((reach >= 0).sum())  # reach never grows with i: these are the first rows
    if count == 0:
        return best
    heights = _highest_lines(u[:count], reach[:count], decay[: len(w)], decay[: len(w)] * w)
    return max(best, float((decay[:count] * heights).max()))


def _highest_lines(points: FloatArray, reach: IntArray, slopes: FloatArray, intercepts: FloatArray) -> FloatArray:
    """At each of the increasing points, the height of the highest of the lines 0..reach, reach not increasing.

    The slopes fall from line to line, so the best line's number never grows from a point to the next, and lies between those
    of points already done: points are done at strides of falling powers of two, all of one stride at once.
    """
    count = len(points)
    chosen, heights = np.empty(count, dtype=np.int64), np.empty(count)
    start = np.zeros(1, dtype=np.int64)
    chosen[:1], heights[:1] = _best_lines(points[:1], start, reach[:1], slopes, intercepts)
    stride = 1 << max(0, (count - 1).bit_length() - 1)
    while stride >= 1:
        now = np.arange(stride, count, 2 * stride)
        if len(now):
            after = now + stride
            first = np.where(after < count, chosen[np.minimum(after, count - 1)], 0)
            last = np.minimum(chosen[now - stride], reach[now])
            chosen[now], heights[now] = _best_lines(points[now], first, last, slopes, intercepts)
        stride //= 2
    return heights


def _best_lines(
    points: FloatArray, first: IntArray, last: IntArray, slopes: FloatArray, intercepts: FloatArray
) -> tuple[IntArray, FloatArray]:
    """For each point the (first) highest line among first..last, and its height."""
    lengths = last - first + 1
    starts = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(points)), lengths)
    line = np.arange(lengths.sum()) - starts[owner] + first[owner]
    heights = slopes[line] * points[owner] + intercepts[line]
    tops = np.maximum.reduceat(heights, starts)
    at_top = np.flatnonzero(heights == tops[owner])
    winners = at_top[np.searchsorted(at_top, starts)]
    return line[winners], tops


def _first_at_cap(u: FloatArray, w: FloatArray, *, most: int, cap: float) -> int | None:
    """The least k = i + l ≤ most with u_i + w_l > cap, or None; u[0] is i = −1."""
    shifts = np.arange(-1, len(u) - 1)
    needed = np.searchsorted(w, cap - u, side="right")
    total = np.maximum(shifts + needed, 0)
    total = total[(needed < len(w)) & (total <= most)]
    return int(total.min()) if len(total) else None


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
