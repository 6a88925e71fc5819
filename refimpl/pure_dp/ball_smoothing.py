"""[P4, Appendix E.2] Ball smoothing of a loss of a linear model: f^σ(w, x) = E f(w + σU, x), U uniform on the unit ball.

⟨x, U⟩ is ‖x‖·T with density ∝ (1 − t²)^{(d−1)/2} on [−1, 1], so f^σ = E φ(⟨x, w⟩ + σ‖x‖T): a function of the margin again, no
sampling.  For φ with slopes a before a kink and b after it, the slope is a + (b − a)·P(T ≤ (m − kink)/(σ‖x‖)), T's distribution
function being a regularised incomplete beta function.

    0 ≤ f^σ − f ≤ σ·L_x   and the gradient is 2Γ(d/2 + 1)/(√π·Γ((d + 1)/2))·L_x/σ-Lipschitz, at most √d·L_x/σ

(the paper's d in place of √d is loose), L_x over W + σB.  It is the same for all data, so it changes nothing about privacy.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, gammaln

from tailproof.refimpl.losses import Absolute, GlmLoss, Hinge, ReLU
from tailproof.refimpl.validation import FloatArray, InputError, positive, whole


def roughness(dimension: int) -> float:
    """2Γ(d/2 + 1)/(√π·Γ((d + 1)/2)): twice the density of T at 0."""
    d = whole("dimension", dimension, least=1)
    return 2 * math.exp(gammaln(d / 2 + 1) - gammaln((d + 1) / 2)) / math.sqrt(math.pi)


def distribution(t: FloatArray, dimension: int) -> FloatArray:
    """P(T ≤ t): T = 2B − 1, B of the beta law with both parameters (d + 1)/2."""
    half = (dimension + 1) / 2
    return np.asarray(betainc(half, half, (np.clip(t, -1.0, 1.0) + 1) / 2))


def smoothed_slopes(
    loss: GlmLoss, margins: FloatArray, targets: FloatArray, reach: FloatArray, dimension: int
) -> FloatArray:
    """d/dm E φ(m + reach·T; t), `reach` being σ‖x‖; the margins may have a further axis behind that of the records."""
    kink, before, after = _kinks(loss, targets)
    shape = (-1,) + (1,) * (margins.ndim - 1)
    kink, reach = kink.reshape(shape), reach.reshape(shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        where = np.where(reach > 0, (margins - kink) / reach, np.where(margins > kink, 1.0, -1.0))
    return before + (after - before) * distribution(where, dimension)


def _kinks(loss: GlmLoss, targets: FloatArray) -> tuple[FloatArray, float, float]:
    """Where the kink is, and the slopes on both sides."""
    match loss:
        case Absolute():
            return targets, -1.0, 1.0
        case Hinge():
            return np.ones_like(targets), -1.0, 0.0
        case ReLU():
            return targets, 0.0, 1.0
    raise InputError(f"loss = {loss!r}: has no kink to smooth; must be absolute, hinge or relu")


def check_smoothing(loss: GlmLoss, width: float) -> float:
    """σ, if this loss can be smoothed."""
    _kinks(loss, np.zeros(1))
    return positive("smoothing", width)
