"""`tailproof audit`: load what is named on the command line, and audit it."""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from refimpl.claims import ADD_REMOVE, REPLACE_ONE, Neighbouring, parse_claim
from refimpl.validation import InputError, positive
from verification.auditing.admissible import Admissible
from verification.auditing.audit import RECORDS, SHAPES, audit
from verification.auditing.pooled import WORTH, PooledRunner
from verification.auditing.programs import CommandRunner
from verification.auditing.runner import SeededRunner, runner_of
from verification.auditing.runs import Pair
from verification.datafile import read_table
from verification.workers import Workers, started, workers_of

NO_LIMIT = 1e7  # seconds


def run_audit(arguments: argparse.Namespace) -> tuple[int, dict[str, Any], str]:
    """(exit code, JSON value, text): 1 if the claim is violated, 2 if the subject failed before a verdict was reached."""
    relation = ADD_REMOVE if arguments.add_remove else REPLACE_ONE
    claim = parse_claim(arguments.claim, relation)
    limit = None if arguments.time_limit == 0 else positive("time_limit", arguments.time_limit)
    if (arguments.mechanism is None) == (arguments.program is None):
        raise InputError("mechanism: give either MODULE:FUNCTION or --command 'program …'")
    pairs = _pairs(arguments)
    space = None if pairs is not None else _space(arguments, relation)
    given: dict[str, Any] = {
        "space": space,
        "budget": arguments.budget,
        "confidence": arguments.confidence,
        "sequential": arguments.sequential,
        "seed": arguments.seed,
    }
    workers = workers_of(arguments)
    if (workers.cluster is not None or workers.jobs > 1) and limit is not None and arguments.program is None:
        raise InputError("time_limit: a function on workers has none; give --time-limit 0 with --jobs or --cluster")
    make: Callable[..., SeededRunner] = _function_runner if arguments.program is None else _program_runner
    chosen = (arguments.mechanism or arguments.program, limit, str(Path.cwd()))
    with started(workers, _about(arguments)) as run, closing(PooledRunner(make, chosen, run, _worth(workers))) as runner:
        result = audit(runner, claim, pairs, **given)
    code = {"violated": 1, "consistent": 0, "inconclusive": 2}[result.verdict]
    return code, result.to_json(), str(result)


def _function_runner(place: str, limit: float | None, folder: str) -> SeededRunner:
    return runner_of(load("mechanism", place, folder), time_limit=limit)


def _program_runner(program: str, limit: float | None, _: str) -> SeededRunner:
    return CommandRunner(program, time_limit=limit or NO_LIMIT)


def _worth(workers: Workers) -> float:
    """Seconds from which on a draw is made of tasks: always if they are kept, never if one process runs them all."""
    if workers.checkpoint is not None:
        return 0.0
    return math.inf if workers.cluster is None and workers.jobs == 1 else WORTH


def _about(arguments: argparse.Namespace) -> dict[str, Any]:
    """Which audit this is: options, and what stands in the files that it reads."""
    ways = ("json", "jobs", "cluster", "checkpoint", "resume", "action")
    options = {name: value for name, value in vars(arguments).items() if name not in ways}
    files = [arguments.data, arguments.neighbour]
    for name in ("mechanism", "pairs"):
        if (place := getattr(arguments, name)) is not None:
            files.append(getattr(import_module(load(name, place).__module__), "__file__", None))
    read = {str(file): hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files if file is not None}
    return {**options, "files": read}


def _space(arguments: argparse.Namespace, relation: Neighbouring) -> list[Admissible]:
    """Where to search: data like those of a file, or of the stated size; a few numbers of columns where none is stated."""
    low, high = _bounds(arguments.bounds)
    if arguments.data is not None:
        if arguments.records is not None or arguments.columns is not None:
            raise InputError("records, columns: are those of the data in --data")
        rows = read_table(arguments.data).rows
        space = Admissible(len(rows), rows.shape[1], low, high, relation, sampler=lambda _: rows)
        if not space.contains(rows):
            raise InputError(f"data = {arguments.data!r}: has numbers outside of the bounds {low:g}:{high:g}")
        return [space]
    records = RECORDS if arguments.records is None else arguments.records
    columns = SHAPES if arguments.columns is None else (arguments.columns,)
    return [Admissible(records, number, low, high, relation) for number in columns]


def _bounds(text: str | None) -> tuple[float, float]:
    if text is None:
        return -math.inf, math.inf
    try:
        low, high = (float(word) for word in text.split(":"))
    except ValueError:
        raise InputError(f"bounds = {text!r}: must be LOW:HIGH, such as 0:1 or 0:inf") from None
    return low, high


def load(name: str, place: str, folder: str | None = None) -> Callable[..., Any]:
    """MODULE:FUNCTION, from a folder (the working one) or from what is installed; our own packages come first."""
    module_name, _, function_name = place.partition(":")
    if not module_name or not function_name:
        raise InputError(f"{name} = {place!r}: must be MODULE:FUNCTION, such as mymodule:noisy_mean")
    here = folder or str(Path.cwd())
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
    if arguments.neighbour is None:
        return None
    if arguments.data is None:
        raise InputError("neighbour: --neighbour needs --data beside it")
    return [(read_table(arguments.data).rows, read_table(arguments.neighbour).rows)]
