"""How the cells of a table become the numbers that a model takes.

Every rule is public and looks at one record alone: data sets that differ in one record still do after it, so every claim about the
numbers holds for the cells.  Nothing is estimated (no mean, no range, no list of levels), and no cell is refused: what is missing,
infinite or unheard of has a stated place.  With `strict` such a cell is refused instead, with the record's number.  That refusal
depends on the data: it is itself a release, which no claim covers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tailproof.refimpl.extension.certificate import LARGEST_RECORD
from tailproof.refimpl.validation import FloatArray, InputError, between, real
from tailproof.verification.facts import Numbers

Cells: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Numeric:
    """A number from `low` to `high`, in its own unit; the model sees [−1, 1].

    A number beyond an end counts as that end; with `clip=False`, for heavy tails, it stays where it is.  What is no number is
    `missing`, by default the middle.
    """

    low: float
    high: float
    missing: float | None = None
    unit: str = ""
    clip: bool = True

    def __post_init__(self) -> None:
        low, high = real("low", self.low), real("high", self.high)
        if not low < high:
            raise InputError(f"low = {low!r}, high = {high!r}: low must be below high")
        if not (math.isfinite(high - low) and (high - low) / 2 > 0):
            raise InputError(f"low = {low!r}, high = {high!r}: their distance must be a number that floats have")
        if self.missing is not None:
            between("missing", self.missing, low, high)

    @property
    def width(self) -> int:
        return 1

    @property
    def largest(self) -> float:
        """The longest that the numbers of a cell can be."""
        return 1.0 if self.clip else math.inf

    def features(self, name: str) -> list[str]:
        return [name]

    def encode(self, cells: Cells, *, name: str, strict: bool = False) -> FloatArray:
        numbers = numbers_of(cells)
        if strict:
            _refuse(~np.isfinite(numbers), name, "is no finite number")
            outside = (numbers < self.low) | (numbers > self.high)
            _refuse(outside & self.clip, name, f"is not between {self.low:g} and {self.high:g}")
        middle = self.low / 2 + self.high / 2
        numbers = np.where(np.isnan(numbers), middle if self.missing is None else self.missing, numbers)
        numbers = np.clip(numbers, self.low, self.high) if self.clip else np.clip(numbers, -LARGEST_RECORD, LARGEST_RECORD)
        with np.errstate(over="ignore"):
            scaled = (numbers - middle) / (self.high / 2 - self.low / 2)
        most = 1.0 if self.clip else LARGEST_RECORD
        return np.asarray(np.clip(scaled, -most, most)[:, np.newaxis])

    def decode(self, scaled: FloatArray) -> FloatArray:
        """Back in the column's unit."""
        return np.asarray(self.low / 2 + self.high / 2 + scaled * (self.high / 2 - self.low / 2))


@dataclass(frozen=True)
class Categorical:
    """One of these levels; the model sees one number a level, 1 for the level that a record has and 0 for the others.

    What is none of them, or missing, is the level `missing`, by default none: all zeros.
    """

    levels: tuple[Any, ...]
    missing: Any = None

    def __post_init__(self) -> None:
        levels = (self.levels,) if isinstance(self.levels, str) else tuple(self.levels)
        words = [word_of(level) for level in levels]
        if not words or len(set(words)) < len(words):
            raise InputError(f"levels = {levels!r}: must be one or more, each of them once")
        if self.missing is not None and word_of(self.missing) not in words:
            raise InputError(f"missing = {self.missing!r}: must be one of the levels {', '.join(words)}")
        object.__setattr__(self, "levels", levels)

    @property
    def width(self) -> int:
        return len(self.levels)

    @property
    def largest(self) -> float:
        return 1.0

    def features(self, name: str) -> list[str]:
        return [f"{name}={word_of(level)}" for level in self.levels]

    def encode(self, cells: Cells, *, name: str, strict: bool = False) -> FloatArray:
        places = places_of(cells, self.levels)
        if strict:
            _refuse(places < 0, name, "is none of the levels")
        if self.missing is not None:
            other = places_of(np.array([self.missing], dtype=object), self.levels)[0]
            places = np.where(places < 0, other, places)
        return np.asarray(places[:, np.newaxis] == np.arange(self.width), dtype=np.float64)


Column: TypeAlias = Numeric | Categorical


@dataclass(frozen=True)
class AsItIs:
    """An undeclared column: numbers as they are, of size 10⁶⁰ at most; what is no number is 0."""

    @property
    def width(self) -> int:
        return 1

    @property
    def largest(self) -> float:
        return math.inf

    def features(self, name: str) -> list[str]:
        return [name]

    def encode(self, cells: Cells, *, name: str, strict: bool = False) -> FloatArray:
        numbers = numbers_of(cells)
        if strict:
            _refuse(~(np.abs(numbers) <= LARGEST_RECORD), name, "is no number of a size that is allowed")
        return np.asarray(np.clip(np.nan_to_num(numbers, nan=0.0), -LARGEST_RECORD, LARGEST_RECORD)[:, np.newaxis])


@dataclass(frozen=True)
class Columns:
    """The columns of a table in order, by name."""

    names: tuple[str, ...]
    kinds: tuple[Column | AsItIs, ...]

    @classmethod
    def of(cls, declared: Mapping[str, Column] | Sequence[Column] | None, names: Sequence[str]) -> Columns:
        """What is declared for a table with these names: by name, one for one in order, or nothing."""
        if declared is None:
            return cls(tuple(names), (AsItIs(),) * len(names))
        if isinstance(declared, Mapping):
            if set(declared) != set(names):
                odd = sorted(str(name) for name in set(declared) ^ set(names))
                raise InputError(f"columns: must name the columns of X, each once; {odd[0]!r} is on one side only")
            declared = [declared[name] for name in names]
        if len(declared) != len(names):
            raise InputError(f"columns: has {len(declared)} entries; X has {len(names)} columns")
        for name, kind in zip(names, declared, strict=True):
            if not isinstance(kind, Numeric | Categorical):
                raise InputError(f"columns: {name!r} is {kind!r}; must be Numeric or Categorical")
        return cls(tuple(names), tuple(declared))

    @property
    def features(self) -> list[str]:
        return [text for name, kind in zip(self.names, self.kinds, strict=True) for text in kind.features(name)]

    @property
    def norm_upper(self) -> float:
        """The longest that the numbers of a record can be; infinite where a column has no bound."""
        return math.sqrt(sum(kind.largest**2 for kind in self.kinds))

    def encode(self, cells: Sequence[Cells], *, strict: bool = False) -> FloatArray:
        """The numbers of every record: `cells` has one entry a column."""
        named = zip(self.names, self.kinds, cells, strict=True)
        return np.hstack([kind.encode(column, name=name, strict=strict) for name, kind, column in named])

    def to_json(self) -> Numbers:
        return {name: column_to_json(kind) for name, kind in zip(self.names, self.kinds, strict=True)}


# ------------------------------------------------------------------------------------------------------------------- cells


def numbers_of(cells: Cells) -> FloatArray:
    """What is no number is NaN."""
    array = np.asarray(cells)
    if array.dtype.kind in "biuf":
        return np.asarray(array, dtype=np.float64)
    return np.array([_number(cell) for cell in array.tolist()], dtype=np.float64)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def word_of(cell: Any) -> str:
    """A level as a word: 1, 1.0, True and "1" are the same one."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, str):
        text = cell.strip()
        try:
            cell = float(text)
        except ValueError:
            return text
    if isinstance(cell, float) and not cell.is_integer():
        return repr(cell)
    return str(int(cell)) if isinstance(cell, int | float) else str(cell)


def places_of(cells: Cells, levels: Sequence[Any]) -> NDArray[np.int64]:
    """The place of every cell among the levels; −1 for what is none of them."""
    places = {word_of(level): place for place, level in enumerate(levels)}
    array = np.asarray(cells)
    if array.dtype.kind in "biuf":  # every number once
        found, which = np.unique(array, return_inverse=True)
        at = [places.get(word_of(value), -1) for value in found.tolist()]
        return np.array(at, dtype=np.int64)[which.reshape(-1)]
    return np.array([_place(cell, places) for cell in array.tolist()], dtype=np.int64)


def _place(cell: Any, places: Mapping[str, int]) -> int:
    try:
        return places.get(word_of(cell), -1) if isinstance(cell, str | int | float) else -1
    except ValueError:  # a whole number of thousands of digits
        return -1


def _refuse(wrong: NDArray[np.bool_], name: str, why: str) -> None:
    if wrong.any():
        raise InputError(f"data: record {int(np.argmax(wrong)) + 1} {why} in column {name!r}; strict refuses it")


# -------------------------------------------------------------------------------------------------------------------- JSON


def column_to_json(column: Column | AsItIs) -> Numbers:
    match column:
        case Numeric():
            return {"kind": "numeric", **asdict(column)}
        case Categorical():
            return {"kind": "categorical", "levels": list(column.levels), "missing": column.missing}
        case AsItIs():
            return {"kind": "as it is"}


def column_from_json(name: str, value: Any) -> Column:
    kinds = {"numeric": Numeric, "categorical": Categorical}
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind not in kinds:
        raise InputError(f"column {name!r}: must be an object with kind = numeric or categorical")
    try:
        made: Column = kinds[kind](**{key: item for key, item in value.items() if key != "kind"})
    except TypeError:
        takes = {"numeric": "low, high, missing, unit, clip", "categorical": "levels, missing"}[kind]
        raise InputError(f"column {name!r}: a {kind} column takes {takes}") from None
    except InputError as error:
        raise InputError(f"column {name!r}: {error}") from None
    return made


def read_columns(path: str) -> dict[str, Column]:
    """The declarations of a JSON file: name to {"kind": "numeric", "low": …, "high": …} or {"kind": "categorical", …}."""
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"describe = {path!r}: not a readable JSON file ({error})") from None
    if not isinstance(value, dict) or not value:
        raise InputError(f"describe = {path!r}: must be an object that names columns")
    return {name: column_from_json(name, column) for name, column in value.items()}
