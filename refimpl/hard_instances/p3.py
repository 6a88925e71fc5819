"""[P3, Theorems 2, 8, 9 and 11] Hard instances for moments of order 1 + v in (1, 2], under ε-, (ε, δ)-DP or any other claim.

Records are 0 with probability 1 − p, else (u/p)^{1/(1+v)}·z, z one of the M rows of a code of −1, 0 and 1: E|x_j|^{1+v} ≤ u
with equality where a word is not 0, and the mean is u^{1/(1+v)}p^{v/(1+v)}·z.  Of an estimate nearer to the mean than half
the least distance of two means one can tell the member, which a private algorithm misses with the chance
`decoding.spike_failure_lower`, for (ε, δ)-DP with δ in it: the printed bounds for (ε, δ) hold for ρ-zCDP only (errata
P3.Lem15, P3.Thm2.delta, P3.Thm8.delta).

Theorem 2, one dimension: the words 0 and 1 (`spike_or_nothing`).  The error |μ̃ − μ| is at least ½u^{1/(1+v)}p^{v/(1+v)}
    for one of both.
Theorem 8 and Lemma 21: words of 0 and 1 with d/2 ones (`dense_means`); as a loss ½‖w − x‖² (`QuadraticSpikes`), whose
    excess risk is ½‖w − μ‖².  Its gradient's moment is that of w − x, not of x (P3.Thm8.moment), and computed exactly.
Theorem 9: the same words, −⟨w, x⟩ on the unit ball (`convex_family`): P4's family with G = u^{1/(1+v)}√(d/2) and k = 1 + v.
Theorem 11 and Lemma 27: words with s* entries ±1 (`sparse_means`), without the proof's factor 1/√(2s*), which only loses
    (P3.Thm11.packing); W must be bounded (P3.Thm11.class).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tailproof.refimpl.domains import Ball
from tailproof.refimpl.hard_instances.decoding import Budget, hardest_chance, spike_failure_lower
from tailproof.refimpl.hard_instances.p4 import PackingFamily
from tailproof.refimpl.hard_instances.packing import separation, sparse_code, weight_code
from tailproof.refimpl.losses import Quadratic
from tailproof.refimpl.validation import FloatArray, InputError, between, positive, whole


@dataclass(frozen=True, eq=False)
class MeanSpikes:
    """Means to estimate; `excess` is the norm of the error, and a record is x itself."""

    code: FloatArray  # one word per row
    chance: float  # p
    moment_order: float  # 1 + v
    moment_bound: float  # u

    def __post_init__(self) -> None:
        if len(self.code) < 2 or not separation(self.code) > 0:
            raise InputError("code: must have at least two rows, all different")
        if not np.isin(self.code, (-1.0, 0.0, 1.0)).all():
            raise InputError("code: must consist of -1, 0 and 1")
        if between("chance", self.chance, 0, 1) == 0:
            raise InputError("chance = 0: must be > 0")
        if between("moment_order", self.moment_order, 1, 2) == 1:
            raise InputError("moment_order = 1.0: must be > 1")
        positive("moment_bound", self.moment_bound)

    @property
    def members(self) -> int:
        return len(self.code)

    @property
    def dimension(self) -> int:
        return int(self.code.shape[1])

    @property
    def size(self) -> float:
        """Of an entry that is not 0."""
        return math.pow(self.moment_bound / self.chance, 1 / self.moment_order)

    @property
    def separation(self) -> float:
        """Measured: the least distance of two means."""
        return self.chance * self.size * separation(self.code)

    @property
    def threshold(self) -> float:
        return self.separation / 2

    def mean(self, member: int) -> FloatArray:
        return np.asarray(self.chance * self.size * self.code[member])

    def excess(self, w: FloatArray, member: int) -> float:
        return float(np.linalg.norm(np.atleast_1d(w) - self.mean(member)))

    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray:
        return np.outer(rng.random(whole("n", n, least=1)) < self.chance, self.size * self.code[member])

    def coordinate_moment(self, order: float) -> float:
        """The largest E|x_j|^order, exactly."""
        return self.chance * math.pow(self.size, order)

    def norm_moment(self, order: float) -> float:
        """The largest E‖x‖^order, exactly."""
        longest = float(np.linalg.norm(self.code, axis=1).max())
        return self.coordinate_moment(order) * math.pow(longest, order)

    def failure_lower(self, n: int, budget: Budget) -> float:
        """The average chance with which any private algorithm has an error of `threshold` or more on n records."""
        return spike_failure_lower(budget, members=self.members, chance=self.chance, n=n)

    def mean_excess_lower(self, n: int, budget: Budget) -> float:
        return self.threshold * self.failure_lower(n, budget)


@dataclass(frozen=True, eq=False)
class QuadraticSpikes:
    """The same records with the loss ½‖w − x‖² on a ball around 0 that holds all means."""

    means: MeanSpikes
    radius: float = 1.0

    def __post_init__(self) -> None:
        needed = max(float(np.linalg.norm(self.means.mean(m))) for m in range(self.members))
        if positive("radius", self.radius) < needed:
            raise InputError(f"radius = {self.radius!r}: must be >= {needed:.6g}, the norm of the largest mean")

    @property
    def members(self) -> int:
        return self.means.members

    @property
    def dimension(self) -> int:
        return self.means.dimension

    @property
    def loss(self) -> Quadratic:
        return Quadratic(np.eye(self.dimension))

    @property
    def domain(self) -> Ball:
        return Ball(np.zeros(self.dimension), self.radius)

    @property
    def threshold(self) -> float:
        return self.means.threshold**2 / 2

    def mean(self, member: int) -> FloatArray:
        return self.means.mean(member)

    def excess(self, w: FloatArray, member: int) -> float:
        return self.means.excess(w, member) ** 2 / 2

    def sample(self, rng: np.random.Generator, n: int, member: int) -> FloatArray:
        return self.means.sample(rng, n, member)

    def coordinate_moment(self, order: float) -> float:
        """The largest E|w_j − x_j|^order on the ball, exactly: it is convex in w_j, and largest with w_j against x_j."""
        p, far = self.means.chance, self.radius
        return float((1 - p) * far**order + p * (far + self.means.size) ** order)

    def norm_moment(self, order: float) -> float:
        """The largest E‖w − x‖^order on the ball, exactly, as is that of the supremum."""
        p, far = self.means.chance, self.radius
        longest = self.means.size * float(np.linalg.norm(self.means.code, axis=1).max())
        return float((1 - p) * far**order + p * (far + longest) ** order)

    def failure_lower(self, n: int, budget: Budget) -> float:
        return self.means.failure_lower(n, budget)

    def mean_excess_lower(self, n: int, budget: Budget) -> float:
        return self.threshold * self.failure_lower(n, budget)


# ------------------------------------------------------------------------------------------------------ the hardest instances


def spike_or_nothing(*, n: int, budget: Budget, failure: float, moment_order: float, moment_bound: float) -> MeanSpikes:
    """Theorem 2, with the largest p at which failing with this probability cannot be avoided."""
    return _means(np.array([[0.0], [1.0]]), n, budget, failure, moment_order, moment_bound)


def dense_means(
    dimension: int,
    *,
    n: int,
    budget: Budget,
    failure: float,
    moment_order: float,
    moment_bound: float,
    most: int = 64,
    seed: int = 0,
) -> MeanSpikes:
    """Lemma 21: half of the entries are 1, two words differ in d/8 places or more."""
    return _means(_half_ones(dimension, most, seed), n, budget, failure, moment_order, moment_bound)


def sparse_means(
    dimension: int,
    sparsity: int,
    *,
    n: int,
    budget: Budget,
    failure: float,
    moment_order: float,
    moment_bound: float,
    most: int = 64,
    seed: int = 0,
) -> MeanSpikes:
    """Lemma 27: s* entries are ±1, two words differ in s*/2 places or more."""
    code = sparse_code(dimension, sparsity=sparsity, distance=-(-sparsity // 2), most=most, seed=seed)
    return _means(code, n, budget, failure, moment_order, moment_bound)


def convex_family(
    dimension: int,
    *,
    n: int,
    budget: Budget,
    failure: float,
    moment_order: float,
    moment_bound: float,
    most: int = 64,
    seed: int = 0,
) -> PackingFamily:
    """Theorem 9: linear losses on the unit ball, E|∂_j f|^{1+v} = u."""
    code = _half_ones(dimension, most, seed)
    length = math.sqrt(code[0].sum())
    chance = hardest_chance(budget, members=len(code), n=n, failure=failure)
    size = math.pow(positive("moment_bound", moment_bound), 1 / moment_order) * length
    return PackingFamily(code / length, chance, size, moment_order)


def _half_ones(dimension: int, most: int, seed: int) -> FloatArray:
    d = whole("dimension", dimension, least=2)
    return weight_code(d, weight=d // 2, distance=max(1, -(-d // 8)), most=most, seed=seed)


def _means(code: FloatArray, n: int, budget: Budget, failure: float, order: float, bound: float) -> MeanSpikes:
    chance = hardest_chance(budget, members=len(code), n=n, failure=failure)
    return MeanSpikes(code, chance, order, bound)
