"""P4's exponential mechanisms: Algorithm 5 on a net, Algorithm 7 on the set that Algorithm 2 finds; and our choice of a moment.

Where the paper leaves something open, or a departure is stated beside the row: the net is a cubic grid of spacing 2ξ/√d in the
bounding box of the set, those of its points that are within ξ of the set, moved into it; Algorithm 7's has the mesh ξ·r, and
its walk the cells of a grid in the middle of that box, and a law within τ of the one that is stated.  The penalty of a ridge
loss is not clipped.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gamma, hyp2f1

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.plain import Expected, OneOf, Plain, PlainAlgorithm, extension, losses
from tailproof.verification.plain.p4_noise import localise

# --- grids --------------------------------------------------------------------------------------------------------------


def _box(domain: Any, size: int) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest coordinates of the set."""
    return (
        np.array([-extension.support(domain, -e) for e in np.eye(size)]),
        np.array([extension.support(domain, e) for e in np.eye(size)]),
    )


def _near(domain: Any, axes: list[FloatArray], distance: float) -> FloatArray:
    """The nearest points of the set to those points of the grid that are not farther than that from it."""
    found = []
    for place in np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes)):
        nearest = losses.project(domain, place)
        if np.linalg.norm(nearest - place) <= distance * (1 + 1e-9):
            found.append(nearest)
    return np.array(found)


def net(domain: Any, size: int, mesh: float) -> FloatArray:
    """Every point of the set is within ξ = `mesh` of one of these."""
    spacing = 2 * mesh / math.sqrt(size)
    low, high = _box(domain, size)
    counts = [max(1, math.ceil(width / spacing * (1 - 1e-12))) for width in high - low]
    return _near(domain, [a + spacing * (np.arange(k) + 0.5) for a, k in zip(low, counts, strict=True)], mesh)


def cells(domain: Any, size: int, spacing: float) -> FloatArray:
    """A cubic grid around the middle of the bounding box."""
    low, high = _box(domain, size)
    counts = [math.floor(width / spacing * (1 + 1e-12)) + 1 for width in high - low]
    axes = [(a + b) / 2 + spacing * (np.arange(k) - (k - 1) / 2) for a, b, k in zip(low, high, counts, strict=True)]
    return _near(domain, axes, spacing * math.sqrt(size) / 2)


# --- Algorithm 5 --------------------------------------------------------------------------------------------------------


def exponential(data: FloatArray, p: dict[str, Any]) -> Plain:
    """A point w of the net by its score −‖𝒢(w)‖, 𝒢(w) = (w − P_W(w − ηĝ(w)))/η, η = 1/(β + λ), ĝ with clipped gradients."""
    size = losses.dimension(p["loss"], data.shape[1])
    centre = losses.middle(p["domain"], size) if p.get("center") is None else np.asarray(p["center"], dtype=np.float64)
    points, eta = net(p["domain"], size, p["mesh"]), 1 / (p["smoothness"] + p["weight"])
    scores = []
    for w in points:
        rows = _gradients(p["loss"], data, w, p.get("smoothing"))
        shares = np.minimum(1.0, p["lipschitz"] / np.maximum(np.sqrt((rows**2).sum(axis=1)), 1e-300))
        slope = (shares[:, None] * rows).sum(axis=0) / len(data) + losses.pull(p["loss"], w) + p["weight"] * (w - centre)
        scores.append(-float(np.linalg.norm(w - losses.project(p["domain"], w - eta * slope))) / eta)
    return (yield from _chosen("index", np.array(scores), points, 0.0))


def _gradients(loss: Any, data: FloatArray, w: FloatArray, width: float | None) -> FloatArray:
    """∇f(w, x_i), or those of E f(w + σU, x_i), U uniform on the unit ball.

    ⟨x, U⟩ is ‖x‖ times a T with density ∝ (1 − t²)^{(d−1)/2}, so the slope is that before the kink and, with the probability that
    m + σ‖x‖T is beyond it, that behind it.
    """
    if width is None:
        return losses.unpenalised_gradients(loss, w, data)
    name, d = losses.read(loss)[0], len(w)
    found = []
    for row in data:
        x, t = row[:-1], float(row[-1])
        m, kink, before, after = {
            "absolute": (float(x @ w), t, -1.0, 1.0),
            "relu": (float(x @ w), t, 0.0, 1.0),
            "hinge": (t * float(x @ w), 1.0, -1.0, 0.0),
        }[name]
        reach = width * math.hypot(*x)
        z = min(max((m - kink) / reach, -1.0), 1.0) if reach else 0.0
        beyond = 0.5 + z * gamma(d / 2 + 1) / (math.sqrt(math.pi) * gamma((d + 1) / 2)) * hyp2f1(
            0.5, (1 - d) / 2, 1.5, z * z
        )
        found.append((before + (after - before) * beyond) * (t if name == "hinge" else 1.0) * x)
    return np.array(found)


def _chosen(
    name: str, scores: FloatArray, points: FloatArray, within: float, law: Callable[[Any], float] | None = None
) -> Plain:
    """One of the points, whose order is open."""
    candidates = yield Expected(name, scores, within, up_to_constant=True, places=points, law=law)
    return OneOf(tuple(candidates))


# --- Algorithm 7 --------------------------------------------------------------------------------------------------------


def localised(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 2 with a share of ε, and then a point of W_loc by the potential F̂_{λ,C}, or one of a grid in it."""
    size, n = losses.dimension(p["loss"], data.shape[1]), len(data)
    centre = losses.middle(p["domain"], size) if p.get("center") is None else np.asarray(p["center"], dtype=np.float64)
    local = yield from localise(data, p, centre, "localise/", p.get("share", 0.5), p.get("failure", 0.05))
    sampler, mesh = p.get("sampler", "rejection"), p.get("mesh")
    if sampler == "rejection":
        places = _all_over(local)
        points = np.array([losses.project(local, place) for place in places])
    elif sampler == "grid":
        points = net(local, size, (0.1 if mesh is None else mesh) * local.radius)
    elif mesh is None:
        raise NotImplementedError("the walk's own spacing")
    else:
        points = cells(local, size, 2 * mesh * local.radius / math.sqrt(size))
    means, error = extension.values(p["loss"], p["domain"], data, points, p["lipschitz"])
    scores = -means - p["weight"] / 2 * ((points - centre) ** 2).sum(axis=1)
    # what Algorithm 6 states of itself: ζ = min(1e-6, 0.01/n)·C·max ‖w − a‖, a no farther from the rest than the ball's middle
    within = min(1e-6, 0.01 / n) * p["lipschitz"] * local.radius + error
    tau = 0.01 * p["epsilon"] * (1 - p.get("share", 0.5))  # 2τ is 2 % of ε₂
    if sampler != "rejection":  # the largest score is off by `within`, too
        walk = (lambda law: distance_of_walk(law) / tau) if sampler == "walk" else None
        return (yield from _chosen("index", scores, points, 2 * within, walk))
    return (yield Expected("point", scores, math.sqrt(len(points)) * within, up_to_constant=True, places=places))


def distance_of_walk(law: Any) -> float:
    """max |log P^T(start, ·) − log π|, π ∝ exp(score/scale), of the lazy Metropolis walk: it stays with probability ½, or else
    proposes one of the 2d neighbours (itself, where one is missing) and accepts it with probability min(1, π(y)/π(x))."""
    logs = (law.scores - law.scores.max()) / law.scale
    points, ways = law.neighbours.shape
    matrix = np.zeros((points, points))
    for x, beside in enumerate(law.neighbours.tolist()):
        for y in beside:
            accepted = math.exp(min(0.0, logs[y] - logs[x])) / (2 * ways)
            matrix[x, y] += accepted
            matrix[x, x] += 1 / (2 * ways) - accepted
        matrix[x, x] += 0.5
    after = np.linalg.matrix_power(matrix, law.steps)[law.start]
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(after) - (logs - np.log(np.exp(logs).sum()))).max())


def _all_over(local: losses.Cut) -> FloatArray:
    """Points in the ball and far from it, always the same ones around its middle."""
    directions = np.random.default_rng(0).standard_normal((10, len(local.center)))
    reaches = np.array([0.0, 0.3, 0.7, *[3.0] * 7]) * local.radius
    return np.asarray(local.center + reaches[:, None] * directions / np.linalg.norm(directions, axis=1, keepdims=True))


# --- ours ---------------------------------------------------------------------------------------------------------------


def moment(data: FloatArray, p: dict[str, Any]) -> Plain:
    """The level g whose count N(g) = Σ min(1, ‖x‖/g)^k is the first that is not above τ, and g·(3r/n)^{1/k} of it."""
    levels = [p["low"]]
    while levels[-1] < p["high"]:
        levels.append(levels[-1] * p["ratio"])
    r = 2 * max(1.0, 1 / p["epsilon"]) * math.log(len(levels) / p["failure"])
    tau, k, n = 2 * r, p["moment_order"], len(data)
    sizes = [math.hypot(*row) for row in data.tolist()]
    beyond = [float(n), *(sum(min(1.0, size / g) ** k for size in sizes) for g in levels[:-1]), 0.0]
    pairs = list(itertools.pairwise(beyond))
    wrong = [
        max(0.0, tau - before, (after - tau) if g < levels[-1] else 0.0)
        for (before, after), g in zip(pairs, levels, strict=True)
    ]
    chosen = yield Expected("index", -np.array(wrong), up_to_constant=True)
    return np.array(levels[int(chosen)] * (3 * r / n) ** (1 / k))


ALGORITHMS: dict[str, PlainAlgorithm] = {"P4.A5": exponential, "P4.A7": localised, "P4.S3": moment}
