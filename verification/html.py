"""A plain page of tables on its own, light and dark: what the atlas is made of.

The report's page is `tailproof.verification.page`.
"""

from __future__ import annotations

import html
from typing import Any

STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #c62828; --good: #2e7d32; --open: #b26a00; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.2rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
.violated, .alive { color: var(--bad); font-weight: 600; } .certified, .killed { color: var(--good); }
.inconclusive, .skipped { color: var(--open); }
.bar { background: #8883; width: 8rem; height: .7rem; border-radius: .35rem; overflow: hidden; display: inline-block; }
.bar i { display: block; height: 100%; background: currentColor; }
details pre { max-height: 20rem; overflow: auto; font-size: .8rem; }
"""


def text(value: Any) -> str:
    if isinstance(value, float):
        return html.escape(f"{value:.6g}")
    return html.escape("–" if value is None else str(value))


def grid(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def shell(title: str, body: str, style: str = "") -> str:
    """A page on its own: nothing is fetched."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}{style}</style></head><body>{body}</body></html>"
    )
