"""`audit`: is a privacy claim refuted by a mechanism's outputs on neighbouring data sets?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from refimpl.claims import Claim, claim_to_json, parse_claim
from refimpl.validation import InputError, probability, whole
from verification.auditing import limits
from verification.auditing.fixed import POWER, run_fixed
from verification.auditing.predictor import Predictor
from verification.auditing.runs import Pair, Runner, in_process, source
from verification.auditing.sequential import Counts, run_sequential
from verification.report import plain

SHOWN_DATA = 1000  # numbers of a data set that a witness quotes
LEAST_BUDGET = 50


@dataclass(frozen=True)
class AuditResult:
    """What an audit found.  `lower` exceeds the true parameter with probability at most 1 − confidence (in a sequential
    audit, at any time).  `detectable` is the least true value that this budget would have refuted with probability `power`,
    if every guess is as good as that value allows."""

    verdict: Literal["violated", "consistent"]
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
        return "\n".join(lines)


def audit(
    mechanism: Callable[..., Any] | Runner,
    claim: Claim | str,
    pairs: Iterable[Pair] | None = None,
    *,
    budget: int = 100_000,
    confidence: float = 0.999,
    sequential: bool = False,
    seed: int = 0,
    vectorised: bool | None = None,
) -> AuditResult:
    """Test the claim on pairs of neighbouring data sets with at most `budget` runs, both sides and all pairs together.

    `mechanism` is f(data, rng) → number or array, or f(data, rng, size) → `size` of them, or anything with a method
    `sample(data, rng, size)`.  A true claim is called violated with probability at most 1 − confidence.  Whether the pairs
    are neighbours in the claim's sense is up to the caller.
    """
    start = time.perf_counter()
    stated = parse_claim(claim) if isinstance(claim, str) else claim
    if not isinstance(stated, Claim):
        raise InputError(f"claim = {claim!r}: must be a claim or its text, such as 'pure(eps=1)'")
    if limits.accuracy_upper(stated, limits.parameter(stated)) > 1 - 1e-9:
        raise InputError(
            f"claim = {stated}: no audit can refute it; outputs may tell the data sets apart all but once in 1e9 runs"
        )
    error = 1 - probability("confidence", confidence)
    budget, seed = whole("budget", budget, least=LEAST_BUDGET), whole("seed", seed, least=0)
    runner = mechanism if isinstance(mechanism, Runner) else in_process(mechanism, vectorised)
    chosen = _checked_pairs(pairs, budget)
    samples = source(runner, chosen, seed)
    if sequential:
        course = run_sequential(samples, stated, budget=budget, error=error)
        lower, p_value, used, detectable, power = course.lower, course.p_value, course.samples, course.detectable(), 0.5
        pair, predictor, counts = course.pair, course.predictor, course.total
        refuted = lower >= limits.parameter(stated)  # the values up to the bound itself are refuted
    else:
        tally, pair, predictor = run_fixed(samples, stated, budget=budget, error=error)
        lower, p_value, used, detectable, power = tally.lower, tally.p_value, budget, tally.detectable(), POWER
        counts = Counts(tally.correct, tally.inside, tally.counted)
        refuted = lower > limits.parameter(stated)
    return AuditResult(
        verdict="violated" if refuted else "consistent",
        claim=stated,
        parameter=limits.parameter_name(stated),
        lower=lower,
        confidence=confidence,
        p_value=p_value,
        samples=used,
        pairs_tried=len(chosen),
        seconds=time.perf_counter() - start,
        sequential=sequential,
        detectable=detectable,
        power=power,
        seed=seed,
        witness=_witness(chosen[pair], pair, predictor, counts),
    )


def _checked_pairs(pairs: Iterable[Pair] | None, budget: int) -> tuple[Pair, ...]:
    if pairs is None:
        raise InputError("pairs: must be given, a list of (data, neighbour)")
    try:
        chosen = tuple((first, second) for first, second in pairs)
    except (TypeError, ValueError):
        raise InputError("pairs: must be a list of (data, neighbour)") from None
    if not chosen:
        raise InputError("pairs: there are none; at least 1 is needed")
    if budget < LEAST_BUDGET * len(chosen):
        raise InputError(f"budget = {budget}: must be >= {LEAST_BUDGET * len(chosen)} for {len(chosen)} pairs")
    return chosen


def _witness(pair: Pair, number: int, predictor: Predictor | None, counts: Counts) -> dict[str, Any]:
    found: dict[str, Any] = {
        "pair": number,
        "region": str(predictor) if predictor is not None else "no guess was made",
        "correct": counts.correct,
        "guesses": counts.inside,
        "counted": counts.seen,
    }
    for name, data in zip(("data", "neighbour"), pair, strict=True):
        try:
            values = np.asarray(data, dtype=np.float64)
        except (TypeError, ValueError):
            continue
        if values.size <= SHOWN_DATA:
            found[name] = values.tolist()
    return found
