"""[P4, Appendix G] Hard instances of pure-DP lower bounds.

Losses are linear, f(w, x) = −⟨w, x⟩ on the ball of radius D/2 around 0, so that with E x = μ = ‖μ‖·u and a = 2w/D

    F(w) − F* = (D‖μ‖/2)(1 − ⟨a, u⟩) ≥ (D‖μ‖/4)‖a − u‖²                                                             [P4
    Lemma G.1]:

a point of small excess risk tells the direction of the mean.  A record holds −x, so that f is the affine loss ⟨w, record⟩.

Private family.  V a packing of the unit sphere, of M vectors at least s = `separation` apart.  Records are 0 with
probability 1 − p, else G·p^{−1/k}·v: E‖x‖^k = G^k and ‖μ‖ = G·p^{1−1/k}.  A point's larger excess of two members is least
halfway between them, at a = (v + v')/‖v + v'‖, where it is (D‖μ‖/2)(1 − √(1 − s²/4)) ≥ D‖μ‖s²/16: below that `threshold` a
point tells the member.  The chance to miss it is `decoding.spike_failure_lower`, for every claim; for ε-DP it is at least
Proposition G.2's ½(M − 1)e^{−εK}/(1 + (M − 1)e^{−εK}), K = ⌈np⌉.

Family without privacy.  x = ±G·e₁ with probabilities (1 ± τ)/2, or (1 ∓ τ)/2: to tell these apart any algorithm errs,
averaged over both, with probability at least (1 − TV)/2, TV the total variation of the two laws of n records, which is that
of two binomial laws (`failure_lower`); where it errs, its excess is at least D·τ·G/2.  With a budget: the laws can be
coupled so that a record differs with probability τ, and the bound of pairs holds, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.stats import binom

from tailproof.refimpl.domains import Ball
from tailproof.refimpl.hard_instances.decoding import Budget, hardest_chance, mixed, pair_error_lower, spike_failure_lower
from tailproof.refimpl.hard_instances.packing import packing, separation
from tailproof.refimpl.losses import Affine
from tailproof.refimpl.validation import FloatArray, InputError, between, positive, whole


class Family(Protocol):
    """Laws of records, one of which is drawn; an algorithm fails where its excess is at least `threshold`."""

    @property
    def members(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def threshold(self) -> float: ...
    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray: ...
    def excess(self, w: FloatArray, member: int) -> float: ...
    def failure_lower(self, n: int, budget: Budget) -> float: ...


def excess_risk(family: Family, w: FloatArray, member: int) -> float:
    """F(w) − F* of this member, for w in the set."""
    return family.excess(w, member)


def sphere_threshold(apart: float) -> float:
    """1 − cos of half the angle between unit vectors so far apart."""
    half = apart * apart / 4
    return half / (1 + math.sqrt(max(0.0, 1 - half)))


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
        between("moment_order", self.moment_order, 1, np.inf)
        positive("moment_bound", self.moment_bound)
        positive("diameter", self.diameter)

    @property
    def members(self) -> int:
        return len(self.vectors)

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def loss(self) -> Affine:
        return Affine()

    @property
    def domain(self) -> Ball:
        return Ball(np.zeros(self.dimension), self.diameter / 2)

    @property
    def separation(self) -> float:
        """Measured."""
        return separation(self.vectors)

    @property
    def size(self) -> float:
        """Of a record that is not 0."""
        return float(self.moment_bound * self.chance ** (-1 / self.moment_order))

    @property
    def threshold(self) -> float:
        return float(self.diameter * self.chance * self.size / 2 * sphere_threshold(self.separation))

    def mean(self, member: int) -> FloatArray:
        return np.asarray(self.chance * self.size * self.vectors[member])

    def excess(self, w: FloatArray, member: int) -> float:
        return self.diameter / 2 * self.chance * self.size - float(self.mean(member) @ w)

    def norm_moment(self, order: float) -> float:
        """E‖∇f‖^order, exactly: gradients are the records."""
        return float(self.chance * self.size**order)

    def coordinate_moment(self, order: float) -> float:
        """The largest E|∂_j f|^order, exactly."""
        return float(self.norm_moment(order) * np.abs(self.vectors).max() ** order)

    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray:
        return -np.outer(rng.random(whole("n", n, least=1)) < self.chance, self.size * self.vectors[member])

    def failure_lower(self, n: int, budget: Budget) -> float:
        """The average chance with which any private algorithm fails on n records; the budget is a claim, or ε."""
        return spike_failure_lower(budget, members=self.members, chance=self.chance, n=n)

    def mean_excess_lower(self, n: int, budget: Budget) -> float:
        return self.threshold * self.failure_lower(n, budget)

    @classmethod
    def hardest(
        cls,
        dimension: int,
        size: int,
        *,
        n: int,
        epsilon: Budget,
        failure: float,
        moment_bound: float,
        moment_order: float,
        diameter: float = 2.0,
        seed: int = 0,
    ) -> PackingFamily:
        """The largest p at which failing with this probability cannot be avoided."""
        vectors = packing(dimension, size, seed=seed)
        chance = hardest_chance(epsilon, members=len(vectors), n=n, failure=failure)
        return cls(vectors, chance, moment_bound, moment_order, diameter)


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
    def loss(self) -> Affine:
        return Affine()

    @property
    def domain(self) -> Ball:
        return Ball(np.zeros(self.dimension), self.diameter / 2)

    @property
    def threshold(self) -> float:
        return self.diameter * self.tilt * self.moment_bound / 2

    def mean(self, member: int) -> FloatArray:
        return np.asarray((-1.0) ** member * self.tilt * self.moment_bound * np.eye(self.dimension)[0])

    def excess(self, w: FloatArray, member: int) -> float:
        return self.threshold - float(self.mean(member) @ w)

    def norm_moment(self, order: float) -> float:
        return float(self.moment_bound**order)

    def coordinate_moment(self, order: float) -> float:
        return self.norm_moment(order)

    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray:
        often = rng.random(whole("n", n, least=1)) < (1 + self.tilt) / 2
        signs = np.where(often, 1.0, -1.0) * (-1.0) ** member
        return -np.outer(signs * self.moment_bound, np.eye(self.dimension)[0])

    def failure_lower(self, n: int, budget: Budget | None = None) -> float:
        """(1 − TV)/2 of n records, by the numbers of positive ones; or what privacy adds, where that is more."""
        counts = np.arange(whole("n", n, least=1) + 1)
        first, second = (binom.pmf(counts, n, (1 + side * self.tilt) / 2) for side in (1, -1))
        without = float(np.minimum(first, second).sum()) / 2
        return without if budget is None else max(without, mixed(lambda k: pair_error_lower(budget, k), n, self.tilt))

    def mean_excess_lower(self, n: int, budget: Budget | None = None) -> float:
        return self.threshold * self.failure_lower(n, budget)
