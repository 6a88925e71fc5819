"""`tailproof sweep` and the report's sweeps: which case, over what, how it is shown."""

from __future__ import annotations

import argparse
import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from tailproof.bounds.theorems import theorem
from tailproof.refimpl.validation import InputError, known, positive
from tailproof.verification import files
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
        name, _, text = item.partition("=")
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


def plot(result: Json, form: str = "svg") -> bytes:
    """Measured risk with its intervals, and the rate through the first informative value: only slopes can be compared."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    rows = result["points"]
    x = [row["at"] for row in rows]
    y = [row["measured"] for row in rows]
    low = [max(0.0, row["measured"] - row["interval"][0]) for row in rows]
    high = [max(0.0, row["interval"][1] - row["measured"]) for row in rows]
    anchor = next((row for row in rows if row["of_start"] <= 0.5), rows[0])
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    axes.errorbar(x, y, yerr=[low, high], fmt="o-", capsize=3, label=f"measured, {result['runs']} runs, 95 %")
    scaled = [row["bound"] * anchor["ratio"] for row in rows]
    axes.plot(x, scaled, "--", label=f"rate × {anchor['ratio']:.3g}")
    axes.set(xscale="log", yscale="log", xlabel=result["over"], ylabel="excess risk")
    axes.set_title(f"{result['statement']}, {result['algorithm']}: {result['problem']} ({result['preset']})", fontsize=10)
    axes.legend()
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "tailproof", "svg.fonttype": "none"}):  # the same bytes for the same numbers
        figure.savefig(buffer, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    pyplot.close(figure)
    return buffer.getvalue()
