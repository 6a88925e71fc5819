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
    return f"{value:.4g}" if isinstance(value, float) else "–" if value is None else str(value)


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


CLAIM_AT = 75.0  # per cent of a bar's length at which what is claimed stands


def bar(share: float | None, *, bad: bool = False, caption: str = "of what is claimed") -> str:
    """Found against claimed: the tick is the claim, what goes beyond it is pressed into the last quarter."""
    if share is None:
        return ""
    length = CLAIM_AT * share if share <= 1 else 100 - (100 - CLAIM_AT) / share
    shown = multiple(share)
    return (
        f'<span class="whole"><span class="bar{" bad" if bad else ""}" role="img" aria-label="{shown} {html.escape(caption)}">'
        f'<i style="width:{max(0.0, length):.1f}%"></i></span> <span class="ratio">{shown}×</span></span>'
    )


def multiple(share: float) -> str:
    """Three digits, more of them just above 1: that a claim is passed should be seen."""
    if math.isinf(share):
        return "∞"
    return f"{share:.6g}" if 1 + 1e-9 < share < 1.005 else f"{share:.3g}".replace("e+0", "e").replace("e+", "e")


def code(command: str) -> str:
    return f"<code>{html.escape(command)}</code>"


def run(command: str) -> str:
    """A command to copy: a click selects all of it."""
    return f'<code class="run">{html.escape(command)}</code>'


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


def figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def raw(value: Any) -> str:
    """JSON, as compact as it gets."""
    return f'<pre tabindex="0">{html.escape(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")))}</pre>'


def pairs(values: dict[str, Any]) -> str:
    """Names and values on one line."""
    return ", ".join(f"{html.escape(name)} = {text(_short(value))}" for name, value in values.items())


def _short(value: Any) -> Any:
    return value if isinstance(value, float) else re.sub(r"\d+\.\d{6,}", lambda m: f"{float(m[0]):.6g}", str(value))


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
