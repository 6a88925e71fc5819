"""Does a paper print what follows?  The printed rate of a statement against the derived one, decided both ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bounds.compare import Dominance, Undecided, compare
from bounds.statements import Statement

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
        """Whether the print says more than follows: a larger lower bound, or a smaller anything else."""
        wrong = "printed is larger" if self.statement.kind == "lower" else "printed is smaller"
        return self.verdict in (wrong, "incomparable")


def agreement(statement: Statement) -> Agreement | None:
    """None if the statement does not have both rates.  Where the print says that it hides logarithms, a difference by
    logarithms alone is none."""
    if not statement.printed or not statement.derived:
        return None
    try:
        found = _both_ways(statement, logs=True)
        if found.verdict != "same" and "log" in statement.hidden:
            without = _both_ways(statement, logs=False)
            if without.verdict == "same":
                return Agreement(statement, "same without logarithms", without.documents)
            if found.claims_more and not without.claims_more:
                return without
    except Undecided as reason:
        return Agreement(statement, "undecided", reason=str(reason))
    return found


def _both_ways(statement: Statement, *, logs: bool) -> Agreement:
    pairs = ((statement.derived, statement.printed), (statement.printed, statement.derived))
    found = [compare(left, right, where=statement.where, logs=logs) for left, right in pairs]
    below, above = (isinstance(result, Dominance) for result in found)
    return Agreement(statement, VERDICTS[below, above], tuple(result.document for result in found))
