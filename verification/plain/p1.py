"""P1 (Wang, Xiao, Devadas and Xu 2020), Algorithms 1, 3 and 4, and the means that 3 and 4 rest on.

Where the paper leaves something open, or a departure is stated beside the row, a comment says which reading is taken.  Blocks and
batches are consecutive records, of ⌊n/m⌋ or ⌊n/T⌋; those at the end that are left are not used.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.plain import Expected, Plain, PlainAlgorithm, losses

# --- Algorithm 1 ------------------------------------------------------------------------------------------------------------------


def sample_and_aggregate(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Minimise on every block, then the centre of a small ball that holds a majority of the minimisers."""
    size, start = len(data) // p["blocks"], _start(data, p)
    steps = p.get("most_steps", 600)
    blocks = [data[i * size : (i + 1) * size] for i in range(p["blocks"])]
    points = np.array([block_minimiser(p["loss"], p["domain"], block, start, steps) for block in blocks])
    centres = _middles_of_intervals(points) if p.get("centres", "data") == "any" else _middle_points(points)
    noisy = yield Expected("centre", centres[0], within=max(float(np.linalg.norm(c - centres[0])) for c in centres))
    return losses.project(p["domain"], noisy)


def block_minimiser(loss: Any, domain: Any, rows: FloatArray, start: FloatArray, most_steps: int) -> FloatArray:
    """Accelerated projected gradient steps of length 1/L, L the smoothness of this block's risk.

    Nesterov's momentum, forgotten when it points uphill (O'Donoghue and Candès 2015); the end after `most_steps`, or with a step
    shorter than 1e-9 of the diameter, as stated beside the row.
    """
    smoothness = _risk_smoothness(loss, rows, len(start))
    short = 1e-9 * losses.diameter(domain, len(start))
    w, ahead, theta = start, start, 1.0
    for _ in range(most_steps):
        slope = losses.gradients(loss, ahead, rows).mean(axis=0)
        following = losses.project(domain, ahead - slope / smoothness)
        step, move = following - ahead, following - w
        if step @ move < 0:
            theta, ahead = 1.0, following
        else:
            next_theta = (1 + math.sqrt(1 + 4 * theta**2)) / 2
            theta, ahead = next_theta, following + (theta - 1) / next_theta * move
        w = following
        if math.sqrt(step @ step) <= short:
            break
    return w


def _risk_smoothness(loss: Any, rows: FloatArray, size: int) -> float:
    """Of the mean of the losses: λ_max of A, of XᵀX·sup φ''/n, or of the mean curvatures; plus a ridge's weight."""
    name, weight, _, matrix = losses.read(loss)
    if name == "quadratic":
        return float(np.linalg.eigvalsh(matrix)[-1]) + weight
    if name == "record-quadratic":
        return float(rows[:, :size].mean(axis=0).max()) + weight
    features = rows[:, :size]
    largest = float(np.linalg.eigvalsh(features.T @ features / len(rows))[-1])
    return largest * losses.CURVATURES[name] * (1 + 1e-9) + weight  # stated: rounded outward by that much


def _majority(points: FloatArray) -> int:
    """t0 = ⌊(m + 1)/2⌋ + 1."""
    return (len(points) + 1) // 2 + 1


def _middle_points(points: FloatArray) -> FloatArray:
    """The points whose t0-th nearest (itself the first) is nearest: the first, and all that rounding cannot tell from it."""
    radii = np.array([sorted(float(np.linalg.norm(a - b)) for b in points)[_majority(points) - 1] for a in points])
    return np.asarray(points[radii <= radii.min() * (1 + 1e-9)])


def _middles_of_intervals(points: FloatArray) -> FloatArray:
    """The middles of the shortest intervals that hold t0 of the points: the first, and all that rounding cannot tell from it."""
    line, t = np.sort(points[:, 0]), _majority(points)
    low, high = line[: len(line) - t + 1], line[t - 1 :]
    shortest = high - low <= (high - low).min() * (1 + 1e-9)
    return np.asarray((low + high)[shortest, None] / 2)


# --- the means of Algorithms 3 and 4 ----------------------------------------------------------------------------------------------


def _trimmed(rows: FloatArray, p: dict[str, Any]) -> FloatArray:
    """[Trim_m]_{[a,b]}, column by column: the mean without the m smallest and the m largest, then clamped.

    With clamp = "data" the entries are clamped before (stated departure).
    """
    a, b, m = p["lower"], p["upper"], p["trim"]
    if p.get("clamp", "output") == "data":
        rows = np.clip(rows, a, b)
    kept = np.sort(rows, axis=0)[m : len(rows) - m]
    return np.asarray(np.clip(kept.mean(axis=0), a, b))


def _softly_truncated(rows: FloatArray, p: dict[str, Any]) -> FloatArray:
    """(s/n) Σ E φ(a_i + |a_i|·N/√β), a = x/s, s = √(nv/(2log(1/δ'))), β = log(1/δ')."""
    n, beta = len(rows), math.log(1 / p["failure"])
    s = p["scale"] if p.get("scale") is not None else math.sqrt(n * p["second_moment"] / (2 * beta))
    return np.asarray(s / n * smoothed_influence(rows / s, beta).sum(axis=0))


_ROOT, _PLATEAU = math.sqrt(2), 2 * math.sqrt(2) / 3
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(120)


def smoothed_influence(a: FloatArray, beta: float) -> FloatArray:
    """E φ(a + |a|·N/√β), φ(x) = x − x³/6 on |x| ≤ √2 and ±2√2/3 beyond, as the integral that it is.

    The part within ±√2 by Gauss's rule over what lies there of a ± 12 deviations, the two plateaus by Φ.
    """
    mean = np.asarray(a, dtype=np.float64).ravel()
    spread = np.maximum(np.abs(mean) / math.sqrt(beta), 1e-300)
    low, high = np.clip(mean - 12 * spread, -_ROOT, _ROOT), np.clip(mean + 12 * spread, -_ROOT, _ROOT)
    half = (high - low) / 2
    z = low[:, None] + half[:, None] * (1 + _NODES)
    density = np.exp(-(((z - mean[:, None]) / spread[:, None]) ** 2) / 2) / (spread[:, None] * math.sqrt(2 * math.pi))
    inside = half * ((density * (z - z**3 / 6)) @ _WEIGHTS)
    plateaus = _PLATEAU * (ndtr((mean - _ROOT) / spread) - ndtr((-_ROOT - mean) / spread))
    return np.asarray(inside + plateaus).reshape(np.shape(a))


def trimmed_mean(data: FloatArray, p: dict[str, Any]) -> Plain:
    return (yield Expected("mean", _trimmed(data, p)))


def soft_truncated_mean(data: FloatArray, p: dict[str, Any]) -> Plain:
    return (yield Expected("mean", _softly_truncated(data, p)))


# --- Algorithms 3 and 4 -----------------------------------------------------------------------------------------------------------


def _steps(data: FloatArray, p: dict[str, Any], mean: Any) -> Plain:
    """w^t = Π_W(w^{t−1} − η·g̃), g̃ the noisy mean of the gradients at w^{t−1}.

    All records in every step, and the last point; or, stochastic, ⌊n/T⌋ records of its own for every step, η/√t, and the mean of
    w^1, …, w^T [Appendix C].
    """
    T, disjoint = p["steps"], p.get("sampling", "full") == "disjoint"
    size, points = len(data) // T, [_start(data, p)]
    for t in range(1, T + 1):
        rows = data[(t - 1) * size : t * size] if disjoint else data
        noisy = yield Expected(f"step{t}/mean", mean(losses.gradients(p["loss"], points[-1], rows), p))
        length = p["step_size"] / math.sqrt(t) if disjoint else p["step_size"]
        points.append(losses.project(p["domain"], points[-1] - length * noisy))
    return np.mean(points[1:], axis=0) if disjoint else points[-1]


def trimmed_descent(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 3."""
    return (yield from _steps(data, p, _trimmed))


def soft_descent(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 4; s is that of the records of a step unless it is given."""
    return (yield from _steps(data, p, _softly_truncated))


def _start(data: FloatArray, p: dict[str, Any]) -> FloatArray:
    """w^0: as given, or the middle of W."""
    if p.get("center") is not None:
        return np.asarray(p["center"], dtype=np.float64)
    return losses.middle(p["domain"], losses.dimension(p["loss"], data.shape[1]))


ALGORITHMS: dict[str, PlainAlgorithm] = {
    "P1.A1": sample_and_aggregate,
    "P1.A3": trimmed_descent,
    "P1.A3.mean": trimmed_mean,
    "P1.A4": soft_descent,
    "P1.A4.mean": soft_truncated_mean,
}
