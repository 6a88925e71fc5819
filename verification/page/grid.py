"""Rows × checks on the page: a mark in every cell, and below it in words whatever is not a plain pass."""

from __future__ import annotations

import html
from typing import Any

from tailproof.verification.matrix import ABSENT, MISSING, counts
from tailproof.verification.page.parts import MARKS, badge, link_errata, section, slug, table, text, unfold
from tailproof.verification.report import PASSING

Json = dict[str, Any]

SIGNS = {**MARKS, MISSING: "!", ABSENT: "·"}
MEANINGS = {
    "consistent": "not refuted",
    "certified": "proved by exact computation",
    "violated": "contradicted",
    "inconclusive": "not decided",
    "skipped": "nothing was checked",
    MISSING: "nothing was checked, without a reason",
    ABSENT: "does not apply to this algorithm",
}


def grid(report: Json) -> str:
    found = report.get("matrix")
    if not found or not found["rows"]:
        return ""
    used = {(cell["status"], _known(cell)) for row in found["rows"] for cell in row["cells"]}
    legend = "".join(
        f"<li><b class='{_kind(status)}'>{_sign(status, known)}</b> {MEANINGS[status]}{', as expected' if known else ''}</li>"
        for status in SIGNS
        for known in (False, True)
        if (status, known) in used
    )
    counted = ", ".join(f"{count} {status}" for status, count in counts(found).items())
    return section(
        "matrix",
        "Rows and checks",
        "<p>A row for each algorithm, a column for each check. A cell stands for all settings of the algorithm and shows the "
        "verdict that you should see first. A check that says nothing fails this report.</p>",
        f'<ul class="legend">{legend}</ul>',
        _table(found, {f["algorithm"] for f in report["findings"]}),
        _reasons(found, {e["id"] for e in report["errata"]}),
        _elsewhere(found),
        count=counted,
    )


def _known(cell: Json) -> bool:
    return bool(cell["expected"]) and cell["status"] not in (*PASSING, ABSENT)


def _kind(status: str) -> str:
    return {MISSING: "violated", ABSENT: "absent"}.get(status, status)


def _sign(status: str, known: bool) -> str:
    return f"({SIGNS[status]})" if known else SIGNS[status]


def _table(found: Json, with_findings: set[str]) -> str:
    head = "".join(f'<th scope="col"><span>{html.escape(check)}</span></th>' for check in found["checks"])
    body = "".join(_row(row, row["algorithm"] in with_findings) for row in found["rows"])
    box = '<div class="scroll matrix" role="region" tabindex="0" aria-label="What each check says about each algorithm">'
    corner = '<th scope="col"><span class="unseen">algorithm</span></th>'
    return f"{box}<table><thead><tr>{corner}{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _row(row: Json, linked: bool) -> str:
    name = text(row["algorithm"])
    shown = f'<a href="#{slug(row["algorithm"])}">{name}</a>' if linked else name
    return f'<tr><th scope="row">{shown}</th>{"".join(map(_cell, row["cells"]))}</tr>'


def _cell(cell: Json) -> str:
    """The mark for those who see it, its meaning for all others and on hovering."""
    words = cell["status"] + (" as expected" if _known(cell) else "")
    title = html.escape(f"{cell['check']}: {words}{': ' if cell['says'] else ''}{cell['says']}")
    sign = _sign(cell["status"], _known(cell))
    return (
        f'<td class="{_kind(cell["status"])}"><abbr title="{title}" aria-hidden="true">{sign}</abbr>'
        f'<span class="unseen">{html.escape(words)}</span></td>'
    )


def _reasons(found: Json, errata: set[str]) -> str:
    """Every cell that is neither a pass nor left out."""
    rows = [
        [
            text(row["algorithm"]),
            html.escape(cell["check"]),
            badge(_kind(cell["status"]), cell["status"]),
            ("expected: " if _known(cell) else "") + link_errata(cell["says"], errata),
        ]
        for row in found["rows"]
        for cell in row["cells"]
        if cell["status"] not in (*PASSING, ABSENT)
    ]
    title = f"{len(rows)} cell{'s' if len(rows) != 1 else ''} that do not pass, and why"
    return unfold(title, table(["algorithm", "check", "verdict", "why"], rows)) if rows else ""


def _elsewhere(found: Json) -> str:
    """Where a check does not apply: the reason once, with the algorithms that it is about."""
    about: dict[tuple[str, str], list[str]] = {}
    for row in found["rows"]:
        for cell in row["cells"]:
            if cell["status"] == ABSENT:
                about.setdefault((cell["check"], cell["says"]), []).append(row["algorithm"])
    rows = [[html.escape(check), html.escape(why), text(", ".join(names))] for (check, why), names in sorted(about.items())]
    return unfold("Where a check does not apply, and why", table(["check", "why", "algorithms"], rows)) if rows else ""
