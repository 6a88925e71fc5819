"""A program in any language as the subject of an audit, over JSON lines.

A request is one line {"data": [[…], …], "seed": 123, "size": 10}, with "parameters" where some were given; the reply is one line
{"outputs": [[…], …]}, or with a number for each run in place of a vector, or {"error": "…"}.  The program answers requests until
its standard input ends.  The last line that it writes to standard error is shown when it dies.  docs/protocol.md has it all.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import numpy as np

from tailproof.refimpl.validation import FloatArray, InputError, positive, whole
from tailproof.verification.auditing.outputs import BadOutput, Checked, batch_of, batch_size, numeric, seed_of
from tailproof.verification.vectors.reader import Program, ProgramFailed, read_reply

BATCH = 1000  # runs of a request: what is lost at most when the program fails


class CommandRunner:
    """One process serves all requests; after a failure the next request starts another."""

    def __init__(
        self, command: str, *, time_limit: float = 60.0, batch: int = BATCH, parameters: dict[str, Any] | None = None
    ) -> None:
        """`parameters` are public, and sent with every request."""
        self._batch = whole("batch", batch, least=1)
        self._checked = Checked()
        self.chunk = 2 * self._batch  # about a request for either side
        self._parameters = {} if parameters is None else {"parameters": parameters}
        self._program = started(command, time_limit)

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return read_reply(self._program.ask(json.dumps(request, allow_nan=False)))
        except ProgramFailed as failed:
            raise BadOutput(failed.kind, failed.message) from None
        except OSError as error:
            raise InputError(f"command = {self._program.command!r}: cannot be started ({error})") from None

    def _requests(self, data: FloatArray, seed: int, size: int) -> Iterator[FloatArray]:
        """Requests of at most `batch` runs each, with seeds of their own: the first one has the seed itself."""
        seeds = np.random.default_rng(seed)
        for start in range(0, size, self._batch):
            yield from self._parts(data, seed if start == 0 else seed_of(seeds), min(self._batch, size - start))

    def _parts(self, data: FloatArray, seed: int, size: int) -> Iterator[FloatArray]:
        reply = self._reply({"data": data.tolist(), "seed": seed, "size": size, **self._parameters})
        if "error" in reply:
            raise BadOutput("raised", str(reply["error"]))
        if "outputs" not in reply:
            shown = json.dumps(reply, ensure_ascii=False)
            raise BadOutput("protocol", f'the reply has no "outputs": {shown if len(shown) <= 80 else shown[:77] + "…"}')
        yield batch_of(reply["outputs"], size)

    def run(self, data: Any, seed: int, size: int) -> FloatArray:
        return self._checked.collect(self._requests(numeric(data), seed, batch_size(size)), data, seed, size)

    def sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray:
        return self.run(data, seed_of(rng), size)

    def close(self) -> None:
        self._program.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def started(command: str, time_limit: float) -> Program:
    """A program that is started by its first request."""
    limit = positive("time_limit", time_limit)
    try:
        if shlex.split(command):
            return Program(command, time_limit=limit)
    except ValueError as error:
        raise InputError(f"command = {command!r}: {error}") from None
    raise InputError("command = '': must name a program")
