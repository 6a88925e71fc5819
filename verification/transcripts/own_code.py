"""The code that a mechanism is made of: its function, and those of its own that this one reaches.

Own is what is neither the standard library, nor an installed package, nor this project; of an algorithm of this project, its own
module.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

LIBRARIES = tuple(
    str(Path(sysconfig.get_paths()[name]).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


def functions_of(mechanism: Any) -> tuple[FunctionType, ...]:
    """The mechanism's own functions, each once, in the order in which they are reached."""
    found: dict[int, FunctionType] = {}
    pending, home = [mechanism], home_of(mechanism)
    seen: set[int] = set()
    while pending:
        value = pending.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        function = _function(value)
        if function is not None and _is_own(function, home):
            found.setdefault(id(function.__code__), function)
            pending += reached(function)
        pending += _inside(value, home)
    return tuple(found.values())


def home_of(mechanism: Any) -> str | None:
    """The module that the mechanism is written in."""
    function = _function(mechanism)
    return getattr(function or type(mechanism), "__module__", None)


def _function(value: Any) -> FunctionType | None:
    while isinstance(value, functools.partial | MethodType) or hasattr(value, "__wrapped__"):
        value = value.func if isinstance(value, functools.partial) else getattr(value, "__wrapped__", None) or value.__func__
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    return value if isinstance(value, FunctionType) else None


def _is_own(function: FunctionType, home: str | None) -> bool:
    if function.__module__ == home:
        return True
    if (function.__module__ or "").split(".")[0] in ("tailproof", "numpy", "scipy"):
        return False
    file = str(Path(function.__code__.co_filename).resolve()) if function.__code__.co_filename[:1] != "<" else ""
    return not file.startswith(LIBRARIES)


def _inside(value: Any, home: str | None) -> list[Any]:
    """What a partial binds, what an object carries, and the methods of a class of its own."""
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__self__]
    if isinstance(value, FunctionType | ModuleType | str | bytes | int | float):
        return []
    kind = value if isinstance(value, type) else type(value)
    if kind.__module__ != home and (kind.__module__.split(".")[0] in sys.stdlib_module_names or _packaged(kind.__module__)):
        return list(value) if isinstance(value, tuple | list) and len(value) < 100 else []
    members = [member for base in kind.__mro__ for member in vars(base).values() if _function(member) is not None]
    members += [part.fget for base in kind.__mro__ for part in vars(base).values() if isinstance(part, property)]
    return members + (list(vars(value).values()) if hasattr(value, "__dict__") and not isinstance(value, type) else [])


def is_own_class(kind: type) -> bool:
    """Neither of the standard library, nor of an installed package or this project."""
    return kind.__module__.split(".")[0] not in sys.stdlib_module_names and not _packaged(kind.__module__)


def classes_of(mechanism: Any) -> tuple[type, ...]:
    """The mechanism's own classes: those that its functions name, and those of the objects that they name."""
    values = [mechanism, *(value for function in functions_of(mechanism) for value in reached(function))]
    kinds = [value if isinstance(value, type) else type(value) for value in values]
    return tuple(dict.fromkeys(kind for kind in kinds if is_own_class(kind)))


def _packaged(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    return name.split(".")[0] == "tailproof" or (file is not None and str(Path(file).resolve()).startswith(LIBRARIES))


def reached(function: FunctionType) -> list[Any]:
    """Through globals that it names, closures and defaults."""
    values = [function.__globals__[name] for name in names_in(function.__code__) if name in function.__globals__]
    values += [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
    values += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return [value for value in values if not isinstance(value, ModuleType)]


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (an empty cell raises)
    except ValueError:
        return False
    return True


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The code and those nested in it: lambdas, comprehensions, inner functions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def names_in(code: CodeType) -> set[str]:
    return {name for one in codes_in(code) for name in one.co_names}


def constants_in(mechanism: Any) -> tuple[float, ...]:
    """The numbers that the code itself contains, and those among its defaults, globals and closures: where it may turn."""
    found: dict[float, None] = {}
    for function in functions_of(mechanism):
        values = [constant for one in codes_in(function.__code__) for constant in one.co_consts]
        values += reached(function)
        for value in values:
            for number in value if isinstance(value, tuple | frozenset) else (value,):
                if isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < 1e15:
                    found[float(number)] = None
    return tuple(found)


def place_of(function: FunctionType) -> str:
    return f"{function.__qualname__} (line {function.__code__.co_firstlineno})"


def attributes_in(code: CodeType) -> set[str]:
    """The names that the code looks up on objects."""
    wanted = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")
    return {i.argval for one in codes_in(code) for i in dis.get_instructions(one) if i.opname in wanted}


def imports_in(code: CodeType) -> set[str]:
    return {i.argval for one in codes_in(code) for i in dis.get_instructions(one) if i.opname == "IMPORT_NAME"}


def source_of(function: FunctionType) -> str | None:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return None
