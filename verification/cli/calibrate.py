"""`tailproof calibrate`: noise scales, conversions, compositions."""

from __future__ import annotations

import argparse

from tailproof.verification.calculator import calculate
from tailproof.verification.cli import common

EXAMPLE = (
    "tailproof calibrate gaussian --sensitivity 0.01 --epsilon 0.5 --delta 1e-6\n"
    "         tailproof calibrate convert 'zcdp(rho=.1)' --delta 1e-6\n"
    "         tailproof calibrate compose 'pure(eps=.1)' 'pure(eps=.2)' --delta 1e-6"
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    sub.add_argument(
        "what",
        choices=["gaussian", "laplace", "convert", "compose"],
        metavar="WHAT",
        help="gaussian, laplace (noise for --sensitivity), convert or compose (claims)",
    )
    sub.add_argument(
        "claims", nargs="*", metavar="CLAIM", help="pure(eps=1), approx(eps=1,delta=1e-5), zcdp(rho=.1), gdp(mu=1)"
    )
    for name in ("sensitivity", "epsilon", "delta", "rho"):
        sub.add_argument(f"--{name}", type=common.number)


def run(arguments: argparse.Namespace) -> int:
    value, text = calculate(arguments)
    common.emit(arguments, value, text)
    return 0
