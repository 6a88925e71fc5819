"""Program (27): what each method costs and attains, as ratios measured in one run.

    python benchmarks/distance_program.py [--json FILE] [--seed N]

For each number of points, dimension and position of the centre (outside the points, or deep among them): seconds relative
to the heuristic's, and gaps as fractions of the points' median norm: `short` is the best distance that any method attained
minus this one's, `open` is what it leaves between its distance and its proved upper bound.  A method that does not apply
is left out: the exact one says so itself, the relaxation is tried for up to 40 points.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tailproof.refimpl.means.distance_program import METHODS, MOST_RELAXED, Estimate, estimate
from tailproof.refimpl.validation import FloatArray, InputError

POINTS = (10, 30, 40, 200, 2000)
DIMENSIONS = (2, 5, 20)
CENTRES = {"outside": 1.0, "deep": 0.0}


def timed(points: FloatArray, method: str) -> tuple[float, Estimate] | None:
    start = time.perf_counter()
    try:
        answer = estimate(points, np.zeros(points.shape[1]), method=method)
    except InputError:
        return None
    return time.perf_counter() - start, answer


def compare(points: FloatArray) -> Iterator[dict[str, Any]]:
    """One row for each method that applies."""
    methods = [m for m in METHODS[1:] if m != "semidefinite" or len(points) <= MOST_RELAXED]
    runs = {method: run for method in methods if (run := timed(points, method)) is not None}
    reference, best = runs["heuristic"][0], max(answer.distance for _, answer in runs.values())
    size = float(np.median(np.linalg.norm(points, axis=1)))
    for method, (seconds, answer) in runs.items():
        yield {
            "method": method,
            "seconds": seconds,
            "times_heuristic": seconds / reference,
            "distance": answer.distance / size,
            "short": (best - answer.distance) / size,
            "open": (answer.upper - answer.distance) / size,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the rows as JSON ('-' for standard output)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    timed(np.ones((3, 2)), "semidefinite")  # loads the modelling library before anything is timed
    rows = []
    # With the rows alone on standard output, the readable table goes to standard error.
    table = sys.stderr if options.json == "-" else sys.stdout
    print(
        f"{'points':>6} {'d':>3} {'centre':8} {'method':13}{'ratio':>9}{'distance':>10}{'short':>10}{'open':>10}", file=table
    )
    for k in POINTS:
        for d in DIMENSIONS:
            for centre, shift in CENTRES.items():
                rng = np.random.default_rng([options.seed, k, d])
                points = rng.standard_t(3, size=(k, d)) + shift * np.sqrt(d) * np.eye(d)[0]
                for row in compare(points):
                    rows.append({"points": k, "dimension": d, "centre": centre, **row})
                    print(
                        f"{k:6} {d:3} {centre:8} {row['method']:13}{row['times_heuristic']:9.2f}{row['distance']:10.4f}"
                        f"{row['short']:10.4f}{row['open']:10.4f}",
                        file=table,
                    )
    if options.json == "-":
        json.dump(rows, sys.stdout, indent=1)
    elif options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
