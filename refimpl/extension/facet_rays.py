"""Minimisers on the boundary of a polytope, of many records at once: the rays of `envelope`, piece by piece.

The minimiser of f(y) + H(‖w − y‖) is y(τ) = P(w − τ·e), e = s·x/‖x‖, at the τ where ‖x‖·|φ'(⟨x, y⟩)| = τ·min(1/μ, C/‖w − y‖).
As long as the same facets hold y back, A their normals, G = AAᵀ, Gα = Aw − b, Gβ = Ae,

    y(τ) = (w − Aᵀα) − τ(e − Aᵀβ),   ‖w − y(τ)‖² = h² + qτ²,   ⟨e, w − y(τ)⟩ = p + qτ,
    h² = ⟨α, Aw − b⟩,   q = 1 − ⟨β, Ae⟩,   p = ⟨α, Ae⟩,

and the multipliers are α − τβ: τ is a root in one variable.  If a multiplier is negative its facet is dropped, if another
facet is violated it is added, and τ is sought again, until neither is the case: then y is the minimiser.  The facets of the
last evaluation, at another w, are a good guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from tailproof.refimpl.active_sets import Sets, nearest_of_many, widest
from tailproof.refimpl.domains import EPS, Polytope
from tailproof.refimpl.extension.batched import margin_of_slope
from tailproof.refimpl.extension.rays import Case, Part
from tailproof.refimpl.validation import FloatArray


@dataclass(frozen=True, eq=False)
class FacetRays(Case):
    """Records with a minimiser on the boundary, by rows."""

    polytope: Polytope

    def solve(self, start: Sets) -> tuple[FloatArray, FloatArray, Sets]:
        """τ, y, and the facets that hold y back."""
        facets, d = self.polytope.facets, len(self.point)
        sets, times = start.copy(), np.zeros(len(self.norms))
        y, live = np.tile(self._here, (len(times), 1)), np.arange(len(times))
        for _ in range(4 * d + 8):
            if not live.size:
                break
            try:
                piece = self._piece(live, sets[live])
            except np.linalg.LinAlgError:  # dependent normals
                break
            times[live] = piece.root()
            local = times[live] / self._scale
            multipliers = piece.alpha - local[:, np.newaxis] * piece.beta
            moving = np.where(piece.q > 0, local, 0.0)[:, np.newaxis]  # the others are at a vertex
            held = piece.alpha - moving * piece.beta
            y[live] = self._here - moving * self._units[live] - facets.weights(piece.chosen, held) @ facets.unit
            allowed = (2 * d + 16) * EPS * (1 + facets.slack + moving)
            beyond = y[live] @ facets.unit.T - facets.slack - allowed
            part = sets[live]
            changed = facets.changed(part, multipliers, beyond, -1e-13 * (1 + local))
            sets[live] = part
            live = live[changed]
        if live.size:
            times[live], y[live], sets[live] = self._bracketed(live, sets[live])
        return times, self.polytope.pulled_inside(self.polytope.middle + self._scale * y), sets

    def _bracketed(self, live: Part, sets: Sets) -> tuple[FloatArray, FloatArray, Sets]:
        """The same for rows that run in circles: the root is bracketed, and y(τ) a projection, at every step."""
        low, high, times = np.zeros(len(live)), np.full(len(live), np.inf), np.zeros(len(live))
        for count in range(1, 200):
            local = np.minimum(times, 1e8 * self.polytope.diameter_upper()) / self._scale
            targets = self._here - local[:, np.newaxis] * self._units[live]
            found = nearest_of_many(targets, self.polytope.facets, sets)
            sets = found.sets
            try:
                root = self._piece(live, sets).root()
            except np.linalg.LinAlgError:
                root = np.minimum(2 * high, 1e3 * self.polytope.diameter_upper())
            low, high = np.where(root > times, times, low), np.where(root < times, times, high)
            middle = np.where(np.isfinite(high), (low + high) / 2, 4 * low + self.polytope.diameter_upper())
            trial = np.where((root > low) & (root < high) & (count % 4 > 0), root, middle)
            settled = (np.abs(root - times) <= 4 * EPS * times) | (high <= low * (1 + 4 * EPS))
            if settled.all():
                break
            times = np.where(settled, times, trial)
        return times, found.points, sets

    @cached_property
    def _scale(self) -> float:
        return self.polytope.scale

    @cached_property
    def _here(self) -> FloatArray:
        """w in the polytope's own coordinates."""
        return np.asarray((self.point - self.polytope.middle) / self._scale)

    @cached_property
    def _units(self) -> FloatArray:
        return np.asarray((self.signs / self.norms)[:, np.newaxis] * self.features)

    @cached_property
    def _rise(self) -> FloatArray:
        """⟨a, e⟩ of all facets, and 0 for none."""
        return np.column_stack([self._units @ self.polytope.facets.unit.T, np.zeros(len(self.norms))])

    def _piece(self, part: Part, sets: Sets) -> _Piece:
        facets, scale = self.polytope.facets, self._scale
        chosen = sets[:, : widest(sets)]
        room = np.append(facets.unit @ self._here - facets.slack, 0.0)[chosen]
        ahead = np.take_along_axis(self._rise[part], chosen, axis=1)
        both = np.linalg.solve(facets.system(chosen), np.stack([room, ahead], axis=2))
        alpha, beta = both[:, :, 0], both[:, :, 1]
        h = scale * np.sqrt(np.maximum(np.einsum("ij,ij->i", alpha, room), 0.0))
        q = 1 - np.einsum("ij,ij->i", beta, ahead)
        p = scale * np.einsum("ij,ij->i", alpha, ahead)
        return _Piece(self, part, chosen, alpha, beta, h, p, np.where(q < 1e-13, 0.0, q))


@dataclass(frozen=True, eq=False)
class _Piece:
    """‖w − y(τ)‖² = h² + qτ² and ⟨e, w − y(τ)⟩ = p + qτ for some of the rows."""

    of: FacetRays
    part: Part
    chosen: Sets
    alpha: FloatArray
    beta: FloatArray
    h: FloatArray
    p: FloatArray
    q: FloatArray

    def root(self) -> FloatArray:
        """The τ ≥ 0 where ‖x‖·|φ'| and τ·min(1/μ, C/‖w − y‖) meet, or one at which y is surely outside the polytope."""
        of, part = self.of, self.part
        steepest, norms, signs = of.steepest[part], of.norms[part], of.signs[part]
        # Where the pull is as strong as φ' can be; far from there y is outside.
        left = np.square(of.lipschitz / steepest) - self.q
        full = np.where(left > 0, self.h / np.sqrt(np.where(left > 0, left, 1.0)), np.inf)
        outside = np.where(self.q > 0, 4 * of.polytope.diameter_upper() / np.sqrt(np.where(self.q > 0, self.q, 1.0)), np.inf)
        most = np.minimum(np.maximum(of.mu * steepest, full), outside)
        if not of.loss.is_polyhedral:
            return falling_roots(self._excess, most)
        kinks = margin_of_slope(of.loss, signs / 2, of.targets[part])
        way = np.where(np.isfinite(kinks), signs * (of.margins[part] - kinks) / norms, np.inf) - self.p
        to_kink = np.where(self.q > 0, way / np.where(self.q > 0, self.q, 1.0), np.where(way > 0, np.inf, 0.0))
        return np.maximum(np.minimum(to_kink, most), 0.0)

    def _excess(self, times: FloatArray, rows: Part) -> tuple[FloatArray, FloatArray, FloatArray]:
        """‖x‖·|φ'| − τ·min(1/μ, C/‖w − y‖), which falls, its slope, and its size."""
        of, part, q = self.of, self.part[rows], self.q[rows]
        norms, signs, targets = of.norms[part], of.signs[part], of.targets[part]
        margins = of.margins[part] - signs * norms * (self.p[rows] + q * times)
        slopes = signs * of.loss.dphi(margins, targets)
        bends = of.loss.d2phi(margins, targets)
        squares = np.square(self.h[rows]) + q * np.square(times)
        long = squares > (of.mu * of.lipschitz) ** 2
        moves = np.sqrt(np.where(long, squares, 1.0))
        pull = np.where(long, of.lipschitz * times / moves, times / of.mu)
        rise = np.where(long, of.lipschitz / moves * (1 - q * np.square(times) / np.where(long, squares, 1.0)), 1 / of.mu)
        fall = np.where(slopes > 0, np.square(norms) * (0.0 if bends is None else bends) * q, 0.0)
        steepness = norms * np.maximum(slopes, 0.0)
        return steepness - pull, -fall - rise, np.maximum(steepness, pull)


Falling: TypeAlias = Callable[[FloatArray, Part], tuple[FloatArray, FloatArray, FloatArray]]
"""Functions that fall: their values for some of the rows, with slopes, and the size that rounding is relative to."""


def falling_roots(function: Falling, most: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """The zeros in [0, most]: Newton's method, with bisection where it leaves the interval or is slow."""
    roots, rows = most.copy(), np.arange(len(most))
    low, high, trial = np.zeros(len(most)), most.copy(), (most if start is None else start).copy()
    last = np.full(len(most), math.inf)
    for _ in range(120):
        value, slope, size = function(trial, rows)
        roots[rows] = trial
        low, high = np.where(value > 0, trial, low), np.where(value > 0, high, trial)
        step = np.where(slope < 0, -value / np.where(slope < 0, slope, -1.0), np.inf)
        following = trial + step
        good = (following >= low) & (following <= high) & (np.abs(value) < last / 2)
        done = (np.abs(value) <= 8 * EPS * size) | (high - low <= 2 * EPS * high) | (good & (np.abs(step) <= EPS * trial))
        # As small as rounding lets the value be.
        done |= ~good & (np.abs(step) <= 1e-9 * trial) & (np.abs(value) <= 4096 * EPS * size)
        keep = np.flatnonzero(~done)
        if not keep.size:
            break
        middle = np.where(high <= 16 * low, (low + high) / 2, np.where(low > 0, np.sqrt(low) * np.sqrt(high), high / 16))
        following = np.where(good, following, middle)
        last = np.where(good, np.abs(value), math.inf)
        rows, low, high, trial, last = rows[keep], low[keep], high[keep], following[keep], last[keep]
    return roots
