"""[P3, Algorithm 2] DP-SCO: gradient descent over the truncated median of means, DPHDME (P3 Algorithm 3).

Setting: a convex W of diameter Δ, a non-negative loss whose risk is β-smooth with ‖∇L‖ ≤ R on W and ∇L(w*) = 0, and
E|∇_jℓ|^{1+v} ≤ u for every coordinate.
Statement: (ε, δ)-DP for 0 < ε, δ < 1 [P3 Theorem 5],
  convex            all records in every step, each step (ε', δ') = (ε/(2√(2T log(2/δ))), δ/(2T)), composed by [P3 Lemma 1];
  strongly convex   T disjoint batches, each step (ε, δ): a record is in one of them.
Risk: [P3 Theorem 6] for convex, [P3 Theorem 7] for strongly convex losses; the latter needs another τ than it prints (P3.Thm7.tau).
Departures: line 7 gives DPHDME all of X; X_t is meant (P3.Alg2.batch).  `reading="printed"` takes it literally: then strongly
convex runs spend (ε, δ) on every record T times and the claim fails; it is kept to show that.  Batches hold ⌊n/T⌋ or ⌈n/T⌉
records.  ξ of DPHDME, which the algorithm's parameters do not name, is `failure`.  T is rounded up, and is 1 where its formula is
not positive.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.budget import warn_if_weak
from tailproof.refimpl.approx_dp.problem import prepare, with_gradients
from tailproof.refimpl.approx_dp.public import low_order, positives, sizes
from tailproof.refimpl.approx_dp.steps import batches_of, projected_steps
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ApproxDP, classical_gaussian_scale, split_for_advanced
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss
from tailproof.refimpl.means import median_of_means
from tailproof.refimpl.means.median_of_means import number_of_groups, truncated_median_of_means, wanted_groups
from tailproof.refimpl.validation import FloatArray, InputError, between, choice, positive, probability, whole

CONVEXITIES = ("convex", "strong")
READINGS = ("batch", "printed")
ERROR_CONSTANT = 1.0  # of the Õ of (23), which enters Theorem 7's T through its logarithm
STRONG_FAILURE = 0.1  # ξ in the proof of Theorem 7
MOST_TUNED_STEPS = 10


def dp_sco(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    epsilon: float,
    delta: float,
    steps: int,
    learning_rate: float,
    truncation: float,
    failure: float,
    convexity: str = "convex",
    reading: str = "batch",
    start: ArrayLike | None = None,
) -> FloatArray:
    """The mean of w_1 … w_T for convex losses, w_T for strongly convex ones.

    `steps` is T, `learning_rate` is η, `truncation` is τ, `failure` is ξ, `start` is w_0 (default: the middle of W).
    """
    claim = privacy(epsilon=epsilon, delta=delta)
    strong = choice("convexity", convexity, CONVEXITIES) == "strong"
    disjoint = in_batches(convexity, choice("reading", reading, READINGS))  # lines 3, 5 and 7
    steps, learning_rate = whole("steps", steps, least=1), positive("learning_rate", learning_rate)
    share = claim if strong else split_for_advanced(claim, steps)  # lines 3 and 6
    estimator = partial(
        truncated_median_of_means,
        epsilon=share.epsilon,
        delta=share.delta,
        failure=probability("failure", failure),
        truncation=positive("truncation", truncation),
    )
    problem = prepare(data, loss=loss, domain=domain, start=start)
    warn_if_weak(delta, len(problem.rows))
    groups = wanted_groups(problem.domain.dimension, failure=failure)
    batches = batches_of(len(problem.rows), steps, disjoint=disjoint, least=groups)
    lengths = [learning_rate] * steps
    points = projected_steps(problem, channel, estimator, batches=batches, lengths=lengths)  # lines 1-10
    return np.asarray(points[-1] if strong else problem.domain.project(points[1:].mean(axis=0)))  # lines 11-16


def in_batches(convexity: str, reading: str) -> bool:
    return convexity == "strong" and reading == "batch"


def privacy(*, epsilon: float, delta: float) -> ApproxDP:
    """[P3, Theorem 5], for ε ≤ 1."""
    return ApproxDP(between("epsilon", positive("epsilon", epsilon), 0, 1), delta)


def worst_neighbours(
    n: int,
    d: int,
    *,
    loss: AnyLoss | str,
    steps: int,
    failure: float,
    truncation: float,
    convexity: str = "convex",
    reading: str = "batch",
    **_: Any,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Records whose gradients, in the first step, are a worst pair of DPHDME on the smallest batch; the others zero."""
    batch = min(batches_of(n, steps, disjoint=in_batches(convexity, reading)), key=len)
    pairs = median_of_means.worst_neighbours(len(batch), d, failure=failure, truncation=truncation)
    return with_gradients(pairs, loss=loss, n=n, batch=batch)


# --- choices of parameters, from public numbers alone -------------------------------------------------------------------


@dataclass(frozen=True)
class Parameters:
    """What `dp_sco` takes besides problem and budget."""

    steps: int
    learning_rate: float
    truncation: float
    failure: float
    convexity: str = "convex"

    def keywords(self) -> dict[str, Any]:
        return dict(vars(self))


def published_convex(
    records: int, dimension: int, *, epsilon: float, moment_order: float, gradient_bound: float, diameter: float
) -> Parameters:
    """[P3, Theorem 6]; ξ = (γ/Δ)^{2d} with γ = n^{−v/(1+v)} [proof of Lemma 19].

    `moment_order` is 1 + v, `gradient_bound` is R, `diameter` is Δ.  Theorem 6's τ has no u: it is printed for u = O(1).
    """
    (n, d), order = sizes(records=records, dimension=dimension), low_order(moment_order)
    eps, steep, reach = positives(epsilon=epsilon, gradient_bound=gradient_bound, diameter=diameter)
    tau: float = (eps * n / d**1.5) ** (1 / order)
    steps = max(1, math.ceil((steep * eps * n / (tau * d**2)) ** 2))
    log_failure = -2 * d * math.log(reach * n ** ((order - 1) / order))
    if log_failure >= 0:
        raise InputError(
            f"diameter = {diameter!r}: Lemma 19's cover needs more than n^(-v/(1+v)) = {n ** (1 / order - 1):.3g}"
        )
    if log_failure < -700:
        raise InputError(f"dimension = {d}: Lemma 19's failure probability e^{log_failure:.0f} is beyond the floats")
    return Parameters(steps, reach / (steep * math.sqrt(steps)), tau, math.exp(log_failure))


def published_strong(
    records: int,
    dimension: int,
    *,
    epsilon: float,
    moment_order: float,
    moment_bound: float,
    strong_convexity: float,
    smoothness: float,
    tau: str = "printed",
) -> Parameters:
    """[P3, Theorem 7], with its G the right side of (23), whose Õ is `ERROR_CONSTANT`; ξ = 0.1.

    `moment_order` is 1 + v, `moment_bound` is u, `strong_convexity` is α, `smoothness` is β.  `tau="derived"` is Corollary 1's
    choice for batches of n/T records, which the theorem's rate needs.
    """
    (n, d), order = sizes(records=records, dimension=dimension), low_order(moment_order)
    eps, u = positives(epsilon=epsilon, moment_bound=moment_bound)
    alpha, beta = positives(strong_convexity=strong_convexity, smoothness=smoothness)
    if alpha > beta:
        raise InputError(f"strong_convexity = {alpha!r}: must be at most the smoothness, {beta!r}")
    power = (order - 1) / order
    error = (
        ERROR_CONSTANT * u ** (1 / order) * (math.sqrt(d) * n**-power + d ** ((1 + power) / 2) * (eps * n) ** -power)
    )  # (23)
    contraction = math.log1p(-alpha * beta / (alpha + beta) ** 2)  # log((α² + β² + αβ)/(α + β)²)
    steps = max(1, math.ceil(math.log((alpha + beta) * error / (alpha * beta)) / contraction))
    spread = d**1.5 * math.sqrt(steps) if choice("tau", tau, ("printed", "derived")) == "printed" else math.sqrt(d) * steps
    return Parameters(steps, 1 / (alpha + beta), (u * eps * n / spread) ** (1 / order), STRONG_FAILURE, "strong")


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
    convexity: str = "strong",
) -> Parameters:
    """Practical choices with the same privacy and no guarantee of risk: τ = u^{1/(1+v)}, ξ = 0.1, steps as the noise allows.

    V = √E‖ν‖² is the noise of a step, r = βΔ/2 about the steepest slope from the middle of W.  Disjoint batches: as many steps as
    keep V below r, of length (1/β)·r²/(r² + V²).  Full batches: ten, of the length (Δ/2)/√(T(r² + V²)) that minimises Lemma 17's
    bound, at most 1/β.
    """
    (n, d), order = sizes(records=records, dimension=dimension), low_order(moment_order)
    claim, reach = privacy(epsilon=epsilon, delta=delta), positive("diameter", diameter) / 2
    tau = positive("moment_bound", moment_bound) ** (1 / order)
    beta = positive("smoothness", smoothness)
    steep = beta * reach

    def noise(steps: int) -> float:
        share, size = (claim, n // steps) if convexity == "strong" else (split_for_advanced(claim, steps), n)
        group = max(1, size // number_of_groups(n, d, failure=STRONG_FAILURE))
        return classical_gaussian_scale(2 * tau * math.sqrt(d) / group, share.epsilon, share.delta) * math.sqrt(d)

    if choice("convexity", convexity, CONVEXITIES) == "strong":
        steps = max(1, min(MOST_TUNED_STEPS, int(steep / noise(1))))
        rate = steep**2 / (steep**2 + noise(steps) ** 2) / beta
    else:
        steps = MOST_TUNED_STEPS
        rate = min(1 / beta, reach / math.sqrt(steps * (steep**2 + noise(steps) ** 2)))
    return Parameters(steps, rate, tau, STRONG_FAILURE, convexity)
