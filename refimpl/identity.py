"""Bit for bit the same: what two runs released or returned, compared without any tolerance."""

from __future__ import annotations

import struct
from dataclasses import fields, is_dataclass
from functools import cached_property
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
    if isinstance(first, int | str | bytes | range | type(None)):
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
    names = [field.name for field in fields(value)] if is_dataclass(value) and not isinstance(value, type) else []
    names += [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
    names += [name for name in getattr(value, "__dict__", {}) if not _computed(value, name)]
    return {name: getattr(value, name) for name in dict.fromkeys(names) if hasattr(value, name)}


def _computed(value: Any, name: str) -> bool:
    return any(isinstance(vars(kind).get(name), cached_property) for kind in type(value).__mro__)


def _same_parts(first: Any, second: Any, depth: int) -> bool:
    if type(first) in _PLAIN:
        return True
    ours, theirs = parts_of(first), parts_of(second)
    return set(ours) == set(theirs) and all(same_bits(ours[name], theirs[name], depth + 1) for name in ours)


_PLAIN = (np.ndarray, float, int, bool, str, bytes, range, type(None), np.float64, np.int64)
