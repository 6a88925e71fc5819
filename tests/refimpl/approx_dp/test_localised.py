"""P0's Algorithms 2 and 3, the refutation of their published stability, and the repaired variant."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof import verification
from tailproof.refimpl.approx_dp import clipped_descent, lnc_gm, localised_extension
from tailproof.refimpl.approx_dp.budget import noise_scale, private_share
from tailproof.refimpl.approx_dp.descent import sensitivity, sensitivity_supremum, turning_records, worst_neighbours
from tailproof.refimpl.approx_dp.gradients import clipped_batch_gradient, clipped_mean_gradient, projection, smoothness_upper
from tailproof.refimpl.approx_dp.localised import (
    Phase,
    around,
    counterexample,
    privacy,
    published_phases,
    published_step,
    tuned_phases,
)
from tailproof.refimpl.channel import Channel, replay, run
from tailproof.refimpl.claims import ZCDP, ApproxDP, UnprovedClaim, gaussian_delta
from tailproof.refimpl.domains import Ball, Box, L1Ball, Localised
from tailproof.refimpl.losses import L4, Affine, Logistic, Quadratic, RecordQuadratic, Ridge, Squared
from tailproof.refimpl.means.rows import clipped_mean_of
from tailproof.refimpl.validation import InputError
from tailproof.verification.witness import replay_witness

RNG = np.random.default_rng
LOSSES = [Affine(), Logistic(), Squared(), L4(), Quadratic(np.array([[2.0, 0.5], [0.5, 1.0]])), RecordQuadratic()]


def table(loss, n, rng, scale=1.0):
    rows = scale * rng.standard_t(2, size=(n, loss.columns(2)))
    if getattr(loss, "target", "") == "label":
        rows[:, -1] = np.where(rows[:, -1] < 0, -1, 1)
    if isinstance(loss, RecordQuadratic):
        rows[:, :2] = np.abs(rows[:, :2])
    return rows


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_clipped_gradients_are_those_of_the_loss_clipped_one_by_one(loss, scale) -> None:
    rows, w = table(loss, 30, RNG(1), scale), np.array([0.3, -0.7])
    found = clipped_mean_gradient(loss, rows, clip=0.5, domain=Ball(np.zeros(2), 1.0))(w)
    assert found == pytest.approx(clipped_mean_of(loss.gradients(w, rows), 0.5), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("loss", [*LOSSES, Ridge(Squared(), 0.7)], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("order", ["C", "F"])
def test_gradients_of_batches_are_those_of_their_records_to_the_last_bit(loss, order) -> None:
    rows, ball = np.asarray(table(loss, 60, RNG(6), 3.0), order=order), Ball(np.zeros(2), 1.0)
    if getattr(loss, "target", "none") != "none":
        rows[:5, :-1] = 0.0
    found = clipped_batch_gradient(loss, rows, clip=0.5, size=12, domain=ball)
    for w in RNG(7).standard_normal((5, 2)) / 4:
        members = RNG(8).permutation(60)[:12]
        alone = clipped_mean_gradient(loss, np.ascontiguousarray(rows[members]), clip=0.5, domain=ball)
        assert found(w, members).tobytes() == alone(w).tobytes()
        first = clipped_mean_gradient(loss, rows[12:24], clip=0.5, domain=ball)
        assert found(w, slice(12, 24)) == pytest.approx(first(w), rel=1e-12, abs=1e-15)


def test_rough_records_count_with_gradient_zero_and_penalties_are_not_clipped() -> None:
    rows, ball = table(Squared(), 40, RNG(2)), Ball(np.zeros(2), 1.0)
    keep = (rows[:, :2] ** 2).sum(axis=1) <= 1.5
    assert 0 < keep.sum() < 40
    w = np.array([0.5, 0.25])
    gradients = np.where(keep[:, np.newaxis], Squared().gradients(w, rows), 0.0)
    plain = clipped_mean_gradient(Squared(), rows, clip=0.3, domain=ball, smoothness=1.5)
    assert plain(w) == pytest.approx(clipped_mean_of(gradients, 0.3))
    ridge = clipped_mean_gradient(Ridge(Squared(), 2.0), rows, clip=0.3, domain=ball, smoothness=3.5)
    assert ridge(w) == pytest.approx(plain(w) + 2 * w)
    none = clipped_mean_gradient(Squared(), rows + 100, clip=0.3, domain=ball, smoothness=1.5)
    assert not none(w).any()


def test_smoothness_of_l4_on_the_set_is_the_largest_curvature_there() -> None:
    rows, ball = table(L4(), 20, RNG(3)), Ball(np.zeros(2), 0.7)
    w = ball.project(RNG(4).standard_normal((4000, 2)) * 3)
    x, t = rows[:, :2], rows[:, 2]
    curvature = (12 * (w @ x.T - t) ** 2).max(axis=0) * (x**2).sum(axis=1)
    bound = smoothness_upper(L4(), rows, ball)
    assert (curvature <= bound).all()
    assert curvature == pytest.approx(bound, rel=1e-2)


@pytest.mark.parametrize(
    "domain", [Ball(np.ones(3), 2.0), Box(-np.ones(3), np.array([1.0, 2.0, 3.0])), L1Ball(np.zeros(3), 1.0)]
)
def test_the_short_cut_projects_as_the_set_does(domain) -> None:
    for region in (domain, Localised(domain, domain.interior_point(), 0.4)):
        project = projection(region)
        for point in 3 * RNG(5).standard_normal((50, 3)):
            assert project(point) == pytest.approx(region.project(point), abs=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_the_short_cut_onto_a_ball_lands_surely_inside_it(scale) -> None:
    """Anywhere, and within rounding of the sphere, where the ball's own way is taken; inside a point stays as it is."""
    rng = RNG(9)
    ball = Ball(scale * rng.standard_normal(5), scale)
    project = projection(ball)
    for size in (0.3, 1 - 1e-8, 1 - 1e-12, 1.0, 1 + 1e-15, 1 + 1e-12, 1 + 1e-8, 2.0, 1e8):
        for offset in rng.standard_normal((20, 5)):
            point = ball.center + size * scale * offset / np.linalg.norm(offset)
            found, plain = project(point), ball.project(point)
            assert ball.contains(found)
            assert found == pytest.approx(plain, rel=0, abs=1e-14 * scale)
            if size < 1 - 1e-10:
                assert found.tobytes() == point.tobytes()


def dykstra(first, second, point, rounds=400):
    p = q = np.zeros_like(point)
    for _ in range(rounds):
        y = first.project(point + p)
        p = point + p - y
        point = second.project(y + q)
        q = y + q - point
    return point


def test_the_projection_onto_the_set_and_a_ball_is_dykstras() -> None:
    """P0's Remark 3 suggests Dykstra's algorithm; P4.C6's projection needs no rounds."""
    base, centre = L1Ball(np.zeros(4), 1.0), np.array([0.5, 0.2, 0.0, -0.1])
    region = around(base, centre, 0.3)
    for point in RNG(6).standard_normal((3, 4)):
        assert region.project(point) == pytest.approx(dykstra(base, Ball(centre, 0.3), point), abs=1e-5)
    assert around(base, centre, 9.0) is base


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(["squared", "logistic", "affine"]), st.integers(1, 40), st.floats(0.01, 0.5))
def test_generalised_linear_losses_are_as_stable_as_claimed(seed, loss, steps, pull) -> None:
    """2C/(nλ)(1 − (1 − ηλ)^T), on tables of every size, for all steps; also with a penalty."""
    rng = RNG(seed)
    n, alpha = int(rng.integers(2, 9)), 1.0
    rows = table({"squared": Squared(), "logistic": Logistic(), "affine": Affine()}[loss], n, rng, 10 ** rng.uniform(-1, 1))
    neighbour = rows.copy()
    neighbour[0] = table({"squared": Squared(), "logistic": Logistic(), "affine": Affine()}[loss], 1, rng, 3.0)[0]
    step = 10 ** rng.uniform(-1, 0) / alpha
    given = {"clip": 0.3, "step": step, "weight": pull / step, "steps": steps}
    found = [clipped_descent(d, loss=loss, domain="ball:3", smoothness=alpha, **given) for d in (rows, neighbour)]
    reach = sensitivity_supremum(n, **given).value
    assert np.linalg.norm(found[0] - found[1]) <= reach * (1 + 1e-9)
    assert reach <= sensitivity(n, **given).value


def test_the_sensitivity_is_attained() -> None:
    given = {"loss": "squared", "clip": 1.0, "step": 0.5, "weight": 1 / 32, "steps": 300}
    ratios = []
    for pair in worst_neighbours(8, 3, **given):
        a, b = (clipped_descent(d, domain="ball:50", smoothness=2.0, **given) for d in pair)
        ratios.append(np.linalg.norm(a - b) / sensitivity_supremum(8, **given).value)
    assert max(ratios) == pytest.approx(1.0, abs=1e-6)


def test_one_dimension_is_stable_for_all_losses() -> None:
    for seed in range(30):
        rng = RNG(seed)
        rows = np.abs(rng.standard_normal((4, 2))) * [1.0, 20.0]
        rows[:, 0] = np.minimum(rows[:, 0], 1.0)
        neighbour = rows.copy()
        neighbour[2] = [1.0, -30.0]
        given = {"clip": 0.5, "step": 1.0, "weight": 0.1, "steps": 50}
        a, b = (
            clipped_descent(d, loss="record-quadratic", domain="ball:9", smoothness=1.0, **given) for d in (rows, neighbour)
        )
        assert abs(a - b) <= sensitivity(4, **given).value * (1 + 1e-9)


# --- the refutation ---------------------------------------------------------------------------------------------------


def fixed_point(n, weight, sign):
    """Of Algorithm 2 on `turning_records`, by bisection in w₁ and then in closed form."""
    angle, share = 1.83 / math.sqrt(n), 1 - 1 / n
    pull, target = sign / n, 1 - 1.45 / n
    low, high = -1e9, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (
            (low, middle)
            if share * middle / math.hypot(middle, 1) + pull * math.cos(angle) + weight * middle > target
            else (middle, high)
        )
    return np.array([low, -(share / math.hypot(low, 1) + pull * math.sin(angle)) / weight])


def test_the_counterexample_by_a_second_method() -> None:
    """The fixed points, solved for by themselves, are as far apart as the iterates, and √n times the claimed sensitivity or so."""
    n, weight = 32, 2.0**-10
    rows, neighbour, start = turning_records(n, weight=weight)
    given = {"clip": 1.0, "step": 1.0, "weight": weight, "steps": 15_000}
    for data, sign in ((rows, 1), (neighbour, -1)):
        found = clipped_descent(
            data, loss="record-quadratic", domain=Ball(np.zeros(2), 1e6), smoothness=1.0, start=start, **given
        )
        assert found == pytest.approx(fixed_point(n, weight, sign), rel=1e-3)
    for size in (32, 128, 1024, 10**5):
        lam = size**-4.0
        apart = np.linalg.norm(fixed_point(size, lam, 1) - fixed_point(size, lam, -1)) * size * lam / 2
        assert 0.7 * math.sqrt(size) < apart < 1.1 * math.sqrt(size)


def test_the_published_claim_is_refuted_and_the_shipped_witness_replays() -> None:
    text = (Path(verification.__file__).parent / "counterexamples" / "P0.A3.json").read_text()
    found = replay_witness(json.loads(text))
    assert found.exceeds
    assert found.bound == 1e-5
    assert found.measured == pytest.approx(8.71e-4, rel=1e-3)


def test_the_counterexample_is_one_for_the_last_point_alone() -> None:
    """The later phases add noise only, and the set is 3000 standard deviations wide: the δ of the output is all but the same."""
    given = counterexample()
    scales = [noise_scale(phase.sensitivity, privacy(epsilon=given["epsilon"], delta=1e-5)) for phase in given["phases"]]
    moved = 269.664 / math.hypot(*scales)
    assert gaussian_delta(moved, given["epsilon"]) - 2 * math.erfc(1000) == pytest.approx(8.71e-4, rel=2e-3)


def test_other_losses_warn_and_generalised_linear_ones_do_not() -> None:
    phases = (Phase(2, 0.5, 1.0, 1.0, 9.0, 2),)
    data = np.ones((4, 2))
    with pytest.warns(UnprovedClaim, match=r"P0\.Alg2\.stability"):
        lnc_gm(
            data,
            Channel.sampling(RNG(0)),
            loss=Quadratic(np.eye(2)),
            domain="ball:1",
            phases=phases,
            smoothness=1.0,
            rho=1.0,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lnc_gm(data, Channel.sampling(RNG(0)), loss="affine", domain="ball:1", phases=phases, smoothness=1.0, rho=1.0)
        given = {"loss": "record-quadratic", "domain": "ball:1", "phases": phases, "smoothness": 1.0}
        lnc_gm(data, Channel.sampling(RNG(0)), rho=1.0, **given)


# --- parameters -------------------------------------------------------------------------------------------------------


def test_published_phases_are_those_of_line_3() -> None:
    n, d, eta, k, p, L, r = 1000, 5, 0.3, 3.0, 1.25, 7.0, 2.0
    eps, delta = 1.5, 1e-4
    phases = published_phases(
        n, dimension=d, step=eta, lipschitz=L, moment_bound=r, moment_order=k, exponent=p, epsilon=eps, delta=delta
    )
    assert len(phases) == 9
    for i, phase in enumerate(phases, start=1):
        size, step = n // 2**i, eta / 4**i
        lam = 1 / (step * size ** (2 * p if i == 1 else p))
        clip = r * (eps * size / math.sqrt(d * math.log(1 / delta) * math.log(n))) ** (1 / k)
        assert (phase.size, phase.steps) == (size, math.ceil(2 * math.log(n) / (lam * step)))
        assert (phase.step, phase.weight, phase.clip, phase.radius) == pytest.approx((step, lam, clip, 2 * L / lam))
        scale = 8 * clip * math.sqrt(math.log(1 / delta)) / (size * lam * eps)
        assert noise_scale(phase.sensitivity, ApproxDP(eps, delta)) == pytest.approx(scale)
    assert sum(phase.size for phase in phases) <= n


def test_published_step_is_line_3_of_algorithm_4() -> None:
    given = {"dimension": 3, "radius": 2.0, "lipschitz": 5.0, "moment_bound": 1.5, "moment_order": 2.0, "failure": 0.01}
    n, p, eps = 400, 1.5, 0.7
    expected = (
        2.0
        / n**0.75
        * min(
            1 / 5,
            1 / (1.5 * n**1.25) * (eps * n / math.sqrt(3 * math.log(n))) ** 0.5,
            1 / (n**0.25 * 25 * math.sqrt(math.log(n) * math.log(100))),
        )
    )
    assert published_step(n, smoothness=1e-3, epsilon=eps, delta=1e-5, exponent=p, **given) == pytest.approx(expected)
    assert published_step(n, smoothness=1e9, epsilon=eps, delta=1e-5, exponent=p, **given) == 4e-9


def test_the_concentrated_variant_replaces_what_remark_5_says() -> None:
    assert private_share(ZCDP(0.25), 4) == 4.0
    assert noise_scale(3.0, ZCDP(0.5)) == 3.0
    for delta in (1e-9, 1e-3, 0.5, 0.9):  # Definition 3's noise is enough up to ε = 2log(1/δ), and √log(1/δ)
        for epsilon in (2 * math.log(1 / delta), math.sqrt(math.log(1 / delta)), 1e-3):
            assert gaussian_delta(1 / noise_scale(1.0, ApproxDP(epsilon, delta)), epsilon) <= delta
    with pytest.raises(InputError, match="Definition 3"):
        noise_scale(1.0, ApproxDP(1.0, 0.999))


def test_tuned_phases_are_a_data_independent_plan_of_the_same_privacy() -> None:
    given = {"dimension": 20, "diameter": 2.0, "smoothness": 60.0, "moment_bound": 3.0, "moment_order": 4.0}
    claim = {"epsilon": 2.0, "delta": 1e-5}
    phases = tuned_phases(10_000, **given, **claim, steps=50)
    assert phases[0].size == 5000
    features = RNG(0).standard_normal((10_000, 20))
    rows = np.column_stack([features, features @ np.full(20, 0.2)])
    point, transcript = run(lnc_gm, rows, RNG(1), loss="squared", domain="ball:1", phases=phases, smoothness=60.0, **claim)
    assert len(transcript) == 4
    assert Squared().mean_value(point, rows) < 0.7 * Squared().mean_value(np.zeros(20), rows)


# --- the repaired variant ---------------------------------------------------------------------------------------------


def test_the_repaired_variant_is_stable_where_clipped_descent_is_not() -> None:
    """One ill-conditioned matrix for all records, which `Quadratic` can say."""
    loss, n = Quadratic(np.diag([1.0, 1e-2])), 16
    phases = (Phase(n, 1.0, 1 / 64, 1.0, 1e6, 2000),)
    rows = np.tile([-3.0, 250.0], (n, 1))
    neighbour = rows.copy()
    rows[0], neighbour[0] = [-300.0, 3e4], [300.0, -3e4]
    given = {"loss": loss, "domain": "ball:99", "phases": phases, "epsilon": 2.0, "delta": 1e-3}
    _, here = run(localised_extension, rows, RNG(0), **given)
    _, there = replay(localised_extension, neighbour, here, **given)
    moved = np.linalg.norm(here.releases[0].law.location - there.releases[0].law.location)
    assert moved <= here.releases[0].sensitivity.value
    assert here.releases[0].sensitivity.value == pytest.approx(2.2 * 64 / n)
    assert here.releases[0].law.scale == pytest.approx(2.2 * 4 * 4 * math.sqrt(math.log(1000)) / 2)
