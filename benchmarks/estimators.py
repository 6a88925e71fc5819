"""Time and memory of every private mean estimator, as ratios measured in one run.

    python benchmarks/estimators.py [--n 1000000] [--d 20] [--json FILE]

Time is divided by the time numpy takes to average the same array (best of several); memory is the peak of what the
estimator allocates, in copies of the data.  Both are ratios, so they mean the same on every machine.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tailproof.refimpl.channel import run
from tailproof.refimpl.claims import UnprovedClaim
from tailproof.refimpl.means.clipped import clipped_mean
from tailproof.refimpl.means.iterative_updating import iterative_updating_mean
from tailproof.refimpl.means.median_of_means import truncated_median_of_means
from tailproof.refimpl.means.peeling import peeled_mean
from tailproof.refimpl.means.simple_clipping import simple_clipping_mean
from tailproof.refimpl.means.soft_truncation import soft_truncated_mean
from tailproof.refimpl.means.trimmed import trimmed_mean
from tailproof.refimpl.means.truncated import truncated_mean

PRIVATE = {"epsilon": 0.5, "delta": 1e-6}


def subjects(n: int) -> dict[str, tuple[str, Callable[[np.ndarray], Any]]]:
    """id -> (what, call)."""

    def mechanism(function: Any, **parameters: Any) -> Callable[[np.ndarray], Any]:
        return lambda data: run(function, data, np.random.default_rng(0), **parameters)

    trimmed = {**PRIVATE, "lower": -10.0, "upper": 10.0}
    iterative = {**PRIVATE, "clip": 10.0, "groups": 40, "steps": 5, "amplification": "none", "method": "heuristic"}
    return {
        "P0.A1": ("clipped mean", lambda data: clipped_mean(data, clip=10.0)),
        "P2.A2": ("simple clipping", mechanism(simple_clipping_mean, clip=10.0, rho=0.1)),
        "P3.A1": ("truncated mean of one column", lambda data: _one_column(data)),
        "P3.A3": (
            "truncated median of means",
            mechanism(truncated_median_of_means, **PRIVATE, failure=0.05, truncation=10.0),
        ),
        "P3.A4": ("peeling, s = 5", mechanism(peeled_mean, **PRIVATE, truncation=10.0, sparsity=5)),
        "P1.A4.mean": ("soft truncation", mechanism(soft_truncated_mean, **PRIVATE, second_moment=3.0, failure=0.01)),
        "P1.A3.mean m=100": ("trimmed mean, smooth sensitivity", mechanism(trimmed_mean, **trimmed, trim=100)),
        "P1.A3.mean m=n/20": ("trimmed mean, smooth sensitivity", mechanism(trimmed_mean, **trimmed, trim=n // 20)),
        "P2.A3": ("iterative updating, 40 groups, 5 steps", mechanism(iterative_updating_mean, **iterative)),
    }


def _one_column(data: np.ndarray) -> Any:
    parameters = {**PRIVATE, "failure": 0.05, "moment_order": 1.5, "moment_bound": 3.0}
    return run(truncated_mean, data[:, :1], np.random.default_rng(0), **parameters)


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """The least of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def copies(call: Callable[[], Any], size: int) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--d", type=int, default=20)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UnprovedClaim)
    data = np.random.default_rng(0).standard_t(2.5, size=(arguments.n, arguments.d))
    averaging = seconds(lambda: data.mean(axis=0), 7)
    rows = []
    print(f"n = {arguments.n}, d = {arguments.d}; time of numpy's mean = 1")
    for name, (what, call) in subjects(arguments.n).items():
        base = averaging if name != "P3.A1" else seconds(lambda: data[:, :1].mean(axis=0), 7)
        ratio = seconds(lambda call=call: call(data), 3) / base
        memory = copies(lambda call=call: call(data), data.nbytes)
        rows.append({"id": name, "what": what, "time_ratio": round(ratio, 2), "copies_of_data": round(memory, 3)})
        print(f"{name:14} {what:42} time {ratio:8.2f}   memory {memory:6.3f} copies")
    if arguments.json:
        arguments.json.write_text(json.dumps({"n": arguments.n, "d": arguments.d, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
