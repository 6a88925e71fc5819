"""The error of objective perturbation along ε = 1e-2 … 1e9: does it fall, and to that of the minimiser without privacy?

    python benchmarks/objective_epsilon.py [--seeds 40] [--jobs 1] [--only TEXT] [--json FILE]

Laws for which, in the limit, no estimator does better than the empirical minimiser; d = 3, n = 3000, features of Student t with 3
degrees of freedom: absolute loss with Laplace noise; logistic loss, a logistic model; squared loss with normal features and noise.
One law more is asymmetric: absolute loss, where long records, of norm above 3, ask for other weights than the rest, so that every
fixed clip has a bias.  Ours gets k = 2, the true G and the ball of radius 2, with both presets; squared loss has no theory plan.

The error is the excess population risk, on 100000 fresh records, beyond the least one.  Every ε has the same samples, of seeds
that no tuning has seen.  Printed are means with 95 % intervals (normal); whether the mean rises anywhere along ε by more than an
interval, with the samples paired, at a joint level of 95 %; and the empirical minimiser's error, by other software (scipy).  Tasks
that FILE already has are not run again.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import joblib
import numpy as np
from scipy.optimize import linprog, minimize
from scipy.stats import norm

from tailproof.refimpl.channel import run
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import Squared, parse_loss
from tailproof.refimpl.pure_dp.objective import assumption_of, objective_perturbation, objective_plan

EPSILONS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 70.0, 125.0, 300.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
LAWS = {"absolute": "absolute", "logistic": "logistic", "squared": "squared", "asymmetric": "absolute"}
D, N, RADIUS, FIRST_SEED = 3, 3000, 2.0, 5000
TRUTH = np.array([0.8, -0.5, 0.3])


def draw(law: str, n: int, rng: np.random.Generator) -> np.ndarray:
    x = rng.standard_normal((n, D)) if law == "squared" else rng.standard_t(3, (n, D))
    match law:
        case "squared":
            target = x @ TRUTH + rng.standard_normal(n)
        case "logistic":
            target = np.where(rng.random(n) < 1 / (1 + np.exp(-x @ TRUTH)), 1.0, -1.0)
        case "absolute":
            target = x @ TRUTH + rng.laplace(size=n)
        case _:
            long = np.linalg.norm(x, axis=1) > 3
            target = x @ TRUTH - np.where(long, x @ np.array([1.0, 0.0, 0.0]), 0.0) + 0.5 * rng.laplace(size=n)
    return np.column_stack([x, target])


def empirical_minimiser(law: str, data: np.ndarray) -> np.ndarray:
    x, target = data[:, :-1], data[:, -1]
    match law:
        case "squared":
            return np.asarray(np.linalg.lstsq(x, target, rcond=None)[0])
        case "logistic":
            loss = parse_loss("logistic")
            found = minimize(
                lambda w: (loss.mean_value(w, data), loss.mean_gradient(w, data)), np.zeros(D), jac=True, method="BFGS"
            )
            return np.asarray(found.x)
    # min Σ a + b, a − b = t − Xw: its dual is max ⟨t, y⟩, Xᵀy = 0, |y| ≤ 1, and w are the multipliers.
    found = linprog(-target, A_eq=x.T, b_eq=np.zeros(D), bounds=(-1, 1))
    return -np.asarray(found.eqlin.marginals)


@lru_cache(maxsize=8)
def population(law: str) -> tuple[np.ndarray, float, float]:
    """Fresh records, the least risk on them, and (E L²)^{1/2}."""
    test, loss = draw(law, 100_000, np.random.default_rng(10**6)), parse_loss(LAWS[law])
    constants = loss.lipschitz_upper(test, Ball(np.zeros(D), RADIUS))
    return test, loss.mean_value(empirical_minimiser(law, test), test), float(np.sqrt(np.mean(np.square(constants))))


def task(law: str, preset: str, seed: int) -> dict[str, float]:
    """The error for every ε, and that of the empirical minimiser, on one sample."""
    loss, domain, (test, least, moment) = parse_loss(LAWS[law]), Ball(np.zeros(D), RADIUS), population(law)
    known = assumption_of(domain, np.zeros(D), moment_order=2.0, moment_bound=moment)
    data = draw(law, N, np.random.default_rng(seed))
    found = {"none": loss.mean_value(domain.project(empirical_minimiser(law, data)), test) - least}
    for epsilon in EPSILONS:
        plan = objective_plan(known, loss, size=N, epsilon=epsilon, preset=preset)  # type: ignore[arg-type]
        given = {"loss": loss, "domain": domain, "epsilon": epsilon, "plan": plan}
        point, _ = run(objective_perturbation, data, np.random.default_rng([11, seed]), **given)
        found[f"{epsilon:g}"] = float(f"{loss.mean_value(point, test) - least:.5g}")
    return found


def interval(values: Iterable[float], level: float = 0.95) -> tuple[float, float, float]:
    """Mean, and half of the interval's width on either side."""
    sample = np.array(list(values))
    half = float(norm.isf((1 - level) / 2) * sample.std(ddof=1) / math.sqrt(len(sample)))
    return float(sample.mean()), float(sample.mean()) - half, float(sample.mean()) + half


def show(name: str, scores: list[dict[str, float]]) -> None:
    print(f"{name}: mean excess risk over {len(scores)} samples")
    joint = 1 - 0.05 / (len(EPSILONS) - 1)
    rises = []
    for before, after in pairwise(EPSILONS):
        mean, low, _ = interval((s[f"{after:g}"] - s[f"{before:g}"] for s in scores), 2 * joint - 1)
        rises += [f"{before:g} to {after:g} ({mean:.2g})"] if low > 0 else []
    for epsilon in EPSILONS:
        mean, low, high = interval(s[f"{epsilon:g}"] for s in scores)
        print(f"  ε = {epsilon:<8g}{mean:10.3g}   [{low:.3g}, {high:.3g}]")
    mean, low, high = interval(s["none"] for s in scores)
    last = interval(s[f"{EPSILONS[-1]:g}"] / s["none"] for s in scores)[0]
    print(f"  without     {mean:10.3g}   [{low:.3g}, {high:.3g}]   the last one is {last:.4g} of it, in the mean")
    print(f"  monotone within its intervals: {'no: ' + ', '.join(rises) if rises else 'yes'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="cells whose name contains this")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    arguments = parser.parse_args()
    done = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
    for law in LAWS:
        for preset in ("theory", "tuned"):
            name = f"{law}, {preset}"
            if arguments.only not in name or (preset == "theory" and isinstance(parse_loss(LAWS[law]), Squared)):
                continue
            known = done.setdefault(name, {})
            seeds = range(FIRST_SEED, FIRST_SEED + arguments.seeds)
            missing = [seed for seed in seeds if str(seed) not in known]
            results = joblib.Parallel(n_jobs=arguments.jobs)(joblib.delayed(task)(law, preset, seed) for seed in missing)
            known.update({str(seed): found for seed, found in zip(missing, results, strict=True)})
            if missing:
                arguments.json.write_text(json.dumps(done) + "\n")
            show(name, [known[str(seed)] for seed in seeds])


if __name__ == "__main__":
    main()
