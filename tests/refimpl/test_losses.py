"""Losses against their definitions in 60-digit arithmetic, against brute force, and at the edge of floating point."""

from __future__ import annotations

import math
import tracemalloc

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from mpmath import mp, mpf
from scipy.optimize import minimize_scalar

from tailproof.refimpl.domains import Ball, Box, L1Ball, Localised, Polytope
from tailproof.refimpl.losses import (
    L4,
    Absolute,
    Affine,
    GlmLoss,
    Hinge,
    Logistic,
    PowerPenalty,
    Quadratic,
    RecordQuadratic,
    ReLU,
    Ridge,
    Squared,
    dimension_of,
    parse_any_loss,
    parse_loss,
)
from tailproof.refimpl.validation import InputError

DIMENSION = 3
ROTATED = np.array([[2.0, -0.5, 0.25], [-0.5, 1.0, 0.125], [0.25, 0.125, 0.5]])
FLAT = np.outer([1.0, 2.0, -1.0], [1.0, 2.0, -1.0])  # rank one

GLMS = [Affine(), Hinge(), ReLU(), Absolute(), Logistic(), Squared(), L4()]
POLYHEDRAL = [Affine(), Hinge(), ReLU(), Absolute()]
CURVED = [Logistic(), Squared(), L4()]
QUADRATICS = [Quadratic(np.eye(DIMENSION)), Quadratic(ROTATED), Quadratic(FLAT)]
RIDGES = [Ridge(Hinge(), 0.5), Ridge(Squared(), 2.0), Ridge(Quadratic(ROTATED), 0.25)]
LOSSES = [*GLMS, *QUADRATICS, *RIDGES]


@pytest.fixture(autouse=True)
def sixty_digits():
    with mp.workdps(60):
        yield


def label(loss):
    if isinstance(loss, Ridge):
        return f"Ridge({label(loss.loss)})"
    return f"Quadratic{np.linalg.matrix_rank(loss.matrix)}" if isinstance(loss, Quadratic) else type(loss).__name__


def every(losses):
    return pytest.mark.parametrize("loss", losses, ids=label)


def inner(loss):
    return loss.loss if isinstance(loss, Ridge) else loss


def has_labels(loss):
    return isinstance(inner(loss), Hinge | Logistic)


def has_target(loss):
    return not isinstance(inner(loss), Affine | Quadratic)


def make_data(loss, rng, *, n=7, d=DIMENSION, scale=1.0):
    features = scale * rng.standard_normal((n, d))
    if not has_target(loss):
        return features
    targets = rng.choice([-1.0, 1.0], n) if has_labels(loss) else scale * rng.standard_normal(n)
    return np.column_stack([features, targets])


def exact_value(loss, w, record):
    """The definition of each loss, in multiple precision."""
    w, row = [mpf(z) for z in w], [mpf(float(z)) for z in record]
    if isinstance(loss, Ridge):
        return exact_value(loss.loss, w, record) + mpf(loss.weight) / 2 * sum(z * z for z in w)
    if isinstance(loss, Quadratic):
        u = [a - b for a, b in zip(w, row, strict=True)]
        size = range(len(u))
        return sum(u[i] * mpf(float(loss.matrix[i, j])) * u[j] for i in size for j in size) / 2
    dot = sum(a * b for a, b in zip(w, row, strict=False))
    last = row[-1]
    return {
        Affine: lambda: dot,
        Hinge: lambda: max(mpf(0), 1 - last * dot),
        ReLU: lambda: max(mpf(0), dot - last),
        Absolute: lambda: abs(dot - last),
        Logistic: lambda: mp.log1p(mp.exp(-last * dot)),
        Squared: lambda: (dot - last) ** 2 / 2,
        L4: lambda: (dot - last) ** 4,
    }[type(loss)]()


def exact_gradient(loss, w, record):
    """Central differences in multiple precision, good to about 30 digits away from kinks."""
    w, step = [mpf(z) for z in w], mpf(10) ** -20
    shifted = lambda j, h: [z + h * (i == j) for i, z in enumerate(w)]  # noqa: E731
    return [
        (exact_value(loss, shifted(j, step), record) - exact_value(loss, shifted(j, -step), record)) / (2 * step)
        for j in range(len(w))
    ]


# --- values and gradients ---------------------------------------------------------------------------------------------


@every(LOSSES)
def test_values_and_gradients_are_those_of_the_definition(loss):
    rng = np.random.default_rng(1)
    for scale in (0.1, 1.0, 30.0):
        w, data = rng.standard_normal(DIMENSION), make_data(loss, rng, scale=scale)
        values, gradients = loss.values(w, data), loss.gradients(w, data)
        assert values.shape == (7,)
        assert gradients.shape == (7, DIMENSION)
        for record, value, gradient in zip(data, values, gradients, strict=True):
            exact = exact_value(loss, w, record)
            assert abs(value - exact) <= 1e-13 * max(1, abs(exact))
            slope = exact_gradient(loss, w, record)
            size = max(1, *(abs(z) for z in slope))
            assert all(abs(a - b) <= 1e-13 * size for a, b in zip(gradient, slope, strict=True))


small = st.integers(-3, 3).map(float)


@every(LOSSES)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_subgradient_inequality(loss, data):
    """Small whole numbers: kinks are hit often, and all but the logistic loss are computed without rounding."""
    w, u = (data.draw(arrays(float, DIMENSION, elements=small)) for _ in range(2))
    table = data.draw(arrays(float, (4, loss.columns(DIMENSION)), elements=small))
    if has_labels(loss):
        table[:, -1] = np.where(table[:, -1] > 0, 1.0, -1.0)
    tolerance = 1e-11 if isinstance(inner(loss), Logistic | Quadratic) else 0.0
    lines = loss.values(w, table) + loss.gradients(w, table) @ (u - w)
    assert np.all(loss.values(u, table) >= lines - tolerance)
    assert loss.mean_value(u, table) >= loss.mean_value(w, table) + loss.mean_gradient(w, table) @ (u - w) - 1e-11


@pytest.mark.parametrize(
    ("loss", "record"), [(Hinge(), [1.0, 0.0, 1.0]), (ReLU(), [1.0, 2.0, 1.0]), (Absolute(), [1.0, 2.0, 1.0])]
)
def test_the_least_subgradient_is_chosen_at_a_kink(loss, record):
    assert np.array_equal(loss.gradients([1.0, 0.0], [record]), [[0.0, 0.0]])
    assert np.array_equal(loss.values([1.0, 0.0], [record]), [0.0])


@every(LOSSES)
def test_batches_agree_with_a_loop_and_means_with_their_records(loss):
    rng = np.random.default_rng(2)
    w, data = rng.standard_normal(DIMENSION), make_data(loss, rng, n=40)
    domain = Ball(np.ones(DIMENSION), 0.5)
    for function in (
        lambda rows: loss.values(w, rows),
        lambda rows: loss.gradients(w, rows),
        lambda rows: loss.lipschitz_upper(rows, domain),
        lambda rows: loss.smoothness_upper(rows),
    ):
        np.testing.assert_allclose(
            function(data), np.concatenate([function(data[i : i + 1]) for i in range(40)]), rtol=1e-13, atol=1e-14
        )
    assert loss.mean_value(w, data) == pytest.approx(math.fsum(loss.values(w, data)) / 40, rel=1e-14)
    np.testing.assert_allclose(loss.mean_gradient(w, data), loss.gradients(w, data).mean(axis=0), rtol=1e-12, atol=1e-14)


@every([*GLMS, Quadratic(np.eye(200)), Ridge(Hinge(), 1.0)])
def test_mean_gradient_forms_no_array_of_the_size_of_the_data(loss):
    data = make_data(loss, np.random.default_rng(3), n=2000, d=200)
    tracemalloc.start()
    try:
        loss.mean_gradient(np.full(200, 0.01), data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < data.nbytes / 4


# --- generalised linear structure -------------------------------------------------------------------------------------


def exact_phi(loss, m, t):
    """φ through the loss of a one-dimensional record with feature 1 (and label 1)."""
    return exact_value(loss, [m], [1.0] if not has_target(loss) else [1.0, 1.0 if has_labels(loss) else t])


MARGINS = np.array([-40.0, -3.5, -1.0, -0.25, 0.0, 0.5, 1.0, 2.0, 6.0, 50.0])
TARGETS = np.array([-2.0, 0.0, 0.5, 1.0])
GRID_M, GRID_T = (a.ravel() for a in np.meshgrid(MARGINS, TARGETS))


@every(GLMS)
def test_phi_and_signed_features_give_the_values(loss):
    rng = np.random.default_rng(4)
    w, data = rng.standard_normal(DIMENSION), make_data(loss, rng)
    x, (features, targets) = loss.signed_features(data), loss.split(data)
    np.testing.assert_allclose(loss.phi(x @ w, targets), loss.values(w, data), rtol=1e-13)
    np.testing.assert_allclose(loss.dphi(x @ w, targets)[:, np.newaxis] * x, loss.gradients(w, data), rtol=1e-13, atol=1e-15)
    assert np.array_equal(features, data[:, :DIMENSION])
    assert np.array_equal(targets, data[:, -1] if has_target(loss) else np.zeros(7))
    assert np.array_equal(x, features * targets[:, np.newaxis] if has_labels(loss) else features)
    assert loss.is_glm


@every(GLMS)
def test_subderivatives_are_one_sided_derivatives(loss):
    lower, upper = loss.dphi_interval(GRID_M, GRID_T)
    chosen = loss.dphi(GRID_M, GRID_T)
    step = mpf(10) ** -20
    for m, t, left, right, slope in zip(GRID_M, GRID_T, lower, upper, chosen, strict=True):
        at = exact_phi(loss, mpf(m), t)
        assert float((at - exact_phi(loss, mpf(m) - step, t)) / step) == pytest.approx(left, rel=1e-12, abs=1e-15)
        assert float((exact_phi(loss, mpf(m) + step, t) - at) / step) == pytest.approx(right, rel=1e-12, abs=1e-15)
        assert slope == min(max(0.0, left), right)  # the least element of [left, right] in absolute value


@every(GLMS)
def test_second_derivative(loss):
    curvature = loss.d2phi(GRID_M, GRID_T)
    if loss.is_polyhedral:
        assert curvature is None
        return
    for m, t, found in zip(GRID_M, GRID_T, curvature, strict=True):
        exact = mp.diff(lambda z, t=t: exact_phi(loss, z, t), mpf(m), 2)
        assert found == pytest.approx(float(exact), rel=1e-12, abs=1e-30)
    assert np.all(curvature <= loss.curvature_upper)


SLOPES = {
    Affine: [1.0],
    Hinge: [-1.0, -0.75, -0.1, 0.0],
    ReLU: [0.0, 0.3, 1.0],
    Absolute: [-1.0, -0.2, 0.0, 0.6, 1.0],
    Logistic: [-1.0, -1 + 1e-9, -0.75, -1e-9, 0.0],
    Squared: [-30.0, -1.0, 0.0, 2.5],
    L4: [-500.0, -1.0, 0.0, 1e-3, 40.0],
}


@every(GLMS)
def test_conjugate_is_the_numerical_supremum(loss):
    for t in TARGETS:
        for v in SLOPES[type(loss)]:
            search = minimize_scalar(
                lambda m, v=v, t=t: float(loss.phi(np.array(m), np.array(t)) - v * m),
                bounds=(-60, 60),
                method="bounded",
                options={"xatol": 1e-10},
            )
            ends = [v * m - float(loss.phi(np.array(m), np.array(t))) for m in (-60.0, 60.0, 1.0, t)]
            found = float(loss.conjugate(np.array(v), np.array(t)))
            assert found == pytest.approx(max(-search.fun, *ends), rel=1e-9, abs=1e-9)


@every(GLMS)
def test_conjugate_is_infinite_exactly_outside_its_domain(loss):
    lower, upper = loss.conjugate_domain(TARGETS)
    ends = (-np.inf, np.inf) if isinstance(loss, Squared | L4) else (SLOPES[type(loss)][0], SLOPES[type(loss)][-1])
    assert np.array_equal([lower, upper], np.outer(ends, np.ones(4)))
    for end, outward in ((lower, -1.0), (upper, 1.0)):
        if not np.isfinite(end).all():
            assert np.isfinite(loss.conjugate(np.full(4, outward * 1e6), TARGETS)).all()
            continue
        assert np.isfinite(loss.conjugate(end, TARGETS)).all()
        beyond = end + outward * 1e-6
        assert np.all(loss.conjugate(beyond, TARGETS) == np.inf)
        # The supremum itself: along the outward ray v·m − φ(m) grows without bound.
        near, far = (beyond * outward * m - loss.phi(np.full(4, outward * m), TARGETS) for m in (1e9, 1e10))
        assert np.all(far > near + 100)


@every(GLMS)
@settings(deadline=None, max_examples=150)
@given(m=st.floats(-40, 40), other=st.floats(-40, 40), t=st.floats(-5, 5), part=st.floats(0, 1))
def test_fenchel_young(loss, m, other, t, part):
    """φ(m) + φ*(v) ≥ v·m, with equality for every v of the subdifferential at m, and the inequality for others."""
    m, other, t = (np.array(z) for z in (m, other, t))
    lower, upper = loss.dphi_interval(m, t)
    v = lower + part * (upper - lower)
    size = max(1.0, abs(float(v * m)), float(loss.phi(m, t)), float(loss.phi(other, t)))
    conjugate = loss.conjugate(v, t)
    assert abs(loss.phi(m, t) + conjugate - v * m) <= 1e-12 * size
    assert loss.phi(other, t) + conjugate - v * other >= -1e-12 * max(size, abs(float(v * other)))


def test_logistic_conjugate_is_accurate_near_the_ends():
    for v in (-1e-300, -1e-20, -1e-9, -0.5, -1 + 2.0**-53, -1 + 1e-9):
        exact = -mpf(v) * mp.log(-mpf(v)) + (1 + mpf(v)) * mp.log1p(mpf(v))
        assert float(Logistic().conjugate(np.array(v), np.array(0.0))) == pytest.approx(float(exact), rel=1e-13, abs=0)


@every(POLYHEDRAL)
def test_pieces_give_the_values(loss):
    rng = np.random.default_rng(5)
    w, data = rng.standard_normal(DIMENSION), make_data(loss, rng, n=30)
    slopes, offsets = loss.pieces(data)
    count = 1 if isinstance(loss, Affine) else 2
    assert slopes.shape == (30, count, DIMENSION)
    assert offsets.shape == (30, count)
    np.testing.assert_allclose((slopes @ w + offsets).max(axis=1), loss.values(w, data), rtol=1e-13, atol=1e-15)


@every([*CURVED, *QUADRATICS, *RIDGES])
def test_other_losses_refuse_pieces(loss):
    assert not loss.is_polyhedral
    with pytest.raises(InputError, match="not polyhedral"):
        loss.pieces(make_data(loss, np.random.default_rng(6)))


@every(QUADRATICS)
def test_quadratic_conjugate(loss):
    rng = np.random.default_rng(7)
    data = make_data(loss, rng, n=20)
    for w in rng.standard_normal((5, DIMENSION)):
        v = loss.gradients(w, data)
        pairing = np.einsum("ij,j->i", v, w)
        np.testing.assert_allclose(loss.values(w, data) + loss.conjugate(v, data), pairing, rtol=1e-11, atol=1e-12)
        for u in rng.standard_normal((5, DIMENSION)):
            assert np.all(loss.values(u, data) + loss.conjugate(v, data) >= v @ u - 1e-11)


def test_quadratic_conjugate_off_the_range_is_infinite():
    data = np.random.default_rng(8).standard_normal((4, DIMENSION))
    loss = Quadratic(FLAT)
    on = np.array([1.0, 2.0, -1.0])
    assert np.isfinite(loss.conjugate(on, data)).all()
    np.testing.assert_allclose(loss.conjugate(on, data), data @ on + 0.5, rtol=1e-12)  # A = vvᵀ: vᵀA⁺v = 1
    assert np.all(loss.conjugate(on + 1e-6, data) == np.inf)
    assert np.array_equal(Quadratic(np.zeros((3, 3))).conjugate(np.zeros(3), data), np.zeros(4))
    with pytest.raises(InputError, match="v: has 2 columns"):
        loss.conjugate([1.0, 2.0], data)


def test_the_range_of_a_singular_matrix_is_recognised_in_spite_of_rounding():
    rng = np.random.default_rng(17)
    for _ in range(30):
        u = rng.standard_normal(2)
        loss, x = Quadratic(np.outer(u, u)), rng.standard_normal((1, 2))
        assert loss.conjugate(rng.standard_normal(2), x)[0] == np.inf
        assert loss.conjugate(3 * u, x)[0] == pytest.approx(3 * x[0] @ u + 4.5, rel=1e-10)  # uᵀA⁺u = 1


# --- constants --------------------------------------------------------------------------------------------------------

UNDERFLOW = 1e-303  # a logistic slope below the normal floats counts as the least of them, 2e-308, times ‖x‖ here
DOMAINS = {
    "unit ball": Ball(np.zeros(DIMENSION), 1.0),
    "shifted ball": Ball(np.array([3.0, -1.0, 0.5]), 0.75),
    "box": Box(np.array([-1.0, 0.0, 2.0]), np.array([1.0, 0.5, 5.0])),
    "cross-polytope": L1Ball(np.array([0.0, 1.0, 0.0]), 2.0),
    "localised": Localised(Box(-np.ones(DIMENSION), np.ones(DIMENSION)), np.array([1.0, 0.5, 0.0]), 0.8),
    "simplex": Polytope(np.vstack([-np.eye(DIMENSION), np.ones((1, DIMENSION))]), np.array([0.0, 0.0, 0.0, 1.0])),
}


def points_of(domain, rng, count):
    """Points of the domain, most of them on its boundary."""
    spread = rng.choice([0.1, 1.0, 10.0], (count, 1)) * domain.diameter_upper()
    return domain.project(domain.interior_point() + spread * rng.standard_normal((count, DIMENSION)))


def extreme_points(domain, x):
    """The points of the domain with the least and the greatest margin, drawn in a little, away from kinks."""
    middle = domain.interior_point()
    return [middle + (1 - 1e-9) * (domain.support_point(direction) - middle) for direction in (-x, x)]


every_domain = pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())


@every_domain
@every(LOSSES)
def test_no_gradient_on_the_domain_exceeds_the_lipschitz_constant(loss, domain):
    rng = np.random.default_rng(9)
    data = np.concatenate([make_data(loss, rng, n=25, scale=s) for s in (0.1, 1.0, 100.0)])
    constants = loss.lipschitz_upper(data, domain)
    points = points_of(domain, rng, 40)
    values = np.array([loss.values(w, data) for w in points])
    for w in points:
        assert np.all(np.linalg.norm(loss.gradients(w, data), axis=1) <= constants * (1 + 4e-16))
    gaps, distances = np.abs(values[1:] - values[:-1]), np.linalg.norm(points[1:] - points[:-1], axis=1)
    assert np.all(gaps <= np.outer(distances, constants) + 1e-13 * (1 + np.abs(values[1:])))


@every_domain
@every(GLMS)
def test_glm_lipschitz_constants_are_attained(loss, domain):
    rng = np.random.default_rng(10)
    data = np.concatenate([make_data(loss, rng, n=25, scale=s) for s in (0.1, 1.0, 100.0)])
    constants, x = loss.lipschitz_upper(data, domain), loss.signed_features(data)
    attained = [
        max(math.hypot(*loss.gradients(w, record[np.newaxis])[0]) for w in extreme_points(domain, direction))
        for record, direction in zip(data, x, strict=True)
    ]
    np.testing.assert_allclose(attained, constants, rtol=1e-6, atol=UNDERFLOW)
    assert loss.lipschitz_is_exact(domain)


@every(GLMS)
def test_glm_lipschitz_constants_are_rounded_outward_and_no_further(loss):
    rng = np.random.default_rng(11)
    domain = DOMAINS["shifted ball"]
    data = np.concatenate([make_data(loss, rng, n=40, scale=s) for s in (1e-3, 1.0, 1e3)])
    x, (_, targets) = loss.signed_features(data), loss.split(data)
    for row, t, found in zip(x, targets, loss.lipschitz_upper(data, domain), strict=True):
        norm = mp.sqrt(sum(mpf(z) ** 2 for z in row))
        middle = sum(mpf(a) * mpf(b) for a, b in zip(row, domain.center, strict=True))
        steepest = 0
        for end, inward in ((middle - norm * mpf(domain.radius), 1), (middle + norm * mpf(domain.radius), -1)):
            step = inward * mpf(10) ** -25
            rise = exact_phi(loss, end + step, t) - exact_phi(loss, end, t)
            steepest = max(steepest, abs(rise / step))
        exact = norm * steepest
        assert mpf(found) >= exact * (1 - mpf(10) ** -20)  # 1e-20: the error of the one-sided difference
        assert found <= exact * (1 + mpf(10) ** -10) + UNDERFLOW  # 1e-10: e^{−m} for m of some thousands


def test_lipschitz_constants_by_hand():
    ball = Ball(np.zeros(2), 2.0)
    assert Absolute().lipschitz_upper([[3.0, 4.0, 9.9]], ball) == pytest.approx([5.0])
    assert Absolute().lipschitz_upper([[3.0, 4.0, 1e9]], ball) == pytest.approx([5.0])
    assert np.array_equal(ReLU().lipschitz_upper([[3.0, 4.0, 10.1], [0.0, 0.0, -1.0]], ball), [0.0, 0.0])
    assert ReLU().lipschitz_upper([[3.0, 4.0, 9.9]], ball) == pytest.approx([5.0])
    assert Squared().lipschitz_upper([[3.0, 4.0, 1.0]], ball) == pytest.approx([55.0])
    assert L4().lipschitz_upper([[3.0, 4.0, 1.0]], ball) == pytest.approx([5 * 4 * 11.0**3])
    far = Ball(np.array([10.0, 0.0]), 1.0)
    assert np.array_equal(Hinge().lipschitz_upper([[1.0, 0.0, 1.0]], far), [0.0])
    assert Hinge().lipschitz_upper([[1.0, 0.0, -1.0]], far) == pytest.approx([1.0])
    assert Logistic().lipschitz_upper([[1.0, 0.0, 1.0]], far) == pytest.approx([1 / (1 + math.exp(9))])
    # Underflow must not turn a positive constant into zero; a record without features has none.
    assert 0 < Logistic().lipschitz_upper([[1e3, 0.0, 1.0]], far)[0] < 1e-300
    assert np.array_equal(L4().lipschitz_upper([[0.0, 0.0, 1e200]], far), [0.0])


def test_quadratic_and_ridge_lipschitz_constants():
    rng = np.random.default_rng(12)
    ball = DOMAINS["shifted ball"]
    data = rng.standard_normal((50, DIMENSION)) * np.logspace(0, 8, 50)[:, np.newaxis]
    for record, found in zip(data, Quadratic(3 * np.eye(DIMENSION)).lipschitz_upper(data, ball), strict=True):
        squares = sum((mpf(a) - mpf(b)) ** 2 for a, b in zip(record, ball.center, strict=True))
        exact = 3 * (mp.sqrt(squares) + mpf(ball.radius))
        assert exact <= found <= exact * (1 + mpf(10) ** -12)
    ridge = Ridge(Affine(), 2.0).lipschitz_upper([[3.0, 4.0]], Ball(np.zeros(2), 1.5))
    assert ridge == pytest.approx([8.0], rel=1e-12)  # ‖x + 2w‖ at w along x
    assert ridge[0] >= 8.0


def test_quadratic_constants_are_rounded_outward():
    rng = np.random.default_rng(18)
    tiny_ball = Ball(np.zeros(DIMENSION), 1e-30)
    for _ in range(30):
        root = rng.standard_normal((DIMENSION, 1))
        loss, record = Quadratic(root @ root.T), np.cross(root[:, 0], rng.standard_normal(DIMENSION))
        exact_matrix = mp.matrix(loss.matrix.tolist())
        assert loss.smoothness_upper([record])[0] >= max(mp.eigsy(exact_matrix, eigvals_only=True))
        # The record is orthogonal to the root but for rounding, and A(w − x) is nothing but rounding.
        assert loss.lipschitz_upper([record], tiny_ball)[0] >= mp.norm(exact_matrix * mp.matrix(record.tolist()))


@every([*QUADRATICS, *RIDGES])
def test_mere_upper_bounds_do_not_pose_as_exact(loss):
    assert loss.lipschitz_is_exact(DOMAINS["unit ball"]) is False
    assert not loss.is_glm


@every(LOSSES)
def test_smoothness(loss):
    rng = np.random.default_rng(13)
    data = make_data(loss, rng, n=50)
    smoothness = loss.smoothness_upper(data)
    assert smoothness.shape == (50,)
    if not loss.is_smooth or isinstance(loss, L4):
        assert np.all(smoothness == np.inf)
        return
    u, w = rng.standard_normal((2, 30, DIMENSION))
    for a, b in zip(u, w, strict=True):
        change = np.linalg.norm(loss.gradients(a, data) - loss.gradients(b, data), axis=1)
        assert np.all(change <= smoothness * np.linalg.norm(a - b) + 1e-13)
    squares = np.linalg.norm(data[:, :DIMENSION], axis=1) ** 2
    largest = np.linalg.eigvalsh(inner(loss).matrix)[-1] if isinstance(inner(loss), Quadratic) else 0.0
    factor = {Affine: 0.0, Logistic: 0.25, Squared: 1.0, Quadratic: 0.0}[type(inner(loss))]
    expected = factor * squares + largest + (loss.weight if isinstance(loss, Ridge) else 0.0)
    np.testing.assert_allclose(smoothness, expected, rtol=1e-12)


def test_smoothness_of_a_record_without_features_is_zero():
    assert np.array_equal(Hinge().smoothness_upper([[0.0, 0.0, 1.0]]), [0.0])


# --- cvxpy ------------------------------------------------------------------------------------------------------------


@every(LOSSES)
def test_cvxpy_expressions_have_the_same_value(loss):
    rng = np.random.default_rng(14)
    data, variable = make_data(loss, rng, n=5), cvxpy.Variable(DIMENSION)
    for record in data:
        expression = loss.cvxpy_expression(variable, record)
        assert expression.is_convex()
        variable.value = rng.standard_normal(DIMENSION)
        expected = loss.values(variable.value, record[np.newaxis])[0]
        assert float(expression.value) == pytest.approx(expected, rel=1e-12, abs=1e-14)


# --- the edge of floating point (every warning is an error) -----------------------------------------------------------

LARGEST = float(np.finfo(float).max)


def rounded(exact):
    return math.copysign(math.inf, exact) if abs(exact) > LARGEST else float(exact)


@every(LOSSES)
@pytest.mark.parametrize("scale", [1e12, 1e75, 1e150, 1e200, 1e307])
def test_huge_data_give_the_exact_result_rounded(loss, scale):
    rng = np.random.default_rng(15)
    w = np.array([0.5, -1.25, 0.75])
    data = make_data(loss, rng, n=6)
    data[:, :DIMENSION] *= scale
    data[0, 0] = 0.0
    values, gradients = loss.values(w, data), loss.gradients(w, data)
    for record, value, gradient in zip(data, values, gradients, strict=True):
        assert value == pytest.approx(rounded(exact_value(loss, w, record)), rel=1e-12, abs=1e-12)
        with mp.workdps(800):  # the step of the difference must stay visible beside 1e307
            slope = [rounded(z) for z in exact_gradient(loss, w, record)]
        np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-12)
    assert loss.mean_value(w, data) == pytest.approx(
        rounded(sum(exact_value(loss, w, record) for record in data) / 6), rel=1e-12
    )
    constants = loss.lipschitz_upper(data, DOMAINS["unit ball"])
    with np.errstate(over="ignore"):
        norms = np.array([math.hypot(*gradient) for gradient in loss.gradients(w / 2, data)])
    assert np.all(norms <= constants * (1 + 1e-15))
    assert not np.isnan(loss.smoothness_upper(data)).any()


def test_cancelling_margins_do_not_overflow():
    data = np.array([[1e308, -1e308, 3.0], [1e308, 1e308, 1e308]])
    w = np.array([10.0, 10.0])
    assert np.array_equal(Absolute().values(w, data[:1]), [3.0])
    assert np.array_equal(Absolute().values(w, data), [3.0, np.inf])
    assert np.array_equal(Absolute().gradients(w, data[1:]), [[1e308, 1e308]])
    assert Affine().mean_value([1.0], [[1.5e308], [1.5e308]]) == 1.5e308
    assert Squared().values([1.0], [[1.8e154, 0.0]]) == pytest.approx([1.62e308])
    assert Quadratic(np.eye(1)).values([0.0], [[1.8e154]]) == pytest.approx([1.62e308])
    assert Quadratic(np.eye(1)).mean_gradient([0.0], [[1.5e308], [1.5e308]]) == pytest.approx([-1.5e308])
    assert Absolute().mean_gradient([0.0], [[1.5e308, -1.0]] * 4) == pytest.approx([1.5e308])


def test_beyond_the_range_is_infinite_and_opposite_infinities_are_refused():
    record = np.array([[1.0, 0.0, -1e150]])
    assert np.array_equal(L4().values([0.0, 0.0], record), [np.inf])
    assert np.array_equal(L4().gradients([0.0, 0.0], record), [[np.inf, 0.0]])
    assert np.array_equal(L4().mean_gradient([0.0, 0.0], record), [np.inf, 0.0])
    assert L4().lipschitz_upper(record, Ball(np.zeros(2), 1.0))[0] == np.inf
    with pytest.raises(OverflowError, match="not determined"):
        L4().mean_gradient([0.0, 0.0], np.concatenate([record, record * [1, 1, -1]]))
    with pytest.raises(OverflowError, match="not determined"):
        Affine().mean_value([1e200, 1.0], [[1e200, 0.0], [-1e200, 0.0]])


def test_logistic_is_stable():
    margins, none = np.array([-1e300, -800.0, -40.0, 40.0, 700.0, 1e300]), np.zeros(6)
    for m, value, slope in zip(margins, Logistic().phi(margins, none), Logistic().dphi(margins, none), strict=True):
        with mp.workdps(400):
            exact = mp.log1p(mp.exp(-mpf(m))) if m > -1e299 else -mpf(m)
            exact_slope = -1 / (1 + mp.exp(mpf(m))) if abs(m) < 1e299 else mpf(-1 if m < 0 else 0)
        assert value == pytest.approx(float(exact), rel=1e-13, abs=0)
        assert slope == pytest.approx(float(exact_slope), rel=1e-13, abs=0)


def test_tiny_features_keep_their_norm():
    ball = Ball(np.zeros(2), 1.0)
    assert Affine().lipschitz_upper([[3e-200, 4e-200]], ball) == pytest.approx([5e-200], rel=1e-13, abs=0)
    assert Affine().lipschitz_upper([[3e200, 4e200]], ball) == pytest.approx([5e200], rel=1e-13)
    assert Affine().lipschitz_upper([[3e200, 4e200]], ball)[0] >= 5e200
    assert Squared().smoothness_upper([[3e-100, 4e-100, 0.0]]) == pytest.approx([25e-200], rel=1e-13, abs=0)
    # ½·5e-324 rounds to 0: the bound is the next float.
    assert Logistic().lipschitz_upper([[5e-324, 1.0]], Ball(np.zeros(1), 1.0))[0] > 0


# --- bad input --------------------------------------------------------------------------------------------------------


@every(LOSSES)
def test_bad_data_are_refused(loss):
    good = make_data(loss, np.random.default_rng(16))
    w, ball = np.zeros(DIMENSION), DOMAINS["unit ball"]
    assert good.shape[1] == loss.columns(DIMENSION) == DIMENSION + has_target(loss)
    poisoned = good.copy()
    poisoned[2, 1] = np.nan
    wide = np.column_stack([good[:, :1], good])
    for bad in (poisoned, wide, good[:0], "text", good[np.newaxis]):
        for call in (loss.values, loss.gradients, loss.mean_value, loss.mean_gradient):
            with pytest.raises(InputError, match="data"):
                call(w, bad)
        with pytest.raises(InputError, match="data"):
            loss.lipschitz_upper(bad, ball)
    with pytest.raises(InputError, match="data"):
        loss.smoothness_upper(poisoned)
    with pytest.raises(InputError, match="w"):
        loss.values([0.0, np.inf, 0.0], good)
    with pytest.raises(InputError, match=r"record|data"):
        loss.cvxpy_expression(cvxpy.Variable(DIMENSION), poisoned[2])


@pytest.mark.parametrize("wrong", [0.0, 2.0, -1.0000001])
@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Ridge(Hinge(), 1.0)], ids=label)
def test_labels_must_be_signs(loss, wrong):
    with pytest.raises(InputError, match="label of record 1"):
        loss.values([1.0], [[2.0, 1.0], [2.0, wrong]])


def test_a_target_needs_a_column_of_its_own():
    with pytest.raises(InputError, match="at least 2"):
        Squared().split([[1.0], [2.0]])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[1.0, 2.0], [0.0, 1.0]], "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "semidefinite"),
        ([[1.0, 2.0]], "square"),
        ([1.0], "two-dimensional"),
        ([[np.nan]], "finite"),
        (np.zeros((0, 0)), "empty"),
    ],
)
def test_bad_matrices_are_refused(bad, message):
    with pytest.raises(InputError, match=message):
        Quadratic(bad)


def test_quadratic_is_a_value():
    source = np.eye(2)
    loss = Quadratic(source)
    source[0, 0] = -5.0
    assert loss == Quadratic(np.eye(2))
    assert hash(loss) == hash(Quadratic([[1, -0.0], [0, 1]]))
    assert loss != Quadratic(2 * np.eye(2))
    assert loss != Affine()
    with pytest.raises(ValueError, match="read-only"):
        loss.matrix[0, 0] = 2.0
    with pytest.raises(InputError, match="domain"):
        loss.lipschitz_upper([[1.0, 2.0]], DOMAINS["unit ball"])


def test_small_eigenvalues_are_kept():
    assert Quadratic(np.diag([1.0, 1e-20])).values([0.0, 1e10], [[0.0, 0.0]]) == pytest.approx([0.5])


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, "heavy", True])
def test_bad_weights_are_refused(weight):
    with pytest.raises(InputError, match="weight"):
        Ridge(Hinge(), weight)


@pytest.mark.parametrize("bad", [Ridge(Hinge(), 1.0), "hinge", None])
def test_ridge_wraps_plain_losses_only(bad):
    with pytest.raises(InputError, match="loss"):
        Ridge(bad, 1.0)


# --- the command line's names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("absolute", Absolute()),
        ("affine", Affine()),
        ("hinge", Hinge()),
        ("l4", L4()),
        ("logistic", Logistic()),
        ("relu", ReLU()),
        ("squared", Squared()),
        ("ridge:0.1:logistic", Ridge(Logistic(), 0.1)),
        ("ridge:1e-3:absolute", Ridge(Absolute(), 1e-3)),
    ],
)
def test_parse_loss(text, expected):
    assert parse_loss(text) == expected
    assert isinstance(parse_loss(text), GlmLoss) is expected.is_glm


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "one of absolute"),
        ("huber", "'huber': must be one of absolute"),
        ("hinge:1", "one of absolute"),
        ("ridge", "ridge:WEIGHT:NAME"),
        ("ridge:0.1", "ridge:WEIGHT:NAME"),
        ("ridge:0.1:ridge:0.1:hinge", "ridge:WEIGHT:NAME"),
        ("ridge:heavy:hinge", "'heavy' must be a number"),
        ("ridge:-1:hinge", "must be > 0"),
        ("ridge:nan:hinge", "must be finite"),
    ],
)
def test_parse_loss_refuses(text, message):
    with pytest.raises(InputError, match=message):
        parse_loss(text)


# --- record-wise quadratics ---------------------------------------------------------------------------------------------


def test_record_quadratic_is_its_definition():
    rng = np.random.default_rng(5)
    data = np.column_stack([np.abs(rng.standard_normal((7, 3))), rng.standard_normal((7, 3))])
    data[0, :3] = 0.0
    loss, w = RecordQuadratic(), rng.standard_normal(3)
    by_hand = [sum(a * (wj - c) ** 2 / 2 for a, wj, c in zip(row[:3], w, row[3:], strict=True)) for row in data]
    assert loss.values(w, data) == pytest.approx(by_hand, rel=1e-13)
    for j, unit in enumerate(np.eye(3)):
        slope = (loss.values(w + 1e-6 * unit, data) - loss.values(w - 1e-6 * unit, data)) / 2e-6
        assert loss.gradients(w, data)[:, j] == pytest.approx(slope, abs=1e-8)
    assert loss.mean_value(w, data) == pytest.approx(np.mean(by_hand))
    assert loss.mean_gradient(w, data) == pytest.approx(loss.gradients(w, data).mean(axis=0))
    assert loss.smoothness_upper(data) == pytest.approx(data[:, :3].max(axis=1), rel=0, abs=0)
    domain = Box(-np.ones(3), 2 * np.ones(3))
    points = domain.project(5 * rng.standard_normal((300, 3)))
    attained = np.max([np.linalg.norm(loss.gradients(point, data), axis=1) for point in points], axis=0)
    bound = loss.lipschitz_upper(data, domain)
    assert (attained <= bound).all()
    assert not loss.lipschitz_is_exact(domain)
    assert bound[0] == 0
    assert (bound <= 3 * attained + 1e-12).all()
    assert loss.columns(3) == 6
    variable = cvxpy.Variable(3)
    variable.value = w
    assert float(loss.cvxpy_expression(variable, data[1]).value) == pytest.approx(by_hand[1])


def test_record_quadratic_refuses_what_is_not_a_record():
    loss = parse_any_loss("record-quadratic")
    assert loss == RecordQuadratic()
    assert parse_any_loss("l4") == L4()
    with pytest.raises(InputError, match="record 1 has a curvature below 0"):
        loss.values([0.0], [[1.0, 0.0], [-1e-300, 0.0]])
    with pytest.raises(InputError, match="even number"):
        loss.values([0.0], [[1.0, 0.0, 2.0]])
    with pytest.raises(InputError, match="not polyhedral"):
        loss.pieces([[1.0, 0.0]])
    assert loss.gradients([1e300], [[0.0, -1e308]])[0] == 0
    assert [dimension_of(x, 6) for x in (loss, Squared(), Affine())] == [3, 5, 6]
    with pytest.raises(InputError, match="allows no such number"):
        dimension_of(loss, 7)


def test_power_penalty_is_its_definition():
    rng = np.random.default_rng(6)
    data, w, domain = rng.standard_normal((7, 3)), rng.standard_normal(3), Ball(np.full(3, 0.2), 1.5)
    loss = parse_any_loss("power:4:0.5:affine")
    assert loss == PowerPenalty(Affine(), 0.5, 4.0)
    assert loss.values(w, data) == pytest.approx(data @ w + np.sum(w**2) ** 2 / 8, rel=1e-13)
    for j, unit in enumerate(np.eye(3)):
        slope = (loss.values(w + 1e-6 * unit, data) - loss.values(w - 1e-6 * unit, data)) / 2e-6
        assert loss.gradients(w, data)[:, j] == pytest.approx(slope, abs=1e-8)
    assert loss.mean_value(w, data) == pytest.approx(loss.values(w, data).mean())
    assert loss.mean_gradient(w, data) == pytest.approx(loss.gradients(w, data).mean(axis=0))
    far = domain.center + 1.5 * domain.center / np.linalg.norm(domain.center)  # where the penalty is steepest and roughest
    points = np.vstack([far, domain.project(5 * rng.standard_normal((300, 3)))])
    attained = np.max([np.linalg.norm(loss.gradients(point, data), axis=1) for point in points], axis=0)
    assert (attained <= loss.lipschitz_upper(data, domain)).all()
    pulls = np.array([loss.pull(point) for point in points])
    steep = np.linalg.norm(pulls[1:] - pulls[0], axis=1) / np.linalg.norm(points[1:] - points[0], axis=1)
    assert steep.max() <= loss.smoothness_on(domain)
    near = (1 - 1e-6) * far
    steepest = np.linalg.norm(loss.pull(far) - loss.pull(near)) / np.linalg.norm(far - near)
    assert steepest == pytest.approx(loss.smoothness_on(domain), rel=1e-5)


@pytest.mark.parametrize(
    "text", ["power:2:1:affine", "power:4:0:affine", "power:4:affine", "power", "power:4:1:ridge:1:affine"]
)
def test_bad_power_penalties_are_refused(text):
    with pytest.raises(InputError, match=r"power|weight|penalty"):
        parse_any_loss(text)


def test_power_penalties_wrap_plain_losses_only():
    with pytest.raises(InputError, match="generalised linear or quadratic"):
        PowerPenalty(Ridge(Hinge(), 1.0), 1.0, 4.0)
