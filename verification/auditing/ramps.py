"""Ramps: a smooth fit of the log-ratio of two laws along a line, that says which tails tell most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tailproof.refimpl.validation import FloatArray

EVIDENCE = 1.0  # log-likelihood by which a cut-off must fit better


@lru_cache(maxsize=256)
def tail_sizes(count: int) -> NDArray[np.int64]:
    """Sizes of tails to try: every one that is small, then in steps of about 8 %, up to everything."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    sizes = np.geomspace(1, count, 1 + max(1, round(12 * math.log(count))))
    return np.unique(np.round(sizes).astype(np.int64))


@dataclass(frozen=True)
class Ramp:
    """log-ratio = slope·(x − centre), cut off at −floor and ceiling: Gaussian shifts are not cut off, Laplace shifts are."""

    centre: float
    slope: float
    floor: float
    ceiling: float

    def log_ratios(self, x: Any) -> FloatArray:
        return np.asarray(np.clip(self.slope * (x - self.centre), -self.floor, self.ceiling))


def fit_ramp(values: FloatArray, second: NDArray[np.int64]) -> Ramp | None:
    """Maximum likelihood for sorted values, `second` of the first k being of the second side; cells that are thin in the tails.
    Every cut-off must improve the log-likelihood clearly."""
    count = len(values)
    half = tail_sizes(count // 2)
    ends = np.unique(np.concatenate([[0], half, count - half, [count]]))
    sizes, hits = np.diff(ends), np.diff(second[ends])
    low, centre, high = np.quantile(values, [0.25, 0.5, 0.75])
    if not low < high or len(sizes) < 8:
        return None
    spread = float(high - low)
    x = (values[(ends[:-1] + ends[1:] - 1) // 2] - centre) / spread

    steep, flat = _slope(x, sizes, hits, 1.0), _slope(x, sizes, hits, 3.0)
    best, fit = _scored(x, sizes, hits, np.array([0.0, flat]))
    for cuts in (1, 2):
        start = best if len(best) == 3 else np.array([0.0, steep, math.log(abs(steep) + 0.05)])
        found, likelihood = _scored(x, sizes, hits, start if cuts == 1 else np.append(start, start[2]))
        if likelihood > fit + EVIDENCE:
            best, fit = found, likelihood
    if not np.isfinite(best).all() or best[1] == 0:
        return None
    ends_at = [math.exp(best[2]), math.exp(best[-1])] if len(best) > 2 else [math.inf, math.inf]
    return Ramp(float(centre) - spread * float(best[0] / best[1]), float(best[1]) / spread, *ends_at)


def _scored(
    x: FloatArray, sizes: NDArray[np.int64], hits: NDArray[np.int64], start: FloatArray, steps: int = 15
) -> tuple[FloatArray, float]:
    """Fisher's scoring, with halved steps where one does not help: (intercept, slope, log-cut-offs) and its log-likelihood."""

    def parts(p: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        line = p[0] + p[1] * x
        low, high = (-math.exp(p[2]), math.exp(p[-1])) if len(p) > 2 else (-math.inf, math.inf)
        t = np.clip(line, low, high)
        return line, t, float(hits @ t - sizes @ np.logaddexp(0, t) - 0.005 * (p[:2] @ p[:2]))

    p, (line, t, likelihood) = start, parts(start)
    for _ in range(steps):
        inner = line == t
        slopes = [inner, inner * x]
        if len(p) > 2:
            slopes += [np.where(inner, 0.0, t)] if len(p) == 3 else [np.where(line < t, t, 0.0), np.where(line > t, t, 0.0)]
        design = np.array(slopes, dtype=np.float64)
        chance = expit(t)
        score = design @ (hits - sizes * chance)
        score[:2] -= 0.01 * p[:2]
        information = (design * (sizes * chance * (1 - chance))) @ design.T + 0.01 * np.eye(len(p))
        move, before = np.linalg.solve(information, score), likelihood
        for _ in range(6):
            trial = p + move
            trial[2:] = np.clip(trial[2:], -6, 6)
            tried = parts(trial)
            if tried[2] > likelihood:
                p, (line, t, likelihood) = trial, tried
                break
            move = move / 2
        if likelihood < before + 1e-3:
            break
    return p, likelihood


def _slope(x: FloatArray, sizes: NDArray[np.int64], hits: NDArray[np.int64], bound: float) -> float:
    """A first guess: least squares of the side on x within bounds."""
    t = np.clip(x, -bound, bound)
    return float(4 * np.sum(t * (hits - sizes / 2)) / max(1e-9, float(np.sum(sizes * t * t))))
