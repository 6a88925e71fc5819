"""The experiments of P0's section 7 and example (2), and of P1's Appendix C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tailproof.refimpl.validation import InputError, known, whole
from tailproof.verification.experiments.data import Drawn, linear_model, sparse_model, threshold_model
from tailproof.verification.experiments.methods import P0, P1, Method, Point

P0_BUDGETS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
P0_SIZES = (5_000, 10_000, 15_000, 20_000, 30_000, 35_000)
P1_SIZES, P1_DIMENSIONS = (20_000, 40_000, 60_000, 80_000, 100_000), (10, 20, 30, 40, 50)


@dataclass(frozen=True)
class Sizes:
    """The points of the sweeps: n at `epsilon`, ε at `fixed_n`, d at `fixed_n`, the others at dimension `d`."""

    sizes: tuple[int, ...]
    epsilon: float
    budgets: tuple[float, ...] = ()
    dimensions: tuple[int, ...] = ()
    fixed_n: int = 10_000
    d: int = 20


@dataclass(frozen=True)
class Experiment:
    name: str
    place: str
    text: str
    needs: str
    loss: Literal["l4", "logistic", "squared"]
    domain: str
    methods: tuple[Method, ...]
    baseline: str
    full: Sizes
    quick: Sizes
    drawn: Drawn | None = None
    takes_files: bool = True


_P0 = Sizes(P0_SIZES, 8.0, P0_BUDGETS)
_P0_QUICK = Sizes((200, 400), 8.0, (1.0, 4.0), fixed_n=300, d=4)
_P1 = Sizes(P1_SIZES, 1.0, dimensions=P1_DIMENSIONS, fixed_n=100_000)
_P1_QUICK = Sizes((200, 400), 1.0, dimensions=(2, 4), fixed_n=300, d=3)

_FILES = "--data: LIBSVM, CSV or Adult (the paper's: a8a, a9a, w7a)"
_LAW = "nothing: drawn; or --data (the paper's: Adult)"

EXPERIMENTS = (
    Experiment(
        "p0-l4",
        "P0 §7, Figures 1-3",
        "ℓ4 regression of labels on the unit ball",
        _FILES,
        "l4",
        "ball:1",
        P0,
        "DP-SGD",
        _P0,
        _P0_QUICK,
    ),
    Experiment(
        "p0-logistic",
        "P0 §7, Figures 4-6",
        "logistic regression with an ℓ2 penalty on the unit ball",
        _FILES,
        "logistic",
        "ball:1",
        P0,
        "DP-SGD",
        _P0,
        _P0_QUICK,
    ),
    Experiment(
        "p0-l1-ball",
        "P0 (2)",
        "ℓ4 regression on the unit ℓ1 ball, normal features",
        "nothing: drawn",
        "l4",
        "l1:1",
        P0,
        "DP-SGD",
        _P0,
        _P0_QUICK,
        Drawn("drawn", sparse_model),
        takes_files=False,
    ),
    Experiment(
        "p1-ridge",
        "P1 Appendix C, Figures 1-2 (a, b)",
        "ridge regression; drawn: lognormal(1, 1) noise",
        _LAW,
        "squared",
        "ball:2",
        P1,
        "RGD",
        _P1,
        _P1_QUICK,
        Drawn("drawn", linear_model),
    ),
    Experiment(
        "p1-logistic",
        "P1 Appendix C, Figures 1-2 (c, d)",
        "logistic regression; drawn: loglogistic(0.2, 0.2) noise",
        _LAW,
        "logistic",
        "ball:2",
        P1,
        "RGD",
        _P1,
        _P1_QUICK,
        Drawn("drawn", threshold_model),
    ),
)


def find(name: str) -> Experiment:
    by_name = {entry.name: entry for entry in EXPERIMENTS}
    return by_name[known("name", name, by_name, f"the names are {', '.join(by_name)}")]


def points(
    sizes: Sizes, *, most: int | None, d: int | None, n: Sequence[int] | None = None, epsilon: Sequence[float] | None = None
) -> list[Point]:
    """All points; `most` records are there (None: any number), `d` is that of the files.  `n` and `epsilon` are the user's.

    Sizes of the paper that are beyond the data are left out, the largest possible one stands for the first of them; a user's
    size beyond the data is refused.
    """
    dimension = sizes.d if d is None else d
    for size in n or ():
        whole("n", size, least=16)
        if most is not None and size > most:
            raise InputError(f"n = {size}: is more than the {most} records there are to train on")
    swept = tuple(n) if n else _within(sizes.sizes, most)
    fixed = sizes.fixed_n if most is None else min(sizes.fixed_n, most)
    found = [_point("n", size, dimension, sizes.epsilon) for size in swept]
    found += [_point("epsilon", fixed, dimension, budget) for budget in (epsilon or sizes.budgets)]
    if d is None:
        found += [_point("d", fixed, each, sizes.epsilon) for each in sizes.dimensions]
    return found


def _within(sizes: tuple[int, ...], most: int | None) -> tuple[int, ...]:
    if most is None or most >= sizes[-1]:
        return sizes
    return (*(size for size in sizes if size < most), most)


def _point(sweep: str, n: int, d: int, epsilon: float) -> Point:
    """δ = n^{−1.1}, as P0 has it; P1 does not print its own."""
    return Point(sweep, n, d, epsilon, float(n) ** -1.1)
