"""Choices that released values decide: the values are steered as the data are, for what happens after a rare value is part of the
law.

The paths that forced replays use come first; then every number that is compared, at every release; the first releases far out on
all sides at once; and for each open choice the secant of its distance along the value of one release.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.branches.comparisons import watching
from tailproof.verification.branches.source import Span
from tailproof.verification.branches.steering import Explorer, Goal, around, constants

MOST_RUNS = 400
MOST_RELEASES = 6
FAR = (-1e3, 0.0, 1e3)  # values of the first releases together
TOGETHER = 3


@dataclass(frozen=True)
class Forcing:
    """How values are chosen: `along` runs once on data, on a path; `value` makes one from a release (None: all), a number and a
    path for the others.
    """

    along: Callable[[FloatArray, Any], object]
    offered: Callable[[FloatArray], list[Any]]
    value: Callable[[int | None, float, Any], Any]
    releases: Callable[[FloatArray], int]


@dataclass(eq=False)
class Values:
    """Runs on some data along paths; those that reach a goal for the first time are kept."""

    explorer: Explorer
    forcing: Forcing
    places: frozenset[tuple[str, Span]]  # what released values decide
    kept: list[tuple[FloatArray, Any]] = field(default_factory=list)
    tried: int = 0

    def open_goals(self) -> list[Goal]:
        return [goal for goal in self.explorer.open_goals() if (goal[0].file, goal[0].span) in self.places]

    def look(self, data: FloatArray, path: Any) -> dict[Goal, float]:
        before = self.explorer.run
        self.explorer.run = lambda given: self.forcing.along(given, path)
        reached = len(self.explorer.kept)
        self.tried += 1
        try:
            found = self.explorer.look(data)
        finally:
            self.explorer.run = before
        if len(self.explorer.kept) > reached:
            self.explorer.kept.pop()
            self.kept.append((data, path))
        return {goal: noted.distance for goal, noted in found.items()}


def steer_values(
    explorer: Explorer, forcing: Forcing, data: FloatArray, places: frozenset[tuple[str, Span]]
) -> list[tuple[FloatArray, Any]]:
    """(data, path) that reach what released values decide and what nothing reached so far."""
    values = Values(explorer, forcing, places)
    if not values.open_goals():
        return []
    offered, count = forcing.offered(data), min(forcing.releases(data), MOST_RELEASES)
    with watching(explorer.own, explorer.watch):
        for path in offered:
            values.look(data, path)
        if not values.open_goals():
            return values.kept
        _numbers(values, data, count)
        _together(values, data, min(count, TOGETHER))
        for goal in values.open_goals():
            _climb(values, goal, data, count)
    return values.kept


def _numbers(values: Values, data: FloatArray, count: int) -> None:
    noted = [values.explorer.best[goal][2] for goal in values.open_goals()]
    met = [number for one in noted for number in (one.right, one.left)]
    named = [*met, *constants(values.explorer.own.codes)]
    for number in dict.fromkeys(named):
        for near in around(number) if math.isfinite(number) else ():
            for release in (None, *range(count)):
                if values.tried > MOST_RUNS or not values.open_goals():
                    return
                values.look(data, values.forcing.value(release, near, None))


def _together(values: Values, data: FloatArray, count: int) -> None:
    """The first releases far out, on all sides."""
    for amounts in itertools.product(FAR, repeat=count):
        if not values.open_goals():
            return
        path = None
        for release, amount in enumerate(amounts):
            path = values.forcing.value(release, amount, path)
        values.look(data, path)


def _climb(values: Values, goal: Goal, data: FloatArray, count: int) -> None:
    """Secants along the value of one release, the others at zero."""
    for release in range(count):
        rest = None
        for other in range(count):
            rest = values.forcing.value(other, 0.0, rest) if other != release else rest

        def away(at: float, release: int = release, rest: Any = rest) -> float:
            return values.look(data, values.forcing.value(release, at, rest)).get(goal, math.inf)

        at, step = 0.0, 1.0
        here = away(at)
        for _ in range(12):
            there = away(at + step)
            if here == 0 or there == 0:
                return
            if not (math.isfinite(here) and math.isfinite(there)) or here == there:
                break
            target = at + step * here / (here - there)
            for factor in (1.0, 1 + 1e-9, 1.001):
                if away(at + (target - at) * factor) == 0:
                    return
            at, step = target, step / 16
            here = away(at)
