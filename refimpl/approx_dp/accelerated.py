"""[P0, Algorithm 6] PNCA-SGD: permuted noisy clipped accelerated SGD, one pass over the data in a random order.

Setting: F β-smooth on W of diameter D, E sup_W ‖∇f‖^k ≤ r̃^k; no Lipschitz constant.  T steps of AC-SA (Ghadimi and Lan
2012), each on a batch of n/T records of its own, with clipped gradients and Gaussian noise.
Statement: (ε, δ)-DP for ε = O(√(log(n/δ)/n)) by shuffling; excess risk of O(r̃D(1/√n + (√(d·log(1/δ))/(εn))^{(k−1)/k})) [P0
Theorem 6].
What holds, and what each `noise` is:
  "record"  the proof's: every record's clipped gradient gets N(0, σ₁²), σ₁ = 2√2·C√log(1/δ₀)/ε₀, which makes it an (ε₀, δ₀)
            local randomiser, with (ε₀, δ₀) from the explicit theorem of `shuffling`.  The published claim is proved, for all
            data and losses.
  "batch"   the box: one N(0, σ²) per batch, σ² = O(C²T log(1/δ)/(n²ε²)), the constant being the proof's, 128, without its
            factor log(n/δ).  Each batch is then Tε²/(64 log(1/δ))-zCDP, which implies the claim, without shuffling, for T up
            to 16, or a little more (27 at ε = 0.3, δ = 1e-5).  Beyond that it is unproved, not refuted (erratum
            P0.Alg6.variance), and the function warns.
            The noise of "record", averaged over the batch, has σ₁²T/n in its place.
  "central" no amplification: one N(0, σ²) per batch for its sensitivity 2CT/n [P0 Definition 3]; (ε, δ) for ε ≤ 2log(1/δ), or
            ρ-zCDP.
Given the order, a batch's release is ρ-zCDP, ρ = Δ²/(2σ²) (`conditional_privacy`): a record is in one batch only.
Departures: batches hold ⌊n/T⌋ records; up to T − 1 are not used.  α_t = 2/(t + 1), so that α_1 = 1 (Algorithm 7 prints 2/(t
+ 2): erratum P0.Alg7.alpha), η_t = 4η/(t(t + 1)) as Algorithm 7 has it.  ε's range is the one where ε₀ ≤ 1/2, as the proof
assumes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.budget import Budget, at_most, budget, noise_scale, private_share, twice, warn_if_weak
from tailproof.refimpl.approx_dp.gradients import clipped_batch_gradient, projection
from tailproof.refimpl.approx_dp.problem import Problem, prepare
from tailproof.refimpl.approx_dp.public import high_order, positives, sizes
from tailproof.refimpl.approx_dp.shuffling import local_budget
from tailproof.refimpl.channel import L2, Bound, Channel
from tailproof.refimpl.claims import ZCDP, ApproxDP, UnprovedClaim, gaussian_delta, zcdp_epsilon
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.laws import Gaussian, UniformPermutation
from tailproof.refimpl.losses import AnyLoss
from tailproof.refimpl.means.rows import clip_weights, replace_record
from tailproof.refimpl.validation import FloatArray, InputError, choice, positive, whole

NOISES = ("record", "batch", "central")
BOX_CONSTANT = 128.0


def pnca_sgd(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    clip: float,
    steps: int,
    proximity: float,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    noise: str = "record",
    start: ArrayLike | None = None,
) -> FloatArray:
    """w_T^ag.  `clip` is C, `steps` is T, `proximity` is η; `rho` goes with central noise only."""
    clip, proximity = positive("clip", clip), positive("proximity", proximity)
    steps = whole("steps", steps, least=1)
    spend = privacy(epsilon=epsilon, delta=delta, rho=rho, noise=noise)
    problem = prepare(data, loss=loss, domain=domain, start=start)
    warn_if_weak(delta, len(problem.rows))
    return run_batches(problem, channel, clip=clip, steps=steps, proximity=proximity, spend=spend, noise=noise)


def run_batches(
    problem: Problem, channel: Channel, *, clip: float, steps: int, proximity: float, spend: Budget, noise: str
) -> FloatArray:
    function, region, point, rows = problem.loss, problem.domain, problem.start, problem.rows
    n = len(rows)
    size = batch_size(n, steps)
    calibrated = calibration(n, clip=clip, steps=steps, spend=spend, noise=noise)
    if noise == "batch" and isinstance(spend, ApproxDP) and zcdp_epsilon(calibrated.spend.rho, spend.delta) > spend.epsilon:
        warnings.warn(
            "noise = 'batch': the box's noise is below the proof's (P0.Alg6.variance)", UnprovedClaim, stacklevel=3
        )
    order = np.asarray(channel.hidden("order", UniformPermutation(n)))  # line 1
    rows = rows.take(order[: steps * size], axis=0)  # in that order batches are consecutive
    project, average = projection(region), point  # line 2
    clipped = clipped_batch_gradient(function, rows, clip=clip, size=size, domain=region)
    for t in range(1, steps + 1):  # line 3
        alpha, eta = 2 / (t + 1), 4 * proximity / (t * (t + 1))
        between = (1 - alpha) * average + alpha * point  # line 4
        members = slice((t - 1) * size, t * size)  # line 5
        part = channel.part(f"batch{t}", order[members])
        if noise == "record":
            gradients = function.gradients(between, rows[members])
            query = (clip_weights(gradients, clip)[:, np.newaxis] * gradients).ravel()
        else:
            query = clipped(between, members)
        law = Gaussian(query, calibrated.scale)
        noisy = part.release("gradient", law, sensitivity=calibrated.reach, spend=calibrated.spend, visible=False)
        slope = noisy.reshape(-1, region.dimension).mean(axis=0)  # line 6
        point = project(point - alpha / eta * slope)  # line 7
        average = alpha * point + (1 - alpha) * average  # line 8
    return region.project(average)


def privacy(
    *, epsilon: float | None = None, delta: float | None = None, rho: float | None = None, noise: str = "record"
) -> Budget:
    """[P0, Theorem 6], of the output over the random order; see the module's text for when it is proved."""
    spend = budget(epsilon=epsilon, delta=delta, rho=rho)
    if choice("noise", noise, NOISES) != "central" and isinstance(spend, ZCDP):
        raise InputError(f"rho = {rho!r}: shuffling is for epsilon and delta; rho goes with noise='central'")
    return at_most(spend, twice, place="its noise")


@dataclass(frozen=True)
class Calibration:
    """Of a batch's release, given the order: sensitivity, noise, and what they spend."""

    reach: Bound
    scale: float

    @property
    def spend(self) -> ZCDP:
        return ZCDP(self.reach.value**2 / (2 * self.scale**2))


def calibration(n: int, *, clip: float, steps: int, spend: Budget, noise: str) -> Calibration:
    size = batch_size(n, steps)
    if noise == "central":
        reach = L2(2 * clip / size)
        return Calibration(reach, noise_scale(reach.value, spend))
    assert isinstance(spend, ApproxDP)
    local = local_budget(spend, n=n)  # also refuses what is beyond the theorem
    if noise == "record":
        scale = 2 * math.sqrt(2) * clip * math.sqrt(math.log(1 / local.delta)) / local.epsilon
        if gaussian_delta(2 * clip / scale, local.epsilon) > local.delta:
            raise InputError(f"delta = {spend.delta!r}: σ₁ of the proof is not that of an (ε₀, δ₀) randomiser here")
        return Calibration(L2(2 * clip), scale)
    variance = BOX_CONSTANT * clip**2 * math.log(1 / spend.delta) / (n * size * spend.epsilon**2)  # T/n² is 1/(n·size)
    return Calibration(L2(2 * clip / size), math.sqrt(variance))


def batch_size(n: int, steps: int) -> int:
    if steps > n:
        raise InputError(f"steps = {steps}: must be at most the number of records, {n}")
    return n // steps


def conditional_privacy(
    *,
    n: int,
    clip: float,
    steps: int,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    noise: str = "record",
) -> ZCDP:
    """Of all releases, given the order: a record is in one batch only."""
    spend = privacy(epsilon=epsilon, delta=delta, rho=rho, noise=noise)
    return calibration(n, clip=clip, steps=steps, spend=spend, noise=noise).spend


def published_parameters(
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
    noise: str = "record",
) -> dict[str, Any]:
    """T of Theorem 6 (at least 1, at most n), C of line 6, and AC-SA's η = max(2β, √(2Σ²T(T + 1)(T + 2)/3)/D), Σ² = dσ² +
    r̃²T/n.

    The last is Ghadimi and Lan's choice; P0 does not print η.  They depend on public numbers only, so any other choice, such as
    more steps, has the same privacy.
    """
    spend = privacy(epsilon=epsilon, delta=delta, rho=rho, noise=noise)
    n, dimension = sizes(n=n, dimension=dimension)
    k = high_order(moment_order)
    D, beta, r = positives(diameter=diameter, smoothness=smoothness, moment_bound=moment_bound)
    ratio = n / private_share(spend, dimension)
    steps = min(n, max(1, round(math.sqrt(beta * D / r) * min(ratio ** ((k - 1) / (2 * k)), n**0.25))))
    clip = r * ratio ** (1 / k)
    used = calibration(n, clip=clip, steps=steps, spend=spend, noise=noise)
    size = batch_size(n, steps)
    variance = used.scale**2 / (size if noise == "record" else 1)
    total = dimension * variance + r**2 / size
    proximity = max(2 * beta, math.sqrt(2 * total * steps * (steps + 1) * (steps + 2) / 3) / D)
    return {"clip": clip, "steps": steps, "proximity": proximity, "noise": noise}


def worst_neighbours(n: int, d: int, *, clip: float, **_: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A record that pulls with all of C against the opposite, all others alike: whatever its batch, that one's mean moves by
    2C/size.
    """
    record = np.append(np.eye(d)[0, :-1], 1e6 * clip) if d > 1 else np.array([1e6 * clip])
    for others in (0.0, 1.0):
        data = np.tile(others * record, (n, 1))
        data[0] = record
        yield data, replace_record(data, 0, record * np.append(np.ones(d - 1), -1.0))
        yield data, replace_record(data, 0, -record)
