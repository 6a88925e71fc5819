"""`tailproof audit`: black-box audits."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tailproof.refimpl.claims import parse_claim
from tailproof.verification.auditing import limits
from tailproof.verification.auditing.command import run_audit
from tailproof.verification.auditing.progress import Progress
from tailproof.verification.cli import common
from tailproof.verification.workers import discard, workers_of

EXAMPLE = (
    "tailproof audit mine:f --claim 'pure(eps=1)' --columns 1 --bounds 0:1\n"
    "         tailproof audit mine.py:f --claim 'gdp(mu=1)' --data a.csv\n"
    "         tailproof audit mine:sgd --claim 'zcdp(rho=.1)' --pairs mine:pairs\n"
    "         tailproof audit --command ./mean --claim 'approx(eps=1,delta=1e-5)'\n\n"
    "The audit compares outputs on two data sets, A and B, that differ in one record.\n"
    "Without --neighbour or --pairs it searches for bad ones itself: like the data\n"
    "in --data, or --records by --columns numbers in --bounds.  A claim must hold\n"
    "for all admissible data, so without --bounds it tries outliers of any size.\n\n"
    "It stops as soon as the claim is refuted.  Then it looks for a simpler pair, in\n"
    "at most 6000 further runs (or as many as the refutation took), never beyond\n"
    "--budget.  It tries fewer records, unless you state --records or --data.  Pairs\n"
    "that you give stay as they are.\n\n"
    "Exit 0: consistent, not refuted by so many runs; nothing ever says private.\n"
    "Exit 1: violated.  Exit 4: the subject failed before a verdict was reached."
)
SLOW = "A slow subject runs on many workers by --jobs (here 1 by default) or --cluster;\nthe samples are the same."


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.seed_option(sub)
    common.jobs_option(sub)
    sub.add_argument(
        "mechanism",
        metavar="MODULE:FUNCTION",
        nargs="?",
        help="f(data, rng) -> number or array, or f(data, rng, size); also FILE.py:FUNCTION",
    )
    sub.add_argument(
        "--command",
        dest="program",
        metavar="PROGRAM",
        help="instead: a program in any language that answers JSON lines (docs/protocol.md)",
    )
    sub.add_argument(
        "--claim", required=True, metavar="CLAIM", help="pure(eps=1), approx(eps=1,delta=1e-5), zcdp(rho=.1) or gdp(mu=1)"
    )
    sub.add_argument("--pairs", metavar="MODULE:FUNCTION", help="a function that returns pairs (A, B) of data sets")
    sub.add_argument("--data", metavar="FILE", help="data set A: CSV, LIBSVM or .npy, passed as records by columns")
    sub.add_argument("--neighbour", metavar="FILE", help="data set B; without it, bad neighbours are searched")
    sub.add_argument("--records", type=common.count, metavar="N", help="of searched data (default 10)")
    sub.add_argument("--columns", type=common.count, metavar="K", help="of searched data (default: 1, 2 and 8 are tried)")
    sub.add_argument("--bounds", metavar="LOW:HIGH", help="of every number of searched data (default: none)")
    sub.add_argument("--add-remove", action="store_true", help="neighbours have one record more; else one is replaced")
    sub.add_argument(
        "--time-limit",
        type=common.number,
        default=60.0,
        metavar="SECONDS",
        help="for one run, or one batch if vectorised (default 60), in a process of its own; 0: in this process, no limit",
    )
    sub.add_argument(
        "--witness",
        type=common.new_file,
        metavar="FILE",
        help="when the claim is violated, write what `tailproof replay` needs",
    )
    sub.add_argument(
        "--budget", type=common.count, default=100_000, metavar="N", help="at most so many runs, both sides (default 100000)"
    )
    sub.add_argument(
        "--confidence", type=common.number, default=0.999, help="of the verdict and of the bound (default 0.999)"
    )
    sub.add_argument("--exhaustive", action="store_true", help="make all runs, also after a refutation, for the best bound")
    sub.add_argument("--sequential", action="store_true", help="the default: stop as soon as the claim is refuted")
    sub.add_argument("--no-shrink", action="store_true", help="show the pair that was found, look for no simpler one")
    sub.add_argument(
        "--parameters", metavar="JSON", help="for --command: public parameters, an object sent with every request"
    )
    sub.add_argument(
        "--batch", type=common.count, default=1000, metavar="N", help="for --command: runs in one request (default 1000)"
    )
    common.spread(sub)
    sub.set_defaults(jobs=1)
    sub.epilog = f"{sub.epilog}\n\n{SLOW}"


def run(arguments: argparse.Namespace) -> int:
    workers = workers_of(arguments)
    silent = not sys.stderr.isatty() or workers.jobs > 1 or workers.cluster is not None
    with shown_progress(arguments.claim, silent, colour=common.coloured(arguments.color, sys.stderr)) as progress:
        audited = run_audit(arguments, progress)
    if audited.failure is not None:
        print(audited.failure, file=sys.stderr, flush=True)
    common.emit(arguments, audited.value, audited.text)
    discard(workers)
    return audited.code


@contextmanager
def shown_progress(claim: str, silent: bool, *, colour: bool) -> Iterator[Callable[[Progress], None] | None]:
    """One line on the terminal, which goes when the audit ends: pairs tried, runs, and the bound so far."""
    if silent:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    letter = {"epsilon": "ε", "mu": "μ", "rho": "ρ"}[limits.parameter_name(parse_claim(claim))]
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=20))
    with Bar(*columns, console=Console(stderr=True, no_color=not colour), transient=True) as bar:
        task = bar.add_task("searching", total=1.0)

        def heard(now: Progress) -> None:
            bound = f", {letter} > {now.lower:.4g}" if now.lower else ""
            pairs = f"{now.pairs} pair{'' if now.pairs == 1 else 's'}"
            text = f"{now.stage}: {pairs}, {now.runs} of at most {now.budget} runs{bound}"
            bar.update(task, description=text, completed=now.runs, total=now.budget)

        yield heard
