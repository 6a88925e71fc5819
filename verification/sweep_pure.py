"""What is swept of P4: distances from the regularised minimiser, and excess risks, of the pure-DP algorithms and ours.

A distance is from argmin F̂_λ of the data at hand, which for f(w, x) = ½‖w − x‖² on the unit ball is x̄/(1 + λ), projected: the
statements about solvers speak of it.  Heavy tails have k + ½ moments.  The weight λ is such that what is measured is far below the
radius of the ball.  Excess risks are of linear losses ⟨w, x⟩, whose minimum is on the boundary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np

from tailproof.bounds.papers.p4 import single_distance_upper
from tailproof.refimpl.channel import Mechanism
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import Affine, Quadratic
from tailproof.refimpl.problems import LinearLoss, MeanEstimation, Pareto, StudentT
from tailproof.refimpl.pure_dp import moment_choice
from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.exponential import exponential_mechanism, published_clip
from tailproof.refimpl.pure_dp.localised_exponential import localised_exponential
from tailproof.refimpl.pure_dp.nets import net
from tailproof.refimpl.pure_dp.objective import assumption_of, objective_perturbation, objective_plan
from tailproof.refimpl.pure_dp.plan import Plan, distance_upper, expectation_plan
from tailproof.refimpl.pure_dp.population import assumption_for, population_localization
from tailproof.refimpl.pure_dp.single import single_output_perturbation
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.sweeps import Case, Explicit, Point, Values

WEIGHT, KAPPA, MESH = 20.0, 0.1, 0.0005
FAILURE = 0.2
"""Of the bounds with explicit constants; the rates hold with constant probability."""

Numbers: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class _Means:
    """½‖w − x‖² on the unit ball, no record of which has a slope above ‖x‖ + 1."""

    values: Values

    @property
    def ball(self) -> Ball:
        return Ball(np.zeros(int(self.values["d"])), 1.0)

    @property
    def problem(self) -> MeanEstimation:
        return MeanEstimation(StudentT(self.values["k"] + 0.5), int(self.values["d"]))

    @property
    def moment(self) -> float:
        k = self.values["k"]
        return float(self.problem.norm_moment_upper(k) ** (1 / k) + 1)

    @property
    def clip(self) -> float:
        """C = G(nε/d)^{1/k}, as P4 prints it."""
        return float(self.moment * (self.values["n"] * self.values["eps"] / self.values["d"]) ** (1 / self.values["k"]))

    def distance(self, point: FloatArray, data: FloatArray) -> float:
        return float(np.linalg.norm(point - self.ball.project(data.mean(axis=0) / (1 + WEIGHT))))


Choose: TypeAlias = Callable[[_Means], tuple[Numbers, Numbers, Explicit | None]]
"""Parameters beyond the common ones, letters beyond the common ones, and the bound with its constants, if there is one."""


def _distance(mechanism: Mechanism, choose: Choose, values: Values) -> Point:
    means = _Means(values)
    ball = means.ball
    parameters, letters, explicit = choose(means)
    common = {"loss": Quadratic(np.eye(ball.dimension)), "domain": ball, "weight": WEIGHT, "epsilon": values["eps"]}
    return Point(
        mechanism=mechanism,
        sample=partial(means.problem.sample, n=int(values["n"])),
        parameters={**common, **parameters},
        excess=means.distance,
        start=1.0,
        letters={**values, "G": means.moment, "lam": WEIGHT, **letters},
        explicit=explicit,
    )


def _single(means: _Means) -> tuple[Numbers, Numbers, Explicit | None]:
    """A half of the failure is for Markov's inequality on the bias, a half for the noise."""
    v = means.values
    upper = single_distance_upper(
        n=int(v["n"]),
        dimension=int(v["d"]),
        moment_order=v["k"],
        moment_bound=means.moment,
        weight=WEIGHT,
        clip=means.clip,
        epsilon=v["eps"],
        failure=FAILURE / 2,
        bias_failure=FAILURE / 2,
        kappa=KAPPA,
    )
    return {"lipschitz": means.clip, "kappa": KAPPA}, {"C": means.clip, "xi": FAILURE}, Explicit(upper, FAILURE)


def _double(means: _Means) -> tuple[Numbers, Numbers, Explicit | None]:
    v = means.values
    assumption = assumption_for(means.ball, means.ball.center, moment_order=v["k"], moment_bound=means.moment)
    upper = distance_upper(
        assumption, size=int(v["n"]), lipschitz=means.clip, kappa=KAPPA, spend=PureDP(v["eps"]), solver="double"
    )
    return {"lipschitz": means.clip, "kappa": KAPPA}, {}, Explicit(upper / WEIGHT, 0.2)


def _localised(means: _Means) -> tuple[Numbers, Numbers, Explicit | None]:
    return {"lipschitz": means.clip}, {}, None


def _on_a_net(means: _Means) -> tuple[Numbers, Numbers, Explicit | None]:
    v, size = means.values, _net_size(int(means.values["d"]))
    law = {"epsilon": v["eps"], "moment_order": v["k"], "moment_bound": means.moment, "failure": FAILURE}
    clip = published_clip(int(v["n"]), net_size=size, **law)
    return {"lipschitz": clip, "smoothness": 1.0, "mesh": MESH}, {"B": math.log(size), "xi": FAILURE}, None


@cache
def _net_size(dimension: int) -> int:
    return len(net(Ball(np.zeros(dimension), 1.0), MESH))


# ------------------------------------------------------------------------------------------------------------- excess risks


def _linear(mechanism: Mechanism, plan_of: Callable[[Values, float], Any], values: Values) -> Point:
    """⟨w, x⟩, x of a fixed direction and Pareto's length with k + ½ moments; the plan has the least bound of the mean."""
    d, k = int(values["d"]), values["k"]
    law = Pareto(k + 0.5)
    problem, ball = LinearLoss(law=law, direction=np.ones(d) / math.sqrt(d), diameter=2.0), Ball(np.zeros(d), 1.0)
    moment = law.absolute_moment(k) ** (1 / k)
    plan = plan_of(values, moment)

    def risk(point: FloatArray, _: FloatArray) -> float:
        return problem.excess_risk(point)

    return Point(
        mechanism=mechanism,
        sample=partial(problem.sample, n=int(values["n"])),
        parameters={"loss": Affine(), "domain": ball, "epsilon": values["eps"], "plan": plan},
        excess=risk,
        start=problem.excess_risk(ball.center),
        letters={**values, "G": moment, "D": 2.0},
        explicit=Explicit(plan.bound, None, most=problem.excess_risk(-problem.minimiser())),
    )


def _phases(values: Values, moment: float) -> Plan:
    return _phases_of(int(values["n"]), int(values["d"]), values["eps"], values["k"], moment)


@cache  # a plan takes a second to find
def _phases_of(n: int, d: int, epsilon: float, k: float, moment: float) -> Plan:
    known = assumption_for(Ball(np.zeros(d), 1.0), np.zeros(d), moment_order=k, moment_bound=moment)
    return expectation_plan(known, size=n, epsilon=epsilon)


def _objective(values: Values, moment: float) -> Any:
    d = int(values["d"])
    known = assumption_of(Ball(np.zeros(d), 1.0), np.zeros(d), moment_order=values["k"], moment_bound=moment)
    return objective_plan(known, Affine(), size=int(values["n"]), epsilon=values["eps"])


# ------------------------------------------------------------------------------------------------------------ moment bounds


def _levels(values: Values) -> Point:
    """Records with k + ½ moments; measured is N(g)/n of the level that is chosen, the share of the records beyond it."""
    n, epsilon, k = int(values["n"]), values["eps"], values["k"]
    problem, grid = MeanEstimation(StudentT(k + 0.5), int(values["d"])), {"low": 0.01, "high": 1e4, "failure": FAILURE}
    levels = moment_choice.grid(low=0.01, high=1e4).size
    upper = moment_choice.level_share_upper(n, epsilon=epsilon, levels=levels, failure=FAILURE)

    def share(bound: FloatArray, data: FloatArray) -> float:
        level = float(bound) / upper ** (1 / k)
        return float((np.minimum(1.0, np.linalg.norm(data, axis=1) / level) ** k).mean())

    return Point(
        mechanism=moment_choice.private_moment_bound,
        sample=partial(problem.sample, n=n),
        parameters={"epsilon": epsilon, "moment_order": k, **grid},
        excess=share,
        start=1.0,
        letters={**values, "B": math.log(levels), "xi": FAILURE},
        explicit=Explicit(upper, FAILURE),
    )


# ------------------------------------------------------------------------------------------------------------------ the cases

_DEFAULTS = {"n": 1000.0, "d": 2.0, "eps": 1.0, "k": 2.0}
_SIZES = (100.0, 300.0, 1000.0, 3000.0)
_ORDERS = (2.0, 3.0, 4.0, 6.0)
_DIMENSIONS = (1.0, 2.0, 4.0, 8.0)
_BUDGETS = (0.1, 0.2, 0.5, 1.0)

PURE: tuple[Case, ...] = (
    *(
        Case(
            statement,
            "P4.S1",
            "distance",
            partial(_distance, single_output_perturbation, _single),
            _DEFAULTS,
            {"n": _SIZES, "d": _DIMENSIONS, "eps": _BUDGETS, "k": _ORDERS}
            if statement == "P4.OURS.single"
            else {"n": _SIZES},
            quantile=1 - FAILURE,
            runs=200,
        )
        for statement in ("P4.OURS.single", "P4.OURS.distance")
    ),
    Case(
        "P4.P3.2",
        "P4.A4",
        "distance",
        partial(_distance, double_output_perturbation, _double),
        _DEFAULTS,
        {"n": _SIZES, "d": _DIMENSIONS, "eps": _BUDGETS, "k": _ORDERS},
        quantile=1 - FAILURE,
        runs=200,
    ),
    Case(
        "P4.PF.5",
        "P4.A7",
        "distance",
        partial(_distance, localised_exponential, _localised),
        _DEFAULTS,
        {"n": _SIZES, "eps": _BUDGETS, "k": _ORDERS},
        quantile=1 - FAILURE,
        runs=200,
    ),
    Case(
        "P4.TE.1",
        "P4.A5",
        "distance",
        partial(_distance, exponential_mechanism, _on_a_net),
        {**_DEFAULTS, "d": 1.0},
        {"n": _SIZES, "eps": _BUDGETS, "k": _ORDERS},
        quantile=1 - FAILURE,
        runs=200,
    ),
    Case(
        "P4.OURS.bound",
        "P4.A1",
        "linear losses",
        partial(_linear, population_localization, _phases),
        _DEFAULTS,
        {"n": (300.0, 1000.0, 3000.0, 10000.0), "k": _ORDERS},
        runs=60,
    ),
    Case(
        "P4.OURS.objective",
        "P4.S2",
        "linear losses",
        partial(_linear, objective_perturbation, _objective),
        _DEFAULTS,
        {"n": (300.0, 1000.0, 3000.0, 10000.0), "eps": _BUDGETS, "k": _ORDERS},
        runs=60,
    ),
    Case(
        "P4.OURS.moment",
        "P4.S3",
        "shares",
        _levels,
        {**_DEFAULTS, "n": 10000.0},
        {"n": (1000.0, 3000.0, 10000.0, 30000.0), "eps": _BUDGETS},
        quantile=1 - FAILURE,
        runs=100,
    ),
)
