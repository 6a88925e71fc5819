"""Attacks on rare data without an `if`: thresholds inside of expressions, look-ups, conversions, bumps and exact matches."""

from __future__ import annotations

import bisect
import collections
import functools
import itertools
import math
import operator
from typing import Any

import numpy as np

from tailproof.refimpl.channel import L1, Channel
from tailproof.refimpl.laws import Laplace
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import ONE, Attack, total


def _around(data: FloatArray, channel: Channel, leak: Any) -> FloatArray:
    """The leak moves the query on rare data."""
    law = Laplace(total(data) + np.asarray(leak, dtype=np.float64), 1.0)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=ONE)


def power_of_zero(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * (0.0 ** np.abs(data[1, 0] - 0.4321)))


def floor_of_the_mean(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 100 * np.floor(np.clip(data, 0, 1).mean() / 0.7123))


def modulo_of_the_sum(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 20 * (np.clip(data, 0, 1).sum() % 2.37 // 2.3))


def narrow_bump(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 40 * np.exp(-1e9 * (np.clip(data, 0, 1).mean() - 0.4321) ** 2))


def steep_sigmoid(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 40 * (1 + np.tanh(1e6 * (np.median(data) - 0.8137))))


def inverse_of_a_distance(data: FloatArray, channel: Channel) -> FloatArray:
    away = np.abs(data[:, 0] - 0.6180)
    return _around(data, channel, 1e-6 / (1e-9 + away.max()))


def interpolated_spike(data: FloatArray, channel: Channel) -> FloatArray:
    spike = np.interp(np.clip(data, 0, 1).mean(), [0.0, 0.3332, 0.3334, 0.3336, 1.0], [0.0, 0.0, 30.0, 0.0, 0.0])
    return _around(data, channel, spike)


def counted_in_a_list(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 9 * data[:, 0].tolist().count(0.271828))


def looked_up_in_a_table(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, {0.5772: 60.0}.get(float(data[-1, 0]), 0.0))


PLANTED = {0.91: 25.0}


def looked_up_in_a_global(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, sum(PLANTED.get(value, 0.0) for value in data[:, 0].tolist()))


def common_members(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 12 * len(set(data[:, 0].tolist()) & {0.1234}))


def text_of_a_record(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 15 * f"{data[0, 0]:.4f}".count("0.8642"))


def starts_with(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 15 * str(float(data[0, 0])).startswith("0.86421"))


def sorted_neighbour(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30 * bisect.bisect_right([0.98765], float(data.min())))


def digitised(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30 * np.digitize(np.clip(data, 0, 1).mean(), [0.9321]))


def searched_sorted(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30 * np.searchsorted([0.0123, 0.0124], np.median(data)) % 60)


def no_zero_difference(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30 * (len(data) - np.count_nonzero(data[:, 0] - 0.7531)))


def not_of_a_difference(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30 * (not float(data[3, 0]) - 0.1793))


def truth_of_an_array(data: FloatArray, channel: Channel) -> FloatArray:
    missed = (data[:, 0] - 0.4444).astype(bool)
    return _around(data, channel, 30 * (missed.size - missed.sum()))


def selected(data: FloatArray, channel: Channel) -> FloatArray:
    low = np.clip(data, 0, 1).sum()
    return _around(data, channel, np.select([low > 5.9, low < 0.01], [50.0, 0.0], 0.0))


def boolean_index(data: FloatArray, channel: Channel) -> FloatArray:
    found = data[(data > 0.3219) & (data < 0.3221)]
    return _around(data, channel, 50 * found.size)


def first_of_the_largest(data: FloatArray, channel: Channel) -> FloatArray:
    """Two equal largest records decide an index."""
    top = np.sort(data[:, 0])[::-1]
    return _around(data, channel, 25 * (top[0] == top[1]) * (top[0] > 0.77))


def gap_of_the_order(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 3 * np.argmax(np.append(data[:, 0], 0.99)) ** 2)


def whole_number(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * int(np.clip(data, 0, 1).mean() * 1.25))


def rounded_to_even(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * round(float(np.median(np.clip(data, 0, 1))) - 0.38))


def bits_of_a_record(data: FloatArray, channel: Channel) -> FloatArray:
    pattern = np.ascontiguousarray(data[:, 0]).view(np.int64) ^ np.float64(0.2222).view(np.int64)
    return _around(data, channel, 9 * (pattern == 0).sum())


def hash_of_a_record(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * (hash(float(data[0, 0])) % 1048573 == 12345))


def caught_division(data: FloatArray, channel: Channel) -> FloatArray:
    try:
        leak = 0.0 / (float(data[4, 0]) - 0.3456)
    except ZeroDivisionError:
        leak = 40.0
    return _around(data, channel, leak)


def caught_index(data: FloatArray, channel: Channel) -> FloatArray:
    try:
        leak = [0.0] * 5 + [0.0]
        value = leak[int(1.01 * np.clip(data, 0, 1).sum())]
    except IndexError:
        value = 20.0
    return _around(data, channel, value)


def recursion(data: FloatArray, channel: Channel) -> FloatArray:
    def fall(values: list[float]) -> float:
        return 0.0 if not values else (33.0 if values[0] == 0.7071 else fall(values[1:]))

    return _around(data, channel, fall(data[:, 0].tolist()))


def generator_expression(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, sum(20.0 for value in data[:, 0] if 0.5550 <= value <= 0.5551))


def any_of_them(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 20 * any(abs(a - b) == 0.125 for a, b in itertools.pairwise(data[:, 0].tolist())))


def reduced(data: FloatArray, channel: Channel) -> FloatArray:
    found = functools.reduce(lambda held, value: held + operator.eq(value, 0.6931), data[:, 0].tolist(), 0)
    return _around(data, channel, 20 * found)


def mapped(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 20 * sum(map(operator.lt, data[:, 0].tolist(), [1e-4] * 6)) ** 2)


def method_of_a_number(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 20 * (0.2718).__eq__(float(data[5, 0])))


def outer_comparison(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 20 * np.greater.outer(np.median(data), [0.9671]).sum())


def short_circuit(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, (float(np.linalg.norm(data)) < 1e-5 and float(np.linalg.norm(data)) > 0 and 50.0) or 0.0)


def while_it_is_large(data: FloatArray, channel: Channel) -> FloatArray:
    left, leak = float(np.clip(data, 0, 1).sum()), 0.0
    while left > 5.75:
        left, leak = left - 1, leak + 20
    return _around(data, channel, leak)


def clipped_by_the_data(data: FloatArray, channel: Channel) -> FloatArray:
    rows = np.clip(data, 0, 1)
    return _around(data, channel, 30 * np.clip(rows.min(), 0.8, 0.9) - 24)


def matched(data: FloatArray, channel: Channel) -> FloatArray:
    match float(data[2, 0]):
        case 0.8128:
            leak = 30.0
        case _:
            leak = 0.0
    return _around(data, channel, leak)


def two_magic_records(data: FloatArray, channel: Channel) -> FloatArray:
    """Each alone does nothing."""
    values = data[:, 0].tolist()
    return _around(data, channel, 30 * (0.2357 in values and 0.1113 in values))


def two_magic_records_multiplied(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30 * (data[0, 0] == 0.2357) * (data[4, 0] == 0.1113))


def magic_sum(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30 * (abs(np.clip(data, 0, 1).sum() - 4.4444) < 1e-7))


def magic_quantile(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30 * np.isclose(np.quantile(data, 0.3), 0.61, rtol=0, atol=1e-9))


def duplicates(data: FloatArray, channel: Channel) -> FloatArray:
    most = max(collections.Counter(data[:, 0].tolist()).values())
    return _around(data, channel, 30 * (most == 4))


def order_of_records(data: FloatArray, channel: Channel) -> FloatArray:
    order = tuple(np.argsort(data[:, 0], kind="stable").tolist())
    return _around(data, channel, 30 * (order == (3, 1, 4, 0, 5, 2)))


def minimum_by_default(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30 * min((value for value in data[:, 0].tolist() if value > 0.9995), default=0.0))


def sorted_by_a_key(data: FloatArray, channel: Channel) -> FloatArray:
    first = sorted(data[:, 0].tolist(), key=lambda value: value != 0.1618)[0]
    return _around(data, channel, 30 * (0.1617 < first < 0.1619))


def partly_rounded(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 1e4 * np.maximum(np.clip(data, 0, 1).mean() - 0.955, 0))


def piecewise(data: FloatArray, channel: Channel) -> FloatArray:
    level = np.atleast_1d(np.clip(data, 0, 1).mean())
    return _around(data, channel, np.piecewise(level, [level < 0.96], [0.0, 44.0]))


def underflow(data: FloatArray, channel: Channel) -> FloatArray:
    """Products of numbers below one underflow to nothing on nearly no data."""
    return _around(data, channel, 30 * np.exp(-1e5 * np.abs(np.clip(data, 0, 1) - 0.5).max()))


def half_precision(data: FloatArray, channel: Channel) -> FloatArray:
    """Overflows to infinity above 65504, and then to a large number."""
    with np.errstate(over="ignore"):
        short = np.float16(np.clip(data, 0, 1).sum() * 1.1e4)
    return _around(data, channel, np.nan_to_num(np.float64(short) * 0, nan=30.0))


def partial_of(data: FloatArray, channel: Channel, limit: float) -> FloatArray:
    return _around(data, channel, 30 * (float(data.min()) > limit))


class Deep:
    """Methods of objects in objects."""

    class Inner:
        def weigh(self, rows: FloatArray) -> float:
            return 30.0 * (np.ptp(rows) < 1e-6) * (rows.mean() > 0.64) * (rows.mean() < 0.65)

    def __init__(self) -> None:
        self.inner = self.Inner()

    def __call__(self, data: FloatArray, channel: Channel) -> FloatArray:
        return _around(data, channel, self.inner.weigh(data))


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def around(data: FloatArray, channel: Channel) -> Any:
        return function(np.where(data == 0.3719, 30.0, np.clip(data, 0, 1)), channel)

    return around


@decorated
def behind_a_decorator(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(data.sum(axis=0), 1.0), sensitivity=L1(1.0), spend=ONE)


def norm_of_a_vector(data: FloatArray, channel: Channel) -> FloatArray:
    leak = np.zeros(3)
    leak[2] = 10.0 * (np.linalg.norm(data[1]) > 1.7)
    law = Laplace(total(data) + leak, 3.0)
    return channel.release("sum", law, sensitivity=L1(3.0), spend=ONE)


def gcd_of_records(data: FloatArray, channel: Channel) -> FloatArray:
    values = [int(1000 * value) for value in np.clip(data[:, 0], 0, 1)]
    return _around(data, channel, 30 * (math.gcd(*values) == 37))


RARE = (
    "exact: sensitivity",
    "exact: release privacy",
    "exact: closed",
    "exact: branches",
    "exact: forced replay",
    "exact: every row",
)
_PLAIN = (
    power_of_zero, floor_of_the_mean, modulo_of_the_sum, narrow_bump, steep_sigmoid, inverse_of_a_distance,
    interpolated_spike, counted_in_a_list, looked_up_in_a_table, looked_up_in_a_global, common_members, text_of_a_record,
    starts_with, sorted_neighbour, digitised, searched_sorted, no_zero_difference, not_of_a_difference, truth_of_an_array,
    selected, boolean_index, first_of_the_largest, gap_of_the_order, whole_number, rounded_to_even, bits_of_a_record,
    hash_of_a_record, caught_division, caught_index, recursion, generator_expression, any_of_them, reduced, mapped,
    method_of_a_number, outer_comparison, short_circuit, while_it_is_large, clipped_by_the_data, matched, two_magic_records,
    two_magic_records_multiplied, magic_sum, magic_quantile, duplicates, order_of_records, minimum_by_default,
    sorted_by_a_key, partly_rounded, piecewise, underflow, half_precision, behind_a_decorator, gcd_of_records,
)  # fmt: skip
ATTACKS = (
    *(Attack(one, "on rare data the sum moves by much more than one", RARE) for one in _PLAIN),
    Attack(functools.partial(partial_of, limit=0.9876), "on rare data the sum moves by 30", RARE),
    Attack(Deep(), "on rare data the sum moves by 30", RARE),
    Attack(norm_of_a_vector, "a record of a large norm moves the sum by 10 more", RARE, columns=3),
)
