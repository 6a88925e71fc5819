"""Regimes: conditions between rates, and ranges of structural parameters, read from text such as 'n>=d' and 'p>=2'.

Conditions in structural parameters alone must be linear; they are solved into bounds of each parameter by the ones before it, so
that the range is a union of cells.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import sympy
from sympy.polys.fields import FracField

from tailproof.bounds import certificates
from tailproof.bounds.expressions import Expression, names_in, names_in_exponents, positive_symbol, read_comparisons
from tailproof.bounds.rational import Exponent, to_element, to_poly, to_quotient
from tailproof.refimpl.validation import InputError

STRUCTURAL = ("k", "p", "v", "theta", "theta_bar")
CONVENTIONS = {"n": "n>=1", "d": "d>=1", "delta": "delta<=1/2", "xi": "xi<=1/2"}


@dataclass(frozen=True)
class Bound:
    value: Expression  # affine in parameters that come earlier
    closed: bool


@dataclass(frozen=True)
class Parameter:
    """A structural parameter between the largest of its lower and the least of its upper bounds."""

    name: str
    lower: tuple[Bound, ...]
    upper: tuple[Bound, ...]


@dataclass(frozen=True)
class Condition:
    """small ≤ large; equalities are two conditions, read up to constants."""

    text: str
    small: Expression
    large: Expression
    exact: bool = True  # whether its constant is kept


@dataclass(frozen=True)
class Regime:
    """Conditions between monomials, and the ranges of the structural parameters."""

    conditions: tuple[Condition, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    structural: frozenset[str] = frozenset(STRUCTURAL)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    def needs(self, names: Iterable[str]) -> None:
        """Every one of these parameters must have a range."""
        for name in sorted(set(names) - set(self.names)):
            raise InputError(
                f"{name} stands in an exponent, or is a structural parameter, and has no range: add a condition such as {name}>=2"
            )

    def cells(self) -> Iterator[list[certificates.Quotient]]:
        """The coarsest cells whose union is the range (or more, where a parameter has several bounds on one side)."""
        yield from self._cells([])

    def _cells(self, places: list[certificates.Quotient]) -> Iterator[list[certificates.Quotient]]:
        depth, size = len(places), len(self.parameters)
        if depth == size:
            yield places
            return
        parameter = self.parameters[depth]
        ends = []
        for bounds in (parameter.lower, parameter.upper):
            ends.append((self._place(bounds[0].value, places), bounds[0].closed) if bounds else (None, False))
        (lower, lower_closed), (upper, upper_closed) = ends
        if lower_closed and lower is not None:
            yield from self._cells([*places, lower])
            if lower == upper:
                return
        yield from self._cells([*places, certificates.open_cell(lower, upper, depth, size)])
        if upper_closed and upper is not None:
            yield from self._cells([*places, upper])

    def _place(self, value: Expression, places: list[certificates.Quotient]) -> certificates.Quotient:
        quotient = to_quotient(to_element(value, self.field()))
        return certificates.substitute_quotient(quotient, places, len(self.parameters))

    def sign(self, value: Exponent) -> int | None:
        """1 if value ≥ 0 is proved on the whole range, −1 if value ≤ 0, 0 if it is zero, None if neither is found."""
        if not value:
            return 0
        product = to_poly(value.numer * value.denom)
        if all(not any(key) for key in product):
            return 1 if next(iter(product.values())) > 0 else -1
        size = len(self.parameters)
        on_cells = [certificates.substitute(product, places, size) for places in self.cells()]
        if all(certificates.nonnegative(poly) for poly in on_cells):
            return 1
        return -1 if all(certificates.nonnegative(certificates.negate(poly)) for poly in on_cells) else None

    def bounded(self, value: Exponent) -> bool:
        """Whether |value| ≤ some number is proved on the range."""
        tries = (value.field.one * 4**power for power in range(8))
        return any(self.sign(most - value) in (0, 1) and self.sign(most + value) in (0, 1) for most in tries)

    def field(self) -> FracField:
        return FracField(self.names or ("_",), sympy.QQ)


def _affine(text: str, expression: Expression, names: Iterable[str]) -> dict[str, Expression]:
    """Coefficients of an affine function of the parameters; the constant under ''."""
    symbols = {name: positive_symbol(name) for name in sorted(names)}
    polynomial = sympy.Poly(expression, *symbols.values()) if expression.is_polynomial(*symbols.values()) else None
    if polynomial is None or polynomial.total_degree() > 1 or not all(c.is_Rational for c in polynomial.coeffs()):
        raise InputError(f"condition {text!r}: a range of structural parameters must be linear with rational coefficients")
    return {name: polynomial.coeff_monomial(s) for name, s in symbols.items()} | {"": polynomial.coeff_monomial(1)}


def _ranges(found: list[tuple[str, Expression, bool]]) -> tuple[Parameter, ...]:
    """Bounds from linear conditions expression ≥ 0 (or > 0): each goes to the last of its parameters in a fixed order."""
    affine = [(text, _affine(text, e, names_in(e)), strict) for text, e, strict in found]
    alone = [next(name for name in c if name) for _, c, _ in affine if len(c) == 2]
    order = list(dict.fromkeys([*alone, *(name for _, c, _ in affine for name in c if name)]))
    lower: dict[str, list[Bound]] = {name: [] for name in order}
    upper: dict[str, list[Bound]] = {name: [] for name in order}

    def place(text: str, coefficients: Mapping[str, Expression], strict: bool) -> None:
        used = [name for name in order if coefficients.get(name)]
        if not used:
            if not (coefficients[""] > 0 or (coefficients[""] == 0 and not strict)):
                raise InputError(f"condition {text!r}: is never true")
            return
        last = used[-1]
        rest = sum((coefficients[n] * positive_symbol(n) for n in used[:-1]), coefficients[""])
        bound = Bound(sympy.expand(-rest / coefficients[last]), not strict)
        (lower if coefficients[last] > 0 else upper)[last].append(bound)

    for text, coefficients, strict in affine:
        place(text, coefficients, strict)
    for name in reversed(order):  # what a parameter's bounds imply for the earlier ones: lower ≤ upper
        for low, high in itertools.product(tuple(lower[name]), tuple(upper[name])):
            gap = sympy.expand(high.value - low.value)
            if gap.free_symbols:
                place(f"{low.value}<={high.value}", _affine("", gap, names_in(gap)), not (low.closed and high.closed))
    return tuple(Parameter(n, _tightest(lower[n], 1), _tightest(upper[n], -1)) for n in order)


def _tightest(bounds: list[Bound], sign: int) -> tuple[Bound, ...]:
    """Of the bounds that are numbers only the tightest matters."""
    numbers = [b for b in bounds if b.value.is_Rational]
    best = max(numbers, key=lambda b: (sign * b.value, not b.closed), default=None)
    others = tuple(dict.fromkeys(b for b in bounds if not b.value.is_Rational))
    return ((best,) if best is not None else ()) + others


def parse_conditions(conditions: Iterable[str], parameters: Iterable[str] | None = None) -> Regime:
    """Conditions such as 'n>=d', 'eps<=1/sqrt(d)', '0<v<=1', 'theta>=theta_bar', 'n==d**2'.

    `parameters` names the structural parameters (or gives their ranges, 'p>=2'); k, p, v, theta, theta_bar if left out.
    Symbols in exponents are structural in any case.
    """
    if isinstance(conditions, str):
        raise InputError(f"conditions = {conditions!r}: must be a list of texts, not one text")
    given = tuple(STRUCTURAL if parameters is None else parameters)
    named = {text for text in given if re.fullmatch(r"\w+", text)}
    texts = [*conditions, *(text for text in given if text not in named)]
    compared = [(text, *comparison) for text in texts for comparison in read_comparisons(text)]
    for text in given:
        named |= (
            set() if text in named else {name for a, _, b in read_comparisons(text) for name in names_in(a) | names_in(b)}
        )
    structural = named | {name for _, a, _, b in compared for side in (a, b) for name in names_in_exponents(side)}
    found: list[tuple[str, Expression, bool]] = []
    others: list[Condition] = []
    for text, a, operator, b in compared:
        pairs = {"<=": [(a, b)], "<": [(a, b)], ">=": [(b, a)], ">": [(b, a)], "==": [(a, b), (b, a)]}[operator]
        names = names_in(a) | names_in(b)
        for small, large in pairs:
            if names <= structural and names:
                found.append((text, large - small, operator in "<>"))
            elif not names:
                if not bool(small <= large if operator not in "<>" else small < large):
                    raise InputError(f"condition {text!r}: is never true")
            else:
                others.append(Condition(text, small, large, operator != "=="))
    regime = Regime(tuple(others), _ranges(found), frozenset(structural))
    _check_ranges(regime)
    return regime


def _check_ranges(regime: Regime) -> None:
    """An empty range is an input error, as far as numbers show it."""
    for p in regime.parameters:
        low, high = (next((b for b in side if b.value.is_Rational), None) for side in (p.lower, p.upper))
        if low and high and (low.value > high.value or (low.value == high.value and not (low.closed and high.closed))):
            raise InputError(f"the range of {p.name} is empty: above {low.value} and below {high.value}")
