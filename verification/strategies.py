"""Hypothesis strategies: data sets, neighbouring pairs, heavy-tailed laws, domains and losses.

Everything shrinks: towards few records and columns, zeros (or the bound nearest to zero), the first record, the plainest law.
Needs the extra `testing`: pip install 'tailproof[testing]'.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tailproof.refimpl import domains as sets
from tailproof.refimpl import losses as functions
from tailproof.refimpl import problems
from tailproof.refimpl.claims import ADD_REMOVE, REPLACE_ONE, Neighbouring
from tailproof.refimpl.validation import FloatArray, InputError, positive, whole

try:
    from hypothesis import strategies as st
    from hypothesis.extra.numpy import arrays
except ImportError as error:  # pragma: no cover  (told in a process of its own)
    raise ImportError("tailproof.verification.strategies needs hypothesis: pip install 'tailproof[testing]'") from error

LARGEST = 1e12  # of numbers without bounds: squares and sums of them are far from overflow
RECORDS, COLUMNS = (1, 20), (1, 4)
DENSE = 256  # numbers of a table that are drawn one by one

Range = int | tuple[int, int]
Strategy = st.SearchStrategy


def _range(name: str, value: Range, least: int) -> tuple[int, int]:
    low, high = (value, value) if isinstance(value, int) else value
    low = whole(name, low, least=least)
    return low, whole(name, high, least=low)


def numbers(bounds: tuple[float, float] | None = None) -> Strategy[float]:
    """Finite floats within the bounds, by default of at most 1e12; (−inf, inf): all finite floats."""
    low, high = (-LARGEST, LARGEST) if bounds is None else bounds
    if not low < high:
        raise InputError(f"bounds = {bounds!r}: must be (low, high) with low < high")
    return st.floats(
        low if math.isfinite(low) else None,
        high if math.isfinite(high) else None,
        allow_nan=False,
        allow_infinity=False,
    )


def _tables(shape: int | tuple[int, int], bounds: tuple[float, float] | None) -> Strategy[FloatArray]:
    """Every entry by itself, so that each shrinks by itself; of large tables a part, and the others as near to zero as may be."""
    low, high = (-LARGEST, LARGEST) if bounds is None else bounds
    fill = st.nothing() if math.prod(np.atleast_1d(shape)) <= DENSE else st.just(min(max(0.0, low), high))
    return arrays(np.float64, shape, elements=numbers(bounds), fill=fill)


@st.composite
def data_sets(
    draw: st.DrawFn, *, records: Range = RECORDS, columns: Range = COLUMNS, bounds: tuple[float, float] | None = None
) -> FloatArray:
    """n × d arrays of numbers; `records` and `columns` are numbers or ranges, both ends included."""
    shape = draw(st.integers(*_range("records", records, 0))), draw(st.integers(*_range("columns", columns, 1)))
    found: FloatArray = draw(_tables(shape, bounds))
    return found


@st.composite
def neighbouring(
    draw: st.DrawFn,
    *,
    records: Range = RECORDS,
    columns: Range = COLUMNS,
    bounds: tuple[float, float] | None = None,
    relation: Neighbouring = REPLACE_ONE,
) -> tuple[FloatArray, FloatArray]:
    """Two data sets that differ in one record: another one in its place, or (add-remove) none in the second.

    `records` counts those of the first data set.
    """
    n, d = draw(st.integers(*_range("records", records, 1))), draw(st.integers(*_range("columns", columns, 1)))
    others: FloatArray = draw(_tables((n - 1, d), bounds))
    record = _tables(d, bounds)
    before: FloatArray = draw(record)
    place = draw(st.integers(0, n - 1))
    first = np.insert(others, place, before, axis=0)
    if relation is ADD_REMOVE:
        return first, others
    after = draw(record.filter(lambda other: not np.array_equal(other, before)))
    return first, np.insert(others, place, after, axis=0)


# --- laws of data -----------------------------------------------------------------------------------------------------------


def heavy_tailed_laws(moment: float = 2.0) -> Strategy[problems.DataLaw]:
    """Laws without exponential moments whose moment of this order is finite, those with few others among them."""
    order = positive("moment", moment)
    index = st.floats(0.01, 4.0).map(lambda more: order + more)
    scale = st.sampled_from([1.0, 1e-3, 1e3])
    pareto = st.builds(problems.Pareto, index, scale)
    return st.one_of(
        st.builds(problems.StudentT, index, st.just(0.0), scale),
        pareto,
        pareto.map(problems.Symmetric),
        st.builds(problems.LogLogistic, index, scale),
        st.builds(problems.Lognormal, st.just(0.0), st.floats(0.5, 3.0)),
    )


@st.composite
def heavy_tailed_data(
    draw: st.DrawFn, *, records: Range = RECORDS, columns: Range = COLUMNS, moment: float = 2.0
) -> FloatArray:
    """Independent draws of one such law."""
    shape = draw(st.integers(*_range("records", records, 0))), draw(st.integers(*_range("columns", columns, 1)))
    law = draw(heavy_tailed_laws(moment))
    return law.sample(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), shape)


# --- optimisation -------------------------------------------------------------------------------------------------------------


def domains(dimension: int) -> Strategy[Any]:
    """Balls, boxes, ℓ1 balls and ellipsoids in this dimension, the unit ball first."""
    d = whole("dimension", dimension, least=1)
    centre = arrays(np.float64, d, elements=st.floats(-10, 10))
    size = st.floats(1e-2, 1e2)  # 1 is the simplest of them
    axes = arrays(np.float64, d, elements=st.floats(0.1, 10))
    return st.one_of(
        st.builds(sets.Ball, centre, size),
        st.builds(lambda low, width: sets.Box(low, low + width), centre, axes),
        st.builds(sets.L1Ball, centre, size),
        st.builds(lambda middle, half: sets.Ellipsoid(middle, np.diag(half**2)), centre, axes),
    )


def losses() -> Strategy[Any]:
    """Generalised linear losses, alone or with a ridge penalty."""
    plain: tuple[Callable[[], functions.GlmLoss], ...] = (
        functions.Absolute,
        functions.Affine,
        functions.Hinge,
        functions.Logistic,
        functions.ReLU,
        functions.Squared,
        functions.L4,
    )
    single = st.sampled_from([make() for make in plain])
    return st.one_of(single, st.builds(functions.Ridge, single, st.floats(1e-3, 10.0)))
