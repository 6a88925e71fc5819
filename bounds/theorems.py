"""All statements of the five papers, all comparisons that they make, and their choices of free parameters."""

from __future__ import annotations

from tailproof.bounds.papers import p0, p1, p2, p3, p4
from tailproof.bounds.papers.choices import CHOICES
from tailproof.bounds.statements import Choice, Comparison, Statement
from tailproof.refimpl.validation import known

PAPERS = (p0, p1, p2, p3, p4)


def theorems() -> tuple[Statement, ...]:
    """All statements of the papers, and ours, paper by paper."""
    return tuple(statement for paper in PAPERS for statement in paper.STATEMENTS)


def comparisons() -> tuple[Comparison, ...]:
    """All sentences of the papers that compare two rates."""
    return tuple(comparison for paper in PAPERS for comparison in paper.COMPARISONS)


def choices() -> tuple[Choice, ...]:
    return CHOICES


def theorem(identifier: str) -> Statement:
    """The statement with this id, in any case; `InputError` if there is none."""
    by_id = {statement.id: statement for statement in theorems()}
    same = [s.id for s in theorems() if s.label.replace(" ", "").lower() == identifier.replace(" ", "").lower()]
    hint = f"{identifier} is {', '.join(same)}; " if same else ""
    return by_id[known("id", identifier, by_id, f"{hint}`tailproof theorem` lists all ids")]
