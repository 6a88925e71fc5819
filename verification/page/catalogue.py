"""The catalogue on the page: one line per algorithm, unfolding to its findings; and the deliberately broken copies."""

from __future__ import annotations

import html
from collections import Counter
from typing import Any

from tailproof.verification.page import plots, replay
from tailproof.verification.page.parts import (
    MARKS,
    WORSE,
    apart,
    badge,
    bar,
    figure,
    link_errata,
    ratio,
    raw,
    run,
    section,
    slug,
    table,
    text,
    unfold,
)

Json = dict[str, Any]

YES_OR_NO = ("closed", "calibration", "ledger", "amplification conditions")  # a bar would say nothing
WITNESS_SHOWN = 6000  # characters; larger ones are in their files only
LONG = 90  # characters of a setting that are shown unfolded


# --- privacy losses -------------------------------------------------------------------------------------------------------


def loss_figure(finding: Json) -> str:
    losses = finding.get("losses")
    if not losses:
        return ""
    title = f"Share of outcomes with a privacy loss above t, {finding['algorithm']}, {losses['claim']}"
    return figure(plots.exceedance(losses, title), loss_caption(finding))


def loss_caption(finding: Json) -> str:
    """What is drawn, from how many draws, and against which claim; then the check's own numbers, on which the verdict rests."""
    losses = finding["losses"]
    pair = "the worst of the given pairs" if finding["check"] == "transcript" else "a given pair"
    drawn = "computed exactly" if losses["draws"] is None else f"{losses['draws']} draws"
    shown = (
        f"{text(finding['algorithm'])}: share of outcomes whose privacy loss exceeds t, for {text(losses['of'])} on {pair} "
        f"({drawn}). "
        f"Dashed: the most that {text(losses['claim'])} allows. "
    )
    if losses["infinite"]:
        shown += f"A share of {text(losses['infinite'])} has an infinite loss. "
    return shown + found_of_claimed(finding)


def found_of_claimed(finding: Json) -> str:
    """The check's own numbers."""
    found, claimed = apart(finding["measured"], finding["bound"])
    return f"The check “{text(finding['check'])}” found <b>{found}</b>, allowed {claimed}: {text(finding['detail'])}."


def _loss_figures(findings: list[Json]) -> str:
    """The worst one and every violated one in front, the others folded."""
    with_losses = [f for f in findings if f.get("losses")]
    if not with_losses:
        return ""
    ordered = sorted(with_losses, key=lambda f: (f["status"] != "violated", -(ratio(f["measured"], f["bound"]) or 0.0)))
    front = [f for f in ordered if f["status"] == "violated"][:1]
    front += [f for f in ordered if f["status"] != "violated"][:1]
    rest = [f for f in ordered if all(f is not other for other in front)]
    shown = f'<div class="figures">{"".join(map(loss_figure, front))}</div>'
    if rest:
        more = f'<div class="figures">{"".join(map(loss_figure, rest))}</div>'
        shown += unfold(f"{len(rest)} more picture{'s' if len(rest) > 1 else ''}: other settings and directions", more)
    return shown


# --- algorithms -----------------------------------------------------------------------------------------------------------


def algorithms(report: Json) -> str:
    groups: dict[str, list[tuple[int, Json]]] = {}
    for at, finding in enumerate(report["findings"]):
        groups.setdefault(finding["algorithm"], []).append((at, finding))
    if not groups:
        return ""
    names, _ = replay.witness_names(report)
    known = {a["id"]: a for a in report.get("algorithms", [])}
    errata = {e["id"] for e in report["errata"]}
    rows = "".join(_algorithm(i, group, known.get(i, {}), names, errata, report) for i, group in groups.items())
    head = "".join(
        f"<span>{h}</span>" for h in ("id", "algorithm", "published claim", "worst verdict of each check", "sensitivity")
    )
    return section(
        "catalogue",
        "The algorithms",
        "<p>Unfold a line for its checks, pictures, counterexamples and the command that runs it again. The bar is the largest "
        "sensitivity attained on any pair, as a multiple of the claimed one. At 1× the noise has no slack, and the search found "
        "the worst neighbours. This includes settings where the published claim is known to fail.</p>",
        f'<div class="algorithms-head" aria-hidden="true">{head}</div>{rows}',
        count=str(len(groups)),
    )


def _algorithm(
    identifier: str, group: list[tuple[int, Json]], about: Json, names: list[str | None], errata: set[str], report: Json
) -> str:
    findings = [finding for _, finding in group]
    checks: dict[str, str] = {}
    for f in findings:
        checks[f["check"]] = min((checks.get(f["check"], "certified"), f["status"]), key=WORSE.index)
    chips = "".join(
        f'<span class="chip {status}">{MARKS[status]} {html.escape(", ".join(n for n in checks if checks[n] == status))}</span>'
        for status in WORSE
        if status in checks.values()
    )
    moved = [ratio(f["measured"], f["bound"]) for f in findings if f["check"].startswith("sensitivity")]
    most = max((share for share in moved if share is not None), default=None)
    summary = (
        f"<b>{text(identifier)}</b> <span>{text(about.get('name', ''))}<small>{text(about.get('place', ''))}</small></span>"
        f"<span>{text(about.get('claim', ''))}</span> <span>{chips}</span>"
        f"<span>{bar(most, bad=most is not None and most > 1 + 1e-9)}</span>"
    )
    settings = list(dict.fromkeys(f["setting"] for f in findings))
    tables = "".join(
        _setting(s, [(at, f) for at, f in group if f["setting"] == s], index, len(settings), names, errata)
        for index, s in enumerate(settings, 1)
    )
    body = _loss_figures(findings) + tables + "<h4>Run all of it again</h4>" + run(replay.algorithm(identifier, report))
    return unfold(summary, body, name=slug(identifier), kind="algorithm", item=True)


def _setting(
    setting: str, group: list[tuple[int, Json]], index: int, count: int, names: list[str | None], errata: set[str]
) -> str:
    title = f"Setting {index} of {count}" if setting else "At no one setting"
    shown = f"{title}: <code>{html.escape(setting)}</code>"
    if len(setting) > LONG:
        shown = f"{title}: <code>{html.escape(setting[:LONG])} …</code>"
    head = f"<h4>{shown}</h4>" + (
        unfold("all its parameters", f"<pre>{html.escape(setting)}</pre>") if len(setting) > LONG else ""
    )
    rows = [(finding_anchor(f, at), _finding(f, names[at], errata, finding_anchor(f, at))) for at, f in group]
    return head + table(["check", "verdict", "found", "claimed", "found / claimed", "what"], rows)


def finding_anchor(finding: Json, at: int) -> str:
    return slug("finding", at, finding["algorithm"], finding["check"])


def _finding(f: Json, name: str | None, errata: set[str], anchor: str) -> list[str]:
    status = badge(f["status"]) + ("<br><small class='soft'>a known erratum</small>" if f["expected"] else "")
    share = None if f["check"] in YES_OR_NO else ratio(f["measured"], f["bound"])
    what = link_errata(f["detail"], errata)
    found, claimed = apart(f["measured"], f["bound"])
    if 0 < f["confidence"] < 1:
        what += f"; a true claim is called violated with probability at most {1 - f['confidence']:.0e}"
    if name:
        what += run(replay.witness(name))
    if f["witness"]:
        what += unfold("witness", witness_text(f["witness"], name))
    return [
        f'<a class="here" href="#{anchor}">{text(f["check"])}</a>',
        status,
        text(found),
        text(claimed),
        bar(share, bad=f["status"] == "violated"),
        what,
    ]


def witness_text(witness: Json, name: str | None) -> str:
    """A witness as it is in its file, if it is not too long to look at."""
    size = len(str(witness))
    if size > WITNESS_SHOWN and name:
        return f"<p>{size // 1000} kB, in <code>witnesses/{html.escape(name)}</code>.</p>"
    return raw(witness)


# --- mutants --------------------------------------------------------------------------------------------------------------

KINDS = {
    "privacy": "breaks privacy; a privacy check must catch it",
    "calibration": "uses another noise scale or budget than the published one; the comparison with the formula must catch it",
    "utility": "keeps the privacy but is less accurate; a bound on its error must catch it",
    "amplification": "hides its order or batches less well than claimed; a check over the hidden orders must catch it",
}


def mutants(report: Json) -> str:
    if not report["mutants"]:
        return ""
    _, names = replay.witness_names(report)
    groups: dict[str, list[tuple[Json, str | None]]] = {}
    for mutant, name in zip(report["mutants"], names, strict=True):
        groups.setdefault(mutant["algorithm"], []).append((mutant, name))
    killed = sum(bool(m["killed_by"]) for m in report["mutants"])
    by = Counter(check for m in report["mutants"] for check in m["killed_by"])
    kinds = "".join(f"<dt>{k}</dt><dd>{w}</dd>" for k, w in KINDS.items() if any(m["kind"] == k for m in report["mutants"]))
    left_out = [[text(m["algorithm"]), text(m["name"]), text(m["reason"])] for m in report["inapplicable"]]
    return section(
        "mutants",
        "Planted bugs",
        "<p>Who checks the checks? Each algorithm was copied with one bug put in, such as halved noise or skipped clipping. The "
        "same checks must notice. Each catch comes with a saved counterexample. Caught by: "
        f"{', '.join(f'{html.escape(check)} {count}' for check, count in by.most_common())}. Several checks may catch one bug.</p>",
        unfold("The kinds of bugs", f"<dl>{kinds}</dl>"),
        "".join(_mutants_of(identifier, group, report) for identifier, group in groups.items()),
        unfold(f"{len(left_out)} bugs that make no sense for an algorithm", table(["algorithm", "bug", "why"], left_out))
        if left_out
        else "",
        count=f"{killed} of {len(report['mutants'])} caught",
    )


def _mutants_of(identifier: str, group: list[tuple[Json, str | None]], report: Json) -> str:
    caught = sum(bool(m["killed_by"]) for m, _ in group)
    rows = [
        (
            slug("mutant", identifier, m["name"]),
            [
                text(m["name"]),
                text(m["kind"]),
                badge("certified", "caught") if m["killed_by"] else badge("violated", "not caught"),
                text(", ".join(m["killed_by"])),
                run(replay.witness(name) if name else replay.algorithm(identifier, report)),
            ],
        )
        for m, name in group
    ]
    status = "certified" if caught == len(group) else "violated"
    by = ", ".join(sorted({check for m, _ in group for check in m["killed_by"]}))
    count = f'<span class="{status}">{caught} of {len(group)} caught</span>'
    summary = f'<b>{text(identifier)}</b> {count} <span class="says">by {text(by)}</span>'
    return unfold(
        summary,
        table(["bug", "kind", "verdict", "caught by", "run it again"], rows),
        name=slug("mutants", identifier),
        kind="entry",
        item=True,
    )
