"""Records for an experiment: from a user's files, or drawn from a law.

A run's records depend on the seed and the run's number alone, so that all methods, and all budgets, see the same ones.
"""

from __future__ import annotations

import gzip
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from tailproof.refimpl.problems import LogLogistic, Lognormal
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.datafile import read_table
from tailproof.verification.experiments import adult

HELD_OUT = 5
"""One record in so many is for testing where no test file is given."""

FRESH = 20_000
"""Test records that are drawn from a law."""


class Data(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> list[dict[str, str]]:
        """The files, with the SHA-256 of what they hold (uncompressed)."""

    def most(self) -> int | None:
        """How many records there are to train on, None for as many as wanted."""

    def draw(self, n: int, d: int, *, seed: int, run: int) -> tuple[FloatArray, FloatArray]:
        """Records to train and to test on, [features | target]."""


@dataclass(frozen=True, eq=False)
class Files:
    name: str
    train: FloatArray
    test: FloatArray
    origin: list[dict[str, str]]
    row_norm: float | None = None  # by the encoding, and then entries lie in [0, 1]

    def most(self) -> int:
        return len(self.train)

    def draw(self, n: int, d: int, *, seed: int, run: int) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        order = np.random.default_rng([seed, run]).permutation(len(self.train))
        return self.train[order[:n]], self.test


@dataclass(frozen=True, eq=False)
class Drawn:
    name: str
    make: Callable[[np.random.Generator, int, int], FloatArray]

    @property
    def origin(self) -> list[dict[str, str]]:
        return []

    def most(self) -> None:
        return None

    def draw(self, n: int, d: int, *, seed: int, run: int) -> tuple[FloatArray, FloatArray]:
        rng = np.random.default_rng([seed, run, d])
        return self.make(rng, n, d), self.make(rng, FRESH, d)


# ------------------------------------------------------------------------------------------------------------------- files


def read_files(train: str, test: str | None, *, features: int | None, seed: int) -> Files:
    """LIBSVM, CSV (the label last) or UCI's Adult; labels must be −1 and 1."""
    encoded = adult.is_adult(train)
    if encoded:
        rows = adult.read_adult(train)
        other = None if test is None else adult.read_adult(test)
    else:
        rows = _labelled(train, features)
        other = None if test is None else _labelled(test, features or rows.shape[1] - 1)
    origin = [{"file": Path(path).name, "sha256": sha256(path)} for path in (train, test) if path is not None]
    if other is None:
        order = np.random.default_rng([seed, len(rows)]).permutation(len(rows))
        cut = len(rows) // HELD_OUT
        if not cut:
            raise InputError(
                f"data = {train!r}: has {len(rows)} records; at least {HELD_OUT} are needed without a test file"
            )
        rows, other = rows[order[cut:]], rows[order[:cut]]
    elif other.shape[1] != rows.shape[1]:
        raise InputError(
            f"test = {test!r}: has {other.shape[1] - 1} features, the training file {rows.shape[1] - 1}; --features fixes both"
        )
    return Files(Path(train).name.removesuffix(".gz"), rows, other, origin, adult.ROW_NORM if encoded else None)


def _labelled(path: str, features: int | None) -> FloatArray:
    libsvm = None if path.endswith((".npy", ".csv", ".csv.gz")) else features
    rows = read_table(path, features=libsvm).rows
    if rows.shape[1] < 2:
        raise InputError(f"data = {path!r}: at least one feature is needed beside the label")
    if not np.isfinite(rows).all():
        raise InputError(
            f"data = {path!r}: record {int(np.argmin(np.isfinite(rows).all(axis=1))) + 1} has a cell without a number"
        )
    if not np.isin(rows[:, -1], (-1.0, 1.0)).all():
        strange = rows[~np.isin(rows[:, -1], (-1.0, 1.0)), -1][0]
        raise InputError(
            f"data = {path!r}: has the label {strange:g}; labels must be -1 and 1, in the last column of a CSV file"
        )
    return rows


def sha256(path: str) -> str:
    content = gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
    return hashlib.sha256(content).hexdigest()


# -------------------------------------------------------------------------------------------------------------------- laws

LOGNORMAL = Lognormal(1.0, 1.0)
LOGLOGISTIC = LogLogistic.of_logarithm(0.2, 0.2)


def target(d: int) -> FloatArray:
    """w*: of norm 1, all entries alike."""
    return np.full(d, 1 / math.sqrt(d))


def linear_model(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    """t = ⟨w*, x⟩ + e, x standard normal, e lognormal(1, 1) as it is: its mean is not 0."""
    x = rng.standard_normal((n, d))
    return np.column_stack([x, x @ target(d) + LOGNORMAL.sample(rng, n)])


def threshold_model(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    """The label is the sign of ⟨w*, x⟩ + e, x standard normal, e loglogistic(0.2, 0.2)."""
    x = rng.standard_normal((n, d))
    return np.column_stack([x, np.where(x @ target(d) + LOGLOGISTIC.sample(rng, n) > 0, 1.0, -1.0)])


def sparse_model(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    """t = ⟨w*, x⟩ + e cut at ±1, x standard normal (a truncation at ±n is never met), w* = (½, −½, 0, …), e uniform on ±½."""
    x = rng.standard_normal((n, d))
    w = np.zeros(d)
    w[:2] = [0.5, -0.5] if d > 1 else 0.5
    return np.column_stack([x, np.clip(x @ w + rng.uniform(-0.5, 0.5, n), -1.0, 1.0)])
