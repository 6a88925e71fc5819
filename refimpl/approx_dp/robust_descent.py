"""[P1, Appendix C] Robust gradient descent, the baseline without privacy: trimmed or softly truncated means of the gradients."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.problem import prepare
from tailproof.refimpl.approx_dp.steps import projected_steps
from tailproof.refimpl.channel import Channel, Transcript
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss
from tailproof.refimpl.means import soft_truncation
from tailproof.refimpl.means.trimmed import trimmed_means
from tailproof.refimpl.validation import FloatArray, choice, positive, whole


def robust_gradient_descent(
    data: ArrayLike,
    *,
    loss: AnyLoss | str,
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
    steps, step_size = whole("steps", steps, least=1), positive("step_size", step_size)
    soft_truncation.published_parameters(1, second_moment=second_moment, failure=failure)  # refuses bad ones at once
    whole("trim", 0 if trim is None else trim, least=0)
    problem = prepare(data, loss=loss, domain=domain, start=center, name="center")
    n = len(problem.rows)
    cut = whole("trim", n // 20 if trim is None else trim, least=0, most=(n - 1) // 2)
    scale, beta = soft_truncation.published_parameters(n, second_moment=second_moment, failure=failure)

    def estimate(gradients: FloatArray, _: Channel) -> FloatArray:
        if mean == "soft":
            return soft_truncation.query(gradients, scale=scale, beta=beta)
        return trimmed_means(np.array(gradients.T, order="C"), cut)

    nothing = Channel.replaying(Transcript(()))  # nothing is released
    points = projected_steps(problem, nothing, estimate, batches=[range(n)] * steps, lengths=[step_size] * steps)
    return np.asarray(points[-1])
