"""[P3, Algorithm 1] DPODME_T: zero the samples beyond B, average, add Gaussian noise.

Setting: x_1..x_n in R, E|x|^{1+v} ≤ u, v in (0, 1].  Statement: (ε, δ)-DP for 0 < ε, δ ≤ 1 and an error bound with
probability 1 − ξ [P3 Theorem 1; its proof gives 1 − 3ξ].  Departures: none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl import validation
from tailproof.refimpl.channel import L2, Bound, Channel
from tailproof.refimpl.claims import ApproxDP, classical_gaussian_scale
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.means.rows import replace_record, truncated_mean_of
from tailproof.refimpl.validation import FloatArray


def truncated_mean(
    data: ArrayLike,
    channel: Channel,
    *,
    epsilon: float,
    delta: float,
    failure: float,
    moment_order: float,
    moment_bound: float,
) -> FloatArray:
    """`moment_order` is 1 + v in (1, 2], `moment_bound` is u, `failure` is ξ."""
    claim = privacy(epsilon=epsilon, delta=delta)
    public = {"failure": failure, "moment_order": moment_order, "moment_bound": moment_bound}
    truncation(1, epsilon=epsilon, delta=delta, **public)  # refuses bad parameters before the data are looked at
    data = validation.records("data", data, columns=1)
    n = len(data)
    bound = truncation(n, epsilon=epsilon, delta=delta, **public)
    mean = truncated_mean_of(data, bound)  # lines 1-2
    reach = sensitivity(n, bound=bound)
    law = Gaussian(mean, classical_gaussian_scale(reach.value, epsilon, delta))  # line 3: σ² = 8B²log(1.25/δ)/(n²ε²)
    return channel.release("mean", law, sensitivity=reach, spend=claim)


def truncation(n: int, *, epsilon: float, delta: float, failure: float, moment_order: float, moment_bound: float) -> float:
    """Line 1: B = (unε/(log(1/ξ)√log(1.25/δ)))^{1/(1+v)}.  Public: no record enters."""
    epsilon, delta = validation.positive("epsilon", epsilon), validation.probability("delta", delta)
    failure = validation.probability("failure", failure)
    moment_bound = validation.positive("moment_bound", moment_bound)
    moment_order = validation.between("moment_order", moment_order, 1, 2)
    if moment_order == 1:
        raise validation.InputError("moment_order = 1.0: must be > 1 (the paper's 1 + v with v in (0, 1])")
    logs = math.log(1 / failure) * math.sqrt(math.log(1.25 / delta))
    return float((moment_bound * n * epsilon / logs) ** (1 / moment_order))


def sensitivity(n: int, *, bound: float) -> Bound:
    """Every truncated sample lies in [−B, B].  Attained, so it is also the supremum."""
    return L2(2 * bound / n)


def privacy(*, epsilon: float, delta: float) -> ApproxDP:
    """[P3, Theorem 1] by the classical Gaussian mechanism, which is proved for ε ≤ 1."""
    validation.between("epsilon", validation.positive("epsilon", epsilon), 0, 1)
    return ApproxDP(epsilon, delta)


def worst_neighbours(n: int, d: int, **parameters: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """B against −B; and a hair beyond B, which truncation sends to 0."""
    bound = truncation(n, **parameters)
    data = np.full((n, d), bound)
    yield data, replace_record(data, 0, -bound)
    yield data, replace_record(data, 0, bound * (1 + 1e-9))
