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

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refimpl.approx_dp.budget import Budget, at_most, budget, noise_scale, warn_if_weak
from refimpl.approx_dp.localised import Phase
from refimpl.channel import L2, Channel
from refimpl.claims import ApproxDP
from refimpl.domains import Domain, parse_domain
from refimpl.laws import Gaussian
from refimpl.losses import Loss, dimension_of, parse_loss
from refimpl.pure_dp import single
from refimpl.pure_dp.perturbation import Minimise, RegularisedProblem, certified_point, table
from refimpl.validation import FloatArray, InputError, positive, vector


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
    positive("kappa", kappa)
    rows = table(data)
    function = parse_loss(loss) if isinstance(loss, str) else loss
    columns = rows.shape[1]
    region = parse_domain(domain, dimension_of(function, columns)) if isinstance(domain, str) else domain
    point = region.interior_point() if start is None else vector("start", start, size=region.dimension)
    if (needed := sum(phase.size for phase in phases)) > len(rows):
        raise InputError(f"data: has {len(rows)} records; the phases need {needed}")
    warn_if_weak(spend, len(rows))
    for i, (phase, end) in enumerate(zip(phases, accumulate(p.size for p in phases), strict=True), start=1):
        batch = range(end - phase.size, end)
        problem = RegularisedProblem.of(
            loss=function,
            domain=region,
            columns=columns,
            weight=phase.weight,
            lipschitz=phase.clip,
            kappa=kappa,
            center=point,
        )
        records = rows[batch.start : batch.stop]
        found = method(problem.on(records), problem.accuracy(phase.size))
        reach = L2(problem.sensitivity_upper(phase.size))
        law = Gaussian(found, noise_scale(reach.value, spend))
        point = region.project(channel.part(f"phase{i}", batch).release("point", law, sensitivity=reach, spend=spend))
    return point


def privacy(*, epsilon: float | None = None, delta: float | None = None, rho: float | None = None) -> Budget:
    """Ours: see the module's text."""
    spend = budget(epsilon=epsilon, delta=delta, rho=rho)
    return at_most(spend, -2 * math.log(spend.delta), place="its noise") if isinstance(spend, ApproxDP) else spend


def worst_neighbours(n: int, d: int, *, phases: Sequence[Phase], **_: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Those of single output perturbation in the first batch, the others quiet."""
    quiet = np.zeros((n - phases[0].size, d))
    for rows, neighbour in single.worst_neighbours(phases[0].size, d, lipschitz=phases[0].clip):
        yield np.vstack([rows, quiet]), np.vstack([neighbour, quiet])
