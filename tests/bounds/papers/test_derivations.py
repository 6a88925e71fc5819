"""Every derivation of the papers, by certificates and at random points; their best choices; print against derivation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.bounds.papers.growth import FLAT, gaps

from tailproof.bounds.agreement import both_ways
from tailproof.bounds.compare import Dominance, Separation
from tailproof.bounds.derivations import base_of, check_choice, check_derivation
from tailproof.bounds.derive import substitute
from tailproof.bounds.statements import Choice, Statement
from tailproof.bounds.theorems import choices, theorem, theorems
from tailproof.refimpl.validation import InputError

DERIVED = [s for s in theorems() if s.choices]
GENEROUS = {"P1.L7", "P2.T4"}  # stated with more logarithms, T or β than the base needs
WITHOUT_LOGS = {"P3.R1", "P3.T7.tau", "P3.R3.v1", "P3.COR1", "P3.L20"}  # which the statement hides


def but_long(items: Sequence[Any], *names: str) -> list[Any]:
    """With those marked that take half a second or more; they are always met at random points."""
    named = [(getattr(item, "id", None) or item.statement, item) for item in items]
    return [pytest.param(x, id=name, marks=[pytest.mark.long] if name in names else []) for name, x in named]


HEAVY = (
    *("P0.T1", "P0.T3", "P0.T6", "P0.T10", "P0.T11", "P0.R5", "P2.E107", "P2.T7"),
    *("P3.COR1", "P3.INTRO.c", "P3.L20", "P3.O3", "P3.T1", "P3.T3", "P3.T6", "P3.T7", "P3.T7.tau", "P3.T10"),
)


@pytest.mark.parametrize("statement", but_long(DERIVED, *HEAVY))
def test_the_rate_follows_from_the_base_at_the_choices(statement: Statement) -> None:
    found = check_derivation(statement)
    assert found.verdict == ("generous" if statement.id in GENEROUS else "exact")
    assert found.logs == (statement.id not in WITHOUT_LOGS)


@pytest.mark.parametrize("statement", DERIVED, ids=lambda s: s.id)
def test_the_rate_follows_at_random_points(statement: Statement) -> None:
    """A second way, by arithmetic on numbers: all letters put in, in the base and in the rate."""
    assert statement.derived is not None
    left, right = (substitute(rate, statement.choices) for rate in (base_of(statement)[1], statement.derived))
    where = tuple(c for c in statement.where if not re.search(r"\bT\b", c) or "T" not in statement.choices)
    found = gaps(left, right, where, statement.id, logs=statement.id not in WITHOUT_LOGS)
    assert found.size >= 20
    assert found.max() <= FLAT
    assert statement.id in GENEROUS or found.min() >= -FLAT


LIGHT = [s for s in DERIVED if s.id not in HEAVY and s.paper != "P0"]
SAMPLE = [*LIGHT[::9], theorem("P0.T9"), theorem("P0.T4")]


@pytest.mark.parametrize("statement", SAMPLE, ids=lambda s: s.id)
def test_a_changed_rate_is_noticed(statement: Statement) -> None:
    """An exponent more or less, of a symbol that the rate has."""
    assert statement.derived is not None
    symbol = next(name for name in ("n", "eps", "D", "q", "lam", "d", "M") if re.search(rf"\b{name}\b", statement.derived))
    changed = f"({statement.derived})*{symbol}**(1/8)"
    assert check_derivation(statement, rate=changed).verdict in {"fails", "generous"}


CHANGED = {
    "P0.T6.box": ("C", "r*(eps*n/sqrt(d*log(1/delta)))**(1/(k+1))"),
    "P0.T4": ("q", "d/(n*sqrt(rho))"),
    "P1.T8": ("chi", "beta*D0**(1/3)*(d**2*V*log(n*D/xi)/(n*tilde**2))**(1/4)"),
    "P2.E72": ("R", "sqrt(d)*(n*sqrt(rho)/sqrt(d))**(1/(p+1))"),
    "P2.T5": ("rho", "eps**2*K**2/log(1/delta)**2"),
    "P3.T1": ("B", "(u*n*eps/(log(1/xi)*sqrt(log(1/delta))))**(1/(2+v))"),
    "P3.O2": ("B", "(u*n*eps/d**2)**(1/(1+v))"),
    "P4.OURS.single": ("C", "G*(n*eps/d)**(1/(k+1))"),
    "P4.EQ4": ("lam", "(G/n+r)/D"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_choice_is_noticed(name: str) -> None:
    statement = theorem(name)
    parameter, text = CHANGED[name]
    assert parameter in statement.choices
    changed = replace(statement, choices={**statement.choices, parameter: text})
    assert check_derivation(changed).verdict in {"fails", "generous"}
    assert statement.derived is not None
    left, right = (substitute(rate, changed.choices) for rate in (base_of(changed)[1], statement.derived))
    assert np.abs(gaps(left, right, statement.where, name)).max() > FLAT


def test_a_smaller_lower_bound_is_generous_and_a_larger_one_fails() -> None:
    statement = theorem("P3.T9")
    assert statement.kind == "lower"
    assert check_derivation(statement, rate=f"({statement.derived})/d").verdict == "generous"
    assert check_derivation(statement, rate=f"({statement.derived})*d").verdict == "fails"


def test_what_cannot_be_derived_is_refused() -> None:
    with pytest.raises(InputError, match="no derived rate"):
        check_derivation(replace(theorem("P2.T4"), derived=None))
    with pytest.raises(InputError, match="has a rate"):
        check_derivation(replace(theorem("P2.T4"), follows_from=()))


@pytest.mark.parametrize("name", ["P2.INTRO.lower", "P2.INTRO.simple", "P2.CONCLUSION.simple", "P2.ABS"])
def test_the_item_it_follows_from_is_the_derived_rate(name: str) -> None:
    assert check_derivation(theorem(name)).verdict == "exact"


# Print against derivation.

PRINTED = [s for s in theorems() if s.printed and s.derived and s.printed != s.derived]
SAME = {"P0.R3.strong", "P0.R5.optimal", "P0.L6", "P2.T5"}  # written differently


@pytest.mark.parametrize(
    "statement", but_long(PRINTED, *(s.id for s in PRINTED if s.paper in ("P0", "P3")), "P2.E107", "P2.T7")
)
def test_print_and_derivation_differ_exactly_where_known(statement: Statement) -> None:
    found = both_ways(statement)
    assert found is not None
    verdicts = [type(answer) for answer in found]
    assert (Separation in verdicts) == (statement.id not in SAME)
    assert str not in verdicts
    if statement.paper == "P4":  # where they differ the print is larger, and true
        assert verdicts == [Dominance, Separation]


# Best choices.


def test_choices_belong_to_statements() -> None:
    for choice in choices():
        theorem(choice.statement)
    assert len({choice.statement for choice in choices()}) == len(choices())


FACTORS = {
    "P0.T6": "log(1/delta)**(1/(2*k))",
    "P2.T4": "log(n)**(1/p)",
    "P3.T1": "log(1/xi)**(v/(2*(v + 1)))",
    "P3.T7": "d**(v/(v + 1))",
    "P4.LD.5.step": "sqrt(T)*sqrt(tau)/sqrt(R)",
}


SLOW = (
    *("P0.T1", "P0.T6", "P0.T6.box", "P2.O4", "P2.T4", "P3.O1", "P3.O3", "P3.T1", "P3.T6", "P3.T10"),
    *("P4.OURS.bound", "P4.OURS.phase", "P4.TE.1"),
)


@pytest.mark.parametrize("choice", but_long(choices(), *SLOW))
def test_the_choice_is_best_exactly_where_recorded(choice: Choice) -> None:
    check = check_choice(choice)
    assert isinstance(check.below, Dominance)
    assert isinstance(check.attained, Dominance if choice.attained else Separation)
    assert (check.factor and check.factor.factor) == FACTORS.get(choice.statement)
    found = gaps(check.best, check.chosen, choice.where, choice.statement, logs=choice.logs)
    assert found.size >= 20
    assert found.max() <= FLAT
    assert (found.min() >= -FLAT) or not choice.attained


@pytest.mark.parametrize("choice", [c for c in choices() if c.attained], ids=lambda c: c.statement)
def test_no_value_of_a_parameter_is_better_at_random_points(choice: Choice) -> None:
    """Each parameter in turn is moved by a power of n; the others follow where their choices mention it."""
    chosen = substitute(choice.rate, choice.chosen)
    for name, other in ((name, other) for name in choice.chosen for other in ("n**(1/3)", "n**(-1/3)")):
        moved = substitute(choice.rate, {**choice.chosen, name: f"({choice.chosen[name]})*{other}"})
        assert gaps(chosen, moved, choice.where, choice.statement, logs=choice.logs).max() <= FLAT


def test_a_worse_choice_does_not_attain_the_best() -> None:
    choice = next(c for c in choices() if c.statement == "P4.P2.5")
    worse = check_choice(replace(choice, chosen={"C": "G*(n*eps/d)**(1/(k+1))"}))
    assert isinstance(worse.attained, Separation)
    assert isinstance(worse.below, Dominance)


def test_the_order_of_minimisation_does_not_matter() -> None:
    choice = replace(next(c for c in choices() if c.statement == "P4.INTRO.d"), where=("k==3",))
    first, second = check_choice(choice), check_choice(replace(choice, chosen=dict(reversed(choice.chosen.items()))))
    assert [step.parameter for step in second.steps] == [step.parameter for step in reversed(first.steps)]
    assert np.abs(gaps(first.best, second.best, (), "order")).max() <= FLAT
