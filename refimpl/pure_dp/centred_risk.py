"""[P4, Algorithm 6] The potential of the localised exponential mechanism, certified, and of certain sensitivity.

On a public set W_loc, part of W, with a public anchor a in it:

    V(w) = F̂_{λ,C}(w) − F̂_{λ,C}(a) = (1/n) Σ [f_C(w, x_i) − f_C(a, x_i)] + (λ/2)(‖w − w0‖² − ‖a − w0‖²).

Statement 1: |computed V − V| ≤ ζ at every point, for all data (`extension.values`); ζ = min(1e-6, 0.01/n)·C·max ‖w − a‖.
Statement 2: replacing a record changes the computed V(w) by at most

    Δ = (2C/n)·max ‖w − a‖ + 2ζ  over W_loc,   at most 1 % more than the first term                           (`sensitivity`).

It follows from Statement 1, f_C being C-Lipschitz.  Should that fail, it holds all the same, but for rounding: every bracket is
computed from its record alone and cut to ±C‖w − a‖, whatever the computation gives.  (Records are evaluated together, so that the
last bits of one may depend on how many others there are of its kind: that is what ζ is for.)
The paper's Lemma F.1 bounds the distance from an arbitrary anchor by the diameter, twice as much as from the middle of a ball.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tailproof.refimpl.domains import Localised
from tailproof.refimpl.extension.certificate import Problem
from tailproof.refimpl.extension.values import Evaluator, Values
from tailproof.refimpl.losses import Loss
from tailproof.refimpl.validation import FloatArray, InputError, IntArray


def accuracy(n: int) -> float:
    """ζ in units of C·max ‖w − a‖, the most that a record can add to n·V."""
    return min(1e-6, 0.01 / n)


def sensitivity_upper(n: int, *, lipschitz: float, distance: float) -> float:
    """Δ."""
    return 2 * lipschitz * distance * (1 / n + accuracy(n))


@dataclass(frozen=True, eq=False)
class Tangent:
    """V at a point, and a paraboloid below V."""

    point: FloatArray
    value: float
    height: float
    slope: FloatArray
    weight: float

    def is_above(self, point: FloatArray, level: float) -> bool:
        """Whether V, as computed, is surely above the level at another point."""
        move = point - self.point
        return self.height + float(self.slope @ move) + self.weight / 2 * float(move @ move) > level


@dataclass(frozen=True, eq=False)
class CentredRisk:
    """V on W_loc = `local`, a part of W = `local.base`; `weight` is λ, `lipschitz` C, `center` w0."""

    loss: Loss
    data: FloatArray
    local: Localised
    lipschitz: float
    weight: float
    center: FloatArray

    @cached_property
    def problem(self) -> Problem:
        return Problem(self.loss, self.data, self.local.base, self.lipschitz, self.weight, self.center, self.local)

    @property
    def dimension(self) -> int:
        return self.local.dimension

    @cached_property
    def anchor(self) -> FloatArray:
        """The centre of the ball or a middle of the set, whichever has the rest of W_loc nearer.  Public."""
        around = (self.local.center, self.local.base.interior_point(), self.local.interior_point())
        return min((a for a in around if self.local.contains(a)), key=self.local.max_norm_from)

    @cached_property
    def reach(self) -> float:
        """At least max ‖w − a‖ over W_loc."""
        return self.local.max_norm_from(self.anchor)

    @property
    def sensitivity(self) -> float:
        return sensitivity_upper(len(self.data), lipschitz=self.lipschitz, distance=self.reach)

    @property
    def tolerance(self) -> float:
        """ζ."""
        return accuracy(len(self.data)) * self.lipschitz * self.reach

    def at(self, point: FloatArray) -> float:
        return self.tangent_at(point).value

    def tangent_at(self, point: FloatArray) -> Tangent:
        found = self._evaluator.at(point)
        start, start_coarse = self._at_anchor
        changes = found.values - start.values
        for i in np.union1d(self._evaluator.coarse(found), start_coarse).tolist():
            changes[i] = float(self._evaluator.exactly(point, i) - self._exactly_at_anchor(i))
        most = self.lipschitz * float(np.linalg.norm(point - self.anchor))
        total = math.fsum(np.clip(changes, -most, most)) / len(self.data)
        moves, from_center = point - self.anchor, point + self.anchor - 2 * self.center
        value = total + self.weight / 2 * float(moves @ from_center)
        # The subgradients' gaps, the tolerance at both points, and a million roundings.
        slack = float(np.mean(found.errors)) + 2 * self.tolerance + 1e-9 * self.lipschitz * self.reach
        return Tangent(point, value, value - slack, found.slope + self.weight * (point - self.center), self.weight)

    def scores(self, points: FloatArray) -> FloatArray:
        """−V, one for every row."""
        return np.array([-self.at(point) for point in points])

    def net(self) -> FloatArray:
        """Points all over W_loc, its edge among them, the same for all data: two potentials are compared there."""
        if self.dimension > 2:
            raise InputError(f"points all over W_loc are made in one and two dimensions only, not in {self.dimension}")
        if self.dimension == 1:
            around = np.linspace(-1.0, 1.0, 9)[:, np.newaxis]
        else:
            rings = [(share, 2 * np.pi * np.arange(count) / count) for share, count in ((0.0, 1), (1.0, 8))]
            around = np.vstack([share * np.column_stack([np.cos(angles), np.sin(angles)]) for share, angles in rings])
        return self.local.project(self.anchor + self.reach * around)

    def draw(self, temperature: float, rng: np.random.Generator) -> FloatArray:
        """A point of W_loc with density ∝ exp(−V/T): see `rejection`."""
        from tailproof.refimpl.pure_dp.rejection import draw  # which imports this module

        return draw(self, temperature, rng).point

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self.problem, self.tolerance / 2)

    @cached_property
    def _at_anchor(self) -> tuple[Values, IntArray]:
        found = self._evaluator.at(self.anchor)
        return found, self._evaluator.coarse(found)

    def _exactly_at_anchor(self, index: int) -> Fraction:
        if index not in self._exact_start:
            self._exact_start[index] = self._evaluator.exactly(self.anchor, index)
        return self._exact_start[index]

    @cached_property
    def _exact_start(self) -> dict[int, Fraction]:
        return {}
