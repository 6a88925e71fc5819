"""[Feldman, McMillan and Talwar 2021, Theorems III.1 and III.8; P0 Lemma 6] Privacy amplification by shuffling, explicit.

R^(i)(z_{1:i−1}, ·) an (ε₀, δ₀)-DP local randomiser for every auxiliary input, i = 1..n, applied in turn to the records in a
uniformly random order.  For δ̂ with ε₀ ≤ log(n/(16 log(4/δ̂))) all outputs together are (ε, δ̂ + (e^ε + 1)(1 +
e^{−ε₀}/2)nδ₀)-DP, replace-one, with

    ε = log(1 + (e^{ε₀} − 1)/(e^{ε₀} + 1)·(8√(e^{ε₀}log(4/δ̂)/n) + 8e^{ε₀}/n)).

(The theorem asks for 2 where 4 stands in its condition: the same for all that matters here, and on the safe side.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.optimize import brentq

from tailproof.refimpl.claims import ApproxDP
from tailproof.refimpl.validation import InputError, positive, probability, whole

LOCAL_LIMIT = 0.5
"""P0's proof of Theorem 6 assumes ε₀ ≤ 1/2; that is what its ε = O(√(log(n/δ)/n)) is there for."""


@dataclass(frozen=True)
class LocalBudget:
    """What each record's randomiser may spend."""

    epsilon: float
    delta: float


def shuffled_epsilon(epsilon0: float, *, n: int, slack: float) -> float:
    """ε of the theorem at δ̂ = `slack`; refused where its condition fails."""
    n, epsilon0 = whole("n", n, least=1), positive("epsilon0", epsilon0)
    logs = math.log(4 / probability("slack", slack))
    if math.exp(epsilon0) > n / (16 * logs):
        raise InputError(
            f"n = {n}: shuffling needs at least 16·log(4/δ̂)·e^ε₀ = {16 * logs * math.exp(epsilon0):.4g} records"
        )
    root = 8 * math.sqrt(math.exp(epsilon0) * logs / n) + 8 * math.exp(epsilon0) / n
    return math.log1p(math.tanh(epsilon0 / 2) * root)


def local_budget(claim: ApproxDP, *, n: int) -> LocalBudget:
    """The largest ε₀ ≤ 1/2, with δ̂ = δ/2 and nδ₀ taking the other half, whose shuffled composition is (ε, δ)-DP."""
    slack = claim.delta / 2
    most = shuffled_epsilon(LOCAL_LIMIT, n=n, slack=slack)
    if claim.epsilon > most:
        raise InputError(
            f"epsilon = {claim.epsilon!r}: Theorem 6 needs epsilon <= {most:.6g} at this n and delta, where ε₀ = 1/2"
        )
    epsilon0 = float(
        brentq(lambda e: shuffled_epsilon(e, n=n, slack=slack) - claim.epsilon, 1e-12, LOCAL_LIMIT, xtol=1e-15, rtol=1e-14)
    ) * (1 - 1e-12)
    delta0 = slack / ((math.exp(claim.epsilon) + 1) * (1 + math.exp(-epsilon0) / 2) * n)
    return LocalBudget(epsilon0, delta0)
