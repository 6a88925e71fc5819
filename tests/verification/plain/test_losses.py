"""The plain losses and sets against difference quotients and against convex programs' conditions of optimality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.domains import Ball, Box, L1Ball
from tailproof.refimpl.losses import Logistic, Quadratic, RecordQuadratic, Ridge
from tailproof.verification.plain import losses

_LOSSES: list[Any] = [
    "affine",
    "squared",
    "absolute",
    "hinge",
    "relu",
    "logistic",
    "l4",
    "record-quadratic",
    "ridge:0.3:logistic",
    "power:3:0.7:squared",
    Quadratic(np.array([[2.0, 0.5], [0.5, 1.0]])),
    Ridge(Logistic(), 0.3),
    RecordQuadratic(),
]


def _records(loss: Any, rng: np.random.Generator) -> Any:
    columns = next(c for c in (2, 3, 4) if losses.dimension(loss, c) == 2)
    data = rng.standard_normal((7, columns))
    if isinstance(loss, Ridge) or loss in ("hinge", "logistic", "ridge:0.3:logistic"):
        data[:, -1] = np.sign(data[:, -1])
    return data


@pytest.mark.parametrize("loss", _LOSSES, ids=str)
def test_gradients_are_the_slopes_of_the_values(loss: Any) -> None:
    rng = np.random.default_rng()
    data, w = _records(loss, rng), rng.standard_normal(2)
    step = 1e-6
    quotients = [
        (losses.values(loss, w + step * e, data) - losses.values(loss, w - step * e, data)) / (2 * step) for e in np.eye(2)
    ]
    # a kink within a step of a margin spoils a record, with a probability below 1e-5: that it spoils two of seven is below 1e-8
    wrong = (
        np.abs(np.column_stack(quotients) - losses.gradients(loss, w, data)).max(axis=1)
        > 1e-4 * (1 + np.abs(data).max()) ** 4
    )
    assert wrong.sum() <= 1


def test_kinks_have_the_subgradient_of_least_norm() -> None:
    w = np.array([1.0, 0.0])
    for loss, target in (("absolute", 1.0), ("relu", 1.0), ("hinge", 1.0)):
        assert not losses.gradients(loss, w, np.array([[1.0, 3.0, target]])).any(), loss
    assert losses.gradients("hinge", w, np.array([[-2.0, 0.0, -1.0]])).tolist() == [[0.0, 0.0]]  # y·m = 2
    assert losses.gradients("hinge", w, np.array([[-0.5, 0.0, -1.0]])).tolist() == [[-0.5, 0.0]]  # y·m = 1/2: −y·x


_SETS: list[Any] = [
    "ball:1.5",
    "box:-1,0.5",
    "l1:1.5",
    Ball(np.array([1.0, -1.0, 0.5]), 0.7),
    Box([-1.0, 0, 2], [0.0, 3, 5]),
]


def _inside(domain: Any, rng: np.random.Generator) -> Any:
    """Points of the set, its extreme ones among them."""
    if isinstance(domain, str):
        kind, _, words = domain.partition(":")
        a, *b = map(float, words.split(","))
        centre, radius = np.zeros(3), a
        low, high = np.full(3, a), np.full(3, b[0] if b else a)
    else:
        kind = {Ball: "ball", Box: "box", L1Ball: "l1"}[type(domain)]
        centre, radius = getattr(domain, "center", None), getattr(domain, "radius", None)
        low, high = getattr(domain, "lower", None), getattr(domain, "upper", None)
    if kind == "box":
        return low + (high - low) * rng.integers(0, 2, (200, 3))
    directions = rng.standard_normal((200, 3))
    if kind == "ball":
        return centre + radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return centre + radius * np.vstack([np.eye(3), -np.eye(3)])


@pytest.mark.parametrize("domain", [*_SETS, L1Ball(np.array([1.0, 2.0, 3.0]), 2.0)], ids=str)
def test_a_projection_lies_in_the_set_and_no_point_of_it_is_nearer(domain: Any) -> None:
    rng = np.random.default_rng()
    corners = _inside(domain, rng)
    for corner in corners:
        assert np.allclose(losses.project(domain, corner), corner, atol=1e-12)
    for _ in range(50):
        z = rng.standard_normal(3) * rng.choice([0.1, 3.0, 100.0])
        p = losses.project(domain, z)
        assert np.allclose(losses.project(domain, p), p, atol=1e-12)
        # z − p is normal to the set at p: ⟨z − p, q − p⟩ ≤ 0 for every q of it
        assert ((corners - p) @ (z - p)).max() <= 1e-9 * (1 + np.linalg.norm(z)) ** 2
    assert np.allclose(losses.project(domain, losses.middle(domain, 3)), losses.middle(domain, 3))


@pytest.mark.parametrize("domain", ["ball:1", "box:-1,1"])
def test_projection_on_the_set_and_a_ball_is_what_alternation_finds(domain: str) -> None:
    """Dykstra's alternating projections, another road to the same point."""
    rng = np.random.default_rng()
    for _ in range(10):
        centre, radius = losses.project(domain, rng.standard_normal(2)), rng.uniform(0.2, 1.0)
        z = 3 * rng.standard_normal(2)
        found = losses.project_on_both(domain, centre, radius, z)
        x, p, q = z, np.zeros(2), np.zeros(2)
        for _ in range(20000):
            y = losses.project(domain, x + p)
            p, x = x + p - y, losses.project_on_ball(y + q, centre, radius)
            q = y + q - x
        assert np.allclose(found, x, atol=1e-3)  # Dykstra is slow; what is exact: in both sets, and no farther away
        assert np.linalg.norm(found - centre) <= radius * (1 + 1e-12)
        assert np.allclose(losses.project(domain, found), found, atol=1e-12)
        assert np.linalg.norm(z - found) <= np.linalg.norm(z - x) * (1 + 1e-6)
