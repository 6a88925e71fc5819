"""Is a wrong exponent caught?  Sweeps of algorithm × statement pairs, judged against the statement and against falsified ones.

    python benchmarks/planted.py [--jobs 2] [--only P4.S1 …] [--lines benchmarks/planted.jsonl]

What is planted, and what it means to catch it, is said in `verification/planted.py`.  One line of JSON per pair, with every
measured risk, is appended to the file; what stands there is not run again, and is judged anew.  A quarter of an hour on one core.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tailproof.verification.planted import judged
from tailproof.verification.report import table
from tailproof.verification.sweep_cases import CASES
from tailproof.verification.sweeps import Case, parts, points_of
from tailproof.verification.workers import Workers, one_thread, run_tasks

PAIRS: tuple[tuple[str, str, int], ...] = (
    # case (statement/algorithm/problem/preset), and runs at each value of n
    ("P0.T1/P0.A3/linear losses/tuned", "n", 60),
    ("P0.T2/P0.A4/−⟨w, x⟩ + ‖w‖^2/2/tuned", "n", 60),
    ("P0.T3/P0.A5/−⟨w, x⟩ + ‖w‖^2/2/tuned", "n", 60),
    ("P1.T2/P1.A1/means/theory", "n", 60),
    ("P1.T7/P1.A4/means/theory", "n", 100),
    ("P1.T8/P1.A4/linear losses/theory", "n", 40),
    ("P2.T2/P2.A2/means/theory", "n", 60),
    ("P2.T4/P2.A1/means, p = 2/theory", "n", 30),
    ("P3.T1/P3.A1/means/theory", "n", 200),
    ("P3.R1/P3.A1/means, v = 1/theory", "n", 200),
    ("P3.T3/P3.A3/means/theory", "n", 30),
    ("P3.T7/P3.A2/means/tuned", "n", 40),
    ("P3.T10/P3.A5/sparse regression/theory", "n", 12),
    ("P4.OURS.single/P4.S1/distance/theory", "n", 400),
    ("P4.OURS.distance/P4.S1/distance/theory", "n", 400),
    ("P4.P3.2/P4.A4/distance/theory", "n", 400),
    ("P4.PF.5/P4.A7/distance/theory", "n", 400),
    ("P4.TE.1/P4.A5/distance/theory", "n", 400),
    ("P4.OURS.bound/P4.A1/linear losses/theory", "n", 200),
    ("P4.OURS.objective/P4.S2/linear losses/theory", "n", 200),
)


def risks_of(case: Case, over: str, runs: int, *, seed: int, jobs: int) -> list[float]:
    """Of every value and run, in that order; six digits are more than enough to judge by."""
    points = points_of(case, over=over, grid=case.grids[over])
    done = run_tasks(
        parts(case, over=over, grid=points, runs=runs, seed=seed), Workers(jobs=jobs, progress=True), {"command": "planted"}
    )
    return [float(f"{risk:.6g}") for part in done for risk in part.result]


def row(name: str, over: str, runs: int, found: dict[str, Any]) -> list[str]:
    honest = found["honest"]
    if honest["slope"] is None:
        return [name, over, str(runs), "–", "–", "saturated", "–", "–", "no"]
    slope, low, high = honest["slope"]
    return [
        name,
        over,
        str(runs),
        f"{slope:+.2f} ({low:+.2f} to {high:+.2f})",
        f"{honest['bound_slope']:+.2f}",
        f"{honest['verdict']}, {honest['exponent']}",
        ", ".join(found["optimistic"]),
        ", ".join(found["pessimistic"]),
        "yes" if found["caught"] else "no",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=Path, default=Path(__file__).with_name("planted.jsonl"))
    parser.add_argument("--only", nargs="+", help="statements or algorithms")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    lines = arguments.lines.read_text().splitlines() if arguments.lines.exists() else []
    kept = {(e["name"], e["over"], e["runs"], e["seed"]): e["risks"] for e in map(json.loads, lines)}
    rows, caught = [], 0
    cases = {case.name: case for case in CASES}
    for name, over, runs in PAIRS:
        case, key = cases[name], (name, over, runs, arguments.seed)
        if arguments.only and not {case.statement, case.algorithm} & set(arguments.only):
            continue
        if key not in kept:
            kept[key] = risks_of(case, over, runs, seed=arguments.seed, jobs=arguments.jobs)
            with arguments.lines.open("a") as file:
                entry = dict(zip(("name", "over", "runs", "seed"), key, strict=True)) | {"risks": kept[key]}
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        with one_thread():
            points = points_of(case, over=over, grid=case.grids[over])
            found = judged(case, kept[key], over=over, points=points, runs=runs, seed=arguments.seed)
        rows.append(row(name, over, runs, found))
        caught += found["caught"]
        print(*rows[-1], sep="  ", flush=True)
    head = [
        "pair",
        "along",
        "runs",
        "measured slope, 99 % limits",
        "rate's",
        "verdict, exponent",
        "−1/4 planted",
        "+1/4 planted",
    ]
    print(table(rows, [*head, "caught"]))
    print(f"{caught} of {len(rows)} pairs: both planted exponents are caught")


if __name__ == "__main__":
    main()
