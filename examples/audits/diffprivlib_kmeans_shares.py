"""diffprivlib 0.6.6, KMeans(n_clusters=1, epsilon, bounds=(0, 1)) of 100 features

Claim: "K-Means clustering with differential privacy", `epsilon`: "Privacy parameter".
Data: ten records at the corner 0 of the bounds, of which in the neighbour one is at the corner (1, …, 1).
Cause: of an iteration's budget a count is to get a share r, each of the d sums a share 1, of d + r; `_split_epsilon` returns them
in the other order, and the count gets 1, each sum r = (4d·0.225²)^(1/3), which is 2.73 for d = 100.  All in all 1 + d·r of d + r.
Measured: the exact loss of a centre at 0, which the last of two iterations alone decides: over all noisy counts, the densities at 0
of Laplace noise on [0, count] around the d sums, 0 or in the neighbour 1, with the scales that the library's mechanism computes.
(An added record does the same, but for the share of the count.)
Usage: python diffprivlib_kmeans_shares.py [noisy counts to add up]
"""

import math
import sys

import numpy as np
from diffprivlib.mechanisms import LaplaceBoundedDomain
from diffprivlib.models import KMeans
from scipy.special import logsumexp

FEATURES, RECORDS, ITERATIONS = 100, 10, 2


def log_density(total: float, counts: np.ndarray, shares: tuple[float, float]) -> float:
    """Of a centre at 0, all sums being `total`; counts have two-sided geometric noise, folded at 1/2."""
    terms = []
    for count, size in zip(counts, np.diff(np.append(counts, counts[-1] + 1)), strict=True):
        noise = LaplaceBoundedDomain(epsilon=shares[1], sensitivity=1, lower=0, upper=float(count))
        scale = 1 / noise.effective_epsilon()
        chance = np.logaddexp(-shares[0] * abs(count - RECORDS), -shares[0] * abs(1 - count - RECORDS))
        mass = 1 - (math.exp(-total / scale) + math.exp(-(count - total) / scale)) / 2
        single = -total / scale - math.log(2 * scale * mass) + math.log(count)
        terms.append(math.log(size) + chance + FEATURES * single)
    return float(logsumexp(terms))


def main(steps: int) -> None:
    for epsilon in (0.1, 1.0, 5.0):
        model = KMeans(1, epsilon=epsilon, bounds=(0, 1))
        assert model._calc_iters(FEATURES, RECORDS) == ITERATIONS
        shares = model._split_epsilon(FEATURES, ITERATIONS)
        counts = np.unique(np.geomspace(1, 60 * FEATURES / shares[0], steps).round())  # the rest weighs next to nothing
        found = log_density(0.0, counts, shares) - log_density(1.0, counts, shares)
        print(f"exact loss {found:.4f}, claimed {epsilon:g}; verdict:", "violated" if found > epsilon else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
