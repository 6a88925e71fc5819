"""The negation of a comparison's claim as SMT-LIB 2, so that an independent solver can confirm it.

The script asks for structural parameters in their ranges and logarithms y of the symbols in the regime's recession cone for which
some pair of clauses has every aᵢ − bⱼ positive.  For a dominated comparison the answer is `unsat`; for a separated one without
logarithms it is `sat`.  Denominators of exponents are multiplied out; they are positive on the range.  That a logarithm is below
every power of its argument has no counterpart over the reals: the powers that the certificate uses are asserted, cell by cell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tailproof.bounds.claim import leaves


def _number(text: str | Fraction) -> str:
    value = Fraction(text)
    size = f"{abs(value.numerator)}.0" if value.denominator == 1 else f"(/ {abs(value.numerator)}.0 {value.denominator}.0)"
    return size if value >= 0 else f"(- {size})"


def _name(symbol: str) -> str:
    return f"|{symbol}|"


def _sum(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})" if terms else "0.0"


def _poly(text: Any) -> str:
    """A polynomial of the certificate in the structural parameters."""
    if isinstance(text, str):
        return _number(text)
    terms = []
    for monomial, coefficient in text.items():
        factors = [] if Fraction(coefficient) == 1 else [_number(coefficient)]
        for factor in monomial.split("*") if monomial != "1" else ():
            name, _, degree = factor.partition("^")
            factors += [_name(name)] * int(degree or 1)
        terms.append(f"(* {' '.join(factors)})" if len(factors) > 1 else (factors or ["1.0"])[0])
    return _sum(terms)


def _linear(vector: Mapping[str, Any], scale: str = "") -> str:
    """Σ exponent·y."""
    prefix = f"{scale} " if scale else ""
    return _sum([f"(* {prefix}{_poly(e)} {_name('log ' + symbol)})" for symbol, e in sorted(vector.items())])


def _end(name: str, text: Any, relation: str) -> str:
    above, below = text if isinstance(text, list) else (text, "1")
    return f"({relation} (* {_poly(below)} {_name(name)}) {_poly(above)})"


def _piece(name: str, piece: Mapping[str, Any]) -> list[str]:
    ends = (("at", "="), ("from", ">"), ("to", "<"))
    return [_end(name, piece[key], sign) for key, sign in ends if piece.get(key) is not None]


def _difference(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    return f"(- {_linear(a)} {_linear(b)})"


def _row(entry: Mapping[str, Any]) -> str:
    return f"(<= {_linear(entry['exponents'])} 0.0)"


def _logs(document: Mapping[str, Any]) -> Iterator[str]:
    """What a certificate uses of logarithms, under the conditions of its cases and cells."""
    claim = document["claim"]
    names = [entry["name"] for entry in claim["parameters"]]
    arguments = {entry["symbol"]: entry["of"] for entry in claim["logs"]}
    for choice, case in zip(itertools.product(*claim["alternatives"]), document.get("cases", ()), strict=False):
        chosen = [_row(entry) for entry in choice]
        for order in case["orders"]:
            yield _implied(chosen, f"(<= {_name('log ' + order['smaller'])} {_name('log ' + order['larger'])})")
        for pieces, pairs in leaves(case["proof"]):
            conditions = chosen + [text for name, piece in zip(names, pieces, strict=True) for text in _piece(name, piece)]
            ties = {
                (t["symbol"], _poly(t["multiplier"]), _poly(t["power"]))
                for line in pairs
                for proof in line
                for t in proof["logs"]
            }
            for symbol, multiplier, power in sorted(ties):
                own = f"(* {multiplier} {_poly(claim['denominator'])} {_name('log ' + symbol)})"
                yield _implied(conditions, f"(<= {own} {_linear(arguments[symbol], power)})")


def _implied(conditions: list[str], statement: str) -> str:
    return f"(=> (and {' '.join(conditions)}) {statement})" if conditions else statement


def export(document: Mapping[str, Any]) -> str:
    """The script for a certificate or a separation; a solver's `unsat` confirms that left ≲ right."""
    claim = document["claim"]
    vectors = [m for side in (claim["left"], claim["right"]) for clause in side for m in clause]
    rows = [*claim["constraints"], *(entry for entries in claim["alternatives"] for entry in entries)]
    vectors += [entry["exponents"] for entry in rows] + [entry["of"] or {} for entry in claim["logs"]]
    symbols = sorted({s for vector in vectors for s in vector} | {entry["symbol"] for entry in claim["logs"]})
    lines = [f"; not ({document['left']}  <~  {document['right']})".replace("\n", " ")]
    lines += [f"; where {text}" for text in (*document["where"], *document["conventions"])]
    lines += ["(set-logic QF_NRA)"]
    lines += [f"(declare-const {_name(entry['name'])} Real)" for entry in claim["parameters"]]
    lines += [f"(declare-const {_name('log ' + symbol)} Real)" for symbol in symbols]
    for entry in claim["parameters"]:
        for side, closed, strict in (("lower", ">=", ">"), ("upper", "<=", "<")):
            lines += [f"(assert {_end(entry['name'], b['bound'], closed if b['closed'] else strict)})" for b in entry[side]]
    lines += [f"(assert {_row(entry)}) ; {entry['text']}" for entry in claim["constraints"]]
    lines += [f"(assert (or {' '.join(map(_row, entries))}))" for entries in claim["alternatives"]]
    lines += [f"(assert {text})" for text in _logs(document)]
    cases = []
    for a, b in itertools.product(claim["left"], claim["right"]):
        cases.append(f"(and {' '.join(f'(> {_difference(x, y)} 0.0)' for x, y in itertools.product(a, b))})")
    lines += [f"(assert (or {' '.join(cases)}))", "(check-sat)"]
    return "\n".join(lines) + "\n"
