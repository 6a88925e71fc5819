"""P1's errata: every gap can be absent, and what `found` says still stands does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from tailproof.bounds import explicit
from tailproof.bounds.erratum import Gap, stands
from tailproof.bounds.papers import p1_errata as module

HARMLESS: list[tuple[Callable[..., Gap], dict[str, Any]]] = [
    (module._union_gap, {"failures": [1 / 40, 1 / 6], "claimed_failure": 1 / 4}),
    (module._aggregate_gap, {"d": 4, "radius": 1.0, "epsilon": 1.0}),
    (module._tilde_epsilon_gap, {"epsilon": 0.0, "delta": 1e-5}),
    (module._trim_step_gap, {"data": [-1.0, 0.0, 1.0], "trim": 1}),
    (module._trim_event_gap, {"data": [0.4], "trim": 0, "t": 0.5}),
    (module._trim_event_gap, {"data": [9.0], "trim": 0, "t": 0.5}),
    (module._soft_sensitivity_gap, {"record": 10.0, "replacement": 0.0, "scale": 1.0, "beta": 1.0}),
    (
        module._soft_noise_gap,
        {"n": 1000, "d": 5, "steps": 10, "variance": 1.0, "xi": 0.05, "strong": 1.0, "weak": 1.0},
    ),
    (module._constant_trim_gap, {"epsilon": 1.0, "records": [10**3, 10**9], "trims": [3, 15]}),
    (module._trim_budget_gap, {"n": 1000, "d": 5, "steps": 10, "strong": 1.0, "weak": 1.0}),
    (module._smooth_gradient_gap, {"slopes": [1.0, -1.0], "values": [1.0, 1.0], "smoothness": 0.25}),
    (module._square_gap, {"value": 10.0, "probability": 1.0}),
    (module._root_gap, {"n": 16, "d": 1, "tau": 4 / math.log(16), "tilde": 1.0}),
    (module._drift_gap, {"start": 1.0, "drift": 0.1, "steps": 1}),
    (module._gradient_square_gap, {"smoothness": 1.0, "w": 1.0}),
]


@pytest.mark.parametrize(("gap", "arguments"), HARMLESS)
def test_a_gap_can_be_absent(gap: Callable[..., Gap], arguments: dict[str, Any]) -> None:
    assert not stands(gap(**arguments))


@pytest.mark.parametrize(("value", "scale"), [(-1.0, 1.0), (1.0, 2.0), (-1.0, 2.0), (1.0, 0.5)])
def test_the_displayed_soft_truncation_grows_like_a_cube(value: float, scale: float) -> None:
    near, far = (abs(explicit.soft_truncation_record(value=value * x, scale=scale, beta=1.0)) for x in (100.0, 1000.0))
    assert far > 500 * near


# What `found` says to stand.


def test_lemma_5_stands_with_n_minus_m() -> None:
    for n in range(1, 6):
        for data in itertools.combinations_with_replacement(range(-3, 4), n):
            t, s = abs(sum(data)) / n, max(abs(x) for x in data)
            for m in range((n + 1) // 2):
                kept = data[m : n - m]
                assert abs(sum(kept) / len(kept)) <= (n * t + m * s) / (n - m) + 1e-12


def test_appendix_lemma_1_fails_on_an_interval_at_its_end() -> None:
    assert stands(module._smooth_gradient_gap(slopes=[1.0], values=[0.0], smoothness=1e9))


def test_display_2_needs_trimming_that_grows_like_the_root_of_log_n() -> None:
    """m = c√log n: too small a c leaves the gap open however large n is, c = 3 closes it."""
    for n in (10**6, 10**12, 10**24):
        for share, opened in ((1.0, True), (3.0, False)):
            trims = [round(share * math.sqrt(math.log(k))) for k in (10**3, n)]
            assert stands(module._constant_trim_gap(epsilon=1.0, records=[10**3, n], trims=trims)) == opened


def test_the_drift_of_theorem_8_at_most_doubles_the_distance() -> None:
    start, chi, beta = 2.0, 0.01, 4.0
    measured, _ = module._drift_gap(start=start, drift=chi / beta, steps=math.floor(beta * start / chi))
    assert measured <= 2 * start * (1 + 1e-12)
