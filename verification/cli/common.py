"""What commands share: the parser and its errors, common options, and how results are shown."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

EXIT_CODES = {
    0: "what you asked about holds",
    1: "it does not hold",
    2: "wrong input: one line says what is allowed",
    3: "undecided",
    4: "the audited subject, or tailproof itself, failed",
    130: "interrupted",
}


# --- the parser -----------------------------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """No abbreviated options; an error is one line that starts with the command and names what was meant, exit code 2."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "allow_abbrev": False})
        self._negative_number_matcher = re.compile(r"^-\.?\d")  # -1:1 is a value, not an option

    def error(self, message: str) -> Any:
        text = message.removeprefix("argument ").replace("\n", " ")
        print(f"{self.prog}: {text}; see `{self.prog} --help`", file=sys.stderr)
        raise SystemExit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """An unknown option is said first: what else is wrong may follow from it."""
        for word in args if args is not None else sys.argv[1:]:
            if word == "--":
                break
            if self._unknown(word):
                option = word.partition("=")[0]
                known = [name for name, action in self._option_string_actions.items() if action.help != argparse.SUPPRESS]
                self.error(f"unknown option {option!r}{did_you_mean(option, known)}")
        return super().parse_known_args(args, namespace)

    def _unknown(self, word: str) -> bool:
        if not re.fullmatch(r"-[^\s\d.].*", word, re.DOTALL) or re.search(r"\s", word.partition("=")[0]):
            return False
        known = self._option_string_actions
        return word.partition("=")[0] not in known and (word.startswith("--") or word[:2] not in known)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            meant = did_you_mean(str(value), choices)
            raise argparse.ArgumentError(action, f"{value!r}: must be one of {', '.join(choices)}{meant}")


def nearest(word: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """Those that the word may have meant, the likeliest first; case does not matter."""
    import difflib

    names = {name.lower(): name for name in known}
    begun = [name for name in names if name.startswith(word.lower())]
    close = difflib.get_close_matches(word.lower(), list(names), n=most, cutoff=0.6)
    return [names[name] for name in dict.fromkeys([*begun, *close])][:most]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    found = nearest(word, known, most=1)
    return f" (did you mean {found[0]!r}?)" if found else ""


# --- options --------------------------------------------------------------------------------------------------------------


def json_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", metavar="FILE", help="write JSON to FILE (- for standard output)")


def seed_option(sub: argparse.ArgumentParser, *, secret: bool = False) -> None:
    """`secret`: who knows the seed can take the noise away again."""
    if secret:
        sub.add_argument("--seed", type=_seed, help="for tests: who knows it can undo the noise (default: not predictable)")
    else:
        sub.add_argument("--seed", type=_seed, default=0, help="seed of everything random (default 0)")


def jobs_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1, help="worker processes (default: all cores)")


def quiet_options(sub: argparse.ArgumentParser) -> None:
    """Scripts may give every command --seed and --jobs; help shows them only where they do something."""
    known = sub._option_string_actions
    if "--seed" not in known:
        sub.add_argument("--seed", type=_seed, default=0, help=argparse.SUPPRESS)
    if "--jobs" not in known:
        sub.add_argument("--jobs", type=_jobs, default=1, help=argparse.SUPPRESS)


def spread(sub: argparse.ArgumentParser, kept: str = "(default: nowhere)") -> None:
    """What every command has that runs many tasks."""
    sub.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="run on a Dask cluster instead: its scheduler, such as tcp://host:8786, or local:2 to try; "
        "pip install 'tailproof[cluster]'",
    )
    sub.add_argument("--checkpoint", metavar="FILE", help=f"keep finished tasks there until all are done {kept}")
    sub.add_argument("--resume", action="store_true", help="go on from the checkpoint of a run that was interrupted")


def _seed(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number >= 0")
    return int(text)


def _jobs(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number >= 1")
    return int(text)


# --- output ---------------------------------------------------------------------------------------------------------------


def emit(arguments: argparse.Namespace, value: dict[str, Any], text: str) -> None:
    """Readable text, or JSON where `--json` asks for it (`-`: standard output, and no text)."""
    if arguments.json is None:
        print(text)
        return
    document = json.dumps(value, indent=1, allow_nan=False)
    if arguments.json == "-":
        print(document)
    else:
        print(text)
        Path(arguments.json).write_text(document + "\n")
