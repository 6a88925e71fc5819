"""`tailproof verify`: check everything."""

from __future__ import annotations

import argparse
from pathlib import Path

from tailproof.refimpl.catalogue import ALGORITHMS
from tailproof.refimpl.validation import InputError
from tailproof.verification import verify
from tailproof.verification.check import FULL, QUICK
from tailproof.verification.cli import common
from tailproof.verification.workers import discard, workers_of

EXAMPLE = (
    "tailproof verify --only P2.A2 P3.A1\n"
    "         tailproof verify --full --resume                      (goes on where an interrupted run stopped)\n"
    "         tailproof verify --full --cluster tcp://host:8786     (on a Dask cluster; the same report)"
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.seed_option(sub)
    common.jobs_option(sub)
    size = sub.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="under two minutes (the default)")
    size.add_argument("--full", action="store_true", help="more restarts, steps, transcripts and runs")
    sub.add_argument("--only", nargs="+", metavar="ID", help="these algorithms only")
    sub.add_argument(
        "--report", default="report", metavar="DIR", help="where report.html and report.json go (default: report)"
    )
    common.spread(sub, "(default: checkpoint.jsonl in the report's folder)")


def run(arguments: argparse.Namespace) -> int:
    known = {a.id: a for a in ALGORITHMS}
    for identifier in arguments.only or []:
        if identifier not in known:
            raise InputError(f"only = {identifier!r}: must be an id of `tailproof list`")
        if known[identifier].implementation is None:
            raise InputError(f"only = {identifier!r}: has no implementation to check yet")
    effort, preset = (FULL, "full") if arguments.full else (QUICK, "quick")
    folder = Path(arguments.report)
    workers = workers_of(arguments, folder / "checkpoint.jsonl")
    report, seconds = verify.build_report(
        only=arguments.only, seed=arguments.seed, effort=effort, preset=preset, workers=workers
    )
    verify.write(report, seconds, folder)
    discard(workers)
    common.emit(arguments, report, f"{verify.overview(report)}\nreport: {folder / 'report.html'}, {folder / 'report.json'}")
    return 1 if report["failures"] else 0
