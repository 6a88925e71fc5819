"""Does a paper print what follows?  The published rate of a statement against the derived one, decided both ways."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tailproof.bounds.compare import Dominance, Separation, Undecided, compare
from tailproof.bounds.derive import substitute
from tailproof.bounds.expressions import names_in
from tailproof.bounds.rates import parse_rate
from tailproof.bounds.statements import Statement

Answer = Dominance | Separation | str  # a text says why it is undecided
Verdict = Literal["same", "same without logarithms", "printed is larger", "printed is smaller", "incomparable", "undecided"]
VERDICTS: dict[tuple[bool, bool], Verdict] = {  # derived ≲ printed, printed ≲ derived
    (True, True): "same",
    (True, False): "printed is larger",
    (False, True): "printed is smaller",
    (False, False): "incomparable",
}


@dataclass(frozen=True)
class Agreement:
    """`documents` are the certificates or paths of derived ≲ printed and of printed ≲ derived, in this order."""

    statement: Statement
    verdict: Verdict
    documents: tuple[dict[str, Any], ...] = ()
    reason: str = ""  # why undecided

    @property
    def claims_more(self) -> bool:
        """Whether the paper says more than follows: a larger lower bound, or a smaller anything else."""
        wrong = "printed is larger" if self.statement.kind == "lower" else "printed is smaller"
        return self.verdict in (wrong, "incomparable")


def agreement(statement: Statement) -> Agreement | None:
    """None if the statement does not have both rates.  Where the paper says that it hides logarithms, a difference by
    logarithms alone is none."""
    if not statement.printed or not statement.derived:
        return None
    found = _agreement(statement, logs=True)
    if found.verdict not in ("same", "undecided") and "log" in statement.hidden:
        without = _agreement(statement, logs=False)
        if without.verdict == "same":
            return Agreement(statement, "same without logarithms", without.documents)
        if found.claims_more and not without.claims_more:
            return without
    return found


def _agreement(statement: Statement, *, logs: bool) -> Agreement:
    found = both_ways(statement, logs=logs)
    assert found is not None
    for text in found:
        if isinstance(text, str):
            return Agreement(statement, "undecided", reason=text)
    below, above = (isinstance(one, Dominance) for one in found)
    documents = tuple(one.document for one in found if not isinstance(one, str))
    return Agreement(statement, VERDICTS[below, above], documents)


def both_ways(statement: Statement, *, logs: bool = True) -> tuple[Answer, Answer] | None:
    """Is derived ≲ published, and published ≲ derived?  None without both.  Letters that both mention stand for themselves,
    the others for their choices."""
    if not statement.printed or not statement.derived:
        return None
    rates = [parse_rate(statement.derived), parse_rate(statement.printed)]
    letters = [names_in(rate.expression) & set(statement.choices) for rate in rates]
    choices = {} if letters[0] == letters[1] else statement.choices
    derived, printed = (substitute(rate, choices) for rate in rates)
    where = [put_in(condition, choices) for condition in statement.where]
    return answer(derived, printed, where, logs), answer(printed, derived, where, logs)


def put_in(condition: str, choices: Mapping[str, str]) -> str:
    """The condition with letters replaced by their choices, which may mention each other."""
    for _ in choices:
        for name, text in choices.items():
            condition = re.sub(rf"\b{name}\b(?!\()", f"({text})", condition)
    return condition


def answer(left: Any, right: Any, where: Iterable[str], logs: bool) -> Answer:
    try:
        return compare(left, right, where=where, logs=logs)
    except Undecided as reason:
        return str(reason)
