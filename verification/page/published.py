"""Published privacy claims on the page: those that fail, as cards with a counterexample, and all others."""

from __future__ import annotations

import html
import math
from typing import Any

from tailproof.verification import published_claims
from tailproof.verification.page import replay
from tailproof.verification.page.catalogue import found_of_claimed, loss_figure, witness_text
from tailproof.verification.page.parts import (
    apart,
    badge,
    bar,
    link_errata,
    multiple,
    number,
    pairs,
    permalink,
    ratio,
    run,
    section,
    slug,
    table,
    text,
    tidy,
    unfold,
)

Json = dict[str, Any]
Card = tuple[list[str], list[Json]]  # ids of errata, and the claims that they refute


def cards(report: Json) -> list[Card]:
    """Grouped by what is wrong: one mistake often refutes an algorithm, its theorem and what builds on them."""
    groups: dict[tuple[str, ...], list[Json]] = {}
    for claim in report["published_claims"]:
        if claim["verdict"] == published_claims.REFUTED:
            groups.setdefault(tuple(claim["errata"]), []).append(claim)
    return [(list(names), claims) for names, claims in groups.items()]


def anchor(card: Card) -> str:
    """Stable: it names the errata, or without any the first claim."""
    return slug("refuted", *(card[0] or [card[1][0]["id"]]))


def errata_of(card: Card, report: Json) -> list[Json]:
    return [e for e in report["errata"] if e["id"] in card[0]]


def title(card: Card, report: Json) -> str:
    """The sentence that the erratum has for it; otherwise what is claimed, and that it fails."""
    told = [e["title"] for e in errata_of(card, report) if e.get("title")]
    claims = card[1]
    return " ".join(told) or f"{claims[0]['id']} does not hold as published: {claims[0]['says']}"


def refuted(report: Json) -> str:
    found = cards(report)
    if not found:
        return ""
    return section(
        "refuted",
        "Published claims that fail",
        "<p>Each card is one mistake. It shows the case with the largest ratio that was found, and the command that finds "
        "it again. Claims are judged as the text at hand states them; a misprint counts, and the card says so.</p>",
        *(_card(card, report) for card in found),
    )


def _card(card: Card, report: Json) -> str:
    names, claims = card
    name, sentence, errata = anchor(card), title(card, report), errata_of(card, report)
    ids = {e["id"] for e in report["errata"]}
    story = "".join(f"<p>{text(e['story'])}</p>" for e in errata if e.get("story"))
    places = "; ".join(f"{text(e['paper'])}, {text(e['place'])}" for e in errata)
    fails = ", ".join(text(claim["id"]) for claim in claims)
    about = "".join(
        f'<div class="two"><p class="labelled"><b>paper says ({text(e["paper"])}, {text(e["place"])})</b>{text(e["printed"])}</p>'
        f'<p class="labelled"><b>we find</b>{link_errata(e["found"], ids)}</p></div>'
        for e in errata
    )
    rows = [
        (
            slug("claim", c["id"]),
            [f"{text(c['id'])}<br><small class='soft'>{text(c['label'])}</small>", text(c["says"]), _excess(c, report)],
        )
        for c in claims
    ]
    links = ", ".join(f'<a href="#{slug("erratum", n)}">{text(n)}</a>' if n in ids else text(n) for n in names)
    front, rest = _evidence(claims, report)
    details = (
        f"{about}<h4>Claims that fail</h4>{table(['claim', 'paper says', 'we find'], rows)}"
        f'{rest}<p class="soft">Erratum: {links or "none"}.</p>'
    )
    return (
        f'<article class="card" id="{name}" data-item><h3>{text(sentence)} {permalink(name, "this card")}</h3>'
        f'<p class="soft">{places}{". " if places else ""}Fails: {fails}.</p>{story}{front}'
        f"{unfold('Details: what the paper says, every claim that fails, the data', details)}</article>"
    )


# --- the case that is shown --------------------------------------------------------------------------------------------------


def _statement(claim: Json, report: Json) -> Json | None:
    wanted = (claim["formula"] or {}).get("id")
    return next((s for s in report["statements"] if s["id"] == wanted and s["reading"] == "printed"), None)


def worst_case(entry: Json) -> Json | None:
    """Of a statement that fails: the case that attains its ratio; reports of old versions have the first case only."""
    found: Json | None = entry.get("worst") or entry["witness"]
    return found


def shown_case(claim: Json, report: Json) -> tuple[Any, Any] | None:
    """(measured, bound) of the case that the page shows for a claim."""
    if claim["excess"] is not None:
        return claim["excess"]["measured"], claim["excess"]["bound"]
    entry = _statement(claim, report)
    case = worst_case(entry) if entry else None
    return (case["measured"], case["bound"]) if case else None


def _share(claim: Json, report: Json) -> float | None:
    case = shown_case(claim, report)
    return ratio(*case) if case else None


def _excess(claim: Json, report: Json) -> str:
    """By how much, and of what."""
    case = shown_case(claim, report)
    if case is None:
        return "–"
    found, allowed = apart(*case)
    how = f"the check “{claim['excess']['check']}”" if claim["excess"] is not None else "the published formula"
    return f"{bar(ratio(*case), bad=True)}<br><small class='soft'>{found} found, {allowed} allowed, by {text(how)}</small>"


def _headline(case: tuple[Any, Any], what: str) -> str:
    found, allowed = apart(*case)
    share = ratio(*case)
    times = "" if share is None else f": {multiple(share)} times what is allowed"
    return f'<p class="headline">{text(what)}: found <b>{found}</b>, allowed <b>{allowed}</b>{times}. {bar(share, bad=True)}</p>'


def _evidence(claims: list[Json], report: Json) -> tuple[str, str]:
    """The counterexample with the largest ratio in front, the others of the card for its details; each once."""
    names, _ = replay.witness_names(report)
    shown: dict[str, tuple[str, str]] = {}
    for claim in sorted(claims, key=lambda c: -(_share(c, report) or -math.inf)):
        if claim["excess"] is None:
            entry = _statement(claim, report)
            if entry is not None:
                shown.setdefault(entry["id"], _formula_evidence(entry))
            continue
        key = [claim["excess"][name] for name in ("check", "measured", "setting")]
        for at, finding in enumerate(report["findings"]):
            if finding["algorithm"] in claim["rows"] and [finding[n] for n in ("check", "measured", "setting")] == key:
                shown.setdefault(f"{finding['algorithm']} {key}", finding_evidence(finding, names[at]))
                break
    if not shown:
        return "", ""
    (front, data), *others = shown.values()
    rest = "".join(f"<div>{first}{more}</div>" for first, more in others)
    return front, data + (f'<h4>More counterexamples</h4><div class="figures">{rest}</div>' if rest else "")


def finding_evidence(finding: Json, name: str | None) -> tuple[str, str]:
    """A violated finding: (its numbers, picture and command; its data and parameters, folded)."""
    what = f"{finding['algorithm']}, check “{finding['check']}”"
    front = _headline((finding["measured"], finding["bound"]), what) + (run(replay.witness(name)) if name else "")
    front += loss_figure(finding) or f"<p>{found_of_claimed(finding)}</p>"
    data = unfold("The two data sets and the seed", witness_text(finding["witness"], name)) if finding["witness"] else ""
    if finding["setting"]:
        data += unfold("Parameters", f"<pre>{html.escape(finding['setting'])}</pre>")
    return front, data


def _formula_evidence(entry: Json) -> tuple[str, str]:
    """The case that attains the ratio in front; the simplest one that fails, where it is another, among the details."""
    worst, first = worst_case(entry), entry["witness"]
    if worst is None:
        return run(replay.statement(entry)), ""
    given = {name: value for name, value in worst.items() if name not in ("measured", "bound")}
    front = _headline((worst["measured"], worst["bound"]), f"The formula at {_plain(given)}") + run(replay.statement(entry))
    if first == worst or first is None:
        return front, ""
    share = ratio(first["measured"], first["bound"])
    times = f" ({multiple(share)}×)" if share is not None else ""
    return front, f"<p>The simplest case that fails: {pairs(first)}{times}.</p>"


def _plain(values: Json) -> str:
    return ", ".join(
        f"{name} = {tidy(f'{value:.6g}')}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in values.items()
    )


# --- all others ---------------------------------------------------------------------------------------------------------


def others(report: Json) -> str:
    claims = [c for c in report["published_claims"] if c["verdict"] != published_claims.REFUTED]
    if not claims:
        return ""
    rows = [(slug("claim", c["id"]), _cells(c)) for c in claims]
    return section(
        "claims",
        "Other published privacy claims",
        "<p>“Not refuted” means that no check of the claim is violated, on the losses, sizes and data sets that the notes "
        "name. It is not a proof. “Sensitivity” is the largest one attained, as a multiple of the claimed one. “Transcript” is "
        "what the worst one shows, found of allowed. “Pairs” is the number of pairs of data sets searched.</p>",
        unfold(
            f"{len(claims)} claims",
            table(["claim", "verdict", "paper says", "sensitivity", "transcript", "pairs", "notes"], rows, items=True),
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
    shown = f"{number(worst['measured'])} of {number(worst['bound'])}" if worst else ""
    if formula is not None and not worst:
        shown = f"formula: {number(formula['ratio'])} of the bound in {formula['cases']} cases"
    sensitivity = bar(claim["sensitivity"]) if claim["sensitivity"] is not None else ""
    return [
        text(claim["id"]),
        badge(kind, claim["verdict"]),
        text(claim["says"]),
        sensitivity,
        text(shown),
        text(claim["pairs"] or None),
        more,
    ]
