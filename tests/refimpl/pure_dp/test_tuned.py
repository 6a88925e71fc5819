"""The tuned plans: the model's prediction against a simulation of the model, and what every plan must keep."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.laws import L2Laplace
from tailproof.refimpl.pure_dp.plan import Assumption, expectation_bound
from tailproof.refimpl.pure_dp.tuned import CLIP, WEIGHTS, predicted_risks, tuned_plan
from tailproof.refimpl.validation import InputError

A = Assumption(moment_order=2.0, moment_bound=3.0, dimension=4, reach=2.0, diameter=4.0, far=2.0)


def test_the_prediction_is_that_of_the_model() -> None:
    """A quadratic with Hessian h, its sample's minimiser moved by Gaussian noise of that variance: the mean square of the
    distance after three phases, in units where C = R₀ = 1.  10 000 runs: off by 6 standard errors with probability < 1e-8."""
    rng, h, d, epsilon, runs = np.random.default_rng(), 0.3, 4, 5.0, 10_000
    sizes, at = np.array([40.0, 60.0, 90.0]), int(np.argmin(abs(WEIGHTS - 0.2)))
    w = float(WEIGHTS[at])
    squares = []
    for _ in range(runs):
        distance = np.eye(d)[0] / 2
        for m in sizes:
            sampling = rng.normal(scale=1 / math.sqrt(d * m) / (w + h), size=d)
            noise = L2Laplace(np.zeros(d), 2.1 / (w * m) / epsilon).sample(rng)
            distance = w / (w + h) * distance + sampling + noise
        squares.append(distance @ distance)
    unit_noise = d * (d + 1) * (2.1 / epsilon) ** 2
    predicted = predicted_risks(sizes, unit_noise, np.array([h]))[at]
    assert abs(h * np.mean(squares) - predicted) <= 6 * h * np.std(squares) / math.sqrt(runs)


@pytest.mark.parametrize("n", [1, 7, 500, 10**5, 10**8])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 50.0])
def test_plans_use_no_more_than_there_is_and_say_what_is_true(n: int, epsilon: float) -> None:
    plan = tuned_plan(A, size=n, epsilon=epsilon)
    assert plan.bound == expectation_bound(plan.phases, A, spend=PureDP(epsilon))
    assert len({phase.weight for phase in plan.phases}) <= 1
    assert all(phase.lipschitz == pytest.approx(CLIP * 3.0) for phase in plan.phases)
    assert plan.records in (0, n)
    assert plan.phases or n * epsilon < 100 * A.dimension


def test_better_data_and_more_budget_are_predicted_to_help() -> None:
    """Where the prediction is below that of the start there are phases; the weights fall as n·ε grows."""
    weights = [tuned_plan(A, size=n, epsilon=1.0).phases[0].weight for n in (10**4, 10**6, 10**8)]
    assert weights == sorted(weights, reverse=True)
    assert tuned_plan(A, size=10**4, epsilon=1e-5).phases == ()
    assert tuned_plan(A, size=10**6, rho=0.5).phases


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"size": 0}, "size = 0"),
        ({"epsilon": -1.0}, "epsilon = -1"),
        ({"rho": 1.0}, "exactly one"),
        ({"clip": 0.0}, "clip = 0"),
        ({"curvatures": (0.1, -1.0)}, "curvatures = -1"),
        ({"kappa": 0.0}, "kappa = 0"),
        ({"most_phases": -1}, "most_phases = -1"),
    ],
)
def test_bad_input(change: dict[str, object], match: str) -> None:
    with pytest.raises(InputError, match=match):
        tuned_plan(A, **({"size": 100, "epsilon": 1.0} | change))  # type: ignore[arg-type]
