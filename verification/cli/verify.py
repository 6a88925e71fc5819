"""`tailproof verify`: check everything."""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

from tailproof.refimpl.catalogue import ALGORITHMS
from tailproof.refimpl.validation import InputError, known
from tailproof.verification import files, matrix, verify
from tailproof.verification.auditing.places import load
from tailproof.verification.check import FULL, QUICK, Effort
from tailproof.verification.cli import common
from tailproof.verification.page.replay import witness_names
from tailproof.verification.published_claims import REFUTED
from tailproof.verification.report import PASSING, Finding
from tailproof.verification.shown import Shown, Table
from tailproof.verification.workers import discard, workers_of

Json: TypeAlias = dict[str, Any]

EXAMPLE = (
    "tailproof verify --only P2.A2 P3.A1\n"
    "         tailproof verify -v --out nightly\n"
    "         tailproof verify --full --resume                      (continue an interrupted run)\n"
    "         tailproof verify --full --cluster tcp://host:8786     (on a Dask cluster)\n"
    "         tailproof verify --as P2.A2 mine:clipped_mean --map clip=radius\n\n"
    "Writes report.html and report.json, and prints what failed and a summary. Exit 1 when something is not as expected: published "
    "claims that are known to be false are expected. Exit 3 when nothing is refuted, but a check is undecided or said nothing."
)
MOST_FAILURES = 8
"""More are in the report, and printed with -v."""


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.seed_option(sub)
    common.jobs_option(sub)
    size = sub.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="under two minutes (the default)")
    size.add_argument("--full", action="store_true", help="more restarts, steps, transcripts and runs")
    sub.add_argument("--only", nargs="+", metavar="ID", help="these algorithms only")
    sub.add_argument(
        "-o",
        "--out",
        "--report",
        dest="report",
        default="report",
        metavar="DIR",
        help="where report.html and report.json go (default: report)",
    )
    sub.add_argument(
        "--as",
        dest="published",
        nargs=2,
        metavar=("ID", "MODULE:FUNCTION"),
        help="check your own implementation of this algorithm: f(data, channel, …), or f(data, rng, …) as a black box",
    )
    sub.add_argument(
        "--map", nargs="+", metavar="THEIRS=YOURS", help="names of parameters, where yours differ from the published ones"
    )
    sub.add_argument("-v", "--verbose", action="store_true", help="print every check, not only a summary")
    common.spread(sub, "(default: checkpoint.jsonl in the report's folder)")


def run(arguments: argparse.Namespace) -> int:
    by_id = {a.id: a for a in ALGORITHMS}
    only = [known("only", word, by_id, "`tailproof list` shows all ids") for word in arguments.only or []] or None
    for identifier in only or []:
        if by_id[identifier].implementation is None:
            raise InputError(f"only = {identifier!r}: has no implementation to check yet")
    effort, preset = (FULL, "full") if arguments.full else (QUICK, "quick")
    if arguments.published is not None:
        return _run_as(arguments, effort)
    if arguments.map:
        raise InputError(f"map = {arguments.map[0]!r}: is for --as only")
    folder = Path(arguments.report)
    files.check_folder("out", folder)
    common.resumable(arguments, folder / "checkpoint.jsonl")
    workers = workers_of(arguments, folder / "checkpoint.jsonl")
    report, seconds = verify.build_report(only=only, seed=arguments.seed, effort=effort, preset=preset, workers=workers)
    verify.write(report, seconds, folder)
    discard(workers)
    text = brief(report, folder, all_failures=arguments.verbose)
    common.emit(arguments, report, [verify.overview(report), "", text] if arguments.verbose else text)
    return verify.exit_code(report)


def _run_as(arguments: argparse.Namespace, effort: Effort) -> int:
    """Exit 0 when every check passes, 1 when one is violated, 3 when one is undecided."""
    from tailproof.verification import as_published  # which loads the test vectors' reader and audits

    if arguments.only:
        raise InputError("only: cannot go with --as, which names the algorithm itself")
    identifier, place = arguments.published
    by_id = {a.id: a for a in ALGORITHMS if a.implementation is not None}
    entry = by_id[known("as", identifier, by_id, "`tailproof list` shows all ids")]
    names = dict(_renamed(pair) for pair in arguments.map or [])
    function = load("as", place, str(Path.cwd()))
    found = list(as_published.findings_as(entry, function, names, arguments.seed, effort))
    value = {"algorithm": entry.id, "function": place, "findings": [finding.to_json() for finding in found]}
    common.emit(arguments, value, shown_as(entry.id, place, found, everything=arguments.verbose))
    statuses = {finding.status for finding in found if not finding.expected}
    return 1 if "violated" in statuses else 3 if statuses & {"inconclusive", "skipped"} else 0


def _renamed(text: str) -> tuple[str, str]:
    theirs, equals, yours = text.partition("=")
    if not (theirs and equals and yours):
        raise InputError(f"map = {text!r}: must be THEIRS=YOURS, such as clip=radius")
    return theirs, yours


def shown_as(identifier: str, place: str, found: list[Finding], *, everything: bool) -> Shown:
    wrong = [f for f in found if f.status not in PASSING and not f.expected]
    chosen = found if everything else wrong
    rows = [[f.check, f.status, f.detail, f.setting] for f in chosen]
    table: list[Shown] = [Table(rows, ["check", "status", "what", "setting"]), ""] if rows else []
    passed = len(found) - len(wrong)
    return [*table, f"{place} as {identifier}: {passed} of {len(found)} checks pass"]


def brief(report: Json, folder: Path, *, all_failures: bool = False) -> Shown:
    """What failed, then a summary: at most 30 lines."""
    failed = [f"FAILED  {line}" for line in report["failures"]]
    if len(failed) > MOST_FAILURES and not all_failures:
        failed = [*failed[:MOST_FAILURES], f"and {len(failed) - MOST_FAILURES} more failures, in the report"]
    return [
        *failed,
        *([""] if failed else []),
        *_counted(report),
        *_refuted(report, folder),
        f"Report: {folder / 'report.html'} (data: {folder / 'report.json'}); -v prints every check",
        "Nothing unexpected." if not failed else f"Failures: {len(report['failures'])}.",
    ]


def _counted(report: Json) -> list[str]:
    findings, judged = report["findings"], report["mutants"]
    unexpected = any(f["status"] == "violated" and not f["expected"] for f in findings)
    words = Counter(f["status"] for f in findings)
    counts = ", ".join(f"{words[status]} {status}" for status in _ORDER if words[status])
    expected = ", all of them known" if words["violated"] and not unexpected else ""
    lines = [f"{len({f['algorithm'] for f in findings})} algorithms, {len(findings)} checks: {counts}{expected}"]
    lines.append(_cells(report["matrix"]))
    lines.append(f"{sum(bool(m['killed_by']) for m in judged)} of {len(judged)} deliberately broken copies caught")
    parts = [("published privacy claims", "published_claims"), ("formulas with constants", "statements")]
    parts += [
        ("comparisons of rates", "comparisons"),
        ("sweeps", "sweeps"),
        ("pairs of bounds", "sandwich"),
        ("errata", "errata"),
    ]
    also = [f"{len(report[key])} {name}" for name, key in parts if report[key]]
    return lines + ([f"Also checked: {', '.join(also)}"] if also else [])


def _cells(found: Json) -> str:
    counts = ", ".join(f"{count} {status}" for status, count in matrix.counts(found).items())
    return f"{len(found['rows'])} rows × {len(found['checks'])} checks: {counts}"


_ORDER = ("violated", "inconclusive", "skipped", "consistent", "certified")


def _refuted(report: Json, folder: Path) -> list[str]:
    """A line for each mistake: the erratum, the published claims that it breaks, and how to see it."""
    groups: dict[str, list[Json]] = {}
    for claim in report["published_claims"]:
        if claim["verdict"] == REFUTED:
            groups.setdefault(", ".join(claim["errata"]) or claim["id"], []).append(claim)
    if not groups:
        return []
    lines = ["Refuted as published (see `tailproof errata`):"]
    for name, claims in groups.items():
        lines.append(f"  {name}  breaks {', '.join(claim['id'] for claim in claims)}")
        lines.append(f"    {_command(claims, report, folder)}")
    return lines


def _command(claims: list[Json], report: Json, folder: Path) -> str:
    names, _ = witness_names(report)
    excess = claims[0]["excess"] or {"check": None}
    rows = {row for claim in claims for row in claim["rows"]}
    for finding, name in zip(report["findings"], names, strict=True):
        about = finding["algorithm"] in rows and finding["check"] == excess["check"]
        if name is not None and finding["status"] == "violated" and about:
            return f"tailproof replay {shlex.quote(str(folder / 'witnesses' / name))}"
    return f"tailproof theorem {claims[-1]['id']}"
