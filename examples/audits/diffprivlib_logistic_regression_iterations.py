"""diffprivlib 0.6.6, LogisticRegression(epsilon=1, data_norm=1, fit_intercept=False).n_iter_

Claim: "Logistic Regression classifier with differential privacy"; Attributes: "n_iter_: Actual number of iterations for all
classes".  That it is not private is not said.
Data: a hundred records of one feature, labels 0 and 1 in turn, all x = 0 but one, which is 1 or, in the neighbour, 0, too.
Cause: how often the solver iterates depends on the data beside the noise.  With x = 0 alone the objective is a parabola, whose
lowest point it finds in at most two steps; one other record bends it, and takes more.
Measured: how often n_iter_ is at least 3.
Usage: python diffprivlib_logistic_regression_iterations.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.models import LogisticRegression
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
EPSILON = 1.0
LABELS, NEIGHBOUR = np.arange(100) % 2, np.zeros((100, 1))
DATA = np.vstack([NEIGHBOUR[1:], [[1.0]]])


def event(x: np.ndarray, seed: int) -> bool:
    model = LogisticRegression(epsilon=EPSILON, data_norm=1, fit_intercept=False, random_state=seed)
    return bool(model.fit(x, LABELS).n_iter_[0] >= 3)


def main(runs: int) -> None:
    here = sum(event(DATA, seed) for seed in range(runs))
    there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2  # for each of the two limits
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"the event: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; no bound is known")
    print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
