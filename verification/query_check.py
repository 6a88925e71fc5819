"""What is released, not only how it moves: every query against a plain algorithm that was written from the paper.

A run is recorded, and the plain algorithm (`verification.plain`) is driven along it: it says, release by release, what the query
should have been given the values released before, and at the end what the output should be.  Besides values that were drawn,
chosen ones are released, some of them far away: the transcript is replayed with these, so that later queries are asked at points
that no run of a few would reach.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from tailproof.refimpl.channel import Bound, Release, ReplayDiverged, Smooth, Transcript
from tailproof.refimpl.laws import LLN, Gaussian, L2Laplace, Laplace
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import plain
from tailproof.verification.pair_checks import Measurement, released_query
from tailproof.verification.plain import Expected, Hidden, PlainAlgorithm
from tailproof.verification.subject import Subject, worst_pairs

RELATIVE = 1e-9  # of the query's size, or of its sensitivity where that is more: two orders of summation differ by far less
FORCED = 2  # transcripts with chosen values, besides the drawn one
ADDITIVE = (Gaussian, Laplace, L2Laplace, LLN)  # laws that allow any value


@cache
def plain_algorithms() -> dict[str, PlainAlgorithm]:
    """All that the modules of `verification.plain` export, by row of the catalogue."""
    found: dict[str, PlainAlgorithm] = {}
    for module in pkgutil.iter_modules(plain.__path__):
        found |= getattr(importlib.import_module(f"{plain.__name__}.{module.name}"), "ALGORITHMS", {})
    return found


def check_queries(subject: Subject, data: FloatArray, seed: int, *, forced: int = FORCED) -> Measurement:
    """The worst difference from the published query or output, as a multiple of what is allowed: a run, and `forced` more.

    A row without a plain algorithm raises KeyError.
    """
    algorithm, parameters = plain_algorithms()[subject.algorithm], subject.setting.parameters
    rows = subject.setting.admissible(data)
    try:
        runs = list(_runs(subject, data, seed, forced))
    except (ArithmeticError, ValueError, IndexError) as error:
        return Measurement(math.inf, 1.0, f"raises on legal data: {type(error).__name__}: {error}")
    return _worst([_along(algorithm(rows, parameters), transcript, output) for output, transcript in runs])


def worst_query(subject: Subject, seed: int) -> tuple[Measurement, FloatArray]:
    """The worst of `check_queries` over the data sets of the setting, and the data set."""
    found = [
        (check_queries(subject, data, seed + at, forced=forced), data)
        for at, (data, forced) in enumerate(query_data(subject, seed))
    ]
    return max(found, key=lambda pair: pair[0].measured)


# --- data and chosen values -------------------------------------------------------------------------------------------------------


def query_data(subject: Subject, seed: int) -> Iterator[tuple[FloatArray, int]]:
    """Data sets, and with how many transcripts of chosen values each: heavy tails; of small and of large scale; far targets with
    small features, which are clipped but not dropped for their roughness; tied records; enormous and empty ones among others;
    records of every size, so that on each side of every threshold there are some.

    Where a claim is refuted the setting is one of thousands of steps: there heavy tails, and the records that refute it.
    """
    setting = subject.setting
    rng = np.random.default_rng(seed)
    n, d = setting.n, setting.d

    def heavy() -> FloatArray:
        return rng.standard_t(3, size=(n, d))

    yield heavy(), FORCED
    if setting.refuted is not None:
        yield from ((data, 1) for data, _ in worst_pairs(subject.algorithm, setting)[:1])
        return
    yield 1e-3 * heavy(), 1
    yield 1e3 * heavy(), 1
    yield heavy() * np.append(np.full(d - 1, 0.3), 30.0), 1
    yield heavy()[rng.integers(0, max(1, n // 3), size=n)], 1
    yield heavy() * rng.choice([0.0, 0.1, 1.0, 1e4], p=[0.2, 0.3, 0.3, 0.2], size=(n, 1)), 1
    yield graded(n, d, rng), 1


def graded(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Entries ±s, s from 0.01 to 100, every size once, and last entries of 100·s and s/100 by turns; in a random order."""
    sizes = np.logspace(-2, 2, n)
    rows = np.tile(sizes[:, np.newaxis], (1, d))
    rows[:, -1] *= np.where(np.arange(n) % 2 == 0, 100.0, 0.01)
    return np.asarray((rows * rng.choice([-1.0, 1.0], size=(n, d)))[rng.permutation(n)])


def _runs(subject: Subject, data: FloatArray, seed: int, forced: int) -> Iterator[tuple[Any, Transcript]]:
    """(output, transcript): drawn, and then with chosen values.

    What is declared may depend on values that were released before, and then other values cannot be replayed: a second draw
    stands in for them.
    """
    output, drawn = subject.run(data, seed)
    yield output, drawn
    if not any(_is_additive(release) for release in drawn):
        return
    for which in range(forced):
        try:
            yield subject.replay(data, forced_transcript(drawn, np.random.default_rng([seed, which])))
        except ReplayDiverged:
            yield subject.run(data, seed + 1 + which)


def forced_transcript(drawn: Transcript, rng: np.random.Generator) -> Transcript:
    """The same with other values where any value may be released: of sizes from 0.1 to 1e4, in a random direction."""

    def chosen(release: Release) -> Release:
        if not _is_additive(release):
            return release
        value = rng.standard_normal(np.shape(release.output)) * 10 ** rng.uniform(-1, 4)
        value.setflags(write=False)
        return replace(release, output=value)

    return Transcript(tuple(chosen(release) for release in drawn))


def _is_additive(release: Release) -> bool:
    return not release.hidden and isinstance(release.law, ADDITIVE)


# --- a transcript against a plain run ---------------------------------------------------------------------------------------------


def _along(run: plain.Plain, transcript: Transcript, output: Any) -> Measurement:
    """Drive the plain algorithm along the transcript; the worst difference over what is allowed."""
    found = []
    received: Any = None
    for release in transcript:
        try:
            expected = run.send(received)
        except StopIteration:
            return _wrong(f"{release.name}: is released though the published algorithm has ended")
        if expected.name != release.name:
            return _wrong(f"{release.name}: is released where the published algorithm has {expected.name}")
        if isinstance(expected, Hidden) != release.hidden:
            return _wrong(f"{release.name}: is {'' if release.hidden else 'not '}hidden, unlike in the published algorithm")
        if isinstance(expected, Expected):
            found.append(_difference(release, expected))
        received = release.output
    try:
        missing = run.send(received)
    except StopIteration as end:
        return _worst([*found, _output_difference(output, end.value, transcript)])
    return _wrong(f"{missing.name}: the published algorithm releases it, the run had ended")


def _worst(found: list[Measurement]) -> Measurement:
    return max(found, key=lambda measurement: measurement.measured)


def _wrong(detail: str) -> Measurement:
    return Measurement(math.inf, 1.0, detail)


def _difference(release: Release, expected: Expected) -> Measurement:
    query, wanted = np.asarray(released_query(release), dtype=np.float64), np.asarray(expected.query, dtype=np.float64)
    if query.shape != wanted.shape:
        return _wrong(f"{release.name}: the query has shape {query.shape}, the published one {wanted.shape}")
    difference = query - wanted
    if expected.up_to_constant:
        difference = difference - difference.mean()
    size = max(_length(wanted - wanted.mean()) if expected.up_to_constant else _length(wanted), _reach(release))
    found = _ratio(_length(difference), max(expected.within, RELATIVE * size))
    return Measurement(found, 1.0, f"{release.name}: the query is {_length(difference):.3g} from the published one")


def _reach(release: Release) -> float:
    """The claimed sensitivity: what is small beside it does not matter."""
    match release.sensitivity:
        case Bound(value=value):
            return value
        case Smooth(bound=bound):
            return float(np.min(bound))
    return 0.0


def _output_difference(output: Any, wanted: Any, transcript: Transcript) -> Measurement:
    """Relative to the output, or to the smallest value that it was computed from: points may cancel in a mean."""
    if wanted is None:
        return Measurement(0.0, 1.0, "the output is not stated")
    found, published = _numbers(output), _numbers(wanted)
    if found.shape != published.shape:
        return _wrong(f"the output has {found.size} numbers, the published one {published.size}")
    away = _length(found - published)
    least = min((_length(_numbers(r.output)) for r in transcript if not r.hidden), default=0.0)
    allowed = RELATIVE * max(_length(published), least)
    return Measurement(_ratio(away, allowed), 1.0, f"the output is {away:.3g} from the published one")


def _numbers(value: Any) -> FloatArray:
    """All numbers of an output in a row: an array, a tuple, or an object's fields."""
    if is_dataclass(value) and not isinstance(value, type):
        value = tuple(getattr(value, field.name) for field in fields(value))
    if isinstance(value, tuple | list):
        return np.concatenate([_numbers(part) for part in value])
    return np.asarray(value, dtype=np.float64).ravel()


def _length(vector: FloatArray) -> float:
    """The ℓ₂ norm, without overflow; NaN if there is one."""
    largest = float(np.abs(vector).max(initial=0.0))
    return largest if largest == 0 or not math.isfinite(largest) else largest * float(np.linalg.norm(vector / largest))


def _ratio(measured: float, allowed: float) -> float:
    if math.isnan(measured) or math.isnan(allowed):
        return math.inf
    return 0.0 if measured == 0 else measured / allowed if allowed > 0 else math.inf
