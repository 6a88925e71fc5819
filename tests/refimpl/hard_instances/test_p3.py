"""P3's families: moments, separations, bounds against decoders that are known exactly, the theorems' rates."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from tailproof.refimpl.claims import ApproxDP, PureDP
from tailproof.refimpl.hard_instances import (
    MeanSpikes,
    QuadraticSpikes,
    convex_family,
    dense_means,
    sparse_means,
    spike_or_nothing,
)
from tailproof.refimpl.validation import InputError

LAW = {"budget": PureDP(0.5), "failure": 0.25, "moment_order": 1.5, "moment_bound": 2.0}
FAMILIES = {
    "2": spike_or_nothing(n=400, **LAW),
    "8": dense_means(6, n=400, **LAW),
    "11": sparse_means(7, 3, n=400, **LAW),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_means_moments_and_separation_are_those_of_the_records(name: str) -> None:
    """Shares of draws 6 deviations wide; the rest is exact."""
    family = FAMILIES[name]
    data = family.sample(np.random.default_rng(0), 4000, family.members - 1)
    some = np.abs(data).max(axis=1) > 0
    assert abs(some.mean() - family.chance) < 6 * math.sqrt(family.chance / 4000)
    np.testing.assert_allclose(family.chance * data[some][0], family.mean(family.members - 1), rtol=1e-12)
    assert family.chance * np.abs(data[some][0]).max() ** 1.5 == pytest.approx(2.0)  # E|x_j|^{1+v} = u
    assert family.coordinate_moment(1.5) == pytest.approx(2.0)
    assert family.norm_moment(1.5) == pytest.approx(family.chance * np.linalg.norm(data[some][0]) ** 1.5)
    means = [family.mean(m) for m in range(family.members)]
    apart = min(np.linalg.norm(a - b) for a, b in itertools.combinations(means, 2))
    assert family.separation == pytest.approx(apart)
    assert family.failure_lower(400, 0.5) == pytest.approx(0.25, rel=1e-6)
    assert family.excess(means[0], 0) == 0


@pytest.mark.parametrize("name", ["8", "11"])
def test_the_quadratic_loss(name: str) -> None:
    """Its excess risk, and its gradients' moments, which are not those of the records."""
    means = FAMILIES[name]
    family = QuadraticSpikes(means, 3.0)
    rng = np.random.default_rng(1)
    p, record = means.chance, means.size * means.code[0]
    for w in family.domain.project(3 * rng.standard_normal((200, means.dimension))):
        risks = []
        for point in (w, means.mean(0)):
            both = family.loss.values(point, np.array([record, 0 * record]))
            risks.append(p * both[0] + (1 - p) * both[1])
        assert family.excess(w, 0) == pytest.approx(risks[0] - risks[1], rel=1e-9, abs=1e-12)
        gradients = family.loss.gradients(w, np.array([record, 0 * record]))
        moments = p * np.abs(gradients[0]) ** 1.5 + (1 - p) * np.abs(gradients[1]) ** 1.5
        assert moments.max() <= family.coordinate_moment(1.5)
        norms = np.linalg.norm(gradients, axis=1)
        assert p * norms[0] ** 4 + (1 - p) * norms[1] ** 4 <= family.norm_moment(4.0)
    worst = -3.0 * np.sign(record[np.argmax(np.abs(record))]) * np.eye(means.dimension)[np.argmax(np.abs(record))]
    steep = family.loss.gradients(worst, np.array([record, 0 * record]))
    attained = (p * np.abs(steep[0]) ** 1.5 + (1 - p) * np.abs(steep[1]) ** 1.5).max()
    assert attained == pytest.approx(family.coordinate_moment(1.5))
    assert family.coordinate_moment(1.5) > means.moment_bound  # erratum P3.Thm8.moment
    assert family.threshold == pytest.approx(means.threshold**2 / 2)
    assert family.mean_excess_lower(400, 0.5) == pytest.approx(family.threshold * 0.25, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (0.5, 1e-3), (1.0, 0.05)])
def test_theorem_2_against_the_best_private_test(epsilon: float, delta: float) -> None:
    """A test of how many records are not 0, private since its log-odds are: q(0) is the error on the one side, and so on, chosen as
    the best chain for the most likely number.  Its exact error is above the bound; without privacy it is (1 − p)^n/2."""
    n = 300
    claim = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    family = spike_or_nothing(n=n, budget=claim, failure=0.2, moment_order=2.0, moment_bound=1.0)
    counts, best = np.arange(n + 1), math.inf
    law = binom.pmf(counts, n, family.chance)
    for start in np.geomspace(1e-4, 0.5, 60):
        says = [float(start)]
        while len(says) <= n:
            q = says[-1]
            says.append(min(1.0, math.exp(epsilon) * q + delta, 1 - math.exp(-epsilon) * (1 - delta - q)))
        best = min(best, (says[0] + float(law @ (1 - np.array(says)))) / 2)
    assert 0.2 <= best <= 0.3
    assert (1 - family.chance) ** n / 2 < 0.1


def test_a_constant_may_beat_one_member_but_not_all() -> None:
    family = FAMILIES["8"]
    fails = [family.excess(family.mean(0), m) >= family.threshold for m in range(family.members)]
    assert not fails[0]
    assert np.mean(fails) == 1 - 1 / family.members


def test_linear_losses_of_theorem_9_have_the_coordinates_moment() -> None:
    family = convex_family(6, n=400, **LAW)
    assert family.coordinate_moment(1.5) == pytest.approx(2.0)
    assert family.failure_lower(400, 0.5) == pytest.approx(0.25, rel=1e-6)
    assert family.domain.radius == 1
    assert family.separation == pytest.approx(math.sqrt(2 / 3))  # two words differ in two of their three ones and zeros


def test_the_rates_of_the_theorems_with_their_constants() -> None:
    """Along n and along ε, at fixed failure: u^{1/(1+v)}(1/(nε))^{v/(1+v)} for means, its square for excess risks."""
    power = 1 / 3  # v/(1 + v)
    for make in (spike_or_nothing, lambda **law: dense_means(6, **law), lambda **law: sparse_means(9, 2, **law)):
        few, many = (make(n=n, **LAW) for n in (2000, 16_000))
        assert few.threshold / many.threshold == pytest.approx(8**power, rel=0.01)
        small, large = (make(n=16_000, **{**LAW, "budget": PureDP(e)}) for e in (0.02, 0.08))
        assert small.threshold / large.threshold == pytest.approx(4**power, rel=0.05)
        more = make(n=2000, **{**LAW, "moment_bound": 16.0})
        assert more.threshold / few.threshold == pytest.approx(8 ** (2 / 3))


def test_bad_input() -> None:
    code = np.array([[0.0], [1.0]])
    with pytest.raises(InputError, match="all different"):
        MeanSpikes(np.zeros((2, 1)), 0.1, 1.5, 1.0)
    with pytest.raises(InputError, match="-1, 0 and 1"):
        MeanSpikes(2 * code, 0.1, 1.5, 1.0)
    with pytest.raises(InputError, match="chance = 0"):
        MeanSpikes(code, 0.0, 1.5, 1.0)
    with pytest.raises(InputError, match="moment_order = 1"):
        MeanSpikes(code, 0.1, 1.0, 1.0)
    with pytest.raises(InputError, match="moment_bound"):
        MeanSpikes(code, 0.1, 1.5, -1.0)
    with pytest.raises(InputError, match="norm of the largest mean"):
        QuadraticSpikes(MeanSpikes(code, 1.0, 1.5, 8.0), 0.5)
    with pytest.raises(InputError, match="dimension"):
        dense_means(1, n=10, **LAW)
