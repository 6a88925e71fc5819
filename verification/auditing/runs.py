"""Labelled samples: a fair coin picks one side of a pair of neighbours, the subject runs there.

Coins come from a stream of their own, so that nothing a subject does with its generator can tell it the coins to come.

When a subject fails, the samples before its first failure, in the order of the coins, are kept; they are drawn in chunks, first
those of one side and then those of the other, so that a subject that fails for good takes no more than a chunk with it.  Given
all outputs, a failure being one, the coins are independent, and a claim's limits hold for each of them: which samples are kept
depends on outputs alone, so a test that holds given the outputs is not biased by it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing.outputs import Incident, SubjectFailed, seed_of
from tailproof.verification.auditing.runner import SeededRunner
from tailproof.verification.auditing.scores import row_keys

LARGEST = 1e100
WATCHED = 256  # outputs of the first batch on a side that later batches are compared with
COINCIDENCE = 1e-9  # a repetition less likely than this is none of chance
REPEATED = 4  # runs that are repeated from their seed

Labels = NDArray[np.int8]
Pair = tuple[Any, Any]


@runtime_checkable
class Prefetching(Protocol):
    """A runner that may run batches (data, seed, size) before it is asked for them."""

    def prefetch(self, batches: list[tuple[Any, int, int]]) -> None: ...


@dataclass(frozen=True, eq=False)
class Labelled:
    """Outputs, one row each, and the side each comes from: −1 A, 1 B."""

    outputs: FloatArray
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)


EMPTY = Labelled(np.empty((0, 0)), np.empty(0, dtype=np.int8))


def joined(parts: list[Labelled]) -> Labelled:
    """Parts without samples have no shape and are left out."""
    some = [part for part in parts if len(part)] or parts[:1]
    return (
        some[0]
        if len(some) == 1
        else Labelled(np.concatenate([p.outputs for p in some]), np.concatenate([p.labels for p in some]))
    )


def of_sides(first: FloatArray, second: FloatArray) -> Labelled:
    """What was seen on either side: to learn from, not to count, for there were no coins."""
    labels = np.repeat(np.array([-1, 1], dtype=np.int8), [len(first), len(second)])
    if not len(labels):
        return EMPTY
    outputs = np.concatenate([first.reshape(len(first), -1), second.reshape(len(second), -1)])
    order = np.random.default_rng(len(labels)).permutation(len(labels))  # those who learn take every other one
    return Labelled(_bounded(outputs[order]), labels[order])


def _bounded(outputs: FloatArray) -> FloatArray:
    """What is done to outputs cannot break a claim, and squares of numbers beyond this overflow."""
    return np.clip(outputs, -LARGEST, LARGEST, out=outputs)


@dataclass(eq=False)
class Source:
    """Labelled samples of pairs of neighbours; `incidents` says what went wrong, `runs` how often the subject was run."""

    runner: SeededRunner
    pairs: list[Pair]
    coins: np.random.Generator
    noise: np.random.Generator
    seed: int = 0
    incidents: list[Incident] = field(default_factory=list)
    runs: int = 0
    heard: Callable[[int], None] | None = None  # is told the number of runs after every chunk
    _first: dict[tuple[int, int], FloatArray] = field(default_factory=dict)

    def draw(self, pair: int, size: int) -> Labelled:
        """`size` samples, or those before the subject's first failure."""
        if isinstance(self.runner, Prefetching):
            self.runner.prefetch(self.foreseen(pair, size))
        parts, left = [EMPTY], size
        while left:
            chunk = min(left, self.runner.chunk)
            parts.append(self._chunk(pair, chunk))
            left -= len(parts[-1])
            if self.heard is not None:
                self.heard(self.runs)
            if len(parts[-1]) < chunk:
                break
        return joined(parts)

    def foreseen(self, pair: int, size: int) -> list[tuple[Any, int, int]]:
        """The batches (data, seed, size) that a draw takes if nothing fails: what `_chunk` draws, from copies of the streams."""
        coins, noise, batches = copy.deepcopy(self.coins), copy.deepcopy(self.noise), []
        for first in range(0, size, self.runner.chunk):
            chunk = min(size - first, self.runner.chunk)
            heads = int(coins.integers(0, 2, chunk, dtype=np.int8).sum())
            for side, wanted in enumerate((chunk - heads, heads)):
                if wanted:
                    batches.append((self.pairs[pair][side], seed_of(noise), wanted))
            for wanted in (chunk - heads, heads):
                if wanted:
                    coins.permutation(wanted)
        return batches

    def failed(self, pair: int) -> bool:
        """Whether it can be asked no more."""
        return any(incident.fatal and incident.pair is self.pairs[pair] for incident in self.incidents)

    def _chunk(self, pair: int, size: int) -> Labelled:
        labels = (2 * self.coins.integers(0, 2, size, dtype=np.int8) - 1).astype(np.int8)
        kept, parts = size, []
        for side in (-1, 1):
            places = np.flatnonzero(labels == side)
            wanted = int(np.searchsorted(places, kept))
            rows = self._rows(pair, side, wanted) if wanted else np.empty((0, 0))
            if self._dependent(pair, side, rows):
                return EMPTY
            if len(rows) < wanted:
                kept = int(places[len(rows)])
            parts.append((places, rows))
        outputs = np.empty((kept, max(rows.shape[1] for _, rows in parts)))
        for places, rows in parts:
            mine = places[places < kept]
            if len(mine):  # in random order: a subject may return its outputs sorted
                outputs[mine] = rows[self.coins.permutation(len(rows))[: len(mine)]]
        return Labelled(_bounded(outputs), labels[:kept])

    def _rows(self, pair: int, side: int, size: int) -> FloatArray:
        """As many as asked for, or those before a failure, which is noted."""
        data = self.pairs[pair][0 if side < 0 else 1]
        seed = seed_of(self.noise)
        try:
            rows = self.runner.run(data, seed, size)
        except SubjectFailed as failed:
            self.incidents.append(replace(failed.incident, pair=self.pairs[pair]))
            rows = failed.partial
        self.runs += size if len(rows) == size else len(rows) + 1
        return rows.reshape(len(rows), -1) if len(rows) else np.empty((0, 0))

    def _dependent(self, pair: int, side: int, rows: FloatArray) -> bool:
        """Whether a batch shows, beside an earlier one, that runs are not independent: then none of them counts."""
        rows, earlier = rows[:WATCHED], self._first.get((pair, side))
        if earlier is None or len(earlier) < len(rows):
            self._first[pair, side] = rows.copy()
        said = None if earlier is None else repetition(earlier, rows)
        if said is not None:
            data = self.pairs[pair][0 if side < 0 else 1]
            self.incidents.append(Incident(*said, data, self.seed, len(rows), self.pairs[pair]))
        return said is not None


def repetition(first: FloatArray, later: FloatArray) -> tuple[str, str] | None:
    """Two batches on the same data with other seeds: do they show that runs are not independent?"""
    length = min(len(first), len(later))
    if length < 2:
        return None
    single = (first == first[0]).all() and (later == later[0]).all()
    if single and length >= 8 and not np.array_equal(first[0], later[0]):
        return "one draw per batch", "all outputs of a batch are equal, but batches differ: its runs are not independent"
    if single or not np.array_equal(first[:length], later[:length]):
        return None
    _, counts = np.unique(row_keys(first), return_counts=True)
    if length * math.log(float(((counts / len(first)) ** 2).sum())) < math.log(COINCIDENCE):
        return "ignores its generator", "different generators gave the same batch: its runs are not independent"
    return None


def hidden_randomness(runner: SeededRunner, pair: Pair, seed: int) -> Incident | None:
    """Two batches from the same seed: does the subject draw from anything but the generator it is given?"""
    try:
        first, again = (runner.run(pair[0], seed, REPEATED) for _ in range(2))
    except SubjectFailed:
        return None  # the audit will meet it, and say so
    if np.array_equal(first, again):
        return None
    message = "the same generator gave different outputs: runs cannot be repeated from their seed"
    return Incident("hidden randomness", message, pair[0], seed, REPEATED, pair)


def no_randomness(samples: Labelled, pair: Pair) -> Incident | None:
    """Different on the two sides, and always the same on each: nothing was ever drawn."""
    sides = [samples.outputs[samples.labels == side] for side in (-1, 1)]
    if min(map(len, sides)) < 20 or any((side != side[0]).any() for side in sides):
        return None
    if np.array_equal(sides[0][0], sides[1][0]):
        return None
    message = "every run on the same data gave the same output: it adds no noise, or draws it from a seed of its own"
    return Incident("no randomness", message, pair[0], 0, len(samples), pair)


def source(runner: SeededRunner, pairs: list[Pair] | tuple[Pair, ...], seed: int) -> Source:
    return Source(runner, list(pairs), np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1]), seed)
