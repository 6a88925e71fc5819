"""Which command is meant, and how it ends.

Only the chosen command's module is imported: it has `EXAMPLE`, the end of its help; `add`, which adds its options to a parser; and
`run`, which returns the exit code.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from importlib import import_module
from typing import Any

from tailproof._nearest import nearest
from tailproof.verification.cli import common

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # one BLAS thread per task: same results on every machine, no contention

GROUPS: dict[str, dict[str, str]] = {
    "Audit": {
        "audit": "Test the privacy claim of a function or program from its outputs.",
        "plan": "Estimate how many runs an audit needs.",
        "replay": "Re-run a saved counterexample (exit 1 if it still breaks the claim).",
    },
    "Calculate": {
        "calibrate": "Compute noise scales; convert and compose privacy claims.",
        "compare": "Decide whether one rate is at most a constant times another, with proof.",
    },
    "Papers": {
        "list": "List the algorithms Tailproof implements and what each paper claims.",
        "theorem": "Show a theorem as published and as re-derived.",
        "errata": "List the mistakes found in the papers, with evidence.",
        "sweep": "Measure how an algorithm's error scales and compare it with its theorem.",
        "sandwich": "Check measured errors against lower and upper bounds.",
        "experiment": "Reproduce an experiment from one of the papers.",
    },
    "Use": {
        "solve": "Fit a private model, or estimate a private mean, from a data file.",
    },
    "Everything": {
        "verify": "Check all algorithms and papers, and write an HTML report.",
        "report": "Rebuild report.html from report.json without re-running anything.",
        "vectors": "Check a program in any language against test vectors.",
        "explain": "Explain a check, a class of bug or a verdict, with an example and the fix.",
    },
}
# What people type who know other tools, and the command that does it.
MEANT = {
    "check": "verify",
    "test": "audit",
    "show": "theorem",
    "theorems": "theorem",
    "run": "solve",
    "fit": "solve",
    "convert": "calibrate",
    "compose": "calibrate",
}
HELP = "see `tailproof --help`"
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}


def parser() -> argparse.ArgumentParser:
    """All commands in one parser, for the documentation and the tests."""
    top = common.Parser(prog="tailproof")
    top.add_argument("--version", action="store_true")
    commands = top.add_subparsers(dest="command", parser_class=common.Parser)
    for name, text in COMMANDS.items():
        _fill(commands.add_parser(name, help=text, **_form(name)), name)
    return top


def _form(name: str) -> dict[str, Any]:
    return {"description": COMMANDS[name], "formatter_class": common.Help}


def _fill(sub: argparse.ArgumentParser, name: str) -> Any:
    """Adds the command's options; returns its module."""
    module = import_module(f"tailproof.verification.cli.{name}")
    sub.epilog = f"example: {module.EXAMPLE}"
    module.add(sub)
    sub.set_defaults(command=name)
    common.finish(sub)
    return module


def overview() -> str:
    """What `tailproof --help` prints."""
    lines = ["Test differential-privacy claims, and the theorems behind them.", "", "usage: tailproof COMMAND [OPTIONS]"]
    for group, commands in GROUPS.items():
        lines += ["", f"{group}:", *(f"  {name:<12}{text}" for name, text in commands.items())]
    return "\n".join(
        [
            *lines,
            "",
            "  --help, --version; `tailproof COMMAND --help` shows a command's options and examples.",
            "",
            "Exit codes:",
            *(f"  {code:<5}{text}" for code, text in common.EXIT_CODES.items()),
        ]
    )


def version() -> str:
    from importlib import metadata

    try:
        return f"tailproof {metadata.version('tailproof')}"
    except metadata.PackageNotFoundError:
        return "tailproof (not installed)"


def main(argv: list[str] | None = None) -> int:
    """Runs a command.  However it ends, what is said of it is one line."""
    words = sys.argv[1:] if argv is None else argv
    name = words[0] if words and words[0] in COMMANDS else ""
    try:
        return _run(name, words[1:]) if name else _without_command(words)
    except KeyboardInterrupt as stopped:
        return _ended(name, str(stopped) or "interrupted", 130)
    except Exception as error:
        return _failed(name, error)


def _without_command(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        if words[1:] and words[0] == "help":
            return _run(words[1], ["--help"]) if words[1] in COMMANDS else _without_command(words[1:])
        common.say(overview())
        return 0
    if words[0] in ("-V", "--version", "version"):
        common.out(version())
        return 0
    word = words[0]
    if word.startswith("-"):
        after = next((name for name in words if name in COMMANDS), "COMMAND")
        return _ended("", f"unknown option {word!r} (options follow the command: tailproof {after} {word}); {HELP}", 2)
    named = [name for name in COMMANDS if name == word.lower()] or nearest(word, [*COMMANDS, *MEANT])
    meant = next((MEANT.get(name, name) for name in named), None)
    return _ended("", f"unknown command {word!r}{f' (did you mean {meant!r}?)' if meant else ''}; {HELP}", 2)


def _run(name: str, words: list[str]) -> int:
    sub = common.Parser(prog=f"tailproof {name}", **_form(name))
    module = _fill(sub, name)
    try:
        arguments = sub.parse_args(words)
    except SystemExit as stop:
        if stop.code == 2:  # its line is printed
            return 2
        sys.stdout.flush()  # the help: who reads the pipe may have closed it
        raise
    if "resume" in arguments:
        common.resumable(arguments)
    code: int = module.run(arguments)
    sys.stdout.flush()
    return code


def _failed(name: str, error: Exception) -> int:
    """2 for wrong input, 4 for what nobody asked for; TAILPROOF_TRACEBACK shows where it happened."""
    from tailproof.refimpl.validation import InputError
    from tailproof.verification.files import Failed

    if isinstance(error, InputError):
        return _ended(name, str(error), 2)
    if isinstance(error, BrokenPipeError):
        common.stop_printing()
        return 0
    if os.environ.get("TAILPROOF_TRACEBACK"):
        import traceback

        traceback.print_exc()
    if isinstance(error, Failed):
        return _ended(name, str(error), 4)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        common.stop_printing()  # what is left of it cannot be printed either
        return _ended(name, f"could not write{_place(error)} ({error.strerror})", 4)
    said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return _ended(name, f"failed: {said} (TAILPROOF_TRACEBACK=1 shows the traceback; please report it)", 4)


def _place(error: OSError) -> str:
    return f" {error.filename!r}" if error.filename else ": is standard output a full disk?"


def _ended(name: str, text: str, code: int) -> int:
    line = " ".join(text.split("\n"))
    print(f"tailproof{' ' if name else ''}{name}: {line}", file=sys.stderr)
    return code
