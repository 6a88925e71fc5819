"""Parts of P4's plain algorithms against further ways to the same numbers: definitions, quadrature, brute force."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import minimize_scalar

from tailproof.verification.plain import losses, p4_choice, p4_noise


@pytest.mark.parametrize("budget", [{"epsilon": 1.7}, {"rho": 0.3}])
def test_the_noise_is_longer_than_its_quantile_with_that_probability(budget: dict[str, float]) -> None:
    n, p = 11, {"weight": 0.7, "lipschitz": 1.3, "kappa": 0.2, **budget}
    reach = 2.4 * 1.3 / (0.7 * n)
    radius = p4_noise._quantile(3, n, p, 0.5, 0.07)
    if "epsilon" in budget:
        longer = stats.gamma(3, scale=reach / (0.5 * 1.7)).sf(radius)
    else:
        longer = stats.chi(3, scale=reach / math.sqrt(2 * 0.5 * 0.3)).sf(radius)
    assert longer == pytest.approx(0.07, rel=1e-9)


def _margin_loss(name: str, m: float, t: float) -> float:
    return float(losses.value(name, np.array([m]), np.array([t]))[0])


@pytest.mark.parametrize("name", ["absolute", "relu", "hinge"])
def test_tempered_losses_are_moreau_envelopes(name: str) -> None:
    """h(w) = min over u of φ(u) + B(u − m)²/(2‖x̃‖²), m = ⟨x̃, w⟩, for the shortened record: its slope is the difference quotient."""
    rng = np.random.default_rng()
    clip, bend, w = 0.8, 1.5, rng.standard_normal(2)
    for size in (0.3, 3.0):
        x, t = size * rng.standard_normal(2), float(rng.choice([-1.0, 1.0])) if name == "hinge" else float(rng.normal())
        s = min(1.0, clip / math.hypot(*x))
        width = (s * math.hypot(*x)) ** 2 / bend

        def smooth(m: float, s: float = s, t: float = t, width: float = width) -> float:
            # s·f is the loss of the record (s·x, s·t); of hinge loss, of (s·x, t) with s in place of its constant 1
            def inner(u: float) -> float:
                value = max(0.0, s - t * u) if name == "hinge" else _margin_loss(name, u, s * t)
                return value + (u - m) ** 2 / (2 * width)

            return float(minimize_scalar(inner, bounds=(m - 2 * width - 1, m + 2 * width + 1), options={"xatol": 1e-12}).fun)

        m, step = float(s * x @ w), 1e-4
        quotient = (smooth(m + step) - smooth(m - step)) / (2 * step)
        found = p4_noise.tempered_gradient(name, np.append(x, t)[None], w, clip, bend)
        # the envelope's slope has the Lipschitz constant 1/width
        assert found == pytest.approx(quotient * s * x, abs=3 * clip * (step / width + 1e-6))


@pytest.mark.parametrize("name", ["affine", "absolute", "relu", "hinge", "logistic", "squared"])
def test_tempered_gradients_are_short_and_bend_little(name: str) -> None:
    rng = np.random.default_rng()
    clip, bend, step = 0.8, 1.5, 1e-5
    for size in (1e-3, 1.0, 30.0, 1e4):
        row = size * rng.standard_normal(2 + (name != "affine"))
        if name in ("hinge", "logistic"):
            row[-1] = rng.choice([-1.0, 1.0])
        for w in rng.standard_normal((20, 2)):
            here = p4_noise.tempered_gradient(name, row[None], w, clip, bend)
            assert np.linalg.norm(here) <= clip * (1 + 1e-9)
            there = p4_noise.tempered_gradient(name, row[None], w + step * np.array([0.6, 0.8]), clip, bend)
            assert np.linalg.norm(there - here) <= bend * step * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("name", ["logistic", "squared"])
def test_tempered_records_of_moderate_size_are_not_changed(name: str) -> None:
    rng = np.random.default_rng()
    rows, w = 0.1 * rng.standard_normal((5, 3)), 0.1 * rng.standard_normal(2)
    rows[:, -1] = np.sign(rows[:, -1]) if name == "logistic" else rows[:, -1]
    found = p4_noise.tempered_gradient(name, rows, w, 5.0, 5.0)
    assert found == pytest.approx(losses.gradients(name, w, rows).sum(axis=0))


@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ["absolute", "relu", "hinge"])
def test_smoothed_slopes_are_means_over_the_ball(name: str, dimension: int) -> None:
    """φ' at m + σ‖x‖T, T with density ∝ (1 − t²)^{(d−1)/2}, integrated."""
    rng = np.random.default_rng()
    x, w, width = rng.standard_normal(dimension), 0.3 * rng.standard_normal(dimension), 0.7
    t = 1.0 if name == "hinge" else 0.2
    reach, m = width * math.hypot(*x), float(x @ w)
    kink = min(max((t - m) / reach, -1.0), 1.0)  # where t·m = 1, or m = t

    def density(u: float) -> float:
        return float((1 - u * u) ** ((dimension - 1) / 2))

    def weighted(u: float) -> float:
        return float(losses.slope(name, np.array([m + reach * u]), np.array([t]))[0]) * density(u)

    total = sum(integrate.quad(weighted, *pair)[0] for pair in ((-1, kink), (kink, 1)))
    mean = total / integrate.quad(density, -1, 1)[0]
    assert p4_choice._gradients(name, np.append(x, t)[None], w, width)[0] == pytest.approx(mean * x, abs=1e-7)


@pytest.mark.parametrize("domain", ["ball:1", "box:-1,0.5", losses.Cut("ball:1", np.array([0.6, 0.5]), 0.7)], ids=str)
def test_every_point_of_the_set_is_near_a_point_of_the_net(domain: Any) -> None:
    rng = np.random.default_rng()
    for points, mesh in ((p4_choice.net(domain, 2, 0.2), 0.2), (p4_choice.cells(domain, 2, 0.2), 0.2 / math.sqrt(2))):
        for place in 2 * rng.standard_normal((300, 2)):
            nearest = losses.project(domain, place)
            assert np.linalg.norm(points - nearest, axis=1).min() <= mesh * (1 + 1e-9)
        for point in points:
            assert losses.project(domain, point) == pytest.approx(point, abs=1e-9)


def test_the_most_popular_point_has_the_most_others_near() -> None:
    points = [np.array([x]) for x in (5.0, 0.0, 1.0, 2.0, 9.0)]
    assert p4_noise.most_popular(points, 1.0) == np.array([1.0])
    assert p4_noise.most_popular(points, 0.1) == np.array([5.0])  # the first of several


def test_the_law_of_a_walk_is_that_of_many_walks() -> None:
    """P^T by counting steps: the distance of the empirical law from π is what the matrix says, up to sampling."""
    scores, scale, steps = np.array([0.3, -0.4, 0.1]), 0.5, 3
    neighbours = np.array([[0, 1], [0, 2], [1, 2]])
    law = SimpleNamespace(scores=scores, scale=scale, neighbours=neighbours, start=1, steps=steps)
    rng, runs = np.random.default_rng(), 200_000
    at = np.full(runs, 1)
    for _ in range(steps):
        proposed = neighbours[at, rng.integers(0, 2, runs)]
        goes = (rng.random(runs) < 0.5) & (rng.random(runs) < np.exp((scores[proposed] - scores[at]) / scale))
        at = np.where(goes, proposed, at)
    target = np.exp(scores / scale) / np.exp(scores / scale).sum()
    seen = np.bincount(at, minlength=3) / runs
    # probabilities are above 0.05, so the logarithm of a frequency has a deviation below 0.01: beyond six of them below 1e-8
    assert p4_choice.distance_of_walk(law) == pytest.approx(np.abs(np.log(seen / target)).max(), abs=0.06)
