"""Where a subject is found: by MODULE:FUNCTION, in a folder that is put on the path behind everything else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tailproof._nearest import did_you_mean
from tailproof.refimpl.validation import InputError


def load(name: str, place: str, folder: str | None = None) -> Callable[..., Any]:
    """MODULE:FUNCTION, from the folder, the working folder or from what is installed; our own packages come first.

    FILE.py:FUNCTION is the module of that file, in its folder.
    """
    module_name, _, function_name = place.rpartition(":")
    file = Path(folder or ".", module_name) if module_name.endswith(".py") else None
    if file is not None:
        if not file.is_file():
            raise InputError(f"{name} = {place!r}: there is no file {module_name}")
        folder, module_name = str(file.parent), file.stem
    if not module_name or not function_name:
        raise InputError(f"{name} = {place!r}: must be MODULE:FUNCTION, such as {_example(place)}")
    for here in (str(Path(folder or ".").resolve()), str(Path.cwd())):
        if here not in sys.path:
            sys.path.append(here)
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise InputError(f"{name} = {place!r}: there is no module {module_name} here or installed") from None
        raise InputError(f"{name} = {place!r}: the module could not be imported ({error})") from error
    except Exception as error:
        raise InputError(f"{name} = {place!r}: importing the module raised {type(error).__name__}: {error}") from error
    other = getattr(module, "__file__", None)
    if file is not None and (other is None or Path(other).resolve() != file.resolve()):
        raise InputError(f"{name} = {place!r}: Python has another module {module_name} ({other}); rename the file")
    function: Any = module
    for part in function_name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        own = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise InputError(
            f"{name} = {place!r}: {module_name} has no function {function_name}{did_you_mean(function_name, own)}"
        )
    loaded: Callable[..., Any] = function
    return loaded


def _example(place: str) -> str:
    """What was probably meant by a place without a colon."""
    if place.endswith(".py"):
        return f"{place}:noisy_mean"
    module, dot, function = place.strip(":").rpartition(".")
    return f"{module}:{function}" if dot and module and function else f"{place.strip(':') or 'mymodule'}:noisy_mean"


def place_of(mechanism: object, caller: dict[str, Any] | None = None) -> dict[str, str]:
    """{mechanism: "module:function", folder: where the module is found}, or nothing where it has no such name.

    A function's own name is tried, then the names of the caller's module.
    """
    names = [(getattr(mechanism, "__module__", None), getattr(mechanism, "__qualname__", None))]
    names += [(caller["__name__"], name) for name, value in (caller or {}).items() if value is mechanism and caller]
    for module_name, name in names:
        module = sys.modules.get(module_name or "")
        if module is None or not isinstance(name, str) or _reached(module, name) is not mechanism:
            continue
        found = _importable(module)
        if found is not None:
            return {"mechanism": f"{found[0]}:{name}", "folder": found[1]}
    return {}


def _reached(module: object, name: str) -> object:
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def _importable(module: Any) -> tuple[str, str] | None:
    """(name, the folder that has to be on the path), as a path from the working folder where it lies there."""
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    path = Path(file).resolve()
    path = path.parent if path.name == "__init__.py" else path.with_suffix("")
    parts = [path.name] if module.__name__ == "__main__" else module.__name__.split(".")
    if list(path.parts[-len(parts) :]) != parts:
        return None
    folder = path.parents[len(parts) - 1]
    here = Path.cwd().resolve()
    return ".".join(parts), str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)
