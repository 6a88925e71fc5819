"""Is rate A at most a constant times rate B on a regime?  A certificate, a path along which A/B → ∞, or `Undecided`.

In the coordinates y = log x a monomial is a linear form, so for fixed structural parameters the question is linear programming:
min(aᵢ) ≲ max(bⱼ) on {cₗ ≤ const} if and only if weights u, w and multipliers μ ≥ 0 exist with Σuᵢaᵢ = Σwⱼbⱼ + Σμₗcₗ, and if not
there is a ray of the regime's recession cone on which every aᵢ − bⱼ is positive.  The constants of the conditions matter only
for whether the regime is empty.  For parameters in a range the multipliers are rational functions on cells
(`tailproof.bounds.prover`, `tailproof.bounds.cells`).  Every answer is
checked by `tailproof.bounds.certificates.verify` before it is returned.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from tailproof.bounds import certificates
from tailproof.bounds.cells import Split, cover, sample_point
from tailproof.bounds.claim import Scaled, scale, write_claim, write_orders
from tailproof.bounds.explain import explain_dominance, explain_separation, show_cells
from tailproof.bounds.paths import find_path, inside
from tailproof.bounds.problem import Problem, build_problem
from tailproof.bounds.prover import Fails, prove_pairs, refute
from tailproof.bounds.rates import parse_rate
from tailproof.bounds.rational import Point
from tailproof.bounds.undecided import Undecided
from tailproof.refimpl.validation import InputError

__all__ = ["Dominance", "Relation", "Separation", "Undecided", "compare", "equal_rates", "relation"]


@dataclass(frozen=True)
class Dominance:
    """left ≲ right, with its certificate."""

    document: dict[str, Any]
    verdict: Literal["dominated"] = "dominated"

    @property
    def cells(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Each cell of the structural range in words, with its multipliers, for each case."""
        return [cell for case in self.document["cases"] for cell in show_cells(self.document, case["proof"])]

    def explain(self) -> str:
        return explain_dominance(self.document)


@dataclass(frozen=True)
class Separation:
    """left/right → ∞ along `path` (levels T, log T, …), at these values of the structural parameters."""

    document: dict[str, Any]
    verdict: Literal["separated"] = "separated"

    @property
    def parameters(self) -> dict[str, Fraction]:
        return {name: Fraction(value) for name, value in self.document["witness"]["parameters"].items()}

    @property
    def path(self) -> list[dict[str, Fraction]]:
        return [{s: Fraction(x) for s, x in level.items()} for level in self.document["witness"]["path"]]

    def explain(self) -> str:
        return explain_separation(self.document)


def compare(
    left: Any,
    right: Any,
    *,
    where: Iterable[str] = (),
    uniform: bool = False,
    logs: bool = True,
    parameters: Iterable[str] | None = None,
) -> Dominance | Separation:
    """Is left ≲ right for all values that the conditions allow?  Raises `Undecided`, or `InputError` on a bad question.

    `uniform` asks for one constant for the whole range of the structural parameters; `logs=False` drops logarithms;
    `parameters` names the structural parameters (k, p, v, theta, theta_bar if left out), or gives their ranges.
    """
    where, names = tuple(where), None if parameters is None else tuple(parameters)
    bare = None if names is None else [n for n in names if n.isidentifier()]
    one, two = parse_rate(left, bare), parse_rate(right, bare)
    problem = build_problem(one, two, where=where, parameters=names, logs=logs)
    return _answer(problem, one.text, two.text, where, uniform=uniform, logs=logs)


def _answer(
    problem: Problem, left: str, right: str, where: tuple[str, ...], *, uniform: bool, logs: bool
) -> Dominance | Separation:
    whole = scale(problem, uniform=uniform)
    document: dict[str, Any] = {
        "format": "tailproof comparison 1",
        "verdict": "dominated",
        "left": left,
        "right": right,
        "where": list(where),
        "conventions": list(problem.conventions),
        "uniform": uniform,
        "logs": logs,
        "claim": write_claim(whole),
    }
    choices = list(itertools.product(*(range(len(rows)) for rows in problem.alternatives)))
    cases = [
        replace(problem, rows=[*problem.rows, *map(list.__getitem__, problem.alternatives, choice)]) for choice in choices
    ]
    _refuse_empty(cases, sample_point(problem.regime))
    proofs: list[dict[str, Any]] = []
    for choice, case in zip(choices, cases, strict=True):
        scaled = scale(case, uniform=uniform) if choice else whole
        try:
            proof = cover(case.regime, functools.partial(prove_pairs, scaled))
        except (Fails, Split, Undecided) as problem_met:
            fails = problem_met if isinstance(problem_met, Fails) else refute(scaled)
            if fails is None:
                raise Undecided(f"no counterexample, but no proof: {problem_met}") from None
            witness = {"case": list(choice)} | _witness(scaled, fails)
            return Separation(_verified(document | {"verdict": "separated", "witness": witness}))
        proofs.append({"orders": write_orders(scaled), "proof": proof})
    if uniform and not all(map(problem.regime.bounded, problem.constants)):
        raise Undecided(
            "dominated for each value of the structural parameters, but constants of the rates may be unbounded over the range"
        )
    return Dominance(_verified(document | {"cases": proofs}))


def _verified(document: dict[str, Any]) -> dict[str, Any]:
    try:
        certificates.verify(document)
    except certificates.InvalidCertificate as error:
        raise Undecided(f"what was found does not stand verification: {error}") from error
    return document


def _refuse_empty(cases: list[Problem], point: Point) -> None:
    if all(inside(case, point) is None and inside(case, point, widened=True, bits=16) is None for case in cases):
        texts = ", ".join(dict.fromkeys(row.text for row in cases[0].every_row))
        raise InputError(f"the regime is empty: no values satisfy {texts} together")


def _witness(scaled: Scaled, fails: Fails) -> dict[str, Any]:
    start = inside(scaled.problem, fails.point)
    if start is None:
        _refuse_empty([scaled.problem], fails.point)
        raise Undecided("the rates separate, if the regime is not empty, which is not decided")
    path = find_path(scaled, fails.pair, fails.point)
    return {
        "parameters": {name: str(value) for name, value in zip(scaled.problem.regime.names, fails.point, strict=True)},
        "left": fails.pair[0],
        "right": fails.pair[1],
        "inside": {s: str(x) for s, x in start.items()},
        "path": [{s: str(x) for s, x in level.items()} for level in path],
    }


@dataclass(frozen=True)
class Relation:
    """Both directions: sign is "==", "<" (left ≲ right only), ">" or "incomparable"."""

    sign: Literal["==", "<", ">", "incomparable"]
    forward: Dominance | Separation  # left ≲ right?
    backward: Dominance | Separation  # right ≲ left?


def relation(left: Any, right: Any, **options: Any) -> Relation:
    """How two rates compare; options as for `compare`.

    With structural parameters, "incomparable" may mean: smaller at one value of them, larger at another.
    """
    forward, backward = compare(left, right, **options), compare(right, left, **options)
    signs: dict[tuple[str, str], Literal["==", "<", ">", "incomparable"]] = {
        ("dominated", "dominated"): "==",
        ("dominated", "separated"): "<",
        ("separated", "dominated"): ">",
        ("separated", "separated"): "incomparable",
    }
    return Relation(signs[forward.verdict, backward.verdict], forward, backward)


def equal_rates(left: Any, right: Any, **options: Any) -> bool:
    """Whether left ≍ right."""
    return relation(left, right, **options).sign == "=="
