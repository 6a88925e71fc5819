"""The audit that stops as soon as the claim is refuted: bets first, then a test of the remaining runs with a few looks.

*Bets* (`sequential`) are settled on the first part of the budget, the part that a fixed audit only learns from.  A gross violation
ends the audit here, after a few hundred runs.  What the bets saw is not lost: the test learns from it.

*Looks* (`fixed`).  The predictor is then chosen, and the remaining samples are drawn for it.  They are tested when a 32nd, a
16th, … a half of them is there, and at the end.  (Where every output is guessed the predictor is learned again between looks.)

Why a true claim is called violated with probability at most α = 1 − confidence.  The parts BETS + LOOKS + SHRINK + LAST = 1 of α
go to events that are fixed beforehand:

1. Wealth ever reaches 1/(BETS·α): probability at most BETS·α, by Ville's inequality, for every rule of stopping.
2. Given all that was seen before, the looks have fixed sizes, since they depend on the number of samples that are left alone,
   and the samples are fresh.  So the exact test of look i is wrong with probability at most its level αᵢ, and the levels of the
   early looks sum to LOOKS·α.  A subject that fails cuts the last test short, as `fixed` says, at the level of the last one.
3. The last look is wrong with probability at most LAST·α.
4. A simpler pair is confirmed on samples of its own (`shrinking`), with probability at most SHRINK·α wrongly.

The union of these events has probability at most α.  Outside of it, every bound that was found lies below the truth, so the largest
one does, and the pair that is shown violates the claim.  A search and all learning come before the samples that are tested, and
cost no error.  The p-value is the least of pᵢ·α/αᵢ over all tests: at a true claim it is at most t with probability at most t.

The parts were chosen by measurement (`python benchmarks/audits.py stopping`): most of the error is left to the last look, for it
alone finds what a fixed audit just finds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tailproof.refimpl.claims import GDP, Claim
from tailproof.verification.auditing import limits
from tailproof.verification.auditing.fixed import (
    LARGEST_SHARE,
    WIDER,
    Tally,
    choose,
    goal_of,
    shortened,
    training_share,
)
from tailproof.verification.auditing.outcome import SEARCH_SHARE, Outcome, known, probe, searched
from tailproof.verification.auditing.predictor import LEARN_FROM_AT_MOST, Goal, Predictor, learn
from tailproof.verification.auditing.progress import Watch
from tailproof.verification.auditing.runs import EMPTY, Labelled, Pair, Source, joined
from tailproof.verification.auditing.search import LEAST, Found, Spaces
from tailproof.verification.auditing.sequential import Counts, Game, game

BETS, LOOKS, SHRINK = 0.03, 0.02, 0.01
LAST = 1 - BETS - LOOKS - SHRINK
EARLY, FIRST_STAGE = 0.03, 240  # of the budget, for bets beside a search; the runs of their first stage, and every stage is
# twice as long: where there is no room for one, there are no bets
SEVERAL = 0.15  # the same on several pairs that are given
FEWEST = 100  # runs below which no stage starts, and no look is taken
EARLIEST = 5  # halvings of the samples to the first look
LESS = 0.8  # of what a fixed audit learns from, beside a search: the samples that the bets took are made up for


def run_stopping(
    samples: Source, claim: Claim, spaces: Spaces | None, *, budget: int, error: float, seed: int, watch: Watch
) -> Outcome:
    """At most `budget` runs, fewer if the claim is refuted before; wrongly with probability at most (1 − SHRINK)·error."""
    first = _bets(samples, claim, spaces, budget=budget, error=BETS * error, seed=seed, watch=watch)
    early = _early(samples, first)
    if early.refuted:
        return replace(early, complete=True)
    found, pairs = _finalists(samples, claim, spaces, first, budget=budget, seed=seed, watch=watch)
    early = replace(early, searched=len(found.candidates) if found is not None else 0)
    alive = [number for number, (pair, _) in enumerate(pairs) if not _failed(samples, pair)]
    if not alive:
        return early
    rest = Source(
        samples.runner,
        [pairs[number][0] for number in alive],
        np.random.default_rng([seed, 2]),
        np.random.default_rng([seed, 3]),
        seed,
        samples.incidents,
        samples.runs,
        heard=watch.heard,
    )
    seen = [pairs[number][1] for number in alive]
    late = _looked(rest, claim, seen, first, budget=budget, error=error, watch=watch)
    samples.runs = rest.runs
    if late.sides is None:
        return early
    return replace(
        late,
        lower=max(early.lower, late.lower),
        p_value=min(early.p_value, late.p_value),
        pair=alive[late.pair],
        searched=early.searched,
    )


def _early(samples: Source, first: _Played) -> Outcome:
    """What the bets say."""
    looked = 0 if first.found is None else len(first.found.candidates)
    if not samples.pairs:
        return Outcome(searched=looked)
    course = first.played.course
    return Outcome(
        lower=course.lower,
        p_value=min(1.0, course.p_value / BETS),
        refuted=first.played.won,  # the values up to the bound itself are refuted
        pair=course.pair,
        sides=samples.pairs[course.pair],
        predictor=course.predictor,
        counts=course.total,
        last=joined(
            [*first.played.seen[course.pair], *([] if first.played.last is None else [first.played.last])] or [EMPTY]
        ),
        searched=looked,
        power=0.5,
    )


def _failed(samples: Source, pair: Pair) -> bool:
    return any(incident.fatal and incident.pair is pair for incident in samples.incidents)


# --- bets ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Played:
    """How the bets went, what their search found, and whether runs were repeated (`probe`)."""

    played: Game
    found: Found | None = None
    probed: bool = False


def _bets(
    samples: Source, claim: Claim, spaces: Spaces | None, *, budget: int, error: float, seed: int, watch: Watch
) -> _Played:
    """One wealth bets on all pairs, also on those that the search adds on the way."""
    played = game(samples, claim, error=error)
    played.after_block = lambda: setattr(watch, "lower", played.course.lower)
    if spaces is None:
        probe(samples, seed)
        many = len(samples.pairs)
        share = SEVERAL if many > 1 else training_share(claim, budget, 1)
        if share * budget >= FEWEST:
            played.play(int(share * budget) - samples.runs)
        return _Played(played, probed=True)
    found: Found | None = None
    probed = False
    for size in stage_sizes(max(int(EARLY * budget), FIRST_STAGE if budget >= 10 * FIRST_STAGE else 0)):
        before = samples.runs
        found = searched(samples, spaces, claim, max(2 * LEAST, int(SEARCH_SHARE * size)), seed, found, watch)
        for promise in found.promises:
            played.add(promise.pair, known(promise))
        if samples.pairs and not probed:
            probe(samples, seed)
            probed = True
        played.play(size - (samples.runs - before))
        if played.won:
            break
    return _Played(played, found, probed)


def stage_sizes(runs: int) -> list[int]:
    """Every stage is twice as long as the one before; the last one takes what is left, if it is enough."""
    sizes: list[int] = []
    stage = FIRST_STAGE
    while runs - sum(sizes) >= FEWEST:
        sizes.append(min(stage, runs - sum(sizes)))
        stage *= 2
    return sizes


def _finalists(
    samples: Source, claim: Claim, spaces: Spaces | None, first: _Played, *, budget: int, seed: int, watch: Watch
) -> tuple[Found | None, list[tuple[Pair, Labelled]]]:
    """The pairs to test, with what was seen of them: those that are given, or what the search ends with and the bets like best."""
    played = first.played
    seen = [joined([EMPTY, *parts]) for parts in played.seen]
    if spaces is None:
        return None, list(zip(samples.pairs, seen, strict=True))
    left = max(2 * LEAST, int(SEARCH_SHARE * budget) - samples.runs)
    found = searched(samples, spaces, claim, left, seed, None, watch)
    pairs = [(promise.pair, known(promise)) for promise in found.promises]
    if samples.pairs and played.bets.log_wealth_of_claim > 0:
        best = max(range(len(samples.pairs)), key=lambda k: p.expected if (p := played.predictors[k]) else -math.inf)
        pairs.append((samples.pairs[best], EMPTY))
    unlike: list[tuple[Pair, Labelled]] = []
    for pair, mine in pairs:
        if any(_same(pair, other) for other, _ in unlike):
            continue
        earlier = [seen[k] for k, old in enumerate(samples.pairs) if _same(pair, old)]
        unlike.append((pair, joined([mine, *earlier])))
    if unlike and not first.probed:
        samples.pairs = samples.pairs or [unlike[0][0]]
        probe(samples, seed)
    return found, unlike


def _same(pair: Pair, other: Pair) -> bool:
    return all(map(np.array_equal, pair, other))


# --- looks ---------------------------------------------------------------------------------------------------------------


def look_ends(samples: int, first_block: int | None) -> list[int]:
    """How many samples there are at every look; the last look has all of them.  With a `first_block`, as many as that and then
    always as many as have been seen in all: the predictor is learned again at each."""
    if first_block is None:
        ends = [end for k in range(EARLIEST, 0, -1) if (end := samples >> k) >= FEWEST]
    else:
        ends = [end for k in range(1, 64) if (end := first_block * (2**k - 1)) < samples]
    return [*ends, samples]


def look_errors(looks: int, error: float) -> list[float]:
    """The early looks share LOOKS equally, the last one has LAST; a single one has both."""
    if looks == 1:
        return [(LOOKS + LAST) * error]
    return [LOOKS * error / (looks - 1)] * (looks - 1) + [LAST * error]


@dataclass(eq=False)
class _Looks:
    """What the looks so far say together."""

    error: float
    lower: float = 0.0
    p_value: float = 1.0
    last: Tally | None = field(default=None)

    def take(self, tally: Tally) -> bool:
        """Whether this look refutes the claim."""
        self.last = tally
        self.lower = max(self.lower, tally.lower)
        self.p_value = min(self.p_value, tally.p_value * self.error / tally.error)
        return tally.lower > limits.parameter(tally.claim)


def _looked(
    source: Source, claim: Claim, seen: Sequence[Labelled], first: _Played, *, budget: int, error: float, watch: Watch
) -> Outcome:
    left = budget - source.runs
    goal, training, more = _training(claim, seen, left, budget, searched=first.found is not None, error=LAST * error)
    start = source.runs
    chosen = choose(source, goal, training, seen)
    if chosen is None:
        return Outcome()
    pair, parts = chosen
    if not goal.whole and parts[-1].outputs.shape[1] > 1:
        parts.append(source.draw(pair, more))  # there is more to learn
    past = joined(parts)
    ends = look_ends(left - (source.runs - start), len(past) if goal.whole else None)
    looks, predictor, counts, last, complete = _tested(source, pair, past, claim, goal, ends, error, watch)
    assert looks.last is not None
    return Outcome(
        lower=looks.lower,
        p_value=looks.p_value,
        detectable=looks.last.detectable(),
        refuted=looks.lower > limits.parameter(claim),
        complete=complete,
        pair=pair,
        sides=source.pairs[pair],
        predictor=predictor,
        counts=counts,
        last=last,
    )


def _training(
    claim: Claim, seen: Sequence[Labelled], left: int, budget: int, *, searched: bool, error: float
) -> tuple[Goal, int, int]:
    """What the predictor is chosen for, how many fresh samples it is chosen from, and how many more where outputs are
    vectors: as in a fixed audit, but for what was seen before."""
    if len(seen) == 1 and not searched:
        planned, largest = training_share(claim, budget, 1) * budget, LARGEST_SHARE * budget
        wanted = planned - len(seen[0])
    else:
        planned, largest = training_share(claim, left, len(seen), known=True) * left, LARGEST_SHARE * left
        wanted = planned
        if not isinstance(claim, GDP):
            wanted = LESS * planned
    training = max(1, int(wanted))
    more = max(0, int(min(WIDER * planned, largest - planned)))
    return goal_of(claim, left - training, error), training, more


def _tested(
    source: Source, pair: int, past: Labelled, claim: Claim, goal: Goal, ends: list[int], error: float, watch: Watch
) -> tuple[_Looks, Predictor, Counts, Labelled, bool]:
    looks, done, correct, inside, fresh = _Looks(error), 0, 0, 0, EMPTY
    predictor = learn(past.outputs, past.labels, goal)
    errors = look_errors(len(ends), error)
    for end, level in zip(ends, errors, strict=True):
        if done and goal.whole and len(past) < LEARN_FROM_AT_MOST:
            past = joined([past, fresh])
            predictor = learn(past.outputs, past.labels, goal)
        fresh = source.draw(pair, end - done)
        if len(fresh):
            votes = predictor.votes(fresh.outputs)
            correct += int((votes == fresh.labels).sum())
            inside += int(np.count_nonzero(votes))
        done += len(fresh)
        leak = limits.delta(claim) * (1.0 if predictor.two_sided else 0.5)
        if done < end:  # the subject failed
            looks.take(shortened(Tally(claim, correct, inside, ends[-1], errors[-1], leak)))
            break
        refuted = looks.take(Tally(claim, correct, inside, end, level, leak))
        watch.lower = max(watch.lower, looks.lower)
        if refuted:
            break
    return looks, predictor, Counts(correct, inside, done), fresh, done == ends[-1] or looks.lower > limits.parameter(claim)
