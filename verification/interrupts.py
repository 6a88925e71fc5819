"""Ctrl-C is noted as well as raised: where Python or a library drops the exception, as in a destructor or a callback, it counts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_typed = [0]


def typed() -> int:
    """How many interrupts somebody has typed so far."""
    return _typed[0]


@contextmanager
def noted() -> Iterator[None]:
    """Where nobody else takes them."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _note(number: int, frame: FrameType | None) -> None:
    _typed[0] += 1
    signal.default_int_handler(number, frame)
