"""The Lipschitz extension f_C(w) = min_{y ∈ W} f(y) + C‖w − y‖₂ of one record's loss f, by conic programming.

The program is

    minimise  φ(r; 0) + C·s   subject to   y ∈ W,  q + y = w,  ‖q‖ ≤ s,  ⟨x, y⟩ − t = r

for f = φ(⟨x, ·⟩; t), where a polyhedral φ enters by its pieces; a quadratic loss enters as a sum of squares.  Minus the
multiplier of q + y = w is a subgradient of f_C at w, the multiplier of the last constraint is the slope v of φ there.

Nothing that is returned rests on the solver.  If f(y) ≥ ⟨p, y⟩ + k on W and ‖g‖ ≤ C, then, for every u,

    f_C(u) ≥ ⟨g, u⟩ + k − σ_W(g − p),

because ⟨g, u − y⟩ ≤ C‖u − y‖.  For f = φ(⟨x, ·⟩; t) take p = v·x and k = −φ*(v; t), with any v in the domain of φ*.  (A
mixture Σμ_j(⟨a_j, y⟩ + b_j) of the pieces of a polyhedral loss is this bound with v = Σμ_j·s_j, or worse.)  For a
quadratic loss take its tangent at a point of W.  `certify` makes such a bound of any guess: the point is projected into W,
the subgradient scaled into ‖g‖ ≤ C, the slope moved into the domain of φ*, and all sums are rounded outward.  A bad
guess, or a solver that fails, makes the gap large; it never makes it wrong.
"""

from __future__ import annotations

import math
import threading
import warnings
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import Any

import cvxpy
import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.domains import EPS, LARGEST_POINT, Domain
from tailproof.refimpl.losses import GlmLoss, Loss, Quadratic
from tailproof.refimpl.validation import FloatArray, InputError, positive, real, vector, whole

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Extension:
    """f_C(w) ≤ value, found at `minimiser`, and f_C(u) ≥ value + ⟨subgradient, u − w⟩ − gap for every u.

    The minimiser lies in W, and ‖subgradient‖ ≤ C.  At u = w the value is within `gap` ≥ 0 of f_C(w).
    """

    value: float
    minimiser: FloatArray
    subgradient: FloatArray
    gap: float


def extend(loss: Loss, domain: Domain, record: ArrayLike, w: ArrayLike, clip: float) -> Extension:
    """f_C of one record at w, C = `clip`.  For more than one call, `ReferenceExtension` builds the program only once.

    w must lie in the domain, without tolerance; `domain.project` lands there.
    """
    return ReferenceExtension(loss, domain, domain.dimension).at(record, w, clip)


def certify(
    loss: Loss,
    domain: Domain,
    record: ArrayLike,
    w: ArrayLike,
    clip: float,
    *,
    minimiser: ArrayLike,
    subgradient: ArrayLike,
    slope: float | None = None,
) -> Extension:
    """What a guess proves about f_C at w, after moving its parts into the sets they must lie in.

    `slope` is the slope v of φ at the minimiser, which is not unique at a kink; by default φ' there.  A quadratic loss
    does not use it.
    """
    query = _query(loss, domain, record, w, clip)
    point = domain.project(vector("minimiser", minimiser, size=domain.dimension))
    direction = vector("subgradient", subgradient, size=domain.dimension)
    with np.errstate(over="ignore", invalid="ignore"):
        return _finite(
            _certificate(query, point, direction, query.slope_at(point) if slope is None else real("slope", slope))
        )


@dataclass(frozen=True, eq=False)
class ReferenceExtension:
    """f_C of any record at any point, the program being built only once, and kept for the next object of this loss and domain in
    this thread.  An object is not for concurrent use: the program holds parameters.

    An answer depends on the arguments alone, not on earlier ones.
    """

    loss: Loss
    domain: Domain
    dimension: int
    _program: _Program = field(init=False, repr=False)

    def __post_init__(self) -> None:
        size = whole("dimension", self.dimension, least=1)
        if size != self.domain.dimension:
            raise InputError(f"dimension = {size}: must be that of the domain, {self.domain.dimension}")
        object.__setattr__(self, "_program", _kept_program(_supported(self.loss, self.domain), self.domain))

    def at(self, record: ArrayLike, w: ArrayLike, clip: float) -> Extension:
        """f_C at w, C = `clip`; w must lie in the domain, without tolerance."""
        query = _query(self.loss, self.domain, record, w, clip)
        with np.errstate(over="ignore", invalid="ignore"):
            point, subgradient, slope = _solve(self._program, query)
            # Often the minimiser is w, or the subgradient of f_C is one of f: trying both removes the solver's error there.
            guesses = [(y, g, v) for y in (point, query.w) for g, v in ((subgradient, slope), query.aligned(y, slope))]
            return _finite(min((_certificate(query, *guess) for guess in guesses), key=lambda found: found.gap))


# ------------------------------------------------------------------------------------------------------ the question


@dataclass(frozen=True, eq=False)
class _Query:
    """Checked arguments."""

    loss: GlmLoss | Quadratic
    domain: Domain
    row: FloatArray  # the record, of shape (1, columns)
    w: FloatArray
    clip: float

    @property
    def x(self) -> FloatArray:
        """The x of φ(⟨x, w⟩; t), or of ½(w − x)ᵀA(w − x)."""
        features = self.loss.signed_features(self.row) if isinstance(self.loss, GlmLoss) else self.row
        return np.asarray(features[0])

    @property
    def target(self) -> FloatArray:
        return self.loss.split(self.row)[1]

    def slope_at(self, y: FloatArray) -> float:
        """φ'(⟨x, y⟩; t); 0, which is not used, for a quadratic loss."""
        if not isinstance(self.loss, GlmLoss):
            return 0.0
        return float(self.loss.dphi(np.array([self.x @ y]), self.target)[0])

    def aligned(self, y: FloatArray, slope: float) -> tuple[FloatArray, float]:
        """A subgradient of f at y, and its slope: the given one, shortened as far as C asks and the domain of φ* allows."""
        if not isinstance(self.loss, GlmLoss):
            return np.asarray(self.loss.gradients(y, self.row)[0]), slope
        steepest = self.clip / max(math.hypot(*self.x), _TINY)
        v = _into_conjugate_domain(self.loss, min(max(slope, -steepest), steepest))
        return v * self.x, v


def _supported(loss: Loss, domain: Domain) -> GlmLoss | Quadratic:
    if not isinstance(loss, GlmLoss | Quadratic):
        raise InputError(f"loss = {loss!r}: must be a generalised linear or quadratic loss")
    if isinstance(loss, Quadratic) and len(loss.matrix) != domain.dimension:
        raise InputError(f"loss: is quadratic in {len(loss.matrix)} variables; the domain has {domain.dimension}")
    return loss


def _query(loss: Loss, domain: Domain, record: ArrayLike, w: ArrayLike, clip: float) -> _Query:
    known = _supported(loss, domain)
    row = vector("record", record, size=known.columns(domain.dimension))[np.newaxis]
    known.split(row)  # refuses labels other than ±1
    point = vector("w", w, size=domain.dimension)
    if not domain.contains(point):
        raise InputError("w: must lie in the domain; project it first")
    return _Query(known, domain, row, point.copy(), positive("clip", clip))


# ------------------------------------------------------------------------------------------------------ the program


@dataclass(frozen=True, eq=False)
class _Program:
    problem: Any
    y: Any
    x: Any
    shift: Any
    w: Any
    clip: Any
    link: Any  # q + y == w
    margin: Any  # ⟨x, y⟩ − t == r; None for a quadratic loss


@dataclass(frozen=True)
class _Kind:
    """A loss and a domain, equal to others of the same values in the same thread."""

    values: Any
    thread: int
    loss: GlmLoss | Quadratic = field(compare=False)
    domain: Domain = field(compare=False)


def _values(part: Any) -> Any:
    if isinstance(part, np.ndarray):
        return part.shape, part.tobytes()
    if is_dataclass(part):
        return type(part), *(_values(getattr(part, one.name)) for one in fields(part) if one.init)
    return part


def _kept_program(loss: GlmLoss | Quadratic, domain: Domain) -> _Program:
    """To build one takes ten times as long as to solve it."""
    if not (is_dataclass(loss) and is_dataclass(domain)):  # not ours: nothing says when two are the same
        return _program(loss, domain)
    return _program_of(_Kind((_values(loss), _values(domain)), threading.get_ident(), loss, domain))


@lru_cache(maxsize=64)
def _program_of(kind: _Kind) -> _Program:
    return _program(kind.loss, kind.domain)


def _program(loss: GlmLoss | Quadratic, domain: Domain) -> _Program:
    d = domain.dimension
    y, q, s, r = cvxpy.Variable(d), cvxpy.Variable(d), cvxpy.Variable(), cvxpy.Variable()
    x, w, shift, clip = cvxpy.Parameter(d), cvxpy.Parameter(d), cvxpy.Parameter(), cvxpy.Parameter(nonneg=True)
    link, margin = q + y == w, None
    constraints = [link, cvxpy.norm(q, 2) <= s, *domain.cvxpy_constraints(y)]
    if isinstance(loss, GlmLoss):
        margin = x @ y - shift == r
        constraints.append(margin)
        value = loss.cvxpy_phi(r, 0.0)  # every φ with a real target t is a function of m − t
    else:
        value = cvxpy.sum_squares(loss.root.T @ (y - x)) / 2
    problem = cvxpy.Problem(cvxpy.Minimize(value + clip * s), constraints)
    return _Program(problem, y, x, shift, w, clip, link, margin)


def _solve(program: _Program, query: _Query) -> tuple[FloatArray, FloatArray, float]:
    """The solver's minimiser (in W), subgradient and slope; (w, 0, φ') where it fails, which it may on extreme input."""
    program.x.value, program.w.value, program.clip.value = query.x, query.w, query.clip
    real_target = isinstance(query.loss, GlmLoss) and query.loss.target == "real"
    program.shift.value = float(query.target[0]) if real_target else 0.0
    failed = query.w, np.zeros_like(query.w), query.slope_at(query.w)
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the certificate says how accurate the solution is
        try:  # warm_start=False: an answer must not depend on earlier questions
            program.problem.solve(solver=cvxpy.CLARABEL, warm_start=False, accept_unknown=True, **tolerances)
        except (cvxpy.SolverError, ValueError):
            return failed
    if program.problem.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
        return failed
    point, subgradient = program.y.value, -program.link.dual_value
    slope = 0.0 if program.margin is None else float(program.margin.dual_value)
    if not (np.abs(point).max() <= LARGEST_POINT and np.isfinite(subgradient).all() and math.isfinite(slope)):
        return failed
    return query.domain.project(point), subgradient, slope


# -------------------------------------------------------------------------------------------------- the certificate


def _certificate(query: _Query, y: FloatArray, subgradient: FloatArray, slope: float) -> Extension:
    """The bound of the module's docstring, for y in W and any subgradient and slope; gap = inf if it overflows."""
    g = _into_ball(subgradient, query.clip)
    value = _value_upper(query, y)
    p, k = _minorant(query, y, slope)
    u = g - p
    if not np.isfinite(u).all():
        return Extension(value, y, g, math.inf)
    reach = query.domain.max_norm_from(np.zeros_like(y))
    support = float(query.domain.support(u)) + EPS * math.hypot(*(np.abs(g) + np.abs(u))) * reach
    terms = abs(value) + float(np.abs(g) @ np.abs(query.w)) + abs(k) + abs(support)
    gap = value - float(g @ query.w) - k + support + (y.size + 16) * EPS * terms + y.size * _TINY * (1 + reach)
    return Extension(value, y, g, gap if math.isfinite(gap) else math.inf)


def _finite(found: Extension) -> Extension:
    if not math.isfinite(found.gap):
        raise OverflowError("the extension's value or its certificate is beyond the floating-point range")
    return found


def _value_upper(query: _Query, y: FloatArray) -> float:
    """f(y) + C‖w − y‖, rounded up."""
    distance = query.clip * math.hypot(*(query.w - y))
    if isinstance(query.loss, GlmLoss):
        x, d = query.x, y.size
        margin, error = float(x @ y), (d + 4) * EPS * float(np.abs(x) @ np.abs(y)) + d * _TINY
        ends = query.loss.phi(np.array([margin - error, margin + error]), query.target)
        loss, size = float(ends.max()), float(np.abs(ends).max())  # φ is convex: largest at an end
    else:
        loss, size = _quadratic(query.loss, y, query.x)
    return loss + distance + (y.size + 16) * EPS * (size + distance) + _TINY


def _minorant(query: _Query, y: FloatArray, slope: float) -> tuple[FloatArray, float]:
    """p and k, the latter rounded down, with f ≥ ⟨p, ·⟩ + k on W."""
    loss, x, d = query.loss, query.x, y.size
    if isinstance(loss, GlmLoss):
        v = _into_conjugate_domain(loss, slope)
        p = v * x
        conjugate = float(loss.conjugate(np.array([v]), query.target)[0])
        rounding = 16 * (abs(conjugate) + 2 * abs(v * float(query.target[0])))
        # p differs from v·x by at most EPS in each entry, relatively.
        off = math.hypot(*p) * query.domain.max_norm_from(np.zeros_like(y))
        return p, -conjugate - EPS * (rounding + off) - _TINY
    value, size = _quadratic(loss, y, x)
    p = loss.matrix @ (y - x)
    reach = query.domain.max_norm_from(y)
    error = (d + 4) * EPS * math.hypot(*(np.abs(loss.matrix) @ np.abs(y - x)))
    # The last term: the matrix may have eigenvalues as far below 0 as rounding explains.
    rounding = (2 * d + 16) * EPS * (size + float(np.abs(p) @ np.abs(y))) + error * reach + loss.eigenvalue_error * reach**2
    return p, value - float(p @ y) - rounding - _TINY


def _quadratic(loss: Quadratic, y: FloatArray, x: FloatArray) -> tuple[float, float]:
    """½(y − x)ᵀA(y − x), and the sum of the products' absolute values, which scales its rounding error."""
    offset = y - x
    return float(offset @ loss.matrix @ offset) / 2, float(np.abs(offset) @ np.abs(loss.matrix) @ np.abs(offset))


def _into_ball(g: FloatArray, radius: float) -> FloatArray:
    """g, shortened where its length could exceed the radius."""
    length = math.hypot(*g)
    return g if length <= radius * (1 - 4 * EPS) else g * (radius * (1 - 8 * EPS) / length)


def _into_conjugate_domain(loss: GlmLoss, slope: float) -> float:
    lower, upper = loss.slope_range
    return min(max(slope, lower), upper)
