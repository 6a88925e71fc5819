"""Small mechanisms whose privacy is known, for testing the checks themselves."""

from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Setting
from tailproof.refimpl.channel import L1, L2, Channel, Mechanism
from tailproof.refimpl.claims import ZCDP, ApproxDP, Claim, PureDP
from tailproof.refimpl.laws import Gaussian, Laplace, UniformPermutation
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.subject import Subject


def subject(
    mechanism: Mechanism, claim: Claim, conditional: Claim | None = None, *, n: int = 4, d: int = 1, **parameters: Any
) -> Subject:
    return Subject("toy", mechanism, Setting(n, d, parameters), 0, claim, conditional)


def laplace_sum(data: FloatArray, channel: Channel, *, scale: float = 2.0) -> FloatArray:
    """Sum of records in [−1, 1] with Lap(scale): 2/scale-DP."""
    total = np.clip(data, -1, 1).sum(axis=0)
    return channel.release("sum", Laplace(total, scale), sensitivity=L1(2.0), spend=PureDP(2.0 / scale))


def laplace_twice(data: FloatArray, channel: Channel, *, visible: bool = True, claimed: float = 1.0) -> FloatArray:
    """The sum and the sum of squares: two releases that compose."""
    clipped = np.clip(data, -1, 1)
    first = channel.release(
        "sum", Laplace(clipped.sum(axis=0), 2.0), sensitivity=L1(2.0), spend=PureDP(claimed), visible=visible
    )
    second = channel.release("squares", Laplace((clipped**2).sum(axis=0), 1.0), sensitivity=L1(1.0), spend=PureDP(claimed))
    return np.concatenate([first, second])


def leaks_outside(data: FloatArray, channel: Channel) -> FloatArray:
    noisy = channel.release("nothing", Gaussian(np.zeros(1), 1.0), sensitivity=L2(1.0), spend=ZCDP(0.5))
    return noisy + data.max()


def branches_on_data(data: FloatArray, channel: Channel) -> FloatArray:
    name = "high" if data.max() > 0 else "low"
    return channel.release(name, Gaussian(np.zeros(1), 1.0), sensitivity=L2(1.0), spend=ZCDP(0.5))


def touches_other_rows(data: FloatArray, channel: Channel) -> FloatArray:
    """Says it uses the first two records, uses all."""
    part = channel.part("first", range(2))
    return part.release("sum", Gaussian(np.clip(data, -1, 1).sum(axis=0), 2.0), sensitivity=L2(2.0), spend=ZCDP(0.5))


def shuffled_sum(data: FloatArray, channel: Channel) -> FloatArray:
    """Every record noised by itself, in a hidden order; only the sorted values are published."""
    order = np.asarray(channel.hidden("order", UniformPermutation(len(data))))
    values = [
        channel.part(f"record{i}", np.array([row])).release(
            "value", Gaussian(np.clip(data[row], -1, 1), 2.0), sensitivity=L2(2.0), spend=ZCDP(0.5), visible=False
        )
        for i, row in enumerate(order)
    ]
    return np.sort(np.concatenate(values))


CONDITIONAL = ZCDP(0.5)
AMPLIFIED = ApproxDP(0.5, 1e-3)
