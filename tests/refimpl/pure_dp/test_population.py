"""Population localisation: every record is charged once, the plan is followed, and the risk is below its bound."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tailproof.refimpl.channel import Channel, Transcript, ledger, replay, run, spends_of
from tailproof.refimpl.claims import ZCDP, PureDP
from tailproof.refimpl.domains import Ball, Domain
from tailproof.refimpl.extension.certificate import Problem as RegularisedMinimisation
from tailproof.refimpl.extension.certified import minimise
from tailproof.refimpl.laws import same_law
from tailproof.refimpl.losses import Absolute
from tailproof.refimpl.problems import (
    GaussianFeatures,
    LinearLoss,
    LinearRegression,
    MedianEstimation,
    Pareto,
    Problem,
    StudentT,
)
from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.plan import Phase, Plan, expectation_bound, expectation_plan, high_probability_plan
from tailproof.refimpl.pure_dp.population import aggregate, assumption_for, plan_for, population_localization, privacy
from tailproof.refimpl.pure_dp.single import single_output_perturbation
from tailproof.refimpl.validation import FloatArray, InputError

Record = Callable[[str, object], None]
ALARM = 1e-6

BALL = Ball([0.0, 0.0], 1.0)
PLAN = Plan((Phase(6, 2.0, 1.0), Phase(4, 4.0, 1.5), Phase(3, 9.0, 0.7)), 1, PureDP(0.5), "single", 1.0)
REPEATED = Plan((Phase(2, 2.0, 1.0, 0.9), Phase(1, 4.0, 1.5, 0.4)), 5, PureDP(0.5), "double", 1.0, 0.1)


def heavy(n: int, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).standard_t(1.5, (n, 3))


def localised(data: FloatArray, plan: Plan, seed: int = 1, **parameters: object) -> tuple[FloatArray, Transcript]:
    return run(
        population_localization,
        data,
        np.random.default_rng(seed),
        **({"loss": Absolute(), "domain": BALL, "plan": plan, "epsilon": 0.5} | parameters),
    )


# ------------------------------------------------------------------------------------------------------------- privacy


def test_every_record_is_charged_once() -> None:
    point, transcript = localised(heavy(20), PLAN)
    assert BALL.contains(point)
    assert [release.name for release in transcript] == ["phase1/point", "phase2/point", "phase3/point"]
    assert [release.rows for release in transcript] == [range(6), range(6, 10), range(10, 13)]
    assert ledger(transcript, 20) == {("phase1/point",): 6, ("phase2/point",): 4, ("phase3/point",): 3, (): 7}
    for names in ledger(transcript, 20):
        assert spends_of(transcript, names) == [PureDP(0.5)] * len(names)
    assert privacy(epsilon=0.5) == PureDP(0.5)
    assert privacy(rho=0.5) == ZCDP(0.5)


@pytest.mark.parametrize("reading", ["A", "B"])
def test_every_record_is_charged_once_with_repetitions(reading: str) -> None:
    _, transcript = localised(heavy(15), REPEATED, reading=reading)
    names = [(f"phase{i}/{j}/localise/point", f"phase{i}/{j}/point") for i in (1, 2) for j in range(5)]
    assert ledger(transcript, 15) == {pair: 2 if pair[0].startswith("phase1") else 1 for pair in names}
    for pair in names:
        assert spends_of(transcript, pair) == [PureDP(0.25)] * 2


@pytest.mark.parametrize("plan", [PLAN, REPEATED], ids=["single", "double"])
def test_a_neighbour_changes_the_laws_of_its_own_batch_alone(plan: Plan) -> None:
    data = heavy(16)
    parameters = {"loss": Absolute(), "domain": BALL, "plan": plan, "epsilon": 0.5}
    point, recorded = localised(data, plan)
    for changed in (0, 9, 12, 15):
        neighbour = data.copy()
        neighbour[changed] = [1e12, -3.0, -1e9]
        again, there = replay(population_localization, neighbour, recorded, **parameters)
        assert np.array_equal(point, again)
        loss = 0.0
        for one, other in zip(recorded, there, strict=True):
            assert one.rows is not None
            if changed in one.rows:
                assert not same_law(one.law, other.law)
                loss += abs(one.law.logpdf(one.output) - other.law.logpdf(one.output))
            else:
                assert same_law(one.law, other.law)  # to the last bit
        assert loss <= 0.5


# ----------------------------------------------------------------------------------------------------------- the phases


def test_each_phase_is_centred_at_the_last_answer() -> None:
    data = heavy(13)
    start = np.array([0.2, -0.1])
    point, transcript = localised(data, PLAN, center=start)
    for phase, release in zip(PLAN.phases, transcript, strict=True):
        assert isinstance(release.rows, range)
        batch = data[release.rows.start : release.rows.stop]
        exact = minimise(RegularisedMinimisation(Absolute(), batch, BALL, phase.lipschitz, phase.weight, start), 1e-9)
        slack = phase.kappa * phase.lipschitz / (phase.weight * phase.size) + math.sqrt(2 * exact.gap_upper / phase.weight)
        assert np.linalg.norm(release.law.location - exact.point) <= slack  # type: ignore[attr-defined]
        reach = (2 + 2 * phase.kappa) * phase.lipschitz / (phase.weight * phase.size)
        assert release.sensitivity.value == pytest.approx(reach)  # type: ignore[union-attr]
        assert float(release.law.scale) == pytest.approx(reach / 0.5)  # type: ignore[attr-defined]
        start = BALL.project(release.output)
    assert np.array_equal(point, start)


def test_the_plan_is_made_from_the_assumption() -> None:
    data, seen = heavy(400), []
    assumption = assumption_for(BALL, np.array([0.0, 0.5]), moment_order=3.0, moment_bound=2.0)
    assert (assumption.reach, assumption.diameter, assumption.far) == pytest.approx((1.5, 2.0, 1.0))
    for spend in ({"epsilon": 3.0}, {"rho": 2.0}):
        plan = expectation_plan(assumption, size=400, **spend)
        assert plan.phases
        assert plan_for(assumption, size=400, **({"epsilon": None, "rho": None} | spend)) == plan
        made, transcript = run(
            population_localization,
            data,
            np.random.default_rng(0),
            loss="absolute",
            domain=BALL,
            moment_order=3.0,
            moment_bound=2.0,
            center=[0.0, 0.5],
            progress=seen.append,
            **spend,
        )
        given, same = run(
            population_localization,
            data,
            np.random.default_rng(0),
            loss=Absolute(),
            domain="ball:1",
            plan=plan,
            center=[0.0, 0.5],
            **spend,
        )
        assert np.array_equal(made, given)
        assert len(transcript) == len(same) == len(plan.phases)
    assert seen[0].startswith("phase 1 of ")


def test_an_empty_plan_touches_nothing() -> None:
    point, transcript = localised(heavy(3), Plan((), 1, PureDP(0.5), "single", 1.0), center=[0.3, 0.4])
    assert np.array_equal(point, [0.3, 0.4])
    assert len(transcript) == 0
    few, nothing = localised(heavy(3), None, moment_order=2.0, moment_bound=1.0)  # type: ignore[arg-type]
    assert np.array_equal(few, [0.0, 0.0])
    assert len(nothing) == 0


def test_plans_for_a_failure_probability() -> None:
    """The better one of repetitions and Markov's inequality; none is worse than staying, or than the diameter allows."""
    assumption = assumption_for(BALL, np.zeros(2), moment_order=4.0, moment_bound=1.0)
    for size, failure in ((10**4, 0.3), (10**7, 1e-3)):
        mean = expectation_plan(assumption, size=size, epsilon=1.0)
        repeated = high_probability_plan(assumption, size=size, failure=failure, epsilon=1.0)
        found = plan_for(assumption, size=size, epsilon=1.0, rho=None, failure=failure)
        assert found.failure == failure
        assert found.bound == pytest.approx(min(repeated.bound, mean.bound / failure))


@pytest.mark.parametrize("make", ["expectation", "single", "double"])
def test_no_phase_of_a_plan_is_refused(make: str) -> None:
    """Not even those of few records and a large weight, where floats limit the accuracy.  The solver is not what is tested."""
    assumption = assumption_for(BALL, np.zeros(2), moment_order=4.0, moment_bound=1.0)
    plan = (
        expectation_plan(assumption, size=10**7, epsilon=1.0)
        if make == "expectation"
        else high_probability_plan(assumption, size=10**7, failure=0.1, epsilon=1.0, solver=make)  # type: ignore[arg-type]
    )
    assert plan.phases
    for phase in plan.phases[-6:]:
        solve = double_output_perturbation if make == "double" else single_output_perturbation
        run(
            solve,
            heavy(phase.size),
            np.random.default_rng(phase.size),
            loss=Absolute(),
            domain=BALL,
            weight=phase.weight,
            lipschitz=phase.lipschitz,
            kappa=phase.kappa,
            epsilon=1.0,
            method=lambda problem, accuracy: problem.within.project(problem.anchor),  # noqa: ARG005
        )


# --------------------------------------------------------------------------------------------------------- aggregation


def test_the_aggregate_is_near_what_most_points_are_near(record_property: Record) -> None:
    """Points anywhere else, and the good ones spread as far as they may; the worst case comes near to R."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        count, d, radius = int(rng.integers(2, 60)), int(rng.integers(1, 4)), 10 ** rng.uniform(-3, 3)
        z, good = rng.normal(size=d), math.ceil(0.51 * count)
        directions = rng.normal(size=(count, d))
        directions /= np.linalg.norm(directions, axis=1)[:, np.newaxis]
        lengths = radius / 3 * np.where(rng.uniform(size=count) < 0.5, 1, rng.uniform(size=count)) * (1 - 1e-9)
        lengths[good:] = radius * rng.uniform(0.3, 1.5)  # bad ones, in one place
        directions[good:] = directions[0]
        points = rng.permutation(z + directions * lengths[:, np.newaxis])
        found = aggregate(points, radius)
        assert (found == points).all(axis=1).any()
        assert np.linalg.norm(found - z) <= radius
        record_property("distance of the aggregate / R", float(np.linalg.norm(found - z)) / radius)
    # Attained: one bad point at z + R sees ten of 51 good ones and 48 others, which the good ones do not see.
    line = np.concatenate([np.full(10, 1 / 3), np.full(41, -1 / 3), [1.0], np.full(48, 5 / 3)])[:, np.newaxis]
    assert aggregate(line, 1.0 + 1e-9) == pytest.approx(1.0)
    assert aggregate(line[:-10], 1.0 + 1e-9) == pytest.approx(1 / 3)
    assert np.array_equal(aggregate(np.array([[3.0, 4.0]]), 0.0), [3.0, 4.0])


def test_repetitions_are_aggregated() -> None:
    data = heavy(15)
    point, transcript = localised(data, REPEATED)
    second = [release for release in transcript if release.name.startswith("phase2") and "localise" not in release.name]
    assert len(second) == 5
    assert min(np.linalg.norm(point - BALL.project(release.output)) for release in second) < 1.0
    assert BALL.contains(point)


def test_a_crowd_just_beyond_does_not_win() -> None:
    """51 of 100 points are at z + R/3, the others, which come first, at z + 1.3·R: if neighbours were counted within R, these
    would have as many as the good ones."""
    points = np.array([[1.3]] * 49 + [[1 / 3]] * 51)
    assert aggregate(points, 1.0)[0] == 1 / 3


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"moment_order": 1.5}, "moment_order = 1.5"),
        ({"moment_order": None}, "moment_order"),
        ({"moment_bound": None}, "moment_bound"),
        ({"moment_bound": 0.0}, "moment_bound = 0"),
        ({"moment_bound": -2.0}, "moment_bound = -2"),
        ({"epsilon": 0.0}, "epsilon = 0"),
        ({"epsilon": -1.0}, "epsilon = -1"),
        ({"epsilon": None}, "epsilon = None"),
        ({"rho": 1.0}, "exactly one"),
        ({"failure": 1.0}, "failure = 1"),
        ({"center": [1.0, 1.0]}, "center: must lie in the domain"),
        ({"center": [0.0]}, "center: has 1 entries"),
        ({"plan": PLAN, "epsilon": 0.5, "data": heavy(12)}, "data: has 12 records; the plan needs 13"),
        ({"plan": PLAN, "epsilon": 1.0}, "plan: spends"),
        ({"plan": PLAN, "epsilon": None, "rho": 0.5}, "plan: spends"),
        ({"data": [[1.0, 2.0, math.nan]] * 20, "strict": True}, "data: record 0 has the entries"),
        ({"data": np.ones((20, 4))}, "data: has 4 columns; must have 3"),
        ({"data": np.ones((20, 3)) * 0.5, "loss": "hinge", "strict": True}, "data: record 0 has the label"),
        ({"loss": "median"}, "loss = 'median'"),
        ({"domain": "ball"}, "domain = 'ball'"),
        ({"reading": "C", "plan": REPEATED, "epsilon": 0.5}, "reading = 'C'"),
    ],
)
def test_bad_input(change: dict[str, object], match: str) -> None:
    good = {"data": heavy(20), "loss": "absolute", "domain": BALL, "moment_order": 2.0, "moment_bound": 1.0, "epsilon": 1.0}
    parameters = good | change
    data = parameters.pop("data")
    with pytest.raises(InputError, match=match):
        run(population_localization, data, np.random.default_rng(0), **parameters)


def test_an_accuracy_beyond_floats_is_refused_before_anything_is_released() -> None:
    """Also if only a later phase asks for it."""
    fine, coarse = Phase(4, 1.0, 1.0), Phase(4, 1.0, 1.0, kappa=1e-12)
    plan = Plan((fine, coarse), 1, PureDP(1.0), "single", bound=1.0)
    channel = Channel.sampling(np.random.default_rng(0))
    with pytest.raises(InputError, match="kappa = 1e-12"):
        population_localization(heavy(8), channel, loss="absolute", domain=BALL, plan=plan, epsilon=1.0)
    assert len(channel.transcript()) == 0


@pytest.mark.parametrize("bad", [[1e61, 1.0, 1.0], [1.0, 1.0, math.inf]])
def test_strict_refuses_bad_records_before_anything_is_released(bad: list[float]) -> None:
    """Wherever they are, even in the last batch."""
    data, seen = heavy(13), []
    data[-1] = bad
    with pytest.raises(InputError, match="data"):
        localised(data, PLAN, progress=seen.append, strict=True)
    assert seen == []


# ------------------------------------------------------------------------------------------------------------ the risk

PROBLEMS: list[tuple[Problem, Domain, float, float, int, float, int]] = [
    (MedianEstimation(StudentT(1.5, 0.3)), Ball([0.0], 1.0), 8.0, 1.0, 600, 2.0, 60),  # L = 1
    (
        LinearRegression(
            features=GaussianFeatures.isotropic(2), weights=np.array([0.5, -0.3]), noise=StudentT(1.5), loss_name="absolute"
        ),
        BALL,
        4.0,
        8**0.25,  # L = ‖x‖, E‖x‖⁴ = d(d + 2)
        2000,
        1.0,
        40,
    ),
    (LinearLoss(law=Pareto(2.5), direction=np.array([0.6, 0.8]), diameter=2.0), BALL, 2.0, math.sqrt(5), 2000, 1.0, 40),
]


@pytest.mark.parametrize(
    ("problem", "domain", "k", "G", "n", "epsilon", "runs"), PROBLEMS, ids=["median", "regression", "linear"]
)
def test_the_mean_risk_is_below_the_bound(
    problem: Problem, domain: Domain, k: float, G: float, n: int, epsilon: float, runs: int, record_property: Record
) -> None:
    """The risk of a run is in [0, worst], worst the greatest on the boundary of W, where a convex function has it.  If its mean is
    at most `bound` its variance is at most worst·bound, and by Bernstein's inequality the mean of the runs exceeds the bound by
    more than t with probability ≤ ALARM."""
    rng = np.random.default_rng()
    assumption = assumption_for(domain, domain.interior_point(), moment_order=k, moment_bound=G)
    plan = plan_for(assumption, size=n, epsilon=epsilon, rho=None)
    assert len(plan.phases) >= 2
    assert plan.bound == expectation_bound(plan.phases, assumption, spend=PureDP(epsilon))
    risks = []
    for _ in range(runs):
        point, _ = run(
            population_localization,
            problem.sample(rng, n),
            rng,
            loss=problem.loss_name,
            domain=domain,
            plan=plan,
            epsilon=epsilon,
        )
        risks.append(problem.excess_risk(point))
    angles = np.linspace(0, 2 * math.pi, 73)
    edge = np.column_stack([np.cos(angles), np.sin(angles)])[:, : domain.dimension]
    worst = 1.01 * max(problem.excess_risk(w) for w in domain.project(edge))
    log = math.log(1 / ALARM)
    t = worst * log / (3 * runs) + math.sqrt((worst * log / (3 * runs)) ** 2 + 2 * worst * plan.bound * log / runs)
    assert np.mean(risks) <= plan.bound + t
    assert plan.bound + t < worst  # the test can fail
    record_property("mean risk / bound", float(np.mean(risks)) / plan.bound)
    record_property("what the test allows / bound", 1 + t / plan.bound)
