"""Choices that no comparison shows: products of truths, tests for zero, look-ups, texts, and calls of what nobody knows.

What is known is total and does one thing: the functions of numpy, of Python's arithmetic and of its containers.  Any other call
may decide anything inside, and so may whatever makes a text or bytes of private values; both are named.
"""

from __future__ import annotations

import ast
import bisect
import functools
import math
import operator
from collections import deque
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from tailproof.verification.branches.own_code import is_library_name

if TYPE_CHECKING:
    from tailproof.verification.branches.comparisons import Site, Watch

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.FloorDiv: operator.floordiv,
}
STEPS: tuple[Any, ...] = (int, round, math.floor, math.ceil, math.trunc, np.floor, np.ceil, np.trunc, np.rint, np.round)
STEPS += (np.floor_divide, np.searchsorted, np.digitize, bisect.bisect, bisect.bisect_left, bisect.bisect_right)
IN_PLACE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.Mult: operator.imul,
}
ZERO_TESTS: tuple[Any, ...] = (
    bool,
    operator.not_,
    operator.truth,
    np.count_nonzero,
    np.nonzero,
    np.flatnonzero,
    np.argwhere,
)
ZERO_TESTS += (np.logical_not, np.logical_and, np.logical_or)
# fmt: off
MODULES = (
    "numpy", "math", "cmath", "operator", "_operator", "itertools", "functools", "_functools", "statistics", "bisect",
    "_bisect", "heapq", "_heapq", "collections", "fractions", "numbers", "dataclasses", "copy", "typing", "enum",
    "scipy.special", "scipy.linalg", "tailproof", "warnings", "contextlib",
)
# fmt: on
NOTHING = math.nan  # no number that could be compared
# fmt: off
BUILTINS = frozenset((
    abs, all, any, divmod, isinstance, issubclass, iter, len, max, min, next, pow, round, sorted, sum, callable, print, hasattr,
    int, float, bool, complex, list, tuple, dict, set, frozenset, range, enumerate, zip, map, filter, reversed, slice, super,
    object, type, property, staticmethod, classmethod,
))
WRITING = frozenset((
    "tobytes", "tostring", "dump", "dumps", "tofile", "view", "byteswap", "hex", "to_bytes", "as_integer_ratio", "frombuffer",
    "array2string", "array_repr", "array_str", "array_equiv", "format_float_positional", "format_float_scientific", "base_repr",
    "binary_repr", "packbits", "unpackbits", "fromstring", "__format__", "__repr__", "__str__", "__hash__",
))
# fmt: on
_HOLDERS = (np.ndarray, np.generic, np.ufunc, list, tuple, dict, set, frozenset, deque, range, int, float, complex)


def is_known(function: Any, owns: Callable[[dict[str, Any]], bool]) -> bool:
    """A total function that decides nothing by itself, or one of the author's, which is watched."""
    if getattr(function, "__name__", "") in WRITING:
        return False
    if isinstance(function, functools.partial):
        return is_known(function.func, owns)
    if isinstance(function, MethodType):
        return is_known(function.__func__, owns)
    if isinstance(function, FunctionType):
        return owns(function.__globals__) or _is_of_a_known_module(function)
    if isinstance(function, BuiltinFunctionType) and isinstance(getattr(function, "__self__", None), _HOLDERS):
        return True
    if getattr(type(function), "__name__", "") in ("method-wrapper", "method_descriptor", "wrapper_descriptor"):
        return not isinstance(getattr(function, "__self__", None), str | bytes)
    try:
        if function in BUILTINS:
            return True
    except TypeError:
        return False
    if isinstance(function, type):
        return issubclass(function, BaseException) or not _is_library(function) or _is_of_a_known_module(function)
    return _is_of_a_known_module(function) or _is_of_a_known_module(type(function)) or not _is_library(type(function))


def _is_of_a_known_module(value: Any) -> bool:
    return _is_known_module(str(getattr(value, "__module__", None) or ""))


@functools.lru_cache(maxsize=1024)
def _is_known_module(home: str) -> bool:
    return any(home == name or home.startswith(f"{name}.") for name in MODULES) and not home.startswith("numpy.random")


def _is_library(kind: type) -> bool:
    """Built in, or of an installed package: not the author's."""
    return is_library_name(kind.__module__, "")


def binary(watch: Watch, site: Site, run: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operation itself; what it tests on the way is noted."""

    def compute(left: Any, right: Any) -> Any:
        outcome = run(left, right)
        if isinstance(left, str | bytes):
            watch.opaque.add(site)
        elif isinstance(left, set | frozenset) and isinstance(right, set | frozenset):
            if run is operator.and_:
                watch.note(site.only("true"), "!=", len(outcome), 0.0, bool(outcome))
        elif run is operator.sub:
            watch.note(site.as_hint(), "==", left, right, np.asarray(left) == np.asarray(right))
        elif run is operator.pow:
            watch.note(site.as_hint(), "==", right, 0.0, np.asarray(right) == 0)
        elif run is operator.floordiv:
            watch.note_step(site, outcome)
        elif run in (operator.mul, operator.imul) and _are_truths(left) != _are_truths(right):
            truths, other = (left, right) if _are_truths(left) else (right, left)
            if not (isinstance(other, int | float) and other == 0):
                watch.note_joined(site.only("true"), truths, other, np.asarray(outcome) != 0, both=True)
        elif run is not operator.mod and _are_truths(left) and _are_truths(right):
            both = run not in (operator.or_, operator.ior)
            watch.note_joined(site.only("true" if both else "false"), left, right, outcome, both=both)
        return outcome

    return compute


def _are_truths(value: Any) -> bool:
    return isinstance(value, bool | np.bool_) or (isinstance(value, np.ndarray) and value.dtype == bool)


def zero_test(watch: Watch, site: Site) -> Callable[[Any], Any]:
    """`not x` outside of a test: only a zero makes it true."""

    def test(value: Any) -> Any:
        _is_zero(watch, site, value)
        return value

    return test


def _is_zero(watch: Watch, site: Site, value: Any) -> None:
    held = np.asarray(value)
    if held.dtype.kind in "iuf":
        watch.note(site.only("false"), "!=", held, 0.0, held != 0)


def _are_zeros(watch: Watch, site: Site, values: tuple[Any, ...]) -> None:
    for value in values:
        _is_zero(watch, site, value)


def called(watch: Watch, site: Site, function: Any) -> Callable[..., Any] | None:
    """The function with notes of what it tests; None where there is nothing to note."""
    name, holder = getattr(function, "__name__", ""), getattr(function, "__self__", None)
    try:
        tests_zero, steps = function in ZERO_TESTS, function in STEPS
    except (TypeError, ValueError):
        tests_zero = steps = False
    if steps or (isinstance(holder, np.ndarray) and name in ("searchsorted", "round")):
        return _noting(function, lambda _, out: watch.note_step(site, out))
    if isinstance(holder, np.ufunc):
        return _noting(function, lambda _, out: watch.note(site, "in", NOTHING, 0.0, out) if _are_truths(out) else None)
    if tests_zero or (isinstance(holder, np.ndarray) and name == "nonzero"):
        return _noting(function, lambda given, _: _are_zeros(watch, site, given or (holder,)))
    if isinstance(holder, np.ndarray) and name == "astype":
        return _noting(function, lambda _, out: _is_zero(watch, site, holder) if out.dtype == bool else None)
    if isinstance(holder, np.ndarray) and name == "all":
        return _noting(function, lambda _, out: watch.note_all(site.only("true"), holder, out))
    if function in (np.all,):
        return _noting(function, lambda given, out: watch.note_all(site.only("true"), given[0], out))
    if isinstance(holder, dict) and name == "get":
        return _noting(function, lambda given, _: watch.note(site.only("true"), "in", NOTHING, 0.0, given[0] in holder))
    if isinstance(holder, list | tuple) and name == "count":
        return _noting(function, lambda _, out: watch.note(site.only("true"), "!=", out, 0.0, out > 0))
    if isinstance(holder, float | np.floating) and name == "is_integer":
        return _noting(function, lambda _, out: watch.note(site.only("true"), "in", NOTHING, 0.0, out))
    return None


def _noting(function: Any, note: Callable[[tuple[Any, ...], Any], Any]) -> Callable[..., Any]:
    def run(*given: Any, **named: Any) -> Any:
        outcome = function(*given, **named)
        try:
            note(given, outcome)
        except Exception:  # what cannot be measured is no hint
            return outcome
        return outcome

    return run
