"""Records in many bits: certified by ball arithmetic, for every loss, every domain and extreme data."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from tests.speed import units

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.extension import exact_sets as sets
from tailproof.refimpl.extension import refined as module
from tailproof.refimpl.extension.batched import batch
from tailproof.refimpl.extension.certificate import Certificate, Problem, record_gaps_upper
from tailproof.refimpl.extension.exact_sets import crossing
from tailproof.refimpl.extension.refined import ExactRecord, refine
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import FloatArray, InputError

GLMS: list[GlmLoss] = [Affine(), Hinge(), ReLU(), Absolute(), Squared(), L4(), Logistic()]
TRIANGLE = Polytope(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([1.0, 1.0, 1.0]))
SQUARE = Box(-np.ones(2), np.ones(2))
DISC = Ball(np.zeros(2), 1.0)

# Sets in the plane, and points that lie exactly on an edge and at a vertex, or on the boundary where there is none.
SETS: dict[str, tuple[Domain, list[list[float]]]] = {
    "ball": (DISC, [[1.0, 0.0], [0.0, -1.0]]),
    "box": (SQUARE, [[1.0, 0.25], [-1.0, 1.0]]),
    "l1": (L1Ball(np.zeros(2), 1.0), [[0.5, 0.5], [0.0, -1.0]]),
    "ellipsoid": (Ellipsoid(np.zeros(2), np.diag([4.0, 1.0])), [[2.0, 0.0], [0.0, -1.0]]),
    "polytope": (TRIANGLE, [[1.0, 0.5], [1.0, -2.0]]),
    "localised ball": (Localised(DISC, np.array([0.5, 0.0]), 0.75), [[-0.25, 0.0], [1.0, 0.0]]),
    "localised box": (Localised(SQUARE, np.array([1.0, 0.0]), 1.25), [[1.0, 0.25], [0.25, 1.0]]),
    "localised polytope": (Localised(TRIANGLE, np.array([1.0, -2.0]), 1.0), [[1.0, -1.5], [1.0, -2.0]]),
    "interval": (Box(np.array([-1.0]), np.array([3.0])), [[3.0], [-1.0]]),
}
QUADRATIC = ["even", "uneven", "rank one", "stiff", *(f"ridge {type(loss).__name__}" for loss in GLMS), "ridge uneven"]


def loss_with_quadratic_part(name: str, d: int) -> Loss:
    """By name, as matrices have the size of the domain."""
    root = np.random.default_rng(d).normal(size=(d, d))
    uneven = Quadratic(root @ root.T)
    named: dict[str, Loss] = {
        "even": Quadratic(0.7 * np.eye(d)),
        "uneven": uneven,
        "rank one": Quadratic(np.outer(root[0], root[0])),
        "stiff": Quadratic(np.diag(10.0 ** np.linspace(-6, 8, d))),
        "ridge uneven": Ridge(uneven, 0.3),
        **{f"ridge {type(loss).__name__}": Ridge(loss, 0.3) for loss in GLMS},
    }
    return named[name]


every_loss = pytest.mark.parametrize("loss", GLMS, ids=lambda loss: type(loss).__name__)
every_set = pytest.mark.parametrize("name", SETS)


def make_problem(loss: Loss, domain: Domain, rows: FloatArray, targets: FloatArray, C: float = 0.7) -> Problem:
    model = loss.loss if isinstance(loss, Ridge) else loss
    last = np.where(targets >= 0, 1.0, -1.0) if isinstance(model, GlmLoss) and model.target == "label" else targets
    data = rows if loss.columns(domain.dimension) == domain.dimension else np.column_stack([rows, last])
    return Problem(loss, data, domain, C, 1.0, domain.interior_point())


def scaled_problem(loss: Loss, domain: Domain, rng: np.random.Generator) -> Problem:
    """Ordinary records, large features, large targets, both, both very large, both again so that kinks are near, none."""
    rows, targets = rng.normal(size=(7, domain.dimension)), rng.normal(size=7)
    rows *= np.array([1, 1e12, 1, 1e12, 1e30, 1e12, 0])[:, np.newaxis]
    targets *= np.array([1, 1, 1e12, 1e12, 1e30, 1, 1])
    targets[5] = rows[5] @ (domain.interior_point() + 0.1)
    return make_problem(loss, domain, rows, targets)


def gaps_upper(problem: Problem, point: FloatArray, exact: dict[int, ExactRecord]) -> FloatArray:
    """The brackets' sums, proved by ball arithmetic; the floats beside the exact numbers say nothing."""
    n, d = problem.size, problem.dimension
    duals = np.full(n, max(0.0, problem.model.slope_range[0]) if isinstance(problem.model, GlmLoss) else 0.0)
    middle = np.tile(problem.domain.interior_point(), (n, 1))
    return record_gaps_upper(problem, Certificate(point, duals, middle, np.zeros((n, d)), exact))


def allowed(problem: Problem, point: FloatArray, i: int, record: ExactRecord, bits: int) -> float:
    """32·h·(C + ‖p‖ + ‖H‖·D)·D, and the Fenchel gap for a margin that is off by 32·h·‖x‖·D; what A lacks in definiteness."""
    model, x, w = problem.model, sets.exact(problem.features[i]), sets.exact(point)
    with mpmath.workprec(4096):
        h, D, t = mpf(2) ** -bits, mpf(problem.domain.diameter_upper()), mpf(float(problem.targets[i]))
        curve, slope = mpf(problem.ridge), abs(record.dual)
        fenchel = mpf(problem.tangent_deficit)
        gradient = sets.length(module.quadratic_gradient(problem, w, x))
        if isinstance(model, Quadratic):
            curve += 2 * mpf(float(model.spectrum[0][-1]))
        else:
            slope = max(slope, abs(module._least_slope(model, x @ w, t)))
            fenchel = fenchel_gap_within(model, record, 32 * h * sets.length(x) * D)
        steepness = problem.lipschitz + gradient + sets.length(x) * slope + curve * D
        return float(32 * h * steepness * D + fenchel) * (1 + 1e-15) + 1e-300  # the gaps are rounded upwards


def fenchel_gap_within(loss: GlmLoss, record: ExactRecord, off: mpf) -> mpf:
    """At most φ(m') + φ*(v) − v·m' where m' is that far from where φ has the slope v."""
    match loss:
        case Squared():
            return off**2 / 2
        case L4():
            k = mpmath.cbrt(abs(record.dual) / 4)
            return off**2 * 6 * (k + off) ** 2
        case Logistic():
            return min(off, off**2 / 8)
    return off


def check(problem: Problem, point: FloatArray, bits: int, rows: Any = None) -> FloatArray:
    indices = range(problem.size) if rows is None else rows
    exact = {i: refine(problem, point, i, bits=bits) for i in indices}
    gaps = gaps_upper(problem, point, exact)
    for i in indices:
        assert gaps[i] <= allowed(problem, point, i, exact[i], bits), (i, gaps[i])
    return gaps


@every_loss
@every_set
def test_gaps_fall_with_the_bits_wherever_the_point_is(loss: GlmLoss, name: str) -> None:
    rng = np.random.default_rng([2, len(name), GLMS.index(loss)])
    domain, edges = SETS[name]
    problem = scaled_problem(loss, domain, rng)
    inner = domain.project(domain.interior_point() + 0.2 * rng.uniform(-1, 1, size=domain.dimension))
    near = domain.project(
        domain.interior_point() + 5 * rng.normal(size=domain.dimension)
    )  # on the boundary but for rounding
    for point in (inner if rng.random() < 0.5 else near, *map(np.array, edges)):
        check(problem, point, 64, rows=rng.choice(7, size=2, replace=False).tolist())
    check(problem, np.array(edges[0]), 256, rows=[int(rng.integers(6))])


# Three nested searches of high precision take seconds: of the losses on a part of a polytope, one of each kind.
SLOW = {("localised polytope", part) for part in QUADRATIC} - {
    ("localised polytope", part) for part in ("even", "uneven", "ridge Absolute", "ridge Logistic", "ridge uneven")
}


@pytest.mark.parametrize(("name", "part"), [pair for pair in product(SETS, QUADRATIC) if pair not in SLOW], ids=str)
def test_gaps_fall_with_the_bits_for_losses_with_a_quadratic_part(name: str, part: str) -> None:
    rng = np.random.default_rng([5, len(name), QUADRATIC.index(part)])
    domain, edges = SETS[name]
    problem = scaled_problem(loss_with_quadratic_part(part, domain.dimension), domain, rng)
    inner = domain.project(domain.interior_point() + 0.2 * rng.uniform(-1, 1, size=domain.dimension))
    near = domain.project(domain.interior_point() + 5 * rng.normal(size=domain.dimension))
    points = [inner, near, *map(np.array, edges)]
    for bits in (64, 256):
        check(problem, points[int(rng.integers(len(points)))], bits, rows=[int(rng.integers(7))])


def test_many_bits_make_any_record_negligible() -> None:
    """512 bits suffice for slopes of 1e90 beside C: less than 1e-15·C·diameter is left."""
    domain = SETS["polytope"][0]
    for loss in (Squared(), Absolute(), Logistic()):
        problem = scaled_problem(loss, domain, np.random.default_rng(3))
        gaps = check(problem, np.array([1.0, -2.0]), 512)
        assert gaps.max() <= 1e-15 * problem.lipschitz * domain.diameter_upper()


KINDS = st.sampled_from(["ball", "box", "l1", "ellipsoid", "polytope", "localised"])
POWERS = st.tuples(
    st.integers(-40, 20), st.integers(-40, 20), st.integers(-10, 40), st.integers(-40, 40), st.integers(-9, 9)
)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), loss=st.sampled_from(GLMS), kind=KINDS, powers=POWERS)
def test_gaps_at_every_scale(seed: int, loss: GlmLoss, kind: str, powers: tuple[int, ...]) -> None:
    check_at_scale(seed, lambda _: loss, kind, powers)


@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 2**32), part=st.sampled_from(QUADRATIC), kind=KINDS, powers=POWERS)
def test_gaps_with_a_quadratic_part_at_every_scale(seed: int, part: str, kind: str, powers: tuple[int, ...]) -> None:
    check_at_scale(seed, lambda d: loss_with_quadratic_part(part, d), kind, powers)


def check_at_scale(seed: int, loss_in: Callable[[int], Loss], kind: str, powers: tuple[int, ...]) -> None:
    """Features, targets, C, the set and its distance from the origin, each at its own scale, or the last in the set's."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    feature, target, constant, size, shift = (10.0**power for power in powers)
    farthest = 1e7 if kind == "polytope" else 1e9  # a polytope's facets must not be 1e9 times its own size away
    domain = any_domain(kind, rng, d, size, size * min(max(shift, 1.0), farthest))
    rows, targets = feature * rng.uniform(-0.5, 0.5, size=(1, d)), target * rng.uniform(-0.9, 0.9, size=1)
    problem = make_problem(loss_in(d), domain, rows, targets, constant)
    point = domain.project(domain.interior_point() + size * rng.choice([0.0, 0.3, 3.0]) * rng.normal(size=d))
    check(problem, point, 64)


@pytest.mark.parametrize("kind", ["ball", "box", "l1", "polytope"])
def test_the_largest_data(kind: str) -> None:
    rng = np.random.default_rng(8)
    domain = any_domain(kind, rng, 2, 1e3, 1e6)
    for loss in GLMS:
        problem = make_problem(loss, domain, np.array([[1e60, -3e59]]), np.array([-1e60]), 1e-20)
        check(problem, domain.project(domain.interior_point() + 1e3 * rng.normal(size=2)), 64)


def test_a_localised_part_of_a_localised_part() -> None:
    rng = np.random.default_rng(9)
    for loss in (Hinge(), Squared()):
        domain = any_domain("twice", rng, 2, 1.0, 1.0)
        problem = make_problem(loss, domain, 1e3 * rng.normal(size=(1, 2)), rng.normal(size=1))
        check(problem, domain.project(domain.interior_point() + rng.normal(size=2)), 64)


def any_domain(kind: str, rng: np.random.Generator, d: int, size: float, far: float) -> Domain:
    c = far * rng.uniform(-1, 1, size=d)
    box = Box(c - size * rng.uniform(0.5, 1, size=d), c + size * rng.uniform(0.5, 1, size=d))
    match kind:
        case "ball":
            return Ball(c, size)
        case "l1":
            return L1Ball(c, size)
        case "ellipsoid":
            root = rng.normal(size=(d, d)) + np.eye(d)
            return Ellipsoid(c, size**2 * (root @ root.T + 0.1 * np.eye(d)))
        case "polytope":
            normals = np.vstack([np.eye(d), -np.eye(d), rng.normal(size=(3, d))])
            return Polytope(normals, normals @ c + size)
        case "localised" | "twice":
            once = Localised(box, box.project(c + size * rng.normal(size=d)), 0.8 * size)
            return once if kind == "localised" else Localised(once, once.center, 0.6 * size)
    return box


@every_loss
@pytest.mark.parametrize("name", [name for name in SETS if name != "localised polytope"])  # which takes floats long
def test_ordinary_records_agree_with_floats(loss: GlmLoss, name: str) -> None:
    domain = SETS[name][0]
    rng = np.random.default_rng([3, len(name), GLMS.index(loss)])
    rows, targets = 2 * rng.normal(size=(3, domain.dimension)), rng.normal(size=3)
    problem = make_problem(loss, domain, rows, targets)
    point = domain.project(domain.interior_point() + 0.1 * rng.normal(size=domain.dimension))
    extension = batch(loss=loss, data=problem.data, domain=domain, lipschitz=problem.lipschitz).at(point)
    for i in range(2):
        record = refine(problem, point, i, bits=64)
        y, g = np.array(record.minimiser, dtype=float), np.array(record.subgradient, dtype=float)
        value = loss.phi(problem.features[i] @ y, problem.targets[i]) + problem.lipschitz * np.linalg.norm(point - y)
        steepness = problem.lipschitz + np.linalg.norm(loss.gradients(point, problem.data)[i])
        assert value == pytest.approx(extension.values[i], abs=1e-13 * steepness * domain.diameter_upper())
        assert g == pytest.approx(extension.subgradients()[i], abs=1e-6)


# ----------------------------------------------------------------------------------------------------------- projections


@every_set
def test_projections_agree_with_floats_and_meet_the_optimality_conditions(name: str) -> None:
    domain = SETS[name][0]
    rng = np.random.default_rng(4)
    with mpmath.workprec(300):
        project = sets.projection(domain)
        for scale in (0.3, 3.0, 1e6):
            z = scale * rng.normal(size=domain.dimension)
            y = project(sets.exact(z))
            assert y.astype(float) == pytest.approx(domain.project(z), abs=1e-9 * max(1, scale))
            normal = sets.exact(z) - y  # is normal: no point of the set is further in its direction
            for _ in range(20):
                other = sets.exact(domain.project(3 * rng.normal(size=domain.dimension)))
                assert normal @ (other - y) <= 1e-75 * scale  # the points are inside by more than their rounding


def test_polytopes_with_redundant_and_nearly_parallel_facets() -> None:
    """Facets that coincide, pass through a vertex of others, or differ by a rounding error."""
    normals = np.array([[1.0, 0], [0, 1], [-1, -1], [1, 1], [1, 0], [2, 0], [1, 2.0**-50], [1, 1 + 2.0**-52], [0.3, 0.3]])
    offsets = np.array([1.0, 1, 1, 2, 1, 2, 1, 2, 0.6])
    messy = Polytope(normals, offsets)
    rng = np.random.default_rng(5)
    with mpmath.workprec(400):
        project = sets.onto_polytope_with_weights(messy)
        for target in ([3.0, 3.0], [3.0, 1.0], [1.0, 1.0], [5.0, 0.5], [-3.0, 9.0], *(4 * rng.normal(size=(10, 2)))):
            z = sets.exact(np.array(target))
            y, weights = project(z)
            room = sets.exact(offsets) - np.array([sets.exact(row) for row in normals]) @ y
            assert min(room) >= -1e-100
            assert min(weights) >= 0
            assert max(abs(weights * room)) <= 1e-100
            assert sets.length(z - y - weights @ np.array([sets.exact(row) for row in normals])) <= 1e-100
    for loss in (Affine(), Squared()):
        check(scaled_problem(loss, messy, rng), np.full(2, 1 - 2.0**-40), 256)


def test_crossing_finds_roots_of_any_shape_quickly() -> None:
    shapes = [
        lambda x: x**3 - mpf(2),
        lambda x: mpmath.exp(x) - mpf(10) ** 40,
        lambda x: mpmath.atan(x - 3) + mpf(10) ** -30,
        lambda x: x - 1 if x < 1 else 1000 * (x - 1),
        lambda x: mpf(-1) if x < mpmath.pi else mpf(1),
    ]
    with mpmath.workprec(400):
        for shape in shapes:
            calls: list[mpf] = []

            def counted(x: mpf, shape: Any = shape, calls: list[mpf] = calls) -> mpf:
                calls.append(x)
                return shape(x)

            low, high = crossing(counted, mpf(-50), mpf(100), mpf(2) ** -300)
            assert shape(low) < 0 <= shape(high)
            assert 0 < high - low <= mpf(2) ** -300
            assert len(calls) <= (3 * 310 if shape is shapes[-1] else 60)
        assert crossing(lambda x: x, mpf(1), mpf(2), mpf(2) ** -300) == (1, 1)


# -------------------------------------------------------------------------------------------------------------- interface


def test_precision_and_arguments_are_left_as_they_were() -> None:
    problem = scaled_problem(Squared(), DISC, np.random.default_rng(6))
    before = mpmath.mp.prec
    record = refine(problem, np.array([0.5, 0.5]), 0, bits=300)
    assert mpmath.mp.prec == before
    assert [len(record.minimiser), len(record.subgradient)] == [2, 2]
    assert all(isinstance(a, mpf) for a in (record.dual, *record.minimiser, *record.subgradient))


def test_bad_input() -> None:
    problem = scaled_problem(Squared(), DISC, np.random.default_rng(6))
    point = np.zeros(2)
    with pytest.raises(InputError, match="index"):
        refine(problem, point, 7, bits=128)
    with pytest.raises(InputError, match="bits"):
        refine(problem, point, 0, bits=32)
    with pytest.raises(InputError, match="point"):
        refine(problem, np.zeros(3), 0, bits=128)


@pytest.mark.parametrize("kind", ["ball", "box"])
def test_time(kind: str) -> None:
    """A twentieth of what is allowed is usual."""
    rng = np.random.default_rng(7)
    domain = any_domain(kind, rng, 10, 1.0, 1.0)
    cases = []
    for loss in GLMS:
        problem = make_problem(loss, domain, 1e12 * rng.normal(size=(1, 10)), 1e12 * rng.normal(size=1))
        cases.append((problem, domain.project(rng.normal(size=10))))
    assert units(lambda: [refine(problem, point, 0, bits=256) for problem, point in cases]) < 5 * len(cases)
