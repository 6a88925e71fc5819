"""Run a subject: labelled samples, and the interface of whatever runs it.

A labelled sample: a fair coin picks the side, the subject runs there.  Coins come from a stream of their own, so that
nothing a subject does with its generator can tell it the coins to come.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from refimpl.validation import FloatArray, InputError

LARGEST = 1e100

Labels = NDArray[np.int8]
Pair = tuple[Any, Any]


@runtime_checkable
class Runner(Protocol):
    """Runs the subject `size` times on the data, independently; one row for each output."""

    def sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray: ...


@dataclass(frozen=True)
class InProcess:
    """Calls f(data, rng), or f(data, rng, size) once, in this process."""

    mechanism: Callable[..., Any]
    vectorised: bool

    def sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray:
        try:
            return self._sample(data, rng, size)
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"mechanism: raised {type(error).__name__}: {error}") from error

    def _sample(self, data: Any, rng: np.random.Generator, size: int) -> FloatArray:
        if self.vectorised:
            return as_rows(self.mechanism(data, rng, size), size)
        if size == 0:
            return np.zeros((0, 0))
        first = as_row(self.mechanism(data, rng))
        outputs = np.empty((size, len(first)))
        outputs[0] = first
        for run in range(1, size):
            row = as_row(self.mechanism(data, rng))
            if len(row) != len(first):
                raise InputError(f"mechanism: returned {len(first)} numbers at first, {len(row)} in run {run + 1}")
            outputs[run] = row
        return _checked(outputs)


def in_process(mechanism: Callable[..., Any], vectorised: bool | None = None) -> InProcess:
    """`vectorised=None`: by the signature, a third parameter that takes positions is the size."""
    if not callable(mechanism):
        raise InputError(f"mechanism = {mechanism!r}: must be a function f(data, rng) or f(data, rng, size)")
    if vectorised is None:
        try:
            parameters = list(inspect.signature(mechanism).parameters.values())
        except (TypeError, ValueError):
            raise InputError("mechanism: has no signature to read; say whether it is vectorised") from None
        by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        open_ended = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
        places = [p for p in parameters if p.kind in by_position]
        if len(places) < 2 and not open_ended:
            raise InputError(f"mechanism: takes {len(places)} arguments; must be f(data, rng) or f(data, rng, size)")
        vectorised = len(places) > 2 and (places[2].name == "size" or places[2].default is inspect.Parameter.empty)
    return InProcess(mechanism, vectorised)


def as_row(value: Any) -> FloatArray:
    try:
        return np.asarray(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputError(f"mechanism: returned {type(value).__name__}; must be a number or an array of numbers") from None


def as_rows(value: Any, size: int) -> FloatArray:
    try:
        outputs = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"mechanism: returned {type(value).__name__}; must be an array of numbers") from None
    if outputs.ndim == 0 or len(outputs) != size:
        raise InputError(f"mechanism: returned shape {outputs.shape} for size {size}; must have one entry or row per run")
    return _checked(outputs.reshape(size, -1) if size else np.zeros((0, 0)))


def _checked(outputs: FloatArray) -> FloatArray:
    if not np.isfinite(outputs).all():
        raise InputError("mechanism: returned a value that is not finite")
    return outputs


@dataclass(frozen=True, eq=False)
class Labelled:
    """Outputs, one row each, and the side each comes from: −1 the data, 1 the neighbour."""

    outputs: FloatArray
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Source:
    """Labelled samples of pairs of neighbours."""

    runner: Runner
    pairs: tuple[Pair, ...]
    coins: np.random.Generator
    noise: np.random.Generator

    def draw(self, pair: int, size: int) -> Labelled:
        labels = (2 * self.coins.integers(0, 2, size, dtype=np.int8) - 1).astype(np.int8)
        parts = []
        for side, data in zip((-1, 1), self.pairs[pair], strict=True):
            count = int((labels == side).sum())
            part = self.runner.sample(data, self.noise, count)
            parts.append((side, count, part))
        widths = {part.shape[1] for _, count, part in parts if count}
        if len(widths) > 1:
            raise InputError(f"mechanism: returned {' or '.join(map(str, sorted(widths)))} numbers, depending on the data")
        outputs = np.empty((size, widths.pop() if widths else 0))
        for side, count, part in parts:
            if count:  # in random order: a subject may return its outputs sorted
                outputs[labels == side] = part[self.coins.permutation(count)]
        # what is done to outputs cannot break a claim, and squares of numbers beyond this overflow
        return Labelled(np.clip(outputs, -LARGEST, LARGEST, out=outputs), labels)


def joined(parts: list[Labelled]) -> Labelled:
    return (
        parts[0]
        if len(parts) == 1
        else Labelled(np.concatenate([p.outputs for p in parts]), np.concatenate([p.labels for p in parts]))
    )


def source(runner: Runner, pairs: tuple[Pair, ...], seed: int) -> Source:
    return Source(runner, pairs, np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1]))
