"""Does any pure-DP row end differently on neighbours?  Adversarial pairs for every row, spread over losses, domains and numbers.

    python benchmarks/outcomes.py [--only P4.S1 …] [--pairs 2000] [--lines benchmarks/outcomes.jsonl] [--table]

The adversary and the verdicts are those of `verification/outcomes.py`, the losses, domains and public numbers those of
`verification/outcome_cases.py`.  Eight pairs share one case of public numbers, and one line of JSON.  Lines are appended; what
stands in the file is not run again.  `--table` prints what stands there and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tailproof.verification.outcome_cases import ROWS, case_of
from tailproof.verification.report import table
from tailproof.verification.seeds import task_seed
from tailproof.verification.workers import one_thread

PAIRS_OF_A_CASE = 8


def line(row: str, index: int, seed: int) -> dict[str, Any]:
    """What the check says about one case."""
    start = time.process_time()
    case = case_of(row, index)
    found = case.check(task_seed(seed, row, index), PAIRS_OF_A_CASE).measurement
    status = "violated" if found.exceeds else "inconclusive" if found.undecided else "consistent"
    return {
        "row": row,
        "case": index,
        "seed": seed,
        "public": case.words,
        "pairs": PAIRS_OF_A_CASE,
        "status": status,
        "detail": found.detail,
        "seconds": round(time.process_time() - start, 3),
    }


def summary(lines: Iterable[dict[str, Any]]) -> str:
    rows = []
    kept = list(lines)
    for row in ROWS:
        own = [entry for entry in kept if entry["row"] == row]
        counts = [
            sum(entry["pairs"] for entry in own if entry["status"] == status)
            for status in ("consistent", "inconclusive", "violated")
        ]
        seconds = sum(entry["seconds"] for entry in own)
        slowest = max((entry["seconds"] for entry in own), default=0.0)
        rows.append([row, str(len(own)), *(str(count) for count in counts), f"{seconds:.0f}", f"{slowest:.1f}"])
    return table(rows, ["row", "cases", "pairs alike", "undecided", "violated", "CPU s", "slowest case"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=Path, default=Path(__file__).with_name("outcomes.jsonl"))
    parser.add_argument("--only", nargs="+", choices=ROWS, default=ROWS)
    parser.add_argument("--pairs", type=int, default=2000, help="of every row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="print what is known, and run nothing")
    arguments = parser.parse_args()
    kept = [json.loads(text) for text in arguments.lines.read_text().splitlines()] if arguments.lines.exists() else []
    done = {(entry["row"], entry["case"], entry["seed"]) for entry in kept}
    cases = [] if arguments.table else range(-(-arguments.pairs // PAIRS_OF_A_CASE))
    with one_thread():
        for index in cases:
            for row in arguments.only:
                if (row, index, arguments.seed) in done:
                    continue
                kept.append(line(row, index, arguments.seed))
                with arguments.lines.open("a") as file:
                    file.write(json.dumps(kept[-1], ensure_ascii=False) + "\n")
                if kept[-1]["status"] != "consistent":
                    print(row, index, kept[-1]["status"], kept[-1]["public"], kept[-1]["detail"], sep="  ", flush=True)
    print(summary(kept))


if __name__ == "__main__":
    main()
