"""Does the way that a run ends depend on the data?

A mechanism that aborts on one data set and answers on its neighbour has no finite ε, whatever its noise: the abort itself is an
output that no law accounts for.  So an adversary makes data sets that break computations (aligned, collinear, duplicated, huge,
tiny, denormal, thin, singular), and every run of them has an outcome: an answer, an error by its type, or no end within a cap.
With the same randomness and the same public parameters, neighbours must have the same outcome.

Any two data sets of one size are joined by a chain of neighbours.  So outcomes are compared between all of them, and where two
differ the chain is halved until a pair of neighbours is left.

- violated: outcomes differ for `REPEATS` seeds out of as many.  A mechanism that aborts at random, with one probability on both
  sides, is taken for one that does not with probability at most 2^−20.
- violated: both answer, but one takes `RATIO` times the computing or more, for `SLOW_REPEATS` seeds out of as many.
- inconclusive: differences that did not repeat.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.ending import TIME_LIMIT, NoReturn, Patience
from tailproof.verification.pair_checks import Measurement, worse
from tailproof.verification.seeds import task_seed
from tailproof.verification.subject import Pair, Subject

REPEATS = 20
SLOW_REPEATS = 5
RATIO = 100.0
LEAST_SECONDS = 0.01  # of computing: what takes less counts as that much
ANSWER = "answer"
NO_END = "no end"
FACTORS = (1e-3, 1e3)
VARIED = ("epsilon", "rho", "weight", "lipschitz", "clip")
"""Public parameters that are also made small and large, where a mechanism has them."""
SIZES = tuple(
    float(size) for size in ("0", "5e-324", "1e-310", "1e-200", "1e-160", "1e-20", "1e-8", "1", "1e3", "1e6", "1e9", "1e12")
) + tuple(10.0**power for power in (15, 17, 20, 25, 30, 35, 40, 50, 57, 58, 59, 60, 76, 100, 153, 160, 200, 300, 308))
"""Of a record that makes the difference."""
SCALES = (1.0, 1e-3, 1e3, 1e6, 1e-9, 1e12, 1e17, 1e35, 1e-160, 1e-310, 1e58, 1e150)
"""Of all other records."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended, after how many seconds of computing, and what an error said."""

    kind: str
    seconds: float = 0.0
    said: str = ""

    def __str__(self) -> str:
        return f"{self.kind} ({self.said})" if self.said else self.kind


Run = Callable[[FloatArray, int], Any]
"""One run on data, with a seed: returns, or raises an `Exception`."""


def outcome_of(run: Run, data: FloatArray, seed: int) -> Outcome:
    start = time.process_time()
    try:
        run(data, seed)
    except NoReturn as error:
        kind = NO_END if "does not end" in str(error) else "NoReturn"
        return Outcome(kind, time.process_time() - start, str(error))
    except Exception as error:  # whatever it is: its type is the outcome
        return Outcome(type(error).__name__, time.process_time() - start, str(error).split("\n")[0][:200])
    return Outcome(ANSWER, time.process_time() - start)


# --- the adversary ------------------------------------------------------------------------------------------------------------


def directions(d: int, rng: np.random.Generator) -> list[FloatArray]:
    """Ones with a far last entry (a target), ones, an axis, alternating signs, nearly an axis, one at random."""
    target = np.append(np.ones(d - 1), 10.0)
    turned = np.where(np.arange(d) % 2 == 0, 1.0, -1.0)
    near = np.eye(d)[0] + 1e-9 * turned
    return [target, np.ones(d), np.eye(d)[0], turned, near, rng.standard_normal(d)]


def tables(n: int, d: int, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Data sets of entries of about 1 by what is special about them."""
    normal = rng.standard_normal((n, d))
    aligned = np.tile(directions(d, rng)[0], (n, 1))
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)[:, np.newaxis]
    columns = np.logspace(-8, 8, d) if d > 1 else np.ones(1)
    return {
        "aligned": aligned,
        "zero": np.zeros((n, d)),
        "collinear": np.outer(rng.standard_normal(n), rng.standard_normal(d)),
        "duplicated": np.tile(normal[0], (n, 1)),
        "opposite": signs * aligned,
        "ordinary": normal,
        "thin": normal * columns,
        "singular": np.column_stack([normal[:, :1]] * d),
        "of all sizes": normal * np.logspace(-12, 12, n)[:, np.newaxis],
        "heavy": rng.standard_t(1.0, size=(n, d)) ** 3,
        "labels of one kind": np.column_stack([normal[:, :-1], np.ones(n)]),
    }


def adversarial_pairs(n: int, d: int, rng: np.random.Generator) -> Iterator[Pair]:
    """Neighbours without end: a table at a scale, and one of its records replaced."""
    ways = list(itertools.product(("aligned", *list(tables(n, d, rng))), SCALES, SIZES))
    weights = np.array([(4.0 if scale == 1 else 1.0) * (2.0 if size >= 1e12 else 1.0) for _, scale, size in ways])
    while True:
        found = tables(n, d, rng)
        for chosen in rng.choice(len(ways), size=len(ways), p=weights / weights.sum()):
            name, scale, size = ways[int(chosen)]
            data = found[name] * scale
            heads = directions(d, rng)
            # Beside aligned records those of the same direction count most.
            head = heads[0] if name == "aligned" and rng.random() < 0.5 else heads[int(rng.integers(len(heads)))]
            record = np.clip(float(rng.choice([-1.0, 1.0, 1.0])) * head, -1e8, 1e8) * min(size, 1e300)
            if rng.random() < 0.3:  # large features with an ordinary target, or the other way round
                record = np.append(record[:-1], head[-1]) if rng.random() < 0.5 else np.append(head[:-1], record[-1])
            neighbour = data.copy()
            neighbour[int(rng.integers(n))] = np.nan_to_num(record)
            yield np.nan_to_num(data), neighbour


def with_invalid(pairs: Iterable[Pair], rng: np.random.Generator) -> Iterator[Pair]:
    """Every seventh time the record that makes the difference has an entry that is no finite number."""
    for index, (data, neighbour) in enumerate(pairs):
        if index % 7 == 3:
            neighbour = data.copy()
            where = tuple(int(rng.integers(size)) for size in data.shape)
            neighbour[where] = rng.choice([np.nan, np.inf, -np.inf])
        yield data, neighbour


# --- the check ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """What the outcomes of the pairs said, on which pair, with which seed."""

    measurement: Measurement
    pair: Pair
    seed: int


SAME = Measurement(0.0, 1.0, "all runs end the same way")


@dataclass
class Outcomes:
    """The outcomes of one mechanism with one set of public parameters; a run on the same data is not repeated."""

    run: Run
    seed: int = 0
    known: dict[tuple[bytes, tuple[int, ...], int], Outcome] = field(default_factory=dict)
    tried: int = 0

    def at(self, data: FloatArray, seed: int) -> Outcome:
        key = (data.tobytes(), data.shape, seed)
        if key not in self.known:
            self.tried += 1
            self.known[key] = outcome_of(self.run, data.copy(), seed)
        return self.known[key]

    def judged(self, pair: Pair) -> Measurement:
        """Of one pair of neighbours."""
        here, there = (self.at(side, self.seed) for side in pair)
        if here.kind != there.kind:
            return self._repeated(pair, f"{here} on A, {there} on B", _differ, REPEATS)
        if here.kind == ANSWER and _far_apart(here, there):
            said = f"{here.seconds:.3g} s of computing on A, {there.seconds:.3g} s on B"
            return self._repeated(pair, said, _far_apart, SLOW_REPEATS)
        return SAME

    def _repeated(self, pair: Pair, said: str, differ: Callable[[Outcome, Outcome], bool], times: int) -> Measurement:
        """Fewer times where a run does not end."""
        if any(self.at(side, self.seed).kind == NO_END for side in pair):
            times = SLOW_REPEATS
        seeds = [self.seed, *(task_seed(self.seed, "again", k) for k in range(1, times))]
        again = 0
        for seed in seeds:
            if not differ(*(self.at(side, seed) for side in pair)):
                break
            again += 1
        if again == times:
            return Measurement(math.inf, 1.0, f"how a run ends depends on the data: {said}, with {times} of {times} seeds")
        return Measurement(0.0, 1.0, said, undecided=f"differs, but with {again} seeds only: {said}")

    def between(self, data: FloatArray, other: FloatArray) -> Pair:
        """Of two data sets of one size with different outcomes: neighbours between them that differ as well."""
        kind, low, high = self.at(data, self.seed).kind, 0, len(data)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.at(_mixed(data, other, middle), self.seed).kind == kind else (low, middle)
        return _mixed(data, other, low), _mixed(data, other, high)


def _differ(here: Outcome, there: Outcome) -> bool:
    return here.kind != there.kind


def _far_apart(here: Outcome, there: Outcome) -> bool:
    less, more = sorted(max(outcome.seconds, LEAST_SECONDS) for outcome in (here, there))
    return more >= RATIO * less


def _mixed(data: FloatArray, other: FloatArray, count: int) -> FloatArray:
    """The first records of one and the others of the other."""
    return np.concatenate([other[:count], data[count:]])


def check_outcomes(run: Run, pairs: Iterable[Pair], seed: int) -> Difference:
    """The worst of these pairs, and of the chains between them; it stops at the first that is violated."""
    outcomes, worst = Outcomes(run, seed), None
    first: dict[tuple[int, ...], tuple[FloatArray, str]] = {}
    for pair in pairs:
        chain = [pair]
        for side in pair:
            kind = outcomes.at(side, seed).kind
            reference = first.setdefault(side.shape, (side, kind))
            if kind != reference[1] and outcomes.at(pair[0], seed).kind == outcomes.at(pair[1], seed).kind:
                chain.append(outcomes.between(reference[0], side))
                break
        for one in chain:
            found = outcomes.judged(one)
            if worst is None or (found.undecided and not worst.measurement.undecided) or found.exceeds:
                worst = Difference(found, one, seed)
            if found.exceeds:
                return worst
    assert worst is not None, "no pairs"
    said = f"{outcomes.tried} runs on data made to break them end the same way: {', '.join(_kinds(outcomes))}"
    return worst if worst.measurement.undecided else replace(worst, measurement=replace(SAME, detail=said))


def _kinds(outcomes: Outcomes) -> list[str]:
    return sorted({outcome.kind for outcome in outcomes.known.values()})


def varied(parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """These, and each of the numbers that matter made small and large."""
    yield parameters
    for name, factor in itertools.product(VARIED, FACTORS):
        if isinstance(value := parameters.get(name), int | float) and not isinstance(value, bool):
            yield {**parameters, name: value * factor}


def check_subject(subject: Subject, seed: int, most: int) -> tuple[Difference, Subject]:
    """So many pairs in all, over the setting's parameters and, for pure claims, those made small and large; with the subject at
    the parameters of what was found."""
    setting = subject.setting
    variants = list(varied(setting.parameters)) if isinstance(subject.claim, PureDP) else [setting.parameters]
    counts = [math.ceil(most / 2), *(math.ceil(most / 2 / max(len(variants) - 1, 1)) for _ in variants[1:])]
    patience = Patience(subject.mechanism, TIME_LIMIT)
    worst: tuple[Difference, Subject] | None = None
    for index, (parameters, count) in enumerate(zip(variants, counts, strict=True)):
        own = task_seed(seed, "outcomes", index)
        variant = replace(subject, setting=replace(setting, parameters=parameters), patience=patience)
        made = adversarial_pairs(setting.n, setting.d, np.random.default_rng(own))
        pairs = [(setting.admissible(a), setting.admissible(b)) for a, b in itertools.islice(made, count)]
        found = check_outcomes(variant.run, pairs, own)
        if worst is None or worse(worst[0].measurement, found.measurement) is found.measurement:
            worst = (found, variant)
        if found.measurement.exceeds:
            break
    assert worst is not None
    return worst
