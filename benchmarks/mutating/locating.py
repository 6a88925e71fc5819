"""Where the drawn edits are in the tree that stands first on the path: code around them may have moved since they were drawn."""

from __future__ import annotations

from typing import Any

from mutating.frame import edits_of, source_of
from mutating.tracing import ROOT, frame_of


def located(row: str, wanted: list[str]) -> dict[str, Any]:
    """name: (start, end, new, line) of those of the wanted edits that there are.

    The number of a node among equal texts counts executed statements only.  Where a setting executes others than on the day of the
    draw, an edit that is not found so is looked for in the whole module.
    """
    here = {edit.name: edit for edit in frame_of(row)}
    for module in {name.split("|")[0] for name in wanted if name not in here}:
        source = source_of(module, ROOT).read_text(encoding="utf-8")
        everything = set(range(1, source.count("\n") + 2))
        here = {edit.name: edit for edit in edits_of(row, module, source, everything)} | here
    return {
        name: {"start": here[name].start, "end": here[name].end, "new": here[name].new, "line": here[name].line}
        for name in wanted
        if name in here
    }
