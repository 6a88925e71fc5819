"""[P2, Algorithm 1] Gradient descent over a private mean estimator: simple clipping, or iterative updating.

Setting: a bounded convex W of diameter L, a λ-smooth risk, E|⟨u, ∇l⟩|^p ≤ M^p for every unit u and p ≥ 2.
Statement: (ε, δ)-DP for ε ≤ 1, every record being used in each of the T steps,
  clipping   each step ρ/T-zCDP with √ρ = ε/(1 + 2√ln(1/δ)) [P2 Theorem 3]: ρ ≤ √ρ, so ρ + 2√(ρ ln(1/δ)) ≤ ε;
  updating   each step (ε₀, δ₀) = (ε/(2√(2T ln(2/δ))), δ/(2T)) [P2 (32)]: by advanced composition the run is
             (ε/2 + Tε₀(e^{ε₀} − 1), δ)-DP, at most 0.73ε, as Tε₀² = ε²/(8 ln(2/δ)) and ε₀ ≤ 0.43.
Risk: [P2 Theorem 4] and [P2 Theorem 7].  Theorem 7 does not hold: at its choices Algorithm 3 returns its start (P2.Thm7.start).
A step over iterative updating needs more than Theorem 7 says (P2.Thm7.condition): ε₀ ≤ 8e²√(ln(4/δ₀)/k), and, for more than
64e⁴ln(8/δ₀) groups of several records, a shuffling theorem that does not cover them (P2.Thm6.randomiser).  The first is refused,
the second too unless `accept_unproved` is given.  What holds given the groups is `conditional_privacy`.
Departures: the initial point is w_1, which the box calls w_0.  The T-th gradient is released, as printed, though ŵ does not use it.
R and T of Theorems 4 and 7 are printed for M = 1; `published_parameters` scales R by M, and rounds T up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.budget import warn_if_weak
from tailproof.refimpl.approx_dp.framework import worst_neighbours
from tailproof.refimpl.approx_dp.problem import prepare
from tailproof.refimpl.approx_dp.public import high_order, positives, sizes
from tailproof.refimpl.approx_dp.steps import Estimator, batches_of, projected_steps
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ZCDP, ApproxDP, split_for_advanced
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss
from tailproof.refimpl.means.distance_program import METHODS
from tailproof.refimpl.means.iterative_updating import AMPLIFICATIONS, group_budget, iterative_updating_mean
from tailproof.refimpl.means.simple_clipping import simple_clipping_mean
from tailproof.refimpl.validation import FloatArray, InputError, between, choice, positive, probability, whole

__all__ = [
    "Parameters",
    "conditional_privacy",
    "privacy",
    "private_gradient_descent",
    "published_parameters",
    "tuned_parameters",
    "worst_neighbours",
]

ESTIMATORS = ("clipping", "updating")
GROUPS_PER_LOG = 800  # k = 800 ln(1/β) [P2 Lemma 6]
TUNED_GROUPS = 20
TUNED_CLIP = 2.0  # times M√d, which bounds the root mean square of a gradient's norm
MOST_TUNED_STEPS = {"clipping": 50, "updating": 5}


def private_gradient_descent(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    epsilon: float,
    delta: float,
    clip: float,
    steps: int,
    learning_rate: float,
    estimator: str = "clipping",
    groups: int | None = None,
    inner_steps: int = 1,
    amplification: str = "published",
    method: str = "auto",
    accept_unproved: bool = False,
    start: ArrayLike | None = None,
) -> FloatArray:
    """ŵ = (1/T) Σ w_t.  `clip` is R, `steps` is T, `learning_rate` is η, `start` is w_1 (default: the middle of W).

    For iterative updating `groups` is k and `inner_steps` is t_c; the others are those of `iterative_updating_mean`.
    """
    claim = privacy(epsilon=epsilon, delta=delta)
    steps, learning_rate = whole("steps", steps, least=1), positive("learning_rate", learning_rate)
    clip, mean = positive("clip", clip), choice("estimator", estimator, ESTIMATORS)
    inner: dict[str, Any] = {
        "steps": whole("inner_steps", inner_steps, least=1),
        "method": choice("method", method, METHODS),
    }
    choice("amplification", amplification, AMPLIFICATIONS)
    if mean == "clipping":
        if groups is not None:
            raise InputError(f"groups = {groups!r}: simple clipping has none")
        private_mean: Estimator = partial(simple_clipping_mean, clip=clip, rho=total_budget(epsilon, delta) / steps)
    else:
        share, groups = split_for_advanced(claim, steps), whole("groups", groups, least=1)
        _group_budget(share, groups, amplification)  # refuses before any record is looked at
        private_mean = partial(
            iterative_updating_mean,
            epsilon=share.epsilon,
            delta=share.delta,
            clip=clip,
            groups=groups,
            amplification=amplification,
            accept_unproved=accept_unproved,
            **inner,
        )
    problem = prepare(data, loss=loss, domain=domain, start=start)
    warn_if_weak(delta, len(problem.rows))
    batches = batches_of(len(problem.rows), steps, disjoint=False, least=groups or 1)
    points = projected_steps(problem, channel, private_mean, batches=batches, lengths=[learning_rate] * steps)
    return np.asarray(problem.domain.project(points[:-1].mean(axis=0)))


def total_budget(epsilon: float, delta: float) -> float:
    """ρ of the whole run over simple clipping, (15)."""
    return epsilon**2 / (1 + 2 * math.sqrt(math.log(1 / delta))) ** 2


def _group_budget(share: ApproxDP, groups: int, amplification: str = "published") -> float:
    """ρ of a group's release, (24) at a step's (ε₀, δ₀); refuses what Theorem 6 does not cover."""
    return group_budget(epsilon=share.epsilon, delta=share.delta, groups=groups, amplification=amplification)


def privacy(*, epsilon: float, delta: float) -> ApproxDP:
    """[P2, Theorem 3 and (32)], for ε ≤ 1."""
    return ApproxDP(between("epsilon", positive("epsilon", epsilon), 0, 1), delta)


def conditional_privacy(
    *,
    epsilon: float,
    delta: float,
    steps: int,
    estimator: str = "clipping",
    groups: int | None = None,
    amplification: str = "published",
) -> ZCDP:
    """Of all releases together, given the groups.  It implies the published claim but for very many groups."""
    claim = privacy(epsilon=epsilon, delta=delta)
    if choice("estimator", estimator, ESTIMATORS) == "clipping":
        return ZCDP(total_budget(epsilon, delta))
    share = split_for_advanced(claim, steps)
    return ZCDP(steps * _group_budget(share, whole("groups", groups, least=1), amplification))


# --- choices of parameters, from public numbers alone -------------------------------------------------------------------


@dataclass(frozen=True)
class Parameters:
    """What `private_gradient_descent` takes besides problem and budget."""

    clip: float
    steps: int
    learning_rate: float
    estimator: str = "clipping"
    groups: int | None = None
    inner_steps: int = 1
    amplification: str = "published"

    def keywords(self) -> dict[str, Any]:
        return dict(vars(self))


def published_parameters(
    records: int,
    dimension: int,
    *,
    epsilon: float,
    delta: float,
    moment_order: float,
    moment_bound: float,
    smoothness: float,
    estimator: str = "clipping",
    failure: float | None = None,
) -> Parameters:
    """[P2, Theorem 4], or [P2, Theorem 7] with k = ⌈800 ln(1/β)⌉ of Lemma 6 and β = `failure` (default: 1/n).

    `moment_order` is p, `moment_bound` is M, `smoothness` is λ.  For iterative updating k ≤ n is needed: n ≥ 7094 at β = 1/n.
    There t_c is that of Lemma 8 for a start within M of the mean and r₀ = M/√n.
    """
    claim = privacy(epsilon=epsilon, delta=delta)
    n, d = sizes(records=records, dimension=dimension)
    p, moment = high_order(moment_order), positive("moment_bound", moment_bound)
    if choice("estimator", estimator, ESTIMATORS) == "clipping":
        rho = total_budget(epsilon, delta)
        radius = math.sqrt(d) * min((n * math.sqrt(rho / d)) ** (1 / p), (n / d) ** (1 / p))  # (19)
        steps = math.ceil(rho * n**2 / (d * radius**2))
        return Parameters(moment * radius, steps, _rate(steps, smoothness))
    radius = math.sqrt(d) * (n * epsilon / math.sqrt(d)) ** (1 / p)
    steps = math.ceil(n**2 * epsilon**2 / (d * radius**2))
    beta = 1 / n if failure is None else probability("failure", failure)
    groups = math.ceil(GROUPS_PER_LOG * math.log(1 / beta))
    if groups > n:
        raise InputError(f"records = {n}: at least {groups} are needed, one for each group of Lemma 6")
    _group_budget(split_for_advanced(claim, steps), groups)  # refuses what Theorem 6 does not cover
    inner = max(1, math.ceil(2 * math.log(math.sqrt(n) / 4) / math.log(256 / 233)))
    return Parameters(moment * radius, steps, _rate(steps, smoothness), "updating", groups, inner)


def _rate(steps: int, smoothness: float) -> float:
    """η = 1/√(2Tλ²)."""
    return 1 / (math.sqrt(2 * steps) * positive("smoothness", smoothness))


def tuned_parameters(
    records: int,
    dimension: int,
    *,
    epsilon: float,
    delta: float,
    moment_order: float,
    moment_bound: float,
    smoothness: float,
    diameter: float,
    estimator: str = "clipping",
) -> Parameters:
    """Practical choices with the same privacy and no guarantee of risk: R at most 2M√d, no more steps than pay for their noise.

    η minimises Lemma 3's bound (11) for the noise of T steps, but is at most 1/λ.  Iterative updating has 20 groups and spends
    (ε₀, δ₀) on each without shuffling, whose constants cost far more than it gains; it takes few steps.
    """
    claim = privacy(epsilon=epsilon, delta=delta)
    n, d = sizes(records=records, dimension=dimension)
    p, moment = high_order(moment_order), positive("moment_bound", moment_bound)
    steep, reach = positives(smoothness=smoothness, diameter=diameter)
    clip = moment * math.sqrt(d) * min(TUNED_CLIP, max(1.0, (n * epsilon / math.sqrt(d)) ** (1 / p)))
    most = MOST_TUNED_STEPS[choice("estimator", estimator, ESTIMATORS)]
    if estimator == "updating":
        rho = _group_budget(split_for_advanced(claim, most), TUNED_GROUPS, "none")
        noise = d * 2 * clip**2 * TUNED_GROUPS**2 / (rho * n**2)
        rate = _best_rate(most, steep, reach, noise)
        return Parameters(clip, most, rate, "updating", TUNED_GROUPS, 10, "none")
    rho = total_budget(epsilon, delta)
    per_step = d * 2 * clip**2 / (rho * n**2)  # E‖W‖² of T steps is T times this
    steps = max(1, min(most, math.ceil((steep * reach) ** 2 / per_step)))
    return Parameters(clip, steps, _best_rate(steps, steep, reach, steps * per_step))


def _best_rate(steps: int, smoothness: float, diameter: float, noise: float) -> float:
    """The η that minimises L²/(2ηT) + η(λ²L² + G²) of (11), at most 1/λ."""
    return min(1 / smoothness, diameter / math.sqrt(2 * steps * ((smoothness * diameter) ** 2 + noise)))
