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

Only `grows` speaks against an upper bound: one that falls is loose here, which it may be.  Whether the exponent is the one that is
seen is a statement of its own (`exponent`), and a rate that is too pessimistic is told by that alone:

    agrees      the rate's slope is within both limits of the measured one, an interval of 98 %
    near        it is not, but the interval reaches to 1/8 of it: lower-order terms and logarithms bend slopes as much
    differs     the whole interval is farther away than 1/8

A value is informative if the measured risk is at most half of that of the starting point.  Elsewhere the noise fills the set, whose
diameter keeps the risk down, and the ratio can only grow.  (Without a set every value counts.)  A case that grows or is saturated
has to say why (`reason`), else the theorem is in doubt and the report fails.

Where a bound has explicit constants (`Explicit`), it is an inequality at every value, and no slopes are needed:

    violated    the runs have a probability of at most 10⁻⁹, all values together, if the inequality holds
    confirmed   it holds on this problem with a confidence of 99 %, for all values at once
    consistent  neither
"""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import beta, binom

from tailproof.bounds.rates import Rate, parse_rate
from tailproof.bounds.statements import Statement
from tailproof.bounds.theorems import theorem
from tailproof.refimpl.channel import Mechanism, run
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.report import short
from tailproof.verification.sandwich import Mean
from tailproof.verification.shown import Shown, Table
from tailproof.verification.workers import Task, Workers, run_tasks

Values: TypeAlias = Mapping[str, float]
Json: TypeAlias = dict[str, Any]

LIMIT = 0.99
"""Confidence of each one-sided limit of a slope."""
RESAMPLES = 4000
FALSE_ALARM = 1e-9
"""Probability with which a true inequality with explicit constants is called violated in a sweep."""
PART = 5
"""Runs of a task: no single one takes long beside all of them."""
INFORMATIVE = 0.5
"""Share of the starting point's risk up to which a measured risk says something."""
NEAR = 1 / 8
"""How far from the rate's slope an interval may end and still be near."""
HARDER = {"n": 1, "d": 1, "s": 1, "eps": -1}
"""Where constants may not depend on a letter: the direction in which the ratio must not grow."""


@dataclass(frozen=True)
class Explicit:
    """A bound with all its constants: but for a probability of `failure`, or else of the mean of values from 0 to `most`."""

    upper: float
    failure: float | None
    most: float = math.inf


@dataclass(frozen=True)
class Point:
    """What is run at one value, and what the letters of the rate stand for there."""

    mechanism: Mechanism
    sample: Callable[[np.random.Generator], FloatArray]
    parameters: dict[str, Any]
    excess: Callable[[FloatArray, FloatArray], float]  # of an output, on its data
    start: float  # the risk of the starting point, inf if there is no set that bounds the risk
    letters: Values
    explicit: Explicit | None = None


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
    first_name: str = ""  # the name that it was published under, where it has another one today

    @property
    def name(self) -> str:
        return f"{self.statement}/{self.algorithm}/{self.problem}/{self.preset}"

    @property
    def seed_key(self) -> str:
        """Its seeds go by it, and it never changes: a new wording of the name moves no number."""
        return self.first_name or self.name


# ------------------------------------------------------------------------------------------------------------------ the bound


def bound_at(statement: Statement, letters: Values, *, logs: bool = True) -> float:
    """The rate that follows (or is printed, where nothing else does), constants 1; its own choices explain further letters.
    Without logs, each of them is 1, also in the choices."""
    known = _explained(statement, letters, logs)
    return _rate(_text(statement), logs).evaluate(known)


def _rate(text: str, logs: bool) -> Rate:
    return parse_rate(text) if logs else parse_rate(text).without_logs()


def _local_slope(case: Case, statement: Statement, over: str, value: float, *, logs: bool) -> float:
    """The rate's local exponent at a value, with what else moves along (an ε that depends on n): by a central difference."""
    step = 0.01

    def log_bound(factor: float) -> float:
        near = {**case.values, over: value * factor}
        known = case.at(near if over == "n" else {**case.values, over: value}).letters
        return math.log(bound_at(statement, {**known, over: value * factor}, logs=logs))

    return (log_bound(1 + step) - log_bound(1 - step)) / (math.log1p(step) - math.log1p(-step))


def _text(statement: Statement) -> str:
    text = statement.derived or statement.printed
    if text is None:
        raise InputError(f"statement = {statement.id!r}: has no rate")
    return text


def _explained(statement: Statement, letters: Values, logs: bool) -> dict[str, float]:
    known = dict(letters)
    for _ in statement.choices:  # a choice may mention letters that a later one explains
        for letter, text in statement.choices.items():
            if letter not in known:
                try:
                    known[letter] = _rate(text, logs).evaluate(known)
                except InputError:
                    continue
    return known


# --------------------------------------------------------------------------------------------------------------- measurements


def risks_at(case: Case, values: Values, runs: Iterable[int], seed: int) -> list[float]:
    """The excess risk of every run; the seed depends on case and run, not on the values."""
    point = case.at(values)
    found = []
    with warnings.catch_warnings():
        # a δ that is not below 1/n, an unproved claim: what is measured here is risk
        warnings.simplefilter("ignore", category=UserWarning)
        for index in runs:
            rng = np.random.default_rng([seed, zlib.crc32(case.seed_key.encode()), index])
            data = point.sample(rng)
            output, _ = run(point.mechanism, data, rng, **point.parameters)
            found.append(point.excess(output, data))
            if math.isnan(found[-1]):
                raise ArithmeticError(f"{case.name}: the excess risk of run {index} is not a number")
    return found


def parts(case: Case, *, over: str, grid: Iterable[float], runs: int, seed: int, cost: float = 1.0) -> list[Task]:
    """The runs of a sweep, a few at a time; `cost` is that of all of them, larger n take longer."""
    share = {value: value if over == "n" else 1.0 for value in grid}
    each = cost / (runs * sum(share.values()))
    return [
        Task(
            f"sweep {case.name} {over}={value:.12g} {first}",
            risks_at,
            (case, {**case.values, over: value}, range(first, min(first + PART, runs)), seed),
            each * share[value] * min(PART, runs - first),
        )
        for value in share
        for first in range(0, runs, PART)
    ]


def points_of(case: Case, *, over: str, grid: Iterable[float]) -> dict[float, Point]:
    """Refuses what cannot be run before anything is."""
    values = tuple(float(value) for value in grid)
    if over not in case.values:
        raise InputError(f"over = {over!r}: must be one of {', '.join(case.values)}")
    if len(values) < 3 or len(set(values)) < len(values):
        raise InputError(f"over = {over!r}: needs at least three different values, not {list(values)}")
    return {value: case.at({**case.values, over: value}) for value in values}


def sweep(
    case: Case,
    *,
    over: str,
    grid: Iterable[float],
    runs: int,
    seed: int,
    workers: Workers | None = None,
    statement: Statement | None = None,
    logs: bool = True,
) -> Json:
    """The measured risks with the verdict, as plain data.  `statement` replaces the case's own (to see a wrong one fail)."""
    points = points_of(case, over=over, grid=grid)
    work = parts(case, over=over, grid=points, runs=runs, seed=seed)
    about = {"command": "sweep", "case": case.name, "values": dict(case.values), "runs": runs, "seed": seed}
    done = run_tasks(work, workers or Workers(), about)
    found = [risk for part in done for risk in part.result]
    return gathered(case, found, over=over, points=points, runs=runs, seed=seed, statement=statement, logs=logs)


def gathered(
    case: Case,
    risks: list[float],
    *,
    over: str,
    points: Mapping[float, Point],
    runs: int,
    seed: int,
    statement: Statement | None = None,
    logs: bool = True,
) -> Json:
    """What the runs of all parts say, in their order.  Without `logs`, every logarithm in the rate is 1."""
    said = theorem(case.statement) if statement is None else statement
    if case.printed:
        said = replace(said, derived=None)
    grid = tuple(points)
    measured = np.reshape(np.array(risks), (len(grid), runs))
    letters = [{**point.letters, over: value} for value, point in points.items()]
    bounds = np.array([bound_at(said, known, logs=logs) for known in letters])
    starts = np.array([point.start for point in points.values()])
    found = analyse(
        np.array(grid), measured, bounds, starts, quantile=case.quantile, seed=seed, direction=HARDER.get(over, 0)
    )
    locally = [_local_slope(case, said, over, value, logs=logs) for value in grid]
    for row, local in zip(found["points"], locally, strict=True):
        row["bound_slope"] = local
    about: Json = {"statement": case.statement, "algorithm": case.algorithm, "problem": case.problem, "preset": case.preset}
    values = {letter: value for letter, value in case.values.items() if letter != over}
    found |= _inequality([point.explicit for point in points.values()], measured, found["points"])
    explained = case.reason if found["verdict"] in ("grows", "saturated") else ""
    statistic = "mean" if case.quantile is None else f"{case.quantile:g}-quantile"
    about |= {"over": over, "values": values, "runs": runs, "statistic": statistic, "logs": "keep" if logs else "drop"}
    return {**about, **found, "reason": explained}


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
        return {**result, "verdict": "saturated", "slope": None, "ratio_slope": None, "exponent": None}
    logs = np.log(grid[used])
    slope = _limits(logs, np.log(measured[used]), np.log(resampled[:, used]))
    of_bound = float(_slopes(logs, np.log(bounds[used])[np.newaxis])[0])
    ratio = [value - of_bound for value in slope]
    result |= {"slope": slope, "bound_slope": of_bound, "ratio_slope": ratio}
    return {**result, "verdict": _verdict(ratio, direction), "exponent": _exponent(ratio)}


def _inequality(bounds: list[Explicit | None], risks: FloatArray, rows: list[Json]) -> Json:
    """The bounds with explicit constants against the runs at every value, noted in the rows, and what all of them say together."""
    count = sum(bound is not None for bound in bounds)
    for bound, found, row in zip(bounds, risks, rows, strict=True):
        if bound is not None:
            row["explicit"] = _against(bound, found, share=1 / count)
    verdicts = {row["explicit"]["verdict"] for row in rows if "explicit" in row}
    if not verdicts:
        return {}
    worst = next(word for word in ("violated", "consistent", "confirmed") if word in verdicts)
    return {"explicit": worst}


def _against(bound: Explicit, risks: FloatArray, *, share: float) -> Json:
    """`chance` is that of such runs, or worse ones, if the inequality holds; `limit` is an upper limit of what it bounds, of that
    share of the error of 1 %."""
    error, runs = share * (1 - LIMIT), len(risks)
    if bound.failure is None:
        mean = Mean(0.0, bound.most)
        measured, asked = mean.value(risks), bound.upper
        chance, limit = mean.chance_above(risks, bound.upper), mean.interval(risks, 2 * error)[1]
    else:
        beyond = int((risks > bound.upper).sum())
        measured, asked = beyond / runs, bound.failure
        chance = float(binom.sf(beyond - 1, runs, bound.failure))
        limit = float(beta.ppf(1 - error, beyond + 1, runs - beyond)) if beyond < runs else 1.0  # Clopper and Pearson
    verdict = "violated" if chance <= share * FALSE_ALARM else "confirmed" if limit <= asked else "consistent"
    what = "mean" if bound.failure is None else "share of runs above the bound"
    return {
        "upper": bound.upper,
        "what": what,
        "measured": measured,
        "asked": asked,
        "limit": limit,
        "chance": chance,
        "verdict": verdict,
    }


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


def _exponent(ratio: list[float]) -> str:
    _, low, high = ratio
    away = max(low, -high, 0.0)
    return "agrees" if away == 0 else "near" if away <= NEAR else "differs"


# -------------------------------------------------------------------------------------------------------------------- reports


def unexplained(results: Iterable[Json]) -> list[str]:
    """What a report has to fail for."""
    return [
        f"{r['statement']}: measured risk / rate of {r['algorithm']} ({r['problem']}) is {r['verdict']} along {r['over']}, "
        "and nothing explains it"
        for r in results
        if r["verdict"] in ("grows", "saturated") and not r["reason"]
    ]


def exceeded(results: Iterable[Json]) -> list[str]:
    """Bounds with explicit constants that do not hold."""
    return [
        f"{r['statement']}: {r['algorithm']} ({r['problem']}) exceeds the bound with its constants along {r['over']}"
        for r in results
        if r.get("explicit") == "violated"
    ]


def sentence(result: Json) -> str:
    """The verdict in words."""
    explicit = f"; with its constants the bound is {result['explicit']}" if result.get("explicit") else ""
    if result["verdict"] == "saturated":
        reason = f". {result['reason']}" if result["reason"] else ""
        return f"saturated: {result['informative']} of {len(result['points'])} values are informative{explicit}{reason}"
    measured, ratio = result["slope"], result["ratio_slope"]
    verdict = f"is shown, constants may depend on {result['over']}" if result["verdict"] == "shown" else result["verdict"]
    text = (
        f"slope in log {result['over']} {measured[0]:+.2f} ({measured[1]:+.2f} to {measured[2]:+.2f}), the rate's "
        f"{result['bound_slope']:+.2f}; measured / rate {verdict} ({ratio[0]:+.2f}, {ratio[1]:+.2f} to {ratio[2]:+.2f})"
    )
    if result.get("exponent"):
        text += f", the exponent {'is near' if result['exponent'] == 'near' else result['exponent']}"
    return f"{text}{explicit}. {result['reason']}" if result["reason"] else text + explicit


def overview(result: Json) -> Shown:
    """A table and the verdict."""
    fixed = ", ".join(f"{letter} = {value:g}" for letter, value in result["values"].items())
    head = f"{result['statement']}: {result['algorithm']} ({result['preset']} parameters), {result['problem']}; {fixed}"
    rows = [
        [
            f"{row['at']:g}",
            short(row["measured"]),
            f"[{short(row['interval'][0])}, {short(row['interval'][1])}]",
            short(row["bound"]),
            short(row["ratio"]),
            short(row["of_start"]) if row["of_start"] else "no start",
            f"{row['bound_slope']:+.3f}",
        ]
        for row in result["points"]
    ]
    columns = [result["over"], "measured", "95 % interval", "rate", "measured / rate", "measured / start", "slope of rate"]
    logs = "" if result["logs"] == "keep" else "; the rate without logarithms"
    about = f"measured: the {result['statistic']} of {result['runs']} runs at each value{logs}"
    parts: list[Shown] = [head, about, Table(rows, columns)]
    if result.get("explicit"):
        parts += _with_constants(result)
    return [*parts, sentence(result)]


def _with_constants(result: Json) -> list[Shown]:
    rows = [
        [
            f"{row['at']:g}",
            short(row["explicit"]["upper"]),
            row["explicit"]["what"],
            *(short(row["explicit"][key]) for key in ("measured", "limit", "asked")),
            row["explicit"]["verdict"],
        ]
        for row in result["points"]
        if "explicit" in row
    ]
    title = "with explicit constants, 99 % limits for all values at once:"
    return [title, Table(rows, [result["over"], "bound", "statistic", "measured", "99 % limit", "allowed", "verdict"])]
