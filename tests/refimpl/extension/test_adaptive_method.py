"""[P4, Algorithm 3] Acceptance: the adaptive method stops at a true α-minimiser, and its stopping rule is never wrong.

Random problems: all losses, all domains, w in W or in W ∩ ball, heavy-tailed records; projections by Lemma C.6, or wrong
by all that is allowed.  The minimum is enclosed by `bracket`, whose ends do not rest on a solver.  A bound that J(z̄) − upper
exceeds is wrong; one that it does not exceed is right up to the width of the bracket, which must be < 1e-6·α.

A quick run is always on.  The study of 500 problems takes minutes:

    python -m pytest -m long tests/refimpl/extension/test_adaptive_method.py -s
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import cvxpy
import numpy as np
import pytest

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.extension import joint
from tailproof.refimpl.extension.joint import (
    JointObjective,
    ProjectionOracle,
    SubgradientResult,
    adaptive_iterations_upper,
    adaptive_subgradient,
    joint_diameter_upper,
    joint_projection,
)
from tailproof.refimpl.extension.socp import Extension, ReferenceExtension, certify
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Quadratic, ReLU, Squared
from tailproof.refimpl.projections import InexactProjection, inexact_projection
from tailproof.refimpl.validation import FloatArray

LOSSES = ("affine", "hinge", "relu", "absolute", "logistic", "squared", "l4", "quadratic")
DOMAINS = ("ball", "box", "l1", "ellipsoid", "polytope", "localised")


# ------------------------------------------------------------------------------------------------------ the problems


def make_loss(name: str, d: int) -> GlmLoss | Quadratic:
    if name == "quadratic":
        return Quadratic(np.eye(d) + 0.5)
    named: tuple[GlmLoss, ...] = (Affine(), Hinge(), ReLU(), Absolute(), Logistic(), Squared(), L4())
    return named[LOSSES.index(name)]


def make_domain(name: str, d: int, rng: np.random.Generator) -> Domain:
    centre = 0.3 * rng.normal(size=d)
    box = Box(centre - rng.uniform(0.4, 1.2, d), centre + rng.uniform(0.4, 1.2, d))
    match name:
        case "ball":
            return Ball(centre, rng.uniform(0.5, 1.5))
        case "box":
            return box
        case "l1":
            return L1Ball(centre, rng.uniform(0.5, 1.5))
        case "ellipsoid":
            basis = np.linalg.qr(rng.normal(size=(d, d)))[0]
            return Ellipsoid(centre, basis @ np.diag(rng.uniform(0.1, 1.5, d)) @ basis.T)
        case "polytope":
            normals = np.vstack([np.eye(d), -np.eye(d), rng.normal(size=(2, d))])
            return Polytope(normals, normals @ centre + rng.uniform(0.3, 1.0, len(normals)))
    return Localised(box, box.project(centre + 0.5 * rng.normal(size=d)), rng.uniform(0.3, 1.0))


def make_data(loss: GlmLoss | Quadratic, n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Student t with 2 degrees of freedom."""
    data = rng.standard_t(2.0, size=(n, loss.columns(d)))
    if isinstance(loss, GlmLoss) and loss.target == "label":
        data[:, -1] = rng.choice([-1.0, 1.0], size=n)
    return np.asarray(data)


@dataclass(frozen=True, eq=False)
class Problem:
    """J of `objective` on region × domain^n; the region is the domain, or its part in a ball."""

    objective: JointObjective
    region: Domain
    domain: Domain


def random_problem(rng: np.random.Generator, *, most_records: int = 5) -> Problem:
    d, n = int(rng.integers(1, 4)), int(rng.integers(1, most_records + 1))
    loss, domain = make_loss(str(rng.choice(LOSSES)), d), make_domain(str(rng.choice(DOMAINS)), d, rng)
    anchor, centre = (domain.project(domain.interior_point() + rng.normal(size=d)) for _ in range(2))
    region = Localised(domain, centre, rng.uniform(0.1, 0.8)) if rng.random() < 0.5 else domain
    clip, strength = 10 ** rng.uniform(-1, 0.5), 10 ** rng.uniform(-1, 0.5)
    return Problem(JointObjective(loss, make_data(loss, n, d, rng), clip, strength, anchor), region, domain)


def bracket(problem: Problem) -> tuple[float, float]:
    """lower ≤ min F̂_{λ,C} = min J ≤ upper, whatever the solver did.

    A conic program for J gives a point w, minimisers, subgradients g_i and slopes.  `certify` makes of them f_C(u, x_i) ≥
    value_i − gap_i + ⟨g_i, u − w⟩ for all u, and f_C(w, x_i) ≤ value_i.  So F̂_{λ,C}(w) is at most the upper end, and
    F̂_{λ,C}(u) ≥ mean(value_i − gap_i) + q(u), q(u) = ⟨ḡ, u − w⟩ + (λ/2)‖u − w0‖².  q is convex: with v near its minimiser and
    h its gradient there, q(u) ≥ q(v) + ⟨h, u − v⟩ ≥ q(v) − ⟨h, v⟩ − σ(−h) on the region.  Certificates and σ are rounded
    outward; the few sums here get 1e-13 of their terms.
    """
    of, (w, own, slopes, duals) = problem.objective, _solved(problem)

    def best(i: int) -> Extension:
        given = of.loss, problem.domain, of.data[i], w, of.lipschitz
        guesses = (certify(*given, minimiser=y, subgradient=slopes[i], slope=duals[i]) for y in (own[i], w))
        return min(guesses, key=lambda one: one.gap)

    lower, upper = _enclosed(problem, w, [best(i) for i in range(of.size)])
    if upper - lower > 1e-8:  # the solver stopped early: ask for one record at a time
        reference = ReferenceExtension(of.loss, problem.domain, problem.domain.dimension)
        again = _enclosed(problem, w, [reference.at(x, w, of.lipschitz) for x in of.data])
        lower, upper = max(lower, again[0]), min(upper, again[1])
    return lower, upper


def _enclosed(problem: Problem, w: FloatArray, found: list[Extension]) -> tuple[float, float]:
    of = problem.objective
    values, gaps = np.array([one.value for one in found]), np.array([one.gap for one in found])
    mean_slope = np.mean([one.subgradient for one in found], axis=0)
    size = (of.lipschitz + of.strength) * (1 + problem.domain.max_norm_from(np.zeros_like(w))) ** 2
    rounding = 1e-13 * (np.abs(values).mean() + size)
    upper = values.mean() + of.strength / 2 * math.dist(w, of.center) ** 2
    v = problem.region.project(of.center - mean_slope / of.strength)
    h = mean_slope + of.strength * (v - of.center)
    q = mean_slope @ (v - w) + of.strength / 2 * math.dist(v, of.center) ** 2
    lower = (values - gaps).mean() + q - h @ v - float(problem.region.support(-h))
    return float(lower - rounding), float(upper + rounding)


def _solved(problem: Problem) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """w in the region, the y_i, g_i and the slopes of φ, by an interior-point solver."""
    of, n, d = problem.objective, problem.objective.size, problem.domain.dimension
    w, y, q, r = cvxpy.Variable(d), cvxpy.Variable((n, d)), cvxpy.Variable((n, d)), cvxpy.Variable(n)
    links, margins = [q[i] + y[i] == w for i in range(n)], []
    limits = [*problem.region.cvxpy_constraints(w), *(c for i in range(n) for c in problem.domain.cvxpy_constraints(y[i]))]
    if isinstance(of.loss, GlmLoss):
        shifts = of.targets if of.loss.target == "real" else np.zeros(n)
        margins = [of.features[i] @ y[i] - shifts[i] == r[i] for i in range(n)]
        terms = [of.loss.cvxpy_phi(r[i], 0.0) for i in range(n)]
    else:
        assert isinstance(of.loss, Quadratic)
        terms = [cvxpy.sum_squares(of.loss.root.T @ (y[i] - of.features[i])) / 2 for i in range(n)]
    cost = sum(terms) + of.lipschitz * cvxpy.sum(cvxpy.norm(q, 2, axis=1))
    program = cvxpy.Problem(
        cvxpy.Minimize(cost + n * of.strength / 2 * cvxpy.sum_squares(w - of.center)), [*links, *margins, *limits]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the bracket says how accurate the solution is
        tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
        program.solve(solver=cvxpy.CLARABEL, accept_unknown=True, **tolerances)
    slopes = -np.array([link.dual_value for link in links])
    duals = np.array([float(margin.dual_value) for margin in margins]) if margins else np.zeros(n)
    return problem.region.project(w.value), problem.domain.project(y.value), slopes, duals


# ----------------------------------------------------------------------------------------------------------- the runs


def spoiled(problem: Problem, rng: np.random.Generator) -> ProjectionOracle:
    """Projections that err by all that is allowed and stay in the set: towards one of its points, another each time, as
    far as the accuracy goes."""
    region, domain, n = problem.region, problem.domain, problem.objective.size
    directions = rng.normal(size=(4, n + 1, domain.dimension))
    goals = [np.vstack([region.support_point(u[0]), *map(domain.support_point, u[1:])]) for u in directions]

    def project(point: FloatArray, accuracy: float) -> FloatArray:
        nearest = np.vstack([region.project(point[:1]), domain.project(point[1:])])
        way = goals[rng.integers(len(goals))] - nearest
        return nearest + min(1.0, accuracy / max(float(np.linalg.norm(way)), 1e-300)) * way

    return project


@dataclass(frozen=True, eq=False)
class Run:
    """One run of the method with all that it asked for."""

    result: SubgradientResult
    points: list[FloatArray]
    slopes: list[FloatArray]
    diameter: float
    accuracy: float
    most: int  # ⌈(2.5·R·Lip/α)²⌉
    start_excess: float  # J(start) − upper: the start is no α-minimiser if this is > α


def run(problem: Problem, lower: float, upper: float, rng: np.random.Generator, *, budget: int) -> Run:
    """α is a part of the excess of the start, or more where that might take too many steps: more than the budget with
    subgradients as long as at the start, or four times the budget for certain."""
    of = problem.objective
    diameter = joint_diameter_upper(problem.region, problem.domain, of.size)
    largest = of.norm_upper(problem.region, problem.domain)
    start = of.start(problem.region.support_point(rng.normal(size=problem.domain.dimension)))
    steepness = max(float(np.linalg.norm(of.subgradient(start))), largest / 2)
    accuracy = max(rng.uniform(0.1, 0.9) * (of.value(start) - lower), 2.5 * diameter * steepness / math.sqrt(budget))
    most = adaptive_iterations_upper(diameter=diameter, norm_upper=largest, accuracy=accuracy)
    points: list[FloatArray] = []
    slopes: list[FloatArray] = []

    def subgradient(z: FloatArray) -> FloatArray:
        points.append(z.copy())
        slopes.append(of.subgradient(z))
        return slopes[-1]

    project = joint_projection(problem.region, problem.domain) if rng.random() < 0.6 else spoiled(problem, rng)
    result = adaptive_subgradient(
        start, subgradient=subgradient, project=project, diameter=diameter, accuracy=accuracy, most_steps=most
    )
    return Run(result, points, slopes, diameter, accuracy, most, of.value(start) - upper)


def check_end(problem: Problem, done: Run, upper: float) -> float:
    """The claims about what is returned; the share of its bound that the excess uses."""
    of, result = problem.objective, done.result
    excess = of.value(result.point) - upper
    assert excess <= result.bound + 1e-12 * abs(upper)
    assert result.bound <= done.accuracy
    assert result.iterations <= done.most
    assert len(done.points) == result.iterations
    assert problem.region.contains(result.point[0], 1e-13)
    assert problem.domain.contains(result.point[1:], 1e-13).all()
    longest = max(float(np.linalg.norm(slope)) for slope in done.slopes)
    assert longest <= of.norm_upper(problem.region, problem.domain)
    return excess / result.bound if result.bound else 0.0


def check_every_step(problem: Problem, done: Run, upper: float) -> float:
    """(5/2)·R·√S_t/t ≥ J(z̄_t) − min J at every t, and the rule fires at the first t that allows it; the largest share."""
    squares = np.cumsum([np.vdot(slope, slope) for slope in done.slopes])
    averages = np.cumsum(done.points, axis=0)
    share = 0.0
    for t, total in enumerate(squares[squares > 0], start=1):  # a zero subgradient ends the run
        bound = 2.5 * done.diameter * math.sqrt(total) / t
        excess = problem.objective.value(averages[t - 1] / t) - upper
        assert excess <= bound * (1 + 1e-12) + 1e-12 * abs(upper)
        assert bound > done.accuracy * (1 - 1e-10) if t < len(squares) else bound <= done.accuracy
        share = max(share, excess / bound)
    return share


def watch_projections(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Check every inexact projection that the method makes: in the set, accurate, within its number of oracle calls."""
    calls: list[int] = []

    def checked(base: Domain, *, center: FloatArray, radius: float, point: FloatArray, accuracy: float) -> InexactProjection:
        found = inexact_projection(base, center=center, radius=radius, point=point, accuracy=accuracy)
        away = math.dist(point, center)
        most = max(0, math.ceil(math.log2(away**2 / (radius * accuracy)))) + 2 if away else 2
        assert found.calls <= most
        assert found.error_upper <= accuracy * (1 + 1e-12) + 1e-14
        calls.append(found.calls)
        return found

    monkeypatch.setattr(joint, "inexact_projection", checked)
    return calls


@dataclass(frozen=True)
class Figures:
    """What a study saw."""

    problems: int
    hard: int  # the start was no α-minimiser
    steps: int
    longest: int
    projections: int
    largest_share: float  # of a bound, used up by the excess at the end
    largest_step_share: float  # ... or on the way
    widest_bracket: float  # relative to α


def study(seeds: range, *, budget: int, every_step: Callable[[int], bool], monkeypatch: pytest.MonkeyPatch) -> Figures:
    calls = watch_projections(monkeypatch)
    runs: list[Run] = []
    shares, step_shares, widths = [0.0], [0.0], [0.0]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(rng)
        lower, upper = bracket(problem)
        runs.append(run(problem, lower, upper, rng, budget=budget))
        widths.append((upper - lower) / runs[-1].accuracy)
        shares.append(check_end(problem, runs[-1], upper))
        if every_step(seed):
            step_shares.append(check_every_step(problem, runs[-1], upper))
    counts = [one.result.iterations for one in runs]
    hard = sum(one.start_excess > one.accuracy for one in runs)
    return Figures(len(runs), hard, sum(counts), max(counts), len(calls), max(shares), max(step_shares), max(widths))


def test_the_method_on_a_few_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = study(range(40), budget=250, every_step=lambda seed: seed % 2 == 0, monkeypatch=monkeypatch)
    assert seen.hard >= 12
    assert seen.projections >= 100
    assert seen.widest_bracket <= 1e-6


@pytest.mark.long
def test_the_method_on_500_problems(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "long" not in request.config.getoption("markexpr"):
        pytest.skip("takes minutes; run with -m long")
    seen = study(range(1000, 1500), budget=1200, every_step=lambda seed: seed % 5 == 0, monkeypatch=monkeypatch)
    print(f"\n{seen}")
    assert seen.problems == 500
    assert seen.hard >= 250
    assert seen.widest_bracket <= 1e-6
