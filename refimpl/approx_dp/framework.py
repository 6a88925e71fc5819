"""[P3, Algorithm 6] SCO framework: projected gradient steps on a private estimate of the mean gradient.

Setting: a loss that is convex in w on a bounded convex set W; an estimator that turns the table of the records' gradients into
a private mean.  It claims nothing by itself: a step spends what its estimator spends, full batches charge every record in
every step, disjoint batches once.  Utility follows from the estimator's bias and mean square error [P3 Lemma 17, 18].
Departures: the paper's X_t is given as `batching`, all records or consecutive disjoint batches of ⌊n/T⌋ or ⌈n/T⌉ of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.problem import parsed, prepare, with_gradients
from tailproof.refimpl.approx_dp.steps import Estimator, batches_of, projected_steps
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss, dimension_of
from tailproof.refimpl.means.rows import replace_record
from tailproof.refimpl.validation import FloatArray, choice, positive, whole


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
    steps, learning_rate = whole("steps", steps, least=1), positive("learning_rate", learning_rate)
    disjoint = choice("batching", batching, BATCHINGS) == "disjoint"
    problem = prepare(data, loss=loss, domain=domain, start=start)
    batches = batches_of(len(problem.rows), steps, disjoint=disjoint)
    return projected_steps(problem, channel, estimator, batches=batches, lengths=[learning_rate] * steps)[1:]


def worst_neighbours(
    n: int, d: int, *, loss: AnyLoss | str, estimator: Any = None, steps: int = 1, batching: str = "all", **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A record far steeper than any clip against the same one turned round, the others zero; and what is worst for the estimator.

    The record's gradient turns round when it is negated or, if it has a target, a label or centres, when these are.
    """
    turning = np.arange(d) >= dimension_of(parsed(loss), d) % d
    record = np.where(turning, 1e12, 1e3)
    data = replace_record(np.zeros((n, d)), 0, record)
    yield data, replace_record(data, 0, np.where(turning, -record, record))
    if isinstance(estimator, Fixed) and estimator.worst is not None:
        batch = min(batches_of(n, steps, disjoint=batching == "disjoint"), key=len)
        yield from with_gradients(estimator.worst(len(batch), d, **estimator.parameters), loss=loss, n=n, batch=batch)
