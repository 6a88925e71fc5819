"""Honest twins of the attacks: private as they claim, in many shapes."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailproof.refimpl.channel import FREE, L1, L2, Channel, LInf, Smooth
from tailproof.refimpl.claims import ADD_REMOVE, GDP, ZCDP, ApproxDP, PureDP
from tailproof.refimpl.laws import (
    Finite,
    Gaussian,
    L2Laplace,
    Laplace,
    NoisyArgmax,
    Softmax,
    UniformPermutation,
    UniformSubset,
)
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import ONE, Honest, noisy_sum, total


def laplace_sum(data: FloatArray, channel: Channel) -> FloatArray:
    return noisy_sum(data, channel)


def gaussian_mean(data: FloatArray, channel: Channel) -> FloatArray:
    n = len(data)
    law = Gaussian(np.clip(data, 0, 1).mean(axis=0), 1 / n)
    return channel.release("mean", law, sensitivity=L2(1 / n), spend=ZCDP(0.5))


def as_gdp(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Gaussian(total(data), 2.0), sensitivity=L2(1.0), spend=GDP(0.5))


def halves_of_the_budget(data: FloatArray, channel: Channel) -> FloatArray:
    return np.concatenate([noisy_sum(data, channel, name=name, epsilon=0.5) for name in "ab"])


def steps_on_disjoint_parts(data: FloatArray, channel: Channel) -> FloatArray:
    size = len(data) // 4
    found = []
    for k in range(4):
        rows = range(k * size, (k + 1) * size)
        found.append(noisy_sum(data[rows.start : rows.stop], channel.part(f"part{k}", rows)))
    return np.concatenate(found)


def shuffled_parts(data: FloatArray, channel: Channel) -> FloatArray:
    order = np.asarray(channel.hidden("order", UniformPermutation(len(data))))
    halves = order[: len(data) // 2], order[len(data) // 2 :]
    return np.concatenate([noisy_sum(data[rows], channel.part(f"half{k}", rows)) for k, rows in enumerate(halves)])


def a_hidden_batch(data: FloatArray, channel: Channel) -> FloatArray:
    rows = np.asarray(channel.hidden("batch", UniformSubset(len(data), 3)))
    return noisy_sum(data[rows], channel.part("batch", rows))


def adaptive_steps(data: FloatArray, channel: Channel) -> FloatArray:
    """The second query depends on the first answer, its sensitivity does not."""
    first = noisy_sum(data, channel, name="first", epsilon=0.5)
    bent = np.clip(data, 0, 1) * np.tanh(first[0])
    law = Laplace(bent.sum(axis=0), 2.0)
    return channel.release("second", law, sensitivity=L1(1.0), spend=PureDP(0.5))


def branches_on_released_values(data: FloatArray, channel: Channel) -> FloatArray:
    first = noisy_sum(data, channel, name="first", epsilon=0.5)
    query = total(data) if first[0] > 3 else total(1 - data)
    return channel.release("second", Laplace(query, 2.0), sensitivity=L1(1.0), spend=PureDP(0.5))


def stops_early(data: FloatArray, channel: Channel) -> FloatArray:
    first = noisy_sum(data, channel, name="first", epsilon=0.5)
    return noisy_sum(data, channel, name="second", epsilon=0.5) if first[0] > 2 else first


def chooses_softly(data: FloatArray, channel: Channel) -> FloatArray:
    scores = np.array([float(total(data)[0]), len(data) / 2, 0.0])
    return channel.release("choice", Softmax(scores, 2.0), sensitivity=LInf(1.0), spend=ONE)


def noisy_maximum(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("index", NoisyArgmax(total(data), 2.0), sensitivity=LInf(1.0), spend=ONE)


def randomised_response(data: FloatArray, channel: Channel) -> FloatArray:
    truth = int(data[0, 0] > 0.5)
    logits = np.zeros(2)
    logits[truth] = 1.0
    return channel.release("answer", Finite(logits), sensitivity=None, spend=ONE)


def vectors_of_l2_noise(data: FloatArray, channel: Channel) -> FloatArray:
    rows = np.clip(data, 0, 1) / math.sqrt(data.shape[1])
    return channel.release("sum", L2Laplace(rows.sum(axis=0), 1.0), sensitivity=L2(1.0), spend=ONE)


def smooth_and_constant(data: FloatArray, channel: Channel) -> FloatArray:
    law = Laplace(total(data), 1.0)
    return channel.release("sum", law, sensitivity=Smooth(np.ones(1), 0.1), spend=ONE)


def a_free_coin(data: FloatArray, channel: Channel) -> FloatArray:
    coin = channel.release("coin", Finite(np.zeros(2)), sensitivity=None, spend=FREE)
    return np.append(noisy_sum(data, channel), float(coin))


def a_dictionary(data: FloatArray, channel: Channel) -> Any:
    value = noisy_sum(data, channel)
    return {"sum": value, "records": len(data), "rounded": [round(float(v), 3) for v in value]}


def projects_its_output(data: FloatArray, channel: Channel) -> FloatArray:
    return np.asarray(np.clip(noisy_sum(data, channel), 0, len(data)))


def writes_into_a_copy(data: FloatArray, channel: Channel) -> FloatArray:
    rows = data.copy()
    rows[rows > 1] = 1.0
    return noisy_sum(rows, channel)


def not_seen(data: FloatArray, channel: Channel) -> FloatArray:
    """The noisy gradients are not published; they keep the claim all the same."""
    steps = [
        channel.release(f"step{k}", Gaussian(total(data), 2.0), sensitivity=L2(1.0), spend=ZCDP(0.125), visible=False)
        for k in range(4)
    ]
    return np.asarray(np.mean(steps, axis=0))


def ten_steps(data: FloatArray, channel: Channel) -> FloatArray:
    mu = 0.2 / math.sqrt(10)
    found = [
        channel.release(f"step{k}", Gaussian(total(data), 1 / mu), sensitivity=L2(1.0), spend=GDP(mu)) for k in range(10)
    ]
    return np.concatenate(found)


def with_parameters(data: FloatArray, channel: Channel, scale: float = 1.0) -> FloatArray:
    law = Laplace(total(data), scale)
    return channel.release("sum", law, sensitivity=L1(1.0), spend=PureDP(1 / scale))


@dataclass(frozen=True)
class Mechanism:
    """A callable object."""

    epsilon: float

    def __call__(self, data: FloatArray, channel: Channel) -> FloatArray:
        return noisy_sum(data, channel, epsilon=self.epsilon)


def _closure(epsilon: float) -> Any:
    def in_a_closure(data: FloatArray, channel: Channel) -> FloatArray:
        return noisy_sum(data, channel, epsilon=epsilon)

    return in_a_closure


@functools.lru_cache
def _scale(epsilon: float) -> float:
    return 1 / epsilon


def caches_what_is_public(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(total(data), _scale(1.0)), sensitivity=L1(1.0), spend=ONE)


@dataclass(frozen=True)
class Coin:
    """Outcome 1 with odds e^logit: a law from elsewhere."""

    logit: float

    def log_probabilities(self) -> FloatArray:
        logits = np.array([0.0, self.logit])
        return np.asarray(logits - np.log(np.exp(logits).sum()))

    def sample(self, rng: np.random.Generator) -> FloatArray:
        return np.asarray(int(rng.random() < np.exp(self.log_probabilities()[1])))

    def logpdf(self, value: FloatArray) -> float:
        return float(self.log_probabilities()[int(value)])


def a_law_from_elsewhere(data: FloatArray, channel: Channel) -> FloatArray:
    logit = 0.5 if data[0, 0] > 0.5 else -0.5
    return channel.release("coin", Coin(logit), sensitivity=None, spend=ONE)  # type: ignore[arg-type]


REMOVED = PureDP(1.0, ADD_REMOVE)


def sum_of_some(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(total(data), 1.0), sensitivity=L1(1.0), spend=REMOVED)


def count_of_some(data: FloatArray, channel: Channel) -> FloatArray:
    law = Gaussian(np.array([float(len(data))]), 1.0)
    spend = ZCDP(0.5, ADD_REMOVE)
    return channel.release("count", law, sensitivity=L2(1.0), spend=spend)


TWINS = (
    Honest(laplace_sum),
    Honest(gaussian_mean, claim=ZCDP(0.5)),
    Honest(as_gdp, claim=GDP(0.5)),
    Honest(as_gdp, claim=ApproxDP(1.0, 0.02)),
    Honest(halves_of_the_budget),
    Honest(steps_on_disjoint_parts),
    Honest(shuffled_parts),
    Honest(a_hidden_batch),
    Honest(adaptive_steps),
    Honest(branches_on_released_values),
    Honest(stops_early),
    Honest(chooses_softly),
    Honest(noisy_maximum, columns=3),
    Honest(randomised_response),
    Honest(vectors_of_l2_noise, columns=3),
    Honest(smooth_and_constant),
    Honest(a_free_coin),
    Honest(a_dictionary),
    Honest(projects_its_output),
    Honest(writes_into_a_copy, bounds=None),
    Honest(not_seen, claim=ZCDP(0.5)),
    Honest(ten_steps, claim=ApproxDP(1.0, 1e-6)),
    Honest(with_parameters),
    Honest(functools.partial(with_parameters, scale=2.0), claim=PureDP(0.5)),
    Honest(Mechanism(1.0)),
    Honest(_closure(1.0)),
    Honest(caches_what_is_public),
    Honest(a_law_from_elsewhere),
    Honest(sum_of_some, claim=REMOVED),
    Honest(count_of_some, claim=ZCDP(0.5, ADD_REMOVE)),
)
