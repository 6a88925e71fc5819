"""[P4, Algorithm 1 and Theorem 2.1] Population localisation: regularised problems on disjoint batches, each around the last answer.

Statement: all batches are disjoint, so the run has the guarantee of one call of its solver.  Its excess risk is bounded in
`plan`: in expectation with one batch per phase (single output perturbation), or with high probability with several, whose
answers are aggregated.

Departures: phases, weights and clipping levels come from a `Plan`; with single output perturbation it need not localise W.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ZCDP, PureDP
from tailproof.refimpl.domains import Domain, parse_domain
from tailproof.refimpl.losses import Loss, parse_loss
from tailproof.refimpl.pure_dp import single
from tailproof.refimpl.pure_dp.double import Reading, double_output_perturbation
from tailproof.refimpl.pure_dp.perturbation import Budget, RegularisedProblem, budget
from tailproof.refimpl.pure_dp.plan import Assumption, Phase, Plan, expectation_plan, high_probability_plan
from tailproof.refimpl.pure_dp.single import single_output_perturbation
from tailproof.refimpl.pure_dp.tuned import tuned_plan
from tailproof.refimpl.universe import table
from tailproof.refimpl.validation import FloatArray, InputError, choice, probability, shaped, vector

Progress = Callable[[str], None]
Preset = Literal["theory", "tuned"]


def population_localization(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: Loss | str,
    domain: Domain | str,
    moment_order: float | None = None,
    moment_bound: float | None = None,
    epsilon: float | None = None,
    rho: float | None = None,
    failure: float | None = None,
    preset: Preset = "theory",
    plan: Plan | None = None,
    center: ArrayLike | None = None,
    reading: Reading = "A",
    progress: Progress | None = None,
    strict: bool = False,
) -> FloatArray:
    """A point of W of small population risk.

    The plan is made from the public assumption E L^k ≤ G^k, k = `moment_order`, G = `moment_bound`, unless one is given: for the
    expectation, or for all but a probability of `failure`.  `preset` "theory" minimises the explicit bound, "tuned" does better on
    ordinary data, with the same privacy and a weaker bound.  Records are used in the order given, which must not be informative.
    `reading` is for plans with double output perturbation, whose bound is that of reading A.
    """
    claim = privacy(epsilon=epsilon, rho=rho)
    loss = parse_loss(loss) if isinstance(loss, str) else loss
    rows = shaped("data", data, least=1)
    region = parse_domain(domain, 1 + rows.shape[1] - loss.columns(1)) if isinstance(domain, str) else domain
    start = region.interior_point() if center is None else vector("center", center, size=region.dimension)
    if not region.contains(start):
        raise InputError("center: must lie in the domain")
    if plan is None:
        if moment_order is None or moment_bound is None:
            raise InputError("moment_order, moment_bound: must be given, or a plan")
        assumption = assumption_for(region, start, moment_order=moment_order, moment_bound=moment_bound)
        plan = plan_for(assumption, size=len(rows), epsilon=epsilon, rho=rho, failure=failure, preset=preset)
    elif plan.spend != claim:
        raise InputError(f"plan: spends {plan.spend}; {claim} is allowed")
    if plan.records > len(rows):
        raise InputError(f"data: has {len(rows)} records; the plan needs {plan.records}")
    if loss.columns(region.dimension) != rows.shape[1]:
        raise InputError(f"data: has {rows.shape[1]} columns; must have {loss.columns(region.dimension)}")
    rows = table(rows, loss, strict=strict)
    for phase in plan.phases:  # whatever floats do not allow is refused before anything is released
        _problem(phase, loss, region, start).accuracy(phase.size)
    point = start
    for number, (phase, batches) in enumerate(_batches(plan), start=1):
        if progress is not None:
            progress(f"phase {number} of {len(plan.phases)}: {plan.repetitions} × {phase.size} records")
        answers = [
            _answer(rows, channel.part(_name(plan, number, j), batch), batch, phase, plan, loss, region, point, reading)
            for j, batch in enumerate(batches)
        ]
        point = aggregate(np.array(answers), phase.radius)
    return point


def _problem(phase: Phase, loss: Loss, domain: Domain, center: FloatArray) -> RegularisedProblem:
    return RegularisedProblem(loss, domain, center, phase.weight, phase.lipschitz, phase.kappa)


def _name(plan: Plan, number: int, repetition: int) -> str:
    return f"phase{number}" if plan.repetitions == 1 else f"phase{number}/{repetition}"


def _batches(plan: Plan) -> Iterator[tuple[Phase, list[range]]]:
    """Disjoint ranges of records, in order."""
    used = 0
    for phase in plan.phases:
        ends = [used + phase.size * j for j in range(plan.repetitions + 1)]
        yield phase, [range(*pair) for pair in pairwise(ends)]
        used = ends[-1]


def _answer(
    data: FloatArray,
    channel: Channel,
    batch: range,
    phase: Phase,
    plan: Plan,
    loss: Loss,
    domain: Domain,
    center: FloatArray,
    reading: Reading,
) -> FloatArray:
    solve: Callable[..., FloatArray] = single_output_perturbation
    if plan.solver == "double":
        solve = partial(double_output_perturbation, reading=reading)
    return solve(
        data[batch.start : batch.stop],
        channel,
        loss=loss,
        domain=domain,
        weight=phase.weight,
        lipschitz=phase.lipschitz,
        kappa=phase.kappa,
        center=center,
        epsilon=plan.spend.epsilon if isinstance(plan.spend, PureDP) else None,
        rho=plan.spend.rho if isinstance(plan.spend, ZCDP) else None,
    )


def aggregate(points: FloatArray, radius: float) -> FloatArray:
    """A point with the most others within 2R/3.  If 0.51 of them are within R/3 of some z, it is within R of z: its
    neighbours and those of z have one in common."""
    if len(points) == 1:
        return np.asarray(points[0])
    apart = np.linalg.norm(points[:, np.newaxis] - points, axis=2)
    return np.asarray(points[int(np.argmax((apart <= 2 * radius / 3).sum(axis=1)))])


def privacy(*, epsilon: float | None = None, rho: float | None = None) -> Budget:
    """That of one call: no record is in two batches."""
    return budget(epsilon=epsilon, rho=rho)


def worst_neighbours(n: int, d: int, *, plan: Plan, **_: object) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Those of the first phase's solver, on its first batch; the other records pull nowhere."""
    phase = plan.phases[0]
    for pair in single.worst_neighbours(phase.size, d, lipschitz=phase.lipschitz):
        data, neighbour = (np.vstack([batch, np.zeros((n - phase.size, d))]) for batch in pair)
        yield data, neighbour


def assumption_for(domain: Domain, center: FloatArray, *, moment_order: float, moment_bound: float) -> Assumption:
    reach, far = (domain.max_norm_from(point) for point in (center, np.zeros(domain.dimension)))
    return Assumption(moment_order, moment_bound, domain.dimension, reach, domain.diameter_upper(), far)


def plan_for(
    assumption: Assumption,
    *,
    size: int,
    epsilon: float | None = None,
    rho: float | None = None,
    failure: float | None = None,
    preset: Preset = "theory",
) -> Plan:
    """The plan with the least bound: for the expectation, or but for a probability of `failure`, for which Markov's inequality on
    the expectation competes with repetitions."""
    tuned = choice("preset", preset, ("theory", "tuned")) == "tuned"
    on_average = (tuned_plan if tuned else expectation_plan)(assumption, size=size, epsilon=epsilon, rho=rho)
    if failure is None:
        return on_average
    failure = probability("failure", failure)
    if not on_average.phases:
        return replace(on_average, failure=failure)  # which is sure
    worst = assumption.moment_bound * assumption.diameter
    markov = replace(on_average, bound=min(on_average.bound / failure, worst), failure=failure)
    if tuned:
        return markov
    repeated = high_probability_plan(assumption, size=size, failure=failure, epsilon=epsilon, rho=rho)
    return min(repeated, markov, key=lambda plan: plan.bound)
