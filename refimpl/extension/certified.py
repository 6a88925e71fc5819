"""[P4, §2.3 and C.2; the default minimiser] Certified minimisation of the regularised Lipschitz extension.

    F(w) = (1/n) Σ f_C(w, x_i) + (λ/2)‖w − w0‖²  over W or W ∩ B(c, r), to a gap F(w̃) − F* ≤ α that is proved afterwards.

Nothing here is trusted: whatever finds w̃, the answer is returned only when `certificate.gap_upper`, which knows nothing of
the search, says that its gap is at most α.  A certificate consists of points y_i of W, subgradients g_i and slopes v_i.

The search.  F has kinks where a minimiser y_i of a polyhedral loss leaves w.  So F is replaced by F_μ, the same with the
Moreau envelope φ_μ of φ, whose width is μ‖x_i‖² (1/μ is then the curvature of a smoothed kink, and μC its width in w).  F_μ
is minimised by Newton's method, with a quadratic program over the set in place of the linear system and a line search on
the derivative; then μ is divided and so on.  The slopes of F_μ at its minimiser are nearly optimal multipliers for F: with
the true y_i beside them they prove a gap of the order μ² (the number of kinks in reach is itself of the order μ).  Smooth
losses are smoothed only where a record bends more sharply than 1/μ.

If it does not reach α, which is a matter of extreme data or of rounding, two more stages follow:
2. Cutting planes: the tangents of mean f_C at the points seen so far, plus (λ/2)‖w − w0‖², are minimised over the set, and
   the minimiser is the next point.  While the gap exceeds α every new point is at least α/(2C) away from all former ones,
   so this ends.  The mixture of tangents that is active at the minimum is, record by record, a certificate again.
3. The same with the worst records evaluated in higher precision, doubled as often as needed (`refined`).
There is no way out with a gap above α, and no substitute answer: either would depend on the data and void the privacy claim.
An α that no point with float coordinates could be sure to have is refused beforehand, from public parameters alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import cvxpy
import numpy as np

from refimpl.domains import EPS, Ball, Domain
from refimpl.domains import _secular_root as secular_root
from refimpl.extension.batched import Batch, Extension, batch, fenchel_gap
from refimpl.extension.certificate import Certificate, Problem, gap_upper, record_gaps_upper
from refimpl.extension.envelope import Envelope, envelope
from refimpl.extension.smoothing import Smoothed
from refimpl.losses import L4, GlmLoss, Loss, Quadratic, Ridge
from refimpl.validation import FloatArray, InputError, positive

Stage = Literal["newton", "cutting planes", "refined"]

_DIVISOR = 8.0  # of μ, from one smoothed problem to the next
_MOST_STEPS = 30  # of Newton's method on one of them
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

    F is (C + λ·max‖w − w0‖)-Lipschitz; rounding moves a point by less than 8(d + 4)·EPS of the set's reach.
    """
    reach = problem.within.max_norm_from(np.zeros(problem.dimension))
    steepness = problem.lipschitz + problem.weight * problem.within.max_norm_from(problem.anchor)
    return 64 * (problem.dimension + 4) * EPS * steepness * reach


def minimise(problem: Problem, accuracy: float) -> Minimiser:
    """A point of the problem's set whose objective is, provably, within `accuracy` of the minimum."""
    goal = positive("accuracy", accuracy)
    if goal < (least := accuracy_lower(problem)):
        raise InputError(f"accuracy = {goal!r}: must be at least {least:.3g}, what rounding to floats may cost")
    search = _Search(problem, goal)
    return search.newton() or search.cutting_planes(search.last)


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

    @cached_property
    def slope(self) -> FloatArray:
        """The mean of the g."""
        return self.extension.mean_subgradient()

    @cached_property
    def gradient(self) -> FloatArray:
        return self.slope + self.problem.weight * (self.point - self.problem.anchor)

    @cached_property
    def value(self) -> float:
        return self.extension.mean_value() + _penalty(self.problem, self.point)

    def spectrum(self) -> tuple[FloatArray, FloatArray]:
        """The eigenvalues of the Hessian, at least λ whatever the rounding, and its eigenvectors as columns."""
        eigenvalues, vectors = np.linalg.eigh(self.extension.mean_hessian())
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
        push = found.pressure()
        points = [self.point] + ([_inside(p.within, self.point + 1000 * found.mu * push)] if push.any() else [])
        gaps = [found.gaps_at(point) for point in points]
        totals = [
            float(np.mean(gap)) + _remainder(p, point, self.slope) for point, (gap, _) in zip(points, gaps, strict=True)
        ]
        best = int(np.argmin(totals))
        point, stays = points[best], gaps[best][1]
        return point, totals[best], np.where(stays[:, np.newaxis], point, found.y)

    @cached_property
    def smoothing_gap(self) -> float:
        """About what the slopes of F_μ lack as multipliers for F: a kink in reach costs μ|v|·(steepest slope − |v|) or, if
        w stays where it is, its Fenchel gap."""
        if isinstance(self.extension, Envelope):
            return max(self.landing[1] - self.own_gap, 0.0)
        if self.widths is None:
            return 0.0
        near = np.flatnonzero((self.extension.kind == 1) & (self.widths > 0) & (self.extension.duals != 0))
        loss, of = _smooth_part(self.problem.loss), self.extension.batch
        v, norms = self.extension.duals[near], of.norms[near]
        steepest = np.minimum(max(map(abs, loss.slope_range)), of.lipschitz / np.maximum(norms, 1e-300))
        moved = self.widths[near] * np.abs(v) * np.maximum(steepest - np.abs(v), 0.0)
        stays = fenchel_gap(loss, self.extension.margins[near], of.targets[near, 0], v)
        return float(np.minimum(moved, stays).sum()) / len(of.norms)


def _remainder(problem: Problem, point: FloatArray, slope: FloatArray) -> float:
    """max over u of −⟨G, u − w⟩ − (λ/2)‖u − w‖², G = slope + λ(w − w0), attained at P(w − G/λ)."""
    weight = problem.weight
    gradient = slope + weight * (point - problem.anchor)
    move = problem.within.project(point - gradient / weight) - point
    return float(-gradient @ move - weight / 2 * move @ move)


def _penalty(problem: Problem, point: FloatArray) -> float:
    offset = point - problem.anchor
    return problem.weight / 2 * float(offset @ offset)


def _smooth_part(loss: Any) -> GlmLoss:
    inner = loss.loss if isinstance(loss, Ridge) else loss
    assert isinstance(inner, GlmLoss)
    return inner


Smooth = Callable[[FloatArray], _State]


def _smooth(problem: Problem, of: Batch, mu: float) -> Smooth:
    """F_μ: on a ball, where records need two coefficients only, by smoothing the loss; elsewhere by smoothing f_C."""
    if isinstance(of.loss, GlmLoss) and not isinstance(of.domain, Ball):
        return lambda point: _State(problem, point, envelope(of, mu, point))
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

    def __post_init__(self) -> None:
        p = self.problem
        self.batch = batch(loss=p.loss, data=p.data, domain=p.domain, lipschitz=p.lipschitz)

    def newton(self) -> Minimiser | None:
        point, mu = self._start()
        while True:
            state = self._smooth_minimum(point, mu)
            point = state.point
            if state.smoothing_gap + state.own_gap <= 0.9 * self.goal:
                certificate = self._certificate(state)
                bound = gap_upper(self.problem, certificate)
                if bound <= self.goal:
                    return Minimiser(certificate.point, bound, certificate, "newton", self.evaluations)
            self.last = point
            if mu * self.problem.lipschitz**2 < self.goal / 64:
                return None  # so little smoothing cannot be what is in the way
            mu = self._next(mu, state)

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
            point = state.point
            if state.smoothing_gap + state.own_gap <= self.goal or mu * self.problem.lipschitz**2 < self.goal / 64:
                return point, mu
            mu = self._next(mu, state)

    def _next(self, mu: float, state: _State) -> float:
        """Less smoothing, but not less than the accuracy asks for: the gap is of the order of μ²."""
        wanted = math.sqrt(self.goal / 4 / state.smoothing_gap) if state.smoothing_gap > self.goal / 4 else 1.0
        return mu * max(1 / _DIVISOR, min(wanted, 0.5))

    def _at(self, smooth: Smooth, point: FloatArray) -> _State:
        self.evaluations += 1
        return smooth(point)

    def _exactly(self, point: FloatArray) -> _State:
        return _State(self.problem, point, self.batch.at(point))

    def _smooth_minimum(self, point: FloatArray, mu: float) -> _State:
        """The minimiser of F_μ, about as accurately as the smoothing itself is accurate."""
        smooth = _smooth(self.problem, self.batch, mu)
        state = self._at(smooth, point)
        for _ in range(_MOST_STEPS):
            if state.own_gap <= 0.1 * max(state.smoothing_gap, self.goal):
                break
            following = self._along(smooth, state, self._model_minimum(state) - state.point)
            if following is None:
                break
            state = following
        return state

    def _along(self, smooth: Smooth, state: _State, step: FloatArray) -> _State | None:
        """A point on the way that is not, or not far, beyond the minimum there; none if rounding is in the way.

        It looks at slopes only: the values of extreme records would drown the rest.
        """
        slope, share = float(state.gradient @ step), 1.0
        if not slope < 0:
            return None
        for _ in range(40):
            trial = self._at(smooth, _inside(self.problem.within, state.point + share * step))
            ahead = float(trial.gradient @ step)
            if ahead <= -slope / 8:
                return trial
            share *= min(max(slope / (slope - ahead), 0.02), 0.9)
        return None

    def _model_minimum(self, state: _State) -> FloatArray:
        """The minimiser over the set of ⟨G, u − w⟩ + ½(u − w)ᵀH(u − w)."""
        within = self.problem.within
        if isinstance(within, Ball):
            return _model_minimum_in_ball(within, state.point, state.gradient, *state.spectrum())
        return self._program.minimum(state.point, state.gradient, *state.spectrum())

    @cached_property
    def _program(self) -> _QuadraticProgram:
        return _QuadraticProgram(self.problem.within)

    def _certificate(self, state: _State) -> Certificate:
        """The slopes and subgradients of F_μ with the minimisers of F.

        On the boundary, where g and v·x need not be equal, the slopes of F itself may be better.
        """
        found = state.extension
        if isinstance(found, Envelope):
            point, _, y = state.landing
            return _certificate(self.problem, point, found.duals, y, found.subgradients())
        exact = self.batch.at(state.point) if state.widths is not None else found
        certificate = _certificate(self.problem, state.point, found.duals, exact.minimisers(), found.subgradients())
        if exact is not found:
            other = replace(certificate, duals=exact.duals)
            gaps = record_gaps_upper(self.problem, certificate), record_gaps_upper(self.problem, other)
            certificate = replace(certificate, duals=np.where(gaps[1] < gaps[0], other.duals, certificate.duals))
        return certificate

    # ------------------------------------------------------------------------------------------- the second stage

    def cutting_planes(self, start: FloatArray) -> Minimiser:
        """Kelley's method on F; the quadratic part of F is kept as it is."""
        p = self.problem
        states = [self._at(self._exactly, start)]
        best = states[0]
        while True:
            point, shares = _lowest_model(p, states)
            states.append(self._at(self._exactly, _inside(self.problem.within, point)))
            best = min(best, states[-1], key=lambda state: state.value)
            certificate = self._mixed_certificate(best, states, shares)
            bound = gap_upper(p, certificate)
            if bound <= self.goal:
                return Minimiser(best.point, bound, certificate, "cutting planes", self.evaluations)

    def _mixed_certificate(self, best: _State, states: list[_State], shares: FloatArray) -> Certificate:
        """The minimisers at the best point, with mixtures of the slopes and subgradients of all."""
        duals = np.zeros(self.problem.size)
        subgradients = np.zeros((self.problem.size, self.problem.dimension))
        for share, state in zip(shares, states, strict=False):  # the newest has no share yet
            if share > 0:
                duals += share * state.extension.duals
                subgradients += share * state.extension.subgradients()
        return Certificate(
            best.point,
            np.clip(duals, *_slope_range(self.problem.loss)),
            _inside(self.problem.domain, best.extension.minimisers()),
            _shortened(subgradients, self.problem.lipschitz),
        )


def _slope_range(loss: Loss) -> tuple[float, float]:
    inner = loss.loss if isinstance(loss, Ridge) else loss
    return inner.slope_range if isinstance(inner, GlmLoss) else (-math.inf, math.inf)


def _lowest_model(problem: Problem, states: list[_State]) -> tuple[FloatArray, FloatArray]:
    """The minimiser of the greatest tangent of mean f_C, plus (λ/2)‖w − w0‖², and the tangents' shares in it."""
    w, top = cvxpy.Variable(problem.dimension), cvxpy.Variable()
    steepness = problem.lipschitz * problem.within.diameter_upper()
    base = min(state.extension.mean_value() for state in states)
    slopes = np.array([state.extension.mean_subgradient() for state in states]) / steepness
    heights = np.array([(state.extension.mean_value() - base) / steepness for state in states])
    heights -= np.array([slope @ state.point for slope, state in zip(slopes, states, strict=True)])
    below = slopes @ w + heights <= top
    pull = cvxpy.sum_squares(w - problem.anchor) * (problem.weight / (2 * steepness))
    program = cvxpy.Problem(cvxpy.Minimize(top + pull), [below, *problem.within.cvxpy_constraints(w)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-13)
        program.solve(solver=cvxpy.CLARABEL, accept_unknown=True, **tolerances)
    shares = np.maximum(below.dual_value, 0.0)
    shares[shares < 1e-12 * shares.max()] = 0.0
    return np.asarray(w.value), shares / shares.sum()


def _inside(domain: Domain, points: FloatArray) -> FloatArray:
    """The nearest points that are in the domain whatever the rounding."""
    rows = np.atleast_2d(domain.project(points))
    anchor, pull = domain.interior_point(), EPS
    while (outside := np.flatnonzero(~domain.surely_contains(rows))).size:
        rows[outside] = anchor + (1 - pull) * (rows[outside] - anchor)
        pull = min(1.0, 2 * pull)
    return rows.reshape(np.shape(points))


def _certificate(problem: Problem, point: FloatArray, duals: FloatArray, y: FloatArray, g: FloatArray) -> Certificate:
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
    return ball.project(ball.center + vectors @ (goal / (eigenvalues + eta)))


class _QuadraticProgram:
    """min ⟨G, u − w⟩ + ½(u − w)ᵀH(u − w) over a domain, compiled once.  Only a suggestion: accuracy is not promised."""

    def __init__(self, domain: Domain) -> None:
        d = domain.dimension
        self.domain = domain
        self.scale = domain.diameter_upper()
        self.move = cvxpy.Variable(d)
        self.origin, self.root, self.linear = cvxpy.Parameter(d), cvxpy.Parameter((d, d)), cvxpy.Parameter(d)
        objective = cvxpy.sum_squares(self.root @ self.move) / 2 + self.linear @ self.move
        constraints = domain.cvxpy_constraints(self.origin + self.scale * self.move)
        self.problem = cvxpy.Problem(cvxpy.Minimize(objective), constraints)

    def minimum(self, point: FloatArray, gradient: FloatArray, eigenvalues: FloatArray, vectors: FloatArray) -> FloatArray:
        size = float(eigenvalues[-1]) * self.scale
        self.origin.value, self.linear.value = point, gradient / size
        self.root.value = np.sqrt(eigenvalues * (self.scale / size))[:, np.newaxis] * vectors.T
        found = point
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.problem.solve(solver=cvxpy.CLARABEL, warm_start=False, accept_unknown=True)
                if self.move.value is not None and np.isfinite(self.move.value).all():
                    found = point + self.scale * self.move.value
            except (cvxpy.SolverError, ValueError):
                pass  # the steps below alone are slower, not wrong
        # Gradient steps on the model, which land exactly on the constraints that are active.
        for _ in range(8):
            slope = gradient + vectors @ (eigenvalues * (vectors.T @ (found - point)))
            found = self.domain.project(found - slope / eigenvalues[-1])
        return found
