"""[Wang, Balle and Kasiviswanathan 2019, Theorems 9 and 27] Rényi accounting of subsampled Gaussian releases, replace-one.

A release on a batch of m of the n records, drawn uniformly without replacement, adds Gaussian noise of z times the batch
query's replace-one sensitivity.  With γ = m/n its Rényi divergence of whole order α ≥ 2 is at most

    1/(α − 1)·log(1 + γ²·C(α, 2)·min(4(e^{ε(2)} − 1), 2e^{ε(2)}) + Σ_{j=3}^α γ^j·C(α, j)·min(4√(B(2⌊j/2⌋)B(2⌈j/2⌉)),
    2e^{(j−1)ε(j)})),

ε(j) = j/(2z²) and B(l) = E(p/q − 1)^l, p and q the normal laws 1/z apart; and at most ε(α), for every batch is private by
itself.  T such releases, each with a fresh batch, add up.  (ε, δ) follows by [CKS20, Proposition 12] at the best order;
every order is sound. Poisson sampling is not used: its usual bounds are for add-remove.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

from tailproof.refimpl.claims import zcdp_epsilon
from tailproof.refimpl.validation import FloatArray, InputError, between, positive, probability, whole

ORDERS = np.concatenate([np.arange(2, 65), 2 ** np.arange(7, 11)])

SHARP = 64
"""Up to this order the sharper of the two theorems is used."""


def subsampled_renyi(order: int, *, share: float, multiplier: float) -> float:
    """An upper bound of the Rényi divergence of one release; `share` is γ, `multiplier` is z."""
    alpha, z = whole("order", order, least=2), positive("multiplier", multiplier)
    gamma = between("share", share, 0.0, 1.0)
    plain = alpha / (2 * z**2)
    if gamma == 0:
        return 0.0
    j = np.arange(2, alpha + 1)
    log_binomials = gammaln(alpha + 1) - gammaln(j + 1) - gammaln(alpha - j + 1)
    moments = math.log(2) + (j - 1) * j / (2 * z**2)
    if alpha <= SHARP:
        log_b = _log_moments(z)
        moments = np.minimum(moments, math.log(4) + (log_b[j // 2] + log_b[(j + 1) // 2]) / 2)
    terms = log_binomials + j * math.log(gamma) + moments
    second = 1 / z**2  # ε(2)
    sharper = math.log(4) + (math.log(math.expm1(second)) if second < 30 else second)
    terms[0] = log_binomials[0] + 2 * math.log(gamma) + min(sharper, math.log(2) + second)
    return min(plain, float(np.logaddexp(0.0, logsumexp(terms))) / (alpha - 1))


@lru_cache(maxsize=64)
def _log_moments(z: float) -> FloatArray:
    """log B(2i), i = 0..SHARP/2 + 1: by the trapezoidal rule, which converges beyond all powers for such integrands; rounded
    up.
    """
    even = 2 * np.arange(1, SHARP // 2 + 2)[:, np.newaxis]
    x = np.arange(-40.0, 40.0 + even[-1, 0] / z, 0.05)
    losses = x / z - 1 / (2 * z**2)
    with np.errstate(divide="ignore"):
        growth = np.maximum(losses - 40, 0.0) + np.log(np.abs(np.expm1(np.minimum(losses, 40.0))))
    logs = logsumexp(even * growth - x**2 / 2, axis=1) + math.log(0.05 / math.sqrt(2 * math.pi)) + 1e-12
    return np.concatenate([[0.0], logs])


def epsilon_of(*, share: float, multiplier: float, steps: int, delta: float) -> float:
    """An ε with which T releases together are (ε, δ)-DP, replace-one."""
    steps, delta = whole("steps", steps, least=1), probability("delta", delta)
    divergences = np.array([subsampled_renyi(int(order), share=share, multiplier=multiplier) for order in ORDERS])
    best = float(_converted(steps * divergences, delta).min())
    return max(0.0, min(best, zcdp_epsilon(steps / (2 * multiplier**2), delta)))


def _converted(divergences: FloatArray, delta: float) -> FloatArray:
    return np.asarray(divergences + np.log1p(-1 / ORDERS) - (math.log(delta) + np.log(ORDERS)) / (ORDERS - 1))


@lru_cache(maxsize=256)
def noise_multiplier(*, epsilon: float, delta: float, share: float, steps: int) -> float:
    """The least z, up to rounding and on the safe side, for which `epsilon_of` is at most ε."""
    positive("epsilon", epsilon)

    def excess(log_z: float) -> float:
        return epsilon_of(share=share, multiplier=math.exp(log_z), steps=steps, delta=delta) - epsilon

    low, high = -3.0, 0.0
    while excess(high) > 0:
        high += 1
        if high > 40:
            raise InputError(f"epsilon = {epsilon!r}: no noise is found for it")
    if excess(low) <= 0:
        return math.exp(low)
    return math.exp(brentq(excess, low, high, xtol=1e-13) + 1e-12)
