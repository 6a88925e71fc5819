"""What the README shows works."""

import re
from pathlib import Path

import pytest

from verification.cli import main

TEXT = (Path(__file__).resolve().parent.parent / "README.md").read_text()


def test_the_tour_s_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.S))
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.endswith("True\n")


def test_the_calculator_s_examples_run() -> None:
    import shlex

    examples = re.findall(r"`tailproof (calibrate [^`]+)`", TEXT)
    assert len(examples) == 3
    for example in examples:
        assert main(shlex.split(example)) == 0


def test_the_first_two_sh_blocks_are_the_two_commands() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.S)
    assert len(blocks) == 2
    assert "tailproof verify" in blocks[0]
    assert "pytest" in blocks[1]
