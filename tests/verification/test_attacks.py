"""No attack passes, and no honest twin is flagged or skipped.  Exact checks alone, but for how a function must behave on data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tailproof.verification import check_mechanism
from tailproof.verification.ending import TIME_LIMIT
from tests.verification.attacks import (
    Attack,
    Honest,
    accounts,
    assorted,
    declared,
    disguised,
    endings,
    escapes,
    honest,
    honest_styles,
    rare,
    resized,
    thresholds,
)

FILES = (declared, rare, resized, escapes, thresholds, disguised, accounts, assorted, endings)
ATTACKS = tuple(attack for file in FILES for attack in file.ATTACKS)
TWINS = (*honest.TWINS, *resized.TWINS, *honest_styles.TWINS)
STRUCTURAL = ("accepts data", "output finite")


def checks_of(subject: Attack | Honest) -> dict[str, Callable[[], None]]:
    size: dict[str, Any] = {"records": subject.records, "columns": subject.columns, "bounds": subject.bounds}
    seconds = subject.seconds if isinstance(subject, Attack) else TIME_LIMIT
    return dict(check_mechanism(subject.mechanism, subject.claim, time_limit=seconds, **size))


@pytest.mark.parametrize("attack", ATTACKS, ids=[f"{k}-{attack.name}" for k, attack in enumerate(ATTACKS)])
def test_an_attack_is_caught_by_a_check_that_it_names(attack: Attack) -> None:
    checks = checks_of(attack)
    said = {}
    for name in attack.caught_by:
        try:
            checks[name]()
        except AssertionError as error:
            said[name] = str(error)
            break
    assert said, f"{attack.name} passes {', '.join(attack.caught_by)}, and is not private: {attack.why}"


@pytest.mark.parametrize("twin", TWINS, ids=[f"{k}-{twin.name}" for k, twin in enumerate(TWINS)])
def test_an_honest_twin_passes_every_exact_check(twin: Honest) -> None:
    for name, check in checks_of(twin).items():
        if name.startswith("exact: "):
            check()  # a failure or a skip ends the test


def test_there_are_enough_of_both() -> None:
    assert len({attack.name for attack in ATTACKS}) >= 60
    assert len({twin.name for twin in TWINS}) >= 20
    assert all(attack.why for attack in ATTACKS)
