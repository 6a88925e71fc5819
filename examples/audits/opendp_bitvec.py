"""opendp 0.16.0, measurements.make_randomized_response_bitvec(bitvector_domain(max_weight=1), discrete_distance(), f=0.5)

Claim: ε = 2·max_weight·ln((2 - f)/f) = 2.197 by `map(1)`, for any two members of the domain, which limits the weight alone.
Data: the vector of one byte, 00000001, and the one of two bytes, 00000001 00000000.
Cause: the release is as long as the input.  Nothing in the domain or the documentation asks for one length.  (Issue 2930 of
    opendp reports the same; vectors of one length are safe.)
Measured: how often the release has one byte.
Usage: python opendp_bitvec.py [runs of each side]
"""

import math
import sys

import opendp.prelude as dp
from scipy.stats import beta

CONFIDENCE = 0.999
dp.enable_features("contrib")
NOISY = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)


def main(runs: int) -> None:
    here, there = (sum(len(NOISY(data)) == 1 for _ in range(runs)) for data in (b"\x01", b"\x01\x00"))
    error = (1 - CONFIDENCE) / 2
    low, high = beta.ppf(error, here, runs - here + 1), beta.ppf(1 - error, there + 1, runs - there)
    found = math.log(low / high)
    print(f"one byte is released: {here} of {runs} runs, {there} of {runs} for the longer vector")
    print(f"epsilon >= {found:.3f} with confidence {CONFIDENCE}; claimed {NOISY.map(1):.3f}; exactly: infinite")
    print("verdict:", "violated" if found > NOISY.map(1) else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20000)
