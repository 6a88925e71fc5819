"""opendp 0.16.0, transformations.make_resize from InsertDeleteDistance to InsertDeleteDistance, and make_sum behind it

Claim: ε = 3 by the map of the chain for data at insert-delete distance 1: `make_resize` says 2, `make_sum` the range of a
    record for each two of that.
Data: twenty records at the lower bound, then twenty at the upper bound; and the same with another record behind them.
Cause: data of the right size, or less, are shuffled; of longer data the first records are taken, in their order.  The result
    is then at any distance.  A sum of 32 bits that does not leave its range depends on the order.  (Issue 2927 of opendp.)
Measured: how often the output is below -1.5e9 (the sum is close to 2**31 with the record behind them, before the noise), and
    how many sums there are without noise.  Exactly, the loss at outputs far below is 4.56.
Usage: python opendp_resize.py [runs of each side]
"""

import math
import sys

import opendp.prelude as dp
from scipy.stats import beta

CONFIDENCE, EPSILON = 0.999, 3.0
LOW, HIGH, MANY = -(2**30), 2**30 - 1, 20
DATA = [LOW] * MANY + [HIGH] * MANY
dp.enable_features("contrib")
RECORDS = dp.vector_domain(dp.atom_domain(bounds=(LOW, HIGH))), dp.insert_delete_distance()
SUMMED = dp.t.make_resize(*RECORDS, size=2 * MANY, constant=0, MO="InsertDeleteDistance") >> dp.t.then_sum()
NOISY = SUMMED >> dp.m.then_laplace(scale=SUMMED.map(1) / EPSILON)


def main(runs: int) -> None:
    print(f"sums without noise: {len({SUMMED([*DATA, 0]) for _ in range(200)})} with the record, ", end="")
    print(f"{len({SUMMED(DATA) for _ in range(200)})} without it; claimed epsilon {NOISY.map(1):.4f}")
    here, there = (sum(NOISY(data) < -1.5e9 for _ in range(runs)) for data in (DATA, [*DATA, 0]))
    error = (1 - CONFIDENCE) / 2
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    found = math.log(low / high) if low > 0 else -math.inf
    print(f"output below -1.5e9: {here} of {runs} runs without the record, {there} of {runs} with it")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {EPSILON:g}")
    print("verdict:", "violated" if found > EPSILON else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60000)
