"""Limits of time that hold on any machine: CPU time, as multiples of what a fixed piece of Python takes on the same one."""

from __future__ import annotations

import time
from collections.abc import Callable


def _reference() -> int:
    return sum(number * number % 7 for number in range(1_000_000))


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def units(work: Callable[[], object], repeats: int = 1) -> float:
    """CPU time of the work, the least of so many, in units: a unit is a million steps of a plain loop (50 ms or so), timed before
    and after, and the slower of the two counts."""
    before = cpu_seconds(_reference)
    spent = min(cpu_seconds(work) for _ in range(repeats))
    return spent / max(before, cpu_seconds(_reference))
