"""P3 ((1+v)-th moments, sparse learning), Algorithms 1 to 6.

Where the paper leaves something open, or a departure is stated beside the row: m = ⌈4·log(2d/ξ)⌉ groups and T batches are
consecutive records, the k-th of them from ⌊(k−1)n/m⌋ to ⌊kn/m⌋; a group's mean is over the group; the median of an even
number is the mean of the middle two, or the lower one if asked for; DPHDME gets X_t and not X, unless `reading` asks for
what is printed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.plain import Expected, Plain, PlainAlgorithm, losses
from tailproof.verification.plain.p2 import simple_clipping


def truncated(rows: FloatArray, bound: float) -> FloatArray:
    """x·1{|x| ≤ B}, entry by entry: beyond the bound is 0, not the bound."""
    return np.where(np.abs(rows) > bound, 0.0, rows)


def parts(rows: FloatArray, count: int) -> list[FloatArray]:
    n = len(rows)
    return [rows[n * k // count : n * (k + 1) // count] for k in range(count)]


# --- the means -------------------------------------------------------------------------------------------------------------


def truncated_mean(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 1, with B = (u·n·ε/(log(1/ξ)·√log(1.25/δ)))^{1/(1+v)}."""
    logs = math.log(1 / p["failure"]) * math.sqrt(math.log(1.25 / p["delta"]))
    bound = (p["moment_bound"] * len(data) * p["epsilon"] / logs) ** (1 / p["moment_order"])
    return (yield Expected("mean", truncated(data, bound).sum(axis=0) / len(data)))


def median_of_means(rows: FloatArray, p: dict[str, Any], prefix: str = "") -> Plain:
    """Algorithm 3, DPHDME: coordinate by coordinate the median of the groups' truncated means."""
    count = math.ceil(4 * math.log(2 * rows.shape[1] / p["failure"]))
    means = np.sort([truncated(part, p["truncation"]).sum(axis=0) / len(part) for part in parts(rows, count)], axis=0)
    lower, upper = means[(count - 1) // 2], means[count // 2]
    middle = lower if p.get("median", "average") == "low" else (lower + upper) / 2
    return (yield Expected(f"{prefix}mean", middle))


def peeled(vector: FloatArray, sparsity: int, prefix: str = "") -> Plain:
    """Algorithm 4: s times the index of the largest |v_j| + noise among those not chosen yet; then v_j + noise at these."""
    chosen: list[int] = []
    for i in range(sparsity):
        chosen.append(int((yield Expected(f"{prefix}index{i + 1}", np.abs(vector)))))
    result = np.zeros(len(vector))
    for i, j in enumerate(chosen):
        result[j] = float(np.squeeze((yield Expected(f"{prefix}value{i + 1}", vector[j : j + 1]))))
    return result if len(set(chosen)) == sparsity else np.full(len(vector), np.nan)  # nothing is chosen twice


def peeled_mean(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 4 on the truncated mean: a step of Algorithm 5."""
    return (yield from peeled(truncated(data, p["truncation"]).sum(axis=0) / len(data), p["sparsity"]))


# --- the optimisers --------------------------------------------------------------------------------------------------------


def descent(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 2: convex, all records in every step and the mean of w_1 … w_T; strongly convex, disjoint batches and w_T."""
    strong = p.get("convexity", "convex") == "strong"
    disjoint = strong and p.get("reading", "batch") == "batch"
    points = yield from _steps(data, p, lambda rows, prefix: median_of_means(rows, p, prefix), disjoint=disjoint)
    return points[-1] if strong else points.sum(axis=0) / len(points)


def framework(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 6, over the estimators of this paper and the last; all iterates are returned."""
    known = {"simple_clipping_mean": simple_clipping, "truncated_median_of_means": median_of_means}
    mean, inner = known[p["estimator"].function.__name__], p["estimator"].parameters
    disjoint = p.get("batching", "all") == "disjoint"
    return (yield from _steps(data, p, lambda rows, prefix: mean(rows, inner, prefix), disjoint=disjoint))


def _steps(data: FloatArray, p: dict[str, Any], mean: Any, *, disjoint: bool) -> Plain:
    """w_t = Π_W(w_{t−1} − η·MeanEstimator({∇ℓ(w_{t−1}, x) : x ∈ X_t})): w_1 … w_T, one per row."""
    steps = p["steps"]
    batches = parts(data, steps) if disjoint else [data] * steps
    start = p.get("start")
    size = losses.dimension(p["loss"], data.shape[1])
    w = losses.middle(p["domain"], size) if start is None else np.asarray(start, dtype=np.float64)
    points = []
    for t, batch in enumerate(batches, start=1):
        slope = yield from mean(losses.gradients(p["loss"], w, batch), f"step{t}/")
        w = losses.project(p["domain"], w - p["learning_rate"] * slope)
        points.append(w)
    return np.array(points)


def sparse(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 5: on batch t, w ← Peeling(w − η₀·(truncated mean of gradients)); a `radius` then shrinks it into a ball."""
    size = losses.dimension(p["loss"], data.shape[1])
    w = np.zeros(size) if p.get("start") is None else np.asarray(p["start"], dtype=np.float64)
    for t, batch in enumerate(parts(data, p["steps"]), start=1):
        slope = truncated(losses.gradients(p["loss"], w, batch), p["truncation"]).sum(axis=0) / len(batch)
        w = yield from peeled(w - p["learning_rate"] * slope, p["sparsity"], prefix=f"step{t}/")
        if p.get("radius") is not None:
            w = losses.project_on_ball(w, np.zeros(size), p["radius"])
    return w


ALGORITHMS: dict[str, PlainAlgorithm] = {
    "P3.A1": truncated_mean,
    "P3.A2": descent,
    "P3.A3": median_of_means,
    "P3.A4": peeled_mean,
    "P3.A5": sparse,
    "P3.A6": framework,
}
