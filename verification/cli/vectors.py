"""`tailproof vectors`: portable test vectors."""

from __future__ import annotations

import argparse

from tailproof.refimpl.validation import InputError
from tailproof.verification.cli import common
from tailproof.verification.vectors import command

EXAMPLE = (
    "tailproof vectors export vectors\n"
    "         tailproof vectors check --command './program'\n"
    "         tailproof vectors check --command './program' --kind clipping calibration\n"
    "         tailproof vectors check \\\n"
    "             --command \"python -m tailproof.verification.vectors.subject --mutant P2.A2 'noise halved'\"\n\n"
    "check: every test is passed, failed (with the classes of bugs that it hunts) or unsupported by the program; exit 1 when\n"
    "one fails, or nothing is supported.  Without --command the files are validated, and what can be computed in a few lines\n"
    "is computed again.  Without DIR the shipped vectors are used.  docs/protocol.md says what a program is asked."
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    sub.add_argument("what", choices=["export", "check"], metavar="WHAT", help="export or check")
    sub.add_argument("folder", nargs="?", metavar="DIR", help="where the vectors go, or are")
    sub.add_argument("--command", dest="program", metavar="PROGRAM", help="a program that answers JSON lines")
    sub.add_argument("--kind", nargs="+", metavar="KIND", help="these kinds only")
    sub.add_argument(
        "--time-limit",
        type=common.number,
        default=60.0,
        metavar="SECONDS",
        help="for one answer (default 60); then it is killed",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.what == "export":
        if arguments.folder is None:
            raise InputError("folder is missing: vectors export DIR")
        code, value, text = command.export(arguments.folder)
    else:
        code, value, text = command.check(
            arguments.program, folder=arguments.folder, kinds=arguments.kind, time_limit=arguments.time_limit
        )
    common.emit(arguments, value, text)
    return code
