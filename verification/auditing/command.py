"""`tailproof audit`: load what is named on the command line, and audit it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from refimpl.claims import parse_claim
from refimpl.validation import InputError
from verification.auditing.audit import audit
from verification.auditing.runs import Pair
from verification.datafile import read_table


def run_audit(arguments: argparse.Namespace) -> tuple[int, dict[str, Any], str]:
    """(exit code, JSON value, text)."""
    claim = parse_claim(arguments.claim)
    mechanism = load("mechanism", arguments.mechanism)
    result = audit(
        mechanism,
        claim,
        _pairs(arguments),
        budget=arguments.budget,
        confidence=arguments.confidence,
        sequential=arguments.sequential,
        seed=arguments.seed,
    )
    return int(result.verdict == "violated"), result.to_json(), str(result)


def load(name: str, place: str) -> Callable[..., Any]:
    """MODULE:FUNCTION, from the working folder or from what is installed; our own packages come first."""
    module_name, _, function_name = place.partition(":")
    if not module_name or not function_name:
        raise InputError(f"{name} = {place!r}: must be MODULE:FUNCTION, such as mymodule:noisy_mean")
    here = str(Path.cwd())
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
    function: Any = module
    for part in function_name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise InputError(f"{name} = {place!r}: {module_name} has no function {function_name}")
    loaded: Callable[..., Any] = function
    return loaded


def _pairs(arguments: argparse.Namespace) -> list[Pair] | None:
    files = (arguments.data, arguments.neighbour)
    if arguments.pairs is not None:
        if files != (None, None):
            raise InputError("pairs: give either --pairs or --data with --neighbour")
        make = load("pairs", arguments.pairs)
        try:
            return [(first, second) for first, second in make()]
        except Exception as error:
            raise InputError(
                f"pairs = {arguments.pairs!r}: must return (data, neighbour) pairs when called without arguments "
                f"({type(error).__name__}: {error})"
            ) from error
    if files == (None, None):
        return None
    if None in files:
        raise InputError("data: --data and --neighbour belong together")
    return [(read_table(arguments.data).rows, read_table(arguments.neighbour).rows)]
