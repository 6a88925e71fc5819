"""Steer, pair and report: from a mechanism to neighbours on rare data, and to the list of what remains unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.branches.comparisons import Site, watching
from tailproof.verification.branches.guards import asks_whether_finite
from tailproof.verification.branches.jumps import Branch, Jump, Name, described, executed, jumps, links
from tailproof.verification.branches.own_code import OwnCode, own_code
from tailproof.verification.branches.public import public_spans
from tailproof.verification.branches.recorded import Recorder, Way
from tailproof.verification.branches.source import Span, condition, source_of
from tailproof.verification.branches.steering import Explorer, Goal, steer
from tailproof.verification.branches.values import Forcing, steer_values
from tailproof.verification.subject import Pair

PAIRED = 24  # data sets of which pairs are made
STRADDLING = 24  # changes of a record that are tried to turn a choice
REFUSING = 20_000  # instructions within which inadmissible data are refused; without end some mechanisms run on infinities


@dataclass(frozen=True, eq=False)
class Exploration:
    """Pairs on rare data; what was taken (jumps of the code) and what never was; how many runs it took."""

    pairs: list[Pair]
    taken: frozenset[Way]
    untaken: list[Branch]
    runs: int
    reached: frozenset[Name] = frozenset()
    along: list[tuple[FloatArray, Any]] = field(
        default_factory=list
    )  # data and paths on which released values turn a choice

    @property
    def blocking(self) -> list[Branch]:
        return [branch for branch in self.untaken if branch.blocking]


def blocking_in_all(explorations: Sequence[Exploration]) -> list[Branch]:
    """Of one mechanism with several parameters: what one exploration came to and none took."""
    reached = frozenset[Name]().union(*(one.reached for one in explorations))
    found = {branch: None for one in explorations for branch in one.blocking if branch.name not in reached}
    return list(found)


def explore(
    run: Callable[[FloatArray], Any],
    mechanism: Any,
    shape: tuple[int, int],
    admissible: Callable[[FloatArray], FloatArray] = lambda data: data,
    *,
    budget: int = 600,
    seed: int = 0,
    pairs: Sequence[Pair] = (),
    forcing: Forcing | None = None,
) -> Exploration:
    """`run` runs the mechanism once on data, always with the same coins; `pairs` are those that the checks use anyway.

    With `forcing` the values that leave are steered as well, and what they decide must be taken both ways.
    """
    own, rng = own_code(mechanism), np.random.default_rng(seed)
    bases = [side for pair in pairs for side in pair] + [rng.standard_normal(shape)]
    explorer = Explorer(run, own, admissible, budget + len(bases))
    rare = steer(explorer, bases, rng)
    made = _pairs(explorer, rare[-PAIRED:], admissible(bases[-1]), rng)
    recorder = Recorder(own)
    sides = {id(side): side for pair in [*pairs, *made] for side in pair}
    for data in [*sides.values(), *rare]:
        given = admissible(data)
        recorder.record(lambda given=given: run(given.copy()))  # type: ignore[misc]
    public, constant = public_spans(own), public_spans(own, released=2)
    kept: list[tuple[FloatArray, Any]] = []
    if forcing is not None:
        kept = steer_values(explorer, forcing, admissible(bases[-1]), public - constant)
        for data, path in kept:
            recorder.record(lambda data=data, path=path: forcing.along(data.copy(), path))  # type: ignore[misc]
    refused = _refused(run, own, admissible(bases[-1]))
    named = Known(public, constant if forcing is not None else public, explorer, refused, own.roots)
    never = [*_untaken_ways(recorder, named), *_untaken_sites(explorer, named), *_unknown(explorer, named)]
    runs, reached = explorer.tried + len(sides) + len(rare), frozenset(_reached(recorder, explorer))
    return Exploration(made, frozenset(recorder.taken), never, runs, reached, kept)


def untaken(mechanism: Any, runs: Sequence[Callable[[], Any]]) -> list[Branch]:
    """The ways that none of the runs took, by name."""
    own = own_code(mechanism)
    recorder = Recorder(own)
    for one in runs:
        recorder.record(one)
    public = public_spans(own)
    return _untaken_ways(recorder, Known(public, public))


def _refused(run: Callable[[FloatArray], Any], own: OwnCode, base: FloatArray) -> frozenset[Way]:
    """The ways that inadmissible data take: what raises there refuses these, and is no choice among admissible data."""
    recorder = Recorder(own, most=REFUSING)
    for data in _inadmissible(base):
        recorder.record(lambda data=data: run(data))  # type: ignore[misc]
    return frozenset(recorder.taken)


def _inadmissible(base: FloatArray) -> Iterator[FloatArray]:
    """What a mechanism may refuse, whatever its bounds: numbers that are none, enormous ones, no records, other shapes."""
    for value in (np.nan, np.inf, -np.inf, 1e308, -1e308):
        for where in (0, -1, slice(None)):
            data = base.copy()
            data[where] = value
            yield data
    yield base[:0]
    yield base[:1]
    yield base[:, :0]
    yield np.column_stack([base, base])
    yield base.ravel()


@dataclass(frozen=True, eq=False)
class Known:
    """Where expressions stand that are public, or public whatever was released; and what the search met."""

    public: frozenset[tuple[str, Span]]
    constant: frozenset[tuple[str, Span]]
    explorer: Explorer | None = None
    refused: frozenset[Way] = frozenset()
    roots: tuple[FunctionType, ...] = ()

    def depends(self, file: str, span: Span | None) -> str:
        if span is None or (file, span) not in self.public:
            return "data"
        return "public" if (file, span) in self.constant else "released"


def _untaken_ways(recorder: Recorder, known: Known) -> list[Branch]:
    """Of choices that were come to; those behind an untaken way are behind its name."""
    found: dict[Branch, None] = {}
    for code in recorder.entered:
        taken = {(offset, jumped) for other, offset, jumped in recorder.taken if other == code}
        ran = executed(code, taken)
        by_place: dict[object, set[str]] = {}
        link = links(code)
        for jump in jumps(code):
            ways = by_place.setdefault((jump.place(), jump.kind, link.get(jump.offset, 0)), set())
            ways |= {jump.jumps} if (jump.offset, True) in taken else set()
            ways |= {jump.falls} if (jump.offset, False) in taken else set()
        for jump in jumps(code):
            ways = by_place[(jump.place(), jump.kind, link.get(jump.offset, 0))]
            if jump.kind == "handler":
                if jump.jumps not in ways:
                    found.setdefault(described(code, jump, True, known.depends))
            elif jump.offset in ran:
                for jumped, word in ((True, jump.jumps), (False, jump.falls)):
                    if word not in ways:
                        one = described(code, jump, jumped, known.depends)
                        explorer = known.explorer
                        inside = explorer is not None and _never_within(explorer, code, jump, word, link.get(jump.offset))
                        guard = one.raises and ((code, jump.offset, jumped) in known.refused or _repeats(known, code, jump))
                        found.setdefault(replace(one, impossible=inside or guard))
    return list(found)


def _repeats(known: Known, code: CodeType, jump: Jump) -> bool:
    """Whether the choice is a guard that asks whether the data are finite."""
    roots = [root for root in known.roots if root.__code__ is code]
    return len(roots) == 1 and asks_whether_finite(roots[0], condition(code, jump.span, jump.kind)[1])


def _reached(recorder: Recorder, explorer: Explorer) -> Iterator[Name]:
    """The names that the ways which were taken would have as untaken ones."""
    by_code = {(code, jump.offset): jump for code in recorder.entered for jump in jumps(code)}
    for code, offset, jumped in recorder.taken:
        yield described(code, by_code[(code, offset)], jumped, lambda _, __: "data").name
    for (site, goal), (away, _, _) in explorer.best.items():
        if away == 0:
            yield Branch(site.function, site.span[0], site.text, f"was never {goal}").name


def _never_within(explorer: Explorer, code: CodeType, jump: Jump, word: str, link: int | None) -> bool:
    """Whether the bounds of the data exclude this outcome of a comparison."""
    _, span = condition(code, jump.span, jump.kind)
    parts = ("",) if link is None else ("", f"comparison {link + 1}")
    sites = [
        site
        for site in explorer.watch.seen
        if site.file == code.co_filename and site.span == span and site.part in parts and site.how
    ]
    return len(sites) == 1 and word in ("was true", "was false") and _excluded(explorer, sites[0], word[4:])


def _untaken_sites(explorer: Explorer, known: Known) -> list[Branch]:
    """Comparisons whose outcome is an array or a value, no jump: never true anywhere, or never false."""
    found = []
    for site in sorted(explorer.watch.seen, key=lambda site: (site.file, site.span, site.part)):
        if (site.tested and site not in explorer.watch.arrays) or (site, "true") not in explorer.best:
            continue
        for goal in site.goals:
            if explorer.best[(site, goal)][0] > 0 and _parts_reach(explorer, site, goal):
                one = Branch(site.function, site.span[0], site.text, f"was never {goal}", continuous=site.continuous)
                depends = known.depends(site.file, site.span)
                inside = _excluded(explorer, site, goal)
                found.append(replace(one, depends=depends, impossible=inside))
    return found


def _parts_reach(explorer: Explorer, site: Site, goal: str) -> bool:
    """Of a product of truths: each reaches the goal alone.  (One that does not is named itself, or excused.)"""
    return all(
        explorer.best[(part, goal)][0] == 0
        for part in explorer.watch.joined.get(site, ())
        if (part, goal) in explorer.best and goal in part.goals
    )


def _unknown(explorer: Explorer, known: Known) -> list[Branch]:
    """Calls of what is not known, on private values; texts and bytes of them; code whose source nobody has."""
    found: dict[Branch, None] = {}

    def name(site: Site, said: str) -> None:
        if any(known.depends(site.file, span) == "data" for span in site.private):
            found.setdefault(Branch(site.function, site.span[0], site.text, said))

    for site in sorted(explorer.watch.opaque, key=lambda site: (site.file, site.span)):
        name(site, "decides what nobody sees, on private values")
    for site, values in explorer.watch.steps.items():
        if len(values) == 1:
            name(site, "never gave another value")
    for site, texts in explorer.watch.texts.items():
        if len(texts) > 1:
            name(site, "makes a text of private values")
    for function in explorer.own.functions:
        code = function.__code__
        if source_of(code) is None and set(code.co_names) - {"_tuple_new"}:
            found.setdefault(Branch(code.co_qualname, code.co_firstlineno, "its source", "is not known"))
    return list(found)


POSSIBLE: dict[str, Callable[[float, float, float], bool]] = {  # of a number from low to high, compared with another
    "<": lambda low, _, other: low < other,
    "<=": lambda low, _, other: low <= other,
    ">": lambda _, high, other: high > other,
    ">=": lambda _, high, other: high >= other,
    "==": lambda low, high, other: low <= other <= high,
    "!=": lambda low, high, other: not low == high == other,
}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def _excluded(explorer: Explorer, site: Site, goal: str) -> bool:
    """Entries of the data themselves are compared with one number, and no admissible entry turns the comparison."""
    watch, how = explorer.watch, site.how
    if (site, "left") not in watch.beyond_data:
        others = watch.met.get((site, "right"), set())
    elif (site, "right") not in watch.beyond_data:
        others, how = watch.met.get((site, "left"), set()), TURNED.get(how, "")
    else:
        return False
    if len(others) != 1 or how not in POSSIBLE:
        return False
    records, columns = next(iter(explorer.best.values()))[1].shape
    shape = (max(records, 1), columns)
    ends = [explorer.admissible(np.full(shape, sign * 1e300)) for sign in (-1, 1)]
    wanted = how if goal == "true" else OPPOSITE[how]
    return not POSSIBLE[wanted](float(ends[0].min()), float(ends[1].max()), next(iter(others)))


# --- pairs ------------------------------------------------------------------------------------------------------------------


def _pairs(explorer: Explorer, rare: list[FloatArray], base: FloatArray, rng: np.random.Generator) -> list[Pair]:
    """For each data set one neighbour on the other side of a choice, if one is found, and two that stay on its side."""
    made: list[Pair] = []
    firsts = {
        id(data): {goal for goal, (away, where, _) in explorer.best.items() if away == 0 and where is data} for data in rare
    }
    with watching(explorer.own, explorer.watch):
        for data in rare:
            if not len(data):  # nothing to change, and its neighbours with a record are among the pairs of all sizes
                continue
            turned: Pair | None = None
            stay: list[Pair] = []
            for other in _neighbours(data, explorer.admissible, rng):
                reached = {goal for goal, noted in explorer.look(other).items() if noted.distance == 0}
                if firsts[id(data)] - reached:
                    turned = turned or (data, other)
                else:
                    stay.append((data, other))
                if turned and len(stay) >= 2:
                    break
            turned = turned or _crossing(explorer, data, firsts[id(data)], base)
            made += ([turned] if turned else []) + stay[:2]
    return made


def _crossing(explorer: Explorer, data: FloatArray, goals: set[Goal], base: FloatArray) -> Pair | None:
    """On the way from ordinary data to rare ones, record by record, one step turns the choice: bisection finds it."""

    def mixed(count: int) -> FloatArray:
        return explorer.admissible(np.concatenate([data[:count], base[count:]]))

    def reaches(goal: Goal, count: int) -> bool:
        noted = explorer.look(mixed(count)).get(goal)
        return noted is not None and noted.distance == 0

    for goal in sorted(goals, key=str) if len(base) == len(data) else ():
        outside, inside = 0, len(data)
        if reaches(goal, outside) or not reaches(goal, inside):
            continue
        while inside - outside > 1:
            middle = (outside + inside) // 2
            outside, inside = (outside, middle) if reaches(goal, middle) else (middle, inside)
        pair = mixed(outside), mixed(inside)
        if (pair[0] != pair[1]).any(axis=1).sum() == 1:
            return pair
    return None


def _neighbours(
    data: FloatArray, admissible: Callable[[FloatArray], FloatArray], rng: np.random.Generator
) -> list[FloatArray]:
    n, d = data.shape
    middle = data.mean(axis=0) if np.isfinite(data.mean(axis=0)).all() else np.zeros(d)
    records = [
        np.zeros(d),
        np.full(d, 1e6),
        np.full(d, -1e6),
        middle + 1,
        np.nextafter(data[0], np.inf),
        np.nextafter(data[0], -np.inf),
    ]
    rows = list(dict.fromkeys([0, n - 1, int(np.abs(data).sum(axis=1).argmax()), *map(int, rng.permutation(n)[:8])]))
    found = []
    for record in records:
        for row in rows:
            other = data.copy()
            other[row] = record
            other = admissible(other)
            if not np.array_equal(other, data) and (other != data).any(axis=1).sum() == 1:
                found.append(other)
    return found[: STRADDLING * 2]
