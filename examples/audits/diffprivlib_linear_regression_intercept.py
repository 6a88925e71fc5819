"""diffprivlib 0.6.6, LinearRegression(epsilon=1, bounds_X=…, bounds_y=(-1, 1)), with its default intercept

Claim: "Differential privacy is guaranteed with respect to the training sample".
Data: ten records (x, y) inside the bounds with y = 0; x is 3 % above the lower bound, and in the neighbour once the upper bound.
Cause: the noisy mean m of x is cut off at the bounds, at the lower one with positive probability on all data, often on these; the
bounds of x − m are then (0, upper − lower), and Σ(x − m)² gets noise for the square of the lower bound alone, none at all.  The
scale of the coefficient is 1/Σ(x − m)²: the ratio of its tails, exp(−|t|·Σ(x − m)²/b), has no bound, for any bounds and ε.
Measured: how often |coefficient|·(upper − lower) > 100.
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


def event(bounds: tuple[float, float], neighbour: bool, seed: int) -> bool:
    width = bounds[1] - bounds[0]
    x = np.full((10, 1), bounds[0] + 0.03 * width)
    if neighbour:
        x[9] = bounds[1]
    model = LinearRegression(epsilon=EPSILON, bounds_X=bounds, bounds_y=(-1, 1), random_state=seed)
    return bool(abs(model.fit(x, np.zeros(10)).coef_[0]) * width > 100)


def main(runs: int) -> None:
    for bounds in ((0, 1), (-1, 1), (5, 10)):
        here = sum(event(bounds, False, seed) for seed in range(runs))
        there = sum(event(bounds, True, seed) for seed in range(runs, 2 * runs))
        error = (1 - CONFIDENCE) / 2  # for each of the two limits
        low = beta.ppf(error, here, runs - here + 1) if here else 0.0
        high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
        found = math.log(low / high) if low > 0 else -math.inf
        print(f"bounds_X = {bounds}: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
        print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: no bound")
        print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
