"""Running somebody else's mechanism: what goes wrong is reported with the data and the seed that caused it, and nothing is lost.

A subject is f(data, rng) for one run, or f(data, rng, size) for many.  A runner has `sample(data, rng, size)`, which returns `size`
numbers or `size` × k numbers, one row per run.  It draws a seed from `rng` for every batch and hands the subject
`default_rng(seed)`, so that `run(data, seed, size)` repeats a batch.  When the subject fails, `SubjectFailed` carries an `Incident`
and the rows that came before it.

`FunctionRunner` calls the function in this process: fast, without a time limit.  `WorkerRunner` calls it in a spawned process that
is killed when nothing comes for too long, and that may die by itself.  For programs there is `programs.CommandRunner`.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import math
import multiprocessing
import pickle
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from tailproof.refimpl.channel import Mechanism, ReplayDiverged, replay, run
from tailproof.refimpl.validation import FloatArray, InputError, positive, whole
from tailproof.verification.auditing.outputs import (
    BadOutput,
    Checked,
    Incident,
    Shape,
    SubjectFailed,
    batch_of,
    batch_size,
    joined,
    row_of,
    seed_of,
)
from tailproof.verification.ending import NoReturn, Patience, patience_with

BATCH_PATIENCE = 10.0
CHUNK, SINGLE_RUNS = 1 << 16, 64  # runs that are asked for at a time: of vectorised subjects, and of others
SLICE = 0.2  # seconds after which a worker hands over the single runs it has


@runtime_checkable
class Runner(Protocol):
    """Runs the subject `size` times on the data, independently."""

    def sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray: ...


@runtime_checkable
class SeededRunner(Runner, Protocol):
    """One whose batches can be repeated, and that raises nothing but `SubjectFailed` when the subject fails.  `chunk`: how many
    runs to ask for at a time, where what is under way is lost when it fails."""

    @property
    def chunk(self) -> int: ...

    def run(self, data: Any, seed: int, size: int) -> FloatArray: ...


# --- what may be called, and what may come back -----------------------------------------------------------------------


def name_of(function: object) -> str:
    """As its author calls it, without an address."""
    return str(getattr(function, "__qualname__", None) or type(function).__name__)


def is_vectorised(function: Callable[..., Any]) -> bool:
    """Whether it is f(data, rng, size); f(data, rng) is not; anything else is refused."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise InputError(
            f"mechanism = {name_of(function)}: has no signature; wrap it in a function of (data, rng[, size])"
        ) from None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if len(positional) < 2 or len(required) > 3 or keywords:
        raise InputError(
            f"mechanism = {name_of(function)}: must be f(data, rng) or f(data, rng, size), is f{inspect.signature(function)}"
        )
    return len(required) == 3 or (len(positional) >= 3 and positional[2].name == "size")


def _slices(
    function: Callable[..., Any],
    vectorised: bool,
    data: Any,
    seed: int,
    size: int,
    seconds: float = math.inf,
    patience: Patience | None = None,
) -> Iterator[FloatArray]:
    """The rows of a batch: all at once, or of single runs what came in so many `seconds`; `BadOutput` after those before it."""
    rng = np.random.default_rng(seed)
    shape = Shape()
    patience = patience or Patience(function, None)
    if vectorised:
        yield batch_of(_called(patience, function, _own(data), rng, size), size)
        return
    rows: list[FloatArray] = []
    since = time.monotonic()
    try:
        for run in range(size):
            row = row_of(_called(patience, function, _own(data), rng), run)
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


def _own(data: Any) -> Any:
    """A copy for every call: a subject may change what it gets."""
    return data.copy() if isinstance(data, np.ndarray) else copy.deepcopy(data)


def _called(patience: Patience, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return patience.call(function, *arguments)
    except NoReturn as error:
        raise BadOutput("no return", f"{error} ({_where(error.__cause__ or error, function)})") from error
    except Exception as error:
        raise BadOutput("raised", f"{_said(error)} ({_where(error, function)})") from error


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _where(error: BaseException, function: Callable[..., Any]) -> str:
    """file.py:line, the last place in the file of the function that was called; anywhere if there is none."""
    frames = traceback.extract_tb(error.__traceback__)[1:] or traceback.extract_tb(error.__traceback__)
    code = getattr(inspect.unwrap(function), "__code__", None)
    mine = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    place = (mine or frames)[-1]
    return f"{Path(place.filename).name}:{place.lineno}"


# --- in this process --------------------------------------------------------------------------------------------------


class FunctionRunner:
    """Calls the function where it is.  A single run has `patience`, a batch ten times as much."""

    def __init__(
        self, function: Callable[..., Any], *, vectorised: bool | None = None, patience: Patience | None = None
    ) -> None:
        self._function, self._vectorised = function, is_vectorised(function) if vectorised is None else vectorised
        patience = patience or patience_with(function)
        self._patience = patience.times(BATCH_PATIENCE) if self._vectorised else patience
        self._checked = Checked()
        self.chunk = CHUNK if self._vectorised else SINGLE_RUNS

    def run(self, data: Any, seed: int, size: int) -> FloatArray:
        parts = _slices(self._function, self._vectorised, data, seed, batch_size(size), patience=self._patience)
        with self._patience.watching():
            return self._checked.collect(parts, data, seed, size)

    def sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray:
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
    """`time_limit` seconds for a single run, or for a batch of a vectorised subject; starting a worker is not counted.  Use as a
    context manager, or `close` it."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        time_limit: float = 60.0,
        start_limit: float = 120.0,
        vectorised: bool | None = None,
    ) -> None:
        self._vectorised = is_vectorised(function) if vectorised is None else vectorised
        self._limit, self._start_limit = positive("time_limit", time_limit), positive("start_limit", start_limit)
        try:
            pickle.dumps(function)
        except Exception:
            raise InputError(
                f"mechanism = {name_of(function)}: cannot be sent to a process; define it at the top level of a module"
            ) from None
        self._function = function
        self._checked = Checked()
        self.chunk = CHUNK if self._vectorised else SINGLE_RUNS
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

    def _parts(self, data: Any, seed: int, size: int) -> Iterator[FloatArray]:
        connection = self._start()
        try:
            connection.send((data, seed, size))
        except (BrokenPipeError, ConnectionError):
            self.close()
            raise BadOutput("died", "the process of the subject had ended before the batch") from None
        what = f"a batch of {size} ({self._limit:g} s)" if self._vectorised else f"a run ({self._limit:g} s)"
        while (message := self._receive(self._limit + SLICE, what))[0] == "part":
            yield message[1]
        if message[0] == "bad":
            raise BadOutput(*message[1:])

    def run(self, data: Any, seed: int, size: int) -> FloatArray:
        return self._checked.collect(self._parts(data, seed, batch_size(size)), data, seed, size)

    def sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray:
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


# --- a subject that shows its channel ---------------------------------------------------------------------------------


@runtime_checkable
class Replays(Protocol):
    """A runner that can say how much a transcript tells."""

    def losses(self, pair: tuple[Any, Any], rng: np.random.Generator, size: int) -> FloatArray: ...


class ChannelRunner:
    """f(data, channel): every release goes through the channel, so that runs can be replayed on the neighbour."""

    def __init__(self, mechanism: Mechanism, patience: Patience | None = None) -> None:
        self._mechanism, self._patience = mechanism, patience or patience_with(mechanism)
        self._inner = FunctionRunner(
            lambda data, rng: run(mechanism, data, rng)[0], vectorised=False, patience=self._patience
        )
        self.chunk = self._inner.chunk

    def run(self, data: Any, seed: int, size: int) -> FloatArray:
        return self._inner.run(data, seed, size)

    def sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray:
        return self.run(data, seed_of(rng), size)

    def losses(self, pair: tuple[Any, Any], rng: np.random.Generator, size: int) -> FloatArray:
        """Log-likelihood ratios of `size` transcripts on either side; infinite where the neighbour's run takes another course."""
        found = []
        for data, other in (pair, pair[::-1]):
            for _ in range(size):
                seed = seed_of(rng)
                try:
                    found.append(
                        _loss(self._patience, self._mechanism, _own(data), _own(other), np.random.default_rng(seed))
                    )
                except BadOutput as bad:
                    incident = Incident(bad.kind, bad.message, data, seed, 1, pair)
                    raise SubjectFailed(incident, np.empty(0)) from bad
        return np.array(found)


def _loss(patience: Patience, mechanism: Mechanism, data: Any, other: Any, rng: np.random.Generator) -> float:
    _, here = _called(patience, run, mechanism, data, rng)
    try:
        _, there = patience.call(replay, mechanism, other, here)
    except ReplayDiverged:
        return math.inf
    except NoReturn as error:
        raise BadOutput("no return", str(error)) from error
    except Exception as error:
        raise BadOutput("raised", _said(error)) from error
    return float(sum(a.law.logpdf(a.output) - b.law.logpdf(a.output) for a, b in zip(here, there, strict=True)))


def shows_its_channel(function: Callable[..., Any]) -> bool:
    """Whether its second parameter is called `channel`."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
    return len(names) >= 2 and names[1] == "channel"


# --- any subject ------------------------------------------------------------------------------------------------------


def runner_of(
    mechanism: Callable[..., Any] | Runner, *, vectorised: bool | None = None, time_limit: float | None = None
) -> SeededRunner:
    """Of a function, in a process of its own if there is a time limit, unless it shows its channel; runners are taken as they
    are, or made to repeat.
    """
    if isinstance(mechanism, SeededRunner):
        return mechanism
    if isinstance(mechanism, Runner):
        return FunctionRunner(mechanism.sample, vectorised=True)
    if not callable(mechanism):
        raise InputError(f"mechanism = {mechanism!r}: must be a function f(data, rng) or f(data, rng, size)")
    if shows_its_channel(mechanism):
        return ChannelRunner(mechanism, None if time_limit is None else Patience(mechanism, time_limit))
    if time_limit is None:
        return FunctionRunner(mechanism, vectorised=vectorised)
    return WorkerRunner(mechanism, time_limit=time_limit, vectorised=vectorised)


# --- both sides of a pair ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Collected:
    """Outputs on both sides of a pair, as many as there are, and why there are no more."""

    first: FloatArray
    second: FloatArray
    incident: Incident | None


def collect(
    runner: Runner, pair: tuple[Any, Any], rng: np.random.Generator, *, per_side: int, batch: int = 100_000
) -> Collected:
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
