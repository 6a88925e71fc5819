"""Multipliers that prove min(a) ≲ max(b) on a cell of the structural range.

The linear program is solved at the cell's sample point by the exact simplex method; the multipliers of its basis are then found as
rational functions of the parameters, and their signs proved on the cell.  Where that fails the cell is split, or a point is met at
which there are no multipliers at all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from tailproof.bounds.cells import Cell, Split, points_of_cell, several_points, split_at_zero, values_of
from tailproof.bounds.claim import Scaled
from tailproof.bounds.monomials import Monomial, negated
from tailproof.bounds.rational import Exponent, Point, evaluate, from_fraction, specialise, write_poly
from tailproof.bounds.simplex import Infeasible, Solution, simplex
from tailproof.bounds.undecided import Undecided

TIES = tuple(Fraction(1, 4**k) for k in (0, 1, 3, 6, 12))  # log m ≲ m^t is tried with these t
LEAST_TIE = Fraction(1, 2**80)  # and given up when even this one does not help


class Fails(Exception):
    """No multipliers exist at this point of the range, for this pair of clauses."""

    def __init__(self, point: Point, pair: tuple[int, int]) -> None:
        super().__init__(point, pair)
        self.point, self.pair = point, pair


@dataclass(frozen=True)
class Column:
    kind: Literal["left", "right", "row", "log", "factor"]
    index: int
    vector: Monomial  # with its sign in Σ u·a − Σ w·b − Σ μ·c


def columns_of(scaled: Scaled, a: list[Monomial], b: list[Monomial], tie: Exponent) -> list[Column]:
    """What the multipliers belong to; `tie` is the power t in log m ≲ m^t."""
    columns = [Column("left", i, m) for i, m in enumerate(a)] + [Column("right", j, negated(m)) for j, m in enumerate(b)]
    columns += [Column("row", i, negated(m)) for i, m in enumerate(scaled.rows)]
    for i, (symbol, of) in enumerate(scaled.logs):
        columns.append(Column("log", i, {s: e * tie for s, e in of.items()} | {symbol: -scaled.denominator}))
    return columns


def program(scaled: Scaled, columns: list[Column], point: Point) -> tuple[list[list[Fraction]], list[Fraction]]:
    """The equations at a point: exponents cancel, and the weights of either side add up to one."""
    numeric = []
    for column in columns:
        entries = [evaluate(column.vector[s], point) if s in column.vector else Fraction(0) for s in scaled.symbols]
        numeric.append([*entries, Fraction(column.kind == "left"), Fraction(column.kind == "right")])
    return numeric, [Fraction(0)] * len(scaled.symbols) + [Fraction(1), Fraction(1)]


def _costs(columns: list[Column]) -> Iterator[list[Fraction]]:
    """Several objectives, since of several bases one may keep its signs on the whole cell."""
    yield [Fraction(column.kind in ("row", "log")) for column in columns]
    yield []
    sides = [column for column in columns if column.kind in ("left", "right")]
    for one in sides[:16]:  # as much weight on this one as can be
        yield [Fraction(column.kind == one.kind and column is not one) for column in columns]
    for k in (3, 5, 7):
        yield [Fraction(1 + (i * k + k) % 11) for i in range(len(columns))]


def solve_symbolically(scaled: Scaled, cell: Cell, columns: list[Column]) -> list[Exponent] | None:
    """The multipliers of these columns as rational functions on the cell; None if they are not determined by the equations."""
    numbers = scaled.problem.numbers
    system = []
    for s in scaled.symbols:
        system.append(
            [specialise(c.vector[s], cell.values) if s in c.vector else numbers.zero for c in columns] + [numbers.zero]
        )
    for kind in ("left", "right"):
        system.append([numbers.one if c.kind == kind else numbers.zero for c in columns] + [numbers.one])
    for k in range(len(columns)):
        found = next((i for i in range(k, len(system)) if system[i][k]), None)
        if found is None:
            return None
        system[k], system[found] = system[found], system[k]
        scale = system[k][k]
        system[k] = [x / scale if x else x for x in system[k]]
        for i in range(len(system)):
            factor = system[i][k]
            if i != k and factor:
                system[i] = [x - factor * y if y else x for x, y in zip(system[i], system[k], strict=True)]
    values = [line[-1] for line in system]
    return None if any(values[len(columns) :]) else values[: len(columns)]


def _ties(scaled: Scaled, cell: Cell) -> Iterator[Exponent]:
    """The powers t in log m ≲ m^t: numbers, then functions that vanish at the ends of the cell."""
    one = scaled.problem.numbers.one
    if not scaled.logs:
        yield one
        return
    shape = one
    for ends, s in zip(cell.ends, cell.values, strict=True):
        if ends is not None:
            start, stop = ends
            if start is not None and stop is not None:
                shape = shape * (s - start) * (stop - s) / ((stop - start) * (stop - start))
            else:
                away = s - start if start is not None else stop - s
                shape = shape * away / ((1 + away) * (1 + away))
    for factor in dict.fromkeys((one, shape, shape * shape)):
        for t in TIES:
            yield factor * from_fraction(t, one.field)


Candidate = tuple[list[Column], list[Exponent], Exponent]  # columns, their multipliers on the cell, the power t of the logs


def prove_pairs(scaled: Scaled, cell: Cell) -> dict[str, Any]:
    """Multipliers on the cell for each pair of clauses; raises `Split`, `Fails` or `Undecided` where there are none.

    A proof of min(a) ≲ max(b) serves every pair of clauses that contain the monomials which it gives a weight.
    """
    known: list[tuple[dict[Any, Any], dict[Any, Any], dict[str, Any]]] = []
    names = [[[frozenset(m.items()) for m in clause] for clause in side] for side in (scaled.left, scaled.right)]

    def entry(i: int, j: int) -> dict[str, Any]:
        a, b = names[0][i], names[1][j]
        for left, right, proof in known:
            if left.keys() <= set(a) and right.keys() <= set(b):
                return proof | {"left": [left.get(m, "0") for m in a], "right": [right.get(m, "0") for m in b]}
        proof = _prove(scaled, cell, scaled.left[i], scaled.right[j], (i, j))
        left, right = (
            {m: x for m, x in zip(ms, proof[side], strict=True) if x != "0"} for ms, side in ((a, "left"), (b, "right"))
        )
        known.append((left, right, proof))
        return proof

    return {"pairs": [[entry(i, j) for j in range(len(scaled.right))] for i in range(len(scaled.left))]}


def _prove(scaled: Scaled, cell: Cell, a: list[Monomial], b: list[Monomial], pair: tuple[int, int]) -> dict[str, Any]:
    """Multipliers for min(a) ≲ max(b) on the cell."""
    failing: list[Exponent] = []
    for used, values, tie in _candidates(scaled, cell, a, b, pair):
        negative = [x for x in values if x and not cell.proves(x)]
        total = _common_denominator(values, cell)
        if not negative and total is not None:
            return _write_proof(scaled, cell, a, b, used, [x * total for x in values], total, tie)
        failing = failing or [*negative, *([] if total is not None else values)]
    for value in failing:
        split_at_zero(cell, value)
    raise _leave_sample(scaled, cell, a, b, pair)


def _candidates(
    scaled: Scaled, cell: Cell, a: list[Monomial], b: list[Monomial], pair: tuple[int, int]
) -> Iterator[Candidate]:
    """Multipliers that are non-negative at the cell's sample, at least; `Fails` if there are none."""
    one = scaled.problem.numbers.one
    for (i, x), (j, y) in itertools.product(enumerate(a), enumerate(b)):
        if x == y:
            yield [Column("left", i, x), Column("right", j, negated(y))], [one, one], one
    tried, feasible = set(), False
    for tie in _ties(scaled, cell):
        columns = columns_of(scaled, a, b, tie)
        numeric, target = program(scaled, columns, cell.sample)
        for cost in _costs(columns):
            found = simplex(numeric, target, cost)
            if isinstance(found, Infeasible):
                break
            feasible = True
            support = tuple(i for i, x in enumerate(found.values) if x)
            for chosen in dict.fromkeys([support, tuple(sorted(found.basis))]):
                key = (chosen, tie if any(columns[i].kind == "log" for i in chosen) else one)
                if key not in tried:
                    tried.add(key)
                    values = solve_symbolically(scaled, cell, [columns[i] for i in chosen])
                    if values is not None:
                        yield [columns[i] for i in chosen], values, tie
        if feasible and cell.size:
            yield from ((*candidate, tie) for candidate in _mixed(scaled, cell, columns))
        if not feasible and not _feasible(scaled, a, b, cell.sample):
            raise Fails(cell.sample, pair)


def _feasible(scaled: Scaled, a: list[Monomial], b: list[Monomial], point: Point) -> bool:
    """Whether there are multipliers at the point, with powers of logarithms' arguments as small as is tried."""
    columns = columns_of(scaled, a, b, from_fraction(LEAST_TIE, scaled.problem.numbers))
    return isinstance(simplex(*program(scaled, columns, point)), Solution)


def _mixed(scaled: Scaled, cell: Cell, columns: list[Column]) -> Iterator[tuple[list[Column], list[Exponent]]]:
    """Constant weights that serve at several points of the cell: inside the set of solutions signs last longer than at corners."""
    numbers = scaled.problem.numbers
    weights = _common_weights(scaled, cell, columns)
    if weights is None:
        return
    sides: list[Column] = []
    for kind in ("left", "right"):
        vector: Monomial = {}
        for column, weight in weights:
            for s, e in column.vector.items() if column.kind == kind else ():
                vector[s] = vector.get(s, numbers.zero) + weight * e
        sides.append(Column("left" if kind == "left" else "right", -1, vector))
    together = [*sides, *(column for column in columns if column.kind in ("row", "log"))]
    found = simplex(*program(scaled, together, cell.sample), next(_costs(together)))
    if isinstance(found, Infeasible):
        return
    used = [column for column, x in zip(together, found.values, strict=True) if x]
    values = solve_symbolically(scaled, cell, used)
    if values is not None:
        parts = [*weights, *((c, x) for c, x in zip(used, values, strict=True) if c.kind in ("row", "log"))]
        yield [c for c, _ in parts], [x for _, x in parts]


def _common_weights(scaled: Scaled, cell: Cell, columns: list[Column]) -> list[tuple[Column, Exponent]] | None:
    """Weights of the two sides with which multipliers exist at each of several points of the cell."""
    programs = [program(scaled, columns, point)[0] for point in points_of_cell(cell)]
    height, count = len(scaled.symbols), len(programs)
    wide: list[list[Fraction]] = []
    for i, column in enumerate(columns):
        entries = [program[i][:height] for program in programs]
        if column.kind in ("left", "right"):
            wide.append([x for block in entries for x in block] + programs[0][i][height:])
        else:  # a multiplier for each point
            for k in range(count):
                wide.append(
                    [x if j == k else Fraction(0) for j, block in enumerate(entries) for x in block] + [Fraction(0)] * 2
                )
    found = simplex(wide, [Fraction(0)] * (height * count) + [Fraction(1)] * 2)
    if isinstance(found, Infeasible):
        return None
    sides = [column for column in columns if column.kind in ("left", "right")]
    numbers = scaled.problem.numbers
    return [(c, from_fraction(x, numbers)) for c, x in zip(sides, found.values, strict=False) if x]


def _leave_sample(scaled: Scaled, cell: Cell, a: list[Monomial], b: list[Monomial], pair: tuple[int, int]) -> Exception:
    """The multipliers at the sample do not extend to the cell: the claim fails nearby, or the sample is a special point."""
    open_ones = [i for i, ends in enumerate(cell.ends) if ends is not None]
    if not open_ones:
        return Undecided("the multipliers are not determined by a basis of the linear program")
    depth = open_ones[-1]
    for shift in (Fraction(1, 97), Fraction(-1, 97), Fraction(1, 5), Fraction(-1, 5)):
        point = list(cell.sample)
        ends = cell.ends[depth]
        assert ends is not None
        room = min(abs(point[depth] - end) for end in values_of(ends, point[:depth]) if end is not None)
        point[depth] += shift * room
        for i in range(depth + 1, len(cell.ends)):
            point[i] = evaluate(cell.values[i], point)
        if not _feasible(scaled, a, b, tuple(point)):
            return Fails(tuple(point), pair)
    return Split(depth, from_fraction(cell.sample[depth], scaled.problem.numbers))


def _common_denominator(values: list[Exponent], cell: Cell) -> Exponent | None:
    """A positive polynomial that clears the denominators."""
    common = values[0].field.ring.one
    for x in values:
        common = common.lcm(x.denom)
    element = values[0].field(common)
    element = element if evaluate(element, cell.sample) > 0 else -element
    return element if cell.proves(element, strictly=True) else None


def _write_proof(
    scaled: Scaled,
    cell: Cell,
    a: list[Monomial],
    b: list[Monomial],
    used: list[Column],
    values: list[Exponent],
    total: Exponent,
    tie: Exponent,
) -> dict[str, Any]:
    names, zero = scaled.problem.regime.names, scaled.problem.numbers.zero
    # Another factor makes the powers of the logs polynomials too.
    extra = zero.field(tie.denom) if any(c.kind == "log" for c in used) else zero.field.one
    extra = extra if evaluate(extra, cell.sample) > 0 else -extra
    found: dict[tuple[str, int], Exponent] = {(c.kind, c.index): x * extra for c, x in zip(used, values, strict=True)}

    def multipliers(kind: str, count: int) -> list[Any]:
        return [write_poly(found.get((kind, i), zero), names) for i in range(count)]

    logs = [(i, x) for (kind, i), x in found.items() if kind == "log" and x]
    proof = {
        "total": write_poly(total * extra, names),
        "left": multipliers("left", len(a)),
        "right": multipliers("right", len(b)),
        "constraints": multipliers("row", len(scaled.rows)),
        "logs": [
            {
                "symbol": scaled.logs[i][0],
                "multiplier": write_poly(x, names),
                "power": write_poly(_polynomial(x * tie), names),
            }
            for i, x in logs
        ],
    }
    if not scaled.uniform:
        return proof
    unknown = [row.constant > 1 or not row.exact for row in scaled.problem.rows] + [True] * len(scaled.orders)
    loose = [(found.get(("row", i), zero), total * extra) for i, free in enumerate(unknown) if free]
    loose += [(x, q) for _, x in logs for q in (total * extra, x * tie)]
    bound = next((m for m in (4**k for k in range(10)) if all(cell.proves(q * m - x) for x, q in loose)), None)
    if bound is None:
        raise Undecided(
            "dominated for each value of the structural parameters, but the constant may be unbounded over their range"
        )
    return proof | {"bound": str(bound)}


def _polynomial(element: Exponent) -> Exponent:
    if not element.denom.is_ground:
        raise Undecided("a power of a logarithm is not a polynomial")
    return element


def refute(scaled: Scaled) -> Fails | None:
    """A point of the structural range at which there are no multipliers, from a grid."""
    grid = [Fraction(k, 20) for k in (1, 5, 15, 19)]
    points = several_points(scaled.problem.regime, *grid)
    pairs = itertools.product(enumerate(scaled.left), enumerate(scaled.right))
    for (i, a), (j, b) in pairs:
        for point in points:
            if not _feasible(scaled, a, b, point):
                return Fails(point, (i, j))
    return None
