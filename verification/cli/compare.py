"""`tailproof compare`: one rate against another."""

from __future__ import annotations

import argparse

from tailproof.verification.bound_checks import compare_rates
from tailproof.verification.cli import common

COMPARE_HELP = """\
Rates are built from positive symbols by + * / ** sqrt, Min, Max and log.  Symbols in exponents (k, p, v, theta, theta_bar) are
structural: they need a range among the conditions, the answer holds for every value in it, and the constant may depend on
them unless --uniform is given.  n >= 1, d >= 1 and delta <= 1/2 are taken for granted; every power of a logarithm is below every
positive power of its argument.  Quote the arguments: the shell reads < and * otherwise."""

EXAMPLE = "tailproof compare 'sqrt(d/n)' 'sqrt(d/n) + (d/(n*eps))**(1-1/k)' --where 'k>=2' 'n>=d'\n\n" + COMPARE_HELP


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    sub.add_argument("left", metavar="RATE_A")
    sub.add_argument("right", metavar="RATE_B")
    sub.add_argument(
        "--where",
        nargs="+",
        action="extend",
        default=[],
        metavar="COND",
        help="conditions, such as 'eps<=1/sqrt(d)' or 'p>=2'",
    )
    sub.add_argument("--uniform", action="store_true", help="one constant for all values of k, p, v, theta")
    sub.add_argument("--drop-logs", action="store_true", help="up to logarithms")
    sub.add_argument(
        "--smt2",
        type=common.new_file,
        metavar="FILE",
        help="write the negated claim as SMT-LIB 2",
    )


def run(arguments: argparse.Namespace) -> int:
    code, value, text = compare_rates(
        arguments.left,
        arguments.right,
        where=arguments.where,
        uniform=arguments.uniform,
        logs=not arguments.drop_logs,
        smt2=arguments.smt2,
    )
    common.emit(arguments, value, text)
    return code
