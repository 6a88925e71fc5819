"""[ours] Tilted risks: the map from a minimiser back to the tilt that it minimises, and the way there, certified.

    v(b) = argmin_{w ∈ W} Σ h_i(w) + ⟨b, w⟩ + (nΛ/2)‖w − w0‖²,      h_i convex, differentiable, with B-Lipschitz gradients.

The constraint is met exactly, and the law of v has an explicit density all the same, upstairs: with Π the projection onto W and
any number p > 0, the stiffness, let

    b(y) = −(Σ ∇h_i(Πy) + nΛ(Πy − w0) + p·(y − Πy)),      y ∈ R^d                           (Robinson's normal map, negated).

- v(b) = Π(y) if and only if b = b(y) for a y above it: p·(y − Πy) runs through all normals of W at Πy.  So v(b(y)) = Π(y).
- y ↦ b(y) is a bi-Lipschitz bijection of R^d.  Given b, v(b) is unique, and so is y = v + q/p, q = −b − Σ∇h(v) − nΛ(v − w0),
  which is normal to W at v.  Both directions are Lipschitz: v(b) has the constant 1/(nΛ), and so q and y have one.
- So if b has the density g, y has the density g(b(y))·|det Db(y)| almost everywhere (Rademacher's theorem and the area formula;
  no second derivatives are needed), with Db = −(M·Q + p·(I − Q)), M = Σ∇²h_i(Πy) + nΛ·I and Q = DΠ(y), which is symmetric
  with eigenvalues in [0, 1].  (The chain rule holds though Π maps sets to the boundary: where ⟨x, Πy⟩ stays at an end of a
  ramp on a set of y of positive measure, its gradient Q·x vanishes almost everywhere there, so that it does not matter what
  ψ'' is.)

p does not matter for v; n·(B + Λ + C/R) keeps y near W, and lifting a point of W to its y does not enlarge what rounding left.

Certificate.  For every y: ‖Π(y) − v(b)‖ ≤ ‖b(y) − b‖/(nΛ).  Newton's method (the quadratic model is minimised over W, the step is
found along the segment) goes on until that is small enough, with sums over records that are exact but for one rounding (`fsum`).
What rounding leaves is bounded from public numbers by `accuracy_upper`.  Where Newton's method should fail, which no data here
have made it do, the ellipsoid method follows (`cuts`).  It cannot fail, and the number of its steps is public.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tailproof.refimpl.domains import EPS, Ball, Box, secular_root
from tailproof.refimpl.pure_dp.cuts import minimiser_by_cuts
from tailproof.refimpl.pure_dp.tempered import Tempered
from tailproof.refimpl.validation import FloatArray

_MOST_NEWTON = 120  # steps


def longest_tilt(scale: float, dimension: int) -> float:
    """No float that the sampler of the tilt's length, Gamma(d, scale), can return is larger.  Numpy draws it as an exponential
    variable, which is below 45, for d = 1, and otherwise as a cube of a normal one, which is below 14."""
    return scale * (200 + 4 * dimension)


def accuracy_upper(
    *, dimension: int, clip: float, curvature: float, weight: float, reach: float, far: float, tilt: float
) -> float:
    """r: a distance from v within which floats allow to prove a point; `tilt` is the longest ‖b‖/n, R is `reach`.

    Evaluating b(y)/n errs by at most EPS times (d + 9)·(B + Λ + C/R)·far, for the margins (d/2 + 1), the projection and what it
    moves (twice d/4 + 4), plus 4·(C + ‖b‖/n + Λ·R), for the terms.  That is at most half of what is allowed; the rest is for what
    Newton's method leaves.
    """
    sizes = (curvature + weight + clip / reach) * far + clip + tilt + weight * reach
    return 4 * (dimension + 8) * EPS * sizes / weight


@dataclass(frozen=True, eq=False)
class TiltedRisk:
    """Σ h_i + (nΛ/2)‖· − w0‖² over W, to be tilted.  `clip` is C, `curvature` is B, `weight` is Λ."""

    tempered: Tempered
    domain: Ball | Box
    center: FloatArray
    clip: float
    curvature: float
    weight: float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TiltedRisk) and _parts_equal(self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def dimension(self) -> int:
        return self.domain.dimension

    @property
    def size(self) -> int:
        return len(self.tempered)

    @property
    def pull(self) -> float:
        """nΛ."""
        return self.size * self.weight

    @cached_property
    def stiffness(self) -> float:
        """p = n·(B + Λ + C/R), R = max_W ‖w − w0‖."""
        return self.size * (self.curvature + self.weight + self.clip / self.domain.max_norm_from(self.center))

    def accuracy(self, tilt_length: float) -> float:
        return accuracy_upper(
            dimension=self.dimension,
            clip=self.clip,
            curvature=self.curvature,
            weight=self.weight,
            reach=self.domain.max_norm_from(self.center),
            far=self.domain.max_norm_from(np.zeros(self.dimension)),
            tilt=tilt_length / self.size,
        )

    def nearest(self, ys: FloatArray) -> FloatArray:
        """Π(y)."""
        return nearest(self.domain, ys)

    # ----- the map from y

    def tilt(self, y: FloatArray) -> FloatArray:
        """b(y)."""
        v = nearest(self.domain, y)
        return -self._fsum(v, self.pull * (v - self.center), self.stiffness * (y - v))

    def tilts(self, ys: FloatArray) -> FloatArray:
        """b(y) for every row, with ordinary sums."""
        v, x = nearest(self.domain, ys), self.tempered.features
        slopes = self.tempered.curve.slopes(v @ x.T)
        return np.asarray(-(slopes @ x + self.pull * (v - self.center) + self.stiffness * (ys - v)))

    def log_jacobians(self, ys: FloatArray) -> FloatArray:
        """log |det Db(y)| for every row."""
        identity, x = np.eye(self.dimension), self.tempered.features
        curvatures = self.tempered.curve.curvatures(nearest(self.domain, ys) @ x.T)
        inner = (curvatures[:, np.newaxis, :] * x.T) @ x + self.pull * identity
        turns = projection_derivatives(self.domain, ys)
        return np.asarray(np.linalg.slogdet(inner @ turns + self.stiffness * (identity - turns))[1])

    def _fsum(self, point: FloatArray, *others: FloatArray) -> FloatArray:
        """Σ ∇h_i(point) and the others, the float terms summed without error."""
        terms = np.vstack([self.tempered.gradient_terms(point), *others])
        return np.array([math.fsum(column) for column in terms.T.tolist()])

    # ----- the way to y

    def minimiser(self, tilt: FloatArray) -> FloatArray:
        """A y with ‖Π(y) − v(tilt)‖ ≤ the accuracy, proved."""
        goal = self.pull * self.accuracy(max(float(np.linalg.norm(tilt)), 0.0)) / 2  # half of it is for the rounding of b(y)
        try:
            found = self._by_newton(tilt, goal)
        except np.linalg.LinAlgError:
            found = None
        return minimiser_by_cuts(self, tilt, goal) if found is None else found

    def _by_newton(self, tilt: FloatArray, goal: float) -> FloatArray | None:
        point = self.nearest(self.center)
        near = False  # of the minimiser: then sums are exact, and certificates are tried
        for _ in range(_MOST_NEWTON):
            slope = self._slope(point, tilt, exact=near)
            if near and (lifted := self._certified(point, slope, tilt, goal)) is not None:
                return lifted
            following = self._newton_step(point, slope, tilt)
            if not np.isfinite(following).all():
                break
            near = near or bool(np.linalg.norm(following - point) <= 1e-6 * self.domain.diameter_upper())
            point = following
        return None

    def _slope(self, point: FloatArray, tilt: FloatArray, *, exact: bool) -> FloatArray:
        pulled = self.pull * (point - self.center)
        return self._fsum(point, tilt, pulled) if exact else self.tempered.gradient(point) + tilt + pulled

    def _lifted(self, point: FloatArray, slope: FloatArray) -> FloatArray:
        """The y above the point: itself where that is inside."""
        y = point - slope / self.stiffness
        return point if np.array_equal(self.nearest(y), y) else y

    def _certified(self, point: FloatArray, slope: FloatArray, tilt: FloatArray, goal: float) -> FloatArray | None:
        y = self._lifted(point, slope)
        rest = slope if y is point else tilt - self.tilt(y)
        return y if float(np.linalg.norm(rest)) <= goal else None

    def _newton_step(self, point: FloatArray, slope: FloatArray, tilt: FloatArray) -> FloatArray:
        hessian = self.tempered.hessian(point) + self.pull * np.eye(self.dimension)
        target = _model_minimiser(self.domain, point, slope, hessian)
        step = target - point
        start, change = self.tempered.margins(point), self.tempered.margins(step)
        linear, square = float((tilt + self.pull * (point - self.center)) @ step), self.pull * float(step @ step)

        def derivative(time: float) -> float:
            return float(self.tempered.curve.slopes(start + time * change) @ change) + linear + time * square

        at_start, at_end = derivative(0.0), derivative(1.0)
        # Projections err by some EPS; what that changes says nothing about the step.
        noise = 8 * (self.dimension + 8) * EPS * float(np.linalg.norm(slope)) * self.domain.max_norm_from(0 * point)
        if at_start > -noise or at_end <= 0.5 * abs(at_start):
            return target
        return nearest(self.domain, point + _root(derivative, at_start, at_end) * step)


def _parts_equal(one: TiltedRisk, other: TiltedRisk) -> bool:
    def parts(risk: TiltedRisk) -> list[Any]:
        curve, domain = risk.tempered.curve, risk.domain
        kinds = [type(curve).__name__, type(domain).__name__]
        numbers = [risk.center, risk.clip, risk.curvature, risk.weight]
        return [*kinds, risk.tempered.features, *astuple(curve), *astuple(domain), *numbers]

    ours, theirs = parts(one), parts(other)
    return len(ours) == len(theirs) and all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


def nearest(domain: Ball | Box, ys: FloatArray) -> FloatArray:
    """Π(y) to within (d/4 + 4)·EPS of the size of the set: nearer than `project`, which lands inside whatever the rounding."""
    if isinstance(domain, Box):
        return np.clip(ys, domain.lower, domain.upper)
    offsets = ys - domain.center
    lengths = np.linalg.norm(offsets, axis=-1, keepdims=True)
    outside = lengths > domain.radius
    shrinking = np.divide(domain.radius, lengths, out=np.ones_like(lengths), where=outside)
    return np.where(outside, domain.center + offsets * shrinking, ys)


def projection_derivatives(domain: Ball | Box, ys: FloatArray) -> FloatArray:
    """DΠ(y) for every row, almost everywhere."""
    identity = np.eye(domain.dimension)
    if isinstance(domain, Box):
        return np.asarray(((ys > domain.lower) & (ys < domain.upper))[:, :, np.newaxis] * identity)
    offsets = ys - domain.center
    lengths = np.linalg.norm(offsets, axis=1)[:, np.newaxis, np.newaxis]
    units = offsets / np.maximum(lengths[:, :, 0], np.finfo(np.float64).tiny)
    across = identity - units[:, :, np.newaxis] * units[:, np.newaxis, :]
    return np.where(lengths > domain.radius, domain.radius / np.maximum(lengths, domain.radius) * across, identity)


def _model_minimiser(domain: Ball | Box, point: FloatArray, slope: FloatArray, hessian: FloatArray) -> FloatArray:
    """argmin over W of ⟨slope, w − point⟩ + ½⟨w − point, hessian·(w − point)⟩."""
    free = point - np.linalg.solve(hessian, slope)
    if np.array_equal(nearest(domain, free), free):
        return free
    if isinstance(domain, Ball):
        values, vectors = np.linalg.eigh(hessian)
        linear = vectors.T @ (slope - hessian @ (point - domain.center))
        root = float(secular_root(linear[np.newaxis] / domain.radius, np.maximum(values, 0.0)[np.newaxis])[0])
        return nearest(domain, domain.center - vectors @ (linear / (values + root)))
    return _box_model_minimiser(domain, point, slope, hessian)


def _box_model_minimiser(domain: Box, point: FloatArray, slope: FloatArray, hessian: FloatArray) -> FloatArray:
    """By the primal active-set method, from the point."""
    w = np.clip(point, domain.lower, domain.upper)
    pinned = (w <= domain.lower) | (w >= domain.upper)
    for _ in range(20 * (w.size + 1)):
        step, free = np.zeros(w.size), ~pinned
        gradient = slope + hessian @ (w - point)
        step[free] = -np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        ends = np.where(step < 0, domain.lower, domain.upper)
        shares = np.divide(ends - w, step, out=np.full(w.size, np.inf), where=step != 0)
        first = int(np.argmin(shares))
        if shares[first] < 1:
            w = np.clip(w + shares[first] * step, domain.lower, domain.upper)
            w[first], pinned[first] = ends[first], True
            continue
        w = np.clip(w + step, domain.lower, domain.upper)
        gradient = slope + hessian @ (w - point)
        outward = np.where(w <= domain.lower, -gradient, gradient)  # > 0: the gradient asks for the inside
        outward[~pinned] = 0.0
        worst = int(np.argmax(outward))
        if outward[worst] <= 64 * EPS * float(np.abs(gradient).max()):
            break
        pinned[worst] = False
    return w


def _root(derivative: Callable[[float], float], at_start: float, at_end: float) -> float:
    """Where the increasing function, negative at 0 and positive at 1, crosses 0, roughly: the step after it matters more."""
    low, high, below, above = 0.0, 1.0, at_start, at_end
    for _ in range(60):
        time = low + (high - low) * min(0.9, max(0.1, -below / (above - below)))
        slope = derivative(time)
        if abs(slope) <= 0.1 * abs(at_start):
            return time
        low, high, below, above = (time, high, slope, above) if slope < 0 else (low, time, below, slope)
    return high
