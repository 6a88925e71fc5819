"""The published query, row by row: the implementations pass, and every hand-made departure that keeps privacy fails."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.catalogue import ALGORITHMS, algorithm
from tailproof.refimpl.channel import L2, Channel
from tailproof.refimpl.claims import ZCDP
from tailproof.refimpl.laws import Gaussian, UniformPermutation
from tailproof.verification import mutants, query_check
from tailproof.verification.mutants import Mutant
from tailproof.verification.plain import Expected, Hidden, Plain
from tailproof.verification.query_check import check_queries, forced_transcript, plain_algorithms, worst_query
from tailproof.verification.subject import Subject, subject_of

PAPERS_WITH_PLAIN_ALGORITHMS = ("P0", "P1")
"""Every mechanism of these papers must have a plain algorithm."""

_ROWS = [row for row in ALGORITHMS if row.paper in PAPERS_WITH_PLAIN_ALGORITHMS and row.implementation is not None]


def _subjects(identifier: str, implementation: Any = None) -> list[Subject]:
    published = algorithm(identifier).implementation
    assert published is not None
    chosen = published if implementation is None else implementation
    return [subject_of(identifier, i, implementation=chosen) for i in range(len(published.settings))]


def _seed() -> int:
    return int(np.random.default_rng().integers(2**31))


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.id)
def test_every_row_has_a_plain_algorithm(row: Any) -> None:
    assert row.id in plain_algorithms()


def test_no_plain_algorithm_is_of_an_unknown_row() -> None:
    assert set(plain_algorithms()) <= {row.id for row in ALGORITHMS if row.implementation is not None}


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.id)
def test_the_implementation_asks_the_published_queries(row: Any) -> None:
    """Nothing here is statistical: rounding aside, the two agree on all data and for all released values."""
    for subject in _subjects(row.id):
        seed = _seed()
        found, _ = worst_query(subject, seed)
        assert not found.exceeds, (subject.setting_index, seed, found)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.id)
def test_chosen_values_can_be_replayed(row: Any) -> None:
    """Otherwise later queries would be looked at near the drawn values alone."""
    for subject in _subjects(row.id):
        if subject.setting.refuted is None:
            rng = np.random.default_rng()
            data = rng.standard_t(3, size=(subject.setting.n, subject.setting.d))
            _, drawn = subject.run(data, _seed())
            _, again = subject.replay(data, forced_transcript(drawn, rng))
            for release, other in zip(drawn, again, strict=True):
                changed = not release.hidden and release.name != "value"
                assert changed is not np.array_equal(release.output, other.output)


# --- departures -------------------------------------------------------------------------------------------------------------------

_APPROX = "tailproof.refimpl.approx_dp"
_DESCENT, _STAGES, _BATCHES, _STEPS = (f"{_APPROX}.{m}" for m in ("descent", "approximation", "accelerated", "steps"))
_ASCENT = ("(slope + weight * (point - start))", "(weight * (point - start) - slope)")
_HALF = ("slope = gradient(point)", "slope = gradient(point) / 2")
_ONE_LESS = ("for _ in range(steps)", "for _ in range(steps - 1)")
_NO_PULL = ("weight * (point - start)", "weight * point")
_PRINTED_ALPHA = ("alpha, eta = 2 / (t + 1)", "alpha, eta = 2 / (t + 2)")
_UPHILL = ("project(point - alpha / eta * slope)", "project(point + alpha / eta * slope)")
_NO_AVERAGE = ("average = alpha * point + (1 - alpha) * average", "average = point")
_FREE = ("project(point - alpha / eta * slope)", "point - alpha / eta * slope")
_STEP_UP = ("points[-1] - length * estimate", "points[-1] + length * estimate")
_STEP_FREE = ("points.append(project(moved))", "points.append(moved)")
_STEP_LOST = ("if disjoint else points[-1])", "if disjoint else points[-2])")
_MEAN_LOST = ("points[1:].mean(axis=0)", "points[:-1].mean(axis=0)")
_CLIPPED = 'clipped_mean_of(validation.records("data", data), clip)'

_EDITS: list[tuple[str, str, str | None, tuple[str, str]]] = [
    ("P0.A1", "halved", None, (f"return {_CLIPPED}", f"return 0.5 * {_CLIPPED}")),
    ("P0.A1", "turned round", None, (f"return {_CLIPPED}", f"return -{_CLIPPED}")),
    ("P0.A1", "clipped at a smaller radius", None, ("data), clip)  # line 1", "data), 0.9 * clip)")),
    ("P0.A2", "ascent", None, _ASCENT),
    ("P0.A2", "half the gradient", None, _HALF),
    ("P0.A2", "one step less", None, _ONE_LESS),
    ("P0.A2", "rough records kept", None, ("domain=region, smoothness=smoothness)", "domain=region)")),
    ("P0.A3", "ascent", _DESCENT, _ASCENT),
    ("P0.A3", "half the gradient", _DESCENT, _HALF),
    ("P0.A3", "one step less", _DESCENT, _ONE_LESS),
    ("P0.A3", "regularised towards the origin", _DESCENT, _NO_PULL),
    (
        "P0.A3",
        "starts anew in every phase",
        None,
        ("local, point, step=phase.step", "local, problem.start, step=phase.step"),
    ),
    ("P0.A4", "ascent", _DESCENT, _ASCENT),
    ("P0.A4", "no ball", None, ("region = domain if stage.radius is None else", "region = domain if stage.radius else")),
    ("P0.A5", "half the gradient", _DESCENT, _HALF),
    (
        "P0.A5",
        "starts anew in every part",
        _STAGES,
        ("Problem(problem.loss, region, point,", "Problem(problem.loss, region, problem.start,"),
    ),
    ("P0.A6", "printed α", None, _PRINTED_ALPHA),
    ("P0.A6", "ascent", None, _UPHILL),
    ("P0.A6", "no average", None, _NO_AVERAGE),
    ("P0.A6", "no projection", None, _FREE),
    ("P0.A7", "printed α", _BATCHES, _PRINTED_ALPHA),
    ("P0.A7", "ascent", _BATCHES, _UPHILL),
    ("P0.A7", "starts anew in every part", None, ("problem = replace(problem, start=found)", "pass")),
    ("P0.B", "ascent", None, ("point - step * slope", "point + step * slope")),
    ("P0.B", "no projection", None, ("project(point - step * slope)", "point - step * slope")),
    ("P0.B", "half the gradient", None, ("mean = clipped(point, members)", "mean = clipped(point, members) / 2")),
    ("P0.R3", "centre never moves", None, ("given.loss, region, point,", "given.loss, region, given.start,")),
    (
        "P0.R3",
        "half the Lipschitz constant",
        None,
        ("phase.weight, phase.clip, kappa)", "phase.weight, phase.clip / 2, kappa)"),
    ),
    ("P1.A1", "not the majority's centre", None, ("centre = points[int(np.argmin(", "centre = points[int(np.argmax(")),
    ("P1.A1", "ascent", f"{_APPROX}.empirical", ("ahead - shift", "ahead + shift")),
    (
        "P1.A1",
        "end of the interval",
        None,
        ("centre = ordered[first] + width(majority)[first] / 2", "centre = ordered[first]"),
    ),
    ("P1.A3.mean", "turned round", None, ("law = LLN(centre,", "law = LLN(-centre,")),
    (
        "P1.A3.mean",
        "median of what is left",
        None,
        ("rows.sum(axis=1) / rows.shape[1]\n    if", "np.median(rows, axis=1)\n    if"),
    ),
    ("P1.A3.mean", "not clamped", None, ("return np.clip(means, lower, upper), bounds", "return means, bounds")),
    ("P1.A3", "ascent", _STEPS, _STEP_UP),
    ("P1.A3", "no projection", _STEPS, _STEP_FREE),
    ("P1.A3", "last step lost", _STEPS, _STEP_LOST),
    ("P1.A3", "last point not in the mean", _STEPS, _MEAN_LOST),
    ("P1.A4.mean", "halved", None, ("return total * (scale / len(data))", "return total * (scale / len(data) / 2)")),
    ("P1.A4.mean", "no multiplicative noise near 0", None, ("value *= 0.5 / beta + 1 / 6", "value *= 1 / 6")),
    ("P1.A4", "ascent", _STEPS, _STEP_UP),
    ("P1.A4", "last step lost", _STEPS, _STEP_LOST),
]


def test_every_row_has_two_departures() -> None:
    for row in _ROWS:
        assert sum(identifier == row.id for identifier, *_ in _EDITS) >= 2, row.id


@pytest.mark.parametrize(("identifier", "name", "module", "edit"), _EDITS, ids=[f"{i}-{n}" for i, n, *_ in _EDITS])
def test_departures_are_seen(identifier: str, name: str, module: str | None, edit: tuple[str, str]) -> None:
    built = mutants.build(Mutant(identifier, name, "utility", (edit,), module))
    subjects = [subject for subject in _subjects(identifier, built) if subject.setting.refuted is None]
    assert any(worst_query(subject, _seed())[0].exceeds for subject in subjects)


# --- the driver itself, on a toy --------------------------------------------------------------------------------------------------


def _toy(data: Any, channel: Channel, **_: Any) -> Any:
    order = np.asarray(channel.hidden("order", UniformPermutation(len(data))))
    first = channel.release("first", Gaussian(data[order[0]], 1.0), sensitivity=L2(1.0), spend=ZCDP(0.5))
    return 2 * channel.release("second", Gaussian(first + data[order[1]], 1.0), sensitivity=L2(1.0), spend=ZCDP(0.5))


def _plain_toy(data: Any, _: dict[str, Any]) -> Plain:
    order = yield Hidden("order")
    first = yield Expected("first", data[order[0]])
    return 2 * (yield Expected("second", first + data[order[1]]))


def _toy_subject(mechanism: Any) -> Subject:
    return replace(_subjects("P0.A1")[0], mechanism=mechanism)


def _checked(monkeypatch: pytest.MonkeyPatch, mechanism: Any, algorithm: Any) -> Any:
    monkeypatch.setattr(query_check, "plain_algorithms", lambda: {"P0.A1": algorithm})
    return check_queries(_toy_subject(mechanism), np.random.default_rng().standard_normal((12, 3)), _seed())


def test_a_toy_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _checked(monkeypatch, _toy, _plain_toy).measured < 1e-3


def _one_part_in_a_million(data: Any, _: dict[str, Any]) -> Plain:
    order = yield Hidden("order")
    first = yield Expected("first", data[order[0]] * (1 + 1e-6))
    return 2 * (yield Expected("second", first + data[order[1]]))


def _other_output(data: Any, parameters: dict[str, Any]) -> Plain:
    return (1 + 1e-6) * (yield from _plain_toy(data, parameters))


def _other_name(data: Any, _: dict[str, Any]) -> Plain:
    yield Hidden("order")
    yield Expected("other", data[0])


def _not_hidden(data: Any, _: dict[str, Any]) -> Plain:
    yield Expected("order", data[0])


def _too_short(data: Any, _: dict[str, Any]) -> Plain:
    order = yield Hidden("order")
    yield Expected("first", data[order[0]])


def _too_long(data: Any, parameters: dict[str, Any]) -> Plain:
    yield from _plain_toy(data, parameters)
    yield Expected("third", data[0])


def _other_shape(data: Any, _: dict[str, Any]) -> Plain:
    order = yield Hidden("order")
    first = yield Expected("first", data[order[0]][:2])
    return 2 * (yield Expected("second", first + data[order[1]]))


@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        (_one_part_in_a_million, "first: the query is"),
        (_other_output, "the output is"),
        (_other_name, "first: is released where the published algorithm has other"),
        (_not_hidden, "order: is hidden, unlike"),
        (_too_short, "second: is released though"),
        (_too_long, "third: the published algorithm releases it"),
        (_other_shape, "first: the query has shape (3,), the published one (2,)"),
    ],
)
def test_a_difference_is_named(monkeypatch: pytest.MonkeyPatch, algorithm: Any, said: str) -> None:
    found = _checked(monkeypatch, _toy, algorithm)
    assert found.exceeds
    assert said in found.detail


def test_a_mechanism_that_raises_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(*_: Any, **__: Any) -> None:
        raise ValueError("so")

    found = _checked(monkeypatch, raising, _plain_toy)
    assert found.measured == math.inf
    assert "raises on legal data: ValueError: so" in found.detail


def test_nan_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def nan(data: Any, channel: Channel, **parameters: Any) -> Any:
        return _toy(data, channel, **parameters) * np.nan

    assert _checked(monkeypatch, nan, _plain_toy).measured == math.inf


def test_scores_may_differ_by_a_constant() -> None:
    _, drawn = _toy_subject(_toy).run(np.zeros((12, 3)), _seed())
    shifted = Expected("first", np.full(3, 7.0), up_to_constant=True)
    assert query_check._difference(drawn.releases[1], shifted).measured < 1e-3
    assert query_check._difference(drawn.releases[1], replace(shifted, up_to_constant=False)).exceeds
    assert not query_check._difference(drawn.releases[1], replace(shifted, up_to_constant=False, within=13.0)).exceeds


def test_a_row_without_a_plain_algorithm_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_check, "plain_algorithms", dict)
    with pytest.raises(KeyError):
        check_queries(_subjects("P0.A1")[0], np.zeros((12, 3)), 0)
