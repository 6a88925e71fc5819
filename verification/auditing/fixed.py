"""Tests of a fixed number of samples, exact at every sample size.

Of the guesses that are counted, `correct` of `inside` are right.  Under the claim `correct` is stochastically below b +
Bin(inside − b, a), where a is the largest accuracy the claim allows and b bounds the number of leaks but for a probability
that is part of the error (b = 0 unless the claim has a δ): given which samples leaked, every other guess is right with
chance at most a, whatever came before, and making at most b of them right for certain can only help.  A binomial tail is
then a p-value, and Clopper and Pearson's bound of a a bound of the claim's parameter.  For ρ, also the chance that a guess
is made is needed: it is bounded from below, with a part of the error.

When guesses may pass (ε, δ, ρ) the predictor is learned once, on a part of the samples whose size depends on their number.
When every output is guessed (μ) the number of guesses is known beforehand, so the predictor may be learned anew between
blocks from all samples so far, and only the first, small block is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtrc, bdtrik, betaincinv

from tailproof.refimpl.claims import GDP, ZCDP, Claim
from tailproof.verification.auditing import limits
from tailproof.verification.auditing.predictor import (
    LEARN_FROM_AT_MOST,
    Accuracy,
    DivergenceLower,
    Goal,
    LogRatioLower,
    Predictor,
    learn,
)
from tailproof.verification.auditing.runs import Labelled, Source, joined

SIDE_SHARE = 0.1  # of the error: the chance that more samples leak, or fewer are guessed, than is allowed for
SAFETY = 1e-11  # relative; special functions are accurate to about 1e-13
POWER = 0.9
LARGEST_SHARE = 0.35  # of the budget, to learn from one pair
WIDER = 0.5  # so much more is learned from, where outputs are vectors


@dataclass(frozen=True)
class Tally:
    """What was counted, and the chance `error` with which a bound drawn from it may be wrong."""

    claim: Claim
    correct: int
    inside: int
    counted: int  # samples drawn for it, whether voted on or not
    error: float
    leak: float = 0.0  # chance that one sample leaks to the predictor's use

    @property
    def leaks(self) -> int:
        """More leaks than this have a chance of at most SIDE_SHARE of the error."""
        return leaks_upper(self.counted, self.leak, self.error)

    @property
    def spent(self) -> float:
        """The part of the error that bounds the leaks, or the chance of a guess."""
        if isinstance(self.claim, ZCDP):
            return SIDE_SHARE * self.error
        return float(bdtrc(self.leaks, self.counted, self.leak)) * (1 + SAFETY) if self.leak else 0.0

    @property
    def guessed_lower(self) -> float:
        """A lower bound of the chance of a guess, where the claim's parameter depends on it, else 1."""
        if not isinstance(self.claim, ZCDP):
            return 1.0
        return (
            float(betaincinv(self.inside, self.counted - self.inside + 1, self.spent)) * (1 - SAFETY) if self.inside else 0.0
        )

    @property
    def allowed(self) -> float:
        """The largest accuracy that the claim allows."""
        return limits.accuracy_upper(self.claim, limits.parameter(self.claim) / max(self.guessed_lower, 1e-300))

    def tail(self, accuracy: float, correct: int | None = None) -> float:
        """P(b + Bin(inside − b, accuracy) ≥ correct), rounded up."""
        hits = (self.correct if correct is None else correct) - self.leaks
        if hits <= 0:
            return 1.0
        trials = self.inside - self.leaks
        return min(1.0, float(bdtrc(hits - 1, trials, accuracy)) * (1 + SAFETY)) if hits <= trials else 0.0

    @property
    def p_value(self) -> float:
        """Of the claim; below `spent` nothing is told apart."""
        return min(1.0, self.spent + self.tail(self.allowed))

    @property
    def lower(self) -> float:
        """Of the claim's parameter: above the truth with probability at most `error`."""
        hits, trials = self.correct - self.leaks, self.inside - self.leaks
        if hits <= 0:
            return 0.0
        accuracy = float(betaincinv(hits, trials - hits + 1, self.error - self.spent)) * (1 - SAFETY)
        return self.guessed_lower * limits.parameter_lower(self.claim, accuracy)

    def detectable(self, power: float = POWER) -> float:
        """The least true value of the parameter that as many guesses refute with this probability if every guess is as good as it
        allows, and that exceeds the claim; infinite if no outcome would have refuted it."""
        claimed = self.allowed
        needed = self._needed(claimed)
        if needed is None:
            return math.inf
        accuracy = brentq(lambda a: float(bdtrc(needed - 1, self.inside, a)) - power, claimed, 1 - 1e-15)
        guessed = self.inside / self.counted if isinstance(self.claim, ZCDP) else 1.0
        return guessed * limits.parameter_lower(self.claim, float(accuracy))

    def _needed(self, accuracy: float) -> int | None:
        """The fewest right guesses that refute this accuracy."""
        left, trials = self.error - self.spent, self.inside - self.leaks
        if trials <= 0 or self.tail(accuracy, self.inside) > left:
            return None
        guess = int(bdtrik(1 - left, trials, accuracy)) + self.leaks
        start = max(0, guess - 3)
        return next(k for k in range(start, self.inside + 1) if self.tail(accuracy, k) <= left)


@lru_cache
def leaks_upper(counted: int, leak: float, error: float) -> int:
    if not leak or not counted:
        return 0
    from scipy.stats import binom  # takes as long to import as everything else, and most audits do without

    return int(binom.isf(SIDE_SHARE * error, counted, leak))


# --- the samples ---------------------------------------------------------------------------------------------------------


def training_share(claim: Claim, budget: int, pairs: int, known: bool = False) -> float:
    """How much of the budget is for choosing; for claims with guesses at every output, before the first counted block.  Less if a
    search has looked at the pairs already."""
    several = (0.15 if known else 0.3) if pairs > 1 else 0.0
    shrinking = math.exp(-0.4 * math.log(budget))
    if isinstance(claim, GDP):
        return max(several, min(0.2, shrinking))
    return max(several, min(LARGEST_SHARE, max(0.04, 6.5 * shrinking)))


def goal_of(claim: Claim, holdout: int, error: float) -> Goal:
    if isinstance(claim, GDP):
        return Accuracy()
    if isinstance(claim, ZCDP):
        return DivergenceLower(holdout, error)
    return LogRatioLower(holdout, error, leaks_upper(holdout, limits.delta(claim), error))


def choose(source: Source, goal: Goal, training: int, known: Sequence[Labelled] = ()) -> tuple[int, list[Labelled]] | None:
    """The pair to test and its samples so far: every pair in turn gets samples, and the worse half is dropped, until one is left.
    Pairs on which the subject fails are dropped at once; None if there is no other.  `known` was seen before, of every pair."""
    alive = list(range(len(source.pairs)))
    seen: dict[int, list[Labelled]] = {pair: [known[pair]] if known else [] for pair in alive}
    rounds = math.ceil(math.log2(len(alive))) + 1
    for _ in range(rounds):
        each = max(1, training // rounds // len(alive))
        worth = []
        for pair in alive:
            seen[pair].append(source.draw(pair, each))
            if source.failed(pair):
                continue
            everything = joined(seen[pair])
            worth.append((learn(everything.outputs, everything.labels, goal).expected if len(alive) > 1 else 0.0, pair))
        if not worth:
            return None
        alive = [pair for _, pair in sorted(worth, reverse=True)[: (len(worth) + 1) // 2]]
    return alive[0], seen[alive[0]]


@dataclass(frozen=True, eq=False)
class Course:
    """How a fixed audit went.  `complete`: all samples that were planned were counted."""

    tally: Tally
    pair: int = 0
    predictor: Predictor | None = None
    complete: bool = False
    last: Labelled | None = None


def run_fixed(source: Source, claim: Claim, *, budget: int, error: float, known: Sequence[Labelled] = ()) -> Course:
    """From `budget` runs.  If the subject fails, what was counted before is used as far as the test allows (see `shortened`)."""
    start = source.runs
    training = max(1, int(training_share(claim, budget, len(source.pairs), bool(known)) * budget))
    goal = goal_of(claim, budget - training, error)
    chosen = choose(source, goal, training, known)
    if chosen is None:
        return Course(Tally(claim, 0, 0, 0, error))
    pair, seen = chosen
    if not goal.whole and seen[-1].outputs.shape[1] > 1:
        more = min(WIDER * training, LARGEST_SHARE * budget - training)  # there is more to learn
        seen.append(source.draw(pair, max(0, int(more))))
    counted = left = budget - (source.runs - start)
    correct = inside = 0
    block = sum(len(part) for part in seen) if goal.whole else left
    while True:
        past = joined(seen)
        predictor = learn(past.outputs, past.labels, goal)
        if len(past) >= LEARN_FROM_AT_MOST:
            block = left
        size = min(block, left)
        fresh = source.draw(pair, size)
        if len(fresh):
            votes = predictor.votes(fresh.outputs)
            correct += int((votes == fresh.labels).sum())
            inside += int(np.count_nonzero(votes))
        left -= len(fresh)
        if not left or len(fresh) < size:
            break
        seen, block = [past, fresh], 2 * block
    leak = limits.delta(claim) * (1.0 if predictor.two_sided else 0.5)
    tally = Tally(claim, correct, inside, counted, error, leak)
    return Course(tally if not left else shortened(tally), pair, predictor, not left, fresh)


def shortened(tally: Tally) -> Tally:
    """The subject failed before all planned samples were there.

    For ε and (ε, δ), which samples are left out is told by outputs alone, and the limit holds given all outputs; the leaks among
    those that count are at most those among the planned ones.  For μ the limit holds before outputs are known: the missing ones
    count as wrong.  For ρ nothing is concluded.
    """
    if isinstance(tally.claim, GDP):
        return replace(tally, inside=tally.counted)
    return replace(tally, correct=0, inside=0) if isinstance(tally.claim, ZCDP) else tally
