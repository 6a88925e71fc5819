"""The public universe of records, and the map of any record into it: the first thing that happens to data.

A mechanism that raises on some data sets tells of them, whatever its noise.  So a record is mapped, by itself and by a rule that is
public, before anything else is computed:

- a record with an entry that is no number, or infinite, or with a label that is not among those named (−1 and 1; curvatures must
  not be negative) becomes the neutral record: zeros, with the label 1;
- a record with an entry beyond `LARGEST` is divided by the least power of two that brings it within: its direction stays, and no
  digit is lost;
- an entry nearer to 0 than `SMALLEST` becomes 0: what is divided by its square does not overflow;
- all others stay as they are.

Mechanisms that prove how well they have minimised ask for more (`tamed`): floats prove a gap of α for records of bounded size only,
by public numbers.  A target that is farther off than any margin, of a loss that is linear there, is brought near, which changes the
loss by a constant; one of squared or l4 loss shrinks while its features grow, which keeps the slope; a record that is still too
large is divided by a power of two as above.  Its loss is clipped to the slope C all the same, so that what is left of it pulls as
before.

Neighbouring data sets are mapped to neighbouring ones, so that every claim of what follows holds for the whole.  The number of
records, that of columns and the public parameters are checked before, and are refused where they are wrong.

With `strict` such data are refused instead, with the record's number.  Refusing is itself a release: whether an error comes tells
of the records, and no claim covers it.  It is for data that are not private, or for files that their owners look at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailproof.refimpl.losses import L4, AnyLoss, Loss, PowerPenalty, Quadratic, RecordQuadratic, Ridge, Squared
from tailproof.refimpl.validation import FloatArray, InputError, shaped

BoolArray = NDArray[np.bool_]
LARGEST = 2.0**60
"""An entry of a record is at most that."""
SMALLEST = 2.0**-500
"""An entry of a record is 0 or at least that, up to its sign."""


@dataclass(frozen=True)
class Universe:
    """What the columns are: whether the last one has labels, and how many of the first ones have curvatures."""

    labels: bool = False
    curvatures: int = 0
    largest: float = LARGEST

    def mapped(self, rows: FloatArray, *, strict: bool = False) -> FloatArray:
        """The records in the universe: the same array where they are already."""
        numbers = rows[:, :-1] if self.labels else rows
        with np.errstate(invalid="ignore"):
            known = np.asarray(np.isfinite(rows).all(axis=1) & (rows[:, : self.curvatures] >= 0).all(axis=1))
            if self.labels:
                known = known & (np.abs(rows[:, -1]) == 1)
        sizes = np.abs(numbers).max(axis=1, initial=0.0)
        large: BoolArray = known & (sizes > self.largest)
        if known.all() and not large.any():
            return _without_specks(rows)
        if strict:
            self._refuse(rows, known, large)
        result = np.where(known[:, np.newaxis], rows, 0.0)
        if self.labels:
            result[~known, -1] = 1.0
        powers = np.frexp(sizes[large])[1] - np.frexp(self.largest)[1] + 1
        columns = slice(None, -1) if self.labels else slice(None)
        result[large, columns] = np.ldexp(numbers[large], -powers[:, np.newaxis])
        return _without_specks(result)

    def _refuse(self, rows: FloatArray, known: BoolArray, large: BoolArray) -> None:
        row = int(np.argmax(~known | large))
        what = f"has an entry of size {np.abs(rows[row]).max():g}; at most {self.largest:g} is allowed"
        if not np.isfinite(rows[row]).all():
            what = f"has the entries {rows[row].tolist()}; every entry must be finite"
        elif not known[row] and self.labels:
            what = f"has the label {float(rows[row, -1])!r}; must be -1 or 1"
        elif not known[row]:
            what = "has a curvature below 0; must be >= 0"
        raise InputError(f"data: record {row} {what}")


def _without_specks(rows: FloatArray) -> FloatArray:
    specks = (np.abs(rows) < SMALLEST) & (rows != 0)
    return np.where(specks, 0.0, rows) if specks.any() else rows


def tamed(rows: FloatArray, loss: Loss, *, far: float, largest_value: float) -> FloatArray:
    """Records whose losses are at most about `largest_value` at points within `far` of the origin, up to a constant."""
    base = loss.loss if isinstance(loss, Ridge) else loss
    if isinstance(base, Quadratic):
        sizes, allowed = _lengths(rows), math.sqrt(largest_value / max(float(np.abs(base.matrix).sum()), 1e-300)) - far
        return _divided(rows, sizes / max(allowed, far))
    features = rows if base.target == "none" else rows[:, :-1]
    reach = far * _lengths(features)
    degree = 4 if isinstance(base, L4) else 2 if isinstance(base, Squared) else 1
    allowed = (largest_value / degree) ** (1 / degree)
    if base.target == "real":
        if base.is_polyhedral:
            near = np.clip(rows[:, -1], -2 * reach, 2 * reach)
            rows = rows if np.array_equal(near, rows[:, -1]) else np.column_stack([features, near])
        else:
            rows = _balanced(rows, reach, allowed, degree)
            reach = far * _lengths(rows[:, :-1])
        reach = reach + np.abs(rows[:, -1])
    if base.target == "label":
        shorter = _divided(features, reach / allowed)
        return rows if shorter is features else np.column_stack([shorter, rows[:, -1]])
    return _divided(rows, reach / allowed)


def _balanced(rows: FloatArray, reach: FloatArray, allowed: float, degree: int) -> FloatArray:
    """Records too large, with targets t far beyond all margins: about linear losses, of slope t^{p−1}·x up to a factor.  Features
    grow and targets shrink by powers of two that keep this slope, as long as the target stays beyond the margins."""
    targets = np.abs(rows[:, -1])
    chosen = (reach + targets > allowed) & (targets > 2 * reach) & (reach > 0)
    if not chosen.any():
        return rows
    beyond = np.log2(targets[chosen]) - np.log2(2 * reach[chosen])
    powers = np.floor(beyond / degree).astype(np.intp)
    result = rows.copy()
    result[chosen, :-1] = np.ldexp(rows[chosen, :-1], ((degree - 1) * powers)[:, np.newaxis])
    result[chosen, -1] = np.ldexp(rows[chosen, -1], -powers)
    return result


def _lengths(rows: FloatArray) -> FloatArray:
    """Rounded up by a little."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)) * (1 + 1e-9))


def _divided(rows: FloatArray, excess: FloatArray) -> FloatArray:
    """Rows divided by the least powers of two that are not below their excess, where that is above 1."""
    powers = np.where(excess > 1, np.frexp(excess)[1], 0)
    return np.ldexp(rows, -powers[:, np.newaxis]) if powers.any() else rows


def universe_of(loss: AnyLoss | None, columns: int, largest: float = LARGEST) -> Universe:
    """Of records for this loss, or of plain numbers."""
    if loss is None:
        return Universe(largest=largest)
    base = loss.loss if isinstance(loss, Ridge | PowerPenalty) else loss
    if isinstance(base, RecordQuadratic):
        return Universe(curvatures=columns // 2, largest=largest)
    return Universe(labels=not isinstance(base, Quadratic) and base.target == "label", largest=largest)


def table(data: ArrayLike, loss: AnyLoss | None, *, strict: bool = False, largest: float = LARGEST) -> FloatArray:
    """The records in the universe; one is enough.  Their shape is public, and is checked."""
    rows = shaped("data", data, least=1)
    return universe_of(loss, rows.shape[1], largest).mapped(rows, strict=strict)
