"""diffprivlib 0.6.6, GaussianNB(epsilon=1, bounds=(9, 10))

Claim: "adds noise to satisfy differential privacy to the learned means and variances"; `epsilon`: "for the model".
Data: forty records of one feature, all 9.5, twenty of each of two classes; in the neighbour one of them has the other label.
Cause: the sums of a class have noise for upper − lower = 1, but a record that goes takes 9.5 with it; and both classes change.
(Adding a record instead of replacing one does not help: the counts of the classes always add up to the exact number.)
Measured: how often the sum of the second class, theta_ × class_count_, is above 194, while the count is at most 21.
Usage: python diffprivlib_gaussian_nb.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.models import GaussianNB
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
EPSILON = 1.0
X, DATA, NEIGHBOUR = np.full((40, 1), 9.5), np.repeat([0, 1], [19, 21]), np.repeat([0, 1], 20)


def event(labels: np.ndarray, seed: int) -> bool:
    model = GaussianNB(epsilon=EPSILON, bounds=(9, 10), random_state=seed).fit(X, labels)
    return bool(model.theta_[1, 0] * model.class_count_[1] > 194 and model.class_count_[1] <= 21)


def main(runs: int) -> None:
    here = sum(event(DATA, seed) for seed in range(runs))
    there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2  # for each of the two limits
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"the event: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
    print(
        f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: at least 9.5/3, by the sum alone"
    )
    print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
