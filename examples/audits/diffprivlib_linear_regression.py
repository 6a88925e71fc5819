"""diffprivlib 0.6.6, LinearRegression(epsilon, bounds_X=(lower, upper), bounds_y=(-1, 1), fit_intercept=False)

Claim: "Differential privacy is guaranteed with respect to the training sample", `epsilon`: "Privacy parameter".
Data: two records (x, y) inside the bounds; one of them is replaced.
Cause: Σx² gets noise for max(|lower|, |lower|)², the lower bound twice (reported upstream); for a lower bound of 0, none at all.
The coefficient is S/Q, S = Σxy + Laplace(b), b = 2·max|x|·3/ε, Q = |Σx² + Laplace(3·lower²/ε)|.
Measured: (1) the exact loss of large coefficients.  Their density at t is E|S|·q(0)/t², q that of Q, so that the loss tends to
|Σx² − Σx'²|·ε/(3·lower²) + log E|S|/E|S'|; without noise in Q it is |t|·|Σx² − Σx'²|/b + log(Σx'²/Σx²), which has no bound.
(2) for bounds_X = (0, 1), how often |coefficient| > 100, with Clopper–Pearson limits.
Usage: python diffprivlib_linear_regression.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.models import LinearRegression
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999


def loss(lower: float, upper: float, epsilon: float) -> float:
    """Records (upper, 1) and (lower, sign of lower), of which the second becomes (upper, -1)."""
    scale = 6 * max(abs(lower), abs(upper)) / epsilon
    size = [abs(s) + scale * math.exp(-abs(s) / scale) for s in (upper + abs(lower), 0.0)]  # E|S|, E|S'|
    if lower == 0:
        return math.inf
    return (upper**2 - lower**2) * epsilon / (3 * lower**2) + math.log(size[0] / size[1])


def event(x: list[float], seed: int) -> bool:
    model = LinearRegression(epsilon=1.0, bounds_X=(0, 1), bounds_y=(-1, 1), fit_intercept=False, random_state=seed)
    return bool(abs(model.fit(np.array(x)[:, np.newaxis], np.zeros(2)).coef_[0]) > 100)


def main(runs: int) -> None:
    for bounds in ((0, 1), (0, 100), (-0.1, 1), (0.5, 1)):
        for epsilon in (0.1, 1.0, 5.0):
            found = loss(*bounds, epsilon)
            print(f"bounds_X = {bounds}: exact loss {found:.4g}, claimed {epsilon:g}:", "violated" * (found > epsilon))
    here = sum(event([0.0, 0.1], seed) for seed in range(runs))
    there = sum(event([1.0, 0.1], seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2
    low, high = beta.ppf(error, here, runs - here + 1) if here else 0.0, beta.ppf(1 - error, there + 1, runs - there)
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"|coefficient| > 100: {here} of {runs} runs for x = (0, 0.1), {there} of {runs} for (1, 0.1)")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed 1; exactly: no bound")
    print("verdict:", "violated" if found > 1 else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
