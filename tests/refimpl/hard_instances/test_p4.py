"""Hard instances: moments and means as said, decoding below the threshold, lower bounds against exact mechanisms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from tailproof.refimpl.hard_instances import PackingFamily, SignFamily, excess_risk, packing
from tailproof.refimpl.losses import Affine
from tailproof.refimpl.validation import InputError


@pytest.mark.parametrize(("d", "size"), [(1, 2), (2, 7), (3, 8), (6, 64)])
def test_packings_are_unit_vectors_far_apart(d: int, size: int) -> None:
    vectors = packing(d, size)
    assert vectors.shape == (size, d)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-12)
    family = PackingFamily(vectors, 0.1, 1.0, 2.0)
    apart = min(np.linalg.norm(a - b) for a, b in itertools.combinations(vectors, 2))
    assert family.separation == pytest.approx(apart)
    assert family.separation >= {1: 2.0, 2: 2 * math.sin(math.pi / 7), 3: 0.95, 6: 0.75}[d] * (1 - 1e-12)
    np.testing.assert_array_equal(packing(d, size), vectors)


def test_records_have_the_mean_and_moment_that_are_said() -> None:
    """Exactly, by their two values; and shares of draws, 6 deviations wide."""
    family = PackingFamily(packing(3, 8), 0.2, 1.5, 3.0)
    assert 0.2 * family.size**3 == pytest.approx(1.5**3)
    data = family.sample(np.random.default_rng(0), 5000, 4)
    some = np.linalg.norm(data, axis=1) > 0
    np.testing.assert_allclose(data[some], np.tile(-family.size * family.vectors[4], (some.sum(), 1)))
    assert abs(some.sum() - 1000) < 6 * math.sqrt(5000 * 0.2 * 0.8)
    np.testing.assert_allclose(family.mean(4), 0.2 * family.size * family.vectors[4])
    signs = SignFamily(2, 0.3, 1.5)
    drawn = signs.sample(np.random.default_rng(0), 5000, 1)
    assert set(map(tuple, drawn.tolist())) == {(-1.5, 0.0), (1.5, 0.0)}
    assert abs((drawn[:, 0] > 0).sum() - 3250) < 6 * math.sqrt(5000 * 0.35 * 0.65)
    np.testing.assert_allclose(signs.mean(1), [-0.45, 0.0])


@pytest.mark.parametrize(
    "family", [PackingFamily(packing(2, 5), 0.1, 1.0, 2.0, 3.0), SignFamily(2, 0.2, 1.0, 3.0)], ids=["V", "±"]
)
def test_excess_is_that_of_affine_losses_and_small_ones_tell_the_member(family: PackingFamily | SignFamily) -> None:
    """On a fine grid of the ball no point has an excess below the threshold for two members."""
    angles, radii = np.meshgrid(np.linspace(0, 2 * np.pi, 200), np.linspace(0, 1.5, 30))
    points = np.column_stack([(radii * np.cos(angles)).ravel(), (radii * np.sin(angles)).ravel()])
    below = np.zeros(len(points))
    for member in range(family.members):
        values = np.array([excess_risk(family, w, member) for w in points])
        assert values.min() >= -1e-15
        best = 1.5 * family.mean(member) / np.linalg.norm(family.mean(member))
        assert excess_risk(family, best, member) == pytest.approx(0, abs=1e-15)
        mean_record = -family.mean(member)[np.newaxis]
        risks = Affine().values(points[7], mean_record)[0] - Affine().values(best, mean_record)[0]
        assert excess_risk(family, points[7], member) == pytest.approx(risks)
        below += values < family.threshold * (1 - 1e-9)
    assert below.max() == 1


def test_the_private_bound_holds_for_the_exponential_mechanism_on_the_packing() -> None:
    """An ε-DP decoder whose failure is known exactly: v is drawn with weight e^{ε·(number of records along v)/2}, of sensitivity 1
    up and 1 down.  Its average failure is at least the bound, and not far above it for large n."""
    vectors, n, epsilon = packing(2, 9), 60, 0.5
    for p in (0.02, 0.1, 0.3):
        family = PackingFamily(vectors, p, 1.0, 2.0)
        counts = np.arange(n + 1)
        right = np.exp(epsilon * counts / 2) / (np.exp(epsilon * counts / 2) + len(vectors) - 1)
        failure = float(binom.pmf(counts, n, p) @ (1 - right))
        assert failure >= family.failure_lower(n, epsilon)
    assert family.failure_lower(n, 1e-9) == pytest.approx(8 / 9, rel=1e-6)


@pytest.mark.parametrize(("size", "p", "n", "epsilon"), [(9, 0.11, 60, 0.5), (2, 0.3, 10, 1.0), (64, 0.004, 1000, 2.0)])
def test_the_bound_is_not_less_than_the_paper_s(size: int, p: float, n: int, epsilon: float) -> None:
    """Proposition G.2's, ½(M − 1)e^{−εK}/(1 + (M − 1)e^{−εK}) with K = ⌈np⌉."""
    odds = (size - 1) * math.exp(-epsilon * math.ceil(n * p))
    family = PackingFamily(packing(2, size), p, 1.0, 2.0)
    assert odds / 2 / (1 + odds) < family.failure_lower(n, epsilon) < 1 - 1 / size
    assert family.threshold >= 2 * np.linalg.norm(family.mean(0)) * family.separation**2 / 16


@pytest.mark.parametrize("failure", [0.05, 0.2, 0.4])
def test_the_hardest_member_is_at_the_edge(failure: float) -> None:
    known = {"epsilon": 0.3, "failure": failure, "moment_bound": 1.0, "moment_order": 2.0}
    family = PackingFamily.hardest(3, 32, n=1000, **known)
    assert family.failure_lower(1000, 0.3) >= failure
    more = PackingFamily(family.vectors, family.chance * (1 + 1e-9), 1.0, 2.0)
    assert more.failure_lower(1000, 0.3) < failure


def test_the_sign_bound_is_that_of_the_best_test() -> None:
    """Majority, which is optimal: its average error is (1 − TV)/2 (a draw counts one half)."""
    for n, tilt in ((1, 0.3), (9, 0.2), (10, 0.2), (400, 0.05)):
        counts = np.arange(n + 1)
        law = binom.pmf(counts, n, (1 + tilt) / 2)
        error = law[counts < n / 2].sum() + law[counts == n / 2].sum() / 2
        assert SignFamily(1, tilt, 1.0).failure_lower(n) == pytest.approx(error)


def test_the_sign_bound_with_privacy() -> None:
    """Randomised response of one record's sign, the best ε-DP test there is at n = 1; and never less than without privacy."""
    tilt, epsilon = 0.3, 1.0
    response = math.exp(epsilon) / (1 + math.exp(epsilon))
    error = (1 + tilt) / 2 * (1 - response) + (1 - tilt) / 2 * response
    family = SignFamily(1, tilt, 1.0)
    assert family.failure_lower(1, epsilon) == pytest.approx(error, rel=1e-8)
    assert family.failure_lower(1, epsilon) > family.failure_lower(1)
    assert family.failure_lower(300, 50.0) == family.failure_lower(300)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: packing(1, 3), "size = 3"),
        (lambda: packing(0, 3), "dimension = 0"),
        (lambda: PackingFamily(np.eye(2) * 2, 0.1, 1.0, 2.0), "unit vectors"),
        (lambda: PackingFamily(np.eye(2), 0.0, 1.0, 2.0), "chance = 0"),
        (lambda: PackingFamily(np.eye(2), 0.1, 0.0, 2.0), "moment_bound = 0"),
        (lambda: PackingFamily(np.eye(2), 0.1, 1.0, 0.5), r"moment_order = 0\.5"),
        (lambda: SignFamily(2, 0.0, 1.0), "tilt = 0"),
        (
            lambda: PackingFamily.hardest(1, 2, n=9, epsilon=1.0, failure=0.6, moment_bound=1, moment_order=2),
            "prove no such",
        ),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=message):
        make()
