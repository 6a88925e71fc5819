"""The Moreau envelope of the extension: gradients and Hessians against differences, values against f_C."""

import numpy as np
import pytest

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.extension.batched import batch
from tailproof.refimpl.extension.envelope import envelope
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Quadratic, ReLU, Squared
from tailproof.refimpl.validation import InputError

LOSSES: list[GlmLoss] = [Affine(), Hinge(), ReLU(), Absolute(), Logistic(), Squared(), L4()]
DIMENSION = 3


def domain_of(name: str) -> Domain:
    rng = np.random.default_rng(7)
    shape = rng.normal(size=(DIMENSION, DIMENSION))
    facets = rng.normal(size=(9, DIMENSION))
    facets /= np.linalg.norm(facets, axis=1)[:, np.newaxis]
    sides = np.vstack([facets, np.eye(DIMENSION), -np.eye(DIMENSION)])
    box = Box(-0.4 * np.ones(DIMENSION), 0.6 * np.ones(DIMENSION))
    match name:
        case "ball":
            return Ball(0.1 * np.ones(DIMENSION), 1.0)
        case "box":
            return box
        case "l1":
            return L1Ball(np.zeros(DIMENSION), 1.0)
        case "ellipsoid":
            return Ellipsoid(np.zeros(DIMENSION), shape @ shape.T / DIMENSION + np.eye(DIMENSION))
        case "polytope":
            return Polytope(sides, np.concatenate([np.full(9, 0.6), np.ones(2 * DIMENSION)]))
    return Localised(box, 0.1 * np.ones(DIMENSION), 0.45)


DOMAINS = ["ball", "box", "l1", "ellipsoid", "polytope", "localised"]


def data_of(loss: GlmLoss, rng: np.random.Generator, size: int) -> np.ndarray:
    features = rng.standard_t(2.0, size=(size, DIMENSION))
    if loss.target == "none":
        return features
    scores = features @ rng.normal(size=DIMENSION) + rng.standard_t(2.0, size=size)
    return np.column_stack([features, np.where(scores > 0, 1.0, -1.0) if loss.target == "label" else scores])


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("name", DOMAINS)
def test_derivatives_against_differences(name: str, loss: GlmLoss) -> None:
    rng, domain = np.random.default_rng(3), domain_of(name)
    seen = np.zeros(4, dtype=int)
    for lipschitz, mu in ((0.5, 1e-1), (3.0, 1e-2)):
        of = batch(loss=loss, data=data_of(loss, rng, 30), domain=domain, lipschitz=lipschitz)
        centre = domain.interior_point()
        w = centre + 0.97 * (domain.project(centre + rng.normal(size=DIMENSION)) - centre)
        found, h = envelope(of, mu, w), 1e-6
        assert domain.contains(found.y).all()
        assert (np.linalg.norm(found.g, axis=1) <= lipschitz * (1 + 1e-12)).all()
        seen += np.bincount(found.kind, minlength=4)
        sides = [[envelope(of, mu, w + s * h * e) for s in (1, -1)] for e in np.eye(DIMENSION)]
        slopes = np.array([(a.mean_value() - b.mean_value()) / (2 * h) for a, b in sides])
        bends = np.array([(a.mean_subgradient() - b.mean_subgradient()) / (2 * h) for a, b in sides])
        size = 1 + abs(found.mean_value())
        assert np.abs(slopes - found.mean_subgradient()).max() <= 1e-8 * lipschitz + 1e-15 / h * size
        assert np.abs(bends - found.mean_hessian()).max() <= 1e-7 / mu
    assert (seen[1:] > 0).sum() >= 2


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("name", DOMAINS)
def test_lies_below_the_extension_by_at_most_half_the_width_times_the_square(name: str, loss: GlmLoss) -> None:
    rng, domain = np.random.default_rng(5), domain_of(name)
    for mu in (1e-3, 0.3):
        of = batch(loss=loss, data=data_of(loss, rng, 25), domain=domain, lipschitz=2.0)
        w = domain.project(rng.normal(size=DIMENSION))
        value, exact = envelope(of, mu, w).mean_value(), of.at(w).mean_value()
        rounding = 1e-12 * (1 + abs(exact))
        assert value <= exact + rounding
        assert value >= exact - mu * 2.0**2 / 2 - rounding


@pytest.mark.parametrize("name", DOMAINS)
def test_slopes_and_subgradients_are_multipliers(name: str) -> None:
    """f_C(u) ≥ f_{C,μ}(w) + (μ/2)‖g‖² + ⟨g, u − w⟩ for all u, which is what certificates borrow."""
    rng, domain, mu = np.random.default_rng(6), domain_of(name), 0.05
    for loss in (Hinge(), Squared(), Logistic()):
        of = batch(loss=loss, data=data_of(loss, rng, 15), domain=domain, lipschitz=1.5)
        w = domain.project(rng.normal(size=DIMENSION))
        found = envelope(of, mu, w)
        lower = found.values() + mu / 2 * np.square(np.linalg.norm(found.g, axis=1))
        for _ in range(5):
            u = domain.project(rng.normal(size=DIMENSION))
            at_u = of.at(u).values
            assert (lower + found.g @ (u - w) <= at_u + 1e-10 * (1 + np.abs(at_u))).all()
            gaps, _ = found.gaps_at(u)
            assert (at_u - (lower + found.g @ (u - w)) <= gaps + 1e-9 * (1 + np.abs(at_u))).all()


def test_extreme_records_keep_their_promises() -> None:
    rng = np.random.default_rng(8)
    for loss in LOSSES:
        data = data_of(loss, rng, 12)
        data[:3, :DIMENSION] *= 1e12
        data[3] = 0 if loss.target != "label" else np.r_[np.zeros(DIMENSION), 1.0]
        for name in DOMAINS:
            of = batch(loss=loss, data=data, domain=domain_of(name), lipschitz=1.0)
            found = envelope(of, 1e-3, domain_of(name).project(rng.normal(size=DIMENSION)))
            assert domain_of(name).contains(found.y).all()
            assert np.isfinite(found.g).all()
            assert np.isfinite(found.mean_hessian()).all()


def test_other_losses_are_refused() -> None:
    of = batch(loss=Quadratic(np.eye(2)), data=np.ones((3, 2)), domain=Box(-np.ones(2), np.ones(2)), lipschitz=1.0)
    with pytest.raises(InputError, match="generalised linear"):
        envelope(of, 0.1, np.zeros(2))
