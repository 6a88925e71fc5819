"""[P4, Theorem D.4, Lemma D.5, Proposition D.6] Fixed-step projected subgradient method on the regularised extension.

Setting: F̂_{λ,C}(w) = (1/n) Σ f_C(w, x_i) + (λ/2)‖w − w0‖², minimised over W, or over W ∩ B(c, r) with c in W (Theorem
D.4's second stage).  The infimum in f_C runs over W in both cases.  C = `lipschitz`, λ = `weight`, w0 = `anchor`.

Statement: with ν-subgradients (Proposition D.6, averaged over the records), projections that err by at most ζ (Lemma
C.6) and a constant step, the average of T points is within α of the minimum (Lemma D.5).  T, the step, ν and ζ come
from R, M = C + λ·max‖w − w0‖ and α before a record is looked at, and exactly T steps are made whatever the data.  T is
about (1.24·R·M/α)², and every step solves n conic programs: `fixed_step_plan` states T, so that a user sees that
this is for small problems.

The bias ν.  Every record's subgradient comes with a proved ν_i.  Where solver or rounding leave ν_i above the plan, the
method may not stop, for that would depend on the data.  It takes the best of what is proved:
1. the conic reference;
2. the closed form of the batched twin, put through the same certificate (generalised linear losses);
3. g = 0 with ν_i = C·R, which needs no computation: f_C(u) ≥ f_C(w) − C‖u − w‖.
So ν_i ≤ C·R, and one record, whatever it holds, adds at most C·R/n to ν.  The bound returned takes ν as proved, averaged
over steps (the proof sums the ν_t): it is true for all data, and ≤ α where the ν proved is ≤ the ν planned.  In floats that
fails for records so large that rounding, about 1e-15·|f| and 1e-15·‖x‖·‖y‖, is more than n·ν.  A private mechanism that
rests on α needs `certified` for every data set it accepts: it must exclude such records by a public limit on their
size.  It must not choose its answer by `certified`.

Departures: the loss need not be polyhedral, since the reference certifies smooth ones alike.  The bound takes the norms
seen instead of M.  The paper's shares of α are not known; by default ν gets a tenth, the projections a tenth of the rest.

Rounding: bound and ν are rounded outward, the rounding of the mean subgradient included.  That of the projection onto W
and of the averaging of points, at most about 1e-16·T·M·‖w‖ in the bound, is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.domains import EPS, Ball, Domain, Localised
from tailproof.refimpl.extension.batched import batch
from tailproof.refimpl.extension.joint import StepLimitError, StepPlan, constant_step_bound, iterations_for
from tailproof.refimpl.extension.socp import ReferenceExtension, certify
from tailproof.refimpl.losses import GlmLoss, Quadratic
from tailproof.refimpl.projections import inexact_projection
from tailproof.refimpl.validation import FloatArray, InputError, positive, records, vector, whole


@dataclass(frozen=True)
class FixedStepPlan:
    """What will be done.  It depends on public parameters alone."""

    steps: StepPlan  # T, the step and ζ
    bias: float  # the ν planned for
    diameter: float  # R
    norm_upper: float  # M
    accuracy: float  # α

    @property
    def iterations(self) -> int:
        """The number T of steps."""
        return self.steps.iterations

    def programs(self, size: int) -> int:
        """The number of conic programs for `size` records."""
        return self.iterations * whole("size", size, least=1)


@dataclass(frozen=True, eq=False)
class FixedStepResult:
    """A point of the set whose objective is within `bound` of the minimum.  `bias` is the ν proved on the way."""

    point: FloatArray
    iterations: int
    bound: float
    bias: float
    plan: FixedStepPlan

    @property
    def certified(self) -> bool:
        """Whether the bound is within the accuracy asked for.  Depends on the data: never publish or act upon it."""
        return self.bound <= self.plan.accuracy


@dataclass(frozen=True, eq=False)
class BiasedSubgradient:
    """F(u) ≥ F(w) + ⟨vector, u − w⟩ − bias for all u in the set."""

    vector: FloatArray
    bias: float


def fixed_step_plan(
    *,
    domain: Domain,
    lipschitz: float,
    weight: float,
    anchor: ArrayLike,
    accuracy: float,
    within: Ball | None = None,
    bias: float | None = None,
) -> FixedStepPlan:
    """T, step, ζ and ν for an `accuracy`-minimiser over `domain`, or over `domain` ∩ `within`.

    `bias` is the ν planned for, by default a tenth of the accuracy.  The anchor must lie in the domain, not in `within`.
    """
    region = _region(domain, within)
    w0 = vector("anchor", anchor, size=domain.dimension)
    if not domain.contains(w0):
        raise InputError("anchor: must lie in the domain")
    clip, strength, goal = positive("lipschitz", lipschitz), positive("weight", weight), positive("accuracy", accuracy)
    nu = goal / 10 if bias is None else positive("bias", bias)
    reach = region.diameter_upper()
    norm_upper = (clip + strength * region.max_norm_from(w0)) * (1 + 4 * EPS)
    steps = iterations_for(diameter=reach, norm_upper=norm_upper, accuracy=goal, bias=nu)
    return FixedStepPlan(steps, nu, reach, norm_upper, goal)


def fixed_step_minimiser(
    *,
    loss: GlmLoss | Quadratic,
    data: ArrayLike,
    domain: Domain,
    lipschitz: float,
    weight: float,
    anchor: ArrayLike,
    accuracy: float,
    within: Ball | None = None,
    bias: float | None = None,
    most_steps: int | None = None,
) -> FixedStepResult:
    """[P4, Theorem D.4] An `accuracy`-minimiser of F̂_{λ,C} in exactly the number of steps of `fixed_step_plan`.

    `most_steps` refuses a longer plan before the first step; whether it does depends on public parameters alone.
    """
    plan = fixed_step_plan(
        domain=domain,
        lipschitz=lipschitz,
        weight=weight,
        anchor=anchor,
        accuracy=accuracy,
        within=within,
        bias=bias,
    )
    reference = ReferenceExtension(loss, domain, domain.dimension)
    table = records("data", data, least=1, columns=loss.columns(domain.dimension))
    loss.split(table)  # refuses labels other than ±1
    if most_steps is not None and plan.iterations > whole("most_steps", most_steps, least=1):
        raise StepLimitError(
            f"{plan.iterations} steps are planned, with {plan.programs(len(table))} conic programs; "
            f"most_steps = {most_steps} allows fewer"
        )
    w0, strength = vector("anchor", anchor), float(weight)

    def subgradient(w: FloatArray) -> BiasedSubgradient:
        found = [record_subgradient(reference, x, w, float(lipschitz), bias=plan.bias, reach=plan.diameter) for x in table]
        return _regularised_mean(found, strength * (w - w0), plan)

    return _descend(w0, _region(domain, within), subgradient, plan)


# ------------------------------------------------------------------------------------------------------ subgradients


def record_subgradient(
    reference: ReferenceExtension, record: FloatArray, w: FloatArray, clip: float, *, bias: float, reach: float
) -> BiasedSubgradient:
    """A ν-subgradient of one record's f_C at w, ‖g‖ ≤ C, on a set of diameter ≤ `reach`: the best of the three sources.

    The later ones are asked only while ν exceeds `bias`.
    """
    found: list[BiasedSubgradient] = []
    for source in (_conic, _closed_form):
        try:
            found.append(source(reference, record, w, clip))
        except (ArithmeticError, InputError):  # beyond the floating-point range
            continue
        if found[-1].bias <= bias:
            return found[-1]
    found.append(BiasedSubgradient(np.zeros_like(w), clip * reach * (1 + 4 * EPS)))
    return min(found, key=lambda one: one.bias)


def _conic(reference: ReferenceExtension, record: FloatArray, w: FloatArray, clip: float) -> BiasedSubgradient:
    found = reference.at(record, w, clip)
    return BiasedSubgradient(found.subgradient, found.gap)


def _closed_form(reference: ReferenceExtension, record: FloatArray, w: FloatArray, clip: float) -> BiasedSubgradient:
    loss, domain = reference.loss, reference.domain
    if not isinstance(loss, GlmLoss):
        raise InputError("loss: has no closed form")
    guess = batch(loss=loss, data=record[np.newaxis], domain=domain, lipschitz=clip).at(w)
    y, g, v = guess.minimisers()[0], guess.subgradients()[0], float(guess.duals[0])
    found = certify(loss, domain, record, w, clip, minimiser=y, subgradient=g, slope=v)
    return BiasedSubgradient(found.subgradient, found.gap)


def _regularised_mean(found: list[BiasedSubgradient], pull: FloatArray, plan: FixedStepPlan) -> BiasedSubgradient:
    """The mean of the records' subgradients plus λ(w − w0).  Its rounding, times the diameter, counts as bias."""
    count = len(found)
    total = math.fsum(one.bias for one in found) / count * (1 + 4 * EPS)
    rounding = (count + 8) * EPS * plan.norm_upper * plan.diameter
    return BiasedSubgradient(np.mean([one.vector for one in found], axis=0) + pull, total + rounding)


# -------------------------------------------------------------------------------------------------------- the method


def _region(domain: Domain, within: Ball | None) -> Domain:
    if not isinstance(domain, Domain):
        raise InputError(f"domain = {domain!r}: must be a domain")
    if within is None:
        return domain
    if not isinstance(within, Ball):
        raise InputError(f"within = {within!r}: must be a Ball, or None")
    if within.dimension != domain.dimension or not domain.contains(within.center):
        raise InputError("within: its centre must lie in the domain")
    return Localised(domain, within.center, within.radius)


def _projected(region: Domain, point: FloatArray, accuracy: float) -> FloatArray:
    if not isinstance(region, Localised):
        return region.project(point)
    base, center, radius = region.base, region.center, region.radius
    return inexact_projection(base, center=center, radius=radius, point=point, accuracy=accuracy).point


def _descend(
    start: FloatArray, region: Domain, subgradient: Callable[[FloatArray], BiasedSubgradient], plan: FixedStepPlan
) -> FixedStepResult:
    """The average of exactly T points; a zero subgradient does not end it, for the count may not depend on the data."""
    steps = plan.steps
    point = _projected(region, start, plan.diameter)
    average = np.zeros_like(point)
    norms: list[float] = []
    biases: list[float] = []
    for count in range(1, steps.iterations + 1):
        slope = subgradient(point)
        average += (point - average) / count
        norms.append(math.hypot(*slope.vector))
        biases.append(slope.bias)
        point = _projected(region, point - steps.step * slope.vector, steps.projection_error)
    bias = math.fsum(biases) / steps.iterations * (1 + 4 * EPS)
    bound = constant_step_bound(
        diameter=plan.diameter,
        norm_upper=math.sqrt(math.fsum(norm * norm for norm in norms) / steps.iterations) * (1 + 16 * EPS),
        bias=bias,
        step=steps.step,
        iterations=steps.iterations,
        projection_error=steps.projection_error,
    )
    return FixedStepResult(region.project(average), steps.iterations, bound, bias, plan)
