"""Projected gradient steps over an estimate of the mean gradient, and the records that each of them uses.

w_t = Π_W(w_{t−1} − η_t·g̃_t),   g̃_t the estimate from the table of gradients ∇ℓ(w_{t−1}, x_i), one row per record of the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.budget import warn_if_weak
from tailproof.refimpl.approx_dp.gradients import Tables, gradient_tables, projection
from tailproof.refimpl.approx_dp.problem import Problem, prepare
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.domains import LARGEST_POINT, Domain
from tailproof.refimpl.losses import AnyLoss
from tailproof.refimpl.validation import FloatArray, InputError, choice, positive, whole

Estimator: TypeAlias = Callable[[FloatArray, Channel], FloatArray]
"""A private mean of the rows of a table, which lasts until the next step, released through the channel."""

SAMPLINGS = ("full", "disjoint")


def projected_steps(
    problem: Problem, channel: Channel, estimator: Estimator, *, batches: Sequence[range], lengths: Iterable[float]
) -> FloatArray:
    """w_0 … w_T, one per row."""
    points, tables = [problem.start], tables_for(problem, batches)
    project = projection(problem.domain)
    for t, (batch, length) in enumerate(zip(batches, lengths, strict=True), start=1):
        gradients = tables(points[-1], batch)
        estimate = estimator(gradients, channel.part(f"step{t}", batch))
        moved = np.minimum(np.maximum(points[-1] - length * estimate, -LARGEST_POINT), LARGEST_POINT)
        points.append(project(moved))
        del gradients  # before there is the next table
    return np.array(points)


def tables_for(problem: Problem, batches: Sequence[range]) -> Tables:
    return gradient_tables(problem.loss, problem.rows, repeated=sum(map(len, batches)) > 3 * len(problem.rows))


def batches_of(records: int, steps: int, *, disjoint: bool, equal: bool = False, least: int = 1) -> list[range]:
    """All records in every step, or disjoint batches one after the other, whose sizes differ by at most one (`equal`: by none,
    and up to T − 1 records are left out).  A step needs `least` records.
    """
    ends = [t * (records // steps) if equal else records * t // steps for t in range(steps + 1)]
    batches = [range(*pair) for pair in pairwise(ends)] if disjoint else [range(records)] * steps
    if (smallest := len(min(batches, key=len))) < least:
        has = (
            f"steps = {steps}: leaves {smallest} of {records} records to a step"
            if disjoint
            else f"data: has {records} records"
        )
        raise InputError(f"{has}; at least {least} are needed")
    return batches


def consecutive(sizes: Iterable[int], records: int, *, what: str) -> list[range]:
    """Parts of these sizes, one after the other."""
    sizes = list(sizes)
    if (needed := sum(sizes)) > records:
        raise InputError(f"data: has {records} records; the {what} need {needed}")
    return [range(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]


def descend(
    data: ArrayLike,
    channel: Channel,
    mean: Callable[..., FloatArray],
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    epsilon: float,
    delta: float,
    steps: int,
    step_size: float,
    sampling: str,
    center: ArrayLike | None,
    least: int,
    **of_mean: Any,
) -> FloatArray:
    """P1's optimisers, over an estimator that takes `iterations`, the number of releases that touch a record.

    "full" uses every record in every step, with a constant η, and returns the last point; "disjoint" gives each of the T steps
    ⌊n/T⌋ records of its own, with η/√t in step t, and returns the mean of the points [P1, Appendix C].
    """
    disjoint = choice("sampling", sampling, SAMPLINGS) == "disjoint"
    steps, step_size = whole("steps", steps, least=1), positive("step_size", step_size)
    problem = prepare(data, loss=loss, domain=domain, start=center, name="center")
    warn_if_weak(delta, len(problem.rows))
    batches = batches_of(len(problem.rows), steps, disjoint=disjoint, equal=True, least=least)
    estimate = partial(mean, epsilon=epsilon, delta=delta, iterations=1 if disjoint else steps, **of_mean)
    lengths = (step_size / math.sqrt(t) if disjoint else step_size for t in range(1, steps + 1))
    points = projected_steps(problem, channel, estimate, batches=batches, lengths=lengths)
    return np.asarray(problem.domain.project(points[1:].mean(axis=0)) if disjoint else points[-1])
