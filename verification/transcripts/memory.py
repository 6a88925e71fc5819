"""Where a mechanism can remember something, with what is there, so that it can be put back.

Reached are the globals that its own functions name, their closures, defaults and attributes, classes of its own, and what all of
these hold.
"""

from __future__ import annotations

import contextvars
import io
import random
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tailproof.verification.transcripts.own_code import functions_of, is_own_class, names_in

OPAQUE = (Iterator, io.IOBase, random.Random, memoryview, contextvars.ContextVar, threading.local, weakref.ref)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), range, ModuleType)
_DEEP = 8


@dataclass(frozen=True, eq=False)
class Places:
    """`opaque` names what keeps a state that nobody can look at, such as an iterator."""

    saved: tuple[Callable[[], None], ...]
    caches: tuple[Callable[[], None], ...]
    opaque: tuple[str, ...]

    @staticmethod
    def of(mechanism: Any) -> Places:
        walk = _Walk([], [], [], set())
        walk.value(mechanism, "the mechanism", 0)
        for function in functions_of(mechanism):
            walk.function(function)
        return Places(tuple(walk.saved), tuple(walk.caches), tuple(walk.opaque))

    def restore(self) -> None:
        for put_back in self.saved:
            put_back()

    def empty_caches(self) -> None:
        for clear in self.caches:
            clear()


@dataclass(eq=False)
class _Walk:
    saved: list[Callable[[], None]]
    caches: list[Callable[[], None]]
    opaque: list[str]
    seen: set[int]

    def function(self, function: FunctionType) -> None:
        where = function.__qualname__
        for name in sorted(names_in(function.__code__)):
            if name in function.__globals__:
                self._named(function.__globals__, name)
        for cell in function.__closure__ or ():
            self._cell(cell, f"the closure of {where}")
        for held in (function.__defaults__, function.__kwdefaults__, vars(function)):
            self.value(held, f"a default or an attribute of {where}", 0)

    def _named(self, scope: dict[str, Any], name: str) -> None:
        value = scope[name]
        self.saved.append(lambda: scope.__setitem__(name, value))
        self.value(value, f"the global {name}", 0)

    def _cell(self, cell: CellType, where: str) -> None:
        try:
            value = cell.cell_contents
        except ValueError:
            return

        def put_back() -> None:
            cell.cell_contents = value

        self.saved.append(put_back)
        self.value(value, where, 0)

    def value(self, value: Any, where: str, depth: int) -> None:
        if isinstance(value, _PLAIN) or id(value) in self.seen or depth > _DEEP:
            return
        self.seen.add(id(value))
        clear = getattr(value, "cache_clear", None)
        if callable(clear):
            self.caches.append(clear)
        elif isinstance(value, OPAQUE):
            self.opaque.append(f"{where} is or holds a {type(value).__name__}")
        elif isinstance(value, FunctionType):
            for cell in value.__closure__ or ():
                self._cell(cell, where)
        elif isinstance(value, MethodType):
            self.value(value.__self__, where, depth + 1)
        else:
            for part in self._parts(value):
                self.value(part, where, depth + 1)

    def _parts(self, value: Any) -> list[Any]:
        """What it holds; how to put that back is noted."""
        if isinstance(value, np.ndarray):
            held = value.copy()
            if value.flags.writeable:
                self.saved.append(lambda: np.copyto(value, held))
            return value.ravel().tolist() if value.dtype.hasobject else []
        if isinstance(value, list | deque):
            items = list(value)
            self.saved.append(lambda: _fill(value, value.extend, items))
            return items
        if isinstance(value, dict):
            pairs = dict(value)
            self.saved.append(lambda: _fill(value, value.update, pairs))
            return [*pairs.values()]
        if isinstance(value, set):
            members = set(value)
            self.saved.append(lambda: _fill(value, value.update, members))
            return list(members)
        if isinstance(value, tuple | frozenset):
            return list(value)
        if isinstance(value, type):
            return self._attributes(value) if is_own_class(value) else []
        if is_own_class(type(value)):
            return [type(value), *self._attributes(value)]
        return []

    def _attributes(self, value: Any) -> list[Any]:
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        names = [*getattr(value, "__dict__", {}), *slots]
        held = {name: getattr(value, name) for name in names if name[:2] != "__" and _is_there(value, name)}
        if isinstance(value, type):
            held = {name: one for name, one in vars(value).items() if name[:2] != "__"}

        def put_back() -> None:
            for name in [name for name in getattr(value, "__dict__", {}) if name[:2] != "__" and name not in held]:
                delattr(value, name)
            for name, one in held.items():
                if not isinstance(value, type) or vars(value).get(name) is not one:
                    (type if isinstance(value, type) else object).__setattr__(value, name, one)

        self.saved.append(put_back)
        return list(held.values())


def _fill(container: Any, add: Callable[[Any], None], held: Any) -> None:
    container.clear()
    add(held)


def _is_there(value: Any, name: str) -> bool:
    try:
        getattr(value, name)
    except Exception:
        return False
    return True
