"""All exact checks of one mechanism on one space of data: what `check_mechanism` runs on whatever shows its channel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tailproof.refimpl.catalogue import Setting
from tailproof.refimpl.channel import Transcript
from tailproof.refimpl.claims import ADD_REMOVE, REPLACE_ONE, Claim, PureDP, parse_claim
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification import neighbours
from tailproof.verification.branches import Exploration
from tailproof.verification.composition import check_composition, divergence
from tailproof.verification.ending import Patience, patience_with
from tailproof.verification.pair_checks import (
    PAIR_CHECKS,
    Comparison,
    Measurement,
    check_on,
    compare_or_say_why_not,
    worse,
)
from tailproof.verification.seeds import task_seed
from tailproof.verification.subject import Pair, Subject
from tailproof.verification.transcripts.ambient import asked_of_the_channel, reaches
from tailproof.verification.transcripts.choices import FORCED_PATHS, check_choices, explored
from tailproof.verification.transcripts.every_row import data_sets, pairs_of_rows, removals
from tailproof.verification.transcripts.forcing import Path, check_all, check_along, compare_along, forced_paths
from tailproof.verification.transcripts.memory import Places
from tailproof.verification.transcripts.outsiders import check_laws
from tailproof.verification.transcripts.planted import candidates, numbers_of, screened
from tailproof.verification.transcripts.state import check_state

EXPLORED = 400  # runs that look for rare data
FORCED_PAIRS = 6
COMPOSED = 3  # pairs on which transcripts are sampled
MOST_SIZES = 32  # of data sets that have records removed, one after the other


@dataclass(frozen=True, eq=False)
class Excess:
    """What a check found, on which pair, and how to see it again."""

    measurement: Measurement
    pair: Pair
    seed: int
    path: Path | None = None


@dataclass(frozen=True, eq=False)
class Suite:
    """`pairs` are neighbours to begin with; more are made here.  Comparisons are made once and serve every check."""

    mechanism: Any
    claim: Claim
    shape: tuple[int, int]
    low: float
    high: float
    pairs: list[Pair] = field(default_factory=list)
    seed: int = 0
    patience: Patience | None = None
    memory: Places = field(init=False)

    def __post_init__(self) -> None:
        """What the mechanism holds before it has run here."""
        object.__setattr__(self, "memory", Places.of(self.mechanism))

    @cached_property
    def subject(self) -> Subject:
        name = getattr(self.mechanism, "__qualname__", type(self.mechanism).__name__)
        return subject_on(self.mechanism, self.claim, self.shape, (self.low, self.high), name, self.patience)

    @cached_property
    def neighbours(self) -> list[Pair]:
        rng = np.random.default_rng(self.seed)
        structured = list(neighbours.structured(*self.shape, rng, scales=(1e-2, 1.0, 1e2, 1e6)))
        every = [*self.pairs, *structured] if self.replaces else [*self.pairs, *self._sizes(rng), *_removed(structured)]
        return [self._admissible(pair) for pair in every]

    def _sizes(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Under add-remove, data sets of all sizes down to none: a record that goes, and one that comes, at every place in turn."""
        n, d = self.shape
        for size in range(1, n + 1) if n <= MOST_SIZES else (1, 2, 3, n // 2, n):
            data = (
                rng.uniform(max(self.low, -1.0), min(self.high, 1.0), (size, d))
                if self.low < 1 and self.high > -1
                else (np.linspace(0.0, 1.0, size * d).reshape(size, d) + (self.low if self.low >= 1 else self.high - 1))
            )
            shorter = np.delete(data, (0, size - 1, size // 2)[size % 3], axis=0)
            yield from ((data, shorter), (shorter, data))

    @cached_property
    def explored(self) -> Exploration:
        """The choices of the mechanism's own code, over some of these pairs and beyond."""
        return explored(self.subject, self.mechanism, self.neighbours[:40], budget=EXPLORED, seed=self.seed)

    @property
    def replaces(self) -> bool:
        return self.claim.neighbouring is REPLACE_ONE

    def _admissible(self, pair: Pair) -> Pair:
        return self.subject.setting.admissible(pair[0]), self.subject.setting.admissible(pair[1])

    @property
    def comparisons(self) -> Iterator[tuple[Pair, int, Comparison | Measurement]]:
        """Made when they are asked for, and once: structured neighbours, planted numbers, rare data."""
        yield from self.ordinary
        yield from self.planted
        yield from self.rare

    @cached_property
    def ordinary(self) -> list[tuple[Pair, int, Comparison | Measurement]]:
        """Every pair with a seed of its own, and some turned round."""
        turned = [(second, first) for first, second in self.neighbours[:8]]
        return self._compared("pair", [*self.neighbours, *turned])

    @cached_property
    def rare(self) -> list[tuple[Pair, int, Comparison | Measurement]]:
        pairs = self.explored.pairs
        return self._compared("rare", pairs if self.replaces else list(_removed(pairs)))

    def _compared(self, key: str, pairs: list[Pair]) -> list[tuple[Pair, int, Comparison | Measurement]]:
        seeds = [task_seed(self.seed, key, index) for index in range(len(pairs))]
        return [(pair, own, compare_or_say_why_not(self.subject, pair, own)) for pair, own in zip(pairs, seeds, strict=True)]

    @cached_property
    def planted(self) -> list[tuple[Pair, int, Comparison | Measurement]]:
        """Neighbours around the numbers of the code and along chains, those on which most moves."""
        own = task_seed(self.seed, "planted", 0)
        numbers = numbers_of(self.mechanism)

        def compare(pair: Pair) -> Comparison | Measurement:
            return compare_or_say_why_not(self.subject, pair, own)

        made = candidates(self.shape, numbers, self.subject.setting.admissible, compare, np.random.default_rng(own))
        kept = screened(made if self.replaces else _removed(made), compare)
        return [(pair, own, compared) for pair, compared in kept]

    def checks(self) -> tuple[str, ...]:
        """Their names.  A pure claim is composed by the losses that add up."""
        names = [name for name in PAIR_CHECKS if name != "accuracy"]
        composition = [] if isinstance(self.claim, PureDP) else ["composition"]
        return (*names, *composition, "forced replay", "every row", "state", "laws", "surroundings", "branches")

    def worst(self, check: str) -> Excess:
        """The worst of what this check found; it stops at the first proof."""
        found: Excess | None = None
        with self.subject.watching():
            for excess in self._found(check):
                if found is None or worse(found.measurement, excess.measurement) is excess.measurement:
                    found = excess
                if excess.measurement.exceeds and excess.measurement.conclusive:
                    break
        assert found is not None
        return found

    def _found(self, check: str) -> Iterator[Excess]:
        if check == "forced replay":
            yield from self._forced()
        elif check == "composition":
            yield from self._composition()
        elif check == "every row":
            for pair, own, compared in pairs_of_rows(self.subject, self.seed, most=200, sets=3):
                yield Excess(check_all(self.subject, compared), pair, own)
        elif check == "state":
            for pair in self._spread(4):
                yield Excess(_guarded_state(self.subject, pair, self.seed, self.memory), pair, self.seed)
        elif check == "laws":
            yield Excess(check_laws(self._transcripts(), self.seed), self.neighbours[0], self.seed)
        elif check == "surroundings":
            for pair in self._spread(4):
                yield Excess(check_surroundings(self.subject, pair, self.seed), pair, self.seed)
        elif check == "branches":
            yield Excess(check_choices(self.explored.blocking), self.neighbours[0], self.seed)
        else:
            for pair, own, compared in self.comparisons:
                yield Excess(check_on(check, self.subject, compared), pair, own)

    def _forced(self) -> Iterator[Excess]:
        spread = self._spread(FORCED_PAIRS)
        for data, path in self.explored.along:
            for other in _with_another_record(data):
                pair = self._admissible((data, other) if self.replaces else removals((data, other))[0])
                yield Excess(check_along(self.subject, pair, path, self.seed), pair, self.seed, path)
        for index, pair in enumerate(spread):
            own = task_seed(self.seed, "forced", index)
            for side in (pair, pair[::-1]):
                for path in forced_paths(self.subject, side, own, FORCED_PATHS):
                    yield Excess(check_along(self.subject, side, path, own), side, own, path)

    def _composition(self) -> Iterator[Excess]:
        """On the pairs whose transcripts differ most, in both directions."""
        several = [
            (divergence(compared), index, pair)
            for index, (pair, _, compared) in enumerate(self.comparisons)
            if isinstance(compared, Comparison) and len(compared.changed) > 1
        ]
        if not several:
            yield Excess(Measurement(0.0, 1.0, "at most one release differs"), self.neighbours[0], self.seed)
        for _, index, pair in sorted(several, key=lambda one: -one[0])[:COMPOSED]:
            for side in (pair, pair[::-1]):
                own = task_seed(self.seed, "composition", index)
                yield Excess(check_composition(self.subject, *side, own), side, own)

    def _spread(self, count: int) -> list[Pair]:
        """Some of the pairs, from all over the list, and one of ordinary data."""
        stride = max(1, len(self.neighbours) // count)
        data, replacement = next(data_sets(*self.shape, np.random.default_rng(self.seed)))
        other = np.array(data)
        other[0] = replacement
        ordinary = self._admissible((data, other) if self.replaces else removals((data, other))[0])
        return [ordinary, *self.neighbours[::stride][: count - 1]]

    def _transcripts(self) -> list[Transcript]:
        return [one.here for _, _, one in self.comparisons if isinstance(one, Comparison)]


def _removed(pairs: Iterable[Pair]) -> Iterator[Pair]:
    for pair in pairs:
        yield from removals(pair)


def _with_another_record(data: FloatArray) -> Iterator[FloatArray]:
    for row, record in ((0, -1e6), (len(data) - 1, 1e6)) if len(data) else ():
        other = np.array(data)
        other[row] = record
        yield other


def subject_on(
    mechanism: Any,
    claim: Claim,
    shape: tuple[int, int],
    bounds: tuple[float, float],
    name: str = "mechanism",
    patience: Patience | None = None,
) -> Subject:
    """A mechanism without parameters, on numbers within the bounds."""

    def admissible(data: FloatArray) -> FloatArray:
        return np.clip(data, *bounds)

    setting = Setting(*shape, {}, admissible=admissible)
    return Subject(name, mechanism, setting, 0, claim, patience=patience or patience_with(mechanism))


def check_surroundings(subject: Subject, pair: Pair, seed: int) -> Measurement:
    """Nothing that the mechanism's own code names or asks of its channel lets it depend on more than its data and its channel."""
    asked = asked_of_the_channel(lambda: compare_along(subject, pair, None, seed))
    return code_reaches(subject.mechanism, asked)


def code_reaches(mechanism: Any, asked: Sequence[str] = ()) -> Measurement:
    found = [*reaches(mechanism), *asked]
    said = "; ".join(found) if found else "the code reaches for nothing but its data and its channel"
    return Measurement(math.inf if found else 0.0, 1.0, said, conclusive=False)


def _guarded_state(subject: Subject, pair: Pair, seed: int, memory: Places) -> Measurement:
    try:
        return check_state(subject, pair, seed, memory)
    except Exception as error:
        return Measurement(0.0, 1.0, "not looked at", undecided=f"raises {type(error).__name__}: {error}")


def replay_check(
    mechanism: Any,
    claim: Claim | str,
    check: str,
    data: Any,
    neighbour: Any,
    *,
    seed: int = 0,
    path: dict[str, Any] | None = None,
) -> Measurement:
    """Run one check of `check_mechanism` on one pair again: what its failure text asks for."""
    first, second = _two_sides(data, neighbour)
    relation = REPLACE_ONE if len(first) == len(second) else ADD_REMOVE
    claim = parse_claim(claim, relation) if isinstance(claim, str) else claim
    if claim.neighbouring is not relation:
        raise InputError(
            f"data, neighbour: of {len(first)} and {len(second)} records; {claim} speaks of {claim.neighbouring}"
        )
    subject = subject_on(mechanism, claim, (max(len(first), len(second)), first.shape[1]), (-math.inf, math.inf))
    if check in ("forced replay", "every row"):
        return check_along(subject, (first, second), None if path is None else Path.from_json(path), seed)
    if check == "composition":
        return check_composition(subject, first, second, seed)
    if check == "state":
        return check_state(subject, (first, second), seed)
    if check == "surroundings":
        return check_surroundings(subject, (first, second), seed)
    compared = compare_or_say_why_not(subject, (first, second), seed)
    if check == "laws":
        return compared if isinstance(compared, Measurement) else check_laws([compared.here], seed)
    return check_on(check, subject, compared)


def _two_sides(data: Any, neighbour: Any) -> Pair:
    """No records have as many columns as the other data set."""
    first, second = (np.array(side, dtype=np.float64) for side in (data, neighbour))
    columns = max(side.shape[1] if side.ndim == 2 else 0 for side in (first, second))
    return first.reshape(len(first), columns), second.reshape(len(second), columns)
