"""The plain extension against grids, and its proofs of error against what the errors are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.domains import Ball, Box
from tailproof.refimpl.losses import Quadratic
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.plain import extension, losses
from tailproof.verification.plain.extension import Problem


def _records(loss: Any, n: int, d: int, rng: np.random.Generator, scale: float = 1.0) -> FloatArray:
    columns = d if loss == "affine" or isinstance(loss, Quadratic) else d + 1
    data = scale * rng.standard_t(3, size=(n, columns)) * rng.choice([0.0, 0.3, 1.0, 30.0], size=(n, 1))
    if loss in ("hinge", "logistic"):
        data[:, -1] = np.where(data[:, -1] < 0, -1.0, 1.0)
    return data


def _grid(domain: Any, count: int) -> FloatArray:
    """Points all over a set in the plane."""
    axis = np.linspace(-2, 2, count)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return np.array([losses.project(domain, place) for place in places])


def _extended(loss: Any, rows: FloatArray, inner: FloatArray, points: FloatArray, clip: float) -> FloatArray:
    """The mean of min over the inner points of f(y, x_i) + C‖w − y‖, for every w of `points`: never too small."""
    values = np.array([losses.values(loss, y, rows) for y in inner])
    away = clip * np.linalg.norm(points[:, None] - inner, axis=2)
    return np.asarray((away[:, :, None] + values[None]).min(axis=1).mean(axis=1))


_LOSSES: list[Any] = ["affine", "absolute", "hinge", "relu", "logistic", "squared"]


@pytest.mark.parametrize("domain", ["ball:1", "box:-1,0.5"])
@pytest.mark.parametrize("loss", _LOSSES)
def test_values_are_those_of_a_grid_and_their_errors_are_proved(loss: str, domain: str) -> None:
    rng = np.random.default_rng()
    rows, inner = _records(loss, 5, 2, rng), _grid(domain, 81)
    points = np.array([losses.project(domain, 2 * place) for place in rng.standard_normal((4, 2))])
    found, error = extension.values(loss, domain, rows, points, 0.7)
    assert error < 1e-7
    brute = _extended(loss, rows, inner, points, 0.7)
    assert (found <= brute + 1e-9 * (1 + np.abs(brute))).all()
    # every point of the set is within 0.036 of one of the grid, where f is larger by no more than its slope allows
    steep = np.linalg.norm([losses.gradients(loss, y, rows) for y in inner], axis=2).max(axis=0)
    assert (brute - found <= 0.036 * (0.7 + steep.mean()) + 1e-9).all()


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("loss", [*_LOSSES, "ridge:0.3:absolute", Quadratic(np.diag([1.0, 0.05]))], ids=str)
def test_no_point_is_better_than_the_minimiser(loss: Any, part: bool) -> None:
    """F at points of the set exceeds F at the minimiser by at least (λ/2) times the square of their distance."""
    rng = np.random.default_rng()
    rows, centre, weight, clip = _records(loss, 4, 2, rng), np.array([0.2, -0.1]), 0.8, 0.6
    within: Any = losses.Cut("ball:1", np.array([0.5, 0.3]), 0.4) if part else "ball:1"
    found, error = extension.minimiser(Problem(loss, rows, "ball:1", within, centre, weight, clip))
    assert error < 0.02
    assert np.allclose(losses.project(within, found), found, atol=1e-12)
    inner, tried = _grid("ball:1", 61), _grid(within, 31)
    start = _extended(loss, rows, np.vstack([inner, found]), found[None], clip)
    risks = _extended(loss, rows, np.vstack([inner, found, tried]), tried, clip)
    change = risks - start + weight / 2 * (((tried - centre) ** 2).sum(axis=1) - ((found - centre) ** 2).sum())
    apart = np.linalg.norm(tried - found, axis=1)
    # brute force is too large at `found`, too, by what the nearest point of the grid costs
    steep = np.linalg.norm([losses.gradients(loss, y, rows) for y in inner], axis=2).max(axis=0)
    lost = 0.048 * (clip + steep.mean())
    assert (change >= weight / 2 * np.maximum(apart - error, 0) ** 2 - weight / 2 * error**2 - lost).all()


@pytest.mark.parametrize("scale", [0.3, 3.0, 300.0])
def test_the_minimiser_on_a_line_is_that_of_a_grid(scale: float) -> None:
    """On a line both minima, over w and over y, are those of a fine grid."""
    rng = np.random.default_rng()
    rows, centre, weight, clip = scale * rng.standard_normal((3, 2)), np.array([rng.uniform(-1, 1)]), 0.8, 0.6
    grid = np.linspace(-1, 1, 4001)
    values = np.array([losses.values("squared", np.array([y]), rows) for y in grid])  # (y, record)
    extended = np.array([(values + clip * np.abs(w - grid)[:, None]).min(axis=0).mean() for w in grid])
    best = grid[np.argmin(extended + weight / 2 * (grid - centre[0]) ** 2)]
    found, error = extension.minimiser(Problem("squared", rows, "box:-1,1", "box:-1,1", centre, weight, clip))
    assert error < 1e-2
    # the grid overestimates values by at most η, so its minimiser is within √(4η/λ) of the exact one
    half = (grid[1] - grid[0]) / 2
    eta = clip * half + float(np.square(rows[:, 0]).max()) * half**2 / 2
    assert abs(found[0] - best) < (4 * eta / weight) ** 0.5 + 2 * half + error


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", _LOSSES)
def test_another_minimiser_is_within_the_proved_errors(loss: str, seed: int) -> None:
    """In other units and with another centre's start the program is another one; both proofs hold, so the points are near."""
    rng = np.random.default_rng([seed, int(np.random.default_rng().integers(2**31))])
    rows = _records(loss, 5, 2, rng)
    problem = Problem(loss, rows, "box:-1,0.5", "box:-1,0.5", np.array([0.1, 0.2]), 0.8, 0.6)
    found = []
    for unit in (1.0, 7.0):
        solved = extension._solved(problem, unit)
        assert solved is not None
        found.append(extension._proved(problem, *solved))
    (one, first), (other, second) = found
    assert np.linalg.norm(one - other) <= first + second
    # a wrong answer is not proved: the point moved by 0.1 has an error of at least 0.1
    w, *rest = solved
    moved, error = extension._proved(problem, w + np.array([-0.1, -0.1]), *rest)
    assert error >= np.linalg.norm(moved - one) - first


_SETS: list[Any] = ["ball:1.5", "box:-1,0.5", Ball(np.array([1.0, -1.0]), 0.7), Box([-1.0, 0], [0.0, 3])]


@pytest.mark.parametrize("domain", [*_SETS, "l1:1.2", losses.Cut("box:-1,1", np.array([0.5, 0.9]), 0.7)], ids=str)
def test_the_support_function_is_the_maximum(domain: Any) -> None:
    rng = np.random.default_rng()
    points = np.array([losses.project(domain, 4 * place) for place in rng.standard_normal((4000, 2))])
    for u in rng.standard_normal((5, 2)) * 10.0 ** rng.uniform(-3, 3, (5, 1)):
        found = extension.support(domain, u)
        assert found >= (points @ u).max() - 1e-9 * np.abs(points @ u).max()
        # 4000 points, nearest to Gaussian ones in the plane: none of them within 0.2 of the extreme one is beyond belief
        assert found <= (points @ u).max() + 0.2 * np.linalg.norm(u)
    assert extension.support(domain, np.zeros(2)) == 0


@pytest.mark.parametrize("domain", _SETS, ids=str)
def test_no_point_of_the_set_is_farther_than_the_farthest(domain: Any) -> None:
    rng = np.random.default_rng()
    centre = losses.project(domain, rng.standard_normal(2))
    most = max(np.linalg.norm(point - centre) for point in extension.farthest(domain, centre))
    for place in 4 * rng.standard_normal((200, 2)):
        assert np.linalg.norm(losses.project(domain, place) - centre) <= most * (1 + 1e-8)


def test_the_mean_of_steps_is_as_good_as_theorem_d4_says() -> None:
    """Its F is within the accuracy of the minimum, though its steps are few."""
    rng = np.random.default_rng()
    rows = _records("absolute", 3, 1, rng)
    problem = Problem("absolute", rows, "ball:1", "ball:1", np.zeros(1), 1.0, 0.8)
    found = extension.mean_of_steps(problem, 0.5)
    assert found is not None
    best, _ = extension.minimiser(problem)
    means, _ = extension.values("absolute", "ball:1", rows, np.array([found[0], best]), 0.8)
    assert means[0] + found[0] @ found[0] / 2 <= means[1] + best @ best / 2 + 0.5
    cut = losses.Cut("ball:1", np.zeros(1), 0.5)
    assert extension.mean_of_steps(Problem("absolute", rows, "ball:1", cut, np.zeros(1), 1.0, 0.8), 0.5) is None
