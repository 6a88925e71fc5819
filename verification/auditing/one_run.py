"""Audits by a single run: canaries that are in the data, or not, by fair coins, and guesses of the coins from the output.

[SNJ] Steinke, Nasr and Jagielski 2023.  m independent fair coins S_i decide, for every canary i, which of two neighbouring
versions of the data holds (the canary or another record; under add-remove the canary or none).  From the output of one run, r of
the coins are guessed; V is the number of right guesses.

Theorem (sharp form of [SNJ, Theorem 5.2]).  If the mechanism is (ε, δ)-DP, r is fixed beforehand and W ~ Bin(r, e^ε/(1+e^ε)), then

    P(V ≥ v) ≤ P(W ≥ v)·(1 + mδ·P(W < v)/(v·P(W = v))),    1 ≤ v ≤ r,

and some mechanism attains it (as far as the right side is below 1).  For δ = 0 it also holds given the output, and so with an r
that depends on it.

Proof.  Let M map coins s ∈ {±1}^m to guesses t ∈ {−1, 0, 1}^m, r of them not 0.  Permute the coins and flip them by a mask, run M,
and undo both: a mixture of (ε, δ)-DP mechanisms with the same V, which is (ε, δ)-DP since the divergence ∫(p − e^ε q)₊ is jointly
convex.  So P_s(t) may be taken to depend on s and t only through the number k of right guesses.  Write a_k = P(V = k).  Of the
outputs with k right guesses a share k/m has coin i guessed and right, (r − k)/m guessed and wrong; turning coin i makes k − 1 or
k + 1 of k.  With P_s(t) = a_k/(C(m,r)·C(r,k)), ∫(P_s − e^ε P_s')₊ ≤ δ is

    Σ_k [k·a_k − e^ε (r−k+1)·a_{k−1}]₊ + Σ_k [(r−k)·a_k − e^ε (k+1)·a_{k+1}]₊ ≤ mδ.

Put a_k = w_k u_k with w_k = P(W = k), for which k·w_k = e^ε (r−k+1)·w_{k−1}: the first sum is Σ k·w_k [u_k − u_{k−1}]₊.  Leave the
second out.  Maximising Σ_{k≥v} a_k is a linear program in u; falling u never helps, so u = u₀ + jumps y_j ≥ 0, with
u₀ + Σ y_j P(W ≥ j) = 1 and Σ j·w_j y_j ≤ mδ.  Two constraints: a vertex has u₀ and one jump, which gains, per unit of mδ,
P(W ≥ v)P(W < j)/(j·w_j) for j ≤ v and P(W < v)P(W ≥ j)/(j·w_j) for j ≥ v.  As w is log-concave, P(W < j)/w_{j−1} grows and
P(W ≥ j)/w_j falls with j, and j·w_j = e^ε (r−j+1)·w_{j−1}: j = v is best, and gains what is claimed.  Its u is non-decreasing, so
the second sum is 0 and the bound attained.  ∎

[SNJ] has P(W ≥ v) + 2mδ·max_i P(v − i ≤ W < v)/i, which is larger.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, bdtrc

from tailproof.refimpl.validation import FloatArray, InputError, between, nonnegative, probability, vector, whole

LARGEST = 30.0  # an ε beyond this is not distinguished from it


def p_value(correct: int, *, guesses: int, canaries: int, epsilon: float, delta: float = 0.0) -> float:
    """The largest probability of so many right guesses under (ε, δ)-DP: the theorem's right side."""
    r, m = whole("guesses", guesses, least=1), whole("canaries", canaries, least=1)
    if r > m:
        raise InputError(f"guesses = {r}: must be at most the number of canaries, {m}")
    v = whole("correct", correct, least=0, most=r)
    epsilon, delta = nonnegative("epsilon", epsilon), between("delta", delta, 0.0, 1.0)
    if v == 0:
        return 1.0
    odds = math.exp(-epsilon)
    share = odds / (1 + odds)  # of wrong guesses: r − W is Bin(r, share), exact where 1 − share would round to 1
    tail, rest = float(bdtr(r - v, r, share)), float(bdtrc(r - v, r, share))
    if delta == 0:
        return tail
    if v > r * (1 - share):
        excess = rest * _sum_of_products(odds, np.arange(r - v, 0, -1) / np.arange(v + 1, r + 1))
    else:
        excess = tail * (_sum_of_products(1 / odds, np.arange(v, 0, -1) / np.arange(r - v + 1, r + 1)) - 1)
    return min(1.0, tail + m * delta * excess / v)


def _sum_of_products(odds: float, ratios: FloatArray) -> float:
    """1 + x₁ + x₁x₂ + …, x = ratios / odds: P(W ≥ v)/P(W = v) or P(W ≤ v)/P(W = v), without underflow of either."""
    return 1.0 + float(np.cumprod(ratios / odds).sum())


def epsilon_lower(
    correct: int, *, guesses: int, canaries: int, delta: float = 0.0, confidence: float = 0.95, largest: float = LARGEST
) -> float:
    """The largest ε that these guesses refute, or 0 when they refute none; never above `largest`.

    The p-value is a supremum over (ε, δ)-DP mechanisms and so does not fall in ε: bisection, rounded down.
    """
    error = 1 - probability("confidence", confidence)

    def refuted(epsilon: float) -> bool:
        return p_value(correct, guesses=guesses, canaries=canaries, epsilon=epsilon, delta=delta) <= error

    low, high = 0.0, largest
    if not refuted(low):
        return 0.0
    if refuted(high):
        return high
    while high - low > 1e-9 * (1 + low):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class OneRun:
    """`epsilon_lower` holds with the stated confidence for everything that was looked at."""

    epsilon_lower: float
    delta: float
    confidence: float
    canaries: int
    guesses: int
    correct: int
    looked_at: tuple[tuple[int, int], ...]
    """(guesses, right ones) of every number of guesses that was tried."""


def right_guesses(scores: FloatArray, coins: FloatArray, guesses: int) -> int:
    """The `guesses` // 2 lowest scores are taken for −1, as many (or one more) of the highest for +1; ties by their order."""
    order = np.argsort(scores, kind="stable")
    lowest, highest = order[: guesses // 2], order[len(order) - (guesses - guesses // 2) :]
    return int((coins[lowest] < 0).sum() + (coins[highest] > 0).sum())


def audit_one_run(
    scores: FloatArray,
    coins: FloatArray,
    *,
    delta: float,
    confidence: float = 0.95,
    guesses: Sequence[int] | None = None,
) -> OneRun:
    """From one score per canary, high when its coin looks like +1: a lower bound of ε at δ.

    The numbers of guesses to try are fixed beforehand, by default all canaries and a quarter of them; they share the error.
    Scores must not have seen the coins except through the mechanism's output, and equal scores must not be ordered by them.
    """
    scores = vector("scores", scores)
    coins = vector("coins", coins, size=len(scores))
    if len(scores) < 1 or not np.isin(coins, (-1.0, 1.0)).all():
        raise InputError("coins: every entry must be -1 or 1, and there must be one")
    m, error = len(scores), 1 - probability("confidence", confidence)
    tried = sorted({whole("guesses", r, least=1, most=m) for r in (guesses or (m, max(1, m // 4)))})
    found = [(r, right_guesses(scores, coins, r)) for r in tried]
    bounds = [epsilon_lower(v, guesses=r, canaries=m, delta=delta, confidence=1 - error / len(tried)) for r, v in found]
    best = int(np.argmax(bounds))
    return OneRun(bounds[best], delta, confidence, m, *found[best], looked_at=tuple(found))
