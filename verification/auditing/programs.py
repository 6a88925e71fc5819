"""A program in any language as the subject of an audit, over JSON lines.

A request is one line {"data": [[…], …], "seed": 123, "size": 10}; the reply is one line {"outputs": [[…], …]}, or with a number for
each run in place of a vector, or {"error": "…"}.  The program answers requests until its standard input ends.  The last line that
it writes to standard error is shown when it dies.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import numpy as np

from refimpl.validation import FloatArray, InputError, positive, whole
from verification.auditing.outputs import BadOutput, Checked, batch_of, batch_size, numeric, seed_of

BATCH = 1000  # runs of a request: what is lost at most when the program fails


class CommandRunner:
    """One process serves all requests; after a failure the next request starts another."""

    def __init__(self, command: str, *, time_limit: float = 60.0, batch: int = BATCH) -> None:
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise InputError(f"command = {command!r}: {error}") from None
        if not self._command:
            raise InputError("command = '': must name a program")
        self._limit, self._batch = positive("time_limit", time_limit), whole("batch", batch, least=1)
        self._checked = Checked()
        self.chunk = 2 * self._batch  # about a request for either side
        self._process: subprocess.Popen[str] | None = None
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._threads: list[threading.Thread] = []

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=True,
                )
            except OSError as error:
                raise InputError(f"command = {shlex.join(self._command)!r}: cannot be started ({error})") from None
        return self._process

    def _reply(self, request: str) -> str:
        """One line, by a thread that may be left waiting when the time is over."""
        process, answers = self._start(), queue.Queue[str](maxsize=1)

        def exchange() -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(request + "\n")
                process.stdin.flush()
            with contextlib.suppress(OSError, ValueError):
                answers.put(process.stdout.readline())

        thread = threading.Thread(target=exchange, daemon=True)
        thread.start()
        self._threads = [thread]
        try:
            line = answers.get(timeout=self._limit)
        except queue.Empty:
            self._stop()
            raise BadOutput("timed out", f"no reply within {self._limit:g} s; the program was killed") from None
        if not line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1.0)
            code, said = process.returncode, self._said()
            self._stop()
            ended = "closed its output" if code is None else f"ended with exit code {code}"
            raise BadOutput("died", f"the program {ended}{said}")
        return line

    def _said(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return f"; it said: {lines[-1]}" if lines else ""

    def _requests(self, data: FloatArray, seed: int, size: int) -> Iterator[FloatArray]:
        """Requests of at most `batch` runs each, with seeds of their own: the first one has the seed itself."""
        seeds = np.random.default_rng(seed)
        for start in range(0, size, self._batch):
            yield from self._parts(data, seed if start == 0 else seed_of(seeds), min(self._batch, size - start))

    def _parts(self, data: FloatArray, seed: int, size: int) -> Iterator[FloatArray]:
        line = self._reply(json.dumps({"data": data.tolist(), "seed": seed, "size": size}, allow_nan=False))
        shown = line.strip() if len(line) <= 80 else line[:77].strip() + "…"
        try:
            reply = json.loads(line)
        except ValueError:
            raise BadOutput("protocol", f"the reply is not JSON: {shown!r}") from None
        if isinstance(reply, dict) and "error" in reply:
            raise BadOutput("raised", str(reply["error"]))
        if not isinstance(reply, dict) or "outputs" not in reply:
            raise BadOutput("protocol", f'the reply has no "outputs": {shown!r}')
        yield batch_of(reply["outputs"], size)

    def run(self, data: Any, seed: int, size: int) -> FloatArray:
        return self._checked.collect(self._requests(numeric(data), seed, batch_size(size)), data, seed, size)

    def sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray:
        return self.run(data, seed_of(rng), size)

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)  # the program and what it started
            else:
                process.kill()
        process.wait()
        for thread in self._threads:
            thread.join()  # its pipes are at their end
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def close(self) -> None:
        self._stop()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
