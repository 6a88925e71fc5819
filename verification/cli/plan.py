"""`tailproof plan`: how many runs an audit needs."""

from __future__ import annotations

import argparse

from tailproof.verification.auditing.planner import planned
from tailproof.verification.cli import common

EXAMPLE = (
    "tailproof plan --claim 'pure(eps=1)' --true 'pure(eps=1.2)' --pair laplace\n"
    "         tailproof plan --claim 'approx(eps=1,delta=1e-5)' --budget 20000 --confidence .99"
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    sub.add_argument("--claim", required=True, help="as for calibrate: pure(eps=1), gdp(mu=1), …")
    question = sub.add_mutually_exclusive_group(required=True)
    question.add_argument("--true", metavar="CLAIM", help="what is true instead: how many runs refute the claim?")
    question.add_argument("--budget", type=common.count, metavar="N", help="runs, both sides together: what do they find?")
    sub.add_argument("--confidence", type=common.number, default=0.95, help="of the audit (default 0.95)")
    sub.add_argument("--power", type=common.number, default=0.9, help="probability of refuting the claim (default 0.9)")
    sub.add_argument(
        "--pair",
        choices=["response", "laplace", "gaussian"],
        help="the laws of the truth (default: response for pure, else gaussian)",
    )


def run(arguments: argparse.Namespace) -> int:
    value, text = planned(arguments)
    common.emit(arguments, value, text)
    return 0
