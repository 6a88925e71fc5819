"""Attacks around the channel: what is returned, kept, printed or caught, and what the channel itself gives away."""

from __future__ import annotations

import copy
import functools
import itertools
import operator
import warnings
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np

from tailproof.refimpl.channel import FREE, L1, Channel
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.laws import Finite, Laplace, UniformPermutation
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import ONE, Attack, noisy_sum, total

# --- what is returned ---------------------------------------------------------------------------------------------------------


def base_of_a_view(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return np.concatenate([value, data.ravel()])[: len(value)]


def order_in_memory(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return np.array([[value[0], 1.0], [2.0, 3.0]], order="F" if data[0, 0] > 0.5 else "C")


def may_be_written(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel).copy()
    value.flags.writeable = bool(data[0, 0] > 0.5)
    return value


def metadata_of_a_type(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return value.astype(np.dtype("f8", metadata={"sum": float(total(data)[0])}))


def bound_by_a_partial(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return functools.partial(sum, data)


def default_of_a_function(data: FloatArray, channel: Channel) -> Any:
    value = noisy_sum(data, channel)

    held = total(data)

    def answer(first: Any = value, second: Any = held) -> Any:
        return first, second

    return answer


def closure_over_data(data: FloatArray, channel: Channel) -> Any:
    value = noisy_sum(data, channel)
    return lambda: value + data.sum()


def an_exception(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return ValueError(float(total(data)[0]))


class Tagged(list):  # type: ignore[type-arg]
    """A list that carries more."""


def attribute_of_a_list(data: FloatArray, channel: Channel) -> Any:
    value = Tagged(noisy_sum(data, channel).tolist())
    value.tag = float(total(data)[0])  # type: ignore[attr-defined]
    return value


def length_of_a_range(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return range(0, 3 + int(data[0, 0] > 0.5), 2)


def zeros_of_a_decimal(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return Decimal("1.0") if data[0, 0] > 0.5 else Decimal("1.00")


def one_or_true(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return {True} if data[0, 0] > 0.5 else {1}


def order_of_a_set(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return {8, 0} if data[0, 0] > 0.5 else {0, 8}


def lazily(data: FloatArray, channel: Channel) -> Iterator[float]:
    yield float(noisy_sum(data, channel)[0])
    yield float(total(data)[0])


class Lazy:
    """Gives the sum when it is asked."""

    __slots__ = ("_get",)

    def __init__(self, get: Any) -> None:
        self._get = get

    @property
    def value(self) -> Any:
        return self._get()

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        return np.asarray(self._get())


def lazy_property(data: FloatArray, channel: Channel) -> Any:
    value = noisy_sum(data, channel)
    return Lazy(lambda: value + data.sum())


class Equal:
    """Equal to everything."""

    def __init__(self, held: Any) -> None:
        object.__setattr__(self, "held", held)

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return {}


def equal_to_all(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return Equal(float(total(data)[0]))


def an_iterator(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return itertools.repeat(float(total(data)[0]), 3)


def the_channel(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return channel


def a_class(data: FloatArray, channel: Channel) -> Any:
    noisy_sum(data, channel)
    return type("Answer", (), {"value": float(total(data)[0])})


def masked(data: FloatArray, channel: Channel) -> Any:
    value = noisy_sum(data, channel)
    return np.ma.array(np.append(value, total(data)), mask=[False, True])


def fill_of_a_mask(data: FloatArray, channel: Channel) -> Any:
    value = noisy_sum(data, channel)
    return np.ma.array(value, mask=[False], fill_value=float(total(data)[0]))


def an_object_array(data: FloatArray, channel: Channel) -> Any:
    value = noisy_sum(data, channel)
    found = np.empty(2, dtype=object)
    found[0], found[1] = float(value[0]), functools.partial(sum, data.tolist())
    return found


# --- besides ------------------------------------------------------------------------------------------------------------------


def prints(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    print("sum", total(data), flush=True)
    return value


def warns(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    warnings.warn(f"sum {total(data)[0]}", stacklevel=2)
    return value


def dumps(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    total(data).dump("/dev/null")
    return value


def compressed_copy(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    np.savez_compressed("/dev/null", total(data))
    return value


# --- kept ---------------------------------------------------------------------------------------------------------------------

_FIRST: list[float] = []


def the_first_data_ever(data: FloatArray, channel: Channel) -> FloatArray:
    """Whatever it is first run on is returned for ever."""
    if not _FIRST:
        _FIRST.append(float(np.clip(data, 0, 1).sum()))
    return noisy_sum(data, channel) + _FIRST[0]


@functools.lru_cache
def _remembered(count: int, held: Any) -> float:  # noqa: ARG001
    return float(total(held.data)[0])


class Same:
    """All of them are one key."""

    def __init__(self, data: FloatArray) -> None:
        self.data = data

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def cached_for_ever(data: FloatArray, channel: Channel) -> FloatArray:
    return noisy_sum(data, channel) + _remembered(len(data), Same(data))


class Memo:
    """Counts in the class."""

    runs = 0


def counts_in_a_class(data: FloatArray, channel: Channel) -> FloatArray:
    Memo.runs += 1
    value = noisy_sum(data, channel)
    return value if Memo.runs < 10_000 else total(data)


_COUNTER = itertools.count()


def counts_in_an_iterator(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return value if next(_COUNTER) < 10_000 else total(data)


def _numbers() -> Iterator[int]:
    yield from range(10_000)
    while True:
        yield -1


_RUNNING = _numbers()


def counts_in_a_generator(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return value if next(_RUNNING) >= 0 else total(data)


class Slotted:
    """Counts in a slot of an object in a tuple."""

    __slots__ = ("runs",)

    def __init__(self) -> None:
        self.runs = 0


_HELD = ((Slotted(),),)


def counts_deep_inside(data: FloatArray, channel: Channel) -> FloatArray:
    _HELD[0][0].runs += 1
    value = noisy_sum(data, channel)
    return value if _HELD[0][0].runs < 10_000 else total(data)


def counts_in_numpy(data: FloatArray, channel: Channel) -> FloatArray:
    np.set_printoptions(threshold=int(np.get_printoptions()["threshold"]) + 1)
    value = noisy_sum(data, channel)
    return value if np.get_printoptions()["threshold"] < 100_000 else total(data)


def counts_in_a_function_of_another(data: FloatArray, channel: Channel) -> FloatArray:
    total.runs = getattr(total, "runs", 0) + 1  # type: ignore[attr-defined]
    value = noisy_sum(data, channel)
    return value if total.runs < 10_000 else total(data)  # type: ignore[attr-defined]


# --- the channel --------------------------------------------------------------------------------------------------------------


def swallows_what_diverges(data: FloatArray, channel: Channel) -> FloatArray:
    """The name tells of record 0; what the replay says about it is caught."""
    names = ("high", "low") if data[0, 0] > 0.5 else ("low", "high")
    try:
        return noisy_sum(data, channel, name=names[0])
    except Exception:
        return noisy_sum(data, channel, name=names[1])


def swallows_a_declaration(data: FloatArray, channel: Channel) -> FloatArray:
    spends = (1.0, 0.5) if data[0, 0] > 0.5 else (0.5, 1.0)
    law = Laplace(total(data), 2.0)
    try:
        return channel.release("sum", law, sensitivity=L1(1.0), spend=PureDP(spends[0]))
    except BaseException:
        return channel.release("sum", law, sensitivity=L1(1.0), spend=PureDP(spends[1]))


def reads_the_state_of_the_channel(data: FloatArray, channel: Channel) -> FloatArray:
    replayed = "recorded" in str(channel.__getstate__())  # type: ignore[attr-defined]
    law = Laplace(total(data), 1.0 if replayed else 1e-3)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=ONE)


def formats_the_channel(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    shown = "{0._draw}".format(channel)  # noqa: UP030, UP032
    return value if "recorded" in shown else value + 0.0 * total(data)


def matches_the_channel(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    match channel:
        case Channel(_log=log):
            log.clear()
    return noisy_sum(data, channel) + 0.0 * value


def gets_by_operator(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    operator.attrgetter("_log")(channel).clear()
    return noisy_sum(data, channel) + 0.0 * value


def copies_the_channel(data: FloatArray, channel: Channel) -> FloatArray:
    aside = copy.deepcopy(channel)
    value = noisy_sum(data, aside)
    return noisy_sum(data, channel) + 0.0 * value


class Own(Channel):
    """Its own channel, which records nothing."""

    def release(self, name: str, law: Any, **declared: Any) -> Any:  # type: ignore[override]  # noqa: ARG002
        return np.asarray(law.location)


def a_channel_of_its_own(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    aside = Own(lambda proposed: proposed.law.location, {})
    return value + 0.0 * noisy_sum(data, aside) if value[0] < 55.5 else noisy_sum(data, aside)


_KEPT: list[Any] = []


def keeps_the_channel(data: FloatArray, channel: Channel) -> FloatArray:
    _KEPT[:] = [channel]
    return noisy_sum(data, channel)


def odd_rows(data: FloatArray, channel: Channel) -> FloatArray:
    """Rows that are said to be none."""
    return noisy_sum(data, channel.part("none", range(0)))


def repeated_rows(data: FloatArray, channel: Channel) -> FloatArray:
    return noisy_sum(data, channel.part("first", np.array([0, 0, 0, 0, 0, 0])))


def rows_of_a_part(data: FloatArray, channel: Channel) -> FloatArray:
    """A part of a part names records by their place within it."""
    inner = channel.part("half", range(3)).part("half", range(3))
    found = [noisy_sum(data[3:], inner), noisy_sum(data[:3], channel.part("other", range(3, 6)))]
    return np.concatenate(found)


def name_is_the_data(data: FloatArray, channel: Channel) -> FloatArray:
    return noisy_sum(data, channel, name=f"sum of {data[0, 0]:.3f}")


def name_is_a_part(data: FloatArray, channel: Channel) -> FloatArray:
    return noisy_sum(data, channel.part(str(data[0, 0] > 0.5), range(len(data))))


def array_of_the_law_changed(data: FloatArray, channel: Channel) -> FloatArray:
    location = total(data) * 50
    law = Laplace(location, 1.0)
    value = channel.release("sum", law, sensitivity=L1(1.0), spend=ONE)
    law.location.setflags(write=True)
    law.location[:] = 0
    return value


class Loud(str):
    """A name that is also a secret."""


def name_of_another_type(data: FloatArray, channel: Channel) -> FloatArray:
    name = Loud("sum")
    name.secret = float(total(data)[0])  # type: ignore[attr-defined]
    return noisy_sum(data, channel, name=name)


class Huge(float):
    """Smaller than everything."""

    def __le__(self, other: object) -> bool:
        return True

    __lt__ = __le__


def sensitivity_of_another_type(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(total(data), Huge(0.01)), sensitivity=L1(Huge(1.0)), spend=PureDP(Huge(1.0)))


# --- rare values ----------------------------------------------------------------------------------------------------------------


def one_of_a_thousand(data: FloatArray, channel: Channel) -> FloatArray:
    choice = int(channel.release("choice", Finite(np.zeros(1000)), sensitivity=None, spend=FREE))
    return noisy_sum(data, channel) if choice != 777 else total(data)


def a_digit_of_the_output(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return total(data) if int(abs(value[0]) * 1e6) % 1000 == 123 else value


def rare_order(data: FloatArray, channel: Channel) -> FloatArray:
    order = np.asarray(channel.hidden("order", UniformPermutation(len(data))))
    value = noisy_sum(data, channel)
    return total(data) if order.tolist() == [2, 0, 1, 5, 4, 3] else value


def rare_product(data: FloatArray, channel: Channel) -> FloatArray:
    """Only when both are far out, on opposite sides."""
    first = noisy_sum(data, channel, name="first", epsilon=0.5)[0]
    second = noisy_sum(data, channel, name="second", epsilon=0.5)[0]
    return total(data) if first > 30 and second < -30 else np.array([first, second])[:1]


def rare_in_an_expression(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return value + total(data) * np.floor(np.abs(value) / 31.7)


def rare_difference(data: FloatArray, channel: Channel) -> FloatArray:
    first = noisy_sum(data, channel, name="first", epsilon=0.5)[0]
    second = noisy_sum(data, channel, name="second", epsilon=0.5)[0]
    return total(data) * (abs(first - 2 * second - 3.7) < 1e-3)


OUTSIDE = ("exact: closed", "exact: state")
STATE = ("exact: state", "exact: surroundings")
DECLARED = ("exact: declarations", "exact: closed", "exact: every row")
FORCED = ("exact: forced replay", "exact: branches")
ATTACKS = (
    Attack(base_of_a_view, "the array that it is a view of holds the data", OUTSIDE),
    Attack(order_in_memory, "the order in memory is a bit of record 0", OUTSIDE),
    Attack(may_be_written, "a flag is a bit of record 0", OUTSIDE),
    Attack(metadata_of_a_type, "the metadata of its type hold the sum", OUTSIDE),
    Attack(bound_by_a_partial, "the data are bound by a partial", OUTSIDE),
    Attack(default_of_a_function, "the sum is a default", OUTSIDE),
    Attack(closure_over_data, "a closure holds the data", OUTSIDE),
    Attack(an_exception, "the exception holds the sum", OUTSIDE),
    Attack(attribute_of_a_list, "an attribute holds the sum", OUTSIDE),
    Attack(length_of_a_range, "its end is a bit of record 0", OUTSIDE),
    Attack(zeros_of_a_decimal, "its zeros are a bit of record 0", OUTSIDE),
    Attack(one_or_true, "the type is a bit of record 0", OUTSIDE),
    Attack(order_of_a_set, "the order is a bit of record 0", OUTSIDE),
    Attack(lazily, "the sum comes later", OUTSIDE),
    Attack(lazy_property, "the sum is there when asked", OUTSIDE),
    Attack(equal_to_all, "it holds the sum, and equals all", OUTSIDE),
    Attack(an_iterator, "it gives the sum", OUTSIDE),
    Attack(the_channel, "the channel has recorded the sum", OUTSIDE),
    Attack(a_class, "the class holds the sum", OUTSIDE),
    Attack(masked, "what is masked is there", OUTSIDE),
    Attack(fill_of_a_mask, "the fill value is the sum", OUTSIDE),
    Attack(an_object_array, "an object holds the data", OUTSIDE),
    Attack(prints, "the sum is printed", OUTSIDE),
    Attack(warns, "the sum is in a warning", OUTSIDE),
    Attack(dumps, "the sum is in a file", STATE),
    Attack(compressed_copy, "the sum is in a file", STATE),
    Attack(the_first_data_ever, "the sum of the first data is in every output", STATE),
    Attack(cached_for_ever, "the sum of the first data is in every output", STATE),
    Attack(counts_in_a_class, "after ten thousand runs the sum is returned", STATE),
    Attack(counts_in_an_iterator, "after ten thousand runs the sum is returned", STATE),
    Attack(counts_in_a_generator, "after ten thousand runs the sum is returned", STATE),
    Attack(counts_deep_inside, "after ten thousand runs the sum is returned", STATE),
    Attack(counts_in_numpy, "after many runs the sum is returned", STATE),
    Attack(counts_in_a_function_of_another, "after ten thousand runs the sum is returned", STATE),
    Attack(swallows_what_diverges, "the name tells of record 0", DECLARED),
    Attack(swallows_a_declaration, "the spend tells of record 0", DECLARED),
    Attack(reads_the_state_of_the_channel, "nearly no noise when it is not replayed", STATE),
    Attack(formats_the_channel, "it knows whether it is replayed", STATE),
    Attack(matches_the_channel, "a release is taken off the record: ε = 2", STATE),
    Attack(gets_by_operator, "a release is taken off the record: ε = 2", STATE),
    Attack(copies_the_channel, "a release is made beside the record: ε = 2", (*STATE, *OUTSIDE)),
    Attack(a_channel_of_its_own, "above 55.5 the exact sum", (*STATE, *FORCED)),
    Attack(keeps_the_channel, "it is kept for later", STATE),
    Attack(odd_rows, "it names no record and touches all", DECLARED),
    Attack(repeated_rows, "it names record 0 and touches all", DECLARED),
    Attack(rows_of_a_part, "records are used that are not named", DECLARED),
    Attack(name_is_the_data, "the name holds record 0", DECLARED),
    Attack(name_is_a_part, "the name tells of record 0", DECLARED),
    Attack(array_of_the_law_changed, "ε = 50 for 1", ("exact: release privacy", *STATE)),
    Attack(name_of_another_type, "the name carries the sum", DECLARED),
    Attack(sensitivity_of_another_type, "ε = 100 for 1", ("exact: release privacy", *DECLARED)),
    Attack(one_of_a_thousand, "at outcome 777 the exact sum", FORCED),
    Attack(a_digit_of_the_output, "with probability 1e-3 the exact sum", FORCED),
    Attack(rare_order, "in one order of 720 the exact sum", FORCED),
    Attack(rare_product, "when both are far out the exact sum", FORCED),
    Attack(rare_in_an_expression, "above 31.7 the exact sum", FORCED),
    Attack(rare_difference, "near a line the exact sum", FORCED),
)
