"""The channel: replays, parts, the ledger against a loop over the records, and transcripts that come back bit for bit."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from tailproof.refimpl.channel import (
    FREE,
    L1,
    L2,
    UNCLAIMED,
    Bound,
    Channel,
    LInf,
    Release,
    ReplayDiverged,
    Smooth,
    Transcript,
    ledger,
    replay,
    run,
    spends_of,
)
from tailproof.refimpl.claims import ADD_REMOVE, GDP, ZCDP, ApproxDP, PureDP
from tailproof.refimpl.laws import (
    LLN,
    Finite,
    Gaussian,
    L2Laplace,
    Laplace,
    Law,
    NoisyArgmax,
    Point,
    UniformPermutation,
    UniformSubset,
    law_fields,
)
from tailproof.refimpl.validation import InputError

SPEND = PureDP(1.0)


def sampling(seed: int = 0) -> Channel:
    return Channel.sampling(np.random.default_rng(seed))


def release(channel: Channel, name: str = "mean", law: Law | None = None, **others: Any) -> NDArray[Any]:
    return channel.release(name, law or Gaussian(0.0, 1.0), **{"sensitivity": L2(1.0), "spend": SPEND, **others})


# --- sampling and replaying --------------------------------------------------------------------------------------------------


def two_steps(data: NDArray[Any], channel: Channel, *, scale: float = 1.0) -> NDArray[Any]:
    """Adaptive: the second law depends on the data and on what the first release gave."""
    order = channel.hidden("order", UniformPermutation(len(data)))
    first = release(channel, "first", Gaussian(data.mean(axis=0), scale))
    second = release(channel, "second", Laplace(data.sum(axis=0) + first, 2 * scale), sensitivity=L1(2.0), visible=False)
    return np.asarray(second + order[0])


def test_a_run_records_what_it_released() -> None:
    data = np.arange(6.0).reshape(3, 2)
    output, transcript = run(two_steps, data, np.random.default_rng(3), scale=0.5)
    order, first, second = transcript
    assert [r.name for r in transcript] == ["order", "first", "second"]
    assert len(transcript) == 3
    assert np.array_equal(output, second.output + order.output[0])
    assert np.array_equal(first.law.location, data.mean(axis=0))  # type: ignore[attr-defined]
    assert np.array_equal(second.law.location, data.sum(axis=0) + first.output)  # type: ignore[attr-defined]
    assert (first.sensitivity, second.sensitivity) == (Bound(2, 1.0), Bound(1, 2.0))
    assert first.spend == second.spend == SPEND
    assert first.rows is second.rows is None
    assert (first.visible, second.visible) == (True, False)
    assert (order.hidden, order.visible, order.spend, order.sensitivity) == (True, False, FREE, None)
    assert transcript.spending == (first, second)
    assert not transcript.all_visible


def test_the_same_seed_gives_the_same_run_and_another_does_not() -> None:
    data = np.arange(6.0).reshape(3, 2)
    outputs = [run(two_steps, data, np.random.default_rng(seed))[0] for seed in (1, 1, 2)]
    assert np.array_equal(outputs[0], outputs[1])
    assert not np.array_equal(outputs[0], outputs[2])


def test_a_replay_returns_the_recorded_outputs_and_records_the_new_laws() -> None:
    data, neighbour = np.arange(6.0).reshape(3, 2), np.ones((3, 2))
    output, here = run(two_steps, data, np.random.default_rng(3))
    again, there = replay(two_steps, neighbour, here)
    assert np.array_equal(output, again)
    for old, new in zip(here, there, strict=True):
        assert np.array_equal(old.output, new.output)
        assert (old.name, old.sensitivity, old.spend, old.visible, old.hidden) == (
            new.name,
            new.sensitivity,
            new.spend,
            new.visible,
            new.hidden,
        )
    assert np.array_equal(there.releases[1].law.location, neighbour.mean(axis=0))  # type: ignore[attr-defined]
    # what was released before, not what would have been here, enters the second law
    expected = neighbour.sum(axis=0) + here.releases[1].output
    assert np.array_equal(there.releases[2].law.location, expected)  # type: ignore[attr-defined]


def test_a_replay_may_be_replayed_and_read_back() -> None:
    data = np.arange(6.0).reshape(3, 2)
    _, here = run(two_steps, data, np.random.default_rng(3))
    _, there = replay(two_steps, data + 1, Transcript.from_json(here.to_json()))
    _, back = replay(two_steps, data, there)
    assert back.to_json() == here.to_json()


def test_outputs_cannot_be_changed() -> None:
    channel = sampling()
    outputs = [release(channel, "a", Gaussian(np.zeros(2), 1.0)), channel.hidden("b", UniformPermutation(3))]
    outputs += [release(channel, "c", Point(np.zeros(2))), release(channel, "d", Finite(np.zeros(2)))]
    recorded = channel.transcript()
    again = Channel.replaying(Transcript.from_json(recorded.to_json()))
    outputs.append(release(again, "a", Gaussian(np.ones(2), 1.0)))
    outputs += [r.output for r in recorded]
    for output in outputs:
        with pytest.raises(ValueError, match="read-only"):
            output[...] = 0


def recorded_pair() -> Transcript:
    channel = sampling()
    release(channel, "a")
    release(channel.part("p", range(2, 4)), "b")
    return channel.transcript()


def pair(**changes: Any) -> Callable[[Any, Channel], None]:
    """The mechanism of `recorded_pair`, with something changed."""

    def mechanism(_: Any, channel: Channel) -> None:
        release(channel, changes.get("first", "a"), changes.get("law"))
        if changes.get("only_one"):
            return
        part = channel.part("p", changes.get("rows", range(2, 4)))
        release(part if changes.get("inside", True) else channel, changes.get("second", "b"))
        if changes.get("third"):
            release(channel, "third")

    return mechanism


def test_a_faithful_replay_passes() -> None:
    replay(pair(), None, recorded_pair())
    replay(pair(rows=np.array([2, 3])), None, recorded_pair())
    replay(pair(law=Gaussian(5.0, 2.0)), None, recorded_pair())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first": "x"}, "'x' stands where 'a' was recorded"),
        ({"second": "x"}, "'p/x' stands where 'p/b' was recorded"),
        ({"inside": False, "second": "p/b"}, "'p/b' touches other records"),
        ({"rows": range(2, 5)}, "'p/b' touches other records"),
        ({"rows": range(1, 3)}, "'p/b' touches other records"),
        ({"rows": np.array([3, 2])}, "'p/b' touches other records"),
        ({"third": True}, "'third' comes after the recorded run had ended"),
        ({"only_one": True}, "the run ended before 'p/b'"),
        ({"law": Gaussian([0.0], 1.0)}, r"'a' is \('Gaussian', \(1,\)\), recorded \('Gaussian', \(\)\)"),
        ({"law": Laplace(0.0, 1.0)}, "'a' is .*Laplace"),
        ({"law": Finite(np.zeros(2))}, "'a' is .*Finite"),
        ({"law": NoisyArgmax(np.zeros(2), 1.0)}, "'a' is .*NoisyArgmax"),
        ({"law": UniformPermutation(3)}, "'a' is .*UniformPermutation"),
    ],
)
def test_every_way_a_replay_can_diverge(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ReplayDiverged, match=message):
        replay(pair(**changes), None, recorded_pair())


def test_a_replay_diverges_when_one_run_released_and_the_other_hid() -> None:
    channel = sampling()
    release(channel, "a")
    with pytest.raises(ReplayDiverged):
        replay(lambda _, replayed: replayed.hidden("a", Gaussian(0.0, 1.0)), None, channel.transcript())


@pytest.mark.parametrize("replayed", [False, True])
def test_names_are_unique(replayed: bool) -> None:
    def used() -> Channel:
        channel = Channel.replaying(recorded_pair()) if replayed else sampling()
        release(channel, "a")
        return channel

    for again in (lambda channel: release(channel, "a"), lambda channel: channel.hidden("a", UniformPermutation(3))):
        with pytest.raises(InputError, match="name = 'a'"):
            again(used())
    channel = used()
    release(channel.part("p", range(2, 4)), "b")
    assert [r.name for r in channel.transcript()] == ["a", "p/b"]
    with pytest.raises(InputError, match="name = 'p/b'"):
        release(channel.part("p", range(3)), "b")
    with pytest.raises(InputError, match="name = 'p/b'"):
        channel.transcript()  # whoever catches a refusal has no run


# --- parts -------------------------------------------------------------------------------------------------------------------


def rows_of(parts: list[Any]) -> Any:
    channel = sampling()
    inner = channel
    for number, rows in enumerate(parts):
        inner = inner.part(f"part{number}", rows)
    release(inner)
    (only,) = channel.transcript()
    assert only.name == "".join(f"part{number}/" for number in range(len(parts))) + "mean"
    return only.rows


def as_rows(positions: list[int], form: str) -> Any:
    """The same positions as an array, or as a range where they are one."""
    if form == "range" and positions:
        step = positions[1] - positions[0] if len(positions) > 1 else 1
        candidate = range(positions[0], positions[-1] + (1 if step > 0 else -1), step or 1)
        if list(candidate) == positions:
            return candidate
    return np.array(positions, dtype=np.int64)


@st.composite
def nested_parts(draw: Any) -> tuple[int, list[Any]]:
    """Up to three parts within each other, by ranges (up, down, with steps) and by index arrays, none of them empty."""
    size = n = draw(st.integers(2, 20))
    parts = []
    for _ in range(draw(st.sampled_from([1, 2, 2, 3]))):
        if draw(st.sampled_from(["range", "range", "array"])) == "range":
            low = draw(st.integers(0, min(2, size - 1)))
            high = draw(st.integers(low + 1, size))
            positions = list(range(low, high, draw(st.integers(1, 3))))
            if draw(st.booleans()):
                positions.reverse()
            parts.append(as_rows(positions, "range"))
        else:
            positions = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=size, unique=True))
            parts.append(as_rows(positions, "array"))
        size = len(positions)
    return n, parts


@given(nested_parts())
@settings(deadline=None, max_examples=200)
def test_parts_within_parts_touch_the_right_records(case: tuple[int, list[Any]]) -> None:
    n, parts = case
    data = np.arange(n) * 10
    for rows in parts:
        data = data[np.asarray(rows)]
    assert [10 * int(row) for row in rows_of(parts)] == data.tolist()


def test_parts_by_example() -> None:
    assert rows_of([range(3, 7)]) == range(3, 7)
    assert rows_of([range(10, 20), range(2, 5)]) == range(12, 15)
    assert rows_of([range(0, 20, 3), range(1, 4)]) == range(3, 12, 3)
    assert list(rows_of([range(10, 20), range(3, -1, -1)])) == [13, 12, 11, 10]
    assert list(rows_of([np.array([7, 3, 5]), np.array([2, 0])])) == [5, 7]
    assert list(rows_of([np.array([7, 3, 5]), range(1, 3)])) == [3, 5]
    assert list(rows_of([range(10, 20), np.array([9, 0])])) == [19, 10]


@pytest.mark.parametrize("outer", [range(3, 7), np.array([3, 4, 5, 6])], ids=["range", "array"])
@pytest.mark.parametrize("inner", [range(0), np.array([], dtype=np.int64)], ids=["range", "array"])
def test_empty_parts(outer: Any, inner: Any) -> None:
    assert len(rows_of([outer, inner])) == 0
    channel = sampling()
    release(channel.part("outer", outer).part("inner", inner))
    assert ledger(channel.transcript(), 8) == {(): 8}


@pytest.mark.parametrize("outer", [range(3, 7), np.array([3, 4, 5, 6])], ids=["range", "array"])
@pytest.mark.parametrize(
    "inner",
    [range(2, 6), range(4, 5), range(4, 1, -1), range(2, -2, -1), np.array([4])],
    ids=["over the end", "beyond", "from beyond down", "down to below 0", "array"],
)
def test_a_part_lies_within_its_part(outer: Any, inner: Any) -> None:
    """Positions that do not exist are refused, not cut off."""
    with pytest.raises((InputError, IndexError)):
        rows_of([outer, inner])


@pytest.mark.parametrize(
    "rows", [np.array([True, False, True]), np.array([0.5, 1.7]), np.array([[0, 1]]), [-1], range(-2, 0)]
)
def test_rows_are_positions(rows: Any) -> None:
    """Not a mask, whose trues would be read as position 1, nor numbers that would be cut off."""
    with pytest.raises(InputError, match="rows"):
        rows_of([rows])


def test_the_rows_on_record_cannot_be_changed_by_the_caller() -> None:
    rows = np.array([1, 2])
    channel = sampling()
    release(channel.part("p", rows))
    rows[:] = 3
    assert list(channel.transcript().releases[0].rows) == [1, 2]  # type: ignore[arg-type]


def test_parts_share_one_record_of_names() -> None:
    channel = sampling()
    part = channel.part("p", range(2))
    release(part, "a")
    release(channel, "a")
    assert [r.name for r in part.transcript()] == [r.name for r in channel.transcript()] == ["p/a", "a"]


# --- the ledger ----------------------------------------------------------------------------------------------------------------


@st.composite
def overlapping_releases(draw: Any) -> tuple[int, list[Any]]:
    n = draw(st.integers(1, 10))
    rows: list[Any] = []
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["all", "range", "array", "hidden"]))
        if kind == "range":
            low = draw(st.integers(0, n - 1))
            rows.append(range(low, draw(st.integers(low + 1, n)), draw(st.integers(1, 3))))
        elif kind == "array":
            rows.append(np.array(draw(st.lists(st.integers(0, n - 1), max_size=8)), dtype=np.int64))
        else:
            rows.append(kind)
    return n, rows


@given(overlapping_releases())
@settings(deadline=None, max_examples=200)
def test_the_ledger_against_a_loop_over_records(case: tuple[int, list[Any]]) -> None:
    n, rows = case
    channel = sampling()
    touched: list[list[str]] = [[] for _ in range(n)]
    for number, selection in enumerate(rows):
        if isinstance(selection, str):
            if selection == "hidden":
                channel.hidden(f"r{number}", UniformPermutation(3))
                continue
            release(channel, f"r{number}")
            names, selection = f"r{number}", range(n)
        else:
            release(channel.part(f"p{number}", selection), "x")
            names = f"p{number}/x"
        for record in {int(i) for i in selection}:
            touched[record].append(names)
    assert ledger(channel.transcript(), n) == dict(Counter(tuple(names) for names in touched))


def test_the_ledger_of_disjoint_groups() -> None:
    channel = sampling()
    release(channel, "all", spend=ZCDP(0.5))
    release(channel.part("first", range(3)), "mean", spend=ZCDP(1.0))
    release(channel.part("second", np.array([3, 4])), "mean", spend=ZCDP(2.0))
    release(channel, "free", spend=FREE)
    channel.hidden("order", UniformPermutation(7))
    transcript = channel.transcript()
    assert ledger(transcript, 7) == {
        ("all", "first/mean", "free"): 3,
        ("all", "second/mean", "free"): 2,
        ("all", "free"): 2,
    }
    assert spends_of(transcript, ("all", "second/mean", "free")) == [ZCDP(0.5), ZCDP(2.0)]
    assert spends_of(transcript, ()) == []


def test_the_ledger_of_no_release() -> None:
    assert ledger(Transcript(()), 5) == {(): 5}


def test_the_ledger_refuses_records_that_do_not_exist() -> None:
    channel = sampling()
    release(channel.part("p", range(3, 6)))
    with pytest.raises((InputError, IndexError)):
        ledger(channel.transcript(), 5)


# --- sensitivities ---------------------------------------------------------------------------------------------------------------


def test_bounds() -> None:
    assert (L1(2), L2(2), LInf(2)) == (Bound(1, 2.0), Bound(2, 2.0), Bound(math.inf, 2.0))
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="value"):
            L2(bad)
    for bad in (0, 3, -1, math.nan):
        with pytest.raises(InputError, match="norm"):
            Bound(bad, 1.0)


# --- writing and reading ---------------------------------------------------------------------------------------------------------

finite_floats = st.floats(allow_nan=False, allow_infinity=False)
special = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.2250738585072e-308, 1.7976931348623157e308, 0.1, 1 / 3])
numbers = st.one_of(finite_floats, special)
scales = st.one_of(st.floats(5e-324, 1.7976931348623157e308), st.just(5e-324))
names = st.text(min_size=1, max_size=5)


def vectors(elements: Any, size: Any = None) -> Any:
    return hnp.arrays(np.float64, st.integers(1, 5) if size is None else size, elements=elements)


@st.composite
def laws(draw: Any) -> Any:
    kind = draw(
        st.sampled_from([Gaussian, Laplace, L2Laplace, LLN, Finite, NoisyArgmax, Point, UniformPermutation, UniformSubset])
    )
    if kind is UniformPermutation:
        return UniformPermutation(draw(st.integers(1, 5)))
    if kind is UniformSubset:
        return UniformSubset(5, draw(st.integers(0, 5)))
    if kind is Finite:
        logits = draw(vectors(st.one_of(numbers, st.just(-math.inf))))
        logits[draw(st.integers(0, len(logits) - 1))] = draw(numbers)
        return Finite(logits)
    if kind is NoisyArgmax:
        values = draw(vectors(numbers))
        excluded = tuple(draw(st.lists(st.integers(0, len(values) - 1), unique=True, max_size=len(values) - 1)))
        return NoisyArgmax(values, draw(scales), excluded)
    location = draw(st.one_of(numbers, vectors(numbers)))
    if kind is L2Laplace:
        return L2Laplace(location, draw(scales))
    size = np.shape(location)
    scale = draw(scales) if size == () or draw(st.booleans()) else draw(vectors(scales, size))
    return LLN(location, scale, draw(st.floats(5e-324, 1e300))) if kind is LLN else kind(location, scale)


sensitivities = st.one_of(
    st.none(),
    st.builds(Bound, st.sampled_from([1, 2, math.inf]), scales),
    st.builds(Smooth, vectors(scales), scales),
    st.builds(Smooth, scales.map(np.array), scales, st.sampled_from([1.0, 2.0, math.inf])),
)
spends = st.one_of(
    st.sampled_from([FREE, UNCLAIMED]),
    st.builds(PureDP, scales),
    st.builds(ApproxDP, scales, st.floats(5e-324, 0.9)),
    st.builds(ZCDP, scales, st.just(ADD_REMOVE)),
    st.builds(GDP, scales),
)
outputs = st.one_of(
    vectors(st.one_of(numbers, st.just(math.inf), st.just(-math.inf))),
    numbers.map(np.asarray),
    hnp.arrays(np.int64, st.integers(0, 4), elements=st.integers(-(2**63), 2**63 - 1)),
    st.integers(0, 9).map(lambda index: np.asarray(index, dtype=np.int64)),
)
rows = st.one_of(
    st.none(),
    st.builds(range, st.integers(0, 5), st.integers(0, 9), st.integers(1, 3)),
    hnp.arrays(np.int64, st.integers(0, 4), elements=st.integers(0, 9)),
)
releases = st.one_of(
    st.builds(Release, names, laws(), outputs, sensitivities, spends, rows, st.booleans(), st.just(False)),
    st.builds(Release, names, laws(), outputs, st.none(), st.just(FREE), rows, st.just(False), st.just(True)),
)


def same_bits(first: Any, second: Any) -> bool:
    if isinstance(first, float):
        return isinstance(second, float) and first.hex() == second.hex()
    if isinstance(first, np.ndarray):
        same_kind = isinstance(second, np.ndarray) and (first.dtype, first.shape) == (second.dtype, second.shape)
        return same_kind and first.tobytes() == second.tobytes()
    if isinstance(first, Smooth):
        return (
            isinstance(second, Smooth)
            and same_bits(first.bound, second.bound)
            and same_bits(first.rate, second.rate)
            and first.norm == second.norm
        )
    return type(first) is type(second) and bool(first == second)


@given(st.lists(releases, max_size=3))
@settings(deadline=None, max_examples=100)
def test_transcripts_come_back_bit_for_bit(given_releases: list[Release]) -> None:
    text = Transcript(tuple(given_releases)).to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    back = Transcript.from_json(text)
    assert back.to_json() == text
    for old, new in zip(given_releases, back, strict=True):
        assert type(old.law) is type(new.law)
        ours, theirs = law_fields(old.law), law_fields(new.law)
        assert ours.keys() == theirs.keys()
        assert all(same_bits(ours[key], theirs[key]) for key in ours)
        for field in ("name", "output", "sensitivity", "spend", "rows", "visible", "hidden"):
            assert same_bits(getattr(old, field), getattr(new, field)), field


def test_a_transcript_is_plain_json() -> None:
    _, transcript = run(two_steps, np.arange(6.0).reshape(3, 2), np.random.default_rng(3))
    value = json.loads(transcript.to_json())
    assert [entry["name"] for entry in value["releases"]] == ["order", "first", "second"]
    assert value["releases"][1]["law"]["law"] == "Gaussian"
    assert value["releases"][1]["spend"] == {"claim": "pure", "epsilon": 1.0, "neighbouring": "replace-one"}


def test_numpy_whole_numbers_can_be_written() -> None:
    channel = sampling()
    channel.hidden("order", UniformPermutation(np.int64(3)))  # type: ignore[arg-type]
    release(channel.part("p", np.array([0, 1], dtype=np.uint8)))
    back = Transcript.from_json(channel.transcript().to_json())
    assert ledger(back, 3) == {(): 1, ("p/mean",): 2}
