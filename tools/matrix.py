"""Does the suite pass on every Python with the oldest and the newest dependencies that pyproject.toml admits?

    python tools/matrix.py                                     all of them: Python 3.11, 3.12, 3.13; oldest, newest
    python tools/matrix.py --python 3.13 --versions oldest     one of them
    python tools/matrix.py -- tests/refimpl/test_claims.py     what follows -- goes to pytest, in place of -q -n 2

Each has a virtual environment of its own below --folder (default: a temporary one, removed afterwards).  uv resolves: "oldest" is
the lowest version of everything that pyproject.toml names, "newest" the highest of everything; both from wheels alone.  uv
must be on the path (`pip install uv`), and the Pythons where uv finds them (`uv python list`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
RESOLUTION = {"oldest": "lowest-direct", "newest": "highest"}
IMPORTS = "import tailproof; [getattr(tailproof, name) for name in tailproof.__all__]"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    print("+", *command, flush=True)
    return subprocess.run([str(part) for part in command], cwd=HOME, text=True, check=False)


def passes(python: str, versions: str, folder: Path, tests: list[str]) -> bool:
    """Install, import every name of the facade, and run the tests: whether all of it ended well."""
    place = folder / f"{python}-{versions}"
    pinned, interpreter = Path(f"{place}.txt"), place / ("Scripts" if os.name == "nt" else "bin") / "python"
    resolve = ("uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--only-binary", ":all:", "--extra", "dev")
    steps: list[tuple[str | Path, ...]] = [
        ("uv", "venv", "--quiet", "--clear", "--seed", "--python", python, place),
        (*resolve, "--python", interpreter, "--resolution", RESOLUTION[versions], "--output-file", pinned, "pyproject.toml"),
        ("uv", "pip", "install", "--quiet", "--python", interpreter, "--requirement", pinned),
        ("uv", "pip", "install", "--quiet", "--python", interpreter, "--no-deps", "--editable", "."),
        (interpreter, "-c", IMPORTS),
        (interpreter, "-m", "pytest", *tests),
    ]
    return all(run(*step).returncode == 0 for step in steps)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=list(PYTHONS), choices=PYTHONS, metavar="VERSION")
    parser.add_argument("--versions", nargs="+", default=list(RESOLUTION), choices=list(RESOLUTION), metavar="oldest|newest")
    parser.add_argument("--folder", type=Path, help="for the environments; they are kept")
    own, tests = sys.argv[1:], ["-q", "-n", "2"]
    if "--" in own:
        own, tests = own[: own.index("--")], own[own.index("--") + 1 :]
    arguments = parser.parse_args(own)
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.folder or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for python in arguments.python:
            for versions in arguments.versions:
                start = time.monotonic()
                good = passes(python, versions, folder, tests)
                lines.append(
                    f"Python {python}, {versions}: {'passes' if good else 'FAILS'} ({time.monotonic() - start:.0f} s)"
                )
    print("\n".join(lines))
    return 0 if all("passes" in line for line in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
