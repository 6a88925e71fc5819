"""The universe of records: any floats are mapped one by one, neighbours to neighbours, and mechanisms answer on all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.channel import run
from tailproof.refimpl.domains import Box, Ellipsoid, L1Ball, Polytope
from tailproof.refimpl.losses import Quadratic, parse_loss
from tailproof.refimpl.pure_dp import double_output_perturbation, exponential_mechanism, single_output_perturbation
from tailproof.refimpl.pure_dp.localise import localised_ball
from tailproof.refimpl.pure_dp.localised_exponential import localised_exponential
from tailproof.refimpl.universe import LARGEST, Universe, table, tamed
from tailproof.refimpl.validation import FloatArray, InputError

WILD = np.array([[1.0, 2.0], [np.nan, 1.0], [1.0, np.inf], [-np.inf, np.nan], [1e300, -1e299], [5e-324, 1e18], [0.0, 0.0]])


def test_what_is_in_the_universe_stays_as_it_is() -> None:
    rows = np.array([[1.0, 2.0], [LARGEST, -LARGEST], [1e-150, 0.0]])
    assert Universe().mapped(rows) is rows
    assert Universe().mapped(rows, strict=True) is rows


def test_every_record_is_mapped_by_itself_and_stays_there() -> None:
    """So neighbours stay neighbours, and mapping again changes nothing."""
    for universe in (Universe(), Universe(labels=True), Universe(curvatures=1), Universe(largest=3.0)):
        mapped = universe.mapped(WILD)
        assert np.array_equal(mapped, np.vstack([universe.mapped(row[np.newaxis]) for row in WILD]))
        assert np.isfinite(mapped).all()
        numbers = mapped[:, :-1] if universe.labels else mapped
        assert np.abs(numbers).max() <= universe.largest
        assert universe.mapped(mapped) is mapped


def test_specks_become_zeros() -> None:
    assert Universe().mapped(np.array([[5e-324, -1e-200, 1e-150], [1e300, 1e100, 1.0]])).tolist()[0] == [0.0, 0.0, 1e-150]


def test_the_neutral_record_and_the_scale() -> None:
    mapped = Universe().mapped(WILD)
    assert not mapped[1:4].any()
    assert mapped[4].tolist() == [1e300 * 2.0**-937, -1e299 * 2.0**-937]  # exactly in the same direction
    assert LARGEST / 2 < mapped[4, 0] <= LARGEST
    labelled = Universe(labels=True).mapped(np.array([[1e300, -1.0], [2.0, 0.5], [np.nan, -1.0]]))
    assert labelled.tolist() == [[1e300 * 2.0**-937, -1.0], [0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("loss", "rows", "said"),
    [
        ("squared", [[1.0, 1.0], [np.nan, 0.0]], "record 1 has the entries"),
        ("squared", [[1.0, 1e20]], r"record 0 has an entry of size 1e\+20"),
        ("hinge", [[1.0, 2.0]], r"record 0 has the label 2.0; must be -1 or 1"),
    ],
)
def test_strict_refuses(loss: str, rows: list[list[float]], said: str) -> None:
    assert len(table(rows, parse_loss(loss))) == len(rows)
    with pytest.raises(InputError, match=said):
        table(rows, parse_loss(loss), strict=True)


@pytest.mark.parametrize("name", ["absolute", "squared", "l4", "hinge", "logistic", "affine", "relu", "ridge:0.3:l4"])
def test_tamed_records_have_values_that_floats_hold(name: str) -> None:
    loss, rng = parse_loss(name), np.random.default_rng(2)
    columns = loss.columns(2)
    rows = rng.standard_normal((60, columns)) * 10.0 ** rng.integers(-20, 17, size=(60, columns))
    if name in ("hinge", "logistic"):
        rows[:, -1] = np.sign(rows[:, -1])
    mapped = tamed(rows, loss, far=3.0, largest_value=1e6)
    assert np.array_equal(mapped, np.vstack([tamed(row[np.newaxis], loss, far=3.0, largest_value=1e6) for row in rows]))
    points = rng.standard_normal((20, 2))
    points *= 1.5 / np.linalg.norm(points, axis=1, keepdims=True)
    values = np.array([loss.values(point, mapped) for point in points])
    assert np.ptp(values, axis=0).max() <= 1e7
    small = np.abs(rows).max(axis=1) < 1
    assert np.array_equal(mapped[small], rows[small]) or name in ("absolute", "relu")  # a far target is brought near


def test_a_near_target_changes_absolute_loss_by_a_constant() -> None:
    rows, loss = np.array([[0.5, 0.3, 1e9], [0.5, 0.3, 0.1]]), parse_loss("absolute")
    mapped = tamed(rows, loss, far=2.0, largest_value=1e6)
    assert mapped[1].tolist() == rows[1].tolist()
    points = np.random.default_rng(0).uniform(-1, 1, (9, 2))
    given, found = (np.array([loss.values(point, data)[0] for point in points]) for data in (rows, mapped))
    assert np.ptp(given - found) <= 1e-6


THIN = Polytope(np.vstack([np.eye(2), -np.eye(2), [[1.0, 1.0]]]), np.array([1.0, 1e-4, 1.0, 1e-4, 0.9]))
DOMAINS: dict[str, Any] = {
    "box": Box(np.zeros(2), np.ones(2)),
    "ellipsoid": Ellipsoid(np.zeros(2), np.diag([1.0, 1e-3])),
    "l1 ball": L1Ball(np.zeros(2), 1.0),
    "thin polytope": THIN,
}
NUMBERS = {"weight": 0.1, "lipschitz": 1.0, "epsilon": 1.0}
MECHANISMS: list[tuple[Any, dict[str, Any]]] = [
    (single_output_perturbation, NUMBERS),
    (localised_ball, {**NUMBERS, "failure": 0.05}),
    (double_output_perturbation, NUMBERS),
    (localised_exponential, NUMBERS),
    (exponential_mechanism, {**NUMBERS, "smoothness": 1.0, "mesh": 0.2}),
]


@pytest.mark.parametrize(("mechanism", "numbers"), MECHANISMS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("loss", ["squared", "l4", "ridge:0.3:l4"])
def test_one_record_of_any_size_is_answered(mechanism: Any, numbers: dict[str, Any], loss: str) -> None:
    """Beside aligned ones, on sets that are not balls."""
    data = np.tile([1.0, 1.0, 10.0], (20, 1))
    for (name, domain), size in zip(DOMAINS.items(), (1e40, 1e17, 4e57, np.inf), strict=True):
        if loss.startswith("ridge") and (name != "box" or mechanism is not single_output_perturbation):
            continue  # answered as well, after seconds
        if name == "thin polytope" and mechanism is localised_exponential:
            continue  # of its proposals few are inside
        changed: FloatArray = data.copy()
        changed[0] *= size
        output, _ = run(mechanism, changed, np.random.default_rng(0), loss=loss, domain=domain, **numbers)
        assert np.isfinite(output).all()


def test_a_quadratic_loss_is_tamed_as_well() -> None:
    rows = np.array([[1.0, 2.0], [1e17, -1e16]])
    mapped = tamed(rows, Quadratic(np.eye(2)), far=2.0, largest_value=1e6)
    assert mapped[0].tolist() == [1.0, 2.0]
    assert 100 < np.linalg.norm(mapped[1]) < 1000
