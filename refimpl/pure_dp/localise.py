"""[P4, Algorithm 2] Localisation by output perturbation: a ball that holds the regularised minimiser, ε-DP.

Statement: [P4, Lemma 2.4 (C.2)] W_loc = W ∩ B(w_p, r) contains argmin_W F̂_{λ,C} with probability at least 1 − ζ.
Departures: r is the exact quantile of the noise plus κC/(λn), where the paper has O(d·log(1/ζ)); ρ-zCDP too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.channel import Channel
from tailproof.refimpl.domains import Domain, Localised
from tailproof.refimpl.losses import Loss
from tailproof.refimpl.pure_dp.perturbation import (
    Budget,
    Minimise,
    RegularisedProblem,
    certified_point,
    localised_around,
    noisy,
    prepare,
)
from tailproof.refimpl.pure_dp.single import privacy, sensitivity, worst_neighbours
from tailproof.refimpl.validation import FloatArray, probability

__all__ = ["localise", "localised_ball", "localised_part", "privacy", "sensitivity", "worst_neighbours"]


def localise(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: Loss | str,
    domain: Domain | str,
    weight: float,
    lipschitz: float,
    failure: float,
    epsilon: float | None = None,
    rho: float | None = None,
    kappa: float | None = None,
    center: ArrayLike | None = None,
    method: Minimise = certified_point,
    strict: bool = False,
) -> Localised:
    """W ∩ B(w_p, r)."""
    claim, zeta = privacy(epsilon=epsilon, rho=rho), probability("failure", failure)
    problem, rows = prepare(
        data, loss=loss, domain=domain, weight=weight, lipschitz=lipschitz, kappa=kappa, center=center, strict=strict
    )
    return localised_part(problem, rows, channel, spend=claim, failure=zeta, method=method)


def localised_part(
    problem: RegularisedProblem, rows: FloatArray, channel: Channel, *, spend: Budget, failure: float, method: Minimise
) -> Localised:
    n = len(rows)
    point = method(problem.on(rows), problem.accuracy(n))  # line 1
    release = noisy("point", point, channel, sensitivity=problem.sensitivity_upper(n), spend=spend)  # line 2
    return localised_around(problem, problem.domain.project(release), n, spend, failure)  # lines 3, 4


def localised_ball(data: ArrayLike, channel: Channel, **parameters: object) -> FloatArray:
    """w_p and r as one array, for checks of what is published."""
    part = localise(data, channel, **parameters)  # type: ignore[arg-type]
    return np.append(part.center, part.radius)
