"""`tailproof report`: the page of a report again, or what changed between two reports."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tailproof.refimpl.validation import InputError
from tailproof.verification import files, report_compare
from tailproof.verification.cli import common
from tailproof.verification.page import page

EXAMPLE = """tailproof report report        (reads report/report.json, writes report/report.html)
         tailproof report --compare last-week report        (exit 1 if anything changed)"""

NAMES = ("OLD", "NEW")


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    sub.add_argument("folder", metavar="DIR", nargs="?", help="the folder with report.json")
    sub.add_argument(
        "--compare",
        nargs=2,
        metavar=("OLD", "NEW"),
        help="say what changed between two reports, each a folder or its report.json; exit 1 if anything did",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.compare:
        return _compared(arguments)
    if arguments.folder is None:
        raise InputError("DIR is missing: name the folder with report.json, or two reports after --compare")
    folder = Path(arguments.folder)
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        text = page(report, _run_facts(folder))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"folder = {arguments.folder!r}: there is no report.json here; run `tailproof verify` first"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"folder = {arguments.folder!r}: its report.json is not readable ({error})") from None
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(
            f"folder = {arguments.folder!r}: its report.json is damaged or of another version ({error})"
        ) from None
    files.write("folder", folder / "report.html", text)
    common.emit(
        arguments, {"page": str(folder / "report.html"), "failures": report["failures"]}, f"page: {folder / 'report.html'}"
    )
    return 0


def _compared(arguments: argparse.Namespace) -> int:
    if arguments.folder is not None:
        raise InputError(f"DIR = {arguments.folder!r}: must be left out with --compare, which takes two reports")
    old, new = (
        report_compare.read(place, f"--compare {name}") for place, name in zip(arguments.compare, NAMES, strict=True)
    )
    found = report_compare.compare(old, new)
    common.emit(arguments, found.to_json(), report_compare.describe(found))
    return 0 if found.same else 1


def _run_facts(folder: Path) -> dict[str, Any]:
    """Date and commit of the run; a report without them has a page without them."""
    try:
        found = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
