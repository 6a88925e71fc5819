"""Least errors of private decoders: against linear programs over all private mechanisms, and mechanisms with known errors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, norm

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, PureDP, pure_to_zcdp
from tailproof.refimpl.hard_instances import hardest_chance, member_error_lower, pair_error_lower, spike_failure_lower
from tailproof.refimpl.hard_instances.decoding import Budget
from tailproof.refimpl.validation import InputError


def _best_private_error(letters: int, k: int, epsilon: float, delta: float = 0.0) -> float:
    """The least average error of naming v from data (v, …, v), over all (ε, δ)-DP mechanisms on the words of k letters.

    One δ for each pair of neighbours and each set of outputs, as the definition has it.
    """
    words = list(itertools.product(range(letters), repeat=k))
    index = {word: i for i, word in enumerate(words)}

    def at(word: tuple[int, ...], output: int) -> int:
        return index[word] * letters + output

    rows, limits = [], []
    events = [set(e) for r in range(1, letters) for e in itertools.combinations(range(letters), r)]
    for word in words:
        for place, letter in itertools.product(range(k), range(letters)):
            other = (*word[:place], letter, *word[place + 1 :])
            for event in events if other != word else ():
                row = np.zeros(len(words) * letters)
                for output in event:
                    row[at(word, output)] += 1
                    row[at(other, output)] -= math.exp(epsilon)
                rows.append(row)
                limits.append(delta)
    cost = np.zeros(len(words) * letters)
    for v in range(letters):
        cost[at((v,) * k, v)] = -1 / letters
    total = np.kron(np.eye(len(words)), np.ones(letters))
    found = linprog(cost, np.array(rows), limits, total, np.ones(len(words)), bounds=(0, 1))
    assert found.status == 0
    return float(1 + found.fun)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.0), (1.0, 0.0), (1.0, 0.02), (0.5, 0.1)])
def test_the_bound_of_pairs_is_attained_by_the_best_mechanism(k: int, epsilon: float, delta: float) -> None:
    claim: Budget = ApproxDP(epsilon, delta) if delta else epsilon
    assert pair_error_lower(claim, k) == pytest.approx(_best_private_error(2, k, epsilon, delta), rel=1e-7)


@pytest.mark.parametrize(("letters", "k"), [(3, 1), (3, 2), (3, 3), (4, 2), (5, 1)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.0), (1.5, 0.0), (1.0, 0.05)])
def test_the_bound_of_members_is_below_the_best_mechanism(letters: int, k: int, epsilon: float, delta: float) -> None:
    """And attained for one record without δ, by randomised response."""
    best = _best_private_error(letters, k, epsilon, delta)
    bound = member_error_lower(ApproxDP(epsilon, delta) if delta else epsilon, k, letters)
    assert bound <= best * (1 + 1e-7)
    assert bound >= best / 2
    if k == 1 and not delta:
        assert bound == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("rho", [0.001, 0.05, 0.5, 3.0])
def test_concentrated_privacy_allows_what_gaussian_noise_and_randomised_response_do(rho: float) -> None:
    """The former errs with Φ(−k√(ρ/2)) between two data sets; the latter attains the bound at k = 1."""
    for k in (1, 2, 3, 8, 40):
        error, bound = norm.cdf(-k * math.sqrt(rho / 2)), pair_error_lower(ZCDP(rho), k)
        assert bound <= error
        assert bound >= 0.5 * error**1.5 or k % 2
        assert pair_error_lower(GDP(math.sqrt(2 * rho)), k) == pytest.approx(bound)
    for epsilon in (0.2, 1.0, 3.0):
        tight = pure_to_zcdp(PureDP(epsilon), tight=True)
        assert pair_error_lower(tight, 1) == pytest.approx(1 / (1 + math.exp(epsilon)), rel=1e-6)
        for members in (2, 3, 17):
            assert member_error_lower(tight, 1, members) <= (members - 1) / (members - 1 + math.exp(epsilon))


@pytest.mark.parametrize("members", [2, 5, 40])
def test_naming_the_largest_noisy_count_errs_more_than_the_bound(members: int) -> None:
    """Counts of each member with noise N(0, 1/ρ), ρ-zCDP for replacing a record; the exact error by quadrature."""
    z = np.linspace(-9, 9, 4001)
    for rho, k in itertools.product((0.002, 0.02, 0.2), (1, 3, 6, 10, 25, 60)):
        right = float(norm.pdf(z) * norm.cdf(z + k * math.sqrt(rho)) ** (members - 1) @ np.full(4001, z[1] - z[0]))
        bound = member_error_lower(ZCDP(rho), k, members)
        assert bound <= 1 - right + 1e-12
        assert bound >= (1 - right) / 3 or 1 - right < 0.4


def test_many_members_are_harder_to_name_and_many_records_easier() -> None:
    claims: tuple[Budget, ...] = (0.4, ApproxDP(0.4, 1e-4), ZCDP(0.02))
    for claim in claims:
        errors = np.array([[member_error_lower(claim, k, m) for k in range(30)] for m in (2, 4, 16, 256)])
        assert (np.diff(errors, axis=0) >= -1e-12).all()
        assert (np.diff(errors, axis=1) <= 1e-12).all()
        np.testing.assert_allclose(errors[:, 0], [1 / 2, 3 / 4, 15 / 16, 255 / 256])
    assert member_error_lower(ZCDP(1e-14), 1, 8) <= 7 / 8
    assert member_error_lower(ApproxDP(1.0, 1e-3), 2000, 8) == 0


def test_spikes_are_as_hard_as_their_places_make_them() -> None:
    """By enumeration of all places; and the exponential mechanism on counts, whose failure is known, fails more often."""
    n, p, members, epsilon = 6, 0.35, 5, 0.7
    total = 0.0
    for places in itertools.product([0, 1], repeat=n):
        k = sum(places)
        total += p**k * (1 - p) ** (n - k) * member_error_lower(epsilon, k, members)
    assert spike_failure_lower(epsilon, members=members, chance=p, n=n) == pytest.approx(total, rel=1e-9)
    counts = np.arange(n + 1)
    failure = binom.pmf(counts, n, p) @ ((members - 1) / (members - 1 + np.exp(epsilon * counts / 2)))
    assert total < failure


@pytest.mark.parametrize("claim", [0.2, ApproxDP(0.2, 1e-6), ZCDP(0.02)], ids=str)
def test_without_privacy_the_bound_is_beaten(claim: Budget) -> None:
    """Who sees a record that is not 0 knows the member: the bound says something about privacy, not about data."""
    for members, failure in ((2, 0.2), (16, 0.4)):
        p = hardest_chance(claim, members=members, n=500, failure=failure)
        assert spike_failure_lower(claim, members=members, chance=p, n=500) >= failure
        assert spike_failure_lower(claim, members=members, chance=p * (1 + 1e-6), n=500) < failure
        assert (1 - p) ** 500 < failure / 20
    assert hardest_chance(1e-6, members=2, n=5, failure=0.4) == 1.0


def test_bad_input() -> None:
    with pytest.raises(InputError, match="distance"):
        pair_error_lower(1.0, -1)
    with pytest.raises(InputError, match="members"):
        member_error_lower(1.0, 1, 1)
    with pytest.raises(InputError, match="chance"):
        spike_failure_lower(1.0, members=2, chance=1.5, n=3)
    with pytest.raises(InputError, match="epsilon"):
        pair_error_lower(0.0, 1)
    with pytest.raises(InputError, match="prove no such"):
        hardest_chance(1.0, members=2, n=3, failure=0.7)
