"""Primitives that data reach answer for all floats: exact projections end, and the last resort finds the minimum."""

from __future__ import annotations

import numpy as np
import pytest

from tailproof.refimpl import domains
from tailproof.refimpl.domains import Ball, Box, Polytope
from tailproof.refimpl.exact_projection import nearest_with_weights
from tailproof.refimpl.extension.certificate import Problem
from tailproof.refimpl.extension.certified import _Search, minimise
from tailproof.refimpl.losses import Absolute, Squared
from tailproof.refimpl.total import nearest, spectrum
from tailproof.refimpl.validation import FloatArray


def facets(d: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    normals = np.vstack([rng.standard_normal((3 * d, d)), np.eye(d), -np.eye(d)])
    return normals, rng.uniform(0.3, 1.0, len(normals))


@pytest.mark.parametrize("d", [1, 2, 4])
def test_exact_projections_meet_the_optimality_conditions(d: int) -> None:
    rng = np.random.default_rng(d)
    for power in range(-1, 30, 3):
        normals, offsets = facets(d, rng)
        target = rng.standard_normal(d) * 10.0**power
        point, weights = nearest_with_weights(target, normals, offsets)
        size = max(1.0, float(np.abs(target).max()))
        assert (normals @ point - offsets).max() <= 1e-14
        assert (weights >= 0).all()
        assert np.abs(target - point - weights @ normals).max() <= 1e-14 * size
        assert np.abs(weights * (normals @ point - offsets)).max() <= 1e-14 * size


def test_exact_projections_end_on_duplicated_and_opposite_facets() -> None:
    normals = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1e-13], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0]])
    offsets = np.array([1e-6, 1e-6, 1e-6, 1e-6, 1.0, 1.0, 1.0 + 1e-6])
    point, _ = nearest_with_weights(np.array([3e20, 5e20]), normals, offsets)
    assert point == pytest.approx([1e-6, 1.0], abs=1e-12)


def test_where_active_sets_give_up_exact_arithmetic_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    polytope = Polytope(*facets(3, rng))
    target = polytope._form.centre + 5 * rng.standard_normal(3)
    expected = polytope.project(target)

    def gives_up(*_: FloatArray) -> FloatArray:
        raise ArithmeticError

    monkeypatch.setattr(domains, "_by_active_sets", gives_up)
    form = polytope._form
    found = domains._nearest_in_polytope((target - form.centre) / form.scale, form.unit, form.slack)
    assert form.centre + form.scale * found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "domain", [Ball(np.zeros(2), 1.0), Box(np.zeros(2), np.ones(2)), Polytope(*facets(2, np.random.default_rng(1)))]
)
def test_all_points_have_a_nearest_one(domain: Ball | Box | Polytope) -> None:
    wild = np.array([[1e300, -1e299], [np.inf, 0.0], [np.nan, 1.0], [5e-324, 0.0], [-np.inf, np.inf]])
    with np.errstate(all="ignore"):
        found = nearest(domain, wild)
    assert domain.contains(found).all()
    tame = np.array([[3.0, 4.0], [0.1, 0.2]])
    assert np.array_equal(nearest(domain, tame), domain.project(tame))


def test_a_spectrum_of_any_matrix() -> None:
    values, vectors = spectrum(np.array([[np.nan, np.inf], [np.inf, 1.0]]))
    assert np.isfinite(values).all()
    assert np.isfinite(vectors).all()
    known = spectrum(np.diag([2.0, 1.0]))
    assert known[0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("loss", [Absolute(), Squared()])
def test_the_last_resort_finds_the_minimum(d: int, loss: Absolute | Squared) -> None:
    rng = np.random.default_rng(d)
    data = rng.standard_normal((3, d + 1))
    domain = Box(-np.ones(d), np.ones(d))
    problem = Problem(loss, data, domain, 1.0, 2.0, np.zeros(d))
    found, known = _Search(problem, 1e-3).central_cuts(), minimise(problem, 1e-9)
    assert found.stage == "central cuts"
    # F is 2-strongly convex: a gap of 1e-3 leaves no more than that distance.
    assert np.linalg.norm(found.point - known.point) <= np.sqrt(1e-3) + 1e-4
