"""Projections of many points onto one polytope {y : unit·y ≤ slack}, rows of length 1, with the multipliers that prove them.

Every point has a set of at most d facets, taken as equations.  With z the target, A the normals of the set and G = AAᵀ,

    y = z − Aᵀη,   Gη = Az − slack:

a negative multiplier drops its facet, otherwise the facet most violated is added, in the place of one if its normal depends
on the others; if there is neither, the optimality conditions hold.  Sets of a point that has moved little are a good start.
A few points run in circles.  They get Goldfarb and Idnani's dual method, one by one: from the target, the facet most violated
is added while all multipliers stay ≥ 0, so that the distance to the target grows at every step.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tailproof.refimpl.validation import FloatArray

EPS = float(np.finfo(np.float64).eps)
_DEPENDENT = 1e-11  # what is left of a squared normal, of length 1, that the others make up but for rounding

Sets = NDArray[np.intp]
"""Facets by row, the places that are not used last and −1."""


@dataclass(frozen=True, eq=False)
class Facets:
    """The polytope, and what does not depend on the points."""

    unit: FloatArray
    slack: FloatArray
    gram: FloatArray = field(init=False)  # of all normals, with a last one of length 0 that stands for no facet

    def __post_init__(self) -> None:
        gram = np.zeros((len(self.unit) + 1, len(self.unit) + 1))
        gram[:-1, :-1] = self.unit @ self.unit.T
        object.__setattr__(self, "gram", gram)

    @property
    def dimension(self) -> int:
        return int(self.unit.shape[1])

    def no_sets(self, count: int) -> Sets:
        return np.full((count, self.dimension), -1, dtype=np.intp)

    def system(self, chosen: Sets) -> FloatArray:
        """G of every row's facets, with 1 on the diagonal where there is none."""
        gram = self.gram[chosen[:, :, np.newaxis], chosen[:, np.newaxis, :]]
        width = np.arange(chosen.shape[1])
        gram[:, width, width] += chosen < 0
        return np.asarray(gram)

    def weights(self, chosen: Sets, multipliers: FloatArray) -> FloatArray:
        """The multipliers as rows of weights of all facets."""
        spread = np.zeros((len(chosen), len(self.unit) + 1))
        np.put_along_axis(spread, chosen, multipliers, axis=1)  # −1 is the last place
        return spread[:, :-1]

    def changed(self, sets: Sets, multipliers: FloatArray, beyond: FloatArray, least: FloatArray) -> NDArray[np.bool_]:
        """Drop the facet of the least multiplier below `least`, else add that of the largest `beyond` above 0, in place; which
        rows have changed."""
        count, width = multipliers.shape
        each, weakest, worst = np.arange(count), multipliers.argmin(axis=1), beyond.argmax(axis=1)
        drop = multipliers[each, weakest] < least
        add = ~drop & (beyond[each, worst] > 0)
        sizes = (sets >= 0).sum(axis=1)
        rows = np.flatnonzero(drop)
        _remove(sets, rows, weakest[rows], sizes[rows])
        rows = np.flatnonzero(add)
        if rows.size:
            new, chosen = worst[rows], sets[rows, :width]
            with_new = self.gram[chosen, new[:, np.newaxis]]
            rates = np.linalg.solve(self.system(chosen), with_new[:, :, np.newaxis])[:, :, 0]
            depends = 1 - np.einsum("ij,ij->i", rates, with_new) < _DEPENDENT
            full = np.flatnonzero(depends | (sizes[rows] == self.dimension))
            if full.size:  # the multiplier that reaches 0 first as that of the new facet grows makes way
                falling = rates[full] > 1e-12
                ratios = np.where(falling, multipliers[rows[full]] / np.where(falling, rates[full], 1.0), np.inf)
                _remove(sets, rows[full], ratios.argmin(axis=1), sizes[rows[full]])
                sizes[rows[full]] -= 1
            sets[rows, sizes[rows]] = new
        return np.asarray(drop | add)


def _remove(sets: Sets, rows: Sets, places: Sets, sizes: Sets) -> None:
    """The last facet of a row takes the place of the one that is dropped."""
    sets[rows, places] = sets[rows, sizes - 1]
    sets[rows, sizes - 1] = -1


def widest(sets: Sets) -> int:
    """The most facets of any row, at least 1."""
    return max(1, int((sets >= 0).sum(axis=1).max(initial=0)))


@dataclass(frozen=True, eq=False)
class Nearest:
    """The projections, the weights of the facets that make up what they moved, the sets, and which rows are left open."""

    points: FloatArray
    weights: FloatArray
    sets: Sets
    open_rows: Sets


def nearest_of_many(targets: FloatArray, facets: Facets, start: Sets | None = None) -> Nearest:
    """The nearest points of the polytope to all rows at once."""
    count, d = targets.shape
    sets = facets.no_sets(count) if start is None else start.copy()
    weights, points, live = np.zeros((count, len(facets.slack))), targets.copy(), np.arange(count)
    cold = start is None
    heights = np.append(facets.slack, 0.0)
    room = np.column_stack([targets @ facets.unit.T - facets.slack, np.zeros(count)])
    sizes = 1 + np.abs(targets).max(axis=1, initial=0.0)
    for _ in range(4 * d + 8):
        chosen = sets[live, : widest(sets[live])]
        try:
            system = facets.system(chosen)
            multipliers = _solved(system, np.take_along_axis(room[live], chosen, axis=1))
            spread = facets.weights(chosen, multipliers)
            rough = targets[live] - spread @ facets.unit
            # Far targets have lost digits; the equations at least are met again after a second step.
            off = np.column_stack([rough @ facets.unit.T, np.zeros(live.size)]) - heights
            again = facets.weights(chosen, _solved(system, np.take_along_axis(off, chosen, axis=1)))
            points[live], weights[live] = rough - again @ facets.unit, spread + again
            beyond = points[live] @ facets.unit.T - facets.slack - (2 * d + 16) * EPS * (1 + facets.slack)
            part = sets[live]
            changed = facets.changed(part, multipliers, beyond, -1e-13 * sizes[live])
        except np.linalg.LinAlgError:  # dependent normals
            if cold:
                break
            sets[live], cold = -1, True
            continue
        sets[live] = part
        live = live[changed]
        if not live.size:
            break
    left = [row for row in live.tolist() if not _dual_method(targets[row], facets, points[row], weights[row], sets[row])]
    odd = np.flatnonzero(~np.isfinite(points).all(axis=1))  # no comparison holds for these, so that they counted as done
    return Nearest(points, np.maximum(weights, 0.0), sets, np.union1d(np.array(left, dtype=np.intp), odd))


def _dual_method(target: FloatArray, facets: Facets, point: FloatArray, weights: FloatArray, into: Sets) -> bool:
    """The nearest point to one target, its weights and its set, in place; whether it was found, as it is not for a NaN."""
    allowed = (2 * target.size + 16) * EPS * (1 + facets.slack + np.abs(target).max())
    point[:], weights[:], into[:] = target, 0.0, -1
    active: list[int] = []
    for _ in range(20 + 10 * len(facets.slack)):
        beyond = facets.unit @ point - facets.slack - allowed
        new = int(beyond.argmax())
        if beyond[new] <= 0:
            into[: len(active)] = active
            return True
        while True:
            rates = np.linalg.lstsq(facets.gram[np.ix_(active, active)], facets.gram[active, new])[0]
            speed = 1 - float(rates @ facets.gram[active, new])
            ahead = float(facets.unit[new] @ point - facets.slack[new])
            full = max(ahead / speed, 0.0) if speed > _DEPENDENT else np.inf
            falling = np.where(rates > 1e-14, weights[active] / np.where(rates > 1e-14, rates, 1.0), np.inf)
            step = min(full, float(falling.min(initial=np.inf)))
            if math.isnan(ahead) or step == np.inf:  # no number, or only rounding contradicts the other facets
                return False
            weights[active] = np.maximum(weights[active] - step * rates, 0.0)
            weights[new] += step
            point[:] = target - weights @ facets.unit
            if step == full:
                active.append(new)
                break
            dropped = active.pop(int(falling.argmin()))
            weights[dropped] = 0.0
            if new in active or len(active) > target.size:
                return False
    return False


def far_weights(facets: Facets, points: FloatArray, units: FloatArray, far: float) -> tuple[FloatArray, FloatArray]:
    """Weights ≥ 0 of the facets where the projections of points of the set, moved that far along the unit vectors, land, and
    where that is.  The weights make up the unit vectors as far as normals of these facets can."""
    on = points @ facets.unit.T >= facets.slack - 1e-9
    order = np.argsort(~on, axis=1, kind="stable")[:, : facets.dimension]
    start = np.where(np.take_along_axis(on, order, axis=1), order, -1)
    start = np.pad(start, ((0, 0), (0, facets.dimension - start.shape[1])), constant_values=-1)
    found = nearest_of_many(points + far * units, facets, start)
    chosen = found.sets[:, : widest(found.sets)]
    lengths = np.column_stack([units @ facets.unit.T, np.zeros(len(units))])
    with contextlib.suppress(np.linalg.LinAlgError):
        closest = _solved(facets.system(chosen), np.take_along_axis(lengths, chosen, axis=1))
        return facets.weights(chosen, np.maximum(closest, 0.0)), found.points
    return found.weights / far, found.points


def _solved(system: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(system, right[:, :, np.newaxis])[:, :, 0])
