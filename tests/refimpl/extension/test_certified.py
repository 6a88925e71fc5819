"""The certified minimiser: certificates are never below the true gap, on every loss and domain and on extreme data.

The long version of the first test takes 2000 problems: pytest -m long tests/refimpl/extension/test_certified.py
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import cvxpy
import numpy as np
import pytest
from mpmath import mpf
from tests.refimpl.random_domains import random_domain

import tailproof.refimpl.extension.certified as certified
from tailproof.refimpl.domains import Ball, Box, Localised
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
from tailproof.refimpl.extension.certified import Minimiser, accuracy_for, accuracy_lower, minimise
from tailproof.refimpl.extension.refined import ExactRecord, refine
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import InputError

GLM: list[GlmLoss] = [Affine(), Hinge(), ReLU(), Absolute(), Logistic(), Squared(), L4()]
EXTREME: list[Loss] = [Affine(), Squared(), L4(), Absolute(), Logistic()]
EXTREME += [
    Quadratic(np.array([[2.0, 0.5], [0.5, 0.3]])),
    Quadratic(np.eye(2)),
    Ridge(Absolute(), 0.3),
    Ridge(Squared(), 0.3),
]
DOMAINS = ["ball", "box", "l1", "ellipsoid", "polytope"]
DATA = ["student", "cauchy-like", "outliers", "targets", "duplicates", "zeros"]


def data_of(loss: Loss, kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Heavy tails, outliers of 1e12, duplicated and zero rows."""
    tail = 0.7 if kind == "cauchy-like" else 2.0
    features = rng.standard_t(tail, size=(n, d))
    scores = features @ rng.normal(size=d) + rng.standard_t(tail, size=n)
    if kind == "outliers":
        features[0] *= 1e12
    if kind == "targets":
        scores[0] *= 1e12
    if kind == "duplicates":
        features[1:] = features[rng.integers(0, 2, n - 1)]
    if kind == "zeros":
        features[: n // 2] = 0.0
    if loss.columns(d) == d:
        return features
    inner = loss.loss if isinstance(loss, Ridge) else loss
    assert isinstance(inner, GlmLoss)
    return np.column_stack([features, np.where(scores > 0, 1.0, -1.0) if inner.target == "label" else scores])


def random_problem(seed: int) -> tuple[Problem, float]:
    """A problem and an accuracy; every loss, domain and kind of data comes up, W and W ∩ ball, also for the inner infimum."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 14)), int(rng.integers(1, 5))
    root = rng.normal(size=(d, d))
    matrix = rng.choice([np.diag(rng.uniform(0.1, 2, d)), root @ root.T / d])
    losses: list[Loss] = [*GLM, Quadratic(matrix), Ridge([*GLM[1:], Quadratic(matrix)][int(rng.integers(7))], 0.3)]
    loss = losses[seed % len(losses)]
    domain = random_domain(DOMAINS[seed // len(losses) % len(DOMAINS)], d, rng)
    kind = DATA[int(rng.integers(0, len(DATA)))]
    if rng.uniform() < 0.1:
        domain = Localised(domain, domain.project(domain.interior_point() + 0.2 * rng.normal(size=d)), rng.uniform(0.1, 0.6))
    anchor = domain.project(domain.interior_point() + 0.3 * rng.normal(size=d))
    centre = domain.project(domain.interior_point() + 0.2 * rng.normal(size=d))
    within = Localised(domain, centre, rng.uniform(0.1, 0.6)) if rng.uniform() < 0.4 else None
    lipschitz, weight = 10.0 ** rng.uniform(-1, 1), 10.0 ** rng.uniform(-1.5, 0.5)
    problem = Problem(loss, data_of(loss, kind, n, d, rng), domain, lipschitz, weight, anchor, within)
    accuracy = accuracy_for(lipschitz=lipschitz, weight=weight, size=n, kappa=10.0 ** rng.uniform(-2, 0))
    return problem, accuracy


def joint_minimiser(problem: Problem) -> np.ndarray | None:
    """w of the joint problem by Clarabel at tolerance 1e-12, moved into the set; nothing if it fails."""
    n, d = problem.size, problem.dimension
    w, y = cvxpy.Variable(d), cvxpy.Variable((n, d))
    terms = [
        problem.loss.cvxpy_expression(y[i], problem.data[i]) + problem.lipschitz * cvxpy.norm(w - y[i], 2) for i in range(n)
    ]
    objective = sum(terms) / n + problem.weight / 2 * cvxpy.sum_squares(w - problem.anchor)
    constraints = problem.within.cvxpy_constraints(w)
    for i in range(n):
        constraints += problem.domain.cvxpy_constraints(y[i])
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
    program = cvxpy.Problem(cvxpy.Minimize(objective), constraints)
    try:
        program.solve(solver=cvxpy.CLARABEL, accept_unknown=True, **tolerances)
    except cvxpy.SolverError:
        return None
    if w.value is None or not np.isfinite(w.value).all():
        return None
    return np.asarray(problem.within.project(w.value))


def value_bounds(problem: Problem, point: np.ndarray, tolerance: float) -> tuple[Fraction, Fraction]:
    """F(point) is between these, about as close as the tolerance: values f(y) + C‖w − y‖, and less their records' gaps."""
    found = batch(loss=problem.loss, data=problem.data, domain=problem.domain, lipschitz=problem.lipschitz).at(point)
    floats = certified.certificate_of(problem, point, found.duals, found.minimisers(), found.subgradients())
    coarse = np.flatnonzero(record_gaps_upper(problem, floats) > tolerance)
    fine = replace(floats, exact={int(i): refine(problem, point, int(i), bits=192) for i in coarse})
    gaps = sum(map(Fraction, record_gaps_upper(problem, fine)))
    values = sum(
        certified.refined_value(problem, point, i, certified._exact_record(fine, i), bits=192) for i in range(problem.size)
    )
    offset = [Fraction(a) - Fraction(b) for a, b in zip(point, problem.anchor, strict=True)]
    penalty = Fraction(problem.weight) / 2 * sum(a * a for a in offset)
    return (values - gaps) / problem.size + penalty, Fraction(values) / problem.size + penalty


def check(seed: int, record_property: Callable[[str, object], None]) -> None:
    """A certificate's gap is not below F(point) − F(other) for points that are better still."""
    problem, accuracy = random_problem(seed)
    found = minimise(problem, accuracy)
    assert found.gap_upper <= accuracy
    assert problem.within.contains(found.point)
    assert gap_upper(problem, found.certificate) == found.gap_upper
    better = [minimise(problem, max(found.gap_upper / 1000, 2 * accuracy_lower(problem))).point, joint_minimiser(problem)]
    tolerance = found.gap_upper / 1e6
    least = min(value_bounds(problem, other, tolerance)[1] for other in better if other is not None)
    true_gap = value_bounds(problem, found.point, tolerance)[0] - least
    assert true_gap <= found.gap_upper
    record_property("stage", found.stage)
    record_property(
        "true gap / certified gap, extreme data" if extreme(problem) else "true gap / certified gap",
        float(true_gap / Fraction(found.gap_upper)),
    )


def extreme(problem: Problem) -> bool:
    return bool(np.abs(problem.data).max() > 1e9)


# Every loss on every domain.  35, a quadratic loss on a part of an ellipsoid, takes half a minute: 125 is of the same two kinds.
SEEDS = [*range(35), 125, *range(36, 45)]


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("part", range(9))
def test_certificates_are_never_below_the_true_gap(part: int, record_property: Callable[[str, object], None]) -> None:
    for seed in SEEDS[part * 5 : part * 5 + 5]:
        check(seed, record_property)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_a_quadratic_loss_on_a_part_of_an_ellipsoid(record_property: Callable[[str, object], None]) -> None:
    check(35, record_property)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("part", range(100))
def test_certificates_are_never_below_the_true_gap_in_2000_problems(
    part: int, record_property: Callable[[str, object], None]
) -> None:
    for seed in range(1000 + part * 20, 1000 + part * 20 + 20):
        check(seed, record_property)


@pytest.mark.parametrize("seed", [1862, 2473])
def test_kinks_of_quadratic_losses_at_the_finest_accuracy(seed: int) -> None:
    """The minimiser is where minimisers of records leave the boundary.  Floats prove a gap of 1e-10, at best; a mixture of
    tangents proves less when its subgradients follow the minimiser of the quadratic part."""
    problem, accuracy = random_problem(seed)
    goal = max(minimise(problem, accuracy).gap_upper / 1000, 2 * accuracy_lower(problem))
    found = minimise(problem, goal)
    assert found.stage == "cutting planes"
    assert gap_upper(problem, found.certificate) <= goal
    assert found.evaluations <= 100


def example(loss: Loss | None = None, n: int = 60, d: int = 3) -> Problem:
    rng = np.random.default_rng(1)
    loss = loss or Hinge()
    return Problem(loss, data_of(loss, "student", n, d, rng), Ball(np.zeros(d), 1.0), 2.0, 0.3, np.zeros(d))


def test_ball_arithmetic_agrees_and_is_sharper() -> None:
    problem = example()
    found = minimise(problem, 1e-9)
    exact = gap_upper_in_balls(problem, found.certificate)
    assert 0 <= exact <= found.gap_upper <= exact + 1e-13


def test_a_solver_that_trusts_its_own_tolerance_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant believes the size of its last gradient; the verifier does not."""
    problem, accuracy = example(), 1e-8
    monkeypatch.setattr(certified, "gap_upper", lambda *_: accuracy / 2)
    monkeypatch.setattr(certified._State, "own_gap", 0.0)
    monkeypatch.setattr(certified._State, "smoothing_gap", 0.0)
    claimed = minimise(problem, accuracy)
    assert claimed.gap_upper <= accuracy
    with pytest.raises(Rejected, match="proves a gap of"):
        verify(problem, claimed.certificate, accuracy)
    with pytest.raises(Rejected, match="proves a gap of"):
        verify(problem, claimed.certificate, accuracy, in_balls=True)


def tampered(found: Minimiser, problem: Problem) -> list[Certificate]:
    good = found.certificate
    outside = good.minimisers.copy()
    outside[3] = 1.001
    longer = good.subgradients.copy()
    longer[5] *= problem.lipschitz * 1.0001 / np.linalg.norm(longer[5])
    beyond = good.duals.copy()
    beyond[2] = 0.5
    elsewhere = good.point + 0.05
    return [
        replace(good, minimisers=outside),
        replace(good, subgradients=longer),
        replace(good, duals=beyond),
        replace(good, point=elsewhere),
        replace(good, duals=np.roll(good.duals, 1)),
        replace(good, subgradients=np.zeros_like(good.subgradients)),
        replace(good, point=good.point * np.nan),
    ]


def test_tampered_certificates_are_rejected() -> None:
    problem = example()
    found = minimise(problem, 1e-8)
    assert verify(problem, found.certificate, 1e-8) == found.gap_upper
    for certificate in tampered(found, problem):
        with pytest.raises(Rejected):
            verify(problem, certificate, 1e-8)
    other = replace(problem, data=problem.data[::-1].copy())
    with pytest.raises(Rejected):
        verify(other, found.certificate, 1e-8)


@pytest.mark.parametrize("loss", [Hinge(), Squared(), Logistic()], ids=["hinge", "squared", "logistic"])
def test_cutting_planes_alone_reach_the_same_point(loss: GlmLoss) -> None:
    problem, accuracy = example(loss), 1e-6
    by_newton = minimise(problem, accuracy)
    search = certified._Search(problem, accuracy)
    search.last = problem.within.project(problem.anchor)
    by_planes = search.cutting_planes(256)
    assert by_planes is not None
    assert by_planes.stage == "cutting planes"
    assert gap_upper(problem, by_planes.certificate) <= accuracy
    apart = np.linalg.norm(by_newton.point - by_planes.point)
    assert apart <= 2 * np.sqrt(2 * accuracy / problem.weight)


@pytest.mark.parametrize("loss", [*GLM, EXTREME[5], Ridge(EXTREME[5], 0.3), *EXTREME[-2:]], ids=str)
def test_values_of_refined_records(loss: Loss) -> None:
    """Against the batched values, of either sign."""
    rng = np.random.default_rng(9)
    problem = Problem(loss, data_of(loss, "student", 12, 2, rng), Box(-np.ones(2), np.ones(2)), 0.7, 0.3, np.zeros(2))
    point = np.array([0.4, -0.9])
    values = batch(loss=loss, data=problem.data, domain=problem.domain, lipschitz=0.7).at(point).values
    for i in range(12):
        record = refine(problem, point, i, bits=128)
        value = float(certified.refined_value(problem, point, i, record, bits=128))
        assert value == pytest.approx(values[i], rel=1e-9, abs=1e-9)


def test_values_of_logistic_loss_at_huge_margins() -> None:
    """e^−1e12, written out as a fraction, would have 1e12 digits."""
    problem = Problem(Logistic(), np.array([[1e12, 1.0], [1e12, -1.0]]), Ball(np.zeros(1), 1.0), 1.0, 1.0, np.zeros(1))
    for i, value in enumerate([0.0, 1e12]):
        record = ExactRecord(mpf(-i), (mpf(1),), (mpf(0),))
        assert float(certified.refined_value(problem, np.ones(1), i, record, bits=128)) == pytest.approx(value)


@pytest.mark.parametrize("seed", [1, 5, 27, 36, 56, 107, 296])
def test_the_least_accuracy_is_reached_for_large_weights(seed: int) -> None:
    """λ magnifies the rounding of w in the gradient; in the last one it hides a normal of the boundary."""
    rng = np.random.default_rng(seed)
    problem = replace(random_problem(seed)[0], weight=10.0 ** rng.uniform(0, 9))
    accuracy = 2 * accuracy_lower(problem)
    assert minimise(problem, accuracy).gap_upper <= accuracy


def test_many_records_start_from_few() -> None:
    problem = example(n=5000)
    found = minimise(problem, accuracy_for(lipschitz=2.0, weight=0.3, size=5000))
    assert found.stage == "newton"
    assert found.evaluations <= 25


def test_the_answer_does_not_depend_on_earlier_ones() -> None:
    problem = example(Absolute())
    assert np.array_equal(minimise(problem, 1e-7).point, minimise(problem, 1e-7).point)


def test_accuracy() -> None:
    problem = example()
    with pytest.raises(InputError, match="accuracy = 1e-30: must be at least"):
        minimise(problem, 1e-30)
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="accuracy"):
            minimise(problem, bad)
    alpha = accuracy_for(lipschitz=2.0, weight=0.3, size=50, kappa=0.5)
    assert np.sqrt(2 * alpha / 0.3) == pytest.approx(0.5 * 2.0 / (0.3 * 50))
    assert minimise(problem, 2 * accuracy_lower(problem)).gap_upper <= 2 * accuracy_lower(problem)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"lipschitz": 0.0}, "lipschitz"),
        ({"lipschitz": -1.0}, "lipschitz"),
        ({"weight": 0.0}, "weight"),
        ({"weight": np.inf}, "weight"),
        ({"anchor": np.array([2.0, 0, 0])}, "anchor"),
        ({"data": np.full((4, 4), np.nan)}, "data"),
        ({"data": np.full((4, 3), 1.0)}, "data"),
        ({"within": Ball(np.zeros(3), 0.5)}, "within"),
    ],
)
def test_bad_input(change: dict[str, object], match: str) -> None:
    with pytest.raises(InputError, match=match):
        replace(example(), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("loss", "domain"),
    [*product(EXTREME[:-2], ["ball", "box"]), (EXTREME[-2], "ball"), (EXTREME[-1], "box")],
    ids=str,
)
def test_extreme_records_are_refined(loss: Loss, domain: str) -> None:
    """Features and targets of 1e12 at an accuracy of 1e-7: floats alone cannot prove it, whatever y, g and v they have.

    A ridge takes seconds: one loss on each domain.
    """
    rng = np.random.default_rng(4)
    data = data_of(loss, "student", 20, 2, rng)
    data[:2, :2] *= 1e12
    if data.shape[1] > 2 and not isinstance(loss, Logistic):
        data[1:3, -1] *= 1e12
    region = random_domain(domain, 2, rng)
    problem = Problem(loss, data, region, 1.0, 0.5, region.interior_point())
    found = minimise(problem, 1e-7)
    assert found.gap_upper <= 1e-7
    assert gap_upper_in_balls(problem, found.certificate) <= found.gap_upper
    if isinstance(loss, Logistic):  # its extreme records are flat where the minimum is
        return
    assert found.stage != "newton"
    assert gap_upper(problem, replace(found.certificate, exact={})) > 1e-7


def test_a_record_whose_value_floats_cannot_hold() -> None:
    """f is about 1e24 there, so that float values of the planes are off by 1e8, although its gap is proved in floats."""
    data = np.ones((6, 2))
    data[3] = -1e12
    problem = Problem(Quadratic(np.eye(2)), data, Ball(np.zeros(2), 1.0), 1000.0, 1.0, np.zeros(2))
    accuracy = accuracy_for(lipschitz=1000.0, weight=1.0, size=6, kappa=1e-2)
    found = minimise(problem, accuracy)
    assert found.gap_upper <= accuracy
    assert found.evaluations <= 100


def test_a_domain_so_large_that_values_may_overflow_is_refused() -> None:
    problem = Problem(L4(), np.ones((3, 3)), Ball(np.zeros(2), 1e20), 1.0, 1.0, np.zeros(2))
    with pytest.raises(InputError, match="domain: reaches 1e\\+20"):
        minimise(problem, 1e30)


def test_a_centre_outside_the_domain_leaves_no_intersection() -> None:
    with pytest.raises(InputError, match="center: must lie in the base domain"):
        Localised(Ball(np.zeros(3), 1.0), np.array([3.0, 0, 0]), 0.5)
