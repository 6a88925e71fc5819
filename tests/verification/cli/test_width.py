"""Every command on a terminal of 80 and of 120 columns: no line is wider.  Colours and signs.  Into a pipe nothing is wrapped."""

import io
import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from tailproof.verification import verify
from tailproof.verification.check import judge_mutant
from tailproof.verification.cli import main
from tailproof.verification.cli.entry import COMMANDS
from tailproof.verification.cli.verify import brief
from tailproof.verification.mutants import mutant
from tailproof.verification.shown import Table, render
from tests.verification.cli.terminals import run, shown_by, too_wide
from tests.verification.small_report import small_report

WIDTHS = (80, 120)
SHOWN = [
    "",
    "list",
    "errata",
    "theorem",
    "theorem P2.T4",
    "theorem P4.T3.1",
    "calibrate gaussian --sensitivity 1 --epsilon 1 --delta 1e-6",
    "calibrate convert 'zcdp(.1)'",
    "compare 'd/(n*eps)' 'sqrt(d/n) + (d/(n*eps))**(1-1/k)' --where 'k>=2' 'n*eps>=d'",
    "compare 'sqrt(d/n) + (d/(n*eps))**(1-1/k)' 'd/(n*eps)' --where 'k>=2' 'n*eps>=d'",
    "plan --claim 'approx(eps=1,delta=1e-5)' --true 'approx(eps=1.5,delta=1e-5)'",
    "replay witness.json",
    "sweep",
    "sweep P3.T1 --over n=500,600,700 --runs 3 --jobs 1",
    "sandwich --only P2.A2 --runs 20 --jobs 1",
    "experiment",
    "experiment p0-l4 --data toy.csv --quick --runs 2 --n 40 --epsilon 8 --jobs 1 --steps 5",
    "solve P2.A2 --data data.csv --rho 1 --set clip=1 --seed 0",
    "solve P4.A1 --data data.csv --target age --loss absolute --domain ball:1 --epsilon 1 --moment-order 2 --moment-bound 3"
    " --seed 0",
    "report report",
    "report --compare report report",
    "vectors check --kind clipping",
    "vectors check --kind clipping --command 'python -m tailproof.verification.vectors.subject'",
    "explain",
    "explain closed",
    "audit subject:noisy --claim 'pure(eps=3)' --records 3 --columns 1 --budget 2000 --time-limit 0",
    "audit subject:silent --claim 'pure(eps=1)' --records 3 --columns 1 --budget 2000 --time-limit 0 --witness found.json",
    "verfy",
    "theorem P4.T3",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shown")
    rng = np.random.default_rng(0)
    rows = rng.standard_t(2.5, size=(60, 3))
    (folder / "data.csv").write_text("income,age,wealth\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    labels = [f"{a},{b},{1 if c > 0 else -1}" for a, b, c in rows]
    (folder / "toy.csv").write_text("a,b,label\n" + "\n".join(labels) + "\n")
    (folder / "witness.json").write_text(json.dumps(judge_mutant(mutant("P2.A2", "noise halved"), seed=0).witness))
    subject = (
        "def noisy(data, rng):\n    return data.mean() + rng.laplace()\n\n\ndef silent(data, rng):\n    return data.mean()\n"
    )
    (folder / "subject.py").write_text(subject)
    (folder / "report").mkdir()
    verify.write(small_report(), {}, folder / "report")
    return folder


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "subject", raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    return place


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", SHOWN)
def test_no_line_is_wider_than_the_terminal(command: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    text = shown_by(lambda: codes.append(main(shlex.split(command))), width, monkeypatch)
    assert codes[0] in ((2,) if command in ("verfy", "theorem P4.T3") else (0, 1))
    assert text.strip()
    assert too_wide(text, width) == [] or codes == [2]  # an error is one line


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits(command: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> None:
        with pytest.raises(SystemExit):
            main([command, "--help"])

    text = shown_by(asked, width, monkeypatch)
    assert f"example: tailproof {command}" in text
    assert too_wide(text, width) == []


def test_all_commands_are_tried() -> None:
    assert set(COMMANDS) <= {line.split()[0] for line in SHOWN if line} | {"verify"}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("verbose", [[], ["-v"]])
def test_verify_in_a_process_of_its_own(width: int, verbose: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tailproof", "verify", "--only", "p2.a2", "--jobs", "1", "-o", str(tmp_path), *verbose]
    code, text = run(command, width)
    assert code == 0
    assert too_wide(text, width) == []
    assert "Nothing unexpected." in text
    assert "consistent" in text
    assert ("release privacy" in text) is bool(verbose)


@pytest.mark.parametrize("failures", [0, 3, 40])
def test_verify_prints_what_failed_and_30_lines_at_most(failures: int) -> None:
    report = small_report()
    report["failures"] = [f"P2.A2: check {i} violated" for i in range(failures)]
    text = render(brief(report, Path("report")), width=80)
    assert text.count("\n") < 30
    assert text.startswith("✕ FAILED  P2.A2: check 0" if failures else "2 algorithms")
    assert "tailproof replay report/witnesses/P3.A2-" in text
    assert "Report: report/report.html" in text
    assert "refuted" not in text.lower().replace("refuted as published", "")  # no total


def test_all_failures_are_told_who_asks() -> None:
    report = small_report()
    report["failures"] = [f"P2.A2: check {i} violated" for i in range(40)]
    assert render(brief(report, Path("report"), all_failures=True)).count("FAILED") == 40


# --- colours and pipes ----------------------------------------------------------------------------------------------------


def verdict(text: str) -> str:
    return next(line for line in text.splitlines() if "violat" in line)


@pytest.mark.usefixtures("here")
def test_colours_and_signs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["audit", "subject:silent", "--claim", "eps=1", "--records", "3", "--columns", "1", "--budget", "2000"]
    command += ["--time-limit", "0", "--color"]
    assert "\x1b[" in verdict(shown_by(lambda: main([*command, "auto"]), 80, monkeypatch))
    assert "✕" in verdict(shown_by(lambda: main([*command, "auto"]), 80, monkeypatch))
    assert re.search(r"\x1b\[[0-9;]*m", shown_by(lambda: main([*command, "never"]), 80, monkeypatch)) is None
    for colour, coloured in (("always", True), ("auto", False), ("never", False)):
        main([*command, colour])
        assert ("\x1b[" in capsys.readouterr().out) is coloured


def test_no_color_is_honoured() -> None:
    _, text = run([sys.executable, "-m", "tailproof", "list"], 80, NO_COLOR="1")
    assert "\x1b[" not in text
    assert "P2.A2" in text


def test_into_a_pipe_nothing_is_wrapped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("P2.A2 ") for line in lines) == 1
    assert max(map(len, lines)) > 150
    assert not any(line != line.rstrip() for line in lines)


# --- the renderer ---------------------------------------------------------------------------------------------------------

TABLE = Table([["P2.A2", "a mean of clipped records", "1.25"], ["P0.A3", "localised", "0.5"]], ["id", "what it is", "x"])


def test_a_table_without_limits() -> None:
    assert render(TABLE).splitlines() == [
        "id     what it is                 x",
        "-----  -------------------------  ----",
        "P2.A2  a mean of clipped records  1.25",
        "P0.A3  localised                  0.5",
    ]


@pytest.mark.parametrize("width", [20, 24, 30, 40])
def test_a_table_wraps_in_its_cells_or_becomes_blocks(width: int) -> None:
    text = render(TABLE, width=width)
    assert too_wide(text, width) == []
    for word in ("P2.A2", "clipped", "records", "localised", "1.25", "0.5"):
        assert word in text


def test_lines_hang_under_their_text() -> None:
    text = render("label   " + "word " * 30 + "\nplain " + "x" * 100, width=40)
    assert too_wide(text, 40) == []
    lines = text.splitlines()
    assert lines[1].startswith("        word")
    assert text.replace("\n", "").replace(" ", "").count("word") == 30
    assert "".join(lines).count("x") == 100


def test_nothing_is_read_as_markup() -> None:
    out = io.StringIO(render("[bold]a[/bold] :smile: [0, 1]", width=80))
    assert out.read() == "[bold]a[/bold] :smile: [0, 1]"
