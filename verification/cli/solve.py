"""`tailproof solve`: an algorithm on a data file."""

from __future__ import annotations

import argparse
import json
import sys

from tailproof.verification import files
from tailproof.verification.cli import common
from tailproof.verification.solve import solve, weights_document

SOLVE_HELP = """\
Every parameter is public and must be chosen without looking at the data: a clipping radius or a moment bound taken
from the data themselves would leak them and void the claim.  Take them from units, physical limits, earlier studies
or public data.  Data are never rescaled; rescale them yourself, by public numbers.  Public are also the number of
records, the columns and, of a LIBSVM file, the number of features: fix it by --features.

The moment order k and the moment bound G of P4.A1 and P4.S2
  G bounds (E L^k)^(1/k), where L is the Lipschitz constant of one record's loss on the domain.  With ||x|| the norm of a
  record's features, t its target and R the largest norm in the domain:
    absolute, affine, hinge, logistic, relu   L <= ||x||
    squared                                   L <= ||x|| (||x|| R + |t|)
    l4                                        L <= 4 ||x|| (||x|| R + |t|)^3
    quadratic                                 L <= ||x|| + R
    ridge:W:NAME                              as NAME, plus W R
  Example: d features of mean 0 and standard deviation at most s give G = s sqrt(d) for k = 2; features of which at most 14 are
  1 and the others 0 give G = sqrt(14) for every k.  k = 2 asks the least of the data; a larger k, with a G that is still true,
  gives a better bound.  With a G that is too small the result is just as private but may be inaccurate, and the bound does not
  hold; one that is too large costs accuracy.
  --set preset=tuned takes smaller clips and weights: the same privacy, better on ordinary data, with a weaker bound.
  P4.S2 is for absolute, affine, hinge, logistic, relu and squared (tuned only) and for ball and box; its bound needs
  (E ||x||^k)^(1/k) <= G.  With preset=tuned it is the more accurate one on ordinary data; both print their bounds.

P4.S1, P4.A2, P4.A4 and P4.D4 take the weight of the regularisation and the clip by --set weight=... lipschitz=...; P4.A2 also
needs --failure, P4.A4 takes --set reading=B.

P0.A3 to A7, P0.B, P0.R3, P1.A1, P1.A3, P1.A4 (and P2.A1, P3.A2, P3.A5 with --preset) are (epsilon, delta)-private
  --preset theory takes the papers' parameters, tuned (the default) practical ones of the same privacy.  Both are made from n,
  the domain and the public numbers among the flags, and printed before the run; --set replaces single ones.  An error names
  the flag that is missing.  --moment-order k and --moment-bound G mean, for the gradient g of a record's loss on the domain,
    P0        (E ||g||^(2k))^(1/2k) <= G, k >= 2
    P1, P3    E |g_j|^k <= G for every coordinate j, 1 < k <= 2; for P1 k is 2
    P2        (E |<u, g>|^k)^(1/k) <= G for every unit vector u, k >= 2

Labels of hinge and logistic are -1 and 1, or two values and --positive."""

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
    "tailproof solve P2.A2 --data incomes.csv --columns income age --rho 0.1 --set clip=1000\n"
    "         tailproof solve P4.A1 --data trips.csv --target minutes --loss absolute --domain ball:1 --epsilon 1 \\\n"
    "             --moment-order 2 --moment-bound 3\n"
    "         tailproof solve P4.A4 --data a9a --loss logistic --domain ball:10 --epsilon 1 \\\n"
    "             --set weight=0.1 lipschitz=20 reading=B\n"
    "         tailproof solve P0.A3 --data a9a --loss logistic --domain ball:5 --epsilon 1 --delta 1e-5 \\\n"
    "             --moment-order 8 --moment-bound 3.75 --record-smoothness 3.6\n\n" + SOLVE_HELP
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.seed_option(sub, secret=True)
    sub.add_argument(
        "id", metavar="ID", help="a mean estimator, or an optimiser: P4.A1, P4.S2, P4.S1, P4.A2, P4.A4, P4.D4, or see below"
    )
    sub.add_argument("--data", required=True, metavar="FILE", help="CSV or LIBSVM (also .gz), or .npy")
    sub.add_argument("--columns", nargs="+", metavar="NAME", help="columns to use (default: all, without the target)")
    sub.add_argument("--target", metavar="COLUMN", help="the target or label (default: the last column; LIBSVM: the label)")
    sub.add_argument("--positive", metavar="VALUE", help="the label that stands for 1; the other one stands for -1")
    sub.add_argument("--intercept", action="store_const", const=True, help="add a feature that is 1; it counts in G, too")
    sub.add_argument("--features", type=int, metavar="D", help="features of a LIBSVM file (default: its largest index)")
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
        sub.add_argument(f"--{name}", type=float)
    sub.add_argument("--moment-order", type=float, metavar="K", help="k >= 2 of the assumption on the data, see below")
    sub.add_argument("--moment-bound", type=float, metavar="G", help="G of the assumption on the data, see below")
    sub.add_argument("--preset", choices=["theory", "tuned"], help="which parameters the public numbers make, see below")
    for name, text in SOLVE_NUMBERS.items():
        sub.add_argument(f"--{name}", type=int if name == "true-sparsity" else float, metavar="X", help=text)
    sub.add_argument("--failure", type=float, metavar="Z", help="P4.A1: a bound that holds but for this probability")
    sub.add_argument("--weights", metavar="OUT.json", help="write weights, plan, claim and parameters to this file")
    sub.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="further parameters of the algorithm"
    )


def run(arguments: argparse.Namespace) -> int:
    def announce(text: str) -> None:
        if arguments.json != "-":
            print(text, flush=True)

    def progress(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    value, text = solve(arguments, announce=announce, progress=progress if sys.stderr.isatty() else None)
    common.emit(arguments, value, text)
    if arguments.weights is not None:
        document = json.dumps(weights_document(value), indent=1, allow_nan=False)
        files.write("weights", arguments.weights, document + "\n")
    return 0
