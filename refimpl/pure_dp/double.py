"""[P4, Algorithm 4] Double output perturbation: localise with half of the budget, minimise again there, perturb again.

Statement: [P4, Proposition 3.2] ε-DP; within O((G/λ)(d/(nε))^{1−1/k}) of argmin_W F̂_λ with constant probability, for
C = G·(nε/d)^{1/k}.

Two readings of the second stage's objective exist: the infimum in f_C runs over W (A) or over W_loc (B).  Under (A) it is the
same function as before, minimised over a set that holds its minimiser but for a probability of ζ: the second stage then
finds the same point, and only its noise is fresh.  Under (B) the extension is closer to the loss in value, as it needs to be
C-Lipschitz on W_loc only; its slopes are cut to C as before, and with them the bias stays (benchmarks/localisation.py, `bias`).

Departures: r as in `localise`; ρ-zCDP too; where floats ask for it, κ is larger in the second stage; the projection onto
W_loc is that of `tailproof.refimpl.domains`.
"""

from __future__ import annotations

import math
from typing import Literal

from numpy.typing import ArrayLike

from tailproof.refimpl.channel import Channel
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.extension.certified import accuracy_for
from tailproof.refimpl.losses import Loss
from tailproof.refimpl.pure_dp.localise import localised_part
from tailproof.refimpl.pure_dp.perturbation import (
    STAGE_FAILURE,
    Minimise,
    certified_point,
    halved,
    noisy,
    prepare,
)
from tailproof.refimpl.pure_dp.single import privacy, sensitivity, worst_neighbours
from tailproof.refimpl.validation import FloatArray, choice, positive, probability, whole

__all__ = ["double_output_perturbation", "paper_lipschitz", "privacy", "sensitivity", "worst_neighbours"]

Reading = Literal["A", "B"]


def double_output_perturbation(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: Loss | str,
    domain: Domain | str,
    weight: float,
    lipschitz: float,
    epsilon: float | None = None,
    rho: float | None = None,
    failure: float = STAGE_FAILURE,
    reading: Reading = "A",
    kappa: float | None = None,
    center: ArrayLike | None = None,
    method: Minimise = certified_point,
    strict: bool = False,
) -> FloatArray:
    """A point of W_loc, hence of W, near argmin_W F̂_λ."""
    half, zeta = halved(privacy(epsilon=epsilon, rho=rho)), probability("failure", failure)
    over_domain = choice("reading", reading, ("A", "B")) == "A"
    problem, rows = prepare(
        data, loss=loss, domain=domain, weight=weight, lipschitz=lipschitz, kappa=kappa, center=center, strict=strict
    )
    n = len(rows)

    first = channel.part("localise", range(n))
    local = localised_part(problem, rows, first, spend=half, failure=zeta, method=method)  # line 1
    problem = problem.within(local, n)
    inner = problem.domain if over_domain else local
    accuracy = accuracy_for(lipschitz=problem.lipschitz, weight=problem.weight, size=n, kappa=problem.kappa)
    second = method(problem.on(rows, inner=inner, within=local), accuracy)  # line 2
    return local.project(noisy("point", second, channel, sensitivity=problem.sensitivity_upper(n), spend=half))  # lines 3, 4


def paper_lipschitz(*, moment_bound: float, moment_order: float, size: int, dimension: int, epsilon: float) -> float:
    """The paper's C = G·(nε/d)^{1/k}."""
    rate = whole("size", size, least=1) * positive("epsilon", epsilon) / whole("dimension", dimension, least=1)
    return positive("moment_bound", moment_bound) * math.pow(rate, 1 / positive("moment_order", moment_order))
