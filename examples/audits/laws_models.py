"""Exact privacy losses of diffprivlib's trees, principal components and clusters, from the laws that its source code states.

As in `laws.py`, noise is continuous; what is given is the largest |log f/f'| over a few pairs of data sets and outputs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]

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


# --- PCA: the Bingham mechanism -------------------------------------------------------------------------------------------------


def bingham_plane(epsilon: float, records: int) -> float:
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


def bingham_swapped(epsilon: float, dimension: int, *, records: int = 1000) -> float:
    """The matrices diag(m, m − 1, 0, …) and diag(m − 1, m, 0, …), where uᵀ(matrix)u differs by at most 1: a record e₁ becomes e₂.
    The sampler's law is proportional to exp(−q)·(1 + 2q/b)^{−d}, q = uᵀAu, A = ε(m·I − matrix)/4, trace of (b + 2A)⁻¹ = 1, with the
    same normaliser for both; at u = e₁ are q = 0 and q = ε/4."""
    quarter = epsilon / 4
    eigenvalues = quarter * np.array([0.0, 1.0] + [records] * (dimension - 2))
    b = brentq(lambda b: float((1 / (b + 2 * eigenvalues)).sum()) - 1, 0.5, dimension + 1.0, xtol=1e-14)
    return quarter + dimension * math.log1p(2 * quarter / float(b))


def first_component(epsilon: float, dimension: int) -> float:
    """PCA(n_components=1, centered=True) of so many features, records as above: half of ε is the eigenvector's, and the eigenvalues
    are the same."""
    return bingham_swapped(epsilon / 2, dimension)


# --- KMeans ---------------------------------------------------------------------------------------------------------------------


def kmeans_corner(epsilon: float, features: int) -> float:
    """One cluster, bounds (0, 1), two iterations: records at the corner 0, of which one goes to the corner (1, …, 1).  The last
    iteration alone decides on the centre: a noisy count n, then noise on [0, n] for each sum.  A sum of 0 that becomes 1, and an
    output of 0, is the worst case that the scale of this noise is made for, whatever n is, so that each sum's share of ε is lost in
    full.  The shares of the count and of the sums are swapped on the way: each sum has r of features + r, not 1."""
    ratio = float(np.cbrt(4 * features * 0.225**2))
    return features * ratio / (features + ratio) * epsilon / 2
