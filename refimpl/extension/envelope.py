"""The Moreau envelope of the Lipschitz extension, on any domain with a projection.

    f_{C,μ}(w) = min_z f_C(z) + ‖w − z‖²/(2μ) = min_{y ∈ W} f(y) + H(‖w − y‖),   H(r) = r²/(2μ) up to r = μC, then C·r − μC²/2.

It is differentiable everywhere with a gradient g = s·(w − y), ‖g‖ ≤ C, where s = min(1/μ, C/‖w − y‖), and its curvature is at
most 1/μ.  Inside W it is the extension of the smoothed loss φ_μ of width μ‖x‖² (see `smoothing`); but it also smooths what f_C
has on the boundary of W, where y may stick to a face or an edge while w moves.  Domains with a smooth boundary need that less.

y minimises f(y) + H(‖w − y‖) over W if and only if y = P_W(w − τ·e), e = ±x/‖x‖, with ‖x‖·|v| = s·τ for a slope v of φ at y.
Along the ray |φ'| does not increase, and s·τ does not decrease (τ/‖w − y‖ does not): one crossing.
As with any smoothing, nothing here decides what is true: certificates are about f_C, and borrow only slopes v and subgradients g.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from refimpl.domains import EPS
from refimpl.extension.batched import Batch, _row_lengths, _weighted_gram, margin_of_slope
from refimpl.extension.curvature import edge_hessians
from refimpl.extension.smoothing import Smoothed
from refimpl.validation import FloatArray


@dataclass(frozen=True, eq=False)
class Envelope:
    """f_{C,μ} of every record at the point w."""

    batch: Batch
    mu: float
    point: FloatArray
    duals: FloatArray
    kind: NDArray[np.int8]  # 1: y inside W, ‖g‖ < C; 2: y inside W, ‖g‖ = C; 3: y on the boundary
    margins: FloatArray  # ⟨x, w⟩
    y: FloatArray
    g: FloatArray

    @cached_property
    def moves(self) -> FloatArray:
        """‖w − y‖."""
        return _row_lengths(self.point - self.y)

    @cached_property
    def ends(self) -> FloatArray:
        """f(y)."""
        margins = self.margins - np.einsum("ij,ij->i", self.batch.features, self.point - self.y)
        return self.batch.loss.phi(margins, self.batch.targets)

    def mean_value(self) -> float:
        """The mean of f_{C,μ}."""
        C, short = self.batch.lipschitz, self.mu * self.batch.lipschitz
        distances = np.where(self.moves <= short, np.square(self.moves) / (2 * self.mu), C * (self.moves - short / 2))
        return float(np.mean(self.ends + distances))

    def mean_lower(self) -> float:
        """The mean at w of the functions ⟨g, ·⟩ + const ≤ f_C that v and g prove: f_{C,μ} + (μ/2)‖g‖²."""
        steepness = np.minimum(self.moves / self.mu, self.batch.lipschitz)
        return self.mean_value() + self.mu / 2 * float(np.mean(np.square(steepness)))

    def minimisers_near(self, point: FloatArray) -> tuple[float, FloatArray]:
        """For another point u, from u itself and y that which gives f(·) + C‖u − ·‖ ≥ f_C(u) the lower value, and the mean."""
        of = self.batch
        stay = of.loss.phi(of.features @ point, of.targets)
        move = self.ends + of.lipschitz * _row_lengths(point - self.y)
        return float(np.mean(np.minimum(stay, move))), np.where((stay <= move)[:, np.newaxis], point, self.y)

    def pressure(self) -> FloatArray:
        """The mean of the normals g − v·x with which records near w press on the boundary."""
        near = np.flatnonzero((self.kind == 3) & (self.moves <= self.mu * self.batch.lipschitz))
        normals = self.g[near] - self.duals[near, np.newaxis] * self.batch.features[near]
        return np.asarray(normals.sum(axis=0) / len(self.duals))

    def mean_subgradient(self) -> FloatArray:
        return np.asarray(np.mean(self.g, axis=0))

    def subgradients(self) -> FloatArray:
        return self.g

    def mean_hessian(self) -> FloatArray:
        """The second derivative at w of the mean, where it exists; elsewhere that of one side."""
        of, count, d = self.batch, len(self.duals), self.point.size
        softness = self._softness()
        stretched = softness + self.mu * np.square(of.norms)
        free = np.divide(1.0, stretched, out=np.zeros(count), where=(self.kind == 1) & (stretched > 0))
        hessian = _weighted_gram(of.features, free / count)
        edge = np.flatnonzero(self.kind == 3)
        step = max(1, (1 << 15) // (d * d))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            for start in range(0, edge.size, step):
                part = edge[start : start + step]
                hessian += self._edge_hessians(part, softness[part]).sum(axis=0) / count
        return np.asarray((hessian + hessian.T) / 2)

    def _softness(self) -> FloatArray:
        """1/φ'' at y: 0 at a kink, infinite beside it."""
        of = self.batch
        if of.loss.is_polyhedral:
            low, high = of.loss.slope_range
            return np.where((self.duals > low) & (self.duals < high), 0.0, np.inf)
        bends = of.loss.d2phi(margin_of_slope(of.loss, self.duals, of.targets), of.targets)
        assert bends is not None
        with np.errstate(divide="ignore"):
            return np.asarray(1 / bends)

    def _edge_hessians(self, part: NDArray[np.intp], softness: FloatArray) -> FloatArray:
        of, y, g = self.batch, self.y[part], self.g[part]
        moves = self.moves[part]
        long = moves > self.mu * of.lipschitz
        give = np.where(long, moves / of.lipschitz, self.mu)
        normals = g - self.duals[part, np.newaxis] * of.features[part]
        return edge_hessians(of.domain, of.features[part], y, normals, np.where(long[:, np.newaxis], g, 0.0), give, softness)


def envelope(of: Batch, mu: float, point: FloatArray) -> Envelope:
    """f_{C,μ} of every record of the batch at a point of its domain."""
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        margins = of.features @ point
        duals, y, kind = _free(of, mu, point, margins)
        rows = np.flatnonzero(~of.domain.contains(y))
        kind[rows] = 3
        if rows.size:
            duals[rows], y[rows] = _Rays(of, mu, point, margins, rows).solve()
        g = duals[:, np.newaxis] * of.features
        moves = point - y[rows]
        steepness = np.minimum(1 / mu, of.lipschitz / np.maximum(_row_lengths(moves), 1e-300))
        g[rows] = steepness[:, np.newaxis] * moves
    return Envelope(of, mu, point, duals, kind, margins, y, g)


def _free(of: Batch, mu: float, point: FloatArray, margins: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.int8]]:
    """Slopes and minimisers as if there were no domain."""
    widths = np.maximum(mu * np.square(of.norms), 1e-290)
    targets = np.column_stack([of.targets, widths])
    duals = Smoothed(of.loss).dphi(margins, targets)
    kind = np.ones(len(duals), dtype=np.int8)
    ways = -mu * duals  # y = w + way·x
    steep = np.flatnonzero(np.abs(duals) * of.norms > of.lipschitz)
    kind[steep] = 2
    duals[steep] = np.sign(duals[steep]) * (of.lipschitz / of.norms[steep])
    ends = margin_of_slope(of.loss, duals[steep], of.targets[steep])
    ways[steep] = (ends - margins[steep]) / np.square(of.norms[steep])
    far = np.abs(ways) * of.norms > 2 * of.domain.diameter_upper()  # outside, wherever it is
    ways[far] = np.sign(ways[far]) * (2 * of.domain.diameter_upper() / of.norms[far])
    return duals, point + ways[:, np.newaxis] * of.features, kind


@dataclass(frozen=True, eq=False)
class _Rays:
    """The records whose y is on the boundary."""

    batch: Batch
    mu: float
    point: FloatArray
    all_margins: FloatArray
    rows: NDArray[np.intp]

    def solve(self) -> tuple[FloatArray, FloatArray]:
        """Slopes v and minimisers y."""
        of, rows = self.batch, self.rows
        low, high = of.loss.dphi_interval(self.all_margins[rows], of.targets[rows])
        slopes = np.clip(0.0, low, high)
        duals, y = slopes.copy(), np.empty((len(rows), self.point.size))
        signs, norms = np.sign(slopes), of.norms[rows]
        # If φ keeps its slope up to the end of the short ray, as a polyhedral loss often does, that is the answer.
        short = self.mu * np.abs(slopes) * norms
        y[:], reached, steep = self._at(short, np.arange(len(rows)), signs)
        left = np.flatnonzero(~((steep >= np.abs(slopes) * (1 - EPS)) & (reached <= self.mu * of.lipschitz)))
        if left.size:
            most = np.abs(slopes) * norms * np.maximum(self.mu, of.domain.diameter_upper() / of.lipschitz)
            duals[left], y[left] = self._search(left, signs, most)
        return duals, y

    def _at(self, times: FloatArray, part: NDArray[np.intp], signs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """y(τ), ‖w − y‖ and |φ'| at y."""
        of, rows = self.batch, self.rows[part]
        units = (signs[part] / of.norms[rows])[:, np.newaxis] * of.features[rows]
        y = of.domain.project(self.point - np.minimum(times, 1e60)[:, np.newaxis] * units)
        move = self.point - y
        margins = self.all_margins[rows] - np.einsum("ij,ij->i", of.features[rows], move)
        return y, _row_lengths(move), np.maximum(signs[part] * of.loss.dphi(margins, of.targets[rows]), 0.0)

    def _search(self, left: NDArray[np.intp], signs: FloatArray, most: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The crossing of ‖x‖·|φ'| and s·τ; at a kink the slope is what s·τ asks for, between those on its sides."""
        of, norms = self.batch, self.batch.norms[self.rows[left]]

        def excess(times: FloatArray, live: NDArray[np.intp]) -> FloatArray:
            _, moves, steep = self._at(times, left[live], signs)
            return np.asarray(
                steep * norms[live] - times * np.minimum(1 / self.mu, of.lipschitz / np.maximum(moves, 1e-300))
            )

        before, after = _crossing(excess, most[left])
        y, moves, steep = self._at(before, left, signs)
        flat = self._at(after, left, signs)[2]
        wanted = before * np.minimum(1 / self.mu, of.lipschitz / np.maximum(moves, 1e-300)) / norms
        return signs[left] * np.clip(wanted, np.minimum(flat, steep), steep), y


def _crossing(
    excess: Callable[[FloatArray, NDArray[np.intp]], FloatArray], most: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The ends of short intervals in (0, most] where decreasing functions change sign, by interpolation with bisection."""
    low, high = 1e-18 * most, most.copy()
    everything = np.arange(len(most))
    at_low, at_high = excess(low, everything), excess(high, everything)
    live = np.flatnonzero((at_low > 0) & (at_high < 0))
    high[at_low <= 0], low[at_high >= 0] = low[at_low <= 0], high[at_high >= 0]
    kept = np.zeros(len(most))  # which end the last steps kept: after two of a kind, bisect
    while live.size:
        a, b = low[live], high[live]
        false = (a * at_high[live] - b * at_low[live]) / (at_high[live] - at_low[live])
        halve = (np.abs(kept[live]) >= 2) | (b > 16 * a) & (false < a * 4)
        middle = np.where(b > 4 * a, np.sqrt(a) * np.sqrt(b), (a + b) / 2)
        trial = np.where(halve | ~((false > a) & (false < b)), middle, false)
        value = excess(trial, live)
        up, found = value > 0, value == 0
        low[live[found]] = trial[found]
        low[live[up]], at_low[live[up]] = trial[up], value[up]
        high[live[~up]], at_high[live[~up]] = trial[~up], value[~up]
        kept[live] = np.where(halve, 0, np.where(up, np.maximum(kept[live], 0) + 1, np.minimum(kept[live], 0) - 1))
        live = live[high[live] > low[live] * (1 + 1e-13)]
    return low, high
