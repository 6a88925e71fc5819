"""Names of a package that are imported when somebody asks for them (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def names(
    package: str, public: Iterable[str], places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of `package`; `places` says in which module the names stand that it offers.

    A name that stands in no module may be a module itself.
    """
    where = {name: module for module, listed in places.items() for name in listed.split()}

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(where[name])
        found = import_module(f"{where[name]}.{name}") if not hasattr(module, name) else getattr(module, name)
        setattr(sys.modules[package], name, found)
        return found

    def offered() -> list[str]:
        return sorted({*vars(sys.modules[package]), *public})

    return get, offered
