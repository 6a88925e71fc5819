"""What is particular to P0: its explicit inequalities against numbers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from tailproof.bounds.papers import p0
from tailproof.bounds.papers.p0 import COMPARISONS, STATEMENTS
from tailproof.refimpl.claims import gaussian_delta
from tailproof.refimpl.validation import InputError

BY_ID = {statement.id: statement for statement in STATEMENTS}


# The map.


def test_table_and_comparisons_are_complete() -> None:
    assert {f"P0.TAB1.r{i}.{side}" for i in range(1, 11) for side in ("upper", "lower")} <= set(BY_ID)
    assert len(COMPARISONS) >= 15


# Explicit inequalities.


def test_growth_bounds_are_attained_by_a_power() -> None:
    """F = λ|w|^θ on [−1, 1] has Lipschitz constant θλ; at w with |w| = (L/λ)^{1/(θ−1)} both would be equalities."""
    for theta, lam in itertools.product((1.5, 2.0, 4.0), (0.3, 2.0)):
        L = theta * lam
        assert p0.growth_distance_upper(lipschitz=L, growth=lam, theta=theta) >= 1
        assert p0.growth_value_upper(lipschitz=L, growth=lam, theta=theta) >= lam
        t = p0.growth_distance_upper(lipschitz=L, growth=lam, theta=theta)
        assert lam * t**theta == pytest.approx(L * t) == p0.growth_value_upper(lipschitz=L, growth=lam, theta=theta)


def test_clipping_bias_is_above_the_exact_one_and_not_tight() -> None:
    for k, C, t in itertools.product((2.0, 3.0, 6.0), (0.5, 2.0), np.linspace(0.1, 20, 80)):
        assert max(t - C, 0) <= p0.clipping_bias_upper(k=k, moment=t**k, clip=C) / math.e + 1e-12


def clipped_descent(
    curvatures: Any, centres: Any, slopes: Any, *, clip: float, eta: float, lam: float, steps: int, start: Any
) -> Any:
    """Algorithm 2 for the losses ½Σa_j(w_j − c_j)² + ⟨g, w⟩, one row each, in the whole space."""
    w = np.array(start, dtype=float)
    for _ in range(steps):
        gradients = curvatures * (w - centres) + slopes
        norms = np.maximum(np.linalg.norm(gradients, axis=1), 1e-300)
        w = w - eta * ((gradients * np.minimum(1, clip / norms)[:, None]).mean(axis=0) + lam * (w - start))
    return w


def test_theorem_8_holds_for_clipped_descent() -> None:
    """A linear loss ⟨g, w⟩: ŵ = w₀ − g/λ in the whole space, the clipped method goes to w₀ − Cg/(‖g‖λ)."""
    start, g = np.zeros(2), np.array([[3.0, 4.0]])
    for clip, lam, eta, steps in itertools.product((1.0, 3.0, 10.0), (0.5, 2.0), (0.05, 0.5), (0, 5, 100)):
        w = clipped_descent(np.zeros((1, 2)), start, g, clip=clip, eta=eta, lam=lam, steps=steps, start=start)
        exact = start - g[0] / lam
        bound = p0.descent_distance_upper(
            step=eta,
            strength=lam,
            steps=steps,
            start=5 / lam,
            second_moment=25.0,
            reach=5 / lam,
            bias=p0.clipping_bias_upper(k=2.0, moment=25.0, clip=clip),
        )
        assert float(np.sum((w - exact) ** 2)) <= bound
    with pytest.raises(InputError, match="step"):
        p0.descent_distance_upper(step=5.0, strength=1.0, steps=1, start=1.0, second_moment=1.0, reach=1.0, bias=0.0)


def moved(curvatures: Any, u: Any, start: Any, *, n: int, lam: float, eta: float) -> float:
    """How far Algorithm 2's output moves, in units of 2C/(nλ), when one record's loss turns from ⟨u, w⟩ to −⟨u, w⟩, ‖u‖ = C = 1."""
    rows, slopes = np.tile(curvatures, (n, 1)), np.zeros((n, len(curvatures)))
    rows[0], ends = 0, []
    for sign in (1, -1):
        slopes[0] = sign * np.asarray(u)
        centres = np.zeros_like(slopes)
        ends.append(
            clipped_descent(rows, centres, slopes, clip=1.0, eta=eta, lam=lam, steps=round(9 / (eta * lam)), start=start)
        )
    return float(np.linalg.norm(ends[0] - ends[1])) * n * lam / 2


def test_clipped_descent_is_stable_on_the_line_but_not_in_the_plane() -> None:
    n, a = 40, 16.0
    eta, lam = 1 / a, a / n**2
    u = np.array([math.sqrt(a), 1.0]) / math.sqrt(a + 1)
    start = u / np.array([a, 1.0]) + u / lam
    assert moved([a], [1.0], np.array([1 / a + 1 / lam]), n=n, lam=lam, eta=eta) <= 1 + 1e-9
    ratio = moved([a, 1.0], u, start, n=n, lam=lam, eta=eta)
    assert 1.5 < ratio <= (a + 1) / (2 * math.sqrt(a))


def test_the_printed_noise_is_enough_where_the_output_is_stable() -> None:
    """Definition 3's scale at sensitivity 2C/(nλ): (ε, δ) for all ε ≤ 20 log(1/δ), hence on the ranges of Theorems 1 and 3."""
    for delta, share in itertools.product((0.9, 0.5, 1e-2, 1e-6), (1e-3, 0.1, 1.0, 2.0, 20.0)):
        epsilon = share * math.log(1 / delta)
        sigma = p0.localised_noise_scale(n=10, clip=3.0, strength=0.2, epsilon=epsilon, delta=delta)
        assert gaussian_delta(2 * 3.0 / (10 * 0.2) / sigma, epsilon) <= delta
        rho = epsilon**2 / (32 * math.log(1 / delta))
        assert rho + 2 * math.sqrt(rho * math.log(1 / delta)) <= epsilon


def test_gaussian_norm_tail_is_above_the_exact_one() -> None:
    for d, t in itertools.product((1, 2, 10, 1000), np.linspace(0, 8, 60)):
        assert chi2.sf(t**2 * d, d) <= p0.gaussian_norm_tail_upper(deviation=t, scale=1.0)
    for beta in (0.9, 0.1, 1e-8):
        assert p0.gaussian_norm_tail_upper(deviation=4 * math.log(4 / beta), scale=1.0) <= beta


def test_localisation_ends_as_the_two_cases_say() -> None:
    """The algebra of Theorem 11's proof at random μ₀, λ: 2μ_{k*}R_{k*}^θ and 2R₀a are below the two bounds."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        theta, radius, a = rng.uniform(2, 6), rng.uniform(0.1, 10), rng.uniform(0.01, 1)
        mu0 = 2 * radius ** (1 - theta) * a
        lam = mu0 * 2 ** ((theta - 1) * rng.uniform(-3, 6))
        if lam >= mu0:
            star = math.floor(math.log2(lam / mu0) / (theta - 1))
            total = 2 * 2.0**-star * mu0 * radius**theta
            assert total <= p0.localised_risk_upper(growth=lam, theta=theta, rate=a) * (1 + 1e-9)
        else:
            assert 2 * radius * a <= p0.flat_risk_upper(growth=lam, theta=theta, rate=a) * (1 + 1e-9)


def test_iteration_reaches_its_constant() -> None:
    """x_i = 2^{1/(θ−1)}x_{i−1}^{1/θ} from 2^{θ/(θ−1)²}·n^{θ/(θ−1)}/c₁, in base-2 logarithms, ⌊log_θ 2·log log n⌋ phases."""
    for theta, log_n, log_c in itertools.product((1.2, 1.5, 2.0, 4.0), (16.0, 256.0, 1e6), (-2.0, 0.0, 3.0)):
        fixed = theta / (theta - 1) ** 2
        x = fixed + theta / (theta - 1) * log_n - log_c
        for _ in range(1, math.floor(math.log2(log_n) / math.log2(theta))):
            x = 1 / (theta - 1) + x / theta
        assert x <= p0.iterated_factor_upper(theta=theta, log_c=log_c) + 1e-9


def test_shuffling_step_for_small_local_budgets() -> None:
    for n, e, delta in itertools.product((10, 1000, 10**6), np.linspace(0, 0.5, 26), (0.5, 1e-3, 1e-9)):
        exact = -math.expm1(-e) * (math.sqrt(math.exp(e) * math.log(1 / delta) / n) + math.exp(e) / n)
        assert exact <= p0.shuffled_epsilon_factor_upper(n=n, epsilon0=e, delta=delta) + 1e-15


def test_local_noise_is_private() -> None:
    for e, delta in itertools.product((0.01, 0.1, 0.5), (0.5, 1e-3, 1e-9)):
        sigma = p0.local_noise_scale(clip=1.0, epsilon0=e, delta0=delta)
        assert gaussian_delta(2 / sigma, e) <= delta


def test_batch_noise_is_the_mean_of_local_noises() -> None:
    """Variance σ₁²T/n, T = 8 batches of n/T records."""
    n, T = 64, 8
    scale = p0.local_noise_scale(clip=1.0, epsilon0=0.5, delta0=1e-6)
    batch = p0.clipped_variance_upper(d=1, records=n // T, scale=scale * math.sqrt(T / n), second_moment=0.0)
    assert batch == pytest.approx(scale**2 / (n // T))


def test_fano_bound_needs_a_small_multiple() -> None:
    """Theorem 4 at γ = c√d/(n√ρ): empty at c = 1 even for M = 2^d, a constant share at c = 1/20 for M = 2^{d/20}."""
    d, n, rho = 1000, 10**5, 1.0
    for share, packing, empty in ((1.0, d * math.log(2), True), (0.05, d / 20 * math.log(2), False)):
        gamma = share * math.sqrt(d) / (n * math.sqrt(rho))
        bound = p0.zcdp_fano_lower(separation=1.0, log_packing=packing, n=n, divergence=1e9, distance=gamma, rho=rho)
        assert (bound <= 0) == empty


def test_sensitivity_of_the_clipped_mean() -> None:
    assert p0.clipped_mean_sensitivity_upper(n=4, clip=3.0) == 1.5


def test_theorem_4_stands_on_the_ball_of_theorem_5() -> None:
    """E sup‖∇f‖^k over r̃^{(k)} is ((1 + p^{1/k})^k + 1 − p)/2^k ≤ 1 for radius (r̃_k/2)^{1/(θ−1)}; on the printed ball it is not."""
    for k, mass in itertools.product((2.0, 3.0, 8.0), (1e-9, 1e-3, 0.1, 0.5, 1.0)):
        assert ((1 + mass ** (1 / k)) ** k + 1 - mass) / 2**k <= 1 + 1e-12
    assert 1 + (1 - 0.01) / (0.01 * 2**2) > 1


def test_powers_of_the_norm_grow_with_a_constant_below_one() -> None:
    """‖w‖^θ/θ − ⟨μ, w⟩ grows by at least ‖w − w*‖^θ/(θ2^{θ−2}), and not by ‖w − w*‖^θ."""
    rng = np.random.default_rng(3)
    for theta in (2.0, 3.0, 5.0):
        best, w = rng.normal(size=(2, 4000, 2))
        norm = np.linalg.norm(best, axis=1)
        mean = best * norm[:, None] ** (theta - 2)
        excess = (np.linalg.norm(w, axis=1) ** theta - norm**theta) / theta - np.sum(mean * (w - best), axis=1)
        ratio = excess / np.linalg.norm(w - best, axis=1) ** theta
        assert ratio.min() >= 1 / (theta * 2 ** (theta - 2)) * (1 - 1e-9)
        assert ratio.min() < 1
