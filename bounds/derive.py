"""Derive a rate: substitute choices into a lemma's rate, drop dominated terms, find the best choice of a free parameter.

The best choice.  Let the rate be max over i of mᵢ·x^αᵢ with x > 0 free.  Whatever x is, two terms with αᵢ > 0 > αⱼ bound the rate
from below by their weighted geometric mean in which x cancels, and a term with α = 0 by itself.  The maximum f* of these bounds is
attained: x = max over αⱼ < 0 of (mⱼ/f*)^(1/|αⱼ|) makes every term ≲ f*.  Both halves are comparisons of rates, the first with x as
one more symbol, so both come with certificates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from tailproof.bounds.compare import Dominance, Undecided, compare
from tailproof.bounds.expressions import Expression, extremum, names_in, read_expression, rebuild
from tailproof.bounds.monomials import Monomial, monomial_expression
from tailproof.bounds.problem import Problem, build_problem, sum_terms
from tailproof.bounds.rates import Rate, parse_rate
from tailproof.bounds.rational import exponent_expression
from tailproof.bounds.regimes import Regime
from tailproof.refimpl.validation import InputError


@dataclass(frozen=True)
class Simplified:
    """A rate without the terms that others dominate, each removal with its certificate."""

    rate: Rate
    removed: tuple[tuple[str, Dominance], ...]


@dataclass(frozen=True)
class BestChoice:
    """The parameter's best choice, the rate it gives, and why: no choice does better, and this one does it."""

    parameter: str
    choice: Rate
    rate: Rate
    optimal: Dominance  # rate ≲ the given rate, for every value of the parameter
    achieved: Dominance  # the given rate at the choice ≲ rate


def _rate(expression: Expression) -> Rate:
    return parse_rate(str(expression) if expression.is_number else expression)


def substitute(rate: Any, choices: Mapping[str, Any]) -> Rate:
    """The rate with the parameters replaced by their choices, which may refer to each other but not in a circle."""
    expression = parse_rate(rate).expression
    values = {name: read_expression(choice, f"choice of {name}") for name, choice in choices.items()}
    for _ in range(len(values) + 1):
        if not names_in(expression) & set(values):
            return Rate(str(expression), expression)
        expression = rebuild(expression, lambda e: values.get(e.name) if e.is_Symbol else None)
    raise InputError(f"choices = {dict(choices)!r}: refer to each other in a circle")


def _problem(rate: Rate, where: Iterable[str], parameters: Iterable[str] | None, logs: bool) -> Problem:
    return build_problem(rate, Rate("1", sympy.Integer(1)), where=where, parameters=parameters, logs=logs)


def _clause(clause: list[Monomial]) -> Expression:
    return extremum(sympy.Min)(*map(monomial_expression, clause))


def simplify(
    rate: Any, where: Iterable[str] = (), *, parameters: Iterable[str] | None = None, logs: bool = True
) -> Simplified:
    """The rate as a sum of monomials (or minima of them) none of which the rest dominates on the regime."""
    where = tuple(where)
    source = parse_rate(rate)
    terms = [_clause(clause) for clause in _problem(source, where, parameters, logs).left]
    removed: list[tuple[str, Dominance]] = []
    for term in sorted(terms, key=lambda e: (-sympy.count_ops(e), str(e))):
        rest = [other for other in terms if other is not term]
        if not rest:
            break
        try:
            answer = compare(_rate(term), _rate(sympy.Add(*rest)), where=where, parameters=parameters, logs=logs)
        except Undecided:
            continue
        if isinstance(answer, Dominance):
            terms = rest
            removed.append((str(term), answer))
    return Simplified(_rate(sympy.Add(*terms)), tuple(removed))


def derive(
    rate: Any,
    choices: Mapping[str, Any],
    where: Iterable[str] = (),
    *,
    parameters: Iterable[str] | None = None,
    logs: bool = True,
) -> Simplified:
    """A theorem's rate from its lemma's: substitute the choices and drop dominated terms."""
    return simplify(substitute(rate, choices), where, parameters=parameters, logs=logs)


def best_choice(
    rate: Any, parameter: str, where: Iterable[str] = (), *, parameters: Iterable[str] | None = None, logs: bool = True
) -> BestChoice:
    """The value of a free positive parameter that makes the rate smallest, up to constants, as a rate in the other symbols."""
    where = tuple(where)
    source = parse_rate(rate)
    if parameter not in names_in(source.expression):
        raise InputError(f"parameter = {parameter!r}: does not stand in {source.text}")
    problem = _problem(source, where, parameters, logs)
    if any(parameter in row.exponents for row in problem.rows):
        raise InputError(f"parameter = {parameter!r}: must be free, but the regime bounds it")
    terms = sum_terms(problem.left, "max", f"rate = {source.text!r}")
    free, rising, falling = _by_exponent(terms, problem.regime, parameter)
    bounds = list(free)
    for above, up in rising:
        for below, down in falling:
            bounds.append(above ** (down / (up + down)) * below ** (up / (up + down)))
    if not bounds:
        raise InputError(
            f"rate = {source.text!r}: becomes as small as you like for {'small' if rising else 'large'} {parameter}"
        )
    options: dict[str, Any] = {"where": where, "parameters": parameters, "logs": logs}
    best = simplify(_rate(sympy.Add(*(sympy.powsimp(b) for b in bounds))), **options).rate
    optimal = compare(best, source, **options)
    if not isinstance(optimal, Dominance):
        raise Undecided("the lower bound on the rate was not confirmed")
    for choice in _choices(best, rising, falling):
        achieved = compare(substitute(source, {parameter: choice}), best, **options)
        if isinstance(achieved, Dominance):
            return BestChoice(parameter, _rate(choice), best, optimal, achieved)
    raise Undecided("the best choice was not confirmed")


Terms = list[tuple[Expression, Expression]]  # coefficient of x^α, and |α|


def _by_exponent(terms: list[Monomial], regime: Regime, parameter: str) -> tuple[list[Expression], Terms, Terms]:
    """Terms without the parameter, with a positive and with a negative power of it."""
    free: list[Expression] = []
    rising: Terms = []
    falling: Terms = []
    for term in terms:
        rest = monomial_expression({s: e for s, e in term.items() if s != parameter})
        if parameter not in term:
            free.append(rest)
            continue
        sign = regime.sign(term[parameter])
        if sign is None:
            raise InputError(
                f"the exponent {term[parameter].as_expr()} of {parameter} changes its sign on the range; split the range"
            )
        (rising if sign > 0 else falling).append((rest, exponent_expression(term[parameter] * sign)))
    return free, rising, falling


def _choices(best: Rate, rising: Terms, falling: Terms) -> list[Expression]:
    """Candidates: where two terms balance, then the choice that always attains the bound."""
    found = [
        sympy.powsimp(sympy.expand_power_base((below / above) ** (1 / (up + down))))
        for above, up in rising
        for below, down in falling
    ]
    value = best.expression
    if falling:
        general = [sympy.expand_power_base((below / value) ** (1 / down)) for below, down in falling]
    else:
        general = [sympy.expand_power_base((value / above) ** (1 / up)) for above, up in rising]
    return [*found, extremum(sympy.Max if falling else sympy.Min)(*general)]
