"""diffprivlib 0.6.6, tools.histogram(sample, epsilon=1, bins=2, range=(0, 1), weights=w); histogram2d, histogramdd alike

Claim: "noise added … to satisfy differential privacy"; `weights`: "Each value … only contributes its associated weight".
Data: two records of weights 10 and 1; the first one is taken away, it and its weight.  (Replaced, it is worse still.)
Cause: the noise of a bin is for a sensitivity of 1, whatever the weights.
Measured: how often the first bin has at least 6.
Usage: python diffprivlib_histogram_weights.py [runs of each side]
"""

import math
import sys
import warnings

import numpy as np
from diffprivlib.tools import histogram
from scipy.stats import beta

warnings.filterwarnings("ignore")
CONFIDENCE = 0.999
EPSILON = 1.0
DATA = np.array([[0.25, 10.0], [0.75, 1.0]])
NEIGHBOUR = DATA[1:]


def event(records: np.ndarray, seed: int) -> bool:
    counts, _ = histogram(records[:, 0], epsilon=EPSILON, bins=2, range=(0, 1), weights=records[:, 1], random_state=seed)
    return bool(counts[0] >= 6)


def main(runs: int) -> None:
    here = sum(event(DATA, seed) for seed in range(runs))
    there = sum(event(NEIGHBOUR, seed) for seed in range(runs, 2 * runs))
    error = (1 - CONFIDENCE) / 2  # for each of the two limits
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"the event: {here} of {runs} runs on the data, {there} of {runs} on the neighbour")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}; exactly: 10")
    print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20000)
