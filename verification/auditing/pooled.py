"""Runs of a slow subject on many workers: an audit draws the same samples, only sooner.

Every batch of an audit has a seed of its own, and which batches a draw takes is known before it starts unless the subject fails
(`Source.foreseen`).  These batches are run beforehand, each wherever there is room; then the audit takes its course, and finds the
rows that it asks for.  What it does not find it runs here: nothing depends on the foresight but time.
"""

from __future__ import annotations

import base64
import hashlib
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing.outputs import Checked, SubjectFailed, seed_of
from tailproof.verification.auditing.runner import SeededRunner
from tailproof.verification.workers import Run, Task

WORTH = 2.0
"""Seconds that a draw has to take here before workers are asked: starting them takes as long."""

Make = Callable[..., SeededRunner]
Batch = tuple[Any, int, int]  # data, seed, size


@dataclass(eq=False)
class PooledRunner:
    """`make(*arguments)` is the runner, here and on the workers, which make it once each."""

    make: Make
    arguments: tuple[Any, ...]
    run_tasks: Run
    worth: float = WORTH
    _ready: dict[tuple[str, int, int], FloatArray] = field(default_factory=dict)
    _checked: Checked = field(default_factory=Checked)
    _spent: float = 0.0
    _runs: int = 0

    @property
    def chunk(self) -> int:
        return self._inner.chunk

    def close(self) -> None:
        """Of what was made here; another audit of the same subject makes it anew."""
        closing = getattr(self._inner, "close", None)
        _made.cache_clear()
        if closing is not None:
            closing()

    @property
    def _inner(self) -> SeededRunner:
        return _made(self.make, self.arguments)

    def run(self, data: Any, seed: int, size: int) -> FloatArray:
        rows = self._ready.pop((_digest(data), seed, size), None)
        if rows is not None:
            return self._checked.collect(iter([rows]), data, seed, size)
        start = time.perf_counter()
        try:
            return self._checked.collect(iter([self._inner.run(data, seed, size)]), data, seed, size)
        finally:
            self._spent += time.perf_counter() - start
            self._runs += size

    def sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray:
        return self.run(data, seed_of(rng), size)

    def prefetch(self, batches: list[Batch]) -> None:
        """Run these on the workers, if that is worth it: if the runs that were made here say that it takes long."""
        self._ready.clear()  # of a draw that the subject's failure cut short
        each = self._spent / max(self._runs, 1)
        if each * sum(size for _, _, size in batches) < self.worth:
            return
        first, size = 0, 2
        while first < len(batches) and self._fetched(batches[first : first + size], each):
            first, size = first + size, 2 * size  # a subject that fails takes no more than a few batches with it

    def _fetched(self, batches: list[Batch], each: float) -> bool:
        """Whether all of them are there."""
        keys = [(_digest(data), seed, size) for data, seed, size in batches]
        tasks = [
            Task(f"batch {digest} {seed} {size}", _batch, (self.make, self.arguments, *batch), each * size)
            for (digest, seed, size), batch in zip(keys, batches, strict=True)
        ]
        found = [done.result for done in self.run_tasks(tasks)]
        self._ready |= {key: _unpacked(rows) for key, rows in zip(keys, found, strict=True) if rows is not None}
        return None not in found


def _batch(make: Make, arguments: tuple[Any, ...], data: Any, seed: int, size: int) -> dict[str, Any] | None:
    """On a worker.  None if the subject fails: the audit meets the failure where it can report it."""
    try:
        rows = _made(make, arguments).run(data, seed, size)
    except SubjectFailed:
        return None
    return {"shape": list(rows.shape), "rows": base64.b64encode(rows.astype("<f8").tobytes()).decode()}


def _unpacked(packed: dict[str, Any]) -> FloatArray:
    rows = np.frombuffer(base64.b64decode(packed["rows"]), dtype="<f8")
    return rows.astype(np.float64).reshape(packed["shape"])


@cache
def _made(make: Make, arguments: tuple[Any, ...]) -> SeededRunner:
    return make(*arguments)


def _digest(data: Any) -> str:
    content = data.tobytes() + repr(data.shape).encode() if isinstance(data, np.ndarray) else pickle.dumps(data)
    return hashlib.sha256(content).hexdigest()[:16]
