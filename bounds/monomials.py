"""Expressions as lattice expressions of monomials: maxima and minima, up to constants.

Everything built from positive symbols by +, ·, /, powers, Min and Max equals, up to constants, a maximum or minimum of monomials:
(a + b)^q ≍ max(a^q, b^q) for q ≥ 0 and ≍ min(a^q, b^q) for q ≤ 0.  A logarithm is a symbol of its own: log(n·d/δ) is
log n + log d + log(1/δ) where each factor is at least one, else one symbol log(n·ε).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import sympy
from sympy.polys.fields import FracField

from tailproof.bounds.expressions import Expression, names_in, read_expression
from tailproof.bounds.rational import Exponent, exponent_expression, to_element
from tailproof.bounds.regimes import CONVENTIONS, Regime
from tailproof.refimpl.validation import InputError

Monomial = dict[str, Exponent]  # symbol -> exponent, no zero exponents


MOST_CLAUSES = 4000


@dataclass(frozen=True)
class Node:
    """A monomial, or the maximum or minimum of nodes."""

    kind: Literal["monomial", "max", "min"]
    parts: tuple[Node, ...] = ()
    exponents: tuple[tuple[str, Exponent], ...] = ()


def _monomial_node(exponents: Mapping[str, Exponent]) -> Node:
    return Node("monomial", (), tuple(sorted((s, e) for s, e in exponents.items() if e)))


def _join(kind: Literal["max", "min"], parts: Iterable[Node]) -> Node:
    flat = [q for p in parts for q in (p.parts if p.kind == kind else (p,))]
    unique = tuple(dict.fromkeys(flat))
    return unique[0] if len(unique) == 1 else Node(kind, unique)


def _times(left: Node, right: Node) -> Node:
    if left.kind == right.kind == "monomial":
        total = dict(left.exponents)
        for symbol, e in right.exponents:
            total[symbol] = total[symbol] + e if symbol in total else e
        return _monomial_node(total)
    if left.kind == "monomial":
        left, right = right, left
    assert left.kind != "monomial"
    if len(left.parts) * max(1, len(right.parts)) > MOST_CLAUSES:
        raise InputError(f"the rate has more than {MOST_CLAUSES} terms when multiplied out")
    return _join(left.kind, (_times(part, right) for part in left.parts))


def _raise(node: Node, q: Exponent, sign: int) -> Node:
    if node.kind == "monomial":
        return _monomial_node({s: q if e == 1 else e * q for s, e in node.exponents})
    kind = node.kind if sign >= 0 else ("min" if node.kind == "max" else "max")
    return _join(kind, (_raise(part, q, sign) for part in node.parts))


def clauses(node: Node, outer: Literal["max", "min"]) -> list[list[Monomial]]:
    """The node as a maximum of minima (outer = 'max') or a minimum of maxima (outer = 'min')."""

    def sets(node: Node) -> list[frozenset[Node]]:
        if node.kind == "monomial":
            return [frozenset([node])]
        parts = [sets(part) for part in node.parts]
        if node.kind == outer:
            return _minimal([clause for part in parts for clause in part])
        total: list[frozenset[Node]] = [frozenset()]
        for part in parts:
            if len(total) * len(part) > MOST_CLAUSES:
                raise InputError(
                    f"the rate has more than {MOST_CLAUSES} clauses when its minima and maxima are multiplied out"
                )
            total = _minimal([clause | other for clause in total for other in part])
        return total

    def order(node: Node) -> str:
        return str(node.exponents)

    return [[dict(leaf.exponents) for leaf in sorted(clause, key=order)] for clause in sets(node)]


def _minimal(found: list[frozenset[Node]]) -> list[frozenset[Node]]:
    """Without the clauses that contain another one: a minimum over fewer terms is larger, a maximum over fewer smaller."""
    unique = list(dict.fromkeys(found))
    if all(len(clause) == 1 for clause in unique):
        return unique
    return [clause for clause in unique if not any(other < clause for other in unique)]


@dataclass(frozen=True)
class Log:
    symbol: str
    of: Node  # the monomial it is the logarithm of
    assumed: bool  # whether "of ≥ 1" is part of the convention


@dataclass
class Reader:
    """Reads expressions as nodes over one regime; collects the logs met, and what the size of constants rests on."""

    regime: Regime
    at_least_one: Callable[[Monomial], bool]
    keep_logs: bool = True
    loosely: bool = False  # take every undecided sign as positive: only the form is checked
    numbers: FracField = field(init=False)
    logs: dict[str, Log] = field(default_factory=dict)
    constants: list[Exponent] = field(default_factory=list)  # a uniform constant needs these to be bounded

    def __post_init__(self) -> None:
        self.numbers = self.regime.field()

    def sign(self, value: Exponent) -> int | None:
        found = self.regime.sign(value)
        return 1 if found is None and self.loosely else found

    def exponent(self, expression: Expression) -> Exponent:
        if expression.is_Rational:
            return self.numbers(sympy.QQ(expression.p, expression.q))
        self.regime.needs(names_in(expression))
        try:
            return to_element(expression, self.numbers)
        except (ValueError, TypeError, ZeroDivisionError):
            raise InputError(f"exponent {expression}: must be a rational function of structural parameters") from None

    def read(self, expression: Expression) -> Node:
        names = names_in(expression)
        if names <= self.regime.structural:
            self._constant(expression)
            return _monomial_node({})
        if expression.is_Symbol:
            return _monomial_node({expression.name: self.numbers.one})
        if expression.is_Mul:
            return self._product(expression)
        if expression.is_Add:
            return _join("max", [self.read(term) for term in expression.args])
        if expression.is_Pow:
            return self._power(expression)
        if isinstance(expression, sympy.Max | sympy.Min):
            return _join("max" if isinstance(expression, sympy.Max) else "min", [self.read(a) for a in expression.args])
        if isinstance(expression, sympy.log):
            return self._log(expression.args[0]) if self.keep_logs else _monomial_node({})
        if isinstance(expression, sympy.Abs):  # of a logarithm: sympy does not know that it is positive
            return self.read(expression.args[0])
        raise InputError(f"{expression}: is not a combination of monomials")

    def _constant(self, expression: Expression) -> None:
        """A coefficient: a positive number, or a function of structural parameters that is positive on their range."""
        if expression.is_number:
            if not (expression.is_real and expression > 0):
                raise InputError(f"coefficient {expression}: must be positive")
            return
        self.regime.needs(names_in(expression))
        if expression.is_Pow and expression.base.is_number and expression.base > 0:
            self.constants.append(self.exponent(expression.exp))
            return
        if (expression.is_Mul or expression.is_Pow) and not expression.is_rational_function():
            for factor in expression.args if expression.is_Mul else (expression.base,):
                self._constant(factor)
            if expression.is_Pow:
                self.constants.append(self.exponent(expression.exp))
            return
        value = self.exponent(expression)
        if self.sign(value) != 1:
            raise InputError(f"coefficient {expression}: is not shown to be positive on the range of its parameters")
        self.constants += [value, 1 / value]

    def _product(self, expression: Expression) -> Node:
        factors = list(expression.args)
        if factors[0].is_number and factors[0] < 0:
            flipped = next((f for f in factors if isinstance(f, sympy.log)), None)
            if flipped is None:
                raise InputError(f"{expression}: a negative coefficient; a rate is a sum of positive terms")
            factors = [-factors[0], *(sympy.log(1 / f.args[0], evaluate=False) if f is flipped else f for f in factors[1:])]
        total = _monomial_node({})
        for factor in factors:
            total = _times(total, self.read(factor))
        return total

    def _power(self, expression: Expression) -> Node:
        strangers = names_in(expression.exp) - self.regime.structural
        if strangers:
            names = ", ".join(sorted(strangers))
            raise InputError(
                f"{expression}: {names} stands in an exponent, so it is a structural parameter and needs a range"
            )
        before = len(self.constants)
        base, q = self.read(expression.base), self.exponent(expression.exp)
        sign = 0 if base.kind == "monomial" else self.sign(q)
        if sign is None:
            raise InputError(
                f"{expression}: the sign of the exponent {expression.exp} is not the same on the whole range; split the range"
            )
        plain = expression.base.is_Symbol or isinstance(expression.base, sympy.log)
        if not plain and not expression.exp.is_number and (not self._monic(expression.base) or len(self.constants) > before):
            self.constants.append(q)
        return _raise(base, q, sign)

    def _monic(self, expression: Expression) -> bool:
        """Whether it is a monomial with coefficient one, exactly."""
        if expression.is_Symbol or isinstance(expression, sympy.log):
            return True
        if expression.is_Pow:
            return self._monic(expression.base)
        return expression.is_Mul and all(self._monic(factor) for factor in expression.args)

    def _log(self, argument: Expression) -> Node:
        inner = self.read(argument)

        def of(node: Node, assumed: bool) -> Node:
            if node.kind != "monomial":
                parts = [of(part, False) for part in node.parts if part.exponents or part.parts]
                return _join(node.kind, parts)
            return self._log_of_monomial(dict(node.exponents), assumed)

        return of(inner, True)

    def _log_of_monomial(self, argument: Monomial, assumed: bool) -> Node:
        if not argument:
            return _monomial_node({})
        factors: list[Monomial] = []
        for symbol, e in argument.items():
            sign = self.sign(e)
            if sign is None:
                raise InputError(
                    f"log of {show_monomial(argument)}: the sign of the exponent of {symbol} is not the same on the whole range"
                )
            factors.append({symbol: self.numbers.one * sign})
        alone = len(factors) == 1
        if alone or all(self._at_least_one(factor) for factor in factors):
            return _join("max", [self._log_symbol(factor, assumed if alone else False) for factor in factors])
        first = next(iter(sorted(argument.items())))[1]
        scale = self.sign(first)
        return self._log_symbol({s: e / (first * scale) for s, e in argument.items()}, assumed)

    def _at_least_one(self, factor: Monomial) -> bool:
        """Whether a symbol or its reciprocal is: every logarithm is, by convention."""
        return any(s in self.logs and e == 1 for s, e in factor.items()) or self.at_least_one(factor)

    def _log_symbol(self, argument: Monomial, assumed: bool) -> Node:
        text = show_monomial(argument)
        for symbol, e in argument.items():
            below = CONVENTIONS.get(symbol, "").startswith(f"{symbol}<=")
            if len(argument) == 1 and symbol in CONVENTIONS and (e == -1) != below:
                raise InputError(
                    f"log({text}): is negative, since {CONVENTIONS[symbol]}; write log({'1/' if below else ''}{symbol})"
                )
        symbol = f"log({text})"
        known = self.logs.get(symbol)
        self.logs[symbol] = Log(symbol, _monomial_node(argument), assumed or (known is not None and known.assumed))
        return _monomial_node({symbol: self.numbers.one})


def monomial_expression(monomial: Mapping[str, Exponent]) -> Expression:
    """As a sympy expression; a log symbol becomes a logarithm again."""
    total = sympy.Integer(1)
    for symbol, e in monomial.items():
        total *= read_expression(symbol) ** exponent_expression(e)
    return total


def show_monomial(monomial: Mapping[str, Exponent]) -> str:
    return str(monomial_expression(monomial)).replace(" ", "")


def negated(monomial: Mapping[str, Exponent]) -> Monomial:
    return {s: -e for s, e in monomial.items()}


def quotient(above: Mapping[str, Exponent], below: Mapping[str, Exponent]) -> Monomial:
    total = dict(above)
    for s, e in below.items():
        total[s] = total[s] - e if s in total else -e
    return {s: e for s, e in total.items() if e}
