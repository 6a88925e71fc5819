"""[P4, Theorem 2.1 restored; the explicit bound is ours] The phases of population localisation, and what they guarantee.

Setting.  n independent records; f(·, x) convex on W and L_x-Lipschitz there with E L^k ≤ G^k, k ≥ 2; F = E f; R₀ = max_W ‖w − w_0‖.
Phase i minimises on m_i fresh records with the weight λ_i around the last point w_{i−1}, by a solver whose output w_i is near
u_i, the minimiser of (1/m) Σ f(·, x) + (λ/2)‖· − w_{i−1}‖² on the batch.  A plan depends on public numbers alone.

**In expectation**, with single output perturbation.  Let V(m) ≥ E(λ‖w_i − u_i‖)².  The noise is independent with mean zero and
projections do not increase distances, so with B of `single.gradient_bias`, E B ≤ b and Var B ≤ s/m,

    V(m) = λ²E‖z‖² + (κC/m)² + 2(κC/m)·b + b² + s/m,    b = c_k·G^k·C^{1−k},  s = c'_k·G^k·C^{2−k},    and  V(m) ≤ (λD)².

For every y chosen before the batch is drawn E F(u_i) − F(y) ≤ (λ_i/4)·E‖y − w_{i−1}‖² + G²/(λ_i·m_i).  With y = w* first and
y = u_{i−1} then, and as F is G-Lipschitz,

    E F(w_I) − F* ≤ λ_1R₀²/4 + Σ_i G²/(λ_i·m_i) + Σ_{i≥2} λ_i·V(m_{i−1})/(4λ_{i−1}²) + G·√V(m_I)/λ_I.

Proof of the inequality for u.  Add one more record to the batch, and let ũ minimise (1/m) Σ_{j≤m+1} f_j + (λ/2)‖· − w_0‖².
The strong convexity at both minimisers, added, is λ‖u − ũ‖² ≤ (f_{m+1}(u) − f_{m+1}(ũ))/m ≤ L‖u − ũ‖/m, so
f_{m+1}(u) ≤ f_{m+1}(ũ) + L²/(λm).  The record is independent of u: E F(u) = E f_{m+1}(u).  All m + 1 records have the same
part in ũ: E f_{m+1}(ũ) is the mean of the E f_j(ũ).  And by strong convexity
(1/m) Σ_{j≤m+1} (f_j(ũ) − f_j(y)) ≤ (λ/2)(‖y − w_0‖² − ‖ũ − w_0‖² − ‖y − ũ‖²) ≤ (λ/4)‖y − w_0‖².  ∎

In the variables m_i, λ_i, C_i, κ_i this is a posynomial, under posynomial constraints: Σ m_i ≤ n, and κ_i at least what floats
allow.  `expectation_plan` minimises it, to the global minimum, as a geometric program for every number of phases, and takes the
best number.

**With high probability**: J repetitions of every phase, aggregated.  Let a(m)/λ be the distance within which the solver is of u
with probability ≥ 0.8.  u is within √10·G/(λ√m) of the minimiser w_i* of F + (λ/2)‖· − w_{i−1}‖² with probability ≥ 0.9.  So every
repetition is within Δ_i/λ_i of it, Δ_i = √10·G/√m_i + a(m_i), with probability ≥ 0.7; more than 0.51·J of them are but for a
probability of exp(−2J·0.19²), and the aggregate is within R_i = 3Δ_i/λ_i.  With m_i = 2^{I−i}, λ_i = 8^i·λ, λ = 3Δ_0/D,

    F(w_I) − F* ≤ λ_1R₀²/4 + Σ_{i≥2} λ_i·R_{i−1}²/4 + G·R_I  ≤  12·D·Δ_0 + G·D·4^{−I}     but for a probability of I·exp(−2J·0.19²).

No phases at all is a plan, too: it returns w_0, which is within G·R₀ of the minimum and spends nothing.  It is the answer
where noise would drown every other one, as for nε < d.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import cvxpy
import numpy as np

from tailproof.refimpl.claims import claim_to_json
from tailproof.refimpl.extension.certified import rounding_move
from tailproof.refimpl.pure_dp.perturbation import (
    STAGE_FAILURE,
    Budget,
    budget,
    halved,
    least_kappa,
    noise_radius_upper,
    noise_square_mean,
)
from tailproof.refimpl.pure_dp.single import bias_constant, bias_variance_constant
from tailproof.refimpl.validation import InputError, choice, positive, probability, real, whole

Solver = Literal["single", "double"]
_ROUNDING = 1 + 1e-10  # more than what evaluating a bound in floats can lose


@dataclass(frozen=True)
class Phase:
    """m, λ, C of a phase; the radius of its aggregation, 0 if there is none; κ."""

    size: int
    weight: float
    lipschitz: float
    radius: float = 0.0
    kappa: float = 0.05


@dataclass(frozen=True)
class Assumption:
    """What is known of the records and of W: E L^k ≤ G^k, the dimension, R₀ = max_W ‖w − w_0‖, D = diam W, and how `far` from
    the origin W reaches, on which the rounding of points depends."""

    moment_order: float
    moment_bound: float
    dimension: int
    reach: float
    diameter: float
    far: float

    def __post_init__(self) -> None:
        if not (k := real("moment_order", self.moment_order)) >= 2:
            raise InputError(f"moment_order = {k!r}: must be >= 2")
        object.__setattr__(self, "moment_bound", positive("moment_bound", self.moment_bound))
        object.__setattr__(self, "dimension", whole("dimension", self.dimension, least=1))
        object.__setattr__(self, "reach", positive("reach", self.reach))
        object.__setattr__(self, "diameter", positive("diameter", self.diameter))
        object.__setattr__(self, "far", positive("far", self.far))

    def phase(self, size: int, weight: float, lipschitz: float, kappa: float, solver: Solver = "single") -> Phase:
        """With κ raised to what floats allow."""
        least = least_kappa(
            lipschitz=lipschitz,
            weight=weight,
            size=size,
            dimension=self.dimension,
            far=self.far,
            stages=1 if solver == "single" else 2,
        )
        return Phase(size, weight, lipschitz, kappa=max(kappa, least))

    def bias_mean(self, lipschitz: float) -> float:
        """b: at least E B."""
        G, k = self.moment_bound, self.moment_order
        return bias_constant(k) * lipschitz * math.pow(G / lipschitz, k)

    def bias_variance(self, lipschitz: float) -> float:
        """s: at least E(L² − C²)₊."""
        G, k = self.moment_bound, self.moment_order
        return bias_variance_constant(k) * lipschitz**2 * math.pow(G / lipschitz, k)


@dataclass(frozen=True)
class Plan:
    """The phases and what they guarantee: an excess risk of at most `bound`, in expectation or but for `failure`."""

    phases: tuple[Phase, ...]
    repetitions: int
    spend: Budget
    solver: Solver
    bound: float
    failure: float | None = None

    @property
    def records(self) -> int:
        """How many records it uses."""
        return self.repetitions * sum(phase.size for phase in self.phases)

    def to_json(self) -> dict[str, Any]:
        return {
            "phases": [asdict(phase) for phase in self.phases],
            "repetitions": self.repetitions,
            "claim": claim_to_json(self.spend),
            "solver": self.solver,
            "bound": self.bound,
            "failure": self.failure,
        }


# ------------------------------------------------------------------------------------------------------- in expectation


def phase_error_upper(phase: Phase, assumption: Assumption, *, spend: Budget) -> float:
    """V(m)."""
    C, m, kappa = phase.lipschitz, phase.size, phase.kappa
    noise = noise_square_mean(dimension=assumption.dimension, sensitivity=(2 + 2 * kappa) * C / m, spend=spend)
    bias, slack = assumption.bias_mean(C), kappa * C / m
    free = noise + (slack + bias) ** 2 + assumption.bias_variance(C) / m
    return min(free, (phase.weight * assumption.diameter) ** 2)


def expectation_bound(phases: tuple[Phase, ...], assumption: Assumption, *, spend: Budget) -> float:
    """An upper bound of E F(w_I) − F* for localised single output perturbation, with all constants."""
    G, reach = assumption.moment_bound, assumption.reach
    if not phases:
        return G * reach * _ROUNDING
    errors = [phase_error_upper(phase, assumption, spend=spend) for phase in phases]
    total = phases[0].weight * reach**2 / 4 + sum(G**2 / (phase.weight * phase.size) for phase in phases)
    for (before, after), error in zip(pairwise(phases), errors, strict=False):
        total += after.weight * error / (4 * before.weight**2)
    total += G * math.sqrt(errors[-1]) / phases[-1].weight
    return min(total, G * assumption.diameter) * _ROUNDING  # no point of W is worse than that


def expectation_plan(
    assumption: Assumption,
    *,
    size: int,
    epsilon: float | None = None,
    rho: float | None = None,
    kappa: float = 0.05,
    most_phases: int = 16,
) -> Plan:
    """The plan with the least bound for `size` records."""
    n, spend, kappa = whole("size", size, least=1), budget(epsilon=epsilon, rho=rho), positive("kappa", kappa)
    best = Plan((), 1, spend, "single", expectation_bound((), assumption, spend=spend))
    idle = 0
    for count in range(1, whole("most_phases", most_phases, least=0) + 1):
        phases = _best_phases(count, n, assumption, kappa, spend) if count <= n else None
        bound = math.inf if phases is None else expectation_bound(phases, assumption, spend=spend)
        idle = 0 if bound < 0.999 * best.bound else idle + 1
        if phases is not None and bound < best.bound:
            best = replace(best, phases=phases, bound=bound)
        if idle == 2:
            break
    return best


@lru_cache(maxsize=128)  # a sweep or an experiment asks for the same plan again and again
def _best_phases(count: int, n: int, assumption: Assumption, kappa: float, spend: Budget) -> tuple[Phase, ...] | None:
    """The geometric program, in units where G = R₀ = 1, and for shares m/n of the records; None if it cannot be solved."""
    k, d = assumption.moment_order, assumption.dimension
    noise = noise_square_mean(dimension=d, sensitivity=2.0, spend=spend)
    mean, variance = bias_constant(k), bias_variance_constant(k)
    move = rounding_move(d, assumption.far) / assumption.reach
    weights, clips, shares, errors, kappas = (cvxpy.Variable(count, pos=True) for _ in range(5))
    constraints = [cvxpy.sum(shares) <= 1]
    objective = weights[0] / 4 + errors[count - 1] ** 0.5 / weights[count - 1]
    for i in range(count):
        C, m, slack, weight = clips[i], n * shares[i], kappas[i], weights[i]
        cross = (2 * slack * mean + variance) * C ** (2 - k) / m
        error = (noise * (1 + slack) ** 2 + slack**2) * C**2 / m**2 + cross + mean**2 * C ** (2 - 2 * k)
        rounding = 16.2 * (2 * weight * C + weight**2 * move) * move * m**2 / C**2  # as `least_kappa`, squared
        constraints += [error / errors[i] <= 1, m >= 1, slack >= kappa, rounding / slack**2 <= 1]
        objective += 1 / (weights[i] * m)
    for i in range(1, count):
        objective += weights[i] * errors[i - 1] / (4 * weights[i - 1] ** 2)
    program = cvxpy.Problem(cvxpy.Minimize(objective), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a solver that is not sure: the bound is computed from what it found
        try:
            program.solve(gp=True, solver=cvxpy.CLARABEL)
        except cvxpy.SolverError:
            return None
    if any(variable.value is None or not np.isfinite(variable.value).all() for variable in (weights, clips, shares)):
        return None
    sizes = np.maximum(np.floor(n * shares.value * (1 - 1e-9)), 1).astype(int)
    sizes[0] += n - sizes.sum()
    if sizes[0] < 1:
        return None
    G, reach = assumption.moment_bound, assumption.reach
    values = zip(sizes.tolist(), weights.value.tolist(), clips.value.tolist(), strict=True)
    return tuple(assumption.phase(m, weight * G / reach, clip * G, kappa) for m, weight, clip in values)


# ------------------------------------------------------------------------------------------------- with high probability


def distance_upper(
    assumption: Assumption, *, size: int, lipschitz: float, kappa: float, spend: Budget, solver: Solver
) -> float:
    """a(m): λ times the distance from u within which the solver's output is with probability ≥ 0.8.

    A tenth is for Markov's inequality on the bias, a tenth for the noise: for one draw, or for two, of which the first must not
    push the minimiser out of the localised set (`double`, reading A, with its failure).
    """
    slope = _distance_slope(assumption, size=size, kappa=kappa, spend=spend, solver=solver)
    return (lipschitz * slope + assumption.bias_mean(lipschitz) / 0.1) * _ROUNDING


def _distance_slope(assumption: Assumption, *, size: int, kappa: float, spend: Budget, solver: Solver) -> float:
    """The part of a(m) that is due to noise and slack, per unit of C."""
    spend, zeta = (spend, 0.1) if solver == "single" else (halved(spend), STAGE_FAILURE)
    reach = (2 + 2 * kappa) / size
    noise = noise_radius_upper(dimension=assumption.dimension, sensitivity=reach, spend=spend, failure=zeta)
    return kappa / size + noise


def best_clip(assumption: Assumption, *, size: int, kappa: float, spend: Budget, solver: Solver) -> float:
    """The C with the least a(m), which is a multiple of C plus a multiple of C^{1−k}."""
    k, G = assumption.moment_order, assumption.moment_bound
    slope = G * _distance_slope(assumption, size=size, kappa=kappa, spend=spend, solver=solver)
    return float(G * ((k - 1) * assumption.bias_mean(G) / 0.1 / slope) ** (1 / k))


def high_probability_plan(
    assumption: Assumption,
    *,
    size: int,
    failure: float,
    epsilon: float | None = None,
    rho: float | None = None,
    kappa: float = 0.05,
    solver: Solver = "single",
) -> Plan:
    """[P4, Algorithm 1] J repetitions of I phases whose batches halve and whose weights grow by 8."""
    n, spend, zeta = whole("size", size, least=1), budget(epsilon=epsilon, rho=rho), probability("failure", failure)
    kappa, method = positive("kappa", kappa), choice("solver", solver, ("single", "double"))
    solver = "double" if method == "double" else "single"
    G, D, reach = assumption.moment_bound, assumption.diameter, assumption.reach
    rounds = max(1, math.floor(math.log2(n)))
    repetitions = math.ceil(13.9 * math.log(max(rounds / zeta, math.e)))
    count = math.floor(math.log2(n / repetitions)) if n >= 2 * repetitions else 0
    nothing = Plan((), 1, spend, solver, G * reach * _ROUNDING, zeta)
    if not count:
        return nothing

    def best(m: int) -> float:
        return best_clip(assumption, size=m, kappa=kappa, spend=spend, solver=solver)

    base = 3 * _deviation(assumption, Phase(2**count, 0.0, best(2**count), kappa=kappa), spend, solver) / D
    phases = []
    for i in range(1, count + 1):
        phase = assumption.phase(2 ** (count - i), base * 8**i, best(2 ** (count - i)), kappa, solver)
        phases.append(replace(phase, radius=3 * _deviation(assumption, phase, spend, solver) / phase.weight))
    bound = phases[0].weight * reach**2 / 4 + G * phases[-1].radius
    bound += sum(after.weight * before.radius**2 / 4 for before, after in pairwise(phases))
    plan = Plan(tuple(phases), repetitions, spend, solver, bound * _ROUNDING, zeta)
    return min(nothing, plan, key=lambda plan: plan.bound)


def _deviation(assumption: Assumption, phase: Phase, spend: Budget, solver: Solver) -> float:
    """Δ_i."""
    distance = distance_upper(
        assumption, size=phase.size, lipschitz=phase.lipschitz, kappa=phase.kappa, spend=spend, solver=solver
    )
    return math.sqrt(10) * assumption.moment_bound / math.sqrt(phase.size) + distance
