"""Do the checks flag an honest algorithm?  All findings on every row of the catalogue at quick effort, and every exact check of
`check_mechanism` on the honest twins of the attack files, over many seeds.

    python benchmarks/false_alarms.py --seeds 100 --jobs 2 --lines false_alarms.jsonl

One line of JSON per row and seed is appended to the file, which is read first: what is there is not run again.  So it can run in
pieces: `--hours` starts nothing after so many hours, and Ctrl-C loses only what is being run.  Printed are the statuses that
nothing expects (violated, inconclusive, skipped, missing, or a crash), for every check its number of findings and the largest
measured / bound among those that are not violated, and CPU hours.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import pkgutil
import sys
import time
import unittest
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from tailproof.refimpl.catalogue import algorithm
from tailproof.verification import matrix
from tailproof.verification.check import QUICK, honest_findings, implemented
from tailproof.verification.mechanism_checks import check_mechanism
from tailproof.verification.report import PASSING, Finding

ROOT = Path(__file__).resolve().parent.parent
TWIN = "twin:"
Json = dict[str, Any]


def rows() -> list[str]:
    return [entry.id for entry in implemented()] + [TWIN + name for name in twins()]


def twins() -> dict[str, Any]:
    """Those of the attack files, which are not installed."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from tests.verification import attacks

    found = {}
    for one in pkgutil.iter_modules(attacks.__path__):
        module = importlib.import_module(f"{attacks.__name__}.{one.name}")
        found |= {f"{one.name}-{at}-{twin.name}": twin for at, twin in enumerate(getattr(module, "TWINS", ()))}
    return found


# --- one row, one seed ----------------------------------------------------------------------------------------------------


def judge(row: str, seed: int) -> Json:
    """What is said about one row at one seed; a crash is said as well."""
    start = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            said = of_twin(row.removeprefix(TWIN), seed) if row.startswith(TWIN) else of_row(row, seed)
        except Exception as error:
            said = {"checks": {}, "ratios": {}, "expected": 0, "unexpected": [f"crash: {type(error).__name__}: {error}"]}
    return {"row": row, "seed": seed, **said, "seconds": round(time.process_time() - start, 3)}


def of_row(identifier: str, seed: int) -> Json:
    entry = algorithm(identifier)
    findings = list(honest_findings(entry, seed, QUICK))
    found = [finding.to_json() for finding in findings]
    missing = matrix.failures(matrix.matrix(found, [entry]), found)
    wrong = [f for f in findings if f.status not in PASSING]
    return {
        "checks": Counter(f.check for f in findings),
        "ratios": ratios(findings),
        "expected": sum(f.expected for f in wrong),
        "unexpected": [f"{f.check} {f.status}: {f.detail}" for f in wrong if not f.expected] + missing,
    }


def ratios(findings: list[Finding]) -> dict[str, float]:
    """The largest measured / bound of each check, of what is not violated."""
    found: dict[str, float] = {}
    for f in findings:
        if f.status != "violated" and f.measured is not None and f.bound:
            found[f.check] = max(found.get(f.check, 0.0), f.measured / f.bound)
    return {check: ratio for check, ratio in found.items() if math.isfinite(ratio)}


def of_twin(name: str, seed: int) -> Json:
    twin = twins()[name]
    checks = dict(
        check_mechanism(
            twin.mechanism, twin.claim, records=twin.records, columns=twin.columns, bounds=twin.bounds, seed=seed
        )
    )
    exact = {name: check for name, check in checks.items() if name.startswith("exact: ")}
    failed = {name: failure(check) for name, check in exact.items()}
    unexpected = [f"{name}: {said}" for name, said in failed.items() if said]
    return {"checks": dict.fromkeys(exact, 1), "ratios": {}, "expected": 0, "unexpected": unexpected}


def failure(check: Callable[[], None]) -> str:
    """Its first line; nothing if it passes."""
    try:
        check()
    except (AssertionError, unittest.SkipTest) as error:
        return str(error).splitlines()[0] if str(error) else type(error).__name__
    return ""


# --- many ------------------------------------------------------------------------------------------------------------------


def read(path: Path) -> list[Json]:
    """A line that was cut off is run again."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def run(work: list[tuple[str, int]], path: Path, *, jobs: int, hours: float) -> None:
    """Appends a line for each; starts none after the last hour."""
    end = time.monotonic() + 3600 * hours

    def in_time() -> Iterator[Any]:
        for pair in work:
            if time.monotonic() < end:
                yield delayed(judge)(*pair)

    found = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs)(in_time())
    whole = not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write("" if whole else "\n")  # after a line that was cut off
        for line in tqdm(found, total=len(work), unit="row", mininterval=5):
            print(json.dumps(line), file=file, flush=True)


def summary(lines: list[Json]) -> str:
    alarms = [(line["row"], line["seed"], what) for line in lines for what in line["unexpected"]]
    worst: dict[str, tuple[float, str, int]] = {}
    counted: Counter[str] = Counter()
    for line in lines:
        counted.update(line["checks"])
        for check, ratio in line["ratios"].items():
            worst[check] = max(worst.get(check, (-1.0, "", 0)), (ratio, line["row"], line["seed"]))
    names = {line["row"] for line in lines}
    honest = sum(name.startswith(TWIN) for name in names)
    text = [
        f"{len(lines)} runs: {len(names) - honest} rows of the catalogue and {honest} honest twins, "
        f"{len({line['seed'] for line in lines})} seeds",
        f"{sum(counted.values())} findings, {sum(line['expected'] for line in lines)} expected to fail; "
        f"{sum(line['seconds'] for line in lines) / 3600:.2f} CPU hours",
        f"unexpected (violated, inconclusive, skipped, missing, crashed): {len(alarms)}",
        *(f"  {row}, seed {seed}: {what}" for row, seed, what in alarms),
    ]
    for check in sorted(counted):
        shown = "{:.6g} of the bound ({}, seed {})".format(*worst[check]) if check in worst else "yes or no"
        text.append(f"  {check:28} {counted[check]:7} findings, at most {shown}")
    return "\n".join(text)


def costs(lines: list[Json]) -> str:
    """CPU seconds per seed, the dearest rows first."""
    spent: Counter[str] = Counter()
    for line in lines:
        spent[line["row"]] += line["seconds"]
    seeds = max(1, len({line["seed"] for line in lines}))
    return "\n".join(f"  {row:28} {seconds / seeds:8.2f} s a seed" for row, seconds in spent.most_common(10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=100, help="seeds 0 to this, exclusive")
    parser.add_argument("--only", nargs="+", default=None, metavar="ROW")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--hours", type=float, default=math.inf, help="start nothing after so many hours")
    parser.add_argument("--lines", type=Path, default=Path("false_alarms.jsonl"))
    arguments = parser.parse_args()
    known = rows()
    unknown = [row for row in arguments.only or [] if row not in known]
    if unknown:
        parser.error(f"--only: {unknown[0]!r} is no row; rows: {', '.join(known)}")
    chosen = arguments.only or known
    done = {(line["row"], line["seed"]) for line in read(arguments.lines)}
    work = [(row, seed) for seed in range(arguments.seeds) for row in chosen if (row, seed) not in done]
    run(work, arguments.lines, jobs=arguments.jobs, hours=arguments.hours)
    lines = [line for line in read(arguments.lines) if line["row"] in chosen and line["seed"] < arguments.seeds]
    print(summary(lines))
    print(f"dearest rows:\n{costs(lines)}")
    left = len(chosen) * arguments.seeds - len({(line["row"], line["seed"]) for line in lines})
    if left:
        sys.exit(f"{left} runs are left: start this again")
    if any(line["unexpected"] for line in lines):
        sys.exit(1)


if __name__ == "__main__":
    main()
