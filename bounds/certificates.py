"""Verify a comparison of rates: exact arithmetic on fractions and on polynomials with fractional coefficients, nothing else.

A claim says: on the regime "every constraint monomial is at most a constant", the rate `left` is at most a constant times the
rate `right`, for every value of the structural parameters in their ranges.  `left` is a maximum of minima of monomials, `right`
a minimum of maxima, so the claim is a list of claims min(a₁, a₂, …) ≲ max(b₁, b₂, …).  A monomial is its vector of exponents;
exponents are polynomials in the parameters, over one common positive denominator.

dominated   For each such pair there are u, w, μ ≥ 0 with Σu = Σw > 0 and Σ uᵢaᵢ = Σ wⱼbⱼ + Σ μₗcₗ.  Divided by Σu this is a
            weighted mean of the aᵢ on the left, of the bⱼ on the right, and monomials that the regime bounds: hence the claim.
            A logarithm ℓ = log(m) of a monomial m ≥ 1 is below every positive power of m: it may be used like a constraint
            with exponents ℓ^μ·m^(−τ), μ ≥ 0, provided that τ > 0.  If m ≲ M^c on the regime, then log m ≲ log M.
separated   At one value of the parameters, a path exp(T·r₀ + log T·r₁ + log log T·r₂ + …) inside the regime, along which
            min(a)/max(b) → ∞: the first level on which they differ decides.  ℓ = log(m) follows m one level lower.

Where a constraint is a list of alternatives, of which at least one holds, the claim is proved in each case, or refuted in one.

The signs are proved on cells (each parameter at a point or in an open interval, possibly between functions of the parameters
before it) which together cover the range.  A cell is the image of t > 0 under s = a + t, b − t or (a + bt)/(1 + t); a polynomial
is non-negative on it when in t, perhaps after multiplication by a power of 1 + Σt, it has no negative coefficient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

Poly = dict[tuple[int, ...], Fraction]  # exponents -> coefficient, no zero coefficients
Quotient = tuple[Poly, Poly]
Vector = Mapping[str, Poly]
LIFT = 12  # the highest power of 1 + Σt that is tried


class InvalidCertificate(Exception):
    """The document does not prove its claim; the message says which step fails."""


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InvalidCertificate(message)


# Polynomials.


def constant(value: Fraction | int, size: int) -> Poly:
    return {(0,) * size: Fraction(value)} if value else {}


def add(*terms: Poly) -> Poly:
    total: Poly = {}
    for term in terms:
        for exponents, coefficient in term.items():
            total[exponents] = total.get(exponents, Fraction(0)) + coefficient
    return {exponents: coefficient for exponents, coefficient in total.items() if coefficient}


def multiply(left: Poly, right: Poly) -> Poly:
    total: Poly = {}
    for (e, x), (f, y) in product(left.items(), right.items()):
        key = tuple(i + j for i, j in zip(e, f, strict=True))
        total[key] = total.get(key, Fraction(0)) + x * y
    return {exponents: coefficient for exponents, coefficient in total.items() if coefficient}


def negate(poly: Poly) -> Poly:
    return {exponents: -coefficient for exponents, coefficient in poly.items()}


def power(poly: Poly, exponent: int, size: int) -> Poly:
    total = constant(1, size)
    for _ in range(exponent):
        total = multiply(total, poly)
    return total


def substitute(poly: Poly, places: Sequence[Quotient], size: int) -> Poly:
    """The polynomial at s = numerator/denominator, times the powers of the denominators that clear it."""
    degrees = [max((e[i] for e in poly), default=0) for i in range(len(places))]
    total: Poly = {}
    for exponents, coefficient in poly.items():
        term = constant(coefficient, size)
        for (above, below), e, degree in zip(places, exponents, degrees, strict=False):
            term = multiply(multiply(term, power(above, e, size)), power(below, degree - e, size))
        total = add(total, term)
    return total


def substitute_quotient(quotient: Quotient, places: Sequence[Quotient], size: int) -> Quotient:
    above, below = (substitute(poly, places, size) for poly in quotient)
    for i, (_, scale) in enumerate(places):  # the two were cleared by different powers
        up, down = (max((e[i] for e in poly), default=0) for poly in quotient)
        above, below = multiply(above, power(scale, down, size)), multiply(below, power(scale, up, size))
    return above, below


def nonnegative(poly: Poly) -> bool:
    """Whether no coefficient is negative, perhaps after multiplication by a power of 1 + Σt: then poly ≥ 0 for t > 0."""
    size = len(next(iter(poly), ()))
    used = [i for i in range(size) if any(e[i] for e in poly)]
    units = [tuple(int(i == j) for j in range(size)) for i in used]
    simplex = {key: Fraction(1) for key in [(0,) * size, *units]}
    for _ in range(LIFT + 1):
        if all(coefficient >= 0 for coefficient in poly.values()):
            return True
        if not used:
            return False
        poly = multiply(poly, simplex)
    return False


def positive(poly: Poly) -> bool:
    """Whether poly > 0 for all t > 0: non-negative coefficients, not all zero."""
    return bool(poly) and nonnegative(poly)


# Reading.


def read_poly(text: str | Mapping[str, str], names: Sequence[str]) -> Poly:
    """ "3/2", or {"1": "-1", "p^2*v": "3/2"}."""
    if isinstance(text, str):
        return constant(Fraction(text), len(names))
    total: Poly = {}
    for monomial, coefficient in text.items():
        exponents = dict.fromkeys(names, 0)
        for factor in monomial.split("*") if monomial != "1" else ():
            name, _, degree = factor.partition("^")
            _require(name in exponents, f"unknown parameter {name!r}")
            exponents[name] += int(degree or 1)
        total = add(total, {tuple(exponents.values()): Fraction(coefficient)})
    _require(all(e >= 0 for key in total for e in key), "negative degree in a polynomial")
    return total


def read_quotient(text: Any, names: Sequence[str]) -> Quotient:
    above, below = text if isinstance(text, list) else (text, "1")
    return read_poly(above, names), read_poly(below, names)


def _vector(text: Mapping[str, Any], names: Sequence[str]) -> Vector:
    return {symbol: read_poly(exponent, names) for symbol, exponent in text.items()}


def value_at(poly: Poly, point: Sequence[Fraction]) -> Fraction:
    total = Fraction(0)
    for exponents, coefficient in poly.items():
        for s, e in zip(point, exponents, strict=True):
            coefficient *= s**e
        total += coefficient
    return total


# Cells.


def open_cell(lower: Quotient | None, upper: Quotient | None, coordinate: int, size: int) -> Quotient:
    """The parameter between its ends, as a quotient in the cell's coordinates."""
    t = {tuple(int(i == coordinate) for i in range(size)): Fraction(1)}
    if lower is None:
        _require(upper is not None, "an interval without ends")
        assert upper is not None
        return add(upper[0], negate(multiply(t, upper[1]))), upper[1]
    if upper is None:
        return add(lower[0], multiply(t, lower[1])), lower[1]
    above = add(multiply(lower[0], upper[1]), multiply(t, multiply(upper[0], lower[1])))
    return above, multiply(add(constant(1, size), t), multiply(lower[1], upper[1]))


def _leaves(tree: Mapping[str, Any], ranges: Sequence[Mapping[str, Any]], places: list[Quotient]) -> Iterator[Any]:
    """Every cell with its proofs, having checked that the pieces of each parameter cover its range without a gap."""
    names, depth = [entry["name"] for entry in ranges], len(places)
    if depth == len(ranges):
        yield places, tree["pairs"]
        return
    size, pieces, entry = len(names), tree["pieces"], ranges[depth]

    def end(text: Any) -> Quotient | None:
        if text is None:
            return None
        above, below = read_quotient(text, names)
        _require(
            not any(e for key in (*above, *below) for e in key[depth:]), f"an end of {names[depth]} uses a later parameter"
        )
        place = substitute_quotient((above, below), places, size)
        _require(positive(place[1]), f"the denominator of an end of {names[depth]} is not positive on its cell")
        return place

    def covers(text: Any, point: bool, bounds: Sequence[Mapping[str, Any]]) -> bool:
        """Reaches one of the bounds (then it covers more than all of them ask), and the point itself when that is closed."""
        return (text is None and not bounds) or any(text == b["bound"] and (point or not b["closed"]) for b in bounds)

    points = ["at" in piece for piece in pieces]
    starts = [piece["at"] if "at" in piece else piece["from"] for piece in pieces]
    stops = [piece["at"] if "at" in piece else piece["to"] for piece in pieces]
    _require(
        bool(pieces) and covers(starts[0], points[0], entry["lower"]), f"the cells miss the lower end of {names[depth]}"
    )
    _require(covers(stops[-1], points[-1], entry["upper"]), f"the cells miss the upper end of {names[depth]}")
    for i in range(1, len(pieces)):
        joined = stops[i - 1] == starts[i] and stops[i - 1] is not None and points[i - 1] != points[i]
        _require(joined, f"the cells of {names[depth]} leave a gap after {stops[i - 1]}")
    for piece, point, start, stop in zip(pieces, points, starts, stops, strict=True):
        place = end(start) if point else open_cell(end(start), end(stop), depth, size)
        assert place is not None
        yield from _leaves(piece["then"], ranges, [*places, place])


# The two verdicts.


@dataclass(frozen=True)
class _Claim:
    names: list[str]  # of the structural parameters
    left: list[list[Vector]]
    right: list[list[Vector]]
    rows: list[Vector]  # the constraints
    constants: list[Fraction]
    bounded: list[bool]  # whether the constraint's constant is known and at most one
    logs: dict[str, Vector]  # logarithm -> the monomial it is the logarithm of
    denominator: Poly


def _read_claim(claim: Mapping[str, Any], choice: Sequence[Mapping[str, Any]]) -> _Claim:
    """The claim in the case that these of the alternative constraints hold."""
    names = [entry["name"] for entry in claim["parameters"]]
    left, right = ([[_vector(m, names) for m in clause] for clause in claim[side]] for side in ("left", "right"))
    _require(bool(left) and bool(right) and all(left) and all(right), "a rate without terms")
    constraints = [*claim["constraints"], *choice]
    rows = [_vector(entry["exponents"], names) for entry in constraints]
    constants = [Fraction(entry["constant"]) for entry in constraints]
    bounded = [entry["exact"] and k <= 1 for entry, k in zip(constraints, constants, strict=True)]
    _require(all(k > 0 for k in constants), "a constraint with a constant that is not positive")
    logs = {entry["symbol"]: _vector(entry["of"], names) for entry in claim["logs"] if entry["of"]}
    return _Claim(names, left, right, rows, constants, bounded, logs, read_poly(claim["denominator"], names))


def _balance(parts: Sequence[tuple[int, Sequence[Poly], Sequence[Vector]]]) -> dict[str, Poly]:
    """Σ sign·multiplier·vector, symbol by symbol."""
    total: dict[str, Poly] = {}
    for sign, multipliers, vectors in parts:
        for multiplier, vector in zip(multipliers, vectors, strict=True):
            for symbol, exponent in vector.items():
                term = multiply(multiplier, exponent)
                total[symbol] = add(total.get(symbol, {}), term if sign > 0 else negate(term))
    return total


def _with_orders(claim: _Claim, orders: Sequence[Mapping[str, Any]]) -> _Claim:
    """More constraints: log m ≲ log M wherever m = M^power·Π constraints^multiplier."""
    units: list[Vector] = []
    for entry in orders:
        small, large = claim.logs[entry["smaller"]], claim.logs[entry["larger"]]
        multipliers = [constant(Fraction(text), len(claim.names)) for text in (entry["power"], *entry["multipliers"])]
        _require(all(map(nonnegative, multipliers)), "an order of logarithms has a negative multiplier")
        rest = _balance([(1, [constant(1, len(claim.names))], [small]), (-1, multipliers, [large, *claim.rows])])
        _require(not any(rest.values()), f"{entry['smaller']} is not shown to be below {entry['larger']}")
        units.append({entry["smaller"]: claim.denominator, entry["larger"]: negate(claim.denominator)})
    return replace(claim, rows=claim.rows + units, bounded=claim.bounded + [False] * len(units))


def _verify_pair(
    claim: _Claim,
    a: Sequence[Vector],
    b: Sequence[Vector],
    proof: Mapping[str, Any],
    on: Callable[[Poly], Poly],
    *,
    uniform: bool,
) -> None:
    """min(a) ≲ max(b) on one cell: `on` turns a polynomial in the parameters into one in the cell's coordinates."""
    u, w, mu = ([read_poly(text, claim.names) for text in proof[key]] for key in ("left", "right", "constraints"))
    _require(all(nonnegative(on(m)) for m in (*u, *w, *mu)), "a multiplier is negative somewhere")
    total = add(*u)
    _require(
        positive(on(total)) and not on(add(total, *map(negate, w))), "the two sides' weights do not have one positive sum"
    )
    ties: list[Vector] = []
    loose = [(m, total) for m, bounded in zip(mu, claim.bounded, strict=True) if not bounded]
    for entry in proof["logs"]:
        symbol, of = entry["symbol"], claim.logs[entry["symbol"]]
        multiplier, tau = read_poly(entry["multiplier"], claim.names), read_poly(entry["power"], claim.names)
        _require(
            {s: negate(e) for s, e in of.items()} in claim.rows,
            f"{symbol}: its argument is not constrained to be at least one",
        )
        _require(nonnegative(on(multiplier)) and positive(on(tau)), f"{symbol} is not compared with a positive power")
        ties.append({s: negate(multiply(tau, e)) for s, e in of.items()} | {symbol: multiply(multiplier, claim.denominator)})
        loose += [(multiplier, total), (multiplier, tau)]
    ones = [constant(1, len(claim.names))] * len(ties)
    for symbol, rest in _balance([(1, u, a), (-1, w, b), (-1, mu, claim.rows), (-1, ones, ties)]).items():
        _require(not on(rest), f"the exponents of {symbol} do not add up")
    if uniform:  # the constants K^(μ/Σu) and (μ/τ)^(μ/Σu) stay bounded
        bound = constant(Fraction(proof["bound"]), len(claim.names))
        stays = all(nonnegative(on(add(multiply(bound, below), negate(above)))) for above, below in loose)
        _require(stays, "the constant may be unbounded")


def _verify_dominance(document: Mapping[str, Any]) -> None:
    for choice, case in zip(product(*document["claim"]["alternatives"]), document["cases"], strict=True):
        _verify_case(_with_orders(_read_claim(document["claim"], choice), case["orders"]), document, case["proof"])


def _verify_case(claim: _Claim, document: Mapping[str, Any], proof: Mapping[str, Any]) -> None:
    for places, pairs in _leaves(proof, document["claim"]["parameters"], []):

        def on(poly: Poly, places: list[Quotient] = places) -> Poly:
            return substitute(poly, places, len(claim.names))

        _require(positive(on(claim.denominator)), "the common denominator is not positive on a cell")
        for a, line in zip(claim.left, pairs, strict=True):
            for b, pair in zip(claim.right, line, strict=True):
                _verify_pair(claim, a, b, pair, on, uniform=document["uniform"])


def _sign(levels: Sequence[Fraction]) -> int:
    """Of T·x₀ + log T·x₁ + … for large T."""
    first = next((x for x in levels if x), Fraction(0))
    return (first > 0) - (first < 0)


def _verify_range(claim: Mapping[str, Any], names: list[str], point: list[Fraction]) -> None:
    for entry, s in zip(claim["parameters"], point, strict=True):
        for side, sign in (("lower", 1), ("upper", -1)):
            for bound in entry[side]:
                above, below = read_quotient(bound["bound"], names)
                gap = sign * (s - value_at(above, point) / value_at(below, point))
                _require(gap > 0 or (bound["closed"] and gap == 0), f"{entry['name']} = {s} is outside its range")


def _verify_separation(document: Mapping[str, Any]) -> None:
    witness = document["witness"]
    choice = [rows[i] for rows, i in zip(document["claim"]["alternatives"], witness["case"], strict=True)]
    claim = _read_claim(document["claim"], choice)
    texts = [entry["text"] for entry in (*document["claim"]["constraints"], *choice)]
    _require(len(claim.logs) == len(document["claim"]["logs"]), "nothing is known of the argument of a logarithm")
    point = [Fraction(witness["parameters"][name]) for name in claim.names]
    _verify_range(document["claim"], claim.names, point)
    denominator = value_at(claim.denominator, point)
    _require(denominator > 0, "the common denominator is not positive at the parameters")
    levels = [{symbol: Fraction(x) for symbol, x in level.items()} for level in witness["path"]]
    inside = {symbol: Fraction(x) for symbol, x in witness["inside"].items()}

    def exponents(vector: Vector) -> dict[str, Fraction]:
        return {symbol: value_at(e, point) / denominator for symbol, e in vector.items()}

    def along(vector: Mapping[str, Fraction], level: Mapping[str, Fraction]) -> Fraction:
        return sum((e * level.get(symbol, Fraction(0)) for symbol, e in vector.items()), Fraction(0))

    for row, k, text in zip(map(exponents, claim.rows), claim.constants, texts, strict=True):
        _require(_sign([along(row, level) for level in levels]) <= 0, f"the path leaves the regime: {text}")
        # It starts at a point of the regime, given by powers of 2:  2^q ≤ K  iff  2^numerator ≤ K^denominator.
        q = along(row, inside)
        _require(Fraction(2) ** q.numerator <= k**q.denominator, f"the path starts outside the regime: {text}")
    for symbol, of in claim.logs.items():
        growth = [along(exponents(of), level) for level in levels]
        first = next((i for i, x in enumerate(growth) if x), len(levels))
        own = [level.get(symbol, Fraction(0)) for level in levels]
        _require(_sign(growth) >= 0, f"{symbol}: its argument falls below one")
        _require(own == [Fraction(i == first + 1) for i in range(len(levels))], f"{symbol} does not follow its argument")
        _require(first == len(levels) or first + 1 < len(levels), f"{symbol}: a level is missing")
    for x, y in product(map(exponents, claim.left[witness["left"]]), map(exponents, claim.right[witness["right"]])):
        _require(
            _sign([along(x, level) - along(y, level) for level in levels]) > 0, "the quotient does not grow along the path"
        )


def verify(document: Mapping[str, Any]) -> None:
    """Return if the document proves its claim, raise `InvalidCertificate` if not."""
    try:
        verdict = document["verdict"]
        _require(verdict in ("dominated", "separated"), f"unknown verdict {verdict!r}")
        (_verify_dominance if verdict == "dominated" else _verify_separation)(document)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError) as error:
        raise InvalidCertificate(f"malformed certificate: {error!r}") from error
