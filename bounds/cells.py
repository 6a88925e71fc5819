"""Cells of the structural range: where the multipliers of a proof are rational functions that keep their signs.

The range is covered parameter by parameter, each at a function of the earlier ones or in an open interval between two.  A proof
that fails on a cell asks for a split where a sign may change, and the cover is made again with this end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tailproof.bounds import certificates
from tailproof.bounds.rational import (
    Exponent,
    Point,
    evaluate,
    from_fraction,
    specialise,
    to_element,
    to_poly,
    to_quotient,
    write_quotient,
)
from tailproof.bounds.regimes import Regime
from tailproof.bounds.undecided import Undecided
from tailproof.refimpl.validation import InputError

MOST_SPLITS = 60


class Split(Exception):
    """The range of the parameter with this index has to be split at this function of the earlier ones."""

    def __init__(self, depth: int, value: Any) -> None:
        super().__init__("the structural range could not be split into cells on which the multipliers keep their signs")
        self.depth, self.value = depth, value


@dataclass(frozen=True)
class Cell:
    """Each parameter at a function of the earlier ones, or in an open interval between two."""

    places: tuple[certificates.Quotient, ...] = ()
    values: tuple[Exponent, ...] = ()  # the parameter itself, or the function it is fixed to
    ends: tuple[tuple[Exponent | None, Exponent | None] | None, ...] = ()  # of the open intervals
    sample: Point = ()  # a point of the cell

    def proves(self, element: Exponent, *, strictly: bool = False) -> bool:
        """Whether the element is shown to be non-negative (positive) on the cell."""
        poly = certificates.substitute(to_poly(element.numer * element.denom), self.places, self.size)
        return certificates.positive(poly) if strictly else certificates.nonnegative(poly)

    @property
    def size(self) -> int:
        return len(next(iter(self.places[0][1]))) if self.places else 0


def values_of(ends: Iterable[Exponent | None], point: Sequence[Fraction]) -> list[Fraction | None]:
    """The ends of an interval at values of the earlier parameters."""
    return [None if e is None else evaluate(e, point) for e in ends]


def _extend(cell: Cell, start: Exponent | None, stop: Exponent | None, point: bool, gens: Sequence[Exponent]) -> Cell:
    """The cell with a value, or an open interval, for one more parameter."""
    size, depth = len(gens), len(cell.places)

    def place(element: Exponent | None) -> certificates.Quotient | None:
        return None if element is None else certificates.substitute_quotient(to_quotient(element), cell.places, size)

    low, high = values_of((start, stop), cell.sample)
    if point:
        here = place(start)
        assert here is not None
        assert low is not None
        return Cell(
            (*cell.places, here), (*cell.values, specialise(start, cell.values)), (*cell.ends, None), (*cell.sample, low)
        )
    if low is not None and high is not None and low > high:
        raise Undecided("the cells of the structural range could not be ordered")
    middle = _between(low, high, Fraction(1, 2))
    there = certificates.open_cell(place(start), place(stop), depth, size)
    return Cell((*cell.places, there), (*cell.values, gens[depth]), (*cell.ends, (start, stop)), (*cell.sample, middle))


def _between(low: Fraction | None, high: Fraction | None, q: Fraction) -> Fraction:
    """A number that is the closer to the upper end the closer q is to one."""
    if low is not None and high is not None:
        return low + q * (high - low)
    if low is not None:
        return low + q / (1 - q)
    return (high or Fraction(0)) - (1 - q) / q


def _tightest(cell: Cell, bounds: Sequence[Exponent], sign: int) -> Exponent | None:
    """Of several bounds on one side the one that is tightest on the whole cell."""
    if not bounds:
        return None
    best = max(bounds, key=lambda b: sign * evaluate(b, cell.sample))
    for other in bounds:
        difference = (best - other) * sign
        if difference and not cell.proves(difference):
            split_at_zero(cell, difference)
    return best


def split_at_zero(cell: Cell, element: Exponent) -> None:
    """Ask for a split where the element (whose sign on the cell is not proved) changes its sign."""
    special = specialise(element, cell.values)
    factors = [f for part in (special.numer, special.denom) for f, _ in part.factor_list()[1]]
    later: list[Split] = []
    for factor in factors:
        value = element.field(factor)
        if cell.proves(value) or cell.proves(-value):
            continue
        depth = max(i for i in range(len(cell.places)) if factor.degree(factor.ring.gens[i]) > 0)
        ends, gens = cell.ends[depth], element.field.gens
        if ends is None:
            continue
        if factor.degree(factor.ring.gens[depth]) == 1:
            rest = specialise(value, [*gens[:depth], element.field.zero, *gens[depth + 1 :]])
            root = -rest * gens[depth] / specialise(value - rest, cell.values)
            try:
                at, low, high = values_of((root, *ends), cell.sample[:depth])
            except Undecided:
                continue
            if at is not None and (low is None or low < at) and (high is None or at < high):
                raise Split(depth, root)
        later.append(Split(depth, from_fraction(cell.sample[depth], element.field)))
    if later:
        raise later[0]
    raise Undecided("the signs of the multipliers could not be proved on a cell of the structural range")


def cover(regime: Regime, prove: Callable[[Cell], dict[str, Any]]) -> dict[str, Any]:
    """What `prove` says on cells that cover the structural range, as a tree; it may raise `Split` to get smaller cells."""
    return _cover(regime, prove, Cell(), [MOST_SPLITS])


def _cover(regime: Regime, prove: Callable[[Cell], dict[str, Any]], cell: Cell, budget: list[int]) -> dict[str, Any]:
    """The cover of the remaining parameters' range; `budget` holds the number of splits still allowed."""
    depth, numbers = len(cell.places), regime.field()
    if depth == len(regime.parameters):
        return prove(cell)
    parameter = regime.parameters[depth]
    lows, highs = ({to_element(b.value, numbers): b.closed for b in side} for side in (parameter.lower, parameter.upper))
    lower, upper = _tightest(cell, list(lows), 1), _tightest(cell, list(highs), -1)
    if lower is None and upper is None:
        raise InputError(f"{parameter.name} has no range: add a condition such as {parameter.name}>=2")
    breaks: list[Any] = []
    done: dict[Any, dict[str, Any]] = {}
    while True:
        stops = [lower, *sorted(breaks, key=lambda e: evaluate(e, cell.sample)), upper]
        pieces: list[tuple[Any, Any, bool]] = [(lower, lower, True)] if lower is not None and lows[lower] else []
        if lower is None or upper is None or lower != upper:  # sympy's zero equals None
            for start, stop in itertools.pairwise(stops):
                pieces += [(start, stop, False)] + ([(stop, stop, True)] if stop is not None else [])
            if upper is not None and not highs[upper]:
                pieces.pop()
        try:
            for piece in pieces:
                if piece not in done:
                    done[piece] = _cover(regime, prove, _extend(cell, *piece, numbers.gens), budget)
        except Split as split:
            if split.depth != depth or any(e is not None and e == split.value for e in stops):
                raise
            budget[0] -= 1
            if budget[0] < 0:
                raise Undecided(f"more than {MOST_SPLITS} splits of the structural range would be needed") from None
            for end, sign in ((lower, 1), (upper, -1)):  # the new end must stay inside on the whole cell of the earlier ones
                if end is not None and not cell.proves((split.value - end) * sign):
                    split_at_zero(cell, split.value - end)
            breaks.append(split.value)
            continue
        break
    written = []
    for start, stop, point in pieces:
        ends = [None if e is None else write_quotient(e, regime.names) for e in (start, stop)]
        written.append(({"at": ends[0]} if point else {"from": ends[0], "to": ends[1]}) | {"then": done[start, stop, point]})
    return {"pieces": written}


def points_of_cell(cell: Cell) -> list[Point]:
    """The middle, and points near the corners."""
    found = []
    near = (Fraction(1, 50), Fraction(49, 50))
    dims = sum(ends is not None for ends in cell.ends)
    for fractions in ((Fraction(1, 2),) * dims, *itertools.product(near, repeat=min(dims, 3))):
        along = iter((*fractions, *[Fraction(1, 2)] * dims))
        point: list[Fraction] = []
        for value, ends in zip(cell.values, cell.ends, strict=True):
            if ends is None:
                point.append(evaluate(value, point))
            else:
                low, high = values_of(ends, point)
                point.append(_between(low, high, next(along)))
        found.append(tuple(point))
    return found


def _range_point(regime: Regime, fractions: Sequence[Fraction]) -> Point:
    """A point of the structural range, each parameter so far between its ends."""
    numbers = regime.field()
    point: Point = ()
    for parameter, q in zip(regime.parameters, fractions, strict=True):
        lows, highs = (
            [evaluate(to_element(b.value, numbers), point) for b in s] for s in (parameter.lower, parameter.upper)
        )
        point = (*point, _between(max(lows, default=None), min(highs, default=None), q))
    return point


def sample_point(regime: Regime) -> Point:
    return _range_point(regime, [Fraction(1, 2)] * len(regime.parameters))


def several_points(regime: Regime, *parts: Fraction) -> list[Point]:
    """Points of the structural range: the middle first, then others."""
    return [_range_point(regime, q) for q in itertools.product((Fraction(1, 2), *parts), repeat=len(regime.parameters))]
