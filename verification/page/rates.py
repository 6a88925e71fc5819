"""Measurements on the page: rates along n, d, ε; errors between lower and upper bounds; what P4's second stage gains."""

from __future__ import annotations

from typing import Any

from tailproof.verification import sandwich, sweep_runs
from tailproof.verification.page import plots, replay
from tailproof.verification.page.parts import badge, figure, numbers, run, section, slug, table, text, unfold

Json = dict[str, Any]


def sweeps(report: Json) -> str:
    results = report["sweeps"]
    if not results:
        return ""
    figures = "".join(_sweep(result, report.get("seed", 0)) for result in results)
    return section(
        "rates",
        "Measured risk against the theorems' rates",
        "<p>A rate has no constants, so no single measurement can exceed it. Tailproof checks whether measured / rate "
        "<em>grows</em> as the problem gets larger. “Theory” uses the theorem's own parameters. “Tuned” parameters have the same "
        "privacy claim but no theorem.</p>",
        _legend(report),
        f'<div class="figures">{figures}</div>',
        ""
        if report.get("preset") == "full"
        else f"<p>This command lists all sweeps; the full preset runs them: {run('tailproof sweep')}</p>",
        count=str(len(results)),
    )


def _legend(report: Json) -> str:
    thin = "" if report.get("preset") == "full" else " The quick preset measures few points with few runs: thin evidence."
    return (
        f"<p>{badge('consistent', 'measured / rate falls')} The error shrinks at least as fast as the rate: fine. "
        f"{badge('consistent', 'measured / rate level')} It shrinks as fast: fine. "
        f"{badge('inconclusive', 'measured / rate grows')} It shrinks more slowly; the reason is given. "
        f"{badge('inconclusive', 'noise hides it')} Noise swamps the error at every size that can be run.{thin}</p>"
    )


VERDICTS = {
    "falls": "consistent",
    "level": "consistent",
    "shown": "consistent",
    "grows": "inconclusive",
    "saturated": "inconclusive",
}


def _sweep(result: Json, seed: int) -> str:
    [row] = sweep_runs.section([result])
    name = f"{row[0]}, {row[1]}: {row[2]}"
    fixed = ", ".join(f"{letter} = {value:g}" for letter, value in result["values"].items())
    saturated = any(point["of_start"] > 0.5 for point in result["points"])
    hollow = "; hollow: more than half of the starting point's risk, not counted" if saturated else ""
    caption = (
        f"Dots: measured excess risk, {result['runs']} runs at each value of {text(result['over'])}, with 95 % bootstrap "
        "intervals"
        f"{hollow}. "
        "Dashed: the theorem's rate, scaled to pass through the first value that counts, so that only slopes compare. "
        f"{text(fixed)}. Limits on slopes are one-sided, at 99 %: {text(row[5])}"
    )
    verdict = {"shown": "slopes only", "saturated": "noise hides it"}.get(
        result["verdict"], f"measured / rate {result['verdict']}"
    )
    anchor = slug("sweep", row[0], row[1], row[2], row[3])
    title = f"<h3>{text(name)} {badge(VERDICTS[result['verdict']], verdict)}</h3>"
    plot = plots.rate(result, f"Excess risk over {result['over']}, {name}")
    again = unfold("run it again", run(replay.sweep(result, seed)))
    return f'<div id="{anchor}" data-item>{title}{figure(plot, caption)}{again}</div>'


# --- between lower and upper bounds -----------------------------------------------------------------------------------------


def between(report: Json) -> str:
    rows = report["sandwich"]
    if not rows:
        return _not_measured(report)
    span = plots.strip_range(rows)
    header = ["algorithm on instance", f"in units of the lower bound{plots.strip_axis(span)}", "numbers", "verdict"]
    return section(
        "between",
        "Between lower and upper bounds",
        "<p>Privacy has a price: on hard instances no algorithm that keeps its claim can beat the lower bound. One that does "
        "breaks its claim, or the bound is wrong. Red line: the lower bound. Dot and whisker: the measured statistic with its "
        "95 % interval. Blue line: the algorithm's explicit upper bound; dashed where it is a theorem's rate, fitted to runs with "
        "a quarter of the records. The chance of any false alarm in this table is at most "
        f"{sandwich.FALSE_ALARM:g}.</p>",
        table(header, [_pair(row, span) for row in rows], items=True),
        count=f"{len(rows)} pairs",
    )


def _not_measured(report: Json) -> str:
    if report.get("only") or report.get("preset") == "full" or not report.get("preset"):
        return ""
    return section(
        "between",
        "Between lower and upper bounds",
        "<p>Not measured by the quick preset. A minute or two measures all pairs of algorithms and hard instances:</p>",
        run("tailproof sandwich --plot sandwich.svg"),
    )


def _pair(row: Json, span: tuple[float, float]) -> tuple[str, list[str]]:
    low, high = row["interval"]
    upper = "no upper bound" if row["upper"] is None else f"{text(row['upper'])} ({text(row['upper_is'])})"
    share = (
        ""
        if row["share"] is None
        else f" Runs that reach the lower bound: {row['share']:.3f}, unavoidable: {row['share_lower']:.3f}."
    )
    more = f"<p>The {text(row['statistic'])} of {row['runs']} runs with its 95 % interval.{share}</p>{run(replay.sandwich(row))}"
    bounds = f"<small class='soft'>lower {text(row['lower'])}, upper {upper}</small>"
    measured = f"{text(row['measured'])} [{text(low)}, {text(high)}]<br>{bounds}"
    cells = [
        f"{text(row['algorithm'])}<br><small class='soft'>{text(row['instance'])}<br>{text(row['claim'])}, n = "
        f"{row['n']}</small>",
        plots.strip(row, span),
        measured + unfold("more, and run it again", more),
        badge(row["verdict"]) + (f"<br>{text(row['detail'])}" if row["detail"] else ""),
    ]
    return slug("pair", row["algorithm"], row["instance"]), cells


# --- the second stage of P4 -------------------------------------------------------------------------------------------------


def second_stage(report: Json) -> str:
    found = report["second_stage"]
    if found is None:
        return ""
    bias = [
        [
            text(row["loss"]),
            text(row["n"]),
            *(text(row[key]) for key in ("lemma", "before", "after_A", "after_B")),
            f"{row['after_A'] / row['before']:.4f}, {row['after_B'] / row['before']:.4f}",
        ]
        for row in found["bias"]
    ]
    solvers = ("single", "double, reading A", "double, reading B")
    distance = [
        [
            *(text(row[key]) for key in ("n", "d", "epsilon")),
            *(f"{row[name][0]:.4f} ± {row[name][1]:.4f}" for name in solvers),
            f"{row[solvers[1]][0] / row['single'][0]:.2f}, {row[solvers[2]][0] / row['single'][0]:.2f}",
        ]
        for row in found["distance"]
    ]
    return section(
        "second-stage",
        "What the second stage of P4 gains",
        "<p>P4 spends half of ε to find a small set around the minimiser and minimises again inside it, so that clipping "
        "has a smaller bias there. First table: the distance between the minimisers with and without clipping, on data "
        "made to have a large one, before and after the second stage (A: the extension's infimum over W, B: over the "
        "small set); a ratio of 1 means that nothing was gained. Our lemma bounds the distance without any "
        "localisation.</p>",
        numbers("bias", ["loss", "n", "lemma", "before", "after, A", "after, B", "after / before: A, B"], bias),
        "<p>Second table: mean distance of the released point from the minimiser without clipping, at equal ε, clipping and "
        "regularisation, with 95 % intervals. Because ε is split in two, each stage needs twice the noise.</p>",
        numbers("distances", ["n", "d", "ε", *solvers, "double / single: A, B"], distance),
    )
