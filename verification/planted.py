"""Sweeps tested on broken statements: a quarter planted in an exponent, either way, on the same measured risks.

Too optimistic (the rate times n^(−1/4)) is a false bound: measured / rate has to grow where it did not.  Too pessimistic (times
n^(+1/4)) is a bound that holds and is loose: the verdict about the exponent has to get worse, from agrees to near or differs, or
from near to differs.  A statement that grows itself, or differs in its exponent, cannot be told from a planted one, and does
not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tailproof.bounds.statements import Statement
from tailproof.bounds.theorems import theorem
from tailproof.verification.sweeps import Case, Json, Point, gathered

QUARTER = 0.25
_RANKS = {"agrees": 0, "near": 1, "differs": 2, None: 2}


def planted(statement: Statement, over: str, power: float) -> Statement:
    """The same with another exponent, as printed and as derived."""
    changed = {
        name: f"({text})*{over}**({power})"
        for name, text in (("printed", statement.printed), ("derived", statement.derived))
        if text is not None
    }
    return replace(statement, **changed)  # type: ignore[arg-type]


def judged(case: Case, risks: list[float], *, over: str, points: Mapping[float, Point], runs: int, seed: int) -> Json:
    """The statement of the case, and both planted ones, on the same risks."""

    def against(power: float) -> Json:
        statement = planted(theorem(case.statement), over, power)
        return gathered(case, risks, over=over, points=points, runs=runs, seed=seed, statement=statement)

    honest, optimistic, pessimistic = against(0.0), against(-QUARTER), against(QUARTER)
    seen = {
        "optimistic_caught": optimistic["verdict"] == "grows" and honest["verdict"] in ("level", "falls"),
        "pessimistic_caught": _RANKS[pessimistic["exponent"]] > _RANKS[honest["exponent"]],
    }
    verdicts = {
        name: [found["verdict"], found["exponent"]]
        for name, found in (("optimistic", optimistic), ("pessimistic", pessimistic))
    }
    return {"honest": honest, **verdicts, **seen, "caught": all(seen.values())}
