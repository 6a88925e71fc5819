"""Data that take a mechanism's choices the other way: guesses first, then a descent on how far a comparison is from turning.

The guesses put the numbers that the code names or compares with, and their nearest neighbours, into entries, records, columns and
everywhere; they sort, tie, count and zero.  The descent moves all records, one record or one entry along a line, by the secant of
the distance: a mean, a norm or a median that is compared with a constant crosses it in a few runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType

import numpy as np

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.branches.comparisons import GOALS, Noted, Site, Watch, watching
from tailproof.verification.branches.own_code import OwnCode

Goal = tuple[Site, str]
MOST_NUMBERS = 24  # that are put everywhere
MOST_ENTRIES = 24  # at which a number is tried alone
HUGE = 1e300
MOST_NEAR = 8
NEAR = 1e-6  # a distance at which a bump or a pole may show though two numbers are not equal


@dataclass(eq=False)
class Explorer:
    """Runs on data, within a budget, and keeps for every goal the data that came nearest."""

    run: Callable[[FloatArray], object]
    own: OwnCode
    admissible: Callable[[FloatArray], FloatArray]
    budget: int
    watch: Watch = field(default_factory=Watch)
    best: dict[Goal, tuple[float, FloatArray, Noted]] = field(default_factory=dict)
    kept: list[FloatArray] = field(default_factory=list)
    tried: int = 0

    @property
    def left(self) -> int:
        return self.budget - self.tried

    def look(self, data: FloatArray) -> dict[Goal, Noted]:
        """One run (inside `watching`): what it compared; data that reach a goal for the first time are kept."""
        with np.errstate(all="ignore"):
            given = self.admissible(np.clip(np.nan_to_num(data, nan=0.0, posinf=HUGE, neginf=-HUGE), -HUGE, HUGE))
        self.watch.run.clear()
        self.watch.origins.clear()
        self.watch.values = frozenset(given.ravel().tolist())
        self.tried += 1
        try:
            with np.errstate(all="ignore"):
                self.run(given.copy())
        except Exception:  # the checks of pairs say what an exception means
            pass
        found, new = dict(self.watch.run), False
        for goal, noted in found.items():
            known = self.best.get(goal)
            if known is None or noted.distance < known[0]:
                new = new or noted.distance == 0
                self.best[goal] = (noted.distance, given, noted)
        if new:
            self.kept.append(given)
        return found

    def distance(self, goal: Goal, data: FloatArray) -> float:
        noted = self.look(data).get(goal)
        return math.inf if noted is None else noted.distance

    def open_goals(self) -> list[Goal]:
        return [goal for goal, (distance, _, _) in self.best.items() if distance > 0]


def constants(codes: tuple[CodeType, ...]) -> list[float]:
    """The numbers that code names."""
    found: dict[float, None] = {}

    def take(value: object) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < HUGE:
            found.setdefault(float(value))
        elif isinstance(value, tuple | frozenset):
            for one in value:
                take(one)

    for code in codes:
        for value in code.co_consts:
            take(value)
    return [value for value in found if math.isfinite(value)]


def around(value: float) -> list[float]:
    """The number, its nearest neighbours, and some at a small distance."""
    near = [
        value,
        np.nextafter(value, math.inf),
        np.nextafter(value, -math.inf),
        value + 1e-6 * (1 + abs(value)),
        value - 1e-6 * (1 + abs(value)),
        value + 1,
        value - 1,
        -value,
    ]
    return [float(one) for one in near]


def shapes(base: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Data of every structure: zeros, ties, orders, counts of different values, signs, whole numbers."""
    n, d = base.shape
    yield np.zeros((n, d))
    yield np.sort(base, axis=0)
    yield np.sort(base, axis=0)[::-1]
    yield np.abs(base) + 1e-3
    yield -np.abs(base) - 1e-3
    yield np.round(base)
    yield np.tile(base[:1], (n, 1))
    yield np.tile(np.arange(n, dtype=np.float64)[:, np.newaxis], (1, d))
    yield np.tile((-1.0) ** np.arange(n)[:, np.newaxis], (1, d))
    for count in range(1, min(n * d, 12) + 1):
        yield (np.arange(n * d) % count).astype(np.float64).reshape(n, d)
    for exponent in (-300, -150, -60, -20, -15, -12, -9, -6, -3, 3, 6, 9, 12, 20, 60, 100, 160, 300):
        yield base * 10.0**exponent
    for scale in (1.0, 100.0):
        yield scale * rng.standard_normal((n, d))
        yield np.round(scale * rng.standard_normal((n, d)))
    one = np.zeros((n, d))
    one[-1] = 1e6
    yield one


def placed(base: FloatArray, values: list[float], rng: np.random.Generator) -> Iterator[FloatArray]:
    """Each number everywhere, then in one column, record and entry."""
    n, d = base.shape
    for value in values:
        yield np.full((n, d), value)
    for value in values:
        for column in range(min(d, 4)):
            data = base.copy()
            data[:, column] = value
            yield data
        for row in {0, n - 1, n // 2}:
            data = base.copy()
            data[row] = value
            yield data
    entries = list(itertools.product(range(n), range(d)))
    chosen = entries if len(entries) <= MOST_ENTRIES else [entries[k] for k in rng.permutation(len(entries))[:MOST_ENTRIES]]
    for value in values:
        for row, column in chosen:
            data = base.copy()
            data[row, column] = value
            yield data
    for first, second in itertools.pairwise(values):
        halves = np.full((n, d), first)
        halves[n // 2 :] = second
        yield halves


def _lines(data: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Directions: all scaled, all shifted, columns, records, entries."""
    n, d = data.shape
    if data.any():
        yield data.copy()
    yield np.ones((n, d))
    for column in rng.permutation(d)[:3]:
        direction = np.zeros((n, d))
        direction[:, column] = 1
        yield direction
    for row in {0, n - 1, *map(int, rng.permutation(n)[:3])}:
        for column in rng.permutation(d)[:2]:
            direction = np.zeros((n, d))
            direction[row, column] = 1
            yield direction
    yield rng.standard_normal((n, d))
    yield data - data.mean()


def _along(explorer: Explorer, goal: Goal, data: FloatArray, away: float, direction: FloatArray) -> tuple[float, FloatArray]:
    """Secants on one line, then doubling steps; a little farther than the secant says, for strict comparisons."""
    best, where = away, data
    step = 1e-3 * max(1.0, float(np.abs(data).max())) / max(1.0, float(np.abs(direction).max()))
    for sign in (1.0, -1.0):
        after = explorer.distance(goal, data + sign * step * direction)
        if not after < away:
            continue
        target = sign * step * away / (away - after)
        for factor in (1.0, 1 + 1e-9, 1.001, 2.0):
            found = explorer.distance(goal, data + factor * target * direction)
            if found < best:
                best, where = found, explorer.admissible(data + factor * target * direction)
            if best == 0 or explorer.left <= 0:
                return best, where
        if after < best:
            best, where = after, explorer.admissible(data + sign * step * direction)
        break
    return best, where


def climb(explorer: Explorer, goal: Goal, rng: np.random.Generator, most: int) -> bool:
    """Descend on the distance of one goal; whether it was reached."""
    away, data, noted = explorer.best[goal]
    if not len(data):  # no record can be moved
        return False
    stop = explorer.tried + min(most, explorer.left)
    if away < NEAR and any(explorer.distance(goal, near) == 0 for near in _polished(data)):
        return True
    for jump in _jumps(data, noted):
        if explorer.distance(goal, jump) == 0:
            return True
        if explorer.tried >= stop:
            return False
    away, data, _ = explorer.best[goal]
    while explorer.tried < stop:
        before = away
        for direction in _lines(data, rng):
            away, data = _along(explorer, goal, data, away, direction)
            if away == 0:
                return True
            if explorer.tried >= stop:
                break
        if not away < before * 0.999:
            break
    return 0 < away < NEAR and any(explorer.distance(goal, near) == 0 for near in _polished(data))


def _polished(data: FloatArray) -> Iterator[FloatArray]:
    """Data a few units in the last place away, and with fewer digits: an equality asks for every bit."""
    for digits in range(15, 0, -1):
        yield np.round(data, digits)
    for units in (1, -1, 2, -2, 3, -3, 4, -4):
        yield data + units * np.spacing(data)


def _jumps(data: FloatArray, noted: Noted) -> Iterator[FloatArray]:
    """What takes a statistic to the other side if it is a mean, norm, sum, median, largest or smallest one."""
    left, right = noted.left, noted.right
    if not (math.isfinite(left) and math.isfinite(right)):
        return
    for value in (right, left):
        for number in around(value)[:5]:
            yield np.full(data.shape, number)
    for more in (1.0, 1 + 1e-6, 1 - 1e-6, 2.0):
        for first, second in ((left, right), (right, left)):
            if first != 0:
                yield data * (more * second / first)
        yield data + more * (right - left)
        moved = data.copy()
        moved[0] += more * len(data) * (right - left)
        yield moved


def steer(explorer: Explorer, bases: list[FloatArray], rng: np.random.Generator) -> list[FloatArray]:
    """Data that reach what the bases do not; see the module's text."""
    named = constants(explorer.own.codes)
    with watching(explorer.own, explorer.watch):
        for data in bases:
            explorer.look(data)
        base = bases[-1]
        for data in shapes(base, rng):
            explorer.look(data)
        compared = {
            value for _, _, noted in explorer.best.values() for value in (noted.right, noted.left) if math.isfinite(value)
        }
        numbers = [*named, *sorted(compared, key=abs)]
        values = list(dict.fromkeys(one for number in numbers[:MOST_NUMBERS] for one in around(number)))
        reserve = explorer.budget // 2
        for data in placed(base, values, rng):
            if not explorer.open_goals() or explorer.left < reserve:
                break
            explorer.look(data)
        _climb_all(explorer, rng)
    near = [data for away, data, _ in explorer.best.values() if 0 < away < NEAR]
    return explorer.kept + near[:MOST_NEAR]


def _climb_all(explorer: Explorer, rng: np.random.Generator) -> None:
    """Every open goal in turn, those of single outcomes first; a goal that opens on the way has its turn, too."""
    done: set[Goal] = set()
    while explorer.left > 0:
        waiting = [goal for goal in explorer.open_goals() if goal not in done]
        if not waiting:
            return
        waiting.sort(key=lambda goal: (not goal[0].goals, GOALS.index(goal[1]) // 2, goal[0].continuous))
        goal = waiting[0]
        done.add(goal)
        climb(explorer, goal, rng, max(20, explorer.left // (len(waiting) + 1)))
