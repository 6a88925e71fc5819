"""Where a published statement, step or display is wrong, each with a discrepancy that can be recomputed.

`tailproof.bounds.erratum` says what an erratum is.
"""

from __future__ import annotations

from dataclasses import replace

from tailproof.bounds.erratum import Erratum
from tailproof.bounds.papers import p0_errata, p1_errata, p2_errata, p3_errata, p4_errata
from tailproof.bounds.theorems import theorems

PAPERS = (p0_errata, p1_errata, p2_errata, p3_errata, p4_errata)


def errata() -> tuple[Erratum, ...]:
    """All errata, paper by paper, each with its evidence computed again."""
    return tuple(_with_source(entry) for paper in PAPERS for entry in paper.errata())


def _with_source(entry: Erratum) -> Erratum:
    restored = (s for s in theorems() if s.reconstructed and s.paper == entry.paper)
    return replace(entry, reconstructed=any(entry.id in s.errata or entry.concerns(s.paper, s.label) for s in restored))
