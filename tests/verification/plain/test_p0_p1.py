"""Parts of the plain algorithms against further ways to the same numbers: printed formulas, brute force, quadrature by scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from tailproof.refimpl.losses import Quadratic
from tailproof.verification.plain import losses, p0, p1


def _printed(a: float, beta: float) -> float:
    """a(1 − b²/2) − a³/6 + C(a, b) with b = |a|/√β and C of P1, (19)–(27)."""
    b = abs(a) / math.sqrt(beta)
    low, high = (math.sqrt(2) - a) / b, (math.sqrt(2) + a) / b
    f_low, f_high = stats.norm.cdf(-low), stats.norm.cdf(-high)
    e_low, e_high = math.exp(-(low**2) / 2), math.exp(-(high**2) / 2)
    root = math.sqrt(2 * math.pi)
    t1 = 2 * math.sqrt(2) / 3 * (f_low - f_high)
    t2 = -(a - a**3 / 6) * (f_low + f_high)
    t3 = b / root * (1 - a**2 / 2) * (e_high - e_low)
    t4 = a * b**2 / 2 * (f_high + f_low + (high * e_high + low * e_low) / root)
    t5 = b**3 / (6 * root) * ((2 + low**2) * e_low - (2 + high**2) * e_high)
    return float(a * (1 - b**2 / 2) - a**3 / 6 + t1 + t2 + t3 + t4 + t5)


@pytest.mark.parametrize("beta", [0.7, math.log(100), 30.0])
def test_smoothed_influence_is_the_printed_formula_and_the_integral(beta: float) -> None:
    places = np.concatenate([[1e-9, 1e-3], np.random.default_rng().uniform(0.01, 4, 20)])
    for a in (*places, *-places):
        found = float(p1.smoothed_influence(np.array([a]), beta)[0])
        assert found == pytest.approx(_printed(a, beta), rel=1e-9)
        spread = abs(a) / math.sqrt(beta)

        def weighted(z: float, a: float = a, spread: float = spread) -> float:
            inside = min(max(z, -math.sqrt(2)), math.sqrt(2))
            return float((inside - inside**3 / 6) * stats.norm.pdf(z, a, spread))

        ends = sorted(
            {a - 12 * spread, a + 12 * spread, *(c for c in (-math.sqrt(2), math.sqrt(2)) if abs(c - a) < 12 * spread)}
        )
        total = sum(integrate.quad(weighted, *pair, epsabs=1e-14, epsrel=1e-12)[0] for pair in itertools.pairwise(ends))
        assert found == pytest.approx(total, rel=1e-8)
    far = p1.smoothed_influence(np.array([1e12, -1e12]), beta)
    assert far == pytest.approx(
        np.array([1, -1]) * 2 * math.sqrt(2) / 3 * (2 * stats.norm.cdf(math.sqrt(beta)) - 1), rel=1e-12
    )


def test_the_middle_point_is_the_best_by_definition() -> None:
    rng = np.random.default_rng()
    points = rng.standard_normal((9, 2))
    t0 = 6
    best = min(
        max(np.linalg.norm(points[i] - points[j]) for j in group)
        for i in range(9)
        for group in itertools.combinations(range(9), t0)
    )
    centre = p1._middle_points(points)[0]
    assert sorted(np.linalg.norm(points - centre, axis=1))[t0 - 1] == pytest.approx(best)


def test_the_shortest_interval_is_the_best_by_definition() -> None:
    line = np.random.default_rng().standard_normal(9)
    best = min(itertools.combinations(line, 6), key=lambda group: max(group) - min(group))
    assert p1._middles_of_intervals(line[:, None])[0, 0] == pytest.approx((max(best) + min(best)) / 2)


@pytest.mark.parametrize("loss", ["logistic", "squared", Quadratic(np.diag([1.0, 0.3]))], ids=str)
def test_block_minimisers_are_minimisers_in_the_end(loss: object) -> None:
    """With enough steps no feasible direction goes down: the projected gradient step returns the point."""
    rng = np.random.default_rng()
    rows = rng.standard_normal((7, (losses.dimension(loss, 3) == 2 and 3) or 2))
    if loss == "logistic":
        rows[:, -1] = np.sign(rows[:, -1])
    w = p1.block_minimiser(loss, "ball:1", rows, np.zeros(2), 5000)
    slope = losses.gradients(loss, w, rows).mean(axis=0)
    assert np.linalg.norm(losses.project("ball:1", w - 0.1 * slope) - w) < 1e-6


def test_clipped_rows_are_the_nearest_points_of_the_ball() -> None:
    rows = np.random.default_rng().standard_normal((20, 3)) * 3
    for row, short in zip(rows, p0.clipped(rows, 1.3), strict=True):
        assert short == pytest.approx(losses.project_on_ball(row, np.zeros(3), 1.3))
