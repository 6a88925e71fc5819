"""A place where print and truth differ, resting on a discrepancy that can be recomputed.

Every entry rests on a gap: a small function that returns the measured quantity and what the paper allows for it, so
that the entry stands exactly when measured > allowed.  `evidence` holds the gap's arguments and both numbers;
`recheck` computes the gap anew.  Where one lost symbol would explain the discrepancy, `found` says that it is possibly
an extraction loss, because the texts at hand were extracted by machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

Kind = Literal["privacy", "rate", "constant", "typo"]
Gap = tuple[float, float]  # measured, allowed

LOST = "Possibly an extraction loss."
ROUNDING = 1e-9  # what is allowed where the print claims equality


@dataclass(frozen=True)
class Erratum:
    """One discrepancy.  `privacy`: a privacy claim fails; `typo` also covers steps of proofs whose conclusion stands."""

    id: str
    paper: str
    place: str
    kind: Kind
    printed: str
    found: str
    evidence: dict[str, Any]
    recheck: Callable[[], bool]
    reconstructed: bool = (
        False  # whether it is about a statement whose formulas we restored: `tailproof.bounds.errata` sets it
    )
    title: str = ""  # one sentence for readers who do not know the paper
    story: str = ""  # one paragraph: what is claimed, why it fails, what is left

    def told(self, title: str, story: str) -> Erratum:
        return replace(self, title=title, story=story)

    def concerns(self, paper: str, label: str) -> bool:
        return self.paper == paper and names(self.place, label)


def names(place: str, label: str) -> bool:
    """Whether the place of an erratum names the label: "Theorems 6 and 7" names Theorem 7, "Theorem 10" not Theorem 1."""
    word, _, number = label.rpartition(" ")
    listed_before = r"(?:[\d.]+(?:, | and |, and ))*" if number[:1].isdigit() else ""
    start = rf"\b{re.escape(word)}s? {listed_before}" if word else ""
    return re.search(rf"{start}{re.escape(number)}(?!\.?\d)", place) is not None


def stands(gap: Gap) -> bool:
    measured, allowed = gap
    return measured > allowed + ROUNDING * abs(allowed)


def erratum(id: str, place: str, kind: Kind, printed: str, found: str, gap: Callable[..., Gap], **arguments: Any) -> Erratum:
    measured, allowed = gap(**arguments)
    evidence = arguments | {"measured": measured, "allowed": allowed}
    return Erratum(id, id.split(".")[0], place, kind, printed, found, evidence, lambda: stands(gap(**arguments)))
