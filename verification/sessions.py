"""The false-alarm budget of a test session: all audits of a session together call a true claim refuted with probability at most B.

The k-th audit of a process may err with probability B/(k(k+1)), and these sum to B: 1/(k(k+1)) = 1/k − 1/(k+1).  How many audits
there will be need not be known, nor does it matter why there is a further one: whatever came before, audit k errs with probability
at most its share, and the union of all errors has at most the sum.  Seeds are keyed by the test's name and by the number of the
call in the test, so that tests draw independently, and neither order nor choice of tests changes what one of them draws.

- Workers of pytest-xdist count by themselves.  Of W workers each has the share 1/(2W); one that replaces a worker that crashed
  has a number of W or more, and those numbered from gW to below (g+1)W have 2^−(g+1)/W each: the sum over all g is 1.
- A rerun of a test has the same seeds.  For a subject that draws from its generator alone it is the same event again; it is
  charged anew all the same, since others draw anew.
- A forked process has a copy of the count that goes on by itself: there an audit must state its own `false_alarm`.
- An audit that states its own `false_alarm` is not charged to the budget; it is counted apart.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tailproof.refimpl.validation import InputError, probability
from tailproof.verification.seeds import task_seed

FALSE_ALARM = 1e-3
FOLDER = ".tailproof"
VARIABLE = "TAILPROOF_FALSE_ALARM"


@dataclass(frozen=True)
class Charge:
    """One audit of a session: the test and the number of its call there, its seed, and how likely it may err."""

    test: str
    number: int
    seed: int
    false_alarm: float


@dataclass
class Session:
    """`spent` of `false_alarm` is charged; `stated` is what audits allowed themselves beside that."""

    false_alarm: float = FALSE_ALARM
    seed: int = 0
    folder: str = FOLDER
    audits: int = 0
    spent: float = 0.0
    stated: float = 0.0
    process: int = field(default_factory=os.getpid)  # whose count this is
    _charged: int = 0
    _numbers: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def starts(self, test: str) -> None:
        """A test begins, perhaps once more: its calls are numbered anew, and so have the seeds they had."""
        self._numbers.pop(test, None)

    def charge(self, stated: float | None = None) -> Charge:
        """For one more audit of the test that runs now."""
        test = current_test()
        with self._lock:
            share = self._next_share() if stated is None else stated
            self.audits += 1
            if stated is None:
                self._charged += 1
                self.spent += share
            else:
                self.stated += stated
            self._numbers[test] += 1
            number = self._numbers[test]
        return Charge(test, number, task_seed(self.seed, test, number), share)

    def account(self) -> dict[str, float]:
        return {"audits": self.audits, "spent": self.spent, "stated": self.stated, "budget": self.false_alarm}

    def _next_share(self) -> float:
        if os.getpid() != self.process:
            raise InputError(
                "false_alarm: must be stated, for this process was forked from a test session, whose count it cannot share"
            )
        k = self._charged + 1
        return self.false_alarm * share_of_process() / (k * (k + 1))


def share_of_process() -> float:
    """Of a session's budget: all of it, or that of a worker."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    return 1.0 if worker is None else share_of_worker(worker, os.environ.get("PYTEST_XDIST_WORKER_COUNT", ""))


def share_of_worker(worker: str, count: str) -> float:
    """Of the worker that pytest-xdist names gw0, gw1, …"""
    number = worker.removeprefix("gw")
    if not (number.isdigit() and count.isdigit() and int(count) > 0):
        raise InputError(f"false_alarm: must be stated, for the worker {worker!r} (of {count!r}) has no number")
    return float(0.5 ** (int(number) // int(count) + 1) / int(count))


def current_test() -> str:
    """As pytest names it, without the stage; empty outside of pytest."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]


def _false_alarm(setting: str) -> float:
    """The budget that the environment, or else this setting states."""
    name, text = (VARIABLE, os.environ[VARIABLE]) if VARIABLE in os.environ else ("tailproof_false_alarm", setting)
    try:
        return probability(name, float(text)) if text else FALSE_ALARM
    except ValueError:
        raise InputError(f"{name} = {text!r}: must be a number strictly between 0 and 1") from None


def _seed(setting: str) -> int:
    if setting and not setting.isdigit():
        raise InputError(f"tailproof_seed = {setting!r}: must be a whole number >= 0")
    return int(setting or 0)


_OUTSIDE: dict[str, Any] = {"process": os.getpid()}  # of pytest: a process is a session


def current() -> Session:
    """That of pytest, where its plugin is loaded, or else of this process."""
    plugin = sys.modules.get("tailproof.pytest_plugin")
    place = plugin.SESSIONS[-1] if plugin is not None and plugin.SESSIONS else _OUTSIDE
    if "session" not in place:
        place["session"] = Session(
            false_alarm=_false_alarm(place.get("false_alarm", "")),
            seed=_seed(place.get("seed", "")),
            folder=place.get("witnesses") or FOLDER,
            process=place["process"],  # which may be the one that this one was forked from
        )
    session: Session = place["session"]
    return session
