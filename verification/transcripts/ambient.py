"""What a mechanism reaches for beside its data, its parameters and its channel.

A mechanism is a function of these three.  One that reads the clock, a file, the call stack or the channel's own records can
behave in a test as it never does elsewhere, and no run can show that.  So the code itself is looked at: every name that it
resolves to a source of such things, and every attribute that opens an object from behind, is named.  What is named is not a
proof of a leak; nothing is certified about such a mechanism.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable
from itertools import pairwise
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tailproof.refimpl.channel import Channel
from tailproof.verification.transcripts.own_code import attributes_in, codes_in, functions_of, imports_in, names_in, place_of

# fmt: off
MODULES = frozenset((
    "sys", "os", "io", "inspect", "gc", "ctypes", "types", "dis", "ast", "code", "traceback", "linecache", "tracemalloc",
    "builtins", "time", "datetime", "random", "secrets", "uuid", "platform", "getpass", "resource", "weakref", "atexit",
    "contextvars", "threading", "_thread", "multiprocessing", "concurrent", "asyncio", "signal", "subprocess", "socket",
    "urllib", "http", "importlib", "pathlib", "tempfile", "shutil", "pickle", "marshal", "mmap", "shelve", "sqlite3",
    "logging",
))
BUILTINS = frozenset((
    "open", "input", "id", "globals", "locals", "vars", "dir", "eval", "exec", "compile", "__import__", "breakpoint",
    "getattr", "setattr", "delattr", "memoryview",
))
ATTRIBUTES = frozenset((
    "_log", "_draw", "_prefix", "_rows", "_record", "transcript", "sampling", "replaying", "bit_generator", "_getframe",
    "__closure__", "cell_contents", "__globals__", "__code__", "__dict__", "__subclasses__", "__mro__", "__bases__",
    "__getattribute__", "__builtins__", "__loader__", "__spec__", "__defaults__", "__kwdefaults__", "__traceback__",
    "f_back", "f_locals", "f_globals", "gi_frame", "ag_frame", "cr_frame", "tb_frame", "__reduce__",
    "__array_interface__", "setflags", "base", "ctypes", "tofile", "memmap", "save", "savez", "savetxt", "load",
    "loadtxt", "fromfile", "genfromtxt", "environ", "getenv", "urandom", "savez_compressed", "dump", "dumps", "DataSource",
    "open_memmap", "write_array", "read_array", "geterr", "seterr", "geterrcall", "seterrcall", "set_printoptions",
    "get_printoptions", "setbufsize", "getbufsize", "_draw", "_refused", "__getstate__", "__reduce_ex__", "__self__",
    "__wrapped__", "cache_info", "cache_parameters", "gi_yieldfrom", "__context__", "__cause__", "add_note",
    "__notes__", "getrefcount", "shares_memory", "may_share_memory", "attrgetter", "format_map",
))
# fmt: on


def reaches(mechanism: Any) -> list[str]:
    """One sentence for each thing that the mechanism's own code reaches for."""
    found: dict[str, None] = {}
    for function in functions_of(mechanism):
        if function.__code__.co_filename == "<string>" and function.__qualname__.split(".")[-1].startswith("__"):
            continue  # what a dataclass writes for itself
        for what in _of(function):
            found.setdefault(f"{place_of(function)} reaches for {what}")
    return list(found)


ASKED = frozenset(("release", "hidden", "part", "query", "__class__"))
"""What a channel is there for."""


def asked_of_the_channel(run: Callable[[], Any]) -> list[str]:
    """One sentence for each thing that a run looks up on its channel and that a channel is not there for, in whatever way."""
    found: dict[str, None] = {}

    def noting(channel: Channel, name: str) -> Any:
        scope = sys._getframe(1).f_globals
        home = str(scope.get("__name__", ""))
        ours = home.startswith("tailproof.") and vars(sys.modules.get(home, builtins)) is scope
        if name not in ASKED and not ours:
            found.setdefault(f"a run looks up {name} on its channel")
        return object.__getattribute__(channel, name)

    Channel.__getattribute__ = noting  # type: ignore[method-assign,assignment]
    try:
        run()
    except Exception:  # other checks say what an exception means
        pass
    finally:
        del Channel.__getattribute__
    return list(found)


def _of(function: FunctionType) -> list[str]:
    names, attributes = names_in(function.__code__), attributes_in(function.__code__)
    cells = {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        if cell is not None and _known(cell)
    }
    said = []
    for name in sorted(names | set(cells)):
        value = cells.get(name, function.__globals__.get(name, getattr(builtins, name, None)))
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] in MODULES:
            said.append(f"the module {value.__name__}")
        elif name in BUILTINS and value is getattr(builtins, name, None) and value is not None and name not in attributes:
            said.append(f"{name}()")
        elif _from_a_source(value):
            said.append(f"{value.__module__}.{name}")
    said += [f"the module {name}" for name in sorted(imports_in(function.__code__)) if name.split(".")[0] in MODULES]
    said += [f"the attribute {name}" for name in sorted(attributes & ATTRIBUTES)]
    if any(_draws_from_numpy(code, function) for code in codes_in(function.__code__)):
        said.append("random numbers that are not the channel's")
    return said


def _draws_from_numpy(code: CodeType, function: FunctionType) -> bool:
    """numpy.random itself, not the generator that a law's sampler is given."""
    for before, after in pairwise(dis.get_instructions(code)):
        held = function.__globals__.get(before.argval) if isinstance(before.argval, str) else None
        if held is np and after.argval == "random":
            return True
    return any(function.__globals__.get(name) is np.random for name in code.co_names)


def _from_a_source(value: Any) -> bool:
    """A function that was imported from one of the modules."""
    home = getattr(value, "__module__", None)
    return home in MODULES - {"builtins"} and callable(value) and not isinstance(value, type)


def _known(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (an empty cell raises)
    except ValueError:
        return False
    return True
