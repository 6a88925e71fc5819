"""Gradient descent over private means: what a step costs, and thresholding against clipping.

    python benchmarks/descent.py speed [--json FILE]
    python benchmarks/descent.py thresholding [--runs 100] [--json FILE]
    python benchmarks/descent.py rates [--runs 20] [--json FILE]

`speed`: a step's time as a multiple of the time of the per-record gradients it needs (the checks of the data, once per run, left
out), and the time of a run, for squared loss with
n = 10⁴ records in d = 20 dimensions (P3.A5: d = 2000, s* = 5) at ε = 1, δ = 10⁻⁵.

`thresholding` (P3 Remark 2): P3's medians of means set entries beyond τ to 0, those of Kamath, Liu and Zhang (2022) set them to ±τ.
Both have the same sensitivity, hence the same noise.  Root mean square errors of three steps on disjoint batches of losses
½‖w − x‖², whose minimiser is the mean, each rule at its best τ of a grid, in units of u^{1/(1+v)}; with 95 % intervals.

`rates`: the excess risk at the published parameters along n, with 95 % intervals, beside the theorem's rate with all constants 1,
for losses ½‖w − x‖² on the unit ball in d = 3 dimensions, x of independent entries of Student's law around a mean of norm ½.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from refimpl.approx_dp import dp_sco, median_descent, private_gradient_descent, sparse, sparse_optimisation
from refimpl.approx_dp.framework import sco_framework
from refimpl.approx_dp.mean_descent import published_parameters, tuned_parameters
from refimpl.channel import Channel, run
from refimpl.domains import Ball
from refimpl.losses import Quadratic, Squared
from refimpl.means.median_of_means import truncated_median_of_means
from refimpl.problems import DataLaw, Pareto, Shifted, StudentT
from refimpl.pure_dp.perturbation import table

PRIVATE = {"epsilon": 1.0, "delta": 1e-5}
TAUS = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """The least processor time of several runs."""
    best = math.inf
    for _ in range(repeats):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def speed() -> list[dict[str, Any]]:
    rng, n, d = np.random.default_rng(0), 10_000, 20
    moments = {"moment_order": 2.0, "moment_bound": 3.0}
    public = {**PRIVATE, **moments, "smoothness": 1.0}
    strong = {"epsilon": 1.0, **moments, "strong_convexity": 1.0, "smoothness": 1.0}
    subjects: list[tuple[str, str, Any, dict[str, Any]]] = [
        ("P2.A1", "clipping, published", private_gradient_descent, published_parameters(n, d, **public).keywords()),
        ("P2.A1", "clipping, tuned", private_gradient_descent, tuned_parameters(n, d, **public, diameter=2.0).keywords()),
        (
            "P2.A1",
            "updating, tuned",
            private_gradient_descent,
            tuned_parameters(n, d, **public, diameter=2.0, estimator="updating").keywords(),
        ),
        (
            "P3.A2",
            "convex, published",
            dp_sco,
            median_descent.published_convex(
                n, d, epsilon=1.0, moment_order=2.0, gradient_bound=1.0, diameter=2.0
            ).keywords(),
        ),
        ("P3.A2", "strong, published", dp_sco, median_descent.published_strong(n, d, **strong).keywords()),
        *(
            (
                "P3.A2",
                f"{name}, tuned",
                dp_sco,
                median_descent.tuned_parameters(n, d, **public, diameter=2.0, convexity=name).keywords(),
            )
            for name in ("convex", "strong")
        ),
    ]
    features = rng.standard_t(3, size=(n, d))
    data = np.column_stack([features, features @ np.full(d, 0.1) + rng.standard_t(3, size=n)])
    rows = [_cost(*subject, data, {"domain": "ball:1"}) for subject in subjects]
    chosen = sparse.tuned_parameters(
        n, 2000, **PRIVATE, true_sparsity=5, moment_order=1.5, moment_bound=2.0, smoothness=1.0
    ).keywords()
    wide = rng.standard_normal((n, 2000))
    data = np.column_stack([wide, wide[:, :5].sum(axis=1) + rng.standard_t(2.5, size=n)])
    rows += [
        _cost("P3.A5", f"d = 2000, s* = 5, {steps} steps", sparse_optimisation, {**chosen, "steps": steps}, data, {})
        for steps in (1, 10)
    ]
    return rows


def _cost(
    name: str, what: str, function: Any, chosen: dict[str, Any], data: np.ndarray, extra: dict[str, Any]
) -> dict[str, Any]:
    loss, steps = Squared(), chosen["steps"]
    whole = chosen.get("convexity") != "strong" and name != "P3.A5"
    batch = data if whole else data[: len(data) // steps]
    start = np.zeros(data.shape[1] - 1)

    def passes() -> None:  # one after the other: tables kept alive together would cost page faults that a step does not have
        for _ in range(10):
            loss.gradients(start, batch)

    def checks() -> None:  # once per run
        table(data)
        loss.split(data)

    gradients, setup = seconds(passes, 9) / 10, seconds(checks, 5)
    total = seconds(lambda: run(function, data, np.random.default_rng(0), loss=loss, **PRIVATE, **extra, **chosen), 5)
    row = {
        "id": name,
        "what": what,
        "steps": steps,
        "seconds": round(total, 3),
        "step_over_gradients": round((total - setup) / steps / gradients, 2),
    }
    print(f"{name}  {what:32} {steps:4} steps  {total:7.3f} s   a step {row['step_over_gradients']:7.2f} × its gradients")
    return row


def clamped(rows: np.ndarray, channel: Channel, *, truncation: float, **parameters: Any) -> np.ndarray:
    """Entries beyond ±τ to ±τ, which thresholding then leaves as they are."""
    return truncated_median_of_means(np.clip(rows, -truncation, truncation), channel, truncation=truncation, **parameters)


def thresholding(runs: int) -> list[dict[str, Any]]:
    d, n = 5, 20_000
    laws: list[tuple[DataLaw, float]] = [
        (Shifted(StudentT(1.4), 0.3), 0.3),
        (Shifted(StudentT(3.0), 0.3), 1.0),
        (Pareto(1.4), 0.3),
        (Pareto(2.2), 1.0),
    ]
    rows = []
    print(f"d = {d}, n = {n}, ε = 1, δ = 1e-5, {runs} runs; error of the best τ, in units of u^(1/(1+v))")
    for law, v in laws:
        unit = law.absolute_moment(1 + v) ** (1 / (1 + v))
        found = {}
        for name, rule in (("thresholding", truncated_median_of_means), ("clipping", clamped)):
            errors = {tau: _errors(rule, law, unit, tau, n, d, runs) for tau in TAUS}
            tau = min(errors, key=lambda tau: float(np.mean(errors[tau] ** 2)))
            square = errors[tau] ** 2
            half = 1.96 * float(np.std(square)) / math.sqrt(runs)
            low, high = (math.sqrt(max(0.0, float(np.mean(square)) + side * half)) for side in (-1, 1))
            found[name] = {
                "tau": tau,
                "error": round(math.sqrt(float(np.mean(square))), 4),
                "interval": [round(low, 4), round(high, 4)],
            }
        rows.append({"law": str(law), "v": v, **found})
        print(
            f"{law!s:40} v = {v}:  "
            + ";  ".join(f"{name} {one['error']} {one['interval']} at τ = {one['tau']}" for name, one in found.items())
        )
    return rows


def _errors(rule: Any, law: DataLaw, unit: float, tau: float, n: int, d: int, runs: int) -> np.ndarray:
    mean, errors = law.mean(), []
    for number in range(runs):
        rng = np.random.default_rng([number, 7])  # the same data for every rule and τ
        data = law.sample(rng, n * d).reshape(n, d)

        def estimate(rows: np.ndarray, channel: Channel) -> np.ndarray:
            return rule(rows, channel, truncation=tau * unit, failure=0.1, **PRIVATE)

        points, _ = run(
            sco_framework,
            data,
            rng,
            loss=Quadratic(np.eye(d)),
            domain=Ball(np.zeros(d), 100 * unit),
            estimator=estimate,
            steps=3,
            learning_rate=0.8,
            batching="disjoint",
        )
        errors.append(float(np.linalg.norm(points[-1] - mean)) / unit)
    return np.array(errors)


def rates(runs: int) -> list[dict[str, Any]]:
    """P3's rates hide 4·log(2d/ξ)·√(2 ln(1.25/δ)) and, in Theorem 6, the logarithms of composition and of the cover.  At the sizes
    that can be run here its noise is longer than the diameter, and the risk is that of a point without information."""
    eps, delta = 1.0, 1e-8
    private = {"epsilon": eps, "delta": delta}
    log, rows = math.log(1 / delta), []

    def convex(n: int) -> tuple[Any, dict[str, Any], float]:
        chosen = published_parameters(n, 3, **private, moment_order=2.0, moment_bound=2.0, smoothness=1.0)
        rate = (
            math.sqrt(3 * math.log(n) / n) + math.sqrt(3 * math.sqrt(3 * log) / (n * eps)) + 3 / math.sqrt(n) * math.log(n)
        )
        return private_gradient_descent, {**chosen.keywords(), "domain": "ball:1"}, rate

    def medians(n: int) -> tuple[Any, dict[str, Any], float]:
        chosen = median_descent.published_convex(n, 3, epsilon=eps, moment_order=2.0, gradient_bound=1.5, diameter=2.0)
        rate = 2 * 9 * (3**1.25 / (eps * n) ** 0.5 + 3**3.75 / (eps * n) ** 1.5)
        return dp_sco, {**chosen.keywords(), "domain": "ball:1"}, rate

    def strong(n: int) -> tuple[Any, dict[str, Any], float]:
        chosen = median_descent.published_strong(
            n, 3, epsilon=eps, moment_order=2.0, moment_bound=3.0, strong_convexity=1.0, smoothness=1.0, tau="derived"
        )
        return dp_sco, {**chosen.keywords(), "domain": "ball:1"}, 9 * 4 * 3 * 3**1.5 / (eps * n)

    for name, make, sizes in (
        ("P2 Theorem 4", convex, (1000, 4000, 16_000)),
        ("P3 Theorem 6", medians, (1000, 4000)),
        ("P3 Theorem 7, τ derived", strong, (250_000, 1_000_000, 4_000_000)),
    ):
        mean, last = np.array([0.3, 0.4, 0.0]), None
        for n in sizes:
            function, parameters, rate = make(n)
            risks = []
            for number in range(runs):
                rng = np.random.default_rng([number, n])
                data = mean + rng.standard_t(3.0, size=(n, 3))
                found, _ = run(function, data, rng, loss=Quadratic(np.eye(3)), **private, **parameters)
                risks.append(float(np.sum((found - mean) ** 2)) / 2)
            risk, half = float(np.mean(risks)), 1.96 * float(np.std(risks)) / math.sqrt(runs)
            slope = None if last is None else round(math.log(risk / last) / math.log(4), 2)
            last, ratio = risk, risk / rate
            rows.append({"theorem": name, "n": n, "risk": risk, "half_width": half, "over_rate": ratio, "slope": slope})
            print(f"{name:24} n = {n:6}  risk {risk:.4g} ± {half:.2g}  over the rate {ratio:.3g}  slope {slope}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=("speed", "thresholding", "rates"))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    studies = {"speed": speed, "thresholding": lambda: thresholding(arguments.runs), "rates": lambda: rates(arguments.runs)}
    rows = studies[arguments.study]()
    if arguments.json:
        arguments.json.write_text(json.dumps({"study": arguments.study, "rows": rows}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
