"""Exact linear programming: the simplex method on fractions, so that a sign is never a matter of rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tailproof.bounds.undecided import Undecided


@dataclass(frozen=True)
class Solution:
    values: list[Fraction]
    basis: list[int]


@dataclass(frozen=True)
class Infeasible:
    dual: list[Fraction]  # dual·column ≤ 0 for every column, dual·target > 0


def simplex(
    columns: Sequence[Sequence[Fraction]], target: Sequence[Fraction], cost: Sequence[Fraction] = ()
) -> Solution | Infeasible:
    """min cost·x with Σ xⱼ·columnⱼ = target, x ≥ 0, in exact arithmetic (Bland's rule); the cost must be bounded below."""
    count, flips = len(columns), [-1 if b < 0 else 1 for b in target]
    rows = [
        [column[i] if flip > 0 else -column[i] for column in columns]
        + [Fraction(i == j) for j in range(len(target))]
        + [flip * target[i]]
        for i, flip in enumerate(flips)
    ]
    basis = [count + i for i in range(len(target))]

    def pivot(row: int, column: int, objective: list[Fraction]) -> None:
        scale = rows[row][column]
        rows[row] = [x / scale if x else x for x in rows[row]]
        for line in (*(r for i, r in enumerate(rows) if i != row), objective):
            factor = line[column]
            if factor:
                line[:] = [x - factor * y if y else x for x, y in zip(line, rows[row], strict=True)]
        basis[row] = column

    def minimise(objective: list[Fraction], allowed: int) -> None:
        while True:
            column = next((j for j in range(allowed) if objective[j] < 0), None)
            if column is None:
                return
            ratios = [(rows[i][-1] / rows[i][column], basis[i], i) for i in range(len(rows)) if rows[i][column] > 0]
            if not ratios:
                raise Undecided("an unbounded linear program")
            pivot(min(ratios)[2], column, objective)

    first = [-sum((r[j] for r in rows), Fraction(0)) for j in range(count)] + [Fraction(0)] * len(target)
    first.append(-sum((r[-1] for r in rows), Fraction(0)))
    minimise(first, count)
    if first[-1] != 0:
        return Infeasible([(1 - first[count + i]) * flips[i] for i in range(len(target))])
    for i in range(len(rows)):  # artificial columns leave the basis; a row without another column is redundant
        if basis[i] >= count:
            column = next((j for j in range(count) if rows[i][j]), None)
            if column is not None:
                pivot(i, column, first)
    kept = [i for i in range(len(rows)) if basis[i] < count]
    rows, basis = [rows[i] for i in kept], [basis[i] for i in kept]
    if cost:
        objective = [*cost, *[Fraction(0)] * len(target), Fraction(0)]
        for row, column in zip(rows, basis, strict=True):
            factor = objective[column]
            objective = [x - factor * y for x, y in zip(objective, row, strict=True)]
        minimise(objective, count)
    values = [Fraction(0)] * count
    for row, column in zip(rows, basis, strict=True):
        values[column] = row[-1]
    return Solution(values, list(basis))


def solve_inequalities(rows: Sequence[Sequence[Fraction]], bounds: Sequence[Fraction]) -> list[Fraction] | None:
    """A vector y with row·y ≤ bound for every row, if there is one."""
    size = len(rows[0]) if rows else 0
    columns = [[sign * row[i] for row in rows] for i in range(size) for sign in (1, -1)]
    columns += [[Fraction(i == j) for i in range(len(rows))] for j in range(len(rows))]
    found = simplex(columns, bounds)
    return None if isinstance(found, Infeasible) else [found.values[2 * i] - found.values[2 * i + 1] for i in range(size)]
