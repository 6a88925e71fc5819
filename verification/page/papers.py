"""What is printed, on the page: explicit statements, comparisons with certificates, derivations, errata."""

from __future__ import annotations

import html
from collections import Counter
from typing import Any

from tailproof.verification.page import replay
from tailproof.verification.page.parts import (
    badge,
    bar,
    code,
    link_errata,
    pairs,
    raw,
    run,
    section,
    slug,
    table,
    text,
    unfold,
)

Json = dict[str, Any]


def statements(report: Json) -> str:
    found = report["statements"]
    if not found:
        return ""
    failing = [s for s in found if s["status"] == "violated"]
    standing = [s for s in found if s["status"] != "violated"]
    return section(
        "statements",
        "Statements with explicit constants",
        "<p>Inequalities of the papers in which every constant is printed, evaluated on laws and data that are hard for "
        "them. The bar is the largest measured / bound over all cases; a statement that fails as printed has a corrected "
        "reading beside it where we have one.</p>",
        _statements(failing) if failing else "",
        unfold(f"{len(standing)} not refuted", _statements(standing), group=True) if standing else "",
        count=f"{len(failing)} of {len(found)} fail" if failing else str(len(found)),
    )


def _statements(found: list[Json]) -> str:
    rows = [(slug("statement", s["id"], s["reading"]), _statement(s)) for s in found]
    return table(["id", "verdict", "measured / bound", "cases", "what was tried"], rows, items=True)


def _statement(s: Json) -> list[str]:
    status = badge(s["status"], "fails as printed" if s["expected"] else None)
    share = None if isinstance(s["measured"], str) else s["measured"]
    shown = unfold(
        "run it again",
        run(replay.statement(s))
        + "".join(run(f"tailproof theorem {name}") for name in s.get("theorems", []))
        + (f"<p>First case beyond the bound: {pairs(s['witness'])}</p>" if s["witness"] else ""),
    )
    name = f"{text(s['id'])}<br><small class='soft'>{text(s['place'])}</small>"
    return [
        name,
        status,
        bar(share, bad=s["status"] == "violated", caption="of the bound"),
        text(s["cases"]),
        text(s["detail"]) + shown,
    ]


# --- comparisons ----------------------------------------------------------------------------------------------------------


def comparisons(report: Json) -> str:
    found = report["comparisons"]
    if not found:
        return ""
    false, true = [c for c in found if not c["holds"]], [c for c in found if c["holds"]]
    ids = {e["id"] for e in report["errata"]}
    groups = ((false, "do not hold as printed", True), (true, "hold", False))
    return section(
        "comparisons",
        "Comparisons of rates",
        "<p>What the papers say of their rates (“A is at most a constant times B”), each decided for all values allowed. "
        "One that holds has a certificate, a weighted mean of inequalities that adds up; one that does not has a path "
        "along which A / B grows without bound. Both are verified by exact arithmetic that knows neither the search nor "
        "floats.</p>",
        *(
            unfold(
                f"{len(group)} {words}",
                "".join(_comparison(c, ids) for c in group),
                open_=shown and len(group) < 60,
                group=True,
            )
            for group, words, shown in groups
            if group
        ),
        count=f"{len(true)} of {len(found)} hold",
    )


SIGNS = {"<=": "≲", "==": "≍", "not <=": "is not ≲"}


def _comparison(c: Json, ids: set[str]) -> str:
    verdict = (
        badge("certified", "holds")
        if c["holds"]
        else badge("violated" if c["holds"] is False else "inconclusive", "does not hold")
    )
    summary = f"<b>{text(c['id'])}</b> {verdict} <span class='says'>{text(c['place'])}: {text(c['says'])}</span>"
    if "left" in c:
        claim = f"<p>{code(c['left'])} {SIGNS.get(c['relation'], c['relation'])} {code(c['right'])}</p>"
    else:
        claim = f"<p>{code(c['claim'])}</p>"
    where = f"<p>where {', '.join(map(code, c['where']))}</p>" if c["where"] else ""
    errata = f"<p>Erratum: {link_errata(', '.join(c['errata']), ids)}</p>" if c["errata"] else ""
    reasons = "".join(f'<pre tabindex="0">{html.escape(words)}</pre>' for words in c.get("explained", []))
    again = run(replay.comparison(c)) if "left" in c else ""
    certificates = (
        unfold("certificate, as the verifier reads it", "".join(map(raw, c["certificates"])))
        if c.get("certificates")
        else ""
    )
    return unfold(
        summary,
        claim + where + errata + reasons + again + certificates,
        name=slug("comparison", c["id"]),
        kind="entry",
        item=True,
    )


# --- print against derivation ---------------------------------------------------------------------------------------------


def derivations(report: Json) -> str:
    agreements, derived, choices = report["agreements"], report.get("derivations", []), report.get("choices", [])
    if not agreements:
        return ""
    ids = {e["id"] for e in report["errata"]}
    differ = [a for a in agreements if not a["verdict"].startswith("same")]
    rows = [
        (
            slug("agreement", a["id"]),
            [
                f"{text(a['id'])}<br><small class='soft'>{text(a['label'])}</small>",
                code(a["printed"]),
                code(a["derived"]),
                text(a["verdict"]),
                link_errata(", ".join(a["errata"]), ids),
            ],
        )
        for a in differ
    ]
    worse = [
        (
            slug("choice", c["id"], at),
            [
                text(c["id"]),
                code(", ".join(f"{k} = {v}" for k, v in c["chosen"].items())),
                code(c["best_rate"]),
                text(c["note"]),
            ],
        )
        for at, c in enumerate(choices)
        if not c["attained"]
    ]
    exact = Counter(d["verdict"] for d in derived)
    return section(
        "derivations",
        "Print against derivation",
        f"<p>{len(agreements)} statements have a printed and a derived rate; in these {len(differ)} the two differ by "
        "more than constants and hidden logarithms.</p>",
        table(["statement", "printed", "derived", "verdict", "errata"], rows, items=True),
        f"<p>{len(derived)} rates follow from their lemmas at the papers' choices of parameters: "
        f"{', '.join(f'{n} {text(word)}' for word, n in exact.items())}. Of {len(choices)} choices {len(choices) - len(worse)} "
        "are best; these are not:</p>",
        table(["statement", "choice", "best rate", "note"], worse, items=True),
        f"<p>Steps and certificates of one: {code('tailproof theorem ID --json -')}.</p>",
    )


# --- errata ---------------------------------------------------------------------------------------------------------------


def errata(report: Json) -> str:
    found = report["errata"]
    if not found:
        return ""
    papers: dict[str, list[Json]] = {}
    for entry in found:
        papers.setdefault(entry["paper"], []).append(entry)
    kinds = Counter(e["kind"] for e in found)
    ids = {e["id"] for e in found}
    uses = _uses(report)
    return section(
        "errata",
        "Errata",
        f"<p>Where print and computation differ: {', '.join(f'{text(kind)} {n}' for kind, n in kinds.most_common())}. Each "
        "rests on numbers that were recomputed for this report: something <em>measured</em> that should be at most what "
        "is <em>allowed</em>, and is not.</p>",
        *(
            unfold(
                f"<b>{text(paper)}</b>: {len(entries)} errata <span class='says'>"
                f"{', '.join(f'{text(kind)} {n}' for kind, n in Counter(e['kind'] for e in entries).most_common())}</span>",
                "".join(_erratum(e, ids, uses.get(e["id"], [])) for e in entries),
                name=slug("errata", paper),
                group=True,
            )
            for paper, entries in papers.items()
        ),
        count=str(len(found)),
    )


def _uses(report: Json) -> dict[str, list[str]]:
    """Erratum -> links to the claims and comparisons that it concerns."""
    uses: dict[str, list[str]] = {}
    for kind, part in (("claim", "published_claims"), ("comparison", "comparisons")):
        for entry in report[part]:
            for name in entry["errata"]:
                uses.setdefault(name, []).append(f'<a href="#{slug(kind, entry["id"])}">{text(entry["id"])}</a>')
    return uses


def _erratum(e: Json, ids: set[str], uses: list[str]) -> str:
    stands = "" if e["stands"] else badge("violated", "its evidence no longer stands")
    concerned = f"<p class='soft'>Concerns {', '.join(uses)}.</p>" if uses else ""
    return (
        f'<div class="plain" id="{slug("erratum", e["id"])}" data-item><h4>{text(e["id"])} <span class="soft">{text(e["kind"])}, '
        f'{text(e["place"])}</span> {stands}</h4><div class="two"><p class="labelled"><b>printed</b>{text(e["printed"])}</p>'
        f'<p class="labelled"><b>found</b>{link_errata(e["found"], ids)}</p></div>'
        + unfold("evidence", f"<p>{pairs(e['evidence'])}</p>{run(replay.erratum(e))}")
        + concerned
        + "</div>"
    )
