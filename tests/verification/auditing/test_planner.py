"""The planner: exact power against simulation and enumeration, and the command."""

import json
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import binom, laplace, norm

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP, gaussian_delta
from tailproof.refimpl.validation import InputError
from tailproof.verification.auditing.planner import (
    NoSuchPlan,
    Region,
    critical_counts,
    detectable,
    plan,
    power_of,
    regions,
    zcdp_response,
)
from tailproof.verification.cli import main

FALSE_ALARM = 1e-7
CASES: list[tuple[Claim, Claim, str | None]] = [
    (PureDP(1.0), PureDP(2.0), None),
    (PureDP(1.0), PureDP(1.3), "laplace"),
    (PureDP(1.0), GDP(1.0), None),
    (ApproxDP(1.0, 1e-5), ApproxDP(2.0, 1e-5), None),
    (ApproxDP(0.5, 0.01), ApproxDP(1.0, 0.1), "response"),
    (GDP(1.0), GDP(1.2), None),
    (ZCDP(0.1), ZCDP(0.2), None),
    (ZCDP(0.1), ZCDP(0.2), "response"),
]


@pytest.mark.parametrize(("claim", "truth", "pair"), CASES, ids=str)
def test_planned_power_by_simulation(claim: Claim, truth: Claim, pair: str | None) -> None:
    """2000 audits of the planned size: the number that refute, against the planned probability."""
    found = plan(claim, truth, pair=pair)
    rng, trials = np.random.default_rng(found.samples), 2000
    outside = max(0.0, 1 - found.region.mass)
    counts = rng.multinomial(found.samples, [found.region.correct, found.region.wrong, outside], size=trials)
    inside = counts[:, 0] + counts[:, 1]
    refuted = int((counts[:, 0] >= critical_counts(claim, inside, found.samples, 0.05)).sum())
    power = power_of(claim, found.region, found.samples, confidence=0.95)
    assert 0.9 <= power < 0.96
    assert min(binom.cdf(refuted, trials, power), binom.sf(refuted - 1, trials, power)) > FALSE_ALARM
    assert power_of(claim, found.region, max(1, int(0.8 * found.samples)), confidence=0.95) < 0.9


@pytest.mark.parametrize("claim", [PureDP(0.7), ApproxDP(1.0, 1e-2), GDP(0.8), ZCDP(0.3)], ids=str)
def test_true_claims_are_refuted_no_more_often_than_stated(claim: Claim) -> None:
    """Exactly, where the truth is the claim itself; every region of every pair of laws, several sizes."""
    for pair in ("response", "laplace", "gaussian"):
        try:
            choices = regions(claim, pair)
        except InputError:
            continue
        if isinstance(claim, GDP | ZCDP):
            choices = [max(choices, key=lambda region: region.mass)]
        for region in choices[:: max(1, len(choices) // 6)]:
            for samples in (20, 333, 5000):
                assert power_of(claim, region, samples, confidence=0.9) <= 0.1 + 1e-9


def test_regions_of_laplace_laws_by_quadrature() -> None:
    for t, region in list(zip(np.linspace(0.0, 0.5, 51), regions(PureDP(1.7), "laplace"), strict=True))[::10]:
        right = quad(lambda x: laplace.pdf(x, 0.0, 1 / 1.7), -60, t, points=[0.0])[0]
        wrong = quad(lambda x: laplace.pdf(x, 1.0, 1 / 1.7), -60, t, points=[0.0])[0]
        assert (region.correct, region.wrong) == pytest.approx((right, wrong), abs=1e-8)


def test_pairs_have_exactly_the_stated_privacy() -> None:
    for region in regions(PureDP(1.7), "laplace"):
        assert region.correct <= math.exp(1.7) * region.wrong * (1 + 1e-12)
    assert regions(PureDP(1.7), "laplace")[0].correct == pytest.approx(
        math.exp(1.7) * regions(PureDP(1.7), "laplace")[0].wrong
    )
    told = regions(ApproxDP(1.0, 0.1), "response")[0]
    assert told.correct == pytest.approx(math.e * told.wrong + 0.1)
    curve = [region.correct - math.e * region.wrong for region in regions(ApproxDP(1.0, 0.01), "gaussian")]
    assert max(curve) == pytest.approx(0.01, rel=1e-2)  # the grid of regions is fine enough
    assert max(curve) <= 0.01 * (1 + 1e-9)
    mu = 2 * norm.ppf(regions(ApproxDP(1.0, 0.01), "gaussian")[0].correct)
    assert gaussian_delta(mu, 1.0) == pytest.approx(0.01)


def test_accuracy_under_zcdp_is_the_best_that_any_bernoulli_pair_has() -> None:
    """All pairs on a grid, all orders on a grid: none of those that are ρ-zCDP is guessed better."""
    for rho in (0.05, 0.5, 2.0):
        best = float(expit(zcdp_response(rho)))
        p, q = np.meshgrid(np.linspace(0.001, 0.999, 400), np.linspace(0.001, 0.999, 400))
        allowed = np.ones(p.shape, dtype=bool)
        for order in (1.0001, 1.5, 2.0, 4.0, 16.0):
            for a, b in ((p, q), (q, p)):
                moments = np.exp(order * np.log(a) + (1 - order) * np.log(b))
                others = np.exp(order * np.log1p(-a) + (1 - order) * np.log1p(-b))
                allowed &= np.log(moments + others) / (order - 1) <= order * rho
        accuracy = ((p + 1 - q) / 2)[allowed].max()
        assert best - 0.005 < accuracy <= best + 1e-4


def test_approximate_claims_allow_what_delta_allows() -> None:
    """A mechanism that tells the side with probability δ and is randomised response otherwise, R only what is told: δ counts."""
    told = Region(0.01, 1e-12)
    assert power_of(PureDP(1.0), told, 5000, confidence=0.95) > 0.99
    assert power_of(ApproxDP(1.0, 0.01), told, 5000, confidence=0.95) < 0.05
    assert power_of(ApproxDP(1.0, 0.001), told, 5000, confidence=0.95) > 0.99


@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(1.0, 1e-5), GDP(1.0), ZCDP(0.1)], ids=str)
def test_detectable_violations_are_those_that_are_planned(claim: Claim) -> None:
    found = detectable(claim, 5000)
    assert plan(claim, found.true).samples == pytest.approx(5000, rel=0.05)
    assert type(found.true) is type(claim)


def test_one_error_for_both_parts_of_the_approximate_test() -> None:
    """With next to no δ it is the pure test at nine tenths of the error."""
    inside = np.arange(1, 2000)
    approximate = critical_counts(ApproxDP(1.0, 1e-12), inside, 4000, 0.1)
    assert np.array_equal(approximate, critical_counts(PureDP(1.0), inside, 4000, 0.09))


def test_power_stays_above_the_teeth_of_the_saw() -> None:
    found = plan(PureDP(1.0), PureDP(2.0))
    powers = [power_of(found.claim, found.region, found.samples + more, confidence=0.95) for more in range(-5, 50)]
    assert min(powers[5:]) >= 0.9 > min(powers[:5])


def test_more_is_easier() -> None:
    needs = [plan(PureDP(1.0), PureDP(e)).samples for e in (1.05, 1.1, 1.2, 1.5, 3.0)]
    assert needs == sorted(needs, reverse=True)
    assert plan(PureDP(1.0), PureDP(1.2), confidence=0.999).samples > plan(PureDP(1.0), PureDP(1.2)).samples
    assert plan(PureDP(1.0), PureDP(1.2), power=0.99).samples > plan(PureDP(1.0), PureDP(1.2)).samples


def test_what_cannot_be_planned() -> None:
    for claim, truth in ((PureDP(1.0), PureDP(1.0)), (PureDP(1.0), PureDP(0.5)), (ZCDP(0.1), ZCDP(0.11))):
        with pytest.raises(NoSuchPlan, match="no number of samples"):
            plan(claim, truth)
    with pytest.raises(NoSuchPlan, match="too few"):
        detectable(PureDP(1.0), 3)
    with pytest.raises(InputError, match="no such pair"):
        plan(GDP(1.0), GDP(2.0), pair="laplace")
    with pytest.raises(InputError, match="pair"):
        plan(GDP(1.0), GDP(2.0), pair="cauchy")
    for settings in ({"confidence": 1.0}, {"power": 0.0}):
        with pytest.raises(InputError):
            plan(PureDP(1.0), PureDP(2.0), **settings)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--claim", "pure(eps=1)", "--true", "pure(eps=2)", "--json", "-"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["samples"] == plan(PureDP(1.0), PureDP(2.0)).samples
    assert {"claim", "true", "pair", "confidence", "power", "in_region", "correct_in_region"} <= set(value)
    assert main(["plan", "--claim", "gdp(mu=1)", "--budget", "20000"]) == 0
    assert "gdp(mu=1.05475)" in capsys.readouterr().out
    for bad in (
        ["--claim", "pure(eps=1)", "--true", "pure(eps=1)"],
        ["--claim", "pure(eps=x)", "--true", "pure(eps=2)"],
        ["--claim", "pure(eps=1)", "--budget", "0"],
        ["--claim", "pure(eps=1)", "--budget", "10", "--confidence", "2"],
    ):
        assert main(["plan", *bad]) == 2
        assert capsys.readouterr().err.startswith("tailproof plan: ")
    assert main(["plan", "--claim", "pure(eps=1)"]) == 2
