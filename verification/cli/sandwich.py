"""`tailproof sandwich`: measured errors between lower and upper bounds."""

from __future__ import annotations

import argparse

from tailproof.verification.cli import common
from tailproof.verification.sandwich import run_sandwich
from tailproof.verification.workers import discard, workers_of

EXAMPLE = (
    "tailproof sandwich --runs 200 --plot sandwich.svg\n"
    "         tailproof sandwich --only P4.S1 P3.A1             (algorithms)\n"
    "         tailproof sandwich --only 'P0 Thm 4'              (instances whose name has this text)\n\n"
    "Exit 1 when an algorithm is better than its privacy allows, or worse than its own bound."
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.seed_option(sub)
    common.jobs_option(sub)
    sub.add_argument(
        "--runs", type=common.count, default=60, help="of every pair (default 60); rounded up to all members alike"
    )
    sub.add_argument("--only", nargs="+", metavar="TEXT", help="these algorithms, or instances with this text, only")
    sub.add_argument("--plot", type=common.new_file, metavar="FILE", help="a picture: .svg, .png or .pdf")
    common.spread(sub)


def run(arguments: argparse.Namespace) -> int:
    code, value, text = run_sandwich(arguments)
    common.emit(arguments, value, text)
    discard(workers_of(arguments))
    return code
