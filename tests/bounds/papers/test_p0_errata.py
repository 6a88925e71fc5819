"""P0's errata: every gap can be absent, and what `found` says to stand, or to fail as well, does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from tailproof.bounds import errata, explicit
from tailproof.bounds.erratum import Gap, stands
from tailproof.bounds.papers import p0
from tailproof.bounds.papers import p0_errata as module
from tailproof.bounds.papers.gaps import equality_gap, gaussian_gap
from tailproof.refimpl.claims import gaussian_delta

LOCAL = {"epsilon": 1.0, "delta": 1e-6}

HARMLESS: list[tuple[Callable[..., Gap], dict[str, Any]]] = [
    (gaussian_gap(explicit.p0_gaussian_scale), {"epsilon": 1.0, "delta": 0.99}),
    # Round losses, and too few steps.
    (module._clipped_descent_gap, {"batch": 512, "curvature": 1.0, "delta": 1e-5, "steps": 14 * 512**2}),
    (module._clipped_descent_gap, {"batch": 512, "curvature": 100.0, "delta": 1e-5, "steps": 2 * 512**2}),
    (module._conversion_gap, {"epsilon": 0.1, "delta": 0.5}),
    (module._range_gap, {"delta": 0.8}),
    (
        module._released_gradients_gap,
        {"n": 10**6, "log_delta": 20.0, "range_constant": 1.0, "noise_constant": 16.0},
    ),
    # The proof's noise, with log(n/δ).
    (
        module._released_gradients_gap,
        {"n": 10**6, "log_delta": 200.0, "range_constant": 1.0, "noise_constant": 16.0 * 214},
    ),
    (module._local_epsilon_gap, {"few": 1e3, "many": 1e30, "power": 1.0, "constant": 2.0}),
    (module._empty_set_gap, {"n": 4, "epsilon": 1e3, "delta": 0.5}),
    (module._left_out_noise_gap, {"n": 4, "epsilon": 1e3, "delta": 0.5, "constant": 1000.0}),
    (module._step_size_gap, {"n": 4, "p": 2.0, "constant": 1000.0}),
    (module._distance_step_gap, {"n": 2**20, "p": 1.0, "i": 2, "constant": 1000.0}),
    (module._radius_gap, {"log2_n": 64, "theta": 100.0, "theta_bar": 1.5, "constant": 1.0}),
    (module._partition_gap, {"log2_n": 16, "theta_bar": 2.0}),
    (module._squared_bias_gap, {"norm": 10.0, "clip": 1.0, "k": 2.0}),
    (module._moment_power_gap, {"moment": 1.0}),
    (module._delta_log_gap, {"log_delta": 1.0, "n": 10**4, "constant": 2.0}),
    (module._dropped_factor_gap, {"n": 2**20, "factor": True}),
    (module._growth_order_gap, {"theta": 2.0, "other": 4.0, "w": 1.0}),
    (module._strong_convexity_gap, {"strength": 1.0, "w": 0.0}),
    (module._rounds_gap, {"n": 1000, "smoothness": 1000**1.5}),
    (module._first_weight_gap, {"shift": 1}),
    (module._clipped_mean_gap, {"clip": 1.0, "k": 2.0}),
    (module._p_dependence_gap, {"p": 1.0, "other": 1.0}),
    (module._moment_order_gap, {"log2_n": 2, "k": 2.0, "constant": 2.0}),
    (module._example_moment_gap, {"d": 100, "constant": 1000.0}),
    (module._lower_moment_gap, {"mass": 1.0, "k": 2.0}),
    (module._growth_constant_gap, {"theta": 2.0, "w": 1.0, "mean": 0.1, "constant": 0.5}),
    (module._private_fano_gap, {"d": 100, "n": 10**4, "rho": 1.0, "multiple": 0.1}),
    (module._fano_constant_gap, {"points": 17, "theta": 1.0}),
    (module._divergence_gap, {"d": 0, "bias": 0.1}),
    (module._fano_bias_gap, {"d": 100, "n": 10**4, "bias": 0.01}),
    (module._probability_gap, {"d": 10**4, "multiple": 100.0}),
    (module._abstract_lower_gap, {"n": 1e12, "tau": 1e-1, "k": 2.0, "theta": 2.0, "constant": 1000.0}),
    (module._remark_rate_gap, {"n": 1e12, "tau": 1e-12, "k": 2.0, "theta": 2.0, "constant": 1000.0}),
    (module._section_rate_gap, {"n": 1e12, "d": 1.0, "k": 2.0, "constant": 100.0}),
    (module._strongly_convex_row_gap, {"n": 1e4, "d": 1.0, "constant": 1000.0}),
    (module._heavy_tailed_row_gap, {"n": 1e4, "k": 2.0, "constant": 1000.0}),
    (module._star_gap, {"n": 1e3, "delta": 1e-9, "power": 2.0}),
    (module._half_the_records_gap, {"n": 1e12, "epsilon": 1.0, "k": 2.0, "theta": 2.0, "constant": 1000.0}),
    (module._private_example_gap, {"n": 1e12, "d": 1.0, "epsilon": 1.0, "k": 2.0, "constant": 1000.0}),
    (equality_gap, {"left": 4.0, "right": 4.0}),
]


@pytest.mark.parametrize(("gap", "arguments"), HARMLESS)
def test_a_gap_can_be_absent(gap: Callable[..., Gap], arguments: dict[str, Any]) -> None:
    assert not stands(gap(**arguments))


# Algorithm 2 is less stable than printed.


def iterate(batch: int, curvature: float, sign: int, steps: int) -> tuple[module.Point, float]:
    """Algorithm 2's own iteration on the balanced records, and the largest gradient of the curved ones on the way."""
    strength, share = curvature / batch, 0.5 - 1 / batch
    (u, v), (x0, y0) = module._direction(curvature), module._start(curvature, strength, share, 1 / batch - share)
    eta, pull = 1 / (curvature * batch), sign / batch - share
    x, y, largest = x0, y0, 0.0
    for _ in range(steps):
        gx = curvature * x
        size = math.hypot(gx, y)
        if size > largest:
            largest = size
        c = share / size if size > 1 else share
        x, y = x - eta * (c * gx + pull * u + strength * (x - x0)), y - eta * (c * y + pull * v + strength * (y - y0))
    return (x, y), largest


def check_iteration(rounds: int) -> None:
    """The shift after rounds·n² steps is at least what the gap counts on, and no gradient is above 3."""
    batch, curvature, delta = 512, 100.0, 1e-5
    ends = [iterate(batch, curvature, sign, rounds * batch**2) for sign in (1, -1)]
    shift = math.dist(ends[0][0], ends[1][0]) * curvature / 2
    assert max(largest for _, largest in ends) < 3
    limit = module._balanced_shift(batch, curvature)
    assert limit * (1 - 10 * math.exp(-rounds)) <= shift <= limit * (1 + 1e-9)
    epsilon = math.sqrt(math.log(1 / delta))
    assert gaussian_delta(shift / 4 / math.sqrt(1 + 1 / (15 * batch**2)), epsilon) > 3 * delta


def test_three_n_squared_steps_refute_theorem_1() -> None:
    check_iteration(3)


@pytest.mark.long
def test_fourteen_n_squared_steps_reach_the_fixed_point() -> None:
    check_iteration(14)


def test_fixed_points_are_fixed_and_beyond_the_threshold() -> None:
    for batch, a in ((512, 100.0), (4096, 100.0), (2**16, 1000.0)):
        strength, share = a / batch, 0.5 - 1 / batch
        start = module._start(a, strength, share, 1 / batch - share)
        for sign in (1, -1):
            point = module._fixed_point(a, strength, share, sign / batch - share, start)
            rest = module._regularised(point, a, strength, share, sign / batch - share, start)
            assert math.hypot(*rest) < 1e-12
            assert 1 - 1e-9 <= math.hypot(a * point[0], point[1]) < 3


def test_the_shift_nears_its_limit_so_that_no_constant_helps() -> None:
    for batch, a, delta in ((4096, 100.0, 4e-3), (2**16, 1000.0, 0.77), (2**20, 1e4, 0.999)):
        shift, limit = module._balanced_shift(batch, a), (a + 1) / (2 * math.sqrt(a))
        assert 0.95 * limit < shift < limit
        assert module._clipped_descent_gap(batch=batch, curvature=a, delta=1e-5, steps=14 * batch**2)[0] > delta


def test_the_instance_meets_the_condition_on_the_lipschitz_constant() -> None:
    """n = d = 1024, k = 2, r̃ such that C₁ = 1: n^{p/2}R̃(…) ≥ 3, and W₁ reaches far beyond the iterates."""
    n, d, batch, delta = 1024, 1024, 512, 1e-5
    epsilon = math.sqrt(math.log(1 / delta))
    tau = math.sqrt(d * math.log(1 / delta) * math.log(n)) / (epsilon * n)
    moment = math.sqrt(tau * n / batch) * math.sqrt(1 - 1 / n)  # of a single linear loss, in R̃'s weighted mean
    assert math.sqrt(n) * moment * (1 / math.sqrt(n) + math.sqrt(tau)) > 3
    assert 2 * 3 / (100 / batch) > 30


def test_random_batches_do_not_save_theorem_1() -> None:
    """All other records ½(aw₁² + w₂²): the one that turns is in the first batch with probability ½; a half-space tells."""
    batch, curvature, delta = 256, 100.0, 1e-5
    epsilon, share = math.sqrt(math.log(1 / delta)), 1 - 1 / batch
    shift = module._shift(batch=batch, curvature=curvature, strength=curvature / batch**2, share=share, balance=0.0)
    assert shift == pytest.approx(4.346, abs=1e-3)
    later = 1 / 56  # what the later phases move, in units of σ₁
    x = np.linspace(0, 10, 10_001)
    assert (0.5 * ndtr(shift / 4 - later - x) - math.exp(epsilon) * ndtr(later - x)).max() > 4e-5


def test_the_shift_is_at_most_one_for_round_losses() -> None:
    for batch in (16, 512):
        assert module._balanced_shift(batch, 1.0) <= 1 + 1e-9


# Theorem 1's utility.


@pytest.mark.parametrize("exponent", [20, 30, 40])
def test_theorem_1_fails_also_when_the_first_point_is_projected(exponent: int) -> None:
    n = 2**exponent
    problem = module._bounded_problem(n, **LOCAL)
    far = 0.5 * math.erfc(1 / problem["sigma"] / math.sqrt(2))  # ξ₁ carries every point of W to the far end
    moves = 2 / problem["second"] * 8 / 7
    noise = 8 * problem["clip"] * math.sqrt(math.log(1e6)) * problem["eta"] / 12
    assert far > 0.497
    assert moves < 0.00961
    assert 1 - moves - 3 * noise > 0.99 > 100 * problem["bound"]
    assert problem["sigma"] >= 194


def test_the_condition_of_theorem_1_holds_in_its_counterexample() -> None:
    n = 2**20
    private = math.sqrt(math.sqrt(math.log(1e6) * math.log(n)) / n)
    assert math.sqrt(n) * math.sqrt(1 - 1 / n) * (1 / math.sqrt(n) + private) >= 1


def test_no_constants_save_the_released_gradients_from_small_delta() -> None:
    """The least ln δ(ε) hardly falls with δ, since σ² stays bounded."""
    for n, range_constant, noise_constant in itertools.product((10**4, 10**6), (0.5, 1.0), (16.0, 64.0)):
        constants = {"range_constant": range_constant, "noise_constant": noise_constant}
        assert not stands(module._released_gradients_gap(n=n, log_delta=math.log(n), **constants))
        assert stands(module._released_gradients_gap(n=n, log_delta=50 * math.log(n) ** 2, **constants))


# What `found` says to stand.


def test_theorem_3_has_enough_noise_in_its_range_where_the_output_is_stable() -> None:
    for delta in (0.5, 1e-2, 1e-6):
        log = math.log(1 / delta)
        scale = p0.localised_noise_scale(n=1, clip=0.5, strength=1.0, epsilon=2 * log, delta=delta)
        assert gaussian_delta(1 / scale, 2 * log) <= delta


def test_theorem_5_stands_with_a_smaller_bias() -> None:
    """δ = c/√n: n·KL is at most a share of log M for M = 2^{d/20} even if all d signs differ."""
    for d, n in itertools.product((100, 10**4), (10**4, 10**8)):
        bias = 0.1 / math.sqrt(n)
        divergence = d * bias * math.log((1 + bias) / (1 - bias))
        assert n * divergence < 0.7 * d / 20 * math.log(2)


def test_the_chain_for_mu_has_its_power_of_two_without_the_factor() -> None:
    for exponent in range(8, 60):
        n = 2**exponent
        m = math.floor(0.5 * math.log2(2 * n / exponent)) - 1
        assert 2**m >= 0.25 * math.sqrt(2 * n / exponent)


def test_the_expected_largest_count_is_bounded() -> None:
    for cells, draws in ((2, 1), (2, 6), (3, 5), (4, 4), (6, 3)):
        outcomes = itertools.product(range(cells), repeat=draws)
        largest = sum(max(map(outcome.count, outcome)) for outcome in outcomes) / cells**draws
        assert largest <= module._most_frequent_upper(draws, cells)


def test_the_experiments_budgets_are_beyond_the_theorems() -> None:
    """ε ≤ √log(1/δ) at δ = n^{−1.1}, and the shuffling theorem's ε at ε₀ = ½, by hand."""
    entries = {entry.id: entry.evidence for entry in errata() if entry.id.startswith("P0.Sec7.")}
    assert entries["P0.Sec7.range"]["allowed"] == pytest.approx(math.sqrt(1.1 * math.log(35_000)))
    n, logs = 10_000, math.log(4 / (10_000**-1.1 / 2))
    root = 8 * math.sqrt(math.exp(0.5) * logs / n) + 8 * math.exp(0.5) / n
    by_hand = math.log(1 + (math.exp(0.5) - 1) / (math.exp(0.5) + 1) * root)
    assert entries["P0.Sec7.shuffling"]["allowed"] == pytest.approx(by_hand)
    assert 0.08 < by_hand < 0.09
