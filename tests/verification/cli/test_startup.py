"""Starting is cheap because nothing is imported that is not needed; the budgets of CPU time are the issue's, far above what is used."""

import json
import subprocess
import sys

import pytest
from benchmarks.startup import BUDGETS, COMMANDS, measured

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
