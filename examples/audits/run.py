"""Audit libraries that others wrote, and print what was found.

    pip install '.[audits]'
    python examples/audits/run.py                       what is kept in verification/libraries.json is not run again
    python examples/audits/run.py --only KMeans         cases whose name contains the text
    python examples/audits/run.py --table               print the kept results as a table, run nothing
    python examples/audits/run.py --readme              write that table into README.md, run nothing

Results are kept with the versions of the libraries, after every case; `tailproof verify` shows them in its report.  Exit 0 when all
cases ended and every violation names a script that reproduces it, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import cases_accounting
import cases_calibration
import cases_models
import cases_opendp
import cases_regressions
import cases_tools
from harness import Case
from tqdm import tqdm

from tailproof.refimpl.claims import parse_claim
from tailproof.refimpl.validation import InputError
from tailproof.verification.auditing import limits

FOLDER = Path(__file__).resolve().parent
KEPT = FOLDER.parent.parent / "verification" / "libraries.json"
LIBRARIES = ("diffprivlib", "opendp", "dp-accounting", "scikit-learn", "numpy", "scipy")
MARK = "<!-- table -->"
Result = dict[str, Any]


def all_cases() -> list[Case]:
    files = (cases_regressions, cases_models, cases_tools, cases_calibration, cases_opendp, cases_accounting)
    return [case for file in files for case in file.cases()]


def versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def cause(script: str) -> str:
    """What a script says of it, between the words Cause and Measured of its docstring."""
    path = FOLDER / script
    found = re.search(r"^Cause: (.*?)^Measured:", path.read_text(), re.M | re.S) if path.is_file() else None
    return " ".join(found[1].split()) if found else ""


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
        "cause": cause(case.script) if outcome.verdict == "violated" else "",
        "note": case.note,
        "seconds": round(time.perf_counter() - start, 2),
        "claimed": parameter(case) if outcome.claimed is None else outcome.claimed,
    }


def parameter(case: Case) -> float | None:
    """The number that a privacy loss may not exceed; none where something else is stated."""
    try:
        return limits.parameter(parse_claim(case.stated) if case.stated else case.claim)
    except InputError:
        return None


def run_all(cases: list[Case], path: Path) -> dict[str, Any]:
    """Those that are not kept yet; written after every one.  Other versions of the libraries need another file."""
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"versions": versions(), "results": {}}
    missing = [case for case in cases if case.key not in kept["results"]]
    if missing and kept["versions"] != versions():
        raise SystemExit(f"{path} has results of {named(kept['versions'])}; installed: {named(versions())}; see --results")
    for case in tqdm(missing, disable=not sys.stderr.isatty()):
        kept["results"][case.key] = result_of(case)
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return kept


def tidied(kept: dict[str, Any], path: Path) -> dict[str, Any]:
    """In the order of the cases, without those that there are no more."""
    order = [case.key for case in all_cases() if case.key in kept["results"]]
    tidy = kept | {"results": {key: kept["results"][key] for key in order}}
    if list(kept["results"]) != order:
        path.write_text(json.dumps(tidy, indent=1, ensure_ascii=False) + "\n")
    return tidy


def named(found: dict[str, str]) -> str:
    return ", ".join(map(" ".join, found.items()))


def unexplained(results: list[Result]) -> list[str]:
    """Violations without a script that is there, and audits that did not end."""
    return [
        f"{one['subject']}, {one['setting']}"
        for one in results
        if one["verdict"] == "violated" and not (one["script"] and (FOLDER / one["script"]).exists())
    ]


# --- the table: rows that differ in ε alone are one line ------------------------------------------------------------------------

HEADER = "| subject | setting, and the pair of data sets | claim | found | how | seconds | verdict |\n|---|---|---|---|---|---|---|"


def shown(one: Result) -> str:
    """Runs give a lower bound (≥), exact computations the value."""
    value = one["found"] if isinstance(one["found"], str) else f"{one['found']:.3g}"
    return f"≥ {value}" if one["samples"] else str(value)


def how(one: Result) -> str:
    return f"{one['samples']} runs, confidence {one['confidence']:g}" if one["samples"] else str(one["how"])


def linked(one: Result) -> str:
    return f"[violated]({one['script']})" if one["script"] else str(one["verdict"])


def settings_of(results: list[Result]) -> list[list[Result]]:
    """Those of one subject and setting, which differ in ε."""
    groups: dict[tuple[str, ...], list[Result]] = {}
    for one in results:
        setting = re.sub(r", ε = [\d.]+( each)?$", "", one["setting"])
        groups.setdefault((one["subject"], setting, how(one).partition(" against")[0], one["witness"]), []).append(one)
    return list(groups.values())


def line(group: list[Result]) -> str:
    first = group[0]
    about = "; ".join(filter(None, [first["witness"], first["note"]]))
    setting = re.sub(r", ε = [\d.]+( each)?$", "", first["setting"]) if len(group) > 1 else first["setting"]
    columns = [[one["claim"] for one in group], [shown(one) for one in group], [how(one) for one in group]]
    cells = ["<br>".join(column if len(set(column)) > 1 else column[:1]) for column in columns]
    verdicts = [linked(one) for one in group]
    verdict = "<br>".join(verdicts if len(set(verdicts)) > 1 else verdicts[:1])
    seconds = f"{sum(one['seconds'] for one in group):.1f}"
    return f"| {' | '.join([first['subject'], f'{setting}<br><small>{about}</small>', *cells, seconds, verdict])} |"


def table(results: list[Result]) -> str:
    """Markdown, a table for each library."""
    parts = []
    for library in dict.fromkeys(one["library"] for one in results):
        mine = [one for one in results if one["library"] == library]
        parts += [f"## {library}", f"{summary(mine)}.", "\n".join([HEADER, *map(line, settings_of(mine))])]
    return "\n\n".join(parts)


def summary(results: list[Result]) -> str:
    verdicts = sorted({one["verdict"] for one in results})
    counts = [f"{sum(one['verdict'] == verdict for one in results)} {verdict}" for verdict in verdicts]
    return f"{len(results)} cases: {', '.join(counts)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--results", type=Path, default=KEPT, help="read first, and written")
    parser.add_argument("--table", action="store_true", help="print what is kept, run nothing")
    parser.add_argument("--readme", action="store_true", help="write what is kept into README.md, run nothing")
    arguments = parser.parse_args()
    cases = [case for case in all_cases() if arguments.only in case.key]
    if not cases:
        parser.error(f"--only {arguments.only!r}: no case has this in its name")
    kept = run_all([] if arguments.table or arguments.readme else cases, arguments.results)
    kept = kept if arguments.table else tidied(kept, arguments.results)
    chosen = [kept["results"][case.key] for case in cases if case.key in kept["results"]]
    page = "\n\n".join([table(chosen), summary(chosen) + ".", "Versions: " + named(kept["versions"])])
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
