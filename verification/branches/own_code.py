"""The code that is a mechanism's own: its function, and what that reaches outside of the libraries it stands on.

Reached are closures, defaults, methods, partials, callable objects, tables of functions, and whatever a function names among its
globals.  Python's library, numpy, installed packages and this one are not the mechanism's own.  Of the catalogue's rows the
modules of algorithms are; what these stand on (the channel, laws, losses, domains, certified minimisers) has tests of its own.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

INSTALLED = ("site-packages", "dist-packages")
HOME = "tailproof.refimpl"
ALGORITHMS = tuple(f"{HOME}.{name}." for name in ("approx_dp", "means", "pure_dp"))
SHOWN = 1000  # elements of a table that are looked at
WRITTEN_BY_DATACLASSES = (
    "__init__",
    "__repr__",
    "__eq__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__hash__",
    "__setattr__",
    "__delattr__",
)


@dataclass(frozen=True, eq=False)
class OwnCode:
    """`roots` are what is called with the data; `positional`: some of their positions are filled already."""

    functions: tuple[FunctionType, ...]
    roots: tuple[FunctionType, ...]
    home: str
    positional: bool = False

    @functools.cached_property
    def codes(self) -> tuple[CodeType, ...]:
        """Of all functions, with the lambdas, functions and comprehensions inside of them; each once."""
        found: dict[CodeType, None] = {}
        for function in self.functions:
            for code in within(function.__code__):
                found.setdefault(code)
        return tuple(found)

    def owns(self, scope: dict[str, Any]) -> bool:
        """Whether code that runs with these globals is the mechanism's."""
        return not _library(scope, self.home)


def own_code(mechanism: Any) -> OwnCode:
    """What a mechanism consists of."""
    roots = tuple(_called(mechanism))
    scope = roots[0].__globals__ if roots else {}
    home = str(scope.get("__name__", ""))
    functions: dict[int, FunctionType] = {id(root): root for root in roots}
    seen: dict[int, Any] = {}
    pending: list[Any] = [mechanism, *roots]
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, FunctionType) and not _library(value.__globals__, home) and not _generated(value):
            functions[id(value)] = value
        pending.extend(_next(value, home, functions))
    return OwnCode(tuple(functions.values()), roots, home, isinstance(mechanism, functools.partial) and bool(mechanism.args))


def within(code: CodeType) -> Iterator[CodeType]:
    """The code and all code inside of it, outermost first."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from within(constant)


def _called(mechanism: Any) -> Iterator[FunctionType]:
    if isinstance(mechanism, functools.partial):
        yield from _called(mechanism.func)
    elif isinstance(mechanism, FunctionType):
        yield mechanism
        if hasattr(mechanism, "__wrapped__"):
            yield from _called(mechanism.__wrapped__)
    elif isinstance(mechanism, MethodType):
        yield from _called(mechanism.__func__)
    elif isinstance(getattr(type(mechanism), "__call__", None), FunctionType):  # noqa: B004  (inherited ones, too)
        yield type(mechanism).__call__  # type: ignore[misc]
    elif hasattr(mechanism, "__wrapped__"):
        yield from _called(mechanism.__wrapped__)


def _next(value: Any, home: str, functions: dict[int, FunctionType]) -> Iterator[Any]:
    """What one value reaches."""
    if isinstance(value, FunctionType):
        yield from (cell.cell_contents for cell in value.__closure__ or () if _filled(cell))
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
        yield from vars(value).values()
        if id(value) in functions:
            yield from _named(value, home)
    elif isinstance(value, MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, staticmethod | classmethod):
        yield value.__func__
    elif isinstance(value, property):
        yield from (value.fget, value.fset)
    elif isinstance(value, type):
        if not is_library_name(value.__module__, home):
            yield from (*vars(value).values(), *value.__mro__[1:])
    elif isinstance(value, dict):
        yield from list(value.values())[:SHOWN]
    elif isinstance(value, list | tuple | set | frozenset):
        yield from list(value)[:SHOWN]
    elif not isinstance(value, ModuleType | str | bytes | int | float):
        yield type(value)
        yield from list(getattr(value, "__dict__", {}).values())[:SHOWN]


def _named(function: FunctionType, home: str) -> Iterator[Any]:
    """The globals that a function or what is inside of it names, and the attributes that it names of modules of its own."""
    names = {name for code in within(function.__code__) for name in code.co_names}
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        if not isinstance(value, ModuleType):
            yield value
        elif not is_library_name(value.__name__, home):
            yield from (vars(value)[attribute] for attribute in names & vars(value).keys())


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _generated(function: FunctionType) -> bool:
    """Written by `dataclasses`, not by the author."""
    if function.__code__.co_filename != "<string>" or function.__name__ not in WRITTEN_BY_DATACLASSES:
        return False
    owner = function.__globals__.get(function.__qualname__.split(".")[0])
    return owner is None or is_dataclass(owner)


def _library(scope: dict[str, Any], home: str) -> bool:
    """Whether these are the globals of a library: the module itself, not a name that somebody gave."""
    module = sys.modules.get(str(scope.get("__name__")))
    return module is not None and vars(module) is scope and is_library_name(module.__name__, home)


@functools.cache
def is_library_name(name: str, home: str) -> bool:
    top = name.partition(".")[0]
    if top == "tailproof":
        return not (home.startswith(HOME) and name.startswith(ALGORITHMS))
    if top in sys.stdlib_module_names or top in ("numpy", "scipy"):
        return True
    path = str(getattr(sys.modules.get(name), "__file__", "") or "")
    return any(part in path for part in INSTALLED) and top != home.partition(".")[0]
