"""Domains against second methods: cvxpy, exact and 50-digit arithmetic, enumeration of vertices, sampling."""

from __future__ import annotations

import itertools
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import cvxpy
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import HalfspaceIntersection

from tailproof.refimpl import domains
from tailproof.refimpl.active_sets import nearest_of_many
from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope, parse_domain, unit_ball
from tailproof.refimpl.validation import InputError

KINDS = ["ball", "box", "l1", "ellipsoid", "polytope"]
LOCAL = [f"local {kind}" for kind in KINDS]
NESTED = ["local local box"]


def rotation(rng: np.random.Generator, dimension: int) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]


def random_domain(kind: str, dimension: int, rng: np.random.Generator, size: float = 1.0) -> Domain:
    """A domain of the given kind, about `size` large and up to a few sizes away from the origin."""
    center = size * rng.standard_normal(dimension)
    if kind.startswith("local "):
        base = random_domain(kind.removeprefix("local "), dimension, rng, size)
        # A centre on the boundary or well inside, a radius from a small part of the base to all of it.
        middle = base.interior_point()
        spot = base.project(middle + rng.choice([0.1, 10.0]) * size * rng.standard_normal(dimension))
        return Localised(base, spot, size * 10.0 ** rng.uniform(-2, 0.5))
    if kind == "ball":
        return Ball(center, size * rng.uniform(0.2, 3))
    if kind == "box":
        return Box(center, center + size * rng.uniform(0.1, 3, dimension))
    if kind == "l1":
        return L1Ball(center, size * rng.uniform(0.2, 3))
    if kind == "ellipsoid":
        basis = rotation(rng, dimension)
        return Ellipsoid(center, basis @ np.diag((size * 10.0 ** rng.uniform(-1.5, 0.5, dimension)) ** 2) @ basis.T)
    cuts = rng.standard_normal((2 * dimension, dimension))
    if rng.random() < 0.5:  # small whole numbers: parallel, repeated and degenerate facets
        cuts = np.round(cuts)
        cuts = cuts[np.abs(cuts).sum(axis=1) > 0]
    normals = np.vstack([cuts, np.eye(dimension), -np.eye(dimension)]) * 10.0 ** rng.uniform(-2, 2)
    return Polytope(normals, normals @ center + size * np.abs(normals).max() * rng.uniform(0.3, 1, len(normals)))


def size_of(domain: Domain) -> float:
    """The scale of rounding errors: the set's (or its base's) diameter and distance from the origin."""
    if isinstance(domain, Localised):
        return size_of(domain.base)
    return domain.max_norm_from(np.zeros(domain.dimension)) + domain.diameter_upper()


def points_of(domain: Domain, rng: np.random.Generator, count: int = 200) -> np.ndarray:
    """Points of the set, inside and on its boundary, with extreme points among them."""
    spread = domain.diameter_upper() * 10.0 ** rng.uniform(-2, 2, (count, 1))
    spread = spread * rng.standard_normal((count, domain.dimension))
    extreme = [domain.support_point(u) for u in rng.standard_normal((10, domain.dimension))]
    return np.vstack([domain.project(domain.interior_point() + spread), extreme])


def solve_by_cvxpy(problem: Any) -> float:
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return float(problem.value)


any_domain = st.builds(
    lambda kind, dimension, seed: random_domain(kind, dimension, np.random.default_rng(seed)),
    st.sampled_from(KINDS + LOCAL),
    st.integers(1, 5),
    st.integers(0, 2**32),
)
seeds = st.integers(0, 2**32)


# ------------------------------------------------------------------------------------------------------ projection


@pytest.mark.parametrize("kind", KINDS + LOCAL + NESTED)
@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_projection_and_support_agree_with_cvxpy(kind: str, dimension: int) -> None:
    rng = np.random.default_rng([dimension, len(kind), KINDS.index(kind.split()[-1])])
    for _ in range(2):
        domain = random_domain(kind, dimension, rng)
        variable = cvxpy.Variable(dimension)
        for distance in (1.0, 10.0):
            point = domain.interior_point() + distance * rng.standard_normal(dimension)
            objective = cvxpy.Minimize(cvxpy.sum_squares(variable - point))
            value = solve_by_cvxpy(cvxpy.Problem(objective, domain.cvxpy_constraints(variable)))
            nearest = domain.project(point)
            assert np.sum((nearest - point) ** 2) == pytest.approx(value, rel=1e-7, abs=1e-7)
            # The objective grows at least with the square of the distance from its minimiser.
            assert np.sum((nearest - variable.value) ** 2) <= 4e-9 * (1 + value)
        direction = rng.standard_normal(dimension)
        objective = cvxpy.Maximize(direction @ variable)
        value = solve_by_cvxpy(cvxpy.Problem(objective, domain.cvxpy_constraints(variable)))
        assert float(domain.support(direction)) == pytest.approx(value, abs=1e-7)


@settings(deadline=None, max_examples=40)
@given(domain=any_domain, seed=seeds)
def test_projection_is_characterised_by_obtuse_angles(domain: Domain, seed: int) -> None:
    """p = P(z) if and only if p lies in W and ⟨z − p, w − p⟩ ≤ 0 for all w in W."""
    rng = np.random.default_rng(seed)
    distances = domain.diameter_upper() * 10.0 ** rng.uniform(-1, 3, (6, 1))
    points = domain.interior_point() + distances * rng.standard_normal((6, domain.dimension))
    nearest = domain.project(points)
    rest = points - nearest
    allowed = 1e-12 * size_of(domain) * (size_of(domain) + np.linalg.norm(rest, axis=1))
    assert domain.contains(nearest).all()
    for w in points_of(domain, rng, 50):
        assert (np.einsum("ij,ij->i", rest, w - nearest) <= allowed).all()
    assert (domain.support(rest) - np.einsum("ij,ij->i", rest, nearest) <= allowed).all()


@settings(deadline=None, max_examples=40)
@given(domain=any_domain, seed=seeds, scale=st.floats(-6, 6))
def test_projection_is_idempotent_and_does_not_expand(domain: Domain, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    first = 10.0**scale * rng.standard_normal((5, domain.dimension))
    second = first + 10.0 ** rng.uniform(-9, 1, (5, 1)) * rng.standard_normal((5, domain.dimension))
    p, q = domain.project(first), domain.project(second)
    rounding = 1e-12 * (size_of(domain) + np.linalg.norm(first, axis=1))
    assert (np.linalg.norm(p - q, axis=1) <= np.linalg.norm(first - second, axis=1) + rounding).all()
    assert (domain.project(p) == p).all()
    for i in range(5):
        alone = domain.project(first[i])
        assert domain.contains(p[i])
        assert domain.contains(alone)
        assert np.linalg.norm(alone - p[i]) <= rounding[i]
        assert (domain.project(p[i]) == p[i]).all()


@pytest.mark.parametrize("kind", KINDS + LOCAL)
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_projections_are_members_at_all_scales(kind: str, size: float) -> None:
    rng = np.random.default_rng([KINDS.index(kind.split()[-1]), len(kind)])
    for dimension in (1, 3, 20) if kind != "local polytope" else (1, 3):
        domain = random_domain(kind, dimension, rng, size)
        for scale in 10.0 ** np.arange(-12, 13, 4):
            for origin in (np.zeros(dimension), domain.interior_point()):
                points = origin + scale * rng.standard_normal((3, dimension))
                nearest = domain.project(points)
                assert domain.contains(nearest).all()
                assert domain.contains(np.asfortranarray(nearest)).all()
                assert all(domain.contains(point) for point in nearest)


@pytest.mark.parametrize("radius", [1e-12, 1e-3, 1.0])
def test_membership_survives_a_centre_whose_floats_are_coarser_than_the_set(radius: float) -> None:
    rng = np.random.default_rng(1)
    center = np.full(3, 1e6)
    ball = Ball(center, radius)
    shape = radius**2 * np.diag([1.0, 2.0, 3.0])
    for domain in (
        ball,
        L1Ball(center, radius),
        Ellipsoid(center, shape),
        Localised(unit_ball_at(center), center, radius),
    ):
        assert domain.contains(domain.project(center + rng.standard_normal((50, 3)))).all()
        assert all(domain.contains(domain.support_point(u)) for u in rng.standard_normal((20, 3)))


def unit_ball_at(center: np.ndarray) -> Ball:
    return Ball(center, 1.0)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, dimension=st.integers(1, 4), distance=st.floats(-12, 6))
def test_polytope_projection_agrees_with_closed_forms(seed: int, dimension: int, distance: float) -> None:
    rng = np.random.default_rng(seed)
    width = rng.uniform(0.1, 1, dimension)
    box = Box(-width, width)
    as_facets = Polytope(np.vstack([np.eye(dimension), -np.eye(dimension)]), np.concatenate([width, width]))
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=dimension)))
    diamond, as_signs = L1Ball(np.zeros(dimension), 1.0), Polytope(signs, np.ones(len(signs)))
    for closed, facets in ((box, as_facets), (diamond, as_signs)):
        edge = closed.project(10 * rng.standard_normal((4, dimension)))
        points = edge + 10.0**distance * rng.standard_normal((4, dimension))
        error = np.linalg.norm(closed.project(points) - facets.project(points), axis=1)
        assert (error <= 1e-12 * (1 + np.linalg.norm(points, axis=1))).all()


def test_polytope_projection_does_not_rest_on_its_starting_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimality conditions are checked: a start on the right face but a little off is corrected, a bad one too."""
    rng = np.random.default_rng(2)
    exact_start = domains._least_distance
    box, normals = Box(-np.ones(3), np.ones(3)), np.vstack([np.eye(3), -np.eye(3)])
    facets = Polytope(normals, np.ones(6))
    points = np.array([[3.0, 0.2, -0.4], [3.0, 5.0, 0.1], [3.0, -2.0, 9.0]])
    for noise in (1e-12, 1e-8, 1e-3, 10.0):
        shift = noise * rng.standard_normal(3)
        monkeypatch.setattr(domains, "_least_distance", lambda z, *rest, by=shift: exact_start(z + by, *rest))
        assert np.abs(facets.project(points) - box.project(points)).max() <= 2e-12
    monkeypatch.setattr(domains, "_least_distance", lambda target, *_: np.zeros_like(target))
    assert np.abs(facets.project(points) - box.project(points)).max() <= 2e-12


def secular_projection(domain: Ellipsoid, point: np.ndarray) -> np.ndarray:
    """The projection onto an ellipsoid in 50 digits, by bisection on the secular equation."""
    with mpmath.workdps(50):
        axes = [mpmath.mpf(a) for a in domain.axes]
        basis = mpmath.matrix(domain.basis.tolist())
        y = basis.T * (mpmath.matrix(point.tolist()) - mpmath.matrix(domain.center.tolist()))

        def excess(t: Any) -> Any:
            return sum((a * y[i] / (a * a + t)) ** 2 for i, a in enumerate(axes)) - 1

        low, high = mpmath.mpf(0), max(axes) * mpmath.norm(y)
        for _ in range(400):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        nearest = basis * mpmath.matrix([a * a * y[i] / (a * a + high) for i, a in enumerate(axes)])
        return np.array([float(nearest[i] + mpmath.mpf(c)) for i, c in enumerate(domain.center)])


def test_ellipsoid_projection_is_accurate_to_the_last_digits() -> None:
    rng = np.random.default_rng(3)
    for dimension, power in itertools.product((1, 2, 4), (-12, -6, 0, 3, 9)):
        basis = rotation(rng, dimension)
        axes = 10.0 ** rng.uniform(-1, 1, dimension)
        domain = Ellipsoid(np.zeros(dimension), basis @ np.diag(axes**2) @ basis.T)
        edge = domain.support_point(rng.standard_normal(dimension))
        point = edge * (1 + 10.0**power)
        error = np.linalg.norm(domain.project(point) - secular_projection(domain, point))
        # Pulled inside by a few dozen roundings, along a radius that may be oblique to the surface.
        assert error <= 1e-13 * axes.max() / axes.min()


def test_round_ellipsoid_is_a_ball() -> None:
    rng = np.random.default_rng(4)
    center = rng.standard_normal(5)
    ball, ellipsoid = Ball(center, 0.7), Ellipsoid(center, 0.49 * np.eye(5))
    points = 10.0 ** rng.uniform(-2, 6, (200, 1)) * rng.standard_normal((200, 5))
    assert ellipsoid.project(points) == pytest.approx(ball.project(points), rel=1e-12, abs=1e-13)
    assert ellipsoid.max_norm_from(points[0]) == pytest.approx(ball.max_norm_from(points[0]), rel=1e-12)


def lens_projection(first: Ball, second: Ball, point: np.ndarray) -> np.ndarray:
    """The projection onto the intersection of two balls: onto one of them, or onto the circle where they meet."""
    for ball, other in ((first, second), (second, first)):
        candidate = ball.project(point)
        if other.contains(candidate, 1e-13):
            return candidate
    axis = second.center - first.center
    gap = float(np.linalg.norm(axis))
    axis = axis / gap
    along = (gap**2 + first.radius**2 - second.radius**2) / (2 * gap)
    across = point - first.center - ((point - first.center) @ axis) * axis
    height = np.sqrt(first.radius**2 - along**2)
    return first.center + along * axis + height * across / np.linalg.norm(across)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, dimension=st.integers(2, 6), scale=st.floats(-1, 4))
def test_localised_ball_has_the_closed_form_of_a_lens(seed: int, dimension: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    base = Ball(np.zeros(dimension), 1.0)
    center = base.project(rng.standard_normal(dimension)) * rng.uniform(0.3, 1)
    domain = Localised(base, center, rng.uniform(0.3, 1.5))
    for point in 10.0**scale * rng.standard_normal((5, dimension)):
        error = np.linalg.norm(domain.project(point) - lens_projection(base, domain.ball, point))
        assert error <= 1e-11 * (1 + np.linalg.norm(point))


@settings(deadline=None, max_examples=40)
@given(kind=st.sampled_from(KINDS), dimension=st.integers(1, 5), seed=seeds)
def test_multiplier_of_the_localising_ball_is_optimal(kind: str, dimension: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(f"local {kind}", dimension, rng)
    assert isinstance(domain, Localised)
    points = domain.center + 10.0 ** rng.uniform(-1, 2, (5, 1)) * rng.standard_normal((5, dimension))
    nearest, multipliers = domain.project_with_multiplier(points)
    pull = multipliers[:, np.newaxis] * (nearest - domain.center)
    rest = points - nearest - pull
    scale = 1e-11 * (size_of(domain.base) + np.linalg.norm(points, axis=1))
    assert (multipliers >= 0).all()
    assert (domain.base.support(rest) - np.einsum("ij,ij->i", rest, nearest) <= scale * size_of(domain.base)).all()
    assert (multipliers * (domain.radius - np.linalg.norm(nearest - domain.center, axis=1)) <= scale).all()
    single, multiplier = domain.project_with_multiplier(points[0])
    assert single == pytest.approx(nearest[0], abs=float(scale[0]))
    assert float(multiplier) == pytest.approx(multipliers[0], rel=1e-9, abs=float(scale[0]) / domain.radius)


# ------------------------------------------------------------------------------------------- support and extent


@settings(deadline=None, max_examples=40)
@given(domain=any_domain, seed=seeds)
def test_support_is_an_upper_bound_that_its_point_attains(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((6, domain.dimension))
    directions[0] = np.eye(domain.dimension)[0]
    values = domain.support(directions)
    inner = points_of(domain, rng, 60)
    assert (directions @ inner.T <= values[:, np.newaxis]).all()
    for direction, value in zip(directions, values, strict=True):
        point = domain.support_point(direction)
        assert domain.contains(point)
        assert 0 <= value - direction @ point <= 1e-10 * np.linalg.norm(direction) * size_of(domain)
        assert float(domain.support(direction)) == pytest.approx(value, abs=1e-12 * size_of(domain) * 10)


@pytest.mark.parametrize("tilt", [1e-12, 1e-10, 1e-8, 1e-5, 1e-2])
def test_support_of_a_localised_set_in_directions_almost_normal_to_a_face(tilt: float) -> None:
    """The best point is the corner (1, 1) if the ball reaches it, and near its rim on the face otherwise."""
    box = Box([-1.0, -1.0], [1.0, 1.0])
    direction = np.array([1.0, tilt])
    for domain, best in (
        (Localised(box, [0.0, 0.0], 1.9), 1 + tilt),
        (Localised(box, [0.9, 0.0], 0.5), 1 + tilt * np.sqrt(0.25 - 0.01)),
    ):
        assert best <= float(domain.support(direction)) + 1e-15 <= best + 2e-12
        assert direction @ domain.support_point(direction) >= best - 2e-12


def test_support_of_a_polytope_does_not_rest_on_its_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(12)
    domain = random_domain("polytope", 3, rng)
    directions = rng.standard_normal((50, 3))
    right = domain.support(directions)
    find, far_weights = Polytope._extreme_point, domains.far_weights
    for astray in (0.3, 1.0, 10.0):
        shift = astray * rng.standard_normal(3)

        def shifted(facets: Any, points: np.ndarray, units: np.ndarray, far: float, by: np.ndarray = shift) -> Any:
            return far_weights(facets, points, units + by, far)

        monkeypatch.setattr(domains, "far_weights", shifted)
        assert domain.support(directions) == pytest.approx(right, abs=1e-10)  # what does not prove enough is not used
        monkeypatch.setattr(Polytope, "_extreme_point", lambda self, u, by=shift: find(self, u + by))
        wrong = domain.support(directions)
        monkeypatch.setattr(Polytope, "_extreme_point", find)
        assert (wrong >= right - 1e-10).all()
        assert (wrong > right + 1e-3).any()


def test_missing_vertices_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful:
        def __init__(self, halfspaces: np.ndarray, inside: np.ndarray) -> None:
            self.intersections = HalfspaceIntersection(halfspaces, inside).intersections[:-1]

    triangle = np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]])
    assert Polytope(triangle, [0.0, 0.0, 1.0]).diameter_is_exact
    monkeypatch.setattr(domains, "HalfspaceIntersection", Forgetful)
    domain = Polytope(triangle, [0.0, 0.0, 1.0])
    assert not domain.diameter_is_exact
    assert domain.diameter_upper() >= np.sqrt(2)


@settings(deadline=None, max_examples=100)
@given(seed=seeds, dimension=st.integers(1, 8))
def test_support_is_rounded_outward(seed: int, dimension: int) -> None:
    """Against exact rational arithmetic, with the one square root in 50 digits."""
    rng = np.random.default_rng(seed)
    center, direction = 10.0 ** rng.uniform(-3, 3) * rng.standard_normal(dimension), rng.standard_normal(dimension)
    width = rng.uniform(0.1, 1, dimension)
    exact = [Fraction(u) for u in direction]
    middle = sum(u * Fraction(c) for u, c in zip(exact, center, strict=True))
    box = Box(center, center + width)
    corner = sum(
        max(u * Fraction(low), u * Fraction(high)) for u, low, high in zip(exact, box.lower, box.upper, strict=True)
    )
    assert Fraction(float(box.support(direction))) >= corner
    diamond = L1Ball(center, width[0])
    assert Fraction(float(diamond.support(direction))) >= middle + Fraction(width[0]) * max(abs(u) for u in exact)
    with mpmath.workdps(50):
        squares = sum(u * u for u in exact)
        length = mpmath.sqrt(mpmath.mpf(squares.numerator) / squares.denominator)
        value = mpmath.mpf(middle.numerator) / middle.denominator + mpmath.mpf(width[0]) * length
        assert mpmath.mpf(float(Ball(center, width[0]).support(direction))) >= value


@pytest.mark.parametrize("kind", KINDS + LOCAL)
@pytest.mark.parametrize("power", [-1060, -600, 0, 600, 900])
def test_support_is_homogeneous_for_tiny_and_huge_directions(kind: str, power: int) -> None:
    rng = np.random.default_rng(5)
    domain = random_domain(kind, 3, rng)
    direction = np.array([1.0, -2.0, 0.5])
    scaled = np.ldexp(direction, power)
    assert float(domain.support(scaled)) == pytest.approx(np.ldexp(float(domain.support(direction)), power), rel=1e-3)
    assert domain.support_point(scaled) == pytest.approx(domain.support_point(direction), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS + LOCAL)
def test_support_of_no_direction_and_of_no_directions(kind: str) -> None:
    domain = random_domain(kind, 3, np.random.default_rng(6))
    assert float(domain.support(np.zeros(3))) == 0
    assert domain.contains(domain.support_point(np.zeros(3)))
    assert domain.support(np.empty((0, 3))).shape == (0,)
    assert domain.project(np.empty((0, 3))).shape == (0, 3)
    assert domain.contains(np.empty((0, 3))).shape == (0,)


def test_support_beyond_the_floats_is_infinite_or_the_least_float() -> None:
    huge = np.full(2, 1e308)
    assert Ball(np.zeros(2), 10.0).support(huge) == np.inf
    assert Ball(np.full(2, -1e3), 1.0).support(huge) == -np.finfo(np.float64).max


def corners_of(domain: Polytope) -> np.ndarray:
    """All vertices, by trying every set of as many facets as there are dimensions."""
    found = []
    for rows in itertools.combinations(range(len(domain.normals)), domain.dimension):
        normals, offsets = domain.normals[list(rows)], domain.offsets[list(rows)]
        if abs(np.linalg.det(normals / np.linalg.norm(normals, axis=1, keepdims=True))) > 1e-9:
            point = np.linalg.solve(normals, offsets)
            if domain.contains(point, 1e-9 * np.abs(domain.offsets).max()):
                found.append(point)
    return np.array(found)


def vertices_of(domain: Domain) -> np.ndarray:
    if isinstance(domain, Box):
        return np.array(list(itertools.product(*zip(domain.lower, domain.upper, strict=True))))
    if isinstance(domain, L1Ball):
        steps = domain.radius * np.eye(domain.dimension)
        return np.vstack([domain.center + steps, domain.center - steps])
    assert isinstance(domain, Polytope)
    return corners_of(domain)


@pytest.mark.parametrize("kind", ["box", "l1", "polytope"])
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_extent_of_sets_with_vertices_is_exact(kind: str, dimension: int) -> None:
    rng = np.random.default_rng([dimension, len(kind)])
    for _ in range(5):
        domain = random_domain(kind, dimension, rng)
        vertices = vertices_of(domain)
        apart = np.linalg.norm(vertices[:, np.newaxis] - vertices, axis=2).max()
        assert domain.diameter_is_exact
        assert apart * (1 - 1e-14) <= domain.diameter_upper() <= apart * (1 + 1e-9)
        for point in 3 * rng.standard_normal((5, dimension)):
            farthest = np.linalg.norm(vertices - point, axis=1).max()
            assert farthest * (1 - 1e-14) <= domain.max_norm_from(point) <= farthest * (1 + 1e-9)
        for direction in rng.standard_normal((5, dimension)):
            assert float(domain.support(direction)) == pytest.approx((vertices @ direction).max(), rel=1e-9)


def test_extent_of_round_sets() -> None:
    rng = np.random.default_rng(8)
    ball = Ball(np.array([3.0, 4.0]), 2.0)
    assert ball.diameter_upper() == 4.0
    assert ball.max_norm_from(np.zeros(2)) == pytest.approx(7.0, rel=1e-13)
    angles = np.linspace(0, 2 * np.pi, 20001)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    for axes in ([0.1, 1.0], [1.0, 1.0], [0.5, 0.6], [1e-3, 2.0]):
        basis = rotation(rng, 2)
        domain = Ellipsoid(rng.standard_normal(2), basis @ np.diag(np.square(axes)) @ basis.T)
        rim = domain.center + (circle * domain.axes) @ domain.basis.T
        assert domain.diameter_upper() == pytest.approx(2 * max(axes), rel=1e-12)
        on_short_axis = domain.center + 0.05 * domain.basis[:, 0]  # its farthest points are two
        for point in (domain.center, on_short_axis, domain.center + 2 * domain.basis[:, 1], rng.standard_normal(2)):
            farthest = np.linalg.norm(rim - point, axis=1).max()
            assert farthest * (1 - 1e-14) <= domain.max_norm_from(point) <= farthest * (1 + 1e-6)


@settings(deadline=None, max_examples=40)
@given(domain=any_domain, seed=seeds)
def test_extent_bounds_hold(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    inner = points_of(domain, rng, 60)
    rounding = 1 + 1e-14
    assert np.linalg.norm(inner[:, np.newaxis] - inner, axis=2).max() <= domain.diameter_upper() * rounding
    point = 3 * rng.standard_normal(domain.dimension)
    assert np.linalg.norm(inner - point, axis=1).max() <= domain.max_norm_from(point) * rounding
    if isinstance(domain, Localised):
        assert domain.diameter_upper() == min(domain.base.diameter_upper(), 2 * domain.radius)


def test_polytope_of_many_dimensions_is_bounded_by_its_box() -> None:
    normals = np.vstack([np.eye(8), -np.eye(8), np.ones((1, 8))])
    domain = Polytope(normals, np.concatenate([np.ones(16), [4.0]]))
    assert not domain.diameter_is_exact
    assert np.sqrt(32) <= domain.diameter_upper() <= np.sqrt(32) * (1 + 1e-9)
    assert np.sqrt(8) <= domain.max_norm_from(np.zeros(8)) <= np.sqrt(8) * (1 + 1e-9)
    assert float(domain.support(np.ones(8))) == pytest.approx(4.0, rel=1e-9)
    assert domain.support_point(np.ones(8)).sum() == pytest.approx(4.0, rel=1e-9)


def exact_corners(domain: Polytope) -> list[tuple[Fraction, Fraction]]:
    """The vertices of a plane polytope in rational arithmetic."""
    facets = [(Fraction(a), Fraction(b), Fraction(c)) for (a, b), c in zip(domain.normals, domain.offsets, strict=True)]
    corners = []
    for (a, b, c), (d, e, f) in itertools.combinations(facets, 2):
        if determinant := a * e - b * d:
            x, y = (c * e - b * f) / determinant, (a * f - c * d) / determinant
            if all(p * x + q * y <= r for p, q, r in facets):
                corners.append((x, y))
    return corners


@settings(deadline=None, max_examples=60)
@given(seed=seeds, far=st.floats(-3, 6))
def test_extent_and_support_of_polytopes_are_rounded_outward(seed: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    normals = np.vstack([np.eye(2), -np.eye(2), rng.standard_normal((4, 2))])
    middle = 10.0**far * rng.standard_normal(2)
    domain = Polytope(normals, normals @ middle + rng.uniform(0.3, 1, 8))
    corners = exact_corners(domain)
    pairs = itertools.combinations(corners, 2)
    assert Fraction(domain.diameter_upper()) ** 2 >= max((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 for p, q in pairs)
    for x, y in middle + rng.standard_normal((4, 2)):
        farthest = max((p - Fraction(x)) ** 2 + (q - Fraction(y)) ** 2 for p, q in corners)
        assert Fraction(domain.max_norm_from([x, y])) ** 2 >= farthest
        assert Fraction(float(domain.support([x, y]))) >= max(p * Fraction(x) + q * Fraction(y) for p, q in corners)


def test_far_facets_and_far_origins_cost_no_accuracy() -> None:
    normals = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0]])
    middle, half = np.array([1.0, -2.0]), 1e-6
    domain = Polytope(normals, np.concatenate([normals[:4] @ middle + half, [1e3]]))
    box = Box(middle - half, middle + half)
    assert domain.diameter_upper() == pytest.approx(2 * np.sqrt(2) * half, rel=1e-8)
    assert domain.interior_point() == pytest.approx(middle, abs=1e-12)
    points = middle + 3 * half * np.random.default_rng(13).standard_normal((20, 2))
    # Twice the pull inward, (d + 4)·EPS·(|normal|·|w| + |offset|) ≤ 24·EPS, and the rounding of the coordinates.
    assert np.abs(domain.project(points) - box.project(points)).max() <= 60 * domains.EPS
    # The outward rounding of both sums to less than 1000·EPS·‖u‖·‖w‖; a scale of 1e3 would show in it.
    assert domain.support(points) == pytest.approx(box.support(points), rel=1000 * domains.EPS)


def test_localised_set_knows_when_the_ball_does_not_cut() -> None:
    box = Box(-np.ones(3), np.ones(3))
    assert Localised(box, np.zeros(3), 2.0).diameter_is_exact
    assert not Localised(box, np.zeros(3), 1.0).diameter_is_exact
    assert Localised(box, np.zeros(3), 2.0).diameter_upper() == box.diameter_upper()


@settings(deadline=None, max_examples=40)
@given(domain=any_domain)
def test_interior_point_is_inside_with_room(domain: Domain) -> None:
    inside = domain.interior_point()
    steps = 1e-7 * np.eye(domain.dimension)
    assert domain.contains(np.vstack([inside + steps, inside - steps])).all()


@pytest.mark.parametrize("kind", KINDS + LOCAL)
def test_tolerance_widens_membership(kind: str) -> None:
    domain = random_domain(kind, 3, np.random.default_rng(9))
    edge = domain.support_point([1.0, 2.0, 3.0])
    beyond = edge + 1e-6 * (edge - domain.interior_point())
    assert domain.contains(edge)
    assert not domain.contains(beyond)
    assert domain.contains(beyond, tolerance=1e-2)


def test_membership_of_the_boundary_is_closed() -> None:
    assert Ball(np.zeros(2), 5.0).contains([[3.0, 4.0], [5.0, 0.0], [3.0, 4.000001]]).tolist() == [True, True, False]
    assert Box([0.0], [1.0]).contains([[0.0], [1.0], [1.0 + 1e-15], [-1e-300]]).tolist() == [True, True, False, False]
    assert L1Ball([0.0, 0.0], 1.0).contains([[0.5, -0.5], [0.5, 0.6]]).tolist() == [True, False]
    assert Ellipsoid([0.0, 0.0], np.diag([4.0, 1.0])).contains([[2.0, 0.0], [0.0, 1.5]]).tolist() == [True, False]
    assert Polytope([[1.0], [-1.0]], [1.0, 0.0]).contains([[1.0], [0.0], [1.1]]).tolist() == [True, True, False]


# --------------------------------------------------------------------------------------------- values and errors


def test_domains_are_frozen_copies() -> None:
    center = np.zeros(3)
    domain = Ball(center, 1.0)
    center[0] = 9.0
    assert domain.center[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        domain.center[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        domain.radius = 2.0  # type: ignore[misc]
    points = np.full((2, 3), 0.1)
    result = domain.project(points)
    result[0, 0] = 7.0
    assert points[0, 0] == 0.1
    assert hash(domain) != hash(unit_ball(3))


@pytest.mark.parametrize("kind", KINDS + LOCAL)
def test_every_kind_is_a_domain(kind: str) -> None:
    domain = random_domain(kind, 4, np.random.default_rng(10))
    assert isinstance(domain, Domain)
    assert domain.dimension == 4
    assert not isinstance(np.zeros(4), Domain)


STRIP = [[1.0, 0.0], [-1.0, 0.0]]
SQUARE = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: Ball([np.nan, 0.0], 1.0), "center"),
        (lambda: Ball([np.inf], 1.0), "center"),
        (lambda: Ball([[0.0]], 1.0), "center"),
        (lambda: Ball([], 1.0), "center"),
        (lambda: Ball([1e80], 1.0), "center"),
        (lambda: Ball(["a"], 1.0), "center"),
        (lambda: Ball([0.0], 0.0), "radius"),
        (lambda: Ball([0.0], -1.0), "radius"),
        (lambda: Ball([0.0], np.nan), "radius"),
        (lambda: Ball([0.0], np.inf), "radius"),
        (lambda: Ball([0.0], 1e-80), "radius"),
        (lambda: Ball([0.0], "1"), "radius"),
        (lambda: unit_ball(0), "dimension"),
        (lambda: unit_ball(1.5), "dimension"),
        (lambda: Box([0.0, 0.0], [1.0]), "upper"),
        (lambda: Box([0.0, 1.0], [1.0, 1.0]), r"lower\[1\]"),
        (lambda: Box([2.0], [1.0]), r"lower\[0\]"),
        (lambda: Box([0.0], [np.nan]), "upper"),
        (lambda: L1Ball([0.0], 0.0), "radius"),
        (lambda: L1Ball([np.nan], 1.0), "center"),
        (lambda: Ellipsoid([0.0, 0.0], np.eye(3)), "shape"),
        (lambda: Ellipsoid([0.0, 0.0], np.ones((3, 2))), "shape"),
        (lambda: Ellipsoid([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]]), "shape.*symmetric"),
        (lambda: Ellipsoid([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]), "shape.*positive definite"),
        (lambda: Ellipsoid([0.0, 0.0], np.zeros((2, 2))), "shape.*positive definite"),
        (lambda: Ellipsoid([0.0, 0.0], np.diag([1.0, 1e-13])), "shape.*positive definite"),
        (lambda: Ellipsoid([0.0, 0.0], [[np.nan, 0.0], [0.0, 1.0]]), "shape"),
        (lambda: Polytope(STRIP, [1.0, 1.0]), "bounded"),
        (lambda: Polytope(np.eye(2), [1.0, 1.0]), "bounded"),
        (lambda: Polytope([[1.0], [2.0]], [1.0, 1.0]), "bounded"),
        (lambda: Polytope(SQUARE, [1.0, -2.0, 1.0, 1.0]), "interior"),
        (lambda: Polytope(SQUARE, [1.0, -1.0, 1.0, 1.0]), "interior"),
        (lambda: Polytope(SQUARE, [1.0, -1.0 + 1e-9, 1.0, 1.0]), "interior"),
        (lambda: Polytope(SQUARE, [1.0, -1.0 + 1e-7, 1.0, 1.0]), "thin"),
        (lambda: Polytope(SQUARE, np.zeros(4)), "offsets"),
        (lambda: Polytope(SQUARE, [1.0, 1.0, 1.0]), "offsets"),
        (lambda: Polytope(SQUARE, [1.0, np.nan, 1.0, 1.0]), "offsets"),
        (lambda: Polytope([*SQUARE, [0.0, 0.0]], np.ones(5)), "normals"),
        (lambda: Polytope(np.ones(3), np.ones(3)), "normals"),
        (lambda: Polytope(np.empty((0, 2)), []), "offsets"),
        (lambda: Localised(unit_ball(2), [1.0, 1.0], 1.0), "center"),
        (lambda: Localised(unit_ball(2), [0.0, 0.0, 0.0], 1.0), "center"),
        (lambda: Localised(unit_ball(2), [0.0, np.nan], 1.0), "center"),
        (lambda: Localised(unit_ball(2), [0.0, 0.0], 0.0), "radius"),
        (lambda: Localised("ball", [0.0, 0.0], 1.0), "base"),
    ],
)
def test_bad_sets_are_refused(make: Any, names: str) -> None:
    with pytest.raises(InputError, match=names):
        make()


@settings(deadline=None, max_examples=40)
@given(
    domain=any_domain,
    method=st.sampled_from(["contains", "project", "support", "support_point", "max_norm_from"]),
    bad=st.sampled_from([np.nan, np.inf, -np.inf, "shape", "columns", "depth", "text"]),
)
def test_bad_points_are_refused(domain: Domain, method: str, bad: Any) -> None:
    point: Any = np.zeros(domain.dimension)
    if bad == "shape":
        point = 0.0
    elif bad == "columns":
        point = np.zeros(domain.dimension + 1)
    elif bad == "depth":
        point = np.zeros((1, 1, domain.dimension))
    elif bad == "text":
        point = ["a"] * domain.dimension
    else:
        point[-1] = bad
    with pytest.raises(InputError, match=r"point|direction"):
        getattr(domain, method)(point)


@pytest.mark.parametrize("kind", KINDS + LOCAL)
def test_bad_tolerances_and_huge_points_are_refused(kind: str) -> None:
    domain = random_domain(kind, 2, np.random.default_rng(11))
    for tolerance in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="tolerance"):
            domain.contains(np.zeros(2), tolerance)
    with pytest.raises(InputError, match="points"):
        domain.project([0.0, 1e71])


def test_domains_are_read_from_text() -> None:
    ball = parse_domain("ball:2.5", 3)
    assert isinstance(ball, Ball)
    assert (ball.radius, ball.center.tolist()) == (2.5, [0.0, 0.0, 0.0])
    box = parse_domain("box:-1,1", 2)
    assert isinstance(box, Box)
    assert (box.lower.tolist(), box.upper.tolist()) == ([-1.0, -1.0], [1.0, 1.0])
    diamond = parse_domain("l1:3", 2)
    assert isinstance(diamond, L1Ball)
    assert diamond.radius == 3.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ball",
        "ball:",
        "ball:x",
        "ball:1,2",
        "box:1",
        "box:1,2,3",
        "box:2,1",
        "cube:1",
        "l1:-1",
        "ball:nan",
        "ball:inf",
    ],
)
def test_bad_text_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_domain(text, 2)


def test_bad_dimension_of_text_is_refused() -> None:
    with pytest.raises(InputError, match="dimension"):
        parse_domain("ball:1", 0)


# -------------------------------------------------------------------------------------------- membership beyond doubt


def is_member(domain: Domain, point: np.ndarray) -> bool:
    """In exact rational arithmetic, from the numbers that define the set (an ellipsoid's are its axes and basis)."""
    w = [Fraction(a) for a in point]
    match domain:
        case Ball():
            return sum((a - Fraction(c)) ** 2 for a, c in zip(w, domain.center, strict=True)) <= Fraction(domain.radius) ** 2
        case Box():
            return all(Fraction(b) <= a <= Fraction(c) for b, a, c in zip(domain.lower, w, domain.upper, strict=True))
        case L1Ball():
            return sum(abs(a - Fraction(c)) for a, c in zip(w, domain.center, strict=True)) <= Fraction(domain.radius)
        case Ellipsoid():
            offset = [a - Fraction(c) for a, c in zip(w, domain.center, strict=True)]
            along = [sum(o * Fraction(b) for o, b in zip(offset, column, strict=True)) for column in domain.basis.T]
            return sum((a / Fraction(axis)) ** 2 for a, axis in zip(along, domain.axes, strict=True)) <= 1
        case Polytope():
            return all(
                sum(Fraction(n) * a for n, a in zip(normal, w, strict=True)) <= Fraction(offset)
                for normal, offset in zip(domain.normals, domain.offsets, strict=True)
            )
        case Localised():
            return is_member(domain.base, point) and is_member(domain.ball, point)
    raise AssertionError(domain)


@settings(deadline=None, max_examples=60)
@given(domain=any_domain, seed=seeds)
def test_sure_members_are_members_in_exact_arithmetic(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    middle = domain.interior_point()
    edge = domain.project(middle + 3 * domain.diameter_upper() * rng.standard_normal((12, domain.dimension)))
    assert domain.surely_contains(middle)
    if not isinstance(domain, Localised):  # a projection that moves a point lands inside whatever the rounding
        assert domain.surely_contains(edge).all()
    points = at_the_boundary(domain, middle, edge - middle)
    assert all(is_member(domain, point) for point in points[domain.surely_contains(points)])


def at_the_boundary(domain: Domain, middle: np.ndarray, rays: np.ndarray) -> np.ndarray:
    """Points of the rays around the place where `contains` changes, in steps of half a rounding."""
    low, high = np.full((len(rays), 1), 0.5), np.full((len(rays), 1), 2.0)
    for _ in range(52):
        inside = domain.contains(middle + (low + high) / 2 * rays)[:, np.newaxis]
        low, high = np.where(inside, (low + high) / 2, low), np.where(inside, high, (low + high) / 2)
    return np.vstack([middle + (low + step * domains.EPS / 2) * rays for step in range(-6, 4)])


@settings(deadline=None, max_examples=30)
@given(seed=seeds, dimension=st.integers(2, 12))
def test_sure_membership_of_the_flattest_ellipsoids(seed: int, dimension: int) -> None:
    """Axes from 1e-6 to 1: the rounding of a long offset along the basis is a large part of the short axes."""
    rng = np.random.default_rng(seed)
    basis, axes = rotation(rng, dimension), np.concatenate([[1.0], 10.0 ** rng.uniform(-5.8, -5, dimension - 1)])
    domain = Ellipsoid(rng.standard_normal(dimension), (basis * axes**2) @ basis.T)
    edge = np.array([domain.support_point(u) for u in rng.standard_normal((8, dimension))])
    points = at_the_boundary(domain, domain.center, edge - domain.center)
    assert all(is_member(domain, point) for point in points[domain.surely_contains(points)])
    assert domain.surely_contains(domain.center + (1 - 1e-6) * (edge - domain.center)).all()


def test_sure_membership_of_a_turned_cube_far_from_the_origin() -> None:
    rng = np.random.default_rng(14)
    basis, center = rotation(rng, 8), 10 * rng.standard_normal(8)
    normals = np.vstack([basis, -basis])
    domain = Polytope(normals, normals @ center + 1)
    rays = rng.standard_normal((100, 8))
    points = at_the_boundary(domain, center, rays / (rays @ normals.T).max(axis=1, keepdims=True))
    assert not all(is_member(domain, point) for point in points[domain.contains(points)])
    assert all(is_member(domain, point) for point in points[domain.surely_contains(points)])


def test_sure_membership_is_exact_where_nothing_rounds() -> None:
    corner = Polytope(np.vstack([np.eye(2), -np.eye(2)]), [1.0, 1.0, 0.0, 0.0])
    assert corner.surely_contains([[0.0, 0.5], [0.0, 0.0]]).tolist() == [True, True]
    tiny = 2.0**-1060
    slanted = Polytope([[1.0, 1.0], [-(2.0**-40), 2.0**-40], [0.0, -1.0]], [1.0, 0.0, 1.0])
    # The product of the second facet underflows: the point is outside by 2⁻¹¹⁰⁰.
    assert slanted.contains([0.0, tiny])
    assert not slanted.surely_contains([0.0, tiny])
    box = Box([0.0, 0.0], [1.0, 1.0])
    assert box.surely_contains([[0.0, 1.0], [0.0, np.nextafter(1.0, 2.0)]]).tolist() == [True, False]


@pytest.mark.parametrize("kind", LOCAL + NESTED)
def test_ball_parts_make_the_bound_of_a_localised_support_tight(kind: str) -> None:
    rng = np.random.default_rng(9)
    domain = random_domain(kind, 3, rng)
    assert isinstance(domain, Localised)
    directions = rng.standard_normal((20, 3))
    parts = domain.ball_parts(directions)
    bound = domain.base.support(directions - parts) + domain.ball.support(parts)
    assert bound == pytest.approx(domain.support(directions), abs=1e-10 * size_of(domain))
    assert domain.ball_parts(directions[3]) == pytest.approx(parts[3], abs=1e-6)
    assert not domain.ball_parts(np.zeros(3)).any()


@settings(deadline=None, max_examples=25)
@given(seed=seeds, dimension=st.integers(1, 6), far=st.floats(-3, 4))
def test_many_points_are_projected_on_a_polytope_as_one_by_one(seed: int, dimension: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    facets = np.vstack([rng.standard_normal((3 * dimension, dimension)), np.eye(dimension), -np.eye(dimension)])
    polytope = Polytope(facets, rng.uniform(0.5, 1.5, len(facets)))
    form = polytope._form
    targets = 10.0**far * rng.standard_normal((40, dimension))
    single = np.array([domains._nearest_in_polytope(target, form.unit, form.slack) for target in targets])
    cold = nearest_of_many(targets, form.facets)
    moved = nearest_of_many(targets + 0.1 * 10.0**far * rng.standard_normal(targets.shape), form.facets)
    for found in (cold, nearest_of_many(targets, form.facets, moved.sets)):
        done = np.setdiff1d(np.arange(40), found.open_rows)
        assert np.abs(found.points - single)[done].max(initial=0.0) <= 1e-11 * (1 + 10.0**far)
        made_up = found.weights @ form.unit
        assert np.abs(targets - found.points - made_up)[done].max(initial=0.0) <= 1e-11 * (1 + 10.0**far)
        assert done.size >= 30


@settings(deadline=None, max_examples=25)
@given(seed=seeds, dimension=st.integers(2, 8))
def test_facet_weights_prove_the_support_at_points_of_the_boundary(seed: int, dimension: int) -> None:
    """The bound Σ η(b − ⟨a, y⟩) + ‖u − Σ ηa‖·diameter against a linear program, where u is normal at y and where it is not."""
    rng = np.random.default_rng(seed)
    domain = random_domain("polytope", dimension, rng)
    assert isinstance(domain, Polytope)
    targets = domain.interior_point() + 3 * size_of(domain) * rng.standard_normal((20, dimension))
    y = domain.project(targets)
    for u, exactness in ((targets - y, 1e-10), (rng.standard_normal(y.shape), 1e-2)):
        weights = domain.facet_weights(u, y)
        assert (weights >= 0).all()
        room = domain.offsets - y @ domain.normals.T
        rest = np.linalg.norm(u - weights @ domain.normals, axis=1)
        bound = np.einsum("ij,ij->i", weights, np.maximum(room, 0.0)) + rest * domain.diameter_upper()
        true = np.array([domain.support_point(row) @ row for row in u]) - np.einsum("ij,ij->i", u, y)
        size = size_of(domain) * np.linalg.norm(u, axis=1)
        assert (bound >= true - 1e-10 * size).all()
        assert (bound <= true + exactness * size).all()


@pytest.mark.parametrize("domain", [unit_ball(2), Box([-1.0, -1.0], [1.0, 1.0]), L1Ball([0.0, 0.0], 1.0)])
def test_support_of_a_far_direction_of_negative_entries(domain: Domain) -> None:
    """The largest entry by size is the one that counts, whatever its sign."""
    assert float(domain.support([-1e200, -1.0])) == pytest.approx(1e200)
