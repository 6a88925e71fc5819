"""The Lipschitz extension of many records: the batched twin against conic programming, as ratios measured in one run.

    python benchmarks/extension.py [--n 100000] [--d 10] [--rebuilds 20] [--solves 60] [--json FILE]

Processor time per record of (i) building and solving the conic program anew (`extend`) and (ii) solving a program built
once, with new parameters (`ReferenceExtension.at`), both on the first few records, divided by that of `Batch.at(w)` and
`subgradients()` on all n (best of several; making the `Batch` is done once per data set and not counted).  Features are
Student t with 2 degrees of freedom; the constants make all three cases of the extension occur (affine loss has no second),
and their shares are given.  `apart` is the largest difference between the values of twin and reference beyond the
reference's certified gap, over 1 + |value|.
Domains other than the ball have fewer records where they are slow.  One BLAS thread.
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when numpy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from tailproof.refimpl.domains import Box, Domain, Ellipsoid, L1Ball, Localised, Polytope, unit_ball  # noqa: E402
from tailproof.refimpl.extension.batched import Batch, Extension, batch  # noqa: E402
from tailproof.refimpl.extension.socp import ReferenceExtension, extend  # noqa: E402
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, ReLU, Squared  # noqa: E402
from tailproof.refimpl.validation import FloatArray  # noqa: E402

REQUIRED = {"rebuild": 10_000, "solve": 1_000}  # for hinge loss on the unit ball, n = 1e5, d = 10


def subjects(n: int, d: int) -> list[tuple[str, Domain, GlmLoss, float, int]]:
    """(name, domain, loss, C, number of records)."""
    box = Box(np.full(d, -0.5), np.full(d, 0.5))
    cut = Polytope(np.vstack([np.eye(d), -np.eye(d), np.ones((1, d))]), np.r_[np.full(2 * d, 0.5), 0.2 * d])
    hinge, ball = Hinge(), unit_ball(d)
    return [
        ("unit ball", ball, hinge, 1.0, n),
        ("unit ball", ball, Affine(), 0.9, n),
        ("unit ball", ball, ReLU(), 0.9, n),
        ("unit ball", ball, Absolute(), 0.9, n),
        ("unit ball", ball, Logistic(), 0.3, n),
        ("unit ball", ball, Squared(), 0.5, n),
        ("unit ball", ball, L4(), 0.5, n),
        ("box", box, hinge, 1.0, n),
        ("ellipsoid", Ellipsoid(np.zeros(d), np.diag(np.linspace(0.3, 1.5, d))), hinge, 1.0, n // 5),
        ("l1 ball", L1Ball(np.zeros(d), 1.5), hinge, 1.0, n // 5),
        ("localised box", Localised(box, np.full(d, 0.2), 0.6), hinge, 1.0, n // 20),
        ("polytope", cut, hinge, 1.0, n // 200),
    ]


def make_data(loss: GlmLoss, n: int, d: int) -> FloatArray:
    rng = np.random.default_rng(0)
    features, targets = 0.2 * rng.standard_t(2.0, size=(n, d)), 0.5 * rng.standard_t(2.0, size=n)
    if loss.target == "none":
        return np.asarray(features)
    return np.column_stack([features, np.where(targets < 0, -1.0, 1.0) if loss.target == "label" else targets])


def make_point(domain: Domain) -> FloatArray:
    """Four fifths of the way from the middle to the boundary."""
    direction = np.random.default_rng(1).normal(size=domain.dimension)
    middle = domain.interior_point()
    return middle + 0.8 * (domain.project(middle + 100 * direction) - middle)


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """The least processor time of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def evaluate(of: Batch, w: FloatArray) -> Extension:
    found = of.at(w)
    found.subgradients()
    return found


def measured(name: str, domain: Domain, loss: GlmLoss, clip: float, n: int, *, rebuilds: int, solves: int) -> dict[str, Any]:
    d = domain.dimension
    data, w = make_data(loss, n, d), make_point(domain)
    of, reference = batch(loss=loss, data=data, domain=domain, lipschitz=clip), ReferenceExtension(loss, domain, d)
    found = evaluate(of, w)
    conic = [reference.at(record, w, clip) for record in data[:solves]]  # the first solution compiles the program
    batched = seconds(lambda: evaluate(of, w), 5) / n
    solve = seconds(lambda: [reference.at(record, w, clip) for record in data[:solves]], 2) / len(data[:solves])
    rebuild = seconds(lambda: [extend(loss, domain, record, w, clip) for record in data[:rebuilds]], 1) / rebuilds
    apart = [
        max(abs(one.value - value) - one.gap, 0.0) / (1 + abs(value))
        for one, value in zip(conic, found.values, strict=False)
    ]
    return {
        "domain": name,
        "loss": type(loss).__name__,
        "n": n,
        "cases": [round(float(np.mean(found.kind == case)), 3) for case in (1, 2, 3)],
        "microseconds_per_record": round(1e6 * batched, 4),
        "rebuild_ratio": round(rebuild / batched),
        "solve_ratio": round(solve / batched),
        "apart": float(f"{max(apart):.1e}"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--d", type=int, default=10)
    parser.add_argument("--rebuilds", type=int, default=20)
    parser.add_argument("--solves", type=int, default=60)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    print(f"d = {arguments.d}; time per record, batched = 1; required for hinge on the unit ball: {REQUIRED}")
    print(f"{'domain':14}{'loss':10}{'n':>8}{'cases 1, 2, 3':>18}{'µs':>12}{'rebuild':>10}{'solve':>9}{'apart':>9}")
    for subject in subjects(arguments.n, arguments.d):
        row = measured(*subject, rebuilds=arguments.rebuilds, solves=arguments.solves)
        rows.append(row)
        cases = " ".join(f"{share:.2f}" for share in row["cases"])
        print(
            f"{row['domain']:14}{row['loss']:10}{row['n']:8d}{cases:>18}{row['microseconds_per_record']:12.3f}"
            f"{row['rebuild_ratio']:10d}{row['solve_ratio']:9d}{row['apart']:9.0e}",
            flush=True,
        )
    if arguments.json:
        head = {"d": arguments.d, "rebuilds": arguments.rebuilds, "solves": arguments.solves, "required": REQUIRED}
        arguments.json.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
