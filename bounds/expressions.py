"""Text as sympy expressions in positive symbols: numbers, symbols, + - * / **, sqrt, log, Min and Max, nothing else.

The text is read by Python's own parser and built node by node, never evaluated.  Minima and maxima stay as they are written.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from tailproof.refimpl.validation import InputError

Expression = Any  # a sympy expression


def positive_symbol(name: str) -> Expression:
    return sympy.Symbol(name, positive=True)


def extremum(kind: Any) -> Callable[..., Expression]:
    """Min and Max as written: sympy would compare the arguments, which can take minutes."""
    return lambda *arguments: arguments[0] if len(arguments) == 1 else kind(*arguments, evaluate=False)


FUNCTIONS: dict[str, Callable[..., Expression]] = {
    "sqrt": sympy.sqrt,
    "log": sympy.log,
    "ln": sympy.log,
    "Min": extremum(sympy.Min),
    "Max": extremum(sympy.Max),
    "min": extremum(sympy.Min),
    "max": extremum(sympy.Max),
}


def _parse(text: str, what: str) -> ast.expr:
    plain = text.replace("≤", "<=").replace("≥", ">=").strip()
    plain = re.sub(r"(?<![<>=!])=(?!=)", "==", plain)
    if re.search(r"\blambda\b", plain):
        raise InputError(f"{what} {text!r}: 'lambda' cannot be a name; write lam")
    if "^" in plain:
        raise InputError(f"{what} {text!r}: write powers with **, not ^")
    try:
        return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError):
        raise InputError(f"{what} {text!r}: cannot be read; an example: sqrt(d/n) + (d/(eps*n))**(1-1/p)") from None


def _build(node: ast.expr, what: str) -> Expression:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return sympy.Rational(str(node.value))
    if isinstance(node, ast.Name):
        if node.id in FUNCTIONS:
            raise InputError(f"{what}: {node.id} is a function and needs an argument")
        return positive_symbol(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _build(node.operand, what)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
        left, right = _build(node.left, what), _build(node.right, what)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                if right == 0:
                    raise InputError(f"{what}: division by zero")
                return left / right
            case _:
                if left == 0:
                    raise InputError(f"{what}: a power of zero")
                return left**right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id not in FUNCTIONS:
            raise InputError(f"{what}: {node.func.id}(…) is not known; allowed are sqrt, log, Min, Max")
        arguments = [_build(argument, what) for argument in node.args]
        if not arguments or (len(arguments) > 1 and node.func.id in ("sqrt", "log", "ln")):
            raise InputError(f"{what}: {node.func.id} takes {'one argument' if arguments else 'an argument'}")
        return FUNCTIONS[node.func.id](*arguments)
    raise InputError(
        f"{what}: {ast.unparse(node)!r} is not part of a rate; allowed are numbers, symbols, + * / **, sqrt, log, Min, Max"
    )


@functools.lru_cache(maxsize=1024)
def _read_text(source: str, what: str) -> Expression:
    return _build(_parse(source, what), f"{what} {source!r}")


def read_expression(source: Any, what: str = "rate") -> Expression:
    """Text, a number or a sympy expression → an expression in positive symbols."""
    if isinstance(source, str):
        return _read_text(source, what)
    if isinstance(source, int | Fraction):
        return sympy.Rational(source)
    if isinstance(source, sympy.Expr):
        return rebuild(source, lambda e: positive_symbol(e.name) if e.is_Symbol else None)
    raise InputError(f"{what} = {source!r}: must be text or a sympy expression")


def rebuild(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with every subexpression for which `change` has an answer replaced by it."""
    changed = change(expression)
    if changed is not None:
        return changed
    if not expression.args:
        return expression
    arguments = [rebuild(a, change) for a in expression.args]
    if isinstance(expression, sympy.Max | sympy.Min):
        return extremum(expression.func)(*arguments)
    return expression.func(*arguments)


def names_in(expression: Expression) -> set[str]:
    return {s.name for s in expression.free_symbols}


def names_in_exponents(expression: Expression) -> set[str]:
    return {name for power in expression.atoms(sympy.Pow) for name in names_in(power.exp)}


def read_comparisons(text: str) -> list[tuple[Expression, str, Expression]]:
    """A condition such as '0<v<=1' as its comparisons: left side, sign, right side."""
    node = _parse(text, "condition")
    if not isinstance(node, ast.Compare):
        raise InputError(f"condition {text!r}: must compare two sides with <=, <, >=, > or ==")
    sides = [_build(side, f"condition {text!r}") for side in (node.left, *node.comparators)]
    signs = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}
    operators = [signs.get(type(op), "") for op in node.ops]
    if "" in operators:
        raise InputError(f"condition {text!r}: must compare two sides with <=, <, >=, > or ==")
    return list(zip(sides, operators, sides[1:], strict=False))
