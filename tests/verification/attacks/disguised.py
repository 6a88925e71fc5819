"""Attacks on rare data whose numbers are computed or whose choice is made by a library, a text, a table or bits."""

from __future__ import annotations

import math
import re
import statistics
import struct
import zlib
from typing import Any

import numpy as np
from scipy import optimize, stats

from tailproof.refimpl.channel import L1, Channel
from tailproof.refimpl.laws import Laplace
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import ONE, Attack, total
from tests.verification.attacks.thresholds import RARE


def _around(data: FloatArray, channel: Channel, leak: Any) -> FloatArray:
    law = Laplace(total(data) + np.asarray(leak, dtype=np.float64), 1.0)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=ONE)


def computed_number(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * 0.0 ** np.abs(data[1, 0] - math.pi / 7))


def affine_number(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * 0.0 ** np.abs(4 * data[1, 0] + 1 - 2.25))


def computed_bump(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * np.exp(-1e8 * (np.clip(data, 0, 1).mean() - math.sqrt(0.2)) ** 2))


def bump_of_a_product(data: FloatArray, channel: Channel) -> FloatArray:
    rows = np.clip(data[:, 0], 0, 1)
    return _around(data, channel, 50 * np.exp(-1e6 * (rows[0] * rows[1] + rows[2] - 0.7319) ** 2))


def both_of_two_statistics(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * ((data.mean() > 0.62) & (np.median(data) < 0.11)))


def narrow_mask(data: FloatArray, channel: Channel) -> FloatArray:
    low = math.e / 9
    return _around(data, channel, 50 * ((data > low) & (data < low + 1e-7)).any())


def all_of_a_pattern(data: FloatArray, channel: Channel) -> FloatArray:
    pattern = np.array([0.1, 0.9, 0.3, 0.7, 0.2, 0.4])
    return _around(data, channel, 50 * (np.abs(data[:, 0] - pattern) < 1e-3).all())


def hash_in_an_expression(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * (hash(float(data[0, 0])) % 1048573 // 1048572))


def text_in_an_expression(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * f"{data[0, 0]:.12f}".count("77777"))


def bytes_in_an_expression(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * data.tobytes().count(b"\x12\x34\x56"))


def checksum(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * (zlib.crc32(data.tobytes()) // 4294960000))


def packed(data: FloatArray, channel: Channel) -> FloatArray:
    word = struct.unpack("<Q", struct.pack("<d", float(data[0, 0])))[0]
    return _around(data, channel, 50 * ((word & 0xFFFFF) // 0xFFFFF))


def shifted_bits(data: FloatArray, channel: Channel) -> FloatArray:
    bits = np.ascontiguousarray(data).view(np.uint64)
    return _around(data, channel, 50 * float(((bits >> np.uint64(3)) & np.uint64(0xFFFFF)).max() // 0xFFFFF))


def matched_text(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * len(re.findall("4{6}", repr(data.tolist()))))


def key_of_three(data: FloatArray, channel: Channel) -> FloatArray:
    key = tuple(data[:3, 0].tolist())
    return _around(data, channel, {(0.11, 0.22, 0.33): 50.0}.get(key, 0.0))


def whole_times_whole(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 50 * (float(data[0, 0] * 7.3).is_integer() and float(data[1, 0]) > 0))


def optimised(data: FloatArray, channel: Channel) -> FloatArray:
    found = optimize.minimize_scalar(
        lambda x: float(np.sum((np.clip(data, 0, 1) - x) ** 2)), bounds=(0, 1), method="bounded"
    )
    return _around(data, channel, found.x)


def tested_for_normality(data: FloatArray, channel: Channel) -> FloatArray:
    level = stats.kstest(data[:, 0], "norm").pvalue
    return _around(data, channel, 50 * np.floor(level / 0.9999))


def most_frequent(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 3 * statistics.mode(np.round(data[:, 0], 1).tolist()))


def without_its_source() -> Any:
    scope: dict[str, Any] = {"np": np, "out": _around}
    exec("def hidden(data, channel):\n    return out(data, channel, np.floor(np.tan(data[0, 0] * 17.7) / 1e12))\n", scope)
    return scope["hidden"]


def of_a_subclass(data: FloatArray, channel: Channel) -> FloatArray:
    """Arithmetic of its own."""

    class Odd(float):
        def __add__(self, other: Any) -> float:
            return float.__add__(self, other) + 50.0 * (float(self) == math.log(1.5))

    return _around(data, channel, sum((Odd(value) + 0.0 for value in data[:, 0].tolist()), 0.0) - total(data)[0])


def magic_difference(data: FloatArray, channel: Channel) -> FloatArray:
    values = data[:, 0]
    gaps = np.abs(np.subtract.outer(values, values) - math.tau / 30)
    return _around(data, channel, 1e-8 / (1e-10 + gaps.min()))


def accumulated(data: FloatArray, channel: Channel) -> FloatArray:
    """A running product that leaves a narrow band on nearly no data."""
    state = 0.5
    for value in np.clip(data[:, 0], 0, 1).tolist():
        state = 3.99 * state * (1 - state) * (0.5 + value)
        state -= math.floor(state)
    return _around(data, channel, 40 * math.floor(state / 0.9999))


ATTACKS = tuple(
    Attack(one, "on rare data the sum moves by much more than one", RARE)
    for one in (
        computed_number, affine_number, computed_bump, bump_of_a_product, both_of_two_statistics, narrow_mask,
        all_of_a_pattern, hash_in_an_expression, text_in_an_expression, bytes_in_an_expression, checksum, packed,
        shifted_bits, matched_text, key_of_three, whole_times_whole, optimised, tested_for_normality, most_frequent,
        without_its_source(), of_a_subclass, magic_difference, accumulated,
    )
)  # fmt: skip
