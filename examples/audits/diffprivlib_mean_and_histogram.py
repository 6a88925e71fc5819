"""diffprivlib 0.6.6, tools.mean(bounds=(0, 1)) and tools.histogram(bins=2, range=(0, 1)) of the same numbers, epsilon = 0.1 each

Claim: BudgetAccountant.total() after both: (0.2, 0).  Whether neighbours replace a record or add one is not said.
Data: one number, 0.  Either it is replaced by 1, or 1 is added to it.
Cause: the noise of a mean is for a replaced record and its scale depends on how many there are; that of a histogram is for an added
record, and a replaced one changes two bins.  No notion of neighbours saves both.
Measured: (1) exactly.  Replaced: both bins tell ε each, and a mean that is cut off at a bound ε.  Added: a bin tells ε; the mean of
0 has density ε·exp(−ε/2)/2 at ½, that of 0 and 1 has ε: log 2 + ε/2.  (2) how often, replaced: the bins are ≥ 1 and ≤ 0 and the
mean is 0; added: the second bin is ≥ 1 and the mean within 0.1 of ½.
Usage: python diffprivlib_mean_and_histogram.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.tools import histogram, mean
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE, EPSILON = 0.999, 0.1
ZERO, ONE, BOTH = np.array([0.0]), np.array([1.0]), np.array([0.0, 1.0])


def replaced(bins: np.ndarray, middle: float) -> bool:
    return bool(bins[0] >= 1 and bins[1] <= 0 and middle == 0.0)


def added(bins: np.ndarray, middle: float) -> bool:
    return bool(bins[1] >= 1 and abs(middle - 0.5) < 0.1)


def count(event, data: np.ndarray, seeds: range) -> int:
    found = 0
    for seed in seeds:
        random = np.random.RandomState(seed)
        bins, _ = histogram(data, epsilon=EPSILON, bins=2, range=(0, 1), random_state=random)
        found += event(bins, mean(data, epsilon=EPSILON, bounds=(0, 1), random_state=random))
    return found


def main(runs: int) -> None:
    for event, data, neighbour, exact in (
        (replaced, ZERO, ONE, 3 * EPSILON),
        (added, BOTH, ZERO, EPSILON + math.log(2) + EPSILON / 2),
    ):
        print(f"{event.__name__}: exact loss {exact:.3f}, claimed {2 * EPSILON:g}:", "violated" * (exact > 2 * EPSILON))
        here, there = count(event, data, range(runs)), count(event, neighbour, range(runs, 2 * runs))
        low = beta.ppf((1 - CONFIDENCE) / 2, here, runs - here + 1) if here else 0.0
        high = beta.ppf((1 + CONFIDENCE) / 2, there + 1, runs - there) if there < runs else 1.0
        print(f"{here} and {there} of {runs} runs: epsilon >= {math.log(low / high) if low else -math.inf:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60000)
