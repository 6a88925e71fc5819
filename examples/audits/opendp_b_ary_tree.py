"""opendp 0.16.0, transformations.make_b_ary_tree with l2_distance, and make_gaussian behind it

Claim: `map(d_in)`: leaf counts at ℓ2 distance d_in have trees at ℓ2 distance of at most d_in × the number of layers.
Data: sixteen leaves of count 0, and of count 1: at ℓ2 distance 4.  The tree has the leaves and their sum.
Cause: that holds for one leaf.  Of several, a node gets the sum: the root moves by 16 here, the tree by √(16 + 16²) = 16.5,
    and 4 × 2 layers = 8 is claimed.  (Issue 2924 of opendp reports the same.  In a chain from records, where the counts
    themselves are at distance d_in in ℓ1, it does no harm.)
Measured: the distance; the ρ of Gaussian noise behind it, (16.5/σ)²/2; and how often the noisy root is above 8.
Usage: python opendp_b_ary_tree.py [runs of each side]
"""

import math
import sys

import opendp.prelude as dp
from scipy.stats import beta

CONFIDENCE = 0.999
LEAVES, SCALE = 16, 16.0
dp.enable_features("contrib")
SPACE = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=int)
TREE = dp.t.make_b_ary_tree(*SPACE, leaf_count=LEAVES, branching_factor=LEAVES)
NOISY = TREE >> dp.m.then_gaussian(scale=SCALE)


def main(runs: int) -> None:
    zeros, ones = [0] * LEAVES, [1] * LEAVES
    apart, claimed = math.dist(TREE(zeros), TREE(ones)), NOISY.map(4)
    rho = (apart / SCALE) ** 2 / 2
    print(f"distance {apart:.3f}, claimed {TREE.map(4)}; rho {rho:.4f}, claimed {claimed:.4f}")
    here, there = (sum(NOISY(data)[0] > LEAVES / 2 for _ in range(runs)) for data in (ones, zeros))
    error = (1 - CONFIDENCE) / 2
    low = beta.ppf(error, here, runs - here + 1) if here else 0.0
    high = beta.ppf(1 - error, there + 1, runs - there) if there < runs else 1.0
    divergence = low * math.log(low / high) + (1 - low) * math.log((1 - low) / (1 - high)) if low > high else 0.0
    print(f"root above 8: {here} of {runs} runs, {there} of {runs} for zeros")
    print(f"rho >= {divergence:.4f} with confidence {CONFIDENCE} (a Kullback-Leibler divergence is at most rho)")
    print("verdict:", "violated" if apart > 1.5 * TREE.map(4) and divergence > claimed else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20000)
