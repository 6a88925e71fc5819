"""A small report with something of every kind, made in a second or two: real findings, witnesses, errata and certificates of a few
entries, and numbers made up where measuring would take long."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

from tailproof.bounds.citations import citations
from tailproof.bounds.errata import errata
from tailproof.bounds.theorems import comparisons
from tailproof.refimpl.catalogue import algorithm
from tailproof.verification import libraries, matrix, published_claims, sandwich, statements, verify
from tailproof.verification.bound_checks import check_comparison
from tailproof.verification.check import QUICK, honest_findings, judge_mutant
from tailproof.verification.mutants import mutants_of
from tailproof.verification.paper_check import entry_of
from tailproof.verification.report import plain

ERRATA = ("P3.Alg2.batch", "P0.Def3", "P0.Table1.Bassily")


def small_report() -> dict[str, Any]:
    """A fresh copy: tests may change it."""
    copied: dict[str, Any] = plain(_made())
    return copied


@cache
def _made() -> dict[str, Any]:
    findings = [*honest_findings(algorithm("P2.A2"), 0, QUICK), *honest_findings(algorithm("P3.A2"), 0, QUICK)]
    judged = [judge_mutant(mutant, 0) for mutant in mutants_of("P2.A2")[:3]]
    checked = [verify.statement_json(statements.run(t)) for t in statements.TRIALS if t.id == "P0.Def3"]
    report: dict[str, Any] = {
        "preset": "full",
        "seed": 0,
        "only": None,
        "versions": {"tailproof": "0", "numpy": "2"},
        "papers": [asdict(paper) for paper in citations()],
        "algorithms": [verify.algorithm_json(algorithm(name)) for name in ("P2.A2", "P3.A2")],
        "findings": [finding.to_json() for finding in findings],
        "matrix": matrix.matrix([f.to_json() for f in findings], [algorithm(name) for name in ("P2.A2", "P3.A2")]),
        "mutants": [plain(vars(result)) for result in judged],
        "inapplicable": [
            {"algorithm": "P2.A2", "name": "budget not split", "reason": "it has one release & <no> budget to split"}
        ],
        "second_stage": {
            "bias": [{"loss": "affine", "n": 3, "lemma": 0.9, "before": 0.5, "after_A": 0.5, "after_B": 0.25}],
            "distance": [
                {"n": 3, "d": 2, "epsilon": 1.0, "single": [0.2, 0.01], "double, reading A": [0.4, 0.01]}
                | {"double, reading B": [0.5, 0.01]}
            ],
        },
        "sweeps": [sweep("falls"), sweep("saturated")],
        "sandwich": [pair("P4.S1"), pair("P4.A1 (double)", upper=None, upper_is="none", share=None, share_lower=None)],
        "statements": checked,
        "agreements": [agreement("printed is smaller"), agreement("same")],
        "comparisons": [entry_of(c, *check_comparison(c)) for c in comparisons() if c.id in ("P0.C8", "P0.C1", "P0.C2")],
        "derivations": [{"id": "P0.T1", "base": "P0.T10", "verdict": "exact", "logs": True}],
        "choices": [
            {"id": "P3.T6", "chosen": {"T": "n"}, "chosen_rate": "1/n", "best_rate": "1/n**2", "attained": False}
            | {"expected": False, "factor": None, "note": "a < b"}
        ],
        "errata": [verify.erratum_json(entry) | {"stands": True} for entry in errata() if entry.id in ERRATA],
        "libraries": audited(),
        "failures": [],
        "summary": "made for tests",
    }
    judged_claims = published_claims.published_claims(report["findings"], checked)
    chosen = [c for c in judged_claims if c["id"] == "P0.D3" or (c["rows"] and set(c["rows"]) <= {"P2.A2", "P3.A2"})]
    report["published_claims"] = plain(chosen)
    return report


def audited() -> dict[str, Any]:
    """Of the kept audits the first row of each library, verdict and kind, and those that say more."""
    kept = libraries.kept()
    kinds = {}
    for row in kept["results"]:
        told = (bool(row["note"]), row["found"] == "inf")
        kinds.setdefault((row["library"], row["verdict"], row["how"].partition(",")[0], told), row)
    return kept | {"results": list(kinds.values())}


def sweep(verdict: str) -> dict[str, Any]:
    points = [
        {
            "at": n,
            "measured": 10 / n,
            "interval": [5 / n, 20 / n],
            "bound": n**-0.5,
            "ratio": 10 / n**0.5,
            "bound_slope": -0.5,
        }
        | {"of_start": 0.9 if n == 100.0 else 0.1}
        for n in (100.0, 1000.0, 10000.0)
    ]
    slopes = {"slope": [-1.0, -1.1, -0.9], "ratio_slope": [-0.5, -0.6, -0.4], "bound_slope": -0.5}
    about = {"statement": "P1.T8", "algorithm": "P1.A4", "problem": f"losses, {verdict}", "preset": "theory", "over": "n"}
    return about | slopes | {
        "values": {"d": 3.0}, "runs": 20, "points": points, "informative": 2, "verdict": verdict, "reason": "because"
    }  # fmt: skip


def pair(name: str, **changes: Any) -> dict[str, Any]:
    row = sandwich.Row(
        algorithm=name, instance="a packing", claim="pure(eps=1)", n=10, runs=20, statistic="mean", lower=1.0, measured=3.0,
        interval=(2.0, 4.0), upper=9.0, upper_is="explicit", share=0.5, share_lower=0.25, chance=1.0, verdict="consistent",
        detail="", seed=0,
    )  # fmt: skip
    return row.to_json() | changes


def agreement(verdict: str) -> dict[str, Any]:
    rates = {"printed": "1/sqrt(n)" * 12, "derived": "1/n"}
    return {
        "id": f"P0.{verdict}",
        "label": "Theorem 1",
        "verdict": verdict,
        "errata": ["P0.Table1.Bassily"],
        "reason": "",
    } | rates
