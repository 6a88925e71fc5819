"""The methods that the papers compare, with the parameters they take at a point of a sweep: functions of public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from tailproof.refimpl.approx_dp import accelerated, localised, repaired, robust_descent, sgd, soft_descent, trimmed_descent
from tailproof.refimpl.channel import Channel, Mechanism
from tailproof.refimpl.claims import zcdp_epsilon
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import Loss
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.experiments.problems import Problem

Numbers: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """Of a sweep over `sweep`."""

    sweep: str
    n: int
    d: int
    epsilon: float
    delta: float

    @property
    def at(self) -> float:
        return float({"n": self.n, "d": self.d, "epsilon": self.epsilon}[self.sweep])


@dataclass(frozen=True)
class Method:
    """`choose` gives what the mechanism takes besides records, loss and domain; it refuses a point by `InputError`."""

    name: str
    text: str
    mechanism: Mechanism
    choose: Callable[[Point, Problem], Numbers]
    private: bool = True
    sweeps: tuple[str, ...] = ("n", "epsilon", "d")
    tunable: bool = False


# ----------------------------------------------------------------------------------------------------------- without privacy

MOST_STEPS, ACCURACY = 500, 1e-6


def stay(_data: ArrayLike, _channel: Channel, *, loss: Loss, domain: Domain) -> FloatArray:  # noqa: ARG001
    return domain.interior_point()


def minimise(data: ArrayLike, _channel: Channel, *, loss: Loss, domain: Domain) -> FloatArray:
    """Of the empirical risk: accelerated projected steps whose length is found by trying, restarted where momentum leads astray."""
    rows, point = np.asarray(data), domain.interior_point()
    ahead, momentum, curvature, short = point, 1.0, 1.0, ACCURACY * domain.diameter_upper()
    for _ in range(MOST_STEPS):
        slope, value = loss.mean_gradient(ahead, rows), loss.mean_value(ahead, rows)
        while True:
            new = domain.project(ahead - slope / curvature)
            step = new - ahead
            reached = loss.mean_value(new, rows)
            if reached <= value + slope @ step + curvature / 2 * (step @ step) + 1e-12 * (1 + abs(value)):
                break
            curvature *= 2
        if step @ (new - point) < 0:
            momentum = 1.0
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / following * (new - point)
        point, momentum, curvature = new, following, curvature * 0.9
        if math.sqrt(step @ step) <= short:
            break
    return point


def robust(data: ArrayLike, _channel: Channel, *, loss: Loss, domain: Domain, **given: Any) -> FloatArray:
    return robust_descent.robust_gradient_descent(data, loss=loss, domain=domain, **given)


def _nothing(_point: Point, _problem: Problem) -> Numbers:
    return {}


START = Method("start", "the middle of W: what costs no privacy", stay, _nothing, private=False)
MINIMUM = Method("no privacy", "the minimiser of the empirical risk", minimise, _nothing, private=False)


# ------------------------------------------------------------------------------------------------------------------------- P0


def rho_for(epsilon: float, delta: float) -> float:
    """The largest ρ for which ρ-zCDP implies (ε, δ), up to rounding and on the safe side."""
    log_rho = brentq(lambda x: zcdp_epsilon(math.exp(x), delta) - epsilon, -60.0, math.log(epsilon) + 3, xtol=1e-12)
    return math.exp(log_rho) * (1 - 1e-9)


def _zcdp(point: Point) -> Numbers:
    return {"rho": rho_for(point.epsilon, point.delta)}


def _approx(point: Point) -> Numbers:
    return {"epsilon": point.epsilon, "delta": point.delta}


def _phases(point: Point, problem: Problem, spend: Numbers) -> tuple[localised.Phase, ...]:
    law = problem.law
    known: Numbers = {"moment_bound": law.moment, "moment_order": law.order, "smoothness": law.record_smoothness}
    known |= {"dimension": point.d, "diameter": problem.diameter, "steps": problem.steps}
    return localised.tuned_phases(point.n, **known, **spend)


def _lnc(point: Point, problem: Problem) -> Numbers:
    localised.privacy(**_approx(point))
    phases = _phases(point, problem, _approx(point))
    return {"phases": phases, "smoothness": problem.law.record_smoothness, **_approx(point)}


def _lnc_zcdp(point: Point, problem: Problem) -> Numbers:
    return {"phases": _phases(point, problem, _zcdp(point)), "smoothness": problem.law.record_smoothness, **_zcdp(point)}


def _repaired(point: Point, problem: Problem) -> Numbers:
    if problem.law.moment < problem.law.lipschitz < math.inf and point.d > 30:
        raise InputError("its clipping could be active: a certified minimum takes minutes in so many dimensions")
    return {"phases": _phases(point, problem, _zcdp(point)), **_zcdp(point)}


def _accelerated(noise: str) -> Callable[[Point, Problem], Numbers]:
    def choose(point: Point, problem: Problem) -> Numbers:
        law, spend = problem.law, _zcdp(point) if noise == "central" else _approx(point)
        known: Numbers = {"moment_bound": law.moment, "moment_order": law.order, "smoothness": law.smoothness}
        known |= {"dimension": point.d, "diameter": problem.diameter, "noise": noise}
        return accelerated.published_parameters(point.n, **known, **spend) | spend

    return choose


def _sgd(point: Point, problem: Problem) -> Numbers:
    known: Numbers = {"dimension": point.d, "diameter": problem.diameter, "moment_bound": problem.law.moment}
    return sgd.tuned_parameters(point.n, **known, **_approx(point)) | _approx(point)


SGD = Method("DP-SGD", "P0.B, by an accountant of Rényi divergences", sgd.dp_sgd, _sgd, tunable=True)

P0 = (
    START,
    MINIMUM,
    SGD,
    Method("LNC-GM", "P0.A3 as published, for ε ≤ √log(1/δ)", localised.lnc_gm, _lnc),
    Method("LNC-GM zCDP", "P0.A3 by Remark 5, at the ρ that implies (ε, δ)", localised.lnc_gm, _lnc_zcdp, tunable=True),
    Method("PNCA-SGD shuffled", "P0.A6 as published, for small ε", accelerated.pnca_sgd, _accelerated("record")),
    Method(
        "PNCA-SGD central",
        "P0.A6 with noise that needs no shuffling, at the ρ that implies (ε, δ)",
        accelerated.pnca_sgd,
        _accelerated("central"),
        tunable=True,
    ),
    Method("P0.R3", "LNC-GM repaired (ours), at the ρ that implies (ε, δ)", repaired.localised_extension, _repaired),
)

MOMENT_SCALES, LENGTH_SCALES = (1.0, 0.3, 0.1, 0.02), (1.0, 5.0)
"""What --hindsight tries: multiples of r̃, which sets the clips, and of the diameter, which sets steps and regularisation."""


HINDSIGHT = ", hindsight"


def variants(method: Method) -> list[Method]:
    """The method with r̃ and the diameter multiplied: the same privacy, if the choice did not depend on the data."""
    return [_scaled(method, moment, length) for moment in MOMENT_SCALES for length in LENGTH_SCALES]


def _scaled(method: Method, moment: float, length: float) -> Method:
    def choose(point: Point, problem: Problem) -> Numbers:
        law = replace(problem.law, moment=problem.law.moment * moment)
        return method.choose(point, replace(problem, law=law, diameter=problem.diameter * length))

    return replace(method, name=method.name + HINDSIGHT, choose=choose)


# ------------------------------------------------------------------------------------------------------------------------- P1

STEPS_PER_LOG = 2.0


def steps(n: int) -> int:
    """T = ⌈2·log n⌉: Appendix C does not print it; Theorem 7 has O((β/α)·log n)."""
    return math.ceil(STEPS_PER_LOG * math.log(n))


def _interval(problem: Problem) -> Numbers:
    return {"lower": -problem.law.mean_slope, "upper": problem.law.mean_slope}


def _trimmed(point: Point, problem: Problem) -> Numbers:
    printed = trimmed_descent.experiment_parameters(point.n)
    return {**printed, "steps": steps(point.n), **_interval(problem), **_approx(point)}


def _soft(sampling: str) -> Callable[[Point, Problem], Numbers]:
    def choose(point: Point, _problem: Problem) -> Numbers:
        return {**soft_descent.experiment_parameters(sampling=sampling), "steps": steps(point.n), **_approx(point)}

    return choose


def _trimmed_tuned(point: Point, problem: Problem) -> Numbers:
    chosen = trimmed_descent.tuned_parameters(point.n, curvature_upper=problem.law.smoothness)
    return {**chosen, **_interval(problem), **_approx(point)}


def _soft_tuned(point: Point, problem: Problem) -> Numbers:
    known: Numbers = {"curvature_upper": problem.law.smoothness, "second_moment": problem.law.second_moment}
    return soft_descent.tuned_parameters(point.n, point.d, **known, **_approx(point)) | _approx(point)


def _robust(point: Point, _problem: Problem) -> Numbers:
    return {"steps": steps(point.n), "step_size": 0.1, "trim": max(1, point.n // 20)}


_BUT_D = ("n", "epsilon")

P1 = (
    START,
    MINIMUM,
    Method("RGD", "robust gradient descent, without privacy (m = 0.05n, η = 0.1)", robust, _robust, private=False),
    Method(
        "Alg. 4 stochastic",
        "P1.A4 on disjoint batches, as published",
        soft_descent.soft_truncation_descent,
        _soft("disjoint"),
    ),
    Method("Alg. 4", "P1.A4, as published", soft_descent.soft_truncation_descent, _soft("full"), sweeps=_BUT_D),
    Method("Alg. 3", "P1.A3, as published", trimmed_descent.trimmed_mean_descent, _trimmed, sweeps=_BUT_D),
    Method("Alg. 4 tuned", "P1.A4, tuned", soft_descent.soft_truncation_descent, _soft_tuned, sweeps=_BUT_D),
    Method("Alg. 3 tuned", "P1.A3, tuned", trimmed_descent.trimmed_mean_descent, _trimmed_tuned, sweeps=_BUT_D),
)
