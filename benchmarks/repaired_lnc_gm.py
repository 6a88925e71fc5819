"""The price of the repair of P0's Algorithm 3 (P0.R3): excess risk and time of both, on a problem for which both are private.

Heavy-tailed regression (generalised linear, so that Algorithm 3's claim holds), the same phases and budget, paired seeds.
Prints the mean excess empirical risk of both with standard errors, their ratio, and the ratio of times.
Usage: python -m benchmarks.repaired_lnc_gm [runs]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from tailproof.refimpl.approx_dp import lnc_gm, localised_extension
from tailproof.refimpl.approx_dp.localised import tuned_phases
from tailproof.refimpl.channel import run
from tailproof.refimpl.losses import Squared


def measure(n: int, d: int, epsilon: float, runs: int) -> str:
    claim = {"epsilon": epsilon, "delta": 1e-6}
    law = {"dimension": d, "diameter": 2.0, "smoothness": 40.0, "moment_bound": 3.0, "moment_order": 3.0}
    phases = tuned_phases(n, **law, **claim, steps=200)  # type: ignore[arg-type]
    excess, seconds = np.zeros((2, runs)), np.zeros(2)
    target = np.full(d, 0.7 / np.sqrt(d))
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        features = np.clip(rng.standard_t(3, size=(n, d)) / 2, -4 / np.sqrt(d), 4 / np.sqrt(d))
        rows = np.column_stack([features, features @ target + rng.standard_t(3, size=n) / 2])
        floor = Squared().mean_value(np.linalg.lstsq(rows[:, :d], rows[:, d], rcond=None)[0], rows)
        for j, (function, extra) in enumerate(((lnc_gm, {"smoothness": 40.0}), (localised_extension, {}))):
            start = time.process_time()
            point, _ = run(
                function,
                rows,
                np.random.default_rng([seed, 1]),
                loss="squared",
                domain="ball:1",
                phases=phases,
                **claim,
                **extra,
            )
            seconds[j] += time.process_time() - start
            excess[j, seed] = Squared().mean_value(point, rows) - floor
    mean, error = excess.mean(axis=1), excess.std(axis=1, ddof=1) / np.sqrt(runs)
    return (
        f"n = {n}, d = {d}, ε = {epsilon:g}: LNC-GM {mean[0]:.4g} ± {error[0]:.2g}, repaired {mean[1]:.4g} ± {error[1]:.2g}, "
        f"ratio {mean[1] / mean[0]:.3f}; {seconds[0] / runs:.3g} s and {seconds[1] / runs:.3g} s a run, "
        f"ratio {seconds[1] / seconds[0]:.2f}"
    )


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for n, d, epsilon in ((1000, 2, 1.0), (1000, 5, 3.0), (4000, 5, 3.0)):
        print(measure(n, d, epsilon, runs), flush=True)
