"""Certified minimisation of the regularised Lipschitz extension, against Clarabel on the joint problem, in one run.

    python benchmarks/minimisation.py [--d 10] [--most 1000000] [--json FILE]

Every problem: d features of Student t with 2 degrees of freedom, C = 5 (about the third quartile of ‖x‖), the unit ball or a
domain of like size, λ = C/√n, and the accuracy α = C²/(2λn²) (κ = 1).  Seconds are processor time on one BLAS thread, for
everything from the data to the checked certificate.  Each row is measured in a process of its own, so that `megabytes`, the
peak of its memory beyond that of a process that has only made the data, is its own; n = 1e6 records take 88 MB themselves.
`clarabel` solves the joint problem in w and all y_i, compiled by cvxpy (compilation counted apart) with tolerances α.
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when numpy is loaded

import argparse  # noqa: E402
import itertools  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import multiprocessing  # noqa: E402
import resource  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import cvxpy  # noqa: E402
import numpy as np  # noqa: E402

from tailproof.refimpl.domains import Box, Domain, Ellipsoid, L1Ball, Localised, Polytope, unit_ball  # noqa: E402
from tailproof.refimpl.extension.certificate import Problem, gap_upper, gap_upper_in_balls  # noqa: E402
from tailproof.refimpl.extension.certified import accuracy_for, minimise  # noqa: E402
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, ReLU, Squared  # noqa: E402

LIPSCHITZ = 5.0
LOSSES: dict[str, GlmLoss] = {
    type(loss).__name__: loss for loss in (Hinge(), Absolute(), ReLU(), Logistic(), Squared(), L4(), Affine())
}


def domain_of(name: str, d: int) -> Domain:
    box = Box(np.full(d, -0.5), np.full(d, 0.5))
    match name:
        case "box":
            return box
        case "l1 ball":
            return L1Ball(np.zeros(d), 1.5)
        case "ellipsoid":
            return Ellipsoid(np.zeros(d), np.diag(np.linspace(0.3, 1.5, d)))
        case "polytope":
            return Polytope(np.vstack([np.eye(d), -np.eye(d), np.ones((1, d))]), np.r_[np.full(2 * d, 0.5), 0.2 * d])
        case "localised box":
            return Localised(box, np.full(d, 0.1), 0.6)
    return unit_ball(d)


def make_problem(loss: str, domain: str, n: int, d: int) -> Problem:
    rng = np.random.default_rng(1)
    features = rng.standard_t(2.0, size=(n, d))
    scores = features @ rng.normal(size=d) + rng.standard_t(2.0, size=n)
    target = LOSSES[loss].target
    data = features if target == "none" else np.column_stack([features, scores])
    if target == "label":
        data[:, -1] = np.where(scores > 0, 1.0, -1.0)
    del features, scores
    return Problem(LOSSES[loss], data, domain_of(domain, d), LIPSCHITZ, LIPSCHITZ / math.sqrt(n), np.zeros(d))


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ours(loss: str, domain: str, n: int, d: int) -> dict[str, Any]:
    minimise(make_problem(loss, domain, 64, d), 1e-3)  # compiles programs, loads libraries
    problem = make_problem(loss, domain, n, d)
    accuracy = accuracy_for(lipschitz=LIPSCHITZ, weight=problem.weight, size=n)
    before, start = megabytes(), time.process_time()
    found = minimise(problem, accuracy)
    used = time.process_time() - start
    peak = megabytes()
    start = time.process_time()
    gap_upper(problem, found.certificate)
    check = time.process_time() - start
    row = {
        "loss": loss,
        "domain": domain,
        "n": n,
        "seconds": round(used, 4),
        "check_seconds": round(check, 4),
        "megabytes": round(peak - before),
        "total_megabytes": round(peak),
        "evaluations": found.evaluations,
        "stage": found.stage,
        "gap_over_accuracy": round(found.gap_upper / accuracy, 3),
    }
    if n <= 100_000 and loss == "Hinge" and domain == "unit ball":
        start = time.process_time()
        gap_upper_in_balls(problem, found.certificate)
        row["ball_check_seconds"] = round(time.process_time() - start, 2)
    return row


def clarabel(n: int, d: int) -> dict[str, Any]:
    problem = make_problem("Hinge", "unit ball", n, d)
    accuracy = accuracy_for(lipschitz=LIPSCHITZ, weight=problem.weight, size=n)
    w, y, moves = cvxpy.Variable(d), cvxpy.Variable((n, d)), cvxpy.Variable(n)
    losses = cvxpy.pos(1 - cvxpy.sum(cvxpy.multiply(problem.features, y), axis=1))
    rows = cvxpy.reshape(w, (1, d), order="C")
    objective = cvxpy.sum(losses + LIPSCHITZ * moves) / n + problem.weight / 2 * cvxpy.sum_squares(w)
    program = cvxpy.Problem(
        cvxpy.Minimize(objective),
        [cvxpy.norm(w, 2) <= 1, cvxpy.norm(y, 2, axis=1) <= 1, cvxpy.norm(np.ones((n, 1)) @ rows - y, 2, axis=1) <= moves],
    )
    start = time.process_time()
    program.solve(solver=cvxpy.CLARABEL, tol_gap_abs=accuracy, tol_gap_rel=accuracy)
    used = time.process_time() - start
    solver = float(program.solver_stats.solve_time)
    finer = minimise(problem, accuracy / 100)
    value = finer.certificate
    penalty = problem.weight / 2 * float(finer.point @ finer.point)
    moved = np.linalg.norm(finer.point - value.minimisers, axis=1)
    margins = np.einsum("ij,ij->i", problem.features, value.minimisers)
    best = float(np.mean(np.maximum(1 - margins, 0) + LIPSCHITZ * moved)) + penalty
    return {
        "n": n,
        "seconds": round(used, 3),
        "solver_seconds": round(solver, 3),
        "excess_over_accuracy": round((float(program.value) - best) / accuracy, 3),
    }


def in_own_process(function: Any, *arguments: Any) -> Any:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def subjects(most: int) -> list[tuple[str, str, int]]:
    sizes = [n for n in (10_000, 100_000, 1_000_000) if n <= most]
    hinge = [("Hinge", "unit ball", n) for n in sizes]
    others = [(loss, "unit ball", min(most, 100_000)) for loss in LOSSES if loss != "Hinge"]
    domains = [("Hinge", domain, 10_000) for domain in ("box", "l1 ball", "ellipsoid", "polytope", "localised box")]
    return hinge + others + domains + [("Hinge", "box", min(most, 100_000)), ("Hinge", "ellipsoid", min(most, 100_000))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--d", type=int, default=10)
    parser.add_argument("--most", type=int, default=1_000_000, help="the largest number of records")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    print(f"{'loss':10}{'domain':15}{'n':>9}{'seconds':>10}{'check':>9}{'MB':>7}{'evaluations':>13}{'gap/α':>8}  stage")
    for subject in subjects(arguments.most):
        row = in_own_process(ours, *subject, arguments.d)
        rows.append(row)
        print(
            f"{row['loss']:10}{row['domain']:15}{row['n']:9d}{row['seconds']:10.3f}{row['check_seconds']:9.3f}"
            f"{row['megabytes']:7d}{row['evaluations']:13d}{row['gap_over_accuracy']:8.3f}  {row['stage']}",
            flush=True,
        )
    conic = in_own_process(clarabel, 10_000, arguments.d)
    ratio = conic["solver_seconds"] / rows[0]["seconds"]
    print(
        f"Clarabel on the joint problem, n = 10000: {conic['solver_seconds']} s in the solver, {conic['seconds']} s in all,"
    )
    print(f"its value {conic['excess_over_accuracy']} α above the minimum; the solver alone takes {ratio:.0f} times as long")
    for smaller, larger in itertools.pairwise(rows[:3]):
        factor = larger["seconds"] / smaller["seconds"]
        print(f"from n = {smaller['n']} to {larger['n']}: {factor:.1f} times the seconds")
    if arguments.json:
        result = {
            "d": arguments.d,
            "lipschitz": LIPSCHITZ,
            "clarabel": conic,
            "clarabel_ratio": round(ratio, 1),
            "rows": rows,
        }
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
