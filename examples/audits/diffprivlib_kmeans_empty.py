"""diffprivlib 0.6.6, KMeans(n_clusters=2, epsilon=1, bounds=(0, 1)).cluster_centers_

Claim: "K-Means clustering with differential privacy".
Data: two hundred records of one feature, all 0 but one, which is 1 or, in the neighbour, 0, too.  (Adding the 1 does the same.)
Cause: a centre that no record is nearest to is left where it was, without noise.  Of two first centres, which lie in [1/8, 7/8],
the one farther from 0 has no records and stays; with one record it is a noisy sum divided by a noisy count, anywhere in [0, 1].
Measured: how often a centre is above 7/8.  On the zeros alone, the first centre must jump over the other one for that.
Usage: python diffprivlib_kmeans_empty.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.models import KMeans
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
EPSILON = 1.0
NEIGHBOUR = np.zeros((200, 1))
DATA = np.vstack([NEIGHBOUR[1:], [[1.0]]])


def event(x: np.ndarray, seed: int) -> bool:
    return bool(KMeans(2, epsilon=EPSILON, bounds=(0, 1), random_state=seed).fit(x).cluster_centers_.max() > 7 / 8)


def main(runs: int) -> None:
    here = sum(event(DATA, seed) for seed in range(runs))
    there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2  # for each of the two limits
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"the event: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
    print(
        f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: grows with the number of records"
    )
    print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
