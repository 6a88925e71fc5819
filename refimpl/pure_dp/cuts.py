"""[ours] The minimiser of a tilted risk by cuts, in ball arithmetic: it needs no solve, and its number of steps is public.

The ellipsoid method.  An ellipsoid that holds the minimiser v is cut through its centre c, and replaced by the least one around the
half that v is in:

- where c is outside W, by a plane that has W on one side;
- where c is in W, by the gradient g(c) of the tilted risk, as ⟨g(c), c − v⟩ ≥ nΛ‖c − v‖².

It ends at the first c in W from which a gradient step leads to a y whose tilt is within `goal` of the one asked for.

Claim: that happens within `most_cuts` steps, whatever the data.  Proof.  Write far for the distance that W reaches from the
origin, and p for the stiffness.  (1) If ‖c − v‖ ≤ δ = EPS·far, the y above c has a tilt within 4pδ of the one asked for, as a
gradient step does not increase distances.  Rounding y moves its tilt by at most √d·EPS·(p·far + n(C + ‖b‖/n + 2ΛR)), rounding
Π(y) by twice (d/4 + 4)·EPS·p·far.  All together is less than `goal`, nΛ/2 times `tilted.accuracy_upper`.  (2) Let Γ be the longest
gradient on W and ρ = nΛδ²/(2Γ).  A cut at a c in W with ‖c − v‖ > δ keeps every u with ‖u − v‖ ≤ ρ, with nΛδ²/2 to spare, which is
for rounding.  So as long as no c in W is within δ of v, every ellipsoid holds the points of W within ρ of v.  These have at least
(ρ/D)^d of the volume of W, D its diameter, and W holds a ball of radius s.  Every step divides the volume by at least
e^{1/(2(d + 1))}, and a ball of radius D around a point of W is the first ellipsoid.  So there are at most 2d(d + 1)·log(D²/(ρs))
such steps.  ∎

(Rounding.  The least axis of every ellipsoid is at least σ = ρs/D, so the longest is at most D·(D/σ)^{d−1}: with `_bits` bits the
entries of its matrix are exact to less than 2^{−64} of its least eigenvalue.  It is enlarged by 2^{−60} of itself in every step.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, arb_mat, ctx

from tailproof.refimpl.domains import EPS, Ball, Box
from tailproof.refimpl.pure_dp.tempered import Ramps, Tempered
from tailproof.refimpl.validation import FloatArray

if TYPE_CHECKING:
    from tailproof.refimpl.pure_dp.tilted import TiltedRisk

Point = list[arb]
_FARTHEST_MARGIN = 10_000  # beyond, e^{−margin} counts as 0


def most_cuts(risk: TiltedRisk, tilt_length: float) -> int:
    """How many steps are enough for every tilt that is no longer."""
    d = risk.dimension
    return 1 + math.ceil(2.1 * d * (d + 1) * _log_quotient(risk, tilt_length))


def _log_quotient(risk: TiltedRisk, tilt_length: float) -> float:
    """log(D²/(ρs)), rounded up."""
    width, far = risk.domain.diameter_upper(), risk.domain.max_norm_from(np.zeros(risk.dimension))
    steepest = risk.size * (risk.clip + 2 * risk.weight * width) + tilt_length
    shares = math.log(steepest) - math.log(risk.pull) - 2 * math.log(EPS * far) + 1
    return 2 * math.log(width) + shares - math.log(inner_radius(risk.domain))


def _bits(risk: TiltedRisk, tilt_length: float) -> int:
    return 256 + math.ceil(2 * (risk.dimension + 1) * _log_quotient(risk, tilt_length) / math.log(2))


def minimiser_by_cuts(risk: TiltedRisk, tilt: FloatArray, goal: float) -> FloatArray:
    """A float y whose tilt is within `goal`, which must be what the claim says, of the one asked for."""
    length = float(np.linalg.norm(tilt))
    with ctx.workprec(_bits(risk, length)):
        slope = _slope_of(risk, tilt)
        radius = arb(risk.domain.diameter_upper())
        center = [arb(float(x)) for x in risk.domain.interior_point()]
        shape = [[radius * radius * int(i == j) for j in range(len(center))] for i in range(len(center))]
        y = risk.domain.interior_point()
        for _ in range(most_cuts(risk, length)):
            normal = _outward(risk.domain, center)
            if normal is None:
                normal = slope(center)
                y = _above(risk, center, normal)
                if _off(risk, slope, y) <= goal:
                    return y
            center, shape = _cut(center, shape, normal)
    return y


def _cut(center: Point, shape: list[Point], normal: Point) -> tuple[Point, list[Point]]:
    """The least ellipsoid around the part of this one where ⟨normal, w − center⟩ ≤ 0, a little enlarged."""
    d = len(center)
    pushed = [_product(row, normal).mid() for row in shape]
    height = _product(pushed, normal).mid().sqrt().mid()
    way = [(x / height).mid() for x in pushed]
    moved = [(c - x / (d + 1)).mid() for c, x in zip(center, way, strict=True)]
    grown = (arb(d * d) / (d * d - 1) if d > 1 else arb(1)) * (1 + arb(2) ** -60)
    kept = arb(2) / (d + 1) if d > 1 else arb(3) / 4
    return moved, [[(grown * (shape[i][j] - kept * way[i] * way[j])).mid() for j in range(d)] for i in range(d)]


def _product(one: Point, other: Point) -> arb:
    return sum((a * b for a, b in zip(one, other, strict=True)), arb(0))


def _slope_of(risk: TiltedRisk, tilt: FloatArray) -> Callable[[Point], Point]:
    """The gradient of the tilted risk: the float records' own, exact but for the working precision."""
    d, features = risk.dimension, arb_mat(risk.tempered.features.tolist())
    turned, pull = features.transpose(), arb(risk.size) * arb(risk.weight)
    offsets, centers = ([arb(float(x)) for x in row] for row in (tilt, risk.center))

    def slope(point: Point) -> Point:
        margins = features * arb_mat(d, 1, point)
        total = turned * arb_mat(len(risk.tempered), 1, _slopes(risk.tempered, margins.entries()))
        return [total[i, 0] + offsets[i] + pull * (point[i] - centers[i]) for i in range(d)]

    return slope


def _slopes(tempered: Tempered, margins: Point) -> Point:
    curve = tempered.curve
    if isinstance(curve, Ramps):
        rows = zip(
            margins, *(column.tolist() for column in (curve.kinks, curve.rates, curve.lows, curve.highs)), strict=True
        )
        return [((m - kink) * rate).max(arb(low)).min(arb(high)) for m, kink, rate, low, high in rows]
    ends = arb(-_FARTHEST_MARGIN), arb(_FARTHEST_MARGIN)
    weights = curve.weights.tolist()
    return [-weight / (1 + m.max(ends[0]).min(ends[1]).exp()) for m, weight in zip(margins, weights, strict=True)]


def _above(risk: TiltedRisk, center: Point, slope: Point) -> FloatArray:
    """The y above the centre, as floats: itself where the gradient step ends inside."""
    point = np.array([float(c) for c in center])
    y = np.array([float(c - g / risk.stiffness) for c, g in zip(center, slope, strict=True)])
    return point if np.array_equal(risk.nearest(y), y) else y


def _off(risk: TiltedRisk, slope: Callable[[Point], Point], y: FloatArray) -> float:
    """How far the tilt of y is from the one asked for, rounded up."""
    v = risk.nearest(y)
    beyond = [(arb(float(a)) - arb(float(b))) * risk.stiffness for a, b in zip(y, v, strict=True)]
    rest = [g + x for g, x in zip(slope([arb(float(x)) for x in v]), beyond, strict=True)]
    return float(_product(rest, rest).sqrt().abs_upper()) * (1 + 4 * EPS)


def inner_radius(domain: Ball | Box) -> float:
    """The radius of a ball in the set."""
    return domain.radius if isinstance(domain, Ball) else float((domain.upper - domain.lower).min()) / 2 * (1 - EPS)


def _outward(domain: Ball | Box, center: Point) -> Point | None:
    """The normal of a plane through the centre that has the set on its other side; None where the centre may be in the set."""
    if isinstance(domain, Ball):
        offset = [c - float(x) for c, x in zip(center, domain.center, strict=True)]
        return [x.mid() for x in offset] if _product(offset, offset) > arb(domain.radius) ** 2 else None
    for i, c in enumerate(center):
        if c > float(domain.upper[i]) or c < float(domain.lower[i]):
            return [arb(int(i == j)) * (1 if c > float(domain.upper[i]) else -1) for j in range(len(center))]
    return None
