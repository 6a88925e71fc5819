"""More honest twins, in the styles in which people write: none may be flagged."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import Counter, defaultdict, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logsumexp

from tailproof.refimpl.channel import FREE, L1, L2, Channel, LInf
from tailproof.refimpl.claims import ADD_REMOVE, GDP, ZCDP, ApproxDP, PureDP
from tailproof.refimpl.laws import Finite, Gaussian, Laplace, NoisyArgmax, Softmax, UniformPermutation
from tailproof.refimpl.validation import FloatArray
from tests.verification.attacks import ONE, Honest

# --- sums, means, quantiles -----------------------------------------------------------------------------------------------------


def pure_python_loop(data: FloatArray, channel: Channel) -> float:
    total = 0.0
    for row in data.tolist():
        value = row[0]
        if value < 0.0:
            value = 0.0
        elif value > 1.0:
            value = 1.0
        total += value
    return float(channel.release("sum", Laplace([total], 1.0), sensitivity=L1(1.0), spend=ONE)[0])


def clipped_by_where(data: FloatArray, channel: Channel, *, bound: float = 0.8) -> FloatArray:
    rows = np.where(data > bound, bound, np.where(data < 0, 0, data))
    return channel.release("sum", Laplace(rows.sum(axis=0), bound), sensitivity=L1(bound), spend=ONE)


def clipped_by_masks(data: FloatArray, channel: Channel) -> FloatArray:
    rows = data.copy()
    rows[rows > 0.75] = 0.75
    rows[rows < 0.25] = 0.25
    n = len(rows)
    return channel.release("mean", Laplace(rows.mean(axis=0), 0.5 / n), sensitivity=L1(0.5 / n), spend=ONE)


def min_and_max(data: FloatArray, channel: Channel) -> FloatArray:
    values = [max(0.0, min(1.0, float(value))) for value in data[:, 0]]
    return channel.release("sum", Laplace(np.array([math.fsum(values)]), 1.0), sensitivity=L1(1.0), spend=ONE)


def trimmed_mean(data: FloatArray, channel: Channel) -> FloatArray:
    """Sorted, two left out on each side: the sum of the middle moves by at most the range."""
    values = np.sort(np.clip(data[:, 0], 0, 1))
    kept = values[2:-2]
    return channel.release("trimmed", Laplace(kept.mean(), 1 / len(kept)), sensitivity=L1(1 / len(kept)), spend=ONE)


def winsorised(data: FloatArray, channel: Channel) -> FloatArray:
    rows = np.minimum(np.maximum(data, 0.1), 0.9)
    return channel.release("sum", Laplace(rows.sum(axis=0), 0.8), sensitivity=L1(0.8), spend=ONE)


def clipped_norms(data: FloatArray, channel: Channel, *, clip: float = 0.7) -> FloatArray:
    norms = np.linalg.norm(data, axis=1, keepdims=True)
    rows = data * np.minimum(1.0, clip / np.maximum(norms, 1e-12))
    n = len(data)
    rho = 0.3
    law = Gaussian(rows.mean(axis=0), 2 * clip / n / math.sqrt(2 * rho))
    return channel.release("mean", law, sensitivity=L2(2 * clip / n), spend=ZCDP(rho))


def clipped_one_by_one(data: FloatArray, channel: Channel) -> FloatArray:
    clip, rows = 0.7, []
    for row in data:
        norm = float(np.sqrt((row**2).sum()))
        rows.append(row / norm * clip if norm > clip else row)
    law = Gaussian(np.sum(rows, axis=0), 2 * clip / math.sqrt(2 * 0.3))
    return channel.release("sum", law, sensitivity=L2(2 * clip), spend=ZCDP(0.3))


def median_by_exponential(data: FloatArray, channel: Channel) -> float:
    grid = np.linspace(0, 1, 11)
    values = data[:, 0]
    scores = np.array([-abs(np.sum(values < point) - len(values) / 2) for point in grid])
    index = channel.release("index", Softmax(scores, 2.0), sensitivity=LInf(1.0), spend=ONE)
    return float(grid[int(index)])


def sigmoid_of_records(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(expit(4 * data).sum(axis=0), 1.0), sensitivity=L1(1.0), spend=ONE)


def smooth_maximum(data: FloatArray, channel: Channel) -> FloatArray:
    level = logsumexp(np.clip(data[:, 0], 0, 1))
    return channel.release("level", Laplace(level, 1.0), sensitivity=L1(1.0), spend=ONE)


def by_reduce(data: FloatArray, channel: Channel) -> FloatArray:
    total = functools.reduce(operator.add, (min(max(value, 0.0), 1.0) for value in data[:, 0].tolist()), 0.0)
    return channel.release("sum", Laplace(total, 1.0), sensitivity=L1(1.0), spend=ONE)


def variance(data: FloatArray, channel: Channel) -> dict[str, float]:
    rows = np.clip(data, 0, 1)
    first = channel.release("first", Laplace(rows.sum(axis=0), 2.0), sensitivity=L1(1.0), spend=PureDP(0.5))
    second = channel.release("second", Laplace((rows**2).sum(axis=0), 2.0), sensitivity=L1(1.0), spend=PureDP(0.5))
    n = len(rows)
    mean = float(first[0]) / n
    spread = float(second[0]) / n - mean**2
    return {"mean": mean, "deviation": math.sqrt(spread) if spread > 0 else 0.0}


# --- counts ---------------------------------------------------------------------------------------------------------------------


def histogram(data: FloatArray, channel: Channel) -> FloatArray:
    counts, _ = np.histogram(data[:, 0], bins=4, range=(0.0, 1.0))
    law = Laplace(counts.astype(float), 2.0)
    return np.maximum(channel.release("counts", law, sensitivity=L1(2.0), spend=ONE), 0.0)


def histogram_by_hand(data: FloatArray, channel: Channel) -> FloatArray:
    counts = [0] * 5
    for value in data[:, 0]:
        counts[min(int(value * 5), 4)] += 1
    law = Laplace(np.array(counts, dtype=float), 2.0)
    return channel.release("counts", law, sensitivity=L1(2.0), spend=ONE)


def histogram_by_bincount(data: FloatArray, channel: Channel) -> FloatArray:
    bins = np.clip(np.floor(data[:, 0] * 3).astype(int), 0, 2)
    counts = np.bincount(bins, minlength=3)
    return channel.release("counts", Laplace(counts, 2.0), sensitivity=L1(2.0), spend=ONE)


def histogram_by_masks(data: FloatArray, channel: Channel) -> FloatArray:
    edges = [0.0, 0.25, 0.5, 0.75, 1.01]
    counts = [float(np.sum((data >= low) & (data < high))) for low, high in itertools.pairwise(edges)]
    return channel.release("counts", Laplace(counts, 2.0), sensitivity=L1(2.0), spend=ONE)


def histogram_by_digitize(data: FloatArray, channel: Channel) -> FloatArray:
    places = np.digitize(data[:, 0], [0.2, 0.4, 0.6, 0.8])
    counts = np.array([np.count_nonzero(places == place) for place in range(5)], dtype=float)
    return channel.release("counts", Gaussian(counts, 2.0), sensitivity=L2(math.sqrt(2)), spend=ZCDP(0.25))


def counter(data: FloatArray, channel: Channel) -> FloatArray:
    counts = Counter("low" if value < 0.5 else "high" for value in data[:, 0].tolist())
    law = Laplace([float(counts["low"]), float(counts["high"])], 2.0)
    return channel.release("counts", law, sensitivity=L1(2.0), spend=ONE)


def grouped(data: FloatArray, channel: Channel) -> FloatArray:
    groups: dict[int, float] = defaultdict(float)
    for value in data[:, 0].tolist():
        groups[int(value > 0.5)] += 1.0
    law = Laplace([groups[0], groups[1]], 2.0)
    return channel.release("counts", law, sensitivity=L1(2.0), spend=ONE)


def share_above(data: FloatArray, channel: Channel) -> float:
    n = len(data)
    share = sum(1 for value in data[:, 0] if value > 0.5) / n
    return float(channel.release("share", Laplace(share, 1 / n), sensitivity=L1(1 / n), spend=ONE)[()])


def responses(data: FloatArray, channel: Channel) -> float:
    """Randomised response of every record, each on its own part."""
    answers = []
    for k, value in enumerate(data[:, 0]):
        law = Finite(np.array([0.0, 1.0]) if value > 0.5 else np.array([1.0, 0.0]))
        answers.append(int(channel.part(f"record{k}", range(k, k + 1)).release("bit", law, sensitivity=None, spend=ONE)))
    return (np.mean(answers) - 1 / (1 + math.e)) / math.tanh(0.5)


def most_common_bin(data: FloatArray, channel: Channel) -> int:
    counts, _ = np.histogram(data[:, 0], bins=[0.0, 0.3, 0.6, 1.0])
    return int(channel.release("bin", NoisyArgmax(counts, 2.0), sensitivity=LInf(1.0), spend=ONE))


def best_of_scores(data: FloatArray, channel: Channel) -> int:
    scores = [float(np.sum(np.clip(1 - np.abs(data - centre), 0, 1))) for centre in (0.0, 0.5, 1.0)]
    return int(channel.release("best", Softmax(np.array(scores), 2.0), sensitivity=LInf(1.0), spend=ONE))


# --- iterations -----------------------------------------------------------------------------------------------------------------


def noisy_gradient_descent(data: FloatArray, channel: Channel, *, steps: int = 4, clip: float = 0.6) -> FloatArray:
    """Clipped gradients of least squares."""
    point = np.zeros(data.shape[1])
    scale = 2 * clip / math.sqrt(2 * 0.4 / steps)
    for step in range(steps):
        gradients = point - data
        norms = np.linalg.norm(gradients, axis=1, keepdims=True)
        clipped = gradients / np.maximum(1.0, norms / clip)
        law = Gaussian(clipped.sum(axis=0), scale)
        noisy = channel.release(f"gradient{step}", law, sensitivity=L2(2 * clip), spend=ZCDP(0.4 / steps))
        point = point - 0.3 * noisy / len(data)
        length = float(np.linalg.norm(point))
        if length > 2.0:  # what was released decides
            point = point * (2.0 / length)
    return point


def shuffled_epochs(data: FloatArray, channel: Channel) -> FloatArray:
    """One pass over batches of a random order: parallel composition."""
    order = np.asarray(channel.hidden("order", UniformPermutation(len(data))))
    point = np.full(1, 0.5)
    for k, rows in enumerate(np.array_split(order, 3)):
        slopes = np.clip(point - data[rows], -1, 1).sum(axis=0)
        noisy = channel.part(f"batch{k}", rows).release("slope", Laplace(slopes, 2.0), sensitivity=L1(2.0), spend=ONE)
        point = np.clip(point - 0.1 * noisy, 0.0, 1.0)
    return point


def sparse_vector(data: FloatArray, channel: Channel) -> int:
    """The first of a few counts that is above a noisy threshold."""
    threshold = channel.release("threshold", Laplace(2.0, 2.0), sensitivity=L1(1.0), spend=FREE)
    for k, cut in enumerate((0.8, 0.6, 0.4)):
        count = float(np.sum(data > cut))
        noisy = channel.release(f"count{k}", Laplace(count, 6.0), sensitivity=L1(1.0), spend=PureDP(1 / 6))
        if noisy >= threshold:
            return k
    return -1


def tree_sums(data: FloatArray, channel: Channel) -> list[float]:
    """Prefix sums from a binary tree of four leaves: a record is in three nodes."""
    values, found = np.clip(data[:, 0], 0, 1), {}
    size = 2
    for level, width in enumerate((1, 2, 4)):
        for k in range(0, 4, width):
            rows = range(k * size, min((k + width) * size, len(values)))
            if len(rows) == 0:
                continue
            law = Laplace(values[rows.start : rows.stop].sum(), 3.0)
            node = channel.part(f"node{level}-{k}", rows)
            found[level, k] = float(node.release("sum", law, sensitivity=L1(1.0), spend=PureDP(1 / 3))[()])
    return [found[0, 0], found[1, 0]]


def bisection(data: FloatArray, channel: Channel) -> float:
    """A private quantile: noisy counts halve an interval."""
    low, high, steps = 0.0, 1.0, 5
    step = 0
    while step < steps:
        middle = (low + high) / 2
        law = Laplace(float((data[:, 0] <= middle).sum()), float(steps))
        below = channel.release(f"below{step}", law, sensitivity=L1(1.0), spend=PureDP(1 / steps))
        low, high = (low, middle) if below > len(data) / 2 else (middle, high)
        step += 1
    return (low + high) / 2


def two_stages(data: FloatArray, channel: Channel) -> FloatArray:
    """A rough centre first, then the mean of what lies near it."""
    rough = channel.release("rough", Laplace(np.clip(data, 0, 1).sum(axis=0), 2.0), sensitivity=L1(1.0), spend=PureDP(0.5))
    centre = np.clip(rough / len(data), 0, 1)
    near = centre + np.clip(data - centre, -0.25, 0.25)
    law = Laplace(near.sum(axis=0), 1.0)
    return channel.release("fine", law, sensitivity=L1(0.5), spend=PureDP(0.5)) / len(data)


def retries(data: FloatArray, channel: Channel) -> float:
    """At most three noisy answers; the first that is positive."""
    for k in range(3):
        value = channel.release(f"try{k}", Laplace(np.clip(data, 0, 1).sum(), 3.0), sensitivity=L1(1.0), spend=PureDP(1 / 3))
        if value > 0:
            return float(value)
    return 0.0


# --- structure ------------------------------------------------------------------------------------------------------------------


class Mode(Enum):
    """How much noise there is."""

    PLAIN = "plain"
    SAFE = "safe"


def with_modes(data: FloatArray, channel: Channel, mode: Mode = Mode.PLAIN) -> FloatArray:
    match mode:
        case Mode.PLAIN:
            scale = 1.0
        case Mode.SAFE:
            scale = 2.0
    return channel.release("sum", Laplace(np.clip(data, 0, 1).sum(axis=0), scale), sensitivity=L1(1.0), spend=ONE)


@dataclass(frozen=True)
class Settings:
    """Public numbers."""

    low: float = 0.2
    high: float = 0.9
    weights: tuple[float, ...] = (0.5, 0.5)
    names: list[str] = field(default_factory=lambda: ["first", "second"])

    @property
    def width(self) -> float:
        return self.high - self.low

    def clip(self, rows: FloatArray) -> FloatArray:
        return np.clip(rows, self.low, self.high)


@dataclass(frozen=True)
class Weighted:
    """A callable with settings."""

    settings: Settings

    def __call__(self, data: FloatArray, channel: Channel) -> list[float]:
        rows, found = self.settings.clip(data), []
        for name, weight in zip(self.settings.names, self.settings.weights, strict=True):
            law = Laplace(rows.sum(axis=0), self.settings.width / weight)
            found.append(channel.release(name, law, sensitivity=L1(self.settings.width), spend=PureDP(weight)))
        return [float(value[0]) for value in found]


class Accountant:
    """Splits a budget among named queries, on its own copy for every run."""

    def __init__(self, epsilon: float, parts: int) -> None:
        self.left, self.each = epsilon, epsilon / parts

    def spend(self) -> PureDP:
        if self.left < self.each * 0.999:
            raise RuntimeError("nothing is left")
        self.left -= self.each
        return PureDP(self.each)


def with_an_accountant(data: FloatArray, channel: Channel) -> list[float]:
    accountant = Accountant(1.0, 2)
    rows = np.clip(data, 0, 1)
    queries: dict[str, Callable[[FloatArray], Any]] = {"sum": np.sum, "squares": lambda x: np.sum(x**2)}
    found = []
    for name, query in queries.items():
        law = Laplace(query(rows), 2.0)
        found.append(float(channel.release(name, law, sensitivity=L1(1.0), spend=accountant.spend())[()]))
    return found


Answer = namedtuple("Answer", ["value", "scale"])


class Typed(NamedTuple):
    """What is returned."""

    value: float
    records: int


def a_named_tuple(data: FloatArray, channel: Channel) -> Any:
    value = channel.release("sum", Laplace(np.clip(data, 0, 1).sum(), 1.0), sensitivity=L1(1.0), spend=ONE)
    return Answer(float(value), 1.0), Typed(float(value), len(data))


def rows_of(data: FloatArray, size: int) -> Iterator[tuple[int, FloatArray]]:
    for start in range(0, len(data) - size + 1, size):
        yield start, data[start : start + size]


def blocks_from_a_generator(data: FloatArray, channel: Channel) -> FloatArray:
    medians = np.array([np.median(np.clip(rows, 0, 1)) for _, rows in rows_of(data, 2)])
    law = Laplace(medians.mean(), 1 / len(medians))
    return channel.release("mean", law, sensitivity=L1(1 / len(medians)), spend=ONE)


def checked(data: FloatArray, channel: Channel, *, epsilon: float = 1.0, bounds: tuple[float, float] = (0.0, 1.0)) -> Any:
    """Refuses what is wrong, in the usual ways."""
    try:
        low, high = bounds
        scale = (high - low) / epsilon
    except (TypeError, ZeroDivisionError) as error:
        raise ValueError(f"bounds = {bounds!r}, epsilon = {epsilon!r}") from error
    if not epsilon > 0:
        raise ValueError("epsilon")
    rows = np.asarray(data, dtype=float)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"data: {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("data: not finite")
    assert len(rows) > 0
    law = Laplace(np.clip(rows, low, high).sum(axis=0), scale)
    return channel.release("sum", law, sensitivity=L1(high - low), spend=PureDP(epsilon))


def recursion(data: FloatArray, channel: Channel) -> float:
    def halves(rows: FloatArray) -> float:
        if len(rows) == 1:
            return float(np.clip(rows[0, 0], 0, 1))
        return halves(rows[: len(rows) // 2]) + halves(rows[len(rows) // 2 :])

    return float(channel.release("sum", Laplace(halves(data), 1.0), sensitivity=L1(1.0), spend=ONE)[()])


_TABLE: dict[int, float] = {}


def public_table(data: FloatArray, channel: Channel) -> FloatArray:
    """Remembers what depends on the number of records only."""
    n = len(data)
    if n not in _TABLE:
        _TABLE[n] = 1.0 / n
    law = Laplace(np.clip(data, 0, 1).mean(axis=0), _TABLE[n])
    return channel.release("mean", law, sensitivity=L1(1.0 / n), spend=ONE)


def logged(function: Any) -> Any:
    @functools.wraps(function)
    def around(data: FloatArray, channel: Channel) -> Any:
        return function(np.asarray(data), channel)

    return around


@logged
def decorated(data: FloatArray, channel: Channel) -> FloatArray:
    return channel.release("sum", Laplace(np.clip(data, 0, 1).sum(axis=0), 1.0), sensitivity=L1(1.0), spend=ONE)


def covariance(data: FloatArray, channel: Channel) -> FloatArray:
    rows = data / np.maximum(1.0, np.linalg.norm(data, axis=1, keepdims=True))
    upper = np.triu_indices(data.shape[1])
    law = Gaussian((rows.T @ rows)[upper], math.sqrt(2) / 0.9)
    noisy = channel.release("covariance", law, sensitivity=L2(math.sqrt(2)), spend=GDP(0.9))
    found = np.zeros((data.shape[1], data.shape[1]))
    found[upper] = noisy
    return found + np.triu(found, 1).T


def votes(data: FloatArray, channel: Channel) -> int:
    """The argmax of noisy votes."""
    choices = np.argmax(data, axis=1)
    counts = np.array([(choices == k).sum() for k in range(data.shape[1])], dtype=float)
    noisy = channel.release("votes", Laplace(counts, 2.0), sensitivity=L1(2.0), spend=ONE)
    return int(np.argmax(noisy))


def count_of_large(data: FloatArray, channel: Channel) -> FloatArray:
    spend = PureDP(1.0, ADD_REMOVE)
    return channel.release("count", Laplace(float((data > 0.5).sum()), 1.0), sensitivity=L1(1.0), spend=spend)


def mean_of_some(data: FloatArray, channel: Channel) -> float:
    half = PureDP(0.5, ADD_REMOVE)
    count = channel.release("count", Laplace(float(len(data)), 2.0), sensitivity=L1(1.0), spend=half)
    total = channel.release("sum", Laplace(np.clip(data, 0, 1).sum(), 2.0), sensitivity=L1(1.0), spend=half)
    return float(total / max(float(count), 1.0))


def analytic_gaussian(data: FloatArray, channel: Channel) -> FloatArray:
    spend = ApproxDP(0.9, 1e-5)
    scale = math.sqrt(2 * math.log(1.25 / 1e-5)) / 0.9
    return channel.release("sum", Gaussian(np.clip(data, 0, 1).sum(axis=0), scale), sensitivity=L2(1.0), spend=spend)


REMOVED = PureDP(1.0, ADD_REMOVE)
TWINS = (
    Honest(pure_python_loop), Honest(clipped_by_where), Honest(clipped_by_masks), Honest(min_and_max), Honest(trimmed_mean),
    Honest(winsorised), Honest(clipped_norms, claim=ZCDP(0.3), columns=3),
    Honest(clipped_one_by_one, claim=ZCDP(0.3), columns=2, bounds=None), Honest(median_by_exponential),
    Honest(sigmoid_of_records, bounds=None), Honest(smooth_maximum), Honest(by_reduce), Honest(variance), Honest(histogram),
    Honest(histogram_by_hand), Honest(histogram_by_bincount), Honest(histogram_by_masks),
    Honest(histogram_by_digitize, claim=ZCDP(0.25)), Honest(counter), Honest(grouped), Honest(share_above),
    Honest(responses), Honest(most_common_bin), Honest(best_of_scores),
    Honest(noisy_gradient_descent, claim=ZCDP(0.4), columns=2), Honest(shuffled_epochs), Honest(sparse_vector),
    Honest(tree_sums), Honest(bisection), Honest(two_stages), Honest(retries), Honest(with_modes),
    Honest(Weighted(Settings())), Honest(with_an_accountant), Honest(a_named_tuple), Honest(blocks_from_a_generator),
    Honest(checked), Honest(recursion), Honest(public_table), Honest(decorated),
    Honest(covariance, claim=GDP(0.9), columns=2), Honest(votes, columns=3), Honest(count_of_large, claim=REMOVED),
    Honest(mean_of_some, claim=REMOVED), Honest(analytic_gaussian, claim=ApproxDP(0.9, 1e-5)),
)  # fmt: skip
