"""Double output perturbation by a fixed number of steps: the same laws, up to what both solvers may be off."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tailproof.refimpl.channel import replay, run
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import Ball, Localised
from tailproof.refimpl.extension.batched import batch
from tailproof.refimpl.extension.certificate import Problem
from tailproof.refimpl.extension.certified import accuracy_for, minimise
from tailproof.refimpl.extension.fixed_step import fixed_step_plan
from tailproof.refimpl.extension.joint import StepLimitError
from tailproof.refimpl.losses import Absolute, Hinge, Loss, Ridge, Squared
from tailproof.refimpl.pure_dp import structured
from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.perturbation import noise_radius_upper
from tailproof.refimpl.pure_dp.structured import privacy, sensitivity, structured_output_perturbation, worst_neighbours
from tailproof.refimpl.validation import FloatArray, InputError

Record = Callable[[str, object], None]

# The centre has twice the gap that is allowed; about 70 steps in each stage.
DOMAIN = Ball([0.0, 0.0], 0.3)
SETTING = {"domain": DOMAIN, "weight": 1.0, "lipschitz": 1.0, "kappa": 1.0, "epsilon": 400.0, "failure": 0.2}
DATA = {
    "hinge": np.array([[3.0, 0.0, 1.0], [-3.0, 0.5, -1.0]]),
    "absolute": np.array([[3.0, 1.0, 2.0], [-3.0, -0.5, -9.0]]),
}
LOSSES: dict[str, Loss] = {"hinge": Hinge(), "absolute": Absolute()}


def objective(problem: Problem, point: FloatArray) -> float:
    """F̂_{λ,C}."""
    of = batch(loss=problem.loss, data=problem.data, domain=problem.domain, lipschitz=problem.lipschitz)
    return float(of.at(point).mean_value()) + problem.weight / 2 * float(point @ point)


@pytest.mark.parametrize("name", DATA)
def test_the_laws_are_those_of_double_within_the_slack(name: str, record_property: Record) -> None:
    data, slack, reach, accuracy = DATA[name], 0.5, 2.0, 0.125
    output, recorded = run(structured_output_perturbation, data, np.random.default_rng(1), loss=name, **SETTING)
    other, there = replay(double_output_perturbation, data, recorded, loss=name, **SETTING)
    np.testing.assert_array_equal(output, other)
    first = DOMAIN.project(recorded.releases[0].output)
    radius = noise_radius_upper(dimension=2, sensitivity=reach, spend=PureDP(200.0), failure=0.2) + slack
    local = Localised(DOMAIN, first, radius * (1 + 1e-12))
    for release, double, within in zip(recorded, there, (DOMAIN, local), strict=True):
        assert release.spend == double.spend == PureDP(200.0)
        assert release.sensitivity == double.sensitivity
        assert release.sensitivity.value == pytest.approx(reach)  # type: ignore[union-attr]
        assert np.array_equal(release.law.scale, double.law.scale)  # type: ignore[attr-defined]
        problem = Problem(LOSSES[name], data, DOMAIN, 1.0, 1.0, np.zeros(2), within)
        exact = minimise(problem, 1e-9)
        least = objective(problem, exact.point)
        assert objective(problem, np.zeros(2)) > least + 1.5 * accuracy
        for law, method in ((release.law, "fixed steps"), (double.law, "certified")):
            assert np.linalg.norm(law.location - exact.point) <= slack + math.sqrt(2 * exact.gap_upper)  # type: ignore[attr-defined]
            gap = objective(problem, law.location) - least  # type: ignore[attr-defined]
            assert gap <= accuracy
            record_property(f"gap / accuracy, {method}", gap / accuracy)


def test_where_the_steps_prove_nothing_the_certified_minimiser_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan does not depend on the data; a result whose bound is too large is replaced."""
    seen: list[bool] = []
    fixed = structured.fixed_step_minimiser

    def unproved(**parameters: object) -> object:
        found = fixed(**(parameters | {"accuracy": 10.0}))  # type: ignore[arg-type]
        object.__setattr__(found, "bound", math.inf)
        seen.append(found.certified)
        return found

    monkeypatch.setattr(structured, "fixed_step_minimiser", unproved)
    setting = SETTING | {"kappa": 0.05}
    _, recorded = run(structured_output_perturbation, DATA["hinge"], np.random.default_rng(1), loss="hinge", **setting)
    _, there = replay(double_output_perturbation, DATA["hinge"], recorded, loss="hinge", **setting)
    assert seen == [False, False]
    for release, double in zip(recorded, there, strict=True):
        assert np.array_equal(release.law.location, double.law.location)  # type: ignore[attr-defined]


def test_sensitivity_of_huge_records() -> None:
    """κ so large that few steps do: the location moves by less than claimed, and the loss of privacy is bounded."""
    setting = {**SETTING, "kappa": 1.9, "epsilon": 2.0}
    for data, neighbour in worst_neighbours(2, 2, lipschitz=1.0):
        _, recorded = run(structured_output_perturbation, data, np.random.default_rng(1), loss="affine", **setting)
        _, there = replay(structured_output_perturbation, neighbour, recorded, loss="affine", **setting)
        for one, other in zip(recorded, there, strict=True):
            moved = float(np.linalg.norm(one.law.location - other.law.location))  # type: ignore[attr-defined]
            assert 0 < moved <= sensitivity(2, weight=1.0, lipschitz=1.0, kappa=1.9).value
            assert abs(one.law.logpdf(one.output) - other.law.logpdf(one.output)) <= 1.0
    assert privacy(epsilon=2.0) == PureDP(2.0)


def planned_steps(domain: Ball, within: Ball | None) -> int:
    accuracy = 0.9 * accuracy_for(lipschitz=1.0, weight=1.0, size=2, kappa=1.0)
    return fixed_step_plan(
        domain=domain, lipschitz=1.0, weight=1.0, anchor=np.zeros(2), accuracy=accuracy, within=within
    ).iterations


def test_too_many_steps_are_refused_beforehand() -> None:
    """By the first stage, which plans no fewer than the second, so that no refusal depends on a release."""
    steps = planned_steps(DOMAIN, None)
    rng = np.random.default_rng(0)
    for _ in range(50):
        center: FloatArray = DOMAIN.project(rng.normal(size=2))
        assert planned_steps(DOMAIN, Ball(center, 10 ** rng.uniform(-3, 1))) <= steps
    with pytest.raises(StepLimitError, match=f"{steps} steps are planned"):
        run(structured_output_perturbation, DATA["hinge"], rng, loss="hinge", most_steps=steps - 1, **SETTING)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"reading": "B"}, "reading = 'B'"),
        ({"loss": Ridge(Squared(), 1.0)}, "loss = Ridge"),
        ({"loss": "ridge:1:squared"}, "loss = 'ridge:1:squared'"),
        ({"loss": "median"}, "loss = 'median'"),
        ({"most_steps": 0}, "most_steps = 0"),
        ({"epsilon": -1.0}, "epsilon = -1"),
    ],
)
def test_bad_input(change: dict[str, object], match: str) -> None:
    with pytest.raises(InputError, match=match):
        run(
            structured_output_perturbation, DATA["hinge"], np.random.default_rng(0), **({"loss": "hinge"} | SETTING | change)
        )
