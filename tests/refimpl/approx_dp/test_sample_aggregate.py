"""Sample and aggregate: both claims of its smooth sensitivity by enumeration, its noise by exact privacy profiles."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tailproof.refimpl.approx_dp import sample_and_aggregate
from tailproof.refimpl.approx_dp.sample_aggregate import (
    data_centre,
    interval_centre,
    loss_upper,
    noise_shape,
    published_parameters,
    tuned_parameters,
)
from tailproof.refimpl.channel import Smooth, Transcript, run
from tailproof.refimpl.claims import gaussian_delta
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.losses import Quadratic
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.calibration import reference_aggregate_sensitivity
from tailproof.verification.divergences import profile

SLACK = 1 + 1e-12


def broken(pairs: list[tuple[tuple[FloatArray, float], tuple[FloatArray, float]]], rate: float) -> list[str]:
    """Which of the two claims fail on which pair of (centre, S)."""
    found = []
    for (here, bound), (there, other) in pairs:
        if np.linalg.norm(here - there) > min(bound, other) * SLACK:
            found.append(f"moves by {np.linalg.norm(here - there)}, bound {min(bound, other)}")
        if max(bound / other, other / bound) > math.exp(rate) * SLACK:
            found.append(f"grows by {max(bound / other, other / bound)}")
    return found


@pytest.mark.parametrize("aggregate", [data_centre, interval_centre])
@pytest.mark.parametrize("rate", [0.05, 1.0])
@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_every_pair_of_neighbours_on_a_grid(aggregate: object, rate: float, m: int) -> None:
    """All ordered points on five places of a line, all replacements."""
    places = (-1.0, -0.6, 0.0, 0.1, 1.0)[: 6 - m // 2]
    known = {
        points: aggregate(np.array(points)[:, np.newaxis], diameter=2.0, rate=rate)  # type: ignore[operator]
        for points in itertools.product(places, repeat=m)
    }
    pairs = [
        (value, known[(*points[:i], new, *points[i + 1 :])])
        for points, value in known.items()
        for i in range(m)
        for new in places
        if new > points[i]
    ]
    assert not broken(pairs, rate)


@given(
    points=st.lists(st.tuples(*[st.sampled_from((-0.7, -0.1, 0.0, 0.3, 0.7))] * 2), min_size=3, max_size=11),
    new=st.tuples(*[st.sampled_from((-0.7, 0.0, 0.25, 0.7))] * 2),
    rate=st.sampled_from((0.02, 0.3, 2.0)),
)
@settings(max_examples=120, deadline=None)
def test_neighbours_in_the_plane(points: list[tuple[float, float]], new: tuple[float, float], rate: float) -> None:
    diameter = 2.0
    one, two = np.array(points), np.array([new, *points[1:]])
    assert not broken([tuple(data_centre(p, diameter=diameter, rate=rate) for p in (one, two))], rate)  # type: ignore[list-item]


def smallest_ball(points: FloatArray) -> tuple[FloatArray, float]:
    """Of points of the plane: the best of all circles through two or three of them that hold all."""
    centres = [*points, *((a + b) / 2 for a, b in itertools.combinations(points, 2))]
    for a, b, c in itertools.combinations(points, 3):
        matrix = 2 * np.array([b - a, c - a])
        if abs(np.linalg.det(matrix)) > 1e-12:
            centres.append(np.linalg.solve(matrix, np.array([b @ b - a @ a, c @ c - a @ a])))
    radii = cdist(centres, points).max(axis=1)
    best = int(np.argmin(radii))
    return np.asarray(centres[best]), float(radii[best])


def ball_centre(points: FloatArray, *, diameter: float, rate: float) -> tuple[FloatArray, float]:
    """The statement with any centres: S = 2·max_k e^{−βk}·r*(t0 + k + 1), by enumeration of all subsets."""
    m = len(points)
    t0 = (m + 1) // 2 + 1

    def best(t: int) -> tuple[FloatArray, float]:
        if t > m:
            return points[0], diameter
        return min((smallest_ball(points[list(s)]) for s in itertools.combinations(range(m), t)), key=lambda ball: ball[1])

    return best(t0)[0], 2 * max(math.exp(-rate * k) * best(t0 + k + 1)[1] for k in range(m - t0 + 1))


def test_the_statement_with_any_centres_holds_on_tiny_inputs() -> None:
    rng = np.random.default_rng(0)
    pairs = []
    for trial in range(40):
        m = 3 + trial % 3
        points = rng.choice([-1.0, -0.5, 0.0, 1.0], size=(m, 2)) + 1e-3 * rng.standard_normal((m, 2))
        other = np.vstack([rng.uniform(-1, 1, size=(1, 2)), points[1:]])
        pairs.append(tuple(ball_centre(p, diameter=3.0, rate=0.2) for p in (points, other)))
    assert not broken(pairs, 0.2)  # type: ignore[arg-type]


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=7), st.floats(0.01, 3))
@settings(max_examples=60, deadline=None)
def test_bounds_are_those_of_the_formulas(points: list[float], rate: float) -> None:
    """Every subset, every rank: written a second time beside the calibration check."""
    table = np.array(points)[:, np.newaxis]
    for aggregate, any_centre in ((data_centre, False), (interval_centre, True)):
        expected = reference_aggregate_sensitivity(points, beta=rate, width=2.0, any_centre=any_centre)
        assert aggregate(table, diameter=2.0, rate=rate)[1] == pytest.approx(expected, rel=1e-12, abs=1e-150)


def one_ball_for_all(points: FloatArray, *, diameter: float, rate: float) -> float:
    """S from the best ball around one of the points, the same for every k: R_1 in place of R_{k+2}."""
    m = len(points)
    t0 = (m + 1) // 2 + 1
    near = np.sort(cdist(points, points), axis=1)
    return 2 * max(math.exp(-rate * k) * (near[:, t0 + k].min() if t0 + k < m else diameter) for k in range(m - t0 + 1))


def test_one_ball_around_a_point_is_not_smooth_and_not_private() -> None:
    """The middle of a star is replaced: the radius doubles in one step, and the noise with it."""
    m, epsilon, delta = 101, 1.0, 1e-6
    star = np.array([0.0] + [-1.0] * 50 + [1.0] * 50)[:, np.newaxis]
    without = np.vstack([[[1.0]], star[1:]])
    alpha, beta = noise_shape(1, epsilon=epsilon, delta=delta)
    scales = [one_ball_for_all(points, diameter=2.0, rate=beta) for points in (star, without)]
    assert scales[1] / scales[0] == pytest.approx(2)
    assert profile(Gaussian(np.zeros(1), scales[1] / alpha), Gaussian(np.zeros(1), scales[0] / alpha), epsilon) > 1e4 * delta
    honest = [data_centre(points, diameter=2.0, rate=beta) for points in (star, without)]
    assert not broken([(honest[0], honest[1])], beta)
    assert m == len(star)


@pytest.mark.parametrize("noise", ["published", "tuned"])
@pytest.mark.parametrize("dimension", [1, 2, 20])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [0.01, 1e-6])
def test_noise_is_private_on_the_worst_pairs(noise: str, dimension: int, epsilon: float, delta: float) -> None:
    """Exactly, over moves and changes of scale up to those that the smooth sensitivity allows, both ways."""
    alpha, beta = noise_shape(dimension, epsilon=epsilon, delta=delta, noise=noise)
    assert loss_upper(dimension, alpha=alpha, beta=beta, delta=delta) <= epsilon
    here = Gaussian(np.zeros(dimension), 1 / alpha)
    for growth, share in itertools.product((-beta, -beta / 2, 0.0, beta), (0.5, 1.0)):
        move = np.zeros(dimension)
        move[0] = share * min(1.0, math.exp(growth))
        there = Gaussian(move, math.exp(growth) / alpha)
        assert max(profile(here, there, epsilon), profile(there, here, epsilon)) <= delta


def test_tuned_noise_is_less_and_close_to_what_a_move_alone_needs() -> None:
    for dimension, epsilon in ((1, 1.0), (20, 8.0)):
        published, tuned = (
            noise_shape(dimension, epsilon=epsilon, delta=1e-6, noise=noise) for noise in ("published", "tuned")
        )
        assert tuned[0] > 1.5 * published[0]
        assert tuned[1] > 0.9 * published[1]
        assert gaussian_delta(2.5 * tuned[0], epsilon) > 1e-6  # less than 2.5 times what is needed with a fixed scale


def test_published_noise_is_refused_where_it_is_not_private() -> None:
    """At ε = 48, d = 1, δ = 1e-6 the printed constants give fifteen times the claimed δ."""
    epsilon, delta = 48.0, 1e-6
    alpha = epsilon / (5 * math.sqrt(2 * math.log(2 / delta)))
    beta = epsilon / (4 * (1 + math.log(2 / delta)))
    pair = Gaussian(np.zeros(1), 1 / alpha), Gaussian(np.array([math.exp(-beta)]), math.exp(-beta) / alpha)
    assert max(profile(*pair, epsilon), profile(*pair[::-1], epsilon)) > 15 * delta
    with pytest.raises(InputError, match="published noise is not proved private"):
        noise_shape(1, epsilon=epsilon, delta=delta)
    noise_shape(1, epsilon=epsilon, delta=delta, noise="tuned")


def test_finds_the_centre_of_heavy_tailed_data() -> None:
    """Twelve standard deviations of the noise around the mean's error; S is of the order of the blocks' spread, not of W."""
    rng = np.random.default_rng(1)
    data = 0.5 + rng.standard_t(2.5, size=(6000, 2))
    private = {"epsilon": 8.0, "delta": 1e-5}
    given = tuned_parameters(6000, 2, **private, diameter=40.0, spread=3.0)
    found, transcript = run(sample_and_aggregate, data, rng, loss=Quadratic(np.eye(2)), domain="ball:20", **private, **given)
    release = transcript.releases[0]
    assert isinstance(release.law, Gaussian)
    assert np.linalg.norm(release.law.location - 0.5) < 1
    assert release.law.scale < 3
    assert np.linalg.norm(found - 0.5) < 1 + 12 * float(release.law.scale)
    sensitivity = Transcript.from_json(transcript.to_json()).releases[0].sensitivity
    assert isinstance(sensitivity, Smooth)
    assert (sensitivity.norm, sensitivity.rate) == (2.0, release.sensitivity.rate)  # type: ignore[union-attr]


def test_parameters_are_public_formulas() -> None:
    private = {"epsilon": 1.0, "delta": 1e-6}
    assert published_parameters(10**4, 5, **private) == {"blocks": 25, "noise": "published"}
    with pytest.raises(InputError, match="number of blocks is 400"):
        published_parameters(300, 20, **private)
    few, many = (tuned_parameters(n, 5, **private, diameter=4.0, spread=3.0)["blocks"] for n in (10**3, 10**6))
    assert few <= 100
    assert 16 * 5 < many < 10**5
    with pytest.raises(InputError, match="three blocks of 40 records"):
        tuned_parameters(100, 20, **private, diameter=4.0, spread=3.0)
