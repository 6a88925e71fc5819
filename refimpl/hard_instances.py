"""[P4, Appendix G] Hard instances of pure-DP lower bounds, as data that any algorithm can be run on.

Losses are linear, f(w, x) = −⟨w, x⟩ on the ball of radius D/2 around 0, so that with E x = μ = ‖μ‖·u and a = 2w/D

    F(w) − F* = (D‖μ‖/2)(1 − ⟨a, u⟩) ≥ (D‖μ‖/4)‖a − u‖²                                                             [P4 Lemma G.1]:

a point of small excess risk tells the direction of the mean.  A record holds −x, so that f is the affine loss ⟨w, record⟩.

Private family.  V a packing of the unit sphere, of M vectors at least `separation` apart.  Records are 0 with probability 1 − p,
else G·p^{−1/k}·v: E‖x‖^k = G^k and ‖μ‖ = G·p^{1−1/k}.  Where the excess is below D‖μ‖·separation²/16 the nearest vector to a is v.
Of an ε-DP algorithm, on n records, the chance to miss that is at least

    (M − 1)·½e^{−εK}/(1 + (M − 1)e^{−εK}),   K = ⌈np⌉                                                         (`failure_lower`),

averaged over V.  For let β be that average and A_v the event that v is decoded.  Data of v and of v' that have their non-zero
records at the same places differ in these only, at most K with probability ½ or more: P_v(A_{v'}) ≥ e^{−εK}(P_{v'}(A_{v'}) − ½).
Summed over v' ≠ v and averaged over v: β ≥ (M − 1)e^{−εK}(½ − β).

Family without privacy.  x = ±G·e₁ with probabilities (1 ± τ)/2, or (1 ∓ τ)/2: to tell these apart any algorithm errs, averaged over
both, with probability at least (1 − TV)/2, TV the total variation of the two laws of n records, which is that of two binomial laws
(`failure_lower`); where it errs, its excess is at least D·τ·G/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import binom

from refimpl.validation import FloatArray, InputError, between, positive, probability, whole

CANDIDATES = 4000


def packing(dimension: int, size: int, *, seed: int = 0) -> FloatArray:
    """Unit vectors, far apart: ±1, a regular polygon, or each the farthest from the others among many random ones."""
    d, size = whole("dimension", dimension, least=1), whole("size", size, least=2)
    if d == 1:
        if size != 2:
            raise InputError(f"size = {size}: must be 2 in one dimension")
        return np.array([[1.0], [-1.0]])
    if d == 2:
        angles = 2 * np.pi * np.arange(size) / size
        return np.column_stack([np.cos(angles), np.sin(angles)])
    candidates = np.random.default_rng(seed).standard_normal((max(CANDIDATES, 20 * size), d))
    candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
    chosen, near = [0], np.linalg.norm(candidates - candidates[0], axis=1)
    while len(chosen) < size:
        chosen.append(int(np.argmax(near)))
        near = np.minimum(near, np.linalg.norm(candidates - candidates[chosen[-1]], axis=1))
    return np.asarray(candidates[chosen])


class Family(Protocol):
    """Laws of records, one of which is drawn; an algorithm fails where its excess is at least `threshold`."""

    diameter: float

    @property
    def members(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def threshold(self) -> float: ...
    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray: ...
    def mean(self, member: int) -> FloatArray: ...


def excess_risk(family: Family, w: FloatArray, member: int) -> float:
    """F(w) − F* of this member, for w in the ball."""
    mean = family.mean(member)
    return family.diameter / 2 * float(np.linalg.norm(mean)) - float(mean @ w)


@dataclass(frozen=True, eq=False)
class PackingFamily:
    """The private family."""

    vectors: FloatArray  # V, one per row
    chance: float  # p
    moment_bound: float  # G
    moment_order: float  # k
    diameter: float = 2.0  # D

    def __post_init__(self) -> None:
        if not np.allclose(np.linalg.norm(self.vectors, axis=1), 1.0, rtol=1e-12) or len(self.vectors) < 2:
            raise InputError("vectors: must be at least two unit vectors")
        if between("chance", self.chance, 0, 1) == 0:
            raise InputError("chance = 0: must be > 0")
        between("moment_order", self.moment_order, 1, math.inf)
        positive("moment_bound", self.moment_bound)
        positive("diameter", self.diameter)

    @property
    def members(self) -> int:
        return len(self.vectors)

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def separation(self) -> float:
        """Measured."""
        return float(pdist(self.vectors).min())

    @property
    def size(self) -> float:
        """Of a record that is not 0."""
        return float(self.moment_bound * self.chance ** (-1 / self.moment_order))

    @property
    def threshold(self) -> float:
        return self.diameter * self.chance * self.size * self.separation**2 / 16

    def mean(self, member: int) -> FloatArray:
        return np.asarray(self.chance * self.size * self.vectors[member])

    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray:
        return -np.outer(rng.random(whole("n", n, least=1)) < self.chance, self.size * self.vectors[member])

    def failure_lower(self, n: int, epsilon: float) -> float:
        """The average chance with which any ε-DP algorithm fails on n records."""
        moved = math.ceil(whole("n", n, least=1) * self.chance)
        odds = (self.members - 1) * math.exp(-positive("epsilon", epsilon) * moved)
        return odds / 2 / (1 + odds)

    @classmethod
    def hardest(
        cls,
        dimension: int,
        size: int,
        *,
        n: int,
        epsilon: float,
        failure: float,
        moment_bound: float,
        moment_order: float,
        diameter: float = 2.0,
        seed: int = 0,
    ) -> PackingFamily:
        """The largest p at which failing with this probability cannot be avoided: εK ≤ log((M − 1)(1 − 2ζ)/(2ζ))."""
        zeta = probability("failure", failure)
        vectors = packing(dimension, size, seed=seed)
        if zeta >= 1 / 2:
            raise InputError(f"failure = {failure!r}: must be < 1/2")
        most = math.floor(math.log((len(vectors) - 1) * (1 - 2 * zeta) / (2 * zeta)) / positive("epsilon", epsilon) + 1e-12)
        if most < 1:
            raise InputError(f"failure = {failure!r}: {len(vectors)} vectors prove no such failure at epsilon = {epsilon!r}")
        return cls(vectors, min(1.0, most / whole("n", n, least=1)), moment_bound, moment_order, diameter)


@dataclass(frozen=True)
class SignFamily:
    """The family without privacy: ±G·e₁, one sign a little more frequent."""

    dimension: int
    tilt: float  # τ
    moment_bound: float  # G
    diameter: float = 2.0

    def __post_init__(self) -> None:
        whole("dimension", self.dimension, least=1)
        if between("tilt", self.tilt, 0, 1) == 0:
            raise InputError("tilt = 0: must be > 0")
        positive("moment_bound", self.moment_bound)
        positive("diameter", self.diameter)

    @property
    def members(self) -> int:
        return 2

    @property
    def threshold(self) -> float:
        return self.diameter * self.tilt * self.moment_bound / 2

    def mean(self, member: int) -> FloatArray:
        return np.asarray((-1.0) ** member * self.tilt * self.moment_bound * np.eye(self.dimension)[0])

    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray:
        often = rng.random(whole("n", n, least=1)) < (1 + self.tilt) / 2
        signs = np.where(often, 1.0, -1.0) * (-1.0) ** member
        return -np.outer(signs * self.moment_bound, np.eye(self.dimension)[0])

    def failure_lower(self, n: int) -> float:
        """(1 − TV)/2 of n records, by the numbers of positive ones; n odd or even."""
        counts = np.arange(whole("n", n, least=1) + 1)
        first, second = (binom.pmf(counts, n, (1 + side * self.tilt) / 2) for side in (1, -1))
        return float(np.minimum(first, second).sum()) / 2
