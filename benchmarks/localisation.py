"""Pure-DP optimisation of heavy-tailed risks: what localisation gains, single against double, measured risk against the bound.

    python benchmarks/localisation.py bias|solvers|bound|tuning|speed [--runs 20] [--jobs 2] [--json FILE]

`bias`     ‖argmin F̂_{λ,C} − argmin F̂_λ‖ over W, and of the second stage's minimiser over W_loc, readings A and B, on data made to
           have a large bias.  W_loc is the set that P4's Algorithm 2 returns (ε = 1, its noise drawn), so that all is as in a run.
`solvers`  single and double output perturbation at equal ε: mean distance to u* = argmin_W F̂_λ and mean excess population
           risk, with 95 % intervals of the means; every solver with the C that minimises its own bound, and double output
           perturbation also with the C of single.  λ is 4G/√n (weak), or such that the noise of single is a tenth of the
           radius of W (strong).
`bound`    mean excess risk of localised single output perturbation beside its explicit bound, and the slope in log n.
`tuning`   the constants of the tuned preset: risk for several clips and curvatures, as a multiple of the best in the same cell.
`speed`    a whole run at n = 10⁶, d = 10: seconds, and as a multiple of one mean gradient of the same records.

Tasks that FILE already has are not run again, so an interrupted study goes on where it stopped.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from studies import Row, run_studies

from tailproof.refimpl.channel import run
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import Ball, Domain
from tailproof.refimpl.losses import Absolute, Affine, Loss, Quadratic, parse_loss
from tailproof.refimpl.problems import (
    GaussianFeatures,
    LinearLoss,
    LinearRegression,
    LogisticRegression,
    MeanEstimation,
    Shifted,
    StudentT,
)
from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.plan import Plan, best_clip
from tailproof.refimpl.pure_dp.population import assumption_for, plan_for, population_localization
from tailproof.refimpl.pure_dp.single import single_output_perturbation
from tailproof.refimpl.pure_dp.tuned import tuned_plan
from tailproof.verification.second_stage import bias_row, mean_with_interval, without_extension

# ------------------------------------------------------------------------------------------------------------------- bias


def bias_tasks(runs: int) -> dict[str, Callable[[], Row]]:
    tasks = {}
    for name in ("affine", "absolute", "quadratic"):
        for n in (200,) if name == "quadratic" else (200, 2000):  # quadratic losses, reading B: a second per record
            for d in (2, 10):
                for share in (0.2, 0.6):
                    for seed in range(min(runs, 5)):
                        tasks[f"bias {name} n={n} d={d} share={share} seed={seed}"] = joblib.delayed(bias_row)(
                            name, n, d, share, seed
                        )
    return tasks


# ---------------------------------------------------------------------------------------------------------------- solvers


def regression(d: int, order: float) -> tuple[Callable[[np.random.Generator, int], np.ndarray], float]:
    """Absolute loss, features and noise of Student t with order + ½ degrees of freedom; and G of that order."""
    law = StudentT(order + 0.5)
    weights = np.ones(d) / math.sqrt(d) / 2
    bound = MeanEstimation(law, d).norm_moment_upper(order) ** (1 / order)

    def sample(rng: np.random.Generator, n: int) -> np.ndarray:
        features = law.sample(rng, (n, d))
        return np.column_stack([features, features @ weights + law.sample(rng, n)])

    return sample, bound


def solver_row(weighting: str, n: int, d: int, epsilon: float, order: float, runs: int) -> Row:
    sample, moment = regression(d, order)
    domain, loss = Ball(np.zeros(d), 1.0), Absolute()
    assumption = assumption_for(domain, np.zeros(d), moment_order=order, moment_bound=moment)
    clips = {
        solver: best_clip(assumption, size=n, kappa=0.05, spend=PureDP(epsilon), solver=solver)
        for solver in ("single", "double")
    }
    weight = 4 * moment / math.sqrt(n) if weighting == "weak" else 10 * 2 * clips["single"] * d / (n * epsilon)
    test = sample(np.random.default_rng(1), 100_000)
    center = without_extension(loss, test, domain, 1e-3 * moment)
    least = loss.mean_value(center, test)
    solvers: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "single": (single_output_perturbation, {"lipschitz": clips["single"]}),
        "double A": (double_output_perturbation, {"lipschitz": clips["double"]}),
        "double B": (double_output_perturbation, {"lipschitz": clips["double"], "reading": "B"}),
        "double A, same C": (double_output_perturbation, {"lipschitz": clips["single"]}),
    }
    distances: dict[str, list[float]] = {name: [] for name in solvers}
    risks: dict[str, list[float]] = {name: [] for name in solvers}
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, d])
        data = sample(rng, n)
        u = without_extension(loss, data, domain, weight)
        for name, (solver, own) in solvers.items():
            point, _ = run(solver, data, rng, loss=loss, domain=domain, weight=weight, epsilon=epsilon, kappa=0.05, **own)
            distances[name].append(float(np.linalg.norm(point - u)))
            risks[name].append(loss.mean_value(point, test) - least)
    row: Row = {"weighting": weighting, "n": n, "d": d, "epsilon": epsilon, "k": order}
    for name in solvers:
        row[f"distance {name}"] = mean_with_interval(distances[name])
        row[f"risk {name}"] = mean_with_interval(risks[name])
    return row


def solver_tasks(runs: int) -> dict[str, Callable[[], Row]]:
    return {
        f"solvers {weighting} n={n} d={d} epsilon={epsilon} k={order} runs={runs}": joblib.delayed(solver_row)(
            weighting, n, d, epsilon, order, runs
        )
        for weighting in ("weak", "strong")
        for n in (1000, 10_000)
        for d in (2, 10)
        for epsilon in (0.5, 2.0)
        for order in (2.0, 4.0)
    }


# ------------------------------------------------------------------------------------------------------------------ bound


@dataclass(frozen=True)
class Case:
    """A problem with known minimiser and risk, its domain, and its moment bound."""

    problem: Any
    loss: Loss
    domain: Domain
    moment_bound: float


class Sampled:
    """A problem whose risk is that of 100 000 records."""

    def __init__(self, sample: Callable[[np.random.Generator, int], np.ndarray], loss: Loss, minimiser: np.ndarray) -> None:
        self.sample, self.loss, self.minimiser = sample, loss, minimiser
        self.test = sample(np.random.default_rng(1), 100_000)

    def excess_risk(self, point: np.ndarray) -> float:
        return self.loss.mean_value(point, self.test) - self.loss.mean_value(self.minimiser, self.test)


def case_of(name: str, d: int, order: float) -> Case:
    law = StudentT(order + 0.5)
    name, _, wide = name.partition(", ")
    domain = Ball(np.zeros(d), 2.0 if wide else 1.0)
    match name:
        case "affine":  # L = |A|·‖direction‖
            shifted = Shifted(law, 1.0)
            direction = np.ones(d) / math.sqrt(d)
            return Case(
                LinearLoss(law=shifted, direction=direction, diameter=2.0),
                Affine(),
                domain,
                shifted.absolute_moment(order) ** (1 / order),
            )
        case "mean":  # L ≤ ‖x‖ + 1
            problem = MeanEstimation(Shifted(law, 0.5 / math.sqrt(d)), d)
            return Case(problem, Quadratic(np.eye(d)), domain, problem.norm_moment_upper(order) ** (1 / order) + 1)
        case "heavy":
            sample, bound = regression(d, order)
            return Case(Sampled(sample, Absolute(), np.ones(d) / math.sqrt(d) / 2), Absolute(), domain, bound)
    # L ≤ ‖x‖ for Gaussian x: E‖x‖^k = 2^{k/2}Γ((d + k)/2)/Γ(d/2)
    moment = math.exp(math.lgamma((d + order) / 2) - math.lgamma(d / 2)) * 2 ** (order / 2)
    weights = np.full(d, 0.5 / math.sqrt(d))
    features = GaussianFeatures.isotropic(d)
    if name == "absolute":
        linear = LinearRegression(features=features, weights=weights, noise=law, loss_name="absolute")
        return Case(linear, Absolute(), domain, moment ** (1 / order))
    logistic = LogisticRegression(features=features, weights=weights)
    return Case(logistic, parse_loss("logistic"), domain, moment ** (1 / order))


def bound_row(name: str, n: int, d: int, order: float, preset: str, runs: int) -> Row:
    case = case_of(name, d, order)
    start = np.zeros(d)
    assumption = assumption_for(case.domain, start, moment_order=order, moment_bound=case.moment_bound)
    plan = plan_for(assumption, size=n, epsilon=1.0, preset=preset)  # type: ignore[arg-type]
    risks = risks_of(case, plan, f"{name} {n} {d} {order}", n, runs)
    trivial = case.problem.excess_risk(start)
    row: Row = {"problem": name, "n": n, "d": d, "k": order, "preset": preset, "phases": len(plan.phases)}
    return row | {"bound": plan.bound, "risk": mean_with_interval(risks), "risk_of_the_centre": trivial}


def bound_tasks(runs: int) -> dict[str, Callable[[], Row]]:
    return {
        f"bound {name} n={n} d={d} k={order} {preset} runs={runs}": joblib.delayed(bound_row)(
            name, n, d, order, preset, runs
        )
        for n in (1000, 10_000, 100_000)
        for name in ("affine", "mean", "absolute", "logistic")
        for d in (2, 10)
        for order in (2.0, 3.0, 4.0)
        for preset in ("theory", "tuned")
    }


# ----------------------------------------------------------------------------------------------------------------- tuning

CONSTANTS = {
    f"clip {clip:g}, h from {low:g}": (clip, (low, 2 * low, 4 * low, 8 * low))
    for clip in (0.5, 0.7, 1.0)
    for low in (0.05, 0.1, 0.2)
}


def tuning_row(name: str, n: int, epsilon: float, constants: str, runs: int) -> Row:
    d, order = 10, 2.0
    clip, curvatures = CONSTANTS[constants]
    case = case_of(name, d, order)
    assumption = assumption_for(case.domain, np.zeros(d), moment_order=order, moment_bound=case.moment_bound)
    plan = tuned_plan(assumption, size=n, epsilon=epsilon, clip=clip, curvatures=curvatures)
    cell = f"{name} n={n} epsilon={epsilon}"
    return {"cell": cell, "constants": constants, "risk": float(np.mean(risks_of(case, plan, cell, n, runs)))}


def risks_of(case: Case, plan: Plan, cell: str, n: int, runs: int) -> list[float]:
    """Excess risks of runs whose seeds are the cell's."""
    risks = []
    for seed in range(runs):
        rng = np.random.default_rng([zlib.crc32(cell.encode()), seed])
        data = case.problem.sample(rng, n)
        point, _ = run(
            population_localization,
            data,
            rng,
            loss=case.loss,
            domain=case.domain,
            plan=plan,
            epsilon=plan.spend.epsilon if isinstance(plan.spend, PureDP) else None,
        )
        risks.append(case.problem.excess_risk(point))
    return risks


def tuning_tasks(runs: int) -> dict[str, Callable[[], Row]]:
    return {
        f"tuning {name} n={n} epsilon={epsilon} {constants} runs={runs}": joblib.delayed(tuning_row)(
            name, n, epsilon, constants, runs
        )
        for name in ("absolute", "logistic", "mean", "heavy", "heavy, wide", "logistic, wide")
        for n, epsilon in ((3000, 1.0), (10_000, 0.1), (10_000, 1.0), (10_000, 5.0))
        for constants in CONSTANTS
    }


def show_tuning(rows: list[Row]) -> None:
    best = {cell: min(row["risk"] for row in rows if row["cell"] == cell) for cell in {row["cell"] for row in rows}}
    for constants in CONSTANTS:
        ratios = [row["risk"] / best[row["cell"]] for row in rows if row["constants"] == constants]
        middle = math.exp(np.mean(np.log(ratios)))
        print(f"{constants}: risk / best in the cell: geometric mean {middle:.2f}, worst {max(ratios):.2f}")


# ------------------------------------------------------------------------------------------------------------------ speed


def speed_row(name: str, n: int, preset: str) -> Row:
    d = 10
    case = case_of(name, d, 2.0)
    data = case.problem.sample(np.random.default_rng(0), n)
    assumption = assumption_for(case.domain, np.zeros(d), moment_order=2.0, moment_bound=case.moment_bound)
    start = time.perf_counter()
    plan = plan_for(assumption, size=n, epsilon=1.0, preset=preset)  # type: ignore[arg-type]
    run(population_localization, data, np.random.default_rng(1), loss=case.loss, domain=case.domain, plan=plan, epsilon=1.0)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(5):
        case.loss.mean_gradient(np.full(d, 0.01), data)
    return {"problem": name, "n": n, "preset": preset, "seconds": seconds, "gradient": (time.perf_counter() - start) / 5}


def speed_tasks(_: int) -> dict[str, Callable[[], Row]]:
    return {
        f"speed {name} {preset}": joblib.delayed(speed_row)(name, 10**6, preset)
        for name in ("absolute", "logistic", "heavy")
        for preset in ("theory", "tuned")
    }


def show_speed(rows: list[Row]) -> None:
    for row in rows:
        ratio = row["seconds"] / row["gradient"]
        print(f"{row['problem']:10}{row['preset']:8}n = {row['n']}: {row['seconds']:.1f} s, {ratio:.0f} mean gradients")


# ----------------------------------------------------------------------------------------------------------------- output


def show_bias(rows: list[Row]) -> None:
    print(
        f"{'loss':10}{'n':>6}{'d':>4}{'radius':>9}{'before':>10}{'after A':>10}{'after B':>10}{'A/before':>10}{'B/before':>10}"
    )
    for row in rows:
        ratios = [row[f"after_{reading}"] / row["before"] for reading in "AB"]
        numbers = "".join(f"{row[key]:10.5f}" for key in ("before", "after_A", "after_B"))
        print(f"{row['loss']:10}{row['n']:6d}{row['d']:4d}{row['radius']:9.4f}{numbers}{ratios[0]:10.4f}{ratios[1]:10.4f}")
    for reading in "AB":
        all_ratios = [row[f"after_{reading}"] / row["before"] for row in rows]
        print(f"reading {reading}: bias after / before from {min(all_ratios):.4f} to {max(all_ratios):.4f}")


def show_solvers(rows: list[Row]) -> None:
    for row in rows:
        print(f"λ {row['weighting']}, n = {row['n']}, d = {row['d']}, ε = {row['epsilon']}, k = {row['k']}")
        for kind in ("distance", "risk"):
            parts = [f"{name} {row[f'{kind} {name}'][0]:.4f} ± {row[f'{kind} {name}'][1]:.4f}" for name in SOLVERS]
            print(f"  {kind:9}" + ", ".join(parts))
    for weighting in ("weak", "strong"):
        cells = [row for row in rows if row["weighting"] == weighting]
        for kind in ("distance", "risk"):
            for name in SOLVERS[1:]:
                ratios = [row[f"{kind} {name}"][0] / row[f"{kind} single"][0] for row in cells]
                print(
                    f"λ {weighting}: {kind}, {name} / single: {min(ratios):.2f} to {max(ratios):.2f}, "
                    f"median {np.median(ratios):.2f} in {len(cells)} cells"
                )


SOLVERS = ("single", "double A", "double B", "double A, same C")


def show_bound(rows: list[Row]) -> None:
    print(
        f"{'problem':10}{'k':>4}{'d':>4}{'n':>8} {'preset':8}{'phases':>7}{'bound':>9}{'risk':>10}{'±':>9}{'risk/bound':>12}"
    )
    for row in rows:
        risk, width = row["risk"]
        print(
            f"{row['problem']:10}{row['k']:4g}{row['d']:4d}{row['n']:8d} {row['preset']:8}{row['phases']:7d}"
            f"{row['bound']:9.4f}{risk:10.5f}{width:9.5f}{risk / row['bound']:12.4f}"
        )
    theory = [row for row in rows if row["preset"] == "theory"]
    ratios = [row["risk"][0] / row["bound"] for row in theory]
    print(f"theory: mean risk / bound from {min(ratios):.4f} to {max(ratios):.4f} in {len(ratios)} cells")
    for preset in ("theory", "tuned"):
        for order in (2.0, 3.0, 4.0):
            chosen = [row for row in rows if row["preset"] == preset and row["k"] == order]
            measured = slopes(chosen, lambda row: row["risk"][0])
            proved = slopes(chosen, lambda row: row["bound"])
            print(
                f"{preset}, k = {order:g}: slope in log n, median over problems and d: measured {np.median(measured):.2f}, "
                f"bound {np.median(proved):.2f}; the rate's exponents: -0.5 and {-(1 - 1 / order):.2f}"
            )


def slopes(rows: list[Row], value: Callable[[Row], float]) -> list[float]:
    """d log value / d log n from the largest two n, for every problem and d."""
    found = []
    for name, d in sorted({(row["problem"], row["d"]) for row in rows}):
        points = sorted((row["n"], value(row)) for row in rows if (row["problem"], row["d"]) == (name, d))[-2:]
        found.append(math.log(points[1][1] / points[0][1]) / math.log(points[1][0] / points[0][0]))
    return found


STUDIES = {
    "bias": (bias_tasks, show_bias),
    "solvers": (solver_tasks, show_solvers),
    "bound": (bound_tasks, show_bound),
    "tuning": (tuning_tasks, show_tuning),
    "speed": (speed_tasks, show_speed),
}


if __name__ == "__main__":
    run_studies(STUDIES, description=__doc__, runs=20)
