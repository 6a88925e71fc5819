"""Moreau envelopes of generalised linear losses, for solvers that need derivatives where φ has a kink or bends sharply.

    φ_μ(m; t) = min_s φ(s; t) + (m − s)²/(2μ),   φ_μ* = φ* + μv²/2,   φ_μ'(m) = v = φ'(s),   s = m − μ·v.

φ_μ is differentiable with φ_μ'' = φ''(s)/(1 + μφ''(s)) ≤ 1/μ, and φ_μ ≤ φ.  Every record has a width μ of its own: the
targets of a smoothed loss have two columns, [target | width].  Width 0 leaves φ as it is, kinks included.

A smoothed loss never decides what is true: certificates are about φ itself, and only borrow slopes v from φ_μ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit

from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, ReLU, Squared
from tailproof.refimpl.validation import FloatArray, InputError


@dataclass(frozen=True)
class Smoothed(GlmLoss):
    """φ_μ of a loss, with targets of shape (n, 2): the target of φ and the width μ."""

    loss: GlmLoss
    target: Literal["none", "real", "label"] = field(init=False)  # type: ignore[misc]
    slope_range: tuple[float, float] = field(init=False)  # type: ignore[misc]

    curvature_upper: ClassVar[float] = np.inf
    is_polyhedral: ClassVar[bool] = False
    is_smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", self.loss.target)
        object.__setattr__(self, "slope_range", self.loss.slope_range)

    def phi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        v, width = self.dphi(m, t), t[:, 1]
        return self.loss.phi(m - width * v, t[:, 0]) + width * np.square(v) / 2

    def dphi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        targets, width = t[:, 0], t[:, 1]
        match self.loss:
            case Affine():
                return np.ones_like(m)
            case Hinge():
                return _ramp(m - 1, width, -1.0, 0.0)
            case ReLU():
                return _ramp(m - targets, width, 0.0, 1.0)
            case Absolute():
                return _ramp(m - targets, width, -1.0, 1.0)
            case Squared():
                return np.asarray((m - targets) / (1 + width))
            case L4():
                return 4 * _cubic_root(m - targets, 4 * width) ** 3
            case Logistic():
                return _logistic_slope(m, width)
        raise InputError(f"loss = {self.loss!r}: cannot be smoothed; must be one of the generalised linear losses")

    def d2phi(self, m: FloatArray, t: FloatArray, /) -> FloatArray:
        v, width = self.dphi(m, t), t[:, 1]
        bends = self.loss.d2phi(m - width * v, t[:, 0])
        if bends is not None:
            return np.asarray(bends / (1 + width * bends))
        low, high = self.slope_range
        return np.where((v > low) & (v < high), 1 / width, 0.0)

    def finite_conjugate(self, v: FloatArray, t: FloatArray, /) -> FloatArray:
        return self.loss.finite_conjugate(v, t[:, 0]) + t[:, 1] * np.square(v) / 2

    def cvxpy_phi(self, _margin: Any, _t: float, /) -> Any:
        raise InputError("a smoothed loss has no cvxpy form")


def _ramp(excess: FloatArray, width: FloatArray, low: float, high: float) -> FloatArray:
    """The slope of a smoothed kink at 0: excess/width between the slopes on its sides."""
    return np.clip(excess / width, low, high)


def _cubic_root(rho: FloatArray, weight: FloatArray) -> FloatArray:
    """The root s of s + weight·s³ = ρ: s = 2k·sinh u with 3·weight·k² = 1 and 2k·sinh(3u) = 3ρ; polished by Newton."""
    k = 1 / np.sqrt(3 * np.maximum(weight, 1e-300))
    s = np.where(weight > 0, 2 * k * np.sinh(np.arcsinh(1.5 * rho / k) / 3), rho)
    s = np.where(np.abs(rho) < 1e-5 * k, rho, s)  # weight·ρ² ≪ 1: the hyperbolic form has no digits to offer
    for _ in range(2):
        s = s - (s + weight * s**3 - rho) / (1 + 3 * weight * np.square(s))
    return np.asarray(s)


def _logistic_slope(m: FloatArray, width: FloatArray) -> FloatArray:
    """−expit(−s) where s − width·expit(−s) = m."""
    slope: FloatArray = -expit(-m)
    wide = np.flatnonzero(width > 0)
    if wide.size:
        mu, goal = width[wide], m[wide]
        mirrored = goal < -mu / 2  # there s < 0, and −s solves the same equation with −m − width in place of m
        s = _positive_root(np.where(mirrored, -goal - mu, goal), mu)
        slope[wide] = np.where(mirrored, -expit(s), -expit(-s))
    return slope


def _positive_root(m: FloatArray, mu: FloatArray) -> FloatArray:
    """The root of s − mu·expit(−s) = m where it is ≥ 0.

    The left side is concave for s ≥ 0: Newton's method climbs to the root from any start left of it.  Since
    expit(−s) ≥ e^{−s}/2 there, the root is at least m + W(z), z = mu·e^{−m}/2, and W(z) ≥ log z − log log z for z ≥ e.
    """
    log_z = np.log(mu / 2) - m
    lift = np.where(log_z >= 1, log_z - np.log(np.maximum(log_z, 1.0)), 0.0)
    s = np.maximum(m + lift, 0.0)
    for _ in range(60):
        q: FloatArray = expit(-s)
        step = (m - s + mu * q) / (1 + mu * q * (1 - q))
        s = np.maximum(s + step, 0.0)
        if not (np.abs(step) > 4e-16 * s + 1e-300).any():
            break
    return s
