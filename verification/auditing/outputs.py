"""What a subject gave: checked numbers, or an incident with the data and the seed that caused it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailproof.refimpl.validation import FloatArray, InputError, whole

KINDS = (
    "raised",  # an exception, or an error that the program replied
    "not finite",
    "wrong type",
    "shape changed",
    "timed out",
    "died",  # the process ended
    "no return",  # the run ended neither by a value nor by an exception
    "protocol",  # the reply is not one
    "ignores its generator",
    "one draw per batch",
    "hidden randomness",
    "no randomness",
)
SHOWN_DATA = 1000  # numbers of a data set that a witness quotes
NOT_FATAL = ("hidden randomness", "no randomness")


@dataclass(frozen=True, eq=False)
class Incident:
    """What went wrong, on which data, with which seed and batch size; `pair` where the data were one side of one."""

    kind: str
    message: str
    data: Any
    seed: int
    size: int
    pair: tuple[Any, Any] | None = None

    @property
    def fatal(self) -> bool:
        """Whether outputs of such a subject cannot be audited; hidden randomness only makes runs hard to repeat, and a subject
        without any may be audited, though there is little to ask."""
        return self.kind not in NOT_FATAL

    def __str__(self) -> str:
        size = f"data of {len(self.data)} record{'' if len(self.data) == 1 else 's'}, " if np.ndim(self.data) else ""
        return f"{self.of('the subject')} ({size}seed {self.seed}, batch of {self.size})"

    def of(self, name: str) -> str:
        """In words: `mine:f raised ValueError: boom (mine.py:2)`."""
        return f"{name} raised {self.message}" if self.kind == "raised" else f"{name}: {self.kind}: {self.message}"

    def to_json(self) -> dict[str, Any]:
        sides = {} if self.pair is None else {"pair": [shown_data(side) for side in self.pair]}
        return {
            "kind": self.kind,
            "message": self.message,
            "data": shown_data(self.data),
            "seed": self.seed,
            "size": self.size,
            "fatal": self.fatal,
            **sides,
        }


def shown_data(data: Any) -> Any:
    """As JSON can quote it: all numbers of small data, else a description."""
    try:
        values = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        return f"a {type(data).__name__}"
    return values.tolist() if values.size <= SHOWN_DATA else f"{' × '.join(map(str, values.shape))} numbers"


class SubjectFailed(Exception):
    """The subject, not the audit, failed; `partial` holds the rows of this batch that came before."""

    def __init__(self, incident: Incident, partial: FloatArray) -> None:
        super().__init__(str(incident))
        self.incident = incident
        self.partial = partial


class BadOutput(Exception):
    """Not an output: (kind, message)."""

    @property
    def kind(self) -> str:
        return str(self.args[0])

    @property
    def message(self) -> str:
        return str(self.args[1])


def _numbers(value: Any, what: str) -> FloatArray:
    """Real numbers, all finite."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        raise BadOutput("shape changed", f"{what} is not an array: its parts differ in shape") from None
    if array.dtype.kind not in "biuf":
        raise BadOutput("wrong type", f"{what} is {_described(value)}; must be a number or an array of numbers")
    array = np.asarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0]
        raise BadOutput("not finite", f"{what} has the entry {array[tuple(where)]} at {tuple(int(i) for i in where)}")
    return array


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return "None" if value is None else f"of type {type(value).__name__}"


def batch_of(value: Any, size: int) -> FloatArray:
    """What a vectorised subject may return: size, or size × k numbers."""
    array = _numbers(value, "the output")
    if array.ndim not in (1, 2) or len(array) != size:
        raise BadOutput("shape changed", f"the output has shape {array.shape}; must be ({size},) or ({size}, k)")
    return array


def row_of(value: Any, run: int) -> FloatArray:
    array = _numbers(value, f"the output of run {run}")
    if array.ndim > 1:
        raise BadOutput("shape changed", f"the output of run {run} has shape {array.shape}; must be a number or a vector")
    return array


@dataclass
class Shape:
    """One run's output always has the shape that the first one had."""

    known: tuple[int, ...] | None = None

    def check(self, shape: tuple[int, ...]) -> None:
        if self.known is None:
            self.known = shape
        if shape != self.known:
            raise BadOutput("shape changed", f"an output has shape {shape}, earlier ones had {self.known}")


def joined(parts: list[FloatArray]) -> FloatArray:
    return np.concatenate(parts) if parts else np.empty(0)


def numeric(data: Any) -> FloatArray:
    """Records for a program, which gets them as numbers."""
    try:
        return np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"data: is a {type(data).__name__}; a program gets an array of numbers") from None


def batch_size(size: int) -> int:
    return whole("size", size, least=1)


def seed_of(rng: np.random.Generator) -> int:
    """Below 2⁵³, for a reader of JSON may hold it as a float."""
    return int(rng.integers(2**53))


@dataclass
class Checked:
    """What all runners do: parts of a batch in, one array out, or `SubjectFailed`.  How many columns the data have is public:
    outputs may have another shape where they have others."""

    shapes: dict[tuple[int, ...], Shape] = field(default_factory=dict)

    def collect(self, parts: Iterator[FloatArray], data: Any, seed: int, size: int) -> FloatArray:
        kept: list[FloatArray] = []
        shape = self.shapes.setdefault(np.shape(data)[1:] if isinstance(data, np.ndarray) else (), Shape())
        try:
            for part in parts:
                shape.check(part.shape[1:])
                kept.append(part)
        except BadOutput as bad:
            raise SubjectFailed(Incident(bad.kind, bad.message, data, seed, size), joined(kept)) from bad
        return joined(kept)
