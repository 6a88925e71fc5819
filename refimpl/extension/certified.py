"""[P4, §2.3 and C.2; the default minimiser] Certified minimisation of the regularised Lipschitz extension.

    F(w) = (1/n) Σ f_C(w, x_i) + (λ/2)‖w − w0‖²  over W or W ∩ B(c, r), to a gap F(w̃) − F* ≤ α that is proved afterwards.

Nothing here is trusted: whatever finds w̃, the answer is returned only when `certificate.gap_upper`, which knows nothing of
the search, says that its gap is at most α.  A certificate consists of points y_i of W, subgradients g_i and slopes v_i.

The search.  F has kinks where a minimiser y_i of a polyhedral loss leaves w.  So F is replaced by F_μ, the same with the
Moreau envelope φ_μ of φ, whose width is μ‖x_i‖² (1/μ is then the curvature of a smoothed kink, and μC its width in w).  F_μ
is minimised by Newton's method, with a quadratic program over the set in place of the linear system and a line search on
the derivative; then μ is divided and so on.  The slopes of F_μ at its minimiser are nearly optimal multipliers for F: with
the true y_i beside them they prove a gap of the order μ² (the number of kinks in reach is itself of the order μ).  Smooth
losses are smoothed only where a record bends more sharply than 1/μ.  This is for balls.  A domain with edges makes f_C itself
sharp where y_i sticks to them, so on other domains f_C is smoothed as a whole (`envelope`).

If rounding is in the way, which is a matter of extreme records, these get numbers of higher precision (`refined`).  If that
does not help either, cutting planes follow: the tangents of mean f_C at the points seen so far, plus (λ/2)‖w − w0‖², are
minimised over the set, and the minimiser is the next point.  While the gap exceeds α every new point is at least α/(2C) away
from all former ones, so in exact arithmetic this ends; the precision and the number of tangents are doubled whenever it seems
not to.  The mixture of tangents that is active at the minimum is, record by record, a certificate again.
After a few rounds the ellipsoid method takes over, with a number of steps that public numbers give, in exact enough arithmetic.
There is no way out with a gap above α, and no substitute answer: either would depend on the data and void the privacy claim.
For the same reason no error of a search leaves this module: the next search goes on.
An α that no point with float coordinates could be sure to have is refused beforehand, from public parameters alone; so are sets
so large that values could overflow.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Literal, TypeAlias

import cvxpy
import mpmath  # type: ignore[import-untyped]
import numpy as np
from mpmath import mpf
from mpmath.libmp import to_rational  # type: ignore[import-untyped]
from numpy.typing import NDArray

from tailproof.refimpl.domains import EPS, Ball, Domain, secular_root
from tailproof.refimpl.extension import certificate as checker
from tailproof.refimpl.extension.batched import Batch, Extension, batch, fenchel_gap
from tailproof.refimpl.extension.certificate import Certificate, Problem, Rejected, record_gaps_upper
from tailproof.refimpl.extension.envelope import Envelope, envelope
from tailproof.refimpl.extension.exact_sets import Matrix, Vector, exact, exact_matrix, length
from tailproof.refimpl.extension.held import Warm
from tailproof.refimpl.extension.refined import ExactRecord, quadratic_gradient, refine
from tailproof.refimpl.extension.smoothing import Smoothed
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.total import nearest, spectrum
from tailproof.refimpl.validation import FloatArray, InputError, positive

Stage = Literal["newton", "newton, refined", "cutting planes", "central cuts"]

LARGEST_REACH = 1e14  # of W: then no value overflows, records having entries of at most 1e60
_DIVISOR = 8.0  # of μ, from one smoothed problem to the next
_MOST_STEPS = 30  # of Newton's method on one of them
_PATIENCE = 8  # of these, in which the gap must halve
_LEAST_BITS = 64  # of refined records
_PLANE_BITS = 256  # of cutting planes at first
_ROUNDS = 4  # of cutting planes, each with twice the bits
_CUT_BITS = 1024  # of central cuts
_THINNEST = 1e-14  # of a set's size is within a ball in it
_MOST_REFINED = 200  # records, while there is hope to do with fewer
_MOST_PLANES = 150  # before the precision is doubled
_WARM_SIZE = 4000  # records from which on a sixteenth of them is solved first, for a start


@dataclass(frozen=True, eq=False)
class Minimiser:
    """A point whose gap is proved to be at most `gap_upper`, the proof, and how it was found."""

    point: FloatArray
    gap_upper: float
    certificate: Certificate
    stage: Stage
    evaluations: int  # of the mean of f_C over all records


def accuracy_lower(problem: Problem) -> float:
    """The least α that is accepted: what moving the minimiser to float coordinates inside the set may cost.

    Where the matrix of a quadratic loss is not positive semidefinite, by rounding, no certificate can do with less than that.
    """
    within, weight, anchor = problem.within, problem.weight, problem.anchor
    away = float(np.linalg.norm(anchor - within.project(anchor)))
    steepness = min(2 * problem.lipschitz + weight * away, problem.lipschitz + weight * within.max_norm_from(anchor))
    far = within.max_norm_from(np.zeros(problem.dimension))
    return (
        rounding_cost(steepness=steepness, weight=weight, dimension=problem.dimension, far=far)
        + 16 * problem.tangent_deficit
    )


def rounding_cost(*, steepness: float, weight: float, dimension: int, far: float) -> float:
    """What moving a minimiser to float coordinates in a set that reaches that far from the origin may cost.

    The minimiser is within C/λ of the point of the set next to w0, so that F has at most the slope C + λ‖w − w0‖ ≤
    2C + λ·dist(w0, set) there, the steepness.
    """
    move = rounding_move(dimension, far)
    return 8 * (steepness + weight * move) * move


def rounding_move(dimension: int, far: float) -> float:
    """Rounding moves a point of such a set, kept inside, by less than this."""
    return 8 * (dimension + 4) * EPS * far


def minimise(problem: Problem, accuracy: float) -> Minimiser:
    """A point of the problem's set whose objective is, provably, within `accuracy` of the minimum."""
    goal = positive("accuracy", accuracy)
    if goal < (least := accuracy_lower(problem)):
        raise InputError(f"accuracy = {goal!r}: must be at least {least:.3g}, what rounding to floats may cost")
    if (reach := problem.domain.max_norm_from(np.zeros(problem.dimension))) > LARGEST_REACH:
        raise InputError(f"domain: reaches {reach:.3g} far from the origin; at most {LARGEST_REACH:g} is allowed")
    search = _Search(problem, goal)
    attempts: list[Callable[[], Minimiser | None]] = [search.newton]
    attempts += [partial(search.cutting_planes, _PLANE_BITS * 2**k) for k in range(_ROUNDS)]
    for attempt in attempts:
        # A search only suggests: whatever goes wrong in one, the next goes on.
        with suppress(ArithmeticError, ValueError, RuntimeError, IndexError, AssertionError):
            if (found := attempt()) is not None:
                return found
    return search.central_cuts()


def gap_upper(problem: Problem, certificate: Certificate) -> float:
    """What the certificate proves; inf where it proves nothing."""
    try:
        return checker.gap_upper(problem, certificate)
    except Rejected:
        return math.inf


def accuracy_for(*, lipschitz: float, weight: float, size: int, kappa: float = 1.0) -> float:
    """α = κ²C²/(2λn²), rounded down: then the minimiser is known to within κ·C/(λn)."""
    ratio = positive("kappa", kappa) * positive("lipschitz", lipschitz) / size
    return ratio * ratio / (2 * positive("weight", weight)) * (1 - 8 * EPS)


# -------------------------------------------------------------------------------------------------- the smoothed problem


@dataclass(frozen=True, eq=False)
class _State:
    """F_μ at a point."""

    problem: Problem
    point: FloatArray
    extension: Extension | Envelope
    widths: FloatArray | None = None  # of a smoothed loss

    @property
    def is_smoothed(self) -> bool:
        """Whether F_μ is not F itself."""
        return self.widths is not None or isinstance(self.extension, Envelope)

    @cached_property
    def slope(self) -> FloatArray:
        """The mean of the g."""
        return self.extension.mean_subgradient()

    @cached_property
    def gradient(self) -> FloatArray:
        return self.slope + self.problem.weight * (self.point - self.problem.anchor)

    def spectrum(self) -> tuple[FloatArray, FloatArray]:
        """The eigenvalues of the Hessian, at least λ whatever the rounding, and its eigenvectors as columns."""
        eigenvalues, vectors = spectrum(np.nan_to_num(self.extension.mean_hessian(), posinf=1e150, neginf=-1e150))
        return np.maximum(eigenvalues, 0.0) + self.problem.weight, vectors

    @cached_property
    def own_gap(self) -> float:
        """At least F_μ(w) − min F_μ."""
        return _remainder(self.problem, self.point, self.slope)

    @cached_property
    def landing(self) -> tuple[FloatArray, float, FloatArray]:
        """Of the envelope: the point to answer with, its gap and its minimisers.

        On the boundary every record holds y back on its own, so the minimiser of F_μ is about μC away from faces that hold back
        the minimiser of F.  So it is moved in the direction in which the y press, if that is better.
        """
        found, p = self.extension, self.problem
        assert isinstance(found, Envelope)
        push = self._push()
        points = [self.point] + ([_inside(p.within, self.point + push)] if push.any() else [])
        gaps = [found.gaps_at(point) for point in points]
        totals = [
            float(np.mean(gap)) + _remainder(p, point, self.slope) for point, (gap, _) in zip(points, gaps, strict=True)
        ]
        best = int(np.argmin(totals))
        point, stays = points[best], gaps[best][1]
        return point, totals[best], np.where(stays[:, np.newaxis], point, found.y)

    def _push(self) -> FloatArray:
        """Far in the direction in which the y press, but no farther than a few diameters: beyond, only the direction counts."""
        found = self.extension
        assert isinstance(found, Envelope)
        push = np.nan_to_num(1000 * found.mu * found.pressure(), posinf=1e150, neginf=-1e150)
        length, farthest = float(np.abs(push).max()), 4 * self.problem.within.diameter_upper()
        return push if length <= farthest else push * (farthest / length)

    @cached_property
    def smoothing_gap(self) -> float:
        """About what the slopes of F_μ lack as multipliers for F: a kink in reach costs μ|v|·(steepest slope − |v|) or, if
        w stays where it is, its Fenchel gap."""
        if isinstance(self.extension, Envelope):
            return max(self.landing[1] - self.own_gap, 0.0)
        if self.widths is None:
            return 0.0
        near = np.flatnonzero((self.extension.kind == 1) & (self.widths > 0) & (self.extension.duals != 0))
        of = self.extension.batch
        loss = of.glm.loss if isinstance(of.glm, Smoothed) else of.glm
        v, norms = self.extension.duals[near], of.norms[near]
        steepest = np.minimum(max(map(abs, loss.slope_range)), of.lipschitz / np.maximum(norms, 1e-300))
        moved = self.widths[near] * np.abs(v) * np.maximum(steepest - np.abs(v), 0.0)
        stays = fenchel_gap(loss, self.extension.margins[near], of.targets[near, 0], v)
        return float(np.minimum(moved, stays).sum()) / len(of.norms)


def _remainder(problem: Problem, point: FloatArray, slope: FloatArray) -> float:
    """max over u of −⟨G, u − w⟩ − (λ/2)‖u − w‖², G = slope + λ(w − w0), attained at P(w − G/λ)."""
    weight = problem.weight
    gradient = slope + weight * (point - problem.anchor)
    move = nearest(problem.within, point - gradient / weight) - point
    return float(-gradient @ move - weight / 2 * move @ move)


def _penalty(problem: Problem, point: FloatArray) -> float:
    offset = point - problem.anchor
    return problem.weight / 2 * float(offset @ offset)


Smooth = Callable[[FloatArray], _State]


def _smooth(problem: Problem, of: Batch, mu: float, warm: Warm) -> Smooth:
    """F_μ: on a ball, where records need two coefficients only, by smoothing the loss; elsewhere by smoothing f_C."""
    if not isinstance(of.loss, Quadratic | Ridge) and not isinstance(of.domain, Ball):
        return lambda point: _State(problem, point, envelope(of, mu, point, warm))
    softer, widths = _smoothed(of, mu)
    return lambda point: _State(problem, point, softer.at(point), widths)


def _smoothed(of: Batch, mu: float) -> tuple[Batch, FloatArray | None]:
    """The records with φ_μ in place of φ, and the widths; a smooth loss only where it bends more sharply than 1/μ."""
    inner = of.loss.loss if isinstance(of.loss, Ridge) else of.loss
    if isinstance(inner, Quadratic):
        return of, None
    widths = np.maximum(mu * np.square(of.norms), 1e-290)
    if not inner.is_polyhedral:
        slopes = of.lipschitz / np.maximum(of.norms, 1e-100)
        bends = 12 * np.cbrt(slopes / 4) ** 2 if isinstance(inner, L4) else inner.curvature_upper
        widths = np.where(widths * bends > 1, widths, 0.0)
        if not widths.any():
            return of, None
    loss = Ridge(Smoothed(inner), of.loss.weight) if isinstance(of.loss, Ridge) else Smoothed(inner)
    return replace(of, loss=loss, targets=np.column_stack([of.targets, widths])), widths


# -------------------------------------------------------------------------------------------------------------- the search


@dataclass(eq=False)
class _Search:
    problem: Problem
    goal: float
    evaluations: int = 0
    batch: Batch = field(init=False)
    last: FloatArray = field(init=False)
    unproved: float | None = None  # the best bound that was not good enough, at the last try
    refined: dict[tuple[bytes, int, int], ExactRecord] = field(default_factory=dict)
    warm: Warm = field(default_factory=Warm)

    def __post_init__(self) -> None:
        p = self.problem
        self.batch = batch(loss=p.loss, data=p.data, domain=p.domain, lipschitz=p.lipschitz)

    def newton(self) -> Minimiser | None:
        """Newton's method on F_μ for smaller and smaller μ."""
        point, mu = self._start()
        while True:
            state = self._smooth_minimum(point, mu)
            self.last = state.point
            hopeful = state.smoothing_gap + state.own_gap <= 0.9 * self.goal
            found = self._proved(state) if hopeful else None
            if found is not None:
                return found
            if not state.is_smoothed or mu * self.problem.lipschitz**2 < self.goal / 64:
                # So little smoothing, or none at all, cannot be what is in the way: perhaps rounding is.
                return self._proved(state) if hopeful else None
            mu, former = mu / _DIVISOR if hopeful else self._next(mu, state), mu
            point = self._ahead(state, mu / former)

    def _proved(self, state: _State) -> Minimiser | None:
        """The answer, if a certificate proves it.  Records are refined when less smoothing has not helped."""
        best = math.inf
        for certificate in self._certificates(state):
            bound = gap_upper(self.problem, certificate)
            if bound <= self.goal:
                return Minimiser(certificate.point, bound, certificate, "newton", self.evaluations)
            best = min(best, bound)
            stuck = self.unproved is not None and not bound < self.unproved / 2
            worst = self._worst(certificate) if stuck else np.zeros(0, dtype=np.intp)
            if 0 < worst.size <= _MOST_REFINED:
                kept = np.flatnonzero(state.extension.kind < 3)
                refined = self._refined(certificate, worst, kept, _LEAST_BITS)
                bound = gap_upper(self.problem, refined)
                if bound <= self.goal:
                    return Minimiser(refined.point, bound, refined, "newton, refined", self.evaluations)
        self.unproved = best
        return None

    def _worst(self, certificate: Certificate) -> NDArray[np.intp]:
        """The records without which the bound would be within 3/4 of the goal; none if that is not for records to do."""
        none = np.zeros(0, dtype=np.intp)
        if _remainder(self.problem, certificate.point, certificate.subgradients.mean(axis=0)) > self.goal / 2:
            return none
        gaps = record_gaps_upper(self.problem, certificate) / self.problem.size
        order = np.argsort(gaps)
        return np.asarray(order[np.cumsum(gaps[order]) > self.goal / 4])

    def _refined(self, certificate: Certificate, worst: NDArray[np.intp], kept: NDArray[np.intp], bits: int) -> Certificate:
        """The certificate with exact numbers for some records.

        Often the floats are good and only float arithmetic cannot tell.  Of the others, those that are kept keep g = v·x, which a
        kink near w needs, and get a better y only.
        """
        p, point, share = self.problem, certificate.point, self.goal * self.problem.size / (8 * max(worst.size, 1))
        numbers = {int(i): _exact_record(certificate, int(i)) for i in worst}
        gaps = record_gaps_upper(p, replace(certificate, exact=numbers))
        coarse = worst[gaps[worst] > share]
        for i, enough in zip(coarse.tolist(), np.maximum(bits_for(p, coarse, share), bits).tolist(), strict=True):
            better = self._refine(point, i, enough)
            if i in kept:
                better = ExactRecord(numbers[i].dual, better.minimiser, _gradient(p, i, numbers[i].dual, better, enough))
            numbers[i] = better
        return replace(certificate, exact=numbers)

    def _refine(self, point: FloatArray, i: int, bits: int) -> ExactRecord:
        """Kept, as several certificates are tried at one point."""
        key = (point.tobytes(), i, bits)
        if key not in self.refined:
            self.refined[key] = refine(self.problem, point, i, bits=bits)
        return self.refined[key]

    def _start(self) -> tuple[FloatArray, float]:
        """Where to begin, and with which μ: the minimiser for a sixteenth of the records, if there are many."""
        p = self.problem
        if p.size < _WARM_SIZE:
            return _inside(self.problem.within, p.anchor), 0.15 * p.within.diameter_upper() / p.lipschitz
        fewer = replace(p, data=p.data[::16])
        # As accurate as so few records can tell.
        sample_error = 0.01 * p.lipschitz * p.within.diameter_upper() * p.dimension / fewer.size
        point, mu = _Search(fewer, max(sample_error, self.goal)).rough()
        return _inside(self.problem.within, point), mu

    def rough(self) -> tuple[FloatArray, float]:
        """Newton's method without a certificate: the point and the last μ."""
        point, mu = self._start()
        while True:
            state = self._smooth_minimum(point, mu)
            if state.smoothing_gap + state.own_gap <= self.goal or mu * self.problem.lipschitz**2 < self.goal / 64:
                return state.point, mu
            mu, former = self._next(mu, state), mu
            point = self._ahead(state, mu / former)

    def _ahead(self, state: _State, ratio: float) -> FloatArray:
        """Where to look for the minimum when μ changes by that ratio: its distance from the boundary does, too."""
        if not isinstance(state.extension, Envelope):
            return state.point
        landing = state.landing[0]
        return _inside(self.problem.within, landing + ratio * (state.point - landing))

    def _next(self, mu: float, state: _State) -> float:
        """Less smoothing, but not less than the accuracy asks for: the gap is of the order of μ²."""
        wanted = math.sqrt(self.goal / 4 / state.smoothing_gap) if state.smoothing_gap > self.goal / 4 else 1.0
        return mu * max(1 / _DIVISOR, min(wanted, 0.5))

    def _at(self, smooth: Smooth, point: FloatArray) -> _State:
        self.evaluations += 1
        return smooth(point)

    def _smooth_minimum(self, point: FloatArray, mu: float) -> _State:
        """The minimiser of F_μ, about as accurately as the smoothing itself is accurate."""
        smooth = _smooth(self.problem, self.batch, mu, self.warm)
        state = self._at(smooth, point)
        gaps: list[float] = []
        for _ in range(_MOST_STEPS):
            gaps.append(state.own_gap)
            if state.own_gap <= 0.1 * max(state.smoothing_gap, self.goal):
                break
            if len(gaps) > _PATIENCE and min(gaps[-_PATIENCE:]) > min(gaps[:-_PATIENCE]) / 2:
                break  # the Hessian is of no use here: cutting planes are faster
            following = self._along(smooth, state, self._model_minimum(state) - state.point)
            if following is None:
                break
            state = following
        return state

    def _along(self, smooth: Smooth, state: _State, step: FloatArray) -> _State | None:
        """A point on the way that is not, or not far, beyond the minimum there; none if rounding is in the way.

        It looks at slopes only: the values of extreme records would drown the rest.
        """
        slope = float(state.gradient @ step)
        if not slope < 0:
            return None
        low, high, at_low, at_high, share = 0.0, math.inf, slope, 0.0, 1.0
        least = EPS * float(np.abs(state.point).max()) / float(np.abs(step).max())  # less moves no coordinate
        best = None
        for _ in range(40):
            trial = self._at(smooth, _inside(self.problem.within, state.point + share * step))
            ahead = float(trial.gradient @ step)
            if ahead <= 0:
                best, low, at_low = trial, share, ahead
            else:
                high, at_high = share, ahead
            if abs(ahead) <= -slope / 4 or (ahead <= 0 and high == math.inf):
                best = trial
                break
            if high <= least or (best is not None and high - low < 0.1 * high):
                break
            share = low - at_low * (high - low) / (at_high - at_low)
            share = min(max(share, low + 0.05 * (high - low)), high - 0.05 * (high - low))
        return None if best is None or np.array_equal(best.point, state.point) else best

    def _model_minimum(self, state: _State) -> FloatArray:
        """The minimiser over the set of ⟨G, u − w⟩ + ½(u − w)ᵀH(u − w)."""
        within, (eigenvalues, vectors) = self.problem.within, state.spectrum()
        if isinstance(within, Ball):
            return _model_minimum_in_ball(within, state.point, state.gradient, eigenvalues, vectors)
        farthest = 2 * within.diameter_upper()  # outside, whatever the direction
        newton = vectors @ ((vectors.T @ state.gradient) / eigenvalues)
        free = state.point - np.clip(newton, -farthest, farthest)
        if within.contains(free):
            return free
        if self.problem.dimension == 1:
            return nearest(within, free)
        return self._program.minimum(state.point, state.gradient, eigenvalues, vectors)

    @cached_property
    def _program(self) -> _QuadraticProgram:
        return _QuadraticProgram(self.problem.within)

    def _certificates(self, state: _State) -> Iterator[Certificate]:
        """The slopes and subgradients of F_μ with the minimisers of F; then those of F itself where they are better."""
        found, p = state.extension, self.problem
        if isinstance(found, Envelope):
            point, _, y = state.landing
            yield certificate_of(p, point, found.duals, y, found.subgradients())
            return
        exact = self.batch.at(state.point) if state.widths is not None else found
        smooth = certificate_of(p, state.point, found.duals, exact.minimisers(), found.subgradients())
        yield smooth
        if exact is found:
            return
        gaps = record_gaps_upper(p, smooth)
        # On the boundary g and v·x need not be equal, and the slopes of F may be better.
        steeper = replace(smooth, duals=exact.duals)
        better = record_gaps_upper(p, steeper) < gaps
        yield replace(smooth, duals=np.where(better, exact.duals, smooth.duals))
        plain = replace(steeper, subgradients=_shortened(exact.subgradients(), p.lipschitz))
        better = record_gaps_upper(p, plain) < gaps
        rows = better[:, np.newaxis]
        yield replace(
            smooth,
            duals=np.where(better, plain.duals, smooth.duals),
            subgradients=np.where(rows, plain.subgradients, smooth.subgradients),
        )

    # ------------------------------------------------------------------------------------------------ the second stage

    def cutting_planes(self, bits: int) -> Minimiser | None:
        """Kelley's method on F; the quadratic part of F is kept as it is."""
        p, planes = self.problem, [self._plane(self.last, bits)]
        best, bound = planes[0], math.inf
        while len(planes) <= _MOST_PLANES * bits // _PLANE_BITS:
            point, shares = _lowest_model(p, planes, best, bound)
            plane = self._plane(_inside(p.within, point), bits)
            best = min(best, plane, key=lambda plane: plane.value)
            self.last = best.point
            certificate = self._mixed(best, planes, shares, bits)
            bound = gap_upper(p, certificate)
            if bound <= self.goal:
                return Minimiser(best.point, bound, certificate, "cutting planes", self.evaluations)
            if any(np.array_equal(plane.point, former.point) for former in planes):
                break  # nothing new would follow
            planes.append(plane)
        return None

    # ------------------------------------------------------------------------------------------------- the last resort

    def central_cuts(self) -> Minimiser:
        """The ellipsoid method, in a number of steps that public numbers give: what is left of the volume after them is less than
        that of the points of the set whose gap is within the goal.

        A step cuts the ellipsoid through its centre, by F's tangent there or, outside the set, by what leads to it; the volume
        falls by e^{−1/(2d + 2)}.  The points w* + t(w − w*), w in the set K, have a gap of at most t·L·D, and t^d times K's volume.
        """
        p, d = self.problem, self.problem.dimension
        far, steep = p.within.diameter_upper(), 2 * p.lipschitz + p.weight * p.within.max_norm_from(p.anchor)
        with mpmath.workprec(_CUT_BITS):
            middle, shape = exact(p.within.interior_point()), np.diag([mpf(far) ** 2] * d)
        best: _Plane | None = None
        for _ in range(math.ceil(2 * d * (d + 1) * (math.log(steep * far / self.goal + 1) - math.log(_THINNEST)))):
            point = np.array([float(entry) for entry in middle])
            inside = nearest(p.within, point)
            if np.array_equal(inside, point) or p.within.surely_contains(point):
                plane = self._plane(_inside(p.within, point), _CUT_BITS)
                best = plane if best is None or plane.value < best.value else best
                normal = plane.slope + p.weight * (plane.point - p.anchor)
            else:
                normal = point - inside
            if not normal.any():
                break
            with mpmath.workprec(_CUT_BITS):
                middle, shape = _halved(middle, shape, exact(normal))
        plane = best or self._plane(_inside(p.within, p.within.interior_point()), _CUT_BITS)
        return Minimiser(plane.point, self.goal, plane.certificate, "central cuts", self.evaluations)

    def _plane(self, point: FloatArray, bits: int) -> _Plane:
        self.evaluations += 1
        found = self.batch.at(point)
        certificate = certificate_of(self.problem, point, found.duals, found.minimisers(), found.subgradients())
        # Records that floats cannot prove, or whose values they cannot hold to the accuracy.
        coarse = np.maximum(record_gaps_upper(self.problem, certificate), 64 * EPS * np.abs(found.values))
        worst = np.flatnonzero(coarse > self.goal / 16)
        certificate = self._refined(certificate, worst, worst[:0], bits)
        ordinary = np.setdiff1d(np.arange(self.problem.size), worst)
        total = Fraction(math.fsum(found.values[ordinary]))
        for i, record in certificate.exact.items():
            total += refined_value(self.problem, point, i, record, bits=bits)
        return _Plane(self.problem, certificate, total / self.problem.size)

    def _mixed(self, best: _Plane, planes: list[_Plane], shares: FloatArray, bits: int) -> Certificate:
        """The minimisers at the best point, with mixtures of the slopes and subgradients of all.

        A quadratic part has its tangent at the minimiser; where planes have others their subgradients may need to follow.
        """
        p, active = self.problem, [(share, plane) for share, plane in zip(shares, planes, strict=True) if share > 0]
        mixed = _mixture(best, active, bits, follow=False)
        if not p.ridge and not isinstance(p.model, Quadratic):
            return mixed
        other = _mixture(best, active, bits, follow=True)
        better = record_gaps_upper(p, other) < record_gaps_upper(p, mixed)
        return replace(
            mixed,
            subgradients=np.where(better[:, np.newaxis], other.subgradients, mixed.subgradients),
            exact={i: (other if better[i] else mixed).exact[i] for i in mixed.exact},
        )


def _halved(middle: Vector, shape: Matrix, normal: Vector) -> tuple[Vector, Matrix]:
    """The least ellipsoid around the half of {w : (w − middle)ᵀ shape⁻¹ (w − middle) ≤ 1} where ⟨normal, w − middle⟩ ≤ 0."""
    d, way = len(middle), shape @ normal
    way = way / mpmath.sqrt(normal @ way)
    if d == 1:
        return middle - way / 2, shape / 4
    outer = np.array([[a * b for b in way] for a in way], dtype=object)
    return middle - way / (d + 1), (shape - outer * (mpf(2) / (d + 1))) * (mpf(d * d) / (d * d - 1))


@dataclass(frozen=True, eq=False)
class _Plane:
    """A tangent of the mean of f_C: its value at a point, with slopes and subgradients."""

    problem: Problem
    certificate: Certificate
    mean: Fraction

    @property
    def point(self) -> FloatArray:
        return self.certificate.point

    @cached_property
    def value(self) -> Fraction:
        """F."""
        return self.mean + Fraction(_penalty(self.problem, self.point))

    def height_at(self, point: FloatArray) -> Fraction:
        """The tangent's value there."""
        moves = (Fraction(a) - Fraction(b) for a, b in zip(point.tolist(), self.point.tolist(), strict=True))
        return self.mean + sum((Fraction(s) * move for s, move in zip(self.slope.tolist(), moves, strict=True)), Fraction())

    @cached_property
    def slope(self) -> FloatArray:
        g = self.certificate.subgradients
        extra = [
            np.array([float(entry) for entry in record.subgradient]) - g[i] for i, record in self.certificate.exact.items()
        ]
        return np.asarray((g.sum(axis=0) + sum(extra, np.zeros(g.shape[1]))) / len(g))

    def record(self, i: int) -> ExactRecord:
        """The numbers of a record, exactly."""
        return _exact_record(self.certificate, i)


def bits_for(problem: Problem, rows: NDArray[np.intp], gap: float) -> NDArray[np.intp]:
    """With so many bits the gap of these records, refined, is as small as that, by the bound that `refined` states."""
    if not rows.size:
        return rows
    steepness = problem.lipschitz + problem.loss.lipschitz_upper(problem.data[rows], problem.domain)
    return np.ceil(16 + np.log2(steepness) + math.log2(problem.domain.diameter_upper()) - math.log2(gap)).astype(np.intp)


def _exact_record(certificate: Certificate, i: int) -> ExactRecord:
    if i in certificate.exact:
        return certificate.exact[i]
    rows = (tuple(mpf(float(entry)) for entry in row) for row in (certificate.minimisers[i], certificate.subgradients[i]))
    return ExactRecord(mpf(float(certificate.duals[i])), *rows)


Weighted: TypeAlias = list[tuple[float, _Plane]]


def _mixture(best: _Plane, active: Weighted, bits: int, *, follow: bool) -> Certificate:
    """The minimisers of the best plane with mixed slopes and subgradients; these follow the change of the quadratic part's
    gradient from the planes' minimisers to the best one's, if asked to."""
    p, y = best.problem, best.certificate.minimisers

    def mean(rows: Callable[[Certificate], FloatArray]) -> FloatArray:
        return np.asarray(sum(share * rows(plane.certificate) for share, plane in active))

    duals, g = np.clip(mean(lambda c: c.duals), *_slope_range(p.loss)), mean(lambda c: c.subgradients)
    if follow:
        moved = y - mean(lambda c: c.minimisers)
        g = g + p.ridge * moved + (moved @ p.model.matrix if isinstance(p.model, Quadratic) else 0.0)
    special = set(best.certificate.exact).union(*(plane.certificate.exact for _, plane in active))
    exact_ones = {i: _mixed_record(i, best, active, bits, follow=follow) for i in special}
    return replace(certificate_of(p, best.point, duals, y, g), exact=exact_ones)


def _mixed_record(i: int, best: _Plane, active: Weighted, bits: int, *, follow: bool) -> ExactRecord:
    p, own = best.problem, best.record(i)
    with mpmath.workprec(4 * bits):
        total = sum(mpf(float(share)) for share, _ in active)
        parts = [(mpf(float(share)) / total, plane.record(i)) for share, plane in active]
        low, high = _slope_range(p.loss)
        dual = min(max(sum(share * record.dual for share, record in parts), mpf(low)), mpf(high))
        g = sum(share * np.array(record.subgradient, dtype=object) for share, record in parts)
        if follow:
            x, y = exact(p.features[i]), np.array(own.minimiser, dtype=object)
            former = sum(share * np.array(record.minimiser, dtype=object) for share, record in parts)
            g = g + quadratic_gradient(p, y, x) - quadratic_gradient(p, former, x)
        longest = mpf(p.lipschitz) * (1 - mpf(2) ** -bits)
        return ExactRecord(dual, own.minimiser, tuple(g * min(1, longest / (length(g) or longest))))


def _slope_range(loss: Loss) -> tuple[float, float]:
    inner = loss.loss if isinstance(loss, Ridge) else loss
    return (-math.inf, math.inf) if isinstance(inner, Quadratic) else inner.slope_range


def _lowest_model(problem: Problem, planes: list[_Plane], best: _Plane, gap: float) -> tuple[FloatArray, FloatArray]:
    """The minimiser of the greatest tangent of mean f_C, plus (λ/2)‖w − w0‖², and the tangents' shares in it.

    It is sought as best + δu in units of the gap that is left, so that it is found as accurately as that asks for, whatever
    the tolerance of the solver.  δ is how far the minimiser can be, √(2·gap/λ), or what the slopes need for such a gap.
    """
    far = problem.within.diameter_upper()
    unit = min(gap, 2 * problem.lipschitz * far)
    spread = max(float(np.linalg.norm(plane.slope - best.slope)) for plane in planes)
    delta = min(math.sqrt(2 * unit / problem.weight), far, unit / max(spread, 1e-300))
    gradient = problem.weight * (best.point - problem.anchor)
    rises = [float(plane.height_at(best.point) - best.mean) for plane in planes]
    u, top = cvxpy.Variable(problem.dimension), cvxpy.Variable()
    slopes = np.array([plane.slope + gradient for plane in planes]) * (delta / unit)
    # A tangent so low that it is nowhere the greatest need not be exact.
    heights = np.maximum(np.array(rises) / unit, -1e3 - 2 * np.linalg.norm(slopes, axis=1).max())
    below = slopes @ u + heights <= top
    pull = cvxpy.sum_squares(u) * (problem.weight * delta**2 / (2 * unit))
    constraints = [below, *problem.within.cvxpy_constraints(best.point + delta * u)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
        with suppress(cvxpy.SolverError, ValueError):
            cvxpy.Problem(cvxpy.Minimize(top + pull), constraints).solve(
                solver=cvxpy.CLARABEL, accept_unknown=True, **tolerances
            )
    shares, move = below.dual_value, u.value
    if shares is None or move is None or not (np.isfinite(shares).all() and np.isfinite(move).all() and (shares > 0).any()):
        # a step down the slope, in place of the model's minimum
        shares = np.array([float(plane is best) for plane in planes])
        move = -(best.slope + gradient) / (problem.weight * len(planes) * delta)
    shares = np.maximum(shares, 0.0)
    shares[shares < 1e-12 * shares.max()] = 0.0
    return best.point + delta * np.asarray(move), shares / shares.sum()


def _inside(domain: Domain, points: FloatArray) -> FloatArray:
    """The nearest points that are in the domain whatever the rounding."""
    rows = np.atleast_2d(nearest(domain, points))
    anchor, pull = domain.interior_point(), EPS
    while (outside := np.flatnonzero(~domain.surely_contains(rows))).size:
        rows[outside] = anchor + (1 - pull) * (rows[outside] - anchor)
        pull = min(1.0, 2 * pull)
    return rows.reshape(np.shape(points))


def certificate_of(problem: Problem, point: FloatArray, duals: FloatArray, y: FloatArray, g: FloatArray) -> Certificate:
    """With y and g moved into their sets where rounding has left them outside."""
    return Certificate(point, duals, _inside(problem.domain, y), _shortened(g, problem.lipschitz))


def _shortened(rows: FloatArray, longest: float) -> FloatArray:
    """The rows, cut where rounding may have made them longer than that."""
    limit = longest * (1 - 2 * (rows.shape[1] + 8) * EPS)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    over = np.flatnonzero(lengths > limit)
    rows = rows.copy() if over.size and not rows.flags.writeable else rows
    rows[over] *= (limit / lengths[over])[:, np.newaxis]
    return rows


# ------------------------------------------------------------------------------------------------------- quadratic models


def _model_minimum_in_ball(
    ball: Ball, point: FloatArray, gradient: FloatArray, eigenvalues: FloatArray, vectors: FloatArray
) -> FloatArray:
    """c + (H + ηI)⁻¹(H(w − c) − G) with the least η ≥ 0 that keeps it in the ball."""
    goal = eigenvalues * (vectors.T @ (point - ball.center)) - vectors.T @ gradient
    eta = secular_root((goal / ball.radius)[np.newaxis], eigenvalues[np.newaxis])[0]
    return nearest(ball, ball.center + vectors @ (goal / (eigenvalues + eta)))


class _QuadraticProgram:
    """min ⟨G, u − w⟩ + ½(u − w)ᵀH(u − w) over a domain, compiled once.  Only a suggestion: accuracy is not promised."""

    def __init__(self, domain: Domain) -> None:
        d = domain.dimension
        self.domain = domain
        self.move, self.step = cvxpy.Variable(d), cvxpy.Parameter(nonneg=True)
        self.origin, self.root, self.linear = cvxpy.Parameter(d), cvxpy.Parameter((d, d)), cvxpy.Parameter(d)
        objective = cvxpy.sum_squares(self.root @ self.move) / 2 + self.linear @ self.move
        constraints = domain.cvxpy_constraints(self.origin + self.step * self.move)
        self.problem = cvxpy.Problem(cvxpy.Minimize(objective), constraints)

    def minimum(self, point: FloatArray, gradient: FloatArray, eigenvalues: FloatArray, vectors: FloatArray) -> FloatArray:
        # In units of the unconstrained step and its gain, so that the solver's tolerances mean something.
        free = vectors @ ((vectors.T @ gradient) / eigenvalues)
        step = min(float(np.linalg.norm(free)), self.domain.diameter_upper()) or 1.0
        gain = step * float(np.linalg.norm(gradient)) or 1.0
        self.origin.value, self.step.value, self.linear.value = point, step, gradient * (step / gain)
        self.root.value = np.sqrt(eigenvalues * (step * step / gain))[:, np.newaxis] * vectors.T
        found = point
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.problem.solve(solver=cvxpy.CLARABEL, warm_start=False, accept_unknown=True)
                if self.move.value is not None and np.isfinite(self.move.value).all():
                    found = point + step * self.move.value
            except (cvxpy.SolverError, ValueError):
                pass  # the steps below alone are slower, not wrong
        # Gradient steps on the model, which land exactly on the constraints that are active.
        for _ in range(8):
            slope = gradient + vectors @ (eigenvalues * (vectors.T @ (found - point)))
            found = nearest(self.domain, found - slope / eigenvalues[-1])
        return found


def _gradient(problem: Problem, i: int, dual: mpf, record: ExactRecord, bits: int) -> tuple[mpf, ...]:
    """v·x and the gradient of the quadratic part at y, cut to the length that is allowed."""
    with mpmath.workprec(4 * bits):
        x, y = exact(problem.features[i]), np.array(record.minimiser, dtype=object)
        g = quadratic_gradient(problem, y, x) + x * dual
        longest = problem.lipschitz * (1 - mpf(2) ** -bits)
        return tuple(g * min(1, longest / (length(g) or longest)))


def refined_value(problem: Problem, point: FloatArray, i: int, record: ExactRecord, *, bits: int) -> Fraction:
    """f(y) + C‖w − y‖ of a refined record."""
    with mpmath.workprec(4 * bits):
        x, y, w = exact(problem.features[i]), np.array(record.minimiser, dtype=object), exact(point)
        value = mpf(problem.lipschitz) * length(w - y) + mpf(problem.ridge) / 2 * (y @ y)
        if isinstance(problem.model, Quadratic):
            value += (y - x) @ exact_matrix(problem.model.matrix) @ (y - x) / 2
        else:
            value += _phi(problem.model, x @ y, mpf(float(problem.targets[i])))
        numerator, denominator = to_rational(mpf(value)._mpf_)
        return Fraction(int(numerator), int(denominator))


def _phi(loss: GlmLoss, margin: mpf, target: mpf) -> mpf:
    r = margin - target
    match loss:
        case Affine():
            return margin
        case Hinge():
            return max(1 - margin, mpf(0))
        case ReLU():
            return max(r, mpf(0))
        case Absolute():
            return abs(r)
        case Squared():
            return r * r / 2
        case L4():
            return r**4
    # Less than the working precision resolves, and as a fraction perhaps too long for any memory.
    return mpf(0) if margin > mpmath.mp.prec else mpmath.log1p(mpmath.exp(-margin))
