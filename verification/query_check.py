"""What is released, not only how it moves: every query against a plain algorithm that was written from the paper.

A run is recorded, and the plain algorithm (`verification.plain`) is driven along it: it says, release by release, what the query
should have been given the values released before, and at the end what the output should be.  Besides runs whose values are drawn
there are some whose values are chosen, many of them far away, so that later queries are asked at points that no run of a few
would reach.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from tailproof.refimpl.channel import Bound, Channel, Release, Smooth, Transcript
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.laws import LLN, Gaussian, Gibbs, L2Laplace, Laplace, PerturbedMinimiser, Softmax, Value
from tailproof.refimpl.pure_dp.grid_walk import GridWalk
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import plain
from tailproof.verification.pair_checks import Measurement, released_query
from tailproof.verification.plain import Expected, Hidden, OneOf, PlainAlgorithm
from tailproof.verification.subject import Subject, worst_pairs

RELATIVE = 1e-9  # of the query's size, or of its sensitivity where that is more: two orders of summation differ by far less
FORCED = 2  # runs with chosen values, besides the drawn one
INSIDE = 0.97  # of the worst records: at a threshold itself the two formulas may round to different sides
ADDITIVE = (Gaussian, Laplace, L2Laplace, LLN)  # laws that allow any value, as does that of a perturbed minimiser
CHOICES = (Softmax, GridWalk)  # laws that allow any index


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
    records of every size, so that on each side of every threshold there are some; records that pull one way, out of the set; and
    the row's worst records, a little inside of the thresholds that they sit at.

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
    yield 1e2 * np.abs(heavy()), 1
    yield from ((INSIDE * data, 1) for data, _ in worst_pairs(subject.algorithm, setting)[:1])


def graded(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Entries ±s, s from 0.01 to 100, every size once, and last entries of 100·s and s/100 by turns; in a random order."""
    sizes = np.logspace(-2, 2, n)
    rows = np.tile(sizes[:, np.newaxis], (1, d))
    rows[:, -1] *= np.where(np.arange(n) % 2 == 0, 100.0, 0.01)
    return np.asarray((rows * rng.choice([-1.0, 1.0], size=(n, d)))[rng.permutation(n)])


def _runs(subject: Subject, data: FloatArray, seed: int, forced: int) -> Iterator[tuple[Any, Transcript]]:
    """(output, transcript): drawn, and then, where a law allows others, with chosen values."""
    output, drawn = subject.run(data, seed)
    yield output, drawn
    if any(_is_open(release) for release in drawn):
        yield from (subject.through(data, forcing_channel(np.random.default_rng([seed, which]))) for which in range(forced))


def forcing_channel(rng: np.random.Generator) -> Channel:
    """Values of sizes from 0.1 to 1e4, in a random direction, where any value may be released; any index; all others as drawn."""

    def chosen(release: Release) -> Value:
        law = release.law
        if not _is_open(release):
            return law.sample(rng)
        if isinstance(law, CHOICES):
            return np.asarray(rng.integers(len(law.scores)))
        shape = (law.problem.dimension,) if isinstance(law, PerturbedMinimiser) else np.shape(law.location)  # type: ignore[attr-defined]
        return np.asarray(rng.standard_normal(shape) * 10 ** rng.uniform(-1, 4))

    return Channel(chosen, {})


def _is_open(release: Release) -> bool:
    return not release.hidden and isinstance(release.law, (*ADDITIVE, PerturbedMinimiser, *CHOICES))


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
        received = release.output
        if isinstance(expected, Expected):
            found.append(_difference(release, expected))
            if found[-1].measured == math.inf:
                return found[-1]
            if expected.law is not None:
                said = f"{release.name}: how far the law is from the published one, of what is stated"
                found.append(Measurement(expected.law(release.law), 1.0, said))
            if expected.places is not None and isinstance(release.law, CHOICES):
                received = _chosen_places(release, expected)
    try:
        missing = run.send(received)
    except StopIteration as end:
        queries = _worst([Measurement(0.0, 1.0, "nothing is released"), *found])
        return queries if queries.exceeds else _worst([queries, _output_difference(output, end.value, transcript)])
    return _wrong(f"{missing.name}: the published algorithm releases it, the run had ended")


def _worst(found: list[Measurement]) -> Measurement:
    return max(found, key=lambda measurement: measurement.measured)


def _wrong(detail: str) -> Measurement:
    return Measurement(math.inf, 1.0, detail)


def _difference(release: Release, expected: Expected) -> Measurement:
    query, wanted = _asked(release, expected), _published(release, expected)
    if expected.places is not None and isinstance(release.law, CHOICES):
        return _choice_difference(release, expected, query, wanted)
    if query.shape != wanted.shape:
        return _wrong(f"{release.name}: the query has shape {query.shape}, the published one {wanted.shape}")
    if not math.isfinite(expected.within):
        return _wrong(f"{release.name}: nothing is known of the published query")
    difference = query - wanted
    if expected.up_to_constant:
        difference = difference - difference.mean()
    size = max(_length(wanted - wanted.mean()) if expected.up_to_constant else _length(wanted), _reach(release))
    found = _ratio(_length(difference), max(expected.within, RELATIVE * size))
    return Measurement(found, 1.0, f"{release.name}: the query is {_length(difference):.3g} from the published one")


def _asked(release: Release, expected: Expected) -> FloatArray:
    """The recorded query; of a density the scores at those points of its set that are nearest to the published places."""
    law = release.law
    if isinstance(law, Gibbs) and expected.places is not None:
        local: Domain = law.potential.local  # type: ignore[attr-defined]
        return law.potential.scores(local.project(expected.places))
    return np.asarray(released_query(release), dtype=np.float64)


def _published(release: Release, expected: Expected) -> FloatArray:
    query = expected.query(release.output) if callable(expected.query) else expected.query
    return np.asarray(query, dtype=np.float64)


def _choice_difference(release: Release, expected: Expected, query: FloatArray, wanted: FloatArray) -> Measurement:
    """The farthest that a score is from all scores on the other side: points at a corner may count once or twice."""
    apart = np.abs(_levels(query)[:, None] - _levels(wanted))
    away = float(max(apart.min(axis=1).max(), apart.min(axis=0).max()))
    found = _ratio(away, _allowed_of_scores(release, expected, wanted))
    return Measurement(found, 1.0, f"{release.name}: a score is {away:.3g} from all published ones")


def _levels(scores: FloatArray) -> FloatArray:
    return np.asarray(scores - scores.max())


def _allowed_of_scores(release: Release, expected: Expected, wanted: FloatArray) -> float:
    return max(expected.within, RELATIVE * max(float(np.abs(_levels(wanted)).max()), _reach(release)))


def _chosen_places(release: Release, expected: Expected) -> FloatArray:
    """The points that have the score of the chosen index, or the nearest one."""
    query, wanted = _asked(release, expected), _published(release, expected)
    apart = np.abs(_levels(wanted) - _levels(query)[int(release.output)])
    assert expected.places is not None
    return np.asarray(expected.places[apart <= max(2 * _allowed_of_scores(release, expected, wanted), apart.min())])


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
    if isinstance(wanted, OneOf):
        tried = [_output_difference(output, one, transcript) for one in wanted.outputs]
        return min(tried, key=lambda found: found.measured)
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
