"""The page's opening (verdict and numbers), what its words mean, and its end: how it was made."""

from __future__ import annotations

import html
from collections import Counter
from typing import Any

from tailproof.verification.page import replay
from tailproof.verification.page.parts import badge, code, run, section, table, text, unfold

Json = dict[str, Any]

STATUSES = ("violated", "inconclusive", "consistent", "certified")

PAPERS = {
    "P0": "“Beyond Ordinary Lipschitz Constraints: DP Stochastic Optimization with Tsybakov Noise Condition”",
    "P1": "heavy-tailed private optimisation by sample-and-aggregate, trimmed and softly truncated means (its appendix)",
    "P2": "private stochastic convex optimisation by simple clipping and iterative updating",
    "P3": "“Private Stochastic Convex Optimization and Sparse Learning with Heavy-tailed Data Revisited”",
    "P4": "pure ε-DP stochastic convex optimisation with heavy tails",
}


def result(report: Json) -> str:
    """One sentence, six numbers."""
    return (
        f'<section id="summary"><h1>Tailproof report</h1><p class="soft">{_scope(report)}</p>'
        f'{_verdict(report)}<div class="tiles">{"".join(_tiles(report))}</div></section>'
    )


def _scope(report: Json) -> str:
    count = len({f["algorithm"] for f in report["findings"]})
    return (
        "Privacy and accuracy claims of five papers on private optimisation with heavy-tailed data, checked by machine: "
        f"{count} algorithm{'s' if count != 1 else ''}, {text(report.get('preset', 'quick'))} preset, seed "
        f"{text(report.get('seed', 0))}{', a selection (--only)' if report.get('only') else ''}."
    )


def _verdict(report: Json) -> str:
    failures = report.get("failures", [])
    if failures:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in failures)
        word = "thing" if len(failures) == 1 else "things"
        return (
            f'<div class="verdict bad"><b>{len(failures)} {word} came out otherwise than expected.</b><ul>{lines}</ul></div>'
        )
    refuted = sum(c["verdict"] == "refuted" for c in report["published_claims"])
    known = (
        f' {refuted} published claims are <a href="#refuted">refuted</a>, each by a counterexample below;' if refuted else ""
    )
    killed = (
        f' all {len(report["mutants"])} deliberately broken copies were <a href="#mutants">caught</a>;'
        if report["mutants"]
        else ""
    )
    return (
        f'<p class="verdict"><b>Nothing unexpected.</b>{known}{killed} no check is violated beyond what the errata say. '
        "That is no proof that these algorithms are private.</p>"
    )


def _tiles(report: Json) -> list[str]:
    findings, mutants, claims = report["findings"], report["mutants"], report["published_claims"]
    counts = Counter(f["status"] for f in findings)
    stack = "".join(f'<i class="{s}" style="flex:{counts[s]}"></i>' for s in STATUSES if counts[s])
    split = ", ".join(f"{counts[s]} {s}" for s in STATUSES if counts[s])
    refuted = [c for c in claims if c["verdict"] == "refuted"]
    expected = sum(f["expected"] for f in findings)
    killed = sum(bool(m["killed_by"]) for m in mutants)
    algorithms = len({f["algorithm"] for f in findings})
    failures = len(report.get("failures", []))
    tiles = [
        _tile(str(algorithms), "algorithms checked", "catalogue"),
        _tile(
            str(len(findings)),
            f"findings: {split}{f' ({expected} of the violated ones are expected)' if expected else ''}",
            "catalogue",
            f'<span class="stack" aria-hidden="true">{stack}</span>',
        ),
        _tile(f"{killed} of {len(mutants)}", "deliberately broken copies caught", "mutants", bad=killed < len(mutants)),
        _tile(
            f"{len(refuted)} of {len(claims)}",
            "published privacy claims of P0 to P3 refuted",
            "refuted" if refuted else "claims",
        ),
    ]
    if report["errata"]:
        tiles.append(_tile(str(len(report["errata"])), "errata, their evidence recomputed", "errata"))
    others = (report.get("libraries") or {}).get("results", [])
    if others:
        violated = sum(row["verdict"] == "violated" for row in others)
        tiles.append(
            _tile(f"{violated} of {len(others)}", "settings of other libraries violate their claims (kept)", "libraries")
        )
    tiles.append(_tile(str(failures), "unexpected results", "summary", bad=failures > 0))
    return tiles


def _tile(value: str, words: str, target: str, more: str = "", *, bad: bool = False) -> str:
    kind, about = "tile bad" if bad else "tile", f'<span class="about">{html.escape(words)}</span>'
    return f'<a class="{kind}" href="#{target}"><b>{value}</b>{more}{about}</a>'


# --- words --------------------------------------------------------------------------------------------------------------

MEANINGS = {
    "violated": "Contradicted, by exact computation or by statistics at the stated confidence. A witness runs it again.",
    "consistent": "Not refuted at this effort. A search never proves anything.",
    "certified": "Proved by exact computation: the arithmetic of the privacy budget, noise scales against the published formulas.",
    "inconclusive": "What was found does not decide the claim, for example because a cited theorem's conditions do not hold.",
}

CHECKS = {
    "sensitivity": "One record was replaced by another: how far did the quantity move to which noise is added, as a share of what "
    "the algorithm says is possible? On neighbours made for the algorithm and structured ones.",
    "sensitivity search": "The same, on neighbours that a search made as bad as it could.",
    "release privacy": "The exact privacy of every single released value, against what is claimed for it.",
    "transcript": "The exact privacy of everything that is released, together.",
    "composition": "The same where many releases differ: δ at the claimed ε, bounded from below by sampling.",
    "closed": "Nothing that depends on the data leaves beside the recorded releases.",
    "ledger": "The budgets that the releases say they spend add up to no more than the claim, for every record.",
    "calibration": "The noise scales that were used are those of the published formulas.",
    "utility": "The error stays below the published bound, where that has explicit constants.",
    "accuracy": "A minimiser that was computed is as close to the exact one as the noise after it allows for.",
    "final iterate": "A black-box audit: what some hundred published outputs alone show, a lower bound of ε or ρ.",
    "amplified claim": "Claims that rest on hidden random orders or batches: δ computed over these, other records being alike.",
    "amplification conditions": "What the theorem that such a claim cites asks for.",
    "refutation": "A known counterexample still refutes the claim.",
}


def words(report: Json) -> str:
    """For a newcomer: what is checked, and what a verdict means."""
    rows = [[badge(status), html.escape(meaning)] for status, meaning in MEANINGS.items()]
    used = {f["check"].split(",")[0] for f in report["findings"]}
    checks = "".join(f"<dt>{html.escape(n)}</dt><dd>{html.escape(w)}</dd>" for n, w in CHECKS.items() if n in used)
    papers = "".join(f"<dt>{name}</dt><dd>{html.escape(title)}</dd>" for name, title in PAPERS.items())
    return section(
        "words",
        "How to read this page",
        "<p>A differentially private algorithm adds noise, so that its output hardly depends on any single person's "
        "record. Its paper claims how little: replacing one record changes the probability of any outcome by a factor of "
        "at most e<sup>ε</sup> (plus a small δ). Such claims are easy to get wrong. Here every algorithm was run on pairs "
        "of data sets that differ in one record, <em>neighbours</em>, chosen to be as bad as possible, and the laws of "
        "what it releases were compared exactly. Every finding asks: is what was found at most what is claimed?</p>",
        table(["word", "what it means"], rows),
        f"<p>A bar shows what was found as a multiple of what is claimed: {_sample_bar()} the tick is the claim, and what "
        "passes it breaks the claim. Noise is idealised as continuous; attacks on the low bits of floating-point numbers "
        "are out of scope.</p>",
        unfold("What each check does", f"<dl>{checks}</dl>") if checks else "",
        unfold("Which papers P0 to P4 are", f"<dl>{papers}</dl>"),
        unfold(
            "What a privacy-loss histogram shows",
            "<p>The <em>privacy loss</em> of an outcome is the logarithm of how much more probable it is on the one data "
            "set than on its neighbour. A pure ε-DP claim says that it never exceeds ε; an (ε, δ) claim that it seldom "
            "does, so seldom that δ(ε) = E[(1 − e<sup>ε − loss</sup>)₊] is at most δ; a ρ-zCDP or μ-GDP claim bounds its "
            "whole law by that of a Gaussian release, N(ρ, 2ρ) or N(μ²/2, μ²). A histogram illustrates; the verdict comes "
            "from the exact computation beside it.</p>",
        ),
    )


def _sample_bar() -> str:
    return '<span class="bar" role="img" aria-label="an example"><i style="width:60%"></i></span>'


# --- the end ------------------------------------------------------------------------------------------------------------


def made(report: Json) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in report.get("versions", {}).items())
    files = (
        f"<p>Beside this page: {code('report.json')} with everything shown here, {code('witnesses/')} with a file for "
        f"every counterexample and every caught copy, {code('timings.json')}. Commands that name {code('witnesses/')} run "
        f"in this folder. {code('tailproof report .')} makes this page again from report.json.</p>"
    )
    return section(
        "made",
        "How this was made",
        run(replay.everything(report)),
        "<p>Random numbers depend on the seed and on the name of the task alone, so the same versions on the same machine "
        "give the same report, whatever the number of workers.</p>",
        f"<p>{html.escape(versions)}</p>" if versions else "",
        files,
        f"<p class='soft'>{html.escape(report.get('summary', ''))}</p>",
    )
