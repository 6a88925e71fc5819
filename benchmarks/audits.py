"""Black-box audits: how much they find, how soon, and how often they are wrong.

    python benchmarks/audits.py power --seeds 20
    python benchmarks/audits.py detection --seeds 20
    python benchmarks/audits.py false-alarms --runs 2000 --jobs 2 --lines audits.jsonl

`power`: medians of the lower bounds at N samples per side (a budget of 2N), confidence .95, correct mechanisms whose claim
is exact, beside what the best single threshold gives with known laws and two Clopper–Pearson bounds.  `detection`: broken
mechanisms flagged of so many seeds, and the runs a sequential audit needs.  `false-alarms`: how often an exact claim is
called violated (its bound exceeds the truth) at a nominal 5 %, with the lower 99 % limit of the rate; one line of JSON per
case and hundred runs is appended to the file, which is read first: what stands there is not run again.
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
from joblib import Parallel, delayed
from scipy.stats import beta
from tqdm import tqdm

from refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP, gaussian_mu
from refimpl.validation import FloatArray
from verification.auditing import audit
from verification.report import table

Subject = Callable[[Any, np.random.Generator, int], FloatArray]
MU = gaussian_mu(1.0, 1e-5)
CHUNK = 100  # runs of a line of the false-alarm study


def laplace(scale: float) -> Subject:
    return lambda data, rng, size: data + scale * rng.laplace(size=size)


def gaussian(scale: float) -> Subject:
    return lambda data, rng, size: data + scale * rng.normal(size=size)


def geometric(data: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Two-sided geometric noise, ε = 1."""
    chance = 1 - math.exp(-1)
    return data + rng.geometric(chance, size) - rng.geometric(chance, size)


def response(data: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Randomised response, ε = 1."""
    return np.where(rng.random(size) < math.e / (1 + math.e), data, 1 - data)


def leaky_response(data: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Randomised response with ε = 1 that names the side with probability 0.02: exactly (1, 0.02)."""
    return np.where(rng.random(size) < 0.02, 10 + data, response(data, rng, size))


def several(data: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Five coordinates, all shifted, Laplace noise for ε = 1 in all."""
    return data + 5 * rng.laplace(size=(size, 5))


def several_gaussian(data: float, rng: np.random.Generator, size: int) -> FloatArray:
    """Five coordinates, all shifted, a shift of one standard deviation in all."""
    return data + math.sqrt(5) * rng.normal(size=(size, 5))


def same(data: float, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG001
    return rng.standard_cauchy(size)


def same_discrete(data: float, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG001
    return rng.integers(0, 4, (size, 3)).astype(float)


def unclipped(data: float, rng: np.random.Generator, size: int) -> FloatArray:
    """A mean whose records should have been clipped to 1 and were 10."""
    return 10 * data + rng.laplace(size=size)


def noisy_max_value(data: float, rng: np.random.Generator, size: int) -> FloatArray:
    """The largest of five noisy counts instead of its position; all counts rise by one."""
    return (data + 2 * rng.laplace(size=(size, 5))).max(axis=1)


POWER: list[tuple[str, Subject, Claim, dict[int, tuple[float, float]]]] = [
    ("Laplace, pure ε", laplace(1.0), PureDP(1.0), {10**4: (0.915, 0.939), 10**5: (0.975, 0.981), 10**6: (0.991, 0.994)}),
    (
        "Gaussian, (ε, δ)",
        gaussian(1 / MU),
        ApproxDP(1.0, 1e-5),
        {10**4: (0.30, 0.381), 10**5: (0.52, 0.594), 10**6: (0.71, 0.768)},
    ),
    ("Gaussian, μ / claim", gaussian(1 / MU), GDP(MU), {10**4: (0.88, 0.815), 10**5: (0.96, 0.942), 10**6: (0.985, 0.982)}),
    ("Gaussian, ρ / claim", gaussian(1 / MU), ZCDP(MU**2 / 2), {10**4: (math.nan, math.nan), 10**5: (math.nan, math.nan)}),
]

BROKEN: dict[str, tuple[Subject, Claim]] = {
    "Laplace, half its scale": (laplace(0.5), PureDP(1.0)),
    "Laplace, 0.8 of its scale": (laplace(0.8), PureDP(1.0)),
    "mean without clipping": (unclipped, PureDP(1.0)),
    "noisy max releases its value": (noisy_max_value, PureDP(1.0)),
    "Gaussian, log10 for ln": (gaussian(1 / MU / math.sqrt(math.log(10))), GDP(MU)),
    "Gaussian, half its scale": (gaussian(0.5 / MU), ApproxDP(1.0, 1e-5)),
}

HONEST: dict[str, tuple[Subject, Claim]] = {
    "Laplace": (laplace(1.0), PureDP(1.0)),
    "geometric": (geometric, PureDP(1.0)),
    "randomised response": (response, PureDP(1.0)),
    "leaky response": (leaky_response, ApproxDP(1.0, 0.02)),
    "five Laplace": (several, PureDP(1.0)),
    "same law, ε": (same, PureDP(0.01)),
    "same table, ε": (same_discrete, PureDP(0.01)),
    "Gaussian, (ε, δ)": (gaussian(1 / MU), ApproxDP(1.0, 1e-5)),
    "Gaussian, μ": (gaussian(1.0), GDP(1.0)),
    "five Gaussian, μ": (several_gaussian, GDP(1.0)),
    "same law, μ": (same, GDP(0.01)),
    "same table, μ": (same_discrete, GDP(0.01)),
    "randomised response, ρ": (response, ZCDP(math.tanh(0.5))),
    "same law, ρ": (same, ZCDP(1e-5)),
}


def power(seeds: int, largest: int) -> str:
    rows = []
    for name, subject, claim, sizes in POWER:
        for per_side, (asked, threshold) in sizes.items():
            if per_side > largest:
                continue
            found = [
                audit(subject, claim, [(0.0, 1.0)], budget=2 * per_side, confidence=0.95, seed=seed) for seed in range(seeds)
            ]
            unit = {"epsilon": 1.0, "mu": MU, "rho": MU**2 / 2}[found[0].parameter]
            median = float(np.median([result.lower / unit for result in found]))
            seconds = float(np.median([result.seconds for result in found]))
            rows.append([name, f"{per_side:.0e}", f"{median:.3f}", f"{asked:.3f}", f"{threshold:.3f}", f"{seconds:.2f}"])
    return table(rows, ["subject", "N per side", "median bound", "asked", "best threshold", "seconds"])


def detection(seeds: int) -> str:
    rows = []
    for name, (subject, claim) in BROKEN.items():
        flagged = []
        for per_side in (10**3, 10**4, 10**5):
            found = [
                audit(subject, claim, [(0.0, 1.0)], budget=2 * per_side, confidence=0.95, seed=seed) for seed in range(seeds)
            ]
            flagged.append(f"{sum(result.verdict == 'violated' for result in found)}/{seeds}")
            if flagged[-1] == f"{seeds}/{seeds}":
                flagged += ["·"] * (3 - len(flagged))
                break
        courses = [
            audit(subject, claim, [(0.0, 1.0)], budget=200_000, sequential=True, confidence=0.95, seed=seed)
            for seed in range(seeds)
        ]
        runs = np.median([course.samples for course in courses])
        rows.append([name, str(claim), *flagged, f"{runs:.0f}", f"{sum(c.verdict == 'violated' for c in courses)}/{seeds}"])
    return table(rows, ["subject", "claim", "N = 1e3", "1e4", "1e5", "runs, sequential", "flagged"])


def chunk(case: str, sequential: bool, number: int, budget: int) -> dict[str, Any]:
    subject, claim = HONEST[case]
    start = time.process_time()
    seeds = range(number * CHUNK, (number + 1) * CHUNK)
    results = [
        audit(subject, claim, [(0.0, 1.0)], budget=budget, sequential=sequential, confidence=0.95, seed=seed)
        for seed in seeds
    ]
    alarms = sum(result.verdict == "violated" for result in results)
    key = {"case": case, "sequential": sequential, "chunk": number, "budget": budget}
    return {**key, "alarms": alarms, "seconds": round(time.process_time() - start, 2)}


def false_alarms(runs: int, budget: int, jobs: int, path: Path) -> str:
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    lines = [line for line in lines if line["budget"] == budget and line["chunk"] < runs // CHUNK]
    done = {(line["case"], line["sequential"], line["chunk"]) for line in lines}
    keys = [(case, mode, c) for mode in (False, True) for case in HONEST for c in range(runs // CHUNK)]
    work = [key for key in keys if key not in done]
    found = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(chunk)(*key, budget) for key in work)
    with path.open("a") as file:
        for line in tqdm(found, total=len(work), unit="chunk"):
            print(json.dumps(line), file=file, flush=True)
            lines.append(line)
    rows = []
    for case in HONEST:
        for mode in (False, True):
            mine = [line for line in lines if (line["case"], line["sequential"]) == (case, mode)]
            alarms, trials = sum(line["alarms"] for line in mine), CHUNK * len(mine)
            limit = float(beta.ppf(0.01, alarms, trials - alarms + 1)) if alarms else 0.0
            rows.append(
                [case, "sequential" if mode else "fixed", str(trials), f"{alarms / max(1, trials):.4f}", f"{limit:.4f}"]
            )
    return table(rows, ["honest subject", "audit", "runs", "alarms", "lower 99 % limit"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["power", "detection", "false-alarms"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--largest", type=float, default=1e6, help="power: the largest N per side")
    parser.add_argument("--runs", type=int, default=2000, help="false alarms: runs of each case, in hundreds")
    parser.add_argument("--budget", type=int, default=600, help="false alarms: runs of the mechanism in one audit")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--lines", type=Path, default=Path("audits.jsonl"))
    arguments = parser.parse_args()
    if arguments.what == "power":
        print(power(arguments.seeds, int(arguments.largest)))
    elif arguments.what == "detection":
        print(detection(arguments.seeds))
    else:
        print(false_alarms(arguments.runs, arguments.budget, arguments.jobs, arguments.lines))


if __name__ == "__main__":
    main()
