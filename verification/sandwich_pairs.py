"""Which algorithm is run on which hard instance.  To add one: a line in `PAIRS`, and how its parameters are made, if that is new.

Instances are the hardest ones for the claim and the number of records: the spikes come as often as the lower bound allows at the
failure probability ζ chosen.  Parameters are public: the families' moments are computed exactly.  P0's algorithms run as ρ-zCDP
where they can.  Not here: P0.A1 and P3.A6, which claim nothing, and P4.D4, whose number of steps goes with κ⁻⁴.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np

from tailproof.bounds import explicit
from tailproof.bounds.theorems import theorem
from tailproof.refimpl.approx_dp.presets import Facts, optimiser, preset
from tailproof.refimpl.channel import Mechanism
from tailproof.refimpl.claims import ZCDP, ApproxDP, Claim, PureDP
from tailproof.refimpl.hard_instances import (
    Growth,
    GrowthSigns,
    GrowthSpikes,
    MeanSpikes,
    PackingFamily,
    QuadraticSpikes,
    SignFamily,
    convex_family,
    dense_means,
    sign_code,
    sparse_means,
    spike_or_nothing,
)
from tailproof.refimpl.means.iterative_updating import iterative_updating_mean
from tailproof.refimpl.means.median_of_means import number_of_groups, truncated_median_of_means
from tailproof.refimpl.means.peeling import peeled_mean
from tailproof.refimpl.means.simple_clipping import simple_clipping_mean
from tailproof.refimpl.means.soft_truncation import soft_truncated_mean
from tailproof.refimpl.means.trimmed import trimmed_mean
from tailproof.refimpl.means.truncated import truncated_mean
from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.exponential import exponential_mechanism, published_clip
from tailproof.refimpl.pure_dp.localise import localised_ball
from tailproof.refimpl.pure_dp.localised_exponential import localised_exponential
from tailproof.refimpl.pure_dp.nets import net
from tailproof.refimpl.pure_dp.objective import assumption_of, objective_perturbation, objective_plan
from tailproof.refimpl.pure_dp.plan import Assumption, Plan, expectation_plan
from tailproof.refimpl.pure_dp.population import plan_for, population_localization
from tailproof.refimpl.pure_dp.single import single_output_perturbation
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.sandwich import Pair, Trial
from tailproof.verification.sweeps import bound_at

Linear: TypeAlias = PackingFamily | SignFamily
Numbers: TypeAlias = dict[str, Any]

# ---------------------------------------------------------------------------------------------- P4: linear losses, pure privacy


def packing_family(dimension: int, size: int, failure: float, n: int, claim: Claim) -> PackingFamily:
    law: Numbers = {"moment_bound": 1.0, "moment_order": 2.0}
    return PackingFamily.hardest(dimension, size, n=n, epsilon=claim, failure=failure, **law)


def sign_family(dimension: int, failure: float, n: int, claim: Claim) -> SignFamily:  # noqa: ARG001  (the claim is in the bound)
    """The τ at which without privacy an algorithm fails so often, by bisection."""
    low, high = 1e-6, 0.999
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if SignFamily(dimension, middle, 1.0).failure_lower(n) >= failure else (low, middle)
    return SignFamily(dimension, low, 1.0)


@cache
def _assumed(family_dimension: int) -> Assumption:
    ball = SignFamily(family_dimension, 0.5, 1.0).domain
    return assumption_of(ball, ball.center, moment_order=2.0, moment_bound=1.0)


@cache  # a plan takes a second to find
def _one_phase(dimension: int, n: int, epsilon: float) -> Plan:
    return expectation_plan(_assumed(dimension), size=n, epsilon=epsilon, most_phases=1)


@cache
def _phases(dimension: int, n: int, epsilon: float, failure: float) -> Plan:
    return plan_for(_assumed(dimension), size=n, epsilon=epsilon, failure=failure)


def _regularised(family: Linear, n: int, epsilon: float) -> Numbers:
    """λ, C and κ of the best plan with one phase."""
    phase = _one_phase(family.dimension, n, epsilon).phases[0]
    return {"weight": phase.weight, "lipschitz": phase.lipschitz, "kappa": phase.kappa}


def _single(family: Linear, n: int, epsilon: float, failure: float) -> Numbers:
    """One phase of population localisation, whose bound of the mean holds for it."""
    bound = _one_phase(family.dimension, n, epsilon).bound / failure
    return {"mechanism": single_output_perturbation, "parameters": _regularised(family, n, epsilon), "upper": bound}


def _localise(family: Linear, n: int, epsilon: float, failure: float) -> Numbers:
    """The centre of the ball, which is a single perturbation."""
    known = _single(family, n, epsilon, failure)
    parameters = {**known["parameters"], "failure": 0.1}
    return {**known, "mechanism": localised_ball, "parameters": parameters, "read": _centre}


def _centre(ball: FloatArray) -> FloatArray:
    return ball[:-1]


def _double(family: Linear, n: int, epsilon: float, failure: float) -> Numbers:
    rate = _rate("P4.T3.1", n=n, d=family.dimension, eps=epsilon, k=2.0, G=1.0, D=2.0, xi=failure)
    return {"mechanism": double_output_perturbation, "parameters": _regularised(family, n, epsilon), "rate": rate}


def _population(family: Linear, n: int, epsilon: float, failure: float) -> Numbers:
    plan = _phases(family.dimension, n, epsilon, failure)
    return {"mechanism": population_localization, "parameters": {"plan": plan}, "upper": plan.bound}


def _population_double(family: Linear, n: int, epsilon: float, failure: float) -> Numbers:
    """The same phases, each by the paper's own solver; the bound is not made for it."""
    plan = replace(_phases(family.dimension, n, epsilon, failure), solver="double", failure=0.1)
    rate = _rate("P4.T3.1", n=n, d=family.dimension, eps=epsilon, k=2.0, G=1.0, D=2.0, xi=failure)
    return {"mechanism": population_localization, "parameters": {"plan": plan}, "rate": rate}


def _objective(family: Linear, n: int, epsilon: float, failure: float) -> Numbers:
    plan = objective_plan(_assumed(family.dimension), family.loss, size=n, epsilon=epsilon)
    return {"mechanism": objective_perturbation, "parameters": {"plan": plan}, "upper": plan.bound / failure}


def _exponential(family: Linear, n: int, epsilon: float, failure: float) -> Numbers:
    """P4's clip; a net of about a hundred points, and the weight of the size of the mean."""
    mesh = {1: 0.02, 2: 0.2, 3: 0.5}[family.dimension]
    law: Numbers = {"epsilon": epsilon, "moment_order": 2.0, "moment_bound": 1.0, "failure": failure}
    clip = published_clip(n, net_size=len(net(family.domain, mesh)), **law)
    weight = float(np.linalg.norm(family.mean(0)))
    parameters = {"weight": weight, "lipschitz": clip, "smoothness": weight, "mesh": mesh}
    rate = _rate("P4.TE.2", n=n, d=family.dimension, eps=epsilon, k=2.0, G=1.0, D=2.0, xi=failure)
    return {"mechanism": exponential_mechanism, "parameters": parameters, "rate": rate}


def _local_exponential(family: Linear, n: int, epsilon: float, failure: float) -> Numbers:
    """Exact draws, with the weight and the clip of single output perturbation."""
    rate = _rate("P4.TF.6", n=n, d=family.dimension, eps=epsilon, k=2.0, G=1.0, D=2.0, xi=failure)
    return {"mechanism": localised_exponential, "parameters": _regularised(family, n, epsilon), "rate": rate}


PURE: dict[str, Callable[[Linear, int, float, float], Numbers]] = {
    "P4.S1": _single,
    "P4.A2": _localise,
    "P4.A4": _double,
    "P4.A1": _population,
    "P4.A1 (double)": _population_double,
    "P4.S2": _objective,
    "P4.A5": _exponential,
    "P4.A7": _local_exponential,
}


def _pure(solver: str, family_of: Callable[[int, Claim], Linear], epsilon: float, n: int) -> Trial:
    claim = PureDP(epsilon)
    family = family_of(n, claim)
    made = PURE[solver](family, n, epsilon, family.failure_lower(n, claim))
    common = {"loss": family.loss, "domain": family.domain, "epsilon": epsilon}
    return Trial(family, claim, **{**made, "parameters": {**common, **made["parameters"]}})


def pure(algorithm: str, family: Callable[[int, Claim], Linear], name: str, *, n: int, epsilon: float) -> Pair:
    return Pair(algorithm, name, partial(_pure, algorithm, family, epsilon), n)


def _rate(identifier: str, **letters: float) -> float:
    """What follows from a proof; of P0's Theorem 1 that says nothing, and the printed rate is taken, as in the sweeps."""
    statement = theorem(identifier)
    return bound_at(replace(statement, derived=None) if identifier == "P0.T1" else statement, letters)


# ------------------------------------------------------------------------------------------------------- P0 to P3: the optimisers


def growth_spikes(dimension: int, theta: float, failure: float, n: int, claim: Claim) -> GrowthSpikes:
    code, law = sign_code(dimension, distance=1), Growth(theta, 1.0)
    return GrowthSpikes.hardest(code, n=n, budget=claim, failure=failure, growth=law, moment_order=2.0)


def growth_signs(dimension: int, theta: float, n: int, claim: Claim) -> GrowthSigns:
    return GrowthSigns.hardest(dimension, n=n, growth=Growth(theta, 1.0), budget=claim)


def one_mean(v: float, failure: float, n: int, claim: Claim) -> MeanSpikes:
    return spike_or_nothing(n=n, budget=claim, failure=failure, moment_order=1 + v, moment_bound=1.0)


def many_means(dimension: int, v: float, failure: float, n: int, claim: Claim) -> MeanSpikes:
    return dense_means(dimension, n=n, budget=claim, failure=failure, moment_order=1 + v, moment_bound=1.0)


def few_means(dimension: int, sparsity: int, v: float, failure: float, n: int, claim: Claim) -> MeanSpikes:
    law: Numbers = {"moment_order": 1 + v, "moment_bound": 1.0, "most": 16}
    return sparse_means(dimension, sparsity, n=n, budget=claim, failure=failure, **law)


def quadratic(means_of: Callable[[int, Claim], MeanSpikes], n: int, claim: Claim) -> QuadraticSpikes:
    """On a ball twice as wide as the means are long."""
    means = means_of(n, claim)
    return QuadraticSpikes(means, 2 * float(np.linalg.norm(means.mean(0))))


def convex_means(dimension: int, v: float, failure: float, n: int, claim: Claim) -> PackingFamily:
    return convex_family(dimension, n=n, budget=claim, failure=failure, moment_order=1 + v, moment_bound=1.0)


def _facts(family: Any, n: int, claim: Numbers, v: float) -> Facts:
    """What is public: exact moments of order 4 (P0, k = 2), 2 (P1, P2) and 1 + v (P3), and curvatures."""
    known: Numbers = {"norm_moment": family.norm_moment(4.0) ** 0.25, "norm_order": 2.0}
    known |= {"direction_moment": math.sqrt(family.norm_moment(2.0)), "direction_order": 2.0, "sparsity": 1}
    if isinstance(family, GrowthSpikes | GrowthSigns):
        steep = family.growth.smoothness
        known |= {"theta": family.growth.theta}
        known |= {"strong_convexity": family.growth.c} if family.growth.theta == 2 else {}
    else:
        steep = 1.0
        known |= {"coordinate_moment": family.coordinate_moment(1 + v), "coordinate_order": 1 + v}
        known |= {"mean_slope": 2 * family.domain.radius if isinstance(family, QuadraticSpikes) else 1.0}
    if isinstance(family, QuadraticSpikes):
        known |= {"strong_convexity": 1.0, "sparsity": int((family.means.code[0] != 0).sum())}
    known |= {"smoothness": steep, "record_smoothness": steep}
    return Facts(records=n, dimension=family.dimension, diameter=2 * family.domain.radius, **claim, **known)


def _optimiser(algorithm: str, family_of: Callable[[int, Claim], Any], claim: Claim, v: float, rate: str, n: int) -> Trial:
    family, words = family_of(n, claim), _words(claim)
    facts = _facts(family, n, words, v)
    parameters = {"loss": family.loss, **words, **preset(algorithm, facts, "tuned")}
    if algorithm != "P3.A5":  # which has no set
        parameters["domain"] = family.domain
    return Trial(family, claim, optimiser(algorithm), parameters, rate=_rate(rate, **_letters(facts, v)))


def _words(claim: Claim) -> Numbers:
    if isinstance(claim, ZCDP):
        return {"rho": claim.rho}
    assert isinstance(claim, ApproxDP)
    return {"epsilon": claim.epsilon, "delta": claim.delta}


def _letters(facts: Facts, v: float) -> dict[str, float]:
    """For all rates at once; ρ-zCDP has the ε of a fixed δ, as in the sweeps."""
    known = {"n": facts.records, "d": facts.dimension, "D": facts.diameter, "k": 2.0, "p": 2.0, "v": v, "xi": facts.failure}
    delta = facts.delta or 1e-6
    known |= {"delta": delta, "eps": facts.epsilon or math.sqrt((facts.rho or 1.0) * math.log(1 / delta))}
    moment, slope = facts.norm_moment or 1.0, facts.direction_moment or 1.0
    known |= {
        "R2k": moment,
        "r": moment,
        "M": slope,
        "u": facts.coordinate_moment or 1.0,
        "V": facts.coordinate_moment or 1.0,
    }
    known |= {"theta": facts.theta or 2.0, "lam": 1.0, "beta": facts.smoothness or 1.0, "mu": facts.strong_convexity or 1.0}
    return known | {"D0": facts.diameter, "F": 1.0, "tau": slope, "R": 1.0, "s": facts.sparsity or 1}


def optimiser_pair(
    algorithm: str, family: Callable[[int, Claim], Any], name: str, claim: Claim, rate: str, *, n: int, v: float = 1.0
) -> Pair:
    return Pair(algorithm, name, partial(_optimiser, algorithm, family, claim, v, rate), n)


# --------------------------------------------------------------------------------------------------------- P1 to P3: the means


Estimator: TypeAlias = Callable[[MeanSpikes, int, Numbers, float], tuple[Mechanism, Numbers, float | None]]
"""From a family, n, the budget's words and ζ: function, parameters, explicit upper bound."""


def _truncated(family: MeanSpikes, n: int, words: Numbers, failure: float) -> tuple[Mechanism, Numbers, float | None]:
    """P3 Theorem 1 with its proof's constant, which fails with 3ξ."""
    order, xi = family.moment_order, failure / 3
    upper = explicit.truncated_mean_error_upper(n=n, v=order - 1, moment=1.0, xi=xi, **words)
    return truncated_mean, {"failure": xi, "moment_order": order, "moment_bound": 1.0}, upper


def _medians(family: MeanSpikes, n: int, words: Numbers, failure: float) -> tuple[Mechanism, Numbers, float | None]:
    """P3 Theorem 3, with Corollary 1's threshold."""
    d, order = family.dimension, family.moment_order
    tau = (words["epsilon"] * n / math.sqrt(d)) ** (1 / order)
    groups = number_of_groups(n, d, failure=failure)
    law: Numbers = {"n": n, "d": d, "v": order - 1, "moment": 1.0, "clip": tau, "groups": groups, "xi": failure, **words}
    return (
        truncated_median_of_means,
        {"failure": failure, "truncation": tau},
        explicit.truncated_median_of_means_error_upper(**law),
    )


def _clipping(family: MeanSpikes, n: int, words: Numbers, failure: float) -> tuple[Mechanism, Numbers, float | None]:
    """P2 Theorem 2, p = 2; E⟨u, x⟩² ≤ E‖x‖²."""
    d, moment = family.dimension, math.sqrt(family.norm_moment(2.0))
    clip = moment * math.sqrt(n * math.sqrt(words["rho"]))
    law: Numbers = {"n": n, "d": d, "p": 2.0, "moment": moment, "clip": clip, "beta": failure, **words}
    return simple_clipping_mean, {"clip": clip}, explicit.clipped_mean_error_upper(**law)


def _peeling(family: MeanSpikes, n: int, words: Numbers, failure: float) -> tuple[Mechanism, Numbers, float | None]:  # noqa: ARG001
    sparsity = int((family.code[0] != 0).sum())
    return peeled_mean, {"truncation": (words["epsilon"] * n) ** (1 / family.moment_order), "sparsity": sparsity}, None


def _soft(family: MeanSpikes, n: int, words: Numbers, failure: float) -> tuple[Mechanism, Numbers, float | None]:  # noqa: ARG001
    return soft_truncated_mean, {"second_moment": family.coordinate_moment(2.0), "failure": failure}, None


def _trimmed(family: MeanSpikes, n: int, words: Numbers, failure: float) -> tuple[Mechanism, Numbers, float | None]:  # noqa: ARG001
    return trimmed_mean, {"lower": -1.0, "upper": 1.0, "trim": n // 4}, None


def _updating(family: MeanSpikes, n: int, words: Numbers, failure: float) -> tuple[Mechanism, Numbers, float | None]:  # noqa: ARG001
    """Ten groups without amplification, whose claim is proved."""
    clip = math.sqrt(family.norm_moment(2.0)) * math.sqrt(n * words["epsilon"])
    return iterative_updating_mean, {"clip": clip, "groups": 10, "steps": 5, "amplification": "none"}, None


ESTIMATORS: dict[str, Estimator] = {
    "P1.A3.mean": _trimmed,
    "P1.A4.mean": _soft,
    "P2.A2": _clipping,
    "P2.A3": _updating,
    "P3.A1": _truncated,
    "P3.A3": _medians,
    "P3.A4": _peeling,
}


def _mean(algorithm: str, family_of: Callable[[int, Claim], MeanSpikes], claim: Claim, n: int) -> Trial:
    """Where no bound is explicit the fitted one is that of all private means, (1/(nε))^{v/(1+v)}."""
    family, words = family_of(n, claim), _words(claim)
    mechanism, parameters, upper = ESTIMATORS[algorithm](family, n, words, family.failure_lower(n, claim))
    rate = n ** (1 / family.moment_order - 1)
    return Trial(family, claim, mechanism, {**words, **parameters}, upper, rate)


def mean_pair(algorithm: str, family: Callable[[int, Claim], MeanSpikes], name: str, claim: Claim, *, n: int) -> Pair:
    return Pair(algorithm, name, partial(_mean, algorithm, family, claim), n)


# ------------------------------------------------------------------------------------------------------------------- the pairs

_LINE, _PLANE, _SPACE = (partial(packing_family, *sizes) for sizes in ((1, 2, 0.35), (2, 4, 0.5), (3, 6, 0.5)))
_TILTED = partial(sign_family, 2, 0.3)
_CONCENTRATED, _APPROXIMATE = ZCDP(0.02), ApproxDP(0.5, 1e-6)
_TINY, _LITTLE = ZCDP(0.002), ApproxDP(0.05, 1e-6)
_GROWTH2, _GROWTH4 = partial(growth_spikes, 2, 2.0, 0.5), partial(growth_spikes, 2, 4.0, 0.5)
_SIGNS = partial(growth_signs, 2, 2.0)
_ONE, _ONE_SQUARE, _MANY = partial(one_mean, 0.5, 0.35), partial(one_mean, 1.0, 0.35), partial(many_means, 4, 1.0, 0.5)
_FEW = partial(few_means, 20, 2, 0.5, 0.5)
_SQUARES, _HALVES = partial(quadratic, _MANY), partial(quadratic, partial(many_means, 4, 0.5, 0.5))
_CONVEX = partial(convex_means, 4, 1.0, 0.5)
_SPARSE = partial(quadratic, _FEW)

_FOUR = ("P4.S1", "P4.A1", "P4.S2", "P4.A5")
PAIRS: tuple[Pair, ...] = (
    *(pure(a, _LINE, "P4 App. G packing, d = 1", n=2000, epsilon=0.2) for a in PURE if a != "P4.A1 (double)"),
    pure("P4.A1 (double)", _LINE, "P4 App. G packing, d = 1", n=600, epsilon=0.2),
    *(pure(a, _PLANE, "P4 App. G packing, d = 2", n=1000, epsilon=0.5) for a in (*_FOUR, "P4.A7")),
    *(pure(a, _SPACE, "P4 App. G packing, d = 3", n=1000, epsilon=0.5) for a in ("P4.S1", "P4.S2", "P4.A5", "P4.A7")),
    *(pure(a, _TILTED, "P4 App. G signs, d = 2", n=1000, epsilon=1.0) for a in (*_FOUR, "P4.A7")),
    optimiser_pair("P0.A3", _GROWTH2, "P0 Thm 4, θ = 2, d = 2", _CONCENTRATED, "P0.T1", n=1000),
    optimiser_pair("P0.R3", _GROWTH2, "P0 Thm 4, θ = 2, d = 2", _CONCENTRATED, "P0.T1", n=1000),
    optimiser_pair("P0.A4", _GROWTH2, "P0 Thm 4, θ = 2, d = 2", _CONCENTRATED, "P0.T2", n=1000),
    optimiser_pair("P0.A5", _GROWTH2, "P0 Thm 4, θ = 2, d = 2", _CONCENTRATED, "P0.T3", n=1000),
    optimiser_pair("P0.A4", _GROWTH4, "P0 Thm 4, θ = 4, d = 2", _CONCENTRATED, "P0.T2", n=1000),
    optimiser_pair("P0.A6", _GROWTH2, "P0 Thm 4, θ = 2, d = 2", _APPROXIMATE, "P0.T6", n=1000),
    optimiser_pair("P0.A7", _GROWTH2, "P0 Thm 4, θ = 2, d = 2", _APPROXIMATE, "P0.T7", n=1000),
    optimiser_pair("P0.B", _GROWTH2, "P0 Thm 4, θ = 2, d = 2", _APPROXIMATE, "P0.T7", n=1000),
    optimiser_pair("P0.A4", _SIGNS, "P0 Thm 5, θ = 2, d = 2", _CONCENTRATED, "P0.T2", n=1000),
    optimiser_pair("P0.B", _SIGNS, "P0 Thm 5, θ = 2, d = 2", _APPROXIMATE, "P0.T7", n=1000),
    optimiser_pair("P1.A1", _SQUARES, "P3 Thm 8, v = 1, d = 4", _APPROXIMATE, "P1.T2", n=4000),
    optimiser_pair("P1.A3", _SQUARES, "P3 Thm 8, v = 1, d = 4", _APPROXIMATE, "P1.T5", n=4000),
    optimiser_pair("P1.A4", _SQUARES, "P3 Thm 8, v = 1, d = 4", _APPROXIMATE, "P1.T7", n=4000),
    optimiser_pair("P2.A1", _SQUARES, "P3 Thm 8, v = 1, d = 4", _APPROXIMATE, "P2.T4", n=4000),
    optimiser_pair("P3.A2", _HALVES, "P3 Thm 8, v = 1/2, d = 4", _APPROXIMATE, "P3.T7", n=4000, v=0.5),
    optimiser_pair("P3.A2", _CONVEX, "P3 Thm 9, v = 1, d = 4", _APPROXIMATE, "P3.T6", n=4000),
    optimiser_pair("P2.A1", _CONVEX, "P3 Thm 9, v = 1, d = 4", _APPROXIMATE, "P2.T4", n=4000),
    optimiser_pair("P3.A5", _SPARSE, "P3 Thm 11, v = 1/2, d = 20, s* = 2", _APPROXIMATE, "P3.T10", n=4000, v=0.5),
    mean_pair("P3.A1", _ONE, "P3 Thm 2, v = 1/2", _LITTLE, n=2000),
    mean_pair("P1.A4.mean", _ONE_SQUARE, "P3 Thm 2, v = 1", _LITTLE, n=2000),
    mean_pair("P1.A3.mean", _ONE_SQUARE, "P3 Thm 2, v = 1", _LITTLE, n=2000),
    mean_pair("P2.A2", _MANY, "P3 Lemma 21, v = 1, d = 4", _TINY, n=2000),
    mean_pair("P2.A3", _MANY, "P3 Lemma 21, v = 1, d = 4", _APPROXIMATE, n=2000),
    mean_pair("P3.A3", _MANY, "P3 Lemma 21, v = 1, d = 4", _APPROXIMATE, n=2000),
    mean_pair("P3.A4", _FEW, "P3 Lemma 27, v = 1/2, d = 20, s* = 2", _APPROXIMATE, n=2000),
)
