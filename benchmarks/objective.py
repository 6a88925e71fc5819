"""How the constants of the tuned plan of objective perturbation were found: median excess risk over a grid of them.

    python benchmarks/objective.py [--seeds 6] [--jobs 2] [--json FILE] [--growth]

Problems: linear models with Student t(2.5) features and noise, absolute loss; t(5), squared loss; a logistic model with t(2.5)
features; in d = 3 and d = 10, n = 10000.  For every ε the score of a triple (γ, κ, share) is the geometric mean, over the
problems, of its median risk divided by the least median of any triple.  Tasks that FILE already has are not run again.

--growth: mean risks for several θ, divided by those without growth, in d = 10; θ was taken as large as costs little, since a law
that is not symmetric gains by it.
"""

from __future__ import annotations

import argparse
import json
import math
from itertools import product
from pathlib import Path

import joblib
import numpy as np

from tailproof.refimpl.channel import run
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import parse_loss
from tailproof.refimpl.pure_dp.objective import assumption_of, objective_perturbation, tuned_objective_plan

EPSILONS = (0.1, 1.0, 5.0)
CLIPS, BENDS, SHARES = (0.07, 0.15, 0.3), (2.0, 4.0, 8.0), (0.3, 0.45)
FREEDOM = {"absolute": 2.5, "squared": 5.0, "logistic": 2.5}
RADIUS = {"absolute": 2.0, "squared": 2.0, "logistic": 4.0}
N = 10_000
GROWTHS = (0.01, 0.02, 0.05, 0.1, 0.2)


def draw(loss: str, d: int, n: int, rng: np.random.Generator) -> np.ndarray:
    freedom, truth = FREEDOM[loss], truth_of(loss, d)
    features = rng.standard_t(freedom, size=(n, d))
    if loss == "logistic":
        return np.column_stack([features, np.where(rng.random(n) < 1 / (1 + np.exp(-features @ truth)), 1.0, -1.0)])
    return np.column_stack([features, features @ truth + rng.standard_t(freedom, size=n)])


def truth_of(loss: str, d: int) -> np.ndarray:
    return np.full(d, (2 if loss == "logistic" else 1) / math.sqrt(d))


def moment(loss: str, d: int) -> float:
    if loss != "squared":
        return math.sqrt(d * FREEDOM[loss] / (FREEDOM[loss] - 2))
    sample = draw(loss, d, 100_000, np.random.default_rng(10**7))
    constants = parse_loss(loss).lipschitz_upper(sample, Ball(np.zeros(d), RADIUS[loss]))
    return float(np.sqrt(np.mean(np.square(constants))))


def risks(loss: str, d: int, epsilon: float, seed: int) -> dict[str, float]:
    """Of every triple, on one sample."""
    model, domain, truth = parse_loss(loss), Ball(np.zeros(d), RADIUS[loss]), truth_of(loss, d)
    data, test = draw(loss, d, N, np.random.default_rng(seed)), draw(loss, d, 50_000, np.random.default_rng(10**6))
    known = assumption_of(domain, np.zeros(d), moment_order=2.0, moment_bound=moment(loss, d))
    found = {}
    for clip, bend, share in product(CLIPS, BENDS, SHARES):
        plan = tuned_objective_plan(known, model, size=N, epsilon=epsilon, clip=clip, bend=bend, share=share)
        rng = np.random.default_rng([9, seed])
        point, _ = run(objective_perturbation, data, rng, loss=loss, domain=domain, epsilon=epsilon, plan=plan)
        found[f"{clip:g} {bend:g} {share:g}"] = model.mean_value(point, test) - model.mean_value(truth, test)
    return found


def growth(seeds: int) -> None:
    """Of the same laws, n = 10000 and 100000; mean risks over the seeds."""
    print("risk for θ, divided by that for θ = 0.0001:", *(f"{theta:8g}" for theta in GROWTHS))
    for loss, n, epsilon in product(FREEDOM, (10_000, 100_000), (0.5, 1.0, 5.0)):
        model, domain, truth = parse_loss(loss), Ball(np.zeros(10), RADIUS[loss]), truth_of(loss, 10)
        test = draw(loss, 10, 50_000, np.random.default_rng(10**6))
        known = assumption_of(domain, np.zeros(10), moment_order=2.0, moment_bound=moment(loss, 10))
        totals = dict.fromkeys((1e-4, *GROWTHS), 0.0)
        for seed, theta in product(range(seeds), totals):
            plan = tuned_objective_plan(known, model, size=n, epsilon=epsilon, growth=theta)
            data, rng = draw(loss, 10, n, np.random.default_rng(seed)), np.random.default_rng([9, seed])
            point, _ = run(objective_perturbation, data, rng, loss=loss, domain=domain, epsilon=epsilon, plan=plan)
            totals[theta] += model.mean_value(point, test) - model.mean_value(truth, test)
        quotients = (totals[theta] / totals[1e-4] for theta in GROWTHS)
        print(f"{f'{loss}, n = {n}, ε = {epsilon:g}':43}", *(f"{quotient:8.2f}" for quotient in quotients), flush=True)


def show(done: dict[str, dict[str, dict[str, float]]]) -> None:
    totals: dict[str, list[float]] = {}
    for name, by_seed in done.items():
        triples = next(iter(by_seed.values()))
        medians = {triple: max(float(np.median([r[triple] for r in by_seed.values()])), 1e-6) for triple in triples}
        least = min(medians.values())
        epsilon = name.split("ε = ")[1]
        for triple, median in medians.items():
            totals.setdefault(f"ε = {epsilon}: {triple}", []).append(math.log(median / least))
            totals.setdefault(f"all: {triple}", []).append(math.log(median / least))
    for group in sorted({key.split(":")[0] for key in totals}):
        scores = sorted((math.exp(float(np.mean(v))), key) for key, v in totals.items() if key.split(":")[0] == group)
        print(f"{group}: (γ κ share) median risk over the best triple's, geometric mean over problems")
        for score, key in scores[:6]:
            print(f"  {key.split(': ')[1]:16}{score:8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--growth", action="store_true")
    arguments = parser.parse_args()
    if arguments.growth:
        growth(arguments.seeds)
        return
    done = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else {}
    for loss, d, epsilon in product(FREEDOM, (3, 10), EPSILONS):
        known = done.setdefault(f"{loss}, d = {d}, ε = {epsilon:g}", {})
        missing = [seed for seed in range(arguments.seeds) if str(seed) not in known]
        results = joblib.Parallel(n_jobs=arguments.jobs)(joblib.delayed(risks)(loss, d, epsilon, seed) for seed in missing)
        known.update({str(seed): found for seed, found in zip(missing, results, strict=True)})
        if arguments.json:
            arguments.json.write_text(json.dumps(done) + "\n")
    show(done)


if __name__ == "__main__":
    main()
