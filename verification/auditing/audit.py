"""`audit`: is a privacy claim refuted by a mechanism's outputs on neighbouring data sets?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from tailproof.refimpl.claims import Claim, Neighbouring, parse_claim
from tailproof.refimpl.validation import InputError, probability, whole
from tailproof.verification.auditing import limits
from tailproof.verification.auditing.admissible import Admissible
from tailproof.verification.auditing.fixed import run_fixed
from tailproof.verification.auditing.outcome import SEARCH_SHARE, Outcome, known, probe, searched
from tailproof.verification.auditing.outputs import Incident, shown_data
from tailproof.verification.auditing.predictor import Predictor
from tailproof.verification.auditing.progress import Progress, Watch
from tailproof.verification.auditing.result import AuditResult, Verdict
from tailproof.verification.auditing.runner import Runner, WorkerRunner, runner_of
from tailproof.verification.auditing.runs import Pair, Source, no_randomness, source
from tailproof.verification.auditing.search import Spaces
from tailproof.verification.auditing.sequential import Counts
from tailproof.verification.auditing.shrinking import MOST_RUNS, Effort, shrink
from tailproof.verification.auditing.stopping import SHRINK, run_stopping

LEAST_BUDGET = 50
LEAST_SEARCHED = 400  # without pairs: fewer runs cannot look at several and test one
SHAPES = (1, 2, 8)  # columns that are tried where nothing is said about the data
RECORDS = 10


def audit(
    mechanism: Callable[..., Any] | Runner,
    claim: Claim | str,
    pairs: Iterable[Pair] | None = None,
    *,
    records: int | None = None,
    columns: int | None = None,
    bounds: tuple[float, float] | None = None,
    space: Spaces | None = None,
    budget: int = 100_000,
    confidence: float = 0.999,
    exhaustive: bool = False,
    sequential: bool | None = None,
    shrinks: bool = True,
    seed: int = 0,
    vectorised: bool | None = None,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> AuditResult:
    """Test the claim on pairs of neighbouring data sets with at most `budget` runs in all, search included.

    `mechanism` is f(data, rng) → number or array, or f(data, rng, size) → `size` of them, or f(data, channel), or anything with a
    method `sample(data, rng, size)`.  Without pairs, bad neighbours are searched among `records` × `columns` numbers within
    `bounds`, (low, high), by default among ten records of a few columns without bounds, or among the data of `space`.
    Whether given pairs are neighbours in the claim's sense is up to the caller.

    The audit stops as soon as the claim is refuted.  With `exhaustive` it always makes all its runs, for the best bound.  A true
    claim is called violated with probability at most 1 − confidence, whenever it stops, whatever was searched and learned.

    A pair that the search found is then shrunk: simpler pairs are tried in the runs that are left, at most 6000, or as many as
    the refutation took.  Given pairs stay as they are.  An exhaustive audit has no runs left to shrink with.

    With a `time_limit` (seconds of a run, or of a batch where it is vectorised) the function runs in a process of its own, killed
    when it hangs.  `progress` is called after every batch of runs.  `sequential` is the default's old name and changes nothing.
    """
    start = time.perf_counter()
    stated = checked_claim(claim)
    error = 1 - probability("confidence", confidence)
    budget, seed = whole("budget", budget, least=LEAST_BUDGET), whole("seed", seed, least=0)
    if exhaustive and sequential:
        raise InputError("exhaustive, sequential: give one of them; a sequential audit stops at the first refutation")
    space = stated_space(stated, pairs, space, records, columns, bounds)
    chosen = _checked_pairs(pairs, budget)
    spaces = _spaces(space, stated, chosen, budget)
    runner = runner_of(mechanism, vectorised=vectorised, time_limit=time_limit)
    watch, effort = Watch(budget, progress, pairs=len(chosen or [])), Effort(None, 0, 0)
    try:
        samples = source(runner, chosen or [], seed)
        samples.heard = watch.heard
        play = _exhaustive if exhaustive else run_stopping
        outcome = play(samples, stated, spaces, budget=budget, error=error, seed=seed, watch=watch)
        if outcome.refuted and shrinks and not exhaustive and spaces is not None:
            effort = _shrunk(samples, stated, spaces, outcome, budget, SHRINK * error, watch)
    finally:
        if isinstance(runner, WorkerRunner) and runner is not mechanism:
            runner.close()
    verdict: Verdict = "violated" if outcome.refuted else "consistent" if outcome.complete else "inconclusive"
    simpler = effort.shrunk
    return AuditResult(
        verdict=verdict,
        claim=stated,
        parameter=limits.parameter_name(stated),
        lower=outcome.lower if simpler is None else max(outcome.lower, simpler.lower),
        confidence=confidence,
        p_value=outcome.p_value,
        samples=samples.runs + effort.runs,
        pairs_tried=outcome.searched or len(chosen or []),
        seconds=time.perf_counter() - start,
        sequential=not exhaustive,
        detectable=outcome.detectable,
        power=outcome.power,
        seed=seed,
        witness=_witness(outcome, effort),
        incidents=_incidents(samples, outcome),
        pair=outcome.sides if simpler is None else simpler.pair,
        found_pair=outcome.sides,
        stopped_early=outcome.refuted and samples.runs < budget and not exhaustive,
        shrunk=simpler is not None,
        shrinking=effort.runs,
    )


# --- the two kinds of audit ----------------------------------------------------------------------------------------------


def _exhaustive(
    samples: Source, claim: Claim, spaces: Spaces | None, *, budget: int, error: float, seed: int, watch: Watch
) -> Outcome:
    """One test of a fixed number of runs, for the best bound."""
    found = None
    if spaces is not None:
        found = searched(samples, spaces, claim, int(SEARCH_SHARE * budget), seed, None, watch)
        samples.pairs += found.pairs
    looked = 0 if found is None else len(found.candidates)
    if not samples.pairs:
        return Outcome(searched=looked)
    probe(samples, seed)
    seen = [] if found is None else [known(promise) for promise in found.promises]
    course = run_fixed(samples, claim, budget=budget - samples.runs, error=error, known=seen)
    tally = course.tally
    return Outcome(
        lower=tally.lower,
        p_value=tally.p_value,
        detectable=tally.detectable(),
        refuted=tally.lower > limits.parameter(claim),
        complete=course.complete,
        pair=course.pair,
        sides=samples.pairs[course.pair],
        predictor=course.predictor,
        counts=Counts(tally.correct, tally.inside, tally.counted),
        last=course.last,
        searched=looked,
    )


def _shrunk(
    samples: Source, claim: Claim, spaces: Spaces, outcome: Outcome, budget: int, error: float, watch: Watch
) -> Effort:
    """A simpler pair, in the runs that are left; what was found in the search's own spaces alone."""
    assert outcome.sides is not None
    first = outcome.sides[0]
    each = [spaces] if isinstance(spaces, Admissible) else spaces
    space = next(one for one in each if one.columns == first.shape[1])
    runs = min(budget - samples.runs, max(MOST_RUNS, samples.runs))
    return shrink(
        samples.runner,
        claim,
        outcome.sides,
        space,
        runs=runs,
        error=error,
        seed=samples.seed,
        watch=watch,
        before=samples.runs,
    )


# --- input and output ----------------------------------------------------------------------------------------------------


def checked_claim(claim: Claim | str) -> Claim:
    stated = parse_claim(claim) if isinstance(claim, str) else claim
    if not isinstance(stated, Claim):
        raise InputError(f"claim = {claim!r}: must be a claim or its text, such as 'pure(eps=1)'")
    if limits.accuracy_upper(stated, limits.parameter(stated)) > 1 - 1e-9:
        raise InputError(f"claim = {stated}: no audit can refute it; outputs may tell A from B all but once in 1e9 runs")
    return stated


def _checked_pairs(pairs: Iterable[Pair] | None, budget: int) -> list[Pair] | None:
    if pairs is None:
        return None
    try:
        chosen = [(first, second) for first, second in pairs]
    except (TypeError, ValueError):
        raise InputError("pairs: must be a list of pairs (A, B) of data sets") from None
    if not chosen:
        raise InputError("pairs: there are none; at least 1 is needed")
    if budget < LEAST_BUDGET * len(chosen):
        raise InputError(f"budget = {budget}: must be >= {LEAST_BUDGET * len(chosen)} for {len(chosen)} pairs")
    return chosen


def stated_space(
    claim: Claim,
    pairs: Iterable[Pair] | None,
    space: Spaces | None,
    records: int | None,
    columns: int | None,
    bounds: tuple[float, float] | None,
) -> Spaces | None:
    """What `records`, `columns` and `bounds` say, if they say anything; else `space`."""
    if records is None and columns is None and bounds is None:
        return space
    if space is not None or pairs is not None:
        raise InputError("records, columns, bounds: say where neighbours are searched; leave them out beside pairs or space")
    try:
        low, high = (-math.inf, math.inf) if bounds is None else map(float, bounds)
    except (TypeError, ValueError):
        raise InputError(f"bounds = {bounds!r}: must be two numbers, (low, high)") from None
    return spaces_of(records, columns, (low, high), claim.neighbouring)


def spaces_of(
    records: int | None, columns: int | None, bounds: tuple[float, float], relation: Neighbouring
) -> list[Admissible]:
    """Data of so many records; a few numbers of columns where none is stated."""
    return [
        Admissible(RECORDS if records is None else records, number, *bounds, relation, fewer=records is None)
        for number in (SHAPES if columns is None else (columns,))
    ]


def _spaces(space: Spaces | None, claim: Claim, pairs: list[Pair] | None, budget: int) -> Spaces | None:
    """Where to search; nowhere if there are pairs."""
    if pairs is not None:
        if space is not None:
            raise InputError("space: is where neighbours are searched; with pairs nothing is searched")
        return None
    if budget < LEAST_SEARCHED:
        raise InputError(f"budget = {budget}: must be >= {LEAST_SEARCHED} where pairs are searched")
    if space is None:
        return spaces_of(None, None, (-math.inf, math.inf), claim.neighbouring)
    one = space if isinstance(space, Admissible) else next(iter(space), None)
    if one is not None and one.neighbouring is not claim.neighbouring:
        raise InputError(f"space: is {one.neighbouring}, the claim {claim} is {claim.neighbouring}")
    return space


def _incidents(samples: Source, outcome: Outcome) -> tuple[Incident, ...]:
    found = list(samples.incidents)
    if outcome.last is not None and outcome.sides is not None:
        incident = no_randomness(outcome.last, outcome.sides)
        found += [] if incident is None else [incident]
    kinds: dict[tuple[str, str], Incident] = {}
    for one in found:  # the same thing on many pairs is told once
        kinds.setdefault((one.kind, one.message), one)
    return tuple(kinds.values())


def _witness(outcome: Outcome, effort: Effort) -> dict[str, Any]:
    """Of the pair that is shown: how its sides are told apart.  `data` is A, `neighbour` is B."""
    simpler = effort.shrunk
    predictor: Predictor | None = outcome.predictor if simpler is None else simpler.predictor
    counts = outcome.counts if simpler is None else simpler.counts
    found: dict[str, Any] = {
        "pair": outcome.pair,
        "region": str(predictor) if predictor is not None else "no guess was made",
        "correct": counts.correct,
        "guesses": counts.inside,
        "counted": counts.seen,
    }
    pair = outcome.sides if simpler is None else simpler.pair
    if pair is not None:
        found |= dict(zip(("data", "neighbour"), map(shown_data, pair), strict=True))
    return found
