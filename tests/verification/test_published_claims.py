"""The table of claims: complete, put together from findings, and changed by a violation."""

import json
import math
import re
from typing import Any

import numpy as np
import pytest

from tailproof.bounds.errata import errata
from tailproof.bounds.theorems import theorems
from tailproof.refimpl.catalogue import ALGORITHMS, algorithm
from tailproof.refimpl.claims import gaussian_delta
from tailproof.verification import published_claims, statements, verify
from tailproof.verification.check import QUICK, Effort, honest_findings
from tailproof.verification.page.published import refuted
from tailproof.verification.published_claims import LEMMAS, NOTHING, OPEN, REFUTED, STANDS, cells, coins_delta, failures
from tailproof.verification.report import Finding, plain
from tailproof.verification.verify import statement_json

SMALL = Effort(restarts=1, steps=2, transcripts=5, runs=QUICK.runs, forced=2, rows=2)
EXPLICIT = ("P0.Def3", "P1.Thm7.sensitivity", "P2.Thm3", "P2.Thm6", "P3.Lem3", "P3.Lem22")
ROWS = [a.id for a in ALGORITHMS if a.paper in ("P0", "P1", "P2", "P3") and not a.claim.startswith("none")]


def finding(row: str, check: str, **values: Any) -> dict[str, Any]:
    return Finding(row, check, **values).to_json()


def consistent(row: str) -> dict[str, Any]:
    return finding(row, "transcript", status="consistent", measured=0.5, bound=1.0)


@pytest.fixture(scope="module")
def checked() -> list[dict[str, Any]]:
    return [statement_json(statements.run(trial)) for trial in statements.TRIALS if trial.id in EXPLICIT]


def by_id(claims: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {claim["id"]: claim for claim in claims}


def test_every_privacy_statement_and_every_row_with_a_claim_is_there(checked: list[dict[str, Any]]) -> None:
    claims = published_claims.published_claims([consistent(row) for row in ROWS], checked)
    asked = {s.id for s in theorems() if s.kind == "privacy" and s.paper in ("P0", "P1", "P2", "P3")}
    assert len(asked) >= 36
    assert {claim["id"] for claim in claims} == asked | set(ROWS)
    assert len(claims) == len(asked) + len(ROWS)
    assert failures(claims) == []
    assert {claim["verdict"] for claim in claims} <= {STANDS, REFUTED}
    json.dumps(plain(claims), allow_nan=False)
    assert all(len(cells(claim)) == len(published_claims.HEADER) for claim in claims)


def test_what_is_known_to_fail_as_printed_is_refuted_with_its_erratum(checked: list[dict[str, Any]]) -> None:
    claims = by_id(published_claims.published_claims([consistent(row) for row in ROWS], checked))
    refuted = {name: claim["errata"] for name, claim in claims.items() if claim["verdict"] == REFUTED}
    assert refuted == {
        "P0.D3": ["P0.Def3"],
        "P1.T7.sensitivity": ["P1.Thm7.estimator"],
        "P3.L3": ["P3.Lem3"],
        "P3.A4.noise": ["P3.Lem22"],
        "P3.L22": ["P3.Lem22"],
    }
    assert "P3.Lem22" in claims["P3.A4"]["errata"]  # its row says so, too
    assert claims["P3.L3"]["formula"]["ratio"] > 1
    assert claims["P3.L3"]["formula"]["corrected"] <= 1
    assert claims["P3.L3"]["counterexample"].startswith("P3.Lem3, epsilon = ")


def test_a_claim_without_evidence_fails() -> None:
    claims = published_claims.published_claims([consistent(row) for row in ROWS if row != "P1.A1"], [], ROWS)
    assert by_id(claims)["P1.A1"]["verdict"] == NOTHING
    assert failures(claims) == ["P1.A1: nothing was found about this published claim"]
    others = [finding("P1.A1", "utility", status="consistent"), finding("P1.A1", "calibration", status="certified")]
    claims = published_claims.published_claims(others, [], ["P1.A1"])
    assert [claim["verdict"] for claim in claims] == [NOTHING]  # they do not speak about privacy


def test_what_is_only_inconclusive_is_not_decidable_here() -> None:
    unclear = finding("P0.B", "amplified claim", status="inconclusive", detail="no formula")
    (claim,) = published_claims.published_claims([unclear], [], ["P0.B"])
    assert claim["verdict"] == OPEN
    assert claim["open"] == ["amplified claim: no formula"]


def test_a_planted_violation_changes_the_verdict() -> None:
    honest = [f.to_json() for f in honest_findings(algorithm("P2.A2"), 0, SMALL)]
    before = by_id(published_claims.published_claims(honest, [], ["P2.A2"]))
    assert {claim["verdict"] for claim in before.values()} == {STANDS}
    assert before["P2.A2"]["sensitivity"] == pytest.approx(1.0)
    assert before["P2.A2"]["transcript"]["ratio"] == pytest.approx(1.0)
    assert before["P2.A2"]["pairs"] > 0
    assert "n = 13" in before["P2.A2"]["tested"][0]
    planted = finding("P2.A2", "sensitivity", status="violated", measured=3.0, bound=1.5, detail="moved")
    after = by_id(published_claims.published_claims([*honest, planted], [], ["P2.A2"]))
    assert after.keys() == before.keys()
    assert {"P2.A2", "P2.L4"} <= set(after)
    for claim in after.values():
        assert claim["verdict"] == REFUTED
        assert claim["moved"] == 2.0
        assert claim["excess"]["ratio"] == 2.0
        assert claim["counterexample"] == "witnesses/P2.A2-sensitivity.json"
    assert "P2.A2: refuted, and no erratum says so" in failures(list(after.values()))


def test_a_shipped_counterexample_is_named_with_what_it_shows() -> None:
    common = {"status": "violated", "expected": True, "setting": "s", "errata": ("P0.Alg2.stability",)}
    found = [
        finding("P0.A3", "sensitivity", measured=4.2, bound=1.0, detail="far", **common),
        finding("P0.A3", "transcript", measured=8.7e-4, bound=1e-5, detail="exact", **common),
        finding("P0.A3", "ledger", measured=math.inf, bound=1.0, detail="all", **common),
    ]
    claim = by_id(published_claims.published_claims(found, [], ["P0.A3"]))["P0.T1.privacy"]
    assert claim["verdict"] == REFUTED
    assert claim["errata"] == ["P0.Alg2.stability"]
    assert claim["counterexample"] == "counterexamples/P0.A3.json"
    assert claim["excess"]["check"] == "transcript"
    assert claim["excess"]["measured"] == 8.7e-4
    assert claim["moved"] == 4.2
    assert "4.2 times the claimed sensitivity" in cells(claim)[-1]
    report = {"published_claims": [claim], "findings": [f | {"witness": None} for f in found], "mutants": [], "errata": []}
    assert "P0.T1.privacy" in refuted(report | {"statements": []})


def test_only_chosen_rows_are_judged() -> None:
    claims = by_id(published_claims.published_claims([consistent("P0.A6")], [], ["P0.A6"]))
    assert set(claims) == {"P0.A6", "P0.L6"}  # P0.T6.privacy is about P0.A7, too


@pytest.mark.parametrize("identifier", LEMMAS)
def test_cited_lemmas_hold_on_what_is_worst_for_them(identifier: str) -> None:
    cases = list(LEMMAS[identifier]())
    assert len(cases) >= 4
    assert all(measured <= bound * (1 + 1e-9) for _, measured, bound in cases)


def test_composed_coins_by_enumeration() -> None:
    """All outcomes of three randomised responses, each of which may reveal everything."""
    epsilon, leak, total = 0.4, 0.05, 0.5
    p = 1 / (1 + math.exp(-epsilon))
    one = np.array([(1 - leak) * p, (1 - leak) * (1 - p), leak, 0.0])  # yes, no, surely yes, surely no
    other = np.array([(1 - leak) * (1 - p), (1 - leak) * p, 0.0, leak])
    first, second = (np.einsum("i,j,k->ijk", law, law, law).ravel() for law in (one, other))
    exact = np.maximum(0.0, first - math.exp(total) * second).sum()
    assert coins_delta(epsilon, total, times=3, leak=leak) == pytest.approx(exact, rel=1e-12)
    many = coins_delta(0.01, 0.3, times=10_000)
    assert many == pytest.approx(gaussian_delta(1.0, 0.3), rel=5e-3)  # many small ones are like one Gaussian of μ = ε√k


def test_errata_that_refute_a_claim_are_told_to_readers() -> None:
    """A sentence for a title, a paragraph of short sentences; a card of the report has nothing else to show at first."""
    refuting = {"P0.Alg2.stability", "P0.Def3", "P1.Thm7.estimator", "P3.Lem3", "P3.Alg2.batch", "P3.Lem22"}
    told = {entry.id: entry for entry in errata() if entry.title}
    assert set(told) >= refuting
    for entry in told.values():
        assert entry.title.endswith(".")
        assert entry.paper in entry.title
        assert len(entry.title) <= 130
        sentences = re.split(r"(?<=[.])\s+(?=[A-Z])", entry.story)
        assert len(sentences) > 1
        assert max(len(sentence.split()) for sentence in sentences) <= 28


def test_a_selection_has_the_errata_that_its_claims_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is run: the claims are made up."""
    monkeypatch.setattr(verify, "work", lambda *_: [])
    made = [{"id": "P3.T5", "verdict": REFUTED, "errata": ["P3.Alg2.batch", "P3.Lem3"]}]
    monkeypatch.setattr(verify.published_claims, "published_claims", lambda *_: made)
    report, _ = verify.build_report(only=["P3.A2"], seed=0, effort=QUICK, preset="quick")
    assert {entry["id"] for entry in report["errata"]} == {"P3.Alg2.batch", "P3.Lem3"}
    assert all(entry["stands"] and entry["title"] for entry in report["errata"])
