"""Audit libraries that others wrote, and print what was found.

    pip install '.[audits]'
    python examples/audits/run.py                       what is kept in results.json is not run again
    python examples/audits/run.py --only KMeans         cases whose name contains the text
    python examples/audits/run.py --table               print the kept results as a table, run nothing
    python examples/audits/run.py --readme              write that table into README.md, run nothing

Results are kept with the versions of the libraries, after every case.  Exit 0 when all cases ended and every violation names a
script that reproduces it, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import cases_accounting
import cases_calibration
import cases_diffprivlib
import cases_opendp
from harness import Case
from tqdm import tqdm

FOLDER = Path(__file__).parent
LIBRARIES = ("diffprivlib", "opendp", "dp-accounting", "scikit-learn", "numpy", "scipy")
MARK = "<!-- table -->"
Result = dict[str, Any]


def all_cases() -> list[Case]:
    return [
        *cases_diffprivlib.cases(),
        *cases_calibration.cases(),
        *cases_opendp.cases(),
        *cases_accounting.cases(),
    ]


def versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def result_of(case: Case) -> Result:
    start = time.perf_counter()
    outcome = case.test(case)
    return {
        "library": case.library,
        "subject": case.subject,
        "setting": case.setting,
        "claim": case.stated or str(case.claim),
        "verdict": outcome.verdict,
        "found": outcome.found if math.isfinite(outcome.found) else "infinite",
        "how": outcome.how,
        "confidence": outcome.confidence,
        "samples": outcome.samples,
        "witness": case.witness,
        "script": case.script if outcome.verdict == "violated" else "",
        "note": case.note,
        "seconds": round(time.perf_counter() - start, 2),
    }


def run_all(cases: list[Case], path: Path) -> dict[str, Any]:
    """Those that are not kept yet; written after every one."""
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"versions": versions(), "results": {}}
    for case in tqdm([case for case in cases if case.key not in kept["results"]], disable=not sys.stderr.isatty()):
        kept["results"][case.key] = result_of(case)
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return kept


def unexplained(results: list[Result]) -> list[str]:
    """Violations without a script that is there, and audits that did not end."""
    return [
        f"{one['subject']}, {one['setting']}"
        for one in results
        if one["verdict"] == "violated" and not (one["script"] and (FOLDER / one["script"]).exists())
    ]


def shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


def table(results: list[Result]) -> str:
    """Markdown; runs give a lower bound (≥), exact computations the value."""
    lines = ["| library | subject | setting | claim | found | how | verdict |", "|---|---|---|---|---|---|---|"]
    for one in results:
        found = shown(one["found"]) if one["samples"] == 0 else f"≥ {shown(one['found'])}"
        how = one["how"] if one["samples"] == 0 else f"{one['samples']} runs"
        verdict = f"[violated]({one['script']})" if one["script"] else one["verdict"]
        note = f" ({one['note']})" if one["note"] else ""
        lines.append(
            f"| {one['library']} | {one['subject']} | {one['setting']}{note} | {one['claim']} | {found} | {how} | {verdict} |"
        )
    return "\n".join(lines)


def summary(results: list[Result]) -> str:
    verdicts = sorted({one["verdict"] for one in results})
    counts = [f"{sum(one['verdict'] == verdict for one in results)} {verdict}" for verdict in verdicts]
    return f"{len(results)} cases: {', '.join(counts)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--results", type=Path, default=FOLDER / "results.json", help="read first, and written")
    parser.add_argument("--table", action="store_true", help="print what is kept, run nothing")
    parser.add_argument("--readme", action="store_true", help="write what is kept into README.md, run nothing")
    arguments = parser.parse_args()
    cases = [case for case in all_cases() if arguments.only in case.key]
    if not cases:
        parser.error(f"--only {arguments.only!r}: no case has this in its name")
    kept = run_all([] if arguments.table or arguments.readme else cases, arguments.results)
    chosen = [kept["results"][case.key] for case in cases if case.key in kept["results"]]
    page = "\n\n".join(
        [table(chosen), summary(chosen) + ".", "Versions: " + ", ".join(map(" ".join, kept["versions"].items()))]
    )
    print(page)
    if arguments.readme:
        path = FOLDER / "README.md"
        path.write_text(path.read_text().partition(MARK)[0] + f"{MARK}\n\n{page}\n")
    missing = unexplained(chosen)
    for one in missing:
        print(f"no script reproduces: {one}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
