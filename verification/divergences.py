"""Exact divergences between the laws of one release on two data sets, in one direction (p against q).

`zcdp` is sup_α D_α(p‖q)/α, `max_loss` the supremum of log p/q, `profile` the δ of (ε, δ): sup_S p(S) − e^ε q(S).
The largest loss of perturbed minimisers is searched for: exact at every point tried, a lower bound of the supremum.  That of Gibbs
laws is the one of their restrictions to a net, which is never more than the privacy of the law allows.
Closed forms where they exist; quadrature to about 1e-10 otherwise.  A pair of laws that no formula here covers raises
`NoExactFormula`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr

from tailproof.refimpl.claims import gaussian_delta
from tailproof.refimpl.laws import (
    LLN,
    Finite,
    Gaussian,
    Gibbs,
    L2Laplace,
    Laplace,
    Law,
    NoisyArgmax,
    PerturbedMinimiser,
    Softmax,
    lln_log_density,
    same_law,
)
from tailproof.refimpl.pure_dp.grid_walk import GridWalk
from tailproof.refimpl.validation import FloatArray

ORDERS = np.concatenate([[1.001, 1.01, 1.1, 1.25, 1.5], np.arange(2, 20), np.arange(20, 61, 5)]).astype(np.float64)
"""Rényi orders at which a supremum without a closed form is searched: a lower bound of it."""


Discrete: TypeAlias = Finite | NoisyArgmax | Softmax | GridWalk


class NoExactFormula(Exception):
    """No exact formula is known here for this divergence of this pair of laws."""


def _same_scale(p: Gaussian | Laplace | L2Laplace, q: Gaussian | Laplace | L2Laplace) -> bool:
    shape = p.location.shape
    return bool(np.array_equal(np.broadcast_to(p.scale, shape), np.broadcast_to(q.scale, shape)))


def _shift(p: Gaussian | Laplace, q: Gaussian | Laplace) -> FloatArray:
    """The move of each coordinate in units of its (common) scale."""
    return np.atleast_1d(np.abs(p.location - q.location) / p.scale)


def gaussian_shift(p: Gaussian, q: Gaussian) -> float:
    """‖(p − q)/σ‖₂, the μ of the pair."""
    return float(np.linalg.norm(_shift(p, q)))


def max_loss(p: Law, q: Law) -> float:
    if same_law(p, q):
        return 0.0
    match p, q:
        case Laplace(), Laplace():
            return float(_shift(p, q).sum()) if _same_scale(p, q) else _unequal_laplace(p, q)
        case L2Laplace(), L2Laplace():
            if not _same_scale(p, q):
                return _unequal_laplace(p, q)
            return float(np.linalg.norm(np.atleast_1d(p.location - q.location)) / p.scale)
        case ((Finite() | NoisyArgmax() | Softmax() | GridWalk()), (Finite() | NoisyArgmax() | Softmax() | GridWalk())):
            return float(_discrete_losses(p, q)[1].max())
        case Gaussian(), Gaussian():
            return _gaussian_max_loss(p, q)
        case Gibbs(), Gibbs():
            return max_loss(p.on_net, q.on_net)
        case PerturbedMinimiser(), PerturbedMinimiser():
            return _perturbed_max_loss(p, q)
        case _:
            raise NoExactFormula(f"largest loss of {type(p).__name__} against {type(q).__name__}")


def _gaussian_max_loss(p: Gaussian, q: Gaussian) -> float:
    """Infinite unless p is the narrower law in every coordinate in which they differ; then ln(r/s) + m²/(2(r² − s²)) in each."""
    shape = p.location.shape
    s, r = np.broadcast_to(p.scale, shape).reshape(-1), np.broadcast_to(q.scale, shape).reshape(-1)
    move = np.atleast_1d(p.location - q.location)
    differ = (s != r) | (move != 0)
    s, r, move = s[differ], r[differ], move[differ]
    if (s >= r).any():
        return math.inf
    return float(np.sum(np.log(r / s) + move**2 / (2 * (r - s) * (r + s))))


def _unequal_laplace(p: Laplace | L2Laplace, q: Laplace | L2Laplace) -> float:
    """Where a scale of p exceeds q's the ratio grows without bound; otherwise it is largest at p's location."""
    if (np.asarray(p.scale) > np.asarray(q.scale)).any():
        return math.inf
    return p.logpdf(p.location) - q.logpdf(p.location)


@lru_cache(maxsize=8)  # of the same pair, for a release and for the transcript
def _perturbed_max_loss(p: PerturbedMinimiser, q: PerturbedMinimiser) -> float:
    """The largest log p/q at points tried.  Far out it grows without bound if p has the larger scale.

    Tried are lines through the centre, along the coordinates, along the records in which the two differ and along random
    directions: evenly spaced points in the set and outside, and points on both sides of every end of a ramp, where curvatures jump.
    The best of them is then moved about, at random.
    """
    if p.scale > q.scale:
        return math.inf
    rng, d = np.random.default_rng(0), p.problem.dimension
    center, reach, rows, corners = _lines(p.problem, q.problem)
    directions = np.vstack([np.eye(d), rows, rng.standard_normal((0 if d == 1 else 4, d))])
    directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-300)
    even = np.linspace(-3 * reach, 3 * reach, 241 if d == 1 else 41)
    tried = [center + times[:, np.newaxis] * u for u in directions for times in (even, corners(u))]
    points = np.vstack(tried)
    losses = p.logpdfs(points) - q.logpdfs(points)
    best, most = points[np.argmax(losses)], float(losses.max())
    for size in reach * np.geomspace(0.3, 1e-6, 0 if d == 1 else 12):
        nearby = best + size * rng.standard_normal((16, d))
        losses = p.logpdfs(nearby) - q.logpdfs(nearby)
        if losses.max() > most:
            best, most = nearby[np.argmax(losses)], float(losses.max())
    return most


def _lines(p: Any, q: Any) -> tuple[FloatArray, float, FloatArray, Callable[[FloatArray], FloatArray]]:
    """The middle of the set and its size, the records in which the two problems differ, and the ends of ramps along a line."""
    center, size, both = p.domain.interior_point(), p.domain.diameter_upper(), (p.tempered, q.tempered)
    columns = [np.column_stack([one.features, *vars(one.curve).values()]) for one in both]
    differ = (columns[0] != columns[1]).any(axis=1)
    rows = np.vstack([one.features[differ][:4] for one in both])

    def corners(direction: FloatArray) -> FloatArray:
        times = []
        for one in both:
            along, at = one.features @ direction, one.margins(center)
            moving = np.abs(along) > 1e-12 * np.abs(along).max()
            with np.errstate(over="ignore"):  # what is far away does not matter
                times.append(((one.curve.corners() - at)[:, moving] / along[moving]).ravel())
        found = np.concatenate(times)
        found = found[np.abs(found) <= 2 * size]
        return np.concatenate([found + side * 1e-9 * size for side in (-1, 1)])

    return center, size, rows, corners


def distance_upper(problem: Any, tilt: FloatArray) -> float:
    """How far the minimiser that is computed for this tilt may be from the exact one: ‖b(y) − tilt‖/(nΛ).

    b(y) is evaluated anew: in rational numbers where slopes are ramps and the projection is one of a box or moves nothing.
    Otherwise in floats, with exact sums.
    """
    y, tempered = problem.minimiser(tilt), problem.tempered
    v = np.clip(y, problem.domain.lower, problem.domain.upper) if hasattr(problem.domain, "lower") else None
    if v is None and problem.domain.surely_contains(y):
        v = y
    if v is None or not hasattr(tempered.curve, "kinks"):
        return float(np.linalg.norm(problem.tilt(y) - tilt) / problem.pull)
    exact = [Fraction(float(b)) for b in tilt]
    for j in range(len(exact)):
        exact[j] += Fraction(problem.pull) * (Fraction(float(v[j])) - Fraction(float(problem.center[j])))
        exact[j] += Fraction(problem.stiffness) * (Fraction(float(y[j])) - Fraction(float(v[j])))
    curve = tempered.curve
    for i, row in enumerate(tempered.features.tolist()):
        margin = sum(Fraction(x) * Fraction(float(w)) for x, w in zip(row, v, strict=True))
        slope = (margin - Fraction(float(curve.kinks[i]))) * Fraction(float(curve.rates[i]))
        slope = min(max(slope, Fraction(float(curve.lows[i]))), Fraction(float(curve.highs[i])))
        for j, x in enumerate(row):
            exact[j] += slope * Fraction(x)
    return math.hypot(*map(float, exact)) / float(problem.pull)


def _discrete_losses(p: Discrete, q: Discrete) -> tuple[FloatArray, FloatArray]:
    """(log-probabilities under p, losses) over the outcomes that p gives."""
    log_p, log_q = p.log_probabilities(), q.log_probabilities()
    possible = log_p > -np.inf
    return log_p[possible], log_p[possible] - log_q[possible]


def renyi(p: Law, q: Law, orders: FloatArray = ORDERS) -> FloatArray:
    """D_α(p‖q) at each order α > 1."""
    if same_law(p, q):
        return np.zeros(len(orders))
    match p, q:
        case Gaussian(), Gaussian():
            if not _same_scale(p, q):
                return _unequal_gaussian_renyi(p, q, orders)
            return np.asarray(orders * gaussian_shift(p, q) ** 2 / 2)
        case Laplace(), Laplace() if _same_scale(p, q):
            return np.asarray(sum(_laplace_renyi(float(t), orders) for t in _shift(p, q)))
        case ((Finite() | NoisyArgmax() | Softmax() | GridWalk()), (Finite() | NoisyArgmax() | Softmax() | GridWalk())):
            log_p, losses = _discrete_losses(p, q)
            return np.array([logsumexp(log_p + (a - 1) * losses) / (a - 1) for a in orders])
        case LLN(), LLN() if p.sigma == q.sigma:
            return _lln_renyi(p, q, orders)
        case _:
            raise NoExactFormula(f"Rényi divergence of {type(p).__name__} against {type(q).__name__}")


def _laplace_renyi(shift: float, orders: FloatArray) -> FloatArray:
    """(1/(α−1)) ln( α/(2α−1) e^{(α−1)t} + (α−1)/(2α−1) e^{−αt} )."""
    a = orders
    first, second = np.log(a / (2 * a - 1)) + (a - 1) * shift, np.log((a - 1) / (2 * a - 1)) - a * shift
    return np.asarray(np.logaddexp(first, second) / (a - 1))


def _unequal_gaussian_renyi(p: Gaussian, q: Gaussian, orders: FloatArray) -> FloatArray:
    """Σ_j α m²/(2v) − ln(v/(s_p^{2(1−α)} s_q^{2α}))/(2(α−1)) with v = α s_q² + (1−α)s_p²; infinite unless all v > 0."""
    move = np.atleast_1d(p.location - q.location)
    scale_p = np.broadcast_to(p.scale, p.location.shape).reshape(-1)
    scale_q = np.broadcast_to(q.scale, q.location.shape).reshape(-1)
    result = np.empty(len(orders))
    for index, a in enumerate(orders):
        variance = a * scale_q**2 + (1 - a) * scale_p**2
        if (variance <= 0).any():
            result[index] = math.inf
            continue
        log_ratio = np.log(variance) - 2 * (1 - a) * np.log(scale_p) - 2 * a * np.log(scale_q)
        result[index] = float(np.sum(a * move**2 / (2 * variance) - log_ratio / (2 * (a - 1))))
    return result


def _half_line(largest: float, step: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for ∫_0^∞: the trapezoidal rule in log x, from e^{−32} to e^{largest}."""
    logs = np.arange(-32.0, largest + step, step)
    return np.exp(logs), np.exp(logs) * step


def _interval() -> tuple[FloatArray, FloatArray]:
    """Double-exponential nodes and weights for ∫_0^1, dense at both ends: x = 1/(1 + exp(−π sinh τ))."""
    step = 1 / 32
    tau = np.arange(-3.6, 3.6 + step, step)
    nodes = 1 / (1 + np.exp(-math.pi * np.sinh(tau)))
    return nodes, nodes * (1 - nodes) * math.pi * np.cosh(tau) * step


_UNIT, _UNIT_WEIGHTS = _interval()


def _lln_renyi(p: LLN, q: LLN, orders: FloatArray) -> FloatArray:
    """Coordinates are independent, so divergences add up."""
    locations_p, locations_q = np.atleast_1d(p.location), np.atleast_1d(q.location)
    scales_p = np.broadcast_to(p.scale, locations_p.shape)
    scales_q = np.broadcast_to(q.scale, locations_q.shape)
    total = np.zeros(len(orders))
    for a, b, s, r in zip(locations_p, locations_q, scales_p, scales_q, strict=True):
        move, ratio = float(b - a) / float(s), float(r) / float(s)  # p in standard position, q at `move` with scale `ratio`
        if move != 0 or ratio != 1:
            total += _lln_coordinate(p.sigma, abs(move), ratio, tuple(orders.tolist()))
    return total


@lru_cache(maxsize=256)  # coordinates, releases and checks repeat the same pair
def _lln_coordinate(sigma: float, move: float, ratio: float, orders: tuple[float, ...]) -> FloatArray:
    """An integral with kinks at the two locations, 0 and `move` ≥ 0, only."""
    # far out log p ~ −(log σ²x)²/(2σ²): p^α q^{1−α} peaks at log x ≈ (α − 1)|log ratio| − log σ², with width σ
    reach = max(orders) * abs(math.log(ratio))
    # (a peak beyond e^150 is cut off: the value is then a lower bound, and a huge one)
    largest = min(150.0, 8 + 12 * sigma + reach + math.log1p(reach / sigma**2))
    half, half_weights = _half_line(largest, min(0.15, sigma / 2))
    x = np.concatenate([-half, move * _UNIT, move + half])
    weights = np.concatenate([half_weights, move * _UNIT_WEIGHTS, half_weights])
    log_p = lln_log_density(x, sigma)
    with np.errstate(over="ignore"):
        standardised = np.clip((x - move) / ratio, -1e300, 1e300)  # a larger density of q: still a lower bound
    log_q = lln_log_density(standardised, sigma) - math.log(ratio)
    positive, alpha = weights > 0, np.array(orders)
    # log ∫ p^α q^{1−α} for all orders at once
    terms = np.outer(alpha, log_p[positive]) + np.outer(1 - alpha, log_q[positive]) + np.log(weights[positive])
    top = terms.max(axis=1)
    found = np.asarray((top + np.log(np.exp(terms - top[:, np.newaxis]).sum(axis=1))) / (alpha - 1))
    found.setflags(write=False)  # the cache keeps it
    return found


def zcdp(p: Law, q: Law) -> float:
    """sup_α D_α/α: exact for Gaussians of equal scale, the largest over `ORDERS` (a lower bound) otherwise."""
    if isinstance(p, Gaussian) and isinstance(q, Gaussian):
        if _same_scale(p, q):
            return gaussian_shift(p, q) ** 2 / 2
        if (np.asarray(p.scale) > np.asarray(q.scale)).any():
            return math.inf
    if isinstance(p, L2Laplace) and isinstance(q, L2Laplace) and p.location.size == 1:
        return zcdp(Laplace(p.location, p.scale), Laplace(q.location, q.scale))
    return float((renyi(p, q) / ORDERS).max())


def profile(p: Law, q: Law, epsilon: float) -> float:
    """The least δ with p(S) ≤ e^ε q(S) + δ for all S."""
    if same_law(p, q):
        return 0.0
    match p, q:
        case Gaussian(), Gaussian():
            if _same_scale(p, q):
                return gaussian_delta(gaussian_shift(p, q), epsilon)
            if p.scale.ndim == 0 and q.scale.ndim == 0:
                return _unequal_gaussian_profile(p, q, epsilon)
        case Laplace(), Laplace() if p.location.size == 1:
            if _same_scale(p, q):
                shift = float(_shift(p, q)[0])
                return float(np.maximum(0.0, -math.expm1(epsilon if epsilon < -shift else (epsilon - shift) / 2)))
            return _unequal_laplace_profile(p, q, epsilon)
        case ((Finite() | NoisyArgmax() | Softmax() | GridWalk()), (Finite() | NoisyArgmax() | Softmax() | GridWalk())):
            log_p, losses = _discrete_losses(p, q)
            return float(np.sum(np.exp(log_p) * np.maximum(0.0, -np.expm1(epsilon - losses))))
        case _:
            pass
    raise NoExactFormula(f"profile of {type(p).__name__} against {type(q).__name__}")


def _unequal_gaussian_profile(p: Gaussian, q: Gaussian, epsilon: float) -> float:
    """Isotropic, different scales.  δ(ε) = E_p[(1 − e^{ε−loss})₊].

    Along the line through the two locations (z, in units of p's scale) and across it (y, the squared distance) the loss is
    a quadratic in z plus a linear function of y.  Given y it exceeds ε on an interval or outside one, whose masses under both
    laws are Gaussian; over y, which is χ² with d − 1 degrees of freedom, the integral is numerical.
    """
    d = p.location.size
    s, r = float(p.scale), float(q.scale)
    distance = float(np.linalg.norm(np.atleast_1d(p.location - q.location))) / s
    ratio = r / s
    curvature = (1 - ratio) * (1 + ratio) / (2 * ratio**2)  # ½(1/ratio² − 1), without cancellation

    # loss − ε = curvature·z² − (distance/ratio²)·z + constant + curvature·y
    constant = d * math.log(ratio) + distance**2 / (2 * ratio**2) - epsilon

    def given(y: FloatArray) -> FloatArray:
        inside_p, inside_q = quadratic_masses(curvature, -distance / ratio**2, constant + curvature * y, distance, ratio)
        across = (d - 1) * math.log(ratio) + curvature * y
        return np.maximum(0.0, inside_p - np.exp(epsilon - across) * inside_q)

    if d == 1:
        return float(given(np.zeros(1))[0])
    # of √y, whose law has tails like a Gaussian's; the integrand has a kink where the quadratic loses its roots
    edges = np.linspace(0.0, math.sqrt(d - 1) + 12, 13)
    kink = (distance**2 / (4 * curvature * ratio**4) - constant) / curvature
    if 0 < kink < edges[-1] ** 2:
        edges = np.sort(np.append(edges, math.sqrt(kink)))
    lengths = np.diff(edges)[:, np.newaxis]
    root = np.maximum((edges[:-1, np.newaxis] + lengths * _UNIT).ravel(), 1e-300)
    density = np.exp((d - 2) * np.log(root) - root**2 / 2 - gammaln((d - 1) / 2) - (d - 3) / 2 * math.log(2))
    return float(np.sum((lengths * _UNIT_WEIGHTS).ravel() * density * given(root**2)))


def quadratic_masses(a: float, b: float, c: FloatArray, distance: float, ratio: float) -> tuple[FloatArray, FloatArray]:
    """Masses of {a z² + b z + c > 0} under N(0, 1) and under N(distance, ratio²), for each c."""
    square = b * b - 4 * a * c
    real = square > 0
    # the two roots, each without cancellation
    stable = -(b + math.copysign(1.0, b) * np.sqrt(np.where(real, square, 0.0))) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = stable / a, c / stable
    low, high = np.fmin(first, second), np.fmax(first, second)
    masses = []
    for mean, scale in ((0.0, 1.0), (distance, ratio)):
        left, right = (low - mean) / scale, (high - mean) / scale
        if a > 0:  # outside the roots, everything when there are none
            masses.append(np.where(real, ndtr(left) + ndtr(-right), 1.0))
        else:
            between = np.where(left > 0, ndtr(-left) - ndtr(-right), ndtr(right) - ndtr(left))
            masses.append(np.where(real, between, 0.0))
    return masses[0], masses[1]


def _unequal_laplace_profile(p: Laplace, q: Laplace, epsilon: float) -> float:
    """In one dimension the loss is linear between and beyond the two locations: exact masses of where it exceeds ε."""
    a, b = float(np.ravel(p.location)[0]), float(np.ravel(q.location)[0])
    s, r = float(np.ravel(p.scale)[0]), float(np.ravel(q.scale)[0])

    def excess(x: float) -> float:
        return abs(x - b) / r - abs(x - a) / s + math.log(r / s) - epsilon

    def worth(left: float, right: float) -> float:
        """p − e^ε q of an interval."""
        return _laplace_mass((left - a) / s, (right - a) / s) - math.exp(epsilon) * _laplace_mass(
            (left - b) / r, (right - b) / r
        )

    low, high = min(a, b), max(a, b)
    at_low, at_high = excess(low), excess(high)
    outward = 1 / r - 1 / s  # slope of the loss beyond `high`, and minus its slope below `low`
    total = 0.0
    if at_low > 0 and at_high > 0:
        total += worth(low, high)
    elif at_low > 0 or at_high > 0:
        middle = low + (high - low) * at_low / (at_low - at_high)
        total += worth(low, middle) if at_low > 0 else worth(middle, high)
    for side, end, value in ((-1, low, at_low), (1, high, at_high)):
        # how far beyond this end the loss crosses ε: never, when it moves away from ε or is flat
        turn = -value / outward if value * outward < 0 else math.inf
        if value > 0 or (value == 0 and outward > 0):
            total += worth(*sorted((end, end + side * turn)))
        elif math.isfinite(turn):
            total += worth(*sorted((end + side * turn, side * math.inf)))
    return float(np.maximum(0.0, total))  # which keeps a NaN


def _laplace_mass(left: float, right: float) -> float:
    """P(left < X ≤ right), X ~ Lap(1), without cancellation in the tails."""
    if left >= 0:
        return 0.5 * (math.exp(-left) - math.exp(-right))
    if right <= 0:
        return 0.5 * (math.exp(right) - math.exp(left))
    return 1 - 0.5 * (math.exp(left) + math.exp(-right))
