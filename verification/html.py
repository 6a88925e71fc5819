"""report.html: one self-contained page, readable in a minute, light and dark, also on a phone."""

from __future__ import annotations

import base64
import html
import json
from typing import Any

from verification import sandwich, sweep_runs

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


def _bar(measured: Any, bound: Any) -> str:
    """Attained against claimed, as a bar that is full at the claim."""
    if not isinstance(measured, int | float) or not isinstance(bound, int | float) or bound <= 0:
        return ""
    share = min(1.0, measured / bound)
    return f'<span class="bar" title="{measured / bound:.3g} of the bound"><i style="width:{100 * share:.1f}%"></i></span>'


def _status(word: str) -> str:
    return f'<span class="{word}">{word}</span>'


def _witness(witness: Any) -> str:
    if witness is None:
        return ""
    return f"<details><summary>witness</summary><pre>{html.escape(json.dumps(witness))}</pre></details>"


def _second_stage_section(found: dict[str, list[dict[str, Any]]] | None) -> str:
    if found is None:
        return ""
    bias = [
        [
            text(row["loss"]),
            text(row["n"]),
            *(text(row[key]) for key in ("lemma", "before", "after_A", "after_B")),
            text(f"{row['after_A'] / row['before']:.4f}, {row['after_B'] / row['before']:.4f}"),
        ]
        for row in found["bias"]
    ]
    solvers = ("single", "double, reading A", "double, reading B")
    distance = [
        [
            *(text(row[key]) for key in ("n", "d", "epsilon")),
            *(f"{row[name][0]:.4f} ± {row[name][1]:.4f}" for name in solvers),
            text(f"{row[solvers[1]][0] / row['single'][0]:.2f}, {row[solvers[2]][0] / row['single'][0]:.2f}"),
        ]
        for row in found["distance"]
    ]
    return (
        "<h2>What the second stage of P4 gains</h2><p>P4 spends half of ε to find a small set around the minimiser and minimises "
        "again inside it, so that clipping has a smaller bias there. First table: the distance between the minimisers with and "
        "without clipping, on data made to have a large one, before and after the second stage (A: the extension's infimum over W, "
        "B: over the small set); a ratio of 1 means that nothing was gained. Our lemma bounds the distance without any "
        "localisation.</p>"
        + grid(["loss", "n", "lemma", "before", "after, A", "after, B", "after / before: A, B"], bias)
        + "<p>Second table: mean distance of the released point from the minimiser without clipping, at equal ε, clipping and "
        "regularisation, with 95 % intervals; the second stage pays for the first with noise twice as long.</p>"
        + grid(["n", "d", "ε", *solvers, "double / single: A, B"], distance)
    )


def _picture(svg: bytes, name: str) -> str:
    data = base64.b64encode(svg).decode()
    image = f'<img alt="{html.escape(name)}" style="width:30rem;max-width:90vw" src="data:image/svg+xml;base64,{data}">'
    return f"<details><summary>plot</summary>{image}</details>"


def _sweep_section(results: list[dict[str, Any]]) -> str:
    if not results:
        return ""
    rows = [
        [*(text(cell) for cell in row), _picture(sweep_runs.plot(result), f"{row[0]} along {row[3]}")]
        for row, result in zip(sweep_runs.section(results), results, strict=True)
    ]
    return (
        "<h2>Measured risk against the theorems' rates</h2><p>Rates have no constants, so what is checked is whether measured / "
        "rate grows as n or d grows or ε falls: its slope has one-sided 99 % limits. A value counts where the measured risk is at "
        "most half of that of the starting point. “Theory” are the theorem's own parameters; “tuned” ones have the same privacy "
        "and no theorem. Where the ratio grows, or the noise leaves nothing to see, the reason stands beside it.</p>"
        + grid(["statement", "algorithm", "problem", "along", "measured / rate", "slopes and reason", ""], rows)
    )


def _sandwich_section(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    return (
        "<h2>Between lower and upper bounds</h2><p>Algorithms on the hard instances of the lower bounds, members taking turns. A "
        "private algorithm cannot have a smaller error than the lower bound says: if one does, its claim or the bound is wrong. "
        "“Failures” are runs whose error reaches the lower bound, beside the share that privacy makes unavoidable. Explicit upper "
        "bounds hold with the same probability; fitted ones are a theorem's rate through what was measured at a quarter of the "
        f"records. All tests together raise a false alarm with probability at most {sandwich.FALSE_ALARM:g}.</p>"
        + _picture(sandwich.plot(rows), "lower bounds, measured intervals and upper bounds")
        + grid(sandwich.HEADER, [[text(cell) for cell in sandwich.cells(row)] for row in rows])
    )


def _agreement_section(checked: list[dict[str, Any]], differing: list[list[str]]) -> str:
    if not checked:
        return ""
    return (
        f"<h2>Print against derivation</h2><p>{len(checked)} statements have a printed and a derived rate; in these the two differ "
        "by more than constants and hidden logarithms.</p>"
        + grid(["id", "label", "printed", "derived", "verdict", "errata"], differing)
    )


def page(report: dict[str, Any], claims: str = "") -> str:
    """`claims` is the section on published privacy claims."""
    findings = [
        [
            text(f["algorithm"]),
            text(f["check"]),
            _status(f["status"]) + (" (expected)" if f["expected"] else ""),
            text(f["measured"]),
            text(f["bound"]),
            _bar(f["measured"], f["bound"]),
            f'<span title="{html.escape(f["setting"])}">{text(f["detail"])}</span>' + _witness(f["witness"]),
        ]
        for f in report["findings"]
    ]
    mutants = [
        [
            text(m["algorithm"]),
            text(m["name"]),
            text(m["kind"]),
            _status("killed" if m["killed_by"] else "alive"),
            text(", ".join(m["killed_by"])),
            _witness(m["witness"]),
        ]
        for m in report["mutants"]
    ]
    left_out = [[text(m["algorithm"]), text(m["name"]), text(m["reason"])] for m in report["inapplicable"]]
    statements = [
        [
            text(s["id"]),
            text(s["place"]),
            _status(s["status"]),
            text(s["measured"]),
            text(s["cases"]),
            text(s["detail"]),
        ]
        for s in report["statements"]
    ]
    comparisons = [
        [
            text(c["id"]),
            text(c["place"]),
            text(c["says"]),
            text(c["claim"]),
            text(", ".join(c["where"])),
            text("holds" if c["holds"] else "does not hold"),
        ]
        for c in report["comparisons"]
    ]
    agreements = [
        [
            text(a["id"]),
            text(a["label"]),
            text(a["printed"]),
            text(a["derived"]),
            text(a["verdict"]),
            text(", ".join(a["errata"])),
        ]
        for a in report["agreements"]
        if not a["verdict"].startswith("same")
    ]
    errata = [
        [text(e["id"]), text(e["place"]), text(e["kind"]), text(e["printed"]), text(e["found"])] for e in report["errata"]
    ]
    summary = html.escape(report["summary"])
    parts = [
        f"<h1>Tailproof report</h1><p>{summary}</p>",
        "<p>“Consistent” means not refuted at this effort, “certified” proved by exact computation. A search never certifies, "
        "and no line here says that an algorithm is private. Laws are those of continuous noise; floating-point noise is "
        "idealised. Replay a counterexample with <code>tailproof replay witnesses/FILE.json</code>, beside this page.</p>",
        claims,
        "<h2>Findings</h2>",
        grid(["algorithm", "check", "status", "measured", "bound", "of the bound", "what"], findings),
        "<h2>Mutants</h2><p>Deliberately broken copies; every one must be killed by a check of its class.</p>",
        grid(["algorithm", "mutant", "class", "verdict", "killed by", ""], mutants),
        "<h3>Not applicable</h3>",
        grid(["algorithm", "mutant", "reason"], left_out),
        _second_stage_section(report["second_stage"]),
        _sweep_section(report["sweeps"]),
        _sandwich_section(report["sandwich"]),
        "<h2>Explicit-constant statements</h2><p>Largest measured / bound over the cases tried.</p>",
        grid(["id", "place", "status", "ratio", "cases", "what"], statements),
        "<h2>Comparisons of rates</h2><p>What the papers say of their rates, each decided with a certificate or a path.</p>",
        grid(["id", "place", "says", "claim", "where", "verdict"], comparisons),
        _agreement_section(report["agreements"], agreements),
        "<h2>Errata</h2>",
        grid(["id", "place", "kind", "printed", "found"], errata),
    ]
    return shell("Tailproof report", "".join(parts))


def shell(title: str, body: str, style: str = "") -> str:
    """A page on its own: nothing is fetched."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}{style}</style></head><body>{body}</body></html>"
    )
