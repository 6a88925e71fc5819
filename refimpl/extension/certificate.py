"""Verify that a point approximately minimises the regularised Lipschitz extension, whatever found it.

    F(w) = (1/n) Σ f_C(w, x_i) + (λ/2)‖w − w₀‖²  over K ⊆ W,      f_C(w, x) = min_{y ∈ W} f(y, x) + C‖w − y‖.

A certificate is a point w̃ of K and for every record a y in W, a g with ‖g‖ ≤ C and a v in dom φ*.  They give a minorant
f ≥ ⟨p, ·⟩ + k on W: p = v·x, k = −φ*(v) for f = φ(⟨x, ·⟩); the tangent at y, p = A(y − x), for f = ½(· − x)ᵀA(· − x); a
ridge ω adds its tangent at y, ω·y to p.  Then, with u = g − p, G = mean g + λ(w̃ − w₀), and for any ν,

    F(w̃) − min_K F ≤ mean gap + [σ_K(ν) − ⟨ν, w̃⟩] + ‖G + ν‖²/(2λ),
    gap = [f(y) − k − ⟨p, y⟩] + [C‖w̃ − y‖ − ⟨g, w̃ − y⟩] + [σ_W(u) − ⟨u, y⟩].

Proof.  For every w' and y' in W, f(y') + C‖w' − y'‖ ≥ ⟨p, y'⟩ + k + ⟨g, w' − y'⟩ ≥ ⟨g, w'⟩ + k − σ_W(u): so is f_C(w').
With f_C(w̃) ≤ f(y) + C‖w̃ − y‖ this gives f_C(w̃) − f_C(w') ≤ gap + ⟨g, w̃ − w'⟩.
With s = w̃ − w', the regulariser falls from w̃ to w' by λ⟨w̃ − w₀, s⟩ − (λ/2)‖s‖², so F(w̃) − F(w') ≤ mean gap + ⟨G, s⟩ − (λ/2)‖s‖².
For w' in K, ⟨G, s⟩ = ⟨G + ν, s⟩ + ⟨ν, w'⟩ − ⟨ν, w̃⟩ ≤ ⟨G + ν, s⟩ + σ_K(ν) − ⟨ν, w̃⟩,
and ⟨G + ν, s⟩ − (λ/2)‖s‖² ≤ ‖G + ν‖²/(2λ).  (It is at most ‖G + ν‖·diam(K) too, which is used where it is less.)  ∎

The first bracket is the Fenchel gap φ(m) + φ*(v) − v·m, m = ⟨x, y⟩, of a generalised linear loss.  It is 0 for a quadratic
loss, but for this: `Quadratic` admits a matrix whose least eigenvalue is below 0 by as much as rounding explains; if
A + δI is positive semidefinite, the tangent is a minorant on W after subtracting δ·diam(W)²/2.

Both functions that evaluate the bound speak of the real numbers that the given floats stand for.  `gap_upper` uses floats
and bounds every rounding error; `gap_upper_in_balls` uses ball arithmetic and comes closer.  The first accepts only y, w̃
and g that are inside their sets by more than rounding, the second all that are inside.  The sets are those of
`tailproof.refimpl.domains`, an ellipsoid as represented by its axes and basis; their extent is taken from there, and in floats
their support functions too, which are rounded outward.  The elementary functions of numpy and scipy are trusted to be
within 8 units in the last place.

Records whose numbers floats cannot hold well enough are given in `exact`, with as many bits as they need.  These count, in both
functions, instead of the record's floats, and are evaluated in ball arithmetic with more than twice their bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
from flint import arb, arb_mat, ctx
from scipy.optimize import nnls
from scipy.special import xlog1py, xlogy

from tailproof.refimpl.domains import EPS, LARGEST_POINT, Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.extension.exact_sets import ball_part, facet_weights
from tailproof.refimpl.extension.refined import ExactRecord
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import FloatArray, InputError, between, positive, records, vector, whole

LARGEST_RECORD = 1e60  # entries of the data
_TINY = float(np.finfo(np.float64).tiny)  # what underflow can lose in any sum of products here is less
_SPECK = 1e-290  # beyond what underflow can lose in a record's gap, in units of (1 + C)(1 + diameter)
_LARGEST_TERM = 2048  # bits: no term of a record's gap is larger, as data and sets have numbers up to 1e60 and 1e50
_KNOWN = (Affine, Hinge, ReLU, Absolute, Squared, L4, Logistic, Quadratic)


class Rejected(ValueError):
    """The certificate is not admissible, or proves less than was asked; the message says why."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What is minimised: the mean of the extensions with constant C = `lipschitz` over W = `domain`, plus `weight`/2 times
    the squared distance from `anchor`, over `within`, which is the domain (the default) or a localised part of it."""

    loss: Loss
    data: FloatArray
    domain: Domain
    lipschitz: float
    weight: float
    anchor: FloatArray
    within: Domain = None  # type: ignore[assignment]  # replaced by the domain

    def __post_init__(self) -> None:
        if type(self.model) not in _KNOWN:  # a class derived from one may be another loss
            names = ", ".join(known.__name__ for known in _KNOWN)
            raise InputError(f"loss = {self.loss!r}: must be one of {names}, or a Ridge of one")
        if not isinstance(self.domain, Domain):
            raise InputError(f"domain = {self.domain!r}: must be a domain")
        if isinstance(self.model, Quadratic) and len(self.model.matrix) != self.dimension:
            raise InputError(f"loss: is quadratic in {len(self.model.matrix)} variables; the domain has {self.dimension}")
        checked: dict[str, Any] = {
            "lipschitz": between("lipschitz", self.lipschitz, 1e-50, 1e50),
            "weight": positive("weight", self.weight),
            "anchor": vector("anchor", self.anchor, size=self.dimension).copy(),
            "within": self.domain if self.within is None else self.within,
        }
        outermost = self.domain
        while isinstance(outermost, Localised):  # a localised part of the domain need not hold it
            outermost = outermost.base
        if not outermost.contains(checked["anchor"]):
            raise InputError("anchor: must lie in the domain")
        outer = checked["within"]
        while outer is not self.domain:
            if not isinstance(outer, Localised):
                raise InputError(f"within = {self.within!r}: must be the domain, or a Localised whose base is the domain")
            outer = outer.base
        data = records("data", self.data, least=1, columns=self.loss.columns(self.dimension))
        if not max(data.max(), -data.min()) <= LARGEST_RECORD:
            raise InputError(f"data: has an entry of size {np.abs(data).max():g}; at most {LARGEST_RECORD:g} is allowed")
        self.loss.split(data)  # refuses labels other than ±1
        for name, value in {**checked, "data": data}.items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """The number n of records."""
        return len(self.data)

    @property
    def dimension(self) -> int:
        return self.domain.dimension

    @property
    def model(self) -> GlmLoss | Quadratic:
        """The loss without its ridge."""
        return self.loss.loss if isinstance(self.loss, Ridge) else self.loss

    @property
    def ridge(self) -> float:
        return self.loss.weight if isinstance(self.loss, Ridge) else 0.0

    @cached_property
    def features(self) -> FloatArray:
        """The x of every record, a label multiplied in."""
        x = self.data if isinstance(self.model, Quadratic) else self.model.signed_features(self.data)
        return np.ascontiguousarray(x)

    @cached_property
    def targets(self) -> FloatArray:
        """The t of every record; 0 where the loss has labels or nothing."""
        has_target = not isinstance(self.model, Quadratic) and self.model.target == "real"
        return np.ascontiguousarray(self.data[:, -1]) if has_target else np.zeros(self.size)

    @cached_property
    def norms(self) -> FloatArray:
        """The ‖x‖, up to rounding."""
        return _lengths(self.features)

    @cached_property
    def tangent_deficit(self) -> float:
        """At least δ·diam(W)²/2, by which a quadratic loss may fall below its tangent on W; 0 for other losses."""
        shift = _definite_shift(self.model.matrix) if isinstance(self.model, Quadratic) else 0.0
        diameter = self.domain.diameter_upper()
        return max(shift * diameter * diameter, _TINY) if shift else 0.0


@dataclass(frozen=True, eq=False)
class Certificate:
    """The point w̃ and for every record the dual v (not used for a quadratic loss), the minimiser y, the subgradient g.

    Where `exact` has numbers for a record they are used; its floats must be admissible all the same.
    """

    point: FloatArray  # (d,)
    duals: FloatArray  # (n,)
    minimisers: FloatArray  # (n, d)
    subgradients: FloatArray  # (n, d)
    exact: Mapping[int, ExactRecord] = field(default_factory=lambda: MappingProxyType({}))


def verify(problem: Problem, certificate: Certificate, accuracy: float, *, in_balls: bool = False) -> float:
    """The proved bound of F(w̃) − min_K F, if it is at most `accuracy`; otherwise Rejected is raised."""
    allowed = positive("accuracy", accuracy)
    bound = (gap_upper_in_balls if in_balls else gap_upper)(problem, certificate)
    if bound < 0:
        raise Rejected(f"the certificate proves a gap of {bound!r}, which no point has")
    if not bound <= allowed:
        raise Rejected(f"the certificate proves a gap of {bound!r}; {allowed!r} was asked for")
    return bound


def _check_form(problem: Problem, certificate: Certificate) -> None:
    """Shapes, finiteness and the domain of φ*, none of which rounds."""
    n, d = problem.size, problem.dimension
    shapes = {"point": (d,), "duals": (n,), "minimisers": (n, d), "subgradients": (n, d)}
    for name, shape in shapes.items():
        array, largest = getattr(certificate, name), np.finfo(np.float64).max if name == "duals" else LARGEST_POINT
        if not (type(array) is np.ndarray and array.dtype == np.float64 and array.shape == shape):
            raise Rejected(f"{name}: must be an array of float64 of shape {shape}")
        good = ((array >= -largest) & (array <= largest)).reshape(len(array), -1).all(axis=1)
        _reject(name, good, f"must be finite and at most {largest:g}")
    if not isinstance(problem.model, Quadratic):
        lower, upper = problem.model.slope_range
        inside = (certificate.duals >= lower) & (certificate.duals <= upper)
        _reject("duals", inside, f"must lie in [{lower:g}, {upper:g}]")


def _checked_exact(problem: Problem, certificate: Certificate) -> dict[int, ExactRecord]:
    """The numbers of `exact`, put together again from their bits: comparisons trust what an mpf says of itself."""
    d, checked = problem.dimension, {}
    for i, record in certificate.exact.items():
        if not (type(i) is int and 0 <= i < problem.size):
            raise Rejected(f"exact: {i!r} must be the index of a record")
        if not (len(record.minimiser) == len(record.subgradient) == d):
            raise Rejected(f"exact: record {i} must have one dual and {d} of the others")
        dual, *rest = (_rebuilt(i, a) for a in (record.dual, *record.minimiser, *record.subgradient))
        if not isinstance(problem.model, Quadratic):
            lower, upper = problem.model.slope_range
            if not lower <= dual <= upper:
                raise Rejected(f"exact: the dual of record {i} must lie in [{lower:g}, {upper:g}]")
        checked[i] = ExactRecord(dual, tuple(rest[:d]), tuple(rest[d:]))
    return checked


_WHOLE = (int, type(mpmath.mpf(3).man))


def _rebuilt(record: int, number: Any) -> mpmath.mpf:
    if type(number) is not mpmath.mpf:
        raise Rejected(f"exact: record {record} must have numbers of mpmath")
    parts = number._mpf_
    if not (type(parts) is tuple and len(parts) == 4 and all(type(part) in _WHOLE for part in parts)):
        raise Rejected(f"exact: record {record} has a number whose parts are not whole numbers")
    sign, mantissa, exponent, _ = parts
    if mantissa == 0 and exponent != 0:
        raise Rejected(f"exact: record {record} has a number that is not finite")
    if sign not in (0, 1) or mantissa < 0:
        raise Rejected(f"exact: record {record} has a number whose sign is not one")
    size = mpmath.libmp.from_man_exp(int(mantissa), int(exponent))
    return mpmath.mp.make_mpf(mpmath.libmp.mpf_neg(size) if sign else size)


def _reject(name: str, good: Any, why: str, *, first: int = 0) -> None:
    """Raise unless all rows are good."""
    if not good.all():
        row = f"entry {int(np.argmin(good))}" if name == "point" else f"record {first + int(np.argmin(good))}"
        raise Rejected(f"{name}: {row} {why}")


# ------------------------------------------------------------------------------------------------------------- floats
#
# Lemma (Higham, Accuracy and Stability, ch. 3).  A sum of d products, in any order, errs by at most d·EPS/2/(1 − d·EPS/2)
# times the sum of the absolute values, plus underflow; so does a norm, relatively, by less than (d/4 + 2)·EPS.  Every
# allowance below is at least twice what the lemma asks for, so that its own rounding does not matter.


def gap_upper(problem: Problem, certificate: Certificate) -> float:
    """F(w̃) − min_K F is at most this; inf where a number is beyond the floats."""
    _check_form(problem, certificate)
    n, d, C = problem.size, problem.dimension, problem.lipschitz
    if not problem.within.surely_contains(certificate.point):
        raise Rejected("point: is not inside the set `within` by more than rounding")
    step = min(n, max(1, 2**15 // d))
    gaps: list[FloatArray] = []
    exact = _exact_records(problem, certificate)
    pull = np.zeros(d)
    with np.errstate(all="ignore"):
        for start in range(0, n, step):
            rows = slice(start, start + step)
            gaps.append(_sum(_all_gaps(problem, certificate, exact, rows)))
            pull += _sum(certificate.subgradients[rows])
        pull += _exact_shift(certificate, exact)
        move = problem.weight * (certificate.point - problem.anchor)
        slope = pull / n + move
        rounding = (min(64, step) + step // 64 + len(gaps) + 8) * EPS  # no number is part of more additions than these
        if exact:  # the shift is shorter than 2nC, the sum than nC
            rounding += 4 * EPS
        error = rounding * C + 4 * EPS * (_length(move) + _length(slope)) + _TINY
        mean_gap = float(np.sum(gaps)) / n * (1 + rounding)
        bound = (mean_gap + _remainder(problem, certificate.point, slope, error)) * (1 + 8 * EPS)
    return float(bound) if bound < math.inf else math.inf  # NaN: infinities of both signs met


def record_gaps_upper(problem: Problem, certificate: Certificate) -> FloatArray:
    """Upper bounds of the three brackets' sum, for every record."""
    _check_form(problem, certificate)
    step = max(1, 2**15 // problem.dimension)
    exact = _exact_records(problem, certificate)
    with np.errstate(all="ignore"):
        blocks = [_all_gaps(problem, certificate, exact, slice(i, i + step)) for i in range(0, problem.size, step)]
    return np.concatenate(blocks)


def _sum(rows: FloatArray) -> FloatArray:
    """The sum of the rows, 64 at a time so that few additions follow each other."""
    return np.asarray(np.add.reduceat(rows, np.arange(0, len(rows), 64)).sum(axis=0))


def _all_gaps(
    problem: Problem, certificate: Certificate, exact: Mapping[int, tuple[arb, arb_mat]], rows: slice
) -> FloatArray:
    """Upper bounds of the gap of these records, from floats or from their exact numbers."""
    gaps = _record_gaps(problem, certificate, rows)
    for i, (gap, _) in exact.items():
        if rows.start <= i < rows.stop:
            gaps[i - rows.start] = _float_upper(gap)
    return gaps


def _exact_shift(certificate: Certificate, exact: Mapping[int, tuple[arb, arb_mat]]) -> FloatArray:
    """What the exact subgradients add to the sum of those in floats, rounded once."""
    total = arb_mat(len(certificate.point), 1)
    with ctx.workprec(256):
        for i, (_, g) in exact.items():
            total += g - _exact(certificate.subgradients[i])
    return _floats(total)


def _record_gaps(problem: Problem, certificate: Certificate, rows: slice) -> FloatArray:
    """Upper bounds of the gap of these records; the records are also checked."""
    v, y, g = certificate.duals[rows], certificate.minimisers[rows], certificate.subgradients[rows]
    domain, C, rounding = problem.domain, problem.lipschitz, (problem.dimension + 8) * EPS
    _reject("minimisers", domain.surely_contains(y), "is not inside the domain by more than rounding", first=rows.start)
    lengths = _lengths(g)
    why = "is not shorter than `lipschitz` by more than rounding"
    _reject("subgradients", lengths * (1 + rounding) <= C, why, first=rows.start)

    p, error, first = _minorants(problem, rows, v, y)
    u = g - p
    if not np.isfinite(u).all():
        return np.full(len(v), math.inf)
    second = _distance_gaps(C, g, lengths, certificate.point - y)
    # As long as what keeps g shorter than C is not worth the search for a polytope's weights.
    short = (domain.dimension + 8 if isinstance(domain, Polytope) else 1) * 4 * EPS * C
    third = _support_gaps(domain, u, y, short=short)
    diameter = domain.diameter_upper()
    third += (error + EPS * _lengths(u)) * diameter  # ⟨u, w − y⟩ changes by at most that times the error of u
    speck = _SPECK * (1 + C) * (1 + diameter)
    return np.asarray((first + second + third) * (1 + 16 * EPS) + speck)


def _minorants(problem: Problem, rows: slice, v: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The slopes p, bounds of the norms of their errors, and upper bounds of the first bracket."""
    model, d, ridge = problem.model, problem.dimension, problem.ridge
    x, norms, reach = problem.features[rows], problem.norms[rows], _lengths(y)
    if isinstance(model, Quadratic):
        offsets = y - x
        p = offsets @ model.matrix
        error = (d + 4) * EPS * _length(model.matrix.ravel()) * _lengths(offsets) + _TINY
        gaps = np.full(len(v), problem.tangent_deficit)
    else:
        p = v[:, np.newaxis] * x
        error = EPS * np.abs(v) * norms + _TINY
        margins = np.einsum("ij,ij->i", x, y)
        gaps = _fenchel_gaps(model, margins, (d + 4) * EPS * norms * reach + _TINY, problem.targets[rows], v)
    if ridge:
        p = p + ridge * y
        error = error + 2 * EPS * (_lengths(p) + ridge * reach) + _TINY
    return p, error, gaps


def _fenchel_gaps(loss: GlmLoss, m: FloatArray, error: FloatArray, t: FloatArray, v: FloatArray) -> FloatArray:
    """Upper bounds of φ(m') + φ*(v) − v·m' over all m' within the error of m, up to a relative 16·EPS.

    They are sums of terms ≥ 0 without cancellation, so that they are small where the gap is.
    """
    r = m - 1.0 if isinstance(loss, Hinge) else m - t
    e = error + EPS * np.abs(r)
    match loss:
        case Squared():  # ½(r − v)²
            return np.square(np.abs(r - v) * (1 + EPS) + e) / 2
        case L4():  # r⁴ + 3k⁴ − 4k³r = (r − k)²((r + k)² + 2k²) with v = 4k³
            k = np.cbrt(2 * v) / 2
            e = e + 8 * EPS * np.abs(k)
            near, far = np.abs(r - k) * (1 + EPS) + e, np.abs(r + k) * (1 + EPS) + e
            return np.asarray(np.square(near) * (np.square(far) + 2 * np.square(np.abs(k) + e)))
        case Logistic():  # convex in m: largest at an end
            e = e + 2 * EPS * (np.abs(r) + e)
            return np.maximum(_divergence_upper(r - e, v), _divergence_upper(r + e, v))
    # Polyhedral losses have one kink, or none: slopes from `lower` to `upper` at r = 0.
    lower, upper = loss.slope_range
    return np.maximum(r + e, 0) * (upper - v) + np.maximum(e - r, 0) * (v - lower)


def _divergence_upper(m: FloatArray, v: FloatArray) -> FloatArray:
    """An upper bound of φ(m) + φ*(v) − v·m for logistic loss.

    It is the divergence KL(p‖q) of Bernoulli laws with p = −v and q = 1/(1 + e^m), so at most χ² = (p − q)²/(q(1 − q)),
    and about half of that if small; this has no cancellation.  If not small, the definition is accurate.
    """
    decay = np.exp(-np.abs(m))
    tail = decay / (1 + decay)  # the smaller one of q and 1 − q, within 12·EPS
    share = np.where(m > 0, -v, 1 + v)  # p or 1 − p
    apart = np.abs(share - tail) * (1 + EPS) + EPS * share + 12 * EPS * tail
    chi = np.where(tail > 1e-290, apart / tail * (apart / (1 - tail)) * (1 + 64 * EPS), math.inf)
    terms = np.stack([np.maximum(-m, 0), np.log1p(decay), xlogy(-v, -v), xlog1py(1 + v, v), -v * m])
    return np.asarray(np.minimum(chi, terms.sum(axis=0) + 24 * EPS * np.abs(terms).sum(axis=0)))


def _distance_gaps(C: float, g: FloatArray, lengths: FloatArray, moves: FloatArray) -> FloatArray:
    """Upper bounds of C‖z‖ − ⟨g, z⟩ for z within rounding of the moves: ‖z‖·((C − ‖g‖) + ‖g‖·‖g/‖g‖ − z/‖z‖‖²/2).

    The rounding of z changes it by at most 2C times that, C·EPS·‖z‖.  The unit vectors err by less than `rounding`.
    """
    rounding = (g.shape[1] + 8) * EPS
    distances = _lengths(moves)
    angles = _lengths(_units(g, lengths) - _units(moves, distances)) * (1 + rounding) + 4 * rounding
    rates = C - lengths * (1 - rounding) + lengths * np.square(angles) / 2 * (1 + rounding) + 2 * EPS * C
    return np.asarray(distances * (1 + rounding) * rates)


def _support_gaps(domain: Domain, u: FloatArray, y: FloatArray, *, short: float) -> FloatArray:
    """Upper bounds of σ(u) − ⟨u, y⟩ for y in the domain.

    This is max ⟨u, w − y⟩ ≤ ‖u‖·diameter, which is good enough for rows that are not longer than `short`.
    """
    rounding = (domain.dimension + 8) * EPS
    lengths = _lengths(u) * (1 + rounding)
    gaps = lengths * domain.diameter_upper()
    long = np.flatnonzero(lengths > short)
    if long.size and isinstance(domain, Polytope):
        gaps[long] = np.minimum(gaps[long], _facet_gaps(domain, u[long], y[long]))
    elif long.size:
        u, y, most = u[long], y[long], domain.support(u[long])
        reached = np.einsum("ij,ij->i", u, y)
        error = rounding * lengths[long] * _lengths(y) + 2 * EPS * (np.abs(most) + np.abs(reached)) + _TINY
        gaps[long] = np.minimum(gaps[long], most - reached + error)
    return np.asarray(gaps)


def _facet_gaps(polytope: Polytope, u: FloatArray, y: FloatArray) -> FloatArray:
    """Upper bounds of σ(u) − ⟨u, y⟩ = max ⟨u, w − y⟩ from weights η ≥ 0 of the facets' normals a with offsets b.

    With ρ = u − Σ η·a it is at most Σ η·(b − ⟨a, y⟩) + ‖ρ‖·diameter, whatever the weights.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        weights = polytope.facet_weights(u, y)
        normals, offsets, d = polytope.normals, polytope.offsets, polytope.dimension
        sizes = _lengths(y)[:, np.newaxis] * _lengths(normals) + np.abs(offsets)
        room = np.maximum(offsets - y @ normals.T, 0.0) + (d + 8) * EPS * sizes + _TINY
        rest = _lengths(u - weights @ normals) * (1 + (d + 8) * EPS)
        rest += (len(offsets) + 8) * EPS * (weights @ _lengths(normals) + _lengths(u)) + _TINY
        gaps = (np.einsum("ij,ij->i", weights, room) + rest * polytope.diameter_upper()) * (1 + (len(offsets) + 8) * EPS)
    return np.where(np.isnan(gaps), math.inf, gaps)


def _remainder(problem: Problem, point: FloatArray, slope: FloatArray, error: float) -> float:
    """An upper bound of σ_K(ν) − ⟨ν, w̃⟩ + ‖G + ν‖²/(2λ) for G within `error` of the slope, with the best of a few ν."""
    best, diameter = math.inf, problem.within.diameter_upper()
    for normal in _normals(problem, point, slope):
        gap = float(_support_gaps(problem.within, normal[np.newaxis], point[np.newaxis], short=0.0)[0])
        rest = _length(slope + normal) * (1 + (problem.dimension + 8) * EPS) + error
        gain = rest * min(rest / problem.weight / 2, diameter)
        bound = (gap + gain) * (1 + 16 * EPS) + _SPECK * (1 + rest + diameter)
        if bound < best:
            best = bound
    return best


def _normals(problem: Problem, point: FloatArray, slope: FloatArray) -> list[FloatArray]:
    """Guesses of ν: 0; −G, which gives Frank and Wolfe's gap; and (z − P(z))/t with z = w̃ − t·G.

    The last with t = 1/λ is the best, but for rounding, which a large λ magnifies; longer t suffer less.
    """
    guesses = [np.zeros_like(point), -slope]
    with np.errstate(all="ignore"):
        reach = problem.within.diameter_upper() / (_length(slope) or math.inf)
        for time in (1 / problem.weight, 1e-6 * reach, 1e-3 * reach):
            target = point - time * slope
            if 0 < time < math.inf and np.abs(target).max() <= LARGEST_POINT:
                with suppress(ArithmeticError):  # a polytope's projection that does not meet its optimality conditions
                    guesses.append((target - problem.within.project(target)) / time)
    return [guess for guess in guesses if np.isfinite(guess).all()]


def _lengths(rows: FloatArray) -> FloatArray:
    """Euclidean norms of the rows, to a relative error below (d/4 + 2)·EPS; inf beyond 1e150."""
    with np.errstate(over="ignore"):
        lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    small = lengths < 1e-140
    if small.any():  # squares may have underflowed; a power of two rescales without error
        scaled = rows[small] * 2.0**600
        lengths[small] = np.sqrt(np.einsum("ij,ij->i", scaled, scaled)) * 2.0**-600
    return lengths


def _length(row: FloatArray) -> float:
    return float(_lengths(row[np.newaxis])[0])


def _units(rows: FloatArray, lengths: FloatArray) -> FloatArray:
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis])


# ----------------------------------------------------------------------------------------------------- ball arithmetic


def gap_upper_in_balls(problem: Problem, certificate: Certificate, *, bits: int = 128) -> float:
    """F(w̃) − min_K F is at most this, from ball arithmetic with so many bits, rounded up to a float."""
    precision = whole("bits", bits, least=64)
    _check_form(problem, certificate)
    with ctx.workprec(precision):
        return _float_upper(_total(problem, certificate))


def _total(problem: Problem, certificate: Certificate) -> arb:
    point, n, weight = certificate.point, problem.size, arb(problem.weight)
    w, within = _exact(point), _exact_set(problem.within)
    if not within.contains(w):
        raise Rejected("point: is not in the set `within`")
    exact, gap_of = _exact_records(problem, certificate), _record_gap_in_balls(problem, w)
    total, pull = arb(0), arb_mat(problem.dimension, 1)
    for i in range(n):
        v, y, g = arb(float(certificate.duals[i])), certificate.minimisers[i], _exact(certificate.subgradients[i])
        gap = gap_of(i, v, w if (y == point).all() else _exact(y), g)
        gap, g = exact.get(i, (gap, g))
        total += gap
        pull += g
    slope = pull / n + weight * (w - _exact(problem.anchor))
    diameter, remainders = arb(problem.within.diameter_upper()), []
    for normal in map(_exact, _normals(problem, point, _floats(slope))):
        rest = slope + normal
        gain = (_squared(rest) / (2 * weight)).min(_length_upper(rest) * diameter)
        remainders.append(within.support_gap(normal, w) + gain)
    return total / n + _least(remainders)


def _exact_records(problem: Problem, certificate: Certificate) -> dict[int, tuple[arb, arb_mat]]:
    """The gap and the g of the records that are given exactly."""
    if not certificate.exact:
        return {}
    exact = {i: (r.dual, r.minimiser, r.subgradient) for i, r in _checked_exact(problem, certificate).items()}
    longest = max(int(a.man).bit_length() for v, y, g in exact.values() for a in (v, *y, *g))
    with ctx.workprec(2 * longest + _LARGEST_TERM), mpmath.workprec(longest + 256):
        gap_of = _record_gap_in_balls(problem, _exact(certificate.point), sharp=True)
        columns = {i: (arb(v), _column(y), _column(g)) for i, (v, y, g) in exact.items()}
        return {i: (gap_of(i, v, y, g), g) for i, (v, y, g) in columns.items()}


def _record_gap_in_balls(problem: Problem, w: arb_mat, *, sharp: bool = False) -> Callable[..., arb]:
    """The gap of a record as a function of its index, v, y (the object w itself where it is that point) and g."""
    domain, minorant = _exact_set(problem.domain, sharp=sharp), _exact_minorant(problem)
    diameter, C = arb(problem.domain.diameter_upper()), arb(problem.lipschitz)
    C_squared, short = C * C, 0 if sharp else EPS * C

    def gap(i: int, v: arb, y: arb_mat, g: arb_mat) -> arb:
        if not (y is w or domain.contains(y)):  # K, where w is, is part of W
            raise Rejected(f"minimisers: record {i} is not in the domain")
        if not _squared(g) <= C_squared:
            raise Rejected(f"subgradients: record {i} is longer than `lipschitz`")
        p, total = minorant(i, v, y)
        if y is not w:
            total += C * _length_upper(w - y) - _dot(g, w - y)
        u = g - p
        longest = _length_upper(u) * diameter
        return total + (longest if longest <= short * diameter else longest.min(domain.support_gap(u, y)))

    return gap


def _exact_minorant(problem: Problem) -> Callable[[int, arb, arb_mat], tuple[arb_mat, arb]]:
    """The slope p and the first bracket, as a function of the record's index, v and y."""
    model, ridge = problem.model, arb(problem.ridge)
    features, targets = problem.features, problem.targets
    if isinstance(model, Quadratic):
        matrix, deficit = _exact(model.matrix), arb(problem.tangent_deficit)
        return lambda i, _v, y: (matrix * (y - _exact(features[i])) + ridge * y, deficit)
    fenchel_gap = _exact_fenchel_gap(model)

    def linear(i: int, v: arb, y: arb_mat) -> tuple[arb_mat, arb]:
        x = _exact(features[i])
        p = v * x + ridge * y if problem.ridge else v * x
        return p, fenchel_gap(_dot(x, y), arb(float(targets[i])), v)

    return linear


def _exact_fenchel_gap(loss: GlmLoss) -> Callable[[arb, arb, arb], arb]:
    """φ(m; t) + φ*(v; t) − v·m as a function of m, t and v, straight from the definitions."""
    match loss:
        case Affine():
            return lambda m, _t, v: m - v * m
        case Hinge():
            return lambda m, _t, v: (1 - m).max(arb(0)) + v - v * m
        case ReLU():
            return lambda m, t, v: (m - t).max(arb(0)) + v * t - v * m
        case Absolute():
            return lambda m, t, v: abs(m - t) + v * t - v * m
        case Squared():
            return lambda m, t, v: (m - t) ** 2 / 2 + v * (v / 2 + t) - v * m
        case L4():
            return lambda m, t, v: (m - t) ** 4 + v * t + 3 * (abs(v) / 4).root(3) ** 4 - v * m
        case Logistic():
            return lambda m, _t, v: _exact_softplus(-m) + _exact_x_log_x(-v) + _exact_x_log_x(1 + v) - v * m
    raise InputError(f"loss = {loss!r}: is not known")


def _exact_softplus(m: arb) -> arb:
    """log(1 + e^m) without overflow."""
    return m + (-m).exp().log1p() if m > 0 else m.exp().log1p()


def _exact_x_log_x(x: arb) -> arb:
    return x * x.log() if x > 0 else arb(0)


@dataclass(frozen=True)
class _ExactSet:
    """Membership of y, and an upper bound of σ(u) − ⟨u, y⟩ for y in the set, as functions of y, and of u and y."""

    contains: Callable[[arb_mat], bool]
    support_gap: Callable[[arb_mat, arb_mat], arb]


def _exact_set(domain: Domain, *, sharp: bool = False) -> _ExactSet:
    """The set; if it is to be sharp, multipliers are guessed in mpmath's working precision instead of floats."""
    match domain:
        case Ball():
            return _exact_ball(domain)
        case Box():
            return _exact_box(domain)
        case L1Ball():
            return _exact_l1_ball(domain)
        case Ellipsoid():
            return _exact_ellipsoid(domain)
        case Polytope():
            return _exact_polytope(domain, sharp)
        case Localised():
            return _exact_localised(domain, sharp)
    raise InputError(f"domain = {domain!r}: is not known")


def _exact_ball(ball: Ball) -> _ExactSet:
    center, radius = _exact(ball.center), arb(ball.radius)
    return _ExactSet(
        lambda y: bool(_squared(y - center) <= radius * radius),
        lambda u, y: radius * _length_upper(u) - _dot(u, y - center),
    )


def _exact_box(box: Box) -> _ExactSet:
    lower, upper = _exact(box.lower), _exact(box.upper)

    def contains(y: arb_mat) -> bool:
        return all(low <= a <= high for low, a, high in zip(lower.entries(), y.entries(), upper.entries(), strict=True))

    def support_gap(u: arb_mat, y: arb_mat) -> arb:
        rooms = zip(u.entries(), (lower - y).entries(), (upper - y).entries(), strict=True)
        return sum((a * down).max(a * up) for a, down, up in rooms)

    return _ExactSet(contains, support_gap)


def _exact_l1_ball(ball: L1Ball) -> _ExactSet:
    center, radius = _exact(ball.center), arb(ball.radius)
    return _ExactSet(
        lambda y: bool(sum(map(abs, (y - center).entries())) <= radius),
        lambda u, y: radius * reduce(arb.max, map(abs, u.entries())) - _dot(u, y - center),
    )


def _exact_ellipsoid(ellipsoid: Ellipsoid) -> _ExactSet:
    """{w : ‖axes⁻¹ basisᵀ(w − center)‖ ≤ 1}, where the basis is orthogonal only up to rounding."""
    center, into_axes = _exact(ellipsoid.center), _exact(np.diag(ellipsoid.axes)).inv() * _exact(ellipsoid.basis.T)
    out_of_axes = into_axes.transpose().inv()
    return _ExactSet(
        lambda y: bool(_squared(into_axes * (y - center)) <= 1),
        lambda u, y: _length_upper(out_of_axes * u) - _dot(u, y - center),
    )


def _exact_polytope(polytope: Polytope, sharp: bool) -> _ExactSet:
    """For every η ≥ 0, ⟨u, w − y⟩ ≤ ⟨η, offsets − normals y⟩ + ‖u − normalsᵀη‖·diameter; tight for the multipliers η."""
    normals, offsets, diameter = _exact(polytope.normals), _exact(polytope.offsets), polytope.diameter_upper()
    transposed = normals.transpose()

    def contains(y: arb_mat) -> bool:
        return all(room >= 0 for room in (offsets - normals * y).entries())

    def guesses(u: arb_mat, y: arb_mat) -> list[arb_mat]:
        if sharp:
            return [_column(facet_weights(polytope, _midpoints(u), _midpoints(y)))]
        direction = _floats(u)
        return [_exact(_multipliers(polytope, direction, at)) for at in (_floats(y), polytope.support_point(direction))]

    def support_gap(u: arb_mat, y: arb_mat) -> arb:
        room = offsets - normals * y
        bounds = [_dot(eta, room) + _length_upper(u - transposed * eta) * diameter for eta in guesses(u, y)]
        return _least([_length_upper(u) * diameter, *bounds])

    return _ExactSet(contains, support_gap)


def _multipliers(polytope: Polytope, direction: FloatArray, point: FloatArray) -> FloatArray:
    """Weights η ≥ 0 of the facets next to the point with normalsᵀη close to the direction; only a guess, but ≥ 0."""
    lengths = _lengths(polytope.normals)
    units = _units(polytope.normals, lengths)
    near = polytope.offsets / lengths - units @ point <= 1e-9 * polytope.diameter_upper()
    size, weights = float(np.abs(direction).max()), np.zeros(len(units))
    if near.any() and size > 0:
        try:
            weights[near] = nnls(units[near].T, direction / size)[0]
        except RuntimeError:  # too many iterations
            return weights
    guess = weights * size / lengths
    return np.where(np.isfinite(guess), np.maximum(guess, 0.0), 0.0)


def _exact_localised(local: Localised, sharp: bool) -> _ExactSet:
    """For every ν, σ(u) ≤ σ_base(u − ν) + σ_ball(ν); tight for the part ν of u that is normal to the ball."""
    base, ball = _exact_set(local.base, sharp=sharp), _exact_set(local.ball)

    def guess(u: arb_mat, y: arb_mat) -> arb_mat:
        if sharp:
            return _column(ball_part(local, _midpoints(u), _midpoints(y)))
        with np.errstate(all="ignore"):
            part = local.ball_parts(_floats(u))
        return _exact(np.where(np.isfinite(part), part, 0.0))

    def support_gap(u: arb_mat, y: arb_mat) -> arb:
        part = guess(u, y)
        split = base.support_gap(u - part, y) + ball.support_gap(part, y)
        return _least([split, base.support_gap(u, y), ball.support_gap(u, y)])

    return _ExactSet(lambda y: base.contains(y) and ball.contains(y), support_gap)


def _definite_shift(matrix: FloatArray) -> float:
    """A δ ≥ 0, as small as elimination finds one, for which matrix + δI is certainly positive semidefinite."""
    size, shift = float(np.abs(matrix).max()), 0.0
    if not size:
        return 0.0
    with ctx.workprec(128):
        while not _is_definite(_exact(matrix).table(), arb(shift)):
            shift = max(16 * shift, 2.0**-100 * size)
    return shift


def _is_definite(rows: list[list[arb]], shift: arb) -> bool:
    """Whether elimination finds only pivots that are certainly positive in rows + shift·I."""
    for k, row in enumerate(rows):
        pivot = row[k] + shift
        if not pivot > 0:
            return False
        for below in rows[k + 1 :]:
            factor = below[k] / pivot
            below[k + 1 :] = [a - factor * b for a, b in zip(below[k + 1 :], row[k + 1 :], strict=True)]
    return True


def _exact(array: FloatArray) -> arb_mat:
    """A matrix, or a vector as one column."""
    return arb_mat(len(array), array.size // len(array), array.ravel().tolist())


def _column(entries: Iterable[Any]) -> arb_mat:
    """The column of these numbers of mpmath, without rounding."""
    balls = [arb(a) for a in entries]
    return arb_mat(len(balls), 1, balls)


def _midpoints(column: arb_mat) -> Any:
    return np.array([mpmath.mpf(a._mpf_) for a in column.entries()], dtype=object)


def _floats(column: arb_mat) -> FloatArray:
    return np.array([float(a) for a in column.entries()])


def _dot(left: arb_mat, right: arb_mat) -> arb:
    return (left.transpose() * right)[0, 0]


def _squared(column: arb_mat) -> arb:
    return _dot(column, column)


def _length_upper(column: arb_mat) -> arb:
    return _squared(column).upper().sqrt()


def _least(bounds: list[arb]) -> arb:
    return reduce(arb.min, bounds)


def _float_upper(ball: arb) -> float:
    """The least float that is certainly not below the ball, or one close above it; inf if the ball is not finite."""
    upper = ball.upper()
    number = float(upper)
    while math.isfinite(number) and not upper <= arb(number):
        number = math.nextafter(number, math.inf)
    return number if math.isfinite(number) else math.inf
