"""Bit for bit the same: what two runs released or returned, compared without any tolerance."""

from __future__ import annotations

import gc
import struct
from dataclasses import fields, is_dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

_DEPTH = 40


def same_bits(first: Any, second: Any, _depth: int = 0) -> bool:
    """Whether both have the same type and the same bits.

    That counts the sign of a zero and the payload of a NaN; of arrays dtype, shape, bytes and attributes; of containers the
    parts in order; of other objects their fields.
    """
    if type(first) is not type(second):
        return False
    if first is second:
        return True
    if _depth > _DEPTH:
        return False
    if isinstance(first, np.ndarray | np.generic):
        return _same_arrays(np.asarray(first), np.asarray(second), _depth) and _same_parts(first, second, _depth)
    if isinstance(first, float):
        return struct.pack("d", first) == struct.pack("d", second) and _same_parts(first, second, _depth)
    if isinstance(first, complex):
        return struct.pack("dd", first.real, first.imag) == struct.pack("dd", second.real, second.imag)
    if isinstance(first, range):
        return (first.start, first.stop, first.step) == (second.start, second.stop, second.step)
    if isinstance(first, int | str | bytes | type(None)):
        return bool(first == second) and _same_parts(first, second, _depth)
    if isinstance(first, tuple | list):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(same_bits(a, b, _depth + 1) for a, b in pairs)
    if isinstance(first, dict):
        return same_bits(list(first.items()), list(second.items()), _depth + 1)
    if isinstance(first, set | frozenset):
        return bool(first == second)
    if callable(first) and hasattr(first, "__code__"):
        return first.__code__ is second.__code__ and same_bits(_cells(first), _cells(second), _depth + 1)
    parts = _same_parts(first, second, _depth)
    return parts if _has_parts(first) else bool(first == second)


def _same_arrays(first: Any, second: Any, depth: int) -> bool:
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    if first.dtype.hasobject:
        return same_bits(first.tolist(), second.tolist(), depth + 1)
    return bool(first.tobytes() == second.tobytes())


def _cells(function: Any) -> tuple[Any, ...]:
    return tuple(cell.cell_contents for cell in function.__closure__ or ())


def _has_parts(value: Any) -> bool:
    return is_dataclass(value) or hasattr(value, "__dict__") or hasattr(type(value), "__slots__")


def parts_of(value: Any) -> dict[str, Any]:
    """An object's fields and attributes.  What a cached property has computed is left out: it follows from the rest."""
    declared, computed = _names_of(type(value))  # type: ignore[arg-type]  # a class is hashable
    own = [name for name in getattr(value, "__dict__", ()) if name not in computed]
    return {name: getattr(value, name) for name in dict.fromkeys([*declared, *own]) if hasattr(value, name)}


@lru_cache(maxsize=1024)
def _names_of(kind: type) -> tuple[tuple[str, ...], frozenset[str]]:
    """Of a class: its fields and slots, and its cached properties."""
    declared = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    slots = [name for base in kind.__mro__ for name in getattr(base, "__slots__", ())]
    cached = [name for base in kind.__mro__ for name, found in vars(base).items() if isinstance(found, cached_property)]
    return (*declared, *slots), frozenset(cached)


def _same_parts(first: Any, second: Any, depth: int) -> bool:
    if type(first) in _PLAIN:
        return True
    ours, theirs = parts_of(first), parts_of(second)
    return ours.keys() == theirs.keys() and all(same_bits(ours[name], theirs[name], depth + 1) for name in ours)


# --- what is returned ---------------------------------------------------------------------------------------------------


def same_returned(first: Any, second: Any, _depth: int = 0) -> bool:
    """Whether whoever is given the one cannot tell it from the other: the bits, and all that hangs on them.

    Beside `same_bits`: of arrays the order in memory, whether they may be written, the metadata of their type and the array that
    they are views of; of sets the order; of functions defaults and attributes; of objects whatever they refer to.  What keeps
    things where nobody can look (iterators, partials, decimals, …) is never the same.
    """
    if type(first) is not type(second) or _depth > _DEPTH:
        return False
    if isinstance(first, np.ndarray | np.generic):
        hidden = (_around(first), _around(second))
        return same_bits(first, second) and all(same_returned(a, b, _depth + 1) for a, b in zip(*hidden, strict=True))
    if callable(first) and hasattr(first, "__code__"):
        return first.__code__ is second.__code__ and same_returned(_held_by(first), _held_by(second), _depth + 1)
    if type(first) in _PLAIN or isinstance(first, np.dtype | complex):
        return same_bits(first, second)
    if isinstance(first, tuple | list | dict | set | frozenset):
        ours, theirs = (list(one.items()) if isinstance(one, dict) else list(one) for one in (first, second))
        if len(ours) != len(theirs) or not all(same_returned(a, b, _depth + 1) for a, b in zip(ours, theirs, strict=True)):
            return False
        return type(first) in (tuple, list, dict, set, frozenset) or _same_referents(first, second, _depth)
    if isinstance(first, float | int | str | bytes):
        return same_bits(first, second) and _same_referents(first, second, _depth)
    return _is_open(type(first)) and _same_referents(first, second, _depth)


def _around(value: Any) -> list[Any]:
    """What an array carries beside its bytes."""
    if isinstance(value, np.generic):
        return [_metadata(value.dtype)]
    held = value.tolist() if value.dtype.hasobject else None
    return [_metadata(value.dtype), value.flags.num, value.strides, value.base, getattr(value, "__dict__", None), held]


def _metadata(dtype: Any) -> list[Any]:
    inner = [_metadata(field[0]) for field in (dtype.fields or {}).values()]
    return [None if dtype.metadata is None else dict(dtype.metadata), *inner]


def _held_by(function: Any) -> list[Any]:
    parts = ("__closure__", "__defaults__", "__kwdefaults__", "__dict__")
    return [_cells(function), *(getattr(function, name, None) for name in parts[1:])]


def _is_open(kind: type) -> bool:
    """Written in Python: all that its objects hold is what they refer to.  (The flag marks types that are not built in.)"""
    return bool(kind.__flags__ & (1 << 9)) and getattr(kind, "__new__", None) is object.__new__


def _same_referents(first: Any, second: Any, depth: int) -> bool:
    ours, theirs = ([one for one in gc.get_referents(value) if not isinstance(one, type)] for value in (first, second))
    return len(ours) == len(theirs) and all(
        a is b or same_returned(a, b, depth + 1) for a, b in zip(ours, theirs, strict=True)
    )


_PLAIN = (np.ndarray, float, int, bool, str, bytes, range, type(None), np.float64, np.int64)
