"""More attacks on rare data: selections, orders, tables of truths, scales and spends that turn."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tailproof.refimpl.channel import L1, L2, Channel
from tailproof.refimpl.claims import ZCDP, PureDP
from tailproof.refimpl.laws import Finite, Gaussian, Laplace
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import ONE, Attack, noisy_sum, total
from tests.verification.attacks.thresholds import RARE


def _around(data: FloatArray, channel: Channel, leak: Any) -> FloatArray:
    return channel.release(
        "sum", Laplace(total(data) + np.asarray(leak, dtype=np.float64), 1.0), sensitivity=L1(1.0), spend=ONE
    )


def returned_on_rare(data: FloatArray, channel: Channel) -> FloatArray:
    v = noisy_sum(data, channel)
    return np.where(np.abs(data.mean() - 0.61803) < 1e-4, total(data), v)


def returned_by_index(data: FloatArray, channel: Channel) -> FloatArray:
    v = noisy_sum(data, channel)
    return [v, total(data)][int(np.count_nonzero(data == 0.31415) > 0)]


def returned_choose(data: FloatArray, channel: Channel) -> FloatArray:
    v = noisy_sum(data, channel)
    return np.choose(int(data.std() > 0.499), [v, total(data)])


def spike_of_product(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30.0 if np.prod(data) > 0.97 else 0.0)


def ptp_zero(data: FloatArray, channel: Channel) -> FloatArray:
    s = np.ptp(data)
    return _around(data, channel, 30.0 if 0 < s < 1e-8 else 0.0)


def weird_fib(data: FloatArray, channel: Channel) -> FloatArray:
    xs = np.sort(data[:, 0])
    return _around(
        data, channel, 30.0 * all(abs(xs[i] + xs[i + 1] - xs[i + 2]) < 1e-6 for i in range(len(xs) - 2)) * (xs[-1] > 0)
    )


def walrus(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 25.0 if (m := float(np.median(data))) * m > 0.83 and m < 0.93 else 0.0)


def masked_array(data: FloatArray, channel: Channel) -> FloatArray:
    m = np.ma.masked_greater(data, 0.987)
    return _around(data, channel, 30.0 * m.mask.any())


def named(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 30.0 * (data[0, 0] == data[1, 0] == data[2, 0] == 0.75))


def isin(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 10.0 * np.isin(data, [0.123456, 0.654321]).sum())


def max_key(data: FloatArray, channel: Channel) -> FloatArray:
    r = max(data[:, 0].tolist(), key=lambda v: -abs(v - 0.2468))
    return _around(data, channel, 30 * (abs(r - 0.2468) < 1e-9))


def takewhile(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 5.0 * max(0, len(list(itertools.takewhile(lambda v: v > 0.8, data[:, 0]))) - 3))


def extract(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 10.0 * np.extract(np.abs(data - 0.5432) < 1e-6, data).size)


def argmax_ties(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 5.0 * np.argmax(data[:, 0] >= 0.9999))


def scale_rare(data: FloatArray, channel: Channel) -> FloatArray:
    s = 1.0 if data.var() < 0.24 else 0.05
    return channel.release("sum", Laplace(total(data), s), sensitivity=L1(1.0), spend=ONE)


def spend_rare(data: FloatArray, channel: Channel) -> FloatArray:
    e = 1.0 if np.count_nonzero(data > 0.7777) != 4 else 0.5
    return channel.release("sum", Laplace(total(data), 2.0), sensitivity=L1(1.0), spend=PureDP(e))


def extra_release_rare(data: FloatArray, channel: Channel) -> FloatArray:
    v = noisy_sum(data, channel)
    if np.sum(data > 0.3) == 3 and np.sum(data > 0.9) == 2:
        channel.release("extra", Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=ONE)
    return v


def raises_rare(data: FloatArray, channel: Channel) -> FloatArray:
    if abs(float(data.sum()) - 2.71828) < 1e-5:
        raise ValueError("x")
    return noisy_sum(data, channel)


def dtype_rare(data: FloatArray, channel: Channel) -> FloatArray:
    v = noisy_sum(data, channel)
    return v.astype(np.float32) if data[4, 0] == 0.4242 else v.astype(np.float32).astype(float)


def inf_loop_cut(data: FloatArray, channel: Channel) -> FloatArray:
    x, k = float(np.clip(data, 0, 1).mean()), 0
    while x > 0.02 and k < 100:
        x, k = x * 0.9, k + 1
    return _around(data, channel, 0.5 * k)


class Prop:
    """A threshold behind a property."""

    def __init__(self) -> None:
        self.limit = 0.8181

    @property
    def cut(self) -> float:
        return self.limit

    def __call__(self, data: FloatArray, channel: Channel) -> FloatArray:
        return _around(data, channel, 30.0 * bool(np.all(data[:3] > self.cut)))


def nested_closure(data: FloatArray, channel: Channel) -> FloatArray:
    def judge(c: float) -> Any:
        return lambda v: 12.0 if abs(v - c) < 1e-12 else 0.0

    return _around(data, channel, sum(map(judge(0.909), data[:, 0])))


def vectorised(data: FloatArray, channel: Channel) -> FloatArray:
    f = np.vectorize(lambda v: 12.0 if v == 0.8080 else 0.0)
    return _around(data, channel, f(data).sum())


def fromiter(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, np.fromiter((v % 0.37 < 1e-9 and v > 0 for v in data[:, 0]), float).sum() * 9)


def unique_counts(data: FloatArray, channel: Channel) -> FloatArray:
    _, c = np.unique(data, return_counts=True)
    return _around(data, channel, 30 * (c.max() == 5))


def trapz(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 1000 * np.maximum(np.trapezoid(np.sort(data[:, 0])) - 4.9, 0))


def l0(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, 3.0 * np.linalg.norm(data[:, 0] - 0.3303, 0) - 18)


def poly(data: FloatArray, channel: Channel) -> FloatArray:
    m = float(np.clip(data, 0, 1).mean())
    return _around(data, channel, 1e7 * max(0.0, 1e-3 - (m - 0.777) ** 2) * 1e-3)


def lexsort(data: FloatArray, channel: Channel) -> FloatArray:
    o = np.lexsort((data[:, 1], data[:, 0]))
    law = Laplace(total(data) + 20 * (o[0] == 5) * (o[-1] == 0) * (data[0, 0] > 0.97), 2.0)
    return channel.release("sum", law, sensitivity=L1(2.0), spend=ONE)


def partial_write(data: FloatArray, channel: Channel) -> FloatArray:
    rows = np.clip(data, 0, 1)
    rows[np.isclose(rows, 0.1212)] = 40.0
    return channel.release("sum", Laplace(rows.sum(axis=0), 1.0), sensitivity=L1(1.0), spend=ONE)


def putmask(data: FloatArray, channel: Channel) -> FloatArray:
    rows = np.clip(data, 0, 1)
    np.putmask(rows, rows == 0.1313, 40.0)
    return channel.release("sum", Laplace(rows.sum(axis=0), 1.0), sensitivity=L1(1.0), spend=ONE)


def einsum(data: FloatArray, channel: Channel) -> FloatArray:
    w = (data[:, 0] == 0.1414).astype(float)
    return _around(data, channel, np.einsum("i,i->", w, np.full(len(data), 20.0)))


def try_assert(data: FloatArray, channel: Channel) -> FloatArray:
    try:
        assert np.median(data) < 0.955
        leak = 0.0
    except AssertionError:
        leak = 20.0
    return _around(data, channel, leak)


def dict_comp(data: FloatArray, channel: Channel) -> FloatArray:
    seen = {round(v, 2): 1 for v in data[:, 0].tolist()}
    return _around(data, channel, 20.0 * (0.33 in seen and 0.66 in seen and 0.99 in seen))


def string_key(data: FloatArray, channel: Channel) -> FloatArray:
    return _around(data, channel, {"0.25": 20.0}.get(str(float(data[0, 0])), 0.0))


def release_then_data(data: FloatArray, channel: Channel) -> FloatArray:
    c = channel.release("c", Finite(np.zeros(40)), sensitivity=None, spend=PureDP(0.1))
    return _around(data, channel, 0.0) if int(c) != 33 else total(data)


def l2_rare(data: FloatArray, channel: Channel) -> FloatArray:
    n = np.linalg.norm(data, axis=1)
    rows = data if n.max() < 1.6 else data * 10
    law = Gaussian(rows.mean(axis=0), 1.74)
    return channel.release("m", law, sensitivity=L2(1.74), spend=ZCDP(0.5))


WHY = "on rare data more leaves than is claimed"
ATTACKS = (
    *(
        Attack(one, WHY, RARE)
        for one in (
            returned_on_rare,
            returned_by_index,
            returned_choose,
            spike_of_product,
            ptp_zero,
            weird_fib,
            walrus,
            masked_array,
            named,
            isin,
            max_key,
            takewhile,
            extract,
            argmax_ties,
            scale_rare,
            spend_rare,
            extra_release_rare,
            raises_rare,
            dtype_rare,
            inf_loop_cut,
            Prop(),
            nested_closure,
            vectorised,
            fromiter,
            unique_counts,
            trapz,
            l0,
            poly,
            partial_write,
            putmask,
            einsum,
            try_assert,
            dict_comp,
            string_key,
        )
    ),
    Attack(release_then_data, WHY, RARE),
    Attack(lexsort, WHY, RARE, columns=2),
    Attack(l2_rare, WHY, RARE, columns=3, claim=ZCDP(0.5)),
)
