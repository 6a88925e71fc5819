"""Moreau envelopes of the losses against their definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from tailproof.refimpl.extension.batched import fenchel_gap, margin_of_slope
from tailproof.refimpl.extension.smoothing import Smoothed
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, ReLU, Squared
from tailproof.refimpl.validation import InputError

LOSSES: list[GlmLoss] = [Affine(), Hinge(), ReLU(), Absolute(), Logistic(), Squared(), L4()]
names = [type(loss).__name__ for loss in LOSSES]


def targets_of(loss: GlmLoss, rng: np.random.Generator, size: int, width: float) -> np.ndarray:
    plain = rng.normal(size=size) if loss.target == "real" else np.zeros(size)
    return np.column_stack([plain, np.full(size, width)])


@pytest.mark.parametrize("loss", LOSSES, ids=names)
@pytest.mark.parametrize("width", [1e-6, 0.1, 3.0, 1e4])
def test_value_is_the_minimum_that_defines_it(loss: GlmLoss, width: float) -> None:
    rng = np.random.default_rng(1)
    targets = targets_of(loss, rng, 12, width)
    margins = targets[:, 0] + rng.normal(size=12) * np.sqrt(1 + width)
    values = Smoothed(loss).phi(margins, targets)
    for m, row, value in zip(margins, targets, values, strict=True):

        def sum_at(s: float, m: float = m, row: np.ndarray = row) -> float:
            return float(loss.phi(np.array([s]), row[:1])[0] + (m - s) ** 2 / (2 * width))

        reach = 3 * (1 + width) * (1 + abs(m))
        found = minimize_scalar(sum_at, bounds=(m - reach, m + reach), method="bounded", options={"xatol": 1e-12})
        assert value <= min(found.fun, sum_at(row[0]), sum_at(1.0)) + 1e-12 * (1 + abs(found.fun))
        slope = Smoothed(loss).dphi(np.array([m]), row[np.newaxis])[0]
        assert value == pytest.approx(sum_at(m - width * slope), rel=1e-12, abs=1e-15)


@settings(deadline=None, max_examples=150)
@given(which=st.sampled_from(LOSSES), seed=st.integers(0, 2**32 - 1), width=st.floats(-12, 24), spread=st.floats(-3, 12))
def test_slope_is_that_of_the_loss_at_the_proximal_point(which: GlmLoss, seed: int, width: float, spread: float) -> None:
    """v = φ'(s) at s = m − μv: no Fenchel gap there, but for the rounding of s, and margin_of_slope inverts it."""
    rng = np.random.default_rng(seed)
    targets = targets_of(which, rng, 30, 10.0**width)
    margins = targets[:, 0] + rng.normal(size=30) * 10.0**spread
    smoothed = Smoothed(which)
    v = smoothed.dphi(margins, targets)
    s = margins - targets[:, 1] * v
    rounding = 1e-13 * (np.abs(margins) + np.abs(targets[:, 1] * v) + np.abs(targets[:, 0]) + 1)
    low = which.dphi_interval(s - rounding, targets[:, 0])[0]
    high = which.dphi_interval(s + rounding, targets[:, 0])[1]
    assert (v >= low * (1 - 1e-9 * np.sign(low)) - 1e-300).all()
    assert (v <= high * (1 + 1e-9 * np.sign(high)) + 1e-300).all()
    low_slope, high_slope = smoothed.slope_range
    inner = (v > low_slope + 1e-9) & (v < high_slope - 1e-9) & (v != 0)
    if inner.any():
        back = margin_of_slope(smoothed, v[inner], targets[inner])
        assert np.allclose(back, margins[inner], rtol=1e-8, atol=1e-8 * (1 + np.abs(targets[inner, 0]).max()))


@pytest.mark.parametrize("loss", LOSSES, ids=names)
def test_second_derivative_against_differences(loss: GlmLoss) -> None:
    rng = np.random.default_rng(2)
    targets = targets_of(loss, rng, 200, 0.7)
    margins = targets[:, 0] + 2 * rng.normal(size=200)
    smoothed, h = Smoothed(loss), 1e-6
    slopes = (smoothed.dphi(margins + h, targets) - smoothed.dphi(margins - h, targets)) / (2 * h)
    away = np.ones(200, dtype=bool)
    if loss.is_polyhedral:  # not across the ends of the smoothed kink
        away = smoothed.d2phi(margins + 2 * h, targets) == smoothed.d2phi(margins - 2 * h, targets)
    assert np.abs(slopes - smoothed.d2phi(margins, targets))[away].max() <= 1e-6


@pytest.mark.parametrize("loss", [Logistic(), Squared(), L4()], ids=["Logistic", "Squared", "L4"])
def test_width_zero_changes_nothing(loss: GlmLoss) -> None:
    rng = np.random.default_rng(3)
    targets = targets_of(loss, rng, 50, 0.0)
    margins = rng.normal(size=50)
    assert np.allclose(Smoothed(loss).dphi(margins, targets), loss.dphi(margins, targets[:, 0]), rtol=1e-14)
    assert np.allclose(Smoothed(loss).phi(margins, targets), loss.phi(margins, targets[:, 0]), rtol=1e-14)


def test_conjugate_gains_half_the_width_times_the_square() -> None:
    targets = np.array([[0.3, 2.0]])
    v = np.array([0.4])
    expected = Absolute().finite_conjugate(v, targets[:, 0]) + 2.0 * v**2 / 2
    assert Smoothed(Absolute()).finite_conjugate(v, targets) == pytest.approx(expected)
    assert fenchel_gap(Absolute(), np.array([0.3]), targets[:, 0], v)[0] == 0


def test_has_no_conic_form() -> None:
    with pytest.raises(InputError, match="no cvxpy form"):
        Smoothed(Hinge()).cvxpy_phi(None, 0.0)
