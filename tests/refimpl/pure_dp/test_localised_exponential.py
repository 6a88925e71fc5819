"""The localised exponential mechanism: exact losses of neighbours for every sampler, laws, bounds, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import gamma as gamma_law

from tailproof.refimpl.channel import Transcript, replay, run
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import Ball, Localised
from tailproof.refimpl.laws import Gibbs, Softmax
from tailproof.refimpl.losses import Absolute, Quadratic
from tailproof.refimpl.pure_dp.centred_risk import CentredRisk
from tailproof.refimpl.pure_dp.grid_walk import GridWalk, cubic_grid, max_divergence
from tailproof.refimpl.pure_dp.localised_exponential import (
    WALK_SHARE,
    distance_upper,
    excess_upper,
    localised_exponential,
    sensitivity,
    temperature_upper,
    worst_neighbours,
)
from tailproof.refimpl.pure_dp.nets import net
from tailproof.refimpl.pure_dp.rejection import draw_below, envelope
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.divergences import max_loss

COMMON = {"weight": 1.0, "lipschitz": 1.0, "epsilon": 2.0, "mesh": 0.25}
SAMPLERS = ["rejection", "grid", "walk"]
PROBLEMS = {
    "line": ({"loss": "affine", "domain": "ball:3"}, 1),
    "absolute": ({"loss": "absolute", "domain": "ball:1"}, 2),
    "plane": ({"loss": Quadratic(np.eye(2)), "domain": "ball:2"}, 2),
    "regression": ({"loss": "squared", "domain": "ball:1"}, 3),
}


def pairs(columns: int, count: int, seed: int) -> list[tuple[FloatArray, FloatArray]]:
    """Shipped ones and random ones of all sizes."""
    rng, found = np.random.default_rng(seed), list(worst_neighbours(4, columns, lipschitz=1.0))
    while len(found) < count:
        data = rng.choice([0.1, 1.0, 1e3]) * rng.standard_normal((4, columns)) * rng.choice([0.0, 1.0], size=(4, 1))
        neighbour = data.copy()
        neighbour[0] = rng.choice([-1.0, 0.0, 1e3]) * data[0] + rng.standard_normal(columns)
        found.append((data, neighbour))
    return found[:count]


def losses(data: FloatArray, neighbour: FloatArray, seed: int, **parameters: object) -> list[float]:
    """The largest loss of each release, both directions, on the set that the first run found."""
    _, here = run(localised_exponential, data, np.random.default_rng(seed), **parameters)
    _, there = replay(localised_exponential, neighbour, here, **parameters)
    return [max(max_loss(a.law, b.law), max_loss(b.law, a.law)) for a, b in zip(here, there, strict=True)]


def check_pairs(name: str, sampler: str, count: int) -> float:
    """No release exceeds its part of ε; returns the largest share of it that the second one attains."""
    parameters, columns = PROBLEMS[name]
    best = 0.0
    for seed, (data, neighbour) in enumerate(pairs(columns, count, seed=3)):
        first, second = losses(data, neighbour, seed, sampler=sampler, **COMMON, **parameters)
        assert first <= 1 + 1e-9
        assert second <= 1 + 1e-9
        best = max(best, second)
    return best


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_no_outcome_is_more_than_e_to_the_epsilon_likelier(name: str, sampler: str) -> None:
    assert check_pairs(name, sampler, 8) >= 0.3


@pytest.mark.long  # some minutes: 500 pairs in one dimension and 500 in two, for every sampler
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_500_adversarial_pairs(name: str, sampler: str) -> None:
    best = check_pairs(name, sampler, 250)  # two problems in one dimension, two in the plane
    print(f"{name}, {sampler}: largest loss / its part of ε: {best:.3f}")
    assert best >= 0.4


def test_epsilon_is_nearly_attained() -> None:
    """All of W_loc on a line, one record that pulls to the left against one that pulls to the right: the loss falls from
    one end to the other by 2Δ/T = ε₂, and nearly all mass of both laws is at the ends."""
    local = Localised(Ball(np.zeros(1), 500.0), np.zeros(1), 400.0)
    found = []
    for sign in (-1.0, 1.0):
        risk = CentredRisk(Absolute(), np.array([[1.0, sign * 1e3]] + [[1.0, -1e3]] * 40), local, 1.0, 1e-12, np.zeros(1))
        found.append(Softmax(risk.scores(np.linspace(-400, 400, 41)[:, np.newaxis]), 2 * risk.sensitivity))
    assert 0.9 <= max_loss(found[1], found[0]) <= 1 + 1e-9


def second_law(transcript: Transcript) -> object:
    return transcript.releases[1].law


def test_what_the_samplers_release() -> None:
    data = np.random.default_rng(1).standard_normal((20, 2))
    given = {"loss": "absolute", "domain": "ball:1", **COMMON}
    laws = {}
    for sampler in SAMPLERS:
        point, transcript = run(localised_exponential, data, np.random.default_rng(2), sampler=sampler, **given)
        first, second = transcript.releases
        assert (first.spend, second.spend) == (PureDP(1.0), PureDP(1.0))
        assert point.shape == (1,)
        laws[sampler] = second.law
        _, again = replay(localised_exponential, data, transcript, sampler=sampler, **given)
        assert np.array_equal(again.releases[1].output, second.output)
    gibbs, softmax, walk = laws["rejection"], laws["grid"], laws["walk"]
    assert isinstance(gibbs, Gibbs)
    assert isinstance(softmax, Softmax)
    assert isinstance(walk, GridWalk)
    assert isinstance(gibbs.potential, CentredRisk)
    risk = gibbs.potential  # the first release is the same for all: so is W_loc
    assert gibbs.scale == pytest.approx(2 * risk.sensitivity)
    points = net(risk.local, COMMON["mesh"] * risk.local.radius)
    np.testing.assert_allclose(softmax.scores, risk.scores(points))
    grid = cubic_grid(risk.local, 2 * COMMON["mesh"] * risk.local.radius)
    assert walk.scale == pytest.approx(2 * risk.sensitivity / (1 - WALK_SHARE))
    np.testing.assert_allclose(walk.scores, risk.scores(grid.points))
    assert 0 < max_divergence(walk) <= WALK_SHARE / 2


def test_the_printed_spread_is_twice_ours() -> None:
    data = np.zeros((50, 1))
    given = {"loss": "affine", "domain": "ball:9", **COMMON}
    scales = []
    for spread in ("reach", "diameter"):
        _, transcript = run(localised_exponential, data, np.random.default_rng(0), spread=spread, **given)
        scales.append(second_law(transcript).scale)  # type: ignore[attr-defined]
    assert scales[1] == pytest.approx(2 * scales[0], rel=1e-6)


# --------------------------------------------------------------------------------------------------------------------- utility


def test_the_excess_of_a_draw_is_smaller_than_a_gamma_variable() -> None:
    """By exact enumeration: P(V − min V > t) on fine grids, against P(Γ_d > t/T), for kinked, quadratic and tilted V in one and two
    dimensions; attained where V is a norm on a set that does not cut it off."""
    x = np.linspace(-1, 1, 4001)
    plane = np.stack(np.meshgrid(np.linspace(-1, 1, 401), np.linspace(-1, 1, 401)), axis=-1).reshape(-1, 2)
    cases = [(1, np.abs(x)), (1, x**2), (1, np.maximum(x, -3 * x) + 0.2 * x), (1, np.maximum(np.abs(x) - 0.3, 0))]
    cases += [
        (2, np.abs(plane).max(axis=1)),
        (2, (plane**2).sum(axis=1)),
        (2, np.abs(plane).sum(axis=1) + 0.5 * plane[:, 0]),
    ]
    for d, values in cases:
        for temperature in (0.05, 0.3):
            weights = np.exp(-(values - values.min()) / temperature)
            for t in (0.5, 1.0, 3.0):
                beyond = weights[values - values.min() > t * temperature].sum() / weights.sum()
                assert beyond <= gamma_law.sf(t, d) * (1 + 0.03)
    weights = np.exp(-np.abs(x) / 0.05)
    assert weights[np.abs(x) > 0.05].sum() / weights.sum() == pytest.approx(gamma_law.sf(1, 1), rel=0.03)


def test_the_bounds_by_hand() -> None:
    temperature = temperature_upper(100, dimension=1, weight=2.0, lipschitz=3.0, epsilon=4.0, failure=0.1)
    radius = (math.log(10) * 2.2 / 2 + 0.1) * 3 / (2 * 100)
    assert temperature == pytest.approx(4 * 3 * radius * (1 / 100 + 1e-6) / 2)
    assert excess_upper(dimension=1, temperature=0.5, failure=0.1) == pytest.approx(0.5 * math.log(10))
    assert excess_upper(dimension=3, temperature=0.5, failure=0.1, points=20) == pytest.approx(0.5 * math.log(200))
    near = distance_upper(100, dimension=1, weight=2.0, lipschitz=3.0, epsilon=4.0, failure=0.1)
    assert near == pytest.approx(math.sqrt(math.log(10) * temperature))
    assert sensitivity(100, lipschitz=3.0, distance=0.5).value == pytest.approx(2 * 3 * 0.5 * (1 / 100 + 1e-6))


def test_excesses_of_draws() -> None:
    """V − min V of 150 draws in five dimensions: no more beyond the 5 % quantile of T·Γ_5 than chance explains, but for 1e-6."""
    rng = np.random.default_rng(4)
    x = rng.standard_t(2.5, size=(200, 5))
    data = np.column_stack([x, x @ np.full(5, 0.3) + rng.standard_normal(200)])
    local = Localised(Ball(np.zeros(5), 1.0), np.full(5, 0.1), 0.5)
    risk = CentredRisk(Absolute(), data, local, 2.0, 0.5, np.zeros(5))
    below = envelope(risk, 0.02)
    least = risk.at(below.point)
    beyond = sum(risk.at(draw_below(below, risk, rng).point) - least > 0.02 * gamma_law.isf(0.05, 5) for _ in range(150))
    assert beyond <= binom.isf(1e-6, 150, 0.05)


# ------------------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0.0}, "eps"),
        ({"weight": math.nan}, "weight = nan"),
        ({"lipschitz": -1.0}, r"lipschitz = -1"),
        ({"share": 1.0}, r"share = 1\.0"),
        ({"failure": 0.0}, r"failure = 0\.0"),
        ({"mesh": 0.0}, "mesh = 0"),
        ({"sampler": "gibbs"}, "sampler = 'gibbs'"),
        ({"spread": "radius"}, "spread = 'radius'"),
        ({"center": [5.0]}, "center: must lie in the domain"),
        ({"sampler": "grid", "mesh": 0.02, "most_points": 9}, "at most 9 are allowed"),
        ({"sampler": "walk", "mesh": 0.02, "most_points": 9}, "at most 9 are allowed"),
        (
            {"sampler": "walk", "mesh": 1.0, "lipschitz": 1e3, "weight": 1e3, "epsilon": 1e3},
            "mesh: the potential may rise by",
        ),
        ({"loss": "record-quadratic"}, "loss = "),
    ],
)
def test_bad_input(change: dict[str, object], message: str) -> None:
    given = {"loss": "affine", "domain": "ball:1", **COMMON, **change}
    with pytest.raises(InputError, match=message):
        run(localised_exponential, np.zeros((3, 1)), np.random.default_rng(0), **given)
