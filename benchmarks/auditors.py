"""Auditing auditors: how often lower bounds of privacy parameters exceed the truth, ours and other packages'.

    python benchmarks/auditors.py --table                 print what is kept in benchmarks/auditors.jsonl, run nothing
    python benchmarks/auditors.py --runs 1000 --jobs 2    (needs `pip install jax-privacy privacy-estimates`)

Every estimator gets the outputs of mechanisms whose privacy is known exactly, identical laws included, and states a bound at 95 %
confidence, which may be above the truth in one run of twenty.  The table has the rate with one-sided 99 % limits; `too often` where
the lower limit is above 5 %.  jax-privacy's `epsilon_raw_counts` is an estimate that states no confidence; it is there to show what
using it as a bound does.  Runs are kept in --lines, and not done again.
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import other_auditors
from joblib import Parallel, delayed
from other_auditors import OTHERS, ours
from tqdm import tqdm

from tailproof.refimpl.claims import GDP, PureDP
from tailproof.verification.auditing.auditors import KNOWN, Estimator, Known, bounds_of, overstated
from tailproof.verification.report import table

CONFIDENCE = 0.95
CHUNK = 100

ESTIMATORS: dict[str, tuple[str, Estimator]] = {
    "ours": ("epsilon", ours(PureDP)),
    "ours, sequential": ("epsilon", ours(PureDP, sequential=True)),
    "ours, μ": ("mu", ours(GDP)),
    "ours, μ, sequential": ("mu", ours(GDP, sequential=True)),
    **OTHERS,
    "jax-privacy, raw counts (an estimate)": ("epsilon", other_auditors.jax_counts),
}


def version_of(name: str) -> str:
    """Of the package that the estimator is from."""
    package = name.partition(",")[0].replace("ours", "tailproof")
    return f"{package} {version(package)}"


def chunk(name: str, mechanism: str, number: int, per_side: int) -> dict[str, Any]:
    known = next(one for one in KNOWN if one.name == mechanism)
    runs = range(number * CHUNK, (number + 1) * CHUNK)
    bounds = bounds_of(ESTIMATORS[name][1], known, runs=runs, per_side=per_side, confidence=CONFIDENCE, seed=0)
    about = {"estimator": name, "version": version_of(name), "mechanism": mechanism, "chunk": number, "per_side": per_side}
    return {**about, "bounds": bounds}


def pairs() -> list[tuple[str, Known]]:
    return [(name, one) for one in KNOWN for name, (parameter, _) in ESTIMATORS.items() if parameter == one.parameter]


def kept(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def study(runs: int, per_side: int, jobs: int, path: Path) -> list[dict[str, Any]]:
    lines = kept(path)
    done = {(line["estimator"], line["mechanism"], line["chunk"], line["per_side"]) for line in lines}
    work = [(name, one.name, number, per_side) for name, one in pairs() for number in range(runs // CHUNK)]
    work = [key for key in work if key not in done]
    found = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(chunk)(*key) for key in work)
    with path.open("a") as file:
        for line in tqdm(found, total=len(work), unit="chunk"):
            print(json.dumps({**line, "bounds": [round(bound, 6) for bound in line["bounds"]]}), file=file, flush=True)
            lines.append(line)
    return lines


HEADER = ["mechanism", "truth", "estimator", "runs", "above", "99 % limits", "median bound", ""]


def rows_of(lines: list[dict[str, Any]], per_side: int) -> list[list[str]]:
    """A mechanism and an estimator each: how often its bound is above the truth."""
    rows = []
    for name, known in pairs():
        key = (name, known.name, per_side)
        mine = [line for line in lines if (line["estimator"], line["mechanism"], line["per_side"]) == key]
        if not mine:
            continue
        found = overstated(known, [bound for line in mine for bound in line["bounds"]], CONFIDENCE)
        low, high = found.limits
        verdict = "too often" if found.wrong else ""
        rates = [f"{found.rate:.4f}", f"{low:.4f} to {high:.4f}"]
        rows.append([known.name, f"{known.truth:g}", name, str(found.runs), *rates, f"{found.median:.3f}", verdict])
    return rows


def versions(lines: list[dict[str, Any]]) -> str:
    return ", ".join(sorted({line["version"] for line in lines}))


def main() -> None:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="of every estimator on every mechanism, in hundreds")
    parser.add_argument("--per-side", type=int, default=1000, help="outputs of either side in a run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--lines", type=Path, default=Path("benchmarks/auditors.jsonl"), help="read first, and written")
    parser.add_argument("--table", action="store_true", help="print what is kept, run nothing")
    arguments = parser.parse_args()
    runs = 0 if arguments.table else arguments.runs
    lines = study(runs, arguments.per_side, arguments.jobs, arguments.lines) if runs else kept(arguments.lines)
    print(table(rows_of(lines, arguments.per_side), HEADER), f"\nVersions: {versions(lines)}", sep="\n")


if __name__ == "__main__":
    main()
