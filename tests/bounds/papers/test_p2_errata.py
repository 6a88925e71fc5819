"""P2's errata: every gap can be absent, and what `found` says still stands does.

The middle expression of (77) always exceeds 1 and (88) is twice its target at every argument: these two gaps never close.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tailproof.bounds import explicit
from tailproof.bounds.erratum import Gap, stands
from tailproof.bounds.papers import p2
from tailproof.bounds.papers import p2_errata as module
from tailproof.bounds.papers.gaps import equality_gap

SEVEN = {"epsilon": 1.0, "delta": 1e-6, "few": 10**6}  # Theorem 7's setting

HARMLESS: list[tuple[Callable[..., Gap], dict[str, Any]]] = [
    (module._last_iterate_gap, {"squared_contraction": 1.0}),
    (module._direction_gap, {"points": [-1.0, -1.0], "centre": -1.0}),
    (module._randomiser_gap, {"size": 1, "rho": 0.01, "clip": 1.0}),
    (module._descent_gap, {"slope": 0.1, "smoothness": 0.1, "step": 10.0}),
    (module._conversion_gap, {"rho": 1.0, "delta": 1e-5}),
    (module._clip_step_gap, {"constant": 0.5, "clip": 1.0}),
    (module._chernoff_range_gap, {"n": 1, "clip": 1.0, "moment": 1.0, "t": 0.5}),
    (module._shuffle_term_gap, {"epsilon0": 1.0, "groups": 1}),
    (equality_gap, {"left": 6.0, "right": 6.0}),
    (module._shuffle_condition_gap, {"groups": 10**6, "delta": 1e-5}),
    (module._group_variance_gap, {"n": 100, "groups": 1, "clip": 1.0, "rho": 1.0}),
    (module._desymmetrise_gap, {"functions": (1 - 3 * np.eye(3)).tolist()}),
    (module._contraction_gap, {"functions": [[0.0], [1.0]], "n": 1}),
    # nε above d^{5/2}: (6) without its logarithm is below the achieved risk.
    (module._class_gap, {"low": 10**6, "high": 10**24, "reach": 3.0}),
    (module._lower_log_gap, {"few": 10**12, "many": 10**48, "power": 0.0}),
    (module._tail_gap, {"low": 10**6, "high": 10**6}),
    (module._start_gap, SEVEN | {"start": 1e12, "many": 10**8}),
    (module._bias_gap, SEVEN | {"start": 1.0, "many": 10**8}),
    (module._squared_log_gap, {"n": 1000, "d": 3, "groups": 100, "mild": 1e-4, "tiny": 1e-4}),
    (module._shuffle_range_gap, {"power": 3.0, "delta": 1e-6, "low": 1e16, "high": 1e32}),
    (module._reuse_gap, {"smoothness": 1.0, "slope": 1.0, "step": 0.01, "steps": 20}),
    (module._record_smoothness_gap, {"width": 1.0}),
    (module._delta_log_gap, {"n": 1e6, "steps": 1e4, "d": 10.0, "mild": 10.0, "tiny": 10.0}),
    (module._vanishing_log_gap, {"groups": 10**4, "mild": 0.1, "near_one": 1e-12}),
    (module._missing_log_gap, {"few": 1e4, "many": 1e80, "power": 3.0}),
    (module._intro_lower_gap, {"p": 1.0, "few": 10.0, "many": 1e6}),
    (module._double_log_gap, {"few": 10.0, "many": 10.0}),
    (module._projection_gap, {"gradient": -1.0, "step": 0.5}),
    (module._covering_gap, {"diameter": 2.0, "moment": 1.0, "radius": 0.01, "low": 1, "high": 10}),
    (module._net_gap, {"smoothness": 1.0, "diameter": 1.0, "radius": 0.01}),
    (module._norm_log_gap, {"n": 100, "d": 3, "constant": 3.0}),
    (module._fourth_power_gap, {"error": 2.0}),
    (module._centred_moment_gap, {"p": 2.0, "low": 1.0, "weight": 0.1}),
    (module._root_two_gap, {"clip": 1.0}),
    (module._gaussian_norm_gap, {"d": 10**10}),
    (module._one_direction_gap, {"point": [1.0, 0.0], "mean": [1.0, 0.0], "radius": 0.0}),
    (module._one_direction_gap, {"point": [2.0, 5.0], "mean": [1.0, 0.0], "radius": 0.0}),
    (module._at_least_gap, {"points": [1.0, 1.0], "centre": 0.0, "radius": 0.0}),
    (module._root_reach_gap, {"few": 1e10, "many": 1e10, "delta": 0.5}),
]


@pytest.mark.parametrize(("gap", "arguments"), HARMLESS)
def test_a_gap_can_be_absent(gap: Callable[..., Gap], arguments: dict[str, Any]) -> None:
    assert not stands(gap(**arguments))


def test_the_desymmetrisation_counterexample_is_the_least_of_its_kind() -> None:
    assert module._desymmetrise_gap(functions=(1 - 4 * np.eye(4)).tolist()) == (2.0, 2.0)
    assert module._desymmetrise_gap(functions=(1 - 5 * np.eye(5)).tolist()) == (2.5, 2.0)


# What `found` says to stand, or to fail.


def test_theorem_6_stands_in_both_ranges_of_k() -> None:
    for delta, k in itertools.product((1e-12, 1e-6, 1e-2, 0.5, 0.999), (1, 10, 10**3, 10**4, 10**5, 10**6)):
        epsilon = 8 * math.e**2 * math.sqrt(math.log(4 / delta) / k) * (1 - 1e-12)
        rho = explicit.group_zcdp(epsilon=epsilon, delta=delta, groups=k)
        epsilon0 = rho + 2 * math.sqrt(rho * math.log(12 * k / delta))
        if k <= 64 * math.e**4 * math.log(8 / delta):
            assert epsilon0 <= epsilon
        else:
            assert epsilon0 <= 1 < math.log(k / (16 * math.log(4 / delta)))


def test_the_end_of_80_holds_with_either_second_term() -> None:
    for log, k in itertools.product((math.log(8), 3.0, 50.0), (1, 10, 10**6)):
        for second in (8 * math.e / k, 8 * math.e / math.sqrt(k)):
            third_line = math.e / 2 * (8 * math.sqrt(math.e * log / k) + second)
            assert third_line <= 8 * math.e**2 * math.sqrt(log / k)


def test_simple_clipping_meets_the_claimed_optimum_at_the_printed_radius() -> None:
    """(19), T and η as printed, λ = M = L = 1, p = 2, ε = 1, n = d⁴: the optimum over the proved risk grows."""
    quotients = []
    for d in (10**4, 10**8, 10**16):
        n = d**4
        rho = (1 / (1 + 2 * math.sqrt(8 * math.log(d)))) ** 2
        clip = math.sqrt(d) * min(math.sqrt(n * math.sqrt(rho / d)), math.sqrt(n / d))
        steps = math.ceil(rho * float(n) ** 2 / (d * clip**2))
        unit: dict[str, float] = {"moment": 1.0, "smoothness": 1.0, "diameter": 1.0}
        step = 1 / math.sqrt(2 * steps)
        risk = p2.reused_excess_risk_upper(n=n, d=d, p=2.0, clip=clip, rho=rho, step=step, steps=steps, **unit)
        quotients.append((math.sqrt(d / n) + d**0.75 / math.sqrt(n)) / risk)
    assert quotients[0] < quotients[1] / 2 < quotients[2] / 4


def test_the_third_term_of_20_is_not_always_above_the_first() -> None:
    for d, p in itertools.product((2.0, 100.0), (3.0, 4.0, 8.0)):
        n = d ** (2 * (p - 1) / (p - 2))
        assert d ** (1.5 - 1 / p) / n ** (1 - 1 / p) == pytest.approx(math.sqrt(d / n))


def test_a_group_has_the_noise_that_theorem_7_implies() -> None:
    """σ ≥ 32e²√(k/d) whatever n, ε and δ are; d = 1."""
    for n, epsilon, delta in itertools.product((10**6, 10**12), (0.01, 1.0), (1e-9, 0.5)):
        sigma, _, groups = module._noise_of_theorem_7(n, epsilon, delta)
        assert sigma >= 32 * math.e**2 * math.sqrt(groups) * (1 - 1e-6)


def test_the_fixed_start_is_left_only_from_afar() -> None:
    sigma, _, groups = module._noise_of_theorem_7(10**6, 1.0, 1e-6)
    assert module._leaving(0.3, 1.0, sigma, groups) < 1e-100
    assert module._leaving(2 * sigma, 1.0, sigma, groups) > 1 - 1e-9


def test_reuse_fails_by_any_factor() -> None:
    """At a small enough step and many of them, (11) is K²η + …, the risk λ/2 for K = λ."""
    factors = [
        measured / allowed
        for step, steps in ((0.01, 20_000), (0.001, 200_000))
        for measured, allowed in [module._reuse_gap(smoothness=1.0, slope=1.0, step=step, steps=steps)]
    ]
    assert factors[1] > 3 * factors[0] > 24


def test_equation_28_stands_when_every_direction_is_asked() -> None:
    """0.9k and 0.9k of k points have one in common."""
    assert all(2 * math.ceil(0.9 * k) > k for k in range(1, 1000))
