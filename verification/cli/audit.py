"""`tailproof audit`: black-box audits."""

from __future__ import annotations

import argparse

from tailproof.verification.auditing.command import run_audit
from tailproof.verification.cli import common
from tailproof.verification.workers import discard, workers_of

EXAMPLE = (
    "tailproof audit mymodule:noisy_mean --claim 'pure(eps=1)' --bounds 0:1 --columns 1\n"
    "         tailproof audit mymodule:noisy_mean --claim 'pure(eps=1)' --data a.csv --neighbour b.csv\n"
    "         tailproof audit mymodule:sgd --claim 'approx(eps=1,delta=1e-5)' --pairs mymodule:pairs --sequential\n"
    "         tailproof audit --command './noisy-mean' --claim 'gdp(mu=1)' --data a.csv\n\n"
    "Without a neighbour it searches for bad ones itself: of the data in --data, or of --records by --columns in --bounds.\n"
    "A claim is about all data that are admissible, so without --bounds outliers of any size are tried.\n\n"
    "Exit 1 when the claim is violated, 2 when the function failed before a verdict was reached; what was found until then\n"
    "is reported.  Nothing ever says private: `consistent` means not refuted by so many runs."
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.seed_option(sub)
    common.jobs_option(sub)
    sub.add_argument(
        "mechanism", metavar="MODULE:FUNCTION", nargs="?", help="f(data, rng) -> number or array, or f(data, rng, size)"
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
    sub.add_argument("--pairs", metavar="MODULE:FUNCTION", help="a function that returns (data, neighbour) pairs")
    sub.add_argument("--data", metavar="FILE", help="CSV, LIBSVM or .npy: passed as an array of records by columns")
    sub.add_argument("--neighbour", metavar="FILE", help="the neighbouring data set; without it, one is searched")
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
    sub.add_argument("--witness", metavar="FILE", help="when the claim is violated, write what `tailproof replay` needs")
    sub.add_argument(
        "--budget", type=common.count, default=100_000, metavar="N", help="runs, both sides together (default 100000)"
    )
    sub.add_argument(
        "--confidence", type=common.number, default=0.999, help="of the verdict and of the bound (default 0.999)"
    )
    sub.add_argument("--sequential", action="store_true", help="stop as soon as the claim is refuted")
    sub.add_argument(
        "--parameters", metavar="JSON", help="for --command: public parameters, an object sent with every request"
    )
    sub.add_argument(
        "--batch",
        type=common.count,
        default=1000,
        metavar="N",
        help="for --command: runs asked for in one request (default 1000)",
    )
    common.spread(sub)
    sub.set_defaults(jobs=1)
    sub.epilog = (
        f"{sub.epilog}\n\nA slow subject runs on many workers by --jobs (here 1 by default) or --cluster; the samples "
        "are the same."
    )


def run(arguments: argparse.Namespace) -> int:
    code, value, text = run_audit(arguments)
    common.emit(arguments, value, text)
    discard(workers_of(arguments))
    return code
