"""The exponential mechanism on nets: nets cover, smoothing averages, scores are the definition, ratios are at most e^ε."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import cKDTree
from scipy.special import gamma

from tailproof.refimpl.channel import replay, run
from tailproof.refimpl.domains import EPS, Ball, Box, Domain, Ellipsoid, L1Ball, Polytope
from tailproof.refimpl.extension import exact_sets
from tailproof.refimpl.laws import Softmax
from tailproof.refimpl.losses import Absolute, GlmLoss, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.pure_dp.ball_smoothing import distribution, roughness, smoothed_slopes
from tailproof.refimpl.pure_dp.exponential import (
    Score,
    distance_upper,
    exponential_mechanism,
    gradient_mapping,
    published_clip,
    worst_neighbours,
)
from tailproof.refimpl.pure_dp.nets import net, net_size_upper
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.divergences import max_loss

SETS = [
    Ball(np.array([0.3, -1.0]), 1.0),
    Box(np.zeros(3), np.array([1.0, 0.2, 0.5])),
    L1Ball(np.zeros(2), 1.0),
    Ball(np.zeros(1), 2.0),
]

# ------------------------------------------------------------------------------------------------------------------------ nets


@pytest.mark.parametrize("domain", SETS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("mesh", [0.31, 0.1])
def test_a_net_lies_in_the_set_and_covers_it(domain: Domain, mesh: float) -> None:
    points = net(domain, mesh)
    assert domain.contains(points).all()
    assert len(points) <= net_size_upper(domain, mesh)
    inside = domain.project(domain.interior_point() + 2 * np.random.default_rng(0).standard_normal((5000, domain.dimension)))
    assert cKDTree(points).query(inside)[0].max() <= mesh * (1 + 1e-9)
    assert len(points) <= (2 + math.sqrt(domain.dimension) * domain.diameter_upper() / (2 * mesh)) ** domain.dimension


def test_large_nets_are_refused_with_their_size() -> None:
    with pytest.raises(
        InputError, match=r"mesh = 0\.001: the net would have up to 2002225 points; at most 1000 are allowed"
    ):
        net(Ball(np.zeros(2), 1.0), 0.001, most=1000)
    assert net_size_upper(Ball(np.zeros(1), 1.0), 1e-12) == 10**12  # which would not fit into memory
    with pytest.raises(InputError, match=r"more than 2\^62"):
        net_size_upper(Ball(np.zeros(30), 1.0), 0.001)
    with pytest.raises(InputError, match="mesh = 0"):
        net(Ball(np.zeros(2), 1.0), 0.0)


# ------------------------------------------------------------------------------------------------------------------- smoothing


@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_the_margins_noise_is_that_of_a_uniform_point_of_the_ball(d: int) -> None:
    """Its distribution function by quadrature of the density c(1 − t²)^{(d−1)/2}; its density at 0 is half of `roughness`."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    constant = gamma(d / 2 + 1) / (math.sqrt(math.pi) * gamma((d + 1) / 2))
    for t in (-0.9, -0.3, 0.2, 0.7):
        x = -1 + (t + 1) * (nodes + 1) / 2
        below = constant * np.sum(weights * (1 - x**2) ** ((d - 1) / 2)) * (t + 1) / 2
        assert distribution(np.array(t), d) == pytest.approx(below, rel=2e-6)
    assert roughness(d) == pytest.approx(2 * constant)
    assert roughness(d) <= math.sqrt(d) * (1 + 1e-12)


@pytest.mark.parametrize("loss", [Absolute(), Hinge(), ReLU()], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("d", [1, 3])
def test_smoothed_slopes_are_averages_of_slopes(loss: GlmLoss, d: int) -> None:
    nodes = (np.arange(20_000) + 0.5) / 10_000 - 1
    weights = (1 - nodes**2) ** ((d - 1) / 2)
    weights /= weights.sum()
    targets, reach = np.array([0.3, 0.3, -1.0, 0.0]), np.array([0.5, 2.0, 1.0, 0.0])
    margins = np.array([[0.1, 0.9], [-1.0, 0.5], [-1.3, -0.2], [-2.0, 2.0]])
    found = smoothed_slopes(loss, margins, targets, reach, d)
    for i, j in np.ndindex(margins.shape):
        average = weights @ loss.dphi(margins[i, j] + reach[i] * nodes, np.full(len(nodes), targets[i]))
        assert found[i, j] == pytest.approx(average, abs=2e-4)  # the midpoint rule meets a jump


def test_what_has_no_kink_is_not_smoothed() -> None:
    with pytest.raises(InputError, match="no kink"):
        Score.of("logistic", weight=1, lipschitz=1, smoothness=1, smoothing=0.1)
    with pytest.raises(InputError, match="smoothing"):
        Score.of(Quadratic(np.eye(2)), weight=1, lipschitz=1, smoothness=1, smoothing=0.1)


# ---------------------------------------------------------------------------------------------------------------------- scores


@pytest.mark.parametrize(
    "loss",
    [Squared(), Logistic(), Hinge(), Ridge(Logistic(), 0.5), Quadratic(np.array([[2.0, 0.5], [0.5, 1.0]]))],
    ids=lambda x: type(x).__name__,
)
def test_scores_are_the_definition_record_by_record(loss: Loss) -> None:
    rng = np.random.default_rng(1)
    data = 3 * rng.standard_normal((7, loss.columns(2)))
    if isinstance(loss, Ridge | Hinge | Logistic):
        data[:, -1] = np.sign(data[:, -1])
    data[3, :2] = 0.0
    domain, center = Ball(np.zeros(2), 1.0), np.array([0.2, 0.1])
    points = net(domain, 0.4)
    score = Score.of(loss, weight=0.3, lipschitz=1.5, smoothness=2.0)
    found = score.of_points(points, data, domain, center)
    base, penalty = (loss.loss, loss.weight) if isinstance(loss, Ridge) else (loss, 0.0)
    for w, value in zip(points, found, strict=True):
        total = np.zeros(2)
        for gradient in base.gradients(w, data):
            total += gradient * min(1.0, 1.5 / max(np.linalg.norm(gradient), 1e-300))
        slope = total / 7 + penalty * w + 0.3 * (w - center)
        moved = domain.project(w - slope / 2.3)
        assert value == pytest.approx(-np.linalg.norm(w - moved) * 2.3, rel=1e-12, abs=1e-14)


def test_blocks_of_points_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data, points = np.random.default_rng(2).standard_normal((5, 3)), net(Ball(np.zeros(2), 1.0), 0.2)
    score = Score.of("squared", weight=0.3, lipschitz=1.5, smoothness=2.0)
    whole = score.clipped_gradients(points, data)
    monkeypatch.setattr("tailproof.refimpl.pure_dp.exponential.BLOCK", 50)
    np.testing.assert_allclose(score.clipped_gradients(points, data), whole, rtol=1e-14, atol=1e-15)


# --------------------------------------------------------------------------------------------------------------------- privacy


def largest_loss(data: FloatArray, neighbour: FloatArray, **parameters: object) -> float:
    """The largest log-ratio over all outcomes, both ways: exact, for the whole law is known."""
    _, here = run(exponential_mechanism, data, np.random.default_rng(0), **parameters)
    _, there = replay(exponential_mechanism, neighbour, here, **parameters)
    p, q = here.releases[0].law, there.releases[0].law
    return max(max_loss(p, q), max_loss(q, p))


COMMON = {"weight": 0.1, "lipschitz": 1.0, "smoothness": 1.0, "epsilon": 1.0}
PROBLEMS = [
    ({"loss": Quadratic(np.eye(1)), "domain": "box:-2,2", "mesh": 0.05, **COMMON}, 1),
    ({"loss": "squared", "domain": "ball:2", "mesh": 0.2, **COMMON}, 3),
    ({"loss": "absolute", "domain": "ball:1", "mesh": 0.1, "smoothing": 0.1, **COMMON}, 3),
    ({"loss": Quadratic(np.diag([1.0, 0.01])), "domain": "ball:3", "mesh": 0.3, **COMMON}, 2),
]


@pytest.mark.parametrize(("parameters", "columns"), PROBLEMS, ids=["line", "regression", "absolute", "ill-conditioned"])
def test_no_outcome_is_more_than_e_to_the_epsilon_likelier(parameters: dict[str, object], columns: int) -> None:
    """Shipped pairs, and random ones of all sizes 130 pairs for each of the four problems."""
    rng, best = np.random.default_rng(3), 0.0
    pairs = list(worst_neighbours(4, columns, lipschitz=1.0))
    for _ in range(130 - len(pairs)):
        data = rng.choice([0.1, 1.0, 1e3]) * rng.standard_normal((4, columns)) * rng.choice([0.0, 1.0], size=(4, 1))
        neighbour = data.copy()
        neighbour[0] = rng.choice([-1.0, 0.0, 1e3]) * data[0] + rng.standard_normal(columns)
        pairs.append((data, neighbour))
    for data, neighbour in pairs:
        best = max(best, largest_loss(data, neighbour, **parameters))
    assert best <= 1.0 * (1 + 1e-12)
    assert best >= 0.45


def test_epsilon_is_nearly_attained() -> None:
    """One record pulls to 0, near the left end of W, with all of C, the other one to the right, or to the left: the score falls by
    Δ at the left end and rises by Δ on the rest of W, where nearly all of the mass is."""
    data = np.zeros((2, 1))
    data[0] = 1e6
    neighbour = -data
    parameters = {"loss": Quadratic(np.eye(1)), "domain": "box:-3,500", "mesh": 0.5, **COMMON, "weight": 1e-9}
    found = largest_loss(data, neighbour, **parameters)
    assert 0.95 <= found <= 1 + 1e-12


@settings(max_examples=30, deadline=None)
@given(
    data=arrays(np.float64, (3, 2), elements=st.floats(-1e6, 1e6)),
    record=arrays(np.float64, 2, elements=st.floats(-1e6, 1e6)),
)
def test_scores_move_by_two_c_over_n_at_most(data: FloatArray, record: FloatArray) -> None:
    neighbour = data.copy()
    neighbour[1] = record
    domain = Ball(np.zeros(1), 1.0)
    score, points = Score.of("squared", weight=0.3, lipschitz=1.5, smoothness=2.0), net(domain, 0.2)
    first, second = (score.of_points(points, rows, domain, np.zeros(1)) for rows in (data, neighbour))
    assert np.abs(first - second).max() <= 2 * 1.5 / 3 * (1 + 1e-12)


@pytest.mark.parametrize("domain", ["ball:1", "box:-1,1", "l1:1"])
def test_the_law_keeps_its_claim_for_every_smoothness_that_is_not_refused(domain: str) -> None:
    """With large β a step is shorter than the spacing of floats: on balls and boxes the law does not change, other sets refuse."""
    rng = np.random.default_rng(5)
    data, steep = rng.standard_normal((50, 3)), {"loss": "absolute", "domain": domain, "weight": 0.1, "lipschitz": 1.0}
    neighbour = data.copy()
    neighbour[0] = [1e3, -2e3, 1e3]
    losses = []
    for smoothness in (1.0, 1e6, 1e12, 1e15, 1e100, 1e300):
        known = {**steep, "smoothness": smoothness, "mesh": 0.3, "epsilon": 1.0}
        if domain == "l1:1" and smoothness > 1e9:
            with pytest.raises(InputError, match="floats give scores to within"):
                run(exponential_mechanism, data, rng, **known)
            continue
        losses.append(largest_loss(data, neighbour, **known))
    assert max(losses) <= 1
    assert min(losses) >= 0.99 * max(losses) > 0


def test_the_mapping_on_a_ball_is_exact_but_for_what_is_allowed() -> None:
    """Against 400 bits, for the ball that the rounded public numbers describe."""
    rng = np.random.default_rng(6)
    for _ in range(300):
        d, steepness = int(rng.integers(1, 4)), 10 ** rng.uniform(-3, 40)
        ball, slope = (
            Ball(rng.standard_normal(d), 10 ** rng.uniform(-1, 1)),
            rng.standard_normal(d) * 10 ** rng.uniform(-3, 3),
        )
        way = rng.standard_normal(d)
        way *= 10 ** rng.uniform(-16, 0) if rng.random() < 0.1 else (1 - 10 ** rng.uniform(-17, 0)) / np.linalg.norm(way)
        point = ball.project(ball.center + ball.radius * way)
        found = gradient_mapping(ball, point[np.newaxis], slope[np.newaxis], steepness=steepness)[0]
        offset = point - ball.center
        length = float(np.linalg.norm(offset[np.newaxis], axis=1)[0])
        with mpmath.workprec(400):
            exact = [mpmath.mpf(x) for x in offset]
            squared = mpmath.mpf(max((ball.radius - length) * (ball.radius + length), 0.0)) + sum(x * x for x in exact)
            moved = [x - mpmath.mpf(s) / mpmath.mpf(steepness) for x, s in zip(exact, slope, strict=True)]
            share = min(mpmath.mpf(1), mpmath.sqrt(squared / sum(x * x for x in moved)))
            truth = [(x - share * z) * mpmath.mpf(steepness) for x, z in zip(exact, moved, strict=True)]
            off = mpmath.sqrt(sum((mpmath.mpf(a) - b) ** 2 for a, b in zip(found, truth, strict=True)))
        assert off <= 16 * (d + 8) * EPS * np.linalg.norm(slope)


def test_projections_err_by_no_more_than_scores_allow_for() -> None:
    """On the sets whose scores are differences of points, against 300 bits."""
    rng = np.random.default_rng(8)
    worst = 0.0
    for kind in [L1Ball, Ellipsoid, Polytope] * 40:
        d = int(rng.integers(2, 4))
        if kind is L1Ball:
            domain: Domain = L1Ball(rng.standard_normal(d), 10 ** rng.uniform(-1, 1))
        elif kind is Ellipsoid:
            basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
            domain = Ellipsoid(rng.standard_normal(d), basis @ np.diag(10 ** rng.uniform(-4, 1, d)) @ basis.T)
        else:
            normals = np.vstack([rng.standard_normal((d + 3, d)), np.eye(d), -np.eye(d)])
            domain = Polytope(normals, np.abs(rng.standard_normal(len(normals))) + 0.1)
        point = domain.interior_point() + 10 ** rng.uniform(-2, 2) * rng.standard_normal(d)
        with mpmath.workprec(300):
            away = exact_sets.projection(domain)(exact_sets.exact(point)) - exact_sets.exact(domain.project(point))
            off = float(exact_sets.length(away))
        far = float(np.linalg.norm(point)) + domain.max_norm_from(np.zeros(d))
        worst = max(worst, off / (32 * (d + 8) * EPS * far))
    assert 0 < worst <= 1


@pytest.mark.parametrize("domain", SETS, ids=lambda s: type(s).__name__)
def test_the_mapping_is_a_difference_of_points(domain: Domain) -> None:
    rng = np.random.default_rng(7)
    points = domain.project(domain.interior_point() + rng.standard_normal((200, domain.dimension)))
    slopes = 3 * rng.standard_normal(points.shape)
    found = gradient_mapping(domain, points, slopes, steepness=2.5)
    np.testing.assert_allclose(found, 2.5 * (points - domain.project(points - slopes / 2.5)), atol=1e-12)


def test_the_law_is_the_softmax_of_the_scores() -> None:
    data = np.array([[0.4], [0.9], [-0.2]])
    domain = Ball(np.zeros(1), 1.0)
    point, transcript = run(
        exponential_mechanism, data, np.random.default_rng(1), loss=Quadratic(np.eye(1)), domain=domain, mesh=0.1, **COMMON
    )
    law, points = transcript.releases[0].law, net(domain, 0.1)
    assert isinstance(law, Softmax)
    scores = Score.of(Quadratic(np.eye(1)), weight=0.1, lipschitz=1.0, smoothness=1.0).of_points(
        points, data, domain, np.zeros(1)
    )
    weights = np.exp(1.0 * scores / (2 * (2 / 3)))
    np.testing.assert_allclose(np.exp(law.log_probabilities()), weights / weights.sum(), rtol=1e-12)
    assert point in points


# --------------------------------------------------------------------------------------------------------------------- utility


def test_the_bound_of_the_distance_by_hand() -> None:
    found = distance_upper(
        [1.0, 3.0, 6.0, 2.0], net_size=50, weight=0.5, lipschitz=2.0, smoothness=1.5, mesh=0.01, epsilon=3.0, failure=0.1
    )
    assert found == pytest.approx((3 * 2 * 0.01 + 4 * 2 / (4 * 3) * (math.log(50) + math.log(10)) + (1 + 4) / 4) / 0.5)


def test_a_zero_of_the_score_is_the_minimiser_without_clipping() -> None:
    """λ‖w − u*‖ ≤ ‖𝒢(w)‖, and 3(β + λ) is a Lipschitz constant of 𝒢."""
    data = np.random.default_rng(4).standard_normal((6, 2))
    domain, weight = Ball(np.zeros(2), 1.0), 0.7
    best = domain.project(data.mean(axis=0) / (1 + weight))
    points = net(domain, 0.05)
    score = Score.of(Quadratic(np.eye(2)), weight=weight, lipschitz=1e6, smoothness=1.0)
    values = score.of_points(points, data, domain, np.zeros(2))
    assert (weight * np.linalg.norm(points - best, axis=1) <= -values * (1 + 1e-9)).all()
    assert float(score.of_points(best[np.newaxis], data, domain, np.zeros(2))[0]) == pytest.approx(0, abs=1e-12)
    near, index = cKDTree(points).query(points, k=2)
    assert (np.abs(values - values[index[:, 1]]) <= 3 * (1 + weight) * near[:, 1] * (1 + 1e-9)).all()


def test_the_published_clip() -> None:
    found = published_clip(1000, net_size=50, epsilon=0.5, moment_order=3.0, moment_bound=2.0, failure=0.1)
    assert found == pytest.approx(2 * (500 / math.log(500)) ** (1 / 3))


# ------------------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0.0}, "eps"),
        ({"weight": 0.0}, "weight = 0"),
        ({"lipschitz": -1.0}, r"lipschitz = -1"),
        ({"smoothness": math.nan}, "smoothness = nan"),
        ({"mesh": 0.0}, "mesh = 0"),
        ({"center": [3.0]}, "center: must lie in the domain"),
        ({"domain": Ball(np.zeros(2), 1.0)}, "data: has 1 columns; must have 2"),
        ({"most_points": 3}, "at most 3 are allowed"),
        ({"loss": "record-quadratic"}, "loss = 'record-quadratic'"),
    ],
)
def test_bad_input(change: dict[str, object], message: str) -> None:
    given_ = {"loss": Quadratic(np.eye(1)), "domain": "ball:1", "mesh": 0.1, **COMMON, **change}
    with pytest.raises(InputError, match=message):
        run(exponential_mechanism, np.zeros((3, 1)), np.random.default_rng(0), **given_)
