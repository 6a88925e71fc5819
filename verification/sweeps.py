"""`tailproof sweep`: measured excess risk along one parameter, beside the rate of the theorem that bounds it.

A case is a theorem, an algorithm with its parameters as the theorem chooses them (or tuned), and a problem inside the theorem's
assumptions whose excess risk is known in closed form.  At every value of the swept parameter the algorithm runs on fresh data, with
the same seeds at all values.  A rate has no constants, so what can be checked is how measured / rate moves: if a bound holds, the
ratio stays bounded as n or d grows or ε falls.  The slope of log(measured / rate) has one-sided 99 % limits from a bootstrap over
runs; the verdicts are

    falls       the upper limit is at most 0
    level       0 is within the limits
    grows       the lower limit is above 0
    saturated   fewer than three values are informative
    shown       none: constants may depend on the letter (v, p, θ)

A value is informative if the measured risk is at most half of that of the starting point.  Elsewhere the noise fills the set, whose
diameter keeps the risk down, and the ratio can only grow.  (Without a set every value counts.)  A case that grows or is saturated
has to say why (`reason`), else the theorem is in doubt and the report fails.
"""

from __future__ import annotations

import math
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from bounds.rates import parse_rate
from bounds.statements import Statement
from bounds.theorems import theorem
from refimpl.channel import Mechanism, run
from refimpl.validation import FloatArray, InputError
from verification.report import number, table

Values: TypeAlias = Mapping[str, float]
Json: TypeAlias = dict[str, Any]

LIMIT = 0.99
"""Confidence of each one-sided limit of a slope."""
RESAMPLES = 4000
INFORMATIVE = 0.5
"""Share of the starting point's risk up to which a measured risk says something."""
HARDER = {"n": 1, "d": 1, "s": 1, "eps": -1}
"""Where constants may not depend on a letter: the direction in which the ratio must not grow."""


@dataclass(frozen=True)
class Point:
    """What is run at one value, and what the letters of the rate stand for there."""

    mechanism: Mechanism
    sample: Callable[[np.random.Generator], FloatArray]
    parameters: dict[str, Any]
    excess: Callable[[FloatArray], float]
    start: float  # the risk of the starting point, inf if there is no set that bounds the risk
    letters: Values


@dataclass(frozen=True)
class Case:
    statement: str
    algorithm: str
    problem: str
    at: Callable[[Values], Point]
    values: Values
    grids: Mapping[str, tuple[float, ...]]
    quick: tuple[float, ...] = ()  # sizes n for the quick report, where that is cheap
    preset: str = "theory"
    quantile: float | None = None  # of a bound with failure probability: 1 minus that; else the mean is measured
    reason: str = ""  # why the ratio may grow
    printed: bool = False  # the printed rate, where what follows from the proof says nothing
    runs: int = 40

    @property
    def name(self) -> str:
        return f"{self.statement}/{self.algorithm}/{self.problem}/{self.preset}"


# ------------------------------------------------------------------------------------------------------------------ the bound


def bound_at(statement: Statement, letters: Values) -> float:
    """The rate that follows (or is printed, where nothing else does), constants 1; its own choices explain further letters."""
    known = _explained(statement, letters)
    return parse_rate(_text(statement)).evaluate(known)


def _local_slope(case: Case, statement: Statement, over: str, value: float) -> float:
    """The rate's local exponent at a value, with what else moves along (an ε that depends on n): by a central difference."""
    step = 0.01

    def log_bound(factor: float) -> float:
        near = {**case.values, over: value * factor}
        known = case.at(near if over == "n" else {**case.values, over: value}).letters
        return math.log(bound_at(statement, {**known, over: value * factor}))

    return (log_bound(1 + step) - log_bound(1 - step)) / (math.log1p(step) - math.log1p(-step))


def _text(statement: Statement) -> str:
    text = statement.derived or statement.printed
    if text is None:
        raise InputError(f"statement = {statement.id!r}: has no rate")
    return text


def _explained(statement: Statement, letters: Values) -> dict[str, float]:
    known = dict(letters)
    for _ in statement.choices:  # a choice may mention letters that a later one explains
        for letter, text in statement.choices.items():
            if letter not in known:
                try:
                    known[letter] = parse_rate(text).evaluate(known)
                except InputError:
                    continue
    return known


# --------------------------------------------------------------------------------------------------------------- measurements


def risks_at(case: Case, values: Values, *, runs: Iterable[int], seed: int) -> list[float]:
    """The excess risk of every run; the seed depends on case and run, not on the values."""
    point = case.at(values)
    found = []
    with warnings.catch_warnings():
        # a δ that is not below 1/n, an unproved claim: what is measured here is risk
        warnings.simplefilter("ignore", category=UserWarning)
        for index in runs:
            rng = np.random.default_rng([seed, zlib.crc32(case.name.encode()), index])
            output, _ = run(point.mechanism, point.sample(rng), rng, **point.parameters)
            found.append(point.excess(output))
    return found


def sweep(
    case: Case,
    *,
    over: str,
    grid: Iterable[float],
    runs: int,
    seed: int,
    jobs: int = 1,
    statement: Statement | None = None,
    progress: bool = False,
) -> Json:
    """The measured risks with the verdict, as plain data.  `statement` replaces the case's own (to see a wrong one fail)."""
    grid = tuple(float(value) for value in grid)
    if over not in case.values:
        raise InputError(f"over = {over!r}: must be one of {', '.join(case.values)}")
    if len(grid) < 3 or len(set(grid)) < len(grid):
        raise InputError(f"over = {over!r}: needs at least three different values, not {list(grid)}")
    said = theorem(case.statement) if statement is None else statement
    if case.printed:
        said = replace(said, derived=None)
    points = [case.at({**case.values, over: value}) for value in grid]  # refuses what cannot be run before anything is
    chunks = [(value, range(first, min(first + 10, runs))) for value in grid for first in range(0, runs, 10)]
    pending = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(risks_at)(case, {**case.values, over: value}, runs=numbers, seed=seed) for value, numbers in chunks
    )
    parts = list(tqdm(pending, total=len(chunks), unit="part", disable=not (progress and sys.stderr.isatty())))
    risks = np.array(
        [[risk for (at, _), part in zip(chunks, parts, strict=True) if at == value for risk in part] for value in grid]
    )
    letters = [{**point.letters, over: value} for point, value in zip(points, grid, strict=True)]
    bounds = np.array([bound_at(said, known) for known in letters])
    starts = np.array([point.start for point in points])
    found = analyse(np.array(grid), risks, bounds, starts, quantile=case.quantile, seed=seed, direction=HARDER.get(over, 0))
    locally = [_local_slope(case, said, over, value) for value in grid]
    for row, local in zip(found["points"], locally, strict=True):
        row["bound_slope"] = local
    about = {"statement": case.statement, "algorithm": case.algorithm, "problem": case.problem, "preset": case.preset}
    values = {letter: value for letter, value in case.values.items() if letter != over}
    explained = case.reason if found["verdict"] in ("grows", "saturated") else ""
    return {**about, "over": over, "values": values, "runs": runs, **found, "reason": explained}


def analyse(
    grid: FloatArray,
    risks: FloatArray,
    bounds: FloatArray,
    starts: FloatArray,
    *,
    quantile: float | None,
    seed: int,
    direction: int,
) -> Json:
    """Statistics, intervals and the verdict of risks[value, run]."""
    rng = np.random.default_rng(seed)
    runs = risks.shape[1]
    measured = _statistic(risks, quantile)
    chosen = rng.integers(runs, size=(RESAMPLES, runs))  # the same runs at all values, for their seeds are paired
    resampled = np.stack([_statistic(row[chosen], quantile) for row in risks], axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    rows = [
        {
            "at": float(x),
            "measured": float(m),
            "interval": [float(a), float(b)],
            "bound": float(bound),
            "ratio": float(m / bound),
            "of_start": float(m / start),
        }
        for x, m, a, b, bound, start in zip(grid, measured, low, high, bounds, starts, strict=True)
    ]
    used = measured <= INFORMATIVE * starts
    result: Json = {"points": rows, "informative": int(used.sum())}
    if used.sum() < 3:
        return {**result, "verdict": "saturated", "slope": None, "ratio_slope": None}
    logs = np.log(grid[used])
    slope = _limits(logs, np.log(measured[used]), np.log(resampled[:, used]))
    of_bound = float(_slopes(logs, np.log(bounds[used])[np.newaxis])[0])
    ratio = [value - of_bound for value in slope]
    result |= {"slope": slope, "bound_slope": of_bound, "ratio_slope": ratio}
    return {**result, "verdict": _verdict(ratio, direction)}


def _statistic(risks: FloatArray, quantile: float | None) -> FloatArray:
    return np.asarray(risks.mean(axis=-1) if quantile is None else np.quantile(risks, quantile, axis=-1, method="higher"))


def _limits(logs: FloatArray, measured: FloatArray, resampled: FloatArray) -> list[float]:
    """The slope, and its one-sided limits, below and above."""
    slopes = _slopes(logs, resampled)
    low, high = np.quantile(slopes, [1 - LIMIT, LIMIT])
    return [float(_slopes(logs, measured[np.newaxis])[0]), float(low), float(high)]


def _slopes(x: FloatArray, y: FloatArray) -> FloatArray:
    """Least squares, for every row of y."""
    centred = x - x.mean()
    return np.asarray(y @ centred / (centred @ centred))


def _verdict(ratio: list[float], direction: int) -> str:
    if direction == 0:
        return "shown"  # constants may depend on this letter
    _, low, high = ratio
    if direction < 0:
        low, high = -high, -low
    return "falls" if high <= 0 else "grows" if low > 0 else "level"


# -------------------------------------------------------------------------------------------------------------------- reports


def unexplained(results: Iterable[Json]) -> list[str]:
    """What a report has to fail for."""
    return [
        f"{r['statement']}: measured risk / rate of {r['algorithm']} ({r['problem']}) is {r['verdict']} along {r['over']}, "
        "and nothing explains it"
        for r in results
        if r["verdict"] in ("grows", "saturated") and not r["reason"]
    ]


def sentence(result: Json) -> str:
    """The verdict in words."""
    if result["verdict"] == "saturated":
        return f"saturated: {result['informative']} of {len(result['points'])} values are informative. {result['reason']}"
    measured, ratio = result["slope"], result["ratio_slope"]
    verdict = f"is shown, constants may depend on {result['over']}" if result["verdict"] == "shown" else result["verdict"]
    text = (
        f"slope in log {result['over']} {measured[0]:+.2f} ({measured[1]:+.2f} to {measured[2]:+.2f}), the rate's "
        f"{result['bound_slope']:+.2f}; measured / rate {verdict} ({ratio[0]:+.2f}, {ratio[1]:+.2f} to {ratio[2]:+.2f})"
    )
    return f"{text}. {result['reason']}" if result["reason"] else text


def overview(result: Json) -> str:
    """A table and the verdict."""
    fixed = ", ".join(f"{letter} = {value:g}" for letter, value in result["values"].items())
    head = f"{result['statement']}: {result['algorithm']} ({result['preset']} parameters), {result['problem']}; {fixed}"
    rows = [
        [
            f"{row['at']:g}",
            number(row["measured"]),
            f"[{number(row['interval'][0])}, {number(row['interval'][1])}]",
            number(row["bound"]),
            number(row["ratio"]),
            f"{row['of_start']:.3f}",
            f"{row['bound_slope']:+.3f}",
        ]
        for row in result["points"]
    ]
    columns = [result["over"], "measured", "95 % interval", "rate", "measured / rate", "of the start's", "rate's slope"]
    return f"{head}\n{result['runs']} runs at each value\n{table(rows, columns)}\n{sentence(result)}"
