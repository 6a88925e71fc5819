"""What the papers say, on the page: explicit statements, comparisons with certificates, derivations, errata."""

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
    reconstructed,
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
        "<p>Inequalities of the papers in which every constant is stated, evaluated on hard laws and data. The bar is the largest "
        "measured / bound over all cases. A statement that fails as published has a corrected reading beside it where one is "
        "known.</p>",
        _statements(failing) if failing else "",
        unfold(f"{len(standing)} not refuted", _statements(standing), group=True) if standing else "",
        count=f"{len(found)} checked",
    )


def _statements(found: list[Json]) -> str:
    rows = [(slug("statement", s["id"], s["reading"]), _statement(s)) for s in found]
    return table(["id", "verdict", "measured / bound", "cases", "what was tried"], rows, items=True)


def _statement(s: Json) -> list[str]:
    status = badge(s["status"], "fails as published" if s["expected"] else None)
    share = None if isinstance(s["measured"], str) else s["measured"]
    shown = unfold(
        "run it again",
        run(replay.statement(s))
        + "".join(run(f"tailproof theorem {name}") for name in s.get("theorems", []))
        + (f"<p>The worst case tried: {pairs(s['worst'])}</p>" if s.get("worst") else "")
        + (f"<p>The simplest case that fails: {pairs(s['witness'])}</p>" if s["witness"] else ""),
    )
    name = f"{text(s['id'])}<br><small class='soft'>{text(s['place'])}</small>{reconstructed(s)}"
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
    corrections = {e["id"]: e for e in report["errata"]}
    groups = ((false, "Do not hold as published", True), (true, "Hold", False))
    return section(
        "comparisons",
        "Comparisons of rates",
        "<p>Sentences of the papers such as “our rate improves on that one”, each decided for all allowed values. A ≲ B means "
        "that A is at most a constant times B, and A ≍ B that both are of the same size. A comparison that holds has a "
        "certificate. One that does not has a path along which the quotient grows without bound. Exact arithmetic, independent "
        "of the search and of floating point, verifies both.</p>",
        *(
            unfold(
                words,
                table(
                    ["comparison", "paper says", "we find"],
                    [(slug("comparison", c["id"]), _comparison(c, corrections)) for c in group],
                    items=True,
                ),
                open_=shown and len(group) < 60,
                kind="compared",
                group=True,
            )
            for group, words, shown in groups
            if group
        ),
        count=f"{len(found)} decided",
    )


SIGNS = {"<=": "≲", "==": "≍", "not <=": "is not ≲"}
FOUND = {
    True: ("certified", "holds", "Proved for all allowed values."),
    False: ("violated", "does not hold", "There is a path along which the quotient grows without bound."),
    None: ("inconclusive", "undecided", "Neither a proof nor a counterexample was found."),
}


def _comparison(c: Json, corrections: dict[str, Json]) -> list[str]:
    """Where, what the paper says, and what is true of it."""
    status, word, sentence = FOUND[c["holds"]]
    claim = (
        f"{code(c['left'])} {SIGNS.get(c['relation'], c['relation'])} {code(c['right'])}"
        if "left" in c
        else code(c["claim"])
    )
    where = f"<br>where {', '.join(map(code, c['where']))}" if c["where"] else ""
    because = "".join(
        f"<p>{link_errata(corrections[name]['found'] if name in corrections else name, corrections)} "
        f"<small class='soft'>Erratum {link_errata(name, corrections)}.</small></p>"
        for name in c["errata"]
    )
    reasons = "".join(f'<pre tabindex="0">{html.escape(words)}</pre>' for words in c.get("explained", []))
    again = run(replay.comparison(c)) if "left" in c else ""
    certificates = (
        unfold("certificate, as the verifier reads it", "".join(map(raw, c["certificates"])))
        if c.get("certificates")
        else ""
    )
    proof = unfold("proof or path, and the command", reasons + again + certificates) if reasons or again else ""
    return [
        f"{text(c['id'])}<br><small class='soft'>{text(c['place'])}</small>{reconstructed(c)}",
        f"{text(c['says'])}<p>{claim}{where}</p>",
        f"{badge(status, word)} {sentence}{because}{proof}",
    ]


# --- published against derived ---------------------------------------------------------------------------------------------


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
                f"{text(a['id'])}<br><small class='soft'>{text(a['label'])}</small>{reconstructed(a)}",
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
        "Published and derived rates",
        f"<p>{len(agreements)} statements have a published and a derived rate. Where the two differ by more than constants and "
        "hidden logarithms, they are listed here.</p>",
        table(["statement", "paper says", "we derive", "verdict", "errata"], rows, items=True),
        f"<p>{len(derived)} rates follow from their lemmas with the papers' choices of parameters: "
        f"{', '.join(f'{n} {text(word)}' for word, n in exact.items())}. These choices of parameters are not the best ones:</p>",
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
    ids = {e["id"] for e in found}
    uses = _uses(report)
    return section(
        "errata",
        "Errata",
        "<p>Places where the published text and the computation differ. Each rests on numbers that were computed again for "
        f"this report: something <em>measured</em> exceeds what is <em>allowed</em>. {_standing(found)}</p>",
        *(
            unfold(
                f"<b>{text(paper)}</b> <span class='says'>{text(', '.join(sorted({e['kind'] for e in entries})))}</span>",
                "".join(_erratum(e, ids, uses.get(e["id"], [])) for e in entries),
                name=slug("errata", paper),
                group=True,
            )
            for paper, entries in papers.items()
        ),
    )


def _standing(found: list[Json]) -> str:
    """Counted by severity and standing once the errata are reviewed; until then no number is given."""
    if all(e.get("severity") and e.get("standing") for e in found):
        counts = Counter((e["severity"], e["standing"]) for e in found)
        return "; ".join(f"{n} {text(severity)}, {text(standing)}" for (severity, standing), n in counts.most_common()) + "."
    return (
        "They are of unequal weight and not yet reviewed against the published PDFs: many are typos, and some may come from the "
        "way the text was extracted. So this page gives no total."
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
    stands = "" if e["stands"] else badge("violated", "its evidence no longer holds")
    concerned = f"<p class='soft'>Concerns {', '.join(uses)}.</p>" if uses else ""
    return (
        f'<div class="plain" id="{slug("erratum", e["id"])}" data-item><h4>{text(e["id"])} <span class="soft">{text(e["kind"])}, '
        f'{text(e["place"])}</span>{reconstructed(e)} {stands}</h4><div class="two">'
        f'<p class="labelled"><b>paper says</b>{text(e["printed"])}</p>'
        f'<p class="labelled"><b>we find</b>{link_errata(e["found"], ids)}</p></div>'
        + unfold("evidence", f"<p>{pairs(e['evidence'])}</p>{run(replay.erratum(e))}")
        + concerned
        + "</div>"
    )
