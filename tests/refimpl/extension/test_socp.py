"""The extension by conic programming: against exact formulas on the line, a search in the plane, and Lemma 2.2 of P4."""

from __future__ import annotations

from functools import cache
from typing import Any

import cvxpy
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.extension import socp
from tailproof.refimpl.extension.socp import Extension, ReferenceExtension, certify, extend
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import FloatArray, InputError

LOSSES = ("affine", "hinge", "relu", "absolute", "logistic", "squared", "l4", "quadratic")
DOMAINS = ("ball", "box", "l1", "ellipsoid", "polytope", "localised")
SEEDS = st.integers(0, 2**32 - 1)
mpf = mpmath.mpf


def make_loss(name: str, d: int) -> GlmLoss | Quadratic:
    if name == "quadratic":
        root = np.tril(np.full((d, d), 0.5)) + np.eye(d)
        product = root @ root.T
        return Quadratic((product + product.T) / 2)
    named = (Affine(), Hinge(), ReLU(), Absolute(), Logistic(), Squared(), L4())
    return dict(zip(LOSSES, named, strict=False))[name]


def make_domain(name: str, d: int) -> Domain:
    centre = np.linspace(-0.3, 0.4, d)
    box = Box(centre - 1.0, centre + np.linspace(0.5, 1.5, d))
    # A box with one corner cut off.
    normals, offsets = np.vstack([np.eye(d), -np.eye(d), np.ones((1, d))]), np.r_[np.ones(2 * d), 0.7 * d]
    return {
        "ball": lambda: Ball(centre, 1.25),
        "box": lambda: box,
        "l1": lambda: L1Ball(centre, 1.5),
        "ellipsoid": lambda: Ellipsoid(centre, np.diag(np.linspace(0.3, 2.0, d)) + 0.1),
        "polytope": lambda: Polytope(normals, offsets),
        "localised": lambda: Localised(box, centre, 0.9),
    }[name]()


@cache
def reference(loss: str, domain: str, d: int) -> ReferenceExtension:
    return ReferenceExtension(make_loss(loss, d), make_domain(domain, d), d)


def make_record(rng: np.random.Generator, loss: Loss, d: int) -> FloatArray:
    """Heavy-tailed, so that with C about 1 every regime occurs."""
    record = rng.standard_t(2.0, size=loss.columns(d))
    if isinstance(loss, GlmLoss) and loss.target == "label":
        record[-1] = rng.choice([-1.0, 1.0])
    return np.asarray(record)


def make_point(rng: np.random.Generator, domain: Domain) -> FloatArray:
    """Inside or, about as often, on the boundary."""
    return domain.project(domain.interior_point() + rng.normal(size=domain.dimension) * rng.choice([0.2, 2.0]))


def values_at(loss: Loss, points: FloatArray, record: FloatArray) -> FloatArray:
    """f at many points, for one record."""
    return np.array([loss.values(point, record[np.newaxis])[0] for point in points])


# ------------------------------------------------------------------------------------------- exactly, on the line


def exact_loss(loss: Loss, record: FloatArray, y: Any) -> Any:
    x, t = mpf(record[0]), mpf(record[-1])
    match loss:
        case Affine():
            return x * y
        case Hinge():
            return max(mpf(0), 1 - t * x * y)
        case ReLU():
            return max(mpf(0), x * y - t)
        case Absolute():
            return abs(x * y - t)
        case Logistic():
            return mpmath.log1p(mpmath.exp(-t * x * y))
        case Squared():
            return (x * y - t) ** 2 / 2
        case L4():
            return (x * y - t) ** 4
        case Quadratic():
            return mpf(loss.matrix[0, 0]) * (y - x) ** 2 / 2


def flat_margins(loss: Loss, record: FloatArray, clip: Any) -> tuple[Any, Any, Any]:
    """The margins m = factor·y between which |f'| ≤ C, and the factor; f is steeper than C on the line if |factor| > C."""
    x, t, inf = mpf(record[0]), mpf(record[-1]), mpmath.inf
    a = abs(x)
    match loss:
        case Quadratic():
            width = clip / mpf(loss.matrix[0, 0])
            return x - width, x + width, mpf(1)
        case Squared():
            return t - clip / a, t + clip / a, x
        case L4():
            width = mpmath.cbrt(clip / (4 * a))
            return t - width, t + width, x
        case _ if a <= clip:
            return -inf, inf, x
        case Affine():
            return -inf, -inf, x
        case Hinge():
            return mpf(1), inf, t * x
        case ReLU():
            return -inf, t, x
        case Absolute():
            return t, t, x
        case Logistic():
            return mpmath.log(a / clip - 1), inf, t * x
    raise AssertionError(loss)


def exact_extension(loss: Loss, ends: tuple[Any, Any], record: FloatArray, w: Any, clip: float) -> Any:
    """By hand: y goes from w to the nearest point where |f'| ≤ C, as far as W allows."""
    low, high, factor = flat_margins(loss, record, mpf(clip))
    flat = sorted((low / factor, high / factor))
    y = min(max(min(max(w, flat[0]), flat[1]), ends[0]), ends[1])
    return exact_loss(loss, record, y) + mpf(clip) * abs(w - y)


@settings(deadline=None, max_examples=150)
@given(name=st.sampled_from(LOSSES), ball=st.booleans(), seed=SEEDS, size=st.sampled_from([1.0, 1.0, 30.0]))
def test_on_the_line_the_certificate_is_true_without_tolerance(name: str, ball: bool, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    program = reference(name, "ball" if ball else "box", 1)
    loss, domain = program.loss, program.domain
    record = make_record(rng, loss, 1)
    record[0] *= size
    w, clip = make_point(rng, domain), float(rng.uniform(0.2, 3.0))
    found = program.at(record, w, clip)
    with mpmath.workdps(60):
        if isinstance(domain, Ball):
            ends = mpf(domain.center[0]) - mpf(domain.radius), mpf(domain.center[0]) + mpf(domain.radius)
        else:
            assert isinstance(domain, Box)
            ends = mpf(domain.lower[0]), mpf(domain.upper[0])
        here = exact_extension(loss, ends, record, mpf(w[0]), clip)
        assert here <= found.value
        assert found.value - here <= found.gap
        for u in [*ends, *(mpf(make_point(rng, domain)[0]) for _ in range(10))]:
            bound = mpf(found.value) + mpf(found.subgradient[0]) * (u - mpf(w[0])) - mpf(found.gap)
            assert exact_extension(loss, ends, record, u, clip) >= bound
    assert abs(found.subgradient[0]) <= clip


@pytest.mark.parametrize(
    ("loss", "record", "w", "value", "minimiser", "subgradient"),
    [
        (Absolute(), [5.0, 0.0], 0.5, 0.5, 0.0, 1.0),  # to the kink, at cost 1 per unit
        (Absolute(), [-5.0, 10.0], 0.5, 6.5, -1.0, 1.0),  # the kink, −2, is outside
        (Absolute(), [0.5, 0.0], 0.5, 0.25, 0.5, 0.5),  # not steeper than C
        (Hinge(), [4.0, -1.0], 0.5, 0.75, -0.25, 1.0),
        (Affine(), [3.0], 0.0, -2.0, -1.0, 1.0),
        (Squared(), [2.0, 0.0], 0.75, 0.625, 0.25, 1.0),  # ½·0.5² + 0.5
        (Quadratic(np.array([[1.0]])), [-2.0], 0.5, 2.0, -1.0, 1.0),
    ],
)
def test_worked_examples_on_the_interval(
    loss: Loss, record: list[float], w: float, value: float, minimiser: float, subgradient: float
) -> None:
    """C = 1 and W = [−1, 1]."""
    found = extend(loss, Ball(np.zeros(1), 1.0), record, [w], 1.0)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.minimiser == pytest.approx([minimiser], abs=1e-6)
    assert found.subgradient == pytest.approx([subgradient], abs=1e-6)
    assert 0 <= found.gap <= 1e-9


# ------------------------------------------------------------------------------------------------- in the plane


def searched(loss: GlmLoss | Quadratic, domain: Domain, record: FloatArray, w: FloatArray, clip: float) -> float:
    """f_C(w) by a grid that is projected into W and closes in on its best point.

    Its axes are those of the record: on another grid the search would be caught in the valley of a kink.
    """
    best, width, least = w, domain.diameter_upper(), np.inf
    steps = np.linspace(-1, 1, 7)
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    grid = grid @ np.array([record[:2], [-record[1], record[0]]]) / np.linalg.norm(record[:2])
    for _ in range(40):
        y = np.vstack([domain.project(best + width * grid), best])
        if isinstance(loss, GlmLoss):
            f = loss.phi(y @ loss.signed_features(record[np.newaxis])[0], loss.split(record[np.newaxis])[1])
        else:
            f = np.einsum("ij,jk,ik->i", y - record, loss.matrix, y - record) / 2
        objective = f + clip * np.linalg.norm(w - y, axis=1)
        best, least = y[np.argmin(objective)], min(least, float(objective.min()))
        width *= 0.7
    return least


@pytest.mark.parametrize("domain_name", DOMAINS)
@pytest.mark.parametrize("loss_name", LOSSES)
def test_in_the_plane_a_search_finds_the_same_value(loss_name: str, domain_name: str) -> None:
    program = reference(loss_name, domain_name, 2)
    rng = np.random.default_rng(20)  # the accuracy of the search and of the solver is shown, not claimed for every record
    for _ in range(2):
        record, w = np.clip(make_record(rng, program.loss, 2), -3, 3), make_point(rng, program.domain)
        clip = float(rng.uniform(0.3, 2.0))
        found = program.at(record, w, clip)
        best = searched(program.loss, program.domain, record, w, clip)  # type: ignore[arg-type]
        assert best >= found.value - found.gap - 1e-12 * (1 + abs(best))  # a point of W cannot be better than the bound
        assert found.value <= best + found.gap + 1e-12 * (1 + abs(best))
        assert best <= found.value + 1e-5 * (1 + abs(best))
        assert found.gap <= 1e-7 * (1 + abs(best))


# ----------------------------------------------------------------------------------------------- in any dimension


@settings(deadline=None, max_examples=40)
@given(loss_name=st.sampled_from(LOSSES), domain_name=st.sampled_from(DOMAINS), d=st.sampled_from([2, 4]), seed=SEEDS)
def test_lemma_2_2_and_the_subgradient_inequality(loss_name: str, domain_name: str, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = reference(loss_name, domain_name, d)
    loss, domain = program.loss, program.domain
    record, clip = make_record(rng, loss, d), float(rng.uniform(0.2, 3.0))
    points = np.array([make_point(rng, domain) for _ in range(3)])
    points = np.vstack([points, domain.project((points[0] + points[1]) / 2)])
    found = [program.at(record, w, clip) for w in points]
    upper = np.array([e.value for e in found])
    lower = upper - [e.gap for e in found]
    rounding = 1e-12 * (1 + np.abs(upper).max() + np.abs(record).max())
    assert (lower <= values_at(loss, points, record) + rounding).all()  # f_C ≤ f
    for i, e in enumerate(found):
        assert domain.contains(e.minimiser)
        assert np.linalg.norm(e.subgradient) <= clip * (1 + 1e-15)
        assert e.gap >= 0
        distances = np.linalg.norm(points - points[i], axis=1)
        assert (lower <= upper[i] + clip * distances + rounding).all()  # C-Lipschitz
        assert (upper >= lower[i] + (points - points[i]) @ e.subgradient - rounding).all()
        # Any y gives f_C(u) ≤ f(y) + C‖u − y‖, whatever the solver says about u.
        y, u = make_point(rng, domain), make_point(rng, domain)
        value = loss.values(y, record[np.newaxis])[0] + clip * np.linalg.norm(u - y)
        assert value >= lower[i] + (u - points[i]) @ e.subgradient - rounding
    assert lower[3] <= (upper[0] + upper[1]) / 2 + rounding  # convex


@pytest.mark.parametrize("domain_name", DOMAINS)
@pytest.mark.parametrize("loss_name", LOSSES)
def test_the_extension_is_the_loss_where_that_is_not_steeper_than_c(loss_name: str, domain_name: str) -> None:
    rng = np.random.default_rng(21)  # as above: that the gap is small is shown
    program = reference(loss_name, domain_name, 4)
    record, w = make_record(rng, program.loss, 4), make_point(rng, program.domain)
    clip = float(program.loss.lipschitz_upper(record[np.newaxis], program.domain)[0]) * 1.000001
    found = program.at(record, w, clip)
    value = float(program.loss.values(w, record[np.newaxis])[0])
    size = 1 + abs(value) + clip
    assert found.value - found.gap - 1e-13 * size <= value <= found.value + 1e-13 * size
    assert found.gap <= 1e-9 * size


@pytest.mark.parametrize("domain_name", DOMAINS)
@pytest.mark.parametrize("loss_name", LOSSES)
def test_a_false_guess_widens_the_gap_and_proves_nothing_false(loss_name: str, domain_name: str) -> None:
    rng = np.random.default_rng()
    program = reference(loss_name, domain_name, 2)
    loss, domain = program.loss, program.domain
    record, w, clip = make_record(rng, loss, 2), make_point(rng, domain), float(rng.uniform(0.2, 3.0))
    honest = program.at(record, w, clip)
    points = np.array([make_point(rng, domain) for _ in range(4)])
    upper = np.array([program.at(record, u, clip).value for u in points])
    rounding = 1e-12 * (1 + np.abs(upper).max() + np.abs(record).max())

    def guess(minimiser: FloatArray, subgradient: FloatArray, slope: float | None) -> Extension:
        return certify(loss, domain, record, w, clip, minimiser=minimiser, subgradient=subgradient, slope=slope)

    for trial in range(6):
        subgradient = (-honest.subgradient, rng.normal(size=2) * 100, np.zeros(2))[trial % 3]
        minimiser = (honest.minimiser, domain.interior_point() + rng.normal(size=2) * 10)[trial % 2]
        false = guess(minimiser, subgradient, (None, 0.0, float(rng.normal()) * 10)[trial // 2])
        assert domain.contains(false.minimiser)
        assert np.linalg.norm(false.subgradient) <= clip * (1 + 1e-15)
        assert false.value >= honest.value - honest.gap
        # The least gap that the subgradient allows, as far as four points show.
        needed = false.value + (points - w) @ false.subgradient - upper
        assert false.gap >= needed.max() - rounding - 1e-15 * false.value
        assert false.gap >= false.value - honest.value - rounding - 1e-15 * false.value


def test_a_reversed_subgradient_is_found_out() -> None:
    domain, record, w = Ball(np.zeros(2), 1.0), np.array([5.0, 0.0, 0.0]), np.array([0.5, 0.0])
    for sign, least, most in ((1.0, 0.0, 1e-12), (-1.0, 0.9, 10.0)):
        found = certify(
            Absolute(), domain, record, w, 1.0, minimiser=np.zeros(2), subgradient=np.array([sign, 0.0]), slope=sign / 5
        )
        assert found.value == pytest.approx(0.5, abs=1e-12)
        assert least <= found.gap <= most


# --------------------------------------------------------------------------------------------------- the program


@pytest.mark.parametrize("domain_name", DOMAINS)
@pytest.mark.parametrize("loss_name", LOSSES)
def test_a_program_used_again_answers_like_a_new_one(loss_name: str, domain_name: str) -> None:
    rng = np.random.default_rng()
    program = reference(loss_name, domain_name, 2)
    assert program._program.problem.is_dcp(dpp=True)
    program.at(make_record(rng, program.loss, 2), make_point(rng, program.domain), 2.0)
    record, w = make_record(rng, program.loss, 2), make_point(rng, program.domain)
    again, new = program.at(record, w, 0.7), extend(program.loss, program.domain, record, w, 0.7)
    assert (again.value, again.gap) == (new.value, new.gap)
    assert np.array_equal(again.minimiser, new.minimiser)
    assert np.array_equal(again.subgradient, new.subgradient)


def test_the_program_s_multipliers_have_the_signs_the_certificate_needs() -> None:
    """f_C rises towards +e₁ with slope C; there φ has slope C/5."""
    program = reference("absolute", "ball", 2)
    query = socp._query(program.loss, program.domain, [5.0, 0.0, 0.0], [0.5, 0.0], 1.0)
    point, subgradient, slope = socp._solve(program._program, query)
    assert point == pytest.approx([0.0, 0.0], abs=1e-6)
    assert subgradient == pytest.approx([1.0, 0.0], abs=1e-6)
    assert slope == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize("loss_name", LOSSES)
def test_a_certificate_holds_even_if_the_solver_fails(loss_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng()
    program = ReferenceExtension(make_loss(loss_name, 2), make_domain("ball", 2), 2)
    record, w = make_record(rng, program.loss, 2) * 5, make_point(rng, program.domain)
    if program.loss.columns(2) == 3:
        record[-1] = 1.0
    good = program.at(record, w, 0.5)

    def fail(*_: Any, **__: Any) -> None:
        raise cvxpy.SolverError("no")

    monkeypatch.setattr(cvxpy.Problem, "solve", fail)
    poor = program.at(record, w, 0.5)
    assert poor.value >= good.value - good.gap
    assert poor.value - poor.gap <= good.value
    assert np.isfinite(poor.gap)
    # Nothing is left over from the solution before.
    new = extend(program.loss, program.domain, record, w, 0.5)
    assert (poor.value, poor.gap) == (new.value, new.gap)


def test_huge_records_give_a_finite_certificate_or_a_refusal() -> None:
    domain = Ball(np.zeros(2), 1.0)
    found = extend(Absolute(), domain, [1e100, 0.0, 1.0], [0.5, 0.0], 1.0)
    assert 0 <= found.gap < np.inf
    with pytest.raises(OverflowError):
        certify(Squared(), domain, [1e200, 0.0, 1.0], [0.5, 0.0], 1.0, minimiser=[0.5, 0.0], subgradient=[0.0, 0.0])
    with pytest.raises(OverflowError):
        extend(L4(), domain, [1e200, 0.0, 1.0], [0.5, 0.0], 1.0)


def test_a_record_of_zeros_is_constant() -> None:
    domain = Ball(np.zeros(2), 1.0)
    for loss, value in ((Hinge(), 1.0), (Logistic(), np.log(2)), (Absolute(), 1.0)):
        found = extend(loss, domain, [0.0, 0.0, 1.0], [0.6, 0.8 - 1e-9], 1.0)
        assert found.value == pytest.approx(value, rel=1e-14)
        assert found.gap <= 1e-13


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"clip": 0.0}, "clip"),
        ({"clip": -1.0}, "clip"),
        ({"clip": np.nan}, "clip"),
        ({"w": [0.9, 0.9]}, "w: must lie in the domain"),
        ({"w": [0.1]}, "w: has 1 entries"),
        ({"w": [np.nan, 0.0]}, "w: entry"),
        ({"record": [1.0, 2.0]}, "record: has 2 entries"),
        ({"record": [[1.0, 2.0, 1.0]]}, "record: has shape"),
        ({"record": [np.inf, 2.0, 1.0]}, "record: entry"),
        ({"record": [1.0, 2.0, 0.5]}, "label"),
        ({"loss": Ridge(Hinge(), 1.0)}, "loss"),
        ({"loss": Quadratic(np.eye(3)), "record": [1.0, 2.0, 1.0]}, "loss"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"loss": Hinge(), "domain": Ball(np.zeros(2), 1.0), "record": [1.0, 2.0, 1.0]}
    good |= {"w": [0.1, 0.2], "clip": 1.0}
    extend(**good)
    with pytest.raises(InputError, match=message):
        extend(**(good | changed))
    with pytest.raises(InputError, match=message):
        certify(**(good | changed), minimiser=[0.0, 0.0], subgradient=[0.0, 0.0])


def test_the_dimension_must_be_the_domain_s() -> None:
    with pytest.raises(InputError, match="dimension = 3"):
        ReferenceExtension(Hinge(), Ball(np.zeros(2), 1.0), 3)


def test_a_kept_program_answers_as_a_new_one() -> None:
    """Of equal values one program is kept, of others another; what was asked before changes no bit."""
    rng = np.random.default_rng(0)
    reference = ReferenceExtension(Hinge(), Ball(np.zeros(2), 1.0), 2)
    again = ReferenceExtension(Hinge(), Ball(np.zeros(2), 1.0), 2)
    others = [
        ReferenceExtension(Hinge(), Ball(np.ones(2), 1.0), 2),
        ReferenceExtension(Absolute(), Ball(np.zeros(2), 1.0), 2),
    ]
    assert again._program is reference._program
    assert all(other._program is not reference._program for other in others)
    for x in rng.standard_normal((3, 2)):
        record, w = np.append(3 * x, 1.0), 0.3 * x / np.linalg.norm(x)
        socp._program_of.cache_clear()
        new = ReferenceExtension(Hinge(), Ball(np.zeros(2), 1.0), 2)
        assert new._program is not reference._program
        old, fresh = again.at(record, w, 0.5), new.at(record, w, 0.5)
        assert (old.value, old.gap) == (fresh.value, fresh.gap)
        assert old.subgradient.tobytes() == fresh.subgradient.tobytes()
