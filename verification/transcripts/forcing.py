"""Forced replays: chosen values leave in place of drawn ones, so that rare coins and rare prefixes are looked at as well.

What an algorithm does after a value of 40 scales is part of its law, however seldom that happens.  A `Path` says which value
leaves at which release; run on one data set along a path and replayed on a neighbour, the algorithm is compared there as on
any sampled run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from tailproof.refimpl.channel import Channel, Release, ReplayDiverged, Transcript
from tailproof.refimpl.laws import (
    Finite,
    Gibbs,
    NoisyArgmax,
    PerturbedMinimiser,
    Point,
    Softmax,
    UniformPermutation,
    UniformSubset,
    Value,
    is_trusted,
)
from tailproof.refimpl.pure_dp.grid_walk import GridWalk
from tailproof.verification.pair_checks import (
    PAIR_CHECKS,
    Comparison,
    Measurement,
    check_on,
    diverged,
    raises_on_data,
    worse,
)
from tailproof.verification.subject import Pair, Subject
from tailproof.verification.transcripts.own_code import constants_in

TAILS = (0.0, 4.0, -4.0, 8.0, -8.0, 40.0, -40.0)
FAR = (1000.0, -1000.0)
MOST_OUTCOMES = 12  # of a discrete law whose outcomes are all forced, one after the other
MOST_SINGLE = 6  # releases that are forced alone


@dataclass(frozen=True)
class Path:
    """`scales`: the location plus so many scales, the signs of coordinates as they are or in turn.  `outcome`: this index.
    `value`: this number.  At one release, counted from 0, or (None) at all; elsewhere `then` says more, or the value is drawn.
    """

    kind: Literal["scales", "outcome", "value"]
    amount: float
    release: int | None = None
    alternating: bool = False
    then: Path | None = None

    def __str__(self) -> str:
        where = "every release" if self.release is None else f"release {self.release}"
        what = {"scales": "its location plus {:g} scales", "outcome": "outcome {:g}", "value": "{:.17g}"}[self.kind]
        said = f"{where} forced to {what.format(self.amount)}{', signs in turn' if self.alternating else ''}"
        return said if self.then is None else f"{said}, {self.then}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> Path:
        then = value.get("then")
        return Path(**{**value, "then": None if then is None else Path.from_json(then)})

    def chosen(self, index: int, release: Release) -> Value | None:
        """None: draw."""
        value = self._own(index, release)
        return self.then.chosen(index, release) if value is None and self.then is not None else value

    def _own(self, index: int, release: Release) -> Value | None:
        if (self.release is not None and index != self.release) or not is_trusted(release.law):
            return None
        law = release.law
        if isinstance(law, UniformPermutation | UniformSubset):
            return _without_data(law, self.amount)
        if isinstance(law, Finite | Softmax | NoisyArgmax | GridWalk):
            return _index(law, self.amount) if self.kind != "scales" else None
        if isinstance(law, Gibbs):
            net = law.potential.net()
            return np.array(net[int(abs(self.amount)) % len(net)])
        if isinstance(law, PerturbedMinimiser):
            return _minimiser(law, self.amount) if self.kind == "scales" else None
        if isinstance(law, Point):
            return np.array(law.location)
        if self.kind == "value":
            return np.full(law.location.shape, self.amount)  # type: ignore[attr-defined]
        return self._shifted(law) if self.kind == "scales" else None

    def _shifted(self, law: Any) -> Value:
        signs = np.ones(law.location.shape)
        if self.alternating:
            signs = np.where(np.arange(signs.size) % 2 == 0, 1.0, -1.0).reshape(signs.shape)
        return np.asarray(law.location + self.amount * law.scale * signs)


def _without_data(law: UniformPermutation | UniformSubset, amount: float) -> Value:
    """The records in order, or in reverse; the first members, or the last."""
    if isinstance(law, UniformPermutation):
        order = np.arange(law.size, dtype=np.int64)
        return order if amount >= 0 else order[::-1].copy()
    start = 0 if amount >= 0 else law.size - law.members
    return np.arange(start, start + law.members, dtype=np.int64)


def _index(law: Finite | Softmax | NoisyArgmax | GridWalk, amount: float) -> Value | None:
    possible = np.flatnonzero(law.log_probabilities() > -np.inf)
    return np.asarray(int(possible[int(amount) % len(possible)]), dtype=np.int64) if amount >= 0 else None


def _minimiser(law: PerturbedMinimiser, amount: float) -> Value:
    direction = np.ones(law.problem.dimension) / np.sqrt(law.problem.dimension)
    return np.array(law.problem.minimiser(amount * law.scale * direction))


def _outcomes(release: Release) -> int:
    law = release.law
    if isinstance(law, Finite | Softmax | NoisyArgmax | GridWalk) and is_trusted(law):
        return int(np.isfinite(law.log_probabilities()).sum())
    return 0


def paths(recorded: Transcript, constants: tuple[float, ...] = ()) -> Iterator[Path]:
    """What is forced, given one run: tails at all releases, at each of the first few alone, outcomes, and the code's own
    numbers.
    """
    for amount in (*TAILS, *FAR):
        yield Path("scales", amount)
    yield Path("scales", 8.0, alternating=True)
    single = [index for index, _ in enumerate(recorded)][:MOST_SINGLE]
    if len(recorded) > 1:
        yield from (Path("scales", amount, index) for index in single for amount in (8.0, -40.0, 40.0))
    for index, release in enumerate(recorded):
        count = _outcomes(release)
        if count and (index < MOST_SINGLE or count <= 2):
            yield from (Path("outcome", float(outcome), index) for outcome in range(min(count, MOST_OUTCOMES)))
    for number in constants:
        for value in (number, np.nextafter(number, np.inf), np.nextafter(number, -np.inf), number + 1.0, number - 1.0):
            yield Path("value", float(value))
        if 0 < abs(number) < 1e6:
            yield from (Path("scales", side * number * 1.01) for side in (1.0, -1.0))


def drawing(path: Path | None, rng: np.random.Generator) -> Channel:
    """A channel on which values leave as the path says, and are drawn where it says nothing."""
    log: dict[str, Release] = {}

    def draw(proposed: Release) -> Value:
        value = path.chosen(len(log), proposed) if path is not None else None
        return proposed.law.sample(rng) if value is None else value

    return Channel(draw, log)


def compare_along(subject: Subject, pair: Pair, path: Path | None, seed: int) -> Comparison:
    """Run on the first data along the path, replay on the second."""
    data, neighbour = pair
    output, here = subject.through(data, drawing(path, np.random.default_rng(seed)))
    again, there = subject.replay(neighbour, here)
    return Comparison(data, neighbour, output, here, again, there)


def forced_paths(subject: Subject, pair: Pair, seed: int, most: int) -> list[Path]:
    """At most so many of the paths that one run on the first data offers, spread over all kinds; the tails of all come first."""
    try:
        _, recorded = subject.run(pair[0], seed)
    except Exception:
        return [Path("scales", 0.0)]  # the comparison says that it raises
    if all(isinstance(release.law, Point) for release in recorded):
        return [Path("scales", 0.0)]  # no value can be chosen: every path is this one
    every = list(paths(recorded, constants_in(subject.mechanism)))
    first, rest = every[:most], every[most:]
    if rest and most > len(TAILS):
        kept = most - len(TAILS)
        stride = max(1, -(-(len(every) - len(TAILS)) // kept))
        first = every[: len(TAILS)] + every[len(TAILS) :: stride]
    return first


def check_along(subject: Subject, pair: Pair, path: Path | None, seed: int) -> Measurement:
    """Every check of a pair along this path: the worst of them."""
    try:
        compared: Comparison | Measurement = compare_along(subject, pair, path, seed)
    except ReplayDiverged as error:
        compared = diverged(error)
    except Exception as error:  # whatever it is: values that raise tell of themselves
        compared = raises_on_data(error)
    found = check_all(subject, compared)
    return replace(found, detail=f"{path}: {found.detail}") if path is not None else found


def check_all(subject: Subject, compared: Comparison | Measurement) -> Measurement:
    """The worst of all checks of a comparison, by name.  What is known to fail at this setting may, by no more than is known."""
    worst: Measurement | None = None
    known = {pin.check: pin for pin in subject.setting.pins}
    for name in PAIR_CHECKS:
        if name == "accuracy":  # it says nothing new along another path, and is slow
            continue
        found = check_on(name, subject, compared)
        if name in known and not isinstance(compared, Measurement) and known[name].at_most(found.ratio):
            continue
        found = found if isinstance(compared, Measurement) else replace(found, detail=f"{name}: {found.detail}")
        worst = found if worst is None else worse(worst, found)
        if isinstance(compared, Measurement):
            break
    assert worst is not None
    return worst
