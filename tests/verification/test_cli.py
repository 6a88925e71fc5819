"""The command line: what it prints, what it writes, how it ends."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tailproof.refimpl.catalogue import ALGORITHMS, algorithm
from tailproof.refimpl.domains import unit_ball
from tailproof.refimpl.extension.certified import accuracy_for
from tailproof.refimpl.extension.fixed_step import fixed_step_plan
from tailproof.refimpl.extension.joint import adaptive_iterations_upper
from tailproof.verification import subject
from tailproof.verification.check import judge_mutant
from tailproof.verification.cli import main
from tailproof.verification.mutants import mutant
from tailproof.verification.witness import load_subject, witness_of

ROOT = Path(__file__).resolve().parent.parent.parent
Capture = pytest.CaptureFixture[str]


def test_without_a_command_it_prints_help(capsys: Capture) -> None:
    assert main([]) == 0
    bare = capsys.readouterr().out
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == bare
    assert "Exit codes" in bare


def test_list_has_all_rows(capsys: Capture) -> None:
    assert main(["list", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["algorithms"]
    assert len(rows) == 31 + 5 == len({row["id"] for row in rows})
    assert [row["id"] for row in rows] == [entry.id for entry in ALGORITHMS]
    assert {"id", "name", "paper", "place", "claim"} <= set(rows[0])
    built = {row["id"] for row in rows if row["status"] == "built"}
    assert {"P0.A1", "P1.A3.mean", "P1.A4.mean", "P2.A2", "P2.A3", "P3.A1", "P3.A3", "P3.A4"} <= built
    assert all(row["status"] == "not built yet" for row in rows if row["id"] not in built)
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert text.count("built; for study") == 2


def test_what_is_for_study_says_how_many_steps_it_would_take() -> None:
    """At the numbers that the catalogue names."""
    study = {row.id: row.study for row in ALGORITHMS if row.study}
    n, d, accuracy = 1000, 5, accuracy_for(lipschitz=1.0, weight=0.1, size=1000, kappa=0.1)
    plan = fixed_step_plan(domain=unit_ball(d), lipschitz=1.0, weight=0.1, anchor=np.zeros(d), accuracy=0.9 * accuracy)
    assert f"{plan.iterations:.1e}".replace("+", "") in str(study["P4.D4"])
    joint = adaptive_iterations_upper(diameter=2 * math.sqrt(n + 1), norm_upper=1 + 0.1, accuracy=accuracy)
    assert f"{joint:.1e}".replace("+", "") in str(study["P4.A3"])


def test_verify_writes_its_report_and_does_not_depend_on_the_number_of_workers(tmp_path: Path, capsys: Capture) -> None:
    for jobs in ("1", "2"):
        assert main(["verify", "--only", "P2.A2", "P0.A1", "--jobs", jobs, "--report", str(tmp_path / jobs)]) == 0
    text = capsys.readouterr().out
    assert "11 of 11 deliberately broken copies caught" in text
    first, second = ((tmp_path / jobs / "report.json").read_bytes() for jobs in ("1", "2"))
    assert first == second
    report = json.loads(first)
    keys = {"algorithm", "check", "status", "measured", "bound", "confidence", "seed", "expected", "witness"}
    assert all(keys <= set(finding) for finding in report["findings"])
    page = (tmp_path / "1" / "report.html").read_text()
    assert "P2.A2" in page
    assert set(re.findall(r"https?://[^/\"]+", page)) <= {"https://arxiv.org"}  # self-contained: links to papers alone
    assert not re.search(r'(src|@import|url\()\s*[=("]*http', page)
    assert json.loads((tmp_path / "1" / "timings.json").read_text())
    assert main(["replay", str(tmp_path / "1" / "witnesses" / "P2.A2-noise-halved.json")]) == 1
    assert capsys.readouterr().out in (ROOT / "docs" / "audit" / "tests.md").read_text()


def test_verify_fails_when_a_mutant_survives(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    from tailproof.verification import mutants

    harmless = mutants.Mutant("P2.A2", "harmless", "privacy", (("n = len(data)", "n = len(data) + 0"),))
    monkeypatch.setattr(mutants, "MUTANTS", (harmless,))
    assert main(["verify", "--only", "P2.A2", "--jobs", "1", "--report", str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("FAILED  P2.A2: mutant 'harmless' (privacy) survived")


def test_replay_of_a_witness(tmp_path: Path, capsys: Capture) -> None:
    witness = judge_mutant(mutant("P2.A2", "noise halved"), seed=0).witness
    file = tmp_path / "witness.json"
    file.write_text(json.dumps(witness))
    assert main(["replay", str(file)]) == 1
    assert "claimed 0.37, found 1.48: still violates" in capsys.readouterr().out
    assert main(["replay", str(file), "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["violates"] is True


def test_replay_of_the_honest_algorithm_on_the_same_pair(tmp_path: Path, capsys: Capture) -> None:
    witness = judge_mutant(mutant("P2.A2", "noise halved"), seed=0).witness
    assert witness is not None
    pair = (np.array(witness["data"]), np.array(witness["neighbour"]))
    file = tmp_path / "witness.json"
    file.write_text(json.dumps(witness_of(load_subject("P2.A2", 0, None), witness["check"], witness["seed"], pair=pair)))
    assert main(["replay", str(file)]) == 0
    assert "does not violate" in capsys.readouterr().out


def test_a_witness_outlives_its_setting(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting of the catalogue becomes another one; the counterexample is still run with its own numbers."""
    file = tmp_path / "witness.json"
    file.write_text(json.dumps(judge_mutant(mutant("P2.A2", "noise halved"), seed=0).witness))
    entry = algorithm("P2.A2")
    assert entry.implementation is not None
    changed = [replace(s, n=7, parameters={**s.parameters, "clip": 11.0}) for s in entry.implementation.settings]
    other = replace(entry, implementation=replace(entry.implementation, settings=tuple(changed)))
    monkeypatch.setattr(subject, "algorithm", lambda _: other)
    assert load_subject("P2.A2", 0, None).setting.n == 7
    assert main(["replay", str(file)]) == 1
    assert "claimed 0.37, found 1.48: still violates" in capsys.readouterr().out


@pytest.mark.parametrize(
    "edit",
    [
        {"parameters": {"clip": "x"}},
        {"parameters": {"clip": [1]}},
        {"parameters": 7},
        {"records": "many"},
        {"records": -1},
        {"setting": 99},
        {"setting": "first"},
        {"mutant": "nobody's"},
        {"algorithm": "P9.A1"},
        {"data": [[1], [1, 2]]},
        {"data": "x"},
        {"check": "x"},
        {"seed": None},
    ],
    ids=str,
)
def test_a_damaged_witness_is_refused_in_one_line(edit: dict[str, object], tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "witness.json"
    witness = judge_mutant(mutant("P2.A2", "noise halved"), seed=0).witness
    assert witness is not None
    file.write_text(json.dumps(witness | edit))
    assert main(["replay", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_errata(capsys: Capture) -> None:
    assert main(["errata", "--json", "-"]) == 0
    entries = json.loads(capsys.readouterr().out)["errata"]
    assert all({"id", "paper", "place", "kind", "printed", "found", "evidence"} <= set(e) for e in entries)


def test_calibrate(capsys: Capture) -> None:
    assert main(["calibrate", "gaussian", "--sensitivity", "1", "--epsilon", "1", "--delta", "1e-5"]) == 0
    assert "analytic (the least possible): 3.73063\n" in capsys.readouterr().out
    assert main(["calibrate", "convert", "zcdp(rho=.1)", "--delta", "1e-5", "--json", "-"]) == 0
    results = {r["name"]: r["value"] for r in json.loads(capsys.readouterr().out)["results"]}
    assert results["ε at δ = 1e-05, papers' ρ + 2√(ρ ln(1/δ))"] == pytest.approx(2.24596602629)
    assert results["ε at δ = 1e-05"] < 2.0
    assert main(["calibrate", "compose", "pure(eps=.1)", "pure(eps=.2)"]) == 0
    assert "pure ε: 0.3" in capsys.readouterr().out


@pytest.fixture
def incomes(tmp_path: Path) -> str:
    file = tmp_path / "incomes.csv"
    rows = np.random.default_rng(0).standard_t(2.5, size=(200, 2))
    file.write_text("income,age,name\n" + "\n".join(f"{a},{b},x" for a, b in rows) + "\n")
    return str(file)


def test_solve(incomes: str, capsys: Capture) -> None:
    assert main(["solve", "P2.A2", "--data", incomes, "--columns", "income", "age", "--rho", "0.1", "--set", "clip=3"]) == 0
    text = capsys.readouterr().out
    assert "claim: zcdp(rho=0.1), replace-one" in text
    assert "ledger: 1 release(s) touch each of 200 records, spending zcdp(rho=0.1) each" in text
    command = ["solve", "P3.A1", "--data", incomes, "--columns", "income", "--epsilon", "0.5", "--delta", "1e-4"]
    assert main([*command, "--set", "failure=0.1", "moment_order=1.5", "moment_bound=2", "--json", "-"]) == 0
    assert len(json.loads(capsys.readouterr().out)["estimate"]) == 1


def test_solve_reads_npy(tmp_path: Path, capsys: Capture) -> None:
    np.save(tmp_path / "x.npy", np.arange(30.0).reshape(10, 3))
    assert main(["solve", "P2.A2", "--data", str(tmp_path / "x.npy"), "--rho", "1", "--set", "clip=3"]) == 0
    assert "10 records of 3 columns" in capsys.readouterr().out


BAD_FILES = {
    "empty.csv": "",
    "one.csv": "1,2\n",
    "nan.csv": "1,2\n3,nan\n4,5\n",
    "inf.csv": "1,2\n3,inf\n4,5\n",
    "ragged.csv": "1,2\n3\n",
    "text.csv": "a,b\nx,y\nz,w\n",
    "broken.npy": "not an array",
}
SOLVE = ["solve", "P2.A2", "--rho", "0.1", "--set", "clip=1", "--data"]


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_data_files(name: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / name).write_text(BAD_FILES[name])
    assert main([*SOLVE, str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert "data" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["verify", "--only", "P9.A9"], "P9.A9"),
        (["verify", "--only", "P4.G"], "no implementation"),
        (["verify", "--jobs", "0"], "jobs"),
        (["verify", "--seed", "-1"], "seed"),
        (["verify", "--quick", "--full"], "cannot be given together"),
        (["nonsense"], "nonsense"),
        (["replay", "missing.json"], "missing.json"),
        (["replay", __file__], "JSON"),
        (["calibrate", "gaussian", "--sensitivity", "1", "--epsilon", "0", "--delta", "1e-5"], "epsilon"),
        (["calibrate", "gaussian", "--sensitivity", "1", "--epsilon", "-1", "--delta", "1e-5"], "epsilon"),
        (["calibrate", "gaussian", "--sensitivity", "0", "--epsilon", "1", "--delta", "1e-5"], "sensitivity"),
        (["calibrate", "gaussian", "--sensitivity", "1", "--epsilon", "1", "--delta", "1"], "delta"),
        (["calibrate", "gaussian", "--sensitivity", "1", "--epsilon", "1", "--delta", "0"], "delta"),
        (["calibrate", "gaussian", "--sensitivity", "1", "--epsilon", "nan", "--delta", "0.1"], "epsilon"),
        (["calibrate", "gaussian", "--sensitivity", "1"], "epsilon"),
        (["calibrate", "gaussian", "--sensitivity", "x"], "sensitivity"),
        (["calibrate", "convert", "pure(eps=0)"], "epsilon"),
        (["calibrate", "convert", "approx(eps=1,delta=2)"], "delta"),
        (["calibrate", "convert", "pure(rho=1)"], "pure"),
        (["calibrate", "convert", "nonsense"], "nonsense"),
        (["calibrate", "convert"], "claims"),
        ([*SOLVE, "missing.csv"], "missing.csv"),
        (["solve", "P9.A9", "--data", "x"], "P9.A9"),
        (["solve", "P0.A1", "--data", "x"], "P0.A1"),
        (["solve", "P2.A2", "--data", "x", "--rho", "1"], "clip is missing"),
        (["solve", "P2.A2", "--data", "x", "--rho", "1", "--set", "clip"], "NAME=VALUE"),
        (["solve", "P2.A2", "--data", "x", "--rho", "1", "--set", "clip=1", "radius=2"], "radius is not a parameter"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_wrong_input_ends_with_code_2_and_one_line(arguments: list[str], named: str, capsys: Capture) -> None:
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    error = capsys.readouterr().err
    assert code == 2
    assert named in error
    assert error.strip().count("\n") == 0
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("pairs", "named"),
    [("clip=0", "clip"), ("clip=-1", "clip"), ("clip=nan", "clip"), ("clip=wide", "clip")],
)
def test_bad_parameters_of_an_estimator(pairs: str, named: str, incomes: str, capsys: Capture) -> None:
    assert main(["solve", "P2.A2", "--data", incomes, "--columns", "income", "--rho", "0.1", "--set", pairs]) == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize("rho", ["0", "-1", "nan", "inf"])
def test_bad_budget_of_an_estimator(rho: str, incomes: str, capsys: Capture) -> None:
    assert main(["solve", "P2.A2", "--data", incomes, "--columns", "income", f"--rho={rho}", "--set", "clip=1"]) == 2
    assert "rho" in capsys.readouterr().err


def test_unknown_column(incomes: str, capsys: Capture) -> None:
    assert main(["solve", "P2.A2", "--data", incomes, "--columns", "wealth", "--rho", "1", "--set", "clip=1"]) == 2
    assert "income, age, name" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["list", "verify", "replay", "errata", "compare", "theorem", "calibrate", "solve", "audit"]
)
def test_every_command_has_help_with_an_example(command: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"example: tailproof {command}" in capsys.readouterr().out
