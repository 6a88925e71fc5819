"""`tailproof list`: the catalogue."""

from __future__ import annotations

import argparse

from tailproof.bounds.citations import citations
from tailproof.refimpl.catalogue import ALGORITHMS
from tailproof.verification.cli import common
from tailproof.verification.mutants import mutants_of
from tailproof.verification.shown import Shown, Table

EXAMPLE = "tailproof list --json -"


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)


def run(arguments: argparse.Namespace) -> int:
    entries = [
        {
            "id": a.id,
            "name": a.name,
            "paper": a.paper,
            "place": a.place,
            "claim": a.claim,
            "status": "built" if a.built else "not built yet",
            "mutants": len(mutants_of(a.id)),
            "study": a.study,
        }
        for a in ALGORITHMS
    ]
    keys = ("id", "name", "place", "claim")
    rows = [[*(str(e[key]) for key in keys), f"{e['status']}{'; for study' if e['study'] else ''}"] for e in entries]
    notes = [f"{a.id} is for study: {a.study}." for a in ALGORITHMS if a.study]
    papers = [f"{paper.id}  {paper.line}  {paper.completeness}" for paper in citations()]
    text: Shown = [Table(rows, ["id", "name", "place", "published claim", "status"]), "", *notes, "", *papers]
    common.emit(arguments, {"algorithms": entries, "papers": [paper.to_json() for paper in citations()]}, text)
    return 0
