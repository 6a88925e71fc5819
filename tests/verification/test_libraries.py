"""Kept audits of other libraries: what the report has of them, and that they decide nothing about ours."""

from __future__ import annotations

import json
import math

import pytest

from tailproof.verification import libraries, verify
from tailproof.verification.check import QUICK
from tailproof.verification.shown import render


def test_what_is_kept_is_plain_and_whole() -> None:
    kept = libraries.kept()
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
    audited = {row["library"] for row in kept["results"]}
    assert audited <= {*kept["versions"], "tailproof"}
    assert {"diffprivlib", "opendp", "dp-accounting"} <= audited
    for row in kept["results"]:
        assert row["verdict"] in ("violated", "consistent", "inconclusive")
        assert all(row[key] for key in ("subject", "setting", "claim", "how", "witness"))
        assert row["seconds"] >= 0
        assert 0.999 <= row["confidence"] <= 1
        assert bool(row["script"]) == (row["verdict"] == "violated")
        if row["claimed"] is not None:
            above = float(row["found"]) > row["claimed"] * (1 + 1e-4)
            assert above == (row["verdict"] != "consistent")
    assert any(row["found"] == "inf" for row in kept["results"])


def test_verify_shows_them_and_does_not_fail_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without them the same failures; nothing is run."""
    monkeypatch.setattr(verify, "work", lambda *_: [])
    report, _ = verify.build_report(only=None, seed=0, effort=QUICK, preset="quick")
    rows = report["libraries"]["results"]
    assert report["libraries"] == libraries.kept()
    own, others = libraries.split(rows)
    assert (len(own), len(others)) == (5, len(rows) - 5)
    assert {row["library"] for row in own} == {"tailproof"}
    violated = sum(row["verdict"] == "violated" for row in others)
    assert f"other libraries, audited earlier: {len(others)}, of which {violated} violated" in report["summary"]
    line = next(
        line for line in render(verify.overview(report)).splitlines() if line.startswith("settings of other libraries")
    )
    assert str(len(others)) in line
    assert f"{violated} violated" in line
    monkeypatch.setattr(libraries, "kept", lambda: {"versions": {}, "results": []})
    other, _ = verify.build_report(only=None, seed=0, effort=QUICK, preset="quick")
    assert other["failures"] == report["failures"]
    assert other["findings"] == report["findings"] == []


def test_a_selection_leaves_them_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "work", lambda *_: [])
    report, _ = verify.build_report(only=["P2.A2"], seed=0, effort=QUICK, preset="quick")
    assert report["libraries"] is None
    assert "other libraries" not in report["summary"] + render(verify.overview(report))


def test_infinities_of_the_file_are_those_of_the_report() -> None:
    assert all(math.isfinite(row["found"]) for row in libraries.kept()["results"] if row["found"] != "inf")
