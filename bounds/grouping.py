"""What a group of the atlas is: one problem, one kind of privacy, and how statements are translated to its language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

Reading = Literal["printed", "derived"]
Privacy = Literal["ε-DP", "(ε, δ)-DP", "ρ-zCDP", "none"]


@dataclass(frozen=True)
class Entry:
    """Statements that are translated in one way: symbols by `choices`, then the rate to the `power`, times the `factor`."""

    ids: str  # "P2.T4 P2.ABS"
    choices: Mapping[str, str]
    assumes: str = ""  # what the translation takes for granted, in words
    power: str = "1"
    factor: str = "1"
    where: tuple[str, ...] = ()  # conditions in the group's language that the translation needs
    without: tuple[str, ...] = ()  # conditions of the statement that cannot be said in the language; `assumes` says them
    reading: Reading | None = None  # both, if left out


@dataclass(frozen=True)
class Plot:
    """The plane x = log_n(across), y = log_n(1/up) (for ρ: of 1/√ρ), at some values of the structural parameters."""

    values: tuple[Mapping[str, Fraction], ...]
    across: str = "d"
    up: str = "eps"
    fixed: Mapping[str, Fraction] = field(default_factory=dict)  # log_n of what else stands in the rates


@dataclass(frozen=True)
class Group:
    """One problem, one kind of privacy: what may stand in its rates, where they are compared, and how statements get there."""

    id: str
    title: str
    problem: str  # the class, in a sentence
    privacy: Privacy
    language: tuple[str, ...]
    where: tuple[str, ...]
    dictionary: tuple[tuple[str, str], ...]  # from, to: in words
    entries: tuple[Entry, ...]
    left_out: tuple[tuple[str, str], ...] = ()  # ids, why
    logs: bool = False
    plot: Plot | None = None
