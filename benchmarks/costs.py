"""What pure privacy costs on each set: nine algorithms × four sets × four losses, as multiples measured in one run.

    python benchmarks/costs.py [--n 10000] [--only TEXT] [--cap 60] [--repeats 3] [--json FILE]

Processor time of one run, from the data to the answer, over that on the ball with the same algorithm, loss and data; and the peak
of its memory beyond that of a process that has only made the data, over the data's size.  d = 10; 2 for A5, whose net would have
more than 1e15 points.  Linear models with Student t(2.5) features and noise, ε = 1, λ = 0.1, C = 1; plans for moments of order 2.
Seconds are the least of a few runs, each cell in a process of its own with one BLAS thread, after a run on 1000 records,
which compiles programs.  A cell that needs more than the cap in all is noted as such; one that is refused, with the reason.
Cells that FILE already has are not run again (delete what is to be measured again).
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read when numpy is loaded

import argparse  # noqa: E402
import contextlib  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import resource  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from tailproof.refimpl.channel import run  # noqa: E402
from tailproof.refimpl.domains import Box, Domain, Ellipsoid, Polytope, unit_ball  # noqa: E402
from tailproof.refimpl.pure_dp.double import double_output_perturbation  # noqa: E402
from tailproof.refimpl.pure_dp.exponential import exponential_mechanism  # noqa: E402
from tailproof.refimpl.pure_dp.localise import localised_ball  # noqa: E402
from tailproof.refimpl.pure_dp.localised_exponential import localised_exponential  # noqa: E402
from tailproof.refimpl.pure_dp.objective import objective_perturbation  # noqa: E402
from tailproof.refimpl.pure_dp.population import population_localization  # noqa: E402
from tailproof.refimpl.pure_dp.single import single_output_perturbation  # noqa: E402
from tailproof.refimpl.validation import FloatArray, InputError  # noqa: E402

FILE = Path(__file__).with_name("costs.json")
FIXED: dict[str, Any] = {"weight": 0.1, "lipschitz": 1.0, "epsilon": 1.0}
MOMENTS = {"absolute": 8.0, "hinge": 8.0, "logistic": 8.0, "squared": 100.0}
SMOOTHNESS = {"absolute": 1.0, "hinge": 1.0, "logistic": 0.25, "squared": 1.0}
ALGORITHMS = ("S2 tuned", "S2 theory", "S1", "A2", "A4", "A1 tuned", "A1 theory", "A7", "A5")
SETS = ("ball", "box", "ellipsoid", "polytope")


def set_of(name: str, d: int) -> Domain:
    """The polytope has 30 facets in ten dimensions."""
    rng = np.random.default_rng(5)
    turned = np.linalg.qr(rng.normal(size=(d, d)))[0]
    cuts = rng.normal(size=(d, d))
    cuts /= np.linalg.norm(cuts, axis=1)[:, np.newaxis]
    match name:
        case "box":
            return Box(np.full(d, -0.5), np.full(d, 0.5))
        case "ellipsoid":
            return Ellipsoid(np.zeros(d), turned @ np.diag(np.linspace(0.3, 1.5, d) ** 2) @ turned.T)
        case "polytope":
            return Polytope(np.vstack([np.eye(d), -np.eye(d), cuts]), np.r_[np.full(2 * d, 0.5), np.full(d, 0.6)])
    return unit_ball(d)


def make_data(loss: str, n: int, d: int) -> FloatArray:
    rng = np.random.default_rng(1)
    features = rng.standard_t(2.5, size=(n, d))
    scores = features.sum(axis=1) / math.sqrt(d) + rng.standard_t(2.5, size=n)
    labels = loss in ("hinge", "logistic")
    return np.column_stack([features, np.where(scores > 0, 1.0, -1.0) if labels else scores])


def call_of(algorithm: str, loss: str, domain: Domain) -> Callable[[FloatArray], Any]:
    known: dict[str, Any] = {"loss": loss, "domain": domain}
    moments = {"moment_order": 2.0, "moment_bound": MOMENTS[loss], "epsilon": 1.0}
    name, _, preset = algorithm.partition(" ")
    functions: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "S2": (objective_perturbation, {**moments, "preset": preset}),
        "S1": (single_output_perturbation, FIXED),
        "A2": (localised_ball, {**FIXED, "failure": 0.05}),
        "A4": (double_output_perturbation, FIXED),
        "A1": (population_localization, {**moments, "preset": preset}),
        "A7": (localised_exponential, FIXED),
        "A5": (exponential_mechanism, {**FIXED, "smoothness": SMOOTHNESS[loss], "mesh": 0.02, "smoothing": 0.1}),
    }
    function, arguments = functions[name]
    if name == "A5" and loss in ("logistic", "squared"):
        arguments.pop("smoothing")
    return lambda data: run(function, data, np.random.default_rng(3), **known, **arguments)


def cell(algorithm: str, name: str, loss: str, n: int, repeats: int) -> dict[str, Any]:
    """Seconds and memory of one algorithm on one set, or why it is refused."""
    d = 2 if algorithm == "A5" else 10
    call, data = call_of(algorithm, loss, set_of(name, d)), make_data(loss, n, d)
    with contextlib.suppress(InputError):  # some plans need more records
        call(data[:1000])
    before, seconds = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
    try:
        for _ in range(repeats):
            start = time.process_time()
            call(data)
            seconds.append(time.process_time() - start)
    except InputError as refusal:
        return {"refused": str(refusal)}
    extra = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    return {"seconds": round(min(seconds), 4), "memory": round(extra / data.nbytes, 2)}


def measured(algorithm: str, name: str, loss: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """The same in a process of its own, which the system ends at the cap."""
    command = [sys.executable, __file__, "--cell", algorithm, name, loss, "--n", str(arguments.n)]
    command += ["--repeats", str(arguments.repeats)]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (arguments.cap, arguments.cap + 1))

    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
    if done.returncode < 0:
        return {"capped": arguments.cap}
    if done.returncode:
        raise RuntimeError(f"{algorithm} on the {name} with {loss} loss failed:\n{done.stderr}")
    return dict(json.loads(done.stdout))


def show(cells: dict[str, dict[str, Any]]) -> None:
    """Multiples of the ball's seconds, which are in brackets; memory in copies of the data."""
    print(f"{'':28}" + "".join(f"{name:>16}" for name in SETS))
    notes: dict[str, str] = {}
    for loss in MOMENTS:
        for algorithm in ALGORITHMS:
            found = [cells.get(f"{algorithm}, {name}, {loss}") for name in SETS]
            texts = [_text(one, found[0], notes) for one in found]
            if any(found):
                print(f"{loss:12}{algorithm:16}" + "".join(f"{text:>16}" for text in texts))
    for reason, letter in notes.items():
        print(f"({letter}) refused: {reason}")


def _text(one: dict[str, Any] | None, ball: dict[str, Any] | None, notes: dict[str, str]) -> str:
    if one is None:
        return "-"
    if "refused" in one:
        return f"({notes.setdefault(one['refused'], chr(ord('a') + len(notes)))})"
    if "capped" in one:
        return f"> {one['capped']} s"
    if one is ball or ball is None or "seconds" not in ball:
        return f"[{one['seconds']:.3f} s] {one['memory']:4.1f}"
    return f"{one['seconds'] / ball['seconds']:.1f} {one['memory']:8.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--only", default="", help="cells whose name, as in 'S1, polytope, hinge', contains this")
    parser.add_argument("--cap", type=int, default=60, help="processor seconds of a cell, all of its runs")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, default=FILE)
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(cell(*arguments.cell, arguments.n, arguments.repeats)))
        return
    cells: dict[str, dict[str, Any]] = {}
    if arguments.json.exists():
        known = json.loads(arguments.json.read_text())
        cells = known["cells"] if known["n"] == arguments.n else {}
    for loss in MOMENTS:
        for algorithm in ALGORITHMS:
            for name in SETS:
                key = f"{algorithm}, {name}, {loss}"
                if arguments.only in key and key not in cells:
                    cells[key] = measured(algorithm, name, loss, arguments)
                    arguments.json.write_text(json.dumps({"n": arguments.n, "cells": cells}, indent=1) + "\n")
    show(cells)


if __name__ == "__main__":
    main()
