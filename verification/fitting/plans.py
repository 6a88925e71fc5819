"""What is known of a run before it: the plan, the accuracy, the noise and the bound, from public numbers alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tailproof.refimpl.claims import ApproxDP, PureDP
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.extension.certified import accuracy_for
from tailproof.refimpl.losses import Loss
from tailproof.refimpl.pure_dp.localised_exponential import distance_upper, temperature_upper
from tailproof.refimpl.pure_dp.moment_choice import grid, slack_of, split, steepness_upper
from tailproof.refimpl.pure_dp.objective import (
    ObjectivePlan,
    accuracy_of,
    curvature_of,
    idle_warning,
    objective_plan,
    tilt_scale,
)
from tailproof.refimpl.pure_dp.perturbation import KAPPA, halved, noise_square_mean
from tailproof.refimpl.pure_dp.plan import Assumption, Phase, Plan
from tailproof.refimpl.pure_dp.population import assumption_for, plan_for
from tailproof.refimpl.pure_dp.straight import straighten
from tailproof.refimpl.pure_dp.tempered import admissible
from tailproof.refimpl.validation import FloatArray, InputError, choice, probability, whole
from tailproof.verification.facts import described
from tailproof.verification.fitting.optimisers import BOUND_PARAMETERS, BUDGET, Task
from tailproof.verification.report import number
from tailproof.verification.shown import Shown, Table


def plan_of(task: Task) -> Plan | ObjectivePlan | None:
    """Of an optimiser that makes one."""
    if not task.optimiser.plans or task.chooses_bound:
        return None
    return _objective_plan(task) if task.identifier == "P4.S2" else _plan(task)


def lines_before(task: Task, plan: Plan | ObjectivePlan | None) -> list[Shown]:
    """What is said of the run before it; the parameters of optimisers without a plan are checked on the way."""
    if task.chooses_bound:
        return _bound_lines(task)
    if plan is not None:
        return _plan_lines(task, plan) if isinstance(plan, Plan) else _objective_lines(task, plan)
    return _parameter_lines(task) if task.optimiser.descends else [*_noise_lines(task)]


def _levels_of(task: Task) -> tuple[FloatArray, float, PureDP]:
    """The grid of a private moment bound, its r, and what it spends."""
    given = BOUND_PARAMETERS | task.parameters
    levels = grid(low=given["moment_low"], high=given["moment_high"])
    first, _ = split(given["epsilon"], given["moment_share"])
    return levels, slack_of(levels.size, epsilon=first.epsilon, failure=given["moment_failure"]), first


def _bound_lines(task: Task) -> list[Shown]:
    if task.parameters.get("epsilon") is None:
        raise InputError("moment_bound = 'private': needs epsilon, for its part is pure")
    levels, slack, first = _levels_of(task)
    if len(task.rows) < 3 * slack:
        raise InputError(
            f"moment_bound = 'private': needs {math.ceil(3 * slack)} records at {first}; there are {len(task.rows)}"
        )
    plan_of(task.with_bound(1.0))  # refuses what every bound's plan would refuse
    given = BOUND_PARAMETERS | task.parameters
    return [
        f"moment bound: chosen from {levels.size} levels between {levels[0]:.3g} and {levels[-1]:.3g}; it spends {first}",
        f"  with probability at least {1 - given['moment_failure']:g} no more than {3 * slack:.0f} records are beyond the level",
        "plan: made when the moment bound is released, from that and from public numbers",
    ]


def released_bound(task: Task, index: int) -> float:
    """Ĝ of the level that was released."""
    levels, slack, _ = _levels_of(task)
    return float(levels[index] * (3 * slack / len(task.rows)) ** (1 / task.parameters["moment_order"]))


def _parameter_lines(task: Task) -> list[Shown]:
    """All of a descent's parameters; what its ρ means in terms of (ε, δ)."""
    given = {name: value for name, value in task.parameters.items() if name not in BUDGET and name != "domain"}
    budgets = {name: task.parameters[name] for name in ("epsilon", "delta")}
    implied = [] if isinstance(task.claim, ApproxDP) else [f"  it implies {ApproxDP(**budgets)}"]
    source = "as given" if task.preset is None else f"the {task.preset} preset, from public numbers alone"
    return [*implied, f"parameters: {source}", *described(given)]


def _plan(task: Task) -> Plan:
    """The plan of P4.A1."""
    task.problem(weight=1.0, lipschitz=1.0, kappa=1.0)  # refuses what every phase would refuse
    given = {name: task.parameters[name] for name in ("epsilon", "rho", "failure", "preset") if name in task.parameters}
    return plan_for(_assumption(task), size=len(task.rows), **given)


def _objective_plan(task: Task) -> ObjectivePlan:
    """The plan of P4.S2."""
    task.problem(weight=1.0, lipschitz=1.0, kappa=1.0)  # refuses what does not fit together
    straighten(task.region)  # refuses other sets
    preset = task.parameters.get("preset", "theory")
    return objective_plan(
        _assumption(task), task.loss, size=len(task.rows), epsilon=task.parameters["epsilon"], preset=preset
    )


def _objective_lines(task: Task, plan: ObjectivePlan) -> list[Shown]:
    known, n = _assumption(task), len(task.rows)
    G, k, d = known.moment_bound, known.moment_order, known.dimension
    moment = f"if the records are independent draws of one law with (E ||x||^{k:g})^(1/{k:g}) <= {G:g}"
    if plan.weight is None:
        return [
            "plan: the public starting point, the middle of the domain, is returned without using the data:",
            f"  {idle_warning(known, admissible(task.loss), size=n, epsilon=plan.epsilon)}",
            f"bound: the excess risk of the starting point is at most {plan.bound:.6g}, {moment}",
        ]
    r = accuracy_of(plan, n, dimension=d, reach=known.reach, far=known.far)
    trivial = plan.bound >= G * known.diameter
    return [
        "plan: from public numbers alone; all records are used at once",
        f"  clip C = {number(plan.lipschitz)}, curvature B = {number(curvature_of(plan, n))}, weight Λ = {number(plan.weight)}",
        f"  tilt of root mean square length {(d * (d + 1)) ** 0.5 * tilt_scale(plan) / n:.6g} per record; minimiser within {r:.3g}",
        f"bound: the excess risk is at most {plan.bound:.6g} in expectation, {moment}"
        + ("; every point of the domain has it" if trivial else ""),
        f"  (that of the starting point, which needs no data, is at most {G * known.reach:.6g})",
    ]


def _assumption(task: Task) -> Assumption:
    start, given = task.region.interior_point(), task.parameters
    return assumption_for(task.region, start, moment_order=given["moment_order"], moment_bound=given["moment_bound"])


def _accuracy(phase: Phase) -> float:
    return accuracy_for(lipschitz=phase.lipschitz, weight=phase.weight, size=phase.size, kappa=phase.kappa)


def _plan_lines(task: Task, plan: Plan) -> list[Shown]:
    known, n, claim = _assumption(task), len(task.rows), task.budget
    G, k = known.moment_bound, known.moment_order
    moment = f"if the records are independent draws of one law with (E L^{k:g})^(1/{k:g}) <= {G:g}"
    holds = "in expectation" if plan.failure is None else f"with probability at least {1 - plan.failure:g}"
    if not plan.phases:
        product = f"n·ε = {n * claim.epsilon:g}" if isinstance(claim, PureDP) else f"n·√ρ = {n * claim.rho**0.5:g}"
        return [
            "plan: no phases. The public starting point, the middle of the domain, is returned without using the data:",
            f"  {product} is too small for {known.dimension} weights; no plan has a bound {holds} below that of the starting point",
            f"bound: the excess risk of the starting point is at most {plan.bound:.6g}, {moment}",
        ]
    times = f"{plan.repetitions} × " if plan.repetitions > 1 else ""
    cells = [
        [str(i), f"{times}{p.size}", number(p.weight), number(p.lipschitz), f"{_accuracy(p):.3g}"]
        for i, p in enumerate(plan.phases, start=1)
    ]
    return [
        "plan: from public numbers alone; no record is used in two phases",
        Table(cells, ["phase", "records", "weight λ", "clip C", "accuracy α"], indent=2),
        f"bound: the excess risk is at most {plan.bound:.6g} {holds}, {moment}",
        f"  (that of the starting point, which needs no data, is at most {G * known.reach:.6g})",
    ]


def _noise_lines(task: Task) -> list[str]:
    """What the optimisers without a plan do; their parameters are checked on the way."""
    given = {**task.optimiser.parameters, **task.parameters}
    if "failure" in given:
        probability("failure", given["failure"])
    if "reading" in given:
        choice("reading", given["reading"], ("A", "B"))
    if "most_steps" in given:
        whole("most_steps", given["most_steps"], least=1)
    scale, n = {name: given[name] for name in ("weight", "lipschitz", "kappa")}, len(task.rows)
    if scale["kappa"] is None:
        scale["kappa"] = task.problem(**{**scale, "kappa": KAPPA}).within(task.region, n).kappa
    reach, accuracy = task.problem(**scale).sensitivity_upper(n), accuracy_for(size=n, **scale)
    if task.optimiser.samples:
        return _sampling_lines(task, given)
    spend = halved(task.budget) if task.optimiser.halves else task.budget
    noise = noise_square_mean(dimension=task.region.dimension, sensitivity=reach, spend=spend) ** 0.5
    return [
        f"accuracy: α = {accuracy:.6g}, so that replacing one record moves what is found by at most {reach:.6g}",
        f"noise: of root mean square length {noise:.6g}, {'twice' if task.optimiser.halves else 'once'}; it spends {spend}",
    ]


def _sampling_lines(task: Task, given: dict[str, Any]) -> list[str]:
    epsilon, share, n = task.parameters["epsilon"], probability("share", given["share"]), len(task.rows)
    sampler = choice("sampler", given["sampler"], ("rejection", "grid", "walk"))
    twice = choice("spread", given["spread"], ("reach", "diameter")) == "diameter"
    law = {name: given[name] for name in ("weight", "lipschitz", "share", "failure", "kappa")}
    law |= {"dimension": task.region.dimension, "epsilon": epsilon}
    lines = [
        f"budget: localisation spends {share * epsilon:.6g} of ε, a draw from a density ∝ exp(−risk/T) around what it finds "
        f"{(1 - share) * epsilon:.6g} (sampler: {sampler})",
        f"temperature: T is at most {temperature_upper(n, **law) * (1 + twice):.6g}",
    ]
    if sampler == "rejection" and not twice:
        near, failure = distance_upper(n, **law), 2 * given["failure"]
        lines.append(f"distance: {near:.6g} at most from the minimiser of the regularised extension, but for {failure:g}")
    return lines


def moment_bound_of(loss: Loss, *, norm: float, intercept: bool, domain: Domain) -> float:
    """A G that holds for every k: of features up to `norm` long, beside an intercept, and targets of size 1."""
    longest = math.hypot(norm, 1.0) if intercept else norm
    reach = domain.max_norm_from(np.zeros(domain.dimension))
    return steepness_upper(loss, norm=longest, target=1.0, reach=reach) * (1 + 1e-12)
