"""What an audit found, as JSON and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from tailproof.refimpl.claims import Claim, claim_to_json
from tailproof.verification.auditing.outputs import Incident
from tailproof.verification.auditing.runs import Pair
from tailproof.verification.auditing.shown import shown_pair
from tailproof.verification.report import plain

Verdict = Literal["violated", "consistent", "inconclusive"]
SMALLEST = 1e-300  # p-values below are not told apart
INCIDENTS = 5  # that are shown


@dataclass(frozen=True)
class AuditResult:
    """What an audit found.

    `lower` exceeds the true parameter with probability at most 1 − confidence.  `detectable` is the least true value that this
    budget would have refuted with probability `power`, if every guess is as good as that value allows.  `inconclusive`: the
    subject failed before a verdict was reached; `incidents` say how, and where.  `pair` is the counterexample, or the pair that
    was tested last: `shrunk` says that it is simpler than `found_pair`, which refuted the claim first, and was confirmed by itself.
    """

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
    found_pair: Pair | None = None
    stopped_early: bool = False
    shrunk: bool = False
    shrinking: int = 0  # runs

    @property
    def exhaustive(self) -> bool:
        return not self.sequential

    @property
    def letter(self) -> str:
        """The parameter as it is written."""
        return {"epsilon": "ε", "mu": "μ", "rho": "ρ"}[self.parameter]

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
                "exhaustive": self.exhaustive,
                "stopped_early": self.stopped_early,
                "shrunk": self.shrunk,
                "shrinking_runs": self.shrinking,
                f"{self.parameter}_detectable": self.detectable,
                "power": self.power,
                "seed": self.seed,
                "witness": self.witness,
                "incidents": [incident.to_json() for incident in self.incidents],
            }
        )
        return found

    @property
    def bound(self) -> str:
        """The bound with its confidence, and the p-value of the claim."""
        sign = ">" if self.verdict == "violated" else "≥"
        confidence = f"{self.confidence:.10g}"
        return f"{self.letter} {sign} {self.lower:.6g} with confidence {confidence}; {shown_p_value(self.p_value)} for the claim"

    @property
    def power_sentence(self) -> str:
        """What this budget would have found."""
        if math.isinf(self.detectable):
            return f"This budget is too small to detect any violation with probability {self.power:g}."
        return (
            f"With this budget, a true {self.letter} of {self.detectable:.4g} or more would be detected with probability "
            f"{self.power:g}, if outputs reveal all of it."
        )

    @property
    def rule(self) -> str:
        """How outputs tell the two data sets apart."""
        guesses = self.witness["guesses"]
        if not guesses:
            return str(self.witness["region"])
        return f"{self.witness['region']}; {self.witness['correct']} of {guesses} guesses right"

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.claim}"]
        if self.verdict == "inconclusive":
            lines += [str(incident) for incident in self.incidents[:1]]
        if self.verdict != "inconclusive" or self.lower:
            lines.append(self.bound)
        if self.stopped_early:
            lines.append("stopped as soon as the claim was refuted; --exhaustive gives a tighter bound")
        pairs = f"{self.pairs_tried} pair{'' if self.pairs_tried == 1 else 's'}"
        lines.append(f"{self.samples} runs on {pairs}, {self.seconds:.2f} s")
        if self.verdict == "violated":
            lines += shown_pair(self.pair)
        if self.witness["guesses"]:
            lines.append(f"told apart  {self.rule}")
        if self.verdict == "consistent":
            lines.append(self.power_sentence)
        rest = self.incidents[1:] if self.verdict == "inconclusive" else self.incidents
        lines += [f"note        {incident}" for incident in rest[:INCIDENTS]]
        if len(rest) > INCIDENTS:
            lines.append(f"note        {len(rest) - INCIDENTS} further incidents")
        return "\n".join(lines)


def shown_p_value(value: float) -> str:
    return f"p < {SMALLEST:.0e}" if value < SMALLEST else f"p = {value:.2g}"
