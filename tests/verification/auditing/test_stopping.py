"""Audits that stop at a refutation: what they cost in error and runs, and what they tell on the way."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP
from tailproof.refimpl.validation import InputError
from tailproof.verification.auditing import Admissible, audit, stopping
from tailproof.verification.auditing.progress import Progress
from tailproof.verification.auditing.stopping import (
    BETS,
    FEWEST,
    FIRST_STAGE,
    LAST,
    LOOKS,
    SHRINK,
    look_ends,
    look_errors,
    stage_sizes,
)

PAIR = [(0.0, 1.0)]


def laplace(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return data + rng.laplace(size=size)


def response(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return np.where(rng.random(size) < math.e / (1 + math.e), data, 1 - data)


def gaussian(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return data + rng.normal(size=size)


def apart(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return 40 * data + rng.normal(size=size)


# --- the error -----------------------------------------------------------------------------------------------------------


def test_the_parts_of_the_error_add_up() -> None:
    assert pytest.approx(1.0) == BETS + LOOKS + LAST + SHRINK
    for looks in (1, 2, 6):
        assert sum(look_errors(looks, 0.01)) == pytest.approx((LOOKS + LAST) * 0.01)
        assert len(look_errors(looks, 0.01)) == looks
        assert look_errors(looks, 0.01)[-1] >= LAST * 0.01


@pytest.mark.parametrize("samples", [1, 99, 100, 1000, 123_457])
@pytest.mark.parametrize("first", [None, 1, 95, 5000])
def test_looks_have_growing_sizes_and_the_last_has_all(samples: int, first: int | None) -> None:
    ends = look_ends(samples, first)
    assert ends[-1] == samples
    assert all(here < later for here, later in itertools.pairwise(ends))
    assert first is not None or all(end >= FEWEST for end in ends[:-1])


@pytest.mark.parametrize("runs", [0, 99, 240, 241, 600, 720, 100_000])
def test_stages_take_what_there_is(runs: int) -> None:
    sizes = stage_sizes(runs)
    assert sum(sizes) <= runs
    assert runs - sum(sizes) < FEWEST
    assert all(size >= FEWEST for size in sizes)
    assert sizes[:1] == [min(runs, FIRST_STAGE)][: len(sizes)]


@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(1.0, 0.01), GDP(1.0), ZCDP(1.0)], ids=str)
@pytest.mark.parametrize("searched", [False, True])
def test_all_tests_of_an_audit_share_the_error(claim: Claim, searched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the bets get and the levels of all looks that were taken; shrinking has the rest."""
    levels: list[float] = []
    game, tally = stopping.game, stopping.Tally

    def bets(*arguments: Any, error: float) -> Any:
        levels.append(error)
        return game(*arguments, error=error)

    def look(*arguments: Any) -> Any:
        levels.append(arguments[4])
        return tally(*arguments)

    monkeypatch.setattr(stopping, "game", bets)
    monkeypatch.setattr(stopping, "Tally", look)
    where: Any = {"space": Admissible(1, 1, 0.0, 1.0)} if searched else {"pairs": PAIR}
    found = audit(
        lambda data, rng, size: 0 * np.sum(data) + rng.normal(size=size), claim, **where, budget=9000, confidence=0.99
    )
    assert found.verdict == "consistent"
    assert len(levels) > 3
    assert sum(levels) + SHRINK * 0.01 == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("subject", "claim"), [(laplace, PureDP(1.0)), (response, ZCDP(math.tanh(0.5))), (gaussian, GDP(1.0))]
)
def test_exact_claims_are_rarely_refuted_in_all_phases(subject: Any, claim: Claim) -> None:
    """Alarms of 60 audits at 5 %: more than allowed have a chance below 1e-7."""
    found = [audit(subject, claim, PAIR, budget=2500, confidence=0.95, seed=seed) for seed in range(60)]
    assert sum(one.verdict == "violated" for one in found) <= int(binom.isf(1e-7, 60, 0.05))
    assert all((one.verdict == "violated") == (one.p_value <= 0.05) for one in found)
    assert all((one.lower > 0) <= (one.p_value < 1) or one.lower < 1 for one in found)


# --- when it stops -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(1.0, 1e-5), GDP(1.0), ZCDP(1.0)], ids=str)
def test_a_gross_violation_takes_few_runs(claim: Claim) -> None:
    """40 standard deviations apart: a hundred guesses are right but for a chance of e^-200."""
    found = audit(apart, claim, PAIR, budget=100_000, confidence=1 - 1e-6)
    assert found.verdict == "violated"
    assert found.samples < 3000
    assert found.stopped_early
    assert "stopped as soon as the claim was refuted" in str(found)
    assert "≥" not in str(found).splitlines()[1]
    every = audit(apart, claim, PAIR, budget=3000, confidence=1 - 1e-6, exhaustive=True)
    assert (every.verdict, every.samples, every.stopped_early, every.exhaustive) == ("violated", 3000, False, True)
    assert every.lower > found.lower


def test_a_weak_violation_is_found_by_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bets with no error to spend never win.  ε = 2 and a claim of 1.5: every look at 2000 guesses or more finds it but for a
    chance of 1e-9."""

    def answers(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
        return np.where(rng.random(size) < 1 / (1 + math.exp(-2)), data, 1 - data)

    monkeypatch.setattr(stopping, "BETS", 1e-300)
    found = audit(answers, PureDP(1.5), PAIR, budget=40_000)
    assert found.verdict == "violated"
    assert found.samples < 40_000
    assert 1.5 <= found.lower < 2


def test_sequential_is_an_old_name_of_the_default() -> None:
    given: dict[str, Any] = {"budget": 2000, "confidence": 0.99, "seed": 3}
    default, alias = audit(laplace, PureDP(0.8), PAIR, **given), audit(laplace, PureDP(0.8), PAIR, **given, sequential=True)
    assert default.witness == alias.witness
    assert (default.lower, default.p_value, default.samples) == (alias.lower, alias.p_value, alias.samples)
    assert default.sequential
    with pytest.raises(InputError, match="exhaustive, sequential"):
        audit(laplace, PureDP(1.0), PAIR, **given, exhaustive=True, sequential=True)


def test_a_subject_that_always_fails_ends_the_audit_at_once() -> None:
    calls = []

    def fails(data: np.ndarray, rng: np.random.Generator) -> float:  # noqa: ARG001
        calls.append(1)
        raise ValueError("boom")

    found = audit(fails, PureDP(1.0), space=Admissible(10, 1), budget=100_000)
    assert found.verdict == "inconclusive"
    assert len(calls) < 3000
    assert str(found).splitlines()[1].startswith("the subject raised ValueError: boom (test_stopping.py:")


def test_a_subject_that_fails_in_the_middle_keeps_what_it_showed() -> None:
    """After 3000 runs, in the last test; randomised response is never refuted at 1 − 1e-9, but bounded from below."""
    runs = []

    def subject(data: float, rng: np.random.Generator) -> float:
        runs.append(1)
        if len(runs) > 3000:
            raise MemoryError
        return float(response(data, rng, 1)[0])

    found = audit(subject, PureDP(1.0), PAIR, budget=8000, confidence=1 - 1e-9)
    assert found.verdict == "inconclusive"
    assert 0.1 < found.lower < 1
    assert [one.kind for one in found.incidents] == ["raised"]


# --- what it tells -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exhaustive", [False, True])
def test_progress_is_told(exhaustive: bool) -> None:
    heard: list[Progress] = []
    found = audit(
        lambda data, rng, size: np.sum(data) + 0.2 * rng.laplace(size=size),
        PureDP(1.0),
        space=Admissible(3, 1, 0.0, 1.0, fewer=True),
        budget=20_000,
        exhaustive=exhaustive,
        progress=heard.append,
    )
    assert found.verdict == "violated"
    runs = [one.runs for one in heard]
    assert runs == sorted(runs)
    assert runs[-1] == found.samples
    assert {one.budget for one in heard} == {20_000}
    assert {one.stage for one in heard} == (
        {"searching", "testing"} if exhaustive else {"searching", "testing", "shrinking"}
    )
    assert max(one.pairs for one in heard) == found.pairs_tried


def test_the_power_is_said_in_one_sentence() -> None:
    found = audit(laplace, PureDP(1.0), PAIR, budget=4000, confidence=1 - 1e-7)
    assert found.verdict == "consistent"
    last = str(found).splitlines()[-1]
    assert last == (
        f"With this budget, a true ε of {found.detectable:.4g} or more would be detected with probability 0.9, "
        "if outputs reveal all of it."
    )
    little = audit(laplace, PureDP(8.0), PAIR, budget=60, confidence=1 - 1e-7)
    assert "too small to detect any violation" in str(little)


def test_a_p_value_of_nothing_is_said_to_be_small() -> None:
    found = audit(lambda data, rng, size: 1e3 * data + rng.random(size), PureDP(0.01), PAIR, budget=10_000, exhaustive=True)
    assert found.p_value < 1e-300
    assert "p < 1e-300" in str(found)
