"""What audits found in libraries that others wrote: results cached in `libraries.json`, which `examples/audits/run.py` writes.

Nothing is run here, and none of these libraries needs to be installed: the report shows the cached rows, with the versions that
were audited.  Rows about Tailproof's own calculators are among them, and are never counted with the others.
A violation among them is a finding about that library; it never makes `tailproof verify` fail.
"""

from __future__ import annotations

import json
from collections import Counter
from importlib import resources
from typing import Any

Json = dict[str, Any]

AUDITS = "examples/audits"
INSTALL = "pip install '.[audits]'"
COMMAND = f"python {AUDITS}/run.py"
OWN = "tailproof"  # the `library` of rows that are about Tailproof itself


def kept() -> Json:
    """`versions`, and `results` in the order of the file; an infinite `found` is "inf", as everywhere in report.json.

    `claimed` is the number that `found` may not exceed: a calculator's answer, or the claim's parameter; None where neither is
    known.
    """
    text = resources.files("tailproof.verification").joinpath("libraries.json").read_text(encoding="utf-8")
    found: Json = json.loads(text)
    return {"versions": found["versions"], "results": [_row(row) for row in found["results"].values()]}


def _row(row: Json) -> Json:
    return row | {"found": "inf" if row["found"] == "infinite" else row["found"]}


def split(results: list[Json]) -> tuple[list[Json], list[Json]]:
    """(rows about Tailproof itself, rows about other libraries)."""
    return [row for row in results if row["library"] == OWN], [row for row in results if row["library"] != OWN]


def summary(libraries: Json) -> str:
    """A few words for the report's last line."""
    _, others = split(libraries["results"])
    counts = Counter(row["verdict"] for row in others)
    return f"settings of other libraries, audited earlier: {len(others)}, of which {counts['violated']} violated"
