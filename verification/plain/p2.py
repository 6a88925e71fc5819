"""P2 (simple clipping, iterative updating), Algorithms 1, 2 and 3.

Where the paper leaves something open, or a departure is stated beside the row: Algorithm 1 starts in w_1 (its box says w_0),
by default the middle of W; groups are consecutive parts of a random order, the first n mod k of them with one record more;
line 9 of Algorithm 3 takes the least of the distances that line 6 computed, the first if there are several; (27) is solved
over all its critical directions.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.plain import Expected, Hidden, Plain, PlainAlgorithm, losses

MOST_SETS = 100_000
"""Sets of active points of the largest program (27) that is solved here."""


def clipped(rows: FloatArray, radius: float) -> FloatArray:
    """Y_i = X_i·min(1, R/‖X_i‖), without overflow."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(largest > 0, largest, 1.0)
    norms = np.sqrt((scaled**2).sum(axis=1, keepdims=True)) * largest
    return np.where(norms <= radius, rows, radius / np.where(norms > 0, norms, 1.0) * rows)


# --- the means -------------------------------------------------------------------------------------------------------------


def simple_clipping(rows: FloatArray, p: dict[str, Any], prefix: str = "") -> Plain:
    """Algorithm 2: (1/n) Σ Y_i plus noise."""
    return (yield Expected(f"{prefix}mean", clipped(rows, p["clip"]).sum(axis=0) / len(rows)))


def iterative_updating(rows: FloatArray, p: dict[str, Any], prefix: str = "") -> Plain:
    """Algorithm 3: the groups' noisy means Q_j, and then t_c steps of (27) on them."""
    order = yield Hidden(f"{prefix}order")
    small, larger = divmod(len(rows), p["groups"])
    noisy, used = [], 0
    for j in range(p["groups"]):
        size = small + (j < larger)
        members = clipped(rows[order[used : used + size]], p["clip"])
        used += size
        noisy.append((yield Expected(f"{prefix}group{j + 1}/mean", members.sum(axis=0) / size)))
    start = np.zeros(rows.shape[1]) if p.get("start") is None else np.asarray(p["start"], dtype=np.float64)
    return updated(np.array(noisy), start, p["steps"])


def updated(points: FloatArray, start: FloatArray, steps: int) -> FloatArray | None:
    """Lines 5 to 11 with η = 1/4: c_{l+1} = c_l + η·d_l·g_l, and the c_l whose d_l is least.  None: too many sets of points."""
    centre, found = start, []
    for _ in range(steps):
        answer = farthest(points - centre)
        if answer is None:
            return None
        distance, direction = answer
        found.append((distance, centre))
        centre = centre + distance / 4 * direction
    return min(found, key=lambda pair: pair[0])[1]


def farthest(a: FloatArray) -> tuple[float, FloatArray] | None:
    """(27): the largest s, and its unit u, such that ⟨a_j, u⟩ ≥ s for at least 0.9k of the k rows.

    At an optimum some rows T are active, ⟨a_j, u⟩ = s, and u is critical on the sphere: s·u is a combination of T with weights that
    sum to one, orthogonal to all differences of T.  So s·u is the point of T's affine hull nearest to the origin; where that is
    the origin itself u is a normal of the hull.  Sets of up to d rows are enough (Carathéodory), and all are tried.
    """
    k, d = a.shape
    if sum(math.comb(k, size) for size in range(1, d + 1)) > MOST_SETS:
        return None
    if not a.any():
        return 0.0, np.eye(d)[0]
    fewest = math.ceil(0.9 * k - 1e-9)
    unit = np.abs(a).max()
    directions = []
    for size in range(1, d + 1):
        for chosen in itertools.combinations(range(k), size):
            first, *others = a[list(chosen)] / unit
            edges = np.array(others).reshape(-1, d) - first
            away = (
                np.linalg.svd(edges)[2][size - 1 :] if others else np.eye(d)
            )  # an orthonormal basis of what is ⟂ to the edges
            nearest = away.T @ (away @ first)
            length = float(np.linalg.norm(nearest))
            u = nearest / length if length > 1e-13 else away[0]
            directions += [u, -u]
    tried = np.array(directions)
    values = np.sort(a @ tried.T, axis=0)[k - fewest]
    best = int(np.argmax(values))
    return float(values[best]), tried[best]


# --- Algorithm 1 -----------------------------------------------------------------------------------------------------------


def descent(data: FloatArray, p: dict[str, Any]) -> Plain:
    """w_{t+1} = Π_W(w_t − η·g̃(w_t)) over either mean; returned is (1/T)(w_1 + … + w_T).  The T-th gradient is released all the
    same.
    """
    mean = simple_clipping if p.get("estimator", "clipping") == "clipping" else iterative_updating
    inner = {"clip": p["clip"], "groups": p.get("groups"), "steps": p.get("inner_steps", 1)}
    w = _start(data, p)
    points = []
    for t in range(1, p["steps"] + 1):
        points.append(w)
        slope = yield from mean(losses.gradients(p["loss"], w, data), inner, prefix=f"step{t}/")
        if slope is None:
            raise NotImplementedError("too many groups for the plain solution of (27)")
        w = losses.project(p["domain"], w - p["learning_rate"] * slope)
    return np.mean(points, axis=0)


def _start(data: FloatArray, p: dict[str, Any]) -> FloatArray:
    if p.get("start") is not None:
        return np.asarray(p["start"], dtype=np.float64)
    return losses.middle(p["domain"], losses.dimension(p["loss"], data.shape[1]))


ALGORITHMS: dict[str, PlainAlgorithm] = {
    "P2.A1": descent,
    "P2.A2": simple_clipping,
    "P2.A3": iterative_updating,
}
