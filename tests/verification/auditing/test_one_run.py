"""One-run audits: the bound against linear programs over all mechanisms, its errors exactly, and DP-SGD as the example."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import binom, kstest, norm

from tailproof.refimpl.approx_dp.sgd import multiplier
from tailproof.refimpl.validation import InputError
from tailproof.verification.auditing import canaries
from tailproof.verification.auditing.one_run import audit_one_run, epsilon_lower, p_value, right_guesses


def over_all_mechanisms(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """max P(V ≥ v) over all (ε, δ)-DP maps of m coins to r guesses: every probability is a variable."""
    coins = list(itertools.product((-1, 1), repeat=m))
    guesses = [t for t in itertools.product((-1, 0, 1), repeat=m) if sum(map(abs, t)) == r]
    number, outputs = len(coins) * len(guesses), len(guesses)
    gain = np.zeros(number)
    for i, s in enumerate(coins):
        for j, t in enumerate(guesses):
            if sum(a == b for a, b in zip(s, t, strict=True)) >= v:
                gain[i * outputs + j] = 1 / len(coins)
    edges = [(a, b) for a in range(len(coins)) for b in range(len(coins)) if sum(np.array(coins[a]) != coins[b]) == 1]
    rows, limits, width = [], [], number + len(edges) * outputs  # excess variables beside the probabilities
    for e, (a, b) in enumerate(edges):
        total = np.zeros(width)
        for j in range(outputs):
            row = np.zeros(width)
            row[a * outputs + j], row[b * outputs + j], row[number + e * outputs + j] = 1, -math.exp(epsilon), -1
            rows.append(row)
            limits.append(0.0)
            total[number + e * outputs + j] = 1
        rows.append(total)
        limits.append(delta)
    sums = np.zeros((len(coins), width))
    for i in range(len(coins)):
        sums[i, i * outputs : (i + 1) * outputs] = 1
    cost = -np.concatenate([gain, np.zeros(width - number)])
    found = linprog(cost, A_ub=np.array(rows), b_ub=limits, A_eq=sums, b_eq=np.ones(len(coins)), method="highs")
    assert found.status == 0
    return float(-found.fun)


@pytest.mark.parametrize(("m", "r", "v"), [(1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (3, 2, 1), (3, 2, 2), (3, 3, 2)])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.5, 0.05), (1.5, 0.2)])
def test_the_bound_is_the_maximum_over_all_mechanisms(m: int, r: int, v: int, epsilon: float, delta: float) -> None:
    claimed = p_value(v, guesses=r, canaries=m, epsilon=epsilon, delta=delta)
    assert claimed == pytest.approx(over_all_mechanisms(m, r, v, epsilon, delta), abs=1e-7)


def over_symmetric_mechanisms(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """The same, with the symmetry of the proof used: variables a_k, and the excesses of both sums."""
    e, n = math.exp(epsilon), r + 1
    rows = []
    for k in range(1, r + 1):
        row = np.zeros(n + 2 * r)
        row[k], row[k - 1], row[n + k - 1] = k, -e * (r - k + 1), -1
        rows.append(row)
    for k in range(r):
        row = np.zeros(n + 2 * r)
        row[k], row[k + 1], row[n + r + k] = r - k, -e * (k + 1), -1
        rows.append(row)
    rows.append(np.concatenate([np.zeros(n), np.ones(2 * r)]))
    limits = [0.0] * (2 * r) + [m * delta]
    cost = np.zeros(n + 2 * r)
    cost[v:n] = -1
    total = np.concatenate([np.ones(n), np.zeros(2 * r)])[np.newaxis]
    found = linprog(cost, A_ub=np.array(rows), b_ub=limits, A_eq=total, b_eq=[1.0], method="highs")
    assert found.status == 0
    return float(-found.fun)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 25), st.integers(0, 30), st.floats(0.0, 2.0), st.sampled_from([0.0, 1e-4, 1e-2, 0.1]), st.data())
def test_the_bound_against_the_symmetric_program(
    r: int, more: int, epsilon: float, delta: float, data: st.DataObject
) -> None:
    v = data.draw(st.integers(1, r))
    claimed = p_value(v, guesses=r, canaries=r + more, epsilon=epsilon, delta=delta)
    assert claimed == pytest.approx(over_symmetric_mechanisms(r + more, r, v, epsilon, delta), abs=2e-6)


def published(v: int, r: int, m: int, epsilon: float, delta: float) -> float:
    """[SNJ, Theorem 5.2]"""
    law = binom(r, expit(epsilon))
    i = np.arange(1, v + 1)
    alpha = float(((law.cdf(v - 1) - law.cdf(v - i - 1)) / i).max())
    return min(1.0, float(law.sf(v - 1) + 2 * m * delta * alpha))


@pytest.mark.parametrize(("r", "m"), [(50, 50), (100, 1000), (1000, 1000)])
def test_it_is_sharper_than_the_published_bound(r: int, m: int) -> None:
    for epsilon in (0.5, 2.0):
        for v in range(int(r * expit(epsilon)), r + 1, max(1, r // 20)):
            ours = p_value(v, guesses=r, canaries=m, epsilon=epsilon, delta=1e-5)
            assert ours <= published(v, r, m, epsilon, 1e-5) * (1 + 1e-9)


def test_the_lower_bound_errs_as_seldom_as_stated() -> None:
    """Exactly, of randomised response on every coin, and of the mechanism that attains the bound."""
    for r, epsilon in ((30, 1.0), (400, 0.3), (400, 2.0)):
        counts = np.arange(r + 1)
        law = binom.pmf(counts, r, expit(epsilon))
        wrong = [epsilon_lower(int(v), guesses=r, canaries=r, confidence=0.9) > epsilon for v in counts]
        assert 0.05 < float(law[wrong].sum()) <= 0.1
    refuted = epsilon_lower(24, guesses=30, canaries=40, delta=1e-3, confidence=0.9)
    assert p_value(24, guesses=30, canaries=40, epsilon=refuted, delta=1e-3) <= 0.1
    assert p_value(24, guesses=30, canaries=40, epsilon=refuted + 1e-6, delta=1e-3) > 0.1


def test_p_values_rise_with_epsilon_and_delta_and_fall_with_right_guesses() -> None:
    grid = np.linspace(0, 29, 60)
    for v in (1, 40, 100):
        values = [p_value(v, guesses=100, canaries=200, epsilon=e, delta=1e-4) for e in grid]
        assert (np.diff(values) >= -1e-12).all()
        rising = [p_value(v, guesses=100, canaries=200, epsilon=1.0, delta=d) for d in (0.0, 1e-6, 1e-3, 0.1, 1.0)]
        assert (np.diff(rising) >= 0).all()
    falling = [p_value(v, guesses=100, canaries=200, epsilon=1.0, delta=1e-4) for v in range(101)]
    assert (np.diff(falling) <= 0).all()
    assert falling[0] == 1.0


def test_no_underflow() -> None:
    """All of 3000 guesses right: 2^−3000 is 0 as a float, but δ is not; and where all of the law lies above."""
    assert p_value(3000, guesses=3000, canaries=3000, epsilon=0.0, delta=1e-5) == pytest.approx(1e-5)
    assert p_value(3, guesses=3000, canaries=3000, epsilon=25.0, delta=1e-5) == 1.0
    assert p_value(3000, guesses=3000, canaries=3000, epsilon=29.0) == pytest.approx(1 - 3000 * math.exp(-29), abs=1e-12)


def test_guesses_from_scores() -> None:
    scores = np.array([3.0, -2.0, 0.0, 1.0, -1.0])
    coins = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    assert right_guesses(scores, coins, 2) == 2
    assert right_guesses(scores, coins, 3) == 2  # −2 low; 3 and 1 high
    assert right_guesses(scores, coins, 5) == 3
    rng = np.random.default_rng(0)
    coins = rng.permutation(np.repeat([-1.0, 1.0], 200))
    sure = audit_one_run(coins + 0.1 * rng.random(400), coins, delta=1e-6, guesses=[400, 100])
    assert sure.looked_at == ((100, 100), (400, 400))
    assert sure.correct == sure.guesses == 400
    assert sure.epsilon_lower == pytest.approx(epsilon_lower(400, guesses=400, canaries=400, delta=1e-6, confidence=0.975))
    blind = audit_one_run(rng.random(400), coins, delta=1e-6, confidence=1 - 1e-7)
    assert blind.epsilon_lower == 0.0


def test_scores_of_dp_sgd_have_the_law_of_its_noise() -> None:
    """Full batches: −w_i/η = T·S_i·C/m plus noise of z·2C/m in each of T steps."""
    m, steps = 400, 30
    scores, coins = canaries.dp_sgd_scores(np.random.default_rng(2), canaries=m, epsilon=2.0, delta=1e-5, steps=steps)
    z = multiplier(m, epsilon=2.0, delta=1e-5, batch=m, steps=steps)
    noise = (scores / canaries.STEP - steps * coins * canaries.CLIP / m) / (z * 2 * canaries.CLIP / m * math.sqrt(steps))
    assert kstest(noise, norm.cdf).pvalue > 1e-7


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_dp_sgd_in_one_run(share: float) -> None:
    """True claims stand (false alarms: 1e-7 each); noise for ε = 30 under a claim of ε = 1 is found in one run."""
    for epsilon in (1.0, 8.0):
        scores, coins = canaries.dp_sgd_scores(
            np.random.default_rng(3), canaries=300, epsilon=epsilon, delta=1e-5, share=share, steps=20
        )
        assert audit_one_run(scores, coins, delta=1e-5, confidence=1 - 1e-7).epsilon_lower <= epsilon
    scores, coins = canaries.dp_sgd_scores(
        np.random.default_rng(3), canaries=300, epsilon=30.0, delta=1e-5, share=share, steps=20
    )
    assert audit_one_run(scores, coins, delta=1e-5, confidence=0.999).epsilon_lower > 1.0


def test_bad_input() -> None:
    good = {"guesses": 5, "canaries": 10, "epsilon": 1.0}
    for change in ({"guesses": 11}, {"guesses": 0}, {"canaries": 0}, {"epsilon": -1.0}, {"delta": 2.0}):
        with pytest.raises(InputError):
            p_value(3, **{**good, **change})
    with pytest.raises(InputError, match="correct"):
        p_value(6, **good)
    with pytest.raises(InputError, match="confidence"):
        epsilon_lower(3, guesses=5, canaries=10, confidence=1.0)
    scores, coins = np.arange(4.0), np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(InputError, match="coins"):
        audit_one_run(scores, coins * 2, delta=0.0)
    with pytest.raises(InputError, match="coins"):
        audit_one_run(scores, coins[:3], delta=0.0)
    with pytest.raises(InputError, match="guesses"):
        audit_one_run(scores, coins, delta=0.0, guesses=[5])
    with pytest.raises(InputError, match="scores"):
        audit_one_run(np.array([1.0, np.nan]), coins[:2], delta=0.0)
    with pytest.raises(InputError, match="canaries"):
        canaries.dp_sgd_scores(np.random.default_rng(0), canaries=1, epsilon=1.0, delta=1e-5)
