"""How much faster are two workers than one, and what tasks cost.

    python benchmarks/workers.py speed [--workers 2] [--only audits] [--json benchmarks/workers.json]
    python benchmarks/workers.py costs --full report/timings.json [--quick quick/timings.json]

`speed` runs the same tasks of the full preset with one worker and with several, one after the other in one run, and compares the
results: the audits of published outputs, and all checks of the algorithms, which contain them.  The time of several workers
includes starting them.  Nothing else should run on the machine.  Five minutes for each worker.

`costs` writes `verification/expected_seconds.json` from the timings that `tailproof verify` leaves beside its report: in which
order tasks start, and the remaining time that is shown, depend on it, and no result does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

from tailproof.verification.check import FULL
from tailproof.verification.report import table
from tailproof.verification.verify import work
from tailproof.verification.workers import Task, Workers, run_tasks

COSTS = Path(__file__).parent.parent / "verification" / "expected_seconds.json"
LEAST = 0.05  # seconds: what takes less need not be known


def tasks_of(what: str) -> list[Task]:
    pieces = [piece for piece in work(None, 0, FULL) if piece.kind == "algorithm"]
    return [task for piece in pieces for task in piece.tasks if what == "checks" or piece.detail == "output"]


def timed(tasks: list[Task], jobs: int) -> tuple[float, list[Any], list[float]]:
    start = time.perf_counter()
    done = run_tasks(tasks, Workers(jobs=jobs, progress=True), {"command": "benchmark"})
    return time.perf_counter() - start, [one.result for one in done], [one.seconds for one in done]


def measured(what: str, workers: int) -> dict[str, Any]:
    tasks = tasks_of(what)
    one, first, seconds = timed(tasks, 1)
    many, second, _ = timed(tasks, workers)
    return {
        "what": what,
        "tasks": len(tasks),
        "longest": max(seconds),
        "one": one,
        "workers": workers,
        "many": many,
        "faster": one / many,
        "same": first == second,
    }


def speed(arguments: argparse.Namespace) -> None:
    rows = [measured(what, arguments.workers) for what in arguments.only or ("audits", "checks")]
    machine = {"cores": os.cpu_count(), "processor": platform.processor() or platform.machine()}
    if arguments.json is not None:
        arguments.json.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")
    cells = [
        [
            row["what"],
            str(row["tasks"]),
            f"{row['longest']:.1f} s",
            f"{row['one']:.1f} s",
            f"{row['many']:.1f} s",
            f"{row['faster']:.2f}",
            "yes" if row["same"] else "NO",
        ]
        for row in rows
    ]
    header = ["what", "tasks", "longest", "one worker", f"{arguments.workers} workers", "times as fast", "same results"]
    print(table(cells, header))


def costs(arguments: argparse.Namespace) -> None:
    known = json.loads(COSTS.read_text(encoding="utf-8"))
    for preset in ("full", "quick"):
        if (path := getattr(arguments, preset)) is not None:
            spent = json.loads(path.read_text(encoding="utf-8"))
            known[preset] = {name: round(seconds, 2) for name, seconds in spent.items() if seconds >= LEAST}
    COSTS.write_text(json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    print(*(f"{preset}: {len(entries)} tasks, {sum(entries.values()):.0f} s" for preset, entries in known.items()), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("speed")
    first.add_argument("--workers", type=int, default=2)
    first.add_argument("--only", nargs="+", choices=["audits", "checks"])
    first.add_argument("--json", type=Path)
    first.set_defaults(action=speed)
    second = commands.add_parser("costs")
    second.add_argument("--full", type=Path)
    second.add_argument("--quick", type=Path)
    second.set_defaults(action=costs)
    arguments = parser.parse_args()
    arguments.action(arguments)


if __name__ == "__main__":
    main()
