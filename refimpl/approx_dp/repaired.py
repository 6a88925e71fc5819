"""[P0.R3, ours] LNC-GM repaired: each phase minimises the regularised Lipschitz extension, certified, in place of clipped
descent.

Setting: that of P0's Algorithm 3, without smoothness: all losses that the extension is known for, generalised linear or not.
Statement: (ε, δ)-DP for ε ≤ 2log(1/δ), or ρ-zCDP, for all data.  Phase i releases a point within κC_i/(n_iλ_i) of the
minimiser of F̂_{λ,C} around w_{i−1}, whose sensitivity is at most (2 + 2κ)C_i/(n_iλ_i) (`pure_dp.perturbation`), with
Algorithm 3's noise for that.  The batches are disjoint.
Price: the noise is 1 + κ times that of Algorithm 3, and a phase takes a certified minimisation in place of T_i steps.  The
bias of the extension is no more than that of clipping: (1/n_i) Σ √(L_j² − C²)₊/λ_i in the minimiser (`pure_dp.single`).
Departures: it is ours.  No ball around w_{i−1}: the regularisation keeps the minimiser within C_i/λ_i of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.budget import Budget, at_most, budget, noise_scale, twice, warn_if_weak
from tailproof.refimpl.approx_dp.localised import Phase
from tailproof.refimpl.approx_dp.problem import prepare, with_quiet
from tailproof.refimpl.approx_dp.steps import consecutive
from tailproof.refimpl.channel import L2, Channel
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.losses import GlmLoss, Loss, Quadratic, Ridge
from tailproof.refimpl.pure_dp import single
from tailproof.refimpl.pure_dp.perturbation import Minimise, RegularisedProblem, certified_point
from tailproof.refimpl.validation import FloatArray, InputError, positive


def localised_extension(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: Loss | str,
    domain: Domain | str,
    phases: Sequence[Phase],
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    kappa: float = 0.1,
    start: ArrayLike | None = None,
    method: Minimise = certified_point,
) -> FloatArray:
    """A point of W.  `phases` are those of `localised`, of which the sizes, λ_i and C_i count; `start` is w0."""
    spend = privacy(epsilon=epsilon, delta=delta, rho=rho)
    if not phases:
        raise InputError("phases: are none; at least one is needed")
    kappa = positive("kappa", kappa)
    given = prepare(data, loss=loss, domain=domain, start=start, extended=True)
    region, point, rows = given.domain, given.start, given.rows
    batches = consecutive((phase.size for phase in phases), len(rows), what="phases")
    warn_if_weak(delta, len(rows))
    for i, (phase, batch) in enumerate(zip(phases, batches, strict=True), start=1):
        assert isinstance(given.loss, GlmLoss | Quadratic | Ridge)
        problem = RegularisedProblem(given.loss, region, point, phase.weight, phase.clip, kappa)
        records = rows[batch.start : batch.stop]
        found = method(problem.on(records), problem.accuracy(phase.size))
        reach = L2(problem.sensitivity_upper(phase.size))
        law = Gaussian(found, noise_scale(reach.value, spend))
        point = region.project(channel.part(f"phase{i}", batch).release("point", law, sensitivity=reach, spend=spend))
    return point


def privacy(*, epsilon: float | None = None, delta: float | None = None, rho: float | None = None) -> Budget:
    """Ours: see the module's text."""
    return at_most(budget(epsilon=epsilon, delta=delta, rho=rho), twice, place="its noise")


def worst_neighbours(n: int, d: int, *, phases: Sequence[Phase], **_: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Those of single output perturbation in the first batch, the others quiet."""
    return with_quiet(single.worst_neighbours(phases[0].size, d, lipschitz=phases[0].clip), n)
