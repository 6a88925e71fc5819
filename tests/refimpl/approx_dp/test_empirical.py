"""Minimisers of blocks: optimal, in W, and functions of their own block alone, to the last bit."""

import numpy as np
import pytest

from tailproof.refimpl.approx_dp.empirical import block_minimisers
from tailproof.refimpl.approx_dp.problem import Problem
from tailproof.refimpl.domains import Ball, Box, Domain
from tailproof.refimpl.losses import AnyLoss, Logistic, Quadratic, RecordQuadratic, Ridge, Squared
from tailproof.refimpl.validation import FloatArray

RNG = np.random.default_rng(5)
FEATURES = RNG.standard_normal((120, 3))
REAL = np.column_stack([FEATURES, FEATURES @ [1.0, -2.0, 0.5] + RNG.standard_t(3, size=120)])
LABELS = np.column_stack([FEATURES, np.where(REAL[:, -1] < 0, -1.0, 1.0)])
CASES: list[tuple[AnyLoss, FloatArray]] = [
    (Squared(), REAL),
    (Ridge(Squared(), 0.3), REAL),
    (Logistic(), LABELS),
    (Quadratic(np.diag([1.0, 0.1, 0.01])), FEATURES),
    (Ridge(Quadratic(np.eye(3)), 2.0), FEATURES),
    (RecordQuadratic(), np.hstack([np.abs(FEATURES), FEATURES])),
]


@pytest.mark.parametrize("domain", [Ball(np.zeros(3), 0.8), Box(np.full(3, -5.0), np.full(3, 5.0))], ids=["ball", "box"])
@pytest.mark.parametrize(("loss", "data"), CASES, ids=lambda value: type(value).__name__)
def test_no_gradient_step_leads_away(loss: AnyLoss, data: FloatArray, domain: Domain) -> None:
    points = block_minimisers(
        Problem(loss, domain, domain.interior_point(), data), blocks=6, most_steps=3000, tolerance=1e-12
    )
    assert domain.contains(points).all()
    for i, point in enumerate(points):
        stepped = domain.project(point - loss.mean_gradient(point, data[20 * i : 20 * (i + 1)]))
        assert np.linalg.norm(stepped - point) < 1e-7


def test_inside_a_large_set_it_is_least_squares() -> None:
    domain = Ball(np.zeros(3), 50.0)
    points = block_minimisers(Problem(Squared(), domain, np.zeros(3), REAL), blocks=4)
    for i, point in enumerate(points):
        rows = REAL[30 * i : 30 * (i + 1)]
        assert point == pytest.approx(np.linalg.lstsq(rows[:, :-1], rows[:, -1])[0], abs=1e-5)


@pytest.mark.parametrize(("loss", "data"), CASES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("size", [1.0, 1e12])
def test_other_blocks_do_not_matter(loss: AnyLoss, data: FloatArray, size: float) -> None:
    domain = Ball(np.zeros(3), 1.0)
    changed = np.array(data)
    changed[25, :-1] = size
    one, two = (
        block_minimisers(Problem(loss, domain, np.zeros(3), rows), blocks=7, most_steps=40) for rows in (data, changed)
    )
    same = (one == two).all(axis=1)
    assert same.tolist() == [True, False, True, True, True, True, True]


def test_extreme_records_give_points_of_the_set() -> None:
    domain = Ball(np.zeros(3), 1.0)
    for size in (1e60, 1e-200, 0.0):
        for loss, data in CASES:
            rows = np.array(data)
            rows[:40, :-1] *= size
            points = block_minimisers(Problem(loss, domain, np.zeros(3), rows), blocks=60, most_steps=20)
            assert domain.contains(points).all()
