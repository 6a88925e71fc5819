"""How far apart two small samples of outputs look: cheap numbers to rank pairs by, not to test with.

Outputs become a few real scores: the distance from the middle, every coordinate, sum, largest entry, the projection on the
difference of the means, and for outputs that repeat the odds of each value.  What is learned on one half of the samples scores the
other half.  Of a score, the best of all thresholds and both directions counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tailproof.refimpl.claims import GDP, ZCDP, Claim
from tailproof.refimpl.validation import FloatArray

COORDINATES = 16
REPEATS = 500  # outputs of each side that are looked at for repetitions
CAUTION = 1.5  # standard errors by which a score is lowered, so that rare events do not win by luck

Scores = tuple[FloatArray, FloatArray]
Score = Callable[[FloatArray], FloatArray]


def looks(first: FloatArray, second: FloatArray, claim: Claim) -> float:
    """A cautious guess of ε (for pure and approximate claims) or of the total variation (for GDP and zCDP)."""
    measure = _accuracy if isinstance(claim, GDP | ZCDP) else _log_ratio
    return max(measure(*scores) for scores in _scores(_columns(first), _columns(second)))


def _columns(outputs: FloatArray) -> FloatArray:
    return outputs[:, np.newaxis] if outputs.ndim == 1 else outputs


def _scores(first: FloatArray, second: FloatArray) -> Iterator[Scores]:
    k = first.shape[1]
    middle = np.median(np.concatenate([first, second]), axis=0)
    yield np.linalg.norm(first - middle, axis=1), np.linalg.norm(second - middle, axis=1)
    shift = np.abs(first.mean(axis=0) - second.mean(axis=0))
    for j in np.argsort(-shift, kind="stable")[:COORDINATES]:
        yield first[:, j], second[:, j]
    if k > 1:
        yield first.sum(axis=1), second.sum(axis=1)
        yield first.max(axis=1), second.max(axis=1)
        yield _crossed(first, second, _projected)
    some = np.concatenate([first[:REPEATS], second[:REPEATS]])
    if len(np.unique(some, axis=0)) <= len(some) // 2:
        yield _crossed(first, second, _odds)


def _crossed(first: FloatArray, second: FloatArray, learn: Callable[[FloatArray, FloatArray], Score]) -> Scores:
    """Halves scored by what the other halves taught."""
    a, b = len(first) // 2, len(second) // 2
    upper, lower = learn(first[a:], second[b:]), learn(first[:a], second[:b])
    return (
        np.concatenate([upper(first[:a]), lower(first[a:])]),
        np.concatenate([upper(second[:b]), lower(second[b:])]),
    )


def _projected(first: FloatArray, second: FloatArray) -> Score:
    spread = first.var(axis=0) + second.var(axis=0)
    difference = first.mean(axis=0) - second.mean(axis=0)
    direction = np.divide(difference, spread, out=np.array(difference), where=spread > 0)
    middle = (first.mean(axis=0) + second.mean(axis=0)) / 2
    scale = float(np.abs(direction).max()) or 1.0
    return lambda outputs: (outputs - middle) @ (direction / scale)


def _odds(first: FloatArray, second: FloatArray) -> Score:
    values, where = np.unique(np.concatenate([first, second]), axis=0, return_inverse=True)
    where = np.ravel(where)
    counts = [np.bincount(part, minlength=len(values)) for part in (where[: len(first)], where[len(first) :])]
    table = {row.tobytes(): float(np.log((p + 0.5) / (q + 0.5))) for row, p, q in zip(values, *counts, strict=True)}
    return lambda outputs: np.array([table.get(row.tobytes(), 0.0) for row in outputs])


def _below(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How many of each are at most t, for every t that occurs."""
    points = np.unique(np.concatenate([first, second]))
    return (
        np.searchsorted(np.sort(first), points, side="right").astype(float),
        np.searchsorted(np.sort(second), points, side="right").astype(float),
    )


def _log_ratio(first: FloatArray, second: FloatArray) -> float:
    """The greatest log ratio of two frequencies of {score ≤ t} or {score > t}, less so many standard errors."""
    n, m = len(first), len(second)
    p, q = _below(first, second)
    p, q = np.concatenate([p, n - p]) + 0.5, np.concatenate([q, m - q]) + 0.5
    ratio = np.abs(np.log(p * m / (q * n)))
    return float((ratio - CAUTION * np.sqrt(1 / p + 1 / q)).max())


def _accuracy(first: FloatArray, second: FloatArray) -> float:
    """The greatest difference of the two frequencies of {score ≤ t}, less so many standard errors."""
    n, m = len(first), len(second)
    p, q = _below(first, second)
    return float(np.abs(p / n - q / m).max() - CAUTION * np.sqrt(0.25 / n + 0.25 / m))
