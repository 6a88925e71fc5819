"""[P1, Appendix C] Robust gradient descent, the baseline without privacy: trimmed or softly truncated means of the gradients."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from refimpl.approx_dp.gradient_steps import check_schedule, gradient_table, prepare
from refimpl.domains import Domain
from refimpl.losses import Loss
from refimpl.means import soft_truncation
from refimpl.validation import FloatArray, choice, whole

__all__ = ["robust_gradient_descent", "trimmed_means"]


def robust_gradient_descent(
    data: ArrayLike,
    *,
    loss: Loss | str,
    domain: Domain | str,
    steps: int,
    step_size: float,
    mean: Literal["trimmed", "soft"] = "trimmed",
    trim: int | None = None,
    second_moment: float = 5.0,
    failure: float = 0.01,
    center: ArrayLike | None = None,
) -> FloatArray:
    """The last of `steps` projected steps; `trim` is m, 0.05n by default; v and δ' are those of soft truncation [Holland 2019]."""
    choice("mean", mean, ("trimmed", "soft"))
    check_schedule(steps, step_size, "full")
    task = prepare(data, loss=loss, domain=domain, center=center)
    n = len(task.rows)
    cut = whole("trim", n // 20 if trim is None else trim, least=0, most=(n - 1) // 2)
    scale, beta = soft_truncation.published_parameters(n, second_moment=second_moment, failure=failure)
    point = task.start
    for _ in range(steps):
        gradients = gradient_table(task.loss, point, task.rows)
        slope = (
            trimmed_means(gradients, cut) if mean == "trimmed" else soft_truncation.query(gradients, scale=scale, beta=beta)
        )
        point = task.domain.project(point - step_size * slope)
    return point


def trimmed_means(table: FloatArray, trim: int) -> FloatArray:
    """The mean of every column without its m smallest and m largest entries."""
    n = len(table)
    kept = np.partition(table, (trim, n - trim - 1), axis=0)[trim : n - trim]
    return np.asarray(kept.mean(axis=0))
