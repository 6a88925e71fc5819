"""[P4, Theorem B.1] No finite number of local queries determines the Lipschitz extension.

f_C(w) = inf_{y ∈ W} {f(y) + C‖w − y‖}.  A local query at a point returns the value and all derivatives there.  For every
finite evaluator there are two convex C^∞ functions on a ball W that answer all its queries alike and whose f_C differ at
the centre of W, so it is wrong for at least one of them.

Queries fixed in advance: `hidden_pair`.  The queries are known before the function is, and the pair differs only in a
cap of the ball that holds none of them.  The paper takes fewer queries than dimensions and a direction orthogonal to all of them.
What it uses is only a free cap, and in d ≥ 2 any finite number of queries leaves one: `hidden_pair` takes them all.

Adaptive queries: `resisting_pair`.  The paper says "run the algorithm" before the function exists.  For an algorithm
whose next query depends on the answers, that step fails: the first gradient is −2C·v, which shows the hidden direction,
and the second query may look into the cap (a test does it).  The theorem is true all the same: a resisting oracle on
an interval answers any deterministic adaptive evaluator and constructs the pair afterwards.  Since f(w) = g(w_1) on a
ball of any dimension has jets and f_C of g, this needs no dimension at all: d = 1 is enough.

What is not shown: one pair against all evaluators (each evaluator gets its own; one that draws random numbers gets one
for every outcome of them), and anything on approximate evaluation: the pairs' gap shrinks with the queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike
from scipy.integrate import quad

from tailproof.refimpl.domains import EPS, Ball
from tailproof.refimpl.validation import FloatArray, InputError, between, matrix, nonnegative, positive, vector, whole

# ------------------------------------------------------------------------------------------- queries fixed in advance
#
# The flat function is ψ(x) = x·e^{−1/x} for x > 0 and 0 for x ≤ 0.  For x > 0, with z = 1/x, its first derivative is
# e^{−z}(1 + z), and d/dx[e^{−z}P(z)] = e^{−z}·z²·(P(z) − P'(z)), so that every derivative is e^{−z} times a polynomial in
# z.  As x falls to 0, z grows and all of them tend to 0: ψ is C^∞ with all derivatives 0 at 0 (by induction, a function
# with a continuous extension of its derivative is differentiable there).  ψ'' = e^{−z}z³ ≥ 0: ψ is convex.


@dataclass(frozen=True, eq=False)
class RidgeFunction:
    """f(w) = h(⟨v, w − center⟩) with h(s) = −2C·s + C·H·β(x)·ψ((s − δ)/H), β(x) = e^{1/x}/(1 + 1/x).

    v = `direction`, δ = `threshold`, H = `height`, x = `depth` in (0, 1).  h is convex and C^∞ as ψ is, and v is linear
    in w.  Where ⟨v, w − center⟩ ≤ δ it is affine: the jet there does not depend on x.

    On the axis, h(s) + C|s| falls until s = δ ≥ 0.  Beyond, with s = δ + H·u, it is C·(−δ − H·u + H·β·ψ(u)), convex in u
    and stationary where β·ψ'(u) = 1, which is u = x; its value there is −C·(δ + H·x/(1 + x)).  Off the axis
    ‖w − center‖ ≥ |⟨v, w − center⟩|, so this is f_C(center), attained inside the ball as x < 1 and δ + H is its radius.
    """

    center: FloatArray
    direction: FloatArray
    lipschitz: float
    threshold: float
    height: float
    depth: float

    def __post_init__(self) -> None:
        direction = vector("direction", self.direction, size=vector("center", self.center).size)
        if not abs(float(np.linalg.norm(direction)) - 1) <= (direction.size + 4) * EPS:
            raise InputError("direction: must have norm 1")
        positive("lipschitz", self.lipschitz)
        nonnegative("threshold", self.threshold)
        positive("height", self.height)
        between("depth", self.depth, 0.01, 0.99)

    @property
    def weight(self) -> float:
        return self.lipschitz * self.height * math.exp(1 / self.depth) / (1 + 1 / self.depth)

    def derivatives(self, point: ArrayLike, order: int) -> FloatArray:
        """h, h', …, h^(order) at s = ⟨v, point − center⟩; the k-th derivative of f is h^(k) times v ⊗ … ⊗ v."""
        s = float(self.direction @ (vector("point", point, size=self.center.size) - self.center))
        result = np.zeros(whole("order", order, least=0) + 1)
        result[:2] = [-2 * self.lipschitz * s, -2 * self.lipschitz][: len(result)]
        u = (s - self.threshold) / self.height
        if u > 0:
            scales = self.weight / self.height ** np.arange(len(result))
            result += scales * _flat_derivatives(u, len(result) - 1)
        return result

    def value(self, point: ArrayLike) -> float:
        return float(self.derivatives(point, 0)[0])

    def gradient(self, point: ArrayLike) -> FloatArray:
        return float(self.derivatives(point, 1)[1]) * self.direction

    def extension_bounds(self) -> tuple[float, float]:
        """A lower and an upper bound of f_C(center): the closed form, widened by its rounding and that of ‖v‖ = 1."""
        exact = -self.lipschitz * (self.threshold + self.height * self.depth / (1 + self.depth))
        slack = (8 * self.center.size + 64) * EPS * self.lipschitz * (self.threshold + self.height)
        return exact - slack, exact + slack


def _flat_derivatives(u: float, order: int) -> FloatArray:
    """ψ, ψ', …, ψ^(order) at u > 0; 0 where e^{−1/u} is about to underflow."""
    z = 1 / u
    if z > 700:
        return np.zeros(order + 1)
    factors, polynomial = [u], Polynomial([1.0, 1.0])
    for _ in range(order):
        factors.append(float(polynomial(z)))
        polynomial = Polynomial([0.0, 0.0, 1.0]) * (polynomial - polynomial.deriv())
    return math.exp(-z) * np.array(factors)


@dataclass(frozen=True, eq=False)
class HiddenPair:
    """Two functions with the same jets at all queries; f_C(point) differs by at least `gap_lower` > 0."""

    first: RidgeFunction
    second: RidgeFunction
    point: FloatArray
    gap_lower: float


def hidden_pair(queries: ArrayLike, *, lipschitz: float, ball: Ball) -> HiddenPair:
    """The pair for queries fixed in advance: the rows of `queries`, fewer than d of them, or any number if d ≥ 2."""
    if not isinstance(ball, Ball):
        raise InputError(f"ball = {ball!r}: must be a Ball")
    rows = matrix("queries", queries, columns=ball.dimension)
    constant = positive("lipschitz", lipschitz)
    outside = np.flatnonzero(~ball.contains(rows)) if len(rows) else np.array([], dtype=np.int64)
    if outside.size:
        raise InputError(f"queries: row {int(outside[0])} is outside the ball; all must lie in it")
    if ball.dimension == 1 and len(rows):
        raise InputError("ball: has dimension 1; with queries it must have at least 2, or use resisting_pair")
    offsets = rows - ball.center
    direction = _free_direction(offsets)
    # All queries lie in the half-space ⟨v, w − c⟩ ≤ threshold in exact arithmetic, whatever the rounding.
    slack = (4 * ball.dimension + 16) * EPS * (ball.radius + float(np.linalg.norm(ball.center)))
    threshold = max(0.0, float((offsets @ direction).max(initial=0.0))) + slack
    first, second = (
        RidgeFunction(ball.center, direction, constant, threshold, ball.radius - threshold, depth)
        for depth in (1 / 2, 1 / 3)
    )
    gap = second.extension_bounds()[0] - first.extension_bounds()[1]  # C·H/12 but for rounding
    if not gap > 0:
        raise InputError(f"queries: {len(rows)} are too many for the gap C·H/12 to exceed rounding errors")
    return HiddenPair(first, second, ball.center, gap)


def _free_direction(offsets: FloatArray) -> FloatArray:
    """A unit vector orthogonal to the offsets if they are fewer than d, else the axis of a cap with none of them.

    q+1 directions in a plane, at angles 2πj/(q+1), are axes of caps of half-angle π/(q+1) with disjoint interiors (the
    plane's projection of a cap is a circular segment within that angle): one of them is free of q queries.
    """
    count, dimension = offsets.shape
    if count < dimension:
        # The last right singular vector of at most d−1 rows belongs to the singular value 0.
        padded = np.vstack([offsets, np.zeros((dimension - count, dimension))])
        last: FloatArray = np.linalg.svd(padded)[2][-1]
        return last / np.linalg.norm(last)
    angles = 2 * np.pi * np.arange(count + 1) / (count + 1)
    directions = np.zeros((count + 1, dimension))
    directions[:, 0], directions[:, 1] = np.cos(angles), np.sin(angles)
    deepest = np.array([(offsets @ axis).max() for axis in directions])
    best: FloatArray = directions[int(np.argmin(deepest))]
    return best / np.linalg.norm(best)


# ------------------------------------------------------------------------------------------------- adaptive queries
#
# The functions live on the interval [−radius, radius].  In exact rational arithmetic the oracle keeps a polyline
#     G(s) = max of lines,  whose tilted version G(s) + C·s has its least value at one kink m in (0, radius),
# with slopes −Δ and +Δ (of the tilted lines) beside it.  A query that is not a kink is answered by its line: all
# derivatives from the second on are 0.  If a query y is a kink, G is first raised within (y − gap/2, y + gap/2), where
# gap is the distance of y from other kinks, earlier queries and the ends of (0, radius) and the interval: no earlier
# answer changes, and y is no longer a kink.
#
# - At the kink m, add the two lines of the tilted V:  v + (Δ/2)|s − m'| with m' = m − τ, v = least + (3/2)·Δ·τ, τ = gap/10.
#   It meets the old lines at m − 2τ and m + 4τ, so m' is the new least point, with Δ/2, and m is inside a line.
# - At another kink, with slopes p < r, add the line of slope (p+r)/2 that is (r−p)·gap/8 above G at y.  It meets the old
#   lines at y ± gap/4.
#
# In the end each kink k, with jump j, is rounded: j·(s − k)_+ becomes j·ε·ρ((s − k)/ε), where ρ' = σ is the step
# σ(u) = e(1+u)/(e(1+u) + e(1−u)), e(t) = exp(−1/t) for t > 0 and 0 otherwise, and ρ(u) = ∫_{−1}^u σ.  σ is C^∞ (e is, and the
# denominator is > 0), increases from 0 at −1 to 1 at 1, and σ(u) + σ(−u) = 1, so ρ(u) = u for u ≥ 1.  So the result is
# convex, C^∞ and equals G wherever no kink is within its ε.  The two functions differ in the ε of the least kink only.
# There, by symmetry, the tilted function is least at m itself, and f_C(0) = min_s g(s) + C|s| = least + 2Δ·ε·ρ(0), since
# C|s| ≥ C·s with equality at m > 0.  As ρ(0) > 0, two ε give two values.

Answer: TypeAlias = tuple[Fraction, Fraction, Fraction]  # the query, the value there and the slope there
Line: TypeAlias = tuple[Fraction, Fraction]  # slope and intercept
Evaluator: TypeAlias = Callable[[tuple[Answer, ...]], Fraction | float | int]


@dataclass(frozen=True)
class RoundedPolyline:
    """A convex C^∞ function on [−radius, radius]: max of `lines`, each kink rounded over its own half-width."""

    lines: tuple[Line, ...]
    kinks: tuple[Fraction, ...]
    half_widths: tuple[Fraction, ...]
    extension_lower: Fraction  # bounds of f_C(0)
    extension_upper: Fraction

    def is_affine_near(self, s: Fraction) -> bool:
        return all(abs(s - kink) >= width for kink, width in zip(self.kinks, self.half_widths, strict=True))

    def answer(self, query: Fraction | float | int) -> Answer:
        """The local information at a point where the function is affine to all orders; exact."""
        s = Fraction(query)
        if not self.is_affine_near(s):
            raise InputError(f"query = {float(s):g}: lies in a rounded kink; the jet is not affine there")
        return _answer(self.lines, s)

    def value(self, s: float) -> float:
        """The function at any point, by quadrature within a rounded kink."""
        result = float(_answer(self.lines, Fraction(s))[1])
        for kink, width in zip(self.kinks, self.half_widths, strict=True):
            u = float((Fraction(s) - kink) / width)
            if abs(u) < 1:
                left, right = _beside(self.lines, kink)
                # By symmetry ρ(u) − u_+ = ρ(−|u|).
                result += float((right[0] - left[0]) * width) * quad(smooth_step, -1, -abs(u), epsabs=1e-13)[0]
        return result


@dataclass(frozen=True)
class ResistingPair:
    """Two functions that give the evaluator the same answers; f_C(0) differs by at least `gap_lower` > 0."""

    first: RoundedPolyline
    second: RoundedPolyline
    transcript: tuple[Answer, ...]
    gap_lower: Fraction


def resisting_pair(evaluator: Evaluator, *, queries: int, lipschitz: float, radius: float) -> ResistingPair:
    """Answer `queries` queries of a deterministic adaptive evaluator on [−radius, radius]; then make the pair.

    `evaluator` maps the answers so far, (query, value, slope) with all higher derivatives 0, to the next query.
    """
    constant, end = Fraction(positive("lipschitz", lipschitz)), Fraction(positive("radius", radius))
    # Tilted, the first polyline is constant·|s − end/2|.
    lines: tuple[Line, ...] = ((-2 * constant, constant * end / 2), (Fraction(0), -constant * end / 2))
    transcript: tuple[Answer, ...] = ()
    for _ in range(whole("queries", queries, least=0)):
        query = _query(evaluator(transcript), end)
        if query in _kinks(lines):
            lines = _without_kink(lines, query, constant, _gap(lines, query, transcript, end))
        transcript = (*transcript, _answer(lines, query))
    first, second = (_rounded(lines, transcript, constant, end, share) for share in (Fraction(1), Fraction(1, 2)))
    return ResistingPair(first, second, transcript, first.extension_lower - second.extension_upper)


def smooth_step(u: float) -> float:
    """σ(u), as 1/(1 + exp(−2u/(1 − u²))) for |u| < 1."""
    if abs(u) >= 1:
        return 0.0 if u < 0 else 1.0
    exponent = 2 * u / ((1 - u) * (1 + u))
    tail = math.exp(-abs(exponent))
    return tail / (1 + tail) if u < 0 else 1 / (1 + tail)


def rounding_depth_bounds(panels: int = 4096) -> tuple[float, float]:
    """Bounds of ρ(0) = ∫_{−1}^0 σ: σ increases, so that sums of its values at left and right ends enclose it.

    Widened by more than the rounding of the sums, for an exp that is right to a relative 1e-13.
    """
    count = whole("panels", panels, least=2)
    ends = [smooth_step(-j / count) for j in range(count + 1)]
    return math.fsum(ends[1:]) / count * (1 - 1e-12), math.fsum(ends[:-1]) / count * (1 + 1e-12)


def _query(value: Fraction | float | int, end: Fraction) -> Fraction:
    try:
        query = Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"evaluator: asked for {value!r}; must be a finite number") from None
    if abs(query) > end:
        raise InputError(f"evaluator: asked for {float(query):g}; must lie in [-{float(end):g}, {float(end):g}]")
    return query


def _answer(lines: Sequence[Line], s: Fraction) -> Answer:
    value, slope = max((slope * s + intercept, slope) for slope, intercept in lines)
    return s, value, slope


def _beside(lines: Sequence[Line], s: Fraction) -> tuple[Line, Line]:
    """The lines that G follows to the left and to the right of s."""
    top = max(slope * s + intercept for slope, intercept in lines)
    touching = [line for line in lines if line[0] * s + line[1] == top]
    return min(touching), max(touching)


def _kinks(lines: Sequence[Line]) -> tuple[Fraction, ...]:
    """In the order of the slopes each line of the envelope meets the next at a kink; every line here is part of it."""
    ordered = sorted(lines)
    return tuple((a[1] - b[1]) / (b[0] - a[0]) for a, b in pairwise(ordered))


def _gap(lines: Sequence[Line], s: Fraction, transcript: Sequence[Answer], end: Fraction) -> Fraction:
    marks = [*_kinks(lines), *(query for query, _, _ in transcript), -end, Fraction(0), end]
    return min(abs(mark - s) for mark in marks if mark != s)


def _without_kink(lines: tuple[Line, ...], s: Fraction, constant: Fraction, gap: Fraction) -> tuple[Line, ...]:
    """Raise G near its kink s, so that s lies inside a line."""
    left, right = _beside(lines, s)
    top = left[0] * s + left[1]
    if left[0] < -constant < right[0]:
        delta, tau = right[0] + constant, gap / 10
        vertex = s - tau
        height = top + constant * s + 3 * delta * tau / 2 - constant * vertex
        slopes = (-constant - delta / 2, -constant + delta / 2)
        return (*lines, *((slope, height - slope * vertex) for slope in slopes))
    slope = (left[0] + right[0]) / 2
    return (*lines, (slope, top + (right[0] - left[0]) * gap / 8 - slope * s))


def _rounded(
    lines: tuple[Line, ...], transcript: tuple[Answer, ...], constant: Fraction, end: Fraction, share: Fraction
) -> RoundedPolyline:
    """Round each kink over half its gap, but the least one over that `share` of it."""
    kinks = _kinks(lines)
    widths = {kink: _gap(lines, kink, transcript, end) / 2 for kink in kinks}
    least = next(kink for kink in kinks if _beside(lines, kink)[0][0] < -constant < _beside(lines, kink)[1][0])
    widths[least] *= share
    left, right = _beside(lines, least)
    value = left[0] * least + left[1] + constant * least
    lower, upper = (value + (right[0] - left[0]) * widths[least] * Fraction(rho) for rho in rounding_depth_bounds())
    return RoundedPolyline(lines, kinks, tuple(widths.values()), lower, upper)
