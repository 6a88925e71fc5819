"""Runs what a page of Markdown shows: files, Python, and commands with what they print and how they end.

    ```python            runs, in one namespace for the page; a ```text block right after it is what it prints
    ```py                a file, whose name is the block's title or its first line, `# name.py`
    ```console           `$ command` and what it prints; an end other than 0 is shown by `$ echo $?` after it
    ```sh                is not run: the tests have the list of these, with the reasons

A printed line `…` stands for any lines, `…` at the end of a line for the rest of it.  Whitespace does not matter.  Numbers are
compared as such, up to how processors round.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Container, Iterable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tailproof.verification.cli import main

FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
EXACT = 1e-6
# Seeds are fixed, but how sums are rounded may decide a guess, and a minimiser is as near as was asked for.
LESS_EXACT = {"audit": 0.05, "solve": 1e-3}


@dataclass(frozen=True)
class Block:
    kind: str
    title: str
    text: str


@dataclass(frozen=True)
class Command:
    line: str
    shown: list[str]  # what it prints, according to the page

    @property
    def tolerance(self) -> float:
        return next((share for word, share in LESS_EXACT.items() if self.line.startswith(f"tailproof {word}")), EXACT)


@dataclass
class Page:
    """A page, as far as it has been run.  `not_run`: commands that are left out."""

    folder: Path
    not_run: Container[str] = ()
    names: dict[str, Any] = field(default_factory=dict)
    commands: int = 0

    def run(self, text: str) -> None:
        shown = [*blocks(text), Block("", "", "")]
        with chdir(self.folder), pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "path", [str(self.folder), *sys.path])
            patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # `python` is this one
            known = set(sys.modules)
            try:
                for block, after in pairwise(shown):
                    self.run_block(block, after)
            finally:
                for name in set(sys.modules) - known:  # the page's own: another page may have others of that name
                    if str(getattr(sys.modules[name], "__file__", "")).startswith(str(self.folder)):
                        del sys.modules[name]

    def run_block(self, block: Block, after: Block) -> None:
        if block.kind == "py":
            name, code = file_of(block)
            Path(name).write_text(code, encoding="utf-8")
        elif block.kind == "python":
            printed = self.run_python(block)
            if after.kind == "text":
                compare_output(after.text.splitlines(), printed.splitlines(), EXACT)
        elif block.kind == "console":
            self.run_commands(commands_of(block.text))

    def run_python(self, block: Block) -> str:
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(block.text, "page", "exec"), self.names)
        return out.getvalue()

    def run_commands(self, commands: list[Command]) -> None:
        code = 0
        for command, after in zip(commands, [*commands[1:], None], strict=True):
            if command.line == "echo $?":
                assert command.shown == [str(code)], f"ends with {code}, not {command.shown}"
            elif command.line not in self.not_run:
                code, printed = run_command(command.line)
                self.commands += 1
                if after is None or after.line != "echo $?":
                    assert code == 0, f"{command.line}: ends with {code}\n{printed}"
                if command.shown:
                    compare_output(command.shown, printed.splitlines(), command.tolerance)


def blocks(text: str) -> list[Block]:
    return [Block(kind, title, body) for kind, title, body in FENCE.findall(text)]


def file_of(block: Block) -> tuple[str, str]:
    if block.title:
        return block.title, block.text
    first, _, rest = block.text.partition("\n")
    assert first.startswith("# "), f"a file without a name: {first}"
    return first.removeprefix("# "), rest


def commands_of(text: str) -> list[Command]:
    found: list[Command] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append(Command(" ".join(line[2:].split()), []))
        else:
            found[-1].shown.append(line)
    return found


def run_command(line: str) -> tuple[int, str]:
    """(how it ends, what it prints): ours in this process, audits without further ones."""
    program, *arguments = shlex.split(line)
    if program == "tailproof":
        if arguments[0] == "audit" and "--command" not in arguments:
            arguments += ["--time-limit", "0"]
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(out):
            try:
                code = main(arguments)
            except SystemExit as end:
                code = int(end.code or 0)
        return code, out.getvalue()
    assert program in ("python", "pytest"), f"{line}: not run here"
    prefix = [sys.executable, *(["-m", "pytest", "-p", "no:cacheprovider"] if program == "pytest" else [])]
    alone = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }  # not a worker's part of this run
    done = subprocess.run([*prefix, *arguments], capture_output=True, text=True, check=False, env=alone)
    return done.returncode, done.stdout + done.stderr


def compare_output(shown: Iterable[str], printed: list[str], tolerance: float) -> None:
    """Fail unless the shown lines are the printed ones, but for what `…` leaves out."""
    at, loose = 0, False
    for line in shown:
        if line.strip() == "…":
            loose = True
            continue
        following = printed[at:] if loose else printed[at : at + 1]
        offset = next((i for i, other in enumerate(following) if same(line, other, tolerance)), None)
        assert offset is not None, "\n".join([f"not printed{'' if loose else ' there'}: {line}", *printed[at : at + 20]])
        at, loose = at + offset + 1, False
    assert loose or at == len(printed), "\n".join(["printed beyond that:", *printed[at:]])


def same(shown: str, printed: str, tolerance: float) -> bool:
    open_ended = shown.endswith("…")
    shown, printed = (" ".join(line.removesuffix("…").split()) for line in (shown, printed))
    words, numbers = NUMBER.split(shown), [float(n) for n in NUMBER.findall(shown)]
    other_words, other_numbers = NUMBER.split(printed), [float(n) for n in NUMBER.findall(printed)]
    if open_ended:
        other_words, other_numbers = other_words[: len(words)], other_numbers[: len(numbers)]
        if len(other_words) == len(words):
            other_words[-1] = other_words[-1][: len(words[-1])]
    return words == other_words and numbers == pytest.approx(other_numbers, rel=tolerance)
