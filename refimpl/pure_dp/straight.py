"""[ours] Ellipsoids as balls: w = T·u, T = basis·diag(axes), maps a unit ball onto an ellipsoid, and ⟨x, w⟩ is ⟨Tᵀx, u⟩.

So a generalised linear loss of the record x over the ellipsoid is the same loss of Tᵀx over the ball.  Every record is mapped by
itself and by public numbers: neighbours stay neighbours, and a claim over the ball is one over the ellipsoid.  ‖Tᵀx‖ is at most the
longest semi-axis times ‖x‖.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid
from tailproof.refimpl.losses import GlmLoss
from tailproof.refimpl.validation import FloatArray, InputError


@dataclass(frozen=True, eq=False)
class Straight:
    """A set, and the ball or box that it is the image of."""

    domain: Ball | Box | Ellipsoid
    inner: Ball | Box

    @property
    def stretch(self) -> float:
        """The longest semi-axis; 1 where the set is its own image."""
        return float(self.domain.axes.max()) if isinstance(self.domain, Ellipsoid) else 1.0

    def rows(self, model: GlmLoss, rows: FloatArray) -> FloatArray:
        """The records Tᵀx, with their labels or targets."""
        model.split(rows)  # refuses labels other than ±1
        if not isinstance(self.domain, Ellipsoid):
            return rows
        d = self.domain.dimension
        return np.column_stack([(rows[:, :d] @ self.domain.basis) * self.domain.axes, rows[:, d:]])

    def into(self, point: FloatArray) -> FloatArray:
        if not isinstance(self.domain, Ellipsoid):
            return point
        return self.inner.project((point @ self.domain.basis) / self.domain.axes)

    def back(self, point: FloatArray) -> FloatArray:
        if not isinstance(self.domain, Ellipsoid):
            return point
        return self.domain.project(self.domain.basis @ (self.domain.axes * point))


def straighten(domain: Domain) -> Straight:
    """A ball or a box as it is, an ellipsoid as the image of a ball."""
    match domain:
        case Ball() | Box():
            return Straight(domain, domain)
        case Ellipsoid():
            return Straight(domain, Ball((domain.center @ domain.basis) / domain.axes, 1.0))
    raise InputError(
        f"domain: is of type {type(domain).__name__}; must be a ball, a box or an ellipsoid for objective perturbation"
    )
