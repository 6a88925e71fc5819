"""dp-accounting: exact values, and beside them what its accountants and its calibration say; and Tailproof's own calculators.

What is stated is an upper bound of ε (or δ): it is wrong only where it is below the exact value of a pair of laws that the event
allows, by its definition in `dp_event`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import combinations, product
from typing import Any

import laws
import laws_noise as exact
import numpy as np
from laws_noise import Array, Mixture
from scipy.special import ndtr

from tailproof.refimpl.claims import (
    GDP,
    ZCDP,
    Claim,
    PureDP,
    gaussian_delta,
    gaussian_epsilon,
    implied_epsilon,
    pure_to_zcdp,
    zcdp_delta,
    zcdp_epsilon,
)
from tailproof.verification import calculator

SIGMAS = (0.5, 1.0, 4.0, 30.0)
DELTAS = (1e-3, 1e-6, 1e-9)
UPPER = "exact/stated ≤ 1"


def package() -> Any:
    return import_module("dp_accounting")


def relation_of(name: str) -> Any:
    return getattr(package().NeighboringRelation, name)


def accountant(kind: str, relation: str = "ADD_OR_REMOVE_ONE") -> Any:
    dpa = package()
    made = dpa.pld.PLDAccountant if kind == "PLD" else dpa.rdp.RdpAccountant
    return made(neighboring_relation=relation_of(relation))


def event(name: str, *given: Any) -> Any:
    return getattr(import_module("dp_accounting.dp_event"), name)(*given)


def gaussians_said(kind: str, sigma: float, times: int, delta: float) -> float:
    composed = event("SelfComposedDpEvent", event("GaussianDpEvent", sigma), times)
    return float(accountant(kind).compose(composed).get_epsilon(delta))


def responses_exact(times: int, delta: float) -> float:
    """δ of so many randomised responses at the ε that is stated for this δ."""
    dpa = package()
    spender = accountant("PLD", "REPLACE_ONE")
    for _ in range(times):
        spender.compose(dpa.RandomizedResponseDpEvent(2 / (1 + math.e), 2))
    return laws.composed_response_delta(1.0, times, float(spender.get_epsilon(delta)))


# --- one event -------------------------------------------------------------------------------------------------------------


def all_gaussians(kind: str) -> Iterator[tuple[float, float]]:
    for sigma, times, delta in product(SIGMAS, (1, 10, 100, 10_000), DELTAS):
        true = gaussian_epsilon(math.sqrt(times) / sigma, delta)
        if true < 60:
            yield true, gaussians_said(kind, sigma, times, delta)


def all_laplaces(kind: str) -> Iterator[tuple[float, float]]:
    """δ(ε) = 1 − e^{(ε − 1/b)/2}."""
    for scale, delta in product((0.2, 1.0, 10.0), DELTAS):
        said = accountant(kind).compose(event("LaplaceDpEvent", scale)).get_epsilon(delta)
        yield max(0.0, 1 / scale + 2 * math.log1p(-delta)), float(said)


def responses(kind: str, relation: str) -> Iterator[tuple[float, float]]:
    """k buckets; the special record gives the uniform law."""
    for noise, buckets, delta in product((0.05, 0.5, 0.9), (2, 3, 10), DELTAS):
        here = np.full(buckets, noise / buckets)
        there = here.copy()
        here[0] += 1 - noise
        there[1] += 1 - noise
        if relation == "REPLACE_SPECIAL":
            there = np.full(buckets, 1 / buckets)
        said = accountant(kind, relation).compose(event("RandomizedResponseDpEvent", noise, buckets)).get_epsilon(delta)
        yield at_delta(both_ways(exact.array_profile, here, there), delta), float(said)


def at_delta(delta_of: Callable[[float], float], delta: float) -> float:
    return exact.epsilon_at(delta_of, delta)


def both_ways(profile: Callable[[Any, Any, float], float], p: Any, q: Any) -> Callable[[float], float]:
    return lambda epsilon: max(profile(p, q, epsilon), profile(q, p, epsilon))


def sampled(rate: float, relation: str) -> tuple[Mixture, Mixture]:
    """A record that is there with this chance, and is 1; without it, or with −1 in its place."""
    return ((1 - rate, 0.0), (rate, 1.0)), (((1 - rate, 0.0), (rate, -1.0)) if relation == "REPLACE_ONE" else ((1.0, 0.0),))


def sampled_gaussians(kind: str, relation: str) -> Iterator[tuple[float, float]]:
    for rate, sigma, delta in product((1e-3, 0.1, 0.9), SIGMAS, (1e-3, 1e-6)):
        p, q = sampled(rate, relation)
        true = at_delta(both_ways(lambda a, b, e, s=sigma: exact.mixture_profile(a, b, s, e), p, q), delta)
        one = event("PoissonSampledDpEvent", rate, event("GaussianDpEvent", sigma))
        yield true, float(accountant(kind, relation).compose(one).get_epsilon(delta))


def sampled_laplace() -> Iterator[tuple[float, float]]:
    for rate, scale, delta in product((0.01, 0.5), (0.2, 1.0, 10.0), (1e-3, 1e-6)):
        base, away = exact.laplace(0.0, scale), exact.laplace(1.0, scale)
        mixed = exact.Line(
            (0.0, 1.0),
            lambda x, r=rate, a=base, b=away: (1 - r) * a.below(x) + r * b.below(x),
            lambda x, r=rate, a=base, b=away: float(
                np.logaddexp(math.log1p(-r) + a.log_density(x), math.log(r) + b.log_density(x))
            ),
        )
        one = event("PoissonSampledDpEvent", rate, event("LaplaceDpEvent", scale))
        yield (
            at_delta(both_ways(exact.profile, mixed, base), delta),
            float(accountant("PLD").compose(one).get_epsilon(delta)),
        )


def without_replacement(rate: float, sigma: float, delta: float) -> tuple[float, float]:
    """(exact, stated): others are 0, the record that is replaced goes from 1 to −1."""
    p, q = sampled(rate, "REPLACE_ONE")
    one = event("SampledWithoutReplacementDpEvent", 1000, round(1000 * rate), event("GaussianDpEvent", sigma))
    true = at_delta(lambda e: exact.mixture_profile(p, q, sigma, e), delta)
    return true, float(accountant("RDP", "REPLACE_ONE").compose(one).get_epsilon(delta))


def mixed_gaussians() -> Iterator[tuple[float, float]]:
    for sigma, delta in product((1.0, 4.0), (1e-3, 1e-6)):
        one = event("MixtureOfGaussiansDpEvent", sigma, [0.0, 1.0, 2.0], [0.5, 0.3, 0.2])
        p, q = ((0.5, 0.0), (0.3, 1.0), (0.2, 2.0)), ((1.0, 0.0),)
        true = at_delta(both_ways(lambda a, b, e, s=sigma: exact.mixture_profile(a, b, s, e), p, q), delta)
        yield true, float(accountant("PLD").compose(one).get_epsilon(delta))


def discrete_laplaces() -> Iterator[tuple[float, float]]:
    for rate, distance, delta in product((0.1, 1.0), (1, 3), DELTAS):
        reach = math.ceil(40 / rate)
        p, q = (exact.geometric(value, rate, -reach, reach) for value in (0, distance))
        one = event("DiscreteLaplaceDpEvent", rate, distance)
        yield at_delta(both_ways(exact.array_profile, p, q), delta), float(accountant("PLD").compose(one).get_epsilon(delta))


def discrete_gaussians() -> Iterator[tuple[float, float]]:
    made = import_module("dp_accounting.pld.privacy_loss_distribution").from_discrete_gaussian_mechanism
    for sigma, distance, delta in product((0.7, 4.0), (1, 3), DELTAS):
        reach = math.ceil(20 * sigma) + distance
        p, q = (exact.discrete_gaussian(value, sigma, -reach, reach) for value in (0, distance))
        said = made(sigma, sensitivity=distance).get_epsilon_for_delta(delta)
        yield at_delta(both_ways(exact.array_profile, p, q), delta), float(said)


def truncated_law(rate: float, most: int, others: int, record: float | None) -> dict[float, float]:
    """The law of the sum of a Poisson sample, of which at most so many are kept: others are −1."""
    data = [-1.0] * others + ([] if record is None else [record])
    found: dict[float, float] = {}
    for chosen in product((False, True), repeat=len(data)):
        chance = math.prod(rate if there else 1 - rate for there in chosen)
        sample = [value for value, there in zip(data, chosen, strict=True) if there]
        kept = list(combinations(sample, most)) if len(sample) > most else [tuple(sample)]
        for one in kept:
            found[sum(one)] = found.get(sum(one), 0.0) + chance / len(kept)
    return found


def truncated_samples(relation: str) -> Iterator[tuple[float, float]]:
    """δ on one pair of data sets; stated is one for all of them."""
    at = np.linspace(-40, 40, 200_001)

    def density(law: dict[float, float], sigma: float) -> Callable[[Array], Array]:
        scale = sigma * math.sqrt(2 * math.pi)
        return lambda x: np.asarray(sum(w * np.exp(-((x - m) ** 2) / (2 * sigma**2)) / scale for m, w in law.items()))

    for (size, most, rate, sigma), epsilon in product(((3, 1, 0.5, 1.0), (6, 1, 0.9, 1.0), (5, 2, 0.5, 1.0)), (0.5, 2.0)):
        p, q = (
            density(truncated_law(rate, most, size - 1, record), sigma)
            for record in (1.0, -1.0 if relation == "REPLACE_ONE" else None)
        )
        true = both_ways(lambda a, b, e: exact.by_quadrature(a, b, at, e), p, q)(epsilon)
        one = event("TruncatedSubsampledGaussianDpEvent", size, rate, most, sigma)
        yield true, float(accountant("PLD", relation).compose(one).get_delta(epsilon))


def best_of_runs(shape: float) -> Iterator[tuple[float, float]]:
    """The largest of K values with Gaussian noise: density G'(F(x))·f(x), G the generating function of K."""
    for mean, sigma, delta in product((2.0, 20.0), (1.0, 4.0), (1e-3, 1e-6)):
        at = np.linspace(-20 * sigma, 20 * sigma + 1, 200_001)

        def density(shift: float, m: float = mean, s: float = sigma) -> Callable[[Array], Array]:
            return lambda x: (
                slope(shape, m, ndtr((x - shift) / s)) * np.exp(-(((x - shift) / s) ** 2) / 2) / (s * math.sqrt(2 * math.pi))
            )

        p, q = density(0.0), density(1.0)
        true = at_delta(both_ways(lambda a, b, e, x=at: exact.by_quadrature(a, b, x, e), p, q), delta)
        one = event("RepeatAndSelectDpEvent", event("GaussianDpEvent", sigma), mean, shape)
        yield true, float(accountant("RDP").compose(one).get_epsilon(delta))


def slope(shape: float, mean: float, z: Array) -> Array:
    """G'(z): of Poisson's law (shape ∞), the geometric one (1), or the logarithmic one (0), with this mean."""
    if math.isinf(shape):
        return np.asarray(mean * np.exp(mean * (z - 1)))
    if shape == 1:
        return np.asarray((1 / mean) / (1 - (1 - 1 / mean) * z) ** 2)
    low, high = 1e-12, 1 - 1e-12  # of γ, with (1 − 1/γ)/log γ = mean
    for _ in range(200):
        gamma = math.sqrt(low * high)
        low, high = (low, gamma) if (1 - 1 / gamma) / math.log(gamma) < mean else (gamma, high)
    return np.asarray((1 - gamma) / (-math.log(gamma) * (1 - (1 - gamma) * z)))


def trees() -> Iterator[tuple[float, float]]:
    """A record is in as many nodes as the tree has levels."""
    for steps, delta in product((1, 3, 4, 1000), DELTAS):
        levels = steps.bit_length()
        one = event("SingleEpochTreeAggregationDpEvent", 4.0, steps)
        said = accountant("RDP", "REPLACE_SPECIAL").compose(one).get_epsilon(delta)
        yield gaussian_epsilon(math.sqrt(levels) / 4, delta), float(said)


def concentrated() -> Iterator[tuple[float, float]]:
    for rho, delta in product((0.01, 0.5, 5.0), DELTAS):
        yield (
            gaussian_epsilon(math.sqrt(2 * rho), delta),
            float(accountant("RDP").compose(event("ZCDpEvent", rho)).get_epsilon(delta)),
        )


# --- composition -----------------------------------------------------------------------------------------------------------


def sampled_composed(kind: str, times: int) -> Iterator[tuple[float, float]]:
    """A lower bound of δ at the ε that is stated for δ."""
    for (rate, sigma), delta in product(((0.1, 1.0), (0.5, 2.0)), (1e-3, 1e-5)):
        one = event("PoissonSampledDpEvent", rate, event("GaussianDpEvent", sigma))
        said = float(accountant(kind).compose(one, times).get_epsilon(delta))
        p, q = sampled(rate, "ADD_OR_REMOVE_ONE")
        yield max(exact.composed_mixtures(a, b, sigma, said, times) for a, b in ((p, q), (q, p))), delta


def laplaces_composed(kind: str, times: int) -> Iterator[tuple[float, float]]:
    for scale, delta in product((1.0, 5.0), (1e-3, 1e-6)):
        said = float(accountant(kind).compose(event("LaplaceDpEvent", scale), times).get_epsilon(delta))
        yield exact.composed_laplace(scale, said, times), delta


def responses_counted(kind: str, times: int, *, delta: float = 1e-6) -> tuple[float, float]:
    """(exact, stated) ε of so many randomised responses, composed by `count`."""
    said = accountant(kind, "REPLACE_ONE").compose(event("RandomizedResponseDpEvent", 2 / (1 + math.e), 2), times)
    true = at_delta(lambda e: laws.composed_response_delta(1.0, times, e), delta)
    return true, float(said.get_epsilon(delta))


def leaking_responses() -> Iterator[tuple[float, float]]:
    """δ of k mechanisms that are just (ε, δ)-private: 1 − (1 − δ)^k·(1 − δ of k randomised responses)."""
    common = import_module("dp_accounting.pld.common")
    made = import_module("dp_accounting.pld.privacy_loss_distribution").from_privacy_parameters
    for times, total in product((1, 5, 20), (0.5, 2.0)):
        one = made(common.DifferentialPrivacyParameters(0.3, 1e-4))
        true = -math.expm1(times * math.log1p(-1e-4))
        true += (1 - 1e-4) ** times * laws.composed_response_delta(0.3, times, total)
        yield true, float(one.self_compose(times).get_delta_for_epsilon(total))


# --- calibration -----------------------------------------------------------------------------------------------------------


def sigmas() -> Iterator[tuple[float, float]]:
    for epsilon, delta in product((0.01, 0.1, 1.0, 10.0, 50.0), (0.1, 1e-3, 1e-6, 1e-12, 1e-20)):
        yield gaussian_delta(1 / float(package().get_sigma_gaussian(epsilon, delta)), epsilon), delta


def epsilons() -> Iterator[tuple[float, float]]:
    for sigma, delta in product((0.05, *SIGMAS, 1000.0), (1e-3, 1e-6, 1e-12, 1e-20)):
        yield gaussian_epsilon(1 / sigma, delta), float(package().get_epsilon_gaussian(sigma, delta))


def parameters(epsilon: float, delta: float) -> Any:
    return import_module("dp_accounting.pld.common").DifferentialPrivacyParameters(epsilon, delta)


def smallest(what: str) -> Iterator[tuple[float, float]]:
    """δ, or a lower bound of it, with the noise that is stated for δ."""
    functions = import_module("dp_accounting.pld.accountant")
    for (epsilon, delta), times in product(((0.5, 1e-5), (3.0, 1e-6)), (1, 8)):
        given = parameters(epsilon, delta)
        if what == "Gaussian":
            sigma = functions.get_smallest_gaussian_noise(given, times)
            yield gaussian_delta(math.sqrt(times) / sigma, epsilon), delta
        elif what == "Laplace":
            yield exact.composed_laplace(functions.get_smallest_laplace_noise(given, times), epsilon, times), delta
        elif what == "sampled Gaussian":
            sigma = functions.get_smallest_subsampled_gaussian_noise(given, times, sampling_prob=0.2)
            p, q = sampled(0.2, "ADD_OR_REMOVE_ONE")
            yield max(exact.composed_mixtures(a, b, sigma, epsilon, times) for a, b in ((p, q), (q, p))), delta
        else:
            rate = functions.get_smallest_discrete_laplace_noise(given, times)
            loss = rate * np.array([1, -1])  # of a value that moves by 1: P(0 or less), and the rest
            masses = np.array([1 / (1 + math.exp(-rate)), 1 / (1 + math.exp(rate))])
            yield response_like(loss, masses, epsilon, times), delta


def response_like(losses: Array, masses: Array, epsilon: float, times: int) -> float:
    """δ(ε) of so many copies of a law of two losses."""
    ways = [math.comb(times, k) * masses[0] ** k * masses[1] ** (times - k) for k in range(times + 1)]
    totals = [k * losses[0] + (times - k) * losses[1] for k in range(times + 1)]
    return math.fsum(w * -math.expm1(min(0.0, epsilon - t)) for w, t in zip(ways, totals, strict=True))


def advanced() -> Iterator[tuple[float, float]]:
    composition = import_module("dp_accounting.pld.accountant").advanced_composition
    for single, times, total in product((0.1, 1.0), (10, 60), (1e-3, 1e-6)):
        said = composition(parameters(single, 0.0), times, total)
        yield laws.composed_response_delta(single, times, float(said)), total


def calibrated(kind: str) -> Iterator[tuple[float, float]]:
    """The exact ε at the σ that is found for ε."""
    for epsilon, times in product((0.5, 4.0), (1, 100)):
        sigma = package().calibrate_dp_mechanism(
            lambda k=kind: accountant(k),
            lambda s, k=times: event("SelfComposedDpEvent", event("GaussianDpEvent", s), k),
            epsilon,
            1e-6,
        )
        yield gaussian_epsilon(math.sqrt(times) / sigma, 1e-6), epsilon


# --- Tailproof's calculators against dp-accounting -------------------------------------------------------------------------


def calculated(what: str, **given: Any) -> list[float]:
    """What `tailproof calibrate` prints."""
    arguments = argparse.Namespace(what=what, claims=[], sensitivity=None, epsilon=None, delta=None, rho=None)
    vars(arguments).update(given)
    return [line["value"] for line in calculator.calculate(arguments)[0]["results"]]


def our_scales() -> Iterator[tuple[float, float]]:
    """All that `calibrate gaussian` gives; dp-accounting says which ε they have."""
    for epsilon, delta in product((0.1, 1.0, 5.0), DELTAS):
        for sigma in calculated("gaussian", sensitivity=1.0, epsilon=epsilon, delta=delta):
            yield float(package().get_epsilon_gaussian(sigma, delta)), epsilon


def our_epsilons() -> Iterator[tuple[float, float]]:
    for sigma, delta in product(SIGMAS, DELTAS):
        yield float(package().get_epsilon_gaussian(sigma, delta)), gaussian_epsilon(1 / sigma, delta)


def our_conversions() -> Iterator[tuple[float, float]]:
    """zCDP to ε and to δ: the Gaussian that has this ρ, by dp-accounting."""
    for rho, delta in product((0.005, 0.5, 5.0), DELTAS):
        sigma = 1 / math.sqrt(2 * rho)
        yield float(package().get_epsilon_gaussian(sigma, delta)), zcdp_epsilon(rho, delta)
        yield delta, zcdp_delta(rho, float(package().get_epsilon_gaussian(sigma, delta)))


def our_rho() -> Iterator[tuple[float, float]]:
    """ε-DP to zCDP: the divergences of randomised response over their orders, by dp-accounting."""
    for epsilon in (0.1, 1.0, 5.0):
        spender = accountant("RDP", "REPLACE_ONE").compose(
            event("RandomizedResponseDpEvent", 2 / (1 + math.exp(epsilon)), 2)
        )
        yield float((spender.rdp / spender.orders).max()), pure_to_zcdp(PureDP(epsilon), tight=True).rho


def our_compositions() -> Iterator[tuple[float, float]]:
    """Gaussians, Laplace noise, randomised responses and mixed ones; its accountant of loss distributions is the sharper
    one."""
    gaussian, laplace = event("GaussianDpEvent", 4.0), event("LaplaceDpEvent", 5.0)
    both = event("ComposedDpEvent", [event("SelfComposedDpEvent", gaussian, 5), event("SelfComposedDpEvent", laplace, 5)])
    spends: list[tuple[Any, list[Claim]]] = [
        (event("SelfComposedDpEvent", gaussian, 20), [GDP(0.25)] * 20),
        (event("SelfComposedDpEvent", gaussian, 20), [ZCDP(1 / 32)] * 20),
        (event("SelfComposedDpEvent", laplace, 20), [PureDP(0.2)] * 20),
        (both, [*[GDP(0.25)] * 5, *[PureDP(0.2)] * 5]),
    ]
    for (one, members), delta in product(spends, DELTAS):
        yield float(accountant("PLD").compose(one).get_epsilon(delta)), implied_epsilon(members, delta)
