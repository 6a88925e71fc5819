"""The potential of the localised exponential mechanism: its value, its sensitivity whatever is computed, and its anchor."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.domains import Ball, Box, Domain, L1Ball, Localised
from tailproof.refimpl.extension.socp import extend
from tailproof.refimpl.extension.values import Evaluator, Values
from tailproof.refimpl.losses import Absolute, GlmLoss, Hinge, Logistic, Quadratic, Squared
from tailproof.refimpl.pure_dp.centred_risk import CentredRisk
from tailproof.refimpl.validation import FloatArray, InputError

SETS: list[Domain] = [Ball(np.zeros(2), 1.0), Box(-np.ones(2), np.ones(2)), L1Ball(np.zeros(2), 1.0)]
LOSSES = [Absolute(), Hinge(), Logistic(), Squared(), Quadratic(np.diag([1.0, 3.0]))]


def records(loss: object, rng: np.random.Generator, n: int, size: float = 1.0) -> FloatArray:
    x = size * rng.standard_t(2.5, size=(n, 2))
    if isinstance(loss, Quadratic):
        return x
    labels = isinstance(loss, GlmLoss) and loss.target == "label"
    return np.column_stack([x, np.sign(rng.standard_normal(n)) if labels else rng.standard_normal(n)])


def risk_of(loss: object, data: FloatArray, domain: Domain, seed: int = 0) -> CentredRisk:
    near = domain.project(np.random.default_rng(seed).standard_normal(2))
    return CentredRisk(loss, data, Localised(domain, near, 0.3), 1.5, 0.4, domain.interior_point())  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("domain", SETS, ids=lambda domain: type(domain).__name__)
def test_values_are_those_of_a_second_order_cone_program(loss: object, domain: Domain) -> None:
    rng = np.random.default_rng(2)
    risk = risk_of(loss, records(loss, rng, 4), domain)
    point = risk.local.project(risk.local.center + 0.3 * rng.standard_normal(2))

    def direct(w: FloatArray) -> float:
        values = [extend(loss, domain, row, w, 1.5).value for row in risk.data]  # type: ignore[arg-type]
        return float(np.mean(values) + 0.2 * np.sum((w - risk.center) ** 2))

    assert risk.at(point) == pytest.approx(direct(point) - direct(risk.anchor), abs=1e-6)
    np.testing.assert_allclose(risk.scores(np.array([point, risk.anchor])), [-risk.at(point), 0.0], atol=1e-15)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), which=st.integers(0, len(LOSSES) - 1), power=st.integers(-3, 15))
def test_a_record_moves_it_by_no_more_than_its_sensitivity(seed: int, which: int, power: int) -> None:
    rng, loss = np.random.default_rng(seed), LOSSES[which]
    data = records(loss, rng, 3)
    neighbour = data.copy()
    neighbour[1] = records(loss, rng, 1, 10.0**power)[0]
    first, second = (risk_of(loss, rows, SETS[seed % 3], seed) for rows in (data, neighbour))
    points = first.net()
    moves = np.abs(first.scores(points) - second.scores(points))
    assert moves.max() <= first.sensitivity * (1 + 1e-9)
    assert np.array_equal(first.anchor, second.anchor)
    assert first.sensitivity == pytest.approx(2 * 1.5 * (1 / 3 + 1e-6) * first.reach)


def test_even_a_wrong_evaluation_keeps_the_sensitivity() -> None:
    """Values that are noise, made from the record and the point alone."""

    def noise(self: Evaluator, point: FloatArray) -> Values:
        drawn = [np.random.default_rng(abs(hash((row.tobytes(), point.tobytes())))).normal() for row in self.problem.data]
        return Values(1e3 * np.array(drawn), np.zeros(len(drawn)), np.zeros(2))

    rng = np.random.default_rng(5)
    data = records(Absolute(), rng, 3)
    neighbour = data.copy()
    neighbour[0] = 1e6
    with patch.object(Evaluator, "at", noise):
        first, second = (risk_of(Absolute(), rows, SETS[0]) for rows in (data, neighbour))
        points = first.net()
        moves = np.abs(first.scores(points) - second.scores(points))
    assert 0 < moves.max() <= first.sensitivity * (1 + 1e-9)


def test_the_sensitivity_is_attained() -> None:
    data = np.zeros((4, 2))
    data[0] = [50.0, 0.0]
    center, found = np.zeros(2), []
    for rows in (data, -data):
        local = Localised(Ball(np.zeros(2), 2.0), np.zeros(2), 0.5)
        risk = CentredRisk(Quadratic(np.eye(2)), rows, local, 1.0, 0.3, center)
        found.append(risk.scores(risk.net()))
    assert np.abs(found[0] - found[1]).max() >= 0.999 * risk.sensitivity


def test_the_anchor_is_a_middle() -> None:
    """Near the middle of the ball W where W_loc is nearly all of it, else the centre of the localised ball."""
    data = np.ones((1, 2))
    large = CentredRisk(Quadratic(np.eye(2)), data, Localised(SETS[0], np.array([0.9, 0.0]), 1.8), 1.0, 1.0, np.zeros(2))
    assert large.reach == pytest.approx(1.0, rel=1e-6)
    small = CentredRisk(Quadratic(np.eye(2)), data, Localised(SETS[0], np.array([0.2, 0.0]), 0.1), 1.0, 1.0, np.zeros(2))
    assert small.reach == pytest.approx(0.1, rel=1e-9)
    assert np.array_equal(small.anchor, small.local.center)


def test_points_all_over_are_for_one_and_two_dimensions() -> None:
    ball = Ball(np.zeros(3), 1.0)
    risk = CentredRisk(Quadratic(np.eye(3)), np.ones((1, 3)), Localised(ball, np.zeros(3), 0.5), 1.0, 1.0, np.zeros(3))
    with pytest.raises(InputError, match="one and two dimensions only, not in 3"):
        risk.net()
