"""The inexact projection against the exact one, its proof's inequalities, and its count of calls."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from tailproof.refimpl.domains import EPS, Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope, unit_ball
from tailproof.refimpl.projections import inexact_projection
from tailproof.refimpl.validation import FloatArray, InputError


def random_base(kind: str, dimension: int, rng: np.random.Generator) -> Domain:
    center = rng.standard_normal(dimension)
    if kind == "ball":
        return Ball(center, rng.uniform(0.3, 2))
    if kind == "box":
        return Box(center, center + rng.uniform(0.1, 2, dimension))
    if kind == "l1":
        return L1Ball(center, rng.uniform(0.3, 2))
    if kind == "ellipsoid":
        basis = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
        return Ellipsoid(center, basis @ np.diag(10.0 ** rng.uniform(-2, 1, dimension)) @ basis.T)
    normals = np.vstack([rng.standard_normal((dimension, dimension)), np.eye(dimension), -np.eye(dimension)])
    return Polytope(normals, normals @ center + rng.uniform(0.3, 2, len(normals)))


KINDS = ["ball", "box", "l1", "ellipsoid", "polytope"]
kinds, seeds = st.sampled_from(KINDS), st.integers(0, 2**32)


def random_case(kind: str, seed: int, distance: float) -> tuple[Domain, FloatArray, float, FloatArray]:
    """A base, a centre in it (often on its boundary), a radius and a point at about 10**distance."""
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(1, 6))
    base = random_base(kind, dimension, rng)
    center = base.project(base.interior_point() + rng.choice([0.05, 1.0, 5.0]) * rng.standard_normal(dimension))
    return base, center, 10.0 ** rng.uniform(-2, 0.3), center + 10.0**distance * rng.standard_normal(dimension)


def calls_upper(distance: float, radius: float, accuracy: float) -> int:
    return max(0, math.ceil(math.log2(distance**2 / (radius * accuracy)))) + 2 if distance else 2


@settings(deadline=None, max_examples=200)
@given(kind=kinds, seed=seeds, distance=st.floats(-3, 4), exponent=st.floats(-9, 1))
def test_result_is_in_the_set_within_accuracy_and_in_few_calls(
    kind: str, seed: int, distance: float, exponent: float
) -> None:
    base, center, radius, point = random_case(kind, seed, distance)
    accuracy = 10.0**exponent
    exact = Localised(base, center, radius)
    result = inexact_projection(base, center=center, radius=radius, point=point, accuracy=accuracy)
    away = float(np.linalg.norm(point - center))
    rounding = 1e-12 * (away + base.max_norm_from(np.zeros(base.dimension)))
    assert exact.contains(result.point)
    assert np.linalg.norm(result.point - exact.project(point)) <= accuracy + rounding
    assert np.linalg.norm(result.point - exact.project(point)) <= result.error_upper + rounding
    assert result.error_upper <= accuracy + rounding
    assert result.calls <= calls_upper(away, radius, accuracy)
    assert 0 <= result.multiplier <= away / radius * (1 + 1e-13)
    expected = base.project((point + result.multiplier * center) / (1 + result.multiplier))
    assert result.point == pytest.approx(expected, abs=rounding)


@settings(deadline=None, max_examples=100)
@given(kind=kinds, seed=seeds, distance=st.floats(-2, 3))
def test_inequalities_of_the_proof_hold(kind: str, seed: int, distance: float) -> None:
    """Lipschitz in the multiplier, nearer to the centre as it grows, inside the ball at the interval's end."""
    base, center, radius, point = random_case(kind, seed, distance)
    away = float(np.linalg.norm(point - center))
    ends = np.concatenate([[0.0], np.geomspace(1e-4, 1, 30) * away / radius])
    points = base.project((point + ends[:, np.newaxis] * center) / (1 + ends[:, np.newaxis]))
    rounding = 1e-12 * (away + base.max_norm_from(np.zeros(base.dimension)))
    apart = np.linalg.norm(points[:, np.newaxis] - points, axis=2)
    between = np.abs(ends[:, np.newaxis] - ends)
    assert (apart <= away * between / np.outer(1 + ends, 1 + ends) + rounding).all()
    assert (apart <= away * between + rounding).all()
    reach = np.linalg.norm(points - center, axis=1)
    assert (np.diff(reach) <= rounding).all()
    assert reach[-1] <= radius + rounding


@settings(deadline=None, max_examples=50)
@given(kind=kinds, seed=seeds, distance=st.floats(-1, 3))
def test_fine_accuracy_finds_the_least_multiplier(kind: str, seed: int, distance: float) -> None:
    base, center, radius, point = random_case(kind, seed, distance)
    result = inexact_projection(base, center=center, radius=radius, point=point, accuracy=1e-11)
    below = result.multiplier - 1e-6 * (1 + result.multiplier)
    if below >= 0:
        before = base.project((point + below * center) / (1 + below))
        assert np.linalg.norm(before - center) > radius * (1 - 1e-9)


@dataclass(frozen=True, eq=False)
class CountingBox(Box):
    """A box that remembers how often it was asked for a projection."""

    asked: list[int] = field(default_factory=list)

    def project(self, points: ArrayLike) -> FloatArray:
        self.asked.append(1)
        return super().project(points)


@pytest.mark.parametrize("accuracy", [1e3, 1.0, 1e-2, 1e-5, 1e-10])
@pytest.mark.parametrize("distance", [0.1, 1.0, 10.0, 1e4])
def test_calls_are_counted(accuracy: float, distance: float) -> None:
    box = CountingBox(-np.ones(3), np.ones(3))
    point = distance * np.array([0.5, 0.7, -0.3])
    result = inexact_projection(box, center=np.full(3, 0.5), radius=0.3, point=point, accuracy=accuracy)
    assert result.calls == len(box.asked)


def test_points_whose_projection_is_near_cost_one_call() -> None:
    result = inexact_projection(unit_ball(2), center=[0.5, 0.0], radius=0.6, point=[5.0, 0.0], accuracy=1e-9)
    assert (result.calls, result.multiplier, result.error_upper) == (1, 0.0, 0.0)
    assert result.point == pytest.approx([1.0, 0.0], abs=1e-14)


def test_coarse_accuracy_costs_two_calls() -> None:
    result = inexact_projection(unit_ball(2), center=[0.0, 0.0], radius=0.5, point=[0.9, 0.0], accuracy=10.0)
    assert result.calls == 2
    assert result.point == pytest.approx([0.9 / 2.8, 0.0])  # the upper end, μ = 1.8


def test_the_count_of_calls_is_nearly_used_up() -> None:
    """A multiplier near 0 leaves the sharper Lipschitz bound no advantage over the stated one."""
    box = Box([-1.0, -1.0], [1.0, 1.0])
    point = np.array([1.0, 0.0])
    result = inexact_projection(box, center=[0.0, 0.0], radius=1 - 1e-12, point=point, accuracy=1e-6)
    assert calls_upper(1.0, 1.0, 1e-6) - 2 <= result.calls <= calls_upper(1.0, 1 - 1e-12, 1e-6)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12, 1e20])
@pytest.mark.parametrize("radius", [1e-6, 0.5, 3.0])
def test_results_are_members_at_all_scales(scale: float, radius: float) -> None:
    rng = np.random.default_rng(1)
    for kind in KINDS:
        base = random_base(kind, 3, rng)
        center = base.project(rng.standard_normal(3))
        for accuracy in (radius * 1e-3, 1e9):
            point = center + scale * rng.standard_normal(3)
            result = inexact_projection(base, center=center, radius=radius, point=point, accuracy=accuracy)
            error = np.linalg.norm(result.point - Localised(base, center, radius).project(point))
            assert base.contains(result.point)
            assert Ball(center, radius).contains(result.point)
            assert error <= accuracy + 16 * EPS * (scale + base.max_norm_from(np.zeros(3)))
            assert result.calls <= calls_upper(float(np.linalg.norm(point - center)), radius, accuracy)


def test_an_accuracy_finer_than_floats_is_reported_not_pretended() -> None:
    point = np.array([30.0, 40.0])
    result = inexact_projection(unit_ball(2), center=[0.0, 0.0], radius=0.5, point=point, accuracy=1e-30)
    assert 1e-30 < result.error_upper < 1e-14
    assert np.linalg.norm(result.point - [0.3, 0.4]) < 1e-14


def test_rounding_at_the_upper_end_costs_no_accuracy() -> None:
    """A ball well inside the base and a far point: the exact result is on the ball, at the very end of the interval."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        center = rng.standard_normal(3)
        point = center + 1e4 * rng.standard_normal(3)
        result = inexact_projection(Ball(np.zeros(3), 9.0), center=center, radius=1e-6, point=point, accuracy=1e-9)
        exact = center + 1e-6 * (point - center) / np.linalg.norm(point - center)
        assert np.linalg.norm(result.point - exact) <= 1e-9 + 1e-14
        assert Ball(center, 1e-6).contains(result.point)
        assert result.error_upper <= 1e-9 + 1e-14


def test_floats_coarser_than_the_ball_give_its_centre() -> None:
    base = Ball(np.full(2, 1e6), 1.0)
    result = inexact_projection(base, center=base.center, radius=1e-12, point=base.center + 0.5, accuracy=1e-3)
    assert result.point.tolist() == base.center.tolist()
    assert np.linalg.norm(result.point - base.center) <= result.error_upper


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"center": [2.0, 0.0]}, "center"),
        ({"center": [0.0]}, "center"),
        ({"center": [np.nan, 0.0]}, "center"),
        ({"radius": 0.0}, "radius"),
        ({"radius": -1.0}, "radius"),
        ({"radius": np.inf}, "radius"),
        ({"point": [0.0, np.nan]}, "point"),
        ({"point": [0.0, np.inf]}, "point"),
        ({"point": [0.0]}, "point"),
        ({"point": [[0.0, 0.0]]}, "point"),
        ({"accuracy": 0.0}, "accuracy"),
        ({"accuracy": -1.0}, "accuracy"),
        ({"accuracy": np.nan}, "accuracy"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], names: str) -> None:
    arguments: dict[str, Any] = {"center": [0.0, 0.0], "radius": 0.5, "point": [1.0, 1.0], "accuracy": 1e-3}
    with pytest.raises(InputError, match=names):
        inexact_projection(unit_ball(2), **(arguments | changes))
