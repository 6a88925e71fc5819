"""What is particular to P1: its explicit inequalities against numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from tailproof.bounds.papers import p1
from tailproof.bounds.papers.p1 import STATEMENTS
from tailproof.refimpl.means.trimmed import noise_shape, smooth_sensitivities

BY_ID = {statement.id: statement for statement in STATEMENTS}


def test_the_displayed_estimators_are_there() -> None:
    assert all(s.printed is None for s in STATEMENTS if s.reconstructed)
    assert {"P1.EST.trim", "P1.EST.soft", "P1.EST.C"} <= set(BY_ID)


# Explicit inequalities.


def test_run_budget_is_the_root_of_lemma_three() -> None:
    for epsilon in (1e-6, 0.1, 1.0, 50.0):
        for delta in (1e-12, 1e-3, 0.9):
            tilde = p1.run_budget(epsilon=epsilon, delta=delta)
            assert p1.zcdp_conversion(epsilon=tilde, delta=delta) == pytest.approx(epsilon, rel=1e-9)


def test_one_step_contracts_quadratics() -> None:
    for curvature in (0.2, 0.5, 1.0):
        rate = p1.contraction(strong_convexity=0.2, smoothness=1.0)
        assert (1 - curvature / 1.0) ** 2 <= rate + 1e-12


def test_soft_mean_is_the_integral() -> None:
    def phi(x: float) -> float:
        return x - x**3 / 6 if abs(x) <= math.sqrt(2) else math.copysign(2 * math.sqrt(2) / 3, x)

    for a, b in ((0.3, 0.1), (1.0, 0.7), (-1.7, 0.4), (0.0, 2.0)):
        points = sorted((z - a) / b for z in (-math.sqrt(2), math.sqrt(2)))
        integral, _ = quad(
            lambda z, a=a, b=b: phi(a + b * z) * math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi),
            -12,
            12,
            points=points,
            limit=200,
        )
        assert p1.soft_mean(location=a, spread=b) == pytest.approx(integral, abs=1e-9)


def test_fixed_trimming_has_noise_that_ignores_the_number_of_records() -> None:
    """The published calibration at records all 0, output clamped to [−1, 1]: never below the bound, for any smoothness."""
    for trim, epsilon, records in ((1, 0.5, 100), (3, 1.0, 100), (3, 1.0, 10**6)):
        bound = p1.constant_trim_noise_lower(trim=trim, epsilon=epsilon, radius=1.0)
        for smoothness in (0.01, 0.1, 0.5, 1.0, 3.0):
            sigma, shrink = noise_shape(epsilon, smoothness)
            (sensitivity,) = smooth_sensitivities(
                np.zeros((1, records)), trim, lower=-1.0, upper=1.0, smoothness=smoothness, clamp="output"
            )
            assert sensitivity / shrink * math.sqrt(2) * math.exp(sigma**2) >= bound
