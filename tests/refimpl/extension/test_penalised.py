"""The batched extension of quadratic and ridge losses.  Its comparison with conic programs is in test_batched_acceptance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.extension.batched import RowExtension, batch
from tailproof.refimpl.extension.penalised import Pull, crossing
from tailproof.refimpl.extension.smoothing import Smoothed
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import FloatArray

GLMS: list[GlmLoss] = [Affine(), Hinge(), ReLU(), Absolute(), Squared(), Logistic(), L4()]
DOMAINS = ["ball", "box", "l1", "ellipsoid", "localised", "polytope"]
every_domain = pytest.mark.parametrize("name", DOMAINS)


def matrix_of(rng: np.random.Generator, d: int) -> FloatArray:
    root = rng.normal(size=(d, d))
    product = root @ root.T
    return (product + product.T) / 2


def losses(rng: np.random.Generator, d: int) -> list[Quadratic | Ridge]:
    quadratics = [Quadratic(1.7 * np.eye(d)), Quadratic(matrix_of(rng, d)), Quadratic(np.diag(np.arange(d) * 1.0))]
    return [*quadratics, Ridge(quadratics[1], 0.4), *(Ridge(glm, 0.6) for glm in GLMS)]


def make_domain(name: str, rng: np.random.Generator, d: int) -> Domain:
    c = rng.normal(size=d)
    match name:
        case "ball":
            return Ball(c, 1.2)
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


def make_data(loss: Quadratic | Ridge, rng: np.random.Generator, count: int, d: int) -> FloatArray:
    """Student-t features with 1 degree of freedom, a zero row, duplicates."""
    x = rng.standard_t(1, size=(count, d))
    x[0] = 0
    x[1] = x[2]
    inner = loss.loss if isinstance(loss, Ridge) else loss
    if isinstance(inner, Quadratic) or inner.target == "none":
        return x
    t = rng.choice([-1.0, 1.0], size=count) if inner.target == "label" else rng.standard_t(1, size=count)
    return np.column_stack([x, t])


def at(loss: Quadratic | Ridge, data: FloatArray, domain: Domain, C: float, w: FloatArray) -> RowExtension:
    found = batch(loss=loss, data=data, domain=domain, lipschitz=C).at(w)
    assert isinstance(found, RowExtension)
    return found


def scale_of(found: RowExtension) -> FloatArray:
    domain = found.batch.domain
    return found.batch.lipschitz * domain.max_norm_from(np.zeros(domain.dimension)) + np.abs(found.values)


# ------------------------------------------------------------------------------------------------------ second methods


def test_on_an_interval_against_golden_sections() -> None:
    rng = np.random.default_rng(1)
    share = (np.sqrt(5) - 1) / 2
    for trial, loss in enumerate(losses(rng, 1)[1:]):
        domain = make_domain(["ball", "box", "l1"][trial % 3], rng, 1)
        ends = domain.project(np.array([[-1e3], [1e3]]))[:, 0]
        data, C = make_data(loss, rng, 6, 1), float(10 ** rng.uniform(-1, 1))
        w = domain.project(rng.uniform(*ends, size=1))
        found = at(loss, data, domain, C, w)

        def objective(y: float, record: FloatArray) -> float:
            return float(loss.values(np.array([y]), record)[0] + C * abs(w[0] - y))  # noqa: B023

        for i in range(6):
            record, (low, high) = data[i : i + 1], ends
            for _ in range(60):
                left, right = high - share * (high - low), low + share * (high - low)
                low, high = (low, right) if objective(left, record) <= objective(right, record) else (left, high)
            best = min(objective(y, record) for y in (low, high, w[0]))
            assert abs(found.values[i] - best) <= 1e-10 * (1 + abs(best))


@every_domain
def test_a_weak_ridge_changes_little(name: str) -> None:
    """f ≤ f + (ω/2)‖y‖² on W, so their extensions differ by at most ω/2 times the largest ‖y‖²."""
    rng = np.random.default_rng(2)
    d, weight = 3, 1e-9
    domain = make_domain(name, rng, d)
    for glm in GLMS[DOMAINS.index(name) % 3 + 1 :: 3]:
        data = make_data(Ridge(glm, weight), rng, 4, d)
        w = domain.project(domain.interior_point() + rng.normal(size=d))
        plain = batch(loss=glm, data=data, domain=domain, lipschitz=1.1).at(w)
        found = at(Ridge(glm, weight), data, domain, 1.1, w)
        most = weight / 2 * domain.max_norm_from(np.zeros(d)) ** 2
        rounding = 1e-11 * scale_of(found)
        assert np.all(found.values >= plain.values - rounding)
        assert np.all(found.values <= plain.values + most + rounding)


@every_domain
def test_a_ridge_moves_the_centre_of_a_quadratic(name: str) -> None:
    """½(y−x)ᵀA(y−x) + (ω/2)‖y‖² = ½(y−b)ᵀ(A+ωI)(y−b) + constant with (A+ωI)b = Ax."""
    rng = np.random.default_rng(3)
    d, weight, C = 3, 0.8, 0.7
    domain, A = make_domain(name, rng, d), matrix_of(rng, d)
    x = rng.standard_t(2, size=(5, d))
    w = domain.project(domain.interior_point() + rng.normal(size=d))
    moved = np.linalg.solve(A + weight * np.eye(d), A @ x.T).T
    left = at(Ridge(Quadratic(A), weight), x, domain, C, w)
    right = at(Quadratic(A + weight * np.eye(d)), moved, domain, C, w)
    at_w = Ridge(Quadratic(A), weight).values(w, x) - Quadratic(A + weight * np.eye(d)).values(w, moved)
    assert np.all(np.abs(left.values - right.values - at_w) <= 1e-11 * (scale_of(left) + np.abs(at_w)))
    assert np.abs(left.minimisers() - right.minimisers()).max() <= 1e-7


def test_an_isotropic_quadratic_in_closed_form() -> None:
    """y = x + C(w − x)/(a‖w − x‖) where this is in W."""
    rng = np.random.default_rng(4)
    a, C = 1.3, 0.5
    domain, x, w = Ball(np.zeros(4), 3.0), rng.normal(size=(50, 4)), 0.2 * rng.normal(size=4)
    found = at(Quadratic(a * np.eye(4)), x, domain, C, w)
    distances = np.linalg.norm(w - x, axis=1, keepdims=True)
    expected = np.where(a * distances <= C, w, x + C * (w - x) / (a * distances))
    inside = np.linalg.norm(expected, axis=1) <= 3
    assert np.abs(found.minimisers() - expected)[inside].max() <= 1e-14
    assert np.array_equal(found.kind == 3, ~inside)


# -------------------------------------------------------------------------------------------------------- certificates


@every_domain
def test_gaps_are_at_rounding_level(name: str) -> None:
    """Where y is next to w on the boundary, the direction between them has half of its digits only."""
    rng = np.random.default_rng(5)
    d, kinds, shares = 3, set(), []
    for loss in losses(rng, d)[DOMAINS.index(name) % 3 :: 3]:
        domain, C = make_domain(name, rng, d), float(10 ** rng.uniform(-1, 1))
        w = domain.project(domain.interior_point() + rng.choice([0.1, 3.0]) * rng.normal(size=d))
        found = at(loss, make_data(loss, rng, 10, d), domain, C, w)
        gaps = found.gaps()
        assert gaps.shape == (10, 3)
        assert np.all(gaps >= 0)
        shares.append(gaps.sum(axis=1) / scale_of(found))
        assert domain.contains(found.minimisers()).all()
        assert np.all(np.linalg.norm(found.subgradients(), axis=1) <= C)
        kinds |= set(found.kind.tolist())
    assert kinds >= {2, 3}
    assert np.max(shares) <= 1e-6
    assert np.median(shares) <= 1e-12


def test_all_digits_where_y_rests_at_a_corner() -> None:
    """w is a vertex and stays: there is no direction w − y, and the subgradient is read off longer moves."""
    rng = np.random.default_rng(10)
    domain, seen = make_domain("box", rng, 3), 0
    for A in (1.7 * np.eye(3), matrix_of(rng, 3)):
        w = domain.project(domain.interior_point() + 10 * rng.choice([-1, 1], size=3))
        found = at(Quadratic(A), w + 2 * rng.normal(size=(40, 3)), domain, 2.0, w)
        rests = (found.kind == 3) & (found.minimisers() == w).all(axis=1)
        seen += int(rests.sum())
        assert np.all(found.gaps().sum(axis=1)[rests] <= 1e-12 * scale_of(found)[rests])
    assert seen >= 5


@settings(deadline=None, max_examples=10)
@given(
    seed=st.integers(0, 2**32),
    which=st.integers(0, 10),
    name=st.sampled_from(DOMAINS[:4]),
    d=st.integers(1, 4),
    C=st.floats(0.01, 100),
)
def test_extension_properties(seed: int, which: int, name: str, d: int, C: float) -> None:
    """Lemma 2.2: convex, C-Lipschitz, below f, and equal to f where f is flat enough; and the subgradient inequality."""
    rng = np.random.default_rng(seed)
    domain, loss = make_domain(name, rng, d), losses(rng, d)[which]
    data = make_data(loss, rng, 6, d)
    u, w = (domain.project(domain.interior_point() + domain.diameter_upper() * rng.normal(size=d)) for _ in range(2))
    at_u, at_w, at_middle = (at(loss, data, domain, C, point) for point in (u, w, domain.project((u + w) / 2)))
    sizes = 1e-10 * (scale_of(at_u) + scale_of(at_w))
    f = loss.values(w, data)
    assert np.all(at_w.values <= f + sizes + 1e-13 * np.abs(f))
    assert np.all(np.abs(at_u.values - at_w.values) <= C * np.linalg.norm(u - w) + sizes)
    assert np.all(at_middle.values <= (at_u.values + at_w.values) / 2 + sizes)
    flat = loss.lipschitz_upper(data, domain) <= C
    assert np.all(np.abs(at_w.values - f)[flat] <= sizes[flat])
    lower = at_w.values + at_w.subgradients() @ (u - w) - at_w.gaps().sum(axis=1)
    assert np.all(at_u.values >= lower - sizes)


@every_domain
def test_records_of_any_size(name: str) -> None:
    """y in W, ‖g‖ ≤ C and everything finite; the gaps grow only with the rounding of ⟨x, y⟩."""
    rng = np.random.default_rng(6)
    d = 2
    domain = make_domain(name, rng, d)
    for loss in losses(rng, d)[DOMAINS.index(name) % 4 :: 4]:
        data = make_data(loss, rng, 7, d)
        data[3:6, :d] *= 1e12
        data[6, :d] = 1e-200
        w = domain.project(domain.interior_point() + rng.choice([0.1, 5.0]) * rng.normal(size=d))
        C = float(rng.choice([1e-3, 10.0]))
        found = at(loss, data, domain, C, w)
        for array in (found.values, found.duals, found.gaps(), found.mean_hessian()):
            assert np.isfinite(array).all()
        assert domain.contains(found.minimisers()).all()
        assert np.all(np.linalg.norm(found.subgradients(), axis=1) <= C)
        steepness = np.linalg.norm(found.slopes(), axis=1) + np.abs(found.duals) * found.batch.norms
        assert np.all(found.gaps().sum(axis=1) <= 1e-6 * scale_of(found) + 1e-12 * steepness)


# ------------------------------------------------------------------------------------------------------------ the rest


@every_domain
def test_hessian_against_differences(name: str) -> None:
    """Record by record and along one direction, at points around which the face of y does not change."""
    rng = np.random.default_rng(7)
    step, d, seen = 1e-5, 2, set()
    for loss in losses(rng, d)[1:] * 2 if name in ("ball", "box") else losses(rng, d)[1::2]:
        domain = make_domain(name, rng, d)
        inside, u = domain.interior_point(), rng.normal(size=d)
        w = inside + 0.5 * (domain.project(inside + 5 * rng.normal(size=d)) - inside)
        data = np.clip(make_data(loss, rng, 4, d)[3:], -4, 4)
        of = batch(loss=loss, data=data, domain=domain, lipschitz=0.8)
        found = of.at(w)
        g, ahead, behind = (of.at(w + side * step * u).mean_subgradient() for side in (0, 1, -1))
        size = 1 + np.abs(ahead - behind).max() / step
        if np.abs(ahead - 2 * g + behind).max() / step <= 1e-2 * size:
            seen.add(int(found.kind[0]))
            assert np.abs((ahead - behind) / (2 * step) - found.mean_hessian() @ u).max() <= 1e-5 * size
    assert seen >= {2, 3}


def test_a_ridge_on_a_smoothed_loss() -> None:
    """The way a solver makes it: the loss of the batch replaced, the widths as the second column of the targets."""
    rng = np.random.default_rng(8)
    domain = make_domain("ball", rng, 3)
    for glm in (Hinge(), Absolute(), Logistic()):
        loss = Ridge(glm, 0.3)
        of = batch(loss=loss, data=make_data(loss, rng, 30, 3), domain=domain, lipschitz=0.9)
        widths = rng.uniform(0.01, 0.5, size=30)
        smooth = replace(of, loss=Ridge(Smoothed(glm), 0.3), targets=np.column_stack([of.targets, widths]))
        w = domain.project(domain.interior_point() + 0.5)
        found, plain = smooth.at(w), of.at(w)
        assert np.all(found.gaps().sum(axis=1) <= 1e-9 * (1 + np.abs(found.values)))
        assert np.all(found.values <= plain.values + 1e-12 * (1 + np.abs(plain.values)))
        assert np.linalg.eigvalsh(found.mean_hessian())[0] >= -1e-9


def test_pull_within_w_solves_its_equation() -> None:
    """(H + s)(w − y) = p with s‖w − y‖ = C."""
    rng = np.random.default_rng(9)
    H, forces = matrix_of(rng, 4) + 0.1 * np.eye(4), 3 * rng.normal(size=(40, 4))
    y, g, edge = Pull(Ball(np.zeros(4), 1e3), 0.8, np.zeros(4), H).solve(forces)
    assert not edge.any()
    assert np.abs(y @ H - g + forces).max() <= 1e-12
    steep = np.linalg.norm(forces, axis=1) > 0.8
    assert np.abs(np.linalg.norm(g[steep], axis=1) - 0.8).max() <= 1e-13
    assert np.all(np.einsum("ij,ij->i", g, -y) >= 0)


@settings(deadline=None, max_examples=60)
@given(root=st.floats(-1e3, 1e3), jump=st.sampled_from([0.0, 1.0, np.inf]), power=st.sampled_from([1, 3, 9]))
def test_crossing_of_one_function(root: float, jump: float, power: int) -> None:
    def function(x: FloatArray, _: object) -> FloatArray:
        return np.sign(x - root) * (np.abs(x - root) ** power + jump)

    ends = np.array([-2e3, 1001.0, -5e3]), np.array([2e3, 2e3, -1001.0])
    low, high = crossing(function, *ends, resolution=np.array([1e-30, 0.0, 0.0]))
    assert low[0] - 1e-29 <= root <= high[0] + 1e-29
    assert high[0] - low[0] <= 2e-15 * abs(root) + 1e-29
    assert low[1] == high[1] == 1001.0
    assert low[2] == high[2] == -1001.0
