"""diffprivlib 0.6.6, tools.nanmean(array, epsilon=1, bounds=(0, 1))

Claim: "differentially private arithmetic mean …, ignoring NaNs", "sensitivity is calculated using `bounds`".
Data: ten numbers, nine of them NaN; the tenth is 1 or, in the neighbour, 0.
Cause: the mean is taken over the numbers that are not NaN, the sensitivity is divided by the number of all.
Measured: how often the output is at least 1/2.
Usage: python diffprivlib_nanmean.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.tools import nanmean
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
EPSILON = 1.0
DATA, NEIGHBOUR = np.array([np.nan] * 9 + [1.0]), np.array([np.nan] * 9 + [0.0])


def event(array: np.ndarray, seed: int) -> bool:
    return bool(nanmean(array, epsilon=EPSILON, bounds=(0, 1), random_state=seed) >= 0.5)


def main(runs: int) -> None:
    here = sum(event(DATA, seed) for seed in range(runs))
    there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2  # for each of the two limits
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"the event: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: 10")
    print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20000)
