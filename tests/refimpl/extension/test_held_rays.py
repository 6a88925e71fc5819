"""Rays along the facets of a polytope and the axes of an ellipsoid, against the rays and Hessians of any domain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl import active_sets
from tailproof.refimpl.active_sets import nearest_of_many
from tailproof.refimpl.domains import Box, Ellipsoid, Polytope
from tailproof.refimpl.extension import facet_rays
from tailproof.refimpl.extension.batched import Batch, _row_lengths, batch
from tailproof.refimpl.extension.envelope import Envelope, Warm, _Rays, envelope
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, ReLU, Squared

LOSSES = [Affine(), Hinge(), ReLU(), Absolute(), Squared(), L4(), Logistic()]


def polytope(d: int, rng: np.random.Generator) -> Polytope:
    """A box with corners cut off, not around the origin."""
    normals = np.vstack([np.eye(d), -np.eye(d), rng.standard_normal((8, d))])
    offsets = rng.uniform(0.3, 0.6, len(normals)) * np.linalg.norm(normals, axis=1)
    shift = rng.standard_normal(d)
    return Polytope(normals, offsets + normals @ shift)


def records_of(loss: GlmLoss, d: int, rng: np.random.Generator, size: int = 60) -> np.ndarray:
    x = rng.standard_t(2.0, size=(size, d)) * 10.0 ** rng.uniform(-1, 3, (size, 1))
    if loss.target == "none":
        return np.asarray(x)
    t = rng.standard_normal(size) * 10.0 ** rng.uniform(-1, 3, size)
    return np.column_stack([x, np.where(t > 0, 1.0, -1.0) if loss.target == "label" else t])


def ellipsoid(d: int, rng: np.random.Generator) -> Ellipsoid:
    root = rng.standard_normal((d, d)) + np.eye(d)
    return Ellipsoid(rng.standard_normal(d), root @ root.T / d)


def box(d: int, rng: np.random.Generator) -> Box:
    middle, width = rng.standard_normal(d), rng.uniform(0.1, 1.0, d)
    return Box(middle - width, middle + width)


SETS = {"polytope": polytope, "ellipsoid": ellipsoid, "box": box}


def example(kind: str, loss: GlmLoss, seed: int, d: int) -> tuple[Batch, float, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    domain = SETS[kind](d, rng)
    of = batch(loss=loss, data=records_of(loss, d, rng), domain=domain, lipschitz=10.0 ** rng.uniform(-1, 1))
    w = domain.project(domain.interior_point() + 10.0 ** rng.uniform(-2, 1) * rng.standard_normal(d))
    return of, 10.0 ** rng.uniform(-6, 0), w, rng


def objective(of: Batch, found: Envelope, y: np.ndarray) -> np.ndarray:
    """f(y) + H(‖w − y‖)."""
    moves, short = _row_lengths(found.point - y), found.mu * of.lipschitz
    far = np.where(moves <= short, moves**2 / (2 * found.mu), of.lipschitz * (moves - short / 2))
    return np.asarray(of.glm.phi(np.einsum("ij,ij->i", of.features, y), of.targets) + far)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize(
    ("kind", "circles"), [("polytope", False), ("polytope", True), ("ellipsoid", False), ("box", False)]
)
def test_rays_lead_to_the_minimisers_that_projections_find(
    loss: GlmLoss, kind: str, circles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where every row counts as one that runs in circles."""
    for seed in range(5):
        of, mu, w, rng = example(kind, loss, seed, 1 + seed % 5)
        warm = Warm()
        with monkeypatch.context() as patch:
            if circles:
                patch.setattr(facet_rays, "range", lambda *ends: range(*ends) if ends[-1] > 100 else (), raising=False)
            envelope(of, mu, of.domain.project(w + 0.1 * rng.standard_normal(w.size)), warm)
            found = envelope(of, mu, w, warm)
        rows = np.flatnonzero(found.kind == 3)
        with np.errstate(all="ignore"):
            _, y = _Rays(of, mu, w, found.margins, rows).solve()
        expected = found.y.copy()
        expected[rows] = y
        assert of.domain.contains(found.y[rows]).all()
        size = 1 + np.abs(objective(of, found, found.y)) + of.norms * of.domain.diameter_upper()
        assert (objective(of, found, found.y) <= objective(of, found, expected) + 1e-11 * size).all()
        gaps = found.gaps_at(w)[0]
        assert np.mean(gaps <= 1.01 * mu * np.square(of.lipschitz) + 1e-7 * size) == 1


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), dimension=st.integers(1, 6), far=st.floats(-2, 4))
def test_the_dual_method_finds_the_projection(seed: int, dimension: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    facets = polytope(dimension, rng).facets
    for target in 10.0**far * rng.standard_normal((4, dimension)):
        point, weights, chosen = np.zeros(dimension), np.zeros(len(facets.slack)), np.zeros(dimension, dtype=np.intp)
        assert active_sets._dual_method(target, facets, point, weights, chosen)
        assert (weights >= 0).all()
        size = 1 + np.linalg.norm(target)
        assert (facets.unit @ point - facets.slack).max() <= 1e-13 * size
        assert np.abs(target - point - weights @ facets.unit).max() <= 1e-13 * size
        assert abs(weights @ (facets.unit @ point - facets.slack)) <= 1e-12 * size**2


def test_rows_that_run_in_circles_are_projected_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    facets = polytope(6, rng).facets
    targets = 5 * rng.standard_normal((50, 6))
    right = nearest_of_many(targets, facets)
    monkeypatch.setattr(active_sets, "range", lambda *ends: range(2 if ends[0] < 40 else ends[0]), raising=False)
    found = nearest_of_many(targets, facets)
    assert not found.open_rows.size
    assert np.abs(found.points - right.points).max() <= 1e-12
    assert np.abs(found.weights - right.weights).max() <= 1e-10


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("kind", SETS)
def test_the_hessian_is_that_of_any_domain(loss: GlmLoss, kind: str) -> None:
    for seed in range(6):
        of, mu, w, _ = example(kind, loss, seed, 2 + seed % 4)
        middle = of.domain.interior_point()
        found = envelope(of, mu, w := middle + 0.9 * (w - middle))  # away from facets that do not press
        if found.held is None:
            continue
        slow = Envelope(of, mu, w, found.duals, found.kind, found.margins, found.y, found.g)
        scale = np.abs(slow.mean_hessian()).max()
        assert (
            np.abs(found.mean_hessian() - slow.mean_hessian()).max() <= 1e-3 * scale + 1e-12
        )  # it loses digits to great pressures


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_is_no_point_is_left_open_and_spoils_no_other(odd: float) -> None:
    facets = active_sets.Facets(np.vstack([np.eye(2), -np.eye(2)]), np.ones(4))
    found = nearest_of_many(np.array([[3.0, 0.5], [odd, 0.0], [0.2, -7.0]]), facets)
    np.testing.assert_allclose(found.points[[0, 2]], [[1.0, 0.5], [0.2, -1.0]])
    assert found.open_rows.tolist() == [1]
