"""`tailproof sandwich`: algorithms on the hard instances, between the lower bounds and their own upper bounds.

A lower bound says: averaged over the members of a family, an algorithm that is private as claimed has an excess of `threshold` or
more with probability at least ζ; in other words its (1 − ζ)-quantile is not below the threshold.  Members take turns, so that the
runs' failures have the mean that the bound speaks of; by Hoeffding's theorem of 1956 too few of them are no likelier than if all
had the chance ζ.  If they are too few, the claim or the bound is wrong: `violated`.  For a family with a bound of the mean excess
the test is Hoeffding's of 1963, for values between 0 and the worst of the set.

Above stands the algorithm's own bound, which holds with the same probability 1 − ζ (a bound of the mean, divided by ζ, does): more
than ζ of the runs beyond it, more than chance explains, is `violated` as well.  Where a theorem has no constants, its rate through
the upper end of what was measured at a quarter of the records stands in its place: `fitted`, and an interval above it is
`inconclusive`: most parameters here are tuned ones, for which the theorem does not speak.

All tests of one table together call a true bound violated with probability at most `FALSE_ALARM`.  Intervals are 95 % ones.
"""

from __future__ import annotations

import argparse
import math
import warnings
import zlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from tailproof._nearest import did_you_mean
from tailproof.refimpl.channel import Mechanism, run
from tailproof.refimpl.claims import Claim
from tailproof.refimpl.validation import FloatArray, InputError, whole
from tailproof.verification import files, plotting
from tailproof.verification.report import plain, short
from tailproof.verification.shown import Shown, Table
from tailproof.verification.workers import Task, Workers, run_tasks, workers_of

Json: TypeAlias = dict[str, Any]
Verdict: TypeAlias = Literal["consistent", "violated", "inconclusive"]
Kind: TypeAlias = Literal["explicit", "fitted", "none"]

FALSE_ALARM = 1e-6
TESTS = 200
"""At least as many as a table has: each is allowed FALSE_ALARM/TESTS."""
_TIE = 1 - 1e-9
"""An excess that is the threshold but for rounding counts as a failure."""


@dataclass(frozen=True)
class Trial:
    """An algorithm made ready for n records of a family."""

    family: Any
    claim: Claim
    mechanism: Mechanism
    parameters: dict[str, Any]
    upper: float | None = None  # of the (1 − ζ)-quantile, or of the mean
    rate: float | None = None  # of an upper bound without constants
    read: Callable[[Any], FloatArray] = np.atleast_1d  # the point among what is published


@dataclass(frozen=True)
class Pair:
    """An algorithm and a family; `at` makes both ready for n records."""

    algorithm: str
    instance: str
    at: Callable[[int], Trial]
    n: int
    first_name: str = ""  # the name that it was published under, where it has another one today

    @property
    def name(self) -> str:
        return f"{self.algorithm} on {self.instance}"

    @property
    def seed_key(self) -> str:
        """Its seeds go by it, and it never changes: a new wording of the name moves no number."""
        return self.first_name or self.name


@dataclass(frozen=True)
class Row:
    """`measured` is the statistic that both bounds speak of, with its 95 % interval."""

    algorithm: str
    instance: str
    claim: str
    n: int
    runs: int
    statistic: str
    lower: float
    measured: float
    interval: tuple[float, float]
    upper: float | None
    upper_is: Kind
    share: float | None  # of runs that fail, beside ζ
    share_lower: float | None
    chance: float  # of results as far below the lower bound, if it is true
    verdict: Verdict
    detail: str
    seed: int

    def to_json(self) -> Json:
        result: Json = plain(asdict(self))
        return result


# ---------------------------------------------------------------------------------------------------------------- measurements


def excesses(pair: Pair, trial: Trial, n: int, *, runs: int, seed: int) -> FloatArray:
    """Of every run; the seed depends on the pair, the size and the run alone."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UserWarning)  # unproved claims, δ ≥ 1/n: what is measured here is risk
        for index in range(runs):
            rng = np.random.default_rng([seed, zlib.crc32(pair.seed_key.encode()), n, index])
            member = index % trial.family.members
            output, _ = run(trial.mechanism, trial.family.sample(rng, n, member), rng, **trial.parameters)
            found.append(trial.family.excess(trial.read(output), member))
            if math.isnan(found[-1]):
                raise ArithmeticError(f"{pair.algorithm}, {pair.instance}: the excess of run {index} is not a number")
    return np.array(found)


def measure(pair: Pair, *, runs: int, seed: int) -> Row:
    """One row; `runs` is rounded up, so that every member has as many."""
    trial = pair.at(pair.n)
    runs = -(-runs // trial.family.members) * trial.family.members
    found, statistic = excesses(pair, trial, pair.n, runs=runs, seed=seed), statistic_of(trial, pair.n)
    upper, kind = _upper(pair, trial, runs, seed)
    below = statistic.chance_below(found)
    interval = statistic.interval(found, 0.05)
    verdict: Verdict = "consistent"
    detail = ""
    if below <= FALSE_ALARM / TESTS:
        verdict, detail = "violated", f"below the lower bound: the claim {trial.claim} or the bound is wrong"
    elif upper is not None and kind == "explicit" and statistic.chance_above(found, upper) <= FALSE_ALARM / TESTS:
        verdict, detail = "violated", "above its bound"
    elif upper is not None and kind == "fitted" and interval[0] > upper:
        verdict, detail = "inconclusive", "above its fitted rate"
    return Row(
        algorithm=pair.algorithm,
        instance=pair.instance,
        claim=str(trial.claim),
        n=pair.n,
        runs=runs,
        statistic=statistic.name,
        lower=statistic.lower,
        measured=statistic.value(found),
        interval=interval,
        upper=upper,
        upper_is=kind,
        share=statistic.share(found),
        share_lower=statistic.share_lower,
        chance=below,
        verdict=verdict,
        detail=detail,
        seed=seed,
    )


def _upper(pair: Pair, trial: Trial, runs: int, seed: int) -> tuple[float | None, Kind]:
    if trial.upper is not None:
        return trial.upper, "explicit"
    if trial.rate is None:
        return None, "none"
    size = pair.n // 4
    less = pair.at(size)
    assert less.rate is not None
    before = statistic_of(less, size).interval(excesses(pair, less, size, runs=runs, seed=seed), 0.05)
    return before[1] * trial.rate / less.rate, "fitted"


@dataclass(frozen=True)
class _Quantile:
    """The largest t that a share of ζ of the runs reaches, against the threshold."""

    lower: float
    share_lower: float  # ζ

    @property
    def name(self) -> str:
        return f"{1 - self.share_lower:.2f}-quantile"

    def value(self, found: FloatArray) -> float:
        return float(np.sort(found)[::-1][max(0, math.ceil(self.share_lower * len(found) - 1e-9) - 1)])

    def interval(self, found: FloatArray, level: float) -> tuple[float, float]:
        """By order statistics: how many runs reach the true value is binomial."""
        falling, runs = np.sort(found)[::-1], len(found)
        few, many = (int(binom.ppf(side, runs, self.share_lower)) for side in (level / 2, 1 - level / 2))
        return float(falling[min(many, runs - 1)]), float(falling[max(few - 1, 0)])

    def share(self, found: FloatArray) -> float:
        return float(np.mean(found >= self.lower * _TIE))

    def chance_below(self, found: FloatArray) -> float:
        return float(binom.cdf(np.sum(found >= self.lower * _TIE), len(found), self.share_lower))

    def chance_above(self, found: FloatArray, upper: float) -> float:
        return float(binom.sf(np.sum(found > upper) - 1, len(found), self.share_lower))


@dataclass(frozen=True)
class Mean:
    """The mean, against the bound of the mean; values lie between 0 and `most`, the worst of the set.  By Hoeffding's inequality of
    1963, P(mean ≤ m) ≤ e^{−runs·kl(m, true mean)} for m below the true mean, both as shares of `most`, and likewise above."""

    lower: float
    most: float
    name: str = "mean"
    share_lower: None = None

    def value(self, found: FloatArray) -> float:
        return float(found.mean())

    def share(self, found: FloatArray) -> None:  # noqa: ARG002
        return None

    def interval(self, found: FloatArray, level: float) -> tuple[float, float]:
        m, reach = self._part(found), math.log(2 / level) / len(found)
        low = brentq(lambda q: _kl(m, q) - reach, 1e-300, m) if _kl(m, 1e-300) > reach else 0.0
        high = brentq(lambda q: _kl(m, q) - reach, m, 1 - 1e-15)
        return low * self.most, high * self.most

    def chance_below(self, found: FloatArray) -> float:
        m, bound = self._part(found), self.lower / self.most
        return math.exp(-len(found) * _kl(m, bound)) if m < bound else 1.0

    def chance_above(self, found: FloatArray, upper: float) -> float:
        m, bound = self._part(found), upper / self.most
        return math.exp(-len(found) * _kl(m, bound)) if m > bound else 1.0

    def _part(self, found: FloatArray) -> float:
        return float(found.mean()) / self.most


def statistic_of(trial: Trial, n: int) -> _Quantile | Mean:
    family = trial.family
    if hasattr(family, "failure_lower"):
        return _Quantile(family.threshold, family.failure_lower(n, trial.claim))
    worst = -family.domain.radius * family.mean(0) / np.linalg.norm(family.mean(0))
    return Mean(family.mean_excess_lower(n, trial.claim), family.excess(worst, 0))


def _kl(x: float, y: float) -> float:
    first = x * math.log(x / y) if x > 0 else 0.0
    return first + ((1 - x) * math.log((1 - x) / (1 - y)) if x < 1 else 0.0)


def task(pair: Pair, *, runs: int, seed: int, cost: float = 1.0) -> Task:
    return Task(f"sandwich {pair.name}", _measured, (pair, runs, seed), cost)


def _measured(pair: Pair, runs: int, seed: int) -> Json:
    return measure(pair, runs=runs, seed=seed).to_json()


def measure_all(pairs: Iterable[Pair], *, runs: int, seed: int, workers: Workers | None = None) -> list[Json]:
    work = [task(pair, runs=runs, seed=seed) for pair in pairs]
    done = run_tasks(work, workers or Workers(), {"command": "sandwich", "runs": runs, "seed": seed})
    return [one.result for one in done]


# ----------------------------------------------------------------------------------------------------------------- what is shown


def failures(rows: Iterable[Json]) -> list[str]:
    return [f"{r['algorithm']} on {r['instance']}: {r['detail']}" for r in rows if r["verdict"] == "violated"]


HEADER = [
    "algorithm",
    "instance",
    "claim",
    "n",
    "statistic",
    "lower bound",
    "measured",
    "95 % interval",
    "upper bound",
    "runs above lower bound",
    "verdict",
]


def cells(row: Json) -> list[str]:
    low, high = row["interval"]
    upper = "–" if row["upper"] is None else f"{short(row['upper'])} ({row['upper_is']})"
    share = "–" if row["share"] is None else f"{row['share']:.3f}, at least {row['share_lower']:.3f}"
    ends = f"[{short(low)}, {short(high)}]"
    verdict = row["verdict"] + (f": {row['detail']}" if row["detail"] else "")
    return [
        row["algorithm"],
        row["instance"],
        row["claim"],
        str(row["n"]),
        row["statistic"],
        short(row["lower"]),
        short(row["measured"]),
        ends,
        upper,
        share,
        verdict,
    ]


def overview(rows: list[Json]) -> Shown:
    """The table, and what it says in all."""
    between = [r for r in rows if r["verdict"] == "consistent" and r["upper"] is not None]
    ratios = sorted(r["measured"] / r["lower"] for r in rows)
    lines: list[Shown] = [Table([cells(row) for row in rows], HEADER), ""]
    lines.append(
        f"{len(rows)} pairs, {len(between)} of them between a lower and an upper bound; measured / lower bound from "
        f"{ratios[0]:.3g} to {ratios[-1]:.3g}, median {ratios[len(ratios) // 2]:.3g}; "
        f"probability of a false alarm in all at most {FALSE_ALARM:g}"
    )
    return [*lines, *(f"VIOLATED  {line}" for line in failures(rows))]


def plot(rows: list[Json], form: str = "svg") -> bytes:
    """Each pair in units of its lower bound: 1 is the bound, then the measured interval, then the upper bound."""
    return plotting.drawn(lambda axes: _draw(axes, rows), (9, 1.8 + 0.27 * len(rows)), form)


def _draw(axes: Any, rows: list[Json]) -> None:
    places = np.arange(len(rows))[::-1]
    unit = np.array([row["lower"] for row in rows])
    value = np.array([row["measured"] for row in rows]) / unit
    low, high = (np.array([row["interval"][side] for row in rows]) / unit for side in (0, 1))
    uppers = {i: row["upper"] / row["lower"] for i, row in enumerate(rows) if row["upper"] is not None}
    left, right = min(0.8, low[low > 0].min(), value.min()) / 1.25, max(high.max(), value.max(), *uppers.values(), 1.0) * 1.6
    ends = np.array([uppers.get(i, right) for i in range(len(rows))])
    limits = np.array([end if row["upper_is"] == "explicit" else right for end, row in zip(ends, rows, strict=True)])
    allowed = "allowed: not below the lower, nor above an explicit upper bound"
    axes.barh(places, limits - 1, left=1, height=0.62, color=plotting.ALLOWED, label=allowed)
    axes.axvline(1.0, color=plotting.BAD, lw=2, label="lower bound")
    for kind, line in (("explicit", "solid"), ("fitted", "dotted")):
        chosen = [i for i in uppers if rows[i]["upper_is"] == kind]
        if chosen:
            where, label = places[chosen], f"upper bound, {kind}"
            axes.vlines(ends[chosen], where - 0.34, where + 0.34, color=plotting.ACCENT, lw=2.5, ls=line, label=label)
    reach = [np.maximum(value - low, 0), np.maximum(high - value, 0)]
    axes.errorbar(value, places, xerr=reach, fmt="o", ms=4, capsize=2, color=plotting.INK, label="measured, 95 %", zorder=3)
    axes.set(xscale="log", xlabel="error, in units of the lower bound", yticks=places, xlim=(left, right))
    axes.set_ylim(-0.8, len(rows) - 0.2)  # no marker is cut
    axes.set_yticklabels([f"{row['algorithm']}, {row['claim']}: {row['instance']}" for row in rows], fontsize=7)
    outside = sum(row["verdict"] == "violated" for row in rows)
    title = (
        f"{outside} of {len(rows)} measured errors contradict a bound"
        if outside
        else "No measured error contradicts its bounds"
    )
    axes.set_title(title, loc="left" if len(rows) < 4 else "center")
    plotting.plain_log(axes.xaxis)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.figure.legend(fontsize=8, loc="outside lower center", ncols=2 if len(rows) < 4 else 3)


# ------------------------------------------------------------------------------------------------------------------ the command


def run_sandwich(arguments: argparse.Namespace) -> tuple[int, Json, Shown]:
    """(exit code, JSON value, text)."""
    from tailproof.verification.sandwich_pairs import PAIRS

    chosen = select(PAIRS, arguments.only)
    runs = whole("runs", arguments.runs, least=20)
    entries = measure_all(chosen, runs=runs, seed=arguments.seed, workers=workers_of(arguments))
    if arguments.plot is not None:
        try:
            drawn = plot(entries, Path(arguments.plot).suffix.lstrip(".") or "svg")
        except ValueError as error:
            raise InputError(f"plot = {arguments.plot!r}: could not be drawn ({error})") from None
        files.write("plot", arguments.plot, drawn)
    value = {"false_alarm": FALSE_ALARM, "pairs": entries, "failures": failures(entries)}
    return (1 if value["failures"] else 0), value, overview(entries)


def select(pairs: Iterable[Pair], only: list[str] | None) -> list[Pair]:
    """Those of an algorithm, or whose instance has this text."""
    known = list(pairs)

    def meant(text: str, pair: Pair) -> bool:
        return text.lower() == pair.algorithm.lower() or text.lower() in pair.instance.lower()

    for text in only or []:
        if not any(meant(text, pair) for pair in known):
            algorithms = ", ".join(names := list(dict.fromkeys(pair.algorithm for pair in known)))
            meant_names = did_you_mean(text, names, most=3)
            raise InputError(
                f"only = {text!r}: is not known{meant_names}; give an algorithm ({algorithms}) or part of an instance's name"
            )
    return [p for p in known if only is None or any(meant(text, p) for text in only)]
