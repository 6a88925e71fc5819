"""[P4, Algorithm 6] The potential of the localised exponential mechanism, evaluated so that no error of it costs privacy.

On a public set W_loc, part of W, with a public anchor a in it:

    V(w) = F̂_{λ,C}(w) − F̂_{λ,C}(a) = (1/n) Σ [f_C(w, x_i) − f_C(a, x_i)] + (λ/2)(‖w − w0‖² − ‖a − w0‖²).

Every bracket is computed from its record alone and then cut to ±C‖w − a‖, where f_C being C-Lipschitz has it already, up to the
error of evaluation.  So replacing a record changes the computed V(w) by at most

    Δ = (2C/n)·max ‖w − a‖ over W_loc                                                                        (`sensitivity`)

for whatever the computation gives: its accuracy matters for utility only.  (The paper's Lemma F.1 bounds the distance from an
arbitrary anchor by the diameter, which is twice as much as from the middle of a ball; and it pays for errors of evaluation by 2γζ.)
Statement: |computed V − V| ≤ `tolerance` at every point, for all data (`extension.values`), and that is 1e-6·C·max ‖w − a‖.
Idealised: sums are rounded as floats are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from refimpl.domains import Localised
from refimpl.extension.certificate import Problem
from refimpl.extension.values import Evaluator, Values
from refimpl.losses import Loss
from refimpl.validation import FloatArray, InputError, IntArray

ACCURACY = 1e-6
"""Of V, in units of C·max ‖w − a‖, the most that a record can add to n·V."""


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
        return 2 * self.lipschitz * self.reach / len(self.data)

    @property
    def tolerance(self) -> float:
        return ACCURACY * self.lipschitz * self.reach

    def at(self, point: FloatArray) -> float:
        found = self._evaluator.at(point)
        start, start_coarse = self._at_anchor
        changes = found.values - start.values
        for i in np.union1d(self._evaluator.coarse(found), start_coarse).tolist():
            changes[i] = float(self._evaluator.exactly(point, i) - self._exactly_at_anchor(i))
        most = self.lipschitz * float(np.linalg.norm(point - self.anchor))
        total = math.fsum(np.clip(changes, -most, most)) / len(self.data)
        moves, from_center = point - self.anchor, point + self.anchor - 2 * self.center
        return total + self.weight / 2 * float(moves @ from_center)

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
        from refimpl.pure_dp.rejection import draw  # which imports this module

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
