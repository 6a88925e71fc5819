"""[P3, Algorithm 4] Peeling: pick the s largest coordinates by noisy maxima, release them with Laplace noise.

Setting: a vector v(X) whose entries move by at most λ when one record changes.  Statement: (ε, δ)-DP for 0 < ε, δ < 1
[P3 Lemma 22, after Cai–Wang–Zhang 2021].  As a mean estimator (the step P3 Algorithm 5 makes) v is the truncated mean
and λ = 2B/n.
Departures: none.  Each noisy maximum is released as an index (its noise never leaves); the order of the indices is not
part of the output, so these releases are not visible unless s = 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl import validation
from tailproof.refimpl.channel import L1, Channel, LInf
from tailproof.refimpl.claims import ApproxDP, PureDP
from tailproof.refimpl.laws import Laplace, NoisyArgmax
from tailproof.refimpl.means.rows import replace_record, truncated_mean_of
from tailproof.refimpl.validation import FloatArray


def peel(
    vector: ArrayLike, channel: Channel, *, sparsity: int, epsilon: float, delta: float, sensitivity: float
) -> FloatArray:
    """`sparsity` is s, `sensitivity` is λ, the most an entry of `vector` moves when one record changes."""
    privacy(epsilon=epsilon, delta=delta)
    reach = validation.positive("sensitivity", sensitivity)
    validation.whole("sparsity", sparsity, least=1)
    values = validation.vector("vector", vector)
    sparsity = validation.whole("sparsity", sparsity, least=1, most=values.size)
    scale = noise_scale(sparsity=sparsity, epsilon=epsilon, delta=delta, sensitivity=reach)
    chosen: list[int] = []  # line 1
    for i in range(sparsity):  # lines 2-5
        law = NoisyArgmax(np.abs(values), scale, tuple(chosen))
        # |v| moves by λ too; a noisy maximum with Laplace noise b is 2λ/b-DP
        index = channel.release(
            f"index{i + 1}", law, sensitivity=LInf(reach), spend=PureDP(2 * reach / scale), visible=sparsity == 1
        )
        chosen.append(int(index))
    result = np.zeros(values.size)
    for i, j in enumerate(chosen):  # lines 6-7
        result[j] = channel.release(
            f"value{i + 1}", Laplace(values[j], scale), sensitivity=L1(reach), spend=PureDP(reach / scale)
        )
    return result


def noise_scale(*, sparsity: int, epsilon: float, delta: float, sensitivity: float) -> float:
    """Lines 3 and 6: 4λ√(2s log(1/δ))/ε."""
    return 4 * sensitivity * math.sqrt(2 * sparsity * math.log(1 / delta)) / epsilon


def peeled_mean(
    data: ArrayLike, channel: Channel, *, truncation: float, sparsity: int, epsilon: float, delta: float
) -> FloatArray:
    """Peeling of the truncated mean [P3, Algorithm 5, lines 3-10 with step 1 and start 0]; `truncation` is B."""
    privacy(epsilon=epsilon, delta=delta)
    truncation = validation.positive("truncation", truncation)
    validation.whole("sparsity", sparsity, least=1)
    data = validation.records("data", data)
    validation.whole("sparsity", sparsity, least=1, most=data.shape[1])
    mean = truncated_mean_of(data, truncation)
    reach = 2 * truncation / len(data)
    return peel(mean, channel, sparsity=sparsity, epsilon=epsilon, delta=delta, sensitivity=reach)


def privacy(*, epsilon: float, delta: float) -> ApproxDP:
    """[P3, Lemma 22].  Composition of the 2s pure releases gives 0.56ε + 0.08ε²/log(1/δ) at this δ, so it holds when
    log(1/δ) is not tiny; the paper's range 0 < ε, δ < 1 is what is enforced."""
    if validation.positive("epsilon", epsilon) > 1:
        raise validation.InputError(f"epsilon = {epsilon!r}: must lie in (0, 1]")
    return ApproxDP(epsilon, delta)


def worst_neighbours(
    n: int, d: int, *, truncation: float, sparsity: int, **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Every entry moves by λ: from B to −B in all coordinates; and so as to swap the winners with the others."""
    data = np.zeros((n, d))
    data[0] = truncation
    yield data, replace_record(data, 0, -truncation)
    tied = np.full((n, d), truncation / 2)
    signs = np.where(np.arange(d) < sparsity, 1.0, -1.0)
    tied[0] = truncation * signs
    yield tied, replace_record(tied, 0, -truncation * signs)
