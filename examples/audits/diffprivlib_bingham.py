"""diffprivlib 0.6.6, mechanisms.Bingham(epsilon, sensitivity=1), which PCA(n_components=1, epsilon) gives half of its budget

Claim: `epsilon`: "Privacy parameter for the mechanism", of a matrix C whose uᵀCu moves by at most the sensitivity.
Data: 1000 unit vectors e₁ and 999 e₂ in d dimensions; in the neighbour one e₁ has become e₂.  Their matrices are
diag(m, m − 1, 0, …) and diag(m − 1, m, 0, …).
Cause: the sampler proposes u from a law ∝ (uᵀΩu)^(−d/2), and accepts it with a probability ∝ exp(−uᵀAu)/(uᵀΩu)^(d/2): it divides
where rejection has to multiply.  What it returns is ∝ exp(−q)·(1 + 2q/b)^(−d), q = uᵀAu, A = ε(m·I − C)/4, trace of (b + 2A)⁻¹ = 1,
instead of exp(−q).  (In more than ten dimensions it hardly ever accepts a proposal for matrices like these, and does not return.)
Measured: (1) the exact loss at u = e₁.  By symmetry both laws have the same normaliser; q is 0, in the neighbour ε/4.
(2) that the sampler has this law: how often u₁² > u₂² for d = 4, m = 10, ε = 5, and what both laws say.
Usage: python diffprivlib_bingham.py [draws]
"""

import math
import sys

import numpy as np
from diffprivlib.mechanisms import Bingham
from scipy.optimize import brentq


def constant(eigenvalues: np.ndarray) -> float:
    return float(brentq(lambda b: (1 / (b + 2 * eigenvalues)).sum() - 1, 0.5, len(eigenvalues) + 1))


def loss(epsilon: float, d: int, m: int = 1000) -> float:
    b = constant(epsilon / 4 * np.array([0.0, 1.0] + [m] * (d - 2)))
    return epsilon / 4 + d * math.log1p(epsilon / (2 * b))


def share(power: float, epsilon: float, m: int) -> float:
    """Of a law ∝ exp(−q)·(1 + 2q/b)^power, d = 4, by 10⁶ uniform unit vectors."""
    a = epsilon / 4 * np.array([0.0, 1.0, m, m])
    u = np.random.default_rng(0).normal(size=(10**6, 4))
    squares = u * u / (u * u).sum(axis=1, keepdims=True)
    weights = np.exp(-squares @ a) * (1 + 2 * squares @ a / constant(a)) ** power
    return float(weights[squares[:, 0] > squares[:, 1]].sum() / weights.sum())


def main(draws: int) -> None:
    for d in (4, 5, 6, 8, 10):
        for eps in (0.1, 1.0, 5.0):
            print(f"d = {d}: exact loss {loss(eps, d):.3f}, claimed {eps:g}")
    sampler = Bingham(epsilon=5.0, random_state=0)
    hits = sum(u[0] ** 2 > u[1] ** 2 for u in (sampler.randomise(np.diag([10.0, 9.0, 0.0, 0.0])) for _ in range(draws)))
    stated, right = share(-4, 5.0, 10), share(0, 5.0, 10)
    agrees = abs(hits - draws * stated) <= 6 * math.sqrt(draws * stated * (1 - stated))
    print(f"{hits} of {draws} draws; the law with division says {stated:.3f}, the right one {right:.3f}")
    print("verdict:", "violated" if agrees and loss(1.0, 4) > 1.0 else "consistent")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
