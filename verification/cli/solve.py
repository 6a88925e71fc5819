"""`tailproof solve`: an algorithm on a data file."""

from __future__ import annotations

import argparse
import json
import sys

from tailproof.verification import files
from tailproof.verification.cli import common
from tailproof.verification.fitting.optimisers import PRIVATE
from tailproof.verification.shown import Shown
from tailproof.verification.solve import solve, weights_document

SOLVE_HELP = """\
Every parameter is public. Choose it without looking at the data: a clipping radius or a moment bound taken from the data would
leak them and void the claim. Take it from units, physical limits, earlier studies or public data. Tailproof never rescales data;
rescale them yourself, by public numbers. The number of records, the columns and the number of features are public too; --features
fixes the last for a LIBSVM file.

MOMENTS OF P4.A1 AND P4.S2. Let L be the Lipschitz constant of one record's loss on the domain. The moment bound G must satisfy
(E L^k)^(1/k) <= G for the moment order k. With ||x|| the norm of a record's features, t its target and R the largest norm in the
domain:
    absolute, affine, hinge, logistic, relu   L <= ||x||
    squared                                   L <= ||x|| (||x|| R + |t|)
    l4                                        L <= 4 ||x|| (||x|| R + |t|)^3
    quadratic                                 L <= ||x|| + R
    ridge:W:NAME                              as NAME, plus W R

Example: d features with mean 0 and standard deviation at most s give G = s sqrt(d) for k = 2. Features of which at most 14 are 1
and the others 0 give G = sqrt(14) for every k. k = 2 asks least of the data; a larger k, with a G that still holds, gives a better
bound. If G is too small, the privacy claim still holds, but the accuracy bound does not. If G is too large, you lose accuracy.

--moment-bound private lets P4.A1 and P4.S2 choose G privately, on a public grid, with a tenth of epsilon (--set moment_share=...;
the grid is --set moment_low=... moment_high=...). It is the moment of all but a stated number of the longest records.
On public laws this multiplies the excess risk by about 1.1 with preset=tuned, and a G that is off by a factor does so by
    factor       1/100   1/10    1/3      3      10     100
    P4.S2         1.07   1.07   1.03   1.03    2.44    41.8
    P4.A1         2.62   2.16   1.11   2.08      11    84.7
(benchmarks/moment_bound.py).

--set preset=tuned takes smaller clips and weights: the same privacy, better on ordinary data, with a weaker bound. P4.S2 takes
absolute, affine, hinge, logistic, relu and squared (tuned only), on ball and box; its bound needs (E ||x||^k)^(1/k) <= G. With
preset=tuned it is usually the more accurate one. Both print their bounds.

P4.S1, P4.A2, P4.A4 AND P4.D4 take the weight of the regularisation and the clip by --set weight=... lipschitz=...; P4.A2 also
needs --failure, and P4.A4 takes --set reading=B.

P0.A3 TO A7, P0.B, P0.R3, P1.A1, P1.A3, P1.A4 (and P2.A1, P3.A2, P3.A5 with --preset) make (epsilon, delta) claims. --preset theory
takes the papers' parameters; tuned, the default, takes practical ones with the same privacy. Both come from n, the domain and the
public numbers among the options, and are printed before the run; --set replaces single ones. An error names the option that is
missing. For the gradient g of a record's loss on the domain, --moment-order k and --moment-bound G mean:
    P0        (E ||g||^(2k))^(1/2k) <= G, k >= 2
    P1, P3    E |g_j|^k <= G for every coordinate j, 1 < k <= 2; for P1 k is 2
    P2        (E |<u, g>|^k)^(1/k) <= G for every unit vector u, k >= 2

Labels of hinge and logistic are -1 and 1, or any two values with --positive.

--describe takes rules for all columns in use, and for the target: words become levels, a number is scaled from [low, high] to
[-1, 1], a cell that does not fit has a stated place instead of an error, and P4.A1 and P4.S2 need no --moment-bound.
    {"age": {"kind": "numeric", "low": 18, "high": 70, "missing": 40, "unit": "years"},
     "home": {"kind": "categorical", "levels": ["town", "land"]}}"""


SOLVE_NUMBERS = {
    "smoothness": "of the risk (P0.A6, P0.A7, P1 to P3)",
    "record-smoothness": "of every record's loss (P0.A3 to A5, R3); records that are rougher do not count",
    "strong-convexity": "of the risk",
    "lipschitz": "of every record's loss (theory presets), or the clip of P4.S1, P4.A2, P4.A4 and P4.D4",
    "theta": "P0.A5, P0.A7: a lower bound, above 1, of the exponent of the noise condition",
    "true-sparsity": "P3.A5: how many weights of the minimiser are not 0",
    "mean-slope": "P1.A3: the mean of every coordinate of the gradient is at most this, on the domain",
}

EXAMPLE = (
    "tailproof solve P2.A2 --data incomes.csv --rho 0.1 --set clip=1000\n"
    "         tailproof solve P4.A1 --data trips.csv --target minutes \\\n"
    "             --loss absolute --domain ball:1 --epsilon 1 \\\n"
    "             --moment-order 2 --moment-bound 3\n"
    "         tailproof solve P4.A4 --data a9a --loss logistic --domain ball:10 \\\n"
    "             --epsilon 1 --set weight=0.1 lipschitz=20 reading=B\n"
    "         tailproof solve P0.A3 --data a9a --loss logistic --domain ball:5 \\\n"
    "             --epsilon 1 --delta 1e-5 --moment-order 8 \\\n"
    "             --moment-bound 3.75 --record-smoothness 3.6\n\n" + SOLVE_HELP
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.seed_option(sub, secret=True)
    sub.add_argument(
        "id", metavar="ID", help="a mean estimator, or an optimiser: P4.A1, P4.S2, P4.S1, P4.A2, P4.A4, P4.D4, or see below"
    )
    sub.add_argument("--data", required=True, metavar="FILE", help="CSV or LIBSVM (also .gz), or .npy")
    sub.add_argument("--columns", nargs="+", metavar="NAME", help="columns to use (default: all, without the target)")
    sub.add_argument(
        "--describe", metavar="FILE.json", help="what the columns hold: bounds, units, levels, missing; see below"
    )
    sub.add_argument("--target", metavar="COLUMN", help="the target or label (default: the last column; LIBSVM: the label)")
    sub.add_argument("--positive", metavar="VALUE", help="the label that stands for 1; the other one stands for -1")
    sub.add_argument("--intercept", action="store_const", const=True, help="add a feature that is 1; it counts in G, too")
    sub.add_argument(
        "--features", type=common.count, metavar="D", help="features of a LIBSVM file (default: its largest index)"
    )
    sub.add_argument(
        "--shuffle",
        action=argparse.BooleanOptionalAction,
        help="P4.A1: use the records in random order (the default), as its bound is for an order that means nothing",
    )
    sub.add_argument(
        "--loss", metavar="NAME", help="absolute, affine, hinge, l4, logistic, quadratic, relu, squared, ridge:W:NAME"
    )
    sub.add_argument("--domain", metavar="SET", help="where the weights may lie: ball:RADIUS, box:LOW,HIGH or l1:RADIUS")
    for name in ("epsilon", "delta", "rho"):
        sub.add_argument(f"--{name}", type=common.number)
    sub.add_argument(
        "--moment-order", type=common.number, metavar="K", help="k >= 2 of the assumption on the data, see below"
    )
    sub.add_argument(
        "--moment-bound", type=_bound, metavar="G", help="G of the assumption on the data, or `private`: see below"
    )
    sub.add_argument("--preset", choices=["theory", "tuned"], help="which parameters the public numbers make, see below")
    for name, text in SOLVE_NUMBERS.items():
        sub.add_argument(
            f"--{name}", type=common.count if name == "true-sparsity" else common.number, metavar="X", help=text
        )
    sub.add_argument("--failure", type=common.number, metavar="Z", help="P4.A1: a bound that holds but for this probability")
    sub.add_argument(
        "--weights", type=common.new_file, metavar="OUT.json", help="write weights, plan and claim to this file"
    )
    sub.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="further parameters of the algorithm"
    )


def _bound(text: str) -> float | str:
    return PRIVATE if text == PRIVATE else common.number(text)


def run(arguments: argparse.Namespace) -> int:
    def announce(text: Shown) -> None:
        if arguments.json != "-":
            common.say(text, arguments.color)

    def progress(text: Shown) -> None:
        print(text, file=sys.stderr, flush=True)

    value, text = solve(arguments, announce=announce, progress=progress if sys.stderr.isatty() else None)
    common.emit(arguments, value, text)
    if arguments.weights is not None:
        document = json.dumps(weights_document(value), indent=1, allow_nan=False)
        files.write("weights", arguments.weights, document + "\n")
    return 0
