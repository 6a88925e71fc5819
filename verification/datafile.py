"""Read a user's data file: CSV (with or without a header line) or .npy, as a table of finite numbers with named columns."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from refimpl.validation import FloatArray, InputError


@dataclass(frozen=True, eq=False)
class Table:
    columns: tuple[str, ...]
    rows: FloatArray

    def select(self, names: list[str]) -> FloatArray:
        """The columns of these names (or numbers, from 0), in this order."""
        positions = []
        for name in names:
            if name in self.columns:
                positions.append(self.columns.index(name))
            elif name.isdigit() and int(name) < len(self.columns):
                positions.append(int(name))
            else:
                raise InputError(f"column = {name!r}: must be one of {', '.join(self.columns)}")
        return self.rows[:, positions]


def read_table(path: str) -> Table:
    """A file's table; raises `InputError` that names the file and what is wrong with it."""
    if not Path(path).is_file():
        raise InputError(f"data = {path!r}: there is no such file")
    if path.endswith(".npy"):
        return _from_npy(path)
    return _from_csv(path)


def _from_npy(path: str) -> Table:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, OSError) as error:
        raise InputError(f"data = {path!r}: not a readable .npy file ({error})") from None
    if array.dtype.kind not in "fiu" or array.ndim not in (1, 2):
        raise InputError(f"data = {path!r}: must hold a one- or two-dimensional array of numbers")
    rows = np.asarray(array, dtype=np.float64).reshape(len(array), -1)
    return Table(tuple(str(j) for j in range(rows.shape[1])), rows)


def _from_csv(path: str) -> Table:
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="") as file:
            lines = [line for line in csv.reader(file) if line]
    except (UnicodeDecodeError, OSError, csv.Error) as error:
        raise InputError(f"data = {path!r}: not a readable CSV file ({error})") from None
    if not lines:
        raise InputError(f"data = {path!r}: is empty")
    header = None if all(_is_number(cell) for cell in lines[0]) else lines.pop(0)
    width = len(header if header is not None else lines[0])
    values = np.empty((len(lines), width))
    for row, line in enumerate(lines):
        if len(line) != width:
            raise InputError(f"data = {path!r}: row {row + 1} has {len(line)} cells; must have {width}")
        for column, cell in enumerate(line):
            try:
                values[row, column] = float(cell)
            except ValueError:
                # Kept as NaN: only the columns a user selects must hold numbers.
                values[row, column] = np.nan
    names = header if header is not None else [str(j) for j in range(width)]
    return Table(tuple(name.strip() for name in names), values)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
