"""diffprivlib 0.6.6, tools.nansum(array, epsilon=1, bounds=(9, 10))

Claim: "Sum of array elements … with differential privacy, ignoring NaNs".
Data: twelve tens, of which one is replaced by NaN.
Cause: the noise is for upper − lower = 1; a number that is not there counts as 0, outside the bounds, and moves the sum by 10.
Measured: how often the output is at most 110.
Usage: python diffprivlib_nansum.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.tools import nansum
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
EPSILON = 1.0
DATA, NEIGHBOUR = np.array([10.0] * 11 + [np.nan]), np.array([10.0] * 12)


def event(array: np.ndarray, seed: int) -> bool:
    return bool(nansum(array, epsilon=EPSILON, bounds=(9, 10), random_state=seed) <= 110)


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
