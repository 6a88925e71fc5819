"""P3 Algorithm 5: the run by hand, its sensitivity, many dimensions, parameters by a second method, what is refused."""

import math
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.approx_dp import sparse_optimisation
from tailproof.refimpl.approx_dp.sparse import privacy, published_parameters, sensitivity, tuned_parameters, worst_neighbours
from tailproof.refimpl.channel import replay, run
from tailproof.refimpl.claims import implied
from tailproof.refimpl.validation import InputError

PRIVATE = {"epsilon": 0.8, "delta": 1e-3}
STEPS: dict[str, Any] = {**PRIVATE, "loss": "squared", "sparsity": 2, "steps": 3, "learning_rate": 0.3, "truncation": 2.0}


@pytest.mark.parametrize("radius", [None, 0.05])
def test_the_run_by_hand_from_what_it_released(radius: float | None) -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_t(2, size=(20, 6))
    found, transcript = run(sparse_optimisation, data, rng, **STEPS, radius=radius)
    w = np.zeros(5)
    for t in (1, 2, 3):
        released = {r.name.split("/")[1]: r for r in transcript if r.name.startswith(f"step{t}/")}
        part = data[20 * (t - 1) // 3 : 20 * t // 3]
        gradients = (part[:, :5] @ w - part[:, 5])[:, None] * part[:, :5]
        gradients[np.abs(gradients) > 2.0] = 0.0
        half = w - 0.3 * gradients.mean(axis=0)
        w = np.zeros(5)
        for i in ("1", "2"):
            assert released[f"index{i}"].law.values == pytest.approx(np.abs(half), rel=1e-12)  # type: ignore[attr-defined]
            j = int(np.asarray(released[f"index{i}"].output))
            assert released[f"value{i}"].law.location == pytest.approx(half[j], rel=1e-12)  # type: ignore[attr-defined]
            w[j] = np.asarray(released[f"value{i}"].output).item()
        if radius is not None:
            w = w * min(1.0, radius / np.linalg.norm(w))
    assert found == pytest.approx(w, rel=1e-12)
    assert np.count_nonzero(found) == 2


def test_the_claimed_sensitivity_is_attained_and_spent_once() -> None:
    parameters = {**STEPS, "loss": "affine", "steps": 2}
    for data, neighbour in worst_neighbours(11, 4, **parameters):
        _, here = run(sparse_optimisation, data, np.random.default_rng(3), **parameters)
        _, there = replay(sparse_optimisation, neighbour, here, **parameters)
        moved = max(
            float(np.abs(a.law.location - b.law.location).max())  # type: ignore[attr-defined]
            for a, b in zip(here, there, strict=True)
            if "value" in a.name
        )
        assert moved == pytest.approx(sensitivity(5, truncation=2.0, learning_rate=0.3), rel=1e-12)
        spends = [r.spend for r in here if r.rows is not None and 0 in np.asarray(r.rows)]
        assert len(spends) == 4
        spent, allowed = implied([s for s in spends if s is not None], privacy(**PRIVATE))
        assert spent <= allowed


def test_two_thousand_dimensions() -> None:
    rng = np.random.default_rng(0)
    d, s = 2000, 5
    data = rng.standard_normal((200, d + 1))
    chosen = tuned_parameters(200, d, **PRIVATE, true_sparsity=s, moment_order=1.5, moment_bound=1.0, smoothness=1.0)
    found, transcript = run(sparse_optimisation, data, rng, loss="squared", **PRIVATE, **chosen.keywords())
    assert found.shape == (d,)
    assert np.count_nonzero(found) == s
    assert len(transcript) == 2 * s * chosen.steps


def test_parameters_by_a_second_method() -> None:
    n, d, eps, delta, v, u, mu, gamma, xi = 10**6, 2000, 0.9, 1e-6, 0.5, 0.7, 1.0, 1.5, 0.05
    found = published_parameters(
        n,
        d,
        epsilon=eps,
        delta=delta,
        true_sparsity=5,
        moment_order=1 + v,
        moment_bound=u,
        strong_convexity=mu,
        smoothness=gamma,
        failure=xi,
    )
    assert found.sparsity == 72 * 2.25 * 5
    assert found.steps == math.ceil(14.4 * 1.5 * math.log(n))
    assert found.learning_rate == pytest.approx(2 / 4.5, rel=1e-12)
    right = (
        gamma
        * u
        * n
        * eps
        / (found.steps * math.log(d * found.steps / xi) * math.sqrt(found.sparsity * math.log(1 / delta)))
    )
    assert found.truncation ** (1 + v) == pytest.approx(right, rel=1e-12)
    given: dict[str, Any] = {"true_sparsity": 5, "moment_order": 1.5, "moment_bound": 1.0, "smoothness": 2.0}
    few, many = (tuned_parameters(size, d, epsilon=eps, delta=delta, **given) for size in (1000, 10**6))
    assert (few.steps, many.steps) == (1, 4)
    assert (few.sparsity, few.learning_rate, few.truncation) == (5, 0.5, 3.0)


def test_presets_refuse_what_cannot_be() -> None:
    given: dict[str, Any] = {**PRIVATE, "true_sparsity": 5, "moment_order": 1.5, "moment_bound": 1.0}
    with pytest.raises(InputError, match="true_sparsity"):
        tuned_parameters(100, 4, **given, smoothness=1.0)
    with pytest.raises(InputError, match="moment_order"):
        tuned_parameters(100, 10, **{**given, "moment_order": 1.0}, smoothness=1.0)
    with pytest.raises(InputError, match=r"sparsity = 360: must be in \[1, 100\]"):
        published_parameters(10**6, 100, **given, strong_convexity=1.0, smoothness=1.0, failure=0.1)
    with pytest.raises(InputError, match="steps = 79: "):
        published_parameters(30, 1000, **given, strong_convexity=1.0, smoothness=1.6, failure=0.1)
