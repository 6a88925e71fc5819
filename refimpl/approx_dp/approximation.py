"""[P0, Algorithm 4] Private stochastic approximation: LNC-GM again and again, on disjoint parts and in ever smaller balls.

Setting: that of Algorithm 3, and (θ, λ)-TNC with θ ≥ 2; neither θ nor λ is an input.
Statement: (ε, δ)-DP, by Theorem 1 on disjoint parts; excess risk of Õ(λ^{−1/(θ−1)}(r̃(1/√n +
(√(d·log(1/δ))/(εn))^{(k−1)/k}))^{θ/(θ−1)}) [P0 Theorem 2]; the ρ-zCDP variant of Remarks 1 and 5.
What holds: what holds for Algorithm 3: the claim for generalised linear losses and d = 1, refuted in general
(P0.Alg2.stability).
Departures: those of `localised`.  W ∩ B(ŵ, R) is projected onto by P4's Lemma C.6, not by Dykstra's algorithm.  m < 1 is
refused: n is too small.  η = min(γ_l, 4/α), so that η_1 ≤ 1/α (the paper asks for n so large that γ_l ≤ 1/α).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp import localised
from tailproof.refimpl.approx_dp.budget import Budget, warn_if_weak
from tailproof.refimpl.approx_dp.localised import (
    Phase,
    around,
    check_phases,
    privacy,
    published_phases,
    published_step,
    run_phases,
    tuned_phases,
    warn_if_refuted,
)
from tailproof.refimpl.approx_dp.problem import Problem, prepare, with_quiet
from tailproof.refimpl.approx_dp.steps import consecutive
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ApproxDP
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss
from tailproof.refimpl.validation import FloatArray, InputError, positive, whole

__all__ = [
    "Stage",
    "check_stages",
    "privacy",
    "private_stochastic_approximation",
    "published_stages",
    "tuned_stages",
    "worst_neighbours",
]


@dataclass(frozen=True)
class Stage:
    """A part of the data, the radius of the ball in which it looks (None: all of W), and the phases of LNC-GM on it."""

    size: int
    radius: float | None
    phases: tuple[Phase, ...]


def private_stochastic_approximation(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    stages: Sequence[Stage],
    smoothness: float,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    start: ArrayLike | None = None,
) -> FloatArray:
    """ŵ_m, a point of W.  `stages` are those of `published_stages`, or tuned ones; `smoothness` is α, `start` is w_1."""
    spend = privacy(epsilon=epsilon, delta=delta, rho=rho)
    check_stages(stages, smoothness=smoothness)
    problem = prepare(data, loss=loss, domain=domain, start=start, smooth=True)
    return run_stages(problem, channel, stages, smoothness=smoothness, spend=spend)


def run_stages(
    problem: Problem, channel: Channel, stages: Sequence[Stage], *, smoothness: float, spend: Budget
) -> FloatArray:
    point, domain, rows = problem.start, problem.domain, problem.rows
    warn_if_weak(spend.delta if isinstance(spend, ApproxDP) else None, len(rows))
    warn_if_refuted(problem)
    parts = consecutive((stage.size for stage in stages), len(rows), what="stages")  # line 1
    for i, (stage, part) in enumerate(zip(stages, parts, strict=True), start=1):  # line 2
        region = domain if stage.radius is None else around(domain, point, stage.radius)
        inner = Problem(problem.loss, region, point, rows[part.start : part.stop])
        found = run_phases(inner, channel.part(f"stage{i}", part), stage.phases, smoothness=smoothness, spend=spend)
        point = domain.project(found)  # line 4; the projection is for rounding only
    return point


def check_stages(stages: Sequence[Stage], *, smoothness: float) -> None:
    if not stages:
        raise InputError("stages: are none; at least one is needed")
    for stage in stages:
        whole("size", stage.size, least=sum(phase.size for phase in stage.phases))
        check_phases(stage.phases, smoothness=smoothness)
        if stage.radius is not None:
            positive("radius", stage.radius)


def published_stages(
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
    horizon: float | None = None,
) -> tuple[Stage, ...]:
    """Lines 1 and 3: m = ⌊½log₂(2n/log₂n)⌋ − 1 parts of ⌊n/m⌋ records, R_l = R_0/2^l, R_0 = `radius`."""
    n = whole("n", n, least=4)
    count = math.floor(math.log2(2 * n / math.log2(n)) / 2) - 1
    if count < 1:
        raise InputError(f"n = {n}: is too small; Algorithm 4 has m = ⌊½log₂(2n/log₂n)⌋ − 1 = {count} parts")
    law: dict[str, Any] = {"dimension": dimension, "moment_bound": moment_bound, "moment_order": moment_order}
    law |= {"lipschitz": lipschitz, "epsilon": epsilon, "delta": delta, "rho": rho}
    how: dict[str, Any] = {"smoothness": smoothness, "failure": failure, "exponent": exponent, "horizon": horizon}
    return halving([n // count] * count, radius, lambda size, r: published_within(size, r, law, **how), balls=True)


def tuned_stages(
    n: int,
    *,
    dimension: int,
    radius: float,
    smoothness: float,
    moment_bound: float,
    moment_order: float,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    count: int = 2,
    steps: int = 200,
) -> tuple[Stage, ...]:
    """Few parts of equal size, halving balls, and `localised.tuned_phases` in each: data-independent, same privacy."""
    size = whole("n", n, least=1) // whole("count", count, least=1)
    law: dict[str, Any] = {"dimension": dimension, "smoothness": smoothness, "moment_bound": moment_bound}
    law |= {"moment_order": moment_order, "epsilon": epsilon, "delta": delta, "rho": rho, "steps": steps}
    return halving([size] * count, radius, lambda size, r: tuned_phases(size, diameter=2 * r, **law), balls=True)


def halving(
    sizes: Sequence[int], radius: float, phases: Callable[[int, float], tuple[Phase, ...]], *, balls: bool
) -> tuple[Stage, ...]:
    """Stages of these sizes with R_l = R_0/2^l, which is the radius of a ball or tells the phases only."""
    radii = [positive("radius", radius) / 2**i for i in range(len(sizes))]
    return tuple(Stage(size, r if balls else None, phases(size, r)) for size, r in zip(sizes, radii, strict=True))


def published_within(
    size: int, radius: float, law: dict[str, Any], *, exponent: float, horizon: float | None, **how: Any
) -> tuple[Phase, ...]:
    """LNC-GM's phases with the step of that radius."""
    step = published_step(size, radius=radius, exponent=exponent, **law, **how)
    return published_phases(size, step=step, exponent=exponent, horizon=horizon, **law)


def worst_neighbours(
    n: int, d: int, *, loss: AnyLoss | str, stages: Sequence[Stage], **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Those of LNC-GM in the first part, the others quiet."""
    first = stages[0]
    return with_quiet(localised.worst_neighbours(first.size, d, loss=loss, phases=first.phases), n)
