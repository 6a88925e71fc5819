"""Two rates and a regime as vectors of exponents: the linear problem behind a comparison.

In the coordinates y = log x a monomial is a linear form, so that a regime is a cone (up to constants) and a rate a maximum of
minima of linear forms.  Conditions that contain logarithms, and equalities, are read up to constants.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import sympy
from sympy.polys.fields import FracField

from tailproof.bounds.expressions import Expression, names_in, names_in_exponents
from tailproof.bounds.monomials import Log, Monomial, Reader, clauses, negated, quotient, show_monomial
from tailproof.bounds.rates import Rate
from tailproof.bounds.rational import Exponent, is_number, to_fraction
from tailproof.bounds.regimes import CONVENTIONS, STRUCTURAL, Condition, Parameter, Regime, parse_conditions
from tailproof.bounds.simplex import Infeasible, simplex
from tailproof.refimpl.validation import InputError

MOST_CASES = 16


@dataclass(frozen=True)
class Row:
    """A condition of the regime: monomial ≤ constant."""

    text: str
    exponents: Monomial
    constant: Fraction = Fraction(1)
    exact: bool = True  # whether the constant is meant


@dataclass(frozen=True)
class Problem:
    """Is left (a maximum of minima) ≲ right (a minimum of maxima) where the rows hold?"""

    regime: Regime
    left: list[list[Monomial]]
    right: list[list[Monomial]]
    rows: list[Row]
    alternatives: list[list[Row]]  # of each list at least one row holds
    logs: list[Log]  # those tied to their argument
    loose: list[Log]  # those of which only "at least one" is known
    conventions: tuple[str, ...]
    constants: tuple[Exponent, ...]  # the constants hidden in rates and conditions are bounded where these are
    numbers: FracField  # the field of the exponents

    @property
    def every_row(self) -> list[Row]:
        return self.rows + [row for rows in self.alternatives for row in rows]

    @property
    def vectors(self) -> list[Monomial]:
        found = [m for side in (self.left, self.right) for clause in side for m in clause]
        return found + [row.exponents for row in self.every_row] + [dict(log.of.exponents) for log in self.logs]

    @property
    def symbols(self) -> list[str]:
        return sorted({s for vector in self.vectors for s in vector} | {log.symbol for log in self.logs})


def in_cone(target: Mapping[str, Exponent], generators: Sequence[Mapping[str, Exponent]]) -> list[Fraction] | None:
    """Non-negative multipliers with Σ multiplier·generator = target; all exponents must be numbers."""
    symbols = sorted({s for v in (target, *generators) for s in v})
    zero = Fraction(0)
    columns = [[to_fraction(v[s]) if s in v else zero for s in symbols] for v in generators]
    found = simplex(columns, [to_fraction(target[s]) if s in target else zero for s in symbols])
    return None if isinstance(found, Infeasible) else found.values


def _used_parameters(regime: Regime, used: set[str]) -> tuple[Parameter, ...]:
    """The parameters that occur, and those whose ranges are connected with theirs."""
    links = [{p.name, *(n for b in (*p.lower, *p.upper) for n in names_in(b.value))} for p in regime.parameters]
    while True:
        more = used.union(*(link for link in links if link & used))
        if more == used:
            return tuple(p for p in regime.parameters if p.name in used)
        used = more


def _coefficient(expression: Expression) -> Expression | None:
    """The numerical coefficient of a monomial without logs; None if it is anything else."""
    if expression.has(sympy.log, sympy.Add, sympy.Max, sympy.Min):
        return None
    value = expression.subs(dict.fromkeys(expression.free_symbols, 1))
    return value if value.is_number and value.is_real and value > 0 else None


def _condition_rows(condition: Condition, reader: Reader) -> list[list[Row]]:
    """The condition as a conjunction of alternatives: of each inner list at least one row holds."""
    small, large = clauses(reader.read(condition.small), "max"), clauses(reader.read(condition.large), "min")
    above, below = _coefficient(condition.large), _coefficient(condition.small)
    structural = (names_in(condition.small) | names_in(condition.large)) & reader.regime.structural
    constant, exact = Fraction(1), False
    if condition.exact and above is not None and below is not None and not structural:
        value = above / below
        exact = bool(value.is_Rational)
        below_value = Fraction(math.floor(float(value) * 2**40 * (1 - 1e-12)), 2**40)
        constant = Fraction(int(value.p), int(value.q)) if exact else below_value
    found = []
    for a, b in itertools.product(small, large):
        rows = [(quotient(x, y), x, y) for x, y in itertools.product(a, b)]
        plain = len(rows) == 1
        if not all(row for row, _, _ in rows) and not plain:
            continue  # one of the alternatives always holds, up to constants
        texts = [condition.text if plain else f"{show_monomial(x)}<={show_monomial(y)}" for _, x, y in rows]
        found.append([Row(text, row, constant, exact) for text, (row, _, _) in zip(texts, rows, strict=True)])
    return found


def build_problem(
    left: Rate, right: Rate, *, where: Iterable[str] = (), parameters: Iterable[str] | None = None, logs: bool = True
) -> Problem:
    """Both rates and the regime as monomials, with the conventions that apply."""
    given = [*(STRUCTURAL if parameters is None else parameters)]
    given += sorted(names_in_exponents(left.expression) | names_in_exponents(right.expression))
    regime = parse_conditions(where, given)
    expressions = [left.expression, right.expression, *(side for c in regime.conditions for side in (c.small, c.large))]
    names = set().union(*map(names_in, expressions))
    regime = replace(regime, parameters=_used_parameters(regime, names & regime.structural))
    conventions = [text for symbol, text in CONVENTIONS.items() if symbol in names and symbol not in regime.structural]
    conditions = (*regime.conditions, *parse_conditions(conventions, ()).conditions)
    plain = [c for c in conditions if not (c.small.has(sympy.log) or c.large.has(sympy.log))]
    first = Reader(regime, lambda _: False)
    known = [row for c in plain for row in _condition_rows(c, first)]
    facts = [row.exponents for (row, *others) in known if not others and all(is_number(e) for e in row.exponents.values())]

    def at_least_one(monomial: Monomial) -> bool:
        return all(is_number(e) for e in monomial.values()) and in_cone(negated(monomial), facts) is not None

    reader = Reader(regime, at_least_one, keep_logs=logs)
    sides = [reader.read(left.expression), reader.read(right.expression)]
    known += [row for c in conditions if c not in plain for row in _condition_rows(c, reader)]
    rows = [alternatives[0] for alternatives in known if len(alternatives) == 1]
    alternatives = [rows for rows in known if len(rows) > 1]
    if math.prod(map(len, alternatives)) > MOST_CASES:
        raise InputError(f"where = {list(where)!r}: the conditions make more than {MOST_CASES} cases")
    tied: list[Log] = []
    loose: list[Log] = []
    for log in reader.logs.values():
        argument = dict(log.of.exponents)
        rows.append(Row(f"{log.symbol}>=1", {log.symbol: -reader.numbers.one}))
        if log.assumed and not at_least_one(argument):
            conventions.append(f"{show_monomial(argument)}>=1")
        (tied if log.assumed or at_least_one(argument) else loose).append(log)
    conventions += ["every log>=1"] if reader.logs else []
    for row in rows:
        if not row.exponents and row.constant < 1 and row.exact:
            raise InputError(f"condition {row.text!r}: is never true")
    rows = list({(*sorted(row.exponents.items(), key=str), row.constant): row for row in rows if row.exponents}.values())
    for log in tied:
        argument = negated(dict(log.of.exponents))
        if not any(row.exponents == argument for row in rows):
            rows.append(Row(f"{show_monomial(dict(log.of.exponents))}>=1", argument))
    return Problem(
        regime,
        clauses(sides[0], "max"),
        clauses(sides[1], "min"),
        rows,
        alternatives,
        tied,
        loose,
        tuple(conventions),
        (*reader.constants, *first.constants),
        reader.numbers,
    )


def sum_terms(sides: list[list[Monomial]], outer: Literal["max", "min"], what: str) -> list[Monomial]:
    """The monomials of a rate without minima, from its clauses."""
    if outer == "max" and all(len(clause) == 1 for clause in sides):
        return [clause[0] for clause in sides]
    if outer == "min" and len(sides) == 1:
        return sides[0]
    raise InputError(f"{what}: must be a sum (or maximum) of monomials here, without minima")


def refuse_cases(problem: Problem) -> None:
    if problem.alternatives:
        texts = " or ".join(row.text for row in problem.alternatives[0])
        raise InputError(f"the conditions mean {texts}; ask for each case by itself")
