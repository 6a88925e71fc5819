"""Rates far out at random points, by plain arithmetic on logarithms: a second method beside `tailproof.bounds.compare`.

Symbols are exp(10⁶·x) with x at random, half of them whole, so that ties and vertices are met.  The quotient of two rates that
agree up to constants is then moderate, while a missing power, or the root of a logarithm, makes it huge.
"""

from __future__ import annotations

import functools
import re
import zlib
from typing import Any

import numpy as np
import sympy

from tailproof.bounds.expressions import names_in, read_expression
from tailproof.bounds.rates import Rate

STRUCTURAL = {
    "k": (2.0, 2.5, 5.0),
    "p": (1.0, 1.5, 2.0, 3.0, 8.0),
    "theta": (1.4, 2.0, 3.0, 6.0),
    "v": (0.1, 0.5, 1.0),
}
AT_LEAST_ONE = frozenset({"n", "d", "K", "T", "ell", "m", "s", "b", "B"})
AT_MOST_HALF = frozenset({"delta", "xi", "delta0", "q", "h", "rest"})
SCALE = 1e6
FLAT = 5.0  # above the logarithm of a constant, below that of the root of a logarithm, 6.9
Points = dict[str, Any]  # logarithms of the symbols, the structural parameters themselves; one entry for each point


@functools.cache
def read(text: str) -> Any:
    return read_expression(text)


@functools.cache
def compiled(e: Any) -> tuple[list[str], Any]:
    names = sorted(names_in(e))
    return names, sympy.lambdify([read_expression(name) for name in names], e, "numpy")


def plain(e: Any, at: Points) -> Any:
    """A function of the structural parameters."""
    if e.is_number:
        return float(e)
    names, function = compiled(e)
    return function(*(at[name] for name in names))


def log_of(e: Any, at: Points, *, logs: bool = True) -> Any:
    """The logarithm of an expression; a log means max(1, log), or 1 without `logs`."""
    if names_in(e) <= set(STRUCTURAL):
        return np.log(plain(e, at))
    if e.is_Symbol:
        return at[e.name]
    if e.is_Pow:
        return plain(e.exp, at) * log_of(e.base, at, logs=logs)
    parts = [log_of(a, at, logs=logs) + np.zeros_like(at["k"]) for a in e.args]
    if isinstance(e, sympy.log):
        return np.log(np.maximum(1.0, parts[0])) if logs else np.zeros_like(at["k"])
    if isinstance(e, sympy.Abs):
        return parts[0]
    if e.is_Mul:
        return sum(parts)
    joins = {sympy.Add: np.logaddexp, sympy.Min: np.minimum, sympy.Max: np.maximum}
    return joins[e.func].reduce(parts)


def inside(condition: str, at: Points) -> Any:
    small, large = re.split("<=|<", condition) if "<" in condition else reversed(re.split(">=|>", condition))
    sides = [read(side) for side in (small, large)]
    structural = names_in(sides[0]) | names_in(sides[1]) <= set(STRUCTURAL)
    low, high = (plain(side, at) if structural else log_of(side, at) for side in sides)
    return low <= high


def points(names: set[str], where: tuple[str, ...], seed: str, number: int) -> Points:
    """Random points inside the conditions."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    sides = [side for condition in where for side in re.split("<=|>=|<|>", condition)]
    names = names.union(*(names_in(read(side)) for side in sides)) - set(STRUCTURAL)
    at: Points = {name: rng.choice(values, number) for name, values in STRUCTURAL.items()}
    for name in sorted(names | {"n"}):
        x = np.where(rng.random(number) < 0.5, rng.uniform(-2, 2, number), rng.integers(-2, 3, number))
        x = np.abs(x) if name in AT_LEAST_ONE else -np.abs(x) if name in AT_MOST_HALF else x
        at[name] = SCALE * x - (name in AT_MOST_HALF)
    at["n"] += SCALE
    kept = np.ones(number, dtype=bool)
    for condition in where:
        kept &= inside(condition, at)
    return {name: values[kept] for name, values in at.items()}


def gaps(left: Rate, right: Rate, where: tuple[str, ...], seed: str, *, logs: bool = True) -> Any:
    """log(left/right) at random points."""
    names = names_in(left.expression) | names_in(right.expression)
    number = 1000
    at = points(names, where, seed, number)
    while at["k"].size < 20 and number < 10**6:
        number *= 8
        at = points(names, where, seed, number)
    return log_of(left.expression, at, logs=logs) - log_of(right.expression, at, logs=logs)
