"""Paths inside a regime along which one rate outgrows another: exp(T·r₀ + log T·r₁ + …), at one value of the parameters.

Without logarithms one ray of the regime's recession cone will do.  A logarithm grows one level below its argument, so that with
logarithms each level is a linear program, for each choice of the arguments that grow on it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction

from tailproof.bounds.claim import Scaled
from tailproof.bounds.problem import Problem
from tailproof.bounds.rational import Exponent, Point, evaluate
from tailproof.bounds.simplex import Infeasible, Solution, simplex, solve_inequalities
from tailproof.bounds.undecided import Undecided

Vector = dict[str, Fraction]  # exponents at one value of the parameters
Level = dict[str, Fraction]  # a direction: symbol -> its exponent on this level
MOST_LOGS = 6


def _vector_at(vector: Mapping[str, Exponent], point: Point) -> Vector:
    return {s: evaluate(e, point) for s, e in vector.items()}


def inside(problem: Problem, point: Point, *, widened: bool = False, bits: int = 3) -> Level | None:
    """Logarithms to base 2 of a point of the regime; `widened` relaxes the constants that are not exact."""
    symbols = problem.symbols
    rows, bounds = [], []
    for row in problem.rows:
        vector = _vector_at(row.exponents, point)
        rows.append([vector.get(s, Fraction(0)) for s in symbols])
        low, high = _log2(row.constant, bits)
        bounds.append(low if not widened else (high if row.exact else high + 64))
    found = solve_inequalities(rows, bounds) if rows else [Fraction(0)] * len(symbols)
    return None if found is None else {s: x for s, x in zip(symbols, found, strict=True) if x}


def _log2(value: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds on the logarithm to base 2, equal for powers of two; coarse, since the verifier raises numbers to the denominators."""
    whole = value.numerator.bit_length() - value.denominator.bit_length()
    for guess in (whole - 1, whole, whole + 1):
        if Fraction(2) ** guess == value:
            return Fraction(guess), Fraction(guess)
    scaled = 2**bits * (math.log2(value.numerator) - math.log2(value.denominator))
    return Fraction(math.floor(scaled - 1e-6), 2**bits), Fraction(math.ceil(scaled + 1e-6), 2**bits)


def find_path(scaled: Scaled, pair: tuple[int, int], point: Point) -> list[Level]:
    """Levels of a path along which min(a)/max(b) → ∞."""
    a, b = ([_vector_at(m, point) for m in side[i]] for side, i in zip((scaled.left, scaled.right), pair, strict=True))
    quotients = [{s: x.get(s, Fraction(0)) - y.get(s, Fraction(0)) for s in {*x, *y}} for x in a for y in b]
    rows = [_vector_at(m, point) for m in scaled.rows[: len(scaled.problem.rows)]]
    logs = {symbol: _vector_at(of, point) for symbol, of in scaled.logs}
    if scaled.problem.loose:
        raise Undecided(f"{scaled.problem.loose[0].symbol}: its argument is not known to be at least one")
    if len(logs) > MOST_LOGS:
        raise Undecided(f"more than {MOST_LOGS} logarithms")
    base = [s for s in scaled.symbols if s not in logs]
    if not logs:
        return [_ray(base, quotients, rows)]
    found = _levels(base, quotients, rows, logs, frozenset())
    if found is None:
        raise Undecided("no multipliers were found, and no path either")
    return found


def _ray(base: list[str], quotients: list[Vector], rows: list[Vector]) -> Level:
    """The shortest ray (in the sum of absolute values) with quotients ≥ 1 and rows ≤ 0."""
    lines = [*quotients, *({s: -e for s, e in row.items()} for row in rows)]
    columns = [[sign * line.get(s, Fraction(0)) for line in lines] for s in base for sign in (1, -1)]
    columns += [[Fraction(-(i == j)) for i in range(len(lines))] for j in range(len(lines))]
    target = [Fraction(i < len(quotients)) for i in range(len(lines))]
    found = simplex(columns, target, [Fraction(j < 2 * len(base)) for j in range(len(columns))])
    if isinstance(found, Infeasible):
        raise Undecided("no multipliers were found, and no ray either")
    return _whole(_direction(base, found))


def _direction(base: list[str], found: Solution) -> Level:
    """y = y⁺ − y⁻, whose columns come first."""
    y = {s: found.values[2 * i] - found.values[2 * i + 1] for i, s in enumerate(base)}
    return {s: x for s, x in y.items() if x}


def _whole(level: Level) -> Level:
    """The same direction in whole numbers without common divisor."""
    scale = math.lcm(*(x.denominator for x in level.values()))
    divisor = math.gcd(*(int(x * scale) for x in level.values())) or 1
    return {s: x * scale / divisor for s, x in level.items()}


def _levels(
    base: list[str], quotients: list[Vector], rows: list[Vector], logs: dict[str, Vector], grown: frozenset[str]
) -> list[Level] | None:
    """The levels from here on: quotients still tied must become positive, rows still tied must not, `grown` logs grow now."""
    if not quotients and not grown:
        return []
    fixed = dict.fromkeys(sorted(grown), Fraction(1))  # a set has no order of its own
    for size in range(len(logs) + 1):
        for active in map(frozenset, itertools.combinations(sorted(logs), size)):
            y = _level(base, quotients, rows, logs, active, fixed)
            if y is None:
                continue
            level = y | fixed

            def still(vectors: list[Vector], level: Level = level) -> list[Vector]:
                return [v for v in vectors if not _dot(v, level)]

            if len(still(quotients)) == len(quotients) > 0 and not active and not grown:
                continue
            rest = _levels(base, still(quotients), still(rows), {s: v for s, v in logs.items() if s not in active}, active)
            if rest is not None:
                return [level, *rest]
    return None


def _dot(vector: Mapping[str, Fraction], level: Mapping[str, Fraction]) -> Fraction:
    return sum((e * level[s] for s, e in vector.items() if s in level), Fraction(0))


def _level(
    base: list[str],
    quotients: list[Vector],
    rows: list[Vector],
    logs: dict[str, Vector],
    active: frozenset[str],
    fixed: Level,
) -> Level | None:
    """A direction on one level: quotients ≥ 0, rows ≤ 0, exactly the active logs' arguments grow; strict where it can be."""
    weak = [
        *quotients,
        *({s: -e for s, e in row.items()} for row in rows),
    ]  # vector·y ≥ σ, with σ ∈ [0, 1] as large as can be
    grow = [logs[symbol] for symbol in sorted(active)]  # vector·y ≥ 1
    still = [vector for symbol, vector in sorted(logs.items()) if symbol not in active]  # vector·y = 0
    lines, count = [*weak, *grow, *still], len(weak)
    least = [Fraction(0)] * count + [Fraction(1)] * len(grow) + [Fraction(0)] * len(still)
    target = [low - _dot(v, fixed) for v, low in zip(lines, least, strict=True)] + [Fraction(1)] * count

    def unit(*entries: tuple[int, int]) -> list[Fraction]:
        return [Fraction(dict(entries).get(i, 0)) for i in range(len(target))]

    columns = []  # y⁺ and y⁻, then σ, the surplus of each inequality, and 1 − σ
    for s in base:
        column = [v.get(s, Fraction(0)) for v in lines] + [Fraction(0)] * count
        columns += [column, [-x for x in column]]
    columns += [unit((i, -1), (len(lines) + i, 1)) for i in range(count)]
    columns += [unit((i, -1)) for i in range(count + len(grow))]
    columns += [unit((len(lines) + i, 1)) for i in range(count)]
    wanted = range(2 * len(base), 2 * len(base) + count)
    found = simplex(columns, target, [Fraction(-(j in wanted)) for j in range(len(columns))])
    return None if isinstance(found, Infeasible) else _direction(base, found)
