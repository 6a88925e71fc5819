"""The claim as the verifier reads it: every exponent times one common denominator, so that all of them are polynomials.

Here claims and orders of logarithms are written as JSON, and the cells of a written proof are listed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tailproof.bounds.monomials import Log, Monomial
from tailproof.bounds.problem import Problem, Row, in_cone
from tailproof.bounds.rational import Exponent, is_number, to_element, write_poly, write_quotient
from tailproof.bounds.regimes import Bound
from tailproof.refimpl.validation import InputError


@dataclass(frozen=True)
class Order:
    """log m ≲ log M, because m = M^power·Π rows^multiplier."""

    smaller: Log
    larger: Log
    power: Fraction
    multipliers: list[Fraction]


@dataclass(frozen=True)
class Scaled:
    """The problem with polynomial exponents."""

    problem: Problem
    denominator: Exponent  # positive on the range
    left: list[list[Monomial]]
    right: list[list[Monomial]]
    rows: list[Monomial]  # the regime's, then one for each order
    orders: list[Order]
    logs: list[tuple[str, Monomial]]
    symbols: list[str]
    uniform: bool


def scale(problem: Problem, *, uniform: bool = False) -> Scaled:
    common = problem.numbers.ring.one
    for exponent in {e for vector in problem.vectors for e in vector.values()}:
        common = common.lcm(exponent.denom)
    common = problem.numbers(common)
    sign = problem.regime.sign(common)
    if sign not in (1, -1):
        raise InputError(
            f"the exponents have the denominator {common.as_expr()}, which is not shown to be nonzero on the range"
        )
    common = common * sign
    orders = _orders(problem)
    units = [{o.smaller.symbol: common, o.larger.symbol: -common} for o in orders]
    return Scaled(
        problem,
        common,
        [[_times(m, common) for m in clause] for clause in problem.left],
        [[_times(m, common) for m in clause] for clause in problem.right],
        [_times(row.exponents, common) for row in problem.rows] + units,
        orders,
        [(log.symbol, _times(dict(log.of.exponents), common)) for log in problem.logs],
        problem.symbols,
        uniform,
    )


def _times(vector: Monomial, factor: Exponent) -> Monomial:
    return vector if factor == 1 else {s: e * factor for s, e in vector.items()}


def _orders(problem: Problem) -> list[Order]:
    """Which logs are below which, because the regime says so of their arguments."""
    usable = [i for i, row in enumerate(problem.rows) if all(is_number(e) for e in row.exponents.values())]
    plain = [log for log in problem.logs if all(is_number(e) for _, e in log.of.exponents)]
    found = []
    for small, large in itertools.permutations(plain, 2):
        generators = [dict(large.of.exponents), *(problem.rows[i].exponents for i in usable)]
        values = in_cone(dict(small.of.exponents), generators)
        if values is not None and values[0]:
            multipliers = dict(zip(usable, values[1:], strict=True))
            found.append(Order(small, large, values[0], [multipliers.get(i, Fraction(0)) for i in range(len(problem.rows))]))
    return found


def write_claim(scaled: Scaled) -> dict[str, Any]:
    problem, names = scaled.problem, scaled.problem.regime.names

    def vector(monomial: Monomial) -> dict[str, Any]:
        return {s: write_poly(e, names) for s, e in sorted(monomial.items())}

    def written(row: Row) -> dict[str, Any]:
        exponents = vector(_times(row.exponents, scaled.denominator))
        return {"text": row.text, "exponents": exponents, "constant": str(row.constant), "exact": row.exact}

    def bounds(side: Iterable[Bound]) -> list[dict[str, Any]]:
        return [{"bound": write_quotient(to_element(b.value, problem.numbers), names), "closed": b.closed} for b in side]

    return {
        "parameters": [
            {"name": p.name, "lower": bounds(p.lower), "upper": bounds(p.upper)} for p in problem.regime.parameters
        ],
        "denominator": write_poly(scaled.denominator, names),
        "left": [[vector(m) for m in clause] for clause in scaled.left],
        "right": [[vector(m) for m in clause] for clause in scaled.right],
        "constraints": [written(row) for row in problem.rows],
        "alternatives": [[written(row) for row in rows] for rows in problem.alternatives],
        "logs": [{"symbol": symbol, "of": vector(of)} for symbol, of in scaled.logs]
        + [{"symbol": log.symbol, "of": None} for log in problem.loose],
    }


def write_orders(scaled: Scaled) -> list[dict[str, Any]]:
    return [
        {
            "smaller": o.smaller.symbol,
            "larger": o.larger.symbol,
            "power": str(o.power),
            "multipliers": [str(m) for m in o.multipliers],
        }
        for o in scaled.orders
    ]


def leaves(
    tree: Mapping[str, Any], pieces: tuple[Mapping[str, Any], ...] = ()
) -> Iterator[tuple[tuple[Mapping[str, Any], ...], Any]]:
    """The cells of a written proof: for each the pieces that it is made of, parameter by parameter, and its pairs."""
    if "pairs" in tree:
        yield pieces, tree["pairs"]
        return
    for piece in tree["pieces"]:
        yield from leaves(piece["then"], (*pieces, piece))
