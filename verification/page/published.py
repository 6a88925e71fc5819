"""Published privacy claims on the page: those that are refuted, with their counterexamples, and all others."""

from __future__ import annotations

import html
from typing import Any

from tailproof.verification import published_claims
from tailproof.verification.page import replay
from tailproof.verification.page.catalogue import found_of_claimed, loss_figure, witness_text
from tailproof.verification.page.parts import badge, bar, link_errata, pairs, run, section, slug, table, text, unfold

Json = dict[str, Any]


def refuted(report: Json) -> str:
    """Grouped by what is wrong: one mistake often refutes an algorithm, its theorem and what builds on them."""
    groups: dict[tuple[str, ...], list[Json]] = {}
    for claim in report["published_claims"]:
        if claim["verdict"] == published_claims.REFUTED:
            groups.setdefault(tuple(claim["errata"]), []).append(claim)
    if not groups:
        return ""
    cards = "".join(_card(list(names), claims, report) for names, claims in groups.items())
    count = sum(map(len, groups.values()))
    return section(
        "refuted",
        "Published claims that are refuted",
        f"<p>{count} claims, {len(groups)} mistakes. Each card says what is printed, what is true, and by how much a "
        "concrete pair of data sets or a concrete choice of numbers breaks the claim. These violations are expected: the "
        "report would fail if one were no longer found.</p>",
        cards,
    )


def _card(names: list[str], claims: list[Json], report: Json) -> str:
    errata = [e for e in report["errata"] if e["id"] in names]
    heads = ", ".join(f'<a href="#{slug("erratum", name)}">{text(name)}</a>' if errata else text(name) for name in names)
    about = "".join(
        f'<div class="two"><p class="labelled"><b>printed ({text(e["paper"])}, {text(e["place"])})</b>{text(e["printed"])}</p>'
        f'<p class="labelled"><b>found</b>{link_errata(e["found"], _ids(report))}</p></div>'
        for e in errata
    )
    rows = [
        (
            slug("claim", c["id"]),
            [f"{text(c['id'])}<br><small class='soft'>{text(c['label'])}</small>", text(c["says"]), _excess(c)],
        )
        for c in claims
    ]
    words = f"refutes {len(claims)} claims" if len(claims) > 1 else "refutes one claim"
    return (
        f'<div class="card" data-item><h3>{heads or "no erratum"} <span class="count">{words}</span></h3>{about}'
        f"{table(['claim', 'what it says', 'found / allowed'], rows)}{_evidence(claims, report)}</div>"
    )


def _excess(claim: Json) -> str:
    """By how much, and of what."""
    if claim["excess"] is not None:
        excess = claim["excess"]
        share = float(excess["ratio"])
        what = f"{text(excess['measured'])} of {text(excess['bound'])} ({text(excess['check'])})"
    elif claim["formula"] is not None:
        share = float(claim["formula"]["ratio"])
        what = f"largest of {text(claim['formula']['cases'])} cases of the formula"
    else:
        return "–"
    return f"{bar(share, bad=True)}<br><small class='soft'>{what}</small>"


def _evidence(claims: list[Json], report: Json) -> str:
    """The counterexamples of the card's claims, each once."""
    shown: dict[str, str] = {}
    names, _ = replay.witness_names(report)
    for claim in claims:
        if claim["excess"] is None:
            if claim["formula"] is not None:
                shown.setdefault(claim["formula"]["id"], _formula_evidence(claim["formula"]["id"], report))
            continue
        key = [claim["excess"][name] for name in ("check", "measured", "setting")]
        for at, finding in enumerate(report["findings"]):
            if finding["algorithm"] in claim["rows"] and [finding[n] for n in ("check", "measured", "setting")] == key:
                shown.setdefault(f"{finding['algorithm']} {key}", finding_evidence(finding, names[at]))
                break
    return f'<div class="figures">{"".join(shown.values())}</div>'


def finding_evidence(finding: Json, name: str | None) -> str:
    """A violated finding: histogram, replay line, witness."""
    parts = [f"<h4>Counterexample: {text(finding['algorithm'])}, {text(finding['check'])}</h4>"]
    parts.append(run(replay.witness(name)) if name else "")
    parts.append(loss_figure(finding) or f"<p>{found_of_claimed(finding)}</p>")
    if finding["witness"]:
        parts.append(unfold("the two data sets and the seed", witness_text(finding["witness"], name)))
    parts.append(unfold("parameters", f"<pre>{html.escape(finding['setting'])}</pre>") if finding["setting"] else "")
    return f"<div>{''.join(parts)}</div>"


def _formula_evidence(identifier: str, report: Json) -> str:
    entry = next((s for s in report["statements"] if s["id"] == identifier and s["reading"] == "printed"), None)
    if entry is None:
        return ""
    numbers = f"<p>At {pairs(entry['witness'])}.</p>" if entry["witness"] else ""
    return f"<div><h4>Counterexample: {text(identifier)}</h4>{numbers}{run(replay.statement(entry))}</div>"


# --- all others ---------------------------------------------------------------------------------------------------------


def others(report: Json) -> str:
    claims = [c for c in report["published_claims"] if c["verdict"] != published_claims.REFUTED]
    if not claims:
        return ""
    rows = [(slug("claim", c["id"]), _cells(c)) for c in claims]
    return section(
        "claims",
        "Other published privacy claims",
        "<p>Not refuted means: no check of it is violated, on the losses, sizes and neighbours that the notes name. "
        "Columns: the largest sensitivity attained as a share of the claimed one; what the worst transcript shows, found "
        "of allowed; how many pairs of data sets were searched.</p>",
        unfold(
            f"{len(claims)} claims",
            table(["claim", "verdict", "says", "sensitivity", "transcript", "pairs", "notes"], rows, items=True),
            group=True,
        ),
    )


def _cells(claim: Json) -> list[str]:
    kind = {published_claims.STANDS: "consistent", published_claims.NOTHING: "violated"}.get(
        claim["verdict"], "inconclusive"
    )
    notes = [*claim["tested"], *claim["open"]]
    more = unfold(f"{len(notes)}", "<br>".join(map(text, notes))) if notes else ""
    formula = claim["formula"]
    worst = claim["transcript"] or claim["amplified"]
    shown = f"{text(worst['measured'])} of {text(worst['bound'])}" if worst else ""
    if formula is not None and not worst:
        shown = f"formula: {text(formula['ratio'])} of the bound in {text(formula['cases'])} cases"
    sensitivity = bar(claim["sensitivity"]) if claim["sensitivity"] is not None else ""
    return [
        text(claim["id"]),
        badge(kind, claim["verdict"]),
        text(claim["says"]),
        sensitivity,
        shown,
        text(claim["pairs"] or None),
        more,
    ]


def _ids(report: Json) -> set[str]:
    return {e["id"] for e in report["errata"]}
