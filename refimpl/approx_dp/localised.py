"""[P0, Algorithm 3] LNC-GM, the localised noisy clipped gradient method.

Setting: f(·, x) convex, α-smooth and L_f-Lipschitz on W; E sup_W ‖∇f‖^{2k} ≤ r̃^{2k}.  Phases i = 1..⌊log₂n⌋ on batches of
⌊n/2^i⌋ records: Algorithm 2 on F̂_i(w) + λ_i‖w − w_{i−1}‖²/2 over W ∩ B(w_{i−1}, 2L_f/λ_i), then Gaussian noise for
2C_i/(n_iλ_i).
Statement: (ε, δ)-DP for ε ≤ √log(1/δ), η_i ≤ 1/α; excess risk of Õ(r̃D(1/√n + (√(d·log(1/δ))/(εn))^{(k−1)/k})) [P0 Theorem
1]; the ρ-zCDP variant of Remarks 1 and 5.
What holds: the claim, for d = 1 and for losses φ(⟨w, x⟩), with a penalty or without: see `descent`.  For other losses and
d ≥ 2 it is refuted (erratum P0.Alg2.stability): 64 records of `counterexample` have δ(ε) = 8.7e-4 where 1e-5 is claimed.
The function then warns (`UnprovedClaim`); `repaired.localised_extension` is the repaired variant for such losses.
Departures: batches are consecutive ranges (privacy rests on their being disjoint; shuffle first if the order tells something).
w_i is projected onto W before it is used or returned: with the printed λ₁ = 1/(η₁n₁^{2p}) the set W_2 around w_1 would
otherwise be empty with a probability near 1 (erratum P0.Alg3.phase1).  T_i = ⌈2log(n)/(λ_iη_i)⌉ for Θ̃(1/(λ_iη_i)): then
Theorem 8's exp(−λ_iη_iT_i/2) is 1/n.  zCDP: σ_i = √2·C_i/(n_iλ_i√ρ), and √ρ stands for ε/√log(1/δ) in C_i.
Presets: `published_phases` makes n_1^{2p} ≥ n²/4 gradient passes over n/2 records (feasible up to n of some hundreds);
`tuned_phases` has the same privacy and is meant for use.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp import descent
from tailproof.refimpl.approx_dp.budget import Budget, at_most, budget, noise_scale, private_share, warn_if_weak
from tailproof.refimpl.approx_dp.descent import check_step, descend, sensitivity, turning_records
from tailproof.refimpl.approx_dp.gradients import clipped_mean_gradient, is_monotone_when_clipped
from tailproof.refimpl.approx_dp.problem import Problem, prepare, with_quiet
from tailproof.refimpl.approx_dp.public import high_order, positives
from tailproof.refimpl.approx_dp.steps import consecutive
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ApproxDP, UnprovedClaim
from tailproof.refimpl.domains import Ball, Domain, Localised
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.losses import AnyLoss, RecordQuadratic
from tailproof.refimpl.validation import FloatArray, InputError, between, positive, probability, whole


@dataclass(frozen=True)
class Phase:
    """n_i, η_i, λ_i, C_i, D_i and T_i: public numbers."""

    size: int
    step: float
    weight: float
    clip: float
    radius: float
    steps: int

    def __post_init__(self) -> None:
        whole("size", self.size, least=1)
        whole("steps", self.steps, least=1)
        positive("step", self.step)
        positive("weight", self.weight)
        positive("clip", self.clip)
        positive("radius", self.radius)

    @property
    def sensitivity(self) -> float:
        return sensitivity(self.size, clip=self.clip, weight=self.weight).value


def lnc_gm(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    phases: Sequence[Phase],
    smoothness: float,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    start: ArrayLike | None = None,
) -> FloatArray:
    """w_l, a point of W.  `phases` are those of `published_phases` or `tuned_phases`; `smoothness` is α, `start` is w0."""
    spend = privacy(epsilon=epsilon, delta=delta, rho=rho)
    check_phases(phases, smoothness=smoothness)
    problem = prepare(data, loss=loss, domain=domain, start=start, smooth=True)
    warn_if_weak(delta, len(problem.rows))
    warn_if_refuted(problem)
    return run_phases(problem, channel, phases, smoothness=smoothness, spend=spend)


def run_phases(
    problem: Problem, channel: Channel, phases: Sequence[Phase], *, smoothness: float, spend: Budget
) -> FloatArray:
    point, domain, rows = problem.start, problem.domain, problem.rows
    scales = [noise_scale(phase.sensitivity, spend) for phase in phases]
    batches = consecutive((phase.size for phase in phases), len(rows), what="phases")
    for i, (phase, batch, scale) in enumerate(zip(phases, batches, scales, strict=True), start=1):  # lines 2-3
        local = around(domain, point, phase.radius)
        records = rows[batch.start : batch.stop]
        gradient = clipped_mean_gradient(problem.loss, records, clip=phase.clip, domain=domain, smoothness=smoothness)
        found = descend(gradient, local, point, step=phase.step, weight=phase.weight, steps=phase.steps)  # lines 4-5
        reach = sensitivity(phase.size, clip=phase.clip, weight=phase.weight)
        noisy = channel.part(f"phase{i}", batch).release("point", Gaussian(found, scale), sensitivity=reach, spend=spend)
        point = domain.project(noisy)  # line 6
    return point


def around(domain: Domain, center: FloatArray, radius: float) -> Domain:
    """W_i: a ball around a point of W that holds all of it changes nothing."""
    return domain if domain.max_norm_from(center) <= radius else Localised(domain, center, radius)


def privacy(*, epsilon: float | None = None, delta: float | None = None, rho: float | None = None) -> Budget:
    """[P0, Theorem 1; Remarks 1 and 5]  Refuted in general; see the module's text."""
    return at_most(budget(epsilon=epsilon, delta=delta, rho=rho), math.sqrt, place="Theorem 1")


def check_phases(phases: Sequence[Phase], *, smoothness: float) -> None:
    if not phases:
        raise InputError("phases: are none; at least one is needed")
    for phase in phases:
        check_step(step=phase.step, weight=phase.weight, smoothness=smoothness, size=phase.size)


def warn_if_refuted(problem: Problem) -> None:
    if not is_monotone_when_clipped(problem.loss, problem.domain.dimension):
        warnings.warn(
            f"loss = {problem.loss!r}: the published claim is refuted for losses that are not generalised linear in dimensions "
            "above 1 (P0.Alg2.stability); localised_extension is the repaired variant",
            UnprovedClaim,
            stacklevel=3,
        )


# --- parameters -------------------------------------------------------------------------------------------------------


def published_phases(
    n: int,
    *,
    dimension: int,
    step: float,
    lipschitz: float,
    moment_bound: float,
    moment_order: float,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    exponent: float = 1.0,
    horizon: float | None = None,
) -> tuple[Phase, ...]:
    """Line 3's choices.  `step` is η, `lipschitz` L_f, `moment_bound` r̃_{2k}, `moment_order` k, `exponent` p; `horizon` is
    T_iλ_iη_i.

    `moment_bound` stands for every r̃_{2k,n_i}, which Lemma 2 allows.
    """
    n = whole("n", n, least=4)
    k, p = high_order(moment_order), between("exponent", exponent, 1, math.inf)
    positives(step=step, lipschitz=lipschitz, moment_bound=moment_bound)
    share = private_share(budget(epsilon=epsilon, delta=delta, rho=rho), whole("dimension", dimension, least=1))
    steps = 2 * math.log(n) if horizon is None else positive("horizon", horizon)
    phases = []
    for i in range(1, math.floor(math.log2(n)) + 1):
        size, eta = n // 2**i, 4.0**-i * step
        weight = 1 / (eta * size ** (2 * p if i == 1 else p))
        clip = moment_bound * (size / (share * math.sqrt(math.log(n)))) ** (1 / k)
        phases.append(Phase(size, eta, weight, clip, 2 * lipschitz / weight, math.ceil(steps / (weight * eta))))
    return tuple(phases)


def published_step(
    n: int,
    *,
    dimension: int,
    radius: float,
    lipschitz: float,
    smoothness: float,
    moment_bound: float,
    moment_order: float,
    failure: float,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    exponent: float = 1.0,
    outer: float | None = None,
) -> float:
    """η of Algorithm 4, line 3, at R_{l−1} = `radius` and β = `failure`; and at most 4/α, so that η_1 = η/4 ≤ 1/α.

    `outer` is the exponent of n in front, p/2 by default (Algorithm 5 has (p − 1)/2).
    """
    n, dimension = whole("n", n, least=2), whole("dimension", dimension, least=1)
    k, p = high_order(moment_order), between("exponent", exponent, 1, math.inf)
    positives(radius=radius, lipschitz=lipschitz, smoothness=smoothness, moment_bound=moment_bound)
    probability("failure", failure)
    spend = budget(epsilon=epsilon, delta=delta, rho=rho)
    without_delta = replace(spend, delta=math.exp(-1)) if isinstance(spend, ApproxDP) else spend  # no log(1/δ) in line 3
    private = (n / (private_share(without_delta, dimension) * math.sqrt(math.log(n)))) ** ((k - 1) / k)
    logs = math.sqrt(math.log(n) * math.log(1 / failure))
    least = min(
        1 / lipschitz,
        private / (moment_bound * n ** ((p + 1) / 2)),
        1 / (n ** ((p - 1) / 2) * lipschitz**2 * logs),
    )
    return float(min(radius / n ** (p / 2 if outer is None else outer) * least, 4 / smoothness))


def tuned_phases(
    n: int,
    *,
    dimension: int,
    diameter: float,
    smoothness: float,
    moment_bound: float,
    moment_order: float,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    steps: int = 400,
) -> tuple[Phase, ...]:
    """Four phases of half of what is left each, λ_i from balancing bias, noise and λD²: data-independent, same privacy.

    C = r̃·(n_i/share)^{1/k} equates clipping bias and noise of one phase; λ_1 = C√d·4√log(1/δ)/(ε·n_1·D) + r̃/(D√n_1) makes
    the noise at most D, and doubles from phase to phase while the noise at least halves.  T steps of η = min(1/α, 1/(2λ)).
    """
    n = whole("n", n, least=16)
    spend = budget(epsilon=epsilon, delta=delta, rho=rho)
    share, k = private_share(spend, whole("dimension", dimension, least=1)), high_order(moment_order)
    D, r, alpha = positives(diameter=diameter, moment_bound=moment_bound, smoothness=smoothness)
    phases = []
    for i in range(1, 5):
        size = n // 2**i
        clip = r * max(1.0, size / share) ** (1 / k)
        noise = noise_scale(2 * clip / size, spend) * math.sqrt(dimension)  # of λ(w_i − ŵ_i)
        weight = 4.0 ** (i - 1) * (noise + r / math.sqrt(size)) / D
        phases.append(Phase(size, min(1 / alpha, 1 / (2 * weight)), weight, clip, D, steps))
    return tuple(phases)


# --- neighbours -------------------------------------------------------------------------------------------------------


def worst_neighbours(
    n: int, d: int, *, loss: AnyLoss | str, phases: Sequence[Phase], **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Those of Algorithm 2 in the first batch, the others quiet."""
    first = phases[0]
    pairs = descent.worst_neighbours(first.size, d, loss=loss, clip=first.clip, weight=first.weight)
    return with_quiet(pairs, n, last=float(loss in ("logistic", "hinge")))


def counterexample(n: int = 64) -> dict[str, Any]:
    """The parameters, for n = 64 (or at least 48) records in the plane, with which `worst_neighbours` refutes the published
    claim.

    δ = 1e-5, ε = √log(1/δ), p = 1, α = 1, η_1 = 1, C_1 = 1; the first batch is `descent.turning_records`, the others have
    loss 0.
    """
    delta = 1e-5
    claim: dict[str, Any] = {"epsilon": math.sqrt(-math.log(delta)), "delta": delta}
    reach = 1e6
    sizes: dict[str, Any] = {"dimension": 2, "step": 4.0, "lipschitz": reach, "moment_order": 2.0}
    one = published_phases(n, moment_bound=1.0, **sizes, **claim)
    phases = published_phases(n, moment_bound=1 / one[0].clip, **sizes, **claim)
    start = turning_records(phases[0].size, clip=phases[0].clip, weight=phases[0].weight)[2]
    return {
        "loss": RecordQuadratic(),
        "domain": Ball(np.zeros(2), reach),
        "phases": phases,
        "smoothness": 1.0,
        "start": start,
        **claim,
    }
