"""Projection onto a polytope in exact rational arithmetic: where floats give up, this ends.

Goldfarb and Idnani's dual active-set method (1983) for min ½‖y − z‖² where normals·y ≤ offsets.  From y = z, a violated constraint
is added with the step that makes it active; constraints whose weight falls to 0 on the way are dropped.  Every added constraint
raises ½‖y − z‖² strictly, and between two of them at most d are dropped.  So no set of active constraints comes twice, and in exact
arithmetic the method ends, on data however degenerate.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from tailproof.refimpl.validation import FloatArray

Row: TypeAlias = list[Fraction]


def nearest_with_weights(target: FloatArray, normals: FloatArray, offsets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The point of {y : normals·y ≤ offsets} next to a finite target, and the weights ≥ 0 of the normals that make up
    target − y: exact but for the rounding to floats.  The set must not be empty.
    """
    rows, heights = [_exact(row) for row in normals], _exact(offsets)
    point, active, weights = _exact(target), list[int](), dict[int, Fraction]()
    while True:
        excess = [_dot(row, point) - height for row, height in zip(rows, heights, strict=True)]
        worst = max(range(len(rows)), key=excess.__getitem__)
        if excess[worst] <= 0:
            break
        point = _added(worst, point, rows, heights, active, weights)
    pulls = np.zeros(len(rows))
    for i in active:
        pulls[i] = _float(weights[i])
    return np.array([_float(entry) for entry in point]), pulls


def _added(new: int, point: Row, rows: list[Row], heights: Row, active: list[int], weights: dict[int, Fraction]) -> Row:
    """The minimiser when this violated constraint holds with equality, or others have made way for it."""
    weights[new] = Fraction(0)
    while True:
        rates = _solved(
            [[_dot(rows[i], rows[j]) for j in active] for i in active], [_dot(rows[i], rows[new]) for i in active]
        )
        way = rows[new]
        for i, rate in zip(active, rates, strict=True):
            way = [a - rate * b for a, b in zip(way, rows[i], strict=True)]
        square = _dot(way, way)
        falling = [(weights[i] / rate, i) for i, rate in zip(active, rates, strict=True) if rate > 0]
        partial = min(falling, default=None)
        full = (_dot(rows[new], point) - heights[new]) / square if square else None
        if full is None and partial is None:
            raise ValueError("offsets: the set is empty")
        step = full if partial is None or (full is not None and full <= partial[0]) else partial[0]
        assert step is not None
        point = [a - step * b for a, b in zip(point, way, strict=True)]
        for i, rate in zip(active, rates, strict=True):
            weights[i] -= step * rate
        weights[new] += step
        if step == full:
            active.append(new)
            return point
        assert partial is not None
        active.remove(partial[1])
        del weights[partial[1]]


def _exact(row: FloatArray) -> Row:
    return [Fraction(float(entry)) for entry in row]


def _float(value: Fraction) -> float:
    """The nearest float; the largest one for what is beyond."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(float(np.finfo(np.float64).max), value)


def _dot(first: Row, second: Row) -> Fraction:
    return sum((a * b for a, b in zip(first, second, strict=True)), Fraction(0))


def _solved(matrix: list[Row], right: Row) -> Row:
    """Of a positive definite system, by elimination."""
    size = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(size):
        pivot = rows[k][k]
        rows[k] = [entry / pivot for entry in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[size] for row in rows]
