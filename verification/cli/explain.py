"""`tailproof explain`: what a check, a class of bug or a verdict is, why it matters, an example, and the fix."""

from __future__ import annotations

import argparse

from tailproof.verification import explanations
from tailproof.verification.cli import common

EXAMPLE = "tailproof explain closed\n         tailproof explain UNCLIPPED"


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    sub.add_argument(
        "name",
        nargs="*",
        metavar="NAME",
        help="a check, a class of bug or a verdict, as reports name it (default: list all)",
    )


def run(arguments: argparse.Namespace) -> int:
    if not arguments.name:
        found = [{"name": one.name, "kind": one.kind, "summary": one.summary} for one in explanations.explanations()]
        common.emit(arguments, {"explanations": found}, _listed())
        return 0
    one = explanations.find(" ".join(arguments.name))
    common.emit(arguments, {"name": one.name, "kind": one.kind, "text": one.text}, one.text.rstrip())
    return 0


def _listed() -> str:
    lines = []
    for kind in explanations.KINDS:
        lines += ["", f"{kind}:"]
        lines += [f"  {one.name:<26}{one.summary}" for one in explanations.explanations() if one.kind == kind]
    return "\n".join([*lines[1:], "", "`tailproof explain NAME` explains one."])
