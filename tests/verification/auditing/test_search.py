"""The search for neighbours: candidates are admissible, runs are counted, bad pairs are found without being told."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.claims import ADD_REMOVE, GDP, Claim, PureDP
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.auditing import zoo
from tailproof.verification.auditing.admissible import Admissible
from tailproof.verification.auditing.replay_search import search_by_replay
from tailproof.verification.auditing.runner import FunctionRunner
from tailproof.verification.auditing.search import changed, search_neighbours, structured
from tailproof.verification.auditing.surrogates import looks
from tailproof.verification.subject import Subject, subject_of

SPACES = {
    "one column": Admissible(3, 1, 0.0, 1.0),
    "one record": Admissible(1, 4, -1.0, 2.0),
    "wide": Admissible(4, 9, -2.0, -1.0),
    "unbounded": Admissible(5, 3),
    "bounded below": Admissible(5, 2, low=3.0),
    "bounded above": Admissible(5, 2, high=-3.0),
    "add-remove": Admissible(4, 3, 0.0, 1.0, ADD_REMOVE),
    "sampled": Admissible(6, 2, -5.0, 5.0, sampler=lambda rng: rng.uniform(-5, 5, (6, 2))),
}


@pytest.mark.parametrize("name", SPACES)
def test_candidates_are_neighbours_within_the_bounds(name: str) -> None:
    space, rng = SPACES[name], np.random.default_rng(0)
    candidates = structured(space, rng)
    assert len({candidate.key for candidate in candidates}) == len(candidates) >= 1
    for candidate in candidates:
        assert space.is_pair(candidate.pair)
        assert not np.array_equal(*candidate.pair)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(SPACES)), st.integers(0, 10_000))
def test_changes_stay_neighbours_within_the_bounds(name: str, seed: int) -> None:
    space, rng = SPACES[name], np.random.default_rng(seed)
    candidates = structured(space, rng)
    candidate = candidates[seed % len(candidates)]
    for _ in range(8):
        candidate = changed(candidate, space, rng)
        assert space.is_pair(candidate.pair)


def test_the_kinds_of_candidates() -> None:
    """Zero, bounds, outliers of growing size, sign flips, duplicates, one column alone, half up and half down."""

    def has(space: Admissible, before: list[float], after: list[float]) -> bool:
        return any(
            np.array_equal(c.before, before) and c.after is not None and np.array_equal(c.after, after)
            for c in structured(space, np.random.default_rng(0))
        )

    box = Admissible(3, 4, -1.0, 1.0)
    assert has(box, [-1.0] * 4, [1.0] * 4)
    assert has(box, [0.0] * 4, [1.0] * 4)
    assert has(box, [1.0, 1.0, -1.0, -1.0], [-1.0, -1.0, 1.0, 1.0])
    assert has(box, [-1.0] * 4, [1.0, -1.0, -1.0, -1.0])
    free = Admissible(3, 1)
    for size in (1.0, 1e2, 1e6):
        assert has(free, [0.0], [size])
        assert has(free, [-size], [size])
    others = [c.others for c in structured(box, np.random.default_rng(0))]
    assert any((o == 0).all() for o in others)
    assert any((o == o[0]).all() for o in others)
    assert any((o.sum(axis=1) == -2).all() for o in others)  # one entry up in every row


def test_a_sampler_of_another_shape_is_refused() -> None:
    with pytest.raises(InputError, match="sampler"):
        structured(Admissible(3, 2, sampler=lambda rng: rng.random((2, 2))), np.random.default_rng(0))


# --- surrogates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["laplace", "geometric", "randomised-response", "vector-laplace", "exponential"])
def test_surrogates_come_close_to_epsilon(name: str) -> None:
    """From many runs, and from swapped sides."""
    one = zoo.specimen(name)
    first, second = (one.subject(data, np.random.default_rng(side), 30_000) for side, data in enumerate(one.pair))
    found = looks(first, second, one.claim)
    assert found < 3  # a maximum over thresholds of noisy ratios: up to 1.5 is seen
    assert found > {"vector-laplace": 0.4, "exponential": 0.6}.get(name, 0.85)
    assert looks(second, first, one.claim) == pytest.approx(found)


def test_surrogates_of_identical_and_of_separated_laws() -> None:
    rng = np.random.default_rng(1)
    for claim in (PureDP(1.0), GDP(1.0)):
        assert looks(np.zeros(500), np.zeros(500), claim) < 0
        assert looks(np.zeros((500, 2)), np.zeros((500, 2)), claim) < 0
        assert looks(rng.normal(size=500), rng.normal(10.0, size=500), claim) > 0.85
    assert looks(rng.normal(size=2000), rng.normal(3.0, size=2000), GDP(1.0)) == pytest.approx(0.866, abs=0.09)
    scale = looks(rng.laplace(size=5000), rng.laplace(scale=3.0, size=5000), PureDP(1.0))
    assert scale > 1.5  # equal means: only the distance from the middle tells


def test_surrogates_that_no_single_coordinate_would_give() -> None:
    """Values that take turns: only the odds of each tell.  A shift of random signs in many coordinates: only the projection."""
    rng = np.random.default_rng(2)
    turns = 2.0 * rng.integers(0, 20, size=2000)
    assert looks(turns, 2.0 * rng.integers(0, 20, size=2000) + 1, GDP(1.0)) > 0.8
    signs = np.where(np.arange(40) % 2 == 0, 0.4, -0.4)
    first, second = rng.normal(size=(2000, 40)), rng.normal(signs, size=(2000, 40))
    assert looks(first, second, GDP(1.0)) > 0.6  # one coordinate: 0.16; the distance from the middle: none


# --- the search -----------------------------------------------------------------------------------------------------------


class Counting:
    """A runner that counts."""

    def __init__(self, subject: zoo.Sampler) -> None:
        self.inner, self.runs = FunctionRunner(subject), 0

    def sample(self, data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
        self.runs += size
        return self.inner.sample(data, rng, size)


BROKEN = ["laplace-half", "noisy-max-value", "svt-stoddard", "unclipped-mean", "clipped-too-late", "signed-sum"]
BROKEN += ["noise-by-size", "shared-noise"]


@pytest.mark.parametrize("name", BROKEN)
def test_bad_pairs_are_found(name: str) -> None:
    """What looks worst also looks worse than the claim allows on fresh runs; and the runs are as many as stated."""
    one = zoo.specimen(name)
    runner = Counting(one.subject)
    found = search_neighbours(runner, one.space, one.claim, budget=6000, seed=1)
    assert found.runs == runner.runs <= 6000
    assert found.incidents == ()
    assert 1 <= len(found.pairs) <= 4
    assert all(one.space.is_pair(pair) for pair in found.pairs)
    assert isinstance(one.claim, PureDP)
    rng = np.random.default_rng(99)
    fresh = [looks(*(one.subject(data, rng, 4000) for data in pair), one.claim) for pair in found.pairs]
    assert max(fresh) > 1.2 * one.claim.epsilon  # the least seen in 40 searches of each: 1.79


@pytest.mark.parametrize("budget", [80, 200, 500])
def test_small_budgets_are_kept(budget: int) -> None:
    one = zoo.specimen("svt-stoddard")
    runner = Counting(one.subject)
    found = search_neighbours(runner, one.space, one.claim, budget=budget, seed=0)
    assert found.runs == runner.runs <= budget
    assert found.pairs


def test_the_search_is_repeated_by_its_seed() -> None:
    one = zoo.specimen("exponential-twice")
    runs = [
        search_neighbours(FunctionRunner(one.subject), one.space, one.claim, budget=2000, seed=seed).promises[0].looks
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_a_bad_pair_off_the_structure_is_reached_by_changes() -> None:
    """Only the second record leaks, and every structured candidate changes the first or the last."""

    def subject(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.normal(50.0 * data[1, 0], 1.0, size)

    def leaks(pair: tuple[FloatArray, FloatArray]) -> bool:
        return bool(pair[0][1, 0] != pair[1][1, 0])

    space = Admissible(4, 1, 0.0, 1.0)
    assert not any(leaks(c.pair) for c in structured(space, np.random.default_rng(0)))
    found = [search_neighbours(FunctionRunner(subject), space, PureDP(1.0), budget=8000, seed=s).pairs[0] for s in range(12)]
    assert any(leaks(pair) for pair in found)


def test_failures_on_some_pairs_are_reported_and_the_rest_ranked() -> None:
    def subject(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
        if np.abs(data).max() > 1e3:
            raise OverflowError("too large")
        return rng.normal(data.sum(), 1.0, size)

    space = Admissible(3, 1)
    found = search_neighbours(FunctionRunner(subject), space, PureDP(1.0), budget=3000, seed=0)
    assert found.incidents
    for incident in found.incidents:
        assert incident.kind == "raised"
        assert incident.pair is not None
        assert max(np.abs(side).max() for side in incident.pair) > 1e3
    assert found.promises[0].looks > 2
    assert all(max(np.abs(side).max() for side in pair) <= 1e3 for pair in found.pairs)


def test_a_subject_that_always_fails() -> None:
    def subject(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
        raise RuntimeError(f"{data.shape} {rng} {size}")

    found = search_neighbours(FunctionRunner(subject), Admissible(2, 1, 0.0, 1.0), PureDP(1.0), budget=500, seed=0)
    assert found.pairs == ()
    assert found.runs == 0
    assert found.incidents


def honest(identifier: str) -> Subject:
    from tailproof.refimpl.catalogue import algorithm

    implementation = algorithm(identifier).implementation
    assert implementation is not None
    return subject_of(identifier, 0, implementation=implementation)


def test_replay_finds_pairs_that_attain_the_sensitivity() -> None:
    found = search_by_replay(honest("P2.A2"), seed=0, keep=3)
    assert len(found.promises) == 3
    assert found.promises[0].looks == pytest.approx(1.0, abs=1e-6)
    assert [p.looks for p in found.promises] == sorted((p.looks for p in found.promises), reverse=True)
    first, second = found.pairs[0]
    assert int((first != second).any(axis=1).sum()) == 1
    assert found.runs > 100


def test_bad_input() -> None:
    one = zoo.specimen("laplace")
    runner = FunctionRunner(one.subject)
    cases: list[tuple[Claim, dict[str, int], str]] = [
        (one.claim, {"budget": 10}, "budget"),
        (one.claim, {"keep": 0}, "keep"),
        (PureDP(1.0, ADD_REMOVE), {}, "add-remove"),
    ]
    for claim, change, message in cases:
        with pytest.raises(InputError, match=message):
            search_neighbours(runner, one.space, claim, **{"budget": 1000, "seed": 0, **change})
    assert math.isinf(Admissible(1, 1).high)
