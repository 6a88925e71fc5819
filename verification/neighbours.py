"""Neighbouring data sets to start from when nothing is known about the subject: structured candidates of every size."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from tailproof.refimpl.means.rows import replace_record
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.subject import Pair

OUTLIER = 1e12


def structured(
    n: int, d: int, rng: np.random.Generator, *, scales: tuple[float, ...] = (1e-2, 1.0, 1e2, 1e6, 1e12), directions: int = 3
) -> Iterator[Pair]:
    """Zero against a point, opposite outliers, duplicates, ties, two blocks with a record changing sides, heavy tails, an
    outlier among duplicates, alternating last entries (targets or labels, where records have them)."""
    for scale, direction in itertools.product(scales, _directions(d, rng)[:directions]):
        point = scale * direction
        zeros = np.zeros((n, d))
        opposite = replace_record(zeros, 0, point)
        yield zeros, opposite
        yield opposite, replace_record(zeros, 0, -point)
        same = np.tile(point, (n, 1))
        yield same, replace_record(same, int(rng.integers(n)), -point)
        cut = int(rng.integers(1, n)) if n > 1 else 1
        blocks = np.where(np.arange(n)[:, np.newaxis] < cut, -point, point)
        row = int(np.clip(cut + rng.integers(-2, 2), 0, n - 1))
        yield blocks, replace_record(blocks, row, -blocks[row])
        halves = np.where(np.arange(n)[:, np.newaxis] < n // 2, -point, point)
        yield halves, replace_record(halves, n // 2 - 1, point)
        heavy = scale * rng.standard_t(1.5, size=(n, d))
        yield heavy, replace_record(heavy, int(rng.integers(n)), scale * rng.standard_t(1.0, size=d))
        yield same, replace_record(same, 0, -OUTLIER * point)
        turned = np.append(point[:-1], -point[-1])
        alternating = np.where(np.arange(n)[:, np.newaxis] % 2 == 0, point, turned)
        yield alternating, replace_record(alternating, 0, turned)


def _directions(d: int, rng: np.random.Generator) -> list[FloatArray]:
    """All ones, one axis, a random one."""
    vector = rng.standard_normal(d)
    return [np.ones(d), np.eye(d)[rng.integers(d)], vector / np.linalg.norm(vector)] if d > 1 else [np.ones(1)]
