"""Checks of arguments, shared by everything public.

An error names the argument, the value it got and what is allowed.  Every check runs before any record is used, so that
neither an exception nor its absence depends on private data in a way the caller did not ask for: malformed *data*
(wrong shape, non-finite entries) is refused as input, never repaired.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailproof._nearest import did_you_mean

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class InputError(ValueError):
    """The caller's argument is not allowed; the message says which, what it was and what is allowed."""


class MissingError(InputError):
    """A public number that is needed was not given; `name` says which."""

    def __init__(self, name: str, needed_for: str) -> None:
        super().__init__(f"{name}: is needed for {needed_for}")
        self.name = name


class RangeError(InputError):
    """A public number lies outside of what is allowed; `name` says which."""

    def __init__(self, name: str, value: Any, allowed: str) -> None:
        super().__init__(f"{name} = {value!r}: {allowed}")
        self.name, self.value, self.allowed = name, value, allowed


def real(name: str, value: Any) -> float:
    """A finite real number: of Python, numpy, `decimal` or `fractions`, or an array that holds one."""
    if type(value) is float and math.isfinite(value):  # the usual case, and by far the cheapest
        return value
    scalar = value.item() if isinstance(value, np.ndarray | np.generic) and value.ndim == 0 else value
    if isinstance(scalar, bool) or not isinstance(scalar, Real | Decimal):
        raise InputError(f"{name} = {value!r}: must be a number")
    try:
        number = float(scalar)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{name} = {number!r}: must be finite")
    return number


def positive(name: str, value: Any) -> float:
    number = real(name, value)
    if number <= 0:
        raise InputError(f"{name} = {number!r}: must be > 0")
    return number


def nonnegative(name: str, value: Any) -> float:
    number = real(name, value)
    if number < 0:
        raise InputError(f"{name} = {number!r}: must be >= 0")
    return number


def probability(name: str, value: Any) -> float:
    """A number strictly between 0 and 1 (a failure probability, or the δ of approximate privacy)."""
    number = real(name, value)
    if not 0 < number < 1:
        raise InputError(f"{name} = {number!r}: must lie strictly between 0 and 1")
    return number


def between(name: str, value: Any, low: float, high: float) -> float:
    """A number of the closed interval [low, high]."""
    number = real(name, value)
    if not low <= number <= high:
        raise InputError(f"{name} = {number!r}: must lie in [{low:g}, {high:g}]")
    return number


def whole(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """An integer in [least, most]."""
    number = real(name, value)
    if number != int(number):
        raise InputError(f"{name} = {value!r}: must be a whole number")
    integer = int(value)  # not int(number): a float rounds whole numbers beyond 2⁵³
    if integer < least or (most is not None and integer > most):
        allowed = f">= {least}" if most is None else f"in [{least}, {most}]"
        raise InputError(f"{name} = {integer}: must be {allowed}")
    return integer


def known(name: str, value: str, allowed: Iterable[str], where: str) -> str:
    """The allowed name that is meant, whatever its case; `where` says how to see them all."""
    names = list(allowed)
    for found in (value, *(other for other in names if other.lower() == value.strip().lower())):
        if found in names:
            return found
    raise InputError(f"{name} = {value!r}: is not known{did_you_mean(value, names, most=3)}; {where}")


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        meant = did_you_mean(value, allowed) if isinstance(value, str) else ""
        raise InputError(f"{name} = {value!r}: must be one of {', '.join(allowed)}{meant}")
    return str(value)


def _floats(name: str, value: ArrayLike) -> FloatArray:
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO" or (array.dtype.kind == "O" and any(isinstance(x, str) for x in array.flat)):
            raise TypeError
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: must be an array of numbers, got {type(value).__name__}") from None


def _finite(name: str, array: FloatArray) -> FloatArray:
    # One pass without a temporary of the data's size: a sum is finite unless an entry is not (or it overflows).
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(array.sum())
    if not math.isfinite(total):
        bad = ~np.isfinite(array)
        if bad.any():
            where = tuple(int(i) for i in np.argwhere(bad)[0])
            raise InputError(f"{name}: entry {where} is {array[where]!r}; every entry must be finite")
    return array


def vector(name: str, value: ArrayLike, *, size: int | None = None) -> FloatArray:
    """A finite one-dimensional array, of the given size where one is given."""
    array = _floats(name, value)
    if array.ndim != 1:
        raise InputError(f"{name}: has shape {array.shape}; must be one-dimensional")
    if size is not None and array.shape[0] != size:
        raise InputError(f"{name}: has {array.shape[0]} entries; must have {size}")
    return _finite(name, array)


def matrix(name: str, value: ArrayLike, *, columns: int | None = None) -> FloatArray:
    """A finite two-dimensional array, with the given number of columns where one is given."""
    array = _floats(name, value)
    if array.ndim != 2:
        raise InputError(f"{name}: has shape {array.shape}; must be two-dimensional")
    if columns is not None and array.shape[1] != columns:
        raise InputError(f"{name}: has {array.shape[1]} columns; must have {columns}")
    return _finite(name, array)


def records(name: str, value: ArrayLike, *, least: int = 2, columns: int | None = None) -> FloatArray:
    """A data set: an n × d array of finite numbers with n ≥ `least` and d ≥ 1; a flat array means d = 1."""
    return _finite(name, shaped(name, value, least=least, columns=columns))


def shaped(name: str, value: ArrayLike, *, least: int = 2, columns: int | None = None) -> FloatArray:
    """The same of any floats: what is public about a data set."""
    array = _floats(name, value)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise InputError(f"{name}: has shape {array.shape}; must be n records by d columns")
    n, d = array.shape
    if n < least:
        raise InputError(f"{name}: has {n} record{'' if n == 1 else 's'}; at least {least} are needed")
    if d < 1:
        raise InputError(f"{name}: has no columns; at least 1 is needed")
    if columns is not None and d != columns:
        raise InputError(f"{name}: has {d} columns; must have {columns}")
    return array
