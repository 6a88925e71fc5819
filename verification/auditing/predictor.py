"""Learn, from outputs with known sides, which outputs tell the side and which side they tell.

An output is turned into a number by a *score*; where the score is low the predictor votes for one side, where it is high
for the other, in between it passes (vote 0).  Scores are tried cheap first: coordinates, distances from the middle, norms,
the projection on the difference of the means; then, fitted, a histogram of the log-ratio of the two laws, a table of the
outputs that occur often, a logistic classifier, and the sum of the log-ratios of the coordinates.  A fitted score is fitted on
every other sample and judged on the rest, so a flexible one gains nothing by being flexible.  Whatever is chosen here is chosen
before the samples that are counted, and costs no confidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing.ramps import fit_ramp, tail_sizes
from tailproof.verification.auditing.scores import (
    Distance,
    Fit,
    Linear,
    Score,
    fit_histogram,
    fit_logistic,
    fit_projection,
    fit_table,
)
from tailproof.verification.auditing.sums import fit_sum

Votes = NDArray[np.int8]

LEARN_FROM_AT_MOST = (
    100_000  # samples for fitted scores, and for all scores where every output is voted on; more change nothing
)
SELECTION = 3.5  # standard errors taken off an estimate, since the largest of several estimates is too large
BET_SELECTION = 2.0  # the same for bets, which go on learning
FIT_SELECTION = 2.0  # the same for scores that are judged on samples they were not fitted on
RAMP_SELECTION = 0.15  # the same for thresholds that a smooth fit chose


# --- what a region is chosen for -----------------------------------------------------------------------------------------


class Goal(Protocol):
    """`whole`: every output must be given a side.  `value`: how good a region is in which `correct` of `inside` votes were right
    among `seen` samples; arrays, larger is better."""

    @property
    def whole(self) -> bool: ...

    def value(self, correct: Any, inside: Any, seen: int, selection: float = SELECTION) -> FloatArray: ...

    def margin(self, judged: int) -> float:
        """By how much a score must be better than one that was tried before it, on so many samples."""
        ...


def share_lower(hits: Any, trials: Any, errors: float) -> FloatArray:
    """Wilson's bound, so many standard errors below hits/trials; sane also where nearly all are hits.  Strictly inside (0, 1)."""
    trials = np.maximum(trials, 1e-9)
    share, shrink = np.minimum(hits / trials, 1.0), errors**2 / trials
    bound = (share + shrink / 2 - np.sqrt(shrink * (share * (1 - share) + shrink / 4))) / (1 + shrink)
    return np.asarray(np.clip(bound, 1e-12, 1 - 1e-12))


@dataclass(frozen=True)
class Accuracy:
    """Claims that bound how often a guess is right when every output must be guessed."""

    whole: bool = True

    def value(self, correct: Any, inside: Any, seen: int, selection: float = SELECTION) -> FloatArray:  # noqa: ARG002
        return np.asarray(correct / np.float64(seen))

    def margin(self, judged: int) -> float:
        return 0.5 / math.sqrt(judged)


@dataclass(frozen=True)
class LogRatioLower:
    """The lower bound of ε to be expected from `holdout` further samples; `leaks` of the right guesses will not count (see
    `fixed`)."""

    holdout: int
    error: float
    leaks: int = 0
    whole: bool = False

    def value(self, correct: Any, inside: Any, seen: int, selection: float = SELECTION) -> FloatArray:
        scale = self.holdout / seen
        kept = np.maximum(np.asarray(correct) - self.leaks / scale, 0.0)
        share = share_lower(kept, inside - self.leaks / scale, selection - float(ndtri(self.error)) / math.sqrt(scale))
        return np.asarray(np.log(share) - np.log1p(-share))

    def margin(self, judged: int) -> float:  # noqa: ARG002
        return 0.0


@dataclass(frozen=True)
class DivergenceLower:
    """The lower bound of s·(2a−1)·logit(a) to be expected from `holdout` further samples (see `limits`)."""

    holdout: int
    error: float
    whole: bool = False

    def value(self, correct: Any, inside: Any, seen: int, selection: float = SELECTION) -> FloatArray:
        errors = selection - float(ndtri(self.error)) / math.sqrt(self.holdout / seen)
        share = share_lower(np.asarray(correct), inside, errors)
        divergence = (2 * share - 1) * (np.log(share) - np.log1p(-share))
        return np.asarray(np.where(share > 0.5, divergence * inside / seen, share - 0.5))

    def margin(self, judged: int) -> float:  # noqa: ARG002
        return 0.0


@dataclass(frozen=True)
class Growth:
    """The rate at which a bet on the votes grows when right guesses have probability at most `limit` under the claim."""

    limit: float
    whole: bool = False

    def value(self, correct: Any, inside: Any, seen: int, selection: float = BET_SELECTION) -> FloatArray:
        share = share_lower(np.asarray(correct), inside, selection)
        edge = np.clip(share, self.limit, 1 - 1e-12)
        rate = edge * np.log(edge / self.limit) + (1 - edge) * np.log((1 - edge) / (1 - self.limit))
        return np.asarray(np.where(share > self.limit, rate * inside / seen, share - self.limit))

    def margin(self, judged: int) -> float:  # noqa: ARG002
        return 0.0


# --- thresholds ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Predictor:
    """Votes `low_side` where score ≤ low, −low_side where score ≥ high, else passes.  Sides are −1 (A) and 1 (B)."""

    score: Score
    low: float
    high: float
    low_side: int
    expected: float  # of the goal, on the samples it was learned from
    whole: bool = False  # also votes, for either side, on what it knows nothing of

    def votes(self, outputs: FloatArray) -> Votes:
        """Lower votes win where thresholds meet."""
        scores = self.score(outputs)
        with np.errstate(invalid="ignore"):
            other = np.where(scores >= self.high, -self.low_side, -1 if self.whole else 0)
            return np.where(scores <= self.low, self.low_side, other).astype(np.int8)

    @property
    def two_sided(self) -> bool:
        return self.low > -math.inf and self.high < math.inf

    def __str__(self) -> str:
        names = {-1: "A", 1: "B"}
        low = f"{names[self.low_side]} if ≤ {self.low:.6g}" if self.low > -math.inf else ""
        high = f"{names[-self.low_side]} if ≥ {self.high:.6g}" if self.high < math.inf else ""
        return f"{self.score}: {', '.join(filter(None, [low, high])) or 'no vote'}"


def best_thresholds(
    score: Score, scores: FloatArray, labels: NDArray[np.int8], goal: Goal, selection: float | None = None
) -> Predictor:
    """The two tails, of either orientation, that do best on these samples."""
    known = ~np.isnan(scores)
    seen = len(scores)
    order = np.argsort(scores[known], kind="stable")
    values, second = scores[known][order], np.concatenate([[0], np.cumsum(labels[known][order] > 0)])
    count = len(values)
    if goal.whole:
        return _best_split(score, values, second, goal, seen)
    # the lower tail of size i holds everything ≤ its largest value, so ties join it; likewise the upper tail
    lower = np.unique(np.concatenate([[0], np.searchsorted(values, values[tail_sizes(count) - 1], side="right")]))
    upper = np.unique(np.concatenate([[0], count - np.searchsorted(values, values[count - tail_sizes(count)], side="left")]))
    inside = lower[:, None] + upper[None, :]
    right = (lower - second[lower])[:, None] + (second[count] - second[count - upper])  # if low tells A, high B
    possible = (inside > 0) & (inside <= count)
    best = (-math.inf, 0, 0, -1)
    for side, correct in ((-1, right), (1, inside - right)):
        worth = goal.value(correct, inside, seen) if selection is None else goal.value(correct, inside, seen, selection)
        values_of = np.where(possible, worth, -math.inf)
        place = int(values_of.argmax())
        best = max(best, (float(values_of.flat[place]), *divmod(place, len(upper)), side))
    expected, i, j, side = best
    low = _between(values, int(lower[i]) - 1) if lower[i] else -math.inf
    high = _between(values, count - int(upper[j]) - 1) if upper[j] else math.inf
    return Predictor(score, low, high, side, expected)


def _between(values: FloatArray, position: int) -> float:
    """Half-way between a value and the next: neither belongs to a tail by a rounding error."""
    if position < 0:
        return math.nextafter(float(values[0]), -math.inf)
    if position + 1 >= len(values):
        return float(values[-1])
    middle = float(values[position]) / 2 + float(values[position + 1]) / 2
    return middle if values[position] < middle < values[position + 1] else float(values[position])


def _best_split(score: Score, values: FloatArray, second: NDArray[np.int64], goal: Goal, seen: int) -> Predictor:
    """Everything is voted on.  The middle splits, unless another place is better by two standard errors of the difference:
    for small shifts accuracy is so flat that its empirical maximum is far off."""
    count = len(values)
    middle = int(np.searchsorted(values, 0.0)) if score.log_ratio else count // 2
    sizes = np.unique(np.append(np.round(np.linspace(0, count, 33)).astype(int), middle))
    if count:
        sizes = np.unique(np.searchsorted(values, values[np.clip(sizes, 1, count) - 1], side="right"))
        middle = int(sizes[np.abs(sizes - middle).argmin()])
    right = (sizes - second[sizes]) + (second[count] - second[sizes])
    start = int(np.flatnonzero(sizes == middle)[0])
    best = (-math.inf, start, -1)
    for side, correct in ((-1, right), (1, count - right)):
        gain = (correct - correct[start]) - 2 * np.sqrt(np.abs(sizes - middle)) - 1e-9
        gain[start] = 0
        k = int(gain.argmax())
        best = max(best, (float(correct[k]) - 2 * math.sqrt(abs(int(sizes[k]) - middle)), k, side))
    points, k, side = best
    threshold = _between(values, int(sizes[k]) - 1) if count else 0.0
    expected = float(goal.value(points + (seen - count) / 2, seen, seen))
    return Predictor(score, threshold, math.nextafter(threshold, math.inf), side, expected)


def ramp_thresholds(score: Score, values: FloatArray, second: NDArray[np.int64], goal: Goal, seen: int) -> Predictor | None:
    """Both tails beyond the same fitted log-ratio, chosen by what the fit expects rather than by noisy counts."""
    ramp = fit_ramp(values, second)
    if ramp is None:
        return None
    t = np.abs(ramp.log_ratios(values))
    order = np.argsort(-t, kind="stable")
    sizes = tail_sizes(len(t))
    right = np.cumsum(expit(t[order]))[sizes - 1]
    level = t[order][sizes - 1]
    top = level >= t[order[0]] * (1 - 1e-12)
    if top.any():  # a plateau is taken as a whole
        sizes, right, level = sizes[~top], right[~top], level[~top]
        whole = int((t >= t[order[0]] * (1 - 1e-12)).sum())
        sizes, right = np.append(sizes, whole), np.append(right, whole * float(expit(t[order[0]])))
        level = np.append(level, t[order[0]])
    best = int(goal.value(right, sizes, seen, 0.0).argmax())
    reach, side = float(level[best]) / abs(ramp.slope), -1 if ramp.slope > 0 else 1
    below, above = (ramp.floor, ramp.ceiling) if side < 0 else (ramp.ceiling, ramp.floor)
    low = ramp.centre - reach if level[best] <= below else -math.inf
    high = ramp.centre + reach if level[best] <= above else math.inf
    under, over = int(np.searchsorted(values, low, side="right")), int(np.searchsorted(values, high, side="left"))
    inside = under + len(values) - over
    hits = under - second[under] + second[-1] - second[over]
    correct = hits if side < 0 else inside - hits
    return Predictor(score, low, high, side, float(goal.value(correct, inside, seen, RAMP_SELECTION)))


# --- learning ------------------------------------------------------------------------------------------------------------


def _plain_scores(outputs: FloatArray, labels: NDArray[np.int8]) -> Iterator[Score]:
    """Scores without a fit: the coordinates that separate best, each with its distance from the middle; norms."""
    d = outputs.shape[1]
    middle, spread = np.median(outputs, axis=0), outputs.std(axis=0)
    if d == 1:
        yield Linear(np.ones(1))
        yield Distance(middle, np.ones(1))
        return
    weights = np.divide(1.0, spread, out=np.zeros(d), where=(spread > 0) & np.isfinite(spread))
    yield Distance(np.zeros(d), np.ones(d))
    yield Distance(middle, weights)
    units = np.clip((outputs - middle) * weights, -3, 3)
    first, second = units[labels < 0], units[labels > 0]
    if not len(first) or not len(second):
        return
    shift = np.abs(first.mean(axis=0) - second.mean(axis=0))
    widening = np.abs(np.abs(first).mean(axis=0) - np.abs(second).mean(axis=0))
    for j in np.argsort(-shift)[:3]:
        yield Linear(np.eye(d)[j])
    for j in np.argsort(-widening)[:2]:
        yield Distance(middle, np.eye(d)[j])


def _fits(outputs: FloatArray, best: Score) -> Iterator[Fit]:
    yield fit_table
    if outputs.shape[1] == 1:
        yield lambda z, y: fit_histogram(Linear(np.ones(1)), z, y)
        return
    yield fit_projection
    yield lambda z, y: fit_histogram(best, z, y)
    yield fit_logistic
    yield fit_sum


def _with_ramp(found: Predictor, scores: FloatArray, labels: NDArray[np.int8], goal: Goal) -> Predictor:
    """The same score with thresholds of a ramp, where that promises more."""
    if goal.whole or found.score.log_ratio:
        return found
    order = np.argsort(scores)
    second = np.concatenate([[0], np.cumsum(labels[order] > 0)])
    ramp = ramp_thresholds(found.score, scores[order], second, goal, len(scores))
    return ramp if ramp is not None and ramp.expected > found.expected else found


def _judged(
    score: Score,
    scores: FloatArray,
    labels: NDArray[np.int8],
    goal: Goal,
    *,
    ramp: bool,
    selection: float | None = None,
) -> Predictor:
    found = best_thresholds(score, scores, labels, goal, selection)
    return _with_ramp(found, scores, labels, goal) if ramp else found


def _crossed_scores(fit: Fit, outputs: FloatArray, labels: NDArray[np.int8]) -> FloatArray | None:
    """Every other sample scored by what the rest taught."""
    scores = np.empty(len(labels))
    for part in (0, 1):
        mine, others = slice(part, None, 2), slice(1 - part, None, 2)
        score = fit(outputs[others], labels[others])
        if score is None:
            return None
        scores[mine] = score(outputs[mine])
    return scores


def _fitted(fit: Fit, outputs: FloatArray, labels: NDArray[np.int8], goal: Goal) -> Predictor | None:
    """Judged by scores of samples that it was not fitted on, then fitted on all.  Thresholds of a log-ratio carry over; others,
    which depend on a direction, are chosen again."""
    scores = _crossed_scores(fit, outputs, labels)
    again = fit(outputs, labels) if scores is not None else None
    if scores is None or again is None:
        return None
    judged = _judged(again, scores, labels, goal, ramp=True, selection=FIT_SELECTION)
    if again.log_ratio:
        return judged
    chosen = _judged(again, again(outputs), labels, goal, ramp=True, selection=FIT_SELECTION)
    return replace(chosen, expected=judged.expected)


def learn(outputs: FloatArray, labels: NDArray[np.int8], goal: Goal) -> Predictor:
    """The predictor that promises most for the goal."""
    if goal.whole:
        outputs, labels = outputs[:LEARN_FROM_AT_MOST], labels[:LEARN_FROM_AT_MOST]
    scores = list(_plain_scores(outputs, labels))
    plain = [_judged(score, score(outputs), labels, goal, ramp=len(scores) == 2) for score in scores]
    best = plain[0]
    for found in plain[1:]:
        if found.expected > best.expected + goal.margin(len(labels)):
            best = found
    if len(plain) > 2:  # with many scores, for the best one only
        best = _with_ramp(best, best.score(outputs), labels, goal)
    outputs, labels = outputs[:LEARN_FROM_AT_MOST], labels[:LEARN_FROM_AT_MOST]
    if min((labels[part::2] == side).sum() for part in (0, 1) for side in (-1, 1)) < 5:
        return replace(best, whole=goal.whole)
    for fit in _fits(outputs, best.score):
        judged = _fitted(fit, outputs, labels, goal)
        if judged is not None and judged.expected > best.expected + goal.margin(len(labels)):
            best = judged
    return replace(best, whole=goal.whole)
