"""report.html: one self-contained page made from report.json alone, light and dark, from a phone's width on."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from tailproof.verification.page import catalogue, grid, libraries, papers, published, rates, summary
from tailproof.verification.page.parts import axis

TITLE = "Tailproof report"
FOLDER = Path(__file__).parent


def page(report: dict[str, Any], run: dict[str, Any] | None = None) -> str:
    """The whole page; parts that the report does not have are left out, or named with the command that makes them.

    `run` is what `provenance.facts` says of the run: its date and commit, which are no part of the reproducible report.
    """
    chapters = [
        ("summary", "Result", summary.result(report, run or {})),
        ("refuted", "Claims that fail", published.refuted(report)),
        ("words", "How to read this", summary.words(report)),
        ("claims", "Other published claims", published.others(report)),
        ("matrix", "Rows and checks", grid.grid(report)),
        ("catalogue", "Algorithms", catalogue.algorithms(report)),
        ("mutants", "Planted bugs", catalogue.mutants(report)),
        ("rates", "Measured rates", rates.sweeps(report)),
        ("between", "Lower and upper bounds", rates.between(report)),
        ("statements", "Explicit statements", papers.statements(report)),
        ("comparisons", "Comparisons of rates", papers.comparisons(report)),
        ("derivations", "Published and derived rates", papers.derivations(report)),
        ("errata", "Errata", papers.errata(report)),
        ("libraries", "Other libraries", libraries.libraries(report)),
        ("second-stage", "P4's second stage", rates.second_stage(report)),
        ("made", "How this was made", summary.made(report)),
    ]
    shown = [(name, title, body) for name, title, body in chapters if body]
    entries = "".join(f'<li><a href="#{name}">{html.escape(title)}</a></li>' for name, title, _ in shown)
    tools = (
        '<div class="tools" hidden><input id="filter" type="search" placeholder="P2.A1, violated, δ …" '
        'aria-label="Show only entries with these words" autocomplete="off"><button id="unfold" type="button" aria-pressed="false">'
        'Unfold everything</button><span id="matches" class="soft" role="status"></span></div>'
    )
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    body = "".join(part for _, _, part in shown)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{TITLE}</title>'
        f'<link rel="icon" href="data:,"><style>{style}</style></head><body><a class="skip" href="#summary">To the result</a>'
        f'{axis()}<div class="frame"><nav aria-label="Contents">{tools}<details id="contents" open><summary>Contents</summary>'
        f"<ul>{entries}</ul></details></nav><main>{body}</main></div><script>{script}</script></body></html>\n"
    )
