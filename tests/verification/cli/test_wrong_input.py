"""What a new user types by mistake: one line that says what is wrong, exit code 2, and a suggestion where there is one."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from tailproof.verification.cli import main

# The command; what its line says; what it suggests.
CASES = [
    # commands and options
    ("verfy", "unknown command 'verfy'", "verify"),
    ("Verify", "unknown command 'Verify'", "verify"),
    ("check", "unknown command 'check'", "verify"),
    ("adit subject:noisy --claim eps=1", "unknown command 'adit'", "audit"),
    ("help lst", "unknown command 'lst'", "list"),
    ("--verbose list", "unknown option '--verbose'", "tailproof list --verbose"),
    ("-x", "unknown option '-x'", "tailproof --help"),
    ("list extra", "unexpected: extra", None),
    ("list --jsn out.json", "unknown option '--jsn'", "--json"),
    ("list --json", "--json: a value is missing", None),
    ("list --json nowhere/out.json", "there is no folder 'nowhere'", None),
    ("list --json .", "'.' is a folder", None),
    ("list --color blue", "'blue': must be one of auto, always, never", None),
    ("verify --fast", "unknown option '--fast'", None),
    ("verify --ful", "unknown option '--ful'", "--full"),  # no silent abbreviations
    ("verify --quick --full", "--full: cannot be given together with --quick", None),
    # audits
    ("audit", "missing: --claim", None),
    ("audit --help-me", "unknown option '--help-me'", "--help"),
    ("audit subject:noisy --claims eps=1", "unknown option '--claims'", "--claim"),
    ("audit --claim eps=1", "MODULE:FUNCTION", None),
    ("audit subject.py --claim eps=1", "mechanism = 'subject.py'", "subject.py:noisy_mean"),
    ("audit subject.noisy --claim eps=1", "mechanism = 'subject.noisy'", "subject:noisy"),
    ("audit subject:nosy --claim eps=1", "subject has no function nosy", "noisy"),
    ("audit subject:number --claim eps=1", "subject has no function number", None),
    ("audit nothere:f --claim eps=1", "there is no module nothere", None),
    ("audit nothere.py:f --claim eps=1", "there is no file nothere.py", None),
    ("audit broken.py:f --claim eps=1", "importing the module raised", None),
    ("audit subject:noisy --claim 1", "claim = '1'", "pure(eps=1)"),
    ("audit subject:noisy --claim 'pur(eps=1)'", "claim = 'pur(eps=1)'", "pure"),
    ("audit subject:noisy --claim 'pure(eps=1'", "claim = 'pure(eps=1'", "pure(eps=1)"),
    ("audit subject:noisy --claim 'pure(eps=-1)'", "epsilon = -1.0: must be > 0", None),
    ("audit subject:noisy --claim 'approx(eps=1)'", "delta is missing", "approx(eps=1,delta=1e-5)"),
    ("audit subject:noisy --claim eps=1,rho=1", "claim = 'eps=1,rho=1'", None),
    ("audit subject:noisy --claim eps=1 --budget ten", "'ten' is not a whole number", "1e5"),
    ("audit subject:noisy --claim eps=1 --budget 1.5", "'1.5' is not a whole number", None),
    ("audit subject:noisy --claim eps=1 --budget 10kk", "'10kk' is not a whole number", "100k"),
    ("audit subject:noisy --claim eps=1 --confidence 99%", "'99%' is not a number", None),
    ("audit subject:noisy --claim eps=1 --confidence 99", "confidence = 99.0: must lie strictly between 0 and 1", None),
    ("audit subject:noisy --claim eps=1 --bounds 0-1", "bounds = '0-1'", "0:1"),
    ("audit subject:noisy --claim eps=1 --bounds 1:0", "low must be below high", None),
    ("audit subject:noisy --claim eps=1 --columns 0", "columns = 0: must be >= 1", None),
    ("audit subject:noisy --claim eps=1 --data nothere.csv", "data = 'nothere.csv': there is no such file", None),
    ("audit subject:noisy --claim eps=1 --neighbor data.csv", "unknown option '--neighbor'", "--neighbour"),
    ("audit subject:noisy --claim eps=1 --jobs 0", "--jobs: '0' must be a whole number >= 1", None),
    ("plan --claim eps=1", "missing: one of --true --budget", None),
    ("plan --claim eps=1 --true eps=.5", "nothing to refute", None),
    ("plan --claim eps=1 --true eps=2 --pair laplas", "'laplas': must be one of", "laplace"),
    ("plan --claim eps=1 --true eps=2 --budget 10", "cannot be given together with --true", None),
    ("replay nothere.json", "witness = 'nothere.json': there is no such file", None),
    ("replay data.csv", "is not a JSON file", None),
    ("replay empty.json", "is not a witness written by tailproof", None),
    ("replay .", "could not be read", None),
    # calculations
    ("calibrate", "missing: WHAT", None),
    ("calibrate gausian", "'gausian': must be one of", "gaussian"),
    ("calibrate laplace --sensitivity 1 --eps 1", "unknown option '--eps'", "--epsilon"),
    ("calibrate gaussian --sensitivity one", "'one' is not a number", None),
    ("calibrate convert 'zcdp(.1)' 'zcdp(.2)'", "takes exactly one", None),
    ("compare n", "missing: RATE_B", None),
    ("compare 'n^2' n", "rate 'n^2'", "**"),
    ("compare 'd/n' n --where 'n=>d'", "condition 'n=>d'", None),
    ("compare 'lg(n)' n", "lg(…) is not known", "log"),
    # papers
    ("theorem P4.T3", "id = 'P4.T3'", "P4.T3.1"),
    ("theorem Theorem3", "id = 'Theorem3'", "P0.T3"),
    ("theorem P2.T99", "id = 'P2.T99'", "P2.T"),
    ("theorem --check P2.T4", "--check takes a paper", "P0, P1, P2, P3, P4"),
    ("theorem P2.T4 --atlas atlas.html", "leave out ID", None),
    ("errata P0.Def33", "id = 'P0.Def33'", "P0.Def3"),
    ("sweep P9", "id = 'P9'", "tailproof sweep"),
    ("sweep P2.T2 --over m=1:2:3", "over = 'm'", "n, d"),
    ("sweep P2.T2 --over n=5:1:3", "LOW must be below HIGH", None),
    ("sweep P2.T2 --set d", "set = 'd'", "d=3"),
    ("sweep P2.T2 --runs 3 --plot nowhere/rate.svg", "there is no folder 'nowhere'", None),
    ("sandwich --only P9.A9", "only = 'P9.A9'", "P"),
    ("experiment p0-l5", "name = 'p0-l5'", "p0-l4"),
    ("experiment p0-l4", "data is missing", "--data"),
    # use
    ("solve P2.A2", "missing: --data", None),
    ("solve P9.A2 --data data.csv", "id = 'P9.A2'", "P2.A2"),
    ("solve P2.A2 --data data.csv --rho 1 --set clp=1", "clp is not a parameter", "clip"),
    ("solve P2.A2 --data data.csv --rho 1 --set clip=1 --columns incme", "column = 'incme'", "income"),
    (
        "solve P4.A1 --data data.csv --target age --loss absolut --domain ball:1 --epsilon 1 --moment-order 2 --moment-bound 3",
        "loss = 'absolut'",
        "absolute",
    ),
    # everything
    ("verify --only P2.A22", "only = 'P2.A22'", "P2.A2"),
    ("verify P2.A2", "unexpected: P2.A2", None),
    ("verify --only P2.A2 --out data.csv", "'data.csv' is a file, not a folder", None),
    ("verify --only P2.A2 --checkpoint data.csv", "is not a checkpoint written by tailproof", None),
    ("report .", "there is no report.json here", "tailproof verify"),
    ("report broken", "its report.json is not readable", None),
    ("vectors check --kind clipng", "kind = 'clipng'", "clipping"),
    ("vectors check nowhere", "folder = 'nowhere': there is no such folder", None),
    ("vectors check --command ./nothere", "command = './nothere': cannot be started", None),
    ("vectors export data.csv", "folder = 'data.csv'", None),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of somebody who has a function, a data file, and files that are not what they seem."""
    subject = "import numpy as np\n\nnumber = 3\n\n\ndef noisy(data, rng):\n    return data.mean() + rng.laplace()\n"
    (tmp_path / "subject.py").write_text(subject)
    (tmp_path / "broken.py").write_text("def f(data, rng:\n")
    (tmp_path / "data.csv").write_text("income,age\n1,2\n3,4\n5,6\n")
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "report.json").write_text('{"findings": [')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("subject", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.mark.parametrize(("command", "said", "suggested"), CASES, ids=[command for command, _, _ in CASES])
def test_one_line_exit_2_and_a_suggestion(
    command: str, said: str, suggested: str | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if "__pycache__" not in path.parts}
    code = main(shlex.split(command))
    shown = capsys.readouterr()
    assert code == 2
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("tailproof")
    assert said in shown.err
    assert suggested is None or suggested in shown.err.replace(said, "", 1)
    assert shown.out == ""
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if "__pycache__" not in path.parts} == before


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60
    assert len({command for command, _, _ in CASES}) == len(CASES)


RIGHT = [
    ("theorem p2.t4", "P2.T4"),
    ("errata p0.def3", "P0.Def3"),
    ("calibrate convert 'pure(1)' --delta 1e-6", "zCDP"),
    ("calibrate convert eps=1,delta=1e-6 --delta 1e-5", "ε at δ"),
    ("plan --claim eps=1 --true 'pure(epsilon=1.5)'", "samples"),
    ("plan --claim 'pure(1)' --budget 1e4", "samples: 10000"),
    ("plan --claim 'pure(1)' --budget 10k", "samples: 10000"),
    ("plan --claim 'pure(1)' --budget 10_000", "samples: 10000"),
    ("solve p2.a2 --data data.csv --rho 1 --set clip=1 --seed 0", "P2.A2 on 3 records"),
    ("help list", "usage: tailproof list"),
]


@pytest.mark.parametrize(("command", "shown"), RIGHT, ids=[command for command, _ in RIGHT])
@pytest.mark.usefixtures("folder")
def test_what_is_clear_is_accepted(command: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(shlex.split(command))
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code == 0
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("words", ["subject.py:noisy --bounds 0,1", "subject:noisy --bounds -1:1", "./subject.py:noisy"])
@pytest.mark.usefixtures("folder")
def test_an_audit_takes_files_and_bounds_as_people_write_them(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = f"audit {words} --claim 'pure(eps=3)' --records 3 --columns 1 --budget 2e3 --time-limit 0 --json -"
    assert main(shlex.split(command)) in (0, 1)
    assert json.loads(capsys.readouterr().out)["verdict"] in ("consistent", "violated")


def test_a_file_that_python_would_not_import(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "json.py").write_text("def f(data, rng):\n    return 0\n")
    assert main(["audit", "json.py:f", "--claim", "eps=1"]) == 2
    assert "Python has another module json" in capsys.readouterr().err
