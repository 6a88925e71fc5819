"""What the optimisers of this package are given: a loss, a set, a starting point and records, checked in one way for all.

What can be said without the records is said before they are looked at.  With entries of at most 2^199 and points within 1e14 of the
origin no gradient overflows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.domains import Domain, parse_domain
from tailproof.refimpl.extension.certified import LARGEST_REACH
from tailproof.refimpl.losses import (
    AnyLoss,
    GlmLoss,
    PowerPenalty,
    Quadratic,
    RecordQuadratic,
    Ridge,
    dimension_of,
    parse_any_loss,
)
from tailproof.refimpl.universe import table
from tailproof.refimpl.validation import FloatArray, InputError, vector

LARGEST_RECORD = 2.0**199
"""Of the entries of a record, once it is mapped."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What is minimised, where, from where, and the records."""

    loss: AnyLoss
    domain: Domain
    start: FloatArray
    rows: FloatArray


def prepare(
    data: ArrayLike,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    start: ArrayLike | None = None,
    name: str = "start",
    smooth: bool = False,
    extended: bool = False,
) -> Problem:
    """Losses and domains may be given as on a command line; the start, an argument of that name, is the domain's middle by default.

    `smooth` and `extended` say what the algorithm needs of the loss: gradients that are continuous, a known Lipschitz extension.
    """
    function = parsed(loss, smooth=smooth, extended=extended)
    if isinstance(domain, str) or not hasattr(domain, "project"):
        parse_domain(str(domain), 1)  # refuses what says nothing
    if start is not None:
        vector(name, start)
    rows = records_of(data, function)
    region = parse_domain(domain, dimension_of(function, rows.shape[1])) if isinstance(domain, str) else domain
    if (columns := function.columns(region.dimension)) != rows.shape[1]:
        raise InputError(f"data: has {rows.shape[1]} columns; must have {columns} for this loss and domain")
    if (reach := region.max_norm_from(np.zeros(region.dimension))) > LARGEST_REACH:
        raise InputError(f"domain: reaches {reach:.3g} far from the origin; at most {LARGEST_REACH:g} is allowed")
    point = region.interior_point() if start is None else vector(name, start, size=region.dimension)
    if not region.contains(point):
        raise InputError(f"{name} = {np.array2string(point, threshold=8)}: must lie in the domain")
    return Problem(function, region, point, rows)


def parsed(loss: AnyLoss | str, *, smooth: bool = False, extended: bool = False) -> AnyLoss:
    """The loss, if it is what an algorithm needs."""
    function = parse_any_loss(str(loss)) if isinstance(loss, str) or not hasattr(loss, "gradients") else loss
    if smooth and not function.is_smooth:
        raise InputError(f"loss = {loss!r}: must be smooth")
    if extended and not isinstance(function, GlmLoss | Quadratic | Ridge):
        raise InputError(f"loss = {loss!r}: must be generalised linear or quadratic, the same matrix for all records")
    return function


def records_of(data: ArrayLike, loss: AnyLoss) -> FloatArray:
    """The records, mapped into the universe of those that the loss has a use for."""
    return table(data, loss, largest=LARGEST_RECORD)


def with_gradients(
    pairs: Iterable[tuple[FloatArray, FloatArray]], *, loss: AnyLoss | str, n: int, batch: range
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """For checks: n records whose batch has these gradients at w = 0, the others none.  For affine losses in every step.

    For ½(w − x)ᵀA(w − x), x = −A⁻¹g, for record quadratics c = −g and a = 1; for ½(⟨x, w⟩ − t)², x = −g and t = 1; for logistic
    loss, x = −2g and the label 1.
    """
    function = parsed(loss)
    base = function.loss if isinstance(function, Ridge | PowerPenalty) else function

    def records(gradients: FloatArray) -> FloatArray:
        data, rows = np.zeros((n, base.columns(gradients.shape[1]))), slice(batch.start, batch.stop)
        if isinstance(base, Quadratic):  # rounding must not take an entry beyond a threshold
            data[rows] = np.linalg.solve(base.matrix, -gradients.T).T * (1 - 1e-12)
        elif isinstance(base, RecordQuadratic):
            data[rows] = np.hstack([np.ones_like(gradients), -gradients])
        else:
            data[:, -1] = base.target != "none"
            data[rows, : gradients.shape[1]] = {"none": 1.0, "real": -1.0, "label": -2.0}[base.target] * gradients
        return data

    return ((records(first), records(second)) for first, second in pairs)


def with_quiet(
    pairs: Iterable[tuple[FloatArray, FloatArray]], n: int, *, last: float = 0.0
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """For checks: filled up to n records with zeros, and that in their last column."""

    def filled(rows: FloatArray) -> FloatArray:
        data = np.zeros((n, rows.shape[1]))
        data[:, -1] = last
        data[: len(rows)] = rows
        return data

    return ((filled(first), filled(second)) for first, second in pairs)
