"""Time of P1's optimisers at their tuned presets, and of a step as a multiple of the pass over all gradients that it needs.

    python benchmarks/p1_optimisers.py [--n 10000] [--d 20]

A step is that pass and an estimate of the mean: for trimmed means two partial sorts of every coordinate, for soft truncation an
error function per entry.  So the multiple is that of the estimate; `rest` is what neither takes.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from refimpl.approx_dp import (
    robust_gradient_descent,
    sample_aggregate,
    sample_and_aggregate,
    soft_descent,
    soft_truncation_descent,
    trimmed_descent,
    trimmed_mean_descent,
)
from refimpl.approx_dp.gradient_steps import gradient_table
from refimpl.channel import run
from refimpl.losses import Squared
from refimpl.means.soft_truncation import soft_truncated_mean
from refimpl.means.trimmed import trimmed_mean

PRIVATE = {"epsilon": 1.0, "delta": 1e-6}
PROBLEM = {"loss": "squared", "domain": "ball:2"}


def seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    """The least of several runs."""
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--d", type=int, default=20)
    arguments = parser.parse_args()
    n, d, rng = arguments.n, arguments.d, np.random.default_rng(0)
    features = rng.standard_normal((n, d))
    data = np.column_stack([features, features.sum(axis=1) / math.sqrt(d) + rng.standard_t(3, size=n)])
    gradients = gradient_table(Squared(), np.zeros(d), data)
    one_pass = seconds(lambda: gradient_table(Squared(), np.zeros(d), data))
    soft = soft_descent.tuned_parameters(n, d, **PRIVATE, curvature_upper=1.0, second_moment=5.0)
    trimmed = {**trimmed_descent.tuned_parameters(n, curvature_upper=1.0), "lower": -5.0, "upper": 5.0}
    print(f"n = {n}, d = {d}; one pass over the gradients: {1e3 * one_pass:.2f} ms")
    for name, function, given, mean in (
        ("P1.A3", trimmed_mean_descent, trimmed, trimmed_mean),
        ("P1.A4", soft_truncation_descent, soft, soft_truncated_mean),
    ):
        of_mean = {key: value for key, value in given.items() if key not in ("steps", "step_size", "sampling")}
        estimate = seconds(partial(run, mean, gradients, rng, **PRIVATE, **of_mean, iterations=given["steps"]))
        step = seconds(partial(run, function, data, rng, **PROBLEM, **PRIVATE, **given)) / given["steps"]
        print(
            f"{name}: {given['steps']} steps in {step * given['steps']:.3f} s; a step takes {step / one_pass:.1f} passes, "
            f"the estimate {estimate / one_pass:.1f}, rest {(step - estimate) / one_pass - 1:.1f}"
        )
    blocks = sample_aggregate.tuned_parameters(n, d, **PRIVATE, diameter=4.0, spread=math.sqrt(3 * d))
    for chosen in (blocks["blocks"], n // 25):
        given = {**blocks, "blocks": chosen}
        taken = seconds(partial(run, sample_and_aggregate, data, rng, **PROBLEM, **PRIVATE, **given), 2)
        print(f"P1.A1: {chosen} blocks in {taken:.3f} s")
    baseline = seconds(lambda: robust_gradient_descent(data, **PROBLEM, steps=30, step_size=0.5), 2)
    print(f"robust gradient descent without privacy: 30 steps in {baseline:.3f} s")


if __name__ == "__main__":
    main()
