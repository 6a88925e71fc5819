"""How the privacy loss of several releases together is distributed: certified bounds of their δ(ε).

The loss of one release is log p/q at a value drawn from p.  Along one path the releases' laws are p₁, p₂, … on the one data set
and q₁, q₂, … on the other; under the product of the p's their losses are independent, and δ(ε) = E[(1 − e^{ε−L})₊] of the sum L.
This is the δ of the mechanism if no loss's law depends on earlier values; otherwise it is that of this path's product only.

Losses are put on a lattice: rounded down, with tails cut towards −∞, for a lower bound of δ, and rounded up for an upper one.
Gaussians of one scale are not rounded at all: together they are one Gaussian, whose δ is exact at every point of the lattice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri_exp

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP, gaussian_delta
from tailproof.refimpl.laws import Finite, Gaussian, L2Laplace, Laplace, Law, NoisyArgmax, Softmax
from tailproof.refimpl.pure_dp.grid_walk import GridWalk
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import divergences
from tailproof.verification.divergences import NoExactFormula

CELLS = 1 << 17
"""Points of the lattice of a sum."""
SNAP = 1e-9  # of a cell: a loss so near to a point of the lattice lies on it; paid for when δ is read off
FOURIER = (
    4e-15  # rounding of a fast Fourier transform, in ℓ₂, relative to what is transformed: ε_machine times twice its depth
)
TAIL = 1e-15  # mass of an unbounded loss beyond the lattice
DISCRETE = (Finite, NoisyArgmax, Softmax, GridWalk)

Pairs = Sequence[tuple[Law, Law]]
Side = Literal["lower", "upper"]


# --- the loss of one release, in independent parts -------------------------------------------------------------------------


@dataclass(frozen=True)
class Shift:
    """Of a Gaussian that moves by μ scales: the loss is N(μ²/2, μ²)."""

    mu: float


@dataclass(frozen=True)
class LaplaceShift:
    """Of a Laplace coordinate that moves by t > 0 scales: t or −t beyond the two locations, linear between."""

    move: float

    @property
    def reach(self) -> tuple[float, float]:
        return -self.move, self.move

    def at_least(self, levels: FloatArray) -> FloatArray:
        """P(loss ≥ level).  With x in scales, seen from p's location, the loss is 2x + t for −t < x < 0."""
        x = np.minimum((levels - self.move) / 2, 0.0)
        return np.where(levels <= -self.move, 1.0, np.where(levels > self.move, 0.0, 1 - np.exp(x) / 2))


@dataclass(frozen=True)
class Widening:
    """Of a Gaussian coordinate N(0, 1) against N(move, ratio²), ratio ≠ 1: the loss is a quadratic."""

    move: float
    ratio: float

    def at_least(self, levels: FloatArray) -> FloatArray:
        curvature = (1 - self.ratio) * (1 + self.ratio) / (2 * self.ratio**2)
        constant = math.log(self.ratio) + self.move**2 / (2 * self.ratio**2)
        slope = -self.move / self.ratio**2
        return divergences.quadratic_masses(curvature, slope, constant - levels, self.move, self.ratio)[0]

    @property
    def reach(self) -> tuple[float, float]:
        """Where the loss lies but for a mass of `TAIL`: the values of the quadratic over so many scales, its vertex included."""
        far = -float(ndtri_exp(math.log(TAIL / 2)))
        vertex = -self.move / ((self.ratio - 1) * (self.ratio + 1))
        x = np.array([-far, far, min(max(vertex, -far), far)])
        loss = -(x**2) / 2 + (x - self.move) ** 2 / (2 * self.ratio**2) + math.log(self.ratio)
        return float(loss.min()), float(loss.max())


@dataclass(frozen=True)
class Outcomes:
    """Of finitely many outcomes: their losses and probabilities, by increasing loss; +∞ is one that q never gives."""

    losses: tuple[float, ...]
    masses: tuple[float, ...]

    @property
    def reach(self) -> tuple[float, float]:
        finite = [loss for loss in self.losses if loss < math.inf]
        return (min(finite), max(finite)) if finite else (0.0, 0.0)

    @property
    def infinite(self) -> float:
        return math.fsum(m for loss, m in zip(self.losses, self.masses, strict=True) if loss == math.inf)


Part = Shift | LaplaceShift | Widening | Outcomes


def parts_of_release(p: Law, q: Law) -> list[Part]:
    """Independent parts whose losses add up to that of the release."""
    match p, q:
        case Gaussian(), Gaussian():
            return _gaussian_parts(p, q)
        case L2Laplace(), L2Laplace() if p.location.size == 1:
            return parts_of_release(Laplace(p.location, p.scale), Laplace(q.location, q.scale))
        case Laplace(), Laplace() if np.array_equal(_spread(p), _spread(q)):
            moves = np.abs(np.ravel(p.location) - np.ravel(q.location)) / _spread(p)
            return [LaplaceShift(float(move)) for move in np.sort(moves) if move > 0]
        case _ if isinstance(p, DISCRETE) and isinstance(q, DISCRETE):
            log_p, log_q = p.log_probabilities(), q.log_probabilities()
            possible = log_p > -np.inf
            losses = log_p[possible] - log_q[possible]
            order = np.argsort(losses, kind="stable")
            masses = np.exp(log_p[possible])[order]
            return [Outcomes(tuple(losses[order].tolist()), tuple(masses.tolist()))]
        case _:
            raise NoExactFormula(f"the loss of {type(p).__name__} against {type(q).__name__}")


def _spread(law: Any) -> FloatArray:
    """The scale of every coordinate."""
    return law.scale.reshape(-1) if law.scale.ndim else np.full(law.location.size, law.scale)


def _gaussian_parts(p: Gaussian, q: Gaussian) -> list[Part]:
    """One shift of all coordinates whose scale is the same, and every other coordinate by itself."""
    s, r = _spread(p), _spread(q)
    move = np.ravel(p.location) - np.ravel(q.location)
    same = s == r
    mu = float(np.linalg.norm(move[same] / s[same]))
    parts: list[Part] = [Shift(mu)] if mu > 0 else []
    for m, own, other in zip(np.abs(move[~same]), s[~same], r[~same], strict=True):
        parts.append(Widening(float(m / own), float(other / own)))
    return parts


def worst_part(spend: Claim) -> Part:
    """The loss of the worst pair that keeps this claim: randomised response (with a leak of mass δ), a Gaussian.

    Whatever keeps the claim is a post-processing of that pair, also chosen in the light of earlier values: an upper bound of
    its δ is one of any adaptive composition [Kairouz, Oh and Viswanath 2015; Zhu, Dong and Wang 2022, Theorem 10].
    """
    match spend:
        case GDP(mu):
            return Shift(mu)
        case PureDP(epsilon) | ApproxDP(epsilon):
            leak = spend.delta if isinstance(spend, ApproxDP) else 0.0
            likely = (1 - leak) / (1 + math.exp(-epsilon))
            rare = (1 - leak) / (1 + math.exp(min(epsilon, 700.0)))
            return Outcomes((-epsilon, epsilon, math.inf), (rare, likely, leak))
    raise NoExactFormula(f"no pair is the worst of all with {spend}")


# --- sums of losses ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LossSum:
    """A sum of independent losses: `masses` at the points, `infinite` at +∞, and a Gaussian N(μ²/2, μ²) besides.

    `slack` is how far points may be off to the wrong side; `error` bounds the rounding of all masses together.
    """

    side: Side
    points: FloatArray
    masses: FloatArray
    infinite: float
    mu: float
    slack: float = 0.0
    error: float = 0.0

    def delta(self, epsilon: float) -> float:
        """A lower bound of E[(1 − e^{ε−L})₊], or an upper one."""
        away = self.slack if self.side == "lower" else -self.slack
        beyond = epsilon + away - self.points
        if self.mu == 0:
            given = -np.expm1(np.minimum(beyond, 0.0))
        elif len(beyond) == 1:
            given = np.array([_gaussian_profile(self.mu, float(beyond[0]))])
        else:
            given = _gaussian_profiles(self.mu, beyond)
        found = self.infinite + float(self.masses @ given)
        return max(0.0, found - self.error) if self.side == "lower" else min(1.0, found + self.error)


def _gaussian_profile(mu: float, epsilon: float) -> float:
    """δ of N(μ²/2, μ²) at any ε: below 0, 1 − e^ε + e^ε δ(−ε), for the two laws mirror each other."""
    return (
        gaussian_delta(mu, epsilon)
        if epsilon >= 0
        else -math.expm1(epsilon) + math.exp(epsilon) * gaussian_delta(mu, -epsilon)
    )


def _gaussian_profiles(mu: float, epsilons: FloatArray) -> FloatArray:
    """The same for many ε, up to a rounding of some 1e-16."""
    z = epsilons / mu
    with np.errstate(over="ignore", invalid="ignore"):
        second = np.where(z > 40 + mu, 0.0, np.exp(np.minimum(epsilons, 700.0)) * ndtr(-mu / 2 - z))
    return np.asarray(np.maximum(0.0, ndtr(mu / 2 - z) - second), dtype=np.float64)


def loss_sum(parts: Sequence[Part], side: Side) -> LossSum:
    counted = Counter(parts)
    mu = math.sqrt(math.fsum(count * part.mu**2 for part, count in counted.items() if isinstance(part, Shift)))
    return _sum_of(tuple(sorted(((p, c) for p, c in counted.items() if not isinstance(p, Shift)), key=repr)), mu, side)


@lru_cache(maxsize=512)  # paths and pairs repeat the same losses
def _sum_of(parts: tuple[tuple[LaplaceShift | Widening | Outcomes, int], ...], mu: float, side: Side) -> LossSum:
    if not parts:
        return LossSum(side, np.zeros(1), np.ones(1), 0.0, mu)
    count = sum(times for _, times in parts)
    total = math.fsum(times * (part.reach[1] - part.reach[0]) for part, times in parts)
    if count > CELLS // 8 or not math.isfinite(total):
        raise NoExactFormula(f"a sum of {count} losses of {total:g} in all")
    largest = max(abs(end) for part, _ in parts for end in part.reach)
    step = _step(parts, max(total / (CELLS - 4 * count), 1e-9 * largest, 1e-15))
    start, log_finite, error, product = 0, 0.0, 0.0, np.ones(CELLS // 2 + 1, dtype=np.complex128)
    for part, times in parts:
        first, masses, infinite = _on_lattice(part, step, side)
        start += times * first
        log_finite += times * (math.log1p(-infinite) if infinite < 1 else -math.inf)
        product *= np.fft.rfft(masses, CELLS) ** times
        error += times * math.sqrt(float(masses @ masses))
    sums = np.asarray(np.maximum(np.fft.irfft(product, CELLS), 0.0), dtype=np.float64)
    # every factor's transform has size at most 1, so that errors of the factors add up; ℓ₁ ≤ √cells·ℓ₂
    error = FOURIER * math.sqrt(CELLS) * (error + 1)
    points = step * (start + np.arange(CELLS))
    return LossSum(
        side,
        np.asarray(points, dtype=np.float64),
        sums,
        -math.expm1(log_finite),
        mu,
        SNAP * step * count,
        error,
    )


def _step(parts: tuple[tuple[LaplaceShift | Widening | Outcomes, int], ...], least: float) -> float:
    """At least so long; one that the largest loss of an atom is a multiple of."""
    atoms = [part.reach[1] for part, _ in parts if not isinstance(part, Widening) and part.reach[1] > least]
    return max(atoms) / math.floor(max(atoms) / least) if atoms else least


def _on_lattice(part: LaplaceShift | Widening | Outcomes, step: float, side: Side) -> tuple[int, FloatArray, float]:
    """(index of the first point, masses from there on, mass at +∞)."""
    low, high = part.reach
    if isinstance(part, Outcomes):
        losses, masses = np.array(part.losses), np.array(part.masses)
        finite = losses < math.inf
        places = losses[finite] / step
        cells = np.floor(places + SNAP) if side == "lower" else np.ceil(places - SNAP)
        first = int(cells.min()) if finite.any() else 0
        counted = np.bincount((cells - first).astype(np.int64), weights=masses[finite], minlength=1)
        return first, counted.astype(np.float64), part.infinite
    assert side == "lower", "only the worst pairs of claims are rounded up"
    first, last = math.floor(low / step + SNAP), math.floor(high / step + SNAP)
    edges = np.asarray(step * (np.arange(first, last + 1) - SNAP), dtype=np.float64)
    return first, np.maximum(-np.diff(part.at_least(edges), append=0.0), 0.0), 0.0  # what is below all edges is dropped


# --- what a product of releases has ------------------------------------------------------------------------------------------


def losses_of(pairs: Pairs) -> LossSum:
    """Of the releases with these laws, the first against the second."""
    return loss_sum([part for p, q in pairs for part in parts_of_release(p, q)], "lower")


def delta_of(pairs: Pairs, epsilon: float) -> float:
    """A lower bound of the δ(ε) of the product of these releases."""
    return losses_of(pairs).delta(epsilon)


def rho_of(pairs: Pairs) -> float:
    """sup_α ΣD_α/α: exact for Gaussians of one scale, the largest over some orders (a lower bound) otherwise."""
    if all(isinstance(p, Gaussian) and isinstance(q, Gaussian) and np.array_equal(_spread(p), _spread(q)) for p, q in pairs):
        return math.fsum(divergences.zcdp(p, q) for p, q in pairs)
    orders = divergences.ORDERS
    return float((np.sum([divergences.renyi(p, q, orders) for p, q in pairs], axis=0) / orders).max())


LEVELS = np.concatenate([[0.0], np.geomspace(0.01, 50.0, 24)])
LEAST_DELTA = 1e-12  # below, rounding is not far


def mu_of(pairs: Pairs) -> float:
    """The largest μ whose Gaussian has, at one of some ε, the δ(ε) of the product: a lower bound of its μ."""
    total = losses_of(pairs)
    if len(total.points) == 1:
        return total.mu
    return max(_mu_at(float(level), total.delta(float(level))) for level in LEVELS)


def product_of(pairs: Pairs, claim: Claim) -> float:
    """In the claim's unit, in the worse direction."""
    turned = [(q, p) for p, q in pairs]
    match claim:
        case ApproxDP(epsilon):
            return max(delta_of(pairs, epsilon), delta_of(turned, epsilon))
        case ZCDP():
            return max(rho_of(pairs), rho_of(turned))
        case GDP():
            return max(mu_of(pairs), mu_of(turned))
    raise NoExactFormula(f"the product of releases under {claim}")


def _mu_at(epsilon: float, delta: float) -> float:
    """The μ with gaussian_delta(μ, ε) = δ, rounded down."""
    if delta <= LEAST_DELTA:
        return 0.0
    low, high = 0.0, 1.0
    while high < 1e3 and gaussian_delta(high, epsilon) <= delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, epsilon) <= delta else (low, middle)
    return low


def composed_epsilon(spends: Sequence[Claim], delta: float, most: float) -> float:
    """The least ε ≤ `most`, up to rounding upwards, with which the worst mechanisms of these spends compose to (ε, δ)."""
    total = loss_sum([worst_part(spend) for spend in spends], "upper")
    if not total.delta(most) <= delta:
        return math.inf
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if total.delta(middle) <= delta else (middle, high)
    return high
