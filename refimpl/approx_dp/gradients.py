"""The table of all records' gradients, and the mean of the clipped ones, as functions of w: what the methods step along.

Records outside a theorem's assumption.  P0 assumes every loss to be α-smooth.  A record that is rougher on W than the public α
counts with gradient 0, so that the claims hold for all data: what is left out is decided record by record.
The penalty of a `Ridge` or `PowerPenalty` loss is the same for all records, so it is not clipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tailproof.refimpl.domains import EPS, Ball, Box, Domain, Localised
from tailproof.refimpl.extension.certificate import LARGEST_RECORD
from tailproof.refimpl.losses import (
    L4,
    AnyLoss,
    GlmLoss,
    PowerPenalty,
    Quadratic,
    RecordQuadratic,
    Ridge,
    _product,
    _row_norms,
    _split,
)
from tailproof.refimpl.validation import FloatArray, IntArray

Gradient: TypeAlias = Callable[[FloatArray], FloatArray]
BatchGradient: TypeAlias = Callable[[FloatArray, IntArray | slice], FloatArray]
Tables: TypeAlias = Callable[[FloatArray, range], FloatArray]
NARROW = 64  # columns of the data
HUGE = 1e300  # stands for a gradient entry beyond the floats
LARGEST = 1e140
"""Entries of a quadratic's gradient at 0 are cut there, so that no square overflows: they are far beyond any clipping
threshold.
"""


def is_monotone_when_clipped(loss: AnyLoss, dimension: int) -> bool:
    """Whether clipped gradients are those of a convex function, no rougher than the loss: d = 1, and generalised linear losses.

    For f = φ(⟨x, w⟩) clipping cuts φ' at ±C/‖x‖.  For other losses and d ≥ 2 it does not hold in general.
    """
    return dimension == 1 or _unpenalised(loss).is_glm


def gradient_tables(loss: AnyLoss, rows: FloatArray, *, repeated: bool = True) -> Tables:
    """(w, batch) ↦ ∇ℓ(w, x_i) in row i, to the last bit as the loss has it; what is beyond the floats counts as ±1e300.

    Where it is `repeated` for the same records of a generalised linear loss in few dimensions, it and their features are kept by
    columns, and the next table overwrites the last: long columns are several times faster than short rows.
    """
    base, pull = _unpenalised(loss), _penalty_gradient(loss)
    if isinstance(base, Quadratic | RecordQuadratic) or rows.shape[1] > NARROW:
        return lambda w, batch: _representable(loss.gradients(w, rows[batch.start : batch.stop]))
    features, targets = base.split(rows)
    columns = _by_columns(features) if repeated else np.empty((features.shape[1], 0))
    space = np.empty(columns.shape)

    def table(w: FloatArray, batch: range) -> FloatArray:
        part = slice(batch.start, batch.stop)
        signs = targets[part] if base.target == "label" else 1.0
        slopes = signs * base.dphi(signs * _product(features[part], w), targets[part])
        if not max(slopes.max(), -slopes.min()) < HUGE / LARGEST_RECORD:
            return _representable(loss.gradients(w, rows[part]))
        if repeated:
            found = np.multiply(columns[:, part], slopes, out=space[:, : len(batch)]).T
        else:
            found = np.einsum("ij,i->ij", features[part], slopes)  # less than half of what it takes with `*`
        if pull is not None:
            found += pull(w)
        return np.asarray(found)

    return table


def _by_columns(rows: FloatArray) -> FloatArray:
    columns = np.empty(rows.shape[::-1])
    for block in _blocks(len(rows)):
        columns[:, block] = rows[block].T
    return columns


def _blocks(records: int) -> list[slice]:
    """Few enough rows to turn them over in a core's cache."""
    return [slice(start, start + 256) for start in range(0, records, 256)]


def _representable(gradients: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return gradients if np.isfinite(gradients.sum()) else np.clip(gradients, -HUGE, HUGE)


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

    pull = _penalty_gradient(loss)
    return part if pull is None else lambda w: part(w) + pull(w)


def clipped_batch_gradient(loss: AnyLoss, rows: FloatArray, *, clip: float, size: int, domain: Domain) -> BatchGradient:
    """(w, members) ↦ the mean of the clipped gradients of `size` of the records, to the last bit `clipped_mean_gradient` of these.

    The members are places, or a slice where they are consecutive.
    What a record of a generalised linear loss has of its own is checked and computed once, not in every batch that holds it.
    """
    base, pull = _unpenalised(loss), _penalty_gradient(loss)
    if isinstance(base, Quadratic | RecordQuadratic):
        return lambda w, members: clipped_mean_gradient(loss, rows[members], clip=clip, domain=domain)(w)
    rows = np.ascontiguousarray(rows)  # `take` would copy all of another layout
    norms = _row_norms(base.split(rows)[0])
    shares = _shares(norms, size)

    def mean(w: FloatArray, members: IntArray | slice) -> FloatArray:
        features, targets = _split(base, rows[members] if isinstance(members, slice) else rows.take(members, axis=0))
        found = _linear_mean(base, features, targets, norms[members], shares[members], clip=clip, w=w)
        return found if pull is None else found + pull(w)

    return mean


def projection(domain: Domain) -> Gradient:
    """Π_W for one point after another: what is well inside a ball that W is known to contain is left as it is, at no cost."""
    if isinstance(domain, Ball):
        return _onto_ball(domain)
    balls = _inner_balls(domain)

    def project(point: FloatArray) -> FloatArray:
        for centre, radius in balls:
            offset = point - centre
            if not offset @ offset < radius * radius:
                return domain.project(point)
        return point

    return project


def _onto_ball(ball: Ball) -> Gradient:
    """As `ball.project`, up to rounding of the last digit, for a point at a time; whatever is within rounding is left to that."""
    centre, radius, slack = ball.center, ball.radius, (ball.dimension + 4) * EPS

    def project(point: FloatArray) -> FloatArray:
        offset = point - centre
        distance = math.sqrt(offset @ offset)
        if distance < radius * (1 - 1e-9):
            return point
        if radius * (1 + 1e-9) < distance < HUGE:
            found = centre + offset * (radius * (1 - 2 * slack) / distance)
            offset = found - centre
            if math.sqrt(offset @ offset) <= radius * (1 - slack):
                return np.asarray(found)
        return ball.project(point)

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


def _penalty_gradient(loss: AnyLoss) -> Gradient | None:
    match loss:
        case Ridge(weight=weight):
            return lambda w: weight * w
        case PowerPenalty():
            return loss.pull
    return None


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
    norms = _row_norms(features)
    shares = _shares(norms, len(rows))
    return lambda w: _linear_mean(loss, features, targets, norms, shares, clip=clip, w=w)


def _shares(norms: FloatArray, records: int) -> FloatArray:
    return np.divide(1 / records, norms, out=np.zeros_like(norms), where=norms > 0)


def _linear_mean(
    loss: GlmLoss,
    features: FloatArray,
    targets: FloatArray,
    norms: FloatArray,
    shares: FloatArray,
    *,
    clip: float,
    w: FloatArray,
) -> FloatArray:
    signs = targets if loss.target == "label" else 1.0
    slopes = signs * loss.dphi(signs * _product(features, w), targets)
    with np.errstate(over="ignore", invalid="ignore"):
        pulls = np.clip(slopes * norms, -clip, clip) * shares
    return np.asarray(np.where(norms > 0, pulls, 0.0) @ features)
