"""diffprivlib's tools and mechanisms, through their public interface, and its accountant."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from typing import Any

import laws
import laws_tools
import numpy as np
from harness import Case, Run, at_most, by_runs, exactly
from making import EPSILONS, READING, case_of, runs_of, settings, state, tool_of

from tailproof.refimpl.claims import ApproxDP, PureDP


def cases() -> list[Case]:
    return [*tools(), *mechanisms(), *accountant()]


# --- tools ----------------------------------------------------------------------------------------------------------------------


def tool(name: str, **given: Any) -> Run:
    def run(data: Any, rng: np.random.Generator) -> Any:
        found = tool_of(name)(data, **settings(rng), **given)
        return np.ravel(found[0] if isinstance(found, tuple) else found)

    return run


def weighted_histogram(records: Any, rng: np.random.Generator) -> Any:
    return tool_of("histogram")(records[:, 0], epsilon=1.0, bins=2, range=(0, 1), weights=records[:, 1], **settings(rng))[0]


def plane_histogram(points: Any, rng: np.random.Generator) -> Any:
    return tool_of("histogram2d")(*points.T, epsilon=1.0, bins=2, range=[[0, 1]] * 2, **settings(rng))[0].ravel()


def tools() -> list[Case]:
    ten, shown = (np.zeros(10), np.array([0.0] * 9 + [1.0])), "ten zeros, one becomes 1"
    aside, moves = (np.array([0.0] + [0.5] * 9), np.array([1.0] + [0.5] * 9)), "nine at 0.5, one goes from 0 to 1"
    found = []
    for name, epsilon in product(("mean", "var", "std", "sum", "count_nonzero", "median"), EPSILONS):
        given: dict[str, Any] = {"epsilon": epsilon} | ({} if name == "count_nonzero" else {"bounds": (0, 1)})
        pair, witness = (aside, moves) if name == "median" else (ten, shown)
        found.append(runs_of(f"tools.{name}", "bounds = (0, 1)", tool(name, **given), pair, witness, 10000, epsilon))
    for quant, epsilon in product((0.0, 0.5, 0.9, 1.0), EPSILONS):
        test = exactly(lambda q=quant, e=epsilon: laws_tools.quantile(q, e))
        witness = "up to six numbers at tenths of the bounds, one replaced"
        found.append(case_of("tools.quantile", f"{quant:g}, bounds = (0, 1), n = 1 to 6", test, witness, epsilon=epsilon))
    unit: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 1)}
    columns = np.full((10, 3), -5.0), np.vstack([np.full((9, 3), -5.0), np.full((1, 3), 5.0)])
    found += [
        runs_of("tools.quantile", "0.9, bounds = (0, 1)", tool("quantile", quant=0.9, **unit), aside, moves, 10000),
        runs_of(
            "tools.percentile",
            "25, 50, 75, bounds = (0, 1)",
            tool("percentile", percent=[25, 50, 75], **unit),
            aside,
            moves,
            10000,
        ),
        runs_of(
            "tools.mean",
            "axis = 0, three columns, bounds = (-5, 5)",
            tool("mean", axis=0, epsilon=1.0, bounds=(-5, 5)),
            columns,
            "ten records at -5, one goes to 5",
            10000,
        ),
    ]
    integers = np.full(10, -3), np.append(np.full(9, -3), 4)
    count, rows = tool("sum", dtype=int, epsilon=1.0, bounds=(-3, 4)), "ten records at -3, one goes to 4"
    found.append(runs_of("tools.sum", "integers, bounds = (-3, 4)", count, integers, rows, 10000))
    return found + histograms() + missing_numbers() + one_notion()


def histograms() -> list[Case]:
    gone, fewer = "a record taken away", "four records in a bin, or three"
    low = np.full(4, 0.25)
    line = tool("histogram", epsilon=1.0, bins=2, range=(0, 1))
    cube = tool("histogramdd", epsilon=1.0, bins=2, range=[(0, 1)] * 3)
    return [
        runs_of("tools.histogram", f"two bins, {gone}", line, (low, low[1:]), fewer, 10000),
        runs_of(
            "tools.histogram",
            "two bins, a record replaced",
            line,
            (low, np.array([0.25] * 3 + [0.75])),
            "four records in a bin, one moves",
            20000,
            note=f"2ε: {READING}",
            exceeded="inconclusive",
        ),
        runs_of(
            "tools.histogram",
            f"two bins, density, {gone}",
            tool("histogram", epsilon=1.0, bins=2, range=(0, 1), density=True),
            (low, low[1:]),
            fewer,
            10000,
        ),
        runs_of(
            "tools.histogram",
            f"weights up to 10, {gone}",
            weighted_histogram,
            (np.array([[0.25, 10.0], [0.75, 1.0]]), np.array([[0.75, 1.0]])),
            "a record of weight 10",
            4000,
            script="diffprivlib_histogram_weights.py",
        ),
        runs_of(
            "tools.histogram2d",
            f"four bins, {gone}",
            plane_histogram,
            (np.full((4, 2), 0.25), np.full((3, 2), 0.25)),
            fewer,
            10000,
        ),
        runs_of(
            "tools.histogramdd", f"eight bins, {gone}", cube, (np.full((4, 3), 0.25), np.full((3, 3), 0.25)), fewer, 10000
        ),
    ]


def missing_numbers() -> list[Case]:
    unit: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 1)}
    nan = np.full(38, np.nan)
    spread = np.append(nan, [0.0, 1.0]), np.append(nan, [0.0, 0.0])
    there = "the numbers that are there are (0, 1) or (0, 0)"
    tens = np.full(12, 10.0), np.append(np.full(11, 10.0), np.nan)
    return [
        runs_of(
            "tools.nanmean",
            "nine of ten NaN, bounds = (0, 1)",
            tool("nanmean", **unit),
            (np.append(nan[:9], 1.0), np.append(nan[:9], 0.0)),
            "the number that is there is 0 or 1",
            4000,
            script="diffprivlib_nanmean.py",
        ),
        *(
            runs_of(
                f"tools.{name}",
                "38 of 40 NaN, bounds = (0, 1)",
                tool(name, **unit),
                spread,
                there,
                4000,
                script="diffprivlib_nanvar.py",
            )
            for name in ("nanvar", "nanstd")
        ),
        runs_of(
            "tools.nansum",
            "bounds = (9, 10), a number becomes NaN",
            tool("nansum", epsilon=1.0, bounds=(9, 10)),
            tens,
            "twelve tens, or eleven and NaN",
            4000,
            script="diffprivlib_nansum.py",
        ),
    ]


def one_notion() -> list[Case]:
    """Means hold for replaced records, histograms for added ones; their sum, which the accountant states, holds for neither."""
    found = []
    for epsilon in EPSILONS:
        added = exactly(lambda e=epsilon: laws_tools.mean_added(e))
        setting, witness = "bounds = (0, 1), a record added", "one number, 0; another one, 1, is added"
        found.append(case_of("tools.mean", setting, added, witness, epsilon=epsilon, note=READING, exceeded="inconclusive"))
        both = exactly(lambda e=epsilon: laws_tools.mean_and_histogram(e))
        found.append(
            Case(
                "diffprivlib",
                "tools.mean and tools.histogram",
                f"what the accountant states for both, whichever reading of neighbours, ε = {epsilon:g} each",
                PureDP(2 * epsilon),
                both,
                "one number, 0, replaced by 1; or 1 added to it",
                script="diffprivlib_mean_and_histogram.py",
            )
        )
    return found


# --- mechanisms and accountant --------------------------------------------------------------------------------------------------


def mechanism(name: str, **given: Any) -> Run:
    def run(value: Any, rng: np.random.Generator) -> Any:
        made = getattr(import_module("diffprivlib.mechanisms"), name)(random_state=state(rng), **given)
        return made.randomise(value)

    return run


def chosen_by(name: str) -> Run:
    """The data are the utilities."""

    def run(utility: Any, rng: np.random.Generator) -> Any:
        kind = getattr(import_module("diffprivlib.mechanisms"), name)
        return float(kind(epsilon=1.0, sensitivity=1, utility=list(utility), random_state=state(rng)).randomise())

    return run


def response(value: Any, rng: np.random.Generator) -> Any:
    binary = import_module("diffprivlib.mechanisms").Binary
    return float(binary(epsilon=1.0, value0="no", value1="yes", random_state=state(rng)).randomise(value) == "yes")


LIMITS: dict[str, tuple[int, int] | None] = {
    "Laplace": None,
    "LaplaceTruncated": (0, 2),
    "LaplaceFolded": (0, 2),
    "LaplaceBoundedDomain": (0, 2),
    "Snapping": (-10, 10),
    "Staircase": None,
    "Geometric": None,
    "GeometricTruncated": (0, 3),
    "GeometricFolded": (0, 3),
}


def mechanisms() -> list[Case]:
    found = []
    for name, limits in LIMITS.items():
        given: dict[str, Any] = {} if limits is None else {"lower": limits[0], "upper": limits[1]}
        setting = "sensitivity 1" + ("" if limits is None else f", in [{limits[0]}, {limits[1]}]")
        pair = (0, 1) if name.startswith("Geometric") else (0.0, 1.0)
        run = mechanism(name, epsilon=1.0, sensitivity=1, **given)
        found.append(runs_of(f"mechanisms.{name}", setting, run, pair, "0 and 1", 10000))
    for name in ("Gaussian", "GaussianAnalytic", "GaussianDiscrete", "LaplaceBoundedNoise"):
        pair = (0, 1) if name == "GaussianDiscrete" else (0.0, 1.0)
        run = mechanism(name, epsilon=0.9, delta=1e-3, sensitivity=1)
        test = by_runs(run, pair, budget=4000 if name == "GaussianDiscrete" else 10000)
        claim = ApproxDP(0.9, 1e-3)
        found.append(Case("diffprivlib", f"mechanisms.{name}", "(0.9, 0.001), sensitivity 1", claim, test, "0 and 1"))
    for name in ("Exponential", "PermuteAndFlip"):
        pair = ([3, 0, 0], [2, 1, 1])
        found.append(
            runs_of(f"mechanisms.{name}", "three candidates", chosen_by(name), pair, f"{pair[0]} and {pair[1]}", 20000)
        )
    found.append(runs_of("mechanisms.Binary", "two values", response, ("no", "yes"), "no and yes", 10000))
    return found


def accountant() -> list[Case]:
    """`total` of k spends of ε₀ with a slack, against the composition of randomised responses."""
    found = []
    for times, single, slack in ((10, 0.1, 1e-6), (100, 0.1, 1e-6), (30, 1.0, 1e-5), (300, 0.05, 1e-9)):

        def exact(k: int = times, e: float = single, s: float = slack) -> float:
            spender = import_module("diffprivlib.accountant").BudgetAccountant(slack=s)
            for _ in range(k):
                spender.spend(e, 0)
            return laws.composed_response_delta(e, k, float(spender.total()[0]))

        test = at_most(exact, lambda s=slack: s)
        setting = f"{times} × ε = {single:g}, slack {slack:g}"
        witness = "randomised responses: δ at the ε it states"
        claim, stated = ApproxDP(times * single, slack), f"δ ≤ {slack:g} at its ε"
        found.append(Case("diffprivlib", "BudgetAccountant.total", setting, claim, test, witness, stated=stated))
    return found
