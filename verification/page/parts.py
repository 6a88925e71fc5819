"""The small pieces of the report's page: escaped text, badges, bars, tables that turn into cards, commands, things to unfold."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

MARKS = {"violated": "✕", "consistent": "○", "certified": "✓", "inconclusive": "?", "skipped": "–"}
WORSE = ("violated", "inconclusive", "skipped", "consistent", "certified")
"""Statuses, the ones first that a reader should see."""


def text(value: Any) -> str:
    """Escaped, a number with four digits."""
    return html.escape(number(value) if isinstance(value, float) else "–" if value is None else str(value))


def number(value: Any) -> str:
    """Also of the infinities that JSON holds as text."""
    if value in ("inf", math.inf):
        return "∞"
    return tidy(f"{value:.4g}") if isinstance(value, float) else "–" if value is None else str(value)


def tidy(shown: str) -> str:
    """1e+05 as 1e5, 1e-05 as 1e-5."""
    return re.sub(r"e([+-])0*(\d)", lambda m: f"e{m[1].strip('+')}{m[2]}", shown)


def slug(*names: Any) -> str:
    """An anchor's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(map(str, names))).strip("-")


def badge(status: str, words: str | None = None) -> str:
    """A mark and a word: colour alone says nothing to many readers."""
    mark = MARKS.get(status, "")
    return f'<span class="badge {html.escape(status)}">{mark} {html.escape(words or status)}</span>'


def ratio(measured: Any, bound: Any) -> float | None:
    """Found as a multiple of what is claimed; None where there is none."""
    try:
        first, second = float(measured), float(bound)
    except (TypeError, ValueError):
        return None
    if math.isnan(first) or math.isnan(second) or second <= 0:
        return None
    return first / second


LEAST, MOST = -1, 3  # powers of ten at the ends of a bar's axis
WIDTH, MIDDLE = 150.0, 9.0  # of a bar in its own units, and the height of its line
LABELLED = {1.0: "1×", 10.0: "10×", 100.0: "100×"}


def at(share: float) -> float:
    """Where a multiple of what is claimed stands on a bar's axis, which is logarithmic; what lies beyond its ends stands there."""
    power = MOST if math.isinf(share) else math.log10(share) if share > 0 else LEAST
    return 6 + (WIDTH - 20) * (min(max(power, LEAST), MOST) - LEAST) / (MOST - LEAST)


def axis() -> str:
    """The ticks and labels that all bars share: once on a page that has bars."""
    ticks = "".join(
        f'<line x1="{at(10.0**i):.1f}" y1="{3 if i == 0 else 6}" x2="{at(10.0**i):.1f}" y2="{15 if i == 0 else 12}" '
        f'class="{"one" if i == 0 else "tick"}"/>'
        for i in range(LEAST, MOST + 1)
    )
    labels = "".join(
        f'<text x="{at(tick):.1f}" y="25" text-anchor="middle">{words}</text>' for tick, words in LABELLED.items()
    )
    line = f'<line x1="{at(0.0):.1f}" y1="{MIDDLE}" x2="{at(math.inf):.1f}" y2="{MIDDLE}" class="tick"/>'
    drawn = f'<symbol id="axis" viewBox="0 0 {WIDTH:g} 28">{line}{ticks}{labels}</symbol>'
    return f'<svg class="symbols" aria-hidden="true">{drawn}</svg>'


def bar(share: float | None, *, bad: bool = False, caption: str = "of what is claimed") -> str:
    """Found as a multiple of what is claimed, on a log axis: a line from the claim, 1×, to a dot.  An arrow points at what lies
    beyond the axis, and nothing but the infinite has its sign at the end."""
    if share is None:
        return ""
    shown, x = multiple(share), at(share)
    if math.isinf(share):
        end = f'<text x="{x + 2:.1f}" y="{MIDDLE + 4.5:g}" class="end">∞</text>'
    elif share > 10.0**MOST:
        end = f'<path d="M{x:.1f} {MIDDLE - 4:g} l7 4 l-7 4 z"/>'
    elif share < 10.0**LEAST:
        end = f'<path d="M{x:.1f} {MIDDLE - 4:g} l-6 4 l6 4 z"/>'
    else:
        end = f'<circle cx="{x:.1f}" cy="{MIDDLE:g}" r="3.5"/>'
    stem = f'<line x1="{at(1.0):.1f}" y1="{MIDDLE:g}" x2="{x:.1f}" y2="{MIDDLE:g}" class="stem"/>'
    return (
        f'<span class="whole"><svg class="bar{" bad" if bad else ""}" viewBox="0 0 {WIDTH:g} 28" role="img" '
        f'aria-label="{shown}× {html.escape(caption)}"><use href="#axis"/>{stem}{end}</svg> '
        f'<span class="ratio">{shown}×</span></span>'
    )


def apart(measured: Any, bound: Any) -> tuple[str, str]:
    """Both numbers with four digits, or with as many more as it takes to tell them apart."""
    if not (isinstance(measured, float) and isinstance(bound, float)) or measured == bound:
        return number(measured), number(bound)
    for digits in range(4, 18):
        first, second = tidy(f"{measured:.{digits}g}"), tidy(f"{bound:.{digits}g}")
        if first != second:
            break
    return first, second


def multiple(share: float) -> str:
    """Three digits, more of them just above 1: that a claim is passed should be seen."""
    if math.isinf(share):
        return "∞"
    return f"{share:.6g}" if 1 + 1e-9 < share < 1.005 else tidy(f"{share:.3g}")


def code(command: str) -> str:
    return f"<code>{html.escape(command)}</code>"


def run(command: str) -> str:
    """A command to copy: a click selects all of it, and the page's script adds a button."""
    return f'<span class="command"><code class="run">{html.escape(command)}</code></span>'


def permalink(name: str, what: str) -> str:
    """A visible link from an entry to itself, to copy and send."""
    return f'<a class="permalink" href="#{name}" aria-label="Link to {html.escape(what)}" title="Link to {html.escape(what)}">#</a>'


def unfold(
    summary: str, body: str, *, name: str = "", open_: bool = False, kind: str = "", item: bool = False, group: bool = False
) -> str:
    """Something collapsed; `summary` and `body` are HTML.  An `item` can be found by the filter, a `group` has such items."""
    attributes = "".join(
        f" {key}" if value is True else f' {key}="{html.escape(str(value))}"'
        for key, value in (("id", name), ("class", kind), ("open", open_), ("data-item", item), ("data-group", group))
        if value
    )
    return f'<details{attributes}><summary>{summary}</summary><div class="inside">{body}</div></details>'


def table(header: Sequence[str], rows: Iterable[Sequence[str] | tuple[str, Sequence[str]]], *, items: bool = False) -> str:
    """Cells are HTML.  On a narrow screen every row becomes a card with the columns' names; a row may be (anchor, cells)."""
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    marked = " data-item" if items else ""
    lines = []
    for row in rows:
        anchor, cells = row if isinstance(row, tuple) else ("", row)
        name = f' id="{html.escape(anchor)}"' if anchor else ""
        body = "".join(
            f'<td data-label="{html.escape(label.partition("<")[0])}">{cell}</td>'
            for label, cell in zip(header, cells, strict=True)
        )
        lines.append(f"<tr{name}{marked}>{body}</tr>")
    return f'<table class="cards"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def numbers(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of numbers to be read across: on a narrow screen it scrolls in its own box."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    box = f'<div class="scroll" role="region" tabindex="0" aria-label="{html.escape(title)}">'
    return f"{box}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def reconstructed(entry: dict[str, Any]) -> str:
    """A mark at what is about a formula that was restored: the head says what that means."""
    return ' <a class="restored" href="#papers">reconstructed</a>' if entry.get("reconstructed") else ""


def figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def raw(value: Any) -> str:
    """JSON, as compact as it gets."""
    return f'<pre tabindex="0">{html.escape(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")))}</pre>'


def pairs(values: dict[str, Any]) -> str:
    """Names and values on one line; what is measured and its bound can be told apart."""
    shown = {name: _short(value) for name, value in values.items()}
    for bound in ("bound", "allowed"):
        if "measured" in values and bound in values:
            shown["measured"], shown[bound] = apart(values["measured"], values[bound])
    return ", ".join(f"{html.escape(name)} = {html.escape(str(value))}" for name, value in shown.items())


def _short(value: Any) -> Any:
    return (
        tidy(f"{value:.6g}")
        if isinstance(value, float)
        else re.sub(r"\d+\.\d{6,}", lambda m: f"{float(m[0]):.6g}", str(value))
    )


def section(name: str, title: str, *body: str, count: str = "") -> str:
    """A chapter with an anchor."""
    shown = f' <span class="count">{html.escape(count)}</span>' if count else ""
    return f'<section id="{name}"><h2><a href="#{name}">{html.escape(title)}</a>{shown}</h2>{"".join(body)}</section>'


def link_errata(words: str, known: Iterable[str]) -> str:
    """Escaped text in which the ids of errata lead to them."""
    ids = set(known)

    def link(match: re.Match[str]) -> str:
        name = html.unescape(match[0])
        return f'<a href="#{slug("erratum", name)}">{match[0]}</a>' if name in ids else match[0]

    return re.sub(r"P\d\.[\w.()]*[\w)]", link, html.escape(words))
