"""Finite ξ-nets of a set: every point of W is within ξ of a point of the net, and the net lies in W.  Public: no data is used.

The points of a cubic grid of spacing 2ξ/√d that are within ξ of W, projected onto W.  The nearest grid point of any w is within ξ
of it, and projecting brings it no farther from w.  The smallest nets have at most (1 + 2D/ξ)^d points; these have about
(√d·D/(2ξ) + 1)^d, less what the set leaves out of its bounding box.
"""

from __future__ import annotations

import math

import numpy as np

from tailproof.refimpl.domains import Domain
from tailproof.refimpl.validation import FloatArray, InputError, positive, whole

MOST_POINTS = 2_000_000


def net_size_upper(domain: Domain, mesh: float) -> int:
    """How many points the grid over W's bounding box has: known before any is made."""
    return math.prod(_counts(domain, mesh)[2])


def _counts(domain: Domain, mesh: float) -> tuple[float, FloatArray, list[int]]:
    """The spacing, the box's lower corner and the number of coordinates along every axis."""
    d = domain.dimension
    spacing = 2 * positive("mesh", mesh) / math.sqrt(d)
    upper, lower = domain.support(np.eye(d)), -domain.support(-np.eye(d))
    counts = np.maximum(1, np.ceil((upper - lower) / spacing * (1 - 1e-12)))
    if not math.prod(counts.tolist()) < 2**62:
        raise InputError(f"mesh = {mesh!r}: the grid over the domain would have more than 2^62 points")
    return spacing, lower, [int(count) for count in counts]


def bounding_grid(domain: Domain, mesh: float) -> list[FloatArray]:
    """The grid's coordinates along every axis, over the bounding box of W."""
    spacing, lower, counts = _counts(domain, mesh)
    return [low + spacing * (np.arange(count) + 0.5) for low, count in zip(lower, counts, strict=True)]


def net(domain: Domain, mesh: float, *, most: int = MOST_POINTS) -> FloatArray:
    """The points, one per row; refused before it is built if the grid has more than `most`."""
    size, most = net_size_upper(domain, mesh), whole("most", most, least=1)
    if size > most:
        raise InputError(f"mesh = {mesh!r}: the net would have up to {size} points; at most {most} are allowed")
    axes = np.meshgrid(*bounding_grid(domain, mesh), indexing="ij")
    grid = np.column_stack([axis.ravel() for axis in axes])
    near = domain.project(grid)
    return np.unique(near[np.linalg.norm(near - grid, axis=1) <= mesh * (1 + 1e-9)], axis=0)
