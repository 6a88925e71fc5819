"""[ours] Tempered losses: every record's gradient is at most C long and its curvature at most B, on the whole space.

A generalised linear loss f(w) = φ(⟨x, w⟩; t) becomes h(w) = ψ(⟨x̃, w⟩), one record at a time, with ‖∇h‖ ≤ C and
∇²h = η·x̃x̃ᵀ/‖x̃‖² wherever it exists, 0 ≤ η ≤ B.  So every Hessian has rank one, which is what objective perturbation needs.

- Absolute, hinge, ReLU loss: f is positively homogeneous in (x, t) (hinge: in x and its constant 1), so s·f is the loss of the
  record (s·x, s·t); s = min(1, C/‖x‖).  h is its Moreau envelope in the margin with μ = ‖s·x‖²/B: the slope rises by 1/μ from
  one end of its range to the other.  s·f − μ/2 ≤ h ≤ s·f.  (A μ of C²/B for all records would do as well for privacy; then the
  smoothing costs C²/(2B) in place of min(‖x‖, C)²/(2B), which spoils the rate where C is large.)
- Affine loss: s·f, up to a constant.
- Logistic loss: s·f with s = min(1, C/‖x‖, 4B/‖x‖²), as φ'' ≤ 1/4.
- Squared loss: that of the record (s·x, s·t), which is s²·f, with s = min(1, √B/‖x‖), its slope cut at C/‖s·x‖ (Huber's loss).

A weight that depends on x alone moves no minimiser of a well-specified model: one whose population gradient vanishes given x,
as for logistic regression, or for absolute and squared loss with noise that is symmetric given x.  In general it does;
`objective` bounds by how much.

Rounding: s and 1/μ are rounded down, so that both caps hold for the float records x̃, t̃, which *are* the records from there on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from tailproof.refimpl.domains import EPS
from tailproof.refimpl.losses import Absolute, Affine, GlmLoss, Hinge, Logistic, Loss, ReLU, Squared
from tailproof.refimpl.validation import FloatArray, InputError

SMALLEST = 1e-120  # norms below count as this where they divide


@dataclass(frozen=True, eq=False)
class Ramps:
    """ψ'(m) = clip((m − kink)·rate, low, high), record by record."""

    kinks: FloatArray
    rates: FloatArray
    lows: FloatArray
    highs: FloatArray

    def _unclipped(self, margins: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray((margins - self.kinks) * self.rates)

    def slopes(self, margins: FloatArray) -> FloatArray:
        return np.clip(self._unclipped(margins), self.lows, self.highs)

    def curvatures(self, margins: FloatArray) -> FloatArray:
        """ψ'', 0 at the two ends of the ramp, where it does not exist."""
        rising = self._unclipped(margins)
        return np.where((rising > self.lows) & (rising < self.highs), self.rates, 0.0)

    def values(self, margins: FloatArray) -> FloatArray:
        """max over u in [low, high] of u·(m − kink) − u²/(2·rate)."""
        u = self.slopes(margins)
        return np.asarray(u * (margins - self.kinks) - u * u / (2 * self.rates))

    def corners(self) -> FloatArray:
        """The margins at which each ramp begins and ends, of shape (2, n)."""
        return np.array([self.kinks + self.lows / self.rates, self.kinks + self.highs / self.rates])


@dataclass(frozen=True, eq=False)
class WeightedLogits:
    """ψ(m) = weight·log(1 + e^{−m}), record by record."""

    weights: FloatArray

    def slopes(self, margins: FloatArray) -> FloatArray:
        return np.asarray(-self.weights * expit(-margins))

    def curvatures(self, margins: FloatArray) -> FloatArray:
        return np.asarray(self.weights * expit(margins) * expit(-margins))

    def values(self, margins: FloatArray) -> FloatArray:
        return np.asarray(self.weights * np.logaddexp(0.0, -margins))

    def corners(self) -> FloatArray:
        return np.zeros((2, len(self.weights)))


@dataclass(frozen=True, eq=False)
class Tempered:
    """h_i(w) = ψ_i(⟨x̃_i, w⟩)."""

    features: FloatArray  # x̃, of shape (n, d)
    curve: Ramps | WeightedLogits

    def __len__(self) -> int:
        return len(self.features)

    def margins(self, point: FloatArray) -> FloatArray:
        return np.asarray(self.features @ point)

    def gradient_terms(self, point: FloatArray) -> FloatArray:
        """∇h_i(point), of shape (n, d)."""
        return np.asarray(self.features * self.curve.slopes(self.margins(point))[:, np.newaxis])

    def gradient(self, point: FloatArray) -> FloatArray:
        """Σ ∇h_i, without forming them."""
        return np.asarray(self.features.T @ self.curve.slopes(self.margins(point)))

    def hessian(self, point: FloatArray) -> FloatArray:
        """Σ ∇²h_i, over the records that curve there."""
        curvatures = self.curve.curvatures(self.margins(point))
        bent = curvatures > 0
        rows = self.features[bent] * np.sqrt(curvatures[bent])[:, np.newaxis]
        return np.asarray(rows.T @ rows)

    def values(self, point: FloatArray) -> FloatArray:
        return self.curve.values(self.margins(point))


def admissible(loss: Loss) -> GlmLoss:
    """The loss, if its Hessians have rank one and its slopes can be cut record by record."""
    if not isinstance(loss, Absolute | Affine | Hinge | Logistic | ReLU | Squared):
        raise InputError(
            f"loss = {loss!r}: must be absolute, affine, hinge, logistic, relu or squared; objective perturbation is for "
            "generalised linear losses, whose Hessians have rank one"
        )
    return loss


def temper(loss: Loss, rows: FloatArray, *, clip: float, curvature: float) -> Tempered:
    """The tempered losses of these records; `clip` is C, `curvature` is B."""
    model = admissible(loss)
    features, targets = model.split(rows)
    x = model.signed_features(rows)
    d = features.shape[1]
    # A computed norm errs by less than (d/4 + 2)·EPS, and so does every product below by a few EPS.
    norms = np.maximum(_norms(x), SMALLEST)
    down = 1 - (2 * d + 32) * EPS
    C, B = clip * down, curvature * down
    if isinstance(model, Logistic):
        return Tempered(x, WeightedLogits(np.minimum(1.0, np.minimum(C / norms, 4 * B / norms / norms))))
    if isinstance(model, Squared):
        scales = np.minimum(1.0, np.sqrt(B) / norms)
        slopes = C / (scales * norms)
        return Tempered(x * scales[:, np.newaxis], Ramps(targets * scales, np.ones(len(x)), -slopes, slopes))
    scales = np.minimum(1.0, C / norms)
    low, high = model.slope_range
    kinks = scales if isinstance(model, Hinge) else targets * scales
    rates = B / np.square(scales * norms)
    return Tempered(x * scales[:, np.newaxis], Ramps(kinks, rates, np.full(len(x), low), np.full(len(x), high)))


def _norms(rows: FloatArray) -> FloatArray:
    """Of rows with entries of at most 1e60: no square overflows; one that underflows is below SMALLEST²."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))
