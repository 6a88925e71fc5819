"""refimpl as a program that answers vectors over JSON lines.

    python -m tailproof.verification.vectors.subject [--mutant ALGORITHM NAME]

With a mutant, transcripts of its algorithm are those of the broken copy; everything else is answered as it is.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from tailproof.refimpl.catalogue import ALGORITHMS, Implementation
from tailproof.verification import mutants
from tailproof.verification.vectors import transcripts
from tailproof.verification.vectors.pieces import PIECES

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def answerer(mutant: mutants.Mutant | None = None) -> Answer:
    """From a request {"kind": …, "inputs": …} to a reply."""
    known: dict[str, Implementation] = {a.id: a.implementation for a in ALGORITHMS if a.implementation is not None}
    if mutant is not None:
        known[mutant.algorithm] = mutants.build(mutant)

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        kind, inputs = request["kind"], request["inputs"]
        if kind in PIECES:
            return {"outputs": PIECES[kind](inputs)}
        if kind == "transcript" and inputs["algorithm"] in known:
            return {"outputs": transcripts.answer(known[inputs["algorithm"]].mechanism, inputs)}
        return {"unsupported": f"nothing here answers {kind!r}"}

    return answer


def reply_to(line: str, answer: Answer) -> str:
    """One line for one line: what goes wrong is an answer, too."""
    try:
        return json.dumps(answer(json.loads(line)), allow_nan=False)
    except Exception as error:  # a broken copy may fail in any way
        return json.dumps({"error": f"{type(error).__name__}: {error}"})


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tailproof.verification.vectors.subject", description=__doc__)
    parser.add_argument(
        "--mutant", nargs=2, metavar=("ALGORITHM", "NAME"), help="a broken copy, such as P2.A2 'noise halved'"
    )
    chosen = parser.parse_args(argv).mutant
    try:
        answer = answerer(None if chosen is None else mutants.mutant(*chosen))
    except KeyError as error:
        parser.error(str(error.args[0]))
    for line in sys.stdin:
        if line.strip():
            sys.stdout.write(reply_to(line, answer) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
