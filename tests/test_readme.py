"""What the README shows works."""

import re
import shlex
from pathlib import Path

import pytest

from tailproof.verification.cli import main
from tests.documented import Page, blocks

TEXT = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_tour_s_code_runs(tmp_path: Path) -> None:
    page = Page(tmp_path)
    code = [block for block in blocks(TEXT) if block.kind == "python"]
    printed = [page.run_python(block) for block in code]
    assert len(printed) == 3
    assert printed[-1] == "True True\n"


def test_the_calculator_s_examples_run() -> None:
    examples = re.findall(r"`tailproof (calibrate [^`]+)`", TEXT)
    assert len(examples) == 3
    for example in examples:
        assert main(shlex.split(example)) == 0


def test_the_first_two_sh_blocks_are_the_two_commands() -> None:
    commands = [block.text for block in blocks(TEXT) if block.kind == "sh"]
    assert len(commands) == 2
    assert "tailproof verify" in commands[0]
    assert "pytest" in commands[1]


def test_the_first_audit_of_one_s_own_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and commands of that part, literally but for the installation; what it shows is what is printed, up to how processors
    round.  Seeds are fixed; were they not, the audits that find nothing would err with probability 0.002."""
    part = TEXT.partition("## Audit your own function")[2].partition("\n## ")[0]
    page = Page(tmp_path, not_run={"pip install '.[testing]'"})
    page.run(part)
    assert page.commands == 3
    assert "`tailproof replay witness.json`" in part
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["replay", "witness.json"]) == 1
