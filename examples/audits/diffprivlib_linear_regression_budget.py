"""diffprivlib 0.6.6, LinearRegression(epsilon, bounds_X=(lower, upper), bounds_y=(-1, 1)), with its default intercept

Claim: "Differential privacy is guaranteed with respect to the training sample", `epsilon`: "Privacy parameter".
Data: two records (upper, 1); in the neighbour one of them is (lower, -1).
Cause: of d features, a share 1/(d + 1) of ε is set aside for the means of x and y, and each of the two spends it: for one feature
ε/2 + ε/2 + ε/2.  Of the last ε/2, Σy² has a third, which the coefficient does not show.
Measured: (1) exactly.  With probability 1/4 both means are cut off at their upper bounds; the intercept 1 − upper·coefficient shows
it.  In the neighbour that has probability exp(−ε/2 − ε/2)/4.  Given it, the coefficient is S/Q, S = Laplace(12w/ε), Q =
|Laplace(6w²/ε)|, w = upper − lower; in the neighbour the laws are moved by 2w and w².  Far below 0 the ratio of its densities tends
to exp(ε/6)·exp(ε/6).  (2) for ε = 2 and bounds_X = (-1, 0): how often the means are cut off so, and the coefficient is negative.
Usage: python diffprivlib_linear_regression_budget.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.models import LinearRegression
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE, EPSILON = 0.999, 2.0
DATA = np.zeros((2, 1)), np.array([1.0, 1.0])
NEIGHBOUR = np.array([[0.0], [-1.0]]), np.array([1.0, -1.0])


def event(records: tuple[np.ndarray, np.ndarray], seed: int) -> bool:
    model = LinearRegression(epsilon=EPSILON, bounds_X=(-1, 0), bounds_y=(-1, 1), random_state=seed).fit(*records)
    return bool(abs(model.intercept_ - 1) < 1e-12 and model.coef_[0] < 0)


def main(runs: int) -> None:
    for epsilon in (0.1, 1.0, 5.0):
        found = epsilon / 2 + epsilon / 2 + epsilon / 6 + epsilon / 6
        print(f"any bounds_X: exact loss {found:.4g}, claimed {epsilon:g}:", "violated" * (found > epsilon))
    if runs:
        here = sum(event(DATA, seed) for seed in range(runs))
        there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
        error = (1 - CONFIDENCE) / 2  # for each of the two limits
        low, high = beta.ppf(error, here, runs - here + 1), beta.ppf(1 - error, there + 1, runs - there)
        print(f"the event: {here} of {runs} runs on the data, {there} of {runs} on the neighbour; exactly 7/6 of epsilon")
        print(f"epsilon >= {math.log(low / high):.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}")
        print("verdict:", "violated" if math.log(low / high) > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40000)
