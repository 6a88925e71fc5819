"""The batched Lipschitz extension against slower methods, its certificates, and the properties of Lemma 2.2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cvxpy
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope, unit_ball
from tailproof.refimpl.extension.batched import BallExtension, RowExtension, batch, fenchel_gap, margin_of_slope
from tailproof.refimpl.extension.smoothing import Smoothed
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Quadratic, ReLU, Squared
from tailproof.refimpl.validation import FloatArray, InputError

LOSSES: list[GlmLoss] = [Affine(), Hinge(), ReLU(), Absolute(), Squared(), Logistic(), L4()]
DOMAINS = ["box", "l1", "ellipsoid", "localised", "polytope"]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def make_data(loss: GlmLoss, rng: np.random.Generator, count: int, d: int, *, outliers: bool = False) -> FloatArray:
    """Student-t features with 0.7 degrees of freedom, a zero row, duplicates; on request records of size 1e12."""
    x = rng.standard_t(0.7, size=(count, d))
    x[0] = 0
    x[1:3] = x[3]
    if outliers:
        x[4:8] = 1e12 * rng.normal(size=(4, d))
    if loss.target == "none":
        return x
    t = rng.choice([-1.0, 1.0], size=count) if loss.target == "label" else rng.standard_t(0.7, size=count)
    return np.column_stack([x, t])


def make_ball(rng: np.random.Generator, d: int) -> Ball:
    return Ball(rng.normal(size=d) * rng.choice([0.0, 1.0, 10.0]), float(rng.choice([0.1, 1.0, 7.0])))


def point_of(ball: Ball, rng: np.random.Generator) -> FloatArray:
    """At the centre, inside, next to the sphere, or on it."""
    u = rng.normal(size=ball.dimension)
    return ball.project(ball.center + ball.radius * rng.choice([0, 0.3, 0.9, 1 - 1e-9, 2, 2]) * u / np.linalg.norm(u))


def make_domain(name: str, rng: np.random.Generator, d: int) -> Domain:
    c = rng.normal(size=d)
    match name:
        case "box":
            return Box(c - rng.uniform(0.5, 2, size=d), c + rng.uniform(0.5, 2, size=d))
        case "l1":
            return L1Ball(c, 1.5)
        case "ellipsoid":
            root = rng.normal(size=(d, d)) + np.eye(d)
            return Ellipsoid(c, root @ root.T + 0.1 * np.eye(d))
        case "localised":
            return Localised(Box(c - 1, c + 1), c, 1.2)
    normals = np.vstack([np.eye(d), -np.eye(d), rng.normal(size=(3, d))])
    return Polytope(normals, normals @ c + 1)


@dataclass(frozen=True, eq=False)
class Unknown:
    """A domain of a type of its own."""

    same_as: Domain

    def __getattr__(self, name: str) -> Any:
        return getattr(self.same_as, name)


def scale_of(extension: BallExtension | RowExtension, domain: Domain) -> FloatArray:
    """What rounding errors are measured by: C times the size of the set and its place, and the value."""
    return extension.batch.lipschitz * domain.max_norm_from(np.zeros(domain.dimension)) + np.abs(extension.values)


# ------------------------------------------------------------------------------------------------------ second methods


def ball_value_by_search(loss: GlmLoss, data: FloatArray, ball: Ball, w: FloatArray, C: float) -> FloatArray:
    """Golden-section search over s, y's place along x: the best place across x is the one nearest to w's."""
    x, t = loss.signed_features(data), loss.split(data)[1]
    z, R = w - ball.center, ball.radius
    norms = np.linalg.norm(x, axis=1)
    unit = np.divide(x, norms[:, np.newaxis], out=np.zeros_like(x), where=norms[:, np.newaxis] > 0)
    along = unit @ z
    across = np.linalg.norm(z - along[:, np.newaxis] * unit, axis=1)
    offset = x @ ball.center

    def objective(s: FloatArray) -> FloatArray:
        place = np.minimum(across, np.sqrt(np.maximum(R * R - s * s, 0)))
        return loss.phi(offset + norms * s, t) + C * np.hypot(along - s, across - place)

    low, high = np.full_like(norms, -R), np.full_like(norms, R)
    best = np.minimum(objective(low), objective(high))
    share = (np.sqrt(5) - 1) / 2
    for _ in range(90):
        left, right = high - share * (high - low), low + share * (high - low)
        at_left, at_right = objective(left), objective(right)
        best = np.minimum(best, np.minimum(at_left, at_right))
        low, high = np.where(at_left > at_right, left, low), np.where(at_left > at_right, high, right)
    return np.minimum(best, objective(np.clip(along, -R, R)))


def value_by_cvxpy(loss: GlmLoss, record: FloatArray, domain: Domain, w: FloatArray, C: float) -> float:
    y = cvxpy.Variable(domain.dimension)
    objective = loss.cvxpy_expression(y, record) + C * cvxpy.norm(w - y, 2)
    problem = cvxpy.Problem(cvxpy.Minimize(objective), domain.cvxpy_constraints(y))
    options = dict.fromkeys(["tol_gap_abs", "tol_gap_rel", "tol_feas"], 1e-10)
    problem.solve(solver=cvxpy.CLARABEL, **options)
    return float(problem.value)


@every_loss
def test_ball_values_against_a_search_along_x(loss: GlmLoss) -> None:
    rng = np.random.default_rng(11)
    kinds = set()
    for _ in range(25):
        d = int(rng.choice([1, 2, 3, 6]))
        ball, data, C = make_ball(rng, d), make_data(loss, rng, 40, d), float(10 ** rng.uniform(-2, 2))
        w = point_of(ball, rng)
        found = batch(loss=loss, data=data, domain=ball, lipschitz=C).at(w)
        expected = ball_value_by_search(loss, data, ball, w, C)
        tolerance = 1e-8 * np.maximum(1, C * 2 * ball.radius) + 1e-12 * np.abs(expected)
        assert np.all(np.abs(found.values - expected) <= tolerance)
        kinds |= set(found.kind.tolist())
    assert kinds == ({1, 3} if isinstance(loss, Affine) else {1, 2, 3})


@every_loss
@pytest.mark.parametrize("name", DOMAINS)
def test_other_domains_against_cvxpy(loss: GlmLoss, name: str) -> None:
    rng = np.random.default_rng(12)
    d = 3
    domain, C = make_domain(name, rng, d), 0.7
    data = np.clip(make_data(loss, rng, 12, d), -5, 5)
    w = domain.project(domain.interior_point() + rng.normal(size=d))
    found = batch(loss=loss, data=data, domain=domain, lipschitz=C).at(w)
    for i in [0, 3, *range(8, 12)][: 4 if name == "polytope" else 3]:
        expected = value_by_cvxpy(loss, data[i], domain, w, C)
        assert abs(found.values[i] - expected) <= 1e-8 * max(1, C * domain.diameter_upper(), abs(expected))


@every_loss
def test_both_methods_agree_on_a_ball(loss: GlmLoss) -> None:
    rng = np.random.default_rng(13)
    for _ in range(6):
        d = int(rng.choice([1, 2, 5]))
        ball, data, C = make_ball(rng, d), make_data(loss, rng, 40, d), float(10 ** rng.uniform(-1, 1))
        w = point_of(ball, rng)
        other = Localised(Ball(ball.center, 10 * ball.radius), ball.center, ball.radius)
        by_plane = batch(loss=loss, data=data, domain=ball, lipschitz=C).at(w)
        by_rays = batch(loss=loss, data=data, domain=other, lipschitz=C).at(other.project(w))
        assert isinstance(by_plane, BallExtension)
        assert isinstance(by_rays, RowExtension)
        assert np.all(np.abs(by_plane.values - by_rays.values) <= 1e-10 * scale_of(by_plane, ball))


# -------------------------------------------------------------------------------------------------------- certificates


def exact(row: FloatArray) -> mpmath.matrix:
    return mpmath.matrix([mpmath.mpf(float(entry)) for entry in row])


def exact_dual_bound(extension: BallExtension, ball: Ball, i: int) -> tuple[float, float]:
    """⟨g, w⟩ − φ*(v) − σ_W(g − v·x) less the value, and ‖g‖, of the coefficients as they are, in 60 digits."""
    with mpmath.workdps(60):
        of = extension.batch
        x, c, z = exact(of.features[i]), exact(ball.center), exact(extension.offset)
        g = mpmath.mpf(float(extension.g_x[i])) * x + mpmath.mpf(float(extension.g_w[i])) * z
        v, t = mpmath.mpf(float(extension.duals[i])), mpmath.mpf(float(of.targets[i]))
        normal = g - v * x
        support = (normal.T * c)[0] + ball.radius * mpmath.norm(normal)
        match of.loss:
            case Hinge():
                conjugate = v
            case Logistic():
                terms = [p * mpmath.log(p) for p in (-v, 1 + v) if p > 0]
                conjugate = sum(terms, mpmath.mpf(0))
            case Squared():
                conjugate = v * v / 2 + v * t
            case L4():
                conjugate = v * t + 3 * (abs(v) / 4) ** (mpmath.mpf(4) / 3)
            case Affine():
                conjugate = mpmath.mpf(0)
            case _:
                conjugate = v * t
        bound = (g.T * (c + z))[0] - conjugate - support
        return float(bound - mpmath.mpf(float(extension.values[i]))), float(mpmath.norm(g))


@every_loss
def test_the_dual_bound_in_exact_arithmetic(loss: GlmLoss) -> None:
    """Also for records of size 1e12: the bound holds and is tight to the rounding of the value and of ⟨x, y⟩."""
    rng = np.random.default_rng(14)
    for _ in range(12):
        d = int(rng.choice([1, 2, 4]))
        ball, data, C = make_ball(rng, d), make_data(loss, rng, 10, d, outliers=True), float(10 ** rng.uniform(-1.5, 1.5))
        found = batch(loss=loss, data=data, domain=ball, lipschitz=C).at(point_of(ball, rng))
        assert isinstance(found, BallExtension)
        lower, upper = loss.conjugate_domain(found.batch.targets)
        assert np.all((found.duals >= lower) & (found.duals <= upper))
        size = ball.max_norm_from(np.zeros(d))
        scale = C * size + np.abs(found.values) + np.abs(found.duals) * found.batch.norms * size
        for i in range(10):
            excess, length = exact_dual_bound(found, ball, i)
            assert abs(excess) <= 1e-13 * scale[i]
            assert length <= C * (1 + 1e-12)


@every_loss
def test_gaps_in_a_ball_are_at_rounding_level(loss: GlmLoss) -> None:
    rng = np.random.default_rng(15)
    for _ in range(40):
        d = int(rng.choice([1, 2, 3, 10]))
        ball, data, C = make_ball(rng, d), make_data(loss, rng, 100, d, outliers=True), float(10 ** rng.uniform(-2, 2))
        found = batch(loss=loss, data=data, domain=ball, lipschitz=C).at(point_of(ball, rng))
        gaps = found.gaps()
        assert gaps.shape == (100, 3)
        assert np.all(gaps >= 0)
        assert np.all(gaps.sum(axis=1) <= 2e-14 * scale_of(found, ball))


@every_loss
@pytest.mark.parametrize("name", DOMAINS[:4])
def test_gaps_in_other_domains(loss: GlmLoss, name: str) -> None:
    """At a boundary point a direction got from a projection has half the digits; the values have all of them."""
    rng = np.random.default_rng(16)
    for share in (0.1, 0.1, 3.0):
        d = int(rng.choice([1, 2, 5]))
        domain, data = make_domain(name, rng, d), make_data(loss, rng, 40, d)
        w = domain.project(domain.interior_point() + share * rng.normal(size=d))
        found = batch(loss=loss, data=data, domain=domain, lipschitz=1.5).at(w)
        gaps = found.gaps()
        assert np.all(gaps >= 0)
        assert np.all(gaps.sum(axis=1) <= 1e-6 * scale_of(found, domain))
        assert np.median(gaps.sum(axis=1) / scale_of(found, domain)) <= 1e-10
        assert np.all(np.linalg.norm(found.subgradients(), axis=1) <= 1.5)
        assert domain.contains(found.minimisers()).all()


@every_loss
def test_gaps_in_a_box_with_huge_records(loss: GlmLoss) -> None:
    rng = np.random.default_rng(21)
    for _ in range(15):
        d = int(rng.choice([1, 2, 3]))
        domain, data = make_domain("box", rng, d), make_data(loss, rng, 20, d, outliers=True)
        w = domain.project(domain.interior_point() + rng.choice([0.1, 3.0]) * rng.normal(size=d))
        found = batch(loss=loss, data=data, domain=domain, lipschitz=float(10 ** rng.uniform(-1.5, 1.5))).at(w)
        scale = scale_of(found, domain) + 1e-6 * np.abs(found.duals) * found.batch.norms
        assert np.all(found.gaps().sum(axis=1) <= 1e-6 * scale)


@every_loss
def test_conjugate_pairs(loss: GlmLoss) -> None:
    """fenchel_gap is φ(m) + φ*(v) − v·m, and vanishes at the margin of the slope."""
    rng = np.random.default_rng(17)
    m, t = rng.normal(size=200) * 3, rng.normal(size=200) if loss.target == "real" else np.zeros(200)
    low, high = loss.slope_range
    v = rng.uniform(max(low, -4.0), min(high, 4.0), size=200)
    direct = loss.phi(m, t) + loss.conjugate(v, t) - v * m
    assert np.all(np.abs(fenchel_gap(loss, m, t, v) - direct) <= 1e-13 * (1 + m**4 + t**4 + v**2))
    if not isinstance(loss, Affine):
        assert np.all(fenchel_gap(loss, margin_of_slope(loss, v, t), t, v) <= 1e-28)


# ------------------------------------------------------------------------------------------------- Lemma 2.2, properties


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from(LOSSES),
    name=st.sampled_from(["ball", "ball", "ball", *DOMAINS[:4]]),
    d=st.integers(1, 5),
    C=st.floats(0.01, 100),
)
def test_extension_properties(seed: int, loss: GlmLoss, name: str, d: int, C: float) -> None:
    rng = np.random.default_rng(seed)
    domain: Domain = make_ball(rng, d) if name == "ball" else make_domain(name, rng, d)
    data = make_data(loss, rng, 20, d)
    of = batch(loss=loss, data=data, domain=domain, lipschitz=C)
    spread = domain.diameter_upper()
    u, w = (domain.project(domain.interior_point() + spread * rng.normal(size=d)) for _ in range(2))
    middle = domain.project((u + w) / 2)
    at_u, at_w, at_middle = of.at(u), of.at(w), of.at(middle)
    tolerance = (1e-12 if name == "ball" else 1e-10) * (scale_of(at_u, domain) + scale_of(at_w, domain))
    margins = np.abs(loss.signed_features(data)) @ np.abs(w) + np.abs(loss.split(data)[1])
    rounding = 1e-14 * margins * np.maximum(1, np.abs(loss.gradients(w, data)).sum(axis=1) / (of.norms + 1e-300))
    assert np.all(at_w.values <= loss.values(w, data) + tolerance + rounding)
    assert np.all(np.abs(at_u.values - at_w.values) <= C * np.linalg.norm(u - w) + tolerance)
    assert np.all(at_middle.values <= (at_u.values + at_w.values) / 2 + tolerance)
    flat = loss.lipschitz_upper(data, domain) <= C
    assert np.all(np.abs(at_w.values - loss.values(w, data))[flat] <= (tolerance + rounding)[flat])
    slack = 10 * tolerance if name == "ball" else tolerance + 1e-6 * scale_of(at_w, domain)
    assert np.all(at_u.values >= at_w.values + at_w.subgradients() @ (u - w) - slack)
    assert np.allclose(at_w.mean_subgradient(), at_w.subgradients().mean(axis=0), rtol=0, atol=1e-10 * C)
    assert np.all(np.linalg.norm(at_w.subgradients(), axis=1) <= C * (1 + 1e-10))


def test_equality_where_the_normal_cone_helps() -> None:
    """At a boundary point some element of ∂f + N_W has norm ≤ C although ∂f has none: f_C = f there, and y = w."""
    angle = 0.2
    data = -3 * np.array([[np.cos(angle), np.sin(angle)]])
    ball = unit_ball(2)
    w = ball.project(np.array([2.0, 0.0]))
    tangential = 3 * np.sin(angle)
    for C, equal in [(1.01 * tangential, True), (0.99 * tangential, False)]:
        for domain in (ball, Localised(Ball(np.zeros(2), 5.0), np.zeros(2), 1.0)):
            found = batch(loss=Affine(), data=data, domain=domain, lipschitz=C).at(domain.project(w))
            assert found.kind.tolist() == [3]
            difference = float(Affine().values(w, data)[0] - found.values[0])
            assert (abs(difference) <= 1e-12) is equal
            assert difference >= -1e-12


# ------------------------------------------------------------------------------------------------------------ edges


@every_loss
def test_extreme_records_and_points(loss: GlmLoss) -> None:
    rng = np.random.default_rng(18)
    for d in (1, 3):
        data = make_data(loss, rng, 12, d, outliers=True)
        data[8, :d] = 1e-200
        ball = Ball(np.full(d, 0.5), 1.0)
        along = data[9, :d] / np.linalg.norm(data[9, :d])
        for step in (0.0, 0.5, 2.0):
            for sign in (-1.0, 1.0):
                w = ball.project(ball.center + sign * step * along)  # parallel to the tenth record
                found = batch(loss=loss, data=data, domain=ball, lipschitz=0.3).at(w)
                for array in (found.values, found.duals, found.gaps(), found.subgradients(), found.minimisers()):
                    assert np.isfinite(array).all()
                assert ball.contains(found.minimisers()).all()
                assert np.isfinite(found.mean_subgradient()).all()
                assert np.isfinite(found.mean_hessian()).all()
                assert found.kind[0] == 1  # the zero record is a constant
                assert not found.subgradients()[0].any()
                labels_agree = loss.target == "none" or data[1, -1] == data[2, -1]
                assert not labels_agree or found.values[1] == found.values[2]


@every_loss
def test_hessian_against_differences_of_subgradients(loss: GlmLoss) -> None:
    """Record by record, at points with a neighbourhood of one kind; every fifth w − c is parallel to x."""
    rng = np.random.default_rng(20)
    step, edges = 1e-5, 0
    for trial in range(150):
        d = int(rng.choice([1, 2, 4]))
        ball = Ball(0.3 * rng.normal(size=d), 1.0)
        data = 4 * rng.normal(size=(1, loss.columns(d)))
        if loss.target == "label":
            data[0, -1] = np.sign(data[0, -1])
        u = data[0, :d] if trial % 5 == 0 else rng.normal(size=d)
        w = ball.center + u / np.linalg.norm(u) * rng.uniform(-0.9, 0.9)
        of = batch(loss=loss, data=data, domain=ball, lipschitz=0.8)
        found = of.at(w)
        around = [(of.at(w + step * axis), of.at(w - step * axis)) for axis in np.eye(d)]
        if {int(side.kind[0]) for pair in around for side in pair} != {int(found.kind[0])}:
            continue
        edges += int(found.kind[0] == 3)
        slopes = [(ahead.mean_subgradient() - behind.mean_subgradient()) / (2 * step) for ahead, behind in around]
        difference = np.abs(np.array(slopes).T - found.mean_hessian()).max()
        assert difference <= 1e-5 * (1 + np.abs(slopes).max())
    assert edges >= 2


def one_record(loss: GlmLoss, rng: np.random.Generator, d: int) -> FloatArray:
    data = 4 * rng.normal(size=(1, loss.columns(d)))
    if loss.target == "label":
        data[0, -1] = np.sign(data[0, -1])
    return data


@pytest.mark.parametrize("name", DOMAINS)
def test_hessian_in_other_domains_against_differences(name: str) -> None:
    """Record by record, in case 3, at points around which the face of y does not change."""
    rng = np.random.default_rng(22)
    step, edges = 1e-5, 0
    for trial in range(42 if name in ("box", "l1") else 14):
        loss, d = LOSSES[trial % 7], int(rng.choice([2, 3]))
        domain = make_domain(name, rng, d)
        inside = domain.interior_point()
        w = inside + 0.5 * (domain.project(inside + 5 * rng.normal(size=d)) - inside)
        of = batch(loss=loss, data=one_record(loss, rng, d), domain=domain, lipschitz=0.8)
        found = of.at(w)
        if found.kind[0] != 3:
            continue
        g = found.mean_subgradient()
        ahead = np.array([of.at(w + step * axis).mean_subgradient() - g for axis in np.eye(d)]).T / step
        behind = np.array([g - of.at(w - step * axis).mean_subgradient() for axis in np.eye(d)]).T / step
        size = 1 + np.abs(ahead).max()
        if np.abs(ahead - behind).max() <= 1e-2 * size:
            edges += 1
            assert np.abs((ahead + behind) / 2 - found.mean_hessian()).max() <= 1e-6 * size
    assert edges >= 3


@every_loss
def test_hessian_of_an_unknown_domain_bounds_from_above(loss: GlmLoss) -> None:
    """The quadratic with this Hessian lies above f_C to second order, and for a box above the exact one."""
    rng = np.random.default_rng(23)
    for _ in range(20):
        box = make_domain("box", rng, 3)
        data = np.vstack([one_record(loss, rng, 3) for _ in range(5)])
        inside = box.interior_point()
        w = inside + 0.5 * (box.project(inside + 5 * rng.normal(size=3)) - inside)
        exact_hessian = batch(loss=loss, data=data, domain=box, lipschitz=0.8).at(w).mean_hessian()
        of = batch(loss=loss, data=data, domain=Unknown(box), lipschitz=0.8)  # type: ignore[arg-type]
        upper = of.at(w).mean_hessian()
        assert np.linalg.eigvalsh(exact_hessian)[0] >= -1e-9
        assert np.linalg.eigvalsh(upper - exact_hessian)[0] >= -1e-7


def test_hessian_at_the_boundary_is_finite() -> None:
    """y = w, or nearly: there the curvature may be infinite, and is bounded."""
    rng = np.random.default_rng(24)
    for name in DOMAINS[:4]:
        domain = make_domain(name, rng, 3)
        for loss in (Hinge(), Squared()):
            data = make_data(loss, rng, 30, 3, outliers=name == "box")
            w = domain.project(domain.interior_point() + 5 * rng.normal(size=3))
            hessian = batch(loss=loss, data=data, domain=domain, lipschitz=3.0).at(w).mean_hessian()
            assert np.isfinite(hessian).all()
            assert np.linalg.eigvalsh(hessian)[0] >= -1e-6


@pytest.mark.parametrize("name", ["ball", "box"])
def test_smoothed_losses(name: str) -> None:
    """The extension of a Moreau envelope is certified by its own conjugate, and lies below that of the loss."""
    rng = np.random.default_rng(25)
    kinds: set[int] = set()
    for loss in (Hinge(), Absolute(), Logistic(), L4()):
        domain: Domain = unit_ball(3) if name == "ball" else make_domain(name, rng, 3)
        of = batch(loss=loss, data=np.clip(make_data(loss, rng, 50, 3), -9, 9), domain=domain, lipschitz=1.3)
        widths = rng.uniform(0.01, 0.5, size=50)
        smooth = replace(of, loss=Smoothed(loss), targets=np.column_stack([of.targets, widths]))
        w = domain.interior_point() + 0.4
        found, plain = smooth.at(w), of.at(w)
        kinds |= set(found.kind.tolist())
        assert np.all(found.gaps() >= 0)
        assert np.all(found.gaps().sum(axis=1) <= 1e-9 * scale_of(found, domain))
        assert np.all(found.values <= plain.values + 1e-12)
        v = np.clip(rng.normal(size=50), *loss.slope_range)
        m, two_columns = rng.normal(size=50), smooth.targets
        direct = smooth.loss.phi(m, two_columns) + smooth.loss.conjugate(v, two_columns) - v * m
        assert np.abs(fenchel_gap(smooth.loss, m, two_columns, v) - direct).max() <= 1e-10 * np.abs(direct).max()
        assert np.linalg.eigvalsh(found.mean_hessian())[0] >= -1e-9
    assert kinds == {1, 2, 3}


def test_one_batch_serves_many_points_and_constants() -> None:
    rng = np.random.default_rng(19)
    data = make_data(Hinge(), rng, 30, 2)
    of = batch(loss=Hinge(), data=data, domain=unit_ball(2), lipschitz=1.0)
    again = batch(loss=Hinge(), data=data, domain=unit_ball(2), lipschitz=0.1).at([0.3, 0.4])
    assert np.array_equal(of.with_lipschitz(0.1).at([0.3, 0.4]).values, again.values)
    assert again.mean_value() == pytest.approx(again.values.mean(), rel=1e-14)


def test_bad_arguments() -> None:
    data = np.array([[1.0, 2.0, 1.0]])
    of = batch(loss=Hinge(), data=data, domain=unit_ball(2), lipschitz=1.0)
    with pytest.raises(InputError, match="w = "):
        of.at([1.0, 1.0])
    with pytest.raises(InputError, match="lipschitz"):
        batch(loss=Hinge(), data=data, domain=unit_ball(2), lipschitz=0.0)
    with pytest.raises(InputError, match="data"):
        batch(loss=Hinge(), data=data * 1e90, domain=unit_ball(2), lipschitz=1.0)
    with pytest.raises(InputError, match="loss"):
        batch(loss=Smoothed(Hinge()), data=data, domain=unit_ball(2), lipschitz=1.0)
    with pytest.raises(InputError, match="data"):
        batch(loss=Quadratic(np.eye(3)), data=data[:, :2], domain=unit_ball(2), lipschitz=1.0)


def test_rays_beyond_the_largest_point_are_cut() -> None:
    """The steepest records of the fourth power would follow their ray to 1e73."""
    data = np.array([[1e25, -1e25, 1e25], [1.0, 2.0, 3.0]])
    box = Box(-np.ones(2), np.ones(2))
    found = batch(loss=L4(), data=data, domain=box, lipschitz=1.0).at(np.array([0.2, 0.1]))
    assert box.contains(found.minimisers()).all()
    assert np.isfinite(found.subgradients()).all()
