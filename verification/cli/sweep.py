"""`tailproof sweep`: measured rates."""

from __future__ import annotations

import argparse

from tailproof.verification.cli import common
from tailproof.verification.sweep_runs import run_sweep
from tailproof.verification.workers import discard, workers_of

EXAMPLE = (
    "tailproof sweep                                           (what can be swept)\n"
    "         tailproof sweep P2.T4 --over n=1000:30000:5 --plot p2.svg\n"
    "         tailproof sweep P1.A4 --problem linear --over d=1,2,4,8 --epsilon 0.5\n\n"
    "Exit 1 when measured / rate grows, or the noise leaves no information, and nothing recorded explains it."
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.seed_option(sub)
    common.jobs_option(sub)
    sub.add_argument("id", nargs="?", metavar="ID", help="an algorithm or a statement (without one: the list)")
    sub.add_argument(
        "--over", metavar="NAME=LOW:HIGH:COUNT", help="what is swept: also NAME=A,B,C, or NAME for its own values"
    )
    sub.add_argument("--problem", metavar="TEXT", help="the problem whose name has this text")
    sub.add_argument("--preset", choices=["theory", "tuned"], help="the algorithm's parameters")
    sub.add_argument("--epsilon", type=common.number, help="ε where it is not swept")
    sub.add_argument("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="other values, such as d=3")
    sub.add_argument("--runs", type=common.count, help="runs at each value")
    sub.add_argument("--printed", action="store_true", help="the rate as published, where another one follows")
    sub.add_argument("--plot", type=common.new_file, metavar="FILE", help="a picture: .svg, .png or .pdf")
    sub.add_argument(
        "--logs",
        choices=["keep", "drop"],
        default="keep",
        help="drop: the rate up to logarithms, each of them 1 (default keep)",
    )
    common.spread(sub)


def run(arguments: argparse.Namespace) -> int:
    code, value, text = run_sweep(arguments)
    common.emit(arguments, value, text)
    discard(workers_of(arguments))
    return code
