"""The fixed-step method against certified minima, its plan by hand, and its behaviour where the solver or floats fail."""

from __future__ import annotations

import math
from typing import Any

import cvxpy
import numpy as np
import pytest
from tests.refimpl.extension.test_adaptive_method import (
    DOMAINS,
    LOSSES,
    Problem,
    bracket,
    make_data,
    make_domain,
    make_loss,
)

from tailproof.refimpl.domains import Ball, Box, Domain, unit_ball
from tailproof.refimpl.extension import fixed_step
from tailproof.refimpl.extension.fixed_step import (
    BiasedSubgradient,
    FixedStepResult,
    fixed_step_minimiser,
    fixed_step_plan,
    record_subgradient,
)
from tailproof.refimpl.extension.joint import JointObjective, StepLimitError, constant_step_bound
from tailproof.refimpl.extension.socp import ReferenceExtension, certify
from tailproof.refimpl.losses import L4, Absolute, Affine, Hinge, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.projections import InexactProjection, inexact_projection
from tailproof.refimpl.validation import FloatArray, InputError

HINGE_RECORDS = np.array([[3.0, -1.0, 1.0], [0.5, 2.0, -1.0], [-4.0, 1.0, 1.0]])


def make_problem(loss_name: str, domain_name: str, *, n: int, local: bool, rng: np.random.Generator) -> Problem:
    """A weak pull towards an anchor on the boundary, so that the minimiser is far from the start."""
    loss, domain = make_loss(loss_name, 2), make_domain(domain_name, 2, rng)
    anchor, centre = (domain.project(domain.interior_point() + size * rng.normal(size=2)) for size in (5.0, 0.3))
    objective = JointObjective(loss, make_data(loss, n, 2, rng), rng.uniform(0.3, 1.5), rng.uniform(0.05, 0.3), anchor)
    return Problem(objective, fixed_step._region(domain, Ball(centre, 0.5) if local else None), domain)


def arguments(problem: Problem) -> dict[str, Any]:
    of, local = problem.objective, problem.region is not problem.domain
    within = {"within": problem.region.ball} if local else {}  # type: ignore[attr-defined]
    return {"domain": problem.domain, "lipschitz": of.lipschitz, "weight": of.strength, "anchor": of.center, **within}


def accuracy_for(problem: Problem, steps: int) -> float:
    """So that about this number of steps is planned."""
    plan = fixed_step_plan(**arguments(problem), accuracy=1.0)
    return plan.diameter * plan.norm_upper / (0.81 * math.sqrt(steps))


def risk_upper(problem: Problem, w: FloatArray) -> float:
    """F̂_{λ,C}(w), a certified upper bound."""
    of = problem.objective
    reference = ReferenceExtension(of.loss, problem.domain, problem.domain.dimension)
    values = [reference.at(x, w, of.lipschitz).value for x in of.data]
    return float(np.mean(values)) + of.strength / 2 * math.dist(w, of.center) ** 2


def minimise(problem: Problem, accuracy: float, **changes: Any) -> FixedStepResult:
    of = problem.objective
    return fixed_step_minimiser(loss=of.loss, data=of.data, accuracy=accuracy, **(arguments(problem) | changes))  # type: ignore[arg-type]


def check(problem: Problem, result: FixedStepResult) -> float:
    """The claims of the result; the excess as a share of the bound."""
    plan = result.plan
    assert result.iterations == plan.iterations
    assert problem.region.contains(result.point)
    excess = risk_upper(problem, result.point) - bracket(problem)[0]
    assert excess <= result.bound
    assert result.certified == (result.bound <= plan.accuracy)
    planned = constant_step_bound(
        diameter=plan.diameter,
        norm_upper=plan.norm_upper,
        bias=result.bias,
        step=plan.steps.step,
        iterations=plan.iterations,
        projection_error=plan.steps.projection_error,
    )
    assert result.bound <= planned * (1 + 1e-12)
    return excess / result.bound


# ---------------------------------------------------------------------------------------------------- true minimisers


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("loss_name", ["affine", "hinge", "relu", "absolute"])
def test_polyhedral_losses_by_conic_programs(loss_name: str, local: bool) -> None:
    rng = np.random.default_rng([LOSSES.index(loss_name), local])
    problem = make_problem(loss_name, "ball", n=2, local=local, rng=rng)
    accuracy = accuracy_for(problem, 25)
    result = minimise(problem, accuracy)
    assert 24 <= result.iterations <= 27
    assert result.bias <= 1e-8
    assert result.bound <= accuracy
    check(problem, result)


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("domain_name", DOMAINS)
def test_every_domain(domain_name: str, local: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And other losses.  The solver takes most of the time: here the closed form is asked first."""
    monkeypatch.setattr(fixed_step, "_conic", fixed_step._closed_form)
    rng = np.random.default_rng([DOMAINS.index(domain_name), local])
    problem = make_problem(str(rng.choice(LOSSES[:7])), domain_name, n=2, local=local, rng=rng)
    accuracy = accuracy_for(problem, 20)
    result = minimise(problem, accuracy)
    assert result.bound <= accuracy
    check(problem, result)


def test_a_small_part_of_the_start_s_excess(monkeypatch: pytest.MonkeyPatch) -> None:
    """f = |5w − 5| on [−1, 1] from −1, C = 1: f_C is 1 − w, the minimum is at 1."""
    monkeypatch.setattr(fixed_step, "_conic", fixed_step._closed_form)
    interval = unit_ball(1)
    problem = Problem(JointObjective(Absolute(), np.array([[5.0, 5.0]]), 1.0, 0.1, np.array([-1.0])), interval, interval)
    result = minimise(problem, 0.15)
    start = risk_upper(problem, np.array([-1.0])) - bracket(problem)[0]
    assert start == pytest.approx(1.8, abs=1e-9)  # 2 − 0.1·2²/2
    assert result.bound <= 0.15
    assert check(problem, result) > 0.1  # far from vacuous
    assert result.point[0] > 0.9


def test_the_pull_goes_towards_the_anchor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of zeros leave (λ/2)‖w‖², least at (0.3, 0), the point of the small set nearest to the anchor."""
    monkeypatch.setattr(fixed_step, "_conic", fixed_step._closed_form)
    small = Ball(np.array([0.6, 0.0]), 0.3)
    given: dict[str, Any] = {"domain": unit_ball(2), "lipschitz": 0.1, "weight": 4.0, "anchor": np.zeros(2), "within": small}
    result = fixed_step_minimiser(loss=Hinge(), data=np.array([[0.0, 0.0, 1.0]]), **given, accuracy=0.5)
    assert result.certified
    assert 2 * float(result.point @ result.point) - 2 * 0.3**2 <= result.bound
    assert result.point[0] <= 0.35


def test_the_infimum_of_the_extension_runs_over_the_whole_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Domain] = []

    def spied(reference: ReferenceExtension, *given: Any, **named: Any) -> BiasedSubgradient:
        asked.append(reference.domain)
        return record_subgradient(reference, *given, **named)

    monkeypatch.setattr(fixed_step, "record_subgradient", spied)
    problem = make_problem("hinge", "box", n=1, local=True, rng=np.random.default_rng(1))
    minimise(problem, accuracy_for(problem, 4))
    assert asked
    assert all(domain is problem.domain for domain in asked)


@pytest.mark.parametrize("spoil", [0.1, 1.0])
def test_the_bound_holds_with_biased_subgradients(spoil: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Subgradients turned away from the true ones, each with the ν that the certificate proves for it."""
    rng = np.random.default_rng(7)
    problem = make_problem("absolute", "box", n=3, local=True, rng=rng)
    of, closed_form = problem.objective, fixed_step._closed_form

    def turned(reference: ReferenceExtension, record: FloatArray, w: FloatArray, clip: float) -> BiasedSubgradient:
        honest = closed_form(reference, record, w, clip)
        other = honest.vector + spoil * clip * rng.normal(size=2)
        found = certify(reference.loss, reference.domain, record, w, clip, minimiser=w, subgradient=other)
        return BiasedSubgradient(found.subgradient, found.gap)

    monkeypatch.setattr(fixed_step, "_conic", turned)
    result = minimise(problem, accuracy_for(problem, 30), bias=0.05 * accuracy_for(problem, 30))
    check(problem, result)
    monkeypatch.setattr(fixed_step, "_closed_form", turned)  # no better source left
    worse = minimise(problem, accuracy_for(problem, 30), bias=0.05 * accuracy_for(problem, 30))
    check(problem, worse)
    assert result.bias <= worse.bias <= of.lipschitz * result.plan.diameter * (1 + 1e-9)
    assert worse.bias > result.plan.bias


# ------------------------------------------------------------------------------------------------- plan and count


def test_the_plan_by_hand() -> None:
    """R = 2, M = 1 + 1·1, ν = 0.1: T = ⌈(4/(0.9·0.9))²⌉, step 2/(2√25), ζ = 0.1·0.9/(1.5·2·5)."""
    plan = fixed_step_plan(domain=unit_ball(2), lipschitz=1.0, weight=1.0, anchor=np.zeros(2), accuracy=1.0)
    assert (plan.iterations, plan.programs(4)) == (25, 100)
    assert (plan.bias, plan.diameter) == (0.1, 2.0)
    assert plan.norm_upper == pytest.approx(2.0, rel=1e-13)
    assert plan.steps.step == pytest.approx(0.2, rel=1e-13)
    assert plan.steps.projection_error == pytest.approx(0.006, rel=1e-12)
    ball = Ball(np.array([0.5, 0.0]), 0.25)
    small = fixed_step_plan(domain=unit_ball(2), lipschitz=1.0, weight=1.0, anchor=[-0.5, 0.0], accuracy=0.01, within=ball)
    # M is over the small set, from an anchor outside it: its farthest point is 1.25 away.
    assert small.diameter == 0.5
    assert small.norm_upper == pytest.approx(2.25, rel=1e-12)
    assert small.iterations == math.ceil((0.5 * 2.25 / (0.9 * 0.009)) ** 2)


def test_the_plan_meets_the_accuracy_whatever_the_parameters() -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        domain = make_domain(str(rng.choice(DOMAINS)), 2, rng)
        anchor = domain.project(rng.normal(size=2))
        accuracy = 10 ** rng.uniform(-6, 1)
        within = None if rng.random() < 0.5 else Ball(anchor, 10 ** rng.uniform(-2, 1))
        plan = fixed_step_plan(
            domain=domain,
            lipschitz=10 ** rng.uniform(-2, 2),
            weight=10 ** rng.uniform(-3, 2),
            anchor=anchor,
            accuracy=accuracy,
            within=within,
            bias=accuracy * rng.uniform(1e-6, 0.9),
        )
        bound = constant_step_bound(
            diameter=plan.diameter,
            norm_upper=plan.norm_upper,
            bias=plan.bias,
            step=plan.steps.step,
            iterations=plan.iterations,
            projection_error=plan.steps.projection_error,
        )
        assert 0.5 * accuracy <= bound <= accuracy or plan.iterations == 1


class Counter:
    """Counts the programs that are solved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        solve = ReferenceExtension.at

        def counted(reference: ReferenceExtension, *given: Any) -> Any:
            self.count += 1
            return solve(reference, *given)

        monkeypatch.setattr(ReferenceExtension, "at", counted)


@pytest.mark.parametrize(
    "data",
    [
        np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]),  # every subgradient is zero at the start
        HINGE_RECORDS[:2],
        np.array([[1e12, -3e12, 1.0], [1e300, 1e300, -1.0]]),
        np.array([[1e-300, 0.0, 1.0], [1e-300, 1e-310, -1.0]]),
    ],
    ids=["zero", "ordinary", "huge", "tiny"],
)
def test_the_count_does_not_depend_on_the_data(data: FloatArray, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter(monkeypatch)
    given: dict[str, Any] = {"domain": unit_ball(2), "lipschitz": 0.5, "weight": 0.25, "anchor": [0.0, 0.0], "accuracy": 0.4}
    plan = fixed_step_plan(**given)
    result = fixed_step_minimiser(loss=Hinge(), data=data, **given, most_steps=plan.iterations)
    assert result.iterations == plan.iterations == result.plan.iterations
    assert counter.count == plan.programs(2)
    assert result.bias <= 0.5 * 2.0 * (1 + 1e-9)
    assert np.isfinite(result.bound)


def test_the_same_data_give_the_same_point() -> None:
    given: dict[str, Any] = {"domain": unit_ball(2), "lipschitz": 0.5, "weight": 0.25, "anchor": [0.0, 0.0], "accuracy": 0.6}
    first, second = (fixed_step_minimiser(loss=Hinge(), data=HINGE_RECORDS, **given) for _ in range(2))
    assert first.point.tolist() == second.point.tolist()
    assert first.bound == second.bound


def test_a_plan_too_long_is_refused_before_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter(monkeypatch)
    with pytest.raises(StepLimitError, match=r"\d+ steps are planned, with \d+ conic programs; most_steps = 9"):
        fixed_step_minimiser(
            loss=Hinge(),
            data=HINGE_RECORDS,
            domain=unit_ball(2),
            lipschitz=1.0,
            weight=1.0,
            anchor=[0.0, 0.0],
            accuracy=1e-3,
            most_steps=9,
        )
    assert counter.count == 0


def test_projections_are_asked_for_the_planned_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed_step, "_conic", fixed_step._closed_form)
    asked: list[float] = []

    def watched(base: Domain, **given: Any) -> InexactProjection:
        asked.append(given["accuracy"])
        return inexact_projection(base, **given)

    monkeypatch.setattr(fixed_step, "inexact_projection", watched)
    problem = make_problem("hinge", "box", n=2, local=True, rng=np.random.default_rng(1))
    result = minimise(problem, accuracy_for(problem, 10))
    assert asked[1:] == [result.plan.steps.projection_error] * result.iterations


# ------------------------------------------------------------------------------------ where solver or floats fail


def no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise cvxpy.SolverError("no")

    monkeypatch.setattr(cvxpy.Problem, "solve", fail)


def test_without_the_solver_the_closed_form_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem("absolute", "ball", n=3, local=False, rng=np.random.default_rng(5))
    accuracy = accuracy_for(problem, 40)
    lower = bracket(problem)[0]
    no_solver(monkeypatch)
    result = minimise(problem, accuracy, bias=1e-9)
    assert result.bias <= 1e-9
    assert result.certified
    monkeypatch.undo()
    assert risk_upper(problem, result.point) - lower <= result.bound


def test_without_any_source_the_bound_is_still_true(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem("absolute", "ball", n=3, local=False, rng=np.random.default_rng(5))
    accuracy = accuracy_for(problem, 40)

    def nothing(*_: Any) -> BiasedSubgradient:
        raise OverflowError

    monkeypatch.setattr(fixed_step, "_conic", nothing)
    monkeypatch.setattr(fixed_step, "_closed_form", nothing)
    result = minimise(problem, accuracy)
    assert result.bias == pytest.approx(problem.objective.lipschitz * result.plan.diameter, rel=1e-9)
    assert not result.certified
    check(problem, result)


@pytest.mark.parametrize(
    "loss", [Affine(), Absolute(), Squared(), L4(), Quadratic(np.eye(2))], ids=lambda x: type(x).__name__
)
def test_one_hopeless_record_costs_at_most_its_share(loss: Any) -> None:
    data = np.ones((4, loss.columns(2)))
    data[0, :2] = [1e250, -3e250]
    given: dict[str, Any] = {"domain": unit_ball(2), "lipschitz": 0.5, "weight": 0.25, "anchor": [0.0, 0.0], "accuracy": 0.9}
    result = fixed_step_minimiser(loss=loss, data=data, **given)
    assert result.bias <= 0.5 * 2.0 / 4 * (1 + 1e-9) + 1e-8
    assert result.iterations == fixed_step_plan(**given).iterations


@pytest.mark.parametrize("domain_name", DOMAINS)
def test_a_record_s_subgradient_is_one_up_to_its_bias(domain_name: str) -> None:
    """f_C(u) ≥ f_C(w) + ⟨g, u − w⟩ − ν on the set, for each source; records of all sizes."""
    rng = np.random.default_rng(DOMAINS.index(domain_name))
    for loss in (Hinge(), ReLU(), Squared(), Quadratic(np.eye(2))):
        domain = make_domain(domain_name, 2, rng)
        reference = ReferenceExtension(loss, domain, 2)
        for size, bias in ((1.0, 1e-6), (1e3, 0.0), (1e5, 0.0)):
            record = make_data(loss, 1, 2, rng)[0]
            record[:2] *= size
            w, u = (domain.project(domain.interior_point() + rng.normal(size=2)) for _ in range(2))
            clip = rng.uniform(0.2, 2.0)
            found = record_subgradient(reference, record, w, clip, bias=bias, reach=domain.diameter_upper())
            assert math.hypot(*found.vector) <= clip
            assert found.bias <= clip * domain.diameter_upper() * (1 + 1e-12)
            here, there = reference.at(record, w, clip), reference.at(record, u, clip)
            rounding = 1e-14 * (1 + abs(there.value) + clip)
            assert there.value >= here.value - here.gap + found.vector @ (u - w) - found.bias - rounding


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lipschitz": 0.0}, "lipschitz"),
        ({"lipschitz": -1.0}, "lipschitz"),
        ({"lipschitz": np.nan}, "lipschitz"),
        ({"weight": 0.0}, "weight"),
        ({"weight": np.inf}, "weight"),
        ({"anchor": [1.0, 1.0]}, "anchor: must lie in the domain"),
        ({"anchor": [0.0]}, "anchor"),
        ({"anchor": [np.nan, 0.0]}, "anchor"),
        ({"accuracy": 0.0}, "accuracy"),
        ({"accuracy": np.nan}, "accuracy"),
        ({"bias": 0.0}, "bias"),
        ({"bias": 0.5}, "bias"),
        ({"bias": np.nan}, "bias"),
        ({"within": Ball(np.ones(2), 0.5)}, "within: its centre"),
        ({"within": Ball(np.zeros(1), 0.5)}, "within: its centre"),
        ({"within": Box(np.zeros(2), np.ones(2))}, "within"),
        ({"domain": "ball"}, "domain"),
        ({"loss": Ridge(Hinge(), 1.0)}, "loss"),
        ({"loss": Quadratic(np.eye(3))}, "loss"),
        ({"data": np.zeros((0, 3))}, "data"),
        ({"data": np.zeros((2, 2))}, "data"),
        ({"data": [[1.0, np.nan, 1.0]]}, "data"),
        ({"data": [[1.0, np.inf, 1.0]]}, "data"),
        ({"data": [[1.0, 2.0, 0.5]]}, "label"),
        ({"most_steps": 0}, "most_steps"),
        ({"most_steps": 1.5}, "most_steps"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"loss": Hinge(), "data": HINGE_RECORDS, "domain": unit_ball(2), "lipschitz": 1.0}
    good |= {"weight": 1.0, "anchor": [0.0, 0.0], "accuracy": 0.5, "most_steps": 1}
    with pytest.raises(StepLimitError):  # otherwise sound
        fixed_step_minimiser(**good)
    with pytest.raises(InputError, match=message):
        fixed_step_minimiser(**(good | changes))
    with pytest.raises(InputError, match="size"):
        fixed_step_plan(domain=unit_ball(2), lipschitz=1.0, weight=1.0, anchor=[0.0, 0.0], accuracy=1.0).programs(0)
