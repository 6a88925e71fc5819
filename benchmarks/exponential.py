"""Exponential mechanisms of P4: against output perturbation at equal ε, and what exact draws cost.

    python benchmarks/exponential.py table|samplers [--runs 40] [--jobs 2] [--json FILE]

`table`     mean distance to u* = argmin_W F̂_λ, with 95 % intervals, of single and double output perturbation (P4.S1, P4.A4), the
            exponential mechanism on a net (P4.A5) and the localised one (P4.A7) with each of its samplers: same data, λ, C and ε;
            beside it the excess population risk.  λ is such that the noise of P4.S1 is about a tenth of the radius of W, and C
            minimises the bound of P4.S1.  In units of C·d/(λnε), that noise up to a constant.
`samplers`  exact rejection in up to ten dimensions: the share of proposals that fall into W_loc, the share of these that are
            accepted, processor time of the envelope (with the certified minimiser) and of a draw.

Tasks that FILE already has are not run again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
from studies import Row, run_studies

from tailproof.refimpl.channel import run
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import Ball, Localised
from tailproof.refimpl.extension.certificate import Problem
from tailproof.refimpl.extension.certified import minimise
from tailproof.refimpl.losses import Absolute, GlmLoss, Hinge, Logistic, Loss, Quadratic, Squared
from tailproof.refimpl.problems import MeanEstimation, StudentT
from tailproof.refimpl.pure_dp.ball_smoothing import roughness
from tailproof.refimpl.pure_dp.centred_risk import CentredRisk
from tailproof.refimpl.pure_dp.double import double_output_perturbation
from tailproof.refimpl.pure_dp.exponential import exponential_mechanism
from tailproof.refimpl.pure_dp.localised_exponential import localised_exponential
from tailproof.refimpl.pure_dp.perturbation import STAGE_FAILURE, noise_radius_upper
from tailproof.refimpl.pure_dp.plan import best_clip
from tailproof.refimpl.pure_dp.population import assumption_for
from tailproof.refimpl.pure_dp.rejection import draw_below, envelope, unclipped
from tailproof.refimpl.pure_dp.single import single_output_perturbation
from tailproof.verification.second_stage import mean_with_interval, without_extension

SMOOTHING = 0.1
LAW, ORDER = StudentT(2.5), 2.0


def sample(loss: Loss, d: int, rng: np.random.Generator, n: int) -> np.ndarray:
    """Features of Student's law, a model with ½ in every direction, noise of the same law."""
    x = LAW.sample(rng, (n, d))
    if isinstance(loss, Quadratic):
        return x + 0.5 / math.sqrt(d)
    signal, noise = x @ np.full(d, 0.5 / math.sqrt(d)), LAW.sample(rng, n)
    labels = isinstance(loss, GlmLoss) and loss.target == "label"
    return np.column_stack([x, np.where(signal + noise < 0, -1.0, 1.0) if labels else signal + noise])


# ---------------------------------------------------------------------------------------------------------------------- table


def table_tasks(runs: int) -> dict[str, Callable[[], Row]]:
    return {
        f"{name} n={n} d={d} epsilon={epsilon} runs={runs}": joblib.delayed(table_row)(name, n, d, epsilon, runs)
        for name in ("quadratic", "logistic", "absolute")
        for d in (1, 2)
        for n in (300, 2000)
        for epsilon in (1.0, 4.0)
    }


def table_row(name: str, n: int, d: int, epsilon: float, runs: int) -> Row:
    loss: Loss = {"quadratic": Quadratic(np.eye(d)), "logistic": Logistic(), "absolute": Absolute()}[name]
    domain = Ball(np.zeros(d), 1.0)
    moment = MeanEstimation(LAW, d).norm_moment_upper(ORDER) ** (1 / ORDER) + (2.0 if name == "quadratic" else 0.0)
    assumption = assumption_for(domain, np.zeros(d), moment_order=ORDER, moment_bound=moment)
    clip = best_clip(assumption, size=n, kappa=0.1, spend=PureDP(epsilon), solver="single")
    weight = 10 * 2 * clip * d / (n * epsilon)
    common = {"loss": loss, "domain": domain, "weight": weight, "lipschitz": clip, "epsilon": epsilon}
    smooth = {"quadratic": 1.0, "logistic": moment**2 / 4, "absolute": roughness(d) * moment / SMOOTHING}[name]
    on_net = {"smoothness": smooth, "mesh": {1: 0.005, 2: 0.04}[d], "smoothing": SMOOTHING if name == "absolute" else None}
    solvers: dict[str, tuple[Any, dict[str, Any]]] = {
        "P4.S1": (single_output_perturbation, {}),
        "P4.A4": (double_output_perturbation, {}),
        "P4.A5": (exponential_mechanism, on_net),
        "P4.A7 rejection": (localised_exponential, {}),
        "P4.A7 grid": (localised_exponential, {"sampler": "grid", "mesh": 0.2}),
    }
    if d == 1 or n * epsilon <= 300:  # elsewhere a grid fine enough for a walk has many thousand points
        solvers["P4.A7 walk"] = (localised_exponential, {"sampler": "walk"})
    test = sample(loss, d, np.random.default_rng(1), 50_000)
    least = loss.mean_value(without_extension(loss, test, domain, 1e-3 * moment), test)
    distances: dict[str, list[float]] = {solver: [] for solver in solvers}
    risks: dict[str, list[float]] = {solver: [] for solver in solvers}
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, d])
        data = sample(loss, d, rng, n)
        best = without_extension(loss, data, domain, weight)
        for solver, (function, own) in solvers.items():
            point, _ = run(function, data, rng, **common, **own)
            distances[solver].append(float(np.linalg.norm(point - best)))
            risks[solver].append(loss.mean_value(point, test) - least)
    unit = clip * d / (weight * n * epsilon)
    row: Row = {"loss": name, "n": n, "d": d, "epsilon": epsilon, "clip": clip, "weight": weight, "unit": unit}
    for solver in solvers:
        row[solver] = {
            "distance / unit": mean_with_interval([one / unit for one in distances[solver]]),
            "risk": mean_with_interval(risks[solver]),
        }
    return row


def show_table(rows: list[Row]) -> None:
    names = [name for name in rows[0] if name.startswith("P4")]  # the first row has all
    print("distance to u* in units of C·d/(λnε), half-width of the 95 % interval; then excess population risk")
    print(f"{'':34}" + "".join(f"{name:>26}" for name in names))
    for row in rows:
        cells = []
        for name in names:
            if name not in row:
                continue
            (far, half), (risk, _) = row[name]["distance / unit"], row[name]["risk"]
            cells.append(f"{far:9.2f} ± {half:5.2f} {risk:8.4f}")
        print(
            f"{row['loss']:9} n = {row['n']:5} d = {row['d']} ε = {row['epsilon']:3}   " + "".join(f"{c:>26}" for c in cells)
        )
    for name in names[1:]:
        ratios = [row[name]["distance / unit"][0] / row["P4.S1"]["distance / unit"][0] for row in rows if name in row]
        print(f"{name}: {min(ratios):.2f} to {max(ratios):.2f} times as far as P4.S1, median {float(np.median(ratios)):.2f}")


# ------------------------------------------------------------------------------------------------------------------- samplers


def sampler_tasks(runs: int) -> dict[str, Callable[[], Row]]:
    losses = (Absolute(), Hinge(), Logistic(), Squared(), Quadratic)
    return {
        f"{kind.__name__ if isinstance(kind, type) else type(kind).__name__} d={d} n={n} runs={runs}": joblib.delayed(
            sampler_row
        )(kind, d, n, runs)
        for kind in losses
        for d in (1, 2, 5, 10)
        for n in (1000, 10_000)
    }


def sampler_row(kind: Any, d: int, n: int, runs: int) -> Row:
    """As in a run with ε = 1, C = 3 and λ = 0.2, around the minimiser with W_loc off it by half of its radius."""
    loss = Quadratic(np.eye(d)) if kind is Quadratic else kind
    rng, domain, clip, weight, epsilon = np.random.default_rng([d, n]), Ball(np.zeros(d), 1.0), 3.0, 0.2, 1.0
    data = sample(loss, d, rng, n)
    data[:, :d] /= math.sqrt(d)
    reach = 2.2 * clip / (weight * n)
    radius = noise_radius_upper(dimension=d, sensitivity=reach, spend=PureDP(epsilon / 2), failure=STAGE_FAILURE)
    direction = rng.standard_normal(d)
    minimiser = minimise(Problem(loss, data, domain, clip, weight, np.zeros(d)), 1e-3 * clip * radius / n).point
    near = domain.project(minimiser + radius / 2 * direction / np.linalg.norm(direction))
    risk = CentredRisk(loss, data, Localised(domain, near, radius), clip, weight, np.zeros(d))
    temperature = 2 * risk.sensitivity / (epsilon / 2)
    start = time.process_time()
    below = envelope(risk, temperature)
    first, draws, start = time.process_time() - start, [], time.process_time()
    for _ in range(runs):
        draws.append(draw_below(below, risk, rng))
    spent = (time.process_time() - start) / runs
    proposals, inside = sum(draw.proposals for draw in draws), sum(draw.inside for draw in draws)
    return {
        "loss": type(loss).__name__,
        "d": d,
        "n": n,
        "radius": radius,
        "temperature": temperature,
        "unclipped": float(unclipped(risk.problem).mean()),
        "inside": inside / proposals,
        "accepted": runs / inside,
        "envelope seconds": first,
        "draw seconds": spent,
    }


def show_samplers(rows: list[Row]) -> None:
    for row in rows:
        print(
            f"{row['loss']:10} d = {row['d']:2} n = {row['n']:6}  in W_loc {row['inside']:6.3f}  accepted {row['accepted']:6.3f}  "
            f"envelope {row['envelope seconds']:6.3f} s  a draw {row['draw seconds']:6.3f} s"
        )


STUDIES = {"table": (table_tasks, show_table), "samplers": (sampler_tasks, show_samplers)}


if __name__ == "__main__":
    run_studies(STUDIES, description=__doc__, runs=40)
