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

from tailproof.refimpl.domains import EPS
from tailproof.refimpl.extension.batched import Batch, _row_lengths, _weighted_gram, fenchel_gap, margin_of_slope
from tailproof.refimpl.extension.curvature import edge_hessians
from tailproof.refimpl.extension.held import Held, Known, Warm
from tailproof.refimpl.extension.held import hessian as held_hessian
from tailproof.refimpl.extension.rays import Case
from tailproof.refimpl.extension.smoothing import Smoothed
from tailproof.refimpl.losses import GlmLoss, Quadratic, Ridge
from tailproof.refimpl.total import nearest
from tailproof.refimpl.validation import FloatArray, InputError


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
    held: Held | None = None  # what holds back the records of kind 3, in their order

    @cached_property
    def moves(self) -> FloatArray:
        """‖w − y‖."""
        return _row_lengths(self.point - self.y)

    @cached_property
    def ends(self) -> FloatArray:
        """f(y)."""
        margins = self.margins - np.einsum("ij,ij->i", self.batch.features, self.point - self.y)
        return glm(self.batch).phi(margins, self.batch.targets)

    def values(self) -> FloatArray:
        """f_{C,μ}."""
        C, short = self.batch.lipschitz, self.mu * self.batch.lipschitz
        distances = np.where(self.moves <= short, np.square(self.moves) / (2 * self.mu), C * (self.moves - short / 2))
        return np.asarray(self.ends + distances)

    def mean_value(self) -> float:
        return float(np.mean(self.values()))

    def gaps_at(self, point: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """What v and g lack, record by record, as multipliers for f_C at another point u, and whether y = u was the better
        minimiser, not y: the brackets of `batched`, the third from the fact that g − v·x is normal to W at y."""
        of = self.batch
        way = point - self.y
        lengths, along = _row_lengths(way), np.einsum("ij,ij->i", self.g, way)
        moves = np.maximum(of.lipschitz * lengths - along, 0.0)
        pressed = along - self.duals * np.einsum("ij,ij->i", of.features, way)
        stays = fenchel_gap(glm(of), of.features @ point, of.targets, self.duals) + np.maximum(-pressed, 0.0)
        return np.minimum(moves, stays), stays <= moves

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
        step = max(1, (1 << 15) // (d * d) if self.held is None else (1 << 18) // (d * d))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            for start in range(0, edge.size, step):
                part = edge[start : start + step]
                if self.held is None:
                    hessian += self._edge_hessians(part, softness[part]).sum(axis=0) / count
                else:
                    x, held = of.features[part], self.held[start : start + step]
                    hessian += held_hessian(of.domain, held, x, self.y[part], *self._bends(part), softness[part]) / count
        return np.asarray((hessian + hessian.T) / 2)

    def _softness(self) -> FloatArray:
        """1/φ'' at y: 0 at a kink, infinite beside it."""
        of = self.batch
        if glm(of).is_polyhedral:
            low, high = glm(of).slope_range
            return np.where((self.duals > low) & (self.duals < high), 0.0, np.inf)
        with np.errstate(divide="ignore", over="ignore"):
            bends = glm(of).d2phi(margin_of_slope(glm(of), self.duals, of.targets), of.targets)
            assert bends is not None
            return np.asarray(1 / bends)

    def _edge_hessians(self, part: NDArray[np.intp], softness: FloatArray) -> FloatArray:
        of, y, (g, give) = self.batch, self.y[part], self._bends(part)
        normals = self.g[part] - self.duals[part, np.newaxis] * of.features[part]
        return edge_hessians(of.domain, of.features[part], y, normals, g, give, softness)

    def _bends(self, part: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """How H bends at w − y: by (1/give)(I − nnᵀ), n the direction of the vectors given, which are 0 where H is a square."""
        moves = self.moves[part]
        long = moves > self.mu * self.batch.lipschitz
        give = np.where(long, moves / self.batch.lipschitz, self.mu)
        return np.where(long[:, np.newaxis], self.g[part], 0.0), give


def glm(of: Batch) -> GlmLoss:
    if isinstance(of.loss, Quadratic | Ridge):
        raise InputError(f"loss = {of.loss!r}: must be a generalised linear loss")
    return of.loss


def envelope(of: Batch, mu: float, point: FloatArray, warm: Warm | None = None) -> Envelope:
    """f_{C,μ} of every record of the batch at a point of its domain."""
    held = None
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        margins = of.features @ point
        duals, y, kind = _free(of, mu, point, margins)
        rows = np.flatnonzero(~of.domain.contains(y))
        kind[rows] = 3
        if rows.size and isinstance(of.domain, Known):
            duals[rows], y[rows], held = _Rays(of, mu, point, margins, rows).along(of.domain, warm or Warm())
        elif rows.size:
            duals[rows], y[rows] = _Rays(of, mu, point, margins, rows).solve()
        g = duals[:, np.newaxis] * of.features
        moves = point - y[rows]
        steepness = np.minimum(1 / mu, of.lipschitz / np.maximum(_row_lengths(moves), 1e-300))
        g[rows] = steepness[:, np.newaxis] * moves
    return Envelope(of, mu, point, duals, kind, margins, y, g, held)


def _free(of: Batch, mu: float, point: FloatArray, margins: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.int8]]:
    """Slopes and minimisers as if there were no domain."""
    widths = np.maximum(mu * np.square(of.norms), 1e-290)
    targets = np.column_stack([of.targets, widths])
    duals = Smoothed(glm(of)).dphi(margins, targets)
    kind = np.ones(len(duals), dtype=np.int8)
    ways = -mu * duals  # y = w + way·x
    steep = np.flatnonzero(np.abs(duals) * of.norms > of.lipschitz)
    kind[steep] = 2
    duals[steep] = np.sign(duals[steep]) * (of.lipschitz / of.norms[steep])
    ends = margin_of_slope(glm(of), duals[steep], of.targets[steep])
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
        of = self.batch
        # If φ keeps its slope up to the end of the short ray, as a polyhedral loss often does, that is the answer.
        y, moves, slopes = self._at(self.mu * self.steepest, np.arange(len(self.rows)))
        duals = self.slopes.copy()
        done = (slopes * self.norms >= self.steepest * (1 - EPS)) & (moves <= self.mu * of.lipschitz)
        left = np.flatnonzero(~done)
        if left.size:
            most = 2 * self.steepest[left] * np.maximum(self.mu, of.domain.diameter_upper() / of.lipschitz)
            least = 1e-18 * np.minimum(most, of.domain.diameter_upper())
            times = _decreasing_roots(lambda times, live: self._excess(times, left[live]), least, most)
            y[left], moves, _ = self._ray(times, left)
            duals[left] = self._duals(times, moves, left)
        return duals, y

    def along(self, domain: Known, warm: Warm) -> tuple[FloatArray, FloatArray, Held]:
        """The same, found without projections, and what holds y back."""
        of, rows = self.batch, self.rows
        x, margins = of.features[rows], self.all_margins[rows]
        numbers = (x, self.targets, self.norms, margins, self.signs, self.steepest)
        case = Case(glm(of), self.mu, of.lipschitz, self.point, *numbers)
        times, y, held = warm.solve(domain, case, rows, len(of.norms))
        return self._duals(times, _row_lengths(self.point - y), np.arange(len(rows))), y, held

    def _duals(self, times: FloatArray, moves: FloatArray, part: NDArray[np.intp]) -> FloatArray:
        """What φ' must be, rather than what it is at the rounded y; beside a kink only the full slope will do."""
        pull = self._pull(times, moves) / self.norms[part]
        full = np.where(pull < 1 - 1e-11, pull, 1.0) if glm(self.batch).is_polyhedral else pull
        return np.asarray(np.clip(self.signs[part] * full, *glm(self.batch).slope_range))

    @cached_property
    def norms(self) -> FloatArray:
        return np.asarray(self.batch.norms[self.rows])

    @cached_property
    def targets(self) -> FloatArray:
        return np.asarray(self.batch.targets[self.rows])

    @cached_property
    def slopes(self) -> FloatArray:
        """φ' at w, of least size."""
        low, high = glm(self.batch).dphi_interval(self.all_margins[self.rows], self.targets)
        return np.asarray(np.clip(0.0, low, high))

    @cached_property
    def signs(self) -> FloatArray:
        return np.sign(self.slopes)

    @cached_property
    def steepest(self) -> FloatArray:
        return np.abs(self.slopes) * self.norms

    def _pull(self, times: FloatArray, moves: FloatArray) -> FloatArray:
        """s·τ."""
        return np.asarray(times * np.minimum(1 / self.mu, self.batch.lipschitz / np.maximum(moves, 1e-300)))

    def _ray(self, times: FloatArray, part: NDArray[np.intp]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """y(τ), ‖w − y‖ and ⟨x, y⟩; from 1e8 diameters on y moves less than a projection from there would round."""
        x, farthest = self.batch.features[self.rows[part]], 1e8 * self.batch.domain.diameter_upper()
        y = nearest(self.batch.domain, self.point - np.minimum(times, farthest)[:, np.newaxis] * self._units(x, part))
        move = self.point - y
        return y, _row_lengths(move), self.all_margins[self.rows[part]] - np.einsum("ij,ij->i", x, move)

    def _units(self, x: FloatArray, part: NDArray[np.intp]) -> FloatArray:
        return np.asarray((self.signs[part] / self.norms[part])[:, np.newaxis] * x)

    def _at(self, times: FloatArray, part: NDArray[np.intp]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """y(τ), ‖w − y‖ and |φ'| at y."""
        y, moves, margins = self._ray(times, part)
        return y, moves, np.maximum(self.signs[part] * glm(self.batch).dphi(margins, self.targets[part]), 0.0)

    def _excess(self, times: FloatArray, part: NDArray[np.intp]) -> FloatArray:
        """Decreasing, and 0 at the crossing of ‖x‖·|φ'| and s·τ.  At a kink |φ'| jumps, but the way left to it does not."""
        loss, signs, targets = glm(self.batch), self.signs[part], self.targets[part]
        _, moves, margins = self._ray(times, part)
        if not loss.is_polyhedral:
            slopes = signs * loss.dphi(margins, targets) * self.norms[part]
            return np.asarray((slopes - self._pull(times, moves)) / self.steepest[part])
        kinks = margin_of_slope(loss, signs / 2, targets)
        way_left = np.where(np.isfinite(kinks), signs * (margins - kinks) / self.norms[part], np.inf)
        return np.minimum(way_left / self.batch.domain.diameter_upper(), 1 - self._pull(times, moves) / self.norms[part])


def _decreasing_roots(
    function: Callable[[FloatArray, NDArray[np.intp]], FloatArray], least: FloatArray, most: FloatArray
) -> FloatArray:
    """The zeros in [least, most] of decreasing functions, by false position (Illinois) with bisection of the logarithm."""
    everything = np.arange(len(most))
    at_least, at_most = function(least, everything), function(most, everything)
    roots = np.where(at_least <= 0, least, most)
    live = np.flatnonzero((at_least > 0) & (at_most < 0))
    a, b, f, g = least[live], most[live], at_least[live], at_most[live]
    last = np.zeros(len(live))  # +1 or −1: which end moved last
    for count in range(1, 200):
        if not live.size:
            break
        wide = (b > 64 * a) | (count % 8 == 0)
        trial = np.where(wide, np.sqrt(a) * np.sqrt(b), (a * g - b * f) / (g - f))
        trial = np.where((trial > a) & (trial < b), trial, (a + b) / 2)
        value = function(trial, live)
        up = value > 0
        # The end that stays twice counts half, so that the next trial crosses over to its side.
        f = np.where(up, value, np.where(last < 0, f / 2, f))
        g = np.where(up, np.where(last > 0, g / 2, g), value)
        a, b, last = np.where(up, trial, a), np.where(up, b, trial), np.where(up, 1.0, -1.0)
        roots[live] = trial
        keep = (np.abs(value) > 8 * EPS) & (b > a * (1 + 1e-13))
        live, a, b, f, g, last = live[keep], a[keep], b[keep], f[keep], g[keep], last[keep]
    return roots
