"""Minimisers on the boundary of a box, of many records at once: the rays of `envelope`, coordinate by coordinate.

y(τ) is w − τe, every coordinate clipped.  On its way the free coordinates move: ‖w − y‖ and ⟨e, w − y⟩ have derivatives, and
Newton's method finds the τ where ‖x‖·|φ'(⟨x, y⟩)| meets τ·min(1/μ, C/‖w − y‖).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tailproof.refimpl.domains import Box
from tailproof.refimpl.extension.batched import margin_of_slope
from tailproof.refimpl.extension.facet_rays import falling_roots
from tailproof.refimpl.extension.rays import Case, Part
from tailproof.refimpl.validation import FloatArray


@dataclass(frozen=True, eq=False)
class BoxRays(Case):
    """Records with a minimiser on the boundary, by rows."""

    box: Box

    def solve(self, start: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """τ, y and τ again, the next start."""
        farthest = 2 * self.steepest * max(self.mu, self.box.diameter_upper() / self.lipschitz)
        # Every coordinate that moves at all has arrived long before.
        most = np.minimum(farthest, np.maximum(self._arrival, self.mu * self.steepest))
        full = self.lipschitz / np.maximum(self.steepest, 1e-300)
        ends = self._moves(most, np.arange(len(most)))[0]
        lengths = np.sqrt(np.einsum("ij,ij->i", ends, ends))
        # From there on y stays, and the pull alone grows.
        most = np.minimum(np.maximum(most, lengths / full), farthest)
        times = falling_roots(self._excess, most, np.minimum(start, most))
        moves = self._moves(times, np.arange(len(times)))[0]
        return times, np.clip(self.point - moves, self.box.lower, self.box.upper), times

    @cached_property
    def _units(self) -> FloatArray:
        return np.asarray(self.features * (self.signs / self.norms)[:, np.newaxis])

    @cached_property
    def _room(self) -> FloatArray:
        """How far every coordinate of w − y can get, with the sign of e."""
        return np.where(self._units > 0, self.point - self.box.lower, self.point - self.box.upper)

    @cached_property
    def _arrival(self) -> FloatArray:
        """τ from which on no coordinate moves."""
        units = self._units
        times = np.divide(self._room, units, out=np.zeros_like(units), where=np.abs(units) > 1e-18)
        return np.asarray(2 * times.max(axis=1))

    @cached_property
    def _kinks(self) -> FloatArray:
        """Of a polyhedral loss: how far the kink is along e."""
        kinks = margin_of_slope(self.loss, self.signs / 2, self.targets)
        return np.where(np.isfinite(kinks), self.signs * (self.margins - kinks) / self.norms, np.inf)

    def _moves(self, times: FloatArray, part: Part) -> tuple[FloatArray, FloatArray]:
        """w − y, and its derivative."""
        units, room = self._units[part], self._room[part]
        free = times[:, np.newaxis] * units
        held = np.abs(free) >= np.abs(room)
        return np.where(held, room, free), np.where(held, 0.0, units)

    def _excess(self, times: FloatArray, part: Part) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(‖x‖·|φ'| − τ·min(1/μ, C/‖w − y‖))/(‖x‖·|φ'| at w), its slope, and its size.

        At a kink |φ'| jumps, but the way left to it does not: the lesser of that way and the difference above the kink.
        """
        moves, growth = self._moves(times, part)
        units, steepest = self._units[part], self.steepest[part]
        lengths = np.sqrt(np.einsum("ij,ij->i", moves, moves))
        done, rate = np.einsum("ij,ij->i", units, moves), np.einsum("ij,ij->i", units, growth)
        long = lengths > self.mu * self.lipschitz
        over = np.where(long, lengths, 1.0)
        pull = np.where(long, self.lipschitz * times / over, times / self.mu)
        lengthening = np.einsum("ij,ij->i", moves, growth) / over
        rise = np.where(long, (self.lipschitz - pull * lengthening) / over, 1 / self.mu)
        if self.loss.is_polyhedral:
            left, excess = (self._kinks[part] - done) / self.box.diameter_upper(), 1 - pull / steepest
            at_kink = left < excess
            slope = np.where(at_kink, -rate / self.box.diameter_upper(), -rise / steepest)
            return np.where(at_kink, left, excess), slope, np.ones_like(slope)
        norms, signs, targets = self.norms[part], self.signs[part], self.targets[part]
        margins = self.margins[part] - signs * norms * done
        slopes = signs * self.loss.dphi(margins, targets)
        bends = self.loss.d2phi(margins, targets)
        fall = np.where(slopes > 0, np.square(norms) * (0.0 if bends is None else bends) * rate, 0.0)
        steepness = norms * np.maximum(slopes, 0.0)
        size = np.maximum(steepness, pull) / steepest
        return (steepness - pull) / steepest, -(fall + rise) / steepest, size
