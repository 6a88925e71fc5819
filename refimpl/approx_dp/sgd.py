"""[P0, §7; Abadi et al. 2016] DP-SGD, the baseline: noisy means of clipped gradients on random batches, accounted by an
accountant.

Setting: any loss with gradients; W bounded.  Statement: (ε, δ)-DP, replace-one, by the Rényi accountant of `accountant`,
which counts the random batches.  P0 names no accountant, batch size, threshold or step; there is no bound of the excess risk.
Given the batches, T releases are T/(2z²)-zCDP together (`conditional_privacy`).
Departures: batches are drawn without replacement, of a fixed size m, afresh in every step (Abadi et al. have Poisson batches
and add-remove neighbours); noise is z times the replace-one sensitivity 2C/m of the mean; iterates are projected onto W.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.accountant import noise_multiplier
from tailproof.refimpl.approx_dp.budget import warn_if_weak
from tailproof.refimpl.approx_dp.gradients import clipped_batch_gradient, projection
from tailproof.refimpl.approx_dp.problem import prepare
from tailproof.refimpl.channel import L2, Bound, Channel
from tailproof.refimpl.claims import ZCDP, ApproxDP
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.laws import Gaussian, UniformSubset
from tailproof.refimpl.losses import AnyLoss
from tailproof.refimpl.means.rows import replace_record
from tailproof.refimpl.validation import FloatArray, InputError, choice, positive, whole

OUTPUTS = ("last", "average")


def dp_sgd(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    epsilon: float,
    delta: float,
    clip: float,
    batch: int,
    steps: int,
    step: float,
    output: str = "last",
    start: ArrayLike | None = None,
) -> FloatArray:
    """`clip` is C, `batch` m, `steps` T, `step` the step size; the last iterate, or the average of all."""
    privacy(epsilon=epsilon, delta=delta)
    clip, step = positive("clip", clip), positive("step", step)
    steps, batch = whole("steps", steps, least=1), whole("batch", batch, least=1)
    choice("output", output, OUTPUTS)
    problem = prepare(data, loss=loss, domain=domain, start=start)
    function, region, point, rows = problem.loss, problem.domain, problem.start, problem.rows
    n = len(rows)
    z = multiplier(n, epsilon=epsilon, delta=delta, batch=batch, steps=steps)
    warn_if_weak(delta, n)
    reach, spend = sensitivity(batch, clip=clip), ZCDP(1 / (2 * z**2))
    project, total = projection(region), np.zeros_like(point)
    clipped = clipped_batch_gradient(function, rows, clip=clip, size=batch, domain=region)
    for t in range(1, steps + 1):
        members = np.asarray(channel.hidden(f"batch{t}", UniformSubset(n, batch)))
        mean = clipped(point, members)
        law = Gaussian(mean, z * reach.value)
        slope = channel.part(f"step{t}", members).release("gradient", law, sensitivity=reach, spend=spend, visible=False)
        point = project(point - step * slope)
        total += point
    return point if output == "last" else region.project(total / steps)


def multiplier(n: int, *, epsilon: float, delta: float, batch: int, steps: int) -> float:
    """z."""
    if batch > n:
        raise InputError(f"batch = {batch}: must be at most the number of records, {n}")
    return noise_multiplier(epsilon=epsilon, delta=delta, share=batch / n, steps=steps)


def sensitivity(batch: int, *, clip: float) -> Bound:
    """2C/m of a batch's mean.  Attained."""
    return L2(2 * clip / batch)


def privacy(*, epsilon: float, delta: float) -> ApproxDP:
    """By the accountant, of all noisy gradients, over the random batches."""
    return ApproxDP(epsilon, delta)


def conditional_privacy(*, n: int, epsilon: float, delta: float, batch: int, steps: int) -> ZCDP:
    """Given the batches, of a record that is in all of them."""
    return ZCDP(steps / (2 * multiplier(n, epsilon=epsilon, delta=delta, batch=batch, steps=steps) ** 2))


def tuned_parameters(
    n: int,
    *,
    dimension: int,
    diameter: float,
    moment_bound: float,
    epsilon: float,
    delta: float,
    steps: int = 200,
) -> dict[str, Any]:
    """Public choices: batches of n/10, C = 2r̃, and the step D/(√T·√(C² + dσ²)) of projected stochastic gradient descent,
    averaged.
    """
    n, dimension, steps = whole("n", n, least=10), whole("dimension", dimension, least=1), whole("steps", steps, least=1)
    batch, clip, diameter = n // 10, 2 * positive("moment_bound", moment_bound), positive("diameter", diameter)
    scale = multiplier(n, epsilon=epsilon, delta=delta, batch=batch, steps=steps) * 2 * clip / batch
    step = diameter / math.sqrt(steps * (clip**2 + dimension * scale**2))
    return {"clip": clip, "batch": batch, "steps": steps, "step": step, "output": "average"}


def worst_neighbours(n: int, d: int, *, clip: float, **_: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A record that pulls with all of C against the opposite: every batch that holds it moves by 2C/m."""
    record = np.append(np.eye(d)[0, :-1], 1e6 * clip) if d > 1 else np.array([1e6 * clip])
    for row in range(min(n, 4)):  # whichever a batch holds
        for others in (0.0, 1.0):
            data = np.tile(others * record, (n, 1))
            data[row] = record
            turned = record * np.append(np.ones(d - 1), -1.0) if d > 1 else -record
            yield data, replace_record(data, row, turned)
