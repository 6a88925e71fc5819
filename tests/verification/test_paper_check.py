"""`tailproof theorem --check`: one paper quickly, all of them in a long test, and what makes it fail."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tailproof.bounds import theorems
from tailproof.verification import paper_check
from tailproof.verification.cli import main

Capture = pytest.CaptureFixture[str]


def test_one_paper(capsys: Capture) -> None:
    assert main(["theorem", "P1", "--check", "--jobs", "1", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["failures"] == []
    statements = found["papers"]["P1"]["statements"]
    assert {s["id"] for s in statements} == {s.id for s in theorems() if s.paper == "P1" and s.printed and s.derived}
    assert {s["verdict"] for s in statements} >= {"same", "incomparable"}
    assert all(s["errata"] for s in statements if s["claims_more"])


@pytest.mark.long  # half a minute
def test_all_papers(capsys: Capture) -> None:
    assert main(["theorem", "--check", "--jobs", "1"]) == 0
    assert "FAILED" not in capsys.readouterr().out


def test_a_difference_without_an_erratum_fails(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    kept = [s for s in theorems() if s.id in ("P1.L7", "P1.T2")]
    monkeypatch.setattr(paper_check, "theorems", lambda: [replace(s, errata=()) for s in kept])
    monkeypatch.setattr(paper_check, "comparisons", lambda: ())
    monkeypatch.setattr(paper_check, "choices", lambda: ())
    assert main(["theorem", "P1", "--check", "--jobs", "1"]) == 1
    assert "FAILED  P1.L7: printed is smaller, and no erratum says why" in capsys.readouterr().out


def test_a_comparison_that_comes_out_otherwise_fails(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    kept = [c for c in paper_check.comparisons() if c.id == "P1.C4"]
    monkeypatch.setattr(paper_check, "theorems", lambda: ())
    monkeypatch.setattr(paper_check, "choices", lambda: ())
    monkeypatch.setattr(paper_check, "comparisons", lambda: [replace(c, holds=True) for c in kept])
    assert main(["theorem", "P1", "--check", "--jobs", "1"]) == 1
    assert "P1.C4" in capsys.readouterr().out.split("FAILED")[1]


def test_a_choice_that_is_recorded_otherwise_fails(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    kept = [c for c in paper_check.choices() if c.statement == "P3.T7"]
    monkeypatch.setattr(paper_check, "theorems", lambda: ())
    monkeypatch.setattr(paper_check, "comparisons", lambda: ())
    monkeypatch.setattr(paper_check, "choices", lambda: [replace(c, attained=True) for c in kept])
    assert main(["theorem", "P3", "--check", "--jobs", "1"]) == 1
    assert "FAILED  P3.T7: its choice does not attain the best rate" in capsys.readouterr().out


def test_unknown_paper(capsys: Capture) -> None:
    assert main(["theorem", "P7", "--check"]) == 2
    assert "id = 'P7': is not known; --check takes a paper, one of P0" in capsys.readouterr().err
