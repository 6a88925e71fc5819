"""diffprivlib 0.6.6, LinearRegression(epsilon=1, bounds_X=(0, 1), bounds_y=(-1, 1)), with its default intercept

Claim: "Differential privacy is guaranteed with respect to the training sample".
Data: ten records (x, y) inside the bounds with y = 0; x is 0.03 nine times, and once 0.03 or, in the neighbour, 1.
Cause: the noisy mean m of x is cut off at 0, which happens often for small x; the bounds of x − m are then (0, 1), and Σ(x − m)²
gets noise for the square of the lower bound alone, none at all.  The scale of the coefficient is 1/Σ(x − m)².
Measured: how often |coefficient| > 100.
Usage: python diffprivlib_linear_regression_intercept.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.models import LinearRegression
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
EPSILON = 1.0
DATA = np.full((10, 1), 0.03)
NEIGHBOUR = np.vstack([np.full((9, 1), 0.03), [[1.0]]])


def event(x: np.ndarray, seed: int) -> bool:
    model = LinearRegression(epsilon=EPSILON, bounds_X=(0, 1), bounds_y=(-1, 1), random_state=seed)
    return bool(abs(model.fit(x, np.zeros(10)).coef_[0]) > 100)


def main(runs: int) -> None:
    here = sum(event(DATA, seed) for seed in range(runs))
    there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2  # for each of the two limits
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"the event: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: no bound")
    print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
