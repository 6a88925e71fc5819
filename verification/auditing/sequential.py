"""Bets against a claim that may be looked at after every block: valid however long the audit runs and why ever it stops.

Whoever bets on a guess at odds that are fair when it is right with chance a wins q/a if it is right and (1−q)/(1−a) if it
is wrong, for any q ≥ a fixed beforehand.  Under the claim the chance is at most a, so wealth is a supermartingale: from 1
it ever reaches 1/error with probability at most `error` [Ville].  A sample of a claim with a δ leaks with probability at
most δ, and then multiplies wealth by at most q/a; dividing every sample's factor, guessed or not, by 1 + δ(q/a − 1) makes
up for it.

Before each block wealth is spread over many q, in proportion to how well each would have done on a part of what was seen,
with a little kept as cash.  The predictor, and among several pairs the pair, is chosen before each block from everything
seen: one wealth bets on all pairs, and no error is shared out.  The same bets against other values of the claim's parameter
give a lower bound that holds at all times: a value counts as refuted once it and all smaller ones of a fixed grid have
been.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from refimpl.claims import Claim
from refimpl.validation import FloatArray
from verification.auditing import limits
from verification.auditing.predictor import Accuracy, Goal, Growth, Predictor, learn
from verification.auditing.runs import Labelled, Source, joined

FIRST_BLOCK = 40
GROWTH = 0.25  # of the samples so far, in the next block
TRUST = 0.5  # power to which past successes count: they are those the predictor was learned from, and look too good
CASH = 0.03  # part of the wealth that is not bet
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
        """Bet on a block, guided by what the same predictor would have done before."""
        right, wrong, cost = _log_factors(self.accuracies, leak)

        def log_growth(counts: Counts) -> FloatArray:
            return counts.correct * right + (counts.inside - counts.correct) * wrong - counts.seen * cost

        weights = TRUST * log_growth(past)
        weights = math.log1p(-CASH) + weights - np.logaddexp.reduce(weights, axis=1, keepdims=True)
        weights[:, 0] = np.logaddexp(weights[:, 0], math.log(CASH))
        log_wealth = self.log_wealth + np.logaddexp.reduce(weights + log_growth(block), axis=1)
        return Bets(self.claim, self.values, self.accuracies, log_wealth, np.maximum(self.best, log_wealth))

    def refuted(self, error: float) -> float:
        """The largest value that has been refuted, 0 if none."""
        alive = np.flatnonzero(self.best < -math.log(error))
        count = int(alive[0]) if len(alive) else len(self.values)
        return float(self.values[count - 1]) if count else 0.0

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


def run_sequential(source: Source, claim: Claim, *, budget: int, error: float) -> Course:
    """Bets until the claim is refuted or the budget is spent."""
    accuracy = limits.accuracy_upper(claim, limits.parameter(claim))
    goal: Goal = Growth(accuracy) if limits.may_pass(claim) else Accuracy()
    bets = opening(claim)
    seen: list[list[Labelled]] = [[] for _ in source.pairs]
    predictors: list[Predictor | None] = [None for _ in source.pairs]
    past_counts = [Counts() for _ in source.pairs]
    total = Counts()
    samples = pair = turn = 0
    while True:
        pair = _next_pair(predictors, [sum(map(len, parts)) for parts in seen], turn)
        turn += 1
        so_far = sum(map(len, seen[pair]))
        fresh = source.draw(pair, min(budget - samples, max(FIRST_BLOCK, int(GROWTH * so_far))))
        samples += len(fresh)
        predictor = predictors[pair]
        if predictor is not None:
            block = count(predictor, fresh)
            bets = bets.after(block, past_counts[pair], limits.delta(claim) * (1.0 if predictor.two_sided else 0.5))
            total += block
        if samples == budget or bets.refuted(error) >= limits.parameter(claim):
            return Course(bets, samples, pair, predictor, total, error)
        past = joined([*seen[pair], fresh])
        seen[pair] = [past]
        predictors[pair] = predictor = learn(past.outputs, past.labels, goal)
        past_counts[pair] = count(predictor, past)


def _next_pair(predictors: list[Predictor | None], sizes: list[int], turn: int) -> int:
    """A pair not seen yet; else by turns the most promising one and the one with the fewest samples."""
    fewest = min(range(len(sizes)), key=lambda pair: sizes[pair])
    if sizes[fewest] == 0 or turn % 2:
        return fewest
    return max(range(len(sizes)), key=lambda pair: p.expected if (p := predictors[pair]) is not None else -math.inf)
