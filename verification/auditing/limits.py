"""How often a guess of the side can be right under a claim: the largest accuracy, and the parameter that an accuracy needs.

Sides are picked by a fair coin; P, Q are the laws of the output on the two sides.

* ε-DP: given *any* output the chance of the likelier side is at most e^ε/(1+e^ε).  A guess may pass on outputs, and depend
  on what was seen before: given that it did not pass, it is right with at most this chance.
* (ε, δ)-DP: the pair is a post-processing of randomised response that names the side with probability δ and is ε-DP
  otherwise [Kairouz, Oh, Viswanath 2015].  So each sample *leaks* with probability δ, independently of the side, and those
  that do not leak are ε-DP.  (Equivalently P(right) ≤ e^ε P(wrong) + δ, as both P(S) ≤ e^ε Q(S) + δ and its mirror image
  are halved by the coin; if only one side is ever guessed, half of the leaks are of no use and δ/2 stands in place of δ.)
* μ-GDP: a guess at every output is right with chance at most Φ(μ/2), the Bayes accuracy of N(0,1) against N(μ,1).
* ρ-zCDP: the Kullback–Leibler divergences of the guesses (first side, second side, pass) are at most ρ in both directions, as
  D_α ≤ αρ for all α > 1.  Exchanging P with Q and the two guesses with each other changes nothing, and the divergence is
  jointly convex: the averages of both, (r, w, o) against (w, r, o) with r = P(right), w = P(wrong), have divergence
  (r − w)·log(r/w) ≤ ρ.  With s the chance of a guess and a that of a right one among them, s·(2a−1)·logit(a) ≤ ρ.  If every
  output is guessed, nothing better follows from all orders α: the best pair of coins is (a, 1−a), randomised response,
  whose largest D_α/α is at α → 1 (proof beside `tailproof.refimpl.claims.pure_to_zcdp`).
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri

from tailproof.refimpl.claims import GDP, ApproxDP, Claim, PureDP


def parameter_name(claim: Claim) -> str:
    if isinstance(claim, PureDP | ApproxDP):
        return "epsilon"
    return "mu" if isinstance(claim, GDP) else "rho"


def parameter(claim: Claim) -> float:
    return float(getattr(claim, parameter_name(claim)))


def delta(claim: Claim) -> float:
    return claim.delta if isinstance(claim, ApproxDP) else 0.0


def may_pass(claim: Claim) -> bool:
    """Does the claim bound how often guesses are right that are made for some outputs only?"""
    return isinstance(claim, PureDP | ApproxDP)


def accuracy_upper(claim: Claim, value: float) -> float:
    """The largest chance of a right guess if the claim's parameter is `value`; for (ε, δ), of a sample that does not leak."""
    if isinstance(claim, PureDP | ApproxDP):
        return float(expit(value))
    if isinstance(claim, GDP):
        return float(ndtr(value / 2))
    return _zcdp_accuracy(value)


def parameter_lower(claim: Claim, accuracy: float) -> float:
    """The least value of the claim's parameter that allows this accuracy: the inverse of `accuracy_upper`."""
    if accuracy <= 0.5:
        return 0.0
    if accuracy >= 1:
        return math.inf
    if isinstance(claim, GDP):
        return 2 * float(ndtri(accuracy))
    log_odds = math.log(accuracy) - math.log1p(-accuracy)
    return log_odds if isinstance(claim, PureDP | ApproxDP) else (2 * accuracy - 1) * log_odds


def _zcdp_accuracy(rho: float) -> float:
    """a = e^t/(1+e^t) with t·tanh(t/2) = ρ; the root lies between max(ρ, √(2ρ)) (as tanh x ≤ min(x, 1)) and ρ + √(2ρ) + 1."""
    if rho <= 0:
        return 0.5
    low, high = max(rho, math.sqrt(2 * rho)), rho + math.sqrt(2 * rho) + 1
    root = brentq(lambda t: t * math.tanh(t / 2) - rho, low * (1 - 1e-12), high, xtol=1e-300, rtol=1e-14, maxiter=500)
    return float(expit(root))
