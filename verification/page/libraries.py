"""Other libraries on the page: cached results of audits, a library at a time, what is violated first."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tailproof.verification.libraries import AUDITS, COMMAND, INSTALL, split
from tailproof.verification.page.parts import (
    badge,
    bar,
    code,
    number,
    permalink,
    ratio,
    run,
    section,
    slug,
    table,
    text,
    unfold,
)

Json = dict[str, Any]

VERDICTS = ("violated", "inconclusive", "consistent")
COLUMNS = ("setting", "claim", "found", "found / claimed", "pair of data sets", "seconds")


def libraries(report: Json) -> str:
    """Reports of --only and old ones have no such results."""
    cached = report.get("libraries")
    if not cached or not cached["results"]:
        return ""
    own, rows = split(cached["results"])
    violated = sum(row["verdict"] == "violated" for row in rows)
    return section(
        "libraries",
        "Other libraries",
        _opening(rows, cached["versions"]),
        *(_library(group, cached["versions"]) for group in _grouped(rows, "library")),
        _own(own) if own else "",
        count=f"{violated} of {len(rows)} settings violated",
    )


def _opening(rows: list[Json], known: dict[str, str]) -> str:
    names = dict.fromkeys(row["library"] for row in rows)
    audited = ", ".join(text(f"{name} {known.get(name, '')}".strip()) for name in names)
    beside = ", ".join(text(f"{name} {version}") for name, version in sorted(known.items()) if name not in names)
    counts = Counter(row["verdict"] for row in rows)
    tally = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return (
        f"<p>Tailproof audited {len(rows)} settings of other libraries within their documented assumptions: {tally}. These "
        f"audits were run earlier, with {audited}{f' (and {beside})' if beside else ''}; this report did not repeat them. They say "
        "nothing about the algorithms above. <em>Exact</em> values are computed from the law that the source code states. ≥ marks "
        "a lower bound from runs of the library, with its confidence. <em>No bound</em> means that the privacy loss is "
        "infinite.</p>"
        f"<p>To run the audits again, use a copy of the repository, after {code(INSTALL)}:</p>{run(COMMAND)}"
    )


def _library(rows: list[Json], versions: dict[str, str]) -> str:
    """One library: its violations, subject by subject; then what is undecided, and what is consistent, folded."""
    name = rows[0]["library"]
    violated, undecided, standing = ([row for row in rows if row["verdict"] == verdict] for verdict in VERDICTS)
    title = f"{name} {versions.get(name, '')}".strip()
    count = f"{len(violated)} of {len(rows)} settings violated"
    anchor = slug("library", name)
    return (
        f'<div data-group><h3 id="{anchor}">{text(title)} <span class="count">{count}</span> {permalink(anchor, name)}</h3>'
        + "".join(_violated(group, rows) for group in _grouped(violated, "subject"))
        + (_others(undecided, open_=True) if undecided else "")
        + (_others(standing) if standing else "")
        + "</div>"
    )


def _own(rows: list[Json]) -> str:
    """Tailproof's own calculators, held to the same test."""
    return (
        '<div data-group><h3 id="library-tailproof">Tailproof\'s own calculators</h3><p>Not counted above: '
        f"{len(rows)} rows that hold Tailproof's own formulas to the same test.</p>{_others(rows)}</div>"
    )


def _grouped(rows: Iterable[Json], *keys: str) -> list[list[Json]]:
    groups: dict[tuple[str, ...], list[Json]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return list(groups.values())


def _violated(group: list[Json], rows: list[Json]) -> str:
    """A line for a subject; inside, for each script that reproduces violations, its command and what it reproduces."""
    library, subject = group[0]["library"], group[0]["subject"]
    settings = sum(row["subject"] == subject for row in rows)
    worst = max((share for row in group if (share := _share(row)) is not None), default=None)
    summary = (
        f"<b>{_name(subject)}</b> {_tally('violated', f'{len(group)} of {settings} violated')} {bar(worst, bad=True)} "
        f'<span class="unseen">{text(library)}</span>'
    )
    body = "".join(_why(part[0]) + table(COLUMNS, map(_cells, part)) for part in _grouped(group, "script"))
    return unfold(summary, body, name=slug("library", library, subject), kind="entry audits", item=True)


def _why(row: Json) -> str:
    """The cause, and the command that shows it."""
    cause = f"<p>{text(row['cause'][0].upper() + row['cause'][1:])}</p>" if row.get("cause") else ""
    return cause + (run(f"python {AUDITS}/{row['script']}") if row["script"] else "")


def _others(rows: list[Json], *, open_: bool = False) -> str:
    """Rows of one verdict, all subjects of a library; each names both, for the filter."""
    library, verdict, named = rows[0]["library"], rows[0]["verdict"], []
    for row in sorted(rows, key=lambda row: str(row["subject"])):
        setting, *others = _cells(row)
        named.append([f"<b>{_name(row['subject'])}</b> <small class='soft'>{text(library)}</small><br>{setting}", *others])
    return unfold(
        f"<b>{text(library)}</b> {_tally(verdict, f'{len(rows)} {verdict}')}",
        table(["subject and setting", *COLUMNS[1:]], named, items=True),
        open_=open_,
        kind="entry audits",
        group=True,
    )


def _name(value: str) -> str:
    """Escaped, and broken between its parts, if at all."""
    return re.sub(r"([,(_]|\.(?!\d))", r"\1<wbr>", text(value))


def _tally(verdict: str, words: str) -> str:
    return f'<span class="tally">{badge(verdict, words)}</span>'


def _cells(row: Json) -> list[str]:
    note = f"<br><small class='soft'>{text(row['note'])}</small>" if row["note"] else ""
    return [
        text(row["setting"]) + note,
        _name(row["claim"]),
        f"{_found(row)}<br> <small class='soft'>{_how(row)}</small>",
        f"{bar(_share(row), bad=row['verdict'] == 'violated')}<br> {badge(row['verdict'])}",
        text(row["witness"]),
        f"{row['seconds']:.2f}",
    ]


def _share(row: Json) -> float | None:
    return ratio(row["found"], row["claimed"])


def _found(row: Json) -> str:
    if float(row["found"]) == math.inf:
        return "no bound"
    return f"{'≥&nbsp;' if row['samples'] else ''}{text(number(row['found']))}"


def _how(row: Json) -> str:
    if not row["samples"]:
        return text(row["how"])
    return f"{text(row['samples'])} runs, confidence {row['confidence']:.10g}"
