"""Other libraries on the page: kept results of audits, what is violated first."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tailproof.verification.libraries import AUDITS, COMMAND, INSTALL
from tailproof.verification.page.parts import badge, bar, code, number, ratio, run, section, slug, table, text, unfold

Json = dict[str, Any]

VERDICTS = ("violated", "inconclusive", "consistent")
COLUMNS = ("setting", "claim", "found", "found / claimed", "pair of data sets", "seconds")


def libraries(report: Json) -> str:
    """Reports of --only and old ones have no such results."""
    kept = report.get("libraries")
    if not kept or not kept["results"]:
        return ""
    rows = kept["results"]
    violated, undecided, standing = ([row for row in rows if row["verdict"] == verdict] for verdict in VERDICTS)
    return section(
        "libraries",
        "Other libraries",
        _opening(kept),
        *(_violated(group, rows) for group in _grouped(violated, "library", "subject")),
        *(_others(group, open_=True) for group in _grouped(undecided, "library")),
        *(_others(group) for group in _grouped(standing, "library")),
        count=f"{len(violated)} of {len(rows)} settings violated",
    )


def _opening(kept: Json) -> str:
    rows, versions = kept["results"], dict(kept["versions"])
    names = dict.fromkeys(row["library"] for row in rows)
    audited = ", ".join(text(f"{name} {versions.pop(name, '')}".strip()) for name in names)
    beside = ", ".join(text(f"{name} {version}") for name, version in sorted(versions.items()))
    counts = Counter(row["verdict"] for row in rows)
    split = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return (
        f"<p>Audits of libraries that others wrote: {len(rows)} settings of {audited}{f' (with {beside})' if beside else ''}, "
        f"inside their documented assumptions: {split}. These results are kept with Tailproof and were not run anew for "
        "this report; none of them is a finding about the algorithms above. <em>Exact</em> values are computed from the law that "
        "the source code states; ≥ is a lower bound from runs of the library, with its confidence; <em>no bound</em> means that "
        "the privacy loss is infinite.</p><p>To audit anew, in a copy of the repository, after "
        f"{code(INSTALL)}:</p>{run(COMMAND)}"
    )


def _grouped(rows: Iterable[Json], *keys: str) -> list[list[Json]]:
    groups: dict[tuple[str, ...], list[Json]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return list(groups.values())


def _violated(group: list[Json], rows: list[Json]) -> str:
    """A line for a subject; inside, for each script that reproduces violations, its command and what it reproduces."""
    library, subject = group[0]["library"], group[0]["subject"]
    settings = sum((row["library"], row["subject"]) == (library, subject) for row in rows)
    worst = max((share for row in group if (share := _share(row)) is not None), default=None)
    summary = (
        f"<b>{text(subject)}</b> {_tally('violated', f'{len(group)} of {settings} violated')} {bar(worst, bad=True)} "
        f'<span class="says">{text(library)}</span>'
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
