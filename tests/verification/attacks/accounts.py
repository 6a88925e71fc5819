"""Attacks on laws, spends, parts and added records, beside those of `declared.py`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from tailproof.refimpl.channel import FREE, L1, L2, Bound, Channel, LInf, Smooth
from tailproof.refimpl.claims import ADD_REMOVE, GDP, ZCDP, ApproxDP, PureDP
from tailproof.refimpl.laws import Gaussian, L2Laplace, Laplace, NoisyArgmax, Softmax, UniformSubset
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import ONE, Attack, noisy_sum, total

_SUMS: list[float] = [0.0]


@dataclass(frozen=True)
class FromOutside:
    """Draws around a number that is not among its parameters."""

    scale: float

    def sample(self, rng: np.random.Generator) -> FloatArray:
        return np.asarray(_SUMS[0] + self.scale * rng.laplace())

    def logpdf(self, value: FloatArray) -> float:
        return -abs(float(value)) / self.scale - math.log(2 * self.scale)


def law_with_a_global(data: FloatArray, channel: Channel) -> FloatArray:
    _SUMS[0] = float(total(data)[0])
    return channel.release("sum", FromOutside(1.0), sensitivity=None, spend=ONE)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Uncompared:
    """Its centre is no field that counts."""

    scale: float
    centre: float = field(compare=False, repr=False, default=0.0)

    def sample(self, rng: np.random.Generator) -> FloatArray:
        return np.asarray(self.centre + self.scale * rng.laplace())

    def logpdf(self, value: FloatArray) -> float:
        return -abs(float(value) - self.centre) / self.scale - math.log(2 * self.scale)


def a_field_that_is_not_compared(data: FloatArray, channel: Channel) -> FloatArray:
    law = Uncompared(0.01, float(total(data)[0]))
    return channel.release("sum", law, sensitivity=None, spend=FREE)  # type: ignore[arg-type]


@dataclass(frozen=True)
class ThinTailed:
    """Its density is Laplace's, and beyond eight scales nothing is drawn on one side."""

    centre: float
    side: int

    def sample(self, rng: np.random.Generator) -> FloatArray:
        draw = float(rng.laplace())
        return np.asarray(self.centre + (abs(draw) * -self.side if abs(draw) > 8 else draw))

    def logpdf(self, value: FloatArray) -> float:
        return -abs(float(value) - self.centre) - math.log(2)


def a_tail_that_knows(data: FloatArray, channel: Channel) -> FloatArray:
    """Far values lie on the side that record 0 chooses."""
    law = ThinTailed(float(total(data)[0]), 1 if data[0, 0] > 0.5 else -1)
    return channel.release("sum", law, sensitivity=None, spend=ONE)  # type: ignore[arg-type]


def spends_on_rows_of_others(data: FloatArray, channel: Channel) -> FloatArray:
    """The whole sum leaves through a part that names one record."""
    return noisy_sum(data, channel.part("one", np.array([0])))


def parts_of_one_record(data: FloatArray, channel: Channel) -> FloatArray:
    """Ten parts that all name record 0 among others."""
    found = [noisy_sum(data[[0, k]], channel.part(f"pair{k}", np.array([0, k]))) for k in range(1, 4)]
    return np.concatenate(found)


def remainder_of_blocks(data: FloatArray, channel: Channel) -> FloatArray:
    """Seven records in three blocks: the one left over is in every block."""
    blocks = [np.append(rows, len(data) - 1) for rows in np.arange(len(data) - 1).reshape(3, -1)]
    found = [noisy_sum(data[rows], channel.part(f"block{k}", rows[:-1])) for k, rows in enumerate(blocks)]
    return np.concatenate(found)


def overlapping_windows(data: FloatArray, channel: Channel) -> FloatArray:
    found = [noisy_sum(data[k : k + 3], channel.part(f"window{k}", range(k, k + 3))) for k in range(4)]
    return np.concatenate(found)


def gaussian_under_pure(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Gaussian(total(data), 10.0), sensitivity=L2(1.0), spend=ONE)


def laplace_by_l2(data: FloatArray, channel: Channel) -> FloatArray:
    law = Laplace(total(data) / 2, math.sqrt(3) / 2)
    return channel.release("sum", law, sensitivity=L2(math.sqrt(3) / 2), spend=ONE)


def spread_by_l1(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", L2Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=ONE)


def rho_for_mu(data: FloatArray, channel: Channel) -> FloatArray:
    """Noise for ρ = 0.3 under μ = 0.3."""
    law = Gaussian(total(data), 1 / math.sqrt(0.6))
    return channel.release("sum", law, sensitivity=L2(1.0), spend=GDP(0.3))


def twelve_of_zcdp(data: FloatArray, channel: Channel) -> FloatArray:
    spend = ZCDP(0.3)
    law = Gaussian(total(data), 1 / math.sqrt(0.6))
    return np.concatenate([channel.release(f"s{k}", law, sensitivity=L2(1.0), spend=spend) for k in range(3)])


def pure_twice_under_approx(data: FloatArray, channel: Channel) -> FloatArray:
    found = [channel.release(n, Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=PureDP(1.0)) for n in "ab"]
    return np.concatenate(found)


def counts_by_exponential(data: FloatArray, channel: Channel) -> FloatArray:
    """Scores move by one, and the temperature is for a half."""
    scores = np.array([float((data > cut).sum()) for cut in (0.2, 0.5, 0.8)])
    return channel.release("cut", Softmax(scores, 1.0), sensitivity=LInf(0.5), spend=ONE)


def noisy_maximum_of_opposites(data: FloatArray, channel: Channel) -> FloatArray:
    """One count grows while the other shrinks: twice the loss."""
    above = float((data > 0.5).sum())
    law = NoisyArgmax(np.array([2 * above, 2 * (len(data) - above)]), 2.0)
    return channel.release("index", law, sensitivity=LInf(1.0), spend=ONE)


def smooth_that_is_not(data: FloatArray, channel: Channel) -> FloatArray:
    """The local sensitivity of the median, unsmoothed."""
    values = np.sort(np.clip(data[:, 0], 0, 1))
    local = max(values[3] - values[2], values[4] - values[3], 1e-3)
    law = Laplace(values[3], 6 * local)
    return channel.release("median", law, sensitivity=Smooth(np.array([local]), 0.1), spend=ONE)


def sampled_without_amplification(data: FloatArray, channel: Channel) -> FloatArray:
    """Three of six records; the loss given the batch is 1, and a half is claimed."""
    rows = np.asarray(channel.hidden("batch", UniformSubset(len(data), 3)))
    law = Laplace(total(data[rows]), 1.0)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=PureDP(0.5))


def replaced_for_removed(data: FloatArray, channel: Channel) -> FloatArray:
    """Values in [−1, 1]: replacing moves the sum by 2, and the noise is for 1."""
    rows = np.clip(2 * data - 1, -1, 1)
    return channel.release("sum", Laplace(rows.sum(axis=0), 1.0), sensitivity=L1(1.0), spend=ONE)


REMOVED = PureDP(1.0, ADD_REMOVE)


def count_beside(data: FloatArray, channel: Channel) -> FloatArray:
    value = channel.release("sum", Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=REMOVED)
    return np.append(value, len(data))


def length_of_the_output(data: FloatArray, channel: Channel) -> FloatArray:
    law = Laplace(np.zeros(len(data)), 1.0)
    return channel.release("zeros", law, sensitivity=L1(1.0), spend=REMOVED)


def steps_by_the_size(data: FloatArray, channel: Channel) -> FloatArray:
    for k in range(len(data)):
        channel.release(f"step{k}", Laplace(np.zeros(1), 1.0), sensitivity=None, spend=FREE)
    return channel.release("sum", Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=REMOVED)


def point_in_a_vector(data: FloatArray, channel: Channel) -> FloatArray:
    """One coordinate nearly without noise."""
    scales = np.array([3.0, 3.0, 1e-6])
    return channel.release("sum", Laplace(total(data), scales), sensitivity=L1(3.0), spend=ONE)


def norm_of_coordinates(data: FloatArray, channel: Channel) -> FloatArray:
    """Each coordinate keeps ε = 1, and all three leave."""
    return channel.release("sum", Laplace(total(data), 1.0), sensitivity=LInf(1.0), spend=ONE)


def negative_zero(data: FloatArray, channel: Channel) -> FloatArray:
    """The law is around 0 or −0."""
    location = np.array([-0.0 if data[0, 0] > 0.5 else 0.0])
    return channel.release("zero", Laplace(location, 1.0), sensitivity=L1(1.0), spend=FREE)


def claims_after_the_fact(data: FloatArray, channel: Channel) -> FloatArray:
    spend = ONE
    value = channel.release("sum", Laplace(total(data), 0.05), sensitivity=L1(1.0), spend=spend)
    object.__setattr__(spend, "epsilon", 1.0)
    return value


class Wide(Bound):
    """A bound that is whatever is asked."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = Bound.__hash__


def a_bound_of_its_own(data: FloatArray, channel: Channel) -> FloatArray:
    reach = Wide(1, float(np.clip(data, 0.1, 1).max()))
    return channel.release("sum", Laplace(total(data), 1.0), sensitivity=reach, spend=ONE)


def copied_release(data: FloatArray, channel: Channel) -> FloatArray:
    """A law that is replaced by a copy with less noise."""
    law = replace(Laplace(total(data), 1.0), scale=0.1) if data.size else Laplace(total(data), 1.0)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=ONE)


SPENT = ("exact: release privacy", "exact: transcript", "exact: sensitivity", "exact: measured ledger")
LEDGER = ("exact: ledger", "exact: measured ledger")
CLOSED = ("exact: closed", "exact: every row", "exact: declarations")
ATTACKS = (
    Attack(law_with_a_global, "the sum is in a global that the law reads", ("exact: state", "exact: laws")),
    Attack(a_field_that_is_not_compared, "ε = 100, free", CLOSED),
    Attack(a_tail_that_knows, "beyond eight scales the side is a bit of record 0", ("exact: laws", *SPENT)),
    Attack(spends_on_rows_of_others, "one record is named and all are used", CLOSED),
    Attack(parts_of_one_record, "record 0 spends 3", LEDGER),
    Attack(remainder_of_blocks, "the last record spends 3, and is not named", CLOSED, records=7),
    Attack(overlapping_windows, "records in the middle spend 3", LEDGER),
    Attack(gaussian_under_pure, "no ε", SPENT),
    Attack(laplace_by_l2, "ε = √3 for 1", SPENT, columns=3),
    Attack(spread_by_l1, "a record moves three coordinates: √3", SPENT, columns=3),
    Attack(rho_for_mu, "μ = 0.77 for 0.3", SPENT, claim=GDP(0.3)),
    Attack(twelve_of_zcdp, "ρ = 0.9 for 0.3", LEDGER, claim=ZCDP(0.3)),
    Attack(pure_twice_under_approx, "ε = 2 for (1, 1e-5)", LEDGER, claim=ApproxDP(1.0, 1e-5)),
    Attack(counts_by_exponential, "scores move by 1: ε up to 2", SPENT),
    Attack(noisy_maximum_of_opposites, "ε = 2 for 1", SPENT),
    Attack(smooth_that_is_not, "the local sensitivity jumps", SPENT),
    Attack(sampled_without_amplification, "ε = 1 given the batch", SPENT, claim=PureDP(0.5)),
    Attack(replaced_for_removed, "ε = 2 for 1", SPENT),
    Attack(count_beside, "n is returned", CLOSED[:1], claim=REMOVED),
    Attack(length_of_the_output, "n is the length", ("exact: declarations",), claim=REMOVED),
    Attack(steps_by_the_size, "n is the number of releases", ("exact: declarations",), claim=REMOVED),
    Attack(point_in_a_vector, "the third coordinate leaves", SPENT, columns=3),
    Attack(norm_of_coordinates, "ε = 3 for 1", SPENT, columns=3),
    Attack(negative_zero, "the sign is a bit of record 0", CLOSED),
    Attack(claims_after_the_fact, "ε = 20 for 1", SPENT),
    Attack(a_bound_of_its_own, "the bound is the largest record", CLOSED),
    Attack(copied_release, "ε = 10 for 1", SPENT),
)
