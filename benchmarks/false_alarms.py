"""Do the checks flag an honest algorithm?  All findings on the rows of P0 to P3, at quick effort, over many seeds.

    python benchmarks/false_alarms.py --seeds 100 --jobs 2 --lines false_alarms.jsonl

One line of JSON per row and seed is appended to the file, which is read first: what stands there is not run again.  Printed are the
violations that no erratum expects, and for every check the largest measured / bound among the findings that are not violated.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from tqdm import tqdm

from tailproof.refimpl.catalogue import algorithm
from tailproof.verification.check import QUICK, honest_findings, implemented

PAPERS = ("P0", "P1", "P2", "P3")


def rows() -> list[str]:
    return [entry.id for entry in implemented() if entry.paper in PAPERS]


def judge(identifier: str, seed: int) -> dict[str, Any]:
    """What one row's findings say at one seed."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        findings = list(honest_findings(algorithm(identifier), seed, QUICK))
    ratios: dict[str, float] = {}
    for f in findings:
        if f.status != "violated" and f.measured is not None and f.bound:
            ratios[f.check] = max(ratios.get(f.check, 0.0), f.measured / f.bound)
    return {
        "row": identifier,
        "seed": seed,
        "findings": len(findings),
        "unexpected": [f"{f.check}: {f.detail}" for f in findings if f.unexpected_violation],
        "expected": sum(f.status == "violated" and f.expected for f in findings),
        "ratios": {check: ratio for check, ratio in ratios.items() if math.isfinite(ratio)},
        "seconds": round(time.process_time() - start, 3),
    }


def read(path: Path) -> list[dict[str, Any]]:
    """A line that was cut off is run again."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def summary(lines: list[dict[str, Any]]) -> str:
    alarms = [(line["row"], line["seed"], what) for line in lines for what in line["unexpected"]]
    worst: dict[str, tuple[float, str, int]] = {}
    for line in lines:
        for check, ratio in line["ratios"].items():
            worst[check] = max(worst.get(check, (-1.0, "", 0)), (ratio, line["row"], line["seed"]))
    text = [
        f"{len(lines)} runs, {len({line['seed'] for line in lines})} seeds, {sum(line['findings'] for line in lines)} findings, "
        f"{sum(line['expected'] for line in lines)} expected violations, {sum(line['seconds'] for line in lines):.0f} s",
        f"unexpected violations: {len(alarms)}",
        *(f"  {row}, seed {seed}: {what}" for row, seed, what in alarms),
        *(
            f"  {check:26} {ratio:.6g} of the bound ({row}, seed {seed})"
            for check, (ratio, row, seed) in sorted(worst.items())
        ),
    ]
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=100, help="seeds 0 to this, exclusive")
    parser.add_argument("--only", nargs="+", default=None, metavar="ID")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--lines", type=Path, default=Path("false_alarms.jsonl"))
    arguments = parser.parse_args()
    chosen = [row for row in rows() if not arguments.only or row in arguments.only]
    done = {(line["row"], line["seed"]) for line in read(arguments.lines)}
    work = [(row, seed) for seed in range(arguments.seeds) for row in chosen if (row, seed) not in done]
    found = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")(delayed(judge)(*pair) for pair in work)
    with arguments.lines.open("a") as file:
        for line in tqdm(found, total=len(work), unit="row"):
            print(json.dumps(line), file=file, flush=True)
    print(summary([line for line in read(arguments.lines) if line["row"] in chosen and line["seed"] < arguments.seeds]))


if __name__ == "__main__":
    main()
