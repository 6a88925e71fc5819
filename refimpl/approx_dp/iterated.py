"""[P0, Algorithm 5] Iterated LNC-GM: on parts of growing size, each from where the last one ended, for TNC with an unknown θ
≥ θ̄ > 1.

Setting: that of Algorithm 3, and (θ, λ)-TNC with θ ≥ θ̄ > 1, θ̄ known.
Statement: (ε, δ)-DP for ε ≤ 2log(1/δ), by Theorem 1 on disjoint parts; the excess risk of Algorithm 4 [P0 Theorem 3]; the
ρ-zCDP variant.
What holds: as for Algorithm 3; Definition 3's noise is enough up to ε = 2log(1/δ) (erratum P0.Thm3.range says that Theorem 1
does not).
Departures: those of `localised`.  n_i = ⌊2^{i−1}n/(log n)^{log_θ̄ 2}⌋, the proof's exponent; the printed square can ask for
more than n records (erratum P0.Alg5.sizes).  Logarithms of n are to base 2.  Line 3 has lost its beginning: w_t is LNC-GM's
output on S_t from w_{t−1}; its n_0 is read as n_t.  The set is W (Remark 4: it differs from Algorithm 4's).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.approximation import (
    Stage,
    check_stages,
    halving,
    published_within,
    run_stages,
    worst_neighbours,
)
from tailproof.refimpl.approx_dp.budget import Budget, at_most, budget, twice
from tailproof.refimpl.approx_dp.localised import tuned_phases
from tailproof.refimpl.approx_dp.problem import prepare
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss
from tailproof.refimpl.validation import FloatArray, InputError, between, real, whole

__all__ = ["iterated_lnc_gm", "part_sizes", "privacy", "published_stages", "tuned_stages", "worst_neighbours"]


def iterated_lnc_gm(
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
    """w_l, a point of W.  `stages` are those of `published_stages`, or tuned ones; `smoothness` is α, `start` is w_0."""
    spend = privacy(epsilon=epsilon, delta=delta, rho=rho)
    check_stages(stages, smoothness=smoothness)
    problem = prepare(data, loss=loss, domain=domain, start=start, smooth=True)
    return run_stages(problem, channel, stages, smoothness=smoothness, spend=spend)


def privacy(*, epsilon: float | None = None, delta: float | None = None, rho: float | None = None) -> Budget:
    """[P0, Theorem 3; Remarks 1 and 5]  Refuted in general; see the module's text."""
    return at_most(budget(epsilon=epsilon, delta=delta, rho=rho), twice, place="Theorem 3")


def part_sizes(n: int, *, theta_bar: float) -> list[int]:
    """n_i = ⌊2^{i−1}n/(log₂n)^{log_θ̄ 2}⌋, i = 1..⌊log_θ̄ 2·log₂log₂n⌋: at most n in all."""
    n, theta = whole("n", n, least=4), real("theta_bar", theta_bar)
    if theta <= 1:
        raise InputError(f"theta_bar = {theta!r}: must be > 1")
    power = math.log(2) / math.log(theta)
    count = math.floor(power * math.log2(math.log2(n)))
    sizes = [math.floor(2 ** (i - 1) * n / math.log2(n) ** power) for i in range(1, count + 1)]
    if count < 1 or sizes[0] < 4:
        raise InputError(f"n = {n}: is too small at theta_bar = {theta:g}; the first part must hold at least 4 records")
    return sizes


def published_stages(
    n: int,
    *,
    theta_bar: float,
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
    """Lines 1 and 3; R_t = R_0/2^t, R_0 = `radius`, tells the steps, not the set."""
    law: dict[str, Any] = {"dimension": dimension, "moment_bound": moment_bound, "moment_order": moment_order}
    law |= {"lipschitz": lipschitz, "epsilon": epsilon, "delta": delta, "rho": rho}
    how: dict[str, Any] = {"smoothness": smoothness, "failure": failure, "exponent": exponent, "horizon": horizon}
    how["outer"] = (between("exponent", exponent, 1, math.inf) - 1) / 2
    sizes = part_sizes(n, theta_bar=theta_bar)
    return halving(sizes, radius, lambda size, r: published_within(size, r, law, **how), balls=False)


def tuned_stages(
    n: int,
    *,
    theta_bar: float,
    dimension: int,
    radius: float,
    smoothness: float,
    moment_bound: float,
    moment_order: float,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    steps: int = 200,
) -> tuple[Stage, ...]:
    """The published parts of at least 16 records, with `localised.tuned_phases` for a diameter of 2R_t: same privacy."""
    law: dict[str, Any] = {"dimension": dimension, "smoothness": smoothness, "moment_bound": moment_bound}
    law |= {"moment_order": moment_order, "epsilon": epsilon, "delta": delta, "rho": rho, "steps": steps}
    sizes = [size for size in part_sizes(n, theta_bar=theta_bar) if size >= 16]
    return halving(sizes, radius, lambda size, r: tuned_phases(size, diameter=2 * r, **law), balls=False)
