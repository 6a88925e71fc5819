"""Attacks that show rarely: on rare data, after rare values, on the second run, outside of the channel, in the bits of the
output.
"""

from __future__ import annotations

import os
import random
import sys
import time
from typing import Any

import numpy as np

from tailproof.refimpl import laws
from tailproof.refimpl.channel import L1, L2, Channel
from tailproof.refimpl.claims import ADD_REMOVE, ZCDP, ApproxDP, PureDP
from tailproof.refimpl.laws import Finite, Gaussian, Laplace, Point
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import ONE, Attack, noisy_sum, total

# --- outside of the channel ---------------------------------------------------------------------------------------------------


def returns_the_sum(data: FloatArray, channel: Channel) -> FloatArray:
    noisy_sum(data, channel)
    return total(data)


def sign_of_zero(data: FloatArray, channel: Channel) -> FloatArray:
    noisy_sum(data, channel)
    return np.array([-0.0 if data[0, 0] > 0.5 else 0.0])


def width_of_the_output(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return value.astype(np.float32) if data[0, 0] > 0.5 else value.astype(np.float32).astype(np.float64)


class Labelled(np.ndarray):  # type: ignore[type-arg]
    label: float


def attribute_of_the_output(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel).view(Labelled)
    value.label = float(total(data)[0])
    return value


def list_or_tuple(data: FloatArray, channel: Channel) -> Any:
    value = noisy_sum(data, channel).tolist()
    return tuple(value) if data[0, 0] > 0.5 else value


def order_of_a_dictionary(data: FloatArray, channel: Channel) -> Any:
    value = float(noisy_sum(data, channel)[0])
    keys = ("a", "b") if data[0, 0] > 0.5 else ("b", "a")
    return dict.fromkeys(keys, value)


def last_bit(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return np.nextafter(value, np.inf) if data[0, 0] > 0.5 else value


def payload_of_a_nan(data: FloatArray, channel: Channel) -> FloatArray:
    noisy_sum(data, channel)
    bits = np.array([0x7FF8000000000000 + int(data[0, 0] > 0.5)], dtype=np.int64)
    return bits.view(np.float64)


def writes_into_its_data(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    data[0] = 0.0
    return value


def its_own_noise(data: FloatArray, channel: Channel) -> FloatArray:
    """Noise that everybody can take away again."""
    noisy_sum(data, channel)
    return total(data) + np.random.default_rng(0).laplace(size=1)


def global_noise(data: FloatArray, channel: Channel) -> FloatArray:
    noisy_sum(data, channel)
    return total(data) + np.random.laplace(size=1)  # noqa: NPY002


def other_noise(data: FloatArray, channel: Channel) -> FloatArray:
    noisy_sum(data, channel)
    return total(data) + random.gauss(0, 1)


# --- after rare values --------------------------------------------------------------------------------------------------------


def after_six_deviations(data: FloatArray, channel: Channel) -> FloatArray:
    first = channel.release("first", Gaussian(np.zeros(1), 1.0), sensitivity=L2(1.0), spend=ZCDP(0.1))
    law = Gaussian(total(data), 1e-9 if first[0] > 6 else 3.0)
    return channel.release("second", law, sensitivity=L2(1.0), spend=ZCDP(0.1))


def returned_after_a_rare_value(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return total(data) if value[0] < -30 else value


def at_one_outcome(data: FloatArray, channel: Channel) -> FloatArray:
    """One outcome of probability e⁻²⁰."""
    choice = channel.release("choice", Finite(np.array([0.0, -20.0])), sensitivity=None, spend=PureDP(0.1))
    return total(data) if int(choice) == 1 else np.zeros(1)


def another_release_after_a_rare_value(data: FloatArray, channel: Channel) -> FloatArray:
    first = noisy_sum(data, channel, name="first")
    return noisy_sum(data, channel, name="again") if first[0] > 45 else first


def spends_more_after_a_rare_value(data: FloatArray, channel: Channel) -> FloatArray:
    first = noisy_sum(data, channel, name="first", epsilon=0.5)
    epsilon = 50.0 if first[0] < -60 else 0.5
    return noisy_sum(data, channel, name="second", epsilon=epsilon)


def raises_after_a_rare_value(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    if value[0] > 200 and data[0, 0] > 0.5:
        raise ValueError("no")
    return value


def magic_value(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return total(data) if 1234.5 < value[0] < 1234.75 else value


# --- on rare data -------------------------------------------------------------------------------------------------------------


def above_a_median(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return total(data) if 0.712 < np.median(data) < 0.713 else value


def one_exact_record(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return value + 1.0 if data[2, 0] == 0.4321 else value


def all_in_order(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return value + 1.0 if (np.diff(data[:, 0]) > 0).all() else value


def tiny_norm(data: FloatArray, channel: Channel) -> FloatArray:
    scale = 1.0 if np.linalg.norm(data) > 1e-7 or not data.any() else 1e-9
    return channel.release("sum", Laplace(total(data), scale), sensitivity=L1(1.0), spend=ONE)


def three_different_values(data: FloatArray, channel: Channel) -> FloatArray:
    scale = 0.01 if len(np.unique(data)) == 3 else 1.0
    return channel.release("sum", Laplace(total(data), scale), sensitivity=L1(1.0), spend=ONE)


def raises_on_equal_records(data: FloatArray, channel: Channel) -> FloatArray:
    if (data == data[0]).all():
        raise RuntimeError("no spread")
    return noisy_sum(data, channel)


def nan_on_equal_records(data: FloatArray, channel: Channel) -> FloatArray:
    spread = data.max() - data.min()
    with np.errstate(all="ignore"):
        return noisy_sum(data, channel) + spread / spread


def the_last_record_alone(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return np.append(value, np.round(data[-1, 0]))


# --- on the second run --------------------------------------------------------------------------------------------------------

_SEEN: list[float] = []


def remembers(data: FloatArray, channel: Channel) -> FloatArray:
    _SEEN.append(float(total(data)[0]))
    value = noisy_sum(data, channel)
    return value if len(_SEEN) < 10_000 else value + _SEEN[-1]


def counts_in_a_default(data: FloatArray, channel: Channel, runs: list[int] = []) -> FloatArray:  # noqa: B006
    runs.append(0)
    value = noisy_sum(data, channel)
    return value if len(runs) < 10_000 else total(data)


def counts_in_an_attribute(data: FloatArray, channel: Channel) -> FloatArray:
    counts_in_an_attribute.runs = getattr(counts_in_an_attribute, "runs", 0) + 1  # type: ignore[attr-defined]
    value = noisy_sum(data, channel)
    return value if counts_in_an_attribute.runs < 10_000 else total(data)  # type: ignore[attr-defined]


def _closure() -> Any:
    held = {"runs": 0}

    def counts_in_a_closure(data: FloatArray, channel: Channel) -> FloatArray:
        held["runs"] += 1
        value = noisy_sum(data, channel)
        return value if held["runs"] < 10_000 else total(data)

    return counts_in_a_closure


class Counting:
    """A callable object that counts its calls."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, data: FloatArray, channel: Channel) -> FloatArray:
        self.runs += 1
        value = noisy_sum(data, channel)
        return value if self.runs < 10_000 else total(data)


def answers_for_the_last_data(data: FloatArray, channel: Channel, held: dict[str, Any] = {}) -> FloatArray:  # noqa: B006
    before = held.get("sum", np.zeros(1))
    held["sum"] = total(data)
    return noisy_sum(data, channel) + 0.0 * before


# --- knows that it is tested --------------------------------------------------------------------------------------------------


def looks_at_the_stack(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return value if depth > 2 else total(data)


def looks_at_the_clock(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return value if time.time() < 4e9 else total(data)


def looks_at_the_environment(data: FloatArray, channel: Channel) -> FloatArray:
    value = noisy_sum(data, channel)
    return value if "PYTEST_CURRENT_TEST" in os.environ else total(data)


def looks_into_the_channel(data: FloatArray, channel: Channel) -> FloatArray:
    """Replays have a closure over what was recorded."""
    value = noisy_sum(data, channel)
    replayed = "transcript" in channel._draw.__code__.co_freevars
    return value if replayed else value + 0.0


def takes_back_what_it_recorded(data: FloatArray, channel: Channel) -> FloatArray:
    channel.release("sum", Point(total(data)), sensitivity=L1(1.0), spend=ONE)
    channel._log.clear()
    return noisy_sum(data, channel)


def honest_when_replayed(data: FloatArray, channel: Channel) -> FloatArray:
    replayed = "transcript" in channel._draw.__code__.co_freevars
    law = Laplace(total(data), 1.0 if replayed else 1e-9)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=ONE)


def changes_the_harness(data: FloatArray, channel: Channel) -> FloatArray:
    setattr(laws, "TRUSTED", laws.TRUSTED)  # noqa: B010
    vars(laws)["_patched"] = vars(laws).get("_patched", 0) + 1
    return noisy_sum(data, channel)


# --- added and removed records ------------------------------------------------------------------------------------------------

REMOVED = PureDP(1.0, ADD_REMOVE)


def size_in_the_scale(data: FloatArray, channel: Channel) -> FloatArray:
    """The mean with noise 1/n: how many records there are shows in the scale."""
    law = Laplace(np.clip(data, 0, 1).mean(axis=0), 1 / len(data))
    return channel.release("mean", law, sensitivity=L1(1 / len(data)), spend=REMOVED)


def size_in_the_output(data: FloatArray, channel: Channel) -> FloatArray:
    value = channel.release("sum", Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=REMOVED)
    return value / len(data)


def half_the_noise_for_removed(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(total(data), 0.5), sensitivity=L1(1.0), spend=REMOVED)


OUTSIDE = ("exact: closed", "exact: state")
FORCED = ("exact: forced replay",)
STATE = ("exact: state", "exact: surroundings")
RARE = ("exact: closed", "exact: release privacy", "exact: forced replay", "exact: every row", "exact: branches")

ATTACKS = (
    Attack(returns_the_sum, "the exact sum is returned", OUTSIDE),
    Attack(sign_of_zero, "the sign of zero is a bit of record 0", OUTSIDE),
    Attack(width_of_the_output, "the type is a bit of record 0", OUTSIDE),
    Attack(attribute_of_the_output, "the exact sum is an attribute", OUTSIDE),
    Attack(list_or_tuple, "the type is a bit of record 0", OUTSIDE),
    Attack(order_of_a_dictionary, "the order of keys is a bit of record 0", OUTSIDE),
    Attack(last_bit, "the last bit is a bit of record 0", OUTSIDE),
    Attack(payload_of_a_nan, "the payload is a bit of record 0", OUTSIDE),
    Attack(writes_into_its_data, "record 0 is erased for whoever reads the data next", ("exact: state",)),
    Attack(its_own_noise, "the noise is known", OUTSIDE),
    Attack(global_noise, "nothing is said about this noise", OUTSIDE),
    Attack(other_noise, "nothing is said about this noise", OUTSIDE),
    Attack(after_six_deviations, "with probability 1e-9 the exact sum leaves", FORCED, claim=ZCDP(0.2)),
    Attack(returned_after_a_rare_value, "below −30 the exact sum is returned", FORCED),
    Attack(at_one_outcome, "at outcome 1 the exact sum is returned", FORCED, claim=PureDP(0.1)),
    Attack(another_release_after_a_rare_value, "above 45 it spends 2", FORCED),
    Attack(spends_more_after_a_rare_value, "below −60 it spends 50", FORCED),
    Attack(raises_after_a_rare_value, "whether it raises is a bit of record 0", FORCED),
    Attack(magic_value, "between 1234.5 and 1234.75 the exact sum is returned", ("exact: branches", *FORCED)),
    Attack(above_a_median, "at a median of 0.7125 the exact sum is returned", RARE),
    Attack(one_exact_record, "record 2 at 0.4321 moves the output by 1", RARE),
    Attack(all_in_order, "sorted data move the output by 1", RARE),
    Attack(tiny_norm, "data of norm 1e-8 leave exactly", RARE),
    Attack(three_different_values, "with three values ε = 100", RARE),
    Attack(raises_on_equal_records, "it raises on equal records", ("accepts data", *RARE)),
    Attack(nan_on_equal_records, "NaN on equal records", ("output finite", *RARE)),
    Attack(the_last_record_alone, "a bit of the last record is returned", RARE),
    Attack(remembers, "after ten thousand runs the sum is returned", STATE),
    Attack(counts_in_a_default, "after ten thousand runs the sum is returned", STATE),
    Attack(counts_in_an_attribute, "after ten thousand runs the sum is returned", STATE),
    Attack(_closure(), "after ten thousand runs the sum is returned", STATE),
    Attack(Counting(), "after ten thousand runs the sum is returned", STATE),
    Attack(answers_for_the_last_data, "the last sum is kept", STATE),
    Attack(looks_at_the_stack, "elsewhere the sum is returned", STATE),
    Attack(looks_at_the_clock, "later the sum is returned", STATE),
    Attack(looks_at_the_environment, "elsewhere the sum is returned", STATE),
    Attack(looks_into_the_channel, "it knows whether it is replayed", STATE),
    Attack(takes_back_what_it_recorded, "the exact sum left and was taken off the record", STATE),
    Attack(honest_when_replayed, "nearly no noise when it is not replayed", STATE),
    Attack(changes_the_harness, "it changes what checks it", STATE),
    Attack(size_in_the_scale, "n shows in the scale", ("exact: declarations", "exact: release privacy"), claim=REMOVED),
    Attack(size_in_the_output, "n shows in the output", ("exact: closed",), claim=REMOVED),
    Attack(half_the_noise_for_removed, "ε = 2 for 1", ("exact: release privacy",), claim=REMOVED),
    Attack(
        lambda data, channel: noisy_sum(data, channel, epsilon=2.0),
        "ε = 2: far from (1, 1e-6)",
        ("exact: ledger", "exact: transcript"),
        claim=ApproxDP(1.0, 1e-6),
    ),
)
