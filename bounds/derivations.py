"""Derivations by exact means: does a statement's rate follow from its lemma at its choices, and are the choices best?

A statement with `choices` is derived from its base, the first item of `follows_from` that has a rate.  The choices are put in, and
the result is compared with the statement's own rate both ways, on its conditions.  Letters of the statement's own rate that the
choices explain stand for themselves as long as that suffices: what holds for all values of a letter holds at its choice.

A choice of free parameters is best if no other has a smaller rate.  Several are minimised one after the other: if g(x) is up to
constants the least f(x, y) over y, then the least g is the least f, in whatever order, and "optimal" and "achieved" compose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tailproof.bounds.agreement import Answer, answer, put_in
from tailproof.bounds.compare import Dominance, Separation
from tailproof.bounds.derive import BestChoice, best_choice, substitute
from tailproof.bounds.expressions import names_in
from tailproof.bounds.questions import WorstFactor, worst_factor
from tailproof.bounds.rates import Rate, parse_rate
from tailproof.bounds.statements import Choice, Statement
from tailproof.bounds.theorems import theorem
from tailproof.refimpl.validation import InputError


@dataclass(frozen=True)
class Derivation:
    """The base's rate at the choices against the statement's own."""

    statement: str
    base: str
    substituted: Rate
    derived: Rate
    logs: bool  # False: without logarithms, which the statement hides
    follows: Answer  # substituted ≲ derived; for a lower bound derived ≲ substituted
    sharp: Answer  # the converse

    @property
    def verdict(self) -> Literal["exact", "generous", "fails", "undecided"]:
        """generous: true, but more than the base gives (for a lower bound, less)."""
        if isinstance(self.follows, Separation):
            return "fails"
        if isinstance(self.follows, str) or isinstance(self.sharp, str):
            return "undecided"
        return "exact" if isinstance(self.sharp, Dominance) else "generous"


@dataclass(frozen=True)
class ChoiceCheck:
    """The best rate over all values of the free parameters, and whether the paper's choice has it."""

    choice: Choice
    steps: tuple[BestChoice, ...]  # one parameter after the other
    best: Rate
    chosen: Rate  # the rate at the paper's choice
    attained: Answer  # chosen ≲ best
    below: Answer  # best ≲ chosen
    factor: WorstFactor | None  # by which the chosen rate exceeds the best, at worst


def base_of(statement: Statement) -> tuple[str, str]:
    """The first item the statement follows from that has a rate, with this rate."""
    for other in map(theorem, statement.follows_from):
        rate = other.derived or other.printed
        if rate is not None:
            return other.id, rate
    raise InputError(f"statement = {statement.id!r}: none of {list(statement.follows_from)} has a rate")


def check_derivation(statement: Statement, *, rate: str | None = None) -> Derivation:
    """Whether the derived rate (or another, for comparison) follows from the base at the choices."""
    target = rate or statement.derived
    if target is None:
        raise InputError(f"statement = {statement.id!r}: has no derived rate")
    base, source = base_of(statement)
    letters = names_in(parse_rate(target).expression) & set(statement.choices)
    others = {name: text for name, text in statement.choices.items() if name not in letters}
    hides = "logarithms" in statement.hidden
    attempts: list[tuple[Mapping[str, str], bool]] = [(others, True)] if letters else []
    attempts += [(statement.choices, logs) for logs in ((True, False) if hides else (True,))]
    for choices, logs in attempts:
        found = _derivation(statement, base, source, target, choices, logs)
        if found.verdict == "exact":
            break
    return found


def _derivation(
    statement: Statement, base: str, source: str, target: str, choices: Mapping[str, str], logs: bool
) -> Derivation:
    left, right = substitute(source, choices), substitute(target, choices)
    where = [put_in(condition, choices) for condition in statement.where]
    up, down = answer(left, right, where, logs), answer(right, left, where, logs)
    follows, sharp = (down, up) if statement.kind == "lower" else (up, down)
    return Derivation(statement.id, base, left, right, logs, follows, sharp)


def check_choice(choice: Choice) -> ChoiceCheck:
    """The best value of each free parameter in turn, and the paper's choice against it."""
    current, steps = parse_rate(choice.rate), list[BestChoice]()
    for parameter in choice.chosen:
        if parameter in names_in(current.expression):
            steps.append(best_choice(current, parameter, choice.where, logs=choice.logs))
            current = steps[-1].rate
    chosen = substitute(choice.rate, choice.chosen)
    attained, below = (answer(*sides, choice.where, choice.logs) for sides in ((chosen, current), (current, chosen)))
    factor = None
    if choice.excess is not None:
        factor = worst_factor(chosen, current, choice.where, in_terms_of=choice.excess, logs=choice.logs)
    return ChoiceCheck(choice, tuple(steps), current, chosen, attained, below, factor)
