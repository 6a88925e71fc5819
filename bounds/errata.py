"""Where a printed statement, step or display is wrong, each with a discrepancy that can be recomputed.

`tailproof.bounds.erratum` says what an erratum is.
"""

from __future__ import annotations

from tailproof.bounds.erratum import Erratum
from tailproof.bounds.papers import p0_errata, p1_errata, p2_errata, p3_errata, p4_errata

PAPERS = (p0_errata, p1_errata, p2_errata, p3_errata, p4_errata)


def errata() -> tuple[Erratum, ...]:
    """Every erratum, paper by paper, its gap computed."""
    return tuple(entry for paper in PAPERS for entry in paper.errata())
