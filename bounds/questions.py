"""Further questions about two rates: where they cross, and by which power of a quantity one exceeds the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from tailproof.bounds.cells import Cell, sample_point, several_points
from tailproof.bounds.claim import Scaled, scale
from tailproof.bounds.compare import Dominance, Separation, compare
from tailproof.bounds.expressions import Expression
from tailproof.bounds.monomials import Monomial, Reader, monomial_expression, negated, quotient, show_monomial
from tailproof.bounds.problem import build_problem, in_cone, refuse_cases, sum_terms
from tailproof.bounds.prover import Column, columns_of, program, solve_symbolically
from tailproof.bounds.rates import Rate, parse_rate
from tailproof.bounds.rational import Point, evaluate, exponent_expression, from_fraction, is_number, to_fraction
from tailproof.bounds.simplex import Infeasible, Solution, simplex, solve_inequalities
from tailproof.bounds.undecided import Undecided
from tailproof.refimpl.validation import InputError


@dataclass(frozen=True)
class Crossover:
    """Where one rate overtakes the other: `left` and `right` are the leading terms there, and balance on `surface`."""

    left: str
    right: str
    surface: str  # "d == n*eps**2"
    where: tuple[str, ...]  # conditions, beyond the regime's, under which these terms lead
    at: dict[str, Fraction]  # the values of the structural parameters at which this was found


def _relation_text(monomial: Monomial, sign: str) -> str:
    """monomial ⋛ 1 with positive powers on both sides."""
    if all(is_number(e) for e in monomial.values()):
        values = [to_fraction(e) for e in monomial.values()]
        whole = Fraction(math.lcm(*(x.denominator for x in values)), math.gcd(*(x.numerator for x in values)))
        monomial = {s: e * from_fraction(whole, e.field) for s, e in monomial.items()}
    above, below = sympy.fraction(sympy.together(monomial_expression(monomial)))
    return f"{above}{sign}{below}".replace(" ", "")


def crossover(
    left: Any, right: Any, where: Iterable[str] = (), *, parameters: Iterable[str] | None = None, logs: bool = False
) -> list[Crossover]:
    """The pieces of the surface on which two rates (sums of monomials) are equal and change places.

    With structural parameters in a range, which terms lead is decided at a sample of it, which is reported.
    """
    problem = build_problem(parse_rate(left), parse_rate(right), where=where, parameters=parameters, logs=logs)
    refuse_cases(problem)
    if problem.logs or problem.loose:
        raise InputError("crossover: logarithms have no surface of monomials; ask with logs=False")
    ours, theirs = sum_terms(problem.left, "max", "left"), sum_terms(problem.right, "min", "right")
    point, symbols = sample_point(problem.regime), problem.symbols

    def line(monomial: Monomial, sign: int = 1) -> list[Fraction]:
        return [sign * evaluate(monomial[s], point) if s in monomial else Fraction(0) for s in symbols]

    regime = [(line(row.exponents), Fraction(0)) for row in problem.rows]
    found = []
    for a, b in itertools.product(ours, theirs):
        balance = quotient(a, b)
        lead = [quotient(a, x) for x in ours if x != a] + [quotient(b, y) for y in theirs if y != b]
        leading = [(line(m, -1), Fraction(-1)) for m in lead]
        weakly = [(line(m, -1), Fraction(0)) for m in lead]
        on = [(line(balance), Fraction(0)), (line(balance, -1), Fraction(0))]
        above, below = [(line(balance, -1), Fraction(-1))], [(line(balance), Fraction(-1))]
        systems = ([*regime, *leading, *on], [*regime, *weakly, *above], [*regime, *weakly, *below])
        if balance and all(solve_inequalities(*zip(*system, strict=True)) is not None for system in systems):
            facts = [row.exponents for row in problem.rows] + [balance, negated(balance)]
            numeric = all(is_number(e) for m in (*facts, *lead) for e in m.values())
            needed = [m for m in lead if not numeric or in_cone(negated(m), facts) is None]
            at = dict(zip(problem.regime.names, point, strict=True))
            conditions = tuple(_relation_text(m, ">=") for m in needed)
            found.append(Crossover(show_monomial(a), show_monomial(b), _relation_text(balance, "=="), conditions, at))
    return found


@dataclass(frozen=True)
class WorstFactor:
    """left ≲ right·base^exponent, and no smaller exponent will do; exponent None: no power of the base suffices."""

    base: str
    exponent: Expression | None
    dominance: Dominance | None
    smaller: Separation | None  # for the exponent less 1/1000, or for every exponent

    @property
    def factor(self) -> str | None:
        return None if self.exponent is None else str(parse_rate(self.base).expression ** self.exponent)


def worst_factor(
    left: Any,
    right: Any,
    where: Iterable[str] = (),
    *,
    in_terms_of: str,
    logs: bool = False,
    parameters: Iterable[str] | None = None,
) -> WorstFactor:
    """The least power of the monomial `in_terms_of` with left ≲ right·power: "optimal up to a factor of d^(1/2)".

    The exponent is the value of a linear program, in structural parameters a rational function; it is proved by a certificate,
    and its being least by the exact optimum at several values of the parameters.
    """
    where = tuple(where)
    one, two, base = parse_rate(left), parse_rate(right), parse_rate(in_terms_of)
    problem = build_problem(one, two, where=where, parameters=parameters, logs=logs)
    refuse_cases(problem)
    node = Reader(problem.regime, lambda _: False).read(base.expression)
    if node.kind != "monomial" or not node.exponents:
        raise InputError(f"in_terms_of = {in_terms_of!r}: must be a monomial")
    scaled = scale(problem)
    factor = {s: e * scaled.denominator for s, e in node.exponents}
    scaled = replace(scaled, symbols=sorted({*scaled.symbols, *factor}))
    points = several_points(problem.regime, Fraction(1, 20), Fraction(19, 20))
    best = [_least_exponents(scaled, factor, point) for point in points]
    if any(value is None for value, _ in best):
        k = next(i for i, (value, _) in enumerate(best) if value is None)
        at = [f"{name}=={value}" for name, value in zip(problem.regime.names, points[k], strict=True)]
        huge = Rate(f"({two.text})*({base.text})**1000", two.expression * base.expression**1000)
        answer = compare(one, huge, where=[*where, *at], logs=logs, parameters=parameters)
        return WorstFactor(base.text, None, None, answer if isinstance(answer, Separation) else None)
    pair, columns = best[0][1]
    found = simplex(*program(scaled, columns, points[0]), _exponent_cost(columns))
    assert isinstance(found, Solution)
    used = [columns[i] for i in sorted(found.basis)]
    values = solve_symbolically(scaled, Cell(), used)
    if values is None:
        raise Undecided("the least exponent is not determined by a basis of the linear program")
    total = sum((x * c.index for c, x in zip(used, values, strict=True) if c.kind == "factor"), problem.numbers.zero)
    if any(evaluate(total, point) != value for point, (value, _) in zip(points, best, strict=True)):
        raise Undecided(
            f"the least exponent is not one rational function on the range ({pair}); fix the parameters or split the range"
        )
    exponent = exponent_expression(total)

    def with_factor(power: Expression) -> Dominance | Separation:
        larger = Rate(f"({two.text})*({base.text})**({power})", two.expression * base.expression**power)
        return compare(one, larger, where=where, logs=logs, parameters=parameters)

    dominance, smaller = with_factor(exponent), with_factor(exponent - sympy.Rational(1, 1000))
    if not (isinstance(dominance, Dominance) and isinstance(smaller, Separation)):
        raise Undecided("the least exponent was not confirmed")
    return WorstFactor(base.text, exponent, dominance, smaller)


def _exponent_cost(columns: list[Column]) -> list[Fraction]:
    return [Fraction(c.index if c.kind == "factor" else 0) for c in columns]


def _least_exponents(scaled: Scaled, factor: Monomial, point: Point) -> tuple[Fraction | None, Any]:
    """The largest over the pairs of clauses of the least exponent at a point, with the pair and its columns."""
    best: tuple[Fraction | None, Any] = (None, None)
    for (i, a), (j, b) in itertools.product(enumerate(scaled.left), enumerate(scaled.right)):
        columns = [c for c in columns_of(scaled, a, b, scaled.problem.numbers.one) if c.kind != "log"]
        columns += [Column("factor", 1, negated(factor)), Column("factor", -1, factor)]  # index: its sign in the exponent
        found = simplex(*program(scaled, columns, point), _exponent_cost(columns))
        if isinstance(found, Infeasible):
            return None, None
        value = sum((c * x for c, x in zip(_exponent_cost(columns), found.values, strict=True)), Fraction(0))
        if best[0] is None or value > best[0]:
            best = (value, ((i, j), columns))
    return best
