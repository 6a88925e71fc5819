"""One-run audits of DP-SGD (P0.B) with gradient canaries: the lower bound of ε beside the accountant's ε.

    python benchmarks/one_run.py [--canaries 1000] [--runs 20] [--steps 50] [--confidence .95] [--json FILE]

Every row is a setting; every run gives one lower bound, at δ = 1e-5, from the last iterate alone.  `above` counts the runs whose
bound exceeds the ε that is true, which may happen in a share of 1 − confidence of them.  The last row has the noise of ε = 16
under a claim of ε = 1.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from tailproof.verification.auditing.canaries import dp_sgd_scores
from tailproof.verification.auditing.one_run import audit_one_run
from tailproof.verification.report import table

DELTA = 1e-5
SETTINGS = [(share, epsilon) for share in (1.0, 0.1) for epsilon in (1.0, 2.0, 4.0, 8.0, 16.0)]


def row(share: float, epsilon: float, arguments: argparse.Namespace, claimed: float | None = None) -> dict[str, Any]:
    bounds, start = [], time.perf_counter()
    for seed in range(arguments.runs):
        scores, coins = dp_sgd_scores(
            np.random.default_rng([seed, round(100 * share), round(100 * epsilon)]),
            canaries=arguments.canaries,
            epsilon=epsilon,
            delta=DELTA,
            share=share,
            steps=arguments.steps,
        )
        bounds.append(audit_one_run(scores, coins, delta=DELTA, confidence=arguments.confidence).epsilon_lower)
    limit = epsilon if claimed is None else claimed
    return {
        "share": share,
        "noise for": epsilon,
        "claimed": limit,
        "median": float(np.median(bounds)),
        "least": min(bounds),
        "greatest": max(bounds),
        "above": sum(bound > limit for bound in bounds),
        "seconds": (time.perf_counter() - start) / arguments.runs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--canaries", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    rows = [row(share, epsilon, arguments) for share, epsilon in SETTINGS]
    rows.append(row(1.0, 16.0, arguments, claimed=1.0))
    print(f"{arguments.canaries} canaries, {arguments.runs} runs each, {arguments.steps} steps, δ = {DELTA:g}")
    print(table([[f"{value:.3g}" for value in r.values()] for r in rows], list(rows[0])))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
