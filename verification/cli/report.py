"""`tailproof report`: the page of a report again."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tailproof.refimpl.validation import InputError
from tailproof.verification import files
from tailproof.verification.cli import common
from tailproof.verification.page import page

EXAMPLE = "tailproof report report        (reads report/report.json, writes report/report.html)"


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    sub.add_argument("folder", metavar="DIR", help="the folder with report.json")


def run(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder)
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        text = page(report)
    except (OSError, json.JSONDecodeError) as error:
        raise InputError(f"folder = {arguments.folder!r}: has no readable report.json ({error})") from None
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(
            f"folder = {arguments.folder!r}: its report.json is damaged or of another version ({error})"
        ) from None
    files.write("folder", folder / "report.html", text)
    common.emit(
        arguments, {"page": str(folder / "report.html"), "failures": report["failures"]}, f"page: {folder / 'report.html'}"
    )
    return 0
