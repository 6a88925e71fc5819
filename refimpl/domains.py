"""Closed convex domains W: projection, membership, support function, size.

All of them are bounded and have interior points.  They keep three promises.

- Projection lands in the set.  Where rounding could leave a result outside, it is pulled inward by a few units in the
  last place, so that `contains` holds however the points are batched.  Points of the set come back unchanged.
- `support`, `diameter_upper` and `max_norm_from` are rounded outward: they are never below the true value.
- No square overflows.  A set's coordinates and sizes are at most 1e50, its sizes at least 1e-50, points at most 1e70;
  the rest is refused.  Directions may be any finite vectors; a support value too large for a float is inf.

Methods that take points or directions accept one of shape (d,) or a batch of shape (n, d) and answer in kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog, nnls
from scipy.spatial import HalfspaceIntersection, QhullError
from scipy.spatial.distance import pdist

from tailproof.refimpl.active_sets import Facets, Sets, far_weights, nearest_of_many
from tailproof.refimpl.exact_projection import nearest_with_weights
from tailproof.refimpl.validation import FloatArray, InputError, between, matrix, nonnegative, vector, whole

BoolArray = NDArray[np.bool_]

EPS = float(np.finfo(np.float64).eps)
LARGEST_SET = 1e50
_FARTHEST = 2.0**40  # the same in exact arithmetic
_FAR = 1e4  # sizes of a polytope from which the nearest point is about where a direction is largest
LARGEST_POINT = 1e70


@runtime_checkable
class Domain(Protocol):
    """A bounded closed convex set with interior points."""

    @property
    def dimension(self) -> int:
        """The number of coordinates."""

    @property
    def diameter_is_exact(self) -> bool:
        """Whether `diameter_upper` is the diameter itself (up to outward rounding), not only a bound."""

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> BoolArray:
        """Which points satisfy the defining inequalities, each allowed an excess of `tolerance`."""

    def surely_contains(self, points: ArrayLike) -> BoolArray:
        """Which points lie in the set in exact arithmetic, as far as floats can prove it (False within rounding of the edge)."""

    def project(self, points: ArrayLike) -> FloatArray:
        """The nearest points of the set in Euclidean norm."""

    def support(self, directions: ArrayLike) -> FloatArray:
        """σ_W(u) = max over w in W of ⟨u, w⟩, rounded outward."""

    def support_point(self, direction: ArrayLike) -> FloatArray:
        """A point of W where ⟨direction, w⟩ is largest (up to rounding)."""

    def diameter_upper(self) -> float:
        """Upper bound on the largest distance between two points of W."""

    def max_norm_from(self, point: ArrayLike) -> float:
        """Upper bound on the largest distance from `point` to a point of W."""

    def interior_point(self) -> FloatArray:
        """A point strictly inside W."""

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        """W as a list of constraints on a cvxpy variable."""


# ---------------------------------------------------------------------------------------------------- shared pieces


def _read_only(array: FloatArray) -> FloatArray:
    copy = np.array(array, dtype=np.float64, order="C")
    copy.setflags(write=False)
    return copy


def _in_range(name: str, array: FloatArray, largest: float) -> FloatArray:
    if array.size and not max(array.max(), -array.min()) <= largest:
        raise InputError(f"{name}: has an entry of size {np.abs(array).max():g}; at most {largest:g} is allowed")
    return array


def _coordinates(name: str, value: ArrayLike, *, size: int | None = None) -> FloatArray:
    """A read-only copy of a vector with at least one entry, none too large."""
    array = _in_range(name, vector(name, value, size=size), LARGEST_SET)
    if array.size == 0:
        raise InputError(f"{name}: is empty; at least one coordinate is needed")
    return _read_only(array)


def _size(name: str, value: Any) -> float:
    return between(name, value, 1 / LARGEST_SET, LARGEST_SET)


def _rows(name: str, value: ArrayLike, dimension: int) -> FloatArray:
    """One vector or a batch, as the rows of a contiguous matrix."""
    if np.ndim(value) == 1:
        return np.ascontiguousarray(vector(name, value, size=dimension))[np.newaxis]
    return np.ascontiguousarray(matrix(name, value, columns=dimension))


def _points(value: ArrayLike, dimension: int) -> FloatArray:
    return _in_range("points", _rows("points", value, dimension), LARGEST_POINT)


def _blocks(count: int, dimension: int) -> Iterator[slice]:
    """Pieces of a batch small enough for temporary arrays to stay in the cache."""
    length = max(1, 2**15 // dimension)
    return (slice(start, start + length) for start in range(0, count, length))


def _direction(value: ArrayLike, dimension: int) -> FloatArray:
    """A direction, rescaled by a power of two to a largest entry of about 1; 0 stays 0."""
    row = vector("direction", value, size=dimension)
    return np.asarray(np.ldexp(row, -np.frexp(np.abs(row).max())[1]))


def _like(points: ArrayLike, by_row: NDArray[Any]) -> NDArray[Any]:
    """Drop the row axis again if a single point was given."""
    return np.asarray(by_row[0]) if np.ndim(points) == 1 else by_row


def _norms(rows: FloatArray) -> FloatArray:
    """Euclidean norms of the rows, to a relative error below (columns + 4)·EPS."""
    norms: FloatArray = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    tiny = norms < 1e-140
    if tiny.any():  # their squares may have underflowed; a power of two rescales without error
        scaled = rows[tiny] * 2.0**600
        norms[tiny] = np.sqrt(np.einsum("ij,ij->i", scaled, scaled)) * 2.0**-600
    return norms


def _norm(single: FloatArray) -> float:
    return float(_norms(np.ascontiguousarray(single)[np.newaxis])[0])


def _outward(value: float, dimension: int) -> float:
    """Enlarge a non-negative result of a few sums over `dimension` terms beyond its rounding error."""
    return value * (1 + (8 * dimension + 32) * EPS)


# The amount by which each row exceeds the defining inequality, plus so many times a bound on its own rounding error.
Excess = Callable[[FloatArray, float], FloatArray]


def _pulled_inside(rows: FloatArray, anchor: FloatArray, excess: Excess) -> FloatArray:
    """Move rows towards the anchor until they are inside whatever the rounding; a row that already is stays."""
    step = (anchor.size + 4) * EPS / 2
    outside = np.flatnonzero(excess(rows, 1.0) > 0)
    while outside.size and step < 1:
        step = min(1.0, 2 * step)
        rows[outside] = anchor + (1 - step) * (rows[outside] - anchor)
        outside = outside[excess(rows[outside], 1.0) > 0]
    return rows


def _pulled_point(point: FloatArray, anchor: FloatArray, excess: Excess) -> FloatArray:
    return np.asarray(_pulled_inside(point[np.newaxis].copy(), anchor, excess)[0])


def _contains(points: ArrayLike, tolerance: float, dimension: int, excess: Excess) -> BoolArray:
    inside = excess(_points(points, dimension), 0.0) <= nonnegative("tolerance", tolerance)
    return _like(points, inside)


def _surely_contains(points: ArrayLike, dimension: int, excess: Excess) -> BoolArray:
    return _like(points, excess(_points(points, dimension), 1.0) <= 0)


def _project(
    points: ArrayLike, anchor: FloatArray, excess: Excess, nearest: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Apply `nearest` to the rows outside and make sure that it lands inside."""
    rows = _points(points, anchor.size).copy()
    if len(rows) == 1:  # the same without the machinery for many
        return _like(points, _pulled_inside(nearest(rows), anchor, excess) if excess(rows, 0.0)[0] > 0 else rows)
    for block in _blocks(*rows.shape):
        part = rows[block]
        outside = excess(part, 0.0) > 0
        if outside.any():
            part[outside] = _pulled_inside(nearest(part[outside]), anchor, excess)
    return _like(points, rows)


def _support(directions: ArrayLike, dimension: int, of_rows: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Apply `of_rows`, which is positively homogeneous, to directions that are neither too large nor too small."""
    rows = _rows("directions", directions, dimension)
    sizes = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    powers = np.where((sizes > LARGEST_SET) | (sizes < 1 / LARGEST_SET), np.frexp(sizes)[1], 0)
    if powers.any():
        rows = np.ldexp(rows, -powers[:, np.newaxis])
    values = np.empty(len(rows))
    for block in _blocks(*rows.shape):
        values[block] = of_rows(rows[block])
    with np.errstate(over="ignore"):
        values = np.ldexp(values, powers)
    return _like(directions, np.maximum(values, -np.finfo(np.float64).max))


def secular_root(numerators: FloatArray, shifts: FloatArray) -> FloatArray:
    """For each row the least t ≥ 0 with φ(t) = ‖numerators/(shifts + t)‖ ≤ 1, where all shifts are ≥ 0.

    1/φ is concave and increasing, so Newton's method on 1/φ(t) = 1 climbs to the root from any point left of it, and
    |numerator| − shift is left of it for every term.
    """
    live = numerators != 0
    roots: FloatArray = np.maximum(np.abs(numerators) - shifts, 0.0).max(axis=1)
    for _ in range(100):
        denominators = shifts + roots[:, np.newaxis]
        terms = np.divide(numerators, denominators, out=np.zeros_like(numerators), where=live)
        slopes = np.divide(terms * terms, denominators, out=np.zeros_like(terms), where=live).sum(axis=1)
        phi = _norms(terms)
        rising = phi > 1
        steps = np.divide(phi * phi * (phi - 1), slopes, out=np.zeros_like(phi), where=rising)
        if not (steps > EPS * roots).any():
            break
        roots = roots + steps
    return roots


# -------------------------------------------------------------------------------------------------------- the sets


@dataclass(frozen=True, eq=False)
class Ball:
    """{w : ‖w − center‖₂ ≤ radius}."""

    center: FloatArray
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", _coordinates("center", self.center))
        object.__setattr__(self, "radius", _size("radius", self.radius))

    @property
    def dimension(self) -> int:
        return self.center.size

    @property
    def diameter_is_exact(self) -> bool:
        return True

    def _excess(self, rows: FloatArray, roundings: float) -> FloatArray:
        return _norms(rows - self.center) - self.radius * (1 - roundings * (self.dimension + 4) * EPS)

    def _nearest(self, rows: FloatArray) -> FloatArray:
        offsets = rows - self.center
        inner_radius = self.radius * (1 - 2 * (self.dimension + 4) * EPS)
        return self.center + offsets * (inner_radius / _norms(offsets))[:, np.newaxis]

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> BoolArray:
        return _contains(points, tolerance, self.dimension, self._excess)

    def surely_contains(self, points: ArrayLike) -> BoolArray:
        # The computed norm errs by less than (d/4 + 2)·EPS, relatively: `_excess` allows (d + 4)·EPS.
        return _surely_contains(points, self.dimension, self._excess)

    def project(self, points: ArrayLike) -> FloatArray:
        return _project(points, self.center, self._excess, self._nearest)

    def support(self, directions: ArrayLike) -> FloatArray:
        return _support(directions, self.dimension, self._support_of_rows)

    def _support_of_rows(self, rows: FloatArray) -> FloatArray:
        norms = _norms(rows)
        slack = (2 * self.dimension + 16) * EPS * norms * (_norm(self.center) + self.radius)
        return rows @ self.center + self.radius * norms + slack

    def support_point(self, direction: ArrayLike) -> FloatArray:
        row = _direction(direction, self.dimension)
        length = _norm(row)
        point = self.center + (self.radius / length) * row if length else self.center
        return _pulled_point(point, self.center, self._excess)

    def diameter_upper(self) -> float:
        return 2 * self.radius

    def max_norm_from(self, point: ArrayLike) -> float:
        row = _coordinates("point", point, size=self.dimension)
        return _outward(_norm(row - self.center) + self.radius, self.dimension)

    def interior_point(self) -> FloatArray:
        return self.center

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        import cvxpy

        return [cvxpy.norm(variable - self.center, 2) <= self.radius]


def unit_ball(dimension: int) -> Ball:
    """The ball of radius 1 around the origin."""
    return Ball(np.zeros(whole("dimension", dimension, least=1)), 1.0)


@dataclass(frozen=True, eq=False)
class Box:
    """{w : lower ≤ w ≤ upper}, coordinate by coordinate."""

    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        lower = _coordinates("lower", self.lower)
        upper = _coordinates("upper", self.upper, size=lower.size)
        if not (lower < upper).all():
            where = int(np.argmin(lower < upper))
            raise InputError(f"lower[{where}] = {lower[where]:g}: must be < upper[{where}] = {upper[where]:g}")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def dimension(self) -> int:
        return self.lower.size

    @property
    def diameter_is_exact(self) -> bool:
        return True

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> BoolArray:
        rows = _points(points, self.dimension)
        slack = nonnegative("tolerance", tolerance)
        inside = (rows >= self.lower - slack) & (rows <= self.upper + slack)
        return _like(points, np.asarray(inside.all(axis=1)))

    def surely_contains(self, points: ArrayLike) -> BoolArray:
        return self.contains(points)  # comparisons of floats are exact

    def project(self, points: ArrayLike) -> FloatArray:
        return _like(points, np.clip(_points(points, self.dimension), self.lower, self.upper))

    def support(self, directions: ArrayLike) -> FloatArray:
        return _support(directions, self.dimension, self._support_of_rows)

    def _support_of_rows(self, rows: FloatArray) -> FloatArray:
        values = np.maximum(rows, 0) @ self.upper + np.minimum(rows, 0) @ self.lower
        return values + (2 * self.dimension + 16) * EPS * _norms(rows) * (_norm(self.lower) + _norm(self.upper))

    def support_point(self, direction: ArrayLike) -> FloatArray:
        return np.where(_direction(direction, self.dimension) >= 0, self.upper, self.lower)

    def diameter_upper(self) -> float:
        return _outward(_norm(self.upper - self.lower), self.dimension)

    def max_norm_from(self, point: ArrayLike) -> float:
        row = _coordinates("point", point, size=self.dimension)
        return _outward(_norm(np.maximum(np.abs(row - self.lower), np.abs(row - self.upper))), self.dimension)

    def interior_point(self) -> FloatArray:
        return self.lower / 2 + self.upper / 2

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        return [variable >= self.lower, variable <= self.upper]


@dataclass(frozen=True, eq=False)
class L1Ball:
    """{w : ‖w − center‖₁ ≤ radius}."""

    center: FloatArray
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", _coordinates("center", self.center))
        object.__setattr__(self, "radius", _size("radius", self.radius))

    @property
    def dimension(self) -> int:
        return self.center.size

    @property
    def diameter_is_exact(self) -> bool:
        return True

    def _excess(self, rows: FloatArray, roundings: float) -> FloatArray:
        sums: FloatArray = np.abs(rows - self.center).sum(axis=1)
        return sums - self.radius * (1 - roundings * (self.dimension + 4) * EPS)

    def _nearest(self, rows: FloatArray) -> FloatArray:
        """Soft thresholding.  Everything is measured from the largest entry: the entries that survive lie within
        `radius` of it, so that far points lose no digits."""
        offsets = rows - self.center
        sizes = np.abs(offsets)
        sizes -= sizes.max(axis=1, keepdims=True)
        descending = -np.sort(-sizes, axis=1)
        counts = np.arange(1, self.dimension + 1)
        thresholds = (np.cumsum(descending, axis=1) - self.radius) / counts
        survivors = (descending > thresholds).sum(axis=1, keepdims=True)
        threshold = np.take_along_axis(thresholds, survivors - 1, axis=1)
        return self.center + np.copysign(np.maximum(sizes - threshold, 0), offsets)

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> BoolArray:
        return _contains(points, tolerance, self.dimension, self._excess)

    def surely_contains(self, points: ArrayLike) -> BoolArray:
        # The computed sum errs by less than (d/2 + 1)·EPS, relatively: `_excess` allows (d + 4)·EPS.
        return _surely_contains(points, self.dimension, self._excess)

    def project(self, points: ArrayLike) -> FloatArray:
        return _project(points, self.center, self._excess, self._nearest)

    def support(self, directions: ArrayLike) -> FloatArray:
        return _support(directions, self.dimension, self._support_of_rows)

    def _support_of_rows(self, rows: FloatArray) -> FloatArray:
        slack = (2 * self.dimension + 16) * EPS * _norms(rows) * (_norm(self.center) + self.radius)
        return np.asarray(rows @ self.center + self.radius * np.abs(rows).max(axis=1) + slack)

    def support_point(self, direction: ArrayLike) -> FloatArray:
        row = _direction(direction, self.dimension)
        point = self.center.copy()
        largest = np.argmax(np.abs(row))
        point[largest] += np.copysign(self.radius, row[largest])
        return _pulled_point(point, self.center, self._excess)

    def diameter_upper(self) -> float:
        return 2 * self.radius

    def max_norm_from(self, point: ArrayLike) -> float:
        """The farthest point is a vertex: the centre moved by `radius` away along the largest coordinate."""
        offset = np.abs(_coordinates("point", point, size=self.dimension) - self.center)
        offset[np.argmax(offset)] += self.radius
        return _outward(_norm(offset), self.dimension)

    def interior_point(self) -> FloatArray:
        return self.center

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        import cvxpy

        return [cvxpy.norm(variable - self.center, 1) <= self.radius]


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """{w : (w − center)ᵀ shape⁻¹ (w − center) ≤ 1}, shape symmetric positive definite.

    The set is represented by the computed eigenvectors `basis` and semi-axes `axes`, with
    shape = basis·diag(axes²)·basisᵀ up to rounding; `tolerance` of `contains` is an excess of ‖(w−center) basis/axes‖.
    """

    center: FloatArray
    shape: FloatArray
    axes: FloatArray = field(init=False, repr=False)
    basis: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        center = _coordinates("center", self.center)
        shape = matrix("shape", self.shape, columns=center.size)
        if shape.shape[0] != center.size:
            raise InputError(f"shape: has {shape.shape[0]} rows; must have {center.size}")
        if np.abs(shape - shape.T).max() > 1e-12 * np.abs(shape).max():
            raise InputError("shape: must be symmetric")
        eigenvalues, basis = np.linalg.eigh(shape / 2 + shape.T / 2)
        least, most = float(eigenvalues[0]), float(eigenvalues[-1])
        if not least > 1e-12 * most:
            raise InputError(
                f"shape: has eigenvalues from {least:g} to {most:g}; must be positive definite, their ratio above 1e-12"
            )
        _size("shape: the shortest semi-axis", math.sqrt(least))
        _size("shape: the longest semi-axis", math.sqrt(most))
        for name, value in (("center", center), ("shape", shape), ("axes", np.sqrt(eigenvalues)), ("basis", basis)):
            object.__setattr__(self, name, _read_only(value))

    @property
    def dimension(self) -> int:
        return self.center.size

    @property
    def diameter_is_exact(self) -> bool:
        return True

    def _excess(self, rows: FloatArray, roundings: float) -> FloatArray:
        offsets = rows - self.center
        scaled = (offsets @ self.basis) / self.axes
        gauge = _norms(scaled)
        if roundings == 0:
            return gauge - 1
        # An error δ in every coordinate of the product changes the gauge by at most δ·Σ|scaled|/axes / gauge.
        delta = (self.dimension + 8) * EPS * _norms(offsets)
        change = delta * (np.abs(scaled) / self.axes).sum(axis=1) / np.maximum(gauge, 0.5)
        change += (self.dimension + 8) * EPS * gauge
        return np.asarray(gauge + roundings * change - 1)

    def pulled_inside(self, rows: FloatArray) -> FloatArray:
        """The rows, of which some may be outside by rounding, moved into the set in place."""
        return _pulled_inside(rows, self.center, self._excess)

    def _nearest(self, rows: FloatArray) -> FloatArray:
        """w = basis·axes²y/(axes² + t) for y the offset in the basis; t from the secular equation."""
        longest = self.axes[-1]
        axes = self.axes / longest
        offsets = ((rows - self.center) @ self.basis) / longest
        roots = secular_root(offsets * axes, axes * axes)
        nearest = offsets * (axes * axes) / (axes * axes + roots[:, np.newaxis])
        return np.asarray(self.center + longest * (nearest @ self.basis.T))

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> BoolArray:
        return _contains(points, tolerance, self.dimension, self._excess)

    def surely_contains(self, points: ArrayLike) -> BoolArray:
        # ‖s + e‖ ≤ ‖s‖ + ⟨s, e⟩/‖s‖ + ‖e‖²/2‖s‖, ‖s‖ ≥ ½ (a smaller gauge leaves room of ½).  `_excess` allows for the second
        # term, and for a relative error of the gauge of which at most half is needed; only a very flat set needs more.
        last = float(np.square((self.dimension + 8) * EPS * self.axes[-1] / self.axes).sum())
        more = max(0.0, last - (self.dimension + 8) * EPS / 4)
        return _surely_contains(points, self.dimension, lambda rows, roundings: self._excess(rows, roundings) + more)

    def project(self, points: ArrayLike) -> FloatArray:
        return _project(points, self.center, self._excess, self._nearest)

    def support(self, directions: ArrayLike) -> FloatArray:
        return _support(directions, self.dimension, self._support_of_rows)

    def _support_of_rows(self, rows: FloatArray) -> FloatArray:
        slack = (8 * self.dimension + 32) * EPS * _norms(rows) * (_norm(self.center) + float(self.axes[-1]))
        return rows @ self.center + _norms((rows @ self.basis) * self.axes) + slack

    def support_point(self, direction: ArrayLike) -> FloatArray:
        row = _direction(direction, self.dimension)
        scaled = (row @ self.basis) * self.axes
        length = _norm(scaled)
        point = self.center + self.basis @ (scaled / length * self.axes) if length else self.center
        return _pulled_point(point, self.center, self._excess)

    def diameter_upper(self) -> float:
        return _outward(2 * float(self.axes[-1]), self.dimension)

    def max_norm_from(self, point: ArrayLike) -> float:
        """Exact.  With b the offset of the centre in the basis and a the axes, every τ > max a² gives the upper bound
        max ‖w − point‖² ≤ τ·(1 + Σ b²/(τ − a²)) by Lagrangian duality, and the root of the secular equation
        Σ a²b²/(τ − a²)² = 1 (or max a², if that sum is smaller there) makes it tight."""
        longest = float(self.axes[-1])
        axes = self.axes / longest
        offset = (self.center - _coordinates("point", point, size=self.dimension)) @ self.basis / longest
        gaps = (1 - axes) * (1 + axes)
        root = secular_root((axes * offset)[np.newaxis], gaps)[0]
        terms = np.divide(offset * offset, gaps + root, out=np.zeros_like(offset), where=offset != 0)
        return _outward(longest * math.sqrt((1 + root) * (1 + terms.sum())), self.dimension)

    def interior_point(self) -> FloatArray:
        return self.center

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        import cvxpy

        return [cvxpy.norm((self.basis / self.axes).T @ (variable - self.center), 2) <= 1]


# ------------------------------------------------------------------------------------------------------- polytopes


@dataclass(frozen=True, eq=False)
class _LocalForm:
    """A polytope in its own coordinates y = (w − centre)/scale: {y : unit y ≤ slack}, rows of length 1, slack > 0."""

    centre: FloatArray
    scale: float
    unit: FloatArray
    slack: FloatArray
    kept: NDArray[np.intp]  # the facets of the given set that these are
    box_lower: FloatArray
    box_upper: FloatArray
    reach: float  # bound on ‖y‖
    vertices: FloatArray | None
    vertex_error: float  # bound on the distance between a computed and a true vertex

    @cached_property
    def facets(self) -> Facets:
        return Facets(self.unit, self.slack)


def _linear_program(cost: FloatArray, unit: FloatArray, slack: FloatArray, bounds: Any = (None, None)) -> Any:
    tolerances = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(cost, A_ub=unit, b_ub=slack, bounds=bounds, method="highs", options=tolerances)


def _inscribed_ball(unit: FloatArray, offsets: FloatArray) -> tuple[FloatArray, float]:
    """Centre and radius of a largest ball in {unit x ≤ offsets}, the radius negative if the set is empty.  It is cut
    off at 1, which a bounded set with offsets ≤ 1, or inside the unit ball, does not exceed."""
    dimension = unit.shape[1]
    extended = np.hstack([unit, np.ones((len(unit), 1))])
    bounds = [(None, None)] * dimension + [(None, 1.0)]
    result = _linear_program(-np.eye(dimension + 1)[-1], extended, offsets, bounds)
    if result.status != 0:
        raise InputError(f"normals, offsets: the polytope's inscribed ball was not found ({result.message})")
    return result.x[:-1], float(result.x[-1])


def _bounding_box(unit: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Box around {y : unit y ≤ slack}, proved by linear-programming duality.

    If e = unitᵀη + ρ with η ≥ 0, then ⟨e, y⟩ ≤ ⟨slack, η⟩ + ‖ρ‖₁·max|y|; the largest such bound, solved for max|y|,
    bounds all coordinates, whatever the solver's accuracy.
    """
    dimension = unit.shape[1]
    directions = np.vstack([-np.eye(dimension), np.eye(dimension)])
    values, residuals = np.empty(2 * dimension), np.empty(2 * dimension)
    for i, direction in enumerate(directions):
        result = _linear_program(-direction, unit, slack)
        if result.status != 0:
            raise InputError(f"normals, offsets: the polytope must be bounded ({result.message})")
        weights = np.maximum(-result.ineqlin.marginals, 0)
        values[i] = _outward(slack @ weights, len(unit))
        residuals[i] = np.abs(direction - weights @ unit).sum() + (len(unit) + 4) * EPS * (1 + weights.sum())
    if residuals.max() > 0.5:
        raise InputError("normals, offsets: the polytope is too close to unbounded")
    farthest = values.max() / (1 - residuals.max())
    widths = values + residuals * farthest
    return -widths[:dimension], widths[dimension:]


def _vertices(
    unit: FloatArray, slack: FloatArray, box_lower: FloatArray, box_upper: FloatArray
) -> tuple[FloatArray | None, float]:
    """The vertices of a small polytope and a bound on their error; None if there are too many or they do not check.

    A computed vertex y with active rows N misses the true one by at most ‖N y − slack‖ / σ_min(N).
    """
    count, dimension = unit.shape
    if dimension == 1:
        return np.array([box_lower, box_upper]), 0.0
    if dimension > 6 or count > 30:
        return None, math.inf
    try:
        corners = HalfspaceIntersection(np.column_stack([unit, -slack]), np.zeros(dimension)).intersections
    except QhullError:
        return None, math.inf
    reach = _norm(np.maximum(-box_lower, box_upper))
    spans_box = np.allclose(
        np.vstack([corners.min(axis=0), corners.max(axis=0)]), [box_lower, box_upper], rtol=0, atol=1e-9 * reach
    )
    if not (np.isfinite(corners).all() and spans_box):
        return None, math.inf
    distances = slack - corners @ unit.T
    error = 0.0
    for distance in distances:
        active = np.abs(distance) <= 1e-10 * reach
        spread = np.linalg.svd(unit[active], compute_uv=False) if active.sum() >= dimension else np.zeros(1)
        if distance.min() < -1e-10 * reach or spread[-1] < 1e-6:
            return None, math.inf
        residual = float(np.linalg.norm(distance[active])) + (4 * dimension + 16) * EPS * (reach + slack.max())
        error = max(error, residual / spread[-1])
    return corners, error


def _local_form(normals: FloatArray, offsets: FloatArray) -> _LocalForm:
    """Centre and scale are found together: as long as the set is small in the present scale, zoom in."""
    lengths = _norms(normals)
    unit, distances, kept = normals / lengths[:, np.newaxis], offsets / lengths, np.arange(len(lengths))
    centre, scale = np.zeros(normals.shape[1]), float(np.abs(distances).max())
    if scale == 0:
        raise InputError("offsets: are all 0; such a polytope is unbounded or has no strictly interior point")
    _size("offsets: the largest distance of a facet from the origin", scale)
    while True:
        shift, radius = _inscribed_ball(unit, (distances - unit @ centre) / scale)
        if radius < 1e-9:
            raise InputError(
                "normals, offsets: the polytope must have a strictly interior point, at least 1e-9 of the largest "
                f"|offset|/‖normal‖ away from every facet; the best is {radius:g} of it"
            )
        centre = centre + scale * shift
        slack = (distances - unit @ centre) / scale
        box_lower, box_upper = _bounding_box(unit, slack)
        reach = _outward(_norm(np.maximum(-box_lower, box_upper)), centre.size)
        near = slack <= 2 * reach  # other facets do not touch the set, whatever the rounding
        unit, distances, slack, kept = unit[near], distances[near], slack[near], kept[near]
        if reach > 0.1:
            break
        scale *= reach
    if radius < 1e-6 * reach:
        raise InputError(f"normals, offsets: the polytope is too thin, {radius:g} of its size; at least 1e-6 is needed")
    vertices, vertex_error = _vertices(unit, slack, box_lower, box_upper)
    # The given set is {unit y ≤ slack} up to rounding errors e of slack, so it lies in 1 + e/min(slack) times that one.
    error = (centre.size + 8) * EPS * (reach + 2 * _norm(centre) / scale)
    swell = 1 + error / float(slack.min())
    vertex_error += (swell - 1) * reach
    return _LocalForm(
        centre, scale, unit, slack, kept, swell * box_lower, swell * box_upper, swell * reach, vertices, vertex_error
    )


def _into(point: FloatArray, unit: FloatArray, slack: FloatArray) -> FloatArray:
    """Shrink a point of local coordinates towards the origin until it satisfies unit y ≤ slack."""
    return point / max(1.0, float((unit @ point / slack).max()))


def _least_distance(target: FloatArray, unit: FloatArray, slack: FloatArray) -> FloatArray:
    """Lawson and Hanson's least-distance programming: the nearest point of {unit y ≤ slack}, up to its rounding."""
    violations = unit @ target - slack
    worst = violations.max()
    columns = np.vstack([-unit.T, violations / worst])
    columns /= np.sqrt((columns * columns).sum(axis=0))
    goal = np.zeros(target.size + 1)
    goal[-1] = 1.0
    residual = columns @ nnls(columns, goal)[0] - goal
    if residual[-1] == 0:
        return np.zeros_like(target)
    return np.asarray(target - worst * residual[:-1] / residual[-1])


def _nearest_in_polytope(target: FloatArray, unit: FloatArray, slack: FloatArray) -> FloatArray:
    """Active-set projection onto {unit y ≤ slack}, verified by its optimality conditions.

    From a feasible point y the residual target − y is split into a combination of active normals with weights ≥ 0 (a
    non-negative least-squares problem) and the rest, which is the steepest feasible way.  If nothing rests, y is
    optimal.  If the full way is free it leads to the optimum, otherwise to one more active constraint.  Where rounding keeps
    that from ending, exact arithmetic takes its place.
    """
    with suppress(ArithmeticError, RuntimeError):  # of nnls: too many steps
        return _by_active_sets(target, unit, slack)
    return nearest_with_weights(target, unit, slack)[0]


def _by_active_sets(target: FloatArray, unit: FloatArray, slack: FloatArray) -> FloatArray:
    if (unit @ target <= slack).all():
        return target
    point = _into(_least_distance(target, unit, slack), unit, slack)
    for _ in range(100 + 10 * len(unit)):
        residual = target - point
        distance = _norm(residual)
        if distance == 0:
            return point
        room = slack - unit @ point
        active = room <= 1e-13
        way = residual / distance
        if active.any():
            way = way - nnls(unit[active].T, way)[0] @ unit[active]
        if distance * _norm(way) <= 1e-13 * (1 + distance):
            return point
        speed = unit @ way
        ahead = ~active & (speed > 0)
        steps = room[ahead] / speed[ahead]
        point = _into(point + min(distance, steps.min(initial=math.inf)) * way, unit, slack)
    raise ArithmeticError("the projection onto the polytope did not meet its optimality conditions")


@dataclass(frozen=True, eq=False)
class Polytope:
    """{w : normals w ≤ offsets}, bounded and with a strictly interior point.

    The inscribed radius must be at least 1e-6 of the polytope's size and 1e-9 of the largest facet distance
    |offset|/‖normal‖ from the origin: thinner sets are beyond the linear-programming solver's accuracy.  Projection has
    an error of the order of 1e-13 times the distance moved plus the polytope's size.
    """

    normals: FloatArray
    offsets: FloatArray
    _form: _LocalForm = field(init=False, repr=False)

    def __post_init__(self) -> None:
        normals = _in_range("normals", matrix("normals", self.normals), LARGEST_SET)
        offsets = _coordinates("offsets", self.offsets, size=normals.shape[0])
        if normals.shape[1] == 0 or (_norms(normals) < 1 / LARGEST_SET).any():
            raise InputError(f"normals: every row must have a length of at least {1 / LARGEST_SET:g}")
        object.__setattr__(self, "normals", _read_only(normals))
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "_form", _local_form(normals, offsets))

    @property
    def dimension(self) -> int:
        return int(self.normals.shape[1])

    @property
    def diameter_is_exact(self) -> bool:
        return self._form.vertices is not None

    def _excess(self, rows: FloatArray, roundings: float) -> FloatArray:
        excess = rows @ self.normals.T - self.offsets
        if roundings:
            sizes = np.abs(rows) @ np.abs(self.normals).T + np.abs(self.offsets)
            excess += roundings * (self.dimension + 4) * EPS * sizes
        return np.asarray(excess.max(axis=1))

    def _nearest(self, rows: FloatArray, start: Sets | None = None) -> FloatArray:
        form = self._form
        targets = (rows - form.centre) / form.scale
        found = nearest_of_many(targets, form.facets, start)
        nearest = found.points
        for row in found.open_rows:
            nearest[row] = _nearest_in_polytope(targets[row], form.unit, form.slack)
        return form.centre + form.scale * nearest

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> BoolArray:
        return _contains(points, tolerance, self.dimension, self._excess)

    def surely_contains(self, points: ArrayLike) -> BoolArray:
        # Rounding loses less than half of (d + 4)·EPS of the sum of all absolute values, which `_excess` allows for too;
        # products that underflow lose less than `tiny`, where there are any.
        rows, tiny = _points(points, self.dimension), float(np.finfo(np.float64).tiny)
        sizes = np.abs(rows) @ np.abs(self.normals).T + np.abs(self.offsets)
        products = (rows != 0).astype(np.float64) @ (self.normals.T != 0)
        allowed = (self.dimension + 4) * EPS * sizes + np.where(products > 0, tiny, 0.0)
        return _like(points, np.asarray((rows @ self.normals.T - self.offsets + allowed <= 0).all(axis=1)))

    def project(self, points: ArrayLike) -> FloatArray:
        return _project(points, self._form.centre, self._excess, self._nearest)

    def nearest_from(self, rows: FloatArray, sets: Sets) -> FloatArray:
        """The nearest points, with guesses of the facets that hold them back."""
        points = rows.copy()
        outside = np.flatnonzero(self._excess(rows, 0.0) > 0)
        if outside.size:
            points[outside] = self.pulled_inside(self._nearest(rows[outside], sets[outside]))
        return points

    @property
    def facets(self) -> Facets:
        """In coordinates of its own, without facets that do not touch the set."""
        return self._form.facets

    @property
    def middle(self) -> FloatArray:
        """The origin of these coordinates ..."""
        return self._form.centre

    @property
    def scale(self) -> float:
        """... and their unit."""
        return self._form.scale

    def pulled_inside(self, rows: FloatArray) -> FloatArray:
        """The rows, of which some may be outside by rounding, moved into the set in place."""
        return _pulled_inside(rows, self._form.centre, self._excess)

    def _extreme_point(self, direction: FloatArray) -> FloatArray:
        """A vertex, in local coordinates, where ⟨direction, y⟩ is largest up to solver accuracy."""
        form = self._form
        if form.vertices is not None:
            return np.asarray(form.vertices[np.argmax(form.vertices @ direction)])
        result = _linear_program(-direction, form.unit, form.slack)
        if result.status != 0:  # the projection of a point far in that direction is as good
            return nearest_with_weights(_FARTHEST * form.reach * direction, form.unit, form.slack)[0]
        return np.asarray(result.x)

    def _local_support_upper(self, direction: FloatArray) -> float:
        """⟨slack, η⟩ + reach·‖direction − unitᵀη‖ with η ≥ 0: an upper bound for any η, tight for the multipliers of
        an extreme point."""
        form = self._form
        active = form.unit @ self._extreme_point(direction) >= form.slack - 1e-9
        weights = np.zeros(len(form.unit))
        try:
            weights[active] = nnls(form.unit[active].T, direction)[0]
        except RuntimeError:  # too many steps
            far = _FARTHEST * form.reach
            weights = nearest_with_weights(far * direction, form.unit, form.slack)[1] / far
        return float(self._weighted_bounds(direction[np.newaxis], weights[np.newaxis])[0])

    def _weighted_bounds(self, directions: FloatArray, weights: FloatArray) -> FloatArray:
        form = self._form
        rest = _norms(directions - weights @ form.unit)
        # Rounding of the sums, and of `slack` and `unit` as functions of the given normals and offsets.
        rounding = (self.dimension + len(form.unit) + 16) * EPS * (1 + weights.sum(axis=1))
        size = form.reach + 2 * _norm(form.centre) / form.scale
        return np.asarray(weights @ form.slack + form.reach * rest + size * rounding)

    def _local_supports_upper(self, directions: FloatArray) -> tuple[FloatArray, BoolArray]:
        """The same bound of many directions with the weights of far projections, and where it may be improved."""
        form = self._form
        weights, ends = far_weights(form.facets, np.zeros_like(directions), directions, _FAR * form.reach)
        bounds = self._weighted_bounds(directions, weights)
        return bounds, bounds - np.einsum("ij,ij->i", directions, ends) > 1e-11 * form.reach

    def facet_weights(self, directions: ArrayLike, points: ArrayLike) -> FloatArray:
        """Weights ≥ 0 of the normals that make up the directions u as far as these are normal to the set at its points y, for
        bounds of σ(u) − ⟨u, y⟩; where u is not normal there, at a point where ⟨u, ·⟩ is about largest."""
        form, rows = self._form, _rows("directions", directions, self.dimension)
        norms = _norms(rows)
        units = rows / np.where(norms > 0, norms, 1.0)[:, np.newaxis]
        local = (_points(points, self.dimension) - form.centre) / form.scale
        weights = np.zeros((len(rows), len(self.normals)))
        for block in _blocks(*rows.shape):
            weights[block, form.kept] = far_weights(form.facets, local[block], units[block], _FAR * form.reach)[0]
        return _like(directions, weights * norms[:, np.newaxis] / _norms(self.normals))

    def support(self, directions: ArrayLike) -> FloatArray:
        return _support(directions, self.dimension, self._support_of_rows)

    def _support_of_rows(self, rows: FloatArray) -> FloatArray:
        form = self._form
        norms = _norms(rows)
        units = rows / np.where(norms > 0, norms, 1.0)[:, np.newaxis]
        local, far_off = self._local_supports_upper(units)
        for row in np.flatnonzero(far_off):
            local[row] = min(local[row], self._local_support_upper(units[row]))
        slack = (4 * self.dimension + 32) * EPS * norms * (_norm(form.centre) + form.scale * (1 + form.reach))
        return np.asarray(rows @ form.centre + form.scale * norms * local + slack)

    def support_point(self, direction: ArrayLike) -> FloatArray:
        row = _direction(direction, self.dimension)
        length = _norm(row)
        if length == 0:
            return self.interior_point()
        point = self._form.centre + self._form.scale * self._extreme_point(row / length)
        return _pulled_point(point, self._form.centre, self._excess)

    def diameter_upper(self) -> float:
        """From the vertices in few dimensions, otherwise the diagonal of the bounding box."""
        form = self._form
        if form.vertices is None:
            width = _norm(form.box_upper - form.box_lower)
        else:
            width = float(pdist(form.vertices).max()) + 2 * form.vertex_error
        return _outward(form.scale * width, self.dimension)

    def max_norm_from(self, point: ArrayLike) -> float:
        """From the vertices in few dimensions, otherwise the farthest corner of the bounding box."""
        form = self._form
        local = (_coordinates("point", point, size=self.dimension) - form.centre) / form.scale
        if form.vertices is None:
            distance = _norm(np.maximum(local - form.box_lower, form.box_upper - local))
        else:
            distance = float(_norms(form.vertices - local).max()) + form.vertex_error
        return _outward(form.scale * distance, self.dimension)

    def interior_point(self) -> FloatArray:
        """The centre of a largest inscribed ball."""
        return self._form.centre

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        return [self.normals @ variable <= self.offsets]


# ---------------------------------------------------------------------------------------------------- localisation


@dataclass(frozen=True, eq=False)
class Localised:
    """base ∩ {w : ‖w − center‖₂ ≤ radius} with the centre in the base.

    Both the projection and the support function come from points P_base(center + t·v): their distance from the centre
    does not decrease in t, and the largest t that keeps it within the radius solves the problem.
    """

    base: Domain
    center: FloatArray
    radius: float
    ball: Ball = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.base, Domain):
            raise InputError(f"base = {self.base!r}: must be a domain")
        center = _coordinates("center", self.center, size=self.base.dimension)
        ball = Ball(center, self.radius)
        if not self.base.contains(center):
            raise InputError("center: must lie in the base domain")
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "radius", ball.radius)
        object.__setattr__(self, "ball", ball)

    @property
    def dimension(self) -> int:
        return self.center.size

    @property
    def diameter_is_exact(self) -> bool:
        return self.base.diameter_is_exact and self.base.max_norm_from(self.center) <= self.radius

    def contains(self, points: ArrayLike, tolerance: float = 0.0) -> BoolArray:
        return np.asarray(self.base.contains(points, tolerance) & self.ball.contains(points, tolerance))

    def surely_contains(self, points: ArrayLike) -> BoolArray:
        return np.asarray(self.base.surely_contains(points) & self.ball.surely_contains(points))

    def _at(self, times: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The points P_base(center + t·v), and how far they are outside the ball (slightly shrunk, for safety)."""
        points = self.base.project(self.center + times[:, np.newaxis] * directions)
        return points, _norms(points - self.center) - self.radius * (1 - (self.dimension + 4) * EPS)

    def _last_inside(self, directions: FloatArray, longest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """For each row v the largest t ≤ longest for which P_base(center + t·v) lies in the ball, and that point."""
        times = longest.copy()
        points, excess = self._at(times, directions)
        out = np.flatnonzero(excess > 0)
        if out.size:  # often the ball alone is in the way
            onto = self.ball.project(self.center + times[out, np.newaxis] * directions[out])
            alone = self.base.contains(onto)
            times[out[alone]], points[out[alone]] = self.radius / _norms(directions[out[alone]]), onto[alone]
            out = out[~alone]
        if out.size:
            times[out], points[out] = self._crossing(directions[out], times[out], excess[out])
        return times, points

    def _crossing(
        self, directions: FloatArray, longest: FloatArray, excess_high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Where P_base(center + t·v) leaves the ball: root search (interpolate, truncate, project: Oliveira and
        Takahashi 2020) in x = log(t/shortest), never slower than bisection by more than a step, kept on the inside."""
        # The projection moves no point of the base, so radius/‖v‖ is inside, unless rounding says otherwise.
        shortest = self.radius * (1 - 4 * (self.dimension + 4) * EPS) / _norms(directions)
        points, excess_low = self._at(shortest, directions)
        for _ in range(64):
            if not (excess_low > 0).any():
                break
            shortest = np.where(excess_low > 0, shortest / 2, shortest)
            points, excess_low = self._at(shortest, directions)
        too_coarse = excess_low > 0  # the floats around the centre do not resolve the ball
        points[too_coarse], excess_low[too_coarse] = self.center, -self.radius
        low, high = np.zeros_like(longest), np.log(np.maximum(longest / shortest, 1.0))
        width = high.copy()
        tolerance = 2 * EPS * (1 + width)
        allowed = np.ceil(np.log2(np.maximum(width / tolerance, 1.0))) + 1
        done = 0
        while (live := np.flatnonzero(high - low > 2 * tolerance)).size:
            a, b, below, above = low[live], high[live], excess_low[live], excess_high[live]
            middle = (a + b) / 2
            false = a - below * (b - a) / (above - below)
            side = np.sign(middle - false)
            shift = np.maximum(0.2 * (b - a) ** 2 / width[live], tolerance[live])
            trial = np.where(shift <= np.abs(middle - false), false + side * shift, middle)
            freedom = np.maximum(tolerance[live] * 2.0 ** (allowed[live] - done) - (b - a) / 2, 0.0)
            trial = np.where(np.abs(trial - middle) <= freedom, trial, middle - side * freedom)
            found, excess = self._at(shortest[live] * np.exp(trial), directions[live])
            inside = excess <= 0
            low[live[inside]], high[live[~inside]] = trial[inside], trial[~inside]
            excess_low[live[inside]], excess_high[live[~inside]] = excess[inside], excess[~inside]
            points[live[inside]] = found[inside]
            done += 1
        return shortest * np.exp(low), points

    def project_with_multiplier(self, points: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The projections p of the points z, and the multipliers μ ≥ 0 of the ball: p = P_base((z + μ·center)/(1+μ)),
        so that z − p − μ(p − center) is normal to the base at p."""
        rows = _points(points, self.dimension).copy()
        multipliers = np.zeros(len(rows))
        for block in _blocks(*rows.shape):
            part = rows[block]
            out = ~self.contains(part)
            if out.any():
                times, part[out] = self._last_inside(part[out] - self.center, np.ones(out.sum()))
                multipliers[block][out] = 1 / np.maximum(times, 1 / LARGEST_POINT) - 1
        return _like(points, rows), _like(points, multipliers)

    def project(self, points: ArrayLike) -> FloatArray:
        return self.project_with_multiplier(points)[0]

    def _extreme_points(self, units: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Points of largest ⟨u, w⟩, and the parts ν = μ(w − center) of u that are normal to the ball.

        The ray is followed to 1e12 times the size of the set; ending there costs less than 1e-12 of ⟨u, w⟩'s range.
        """
        size = min(self.radius, self.base.max_norm_from(self.center))
        times, points = self._last_inside(units, np.full(len(units), 1e12 * size))
        return points, (points - self.center) / np.maximum(times, 1 / LARGEST_POINT)[:, np.newaxis]

    def ball_parts(self, directions: ArrayLike) -> FloatArray:
        """The parts ν of the directions u that are normal to the ball where ⟨u, w⟩ is largest, up to rounding."""
        rows = _rows("directions", directions, self.dimension)
        norms = _norms(rows)
        units = rows / np.where(norms > 0, norms, 1.0)[:, np.newaxis]
        return _like(directions, norms[:, np.newaxis] * self._extreme_points(units)[1])

    def support(self, directions: ArrayLike) -> FloatArray:
        """σ(u) ≤ σ_base(u − ν) + ⟨ν, center⟩ + radius·‖ν‖ holds for every ν and is tight for the multiplier's ν."""
        return _support(directions, self.dimension, self._support_of_rows)

    def _support_of_rows(self, rows: FloatArray) -> FloatArray:
        norms = _norms(rows)
        units = rows / np.where(norms > 0, norms, 1.0)[:, np.newaxis]
        normals = self._extreme_points(units)[1]
        lengths = _norms(normals)
        dual = self.base.support(units - normals) + normals @ self.center + self.radius * lengths
        far = _norm(self.center) + self.radius
        dual += (2 * self.dimension + 16) * EPS * far * (1 + lengths + _norms(units - normals))
        best = np.minimum(dual, np.minimum(self.base.support(units), self.ball.support(units)))
        return norms * (best + (2 * self.dimension + 16) * EPS * (np.abs(best) + far))

    def support_point(self, direction: ArrayLike) -> FloatArray:
        row = _direction(direction, self.dimension)
        length = _norm(row)
        if length == 0:
            return self.interior_point()
        return np.asarray(self._extreme_points((row / length)[np.newaxis])[0][0])

    def diameter_upper(self) -> float:
        return min(self.base.diameter_upper(), self.ball.diameter_upper())

    def max_norm_from(self, point: ArrayLike) -> float:
        return min(self.base.max_norm_from(point), self.ball.max_norm_from(point))

    def interior_point(self) -> FloatArray:
        """On the way from the centre, which may lie on the base's boundary, to an interior point of the base."""
        way = self.base.interior_point() - self.center
        length = _norm(way)
        share = 1.0 if 2 * length <= self.radius else self.radius / (2 * length)
        return self.center + share * way

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        return self.base.cvxpy_constraints(variable) + self.ball.cvxpy_constraints(variable)


# ------------------------------------------------------------------------------------------------ the command line


def parse_domain(text: str, dimension: int) -> Domain:
    """'ball:RADIUS', 'box:LOW,HIGH' or 'l1:RADIUS', centred at the origin where that applies."""
    size = whole("dimension", dimension, least=1)
    kind, _, arguments = text.partition(":")
    try:
        numbers = [float(part) for part in arguments.split(",")]
    except ValueError:
        numbers = []
    match kind.strip(), numbers:
        case "ball", [radius]:
            return Ball(np.zeros(size), radius)
        case "l1", [radius]:
            return L1Ball(np.zeros(size), radius)
        case "box", [low, high]:
            return Box(np.full(size, low), np.full(size, high))
    raise InputError(f"domain = {text!r}: must be ball:RADIUS, box:LOW,HIGH or l1:RADIUS, as in box:-1,1")
