"""Tasks on the cores at hand, or on a Dask cluster, and a checkpoint of those that are done.

A task is a name, a function and its arguments; its result is plain JSON and depends on nothing else: seeds are keyed by names, and
every task runs with one BLAS thread, alone in its process.  So neither the number of workers, nor their order, nor a task that was
run again because its worker died can change a result.  (Processors of another kind may, in the last digits: libraries of linear
algebra choose their code by processor.)

A checkpoint has a line for what the run is and a line for every finished task.  It is only ever appended to; a last line that was
cut short is dropped, so a run may be killed at any time.  A run that differs in anything that could change a result refuses it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import platform
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import IO, Any, TypeAlias

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from tailproof.refimpl.validation import InputError
from tailproof.verification import files, interrupts

Json: TypeAlias = dict[str, Any]

PACKAGES = ("tailproof", "numpy", "scipy", "sympy", "cvxpy")  # whose versions may change a number
DEATHS = 3
"""How often in a row workers may die without a task being finished in between."""
ANSWER = 10.0
"""Seconds within which a scheduler has to answer."""
PATIENCE = 60.0
"""Seconds without any worker after which a cluster counts as gone."""


@dataclass(frozen=True)
class Task:
    """`cost` is about how many seconds it takes: the order and the remaining time that is shown depend on it, nothing else."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    cost: float = 1.0


@dataclass(frozen=True)
class Done:
    result: Any
    seconds: float


@dataclass(frozen=True)
class Workers:
    """Where tasks run (`cluster`: HOST:PORT of a scheduler, or local:N), and where finished ones are kept."""

    jobs: int = 1
    cluster: str | None = None
    checkpoint: Path | None = None
    resume: bool = False
    progress: bool = False


def workers_of(arguments: argparse.Namespace, checkpoint: Path | None = None) -> Workers:
    """As the command line asks for; `checkpoint` is where one is kept if nothing is said."""
    given = checkpoint if arguments.checkpoint is None else Path(arguments.checkpoint)
    return Workers(arguments.jobs, arguments.cluster, given, arguments.resume, progress=True)


Run: TypeAlias = Callable[[Iterable[Task]], list[Done]]
Execute: TypeAlias = Callable[[list[Task]], Iterator[tuple[str, Done]]]


@contextmanager
def started(workers: Workers, about: Mapping[str, Any]) -> Iterator[Run]:
    """A function that runs tasks and returns what they gave, in their order.  `about` says which run this is: all that could
    change a result, as plain JSON.  It may be called again with further tasks; names are the same task wherever they occur."""
    header = {"tailproof": "checkpoint", **identity(), **about}
    with _executor(workers) as execute, _checkpoint(workers, header) as kept, interrupts.noted():

        def run(tasks: Iterable[Task]) -> list[Done]:
            wanted = list(tasks)
            if len({task.name for task in wanted}) < len(wanted):
                raise ValueError("tasks need different names")
            missing = sorted((task for task in wanted if task.name not in kept.done), key=lambda task: -task.cost)
            typed = interrupts.typed()
            with _bar(wanted, missing, shown=workers.progress) as tick:
                for name, done in execute(missing):
                    kept.add(name, done)
                    tick(name)
                    if interrupts.typed() != typed:
                        raise KeyboardInterrupt
            return [kept.done[task.name] for task in wanted]

        try:
            yield run
        except _Lost as lost:
            raise files.Failed(f"{lost}{kept.where()}") from None
        except KeyboardInterrupt as stopped:
            raise KeyboardInterrupt(f"interrupted{kept.where()}") from stopped


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread: the same sums in the same order on any number of cores."""
    with threadpool_limits(limits=1):
        yield


def run_tasks(tasks: Iterable[Task], workers: Workers, about: Mapping[str, Any]) -> list[Done]:
    """All at once; the checkpoint is of these tasks alone."""
    wanted = list(tasks)
    names = hashlib.sha256("\n".join(sorted(task.name for task in wanted)).encode()).hexdigest()
    with started(workers, {**about, "tasks": names}) as run:
        return run(wanted)


def discard(workers: Workers) -> None:
    """When the result is written elsewhere."""
    if workers.checkpoint is not None:
        workers.checkpoint.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------------------------------- what runs


def versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in PACKAGES} | {"python": platform.python_version()}


@cache
def identity() -> Json:
    """Versions, and a digest of our own files: what is installed for development changes without its version."""
    home, digest = Path(__file__).resolve().parent.parent, hashlib.sha256()
    for package in ("refimpl", "bounds", "verification"):
        for path in sorted((home / package).rglob("*")):
            if path.suffix in (".py", ".json", ".npz", ".npy", ".csv"):
                digest.update(f"{path.relative_to(home).as_posix()}\n".encode() + path.read_bytes())
    return {"versions": versions(), "source": digest.hexdigest()}


_ALONE = threading.Lock()  # a Dask worker may have several threads; what a task does to its process is not for others to see


def _performed(task: Task, expected: Json | None = None) -> tuple[str, str, float]:
    """(name, result as text, seconds), in a worker: `expected` is the identity that it must have."""
    if expected is not None and identity() != expected:
        raise InputError(f"cluster: {platform.node()} has {_differences(identity(), expected)}")
    with _ALONE, one_thread():
        start = time.perf_counter()
        result = task.function(*task.arguments)
        return task.name, json.dumps(result, allow_nan=False), time.perf_counter() - start


def _done(text: str, seconds: float) -> Done:
    """Through text in any case, so that a result that was kept is the same as one that was not."""
    return Done(json.loads(text), seconds)


class _Lost(Exception):
    """The workers are gone; what is finished is not."""


@contextmanager
def _executor(workers: Workers) -> Iterator[Execute]:
    if workers.cluster is not None:
        with _client(workers.cluster) as client:
            yield lambda tasks: _on_cluster(client, str(workers.cluster), tasks)
    elif workers.jobs == 1:
        yield _here
    else:
        yield lambda tasks: _on_cores(tasks, workers.jobs)


def _here(tasks: list[Task]) -> Iterator[tuple[str, Done]]:
    for task in tasks:
        name, text, seconds = _performed(task)
        yield name, _done(text, seconds)


def _on_cores(tasks: list[Task], jobs: int) -> Iterator[tuple[str, Done]]:
    """As they finish, those at the front first.  When a worker dies, joblib gives up on all: what is missing starts again."""
    missing, deaths, typed = {task.name: task for task in tasks}, 0, interrupts.typed()
    while missing:
        pending = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(_performed)(task) for task in list(missing.values())
        )
        try:
            for name, text, seconds in pending:
                del missing[name]
                deaths = 0
                yield name, _done(text, seconds)
        except TerminatedWorkerError:
            if interrupts.typed() != typed:  # they got it as well
                raise KeyboardInterrupt from None
            deaths += 1
            if deaths > DEATHS:
                first = next(iter(missing))
                raise _Lost(
                    f"jobs = {jobs}: workers died {deaths} times in a row, out of memory perhaps; {len(missing)} tasks are "
                    f"missing, the first is {first}"
                ) from None


# ------------------------------------------------------------------------------------------------------------------- a cluster


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        import distributed
    except ImportError:
        raise InputError(f"cluster = {address!r}: needs Dask; pip install 'tailproof[cluster]'") from None
    if not re.fullmatch(r"local:[1-9]\d*|(?!local:)(\w+://)?(\[[^\]]+\]|[^:/\s]+):\d+/?", address):
        raise InputError(
            f"cluster = {address!r}: must be HOST:PORT of a Dask scheduler, such as tcp://host:8786, or local:N"
        )
    with _silent("distributed", "tornado", "asyncio"):  # what goes wrong is said once, in one line
        local = _local_cluster(distributed, address) if address.startswith("local:") else None
        try:
            client = _connected(distributed, address, local)
            try:
                _check_workers(client, address)
                yield client
            finally:
                with suppress(Exception):
                    client.close(timeout=ANSWER)
        finally:
            if local is not None:
                with suppress(Exception):
                    local.close(timeout=ANSWER)


@contextmanager
def _silent(*packages: str) -> Iterator[None]:
    names = [name for name in list(logging.root.manager.loggerDict) if name.partition(".")[0] in packages]
    before = {logger: logger.level for logger in map(logging.getLogger, (*packages, *names))}
    try:
        for logger in before:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in before.items():
            logger.setLevel(level)


def _local_cluster(distributed: Any, address: str) -> Any:
    return distributed.LocalCluster(
        n_workers=int(address.removeprefix("local:")),
        threads_per_worker=1,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )


def _connected(distributed: Any, address: str, local: Any) -> Any:
    try:
        return distributed.Client(address if local is None else local, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"cluster = {address!r}: no Dask scheduler answers there ({_short(error)})") from None


def _check_workers(client: Any, address: str) -> None:
    """There are some, and they have what we have."""
    with _answering(address, "has no workers"):
        client.wait_for_workers(1, timeout=ANSWER)
    try:
        found: dict[str, Json] = client.run(identity)
    except Exception as error:
        raise InputError(f"cluster = {address!r}: its workers do not have this tailproof ({_short(error)})") from None
    for worker, have in found.items():
        if have != identity():
            raise InputError(f"cluster = {address!r}: worker {worker} has {_differences(have, identity())}")


@contextmanager
def _answering(address: str, otherwise: str) -> Iterator[None]:
    try:
        yield
    except (OSError, TimeoutError) as error:
        raise InputError(f"cluster = {address!r}: {otherwise} ({_short(error)})") from None


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def _on_cluster(client: Any, address: str, tasks: list[Task]) -> Iterator[tuple[str, Done]]:
    """Dask runs the tasks of a dead worker again by itself; a result that was lost with it is computed anew."""
    if not tasks:
        return
    run = uuid.uuid4().hex
    futures = {
        task.name: client.submit(
            _performed, task, identity(), key=f"tailproof-{run}-{number}", pure=False, priority=-number, retries=0
        )
        for number, task in enumerate(tasks)
    }
    lonely = time.monotonic()
    try:
        while futures:
            # "lost": its worker died with the result, and the scheduler has it computed anew
            ready = [name for name, future in futures.items() if future.status not in ("pending", "lost")]
            for name in ready:
                found = _fetched(futures[name], name, address)
                if found is not None:
                    yield name, _done(*found)
                    del futures[name]
            if client.status != "running":
                raise _Lost(f"cluster = {address!r}: its scheduler went away; {len(futures)} tasks are missing")
            if client.scheduler_info(n_workers=-1)["workers"]:
                lonely = time.monotonic()
            elif time.monotonic() - lonely > PATIENCE:
                raise _Lost(f"cluster = {address!r}: has no workers any more; {len(futures)} tasks are missing")
            if not ready:
                time.sleep(0.05)
    finally:
        with suppress(Exception):  # nothing of a run that was given up stays on somebody's cluster
            client.cancel(list(futures.values()), force=True)


def _fetched(future: Any, name: str, address: str) -> tuple[str, float] | None:
    """(result as text, seconds), or None if it has to be waited for again."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed import TimeoutError as DaskTimeout

    if future.status == "cancelled":
        raise _Lost(f"cluster = {address!r}: went away while {name} was under way")
    try:
        _, text, seconds = future.result(timeout=ANSWER)
    except KilledWorker:
        raise _Lost(f"cluster = {address!r}: {name} was on {DEATHS} workers or more when they died") from None
    except (DaskTimeout, TimeoutError):
        return None
    except (CancelledError, OSError) as error:
        raise _Lost(f"cluster = {address!r}: went away while {name} was fetched ({_short(error)})") from None
    return text, seconds


# ---------------------------------------------------------------------------------------------------------------- a checkpoint


@dataclass(frozen=True)
class _Kept:
    path: Path | None
    file: IO[bytes] | None
    done: dict[str, Done]

    def add(self, name: str, done: Done) -> None:
        self.done[name] = done
        if self.file is not None and self.path is not None:
            line = {"task": name, "seconds": done.seconds, "result": done.result}
            try:
                _append(self.file, line)
            except OSError as error:
                failed = files.failure("checkpoint", self.path, error)
                raise type(failed)(f"{failed}; --resume continues from the tasks saved there") from None

    def where(self) -> str:
        if self.path is None:
            return ""
        return f"; {len(self.done)} finished tasks are saved in {self.path}; --resume continues from there"


def _append(file: IO[bytes], line: Json) -> None:
    """Without a buffer: when the disk is full, nothing is left over that closing the file would try to write again."""
    left = memoryview(json.dumps(line, allow_nan=False).encode() + b"\n")
    while left:
        left = left[file.write(left) :]


@contextmanager
def _checkpoint(workers: Workers, header: Json) -> Iterator[_Kept]:
    """To resume where there is no checkpoint is to start from the beginning."""
    path = workers.checkpoint
    if path is None:
        if workers.resume:
            raise InputError("resume: needs a checkpoint; give --checkpoint FILE")
        yield _Kept(None, None, {})
        return
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            resume = workers.resume and path.exists() and path.stat().st_size > 0
            if path.exists() and path.stat().st_size > 0 and not resume:
                _set_aside(path)
            file = stack.enter_context(path.open("ab", buffering=0))
            _lock(file, path)
            done = _read(path, json.loads(json.dumps(header))) if resume else {}  # as it will be read
            if not resume:
                _append(file, header)
        except OSError as error:
            raise files.failure("checkpoint", path, error) from None
        except UnicodeDecodeError as error:
            raise InputError(f"checkpoint = {str(path)!r}: cannot be used ({error})") from None
        yield _Kept(path, file, done)


def _set_aside(path: Path) -> None:
    """An earlier checkpoint is not lost by forgetting --resume; a file of somebody else is not touched."""
    with path.open("a+", encoding="utf-8") as file:
        _lock(file, path)
        file.seek(0)
        _header(path, file.readline())
        path.replace(path.with_name(f"{path.name}.old"))


def _read(path: Path, header: Json) -> dict[str, Done]:
    """The finished tasks; a last line that was cut short is taken off the file."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    first, *lines = whole.decode("utf-8").splitlines() or [""]
    found = _header(path, first)
    if found != header:
        raise InputError(f"checkpoint = {str(path)!r}: is of another run, with {_differences(found, header)}")
    done = {}
    for number, line in enumerate(lines, start=2):
        try:
            entry = json.loads(line)
            done[str(entry["task"])] = Done(entry["result"], float(entry["seconds"]))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"checkpoint = {str(path)!r}: line {number} is damaged ({_short(error)})") from None
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    return done


def _header(path: Path, line: str) -> Json:
    with suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict) and found.get("tailproof") == "checkpoint":
            return found
    raise InputError(f"checkpoint = {str(path)!r}: is not a checkpoint written by tailproof")


def _differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """In words: what the one has, and not the other."""
    words = {"source": "other source files of tailproof", "tasks": "other tasks"}
    parts = []
    for key in dict.fromkeys([*wanted, *found]):
        have, want = found.get(key), wanted.get(key)
        if have != want and isinstance(have, dict) and isinstance(want, dict):
            parts.append(_differences(have, want))
        elif have != want:
            parts.append(words.get(key) or f"{key} {have}, not {want}")
    return "; ".join(parts)


def _lock(file: IO[Any], path: Path) -> None:
    """Two runs at once would mix their lines."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(f"checkpoint = {str(path)!r}: another run is writing to it") from None


# ------------------------------------------------------------------------------------------------------------- what is shown


@contextmanager
def _bar(tasks: list[Task], missing: list[Task], *, shown: bool) -> Iterator[Callable[[str], None]]:
    """Progress in expected seconds, so that the remaining time means something when tasks differ."""
    costs = {task.name: task.cost for task in tasks}
    left = sum(task.cost for task in missing)
    finished = [len(tasks) - len(missing)]
    form = "{percentage:3.0f}%|{bar}|{postfix} [{elapsed}<{remaining}]"
    total = sum(costs.values())
    with tqdm(total=total, initial=total - left, bar_format=form, disable=not (shown and sys.stderr.isatty())) as bar:
        bar.set_postfix_str(f"{finished[0]}/{len(tasks)} tasks")

        def tick(name: str) -> None:
            finished[0] += 1
            bar.set_postfix_str(f"{finished[0]}/{len(tasks)} tasks", refresh=False)
            bar.update(costs[name])

        yield tick
