"""The page's opening (verdict and numbers), what its words mean, and its end: how it was made."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tailproof.verification import libraries, published_claims
from tailproof.verification.page import published, replay
from tailproof.verification.page.parts import badge, bar, code, run, section, slug, table, text, unfold

Json = dict[str, Any]

STATUSES = ("violated", "inconclusive", "consistent", "certified")


def result(report: Json, run_facts: Json) -> str:
    """The answer for readers: what was checked, what failed, with what, by whom; for maintainers one small line."""
    return (
        f'<section id="summary"><h1>Tailproof report</h1><p class="lead">{_scope(report)}</p>{_unexpected(report)}'
        f'{_failed(report)}<div class="tiles">{"".join(_tiles(report))}</div>{_facts(report, run_facts)}{_papers(report)}'
        f"{_expected(report)}</section>"
    )


def _scope(report: Json) -> str:
    """What was checked."""
    count = len({f["algorithm"] for f in report["findings"]})
    parts = [f"{count} algorithm{'s' if count != 1 else ''}"]
    for key, words in (
        ("published_claims", "published privacy claims"),
        ("statements", "inequalities with explicit constants"),
        ("comparisons", "comparisons of rates"),
    ):
        parts += [f"{len(report[key])} {words}"] if report[key] else []
    papers = sorted({a["paper"] for a in report.get("algorithms", [])} | {e["paper"] for e in report["errata"]})
    ids = ", ".join(map(text, papers))
    cited = f'<a href="#papers">{ids}</a>' if report.get("papers") else ids
    named = f"papers on differentially private optimisation with heavy-tailed data ({cited})"
    listed = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    only = " This is a selection (--only)." if report.get("only") else ""
    return f"Tailproof checked by machine what {named if papers else 'papers'} claim: {listed}.{only}"


def _unexpected(report: Json) -> str:
    """What makes the run fail, loudly: then the rest of the page is in doubt."""
    failures = report.get("failures", [])
    if not failures:
        return ""
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in failures)
    return (
        f'<div class="verdict bad"><b>This run does not match the expected results: {len(failures)} '
        f"difference{'s' if len(failures) > 1 else ''}.</b><ul>{lines}</ul></div>"
    )


def _failed(report: Json) -> str:
    """One sentence for each mistake, and what is to be thought of the rest."""
    cards = published.cards(report)
    rest = [c for c in report["published_claims"] if c["verdict"] != published_claims.REFUTED]
    undecided = sum(c["verdict"] in (published_claims.OPEN, published_claims.NOTHING) for c in rest)
    also = f" Of these, {undecided} could not be decided." if undecided else ""
    others = f' No check refuted any of the <a href="#claims">other published privacy claims</a>.{also}' if rest else ""
    proof = "Not refuted does not mean proved: tests can refute a privacy claim, but cannot prove one."
    if not cards:
        return f'<div class="verdict"><p>No published privacy claim was refuted. {proof}</p></div>' if rest else ""
    lines = "".join(f'<li><a href="#{published.anchor(c)}">{text(published.title(c, report))}</a></li>' for c in cards)
    return (
        f'<div class="verdict"><p><b>These published privacy claims fail{_counted(cards, report)}:</b></p><ul>{lines}</ul>'
        f"<p>{others} {proof}</p></div>"
    )


def _counted(cards: list[published.Card], report: Json) -> str:
    """By severity and standing, where the errata have been reviewed: without a review a number would say too much."""
    entries = [published.errata_of(card, report) for card in cards]
    if not all(group and all(e.get("severity") and e.get("standing") for e in group) for group in entries):
        return ""
    counts = Counter(f"{group[0]['severity']}, {group[0]['standing']}" for group in entries)
    return " (" + "; ".join(f"{count} {text(words)}" for words, count in counts.most_common()) + ")"


def _tiles(report: Json) -> list[str]:
    findings, mutants = report["findings"], report["mutants"]
    counts = Counter(f["status"] for f in findings)
    stack = "".join(f'<i class="{s}" style="flex:{counts[s]}"></i>' for s in STATUSES if counts[s])
    split = ", ".join(f"{counts[s]} {s}" for s in STATUSES if counts[s])
    expected = sum(f["expected"] for f in findings)
    known = f" ({expected} violations belong to the claims above)" if expected else ""
    killed = sum(bool(m["killed_by"]) for m in mutants)
    tiles = [
        _tile(
            str(len(findings)),
            f"checks of algorithms: {split}{known}",
            "catalogue",
            f'<span class="stack" aria-hidden="true">{stack}</span>',
        ),
        _tile(f"{killed} of {len(mutants)}", "planted bugs caught by these checks", "mutants", bad=killed < len(mutants)),
    ]
    _, others = libraries.split((report.get("libraries") or {}).get("results", []))
    if others:
        violated = sum(row["verdict"] == "violated" for row in others)
        words = "audited settings of other libraries violate their documented claim (run earlier)"
        tiles.append(_tile(f"{violated} of {len(others)}", words, "libraries"))
    return tiles


def _tile(value: str, words: str, target: str, more: str = "", *, bad: bool = False) -> str:
    kind, about = "tile bad" if bad else "tile", f'<span class="about">{html.escape(words)}</span>'
    return f'<a class="{kind}" href="#{target}"><b>{value}</b>{more}{about}</a>'


def _facts(report: Json, run_facts: Json) -> str:
    """Version, date, commit, preset, seed: what a reader needs to cite the page or to make it again."""
    effort = {"quick": "quick (minutes; “--full” searches longer)"}.get(
        report.get("preset", ""), report.get("preset", "quick")
    )
    found = {
        "Version": f"tailproof {version}" if (version := report.get("versions", {}).get("tailproof")) else None,
        "Date": run_facts.get("date"),
        "Commit": run_facts.get("commit"),
        "Preset": effort,
        "Seed": report.get("seed", 0),
    }
    shown = "".join(
        f"<div><dt>{name}</dt><dd>{text(value)}</dd></div>" for name, value in found.items() if value is not None
    )
    return f'<dl class="facts">{shown}</dl>'


def _papers(report: Json) -> str:
    """Citations, and how much of each paper's text was at hand."""
    about = {a["paper"] for a in report.get("algorithms", [])} if report.get("only") else None
    cited = [p for p in report.get("papers") or [] if about is None or p["id"] in about]
    if not cited:
        return ""
    lines = "".join(
        f'<li id="{slug("paper", p["id"])}"><b>{text(p["id"])}</b> {text(_names(p["authors"]))}: <cite>{text(p["title"])}</cite>. '
        f"{_where(p)}.{_at_hand(p)}</li>"
        for p in cited
    )
    explained = (
        "<p>A statement marked <b>reconstructed</b> is one whose formula the text at hand lacks. It was restored from the words, "
        "the proofs and the results it uses. Compare it with the paper before you quote it.</p>"
    )
    some = any(not p.get("complete", True) for p in cited)
    return f'<h2 class="small" id="papers">The papers</h2><ul class="papers">{lines}</ul>{explained if some else ""}'


def _names(authors: Sequence[str] | str) -> str:
    if isinstance(authors, str):
        return authors
    *others, last = authors
    return f"{', '.join(others)} and {last}" if others else last


def _where(paper: Json) -> str:
    """Venue and identifier; a link that the reader may follow, the page itself asks for nothing."""
    identifier, url = paper.get("identifier"), paper.get("url") or ""
    linked = text(identifier) if identifier else ""
    if identifier and url.startswith("https://"):
        linked = f'<a href="{html.escape(url)}" rel="noreferrer">{linked}</a>'
    return ", ".join(filter(None, (text(paper["venue"]) if paper.get("venue") else "", linked)))


def _at_hand(paper: Json) -> str:
    return f' <span class="soft">{text(paper["completeness"])}</span>' if paper.get("completeness") else ""


def _expected(report: Json) -> str:
    if report.get("failures"):
        return ""
    return '<p class="small soft">For maintainers: every result is the expected one, the failed claims included.</p>'


# --- words --------------------------------------------------------------------------------------------------------------

MEANINGS = {
    "violated": "Contradicted by exact computation, or by statistics at the stated confidence. A saved counterexample replays it.",
    "consistent": "Not refuted with this much effort. A search never proves a claim.",
    "certified": "Proved by exact computation. This covers one step, such as adding up the budget, not the whole mechanism.",
    "inconclusive": "The evidence does not decide the claim. The entry says why.",
}

CHECKS = {
    "sensitivity": "Replace one record. How far does the quantity move to which noise is added, compared with what the algorithm "
    "states? Tried on pairs made for the algorithm and on structured ones.",
    "sensitivity search": "The same, on pairs that a search made as bad as it could.",
    "release privacy": "The exact privacy of every single released value, against what is claimed for it.",
    "transcript": "The exact privacy of everything that is released, together.",
    "composition": "The same where many releases differ: δ at the claimed ε, composed from the losses of all, and by sampling.",
    "closed": "Nothing that depends on the data leaves except through the recorded releases.",
    "ledger": "The budgets that the releases declare add up to no more than the claim, for every record.",
    "calibration": "The noise scales used are those of the published formulas.",
    "utility": "The error stays below the published bound, where the bound has explicit constants.",
    "vectors": "The runs that ship with Tailproof come out the same, to a ten-thousandth of what a solver is allowed.",
    "accuracy": "A computed minimiser is as close to the exact one as the noise after it allows for.",
    "final iterate": "A black-box audit: what a few hundred published outputs alone reveal, as a lower bound on ε or ρ.",
    "amplified claim": "Claims that rely on a hidden random order or hidden batches: δ computed over these.",
    "amplification conditions": "The conditions of the theorem that such a claim cites.",
    "published query": "What is released is what the paper says, by a second, plain program written from the paper.",
    "declarations": "What a release declares (spend, sensitivity, rows, visibility) does not depend on the data.",
    "measured ledger": "What the changed releases spend, as measured, adds up to no more than the claim.",
    "forced replay": "All of this again after rare released values: tails of 4 to 1000 scales, every outcome of small laws.",
    "every row": "All of this again with each record changed alone: releases that do not name it keep their law.",
    "state": "Nothing is kept between runs, and runs repeat bit for bit.",
    "outcomes": "Runs on data made to break them end the same way on neighbours.",
}


def words(report: Json) -> str:
    """For a newcomer: what is checked, and what a verdict means."""
    rows = [[badge(status), html.escape(meaning)] for status, meaning in MEANINGS.items()]
    used = {f["check"].split(",")[0] for f in report["findings"]}
    checks = "".join(f"<dt>{html.escape(n)}</dt><dd>{html.escape(w)}</dd>" for n, w in CHECKS.items() if n in used)
    return section(
        "words",
        "How to read this page",
        "<p>A differentially private algorithm adds noise so that its output hardly depends on any single person's record. "
        "Its paper claims how little: replacing one record changes the probability of any outcome by a factor of at most "
        "e<sup>ε</sup>, plus a small δ. Such claims are easy to get wrong. Tailproof runs every algorithm on pairs of data sets "
        "that differ in one record, called <em>neighbours</em>, and compares what it releases. Every check asks one question: is "
        "what was found at most what is claimed?</p>",
        table(["word", "what it means"], rows),
        f"<p>A bar shows what was found as a multiple of what is claimed, on a logarithmic axis: {bar(0.4)} keeps the claim, "
        f"{bar(8.0, bad=True)} breaks it. The tall tick is the claim, 1×. An arrow points at a value beyond the axis.</p>",
        "<p>Noise is treated as continuous. Attacks on the low bits of floating-point numbers are out of scope.</p>",
        unfold("What each check does", f"<dl>{checks}</dl>") if checks else "",
        unfold(
            "What a privacy-loss picture shows",
            "<p>The <em>privacy loss</em> of an outcome is the logarithm of how much more likely it is on one data set than on "
            "its neighbour. The solid line is the share of outcomes whose loss exceeds t, on a logarithmic scale. The dashed "
            "line is the largest share that any mechanism with the claimed privacy can have. For (ε, δ)-DP this is "
            "δ / (1 − e<sup>ε − t</sup>) beyond ε, for pure ε-DP zero beyond ε, for ρ-zCDP exp(−(t − ρ)² / (4ρ)) beyond ρ; for "
            "μ-GDP it follows from δ(ε) in the same way. A solid line above the dashed one contradicts the claim. Sampled "
            "pictures illustrate; the verdict comes from the check that the caption names.</p>",
        ),
    )


# --- the end ------------------------------------------------------------------------------------------------------------


def made(report: Json) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in report.get("versions", {}).items())
    return section(
        "made",
        "How this was made",
        run(replay.everything(report)),
        "<p>Random numbers depend on the seed and on the task alone. The same versions on the same machine give the same "
        "report, whatever the number of workers.</p>",
        f"<p>{html.escape(versions)}</p>" if versions else "",
        f"<p>Beside this page you find {code('report.json')} with everything shown here, {code('witnesses/')} with a file for "
        f"every counterexample and every caught bug, {code('run.json')} with date and commit, and {code('timings.json')}. Run "
        f"commands that name {code('witnesses/')} in this folder. {code('tailproof report .')} rebuilds this page from "
        f"report.json. {code('tailproof report --compare OLD NEW')} says what changed between two reports.</p>",
    )
