"""`tailproof replay`: a counterexample again."""

from __future__ import annotations

import argparse
from pathlib import Path

from tailproof.refimpl.validation import InputError
from tailproof.verification.auditing.witnesses import read_witness, replayed
from tailproof.verification.cli import common
from tailproof.verification.witness import replay_witness

EXAMPLE = (
    "tailproof replay report/witnesses/P2.A2-noise-halved.json\n\n"
    "The witness of an audit names a function or a program: it is imported or run, on the witness's pair, with fresh coins.\n"
    "Exit 2 when it failed before a verdict was reached."
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    sub.add_argument("witness", metavar="WITNESS.json")


def run(arguments: argparse.Namespace) -> int:
    witness = read_witness(Path(arguments.witness))
    if witness.get("check") == "audit":
        code, value, text = replayed(witness)
        common.emit(arguments, value, text)
        return code
    try:
        measured = replay_witness(witness)
    except InputError:
        raise
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise InputError(f"witness = {arguments.witness!r}: damaged or of another version ({error})") from None
    verdict = "still violates" if measured.exceeds else "does not violate"
    subject = witness["algorithm"] + (f" (mutant: {witness['mutant']})" if witness["mutant"] else "")
    value = {
        "algorithm": witness["algorithm"],
        "mutant": witness["mutant"],
        "check": witness["check"],
        "claimed": measured.bound,
        "found": measured.measured if measured.measured < float("inf") else "inf",
        "violates": measured.exceeds,
        "detail": measured.detail,
    }
    numbers = f"claimed {measured.bound:.12g}, found {measured.measured:.12g}: {verdict}"
    common.emit(arguments, value, f"{subject}, {witness['check']}: {measured.detail}\n{numbers}")
    return 1 if measured.exceeds else 0
