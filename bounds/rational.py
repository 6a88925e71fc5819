"""Rational functions of the structural parameters: what exponents are.

An exponent is an element of sympy's field of fractions, which keeps it reduced.  Here it is made from an expression and turned into
one, evaluated, specialised to functions on a cell, handed to the verifier as its polynomials, and written as JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.fields import FracField

from tailproof.bounds import certificates
from tailproof.bounds.expressions import Expression, positive_symbol
from tailproof.bounds.undecided import Undecided

Exponent = Any  # an element of the field of rational functions of the parameters
Point = tuple[Fraction, ...]  # values of the parameters


def is_number(value: Exponent) -> bool:
    return bool(value.numer.is_ground and value.denom.is_ground)


def _plain(number: Any) -> Fraction:
    return Fraction(int(number.numerator), int(number.denominator))


def to_fraction(value: Exponent) -> Fraction:
    """A constant element of the field as a fraction."""
    return _plain(value.numer.coeff(1)) / _plain(value.denom.coeff(1))


def from_fraction(value: Fraction, numbers: FracField) -> Exponent:
    return numbers.one * sympy.QQ(value.numerator, value.denominator)


def to_element(expression: Expression, numbers: FracField) -> Exponent:
    """An expression in (positive) symbols of the parameters as an element of their field."""
    plain = sympy.sympify(expression)
    return numbers.from_expr(plain.subs({s: sympy.Symbol(s.name) for s in plain.free_symbols}))


def exponent_expression(value: Exponent) -> Expression:
    """The element as an expression in positive symbols."""
    plain = sympy.sympify(value.as_expr())
    factored = plain if is_number(value) else sympy.factor(plain)
    return factored.subs({s: positive_symbol(s.name) for s in factored.free_symbols})


def to_poly(element: Any) -> certificates.Poly:
    """A sympy polynomial element as the verifier's dictionary (constants too when there is no parameter)."""
    keep = 0 if element.ring.symbols == (sympy.Symbol("_"),) else None
    return {tuple(key)[:keep]: _plain(c) for key, c in element.terms() if c}


def to_quotient(element: Exponent) -> certificates.Quotient:
    return to_poly(element.numer), to_poly(element.denom)


def evaluate(element: Exponent, point: Sequence[Fraction]) -> Fraction:
    """The value at a point; parameters that do not occur may be missing at its end."""
    above, below = to_quotient(element)
    full = [*point, *[Fraction(0)] * (len(next(iter(below))) - len(point))]
    divisor = certificates.value_at(below, full)
    if not divisor:
        raise Undecided(f"{element.as_expr()} is undefined at {', '.join(map(str, point))}")
    return certificates.value_at(above, full) / divisor


def specialise(element: Exponent, values: Sequence[Exponent]) -> Exponent:
    """The element with the parameters replaced by these functions."""
    if not values or all(v == g for v, g in zip(values, element.field.gens, strict=False)):
        return element

    def poly(part: Any) -> Any:
        total = element.field.zero
        for key, coefficient in part.terms():
            term = element.field.one * coefficient
            for i, e in enumerate(key):
                term = term * (values[i] if i < len(values) else element.field.gens[i]) ** e if e else term
            total = total + term
        return total

    below = poly(element.denom)
    if not below:
        raise Undecided(f"{element.as_expr()} has a pole on a cell")
    return poly(element.numer) / below


def write_poly(element: Exponent, names: Sequence[str]) -> Any:
    """A polynomial (a field element with constant denominator) as JSON."""
    poly = to_poly(element.numer)
    below = to_fraction(element.field(element.denom))
    poly = {key: value / below for key, value in poly.items()}
    if all(not any(key) for key in poly):
        return str(next(iter(poly.values()), Fraction(0)))
    words = {
        key: "*".join(n if e == 1 else f"{n}^{e}" for n, e in zip(names, key, strict=True) if e) or "1"
        for key in sorted(poly, reverse=True)
    }
    return {words[key]: str(poly[key]) for key in words}


def write_quotient(element: Exponent, names: Sequence[str]) -> Any:
    if element.denom.is_ground:
        return write_poly(element, names)
    return [write_poly(element.field(element.numer), names), write_poly(element.field(element.denom), names)]
