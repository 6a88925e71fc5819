"""diffprivlib 0.6.6, KMeans(n_clusters=1, epsilon=1, bounds=(0, 1)).inertia_

Claim: "K-Means clustering with differential privacy"; Attributes: "inertia_: Sum of squared distances of samples to their closest
cluster center".  That it is not private is not said.  (labels_, one for each record, cannot be.)
Data: ten records of one feature, all 0 or, in the neighbour, one of them 1.
Cause: the distances from the private centre are exact.
Measured: how often inertia_ is that of ten zeros around the centre.
Usage: python diffprivlib_kmeans_inertia.py [runs of each side]
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
DATA, NEIGHBOUR = np.zeros((10, 1)), np.array([[0.0]] * 9 + [[1.0]])


def event(x: np.ndarray, seed: int) -> bool:
    model = KMeans(1, epsilon=EPSILON, bounds=(0, 1), random_state=seed).fit(x)
    return bool(abs(model.inertia_ - 10 * model.cluster_centers_[0, 0] ** 2) < 1e-9)


def main(runs: int) -> None:
    here = sum(event(DATA, seed) for seed in range(runs))
    there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2  # for each of the two limits
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"the event: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: infinite")
    print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
