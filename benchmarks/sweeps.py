"""All sweeps of measured risk against the theorems' rates, as `tailproof verify --full` runs them, kept one by one.

    python benchmarks/sweeps.py --lines benchmarks/sweeps.jsonl [--only P2.T4] [--seed 0]

One line of JSON per sweep is appended to the file, which is read first: what stands there is not run again.  Printed is a line for
each: slopes with one-sided 99 % limits, the verdict, and its reason.  All of them take about an hour on one core.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from tailproof.verification.sweep_cases import CASES
from tailproof.verification.sweep_runs import failures
from tailproof.verification.sweeps import sentence, sweep


def rounded(value: Any) -> Any:
    """Six digits are more than the intervals allow for."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=Path, required=True)
    parser.add_argument("--only", nargs="+", help="statements or algorithms")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    lines = arguments.lines.read_text().splitlines() if arguments.lines.exists() else []
    kept = {(entry["name"], entry["over"]): entry for entry in map(json.loads, lines)}
    for case in CASES:
        if arguments.only and not {case.statement, case.algorithm} & set(arguments.only):
            continue
        for over, grid in case.grids.items():
            if (case.name, over) not in kept:
                start = time.process_time()
                result = sweep(case, over=over, grid=grid, runs=case.runs, seed=arguments.seed)
                entry = {"name": case.name, "over": over, "seconds": time.process_time() - start, "result": rounded(result)}
                kept[case.name, over] = entry
                with arguments.lines.open("a") as file:
                    file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            entry = kept[case.name, over]
            print(f"{case.name} along {over}: {sentence(entry['result'])}", flush=True)
    wrong = failures([entry["result"] for entry in kept.values()])
    print("\n".join(wrong) or f"{len(kept)} sweeps; what grows along n or is saturated has its reason")


if __name__ == "__main__":
    main()
