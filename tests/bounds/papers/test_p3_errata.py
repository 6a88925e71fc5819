"""P3's errata: every gap can be absent, and what `found` says still stands does."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tailproof.bounds import explicit
from tailproof.bounds.erratum import Gap, stands
from tailproof.bounds.papers import p3_errata as module
from tailproof.bounds.papers.gaps import gaussian_gap

LARGE_DELTA = {"d": 10, "v": 1.0, "epsilon": 1.0, "log_inverse_delta": 1.0, "multiple": 1000.0}
HARMLESS: list[tuple[Callable[..., Gap], dict[str, Any]]] = [
    (gaussian_gap(explicit.p3_gaussian_scale), {"epsilon": 1.0, "delta": 0.01}),
    (module._density_gap, {"scale": 1.0, "reach": 0.5}),
    (module._peeling_gap, {"epsilon": 0.9, "delta": 0.5}),
    (module._tail_integral_gap, {"constant": 2.0, "clip": 0.0}),
    (module._laplace_max_gap, {"d": 10, "xi": 0.01}),
    (module._two_sided_gap, {"n": 2, "xi": 0.4}),
    (module._sampling_step_gap, {"n": 100, "v": 0.5, "epsilon": 1.0, "delta": 1e-5, "xi": 0.1}),
    (module._vanishing_rate_gap, {"n": 100, "v": 1.0, "epsilon": 1.0, "delta": 1e-5, "xi": 0.1}),
    (
        module._optimal_gap,
        {"n": 10**6, "v": 1.0, "epsilon": 1.0, "log_inverse_delta": 10.0, "xi": 0.05, "factor": 5.0},
    ),
    (module._half_sample_gap, {"n": 10**7, "mass": 1e-6, "epsilon": 1e-3, "factor": 1e-3}),
    (module._half_sample_gap, {"n": 10**6, "mass": 1e-6, "epsilon": 1e-5, "factor": 1e-3}),
    (module._few_records_gap, {"product": 1.0, "v": 1.0, "factor": 1.0}),
    (module._known_mean_gap, {"mean": 0.1, "guess": 0.0, "claimed": 1e-3}),
    (module._sample_power_gap, {"moment": 1.0, "v": 0.5}),
    (module._group_mean_gap, {"constant": 1.0, "groups": 1, "size": 2}),
    (module._median_event_gap, {"groups": 0}),
    (module._dimension_power_gap, {"v": 0.0}),
    (module._record_power_gap, {"v": 0.5, "numerator": 0.5}),
    (module._reused_batch_gap, {"epsilon": 0.5, "delta": 1e-5, "steps": 1}),
    (module._small_moment_gap, {"n": 100, "v": 1.0, "moment": 1.0, "factor": 1.0}),
    (module._combined_gap, {"n": 10**12, "d": 1, "epsilon": 1.0, "v": 1.0, "factor": 1.0}),
    (module._threshold_gap, {"n": 10**40, "d": 1, "epsilon": 1.0, "v": 1.0, "factor": 1.0}),
    (module._condition_gap, {"alpha": 1.0, "beta": 1.0, "v": 1.0, "factor": 100.0}),
    (module._exact_descent_gap, {"curvature": 1.0, "steps": 1}),
    (module._offset_descent_gap, {"curvature": 1.0, "error": 1.0, "diameter": 1.0, "steps": 60}),
    (module._burst_gap, {"mean_error": 1e-4, "burst": 1e-4, "steps": 50}),
    (module._step_count_gap, {"alpha": 1.0, "beta": 2.0, "target": 100.0}),
    (module._jump_gap, {"gradient": 9.0, "threshold": 10.0, "smoothness": 1.0, "radius": 0.01}),
    (module._failure_gap, {"n": 1, "epsilon": 1.0, "v": 0.5, "gradient_bound": 1.0}),
    (module._logarithms_gap, {"steps": 10, "delta": 1.0}),
    (module._exponent_gap, {"moment": 3.0, "d": 4, "threshold": 2.0, "v": 1.0}),
    (module._rare_error_gap, {"bound": 1e-3, "failure": 0.0, "burst": 1e3, "factor": 1e3}),
    (module._rare_error_gap, {"bound": 1e-3, "failure": 0.1, "burst": 1e-3, "factor": 1.0}),
    (module._step_power_gap, {"v": 0.5, "power": 1.0}),
    (module._fano_gap, {"n": 10**6, "d": 100, "epsilon": 0.1, "delta": 1e-6, "share": 0.25}),
    (module._strong_delta_gap, LARGE_DELTA | {"factor": 1e-3}),
    (module._convex_delta_gap, LARGE_DELTA | {"factor": 1e-2}),
    (module._sparse_delta_gap, LARGE_DELTA | {"sparsity": 2, "factor": 1e-3}),
    (module._gradient_moment_gap, {"position": 0.0, "moment": 0.01, "mass": 0.001, "v": 1.0}),
    (module._stationary_gap, {"moment": 1.0, "mass": 0.01, "v": 1.0, "d": 2, "curvature": 0.1}),
    (module._private_fano_gap, {"power": 1.0}),
    (module._code_gap, {"d": 8, "multiple": 0.5}),
    (module._sphere_gap, {"norm": 1.0}),
    (module._packing_gap, {"log_d": 10.0, "factor": 0.01}),
    (module._least_records_gap, {"epsilon": 1.0, "log_product": 50.0}),
    (module._square_gap, {"distance": 1.0}),
    (module._unbounded_gap, {"convexity": 1.0, "moment": 1.0, "v": 1.0, "multiple": 2.0}),
    (module._logistic_gap, {"feature": 1.0, "ridge": 1.0, "smoothness": 100.0, "step": 0.01}),
    (module._sensitivity_gap, {"clip": 1.0, "step": 1.0, "size": 10, "sparsity": 3}),
    (module._projection_gap, {"sparsity": 2, "size": 3, "inside": 2, "c": 2.0}),
    (module._restricted_gap, {"coordinate": 0.5, "shift": 1.0}),
    (module._coefficient_gap, {"eta": 0.5, "gamma": 1.0}),
    (module._union_gap, {"new": 0.0, "both": 1.0, "old": 2.0}),
    (module._cross_term_gap, {"noise": 1.0, "error": 0.0}),
    (module._weight_gap, {"c": (7 + math.sqrt(57)) / 2}),
    (module._inverse_gap, {"c": 1.0}),
    (module._contraction_gap, {"condition": 10.0, "ratio": 719.0}),
    (module._dimension_gap, {"log_d": 0.0, "xi": 0.1, "factor": 10.0}),
    (module._merged_terms_gap, {"moment": 1.0, "clip": 1.0, "v": 0.5, "n": 10**12, "factor": 10.0}),
]


THEOREM_1 = {"n": 1000, "epsilon": 0.5, "delta": 1e-5, "xi": 0.1}
ROUNDED: list[tuple[Callable[..., Gap], dict[str, Any]]] = [  # quotients of two long formulas
    (module._bias_step_gap, THEOREM_1 | {"v": 1e-15}),
    (module._noise_step_gap, THEOREM_1 | {"v": 1.0}),
]


@pytest.mark.parametrize(("gap", "arguments"), HARMLESS)
def test_a_gap_can_be_absent(gap: Callable[..., Gap], arguments: dict[str, Any]) -> None:
    assert not stands(gap(**arguments))


@pytest.mark.parametrize(("gap", "arguments"), ROUNDED)
def test_a_gap_can_be_absent_up_to_rounding(gap: Callable[..., Gap], arguments: dict[str, Any]) -> None:
    assert gap(**arguments)[0] < 1e-13


def test_every_gap_is_seen_absent() -> None:
    gaps = {value for name, value in vars(module).items() if name.startswith("_") and name.endswith("_gap")}
    assert gaps <= {gap for gap, _ in HARMLESS + ROUNDED}


# What `found` and the gaps say.


def test_equations_6_and_7_need_epsilon_below_the_noise_logarithm() -> None:
    for delta in (1e-5, 0.3, 0.5, 0.9, 1.0):
        measured, allowed = module._sampling_step_gap(n=50, v=0.7, epsilon=0.8, delta=delta, xi=0.1)
        assert measured / allowed == pytest.approx(0.8 / math.sqrt(math.log(1.25 / delta)))


def test_the_printed_7_fails_exactly_for_delta_near_one() -> None:
    # ε = 1: A ≥ 1 iff δ ≤ 1.25/e.
    for delta, fails in ((1.25 / math.e - 1e-6, False), (1.25 / math.e + 1e-6, True)):
        gap = module._sampling_step_gap(n=50, v=0.7, epsilon=1.0, delta=delta, xi=0.1)
        assert stands(gap) == fails


def test_the_rule_that_refutes_lemma_15_is_private() -> None:
    epsilon, delta, n = 1.0, 0.05, 14
    chances = module._chances(epsilon=epsilon, delta=delta)
    assert 2 * (len(chances) - 1) <= n  # every chance occurs

    def law(counts: tuple[int, ...]) -> Counter[int]:
        """Value 0 holds counts[0] records; the rule publishes 1, 2 or 3, else 0."""
        order = sorted(range(1, 4), key=lambda value: -counts[value])
        chance = chances[min((counts[order[0]] - counts[order[1]]) // 2, len(chances) - 1)]
        return Counter({order[0]: chance}) + Counter({0: 1 - chance})

    for counts in itertools.product(range(n + 1), repeat=4):
        if sum(counts) != n:
            continue
        here = law(counts)
        for lost, gained in itertools.permutations(range(4), 2):
            if counts[lost]:
                there = law(tuple(c - (i == lost) + (i == gained) for i, c in enumerate(counts)))
                beyond = sum(max(0.0, here[value] - math.exp(epsilon) * there[value]) for value in here)
                assert beyond <= delta + 1e-12


def test_theorem_8_is_claimed_alike_for_every_delta() -> None:
    setting: dict[str, Any] = {"d": 10, "v": 1.0, "epsilon": 1.0, "multiple": 1000.0, "factor": 1.0}
    gaps = [module._strong_delta_gap(log_inverse_delta=log, **setting) for log in (1e2, 1e4, 1e6, 1e8)]
    assert [claimed for claimed, _ in gaps] == pytest.approx([1e-3] * 4, rel=1e-3)
    assert [upper for _, upper in gaps] == pytest.approx([2.88e-3, 2.88e-4, 2.88e-5, 2.88e-6], rel=0.01)


def test_the_gradient_of_theorem_8_has_moment_4u_at_most_for_large_u() -> None:
    for u, p, v in itertools.product((1.0, 1.5, 10.0, 1e6), (1e-9, 0.1, 0.5, 1.0), (1e-3, 0.3, 1.0)):
        assert module._gradient_moment_gap(position=1.0, moment=u, mass=p, v=v)[0] <= 4 * u


def test_the_instance_against_theorem_6_is_in_the_class() -> None:
    n, v, u = 100, 0.5, 1e-3
    q, size = 1 / n, (u / 4 * n) ** (1 / (1 + v))
    alpha = q * size
    for w in (-1.0, -0.3, 0.0, 0.7, 1.0):
        assert q * abs(alpha * w - size) ** (1 + v) + (1 - q) * abs(alpha * w) ** (1 + v) <= u


@pytest.mark.parametrize("v", [0.5, 1.0])
def test_the_instance_against_theorem_7_is_in_the_class(v: float) -> None:
    tau = (1e40 / (1e9) ** 1.5) ** (1 / (1 + v))
    mass = tau ** -(1 + v) / 2
    assert mass * (tau + 1.001) ** (1 + v) + 0.5 ** (1 + v) <= 1


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_the_bursts_against_lemma_18_by_enumeration(steps: int) -> None:
    mean_error, burst, risk = 0.1, 2.0, 0.0
    p = mean_error / burst
    for errors in itertools.product((0.0, burst), repeat=steps):
        w = 0.0
        for error in errors:
            w = max(-burst, min(burst, w - (w + error) / 2))
        risk += math.prod(p if error else 1 - p for error in errors) * w**2 / 2
    assert module._burst_gap(mean_error=mean_error, burst=burst, steps=steps)[0] == pytest.approx(risk)


def test_the_display_after_33_holds_with_its_coefficient() -> None:
    # √A ≤ √A' + (η/γ)(√E₁ + √E₂) + √W, and (Σxᵢ)² ≤ ΣPᵢxᵢ² when Σ1/Pᵢ ≤ 1.
    for c in (1 + 10**x for x in (-6, -3, -1, 0, 0.5, 1, 2, 4)):
        assert c * (c - 1) / (c + 1) ** 2 + 2 / (c + (c + 1) ** 2 / c) + (c - 1) / (c * (c + 1)) < 1


def test_lemma_25_where_its_condition_fails() -> None:
    # L = ½‖w − c‖²; in the plane, w* the nearest vector of one coordinate.
    grid = [x / 4 for x in range(-8, 9)]
    failures = 0
    for small, w in itertools.product((0.25, 0.5, 1.0), itertools.product(grid, repeat=2)):
        gradient, star = math.hypot(w[0] - 1, w[1] - small), math.hypot(w[0] - 1, w[1])
        excess = gradient**2 / 2 - small**2 / 2
        left = gradient**2 - star**2 / 4
        failures += left < excess / 2 - 1e-12
        assert left >= min(excess, excess / 2) - 1e-12
    assert failures > 0
