"""Running somebody else's mechanism: what goes wrong is reported with the data and the seed that caused it, and nothing is lost.

A subject is f(data, rng) for one run, or f(data, rng, size) for many.  A runner has `sample(data, rng, size)`, which returns `size`
numbers or `size` × k numbers, one row per run.  It draws a seed from `rng` for every batch and hands the subject
`default_rng(seed)`, so that `run(data, seed, size)` repeats a batch.  When the subject fails, `SubjectFailed` carries an `Incident`
and the rows that came before it.

`FunctionRunner` calls the function in this process: fast, without a time limit.  `WorkerRunner` calls it in a spawned process that
is killed when a batch takes too long, and that may die by itself.  For programs there is `programs.CommandRunner`.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import multiprocessing
import pickle
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np

from refimpl.validation import FloatArray, InputError, positive, whole
from verification.auditing.admissible import Pair
from verification.auditing.outputs import (
    BadOutput,
    Checked,
    Incident,
    Shape,
    SubjectFailed,
    batch_of,
    joined,
    records_of,
    row_of,
    seed_of,
)

SLICE = 0.2  # seconds after which a worker hands over the single runs it has


class Runner(Protocol):
    def sample(self, data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray: ...


class SeededRunner(Protocol):
    def run(self, data: FloatArray, seed: int, size: int) -> FloatArray: ...


# --- what may be called, and what may come back -----------------------------------------------------------------------


def is_vectorised(function: Callable[..., Any]) -> bool:
    """Whether it is f(data, rng, size); f(data, rng) is not; anything else is refused."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise InputError(f"subject = {function!r}: has no signature; wrap it in a function of (data, rng[, size])") from None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if len(positional) < 2 or len(required) > 3 or keywords:
        raise InputError(
            f"subject = {function!r}: must be f(data, rng) or f(data, rng, size), is f{inspect.signature(function)}"
        )
    return len(required) == 3 or (len(positional) >= 3 and positional[2].name == "size")


def _slices(
    function: Callable[..., Any], vectorised: bool, data: FloatArray, seed: int, size: int, seconds: float = math.inf
) -> Iterator[FloatArray]:
    """The rows of a batch: all at once, or of single runs what came in so many `seconds`; `BadOutput` after those before it."""
    rng = np.random.default_rng(seed)
    shape = Shape()
    if vectorised:
        yield batch_of(_called(function, data, rng, size), size)
        return
    rows: list[FloatArray] = []
    since = time.monotonic()
    try:
        for run in range(size):
            row = row_of(_called(function, data, rng), run)
            shape.check(row.shape)
            rows.append(row)
            if time.monotonic() - since > seconds:
                yield np.array(rows)
                rows, since = [], time.monotonic()
    except BadOutput:
        if rows:
            yield np.array(rows)
        raise
    if rows:
        yield np.array(rows)


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (Exception, SystemExit) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise BadOutput("raised", f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})") from error


# --- in this process --------------------------------------------------------------------------------------------------


class FunctionRunner:
    """Calls the function where it is."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self._vectorised = function, is_vectorised(function)
        self._checked = Checked()

    def run(self, data: FloatArray, seed: int, size: int) -> FloatArray:
        records, size = records_of(data, size)
        parts = _slices(self._function, self._vectorised, records.copy(), seed, size)
        return self._checked.collect(parts, records, seed, size)

    def sample(self, data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
        return self.run(data, seed_of(rng), size)


# --- in a process of its own ------------------------------------------------------------------------------------------


def _serve(connection: Connection, function: Callable[..., Any], vectorised: bool) -> None:
    """A worker's life: requests (data, seed, size), answers ("part", rows)… and ("end",) or ("bad", kind, message)."""
    while True:
        try:
            data, seed, size = connection.recv()
        except EOFError:
            return
        try:
            for part in _slices(function, vectorised, data, seed, size, SLICE):
                connection.send(("part", part))
            connection.send(("end",))
        except BadOutput as bad:
            connection.send(("bad", bad.kind, bad.message))


class WorkerRunner:
    """`time_limit` seconds for each batch; starting a worker is not counted.  Use as a context manager, or `close` it."""

    def __init__(self, function: Callable[..., Any], *, time_limit: float = 60.0, start_limit: float = 120.0) -> None:
        self._vectorised = is_vectorised(function)
        self._limit, self._start_limit = positive("time_limit", time_limit), positive("start_limit", start_limit)
        try:
            pickle.dumps(function)
        except Exception as error:
            raise InputError(
                f"subject = {function!r}: cannot be sent to a process; define it in a module ({error})"
            ) from None
        self._function = function
        self._checked = Checked()
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def _start(self) -> Connection:
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            self._process = context.Process(target=_serve_announced, args=(theirs, self._function, self._vectorised))
            self._process.daemon = True
            self._process.start()
            theirs.close()
            self._receive(self._start_limit, "starting a worker")
        return self._connection

    def _receive(self, seconds: float, what: str) -> tuple[Any, ...]:
        assert self._connection is not None
        if not self._connection.poll(max(0.0, seconds)):
            self.close()
            raise BadOutput("timed out", f"{what} took longer than its limit and was killed")
        try:
            message: tuple[Any, ...] = self._connection.recv()
        except (EOFError, ConnectionError):
            process = self._process
            self.close(kill=False)
            code = None if process is None else process.exitcode
            raise BadOutput("died", f"the process of the subject ended during {what} with exit code {code}") from None
        return message

    def _parts(self, data: FloatArray, seed: int, size: int) -> Iterator[FloatArray]:
        connection = self._start()
        end = time.monotonic() + self._limit
        try:
            connection.send((data, seed, size))
        except (BrokenPipeError, ConnectionError):
            self.close()
            raise BadOutput("died", "the process of the subject had ended before the batch") from None
        what = f"a batch of {size} ({self._limit:g} s)"
        while (message := self._receive(end - time.monotonic(), what))[0] == "part":
            yield message[1]
        if message[0] == "bad":
            raise BadOutput(*message[1:])

    def run(self, data: FloatArray, seed: int, size: int) -> FloatArray:
        records, size = records_of(data, size)
        return self._checked.collect(self._parts(records, seed, size), records, seed, size)

    def sample(self, data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
        return self.run(data, seed_of(rng), size)

    def close(self, *, kill: bool = True) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            if kill:
                self._process.kill()
            self._process.join()
        self._connection = self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _serve_announced(connection: Connection, function: Callable[..., Any], vectorised: bool) -> None:
    connection.send(("ready",))
    with contextlib.suppress(BrokenPipeError):
        _serve(connection, function, vectorised)


# --- a program --------------------------------------------------------------------------------------------------------


# --- generators -------------------------------------------------------------------------------------------------------

PROBES = 256


def probe(runner: SeededRunner, pair: Pair, *, seed: int, size: int = PROBES) -> list[Incident]:
    """How the subject treats its generator, on both sides of a pair; a failure to run is among what is found.

    Three seeds, one of them twice.  Other outputs for the same seed: hidden randomness.  Batches of differing values that are
    the same for all seeds: it ignores its generator, and runs are not independent.  Batches of one value that differ between seeds:
    it draws once per batch, and runs are not independent.  One value always is a point law, which may be audited.
    A sound subject with an atom of probability near 1 is taken for one that ignores its generator with probability about 1e-6.
    """
    size = whole("size", size, least=2)
    found = []
    for data in pair:
        batches = []
        try:
            for used in (seed, seed, seed + 1, seed + 2):
                batches.append(runner.run(data, used, size))
        except SubjectFailed as failed:
            found.append(replace(failed.incident, pair=pair))
            continue
        verdict = _treatment(*batches)
        if verdict is not None:
            found.append(Incident(*verdict, np.asarray(data), seed, size, pair))
    return found


def _treatment(first: FloatArray, again: FloatArray, *others: FloatArray) -> tuple[str, str] | None:
    if not np.array_equal(first, again):
        return "hidden randomness", "the same generator gave different outputs: runs cannot be repeated from their seed"
    same = all(np.array_equal(first, other) for other in others)
    single = all((batch == batch[0]).all() for batch in (first, *others))
    if same and not single:
        return "ignores its generator", "different generators gave the same batch: its runs are not independent"
    if single and not same:
        return "one draw per batch", "all outputs of a batch are equal, but batches differ: its runs are not independent"
    return None


# --- collecting -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Collected:
    """Outputs on both sides of a pair, as many as there are, and why there are no more."""

    first: FloatArray
    second: FloatArray
    incident: Incident | None


def collect(runner: Runner, pair: Pair, rng: np.random.Generator, *, per_side: int, batch: int = 100_000) -> Collected:
    """In turns, so that both sides have about as many when the subject fails; at the first failure what came before is kept."""
    per_side, batch = whole("per_side", per_side, least=1), whole("batch", batch, least=1)
    parts: tuple[list[FloatArray], list[FloatArray]] = [], []
    done, incident = 0, None
    while done < per_side and incident is None:
        size = min(batch, per_side - done)
        for side, data in enumerate(pair):
            try:
                parts[side].append(runner.sample(data, rng, size))
            except SubjectFailed as failed:
                incident = replace(failed.incident, pair=pair)
                if len(failed.partial):
                    parts[side].append(failed.partial)
                break
        done += size
    return Collected(joined(parts[0]), joined(parts[1]), incident)
