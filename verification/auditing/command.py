"""`tailproof audit`: load what is named on the command line, and audit it."""

from __future__ import annotations

import argparse
import hashlib
import math
import shlex
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tailproof.refimpl.claims import ADD_REMOVE, REPLACE_ONE, Neighbouring, parse_claim
from tailproof.refimpl.validation import InputError, positive
from tailproof.verification.auditing.admissible import Admissible
from tailproof.verification.auditing.audit import audit, spaces_of
from tailproof.verification.auditing.places import load
from tailproof.verification.auditing.pooled import WORTH, PooledRunner
from tailproof.verification.auditing.programs import CommandRunner
from tailproof.verification.auditing.progress import Progress
from tailproof.verification.auditing.result import AuditResult
from tailproof.verification.auditing.runner import SeededRunner, runner_of
from tailproof.verification.auditing.runs import Pair
from tailproof.verification.auditing.witnesses import witness_of_audit, write_witness
from tailproof.verification.datafile import read_table
from tailproof.verification.vectors.reader import Malformed, strict_json
from tailproof.verification.workers import Workers, started, workers_of

NO_LIMIT = 1e7  # seconds


@dataclass(frozen=True)
class Audited:
    """What the command says: its exit code (1 if the claim is violated, 4 if the subject failed before a verdict was reached), the
    JSON value, the text, and first of all how the subject failed, if it did."""

    code: int
    value: dict[str, Any]
    text: str
    failure: str | None = None


def run_audit(arguments: argparse.Namespace, progress: Callable[[Progress], None] | None = None) -> Audited:
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
        "exhaustive": arguments.exhaustive,
        "sequential": arguments.sequential or None,
        "shrinks": not arguments.no_shrink,
        "seed": arguments.seed,
    }
    if arguments.program is None and arguments.parameters is not None:
        raise InputError("parameters: are for --command only")
    _object(arguments.parameters)  # refused before anything runs
    workers = workers_of(arguments)
    if (workers.cluster is not None or workers.jobs > 1) and limit is not None and arguments.program is None:
        raise InputError("time_limit: a function on workers has none; give --time-limit 0 with --jobs or --cluster")
    make: Callable[..., SeededRunner] = _function_runner if arguments.program is None else _program_runner
    chosen: tuple[Any, ...] = (arguments.mechanism, limit, str(Path.cwd()))
    if arguments.program is not None:
        chosen = (arguments.program, limit, arguments.batch, arguments.parameters)
    with started(workers, _about(arguments)) as run, closing(PooledRunner(make, chosen, run, _worth(workers))) as runner:
        result = audit(runner, claim, pairs, **given, progress=progress)
    code = {"violated": 1, "consistent": 0, "inconclusive": 4}[result.verdict]
    text = "\n".join([str(result), *_witnessed(arguments, result)])
    return Audited(code, result.to_json(), text, _failure(arguments, result))


def _failure(arguments: argparse.Namespace, result: AuditResult) -> str | None:
    if result.verdict != "inconclusive":
        return None
    name = arguments.mechanism or shlex.split(arguments.program)[0]
    fatal = [incident.of(name) for incident in result.incidents if incident.fatal]
    return f"error: {fatal[0] if fatal else f'{name} gave too few outputs for a verdict'}"


def _witnessed(arguments: argparse.Namespace, result: AuditResult) -> list[str]:
    """Where the witness went, if there is one and it was asked for."""
    if arguments.witness is None or result.verdict != "violated":
        return []
    place: dict[str, Any] = {"mechanism": arguments.mechanism}
    if arguments.program is not None:
        parameters = _object(arguments.parameters)
        place = {"command": arguments.program, **({} if parameters is None else {"parameters": parameters})}
    witness = witness_of_audit(result, place, budget=arguments.budget)
    if witness is None:
        raise InputError(f"witness = {arguments.witness!r}: holds numbers only, and not that many")
    write_witness(witness, Path(arguments.witness))
    return [f"replay      tailproof replay {shlex.quote(arguments.witness)}"]


def _object(text: str | None) -> dict[str, Any] | None:
    """The parameters that a program gets with every request."""
    if text is None:
        return None
    try:
        value = strict_json(text)
    except Malformed as error:
        raise InputError(f"parameters = {text!r}: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f'parameters = {text!r}: must be a JSON object, such as {{"clip": 1}}')
    return value


def _function_runner(place: str, limit: float | None, folder: str) -> SeededRunner:
    return runner_of(load("mechanism", place, folder), time_limit=limit)


def _program_runner(program: str, limit: float | None, batch: int, parameters: str | None) -> SeededRunner:
    return CommandRunner(program, time_limit=limit or NO_LIMIT, batch=batch, parameters=_object(parameters))


def _worth(workers: Workers) -> float:
    """Seconds from which on a draw is made of tasks: always if they are kept, never if one process runs them all."""
    if workers.checkpoint is not None:
        return 0.0
    return math.inf if workers.cluster is None and workers.jobs == 1 else WORTH


def _about(arguments: argparse.Namespace) -> dict[str, Any]:
    """Which audit this is: options, and what stands in the files that it reads."""
    ways = ("json", "color", "jobs", "cluster", "checkpoint", "resume", "action")
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
    return spaces_of(arguments.records, arguments.columns, (low, high), relation)


def _bounds(text: str | None) -> tuple[float, float]:
    if text is None:
        return -math.inf, math.inf
    try:
        low, high = (float(word) for word in text.replace(",", ":").split(":"))
    except ValueError:
        raise InputError(f"bounds = {text!r}: must be LOW:HIGH, such as 0:1, -1:1 or 0:inf") from None
    return low, high


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
