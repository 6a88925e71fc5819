"""The inequalities behind audits, by brute force over every way to guess."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP
from tailproof.verification.auditing.limits import accuracy_upper, parameter_lower

LAWS = st.lists(st.floats(0.02, 1), min_size=10, max_size=10)


def guesses(cells: int) -> np.ndarray:
    """Every way to guess: −1 (first law), 0 (pass) or 1 for each cell."""
    return np.array(list(itertools.product((-1, 0, 1), repeat=cells)))


def chances(p: np.ndarray, q: np.ndarray, votes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(right) and P(wrong) with a fair coin for the side, for each way to guess."""
    first, second = (votes == -1).astype(float), (votes == 1).astype(float)
    return (first @ p + second @ q) / 2, (first @ q + second @ p) / 2


def two_laws(weights: list[float]) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.array(weights[:5]), np.array(weights[5:])
    return first / first.sum(), second / second.sum()


@given(LAWS)
@settings(deadline=None, max_examples=60)
def test_pure_guesses_are_right_at_most_as_often_as_epsilon_allows(weights: list[float]) -> None:
    p, q = two_laws(weights)
    epsilon = float(np.abs(np.log(p / q)).max())
    right, wrong = chances(p, q, guesses(5))
    guessed = right + wrong > 0
    share = right[guessed] / (right + wrong)[guessed]
    limit = accuracy_upper(PureDP(max(epsilon, 1e-9)), epsilon)
    assert share.max() <= limit + 1e-12
    assert share.max() == pytest.approx(limit, abs=1e-9)  # the likeliest cell alone attains it


@given(LAWS, st.floats(0.01, 1))
@settings(deadline=None, max_examples=60)
def test_factor_of_delta(weights: list[float], epsilon: float) -> None:
    """P(right) ≤ e^ε P(wrong) + δ, with δ/2 where only one side is ever guessed; both are attained."""
    p, q = two_laws(weights)
    deltas = [float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for a, b in ((p, q), (q, p))]
    votes = guesses(5)
    right, wrong = chances(p, q, votes)
    excess = right - math.exp(epsilon) * wrong
    assert excess.max() <= max(deltas) + 1e-12
    assert excess.max() == pytest.approx(sum(deltas) / 2, abs=1e-12)
    one_sided = (votes >= 0).all(axis=1) | (votes <= 0).all(axis=1)
    assert excess[one_sided].max() == pytest.approx(max(deltas) / 2, abs=1e-12)


@pytest.mark.parametrize("mu", [0.1, 0.7, 2.0])
def test_gaussian_guesses(mu: float) -> None:
    """Cells of N(0, 1) and N(μ, 1), one edge in the middle: the best guess at every cell attains Φ(μ/2)."""
    edges = np.array([-np.inf, mu / 2 - 1, mu / 2 - 0.2, mu / 2, mu / 2 + 0.5, mu / 2 + 1.5, np.inf])
    p, q = np.diff(norm.cdf(edges)), np.diff(norm.cdf(edges - mu))
    votes = guesses(6)
    right, _ = chances(p, q, votes[(votes != 0).all(axis=1)])
    assert right.max() == pytest.approx(accuracy_upper(GDP(mu), mu), abs=1e-12)


@pytest.mark.parametrize("rho", [0.01, 0.3, 1.0, 4.0])
def test_zcdp_accuracy_against_all_pairs_of_coins(rho: float) -> None:
    """h(ρ) = max (p + 1 − q)/2 subject to D_α ≤ αρ in both directions, on a grid of coins and orders."""
    orders = np.concatenate([1 + np.geomspace(1e-5, 1, 30), np.geomspace(2.1, 300, 30)])
    grid = np.concatenate(
        [np.linspace(0.002, 0.998, 250), [accuracy_upper(ZCDP(rho), rho), 1 - accuracy_upper(ZCDP(rho), rho)]]
    )
    p, q = np.meshgrid(grid, grid, indexing="ij")
    allowed = np.ones_like(p, dtype=bool)
    for order in orders:
        for a, b in ((p, q), (q, p)):
            terms = np.logaddexp(
                order * np.log(a) + (1 - order) * np.log(b), order * np.log1p(-a) + (1 - order) * np.log1p(-b)
            )
            allowed &= terms <= (order - 1) * order * rho * (1 + 1e-6) + 1e-14
    best = float(((p + 1 - q) / 2)[allowed].max())
    assert best == pytest.approx(accuracy_upper(ZCDP(rho), rho), abs=1e-7)  # it is on the grid itself


@given(LAWS)
@settings(deadline=None, max_examples=60)
def test_divergence_of_guesses_that_may_pass(weights: list[float]) -> None:
    """s·(2a−1)·logit(a) is at most the larger Kullback–Leibler divergence, for every way to guess."""
    p, q = two_laws(weights)
    divergence = max(float(p @ np.log(p / q)), float(q @ np.log(q / p)))
    votes = guesses(5)
    right, wrong = chances(p, q, votes[(votes != 0).any(axis=1)])
    assert ((right - wrong) * np.log(right / wrong)).max() <= divergence + 1e-12


def test_divergence_of_guesses_is_attained() -> None:
    """By randomised response that passes."""
    p, q = np.array([0.3, 0.1, 0.6]), np.array([0.1, 0.3, 0.6])
    right, wrong = chances(p, q, np.array([[-1, 1, 0]]))
    assert (right - wrong) * np.log(right / wrong) == pytest.approx(float(p @ np.log(p / q)))


@given(st.floats(1e-6, 6), st.sampled_from([PureDP(1.0), ApproxDP(1.0, 0.1), GDP(1.0), ZCDP(1.0)]))
@settings(deadline=None)
def test_parameters_and_accuracies_are_inverse(value: float, claim: Claim) -> None:
    accuracy = accuracy_upper(claim, value)
    assert 0.5 < accuracy < 1
    assert parameter_lower(claim, accuracy) == pytest.approx(value, rel=1e-6, abs=1e-8)


def test_ends() -> None:
    for claim in (PureDP(1.0), GDP(1.0), ZCDP(1.0)):
        assert parameter_lower(claim, 0.5) == parameter_lower(claim, 0.3) == 0
        assert parameter_lower(claim, 1.0) == math.inf
    assert accuracy_upper(ZCDP(1.0), 0.0) == 0.5
    assert accuracy_upper(PureDP(1.0), 1.0) == pytest.approx(float(expit(1)))
