"""Exact privacy losses of models of diffprivlib, from the laws that its source code states.

What is idealised: noise is continuous, and a model is the exact minimiser of its noisy objective.  All functions give the largest
|log f/f'| over a grid of outputs and a few pairs of data sets that differ in one record, all inside the documented bounds: a lower
bound of the true ε, and infinite where it is plain that there is none.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

Array = NDArray[np.float64]

# --- LinearRegression, one feature, fit_intercept=False ---------------------------------------------------------------------


def ratio_log_density(t: Array, first: float, second: float, scale_1: float, scale_2: float) -> Array:
    """log density of (first + Laplace(scale_1)) / |second + Laplace(scale_2)|: the coefficient."""
    if scale_2 == 0:
        return np.asarray(math.log(second / (2 * scale_1)) - np.abs(t * second - first) / scale_1)
    least, most = 1e-9 * scale_2, second + 60 * scale_2
    grid = np.unique(np.concatenate([np.geomspace(least, most, 1500), np.linspace(least, second + 8 * scale_2, 1500)]))
    folded = np.logaddexp(-np.abs(grid - second) / scale_2, -(grid + second) / scale_2)
    logs = -np.abs(t[:, np.newaxis] * grid - first) / scale_1 + folded + np.log(grid * np.gradient(grid))
    return np.asarray(logsumexp(logs, axis=1) - math.log(4 * scale_1 * scale_2))


def scale_of_squares(bounds: tuple[float, float], share: float) -> float:
    """Of the noise of Σx², as in the source: the lower bound, twice, where the larger of both is meant."""
    return max(abs(bounds[0]), abs(bounds[0])) ** 2 / share


def linear_regression(lower: float, upper: float, epsilon: float) -> float:
    """bounds_X = (lower, upper), bounds_y = (−1, 1); one record beside another is replaced, both at corners of the bounds."""
    share = epsilon / 3  # of Σy², Σxy, Σx²
    largest = max(abs(lower), abs(upper))
    scale_1, scale_2 = 2 * largest / share, scale_of_squares((lower, upper), share)
    ends = sorted({lower, upper, min(max(0.0, lower), upper)})
    if scale_2 == 0:
        return math.inf  # the scale of the coefficient, scale_1 / Σx², is without noise
    t = np.concatenate([-np.geomspace(1e-4, 1e6, 120)[::-1], np.geomspace(1e-4, 1e6, 120)])
    records = [(x, y) for x in ends for y in (-1.0, 1.0)]
    laws = {
        (other, x, y): ratio_log_density(t, other + x * y, other**2 + x**2, scale_1, scale_2)
        for other in (ends[0], ends[-1])
        for x, y in records
    }
    return max(float(np.abs(law - laws[other, x, y]).max()) for (other, _, _), law in laws.items() for x, y in records)


def linear_regression_intercept(lower: float, upper: float, epsilon: float, *, cut: float) -> float:
    """The same with an intercept, which begins with noisy means m of x and r of y, cut off at the bounds; they spend ε/2 each,
    though ε/2 is kept for both, and ε/2 is left for the rest.  Records (cut, 1), of which one becomes (the other bound, −1).
    Where both means are cut off at these records, which the intercept tells (1 − cut·coefficient), the loss is that of both means
    and of the coefficient's law.  Where m is the lower bound those of x − m are (0, upper − lower), and Σ(x − m)² has no noise."""
    share, shift = epsilon / 6, lower + upper - 2 * cut  # of the record that is replaced, from m
    scale_1, scale_2 = 2 * abs(shift) / share, scale_of_squares((lower - cut, upper - cut), share)
    if scale_2 == 0:
        return math.inf
    t = np.concatenate([-np.geomspace(1e-4, 1e7, 200), np.geomspace(1e-4, 1e7, 200)])
    here, there = (
        ratio_log_density(t, first, second, scale_1, scale_2) for first, second in ((0.0, 0.0), (-2 * shift, shift**2))
    )
    return 2 * (epsilon / 2) + float((here - there).max())


# --- LogisticRegression ---------------------------------------------------------------------------------------------------------


def noise_of_vector(norm: float, strength: float, epsilon: float, *, function: float = 0.25) -> tuple[float, float]:
    """(scale of the noise, n·Δ added to the regularisation) of the Vector mechanism, with alpha = 1/strength; what it takes for the
    bound of a second derivative is function × norm."""
    alpha, bound = 1 / strength, function * norm
    left = epsilon - 2 * math.log(1 + bound / alpha)
    if left > 0:
        return 2 * norm / left, 0.0
    return 4 * norm / epsilon, bound / math.expm1(epsilon / 4) - alpha


def logistic_log_densities(
    norm: float, strength: float, epsilon: float, *, function: float = 0.25
) -> dict[tuple[float, int], Array]:
    """Of the coefficient on a grid, for each record (x, y) beside others with x = 0: p(noise(w))·second derivative(w).  One
    feature, no intercept."""
    scale, added = noise_of_vector(norm, strength, epsilon, function=function)
    regular = 1 / strength + added
    span = 60 * scale / regular
    w = np.concatenate([np.linspace(-span, span, 4001), np.linspace(-40 / norm, 40 / norm, 4001)])

    def law(x: float, y: int) -> Array:
        chance = expit(x * w)
        noise = regular * w + x * (chance - y)
        return np.asarray(np.log(regular + x * x * chance * (1 - chance)) - np.abs(noise) / scale)

    return {(x, y): law(x, y) for x in (0.0, norm, -norm) for y in (0, 1)}


def logistic_regression(norm: float, strength: float, epsilon: float, *, function: float = 0.25) -> float:
    """One of the records is replaced."""
    laws = list(logistic_log_densities(norm, strength, epsilon, function=function).values())
    return max(float(np.abs(a - b).max()) for a in laws for b in laws)


def logistic_regression_classes(norm: float, strength: float, epsilon: float, *, classes: int = 3) -> float:
    """One regression for each class against the others, with ε/classes and noise of its own: losses add up."""
    laws = logistic_log_densities(norm, strength, epsilon / classes)
    gains = {(a, b): float((laws[a] - laws[b]).max()) for a in laws for b in laws}
    return max(
        sum(gains[(x, int(label == k)), (z, int(other == k))] for k in range(classes))
        for x, label in laws
        for z, other in laws
    )


def logistic_regression_intercept(norm: float, strength: float, epsilon: float, *, reach: float, records: int = 10) -> float:
    """The same with an intercept b, |b| ≤ reach: the regularisation 1/C does not hold for b, so that the second derivative in its
    direction is Σσ'(margin) + nΔ, which one record can dominate.  Others have x = 0 and labels 0, 1 in turn."""
    scale, added = noise_of_vector(math.hypot(norm, 1.0), strength, epsilon)
    regular = 1 / strength + added
    b, margin = np.meshgrid(np.linspace(-reach, reach, 161), np.linspace(-3, 3, 61), indexing="ij")
    w = (margin - b) / norm
    others = np.arange(records - 1) % 2

    def law(x: float, y: float) -> Array:
        chance, base = expit(x * w + b), expit(b)
        own, rest = chance * (1 - chance), base * (1 - base) * len(others)
        noise = np.hypot(regular * w + x * (chance - y), added * b + (base - others[:, None, None]).sum(axis=0) + chance - y)
        determinant = (regular + x * x * own) * (added + rest + own) - (x * own) ** 2
        return np.asarray(np.log(determinant) - noise / scale)

    return max(float(np.abs(law(norm, y) - law(0.0, z)).max()) for y in (0.0, 1.0) for z in (0.0, 1.0))


# --- composition ---------------------------------------------------------------------------------------------------------------


def composed_response_delta(epsilon: float, times: int, total: float) -> float:
    """δ(total) of so many randomised responses: the best any composition theorem for ε-DP can say."""
    successes = np.arange(times + 1)
    logs = np.array([math.lgamma(times + 1) - math.lgamma(k + 1) - math.lgamma(times - k + 1) for k in successes])
    here = np.exp(logs + successes * math.log(expit(epsilon)) + (times - successes) * math.log(expit(-epsilon)))
    there = np.exp(logs + successes * math.log(expit(-epsilon)) + (times - successes) * math.log(expit(epsilon)))
    return float(np.maximum(0.0, here - math.exp(total) * there).sum())
