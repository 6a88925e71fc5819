"""`tailproof audit` as somebody meets it: the first example, progress on a terminal, what is imported."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tailproof.verification.cli import main

MINE = """import numpy as np

def noisy_mean(data, rng):
    return data.mean() + rng.laplace(scale=1 / len(data))

def fails(data, rng):
    return np.linalg.inv(np.zeros((2, 2)))[0, 0]
"""
FIRST = ["audit", "first_example:noisy_mean", "--claim", "pure(eps=1)", "--columns", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "first_example.py").write_text(MINE)
    sys.modules.pop("first_example", None)  # of another test's folder
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


MEASURED = """
import json, os, sys
from tailproof.verification.cli import main
code = main(sys.argv[1:])
times = os.times()
heavy = [name for name in ("cvxpy", "sympy", "matplotlib", "sklearn", "dask") if name in sys.modules]
print(json.dumps([code, times.user + times.system + times.children_user + times.children_system, heavy]), file=sys.stderr)
"""


def test_the_first_example_takes_seconds_and_shrinks(folder: Path) -> None:
    """CPU time, imports and the subject's own process included; it takes about one second.  That noise alone keeps a violation of
    a hundred times the claim from being found or shrunk has a chance far below 1e-6."""
    words = [*FIRST, "--witness", "w.json", "--json", "found.json"]
    done = subprocess.run([sys.executable, "-c", MEASURED, *words], capture_output=True, text=True, check=True)
    code, seconds, heavy = json.loads(done.stderr.splitlines()[-1])
    assert code == 1
    assert seconds < 15
    assert heavy == []
    found = json.loads((folder / "found.json").read_text())
    assert (found["verdict"], found["stopped_early"], found["exhaustive"]) == ("violated", True, False)
    sides = [np.array(found["witness"][side]) for side in ("data", "neighbour")]
    assert len(np.unique(np.concatenate(sides), axis=0)) <= 3
    lines = done.stdout.splitlines()
    assert lines[0] == "violated: pure(eps=1)"
    assert re.match(r"ε > \d[\d.]* with confidence 0\.999; p [=<] ", lines[1])
    assert {"A", "B"} <= {line.split()[0] for line in lines}
    assert "neighbour" not in done.stdout
    assert main(["replay", "w.json"]) == 1


def test_progress_is_shown_on_a_terminal(folder: Path) -> None:
    main_end, their_end = pty.openpty()
    words = [sys.executable, "-m", "tailproof", *FIRST, "--bounds", "0:1", "--budget", "60k", "--confidence", "0.9999999"]
    with (folder / "out").open("w") as out, subprocess.Popen(words, stdout=out, stderr=their_end) as process:
        os.close(their_end)
        shown = b""
        while True:
            try:
                part = os.read(main_end, 1 << 16)
            except OSError:  # nobody has the other end open
                break
            if not part:
                break
            shown += part
    os.close(main_end)
    assert process.returncode == 0
    assert re.search(r"(searching|testing): \d+ pairs?, \d+ of at most 60000 runs", shown.decode())
    assert (folder / "out").read_text().startswith("consistent: pure(eps=1)\n")


def test_nothing_is_shown_beside_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FIRST, "--time-limit", "0", "--no-shrink"]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    assert "B           [[" in said.out


def test_a_failure_is_said_first_with_the_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The line is that of the function, not the one in numpy that raised."""
    assert main(["audit", "first_example.py:fails", "--claim", "pure(eps=1)", "--budget", "400", "--time-limit", "0"]) == 4
    said = capsys.readouterr()
    assert said.err == "error: first_example.py:fails raised LinAlgError: Singular matrix (first_example.py:7)\n"
    assert said.out.startswith("inconclusive: pure(eps=1)\nthe subject raised LinAlgError")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["first_example:noisy_men"], "did you mean 'noisy_mean'?"),
        (["absent.py:f"], "there is no file absent.py"),
        (["first_example:noisy_mean", "--exhaustive", "--sequential"], "exhaustive, sequential"),
        (["first_example:noisy_mean", "--bounds", "0;1"], "LOW:HIGH"),
    ],
)
def test_wrong_words(words: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *words, "--claim", "pure(eps=1)"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert named in line


def test_exhaustive_makes_all_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FIRST, "--exhaustive", "--budget", "3k", "--time-limit", "0", "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["samples"], found["exhaustive"], found["stopped_early"], found["shrunk"]) == (3000, True, False, False)
    assert main([*FIRST, "--sequential", "--time-limit", "0", "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["samples"] < 10_000
