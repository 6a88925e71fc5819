"""Minimisers of the empirical risks of many blocks at once: no privacy, no certificate, each a function of its block alone.

Accelerated projected gradient steps of length 1/L, L the smoothness of the block's own risk, restarted where momentum leads astray.
A block stops when its step is short; nothing of one block enters another's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tailproof.refimpl.approx_dp.problem import Problem
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss, GlmLoss, PowerPenalty, Quadratic, RecordQuadratic, Ridge
from tailproof.refimpl.validation import FloatArray, InputError

_TINY = 1e-300  # the curvature of an affine risk, whose minimiser one step finds

Slopes = Callable[[FloatArray], FloatArray]
"""The gradient of every block's risk, each at its own row of points."""


def block_minimisers(problem: Problem, *, blocks: int, most_steps: int = 600, tolerance: float = 1e-9) -> FloatArray:
    """One point of W for each of `blocks` blocks of ⌊n/m⌋ consecutive records.

    A block stops once a step is shorter than `tolerance` times the diameter, or after `most_steps`.
    """
    domain, used = problem.domain, len(problem.rows) // blocks * blocks
    slopes, curvature = _risks(problem.loss, problem.rows[:used], domain, blocks)
    stop = tolerance * domain.diameter_upper()
    point = np.tile(problem.start, (blocks, 1))
    ahead, momentum, moving = point, np.ones(blocks), np.ones(blocks, dtype=bool)
    for _ in range(most_steps):
        with np.errstate(over="ignore"):
            shift = np.clip(slopes(ahead) / curvature[:, np.newaxis], -_far(domain), _far(domain))
        new = np.where(moving[:, np.newaxis], domain.project(ahead - shift), point)
        step, move = new - ahead, new - point
        turned = np.einsum("ij,ij->i", step, move) < 0
        following = np.where(turned, 1.0, (1 + np.sqrt(1 + 4 * momentum**2)) / 2)
        ahead = new + np.where(turned, 0.0, (momentum - 1) / following)[:, np.newaxis] * move
        point, momentum = new, following
        moving &= np.linalg.norm(step, axis=1) > stop
        if not moving.any():
            break
    return np.asarray(point)


def _far(domain: Domain) -> float:
    """Farther than any two points in use are apart: no projection needs more."""
    return 1e6 * (1 + domain.max_norm_from(np.zeros(domain.dimension)))


def _risks(loss: AnyLoss, rows: FloatArray, domain: Domain, blocks: int) -> tuple[Slopes, FloatArray]:
    """The blocks' gradients and smoothness."""
    if isinstance(loss, PowerPenalty):
        raise InputError(f"loss = {loss!r}: must have no penalty but a ridge")
    base, weight = (loss.loss, loss.weight) if isinstance(loss, Ridge) else (loss, 0.0)
    if isinstance(base, RecordQuadratic):
        curvatures, centres = base.split(rows)
        stiff, pull = (
            part.reshape(blocks, -1, domain.dimension).mean(axis=1) for part in (curvatures, curvatures * centres)
        )
        return lambda w: stiff * w - pull, np.maximum(stiff.max(axis=1), _TINY)
    if isinstance(base, Quadratic):
        matrix, means = base.matrix, rows.reshape(blocks, -1, rows.shape[1]).mean(axis=1)
        largest = float(base.smoothness_upper(rows[:1])[0]) + weight
        return lambda w: (w - means) @ matrix + weight * w, np.full(blocks, max(largest, _TINY))
    x = base.signed_features(rows).reshape(blocks, -1, domain.dimension)
    t = base.split(rows)[1].reshape(blocks, -1)

    def slopes(w: FloatArray) -> FloatArray:
        margins = np.matmul(x, w[:, :, np.newaxis])[:, :, 0]
        return np.asarray(np.matmul(base.dphi(margins, t)[:, np.newaxis] / x.shape[1], x)[:, 0] + weight * w)

    second = np.linalg.eigvalsh(np.matmul(x.transpose(0, 2, 1), x) / x.shape[1])[:, -1]
    curvature = np.maximum(second, 0.0) * _steepest(base, x, t, domain) * (1 + 1e-9) + weight
    return slopes, np.maximum(curvature, _TINY)


def _steepest(loss: GlmLoss, x: FloatArray, t: FloatArray, domain: Domain) -> FloatArray | float:
    """sup φ'', over the margins that W allows in each block where there is no bound on the line."""
    if math.isfinite(loss.curvature_upper):
        return loss.curvature_upper
    reach = 3 * domain.max_norm_from(np.zeros(domain.dimension)) * np.linalg.norm(x, axis=2)  # momentum may leave W
    low, high = loss.d2phi(-reach, t), loss.d2phi(reach, t)
    if low is None or high is None:
        raise InputError(f"loss = {loss!r}: must be smooth")
    return np.asarray(np.maximum(low, high).max(axis=1))
