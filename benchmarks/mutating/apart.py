"""Questions to an edited copy of the repository, each in a process of its own, forked from one that imported all but the project.

Nothing here, and nothing that imports this, imports the project: a fork puts its own copy first on the path, forgets the project's
modules if there are any, and imports the module that answers.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEMORY = 8 << 30  # bytes of address space that an edit may take
HERE = Path(__file__).resolve().parent.parent
# What the project imports: once, before anything is forked.
HEAVY = (
    *("numpy", "scipy.stats", "scipy.optimize", "scipy.integrate", "scipy.sparse", "scipy.special", "scipy.linalg", "sympy"),
    *("mpmath", "cvxpy", "joblib", "tqdm", "matplotlib", "flint", "threadpoolctl", "rich.console"),
)


@dataclass(frozen=True)
class Yard:
    """A copy of a tree of the repository, in which one file at a time is another one."""

    root: Path

    def file_of(self, module: str) -> Path:
        return self.root / Path(*module.split(".")[1:]).with_suffix(".py")

    @contextmanager
    def edited(self, module: str, source: bytes) -> Iterator[None]:
        file = self.file_of(module)
        before = file.read_bytes()
        try:
            _write(file, source)
            yield
        finally:
            _write(file, before)


def _write(file: Path, source: bytes) -> None:
    """What was compiled goes: its date has a precision of seconds."""
    file.write_bytes(source)
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


def copied(tree: Path, root: Path) -> Yard:
    """The files that git knows, as they are, and the links of an editable installation."""
    listed = subprocess.run(["git", "-C", str(tree), "ls-files", "-z"], capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        target = root / name
        if (tree / name).is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / name, target)
    for name in ("refimpl", "bounds", "verification"):
        (root / "src" / "tailproof" / name).symlink_to(Path("..", "..", name), target_is_directory=True)
    return Yard(root)


def prepared() -> None:
    """One thread for linear algebra, as `verify` has it, and everything that is not the project."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    for module in HEAVY:
        with suppress(ImportError):
            importlib.import_module(module)


def ask(yard: Yard, question: str, *arguments: Any, seconds: float) -> dict[str, Any]:
    """The answer of `question`, a "module:function" of this folder; or that it raised, died or did not end, under "failed"."""
    start = time.monotonic()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(yard, question, arguments, writing)
    os.close(writing)
    ended = False
    try:
        text, ended = _read(reading, start + seconds)
    finally:  # also if this process is told to end
        os.close(reading)
        if not ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if not ended:
        found: dict[str, Any] = {"failed": "timeout", "detail": f"no end after {seconds:.0f} s"}
    elif not text:
        found = {"failed": "died", "detail": f"ended with status {status}"}
    else:
        found = json.loads(text)
    return found | {"seconds": round(time.monotonic() - start, 2)}


def _read(reading: int, deadline: float) -> tuple[bytes, bool]:
    parts = []
    while (left := deadline - time.monotonic()) > 0:
        if select.select([reading], [], [], min(left, 5.0))[0]:
            part = os.read(reading, 1 << 16)
            if not part:
                return b"".join(parts), True
            parts.append(part)
    return b"".join(parts), False


def _answer(yard: Yard, question: str, arguments: tuple[Any, ...], writing: int) -> None:
    """In the fork: it never returns."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        sys.path[:0] = [str(yard.root / "src"), str(HERE)]
        for name in [name for name in sys.modules if name.partition(".")[0] in ("tailproof", "mutating")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        module, _, function = question.partition(":")
        try:
            found = getattr(importlib.import_module(f"mutating.{module}"), function)(*arguments)
        except BaseException as error:
            detail = traceback.format_exception_only(error)[-1].strip()
            found = {"failed": "raised", "detail": detail[:300]}
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(found).encode())
    finally:
        os._exit(0)
