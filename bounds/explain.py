"""Certificates and separations in words, so that an answer can be followed by hand, without its JSON."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import sympy

from tailproof.bounds import certificates
from tailproof.bounds.claim import leaves
from tailproof.bounds.expressions import Expression


def explain_dominance(document: Mapping[str, Any]) -> str:
    """The claim, its regime, and for each case and cell how the weights and conditions give it."""
    return "\n".join([f"{document['left']}  ≲  {document['right']}", *_setting(document), *_show_proof(document)])


def explain_separation(document: Mapping[str, Any]) -> str:
    """The claim's negation, its regime, and the path along which the quotient grows."""
    witness = document["witness"]
    at = ", ".join(f"{name} = {value}" for name, value in witness["parameters"].items())
    scales = ["T", "log T", "log log T"] + [f"log^{k} T" for k in range(3, 20)]
    base = [s for s in dict.fromkeys(s for level in witness["path"] for s in level) if not s.startswith("log(")]
    grows = []
    for symbol in base:
        levels = zip(witness["path"], scales, strict=False)
        terms = [f"{level[symbol]}·{scale}" for level, scale in levels if level.get(symbol, "0") != "0"]
        grows.append(f"{symbol} = exp({' + '.join(terms)})")
    lines = [f"{document['left']}  is not ≲  {document['right']}", *_setting(document), *([f"at {at}"] if at else [])]
    return "\n".join([*lines, f"the quotient grows without bound along {', '.join(grows)}"])


def _setting(document: Mapping[str, Any]) -> list[str]:
    lines = [f"where {', '.join(document['where'])}"] if document["where"] else []
    return lines + ([f"by convention {', '.join(document['conventions'])}"] if document["conventions"] else [])


def _show_poly(text: Any) -> str:
    if isinstance(text, list):
        return f"({_show_poly(text[0])})/({_show_poly(text[1])})"
    if isinstance(text, str):
        return text
    return (
        " + ".join(c if m == "1" else (m if c == "1" else f"{c}*{m}") for m, c in text.items()).replace("+ -", "- ") or "0"
    )


def show_cells(document: Mapping[str, Any], tree: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each cell of a proof in words, with the multipliers of the pairs of clauses."""
    names = [entry["name"] for entry in document["claim"]["parameters"]]
    for pieces, pairs in leaves(tree):
        words = ", ".join(_show_piece(name, piece) for name, piece in zip(names, pieces, strict=True))
        yield words, [proof for line in pairs for proof in line]


def _show_piece(name: str, piece: Mapping[str, Any]) -> str:
    if "at" in piece:
        return f"{name} = {_show_poly(piece['at'])}"
    before = f"{_show_poly(piece['from'])} < " if piece["from"] is not None else ""
    return before + name + (f" < {_show_poly(piece['to'])}" if piece["to"] is not None else "")


def _show_proof(document: Mapping[str, Any]) -> Iterator[str]:
    claim = document["claim"]
    lefts = [[_show_exponents(m, claim) for m in clause] for clause in claim["left"]]
    rights = [[_show_exponents(m, claim) for m in clause] for clause in claim["right"]]
    for choice, case in zip(itertools.product(*claim["alternatives"]), document["cases"], strict=True):
        texts = [e["text"] for e in (*claim["constraints"], *choice)]
        texts += [f"{order['smaller']} ≲ {order['larger']}" for order in case["orders"]]
        if choice:
            yield f"in case {', '.join(entry['text'] for entry in choice)}:"
        for cell, proofs in show_cells(document, case["proof"]):
            if cell:
                yield f"for {cell}:"
            for (a, b), proof in zip(itertools.product(lefts, rights), proofs, strict=True):
                yield f"  {_show_pair(a, b, texts, proof)}"


def _show_pair(a: list[str], b: list[str], texts: list[str], proof: Mapping[str, Any]) -> str:
    def power(weight: Any, term: str) -> str:
        return term if weight == proof["total"] else f"({term})^({_show_poly(weight)})"

    left = " · ".join(power(w, t) for w, t in zip(proof["left"], a, strict=True) if w != "0")
    right = " · ".join(power(w, t) for w, t in zip(proof["right"], b, strict=True) if w != "0")
    used = [f"{t} to the power {_show_poly(m)}" for m, t in zip(proof["constraints"], texts, strict=True) if m != "0"]
    for entry in proof["logs"]:
        used.append(
            f"{entry['symbol']} to the power {_show_poly(entry['multiplier'])} ≲ its argument's {_show_poly(entry['power'])}"
        )
    weighted = any(w not in ("0", proof["total"]) for w in (*proof["left"], *proof["right"])) or used
    over = f" (powers over {_show_poly(proof['total'])})" if weighted and proof["total"] != "1" else ""
    return f"{left} ≲ {right}" + (f", by {', '.join(used)}" if used else "") + over


def _show_exponents(vector: Mapping[str, Any], claim: Mapping[str, Any]) -> str:
    names = [entry["name"] for entry in claim["parameters"]]
    symbols = [sympy.Symbol(name) for name in names]

    def expression(text: Any) -> Expression:
        terms = certificates.read_poly(text, names).items()
        return sum(
            (sympy.Rational(c) * sympy.prod(s**e for s, e in zip(symbols, key, strict=True)) for key, c in terms),
            sympy.Integer(0),
        )

    below = expression(claim["denominator"])
    total = sympy.Integer(1)
    for symbol, text in vector.items():
        total *= sympy.Symbol(symbol, positive=True) ** sympy.factor(expression(text) / below)
    return str(total).replace(" ", "")
