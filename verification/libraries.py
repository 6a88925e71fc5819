"""What audits found in libraries that others wrote: results kept in `libraries.json`, which `examples/audits/run.py` writes.

Nothing is run here, and none of these libraries needs to be installed: the report shows the kept rows, with the versions that were
audited.  A violation among them is a finding about that library; it never makes `tailproof verify` fail.
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


def summary(libraries: Json) -> str:
    """A few words for the report's last line."""
    counts = Counter(row["verdict"] for row in libraries["results"])
    return (
        f"settings of other libraries, audited before: {len(libraries['results'])}, of which {counts['violated']} violated"
    )
