"""diffprivlib 0.6.6, tools.mean(bounds=(0, 1)) and tools.histogram(bins=2, range=(0, 1)) of the same numbers, epsilon = 0.35 each

Claim: BudgetAccountant.total() after both: (0.7, 0).  Whether neighbours replace a record or add one is not said.
Data: one number, 0.  Either it is replaced by 1, or 1 is added to it.
Cause: the noise of a mean is for a replaced record and its scale depends on how many there are; that of a histogram is for an added
record, and a replaced one changes two bins.  No notion of neighbours saves both.
Measured: how often, replaced: the bins are ≥ 1 and ≤ 0 and the mean is 0, exactly exp(3ε) times as often (both bins tell ε, and a
mean that is cut off at a bound ε); added: the second bin is ≥ 1 and the mean within 0.4 of ½ (a bin tells ε; the mean of 0 has
density ε·exp(−ε/2)/2 at ½, that of 0 and 1 has ε, so that at ½ it is log 2 + ε/2 more).
Usage: python diffprivlib_mean_and_histogram.py [runs on each of three data sets]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.tools import histogram, mean
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE, EPSILON = 0.999, 0.35
ZERO, ONE, BOTH = np.array([0.0]), np.array([1.0]), np.array([0.0, 1.0])


def replaced(bins: np.ndarray, middle: float) -> bool:
    return bool(bins[0] >= 1 and bins[1] <= 0 and middle == 0.0)


def added(bins: np.ndarray, middle: float) -> bool:
    return bool(bins[1] >= 1 and abs(middle - 0.5) < 0.4)


def drawn(data: np.ndarray, generator: np.random.RandomState) -> tuple[np.ndarray, float]:
    given = {"epsilon": EPSILON, "random_state": generator, "accountant": BudgetAccountant()}
    return histogram(data, bins=2, range=(0, 1), **given)[0], mean(data, bounds=(0, 1), **given)


def main(runs: int) -> None:
    seeds, outputs = np.random.SeedSequence(0).spawn(3), {}
    for name, data, seed in zip(("0", "1", "0 and 1"), (ZERO, ONE, BOTH), seeds, strict=True):
        generator = np.random.RandomState(np.random.MT19937(seed))
        outputs[name] = [drawn(data, generator) for _ in range(runs)]
    found = []
    for event, data, neighbour in ((replaced, "0", "1"), (added, "0 and 1", "0")):
        here, there = (sum(event(*one) for one in outputs[name]) for name in (data, neighbour))
        low = beta.ppf((1 - CONFIDENCE) / 2, here, runs - here + 1) if here else 0.0
        high = beta.ppf((1 + CONFIDENCE) / 2, there + 1, runs - there) if there < runs else 1.0
        found.append(math.log(low / high) if low > 0 else -math.inf)
        print(
            f"{event.__name__}: {here} and {there} of {runs} runs: epsilon >= {found[-1]:.3f} with confidence {CONFIDENCE}"
        )
    print(f"claimed {2 * EPSILON:g}; verdict:", "violated" if min(found) > 2 * EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25000)
