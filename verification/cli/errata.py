"""`tailproof errata`: mistakes found in the papers."""

from __future__ import annotations

import argparse

from tailproof.bounds.errata import errata
from tailproof.verification.cli import common
from tailproof.verification.report import plain

EXAMPLE = "tailproof errata --json errata.json"


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)


def run(arguments: argparse.Namespace) -> int:
    entries = [
        {key: plain(getattr(e, key)) for key in ("id", "paper", "place", "kind", "printed", "found", "evidence")}
        for e in errata()
    ]
    text = "\n\n".join(
        f"{e['id']}  [{e['kind']}]  {e['place']}\n  printed: {e['printed']}\n  found:   {e['found']}" for e in entries
    )
    common.emit(arguments, {"errata": entries}, text)
    return 0
