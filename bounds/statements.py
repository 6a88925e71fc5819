"""What a paper states, as values.

Rates are text that `tailproof.bounds.rates` reads, conditions text that `tailproof.bounds.compare` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["definition", "upper", "lower", "lemma", "privacy", "runtime", "impossibility"]
# "proof": the paper states it only within a proof; "reconstructed": our text of the paper lacks the formulas, and we restored them
# (`tailproof.bounds.citations` says of which papers, and why); "ours": not a statement of the paper.
Source = Literal["printed", "proof", "reconstructed", "ours"]
Relation = Literal["<=", "==", "not <="]


@dataclass(frozen=True)
class Statement:
    """One numbered item, table row or sentence of a paper.

    `printed` is the rate as the paper prints it, `derived` the rate that follows from the items of `follows_from` with the
    parameter choices of `choices`: they are put into the rate of the first of these items that has one, and a choice, or `derived`
    itself, may mention letters that other choices explain.  Constants are dropped, logarithms kept.  `where` are the conditions
    under which it is stated, as far as they are inequalities between monomials or ranges of structural parameters; the rest is in
    `assumptions`, in words.
    """

    id: str  # "P3.T5"
    label: str  # "Theorem 5": as in the labels of the paper
    kind: Kind
    source: Source
    says: str  # one sentence
    place: str = ""  # section, or page, or what it stands in
    assumptions: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    printed: str | None = None
    derived: str | None = None
    hidden: str = ""  # what an O, Õ or ≲ of the print hides
    choices: Mapping[str, str] = field(default_factory=dict)
    follows_from: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()  # why print and derivation differ
    explicit: Callable[..., float] | None = None  # the inequality with its constants, where they exist

    @property
    def paper(self) -> str:
        return self.id.split(".")[0]

    @property
    def reconstructed(self) -> bool:
        """Whether the formulas are restored by us: then `printed` is what we take the paper to print."""
        return self.source == "reconstructed"


@dataclass(frozen=True)
class Comparison:
    """A sentence of a paper that compares two rates: "improves on", "matches", "optimal up to", "reduces to … for v = 1"."""

    id: str
    place: str
    says: str
    left: str
    relation: Relation  # as the paper claims: left ≲ right, left ≍ right
    right: str
    where: tuple[str, ...] = ()
    holds: bool = True  # what is true: False where the claim is wrong
    errata: tuple[str, ...] = ()  # and then why
    reconstructed: bool = False  # whether a rate in it is one that our text of the paper lacks


@dataclass(frozen=True)
class Choice:
    """Free parameters of a rate and what a statement takes for them.

    `tailproof.bounds.derivations` says whether any choice is better.

    `chosen` has the parameters in the order in which they are minimised; a choice may mention later ones.  `where` must not bound
    them.
    """

    statement: str  # the id of the statement that takes the choice
    rate: str  # before the choice
    chosen: Mapping[str, str]
    where: tuple[str, ...] = ()
    logs: bool = True
    attained: bool = True  # what is true: whether the choice has the best rate
    excess: str | None = None  # a monomial: the loss is measured in its powers
    note: str = ""
