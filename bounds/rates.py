"""Rates: text or sympy expressions in positive symbols, evaluated as written and compared up to constants.

Symbols that stand in exponents are structural parameters (so are k, p, v, theta and theta_bar wherever they stand, unless
`parameters` says otherwise): they need a range, and constants may depend on them.  A log means max(1, log), so that every log is at
least one.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy

from tailproof.bounds.expressions import Expression, names_in, names_in_exponents, positive_symbol, read_expression, rebuild
from tailproof.bounds.monomials import Reader
from tailproof.bounds.regimes import STRUCTURAL, parse_conditions
from tailproof.refimpl.validation import InputError, positive

LATEX = {"eps": r"\varepsilon", "lam": r"\lambda", "theta_bar": r"\bar\theta"}


@functools.lru_cache(maxsize=256)
def _compiled(expression: Expression) -> tuple[list[str], Callable[..., float]]:
    names = sorted(names_in(expression))
    return names, sympy.lambdify([positive_symbol(name) for name in names], expression, "math")


@dataclass(frozen=True)
class Rate:
    """A rate: its text, its expression, and the names of the structural parameters in it."""

    text: str
    expression: Expression
    parameters: tuple[str, ...] = ()

    def evaluate(self, values: Mapping[str, Any]) -> float:
        """The expression at these values, constants as written, logs as written (natural)."""
        names, function = _compiled(self.expression)
        return float(function(*(self._value(name, values) for name in names)))

    def _value(self, name: str, values: Mapping[str, Any]) -> float:
        if name not in values:
            raise InputError(f"values: {name} is missing; needed are {', '.join(sorted(names_in(self.expression)))}")
        return positive(name, values[name])

    def slope(self, symbol: str, values: Mapping[str, Any]) -> float:
        """The local exponent d log rate / d log symbol (at a kink of Min or Max, the mean of the two sides)."""
        if symbol not in names_in(self.expression):
            raise InputError(f"symbol = {symbol!r}: does not stand in {self.text}")
        value, derivative = self._value_and_slope(self.expression, values, symbol)
        return derivative / value

    def _value_and_slope(self, e: Expression, values: Mapping[str, Any], symbol: str) -> tuple[float, float]:
        """The value of e, and its derivative with respect to the logarithm of the symbol."""
        if e.is_number:
            return float(e), 0.0
        if e.is_Symbol:
            x = self._value(e.name, values)
            return x, x if e.name == symbol else 0.0
        parts = [self._value_and_slope(a, values, symbol) for a in e.args]
        if e.is_Add:
            return math.fsum(x for x, _ in parts), math.fsum(dx for _, dx in parts)
        if e.is_Mul:
            value = math.prod(x for x, _ in parts)
            return value, value * math.fsum(dx / x for x, dx in parts if dx)
        if e.is_Pow:
            (x, dx), (q, dq) = parts
            value = x**q
            return value, value * ((q * dx / x if dx else 0.0) + (dq * math.log(x) if dq else 0.0))
        if isinstance(e, sympy.log):
            return math.log(parts[0][0]), parts[0][1] / parts[0][0]
        best = (max if isinstance(e, sympy.Max) else min)(x for x, _ in parts)
        slopes = [dx for x, dx in parts if x == best]
        return best, (min(slopes) + max(slopes)) / 2

    def latex(self) -> str:
        names = {s: LATEX[s.name] for s in self.expression.free_symbols if s.name in LATEX}
        return str(sympy.latex(self.expression, symbol_names=names))

    def without_logs(self) -> Rate:
        expression = rebuild(self.expression, lambda e: sympy.Integer(1) if isinstance(e, sympy.log) else None)
        return replace(self, text=str(expression), expression=expression)


def parse_rate(source: Any, parameters: Iterable[str] | None = None) -> Rate:
    """Text or a sympy expression → Rate.

    `parameters`: names of structural parameters, or their ranges ('p>=2'), with which powers of sums and coefficients are checked
    at once; without ranges they are checked when the rate is compared.
    """
    if isinstance(source, Rate):
        return source
    given = tuple(STRUCTURAL if parameters is None else parameters)
    return _parsed(source, given) if isinstance(source, str) else _parse(source, given)


@functools.lru_cache(maxsize=1024)
def _parsed(source: str, given: tuple[str, ...]) -> Rate:
    return _parse(source, given)


def _parse(source: Any, given: tuple[str, ...]) -> Rate:
    expression = read_expression(source)
    regime = parse_conditions([], given)
    structural = regime.structural | names_in_exponents(expression)
    used = structural & names_in(expression)
    rate = Rate(source if isinstance(source, str) else str(expression), expression, tuple(sorted(used)))
    missing = used - set(regime.names)
    if missing and any(not re.fullmatch(r"\w+", text) for text in given):
        regime.needs(missing)
    if missing:  # only the form can be checked: any range of positive numbers will do
        regime = parse_conditions([], [*given, *(f"{name}>=10" for name in sorted(missing))])
    checked = replace(regime, structural=frozenset(structural))
    Reader(checked, lambda _: True, loosely=bool(missing)).read(expression)
    return rate
