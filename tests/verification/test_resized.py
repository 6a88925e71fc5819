"""Added and removed records: pairs of all sizes, in both directions, at every place; a failure can be seen again."""

from __future__ import annotations

import numpy as np
import pytest

from tailproof.refimpl.claims import ADD_REMOVE, PureDP
from tailproof.refimpl.validation import InputError
from tailproof.verification import replay_check
from tailproof.verification.pair_checks import Comparison
from tailproof.verification.subject import Pair
from tailproof.verification.transcripts.every_row import pairs_of_rows, removals
from tailproof.verification.transcripts.suite import Suite, subject_on
from tests.verification.attacks import resized

REMOVED = PureDP(1.0, ADD_REMOVE)
SHAPE = (5, 2)


def place(pair: Pair) -> int:
    """Of the record that only the longer side has: the last one possible."""
    longer, shorter = sorted(pair, key=len, reverse=True)
    assert len(longer) == len(shorter) + 1
    places = [row for row in range(len(longer)) if np.array_equal(np.delete(longer, row, axis=0), shorter)]
    assert places
    return places[-1]


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0.0, 1.0), (5.0, np.inf), (-np.inf, -7.0), (2.0, 3.0)])
def test_neighbours_have_all_sizes_and_directions_within_the_bounds(bounds: tuple[float, float]) -> None:
    found = Suite(resized.summed, REMOVED, SHAPE, *bounds).neighbours
    steps = {(len(first), len(second)) for first, second in found}
    assert steps >= {(k + 1, k) for k in range(5)} | {(k, k + 1) for k in range(5)}
    places = {place(pair) for pair in found if max(map(len, pair)) == 5}
    assert places >= {0, 2, 4}
    sides = [side for pair in found for side in pair if len(side)]
    assert all((side >= bounds[0]).all() and (side <= bounds[1]).all() for side in sides)
    assert all(side.shape[1] == 2 for pair in found for side in pair)


def test_what_tells_two_data_sets_apart_tells_one_from_what_they_share() -> None:
    first = np.arange(6.0).reshape(3, 2)
    second = first.copy()
    second[1] = -1.0
    (whole, rest), (again, other) = removals((first, second))
    assert np.array_equal(rest, again)
    assert np.array_equal(rest, first[[0, 2]])
    assert np.array_equal(whole, first)
    assert np.array_equal(other, second)
    for pair in removals((first, first)):
        place(pair)


def test_every_record_is_removed_and_those_at_the_ends_are_added() -> None:
    subject = subject_on(resized.summed, REMOVED, SHAPE, (0.0, 1.0))
    found = list(pairs_of_rows(subject, 0, most=10, sets=2))
    assert all(isinstance(compared, Comparison) for _, _, compared in found)
    assert len(found) == 2 * (5 + 3)
    assert sum(len(first) < len(second) for (first, second), _, _ in found) == 2 * 3
    for pair, _, _ in found:
        place(pair)


def test_a_failure_on_data_of_two_sizes_is_seen_again() -> None:
    data = [[0.9], [0.1], [0.8]]
    assert replay_check(resized.the_last_record, "pure(eps=1)", "closed", data, data[:2]).exceeds
    assert not replay_check(resized.the_last_record, "pure(eps=1)", "closed", data, data[1:]).exceeds
    assert replay_check(resized.alternating_sum, "pure(eps=1)", "every row", data, data[1:]).exceeds
    assert replay_check(resized.nothing_for_no_records, "pure(eps=1)", "closed", [[0.5]], []).exceeds
    assert replay_check(resized.nothing_for_no_records, "pure(eps=1)", "closed", [], [[0.5]]).exceeds
    assert not replay_check(resized.summed, "pure(eps=1)", "transcript", [], [[0.5]]).exceeds
    assert replay_check(resized.ten_steps_with_too_little_noise, resized.TEN, "composition", [[1.0]], []).exceeds
    assert not replay_check(resized.ten_steps, resized.TEN, "composition", [[1.0]], []).exceeds


def test_a_claim_about_the_other_relation_is_not_judged() -> None:
    with pytest.raises(InputError, match=r"of 2 and 1 records; pure.* speaks of replace-one"):
        replay_check(resized.summed, PureDP(1.0), "closed", [[0.5], [0.2]], [[0.5]])
    with pytest.raises(InputError, match="speaks of add-remove"):
        replay_check(resized.summed, REMOVED, "closed", [[0.5]], [[0.2]])


def test_a_budget_for_replaced_records_says_nothing_about_removed_ones() -> None:
    found = replay_check(resized.budget_for_replaced_records, "pure(eps=1)", "ledger", [[0.5], [0.2]], [[0.5]])
    assert found.exceeds
    assert "replace-one" in found.detail
