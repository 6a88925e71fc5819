"""The mean of clipped gradients as a function of w: what the methods of P0 step along.

Records outside a theorem's assumption.  P0 assumes every loss to be α-smooth.  A record that is rougher on W than the public α
counts with gradient 0, so that the claims hold for all data: what is left out is decided record by record.
The penalty of a `Ridge` or `PowerPenalty` loss is the same for all records, so it is not clipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from refimpl.domains import Ball, Box, Domain, Localised, parse_domain
from refimpl.losses import (
    L4,
    AnyLoss,
    GlmLoss,
    PowerPenalty,
    Quadratic,
    RecordQuadratic,
    Ridge,
    _product,
    _row_norms,
    dimension_of,
    parse_any_loss,
)
from refimpl.validation import FloatArray, InputError, records, vector

Gradient: TypeAlias = Callable[[FloatArray], FloatArray]
LARGEST = 1e140
"""Entries of a quadratic's gradient at 0 are cut there, so that no square overflows: they are far beyond any clipping
threshold.
"""


def is_monotone_when_clipped(loss: AnyLoss, dimension: int) -> bool:
    """Whether clipped gradients are those of a convex function, no rougher than the loss: d = 1, and generalised linear losses.

    For f = φ(⟨x, w⟩) clipping cuts φ' at ±C/‖x‖.  For other losses and d ≥ 2 it does not hold in general.
    """
    return dimension == 1 or _unpenalised(loss).is_glm


def prepare(
    data: ArrayLike, *, loss: AnyLoss | str, domain: Domain | str, start: ArrayLike | None = None, smooth: bool = False
) -> tuple[AnyLoss, Domain, FloatArray, FloatArray]:
    """Loss, set, starting point (the set's middle by default) and records, checked."""
    function = parse_any_loss(loss) if isinstance(loss, str) else loss
    if smooth and not function.is_smooth:
        raise InputError(f"loss = {loss!r}: must be smooth; every record would be left out")
    rows = records("data", data, least=1)
    region = domain if not isinstance(domain, str) else parse_domain(domain, dimension_of(function, rows.shape[1]))
    if function.columns(region.dimension) != rows.shape[1]:
        expected = function.columns(region.dimension)
        raise InputError(f"data: has {rows.shape[1]} columns; must have {expected} for this loss and domain")
    if start is None:
        return function, region, region.interior_point(), rows
    point = vector("start", start, size=region.dimension)
    if not region.contains(point):
        raise InputError("start: must lie in the domain")
    return function, region, point, rows


def clipped_mean_gradient(
    loss: AnyLoss, rows: FloatArray, *, clip: float, domain: Domain, smoothness: float | None = None
) -> Gradient:
    """w ↦ (1/n) Σ Π_C(∇f(w, x_i)), over the records that are `smoothness`-smooth on the set, n counting all."""
    kept = rows if smoothness is None else rows[smoothness_upper(loss, rows, domain) <= smoothness]
    share = len(kept) / len(rows)
    if not len(kept):
        part: Gradient = np.zeros_like
    else:
        mean = _clipped(_unpenalised(loss), kept, clip)

        def part(w: FloatArray) -> FloatArray:
            return share * mean(w)

    match loss:
        case Ridge(weight=weight):
            return lambda w: part(w) + weight * w
        case PowerPenalty():
            return lambda w: part(w) + loss.pull(w)
    return part


def projection(domain: Domain) -> Gradient:
    """Π_W for one point after another: what is well inside a ball that W is known to contain is left as it is, at no cost."""
    balls = _inner_balls(domain)

    def project(point: FloatArray) -> FloatArray:
        for centre, radius in balls:
            offset = point - centre
            if not offset @ offset < radius * radius:
                return domain.project(point)
        return point

    return project


def _inner_balls(domain: Domain) -> list[tuple[FloatArray, float]]:
    """Balls, slightly shrunk, whose intersection lies in W."""
    match domain:
        case Ball():
            return [(domain.center, domain.radius * (1 - 1e-9))]
        case Box():
            return [((domain.lower + domain.upper) / 2, float((domain.upper - domain.lower).min()) / 2 * (1 - 1e-9))]
        case Localised():
            return [*_inner_balls(domain.base), *_inner_balls(domain.ball)]
    return [(domain.interior_point(), 0.0)]


def smoothness_upper(loss: AnyLoss, rows: FloatArray, domain: Domain) -> FloatArray:
    """Every record's smoothness on W: of ℓ4 regression on the margins attained there, of the others on the whole space."""
    base = _unpenalised(loss)
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(base, L4):
            x, t = base.split(rows)
            steep = 12 * np.square(np.maximum(np.abs(domain.support(x) - t), np.abs(domain.support(-x) + t)))
            found = np.where((x == 0).all(axis=1), 0.0, np.square(np.linalg.norm(x, axis=1)) * steep) * (1 + 1e-12)
            found = np.where(np.isnan(found), np.inf, found)
        else:
            found = base.smoothness_upper(rows)
        match loss:
            case Ridge(weight=weight):
                return np.asarray(found + weight)
            case PowerPenalty():
                return np.asarray(found + loss.smoothness_on(domain))
        return np.asarray(found)


def _unpenalised(loss: AnyLoss) -> GlmLoss | Quadratic | RecordQuadratic:
    return loss.loss if isinstance(loss, Ridge | PowerPenalty) else loss


def _clipped(loss: GlmLoss | Quadratic | RecordQuadratic, rows: FloatArray, clip: float) -> Gradient:
    """Everything that does not depend on w is done once; no n × d array is formed for a generalised linear loss."""
    if isinstance(loss, RecordQuadratic):
        curvatures, centres = loss.split(rows)
        with np.errstate(over="ignore"):
            pulls = np.clip(curvatures * centres, -LARGEST, LARGEST)

        def of_quadratics(w: FloatArray) -> FloatArray:
            return _mean_of_clipped(curvatures * w - pulls, clip)

        return of_quadratics
    if isinstance(loss, Quadratic):
        with np.errstate(over="ignore", invalid="ignore"):
            turned = np.nan_to_num(np.clip(rows @ loss.matrix, -LARGEST, LARGEST))

        def of_quadratic(w: FloatArray) -> FloatArray:
            return _mean_of_clipped(loss.matrix @ w - turned, clip)

        return of_quadratic
    return _of_linear_model(loss, rows, clip)


def _mean_of_clipped(gradients: FloatArray, clip: float) -> FloatArray:
    """As `clipped_mean_of`, without its care for squares beyond the floats: entries are at most `LARGEST` and a little."""
    norms = np.sqrt(np.einsum("ij,ij->i", gradients, gradients))
    return np.asarray((clip / len(gradients) / np.maximum(norms, clip)) @ gradients)


def _of_linear_model(loss: GlmLoss, rows: FloatArray, clip: float) -> Gradient:
    """Π_C(φ'(⟨x, w⟩)·x) = Π_{[−C, C]}(φ'·‖x‖)·x/‖x‖."""
    features, targets = loss.split(rows)
    signs = targets if loss.target == "label" else np.ones(len(rows))
    norms = _row_norms(features)
    shares = np.divide(1 / len(rows), norms, out=np.zeros_like(norms), where=norms > 0)

    def mean(w: FloatArray) -> FloatArray:
        slopes = signs * loss.dphi(signs * _product(features, w), targets)
        with np.errstate(over="ignore", invalid="ignore"):
            pulls = np.clip(slopes * norms, -clip, clip) * shares
        return np.asarray(np.where(norms > 0, pulls, 0.0) @ features)

    return mean
