"""The outcome-class check: planted aborts, hangs and delays are found between neighbours, and honest mechanisms pass."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.catalogue import algorithm
from tailproof.refimpl.channel import L1, Channel
from tailproof.refimpl.claims import ADD_REMOVE, Claim, PureDP
from tailproof.refimpl.laws import Laplace
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import check_mechanism, outcomes
from tailproof.verification.check import QUICK, outcomes_finding
from tailproof.verification.outcome_cases import DOMAINS, LOSSES, case_of
from tailproof.verification.outcomes import ANSWER, NO_END, Outcomes, adversarial_pairs, check_outcomes, varied
from tailproof.verification.subject import subject_of


def honest(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    return np.clip(data, -1, 1).sum(axis=0) + rng.laplace(scale=2.0, size=data.shape[1])


def singular(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    clipped = np.clip(data, -1, 1)
    return honest(data, rng) + 0 * np.linalg.inv(clipped.T @ clipped).sum()


def overflows(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    if np.isinf(np.square(data).sum()):
        raise OverflowError("too large")
    return honest(data, rng)


def divides(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    return honest(data, rng) + 0 * (1 / float(data[-1, -1] - data[0, 0] or data.std() or 1 // int(data.any())))


def hangs(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    while np.abs(data).max() > 1e100:
        pass
    return honest(data, rng)


def aborts_at_random(data: FloatArray, rng: np.random.Generator) -> FloatArray:
    if rng.random() < 0.5:
        raise ValueError("at random")
    return honest(data, rng)


def released(data: FloatArray, channel: Channel) -> FloatArray:
    """Aborts after it has released something."""
    found = channel.release(
        "sum", Laplace(np.clip(data, -1, 1).sum(axis=0), 2.0), sensitivity=L1(2 * data.shape[1]), spend=PureDP(data.shape[1])
    )
    if np.abs(data).max() > 1e200:
        raise OverflowError("too late")
    return found


def judged(mechanism: Any, claim: Claim | str = "pure(eps=1)", **further: Any) -> None:
    dict(check_mechanism(mechanism, claim, **further))["outcomes"]()


@pytest.mark.parametrize("mechanism", [singular, overflows, divides, released])
def test_a_planted_abort_is_found(mechanism: Any) -> None:
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=r"how a run ends depends on the data: .* 20 of 20"):
        judged(mechanism)


def test_what_never_ends_is_found() -> None:
    with pytest.raises(AssertionError, match=r"no end .* 5 of 5"):
        judged(hangs, time_limit=0.1)


@pytest.mark.parametrize("mechanism", [honest, aborts_at_random])
def test_what_ends_the_same_way_passes(mechanism: Any) -> None:
    judged(mechanism)
    judged(mechanism, columns=3, bounds=(0.0, 1.0))


def test_add_remove_pairs_are_of_different_sizes() -> None:
    judged(honest, PureDP(1, ADD_REMOVE))
    with pytest.raises(AssertionError, match="how a run ends"):
        judged(overflows, PureDP(1, ADD_REMOVE))


def test_time_counts_where_it_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred times the computing, five times of five, is violated; once is undecided."""
    monkeypatch.setattr(outcomes, "LEAST_SECONDS", 1e-3)
    pair = (np.zeros((3, 1)), np.ones((3, 1)) * [[1.0], [0.0], [0.0]])

    def wait(seconds: float) -> None:
        start = time.process_time()
        while time.process_time() - start < seconds:
            pass

    found = check_outcomes(lambda data, _: wait(0.12 if data.any() else 0.0), [pair], 0)
    assert found.measurement.exceeds
    once = check_outcomes(lambda data, seed: wait(0.12 if data.any() and seed == 0 else 0.0), [pair], 0)
    assert not once.measurement.exceeds
    assert "1 seeds only" in once.measurement.undecided
    faster = check_outcomes(lambda data, _: wait(0.03 if data.any() else 0.001), [pair], 0)
    assert faster.measurement.passes


def test_a_difference_that_does_not_repeat_is_undecided() -> None:
    pair = (np.zeros((2, 1)), np.array([[1.0], [0.0]]))

    def rarely(data: FloatArray, seed: int) -> None:
        if data.any() and seed == 3:
            raise ArithmeticError

    found = check_outcomes(rarely, [pair], 3).measurement
    assert not found.exceeds
    assert found.undecided


def test_two_data_sets_that_end_differently_lead_to_neighbours() -> None:
    """No given pair tells; the chain between them does."""

    def run(data: FloatArray, _: int) -> None:
        if data.sum() >= 5:
            raise ArithmeticError

    zeros, ones = np.zeros((8, 1)), np.ones((8, 1))
    almost = ones.copy()
    almost[0] = 2.0
    found = check_outcomes(run, [(zeros, zeros), (ones, almost)], 0)
    assert found.measurement.exceeds
    assert {side.sum() for side in found.pair} == {4.0, 5.0}
    assert Outcomes(run).at(zeros, 0).kind == ANSWER != NO_END


def test_the_adversary_makes_finite_neighbours() -> None:
    rng = np.random.default_rng(5)
    pairs = list(itertools.islice(adversarial_pairs(6, 3, rng), 3000))
    for data, neighbour in pairs:
        assert np.isfinite(data).all()
        assert np.isfinite(neighbour).all()
        assert (data != neighbour).any(axis=1).sum() <= 1
    sizes = np.array([np.abs(neighbour).max() for _, neighbour in pairs])
    assert sizes.max() > 1e300
    assert (sizes[sizes > 0].min()) < 1e-300


def test_numbers_are_made_small_and_large() -> None:
    made = list(varied({"epsilon": 2.0, "loss": "absolute", "weight": 0.5}))
    assert [one["epsilon"] for one in made] == [2.0, 0.002, 2000.0, 2.0, 2.0]
    assert [one["weight"] for one in made] == [0.5, 0.5, 0.5, 0.0005, 500.0]


ROWS_IN_BRIEF = ("P4.S1", "P4.A2", "P4.A4", "P4.A1", "P4.A5", "P4.S2")


@pytest.mark.parametrize("row", ROWS_IN_BRIEF)
def test_the_rows_end_the_same_way_on_a_sample(row: str) -> None:
    """The first cases of `benchmarks/outcomes.py`, a few pairs each."""
    for index in (0, 2, 5):
        found = case_of(row, index).check(index, 3)
        assert not found.measurement.exceeds, found.measurement.detail


def test_cases_cover_all_losses_and_domains() -> None:
    words = [case_of("P4.S1", index).words.split(", ")[:2] for index in range(72)]
    assert {loss for loss, _ in words} == set(LOSSES)
    assert {domain for _, domain in words} == set(DOMAINS)


def test_verify_finds_an_abort_that_pairs_do_not_reach() -> None:
    """One that large features beside a small target bring about; its witness finds it again."""
    entry = algorithm("P2.A2").implementation
    assert entry is not None

    def aborts(data: FloatArray, channel: Channel, **parameters: Any) -> Any:
        if np.abs(data).max() > 1e250:
            raise OverflowError("too large")
        return entry.mechanism(data, channel, **parameters)

    subject = replace(subject_of("P2.A2", 0, implementation=entry), mechanism=aborts)
    finding = outcomes_finding(subject, 3, QUICK)
    assert finding.status == "violated"
    assert "how a run ends depends on the data" in finding.detail
    assert outcomes_finding(subject_of("P2.A2", 0, implementation=entry), 3, QUICK).status == "consistent"
