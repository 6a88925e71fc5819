"""opendp 0.16.0, measurements.make_laplace_threshold and make_gaussian_threshold on integer counts

Claim: (ε, δ) of `map((1, 1, 1))`: one key of difference, its count by at most 1.
Data: no key at all, and one key with count 1, whose presence in the release tells the two apart.
Cause: counts that are at least the threshold are released, but δ is the chance that 1 + noise is above the threshold.  For
    integers, and for floats on a coarse grid (k), the chance to hit it exactly is missing: a factor of e for scale 1.
    (Issue 2922 of opendp reports the same.)
Measured: how often the key is released, with a Clopper–Pearson limit; and the chance computed from the law of the noise.
Usage: python opendp_threshold.py [runs]
"""

import math
import sys

import numpy as np
import opendp.prelude as dp
from scipy.stats import beta

CONFIDENCE = 0.999
SCALE, THRESHOLD = 1.0, 3
dp.enable_features("contrib")
COUNTS = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))


def exact(name: str) -> float:
    """P(1 + noise >= threshold)."""
    k = np.arange(-60, 61)
    weights = np.exp(-abs(k) / SCALE) if name == "make_laplace_threshold" else np.exp(-(k**2) / (2 * SCALE**2))
    return float(weights[1 + k >= THRESHOLD].sum() / weights.sum())


def main(runs: int) -> None:
    violated = []
    for name, metric in (("make_laplace_threshold", dp.l01inf_distance), ("make_gaussian_threshold", dp.l02inf_distance)):
        space = COUNTS, metric(dp.absolute_distance(T=int))
        made = getattr(dp.m, name)(*space, scale=SCALE, threshold=THRESHOLD)
        claimed = made.map((1, 1, 1))[1]
        seen = sum("a" in made({"a": 1}) for _ in range(runs))
        assert not any("a" in made({}) for _ in range(100))
        low = beta.ppf(1 - CONFIDENCE, seen, runs - seen + 1) if seen else 0.0
        violated.append(low > claimed)
        print(f"{name}: released in {seen} of {runs} runs, never without the key")
        print(f"    delta >= {low:.4f} with confidence {CONFIDENCE}; exactly {exact(name):.4f}; claimed {claimed:.4f}")
        assert math.isclose(exact(name), seen / runs, rel_tol=0.5)
    print("verdict:", "violated" if all(violated) else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20000)
