"""[P4, Lemma 2.7, Algorithm 3, Proposition 2.9/C.5, Lemma D.5] The joint convex form of the regularised Lipschitz
extension, and subgradient methods that certify what they return.

Joint form.  J(w, y_1..y_n) = (1/n) Σ [f(y_i, x_i) + C‖w − y_i‖] + (λ/2)‖w − w0‖² on W × W^n (or W_loc × W^n).
Minimising over the y_i gives F̂_{λ,C}(w), so that min J = min F̂_{λ,C}, and the w of an α-minimiser of J is an
α-minimiser of F̂_{λ,C}: F̂_{λ,C}(w) ≤ J(w, y).  A point is an array of shape (n+1, d): row 0 is w, row i is y_i.

Adaptive method (Algorithm 3).  F convex on a set of diameter R.  With r_t = √(‖g_1‖² + … + ‖g_t‖²) the step is
η_t = R/r_t, the projection may err by ζ_t = η_t²‖g_t‖²/(3R), and the average z̄_t has F(z̄_t) − F* ≤ (5/2)·R·r_t/t.
It stops as soon as that is ≤ α, at the latest at step ⌈(2.5·R·Lip/α)²⌉ if no subgradient exceeds Lip in norm.
Proof: (i) g_t is part of r_t, so ζ_t = R‖g_t‖²/(3r_t²) ≤ R/3.  (ii) The exact projection P and the minimiser z* both
lie in the set: ‖P − z*‖ ≤ R, and ‖z_{t+1} − z*‖² ≤ (‖P − z*‖ + ζ_t)² ≤ ‖P − z*‖² + 2Rζ_t + ζ_t² ≤ ‖P − z*‖² + 3Rζ_t,
by (i), which would even allow (7/3)Rζ_t.  (iii) P is non-expansive: ‖P − z*‖² ≤ ‖z_t − z*‖² − 2η_t⟨g_t, z_t − z*⟩ +
η_t²‖g_t‖².  (iv) Divide by 2η_t and sum.  1/η_t does not decrease, so by Abel summation the distances give at most
R²/(2η_T) = R·r_T/2.  (v) ‖g_t‖²/r_t = (r_t² − r_{t−1}²)/r_t ≤ 2(r_t − r_{t−1}), so ½Σ η_t‖g_t‖² ≤ R·r_T.  (vi) The
projections give Σ 3Rζ_t/(2η_t) = ½Σ η_t‖g_t‖² ≤ R·r_T.  Together (5/2)·R·r_T; divide by T and use convexity.
(vii) r_t ≤ Lip·√t bounds the number of steps.

Constant step (Lemma D.5).  With ν-subgradients, F(u) ≥ F(z_t) + ⟨g_t, u − z_t⟩ − ν, step η and projections that err by
at most ζ ≤ R, the same lines give F(z̄) − F* ≤ R²/(2ηT) + (η/2)·mean‖g_t‖² + ν + 3Rζ/(2η).

Departures: the bound reported for a constant step uses the norms seen instead of their bound M, hence is never larger.
The paper's share of the error for the projections is not known; `iterations_for` gives them a tenth unless told.

Rounding.  Bounds are those of exact arithmetic, rounded outward in their own evaluation.  The rounding of the oracles
(J, its subgradients, a projection asked for more than floats can give) is not in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.domains import EPS, Domain, Localised
from tailproof.refimpl.losses import GlmLoss, Loss, Quadratic, Ridge
from tailproof.refimpl.projections import inexact_projection
from tailproof.refimpl.validation import (
    FloatArray,
    InputError,
    between,
    matrix,
    nonnegative,
    positive,
    records,
    vector,
    whole,
)

SubgradientOracle: TypeAlias = Callable[[FloatArray], FloatArray]
ProjectionOracle: TypeAlias = Callable[[FloatArray, float], FloatArray]  # (point, accuracy) ↦ a point of the set


class StepLimitError(RuntimeError):
    """The method was given a largest number of steps and did not finish within it."""


# ---------------------------------------------------------------------------------------------------- the objective


@dataclass(frozen=True, eq=False)
class JointObjective:
    """J for the given records, C = `lipschitz`, λ = `strength` and w0 = `center`.

    Every y_i meets only its own record.  A generalised linear loss needs only the margins ⟨x_i, y_i⟩, taken row by row;
    the quadratic loss the rows A(y_i − x_i); the ridge adds its penalty to either.
    """

    loss: Loss
    data: FloatArray
    lipschitz: float
    strength: float
    center: FloatArray
    features: FloatArray = field(init=False, repr=False)  # label times features where there are labels
    targets: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.loss, GlmLoss | Quadratic | Ridge):
            raise InputError(f"loss = {self.loss!r}: must be a generalised linear, quadratic or ridge loss")
        center = vector("center", self.center)
        columns = self.loss.columns(center.size)
        data = records("data", self.data, least=1, columns=columns).copy()
        base = self.loss.loss if isinstance(self.loss, Ridge) else self.loss
        features, targets = base.split(data)
        if features.shape[1] != center.size:
            raise InputError(f"center: has {center.size} entries; must have {features.shape[1]}")
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "lipschitz", positive("lipschitz", self.lipschitz))
        object.__setattr__(self, "strength", positive("strength", self.strength))
        object.__setattr__(self, "center", center.copy())
        object.__setattr__(self, "features", base.signed_features(data) if isinstance(base, GlmLoss) else features)
        object.__setattr__(self, "targets", targets)

    @property
    def size(self) -> int:
        """The number n of records."""
        return len(self.data)

    def start(self, w: ArrayLike) -> FloatArray:
        """The joint point with all y_i = w, where J is the regularised risk of w."""
        return np.tile(vector("w", w, size=self.center.size), (self.size + 1, 1))

    def value(self, joint: ArrayLike) -> float:
        """J at a point of shape (n+1, d)."""
        w, own = self._split(joint)
        gaps = np.linalg.norm(w - own, axis=1)
        pull = w - self.center
        mean = float(np.mean(_own_values(self.loss, own, self.features, self.targets) + self.lipschitz * gaps))
        return mean + self.strength / 2 * float(pull @ pull)

    def subgradient(self, joint: ArrayLike) -> FloatArray:
        """A subgradient of J, of shape (n+1, d); where y_i = w the norm's is 0."""
        w, own = self._split(joint)
        offsets = w - own
        gaps = np.linalg.norm(offsets, axis=1)
        pulls = offsets * (self.lipschitz / np.where(gaps > 0, gaps, 1.0))[:, np.newaxis]
        result = np.empty((self.size + 1, w.size))
        result[0] = pulls.mean(axis=0) + self.strength * (w - self.center)
        result[1:] = (_own_gradients(self.loss, own, self.features, self.targets) - pulls) / self.size
        return result

    def norm_upper(self, first: Domain, rest: Domain) -> float:
        """A bound on the norm of `subgradient` for w in `first` and all y_i in `rest`."""
        about_w = self.lipschitz + self.strength * first.max_norm_from(self.center)
        about_y = (self.loss.lipschitz_upper(self.data, rest) + self.lipschitz) / self.size
        return math.hypot(about_w, float(np.linalg.norm(about_y))) * (1 + (self.size + 16) * EPS)

    def _split(self, joint: ArrayLike) -> tuple[FloatArray, FloatArray]:
        rows = matrix("joint", joint, columns=self.center.size)
        if len(rows) != self.size + 1:
            raise InputError(f"joint: has {len(rows)} rows; must have {self.size + 1}, w and one for every record")
        return rows[0], rows[1:]


def _own_values(loss: Loss, points: FloatArray, x: FloatArray, t: FloatArray) -> FloatArray:
    """f(y_i, x_i) for every record i and its own point y_i."""
    if isinstance(loss, Ridge):
        penalties: FloatArray = np.einsum("ij,ij->i", points, points) * (loss.weight / 2)
        return _own_values(loss.loss, points, x, t) + penalties
    if isinstance(loss, Quadratic):
        roots = (points - x) @ loss.root
        halves: FloatArray = np.einsum("ij,ij->i", roots, roots) / 2
        return halves
    return loss.phi(np.einsum("ij,ij->i", x, points), t)


def _own_gradients(loss: Loss, points: FloatArray, x: FloatArray, t: FloatArray) -> FloatArray:
    """A subgradient of f(·, x_i) at y_i for every record i and its own point y_i."""
    if isinstance(loss, Ridge):
        return _own_gradients(loss.loss, points, x, t) + loss.weight * points
    if isinstance(loss, Quadratic):
        product: FloatArray = (points - x) @ loss.matrix
        return product
    return x * loss.dphi(np.einsum("ij,ij->i", x, points), t)[:, np.newaxis]


def joint_diameter_upper(first: Domain, rest: Domain, size: int) -> float:
    """R of first × rest^n, √(diam(first)² + n·diam(rest)²), rounded outward."""
    n = whole("size", size, least=1)
    return math.hypot(first.diameter_upper(), math.sqrt(n) * rest.diameter_upper()) * (1 + 8 * EPS)


def joint_projection(first: Domain, rest: Domain) -> ProjectionOracle:
    """Projection onto first × rest^n.  Only a localised `first` is projected onto inexactly, as in Lemma 2.8."""

    def project(joint: FloatArray, accuracy: float) -> FloatArray:
        result = np.empty_like(joint)
        result[1:] = rest.project(joint[1:])
        if isinstance(first, Localised):
            base, center, radius = first.base, first.center, first.radius
            result[0] = inexact_projection(base, center=center, radius=radius, point=joint[0], accuracy=accuracy).point
        else:
            result[0] = first.project(joint[0])
        return result

    return project


# ------------------------------------------------------------------------------------------------------- the methods


@dataclass(frozen=True, eq=False)
class SubgradientResult:
    """A point whose objective is within `bound` of the minimum over the set."""

    point: FloatArray
    iterations: int
    bound: float
    stopped_by: Literal["bound", "zero subgradient", "count"]


def adaptive_iterations_upper(*, diameter: float, norm_upper: float, accuracy: float) -> int:
    """⌈(2.5·R·Lip/α)²⌉, and at least 1: the adaptive method has stopped by then."""
    reach = positive("diameter", diameter) * nonnegative("norm_upper", norm_upper)
    return max(1, math.ceil((2.5 * reach / positive("accuracy", accuracy)) ** 2 * (1 + 16 * EPS)))


def adaptive_subgradient(
    start: FloatArray,
    *,
    subgradient: SubgradientOracle,
    project: ProjectionOracle,
    diameter: float,
    accuracy: float,
    most_steps: int | None = None,
) -> SubgradientResult:
    """[P4, Algorithm 3] An `accuracy`-minimiser over a set of diameter ≤ `diameter`, with certainty.

    It needs no Lipschitz constant.  `start` is projected first.  `most_steps` makes it raise StepLimitError; it is for
    tests: code that promises privacy must not set it, for whether it raises depends on the data.
    """
    reach, goal = positive("diameter", diameter), positive("accuracy", accuracy)
    limit = math.inf if most_steps is None else whole("most_steps", most_steps, least=1)
    point = project(start, reach)
    average = np.zeros_like(point)
    root_sum = 0.0  # √S_t, by hypot: squares of small norms would underflow
    count = 0
    while count < limit:
        count += 1
        slope = subgradient(point)
        length = _length(slope)
        if length == 0:
            return SubgradientResult(point, count, 0.0, "zero subgradient")
        average += (point - average) / count
        root_sum = math.hypot(root_sum, length)
        bound = 2.5 * reach * root_sum / count * (1 + (count + slope.size + 16) * EPS)
        if bound <= goal:
            return SubgradientResult(average, count, bound, "bound")
        error = reach / 3 * (length / root_sum) ** 2  # η_t²‖g_t‖²/(3R)
        point = project(point - (reach / root_sum) * slope, error)
    raise StepLimitError(f"no certificate after {count} steps: the bound is {bound:g}, the accuracy {goal:g}")


@dataclass(frozen=True)
class StepPlan:
    """A constant step, the number of steps and the error allowed to a projection."""

    iterations: int
    step: float
    projection_error: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "iterations", whole("iterations", self.iterations, least=1))
        object.__setattr__(self, "step", positive("step", self.step))
        object.__setattr__(self, "projection_error", nonnegative("projection_error", self.projection_error))


def constant_step_bound(
    *, diameter: float, norm_upper: float, bias: float, step: float, iterations: int, projection_error: float
) -> float:
    """[P4, Lemma D.5] R²/(2ηT) + ηM²/2 + ν + 3Rζ/(2η), for ζ ≤ R; rounded outward."""
    reach, largest = positive("diameter", diameter), nonnegative("norm_upper", norm_upper)
    eta, count = positive("step", step), whole("iterations", iterations, least=1)
    zeta = between("projection_error", projection_error, 0.0, reach)
    total = reach / (2 * eta) * (reach / count) + eta * largest / 2 * largest + nonnegative("bias", bias)
    return (total + 1.5 * reach * zeta / eta) * (1 + 16 * EPS)


def iterations_for(
    *, diameter: float, norm_upper: float, accuracy: float, bias: float = 0.0, projection_share: float = 0.1
) -> StepPlan:
    """A plan whose bound is ≤ `accuracy`: of α − ν, `projection_share` goes to the projections.

    η = R/(M√T) makes the bound RM/√T + ν + 3ζM√T/2.  So T = ⌈(RM/((1−share)(α−ν)))²⌉ and ζ = share·(α−ν)/(1.5·M√T),
    or R if that is less (Lemma D.5 needs ζ ≤ R).
    """
    reach, largest = positive("diameter", diameter), positive("norm_upper", norm_upper)
    goal, nu = positive("accuracy", accuracy), nonnegative("bias", bias)
    share = between("projection_share", projection_share, 1e-6, 0.5)
    if nu >= goal:
        raise InputError(f"bias = {nu!r}: must be < accuracy = {goal!r}")
    left = (goal - nu) * (1 - 64 * EPS) - 64 * EPS * goal  # room for the rounding of the bound
    if left <= 0:
        raise InputError(f"bias = {nu!r}: is too close to accuracy = {goal!r} to be told from it")
    count = max(1, math.ceil((reach * largest / ((1 - share) * left)) ** 2))
    root = math.sqrt(count)
    return StepPlan(count, reach / (largest * root), min(reach, share * left / (1.5 * largest * root)))


def constant_step_subgradient(
    start: FloatArray,
    *,
    subgradient: SubgradientOracle,
    project: ProjectionOracle,
    diameter: float,
    plan: StepPlan,
    bias: float = 0.0,
) -> SubgradientResult:
    """[P4, Lemma D.5] The average of `plan.iterations` points, from ν-subgradients with ν ≤ `bias`.

    The bound takes the norms of the subgradients as seen; it is ≤ `constant_step_bound` if none exceeds M.  A zero
    ν-subgradient ends the method at once: F(z_t) ≤ F* + ν.
    """
    reach, nu = positive("diameter", diameter), nonnegative("bias", bias)
    if not isinstance(plan, StepPlan):
        raise InputError(f"plan = {plan!r}: must be a StepPlan")
    between("plan.projection_error", plan.projection_error, 0.0, reach)
    point = project(start, reach)
    average = np.zeros_like(point)
    root_sum = 0.0
    for count in range(1, plan.iterations + 1):
        slope = subgradient(point)
        length = _length(slope)
        if length == 0:
            return SubgradientResult(point, count, nu, "zero subgradient")
        average += (point - average) / count
        root_sum = math.hypot(root_sum, length)
        point = project(point - plan.step * slope, plan.projection_error)
    bound = constant_step_bound(
        diameter=reach,
        norm_upper=root_sum / math.sqrt(count) * (1 + (count + slope.size + 16) * EPS),
        bias=nu,
        step=plan.step,
        iterations=count,
        projection_error=plan.projection_error,
    )
    return SubgradientResult(average, count, bound, "count")


def _length(slope: FloatArray) -> float:
    """The Euclidean norm, of an array of any shape, without overflow or underflow of squares."""
    largest = float(np.abs(slope).max())
    if not math.isfinite(largest):
        raise OverflowError("a subgradient is not finite: the objective exceeds the floating-point range")
    return largest * float(np.linalg.norm(slope / largest)) if largest > 0 else 0.0
