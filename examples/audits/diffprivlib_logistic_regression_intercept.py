"""diffprivlib 0.6.6, LogisticRegression(epsilon, data_norm, C), with its default intercept

Claim: "epsilon-Differential privacy is achieved relative to the maximum norm of the data, as determined by `data_norm`".
Data: ten records with labels 0, 1, 0, … and one feature; x = 0, or for the last one data_norm.
Cause: objective perturbation needs an objective that is 1/C-strongly convex in all coordinates; the regularisation leaves out the
intercept b.  Where b is large the other records have hardly any second derivative, and the one record all of it.  (Where ε is
small the Vector mechanism adds regularisation of its own; there ‖x‖ for ‖x‖² is what is wrong.)
Measured: (1) the exact loss at |b| ≤ 8 (which the solver's tolerance resolves), |w·data_norm + b| ≤ 1: the minimiser has density
p(‖noise‖) × determinant of the second derivative; where no regularisation is added the ratio grows with |b| beyond every bound.
(2) for data_norm = 1, ε = 1, C = 1: how often |w + b| < 2 and |b| > 3, with Clopper–Pearson limits.
Usage: python diffprivlib_logistic_regression_intercept.py [runs of each side; 30000 take minutes and are enough]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.models import LogisticRegression
from scipy.special import expit
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE, LABELS, LAST = 0.999, np.arange(10) % 2, np.eye(10)[9]
SETTINGS = [(norm, c, eps) for norm in (0.1, 1, 10, 100) for c in (0.01, 1) for eps in (0.1, 1, 5)]


def log_density(x: np.ndarray, w: float, b: float, norm: float, c: float, epsilon: float) -> float:
    size, added = math.hypot(norm, 1), 0.0
    left = epsilon - 2 * math.log(1 + 0.25 * size * c)
    if left <= 0:
        left, added = epsilon / 2, 0.25 * size / math.expm1(epsilon / 4) - 1 / c
    rows, chance = np.stack([x, np.ones(10)]), expit(x * w + b)
    noise = rows @ (chance - LABELS) + np.array([(1 / c + added) * w, added * b])
    second = (rows * chance * (1 - chance)) @ rows.T + np.diag([1 / c + added, added])
    return float(np.log(np.linalg.det(second)) - np.linalg.norm(noise) * left / (2 * size))


def event(x: np.ndarray, seed: int) -> bool:
    model = LogisticRegression(epsilon=1.0, data_norm=1, random_state=seed).fit(x[:, np.newaxis], LABELS)
    return bool(abs(model.coef_[0, 0] + model.intercept_[0]) < 2 and abs(model.intercept_[0]) > 3)


def main(runs: int) -> None:
    for norm, c, eps in SETTINGS:
        at = [((m - b) / norm, b, norm, c, eps) for b in (8.0, -8.0, 4.0, 0.0) for m in (-1, 0, 1)]
        found = max(log_density(norm * LAST, *point) - log_density(0 * LAST, *point) for point in at)
        if found > eps:
            print(f"data_norm = {norm}, C = {c}: exact loss {found:.3f}, claimed {eps:g}; verdict: violated")
    if runs:
        here, there = (sum(event(x, seed) for seed in range(runs)) for x in (LAST, 0 * LAST))
        low = beta.ppf((1 - CONFIDENCE) / 2, here, runs - here + 1)
        high = beta.ppf((1 + CONFIDENCE) / 2, there + 1, runs - there)
        print(f"{here} and {there} of {runs} runs: epsilon >= {math.log(low / high):.3f} with confidence {CONFIDENCE}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
