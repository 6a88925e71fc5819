"""The Lipschitz extension of one record in as many bits as asked for: minimiser y, subgradient g and dual v.

A certificate (see `certificate`) pays for the rounding of a record's numbers: floats cost it about EPS·‖v·x‖·diam(W), which
records of 1e12 and more make larger than any accuracy asked for.  For such records this module provides numbers whose three
brackets are, with h = 2^−bits, D = diam(W) and v_w the slope of φ at w, at most about

    32·h·(C + ‖v_w·x‖)·D  +  the Fenchel gap that moving the margin by 32·h·‖x‖·D makes.

Method.  If a slope v of φ at ⟨x, w⟩ has ‖v·x‖ ≤ C: y = w, g = v·x.  Otherwise let e = ±x/‖x‖ point to where φ rises, and
y(τ) = P_W(w − τ·e).  As w − τ·e − y is normal to W at y, so is u = g − v·x for

    g = ‖v·x‖·(w − y)/τ,    v·x = ‖v·x‖·e,

whatever τ > 0 and v: the third bracket is 0.  The others are 0 if v is a slope of φ at y and ‖g‖ = C, that is
‖v·x‖ = C·τ/‖w − y‖.  In τ, |φ'| does not increase and C·τ/‖w − y‖ does not decrease: there is one crossing, before
τ = ‖v_w·x‖·D/C, and y moves by at most D·|log τ − log τ'|.  If it comes before τ = h·D (w may be stuck to the boundary), τ = h·D
will do with the lesser of both slopes v: then ‖g‖ ≤ C, and the other brackets are of the order h as w and y are so close.

Proof of the speed.  Let z = w − τ·e, τ' > τ.  From ⟨z − y, y' − y⟩ ≤ 0, τ·⟨e, y − y'⟩ ≤ ⟨w − y, y − y'⟩ ≤ D‖y − y'‖.  Adding
⟨z' − y', y − y'⟩ ≤ 0 to the first, ‖y − y'‖² ≤ (τ' − τ)·⟨e, y − y'⟩ ≤ (τ'/τ − 1)·D·‖y − y'‖.  ∎

Rounding.  Twice the bits are used inside, and more where w − y is small beside τ or beside the set's distance from the origin.
Then y is moved inwards by h of its way to an interior point, and g shortened by h, far more than their rounding errors: y ∈ W,
‖g‖ ≤ C and v ∈ dom φ* hold for the numbers returned, which are dyadic, hence exact.  Nothing here is trusted all the same:
`certificate` checks it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import mpmath  # type: ignore[import-untyped]
import numpy as np
from mpmath import mpf
from numpy.typing import NDArray

from refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from refimpl.losses import L4, Affine, GlmLoss, Hinge, Logistic, Squared
from refimpl.validation import FloatArray, InputError, vector, whole

if TYPE_CHECKING:
    from refimpl.extension.certificate import Problem  # which imports this module

Vector: TypeAlias = NDArray[np.object_]  # of mpf
_GUARD = 64  # bits


@dataclass(frozen=True, eq=False)
class ExactRecord:
    """A record's v, y and g in a certificate, as exact binary numbers of any length."""

    dual: mpf
    minimiser: tuple[mpf, ...]
    subgradient: tuple[mpf, ...]


def refine(problem: Problem, point: FloatArray, index: int, *, bits: int) -> ExactRecord:
    """v, y and g of the record at the point, a point of W, to about so many bits.  Only for generalised linear losses."""
    loss, domain = problem.loss, problem.domain
    if not isinstance(loss, GlmLoss):
        raise InputError(f"loss = {loss!r}: must be generalised linear; others are not refined")
    record = whole("index", index, least=0, most=problem.size - 1)
    far = domain.max_norm_from(np.zeros(domain.dimension)) / domain.diameter_upper()
    precision = 2 * whole("bits", bits, least=64) + _GUARD + max(0, int(mpmath.mag(far)))
    w = exact(vector("point", point, size=domain.dimension))
    x, t = exact(problem.features[record]), mpf(float(problem.targets[record]))
    with mpmath.workprec(precision):
        slope = _least_slope(loss, x @ w, t)
        steepness = length(x) * abs(slope) / problem.lipschitz
    with mpmath.workprec(precision + 2 * int(mpmath.mag(max(steepness, 1)))):
        v, y, g = (slope, w, slope * x) if steepness <= 1 else _steep(loss, domain, w, x, t, problem.lipschitz, bits)
        longest = problem.lipschitz * (1 - mpf(2) ** -bits)
        if (size := length(g)) > longest:
            g = g * (longest / size)
    return ExactRecord(v, tuple(y), tuple(g))


def _steep(loss: GlmLoss, domain: Domain, w: Vector, x: Vector, t: mpf, C: float, bits: int) -> tuple[mpf, Vector, Vector]:
    """v, y and g where the loss is steeper than C at w."""
    project, h, diameter = projection(domain), mpf(2) ** -bits, mpf(domain.diameter_upper())
    a, slope = length(x), _least_slope(loss, x @ w, t)
    s = mpmath.sign(slope)
    e = s * x / a

    def excess(log_time: mpf) -> mpf:
        """How far C·τ/‖w − y‖ is beyond ‖v_w·x‖, or ⟨x, y⟩ beyond the margin where the slopes become that flat."""
        time = mpmath.exp(log_time)
        y = project(w - time * e)
        if not (moved := length(w - y)):
            return mpf(1)
        level = C * time / (a * moved)
        beyond = mpmath.log(level / abs(slope))
        if beyond >= 0 or isinstance(loss, Affine):
            return beyond
        return max(beyond, s * (_margin_of_slope(loss, s * level, t) - x @ y) / (a * diameter))

    low, high = mpmath.log(h * diameter), mpmath.log(2 * a * abs(slope) * diameter / C)
    time = mpmath.exp(crossing(excess, low, high, h)[1])
    y = project(w - time * e)
    moved = length(w - y)
    v = s * min(abs(slope), C * time / (a * moved)) if moved else slope
    g = (w - y) * (a * abs(v) / time)
    return v, y + h * (exact(domain.interior_point()) - y), g


def _least_slope(loss: GlmLoss, m: mpf, t: mpf) -> mpf:
    """φ'(m; t); at a kink the subderivative of least absolute value, 0."""
    match loss:
        case Squared():
            return m - t
        case L4():
            return 4 * (m - t) ** 3
        case Logistic():
            return -1 / (1 + mpmath.exp(m))
    lower, upper = loss.slope_range
    side = mpmath.sign(m - 1 if isinstance(loss, Hinge) else m - t)
    return mpf(upper if side > 0 else lower if side < 0 or lower == upper else 0)


def _margin_of_slope(loss: GlmLoss, v: mpf, t: mpf) -> mpf:
    """The margin where φ' passes v."""
    match loss:
        case Squared():
            return t + v
        case L4():
            return t + mpmath.sign(v) * mpmath.cbrt(abs(v) / 4)
        case Logistic():
            return mpmath.log((1 + v) / -v)
    return mpf(1) if isinstance(loss, Hinge) else t


def crossing(excess: Callable[[mpf], mpf], low: mpf, high: mpf, tolerance: mpf) -> tuple[mpf, mpf]:
    """Ends, closer than the tolerance, of an interval where a function leaves the negative numbers; both are `low` if it is
    not negative there.  At `high` it must be positive.

    A secant step, one twice as long, which brings the other end close too, and a bisection unless they have halved the interval
    (after Alefeld, Potra and Shi 1993).  Slopes are taken on the side of the step, so that a kink at the root does no harm.
    """
    below, above = excess(low), excess(high)
    if below >= 0:
        return low, low
    rise_low = rise_high = (above - below) / (high - low)
    while (width := high - low) > tolerance:
        for steps in (1, 2, 0):
            if high - low <= (width / 2 if steps == 0 else tolerance):
                break
            ahead = -below / rise_low if rise_low > 0 else width
            back = above / rise_high if rise_high > 0 else width
            trial = low + steps * ahead if ahead < back else high - steps * back
            if not steps or steps * min(ahead, back) > (high - low) / 2:
                trial = (low + high) / 2
            trial = min(max(trial, low + tolerance / 4), high - tolerance / 4)
            if (found := excess(trial)) < 0:
                low, below, rise_low = trial, found, (found - below) / (trial - low)
            else:
                high, above, rise_high = trial, found, (above - found) / (high - trial)
    return low, high


# --------------------------------------------------------------------------------------------------------- projections


def exact(array: FloatArray) -> Vector:
    return np.array([mpf(float(a)) for a in array], dtype=object)


def length(of: Vector) -> mpf:
    return mpmath.sqrt(of @ of)


def projection(domain: Domain) -> Callable[[Vector], Vector]:
    """P_W in the working precision of mpmath."""
    match domain:
        case Ball():
            center = exact(domain.center)
            return lambda z: center + (z - center) * (domain.radius / max(length(z - center), mpf(domain.radius)))
        case Box():
            lower, upper = exact(domain.lower), exact(domain.upper)
            return lambda z: np.minimum(np.maximum(z, lower), upper)
        case L1Ball():
            return lambda z: _nearest_in_l1_ball(domain, z)
        case Ellipsoid():
            return _onto_ellipsoid(domain)
        case Polytope():
            onto_polytope = onto_polytope_with_weights(domain)
            return lambda z: onto_polytope(z)[0]
        case Localised():
            onto_part = onto_localised_with_weight(domain)
            return lambda z: onto_part(z)[0]
    raise InputError(f"domain = {domain!r}: is not known")


def _nearest_in_l1_ball(ball: L1Ball, z: Vector) -> Vector:
    """Soft thresholding."""
    center = exact(ball.center)
    sizes = abs(z - center)
    if sizes.sum() <= ball.radius:
        return z
    descending = np.sort(sizes)[::-1]
    thresholds = (np.cumsum(descending) - ball.radius) / np.arange(1, len(z) + 1)
    threshold = thresholds[(descending > thresholds).sum() - 1]
    signs = np.array([mpmath.sign(a) for a in z - center], dtype=object)
    return np.asarray(center + signs * np.maximum(sizes - threshold, mpf(0)))


def _onto_ellipsoid(ellipsoid: Ellipsoid) -> Callable[[Vector], Vector]:
    """The set is {w : ‖M(w − center)‖ ≤ 1}, M = axes⁻¹·basisᵀ, where the basis is orthogonal only up to rounding: the true
    axes are those of MᵀM.  In these, p = y/(1 + λ·t) is the projection of y for the t ≥ 0 with Σ λp² = 1.

    1/‖√λ·p‖ is concave and increasing in t, so Newton's method on it climbs to the root from 0, where it is below 1.
    """
    center = exact(ellipsoid.center)
    rows = mpmath.matrix([list(exact(row)) for row in (ellipsoid.basis.T)])
    scaled = mpmath.diag([1 / a for a in exact(ellipsoid.axes)]) * rows
    values, vectors = mpmath.eigsy(scaled.T * scaled)
    curves, basis = np.array(list(values), dtype=object), np.array(vectors.tolist(), dtype=object)

    def project(z: Vector) -> Vector:
        offset, t, step = (z - center) @ basis, mpf(0), mpf(1)
        if curves @ offset**2 <= 1:
            return z
        while step > mpf(2) ** (8 - mpmath.mp.prec) * t:
            shrunk = offset / (1 + curves * t)
            gauge = mpmath.sqrt(curves @ shrunk**2)
            slope = (curves**2 / (1 + curves * t)) @ shrunk**2
            step = gauge**2 * (gauge - 1) / slope
            t += step
        return np.asarray(center + basis @ (offset / (1 + curves * t)))

    return project


def onto_polytope_with_weights(polytope: Polytope) -> Callable[[Vector], tuple[Vector, Vector]]:
    """P_W(z), and weights ≥ 0 of the given normals that make up z − P_W(z), by Goldfarb and Idnani's method: from z, which is
    optimal without constraints, one violated constraint is added at a time, and those whose weight falls to 0 are dropped.
    """
    normals = np.array([exact(row) for row in polytope.normals])
    lengths = np.array([length(row) for row in normals], dtype=object)
    units, heights = normals / lengths[:, np.newaxis], exact(polytope.offsets) / lengths

    def project(z: Vector) -> tuple[Vector, Vector]:
        y, weights, active = z, exact(np.zeros(len(units))), list[int]()
        allowed = mpf(2) ** (_GUARD // 4 - mpmath.mp.prec) * (max(abs(z)) + max(abs(heights)))
        while (violations := units @ y - heights).max() > allowed:
            new = int(violations.argmax())
            while new not in active:
                # As its weight grows by 1, y moves along −way, which keeps the active constraints active by these rates.
                rates = solved(units[active] @ units[active].T, units[active] @ units[new])
                way = units[new] - rates @ units[active] if active else units[new]
                speed = way @ way
                ends = [weights[i] / rate if rate > 0 else mpmath.inf for i, rate in zip(active, rates, strict=True)]
                full = (units[new] @ y - heights[new]) / speed if speed > mpf(2) ** (-mpmath.mp.prec // 2) else mpmath.inf
                step = min([full, *ends])
                if step == mpmath.inf:  # only rounding contradicts the other constraints
                    return y, weights / lengths
                y = y - step * way
                weights[active] -= step * rates
                weights[new] += step
                if step == full:
                    active.append(new)
                else:
                    weights[active.pop(ends.index(step))] = mpf(0)
        return y, np.maximum(weights, mpf(0)) / lengths

    return project


def solved(matrix: Any, right: Vector) -> Vector:
    """The solution of a positive definite system, by elimination."""
    rows, size = np.column_stack([matrix, right]) if len(right) else np.empty((0, 1), dtype=object), len(right)
    for k in range(size):
        rows[k] = rows[k] / rows[k, k]
        for i in set(range(size)) - {k}:
            rows[i] = rows[i] - rows[i, k] * rows[k]
    return np.asarray(rows[:, -1])


def onto_localised_with_weight(local: Localised) -> Callable[[Vector], tuple[Vector, mpf]]:
    """The projection p of z, and the μ ≥ 0 for which z − p − μ(p − center) is normal to the base at p.

    p = P_base(center + (z − center)/(1 + μ)), whose distance from the centre does not increase in μ.
    """
    base, center, radius = projection(local.base), exact(local.center), mpf(local.radius)

    def project(z: Vector) -> tuple[Vector, mpf]:
        def at(log_share: mpf) -> Vector:
            return base(center + mpmath.exp(log_share) * (z - center))

        def excess(log_share: mpf) -> mpf:
            return length(at(log_share) - center) - radius

        if excess(mpf(0)) <= 0:
            return at(mpf(0)), mpf(0)
        inner = mpmath.log(radius / length(z - center)) - 1  # the base's projection does not increase the distance
        share = crossing(excess, inner, mpf(0), mpf(2) ** (_GUARD // 4 - mpmath.mp.prec))[0]
        return at(share), mpmath.exp(-share) - 1

    return project


# ------------------------------------------------------------------------------------------------- parts of a normal
#
# For a large κ the projection p of y + κu is close to a point where ⟨u, ·⟩ is largest on W, and its multipliers, divided by κ,
# prove that: up to ‖p − y‖/κ they make up u.  If u is normal to W close to y, p is as close, for any κ.


def facet_weights(polytope: Polytope, u: Vector, y: Vector) -> Vector:
    """Weights ≥ 0 of the polytope's normals that make up u where ⟨u, ·⟩ is largest; next to y, if u is normal there."""
    scale = _scale(polytope, u)
    return np.asarray(onto_polytope_with_weights(polytope)(y + scale * u)[1] / scale)


def ball_part(local: Localised, u: Vector, y: Vector) -> Vector:
    """The part of u that is normal to the ball where ⟨u, ·⟩ is largest, the rest being normal to the base."""
    scale = _scale(local, u)
    nearest, weight = onto_localised_with_weight(local)(y + scale * u)
    return np.asarray((nearest - exact(local.center)) * (weight / scale))


def _scale(domain: Domain, u: Vector) -> mpf:
    return mpf(2) ** _GUARD * domain.diameter_upper() / (length(u) or 1)
