"""[P0, Theorems 4 and 5] Hard instances for risks that satisfy the Tsybakov noise condition, under ρ-zCDP or any other claim.

f(w, x) = −⟨w, x⟩ + (c/θ)‖w‖^θ, θ ≥ 2, on the ball of radius (r̃/(2c))^{1/(θ−1)} around 0.  The record is −x, so that f is
an affine loss with a penalty.  With E x = μ the minimiser has c‖w‖^{θ−2}w = μ, and F* = −(1 −
1/θ)c^{−1/(θ−1)}‖μ‖^{θ/(θ−1)}.  Since F(w) − F* ≥ (c2^{2−θ}/θ)‖w − w*‖^θ, the constant c = θ2^{θ−2} makes the condition (θ,
1), as the theorems want; the printed c = 1 does not (erratum P0.Thm4.TNC).  The printed ball of Theorem 4 is too large for
the moment (P0.Thm4.moment); this one is Theorem 5's.

Theorem 4.  Records are 0 with probability 1 − p, else (r̃/2)p^{−1/k}·v, v in a packing V of the unit sphere, such as a code
of ±1/√d. E sup_W‖∇f‖^k = 2^{−k}r̃^k((1 − p) + (1 + p^{1/k})^k) ≤ r̃^k, and ‖μ‖ = (r̃/2)p^{1−1/k}.  A point's larger excess
of two members is least on the bisector, along v + v', where it is |F*|(1 − cos^{θ/(θ−1)}φ) with φ half their angle: the
`threshold`.  The chance to miss the member is `decoding.spike_failure_lower`; printed are p = √d/(n√ρ), where the proof is
void (P0.Thm4.Fano), and Fano's share with a wrong factor (P0.Lem5).

Theorem 5.  Coordinates of x are independent, ±r̃/(2√d), of the sign v_j with probability (1 + τ)/2, v any vector of signs:
‖x‖ = r̃/2, ‖μ‖ = τr̃/2.  With all 2^d of them as likely, the posterior mean of v_j is tanh(T·artanh τ), T the sum of n
signs, so every algorithm has E‖w − w*‖² ≥ ‖w*‖²(1 − E tanh²(T·artanh τ)), exactly, and by Jensen's inequality E F − F* ≥
(c2^{2−θ}/θ)(E‖w − w*‖²)^{θ/2}.  With a budget: two vectors of signs that differ at j can be coupled so that a record
differs with probability τ, and a wrong sign at j costs w*_j², so the bound of pairs may stand in place of 1 − E tanh².  No
code is needed (printed: Fano on a code, P0.Thm5.KL and P0.Thm5.delta).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from tailproof.refimpl.domains import Ball
from tailproof.refimpl.hard_instances.decoding import Budget, hardest_chance, mixed, pair_error_lower, spike_failure_lower
from tailproof.refimpl.hard_instances.packing import separation
from tailproof.refimpl.losses import Affine, PowerPenalty, Ridge
from tailproof.refimpl.validation import FloatArray, InputError, between, positive, real, whole


@dataclass(frozen=True)
class Growth:
    """The loss and its set; `strength` is c, θ2^{θ−2} unless given."""

    theta: float
    moment_bound: float  # r̃
    strength: float | None = None

    def __post_init__(self) -> None:
        if real("theta", self.theta) < 2:
            raise InputError(f"theta = {self.theta!r}: must be >= 2")
        positive("moment_bound", self.moment_bound)
        if self.strength is not None:
            positive("strength", self.strength)

    @property
    def c(self) -> float:
        return self.theta * math.pow(2, self.theta - 2) if self.strength is None else self.strength

    @property
    def loss(self) -> Ridge | PowerPenalty:
        return Ridge(Affine(), self.c) if self.theta == 2 else PowerPenalty(Affine(), self.c, self.theta)

    @property
    def radius(self) -> float:
        return self.length(self.moment_bound / 2)

    @property
    def smoothness(self) -> float:
        """Of every record's loss, on the set."""
        return self.c * (self.theta - 1) * math.pow(self.radius, self.theta - 2)

    @property
    def condition(self) -> float:
        """λ of the noise condition."""
        return self.c * math.pow(2, 2 - self.theta) / self.theta

    def length(self, slope: float) -> float:
        """‖w*‖ for ‖μ‖ = slope."""
        return math.pow(slope / self.c, 1 / (self.theta - 1))

    def depth(self, slope: float) -> float:
        """|F*| for ‖μ‖ = slope."""
        return (1 - 1 / self.theta) * slope * self.length(slope)

    def excess(self, w: FloatArray, mean: FloatArray) -> float:
        value = self.c / self.theta * math.pow(float(np.linalg.norm(w)), self.theta) - float(mean @ w)
        return value + self.depth(float(np.linalg.norm(mean)))

    def minimiser(self, mean: FloatArray) -> FloatArray:
        slope = float(np.linalg.norm(mean))
        return np.asarray(mean * (self.length(slope) / slope))


@dataclass(frozen=True, eq=False)
class GrowthSpikes:
    """Theorem 4's family."""

    vectors: FloatArray  # V, unit vectors, one per row
    chance: float  # p
    moment_order: float  # k
    growth: Growth

    def __post_init__(self) -> None:
        if not np.allclose(np.linalg.norm(self.vectors, axis=1), 1.0, rtol=1e-12) or len(self.vectors) < 2:
            raise InputError("vectors: must be at least two unit vectors")
        if between("chance", self.chance, 0, 1) == 0:
            raise InputError("chance = 0: must be > 0")
        between("moment_order", self.moment_order, 2, math.inf)

    @property
    def members(self) -> int:
        return len(self.vectors)

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def loss(self) -> Ridge | PowerPenalty:
        return self.growth.loss

    @property
    def domain(self) -> Ball:
        return Ball(np.zeros(self.dimension), self.growth.radius)

    @property
    def separation(self) -> float:
        """Measured."""
        return separation(self.vectors)

    @property
    def size(self) -> float:
        """Of a record that is not 0."""
        return self.growth.moment_bound / 2 * math.pow(self.chance, -1 / self.moment_order)

    @property
    def threshold(self) -> float:
        theta, cosine = self.growth.theta, math.sqrt(max(0.0, 1 - self.separation**2 / 4))
        return self.growth.depth(self.chance * self.size) * (1 - math.pow(cosine, theta / (theta - 1)))

    def mean(self, member: int) -> FloatArray:
        return np.asarray(self.chance * self.size * self.vectors[member])

    def minimiser(self, member: int) -> FloatArray:
        return self.growth.minimiser(self.mean(member))

    def excess(self, w: FloatArray, member: int) -> float:
        return self.growth.excess(w, self.mean(member))

    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray:
        return -np.outer(rng.random(whole("n", n, least=1)) < self.chance, self.size * self.vectors[member])

    def norm_moment(self, order: float) -> float:
        """E sup_W‖∇f‖^order, exactly: the penalty's steepest slope, r̃/2, against the record."""
        steep = self.growth.moment_bound / 2
        return float((1 - self.chance) * steep**order + self.chance * (steep + self.size) ** order)

    def failure_lower(self, n: int, budget: Budget) -> float:
        """The average chance with which any private algorithm has an excess of `threshold` or more on n records."""
        return spike_failure_lower(budget, members=self.members, chance=self.chance, n=n)

    def mean_excess_lower(self, n: int, budget: Budget) -> float:
        return self.threshold * self.failure_lower(n, budget)

    @classmethod
    def hardest(
        cls, code: FloatArray, *, n: int, budget: Budget, failure: float, growth: Growth, moment_order: float
    ) -> GrowthSpikes:
        """The largest p at which failing with this probability cannot be avoided; the code's rows are scaled to norm 1."""
        vectors = code / np.linalg.norm(code, axis=1, keepdims=True)
        return cls(vectors, hardest_chance(budget, members=len(code), n=n, failure=failure), moment_order, growth)


@dataclass(frozen=True)
class GrowthSigns:
    """Theorem 5's family; a member's number in binary gives its signs."""

    dimension: int
    tilt: float  # τ
    growth: Growth

    def __post_init__(self) -> None:
        whole("dimension", self.dimension, least=1, most=62)
        if not 0 < between("tilt", self.tilt, 0, 1) < 1:
            raise InputError(f"tilt = {self.tilt!r}: must lie in (0, 1)")

    @property
    def members(self) -> int:
        return int(2**self.dimension)

    @property
    def loss(self) -> Ridge | PowerPenalty:
        return self.growth.loss

    @property
    def domain(self) -> Ball:
        return Ball(np.zeros(self.dimension), self.growth.radius)

    def signs(self, member: int) -> FloatArray:
        return np.array([-1.0 if member >> j & 1 else 1.0 for j in range(self.dimension)])

    def mean(self, member: int) -> FloatArray:
        return self.tilt * self.growth.moment_bound / (2 * math.sqrt(self.dimension)) * self.signs(member)

    def minimiser(self, member: int) -> FloatArray:
        return self.growth.minimiser(self.mean(member))

    def excess(self, w: FloatArray, member: int) -> float:
        return self.growth.excess(w, self.mean(member))

    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray:
        often = rng.random((whole("n", n, least=1), self.dimension)) < (1 + self.tilt) / 2
        flipped = np.where(often, self.signs(member), -self.signs(member))
        return -flipped * (self.growth.moment_bound / (2 * math.sqrt(self.dimension)))

    def norm_moment(self, order: float) -> float:
        """E sup_W‖∇f‖^order = r̃^order, exactly."""
        return float(self.growth.moment_bound**order)

    def mean_excess_lower(self, n: int, budget: Budget | None = None) -> float:
        """Of the average over all members, with privacy or without."""
        length = self.growth.length(self.tilt * self.growth.moment_bound / 2)
        share = self.unknown(n)
        if budget is not None:
            share = max(share, mixed(lambda k: pair_error_lower(budget, k), n, self.tilt))
        return self.growth.condition * math.pow(length**2 * share, self.growth.theta / 2)

    def unknown(self, n: int) -> float:
        """1 − E tanh²(T·artanh τ): what is left of a sign's variance after n records."""
        counts = np.arange(whole("n", n, least=1) + 1)
        known = np.tanh((2.0 * counts - n) * math.atanh(self.tilt)) ** 2
        return float(binom.pmf(counts, n, (1 + self.tilt) / 2) @ (1 - known)) * (1 - 1e-9)

    @classmethod
    def hardest(cls, dimension: int, *, n: int, growth: Growth, budget: Budget | None = None) -> GrowthSigns:
        """The τ of a grid with the largest bound."""
        tilts = np.geomspace(0.1 / math.sqrt(n), min(0.99, 10 / math.sqrt(n)), 60)
        families = [cls(dimension, float(tilt), growth) for tilt in tilts]
        return max(families, key=lambda family: family.mean_excess_lower(n, budget))
