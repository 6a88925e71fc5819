"""The papers as data, and which statements are reconstructed."""

from collections import Counter

import pytest

import tailproof
from tailproof.bounds import theorems
from tailproof.bounds.citations import citations, cite
from tailproof.bounds.theorems import PAPERS
from tailproof.refimpl.validation import InputError


def test_every_paper_is_cited_once() -> None:
    assert [paper.id for paper in citations()] == [module.__name__.rpartition(".")[2].upper() for module in PAPERS]
    assert tailproof.papers() == citations()


@pytest.mark.parametrize("paper", citations(), ids=lambda paper: paper.id)
def test_a_citation_is_one_line_with_authors_title_year_and_a_place(paper: tailproof.bounds.citations.Citation) -> None:
    line = cite(paper.id)
    assert "\n" not in line
    assert all(author in line for author in paper.authors)
    assert paper.title in line
    assert str(paper.year) in line
    assert line.count(str(paper.year)) == 1
    assert paper.venue or paper.identifier
    for part in (paper.venue, paper.identifier):
        assert part is None or part in line
    assert paper.completeness.endswith(".")


def test_there_is_no_sixth_paper() -> None:
    with pytest.raises(InputError, match=r"paper = 'P5': must be one of P0, P1, P2, P3, P4"):
        cite("P5")


def test_80_statements_are_reconstructed() -> None:
    found = Counter(statement.paper for statement in theorems() if statement.reconstructed)
    assert found == {"P4": 78, "P1": 2}
    assert {s.id for s in theorems() if s.reconstructed and s.paper == "P1"} == {"P1.T1", "P1.T3"}
    assert sum(s.paper == "P4" and s.source != "ours" for s in theorems()) == 83


def test_what_is_said_of_a_text_is_what_its_statements_say() -> None:
    """A paper has reconstructed statements exactly when its text is incomplete, and its sentence has their number."""
    for paper in citations():
        number = sum(s.paper == paper.id and s.reconstructed for s in theorems())
        assert paper.complete is (number == 0)
        assert ("reconstructed" in paper.completeness) is (number > 0)
    assert "78 of the paper's 83" in citations()[4].completeness
