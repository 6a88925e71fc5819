"""Exact rejection: envelopes are below the potential, draws have the law of the density, on an interval and on a disc."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tailproof.refimpl.domains import Ball, Box, Domain, L1Ball, Localised
from tailproof.refimpl.losses import L4, Absolute, GlmLoss, Hinge, Logistic, Loss, Quadratic, Ridge, Squared
from tailproof.refimpl.pure_dp.centred_risk import CentredRisk, Tangent
from tailproof.refimpl.pure_dp.rejection import Envelope, draw_below, envelope, least_curvature, unclipped
from tailproof.refimpl.validation import FloatArray

FALSE_ALARM = 1e-6
LOSSES: list[Loss] = [
    Absolute(),
    Hinge(),
    Logistic(),
    Squared(),
    L4(),
    Quadratic(np.diag([1.0, 3.0])),
    Ridge(Logistic(), 0.3),
]
SETS: list[Domain] = [Ball(np.zeros(2), 1.0), Box(-np.ones(2), np.ones(2)), L1Ball(np.zeros(2), 1.0)]


def records(loss: Loss, rng: np.random.Generator, n: int, d: int) -> FloatArray:
    x = rng.standard_t(2.5, size=(n, d))
    base = loss.loss if isinstance(loss, Ridge) else loss
    if not isinstance(base, GlmLoss):
        return x
    noise = rng.standard_normal(n)
    return np.column_stack([x, np.sign(x[:, 0] + noise) if base.target == "label" else x[:, 0] / 2 + noise])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    which=st.integers(0, len(LOSSES) - 1),
    radius=st.sampled_from([1e-4, 0.05, 0.4, 3.0]),
    temperature=st.sampled_from([1e-4, 1e-2, 1.0]),
)
def test_an_envelope_is_below_the_potential(seed: int, which: int, radius: float, temperature: float) -> None:
    """On W_loc inside W, at its edge, or W itself; close to it at the minimiser."""
    rng, loss, domain = np.random.default_rng(seed), LOSSES[which], SETS[seed % 3]
    near = domain.project(rng.choice([0.3, 2.0]) * rng.standard_normal(2))
    risk = CentredRisk(loss, records(loss, rng, 12, 2), Localised(domain, near, radius), 2.0, 0.3, np.zeros(2))
    below = envelope(risk, temperature)
    moves = rng.choice([0.01, 0.3, 1.0], size=(12, 1)) * min(radius, 1.0) * rng.standard_normal((12, 2))
    for point in risk.local.project(below.point + moves):
        assert risk.at(point) >= float(below.lower(point))
        assert float(below.normal @ (point - below.point)) <= below.limit
    slack = risk.at(below.point) - float(below.lower(below.point))
    assert slack <= 0.01 * temperature + 1e-5 * 2.0 * risk.reach
    assert np.linalg.eigvalsh(below.curvature).min() >= 0.3 * (1 - 1e-6)


@pytest.mark.parametrize("loss", [Logistic(), Squared(), L4()], ids=lambda loss: type(loss).__name__)
def test_the_least_curvature_is_a_minimum(loss: GlmLoss) -> None:
    rng = np.random.default_rng(0)
    low = rng.normal(size=50)
    high, targets = low + rng.exponential(size=50), rng.normal(size=50)
    grid = low + (high - low) * np.linspace(0, 1, 2001)[:, np.newaxis]
    bends = loss.d2phi(grid, targets[np.newaxis])
    assert bends is not None
    found = least_curvature(loss, low, high, targets)
    assert (found <= bends.min(axis=0) * (1 + 1e-12)).all()
    np.testing.assert_allclose(found, bends.min(axis=0), rtol=2e-2, atol=2e-5)


def test_which_records_are_not_clipped() -> None:
    data = np.array([[0.5, 0.0, 1.0], [3.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    local = Localised(Ball(np.zeros(2), 1.0), np.zeros(2), 0.2)
    risk = CentredRisk(Logistic(), data, local, 1.0, 1.0, np.zeros(2))
    assert unclipped(risk.problem).tolist() == [True, False, True]
    kinks = CentredRisk(Hinge(), data, local, 1.0, 1.0, np.zeros(2))
    assert not unclipped(kinks.problem).any()


# ------------------------------------------------------------------------------------------------------------------------ laws


def assert_frequencies(cells: FloatArray, probabilities: FloatArray) -> None:
    """Every cell's count lies between exact binomial quantiles; all together alarm falsely with probability 1e-6 at most."""
    runs, share = len(cells), FALSE_ALARM / (2 * len(probabilities))
    counts = np.bincount(cells.astype(int), minlength=len(probabilities))
    assert probabilities.sum() == pytest.approx(1, abs=1e-9)
    assert (counts >= binom.ppf(share, runs, probabilities)).all()
    assert (counts <= binom.isf(share, runs, probabilities)).all()


@pytest.mark.parametrize(
    ("loss", "middle", "radius", "temperature"),
    [
        (Absolute(), 0.1, 0.5, 0.02),
        (Squared(), 0.8, 0.5, 0.02),  # cut off by the edge of W, where the density does not vanish
        (Hinge(), -0.9, 0.3, 0.003),  # the minimiser is at the edge of W_loc
        (Logistic(), 0.0, 3.0, 0.05),
    ],
    ids=["absolute", "edge of W", "edge of W_loc", "all of W"],
)
def test_draws_on_an_interval(loss: Loss, middle: float, radius: float, temperature: float) -> None:
    """Against the density on a grid of 400 cells, gathered to 20 of them."""
    rng = np.random.default_rng(7)
    local = Localised(Ball(np.zeros(1), 1.0), np.array([middle]), radius)
    risk = CentredRisk(loss, records(loss, rng, 30, 1), local, 1.0, 0.2, np.zeros(1))
    low, high = max(middle - radius, -1.0), min(middle + radius, 1.0)
    points = low + (high - low) * (np.arange(400) + 0.5) / 400
    weights = np.exp((risk.scores(points[:, np.newaxis])) / temperature).reshape(20, 20).sum(axis=1)
    below = envelope(risk, temperature)
    found = np.array([draw_below(below, risk, rng).point[0] for _ in range(1500)])
    assert ((found >= low - 1e-12) & (found <= high + 1e-12)).all()
    assert_frequencies(np.minimum((found - low) / (high - low) * 20, 19), weights / weights.sum())


def test_draws_from_below_a_loose_envelope() -> None:
    """|w| twice and a small λ: most proposals are not accepted, and those that are have another law."""
    rng, temperature = np.random.default_rng(10), 0.05
    local = Localised(Ball(np.zeros(1), 1.0), np.zeros(1), 0.9)
    risk = CentredRisk(Absolute(), np.array([[1.0, 0.1], [1.0, -0.1]]), local, 1.0, 0.02, np.zeros(1))
    points = 0.9 * ((np.arange(2000) + 0.5) / 1000 - 1)
    potential = (np.abs(points - 0.1) + np.abs(points + 0.1)) / 2 + 0.01 * points**2
    edges = [-0.14, -0.11, 0.0, 0.11, 0.14]
    weights = np.bincount(np.digitize(points, edges), np.exp(-(potential - potential.min()) / temperature))
    below, tries = envelope(risk, temperature), 0
    found = np.empty(800)
    for i in range(len(found)):
        draw = draw_below(below, risk, rng)
        found[i], tries = draw.point[0], tries + draw.inside
    assert tries > 3 * len(found)
    assert_frequencies(np.digitize(found, edges), weights / weights.sum())


def test_draws_on_a_disc() -> None:
    """Nine cells of a disc that reaches over the edge of W; no record is clipped, so that the density is known everywhere."""
    rng = np.random.default_rng(8)
    data = rng.uniform(-1, 1, size=(40, 3))
    data[:, 2] = np.sign(data[:, 0] + 0.3)
    local = Localised(Box(-np.ones(2), np.ones(2)), np.array([0.8, 0.1]), 0.5)
    risk = CentredRisk(Logistic(), data, local, 2.0, 0.2, np.zeros(2))
    temperature = 0.02
    axes = np.meshgrid(*(np.linspace(-0.5, 0.5, 901),) * 2)
    points = local.center + np.column_stack([axis.ravel() for axis in axes])
    points = points[local.contains(points)]
    margins = points @ (data[:, :2] * data[:, 2:]).T
    potential = np.logaddexp(0, -margins).mean(axis=1) + 0.1 * np.sum(points**2, axis=1)
    assert risk.at(points[0]) - risk.at(points[-1]) == pytest.approx(potential[0] - potential[-1], abs=1e-9)

    def cells(rows: FloatArray) -> FloatArray:
        moves = rows - local.center
        ring = np.digitize(np.linalg.norm(moves, axis=1), [0.2, 0.35])
        return np.asarray(3 * ring + np.digitize(moves[:, 1], [-0.1, 0.1]))

    weights = np.bincount(cells(points).astype(int), np.exp(-(potential - potential.min()) / temperature), minlength=9)
    below = envelope(risk, temperature)
    found = np.array([draw_below(below, risk, rng).point for _ in range(1500)])
    assert local.contains(found).all()
    assert_frequencies(cells(found), weights / weights.sum())


def test_the_half_space_is_sampled_exactly() -> None:
    """Proposals alone, against the density of the truncated normal law."""
    slope, normal = np.array([-3.0, 0.5]), np.array([1.0, 0.0])
    bound = Envelope(np.zeros(2), 0.0, slope, np.array([[2.0, 0.6], [0.6, 1.0]]), normal, 0.1, 0.5)
    rng = np.random.default_rng(9)
    found = np.array([bound.propose(rng) for _ in range(4000)])
    assert found[:, 0].max() <= 0.1
    x, y = np.meshgrid(0.1 - (np.arange(600) + 0.5) / 200, (np.arange(1600) + 0.5) / 200 - 4)
    points = np.column_stack([x.ravel(), y.ravel()])
    density = np.exp(-bound.lower(points) / 0.5)

    def cells(rows: FloatArray) -> FloatArray:
        return np.asarray(4 * np.digitize(rows[:, 0], [-0.5, -0.2, -0.05]) + np.digitize(rows[:, 1], [-1.0, 0.0, 1.0]))

    weights = np.bincount(cells(points).astype(int), density, minlength=16)
    assert math.exp(-float(bound.lower(np.array([-2.9, 0.0]))) / 0.5) < 1e-9 * density.max()  # the table holds all of it
    assert_frequencies(cells(found), weights / weights.sum())


@pytest.mark.parametrize("loss", [Absolute(), Hinge(), Logistic()], ids=["absolute", "hinge", "logistic"])
def test_tangents_spare_evaluations_and_change_no_draw(loss: Loss, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    local = Localised(Box(-np.ones(3), np.ones(3)), np.array([0.8, 0.1, -0.2]), 0.7)
    data = records(loss, rng, 40, 3)
    data[:3] *= 1e9  # coarse in floats
    if loss.target == "label":
        data[:, -1] = np.sign(data[:, -1])
    risk = CentredRisk(loss, data, local, 0.5, 0.05, np.zeros(3))
    points = np.array([local.project(local.center + rng.normal(size=3)) for _ in range(12)])
    tangents = [risk.tangent_at(point) for point in points]
    for tangent in tangents:
        for point, other in zip(points, tangents, strict=True):
            assert not tangent.is_above(point, other.value)
    calls = []
    find = CentredRisk.tangent_at
    monkeypatch.setattr(CentredRisk, "tangent_at", lambda self, point: calls.append(1) or find(self, point))
    below, drawn = envelope(risk, 0.004), []
    for spared in (True, False):
        if not spared:
            monkeypatch.setattr(Tangent, "is_above", lambda *_: False)
        calls.clear()
        generator = np.random.default_rng(12)
        drawn.append(([draw_below(below, risk, generator).point.tolist() for _ in range(4)], len(calls)))
    assert drawn[0][0] == drawn[1][0]
    assert drawn[0][1] < drawn[1][1]
