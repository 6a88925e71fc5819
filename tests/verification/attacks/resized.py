"""Under claims about added and removed records: attacks that tell of the size or of places, and honest twins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tailproof.refimpl.channel import L1, L2, Channel, LInf
from tailproof.refimpl.claims import ADD_REMOVE, GDP, ZCDP, ApproxDP, PureDP, gaussian_mu
from tailproof.refimpl.laws import Gaussian, Laplace, Softmax
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import Attack, Honest, total

REMOVED = PureDP(1.0, ADD_REMOVE)
HALF = PureDP(0.5, ADD_REMOVE)
TEN = ApproxDP(1.0, 1e-5, ADD_REMOVE)
STEPS = 10
SCALE = math.sqrt(STEPS) / gaussian_mu(TEN.epsilon, TEN.delta)


def summed(data: FloatArray, channel: Channel, name: str = "sum", spend: PureDP = REMOVED) -> FloatArray:
    return channel.release(name, Laplace(total(data), 1 / spend.epsilon), sensitivity=L1(1.0), spend=spend)


def counted(data: FloatArray, channel: Channel, spend: PureDP = HALF) -> FloatArray:
    law = Laplace(np.array([float(len(data))]), 1 / spend.epsilon)
    return channel.release("count", law, sensitivity=L1(1.0), spend=spend)


def in_ten_steps(data: FloatArray, channel: Channel, scale: float) -> Any:
    law, spend = Gaussian(total(data), scale), GDP(1 / scale, ADD_REMOVE)
    return [channel.release(f"{step}", law, sensitivity=L2(1.0), spend=spend)[0] for step in range(STEPS)]


# --- attacks --------------------------------------------------------------------------------------------------------------------


def noise_that_grows_with_the_size(data: FloatArray, channel: Channel) -> FloatArray:
    """More noise than needed, and how much is told by how far values lie apart."""
    law = Laplace(total(data), 1.0 + len(data))
    return channel.release("sum", law, sensitivity=L1(1.0), spend=REMOVED)


def gaussian_noise_by_the_size(data: FloatArray, channel: Channel) -> FloatArray:
    law = Gaussian(total(data), 3.0 * (1 + len(data)))
    return channel.release("sum", law, sensitivity=L2(1.0), spend=ZCDP(0.05, ADD_REMOVE))


def halves_by_place(data: FloatArray, channel: Channel) -> FloatArray:
    """A record that goes moves all after it: both sums change."""
    first, second = channel.part("first", range(3)), channel.part("second", range(3, 6))
    return np.concatenate([summed(data[:3], first), summed(data[3:], second)])


def alternating_sum(data: FloatArray, channel: Channel) -> FloatArray:
    """Replaced, a record moves it by 1; removed, it turns the signs of all after it."""
    signs = (-1.0) ** np.arange(len(data))
    law = Laplace(np.clip(data, 0, 1).T @ signs, 1.0)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=REMOVED)


def mean_of_few(data: FloatArray, channel: Channel) -> FloatArray:
    """The mean of six moves by 1/6; that of two by 1/2."""
    law = Laplace(total(data) / max(len(data), 1), 1 / 6)
    return channel.release("mean", law, sensitivity=L1(1 / 6), spend=REMOVED)


def parity_of_the_size(data: FloatArray, channel: Channel) -> FloatArray:
    return summed(data, channel) + len(data) % 2


def exact_for_three(data: FloatArray, channel: Channel) -> FloatArray:
    value = summed(data, channel)
    return total(data) if len(data) == 3 else value


def nothing_for_no_records(data: FloatArray, channel: Channel) -> FloatArray:
    return summed(data, channel) if len(data) else np.zeros(1)


def raises_on_no_records(data: FloatArray, channel: Channel) -> FloatArray:
    return summed(data, channel) + 0 * data[0, 0]


def budget_for_replaced_records(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=PureDP(1.0))


def above_a_median(data: FloatArray, channel: Channel) -> FloatArray:
    value = summed(data, channel)
    return value + 5 if len(data) and 0.7125 < np.median(data) < 0.7126 else value


def the_last_record(data: FloatArray, channel: Channel) -> FloatArray:
    """The same for all data whose last record is 0."""
    return summed(data, channel) + float(np.any(data[-1:] > 0.25))


def ten_steps_with_too_little_noise(data: FloatArray, channel: Channel) -> Any:
    return in_ten_steps(data, channel, 0.95 * SCALE)


LAWS = ("exact: release privacy",)
PLACES = ("exact: sensitivity", "exact: every row")
OUTPUT = ("exact: closed",)

ATTACKS = (
    Attack(noise_that_grows_with_the_size, "n shows in the scale", LAWS, claim=REMOVED),
    Attack(gaussian_noise_by_the_size, "n shows in the scale", LAWS, claim=ZCDP(0.05, ADD_REMOVE)),
    Attack(halves_by_place, "a removed record moves others into the other half", ("exact: ledger",), claim=REMOVED),
    Attack(halves_by_place, "a removed record moves others into the other half", ("exact: every row",), claim=REMOVED),
    Attack(alternating_sum, "it moves by 5", ("exact: sensitivity",), claim=REMOVED),
    Attack(alternating_sum, "it moves by 5", ("exact: every row",), claim=REMOVED),
    Attack(mean_of_few, "it moves by 1/2", PLACES[:1], claim=REMOVED),
    Attack(parity_of_the_size, "whether n is even", OUTPUT, claim=REMOVED),
    Attack(exact_for_three, "the exact sum of three records", OUTPUT, claim=REMOVED),
    Attack(nothing_for_no_records, "whether there are any records", OUTPUT, claim=REMOVED),
    Attack(raises_on_no_records, "whether there are any records", OUTPUT, claim=REMOVED),
    Attack(budget_for_replaced_records, "its budget is one of replaced records", ("exact: ledger",), claim=REMOVED),
    Attack(above_a_median, "a median of 0.7125 shows", ("exact: branches", *OUTPUT), claim=REMOVED),
    Attack(the_last_record, "a bit of the last record", OUTPUT, claim=REMOVED),
    Attack(the_last_record, "a bit of the last record", ("exact: every row",), claim=REMOVED),
    Attack(ten_steps_with_too_little_noise, "5 % too little", ("exact: composition",), claim=TEN),
)


# --- honest twins ----------------------------------------------------------------------------------------------------------------


def noisy_mean(data: FloatArray, channel: Channel) -> FloatArray:
    """A quotient of two releases."""
    return summed(data, channel, spend=HALF) / np.maximum(counted(data, channel), 1.0)


def clipped_by_the_noisy_size(data: FloatArray, channel: Channel) -> FloatArray:
    """What is released second follows the first value, its sensitivity does not."""
    size = float(counted(data, channel)[0])
    law = Laplace(np.clip(data, 0, 0.5 + np.arctan(size) / math.pi).sum(axis=0), 2.0)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=HALF)


def few_or_many(data: FloatArray, channel: Channel) -> FloatArray:
    """A choice by a released value."""
    return summed(data, channel, spend=HALF) if float(counted(data, channel)[0]) > 3 else np.zeros(1)


def histogram(data: FloatArray, channel: Channel) -> FloatArray:
    counts = np.histogram(data, bins=3, range=(0.0, 1.0))[0].astype(float)
    return channel.release("counts", Laplace(counts, 1.0), sensitivity=L1(1.0), spend=REMOVED)


def median_of_a_grid(data: FloatArray, channel: Channel) -> FloatArray:
    """Scores move by 1 at most, all in whatever direction."""
    grid = np.linspace(0, 1, 5)
    scores = -np.abs((data < grid).sum(axis=0) - (data > grid).sum(axis=0)).astype(float)
    return grid[int(channel.release("median", Softmax(scores, 2.0), sensitivity=LInf(1.0), spend=REMOVED))]


def ten_steps(data: FloatArray, channel: Channel) -> Any:
    return in_ten_steps(data, channel, SCALE)


TWINS = (
    Honest(summed, claim=REMOVED),
    Honest(noisy_mean, claim=REMOVED),
    Honest(clipped_by_the_noisy_size, claim=REMOVED),
    Honest(few_or_many, claim=REMOVED),
    Honest(histogram, claim=REMOVED),
    Honest(median_of_a_grid, claim=REMOVED),
    Honest(ten_steps, claim=TEN),
)
