"""How many runs refute a claim when the truth is a worse one: exact power of the tests of an audit.  `tailproof plan`.

A labelled sample is a run on a side picked by a fair coin; a predictor says, where the output lies in a region R, which side it
was.  Of M samples c are in R and right, w in R and wrong, m = c + w.  With α = 1 − confidence the claim is refuted when
- pure ε: c is above the upper α quantile of Bin(m, π), π = e^ε/(1+e^ε).  Given the output the side is guessed right with
  probability π at most;
- (ε, δ): the same with π + (1−π)·δ/ρ in place of π, ρ the Clopper–Pearson lower limit of P(R) at level α/10, and 9α/10 for α.  With
  S₁, S₂ the outputs in R for which one or the other side is said, P(right, R) = ½p(S₁) + ½q(S₂) ≤ e^ε·P(wrong, R) + δ, and so
  P(right | R) ≤ π + (1−π)·δ/P(R);
- μ-GDP: R is everything, π = Φ(μ/2);
- ρ-zCDP: R is everything, π = e^ε/(1+e^ε) for the ε with ε·tanh(ε/2) = ρ.  For the laws (p, 1−p), (q, 1−q) of the guess, the pairs
  (p, q) that ρ-zCDP allows are a convex set with the symmetry (p, q) ↔ (1−q, 1−p), so the best accuracy is attained by
  randomised response, which is ε·tanh(ε/2)-zCDP and no better.
The truth is a pair of laws that has exactly the privacy stated: randomised response (for (ε, δ): that tells the side with
probability δ), Laplace laws, or Gaussian laws.  The predictor is taken to be the best one for it; what learning it costs comes on
top.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri
from scipy.stats import beta, binom

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP, gaussian_mu, parse_claim
from tailproof.refimpl.validation import InputError, IntArray, choice, probability, whole

PAIRS = ("response", "laplace", "gaussian")
LIMIT_SHARE = 0.1  # of α, for the limit of P(R)
MOST = 10**12  # samples
SPREAD = 9.0  # standard deviations of m that are summed over; what is left out counts as not refuted


class NoSuchPlan(InputError):
    """The test cannot refute the claim under this truth, however many the samples."""


@dataclass(frozen=True)
class Region:
    """Of a labelled sample: P(in R and guessed right), P(in R and guessed wrong)."""

    correct: float
    wrong: float

    @property
    def mass(self) -> float:
        return min(1.0, self.correct + self.wrong)

    @property
    def success(self) -> float:
        return self.correct / (self.correct + self.wrong)


@dataclass(frozen=True)
class Plan:
    """`samples` are runs on both sides together, without those that train the predictor."""

    claim: Claim
    true: Claim
    pair: str
    confidence: float
    power: float
    samples: int
    region: Region

    def to_json(self) -> dict[str, Any]:
        return {
            "claim": str(self.claim),
            "true": str(self.true),
            "pair": self.pair,
            "confidence": self.confidence,
            "power": self.power,
            "samples": self.samples,
            "in_region": self.region.mass,
            "correct_in_region": self.region.success,
        }


# --- the truth ----------------------------------------------------------------------------------------------------------


def zcdp_response(rho: float) -> float:
    """The ε of the randomised response that is ρ-zCDP: ε·tanh(ε/2) = ρ."""
    return float(brentq(lambda e: e * math.tanh(e / 2) - rho, 0.0, rho + 2 * math.sqrt(rho) + 1, xtol=1e-14))


def usual_pair(truth: Claim) -> str:
    return "response" if isinstance(truth, PureDP) else "gaussian"


def regions(truth: Claim, pair: str) -> list[Region]:
    """The best regions to choose from, for a pair of laws with exactly this privacy."""
    choice("pair", pair, PAIRS)
    match truth, pair:
        case PureDP(epsilon), "response":
            return [_response(epsilon)]
        case PureDP(epsilon), "laplace":  # Lap(0, 1/ε) and Lap(1, 1/ε): x ≤ t and x ≥ 1 − t
            cuts = np.linspace(0.0, 0.5, 51)
            return [Region(1 - math.exp(-epsilon * t) / 2, math.exp(-epsilon * (1 - t)) / 2) for t in cuts]
        case ZCDP(rho), "response":
            return [_response(zcdp_response(rho))]
        case ApproxDP(epsilon, delta), "response":
            rest = _response(epsilon)
            return [Region(delta + (1 - delta) * rest.correct, (1 - delta) * rest.wrong), Region(delta, 0.0)]
        case GDP(mu), "gaussian":
            return _gaussian(mu)
        case ZCDP(rho), "gaussian":
            return _gaussian(math.sqrt(2 * rho))
        case ApproxDP(epsilon, delta), "gaussian":
            return _gaussian(gaussian_mu(epsilon, delta))
    raise InputError(f"pair = {pair!r}: no such pair of laws has exactly the privacy {truth}")


def _response(epsilon: float) -> Region:
    return Region(float(expit(epsilon)), float(expit(-epsilon)))


def _gaussian(mu: float) -> list[Region]:
    """N(0, 1) and N(μ, 1): farther than a from the middle."""
    return [Region(float(ndtr(mu / 2 - a)), float(ndtr(-mu / 2 - a))) for a in np.linspace(0.0, 6.0 + mu / 2, 241)]


# --- the test -----------------------------------------------------------------------------------------------------------


def _needs_everything(claim: Claim) -> bool:
    return isinstance(claim, GDP | ZCDP)


def _limit(claim: Claim, mass: Any) -> Any:
    """The largest P(right | R) under the claim, where P(R) is at least `mass`."""
    match claim:
        case PureDP(epsilon):
            return expit(epsilon)
        case ApproxDP(epsilon, delta):
            with np.errstate(divide="ignore"):
                return np.minimum(1.0, expit(epsilon) + expit(-epsilon) * delta / np.asarray(mass))
        case GDP(mu):
            return ndtr(mu / 2)
        case ZCDP(rho):
            return expit(zcdp_response(rho))


def critical_counts(claim: Claim, inside: IntArray, samples: int, error: float) -> IntArray:
    """For every number m of samples in R the least c that refutes the claim; m + 1 where none does."""
    m = np.asarray(inside)
    mass = np.ones(m.shape)
    if isinstance(claim, ApproxDP):
        mass = np.where(m > 0, beta.ppf(LIMIT_SHARE * error, np.maximum(m, 1), samples - m + 1), 0.0)
        error *= 1 - LIMIT_SHARE
    limit = np.broadcast_to(_limit(claim, mass), m.shape)
    quantiles = np.where(limit < 1, binom.isf(error, np.maximum(m, 1), np.minimum(limit, 1 - 1e-16)), m)
    return np.minimum(np.where(m > 0, quantiles, m).astype(np.int64) + 1, m + 1)


def power_of(claim: Claim, region: Region, samples: int, *, confidence: float) -> float:
    """The probability with which so many samples refute the claim, where the truth has this region."""
    error = 1 - probability("confidence", confidence)
    samples = whole("samples", samples, least=1)
    if region.mass >= 1:
        inside, weights = np.array([samples]), np.ones(1)
    else:
        centre, spread = samples * region.mass, math.sqrt(samples * region.mass * (1 - region.mass))
        low, high = max(0, int(centre - SPREAD * spread - 5)), min(samples, int(centre + SPREAD * spread + 30))
        inside = np.arange(low, high + 1)
        weights = binom.pmf(inside, samples, region.mass)
    critical = critical_counts(claim, inside, samples, error)
    return float(weights @ binom.sf(critical - 1, inside, region.success))


# --- the plan -----------------------------------------------------------------------------------------------------------


def _about(claim: Claim, region: Region, error: float, power: float) -> float:
    """The number of samples by the normal approximation; infinite where no number is enough."""
    limit, success = float(_limit(claim, region.mass)), region.success
    if success <= limit:
        return math.inf
    root = float(-ndtri(error) * math.sqrt(limit * (1 - limit)) + ndtri(power) * math.sqrt(success * (1 - success)))
    needed = max(root, 0.0) ** 2 / (success - limit) ** 2
    least = math.log(error) / math.log(limit)  # even when all are right
    return max(needed, least) / region.mass


def best_region(claim: Claim, truth: Claim, pair: str, *, confidence: float, power: float) -> Region:
    """The one for which the fewest samples are needed, as far as the normal approximation tells."""
    error = 1 - probability("confidence", confidence)
    choices = regions(truth, pair)
    if _needs_everything(claim):
        choices = [max(choices, key=lambda region: region.mass)]
    best = min(choices, key=lambda region: _about(claim, region, error, power))
    if math.isinf(_about(claim, best, error, power)):
        raise NoSuchPlan(f"true = {truth}: no number of samples refutes {claim} by this test on the {pair} pair")
    return best


def plan(claim: Claim, truth: Claim, *, confidence: float = 0.95, power: float = 0.9, pair: str | None = None) -> Plan:
    """The least number of samples from which on the claim is refuted with this power (probability)."""
    pair, power = usual_pair(truth) if pair is None else pair, probability("power", power)
    region = best_region(claim, truth, pair, confidence=confidence, power=power)

    def enough(samples: int) -> bool:
        return power_of(claim, region, samples, confidence=confidence) >= power

    high = max(1, int(_about(claim, region, 1 - confidence, power)))
    while not enough(high):
        high *= 2
        if high > MOST:
            raise NoSuchPlan(f"true = {truth}: more than {MOST:g} samples would be needed against {claim}")
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Plan(claim, truth, pair, confidence, power, _after_the_teeth(enough, high), region)


def _after_the_teeth(enough: Callable[[int], bool], start: int) -> int:
    """Power is a saw: the first number after which none of the next tenth, as far as looked at, is too small."""
    step = max(1, start // 500)
    failing = [n for n in range(start, start + max(50, start // 10), step) if not enough(n)]
    candidate = failing[-1] + 1 if failing else start
    while not enough(candidate):
        candidate += 1
    return candidate


def detectable(claim: Claim, samples: int, *, confidence: float = 0.95, power: float = 0.9, pair: str | None = None) -> Plan:
    """The least violation of the claim's own kind, with its δ, that so many samples find with this power."""
    samples, power = whole("samples", samples, least=1), probability("power", power)
    pair = usual_pair(claim) if pair is None else pair

    def found(factor: float) -> Region | None:
        truth = _scaled(claim, factor)
        try:
            region = best_region(claim, truth, pair, confidence=confidence, power=power)
        except NoSuchPlan:
            return None
        return region if power_of(claim, region, samples, confidence=confidence) >= power else None

    high = 2.0
    while found(high) is None:
        high *= 2
        if high > 2**20:
            raise NoSuchPlan(f"samples = {samples}: too few to refute {claim} at all with power {power:g}")
    low = high / 2 if high > 2 else 1.0
    while high / low > 1 + 1e-4:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if found(middle) else (middle, high)
    region = found(high)
    assert region is not None
    return Plan(claim, _scaled(claim, high), pair, confidence, power, samples, region)


def _scaled(claim: Claim, factor: float) -> Claim:
    match claim:
        case PureDP(epsilon):
            return PureDP(factor * epsilon, claim.neighbouring)
        case ApproxDP(epsilon, delta):
            return ApproxDP(factor * epsilon, delta, claim.neighbouring)
        case GDP(mu):
            return GDP(factor * mu, claim.neighbouring)
        case ZCDP(rho):
            return ZCDP(factor * rho, claim.neighbouring)


def planned(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """`tailproof plan`: (JSON value, readable lines)."""
    claim = parse_claim(arguments.claim)
    settings = {"confidence": arguments.confidence, "power": arguments.power, "pair": arguments.pair}
    if arguments.true is not None:
        truth = parse_claim(arguments.true)
        if _is_stronger(truth, claim):
            raise InputError(f"true = {truth}: is no worse than the claim {claim}, so there is nothing to refute")
        found = plan(claim, truth, **settings)
    else:
        found = detectable(claim, arguments.budget, **settings)
    return found.to_json(), described(found)


def _is_stronger(truth: Claim, claim: Claim) -> bool:
    """Of two claims of one kind, whether the first implies the second by its numbers alone."""
    match truth, claim:
        case (PureDP(a), PureDP(b)) | (GDP(a), GDP(b)) | (ZCDP(a), ZCDP(b)) | (PureDP(a), ApproxDP(b, _)):
            return a <= b
        case ApproxDP(a, c), ApproxDP(b, d):
            return a <= b and c <= d
    return False


def described(found: Plan) -> str:
    """Readable lines."""
    mass = "all outputs are" if found.region.mass > 0.9995 else f"{100 * found.region.mass:.3g} % of the outputs are"
    return "\n".join(
        [
            f"claim: {found.claim}    truth: {found.true} ({found.pair} pair)",
            f"samples: {found.samples} runs, both data sets together, refute the claim with probability {found.power:g}",
            f"confidence: {found.confidence:g}; {mass} used, and {100 * found.region.success:.4g} % of these guesses are right",
            "An audit also spends runs on training its predictor; these come on top.",
        ]
    )
