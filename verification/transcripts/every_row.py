"""Each record changed alone, on several data sets: a release that does not name the record keeps its law, and all else holds there.

The run is recorded once per data set and replayed for every record.  Under a claim about added and removed records each record
is removed alone; records at the ends and in the middle are added as well, the run being recorded without them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tailproof.refimpl.channel import ReplayDiverged, Transcript
from tailproof.refimpl.claims import ADD_REMOVE
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.pair_checks import (
    Comparison,
    Measurement,
    compare_or_say_why_not,
    diverged,
    raises_on_data,
)
from tailproof.verification.subject import Pair, Subject


def data_sets(n: int, d: int, rng: np.random.Generator) -> Iterator[tuple[FloatArray, FloatArray]]:
    """(data, what the changed record becomes): heavy tails with an outlier, few different values, all alike."""
    heavy = rng.standard_t(1.5, size=(n, d))
    yield heavy, np.full(d, -1e6)
    tied = rng.integers(-1, 2, size=(n, d)).astype(np.float64)
    yield tied, 7.0 + np.arange(d, dtype=np.float64)
    yield np.full((n, d), 0.3), np.full(d, -0.3)


def chosen_rows(n: int, most: int, recorded: Transcript, rng: np.random.Generator) -> list[int]:
    """All, if they are few; otherwise the first and the last, those at the ends of parts, those in no part, and some at random."""
    if n <= most:
        return list(range(n))
    parts = [np.asarray(release.rows) for release in recorded if release.rows is not None and len(release.rows)]
    ends = {int(end) for rows in parts for end in (rows.min(), rows.max())}
    left_out = np.setdiff1d(np.arange(n), np.concatenate(parts)) if parts else np.array([], dtype=np.int64)
    wanted = [0, n - 1, *left_out[:4].tolist(), *sorted(ends)]
    wanted += rng.permutation(n).tolist()
    return sorted(dict.fromkeys(wanted[:most]))


def removals(pair: Pair) -> tuple[Pair, Pair]:
    """Of two data sets that differ in one record: the first and what both share, which is then what the second adds to.

    What tells the two apart tells one of them from what they share.
    """
    differ = np.flatnonzero((pair[0] != pair[1]).any(axis=1))
    rest = np.delete(pair[0], differ[:1] if len(differ) else [0], axis=0)
    return (pair[0], rest), (rest, pair[1])


def pairs_of_rows(
    subject: Subject, seed: int, *, most: int, sets: int
) -> Iterator[tuple[Pair, int, Comparison | Measurement]]:
    rng = np.random.default_rng(seed)
    n, d = subject.setting.n, subject.setting.d
    removes = subject.claim is not None and subject.claim.neighbouring is ADD_REMOVE
    for index, (raw, replacement) in enumerate(data_sets(n, d, rng)):
        if index >= sets:
            return
        try:
            output, recorded = subject.run(raw, seed + index)
        except Exception as error:
            yield (raw, raw), seed + index, raises_on_data(error)
            continue
        for row in chosen_rows(n, most, recorded, rng):
            neighbour = np.delete(raw, row, axis=0) if removes else np.array(raw)
            if not removes:
                neighbour[row] = replacement
            pair = (subject.setting.admissible(raw), subject.setting.admissible(neighbour))
            try:
                again, there = subject.replay(neighbour, recorded)
            except ReplayDiverged as error:
                yield pair, seed + index, diverged(error)
            except Exception as error:
                yield pair, seed + index, raises_on_data(error)
            else:
                yield pair, seed + index, Comparison(*pair, output, recorded, again, there)
            if removes and row in (0, n // 2, n - 1):
                yield pair[::-1], seed + index, compare_or_say_why_not(subject, pair[::-1], seed + index)
