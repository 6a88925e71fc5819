"""The data that a claim speaks of, as far as a search has to know them: size, bounds, neighbouring relation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tailproof.refimpl.claims import REPLACE_ONE, Neighbouring
from tailproof.refimpl.validation import FloatArray, InputError, whole

Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Admissible:
    """`records` × `columns` numbers in [low, high] (infinite: unbounded); a `sampler` draws typical data of that shape.

    Under add-remove the smaller data set of a pair has `records` − 1 records.  `fewer`: smaller data sets are admissible, too; a
    search has no use for them, but a counterexample with fewer records is easier to read.
    """

    records: int
    columns: int
    low: float = -math.inf
    high: float = math.inf
    neighbouring: Neighbouring = REPLACE_ONE
    sampler: Callable[[np.random.Generator], FloatArray] | None = None
    fewer: bool = False

    def __post_init__(self) -> None:
        least = 1 if self.neighbouring is REPLACE_ONE else 2
        object.__setattr__(self, "records", whole("records", self.records, least=least))
        object.__setattr__(self, "columns", whole("columns", self.columns, least=1))
        if math.isnan(self.low) or math.isnan(self.high) or not self.low < self.high:
            raise InputError(f"low, high = {self.low!r}, {self.high!r}: low must be below high")

    def contains(self, data: FloatArray) -> bool:
        """Whether these numbers lie within the bounds (their number is not looked at)."""
        return bool(
            data.ndim == 2
            and data.shape[1] == self.columns
            and np.isfinite(data).all()
            and (data >= self.low).all()
            and (data <= self.high).all()
        )

    def is_pair(self, pair: Pair) -> bool:
        """Whether the two differ by one record: replaced, or at the end of one of them (add-remove)."""
        first, second = pair
        if not (self.contains(first) and self.contains(second)):
            return False
        if self.neighbouring is REPLACE_ONE:
            return len(first) == len(second) == self.records and int((first != second).any(axis=1).sum()) <= 1
        small, large = sorted(pair, key=len)
        if len(large) != self.records or len(small) != self.records - 1:
            return False
        return any(np.array_equal(np.delete(large, row, axis=0), small) for row in range(len(large)))
