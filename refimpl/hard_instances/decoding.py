"""How well a private algorithm can tell data sets apart, with all constants: what the lower bounds of the papers rest on.

Two data sets that differ in k records (`pair_error_lower`, the average of both errors).
  (ε, δ)-DP, ε-DP.  Take data sets in between, one record after the other, and q_i the chance of "the second" on the i-th:
      q_{i+1} ≤ e^ε·q_i + δ and 1 − q_i ≤ e^ε(1 − q_{i+1}) + δ.  Of all such chains the symmetric one has the least errors,
      for the largest q_k as a function of q_0 is concave and symmetric.  From its middle (q = ½, or (1 − δ)/(1 + e^ε) if k
      is odd) outward the error is multiplied by e^{−ε} after δ is taken off.  Without δ and for even k this is ½e^{−εk/2},
      the square root of what e^{−εk} would give.
  ρ-zCDP.  The data sets are k²ρ-zCDP.  (a) With both errors e, KL = (1 − 2e)·log((1 − e)/e) ≤ k²ρ; different errors are not
      better, for KL is convex.  (b) By a data set in the middle, at ρ' = ⌈k/2⌉²ρ: an event of chance ½ there has chance
      ½^{α/(α−1)}e^{−αρ'} or more at the ends (Rényi divergence of order α), which is e^{−(√ρ' + √log 2)²} for the best α,
      and by convexity no other split of 1 helps.

M data sets, each two of which differ in the same k records (`member_error_lower`, the average over them); the pairs' bound, or
  (ε, δ)-DP.  P_v(A_v') ≥ e^{−εk}(P_v'(A_v') − δ_k), δ_k = δ(e^{εk} − 1)/(e^ε − 1), A_v the event that v is decoded.  Summed
      over v' ≠ v and averaged over v, the error β has β ≥ (M − 1)e^{−εk}(1 − β − δ_k).
  ρ-zCDP.  Fano: with the mutual information I ≤ the mean divergence from any one law, kl(1 − β ‖ 1/M) ≤ I.  The law may be
      the mean of all, (1 − 1/M)k²ρ, or that of data with ⌊k/M⌋ records or more of each member, (k − ⌊k/M⌋)²ρ.

Spikes (`spike_failure_lower`).  M laws of records that are 0 but for a probability p, and the member's vector
otherwise.  Data of two members that have their non-zero records at the same places differ there only; the bound above holds
given these places, whose number is binomial.  P4 (G.2) has half the bound at ⌈np⌉ in place of the mean over all numbers,
which is smaller.  Nothing here uses a hidden constant, and no bound needs n to be large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP, gdp_to_zcdp, to_replace_one
from tailproof.refimpl.validation import InputError, between, probability, whole

Budget: TypeAlias = float | Claim
"""A claim; or ε, of pure differential privacy."""

_ROUNDING = 1 - 1e-9
_LOG2 = math.log(2)


def claim_of(budget: Budget) -> PureDP | ApproxDP | ZCDP:
    """For replacing a record.  μ-GDP is ½μ²-zCDP."""
    claim = PureDP(budget) if isinstance(budget, int | float) else to_replace_one(budget)
    return gdp_to_zcdp(claim) if isinstance(claim, GDP) else claim


def pair_error_lower(budget: Budget, distance: int) -> float:
    """The least average error of a private test between two data sets that differ in so many records."""
    return _pair(claim_of(budget), whole("distance", distance, least=0))


def member_error_lower(budget: Budget, distance: int, members: int) -> float:
    """The least average error of privately naming one of M data sets that differ in the same records."""
    return _named(claim_of(budget), whole("distance", distance, least=0), whole("members", members, least=2))


def spike_failure_lower(budget: Budget, *, members: int, chance: float, n: int) -> float:
    """The average chance with which any private algorithm misses the member, from n records of a law with spikes."""
    p, claim = between("chance", chance, 0, 1), claim_of(budget)
    return mixed(lambda k: _named(claim, k, whole("members", members, least=2)), n, p)


def mixed(error: Callable[[int], float], n: int, chance: float) -> float:
    """The mean of `error` over a binomial number; what is left out of its tail only makes it less."""
    least, most = (int(x) for x in binom.ppf([1e-12, 1 - 1e-12], whole("n", n, least=1), chance))
    numbers = np.arange(max(least - 1, 0), most + 1)
    weights = binom.pmf(numbers, n, chance)
    return float(weights @ np.array([error(int(k)) for k in numbers]))


def hardest_chance(budget: Budget, *, members: int, n: int, failure: float) -> float:
    """The largest p, up to 2⁻⁴⁰ of it, at which failing with this probability cannot be avoided."""
    zeta = probability("failure", failure)

    def proved(p: float) -> bool:
        return spike_failure_lower(budget, members=members, chance=p, n=n) >= zeta

    if proved(1.0):
        return 1.0
    low, high = 1e-12, 1.0
    if not proved(low):
        raise InputError(f"failure = {failure!r}: {members} members prove no such failure; at most {1 - 1 / members:g}")
    while high > low * (1 + 2**-40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if proved(middle) else (low, middle)
    return low


# ------------------------------------------------------------------------------------------------------------- for one claim


@lru_cache(maxsize=1 << 16)
def _pair(claim: PureDP | ApproxDP | ZCDP, k: int) -> float:
    if k == 0:
        return 0.5
    if isinstance(claim, ZCDP):
        return max(_from_divergence(claim.rho * k * k), _from_the_middle(claim.rho * (-(-k // 2)) ** 2)) * _ROUNDING
    epsilon, delta = _epsilon_delta(claim)
    error = 0.5 if k % 2 == 0 else (1 - delta) * _logistic(epsilon)
    for _ in range(k // 2):
        error = max(0.0, error - delta) * math.exp(-epsilon)
    return error * _ROUNDING


@lru_cache(maxsize=1 << 16)
def _named(claim: PureDP | ApproxDP | ZCDP, k: int, members: int) -> float:
    return 1 - 1 / members if k == 0 else max(_pair(claim, k), _among(claim, k, members) * _ROUNDING)


def _among(claim: PureDP | ApproxDP | ZCDP, k: int, members: int) -> float:
    if isinstance(claim, ZCDP):
        return _fano(min((1 - 1 / members) * k * k, (k - k // members) ** 2) * claim.rho, members)
    epsilon, delta = _epsilon_delta(claim)
    odds = (members - 1) * math.exp(-epsilon * k)
    slack = math.inf if epsilon * k > 700 else delta * math.expm1(epsilon * k) / math.expm1(epsilon)
    return max(0.0, odds * (1 - (slack if delta else 0.0)) / (1 + odds))


def _epsilon_delta(claim: PureDP | ApproxDP) -> tuple[float, float]:
    return (claim.epsilon, claim.delta) if isinstance(claim, ApproxDP) else (claim.epsilon, 0.0)


def _logistic(t: float) -> float:
    """1/(1 + e^t), t ≥ 0; 0 where it is below the floats."""
    return math.exp(-t) / (1 + math.exp(-t))


def _from_divergence(kl: float) -> float:
    """(1 − 2e)·log((1 − e)/e) = KL; with t = log((1 − e)/e) it is t·tanh(t/2)."""
    t = brentq(lambda t: t * math.tanh(t / 2) - kl, 0.0, kl + 2.0, xtol=1e-13, rtol=1e-13)
    return _logistic(t)


def _from_the_middle(rho: float) -> float:
    return math.exp(-((math.sqrt(rho) + math.sqrt(_LOG2)) ** 2))


def _fano(information: float, members: int) -> float:
    """The least error β with kl(1 − β ‖ 1/M) ≤ I; so small an I that it is lost in rounding is taken larger."""
    information = max(information, 1e-12)
    if information >= math.log(members):
        return 0.0

    def divergence(error: float) -> float:
        """log M − H(β) − β·log(M − 1)."""
        entropy = -sum(x * math.log(x) for x in (error, 1 - error) if x > 0)
        return math.log(members) - entropy - error * math.log(members - 1)

    return float(brentq(lambda error: divergence(error) - information, 0.0, 1 - 1 / members, xtol=1e-14))
