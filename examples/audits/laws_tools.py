"""Exact privacy losses of diffprivlib's tools, from the laws that its source code states; noise is continuous."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Array = NDArray[np.float64]


def quantile_log_density(data: Array, quant: float, epsilon: float, at: Array) -> Array:
    """Of an output in (0, 1): ∝ exp(−ε/2·|i − quant·n|) between the i-th and the next of the sorted numbers and bounds."""
    edges = np.concatenate([[0.0], np.sort(data), [1.0]])
    scores = -epsilon / 2 * np.abs(np.arange(len(data) + 1) - quant * len(data))
    with np.errstate(divide="ignore"):
        constant = float(logsumexp(scores + np.log(np.diff(edges))))
    return np.asarray(scores[np.searchsorted(edges, at) - 1] - constant)


def quantile(quant: float, epsilon: float) -> float:
    """The largest loss over data of one to six numbers at a few places, one of them replaced."""
    places, at = (0.0, 0.2, 0.5, 1.0), np.array([0.1, 0.35, 0.75])  # a point between any two places
    worst = 0.0
    for others in range(6):
        for rest in combinations_with_replacement(places, others):
            laws = [quantile_log_density(np.array([*rest, x]), quant, epsilon, at) for x in places]
            worst = max(worst, *(float(np.abs(a - b).max()) for a in laws for b in laws))
    return worst


def mean_added(epsilon: float) -> float:
    """The noisy mean of 0, and of 0 and 1, cut off at the bounds (0, 1): its scale is 1/(nε).  The densities at ½ are ε·exp(−ε/2)/2
    and ε; the chances of 0 are ½ and exp(−ε)/2."""
    return max(math.log(2) + epsilon / 2, epsilon)


def mean_and_histogram(epsilon: float) -> float:
    """Both of the same numbers, with ε each, under the reading of neighbours that is better for it: of a replaced record the two
    bins tell 2ε and the mean ε; of an added one a bin tells ε, and the mean what is said above."""
    return min(2 * epsilon + epsilon, epsilon + mean_added(epsilon))
