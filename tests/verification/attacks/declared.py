"""Attacks on what is declared and accounted: spends, sensitivities, visibility, rows, names, laws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailproof.refimpl.channel import FREE, L1, L2, Bound, Channel, Smooth
from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, PureDP
from tailproof.refimpl.laws import Finite, Gaussian, Laplace, NoisyArgmax, Point, Softmax, UniformPermutation, UniformSubset
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import ONE, Attack, noisy_sum, total

ANY = ("exact: declarations", "exact: release privacy", "exact: measured ledger", "exact: transcript")


def free_but_moves(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=FREE)


def free_beside_an_honest_one(data: FloatArray, channel: Channel) -> FloatArray:
    channel.release("aside", Gaussian(total(data), 100.0), sensitivity=L2(1.0), spend=FREE)
    return noisy_sum(data, channel)


def exact_under_free(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Point(total(data)), sensitivity=L1(1.0), spend=FREE)


def exact_under_a_spend(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Point(total(data)), sensitivity=L1(1.0), spend=ONE)


def query_under_a_claim(data: FloatArray, channel: Channel) -> FloatArray:
    channel.query("sum", total(data), sensitivity=L1(1.0))
    return noisy_sum(data, channel)


def spend_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    spend = PureDP(1.0 if data[0, 0] > 0.5 else 0.5)
    return channel.release("sum", Laplace(total(data), 2.0), sensitivity=L1(1.0), spend=spend)


def sensitivity_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    reach = float(np.clip(data, 0, 1).max()) or 1.0
    return channel.release("sum", Laplace(total(data), 1.0), sensitivity=L1(reach), spend=ONE)


def scale_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    scale = float(np.clip(data, 0.1, 1).max())
    return channel.release("sum", Laplace(total(data), scale), sensitivity=L1(1.0), spend=ONE)


def smooth_rate_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    rate = 0.1 + float(np.clip(data[0, 0], 0, 1))
    return channel.release("sum", Laplace(total(data), 3.0), sensitivity=Smooth(np.ones(1), rate), spend=ONE)


def infinite_smooth_bound(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(total(data), 0.01), sensitivity=Smooth(np.array([math.inf]), 0.1), spend=ONE)


def smooth_bound_of_zero_noise(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(total(data), 0.01), sensitivity=Smooth(np.array([1e6]), 0.1), spend=ONE)


def sensitivity_is_nan(data: FloatArray, channel: Channel) -> FloatArray:
    reach = object.__new__(Bound)
    object.__setattr__(reach, "norm", 1)
    object.__setattr__(reach, "value", math.nan)
    return channel.release("sum", Laplace(total(data), 0.1), sensitivity=reach, spend=ONE)


def spend_is_infinite(data: FloatArray, channel: Channel) -> FloatArray:
    spend = object.__new__(PureDP)
    for name, value in (("epsilon", math.inf), ("neighbouring", ONE.neighbouring)):
        object.__setattr__(spend, name, value)
    return channel.release("sum", Laplace(total(data), 0.1), sensitivity=L1(1.0), spend=spend)


def visible_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    law = Laplace(total(data), 1.0)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=ONE, visible=bool(data[0, 0] > 0.5))


def invisible_and_returned(data: FloatArray, channel: Channel) -> FloatArray:
    """Each half of the budget is exceeded, and neither release is said to be seen."""
    first, second = (
        channel.release(name, Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=ONE, visible=False) for name in "ab"
    )
    return np.concatenate([first, second])


def twice_the_budget(data: FloatArray, channel: Channel) -> FloatArray:
    return np.concatenate([noisy_sum(data, channel, name=name) for name in "ab"])


def twice_and_declared_half(data: FloatArray, channel: Channel) -> FloatArray:
    half = PureDP(0.5)
    found = [channel.release(n, Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=half) for n in "ab"]
    return np.concatenate(found)


def twice_under_zcdp(data: FloatArray, channel: Channel) -> FloatArray:
    found = [channel.release(n, Gaussian(total(data), 1.0), sensitivity=L2(1.0), spend=ZCDP(0.5)) for n in "ab"]
    return np.concatenate(found)


def ten_under_gdp(data: FloatArray, channel: Channel) -> FloatArray:
    names = [f"step{k}" for k in range(10)]
    found = [channel.release(n, Gaussian(total(data), 1.0), sensitivity=L2(1.0), spend=GDP(1.0)) for n in names]
    return np.concatenate(found)


def many_under_approx(data: FloatArray, channel: Channel) -> FloatArray:
    spend = ApproxDP(0.5, 1e-6)
    names = [f"step{k}" for k in range(30)]
    found = [channel.release(n, Gaussian(total(data), 11.0), sensitivity=L2(1.0), spend=spend) for n in names]
    return np.concatenate(found)


def more_releases_on_busy_data(data: FloatArray, channel: Channel) -> FloatArray:
    for k in range(1 + int(total(data)[0] > 3)):
        noisy_sum(data, channel, name=f"step{k}", epsilon=0.5)
    return np.zeros(1)


def names_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    return noisy_sum(data, channel, name="high" if data[0, 0] > 0.5 else "low")


def order_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    first, second = ("a", "b") if data[-1, 0] > 0.5 else ("b", "a")
    noisy_sum(data, channel, name=first, epsilon=0.5)
    return noisy_sum(data, channel, name=second, epsilon=0.5)


def shape_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    size = 1 + int(data[0, 0] > 0.5)
    law = Laplace(np.full(size, total(data)[0]), 2.0)
    return channel.release("sum", law, sensitivity=L1(2.0), spend=ONE)


def rows_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    """Which records a release names depends on their values."""
    chosen = np.flatnonzero(data[:, 0] > 0.5)
    chosen = chosen if len(chosen) else np.arange(1)
    return noisy_sum(data[chosen], channel.part("chosen", chosen))


def parts_that_overlap(data: FloatArray, channel: Channel) -> FloatArray:
    """Names disjoint halves, and uses one record more in each."""
    half = len(data) // 2
    first = noisy_sum(data[: half + 1], channel.part("first", range(half)))
    return np.concatenate([first, noisy_sum(data[half - 1 :], channel.part("second", range(half, len(data))))])


def the_last_record_in_every_part(data: FloatArray, channel: Channel) -> FloatArray:
    n = len(data)
    found = []
    for k in range(2):
        rows = range(k * (n // 2), (k + 1) * (n // 2))
        found.append(noisy_sum(np.vstack([data[rows.start : rows.stop], data[-1:]]), channel.part(f"part{k}", rows)))
    return np.concatenate(found)


def the_remainder_in_the_first_part(data: FloatArray, channel: Channel) -> FloatArray:
    size = len(data) // 4  # of six records two are left over
    found = []
    for k in range(4):
        rows = data[k * size : (k + 1) * size]
        rows = np.vstack([rows, data[4 * size :]]) if k == 0 else rows
        found.append(noisy_sum(rows, channel.part(f"part{k}", range(k * size, (k + 1) * size))))
    return np.concatenate(found)


class Quiet(Gaussian):
    """Says that it is a Gaussian and draws without noise."""

    def sample(self, rng: np.random.Generator) -> Any:  # noqa: ARG002
        return np.array(self.location)


def subclass_of_a_law(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Quiet(total(data), 1.0), sensitivity=L2(1.0), spend=ZCDP(0.5))


class Nameless:
    """A law without parameters: equal to every other."""

    def __init__(self, value: float) -> None:
        self._held = (value,)

    __slots__ = ("_held",)

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def sample(self, rng: np.random.Generator) -> FloatArray:
        return np.asarray(self._held[0] + rng.laplace())

    def logpdf(self, value: FloatArray) -> float:  # noqa: ARG002
        return 0.0


def law_equal_to_all(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Nameless(float(total(data)[0])), sensitivity=L1(1.0), spend=ONE)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Understated:
    """Draws with a tenth of the scale that its density has."""

    centre: float

    def sample(self, rng: np.random.Generator) -> FloatArray:
        return np.asarray(self.centre + 0.1 * rng.laplace())

    def logpdf(self, value: FloatArray) -> float:
        return -abs(float(value) - self.centre) - math.log(2)


def sampler_without_its_density(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Understated(float(total(data)[0])), sensitivity=None, spend=ONE)  # type: ignore[arg-type]


@dataclass(frozen=True)
class TwoFaced:
    """Outcomes 0 and 1, said to be a fair coin, drawn by the data."""

    bit: int

    def log_probabilities(self) -> FloatArray:
        return np.log([0.5, 0.5])

    def sample(self, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        return np.asarray(self.bit)

    def logpdf(self, value: FloatArray) -> float:  # noqa: ARG002
        return math.log(0.5)


def coin_that_knows(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("coin", TwoFaced(int(data[0, 0] > 0.5)), sensitivity=None, spend=ONE)  # type: ignore[arg-type]


def law_changed_after_release(data: FloatArray, channel: Channel) -> FloatArray:
    """Released around the sum, then made to look like noise around zero."""
    law = Laplace(total(data) * 100, 1.0)
    value = channel.release("sum", law, sensitivity=L1(1.0), spend=ONE)
    object.__setattr__(law, "location", np.zeros(1))
    return value


def support_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    """An outcome that is impossible on some data."""
    logits = np.zeros(3)
    logits[0] = -math.inf if data[0, 0] < 0.5 else 0.0
    return channel.release("choice", Finite(logits), sensitivity=None, spend=ONE)


def excluded_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    values = np.array([0.0, 1.0, float(total(data)[0])])
    excluded = (0,) if data[0, 0] > 0.5 else ()
    return channel.release("choice", NoisyArgmax(values, 2.0, excluded), sensitivity=L1(1.0), spend=ONE)


def choice_scale_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    scores = np.array([0.0, float(total(data)[0])])
    law = Softmax(scores, 2.0 / (1 + 4 * float(np.clip(data, 0, 1).max())))
    return channel.release("choice", law, sensitivity=L1(1.0), spend=ONE)


def hidden_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    """Hidden randomness that is a function of the data."""
    coin = channel.hidden("coin", Finite(np.array([0.0, 30.0 * (data[0, 0] > 0.5)])))
    return noisy_sum(data, channel) + float(coin)


def hidden_size_by_data(data: FloatArray, channel: Channel) -> FloatArray:
    chosen = channel.hidden("batch", UniformSubset(len(data), 1 + int(data[0, 0] > 0.5)))
    return noisy_sum(data[np.asarray(chosen)], channel)


def hidden_noise(data: FloatArray, channel: Channel) -> FloatArray:
    """Hidden noise shields the output, and the order is returned with it."""
    order = channel.hidden("order", UniformPermutation(len(data)))
    return np.append(noisy_sum(data, channel), data[np.asarray(order)[0], 0])


def unequal_scales(data: FloatArray, channel: Channel) -> FloatArray:
    """Gaussians of a scale that follows the data, under GDP."""
    scale = 1.0 + float(np.clip(data, 0, 1).mean())
    return channel.release("sum", Gaussian(total(data), scale), sensitivity=L2(1.0), spend=GDP(1.0))


def half_the_noise(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(total(data), 0.5), sensitivity=L1(1.0), spend=ONE)


def unclipped(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(data.sum(axis=0), 1.0), sensitivity=L1(1.0), spend=ONE)


def l2_for_l1(data: FloatArray, channel: Channel) -> FloatArray:
    """Coordinates in [0, 1] move by √k in ℓ₂ and by k in ℓ₁."""
    law = Laplace(total(data), math.sqrt(data.shape[1]))
    return channel.release("sum", law, sensitivity=L1(math.sqrt(data.shape[1])), spend=ONE)


def variance_for_deviation(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Gaussian(total(data), 1 / (2 * 2.0)), sensitivity=L2(1.0), spend=ZCDP(2.0))


PUBLIC = ("exact: declarations", "exact: sensitivity", "exact: closed")
SPENT = ("exact: release privacy", "exact: measured ledger", "exact: transcript", "exact: sensitivity")
LEDGER = ("exact: ledger", "exact: measured ledger")

ATTACKS = (
    Attack(free_but_moves, "the law follows the data and nothing is spent", ("exact: declarations",)),
    Attack(
        free_beside_an_honest_one, "μ = 0.01 more than the honest release's ε = 1, unaccounted", ("exact: declarations",)
    ),
    Attack(exact_under_free, "the exact sum leaves", ("exact: declarations",)),
    Attack(exact_under_a_spend, "the exact sum leaves: no ε", SPENT),
    Attack(query_under_a_claim, "the exact sum leaves", ("exact: declarations",)),
    Attack(spend_by_data, "the declared spend tells whether record 0 is above a half", PUBLIC),
    Attack(sensitivity_by_data, "the declared sensitivity is the largest record", PUBLIC),
    Attack(scale_by_data, "the scale follows the largest record: the loss in the tail is unbounded", SPENT),
    Attack(smooth_rate_by_data, "the declared rate is record 0", PUBLIC),
    Attack(infinite_smooth_bound, "ε = 100 for 1", PUBLIC + SPENT),
    Attack(smooth_bound_of_zero_noise, "ε = 100 for 1", SPENT),
    Attack(sensitivity_is_nan, "ε = 10 for 1", PUBLIC + SPENT),
    Attack(spend_is_infinite, "ε = 10 for 1", PUBLIC + LEDGER),
    Attack(visible_by_data, "whether it is published tells of record 0", PUBLIC),
    Attack(invisible_and_returned, "ε = 2 for 1, returned", LEDGER),
    Attack(twice_the_budget, "ε = 2 for 1", LEDGER),
    Attack(twice_and_declared_half, "each spends 1 and says 0.5", SPENT),
    Attack(twice_under_zcdp, "ρ = 1 for 0.5", LEDGER, claim=ZCDP(0.5)),
    Attack(ten_under_gdp, "μ = √10 for 1", LEDGER, claim=GDP(1.0)),
    Attack(many_under_approx, "μ = 0.498: δ(1) = 4e-3 for 1e-4", LEDGER, claim=ApproxDP(1.0, 1e-4)),
    Attack(more_releases_on_busy_data, "the number of releases tells whether the sum is above 3", PUBLIC),
    Attack(names_by_data, "the name tells of record 0", PUBLIC),
    Attack(order_by_data, "the order tells of the last record", (*PUBLIC, "exact: every row")),
    Attack(shape_by_data, "the size tells of record 0", PUBLIC),
    Attack(rows_by_data, "the named rows tell which records are above a half", PUBLIC),
    Attack(parts_that_overlap, "records in the middle spend 2", ("exact: closed", "exact: every row")),
    Attack(the_last_record_in_every_part, "the last record spends 2", ("exact: closed", "exact: every row")),
    Attack(
        the_remainder_in_the_first_part, "records left over are used and not named", ("exact: closed", "exact: every row")
    ),
    Attack(subclass_of_a_law, "no noise is drawn", (*PUBLIC, "exact: laws"), claim=ZCDP(0.5)),
    Attack(law_equal_to_all, "ε = 1 is unaccounted: all its laws are equal", ANY),
    Attack(sampler_without_its_density, "noise of scale 0.1: ε = 10 for 1", ("exact: laws", "exact: release privacy")),
    Attack(coin_that_knows, "the coin is a bit of record 0", ("exact: laws",)),
    Attack(law_changed_after_release, "ε = 100 for 1", SPENT),
    Attack(support_by_data, "outcome 0 proves that record 0 is above a half", SPENT),
    Attack(excluded_by_data, "outcome 0 proves that record 0 is below a half", (*PUBLIC, *SPENT)),
    Attack(choice_scale_by_data, "the scale follows the largest record", SPENT),
    Attack(hidden_by_data, "the coin is a bit of record 0, and returned", ("exact: closed", "exact: declarations")),
    Attack(hidden_size_by_data, "the size of the batch is a bit of record 0", PUBLIC),
    Attack(hidden_noise, "an exact record is returned", ("exact: closed", "exact: state")),
    Attack(unequal_scales, "scales follow the mean: no μ", ("exact: release privacy",), claim=GDP(1.0)),
    Attack(half_the_noise, "ε = 2 for 1", SPENT),
    Attack(unclipped, "no bound: a record of 100 moves the sum by 100", SPENT, bounds=None),
    Attack(l2_for_l1, "ε = √3 for 1", SPENT, columns=3),
    Attack(variance_for_deviation, "ρ = 8 for 2", SPENT, claim=ZCDP(2.0)),
)
