"""[P3, Algorithm 6] SCO framework: projected gradient steps on a private estimate of the mean gradient.

Setting: a loss that is convex in w on a bounded convex set W; an estimator that turns the table of the records' gradients into
a private mean.  It claims nothing by itself: a step spends what its estimator spends, full batches charge every record in
every step, disjoint batches once.  Utility follows from the estimator's bias and mean square error [P3 Lemma 17, 18].
Departures: the paper's X_t is given as `batching`, all records or consecutive disjoint batches of ⌊n/T⌋ or ⌈n/T⌉ of them.

`Descent` is what the algorithms built on it share: P2 Algorithm 1 and P3 Algorithm 2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from refimpl.approx_dp.budget import WeakDelta
from refimpl.channel import Channel
from refimpl.domains import Domain, parse_domain
from refimpl.losses import AnyLoss, Quadratic, dimension_of, parse_any_loss
from refimpl.means.rows import replace_record
from refimpl.pure_dp.perturbation import table
from refimpl.validation import FloatArray, InputError, choice, positive, probability, vector, whole

Estimator: TypeAlias = Callable[[FloatArray, Channel], FloatArray]
"""A private mean of the rows of a table, released through the channel."""


@dataclass(frozen=True)
class Fixed:
    """An estimator with its parameters fixed, printed as such; `worst` are its `worst_neighbours`, where some are known."""

    function: Callable[..., FloatArray]
    parameters: dict[str, Any]
    worst: Callable[..., Iterator[tuple[FloatArray, FloatArray]]] | None = None

    def __call__(self, rows: FloatArray, channel: Channel) -> FloatArray:
        return self.function(rows, channel, **self.parameters)

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.function.__name__}({shown})"


BATCHINGS = ("all", "disjoint")


def sco_framework(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    estimator: Estimator,
    steps: int,
    learning_rate: float,
    batching: str = "all",
    start: ArrayLike | None = None,
) -> FloatArray:
    """The iterates w_1 … w_T, one per row.  `steps` is T, `learning_rate` is η, `start` is w_0 (default: the middle of W)."""
    descent = Descent.of(steps=steps, learning_rate=learning_rate, batching=batching)
    problem, rows = prepare(data, loss=loss, domain=domain, start=start)
    return descent.run(problem, rows, channel, estimator)[1:]


@dataclass(frozen=True, eq=False)
class Problem:
    """The public side of a problem: loss, set and start."""

    loss: AnyLoss
    domain: Domain
    start: FloatArray


@dataclass(frozen=True)
class Descent:
    """How steps are made."""

    steps: int  # T
    learning_rate: float  # η
    batching: str

    @classmethod
    def of(cls, *, steps: int, learning_rate: float, batching: str = "all") -> Descent:
        return cls(
            whole("steps", steps, least=1),
            positive("learning_rate", learning_rate),
            choice("batching", batching, BATCHINGS),
        )

    def batches(self, records: int) -> list[range]:
        """X_1 … X_T, as positions of records."""
        if self.batching == "all":
            return [range(records)] * self.steps
        return disjoint(records, self.steps)

    def run(self, problem: Problem, rows: FloatArray, channel: Channel, estimator: Estimator) -> FloatArray:
        """w_0 … w_T."""
        points = [problem.start]
        for t, batch in enumerate(self.batches(len(rows)), start=1):  # line 1
            gradients = problem.loss.gradients(points[-1], rows[batch.start : batch.stop])
            estimate = estimator(gradients, channel.part(f"step{t}", batch))  # line 2
            points.append(problem.domain.project(points[-1] - self.learning_rate * estimate))  # line 3
        return np.array(points)


def disjoint(records: int, batches: int) -> list[range]:
    """Consecutive ranges whose sizes differ by at most one; every batch needs a record."""
    if records < batches:
        raise InputError(f"data: has {records} records; at least {batches} are needed, one for each of the batches")
    ends = [records * t // batches for t in range(batches + 1)]
    return [range(*pair) for pair in pairwise(ends)]


def prepare(
    data: ArrayLike, *, loss: AnyLoss | str, domain: Domain | str, start: ArrayLike | None = None
) -> tuple[Problem, FloatArray]:
    """The problem and its records, with losses and domains as they are named on a command line, too."""
    loss = parse_any_loss(loss) if isinstance(loss, str) else loss
    rows = table(data)
    region = parse_domain(domain, dimension_of(loss, rows.shape[1])) if isinstance(domain, str) else domain
    if loss.columns(region.dimension) != rows.shape[1]:
        raise InputError(f"data: has {rows.shape[1]} columns; must have {loss.columns(region.dimension)}")
    first = region.interior_point() if start is None else vector("start", start, size=region.dimension)
    if not region.contains(first):
        raise InputError("start: must lie in the domain")
    loss.split(rows)  # refuses labels other than ±1
    return Problem(loss, region, first), rows


def warn_if_weak(delta: float, records: int) -> None:
    if probability("delta", delta) >= 1 / records:
        warnings.warn(f"delta = {delta!r}: is not below 1/n = {1 / records:.3g}", WeakDelta, stacklevel=3)


def worst_neighbours(
    n: int, d: int, *, loss: AnyLoss | str, estimator: Any = None, steps: int = 1, batching: str = "all", **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A record far steeper than any clip against the same one turned round, the others zero; and what is worst for the estimator.

    The record's gradient turns round when it is negated or, if it has a target, a label or centres, when these are.
    """
    loss = parse_any_loss(loss) if isinstance(loss, str) else loss
    turning = np.arange(d) >= dimension_of(loss, d) % d
    record = np.where(turning, 1e12, 1e3)
    data = replace_record(np.zeros((n, d)), 0, record)
    yield data, replace_record(data, 0, np.where(turning, -record, record))
    if isinstance(estimator, Fixed) and estimator.worst is not None:
        batch = min(Descent(steps, 1.0, batching).batches(n), key=len)
        yield from with_gradients(estimator.worst(len(batch), d, **estimator.parameters), loss=loss, n=n, batch=batch)


def with_gradients(
    pairs: Iterable[tuple[FloatArray, FloatArray]], *, loss: AnyLoss | str, n: int, batch: range
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Data sets whose batch has these tables of gradients in the first step, from the start 0; the other records are zero.

    For affine losses gradients are the records, in every step; for a `Quadratic` they are −Ax at 0.
    """

    def records(gradients: FloatArray) -> FloatArray:
        data, rows = np.zeros((n, gradients.shape[1])), slice(batch.start, batch.stop)
        data[rows] = gradients
        if isinstance(loss, Quadratic):  # rounding must not take an entry beyond a threshold
            data[rows] = np.linalg.solve(loss.matrix, -gradients.T).T * (1 - 1e-12)
        return data

    return ((records(first), records(second)) for first, second in pairs)
