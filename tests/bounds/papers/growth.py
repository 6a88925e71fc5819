"""Rates far out along random rays: every value is kept as its logarithm, so that symbols may be as large as exp(10⁶).

There log n, log d, … are a large t times random numbers; log(1/δ) and log(1/ξ) are either powers of t, beside log n, or powers of
n.  The quotient of two rates that agree up to constants is then moderate, while a missing power, or logarithm, makes it huge.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import sympy

from bounds.statements import Comparison, Statement

FUNCTIONS = frozenset({"sqrt", "log", "Min", "Max"})
AT_LEAST_ONE = frozenset({"n", "d", "K", "T", "ell", "m"})
AT_MOST_HALF = frozenset({"delta", "xi", "delta0"})
STILL = (
    5.0  # above the logarithm of a quotient when only constants are between two rates; below log log n, which is up to 14
)
SIDES = re.compile(r"<=|>=|<|>")
Array = Any  # of floats, one for each point


@cache
def tree(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def names(text: str) -> set[str]:
    """The symbols of a text that sympy can read too."""
    found = {node.id for node in ast.walk(tree(text)) if isinstance(node, ast.Name)} - FUNCTIONS
    expression = sympy.sympify(text, locals={name: sympy.Symbol(name, positive=True) for name in found})
    assert {symbol.name for symbol in expression.free_symbols} <= found
    return found


def number(node: ast.expr, p: Array) -> Array:
    """An exponent: arithmetic on numbers and p."""
    match node:
        case ast.Constant(value=value):
            return float(value)
        case ast.Name(id="p"):
            return p
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -number(operand, p)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = number(left, p), number(right, p)
            return {ast.Add: lambda: a + b, ast.Sub: lambda: a - b, ast.Mult: lambda: a * b, ast.Div: lambda: a / b}[
                type(op)
            ]()
    raise AssertionError(ast.unparse(node))


def logarithm(node: ast.expr, point: Mapping[str, Array]) -> Array:
    """log of a rate; `point` has the logarithms of the symbols, and p itself.  A log means max(1, log)."""
    match node:
        case ast.Constant(value=value):
            return math.log(float(value))
        case ast.Name(id=name):
            return np.log(point[name]) if name == "p" else point[name]
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return number(right, point["p"]) * logarithm(left, point)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return logarithm(left, point) + logarithm(right, point)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return logarithm(left, point) - logarithm(right, point)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return np.logaddexp(logarithm(left, point), logarithm(right, point))
        case ast.Call(func=ast.Name(id="sqrt"), args=[argument]):
            return 0.5 * logarithm(argument, point)
        case ast.Call(func=ast.Name(id="log"), args=[argument]):
            return np.log(np.maximum(1.0, logarithm(argument, point)))
        case ast.Call(func=ast.Name(id="Min" | "Max" as choice), args=arguments):
            return (np.minimum if choice == "Min" else np.maximum).reduce([logarithm(a, point) for a in arguments])
    raise AssertionError(ast.unparse(node))


def inside(condition: str, point: Mapping[str, Array]) -> Array:
    left, right = SIDES.split(condition)
    difference = logarithm(tree(right), point) - logarithm(tree(left), point)
    strict = 0.0 if "=" in condition else 1e-6
    return difference >= strict if "<" in condition else difference <= -strict


def points(symbols: set[str], where: tuple[str, ...], seed: int, count: int = 40_000) -> dict[str, Array]:
    """Logarithms of the symbols, and p, at random points inside the conditions."""
    rng = np.random.default_rng(seed)
    needed = symbols | {name for condition in where for side in SIDES.split(condition) for name in names(side)}
    orders = np.array([2.0, 2.5, 3.0, 4.0, 8.0])
    for condition in (c for c in where if re.search(r"\bp\b", c) and not re.search(r"[a-oq-z]", c)):
        orders = orders[inside(condition, {"p": orders})]
    fine = rng.random(count) < 0.5
    t = np.where(fine, 1e6, 600.0)
    point: dict[str, Array] = {"p": rng.choice(orders, count)}
    for name in sorted(needed - {"p"}):
        point[name] = t * rng.uniform(0 if name in AT_LEAST_ONE else -2, 2, count) * rng.integers(0, 2, count)
        if name in AT_MOST_HALF:  # log(1/δ) is t^{2a}, beside log n = t, or e^{at}, beside n
            share = rng.uniform(0, 1, count) * rng.integers(0, 2, count)
            point[name] = -np.exp(np.where(fine, 2 * np.log(t), t) * share)
    kept = np.ones(count, dtype=bool)
    for condition in where:
        kept &= inside(condition, point)
    return {name: values[kept] for name, values in point.items()}


def extremes(
    left: str, right: str, where: tuple[str, ...], seed: int, *, void_above_one: bool = False
) -> tuple[float, float, int]:
    """The largest and the smallest log(left/right) at the points, and how many points there were."""
    point = points(names(left) | names(right), where, seed)
    above, below = (logarithm(tree(text), point) + np.zeros_like(point["p"]) for text in (left, right))
    kept = below <= 0 if void_above_one else np.ones_like(below, dtype=bool)
    quotient = (above - below)[kept]
    return float(quotient.max()), float(quotient.min()), quotient.size


def substituted(statement: Statement, base: str) -> str:
    """The base rate with the statement's choices put in, until none of their letters is left."""
    text = base
    for _ in range(10):
        found = names(text) & set(statement.choices)
        if not found:
            return text
        for name in sorted(found):
            text = re.sub(rf"\b{name}\b(?!\()", f"({statement.choices[name]})", text)
    raise AssertionError(f"{statement.id}: the choices never end")


def base_of(statement: Statement, statements: Mapping[str, Statement]) -> str:
    rates = [statements[name].derived or statements[name].printed for name in statement.follows_from]
    return next(rate for rate in rates if rate is not None)


def verdict(comparison: Comparison, seed: int) -> bool:
    """Whether the relation shows at the points."""
    up, down, count = extremes(comparison.left, comparison.right, comparison.where, seed)
    assert count >= 20, f"{comparison.id}: only {count} points"
    if comparison.relation == "==":
        return up <= STILL and down >= -STILL
    return (up <= STILL) == (comparison.relation == "<=")
