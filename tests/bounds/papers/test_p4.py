"""What is particular to P4: its explicit inequalities against numbers."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.special import gammainccinv
from scipy.stats import binom

from tailproof.bounds.papers import p4
from tailproof.bounds.papers.p4 import COMPARISONS, STATEMENTS
from tailproof.refimpl.channel import replay, run
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.extension.joint import JointObjective
from tailproof.refimpl.losses import Absolute
from tailproof.refimpl.projections import inexact_projection
from tailproof.refimpl.pure_dp.objective import (
    ObjectivePlan,
    accuracy_of,
    curvature_of,
    objective_perturbation,
    tilt_scale,
    worst_neighbours,
)
from tailproof.refimpl.pure_dp.single import bias_constant
from tailproof.verification.divergences import max_loss

BY_ID = {statement.id: statement for statement in STATEMENTS}


def test_exponents_have_their_range() -> None:
    rates = [(s.id, s.where, (s.printed, s.derived)) for s in STATEMENTS]
    rates += [(c.id, c.where, (c.left, c.right)) for c in COMPARISONS]
    for identifier, where, texts in rates:
        if any(text and re.search(r"\bk\b", text) for text in texts):
            assert "k>=2" in where, identifier


def test_ours_are_there() -> None:
    assert BY_ID["P4.OURS.lemma"].explicit is not None
    assert BY_ID["P4.OURS.bound"].explicit is not None


def test_repetitions_that_grow_with_the_phase_leave_no_log_log() -> None:
    """J_i = ⌈13.9·log(2^i/ξ)⌉ repetitions of n_i = n/(2^i·J_i) records: the bound over √(log(1/ξ)/n) + log(1/ξ)/n stays bounded."""

    def quotient(log2_n: int, xi: float) -> float:
        n, rates, i = 2.0**log2_n, list[float](), 1
        while (size := n / (2**i * math.ceil(13.9 * math.log(2**i / xi)))) >= 1:
            rates.append(1 / math.sqrt(size) + 1 / size)  # Δ_i at G = 1, a(m) = 1/m
            i += 1
        weights = [rates[0] * 8.0**j for j in range(1, len(rates) + 1)]
        total = weights[0] / 4 + 3 * rates[-1] / weights[-1]
        total += sum(b * (3 * rate / a) ** 2 / 4 for a, b, rate in zip(weights, weights[1:], rates, strict=False))
        return float(total) / (math.sqrt(math.log(1 / xi) / n) + math.log(1 / xi) / n)

    found = [quotient(log2_n, xi) for log2_n in (20, 40, 80, 160) for xi in (0.1, 1e-3)]
    assert max(found) < 2 * min(found)


# ------------------------------------------------------------------------------------------------ explicit inequalities


def test_value_bias_constant_is_the_largest_quotient_and_below_the_prints() -> None:
    for k in (2.0, 2.5, 4.0, 10.0):
        t = np.linspace(1, 20, 200_001)
        best = ((t - 1) / t**k).max()
        assert best == pytest.approx(p4.value_bias_constant(k), rel=1e-6)
        assert p4.value_bias_constant(k) <= p4.value_bias_upper(diameter=1, moment_bound=1, moment_order=k, clip=1)
        assert math.e <= 1 / (k - 1) / p4.value_bias_constant(k) <= 4 * (1 + 1e-12)
    assert p4.value_bias_constant(2) == pytest.approx(1 / 4)


def test_biases_of_the_worst_law() -> None:
    """L is t·C with probability (G/(tC))^k, else 0: the moment is G^k, and the bounds are attained at the best t."""
    G, C = 1.0, 3.0
    for k in (2.0, 3.0, 6.0):
        t = np.linspace(1.001, 10, 100_000)
        chance = (G / (t * C)) ** k
        values, gradients = chance * (t - 1) * C, chance * np.sqrt(t**2 - 1) * C
        assert values.max() <= p4.clipping_bias_mean_upper(moment_bound=G, moment_order=k, clip=C)
        bound = p4.gradient_bias_mean_upper(moment_bound=G, moment_order=k, clip=C)
        assert gradients.max() == pytest.approx(bound, rel=1e-6)
        assert bound == pytest.approx(bias_constant(k) * G**k * C ** (1 - k))


def test_lemma_c1_on_the_line() -> None:
    """Convex polylines on [0, 1], infima over a grid that holds all kinks."""
    rng = np.random.default_rng(1)
    grid = np.linspace(0, 1, 201)
    for _ in range(50):
        slopes = np.sort(rng.normal(scale=4, size=200))
        f = np.concatenate([[0], np.cumsum(slopes) / 200])
        clip = rng.uniform(0.1, 5)
        extension = (f[np.newaxis] + clip * np.abs(grid[:, np.newaxis] - grid)).min(axis=1)
        assert (f - extension).max() <= max(np.abs(slopes).max() - clip, 0) + 1e-12
        assert (extension <= f + 1e-12).all()
        assert np.abs(np.diff(extension)).max() * 200 <= clip + 1e-9


def test_localisation_does_not_shrink_the_value_bias_of_the_extension_over_the_whole_set() -> None:
    """f(w) = 10w on [0, 1], C = 2, W_loc = [0.9, 1]: f − f_C is 8w there, not at most 8·0.1."""
    grid = np.linspace(0, 1, 101)
    extension = (10 * grid[np.newaxis] + 2 * np.abs(grid[:, np.newaxis] - grid)).min(axis=1)
    assert (10 * grid - extension)[grid >= 0.9].max() == pytest.approx(8)


@pytest.mark.parametrize("d", [1, 2, 10, 300])
def test_noise_length_is_above_the_quantile_and_of_its_order(d: int) -> None:
    for zeta in (0.5, 0.1, 1e-3, 1e-12):
        quantile = float(gammainccinv(d, zeta))
        bound = p4.noise_length_upper(dimension=d, sensitivity=1, epsilon=1, failure=zeta)
        assert quantile <= bound <= 5 * quantile


def test_radius_and_distance_add_up() -> None:
    common = {"n": 100, "dimension": 3, "weight": 0.5, "clip": 2.0, "epsilon": 1.0, "failure": 0.1, "kappa": 0.2}
    slack = 0.2 * 2 / (0.5 * 100)
    noise = 2.4 * 2 / (0.5 * 100) * float(gammainccinv(3, 0.1))
    assert p4.localised_radius_upper(**common) == pytest.approx(slack + noise)  # type: ignore[arg-type]
    distance = p4.single_distance_upper(**common, moment_order=2, moment_bound=1, bias_failure=0.1)  # type: ignore[arg-type]
    assert distance == pytest.approx(slack + noise + 0.5 / 2 / 0.1 / 0.5)


def test_the_phases_sum_to_the_bound_of_theorem_2_1() -> None:
    """Δ_i = 2^i·Δ_0, the fastest growth that is allowed."""
    D, G, start = 2.0, 1.0, 0.3
    for count in (1, 2, 5, 12):
        deviations = [start * 2.0**i for i in range(count + 1)]
        weights = [3 * start / D * 8.0**i for i in range(count + 1)]
        radii = [3 * deviation / weight for deviation, weight in zip(deviations, weights, strict=True)]
        total = weights[1] * D**2 / 4 + G * radii[-1]
        total += sum(weights[i] * radii[i - 1] ** 2 / 4 for i in range(2, count + 1))
        bound = p4.localised_excess_upper(diameter=D, moment_bound=G, deviation=start, phases=count)
        assert total <= bound * (1 + 1e-12)
        assert total >= 0.45 * bound


def test_joint_subgradients_are_within_their_bound() -> None:
    rng = np.random.default_rng(2)
    ball = Ball(np.zeros(2), 1.0)
    for _ in range(20):
        data = np.column_stack([rng.standard_cauchy((5, 2)), rng.normal(size=5)])
        objective = JointObjective(Absolute(), data, lipschitz=1.5, strength=0.7, center=np.zeros(2))
        steep = np.linalg.norm(data[:, :2], axis=1).tolist()
        bound = p4.joint_norm_upper(lipschitz_constants=steep, clip=1.5, weight=0.7, reach=1.0)
        for _ in range(20):
            point = ball.project(rng.normal(size=(6, 2)))
            assert np.linalg.norm(objective.subgradient(point)) <= bound * (1 + 1e-12)


def test_steepest_record_of_the_worst_law() -> None:
    """L just above the bound with the largest probability that Markov allows, ζ/n: some record is, with probability ≤ ζ."""
    for n, zeta in itertools.product((1, 10, 1000), (0.5, 0.01)):
        bound = p4.steepest_record_upper(n=n, moment_bound=2.0, moment_order=3, failure=zeta)
        chance = (2.0 / bound) ** 3
        assert chance == pytest.approx(zeta / n)
        assert -math.expm1(n * math.log1p(-chance)) <= zeta * (1 + 1e-12)


def test_projections_take_no_more_calls() -> None:
    rng = np.random.default_rng(3)
    ball = Ball(np.zeros(3), 1.0)
    for _ in range(50):
        center, point = ball.project(rng.normal(size=3)), 3 * rng.normal(size=3)
        radius, accuracy = rng.uniform(0.05, 1), 10.0 ** rng.uniform(-8, 0)
        found = inexact_projection(ball, center=center, radius=radius, point=point, accuracy=accuracy)
        distance = float(np.linalg.norm(point - center))
        assert found.calls <= p4.projection_calls_upper(distance=distance, radius=radius, accuracy=accuracy)


def test_a_greedy_net_is_within_its_size() -> None:
    rng = np.random.default_rng(4)
    points = rng.uniform(-1, 1, size=(4000, 2))
    points = points[np.linalg.norm(points, axis=1) <= 1]
    for spacing in (0.2, 0.5, 1.0):
        net: list[NDArray[np.float64]] = []
        for point in points:
            if all(np.linalg.norm(point - other) > spacing for other in net):
                net.append(point)
        assert len(net) <= p4.net_size_upper(dimension=2, diameter=2.0, spacing=spacing)


class ProjectedGradient:
    """f(w, x) = huber(⟨a, w⟩ − b) with own scales, regularised, on the unit disc; clipped or not."""

    def __init__(self, rng: np.random.Generator, n: int, weight: float):
        self.a, self.b, self.weight = rng.normal(size=(n, 2)) * rng.pareto(3, size=(n, 1)), rng.normal(size=n), weight
        self.smoothness = float((self.a**2).sum(axis=1).max())
        self.step = 1 / (self.smoothness + weight)

    def gradients(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.clip(self.a @ w - self.b, -1, 1)[:, np.newaxis] * self.a)

    def mapping(self, w: NDArray[np.float64], clip: float) -> NDArray[np.float64]:
        g = self.gradients(w)
        norms = np.maximum(np.linalg.norm(g, axis=1), 1e-300)
        mean = (g * np.minimum(1, clip / norms)[:, np.newaxis]).mean(axis=0) + self.weight * w
        moved = w - self.step * mean
        return np.asarray((w - moved / max(1.0, float(np.linalg.norm(moved)))) / self.step)

    def minimiser(self) -> NDArray[np.float64]:
        w = np.zeros(2)
        while np.linalg.norm(slope := self.mapping(w, math.inf)) > 1e-9:
            w = w - self.step * slope
        return w


def test_the_projected_gradient_score() -> None:
    rng = np.random.default_rng(5)
    for _ in range(3):
        problem = ProjectedGradient(rng, 6, 0.5)
        best = problem.minimiser()
        slope = p4.score_slope_upper(smoothness=problem.smoothness, weight=0.5)
        for _ in range(50):
            w, other = (v / max(1.0, float(np.linalg.norm(v))) for v in rng.normal(size=(2, 2)))
            scores = [float(np.linalg.norm(problem.mapping(v, 1.0))) for v in (w, other)]
            assert abs(scores[0] - scores[1]) <= slope * float(np.linalg.norm(w - other)) * (1 + 1e-9)
            full = float(np.linalg.norm(problem.mapping(w, math.inf)))
            bound = p4.stationary_distance_upper(mapping_norm=full, weight=0.5)
            assert float(np.linalg.norm(w - best)) <= bound + 1e-8
            bias = float(np.maximum(np.linalg.norm(problem.a, axis=1) - 1.0, 0).mean())
            assert abs(full - scores[0]) <= bias + 1e-12
            kept = problem.a[0].copy()
            problem.a[0] = -kept * rng.uniform(0, 1)  # a neighbour of no larger smoothness: the step stays public
            moved = float(np.linalg.norm(problem.mapping(w, 1.0)))
            problem.a[0] = kept
            assert abs(moved - scores[0]) <= p4.score_sensitivity_upper(n=6, clip=1.0) + 1e-9


def test_the_selected_score_is_within_its_bound() -> None:
    rng = np.random.default_rng(6)
    n, clip, epsilon = 50, 2.0, 1.0
    sensitivity = p4.score_sensitivity_upper(n=n, clip=clip)
    for size, zeta in itertools.product((2, 30, 1000), (0.3, 0.01)):
        for scores in (rng.exponential(size=size), np.append(0.0, np.full(size - 1, 0.5))):
            weights = np.exp(-epsilon * (scores - scores.min()) / (2 * sensitivity))
            bound = p4.selected_score_upper(n=n, clip=clip, epsilon=epsilon, log_size=math.log(size), failure=zeta)
            assert weights[scores > scores.min() + bound].sum() / weights.sum() <= zeta


@pytest.mark.parametrize("d", [1, 2, 3, 7, 40])
def test_ball_smoothness_is_that_of_the_absolute_value(d: int) -> None:
    """The smoothed |w_1| has second derivative 2·density(0) of the ball's first coordinate."""
    mass = quad(lambda t: (1 - t**2) ** ((d - 1) / 2), -1, 1)[0]
    assert p4.ball_smoothness_constant(d) == pytest.approx(2 / mass, rel=1e-7)
    assert p4.ball_smoothness_constant(d) <= math.sqrt(d) * (1 + 1e-12)


def test_smoothing_moves_the_minimiser_by_no_more() -> None:
    """|w| + (λ/2)(w − 1)², smoothed over [w − σ, w + σ]."""
    grid = np.linspace(-1, 1, 20_001)
    for sigma, weight in itertools.product((0.01, 0.1), (0.5, 1.5, 3.0)):
        smooth = np.where(np.abs(grid) < sigma, (grid**2 + sigma**2) / (2 * sigma), np.abs(grid))
        pull = weight / 2 * (grid - 1) ** 2
        moved = abs(grid[np.argmin(smooth + pull)] - grid[np.argmin(np.abs(grid) + pull)])
        assert moved <= p4.smoothing_distance_upper(width=sigma, mean_lipschitz=1.0, weight=weight) + 1e-4


def test_centred_score_and_transfer_of_privacy() -> None:
    rng = np.random.default_rng(7)
    n, clip = 4, 1.5
    for _ in range(100):
        gradients, new = np.clip(rng.normal(scale=3, size=n), -clip, clip), rng.choice([-clip, clip])
        w, anchor = rng.uniform(0, 0.3, size=2)
        moved = abs((new - gradients[0]) * (w - anchor)) / n
        assert moved <= p4.centred_sensitivity_upper(n=n, clip=clip, diameter=0.3)
    gamma, error = 2.0, 0.1
    worst = 0.0
    for _ in range(200):
        potential = rng.exponential(size=20)
        noisy = potential + error * rng.choice([-1, 1], size=20)
        p, q = (np.exp(-gamma * v) / np.exp(-gamma * v).sum() for v in (potential, noisy))
        worst = max(worst, float(np.abs(np.log(p / q)).max()))
    assert worst <= p4.evaluator_divergence_upper(inverse_temperature=gamma, error=error)
    # ε + 2τ is attained: P = (x, 1 − x), P' = (e^ε·x, ·), each moved by e^{±τ} at the first outcome
    epsilon, tau, x = 0.7, 0.2, 1e-6
    ratio = math.log(math.exp(epsilon) * x * math.exp(tau) / (x * math.exp(-tau)))
    assert ratio == pytest.approx(p4.transferred_epsilon(epsilon=epsilon, divergence=tau))


@pytest.mark.parametrize("d", [1, 2, 5])
def test_gibbs_excess_of_radial_potentials(d: int) -> None:
    """V = ‖w‖^q on the unit ball: the mean under exp(−γV) by quadrature in the radius; q = 1 attains d/γ as γ grows."""
    for power, gamma in itertools.product((1.0, 2.0, 4.0), (0.5, 5.0, 200.0)):
        mass = quad(lambda s, g=gamma, q=power: s ** (d - 1) * math.exp(-g * s**q), 0, 1, limit=200, epsabs=0)[0]
        mean = (
            quad(lambda s, g=gamma, q=power: s**q * s ** (d - 1) * math.exp(-g * s**q), 0, 1, limit=200, epsabs=0)[0] / mass
        )
        bound = p4.gibbs_excess_upper(dimension=d, inverse_temperature=gamma)
        assert mean <= bound * (1 + 1e-9)
        if power == 1 and gamma == 200:
            assert mean >= 0.999 * bound


def test_linear_excess_is_above_the_squared_error() -> None:
    rng = np.random.default_rng(8)
    for _ in range(300):
        D, mean, w = rng.uniform(0.1, 3), rng.normal(size=3), rng.normal(size=3)
        w *= D / 2 * min(1.0, rng.exponential()) / np.linalg.norm(w)
        norm = float(np.linalg.norm(mean))
        excess = D / 2 * norm - float(w @ mean)
        error = float(np.linalg.norm(2 * norm / D * w - mean))
        assert excess >= p4.linear_excess_lower(diameter=D, mean_norm=norm, error=error) - 1e-12


def test_two_points_cannot_be_told_apart() -> None:
    for n, tilt in itertools.product((1, 2, 5, 50), (0.0, 0.05, 0.3, 0.5, 0.9)):
        heads = np.arange(n + 1)
        overlap = np.minimum(binom.pmf(heads, n, (1 + tilt) / 2), binom.pmf(heads, n, (1 - tilt) / 2)).sum()
        assert overlap / 2 >= p4.two_point_failure_lower(n=n, tilt=tilt)
    for n, zeta in itertools.product((1, 3, 100), (0.24, 0.1, 1e-3)):
        tilt = 2 * p4.nonprivate_excess_lower(n=n, moment_bound=1, diameter=1, failure=zeta)
        assert p4.two_point_failure_lower(n=n, tilt=tilt) >= zeta * (1 - 1e-12)


def best_decoding_error(size: int, n: int, epsilon: float, share: float) -> float:
    """The least mean error of ε-DP decoders of Q_v, v = 1..size, from n records of 0..size: a linear program."""
    tables = list(itertools.product(range(size + 1), repeat=n))
    index = {table: i for i, table in enumerate(tables)}
    gain = np.zeros((len(tables), size))
    for table, v in itertools.product(tables, range(1, size + 1)):
        if set(table) <= {0, v}:
            gain[index[table], v - 1] += math.prod(share if x else 1 - share for x in table) / size
    rows = []
    for table in tables:
        for i, other in itertools.product(range(n), range(size + 1)):
            if table[i] != other:
                near = index[(*table[:i], other, *table[i + 1 :])]
                for v in range(size):
                    row = np.zeros((len(tables), size))
                    row[index[table], v], row[near, v] = 1, -math.exp(epsilon)
                    rows.append(row.ravel())
    sums = np.kron(np.eye(len(tables)), np.ones(size))
    found = linprog(-gain.ravel(), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(len(tables)))
    return 1 + float(found.fun)


@pytest.mark.parametrize(("size", "n"), [(2, 1), (2, 3), (3, 2), (5, 1)])
def test_no_private_decoder_beats_the_bound(size: int, n: int) -> None:
    for epsilon, changed in itertools.product((0.2, 1.0, 3.0), range(1, n + 1)):
        best = best_decoding_error(size, n, epsilon, changed / n)
        bound = p4.decoding_error_lower(size=size, epsilon=epsilon, changed=changed)
        assert bound - 1e-9 <= best
    assert best <= 40 * bound + 1e-9  # the bound is not vacuous


def test_private_excess_uses_the_largest_number_of_records() -> None:
    for d, zeta, epsilon in itertools.product((1, 3, 20), (0.2, 1e-3), (0.1, 1.0)):
        n, k = 1000, 3.0
        excess = p4.private_excess_lower(
            n=n, size=2**d, separation=0.5, moment_order=k, moment_bound=1, diameter=1, epsilon=epsilon, failure=zeta
        )
        changed = round(n * (64 * excess) ** (k / (k - 1)))
        if changed < n:
            assert p4.decoding_error_lower(size=2**d, epsilon=epsilon, changed=changed) >= zeta * (1 - 1e-9)
            assert p4.decoding_error_lower(size=2**d, epsilon=epsilon, changed=changed + 1) < zeta


def test_private_excess_has_the_rate_of_theorem_g6() -> None:
    quotients = []
    for d, zeta, epsilon, n in itertools.product((2, 10, 100), (0.1, 1e-6, 1e-30), (0.05, 0.5), (10**3, 10**6)):
        rate = min(1.0, (d + math.log(1 / zeta)) / (n * epsilon)) ** 0.5
        excess = p4.private_excess_lower(
            n=n, size=2**d, separation=0.5, moment_order=2, moment_bound=1, diameter=1, epsilon=epsilon, failure=zeta
        )
        quotients.append(excess / rate)
    assert min(quotients) > 0.4 / 64


# ---------------------------------------------------------------------------------------------- objective perturbation


def test_objective_perturbation_spends_what_its_theorem_says_and_a_pair_of_neighbours_attains_it() -> None:
    """But for rounding's part, of which the pair's points, the same to 16 digits, show next to nothing."""
    n, plan = 6, ObjectivePlan(epsilon=1.3, lipschitz=0.8, weight=0.3, bound=1.0, share=0.4, reserve=0.07)
    size = accuracy_of(plan, n, dimension=1, reach=1.0, far=1.0)
    numbers = {"n": n, "clip": 0.8, "weight": 0.3, "curvature": curvature_of(plan, n)}
    tilted = p4.objective_epsilon(**numbers, tilt=tilt_scale(plan), accuracy=0.0, noise=1.0)  # type: ignore[arg-type]
    spends = p4.objective_epsilon(**numbers, tilt=tilt_scale(plan), accuracy=size, noise=2 * size / (0.07 * 1.3))  # type: ignore[arg-type]
    assert tilted == pytest.approx(0.93 * 1.3)
    assert spends == pytest.approx(1.3)
    worst = 0.0
    known = {"loss": "absolute", "domain": "ball:1", "epsilon": 1.3, "plan": plan}
    for data, neighbour in worst_neighbours(n, 2, plan=plan):
        _, here = run(objective_perturbation, data, np.random.default_rng(0), **known)
        _, there = replay(objective_perturbation, neighbour, here, **known)
        laws = here.releases[0].law, there.releases[0].law
        worst = max(worst, max_loss(*laws), max_loss(*reversed(laws)))
    assert 0.999 * tilted <= worst <= tilted * (1 + 1e-12)


def test_the_lemma_of_determinants_is_attained_by_no_more_than_it_says() -> None:
    rng = np.random.default_rng(2)
    largest = 0.0
    for _ in range(500):
        d, n, weight, eta = (
            int(rng.integers(1, 4)),
            int(rng.integers(1, 9)),
            10 ** rng.uniform(-1, 1),
            10 ** rng.uniform(-1, 2),
        )
        basis, unit = np.linalg.qr(rng.standard_normal((d, d)))[0], rng.standard_normal(d)
        Q = basis @ np.diag(np.clip(rng.uniform(-0.3, 1.3, d), 0, 1)) @ basis.T
        root = rng.standard_normal((d, d)) * rng.integers(2)
        N = (root @ root.T + n * weight * np.eye(d)) @ Q + rng.uniform(0.1, 9) * (np.eye(d) - Q)
        quotient = np.linalg.det(N + eta * np.outer(unit, unit) / (unit @ unit) @ Q) / np.linalg.det(N)
        allowed = p4.determinant_quotient_upper(n=n, weight=weight, curvature=eta)
        assert 1 - 1e-9 <= quotient <= allowed * (1 + 1e-9)
        largest = max(largest, quotient / allowed)
    assert largest > 0.999
