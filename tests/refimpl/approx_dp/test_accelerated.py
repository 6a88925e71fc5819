"""P0's Algorithms 4 to 7, the shuffling theorem they cite, and the DP-SGD baseline with its accountant."""

import math
import warnings
from itertools import pairwise

import dp_accounting
import numpy as np
import pytest
from dp_accounting.rdp import RdpAccountant
from scipy.stats import binom, norm

from tailproof.bounds.papers import p2
from tailproof.refimpl.approx_dp import (
    accelerated,
    approximation,
    dp_sgd,
    iterated,
    iterated_lnc_gm,
    iterated_pnca_sgd,
    lnc_gm,
    pnca_sgd,
    private_stochastic_approximation,
)
from tailproof.refimpl.approx_dp.accelerated import calibration, conditional_privacy, published_parameters
from tailproof.refimpl.approx_dp.accountant import SHARP, _log_moments, epsilon_of, noise_multiplier, subsampled_renyi
from tailproof.refimpl.approx_dp.approximation import Stage
from tailproof.refimpl.approx_dp.iterated import part_sizes
from tailproof.refimpl.approx_dp.iterated_accelerated import Part, published_parts
from tailproof.refimpl.approx_dp.localised import Phase
from tailproof.refimpl.approx_dp.sgd import tuned_parameters
from tailproof.refimpl.approx_dp.shuffling import local_budget, shuffled_epsilon
from tailproof.refimpl.channel import Channel, run
from tailproof.refimpl.claims import ZCDP, ApproxDP, UnprovedClaim, gaussian_delta, zcdp_epsilon
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.laws import Point
from tailproof.refimpl.losses import Quadratic, Squared
from tailproof.refimpl.validation import InputError

RNG = np.random.default_rng
CLAIM = {"epsilon": 0.3, "delta": 1e-3}
PNCA = {"loss": "squared", "domain": "ball:1", "clip": 1.0, "steps": 4, "proximity": 2.0}


# --- shuffling --------------------------------------------------------------------------------------------------------


def test_the_shuffling_theorem_is_the_one_that_p2_cites_with_its_last_term_over_n() -> None:
    for n, e0, slack in ((1000, 0.1, 1e-4), (10**6, 0.5, 1e-9)):
        theirs = math.expm1(p2.shuffled_epsilon(epsilon0=e0, slack=slack, groups=n)) / math.tanh(e0 / 2)
        ours = math.expm1(shuffled_epsilon(e0, n=n, slack=slack)) / math.tanh(e0 / 2)
        assert theirs - ours == pytest.approx(8 * math.exp(e0) * (1 / math.sqrt(n) - 1 / n))


def test_a_local_budget_shuffles_to_the_claim_and_no_further() -> None:
    claim = ApproxDP(0.05, 1e-6)
    local = local_budget(claim, n=20_000)
    epsilon = shuffled_epsilon(local.epsilon, n=20_000, slack=5e-7)
    assert epsilon == pytest.approx(0.05, rel=1e-9)
    assert epsilon <= 0.05
    total = 5e-7 + (math.exp(0.05) + 1) * (1 + math.exp(-local.epsilon) / 2) * 20_000 * local.delta
    assert total == pytest.approx(1e-6)


def test_shuffled_randomised_responses_are_within_the_theorem() -> None:
    """Exact: the number of ones among n answers to a question of which one record's truth changes."""
    n, e0, slack = 400, 0.5, 1e-3
    p = math.exp(e0) / (1 + math.exp(e0))
    k = np.arange(n + 1)
    others = binom.pmf(k, n - 1, 1 - p), binom.pmf(k - 1, n - 1, 1 - p)
    one, zero = p * others[1] + (1 - p) * others[0], (1 - p) * others[1] + p * others[0]
    epsilon = shuffled_epsilon(e0, n=n, slack=slack)
    for a, b in ((one, zero), (zero, one)):
        assert np.maximum(a - math.exp(epsilon) * b, 0).sum() <= slack


@pytest.mark.parametrize(("n", "epsilon", "message"), [(100, 0.01, "16·log"), (10_000, 0.2, "Theorem 6 needs")])
def test_preconditions_of_shuffling_are_checked(n, epsilon, message) -> None:
    with pytest.raises(InputError, match=message):
        local_budget(ApproxDP(epsilon, 1e-5), n=n)


# --- Algorithm 6 ------------------------------------------------------------------------------------------------------


def ac_sa(rows, order, slopes, T, eta, clip):
    """Algorithm 6 with given noisy gradients, written down a second time, on the unit ball, for squared loss."""
    project = Ball(np.zeros(2), 1.0).project
    w, ag = np.zeros(2), np.zeros(2)
    for t in range(1, T + 1):
        a = 2 / (t + 1)
        md = (1 - a) * ag + a * w
        batch = rows[order[(t - 1) * (len(rows) // T) : t * (len(rows) // T)]]
        g = (batch[:, :2] @ md - batch[:, 2])[:, np.newaxis] * batch[:, :2]
        g = np.array([row * min(1.0, clip / np.linalg.norm(row)) for row in g])
        slopes.append(g)
        w = project(w - a / (4 * eta / (t * (t + 1))) * g.mean(axis=0))
        ag = a * w + (1 - a) * ag
    return ag


@pytest.mark.parametrize("noise", ["record", "batch", "central"])
def test_without_noise_it_is_accelerated_descent(noise, monkeypatch) -> None:
    monkeypatch.setattr(accelerated, "Gaussian", Point)
    rows = RNG(0).standard_normal((240, 3))
    found, transcript = run(pnca_sgd, rows, RNG(1), **PNCA, **CLAIM, noise=noise)
    gradients = []
    expected = ac_sa(rows, np.asarray(transcript.releases[0].output), gradients, 4, 2.0, 1.0)
    assert found == pytest.approx(expected, abs=1e-12)
    first = np.asarray(transcript.releases[1].output)
    assert first == pytest.approx(gradients[0].ravel() if noise == "record" else gradients[0].mean(axis=0), abs=1e-12)
    assert sum(len(release.rows) for release in transcript.spending) == 240


def test_record_noise_is_that_of_a_local_randomiser_and_batch_noise_that_of_the_box() -> None:
    n, T, eps, delta, C = 1000, 10, 0.1, 1e-4, 3.0
    local = local_budget(ApproxDP(eps, delta), n=n)
    record = calibration(n, clip=C, steps=T, spend=ApproxDP(eps, delta), noise="record")
    assert gaussian_delta(2 * C / record.scale, local.epsilon) <= local.delta
    assert record.scale == pytest.approx(math.sqrt(8 * C**2 * math.log(1 / local.delta) / local.epsilon**2))
    box = calibration(n, clip=C, steps=T, spend=ApproxDP(eps, delta), noise="batch")
    assert box.scale**2 == pytest.approx(128 * C**2 * T * math.log(1 / delta) / (n**2 * eps**2))
    ratio = (
        record.scale**2 * T / n / box.scale**2
    )  # the averaged noise of the proof against the box's: a log(n/δ), and constants
    assert 0.5 < ratio / math.log(n / delta) < 3


def test_the_box_is_proved_for_few_steps_and_warns_for_many() -> None:
    """ρ = Tε²/(64 log(1/δ)) alone implies (ε, δ) up to T of about 16, so that no shuffling is needed there."""
    for steps, proved in ((4, True), (12, True), (60, False)):
        spend = conditional_privacy(n=240, clip=1.0, steps=steps, noise="batch", **CLAIM)
        assert spend.rho == pytest.approx(steps * 0.09 / (64 * math.log(1000)))
        assert (zcdp_epsilon(spend.rho, 1e-3) <= 0.3) == proved
        data, given = np.zeros((240, 3)), {**PNCA, "steps": steps, "noise": "batch", **CLAIM}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if proved:
                pnca_sgd(data, Channel.sampling(RNG(0)), **given)
            else:
                with pytest.raises(UnprovedClaim, match=r"P0\.Alg6\.variance"):
                    pnca_sgd(data, Channel.sampling(RNG(0)), **given)


def test_published_parameters_of_algorithm_6() -> None:
    n, d, D, beta, r, k, eps, delta = 10_000, 5, 2.0, 30.0, 1.5, 4.0, 0.05, 1e-6
    law = {"dimension": d, "diameter": D, "smoothness": beta, "moment_bound": r, "moment_order": k}
    given = published_parameters(n, **law, epsilon=eps, delta=delta)
    x = eps * n / math.sqrt(d * math.log(1 / delta))
    assert given["steps"] == round(min(math.sqrt(beta * D / r) * x ** (3 / 8), math.sqrt(beta * D / r) * n**0.25))
    assert given["clip"] == pytest.approx(r * x**0.25)
    assert given["proximity"] >= 2 * beta


# --- Algorithms 4, 5 and 7 --------------------------------------------------------------------------------------------

LAW = {"dimension": 2, "lipschitz": 2.0, "moment_bound": 1.0, "moment_order": 2.0}
STEPS = {"radius": 2.0, "smoothness": 2.0, "failure": 0.1, "rho": 0.5}


def test_one_stage_in_a_large_ball_is_lnc_gm() -> None:
    phases = (Phase(4, 0.5, 0.125, 1.0, 50.0, 20), Phase(2, 0.25, 0.5, 0.5, 1.0, 9))
    rows = RNG(2).standard_normal((8, 3))
    given = {"loss": "squared", "domain": "ball:5", "smoothness": 2.0, "rho": 0.5}
    expected, _ = run(lnc_gm, rows, RNG(3), phases=phases, **given)
    for function, radius in ((private_stochastic_approximation, 99.0), (iterated_lnc_gm, None)):
        found, _ = run(function, rows, RNG(3), stages=(Stage(8, radius, phases),), **given)
        assert np.array_equal(found, expected)


def test_stages_stay_in_their_balls() -> None:
    phases = (Phase(4, 0.5, 0.125, 1.0, 50.0, 20),)
    stages = tuple(Stage(4, radius, phases) for radius in (0.5, 0.25))
    point, transcript = run(
        private_stochastic_approximation,
        10 * RNG(4).standard_normal((8, 3)),
        RNG(5),
        loss="squared",
        domain="l1:9",
        smoothness=200.0 / 100,
        stages=stages,
        rho=0.5,
    )
    assert np.linalg.norm(point) <= 0.75 * (1 + 1e-9)
    assert [release.rows for release in transcript] == [range(4), range(4, 8)]


def test_published_stages_of_algorithm_4() -> None:
    stages = approximation.published_stages(4096, **LAW, **STEPS, horizon=1e-6)
    count = math.floor(0.5 * math.log2(2 * 4096 / 12)) - 1
    assert [stage.size for stage in stages] == [4096 // count] * count
    assert [stage.radius for stage in stages] == [2.0 / 2**i for i in range(count)]
    with pytest.raises(InputError, match="too small"):
        approximation.published_stages(16, **LAW, **STEPS)


@pytest.mark.parametrize("theta_bar", [1.3, 2.0, 4.0])
@pytest.mark.parametrize("n", [2**10, 2**16, 10**6])
def test_the_parts_of_algorithm_5_fit_into_the_data(n, theta_bar) -> None:
    power = math.log(2) / math.log(theta_bar)
    if n / math.log2(n) ** power < 4:
        with pytest.raises(InputError, match="too small"):
            part_sizes(n, theta_bar=theta_bar)
        return
    sizes = part_sizes(n, theta_bar=theta_bar)
    assert sum(sizes) <= n
    assert len(sizes) == math.floor(power * math.log2(math.log2(n)))
    assert all(second // 2 in (first, first + 1) for first, second in pairwise(sizes))


def test_theta_bar_must_exceed_one_and_epsilon_may_reach_twice_the_logarithm() -> None:
    with pytest.raises(InputError, match=r"theta_bar = 1\.0: must be > 1"):
        iterated.published_stages(1024, theta_bar=1.0, **LAW, **STEPS)
    stages = (Stage(4, None, (Phase(4, 0.5, 0.125, 1.0, 50.0, 2),)),)
    given = {"loss": "squared", "domain": "ball:1", "smoothness": 2.0, "stages": stages, "delta": 1e-3}
    run(iterated_lnc_gm, np.zeros((4, 3)), RNG(0), epsilon=13.0, **given)
    with pytest.raises(InputError, match="Theorem 3 needs"):
        run(iterated_lnc_gm, np.zeros((4, 3)), RNG(0), epsilon=14.0, **given)
    with pytest.raises(InputError, match="Theorem 1 needs"):
        run(private_stochastic_approximation, np.zeros((4, 3)), RNG(0), epsilon=13.0, **given)
    with pytest.warns(UnprovedClaim):
        run(iterated_lnc_gm, np.zeros((4, 2)), RNG(0), epsilon=1.0, **(given | {"loss": Quadratic(np.eye(2))}))


def test_one_part_of_algorithm_7_is_algorithm_6() -> None:
    rows = RNG(6).standard_normal((240, 3))
    expected, _ = run(pnca_sgd, rows, RNG(7), **PNCA, **CLAIM)
    part = Part(240, PNCA["clip"], PNCA["steps"], PNCA["proximity"])
    found, _ = run(iterated_pnca_sgd, rows, RNG(7), loss="squared", domain="ball:1", parts=(part,), **CLAIM)
    assert np.array_equal(found, expected)
    with pytest.raises(InputError, match="the parts need 480"):
        run(iterated_pnca_sgd, rows, RNG(7), loss="squared", domain="ball:1", parts=(part, part), **CLAIM)
    with pytest.raises(InputError, match="Theorem 6 needs"):
        run(iterated_pnca_sgd, rows, RNG(7), loss="squared", domain="ball:1", parts=(part,), epsilon=0.8, delta=1e-3)


def test_published_parts_of_algorithm_7() -> None:
    law = {"dimension": 2, "diameter": 2.0, "smoothness": 4.0, "moment_bound": 1.0, "moment_order": 2.0}
    parts = published_parts(2**16, theta_bar=2.0, epsilon=0.01, delta=1e-6, **law)
    assert [part.size for part in parts] == part_sizes(2**16, theta_bar=2.0)
    for part in parts:
        expected = published_parameters(part.size, epsilon=0.01, delta=1e-6, **law)
        assert (part.clip, part.steps, part.proximity) == (expected["clip"], expected["steps"], expected["proximity"])


# --- the baseline -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "m", "T", "z"),
    [(1000, 100, 50, 2.0), (10_000, 100, 500, 1.0), (1000, 500, 20, 5.0), (100, 10, 3, 0.7), (60, 20, 40, 20.0)],
)
def test_the_accountant_agrees_with_another(n, m, T, z) -> None:
    """dp-accounting has the same two theorems; the best orders are among those here."""
    other = RdpAccountant(list(range(2, SHARP + 1)), dp_accounting.NeighboringRelation.REPLACE_ONE)
    event = dp_accounting.SampledWithoutReplacementDpEvent(n, m, dp_accounting.GaussianDpEvent(z))
    other.compose(dp_accounting.SelfComposedDpEvent(event, T))
    ours = epsilon_of(share=m / n, multiplier=z, steps=T, delta=1e-5)
    assert ours == pytest.approx(other.get_epsilon(1e-5), rel=1e-9)


def test_the_moments_by_exact_sums() -> None:
    from mpmath import mp

    for z in (0.5, 1.0, 7.0, 100.0):
        logs = _log_moments(z)
        with mp.workdps(200):
            for order in (2, 4, 10, SHARP):
                exact = mp.fsum(
                    (-1) ** i * mp.binomial(order, i) * mp.exp(mp.mpf((order - i) * (order - i - 1)) / (2 * mp.mpf(z) ** 2))
                    for i in range(order + 1)
                )
                assert logs[order // 2] == pytest.approx(float(mp.log(exact)), rel=1e-10, abs=1e-10)


def test_the_accountant_bounds_the_exact_divergence_of_a_sum() -> None:
    """Replace-one, in one dimension: a mixture (1 − γ)N(0, z²) + γN(±1/2, z²) is what a batch's query shows."""
    for gamma, z in ((0.1, 1.0), (0.3, 2.0), (0.5, 0.8)):
        x = np.linspace(-40, 40, 400_001)
        p = (1 - gamma) * norm.pdf(x, 0, z) + gamma * norm.pdf(x, 0.5, z)
        q = (1 - gamma) * norm.pdf(x, 0, z) + gamma * norm.pdf(x, -0.5, z)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(q > 0, p / q, 1.0)
        for order in (2, 3, 8):
            exact = math.log(np.trapezoid(q * ratio**order, x)) / (order - 1)
            assert exact <= subsampled_renyi(order, share=gamma, multiplier=z)


def test_sampling_amplifies_and_all_records_do_not() -> None:
    assert subsampled_renyi(8, share=1.0, multiplier=2.0) == 1.0
    assert subsampled_renyi(8, share=0.0, multiplier=2.0) == 0.0
    assert subsampled_renyi(8, share=0.01, multiplier=2.0) < 0.01
    z = noise_multiplier(epsilon=1.0, delta=1e-5, share=0.2, steps=10)
    assert epsilon_of(share=0.2, multiplier=z, steps=10, delta=1e-5) <= 1.0
    assert epsilon_of(share=0.2, multiplier=z * (1 - 1e-6), steps=10, delta=1e-5) > 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert noise_multiplier(epsilon=1e3, delta=0.1, share=0.5, steps=1) < 0.1


def test_dp_sgd_steps_along_noisy_means_of_random_batches() -> None:
    rows = RNG(8).standard_normal((30, 3))
    given = {
        "loss": "squared",
        "domain": "ball:1",
        "clip": 0.7,
        "batch": 10,
        "steps": 3,
        "step": 0.5,
        "epsilon": 1.0,
        "delta": 1e-3,
    }
    last, transcript = run(dp_sgd, rows, RNG(9), **given)
    point, total = np.zeros(2), np.zeros(2)
    for order, release in zip(transcript.releases[::2], transcript.releases[1::2], strict=True):
        members = np.asarray(order.output)[:10]
        assert np.array_equal(release.rows, members)
        gradients = Squared().gradients(point, rows[members])
        clipped = [g * min(1.0, 0.7 / np.linalg.norm(g)) for g in gradients]
        assert release.law.location == pytest.approx(np.mean(clipped, axis=0), abs=1e-12)
        point = Ball(np.zeros(2), 1.0).project(point - 0.5 * np.asarray(release.output))
        total += point
    assert last == pytest.approx(point)
    average, _ = run(dp_sgd, rows, RNG(9), **given, output="average")
    assert average == pytest.approx(total / 3)
    z = noise_multiplier(epsilon=1.0, delta=1e-3, share=1 / 3, steps=3)
    assert release.law.scale == pytest.approx(z * 2 * 0.7 / 10)
    assert release.spend == ZCDP(1 / (2 * z**2))


def test_the_tuned_baseline_learns() -> None:
    features = RNG(0).standard_normal((10_000, 20))
    rows = np.column_stack([features, features @ np.full(20, 0.2)])
    claim = {"epsilon": 1.0, "delta": 1e-5}
    given = tuned_parameters(10_000, dimension=20, diameter=2.0, moment_bound=4.0, **claim, steps=100)
    point, _ = run(dp_sgd, rows, RNG(1), loss="squared", domain="ball:1", **given, **claim)
    assert Squared().mean_value(point, rows) < 0.4 * Squared().mean_value(np.zeros(20), rows)


def test_released_gradients_of_worst_neighbours_in_a_random_order_stay_below_the_claim() -> None:
    """All noisy gradients seen, T = n, d = 1: one record at ±C, all others at −C.  The exact losses of 20 000 transcripts.

    None is above ε, so δ(ε) ≤ 13.9/20000 < δ at confidence 1 − 1e-6: for the proof's noise, and for the box's.
    """
    n, eps = 240, CLAIM["epsilon"]
    for noise, seed in (("record", 1), ("batch", 2)):
        scale = calibration(n, clip=1.0, steps=n, spend=ApproxDP(**CLAIM), noise=noise).scale
        rng = RNG(seed)
        for _ in range(4):
            quiet = -1 + scale * rng.standard_normal((5000, n))
            moved = quiet.copy()
            moved[:, 0] += 2  # which one is not seen: the likelihood ratio is a mean over all
            losses = [np.log(np.mean(np.exp(2 * x / scale**2), axis=1)) for x in (moved, quiet)]
            assert losses[0].max() <= eps
            assert -losses[1].min() <= eps


def test_tuned_presets_learn() -> None:
    """n = 10⁴, d = 20, ε = 2: less than half of the starting point's risk is left."""
    n, d, claim = 10_000, 20, {"epsilon": 2.0, "delta": 1e-5}
    features = RNG(0).standard_normal((n, d))
    rows = np.column_stack([features, features @ np.full(d, 0.2)])
    law = {"dimension": d, "smoothness": 60.0, "moment_bound": 3.0, "moment_order": 4.0, **claim}
    stages = approximation.tuned_stages(n, radius=1.0, **law), iterated.tuned_stages(n, theta_bar=2.0, radius=1.0, **law)
    risk = {**law, "smoothness": 1.0, "diameter": 2.0, "noise": "central"}
    for function, given in (
        (private_stochastic_approximation, {"stages": stages[0], "smoothness": 60.0}),
        (iterated_lnc_gm, {"stages": stages[1], "smoothness": 60.0}),
        (pnca_sgd, published_parameters(n, **risk)),
        (iterated_pnca_sgd, {"parts": published_parts(n, theta_bar=2.0, **risk), "noise": "central"}),
    ):
        point, _ = run(function, rows, RNG(1), loss="squared", domain="ball:1", **claim, **given)
        assert Squared().mean_value(point, rows) < 0.5 * Squared().mean_value(np.zeros(d), rows)
