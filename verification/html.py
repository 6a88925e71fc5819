"""A page of tables on its own, in the report's style: what the atlas is made of.

The report's page is `tailproof.verification.page`.
"""

from __future__ import annotations

import html
from importlib import resources
from typing import Any

STYLE = resources.files("tailproof.verification.page").joinpath("style.css")


def text(value: Any) -> str:
    if isinstance(value, float):
        return html.escape(f"{value:.6g}")
    return html.escape("–" if value is None else str(value))


def grid(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def shell(title: str, contents: str, body: str, style: str = "") -> str:
    """A page on its own, its contents beside it where there is room: nothing is fetched."""
    report = STYLE.read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f'<link rel="icon" href="data:,"><style>{report}{style}</style></head><body><div class="frame">'
        f'<nav aria-label="Contents"><details open><summary>Contents</summary>{contents}</details></nav><main>{body}</main></div>'
        "</body></html>"
    )
