"""`tailproof experiment`: from arguments to a JSON document, a table and a plot.

An experiment compares test errors, which depend on the data: its output is not private, whatever the methods are.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tailproof.refimpl.validation import InputError, between, positive, whole
from tailproof.verification.experiments.catalogue import EXPERIMENTS, Experiment, Sizes, find, points
from tailproof.verification.experiments.data import Data, Files, read_files
from tailproof.verification.experiments.methods import HINDSIGHT, MINIMUM, Numbers, Point
from tailproof.verification.experiments.plot import check_plot, draw
from tailproof.verification.experiments.problems import (
    Problem,
    classification_problem,
    problem_of_files,
    regression_problem,
    sparse_problem,
)
from tailproof.verification.experiments.running import Cell, bootstrap, measure, plan, tuned_in_hindsight
from tailproof.verification.facts import as_json
from tailproof.verification.report import plain
from tailproof.verification.shown import Shown, Table
from tailproof.verification.solve import check_writable

DEFAULT_ROW_NORM = math.sqrt(14)
METRICS = {
    "loss": "the objective, with its penalty",
    "excess": "the loss above that of the minimiser without privacy on the same records",
    "mse": "mean square of residuals",
    "errors": "share of wrong labels",
}
OPTIONS = ("n", "epsilon", "row_norm", "moment_bound", "steps", "domain", "ridge", "hindsight", "quick")
RUNS, QUICK_RUNS = 10, 2
FEW = 5  # runs, with less of which no method is called better
NOT_PRIVATE = "an experiment compares test errors, which depend on the data: what it prints is not private"
IN_HINDSIGHT = (
    "methods in hindsight have parameters chosen by the test loss: not private; compared with the baseline in hindsight"
)


def listed() -> tuple[dict[str, Any], Shown]:
    """All experiments."""
    entries = [{key: getattr(e, key) for key in ("name", "place", "text", "needs")} for e in EXPERIMENTS]
    return {"experiments": entries}, Table([list(e.values()) for e in entries], ["name", "place", "what", "needs"])


def experiment(arguments: argparse.Namespace, *, progress: bool) -> tuple[dict[str, Any], Shown]:
    """(JSON value, table)."""
    chosen = find(arguments.name)
    usual = QUICK_RUNS if arguments.quick else RUNS
    runs = whole("runs", usual if arguments.runs is None else arguments.runs, least=1)
    check_writable("json", arguments.json)
    if arguments.plot is not None:
        check_plot(arguments.plot)
        check_writable("plot", arguments.plot)
    for budget in arguments.epsilon or ():
        positive("epsilon", budget)
    between("ridge", arguments.ridge, 0, math.inf)
    if arguments.moment_bound is not None:
        positive("moment_bound", arguments.moment_bound)
    if arguments.hindsight and not any(method.tunable for method in chosen.methods):
        raise InputError(f"hindsight: is for P0's experiments, not for {chosen.name}")
    sizes = chosen.quick if arguments.quick else chosen.full
    if arguments.epsilon and chosen.name.startswith("p1"):  # no sweep over ε there: the budget of all points
        if len(arguments.epsilon) > 1:
            raise InputError(f"epsilon: {chosen.name} has no sweep over it; give one value")
        sizes = replace(sizes, epsilon=arguments.epsilon[0])
    results: list[dict[str, Any]] = []
    notes = [NOT_PRIVATE] + ([IN_HINDSIGHT] if arguments.hindsight else [])
    sources: list[dict[str, Any]] = []
    for data in _data(arguments, chosen):
        cells, about = _cells(arguments, chosen, sizes, data, notes)
        work: Numbers = {"seed": arguments.seed, "jobs": arguments.jobs, "progress": progress}
        if arguments.hindsight:
            cells += tuned_in_hindsight(data, cells, **work)
        measured = measure(data, cells, range(runs), **work, text=data.name)
        results += _results(measured, data, chosen, arguments)
        sources.append(about)
    value = {
        "experiment": chosen.name,
        "place": chosen.place,
        "metric": arguments.metric,
        "runs": runs,
        "seed": arguments.seed,
        "options": {name: getattr(arguments, name) for name in OPTIONS},
        "data": sources,
        "methods": {method.name: method.text for method in chosen.methods},
        "baseline": chosen.baseline,
        "notes": notes,
        "results": results,
    }
    if arguments.plot is not None:
        draw(results, arguments.plot, title=f"{chosen.name}: {chosen.text}", metric=arguments.metric)
    return plain(value), _text(value, chosen)


# ------------------------------------------------------------------------------------------------------------- data and problem


def _data(arguments: argparse.Namespace, chosen: Experiment) -> list[Data]:
    train, test = arguments.data or [], arguments.test or []
    if test and len(test) != len(train):
        raise InputError(f"test: {len(test)} files for {len(train)} of data; give one for each, in the same order, or none")
    for name, paths in (("data", train), ("test", test)):
        for path in paths:
            if not Path(path).is_file():
                raise InputError(f"{name} = {path!r}: there is no such file")
    if train and not chosen.takes_files:
        raise InputError(f"data: {chosen.name} draws its own")
    if not train:
        if chosen.drawn is None:
            raise InputError(f"data is missing: {chosen.name} needs {chosen.needs}")
        return [chosen.drawn]
    found: list[Data] = []
    for i, path in enumerate(train):
        found.append(read_files(path, test[i] if test else None, features=arguments.features, seed=arguments.seed))
    return found


def _cells(
    arguments: argparse.Namespace, chosen: Experiment, sizes: Sizes, data: Data, notes: list[str]
) -> tuple[list[Cell], dict[str, Any]]:
    """All methods at all points, and what is to be said of the data."""
    about: dict[str, Any] = {"name": data.name, "files": data.origin}
    promise: Numbers | None = None
    d: int | None = None
    if isinstance(data, Files):
        d = data.train.shape[1] - 1
        promise = _promise(arguments, data, notes)
        about |= {"train": len(data.train), "test": len(data.test), "features": d, **promise}
    budgets = None if chosen.name.startswith("p1") else arguments.epsilon
    swept = points(sizes, most=data.most(), d=d, n=arguments.n, epsilon=budgets)
    problems = {p.d: _problem(arguments, chosen, p, promise) for p in swept}
    about["problems"] = [
        {"d": size, "loss": str(p.loss), "domain": p.domain_text, "law": p.law.to_json()} for size, p in problems.items()
    ]
    return [plan(p, problems[p.d], m) for p in swept for m in chosen.methods if p.sweep in m.sweeps], about


def _promise(arguments: argparse.Namespace, data: Files, notes: list[str]) -> Numbers:
    """What is taken to be public of the rows; said, and said where it is not kept."""
    norm = arguments.row_norm
    if norm is None and data.row_norm is not None:
        norm = data.row_norm
        notes.append(f"{data.name}: rows have norm {norm:.4g} at most, by their encoding")
    elif norm is None:
        norm = DEFAULT_ROW_NORM
        why = (
            "as those of a8a and a9a have; for other files promise another --row-norm (w7a: 10.68), without looking at them"
        )
        notes.append(f"{data.name}: rows are taken to have norm {norm:.4g} at most, {why}")
    else:
        notes.append(f"{data.name}: that rows have norm {norm:.4g} at most is the user's promise, chosen without the data")
    over = int((np.linalg.norm(data.train[:, :-1], axis=1) > positive("row_norm", norm) * (1 + 1e-9)).sum())
    if over:
        notes.append(f"{data.name}: {over} rows break it; privacy holds all the same, as gradients are clipped")
    return {"row_norm": norm, "column_bound": norm if data.row_norm is None else 1.0}


def _problem(arguments: argparse.Namespace, chosen: Experiment, point: Point, promise: Numbers | None) -> Problem:
    known: Numbers = {"domain": arguments.domain or chosen.domain, "dimension": point.d}
    if promise is not None:
        known |= {"row_norm": promise["row_norm"], "column": promise["column_bound"], "moment_bound": arguments.moment_bound}
        found = problem_of_files(chosen.loss, ridge=arguments.ridge, **known)
    elif chosen.loss == "l4":
        found = sparse_problem(**known)
    else:
        make = regression_problem if chosen.loss == "squared" else classification_problem
        found = make(ridge=arguments.ridge, **known)
    return replace(found, steps=whole("steps", arguments.steps, least=1))


# ---------------------------------------------------------------------------------------------------------------------- results


def _results(cells: list[Cell], data: Data, chosen: Experiment, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    by_name = {(cell.point, cell.method.name): cell for cell in cells}
    rows = []
    for cell in sorted(cells, key=lambda cell: ["n", "epsilon", "d"].index(cell.point.sweep)):
        point = cell.point
        row: dict[str, Any] = {
            "data": data.name,
            "sweep": point.sweep,
            "at": point.at,
            **vars(point),
            "method": cell.method.name,
        }
        row |= {"private": cell.method.private, "parameters": _short(as_json(cell.parameters))}
        if cell.reason is not None:
            rows.append({**row, "skipped": cell.reason})
            continue
        like = chosen.baseline + (HINDSIGHT if cell.method.name.endswith(HINDSIGHT) else "")
        least, base = by_name[point, MINIMUM.name], by_name.get((point, like))
        values = _values(cell, least, arguments.metric)
        row |= bootstrap(values, seed=arguments.seed).to_json()
        if base is not None and base.reason is None and base is not cell:
            against = bootstrap(values - _values(base, least, arguments.metric), seed=arguments.seed)
            row["against_baseline"] = against.to_json()
        names = [name for name in cell.scores[0] if name != "seconds"]
        row["scores"] = {name: [float(f"{x:.5g}") for x in cell.values(name)] for name in names}
        row["seconds"] = float(f"{cell.values('seconds').mean():.3g}")
        rows.append(row)
    return rows


def _values(cell: Cell, least: Cell, metric: str) -> Any:
    if metric == "excess":
        return cell.values("loss") - least.values("loss")
    if metric not in cell.scores[0]:
        raise InputError(f"metric = {metric!r}: the targets are not labels")
    return cell.values(metric)


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _text(value: dict[str, Any], chosen: Experiment) -> Shown:
    metric = METRICS[value["metric"]]
    lines: list[Shown] = [
        f"{chosen.name} ({chosen.place}): {chosen.text}; test {value['metric']}: {metric}",
        f"{value['runs']} runs",
    ]
    cells: list[list[str]] = []
    skipped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in value["results"]:
        if "skipped" in row:
            skipped.setdefault((row["data"], row["method"]), []).append(row)
            continue
        against = row.get("against_baseline")
        low, high = against["interval"] if against else (0, 0)
        verdict = "" if low <= 0 <= high or value["runs"] < FEW else "better" if high < 0 else "worse"
        at = f"{row['sweep']} = {row['at']:g}" + ("" if row["sweep"] == "n" else f" (n = {row['n']})")
        spread = "[{:.4g}, {:.4g}]".format(*row["interval"])
        cells.append([row["data"], at, row["method"], f"{row['mean']:.4g}", spread, verdict])
    header = ["data", "at", "method", "mean", "95 % interval", f"than {chosen.baseline} (paired)"]
    lines.append(Table(cells, header))
    for (data, method), rows in skipped.items():
        where = ", ".join(f"{row['sweep']} = {row['at']:g}" for row in rows)
        lines.append(f"skipped: {method} on {data} at {where}: {rows[0]['skipped']}")
    return [*lines, *(f"note: {note}" for note in value["notes"])]
