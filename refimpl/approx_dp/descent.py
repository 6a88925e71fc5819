"""[P0, Algorithm 2] Clipped regularised gradient method: T steps along mean clipped gradients and λ(w − w0), projected onto W.

Setting: every f(·, x) convex and α-smooth, η ≤ 1/α.  A deterministic inner solver: it releases nothing and claims nothing; what
uses it, Algorithm 3, relies on its ℓ2-sensitivity 2C/(nλ) (“the stability now only depends on the clipping threshold”).
That holds for d = 1 and for losses φ(⟨w, x⟩): there clipped gradients are those of a convex, α-smooth function, the step is a
contraction by 1 − ηλ if η(α + 2λ) ≤ 2, and replacing a record adds at most 2ηC/n to the distance in each step, so it is at most
2C/(nλ)·(1 − (1 − ηλ)^T).  (With one record, and ηλ ≤ 1, for all losses: the gradients are at most 2C apart.)
It is false for other losses and d ≥ 2: see `turning_records`, and the erratum P0.Alg2.stability.
Departures: `steps` counts the updates (the printed loop makes T − 1); once a step does not move the point the rest are left
out, for they would not either.  Records rougher than α, and penalties: see `gradients`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp.gradients import Gradient, clipped_mean_gradient, projection
from tailproof.refimpl.approx_dp.problem import prepare
from tailproof.refimpl.channel import L2, Bound
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss, RecordQuadratic
from tailproof.refimpl.means.rows import replace_record
from tailproof.refimpl.validation import FloatArray, InputError, positive, whole


def clipped_descent(
    data: ArrayLike,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    clip: float,
    step: float,
    weight: float,
    steps: int,
    smoothness: float,
    start: ArrayLike | None = None,
) -> FloatArray:
    """w_T.  `clip` is C, `step` is η, `weight` is λ, `steps` is T, `smoothness` is α, `start` is w0 (default: the set's
    middle).
    """
    check_step(step=step, weight=weight, smoothness=smoothness)
    positive("clip", clip)
    steps = whole("steps", steps, least=1)
    problem = prepare(data, loss=loss, domain=domain, start=start, smooth=True)
    region = problem.domain
    gradient = clipped_mean_gradient(problem.loss, problem.rows, clip=clip, domain=region, smoothness=smoothness)
    return descend(gradient, region, problem.start, step=step, weight=weight, steps=steps)


def descend(gradient: Gradient, domain: Domain, start: FloatArray, *, step: float, weight: float, steps: int) -> FloatArray:
    point, project = start, projection(domain)
    for _ in range(steps):  # line 1
        slope = gradient(point)  # line 2
        moved = project(point - step * (slope + weight * (point - start)))  # line 3
        if (moved == point).all():
            break
        point = moved
    return point


def check_step(*, step: float, weight: float, smoothness: float, size: int = 2) -> None:
    """η ≤ 1/α, as Theorem 1 has it, and ηλ ≤ 1/2 (1 for a single record), as its λ = 1/(ηn^p) implies."""
    for name, value in {"step": step, "weight": weight, "smoothness": smoothness}.items():
        positive(name, value)
    if step * smoothness > 1 + 1e-12:
        raise InputError(f"step = {step!r}: must be at most 1/smoothness = {1 / smoothness:.6g}")
    most = 1 if size == 1 else 1 / 2
    if step * weight > most * (1 + 1e-12):
        raise InputError(f"weight = {weight!r}: step·weight = {step * weight:.6g} must be at most {most}")


def sensitivity(n: int, *, clip: float, weight: float, **_: Any) -> Bound:
    """2C/(nλ), as Algorithm 3 uses it.  True as said above."""
    return L2(2 * clip / (n * weight))


def sensitivity_supremum(n: int, *, clip: float, step: float, weight: float, steps: int, **_: Any) -> Bound:
    """What is attained, for the losses for which the above is true, if the set has room."""
    return L2(-math.expm1(steps * math.log1p(-step * weight)) * 2 * clip / (n * weight))


def worst_neighbours(
    n: int, d: int, *, loss: AnyLoss | str, clip: float, weight: float, step: float | None = None, **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Records that pull with all of C, the others in balance: one of them turned round.  `d` counts columns.

    Last, records far rougher than 1/η, at whose common minimum the first step ends, on either side: were they not left out,
    their pulls would turn round.
    """
    if loss == "record-quadratic" or isinstance(loss, RecordQuadratic):
        yield turning_records(n, clip=clip, weight=weight)[:2]
        return
    for size in (clip, 1e3 * clip):  # in the middle of the set every gradient is beyond C
        record = np.append(np.ones(d - 1) / math.sqrt(max(d - 1, 1)), size) if d > 1 else np.array([size])
        for turned in (-record, record * np.append(np.ones(d - 1), -1.0)):
            data = np.where(np.arange(n)[:, np.newaxis] % 2 == 0, record, turned)
            yield data, replace_record(data, 0, turned)
    if step is not None and d > 1:
        across = np.append(np.eye(d)[0, :-1], 0.0)
        rough = 1e6 * across + 1e6 * step * clip * (1 - 1 / n) * np.eye(d)[-1]
        data = np.tile(rough, (n, 1))
        data[0] = across + 1e3 * np.eye(d)[-1]
        yield data, replace_record(data, 0, across - 1e3 * np.eye(d)[-1])


def turning_records(
    n: int, *, clip: float = 1.0, curvature: float = 1.0, weight: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Records of `RecordQuadratic` in the plane, a neighbour, and the w0 from which the results are far apart.

    n − 1 records ½aw₁² + Cw₂ (b(w₂ + C/b)²/2 with a tiny b), and one that pulls with C along v, or against it in the neighbour.
    The clipped gradients u = (aw₁, C)/‖·‖ do not depend on w₂, so that w₂ is free to move, and at the fixed point λ(w − w0) =
    −(1 − 1/n)·C·u ∓ C·v/n.  λ is small, hence u₁ takes up the pull, by 2v₁/n; u₂ = √(1 − u₁²) is steep near u₁ = 1, and
    moves by up to 2/√n: the fixed points are √n times 2C/(nλ) apart, up to constants.  The angle of v and w0 are near the
    best ones.
    """
    angle = 1.83 / math.sqrt(n)
    pull = np.array([math.cos(angle), math.sin(angle)])
    flat = 1e-12 * curvature
    rows = np.tile([curvature, flat, 0.0, -clip / flat], (n, 1))
    rows[0] = np.append(
        [flat, flat], -1e3 * clip / flat * pull
    )  # gradients far beyond C, of a direction that hardly changes
    neighbour = replace_record(rows, 0, np.append([flat, flat], 1e3 * clip / flat * pull))
    return rows, neighbour, np.array([(1 - 1.45 / n) * clip / weight, 0.0])
