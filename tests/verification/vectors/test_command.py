"""`tailproof vectors check`: exit codes, JSON, and one clear line for what is wrong."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from tailproof.verification.cli import main

PROGRAM = shlex.join([sys.executable, str(Path(__file__).parent / "program.py")])
FEW = ["--kind", "clipping", "schedule"]


def test_a_program_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "check", "--command", PROGRAM, *FEW, "--json", "-"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["verdict"] == "passed"
    assert value["kinds"]["clipping"] == {"passed": 8, "failed": 0, "unsupported": 0}
    assert value["kinds"]["schedule"] == {"passed": 0, "failed": 0, "unsupported": 9}
    assert value["recomputed"]["clipping"] == 8


def test_a_program_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "check", "--command", f"{PROGRAM} missing", *FEW]) == 1
    text = capsys.readouterr().out
    assert "FAILED clipping/inside: mean: is missing" in text
    assert "May be: UNCLIPPED, WRONG_QUERY" in text


def test_supporting_nothing_is_not_passing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "check", "--command", f"{PROGRAM} unsupported", *FEW]) == 1
    assert "NOTHING CHECKED" in capsys.readouterr().out


def test_files_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "check", *FEW]) == 0
    assert "17 tests; 13 of the expected answers computed again" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export"], "folder is missing"),
        (["export", "/dev/null/x"], "could not make this folder"),
        (["check", "no-such-folder"], "there is no such folder"),
        (
            ["check", "--kind", "clippng"],
            "kind = 'clippng': is not known (did you mean 'clipping'?)",
        ),
        (["check", "--kind", "clipping", "--command", ""], "must name a program"),
        (["check", "--kind", "clipping", "--command", "'"], "quotation"),
        (["check", "--kind", "clipping", "--command", "no-such-program"], "cannot be started"),
        (["check", "--time-limit", "0"], "time_limit"),
    ],
)
def test_wrong_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["vectors", "--help"])
    assert "example: tailproof vectors export vectors" in capsys.readouterr().out
