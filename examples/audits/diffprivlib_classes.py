"""diffprivlib 0.6.6, GaussianNB(epsilon=1, bounds=(0, 1)) and LogisticRegression(epsilon=1, data_norm=1)

Claim: "Gaussian Naive Bayes (GaussianNB) with differential privacy", "Logistic Regression … classifier with differential privacy".
Neither fit has a parameter for the classes, and neither warns.
Data: ten records, of which one alone has the label 7; in the neighbour it has a label that others have.
Cause: the classes are the labels that occur (RandomForestClassifier, for one, warns of this "additional privacy leakage").  Where
GaussianNB.partial_fit is given all classes, those that occur have counts of at least 1, the others 0.
Measured: how often 7 is among classes_, or has a count.
Usage: python diffprivlib_classes.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.models import GaussianNB, LogisticRegression
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
EPSILON = 1.0
X, DATA, NEIGHBOUR = np.full((10, 1), 0.5), np.array([0, 1] * 4 + [0, 7]), np.array([0, 1] * 5)


def bayes(labels: np.ndarray, seed: int) -> bool:
    return 7 in GaussianNB(epsilon=EPSILON, bounds=(0, 1), random_state=seed).fit(X, labels).classes_


def bayes_with_classes(labels: np.ndarray, seed: int) -> bool:
    model = GaussianNB(epsilon=EPSILON, bounds=(0, 1), random_state=seed)
    return bool(model.partial_fit(X, labels, classes=[0, 1, 7]).class_count_[2] > 0)


def logistic(labels: np.ndarray, seed: int) -> bool:
    return 7 in LogisticRegression(epsilon=EPSILON, data_norm=1, random_state=seed).fit(X, labels).classes_


def main(runs: int) -> None:
    for event in (bayes, bayes_with_classes, logistic):
        here = sum(event(DATA, seed) for seed in range(runs))
        there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
        error = (1 - CONFIDENCE) / 2  # for each of the two limits
        low = beta.ppf(error, here, runs - here + 1) if here else 0.0
        high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
        found = math.log(low / high) if low > 0 else -math.inf
        print(f"{event.__name__}: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
        print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: infinite")
        print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
