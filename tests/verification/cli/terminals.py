"""A pseudo-terminal of a given width, in this process or around another one."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from rich.cells import cell_len


@contextmanager
def opened(width: int) -> Iterator[tuple[int, list[bytes]]]:
    """(the terminal's file descriptor, what is written to it once this is left)."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    written: list[bytes] = []

    def drain() -> None:
        while True:
            try:
                part = os.read(reader, 65536)
            except OSError:  # how Linux says that nobody writes any more
                return
            if not part:
                return
            written.append(part)

    thread = threading.Thread(target=drain)
    thread.start()
    try:
        yield writer, written
    finally:
        os.close(writer)
        thread.join()
        os.close(reader)


def shown_by(function: Callable[[], object], width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a call shows on a terminal that is so wide: standard output and error."""
    with opened(width) as (descriptor, written), open(os.dup(descriptor), "w", encoding="utf-8") as terminal:
        with monkeypatch.context() as patch:
            for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
                patch.delenv(name, raising=False)
            patch.setenv("TERM", "xterm-256color")
            for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
                patch.setattr(sys, name, terminal)
            function()
        terminal.flush()
    return b"".join(written).decode()


def run(command: list[str], width: int, **environment: str) -> tuple[int, str]:
    """(exit code, what another process shows on such a terminal)."""
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    with opened(width) as (descriptor, written):
        done = subprocess.run(command, stdout=descriptor, stderr=descriptor, env={**kept, "TERM": "xterm", **environment})
    return done.returncode, b"".join(written).decode()


def too_wide(text: str, width: int) -> list[str]:
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return [line for line in re.split(r"[\r\n]+", plain) if cell_len(line) > width]
