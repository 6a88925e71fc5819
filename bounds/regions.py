"""The plane of an atlas group divided by its smallest upper bound: polygons, because logarithms of rates are piecewise linear."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from tailproof.bounds.atlas import Chart, Row
from tailproof.bounds.grouping import Plot
from tailproof.bounds.monomials import show_monomial
from tailproof.bounds.problem import build_problem
from tailproof.bounds.rates import Rate
from tailproof.bounds.rational import evaluate
from tailproof.bounds.theorems import theorem
from tailproof.refimpl.validation import InputError

Line = tuple[Fraction, Fraction, Fraction]  # a + b·x + c·y
Corner = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Cell:
    """A convex polygon on which these upper bounds are the smallest, led by this term."""

    corners: tuple[Corner, ...]
    best: tuple[str, ...]  # names of rows
    term: Line  # log_n of the leading term
    leading: str  # the term itself, of the first of them


def _value(line: Line, corner: Corner) -> Fraction:
    return line[0] + line[1] * corner[0] + line[2] * corner[1]


def _half(corners: tuple[Corner, ...], line: Line) -> tuple[Corner, ...]:
    """The part of a convex polygon on which the line is at least 0."""
    kept: list[Corner] = []
    for here, there in zip(corners, (*corners[1:], corners[0]), strict=True):
        a, b = _value(line, here), _value(line, there)
        if a >= 0:
            kept.append(here)
        if a * b < 0:
            kept.append((here[0] + (there[0] - here[0]) * a / (a - b), here[1] + (there[1] - here[1]) * a / (a - b)))
    return tuple(dict.fromkeys(kept))


def area(corners: tuple[Corner, ...]) -> Fraction:
    edges = zip(corners, (*corners[1:], corners[0]), strict=True)
    return abs(sum(((a[0] * b[1] - b[0] * a[1]) for a, b in edges), Fraction(0))) / 2


def centre(corners: tuple[Corner, ...]) -> Corner:
    total = len(corners)
    return sum((c[0] for c in corners), Fraction(0)) / total, sum((c[1] for c in corners), Fraction(0)) / total


Clauses = list[list[tuple[Line, str]]]


def _lines(rate: Rate, where: tuple[str, ...], plot: Plot, values: Mapping[str, Fraction]) -> tuple[Clauses, list[Line]]:
    """The rate as a maximum of minima of lines in the plane, and the regime's conditions as lines that are at least 0."""
    fixed = [f"{name}=={value}" for name, value in values.items()]
    problem = build_problem(rate, Rate("1", sympy.Integer(1)), where=[*where, *fixed], logs=False)
    point = [values[name] for name in problem.regime.names]

    def line(monomial: Mapping[str, Any], sign: int = 1) -> Line:
        exponents = {name: sign * evaluate(e, point) for name, e in monomial.items()}
        up = exponents.get(plot.up, Fraction(0)) * (2 if plot.up == "rho" else 1)
        rest = exponents.get("n", Fraction(0)) + sum(
            (exponents.get(name, Fraction(0)) * size for name, size in plot.fixed.items()), Fraction(0)
        )
        return rest, exponents.get(plot.across, Fraction(0)), -up

    clauses = [[(line(m), show_monomial(m)) for m in clause] for clause in problem.left]
    return clauses, [line(row.exponents, -1) for row in problem.rows]


def _candidates(c: Chart, *, published: bool) -> list[tuple[Row, tuple[str, ...]]]:
    """The best upper bounds; or those that a paper, not we, derives, each under its own conditions."""
    if not published:
        return [(row, row.where) for row in map(c.row, c.best)]
    found = []
    for row in c.rows:
        theirs = [s for s in row.sources if "derived" in s.readings and theorem(s.id).source != "ours"]
        if row.kind == "upper" and theirs:
            wheres = dict.fromkeys(s.where for s in theirs)
            found += [(row, where) for where in wheres if not where or () not in wheres]
    return found


def regions(
    c: Chart, values: Mapping[str, Fraction], *, published: bool = False, side: Corner = (Fraction(2), Fraction(1))
) -> tuple[tuple[Corner, ...], list[Cell]]:
    """The part of the plane that the group's regime allows, and its division by the smallest of the best upper bounds.

    `published`: by the smallest of those that the papers derive, without ours.
    """
    plot = c.group.plot
    assert plot is not None
    zero = Fraction(0)
    frame: tuple[Corner, ...] = ((zero, zero), (side[0], zero), side, (zero, side[1]))
    for line in _lines(Rate("1", sympy.Integer(1)), c.group.where, plot, values)[1]:
        frame = _half(frame, line) if frame else frame
    rows: dict[tuple[str, tuple[str, ...]], tuple[Clauses, list[Line]]] = {}
    for row, where in _candidates(c, published=published):
        try:
            rows[row.name, where] = _lines(row.rate, (*c.group.where, *where), plot, values)
        except InputError:  # its conditions exclude these values
            continue
    terms = {t for clauses, _ in rows.values() for clause in clauses for t, _ in clause}
    borders = {tuple(x - y for x, y in zip(s, t, strict=True)) for s, t in itertools.combinations(sorted(terms), 2)}
    borders |= {line for _, conditions in rows.values() for line in conditions}
    cells = [frame] if len(frame) > 2 else []
    for border in sorted(borders):
        a, b, e = border
        if b or e:
            parts = [_half(cell, side) for cell in cells for side in ((a, b, e), (-a, -b, -e))]
            cells = [part for part in parts if len(part) > 2 and area(part) > 0]
    return frame, [cell for corners in cells if (cell := _labelled(corners, rows)) is not None]


def _labelled(
    corners: tuple[Corner, ...], rows: Mapping[tuple[str, tuple[str, ...]], tuple[Clauses, list[Line]]]
) -> Cell | None:
    here = centre(corners)

    def height(term: tuple[Line, str]) -> Fraction:
        return _value(term[0], here)

    leading = {
        name: max((min(clause, key=height) for clause in clauses), key=height)
        for (name, _), (clauses, conditions) in rows.items()
        if all(_value(line, here) >= 0 for line in conditions)
    }
    if not leading:
        return None
    least = min(map(height, leading.values()))
    winners = tuple(name for name, term in leading.items() if height(term) == least)
    return Cell(corners, winners, *leading[winners[0]])
