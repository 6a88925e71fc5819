"""Several releases against an approximate, zCDP or GDP claim: weighted transcripts, and a bound that holds at any time.

δ(ε) = E[(1 − e^{ε−L})₊] over the transcript's loss L.  Losses that count are rare under an honest claim.  So half of all
transcripts are drawn from laws that are tilted towards large losses, p(p/q)^λ up to a constant, with the p and q of one transcript
on the two data sets; the others are drawn as they are, for what is rare may lie elsewhere.  Each transcript counts with its
weight, the density of what it drew under the mechanism's own laws over that under this mixture, which is 2 at most.
The mean of weight × (1 − e^{ε−L})₊ is δ(ε) whatever later laws depend on: the tilt matters for the spread alone.
ρ-zCDP is a claim about E[e^{(α−1)L}] ≤ e^{α(α−1)ρ} at every order α, μ-GDP one about δ(ε) at every ε.  Such a claim is tested at
the order, or the ε, at which the releases of one transcript exceed it most.

A gambler who stakes a share c of what she has on "the mean is above m" multiplies it by 1 − c + c·x/m at every value x ≥ 0.  If
the mean is at most m, she ever has 1/a times her stake with probability at most a [Ville].  So no value is too large, and
transcripts are drawn until the claim is refuted or nothing more is to be expected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv, logsumexp

from tailproof.refimpl.channel import Channel, Release, ReplayDiverged, Transcript
from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP, gaussian_delta
from tailproof.refimpl.laws import Gaussian, Laplace, Law, Value, is_trusted
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import loss_laws
from tailproof.verification.divergences import NoExactFormula
from tailproof.verification.pair_checks import (
    TOLERANCE,
    Comparison,
    Measurement,
    compare_or_say_why_not,
    diverged,
    raises_on_data,
    transcript_loss,
)
from tailproof.verification.subject import Subject

FALSE_ALARM = 1e-9
"""Probability with which one check here calls a true claim violated."""
SHARES = np.concatenate([np.geomspace(1e-3, 0.07, 10), np.linspace(0.1, 0.9, 9)])
"""What gamblers stake, little where much is won seldom; together they have the mean of what each has."""
RUNS = 300  # transcripts of one check
ENOUGH = 60  # transcripts, where the losses of all are alike and their composition keeps the claim
PROOF = 6000  # transcripts at most, where they are alike and it does not
TILTS = np.concatenate([[0.0], np.geomspace(0.02, 300.0, 120)])
LARGEST = 400.0  # log of what is averaged: far from overflow


def binomial_lower(successes: int, trials: int, error: float) -> float:
    """A lower confidence bound for a binomial probability: wrong with probability at most `error`."""
    return 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, error))


# --- a lower bound of a mean -------------------------------------------------------------------------------------------------


def log_wealth(log_values: FloatArray, log_mean: float) -> float:
    """Of the gamblers against "the mean is at most e^log_mean", after these values."""
    with np.errstate(over="ignore"):
        ratio = np.exp(np.minimum(log_values - log_mean, 600.0))
    grown = np.log1p(SHARES[:, np.newaxis] * (ratio - 1)).sum(axis=1)
    return float(logsumexp(grown) - math.log(len(SHARES)))


def mean_lower(log_values: FloatArray, error: float) -> float:
    """log of a lower confidence bound for the mean of values ≥ 0, given by their logarithms: `error` is its chance to err."""
    if np.isposinf(log_values).any() or not (log_values > -np.inf).any():
        return float(log_values.max())  # (infinite losses have a mean without end)
    high = float(logsumexp(log_values) - math.log(len(log_values)))  # against the mean itself nothing is won
    low, wanted = high - 1.0, -math.log(error)
    while log_wealth(log_values, low) < wanted:
        low -= 2 * (high - low)
        if low < high - 1e4:
            return -math.inf
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if log_wealth(log_values, middle) >= wanted else (low, middle)
    return low


# --- tilted laws ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tilt:
    """Towards large losses of one release: λ, and its move in scales (for outcomes: their losses) in a transcript seen before."""

    kind: type[Any]
    losses: FloatArray
    size: float = 0.0

    def draw(self, law: Any, rng: np.random.Generator) -> Value:
        if self.kind is Gaussian:
            return np.asarray(law.location + law.scale * (rng.standard_normal(self.losses.shape) + self.size * self.losses))
        if self.kind is Laplace:
            return np.asarray(law.location + law.scale * _tilted_laplace(self.losses, self.size, rng))
        logits = law.log_probabilities() + self.size * self.losses
        return np.asarray(np.argmax(logits + rng.gumbel(size=logits.shape)), dtype=np.int64)

    def log_weight(self, law: Any, value: Value) -> float:
        """log of the law's density over that of the tilted law."""
        if self.kind is Gaussian:
            z = (value - law.location) / law.scale
            return float(np.sum(self.size * self.losses * (self.size * self.losses / 2 - z)))
        if self.kind is Laplace:
            z, t = np.sign(self.losses) * (value - law.location) / law.scale, np.abs(self.losses)
            loss = np.abs(z + t) - np.abs(z)
            return float(np.sum(np.log(sum(_masses(t, self.size)) / 2) + self.size * (t - loss)))
        log_p = law.log_probabilities()
        return float(logsumexp(log_p + self.size * self.losses) - self.size * self.losses[int(value)])

    def fits(self, law: Law) -> bool:
        if type(law) is not self.kind or not is_trusted(law):
            return False
        shape = law.location.shape if isinstance(law, Gaussian | Laplace) else law.log_probabilities().shape  # type: ignore[attr-defined]
        return bool(shape == self.losses.shape)


def _masses(t: FloatArray, size: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of exp(−|z| + λ(ℓ(z) − t)), where ℓ(z) = |z + t| − |z|: beyond 0, between −t and 0, below −t."""
    rate = 1 + 2 * size
    return np.ones_like(t), np.asarray(-np.expm1(-rate * t) / rate), np.exp(-rate * t)


def _tilted_laplace(moves: FloatArray, size: float, rng: np.random.Generator) -> FloatArray:
    """Coordinates of the density above, in scales: an exponential law beyond 0 and below −t, and one of rate 1 + 2λ between."""
    t, rate = np.abs(moves), 1 + 2 * size
    beyond, between, below = _masses(t, size)
    where, x = rng.random(moves.shape) * (beyond + between + below), rng.exponential(size=moves.shape)
    inner = np.log1p(-rng.random(moves.shape) * -np.expm1(-rate * t)) / rate
    z = np.where(where < beyond, x, np.where(where < beyond + between, inner, -t - x))
    return np.where(moves < 0, -z, z)


def tilts_of(compared: Comparison) -> dict[int, Tilt]:
    """By the release's place; none where there is no formula: then values are drawn as they are."""
    found = {}
    changed = {a.name for a, _ in compared.changed}
    for at, (a, b) in enumerate(compared.releases):
        p, q = a.law, b.law
        if a.name not in changed or type(p) is not type(q) or not is_trusted(p):
            continue
        if isinstance(p, Gaussian | Laplace):
            if np.array_equal(p.scale, q.scale):  # type: ignore[attr-defined]
                found[at] = Tilt(type(p), (p.location - q.location) / p.scale)  # type: ignore[attr-defined]
        elif isinstance(p, loss_laws.DISCRETE):
            with np.errstate(invalid="ignore"):
                losses = p.log_probabilities() - q.log_probabilities()  # type: ignore[attr-defined]
            found[at] = Tilt(type(p), np.clip(np.nan_to_num(losses, nan=0.0), -50.0, 50.0))
    return found


def log_moment(tilts: dict[int, Tilt], here: Transcript, size: float) -> float:
    """log E[e^{λL}] of the releases that are tilted, with the laws of this transcript."""
    total = 0.0
    for at, tilt in tilts.items():
        if tilt.kind is Gaussian:
            total += size * (size + 1) / 2 * float(np.vdot(tilt.losses, tilt.losses))
        elif tilt.kind is Laplace:
            t, rate = np.abs(tilt.losses), 1 + 2 * size
            inside = (1 - np.exp(-rate * t)) / rate + np.exp(-rate * t)
            total += float(np.sum(size * t + np.log((1 + inside) / 2)))
        else:
            log_p = here.releases[at].law.log_probabilities()  # type: ignore[attr-defined]
            total += float(logsumexp(log_p + size * tilt.losses))
    return total


def divergence(compared: Comparison) -> float:
    """log E[e^L], to tell which of several pairs differ most."""
    return log_moment(tilts_of(compared), compared.here, 1.0)


def drawing(tilts: dict[int, Tilt], size: float, rng: np.random.Generator) -> tuple[Channel, list[float]]:
    """A channel on which values leave, by the toss of one coin all tilted or all as they are, and the tilt's weights of each."""
    log: dict[str, Release] = {}
    weights: list[float] = []
    tilted = rng.random() < 0.5

    def draw(proposed: Release) -> Value:
        tilt = tilts.get(len(log))
        if tilt is None or size == 0 or not tilt.fits(proposed.law):
            return proposed.law.sample(rng)
        tilt = replace(tilt, size=size)
        value = tilt.draw(proposed.law, rng) if tilted else proposed.law.sample(rng)
        weights.append(tilt.log_weight(proposed.law, value))
        return value

    return Channel(draw, log), weights


def log_weight(weights: list[float]) -> float:
    """log of the density as it is over that of the toss, ½ as it is and ½ tilted: at most log 2."""
    return float(-np.logaddexp(0.0, -math.fsum(weights)) + math.log(2))


# --- what is averaged, and what the claim says of it ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """Is the mean of f(L) at most e^log_bound?  f(L) = (1 − e^{ε−L})₊, or, at an order α, e^{(α−1)L}; `size` is the tilt's λ."""

    log_bound: float
    size: float
    epsilon: float | None = None  # None: the order α = 1 + λ

    def log_value(self, loss: float) -> float:
        if self.epsilon is None:
            return self.size * loss
        return math.log(-math.expm1(self.epsilon - loss)) if loss > self.epsilon else -math.inf

    def measured(self, log_mean: float) -> float:
        """In the claim's unit: δ, or ρ."""
        if self.epsilon is None:
            return max(0.0, log_mean / (self.size * (self.size + 1)))
        return math.exp(min(log_mean, 0.0))


def _tilt_for(epsilon: float, moments: FloatArray) -> float:
    """The λ with the smallest largest value of weight × (1 − e^{ε−L})₊, e^{κ−λε} λ^λ/(1+λ)^{1+λ}, κ = log E[e^{λL}]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.where(TILTS > 0, TILTS * np.log(TILTS), 0.0) - (1 + TILTS) * np.log1p(TILTS)
    return float(TILTS[np.argmin(moments - TILTS * epsilon + entropy)])


def question_of(claim: Claim, moments: FloatArray, pairs: loss_laws.Pairs) -> Question:
    """What to ask about this claim, given log E[e^{λL}] along one transcript at all `TILTS`, and the laws there."""
    if isinstance(claim, ApproxDP):
        return Question(math.log(claim.delta), _tilt_for(claim.epsilon, moments), claim.epsilon)
    if isinstance(claim, ZCDP):
        allowed = claim.rho * TILTS * (TILTS + 1)
        safe = (TILTS > 0) & (moments < LARGEST) & (allowed < LARGEST)
        safe[1] = True
        excess = moments - allowed
        worth = np.where(excess > 1, excess, -np.abs(allowed - 3))  # where nothing exceeds, a factor of e³ is easy to see
        at = int(np.argmax(np.where(safe, worth, -np.inf)))
        return Question(float(allowed[at]), float(TILTS[at]))
    assert isinstance(claim, GDP)
    levels = [level for level in loss_laws.LEVELS if gaussian_delta(claim.mu, float(level)) >= 1e-7] or [0.0]
    try:
        deltas = [loss_laws.delta_of(pairs, float(level)) / gaussian_delta(claim.mu, float(level)) for level in levels]
        epsilon = float(levels[int(np.argmax(deltas))])
    except NoExactFormula:
        epsilon = float(levels[len(levels) // 2])
    return Question(math.log(gaussian_delta(claim.mu, epsilon)), _tilt_for(epsilon, moments), epsilon)


# --- the check ------------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Sample:
    """Transcripts so far: the logarithms of weighted values, and whether the losses of all were distributed alike."""

    question: Question
    parts: list[Any] | None
    composed: float | None
    log_values: list[float] = field(default_factory=list)
    visible: bool = True
    alike: bool = True

    def add(self, log_weight: float, compared: Comparison) -> None:
        loss = transcript_loss(compared.here, compared.there)
        value = loss if math.isnan(loss) else self.question.log_value(loss)
        self.log_values.append(log_weight + value)
        self.visible = self.visible and compared.here.all_visible
        self.alike = self.alike and self.parts is not None and _alike(self.parts, _parts(compared))

    def is_enough(self, runs: int) -> bool:
        """Looked at when the number of transcripts has grown by a tenth, which a bound that holds at any time allows."""
        count = len(self.log_values)
        if count % max(1, count // 10):
            return False
        values, bound = np.array(self.log_values), self.question.log_bound
        if log_wealth(values, bound) >= -math.log(FALSE_ALARM):
            return True
        if self.alike and self.composed is not None:
            exceeds = self.composed > self.question.measured(bound) * (1 + TOLERANCE)
            return count >= (PROOF if exceeds else min(runs, ENOUGH))
        promising = count < PROOF and float(logsumexp(values)) - math.log(count) > bound
        return count >= runs and not promising


def _parts(compared: Comparison) -> list[Any] | None:
    """How the losses of the releases are distributed; None where there is no formula."""
    try:
        return [loss_laws.parts_of_release(a.law, b.law) for a, b in compared.changed]
    except NoExactFormula:
        return None


def _alike(first: list[Any], second: list[Any] | None) -> bool:
    """The same up to rounding."""
    if second is None or [list(map(type, parts)) for parts in first] != [list(map(type, parts)) for parts in second]:
        return False
    a, b = (np.array([x for parts in side for x in _numbers(parts)]) for side in (first, second))
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-12))


def _numbers(parts: list[Any]) -> Iterator[float]:
    for part in parts:
        for value in vars(part).values():
            yield from value if isinstance(value, tuple) else (value,)


def check_composition(
    subject: Subject, data: FloatArray, neighbour: FloatArray, seed: int, *, runs: int = RUNS
) -> Measurement:
    """A lower confidence bound of what the claim speaks of (δ at its ε; ρ; δ at one ε), on this pair; first data against second.

    Where the losses are distributed alike in all transcripts, their composition is known along every path that was seen, and
    that is what is measured: few transcripts are enough if it keeps the claim, and up to `PROOF` are drawn if it does not.
    """
    claim = subject.checked_claim
    assert claim is not None
    assert not isinstance(claim, PureDP)
    pilot = compare_or_say_why_not(subject, (data, neighbour), seed)
    if isinstance(pilot, Measurement):
        return pilot
    tilts, pairs = tilts_of(pilot), [(a.law, b.law) for a, b in pilot.changed]
    moments = np.array([log_moment(tilts, pilot.here, float(size)) for size in TILTS])
    question = question_of(claim, moments, pairs)
    sample = _Sample(question, _parts(pilot), _composed(pairs, question))
    for trial in range(max(runs, PROOF)):
        channel, weights = drawing(tilts, question.size, np.random.default_rng([seed, 1, trial]))
        try:
            output, here = subject.through(data, channel)
            again, there = subject.replay(neighbour, here)
        except ReplayDiverged as error:
            return diverged(error)
        except Exception as error:  # whatever it is: data that raise tell of themselves
            return raises_on_data(error)
        sample.add(log_weight(weights), Comparison(data, neighbour, output, here, again, there))
        if sample.is_enough(runs):
            break
    return _judged(sample, claim)


def _composed(pairs: loss_laws.Pairs, question: Question) -> float | None:
    """What the releases of one path have together, in this direction; None where there is no formula."""
    try:
        if question.epsilon is None:
            return loss_laws.rho_of(pairs)
        return loss_laws.delta_of(pairs, question.epsilon)
    except NoExactFormula:
        return None


def _judged(sample: _Sample, claim: Claim) -> Measurement:
    values, question = np.array(sample.log_values), sample.question
    bound = question.measured(question.log_bound)
    if np.isnan(values).any():
        return Measurement(math.nan, bound, "the loss of a transcript is not a number")
    log_lower = mean_lower(values, FALSE_ALARM)
    lower, said = question.measured(log_lower), _unit(question)
    power = f"none of {len(values)} transcripts loses more than ε"
    if question.epsilon is not None and log_lower == -math.inf:
        least = seen_anywhere(len(values), question.log_bound)
        power += f"; {said} = {least:.3g} would show with probability 1/2, wherever it lies"
    if log_lower > -math.inf:
        log_mean = float(logsumexp(values)) - math.log(len(values))
        seen = question.measured(question.log_bound + log_mean - log_lower)  # a mean that large, of values spread like these
        power = f"{len(values)} weighted transcripts would show {said} = {seen:.3g} with probability 1/2"
    if lower > bound * (1 + TOLERANCE):
        detail = f"{said} ≥ {lower:.6g} by {len(values)} weighted transcripts; claim {claim}"
        return Measurement(lower, bound, detail, sample.visible)
    if sample.composed is not None and sample.alike:
        detail = f"{said} of the releases composed, whose losses are distributed alike in all transcripts; {power}"
        return Measurement(sample.composed, bound, detail, conclusive=False)
    return Measurement(lower, bound, f"lower bound of {said}, whatever later laws depend on; {power}", sample.visible)


def seen_anywhere(count: int, log_bound: float) -> float:
    """The δ that refutes the claim in half of all cases, whatever it rests on: at worst on transcripts that are never tilted.

    These are half of all, and have the weight 2.
    """
    for hits in range(1, count + 1):
        values = np.where(np.arange(count) < hits, math.log(2), -np.inf)
        if log_wealth(values, log_bound) >= -math.log(FALSE_ALARM):
            return min(1.0, 2 * float(betaincinv(hits, count - hits + 1, 0.5)))
    return 1.0


def _unit(question: Question) -> str:
    return "ρ" if question.epsilon is None else f"δ({question.epsilon:g})"
