"""Measured errors against explicit-constant bounds that are published with a failure probability: true inequalities.

Each case draws fresh heavy-tailed data whose moments are known exactly, runs the algorithm, and counts how often its error (or
its excess risk, or its distance from a minimiser in closed form) exceeds the bound.  More failures than the stated probability
allows, beyond what chance explains at `FALSE_ALARM`, is a violation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from tailproof.bounds import explicit
from tailproof.refimpl.channel import Mechanism, run
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import Quadratic, parse_loss
from tailproof.refimpl.means.median_of_means import number_of_groups
from tailproof.refimpl.problems import DataLaw, LinearLoss, MeanEstimation, Pareto, StudentT, Symmetric, TwoPoint
from tailproof.refimpl.pure_dp import localised_exponential, moment_choice
from tailproof.refimpl.pure_dp.exponential import distance_upper as near_upper
from tailproof.refimpl.pure_dp.nets import net
from tailproof.refimpl.pure_dp.objective import assumption_of, objective_plan
from tailproof.refimpl.pure_dp.plan import Solver, best_clip, distance_upper
from tailproof.refimpl.pure_dp.population import assumption_for, plan_for
from tailproof.refimpl.pure_dp.single import gradient_bias
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.pair_checks import Measurement

FALSE_ALARM = 1e-9
"""Probability with which one check here calls a true bound exceeded."""


@dataclass(frozen=True)
class Case:
    """How data are drawn, the parameters, the error of an output on its data; the bound holds with probability 1 − failure."""

    name: str
    sample: Callable[[np.random.Generator], FloatArray]
    parameters: dict[str, Any]
    error: Callable[[FloatArray, FloatArray], float]
    bound: float
    failure: float


def _mean_case(law: DataLaw, n: int, d: int, parameters: dict[str, Any], bound: float, failure: float) -> Case:
    problem = MeanEstimation(law, d)

    def error(estimate: FloatArray, _: FloatArray) -> float:
        return float(np.linalg.norm(np.atleast_1d(estimate) - problem.minimiser()))

    return Case(f"{law}, n = {n}", lambda rng: problem.sample(rng, n), parameters, error, bound, failure)


def _p2_a2() -> list[Case]:
    """P2 Theorem 2 (14)."""
    cases = []
    laws: list[tuple[DataLaw, float]] = [
        (StudentT(3.5), 3.0),
        (Symmetric(Pareto(2.2)), 2.0),
        (TwoPoint.with_moment(probability=0.01, order=2, moment=1), 2.0),
    ]
    for law, p in laws:
        n, d, clip, rho, beta = 400, 2, 6.0, 0.5, 0.1
        moment = MeanEstimation(law, d).direction_moment_upper(p) ** (1 / p)
        bound = explicit.clipped_mean_error_upper(n=n, d=d, p=p, moment=moment, clip=clip, rho=rho, beta=beta)
        cases.append(_mean_case(law, n, d, {"clip": clip, "rho": rho}, bound, beta))
    return cases


def _p3_a1() -> list[Case]:
    """P3 Theorem 1 with the constant 9 of its proof (10); the proof's failure probability is 3ξ."""
    cases = []
    n, xi, epsilon, delta = 400, 0.05, 0.8, 1e-3
    for law, v in (
        (StudentT(1.8), 0.5),
        (Symmetric(Pareto(1.4)), 0.3),
        (TwoPoint.with_moment(probability=0.01, order=1.5, moment=1), 0.5),
    ):
        u = law.absolute_moment(1 + v)
        bound = explicit.truncated_mean_error_upper(n=n, v=v, moment=u, epsilon=epsilon, delta=delta, xi=xi)
        parameters = {"epsilon": epsilon, "delta": delta, "failure": xi, "moment_order": 1 + v, "moment_bound": u}
        cases.append(_mean_case(law, n, 1, parameters, bound, 3 * xi))
    return cases


def _p3_a3() -> list[Case]:
    """P3 Theorem 3 with the constants of its proof, (16) and (17)."""
    cases = []
    d, xi, epsilon, delta, tau = 2, 0.1, 0.8, 1e-3, 10.0
    n = 50 * number_of_groups(10**6, d, failure=xi)
    for law, v in ((StudentT(1.8), 0.5), (Symmetric(Pareto(2.2)), 1.0)):
        u, groups = law.absolute_moment(1 + v), number_of_groups(n, d, failure=xi)
        bound = explicit.truncated_median_of_means_error_upper(
            n=n, d=d, v=v, moment=u, clip=tau, groups=groups, epsilon=epsilon, delta=delta, xi=xi
        )
        cases.append(
            _mean_case(law, n, d, {"epsilon": epsilon, "delta": delta, "failure": xi, "truncation": tau}, bound, xi)
        )
    return cases


def _p4_near(solver: Solver) -> list[Case]:
    """`plan.distance_upper`: the distance from u* = argmin_W F̂_λ, with probability 0.8.  With f(w, x) = ½‖w − x‖² on the unit ball
    u* is x̄/(1 + λ), projected, and no record's slope is more than ‖x‖ + 1."""
    cases = []
    n, d, weight, kappa, spend = 20, 2, 20.0, 0.1, PureDP(8.0)
    domain = Ball(np.zeros(d), 1.0)
    for law, k in ((StudentT(2.5), 2.0), (Symmetric(Pareto(4.5)), 4.0))[-1 if solver == "double" else 0 :]:
        problem = MeanEstimation(law, d)
        moment = problem.norm_moment_upper(k) ** (1 / k) + 1
        assumption = assumption_for(domain, np.zeros(d), moment_order=k, moment_bound=moment)
        clip = best_clip(assumption, size=n, kappa=kappa, spend=spend, solver=solver)
        near = distance_upper(assumption, size=n, lipschitz=clip, kappa=kappa, spend=spend, solver=solver) / weight
        parameters = {"loss": Quadratic(np.eye(d)), "domain": domain, "epsilon": spend.epsilon}
        parameters |= {"weight": weight, "lipschitz": clip, "kappa": kappa}

        def error(point: FloatArray, data: FloatArray) -> float:
            return float(np.linalg.norm(point - domain.project(data.mean(axis=0) / (1 + weight))))

        cases.append(Case(f"{law}, n = {n}", partial(problem.sample, n=n), parameters, error, near, 0.2))
    return cases


@cache  # the plan takes a second to find
def _p4_a1() -> list[Case]:
    """The explicit bound of the expectation, by Markov's inequality, or that of the repeated phases, whichever is less."""
    failure, epsilon, n = 0.25, 4.0, 300
    problem = LinearLoss(law=Pareto(2.5), direction=np.array([0.6, 0.8]), diameter=2.0)
    domain = Ball(np.zeros(2), 1.0)
    assumption = assumption_for(domain, np.zeros(2), moment_order=2.0, moment_bound=math.sqrt(5))
    plan = plan_for(assumption, size=n, epsilon=epsilon, failure=failure)
    parameters = {"loss": "affine", "domain": domain, "epsilon": epsilon, "plan": plan}

    def error(point: FloatArray, _: FloatArray) -> float:
        return problem.excess_risk(point)

    return [
        Case(f"linear losses, {problem.law}, n = {n}", partial(problem.sample, n=n), parameters, error, plan.bound, failure)
    ]


def _p4_s2() -> list[Case]:
    """The explicit bound of the expectation, by Markov's inequality.  Absolute loss on the line: t = x·w° + ξ, ξ ~ Lap(1), x = ±ρ
    and ρ two-valued, so that the excess risk is E g(ρ|w − w°|) with g(a) = a + e^{−a} − 1; and linear losses."""
    failure, epsilon, n = 0.25, 4.0, 4000
    sizes, chances, truth = np.array([1.0, 20.0]), np.array([0.99, 0.01]), 0.8
    domain = Ball(np.zeros(1), 1.0)

    def draw(rng: np.random.Generator) -> FloatArray:
        x = rng.choice(sizes, size=n, p=chances) * rng.choice([-1.0, 1.0], size=n)
        return np.column_stack([x, truth * x + rng.laplace(size=n)])

    def risk(point: FloatArray, _: FloatArray) -> float:
        away = sizes * abs(float(point[0]) - truth)
        return float(chances @ (away + np.expm1(-away)))

    linear = LinearLoss(law=Pareto(2.5), direction=np.array([0.6, 0.8]), diameter=2.0)
    moments = {"absolute": float(np.sqrt(chances @ sizes**2)), "affine": math.sqrt(5)}
    samples: dict[str, Callable[[np.random.Generator], FloatArray]] = {
        "absolute": draw,
        "affine": partial(linear.sample, n=n),
    }
    errors = {"absolute": risk, "affine": lambda point, _: linear.excess_risk(point)}
    cases = []
    for loss, region in (("absolute", domain), ("affine", Ball(np.zeros(2), 1.0))):
        known = assumption_of(region, region.center, moment_order=2.0, moment_bound=moments[loss])
        plan = objective_plan(known, parse_loss(loss), size=n, epsilon=epsilon)
        parameters = {"loss": loss, "domain": region, "epsilon": epsilon, "plan": plan}
        cases.append(Case(f"{loss} loss, n = {n}", samples[loss], parameters, errors[loss], plan.bound / failure, failure))
    return cases


def _p4_a5() -> list[Case]:
    """`exponential.distance_upper`, as a multiple of it, for every data set; of kinks smoothed by σ, u* is the minimiser then.
    ½‖w − x‖² on the unit ball: u* is x̄/(1 + λ), projected.  |w − t| on [−1, 1]: u* is found by bisection."""
    failure, cases = 0.2, []
    common = {"weight": 1.0, "lipschitz": 2.0, "smoothness": 1.0, "epsilon": 8.0}
    d, n = 2, 60
    ball, problem = Ball(np.zeros(d), 1.0), MeanEstimation(StudentT(2.5), d)
    size = len(net(ball, 0.05))

    def means(point: FloatArray, data: FloatArray) -> float:
        best = ball.project(data.mean(axis=0) / 2)
        upper = near_upper(
            Quadratic(np.eye(d)).lipschitz_upper(data, ball), net_size=size, mesh=0.05, failure=failure, **common
        )
        return float(np.linalg.norm(point - best)) / upper

    parameters = {"loss": Quadratic(np.eye(d)), "domain": ball, "mesh": 0.05, **common}
    cases.append(Case(f"means, n = {n}", partial(problem.sample, n=n), parameters, means, 1.0, failure))
    line, sigma = Ball(np.zeros(1), 1.0), 0.2
    points = len(net(line, 0.01))

    def draw(rng: np.random.Generator) -> FloatArray:
        return np.column_stack([np.ones(n), 0.5 + rng.standard_t(1.5, size=n)])

    def medians(point: FloatArray, data: FloatArray) -> float:
        """E|w + 0.2·U − t| has the slope of the median of w − t, smoothed; with λw it is increasing."""

        def slope(w: float) -> float:
            return float(np.clip((w - data[:, 1]) / sigma, -1, 1).mean() + w)

        best = brentq(slope, -1.0, 1.0)
        upper = near_upper(np.ones(n), net_size=points, mesh=0.01, failure=failure, **{**common, "smoothness": 1 / sigma})
        return float(abs(point[0] - best)) / upper

    smooth = {"loss": "absolute", "domain": line, "mesh": 0.01, **common, "smoothness": 1 / sigma, "smoothing": sigma}
    cases.append(Case(f"medians, smoothed, n = {n}", draw, smooth, medians, 1.0, failure))
    return cases


def _p4_a7() -> list[Case]:
    """`localised_exponential.distance_upper` plus the clip's bias, as a multiple of both, for every data set: ½‖w − x‖² on the unit
    ball, where u* is x̄/(1 + λ), projected.  Exact draws; the bound fails where localisation does, or for one draw in twenty."""
    d, n = 2, 25
    ball, problem = Ball(np.zeros(d), 1.0), MeanEstimation(StudentT(2.5), d)
    common = {"weight": 20.0, "lipschitz": 4.0, "epsilon": 8.0}
    near = localised_exponential.distance_upper(n, dimension=d, **common)

    def means(point: FloatArray, data: FloatArray) -> float:
        best = ball.project(data.mean(axis=0) / (1 + common["weight"]))
        steep = Quadratic(np.eye(d)).lipschitz_upper(data, ball)
        bias = gradient_bias(steep, lipschitz=common["lipschitz"]) / common["weight"]
        return float(np.linalg.norm(point - best)) / (near + bias)

    parameters = {"loss": Quadratic(np.eye(d)), "domain": ball, **common}
    return [Case(f"means, n = {n}", partial(problem.sample, n=n), parameters, means, 1.0, 0.1)]


def _p4_s3() -> list[Case]:
    """[P4.S3] (a) for every data set: N(g), as a multiple of 3r; (c) for draws: Ĝ as a multiple of b·12^{1/k}·G."""
    cases = []
    for n, epsilon, order, df in ((400, 0.5, 2.0, 2.5), (150, 2.0, 3.0, 3.5)):
        problem, failure = MeanEstimation(StudentT(df), 2), 0.1
        levels = moment_choice.grid(low=0.01, high=1000.0)
        parameters = {"epsilon": epsilon, "moment_order": order, "low": 0.01, "high": 1000.0, "failure": failure}
        slack = moment_choice.slack_of(levels.size, epsilon=epsilon, failure=failure)
        moment = problem.norm_moment_upper(order) ** (1 / order)
        most = moment_choice.RATIO * 12 ** (1 / order) * moment

        def counted(bound: FloatArray, data: FloatArray, slack: float = slack, k: float = order) -> float:
            cut = float(bound) / (3 * slack / len(data)) ** (1 / k)
            count = float((np.minimum(1.0, np.linalg.norm(data, axis=1) / cut) ** k).sum())
            return count / (3 * slack)

        def drawn(bound: FloatArray, _: FloatArray, most: float = most) -> float:
            return float(bound) / most

        sample = partial(problem.sample, n=n)
        cases.append(Case(f"counts, n = {n}", sample, parameters, counted, 1 + 1e-9, failure))
        cases.append(Case(f"draws, n = {n}", sample, parameters, drawn, 1.0, 2 * failure))
    return cases


BOUNDS: dict[str, Callable[[], list[Case]]] = {
    "P2.A2": _p2_a2,
    "P3.A1": _p3_a1,
    "P3.A3": _p3_a3,
    "P4.S1": partial(_p4_near, "single"),
    "P4.A4": partial(_p4_near, "double"),
    "P4.A1": _p4_a1,
    "P4.A5": _p4_a5,
    "P4.A7": _p4_a7,
    "P4.S2": _p4_s2,
    "P4.S3": _p4_s3,
}


def check_utility(identifier: str, mechanism: Mechanism, seed: int, *, runs: int) -> Measurement:
    """The share of runs beyond the bound, against the largest share that chance explains; the worst case of all.

    Once so many runs are beyond it that the others cannot change the verdict, they are left out.
    """
    cases = BOUNDS[identifier]()
    found = []
    for index, case in enumerate(cases):
        rng = np.random.default_rng([seed, index])
        explained = float(binom.isf(FALSE_ALARM / len(cases), runs, case.failure))
        errors: list[float] = []
        failures = 0
        while len(errors) < runs and failures <= explained:
            errors.append(_error(mechanism, case, rng))
            failures += not errors[-1] <= case.bound  # a NaN is beyond every bound
        detail = (
            f"{case.name}: share of errors beyond {case.bound:.3g} (allowed {case.failure:g}), "
            f"median {np.median(errors):.3g}, {len(errors)} of {runs} runs"
        )
        found.append(Measurement(failures / runs, explained / runs, detail))
        if found[-1].exceeds:
            break
    return max(found, key=lambda measurement: measurement.ratio)


def _error(mechanism: Mechanism, case: Case, rng: np.random.Generator) -> float:
    data = case.sample(rng)
    output, _ = run(mechanism, data, rng, **case.parameters)
    return case.error(output, data)
