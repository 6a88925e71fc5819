"""Minimisers on the boundary of an ellipsoid, of many records at once: the rays of `envelope` as curves in one variable.

In the ellipsoid's axes, of half lengths a, with o the offset of w from the centre and e = s·x/‖x‖, the projection of w − τe is

    y_j = (o_j − τ·e_j)·a_j²/(a_j² + t)   for the t ≥ 0 with Σ (y_j/a_j)² = 1.

Seen from t this is a quadratic equation in τ, and τ grows with t.  So y, τ and the difference of ‖x‖·|φ'(⟨x, y⟩)| and
τ·min(1/μ, C/‖w − y‖), which falls, are functions of t alone.  The t of the last evaluation, at another w, is a good guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tailproof.refimpl.domains import Ellipsoid
from tailproof.refimpl.extension.batched import margin_of_slope
from tailproof.refimpl.extension.facet_rays import falling_roots
from tailproof.refimpl.extension.rays import Case, Part
from tailproof.refimpl.validation import FloatArray


@dataclass(frozen=True, eq=False)
class AxisRays(Case):
    """Records with a minimiser on the boundary, by rows."""

    ellipsoid: Ellipsoid

    def solve(self, start: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """τ, y and t."""
        longest, diameter = float(self.ellipsoid.axes[-1]), self.ellipsoid.diameter_upper()
        farthest = 2 * self.steepest * max(self.mu, diameter / self.lipschitz)
        most = longest * (np.minimum(farthest, 1e60) + diameter)
        shifts = falling_roots(self._excess, most, np.minimum(start, most))
        everything = np.arange(len(most))
        curve = _Curve(self, shifts, everything)
        y = self.ellipsoid.center + (self._offset - curve.moves) @ self.ellipsoid.basis.T
        return curve.times, self.ellipsoid.pulled_inside(y), shifts

    @cached_property
    def _offset(self) -> FloatArray:
        return np.asarray((self.point - self.ellipsoid.center) @ self.ellipsoid.basis)

    @cached_property
    def _room(self) -> float:
        return max(1 - float(np.square(self._offset / self.ellipsoid.axes).sum()), 0.0)

    @cached_property
    def _units(self) -> FloatArray:
        return np.asarray((self.features @ self.ellipsoid.basis) * (self.signs / self.norms)[:, np.newaxis])

    @cached_property
    def _kinks(self) -> FloatArray:
        """Of a polyhedral loss: how far the kink is along e."""
        kinks = margin_of_slope(self.loss, self.signs / 2, self.targets)
        return np.where(np.isfinite(kinks), self.signs * (self.margins - kinks) / self.norms, np.inf)

    def _excess(self, shifts: FloatArray, part: Part) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(‖x‖·|φ'| − τ·min(1/μ, C/‖w − y‖))/(‖x‖·|φ'| at w), its slope, and its size.

        At a kink |φ'| jumps, but the way left to it does not: the lesser of that way and the difference above the kink.
        """
        curve, steepest = _Curve(self, shifts, part), self.steepest[part]
        lengths, growth = curve.lengths, curve.growth
        long = lengths > self.mu * self.lipschitz
        over = np.where(long, lengths, 1.0)
        pull = np.where(long, self.lipschitz * curve.times / over, curve.times / self.mu)
        rise = np.where(long, self.lipschitz * curve.speeds / over - pull * growth / over, curve.speeds / self.mu)
        if self.loss.is_polyhedral:
            left, excess = (self._kinks[part] - curve.done) / self.ellipsoid.diameter_upper(), 1 - pull / steepest
            at_kink = left < excess
            slope = np.where(at_kink, -curve.rate / self.ellipsoid.diameter_upper(), -rise / steepest)
            return np.where(at_kink, left, excess), slope, np.ones_like(slope)
        norms, signs, targets = self.norms[part], self.signs[part], self.targets[part]
        margins = self.margins[part] - signs * norms * curve.done
        slopes = signs * self.loss.dphi(margins, targets)
        bends = self.loss.d2phi(margins, targets)
        fall = np.where(slopes > 0, np.square(norms) * (0.0 if bends is None else bends) * curve.rate, 0.0)
        steepness = norms * np.maximum(slopes, 0.0)
        size = np.maximum(steepness, pull) / steepest
        return (steepness - pull) / steepest, -(fall + rise) / steepest, size


class _Curve:
    """τ, w − y, ‖w − y‖ and ⟨e, w − y⟩ as functions of t, and their derivatives."""

    def __init__(self, rays: AxisRays, shifts: FloatArray, part: Part) -> None:
        squares, offset, units = np.square(rays.ellipsoid.axes), rays._offset, rays._units[part]
        sums = squares + shifts[:, np.newaxis]
        weights = squares / np.square(sums)
        falling = -2 * weights / sums
        weighted, falling_units = weights * units, falling * units
        b, c = weighted @ offset, np.einsum("ij,ij->i", weighted, units)
        # 1 − a is what w has left to the boundary, which is the same for all t, and a sum of terms ≥ 0.
        shrunk = shifts[:, np.newaxis] * (squares + sums) / np.square(sums)
        room = rays._room + shrunk @ (np.square(offset) / squares)
        root = np.sqrt(np.square(b) + c * room)
        # The positive root of cτ² − 2bτ + a − 1, without cancellation.
        behind = room / np.maximum(root - b, 1e-300)
        self.times = times = np.where(b > 0, (b + root) / c, behind)
        turn = np.einsum("ij,ij->i", falling_units, units) * np.square(times) - 2 * times * (falling_units @ offset)
        self.speeds = speeds = -(turn + falling @ np.square(offset)) / np.maximum(2 * root, 1e-300)
        # w − y = (t·o + a²τe)/(a² + t)
        self.moves = (shifts[:, np.newaxis] * offset + squares * times[:, np.newaxis] * units) / sums
        self.lengths = np.sqrt(np.einsum("ij,ij->i", self.moves, self.moves))
        changes = (offset - self.moves + squares * speeds[:, np.newaxis] * units) / sums
        self.growth = np.einsum("ij,ij->i", self.moves, changes) / np.maximum(self.lengths, 1e-300)
        self.done, self.rate = np.einsum("ij,ij->i", units, self.moves), np.einsum("ij,ij->i", units, changes)


def shell_hessian(
    ellipsoid: Ellipsoid,
    shifts: FloatArray,
    x: FloatArray,
    y: FloatArray,
    g: FloatArray,
    give: FloatArray,
    softness: FloatArray,
) -> FloatArray:
    """The sum of the Hessians of `edge_hessians`, with t known, so that vectors can be added instead of matrices.

    In the axes, with D = a²/(a² + t), c the normal, n = g/‖g‖ or 0, S = I − nnᵀ, a move of w moves y by Π·S, and the whole bends
    by (S − SΠS)/give, where Π inverts D⁻¹ − nnᵀ + give·xxᵀ/softness in the tangent space:

        P = D − DccᵀD/⟨c, Dc⟩,   R = P + Pn nᵀP/(1 − ⟨n, Pn⟩),   Π = R − Rx xᵀR/(softness/give + ⟨x, Rx⟩).
    """
    squares, basis = np.square(ellipsoid.axes), ellipsoid.basis
    x, n = x @ basis, g @ basis
    lengths = np.sqrt(np.einsum("ij,ij->i", n, n))
    n = n / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis]
    c = ((y - ellipsoid.center) @ basis) / squares
    sums = squares + shifts[:, np.newaxis]
    shares, rest = squares / sums, shifts[:, np.newaxis] / sums
    pressed = shares * c
    depth = np.einsum("ij,ij->i", pressed, c)
    lean = np.einsum("ij,ij->i", pressed, n)

    def inner(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ij,ij->i", a, b))

    def held(rows: FloatArray) -> FloatArray:  # P
        return np.asarray(shares * rows - pressed * (inner(pressed, rows) / depth)[:, np.newaxis])

    across = held(n)
    room = np.where(lengths > 0, inner(rest * n, n) + np.square(lean) / depth, 1.0)  # 1 − ⟨n, Pn⟩
    room = np.maximum(room, 1e-14)
    along = held(x)
    along = along + across * (inner(n, along) / room)[:, np.newaxis]
    resistance = softness / give + inner(x, along)
    share = np.divide(1.0, resistance, out=np.zeros_like(resistance), where=resistance > 0)

    def flat(rows: FloatArray) -> FloatArray:  # S
        return np.asarray(rows - n * inner(n, rows)[:, np.newaxis])

    def total(rows: FloatArray, factors: FloatArray, others: FloatArray) -> FloatArray:
        return np.asarray((rows * (factors / give)[:, np.newaxis]).T @ others)

    one, leaning = np.ones(len(x)), shares * n
    hessian = np.diag((rest / give[:, np.newaxis]).sum(axis=0))  # S − SDS ...
    cross = total(leaning, one, n)
    hessian += cross + cross.T - total(n, 1 + inner(leaning, n), n)
    hessian += total(flat(pressed), 1 / depth, flat(pressed))
    hessian -= total(flat(across), 1 / room, flat(across))
    hessian += total(flat(along), share, flat(along))
    return np.asarray(basis @ hessian @ basis.T)
