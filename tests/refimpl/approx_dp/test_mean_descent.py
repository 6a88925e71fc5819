"""P2 Algorithm 1: the composition in exact arithmetic, the run by hand, its parameters by a second method, what is refused."""

import math
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from tailproof.refimpl.approx_dp import private_gradient_descent
from tailproof.refimpl.approx_dp.mean_descent import (
    conditional_privacy,
    privacy,
    published_parameters,
    total_budget,
    tuned_parameters,
)
from tailproof.refimpl.channel import Channel, run
from tailproof.refimpl.claims import ZCDP, ApproxDP, implied, split_for_advanced
from tailproof.refimpl.losses import Quadratic
from tailproof.refimpl.validation import InputError

PRIVATE = {"epsilon": 0.8, "delta": 1e-3}
STEPS: dict[str, Any] = {"loss": "squared", "domain": "ball:1", **PRIVATE, "clip": 1.0, "steps": 3, "learning_rate": 0.3}


@pytest.mark.parametrize("delta", [0.9, 0.5, 0.1, 1e-3, 1e-9, 1e-300])
@pytest.mark.parametrize("epsilon", [1.0, 0.999, 0.3, 1e-3, 1e-12])
def test_both_compositions_give_the_claim_in_ball_arithmetic(epsilon: float, delta: float) -> None:
    """ρ + 2√(ρ ln(1/δ)) ≤ ε for (15); √(2T ln(2/δ))ε₀ + Tε₀(e^{ε₀} − 1) ≤ 0.73ε and Tδ₀ + δ/2 = δ for (32)."""
    ctx.prec = 200
    eps, log = arb(epsilon), -arb(delta).log()
    root = eps / (1 + 2 * log.sqrt())
    assert (root * root + 2 * root * log.sqrt() <= eps) or root * root == root  # equality needs ρ = 1
    assert total_budget(epsilon, delta) == pytest.approx(float((root * root).mid()), rel=1e-14)
    twice = (2 / arb(delta)).log()
    for steps in (1, 2, 10, 10**6):
        share = eps / (2 * (2 * steps * twice).sqrt())
        assert (2 * steps * twice).sqrt() * share + steps * share * share.expm1() < arb("0.73") * eps
        assert share < arb("0.43")
        ours = split_for_advanced(ApproxDP(epsilon, delta), steps)
        assert ours.epsilon == pytest.approx(float(share.mid()), rel=1e-14)
        assert steps * ours.delta + delta / 2 == pytest.approx(delta, rel=1e-14)


@pytest.mark.parametrize("extra", [{}, {"estimator": "updating", "groups": 4}])
def test_the_run_by_hand_from_what_it_released(extra: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_t(2, size=(12, 3))
    found, transcript = run(private_gradient_descent, data, rng, **STEPS, **extra, start=[0.1, 0.2])
    w, points = np.array([0.1, 0.2]), []
    for t in (1, 2, 3):
        points.append(w)
        released = [release for release in transcript.spending if release.name.startswith(f"step{t}/")]
        gradients = (data[:, :2] @ w - data[:, 2])[:, None] * data[:, :2]
        clipped = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1))[:, None]
        for release in released:
            rows = np.arange(12) if release.rows is None else np.asarray(release.rows)
            assert release.law.location == pytest.approx(clipped[rows].mean(axis=0), rel=1e-12)  # type: ignore[attr-defined]
        if extra:
            return  # the second point is the answer of program (27), which has its own tests
        w = w - 0.3 * np.asarray(released[0].output)
        w = w / max(1.0, float(np.linalg.norm(w)))
    assert found == pytest.approx(np.mean(points, axis=0), rel=1e-12)


def test_spends_compose_to_the_claim() -> None:
    data = np.random.default_rng(0).standard_t(2, size=(40, 3))
    for extra in (
        {},
        {"estimator": "updating", "groups": 4},
        {"estimator": "updating", "groups": 4, "amplification": "none"},
    ):
        _, transcript = run(private_gradient_descent, data, np.random.default_rng(1), **STEPS, **extra)
        for record in range(40):
            touching = [r.spend for r in transcript.spending if r.rows is None or record in np.asarray(r.rows)]
            assert len(touching) == 3
            spent, allowed = implied([s for s in touching if s is not None], privacy(**PRIVATE))
            assert spent <= allowed
            whole = conditional_privacy(**PRIVATE, steps=3, **extra)  # type: ignore[arg-type]
            assert math.fsum(s.rho for s in touching if isinstance(s, ZCDP)) == pytest.approx(whole.rho, rel=1e-12)


def test_published_parameters_by_a_second_method() -> None:
    n, d, eps, delta = 10_000, 20, 1.0, 1e-5
    common: dict[str, Any] = {"epsilon": eps, "delta": delta, "moment_bound": 1.0, "smoothness": 2.0}
    rho = (eps / (1 + 2 * math.log(1 / delta) ** 0.5)) ** 2
    for p in (2.0, 3.0, 8.0):
        found = published_parameters(n, d, moment_order=p, **common)
        first, second = math.log(n) + math.log(rho) / 2 - math.log(d) / 2, math.log(n / d)
        radius = math.exp(math.log(d) / 2 + min(first, second) / p)
        assert found.clip == pytest.approx(radius, rel=1e-12)
        assert found.steps == math.ceil(rho * (n / radius) ** 2 / d)
        assert found.learning_rate == pytest.approx((2 * found.steps * 4.0) ** -0.5, rel=1e-12)
        doubled = published_parameters(n, d, moment_order=p, **{**common, "moment_bound": 2.0})
        assert (doubled.clip, doubled.steps) == (2 * found.clip, found.steps)
    updating = published_parameters(n, d, moment_order=2.0, estimator="updating", **common)
    assert updating.clip**2 == pytest.approx(d * n * eps / d**0.5, rel=1e-12)
    assert (updating.steps, updating.groups) == (112, math.ceil(800 * math.log(n)))
    assert updating.inner_steps >= 2 * math.log(100 / 4) / math.log(256 / 233) > updating.inner_steps - 1
    with pytest.raises(InputError, match="at least 6314 are needed"):
        published_parameters(2677, d, moment_order=2.0, estimator="updating", **common)


def test_tuned_parameters_do_not_ask_for_more_steps_than_their_noise_allows() -> None:
    common: dict[str, Any] = {**PRIVATE, "moment_order": 2.0, "moment_bound": 1.0, "smoothness": 1.0, "diameter": 2.0}
    few, many = (tuned_parameters(n, 20, **common) for n in (300, 10_000))
    assert 1 <= few.steps < many.steps == 50
    assert many.clip == pytest.approx(2 * math.sqrt(20))
    for n, chosen in ((300, few), (10_000, many)):
        noise = chosen.steps * 20 * 2 * chosen.clip**2 / (total_budget(0.8, 1e-3) * n**2)

        def bound(eta: float, steps: int = chosen.steps, noise: float = noise) -> float:
            return 4 / (2 * eta * steps) + eta * (4 + noise)  # (11)

        assert bound(chosen.learning_rate) <= min(bound(chosen.learning_rate * factor) for factor in (0.9, 1.1))
    data = np.zeros((400, 20))
    for estimator in ("clipping", "updating"):
        chosen = tuned_parameters(400, 20, estimator=estimator, **common)
        chosen_keywords = {**chosen.keywords(), "method": "heuristic", "steps": 1, "inner_steps": 1}
        run(
            private_gradient_descent,
            data,
            np.random.default_rng(0),
            loss=Quadratic(np.eye(20)),
            domain="ball:1",
            **PRIVATE,
            **chosen_keywords,
        )


def test_groups_that_only_shuffling_could_cover_are_refused() -> None:
    """So many groups of two records that one group's ρ does not imply a step's (ε₀, δ₀), as it does for fewer."""
    private = {"epsilon": 1.0, "delta": 1e-7}
    asked: dict[str, Any] = {**STEPS, **private, "loss": "affine", "steps": 1, "estimator": "updating"}
    for groups, proved in ((200_000, True), (400_000, False)):
        assert groups > 64 * math.e**4 * math.log(8 / (private["delta"] / 2))
        conditional = conditional_privacy(**private, steps=1, estimator="updating", groups=groups)
        spent, allowed = implied([conditional], split_for_advanced(privacy(**private), 1))
        assert (spent <= allowed) == proved
    channel = Channel.sampling(np.random.default_rng(0))
    with pytest.raises(InputError, match="the claim rests on shuffling"):
        private_gradient_descent(np.zeros((800_000, 1)), channel, **asked, groups=400_000)
    assert not channel.transcript().spending
