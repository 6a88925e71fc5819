"""Values of the Lipschitz extension at a point, for all records at once, each with a bound of its error.

A record's certificate (see `certificate`) proves that f(y) + C‖w − y‖, at the y that was found, is at most its gap above f_C(w).
Evaluating that in floats, with the margin ⟨x, y⟩ rounded, moves it by no more than `_rounding` says.  Records for which both
together are too coarse, such as those of 1e12 and more, are evaluated once more, in as many bits as they need.

What is said of a record depends on that record and on the point, and on no other record but for the last bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tailproof.refimpl.domains import EPS
from tailproof.refimpl.extension.batched import Batch, Extension, batch
from tailproof.refimpl.extension.certificate import Problem, record_gaps_upper
from tailproof.refimpl.extension.certified import bits_for, certificate_of, refined_value
from tailproof.refimpl.extension.refined import refine
from tailproof.refimpl.losses import GlmLoss
from tailproof.refimpl.validation import FloatArray, IntArray, positive


@dataclass(frozen=True, eq=False)
class Values:
    """f_C(w, x_i) in floats, at most how far they are from the truth, and the mean of subgradients that are as good."""

    values: FloatArray
    errors: FloatArray
    slope: FloatArray


@dataclass(frozen=True, eq=False)
class Evaluator:
    """f_C of the records of a problem.  `tolerance` is the error that is allowed for each."""

    problem: Problem
    tolerance: float

    def __post_init__(self) -> None:
        positive("tolerance", self.tolerance)

    @cached_property
    def batch(self) -> Batch:
        p = self.problem
        return batch(loss=p.loss, data=p.data, domain=p.domain, lipschitz=p.lipschitz)

    def at(self, point: FloatArray) -> Values:
        found = self.batch.at(point)
        certificate = certificate_of(self.problem, point, found.duals, found.minimisers(), found.subgradients())
        errors = record_gaps_upper(self.problem, certificate) + self._rounding(found)
        return Values(found.values, errors, certificate.subgradients.mean(axis=0))

    def coarse(self, found: Values) -> IntArray:
        """The records that floats do not give to half the tolerance; where a bound is not even a number, too."""
        return np.flatnonzero(~(found.errors <= self.tolerance / 2))

    def exactly(self, point: FloatArray, index: int) -> Fraction:
        """f_C of one record, to a quarter of the tolerance and never too small: a rational number."""
        bits = max(64, int(bits_for(self.problem, np.array([index]), self.tolerance / 4)[0]))
        return refined_value(self.problem, point, index, refine(self.problem, point, index, bits=bits), bits=bits)

    def _rounding(self, found: Extension) -> FloatArray:
        """At most how far f(y) + C‖w − y‖ in floats is from its exact value at y, with y moved into W.

        A margin errs by EPS times a multiple of ‖x‖ and of the distance of W from the origin; φ is convex, so this moves its
        value by at most the error times the steeper slope at the ends.  Quadratic parts have gradients no longer than L over W.
        """
        p = self.problem
        far = p.domain.max_norm_from(np.zeros(p.dimension)) + p.domain.diameter_upper()
        unit = 16 * (p.dimension + 8) * EPS
        size = np.abs(found.values) + p.lipschitz * far
        if isinstance(p.loss, GlmLoss):
            shift = unit * p.norms * far
            ends = (np.abs(p.loss.dphi(found.margins + side * shift, p.targets)) for side in (-1, 1))
            slopes = np.maximum(*ends) * p.norms
        else:
            slopes = p.loss.lipschitz_upper(p.data, p.domain)
        return np.asarray(unit * (size + slopes * far))
