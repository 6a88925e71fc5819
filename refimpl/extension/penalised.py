"""The Lipschitz extension of losses with a quadratic part, all records at once.

    f(y) = φ(⟨x, y⟩) + ½(y − x)ᵀA(y − x) + (ω/2)‖y‖²,

with φ or A absent.  Let q be the gradient at w of the quadratic part, and H = A + ωI.  For a slope v of φ the problem is

    minimise  ⟨q + v·x, y − w⟩ + ½(y − w)ᵀH(y − w) + C‖y − w‖   over y in W,

a `Pull`.  Its minimiser y(v) has a margin ⟨x, y(v)⟩ that does not increase in v: where it meets the margin at which φ has the
slope v, y(v) minimises f(y) + C‖w − y‖.

A pull with the force p has y = w if ‖p‖ ≤ C.  Otherwise (H + s)(w − y) = p with s‖w − y‖ = C, one increasing equation in s, if
this y is in W.  Otherwise, if H = a·I, y = P_W(w − p/(a + s)) with s‖w − y‖ = C, again increasing in s.  For other H, y is the
limit of pulls with the Hessian λ_max·I (the proximal gradient method, accelerated), whose last digits Newton's method on the
face of y finds.

In all cases g = s(w − y) is a subgradient of f_C with ‖g‖ ≤ C, and g − v·x − (the quadratic part's gradient at y) is normal to
W at y.  Where y is closer to w than 1e-8 of the diameter, or a record is larger than 1e8 times W, g has half of the digits only,
which the gaps show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tailproof.refimpl.domains import Domain
from tailproof.refimpl.extension.batched import (
    _BLOCK,
    _EPS,
    _SMALLEST_MOVE,
    Batch,
    KindArray,
    RowExtension,
    _inside,
    _row_lengths,
    margin_of_slope,
)
from tailproof.refimpl.extension.curvature import _boundary, _directions, _squares, _turned
from tailproof.refimpl.losses import GlmLoss
from tailproof.refimpl.total import nearest
from tailproof.refimpl.validation import FloatArray, InputError

Rows = NDArray[np.intp]
_MOST_STEPS = 1100  # a bisection through all magnitudes


def penalised(of: Batch, point: FloatArray) -> RowExtension:
    """f_C of every record of a batch with a quadratic or ridge loss."""
    part, count = of.quadratic_part, len(of.features)
    if part is None:
        raise InputError(f"loss = {of.loss!r}: must have a quadratic part")
    glm = None if part.quadratic is not None else of.glm
    margins = of.features @ point
    forces = part.gradients(point)
    duals = np.zeros(count) if glm is None else _best_slopes(of, glm, margins, forces)
    g = forces + duals[:, np.newaxis] * of.features
    kind: KindArray = np.ones(count, dtype=np.int8)
    y = np.tile(point, (count, 1))
    steep = np.flatnonzero(_row_lengths(g) > of.lipschitz * _inside(of))
    if steep.size:
        pull = Pull(of.domain, of.lipschitz, point, part.hessian)
        if glm is None:
            y[steep], g[steep], edge = pull.solve(forces[steep])
        else:
            y[steep], g[steep], duals[steep], edge = _Slopes(of, glm, pull, steep, forces[steep]).solve()
        kind[steep] = np.where(edge, 3, 2)
        margins[steep] = _margins_near(of, glm, steep, y[steep], duals[steep])
        lengths = np.maximum(_row_lengths(g[steep]), of.lipschitz * _inside(of))
        g[steep] *= (of.lipschitz * _inside(of) / lengths)[:, np.newaxis]
    values = part.values(y) + of.lipschitz * _row_lengths(point - y)
    if glm is not None:
        values = values + glm.phi(margins, of.targets)
    return RowExtension(of, point, values, duals, kind, margins, g, y)


def _margins_near(of: Batch, glm: GlmLoss | None, rows: Rows, y: FloatArray, duals: FloatArray) -> FloatArray:
    """⟨x, y⟩; where only rounding separates it from the margin at which φ has the slope v, as at a kink, it is that one."""
    margins = np.einsum("ij,ij->i", of.features[rows], y)
    if glm is None:
        return np.asarray(margins)
    exact = margin_of_slope(glm, duals, of.targets[rows])
    rounding = (y.shape[1] + 8) * _EPS * of.norms[rows] * (_row_lengths(y) + of.domain.diameter_upper())
    return np.where(np.abs(exact - margins) <= rounding, exact, margins)


def _best_slopes(of: Batch, glm: GlmLoss, margins: FloatArray, forces: FloatArray) -> FloatArray:
    """The slope v of φ at w for which force + v·x is shortest."""
    low, high = glm.dphi_interval(margins, of.targets)
    inner = np.einsum("ij,ij->i", forces, of.features / np.where(of.norms > 0, of.norms, 1.0)[:, np.newaxis])
    wanted = np.divide(-inner, of.norms, out=np.zeros_like(inner), where=of.norms > 0)
    return np.asarray(np.clip(wanted, low, high))


@dataclass(frozen=True, eq=False)
class _Slopes:
    """The records that are not in case 1, and the search for their slopes."""

    batch: Batch
    glm: GlmLoss
    pull: Pull
    rows: Rows
    forces: FloatArray

    @cached_property
    def features(self) -> FloatArray:
        return self.batch.features[self.rows]

    @cached_property
    def targets(self) -> FloatArray:
        return self.batch.targets[self.rows]

    def at(self, slopes: FloatArray, part: Rows) -> tuple[FloatArray, FloatArray, NDArray[np.bool_], FloatArray]:
        """y(v), g, whether y is on the boundary, and how much the margin where φ has the slope v exceeds ⟨x, y(v)⟩."""
        x = self.features[part]
        y, g, edge = self.pull.solve(self.forces[part] + slopes[:, np.newaxis] * x)
        margins = np.einsum("ij,ij->i", x, y)
        return y, g, edge, margin_of_slope(self.glm, slopes, self.targets[part]) - margins

    def solve(self) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_]]:
        """y, g, v, and whether y is on the boundary."""
        everything = np.arange(len(self.rows))
        flat = self.at(np.zeros(len(self.rows)), everything)[0]
        steepest = self.glm.dphi(np.einsum("ij,ij->i", self.features, flat), self.targets)
        # Finer than this the force v·x does not change.
        finest = 1e-3 * _EPS * self.batch.lipschitz / self.batch.norms[self.rows]
        ends = self._magnitudes(np.abs(steepest), np.sign(steepest), finest)
        low, high = crossing(lambda slopes, part: self.at(slopes, part)[3], *ends, resolution=finest)
        y, g, edge, short = self.at(low, everything)
        other_y, other_g, other_edge, over = self.at(high, everything)
        # Between neighbouring slopes y may still move far, where the quadratic part is weak: meet the margin in between.
        share = np.where((short < 0) & (over > 0) & np.isfinite(short - over), short / (short - over), (short < 0) * 1.0)
        wide = share[:, np.newaxis]
        y = nearest(self.batch.domain, (1 - wide) * y + wide * other_y)
        return y, (1 - wide) * g + wide * other_g, (1 - share) * low + share * high, edge | other_edge

    def _magnitudes(self, largest: FloatArray, signs: FloatArray, finest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends of intervals of slopes of one magnitude, or from 0 to the finest, with the slope wanted."""

        def excess(logs: FloatArray, part: Rows) -> FloatArray:
            return signs[part] * self.at(signs[part] * np.exp(logs), part)[3]

        smallest = np.maximum(np.minimum(finest, largest), 1e-300)
        logs = np.log(smallest), np.log(np.maximum(largest, smallest))
        low, high = crossing(excess, *logs, resolution=1.0)
        inner = np.where(low > logs[0], np.exp(low) * (1 - 1e-9), 0.0)
        outer = np.where(high < logs[1], np.exp(high) * (1 + 1e-9), largest)
        return np.where(signs < 0, -outer, inner), np.where(signs < 0, -inner, outer)


def bent_hessians(
    of: Batch,
    rows: Rows,
    y: FloatArray,
    normals: FloatArray,
    g: FloatArray,
    give: FloatArray,
    softness: FloatArray,
    inside: NDArray[np.bool_],
) -> FloatArray:
    """The Hessians in w of f_C of the given records, in cases 2 (`inside`) and 3.

    f_C is the infimal convolution of C‖·‖ and of f on W.  Around w − y the former bends by K = (I − nnᵀ)/give, n = g/‖g‖; the
    latter, for y in the tangent space with the projector T, by xxᵀ/softness + B, B = H + the pressure times the curvature of the
    boundary.  With Z the inverse of K + B on the tangent space the Hessian is

        K − KZK + (KZx)(KZx)ᵀ/(softness + ⟨x, Zx⟩).

    Orthogonal factors of [(I − nnᵀ)T, √(give·B)T, I − T] keep it positive where Z is large.
    """
    d = y.shape[1]
    hessian = np.zeros((d, d)) if of.quadratic_part is None else of.quadratic_part.hessian
    eigenvalues, basis = np.linalg.eigh(hessian)
    root = np.sqrt(np.maximum(eigenvalues, 0.0))[:, np.newaxis] * basis.T
    tangent, roots = _boundary(of.domain, y, normals)
    tangent = np.where(inside[:, np.newaxis, np.newaxis], np.eye(d), tangent)
    roots = np.where(inside[:, np.newaxis, np.newaxis], 0.0, roots)
    give = give[:, np.newaxis, np.newaxis]
    across = np.eye(d) - _squares(_directions(g))
    # √EPS: where K + B is singular on the tangent space, this much more makes it invertible and the result larger.
    fixed = np.eye(d) - (1 - np.sqrt(_EPS)) * tangent
    stack = [across @ tangent, np.sqrt(give) * (roots @ tangent), np.sqrt(give) * (root @ tangent), fixed]
    q, r = np.linalg.qr(np.concatenate(stack, axis=1))
    first = q[:, :d]
    scale = np.maximum(of.norms[rows], 1e-300)[:, np.newaxis, np.newaxis]
    along = np.linalg.solve(_turned(r), tangent @ (of.features[rows][:, :, np.newaxis] / scale))
    bent = first @ along
    resistance = softness[:, np.newaxis, np.newaxis] / scale / scale + give * np.square(along).sum(axis=1, keepdims=True)
    share = np.divide(1.0, resistance, out=np.zeros_like(resistance), where=resistance > 0)
    return np.asarray((across - first @ _turned(first)) / give + share * (bent @ _turned(bent)))


# ------------------------------------------------------------------------------------------------------------- the pull


@dataclass(frozen=True, eq=False)
class Pull:
    """Minimisers y over W of ⟨p, y − w⟩ + ½(y − w)ᵀH(y − w) + C‖y − w‖ for many forces p."""

    domain: Domain
    lipschitz: float
    point: FloatArray
    hessian: FloatArray

    @cached_property
    def spectrum(self) -> tuple[FloatArray, FloatArray]:
        eigenvalues, basis = np.linalg.eigh(self.hessian)
        return np.maximum(eigenvalues, 0.0), basis

    @cached_property
    def size(self) -> float:
        return self.domain.diameter_upper()

    def solve(self, forces: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """y, g = s(w − y), and whether y had to be kept in W."""
        lengths = _row_lengths(forces)
        y, g = np.tile(self.point, (len(forces), 1)), forces.copy()
        steep = np.flatnonzero(lengths > self.lipschitz)
        y[steep], g[steep] = self._free(forces[steep], lengths[steep])
        far = np.abs(y[steep] - self.point).max(axis=1, initial=0.0) > 2 * self.size
        y[steep[far]] = self.point + 2 * self.size  # outside, wherever it is
        out = ~self.domain.contains(y) if len(y) else np.zeros(0, dtype=bool)
        if out.any():
            eigenvalues = self.spectrum[0]
            even = float(eigenvalues[-1] - eigenvalues[0]) <= 4 * _EPS * float(eigenvalues[-1])
            kept = self._even(forces[out], float(eigenvalues[-1])) if even else self._uneven(forces[out])
            y[out], g[out] = kept
        return y, g, out

    def _free(self, forces: FloatArray, lengths: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Without W: (H + s)(w − y) = p.  As s‖w − y‖ = C is between s‖p‖/(λ + s) for the extreme eigenvalues λ, so is s."""
        eigenvalues, basis = self.spectrum
        turned = forces @ basis
        bounds = [level * (self.lipschitz / (lengths - self.lipschitz)) for level in (eigenvalues[0], eigenvalues[-1])]
        high = np.maximum(bounds[1], 1e-290)
        low = np.minimum(np.maximum(bounds[0], self.lipschitz / (4 * self.size)), high)  # below, ‖w − y‖ is beyond W

        def excess(logs: FloatArray, part: Rows) -> FloatArray:
            moves = turned[part] / (eigenvalues + np.exp(logs)[:, np.newaxis])
            return np.exp(logs) * _row_lengths(moves) - self.lipschitz

        s = np.exp(crossing(excess, np.log(low), np.log(high))[1])
        moves = (turned / (eigenvalues + s[:, np.newaxis])) @ basis.T
        return self.point - moves, s[:, np.newaxis] * moves

    def _even(self, forces: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """On the boundary, for H = level·I."""

        def at(logs: FloatArray, part: Rows) -> tuple[FloatArray, FloatArray]:
            steps = forces[part] / (level + np.exp(logs))[:, np.newaxis]
            # Beyond 1e20 times the size of W only the direction counts.
            steps /= np.maximum(_row_lengths(steps) / (1e20 * self.size), 1.0)[:, np.newaxis]
            y = nearest(self.domain, self.point - steps)
            return y, np.exp(logs)[:, np.newaxis] * (self.point - y)

        everything = np.arange(len(forces))
        low = np.full(len(forces), np.log(self.lipschitz / self.size))
        longest = np.log(_row_lengths(forces) / self.size)
        high = np.maximum(longest - np.log(_EPS), low)

        def excess(logs: FloatArray, part: Rows) -> FloatArray:
            # At the upper end the move is mostly rounding: if nothing crosses before, y is w.
            return np.where(logs < high[part], _row_lengths(at(logs, part)[1]) / self.lipschitz - 1, 1.0)

        logs = crossing(excess, low, high)[1]
        y = at(logs, everything)[0]
        stays = self._objective(y, forces, level) >= 0
        y[stays] = self.point
        # The direction w − y comes from a move long enough to have one.
        g = at(np.minimum(logs, np.maximum(longest - np.log(_SMALLEST_MOVE), low)), everything)[1]
        rows = np.flatnonzero(stays)
        if rows.size:
            g[rows] = self._at_rest(forces[rows], g[rows])
        return y, g

    def _at_rest(self, forces: FloatArray, g: FloatArray) -> FloatArray:
        """For y = w the subgradient is the limit of (w − P_W(w − t·p))/t.  On a flat boundary longer moves have more digits."""
        for move in (_SMALLEST_MOVE, 2.0**-18, 2.0**-9):
            times = (move * self.size / _row_lengths(forces))[:, np.newaxis]
            other = (self.point - nearest(self.domain, self.point - times * forces)) / times
            better = self._slack(other, forces) < self._slack(g, forces)
            g = np.where(better[:, np.newaxis], other, g)
        return g

    def _slack(self, g: FloatArray, forces: FloatArray) -> FloatArray:
        """0 if g − p is normal to W at w."""
        normals = g - forces
        return np.asarray(self.domain.support(normals) - normals @ self.point)

    def _objective(self, y: FloatArray, forces: FloatArray, level: float) -> FloatArray:
        moves = y - self.point
        lengths = _row_lengths(moves)
        return np.asarray(np.einsum("ij,ij->i", forces, moves) + (level / 2 * lengths + self.lipschitz) * lengths)

    # For other H: z ↦ y(z), the pull by the gradient at z and the Hessian λ_max·I, has the minimiser as its fixed point.

    def _step(self, z: FloatArray, forces: FloatArray) -> tuple[FloatArray, FloatArray]:
        level = float(self.spectrum[0][-1])
        y, g, _ = Pull(self.domain, self.lipschitz, self.point, level * np.eye(self.point.size)).solve(
            forces + (z - self.point) @ self.hessian + level * (self.point - z)
        )
        return y, g

    def _uneven(self, forces: FloatArray) -> tuple[FloatArray, FloatArray]:
        """On the boundary, for any H: until nothing improves."""
        y, g = self._step(np.tile(self.point, (len(forces), 1)), forces)
        best = np.full(len(forces), np.inf)
        live = np.arange(len(forces))
        z, last, pace = y.copy(), y.copy(), np.ones(len(forces))
        idle = np.zeros(len(forces), dtype=np.intp)
        for _ in range(5000):
            part = forces[live]
            found, slopes = self._step(z, part)
            rest = _row_lengths(found - z)
            newton = self._newton(found, part)
            better, better_slopes = self._step(newton, part)
            jumps = _row_lengths(better - newton) <= rest / 2
            found[jumps], slopes[jumps] = better[jumps], better_slopes[jumps]
            rest = np.where(jumps, _row_lengths(better - newton), rest)
            improves = rest < best[live]
            y[live[improves]], g[live[improves]] = found[improves], slopes[improves]
            idle = np.where(rest < 0.9 * best[live], 0, idle + 1)
            best[live] = np.minimum(rest, best[live])
            # Momentum, begun anew where it led astray or a jump was made.
            anew = jumps | (np.einsum("ij,ij->i", z - found, found - last) > 0)
            pace = np.where(anew, 1.0, pace)
            following = (1 + np.sqrt(1 + 4 * np.square(pace))) / 2
            z = found + ((pace - 1) / following)[:, np.newaxis] * (found - last)
            going = (best[live] > 2 * _EPS * self.size) & (idle < 50)
            live, z, last, pace, idle = live[going], z[going], found[going], following[going], idle[going]
            if not live.size:
                break
        return y, g

    def _newton(self, y: FloatArray, forces: FloatArray) -> FloatArray:
        """A step of Newton's method for y on its face; y itself where it is too close to w."""
        result = y.copy()
        moved = np.flatnonzero(_row_lengths(self.point - y) > _SMALLEST_MOVE * self.size)
        d = self.point.size
        for start in range(0, moved.size, max(1, _BLOCK // (d * d))):
            rows = moved[start : start + max(1, _BLOCK // (d * d))]
            units, lengths = _directions(self.point - y[rows]), _row_lengths(self.point - y[rows])
            gradients = forces[rows] + (y[rows] - self.point) @ self.hessian - self.lipschitz * units
            tangent, roots = _boundary(self.domain, y[rows], -gradients)
            bends = (self.lipschitz / lengths)[:, np.newaxis, np.newaxis] * (np.eye(d) - _squares(units))
            inner = tangent @ (self.hessian + bends + _turned(roots) @ roots) @ tangent
            scale = 1e-300 + np.trace(inner, axis1=1, axis2=2)[:, np.newaxis, np.newaxis]
            inner += scale * (np.eye(d) - (1 - 4 * _EPS) * tangent)
            steps = (tangent @ np.linalg.solve(inner, tangent @ gradients[:, :, np.newaxis]))[:, :, 0]
            sound = _row_lengths(steps) <= self.size
            result[rows[sound]] = nearest(self.domain, (y[rows] - steps)[sound])
        return result


# ---------------------------------------------------------------------------------------------------------- root search


def crossing(
    function: Callable[[FloatArray, Rows], FloatArray],
    low: FloatArray,
    high: FloatArray,
    *,
    resolution: FloatArray | float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """The ends, neighbours up to rounding or closer than the resolution, of intervals where increasing functions change sign
    (Chandrupatla 1997: inverse quadratic interpolation where it is safe, bisection elsewhere).

    The function is given arguments and which of the intervals they belong to.  Where it has one sign, both ends are the end
    of the interval nearer to the change.
    """
    everything = np.arange(len(low))
    at_low, at_high = function(low, everything), function(high, everything)
    low, high = np.where(at_high <= 0, high, low), np.where(at_low >= 0, low, high)
    live = np.flatnonzero((at_low < 0) & (at_high > 0))
    finest = np.broadcast_to(resolution, low.shape)
    a, b, f_a, f_b = high[live], low[live], at_high[live], at_low[live]  # a is the latest point, the change is before b
    share = np.full(live.size, 0.5)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        for _ in range(_MOST_STEPS):
            if not live.size:
                break
            trial = a + share * (b - a)
            value = function(trial, live)
            same = (value > 0) == (f_a > 0)
            c, f_c = np.where(same, a, b), np.where(same, f_a, f_b)
            b, f_b = np.where(same, b, a), np.where(same, f_b, f_a)
            a, f_a = trial, value
            high[live] = np.where((value > 0) | (value == 0), trial, high[live])
            low[live] = np.where(value > 0, low[live], trial)
            width = high[live] - low[live]
            least = np.maximum(2 * _EPS * np.maximum(np.abs(low[live]), np.abs(high[live])), finest[live]) / width
            place, level = (a - b) / (c - b), (f_a - f_b) / (f_c - f_b)
            smooth = (np.square(level) < place) & (np.square(1 - level) < 1 - place)
            inverse = f_a / (f_b - f_a) * f_c / (f_b - f_c) + (c - a) / (b - a) * f_a / (f_c - f_a) * f_b / (f_c - f_b)
            share = np.where(smooth & np.isfinite(inverse), inverse, 0.5)
            share = np.clip(share, np.minimum(least, 0.5), 1 - np.minimum(least, 0.5))
            going = (least < 0.5) & (width > 1e-300)
            live, a, b, f_a, f_b, share = live[going], a[going], b[going], f_a[going], f_b[going], share[going]
    return low, high
