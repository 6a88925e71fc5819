"""Starting is cheap, because nothing is imported that is not needed; the budgets of CPU time are far above what is used."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = runpy.run_path(str(Path(__file__).resolve().parents[3] / "benchmarks" / "startup.py"))
BUDGETS, COMMANDS, measured = (BENCHMARK[name] for name in ("BUDGETS", "COMMANDS", "measured"))
HEAVY = ("numpy", "scipy", "sympy", "cvxpy", "matplotlib", "joblib", "rich", "tqdm", "flint")


@pytest.mark.parametrize("words", [["--version"], ["--help"], [], ["verfy"], ["help"]])
def test_the_overview_imports_nothing_heavy(words: list[str]) -> None:
    program = (
        "import sys, json, io, contextlib\n"
        "from tailproof.verification.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):\n"
        f"    main({words!r})\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_import_tailproof_imports_nothing_heavy() -> None:
    program = f"import sys, tailproof; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_budgets_hold() -> None:
    """CPU time, the least of three medians: a busy machine slows processes down by cache misses, not by a factor of five."""
    found = [measured({name: COMMANDS[name] for name in BUDGETS}, runs=3) for _ in range(3)]
    for name, budget in BUDGETS.items():
        assert min(times[name] for times in found) < budget
