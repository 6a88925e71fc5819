"""P0's families: the noise condition, minimisers, moments, thresholds; Theorem 5's bound against the best estimator."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tailproof.refimpl.claims import ZCDP
from tailproof.refimpl.hard_instances import Growth, GrowthSigns, GrowthSpikes, packing, sign_code
from tailproof.refimpl.validation import InputError

FAMILIES = [
    GrowthSpikes(packing(2, 5), 0.1, 2.0, Growth(theta, bound)) for theta, bound in ((2.0, 1.0), (3.0, 2.0), (4.5, 0.7))
] + [GrowthSigns(2, 0.3, Growth(theta, 1.5)) for theta in (2.0, 4.0)]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{type(f).__name__} {f.growth.theta:g}")
def test_excess_is_that_of_the_loss_and_satisfies_the_noise_condition(family: GrowthSpikes | GrowthSigns) -> None:
    rng = np.random.default_rng(0)
    assert family.growth.condition == pytest.approx(1.0)
    for member in range(family.members):
        best, mean = family.minimiser(member), family.mean(member)
        assert family.domain.contains(best)
        assert family.excess(best, member) == pytest.approx(0, abs=1e-15)
        for w in rng.standard_normal((60, 2)) * family.growth.radius:
            risks = [family.loss.values(point, -mean[np.newaxis])[0] for point in (w, best)]
            assert family.excess(w, member) == pytest.approx(risks[0] - risks[1], rel=1e-9, abs=1e-15)
            assert family.excess(w, member) >= np.linalg.norm(w - best) ** family.growth.theta * (1 - 1e-9)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{type(f).__name__} {f.growth.theta:g}")
def test_records_and_gradients_have_the_moments_that_are_said(family: GrowthSpikes | GrowthSigns) -> None:
    """Means of draws, 6 deviations wide; gradients at the points of the set where they are steepest, against a grid."""
    data = -family.sample(np.random.default_rng(1), 4000, 1)
    np.testing.assert_allclose(data.mean(axis=0), family.mean(1), atol=6 * data.std(axis=0).max() / math.sqrt(4000))
    kinds, counts = np.unique(data, axis=0, return_counts=True)
    angles = np.linspace(0, 2 * np.pi, 361)
    circle = family.growth.radius * np.column_stack([np.cos(angles), np.sin(angles)])
    steepest = np.array([np.linalg.norm(family.loss.gradients(w, -kinds), axis=1) for w in circle]).max(axis=0)
    for order in (2.0, 4.0):
        values = steepest**order
        noise = 6 * math.sqrt(np.cov(values, fweights=counts) / 4000) + 1e-4 * values.max()
        assert abs(counts @ values / 4000 - family.norm_moment(order)) <= noise
    assert family.norm_moment(2.0) <= family.growth.moment_bound**2 * (1 + 1e-12)  # Assumption 1, k = 2


@pytest.mark.parametrize("p", [1e-4, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("k", [2.0, 3.0, 8.0])
def test_assumption_1_holds_on_the_smaller_ball(p: float, k: float) -> None:
    family = GrowthSpikes(np.array([[1.0], [-1.0]]), p, k, Growth(3.0, 1.7))
    assert family.norm_moment(k) <= 1.7**k * (1 + 1e-12)


@pytest.mark.parametrize("theta", [2.0, 3.0, 4.5])
def test_below_the_threshold_a_point_tells_the_member(theta: float) -> None:
    """On a fine grid; and the threshold is attained, halfway between two members."""
    family = GrowthSpikes(packing(2, 5), 0.1, 2.0, Growth(theta, 1.0))
    length = np.linalg.norm(family.minimiser(0))
    angles, radii = np.meshgrid(np.linspace(0, 2 * np.pi, 121), np.linspace(0, 1.5 * length, 100))
    points = np.column_stack([(radii * np.cos(angles)).ravel(), (radii * np.sin(angles)).ravel()])
    excess = np.array([[family.excess(w, member) for w in points] for member in range(5)])
    second = np.sort(excess, axis=0)[1].min()
    assert family.threshold * (1 - 1e-12) <= second <= family.threshold * 1.03


@pytest.mark.parametrize(("d", "n", "tilt"), [(1, 4, 0.3), (2, 3, 0.5), (1, 7, 0.1)])
def test_the_sign_bound_is_the_risk_of_the_posterior_mean(d: int, n: int, tilt: float) -> None:
    """θ = 2, by enumeration of all data: no estimator is better, so the bound is the best possible.  θ = 4: it is below."""
    for theta in (2.0, 4.0):
        family = GrowthSigns(d, tilt, Growth(theta, 2.0))
        risk = 0.0
        members = [family.signs(m) for m in range(family.members)]
        for data in itertools.product([1.0, -1.0], repeat=n * d):
            x = np.array(data).reshape(n, d)
            chances = np.array([np.prod(np.where(x == v, (1 + tilt) / 2, (1 - tilt) / 2)) for v in members])
            weights = chances / len(members)
            guess = weights @ np.array([family.minimiser(m) for m in range(len(members))]) / weights.sum()
            risk += sum(weights[m] * family.excess(guess, m) for m in range(len(members)))
        bound = family.mean_excess_lower(n)
        assert bound == pytest.approx(risk, rel=1e-6) if theta == 2 else bound <= risk


def test_privacy_makes_signs_harder_to_tell() -> None:
    growth = Growth(2.0, 1.0)
    family = GrowthSigns(3, 0.05, growth)
    free, private = family.mean_excess_lower(5000), family.mean_excess_lower(5000, ZCDP(1e-5))
    assert private > 3 * free
    assert private <= family.excess(np.zeros(3), 0)  # that of a constant
    best = GrowthSigns.hardest(3, n=100, growth=growth)
    for factor in (0.5, 2.0):
        assert best.mean_excess_lower(100) > GrowthSigns(3, best.tilt * factor, growth).mean_excess_lower(100)
    # Theorem 5's rate: (r̃/√n)^{θ/(θ−1)}
    for theta in (2.0, 4.0):
        values = [GrowthSigns.hardest(2, n=n, growth=Growth(theta, 1.0)).mean_excess_lower(n) for n in (100, 1600)]
        assert values[0] / values[1] == pytest.approx(4 ** (theta / (theta - 1)), rel=0.03)


def test_theorem_4_s_rate_with_its_constant() -> None:
    """(r̃(√d/(n√ρ))^{(k−1)/k})^{θ/(θ−1)}: along n at fixed failure the threshold falls like it."""
    code = sign_code(6, distance=1)
    assert len(code) == 64
    for theta, k in ((2.0, 2.0), (3.0, 4.0)):
        known = {"budget": ZCDP(0.01), "failure": 0.25, "growth": Growth(theta, 1.0), "moment_order": k}
        few, many = (GrowthSpikes.hardest(code, n=n, **known) for n in (1000, 16_000))
        assert few.failure_lower(1000, ZCDP(0.01)) >= 0.25
        power = (k - 1) / k * theta / (theta - 1)
        assert few.threshold / many.threshold == pytest.approx(16**power, rel=0.02)
        assert few.mean_excess_lower(1000, ZCDP(0.01)) == few.threshold * few.failure_lower(1000, ZCDP(0.01))


def test_bad_input() -> None:
    growth = Growth(2.0, 1.0)
    with pytest.raises(InputError, match=r"theta = 1\.5"):
        Growth(1.5, 1.0)
    with pytest.raises(InputError, match="moment_bound"):
        Growth(2.0, 0.0)
    with pytest.raises(InputError, match="unit vectors"):
        GrowthSpikes(np.ones((2, 2)), 0.1, 2.0, growth)
    with pytest.raises(InputError, match="chance = 0"):
        GrowthSpikes(np.eye(2), 0.0, 2.0, growth)
    with pytest.raises(InputError, match="moment_order"):
        GrowthSpikes(np.eye(2), 0.1, 1.5, growth)
    with pytest.raises(InputError, match="tilt"):
        GrowthSigns(2, 1.0, growth)
