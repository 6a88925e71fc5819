"""The bound checker as commands: exit codes, JSON, and every comparison that the papers make."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import z3

from tailproof.bounds import Dominance, certificates, comparisons, theorems
from tailproof.bounds.smtlib import export
from tailproof.bounds.statements import Comparison
from tailproof.verification.bound_checks import check_comparison
from tailproof.verification.cli import main

Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, arguments: list[str]) -> tuple[int, dict[str, object]]:
    code = main([*arguments, "--json", "-"])
    return code, json.loads(capsys.readouterr().out)


def test_dominated(capsys: Capture, tmp_path: Path) -> None:
    script = tmp_path / "claim.smt2"
    rates = ["d/(n*eps)", "sqrt(d/n)+(d/(n*eps))**(1-1/k)"]
    code, value = answer(capsys, ["compare", *rates, "--where", "k>=2", "n*eps>=d", "--smt2", str(script)])
    assert code == 0
    assert value["verdict"] == "dominated"
    certificates.verify(value["certificate"])  # type: ignore[arg-type]
    solver = z3.Solver()
    solver.from_string(script.read_text())
    assert solver.check() == z3.unsat


def test_separated(capsys: Capture) -> None:
    code, value = answer(capsys, ["compare", "(d/(n*eps))**(1-1/k)", "d/(n*eps)", "--where", "k>=2", "n*eps>=d"])
    assert code == 1
    assert value["verdict"] == "separated"
    assert value["ray"]
    certificates.verify(value["certificate"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["compare", "n**q", "n"], "q .* has no range"),
        (["compare", "n - d", "n"], "negative coefficient"),
        (["compare", "n", "n", "--where", "n<=1/2"], "regime is empty"),
        (["compare", "n +", "n"], "n \\+"),
        (["compare", "n", "n", "--smt2", "/nowhere/at/all"], "--smt2: "),
        (["theorem", "P9"], "id = 'P9'"),
    ],
)
def test_bad_input(capsys: Capture, arguments: list[str], match: str) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(match, error)


def test_theorems(capsys: Capture) -> None:
    code, value = answer(capsys, ["theorem"])
    assert code == 0
    assert len(value["theorems"]) == len(theorems())  # type: ignore[arg-type]
    code, value = answer(capsys, ["theorem", "P4.T3.1"])
    assert code == 0
    assert {check["verdict"] for check in value["checks"]} == {"dominated"}  # type: ignore[union-attr,index]
    for check in value["checks"]:  # type: ignore[attr-defined]
        certificates.verify(check["certificate"])
    assert main(["theorem", "P4.T3.1"]) == 0
    assert "derived" in capsys.readouterr().out


def test_a_theorem_with_its_derivation_and_its_best_choice(capsys: Capture) -> None:
    code, value = answer(capsys, ["theorem", "P3.T7.tau"])
    assert code == 0
    derivation: dict[str, Any] = value["derivation"]  # type: ignore[assignment]
    assert (derivation["base"], derivation["verdict"], derivation["logs"]) == ("P3.T3.square", "exact", False)
    for side in ("follows", "sharp"):
        certificates.verify(derivation[side]["certificate"])
    code, value = answer(capsys, ["theorem", "P4.P2.5"])
    (best,) = value["best_choices"]  # type: ignore[misc]
    assert best["attained"]["verdict"] == "dominated"
    for document in (best["attained"]["certificate"], best["below"]["certificate"]):
        certificates.verify(document)
    for step in best["steps"]:
        certificates.verify(step["optimal"])
        certificates.verify(step["achieved"])
    assert main(["theorem", "P4.P2.5"]) == 0
    text = capsys.readouterr().out
    assert "follows from P4.OURS.distance at the choices, exactly" in text
    assert "attained by the choice" in text


@pytest.mark.parametrize("comparison", comparisons(), ids=lambda comparison: comparison.id)
def test_what_the_papers_compare(comparison: Comparison) -> None:
    holds, found = check_comparison(comparison)
    assert holds is comparison.holds
    for result in found:
        certificates.verify(json.loads(json.dumps(result.document)))
        if isinstance(result, Dominance):
            solver = z3.Solver()
            solver.from_string(export(result.document))
            assert solver.check() == z3.unsat
