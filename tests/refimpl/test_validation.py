"""Argument checks: what passes comes out unchanged, what does not is refused by name, whatever its type."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tailproof.refimpl.validation import (
    InputError,
    between,
    choice,
    matrix,
    nonnegative,
    positive,
    probability,
    real,
    records,
    vector,
    whole,
)

NOT_NUMBERS = [
    None,
    "1",
    b"1",
    "nan",
    True,
    False,
    1j,
    [1.0],
    (1.0,),
    np.array([1.0]),
    np.zeros((1, 1)),
    {},
    {1.0},
    ...,
]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.nan, np.float32("inf"), Decimal("nan"), Decimal("inf")]
SCALARS: list[Callable[[str, Any], Any]] = [
    real,
    positive,
    nonnegative,
    probability,
    lambda name, value: between(name, value, -1e9, 1e9),
    lambda name, value: whole(name, value, least=-(10**9)),
]
ARRAYS: list[Callable[[str, Any], Any]] = [
    vector,
    lambda name, value: matrix(name, np.asarray(value)[:, np.newaxis] if isinstance(value, np.ndarray) else [value]),
    lambda name, value: records(name, value, least=1),
]


# --- numbers ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", SCALARS)
@pytest.mark.parametrize("bad", NOT_NUMBERS, ids=repr)
def test_only_numbers_are_numbers(check: Callable[[str, Any], Any], bad: Any) -> None:
    with pytest.raises(InputError, match=r"^length = .*: must be a number$"):
        check("length", bad)


@pytest.mark.parametrize("check", SCALARS)
@pytest.mark.parametrize("bad", NOT_FINITE, ids=repr)
def test_numbers_are_finite(check: Callable[[str, Any], Any], bad: Any) -> None:
    with pytest.raises(InputError, match=r"^length = (nan|inf|-inf): must be finite$"):
        check("length", bad)


@pytest.mark.parametrize(
    "bad",
    [np.complex128(1 + 2j), 10**400, [[1.0], [1.0, 2.0]], np.True_, np.array(True), np.array("1.5")],
    ids=["numpy complex", "huge whole number", "ragged list", "numpy bool", "array of a bool", "array of text"],
)
def test_numbers_in_disguise(bad: Any) -> None:
    """These must be refused like the rest: not accepted, and not by another exception or a warning."""
    for check in SCALARS:
        with pytest.raises(InputError, match=r"^length = "):
            check("length", bad)


@pytest.mark.parametrize(
    "number", [0.5, np.float64(0.5), np.float32(0.5), np.array(0.5), Decimal("0.5"), Fraction(1, 2)], ids=repr
)
@pytest.mark.parametrize("check", SCALARS[:5])
def test_every_kind_of_real_number_passes(check: Callable[[str, Any], Any], number: Any) -> None:
    result = check("length", number)
    assert type(result) is float
    assert result == 0.5


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None, max_examples=200)
def test_ranges_of_numbers(number: float) -> None:
    allowed: list[tuple[bool, Callable[[], float]]] = [
        (True, lambda: real("x", number)),
        (number > 0, lambda: positive("x", number)),
        (number >= 0, lambda: nonnegative("x", number)),
        (0 < number < 1, lambda: probability("x", number)),
        (-2 <= number <= 3, lambda: between("x", number, -2, 3)),
    ]
    for fine, check in allowed:
        if fine:
            assert check() == number
        else:
            with pytest.raises(InputError, match="^" + re.escape(f"x = {number!r}: must ")):
                check()


@pytest.mark.parametrize(
    ("check", "fine", "bad"),
    [
        (positive, [5e-324, 1e308], [0.0, -0.0, -5e-324]),
        (nonnegative, [0.0, -0.0, 5e-324], [-5e-324]),
        (probability, [5e-324, math.nextafter(1, 0)], [0.0, 1.0, math.nextafter(1, 2), -5e-324]),
        (lambda n, x: between(n, x, 0.25, 0.5), [0.25, 0.5], [math.nextafter(0.25, 0), math.nextafter(0.5, 1)]),
        (lambda n, x: whole(n, x, least=2, most=4), [2, 4.0], [1, 5, 2.5, math.nextafter(3, 4)]),
    ],
)
def test_edges(check: Callable[[str, Any], Any], fine: list[float], bad: list[float]) -> None:
    for number in fine:
        assert check("x", number) == number
    for number in bad:
        with pytest.raises(InputError, match=r"^x = "):
            check("x", number)


@given(st.integers(-(2**52), 2**52), st.integers(-100, 100), st.integers(0, 200))
@settings(deadline=None, max_examples=200)
def test_whole_numbers(number: int, least: int, width: int) -> None:
    for given_as in (number, float(number), np.int64(number)):
        if number < least:
            with pytest.raises(InputError, match=re.escape(f"n = {number}: must be >= {least}")):
                whole("n", given_as, least=least)
        else:
            result = whole("n", given_as, least=least)
            assert result == number
            assert type(result) is int
        if number > least + width:
            with pytest.raises(InputError, match=re.escape(f"n = {number}: must be in [{least}, {least + width}]")):
                whole("n", given_as, least=least, most=least + width)


def test_a_large_whole_number_is_not_rounded() -> None:
    assert whole("n", 2**53 + 1, least=1) == 2**53 + 1


@pytest.mark.parametrize("bad", [0.5, -1.5, 1e-300, 1 + 1e-12])
def test_fractions_are_not_whole(bad: float) -> None:
    with pytest.raises(InputError, match="must be a whole number"):
        whole("n", bad, least=-10)


def test_choice() -> None:
    assert choice("clamp", "data", ("output", "data")) == "data"
    for bad in ("", "Data", "dat", None, 1, ["data"], ("output", "data")):
        with pytest.raises(InputError, match=r"^clamp = .*: must be one of output, data"):
            choice("clamp", bad, ("output", "data"))


# --- arrays ------------------------------------------------------------------------------------------------------------------


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=2, max_side=6), elements=st.floats()))
@settings(deadline=None, max_examples=200)
def test_arrays_pass_unchanged_or_the_first_bad_entry_is_named(array: Any) -> None:
    check = vector if array.ndim == 1 else matrix
    if np.isfinite(array).all():
        result = check("data", array)
        assert result.dtype == np.float64
        assert np.array_equal(result, array)
    else:
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        with pytest.raises(InputError, match="^" + re.escape(f"data: entry {where} is ")):
            check("data", array)


def test_infinities_that_cancel_and_sums_that_overflow() -> None:
    with pytest.raises(InputError, match=r"entry \(1,\)"):
        vector("x", [0.0, math.inf, -math.inf])
    assert vector("x", [1e308, 1e308]).tolist() == [1e308, 1e308]
    assert vector("x", [-1e308] * 3).tolist() == [-1e308] * 3
    assert vector("x", []).size == 0


@pytest.mark.parametrize("check", ARRAYS)
@pytest.mark.parametrize("bad", ["abc", None, {}, [...], ["a", "b"], [[1.0], [1.0, 2.0]], [1j]], ids=repr)
def test_only_numbers_make_arrays(check: Callable[[str, Any], Any], bad: Any) -> None:
    with pytest.raises(InputError, match=r"^data: "):
        check("data", bad)


@pytest.mark.parametrize(
    "bad",
    [
        np.array([1 + 2j]),
        [10**400],
        ["1", "2"],
        np.array(["1", 2.0], dtype=object),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
    ],
    ids=["numpy complex", "huge whole number", "text", "text among objects", "dates"],
)
def test_arrays_in_disguise(bad: Any) -> None:
    """An imaginary part must not be dropped, text and dates not be read as numbers, nor another exception raised."""
    for check in ARRAYS:
        with pytest.raises(InputError, match=r"^data: "):
            check("data", bad)


def test_whole_numbers_and_single_precision_make_arrays() -> None:
    for given_as in ([1, 2], np.array([1, 2], dtype=np.int32), np.array([1, 2], dtype=np.float32)):
        assert vector("x", given_as).tolist() == [1.0, 2.0]
        assert vector("x", given_as).dtype == np.float64


@pytest.mark.parametrize("shape", [(), (2, 3), (1, 2, 3)])
def test_a_vector_has_one_dimension(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"^x: has shape .*; must be one-dimensional"):
        vector("x", np.zeros(shape))


@pytest.mark.parametrize("shape", [(), (2,), (1, 2, 3)])
def test_a_matrix_has_two_dimensions(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"^x: has shape .*; must be two-dimensional"):
        matrix("x", np.zeros(shape))


def test_sizes() -> None:
    assert vector("x", np.zeros(3), size=3).shape == (3,)
    with pytest.raises(InputError, match="x: has 3 entries; must have 2"):
        vector("x", np.zeros(3), size=2)
    assert matrix("x", np.zeros((2, 3)), columns=3).shape == (2, 3)
    with pytest.raises(InputError, match="x: has 3 columns; must have 2"):
        matrix("x", np.zeros((2, 3)), columns=2)


def test_records() -> None:
    assert records("data", [1.0, 2.0, 3.0]).shape == (3, 1)
    assert records("data", np.ones((2, 5)), columns=5).shape == (2, 5)
    assert records("data", np.ones((1, 5)), least=1).shape == (1, 5)
    for bad, message in (
        (5.0, "data: has shape"),
        (np.ones((2, 2, 2)), "data: has shape"),
        ([1.0], "data: has 1 record; at least 2 are needed"),
        (np.ones((0, 3)), "data: has 0 records; at least 2 are needed"),
        (np.ones((2, 0)), "data: has no columns; at least 1 is needed"),
        ([[1.0, math.nan], [1.0, 2.0]], r"data: entry \(0, 1\) is "),
        ([1.0, -math.inf], r"data: entry \(1, 0\) is "),
    ):
        with pytest.raises(InputError, match=f"^{message}"):
            records("data", bad)
    with pytest.raises(InputError, match="data: has 5 columns; must have 4"):
        records("data", np.ones((2, 5)), columns=4)
    with pytest.raises(InputError, match="at least 7 are needed"):
        records("data", np.ones((6, 5)), least=7)


def test_an_input_error_is_a_value_error() -> None:
    assert issubclass(InputError, ValueError)
