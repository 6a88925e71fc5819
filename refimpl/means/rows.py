"""Record-wise operations shared by the mean estimators: clipping to a ball, zeroing beyond a bound.  No copy of data."""

from __future__ import annotations

import numpy as np

from tailproof.refimpl.validation import FloatArray

_BLOCK = 1 << 17  # entries handled at a time by the operations that need temporaries: new memory costs more than the work


def clip_weights(data: FloatArray, clip: float) -> FloatArray:
    """min(1, C/‖x_i‖): what projecting onto the ball of radius C multiplies each record by."""
    with np.errstate(over="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->i", data, data))
    weights = clip / np.maximum(norms, clip)
    overflowed = np.isinf(norms)
    if overflowed.any():
        rows = data[overflowed]
        largest = np.abs(rows).max(axis=1)
        weights[overflowed] = clip / largest / np.linalg.norm(rows / largest[:, np.newaxis], axis=1)
    return np.asarray(weights)


def clipped_mean_of(data: FloatArray, clip: float) -> FloatArray:
    """The mean of the records projected onto the ball of radius C.  Two passes over the data, no copy of it."""
    return np.asarray(clip_weights(data, clip) @ data / len(data))


def blocks(data: FloatArray) -> list[slice]:
    """Consecutive rows, few enough at a time for temporaries of their size to be reused."""
    step = max(1, _BLOCK // data.shape[1])
    return [slice(start, start + step) for start in range(0, len(data), step)]


def truncated_sum(data: FloatArray, bound: float) -> FloatArray:
    """Σ_i x_ij·1{|x_ij| ≤ B}, coordinate by coordinate."""
    total = np.zeros(data.shape[1])
    for rows in blocks(data):
        total += column_sums(_truncated(data[rows], bound))
    return total


def column_sums(rows: FloatArray) -> FloatArray:
    """Of rows one after the other in memory a matrix product is the fastest sum."""
    return np.asarray(np.ones(len(rows)) @ rows)


def _truncated(rows: FloatArray, bound: float) -> FloatArray:
    """In a third of the time of np.where; entries are finite, so 0·x is 0."""
    return np.asarray(rows * (np.abs(rows) <= bound))


def truncated_mean_of(data: FloatArray, bound: float) -> FloatArray:
    """The mean of the records with every entry beyond ±B replaced by 0."""
    return truncated_sum(data, bound) / len(data)


def truncated_group_means(data: FloatArray, starts: list[int], bound: float) -> FloatArray:
    """The truncated mean of each group of consecutive records, one per row; `starts` are the groups' first records."""
    sizes = np.diff([*starts, len(data)])
    return np.asarray(np.add.reduceat(_truncated(data, bound), starts, axis=0) / sizes[:, np.newaxis])


def replace_record(data: FloatArray, row: int, record: FloatArray | float) -> FloatArray:
    """A copy with one record replaced: a neighbour."""
    neighbour = np.array(data)
    neighbour[row] = record
    return neighbour
