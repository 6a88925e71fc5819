"""Black-box audits: how much they find, how soon, and how often they are wrong.

    python benchmarks/audits.py power
    python benchmarks/audits.py detection
    python benchmarks/audits.py stopping
    python benchmarks/audits.py false-alarms --jobs 2
    python benchmarks/audits.py tools            (needs `pip install jax-privacy privacy-estimates`)
    python benchmarks/audits.py all --jobs 2     (all tables; what is kept in --results is not run again)

`power`: medians of the lower bounds at N samples per side (a budget of 2N), confidence .95, correct mechanisms whose claim is
exact, beside what the best single threshold gives with known laws and two Clopper–Pearson bounds.  `detection`: broken subjects of
the zoo, flagged of so many seeds at N samples per side, on the pair that is given and on one that the audit searches with the same
number of runs; the least N of 1, 2, 5, 10, … thousand at which all are flagged.  Both are of exhaustive audits.

`stopping`: the default audit, which stops at a refutation, beside the exhaustive one at the same budget and confidence .999: how
many of so many seeds are flagged, on pairs given and searched, and after how many runs.

`false-alarms`: how often a claim that is true, and in most cases exact, is called violated (its bound exceeds the truth) at a
nominal 5 %, with the lower 99 % limit of the rate, by exhaustive audits and by those that stop: pairs given at two budgets, and
searched.

`tools`: bounds of other packages from the same outputs.  Seeds start at --first, which no tuning has used.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import other_auditors
from joblib import Parallel, delayed
from scipy.stats import beta
from tqdm import tqdm

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing import Admissible, audit, zoo
from tailproof.verification.auditing.auditors import (
    KNOWN,
    MU,
    Known,
    gaussian,
    geometric,
    laplace,
    leaky_response,
    response,
    same,
    same_discrete,
    several_gaussian,
    several_laplace,
)
from tailproof.verification.auditing.zoo_truth import everything
from tailproof.verification.report import table

Subject = Callable[[Any, np.random.Generator, int], FloatArray]
Results = dict[str, Any]
CHUNK = 100  # runs of a line of the false-alarm study
PAIR = [(0.0, 1.0)]


POWER: list[tuple[str, Subject, Claim, dict[int, tuple[float, float]]]] = [
    ("Laplace, pure ε", laplace(1.0), PureDP(1.0), {10**4: (0.915, 0.939), 10**5: (0.975, 0.981), 10**6: (0.991, 0.994)}),
    (
        "Gaussian, (ε, δ)",
        gaussian(1 / MU),
        ApproxDP(1.0, 1e-5),
        {10**4: (0.30, 0.381), 10**5: (0.52, 0.594), 10**6: (0.71, 0.768)},
    ),
    ("Gaussian, μ / claim", gaussian(1 / MU), GDP(MU), {10**4: (0.88, 0.815), 10**5: (0.96, 0.942), 10**6: (0.985, 0.982)}),
    ("Gaussian, ρ / claim", gaussian(1 / MU), ZCDP(MU**2 / 2), {10**4: (math.nan, math.nan), 10**5: (math.nan, math.nan)}),
]


def five_noisy_counts(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """The largest of five counts with noise 2/ε, instead of its position; all counts rise by one: 2.5-DP."""
    return (float(data.sum()) + 2 * rng.laplace(size=(size, 5))).max(axis=1)


UNIT = Admissible(1, 1, 0.0, 1.0)
MOVED = (np.zeros((1, 1)), np.ones((1, 1)))
ASKED = {  # samples per side at which all seeds should be flagged
    "laplace-half": 10**3,
    "noisy-max-value": 10**3,
    "svt-stoddard": 10**3,
    "unclipped-mean": 10**3,
    "svt-lee-clifton": 10**4,
    "svt-chen": 10**4,
    "gaussian-log10": 10**5,
}
BROKEN = (
    *(zoo.specimen(name) for name in ASKED),
    *(one for one in zoo.broken() if one.name not in ASKED),
    zoo.Specimen("noisy-max-five", five_noisy_counts, PureDP(1.0), False, "five counts, noise 2/ε", MOVED, UNIT, 2.5),
)

HONEST: dict[str, tuple[Subject, Claim]] = {
    "Laplace": (laplace(1.0), PureDP(1.0)),
    "geometric": (geometric, PureDP(1.0)),
    "randomised response": (response, PureDP(1.0)),
    "leaky response": (leaky_response, ApproxDP(1.0, 0.02)),
    "five Laplace": (several_laplace, PureDP(1.0)),
    "same law, ε": (same, PureDP(0.01)),
    "same table, ε": (same_discrete, PureDP(0.01)),
    "Gaussian, (ε, δ)": (gaussian(1 / MU), ApproxDP(1.0, 1e-5)),
    "Gaussian, μ": (gaussian(1.0), GDP(1.0)),
    "five Gaussian, μ": (several_gaussian, GDP(1.0)),
    "same law, μ": (same, GDP(0.01)),
    "same table, μ": (same_discrete, GDP(0.01)),
    "randomised response, ρ": (response, ZCDP(math.tanh(0.5))),
    "same law, ρ": (same, ZCDP(1e-5)),
}


def kept(results: Results, key: str, compute: Callable[[], Any], path: Path) -> Any:
    """From the file, or computed and written there."""
    if key not in results:
        results[key] = compute()
        path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return results[key]


# --- bounds --------------------------------------------------------------------------------------------------------------


def power_row(name: str, per_side: int, seeds: range) -> dict[str, float]:
    subject, claim = next((subject, claim) for other, subject, claim, _ in POWER if other == name)
    found = [audit(subject, claim, PAIR, budget=2 * per_side, confidence=0.95, seed=seed, exhaustive=True) for seed in seeds]
    unit = {"epsilon": 1.0, "mu": MU, "rho": MU**2 / 2}[found[0].parameter]
    bounds = [result.lower / unit for result in found]
    return {
        "median": float(np.median(bounds)),
        "above": sum(bound > 1 for bound in bounds),
        "seconds": float(np.median([result.seconds for result in found])),
    }


def power(results: Results, path: Path, seeds: range) -> str:
    rows = []
    for name, _, _, sizes in POWER:
        for size, (asked, threshold) in sizes.items():
            found = kept(results, f"power {name} {size}", lambda name=name, size=size: power_row(name, size, seeds), path)
            shown = [
                f"{found['median']:.3f}",
                f"{asked:.3f}",
                f"{threshold:.3f}",
                str(found["above"]),
                f"{found['seconds']:.2f}",
            ]
            rows.append([name, f"{size:.0e}", *shown])
    return table(rows, ["subject", "N per side", "median bound", "asked", "best threshold", "above 1", "seconds"])


# --- detection -----------------------------------------------------------------------------------------------------------

SIZES = [factor * 10**power for power in (3, 4) for factor in (1, 2, 5)] + [10**5]


def detection_row(one: zoo.Specimen, searched: bool, seeds: range) -> dict[str, Any]:
    where: dict[str, Any] = {"space": one.space} if searched else {"pairs": [one.pair]}
    flagged: dict[str, int] = {}
    largest = ASKED.get(one.name, 10**4)
    for size in [size for size in SIZES if size <= max(largest, 5 * 10**4)]:
        found = [
            audit(one.subject, one.claim, **where, budget=2 * size, confidence=0.95, seed=seed, exhaustive=True)
            for seed in seeds
        ]
        flagged[str(size)] = sum(result.verdict == "violated" for result in found)
        if flagged[str(size)] == len(seeds) and size >= ASKED.get(one.name, 0):
            break
    return {"flagged": flagged, "of": len(seeds)}


def detection(results: Results, path: Path, seeds: range) -> str:
    rows = []
    for one in BROKEN:
        for searched in (False, True):
            way = "searched" if searched else "given"
            key = f"detection {one.name} {way}"
            found = kept(results, key, lambda one=one, searched=searched: detection_row(one, searched, seeds), path)
            need = next((int(size) for size, count in found["flagged"].items() if count == found["of"]), None)
            asked = ASKED.get(one.name)
            at = "–" if asked is None else f"{found['flagged'].get(str(asked), found['of'])}/{found['of']} at {asked:.0e}"
            needed = f"more than {max(map(int, found['flagged']))}" if need is None else str(need)
            rows.append([one.name, str(one.claim), way, at, needed])
    return table(rows, ["subject", "claim", "pair", "flagged", "N per side"])


# --- the default audit beside the exhaustive one -------------------------------------------------------------------------

SEARCHED_SEEDS = 10  # of the larger budget


def stopping_row(one: zoo.Specimen, way: str, budget: int, seeds: range) -> dict[str, Any]:
    where: dict[str, Any] = {"space": one.space} if way == "searched" else {"pairs": [one.pair]}
    settings: dict[str, Any] = {**where, "budget": budget, "confidence": 0.999}
    fixed = [audit(one.subject, one.claim, **settings, seed=seed, exhaustive=True) for seed in seeds]
    found = [audit(one.subject, one.claim, **settings, seed=seed, shrinks=False) for seed in seeds]
    return {
        "exhaustive": sum(result.verdict == "violated" for result in fixed),
        "stopping": sum(result.verdict == "violated" for result in found),
        "runs": float(np.median([result.samples for result in found])),
        "of": len(seeds),
    }


def stopping(results: Results, path: Path, seeds: range) -> str:
    rows = []
    for way, budget in (("given", 2000), ("searched", 2000), ("given", 20_000), ("searched", 20_000)):
        chosen = seeds[:SEARCHED_SEEDS] if (way, budget) == ("searched", 20_000) else seeds
        all_fixed = all_found = all_of = 0
        for one in (one for one in everything() if not one.holds):
            compute = partial(stopping_row, one, way, budget, chosen)
            found = kept(results, f"stopping {one.name} {way} {budget}", compute, path)
            all_fixed, all_found, all_of = (
                all_fixed + found["exhaustive"],
                all_found + found["stopping"],
                all_of + found["of"],
            )
            shown = [f"{found['exhaustive']}/{found['of']}", f"{found['stopping']}/{found['of']}", f"{found['runs']:.0f}"]
            rows.append([one.name, str(one.claim), way, str(budget), *shown])
        rows.append(["all broken ones", "", way, str(budget), f"{all_fixed}/{all_of}", f"{all_found}/{all_of}", ""])
    return table(rows, ["subject", "claim", "pair", "budget", "exhaustive", "stopping", "median runs"])


# --- false alarms --------------------------------------------------------------------------------------------------------


def honest_case(case: str) -> tuple[Subject, Claim, dict[str, Any]]:
    if case in HONEST:
        return *HONEST[case], {"pairs": PAIR}
    one = zoo.specimen(case.removeprefix("searched: "))
    return one.subject, one.claim, {"space": one.space}


def chunk(case: str, stops: bool, number: int, budget: int) -> dict[str, Any]:
    subject, claim, where = honest_case(case)
    start = time.process_time()
    seeds = range(number * CHUNK, (number + 1) * CHUNK)
    results = [
        audit(subject, claim, **where, budget=budget, exhaustive=not stops, confidence=0.95, seed=seed) for seed in seeds
    ]
    alarms = sum(result.verdict == "violated" for result in results)
    key = {"case": case, "stops": stops, "chunk": number, "budget": budget}
    return {**key, "alarms": alarms, "seconds": round(time.process_time() - start, 2)}


def studies(runs: int) -> list[tuple[str, int, int]]:
    """(case, budget, runs): pairs given, some of them again with more samples, and pairs searched."""
    larger = ("Laplace", "geometric", "leaky response", "Gaussian, μ", "randomised response, ρ", "same table, μ")
    return [
        *((case, 600, runs) for case in HONEST),
        *((case, 6000, max(CHUNK, runs // 4)) for case in larger),
        *((f"searched: {one.name}", 1000, max(CHUNK, runs // 5)) for one in zoo.correct()),
    ]


def false_alarms(runs: int, jobs: int, path: Path) -> str:
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(line["case"], line["stops"], line["chunk"], line["budget"]) for line in lines}
    planned = [(case, mode, c, n) for case, n, r in studies(runs) for mode in (False, True) for c in range(r // CHUNK)]
    work = [key for key in planned if key not in done]
    found = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(chunk)(*key) for key in work)
    with path.open("a") as file:
        for line in tqdm(found, total=len(work), unit="chunk"):
            print(json.dumps(line), file=file, flush=True)
            lines.append(line)
    rows = []
    for case, budget, _ in studies(runs):
        for mode in (False, True):
            mine = [line for line in lines if (line["case"], line["stops"], line["budget"]) == (case, mode, budget)]
            alarms, trials = sum(line["alarms"] for line in mine), CHUNK * len(mine)
            limit = float(beta.ppf(0.01, alarms, trials - alarms + 1)) if alarms else 0.0
            shown = [str(trials), f"{alarms / max(1, trials):.4f}", f"{limit:.4f}"]
            rows.append([case, "stopping" if mode else "exhaustive", str(budget), *shown])
    return table(rows, ["honest subject", "audit", "budget", "runs", "alarms", "lower 99 % limit"])


# --- other packages ------------------------------------------------------------------------------------------------------


COMPARED = ("Laplace, ε = 1", "Gaussian, (1, 1e-5)", "Gaussian, μ")
"""With a scale of 1/μ, so that both claims of a Gaussian are of the same outputs."""


def tools(results: Results, path: Path, seeds: range) -> str:
    rows, sizes = [], (10**4, 10**5, 10**6)
    subjects = {one.name: one for one in (*KNOWN, Known("Gaussian, μ", gaussian(1 / MU), MU, "mu"))}
    for name in COMPARED:
        for size in sizes:
            few = seeds[: 5 if size > 10**5 else len(seeds)]
            compute = partial(other_auditors.compared, subjects[name], size, few)
            found = kept(results, f"tools {name} {size}", compute, path)
            rows += [
                [name, f"{size:.0e}", who, f"{one['median']:.3f}", f"{one['seconds']:.2f}"] for who, one in found.items()
            ]
    return table(rows, ["subject", "N per side", "auditor", "median bound", "seconds"])


def main() -> None:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["power", "detection", "stopping", "false-alarms", "tools", "all"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000, help="the first seed (default 1000)")
    parser.add_argument("--runs", type=int, default=2000, help="false alarms: runs of each case, in hundreds")
    parser.add_argument("--jobs", type=int, default=1, help="false alarms: processes")
    parser.add_argument("--results", type=Path, default=Path("benchmarks/audits.json"), help="read first, and written")
    parser.add_argument("--lines", type=Path, default=Path("benchmarks/audits_false_alarms.jsonl"), help="likewise")
    arguments = parser.parse_args()
    path, seeds = arguments.results, range(arguments.first, arguments.first + arguments.seeds)
    results: Results = json.loads(path.read_text()) if path.exists() else {}
    tables = {
        "power": lambda: power(results, path, seeds),
        "detection": lambda: detection(results, path, seeds),
        "stopping": lambda: stopping(results, path, seeds),
        "false-alarms": lambda: false_alarms(arguments.runs, arguments.jobs, arguments.lines),
        "tools": lambda: tools(results, path, seeds),
    }
    for name in tables if arguments.what == "all" else [arguments.what]:
        print(f"\n{name}\n{tables[name]()}", flush=True)


if __name__ == "__main__":
    main()
