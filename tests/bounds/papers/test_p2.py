"""What is particular to P2: its explicit inequalities against numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tailproof.bounds.papers import p2
from tailproof.bounds.papers.p2 import COMPARISONS, STATEMENTS
from tailproof.refimpl.means.distance_program import iterate

BY_ID = {statement.id: statement for statement in STATEMENTS}


def test_table_one_has_its_six_rows() -> None:
    assert len(COMPARISONS) >= 15
    assert [s.id for s in STATEMENTS if s.label == "Table I"] == [f"P2.TAB1.r{i}" for i in range(1, 7)]


# Explicit inequalities.


def test_step_budgets_compose_to_the_run() -> None:
    for epsilon, delta, steps in itertools.product((0.01, 0.5, 1.0), (1e-9, 0.1, 0.999), (1, 10, 10**6)):
        step = p2.step_epsilon(epsilon=epsilon, delta=delta, steps=steps)
        assert p2.advanced_composition_epsilon(epsilon=step, times=steps, slack=delta / 2) <= epsilon


def test_shuffling_gives_theorem_six() -> None:
    for delta, groups, share in itertools.product((1e-9, 1e-3, 0.5), (10, 10**4, 10**7), (0.1, 0.999)):
        epsilon = share * 8 * math.e**2 * math.sqrt(math.log(4 / delta) / groups)
        rho = p2.explicit.group_zcdp(epsilon=epsilon, delta=delta, groups=groups)
        delta0 = delta / (12 * groups)
        epsilon0 = p2.zcdp_conversion(rho=rho, delta=delta0)
        assert p2.shuffled_epsilon(epsilon0=epsilon0, slack=delta / 2, groups=groups) <= epsilon
        assert p2.shuffled_delta(epsilon0=epsilon0, delta0=delta0, slack=delta / 2, groups=groups) <= delta


def test_good_radius_meets_the_four_conditions() -> None:
    """(90), each term with r = r₀."""
    n, d, beta, M, R, rho = 10**6, 7, 0.01, 2.0, 30.0, 0.2
    k = math.ceil(800 * math.log(1 / beta))
    m, r = n / k, p2.good_radius(n=n, d=d, groups=k, moment=M, clip=R, rho=rho)
    terms = (
        4 * M / r * math.sqrt(d / n),
        4 * math.sqrt(2) * R / (r * m * math.sqrt(k)) * math.sqrt(d / rho),
        math.sqrt(2 * R**2 / (rho * m**2) + M**2 / m) / r,
        math.sqrt(math.log(1 / beta) / (2 * k)),
    )
    assert max(terms) <= 1 / 40 * (1 + 1e-12)


def _moment(points: np.ndarray, weights: np.ndarray, p: float) -> float:
    """The largest directional p-th moment in the plane, on a fine grid of directions (convex in u, so slightly raised)."""
    angles = np.linspace(0, math.pi, 2001)
    moments = weights @ np.abs(points @ np.stack([np.cos(angles), np.sin(angles)])) ** p
    return float(moments.max() ** (1 / p)) * 1.00001


@pytest.mark.parametrize("p", [2.0, 3.0, 6.0])
def test_directional_bias_bound_holds_for_finite_laws(p: float) -> None:
    rng = np.random.default_rng(5)
    worst = 0.0
    for _ in range(300):
        points = rng.normal(size=(6, 2)) * np.exp(rng.normal(size=(6, 1)) * 2)
        weights = rng.dirichlet(np.full(6, 0.3))
        clip = float(rng.uniform(0.1, 1) * np.linalg.norm(points, axis=1).max())
        clipped = points * np.minimum(1, clip / np.linalg.norm(points, axis=1))[:, None]
        bias = float(np.linalg.norm(weights @ (points - clipped)))
        bound = p2.directional_bias_upper(d=2, p=p, moment=_moment(points, weights, p), clip=clip)
        worst = max(worst, bias / bound)
    assert 0.005 < worst <= 1


def test_directional_bias_is_below_the_papers_for_high_dimensions() -> None:
    ours = p2.directional_bias_upper(d=100, p=2.0, moment=1.0, clip=30.0)
    assert ours == pytest.approx(p2.explicit.clipping_bias_upper(d=100, p=2.0, moment=1.0, clip=30.0) / 10)


def test_chaining_constant() -> None:
    """3·Σ2^{−j}(1 + √(2d ln(3·2^j))) ≤ 10√d, the constant of P2.O2."""
    for d in (1, 2, 10, 1000):
        total = sum(2.0**-j * (1 + math.sqrt(2 * d * math.log(3 * 2.0**j))) for j in range(1, 200))
        assert 3 * total <= 10 * math.sqrt(d)


def test_one_pass_bound_is_below_the_claimed_lower_bound() -> None:
    """(6)/P2.O4 grows without bound along n = d⁴, nε = d², δ = n⁻², p = 2."""
    quotients = []
    for d in (10**6, 10**18, 10**30):
        n, epsilon, log = d**4, float(d) ** -2, 8 * math.log(d)
        rho = (epsilon / (1 + 2 * math.sqrt(log))) ** 2
        steps = math.ceil((n * math.sqrt(rho) / d) ** (2 / 3))
        clip = math.sqrt(d) * math.sqrt(n * math.sqrt(rho) / (d * math.sqrt(steps)))
        upper = p2.one_pass_excess_risk_upper(n=n, d=d, p=2.0, moment=1.0, diameter=1.0, clip=clip, rho=rho, steps=steps)
        quotients.append((math.sqrt(d / n) + d**0.75 / math.sqrt(n * epsilon) * log) / upper)
    assert quotients[0] < quotients[1] / 5 < quotients[2] / 25


@pytest.mark.parametrize("d", [1, 2])
def test_iterative_updating_returns_its_start_from_inside(d: int) -> None:
    """P2.O5: d₁ < 0 makes the first centre the best one."""
    rng = np.random.default_rng(d)
    for _ in range(20):
        points = rng.normal(size=(20, d))
        start = 0.2 * rng.normal(size=d)
        estimate, _ = iterate(points, start, steps=5, method="exact")
        assert np.array_equal(estimate, start)
    estimate, _ = iterate(points, np.full(d, 9.0), steps=5, method="exact")
    assert not np.array_equal(estimate, np.full(d, 9.0))
