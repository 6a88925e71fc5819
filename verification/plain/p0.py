"""P0 (Xu, Ding, Xiang, Xu and Wang 2025), Algorithms 1 to 7, its baseline, and our repair of Algorithm 3.

Where the paper leaves something open, or a departure is stated beside the row, a comment says which reading is taken:
batches and parts are consecutive records; records at the end that no batch needs are not used; Algorithm 2 makes T updates, not
T − 1; records rougher than the public smoothness count as gradient 0; a penalty, which all records share, is not clipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.plain import Expected, Hidden, Plain, PlainAlgorithm, extension, losses


def clipped(vectors: FloatArray, clip: float) -> FloatArray:
    """Every row's projection on the ball of radius C: z·min(1, C/‖z‖)."""
    norms = np.sqrt((vectors**2).sum(axis=1))
    return np.asarray(vectors / np.maximum(norms / clip, 1.0)[:, None])


def clipped_mean(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 1: (1/n) Σ Π_C(z_i)."""
    value = clipped(data, p["clip"]).mean(axis=0)
    yield Expected("value", value)
    return value


# --- Algorithm 2 ------------------------------------------------------------------------------------------------------------------


def _descent(
    p: dict[str, Any],
    rows: FloatArray,
    domain: Any,
    start: FloatArray,
    *,
    clip: float,
    step: float,
    weight: float,
    steps: int,
) -> FloatArray:
    """w_{t+1} = Π_W(w_t − η(ClippedMean(∇f(w_t, x_i)) + λ(w_t − w_0))), T times."""
    loss, n = p["loss"], len(rows)
    smooth = rows[losses.roughness(loss, rows) <= p["smoothness"]]
    w = start
    for _ in range(steps):
        slope = clipped(losses.unpenalised_gradients(loss, w, smooth), clip).sum(axis=0) / n + losses.pull(loss, w)
        following = losses.project(domain, w - step * (slope + weight * (w - start)))
        if (following == w).all():  # no further step moves it
            break
        w = following
    return w


def clipped_descent(data: FloatArray, p: dict[str, Any]) -> Plain:
    how = {name: p[name] for name in ("clip", "step", "weight", "steps")}
    value = _descent(p, data, p["domain"], _start(data, p), **how)
    yield Expected("value", value)
    return value


def _start(data: FloatArray, p: dict[str, Any]) -> FloatArray:
    """w_0: as given, or the middle of W."""
    if p.get("start") is not None:
        return np.asarray(p["start"], dtype=np.float64)
    return losses.middle(p["domain"], losses.dimension(p["loss"], data.shape[1]))


# --- Algorithms 3, 4 and 5 --------------------------------------------------------------------------------------------------------


def _phases(p: dict[str, Any], rows: FloatArray, domain: Any, start: FloatArray, phases: Any, prefix: str = "") -> Plain:
    """Algorithm 3 on these records and this set.  w_i is projected on the set before it is used (stated departure)."""
    w, used = start, 0
    for i, phase in enumerate(phases, start=1):
        batch = rows[used : used + phase.size]
        used += phase.size
        local = losses.Cut(domain, w, phase.radius)  # W_i
        how = {"clip": phase.clip, "step": phase.step, "weight": phase.weight, "steps": phase.steps}
        found = _descent(p, batch, local, w, **how)
        noisy = yield Expected(f"{prefix}phase{i}/point", found)
        w = losses.project(domain, noisy)
    return w


def localised(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 3, LNC-GM."""
    return (yield from _phases(p, data, p["domain"], _start(data, p), p["phases"]))


def staged(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithms 4 and 5: LNC-GM on one part after another, from where the last one ended.

    In Algorithm 4 over W ∩ B(ŵ_{l−1}, R_{l−1}); in Algorithm 5, whose stages have no radius, over W.
    """
    w, used = _start(data, p), 0
    for i, stage in enumerate(p["stages"], start=1):
        rows = data[used : used + stage.size]
        used += stage.size
        domain = p["domain"] if stage.radius is None else losses.Cut(p["domain"], w, stage.radius)
        w = yield from _phases(p, rows, domain, w, stage.phases, prefix=f"stage{i}/")
    return w


# --- Algorithms 6 and 7, and the baseline -----------------------------------------------------------------------------------------


def _accelerated(
    p: dict[str, Any], data: FloatArray, start: FloatArray, *, clip: float, steps: int, proximity: float, prefix: str = ""
) -> Plain:
    """Algorithm 6, with α_t = 2/(t + 1) and η_t = 4η/(t(t + 1)), on batches of ⌊n/T⌋ records of the permuted data."""
    order = yield Hidden(f"{prefix}order")
    size = len(data) // steps
    w, average = start, start
    for t in range(1, steps + 1):
        alpha, eta = 2 / (t + 1), 4 * proximity / (t * (t + 1))
        between = (1 - alpha) * average + alpha * w  # line 4
        batch = data[order[(t - 1) * size : t * size]]
        rows = clipped(losses.unpenalised_gradients(p["loss"], between, batch), clip) + losses.pull(p["loss"], between)
        name = f"{prefix}batch{t}/gradient"
        if p.get("noise", "record") == "record":  # the proof's: every record's clipped gradient gets its own noise
            slope = (yield Expected(name, rows.ravel())).reshape(size, -1).mean(axis=0)
        else:
            slope = yield Expected(name, rows.mean(axis=0))
        # line 7: the minimiser over W of α_t⟨g, w⟩ + (η_t/2)‖w − w_{t−1}‖² is the projection of w_{t−1} − (α_t/η_t)·g
        w = losses.project(p["domain"], w - alpha / eta * slope)
        average = alpha * w + (1 - alpha) * average
    return average


def accelerated(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 6, PNCA-SGD."""
    how = {name: p[name] for name in ("clip", "steps", "proximity")}
    return (yield from _accelerated(p, data, _start(data, p), **how))


def iterated_accelerated(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 7: PNCA-SGD on one part after another, from where the last one ended."""
    w, used = _start(data, p), 0
    for i, part in enumerate(p["parts"], start=1):
        rows = data[used : used + part.size]
        used += part.size
        how = {"clip": part.clip, "steps": part.steps, "proximity": part.proximity}
        w = yield from _accelerated(p, rows, w, **how, prefix=f"part{i}/")
    return w


def baseline(data: FloatArray, p: dict[str, Any]) -> Plain:
    """§7, after Abadi et al. (2016): w ← Π_W(w − η·(noisy mean of a random batch's clipped gradients)); the last, or the mean."""
    w, points = _start(data, p), []
    for t in range(1, p["steps"] + 1):
        members = yield Hidden(f"batch{t}")
        rows = clipped(losses.unpenalised_gradients(p["loss"], w, data[members]), p["clip"])
        slope = yield Expected(f"step{t}/gradient", rows.mean(axis=0) + losses.pull(p["loss"], w))
        w = losses.project(p["domain"], w - p["step"] * slope)
        points.append(w)
    return w if p.get("output", "last") == "last" else np.mean(points, axis=0)


# --- ours -------------------------------------------------------------------------------------------------------------------------


def repaired(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Phase by phase the minimiser of (1/n) Σ f_C(w, x_i) + (λ/2)‖w − w_{i−1}‖² over W, f_C the C-Lipschitz extension from W.

    What is released may be anywhere within κC/(λn) of it.
    """
    w, used = _start(data, p), 0
    for i, phase in enumerate(p["phases"], start=1):
        rows = data[used : used + phase.size]
        used += phase.size
        W = p["domain"]
        found, error = extension.minimiser(extension.Problem(p["loss"], rows, W, W, w, phase.weight, phase.clip))
        slack = p.get("kappa", 0.1) * phase.clip / (phase.weight * phase.size)
        noisy = yield Expected(f"phase{i}/point", found, within=slack * (1 + 1e-6) + error)
        w = losses.project(p["domain"], noisy)
    return w


ALGORITHMS: dict[str, PlainAlgorithm] = {
    "P0.A1": clipped_mean,
    "P0.A2": clipped_descent,
    "P0.A3": localised,
    "P0.A4": staged,
    "P0.A5": staged,
    "P0.A6": accelerated,
    "P0.A7": iterated_accelerated,
    "P0.B": baseline,
    "P0.R3": repaired,
}
