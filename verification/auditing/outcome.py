"""What both kinds of audit end with, and the steps that they share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tailproof.refimpl.claims import Claim
from tailproof.verification.auditing.fixed import POWER
from tailproof.verification.auditing.predictor import Predictor
from tailproof.verification.auditing.progress import Watch
from tailproof.verification.auditing.runs import EMPTY, REPEATED, Labelled, Pair, Source, hidden_randomness
from tailproof.verification.auditing.search import Found, Promise, Spaces, search_neighbours
from tailproof.verification.auditing.sequential import Counts

SEARCH_SHARE = 0.35  # of the budget of an exhaustive audit, and of every stage of bets


@dataclass(frozen=True, eq=False)
class Outcome:
    """`complete`: the test took its planned course.  `pair` is the number of the pair `sides`; `searched` pairs were looked at."""

    lower: float = 0.0
    p_value: float = 1.0
    detectable: float = math.inf
    refuted: bool = False
    complete: bool = False
    pair: int = 0
    sides: Pair | None = None
    predictor: Predictor | None = None
    counts: Counts = field(default_factory=Counts)
    last: Labelled | None = None
    searched: int = 0
    power: float = POWER


def searched(
    samples: Source, spaces: Spaces, claim: Claim, budget: int, seed: int, earlier: Found | None, watch: Watch
) -> Found:
    """Its runs count, its incidents are kept."""
    number = 0 if earlier is None else len(earlier.candidates)
    before, watch.stage = samples.runs, "searching"

    def heard(pairs: int, runs: int) -> None:
        watch.pairs = number + pairs
        watch.heard(before + runs)

    found = search_neighbours(samples.runner, spaces, claim, budget=budget, seed=seed + number, earlier=earlier, heard=heard)
    watch.stage, watch.pairs = "testing", len(found.candidates)
    samples.runs += found.runs
    samples.incidents += found.incidents
    return found


def known(promise: Promise) -> Labelled:
    return promise.seen if promise.seen is not None else EMPTY


def probe(samples: Source, seed: int) -> None:
    """Whether runs can be repeated: a few runs, twice."""
    incident = hidden_randomness(samples.runner, samples.pairs[0], seed)
    samples.runs += 2 * REPEATED
    if incident is not None:
        samples.incidents.append(incident)
