"""[P1, Algorithm 3] Gradient descent on coordinate-wise trimmed means with noise scaled to their smooth sensitivity.

Setting: smooth convex losses; the mean of every coordinate of the gradient is known to lie in [a, b] on W; for utility, gradients
with sub-exponential coordinates and an α-strongly convex, β-smooth risk.  Statement: each of the d·T scalar releases is
½ε̃²/(dT)-zCDP, ε̃ = √(2log(1/δ)+2ε) − √(2log(1/δ)), so the run is ½ε̃²-zCDP and (ε, δ)-DP [P1, Theorem 4]; the error is that of
Theorem 5, with T = O((β/α)log n), η = 1/β and m = O(1).

Departures: every O(·) is a named constant, 1.  With m = O(1) the noise does not vanish as n grows (erratum P1.(2)):
`tuned_parameters` trims a share of the records instead, as the paper's experiments do (`experiment_parameters`).  With
`sampling="disjoint"` each record is in one step only, whose d releases are then ½ε̃²/d-zCDP each; steps and average as in P1's
stochastic Algorithm 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.problem import parsed, with_gradients
from tailproof.refimpl.approx_dp.public import positives, sizes
from tailproof.refimpl.approx_dp.steps import batches_of, descend
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ZCDP, zcdp_budget
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss, dimension_of
from tailproof.refimpl.means import trimmed
from tailproof.refimpl.means.trimmed import trimmed_mean
from tailproof.refimpl.validation import FloatArray, positive, whole

STEPS = 1.0  # the constant of T = O((β/α) log n)
TRIM = 1  # m = O(1)
TUNED_STEPS = 5


def trimmed_mean_descent(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    epsilon: float,
    delta: float,
    lower: float,
    upper: float,
    trim: int,
    steps: int,
    step_size: float,
    smoothness: float | None = None,
    clamp: str = "output",
    sampling: str = "full",
    center: ArrayLike | None = None,
) -> FloatArray:
    """`lower`, `upper` are a, b; `trim` is m, of the records of a step; `smoothness` is the t of t-smooth sensitivity."""
    privacy(epsilon=epsilon, delta=delta)
    given: dict[str, Any] = {"lower": lower, "upper": upper, "trim": trim, "smoothness": smoothness, "clamp": clamp}
    trimmed.check_parameters(**given)
    return descend(
        data,
        channel,
        trimmed_mean,
        loss=loss,
        domain=domain,
        epsilon=epsilon,
        delta=delta,
        steps=steps,
        step_size=step_size,
        sampling=sampling,
        center=center,
        least=2 * trim + 1,
        **given,
    )


def privacy(*, epsilon: float, delta: float) -> ZCDP:
    """[P1, Theorem 4] ½ε̃²-zCDP, which converts to (ε, δ)-DP by P1 Lemma 3 exactly."""
    return ZCDP(zcdp_budget(epsilon, delta))


def published_parameters(n: int, *, curvature_upper: float, curvature_lower: float) -> dict[str, Any]:
    """T = (β/α)·log n, η = 1/β, m = 1 [P1, Theorem 5]; β = `curvature_upper` and α = `curvature_lower` of the risk."""
    beta, alpha = positives(curvature_upper=curvature_upper, curvature_lower=curvature_lower)
    return {"steps": math.ceil(STEPS * beta / alpha * math.log(whole("n", n, least=2))), "step_size": 1 / beta, "trim": TRIM}


def experiment_parameters(n: int) -> dict[str, Any]:
    """η = 0.01 and m = 0.05n [P1, Appendix C]."""
    return {"step_size": 0.01, "trim": max(1, whole("n", n, least=1) // 20)}


def tuned_parameters(n: int, *, curvature_upper: float, steps: int = TUNED_STEPS) -> dict[str, Any]:
    """Few steps of length 1/β over midmeans: a quarter is trimmed on each side, so that e^{−mt} is small."""
    n, steps = sizes(n=n, steps=steps)
    return {"steps": steps, "step_size": 1 / positive("curvature_upper", curvature_upper), "trim": max(1, n // 4)}


def worst_neighbours(
    n: int,
    d: int,
    *,
    loss: AnyLoss | str,
    lower: float,
    upper: float,
    trim: int,
    steps: int,
    sampling: str = "full",
    **_: Any,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Those of the mean, as the gradients of the first step; the records of other steps pull nowhere."""
    batch = batches_of(n, steps, disjoint=sampling == "disjoint", equal=True)[0]
    pairs = trimmed.worst_neighbours(len(batch), dimension_of(parsed(loss), d), lower=lower, upper=upper, trim=trim)
    return with_gradients(pairs, loss=loss, n=n, batch=batch)
