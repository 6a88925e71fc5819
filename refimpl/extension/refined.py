"""The Lipschitz extension of one record in as many bits as asked for: minimiser y, subgradient g and dual v.

A certificate (see `certificate`) pays for the rounding of a record's numbers: floats cost it about EPS·‖v·x‖·diam(W), which
records of 1e12 and more make larger than any accuracy asked for.  For such records this module provides numbers whose three
brackets are, with h = 2^−bits, D = diam(W) and p the longest gradient of f at w or y that is used, at most about

    32·h·(C + ‖p‖ + ‖H‖·D)·D  +  the Fenchel gap that moving the margin by 32·h·‖x‖·D makes.

Generalised linear losses.  If a slope v of φ at ⟨x, w⟩ has ‖v·x‖ ≤ C: y = w, g = v·x.  Otherwise let e = ±x/‖x‖ point to where
φ rises, and y(τ) = P_W(w − τ·e).  As w − τ·e − y is normal to W at y, so is u = g − v·x for

    g = ‖v·x‖·(w − y)/τ,    v·x = ‖v·x‖·e,

whatever τ > 0 and v: the third bracket is 0.  The others are 0 if v is a slope of φ at y and ‖g‖ = C, that is
‖v·x‖ = C·τ/‖w − y‖.  In τ, |φ'| does not increase and C·τ/‖w − y‖ does not decrease: there is one crossing, before
τ = ‖v_w·x‖·D/C, and y moves by at most D·|log τ − log τ'|.  If it comes before τ = h·D (w may be stuck to the boundary), τ = h·D
will do with the lesser of both slopes v: then ‖g‖ ≤ C, and the other brackets are of the order h as w and y are so close.

Proof of the speed.  Let z = w − τ·e, τ' > τ.  From ⟨z − y, y' − y⟩ ≤ 0, τ·⟨e, y − y'⟩ ≤ ⟨w − y, y − y'⟩ ≤ D‖y − y'‖.  Adding
⟨z' − y', y − y'⟩ ≤ 0 to the first, ‖y − y'‖² ≤ (τ' − τ)·⟨e, y − y'⟩ ≤ (τ'/τ − 1)·D·‖y − y'‖.  ∎

A quadratic part with the Hessian H, of a quadratic loss or a ridge.  Let q be its gradient at w, and for a slope v and s > 0

    y(s) = the minimiser over W of ⟨q + v·x, y − w⟩ + ½(y − w)ᵀ(H + s)(y − w),      g = s(w − y).

Then u = g − v·x − (the gradient of the quadratic part at y) is normal to W at y: the third bracket is 0 again.  ‖g‖ does not
decrease in s, is at most s·D and at most ‖q + v·x‖; the s with ‖g‖ = C is searched for between C/(2D) and ‖q + v·x‖/(h·D), where
‖w − y‖ ≤ h·D will do as above.  With ⟨q + v·x + (H + s)(y − w), y' − y⟩ ≥ 0, the same at s' < s for y', and their sum,
s'‖y − y'‖² ≤ (s − s')·⟨y − w, y' − y⟩: y moves by at most D·(s/s' − 1).  A search for v surrounds it: the margin of y does not
increase in v, and must be where φ has the slope v.  As s ≥ C/(2D), y moves by at most 2D·‖x‖/C per unit of v.

Rounding.  Twice the bits are used inside, and more where w − y is small beside τ or beside the set's distance from the origin.
Then y is moved inwards by h of its way to an interior point, and g shortened by h, far more than their rounding errors: y ∈ W,
‖g‖ ≤ C and v ∈ dom φ* hold for the numbers returned, which are dyadic, hence exact.  Nothing here is trusted all the same:
`certificate` checks it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mpmath  # type: ignore[import-untyped]
import numpy as np
from mpmath import mpf

from tailproof.refimpl.domains import Domain
from tailproof.refimpl.extension.exact_sets import (
    GUARD,
    Matrix,
    Vector,
    crossing,
    exact,
    exact_matrix,
    length,
    lowest,
    projection,
)
from tailproof.refimpl.losses import L4, Affine, GlmLoss, Hinge, Logistic, Quadratic, Squared
from tailproof.refimpl.validation import FloatArray, vector, whole

if TYPE_CHECKING:
    from tailproof.refimpl.extension.certificate import Problem  # which imports this module


@dataclass(frozen=True, eq=False)
class ExactRecord:
    """A record's v, y and g in a certificate, as exact binary numbers of any length."""

    dual: mpf
    minimiser: tuple[mpf, ...]
    subgradient: tuple[mpf, ...]


def refine(problem: Problem, point: FloatArray, index: int, *, bits: int) -> ExactRecord:
    """v, y and g of the record at the point, a point of W, to about so many bits."""
    domain, C = problem.domain, problem.lipschitz
    record = whole("index", index, least=0, most=problem.size - 1)
    far = domain.max_norm_from(np.zeros(domain.dimension)) / domain.diameter_upper()
    precision = 2 * whole("bits", bits, least=64) + GUARD + max(0, int(mpmath.mag(far)))
    w = exact(vector("point", point, size=domain.dimension))
    x, t = exact(problem.features[record]), mpf(float(problem.targets[record]))
    with mpmath.workprec(precision):
        v, q = _flattest(problem, w, x, t)
        steepness = length(q + x * v) / C
        bend = length(_hessian(problem).ravel()) * domain.diameter_upper() / C
    with mpmath.workprec(precision + 2 * int(mpmath.mag(max(steepness, 1))) + 2 * int(mpmath.mag(max(bend, 1)))):
        v, q = _flattest(problem, w, x, t)
        if steepness <= 1:
            y, g = w, q + x * v
        elif isinstance(problem.loss, GlmLoss):
            v, y, g = _steep(problem.loss, domain, w, x, t, C, bits)
        else:
            v, y, g = _pulled(problem, w, x, t, bits)
        longest = C * (1 - mpf(2) ** -bits)
        if (size := length(g)) > longest:
            g = g * (longest / size)
    return ExactRecord(v, tuple(y), tuple(g))


def _flattest(problem: Problem, w: Vector, x: Vector, t: mpf) -> tuple[mpf, Vector]:
    """A slope v of φ at w for which q + v·x is shortest, and the gradient q of the quadratic part."""
    q, model = quadratic_gradient(problem, w, x), problem.model
    if isinstance(model, Quadratic):
        return mpf(0), q
    margin, square = x @ w, x @ x
    if not square or not _is_kink(model, margin, t):
        return _least_slope(model, margin, t), q
    lower, upper = model.slope_range
    return min(max(-(q @ x) / square, mpf(lower)), mpf(upper)), q


def quadratic_gradient(problem: Problem, y: Vector, x: Vector) -> Vector:
    """A(y − x) + ω·y, as far as the loss has them."""
    gradient = y * mpf(problem.ridge)
    if isinstance(problem.model, Quadratic):
        gradient = gradient + exact_matrix(problem.model.matrix) @ (y - x)
    return np.asarray(gradient)


def _steep(loss: GlmLoss, domain: Domain, w: Vector, x: Vector, t: mpf, C: float, bits: int) -> tuple[mpf, Vector, Vector]:
    """v, y and g where the loss is steeper than C at w."""
    project, h, diameter = projection(domain), mpf(2) ** -bits, mpf(domain.diameter_upper())
    a, slope = length(x), _least_slope(loss, x @ w, t)
    s = mpmath.sign(slope)
    e = x * (s / a)

    def excess(log_time: mpf) -> mpf:
        """How far C·τ/‖w − y‖ is beyond ‖v_w·x‖, or ⟨x, y⟩ beyond the margin where the slopes become that flat."""
        time = mpmath.exp(log_time)
        y = project(w - e * time)
        if not (moved := length(w - y)):
            return mpf(1)
        level = C * time / (a * moved)
        beyond = mpmath.log(level / abs(slope))
        if beyond >= 0 or isinstance(loss, Affine):
            return beyond
        return max(beyond, s * (_margin_of_slope(loss, s * level, t) - x @ y) / (a * diameter))

    low, high = mpmath.log(h * diameter), mpmath.log(2 * a * abs(slope) * diameter / C)
    time = mpmath.exp(crossing(excess, low, high, h)[1])
    y = project(w - e * time)
    moved = length(w - y)
    v = s * min(abs(slope), C * time / (a * moved)) if moved else slope
    g = (w - y) * (a * abs(v) / time)
    return v, y + (exact(domain.interior_point()) - y) * h, g


def _hessian(problem: Problem) -> Matrix:
    """Of the quadratic part."""
    hessian = problem.ridge * exact_matrix(np.eye(problem.dimension))
    return np.asarray(hessian + exact_matrix(problem.model.matrix) if isinstance(problem.model, Quadratic) else hessian)


def _pulled(problem: Problem, w: Vector, x: Vector, t: mpf, bits: int) -> tuple[mpf, Vector, Vector]:
    """v, y and g of a loss with a quadratic part that is steeper than C at w."""
    domain, model, h = problem.domain, problem.model, mpf(2) ** -bits
    q, pull = quadratic_gradient(problem, w, x), _pull(problem, w, bits)
    v = mpf(0) if isinstance(model, Quadratic) else _pulled_slope(problem, model, lambda v: pull(q + x * v)[0], x, t, h)
    y, g = pull(q + x * v)
    if isinstance(model, Logistic):  # where φ is flat, a slope that is off by little makes the Fenchel gap large
        exact_slope = _least_slope(model, x @ y, t)
        v = exact_slope if abs(exact_slope - v) * length(x) <= 2 * h * problem.lipschitz else v
    return v, y + (exact(domain.interior_point()) - y) * h, g


def _pulled_slope(problem: Problem, loss: GlmLoss, y_at: Callable[[mpf], Vector], x: Vector, t: mpf, h: mpf) -> mpf:
    """The slope v of φ at y(v), which is between 0 and the slope at y(0)."""
    if isinstance(loss, Affine):
        return mpf(1)
    steepest = _least_slope(loss, x @ y_at(mpf(0)), t)
    finest, s = h * problem.lipschitz / (length(x) or 1), mpmath.sign(steepest)
    if abs(steepest) <= finest:
        return steepest

    beyond = 1 + length(x) * problem.domain.max_norm_from(
        np.zeros(len(x))
    )  # all margins: logistic loss has slopes at infinity

    def excess(log_size: mpf) -> mpf:
        v = s * mpmath.exp(log_size)
        wanted = _margin_of_slope(loss, v, t)
        if isinstance(loss, Logistic):
            wanted = min(max(wanted, -beyond), beyond)
        return s * (wanted - x @ y_at(v))

    low, high = mpmath.log(finest), mpmath.log(abs(steepest))
    if excess(high) <= 0:
        return steepest
    return s * min(mpmath.exp(crossing(excess, low, high, finest / abs(steepest))[1]), abs(steepest))


def _pull(problem: Problem, w: Vector, bits: int) -> Callable[[Vector], tuple[Vector, Vector]]:
    """y and g as a function of the force q + v·x."""
    domain, C, d = problem.domain, mpf(problem.lipschitz), problem.dimension
    h, diameter, hessian = mpf(2) ** -bits, mpf(domain.diameter_upper()), _hessian(problem)
    even = bool((hessian == hessian[0, 0] * np.eye(d)).all())
    project, minimiser = (projection(domain), None) if even else (None, lowest(domain))

    def at(force: Vector, log_s: mpf) -> Vector:
        s = mpmath.exp(log_s)
        if project:
            return project(w - force / (hessian[0, 0] + s))
        assert minimiser
        stiff = hessian + s * np.eye(d, dtype=object)
        return minimiser(stiff, stiff @ w - force)

    def pull(force: Vector) -> tuple[Vector, Vector]:
        size = length(force)
        if size <= C:
            return w, force

        def excess(log_s: mpf) -> mpf:
            moved = length(w - at(force, log_s))
            return log_s + mpmath.log(moved / C) if moved else mpf(-1)

        low, high = mpmath.log(C / (2 * diameter)), mpmath.log(size / (h * diameter))
        log_s = high if excess(high) <= 0 else crossing(excess, low, high, h)[1]
        y = at(force, log_s)
        return y, mpmath.exp(log_s) * (w - y)

    return pull


def _is_kink(loss: GlmLoss, m: mpf, t: mpf) -> bool:
    return loss.is_polyhedral and not isinstance(loss, Affine) and bool(m == _margin_of_slope(loss, mpf(0), t))


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
