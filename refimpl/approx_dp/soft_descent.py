"""[P1, Algorithm 4] Gradient descent on softly truncated means (Catoni's influence function, smoothed), full-batch and stochastic.

Setting: smooth convex losses, E(∇_jℓ(w, x))² ≤ v for every coordinate and w in W.  Statement: each of the d·T scalar releases is
½ε̃²/(dT)-zCDP, ε̃ = √(2log(1/δ)+2ε) − √(2log(1/δ)), so the run is ½ε̃²-zCDP and (ε, δ)-DP [P1, Theorem 7].  For a strongly convex
risk T = O((β/α)log n) [Theorem 7], else T = Õ((‖w0 − w*‖√n√ε̃/d)^{2/3}) [Theorem 8]; η = 1/β.

Departures: every O(·) is a named constant, 1, and Theorem 8's logarithm is that of its proof.  The estimator is s·E φ, not the
display of the proof of Theorem 7, whose sensitivity is infinite (erratum P1.Thm7.estimator); both rates are too small in ε̃
(P1.Lem7.budget).  With `sampling="disjoint"` (the stochastic variant) each record is in one step only, whose d releases are then
½ε̃²/d-zCDP each, on batches of ⌊n/T⌋; η/√t in step t and the mean of all points as in Appendix C.  s may be given (`scale`): the
published one minimises the error without noise, `tuned_parameters` that with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.problem import parsed, with_gradients
from tailproof.refimpl.approx_dp.public import positives, sizes
from tailproof.refimpl.approx_dp.steps import SAMPLINGS, batches_of, descend
from tailproof.refimpl.approx_dp.trimmed_descent import privacy
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss, dimension_of
from tailproof.refimpl.means import soft_truncation
from tailproof.refimpl.means.soft_truncation import PLATEAU, soft_truncated_mean
from tailproof.refimpl.validation import FloatArray, choice, positive, probability

__all__ = [
    "experiment_parameters",
    "privacy",
    "published_parameters",
    "soft_truncation_descent",
    "tuned_parameters",
    "worst_neighbours",
]

STEPS = 1.0  # the constant of T in Theorems 7 and 8
TUNED_STEPS = 5


def soft_truncation_descent(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    epsilon: float,
    delta: float,
    second_moment: float,
    failure: float,
    steps: int,
    step_size: float,
    scale: float | None = None,
    sampling: str = "full",
    center: ArrayLike | None = None,
) -> FloatArray:
    """`second_moment` is v, `failure` is δ', `scale` is s, √(nv/(2log(1/δ'))) of the records of a step by default."""
    privacy(epsilon=epsilon, delta=delta)
    positive("second_moment", second_moment)
    probability("failure", failure)
    if scale is not None:
        positive("scale", scale)
    return descend(
        data,
        channel,
        soft_truncated_mean,
        loss=loss,
        domain=domain,
        epsilon=epsilon,
        delta=delta,
        steps=steps,
        step_size=step_size,
        sampling=sampling,
        center=center,
        least=2,
        second_moment=second_moment,
        failure=failure,
        scale=scale,
    )


def published_parameters(
    n: int,
    d: int,
    *,
    epsilon: float,
    delta: float,
    curvature_upper: float,
    second_moment: float,
    failure: float,
    curvature_lower: float | None = None,
    distance: float | None = None,
) -> dict[str, Any]:
    """η = 1/β; T = (β/α)·log n for an α-strongly convex risk [P1, Theorem 7], else T = (D√(nε̃)/(d√(v log(Dn/δ'))))^{2/3} with
    D = `distance` ≥ ‖w0 − w*‖, from T = βD/χ [P1, (17)]."""
    n, d = sizes(n=n, d=d)
    beta, v = positives(curvature_upper=curvature_upper, second_moment=second_moment)
    failure, tilde = probability("failure", failure), math.sqrt(2 * privacy(epsilon=epsilon, delta=delta).rho)
    if curvature_lower is not None:
        steps = STEPS * beta / positive("curvature_lower", curvature_lower) * math.log(n)
    else:
        D = positive("distance", distance)
        logarithm = max(1.0, math.log(D * n / failure))
        steps = STEPS * (D * math.sqrt(n * tilde) / (d * math.sqrt(v * logarithm))) ** (2 / 3)
    return {"steps": max(1, math.ceil(steps)), "step_size": 1 / beta, "second_moment": v, "failure": failure}


def experiment_parameters(*, sampling: str = "full") -> dict[str, Any]:
    """v = 5, δ' = 0.01; η = 0.1, or 1/√t in the stochastic variant [P1, Appendix C]."""
    step_size = 1.0 if choice("sampling", sampling, SAMPLINGS) == "disjoint" else 0.1
    return {"second_moment": 5.0, "failure": 0.01, "step_size": step_size, "sampling": sampling}


def tuned_parameters(
    n: int,
    d: int,
    *,
    epsilon: float,
    delta: float,
    curvature_upper: float,
    second_moment: float,
    failure: float = 0.01,
    steps: int = TUNED_STEPS,
    sampling: str = "full",
) -> dict[str, Any]:
    """Few steps of length 1/β, with the s that makes bias and noise of a coordinate equal: v/(2s) and s·(4√2/3)√(d·T)/(n·ε̃).

    With disjoint batches n is a batch and T is 1.  s is never above the published one.
    """
    n, d, steps = sizes(n=n, d=d, steps=steps)
    v = positive("second_moment", second_moment)
    size, rounds = (n // steps, 1) if choice("sampling", sampling, SAMPLINGS) == "disjoint" else (n, steps)
    rho = privacy(epsilon=epsilon, delta=delta).rho
    per_scale = 2 * PLATEAU / size * math.sqrt(d * rounds / (2 * rho))  # deviation of a coordinate's noise, divided by s
    published, _ = soft_truncation.published_parameters(size, second_moment=v, failure=failure)
    chosen = {"steps": steps, "step_size": 1 / positive("curvature_upper", curvature_upper), "sampling": sampling}
    return chosen | {"second_moment": v, "failure": failure, "scale": min(published, math.sqrt(v / (2 * per_scale)))}


def worst_neighbours(
    n: int,
    d: int,
    *,
    loss: AnyLoss | str,
    second_moment: float,
    failure: float,
    steps: int,
    sampling: str = "full",
    **_: Any,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Those of the mean, as the gradients of the first step; the records of other steps pull nowhere."""
    batch = batches_of(n, steps, disjoint=sampling == "disjoint", equal=True)[0]
    law = {"second_moment": second_moment, "failure": failure}
    pairs = soft_truncation.worst_neighbours(len(batch), dimension_of(parsed(loss), d), **law)
    return with_gradients(pairs, loss=loss, n=n, batch=batch)
