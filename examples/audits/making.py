"""What cases of diffprivlib have in common; it is imported where it is needed, so that cases can be listed without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from harness import Case, Run, Test, by_runs

from tailproof.refimpl.claims import PureDP

EPSILONS = (0.1, 1.0, 5.0)
READING = "the other reading of neighbours saves it, and the documentation does not say which is meant"


def case_of(subject: str, setting: str, test: Test, witness: str, *, epsilon: float = 1.0, **more: str) -> Case:
    return Case("diffprivlib", subject, f"{setting}, ε = {epsilon:g}", PureDP(epsilon), test, witness, **more)


def runs_of(
    subject: str, setting: str, run: Run, pair: tuple[Any, Any], witness: str, budget: int, epsilon: float = 1.0, **more: str
) -> Case:
    return case_of(subject, setting, by_runs(run, pair, budget=budget), witness, epsilon=epsilon, **more)


def state(rng: np.random.Generator) -> np.random.RandomState:
    """The generator of an audit, as diffprivlib takes it."""
    return np.random.RandomState(rng.bit_generator)


def settings(rng: np.random.Generator) -> dict[str, Any]:
    """An accountant of its own for every run: the default one keeps a list that grows."""
    return {"random_state": state(rng), "accountant": import_module("diffprivlib.accountant").BudgetAccountant()}


def model(name: str) -> Any:
    return getattr(import_module("diffprivlib.models"), name)


def tool_of(name: str) -> Any:
    return getattr(import_module("diffprivlib.tools"), name)


def one_moves(records: int, start: float, end: float) -> tuple[Any, Any]:
    """A column of equal numbers, and the same with the last one elsewhere."""
    data = np.full((records, 1), start)
    return data, np.vstack([data[1:], [[end]]])
