"""Read a user's data file as a table of numbers with named columns: CSV (with or without a header line), .npy or LIBSVM.

CSV and LIBSVM may be compressed with gzip.  LIBSVM is told by its suffix (.libsvm, .svm, .t) or by the look of its first lines.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from tailproof._nearest import did_you_mean
from tailproof.refimpl.validation import FloatArray, InputError, whole

LARGEST_TABLE = 4 * 10**9  # bytes of a LIBSVM file's dense form


@dataclass(frozen=True, eq=False)
class Table:
    columns: tuple[str, ...]
    rows: FloatArray
    label: str | None = None  # the column that is a label by the file's format
    words: str | None = None  # the CSV file, whose cells need not be numbers: see `read_words`

    def position(self, name: str) -> int:
        """Of the column of this name; or of this number, from 0, where names are not numbers themselves."""
        if self.columns.count(name) > 1:
            raise InputError(f"column = {name!r}: stands for {self.columns.count(name)} columns; names must be unique")
        if name in self.columns:
            return self.columns.index(name)
        numbered = not any(column.isdigit() for column in self.columns)
        if numbered and name.isdigit() and int(name) < len(self.columns):
            return int(name)
        raise InputError(f"column = {name!r}: must be one of {_listed(self.columns)}{did_you_mean(name, self.columns)}")

    def select(self, names: list[str]) -> FloatArray:
        """The columns of these names (or numbers), in this order."""
        return self.rows[:, [self.position(name) for name in names]]


def read_table(path: str, *, features: int | None = None) -> Table:
    """A file's table; raises `InputError` that names the file and what is wrong with it.

    `features` is the number of features of a LIBSVM file; without it the largest index counts, which is then public.
    """
    if not Path(path).is_file():
        raise InputError(f"data = {path!r}: there is no such file")
    if not path.endswith(".npy") and _is_libsvm(path):
        return _from_libsvm(path, None if features is None else whole("features", features, least=1))
    if features is not None:
        raise InputError(f"features = {features}: is for LIBSVM files only; columns choose those of other files")
    return _from_npy(path) if path.endswith(".npy") else _from_csv(path)


def read_words(path: str, position: int) -> list[str]:
    """A column of a CSV file as it is written: labels may be words."""
    with open_text(path, "CSV") as file:
        lines = (line for line in csv.reader(file) if line)
        first = next(lines)
        words = [] if _is_header(first) else [first[position].strip()]
        return words + [line[position].strip() for line in lines]


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names if len(names) <= 20 else (*names[:10], "…", *names[-3:]))


@contextmanager
def open_text(path: str, kind: str) -> Iterator[TextIO]:
    try:
        if path.endswith(".gz"):
            with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as packed:
                yield packed
        else:
            with open(path, encoding="utf-8-sig", newline="") as file:
                yield file
    except (UnicodeDecodeError, OSError, EOFError, zlib.error, csv.Error) as error:
        raise InputError(f"data = {path!r}: not a readable {kind} file ({error})") from None


# ------------------------------------------------------------------------------------------------------------------- .npy


def _from_npy(path: str) -> Table:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"data = {path!r}: not a readable .npy file ({error})") from None
    if array.dtype.kind not in "fiu" or array.ndim not in (1, 2):
        raise InputError(f"data = {path!r}: must hold a one- or two-dimensional array of numbers")
    if not array.size:
        raise InputError(f"data = {path!r}: is empty")
    rows = np.asarray(array, dtype=np.float64).reshape(len(array), -1)
    return Table(tuple(str(j) for j in range(rows.shape[1])), rows)


# -------------------------------------------------------------------------------------------------------------------- CSV


def _from_csv(path: str) -> Table:
    names: list[str] = []
    values = array("d")
    with open_text(path, "CSV") as file:
        reader = csv.reader(file)
        for line in reader:
            if not line:
                continue
            if not names:
                header = _is_header(line)
                names = [cell.strip() for cell in line] if header else [str(j) for j in range(len(line))]
                if header:
                    continue
            if len(line) != len(names):
                raise InputError(f"data = {path!r}: line {reader.line_num} has {len(line)} cells; must have {len(names)}")
            values.extend(_numbers(line))
    if not values:
        raise InputError(f"data = {path!r}: is empty")
    return Table(tuple(names), np.frombuffer(values).reshape(-1, len(names)), words=path)


def _numbers(cells: list[str]) -> list[float]:
    """Other cells as NaN: only the columns a user selects must hold numbers."""
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return [float(cell) if _is_number(cell) else np.nan for cell in cells]


def _is_header(cells: list[str]) -> bool:
    return not all(_is_number(cell) for cell in cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# ----------------------------------------------------------------------------------------------------------------- LIBSVM

_RECORD = re.compile(r"[^\s:_]+(?:\s+[0-9]+:[^\s:_]+)*")  # float() would take 1_000 for a number
_FEATURE = re.compile(r"[0-9]+:[^\s:_]+")


def _is_libsvm(path: str) -> bool:
    name = path.removesuffix(".gz")
    if name.endswith((".libsvm", ".svm", ".t")):
        return True
    with open_text(path, "data") as file:
        for line in file:
            tokens = line.partition("#")[0].split()
            if len(tokens) == 1 and _is_number(tokens[0]):
                continue  # a record without features, or one number of a CSV file
            if tokens:
                return len(tokens) > 1 and _is_feature(tokens[1])
    return False


def _is_feature(token: str) -> bool:
    return _FEATURE.fullmatch(token) is not None and _is_number(token.partition(":")[2])


def _from_libsvm(path: str, features: int | None) -> Table:
    """Columns "1" to "d" and "label"; features that a line leaves out are 0."""
    labels, pairs, counts, places = array("d"), array("d"), array("q"), array("q")
    with open_text(path, "LIBSVM") as file:
        for place, line in enumerate(file, start=1):
            record = line.partition("#")[0].strip()
            if not record:
                continue
            try:
                if not _RECORD.fullmatch(record):
                    raise ValueError
                label, *numbers = map(float, record.replace(":", " ").split())
            except ValueError:
                raise InputError(f"data = {path!r}: line {place}: {_fault(record)}") from None
            labels.append(label)
            pairs.extend(numbers)
            counts.append(len(numbers) // 2)
            places.append(place)
    if not labels:
        raise InputError(f"data = {path!r}: is empty")
    indices, values = np.frombuffer(pairs).reshape(-1, 2).T
    owners = np.repeat(np.arange(len(labels)), np.frombuffer(counts, dtype=np.int64))
    largest = indices.max(initial=0)

    def refuse(bad: NDArray[np.bool_], why: str) -> None:
        if bad.any():
            first = int(np.argmax(bad))
            raise InputError(f"data = {path!r}: line {places[owners[first]]}: index {indices[first]:.0f} {why}")

    refuse(indices < 1, "must be at least 1")
    refuse(np.append(False, (np.diff(indices) <= 0) & (np.diff(owners) == 0)), "must be larger than the one before it")
    if features is not None:
        refuse(indices > features, f"must be at most features = {features}")
    width = largest if features is None else features
    if not width:
        raise InputError(f"data = {path!r}: has no features")
    if (size := 8 * len(labels) * (width + 1)) > LARGEST_TABLE:
        raise InputError(
            f"data = {path!r}: {len(labels)} records of {width:.0f} features need {size / 1e9:.3g} GB as a dense table; "
            f"at most {LARGEST_TABLE / 1e9:g} GB is allowed"
        )
    rows = np.zeros((len(labels), int(width) + 1))
    rows[owners, indices.astype(np.int64) - 1] = values
    rows[:, -1] = labels
    return Table((*(str(j + 1) for j in range(int(width))), "label"), rows, label="label")


def _fault(record: str) -> str:
    """What is wrong with a line that cannot be read."""
    label, *rest = record.split()
    if "_" in label or not _is_number(label):
        return f"the label {label!r} must be a number"
    for token in rest:
        if token.startswith("qid:"):
            return f"{token!r}: files with query groups (qid) are for ranking, which is not supported"
        if not _is_feature(token):
            break
    return f"{token!r} must read INDEX:VALUE, a whole number and a number"
