"""What the unit tests say of an edit: those of the row's own folder and of the edited module's, and those of the vectors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mutating.apart import Yard

SECONDS = 900.0
VECTORS = "tests/verification/vectors"


def tests_of(yard: Yard, modules: list[str]) -> list[str]:
    """tests/refimpl/means for tailproof.refimpl.means.…; the files beside the folders for what lies beside the folders."""
    chosen = []
    for module in dict.fromkeys(modules):
        parts = module.split(".")[2:]
        folder = yard.root / "tests" / "refimpl" / Path(*parts[:-1])
        if len(parts) > 1 and folder.is_dir():
            chosen.append(str(folder.relative_to(yard.root)))
        else:
            chosen += sorted(str(file.relative_to(yard.root)) for file in folder.glob("test_*.py"))
    return [*dict.fromkeys(chosen), *([VECTORS] if (yard.root / VECTORS).is_dir() else [])]


def failing_already(yard: Yard, tests: list[str]) -> list[str]:
    """What fails without an edit, for what is not installed or for other reasons."""
    return re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", _pytest(yard, tests, [])[1], re.MULTILINE)


def asked(yard: Yard, tests: list[str], but: list[str]) -> dict[str, Any]:
    """status: killed, with the first test that fails, or survived."""
    start = time.monotonic()
    code, said = _pytest(yard, tests, ["-x", *(f"--deselect={one}" for one in but)])
    first = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.MULTILINE)
    return {
        "status": "survived" if code == 0 else "killed",
        "failing": [] if code == 0 else [first[1] if first else f"exit {code}"],
        "seconds": round(time.monotonic() - start, 2),
    }


def _pytest(yard: Yard, tests: list[str], options: list[str]) -> tuple[int, str]:
    path = os.pathsep.join(filter(None, (str(yard.root / "src"), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests]
    environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=yard.root, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, ""
    return done.returncode, done.stdout
