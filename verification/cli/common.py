"""What commands share: the parser and its errors, common options, and how results are shown."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tailproof._nearest import did_you_mean

if TYPE_CHECKING:
    from tailproof.verification.shown import Shown

EXIT_CODES = {
    0: "what you asked about holds",
    1: "it does not hold",
    2: "wrong input: one line says what is allowed",
    3: "undecided",
    4: "the audited subject, or tailproof itself, failed",
    130: "interrupted",
}


# --- the parser -----------------------------------------------------------------------------------------------------------


class Help(argparse.HelpFormatter):
    """Paragraphs are wrapped to the terminal; lines that are indented, or an example, keep their place."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002
        return "\n\n".join(self._paragraph(part, width) for part in text.strip("\n").split("\n\n"))

    def _paragraph(self, text: str, width: int) -> str:
        found: list[str] = []
        for line in text.split("\n"):
            fixed = line.startswith((" ", "example:"))
            if found and not fixed and not found[-1].startswith((" ", "example:")):
                found[-1] += f" {line}"
            else:
                found.append(line)
        return "\n".join(_wrapped(line, width) for line in found)


def _wrapped(line: str, width: int) -> str:
    """What goes on in the next line is indented there; a shell command goes on after a backslash."""
    if len(line) <= width:
        return line
    inner = " " * (len(line) - len(line.lstrip()) + (2 if line.startswith(" ") else 0))
    if not re.match(r"\s*(example: )?tailproof ", line):
        return textwrap.fill(re.sub(r"(?<=\S) +", " ", line), width, subsequent_indent=inner, break_on_hyphens=False)
    command = re.sub(r"  +\(", "  # (", line)
    command, _, remark = command.partition("  # ")
    inner = " " * 13
    parts = textwrap.wrap(command, width - 2, subsequent_indent=inner, break_on_hyphens=False, break_long_words=False)
    lines = [" \\\n".join(parts)] if len(parts) > 1 else parts
    return "\n".join([*lines, *textwrap.wrap(remark, width, initial_indent=inner, subsequent_indent=inner)])


class Parser(argparse.ArgumentParser):
    """No abbreviated options; an error is one line that starts with the command and names what was meant, exit code 2."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "allow_abbrev": False})
        self._negative_number_matcher = re.compile(r"^-\.?\d")  # -1:1 is a value, not an option

    def error(self, message: str) -> Any:
        text = message.removeprefix("argument ").replace("\n", " ")
        text = re.sub(r"^the following arguments are required: (.*)$", r"missing: \1", text)
        text = re.sub(r"^one of the arguments (.*) is required$", r"missing: one of \1", text)
        text = re.sub(r"^unrecognized arguments: (.*)$", r"unexpected: \1", text)
        text = re.sub(r": expected (at least )?one argument$", ": a value is missing", text)
        text = re.sub(r": not allowed with argument (.*)$", r": cannot be given together with \1", text)
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


# --- options --------------------------------------------------------------------------------------------------------------


def json_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", type=new_file, metavar="FILE", help="write JSON to FILE (- for standard output)")


def seed_option(sub: argparse.ArgumentParser, *, secret: bool = False) -> None:
    """`secret`: who knows the seed can take the noise away again."""
    if secret:
        sub.add_argument("--seed", type=_seed, help="for tests: who knows it can undo the noise (default: not predictable)")
    else:
        sub.add_argument("--seed", type=_seed, default=0, help="seed of everything random (default 0)")


def jobs_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1, help="worker processes (default: all cores)")


def finish(sub: argparse.ArgumentParser) -> None:
    """What every command has.  Scripts may give any command --seed and --jobs; help shows them only where they do something."""
    sub.add_argument(
        "--color",
        choices=["auto", "always", "never"],
        default="auto",
        help="colours (default: on a terminal, unless NO_COLOR is set)",
    )
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
    sub.add_argument("--checkpoint", metavar="FILE", help=f"save finished tasks there until all are done {kept}")
    sub.add_argument("--resume", action="store_true", help="continue from the checkpoint of a run that was interrupted")


# --- values ---------------------------------------------------------------------------------------------------------------

_COUNT = re.compile(r"(\d[\d_,]*(?:\.\d+)?(?:e\+?\d+)?)([kmb]?)", re.IGNORECASE)


def count(text: str) -> int:
    """A whole number, also as 1e5, 100_000, 100k or 2m."""
    from fractions import Fraction

    found = _COUNT.fullmatch(text.strip())
    if found is None or not re.fullmatch(r"[\d_]+|\d{1,3}(,\d{3})+|[\d_]*\.?\d+(e\+?\d{1,3})?", found[1], re.IGNORECASE):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, such as 100000, 100_000, 1e5 or 100k")
    value = (
        Fraction(found[1].replace("_", "").replace(",", "")) * {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}[found[2].lower()]
    )
    if value.denominator != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(value)


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def new_file(text: str) -> str:
    """A file that can be written, said before any work is done; `-` is standard output where that makes sense."""
    folder = Path(text).parent
    if not text:
        raise argparse.ArgumentTypeError("the name of a file is missing")
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}: there is no folder {str(folder)!r}")
    if Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a folder; name a file")
    return text


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number >= 0")
    return int(text)


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number >= 1")
    return int(text)


# --- output ---------------------------------------------------------------------------------------------------------------


def emit(arguments: argparse.Namespace, value: dict[str, Any], text: Shown) -> None:
    """Readable text, or JSON where `--json` asks for it (`-`: standard output, and no text)."""
    document = None if arguments.json is None else json.dumps(value, indent=1, allow_nan=False)
    if arguments.json == "-":
        out(str(document))
        return
    if document is not None:
        from tailproof.verification import files

        files.write("json", arguments.json, document + "\n")
    say(text, arguments.color)


def say(text: Shown, colour: str = "auto") -> None:
    """To standard output, as wide as its terminal; into a pipe nothing is wrapped."""
    from tailproof.verification.shown import render

    terminal = sys.stdout.isatty()
    colours = coloured(colour, sys.stdout)
    if isinstance(text, str) and not terminal and not colours:
        out(text)
        return
    out(render(text, width=max(20, shutil.get_terminal_size().columns) if terminal else None, colour=colours))


def coloured(colour: str, stream: IO[str]) -> bool:
    """As --color says; without it on a terminal, unless NO_COLOR is set."""
    able = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return colour == "always" or (colour == "auto" and able)


def out(text: str) -> None:
    """Who reads a pipe may stop reading; the rest is then said to nobody."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        stop_printing()


def stop_printing() -> None:
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def note(arguments: argparse.Namespace, text: str) -> None:
    """A remark beside the result, on standard error."""
    print(f"tailproof {arguments.command}: {text}", file=sys.stderr, flush=True)


def resumable(arguments: argparse.Namespace, default: Path | None = None) -> None:
    """`--resume` with nothing to resume starts from the beginning, and says so."""
    place = default if arguments.checkpoint is None else Path(arguments.checkpoint)
    missing = place is not None and not (place.is_file() and place.stat().st_size)
    if arguments.resume and missing:
        note(arguments, f"no checkpoint {str(place)!r} to resume from; starting from the beginning")
        arguments.resume = False
