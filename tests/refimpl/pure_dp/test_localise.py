"""The localised set holds the minimiser as often as it says, and is no larger than it must be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tailproof.refimpl.channel import replay, run
from tailproof.refimpl.claims import ZCDP, PureDP
from tailproof.refimpl.domains import Ball, Box, Domain
from tailproof.refimpl.extension.certificate import Problem
from tailproof.refimpl.extension.certified import minimise
from tailproof.refimpl.losses import Absolute, Affine
from tailproof.refimpl.pure_dp.localise import localise, localised_ball, privacy, sensitivity, worst_neighbours
from tailproof.refimpl.pure_dp.perturbation import Minimise, noise_radius_upper
from tailproof.refimpl.validation import FloatArray, InputError

ALARM = 1e-6  # the probability that a statistical test fails although the claim is true
RUNS = 1000
DATA = np.column_stack([np.random.default_rng(3).standard_t(2, (6, 3)), np.arange(6.0) - 2])
CENTER = np.array([0.1, 0.0, -0.2])


def minimiser(domain: Domain, weight: float, lipschitz: float) -> FloatArray:
    """argmin F̂_{λ,C}, more accurately than what is tested."""
    return minimise(Problem(Absolute(), DATA, domain, lipschitz, weight, CENTER), 1e-9).point


def answering(point: FloatArray) -> Minimise:
    return lambda problem, accuracy: point  # noqa: ARG005


@pytest.mark.parametrize("spend", [{"epsilon": 0.8}, {"rho": 0.2}], ids=str)
@pytest.mark.parametrize("domain", [Ball([0.0] * 3, 1.0), Box([-1.0] * 3, [1.0] * 3)], ids=["ball", "box"])
@pytest.mark.parametrize("push", [0.0, 1.0])
def test_the_set_holds_the_minimiser(spend: dict[str, float], domain: Domain, push: float) -> None:
    """Failures are at most binomial with the rate ζ, even if the solver errs by all of its slack."""
    weight, lipschitz, kappa, zeta, rng = 20.0, 1.5, 0.5, 0.3, np.random.default_rng()
    exact = minimiser(domain, weight, lipschitz)
    slack = kappa * lipschitz / (weight * len(DATA))
    answer = exact + push * slack * np.array([0.6, 0.0, 0.8])
    missed = 0
    for _ in range(RUNS):
        found, _ = run(
            localise,
            DATA,
            rng,
            loss=Absolute(),
            domain=domain,
            weight=weight,
            lipschitz=lipschitz,
            kappa=kappa,
            failure=zeta,
            center=CENTER,
            method=answering(answer),
            **spend,
        )
        missed += float(np.linalg.norm(exact - found.center)) > found.radius
    assert missed <= stats.binom.isf(ALARM, RUNS, zeta)


@pytest.mark.parametrize("spend", [PureDP(0.8), ZCDP(0.2)], ids=str)
def test_the_radius_is_no_larger_than_it_must_be(spend: PureDP | ZCDP) -> None:
    """In a set so large that nothing is projected the minimiser is missed exactly as often as the noise is longer than r."""
    weight, lipschitz, kappa, zeta, rng = 20.0, 1.5, 0.02, 0.3, np.random.default_rng()
    domain = Ball([0.0] * 3, 1000.0)
    exact, n, d = minimiser(domain, weight, lipschitz), len(DATA), 3
    reach = (2 + 2 * kappa) * lipschitz / (weight * n)
    radius = noise_radius_upper(dimension=d, sensitivity=reach, spend=spend, failure=zeta) + kappa * lipschitz / (weight * n)
    given = {"epsilon": spend.epsilon} if isinstance(spend, PureDP) else {"rho": spend.rho}
    scale = reach / spend.epsilon if isinstance(spend, PureDP) else reach / math.sqrt(2 * spend.rho)
    law = stats.gamma(d, scale=scale) if isinstance(spend, PureDP) else stats.chi(d, scale=scale)
    missed = 0
    for _ in range(RUNS):
        found, _ = run(
            localise,
            DATA,
            rng,
            loss="absolute",
            domain=domain,
            weight=weight,
            lipschitz=lipschitz,
            kappa=kappa,
            failure=zeta,
            center=CENTER,
            method=answering(exact),
            **given,
        )
        assert found.radius == pytest.approx(radius, rel=1e-9)
        missed += float(np.linalg.norm(exact - found.center)) > found.radius
    rate = float(law.sf(radius))
    assert 0.27 < rate < zeta  # κ costs little
    assert stats.binom.ppf(ALARM / 2, RUNS, rate) <= missed <= stats.binom.isf(ALARM / 2, RUNS, rate)


def test_with_its_own_solver() -> None:
    """60 runs: more than 41 misses have a probability below the alarm."""
    domain, rng, zeta, runs = Ball([0.0] * 3, 1.0), np.random.default_rng(), 0.3, 60
    exact = minimiser(domain, 20.0, 1.5)
    missed = 0
    for _ in range(runs):
        found, transcript = run(
            localise,
            DATA,
            rng,
            loss=Absolute(),
            domain=domain,
            weight=20.0,
            lipschitz=1.5,
            failure=zeta,
            center=CENTER,
            epsilon=2.0,
        )
        missed += not found.contains(exact, 1e-4)
        assert found.base is domain
        assert np.array_equal(found.center, domain.project(transcript.releases[0].output))
        assert domain.contains(found.center)
        assert found.diameter_upper() <= min(2.0, 2 * found.radius)
    assert missed <= stats.binom.isf(ALARM, runs, zeta)


def test_one_release_and_its_privacy_loss() -> None:
    for data, neighbour in worst_neighbours(5, 2, lipschitz=1.0):
        parameters = {"loss": Affine(), "domain": "ball:1", "weight": 10.0, "lipschitz": 1.0, "failure": 0.1, "epsilon": 0.5}
        found, recorded = run(localise, data, np.random.default_rng(2), **parameters)
        again, there = replay(localise, neighbour, recorded, **parameters)
        assert np.array_equal(found.center, again.center)
        assert found.radius == again.radius  # public
        (one,), (other,) = recorded, there
        assert one.spend == privacy(epsilon=0.5)
        moved = float(np.linalg.norm(one.law.location - other.law.location))  # type: ignore[attr-defined]
        claimed = sensitivity(5, weight=10.0, lipschitz=1.0).value
        assert 0.9 * 2 / 50 <= moved <= claimed == pytest.approx(one.sensitivity.value)  # type: ignore[union-attr]
        assert abs(one.law.logpdf(one.output) - other.law.logpdf(one.output)) <= 0.5
        ball, _ = replay(localised_ball, data, recorded, **parameters)
        assert np.array_equal(ball, [*found.center, found.radius])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"failure": 0.0}, "failure = 0"),
        ({"failure": 1.0}, "failure = 1"),
        ({"epsilon": -1.0}, "epsilon = -1"),
        ({"kappa": -1.0}, "kappa = -1"),
        ({"center": [2.0, 0.0, 0.0]}, "center: must lie"),
    ],
)
def test_bad_input(change: dict[str, object], match: str) -> None:
    good = {"loss": "absolute", "domain": "ball:1", "weight": 1.0, "lipschitz": 1.0, "epsilon": 1.0, "failure": 0.1}
    with pytest.raises(InputError, match=match):
        run(localise, DATA, np.random.default_rng(0), **(good | change))
