"""`tailproof experiment`: a paper's experiment."""

from __future__ import annotations

import argparse
import sys

from tailproof.verification.cli import common
from tailproof.verification.experiments.command import experiment, listed

EXPERIMENT_HELP = """\
P0: test errors over n at epsilon = 8, and over epsilon at n = 10000; delta = n^-1.1.  P1: over n at d = 20 and over d at n = 100000
(on files over n alone), with the parameters of its Appendix C; what that does not print is ours: epsilon = 1, delta = n^-1.1,
T = 2 log n steps, features, W.  All parameters are made from public numbers; that rows have norm --row-norm at most is such a
number, and yours to promise.  The papers tuned theirs by results, as --hindsight does; that is not private.
Targets are labels, -1 and 1.  Of UCI's Adult, words become 0-1 features by UCI's list of values, numbers are divided by fixed
limits, neither of which depends on the records."""

EXAMPLE = (
    "tailproof experiment p0-logistic --data a9a --test a9a.t --plot a9a.png\n"
    "         tailproof experiment p0-l4 --data w7a --test w7a.t --row-norm 10.68 --hindsight\n"
    "         tailproof experiment p1-ridge --data adult.data --test adult.test --runs 5\n\n" + EXPERIMENT_HELP
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.seed_option(sub)
    common.jobs_option(sub)
    sub.add_argument("name", nargs="?", metavar="NAME", help="p0-l4, p0-logistic, p0-l1-ball, p1-ridge or p1-logistic")
    sub.add_argument(
        "--data", action="append", metavar="TRAIN", help="LIBSVM, CSV or UCI's Adult (also .gz); may be repeated"
    )
    sub.add_argument("--test", action="append", metavar="TEST", help="as many as --data; without, a fifth is held out")
    sub.add_argument(
        "--features", type=common.count, metavar="D", help="features of a LIBSVM file (default: its largest index)"
    )
    sub.add_argument("--runs", type=common.count, metavar="R", help="runs at every point (default 10, with --quick 2)")
    sub.add_argument(
        "--epsilon", type=common.number, nargs="+", metavar="E", help="P0: the budgets of the sweep; P1: the budget"
    )
    sub.add_argument("--n", type=common.count, nargs="+", metavar="N", help="the sizes of the sweep over n")
    sub.add_argument(
        "--row-norm", type=common.number, metavar="R", help="a public bound of a row's norm (default: sqrt(14))"
    )
    sub.add_argument(
        "--moment-bound", type=common.number, metavar="G", help="P0: of the gradients (default: what the norms allow)"
    )
    sub.add_argument(
        "--steps", type=common.count, default=400, metavar="T", help="P0: of a phase of LNC-GM; free of privacy (400)"
    )
    sub.add_argument("--domain", metavar="SET", help="where the weights may lie (default: P0 ball:1 or l1:1, P1 ball:2)")
    sub.add_argument("--ridge", type=common.number, default=0.01, metavar="W", help="weight of the penalty (default 0.01)")
    sub.add_argument("--metric", choices=["loss", "excess", "mse", "errors"], default="loss", help="what is tested")
    sub.add_argument("--hindsight", action="store_true", help="P0: also the best of a grid, by the test loss: not private")
    sub.add_argument("--quick", action="store_true", help="tiny sizes, to try a command")
    sub.add_argument("--plot", type=common.new_file, metavar="FILE", help="draw the curves (.png, .svg or .pdf)")


def run(arguments: argparse.Namespace) -> int:
    if arguments.name is None:
        value, text = listed()
    else:
        value, text = experiment(arguments, progress=sys.stderr.isatty())
    common.emit(arguments, value, text)
    return 0
