"""What is particular to P3: its explicit inequalities against numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tailproof.bounds.papers import p3
from tailproof.bounds.papers.p3 import COMPARISONS, STATEMENTS

BY_ID = {statement.id: statement for statement in STATEMENTS}


def test_special_cases_claimed_in_the_text_are_there() -> None:
    assert {"P3.R1", "P3.T2.v1", "P3.S5.v1.convex", "P3.S5.v1.strong", "P3.R3.v1"} <= set(BY_ID)
    assert len(COMPARISONS) >= 15


# Explicit inequalities.


def test_pure_mean_stays_under_ten_times_the_rate_and_over_the_lower_bound() -> None:
    for n, d, v, u, eps in itertools.product(
        (10, 10**4, 10**7), (2, 8, 50), (0.1, 0.5, 1.0), (0.01, 1.0, 30.0), (0.01, 1.0)
    ):
        upper = p3.pure_mean_square_upper(n=n, d=d, v=v, moment=u, epsilon=eps)
        assert upper <= 10 * u ** (2 / (1 + v)) * d * (d / (n * eps)) ** (2 * v / (1 + v)) * (1 + 1e-12)
        assert p3.packing_mean_lower(n=n, d=d, v=v, moment=u, epsilon=eps) ** 2 <= upper


def test_laplace_mean_stays_under_five_times_the_rate() -> None:
    for n, v, u, eps, xi in itertools.product((10, 10**6), (0.1, 0.5, 1.0), (0.01, 30.0), (0.01, 1.0), (0.3, 1e-6)):
        rate = u ** (1 / (1 + v)) * (math.log(1 / xi) / (n * eps)) ** (v / (1 + v))
        assert p3.truncated_laplace_error_upper(n=n, v=v, moment=u, epsilon=eps, xi=xi) <= 5 * rate


def test_composition_share_composes() -> None:
    """ε'√(2m ln(2/δ)) + mε'(e^{ε'} − 1) ≤ ε, the advanced composition theorem at slack δ/2."""
    for eps, delta, m in itertools.product((0.01, 0.5, 0.999), (1e-9, 0.1, 0.999), (1, 2, 10, 1000)):
        share = p3.composition_share(epsilon=eps, delta=delta, steps=m)
        assert share * math.sqrt(2 * m * math.log(2 / delta)) + m * share * math.expm1(share) <= eps


def test_private_fano_is_below_what_a_private_vote_attains() -> None:
    """Two point masses and one record: randomised response has error 1/(1 + e^ε)."""
    for eps in (0.01, 0.1, 1.0, 5.0):
        lower = p3.private_fano_lower(separation=1.0, log_packing=math.log(2), n=1, distance=1.0, epsilon=eps)
        assert lower <= 1 / (1 + math.exp(eps))


def test_approximate_fano_exceeds_what_a_private_vote_attains() -> None:
    """Lemma 15 is false: an (ε, δ)-DP vote over M point masses, whose chance of naming the majority grows as fast as
    (ε, δ) allows, has risk 0."""
    epsilon, delta, chances = 0.1, 1e-6, [0.0]
    while chances[-1] < 1:
        a = chances[-1]
        chances.append(min(1.0, math.exp(epsilon) * a + delta, 1 - math.exp(-epsilon) * (1 - a - delta)))
    for a, b in itertools.pairwise(chances):
        assert b <= math.exp(epsilon) * a + delta + 1e-12
        assert 1 - a <= math.exp(epsilon) * (1 - b) + delta + 1e-12
    n = 2 * (len(chances) - 1)  # the majority counts n/2, …, n have these chances
    lower = p3.approximate_fano_lower(separation=1.0, log_packing=1e6, n=n, distance=1.0, epsilon=epsilon, delta=delta)
    assert lower > 0.4


def test_strongly_convex_bound_as_printed_fails_for_large_smoothness() -> None:
    beta, error, w = 100.0, 1.0, 0.0
    for _ in range(60):
        w -= (beta * w + error) / (2 * beta)
    assert beta * w**2 / 2 > p3.strongly_convex_risk_upper(diameter=1.0, convexity=beta, smoothness=beta, error=error)


def test_convex_bound_holds_for_noisy_descent_on_a_huber_loss() -> None:
    """Exact expectation over all signs of the noise; bias 0, so the lemma's own proof applies."""
    radius, noise, step, steps = 1.0, 0.7, 0.3, 6
    for start in (-1.0, -0.3, 0.5):
        total = 0.0
        for signs in itertools.product((-noise, noise), repeat=steps):
            w = start
            for sign in signs:
                w = min(radius, max(-radius, w - step * (max(-1.0, min(1.0, 10 * w)) + sign)))
                total += (5 * w**2 if abs(w) <= 0.1 else abs(w) - 0.05) / steps
        bound = p3.convex_risk_upper(
            diameter=2.0, gradient_bound=1.0, step=step, steps=steps, bias=0.0, mean_square=noise**2
        )
        assert total / 2**steps <= bound


def test_peeling_lemmas_on_random_vectors() -> None:
    """Lemmas 23 and 24 (S ⊆ I) for greedy choices with arbitrary noise."""
    rng = np.random.default_rng(20240)
    for _ in range(300):
        d, s = 7, int(rng.integers(1, 5))
        vector, noise = rng.normal(size=d), rng.laplace(scale=rng.choice([0.01, 0.5]), size=(s, d))
        chosen: list[int] = []
        for row in noise:
            chosen.append(max((j for j in range(d) if j not in chosen), key=lambda j: float(abs(vector[j]) + row[j])))
        rest, total = [j for j in range(d) if j not in chosen], float((np.abs(noise).max(axis=1) ** 2).sum())
        c, k = float(rng.uniform(0.1, 5)), min(s, d - s)
        kept, lost = (float((vector[rng.permutation(part)[:k]] ** 2).sum()) for part in (chosen, rest))
        assert lost <= p3.peeling_swap_upper(kept=kept, c=c, noise=total) + 1e-12
        inside = chosen + list(rng.permutation(rest)[: int(rng.integers(1, len(rest) + 1))])
        target = int(rng.integers(0, s + 1))
        best = sorted((float(vector[j] ** 2) for j in inside), reverse=True)[target:]
        left = sum(float(vector[j] ** 2) for j in inside if j not in chosen)
        bound = p3.peeling_projection_upper(
            size=len(inside), sparsity=s, target=target, distance=sum(best), c=c, noise=total
        )
        assert left <= bound + 1e-12


def test_restricted_gradient_bound_holds_above_the_sparse_minimum_only() -> None:
    """½‖w − c‖² with the best one-sparse w*; at (1, 3/4), below L(w*), Lemma 25 fails."""
    c = np.array([1.0, 0.5])
    best = np.array([1.0, 0.0])

    def slack(w: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        value = float(((w - c) ** 2).sum() - ((best - c) ** 2).sum()) / 2
        lower = p3.restricted_gradient_lower(convexity=1.0, excess=value, distance=float(np.linalg.norm(w - best)))
        return float(((w - c) ** 2).sum()) - lower

    for x, y in itertools.product(np.linspace(-2, 3, 26), repeat=2):
        if ((np.array([x, y]) - c) ** 2).sum() >= 0.25:
            assert slack(np.array([x, y])) >= -1e-12
    assert slack(np.array([1.0, 0.75])) < 0


def test_sparse_packings_of_the_stated_size_exist() -> None:
    """Greedy packings of {−1, 0, 1}^d vectors with s* signs at Hamming distance ≥ s*/2."""
    for d, s in ((4, 1), (5, 2), (6, 3), (7, 4)):
        words = [
            np.array([dict(zip(support, signs, strict=True)).get(j, 0) for j in range(d)])
            for support in itertools.combinations(range(d), s)
            for signs in itertools.product((-1, 1), repeat=s)
        ]
        packing: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        for word in words:
            if all((word != other).sum() >= s / 2 for other in packing):
                packing.append(word)
        assert math.log(len(packing)) >= p3.sparse_packing_log_size_lower(d=d, sparsity=s)


def test_two_point_instance_has_the_moment_and_the_separation() -> None:
    for v, u, mass in itertools.product((0.1, 0.5, 1.0), (0.1, 3.0), (1e-4, 0.3)):
        jump = (u / mass) ** (1 / (1 + v))
        assert mass * jump ** (1 + v) == pytest.approx(u)
        assert mass * jump == pytest.approx(p3.two_point_separation(v=v, moment=u, mass=mass))
