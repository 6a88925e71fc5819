"""Which command is meant, and how it ends.

Only the chosen command's module is imported: it has `EXAMPLE`, the end of its help; `add`, which adds its options to a parser; and
`run`, which returns the exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import Any

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
    },
}
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
    return {"description": COMMANDS[name], "formatter_class": argparse.RawDescriptionHelpFormatter}


def _fill(sub: argparse.ArgumentParser, name: str) -> None:
    module = import_module(f"tailproof.verification.cli.{name}")
    sub.epilog = f"example: {module.EXAMPLE}"
    module.add(sub)
    sub.set_defaults(command=name)
    common.quiet_options(sub)


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
    words = sys.argv[1:] if argv is None else argv
    if not words or words[0] in ("-h", "--help", "help"):
        if words[1:] and words[1] in COMMANDS:
            return main([words[1], "--help"])
        print(overview())
        return 0
    if words[0] in ("-V", "--version"):
        print(version())
        return 0
    if words[0] not in COMMANDS:
        print(f"tailproof: {_unknown(words[0])}", file=sys.stderr)
        return 2
    return _run(words[0], words[1:])


def _unknown(word: str) -> str:
    if word.startswith("-"):
        return f"unknown option {word!r}; put options after a command; see `tailproof --help`"
    return f"unknown command {word!r}{common.did_you_mean(word, COMMANDS)}; see `tailproof --help`"


def _run(name: str, words: list[str]) -> int:
    from tailproof.refimpl.validation import InputError

    sub = common.Parser(prog=f"tailproof {name}", **_form(name))
    try:
        _fill(sub, name)
        arguments = sub.parse_args(words)
        code: int = import_module(f"tailproof.verification.cli.{name}").run(arguments)
    except InputError as error:
        print(f"tailproof {name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stopped:
        print(f"tailproof {name}: {stopped or 'interrupted'}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0
    return code
