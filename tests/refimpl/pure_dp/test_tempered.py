"""Tempered losses: both caps, the envelope, derivatives; each by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.pure_dp.tempered import Ramps, temper
from tailproof.refimpl.validation import FloatArray, InputError

LOSSES: list[GlmLoss] = [Absolute(), Affine(), Hinge(), Logistic(), ReLU(), Squared()]
NAMES = [type(loss).__name__ for loss in LOSSES]


def records(loss: GlmLoss, n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Heavy tails, an outlier of 1e12, a row of 1e-200 and a row of zeros."""
    features, targets = rng.standard_t(1.5, (n, d)), rng.standard_t(1.5, n)
    if n > 3:
        features[0] *= 1e12
        features[1] *= 1e-200
        features[2] = 0
    if loss.target == "label":
        targets = np.where(targets > 0, 1.0, -1.0)
    return features if loss.target == "none" else np.column_stack([features, targets])


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_gradients_and_curvatures_are_capped_everywhere(loss: GlmLoss, seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    C, B = 10 ** rng.uniform(-2, 2, size=2)
    tempered = temper(loss, records(loss, 20, d, rng), clip=C, curvature=B)
    squares = np.einsum("ij,ij->i", tempered.features, tempered.features)
    for size in (1e-3, 1.0, 1e3, 1e9):
        point = size * rng.standard_normal(d)
        assert (np.linalg.norm(tempered.gradient_terms(point), axis=1) <= C).all()
        assert (tempered.curve.curvatures(tempered.margins(point)) * squares <= B).all()
        assert np.allclose(tempered.gradient(point), tempered.gradient_terms(point).sum(axis=0), rtol=1e-9, atol=1e-9 * C)
    if isinstance(tempered.curve, Ramps):  # at the very ends of the ramps
        for margins in tempered.curve.corners():
            assert (np.abs(tempered.curve.slopes(margins)) * np.sqrt(squares) <= C).all()


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_slopes_and_curvatures_are_the_derivatives(loss: GlmLoss) -> None:
    rng = np.random.default_rng(1)
    tempered = temper(loss, records(loss, 3, 2, rng), clip=1.3, curvature=0.7)
    step = 1e-6
    for _ in range(200):
        margins = 3 * rng.standard_normal(3)
        curve = tempered.curve
        slopes = (curve.values(margins + step) - curve.values(margins - step)) / (2 * step)
        assert np.allclose(slopes, curve.slopes(margins), atol=1e-5)
        bends = (curve.slopes(margins + step) - curve.slopes(margins - step)) / (2 * step)
        smooth = curve.curvatures(margins + step) == curve.curvatures(margins - step)
        away = smooth | (not isinstance(curve, Ramps))
        assert np.allclose(bends[away], curve.curvatures(margins)[away], atol=1e-4)


@pytest.mark.parametrize("loss", [Absolute(), Hinge(), ReLU()], ids=lambda one: type(one).__name__)
def test_the_envelope_lies_between_the_weighted_loss_and_half_a_width_below(loss: GlmLoss) -> None:
    """s·f − μ/2 ≤ h ≤ s·f with μ = ‖s·x‖²/B, and h is the Moreau envelope: min over m' of s·φ(m') + (m − m')²/(2μ)."""
    rng = np.random.default_rng(2)
    C, B, d = 1.5, 0.8, 2
    data = records(loss, 3, d, rng)
    norms = np.linalg.norm(data[:, :-1], axis=1)
    s = np.minimum(1, C / norms)
    widths = (s * norms) ** 2 / B
    tempered = temper(loss, data, clip=C, curvature=B)
    for _ in range(50):
        w = 3 * rng.standard_normal(d)
        h, weighted = tempered.values(w), s * loss.values(w, data)
        assert (h <= weighted + 1e-12).all()
        assert (h >= weighted - widths / 2 - 1e-12).all()
        for i in range(3):
            m = float(tempered.margins(w)[i])
            others = np.linspace(m - 2 * widths[i], m + 2 * widths[i], 20001)
            kink = tempered.curve.kinks[i]  # type: ignore[union-attr]
            scaled = np.maximum(tempered.curve.lows[i] * (others - kink), tempered.curve.highs[i] * (others - kink))  # type: ignore[union-attr]
            least = float((scaled + (m - others) ** 2 / (2 * widths[i])).min())
            assert h[i] - 1e-12 <= least <= h[i] + 3 * (others[1] - others[0])


def test_a_record_within_both_caps_stays_as_it_is() -> None:
    data = np.array([[0.3, 0.4, 1.0], [0.0, 0.5, -1.0]])
    w = np.array([0.2, -0.7])
    for loss in (Logistic(), Squared()):
        tempered = temper(loss, data, clip=10.0, curvature=10.0)
        assert np.allclose(tempered.values(w), loss.values(w, data), rtol=1e-12)
        assert np.allclose(tempered.gradient_terms(w), loss.gradients(w, data), rtol=1e-12)


def test_weights_do_not_move_the_minimiser_of_a_well_specified_model() -> None:
    """The population gradient of the weighted loss at the truth is zero given x, by quadrature over noise and over labels."""
    noise = np.linspace(-30, 30, 60001)
    density = (1 + noise**2 / 2.5) ** -1.75  # Student t
    for size in (0.1, 1.0, 50.0):
        x = np.array([size, -size])
        truth = np.array([0.3, 0.1])
        for loss in (Absolute(), Squared()):
            data = np.column_stack([np.tile(x, (len(noise), 1)), x @ truth + noise])
            slopes = temper(loss, data, clip=1.0, curvature=2.0).gradient_terms(truth)
            assert np.abs(density @ slopes).max() <= 1e-9 * density.sum()
        chance = 1 / (1 + math.exp(-x @ truth))
        labelled = np.array([[*x, 1.0], [*x, -1.0]])
        slopes = temper(Logistic(), labelled, clip=1.0, curvature=2.0).gradient_terms(truth)
        assert np.abs(np.array([chance, 1 - chance]) @ slopes).max() <= 1e-12


@pytest.mark.parametrize("loss", [L4(), Quadratic(np.eye(2)), Ridge(Absolute(), 1.0)], ids=["l4", "quadratic", "ridge"])
def test_other_losses_are_refused(loss: GlmLoss) -> None:
    with pytest.raises(InputError, match="rank one"):
        temper(loss, np.ones((2, 3)), clip=1.0, curvature=1.0)
