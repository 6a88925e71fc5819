"""Which lines of the reference implementations a row's mechanism executes, at its settings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import tailproof.refimpl
from mutating.frame import LEFT_OUT, PER_ROW, SEED, Edit, drawn, edits_of, source_of
from tailproof.refimpl.catalogue import algorithm
from tailproof.refimpl.channel import run

ROOT = Path(tailproof.refimpl.__file__).resolve().parent.parent
Lines = dict[str, set[int]]


@contextmanager
def traced() -> Iterator[Lines]:
    """module: its lines that ran."""
    found: Lines = {}
    folder = str(ROOT / "refimpl")

    def inner(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            found.setdefault(frame.f_globals["__name__"], set()).add(frame.f_lineno)
        return inner

    def outer(frame: FrameType, _: str, __: Any) -> Any:
        return inner if Path(frame.f_code.co_filename).resolve().is_relative_to(folder) else None

    known: dict[str, Any] = {}

    def quick(frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in known:
            known[name] = outer(frame, event, argument)
        return known[name]

    before = sys.gettrace()
    sys.settrace(quick)
    try:
        yield found
    finally:
        sys.settrace(before)


def executed_by(row: str) -> Lines:
    """At every setting: heavy-tailed records, zeros, and the first of the worst neighbours.  What was cached is computed again."""
    implementation = algorithm(row).implementation
    assert implementation is not None
    _forget()
    lines: Lines = {}
    for setting in implementation.settings:
        tables = [np.random.default_rng(1).standard_t(2, size=(setting.n, setting.d)), np.zeros((setting.n, setting.d))]
        tables += [pair[0] for pair in [next(implementation.worst_neighbours(setting), None)] if pair is not None]
        for table in tables:
            data = setting.admissible(table)
            with warnings.catch_warnings(), traced() as found:
                warnings.simplefilter("ignore")
                run(implementation.mechanism, data, np.random.default_rng(0), **setting.parameters)
            for module, numbers in found.items():
                lines.setdefault(module, set()).update(numbers)
    return {module: numbers for module, numbers in lines.items() if module.rpartition(".")[2] not in LEFT_OUT}


def _forget() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("tailproof.refimpl"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def frame_of(row: str) -> list[Edit]:
    """Every edit of a row, sorted by module, line, operator and variant."""
    lines = executed_by(row)
    return [
        edit
        for module in sorted(lines)
        for edit in edits_of(row, module, source_of(module, ROOT).read_text(encoding="utf-8"), lines[module])
    ]


def sample(row: str, *, seed: int = SEED, count: int = PER_ROW) -> list[Edit]:
    implementation = algorithm(row).implementation
    assert implementation is not None
    return drawn(frame_of(row), implementation.module.__name__, seed=seed, count=count)
