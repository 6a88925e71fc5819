"""Convex losses f(w, record), vectorised over records.

Most are generalised linear: f(w, record) = φ(⟨x, w⟩; t) with φ(·; t) convex on the line.  A class states φ, its
derivatives and its conjugate φ*(v; t) = sup_m {v·m − φ(m; t)}; `GlmLoss` derives the rest from them.

Records.  An n × (d+1) array [features | target]; the last column is a real target t, or a label ±1 which is multiplied
into the features, so that φ itself knows no labels.  `Affine` and `Quadratic` have no target: n × d.

Kinks.  Where φ has a kink the gradient returned is the subgradient of least norm, which is 0 for hinge, ReLU and
absolute loss.

Range.  Intermediate overflow does not spoil a representable result, as long as the record's φ and φ' are themselves
representable.  What exceeds the largest float is returned as ±inf, its correct rounding, without a warning.  Where
overflows of both signs meet, so that the result is not determined, OverflowError is raised; NaN is never returned.

Rounding.  Results named `_upper` are rounded outward.  All others carry the usual rounding error of a few ulp per term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlog1py, xlogy

from tailproof._nearest import did_you_mean
from tailproof.refimpl.validation import FloatArray, InputError, matrix, positive, records, vector

if TYPE_CHECKING:
    from tailproof.refimpl.domains import Domain

_EPSILON = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


@runtime_checkable
class GlmLoss(Protocol):
    """f(w, record) = φ(⟨x, w⟩; t).  Functions of the margin m work elementwise on arrays, and do not check them."""

    target: ClassVar[Literal["none", "real", "label"]]
    slope_range: ClassVar[tuple[float, float]]  # the closure of all φ', which is the domain of φ*
    curvature_upper: ClassVar[float]  # sup φ'' over the line; inf where φ' is not Lipschitz
    is_polyhedral: ClassVar[bool]
    is_smooth: ClassVar[bool]  # continuously differentiable (L4: without a global constant)
    is_glm: ClassVar[bool] = True

    # What a loss states.

    def phi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        """φ(m; t)."""
        ...

    def dphi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        """φ'(m; t); at a kink the subderivative of least absolute value."""
        ...

    def d2phi(self, m: FloatArray, t: FloatArray, /) -> FloatArray | None:
        """φ''(m; t); None for a polyhedral loss."""
        ...

    def finite_conjugate(self, v: FloatArray, t: FloatArray, /) -> FloatArray:
        """φ*(v; t) for v in `slope_range`."""
        ...

    def cvxpy_phi(self, margin: Any, t: float, /) -> Any:
        """φ(margin; t) as a cvxpy expression."""
        ...

    def dphi_interval(self, m: FloatArray, t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """The least and the greatest subderivative of φ(·; t) at m."""
        slope = self.dphi(m, t)
        return slope, slope

    def phi_pieces(self, _t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """φ(m; t_i) = max_j (s_j·m + c_ij) of a polyhedral loss: slopes s, of shape (p,), and intercepts c, (n, p)."""
        raise _no_pieces(self)

    # What follows.

    def conjugate_domain(self, t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """The ends of the closed interval {v : φ*(v; t) < ∞}."""
        lower, upper = self.slope_range
        return np.full(np.shape(t), lower), np.full(np.shape(t), upper)

    def conjugate(self, v: FloatArray, t: FloatArray, /) -> FloatArray:
        """φ*(v; t) = sup_m {v·m − φ(m; t)}; +inf outside its domain."""
        lower, upper = self.slope_range
        with np.errstate(over="ignore"):
            inside = self.finite_conjugate(np.clip(v, lower, upper), t)
        return np.where((v >= lower) & (v <= upper), inside, np.inf)

    def columns(self, dimension: int) -> int:
        """The number of columns of the data when w has `dimension` entries."""
        return dimension if self.target == "none" else dimension + 1

    def split(self, data: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Features (a view, labels not folded in) and targets or labels; zeros where the loss has no target."""
        return _split(self, records("data", data, least=1))

    def signed_features(self, data: ArrayLike) -> FloatArray:
        """The x of φ(⟨x, w⟩; t): label times features, or the features themselves."""
        return _signed_features(self, *self.split(data))

    def values(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """f(w, record) for every record."""
        _, targets, margins, _ = _linear_model(self, w, data)
        return self.phi(margins, targets)

    def gradients(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """A subgradient φ'(⟨x, w⟩; t)·x for every record, of shape (n, d)."""
        features, targets, margins, signs = _linear_model(self, w, data)
        return _scaled_rows(features, signs * self.dphi(margins, targets))

    def mean_value(self, w: ArrayLike, data: ArrayLike) -> float:
        """The mean of `values`."""
        return _mean(self.values(w, data))

    def mean_gradient(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """The mean of `gradients`, Xᵀφ'/n, without forming them."""
        features, targets, margins, signs = _linear_model(self, w, data)
        return _mean_of_scaled_rows(features, signs * self.dphi(margins, targets))

    def lipschitz_upper(self, data: ArrayLike, domain: Domain) -> FloatArray:
        """Every record's Lipschitz constant on W: ‖x‖ times the steepest slope over the margins attained on W.

        A kink within rounding of the end of those margins counts as attained.
        """
        features, targets = _split(self, records("data", data, least=1, columns=self.columns(domain.dimension)))
        x = _signed_features(self, features, targets)
        # φ' is monotone: its extremes over the margins [−σ(−x), σ(x)] are at the ends.
        least = self.dphi_interval(-domain.support(-x), targets)[0]
        greatest = self.dphi_interval(domain.support(x), targets)[1]
        steepest = np.maximum(np.abs(least), np.abs(greatest))
        if not self.is_polyhedral:
            steepest = np.maximum(steepest, _TINY)  # a slope may have underflowed to 0
        return _product_upper(_row_norms(features), steepest, terms=domain.dimension)

    def lipschitz_is_exact(self, domain: Domain) -> bool:  # noqa: ARG002
        """True: W has interior points, so `lipschitz_upper` is the constant itself as far as the support is exact."""
        return True

    def pieces(self, data: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """f = max_j ⟨a_j, w⟩ + b_j of a polyhedral loss: slopes a of shape (n, p, d), offsets b of shape (n, p)."""
        features, targets = self.split(data)
        slopes, offsets = self.phi_pieces(targets)
        return _signed_features(self, features, targets)[:, np.newaxis, :] * slopes[:, np.newaxis], offsets

    def smoothness_upper(self, data: ArrayLike) -> FloatArray:
        """Every record's Lipschitz constant of the gradient on the whole space, ‖x‖²·sup φ''; inf if there is none."""
        features, _ = self.split(data)
        norms, terms = _row_norms(features), features.shape[1]
        gradient_slopes = _product_upper(norms, np.full(len(norms), self.curvature_upper), terms=terms)
        return _product_upper(norms, gradient_slopes, terms=terms)

    def cvxpy_expression(self, variable: Any, record: ArrayLike) -> Any:
        """f(variable, record) for one record, as a convex cvxpy expression."""
        row = vector("record", record)[np.newaxis, :]
        return self.cvxpy_phi(self.signed_features(row)[0] @ variable, float(self.split(row)[1][0]))


@dataclass(frozen=True)
class Affine(GlmLoss):
    """f = ⟨x, w⟩."""

    target = "none"
    slope_range = (1.0, 1.0)
    curvature_upper = 0.0
    is_polyhedral = True
    is_smooth = True

    def phi(self, m: FloatArray, _t: FloatArray, /) -> FloatArray:
        return m

    def dphi(self, m: FloatArray, _t: FloatArray, /) -> FloatArray:
        return np.ones_like(m)

    def d2phi(self, _m: FloatArray, _t: FloatArray, /) -> None:
        return None

    def finite_conjugate(self, v: FloatArray, _t: FloatArray, /) -> FloatArray:
        return np.zeros_like(v)

    def phi_pieces(self, t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        return np.array([1.0]), np.zeros((len(t), 1))

    def cvxpy_phi(self, margin: Any, _t: float, /) -> Any:
        return margin


@dataclass(frozen=True)
class Hinge(GlmLoss):
    """f = max(0, 1 − y⟨x, w⟩), label y = ±1; φ(m) = max(0, 1−m)."""

    target = "label"
    slope_range = (-1.0, 0.0)
    curvature_upper = np.inf
    is_polyhedral = True
    is_smooth = False

    def phi(self, m: FloatArray, _t: FloatArray, /) -> FloatArray:
        return np.maximum(0.0, 1.0 - m)

    def dphi(self, m: FloatArray, _t: FloatArray, /) -> FloatArray:
        return np.where(m < 1, -1.0, 0.0)

    def dphi_interval(self, m: FloatArray, _t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        return np.where(m <= 1, -1.0, 0.0), np.where(m < 1, -1.0, 0.0)

    def d2phi(self, _m: FloatArray, _t: FloatArray, /) -> None:
        return None

    def finite_conjugate(self, v: FloatArray, _t: FloatArray, /) -> FloatArray:
        return v

    def phi_pieces(self, t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        return np.array([0.0, -1.0]), np.tile([0.0, 1.0], (len(t), 1))

    def cvxpy_phi(self, margin: Any, _t: float, /) -> Any:
        import cvxpy

        return cvxpy.pos(1 - margin)


@dataclass(frozen=True)
class ReLU(GlmLoss):
    """f = max(0, ⟨x, w⟩ − t)."""

    target = "real"
    slope_range = (0.0, 1.0)
    curvature_upper = np.inf
    is_polyhedral = True
    is_smooth = False

    def phi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        return np.maximum(0.0, _difference(m, t))

    def dphi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        return np.where(m > t, 1.0, 0.0)

    def dphi_interval(self, m: FloatArray, t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        return np.where(m > t, 1.0, 0.0), np.where(m >= t, 1.0, 0.0)

    def d2phi(self, _m: FloatArray, _t: FloatArray, /) -> None:
        return None

    def finite_conjugate(self, v: FloatArray, t: FloatArray, /) -> FloatArray:
        return v * t

    def phi_pieces(self, t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        return np.array([0.0, 1.0]), np.column_stack([np.zeros_like(t), -t])

    def cvxpy_phi(self, margin: Any, t: float, /) -> Any:
        import cvxpy

        return cvxpy.pos(margin - t)


@dataclass(frozen=True)
class Absolute(GlmLoss):
    """f = |⟨x, w⟩ − t|."""

    target = "real"
    slope_range = (-1.0, 1.0)
    curvature_upper = np.inf
    is_polyhedral = True
    is_smooth = False

    def phi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        return np.abs(_difference(m, t))

    def dphi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        return np.sign(_difference(m, t))

    def dphi_interval(self, m: FloatArray, t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        return np.where(m > t, 1.0, -1.0), np.where(m >= t, 1.0, -1.0)

    def d2phi(self, _m: FloatArray, _t: FloatArray, /) -> None:
        return None

    def finite_conjugate(self, v: FloatArray, t: FloatArray, /) -> FloatArray:
        return v * t

    def phi_pieces(self, t: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        return np.array([1.0, -1.0]), np.column_stack([-t, t])

    def cvxpy_phi(self, margin: Any, t: float, /) -> Any:
        import cvxpy

        return cvxpy.abs(margin - t)


@dataclass(frozen=True)
class Logistic(GlmLoss):
    """f = log(1 + exp(−y⟨x, w⟩)), label y = ±1; φ(m) = log(1 + e^{−m})."""

    target = "label"
    slope_range = (-1.0, 0.0)
    curvature_upper = 0.25
    is_polyhedral = False
    is_smooth = True

    def phi(self, m: FloatArray, _t: FloatArray, /) -> FloatArray:
        return np.logaddexp(0.0, -m)

    def dphi(self, m: FloatArray, _t: FloatArray, /) -> FloatArray:
        slope: FloatArray = -expit(-m)
        return slope

    def d2phi(self, m: FloatArray, _t: FloatArray, /) -> FloatArray:
        curvature: FloatArray = expit(m) * expit(-m)
        return curvature

    def finite_conjugate(self, v: FloatArray, _t: FloatArray, /) -> FloatArray:
        negative_entropy: FloatArray = xlogy(-v, -v) + xlog1py(1 + v, v)
        return negative_entropy

    def cvxpy_phi(self, margin: Any, _t: float, /) -> Any:
        import cvxpy

        return cvxpy.logistic(-margin)


@dataclass(frozen=True)
class Squared(GlmLoss):
    """f = ½(⟨x, w⟩ − t)²."""

    target = "real"
    slope_range = (-np.inf, np.inf)
    curvature_upper = 1.0
    is_polyhedral = False
    is_smooth = True

    def phi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        residual = _difference(m, t)
        with np.errstate(over="ignore"):
            return (residual / 2) * residual  # halved first: the result may be representable where the square is not

    def dphi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        return _difference(m, t)

    def d2phi(self, m: FloatArray, _t: FloatArray, /) -> FloatArray:
        return np.ones_like(m)

    def finite_conjugate(self, v: FloatArray, t: FloatArray, /) -> FloatArray:
        return v * (v / 2 + t)

    def cvxpy_phi(self, margin: Any, t: float, /) -> Any:
        import cvxpy

        return cvxpy.square(margin - t) / 2


@dataclass(frozen=True)
class L4(GlmLoss):
    """f = (⟨x, w⟩ − t)⁴, as in ℓ₄ regression: no factor ¼ in front."""

    target = "real"
    slope_range = (-np.inf, np.inf)
    curvature_upper = np.inf
    is_polyhedral = False
    is_smooth = True

    def phi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        residual = _difference(m, t)
        with np.errstate(over="ignore"):
            return np.square(np.square(residual))

    def dphi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        residual = _difference(m, t)
        with np.errstate(over="ignore"):
            return 4 * residual * np.square(residual)

    def d2phi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        with np.errstate(over="ignore"):
            return 12 * np.square(_difference(m, t))

    def finite_conjugate(self, v: FloatArray, t: FloatArray, /) -> FloatArray:
        # The maximiser is m = t + u with 4u³ = v: the value is v·t + 3u⁴ = v·(t + ¾u).
        return v * (t + 0.75 * np.cbrt(v / 4))

    def cvxpy_phi(self, margin: Any, t: float, /) -> Any:
        import cvxpy

        return cvxpy.power(margin - t, 4)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """f = ½(w − x)ᵀA(w − x), A = `matrix` symmetric and positive semidefinite; the record is x."""

    matrix: FloatArray

    is_polyhedral: ClassVar[bool] = False
    is_smooth: ClassVar[bool] = True
    is_glm: ClassVar[bool] = False

    def __post_init__(self) -> None:
        square = matrix("matrix", self.matrix).copy()
        if square.shape[0] != square.shape[1] or not square.size:
            raise InputError(f"matrix: has shape {square.shape}; must be square and not empty")
        if not np.array_equal(square, square.T):
            raise InputError("matrix: is not symmetric; must equal its transpose exactly, as (A + A.T) / 2 does")
        square.setflags(write=False)
        object.__setattr__(self, "matrix", square)
        least = float(self.spectrum[0][0])
        if least < -self.eigenvalue_error:
            raise InputError(f"matrix: has the eigenvalue {least:g}; must be positive semidefinite")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quadratic) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.matrix + 0.0).tobytes())  # + 0.0: equal matrices may differ in the sign of a zero

    @cached_property
    def spectrum(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues in increasing order, and the eigenvectors as columns."""
        eigenvalues, eigenvectors = np.linalg.eigh(self.matrix)
        return eigenvalues, eigenvectors

    @property
    def eigenvalue_error(self) -> float:
        """What a computed eigenvalue may err by."""
        eigenvalues = self.spectrum[0]
        return 8 * len(eigenvalues) * _EPSILON * float(np.abs(eigenvalues).max())

    @cached_property
    def root(self) -> FloatArray:
        """R with A = R·Rᵀ."""
        eigenvalues, eigenvectors = self.spectrum
        return eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))  # a negative one is rounding, as checked

    def columns(self, dimension: int) -> int:
        """The number of columns of the data when w has `dimension` entries."""
        return dimension

    def split(self, data: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The records x, and zeros for the target they do not have."""
        table = records("data", data, least=1, columns=len(self.matrix))
        return table, np.zeros(len(table))

    def values(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """f(w, record) for every record, as ½‖Rᵀ(w − x)‖², which is never negative."""
        norms = _row_norms(_product(_difference(self._point(w), self.split(data)[0]), self.root))
        with np.errstate(over="ignore"):
            return (norms / 2) * norms

    def gradients(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """A(w − x) for every record."""
        return _product(_difference(self._point(w), self.split(data)[0]), self.matrix)

    def mean_value(self, w: ArrayLike, data: ArrayLike) -> float:
        """The mean of `values`."""
        return _mean(self.values(w, data))

    def mean_gradient(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """A(w − mean x)."""
        x, _ = self.split(data)
        centre = _mean_of_scaled_rows(x, np.ones(len(x)))
        return _product(self.matrix, _difference(self._point(w), centre))

    def conjugate(self, v: ArrayLike, data: ArrayLike) -> FloatArray:
        """f*(v) = ⟨v, x⟩ + ½vᵀA⁺v for every record and its row of v (or one v for all); +inf off the range of A.

        An eigenvalue that rounding explains counts as zero; so does the part of v in the kernel that rounding explains.
        """
        x, _ = self.split(data)
        slopes = np.broadcast_to(matrix("v", np.atleast_2d(v), columns=x.shape[1]), x.shape)
        eigenvalues, eigenvectors = self.spectrum
        kept = eigenvalues > self.eigenvalue_error
        along = _product(slopes, eigenvectors)
        off = _row_norms(along[:, ~kept]) > 64 * len(eigenvalues) * _EPSILON * _row_norms(slopes)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = _row_norms(along[:, kept] / np.sqrt(eigenvalues[kept]))
            inside = _determined(np.einsum("ij,ij->i", slopes, x) + (norms / 2) * norms)
        return np.where(off, np.inf, inside)

    def lipschitz_upper(self, data: ArrayLike, domain: Domain) -> FloatArray:
        """An upper bound of max_{w ∈ W} ‖A(w − x)‖: ‖A(c − x)‖ + λ_max·max_W ‖w − c‖ with c the domain's interior point.

        It is exact, but for rounding, when W is a ball and A a multiple of the identity.
        """
        centre = vector("domain", domain.interior_point(), size=len(self.matrix))
        offsets = _difference(centre, self.split(data)[0])
        with np.errstate(over="ignore"):
            # Both terms carry more than their rounding: this the rounding of A(c − x), λ_max that of the eigenvalue.
            slack = 2 * centre.size * (centre.size + 8) * _EPSILON * _row_norms(offsets)
            spread = self._largest_upper * (domain.max_norm_from(centre) + slack)
            return _next_float(_row_norms(_product(offsets, self.matrix)) + spread)

    def lipschitz_is_exact(self, domain: Domain) -> bool:  # noqa: ARG002
        """False: in general `lipschitz_upper` is only an upper bound."""
        return False

    def pieces(self, data: ArrayLike) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Refused: the loss is not polyhedral."""
        raise _no_pieces(self)

    def smoothness_upper(self, data: ArrayLike) -> FloatArray:
        """The largest eigenvalue of A, for every record."""
        return np.full(len(self.split(data)[0]), self._largest_upper)

    def cvxpy_expression(self, variable: Any, record: ArrayLike) -> Any:
        """f(variable, record) for one record, as a convex cvxpy expression."""
        import cvxpy

        return cvxpy.sum_squares(self.root.T @ (variable - self._point(record, name="record"))) / 2

    @property
    def _largest_upper(self) -> float:
        return max(0.0, float(self.spectrum[0][-1])) + self.eigenvalue_error

    def _point(self, value: ArrayLike, name: str = "w") -> FloatArray:
        return vector(name, value, size=len(self.matrix))


@dataclass(frozen=True)
class Ridge:
    """f = loss + (weight/2)‖w‖², with the records of `loss`.  Not itself generalised linear, even where `loss` is."""

    loss: GlmLoss | Quadratic
    weight: float

    is_polyhedral: ClassVar[bool] = False
    is_glm: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.loss, GlmLoss | Quadratic):
            raise InputError(f"loss = {self.loss!r}: must be a generalised linear or quadratic loss")
        object.__setattr__(self, "weight", positive("weight", self.weight))

    @property
    def is_smooth(self) -> bool:
        return self.loss.is_smooth

    def columns(self, dimension: int) -> int:
        """The number of columns of the data when w has `dimension` entries."""
        return self.loss.columns(dimension)

    def split(self, data: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Features and targets as `loss` has them."""
        return self.loss.split(data)

    def values(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """f(w, record) for every record."""
        return self._sum(self.loss.values(w, data), self._penalty(w))

    def gradients(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """A subgradient for every record, of shape (n, d)."""
        return self._sum(self.loss.gradients(w, data), self._pull(w))

    def mean_value(self, w: ArrayLike, data: ArrayLike) -> float:
        """The mean of `values`."""
        return float(self._sum(np.array([self.loss.mean_value(w, data)]), self._penalty(w))[0])

    def mean_gradient(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """The mean of `gradients`, without forming them."""
        return self._sum(self.loss.mean_gradient(w, data), self._pull(w))

    def lipschitz_upper(self, data: ArrayLike, domain: Domain) -> FloatArray:
        """An upper bound: the Lipschitz constant of `loss` plus weight·max_W ‖w‖."""
        largest = domain.max_norm_from(np.zeros(domain.dimension))
        with np.errstate(over="ignore"):
            total = self.loss.lipschitz_upper(data, domain) + self.weight * largest
            return _next_float(total * (1 + 4 * _EPSILON))

    def lipschitz_is_exact(self, domain: Domain) -> bool:  # noqa: ARG002
        """False: in general `lipschitz_upper` is only an upper bound."""
        return False

    def pieces(self, data: ArrayLike) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Refused: the loss is not polyhedral."""
        raise _no_pieces(self)

    def smoothness_upper(self, data: ArrayLike) -> FloatArray:
        """That of `loss` plus the weight."""
        with np.errstate(over="ignore"):
            return _next_float(self.loss.smoothness_upper(data) + self.weight)

    def cvxpy_expression(self, variable: Any, record: ArrayLike) -> Any:
        """f(variable, record) for one record, as a convex cvxpy expression."""
        import cvxpy

        return self.loss.cvxpy_expression(variable, record) + self.weight / 2 * cvxpy.sum_squares(variable)

    def _penalty(self, w: ArrayLike) -> FloatArray:
        norm = _row_norms(vector("w", w)[np.newaxis, :])
        with np.errstate(over="ignore"):
            return np.square(norm * math.sqrt(self.weight / 2))

    def _pull(self, w: ArrayLike) -> FloatArray:
        with np.errstate(over="ignore"):
            return self.weight * vector("w", w)

    def _sum(self, left: FloatArray, right: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            return _determined(left + right)


@dataclass(frozen=True)
class PowerPenalty:
    """f = loss + (weight/θ)‖w‖^θ with θ = `power` > 2: flat around 0, so that the risk may satisfy a noise condition of order θ.

    For methods that need gradients alone.  Smooth on bounded sets only.
    """

    loss: GlmLoss | Quadratic
    weight: float
    power: float

    is_polyhedral: ClassVar[bool] = False
    is_glm: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.loss, GlmLoss | Quadratic):
            raise InputError(f"loss = {self.loss!r}: must be a generalised linear or quadratic loss")
        object.__setattr__(self, "weight", positive("weight", self.weight))
        if positive("power", self.power) <= 2:
            raise InputError(f"power = {self.power!r}: must be > 2; `Ridge` is for 2")

    @property
    def is_smooth(self) -> bool:
        return self.loss.is_smooth

    def columns(self, dimension: int) -> int:
        """The number of columns of the data when w has `dimension` entries."""
        return self.loss.columns(dimension)

    def split(self, data: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Features and targets as `loss` has them."""
        return self.loss.split(data)

    def values(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """f(w, record) for every record."""
        return self.loss.values(w, data) + self.penalty(vector("w", w))

    def gradients(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """A subgradient for every record, of shape (n, d)."""
        return self.loss.gradients(w, data) + self.pull(vector("w", w))

    def mean_value(self, w: ArrayLike, data: ArrayLike) -> float:
        """The mean of `values`."""
        return self.loss.mean_value(w, data) + self.penalty(vector("w", w))

    def mean_gradient(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """The mean of `gradients`, without forming them."""
        return self.loss.mean_gradient(w, data) + self.pull(vector("w", w))

    def lipschitz_upper(self, data: ArrayLike, domain: Domain) -> FloatArray:
        """An upper bound: the Lipschitz constant of `loss` plus weight·max_W ‖w‖^{θ−1}."""
        largest = domain.max_norm_from(np.zeros(domain.dimension))
        with np.errstate(over="ignore"):
            total = self.loss.lipschitz_upper(data, domain) + self.weight * largest ** (self.power - 1)
            return _next_float(total * (1 + 16 * _EPSILON))

    def smoothness_on(self, domain: Domain) -> float:
        """Of the penalty: its Hessian's largest eigenvalue is weight·(θ − 1)‖w‖^{θ−2}."""
        largest = domain.max_norm_from(np.zeros(domain.dimension))
        return float(self.weight * (self.power - 1) * largest ** (self.power - 2) * (1 + 16 * _EPSILON))

    def penalty(self, w: FloatArray) -> float:
        return float(self.weight / self.power * np.linalg.norm(w) ** self.power)

    def pull(self, w: FloatArray) -> FloatArray:
        """The penalty's gradient."""
        return np.asarray(self.weight * float(np.linalg.norm(w)) ** (self.power - 2) * w)


@dataclass(frozen=True)
class RecordQuadratic:
    """f = ½ Σ_j a_j(w_j − c_j)²: the record is its d curvatures a_j ≥ 0, then its d centres c_j.

    Smooth and convex but not generalised linear, and every record has a shape of its own: ill-conditioned records, records that
    are nearly linear (a small curvature, a far centre), and the zero loss.
    """

    is_polyhedral: ClassVar[bool] = False
    is_smooth: ClassVar[bool] = True
    is_glm: ClassVar[bool] = False

    def columns(self, dimension: int) -> int:
        """The number of columns of the data when w has `dimension` entries."""
        return 2 * dimension

    def split(self, data: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Curvatures and centres."""
        table = records("data", data, least=1)
        if table.shape[1] % 2:
            raise InputError(f"data: has {table.shape[1]} columns; must have an even number, curvatures and then centres")
        curvatures, centres = np.hsplit(table, 2)
        if not (negative := curvatures.min(axis=1) < 0).any():
            return curvatures, centres
        raise InputError(f"data: record {int(np.argmax(negative))} has a curvature below 0; must be >= 0")

    def values(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """f(w, record) for every record."""
        curvatures, centres = self.split(data)
        offsets = _difference(vector("w", w, size=centres.shape[1]), centres)
        norms = _row_norms(np.sqrt(curvatures) * offsets)
        with np.errstate(over="ignore"):
            return (norms / 2) * norms

    def gradients(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """a_j(w_j − c_j) for every record; 0 where the curvature is."""
        curvatures, centres = self.split(data)
        offsets = _difference(vector("w", w, size=centres.shape[1]), centres)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(curvatures > 0, curvatures * offsets, 0.0)

    def mean_value(self, w: ArrayLike, data: ArrayLike) -> float:
        """The mean of `values`."""
        return _mean(self.values(w, data))

    def mean_gradient(self, w: ArrayLike, data: ArrayLike) -> FloatArray:
        """The mean of `gradients`."""
        rows = self.gradients(w, data)
        return _mean_of_scaled_rows(rows, np.ones(len(rows)))

    def lipschitz_upper(self, data: ArrayLike, domain: Domain) -> FloatArray:
        """An upper bound of max_{w ∈ W} ‖A(w − c)‖: ‖A(m − c)‖ + max_j a_j·max_W ‖w − m‖, m the domain's interior point."""
        middle, curvatures = domain.interior_point(), self.split(data)[0]
        with np.errstate(over="ignore"):
            total = _row_norms(self.gradients(middle, data)) + curvatures.max(axis=1) * domain.max_norm_from(middle)
            return np.where(curvatures.max(axis=1) > 0, _next_float(total * (1 + (middle.size + 8) * _EPSILON)), 0.0)

    def lipschitz_is_exact(self, domain: Domain) -> bool:  # noqa: ARG002
        """False: in general `lipschitz_upper` is only an upper bound."""
        return False

    def pieces(self, data: ArrayLike) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Refused: the loss is not polyhedral."""
        raise InputError(f"loss = {self!r}: is not polyhedral; only affine, hinge, ReLU and absolute loss have pieces")

    def smoothness_upper(self, data: ArrayLike) -> FloatArray:
        """Every record's largest curvature: exact."""
        largest: FloatArray = self.split(data)[0].max(axis=1)
        return largest

    def cvxpy_expression(self, variable: Any, record: ArrayLike) -> Any:
        """f(variable, record) for one record, as a convex cvxpy expression."""
        import cvxpy

        curvatures, centres = self.split(vector("record", record)[np.newaxis, :])
        return cvxpy.sum_squares(cvxpy.multiply(np.sqrt(curvatures[0]), variable - centres[0])) / 2


Loss: TypeAlias = GlmLoss | Quadratic | Ridge
AnyLoss: TypeAlias = Loss | RecordQuadratic | PowerPenalty
"""What methods take that need gradients alone, not the Lipschitz extension."""


def parse_any_loss(text: str) -> AnyLoss:
    """As `parse_loss`, and 'record-quadratic', and 'power:THETA:WEIGHT:NAME' for a penalty (WEIGHT/THETA)‖w‖^THETA."""
    if text == "record-quadratic":
        return RecordQuadratic()
    prefix, *rest = text.split(":")
    if prefix != "power":
        return parse_loss(text)
    try:
        power, weight = (float(word) for word in rest[:2])
    except ValueError:
        raise InputError(f"loss = {text!r}: must be power:THETA:WEIGHT:NAME with numbers THETA > 2 and WEIGHT > 0") from None
    base = parse_loss(":".join(rest[2:]))
    if isinstance(base, Ridge):
        raise InputError(f"loss = {text!r}: must name a loss without a penalty of its own")
    return PowerPenalty(base, positive("the weight of the loss", weight), power)


def dimension_of(loss: AnyLoss, columns: int) -> int:
    """The number of entries of w for data of that many columns."""
    for dimension in (columns, columns - 1, columns // 2):
        if dimension >= 1 and loss.columns(dimension) == columns:
            return dimension
    raise InputError(f"data: has {columns} columns; this loss allows no such number")


def parse_loss(text: str) -> Loss:
    """The loss named on a command line: a name such as 'absolute', or 'ridge:WEIGHT:NAME'."""
    named: dict[str, GlmLoss] = {
        "absolute": Absolute(),
        "affine": Affine(),
        "hinge": Hinge(),
        "l4": L4(),
        "logistic": Logistic(),
        "relu": ReLU(),
        "squared": Squared(),
    }
    prefix, *rest = text.split(":")
    if not rest and prefix in named:
        return named[prefix]
    if prefix == "ridge" and len(rest) == 2 and rest[1] in named:
        try:
            weight = float(rest[0])
        except ValueError:
            raise InputError(f"loss = {text!r}: the weight {rest[0]!r} must be a number > 0") from None
        return Ridge(named[rest[1]], positive("the weight of the loss", weight))
    raise InputError(f"loss = {text!r}: must be one of {', '.join(named)}, or ridge:WEIGHT:NAME{did_you_mean(text, named)}")


def _no_pieces(loss: Loss) -> InputError:
    return InputError(f"loss = {loss!r}: is not polyhedral; only affine, hinge, ReLU and absolute loss have pieces")


def _split(loss: GlmLoss, table: FloatArray) -> tuple[FloatArray, FloatArray]:
    if loss.target == "none":
        return table, np.zeros(len(table))
    if table.shape[1] < 2:
        raise InputError("data: has 1 column; must have at least 2, the features and then the target")
    features, targets = table[:, :-1], table[:, -1]
    if loss.target == "label" and not np.all(np.abs(targets) == 1):
        row = int(np.flatnonzero(np.abs(targets) != 1)[0])
        raise InputError(f"data: the label of record {row} is {float(targets[row])!r}; must be -1 or 1")
    return features, targets


def _signed_features(loss: GlmLoss, features: FloatArray, targets: FloatArray) -> FloatArray:
    return features * targets[:, np.newaxis] if loss.target == "label" else features


def _linear_model(
    loss: GlmLoss, w: ArrayLike, data: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | float]:
    """Features, targets, margins ⟨x, w⟩ and the signs that turn features into x, without forming the x."""
    point = vector("w", w)
    features, targets = _split(loss, records("data", data, least=1, columns=loss.columns(len(point))))
    signs = targets if loss.target == "label" else 1.0
    return features, targets, signs * _product(features, point), signs


def _difference(left: FloatArray, right: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return left - right


def _determined(result: FloatArray) -> FloatArray:
    if np.isnan(result).any():
        raise OverflowError("the result is not determined: terms beyond the floating-point range cancel")
    return result


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """left @ right, where no partial sum overflows unless the entry itself does."""
    with np.errstate(over="ignore", invalid="ignore"):
        product: FloatArray = left @ right
        bad = ~np.isfinite(product)
        if bad.any():
            shift = int(np.frexp(np.abs(right).max())[1]) + right.shape[0].bit_length()
            product = np.where(bad, np.ldexp(left @ np.ldexp(right, -shift), shift), product)
    return _determined(product)


def _scaled_rows(rows: FloatArray, factors: FloatArray) -> FloatArray:
    """factor·row for every row; a zero entry stays zero under an infinite factor."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = rows * factors[:, np.newaxis]
    return scaled if np.all(np.isfinite(factors)) else np.where(rows == 0, 0.0, scaled)


def _mean_of_scaled_rows(rows: FloatArray, factors: FloatArray) -> FloatArray:
    """The mean of factor·row.  Factors are divided by n first: then the sum overflows only if a term does."""
    shares = factors / len(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        result: FloatArray = shares @ rows
        if not np.all(np.isfinite(result)):
            result = _scaled_rows(rows, shares).sum(axis=0)
    return _determined(result)


def _mean(values: FloatArray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(_determined(np.sum(values / len(values), keepdims=True))[0])


def _row_norms(rows: FloatArray) -> FloatArray:
    """Euclidean norms without overflow or underflow of the squares."""
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
        norms: FloatArray = np.sqrt(squares)
        extreme = ~((squares > 1e-280) & (squares < np.inf))
        if extreme.any() and rows.shape[1]:
            peaks = np.abs(rows[extreme]).max(axis=1)
            scaled = rows[extreme] / np.where((peaks > 0) & (peaks < np.inf), peaks, 1.0)[:, np.newaxis]
            norms[extreme] = peaks * np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    return norms


def _product_upper(norms: FloatArray, factors: FloatArray, *, terms: int) -> FloatArray:
    """An upper bound of norm·factor ≥ 0 for norms computed from that many terms; 0 if one of the two is."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = norms * factors * (1 + (terms + 8) * _EPSILON)
        return np.where((norms > 0) & (factors > 0), _next_float(product), 0.0)


def _next_float(values: FloatArray) -> FloatArray:
    following: FloatArray = np.nextafter(values, np.inf)
    return following
