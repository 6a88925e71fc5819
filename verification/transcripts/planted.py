"""Pairs around the numbers that a mechanism knows, and along chains of neighbours, screened by how far the laws move.

A threshold has its number somewhere: in the code, a default, a closure, a table.  Each number is put into one record and into
all of them, so that a mean, a median or a norm equals it, too.  A step that no number marks lies between data on either side
of it: every chain of neighbours from the one to the other crosses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tailproof.refimpl.identity import parts_of, same_returned
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.pair_checks import Comparison, Measurement
from tailproof.verification.subject import Pair
from tailproof.verification.transcripts.own_code import codes_in, functions_of, reached

MOST_NUMBERS = 32
MOST_ROWS = 8
LONGEST = 40  # steps of a chain that are all looked at
KEPT = 24
Compare = Callable[[Pair], Comparison | Measurement]
ORDINARY = (0.0, 1.0, -1.0, 2.0, 0.5)


def numbers_of(mechanism: Any) -> list[float]:
    """Those in the code, also in texts, and in what it reaches; the unusual ones first."""
    found: dict[float, None] = {}
    for function in functions_of(mechanism):
        for code in codes_in(function.__code__):
            _take(code.co_consts, found, 0)
        _take(reached(function), found, 0)
    _take(mechanism, found, 0)
    return sorted(found, key=lambda number: (number in ORDINARY, number == round(number)))


def _take(value: Any, found: dict[float, None], depth: int) -> None:
    if isinstance(value, bool) or depth > 5 or len(found) > 500:
        return
    if isinstance(value, int | float | np.integer | np.floating):
        if abs(float(value)) < 1e300:
            found.setdefault(float(value))
    elif isinstance(value, str) and len(value) < 30:
        try:
            _take(float(value), found, depth + 1)
        except ValueError:
            return
    elif isinstance(value, np.ndarray):
        _take(value.ravel()[:64].tolist(), found, depth + 1)
    elif isinstance(value, dict):
        _take([*list(value)[:64], *list(value.values())[:64]], found, depth + 1)
    elif isinstance(value, tuple | list | set | frozenset):
        for one in list(value)[:64]:
            _take(one, found, depth + 1)
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        _take(list(vars(value).values()), found, depth + 1)


def candidates(
    shape: tuple[int, int],
    numbers: Sequence[float],
    admissible: Callable[[FloatArray], FloatArray],
    compare: Compare,
    rng: np.random.Generator,
) -> Iterator[Pair]:
    n, _ = shape
    ordinary = admissible(0.5 + 0.17 * rng.standard_normal(shape))
    low, high = admissible(np.full(shape, -100.0)), admissible(np.full(shape, 100.0))
    zeros, mixed = admissible(np.zeros(shape)), admissible(rng.standard_normal(shape))
    for first, second in ((low, high), (zeros, high), (low, ordinary), (ordinary, high), (ordinary, mixed)):
        yield from chain(first, second)
    yield from chain(ordinary, ordinary[rng.permutation(n)])
    wanted = [one for one in numbers if np.array_equal(admissible(np.full(shape, one)), np.full(shape, one))]
    between = [(a + b) / 2 for a, b in pairwise(sorted(wanted[:MOST_NUMBERS]))]
    rows = list(range(n)) if n <= MOST_ROWS else [*range(5), n // 2, n - 2, n - 1]
    for number in [*wanted[:MOST_NUMBERS], *between[:MOST_NUMBERS]]:
        for row in rows:
            yield ordinary, _with(ordinary, row, number)
    for number in [*numbers[:MOST_NUMBERS], *between[:MOST_NUMBERS]]:
        for level in (number, number / n, number / math.sqrt(n)):
            flat = admissible(np.full(shape, level))
            yield flat, _with(flat, 0, low[0])
            yield flat, _with(flat, n - 1, high[0])
        flat = admissible(np.full(shape, number))
        yield from steepest(flat, ordinary, compare)
    for one, another in pairwise(wanted[:MOST_NUMBERS]):
        for row in rows[1:]:
            both = _with(ordinary, rows[0], one)
            yield both, _with(both, row, another)


def _with(data: FloatArray, row: int, record: Any) -> FloatArray:
    changed = data.copy()
    changed[row] = record
    return changed


def chain(first: FloatArray, second: FloatArray) -> Iterator[Pair]:
    """From the one to the other, a record at a time; of a long chain steps here and there."""
    rows = [row for row in range(len(first)) if not np.array_equal(first[row], second[row])]
    steps = range(len(rows)) if len(rows) <= LONGEST else sorted({int(k) for k in np.linspace(0, len(rows) - 1, LONGEST)})
    for step in steps:
        before = first.copy()
        before[rows[:step]] = second[rows[:step]]
        yield before, _with(before, rows[step], second[rows[step]])


def steepest(first: FloatArray, second: FloatArray, compare: Compare) -> Iterator[Pair]:
    """The step on the way from the one to the other on which most moves, by halves."""
    while (different := np.flatnonzero((first != second).any(axis=1))).size > 1:
        middle = first.copy()
        middle[different[: different.size // 2]] = second[different[: different.size // 2]]
        if moved(compare((first, middle))) >= moved(compare((middle, second))):
            second = middle
        else:
            first = middle
    yield first, second


def screened(pairs: Iterable[Pair], compare: Compare, most: int = KEPT) -> list[tuple[Pair, Comparison | Measurement]]:
    """Those on which most moves: what raises or diverges, what is returned, laws by their own scale."""
    found: list[tuple[float, int, Pair, Comparison | Measurement]] = []
    for pair in pairs:
        if np.array_equal(*pair):
            continue
        compared = compare(pair)
        found.append((moved(compared), len(found), pair, compared))
    found.sort(key=lambda one: (-one[0], one[1]))
    return [(pair, compared) for _, _, pair, compared in found[:most]]


def moved(compared: Comparison | Measurement) -> float:
    if isinstance(compared, Measurement) or not same_returned(compared.output, compared.again):
        return math.inf
    return max((_distance(a.law, b.law) for a, b in compared.releases), default=0.0)


def _distance(first: Any, second: Any) -> float:
    """The largest move of a parameter, as a multiple of the scale if there is one."""
    ours, theirs = parts_of(first), parts_of(second)
    scale = np.abs(np.asarray(ours.get("scale", 1.0), dtype=np.float64))
    moved = 0.0
    for name, mine in ours.items():
        try:
            a, b = np.asarray(mine, dtype=np.float64), np.asarray(theirs[name], dtype=np.float64)
        except (TypeError, ValueError):
            continue
        with np.errstate(all="ignore"):
            away = np.abs(a - b) / (scale if name != "scale" else np.minimum(a, b) / 100)
        away = away[~np.isnan(away)]
        moved = max(moved, float(away.max()) if away.size else 0.0)
    return moved
