"""[ours] Phases of population localisation for ordinary data: the privacy of every plan, and no promise beyond its true bound.

The plan of `plan.expectation_plan` minimises a bound that holds for the worst data with such moments, and pays for that on
ordinary data.  This one minimises the risk that a model predicts:

- C = γ^{2/k}·G; with that level of clipping the risk is a quadratic whose Hessian is h·C/R₀, and its minimiser is R₀/2 away;
- a phase with the weight λ = w·C/R₀ leaves w/(w + h) of that distance, and adds E‖z‖² + (R₀/(w + h))²/m to its square, by noise
  and by sampling;
- h is one of several values: the prediction is the mean over these.

All phases have the same weight, and their sizes are in geometric progression.  γ and h were found on synthetic problems
(benchmarks/localisation.py, `tuning`).
"""

from __future__ import annotations

import numpy as np

from tailproof.refimpl.pure_dp.perturbation import budget, noise_square_mean
from tailproof.refimpl.pure_dp.plan import Assumption, Phase, Plan, expectation_bound
from tailproof.refimpl.validation import FloatArray, positive, whole

CLIP, CURVATURES = 0.7, (0.1, 0.2, 0.4, 0.8)  # γ, h
GROWTHS = (1.0, 1.5, 2.5)  # of the sizes
WEIGHTS = np.geomspace(1e-4, 1e2, 121)  # w


def tuned_plan(
    assumption: Assumption,
    *,
    size: int,
    epsilon: float | None = None,
    rho: float | None = None,
    kappa: float = 0.05,
    clip: float = CLIP,
    curvatures: tuple[float, ...] = CURVATURES,
    most_phases: int = 10,
) -> Plan:
    """The plan with the least predicted risk, `clip` being γ; its bound is the true one, and may be vacuous."""
    n, spend, kappa = whole("size", size, least=1), budget(epsilon=epsilon, rho=rho), positive("kappa", kappa)
    lipschitz = positive("clip", clip) ** (2 / assumption.moment_order) * assumption.moment_bound
    curves = np.array([positive("curvatures", h) for h in curvatures])
    unit_noise = noise_square_mean(dimension=assumption.dimension, sensitivity=2 + 2 * kappa, spend=spend)
    best: tuple[Phase, ...] = ()
    least = float(np.mean(curves)) / 4  # of the start
    for count in range(1, min(n, whole("most_phases", most_phases, least=0)) + 1):
        for growth in GROWTHS:
            sizes = np.floor(
                n * growth ** np.arange(count) * ((growth - 1) / (growth**count - 1) if growth > 1 else 1 / count)
            )
            if sizes[0] < 1:
                continue
            sizes[-1] += n - sizes.sum()
            risks = predicted_risks(sizes, unit_noise, curves)
            at = int(np.argmin(risks))
            if risks[at] < least:
                least, weight = float(risks[at]), float(WEIGHTS[at]) * lipschitz / assumption.reach
                best = tuple(assumption.phase(int(m), weight, lipschitz, kappa) for m in sizes)
    return Plan(best, 1, spend, "single", expectation_bound(best, assumption, spend=spend))


def predicted_risks(sizes: FloatArray, unit_noise: float, curvatures: FloatArray) -> FloatArray:
    """For every weight, in units of C·R₀/2: the mean of h·(distance/R₀)² after phases of these sizes."""
    w, h = WEIGHTS, curvatures[:, np.newaxis]
    square = np.full((len(curvatures), len(w)), 1 / 4)
    for m in sizes:
        square = (w / (w + h)) ** 2 * square + unit_noise / (w * m) ** 2 + 1 / (w + h) ** 2 / m
    return np.asarray((h * square).mean(axis=0))
