"""Projected gradient steps over an estimator of the mean gradient, shared by the optimisers of P1.

    w ← Π_W(w − η·g̃(w)),   g̃(w) the estimate from the table of gradients ∇ℓ(w, x_i), one row per record.

`sampling="full"` uses every record in every step, with a constant η, and returns the last point.  `sampling="disjoint"` gives
each of the T steps ⌊n/T⌋ records of its own, with η/√t in step t, and returns the mean of the points [P1, Appendix C].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from refimpl.channel import Channel
from refimpl.domains import LARGEST_POINT, Domain, parse_domain
from refimpl.extension.certified import LARGEST_REACH
from refimpl.losses import Loss, Quadratic, Ridge, parse_loss
from refimpl.pure_dp.perturbation import table
from refimpl.validation import FloatArray, InputError, choice, positive, probability, vector, whole

SAMPLINGS = ("full", "disjoint")
_HUGE = 1e300  # stands for a gradient entry beyond the floats

Estimate = Callable[[FloatArray, Channel], FloatArray]
"""An estimate of the mean of the rows, released through the channel (or not at all: of a baseline without privacy)."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is minimised, where, from where, and the records."""

    loss: Loss
    domain: Domain
    start: FloatArray
    rows: FloatArray


def prepare(data: ArrayLike, *, loss: Loss | str, domain: Domain | str, center: ArrayLike | None) -> Task:
    """Losses and domains may be given as they are named on a command line; the start is the domain's middle by default."""
    loss = parse_loss(loss) if isinstance(loss, str) else loss
    if isinstance(domain, str):
        parse_domain(domain, 1)  # refuses a text that says nothing before the data are looked at
    rows = table(data)
    columns = rows.shape[1]
    region = parse_domain(domain, dimension(loss, columns)) if isinstance(domain, str) else domain
    if loss.columns(region.dimension) != columns:
        raise InputError(f"data: has {columns} columns; must have {loss.columns(region.dimension)} for this loss and domain")
    start = region.interior_point() if center is None else vector("center", center, size=region.dimension)
    if not region.contains(start):
        raise InputError("center: must lie in the domain")
    if (reach := region.max_norm_from(np.zeros(region.dimension))) > LARGEST_REACH:
        raise InputError(f"domain: reaches {reach:.3g} far from the origin; at most {LARGEST_REACH:g} is allowed")
    loss.split(rows)  # refuses labels other than ±1
    return Task(loss, region, start, rows)


def check_delta(delta: float, records: int) -> None:
    """A δ of 1/n and more allows to publish a record: that is worth a warning."""
    if probability("delta", delta) >= 1 / records:
        warnings.warn(
            f"delta = {delta:g}: is not below 1/n = {1 / records:g}; such a claim allows to publish a whole record",
            stacklevel=3,
        )


def descend(
    task: Task, channel: Channel, *, steps: int, step_size: float, sampling: str, estimate: Estimate, name: str = "step"
) -> FloatArray:
    """The point described above."""
    point, total = task.start, np.zeros(task.domain.dimension)
    for number, use in enumerate(batches(len(task.rows), steps, sampling), start=1):
        gradients = gradient_table(task.loss, point, task.rows[use.start : use.stop])
        slope = estimate(gradients, channel.part(f"{name}{number}", use))
        length = step_size / np.sqrt(number) if sampling == "disjoint" else step_size
        point = task.domain.project(np.clip(point - length * slope, -LARGEST_POINT, LARGEST_POINT))
        total += point
    return np.asarray(point if sampling == "full" else task.domain.project(total / steps))


def batches(records: int, steps: int, sampling: str) -> list[range]:
    """The records of every step: all, or ⌊n/T⌋ of its own."""
    if sampling == "full":
        return [range(records)] * steps
    size = records // steps
    return [range(size * t, size * (t + 1)) for t in range(steps)]


def gradient_table(loss: Loss, point: FloatArray, rows: FloatArray) -> FloatArray:
    """∇ℓ(w, x_i) in row i; what is beyond the floats counts as ±1e300, whatever the other records are."""
    gradients = loss.gradients(point, rows)
    if not np.isfinite(gradients.sum()):
        gradients = np.clip(gradients, -_HUGE, _HUGE)
    return gradients


def check_schedule(steps: int, step_size: float, sampling: str) -> None:
    """What can be said without the data."""
    choice("sampling", sampling, SAMPLINGS)
    whole("steps", steps, least=1)
    positive("step_size", step_size)


def check_size(records: int, steps: int, sampling: str, *, least: int) -> None:
    """`least` is how few records an estimate may have."""
    size = len(batches(records, steps, sampling)[0])
    if size < least:
        raise InputError(f"steps = {steps}: leaves {size} of {records} records to a step; at least {least} are needed")


def dimension(loss: Loss | str, columns: int) -> int:
    """Of the points, for data of so many columns."""
    return 1 + columns - (parse_loss(loss) if isinstance(loss, str) else loss).columns(1)


def records_with_gradients(
    loss: Loss | str, tables: tuple[FloatArray, FloatArray], records: int
) -> tuple[FloatArray, FloatArray]:
    """For a check: data sets whose gradients at w = 0 are the rows of the tables, filled up with records without gradient.

    For ½(w − x)ᵀA(w − x), x = −A⁻¹g; for ½(⟨x, w⟩ − t)², x = −g and t = 1; for logistic loss, x = −2g and the label 1.
    """
    loss = parse_loss(loss) if isinstance(loss, str) else loss
    base = loss.loss if isinstance(loss, Ridge) else loss
    if isinstance(base, Quadratic):
        first, second = (np.linalg.solve(base.matrix, -rows.T).T for rows in tables)
        width, last = first.shape[1], 0.0
    else:
        factor = {"real": -1.0, "label": -2.0}[base.target]
        first, second = (np.column_stack([factor * rows, np.ones(len(rows))]) for rows in tables)
        width, last = first.shape[1], 1.0
    rest = np.zeros((records - len(first), width))
    rest[:, -1] = last
    return np.vstack([first, rest]), np.vstack([second, rest])
