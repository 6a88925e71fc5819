"""Scores: ways to turn an output into a number that is low for one side and high for the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tailproof.refimpl.validation import FloatArray

TABLE_MULTIPLICITY = 8  # outputs that repeat this often on average are treated as discrete
FEWEST_IN_A_CELL = 25
MOST_CELLS = 128


class Score(Protocol):
    """A number for each output (a row); NaN where the output must not be voted on.  `log_ratio`: 0 is where neither side is
    likelier."""

    @property
    def log_ratio(self) -> bool: ...

    def __call__(self, outputs: FloatArray) -> FloatArray: ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, eq=False)
class Linear:
    """⟨direction, z⟩."""

    direction: FloatArray
    log_ratio: bool = False

    def __call__(self, outputs: FloatArray) -> FloatArray:
        return np.asarray(outputs @ self.direction)

    def __str__(self) -> str:
        used = np.flatnonzero(self.direction)
        if len(used) == 1 and self.direction[used[0]] == 1:
            return "output" if len(self.direction) == 1 else f"output[{used[0]}]"
        return f"projection on {_shown(self.direction)}"


@dataclass(frozen=True, eq=False)
class Distance:
    """‖(z − centre) ⊙ weights‖."""

    centre: FloatArray
    weights: FloatArray
    log_ratio: bool = False

    def __call__(self, outputs: FloatArray) -> FloatArray:
        moved = (outputs - self.centre) * self.weights
        return np.abs(moved[:, 0]) if outputs.shape[1] == 1 else np.sqrt(np.einsum("ij,ij->i", moved, moved))

    def __str__(self) -> str:
        return f"distance from {_shown(self.centre)}"


@dataclass(frozen=True, eq=False)
class Histogram:
    """The estimated log-ratio of the two laws of another score, constant between edges."""

    base: Score
    edges: FloatArray
    values: FloatArray
    log_ratio: bool = True

    def __call__(self, outputs: FloatArray) -> FloatArray:
        return np.asarray(self.values[np.searchsorted(self.edges, self.base(outputs), side="right")])

    def __str__(self) -> str:
        return f"histogram of {self.base} with {len(self.values)} cells"


@dataclass(frozen=True, eq=False)
class Table:
    """The estimated log-ratio of outputs that were seen before, found by their bytes in sorted order."""

    keys: NDArray[Any]
    values: FloatArray
    log_ratio: bool = True

    def __call__(self, outputs: FloatArray) -> FloatArray:
        keys = row_keys(outputs)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.values[place], np.nan)

    def __str__(self) -> str:
        return f"table of {len(self.keys)} outputs"


@dataclass(frozen=True, eq=False)
class Logistic:
    """A logistic model of standardised coordinates and their squares."""

    centre: FloatArray
    spread: FloatArray
    weights: FloatArray
    log_ratio: bool = True

    def __call__(self, outputs: FloatArray) -> FloatArray:
        return _features(outputs, self.centre, self.spread) @ self.weights

    def __str__(self) -> str:
        return "logistic classifier"


def _shown(values: FloatArray) -> str:
    text = ", ".join(f"{v:.4g}" for v in values[:4])
    return f"({text}{', …' if len(values) > 4 else ''})" if len(values) > 1 else text


def row_keys(outputs: FloatArray) -> NDArray[Any]:
    """Rows as values that can be sorted and compared; 0.0 and −0.0 are one."""
    rows = np.ascontiguousarray(outputs + 0.0)
    return rows[:, 0] if rows.shape[1] == 1 else rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]


# --- fitting scores ------------------------------------------------------------------------------------------------------

Fit = Callable[[FloatArray, NDArray[np.int8]], Score | None]


def log_ratio(first: Any, second: Any) -> FloatArray:
    """log(second/first) of counts, drawn towards 0 by half a sample each."""
    return np.asarray(np.log((np.asarray(second) + 0.5) / (np.asarray(first) + 0.5)))


def fit_table(outputs: FloatArray, labels: NDArray[np.int8]) -> Score | None:
    """Of all outputs if they repeat often, else of those that do: they may be rare, and tell a lot."""
    keys, place = np.unique(row_keys(outputs), return_inverse=True)
    second = np.bincount(place[labels > 0], minlength=len(keys))
    first = np.bincount(place, minlength=len(keys)) - second
    if len(keys) * TABLE_MULTIPLICITY > len(outputs):
        often = first + second >= TABLE_MULTIPLICITY
        keys, first, second = keys[often], first[often], second[often]
    return Table(keys, log_ratio(first, second)) if len(keys) else None


def cell_edges(quantiles: FloatArray) -> FloatArray:
    """Edges of cells between quantiles; a value that repeats gets a cell of its own."""
    atoms = quantiles[:-1][quantiles[1:] == quantiles[:-1]]
    return np.unique(np.concatenate([quantiles, np.nextafter(atoms, math.inf)]))


def fit_histogram(base: Score, outputs: FloatArray, labels: NDArray[np.int8]) -> Score | None:
    """Cells of equal pooled mass."""
    cells = min(MOST_CELLS, len(outputs) // FEWEST_IN_A_CELL, max(4, round(2 * len(outputs) ** (1 / 3))))
    if cells < 4:
        return None
    scores = base(outputs)
    quantiles = np.quantile(scores, np.linspace(0, 1, cells + 1)[1:-1], method="lower")
    edges = cell_edges(quantiles)
    place = np.searchsorted(edges, scores, side="right")
    second = np.bincount(place[labels > 0], minlength=len(edges) + 1)
    first = np.bincount(place[labels < 0], minlength=len(edges) + 1)
    return Histogram(base, edges, log_ratio(first, second))


def fit_projection(outputs: FloatArray, labels: NDArray[np.int8]) -> Score | None:
    """The difference of the means, each coordinate in units of its variance (of length 1: thresholds carry over)."""
    variance = outputs.var(axis=0)
    difference = outputs[labels > 0].mean(axis=0) - outputs[labels < 0].mean(axis=0)
    direction = np.divide(difference, variance, out=np.zeros_like(difference), where=variance > 0)
    length = float(np.linalg.norm(direction))
    return Linear(direction / length) if 0 < length < math.inf else None


def _features(outputs: FloatArray, centre: FloatArray, spread: FloatArray) -> FloatArray:
    """1, coordinates in units of their spread and bounded, and their squares."""
    units = np.clip((outputs - centre) / spread, -6, 6)
    return np.hstack([np.ones((len(outputs), 1)), units, units * units])


def fit_logistic(outputs: FloatArray, labels: NDArray[np.int8], *, steps: int = 12) -> Score | None:
    """Newton's method on the penalised likelihood."""
    centre = np.median(outputs, axis=0)
    low, high = np.quantile(outputs, [0.16, 0.84], axis=0)
    spread = np.where(high > low, (high - low) / 2, 1.0)
    features = _features(outputs, centre, spread)
    if features.shape[1] > 200 or features.shape[1] * 5 > len(outputs):
        return None
    weights = np.zeros(features.shape[1])
    target = (labels > 0).astype(np.float64)
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        curvature = chance * (1 - chance)
        hessian = (features * curvature[:, None]).T @ features + np.eye(len(weights))
        move = np.linalg.solve(hessian, features.T @ (target - chance) - weights)
        weights = weights + move
        if float(np.abs(move).max()) < 1e-4:
            break
    return Logistic(centre, spread, weights)
