"""How a call of somebody's code ends: it returns, or it raises an `Exception`.  Whatever else it does is made to raise one.

A mechanism that ends the process takes its checks along, with exit code 0 if it likes; one that never ends leaves them without an
answer; one that raises what means "skip this test" is skipped.  While `Patience.call` runs one, all of these are raised as
`NoReturn`, and are findings like other exceptions: how a run ends tells of the data.

Time is that of computing, so that a busy machine makes nobody late; a run that only sleeps is late as well.  Python code can be
stopped anywhere, a call into compiled code not before it returns.  On threads other than the main one, where there is no SIGALRM,
or where somebody else uses it, there is no time limit.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import unittest
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, TypeVar
from typing import NoReturn as Never

from tailproof.refimpl.validation import positive
from tailproof.verification import interrupts
from tailproof.verification.transcripts.own_code import LIBRARIES, functions_of

T = TypeVar("T")

TIME_LIMIT = 60.0  # seconds of computing, for one run
ASLEEP, ASLEEP_AGAIN = 1e-3, 0.1  # a share of the limit that is no computing, at first and once a run was late
TIMES_WALL = 10  # times the limit, on the clock, is too late in any case
AGAIN, LEAST_AGAIN, TIMES_AGAIN = 1.0, 0.05, 20.0  # after k were late: 1/k seconds, or times the longest run that was not
MOST_IGNORED = 5  # times that a run may catch what stops it


class NoReturn(RuntimeError):
    """The call neither returned nor raised an exception."""


def of_a_mechanism(error: Exception) -> bool:
    """Raised in a mechanism's call, and not by what checks it."""
    return isinstance(error, NoReturn) or getattr(error, "of_a_mechanism", False)


class _Late(BaseException):
    """Raised inside a call that takes too long."""


class _Ends(BaseException):
    """Raised in place of what would end the process."""


class Patience:
    """With one mechanism: `seconds` for each run (None: any time).  Once a run was late, later ones are given up sooner."""

    def __init__(self, mechanism: Any, seconds: float | None = TIME_LIMIT) -> None:
        self.seconds = None if seconds is None else positive("time_limit", seconds)
        self._mechanism, self._held = mechanism, _held_by(mechanism)
        self._longest, self._calls, self._late, self.first_late = 0.0, 0, 0, ""
        self.running = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Patience, (self._mechanism, self.seconds)

    def times(self, factor: float) -> Patience:
        """For runs that are slowed down."""
        return Patience(self._mechanism, None if self.seconds is None else factor * self.seconds)

    def call(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> T:
        if _watches[-1:] != [self]:
            with self.watching():
                return self.call(function, *arguments, **named)
        self._calls += 1
        self.running, start, times_late = True, time.perf_counter(), self._late
        process, typed = os.getpid(), interrupts.typed()
        try:
            return function(*arguments, **named)
        except _Late as late:
            raise NoReturn(str(late)) from None
        except _Ends as ends:
            raise NoReturn(f"calls {ends}, which ends the process") from None
        except KeyboardInterrupt:
            if interrupts.typed() != typed or threading.current_thread() is not threading.main_thread():
                raise
            raise NoReturn("raises KeyboardInterrupt, though nobody interrupts it") from None
        except SystemExit as error:
            raise NoReturn(f"ends the process: SystemExit: {error.code}") from error
        except unittest.SkipTest as error:
            raise NoReturn(f"raises SkipTest: {error}") from error
        except Exception as error:
            with suppress(AttributeError):
                error.of_a_mechanism = True  # type: ignore[attr-defined]
            raise
        except BaseException as error:
            raise NoReturn(f"raises {type(error).__name__}: {error}") from error
        finally:
            self.running = False
            if os.getpid() != process:
                _exit(70)  # a child that the call made: it has no business here
            if self._late == times_late:
                self._longest = max(self._longest, time.perf_counter() - start)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Around calls: each has its own time, and what is done between them has any."""
        if _watches[-1:] == [self]:
            yield
            return
        _watches.append(self)
        try:
            with _without_enders(self._held), interrupts.noted(), self._alarm():
                yield
        finally:
            _watches.pop()

    @contextmanager
    def _alarm(self) -> Iterator[None]:
        if self.seconds is None or not _on_main_thread() or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
            yield
            return
        clock = _Clock(self)
        signal.signal(signal.SIGALRM, clock.tick)
        clock.wind()
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def was_late(self, said: str) -> None:
        assert self.seconds is not None
        self.first_late = self.first_late or said
        self._late += 1
        self.seconds = min(self.seconds, max(AGAIN / self._late, LEAST_AGAIN, TIMES_AGAIN * self._longest))


_known: weakref.WeakKeyDictionary[Any, Patience] = weakref.WeakKeyDictionary()


def patience_with(mechanism: Any) -> Patience:
    """The same one everywhere in this process, with the time limit that was set, or the usual one."""
    try:
        return _known.get(mechanism) or set_patience(mechanism, TIME_LIMIT)
    except TypeError:  # what cannot be a key
        return Patience(mechanism)


def set_patience(mechanism: Any, seconds: float | None) -> Patience:
    patience = Patience(mechanism, seconds)
    with suppress(TypeError):
        _known[mechanism] = patience
    return patience


class _Clock:
    """Looks at a run several times a second or two: ticks do not come while the process is stopped."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._begin()

    def wind(self, least: float = 0.0) -> None:
        """For the patience that is left, with that many seconds between looks at the least."""
        assert self._patience.seconds is not None
        self._seconds = self._patience.seconds
        self._every = min(1.0, max(self._seconds / 4, least))
        signal.setitimer(signal.ITIMER_REAL, self._every, self._every)

    def _begin(self) -> None:
        self._call, self._ticks, self._ignored, self._start = self._patience._calls, 0, 0, time.process_time()

    def tick(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self._call != self._patience._calls or not self._patience.running:
            self._begin()
            return
        self._ticks += 1
        used, waited = time.process_time() - self._start, self._ticks * self._every
        idle = (ASLEEP_AGAIN if self._patience.first_late else ASLEEP) * self._seconds
        asleep = waited >= self._seconds and used < idle
        if used < self._seconds and not asleep and waited < TIMES_WALL * self._seconds:
            return
        self._ignored += 1
        spent = f"{waited:.3g} s on the clock" if used < self._seconds else f"{used:.3g} s of computing"
        said = f"does not end: no value after {spent}, then {_place(frame)}"
        said = self._patience.first_late or said
        if self._ignored > MOST_IGNORED:
            os.write(2, f"tailproof: a run {said}, and it catches what would stop it\n".encode())
            _exit(4)
        self._patience.was_late(said)
        self.wind(LEAST_AGAIN)  # time to end
        raise _Late(said)


def _place(frame: FrameType | None) -> str:
    """The innermost line that is neither tailproof's nor a library's."""
    while frame is not None:
        file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__", ""))
        if module.split(".")[0] != "tailproof" and not file.startswith((*LIBRARIES, "<frozen")):
            return f"at {Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back
    return "in a library"


# --- what ends a process --------------------------------------------------------------------------------------------------

_watches: list[Patience] = []
_exit = os._exit


def _refusing(name: str) -> Callable[..., Never]:
    def ends(*_: Any, **__: Any) -> Never:
        raise _Ends(name)

    return ends


def _killing(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Signals to this process, its group or all; others are nobody's business here."""

    def kill(process: int, *rest: Any) -> Any:
        if process in (os.getpid(), os.getpgid(0), os.getppid()) or process <= 0:
            raise _Ends(name)
        return original(process, *rest)

    return kill


def _enders() -> list[tuple[ModuleType, str, Any, Any]]:
    """(module, name, what stands there, what stands there during a call)."""
    found: list[tuple[ModuleType, str, Any, Any]] = []
    system = sys.modules.get("posix") or sys.modules.get("nt")
    for name in ("_exit", "abort", "execv", "execve"):
        if hasattr(os, name):
            stand_in = _refusing(f"os.{name}")
            found += [(module, name, getattr(os, name), stand_in) for module in (os, system) if module is not None]
    for name in ("kill", "killpg"):
        if hasattr(os, name):
            stand_in = _killing(f"os.{name}", getattr(os, name))
            found += [(module, name, getattr(os, name), stand_in) for module in (os, system) if module is not None]
    for name in ("raise_signal", "pthread_kill"):
        if hasattr(signal, name):
            found.append((signal, name, getattr(signal, name), _refusing(f"signal.{name}")))
    return found


_ENDERS = _enders()
_INSTEAD = {id(original): stand_in for _, _, original, stand_in in _ENDERS}


@contextmanager
def _without_enders(held: list[tuple[dict[str, Any], str, Any]]) -> Iterator[None]:
    """What ends a process raises, also where a module has imported it by name."""
    for module, name, _, stand_in in _ENDERS:
        setattr(module, name, stand_in)
    for scope, name, value in held:
        scope[name] = _INSTEAD[id(value)]
    try:
        yield
    finally:
        for module, name, original, _ in _ENDERS:
            setattr(module, name, original)
        for scope, name, value in held:
            scope[name] = value


def _held_by(mechanism: Any) -> list[tuple[dict[str, Any], str, Any]]:
    """Where the mechanism's own modules have such a function under a name."""
    scopes = {id(function.__globals__): function.__globals__ for function in functions_of(mechanism)}
    return [(scope, name, value) for scope in scopes.values() for name, value in scope.items() if id(value) in _INSTEAD]


def _on_main_thread() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
