"""Exact divergences between the laws of one release on two data sets, in one direction (p against q).

`zcdp` is sup_α D_α(p‖q)/α, `max_loss` the supremum of log p/q, `profile` the δ of (ε, δ): sup_S p(S) − e^ε q(S).
Closed forms where they exist; quadrature to about 1e-10 otherwise.  A pair of laws that no formula here covers raises
`NoExactFormula`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import ncx2

from refimpl.claims import gaussian_delta
from refimpl.laws import LLN, Finite, Gaussian, L2Laplace, Laplace, Law, NoisyArgmax, lln_log_density, same_law
from refimpl.validation import FloatArray

ORDERS = np.concatenate([[1.001, 1.01, 1.1, 1.25, 1.5], np.arange(2, 20), np.arange(20, 61, 5)]).astype(np.float64)
"""Rényi orders at which a supremum without a closed form is searched: a lower bound of it."""


class NoExactFormula(Exception):
    """No exact formula is known here for this divergence of this pair of laws."""


def _same_scale(p: Gaussian | Laplace | L2Laplace, q: Gaussian | Laplace | L2Laplace) -> bool:
    return bool(np.array_equal(p.scale, q.scale))


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
        case ((Finite() | NoisyArgmax()), (Finite() | NoisyArgmax())):
            return float(_discrete_losses(p, q)[1].max())
        case Gaussian(), Gaussian():
            return math.inf
        case _:
            raise NoExactFormula(f"largest loss of {type(p).__name__} against {type(q).__name__}")


def _unequal_laplace(p: Laplace | L2Laplace, q: Laplace | L2Laplace) -> float:
    """Where a scale of p exceeds q's the ratio grows without bound; otherwise it is largest at p's location."""
    if (np.asarray(p.scale) > np.asarray(q.scale)).any():
        return math.inf
    return p.logpdf(p.location) - q.logpdf(p.location)


def _discrete_losses(p: Finite | NoisyArgmax, q: Finite | NoisyArgmax) -> tuple[FloatArray, FloatArray]:
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
        case ((Finite() | NoisyArgmax()), (Finite() | NoisyArgmax())):
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


def _half_line() -> tuple[FloatArray, FloatArray]:
    """Double-exponential nodes and weights for ∫_0^∞: x = exp((π/2) sinh τ)."""
    step = 1 / 32
    tau = np.arange(-4.0, 4.2 + step, step)
    nodes = np.exp(math.pi / 2 * np.sinh(tau))
    return nodes, nodes * (math.pi / 2) * np.cosh(tau) * step


_HALF, _HALF_WEIGHTS = _half_line()
_GAUSS, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(60)


def _lln_renyi(p: LLN, q: LLN, orders: FloatArray) -> FloatArray:
    """Coordinates are independent, so divergences add up; each is an integral with kinks at the two locations only."""
    locations_p, locations_q = np.atleast_1d(p.location), np.atleast_1d(q.location)
    scales_p = np.broadcast_to(p.scale, locations_p.shape)
    scales_q = np.broadcast_to(q.scale, locations_q.shape)
    total = np.zeros(len(orders))
    for a, b, s, r in zip(locations_p, locations_q, scales_p, scales_q, strict=True):
        unit = float(s)
        move, ratio = float(b - a) / unit, float(r) / unit  # p in standard position, q at `move` with scale `ratio`
        low, high = min(0.0, move), max(0.0, move)
        x = np.concatenate([low - _HALF, low + (high - low) * (_GAUSS + 1) / 2, high + _HALF])
        weights = np.concatenate([_HALF_WEIGHTS, (high - low) / 2 * _GAUSS_WEIGHTS, _HALF_WEIGHTS])
        log_p = lln_log_density(x, p.sigma)
        log_q = lln_log_density((x - move) / ratio, p.sigma) - math.log(ratio)
        positive = weights > 0
        terms = log_p[positive], log_q[positive], np.log(weights[positive])
        total += [logsumexp(o * terms[0] + (1 - o) * terms[1] + terms[2]) / (o - 1) for o in orders]
    return total


def zcdp(p: Law, q: Law) -> float:
    """sup_α D_α/α: exact for Gaussians of equal scale, the largest over `ORDERS` (a lower bound) otherwise."""
    if isinstance(p, Gaussian) and isinstance(q, Gaussian):
        return gaussian_shift(p, q) ** 2 / 2 if _same_scale(p, q) else math.inf
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
                return max(0.0, -math.expm1((epsilon - float(_shift(p, q)[0])) / 2))
            return _quadrature_profile(p, q, epsilon)
        case ((Finite() | NoisyArgmax()), (Finite() | NoisyArgmax())):
            log_p, losses = _discrete_losses(p, q)
            return float(np.sum(np.exp(log_p) * np.maximum(0.0, -np.expm1(epsilon - losses))))
        case _:
            pass
    raise NoExactFormula(f"profile of {type(p).__name__} against {type(q).__name__}")


def _unequal_gaussian_profile(p: Gaussian, q: Gaussian, epsilon: float) -> float:
    """Isotropic, different scales: {loss > ε} is a ball or its complement, so both masses are noncentral χ²."""
    d = p.location.size
    s, r = float(p.scale), float(q.scale)
    move = np.atleast_1d(p.location - q.location)
    distance = float(np.linalg.norm(move))
    # loss(x) = −|x−p|²/2s² + |x−q|²/2r² + d ln(r/s) = ½c|x − centre|² + rest,  c = 1/r² − 1/s²
    c = 1 / r**2 - 1 / s**2
    to_p = distance / (r**2 * abs(c))  # |centre − p|
    to_q = distance / (s**2 * abs(c))
    rest = d * math.log(r / s) + distance**2 / (2 * (r**2 - s**2))
    level = 2 * (epsilon - rest) / c
    if c > 0:  # far out the loss grows: outside a ball of squared radius `level`
        inside_p, inside_q = (ncx2.cdf(max(level, 0.0) / v**2, d, (t / v) ** 2) for v, t in ((s, to_p), (r, to_q)))
        return float(max(0.0, (1 - inside_p) - math.exp(epsilon) * (1 - inside_q)))
    if level <= 0:
        return 0.0
    inside_p, inside_q = (ncx2.cdf(level / v**2, d, (t / v) ** 2) for v, t in ((s, to_p), (r, to_q)))
    return float(max(0.0, inside_p - math.exp(epsilon) * inside_q))


def _quadrature_profile(p: Laplace, q: Laplace, epsilon: float) -> float:
    centre, other = float(np.ravel(p.location)[0]), float(np.ravel(q.location)[0])
    wide = 60 * max(float(np.max(p.scale)), float(np.max(q.scale)))

    def excess(x: float) -> float:
        value = np.full(p.location.shape, x)
        log_p = p.logpdf(value)
        return math.exp(log_p) * max(0.0, -math.expm1(min(0.0, epsilon + q.logpdf(value) - log_p)))

    low, high = min(centre, other), max(centre, other)
    return float(_integral(excess, [low - wide, low, high, high + wide]))


def _integral(function: Callable[[float], float], edges: list[float]) -> float:
    return math.fsum(
        quad(function, low, high, epsabs=1e-13, epsrel=1e-11, limit=400)[0]
        for low, high in itertools.pairwise(edges)
        if high > low
    )
