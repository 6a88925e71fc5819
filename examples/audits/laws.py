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


def linear_regression(lower: float, upper: float, epsilon: float) -> float:
    """bounds_X = (lower, upper), bounds_y = (−1, 1); one record beside another is replaced, both at corners of the bounds."""
    share = epsilon / 3  # of Σy², Σxy, Σx²
    largest = max(abs(lower), abs(upper))
    scale_1, scale_2 = 2 * largest / share, lower**2 / share  # as in the source: the lower bound, twice
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


# --- LogisticRegression ---------------------------------------------------------------------------------------------------------


def noise_of_vector(norm: float, strength: float, epsilon: float) -> tuple[float, float]:
    """(scale of the noise, n·Δ added to the regularisation) of the Vector mechanism, with 1/C = 1/strength."""
    alpha = 1 / strength
    left = epsilon - 2 * math.log(1 + 0.25 * norm / alpha)
    if left > 0:
        return 2 * norm / left, 0.0
    return 4 * norm / epsilon, 0.25 * norm / math.expm1(epsilon / 4) - alpha


def logistic_regression(norm: float, strength: float, epsilon: float) -> float:
    """One feature, no intercept: record (0, class 0) beside one that is replaced; density p(noise(w))·second derivative(w)."""
    scale, added = noise_of_vector(norm, strength, epsilon)
    regular = 1 / strength + added
    span = 60 * scale / regular
    w = np.concatenate([np.linspace(-span, span, 4001), np.linspace(-40 / norm, 40 / norm, 4001)])

    def law(x: float, y: float) -> Array:
        chance = expit(x * w)
        noise = regular * w + x * (chance - y)
        return np.asarray(np.log(regular + x * x * chance * (1 - chance)) - np.abs(noise) / scale)

    laws = [law(x, y) for x in (0.0, norm, -norm) for y in (0.0, 1.0)]
    return max(float(np.abs(a - b).max()) for a in laws for b in laws)


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


# --- trees, and what is chosen by permute-and-flip -----------------------------------------------------------------------------


def permute_and_flip(counts: tuple[int, int], epsilon: float) -> tuple[float, float]:
    """P(first), P(second) for two candidates with monotonic=True."""
    gap = math.exp(-epsilon * abs(counts[0] - counts[1])) / 2
    return (1 - gap, gap) if counts[0] >= counts[1] else (gap, 1 - gap)


def forest_replaced(epsilon: float) -> float:
    """One leaf of two records of class 0, of which one becomes one of class 1."""
    return math.log(permute_and_flip((1, 1), epsilon)[1] / permute_and_flip((2, 0), epsilon)[1])


def forest_added(epsilon: float) -> float:
    """Two trees with a record each, of classes 0 and 1; the first record is taken away, so that the second one moves to the first
    tree, and the second tree is empty."""
    here = permute_and_flip((1, 0), epsilon)[0] * permute_and_flip((0, 1), epsilon)[1]
    there = permute_and_flip((0, 1), epsilon)[0] * 0.5
    return math.log(here / there)


# --- PCA: the Bingham mechanism in the plane -------------------------------------------------------------------------------------


def bingham(epsilon: float, records: int) -> float:
    """d = 2: the law that its rejection sampler has, exp(−uᵀAu)·(uᵀΩu)^{−2}, for it divides by (uᵀΩu) where it should multiply;
    `records` unit vectors at an angle to one that is replaced."""
    angles = np.linspace(0, np.pi, 721)[:-1]
    u = np.stack([np.cos(angles), np.sin(angles)])

    def law(matrix: Array) -> Array:
        values = np.linalg.eigvalsh(matrix)
        translated = epsilon * (values.max() * np.eye(2) - matrix) / 4
        gap = float(np.linalg.eigvalsh(translated).max())
        b = 1 - gap + math.sqrt(1 + gap * gap)  # 1/b + 1/(b + 2·gap) = 1
        quadratic = np.einsum("in,ij,jn->n", u, translated, u)
        logs = -quadratic - 2 * np.log(1 + 2 * quadratic / b)
        return np.asarray(logs - math.log(float(np.exp(logs).mean())))

    def outer(angle: float) -> Array:
        v = np.array([math.cos(angle), math.sin(angle)])
        return np.outer(v, v)

    base, turns = records * outer(0.0), np.linspace(0, np.pi, 25)[:-1]
    laws = [law(base + outer(turn)) for turn in turns] + [law(base)]
    return max(float(np.abs(a - b).max()) for a in laws for b in laws)


# --- composition ---------------------------------------------------------------------------------------------------------------


def composed_response_delta(epsilon: float, times: int, total: float) -> float:
    """δ(total) of so many randomised responses: the best any composition theorem for ε-DP can say."""
    successes = np.arange(times + 1)
    logs = np.array([math.lgamma(times + 1) - math.lgamma(k + 1) - math.lgamma(times - k + 1) for k in successes])
    here = np.exp(logs + successes * math.log(expit(epsilon)) + (times - successes) * math.log(expit(-epsilon)))
    there = np.exp(logs + successes * math.log(expit(-epsilon)) + (times - successes) * math.log(expit(epsilon)))
    return float(np.maximum(0.0, here - math.exp(total) * there).sum())
