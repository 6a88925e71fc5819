"""diffprivlib 0.6.6, LogisticRegression(epsilon, data_norm, C, fit_intercept=False), of two or more classes

Claim: "epsilon-Differential privacy is achieved relative to the maximum norm of the data, as determined by `data_norm`".
Data: two records with labels 0 and 1 and one feature, x = (0, data_norm) or, in the neighbour, (0, 0).
Cause: objective perturbation needs a bound of the second derivative of a record's loss, ‖x‖²/4; the Vector mechanism is given
‖x‖/4 (function_sensitivity × data_sensitivity).  For norms above 2 or so, too little of the budget is kept for it.
Measured: (1) the exact loss at w = 0.  The coefficient's density is p(noise) × second derivative, with a Laplace law p of the
scale that the source states, and the noise that makes w the minimiser: data_norm/2 and 0.  Of three classes each has a
regression of its own with ε/3, and the losses add up.
(2) for ε = 1, data_norm = 100, C = 0.01, how often |coefficient| < 0.05, with Clopper–Pearson limits.
Usage: python diffprivlib_logistic_regression.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.models import LogisticRegression
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
SETTINGS = [(norm, c, eps, k) for norm in (10, 100) for c in (0.01, 1, 100) for eps in (0.1, 1, 5) for k in (1, 3)]


def loss(norm: float, c: float, epsilon: float) -> float:
    left, regular = epsilon - 2 * math.log(1 + 0.25 * norm * c), 1 / c
    if left <= 0:
        left, regular = epsilon / 2, 0.25 * norm / math.expm1(epsilon / 4)
    scale = 2 * norm / left
    return math.log((regular + norm**2 / 4) / regular) - norm / 2 / scale


def event(x: list[float], seed: int) -> bool:
    model = LogisticRegression(epsilon=1.0, data_norm=100, C=0.01, fit_intercept=False, random_state=seed)
    return bool(abs(model.fit(np.array(x)[:, np.newaxis], np.array([0, 1])).coef_[0, 0]) < 0.05)


def main(runs: int) -> None:
    for norm, c, epsilon, models in SETTINGS:
        found = models * loss(norm, c, epsilon / models)
        if found > epsilon:
            print(f"data_norm = {norm}, C = {c}, {models} models: exact loss {found:.3f}, claimed {epsilon:g}: violated")
    here = sum(event([0.0, 100.0], seed) for seed in range(runs))
    there = sum(event([0.0, 0.0], seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2
    low, high = beta.ppf(error, here, runs - here + 1) if here else 0.0, beta.ppf(1 - error, there + 1, runs - there)
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"|coefficient| < 0.05: {here} of {runs} runs for x = (0, 100), {there} of {runs} for (0, 0)")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed 1; exactly: at least {loss(100, 0.01, 1):.3f}")
    print("verdict:", "violated" if found > 1 else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
