"""`tailproof sweep` and the report's sweeps: which case, over what, how it is shown."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tailproof.bounds.theorems import theorem
from tailproof.refimpl.validation import InputError, known, positive
from tailproof.verification import files, plotting
from tailproof.verification.shown import Shown, Table
from tailproof.verification.sweep_cases import CASES, UNMEASURED
from tailproof.verification.sweeps import (
    Case,
    Json,
    exceeded,
    gathered,
    overview,
    parts,
    points_of,
    sentence,
    sweep,
    unexplained,
)
from tailproof.verification.workers import Task, one_thread, workers_of

WHOLE = ("n", "d", "s")


def run_sweep(arguments: argparse.Namespace) -> tuple[int, Json, Shown]:
    """(exit code, JSON value, text); without an id, the list of what can be swept."""
    if arguments.id is None:
        return 0, {"cases": [_described(case) for case in CASES]}, _listed()
    case = chosen(arguments.id, problem=arguments.problem, preset=arguments.preset)
    over, grid = _grid(case, arguments.over)
    given = {} if arguments.epsilon is None else {"eps": positive("epsilon", arguments.epsilon)}
    for item in arguments.set:
        name, equals, text = item.partition("=")
        if not equals:
            raise InputError(f"set = {item!r}: must read NAME=VALUE, such as d=3")
        given[name] = _number(f"set {name}", text)
    for name in given:
        if name not in case.values or name == over:
            allowed = ", ".join(letter for letter in case.values if letter != over)
            raise InputError(f"{'epsilon' if name == 'eps' else name}: does not apply to {case.name}; it has {allowed}")
    case = replace(case, values={**case.values, **given})
    runs = case.runs if arguments.runs is None else arguments.runs
    if runs < 3:
        raise InputError(f"runs = {runs}: must be >= 3")
    statement = theorem(case.statement)
    if arguments.printed:
        statement = replace(statement, derived=None)
    workers = workers_of(arguments)
    with one_thread():
        result = sweep(
            case,
            over=over,
            grid=grid,
            runs=runs,
            seed=arguments.seed,
            workers=workers,
            statement=statement,
            logs=arguments.logs == "keep",
        )
    if arguments.plot is not None:
        try:
            drawn = plot(result, Path(arguments.plot).suffix.lstrip(".") or "svg")
        except ValueError as error:
            raise InputError(f"plot = {arguments.plot!r}: could not be drawn ({error})") from None
        files.write("plot", arguments.plot, drawn)
    return (1 if unexplained([result]) + exceeded([result]) else 0), result, overview(result)


def chosen(identifier: str, *, problem: str | None = None, preset: str | None = None) -> Case:
    """The first case of an algorithm or statement, on a problem whose name has this text."""
    names = {name for case in CASES for name in (case.algorithm, case.statement)}
    identifier = known("id", identifier, sorted({*names, *UNMEASURED}), "`tailproof sweep` lists all that can be swept")
    if identifier not in names:
        raise InputError(f"id = {identifier!r}: {UNMEASURED[identifier]}")
    found = [case for case in CASES if identifier in (case.algorithm, case.statement)]
    for case in found:
        if (problem is None or problem in case.problem) and (preset is None or preset == case.preset):
            return case
    allowed = "; ".join(f"{case.problem} ({case.preset})" for case in found)
    raise InputError(f"problem = {problem!r}, preset = {preset!r}: {identifier} has {allowed}")


def _grid(case: Case, text: str | None) -> tuple[str, tuple[float, ...]]:
    """`n=1000:100000:6` (equal ratios) or `d=1,2,4`; the case's own values of n if nothing is given."""
    if text is None:
        over = next(iter(case.grids))
        return over, case.grids[over]
    name, equals, rest = text.partition("=")
    if not equals:
        if name in case.grids:
            return name, case.grids[name]
        raise InputError(f"over = {text!r}: must be NAME=LOW:HIGH:COUNT, NAME=A,B,C, or one of {', '.join(case.grids)}")
    if ":" in rest:
        words = rest.split(":")
        if len(words) != 3 or not words[2].isdigit() or int(words[2]) < 3:
            raise InputError(f"over = {text!r}: must be NAME=LOW:HIGH:COUNT with a COUNT of at least 3")
        low, high = (_number(f"over {name}", word) for word in words[:2])
        if not low < high:
            raise InputError(f"over = {text!r}: is an empty range; LOW must be below HIGH")
        values = np.geomspace(low, high, int(words[2])).tolist()
    else:
        values = [_number(f"over {name}", word) for word in rest.split(",")]
    if name in WHOLE:
        values = [float(round(value)) for value in values]
    return name, tuple(values)


def _number(name: str, text: str) -> float:
    try:
        return positive(name, float(text))
    except ValueError:
        raise InputError(f"{name} = {text!r}: must be a number > 0") from None


def _described(case: Case) -> Json:
    about = {"statement": case.statement, "algorithm": case.algorithm, "problem": case.problem, "preset": case.preset}
    return {**about, "over": list(case.grids), "values": dict(case.values), "reason": case.reason}


def _listed() -> Shown:
    rows = [
        [
            c.statement,
            c.algorithm,
            c.problem,
            c.preset,
            ", ".join(c.grids),
            ", ".join(f"{k}={v:g}" for k, v in c.values.items()),
        ]
        for c in CASES
    ]
    rows += [[name, "–", "not run", "", "", reason] for name, reason in UNMEASURED.items()]
    return Table(rows, ["statement", "algorithm", "problem", "preset", "along", "defaults"])


# --------------------------------------------------------------------------------------------------------------- the report


def names(*, full: bool) -> list[tuple[str, str]]:
    """(case, letter) of the sweeps of a report: in the quick one those that take a second or two."""
    return [(case.name, over) for case in CASES for over in case.grids if full or (over == "n" and case.quick)]


def parts_of(name: str, over: str, seed: int, *, full: bool, cost: float = 1.0) -> list[Task]:
    case, grid, runs = _size(name, over, full=full)
    return parts(case, over=over, grid=grid, runs=runs, seed=seed, cost=cost)


def gathered_of(name: str, over: str, found: list[list[float]], seed: int, *, full: bool) -> Json:
    """What the parts gave, in their order."""
    case, grid, runs = _size(name, over, full=full)
    risks = [risk for part in found for risk in part]
    return gathered(case, risks, over=over, points=points_of(case, over=over, grid=grid), runs=runs, seed=seed)


def _size(name: str, over: str, *, full: bool) -> tuple[Case, tuple[float, ...], int]:
    case = next(case for case in CASES if case.name == name)
    return (case, case.grids[over], case.runs) if full else (case, case.quick, 20)


def failures(results: list[Json]) -> list[str]:
    """Along n, of the theorems' own parameters: a tuned preset has no theorem, and along d and ε an instance may be as easy at
    one end as it likes, so that only the slopes are shown.  And bounds with explicit constants that are exceeded, anywhere."""
    along_n = [result for result in results if result["preset"] == "theory" and result["over"] == "n"]
    return unexplained(along_n) + exceeded(results)


def section(results: list[Json]) -> list[list[str]]:
    """Rows of the report's table."""
    return [
        [r["statement"], r["algorithm"], f"{r['problem']} ({r['preset']})", r["over"], r["verdict"], sentence(r)]
        for r in results
    ]


TITLES = {
    "falls": "{algorithm} does better than the rate of {statement}",
    "level": "{algorithm} follows the rate of {statement}",
    "grows": "{algorithm} does worse than the rate of {statement} here",
    "saturated": "Noise hides the error of {algorithm} at these sizes",
    "shown": "{algorithm} beside the rate of {statement}",
}


def plot(result: Json, form: str = "svg") -> bytes:
    """Measured risk with its intervals, the rate through the first informative value, and what a bound with constants allows."""
    return plotting.drawn(lambda axes: _draw(axes, result), (6.4, 4.4), form)


def _draw(axes: Any, result: Json) -> None:
    rows = result["points"]
    x = [row["at"] for row in rows]
    y = [row["measured"] for row in rows]
    low = [max(0.0, row["measured"] - row["interval"][0]) for row in rows]
    high = [max(0.0, row["interval"][1] - row["measured"]) for row in rows]
    anchor = next((row for row in rows if row["of_start"] <= 0.5), rows[0])
    axes.set(xscale="log", yscale="log")
    uppers = [(row.get("explicit") or {}).get("upper") for row in rows]
    if all(uppers):
        axes.fill_between(
            x, uppers, 0, color=plotting.ALLOWED, lw=0, label="allowed: the theorem's bound with its constants"
        )
    slope = _slope(result["slope"])
    measured = f"measured, {result['runs']} runs, 95 %{f': slope {slope}' if slope else ''}"
    axes.errorbar(x, y, yerr=[low, high], fmt="o-", color=plotting.INK, ms=5, capsize=3, label=measured, zorder=3)
    hollow = [(row["at"], row["measured"]) for row in rows if row["of_start"] > 0.5]
    if hollow:
        label = "not counted: above half of the start's risk"
        axes.plot(*zip(*hollow, strict=True), "o", ms=5, mfc="white", color=plotting.INK, label=label, zorder=4)
    scaled = [row["bound"] * anchor["ratio"] for row in rows]
    rate = f"rate of {result['statement']}, scaled: slope {_signed(result['bound_slope'])}"
    axes.plot(x, scaled, "--", color=plotting.ACCENT, lw=2, label=rate)
    fixed = ", ".join(f"{name} = {value:g}" for name, value in result["values"].items())
    axes.set_title(title(result))
    axes.set(
        xlabel=f"{result['over']}    ({result['problem']}, {result['preset']} parameters; {fixed})", ylabel="excess risk"
    )
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.margins(x=0.06)
    bottom = min(min(row["interval"][0] for row in rows if row["interval"][0] > 0), *scaled)
    axes.set_ylim(bottom / 1.6, max(*(row["interval"][1] for row in rows), *scaled, *filter(None, uppers)) * 1.4)
    axes.set_xticks(x, [plotting.number(value) for value in x])
    axes.minorticks_off()
    plotting.plain_log(axes.yaxis)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=8)


def title(result: Json) -> str:
    """A sentence, with the two slopes where they were fitted."""
    said = TITLES[result["verdict"]].format(**result)
    if not result["slope"]:
        return said
    return f"{said}: slope {_signed(result['slope'][0])}, theorem {_signed(result['bound_slope'])}"


def _slope(found: list[float] | None) -> str:
    return f"{_signed(found[0])} [{_signed(found[1])}, {_signed(found[2])}]" if found else ""


def _signed(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}".replace("-", "−")
