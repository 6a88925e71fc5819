"""`tailproof errata`: mistakes found in the papers."""

from __future__ import annotations

import argparse

from tailproof.bounds.errata import errata
from tailproof.refimpl.validation import known
from tailproof.verification.cli import common
from tailproof.verification.report import plain

EXAMPLE = "tailproof errata\n         tailproof errata P0.Def3 --json errata.json"


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    sub.add_argument("id", nargs="*", metavar="ID", help="these only (default: all)")


def run(arguments: argparse.Namespace) -> int:
    keys = ("id", "paper", "place", "kind", "printed", "found", "evidence", "reconstructed")
    entries = [{key: plain(getattr(e, key)) for key in keys} for e in errata()]
    ids = [e["id"] for e in entries]
    chosen = [known("id", word, ids, "`tailproof errata` lists all") for word in arguments.id]
    entries = [e for e in entries if not chosen or e["id"] in chosen]
    text = "\n\n".join(
        f"{e['id']}  [{e['kind']}{', reconstructed' if e['reconstructed'] else ''}]  {e['place']}\n"
        f"  as published:  {e['printed']}\n  found:         {e['found']}"
        for e in entries
    )
    common.emit(arguments, {"errata": entries}, text)
    return 0
