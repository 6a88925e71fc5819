"""Bets against a claim that may be looked at after every block: valid however long the audit runs and why ever it stops.

Whoever bets on a guess at odds that are fair when it is right with chance a wins q/a if it is right and (1−q)/(1−a) if it
is wrong, for any q ≥ a fixed beforehand.  Under the claim the chance is at most a, so wealth is a supermartingale: from 1
it ever reaches 1/error with probability at most `error` [Ville].  A sample of a claim with a δ leaks with probability at
most δ, and then multiplies wealth by at most q/a; dividing every sample's factor, guessed or not, by 1 + δ(q/a − 1) makes
up for it.

Before each block wealth is spread over many q, in proportion to how well each would have done on a part of what was seen;
the rest is kept as cash, nearly all of it as long as little was seen.  The predictor, and among several pairs the pair, is chosen
before each block from everything seen: one wealth bets on all pairs, and no error is shared out.  A block is drawn in parts, and
the audit stops after the first part that makes it rich enough.  The same bets against other values of the claim's parameter
give a lower bound that holds at all times: a value counts as refuted once it and all smaller ones of a fixed grid have
been.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit, logit

from tailproof.refimpl.claims import Claim
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing import limits
from tailproof.verification.auditing.predictor import Accuracy, Goal, Growth, Predictor, learn
from tailproof.verification.auditing.runs import EMPTY, Labelled, Pair, Source, joined

FIRST_BLOCK = 40
FEWEST_BLOCKS = 50  # no block is smaller than this part of all runs so far: learning takes time
EXPLORED = 4  # pairs that are looked at further
GROWTH = 0.4  # of the samples so far, in the next block
TRUST = 0.5  # power to which past successes count: they are those the predictor was learned from, and look too good
PARTS, SMALLEST = 16, 20  # of a block, after each wealth is looked at; in fewer runs, repeated ones would go unnoticed
CASH, CAUTIOUS = 0.03, 150  # part of the wealth that is not bet: at least so much, and e^{−t} after t times so many samples
STEPS = np.concatenate([[0.0], np.geomspace(0.04, 6, 16)])  # log-odds of q above those of a
VALUES = np.concatenate(
    [np.geomspace(0.02, 0.9, 24), np.geomspace(0.92, 1, 9), np.geomspace(1.03, 30, 40)]
)  # times the claim's


@dataclass(frozen=True)
class Counts:
    """`correct` of `inside` guesses were right, among `seen` samples."""

    correct: int = 0
    inside: int = 0
    seen: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.correct + other.correct, self.inside + other.inside, self.seen + other.seen)


def count(predictor: Predictor, samples: Labelled) -> Counts:
    votes = predictor.votes(samples.outputs)
    return Counts(int((votes == samples.labels).sum()), int(np.count_nonzero(votes)), len(samples))


@dataclass(frozen=True, eq=False)
class Bets:
    """Log-wealth against every value of the parameter, now and at its largest."""

    claim: Claim
    values: FloatArray
    accuracies: FloatArray
    log_wealth: FloatArray
    best: FloatArray

    def after(self, block: Counts, past: Counts, leak: float) -> Bets:
        """Bet on a block, or on the part of it that is there, guided by what the same predictor would have done before."""
        right, wrong, cost = _log_factors(self.accuracies, leak)

        def log_growth(counts: Counts) -> FloatArray:
            return counts.correct * right + (counts.inside - counts.correct) * wrong - counts.seen * cost

        weights = TRUST * log_growth(past)
        cash = max(CASH, math.exp(-past.seen / CAUTIOUS))
        weights = math.log1p(-cash) + weights - np.logaddexp.reduce(weights, axis=1, keepdims=True)
        weights[:, 0] = np.logaddexp(weights[:, 0], math.log(cash))
        log_wealth = self.log_wealth + np.logaddexp.reduce(weights + log_growth(block), axis=1)
        return Bets(self.claim, self.values, self.accuracies, log_wealth, np.maximum(self.best, log_wealth))

    def refuted(self, error: float) -> float:
        """The largest value that has been refuted, 0 if none."""
        alive = np.flatnonzero(self.best < -math.log(error))
        count = int(alive[0]) if len(alive) else len(self.values)
        return float(self.values[count - 1]) if count else 0.0

    @property
    def log_wealth_of_claim(self) -> float:
        """Of what bets against the claim itself, now."""
        return float(self.log_wealth[self.values == limits.parameter(self.claim)][0])

    def p_value(self) -> float:
        """Of the claim: one over the largest wealth, of this and all smaller values."""
        upto = self.values <= limits.parameter(self.claim)
        return float(min(1.0, math.exp(-self.best[upto].min())))


def _log_factors(accuracies: FloatArray, leak: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Logs of the factors of a right guess, of a wrong one, and of what every sample costs."""
    odds = logit(accuracies)[:, None] + STEPS
    right = np.log(expit(odds) / accuracies[:, None])
    wrong = np.log(expit(-odds)) - np.log1p(-accuracies)[:, None]
    return right, wrong, np.log1p(leak * np.expm1(right)) + 1e-15


def opening(claim: Claim) -> Bets:
    """Wealth 1 against every value."""
    values = np.array([v for v in VALUES * limits.parameter(claim) if limits.accuracy_upper(claim, v) < 1 - 1e-9])
    accuracies = np.array([limits.accuracy_upper(claim, v) for v in values])
    return Bets(claim, values, accuracies, np.zeros(len(values)), np.zeros(len(values)))


@dataclass(frozen=True, eq=False)
class Course:
    """How a sequential audit went."""

    bets: Bets
    samples: int
    pair: int
    predictor: Predictor | None
    total: Counts
    error: float

    @property
    def lower(self) -> float:
        return self.bets.refuted(self.error)

    @property
    def p_value(self) -> float:
        return self.bets.p_value()

    def detectable(self) -> float:
        """The least value of the parameter at which the guesses that were made, right as often as it allows, would have refuted
        the claim: at about this value the chance is one half."""
        claimed = limits.parameter(self.bets.claim)
        if not self.total.inside:
            return math.inf
        at = np.array([limits.accuracy_upper(self.bets.claim, claimed)])
        right, wrong, cost = _log_factors(at, limits.delta(self.bets.claim))
        low, high = float(at[0]), 1.0
        fixed = -math.log(len(STEPS)) - self.total.seen * cost

        def log_wealth(accuracy: float) -> float:
            gains = self.total.inside * (accuracy * right + (1 - accuracy) * wrong)
            return float(np.logaddexp.reduce((gains + fixed)[0]))

        if log_wealth(high) < -math.log(self.error):
            return math.inf
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if log_wealth(middle) >= -math.log(self.error) else (middle, high)
        return limits.parameter_lower(self.bets.claim, high)


@dataclass(eq=False)
class Game:
    """Bets that go on: pairs may be added at any time, for what is bet on next is always chosen from what was seen before."""

    source: Source
    claim: Claim
    error: float
    seen: list[list[Labelled]]
    predictors: list[Predictor | None]
    past_counts: list[Counts]
    bets: Bets
    total: Counts = field(default_factory=Counts)
    pair: int = 0
    turn: int = 0
    last: Labelled | None = None
    after_block: Callable[[], None] | None = None

    @property
    def goal(self) -> Goal:
        accuracy = limits.accuracy_upper(self.claim, limits.parameter(self.claim))
        return Growth(accuracy) if limits.may_pass(self.claim) else Accuracy()

    @property
    def won(self) -> bool:
        return self.bets.refuted(self.error) >= limits.parameter(self.claim)

    @property
    def course(self) -> Course:
        return Course(self.bets, self.source.runs, self.pair, self.predictors[self.pair], self.total, self.error)

    def add(self, pair: Pair, known: Labelled) -> None:
        """A pair that may be there already, with what a search saw of it."""
        there = [k for k, old in enumerate(self.source.pairs) if all(map(np.array_equal, old, pair))]
        if not there:
            self.source.pairs.append(pair)
            self.seen.append([])
            self.predictors.append(None)
            self.past_counts.append(Counts())
        if len(known):
            self.learn_from(there[0] if there else len(self.seen) - 1, known)

    def play(self, runs: int) -> None:
        """Until the claim is refuted, so many runs are spent, or the subject fails on every pair."""
        left = runs
        while left > 0 and not self.won:
            alive = [pair for pair in range(len(self.seen)) if not self.source.failed(pair)]
            if not alive:
                return
            sizes = [sum(map(len, parts)) for parts in self.seen]
            pair = _next_pair(alive, self.predictors, sizes, self.turn)
            self.turn += 1
            size = min(left, max(FIRST_BLOCK, int(GROWTH * sizes[pair]), self.source.runs // FEWEST_BLOCKS))
            spent, fresh = self._block(pair, size)
            left -= spent
            if self.after_block is not None:
                self.after_block()
            if len(fresh):
                self.pair, self.last = pair, fresh
                if not self.won:
                    self.learn_from(pair, fresh)

    def _block(self, pair: int, size: int) -> tuple[int, Labelled]:
        """(runs spent, samples) of a block, part by part until wealth is enough or the subject fails; bets on a part in which it
        fails are not settled, whatever came of it."""
        predictor, before = self.predictors[pair], self.bets
        step = max(SMALLEST, math.ceil(size / PARTS)) if predictor is not None else size
        parts, counted, spent = [EMPTY], Counts(), 0
        while spent < size:
            wanted = min(step, size - spent)
            fresh = self.source.draw(pair, wanted)
            spent += wanted
            if len(fresh) < wanted:
                break
            parts.append(fresh)
            if predictor is not None:
                part = count(predictor, fresh)
                counted, self.total = counted + part, self.total + part
                leak = limits.delta(self.claim) * (1.0 if predictor.two_sided else 0.5)
                bets = before.after(counted, self.past_counts[pair], leak)
                self.bets = replace(bets, best=np.maximum(bets.best, self.bets.best))
                if self.won:
                    break
        return spent, joined(parts)

    def learn_from(self, pair: int, fresh: Labelled) -> None:
        past = joined([*self.seen[pair], fresh])
        self.seen[pair] = [past]
        self.predictors[pair] = predictor = learn(past.outputs, past.labels, self.goal)
        self.past_counts[pair] = count(predictor, past)


def game(source: Source, claim: Claim, *, error: float) -> Game:
    number = len(source.pairs)
    none: list[Predictor | None] = [None] * number
    return Game(source, claim, error, [[] for _ in range(number)], none, [Counts()] * number, opening(claim))


def run_sequential(source: Source, claim: Claim, *, budget: int, error: float) -> Course:
    """Bets until the claim is refuted or the budget is spent."""
    played = game(source, claim, error=error)
    played.play(budget)
    return played.course


def _next_pair(alive: list[int], predictors: list[Predictor | None], sizes: list[int], turn: int) -> int:
    """A pair not seen yet; else the most promising one, and every other time, of the four most promising, the least seen."""
    unseen = [pair for pair in alive if predictors[pair] is None]
    if unseen:
        return unseen[0]
    promising = sorted(alive, key=lambda pair: -p.expected if (p := predictors[pair]) is not None else 0.0)[:EXPLORED]
    return min(promising, key=lambda pair: sizes[pair]) if turn % 2 else promising[0]
