"""[P3, Algorithm 5] Heavy-tailed private sparse optimisation: gradient steps on disjoint batches, hard thresholding by peeling.

Setting: w* has at most s* entries; the risk is μ-strongly convex and the loss γ-smooth along (2s + s*)-sparse differences;
E|∇_jℓ(w, x)|^{1+v} ≤ u for every coordinate and s-sparse w.
Statement: (ε, δ)-DP for 0 < ε, δ < 1: an entry of a step moves by at most λ = 2Bη₀/m when one of the batch's m records changes, and
no record is in two batches [P3 Theorem 10; its proof's 2Bηs/(3m) is a slip, P3.Thm10.sensitivity].  Peeling's noise vanishes as
δ → 1 (P3.Lem22); a δ for which composing its 2s releases does not give (ε, δ) is refused.  Risk: [P3 Theorem 10].
Departures: batches hold ⌊n/T⌋ or ⌈n/T⌉ records.  No loss is as assumed on all sparse w (P3.Asm2): `radius` keeps the iterates in a
ball, which is post-processing; without it the algorithm is as printed.  The constants of Theorem 10's O(·) are the module's: those
of T and s from its proof, that of B is 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.budget import warn_if_weak
from tailproof.refimpl.approx_dp.gradients import gradient_tables
from tailproof.refimpl.approx_dp.problem import parsed, records_of, with_gradients
from tailproof.refimpl.approx_dp.public import low_order, positives, sizes
from tailproof.refimpl.approx_dp.steps import batches_of
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ApproxDP, PureDP, implied_epsilon
from tailproof.refimpl.losses import AnyLoss, dimension_of
from tailproof.refimpl.means import peeling
from tailproof.refimpl.means.peeling import noise_scale, peel
from tailproof.refimpl.means.rows import truncated_mean_of
from tailproof.refimpl.validation import FloatArray, InputError, between, positive, probability, vector, whole

STEPS_CONSTANT = 72 / 5  # T = (72γ/(5μ))·log n: the proof's excess risk shrinks by 1 − 5μ/(72γ) in a step
SPARSITY_CONSTANT = 72  # s = 72(γ/μ)²s* [proof of Theorem 10, after (45)]
TRUNCATION_CONSTANT = 1.0
MOST_TUNED_STEPS = 4
TUNED_TRUNCATION = 3.0  # times u^{1/(1+v)}


def sparse_optimisation(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    epsilon: float,
    delta: float,
    sparsity: int,
    steps: int,
    learning_rate: float,
    truncation: float,
    radius: float | None = None,
    start: ArrayLike | None = None,
) -> FloatArray:
    """An s-sparse point.  `sparsity` is s, `steps` is T, `learning_rate` is η₀, `truncation` is B, `start` is w¹ (default: 0)."""
    privacy(epsilon=epsilon, delta=delta)
    sparsity, steps = whole("sparsity", sparsity, least=1), whole("steps", steps, least=1)
    eta, bound = positive("learning_rate", learning_rate), positive("truncation", truncation)
    reach = math.inf if radius is None else positive("radius", radius)
    _refuse_unproved(sparsity, epsilon, delta)
    function = parsed(loss)
    if start is not None:
        vector("start", start)
    rows = records_of(data, function)
    d = dimension_of(function, rows.shape[1])
    sparsity = whole("sparsity", sparsity, least=1, most=d)
    point = np.zeros(d) if start is None else vector("start", start, size=d)
    if np.count_nonzero(point) > sparsity or np.linalg.norm(point) > reach:
        shown = np.array2string(point, threshold=8)
        raise InputError(f"start = {shown}: at most {sparsity} entries may not be 0, and the norm be at most {reach:g}")
    warn_if_weak(delta, len(rows))
    batches, tables = batches_of(len(rows), steps, disjoint=True), gradient_tables(function, rows, repeated=False)  # line 1
    for t, batch in enumerate(batches, start=1):  # line 2
        gradients = tables(point, batch)
        half = point - eta * truncated_mean_of(gradients, bound)  # lines 3-9
        part, moved = channel.part(f"step{t}", batch), sensitivity(len(batch), truncation=bound, learning_rate=eta)
        point = peel(half, part, sparsity=sparsity, epsilon=epsilon, delta=delta, sensitivity=moved)  # line 10
        point = point * min(1.0, reach / max(float(np.linalg.norm(point)), 1e-300))
        del gradients  # before there is the next table
    return point  # line 12


def sensitivity(size: int, *, truncation: float, learning_rate: float) -> float:
    """λ = 2Bη₀/m, of every entry of a step on m records.  Attained."""
    return 2 * truncation * learning_rate / size


def _refuse_unproved(sparsity: int, epsilon: float, delta: float) -> None:
    """Peeling's 2s releases, of 2λ and λ over its scale 4λ√(2s log(1/δ))/ε each, must imply (ε, δ) when composed."""
    unit = epsilon / (4 * math.sqrt(2 * sparsity * math.log(1 / delta)))
    found = implied_epsilon([PureDP(2 * unit)] * sparsity + [PureDP(unit)] * sparsity, delta)
    if found > epsilon:
        raise InputError(
            f"delta = {delta!r}: peeling's noise is too small for it; its releases compose to epsilon = {found:.4g}"
        )


def privacy(*, epsilon: float, delta: float) -> ApproxDP:
    """[P3, Theorem 10], for ε ≤ 1."""
    return ApproxDP(between("epsilon", positive("epsilon", epsilon), 0, 1), delta)


def worst_neighbours(
    n: int, d: int, *, loss: AnyLoss | str, steps: int, truncation: float, sparsity: int, **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Records whose gradients, in the first step, are a worst pair of peeling on the smallest batch; the others zero."""
    batch = min(batches_of(n, steps, disjoint=True), key=len)
    pairs = peeling.worst_neighbours(len(batch), d, truncation=truncation, sparsity=sparsity)
    return with_gradients(pairs, loss=loss, n=n, batch=batch)


# --- choices of parameters, from public numbers alone -------------------------------------------------------------------


@dataclass(frozen=True)
class Parameters:
    """What `sparse_optimisation` takes besides problem and budget."""

    sparsity: int
    steps: int
    learning_rate: float
    truncation: float

    def keywords(self) -> dict[str, Any]:
        return dict(vars(self))


def published_parameters(
    records: int,
    dimension: int,
    *,
    epsilon: float,
    delta: float,
    true_sparsity: int,
    moment_order: float,
    moment_bound: float,
    strong_convexity: float,
    smoothness: float,
    failure: float,
) -> Parameters:
    """[P3, Theorem 10] with the module's constants; where they ask for s > d or T > n they are refused.

    `true_sparsity` is s*, `moment_order` is 1 + v, `moment_bound` is u, `strong_convexity` is μ, `smoothness` is γ, `failure` is ξ.
    """
    privacy(epsilon=epsilon, delta=delta)
    n, d = whole("records", records, least=2), whole("dimension", dimension, least=1)
    mu, gamma, u = positives(strong_convexity=strong_convexity, smoothness=smoothness, moment_bound=moment_bound)
    order = low_order(moment_order)
    steps = whole("steps", math.ceil(STEPS_CONSTANT * gamma / mu * math.log(n)), least=1, most=n)
    truly = whole("true_sparsity", true_sparsity, least=1, most=d)
    sparsity = whole("sparsity", math.ceil(SPARSITY_CONSTANT * (gamma / mu) ** 2 * truly), least=1, most=d)
    logs = math.log(d * steps / probability("failure", failure)) * math.sqrt(sparsity * math.log(1 / delta))
    bound = TRUNCATION_CONSTANT * (gamma * u * n * epsilon / (steps * logs)) ** (1 / order)
    return Parameters(sparsity, steps, 2 / (3 * gamma), bound)


def tuned_parameters(
    records: int,
    dimension: int,
    *,
    epsilon: float,
    delta: float,
    true_sparsity: int,
    moment_order: float,
    moment_bound: float,
    smoothness: float,
) -> Parameters:
    """Practical choices with the same privacy and no guarantee of risk: s = s*, B = 3u^{1/(1+v)}, steps of 1/γ.

    At most four steps, and so few that the largest of d selection noises is at most B/(16γ), about.
    """
    privacy(epsilon=epsilon, delta=delta)
    n, d = sizes(records=records, dimension=dimension)
    s = whole("true_sparsity", true_sparsity, least=1, most=d)
    bound = TUNED_TRUNCATION * positive("moment_bound", moment_bound) ** (1 / low_order(moment_order))
    noise = noise_scale(sparsity=s, epsilon=epsilon, delta=delta, sensitivity=2 / n) * math.log(2 * d)  # in units of B/γ
    steps = max(1, min(MOST_TUNED_STEPS, int(1 / (16 * noise))))
    return Parameters(s, steps, 1 / positive("smoothness", smoothness), bound)
