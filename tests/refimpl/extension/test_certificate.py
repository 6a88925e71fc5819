"""Certificates of approximate minimisers against the conic reference, ball arithmetic and tampering."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy
import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.speed import units

from tailproof.refimpl.domains import EPS, Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope, unit_ball
from tailproof.refimpl.extension import certificate as module
from tailproof.refimpl.extension.batched import batch
from tailproof.refimpl.extension.certificate import (
    Certificate,
    Problem,
    Rejected,
    gap_upper,
    gap_upper_in_balls,
    record_gaps_upper,
    verify,
)
from tailproof.refimpl.extension.refined import ExactRecord, refine
from tailproof.refimpl.extension.socp import ReferenceExtension
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import FloatArray, InputError

MATRIX = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.7]])
GLMS: list[GlmLoss] = [Affine(), Hinge(), ReLU(), Absolute(), Squared(), L4(), Logistic()]
LOSSES: list[Loss] = [*GLMS, Quadratic(MATRIX), Ridge(Hinge(), 0.4), Ridge(Quadratic(MATRIX), 0.4)]
KINDS = ["ball", "box", "l1", "ellipsoid", "polytope", "localised"]


def name_of(loss: Loss) -> str:
    return f"Ridge{name_of(loss.loss)}" if isinstance(loss, Ridge) else type(loss).__name__


every_loss = pytest.mark.parametrize("loss", LOSSES, ids=name_of)
every_kind = pytest.mark.parametrize("kind", KINDS)


def make_domain(kind: str, rng: np.random.Generator, d: int, size: float = 1.0) -> Domain:
    c = size * rng.normal(size=d)
    match kind:
        case "ball":
            return Ball(c, size)
        case "box":
            return Box(c - size * rng.uniform(0.5, 1, size=d), c + size * rng.uniform(0.5, 1, size=d))
        case "l1":
            return L1Ball(c, 1.5 * size)
        case "ellipsoid":
            root = rng.normal(size=(d, d)) + np.eye(d)
            return Ellipsoid(c, size**2 * (root @ root.T + 0.1 * np.eye(d)))
        case "localised":
            return Localised(Box(c - size, c + size), c, 1.2 * size)
    normals = np.vstack([np.eye(d), -np.eye(d), rng.normal(size=(3, d))])
    return Polytope(normals, normals @ c + size)


def inside(domain: Domain, points: FloatArray) -> FloatArray:
    """The nearest points, moved towards the middle until they are surely in the domain, however batched."""
    rows, middle, step = np.atleast_2d(domain.project(points)).copy(), domain.interior_point(), 1e-15
    while not (good := domain.surely_contains(middle + (1 + 4e-15) * (rows - middle))).all():
        rows[~good] = middle + (1 - step) * (rows[~good] - middle)
        step *= 2
    return rows.reshape(np.shape(points))


def shortened(g: FloatArray, C: float) -> FloatArray:
    lengths = np.linalg.norm(g, axis=1, keepdims=True)
    return np.where(lengths > C * (1 - 1e-14), g * (C * (1 - 2e-14) / np.maximum(lengths, C / 2)), g)


def make_data(loss: Loss, rng: np.random.Generator, n: int, d: int) -> FloatArray:
    x, model = 2 * rng.standard_t(3, size=(n, d)), loss.loss if isinstance(loss, Ridge) else loss
    if isinstance(model, Quadratic) or model.target == "none":
        return x
    return np.column_stack([x, rng.choice([-1.0, 1.0], size=n) if model.target == "label" else rng.normal(size=n)])


def make_problem(loss: Loss, kind: str, rng: np.random.Generator, *, local: bool = False, n: int = 3, d: int = 3) -> Problem:
    domain = make_domain(kind, rng, d)
    within = Localised(domain, inside(domain, domain.interior_point() + rng.normal(size=d)), 0.4) if local else domain
    anchor = domain.project(domain.interior_point() + 0.3 * rng.normal(size=d))
    lipschitz, weight = float(rng.choice([0.7, 3.0])), float(rng.choice([0.05, 0.5, 3.0]))
    return Problem(loss, make_data(loss, rng, n, d), domain, lipschitz, weight, anchor, within)


def slopes(problem: Problem, v: FloatArray, y: FloatArray) -> FloatArray:
    model = problem.model
    p = v[:, None] * problem.features if isinstance(model, GlmLoss) else (y - problem.features) @ model.matrix
    return p + problem.ridge * y


def random_duals(problem: Problem, rng: np.random.Generator) -> FloatArray:
    if not isinstance(problem.model, GlmLoss):
        return rng.normal(size=problem.size)
    lower, upper = np.clip(problem.model.slope_range, -3, 3)
    return lower + (upper - lower) * rng.choice([0.0, 0.3, 1.0, rng.random()], size=problem.size)


def random_certificate(problem: Problem, rng: np.random.Generator) -> Certificate:
    """Admissible, good or bad: y at w̃ or elsewhere, g the slope of the minorant or anything."""
    n, d, scale = problem.size, problem.dimension, problem.domain.diameter_upper()
    point = inside(problem.within, problem.within.interior_point() + scale * rng.choice([0.1, 3]) * rng.normal(size=d))
    y = inside(problem.domain, point + scale * rng.choice([1e-9, 0.1, 3], size=(n, 1)) * rng.normal(size=(n, d)))
    y[rng.random(n) < 0.4] = point
    v = random_duals(problem, rng)
    g = np.where(rng.random((n, 1)) < 0.5, slopes(problem, v, y), problem.lipschitz * rng.normal(size=(n, d)))
    return Certificate(point, v, y, shortened(g, problem.lipschitz))


# ------------------------------------------------------------------------------------------------ the truth, otherwise


def joint_solution(problem: Problem) -> Certificate:
    """The joint program in w and all y, with its multipliers, moved into their sets."""
    n, d, C = problem.size, problem.dimension, problem.lipschitz
    w, y, q, r = cvxpy.Variable(d), cvxpy.Variable((n, d)), cvxpy.Variable((n, d)), cvxpy.Variable(n)
    links = [q[i] + y[i] == w for i in range(n)]
    constraints: list[Any] = [*links, *problem.within.cvxpy_constraints(w)]
    constraints += [c for i in range(n) for c in problem.domain.cvxpy_constraints(y[i])]
    model = problem.model
    if isinstance(model, GlmLoss):
        margins = [problem.features[i] @ y[i] == r[i] for i in range(n)]
        constraints += margins
        t = problem.targets
        losses = [model.cvxpy_phi(r[i], float(t[i])) for i in range(n)]
    else:
        losses = [model.cvxpy_expression(y[i], problem.data[i]) for i in range(n)]
    losses = [loss + problem.ridge / 2 * cvxpy.sum_squares(y[i]) for i, loss in enumerate(losses)]
    value = sum(loss + C * cvxpy.norm(q[i], 2) for i, loss in enumerate(losses))
    value = value / n + problem.weight / 2 * cvxpy.sum_squares(w - problem.anchor)
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it is accurate, the certificate says
        cvxpy.Problem(cvxpy.Minimize(value), constraints).solve(solver=cvxpy.CLARABEL, accept_unknown=True, **tolerances)
    g = -n * np.array([link.dual_value for link in links])
    v = np.zeros(n)
    if isinstance(model, GlmLoss):
        v = np.clip(n * np.array([float(margin.dual_value) for margin in margins]), *model.slope_range)
    return Certificate(inside(problem.within, w.value), v, inside(problem.domain, y.value), shortened(g, C))


class Truth:
    """Certified bounds of F from the conic program of one record; for a ridge, its value up to a tolerance."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.reference = ReferenceExtension(problem.model, problem.domain, problem.dimension)

    def mean(self, w: FloatArray) -> tuple[float, float]:
        """Lower and upper bound of the mean of f_C at w."""
        if self.problem.ridge:
            value = np.mean([self._by_cvxpy(i, w) for i in range(self.problem.size)])
            return float(value) - 1e-6 * (1 + abs(value)), float(value) + 1e-6 * (1 + abs(value))
        found = [self.reference.at(record, w, self.problem.lipschitz) for record in self.problem.data]
        return float(np.mean([f.value - f.gap for f in found])), float(np.mean([f.value for f in found]))

    def _by_cvxpy(self, i: int, w: FloatArray) -> float:
        y = cvxpy.Variable(self.problem.dimension)
        value = self.problem.loss.cvxpy_expression(y, self.problem.data[i]) + self.problem.lipschitz * cvxpy.norm(y - w, 2)
        program = cvxpy.Problem(cvxpy.Minimize(value), self.problem.domain.cvxpy_constraints(y))
        program.solve(solver=cvxpy.CLARABEL)
        return float(program.value)

    def value(self, w: FloatArray) -> tuple[float, float]:
        """Lower and upper bound of F(w)."""
        lower, upper = self.mean(w)
        pull = self.problem.weight / 2 * float(np.sum((w - self.problem.anchor) ** 2))
        return lower + pull * (1 - 1e-14), upper + pull * (1 + 1e-14)

    def gap_lower(self, point: FloatArray, other: FloatArray) -> float:
        """F(point) is above min_K F by at least this, from the value at another point of K."""
        return self.value(point)[0] - self.value(other)[1] - 1e-14


def inflation_allowed(problem: Problem, tested: Certificate) -> float:
    """1e-13 of C times the size of W, of ‖p‖ times it, and of the larger terms where φ is steep."""
    reach = problem.domain.max_norm_from(np.zeros(problem.dimension)) + problem.domain.diameter_upper()
    p = np.linalg.norm(slopes(problem, tested.duals, tested.minimisers), axis=1)
    return 1e-13 * reach * float(problem.lipschitz + np.mean(p) + problem.weight * reach)


# ------------------------------------------------------------------------------------------------------------ validity


@every_loss
@every_kind
def test_bounds_hold_for_good_and_bad_certificates(loss: Loss, kind: str) -> None:
    """On the whole domain for one half of the pairs, on a localised part of it for the other half."""
    rng = np.random.default_rng([LOSSES.index(loss), KINDS.index(kind)])
    problem = make_problem(loss, kind, rng, n=2, local=(LOSSES.index(loss) + KINDS.index(kind)) % 2 == 0)
    best, truth = joint_solution(problem), Truth(problem)
    good = gap_upper(problem, best)
    assert 0 <= gap_upper_in_balls(problem, best) <= good <= 1e-8 * problem.domain.diameter_upper() * problem.lipschitz
    for trial in range(2):
        tested = random_certificate(problem, rng)
        bound, close = gap_upper(problem, tested), gap_upper_in_balls(problem, tested)
        assert 0 <= close <= bound <= close * (1 + 1e-12) + inflation_allowed(problem, tested)
        if trial == 0:
            assert close >= truth.gap_lower(tested.point, best.point)


def test_bound_is_close_to_the_truth_where_the_minimum_is_known() -> None:
    """Affine loss with ‖x‖ ≤ C: F(w) = ⟨mean x, w⟩ + λ/2‖w − w₀‖², whose minimiser over the unit ball has a closed form."""
    data = np.array([[3.0, 0.0], [1.0, 2.0]])
    problem = Problem(Affine(), data, unit_ball(2), 4.0, 0.5, np.zeros(2))
    best = -data.mean(axis=0) / np.linalg.norm(data.mean(axis=0))
    for point in (np.zeros(2), np.array([0.5, -0.5]), best * (1 - 1e-12)):
        truth = data.mean(axis=0) @ (point - best) + 0.25 * (point @ point - 1)
        found = gap_upper(problem, Certificate(point, np.ones(2), np.tile(point, (2, 1)), data.copy()))
        # ν makes the bound the minimum of the model ⟨G, s⟩ + λ/2‖s‖² over K, which is F itself here.
        assert truth <= found <= truth + 1e-13


def test_a_matrix_that_is_indefinite_by_rounding_costs_its_eigenvalue() -> None:
    """½wᵀAw falls below its tangent at 0 by 1.1e-16 at distance 1, though the loss admits A."""
    loss = Quadratic(np.array([[1.0, 1 + EPS], [1 + EPS, 1.0]]))
    problem = Problem(loss, np.zeros((1, 2)), unit_ball(2), 1.0, 1e-20, np.zeros(2))
    tested = Certificate(np.zeros(2), np.zeros(1), np.zeros((1, 2)), np.zeros((1, 2)))
    assert 0.49 * EPS < gap_upper_in_balls(problem, tested) < 1e-12
    assert 0.49 * EPS < gap_upper(problem, tested) < 1e-12
    singular = Problem(Quadratic(np.diag([1.0, 0.0])), np.zeros((1, 2)), unit_ball(2), 1.0, 1e-20, np.zeros(2))
    assert gap_upper_in_balls(singular, tested) < 1e-25
    assert gap_upper_in_balls(replace(problem, loss=Quadratic(np.zeros((2, 2)))), tested) == 0


# ----------------------------------------------------------------------------------------------------------- tampering


def other_point(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:
    return p, replace(c, point=inside(p.within, c.point + 0.3 * rng.normal(size=p.dimension)))


def other_dual(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:
    lower, upper = p.model.slope_range if isinstance(p.model, GlmLoss) else (-math.inf, math.inf)
    duals = c.duals.copy()
    duals[rng.integers(p.size)] += rng.choice([-0.3, 0.3])
    return p, replace(c, duals=np.clip(duals, lower, upper))


def other_minimiser(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:
    return p, replace(c, minimisers=inside(p.domain, c.minimisers + 0.3 * rng.normal(size=c.minimisers.shape)))


def other_subgradient(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:
    moved = c.subgradients + 0.3 * rng.normal(size=c.subgradients.shape)
    return p, replace(c, subgradients=shortened(moved, p.lipschitz))


def other_constant(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:
    return replace(p, lipschitz=p.lipschitz * rng.choice([0.7, 1.4])), c


def other_weight(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:
    return replace(p, weight=p.weight * rng.choice([0.3, 3.0])), c


def other_anchor(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:
    return replace(p, anchor=p.domain.project(p.anchor + rng.normal(size=p.dimension))), c


def swapped_records(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:  # noqa: ARG001
    return replace(p, data=p.data[::-1]), c


def smaller_domain(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:  # noqa: ARG001
    part = Localised(p.domain, p.domain.interior_point(), 0.3)
    return replace(p, domain=part, anchor=part.project(p.anchor), within=None), c


def larger_domain(p: Problem, c: Certificate, rng: np.random.Generator) -> tuple[Problem, Certificate]:  # noqa: ARG001
    whole = Ball(p.domain.interior_point(), 3.0)
    return replace(p, domain=whole, within=None), c


Tamper = Callable[[Problem, Certificate, np.random.Generator], tuple[Problem, Certificate]]
TAMPERS: list[Tamper] = [
    other_point,
    other_dual,
    other_minimiser,
    other_subgradient,
    other_constant,
    other_weight,
    other_anchor,
    swapped_records,
    smaller_domain,
    larger_domain,
]


@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.__name__)
@pytest.mark.parametrize("loss", [Hinge(), Quadratic(MATRIX)], ids=name_of)
def test_tampering_is_rejected_or_proves_no_more_than_the_truth(tamper: Tamper, loss: Loss) -> None:
    rng = np.random.default_rng(TAMPERS.index(tamper))
    problem = make_problem(loss, "ball", rng)
    good = joint_solution(problem)
    changed, tested = tamper(problem, good, rng)
    honest = joint_solution(changed)
    for bound_of in (gap_upper, gap_upper_in_balls):
        try:
            bound = bound_of(changed, tested)
        except Rejected:
            assert tamper in (other_constant, smaller_domain)
            continue
        assert bound >= Truth(changed).gap_lower(tested.point, honest.point)
        ignored = tamper is other_dual and isinstance(loss, Quadratic)
        assert ignored or bound > 1e4 * bound_of(problem, good)


def small_problem() -> tuple[Problem, Certificate]:
    """Hinge loss at 0 with minimisers away from it; everything well inside."""
    problem = Problem(Hinge(), np.array([[1.0, 2.0, 1.0], [0.5, 0.0, -1.0]]), unit_ball(2), 1.0, 0.5, np.zeros(2))
    y = np.array([[0.5, 0.0], [0.0, 0.0]])
    return problem, Certificate(np.zeros(2), np.array([-0.5, -0.25]), y, np.array([[0.0, 0.5], [0.3, 0.0]]))


BAD: list[tuple[str, dict[str, Any]]] = [
    ("subgradients: record 1", {"subgradients": np.array([[0.0, 0.5], [0.0, 1 + 1e-12]])}),
    ("subgradients: record 0", {"subgradients": np.array([[-1e60, 0.5], [0.0, 1 + 1e-12]])}),
    ("subgradients: record 0", {"subgradients": np.array([[math.nan, 0.5], [0.0, 1.0]])}),
    ("minimisers: record 1", {"minimisers": np.array([[0.5, 0.0], [1 + 1e-12, 0.0]])}),
    ("minimisers: record 0", {"minimisers": np.array([[0.8, 0.6 + 1e-12], [2.0, 0.0]])}),
    ("minimisers: record 1", {"minimisers": np.array([[0.5, 0.0], [math.inf, 0.0]])}),
    ("minimisers: record 0", {"minimisers": np.array([[1e71, 0.0], [0.0, 0.0]])}),
    ("duals: record 1", {"duals": np.array([-1.0, 1e-12])}),
    ("duals: record 0", {"duals": np.array([-1 - 1e-12, 0.0])}),
    ("duals: record 1", {"duals": np.array([-1.0, math.nan])}),
    ("point", {"point": np.array([0.6, 0.8 + 1e-12])}),
    ("point: entry 1", {"point": np.array([0.6, math.nan])}),
    ("point", {"point": np.zeros(3)}),
    ("duals", {"duals": np.zeros((2, 1))}),
    ("duals", {"duals": np.zeros(2, dtype=np.float32)}),
    ("minimisers", {"minimisers": np.zeros((3, 2))}),
    ("subgradients", {"subgradients": [[0.0, 0.0], [0.0, 0.0]]}),
]


@pytest.mark.parametrize(("message", "change"), BAD)
@pytest.mark.parametrize("bound_of", [gap_upper, gap_upper_in_balls])
def test_inadmissible_certificates_are_rejected(bound_of: Any, message: str, change: dict[str, Any]) -> None:
    problem, tested = small_problem()
    with ctx.workprec(77):
        assert bound_of(problem, tested) > 0
        with pytest.raises(Rejected, match=message):
            bound_of(problem, replace(tested, **change))
        assert ctx.prec == 77


def test_the_domain_of_the_conjugate_is_closed_and_exact() -> None:
    data = np.array([[1.0, 1.0]])
    for loss, admitted in ((Affine(), [1.0]), (Hinge(), [-1.0, 0.0]), (ReLU(), [0.0, 1.0]), (Absolute(), [-1.0, 1.0])):
        table = data if isinstance(loss, Affine) else np.column_stack([data, [1.0]])
        problem = Problem(loss, table, unit_ball(2), 1.0, 1.0, np.zeros(2))
        for v in admitted:
            tested = Certificate(np.zeros(2), np.array([v]), np.zeros((1, 2)), np.zeros((1, 2)))
            assert 0 <= gap_upper_in_balls(problem, tested) <= gap_upper(problem, tested) < math.inf
        with pytest.raises(Rejected, match="duals: record 0"):
            gap_upper(problem, replace(tested, duals=np.array([np.nextafter(max(admitted), 2)])))


def test_balls_accept_the_boundary_that_floats_must_refuse() -> None:
    problem, tested = small_problem()
    edge = replace(tested, minimisers=np.array([[0.0, 1.0], [0.0, 0.0]]), subgradients=np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert math.isfinite(gap_upper_in_balls(problem, edge))
    with pytest.raises(Rejected, match="minimisers: record 0"):
        gap_upper(problem, edge)


# ------------------------------------------------------------------------------------------------------------ rounding


powers = st.integers(-12, 12)


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from(LOSSES),
    kind=st.sampled_from(KINDS),
    local=st.booleans(),
    scales=st.tuples(powers, powers, powers, powers),
)
def test_floats_are_never_below_balls(seed: int, loss: Loss, kind: str, local: bool, scales: tuple[int, ...]) -> None:
    """Records, domain, constant and weight of sizes from 1e-12 to 1e12."""
    rng = np.random.default_rng(seed)
    of_data, of_domain, of_constant, of_weight = (10.0**power for power in scales)
    domain = make_domain(kind, rng, 3, of_domain)
    within = Localised(domain, inside(domain, domain.interior_point() + of_domain * rng.normal(size=3)), 0.4 * of_domain)
    data = make_data(loss, rng, 3, 3)
    data[:, :3] *= of_data
    anchor = domain.interior_point()
    problem = Problem(loss, data, domain, of_constant, of_weight, anchor, within if local else None)  # type: ignore[arg-type]
    for _ in range(2):
        tested = random_certificate(problem, rng)
        assert gap_upper(problem, tested) >= gap_upper_in_balls(problem, tested, bits=256) >= 0


def tight(loss: GlmLoss, kind: str, rng: np.random.Generator, size: float, C: float) -> tuple[Problem, Certificate]:
    """Records made for the certificate, so that every bracket is 0 but for the rounding of x, t, y, g and the anchor.

    One third stays at w̃, one third moves along its g, one third moves to the boundary with g − v·x normal there.
    """
    n, d = 9, 4
    domain = make_domain(kind, rng, d, size)
    spots = domain.interior_point() + size * rng.choice([1e-6, 0.05]) * rng.normal(size=(n + 1, d))
    point, y = inside(domain, spots)[0], inside(domain, spots)[1:]
    normals = np.zeros((n, d))
    for i in range(6, n):
        direction = rng.normal(size=d)
        y[i] = inside(domain, domain.support_point(direction))
        normals[i] = C * rng.uniform(0.1, 1) * direction
    y[:3] = point
    g = point - y
    g[:3] = rng.normal(size=(3, d)) * rng.uniform(0.1, 1)
    g = shortened(C * g / np.linalg.norm(g, axis=1, keepdims=True) * np.where(np.arange(n) < 3, 0.6, 1)[:, None], C)
    lower, upper = np.clip(loss.slope_range, -2, 2)
    v = rng.uniform(lower, upper, size=n)
    x = (g - normals) / v[:, None]
    shift = {Squared: v, L4: np.cbrt(v / 4)}.get(type(loss), np.zeros(n))
    targets = np.einsum("ij,ij->i", x, y) - shift
    weight = 100 * C / size
    anchor = point + g.mean(axis=0) / weight
    return Problem(loss, np.column_stack([x, targets]), domain, C, weight, anchor), Certificate(point, v, y, g)


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from([ReLU(), Absolute(), Squared(), L4()]),
    kind=st.sampled_from(KINDS),
    scales=st.tuples(powers, powers),
)
def test_floats_are_never_below_balls_where_all_that_is_left_is_rounding(
    seed: int, loss: GlmLoss, kind: str, scales: tuple[int, ...]
) -> None:
    """Squared and L4 loss amplify the rounding of a target far from 0; their gap is compared only from below."""
    problem, tested = tight(loss, kind, np.random.default_rng(seed), 10.0 ** scales[0], 10.0 ** scales[1])
    bound, close = gap_upper(problem, tested), gap_upper_in_balls(problem, tested, bits=256)
    assert bound >= close >= 0
    if isinstance(loss, ReLU | Absolute):  # the certificate is as good as rounding lets it be
        assert bound <= 0.1 * inflation_allowed(problem, tested)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), of=st.sampled_from(["linear", "quadratic", "ridge"]))
def test_rounding_of_the_slope_alone_is_covered(seed: int, of: str) -> None:
    """g is the float next to the slope p and all else is 0, or G = 0 but for rounding: what is left is ‖g − p‖·diameter."""
    rng = np.random.default_rng(seed)
    x, point, v, weight = rng.normal(size=2), np.zeros(2), 0.3, 2.0**20
    loss: Loss = Absolute()
    data, g = np.append(x, 0.0), v * x
    if of == "quadratic":
        loss, data, g = Quadratic(MATRIX[:2, :2]), x, -(MATRIX[:2, :2] @ x)
    elif of == "ridge":
        point = 0.1 * rng.normal(size=2)
        loss, data, g = Ridge(Quadratic(np.zeros((2, 2))), 0.3), x, 0.3 * point
    problem = Problem(loss, data[np.newaxis], unit_ball(2), 50.0, weight, point + np.ldexp(g, -20))
    tested = Certificate(point, np.array([v]), point[np.newaxis], g[np.newaxis])
    assert gap_upper(problem, tested) >= gap_upper_in_balls(problem, tested) >= 0
    assert gap_upper(problem, tested) <= 1e-13


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), turn=st.sampled_from([0.0, 1e-16, 1e-12, 1e-6, 1.0]), d=st.integers(1, 12))
def test_distance_gaps_bound_the_truth_and_are_small_where_it_is(seed: int, turn: float, d: int) -> None:
    rng = np.random.default_rng(seed)
    w, y = rng.normal(size=d), rng.normal(size=(20, d)) * 10.0 ** rng.uniform(-9, 9, size=(20, 1))
    z = w - y
    g = z / np.linalg.norm(z, axis=1, keepdims=True) + turn * rng.normal(size=(20, d))
    g = g / np.linalg.norm(g, axis=1, keepdims=True)
    g = np.where(rng.random((20, 1)) < 0.7, g, 0.5 * g) * (1 - 1e-15 * d)
    found = module._distance_gaps(1.0, g, module._lengths(g), z) * (1 + 16 * EPS)
    with mpmath.workdps(60):
        for i in range(20):
            exact = [mpmath.mpf(a) - mpmath.mpf(b) for a, b in zip(w, y[i], strict=True)]
            length = mpmath.sqrt(sum(a * a for a in exact))
            truth = length - sum(mpmath.mpf(a) * b for a, b in zip(g[i], exact, strict=True))
            assert truth <= mpmath.mpf(found[i]) <= truth * (1 + 1e-13) + 1e-14 * d * length


@every_kind
def test_the_remainder_covers_every_slope_within_the_error(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    problem = make_problem(Hinge(), kind, rng, local=True)
    for error in (1e-9, 1e-3, 1.0):
        point = inside(problem.within, problem.within.interior_point() + rng.normal(size=3))
        slope, turn = rng.normal(size=3), rng.normal(size=(5, 3))
        bound = module._remainder(problem, point, slope, error)
        for way in 0.99 * error * turn / np.linalg.norm(turn, axis=1, keepdims=True):
            assert bound >= module._remainder(problem, point, slope + way, 0.0)


def test_the_error_of_the_slope_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the correctly rounded sums of `math.fsum`, with subgradients of very different sizes and many blocks."""
    rng = np.random.default_rng(10)
    n, d = 20_000, 3
    problem = Problem(Affine(), rng.normal(size=(n, d)), unit_ball(d), 1.0, 0.1, np.full(d, 0.1))
    g = shortened(rng.standard_cauchy(size=(n, d)), 1.0)
    seen: list[tuple[FloatArray, float]] = []
    monkeypatch.setattr(module, "_remainder", lambda _p, _w, slope, error: seen.append((slope, error)) or 0.0)
    gap_upper(problem, Certificate(np.zeros(d), np.ones(n), np.zeros((n, d)), g))
    slope, error = seen[0]
    exact = np.array([math.fsum([*column, -0.01 * n]) / n for column in g.T])
    assert np.linalg.norm(slope - exact) <= error <= 1e-12


def true_fenchel_gap(loss: GlmLoss, m: float, t: float, v: float) -> mpmath.mpf:
    m, t, v = mpmath.mpf(m), mpmath.mpf(t), mpmath.mpf(v)
    entropy = sum(p * mpmath.log(p) for p in (-v, 1 + v) if p > 0) if isinstance(loss, Logistic) else mpmath.mpf(0)
    match loss:
        case Affine():
            return m - v * m
        case Hinge():
            return max(1 - m, mpmath.mpf(0)) + v - v * m
        case ReLU():
            return max(m - t, mpmath.mpf(0)) + v * t - v * m
        case Absolute():
            return abs(m - t) + v * t - v * m
        case Squared():
            return (m - t) ** 2 / 2 + v * v / 2 + v * t - v * m
        case L4():
            return (m - t) ** 4 + v * t + 3 * (abs(v) / 4) ** (mpmath.mpf(4) / 3) - v * m
    return mpmath.log1p(mpmath.exp(-m)) + entropy - v * m


@pytest.mark.parametrize("loss", GLMS, ids=name_of)
def test_fenchel_gaps_bound_the_truth_and_are_small_where_it_is(loss: GlmLoss) -> None:
    rng = np.random.default_rng(5)
    lower, upper = np.clip(loss.slope_range, -1e6, 1e6)
    m = rng.choice([-1.0, 1.0], size=200) * 10.0 ** rng.uniform(-9, 2.6, size=200)
    t = rng.normal(size=200) if loss.target == "real" else np.zeros(200)
    v = np.clip(loss.dphi(m, t) * rng.choice([0, 0.5, 1, 1 + 1e-3, 1 + 1e-8], size=200), lower, upper)
    error = np.where(rng.random(200) < 0.5, 0.0, 1e-12)
    with np.errstate(all="ignore"):
        found = module._fenchel_gaps(loss, m, error, t, v)
    with mpmath.workdps(400 if isinstance(loss, Logistic) else 60):
        for i in range(200):
            ends = [true_fenchel_gap(loss, m[i] + s * mpmath.mpf(error[i]), t[i], v[i]) for s in (-1, 1)]
            truth, slack = max(ends), 4e-14 * (1 + abs(m[i]) + abs(t[i])) * (1 if error[i] else 0.1) * (1 + abs(v[i]))
            assert truth <= mpmath.mpf(found[i]) * (1 + 16 * EPS) + 1e-290
            assert found[i] <= 2 * truth + slack


def test_elementary_functions_are_within_eight_units_in_the_last_place() -> None:
    """What the float bound of logistic and L4 loss trusts; here on points of all magnitudes."""
    rng = np.random.default_rng(6)
    small = 10.0 ** rng.uniform(-300, 0, size=300)
    wide = 10.0 ** rng.uniform(-300, 300, size=300)
    cases: list[tuple[Any, Any, FloatArray]] = [
        (np.exp, mpmath.exp, -rng.uniform(0, 660, size=300)),
        (np.log1p, mpmath.log1p, np.concatenate([small, -small])),
        (np.log, mpmath.log, small),
        (np.cbrt, mpmath.cbrt, wide),
    ]
    with mpmath.workdps(330):
        for ours, exact, points in cases:
            for point in points[np.abs(points) < 1]:
                truth = exact(mpmath.mpf(point))
                assert abs(mpmath.mpf(float(ours(point))) - truth) <= 8 * EPS * abs(truth)


# ------------------------------------------------------------------------------------------------------------- figures


def solved(loss: GlmLoss, n: int, d: int, *, C: float, weight: float) -> tuple[Problem, Certificate]:
    """A smooth problem on the unit ball, at the minimiser up to rounding, found by Newton's method on w."""
    rng = np.random.default_rng(7)
    data = make_data(loss, rng, n, d) * (0.5 if loss.target == "real" else 1)
    problem = Problem(loss, data, unit_ball(d), C, weight, np.zeros(d))
    of, w = batch(loss=loss, data=data, domain=problem.domain, lipschitz=C), np.zeros(d)
    for _ in range(100):
        at = of.at(w)
        slope = at.mean_subgradient() + weight * w
        w = w - np.linalg.solve(at.mean_hessian() + weight * np.eye(d), slope) * min(1.0, 0.3 / np.linalg.norm(slope))
        w /= max(1.0, np.linalg.norm(w) * 1.01)
    return problem, certificate_at(problem, w)


def certificate_at(problem: Problem, w: FloatArray) -> Certificate:
    at = batch(loss=problem.model, data=problem.data, domain=problem.domain, lipschitz=problem.lipschitz).at(w)
    y = at.minimisers()
    y[at.kind == 1] = w
    return Certificate(w, at.duals, inside(problem.domain, y), shortened(at.subgradients(), problem.lipschitz))


@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=name_of)
def test_rounding_costs_little_where_the_problem_is_solved(loss: GlmLoss) -> None:
    problem, tested = solved(loss, 1500, 10, C=1.0, weight=0.1)
    bound, close = gap_upper(problem, tested), gap_upper_in_balls(problem, tested)
    assert close <= bound <= close + 1e-13
    assert bound <= 2e-13  # C = R = 1


def test_rounding_costs_little_for_polyhedral_losses() -> None:
    problem = make_problem(Hinge(), "ball", np.random.default_rng(8), n=60, d=5)
    tested = joint_solution(problem)
    bound, close = gap_upper(problem, tested), gap_upper_in_balls(problem, tested)
    assert close <= bound <= close + 1e-13 * problem.lipschitz * 4
    assert bound <= 1e-8


def test_time_and_blocks() -> None:
    """Many blocks, an incomplete last one; a twentieth of the time that is allowed is usual."""
    rng = np.random.default_rng(9)
    n, d = 20_001, 10
    problem = Problem(Hinge(), make_data(Hinge(), rng, n, d), unit_ball(d), 1.0, 0.1, np.zeros(d))
    tested = certificate_at(problem, 0.1 * rng.normal(size=d))
    bound = gap_upper(problem, tested)
    assert units(lambda: gap_upper(problem, tested), repeats=3) < 12
    first = slice(0, 1500)
    part = replace(problem, data=problem.data[first])
    few = replace(
        tested, duals=tested.duals[first], minimisers=tested.minimisers[first], subgradients=tested.subgradients[first]
    )
    close = gap_upper_in_balls(part, few)
    assert units(lambda: gap_upper_in_balls(part, few)) < 50
    assert close <= gap_upper(part, few) <= close + 1e-12
    parts = [part_of(problem, tested, rows) for rows in np.array_split(np.arange(n), 7)]
    whole_gap = sum(module._record_gaps(p, c, slice(0, p.size)).sum() for p, c in parts) / n
    assert whole_gap <= bound * (1 + 1e-9)


def part_of(problem: Problem, tested: Certificate, rows: Any) -> tuple[Problem, Certificate]:
    arrays = {name: getattr(tested, name)[rows] for name in ("duals", "minimisers", "subgradients")}
    return replace(problem, data=problem.data[rows]), replace(tested, **arrays)


# ----------------------------------------------------------------------------------------------------------- interface


def test_verify_returns_the_bound_or_raises_with_both_numbers() -> None:
    problem, tested = small_problem()
    bound, close = gap_upper(problem, tested), gap_upper_in_balls(problem, tested)
    assert verify(problem, tested, bound) == bound
    assert verify(problem, tested, close, in_balls=True) == close
    with pytest.raises(Rejected, match=f"{bound!r}.*0.001"):
        verify(problem, tested, 0.001)
    with pytest.raises(InputError, match="accuracy"):
        verify(problem, tested, 0.0)
    with pytest.raises(InputError, match="bits"):
        gap_upper_in_balls(problem, tested, bits=1)


def test_numbers_beyond_the_floats_prove_nothing() -> None:
    problem = Problem(L4(), np.array([[1e60, 1.0, 1e60]]), Ball(np.zeros(2), 1e50), 1e50, 1e-300, np.zeros(2))
    tested = Certificate(np.zeros(2), np.array([1e300]), np.full((1, 2), 1e49), np.full((1, 2), 1e49))
    assert gap_upper(problem, tested) == math.inf
    assert gap_upper_in_balls(problem, tested) == math.inf or gap_upper_in_balls(problem, tested) > 1e300
    with ctx.workprec(64):
        assert module._float_upper(arb(2) ** 3000) == math.inf
        assert module._float_upper(arb(2) ** -3000) == 5e-324
        assert module._float_upper(arb("nan")) == math.inf
        assert module._float_upper(arb(3).sqrt()) >= math.sqrt(3)


def test_problem_has_signed_features_targets_and_norms() -> None:
    data = np.array([[3.0, 4.0, -1.0]])
    hinge = Problem(Hinge(), data, unit_ball(2), 1, 1, [0.0, 0.0])  # type: ignore[arg-type]
    assert (hinge.size, hinge.dimension, hinge.within) == (1, 2, hinge.domain)
    assert np.array_equal(hinge.features, [[-3.0, -4.0]])
    assert np.array_equal(hinge.targets, [0.0])
    assert np.allclose(hinge.norms, 5)
    ridge = Problem(Ridge(Absolute(), 0.1), data, unit_ball(2), 1, 1, np.zeros(2))
    assert np.array_equal(ridge.features, [[3.0, 4.0]])
    assert np.array_equal(ridge.targets, [-1.0])
    assert np.array_equal(Problem(Quadratic(np.eye(3)), data, unit_ball(3), 1, 1, np.zeros(3)).features, data)
    inner = Localised(hinge.domain, np.zeros(2), 0.5)
    assert replace(hinge, within=Localised(inner, np.zeros(2), 0.2)).within.diameter_upper() == 0.4


class Derived(Hinge):
    """Could be any loss."""


BAD_PROBLEMS: list[tuple[str, dict[str, Any]]] = [
    ("loss", {"loss": "hinge"}),
    ("loss", {"loss": Derived()}),
    ("loss", {"loss": Quadratic(np.eye(3))}),
    ("domain", {"domain": 1.0}),
    ("lipschitz", {"lipschitz": 0.0}),
    ("lipschitz", {"lipschitz": 1e51}),
    ("lipschitz", {"lipschitz": math.nan}),
    ("weight", {"weight": 0.0}),
    ("weight", {"weight": math.inf}),
    ("anchor", {"anchor": np.zeros(3)}),
    ("anchor", {"anchor": np.array([2.0, 0.0])}),
    ("anchor", {"anchor": np.array([math.nan, 0.0])}),
    ("within", {"within": Ball(np.zeros(2), 0.5)}),
    ("within", {"within": Localised(unit_ball(2), np.zeros(2), 0.5)}),
    ("within", {"within": 3}),
    ("data", {"data": np.zeros((0, 3))}),
    ("data", {"data": np.ones((2, 2))}),
    ("data", {"data": np.array([[math.nan, 0.0, 1.0]])}),
    ("data", {"data": np.array([[2e60, 0.0, 1.0]])}),
    ("data.*label of record 1", {"data": np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.5]])}),
]


@pytest.mark.parametrize(("message", "change"), BAD_PROBLEMS)
def test_bad_problems_are_refused(message: str, change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=message):
        replace(small_problem()[0], **{"within": None, **change})


def test_parameters_are_checked_before_the_data() -> None:
    with pytest.raises(InputError, match="weight"):
        replace(small_problem()[0], weight=-1.0, data="private")  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------- exact records


def numbers(values: Any) -> tuple[mpmath.mpf, ...]:
    return tuple(mpmath.mpf(float(a)) for a in values)


def in_exact(tested: Certificate, rows: Any) -> dict[int, ExactRecord]:
    """The floats of these records as exact numbers."""
    v, y, g = tested.duals, tested.minimisers, tested.subgradients
    return {int(i): ExactRecord(*numbers([v[i]]), numbers(y[i]), numbers(g[i])) for i in rows}


def without(tested: Certificate, rows: Any, problem: Problem) -> Certificate:
    """The same with other floats, admissible but bad, for these records."""
    v, y, g = tested.duals.copy(), tested.minimisers.copy(), tested.subgradients.copy()
    v[rows] = -1.0 if isinstance(problem.model, Hinge | Logistic) else 1.0
    y[rows], g[rows] = problem.domain.interior_point(), -g[rows]
    return replace(tested, duals=v, minimisers=y, subgradients=g)


@every_loss
@pytest.mark.parametrize("kind", ["ball", "polytope", "localised"])
def test_exact_numbers_count_instead_of_floats(loss: Loss, kind: str) -> None:
    rng = np.random.default_rng([10, LOSSES.index(loss)])
    problem = make_problem(loss, kind, rng, n=4)
    tested, rows = random_certificate(problem, rng), [0, 2]
    label = isinstance(problem.model, Hinge | Logistic)
    spoilt = (
        without(tested, rows, problem) if not label else replace(tested, duals=np.where([1, 0, 1, 0], -0.5, tested.duals))
    )
    both = replace(spoilt, exact=in_exact(tested, rows))
    close, truth = gap_upper_in_balls(problem, both), gap_upper_in_balls(problem, tested)
    assert close <= truth * (1 + 1e-12)  # multipliers guessed with more bits may prove a little more
    assert close >= truth * (1 - 1e-9)
    scale = truth + inflation_allowed(problem, tested)
    assert close <= gap_upper(problem, both) <= close + 1e-9 * scale
    gaps = record_gaps_upper(problem, tested)
    assert record_gaps_upper(problem, both) == pytest.approx(gaps, rel=1e-9, abs=1e-12 * scale)


def extreme_problem(loss: GlmLoss, kind: str) -> tuple[Problem, Certificate]:
    """Record 1 is beyond what floats can certify."""
    rng = np.random.default_rng(11)
    problem = make_problem(loss, kind, rng, n=3)
    data = problem.data.copy()
    data[1, :3] *= 1e25
    if loss.target == "real":
        data[1, 3] = 1e25
    problem = replace(problem, data=data)
    w = inside(problem.domain, problem.domain.interior_point() + 2 * rng.normal(size=3))
    v, y = np.full(3, max(0.0, loss.slope_range[0])), np.tile(problem.domain.interior_point(), (3, 1))
    return problem, Certificate(w, v, y, np.zeros((3, 3)), {1: refine(problem, w, 1, bits=512)})


@pytest.mark.parametrize("loss", [Affine(), Squared(), L4()], ids=name_of)
@every_kind
def test_extreme_records_are_certified(loss: GlmLoss, kind: str) -> None:
    problem, tested = extreme_problem(loss, kind)
    gaps = record_gaps_upper(problem, tested)
    assert gaps[1] <= 2.0**-512 * 1e120
    assert gaps[1] <= record_gaps_upper(problem, replace(tested, exact={}))[1]
    close = gap_upper_in_balls(problem, tested, bits=256)
    assert close <= gap_upper(problem, tested) <= close + 1e-6


def one_record(loss: GlmLoss, row: list[float], C: float, point: float, v: mpmath.mpf, g: mpmath.mpf) -> float:
    """The gap of one record on [−1, 1] with y = w."""
    problem = Problem(loss, np.array([row]), Box(-np.ones(1), np.ones(1)), C, 1.0, np.zeros(1))
    record = ExactRecord(v, (mpmath.mpf(point),), (g,))
    lower = np.array([max(0.0, loss.slope_range[0])])
    tested = Certificate(np.array([point]), lower, np.zeros((1, 1)), np.zeros((1, 1)), {0: record})
    return float(record_gaps_upper(problem, tested)[0])


def test_the_largest_terms_cancel() -> None:
    """Terms of 1e240 and numbers of 212 bits: the bits of the numbers alone would not do.  The gap is 6·(1e60·1e-141)²."""
    with mpmath.workprec(400):
        slope = -4 * mpmath.mpf(1e60) ** 3
        g = slope * mpmath.mpf(1e-140)
    assert 5.9e-162 <= one_record(L4(), [1e-140, 1e60], 1e45, 0.1, slope, g) <= 6.1e-162


def test_short_normals_count_as_normals() -> None:
    with mpmath.workprec(200):
        g = 1 + mpmath.mpf(2) ** -70
    assert one_record(Affine(), [1.0], 2.0, 1.0, mpmath.mpf(1), g) <= 1e-300
    assert one_record(Affine(), [1.0], 2.0, -1.0, mpmath.mpf(1), g) == pytest.approx(2.0**-69)


def changed(record: ExactRecord, **change: Any) -> ExactRecord:
    return replace(record, **change)


def malformed(good: ExactRecord) -> list[tuple[str, Any]]:
    """Numbers that are not what they say: comparisons of mpmath believe the count of bits, conversions do not."""

    def made(*parts: Any) -> mpmath.mpf:
        return mpmath.mp.make_mpf(parts)

    huge = made(0, (1 << 300) + 1, 1, -400)  # 2^301, but it passes for less than 2^-398
    assert 0 <= huge < 1
    return [
        ("dual of record 1", changed(good, dual=huge)),
        ("minimisers: record 1", changed(good, minimiser=(huge,) * len(good.minimiser))),
        ("subgradients: record 1", changed(good, subgradient=(huge,) * len(good.subgradient))),
        ("finite", changed(good, dual=made(0, 0, 7, 0))),
        ("sign", changed(good, dual=made(2, 1, 0, 1))),
        ("sign", changed(good, dual=made(0, -1, 0, 1))),
        ("whole", changed(good, dual=made(0, 0.5, 0, 1))),
        ("whole", changed(good, dual=made(0, 1, 0))),
    ]


def test_a_negative_gap_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, tested = extreme_problem(Affine(), "ball")
    monkeypatch.setattr(module, "gap_upper", lambda *_: -1e-9)
    with pytest.raises(Rejected, match="which no point has"):
        verify(problem, tested, 1.0)


BOUNDS = [gap_upper, gap_upper_in_balls, record_gaps_upper]


@pytest.mark.parametrize(("bound_of", "kind"), list(zip([*BOUNDS, *BOUNDS], KINDS, strict=True)))
def test_tampered_exact_records_are_rejected(bound_of: Any, kind: str) -> None:
    problem, tested = extreme_problem(Affine(), kind)
    good = tested.exact[1]
    with mpmath.workprec(3000):
        h = mpmath.mpf(2) ** -480
        middle = numbers(problem.domain.interior_point())
        out = tuple(a + h * (a - b) for a, b in zip(good.minimiser, middle, strict=True))
        longer = tuple(a * (1 + h) for a in good.subgradient)
        half, above = mpmath.mpf(0.5), 1 + h
    nan, inf = mpmath.mpf("nan"), mpmath.mpf("inf")
    bad: list[tuple[str, Any]] = [
        ("minimisers: record 1", changed(good, minimiser=out)),
        ("subgradients: record 1", changed(good, subgradient=longer)),
        ("dual of record 1", changed(good, dual=half)),
        ("dual of record 1", changed(good, dual=above)),
        ("finite", changed(good, dual=nan)),
        ("finite", changed(good, minimiser=(inf, *good.minimiser[1:]))),
        ("must have", changed(good, minimiser=good.minimiser[1:])),
        ("must have", changed(good, subgradient=(*good.subgradient, half))),
        ("must have", changed(good, dual=1.0)),
        *malformed(good),
    ]
    for message, record in bad:
        with pytest.raises(Rejected, match=message):
            bound_of(problem, replace(tested, exact={1: record}))
    for index in (-1, 3, "1", True, 1.0):
        with pytest.raises(Rejected, match="index"):
            bound_of(problem, replace(tested, exact={index: good}))
    swapped = record_gaps_upper(
        problem, replace(tested, exact={0: good})
    )  # admissible for another record, but proves nothing
    assert swapped[0] > 1e3 * record_gaps_upper(problem, tested)[1]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from(LOSSES), st.sampled_from(KINDS), st.integers(60, 200))
def test_floats_are_never_below_balls_with_exact_records(seed: int, loss: Loss, kind: str, bits: int) -> None:
    """Exact numbers that floats do not hold, at a point where the slope of the objective is next to nothing."""
    rng = np.random.default_rng(seed)
    problem = make_problem(loss, kind, rng, n=5)
    tested = random_certificate(problem, rng)
    with mpmath.workprec(bits):
        third = mpmath.mpf(1) / 3
        exact = {
            i: changed(r, subgradient=tuple(a * third for a in r.subgradient)) for i, r in in_exact(tested, [1, 4]).items()
        }
    both = replace(tested, exact=exact)
    pull = tested.subgradients.copy()
    pull[[1, 4]] /= 3
    anchor = tested.point + pull.mean(axis=0) / problem.weight
    problem = replace(problem, anchor=problem.domain.project(anchor))
    assert gap_upper(problem, both) >= gap_upper_in_balls(problem, both, bits=256)
