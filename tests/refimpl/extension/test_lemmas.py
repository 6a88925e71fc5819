"""The lemmas of P4 behind the Lipschitz extension: what the tests of the single modules leave open.

    Lemma 2.2   convex, C-Lipschitz, ≤ f, = f where L ≤ C   test_socp (all domains), test_batched (all but polytopes), here
                = f iff ∂f + N_W meets the C-ball           test_batched (one example), here
    Lemma C.1   value bias, and its expectation             here
    Lemma 2.7   the joint form has the same minima          test_joint (on the line), here
    Lemma C.6   inexact projection                          test_projections, here (against an independent solver)
    Prop. 2.9   the adaptive method (C.5 with its proof)    test_joint, test_adaptive_method
    Lemma D.5   the constant step                           test_joint, test_fixed_step
    Prop. D.6   ν-subgradients by conic programming         test_socp, test_fixed_step, here (program (16) as printed)
    Theorem B.1 no finite evaluation                        test_impossibility

Bounds of f_C come with certificates: `values` of the batched twin bound it above, `values` less the gaps below.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from tests.refimpl.extension.test_adaptive_method import (
    DOMAINS,
    LOSSES,
    Problem,
    bracket,
    make_data,
    make_domain,
    make_loss,
)

from tailproof.refimpl.domains import Ball, Domain, Localised, unit_ball
from tailproof.refimpl.extension.batched import batch
from tailproof.refimpl.extension.joint import JointObjective
from tailproof.refimpl.extension.socp import ReferenceExtension
from tailproof.refimpl.losses import Affine, GlmLoss
from tailproof.refimpl.projections import inexact_projection
from tailproof.refimpl.validation import FloatArray

GLM = LOSSES[:7]
SMOOTH = ("logistic", "squared", "l4", "affine")
SEEDS = st.integers(0, 2**32 - 1)
every_domain = pytest.mark.parametrize("domain_name", DOMAINS)


def glm(name: str, d: int) -> GlmLoss:
    loss = make_loss(name, d)
    assert isinstance(loss, GlmLoss)
    return loss


def points_of(domain: Domain, count: int, rng: np.random.Generator) -> FloatArray:
    """Inside and, about as often, on the boundary."""
    sizes = rng.choice([0.2, 3.0], size=(count, 1))
    return domain.project(domain.interior_point() + sizes * rng.normal(size=(count, domain.dimension)))


def rounding_of(loss: GlmLoss, data: FloatArray, domain: Domain) -> FloatArray:
    """Of f and f_C on W: proportional to f itself, and to the steepest slope times the size of W."""
    size = domain.max_norm_from(np.zeros(domain.dimension))
    steepest = loss.lipschitz_upper(data, domain)
    return np.asarray(1e-12 * (1 + np.abs(loss.values(domain.interior_point(), data)) + steepest * (1 + size)))


# ------------------------------------------------------------------------------------------------------- Lemma 2.2


@settings(deadline=None, max_examples=10)
@given(seed=SEEDS, loss_name=st.sampled_from(GLM), base=st.booleans(), d=st.integers(1, 3))
def test_lemma_2_2_on_polytopes(seed: int, loss_name: str, base: bool, d: int) -> None:
    rng = np.random.default_rng(seed)
    loss, polytope = glm(loss_name, d), make_domain("polytope", d, rng)
    domain = Localised(polytope, polytope.interior_point(), 0.5) if base else polytope
    data, clip = make_data(loss, 3, d, rng), 10 ** rng.uniform(-1, 1)
    of = batch(loss=loss, data=data, domain=domain, lipschitz=clip)
    u, w = points_of(domain, 2, rng)
    at_u, at_w, middle = of.at(u), of.at(w), of.at(domain.project((u + w) / 2))
    rounding = rounding_of(loss, data, domain)
    lower = [one.values - one.gaps().sum(axis=1) for one in (at_u, at_w, middle)]
    assert (lower[1] <= loss.values(w, data) + rounding).all()
    assert (lower[0] <= at_w.values + clip * math.dist(u, w) + rounding).all()
    assert (lower[2] <= (at_u.values + at_w.values) / 2 + rounding).all()
    assert (at_u.values >= lower[1] + at_w.subgradients() @ (u - w) - rounding).all()
    flat = loss.lipschitz_upper(data, domain) <= clip
    assert (np.abs(at_w.values - loss.values(w, data))[flat] <= rounding[flat]).all()


def boundary_point(domain: Domain, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """A point w of the boundary and a unit vector of N_W(w): a far point's projection, and the way to it."""
    direction = rng.normal(size=domain.dimension)
    far = domain.interior_point() + 10 * direction / np.linalg.norm(direction)
    w = domain.project(far)
    return w, (far - w) / np.linalg.norm(far - w)


def least_norm(g: FloatArray, normal: FloatArray) -> float:
    """min_{s ≥ 0} ‖g + s·normal‖."""
    return float(np.linalg.norm(g + max(0.0, -float(g @ normal)) * normal))


def pushing_record(loss: GlmLoss, w: FloatArray, normal: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A record whose gradient at w points inward, nearly against the normal: f would fall beyond the boundary."""
    size = min(3.0, 0.5 / max(float(normal @ w), 1e-3))  # a margin below 1, where the hinge is steep
    x = size * (normal + 0.2 * rng.normal(size=w.size))
    candidates = [
        np.append(sign * x, 1.0 if loss.target == "label" else sign * (x @ w) + shift)[: loss.columns(w.size)]
        for sign in (1.0, -1.0)
        for shift in (1.0, -1.0)
    ]
    return min(candidates, key=lambda record: float(loss.gradients(w, record[np.newaxis])[0] @ normal))


@every_domain
@pytest.mark.parametrize("loss_name", GLM)
def test_equality_where_a_normal_makes_the_gradient_short(loss_name: str, domain_name: str) -> None:
    """At the boundary, C just above min_{s≥0} ‖∇f(w) + s·normal‖: f_C(w) = f(w), also where ‖∇f(w)‖ is far above C."""
    rng = np.random.default_rng([GLM.index(loss_name), DOMAINS.index(domain_name)])
    helped = 0
    for _ in range(3):
        d = int(rng.integers(1, 4))
        loss, domain = glm(loss_name, d), make_domain(domain_name, d, rng)
        w, normal = boundary_point(domain, rng)
        data = pushing_record(loss, w, normal, rng)[np.newaxis]
        slope = loss.gradients(w, data)[0]
        clip = max(least_norm(slope, normal) * (1 + 1e-9), 1e-3)
        found = batch(loss=loss, data=data, domain=domain, lipschitz=clip).at(w)
        assert found.values[0] == pytest.approx(
            float(loss.values(w, data)[0]), abs=float(rounding_of(loss, data, domain)[0])
        )
        helped += float(np.linalg.norm(slope)) > 1.5 * clip
    assert helped >= 1


@pytest.mark.parametrize("domain_name", ["ball", "ellipsoid"])
@pytest.mark.parametrize("loss_name", SMOOTH)
def test_inequality_where_no_normal_does(loss_name: str, domain_name: str) -> None:
    """The converse.  A smooth boundary has one normal and a smooth loss one gradient: with C below the least norm, w is
    not its own minimiser, and f_C(w) < f(w)."""
    rng = np.random.default_rng([SMOOTH.index(loss_name), len(domain_name)])
    for _ in range(10):
        loss, domain = glm(loss_name, 3), make_domain(domain_name, 3, rng)
        w, normal = boundary_point(domain, rng)
        data = make_data(loss, 1, 3, rng)
        shortest = least_norm(loss.gradients(w, data)[0], normal)
        if shortest < 1e-3:
            continue
        found = batch(loss=loss, data=data, domain=domain, lipschitz=0.7 * shortest).at(w)
        assert found.values[0] < float(loss.values(w, data)[0]) - 1e-9 * shortest


# ------------------------------------------------------------------------------------------------------- Lemma C.1


@every_domain
@pytest.mark.parametrize("loss_name", GLM)
def test_the_value_bias_of_every_record(loss_name: str, domain_name: str) -> None:
    """f − f_C ≤ D·(L − C)_+ for each record, hence for the mean; at extreme and at other points of W."""
    rng = np.random.default_rng([7, GLM.index(loss_name), DOMAINS.index(domain_name)])
    loss, domain = glm(loss_name, 2), make_domain(domain_name, 2, rng)
    data = make_data(loss, 6, 2, rng)
    steepness, size = loss.lipschitz_upper(data, domain), domain.diameter_upper()
    clip = max(float(np.quantile(steepness, 0.4)), 0.1)
    of = batch(loss=loss, data=data, domain=domain, lipschitz=clip)
    allowed, rounding = size * np.maximum(steepness - clip, 0), rounding_of(loss, data, domain)
    assert (allowed > 0).sum() >= 2
    for w in [*(domain.support_point(x) for x in (of.features[0], -of.features[0])), *points_of(domain, 2, rng)]:
        found = of.at(w)
        assert (loss.values(w, data) - found.values <= allowed + rounding).all()
        assert loss.mean_value(w, data) - found.mean_value() <= allowed.mean() + rounding.mean()


def test_the_value_bias_is_attained() -> None:
    """Affine loss on a ball, at the point where it is largest: f − f_C = D·(L − C) exactly."""
    rng = np.random.default_rng(1)
    x = rng.standard_t(2.0, size=(20, 3))
    norms = np.linalg.norm(x, axis=1)
    ball = Ball(np.array([0.2, -0.1, 0.5]), 0.7)
    of = batch(loss=Affine(), data=x, domain=ball, lipschitz=float(np.median(norms)))
    for i in range(20):
        w = ball.support_point(x[i])
        bias = float(Affine().values(w, x)[i] - of.at(w).values[i])
        assert bias == pytest.approx(1.4 * max(norms[i] - of.lipschitz, 0.0), abs=1e-12 * (1 + norms[i]))


def largest_bias(steepness: float, clip: float) -> float:
    """sup_W f − f_C of the affine loss with L = `steepness` on [−1, 1], from the batched twin."""
    interval = unit_ball(1)
    of = batch(loss=Affine(), data=np.array([[steepness]]), domain=interval, lipschitz=clip)
    w = interval.support_point([1.0])
    return float(Affine().values(w, [[steepness]])[0] - of.at(w).values[0])


@pytest.mark.parametrize("k", [2.0, 2.5, 4.0])
def test_the_expected_bias_of_two_point_laws(k: float) -> None:
    """L = a with probability (G/a)^k, else 0: E sup(f − f_C) ≤ D·G^k·C^{1−k}/(k−1).  The worst a is k·C/(k−1); there the share
    of the bound is ((k−1)/k)^k, the largest for any law, since (L − C)_+ ≤ L^k·C^{1−k}·(k−1)^{k−1}/k^k."""
    moment, clip, size = 1.3, 2.0, 2.0
    bound = size * moment**k * clip ** (1 - k) / (k - 1)
    worst = k * clip / (k - 1)
    shares = []
    for a in [worst, *np.geomspace(moment, 1e4, 60)]:
        expected = (moment / a) ** k * largest_bias(float(a), clip)
        shares.append(expected / bound)
        assert expected <= bound
    assert shares[0] == pytest.approx(((k - 1) / k) ** k, rel=1e-9)
    assert max(shares) <= shares[0] * (1 + 1e-9)


@pytest.mark.parametrize("k", [2.0, 3.0])
@pytest.mark.parametrize("excess", [0.5, 2.0, 5.0])
def test_the_expected_bias_of_pareto_laws(k: float, excess: float) -> None:
    """P(L > t) = (s/t)^a, a = k + excess, s fitted to E L^k = G^k; the expectation by quadrature over L, C beyond s or not."""
    a, moment, size = k + excess, 1.3, 2.0
    scale = moment * ((a - k) / a) ** (1 / k)

    def density(t: float) -> float:
        return float(a / scale * (scale / t) ** (a + 1))

    assert quad(lambda t: t**k * density(t), scale, math.inf, limit=200)[0] == pytest.approx(moment**k, rel=1e-4)
    for clip in (0.5 * scale, scale, 3 * scale, 30 * scale):
        # t = max(C, s)/u turns the tail into an interval; below C there is no bias.
        start = max(clip, scale)
        expected = quad(lambda u, c=clip, o=start: largest_bias(o / u, c) * density(o / u) * o / u**2, 1e-9, 1, limit=200)[0]
        tail = scale**a * start ** (1 - a) / (a - 1)
        exact = size * (tail + max(scale - clip, 0.0))
        assert expected == pytest.approx(exact, rel=1e-4)
        assert exact <= size * moment**k * clip ** (1 - k) / (k - 1) * (1 + 1e-12)


# ------------------------------------------------------------------------------------------------------- Lemma 2.7


def searched(objective: JointObjective, domain: Domain, region: Domain) -> float:
    """min F̂_{λ,C} in the plane by a grid that closes in on its best point, from the batched twin: no joint form, no solver."""
    assert isinstance(objective.loss, GlmLoss)
    of = batch(loss=objective.loss, data=objective.data, domain=domain, lipschitz=objective.lipschitz)

    def risk(w: FloatArray) -> float:
        return of.at(w).mean_value() + objective.strength / 2 * math.dist(w, objective.center) ** 2

    steps = np.linspace(-1, 1, 5)
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    best, width = region.interior_point(), region.diameter_upper()
    least = risk(best)
    for turn in range(24):
        # Turned each time: a fixed grid would be caught in the valley of a kink.
        cosine, sine = math.cos(turn), math.sin(turn)
        for w in region.project(best + width * grid @ np.array([[cosine, sine], [-sine, cosine]])):
            if (value := risk(w)) < least:
                best, least = w, value
        width *= 0.7
    return least


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("domain_name", ["ball", "box"])
def test_the_joint_form_has_the_minimum_of_the_extension(domain_name: str, local: bool) -> None:
    """A search for min F̂_{λ,C} that knows nothing of the joint form ends in the bracket of min J, just above."""
    rng = np.random.default_rng([11, DOMAINS.index(domain_name), local])
    loss, domain = glm(str(rng.choice(GLM)), 2), make_domain(domain_name, 2, rng)
    region = Localised(domain, domain.interior_point(), 0.3) if local else domain
    objective = JointObjective(loss, make_data(loss, 3, 2, rng), 0.8, 1.0, domain.project(rng.normal(size=2)))
    lower, upper = bracket(Problem(objective, region, domain))
    assert upper - lower <= 1e-7 * (1 + abs(upper))
    found = searched(objective, domain, region)
    assert lower - 1e-12 * (1 + abs(lower)) <= found <= upper + 1e-4 * (1 + abs(upper))


@every_domain
@pytest.mark.parametrize("loss_name", GLM)
def test_minimisers_of_the_joint_form_carry_over(loss_name: str, domain_name: str) -> None:
    """J(w, y) ≥ F̂_{λ,C}(w) for every y, equal at the records' minimisers: the excess of w is at most that of (w, y)."""
    rng = np.random.default_rng([13, GLM.index(loss_name), DOMAINS.index(domain_name)])
    d = int(rng.integers(1, 4))
    loss, domain = glm(loss_name, d), make_domain(domain_name, d, rng)
    objective = JointObjective(loss, make_data(loss, 5, d, rng), 0.8, 0.4, domain.project(rng.normal(size=d)))
    of = batch(loss=loss, data=objective.data, domain=domain, lipschitz=0.8)
    rounding = float(rounding_of(loss, objective.data, domain).mean())
    for w in points_of(domain, 3, rng):
        found = of.at(w)
        risk = found.mean_value() + 0.2 * math.dist(w, objective.center) ** 2
        best = found.minimisers()
        assert objective.value(np.vstack([w, best])) == pytest.approx(risk, abs=100 * rounding)
        far = np.array([domain.support_point(-slope) for slope in found.subgradients()])
        shares = [(w + share * (far - w)) for share in (0.3, 0.6, 1.0)]
        for y in (*shares, points_of(domain, 5, rng), domain.project(best + 0.01 * rng.normal(size=best.shape))):
            assert objective.value(np.vstack([w, y])) >= risk - 100 * rounding


# ------------------------------------------------------------------------------------------------------- Lemma C.6


@every_domain
def test_the_inexact_projection_against_an_independent_solver(domain_name: str) -> None:
    """The solver's point q, projected into W and pulled into the ball, carries its own certificate: for q in the set S,
    ‖q − P(z)‖² ≤ max_{u∈S} ⟨q − z, q − u⟩ = ⟨q − z, q⟩ + σ_S(z − q), by the variational inequality at P(z)."""
    rng = np.random.default_rng([17, DOMAINS.index(domain_name)])
    for _ in range(4):
        d = int(rng.integers(1, 5))
        base = make_domain(domain_name, d, rng)
        center, radius = points_of(base, 1, rng)[0], rng.uniform(0.1, 0.6)
        z = center + 10 ** rng.uniform(-0.5, 1.5) * rng.normal(size=d)
        variable = cvxpy.Variable(d)
        limits = [*base.cvxpy_constraints(variable), cvxpy.norm(variable - center) <= radius]
        program = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(variable - z)), limits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the certificate says how accurate it is
            tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-13)
            program.solve(solver=cvxpy.CLARABEL, accept_unknown=True, **tolerances)
        target = Localised(base, center, radius)
        q = base.project(variable.value)
        q = center + min(1.0, radius * (1 - 1e-12) / max(math.dist(q, center), 1e-300)) * (q - center)
        error = math.sqrt(max(float((q - z) @ q + target.support(z - q)), 0.0))
        assert error <= 1e-3
        for accuracy in (0.1, 1e-2, 1e-3):
            found = inexact_projection(base, center=center, radius=radius, point=z, accuracy=accuracy)
            assert target.contains(found.point)
            assert math.dist(found.point, q) <= accuracy + error
            away = math.dist(z, center)
            assert found.calls <= max(0, math.ceil(math.log2(away**2 / (radius * accuracy)))) + 2


# ------------------------------------------------------------------------------------------------------- Prop. D.6


def as_printed(loss: GlmLoss, domain: Domain, record: FloatArray, w: FloatArray, clip: float, tolerance: float) -> Any:
    """Program (16): min t + C·s over y in W with q + y = w, ‖q‖ ≤ s, ⟨a_j, y⟩ + b_j ≤ t.  Gives ŷ, π, μ and the pieces."""
    slopes, offsets = (part[0] for part in loss.pieces(record[np.newaxis]))
    y, q, s, t = cvxpy.Variable(domain.dimension), cvxpy.Variable(domain.dimension), cvxpy.Variable(), cvxpy.Variable()
    link, pieces = q + y == w, slopes @ y + offsets <= t
    program = cvxpy.Problem(cvxpy.Minimize(t + clip * s), [link, pieces, cvxpy.norm(q) <= s, *domain.cvxpy_constraints(y)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
        program.solve(solver=cvxpy.CLARABEL, accept_unknown=True, **options)
    return y.value, -link.dual_value, np.atleast_1d(pieces.dual_value), slopes, offsets


@every_domain
@pytest.mark.parametrize("loss_name", ["affine", "hinge", "relu", "absolute"])
def test_multipliers_of_the_printed_program_are_subgradients(loss_name: str, domain_name: str) -> None:
    """A dual-feasible point within ν of the optimum gives a ν-subgradient, ‖π‖ ≤ C, also from a solver stopped early:
    π scaled into the ball and μ onto the simplex, ν = [f(ŷ) + C‖w − ŷ‖] − [⟨π, w⟩ + Σμ_j·b_j − σ_W(π − Σμ_j·a_j)]."""
    rng = np.random.default_rng([19, GLM.index(loss_name), DOMAINS.index(domain_name)])
    loss, domain = glm(loss_name, 2), make_domain(domain_name, 2, rng)
    reference = ReferenceExtension(loss, domain, 2)
    record, clip = make_data(loss, 1, 2, rng)[0], rng.uniform(0.2, 2.0)
    w, *others = points_of(domain, 5, rng)
    at_w, upper = reference.at(record, w, clip), [reference.at(record, u, clip).value for u in others]
    rounding = 1e-12 * (1 + abs(at_w.value) + np.abs(record).max())
    for tolerance in (1e-12, 1e-2):
        y, pi, mu, slopes, offsets = as_printed(loss, domain, record, w, clip, tolerance)
        y, mu = domain.project(y), np.maximum(mu, 0) / np.maximum(mu, 0).sum()
        pi = pi * min(1.0, clip / max(float(np.linalg.norm(pi)), 1e-300))
        primal = float((slopes @ y + offsets).max()) + clip * math.dist(w, y)
        nu = primal - float(pi @ w + mu @ offsets - domain.support(pi - mu @ slopes))
        assert -rounding <= nu <= (1e-6 if tolerance < 1e-6 else 0.5) * (1 + abs(at_w.value) + np.abs(record).max())
        assert at_w.value - at_w.gap - rounding <= primal
        assert primal - nu <= at_w.value + rounding
        for u, value in zip(others, upper, strict=True):
            assert value >= primal + pi @ (u - w) - nu - rounding
