"""The normal map and its density, the certified minimiser."""

from __future__ import annotations

import math
from itertools import pairwise, product

import cvxpy
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from tests.refimpl.pure_dp.test_tempered import LOSSES, NAMES, records

from tailproof.refimpl.domains import Ball, Box
from tailproof.refimpl.laws import PerturbedMinimiser, same_law, support_shape
from tailproof.refimpl.losses import Absolute, Affine, GlmLoss, Hinge, Logistic, Squared
from tailproof.refimpl.pure_dp import cuts, tilted
from tailproof.refimpl.pure_dp.tempered import temper
from tailproof.refimpl.pure_dp.tilted import TiltedRisk, longest_tilt, nearest, projection_derivatives
from tailproof.refimpl.validation import FloatArray

MOST_CUTS = cuts.most_cuts
ALARM = 1e-6  # of every statistical test


def region(kind: str, d: int, rng: np.random.Generator) -> Ball | Box:
    if kind == "ball":
        return Ball(rng.standard_normal(d), 10 ** rng.uniform(-1, 1))
    lower = rng.standard_normal(d)
    return Box(lower, lower + 10 ** rng.uniform(-1, 1, size=d))


def problem(loss: GlmLoss, kind: str, n: int, d: int, rng: np.random.Generator) -> TiltedRisk:
    domain = region(kind, d, rng)
    C, weight = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-4, 1)
    B = n * weight * math.expm1(10 ** rng.uniform(-2, 0.5))
    data = records(loss, n, d, rng)
    style = rng.integers(4)
    if style == 1:
        data[:] = data[0]
    elif style == 2 and loss.target != "label":
        data = np.round(data)
    center = domain.project(domain.interior_point() + 0.1 * rng.standard_normal(d))
    return TiltedRisk(temper(loss, data, clip=C, curvature=B), domain, center, C, B, weight)


@pytest.mark.parametrize(
    ("loss", "kind"), [*product(LOSSES, ["ball", "box"])], ids=lambda x: x if isinstance(x, str) else ""
)
@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_minimiser_is_within_its_accuracy(loss: GlmLoss, kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 60)), int(rng.integers(1, 5))
    risk = problem(loss, kind, n, d, rng)
    tilt = n * risk.clip * 10 ** rng.uniform(-3, 1) * rng.standard_normal(d)
    y = risk.minimiser(tilt)
    away = float(np.linalg.norm(risk.tilt(y) - tilt)) / risk.pull
    assert away <= risk.accuracy(float(np.linalg.norm(tilt)))


@pytest.mark.parametrize("kind", ["ball", "box"])
@pytest.mark.parametrize("loss", [Absolute(), Squared(), Logistic(), Hinge()], ids=lambda one: type(one).__name__)
def test_it_is_the_minimiser_of_the_constrained_problem(loss: GlmLoss, kind: str) -> None:
    """A second method: cvxpy, on the conjugate form of the tempered losses."""
    rng = np.random.default_rng([7, len(kind)])
    d, n = 2, 6
    domain = Ball(np.zeros(d), 0.8) if kind == "ball" else Box([-0.5, -0.2], [0.4, 1.0])
    data = records(loss, 3, d, rng)
    data = np.vstack([data, data[::-1] * 0.5 if loss.target != "label" else data[::-1]])
    risk = TiltedRisk(temper(loss, data, clip=1.0, curvature=2.0), domain, domain.interior_point(), 1.0, 2.0, 0.1)
    for size in (0.0, 2.0, 30.0):
        tilt = size * rng.standard_normal(d)
        v = nearest(domain, risk.minimiser(tilt))
        w = cvxpy.Variable(d)
        margins = risk.tempered.features @ w
        curve = risk.tempered.curve
        if isinstance(loss, Logistic):
            total = curve.weights @ cvxpy.logistic(-margins)  # type: ignore[union-attr]
        else:  # the Moreau envelope as an infimal convolution: slope·a + rate/2·b², a + b = margin − kink
            a, rates = cvxpy.Variable(n), curve.rates  # type: ignore[union-attr]
            rest = margins - curve.kinks - a  # type: ignore[union-attr]
            linear = cvxpy.maximum(cvxpy.multiply(curve.lows, a), cvxpy.multiply(curve.highs, a))  # type: ignore[union-attr]
            total = cvxpy.sum(linear) + cvxpy.sum(cvxpy.multiply(rates / 2, cvxpy.square(rest)))
        objective = total + tilt @ w + risk.pull / 2 * cvxpy.sum_squares(w - risk.center)
        cvxpy.Problem(cvxpy.Minimize(objective), domain.cvxpy_constraints(w)).solve(solver=cvxpy.CLARABEL)
        assert np.allclose(v, w.value, atol=2e-4)


def test_the_map_and_its_way_back() -> None:
    for seed, (loss, kind) in enumerate(product(LOSSES, ["ball", "box"])):
        rng = np.random.default_rng(seed)
        risk = problem(loss, kind, 12, 3, rng)
        for _ in range(5):
            y = risk.domain.interior_point() + risk.domain.diameter_upper() * rng.standard_normal(3)
            assert np.allclose(risk.tilts(y[np.newaxis])[0], risk.tilt(y), rtol=1e-10, atol=1e-10 * risk.size * risk.clip)
            again = risk.minimiser(risk.tilt(y))
            near = 4 * risk.accuracy(float(np.linalg.norm(risk.tilt(y))))
            assert np.linalg.norm(nearest(risk.domain, again) - nearest(risk.domain, y)) <= near


@pytest.mark.parametrize("kind", ["ball", "box"])
def test_the_jacobian_is_the_derivative(kind: str) -> None:
    rng = np.random.default_rng(3)
    for loss in (Logistic(), Squared(), Affine()):
        domain = Ball(np.zeros(3), 1.0) if kind == "ball" else Box(-np.ones(3), np.ones(3))
        data = records(loss, 3, 3, rng)
        risk = TiltedRisk(temper(loss, data, clip=3.0, curvature=50.0), domain, np.zeros(3), 3.0, 50.0, 0.7)
        for _ in range(10):
            y, step = 2 * rng.standard_normal(3), 1e-6
            columns = [(risk.tilt(y + step * e) - risk.tilt(y - step * e)) / (2 * step) for e in np.eye(3)]
            expected = np.linalg.slogdet(np.array(columns).T)[1]
            assert risk.log_jacobians(y[np.newaxis])[0] == pytest.approx(expected, abs=1e-4)
            turn = projection_derivatives(domain, y[np.newaxis])[0]
            moved = [(nearest(domain, y + step * e) - nearest(domain, y - step * e)) / (2 * step) for e in np.eye(3)]
            assert np.allclose(turn, np.array(moved).T, atol=1e-5)


def test_the_quotient_of_determinants_is_bounded_for_every_projection_derivative() -> None:
    """1 ≤ det(N + η·uuᵀQ)/det N ≤ 1 + η/(nΛ), N = A·Q + p(I − Q), for all Q with eigenvalues in [0, 1], zeros and ones included;
    rank two may cost the square of it."""
    rng = np.random.default_rng(4)
    closest = twice = 0.0
    for _ in range(2000):
        d, least, p, eta = (
            int(rng.integers(1, 5)),
            10 ** rng.uniform(-2, 2),
            10 ** rng.uniform(-2, 2),
            10 ** rng.uniform(-2, 2),
        )
        root, (basis, _) = rng.standard_normal((d, int(rng.integers(0, d + 1)))), np.linalg.qr(rng.standard_normal((d, d)))
        A = root @ root.T + least * np.eye(d)
        Q = basis @ np.diag(np.clip(rng.uniform(-0.5, 1.5, d), 0, 1)) @ basis.T
        units = np.linalg.qr(rng.standard_normal((d, d)))[0]
        N = A @ Q + p * (np.eye(d) - Q)
        quotient = np.linalg.det(N + eta * np.outer(units[0], units[0]) @ Q) / np.linalg.det(N)
        assert 1 - 1e-9 <= quotient <= (1 + eta / least) * (1 + 1e-9)
        closest = max(closest, quotient / (1 + eta / least))
        if d > 1:
            both = np.linalg.det(N + eta * (units[:2].T @ units[:2]) @ Q) / np.linalg.det(N)
            twice = max(twice, both / (1 + eta / least))
    assert closest > 0.99
    assert twice > 1.5


def one_dimensional(loss: GlmLoss, seed: int = 5) -> TiltedRisk:
    rng = np.random.default_rng(seed)
    data = records(loss, 3, 1, rng)
    return TiltedRisk(temper(loss, data, clip=1.0, curvature=1.5), Ball([0.2], 1.0), np.array([0.1]), 1.0, 1.5, 0.4)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_the_density_integrates_to_one_on_the_line(loss: GlmLoss) -> None:
    risk = one_dimensional(loss)
    law = PerturbedMinimiser(risk, 2.0)
    corners = (
        risk.tempered.curve.corners() / np.where(risk.tempered.features[:, 0] == 0, 1.0, risk.tempered.features[:, 0])
    ).ravel()
    edges = np.unique(np.concatenate([[-60.0, -0.8, 1.2, 60.0], corners[np.abs(corners) < 60]]))
    total = sum(quad(lambda y: math.exp(law.logpdf(np.array([y]))), a, b, limit=200)[0] for a, b in pairwise(edges))
    assert total == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("kind", ["ball", "box"])
@pytest.mark.parametrize("loss", [Absolute(), Logistic()], ids=lambda one: type(one).__name__)
def test_the_density_integrates_to_one_in_the_plane(loss: GlmLoss, kind: str) -> None:
    rng = np.random.default_rng(6)
    domain = Ball([0.0, 0.0], 1.0) if kind == "ball" else Box([-1.0, -0.5], [0.7, 1.0])
    data = records(loss, 3, 2, rng)
    risk = TiltedRisk(temper(loss, data, clip=1.0, curvature=1.5), domain, np.zeros(2), 1.0, 1.5, 0.6)
    law = PerturbedMinimiser(risk, 0.8)
    step = 0.02  # which divides every edge of the box
    axis = np.arange(-4, 4, step) + step / 2
    total = sum(float(np.exp(law.logpdfs(np.column_stack([np.full(axis.size, x), axis]))).sum()) for x in axis) * step**2
    assert total == pytest.approx(1.0, abs=2e-3)
    y = rng.standard_normal((5, 2))
    assert np.allclose(law.logpdfs(y), [law.logpdf(row) for row in y], atol=1e-10)


@pytest.mark.parametrize("loss", [Absolute(), Hinge(), Logistic()], ids=lambda one: type(one).__name__)
def test_samples_have_the_density(loss: GlmLoss) -> None:
    """Kolmogorov–Smirnov on the line, and on the length of the tilt in the plane; each rejects with probability 1e-6."""
    risk, rng = one_dimensional(loss), np.random.default_rng()
    law = PerturbedMinimiser(risk, 2.0)
    sample = np.sort([law.sample(rng)[0] for _ in range(500)])
    grid = np.linspace(-60, 60, 120001)
    weights = np.exp(law.logpdfs(grid[:, np.newaxis]))
    masses = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2) * (grid[1] - grid[0])])
    assert masses[-1] == pytest.approx(1.0, abs=1e-3)
    assert stats.kstest(np.interp(sample, grid, masses / masses[-1]), "uniform").pvalue >= ALARM
    assert sample.min() < -0.8  # some on either side of the set, too
    assert sample.max() > 1.2


@pytest.mark.parametrize("loss", [Absolute(), Logistic(), Affine(), Squared()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("kind", ["ball", "box"])
@pytest.mark.parametrize("bend", [0.3, 12.0])
def test_cuts_alone_reach_the_accuracy(loss: GlmLoss, kind: str, bend: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows where Newton's method fails, which no data here have made it do; well within the public number of steps."""
    monkeypatch.setattr(tilted, "_MOST_NEWTON", 0)
    rng = np.random.default_rng([8, len(kind)])
    for d in (1, 2, 3):
        domain = region(kind, d, rng)
        data = records(loss, 5, d, rng)
        data[0, 0] *= 1e40
        B = len(data) * 0.5 * math.expm1(bend)
        risk = TiltedRisk(temper(loss, data, clip=1.0, curvature=B), domain, domain.interior_point(), 1.0, B, 0.5)
        tilt = 3 * rng.standard_normal(d)
        length = float(np.linalg.norm(tilt))
        with monkeypatch.context() as patched:  # a fifth of the steps to spare
            patched.setattr(cuts, "most_cuts", lambda *parts: math.ceil(0.8 * MOST_CUTS(*parts)))
            y = risk.minimiser(tilt)
        assert float(np.linalg.norm(risk.tilt(y) - tilt)) <= risk.pull * risk.accuracy(length)


def test_solves_that_fail_lead_to_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> FloatArray:
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "solve", fail)
    risk = one_dimensional(Absolute())
    assert float(np.linalg.norm(risk.tilt(risk.minimiser(np.array([0.7]))) - 0.7)) <= risk.pull * risk.accuracy(0.7)


def test_the_half_that_is_kept_lies_in_the_new_ellipsoid() -> None:
    """By random points; and the volume falls as promised."""
    rng = np.random.default_rng(9)
    for d in (1, 2, 5):
        root = rng.standard_normal((d, d)) + 2 * np.eye(d)
        normal, shape = rng.standard_normal(d), root @ root.T
        center, after = cuts._cut(
            [arb(0)] * d, [[arb(float(x)) for x in row] for row in shape], [arb(float(x)) for x in normal]
        )
        moved, grown = np.array([float(c) for c in center]), np.array([[float(x) for x in row] for row in after])
        units = rng.standard_normal((4000, d))
        points = (units / np.linalg.norm(units, axis=1, keepdims=True)) @ root.T
        kept = points[points @ normal <= 0] - moved
        heights = np.einsum("ij,ij->i", kept @ np.linalg.inv(grown), kept)
        assert heights.max() <= 1 + 1e-9
        assert np.sqrt(np.linalg.det(grown) / np.linalg.det(shape)) <= math.exp(-1 / (2 * (d + 1)))


def test_no_sampled_tilt_is_longer_than_the_accuracy_allows_for() -> None:
    for d in (1, 3, 100):
        normal = 14.0  # more than the ziggurat method can return
        third = d - 1 / 3
        assert third * (1 + normal / math.sqrt(9 * third)) ** 3 <= longest_tilt(1.0, d)


def test_equality_is_that_of_all_parts() -> None:
    law = PerturbedMinimiser(one_dimensional(Absolute()), 2.0)
    assert same_law(law, PerturbedMinimiser(one_dimensional(Absolute()), 2.0))
    others: list[FloatArray | TiltedRisk] = [one_dimensional(Absolute(), 6), one_dimensional(Logistic())]
    for other in others:
        assert not same_law(law, PerturbedMinimiser(other, 2.0))  # type: ignore[arg-type]
    assert not same_law(law, PerturbedMinimiser(one_dimensional(Absolute()), 2.1))
    assert support_shape(law) == ("PerturbedMinimiser", 1)
