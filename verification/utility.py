"""Measured errors against explicit-constant bounds that are published with a failure probability: true inequalities.

Each case draws fresh heavy-tailed data whose moments are known exactly, runs the estimator, and counts how often the error
exceeds the bound.  More failures than the stated probability allows, beyond what chance explains at `FALSE_ALARM`, is a
violation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from bounds import explicit
from refimpl.channel import Mechanism, run
from refimpl.means.median_of_means import number_of_groups
from refimpl.problems import DataLaw, MeanEstimation, Pareto, StudentT, Symmetric, TwoPoint
from verification.pair_checks import Measurement

FALSE_ALARM = 1e-9
"""Probability with which one check here calls a true bound exceeded."""


@dataclass(frozen=True)
class Case:
    """A law, a size, parameters; the bound holds with probability 1 − failure."""

    law: DataLaw
    n: int
    d: int
    parameters: dict[str, Any]
    bound: float
    failure: float


def _p2_a2() -> list[Case]:
    """P2 Theorem 2 (14)."""
    cases = []
    laws: list[tuple[DataLaw, float]] = [
        (StudentT(3.5), 3.0),
        (Symmetric(Pareto(2.2)), 2.0),
        (TwoPoint.with_moment(probability=0.01, order=2, moment=1), 2.0),
    ]
    for law, p in laws:
        n, d, clip, rho, beta = 400, 2, 6.0, 0.5, 0.1
        moment = MeanEstimation(law, d).direction_moment_upper(p) ** (1 / p)
        bound = explicit.clipped_mean_error_upper(n=n, d=d, p=p, moment=moment, clip=clip, rho=rho, beta=beta)
        cases.append(Case(law, n, d, {"clip": clip, "rho": rho}, bound, beta))
    return cases


def _p3_a1() -> list[Case]:
    """P3 Theorem 1 with the constant 9 of its proof (10); the proof's failure probability is 3ξ."""
    cases = []
    n, xi, epsilon, delta = 400, 0.05, 0.8, 1e-3
    for law, v in (
        (StudentT(1.8), 0.5),
        (Symmetric(Pareto(1.4)), 0.3),
        (TwoPoint.with_moment(probability=0.01, order=1.5, moment=1), 0.5),
    ):
        u = law.absolute_moment(1 + v)
        bound = explicit.truncated_mean_error_upper(n=n, v=v, moment=u, epsilon=epsilon, delta=delta, xi=xi)
        parameters = {"epsilon": epsilon, "delta": delta, "failure": xi, "moment_order": 1 + v, "moment_bound": u}
        cases.append(Case(law, n, 1, parameters, bound, 3 * xi))
    return cases


def _p3_a3() -> list[Case]:
    """P3 Theorem 3 with the constants of its proof, (16) and (17)."""
    cases = []
    d, xi, epsilon, delta, tau = 2, 0.1, 0.8, 1e-3, 10.0
    n = 50 * number_of_groups(10**6, d, failure=xi)
    for law, v in ((StudentT(1.8), 0.5), (Symmetric(Pareto(2.2)), 1.0)):
        u, groups = law.absolute_moment(1 + v), number_of_groups(n, d, failure=xi)
        bound = explicit.truncated_median_of_means_error_upper(
            n=n, d=d, v=v, moment=u, clip=tau, groups=groups, epsilon=epsilon, delta=delta, xi=xi
        )
        cases.append(Case(law, n, d, {"epsilon": epsilon, "delta": delta, "failure": xi, "truncation": tau}, bound, xi))
    return cases


BOUNDS: dict[str, Callable[[], list[Case]]] = {"P2.A2": _p2_a2, "P3.A1": _p3_a1, "P3.A3": _p3_a3}


def check_utility(identifier: str, mechanism: Mechanism, seed: int, *, runs: int) -> Measurement:
    """The share of runs beyond the bound, against the largest share that chance explains; the worst case of all."""
    cases = BOUNDS[identifier]()
    found = []
    for index, case in enumerate(cases):
        rng = np.random.default_rng([seed, index])
        errors = np.array([_error(mechanism, case, rng) for _ in range(runs)])
        failures = int((errors > case.bound).sum())
        explained = float(binom.isf(FALSE_ALARM / len(cases), runs, case.failure))
        detail = (
            f"{case.law}: share of errors beyond {case.bound:.3g} (allowed {case.failure:g}), "
            f"median {np.median(errors):.3g}, {runs} runs of n = {case.n}"
        )
        found.append(Measurement(failures / runs, explained / runs, detail))
    return max(found, key=lambda measurement: measurement.ratio)


def _error(mechanism: Mechanism, case: Case, rng: np.random.Generator) -> float:
    problem = MeanEstimation(case.law, case.d)
    estimate, _ = run(mechanism, problem.sample(rng, case.n), rng, **case.parameters)
    return float(np.linalg.norm(np.atleast_1d(estimate) - problem.minimiser()))
