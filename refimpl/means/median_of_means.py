"""[P3, Algorithm 3] DPHDME: coordinate-wise median of truncated group means, plus Gaussian noise.

Setting: x_1..x_n in R^d, E|x_j|^{1+v} ≤ u for every coordinate.  Statement: (ε, δ)-DP for 0 < ε, δ < 1; error with
probability 1 − ξ [P3 Theorem 3].
Departures: the number of groups 4·log(2d/ξ) is rounded up to a whole m; groups are consecutive records, of ⌊n/m⌋ or
⌈n/m⌉ records each, and the noise is scaled to the smallest group (the printed m/n is that when m divides n); line 7's
sum runs over the group, not over all records as printed.  `median="low"` takes the lower middle group for even m.
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
from tailproof.refimpl.means.rows import replace_record, truncated_group_means
from tailproof.refimpl.validation import FloatArray

MEDIANS = ("average", "low")


def truncated_median_of_means(
    data: ArrayLike,
    channel: Channel,
    *,
    epsilon: float,
    delta: float,
    failure: float,
    truncation: float,
    median: str = "average",
) -> FloatArray:
    """`failure` is ξ, `truncation` is τ."""
    claim = privacy(epsilon=epsilon, delta=delta)
    failure = validation.probability("failure", failure)
    truncation = validation.positive("truncation", truncation)
    median = validation.choice("median", median, MEDIANS)
    data = validation.records("data", data)
    n, d = data.shape
    groups = number_of_groups(n, d, failure=failure)  # line 1
    means = truncated_group_means(data, group_starts(n, groups), truncation)  # lines 3-8
    middle = median_of(means, median)  # lines 9-11
    reach = sensitivity(n, d, groups=groups, truncation=truncation)
    law = Gaussian(middle, classical_gaussian_scale(reach.value, epsilon, delta))  # line 12
    return channel.release("mean", law, sensitivity=reach, spend=claim)


def number_of_groups(n: int, d: int, *, failure: float) -> int:
    """Every group needs a record."""
    groups = wanted_groups(d, failure=failure)
    if n < groups:
        raise validation.InputError(f"data: has {n} records; at least {groups} are needed, one for each of the groups")
    return groups


def wanted_groups(d: int, *, failure: float) -> int:
    """Line 1: m = 4·log(2d/ξ), rounded up."""
    return math.ceil(4 * math.log(2 * d / failure))


def group_starts(n: int, groups: int) -> list[int]:
    """First record of each group; sizes differ by at most one."""
    return [n * group // groups for group in range(groups)]


def median_of(means: FloatArray, median: str) -> FloatArray:
    columns, low, high = np.array(means.T, order="C"), (len(means) - 1) // 2, len(means) // 2
    columns.partition(low, axis=1)
    above = columns[:, low if median == "low" else high :].min(axis=1)
    return np.asarray((columns[:, low] + above) / 2)


def sensitivity(n: int, d: int, *, groups: int, truncation: float) -> Bound:
    """One record moves one group's mean by at most 2τ/size in each coordinate, and the median by no more than that.

    Attained for odd m and for the low median.  For even m and the average of the two middle groups the supremum is half
    of it: when one group mean moves by t, the sorted means move by t in total and all in the same direction.
    """
    return L2(2 * truncation * math.sqrt(d) / (n // groups))


def sensitivity_supremum(n: int, d: int, *, failure: float, truncation: float, median: str = "average") -> float:
    groups = number_of_groups(n, d, failure=failure)
    claimed = sensitivity(n, d, groups=groups, truncation=truncation).value
    return claimed / 2 if groups % 2 == 0 and median == "average" else claimed


def privacy(*, epsilon: float, delta: float) -> ApproxDP:
    """[P3, Theorem 3] by the classical Gaussian mechanism, which is proved for ε ≤ 1."""
    validation.between("epsilon", validation.positive("epsilon", epsilon), 0, 1)
    return ApproxDP(epsilon, delta)


def worst_neighbours(
    n: int, d: int, *, failure: float, truncation: float, **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """One record moves the middle group's mean across: from −τ/size to τ/size.

    Half of the other groups hold −τ throughout and half of them τ, so they stay on their sides of it.
    """
    groups = number_of_groups(n, d, failure=failure)
    starts = [*group_starts(n, groups), n]
    smallest = min(range(groups), key=lambda group: starts[group + 1] - starts[group])
    others = [group for group in range(groups) if group != smallest]
    data = np.zeros((n, d))
    for rank, group in enumerate(others):
        data[starts[group] : starts[group + 1]] = -truncation if rank < (groups - 1) // 2 else truncation
    data[starts[smallest]] = -truncation
    yield data, replace_record(data, starts[smallest], truncation)
