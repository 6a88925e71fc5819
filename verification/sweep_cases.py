"""What is swept: upper bounds of P0 to P3 (of P4: `sweep_pure`), each on problems inside its assumptions with known excess risk.

Sets are balls of radius 1, so that D = 2; an algorithm starts in the middle.  Heavy tails have the moments that a theorem asks for
and little more.  P0's Algorithms 3 to 5 run as their ρ-zCDP variants (Remarks 1 and 5), whose ε in the rate is √(ρ log(1/δ)): the
(ε, δ) variants allow no ε above √log(1/δ), at which their noise fills the set for every n that can be run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from tailproof.bounds.explicit import (
    clipped_mean_error_upper,
    truncated_mean_error_upper,
    truncated_median_of_means_error_upper,
)
from tailproof.refimpl.approx_dp.presets import Facts, Kind, optimiser, preset
from tailproof.refimpl.approx_dp.shuffling import LOCAL_LIMIT, shuffled_epsilon
from tailproof.refimpl.channel import Mechanism
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import AnyLoss, Quadratic, parse_any_loss
from tailproof.refimpl.means.iterative_updating import iterative_updating_mean
from tailproof.refimpl.means.median_of_means import number_of_groups, truncated_median_of_means
from tailproof.refimpl.means.simple_clipping import simple_clipping_mean
from tailproof.refimpl.means.truncated import truncated_mean
from tailproof.refimpl.problems import (
    DataLaw,
    Exponential,
    FourthPowerRegression,
    Gaussian,
    GaussianFeatures,
    LinearLoss,
    LinearRegression,
    MeanEstimation,
    PowerGrowth,
    Problem,
    Shifted,
    StudentT,
    Symmetric,
    TwoPoint,
)
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.sweep_pure import PURE
from tailproof.verification.sweeps import Case, Explicit, Point, Values

DIAMETER = 2.0
FAILURE = 0.05


@dataclass(frozen=True)
class Instance:
    """A problem on a ball of radius 1, with what is publicly known of it (fields of `Facts`)."""

    problem: Problem
    loss: AnyLoss
    domain: Ball
    known: Mapping[str, Any]


Make: TypeAlias = Callable[[Values], Instance]
Letters: TypeAlias = Callable[[Facts], Mapping[str, float]]
Override: TypeAlias = Callable[[Values], dict[str, Any]]


def _unit_ball(dimension: int, center: float = 0.0) -> Ball:
    """Around a point at that distance from 0, on the first axis."""
    return Ball(center * np.eye(dimension)[0], DIAMETER / 2)


def mean_of(law: Callable[[float], DataLaw], values: Values) -> Instance:
    """½‖w − x‖², x with independent coordinates around a mean of norm ½.  On the ball |w_j| ≤ 1 and ‖w‖ ≤ 1."""
    d, v, k, p = int(values["d"]), values.get("v", 1.0), values.get("k", 2.0), values.get("p", 2.0)
    problem = MeanEstimation(law(0.5 / math.sqrt(d)), d)

    def coordinate(order: float) -> float:
        return max(problem.coordinate_moment(order, centre=side) for side in (-1.0, 1.0))

    known = {
        "coordinate_moment": coordinate(1 + v),
        "coordinate_order": 1 + v,
        "direction_moment": 1 + problem.direction_moment_upper(p) ** (1 / p),
        "direction_order": p,
        "norm_moment": 1 + problem.norm_moment_upper(2 * k) ** (1 / (2 * k)),
        "norm_order": k,
        "smoothness": 1.0,
        "strong_convexity": 1.0,
        "record_smoothness": 1.0,
        "mean_slope": 1.5,
    }
    return Instance(problem, Quadratic(np.eye(d)), _unit_ball(d), {name: x for name, x in known.items() if x < math.inf})


def student(df: float, scale: float = 1.0) -> Make:
    return partial(mean_of, lambda mean: StudentT(df, mean, scale))


def linear(values: Values) -> Instance:
    """⟨w, x⟩: of length ½, but one record in a hundred has ±√10 added.  Not curved, and the minimum is on the boundary."""
    d = int(values["d"])
    law = Shifted(Symmetric(TwoPoint.with_moment(probability=0.01, order=4, moment=1.0)), 0.5)
    problem = LinearLoss(law=law, direction=np.ones(d) / math.sqrt(d), diameter=DIAMETER)
    k, v = values.get("k", 2.0), values.get("v", 1.0)
    known = {
        "norm_moment": law.absolute_moment(2 * k) ** (1 / (2 * k)),
        "norm_order": k,
        "coordinate_moment": law.absolute_moment(1 + v) / d ** ((1 + v) / 2),
        "coordinate_order": 1 + v,
        "smoothness": 1.0,  # of an affine loss any: what the steps are made for
        "record_smoothness": 1.0,
        "lipschitz": 0.5 + 100**0.25,
    }
    return Instance(problem, parse_any_loss("affine"), _unit_ball(d), known)


def power_growth(values: Values) -> Instance:
    """−⟨w, x⟩ + ‖w‖^θ/θ, whose noise condition has this very θ; the middle of the ball is at distance ½ from the minimum."""
    d, theta, k = int(values["d"]), values["theta"], values.get("k", 2.0)
    law = Symmetric(TwoPoint.with_moment(probability=0.05, order=4, moment=1.0))
    problem = PowerGrowth(law, d, theta)
    far = 1.5 ** (theta - 1)  # the penalty's steepest slope on the ball
    known = {
        "norm_moment": MeanEstimation(law, d).norm_moment_upper(2 * k) ** (1 / (2 * k)) + far,
        "norm_order": k,
        "lipschitz": math.sqrt(d) * 20**0.25 + far,
        "record_smoothness": (theta - 1) * 1.5 ** (theta - 2),
        "smoothness": (theta - 1) * 1.5 ** (theta - 2),
        "theta": theta,
    }
    return Instance(problem, parse_any_loss(problem.loss_name), _unit_ball(d, 0.5), known)


def fourth_power(values: Values) -> Instance:
    """(⟨w, x⟩ − t)⁴ without noise, θ = 4: signs as features, one in twenty doubled."""
    d, k = int(values["d"]), values.get("k", 2.0)
    law = Symmetric(Shifted(TwoPoint(1.0, 0.05), 1.0))
    problem = FourthPowerRegression(law, 0.5 * np.eye(d)[0])
    longest = 2 * math.sqrt(d)
    residual = 1.5 * longest  # |⟨w − weights, x⟩| on the ball
    # ‖∇f‖ = 4|r|³‖x‖ ≤ 4·1.5³‖x‖⁴
    norm = 4 * 1.5**3 * MeanEstimation(law, d).norm_moment_upper(8 * k) ** (1 / (2 * k))
    known = {
        "norm_moment": norm,
        "norm_order": k,
        "lipschitz": 4 * residual**3 * longest,
        "record_smoothness": 12 * (residual * longest) ** 2,
        "smoothness": 12 * (residual * longest) ** 2,
        "theta": 4.0,
    }
    return Instance(problem, parse_any_loss("l4"), _unit_ball(d), known)


def sparse_regression(values: Values) -> Instance:
    """½(⟨w, x⟩ − t)², Gaussian features, heavy noise, s* weights of equal size and norm 1 in all.

    ∂_j = (⟨w − w*, x⟩ + ξ)x_j, so its norm of order 1 + v is at most √3‖w − w*‖ + ‖ξ‖·‖x_j‖, for ‖w − w*‖ ≤ 1.
    """
    d, s, v = int(values["d"]), int(values["s"]), values["v"]
    noise = StudentT(1.2 + v, 0.0, 0.5)
    weights = np.where(np.arange(d) < s, 1 / math.sqrt(s), 0.0)
    problem = LinearRegression(features=GaussianFeatures.isotropic(d), weights=weights, noise=noise)
    order = 1 + v
    product = (noise.absolute_moment(order) * Gaussian().absolute_moment(order)) ** (1 / order)
    known = {
        "coordinate_moment": (math.sqrt(3) + product) ** order,
        "coordinate_order": order,
        "smoothness": 1.0,
        "strong_convexity": 1.0,
        "sparsity": s,
    }
    return Instance(problem, parse_any_loss("squared"), _unit_ball(d), known)


# ----------------------------------------------------------------------------------------------------- what is run at a point


def _optimiser(make: Make, algorithm: str, kind: Kind, letters: Letters, override: Override, values: Values) -> Point:
    instance, claim = make(values), _claim(values)
    facts = Facts(
        records=int(values["n"]),
        dimension=int(values["d"]),
        diameter=DIAMETER,
        failure=values.get("xi", FAILURE),
        **claim,
        **instance.known,
    )
    parameters = {"loss": instance.loss, **claim, **preset(algorithm, facts, kind), **override(values)}
    start = math.inf  # P3.A5 has no set
    if algorithm != "P3.A5":
        parameters["domain"], start = instance.domain, instance.problem.excess_risk(instance.domain.center)
    known = {"D": DIAMETER, "eps": claim.get("epsilon", 1.0)}
    if "rho" in claim:
        known |= {"delta": 1e-6, "eps": math.sqrt(claim["rho"] * math.log(1e6))}
    known |= {name: value for name, value in values.items() if name not in ("rho", "share")}
    return Point(
        mechanism=optimiser(algorithm),
        sample=partial(instance.problem.sample, n=facts.records),
        parameters=parameters,
        excess=lambda output, _: instance.problem.excess_risk(output),
        start=start,
        letters={**known, **letters(facts)},
    )


def _claim(values: Values) -> dict[str, Any]:
    """ρ; or δ and a share of the largest ε that P0's shuffling allows; or ε and δ."""
    if "rho" in values:
        return {"rho": values["rho"]}
    if "share" in values:
        most = shuffled_epsilon(LOCAL_LIMIT, n=int(values["n"]), slack=values["delta"] / 2)
        return {"epsilon": values["share"] * most, "delta": values["delta"]}
    return {"epsilon": values["eps"], "delta": values["delta"]}


def _estimator(
    function: Mechanism,
    choose: Callable[[Values, float], dict[str, Any]],
    values: Values,
    upper: Callable[[Values, float, dict[str, Any]], Explicit | None] = lambda *_: None,
) -> Point:
    """A mean, from records of Student's law, with little more than the moment that is used, around a mean of norm ½; `choose` gets
    the moment bound, too."""
    n, d = int(values["n"]), int(values["d"])
    order = values["p"] if "p" in values else 1 + values["v"]
    problem = MeanEstimation(StudentT(order + (0.5 if "p" in values else 0.2), 0.5 / math.sqrt(d)), d)
    moment = problem.direction_moment_upper(order) ** (1 / order) if "p" in values else problem.coordinate_moment(order)
    chosen = choose(values, moment)
    letters = {"M" if "p" in values else "u": moment, **values}
    letters |= {letter: chosen[word] for letter, word in (("R", "clip"), ("tau", "truncation")) if word in chosen}

    def error(estimate: FloatArray, _: FloatArray) -> float:
        return float(np.linalg.norm(np.atleast_1d(estimate) - problem.minimiser()))

    return Point(function, partial(problem.sample, n=n), chosen, error, math.inf, letters, upper(values, moment, chosen))


def _clipping(values: Values, moment: float) -> dict[str, Any]:
    """P2's R for a mean: bias and noise of the same order."""
    n, d, p, rho = (values[name] for name in ("n", "d", "p", "rho"))
    return {"clip": moment * math.sqrt(d) * (n * math.sqrt(rho / d)) ** (1 / p), "rho": rho}


def _clipping_upper(values: Values, moment: float, chosen: dict[str, Any]) -> Explicit:
    """P2 Theorem 2 (14)."""
    n, d, p, beta = int(values["n"]), int(values["d"]), values["p"], values["xi"]
    return Explicit(clipped_mean_error_upper(n=n, d=d, p=p, moment=moment, beta=beta, **chosen), beta)


def _truncation_upper(values: Values, moment: float, _: dict[str, Any]) -> Explicit:
    """P3 Theorem 1 with the constant of its proof (10), which allows for 3ξ."""
    law = {"epsilon": values["eps"], "delta": values["delta"], "xi": values["xi"]}
    return Explicit(truncated_mean_error_upper(n=int(values["n"]), v=values["v"], moment=moment, **law), 3 * values["xi"])


def _medians_upper(values: Values, moment: float, chosen: dict[str, Any]) -> Explicit | None:
    """P3 Theorem 3 with the constants of its proof, (16) and (17), for ε < 1."""
    n, d, xi = int(values["n"]), int(values["d"]), values["xi"]
    if values["eps"] >= 1:
        return None
    law = {"epsilon": values["eps"], "delta": values["delta"], "xi": xi, "v": values["v"], "moment": moment}
    groups = number_of_groups(n, d, failure=xi)
    return Explicit(truncated_median_of_means_error_upper(n=n, d=d, clip=chosen["truncation"], groups=groups, **law), xi)


def _truncation(values: Values, moment: float) -> dict[str, Any]:
    claim = {"epsilon": values["eps"], "delta": values["delta"], "failure": values["xi"]}
    return {**claim, "moment_order": 1 + values["v"], "moment_bound": moment}


def _medians(values: Values, moment: float) -> dict[str, Any]:
    """τ as in Corollary 1: bias and noise of the same order."""
    tau = (moment * values["eps"] * values["n"] / math.sqrt(values["d"])) ** (1 / (1 + values["v"]))
    return {"epsilon": values["eps"], "delta": values["delta"], "failure": values["xi"], "truncation": tau}


def _updating(values: Values, moment: float) -> dict[str, Any]:
    """k = ⌈800 ln(1/β)⌉ groups as in Lemma 6, R as in Theorem 7."""
    radius = moment * math.sqrt(values["d"]) * (values["n"] * values["eps"] / math.sqrt(values["d"])) ** (1 / values["p"])
    groups = math.ceil(800 * math.log(1 / values["xi"]))
    return {"epsilon": values["eps"], "delta": values["delta"], "clip": radius, "groups": groups, "steps": 5}


# ------------------------------------------------------------------------------------------------------------------ the cases


def _no_letters(_: Facts) -> Mapping[str, float]:
    return {}


def _p0_letters(facts: Facts) -> Mapping[str, float]:
    theta = facts.theta or 2.0
    r = facts.need("norm_moment", "P0")
    return {"R2k": r, "r": r, "p": 1.0, "theta": theta, "lam": 1 / theta, "beta": facts.need("smoothness", "P0")}


def _p1_letters(facts: Facts) -> Mapping[str, float]:
    return {"beta": 1.0, "mu": 1.0, "D0": 1.0, "tau": 1.0, "V": facts.need("coordinate_moment", "P1"), "F": 1.0}


def _p3_letters(facts: Facts) -> Mapping[str, float]:
    return {"u": facts.need("coordinate_moment", "P3"), "mu": 1.0, "beta": 1.0, "R": 0.5}


def _nothing(_: Values) -> dict[str, Any]:
    return {}


def _blocks(values: Values) -> dict[str, Any]:
    """m = Θ̃(d²/ε²), with 30·log²(1/δ) for what Θ̃ hides: the smooth sensitivity is then that of the points, not of the set."""
    return {"blocks": math.ceil(30 * (values["d"] * math.log(1 / values["delta"]) / values["eps"]) ** 2)}


def _case(
    statement: str,
    algorithm: str,
    problem: str,
    make: Make,
    values: Values,
    grids: Mapping[str, tuple[float, ...]],
    letters: Letters = _no_letters,
    *,
    kind: Kind = "theory",
    override: Override = _nothing,
    **rest: Any,
) -> Case:
    at = partial(_optimiser, make, algorithm, kind, letters, override)
    return Case(statement, algorithm, problem, at, values, grids, preset=kind, **rest)


PHASE1 = "P0.Alg3.phase1: with λ₁ as published the first phase's noise grows with n and fills the set, and later phases stay there"
RADIUS = (
    "P0.Alg5.radius: the proof takes steps made for the unknown distance of a part's start from the minimum; these are not"
)
TRIM = "P1.(2): with m = O(1) records trimmed the noise does not fall with n"
START = "P2.Thm7.start: at these choices the estimator returns its start"
LOGARITHMS = "Õ hides logarithms that make the noise of a step thousands of times R, at n = 10¹² as well: it fills the set"

STEPS = "the number of steps rises with n, and at every n that can be run the noise of each is far longer than the weights"

_CENTRAL = {"d": 2.0, "rho": 1.0, "k": 4.0}
_EPSILON = {"eps": 1.0, "delta": 1e-8}
_SHUFFLED = {"n": 6e6, "d": 1.0, "k": 8.0, "delta": 1e-8, "share": 1.0}
_SMALL = (64.0, 96.0, 128.0, 192.0, 256.0)
_LARGE = (1e3, 3e3, 1e4, 3e4, 1e5)
_DIMENSIONS = (1.0, 2.0, 4.0, 8.0, 16.0)
_BUDGETS = (0.1, 0.2, 0.4, 0.7, 1.0)

CASES: tuple[Case, ...] = (
    # P0: the theory parameters are for hundreds of records, see `tailproof.refimpl.approx_dp.localised`.  What follows from Theorem
    # 1's proof is not below D (P0.Thm10.stepsize), so its printed rate is taken.
    _case(
        "P0.T1",
        "P0.A3",
        "linear losses",
        linear,
        {"n": 128.0, "d": 1.0, "rho": 10.0, "k": 2.0, "xi": 0.001},
        {"n": _SMALL},
        _p0_letters,
        reason=PHASE1,
        printed=True,
        runs=8,
    ),
    _case(
        "P0.T1",
        "P0.A3",
        "linear losses",
        linear,
        {"n": 1e4, **_CENTRAL, "xi": 1e-5},
        {"n": _LARGE, "d": _DIMENSIONS},
        _p0_letters,
        kind="tuned",
        printed=True,
    ),
    *(
        _case(
            statement,
            algorithm,
            f"−⟨w, x⟩ + ‖w‖^{theta:g}/{theta:g}",
            power_growth,
            {"n": 128.0, "d": 1.0, "rho": 10.0, "k": 2.0, "theta": theta, "xi": 0.001},
            {"n": _SMALL[:-1]},
            _p0_letters,
            reason=PHASE1 if algorithm == "P0.A4" else f"{PHASE1}; {RADIUS}",
            runs=6,
        )
        for statement, algorithm in (("P0.T2", "P0.A4"), ("P0.T3", "P0.A5"))
        for theta in (2.0, 4.0)
    ),
    *(
        _case(
            statement,
            algorithm,
            f"−⟨w, x⟩ + ‖w‖^{theta:g}/{theta:g}",
            power_growth,
            {"n": 1e4 if theta == 2 else 1e5, **_CENTRAL, "theta": theta, "xi": 1e-5},
            {"n": (3e3, 1e4, 3e4, 1e5, 3e5), **({"d": _DIMENSIONS[:4]} if theta == 2 else {"theta": (2.5, 3.0, 4.0)})},
            _p0_letters,
            kind="tuned",
            runs=30,
        )
        for statement, algorithm in (("P0.T2", "P0.A4"), ("P0.T3", "P0.A5"))
        for theta in (2.0, 4.0)
    ),
    *(
        _case(
            statement,
            algorithm,
            "ℓ4 regression",
            fourth_power,
            {"n": 1e5, **_CENTRAL, "d": 1.0, "theta": 4.0, "xi": 1e-5},
            {"n": (6e4, 1.2e5, 2.4e5, 4.8e5)},
            _p0_letters,
            kind="tuned",
            runs=20,
        )
        for statement, algorithm in (("P0.T2", "P0.A4"), ("P0.T3", "P0.A5"))
    ),
    _case("P0.T6", "P0.A6", "means", student(17.0), _SHUFFLED, {"n": (3e6, 6e6, 1.2e7, 2.4e7)}, _p0_letters, runs=12),
    _case(
        "P0.T7",
        "P0.A7",
        "−⟨w, x⟩ + ‖w‖^2/2",
        power_growth,
        {**_SHUFFLED, "theta": 2.0},
        {"n": (3e6, 6e6, 1.2e7, 2.4e7)},
        _p0_letters,
        reason=RADIUS,
        runs=12,
    ),
    # P1
    _case(
        "P1.T2",
        "P1.A1",
        "means",
        student(2.5, 0.3),
        {"n": 1e6, "d": 1.0, "eps": 3.0, "delta": 1e-4},
        {"n": (3e5, 1e6, 3e6, 1e7)},
        _p1_letters,
        override=_blocks,
    ),
    _case(
        "P1.T5",
        "P1.A3",
        "means",
        partial(mean_of, lambda mean: Shifted(Symmetric(Exponential()), mean)),
        {"n": 1e4, "d": 3.0, **_EPSILON},
        {"n": _LARGE},
        _p1_letters,
        reason=TRIM,
    ),
    _case(
        "P1.T5",
        "P1.A3",
        "means",
        partial(mean_of, lambda mean: Shifted(Symmetric(Exponential()), mean)),
        {"n": 1e4, "d": 3.0, **_EPSILON},
        {"n": _LARGE[1:], "d": _DIMENSIONS, "eps": _BUDGETS},
        _p1_letters,
        kind="tuned",
    ),
    _case(
        "P1.T7",
        "P1.A4",
        "means",
        student(2.5),
        {"n": 3e5, "d": 2.0, **_EPSILON, "xi": 0.01},
        {"n": (1e5, 2e5, 4e5, 8e5), "d": (1.0, 2.0, 3.0, 4.0), "eps": (0.4, 0.6, 0.8, 1.0)},
        _p1_letters,
    ),
    _case(
        "P1.T8",
        "P1.A4",
        "linear losses",
        linear,
        {"n": 1e4, "d": 3.0, **_EPSILON, "xi": 0.01},
        {"n": (3e3, 1e4, 3e4, 1e5), "d": _DIMENSIONS, "eps": _BUDGETS},
        _p1_letters,
        quick=(3e3, 1e4, 3e4),
    ),
    # P2
    Case(
        "P2.T2",
        "P2.A2",
        "means",
        partial(_estimator, simple_clipping_mean, _clipping, upper=_clipping_upper),
        {"n": 1e4, "d": 3.0, "rho": 0.5, "p": 3.0, "xi": 0.25},
        {"n": _LARGE, "d": _DIMENSIONS, "p": (2.0, 3.0, 4.0, 6.0)},
        quick=_LARGE[:4],
        quantile=0.75,
    ),
    *(
        _case(
            "P2.T4",
            "P2.A1",
            f"means, p = {p:g}",
            student(p + 0.5),
            {"n": largest / 2, "d": 3.0, **_EPSILON, "p": p},
            {
                "n": (largest / 16, largest / 8, largest / 4, largest / 2, largest),
                "d": (2.0, 3.0, 4.0, 5.0),
                "eps": (0.4, 0.6, 0.8, 1.0),
            },
            runs=30,
        )
        for p, largest in ((2.0, 3.2e4), (4.0, 8e3))  # steps are of order n^{2 − 2/p}
    ),
    Case(
        "P2.T5",
        "P2.A3",
        "means",
        partial(_estimator, iterative_updating_mean, _updating),
        {"n": 1e4, "d": 2.0, **_EPSILON, "eps": 0.3, "p": 2.0, "xi": 0.1},
        {"n": (4e3, 1e4, 3e4)},
        quantile=0.9,
        reason=START,
        runs=10,
    ),
    # P3
    Case(
        "P3.T1",
        "P3.A1",
        "means",
        partial(_estimator, truncated_mean, _truncation, upper=_truncation_upper),
        {"n": 1e4, "d": 1.0, **_EPSILON, "v": 0.5, "xi": 0.25},
        {"n": _LARGE[1:], "eps": _BUDGETS, "v": (0.25, 0.5, 0.75, 1.0)},
        quick=(3e3, 1e4, 3e4),
        quantile=0.75,
    ),
    Case(
        "P3.R1",
        "P3.A1",
        "means, v = 1",
        partial(_estimator, truncated_mean, _truncation, upper=_truncation_upper),
        {"n": 1e4, "d": 1.0, **_EPSILON, "v": 1.0, "xi": 0.25},
        {"n": _LARGE[1:], "eps": _BUDGETS},
        quantile=0.75,
        runs=100,
    ),
    Case(
        "P3.T3",
        "P3.A3",
        "means",
        partial(_estimator, truncated_median_of_means, _medians, upper=_medians_upper),
        {"n": 1e6, "d": 2.0, **_EPSILON, "v": 0.5, "xi": 0.25},
        {"n": (1e6, 2e6, 4e6, 8e6)},
        quantile=0.75,
        runs=20,
    ),
    _case(
        "P3.T6",
        "P3.A2",
        "linear losses",
        linear,
        {"n": 200.0, "d": 1.0, "eps": 1.0, "delta": 1e-4, "v": 1.0},
        {"n": (100.0, 200.0, 400.0)},
        _p3_letters,
        reason=LOGARITHMS,
        runs=10,
    ),
    _case(
        "P3.T7",
        "P3.A2",
        "means",
        student(2.5),
        {"n": 2e7, "d": 1.0, **_EPSILON, "v": 1.0},
        {"n": (1e7, 2e7, 4e7)},
        _p3_letters,
        runs=12,
    ),
    _case(
        "P3.T7",
        "P3.A2",
        "means",
        student(2.5),
        {"n": 3e4, "d": 2.0, **_EPSILON, "v": 1.0},
        {"n": (1e4, 3e4, 1e5, 3e5), "d": _DIMENSIONS[:4], "eps": (0.4, 0.6, 0.8, 1.0)},
        _p3_letters,
        kind="tuned",
    ),
    _case(
        "P3.T10",
        "P3.A5",
        "sparse regression",
        sparse_regression,
        {"n": 1e4, "d": 80.0, **_EPSILON, "v": 0.5, "s": 1.0, "xi": 0.05},
        {"n": (5e3, 1e4, 2e4)},
        _p3_letters,
        reason=STEPS,
        runs=6,
    ),
    _case(
        "P3.T10",
        "P3.A5",
        "sparse regression",
        sparse_regression,
        {"n": 2e4, "d": 2000.0, **_EPSILON, "v": 0.5, "s": 5.0, "xi": 0.05},
        {"n": (1e4, 2e4, 4e4), "s": (2.0, 3.0, 5.0, 8.0)},
        _p3_letters,
        kind="tuned",
        runs=12,
    ),
    # P4
    *PURE,
)

UNMEASURED = {"P2.T7": f"{START}; a run takes T of order nε/√d steps over 800 ln n groups"}
"""Theorems about an algorithm that no case runs, and why."""
