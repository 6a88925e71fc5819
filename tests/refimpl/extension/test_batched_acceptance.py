"""The batched extension accepted against conic programming: nine losses on six domains.

A case is a record with Student-t features (2 degrees of freedom), a point w inside W or on its boundary and a constant C
spread over two decades.  With S = max(1, C·diam W):

* the value must agree with the conic reference to 1e-8·S plus the reference's own certified gap, and that gap must be at most
  1e-8·S in 99% of the cases.  The exponential and power cones of logistic and L4 loss are solved less accurately; there, too,
  the reference's gap is allowed for, and instead of its size the certificate counts;
* the certificate: from the batched minimiser, subgradient and slope, `certify` proves a bracket of f_C with sums rounded outward,
  in code that the batched extension does not share.  It must contain the value, and be at most 1e-8·S long in 99% of the cases.
  For a ridge, which `certify` does not know, the bracket is computed here;
* value − gap ≤ f_C ≤ value for the gaps the extension states, and f_C(u) ≥ value + ⟨g, u − w⟩ − gap at other points u.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import cvxpy
import numpy as np
import pytest

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.extension.batched import BallExtension, RowExtension, batch
from tailproof.refimpl.extension.socp import ReferenceExtension, certify
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.validation import FloatArray

D = 3
DOMAINS = ["ball", "box", "l1", "ellipsoid", "localised", "polytope"]
LOSSES = ["Affine", "Hinge", "ReLU", "Absolute", "Squared", "Logistic", "L4", "Quadratic", "Ridge"]
LIMIT = 1e-8


def make_loss(name: str, rng: np.random.Generator) -> Loss:
    if name == "Quadratic":
        root = rng.normal(size=(D, D)) * (rng.random(D) < 0.9)  # sometimes singular
        matrix = float(rng.uniform(0.2, 3)) * np.eye(D) if rng.random() < 0.3 else root @ root.T
        return Quadratic((matrix + matrix.T) / 2)
    if name == "Ridge":
        inner = [Affine(), Hinge(), ReLU(), Absolute(), Squared(), make_loss("Quadratic", rng)][rng.integers(6)]
        assert not isinstance(inner, Ridge)
        return Ridge(inner, float(10 ** rng.uniform(-2, 1)))
    plain: dict[str, Loss] = {type(loss).__name__: loss for loss in (Affine(), Hinge(), ReLU(), Absolute())}
    plain |= {type(loss).__name__: loss for loss in (Squared(), Logistic(), L4())}
    return plain[name]


def make_domain(name: str, rng: np.random.Generator) -> Domain:
    c = rng.normal(size=D)
    match name:
        case "ball":
            return Ball(c, float(rng.uniform(0.5, 2)))
        case "box":
            return Box(c - rng.uniform(0.5, 2, size=D), c + rng.uniform(0.5, 2, size=D))
        case "l1":
            return L1Ball(c, float(rng.uniform(0.5, 2)))
        case "ellipsoid":
            root = rng.normal(size=(D, D)) + np.eye(D)
            return Ellipsoid(c, root @ root.T + 0.1 * np.eye(D))
        case "localised":
            return Localised(Box(c - 1, c + 1), c, float(rng.uniform(0.8, 1.5)))
    normals = np.vstack([np.eye(D), -np.eye(D), rng.normal(size=(3, D))])
    return Polytope(normals, normals @ c + 1)


def make_data(loss: Loss, rng: np.random.Generator, count: int) -> FloatArray:
    x = rng.standard_t(2, size=(count, D))
    inner = loss.loss if isinstance(loss, Ridge) else loss
    if isinstance(inner, Quadratic) or inner.target == "none":
        return x
    t = rng.choice([-1.0, 1.0], size=count) if inner.target == "label" else rng.standard_t(2, size=count)
    return np.column_stack([x, t])


def make_point(domain: Domain, rng: np.random.Generator) -> FloatArray:
    """Inside W, or, with probability ½, on its boundary."""
    edge = domain.project(domain.interior_point() + 10 * domain.diameter_upper() * rng.normal(size=D))
    if rng.random() < 0.5:
        return edge
    return domain.project(domain.interior_point() + rng.random() * (edge - domain.interior_point()))


# ------------------------------------------------------------------------------------------------------- the references

Bracket = tuple[float, float]  # lower and upper bound of f_C(w)
Reference = Callable[[FloatArray, FloatArray, float], Bracket]


def conic_reference(loss: Loss, domain: Domain) -> Reference:
    if isinstance(loss, Ridge):
        return ridge_reference(loss, domain)
    program = ReferenceExtension(loss, domain, D)

    def bracket(record: FloatArray, w: FloatArray, C: float) -> Bracket:
        found = program.at(record, w, C)
        return found.value - found.gap, found.value

    return bracket


def ridge_reference(loss: Ridge, domain: Domain) -> Reference:
    """The objective at the solver's point, projected into W, and the dual bound from its multipliers."""
    y, q, r = cvxpy.Variable(D), cvxpy.Variable(D), cvxpy.Variable()
    x, w, t, C = cvxpy.Parameter(D), cvxpy.Parameter(D), cvxpy.Parameter(), cvxpy.Parameter(nonneg=True)
    link, margin = q + y == w, x @ y - t == r
    inner = loss.loss
    value = inner.cvxpy_phi(r, 0.0) if isinstance(inner, GlmLoss) else cvxpy.sum_squares(inner.root.T @ (y - x)) / 2
    objective = value + loss.weight / 2 * cvxpy.sum_squares(y) + C * cvxpy.norm(q, 2)
    problem = cvxpy.Problem(cvxpy.Minimize(objective), [link, margin, *domain.cvxpy_constraints(y)])

    def bracket(record: FloatArray, point: FloatArray, constant: float) -> Bracket:
        row = record[np.newaxis]
        x.value = inner.signed_features(row)[0] if isinstance(inner, GlmLoss) else record
        t.value = float(inner.split(row)[1][0]) if isinstance(inner, GlmLoss) and inner.target == "real" else 0.0
        w.value, C.value = point, constant
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(
                solver=cvxpy.CLARABEL,
                **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12),
                accept_unknown=True,
            )
        g, slope = -link.dual_value, float(margin.dual_value)
        return ridge_bracket(loss, domain, record, point, constant, domain.project(y.value), g, slope)

    return bracket


def ridge_bracket(
    loss: Ridge, domain: Domain, record: FloatArray, w: FloatArray, C: float, y: FloatArray, g: FloatArray, slope: float
) -> Bracket:
    """f(y) + C‖w − y‖, and ⟨g, w⟩ + k − σ_W(g − p) with the minorant ⟨p, ·⟩ + k of f that touches its quadratic part at y."""
    row, inner, ridge = record[np.newaxis], loss.loss, loss.weight
    g = g * min(1.0, C * (1 - 1e-15) / float(np.linalg.norm(g))) if g.any() else g
    p, k = ridge * y, -ridge / 2 * float(y @ y)
    if isinstance(inner, GlmLoss):
        v = float(np.clip(slope, *inner.slope_range))
        p, k = p + v * inner.signed_features(row)[0], k - float(inner.conjugate(np.array([v]), inner.split(row)[1])[0])
    else:
        pull = inner.gradients(y, row)[0]
        p, k = p + pull, k + float(inner.values(y, row)[0]) - float(pull @ y)
    upper = float(loss.values(y, row)[0]) + C * float(np.linalg.norm(w - y))
    return float(g @ w) + k - float(domain.support(g - p)), upper


def own_bracket(
    loss: Loss, domain: Domain, record: FloatArray, w: FloatArray, C: float, y: FloatArray, g: FloatArray, slope: float
) -> Bracket:
    """What the batched answer proves."""
    if isinstance(loss, Ridge):
        return ridge_bracket(loss, domain, record, w, C, y, g, slope)
    found = certify(loss, domain, record, w, C, minimiser=y, subgradient=g, slope=slope)
    return found.value - found.gap, found.value


# ------------------------------------------------------------------------------------------------------------ the study


@dataclass(frozen=True)
class Summary:
    """In units of S: how far values are outside the reference's brackets, the difference to its upper end, the lengths of both
    kinds of brackets; and what is left of the stated gaps' promises, beyond rounding."""

    outside: FloatArray
    difference: FloatArray
    reference_gap: FloatArray
    own_gap: FloatArray
    broken: FloatArray


def study(loss_name: str, domain_name: str, *, domains: int, points: int, records: int, others: int, seed: int) -> Summary:
    rng = np.random.default_rng([seed, LOSSES.index(loss_name), DOMAINS.index(domain_name)])
    rows: list[tuple[float, ...]] = []
    for _ in range(domains):
        loss, domain = make_loss(loss_name, rng), make_domain(domain_name, rng)
        reference = conic_reference(loss, domain)
        for _ in range(points):
            data, w, C = make_data(loss, rng, records), make_point(domain, rng), float(10 ** rng.uniform(-1, 1))
            S = max(1.0, C * domain.diameter_upper())
            found = batch(loss=loss, data=data, domain=domain, lipschitz=C).at(w)
            y, g, gaps = found.minimisers(), found.subgradients(), found.gaps().sum(axis=1)
            below = subgradient_violation(found, domain, rng, others)
            for i in range(records):
                value, rounding = float(found.values[i]), 1e-12 * (S + abs(float(found.values[i])))
                lower, upper = reference(data[i], w, C)
                own_lower, own_upper = own_bracket(loss, domain, data[i], w, C, y[i], g[i], float(found.duals[i]))
                broken = (
                    max(value - gaps[i] - min(upper, own_upper), max(lower, own_lower) - value, float(below[i])) - rounding
                )
                outside = max(lower - value, value - upper, 0.0)
                rows.append(
                    (outside / S, abs(value - upper) / S, (upper - lower) / S, (own_upper - own_lower) / S, broken / S)
                )
    return Summary(*np.array(rows).T)


def subgradient_violation(
    found: BallExtension | RowExtension, domain: Domain, rng: np.random.Generator, others: int
) -> FloatArray:
    """The largest value + ⟨g, u − w⟩ − gap − f_C(u) over points u, for every record."""
    w = found.point if isinstance(found, RowExtension) else found.offset + domain.interior_point()
    floor, g = found.values - found.gaps().sum(axis=1), found.subgradients()
    worst = np.full(len(floor), -np.inf)
    for _ in range(others):
        u = make_point(domain, rng)
        worst = np.maximum(worst, floor + g @ (u - w) - found.batch.at(u).values)
    return worst


def judge(loss_name: str, summary: Summary) -> None:
    assert np.all(summary.outside <= LIMIT)
    if loss_name not in ("Logistic", "L4"):
        assert np.mean(summary.reference_gap <= LIMIT) >= 0.99
    assert np.mean(summary.own_gap <= LIMIT) >= 0.99
    assert np.all(summary.broken <= 0)


every_pair = pytest.mark.parametrize(("loss_name", "domain_name"), [(loss, name) for loss in LOSSES for name in DOMAINS])


@every_pair
def test_a_few_cases(loss_name: str, domain_name: str) -> None:
    judge(loss_name, study(loss_name, domain_name, domains=1, points=2, records=3, others=1, seed=1))


@pytest.mark.long
@every_pair
def test_a_thousand_cases(loss_name: str, domain_name: str) -> None:
    judge(loss_name, study(loss_name, domain_name, domains=10, points=5, records=20, others=1, seed=2))


@pytest.mark.long
@every_pair
def test_the_subgradient_inequality_at_a_hundred_points(loss_name: str, domain_name: str) -> None:
    rng = np.random.default_rng([3, LOSSES.index(loss_name), DOMAINS.index(domain_name)])
    loss, domain, C = make_loss(loss_name, rng), make_domain(domain_name, rng), float(10 ** rng.uniform(-1, 1))
    found = batch(loss=loss, data=make_data(loss, rng, 40), domain=domain, lipschitz=C).at(make_point(domain, rng))
    rounding = 1e-12 * (max(1.0, C * domain.diameter_upper()) + np.abs(found.values))
    assert np.all(subgradient_violation(found, domain, rng, 100) <= rounding)
