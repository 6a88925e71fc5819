"""The lazy Metropolis walk against 200-digit arithmetic, eigenvalues, simulation; privacy of its exact law."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import binom
from tests.refimpl.random_domains import random_domain

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, Polytope
from tailproof.refimpl.laws import same_law
from tailproof.refimpl.pure_dp import grid_walk
from tailproof.refimpl.pure_dp.grid_walk import (
    Grid,
    GridWalk,
    cubic_grid,
    gap_lower,
    gap_of_convex,
    law_error_upper,
    least_energy,
    max_divergence,
    most_steps,
    steps_by_law,
    steps_for,
    target,
    transition_matrix,
)
from tailproof.refimpl.validation import FloatArray, InputError, IntArray

SEEDS = st.integers(0, 2**32 - 1)


def walk_of(energies: FloatArray, neighbours: IntArray, start: int, steps: int) -> GridWalk:
    return GridWalk(-energies, 1.0, neighbours, start, steps)


def grid_of(d: int, cells: int) -> Grid:
    return cubic_grid(Box(-np.ones(d), np.ones(d)), 2 / (cells - 0.5))


def random_energies(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Flat, tilted, bowl, tent, valley, or without any shape."""
    size, slope = 10 ** rng.uniform(-1, 2), rng.normal(size=points.shape[1])
    shapes = (
        0 * points[:, 0],
        points @ slope,
        ((points - 0.3) ** 2).sum(axis=1),
        np.abs(points @ slope - 0.2),
        (points @ slope) ** 2 + 0.1 * np.abs(points).sum(axis=1),
        0.03 * rng.normal(size=len(points)),
    )
    return size * shapes[int(rng.integers(len(shapes)))]


# --- the grid -------------------------------------------------------------------------------------------------------------


def test_on_an_interval_and_a_square() -> None:
    line = cubic_grid(Box([0.0], [1.0]), 0.25)
    assert line.points[:, 0] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert line.neighbours.tolist() == [[0, 1], [0, 2], [1, 3], [2, 4], [3, 4]]
    square = cubic_grid(Box([0.0, 0.0], [1.0, 2.0]), 0.5)
    assert len(square) == 15
    for column, move in enumerate([[-0.5, 0], [0.5, 0], [0, -0.5], [0, 0.5]]):
        there = square.neighbours[:, column]
        moved = there != np.arange(15)
        assert moved.sum() == (10 if move[0] else 12)
        assert square.points[there[moved]] - square.points[moved] == pytest.approx(np.tile(move, (moved.sum(), 1)))
    assert len(cubic_grid(Ball([3.0, 1.0, 0.0], 0.1), 7.0)) == 1


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, d=st.integers(1, 3), kind=st.sampled_from(["ball", "box", "l1", "ellipsoid", "localised", "polytope"]))
def test_a_grid_lies_in_the_set_and_covers_it(seed: int, d: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(kind, d, rng)
    spacing = rng.uniform(0.15, 1.5)
    grid = cubic_grid(domain, spacing)  # checks that it is connected
    assert domain.contains(grid.points).all()
    inside = domain.project(domain.interior_point() + rng.normal(size=(50, d)))
    distances = np.linalg.norm(inside[:, np.newaxis] - grid.points, axis=2).min(axis=1)
    assert distances.max() <= spacing * math.sqrt(d) / 2 * (1 + 1e-9)


def thin_sets() -> Iterator[Domain]:
    along, across = np.array([2.0, 1.0]) / math.sqrt(5), np.array([-1.0, 2.0]) / math.sqrt(5)
    yield Ellipsoid(np.zeros(2), 9 * np.outer(along, along) + 0.01 * np.outer(across, across))
    yield Polytope(np.array([across, -across, along, -along]), np.array([0.05, 0.05, 3, 3]))
    yield Ellipsoid(np.zeros(2), np.array([[4, 4 - 1e-6], [4 - 1e-6, 4]]))  # a diagonal, from which others are nearly r away
    axis = np.array([1.0, 1.1, 0.9]) / math.sqrt(1 + 1.21 + 0.81)
    yield Ellipsoid(np.zeros(3), 4 * (np.eye(3) - np.outer(axis, axis)) + 0.004 * np.outer(axis, axis))


@pytest.mark.parametrize("domain", list(thin_sets()))
def test_thin_and_tilted_sets_have_connected_grids_though_the_points_inside_are_not(domain: Domain) -> None:
    spacing, d = 0.3, domain.dimension
    grid = cubic_grid(domain, spacing)
    assert len(grid) >= 6 / spacing
    box = np.indices([41] * d).reshape(d, -1).T - 20
    inside = box[domain.contains(spacing * box)]
    beside = np.abs(inside[:, np.newaxis] - inside).sum(axis=2) == 1
    assert connected_components(csr_array(beside))[0] > 1


def test_a_grid_that_is_too_large_is_refused_before_it_is_built() -> None:
    with pytest.raises(InputError, match="would have up to 2001 points; at most 2000"):
        cubic_grid(Box([0.0], [1.0]), 1 / 2000.5, most=2000)
    with pytest.raises(InputError, match=r"would have up to \d{100,} points"):
        cubic_grid(Ball(np.zeros(9), 1.0), 1e-30)


def test_grids_that_are_none_are_refused() -> None:
    points = np.zeros((3, 1))
    with pytest.raises(InputError, match="not connected"):
        Grid(points, np.array([[0, 1], [0, 1], [2, 2]]))
    with pytest.raises(InputError, match="is not undone"):
        Grid(points, np.array([[0, 1], [0, 2], [0, 2]]))
    with pytest.raises(InputError, match="must be indices"):
        Grid(points, np.array([[0, 1], [0, 2], [1, 3]]))
    with pytest.raises(InputError, match="whole numbers"):
        Grid(points, np.zeros((3, 2)))
    with pytest.raises(InputError, match="does not fit"):
        Grid(np.zeros((3, 2)), np.array([[0, 1], [0, 2], [1, 2]]))


# --- the walk -------------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, d=st.integers(1, 3))
def test_the_transition_matrix_is_stochastic_lazy_and_reversible(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    grid = cubic_grid(random_domain("ball", d, rng), rng.uniform(0.3, 0.6))
    energies = random_energies(grid.points, rng)
    energies *= min(1.0, 600 / max(np.ptp(energies), 1.0))  # e^{−745} is 0
    P, log_pi = transition_matrix(energies, grid.neighbours), target(energies)
    assert P.sum(axis=1) == pytest.approx(np.ones(len(grid)), rel=1e-14)
    assert (np.diag(P) >= 0.5 - 1e-15).all()
    assert (P >= 0).all()
    x, y = np.nonzero((P > 0) & ~np.eye(len(grid), dtype=bool))
    assert len(x) == (grid.neighbours != np.arange(len(grid))[:, np.newaxis]).sum()
    assert log_pi[x] + np.log(P[x, y]) == pytest.approx(log_pi[y] + np.log(P[y, x]), rel=1e-12)
    assert P[x, y] == pytest.approx(np.minimum(1, np.exp(energies[x] - energies[y])) / (4 * d), rel=1e-12)


def exact_law(heights: list[int], neighbours: list[list[int]], start: int, steps: int) -> list[mpmath.mpf]:
    """The law for energies heights·log 2, step by step: all terms are positive, with 200 digits each."""
    law = [mpmath.mpf(x == start) for x in range(len(heights))]
    for _ in range(steps):
        new = [p / 2 for p in law]
        for x, row in enumerate(neighbours):
            for y in row:
                accepted = law[x] * mpmath.ldexp(1, min(0, heights[x] - heights[y])) / (2 * len(row))
                new[y] += accepted
                new[x] += law[x] / (2 * len(row)) - accepted
        law = new
    return law


@pytest.mark.parametrize("height", [1, 900])
@pytest.mark.parametrize(("d", "steps"), [(1, 1), (1, 5), (1, 61), (2, 3), (2, 32)])
def test_the_law_is_that_of_200_digits(d: int, steps: int, height: int) -> None:
    """Energies up to some thousands: the least probabilities keep their digits."""
    grid = grid_of(d, 9 if d == 1 else 4)
    heights = [height * round(4 * abs(p).sum()) for p in grid.points + 0.02]
    walk = walk_of(math.log(2) * np.array(heights), grid.neighbours, int(np.argmin(heights)), steps)
    with mpmath.workdps(200):
        exact = exact_law(heights, grid.neighbours.tolist(), walk.start, steps)
        logs = [float(mpmath.log(probability)) if probability else -math.inf for probability in exact]
        assert abs(sum(exact) - 1) < 1e-190
    assert min(p for p in logs if p > -math.inf) < -0.69 * height
    assert walk.log_probabilities() == pytest.approx(np.array(logs), abs=1e-11)
    assert [walk.logpdf(np.asarray(index)) for index in range(len(grid))] == walk.log_probabilities().tolist()


def test_the_law_after_very_many_steps_is_the_target() -> None:
    rng = np.random.default_rng()
    for d, cells in ((1, 60), (2, 8)):
        grid = grid_of(d, cells)
        energies = random_energies(grid.points, rng)
        assert max_divergence(walk_of(energies, grid.neighbours, least_energy(energies), 2**40)) < 1e-11


def test_the_law_is_refused_where_it_underflows() -> None:
    """1000 moves down a slope, each of probability ¼, and 1000 steps: 4^{−1000}."""
    grid = grid_of(1, 1001)
    walk = walk_of(np.arange(1001.0), grid.neighbours, 0, 1000)
    with pytest.raises(InputError, match="underflow"):
        walk.log_probabilities()


@pytest.mark.parametrize(("d", "cells", "steps"), [(1, 7, 11), (2, 4, 9)])
def test_samples_follow_the_exact_law(d: int, cells: int, steps: int) -> None:
    """Counts of every index within the binomial law's range; false alarm ≤ 1e-6 in all."""
    rng = np.random.default_rng()
    grid = grid_of(d, cells)
    walk = walk_of(1.5 * np.abs(grid.points @ np.arange(1, d + 1) - 0.3), grid.neighbours, cells // 2, steps)
    runs = 10_000
    counts = np.bincount([int(walk.sample(rng)) for _ in range(runs)], minlength=len(grid))
    share, probabilities = 1e-6 / (2 * len(grid)), np.exp(walk.log_probabilities())
    assert probabilities.sum() == pytest.approx(1, rel=1e-13)
    assert (counts >= binom.ppf(share, runs, probabilities) - 1).all()
    assert (counts <= binom.isf(share, runs, probabilities) + 1).all()


def test_long_walks_go_through_several_blocks() -> None:
    """Deep in a well but for a probability of 1e-8."""
    grid = grid_of(1, 21)
    energies = 20 * np.abs(np.arange(21.0) - 4)
    walk = walk_of(energies, grid.neighbours, 20, 5 * grid_walk.BLOCK)
    assert int(walk.sample(np.random.default_rng())) == 4


def test_equal_walks_are_the_same_law() -> None:
    grid = grid_of(2, 4)
    walks = [
        walk_of(grid.points[:, 0], cubic_grid(Box(-np.ones(2), np.ones(2)), 2 / 3.5).neighbours, 3, 7) for _ in range(2)
    ]
    assert same_law(*walks)
    assert not same_law(walks[0], walk_of(grid.points[:, 0], grid.neighbours, 3, 8))


# --- the gap --------------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, d=st.integers(1, 3))
def test_the_gap_is_that_of_the_matrix_itself_and_the_paths_stay_below(seed: int, d: int) -> None:
    """A second method: P's own eigenvalues, not those of its symmetric form; by Bauer and Fike, they are √(max π/min π) times as
    sensitive to rounding."""
    rng = np.random.default_rng(seed)
    grid = cubic_grid(random_domain("ball", d, rng), rng.uniform(0.35, 0.7))
    energies = random_energies(grid.points, rng)
    if len(grid) == 1:
        assert steps_for(energies, grid, 0, 0.1) == 0
        return
    values = np.sort(np.linalg.eigvals(transition_matrix(energies, grid.neighbours)).real)
    rounding = 1e-14 * len(grid) * math.exp(min(np.ptp(energies) / 2, 99))  # `gap_lower` takes off a third of that itself
    assert values[0] > -rounding
    exact, paths = gap_lower(energies, grid), gap_lower(energies, grid, method="paths")
    assert exact == pytest.approx(1 - values[-2], abs=rounding)
    assert 0 < paths <= exact
    if d == 1:
        assert paths >= exact / 60


@pytest.mark.parametrize(("d", "cells", "worst"), [(1, 40, 0.95), (1, 41, 0.99), (2, 15, 0.1), (3, 7, 0.03)])
def test_the_gap_of_a_flat_box_is_known(d: int, cells: int, worst: float) -> None:
    grid = grid_of(d, cells)
    flat, known = np.zeros(len(grid)), (1 - math.cos(math.pi / cells)) / (2 * d)
    assert gap_lower(flat, grid) == pytest.approx(known, rel=1e-9)
    assert worst <= gap_lower(flat, grid, method="paths") / known <= 1


def test_a_large_grid_s_gap_by_paths() -> None:
    """60,000 points; the bowl's gap is that of a smaller grid over its middle, up to the paths' loss."""
    grid = grid_of(2, 245)
    energies = 100 * (grid.points**2).sum(axis=1)
    proven = gap_lower(energies, grid, method="paths")
    # V = a·k² per axis and rates of 1/8: near the Ornstein–Uhlenbeck process, whose gap is 2a/8
    assert 0.05 <= proven / (2 * 100 * (2 / 244.5) ** 2 / 8) <= 1


def test_a_barrier_that_floats_hide_is_seen_by_paths() -> None:
    """Two wells, a wall of height 60 between: a gap of about e^{−60}, far below rounding."""
    grid = grid_of(1, 9)
    energies = np.array([0, 0, 0, 0, 60.0, 0, 0, 0, 0])
    gap = gap_lower(energies, grid)
    # conductance e^{−60}/(2·8·4) of an edge at the wall: two in series between halves of mass ½
    assert 0.1 <= gap / (4 * math.exp(-60) / (2 * 8 * 4) * 8 / 2) <= 1.0
    assert steps_for(np.minimum(energies, 20), grid, 0, 0.1) > 1e9
    with pytest.raises(InputError, match="steps would be needed"):
        steps_for(20 * energies, grid, 0, 0.1)
    with pytest.raises(InputError, match="rounding hides"):
        steps_by_law(energies, grid, 0, 0.1)


@pytest.mark.parametrize("d", [1, 2])
def test_convex_energies_have_a_public_gap(d: int) -> None:
    """Bowls, tents and valleys of all steepnesses on balls, boxes and thin sets; coarse grids too."""
    rng = np.random.default_rng(d)
    for _ in range(40):
        domain = random_domain(str(rng.choice(["ball", "box", "ellipsoid", "l1"])), d, rng)
        spacing = domain.diameter_upper() / rng.integers(3, 9)
        grid = cubic_grid(domain, spacing)
        tilts = rng.normal(size=(3, d)) * 10 ** rng.uniform(-1, 1.5) / domain.diameter_upper()
        centre = domain.project(grid.points[rng.integers(len(grid))] + rng.normal(size=d))
        energies = np.max((grid.points - centre) @ tilts.T, axis=1)
        rise = float(np.linalg.norm(tilts, axis=1).max()) * spacing
        known = gap_of_convex(grid, spacing=spacing, rise=rise)
        assert known <= gap_lower(energies, grid)
        start, spread = least_energy(energies), float(energies.max() - energies.min())
        assert steps_for(energies, grid, start, 0.01, known=known) <= most_steps(grid, gap=known, spread=spread, tau=0.01)
        assert steps_for(energies, grid, start, 0.01, known=1 - 1e-9) < 1e3


# --- how many steps -------------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, d=st.integers(1, 3), tau=st.sampled_from([1e-3, 0.1, 2.0]))
def test_steps_bring_the_law_within_tau(seed: int, d: int, tau: float) -> None:
    rng = np.random.default_rng(seed)
    grid = cubic_grid(random_domain("ball", d, rng), rng.uniform(0.35, 0.7))
    energies = random_energies(grid.points, rng)
    start = least_energy(energies)
    if gap_lower(energies, grid, method="paths") < 1e-15:  # narrow valleys on a coarse grid: walls of e^{60}
        return
    for method in ("exact", "paths"):
        steps = steps_for(energies, grid, start, tau, gap=method)
        if law_error_upper(steps, len(grid)) < tau / 10:  # not a landscape so rugged that floats cannot tell
            assert max_divergence(walk_of(energies, grid.neighbours, start, steps)) <= tau
    try:
        by_law = steps_by_law(energies, grid, start, tau)
    except InputError:
        assert law_error_upper(steps, len(grid)) > tau / 2
        return
    assert by_law <= max(1, 2 * steps)
    assert max_divergence(walk_of(energies, grid.neighbours, start, by_law)) <= tau
    if by_law > 64:
        half = walk_of(energies, grid.neighbours, start, by_law // 2)
        assert max_divergence(half) + law_error_upper(half.steps, len(grid)) > tau * (1 - 1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, d=st.integers(1, 2))
def test_the_bound_holds_at_every_number_of_steps_and_the_divergence_never_grows(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    grid = grid_of(d, int(rng.integers(2, 7)))
    energies = random_energies(grid.points, rng)
    start = int(rng.integers(len(grid))) if energies.max() - energies.min() < 100 else least_energy(energies)
    gap, log_pi, last = gap_lower(energies, grid), target(energies), math.inf
    for steps in (1, 2, 3, 5, 10, 20, 50, 100):
        walk = walk_of(energies, grid.neighbours, start, steps)
        error = np.abs(np.expm1(walk.log_ratios))
        bound = (1 - gap) ** steps * np.exp(-(log_pi + log_pi[start]) / 2)
        assert (error <= bound * (1 + 1e-6) + 1e-11).all()
        now = max_divergence(walk)
        assert now <= last + 1e-11
        last = now


# --- privacy --------------------------------------------------------------------------------------------------------------

EPSILON, TAU = 1.0, 0.05


def neighbouring_energies(points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """V and V' with osc(V − V') = ε₂ − 2τ: a record replaced in a risk of absolute losses, a tilt, or an extreme of any shape."""
    records = rng.normal(size=(10, points.shape[1]))
    losses = np.abs(points @ records.T - rng.normal(size=10))
    base = 10 ** rng.uniform(-1, 1.3) * losses[:, :8].mean(axis=1) + rng.choice([0.0, 3.0]) * (points**2).sum(axis=1)
    shapes = (
        losses[:, 8] - losses[:, 9],  # one record replaced
        points @ records[0],
        np.sign(points @ records[1] - 0.1),
        (np.arange(len(points)) == rng.integers(len(points))).astype(np.float64),
        (base == base.min()).astype(np.float64),
        (base == base.max()).astype(np.float64),
        rng.choice([-1.0, 1.0], size=len(points)),
    )
    change = shapes[int(rng.integers(len(shapes)))] * rng.choice([-1, 1])
    return base, base + change * ((EPSILON - 2 * TAU) / np.ptp(change) if np.ptp(change) else 0.0)


def loss_of(first: FloatArray, second: FloatArray, grid: Grid, divisor: int, method: str) -> float:
    """The largest privacy loss of the index, either way; each walk has its own start and steps."""
    laws = []
    for energies in (first, second):
        start = least_energy(energies)
        by_law = method == "law"
        steps = steps_by_law(energies, grid, start, TAU) if by_law else steps_for(energies, grid, start, TAU, gap=method)
        laws.append(walk_of(energies, grid.neighbours, start, steps // divisor).log_probabilities())
    possible = np.isfinite(laws[0]) | np.isfinite(laws[1])
    return float(np.abs(laws[0][possible] - laws[1][possible]).max())


@pytest.mark.parametrize("method", ["exact", "paths", "law"])
@pytest.mark.parametrize(
    ("domain", "spacing"), [(Box([-1.0], [1.0]), 0.07), (Ball(np.zeros(2), 1.0), 0.35)], ids=["d=1", "d=2"]
)
def test_the_index_is_private(domain: Domain, spacing: float, method: str) -> None:
    """Exact laws of 250 pairs in each dimension (60 for the other two ways); the losses come close to what is allowed."""
    rng, grid = np.random.default_rng(), cubic_grid(domain, spacing)
    pairs = [neighbouring_energies(grid.points, rng) for _ in range(250 if method == "exact" else 60)]
    losses = [loss_of(*pair, grid, 1, method) for pair in pairs]
    assert max(losses) <= EPSILON
    assert max(losses) > 0.9 * (EPSILON - 2 * TAU)


@pytest.mark.parametrize(
    ("domain", "spacing"), [(Box([-1.0], [1.0]), 0.07), (Ball(np.zeros(2), 1.0), 0.35)], ids=["d=1", "d=2"]
)
def test_a_fiftieth_of_the_steps_is_not_private(domain: Domain, spacing: float) -> None:
    rng, grid = np.random.default_rng(), cubic_grid(domain, spacing)
    pairs = [neighbouring_energies(grid.points, rng) for _ in range(60)]
    assert max(loss_of(*pair, grid, 50, "exact") for pair in pairs) > 2 * EPSILON
