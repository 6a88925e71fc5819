"""What a moment bound G that is off costs, and what a private one costs: excess risks on public laws, before any data are read.

    python benchmarks/moment_bound.py [--seeds 6] [--seconds 150]    adds what is missing to benchmarks/moment_bound.jsonl
    python benchmarks/moment_bound.py --show                                    the tables of what is there

Linear models in d = 3 with Student's t(2.5), log-normal and normal features, noise of the same law (with a random sign) and
absolute loss, and a logistic model with t(2.5) features.  k = 2 and G = (E‖x‖²)^½, from the law.  On every sample every algorithm
runs with G times 1/100 to 100; with a private G, which has a tenth of ε (P4.S3); and with the true G and the other nine tenths,
which tells the price of the choice from that of the budget.  All runs on a sample have the same noise but for its scale.  An
excess risk is a mean over 20,000 further features, and exact given these.

Tables show the median risk over that with the true G and all of ε, with an interval of 95 % from resampled seeds.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import cumulative_simpson
from scipy.special import expit, log_expit
from scipy.stats import lognorm, norm, t

from tailproof.refimpl.channel import run
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import parse_loss
from tailproof.refimpl.pure_dp.moment_choice import SHARE, private_moment_bound, split, steepness_of
from tailproof.refimpl.pure_dp.objective import objective_perturbation
from tailproof.refimpl.pure_dp.population import population_localization
from tailproof.refimpl.validation import InputError

PLACE = Path(__file__).with_suffix(".jsonl")
D, TEST = 3, 20_000
SIZES, EPSILONS = (1000, 10_000), (0.1, 1.0)
FACTORS = (0.01, 0.1, 1 / 3, 1.0, 3.0, 10.0, 100.0)
ALGORITHMS: dict[str, tuple[Any, str]] = {
    "P4.S2 tuned": (objective_perturbation, "tuned"),
    "P4.S2 theory": (objective_perturbation, "theory"),
    "P4.A1 tuned": (population_localization, "tuned"),
}
Draws = Callable[[np.random.Generator, Any], np.ndarray]
LAWS: dict[str, tuple[str, Draws, float, Any]] = {  # loss, draws, E of a square, P(|noise| ≤ s)
    "t(2.5), absolute": ("absolute", lambda rng, size: rng.standard_t(2.5, size), 5.0, lambda s: 2 * t.cdf(s, 2.5) - 1),
    "log-normal, absolute": (
        "absolute",
        lambda rng, size: rng.lognormal(0.0, 1.0, size),
        math.e**2,
        lambda s: lognorm.cdf(s, 1),
    ),
    "normal, absolute": ("absolute", lambda rng, size: rng.standard_normal(size), 1.0, lambda s: 2 * norm.cdf(s) - 1),
    "t(2.5), logistic": ("logistic", lambda rng, size: rng.standard_t(2.5, size), 5.0, None),
}


def truth_of(loss: str) -> np.ndarray:
    return np.full(D, (2 if loss == "logistic" else 1) / math.sqrt(D))


def draw(law: str, n: int, rng: np.random.Generator) -> np.ndarray:
    loss, sample, _, _ = LAWS[law]
    features, truth = sample(rng, (n, D)), truth_of(loss)
    if loss == "logistic":
        return np.column_stack([features, np.where(rng.random(n) < expit(features @ truth), 1.0, -1.0)])
    noise = sample(rng, n) * rng.choice([-1.0, 1.0], n)
    return np.column_stack([features, features @ truth + noise])


@cache
def further(law: str) -> np.ndarray:
    return LAWS[law][1](np.random.default_rng(10**6), (TEST, D))


@cache
def regret(law: str) -> tuple[np.ndarray, np.ndarray]:
    """E|u − ξ| − E|ξ| = ∫₀ᵘ P(|ξ| ≤ s) ds on a grid of u ≥ 0, ξ being symmetric."""
    grid = np.concatenate([[0.0], np.geomspace(1e-8, 1e5, 20_001)])
    return grid, cumulative_simpson(LAWS[law][3](grid), x=grid, initial=0.0)


def risk(law: str, point: np.ndarray) -> float:
    loss, features = LAWS[law][0], further(law)
    if loss == "absolute":
        return float(np.interp(np.abs(features @ (point - truth_of(loss))), *regret(law)).mean())
    true, found = features @ truth_of(loss), features @ point
    share = expit(true)  # of the label 1: the risk is a relative entropy
    gains = share * (log_expit(true) - log_expit(found)) + (1 - share) * (log_expit(-true) - log_expit(-found))
    return float(gains.mean())


Cell = tuple[str, str, int, float, int]


def cells(seeds: int) -> Iterator[Cell]:
    for seed in range(seeds):
        for law, algorithm, n, epsilon in product(LAWS, ALGORITHMS, SIZES, EPSILONS):
            yield law, algorithm, n, epsilon, seed


def measure(cell: Cell) -> dict[str, float | None]:
    """The risk with every G, by name; None where a private G is refused for want of records."""
    law, algorithm, n, epsilon, seed = cell
    loss, _, square, _ = LAWS[law]
    mechanism, preset = ALGORITHMS[algorithm]
    domain, moment = Ball(np.zeros(D), 2 * float(np.linalg.norm(truth_of(loss)))), math.sqrt(D * square)
    data = draw(law, n, np.random.default_rng([1, seed]))
    common = {"loss": loss, "domain": domain, "moment_order": 2.0, "preset": preset}

    def risk_of(function: Any, **more: Any) -> float:
        point, _ = run(function, data, np.random.default_rng([2, seed]), **common, **more)
        return risk(law, point)

    found: dict[str, float | None] = {"start": risk(law, np.zeros(D))}
    for factor in FACTORS:
        found[f"{factor:.3g}"] = risk_of(mechanism, epsilon=epsilon, moment_bound=factor * moment)
    found["rest"] = risk_of(mechanism, epsilon=(1 - SHARE) * epsilon, moment_bound=moment)
    first, rest = split(epsilon, SHARE)  # as `with_private_bound` does, but that the noise of the second part is the same
    try:
        steep = steepness_of(parse_loss(loss), data, domain)
        chosen, _ = run(
            private_moment_bound, steep, np.random.default_rng([3, seed]), epsilon=first.epsilon, moment_order=2.0
        )
        found["private"] = risk_of(mechanism, epsilon=rest.epsilon, moment_bound=float(chosen))
        found["quotient"] = float(chosen) / moment
    except InputError:  # from public numbers: n is too small for its share of ε
        found["private"] = found["quotient"] = None
    return found


# ------------------------------------------------------------------------------------------------------------------ the tables


def kept() -> dict[Cell, dict[str, float | None]]:
    if not PLACE.exists():
        return {}
    lines = [json.loads(line) for line in PLACE.read_text(encoding="utf-8").splitlines()]
    return {tuple(line["cell"]): line["risks"] for line in lines}


def ratio(runs: list[dict[str, float | None]], name: str) -> str:
    """Median over median, with an interval from 1000 resamples of the seeds."""
    if any(r[name] is None for r in runs):
        return "refused"
    above, below = (np.array([float(r[key] or 0.0) for r in runs]) for key in (name, "1"))
    picks = np.random.default_rng(0).integers(len(runs), size=(1000, len(runs)))
    low, high = np.quantile(np.median(above[picks], axis=1) / np.median(below[picks], axis=1), (0.025, 0.975))
    return f"{np.median(above) / np.median(below):.3g} [{low:.2g}, {high:.2g}]"


def show(done: dict[Cell, dict[str, float | None]]) -> None:
    groups: dict[tuple[str, str, int, float], list[dict[str, float | None]]] = {}
    for (law, algorithm, n, epsilon, _), risks in done.items():
        groups.setdefault((law, algorithm, n, epsilon), []).append(risks)
    names = [f"{factor:.3g}" for factor in FACTORS if factor != 1]
    print("Risk with G times a factor, over that with the true G; `start`: that of the public starting point")
    print("| law | algorithm | n | ε | seeds |", " | ".join(names), "| start |")
    print("|---|---|---|---|---|", "---|" * (len(names) + 1), sep="")
    for (law, algorithm, n, epsilon), runs in sorted(groups.items()):
        row = " | ".join(ratio(runs, name) for name in [*names, "start"])
        print(f"| {law} | {algorithm} | {n} | {epsilon:g} | {len(runs)} | {row} |")
    print()
    print(
        f"The price of a private G: a share of {SHARE:g} of ε for it, over the true G with all of ε; and the true G with the rest"
    )
    print("| law | algorithm | n | ε | seeds | private G | true G, rest of ε | private G / true G, median |")
    print("|---|---|---|---|---|---|---|---|")
    for (law, algorithm, n, epsilon), runs in sorted(groups.items()):
        row = " | ".join(ratio(runs, name) for name in ("private", "rest"))
        off = [r["quotient"] for r in runs if r["quotient"] is not None]
        middle = f"{np.median(off):.3g}" if off else "-"
        print(f"| {law} | {algorithm} | {n} | {epsilon:g} | {len(runs)} | {row} | {middle} |")
    print()
    for algorithm in ALGORITHMS:
        chosen = [runs for (_, other, _, _), runs in groups.items() if other == algorithm]
        shown = [f"{name}: {typical(chosen, name)}" for name in [*names, "private", "rest"]]
        print(f"{algorithm}, geometric mean over laws, n and ε: {', '.join(shown)}")


def typical(groups: list[list[dict[str, float | None]]], name: str) -> str:
    logs = []
    for runs in groups:
        if all(r[name] is not None for r in runs):
            above, below = (float(np.median([float(r[key] or 0.0) for r in runs])) for key in (name, "1"))
            logs.append(math.log(above / below))
    return f"{math.exp(float(np.mean(logs))):.3g} ({len(logs)})" if logs else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so much computing; what is done is kept")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    done = kept()
    with PLACE.open("a", encoding="utf-8") as file:
        for cell in cells(0 if arguments.show else arguments.seeds):
            if cell in done:
                continue
            if time.process_time() > arguments.seconds:
                break
            done[cell] = measure(cell)
            file.write(json.dumps({"cell": cell, "risks": done[cell]}) + "\n")
            file.flush()
    show(done)


if __name__ == "__main__":
    main()
