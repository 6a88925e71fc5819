"""A statement whose formulas we restored says `reconstructed` wherever it is shown, and no other does; papers are cited."""

from __future__ import annotations

import json
import re

import pytest

from tailproof.bounds import atlas as data
from tailproof.bounds import errata, theorem, theorems
from tailproof.bounds.citations import RECONSTRUCTED, citations, cite
from tailproof.verification import atlas as drawing
from tailproof.verification import paper_check, published_claims
from tailproof.verification.bound_checks import list_theorems
from tailproof.verification.cli import main
from tailproof.verification.shown import render

Capture = pytest.CaptureFixture[str]
IDS = {statement.id for statement in theorems() if statement.reconstructed}


def squeezed(text: str) -> str:
    return " ".join(text.split())  # wherever lines break


@pytest.mark.parametrize("identifier", ["P4.T3.1", "P4.PC.3", "P1.T1", "P1.T3"])
def test_a_restored_statement_is_never_shown_as_published(identifier: str, capsys: Capture) -> None:
    assert main(["theorem", identifier]) == 0
    shown = capsys.readouterr().out
    assert squeezed(RECONSTRUCTED) in squeezed(shown)
    assert cite(identifier[:2]) in squeezed(shown)
    assert not re.search(r"^(as published|printed)|≲ (as published|printed)", shown, re.MULTILINE)


def test_the_formula_s_line_says_whose_it_is(capsys: Capture) -> None:
    for identifier, word in (("P4.T3.1", "reconstructed"), ("P2.T4", "as published")):
        assert main(["theorem", identifier]) == 0
        assert f"{word} {squeezed(theorem(identifier).printed or '')}" in squeezed(capsys.readouterr().out)


def test_the_list_of_statements() -> None:
    _, value, shown = list_theorems()
    text = render(shown)
    assert {entry["id"] for entry in value["theorems"] if entry["reconstructed"]} == IDS
    assert all(entry["citation"] == cite(entry["paper"]) for entry in value["theorems"])
    for line in text.splitlines():
        identifier = line.split()[0] if line else ""
        if identifier in {s.id for s in theorems()}:
            assert ("  reconstructed  " in line) is (identifier in IDS)
    assert f"80 of {len(theorems())} statements are reconstructed" in text


@pytest.mark.parametrize("paper", ["P1", "P4"])
def test_the_check_of_a_paper(paper: str, capsys: Capture) -> None:
    found = {name: task(paper) for name, task in paper_check.TASKS.items() if name != "comparisons"}
    assert any(found.values())
    for entries in found.values():
        assert all(entry["reconstructed"] is (entry["id"] in IDS) for entry in entries)
    if paper == "P1":  # P4's takes longer
        main(["theorem", paper, "--check", "--jobs", "1"])
        assert re.search(r"paper .*reconstructed", squeezed(capsys.readouterr().out))


def test_comparisons_of_rates_that_the_text_lacks() -> None:
    assert all(entry["reconstructed"] is False for entry in paper_check.compared("P1"))
    found = paper_check.compared("P4")
    assert found
    assert all(entry["reconstructed"] is True for entry in found)


def test_errata_about_restored_statements(capsys: Capture) -> None:
    marked = {e.id for e in errata() if e.reconstructed}
    assert "P4.T4.1.quantifier" in marked
    assert "P4.E.order" not in marked  # it is about words alone
    assert {identifier[:2] for identifier in marked} == {"P4"}
    assert main(["errata", "--json", "-"]) == 0
    assert {e["id"] for e in json.loads(capsys.readouterr().out)["errata"] if e["reconstructed"]} == marked
    assert main(["errata"]) == 0
    text = capsys.readouterr().out
    assert text.count(", reconstructed]") == len(marked)


def test_the_atlas() -> None:
    small = data.atlas(
        [group for group in data.GROUPS if group.id in ("strong-norm-pure", "convex-norm-pure")], decide=False
    )
    value, page = drawing.document(small), drawing.page(small)
    assert {rate["id"] for rate in value["rates"] if rate["reconstructed"]} == IDS & {rate["id"] for rate in value["rates"]}
    sources = [source for group in value["groups"] for row in group["rows"] for source in row["sources"]]
    assert any(source["reconstructed"] for source in sources)
    for source in sources:
        assert source["reconstructed"] is (source["id"] in IDS)
        label = theorem(source["id"]).label
        assert (f"{source['id']} {label} (reconstructed)" in page) is source["reconstructed"]
    assert "marked “reconstructed”" in page


def test_published_claims() -> None:
    found = published_claims.published_claims([], [])
    assert {claim["id"] for claim in found if claim["reconstructed"]} == {"P1.T3"}


def test_the_catalogue_cites_the_papers(capsys: Capture) -> None:
    assert main(["list"]) == 0
    text = squeezed(capsys.readouterr().out)
    assert all(f"{paper.id} {paper.line} {paper.completeness}" in text for paper in citations())
    assert main(["list", "--json", "-"]) == 0
    papers = json.loads(capsys.readouterr().out)["papers"]
    assert [(paper["id"], paper["citation"]) for paper in papers] == [(paper.id, paper.line) for paper in citations()]
