"""Convex sets in the working precision of mpmath: projections, minimisers of quadratic forms, parts of a normal vector.

Points are arrays of mpf, and come before numbers in products: an mpf on the left would try to read the array as a number.
Nothing here bounds its rounding errors: it serves to find numbers that `certificate` then checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import mpmath  # type: ignore[import-untyped]
import numpy as np
from mpmath import mpf
from numpy.typing import NDArray

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.validation import FloatArray, InputError

Vector: TypeAlias = NDArray[np.object_]  # of mpf
Matrix: TypeAlias = NDArray[np.object_]
GUARD = 64  # bits


def crossing(excess: Callable[[mpf], mpf], low: mpf, high: mpf, tolerance: mpf) -> tuple[mpf, mpf]:
    """Ends, closer than the tolerance, of an interval where a function leaves the negative numbers; both are `low` if it is
    not negative there.  At `high` it must be positive.

    A secant step, one twice as long, which brings the other end close too, and a bisection unless they have halved the interval
    (after Alefeld, Potra and Shi 1993).  Slopes are taken on the side of the step, so that a kink at the root does no harm.
    """
    below, above = excess(low), excess(high)
    if below >= 0 or not low < high:
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
            if not low < trial < high:  # the precision does not resolve the interval
                return low, high
            if (found := excess(trial)) < 0:
                low, below, rise_low = trial, found, (found - below) / (trial - low)
            else:
                high, above, rise_high = trial, found, (above - found) / (high - trial)
    return low, high


# --------------------------------------------------------------------------------------------------------- projections


def exact(array: FloatArray) -> Vector:
    return np.array([mpf(float(a)) for a in array], dtype=object)


def exact_matrix(array: FloatArray) -> Matrix:
    return np.array([exact(row) for row in array])


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


def _ellipsoid_form(ellipsoid: Ellipsoid) -> Any:
    """MᵀM."""
    rows = mpmath.matrix([list(exact(row)) for row in (ellipsoid.basis.T)])
    scaled = mpmath.diag([1 / a for a in exact(ellipsoid.axes)]) * rows
    return scaled.T * scaled


def _onto_ellipsoid(ellipsoid: Ellipsoid) -> Callable[[Vector], Vector]:
    """The set is {w : ‖M(w − center)‖ ≤ 1}, M = axes⁻¹·basisᵀ, where the basis is orthogonal only up to rounding: the true
    axes are those of MᵀM.  In these, p = y/(1 + λ·t) is the projection of y for the t ≥ 0 with Σ λp² = 1.

    1/‖√λ·p‖ is concave and increasing in t, so Newton's method on it climbs to the root from 0, where it is below 1.
    """
    center = exact(ellipsoid.center)
    values, vectors = mpmath.eigsy(_ellipsoid_form(ellipsoid))
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
    """P_W(z), and weights ≥ 0 of the given normals that make up z − P_W(z)."""
    units, heights, lengths = _facets(polytope.normals, polytope.offsets)

    def project(z: Vector) -> tuple[Vector, Vector]:
        y, weights = _within_facets(z, units, units, heights)
        return y, weights / lengths

    return project


def _facets(normals: FloatArray, offsets: FloatArray) -> tuple[Matrix, Vector, Vector]:
    """Unit normals and their offsets, and the lengths of the given normals."""
    rows = exact_matrix(normals)
    lengths = np.array([length(row) for row in rows], dtype=object)
    return rows / lengths[:, np.newaxis], exact(offsets) / lengths, lengths


def _within_facets(start: Vector, units: Matrix, pulls: Matrix, heights: Vector) -> tuple[Vector, Vector]:
    """The minimiser of a quadratic form where units·y ≤ heights, and the facets' weights, by Goldfarb and Idnani's method:
    from the minimiser without constraints, the start, one violated constraint is added at a time, and those whose weight falls
    to 0 are dropped.  The pulls are the units multiplied by the inverse of the form's matrix.
    """
    y, weights, active = start, exact(np.zeros(len(units))), list[int]()
    allowed = mpf(2) ** (GUARD // 4 - mpmath.mp.prec) * (max(abs(start)) + max(abs(heights)))
    while (violations := units @ y - heights).max() > allowed:
        new = int(violations.argmax())
        if new in active:  # by rounding only
            return y, np.maximum(weights, mpf(0))
        while new not in active:
            # As its weight grows by 1, y moves along −way, which keeps the active constraints active by these rates.
            rates = solved(units[active] @ pulls[active].T, pulls[active] @ units[new])
            way = pulls[new] - rates @ pulls[active] if active else pulls[new]
            speed, alone = units[new] @ way, units[new] @ pulls[new]
            ends = [weights[i] / rate if rate > 0 else mpmath.inf for i, rate in zip(active, rates, strict=True)]
            full = mpmath.inf
            if speed > mpf(2) ** (-mpmath.mp.prec // 2) * alone:
                full = (units[new] @ y - heights[new]) / speed
            step = min([full, *ends])
            if step == mpmath.inf:  # only rounding contradicts the other constraints
                return y, np.maximum(weights, mpf(0))
            y = y - way * step
            weights[active] -= rates * step
            weights[new] += step
            if step == full:
                active.append(new)
            else:
                weights[active.pop(ends.index(step))] = mpf(0)
    return y, np.maximum(weights, mpf(0))


def solved(matrix: Matrix, right: Any) -> Any:
    """The solution of a positive definite system, by elimination, for one right side or several as columns."""
    size = len(matrix)
    rows = np.column_stack([matrix, right]) if size else np.empty((0, 1), dtype=object)
    for k in range(size):
        rows[k] = rows[k] / rows[k, k]
        for i in set(range(size)) - {k}:
            rows[i] = rows[i] - rows[k] * rows[i, k]
    return rows[:, size:].reshape(right.shape)


def onto_localised_with_weight(local: Localised) -> Callable[[Vector], tuple[Vector, mpf]]:
    """The projection p of z, and the μ ≥ 0 for which z − p − μ(p − center) is normal to the base at p.

    p = P_base(center + (z − center)/(1 + μ)), whose distance from the centre does not increase in μ.
    """
    base, center, radius = projection(local.base), exact(local.center), mpf(local.radius)

    def project(z: Vector) -> tuple[Vector, mpf]:
        def at(log_share: mpf) -> Vector:
            return base(center + (z - center) * mpmath.exp(log_share))

        def excess(log_share: mpf) -> mpf:
            return length(at(log_share) - center) - radius

        if excess(mpf(0)) <= 0:
            return at(mpf(0)), mpf(0)
        onto = center + (z - center) * (radius / length(z - center))
        if _stays(base, onto):
            return onto, length(z - center) / radius - 1
        inner = mpmath.log(radius / length(z - center)) - 1  # the base's projection does not increase the distance
        share = crossing(excess, inner, mpf(0), mpf(2) ** (GUARD // 4 - mpmath.mp.prec))[0]
        return at(share), mpmath.exp(-share) - 1

    return project


def _stays(project: Callable[[Vector], Vector], point: Vector) -> bool:
    """Whether the point is in the set, up to rounding, as it is when the ball of a localised part alone is in the way."""
    return bool(length(project(point) - point) <= mpf(2) ** (8 - mpmath.mp.prec) * length(point))


# ------------------------------------------------------------------------------------------------------- quadratic forms

Lowest: TypeAlias = Callable[[Matrix, Vector], Vector]


def lowest(domain: Domain) -> Lowest:
    """The minimiser over W of ½yᵀMy − ⟨b, y⟩ as a function of M, which must be positive definite, and b.

    A ball, an ellipsoid or the ball of a localised part is a constraint ½(y − c)ᵀQ(y − c) ≤ ½, whose multiplier μ leads to
    the same problem without it for M + μQ and b + μQc.
    """
    match domain:
        case Ball():
            return _lowest_in_ellipsoid(domain.center, np.diag([1 / mpf(domain.radius) ** 2] * domain.dimension))
        case Ellipsoid():
            return _lowest_in_ellipsoid(domain.center, np.array(_ellipsoid_form(domain).tolist(), dtype=object))
        case Box():
            d = domain.dimension
            return _lowest_in_polytope(np.vstack([np.eye(d), -np.eye(d)]), np.concatenate([domain.upper, -domain.lower]))
        case Polytope():
            return _lowest_in_polytope(domain.normals, domain.offsets)
        case L1Ball():
            return lambda matrix, b: _lowest_in_l1_ball(domain, matrix, b)
        case Localised():
            return _lowest_in_localised(domain)
    raise InputError(f"domain = {domain!r}: is not known")


def _lowest_in_ellipsoid(at: FloatArray, form: Matrix) -> Lowest:
    """{y : (y − c)ᵀQ(y − c) ≤ 1}, by Newton's method for μ as in `_onto_ellipsoid`, in the axes that M and Q share."""
    center = exact(at)

    def minimiser(matrix: Matrix, b: Vector) -> Vector:
        force, mu, step = b - matrix @ center, mpf(0), mpf(1)
        offset = solved(matrix, force)
        if offset @ form @ offset <= 1:
            return np.asarray(center + offset)
        while step > mpf(2) ** (8 - mpmath.mp.prec) * mu:
            pull = form @ offset
            gauge = mpmath.sqrt(offset @ pull)
            step = gauge**2 * (gauge - 1) / (pull @ solved(matrix + form * mu, pull))
            mu += step
            offset = solved(matrix + form * mu, force)
        return np.asarray(center + offset)

    return minimiser


def _lowest_in_polytope(normals: FloatArray, offsets: FloatArray) -> Lowest:
    units, heights, _ = _facets(normals, offsets)

    def minimiser(matrix: Matrix, b: Vector) -> Vector:
        solutions = solved(matrix, np.column_stack([b, units.T]))
        return _within_facets(solutions[:, 0], units, solutions[:, 1:].T, heights)[0]

    return minimiser


def _lowest_in_l1_ball(ball: L1Ball, matrix: Matrix, b: Vector) -> Vector:
    """Only those of the 2^d facets that are found violated are taken into account."""
    center, radius, d = exact(ball.center), mpf(ball.radius), ball.dimension
    root = mpmath.sqrt(d)
    start = y = solved(matrix, b)
    allowed = mpf(2) ** (GUARD // 2 - mpmath.mp.prec) * (max(abs(start)) + radius + max(abs(center)))
    signs, pulls = np.empty((0, d), dtype=object), np.empty((0, d), dtype=object)
    while True:
        new = np.array([mpf(1 if a >= 0 else -1) for a in y - center], dtype=object)
        if new @ (y - center) - radius <= allowed or (signs == new).all(axis=1).any():
            return np.asarray(y)
        signs, pulls = np.vstack([signs, new]), np.vstack([pulls, solved(matrix, new)])
        y = _within_facets(start, signs / root, pulls / root, (radius + signs @ center) / root)[0]


def _lowest_in_localised(local: Localised) -> Lowest:
    """The distance from the centre does not increase in μ, and is at most ‖b − Mc‖/μ."""
    base, center, radius = lowest(local.base), exact(local.center), mpf(local.radius)
    in_ball, onto_base = lowest(local.ball), projection(local.base)

    def minimiser(matrix: Matrix, b: Vector) -> Vector:
        def at(log_mu: mpf) -> Vector:
            mu = mpmath.exp(log_mu)
            return base(matrix + np.eye(len(center), dtype=object) * mu, b + center * mu)

        def excess(level: mpf) -> mpf:
            return length(at(-level) - center) - radius

        free = base(matrix, b)
        if length(free - center) <= radius:
            return free
        if _stays(onto_base, alone := in_ball(matrix, b)):
            return alone
        strongest = mpmath.log(2 * length(b - matrix @ center) / radius)
        weakest = strongest - mpmath.mp.prec * mpmath.log(2)
        if excess(-weakest) <= 0:
            return at(weakest)
        return at(-crossing(excess, -strongest, -weakest, mpf(2) ** (GUARD // 4 - mpmath.mp.prec))[0])

    return minimiser


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
    return mpf(2) ** GUARD * domain.diameter_upper() / (length(u) or 1)
