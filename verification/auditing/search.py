"""A search for neighbours on which a subject looks worst, told nothing but the data that are admissible.

Structured candidates first: zero, the bounds, outliers of growing size where there are none, duplicates, sign flips, single
columns, half of the columns up and half down, beside other records that are equal, split, sorted, sparse or drawn by the user's
sampler.
Then rounds of equal cost: the better ones, and random changes of the best, on more and fresh runs each.  The runs rank pairs, and
what was seen helps to learn how to tell the sides; they are never part of a test: an audit of the pairs found draws its own, so
that the search costs runs and no confidence.  A search goes on from where an earlier one ended.

Where the subject releases everything through a `Channel`, a run on one side and its replay on the other give the privacy loss
itself, and pairs are ranked by that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tailproof.refimpl.claims import REPLACE_ONE, ApproxDP, Claim, PureDP
from tailproof.refimpl.validation import FloatArray, InputError, whole
from tailproof.verification.auditing.admissible import Admissible, Pair
from tailproof.verification.auditing.outputs import Incident, SubjectFailed
from tailproof.verification.auditing.runner import Replays, Runner, collect
from tailproof.verification.auditing.runs import Labelled, of_sides
from tailproof.verification.auditing.surrogates import looks

OUTLIERS = (1e2, 1.0, 1e4, 1e1, 1e6)  # the likely worst first: beyond every clip, and of the size of ordinary data
ROUNDS = 4
LEAST, LARGE = (
    20,
    1600,
)  # runs on each side of a pair, below which too little is seen: twice as many in searches of this size
SHRINK = 4
FINALISTS = 4
TRANSCRIPTS = 10  # on each side of a pair, where they can be replayed
WIDE, ENOUGH = 24, 50  # so many candidates are kept up as long as so many runs on each side can be had for each


@dataclass(frozen=True, eq=False)
class Candidate:
    """The other records, the record that changes (`before`), what it becomes (`after`; under add-remove it goes), its place."""

    others: FloatArray
    before: FloatArray
    after: FloatArray | None
    place: int = 0
    space: Admissible | None = None

    @property
    def pair(self) -> Pair:
        first = np.insert(self.others, self.place, self.before, axis=0)
        return first, self.others if self.after is None else np.insert(self.others, self.place, self.after, axis=0)

    @property
    def key(self) -> bytes:
        return b"|".join(side.tobytes() for side in self.pair)


@dataclass(frozen=True, eq=False)
class Promise:
    """How bad a pair looks, on how many runs of each side that is based, and what was seen."""

    pair: Pair
    looks: float
    runs: int
    seen: Labelled | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """Pairs, the most promising first; how many runs of the subject were spent; what went wrong on the way; for a search that goes
    on, all candidates that were looked at, the better ones first."""

    promises: tuple[Promise, ...]
    runs: int
    incidents: tuple[Incident, ...] = ()
    candidates: tuple[Candidate, ...] = ()

    @property
    def pairs(self) -> tuple[Pair, ...]:
        return tuple(promise.pair for promise in self.promises)


# --- structured candidates --------------------------------------------------------------------------------------------


def _levels(space: Admissible) -> list[tuple[float, float]]:
    """Values that records go between: the bounds, or growing sizes where there is none."""
    if math.isfinite(space.low) and math.isfinite(space.high):
        return [(space.low, space.high)] + ([(0.0, space.high)] if space.low < 0 < space.high else [])
    if math.isfinite(space.low):
        return [(space.low, space.low + size) for size in OUTLIERS]
    if math.isfinite(space.high):
        return [(space.high - size, space.high) for size in OUTLIERS]
    return [(sign * size, size) for size in OUTLIERS for sign in (0.0, -1.0)]


def _moves(columns: int, low: float, high: float) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A record and its replacement, the likely worst first: all up, some columns up and the others down, one alone."""
    down = np.full(columns, low)
    yield down, down + (high - low)
    if columns == 1:
        return
    sizes = [columns // 2, (3 * columns) // 8, columns // 4, 1, (3 * columns) // 4, columns - 1]
    for size in dict.fromkeys(max(1, size) for size in sizes):
        first = np.where(np.arange(columns) < size, high, low)
        yield first, low + high - first
    single = np.where(np.arange(columns) == 0, high, low)
    yield down, single
    yield low + high - single, low + high - down
    alternating = np.where(np.arange(columns) % 2 == 0, high, low)
    yield alternating, low + high - alternating


def _others(space: Admissible, low: float, high: float, rng: np.random.Generator) -> Iterator[FloatArray]:
    """The records beside it: drawn, equal, split between the two values, sorted, sparse, halves of columns."""
    n, k = space.records - 1, space.columns
    middle = min(max(0.0, space.low), space.high)
    rows = np.arange(n)[:, np.newaxis]
    if space.sampler is not None:
        drawn = np.asarray(space.sampler(rng), dtype=np.float64)
        if drawn.shape != (space.records, k) or not space.contains(drawn):
            raise InputError(
                f"sampler: gave an array of shape {drawn.shape}; must give {space.records} × {k} admissible numbers"
            )
        yield drawn[1:]
    yield np.full((n, k), low)
    yield np.where(rows < (n + 1) // 2, high, low) + np.zeros((n, k))
    yield np.full((n, k), high)
    yield np.full((n, k), middle)
    yield np.where(np.arange(k) < k // 2, high, low) + np.zeros((n, k))
    yield np.where(np.arange(k) == rows % k, high, low) + np.zeros((n, k))
    yield low + (high - low) * (rows + 0.5) / max(n, 1) + np.zeros((n, k))


def structured(space: Admissible, rng: np.random.Generator) -> list[Candidate]:
    """Without repetitions; the first ones already have all kinds of moves and of other records, at both ends of the data."""
    found: dict[bytes, Candidate] = {}
    grids = []
    for low, high in _levels(space):
        moves, others = list(_moves(space.columns, low, high)), list(_others(space, low, high, rng))
        pairs = sorted(itertools.product(range(len(moves)), range(len(others))), key=lambda ij: (ij[0] + ij[1], ij[0]))
        grids.append([(moves[i], others[j], (space.records - 1) * ((i + j) % 2)) for i, j in pairs])
    for turn in itertools.zip_longest(*grids):
        for chosen in filter(None, turn):
            (before, after), others, place = chosen
            if space.neighbouring is REPLACE_ONE:
                new = [Candidate(others, before, after, place, space)]
            else:
                new = [Candidate(others, one, None, place, space) for one in (before, after)]
            for candidate in new:
                found.setdefault(candidate.key, candidate)
    return list(found.values())


# --- random changes ---------------------------------------------------------------------------------------------------


def changed(candidate: Candidate, space: Admissible, rng: np.random.Generator) -> Candidate:
    """One random change of the record, its replacement, their place, or the others; admissible again."""
    others, before, after = candidate.others.copy(), candidate.before.copy(), candidate.after
    after, place, n = None if after is None else after.copy(), candidate.place, len(candidate.others)
    low, high = _levels(space)[int(rng.integers(len(_levels(space))))]
    kind = int(rng.integers(7))
    column = int(rng.integers(space.columns))
    if kind == 0:  # one column of the record turns, and of its replacement
        before[column] = high if before[column] < (low + high) / 2 else low
        if after is not None and rng.random() < 0.5:
            after[column] = low + high - before[column]
    elif kind == 1 and after is not None:
        after[column] = high if after[column] < (low + high) / 2 else low
    elif kind == 2 and n:  # some of the others become the record, or one of the two values
        rows = slice(int(rng.integers(n)), None) if rng.random() < 0.5 else rng.random(n) < 0.3
        others[rows] = before if rng.random() < 0.3 else (low if rng.random() < 0.5 else high)
    elif kind == 3 and n:  # some columns of the others
        others[:, column:] = low if rng.random() < 0.5 else high
    elif kind == 4:  # larger or smaller, opposite
        factor = float(rng.choice([-1.0, 0.1, 10.0, 0.5]))
        before, after = (before, after * factor) if after is not None and rng.random() < 0.5 else (before * factor, after)
    elif kind == 5:
        place = int(rng.integers(n + 1))
    else:  # jiggled
        size = high - low
        others = others + 0.2 * size * rng.standard_normal(others.shape) * (rng.random(others.shape) < 0.3)
        before = before + 0.2 * size * rng.standard_normal(before.shape) * (rng.random(before.shape) < 0.3)
    return Candidate(
        np.clip(others, space.low, space.high),
        np.clip(before, space.low, space.high),
        None if after is None else np.clip(after, space.low, space.high),
        place,
        space,
    )


# --- the search -------------------------------------------------------------------------------------------------------


Spaces = Admissible | Sequence[Admissible]


def search_neighbours(
    runner: Runner,
    space: Spaces,
    claim: Claim,
    *,
    budget: int,
    seed: int,
    keep: int = FINALISTS,
    earlier: Found | None = None,
    heard: Callable[[int, int], None] | None = None,
) -> Found:
    """At most `budget` runs, both sides together, in rounds of equal cost; pairs on which the subject fails are left out.
    `heard`, where it is given, is told the number of pairs tried and of runs after each."""
    budget, keep = whole("budget", budget, least=2 * LEAST), whole("keep", keep, least=1)
    spaces = _checked_spaces(space, claim)
    rng = np.random.default_rng(seed)
    least = LEAST if budget < LARGE else 2 * LEAST
    rounds = max(1, min(ROUNDS, budget // (8 * least)))
    share = budget // rounds
    pool, seen = _first_pool(spaces, share // (2 * least), earlier, rng)
    ranking: list[tuple[Candidate, Promise]] = []
    spent, incidents = 0, []
    tried: set[int] = set()
    for turn in range(rounds):
        per_side = share // (2 * len(pool))
        judged = []
        for candidate in pool:
            promise, runs, incident = _looked_at(runner, candidate.pair, claim, per_side, rng)
            spent += runs
            tried.add(id(candidate))
            if heard is not None:
                heard(len(tried), spent)
            if incident is not None:
                incidents.append(incident)
            if promise is not None:
                judged.append((candidate, promise))
        judged.sort(key=lambda one: -one[1].looks)
        again = {id(candidate) for candidate, _ in judged}
        ranking = judged + [one for one in ranking if id(one[0]) not in again]
        if turn == rounds - 1 or not judged:
            break
        last = turn == rounds - 2  # of the last round only what has been seen before
        size = max(FINALISTS, len(pool) // SHRINK, 0 if last else min(WIDE, share // (2 * ENOUGH)))
        survivors = [candidate for candidate, _ in judged[: size if last else (size + 1) // 2]]
        pool = survivors + ([] if last else _children(survivors, size - len(survivors), seen, rng))
    before = () if earlier is None else earlier.candidates
    found = {candidate.key: candidate for candidate in (*(one for one, _ in ranking), *before)}
    return Found(tuple(promise for _, promise in ranking[:keep]), spent, tuple(incidents), tuple(found.values()))


def _checked_spaces(space: Spaces, claim: Claim) -> tuple[Admissible, ...]:
    spaces = (space,) if isinstance(space, Admissible) else tuple(space)
    if not spaces:
        raise InputError("space: there is none; at least 1 is needed")
    for one in spaces:
        if claim.neighbouring is not one.neighbouring:
            raise InputError(f"claim = {claim}: is {claim.neighbouring}, the data are {one.neighbouring}")
    return spaces


def _first_pool(
    spaces: tuple[Admissible, ...], size: int, earlier: Found | None, rng: np.random.Generator
) -> tuple[list[Candidate], set[bytes]]:
    """Structured candidates, of all spaces in turn; after an earlier search its best ones, changes of these, and further ones."""
    grids = [structured(space, rng) for space in spaces]
    ordered = [candidate for turn in itertools.zip_longest(*grids) for candidate in filter(None, turn)]
    if earlier is None or not earlier.candidates:
        pool = ordered[: max(1, size)]
        return pool, {candidate.key for candidate in pool}
    seen = {candidate.key for candidate in earlier.candidates}
    best = list(earlier.candidates[: max(1, min(FINALISTS, size // 4))])
    fresh = [candidate for candidate in ordered if candidate.key not in seen][: max(1, size // 2)]
    seen |= {candidate.key for candidate in fresh}
    pool = best + fresh
    return pool + _children(best, max(0, size - len(pool)), seen, rng), seen


def _looked_at(
    runner: Runner, pair: Pair, claim: Claim, per_side: int, rng: np.random.Generator
) -> tuple[Promise | None, int, Incident | None]:
    """(how it looks, runs, what went wrong); by replay where that can be done, which takes few runs."""
    if isinstance(runner, Replays):
        size = max(1, min(per_side // 2, TRANSCRIPTS))
        try:
            losses = runner.losses(pair, rng, size)
        except SubjectFailed as failed:
            return None, 4 * size, failed.incident
        worst = losses.max() if isinstance(claim, PureDP | ApproxDP) else losses.mean()
        return Promise(pair, float(worst), 2 * size), 4 * size, None
    outcome = collect(runner, pair, rng, per_side=per_side)
    first, second = outcome.first, outcome.second
    spent = len(first) + len(second)
    if outcome.incident is not None:
        return None, spent, outcome.incident
    return Promise(pair, looks(first, second, claim), len(first), of_sides(first, second)), spent, None


def _children(parents: list[Candidate], number: int, seen: set[bytes], rng: np.random.Generator) -> list[Candidate]:
    """New ones, more from the better parents; fewer than asked for when nothing new turns up."""
    found: list[Candidate] = []
    for attempt in range(20 * number):
        if len(found) == number:
            break
        candidate = parents[min(attempt % len(parents), int(rng.integers(len(parents))))]
        space = candidate.space
        assert space is not None
        for _ in range(int(rng.integers(1, 3))):
            candidate = changed(candidate, space, rng)
        first, second = candidate.pair
        if candidate.key not in seen and not np.array_equal(first, second):
            seen.add(candidate.key)
            found.append(candidate)
    return found
