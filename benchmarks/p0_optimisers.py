"""P0's optimisers at their tuned presets, n = 10⁴, d = 20: time of a run, risk left of the starting point's; cost of a step.

Everything is a ratio within one run but for the seconds.  PNCA-SGD runs with central noise: shuffling allows ε ≤ 0.1 or so here.
Usage: python -m benchmarks.p0_optimisers
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from refimpl.approx_dp import accelerated, approximation, iterated, iterated_accelerated, localised, repaired, sgd
from refimpl.approx_dp.gradients import clipped_mean_gradient
from refimpl.channel import Mechanism, run
from refimpl.domains import Ball
from refimpl.losses import Squared

N, D = 10_000, 20
CLAIM: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-5}
LAW: dict[str, Any] = {"dimension": D, "smoothness": 60.0, "moment_bound": 3.0, "moment_order": 4.0, **CLAIM}
RISK: dict[str, Any] = {"dimension": D, "diameter": 2.0, "moment_bound": 3.0, **CLAIM}


def presets() -> dict[str, tuple[Mechanism, dict[str, Any]]]:
    phases = localised.tuned_phases(N, diameter=2.0, **LAW)
    accelerate: dict[str, Any] = {**RISK, "smoothness": 1.0, "moment_order": 4.0, "noise": "central"}
    return {
        "P0.A3": (localised.lnc_gm, {"phases": phases, "smoothness": 60.0}),
        "P0.A4": (
            approximation.private_stochastic_approximation,
            {"stages": approximation.tuned_stages(N, radius=1.0, **LAW), "smoothness": 60.0},
        ),
        "P0.A5": (
            iterated.iterated_lnc_gm,
            {"stages": iterated.tuned_stages(N, theta_bar=2.0, radius=1.0, **LAW), "smoothness": 60.0},
        ),
        "P0.A6": (accelerated.pnca_sgd, accelerated.published_parameters(N, **accelerate)),
        "P0.A7": (
            iterated_accelerated.iterated_pnca_sgd,
            {"parts": iterated_accelerated.published_parts(N, theta_bar=2.0, **accelerate), "noise": "central"},
        ),
        "P0.B": (sgd.dp_sgd, sgd.tuned_parameters(N, **RISK)),
        "P0.R3": (repaired.localised_extension, {"phases": phases}),
    }


def least_seconds(function: Callable[[], Any], times: int = 30) -> float:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return min(spent)


if __name__ == "__main__":
    features = np.random.default_rng(0).standard_normal((N, D))
    rows = np.column_stack([features, features @ np.full(D, 0.2)])
    base = Squared().mean_value(np.zeros(D), rows)
    for name, (function, given) in presets().items():
        start = time.perf_counter()
        point, _ = run(function, rows, np.random.default_rng(1), loss="squared", domain="ball:1", **CLAIM, **given)
        left = Squared().mean_value(point, rows) / base
        print(f"{name}: {time.perf_counter() - start:.2f} s, {left:.3f} of the starting point's risk")
    step, w = (
        clipped_mean_gradient(Squared(), rows, clip=1.0, domain=Ball(np.zeros(D), 1.0), smoothness=60.0),
        np.full(D, 0.1),
    )
    clipped, plain = least_seconds(lambda: step(w)), least_seconds(lambda: Squared().gradients(w, rows))
    print(f"a clipped mean gradient costs {clipped / plain:.2f} times the pass over all records' gradients")
