"""How a call ends.  What ends in other ways in a mechanism is in `attacks.endings`; here is what the guard itself must not do."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tailproof.verification.ending import NoReturn, Patience, patience_with, set_patience


def nothing(*_: Any) -> int:
    return 7


def late() -> None:
    while True:
        pass


def test_a_value_and_an_exception_pass() -> None:
    def fails() -> None:
        raise ZeroDivisionError("mine")

    patience = Patience(nothing)
    assert patience.call(nothing) == 7
    with pytest.raises(ZeroDivisionError, match="mine"):
        patience.call(fails)


def test_everything_is_put_back() -> None:
    def state() -> list[Any]:
        handlers = [signal.getsignal(which) for which in (signal.SIGALRM, signal.SIGINT)]
        return [*handlers, signal.getitimer(signal.ITIMER_REAL), os._exit, os.kill, os.abort, signal.raise_signal]

    def ends() -> None:
        os._exit(3)

    before = state()
    with pytest.raises(NoReturn, match=r"calls os\._exit, which ends the process"):
        Patience(ends).call(ends)
    with pytest.raises(NoReturn, match=r"does not end: no value after .* of computing, then at test_ending.py:\d+"):
        Patience(late, 0.05).call(late)
    assert state() == before


@pytest.mark.usefixtures("interruptible")
def test_somebody_s_interrupt_is_no_finding() -> None:
    def waits() -> None:
        time.sleep(20)

    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        Patience(waits).call(waits)


def test_a_run_that_computes_little_while_the_machine_is_busy_is_not_late() -> None:
    """The clock passes the limit several times; the computing does not."""

    def shares_the_machine() -> int:
        end = time.monotonic() + 0.9
        while time.monotonic() < end:
            sum(range(1000))
            time.sleep(0.01)
        return 7

    assert Patience(shares_the_machine, 0.25).call(shares_the_machine) == 7


def test_one_that_was_late_is_given_up_sooner_and_the_first_time_is_told() -> None:
    patience = Patience(late, 0.2)
    said = []
    for _ in range(4):
        start = time.process_time()
        with pytest.raises(NoReturn) as caught:
            patience.call(late)
        said.append(str(caught.value))
    assert len(set(said)) == 1
    assert time.process_time() - start < 0.5 < 1.0  # the first: 0.2, then 1, 1/2, 1/3 s at most


def test_one_clock_for_many_calls() -> None:
    """Each has its own time."""
    patience, spent = Patience(nothing, 0.2), 0

    def short() -> int:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        return 1

    with patience.watching():
        for _ in range(25):  # half a second together
            spent += patience.call(short)
    assert spent == 25


def test_somebody_else_s_alarm_is_left_alone() -> None:
    def mine(number: int, frame: Any) -> None: ...

    before = signal.signal(signal.SIGALRM, mine)
    try:
        assert Patience(nothing).call(lambda: signal.getsignal(signal.SIGALRM)) is mine
    finally:
        signal.signal(signal.SIGALRM, before)


def test_no_time_limit_on_another_thread() -> None:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(Patience(nothing, 0.05).call(nothing)))
    thread.start()
    thread.join()
    assert found == [7]


@pytest.mark.parametrize(
    "signalled", [lambda: os.kill(os.getppid(), 0), lambda: os.kill(0, 0), lambda: os.killpg(os.getpgid(0), 0)]
)
def test_signals_to_others_of_the_family(signalled: Callable[[], None]) -> None:
    with pytest.raises(NoReturn, match="ends the process"):
        Patience(signalled).call(signalled)


def test_a_child_of_its_own_may_be_killed() -> None:
    def own_child() -> int:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        os.kill(child.pid, signal.SIGKILL)
        return child.wait()

    assert Patience(own_child).call(own_child) == -signal.SIGKILL


def test_what_catches_everything_ends_with_exit_code_4() -> None:
    code = """
import time
from tailproof.verification.ending import NoReturn, Patience
def stubborn():
    while True:
        try:
            while True: time.process_time()
        except BaseException: pass
while True:
    try: Patience(stubborn, 0.1).call(stubborn)
    except NoReturn: pass  # now and then it is stopped between two of its tries
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 4
    assert done.stderr.startswith("tailproof: a run does not end")
    assert done.stderr.count("\n") == 1


def test_it_goes_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(Patience(nothing, 3.0))).seconds == 3.0


def test_one_patience_with_each_mechanism() -> None:
    first = set_patience(nothing, 5.0)
    assert patience_with(nothing) is first
    assert patience_with(late) is not first
    assert set_patience(nothing, None).seconds is None


def test_what_is_done_between_calls_has_any_time() -> None:
    def busy(seconds: float) -> int:
        start = time.process_time()
        while time.process_time() - start < seconds:
            pass
        return 1

    patience = Patience(busy, 0.2)
    with patience.watching():
        assert patience.call(busy, 0.0) == 1
        busy(0.5)
        assert patience.call(busy, 0.0) == 1
        with pytest.raises(NoReturn, match="does not end"):
            patience.call(busy, 100.0)
