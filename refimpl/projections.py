"""[P4, Lemma 2.8 and C.6] Inexact projection onto W ∩ B(c, r) by calls to the projection onto W.

Setting: W closed convex with an exact projection P_W, c in W, r > 0, a point z and an accuracy ζ > 0.

Statement: with p(μ) = P_W((z + μc)/(1 + μ)) the projection onto W ∩ B(c, r) is p(μ*) for the least μ* ≥ 0 with
‖p(μ*) − c‖ ≤ r.  Bisection on [0, ‖z − c‖/r] finds a point of the set within ζ of it, in at most
max(0, ⌈log2(‖z − c‖²/(rζ))⌉) + 2 calls of P_W.

Proof: p − z + μ(p − c) + N_W(p) ∋ 0 with μ ≥ 0 and complementarity are the optimality conditions.  ‖p(μ) − c‖ does not
increase in μ.  P_W is non-expansive and fixes c: ‖p(μ) − c‖ ≤ ‖z − c‖/(1 + μ), which is below r at μ = ‖z − c‖/r; and
‖p(μ) − p(μ')‖ ≤ ‖z − c‖·|μ − μ'|/((1 + μ)(1 + μ')) ≤ ‖z − c‖·|μ − μ'|.  One call looks at μ = 0, each halving takes
one, and one more is needed if the upper end never moved.

Departures: bisection stops by the sharper of the two Lipschitz bounds, hence never later than the statement says.  It
also stops when no float is left between the ends; `error_upper` then says what was reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.domains import EPS, Domain, Localised
from tailproof.refimpl.validation import FloatArray, positive, vector


@dataclass(frozen=True, eq=False)
class InexactProjection:
    """A point of W ∩ B(c, r), the multiplier it belongs to, and the number of projections onto W it took.

    `error_upper` bounds its distance from the exact projection, the rounding of P_W and of its argument apart.
    """

    point: FloatArray
    multiplier: float
    calls: int
    error_upper: float


def inexact_projection(
    base: Domain, *, center: ArrayLike, radius: float, point: ArrayLike, accuracy: float
) -> InexactProjection:
    """A point of base ∩ B(center, radius) within `accuracy` of the projection of `point` onto it."""
    target = Localised(base, np.asarray(center), radius)
    z = vector("point", point, size=base.dimension)
    goal = positive("accuracy", accuracy)

    nearest = base.project(z)
    if target.ball.contains(nearest):
        return InexactProjection(nearest, 0.0, 1, 0.0)

    offset = z - target.center
    distance = float(np.linalg.norm(offset))
    low, high = 0.0, distance / target.radius
    found: FloatArray | None = None
    calls = 1

    def error() -> float:
        return distance * (high - low) / ((1 + low) * (1 + high))

    while error() > goal and low < (middle := (low + high) / 2) < high:
        trial = base.project(target.center + offset / (1 + middle))
        calls += 1
        if target.ball.contains(trial):
            found, high = trial, middle
        else:
            low = middle
    if found is None:
        found = base.project(target.center + offset / (1 + high))
        calls += 1
    inside = _pulled_towards(target, found)
    return InexactProjection(inside, high, calls, error() + float(np.linalg.norm(inside - found)))


def _pulled_towards(target: Localised, point: FloatArray) -> FloatArray:
    """Rounding may leave a point of the base barely outside the ball: move it a little towards the ball's centre."""
    inside, step = point, EPS
    while not target.contains(inside):
        inside = target.center + (1 - step) * (point - target.center)
        step = min(1.0, 2 * step)
    return inside
