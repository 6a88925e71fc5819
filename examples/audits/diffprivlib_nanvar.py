"""diffprivlib 0.6.6, tools.nanvar(array, epsilon=1, bounds=(0, 1)); nanstd is its square root

Claim: "differentially private variance …, ignoring NaNs", "sensitivity is calculated using `bounds`".
Data: forty numbers, 38 of them NaN, one is 0, and the last is 1 or, in the neighbour, 0: the variance is 1/4 or 0.
Cause: the sensitivity is that of a variance of forty numbers, 39/1600.
Measured: how often the output is at least 1/8.
Usage: python diffprivlib_nanvar.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.tools import nanvar
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
EPSILON = 1.0
DATA, NEIGHBOUR = np.array([np.nan] * 38 + [0.0, 1.0]), np.array([np.nan] * 38 + [0.0, 0.0])


def event(array: np.ndarray, seed: int) -> bool:
    return bool(nanvar(array, epsilon=EPSILON, bounds=(0, 1), random_state=seed) >= 0.125)


def main(runs: int) -> None:
    here = sum(event(DATA, seed) for seed in range(runs))
    there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2  # for each of the two limits
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"the event: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: 0.25 / scale of the noise")
    print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
