"""What the README shows works."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from verification.cli import main

TEXT = (Path(__file__).resolve().parent.parent / "README.md").read_text()


def test_the_tour_s_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.S))
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.endswith("True\n")


def test_the_calculator_s_examples_run() -> None:
    examples = re.findall(r"`tailproof (calibrate [^`]+)`", TEXT)
    assert len(examples) == 3
    for example in examples:
        assert main(shlex.split(example)) == 0


def test_the_first_two_sh_blocks_are_the_two_commands() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.S)
    assert len(blocks) == 2
    assert "tailproof verify" in blocks[0]
    assert "pytest" in blocks[1]


def test_the_first_audit_of_one_s_own_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files and commands of that part, literally but for the installation; what it shows is what is printed, up to how processors
    round.  Seeds are fixed; were they not, the audits that find nothing would err with probability 0.002."""
    part = TEXT.partition("## Audit your own function")[2].partition("\n## ")[0]
    for name, code in re.findall(r"```py\n# (\S+)\n(.*?)```", part, re.S):
        (tmp_path / name).write_text(code)
    install, *audits, tests = re.findall(r"```console\n\$ (.*?)\n(.*?)```", part, re.S)
    assert install[0] == "pip install '.[testing]'"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for (command, shown), code in zip(audits, (1, 0), strict=True):
        assert main([*shlex.split(command)[1:], "--time-limit", "0"]) == code
        printed = capsys.readouterr().out.splitlines()
        assert printed[0] == shown.splitlines()[0]
        here, there = (re.findall(r"[\d.]+", lines[1]) for lines in (printed, shown.splitlines()))
        assert [float(number) for number in here] == pytest.approx([float(number) for number in there], rel=0.05)
    assert main(["replay", "witness.json"]) == 1
    assert "`tailproof replay witness.json`" in part
    sys.modules.pop("mine")
    program, *arguments = shlex.split(tests[0])
    done = subprocess.run([sys.executable, "-m", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d+ passed, 2 xfailed", done.stdout)
