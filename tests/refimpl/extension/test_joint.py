"""The joint objective against finite differences and definitions; the methods against certified optima."""

from __future__ import annotations

import math
from collections.abc import Callable

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.domains import Ball, Box, Domain, Localised, unit_ball
from tailproof.refimpl.extension.joint import (
    JointObjective,
    ProjectionOracle,
    StepLimitError,
    StepPlan,
    adaptive_iterations_upper,
    adaptive_subgradient,
    constant_step_bound,
    constant_step_subgradient,
    iterations_for,
    joint_diameter_upper,
    joint_projection,
)
from tailproof.refimpl.losses import L4, Absolute, Affine, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import FloatArray, InputError

GLM = [Affine(), Hinge(), ReLU(), Absolute(), Logistic(), Squared()]
seeds = st.integers(0, 2**32 - 1)


def losses(d: int) -> list[Loss]:
    plane = np.array([[2.0, 0.5], [0.5, 1.0]])[:d, :d]
    return [*GLM, L4(), Quadratic(plane), Ridge(Absolute(), 0.3), Ridge(Quadratic(plane), 0.2)]


def random_data(loss: Loss, n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Records of size about 1, a few of them several times larger."""
    data = rng.standard_normal((n, loss.columns(d))) * rng.choice([0.5, 1.0, 2.0], size=(n, 1))
    base = loss.loss if isinstance(loss, Ridge) else loss
    if getattr(base, "target", "none") == "label":
        data[:, -1] = rng.choice([-1.0, 1.0], size=n)
    return data


def random_objective(loss: Loss, n: int, d: int, rng: np.random.Generator) -> JointObjective:
    data = random_data(loss, n, d, rng)
    return JointObjective(loss, data, rng.uniform(0.2, 1.0), rng.uniform(0.1, 1.0), rng.uniform(-0.5, 0.5, d))


def least(objective: JointObjective, first: Domain, rest: Domain) -> float:
    """min J by an interior-point solver."""
    d, n = objective.center.size, objective.size
    w, own = cvxpy.Variable(d), cvxpy.Variable((n, d))
    terms = [
        objective.loss.cvxpy_expression(own[i], objective.data[i]) + objective.lipschitz * cvxpy.norm(w - own[i])
        for i in range(n)
    ]
    cost = cvxpy.sum(cvxpy.hstack(terms)) / n + objective.strength / 2 * cvxpy.sum_squares(w - objective.center)
    limits = first.cvxpy_constraints(w) + [c for i in range(n) for c in rest.cvxpy_constraints(own[i])]
    return float(cvxpy.Problem(cvxpy.Minimize(cost), limits).solve(solver=cvxpy.CLARABEL))


# ------------------------------------------------------------------------------------------------------ the objective


@settings(deadline=None, max_examples=60)
@given(seed=seeds, kind=st.integers(0, 9), n=st.integers(1, 5), d=st.integers(1, 2))
def test_value_is_the_definition_and_the_subgradient_supports_it(seed: int, kind: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    objective = random_objective(losses(d)[kind], n, d, rng)
    z, u = rng.standard_normal((2, n + 1, d))
    z[1] = z[0]  # a kink of the norm
    own = [objective.loss.values(z[i + 1], objective.data[i : i + 1])[0] for i in range(n)]
    gaps = [math.dist(z[0], y) for y in z[1:]]
    by_hand = (
        np.mean(own) + objective.lipschitz * np.mean(gaps) + objective.strength / 2 * math.dist(z[0], objective.center) ** 2
    )
    assert objective.value(z) == pytest.approx(by_hand, rel=1e-12)
    slope = objective.subgradient(z)
    for scale in (1.0, 1e-3):
        v = z + scale * (u - z)
        support = objective.value(z) + float(np.vdot(slope, v - z))
        assert objective.value(v) >= support - 1e-12 * (1 + abs(support))


@settings(deadline=None, max_examples=40)
@given(seed=seeds, kind=st.sampled_from([0, 4, 5, 6, 7, 9]), n=st.integers(1, 4))
def test_subgradient_is_the_gradient_where_there_is_one(seed: int, kind: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    objective = random_objective(losses(2)[kind], n, 2, rng)
    z = rng.standard_normal((n + 1, 2))
    z[0] += 10.0  # away from the kinks of the norm
    direction = rng.standard_normal(z.shape)
    step = 1e-5
    central = (objective.value(z + step * direction) - objective.value(z - step * direction)) / (2 * step)
    scale = 1 + np.abs(objective.subgradient(z)).max()
    assert float(np.vdot(objective.subgradient(z), direction)) == pytest.approx(central, abs=1e-5 * scale)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, kind=st.integers(0, 9), n=st.integers(1, 5), d=st.integers(1, 2))
def test_norm_and_diameter_bounds_hold(seed: int, kind: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    objective = random_objective(losses(d)[kind], n, d, rng)
    rest = unit_ball(d)
    first = Localised(rest, np.full(d, 0.3), 0.4)
    project = joint_projection(first, rest)
    a, b = (project(3 * rng.standard_normal((n + 1, d)), 1e-9) for _ in range(2))
    assert np.linalg.norm(objective.subgradient(a)) <= objective.norm_upper(first, rest)
    assert np.linalg.norm(a - b) <= joint_diameter_upper(first, rest, n)
    assert first.contains(a[0])
    assert rest.contains(a[1:]).all()


def test_diameter_is_attained() -> None:
    first, rest = Box([0.0], [1.0]), Box([0.0], [3.0])
    assert joint_diameter_upper(first, rest, 4) == pytest.approx(math.sqrt(1 + 4 * 9), rel=1e-14)


@pytest.mark.parametrize("loss", [Hinge(), Absolute(), Squared(), L4()], ids=lambda loss: type(loss).__name__)
def test_least_value_is_that_of_the_extension(loss: Loss) -> None:
    """Lemma 2.7 on an interval: f_C and its regularised mean by brute force over a grid."""
    rng = np.random.default_rng(4)
    domain = Box([-1.0], [1.0])
    grid = np.linspace(-1, 1, 1001)
    h = grid[1] - grid[0]
    for _ in range(4):
        objective = random_objective(loss, 4, 1, rng)
        values = np.array([loss.values(np.array([y]), objective.data) for y in grid])
        distances = objective.lipschitz * np.abs(grid[:, np.newaxis] - grid)
        extension = np.array([(values[:, i] + distances).min(axis=1) for i in range(4)])
        risk = extension.mean(axis=0) + objective.strength / 2 * (grid - objective.center[0]) ** 2
        steepest = float(objective.loss.lipschitz_upper(objective.data, domain).mean())
        # Each coordinate is rounded to the grid, by at most h/2.
        error = h / 2 * (steepest + 2 * objective.lipschitz + 2 * objective.strength)
        assert least(objective, domain, domain) == pytest.approx(risk.min(), abs=error + 1e-7)
        # Any joint point is at least the extension at its w; equal at the best y_i.
        j = int(rng.integers(1001))
        best = [[grid[int((values[:, i] + distances[j]).argmin())]] for i in range(4)]
        assert objective.value(np.array([[grid[j]], *best])) == pytest.approx(risk[j], rel=1e-12)
        other = np.concatenate([[[grid[j]]], rng.uniform(-1, 1, (4, 1))])
        assert objective.value(other) >= risk[j] - h / 2 * (steepest + objective.lipschitz)


# ------------------------------------------------------------------------------------------------ the adaptive method


def spoiled(exact: Callable[[FloatArray], FloatArray], like: FloatArray, sign: float) -> ProjectionOracle:
    """Projections that err by all that is allowed and stay in the set: sign +1 goes on towards an anchor of the set;
    −1 goes away from it and is projected again, which moves by no more than was gone."""
    anchor = exact(np.full_like(like, 0.1))

    def project(point: FloatArray, accuracy: float) -> FloatArray:
        nearest = exact(point)
        away = sign * (anchor - nearest)
        length = float(np.linalg.norm(away))
        if length == 0:
            return nearest
        longest = min(accuracy, length) if sign > 0 else accuracy
        moved = nearest + (longest / length) * away
        return moved if sign > 0 else exact(moved)

    return project


def joint_exact(first: Domain, rest: Domain) -> Callable[[FloatArray], FloatArray]:
    return lambda joint: np.vstack([first.project(joint[:1]), rest.project(joint[1:])])


def sets(d: int, rng: np.random.Generator) -> tuple[Domain, Domain]:
    whole_set: Domain = Ball(np.full(d, 0.1), 1.0) if rng.random() < 0.5 else Box(np.full(d, -0.7), np.full(d, 0.7))
    if rng.random() < 0.3:
        return Localised(whole_set, rng.uniform(-0.4, 0.4, d), 0.5), whole_set
    return whole_set, whole_set


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("kind", range(9))
def test_stops_at_a_true_minimiser_within_the_count(kind: int, d: int) -> None:
    rng = np.random.default_rng(100 * d + kind)
    for trial in range(6):
        n = int(rng.integers(1, 6))
        objective = random_objective(losses(d)[[0, 1, 2, 3, 4, 5, 7, 8, 9][kind]], n, d, rng)
        first, rest = sets(d, rng)
        diameter = joint_diameter_upper(first, rest, n)
        norm_upper = objective.norm_upper(first, rest)
        start, lowest = objective.start(first.support_point(rng.standard_normal(d))), least(objective, first, rest)
        # Well below the excess of the start, as far as the number of steps allows it.
        accuracy = max(0.4 * (objective.value(start) - lowest), diameter * norm_upper / 12)
        exact = joint_exact(first, rest)
        project = [joint_projection(first, rest), spoiled(exact, start, 1.0), spoiled(exact, start, -1.0)][trial % 3]
        most = adaptive_iterations_upper(diameter=diameter, norm_upper=norm_upper, accuracy=accuracy)
        result = adaptive_subgradient(
            start,
            subgradient=objective.subgradient,
            project=project,
            diameter=diameter,
            accuracy=accuracy,
            most_steps=most,  # raises if the count is wrong
        )
        assert result.iterations <= most
        assert result.bound <= accuracy
        excess = objective.value(result.point) - lowest
        assert excess <= result.bound + 1e-6
        assert first.contains(result.point[0], 1e-12)
        assert rest.contains(result.point[1:], 1e-12).all()


@settings(deadline=None, max_examples=60)
@given(seed=seeds, d=st.integers(1, 3), sign=st.sampled_from([0.0, 1.0, -1.0]), ratio=st.floats(1.5, 12))
def test_the_bound_is_right_at_every_step(seed: int, d: int, sign: float, ratio: float) -> None:
    """max_j |z_j − c_j|·a_j over a ball holding c has the minimum 0, known exactly; every prefix is checked."""
    rng = np.random.default_rng(seed)
    ball = unit_ball(d)
    target, weights = 0.9 * ball.project(rng.standard_normal(d)), rng.uniform(0.1, 10, d)
    seen: list[FloatArray] = []

    def value(z: FloatArray) -> float:
        return float((np.abs(z - target) * weights).max())

    def subgradient(z: FloatArray) -> FloatArray:
        seen.append(z)
        j = int(np.argmax(np.abs(z - target) * weights))
        return np.where(np.arange(d) == j, np.sign(z - target) * weights, 0.0)

    accuracy = 2.5 * 2 * weights.max() / ratio
    result = adaptive_subgradient(
        rng.standard_normal(d),
        subgradient=subgradient,
        project=spoiled(ball.project, target, sign) if sign else lambda z, _: ball.project(z),
        diameter=2.0,
        accuracy=accuracy,
        most_steps=math.ceil(ratio**2) + 1,
    )
    assert len(seen) == result.iterations
    assert result.iterations <= adaptive_iterations_upper(diameter=2.0, norm_upper=weights.max(), accuracy=accuracy)
    total = 0.0
    for t, z in enumerate(list(seen), start=1):
        total += float(np.linalg.norm(subgradient(z)) ** 2)
        average = np.mean(seen[:t], axis=0)
        assert value(average) <= 2.5 * 2.0 * math.sqrt(total) / t + 1e-12
        # The rule fires at the first step that allows it, and no sooner.
        fires = total == 0 or 2.5 * 2.0 * math.sqrt(total) / t <= accuracy * (1 - 1e-12)
        if t < result.iterations:
            assert not fires
    if result.stopped_by == "bound":
        assert result.bound == pytest.approx(2.5 * 2.0 * math.sqrt(total) / result.iterations, rel=1e-12)
        np.testing.assert_allclose(result.point, np.mean(seen[: result.iterations], axis=0), atol=1e-14)
    assert result.stopped_by == ("zero subgradient" if value(seen[result.iterations - 1]) == 0 else "bound")


def test_steps_and_errors_are_those_of_the_method() -> None:
    """F = |z| on [−1, 1] from 1, by hand: η_1 = 2, ζ_1 = 2/3; η_2 = √2, ζ_2 = 1/3; ..."""
    asked: list[tuple[float, float]] = []

    def project(z: FloatArray, accuracy: float) -> FloatArray:
        asked.append((float(z[0]), accuracy))
        return np.clip(z, -1, 1)

    with pytest.raises(StepLimitError, match="no certificate after 3 steps"):
        adaptive_subgradient(np.array([1.0]), subgradient=np.sign, project=project, diameter=2.0, accuracy=0.1, most_steps=3)
    expected = [(1.0, 2.0), (-1.0, 2 / 3), (-1 + math.sqrt(2), 1 / 3), (math.sqrt(2) - 1 - 2 / math.sqrt(3), 2 / 9)]
    np.testing.assert_allclose(asked, expected, rtol=1e-12)


def test_a_zero_subgradient_is_a_minimiser() -> None:
    objective = JointObjective(Affine(), np.zeros((2, 1)), 1.0, 1.0, np.zeros(1))
    domain = Box([-1.0], [1.0])
    result = adaptive_subgradient(
        objective.start([0.0]),
        subgradient=objective.subgradient,
        project=joint_projection(domain, domain),
        diameter=joint_diameter_upper(domain, domain, 2),
        accuracy=1e-9,
    )
    assert (result.iterations, result.bound, result.stopped_by) == (1, 0.0, "zero subgradient")


@pytest.mark.parametrize("scale", [1e-200, 1e-320, 1e150])
def test_tiny_and_huge_subgradients(scale: float) -> None:
    result = adaptive_subgradient(
        np.array([1.0]),
        subgradient=lambda z: scale * np.sign(z),
        project=lambda z, _: np.clip(z, -1, 1),
        diameter=2.0,
        accuracy=max(scale, 1e-300),
    )
    assert scale * abs(result.point[0]) <= result.bound <= max(scale, 1e-300)


def test_projection_error_never_exceeds_a_third_of_the_diameter() -> None:
    errors: list[float] = []
    rng = np.random.default_rng(0)

    def project(z: FloatArray, accuracy: float) -> FloatArray:
        errors.append(accuracy)
        return np.clip(z, -1, 1)

    with pytest.raises(StepLimitError):
        adaptive_subgradient(
            np.zeros(1),
            subgradient=lambda _: np.array([10.0 ** rng.uniform(-3, 3)]),
            project=project,
            diameter=2.0,
            accuracy=1e-9,
            most_steps=300,
        )
    assert max(errors[1:]) <= 2.0 / 3 * (1 + 1e-12)
    assert errors[1] == pytest.approx(2.0 / 3)


# ------------------------------------------------------------------------------------------------- the constant step


@settings(deadline=None, max_examples=80)
@given(
    seed=seeds,
    d=st.integers(1, 3),
    bias=st.sampled_from([0.0, 0.05, 0.5]),
    sign=st.sampled_from([0.0, 1.0, -1.0]),
    iterations=st.integers(1, 60),
    step=st.floats(0.01, 3),
    error=st.sampled_from([0.0, 0.01, 0.3, 2.0]),
)
def test_lemma_d5(seed: int, d: int, bias: float, sign: float, iterations: int, step: float, error: float) -> None:
    """F = Σ|z_j − c_j| with adversarial ν-subgradients: wrong signs wherever ν allows them."""
    rng = np.random.default_rng(seed)
    ball = unit_ball(d)
    target = 0.9 * ball.project(rng.standard_normal(d))
    norm_upper = math.sqrt(d)
    seen: list[FloatArray] = []

    def value(z: FloatArray) -> float:
        return float(np.abs(z - target).sum())

    def subgradient(z: FloatArray) -> FloatArray:
        seen.append(z)
        # A wrong sign in coordinate j costs 2|z_j − c_j|: flip as many as the bias pays for.
        costs = 2 * np.abs(z - target)
        flip = np.cumsum(np.sort(costs))[np.argsort(np.argsort(costs))] <= bias
        signs = np.where(z >= target, 1.0, -1.0)
        return np.where(flip, -signs, signs)

    result = constant_step_subgradient(
        rng.standard_normal(d),
        subgradient=subgradient,
        project=spoiled(ball.project, target, sign) if sign else lambda z, _: ball.project(z),
        diameter=2.0,
        plan=StepPlan(iterations, step, error),
        bias=bias,
    )
    assert result.stopped_by == "count"
    np.testing.assert_allclose(result.point, np.mean(seen, axis=0), atol=1e-14)
    assert value(result.point) <= result.bound + 1e-12
    formula = 4 / (2 * step * iterations) + step * norm_upper**2 / 2 + bias + 3 * 2 * error / (2 * step)
    assert result.bound == pytest.approx(formula, rel=1e-12)
    named = constant_step_bound(
        diameter=2.0, norm_upper=norm_upper, bias=bias, step=step, iterations=iterations, projection_error=error
    )
    assert named == pytest.approx(formula, rel=1e-12)


@settings(deadline=None, max_examples=200)
@given(
    diameter=st.floats(1e-3, 1e3),
    norm_upper=st.floats(1e-3, 1e3),
    ratio=st.floats(1e-3, 10),
    bias_share=st.sampled_from([0.0, 0.3, 0.999]),
    share=st.floats(0.001, 0.5),
)
def test_the_plan_meets_the_accuracy(
    diameter: float, norm_upper: float, ratio: float, bias_share: float, share: float
) -> None:
    accuracy = ratio * diameter * norm_upper
    bias = bias_share * accuracy
    plan = iterations_for(diameter=diameter, norm_upper=norm_upper, accuracy=accuracy, bias=bias, projection_share=share)
    bound = constant_step_bound(
        diameter=diameter,
        norm_upper=norm_upper,
        bias=bias,
        step=plan.step,
        iterations=plan.iterations,
        projection_error=plan.projection_error,
    )
    assert bound <= accuracy
    assert plan.iterations <= (diameter * norm_upper / ((1 - share) * (accuracy - bias))) ** 2 * (1 + 1e-9) + 1
    assert plan.projection_error > 0


def test_the_plan_on_a_joint_problem() -> None:
    rng = np.random.default_rng(7)
    objective = random_objective(Absolute(), 3, 2, rng)
    domain, start = unit_ball(2), objective.start(np.zeros(2))
    diameter, norm_upper = joint_diameter_upper(domain, domain, 3), objective.norm_upper(domain, domain)
    accuracy = diameter * norm_upper / 10
    plan = iterations_for(diameter=diameter, norm_upper=norm_upper, accuracy=accuracy)
    result = constant_step_subgradient(
        start,
        subgradient=objective.subgradient,
        project=spoiled(joint_exact(domain, domain), start, 1.0),
        diameter=diameter,
        plan=plan,
    )
    assert result.bound <= accuracy
    assert objective.value(result.point) - least(objective, domain, domain) <= result.bound + 1e-6


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "hinge"}, "loss"),
        ({"data": np.zeros((3, 2))}, "columns"),
        ({"data": np.full((3, 3), np.nan)}, "finite"),
        ({"data": np.zeros((0, 3))}, "at least 1"),
        ({"lipschitz": 0.0}, "lipschitz"),
        ({"strength": -1.0}, "strength"),
        ({"center": np.array([np.inf, 0.0])}, "center"),
        ({"loss": Quadratic(np.eye(3)), "center": np.zeros(2), "data": np.zeros((3, 2))}, "columns"),
    ],
)
def test_bad_objectives(change: dict[str, object], message: str) -> None:
    good: dict[str, object] = {
        "loss": Absolute(),
        "data": np.ones((3, 3)),
        "lipschitz": 1.0,
        "strength": 1.0,
        "center": np.zeros(2),
    }
    with pytest.raises(InputError, match=message):
        JointObjective(**(good | change))  # type: ignore[arg-type]


def test_bad_points_and_parameters() -> None:
    objective = JointObjective(Absolute(), np.ones((3, 3)), 1.0, 1.0, np.zeros(2))
    for wrong in (np.zeros((3, 2)), np.zeros((4, 1)), np.zeros(8), np.full((4, 2), np.nan)):
        with pytest.raises(InputError, match="joint"):
            objective.value(wrong)
        with pytest.raises(InputError, match="joint"):
            objective.subgradient(wrong)
    with pytest.raises(InputError, match="size"):
        joint_diameter_upper(unit_ball(1), unit_ball(1), 0)

    def run(**change: object) -> None:
        good: dict[str, object] = {"diameter": 2.0, "accuracy": 0.5, "most_steps": 9}
        adaptive_subgradient(np.ones(1), subgradient=np.sign, project=lambda z, _: z, **(good | change))  # type: ignore[arg-type]

    for change in ({"diameter": 0.0}, {"accuracy": 0.0}, {"accuracy": math.nan}, {"most_steps": 0}):
        with pytest.raises(InputError, match=next(iter(change))):
            run(**change)
    with pytest.raises(OverflowError, match="not finite"):
        adaptive_subgradient(
            np.ones(1), subgradient=lambda _: np.array([np.inf]), project=lambda z, _: z, diameter=1.0, accuracy=0.5
        )
    with pytest.raises(InputError, match="accuracy"):
        adaptive_iterations_upper(diameter=1.0, norm_upper=1.0, accuracy=0.0)


def test_bad_plans() -> None:
    for numbers in ((0, 1.0, 0.0), (1, 0.0, 0.0), (1, 1.0, -1.0)):
        with pytest.raises(InputError):
            StepPlan(*numbers)
    with pytest.raises(InputError, match="bias"):
        iterations_for(diameter=1.0, norm_upper=1.0, accuracy=0.5, bias=0.5)
    with pytest.raises(InputError, match="too close"):
        iterations_for(diameter=1.0, norm_upper=1.0, accuracy=0.5, bias=0.5 * (1 - 1e-15))
    with pytest.raises(InputError, match="projection_share"):
        iterations_for(diameter=1.0, norm_upper=1.0, accuracy=0.5, projection_share=0.9)
    for plan, name in ((StepPlan(1, 1.0, 3.0), "plan.projection_error"), ("plan", "plan")):
        with pytest.raises(InputError, match=name):
            constant_step_subgradient(
                np.ones(1),
                subgradient=np.sign,
                project=lambda z, _: z,
                diameter=2.0,
                plan=plan,  # type: ignore[arg-type]
            )
    with pytest.raises(InputError, match="projection_error"):
        constant_step_bound(diameter=1.0, norm_upper=1.0, bias=0.0, step=1.0, iterations=1, projection_error=2.0)
