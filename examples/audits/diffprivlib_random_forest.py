"""diffprivlib 0.6.6, RandomForestClassifier(n_estimators, epsilon=1, bounds=(0, 1), classes=(0, 1), max_depth=1)

Claim: "epsilon-Differential privacy is achieved by constructing decision trees via random splitting criterion and applying
the PermuteAndFlip Mechanism to determine a noisy label".
Data: two trees; (1) four records at the same place with labels (0, 1, 0, 0), of which the second is replaced by one with label 0;
(2) two records with labels (0, 1), of which the first is taken away.
Cause: (1) labels are chosen with monotonic=True, right when counts only grow; a record that is replaced takes from one count and
gives to another.  (2) Records go to the trees in order, so that the second one moves to the first tree.
Measured: how often (1) the first tree's label is 1, exactly 1/2 and exp(−2ε)/2; (2) the trees' labels are 0 and 1, exactly
(1 − exp(−ε)/2)² and exp(−ε)/4.
Usage: python diffprivlib_random_forest.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.models import RandomForestClassifier
from scipy.stats import beta

warnings.filterwarnings("ignore")
EPSILON, CONFIDENCE = 1.0, 0.999
HALF = math.exp(-EPSILON) / 2
CASES = {
    "replaced": ([0, 1, 0, 0], [0, 0, 0, 0], [1], 2 * EPSILON),
    "taken away": ([0, 1], [1], [0, 1], math.log((1 - HALF) ** 2 / (HALF / 2))),
}


def event(labels: list[int], told: list[int], seed: int) -> bool:
    """Whether the first trees give these labels to the place where all records are."""
    settings = {"epsilon": EPSILON, "bounds": (0, 1), "classes": (0, 1), "max_depth": 1, "random_state": seed}
    settings["accountant"] = BudgetAccountant()  # the default one keeps a list that grows
    model = RandomForestClassifier(n_estimators=2, **settings).fit(np.full((len(labels), 1), 0.5), labels)
    return [int(tree.predict([[0.5]])[0]) for tree in model.estimators_[: len(told)]] == told


def main(runs: int) -> None:
    for name, (data, neighbour, told, exact) in CASES.items():
        here = sum(event(data, told, seed) for seed in range(runs))
        there = sum(event(neighbour, told, seed) for seed in range(runs, 2 * runs))
        error = (1 - CONFIDENCE) / 2  # for each of the two limits
        low = beta.ppf(error, here, runs - here + 1) if here else 0.0
        high = beta.ppf(1 - error, there + 1, runs - there)
        found = math.log(low / high) if low > 0 else -math.inf
        print(f"a record {name}: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
        print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: {exact:.3f}")
        print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
