"""Rare sides of choices are reached or named; what was reached is in a pair; honest mechanisms have none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.channel import Channel
from tailproof.verification import neighbours
from tailproof.verification.branches import Exploration, Recorder, explore, own_code, untaken
from tailproof.verification.branches.comparisons import Watch, watching
from tests.verification import branch_toys as toys

SHAPE = (6, 2)


def go(mechanism: Any, **more: Any) -> Exploration:
    def run(data: Any) -> Any:
        return mechanism(data, Channel.sampling(np.random.default_rng(0)))

    pairs = list(neighbours.structured(*SHAPE, np.random.default_rng(1), scales=(1.0, 1e6), directions=1))
    return explore(run, mechanism, SHAPE, **({"budget": 1500, "seed": 3, "pairs": pairs} | more))


def outcomes(mechanism: Any, found: Exploration) -> set[tuple[float, float]]:
    return {tuple(_location(mechanism, side) for side in pair) for pair in found.pairs}  # type: ignore[misc]


def _location(mechanism: Any, data: Any) -> float:
    channel = Channel.sampling(np.random.default_rng(0))
    try:
        mechanism(data, channel)
    except AssertionError:
        return -1.0
    return float(channel.transcript().releases[0].law.location[0])  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", toys.HIDDEN)
def test_steering_reaches_what_is_hidden(name: str) -> None:
    """Whatever a branch is taken for: one that is wrongly called public or continuous was not reached."""
    missed = [str(branch) for branch in go(toys.HIDDEN[name]).untaken if not branch.raises]
    assert not missed


@pytest.mark.parametrize("name", toys.HIDDEN)
def test_nothing_hidden_is_called_public(name: str) -> None:
    """On ordinary data alone."""
    mechanism, data = toys.HIDDEN[name], np.random.default_rng(1).standard_normal(SHAPE)
    assert {branch.depends for branch in untaken(mechanism, [lambda: _location(mechanism, data)])} <= {"data"}


@pytest.mark.parametrize(
    "name", ["median", "entry", "distinct", "all_above", "where", "nested", "object", "partial", "asserted"]
)
def test_a_pair_straddles_the_choice(name: str) -> None:
    """The law differs between its two sides as it does between the choice's."""
    mechanism = toys.HIDDEN[name]
    assert any(first != second for first, second in outcomes(mechanism, go(mechanism)))


def test_every_pair_is_of_neighbours() -> None:
    for data, neighbour in go(toys.HIDDEN["median"], admissible=lambda data: np.clip(data, -2e3, 2e3)).pairs:
        assert (data != neighbour).any(axis=1).sum() == 1
        assert max(np.abs(data).max(), np.abs(neighbour).max()) <= 2e3


def test_what_is_out_of_reach_is_named() -> None:
    branch, *opaque = go(toys.hashed, budget=200).blocking
    assert str(branch).startswith("line ")
    assert "of hashed: `hashlib.sha256(x.tobytes()).hexdigest().startswith(" in str(branch)
    assert str(branch).endswith("was never true")
    assert opaque
    assert all(str(one).endswith("decides what nobody sees, on private values") for one in opaque)


def test_a_rare_refusal_is_named() -> None:
    """A guard that inadmissible data take is none of the mechanism's choices; one beside it that nothing takes is."""
    branch, *opaque = go(toys.refuses_rarely, budget=200).blocking
    assert "sha256" in str(branch)
    assert branch.raises
    assert not [one for one in opaque if "nobody sees" not in str(one)]


def test_a_guard_that_asks_of_something_else_than_the_data_is_named() -> None:
    found = go(toys.asks_something_else, budget=200)
    assert ["isinf" in branch.text for branch in found.blocking] == [True]


def test_a_run_that_goes_on_is_broken_off() -> None:
    def halves(x: Any, c: Any) -> Any:
        value = np.abs(x).max()
        while value > 1:
            value = value / 2
        return toys.out(c, value)

    assert not go(halves).blocking  # infinity is halved for ever


def test_bounds_keep_the_search_inside() -> None:
    found = go(toys.HIDDEN["median"], pairs=(), admissible=lambda data: np.clip(data, -1, 1))
    assert [branch.outcome for branch in found.blocking] == ["was never true"]


def test_a_mechanism_without_source_is_traced() -> None:
    mechanism = toys.without_source()
    ordinary = [lambda: mechanism(np.zeros(SHAPE), Channel.sampling(np.random.default_rng(0)))]
    (branch,) = untaken(mechanism, ordinary)
    assert str(branch) == "line 2 of hidden: a condition was never true"


@pytest.mark.parametrize("name", toys.HONEST)
def test_honest_mechanisms_have_nothing_unseen_but_public_choices(name: str) -> None:
    found = go(toys.HONEST[name])
    assert not found.blocking, [str(branch) for branch in found.blocking]


def test_public_choices_and_guards_are_told_apart() -> None:
    told = {branch.text: branch for branch in go(toys.clipped_mean).untaken}
    assert told["`clip <= 0`"].raises
    assert told['`mode == "other"`'].depends == "public"


def test_a_clip_at_the_bounds_of_the_data_is_impossible_to_pass() -> None:
    found = go(toys.bounded, pairs=(), admissible=lambda data: np.clip(data, 0, 1))
    assert not found.blocking
    assert all(branch.impossible for branch in found.untaken if "clip" in branch.text)


def test_a_released_value_is_public() -> None:
    assert {branch.depends for branch in go(toys.iterated).untaken if "1e9" in branch.text} == {"public"}


def test_watching_leaves_results_and_code_as_they_were() -> None:
    for mechanism in [*toys.HIDDEN.values(), *toys.HONEST.values()]:
        data, own = np.random.default_rng(5).standard_normal(SHAPE), own_code(mechanism)
        before = [function.__code__ for function in own.functions]
        plain = _location(mechanism, data)
        with watching(own, Watch()):
            assert [f.__code__ for f in own.functions] != before
            assert _location(mechanism, data) == plain
        assert [f.__code__ for f in own.functions] == before


def test_the_trace_is_taken_away_and_stops_at_complete_code() -> None:
    recorder = Recorder(own_code(toys.median))
    for value in (0.0, 1e6):
        recorder.record(lambda value=value: _location(toys.median, np.full(SHAPE, value)))  # type: ignore[misc]
    assert {jumped for code, _, jumped in recorder.taken if code is toys.median.__code__} == {True, False}
