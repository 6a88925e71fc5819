"""`audit`: is a privacy claim refuted by a mechanism's outputs on neighbouring data sets?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from tailproof.refimpl.claims import Claim, claim_to_json, parse_claim
from tailproof.refimpl.validation import InputError, probability, whole
from tailproof.verification.auditing import limits
from tailproof.verification.auditing.admissible import Admissible
from tailproof.verification.auditing.fixed import POWER, run_fixed
from tailproof.verification.auditing.outputs import Incident, shown_data
from tailproof.verification.auditing.predictor import Predictor
from tailproof.verification.auditing.runner import Runner, WorkerRunner, runner_of
from tailproof.verification.auditing.runs import (
    EMPTY,
    REPEATED,
    Labelled,
    Pair,
    Source,
    hidden_randomness,
    no_randomness,
    source,
)
from tailproof.verification.auditing.search import LEAST, Found, Promise, Spaces, search_neighbours
from tailproof.verification.auditing.sequential import Counts, game
from tailproof.verification.report import plain

LEAST_BUDGET = 50
LEAST_SEARCHED = 400  # without pairs: fewer runs cannot look at several and test one
SEARCH_SHARE = 0.35  # of the budget of a fixed audit, and of every stage of a sequential one
FIRST_STAGE = 300  # runs of a sequential audit before its search goes on; every stage is twice as long
SHAPES = (1, 2, 8)  # columns that are tried where nothing is said about the data
RECORDS = 10

Verdict = Literal["violated", "consistent", "inconclusive"]


@dataclass(frozen=True)
class AuditResult:
    """What an audit found.  `lower` exceeds the true parameter with probability at most 1 − confidence (in a sequential
    audit, at any time).  `detectable` is the least true value that this budget would have refuted with probability `power`,
    if every guess is as good as that value allows.  `inconclusive`: the subject failed before a verdict was reached; `incidents`
    say how, and where."""

    verdict: Verdict
    claim: Claim
    parameter: str
    lower: float
    confidence: float
    p_value: float
    samples: int
    pairs_tried: int
    seconds: float
    sequential: bool
    detectable: float
    power: float
    seed: int
    witness: dict[str, Any]
    incidents: tuple[Incident, ...] = ()
    pair: Pair | None = None  # of the witness, in full

    def to_json(self) -> dict[str, Any]:
        """The documented keys, and a few more."""
        found: dict[str, Any] = plain(
            {
                "verdict": self.verdict,
                "claim": claim_to_json(self.claim),
                f"{self.parameter}_lower": self.lower,
                "confidence": self.confidence,
                "p_value": self.p_value,
                "samples": self.samples,
                "pairs_tried": self.pairs_tried,
                "seconds": self.seconds,
                "sequential": self.sequential,
                f"{self.parameter}_detectable": self.detectable,
                "power": self.power,
                "seed": self.seed,
                "witness": self.witness,
                "incidents": [incident.to_json() for incident in self.incidents],
            }
        )
        return found

    def __str__(self) -> str:
        letter = {"epsilon": "ε", "mu": "μ", "rho": "ρ"}[self.parameter]
        looked = "at every look" if self.sequential else "after a fixed number of runs"
        lines = [
            f"{self.verdict}: {self.claim}",
            f"{letter} ≥ {self.lower:.6g} with confidence {self.confidence:g}, {looked}; p-value of the claim {self.p_value:.3g}",
            f"{self.samples} runs on {self.pairs_tried} pair{'s' if self.pairs_tried > 1 else ''}, {self.seconds:.2f} s",
            f"guesses: {self.witness['region']}; {self.witness['correct']} of {self.witness['guesses']} right",
        ]
        if self.verdict == "consistent":
            least = f"{letter} = {self.detectable:.4g}" if self.detectable < math.inf else "nothing"
            lines.append(
                f"as many guesses find, with probability {self.power:g}, {least} or more where outputs show it in full"
            )
        lines += [f"the subject: {incident}" for incident in self.incidents[:5]]
        if len(self.incidents) > 5:
            lines.append(f"the subject: {len(self.incidents) - 5} further incidents")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What either kind of audit ends with."""

    lower: float
    p_value: float
    detectable: float
    power: float
    refuted: bool
    complete: bool
    pair: int
    predictor: Predictor | None
    counts: Counts
    last: Labelled | None
    searched: int = 0  # pairs that a search looked at


def audit(
    mechanism: Callable[..., Any] | Runner,
    claim: Claim | str,
    pairs: Iterable[Pair] | None = None,
    *,
    space: Spaces | None = None,
    budget: int = 100_000,
    confidence: float = 0.999,
    sequential: bool = False,
    seed: int = 0,
    vectorised: bool | None = None,
    time_limit: float | None = None,
) -> AuditResult:
    """Test the claim on pairs of neighbouring data sets with at most `budget` runs, both sides, all pairs and the search together.

    `mechanism` is f(data, rng) → number or array, or f(data, rng, size) → `size` of them, or f(data, channel), or anything with a
    method `sample(data, rng, size)`.  Without pairs, bad neighbours are searched among the data of `space`, by default among ten
    records of a few columns without bounds.  A true claim is called violated with probability at most 1 − confidence, whatever was
    searched and learned.  Whether given pairs are neighbours in the claim's sense is up to the caller.  With a `time_limit`
    (seconds of a run, or of a batch where it is vectorised) the function runs in a process of its own, killed when it hangs.
    """
    start = time.perf_counter()
    stated = checked_claim(claim)
    error = 1 - probability("confidence", confidence)
    budget, seed = whole("budget", budget, least=LEAST_BUDGET), whole("seed", seed, least=0)
    chosen = _checked_pairs(pairs, budget)
    spaces = _spaces(space, stated, chosen, budget)
    runner = runner_of(mechanism, vectorised=vectorised, time_limit=time_limit)
    try:
        samples = source(runner, chosen or [], seed)
        play = _sequential if sequential else _fixed
        outcome = play(samples, stated, spaces, budget=budget, error=error, seed=seed)
    finally:
        if isinstance(runner, WorkerRunner) and runner is not mechanism:
            runner.close()
    verdict: Verdict = "violated" if outcome.refuted else "consistent" if outcome.complete else "inconclusive"
    return AuditResult(
        verdict=verdict,
        claim=stated,
        parameter=limits.parameter_name(stated),
        lower=outcome.lower,
        confidence=confidence,
        p_value=outcome.p_value,
        samples=samples.runs,
        pairs_tried=outcome.searched or len(samples.pairs),
        seconds=time.perf_counter() - start,
        sequential=sequential,
        detectable=outcome.detectable,
        power=outcome.power,
        seed=seed,
        witness=_witness(samples.pairs, outcome),
        incidents=_incidents(samples, outcome),
        pair=samples.pairs[outcome.pair] if samples.pairs else None,
    )


# --- the two kinds of audit ----------------------------------------------------------------------------------------------


def _fixed(samples: Source, claim: Claim, spaces: Spaces | None, *, budget: int, error: float, seed: int) -> _Outcome:
    found = None
    if spaces is not None:
        found = _searched(samples, spaces, claim, int(SEARCH_SHARE * budget), seed, None)
        samples.pairs += found.pairs
    if not samples.pairs:
        return _nothing(found)
    _probe(samples, seed)
    known = [] if found is None else [_known(promise) for promise in found.promises]
    course = run_fixed(samples, claim, budget=budget - samples.runs, error=error, known=known)
    tally = course.tally
    return _Outcome(
        lower=tally.lower,
        p_value=tally.p_value,
        detectable=tally.detectable(),
        power=POWER,
        refuted=tally.lower > limits.parameter(claim),
        complete=course.complete,
        pair=course.pair,
        predictor=course.predictor,
        counts=Counts(tally.correct, tally.inside, tally.counted),
        last=course.last,
        searched=0 if found is None else len(found.candidates),
    )


def _sequential(samples: Source, claim: Claim, spaces: Spaces | None, *, budget: int, error: float, seed: int) -> _Outcome:
    """One wealth bets on all pairs, also on those that the search adds on the way: nothing is shared out."""
    played, found, stage = game(samples, claim, error=error), None, FIRST_STAGE
    if samples.pairs:
        _probe(samples, seed)
    while samples.runs < budget and not played.won:
        left = budget - samples.runs
        if spaces is None:
            played.play(left)
            break
        if left >= 2 * LEAST_BUDGET:
            found = _searched(samples, spaces, claim, max(2 * LEAST, int(SEARCH_SHARE * min(stage, left))), seed, found)
            for promise in found.promises:
                played.add(promise.pair, _known(promise))
        if not samples.pairs:
            return _nothing(found)
        spent = samples.runs
        played.play(min(budget - spent, stage - int(SEARCH_SHARE * stage)))
        if samples.runs == spent:  # the subject fails on every pair
            break
        stage *= 2
    if not samples.pairs:
        return _nothing(found)
    course = played.course
    return _Outcome(
        lower=course.lower,
        p_value=course.p_value,
        detectable=course.detectable(),
        power=0.5,
        refuted=played.won,  # the values up to the bound itself are refuted
        complete=not all(samples.failed(pair) for pair in range(len(samples.pairs))),
        pair=course.pair,
        predictor=course.predictor,
        counts=course.total,
        last=played.last,
        searched=0 if found is None else len(found.candidates),
    )


def _nothing(found: Found | None) -> _Outcome:
    return _Outcome(0.0, 1.0, math.inf, POWER, False, False, 0, None, Counts(), None, len(found.candidates) if found else 0)


def _searched(samples: Source, spaces: Spaces, claim: Claim, budget: int, seed: int, earlier: Found | None) -> Found:
    """Its runs count, its incidents are kept."""
    number = 0 if earlier is None else len(earlier.candidates)
    found = search_neighbours(samples.runner, spaces, claim, budget=budget, seed=seed + number, earlier=earlier)
    samples.runs += found.runs
    samples.incidents += found.incidents
    return found


def _known(promise: Promise) -> Labelled:
    return promise.seen if promise.seen is not None else EMPTY


def _probe(samples: Source, seed: int) -> None:
    """Whether runs can be repeated: a few runs, twice."""
    incident = hidden_randomness(samples.runner, samples.pairs[0], seed)
    samples.runs += 2 * REPEATED
    if incident is not None:
        samples.incidents.append(incident)


# --- input and output ----------------------------------------------------------------------------------------------------


def checked_claim(claim: Claim | str) -> Claim:
    stated = parse_claim(claim) if isinstance(claim, str) else claim
    if not isinstance(stated, Claim):
        raise InputError(f"claim = {claim!r}: must be a claim or its text, such as 'pure(eps=1)'")
    if limits.accuracy_upper(stated, limits.parameter(stated)) > 1 - 1e-9:
        raise InputError(
            f"claim = {stated}: no audit can refute it; outputs may tell the data sets apart all but once in 1e9 runs"
        )
    return stated


def _checked_pairs(pairs: Iterable[Pair] | None, budget: int) -> list[Pair] | None:
    if pairs is None:
        return None
    try:
        chosen = [(first, second) for first, second in pairs]
    except (TypeError, ValueError):
        raise InputError("pairs: must be a list of (data, neighbour)") from None
    if not chosen:
        raise InputError("pairs: there are none; at least 1 is needed")
    if budget < LEAST_BUDGET * len(chosen):
        raise InputError(f"budget = {budget}: must be >= {LEAST_BUDGET * len(chosen)} for {len(chosen)} pairs")
    return chosen


def _spaces(space: Spaces | None, claim: Claim, pairs: list[Pair] | None, budget: int) -> Spaces | None:
    """Where to search; nowhere if there are pairs."""
    if pairs is not None:
        if space is not None:
            raise InputError("space: is where neighbours are searched; with pairs nothing is searched")
        return None
    if budget < LEAST_SEARCHED:
        raise InputError(f"budget = {budget}: must be >= {LEAST_SEARCHED} where pairs are searched")
    if space is None:
        return [Admissible(RECORDS, columns, neighbouring=claim.neighbouring) for columns in SHAPES]
    one = space if isinstance(space, Admissible) else next(iter(space), None)
    if one is not None and one.neighbouring is not claim.neighbouring:
        raise InputError(f"space: is {one.neighbouring}, the claim {claim} is {claim.neighbouring}")
    return space


def _incidents(samples: Source, outcome: _Outcome) -> tuple[Incident, ...]:
    found = list(samples.incidents)
    if outcome.last is not None and (incident := no_randomness(outcome.last, samples.pairs[outcome.pair])) is not None:
        found.append(incident)
    kinds: dict[tuple[str, str], Incident] = {}
    for incident in found:  # the same thing on many pairs is told once
        kinds.setdefault((incident.kind, incident.message), incident)
    return tuple(kinds.values())


def _witness(pairs: list[Pair], outcome: _Outcome) -> dict[str, Any]:
    found: dict[str, Any] = {
        "pair": outcome.pair,
        "region": str(outcome.predictor) if outcome.predictor is not None else "no guess was made",
        "correct": outcome.counts.correct,
        "guesses": outcome.counts.inside,
        "counted": outcome.counts.seen,
    }
    if pairs:
        found |= dict(zip(("data", "neighbour"), map(shown_data, pairs[outcome.pair]), strict=True))
    return found
