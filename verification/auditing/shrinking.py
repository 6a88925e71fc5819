"""A simpler counterexample: fewest records, then fewest distinct ones, then simple numbers.

The pair on which a claim was refuted is the one that a search happened to find.  Simpler pairs are proposed, the boldest step
first; one that still looks refuted takes its place, until no proposal does.  Bets on runs of its own judge a proposal, at the lax
level ACCEPT: that decides what is shown, and nothing is concluded from it.  In the end bets on fresh runs *confirm* the simplest
pair, at the stated error.  If they are not won, the pair that was found stays.

The effort is bounded: at most MOST_TRIED proposals, and at most the runs that the caller allows.  A proposal gets at most PATIENCE
times as many runs as the first pair took to be refuted again, and half of that if its bets have lost money by then.  All
randomness follows from the seed.

What is admissible is respected: bounds, columns, the neighbouring relation, and the number of records unless the space says that
there may be `fewer`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tailproof.refimpl.claims import REPLACE_ONE, Claim
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing import limits
from tailproof.verification.auditing.admissible import Admissible
from tailproof.verification.auditing.predictor import Predictor
from tailproof.verification.auditing.progress import Watch
from tailproof.verification.auditing.runner import SeededRunner
from tailproof.verification.auditing.runs import Labelled, Pair, Source, joined
from tailproof.verification.auditing.search import Candidate
from tailproof.verification.auditing.sequential import Counts, Game, game

ACCEPT = 1e-3  # chance that bets accept a proposal on which the claim holds
MOST_TRIED = 40  # proposals
PATIENCE, LEAST_RUNS = 3, 240  # runs of a proposal: times those of the first pair, at least
MOST_RUNS = 6000  # of shrinking, unless the refutation took more
SIZES = (0, 1, 2, 3, 5)  # other records that are tried
COLUMNS = 8  # that are tried one by one


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The simpler pair, on which the claim is refuted at the stated error; the predictor that did it and its counts."""

    pair: Pair
    lower: float
    predictor: Predictor | None
    counts: Counts


@dataclass(frozen=True, eq=False)
class Effort:
    """What came of shrinking: the simpler pair if there is one, how many runs and proposals it took."""

    shrunk: Shrunk | None
    runs: int
    tried: int


# --- what is simpler -----------------------------------------------------------------------------------------------------


def plainness(number: float, space: Admissible) -> tuple[int, float]:
    """The lower the simpler: 0, 1, −1, a bound, a small whole number, a power of ten, a whole number, any other."""
    size = abs(number)
    kinds = [
        number == 0,
        number == 1,
        number == -1,
        number in (space.low, space.high),
        size <= 10 and size == round(size),
        size > 0 and math.isclose(size, 10 ** round(math.log10(size)) if size > 0 else 0, rel_tol=1e-12),
        size < 1e15 and size == round(size),
    ]
    kind = next((place for place, holds in enumerate(kinds) if holds), len(kinds))
    return kind, abs(math.log10(size)) + (0.5 if number < 0 else 0.0) if size else 0.0


def complexity(candidate: Candidate) -> tuple[float, ...]:
    """Records, distinct records, numbers that are not 0, and how plain the numbers are: compared in this order."""
    assert candidate.space is not None
    first, second = candidate.pair
    records = np.concatenate([first, second])
    distinct = np.unique(records, axis=0)
    numbers = [plainness(float(number), candidate.space) for number in np.unique(distinct)]
    return (
        len(first),
        len(distinct),
        float(np.count_nonzero(distinct)),
        float(sum(kind for kind, _ in numbers)),
        float(sum(size for _, size in numbers)),
        float(np.count_nonzero(records)),
        candidate.place,
    )


def candidate_of(pair: Pair, space: Admissible) -> Candidate | None:
    """The pair as a record that changes, or goes, beside others; None where it is not such a pair."""
    first, second = (np.asarray(side, dtype=np.float64) for side in pair)
    if not space.is_pair((first, second)):
        return None
    if space.neighbouring is REPLACE_ONE:
        place = int((first != second).any(axis=1).argmax())
        return Candidate(np.delete(first, place, axis=0), first[place], second[place], place, space)
    large, small = (first, second) if len(first) > len(second) else (second, first)
    places = (row for row in range(len(large)) if np.array_equal(np.delete(large, row, axis=0), small))
    place = next(places)
    return Candidate(small, large[place], None, place, space)


def proposals(candidate: Candidate) -> Iterator[Candidate]:
    """Simpler pairs, the boldest first; some are no simpler, or not admissible, and are left out by `simpler`."""
    yield from _fewer(candidate)
    others, before, after = candidate.others, candidate.before, candidate.after
    space = candidate.space
    assert space is not None
    zero = np.full(space.columns, min(max(0.0, space.low), space.high))
    if len(others):
        for row in (zero, before, *([] if after is None else [after]), others[0]):
            yield replace(candidate, others=np.tile(row, (len(others), 1)), place=0)
    if candidate.place:
        yield replace(candidate, place=0)
    if after is not None:  # the other way round, and from nothing
        yield replace(candidate, before=zero)
        yield replace(candidate, before=zero, after=before)
        yield replace(candidate, after=zero)
        yield replace(candidate, before=zero, after=after - before)
        yield replace(candidate, before=after, after=before)
    yield from _without_columns(candidate, zero)
    yield from _plainer_numbers(candidate)


def _fewer(candidate: Candidate) -> Iterator[Candidate]:
    space = candidate.space
    assert space is not None
    if not space.fewer:
        return
    for size in SIZES:
        if size < len(candidate.others):
            place = min(candidate.place, size)
            yield replace(candidate, others=candidate.others[:size], place=place)
            if size:
                spread = np.linspace(0, len(candidate.others) - 1, size).round().astype(int)
                yield replace(candidate, others=candidate.others[spread], place=place)
                yield replace(candidate, others=candidate.others[-size:], place=place)


def _without_columns(candidate: Candidate, zero: FloatArray) -> Iterator[Candidate]:
    """Nothing in some of the columns: half of them, or one."""
    columns = len(zero)
    if columns == 1:
        return
    halves = [np.arange(columns) < columns // 2, np.arange(columns) >= columns // 2]
    for gone in [*halves, *(np.arange(columns) == column for column in range(min(columns, COLUMNS)))]:
        yield replace(
            candidate,
            others=np.where(gone, zero, candidate.others),
            before=np.where(gone, zero, candidate.before),
            after=None if candidate.after is None else np.where(gone, zero, candidate.after),
        )


def _plainer_numbers(candidate: Candidate) -> Iterator[Candidate]:
    """One number becomes a plainer one, wherever it stands."""
    space = candidate.space
    assert space is not None
    rows = [*candidate.others, candidate.before, *([] if candidate.after is None else [candidate.after])]
    numbers = sorted({float(number) for row in rows for number in row}, key=lambda v: plainness(v, space), reverse=True)
    powers = [10.0**k for k in range(1, 7)]
    choices = [0.0, 1.0, -1.0, space.low, space.high, *powers, *(-power for power in powers)]
    for number, choice in itertools.product(numbers[:4], choices):
        plain = plainness(choice, space) < plainness(number, space) if math.isfinite(choice) else False
        if plain and abs(choice) <= max(abs(number), 1.0):
            yield replace(
                candidate,
                others=np.where(candidate.others == number, choice, candidate.others),
                before=np.where(candidate.before == number, choice, candidate.before),
                after=None if candidate.after is None else np.where(candidate.after == number, choice, candidate.after),
            )


def simpler(proposed: Candidate, candidate: Candidate) -> bool:
    """Whether it is simpler, admissible, and still a pair."""
    space = proposed.space
    assert space is not None
    first, second = proposed.pair
    admissible = len(first) and all(space.contains(side) for side in (first, second) if len(side))
    return bool(admissible and not np.array_equal(first, second) and complexity(proposed) < complexity(candidate))


# --- the course ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Shrinking:
    """Every proposal gets a source of its own: streams keyed by its number."""

    runner: SeededRunner
    claim: Claim
    seed: int
    left: int
    watch: Watch
    before: int = 0  # runs of the audit
    spent: int = 0
    tried: int = 0

    def bets(self, pair: Pair, runs: int, error: float, known: Labelled | None = None) -> tuple[Game, int]:
        """Bets on one pair: won, or given up; and the runs they took."""
        self.tried += 1
        streams = [np.random.default_rng([self.seed, 4, self.tried, stream]) for stream in (0, 1)]
        source = Source(self.runner, [pair], streams[0], streams[1], self.seed, heard=lambda n: self.watch.heard(done + n))
        done, runs = self.before + self.spent, min(runs, self.left - self.spent)
        played = game(source, self.claim, error=error)
        if known is not None:
            played.learn_from(0, known)
        played.play(runs // 2)
        if not played.won and played.bets.log_wealth_of_claim > 0:
            played.play(runs - runs // 2)
        self.spent += source.runs
        return played, source.runs


def shrink(
    runner: SeededRunner,
    claim: Claim,
    pair: Pair,
    space: Admissible,
    *,
    runs: int,
    error: float,
    seed: int,
    watch: Watch,
    before: int,
) -> Effort:
    """Look for a simpler pair in at most so many runs; `before` is how many the audit has made."""
    candidate = candidate_of(pair, space)
    course = _Shrinking(runner, claim, seed, runs, watch, before)
    watch.stage = "shrinking"
    if candidate is None or runs < 2 * LEAST_RUNS:
        return Effort(None, 0, 0)
    played, took = course.bets(candidate.pair, runs // 3, ACCEPT)
    if not played.won:  # too weak to be shrunk in so few runs
        return Effort(None, course.spent, course.tried)
    limit = max(LEAST_RUNS, PATIENCE * took)
    reserve = max(2 * limit, runs // 10)  # for the confirmation
    best, evidence, refused = None, joined(played.seen[0]), set()
    while True:
        for proposed in proposals(best or candidate):
            if proposed.key in refused or not simpler(proposed, best or candidate):
                continue
            if course.tried > MOST_TRIED or course.left - course.spent < reserve + limit:
                return _confirmed(course, best, evidence, error)
            refused.add(proposed.key)
            played, _ = course.bets(proposed.pair, limit, ACCEPT)
            if played.won:
                best, evidence = proposed, joined(played.seen[0])
                break
        else:
            return _confirmed(course, best, evidence, error)


def _confirmed(course: _Shrinking, best: Candidate | None, evidence: Labelled, error: float) -> Effort:
    if best is None:
        return Effort(None, course.spent, course.tried)
    played, _ = course.bets(best.pair, course.left - course.spent, error, evidence)
    found = None
    if played.won:
        found = Shrunk(best.pair, played.course.lower, played.course.predictor, played.course.total)
        assert found.lower >= limits.parameter(course.claim)
    return Effort(found, course.spent, course.tried)
