"""P3 Algorithm 2: the run by hand, both compositions, the printed reading refuted exactly, parameters by a second method."""

import json
import math
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.approx_dp import dp_sco
from tailproof.refimpl.approx_dp.median_descent import (
    privacy,
    published_convex,
    published_strong,
    tuned_parameters,
    worst_neighbours,
)
from tailproof.refimpl.channel import replay, run
from tailproof.refimpl.claims import ApproxDP, compose_advanced, gaussian_delta, implied
from tailproof.refimpl.validation import InputError
from tailproof.verification.witness import replay_witness

PRIVATE = {"epsilon": 0.8, "delta": 1e-3}
STEPS: dict[str, Any] = {"domain": "ball:1", **PRIVATE, "steps": 3, "learning_rate": 0.3, "truncation": 2.0, "failure": 0.3}


@pytest.mark.parametrize("convexity", ["convex", "strong"])
def test_the_run_by_hand_from_what_it_released(convexity: str) -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_t(2, size=(70, 3))
    found, transcript = run(dp_sco, data, rng, **STEPS, loss="squared", convexity=convexity)
    w, points = np.zeros(2), []
    for t, release in enumerate(transcript):
        part = data if convexity == "convex" else data[70 * t // 3 : 70 * (t + 1) // 3]
        gradients = (part[:, :2] @ w - part[:, 2])[:, None] * part[:, :2]
        gradients[np.abs(gradients) > 2.0] = 0.0
        means = [group.mean(axis=0) for group in np.split(gradients, [len(part) * k // 11 for k in range(1, 11)])]
        assert release.law.location == pytest.approx(np.median(means, axis=0), rel=1e-12)  # type: ignore[attr-defined]
        w = w - 0.3 * np.asarray(release.output)
        w = w / max(1.0, float(np.linalg.norm(w)))
        points.append(w)
    assert found == pytest.approx(points[-1] if convexity == "strong" else np.mean(points, axis=0), rel=1e-12)


def test_spends_compose_to_the_claim() -> None:
    data = np.zeros((70, 2))
    for steps in (1, 3, 200):  # 200: more than basic composition allows
        _, transcript = run(dp_sco, data, np.random.default_rng(0), **{**STEPS, "steps": steps}, loss="affine")
        spends = [release.spend for release in transcript]
        first = spends[0]
        assert isinstance(first, ApproxDP)
        assert all(spend == first for spend in spends)
        composed = compose_advanced(first, steps, PRIVATE["delta"] / 2)
        assert composed.epsilon <= PRIVATE["epsilon"]
        assert composed.delta == pytest.approx(PRIVATE["delta"], rel=1e-12)
        spent, allowed = implied([first] * steps, privacy(**PRIVATE))
        assert spent <= allowed
        assert (steps * first.epsilon > PRIVATE["epsilon"]) == (steps == 200)


@pytest.mark.parametrize(("reading", "private"), [("batch", True), ("printed", False)])
def test_the_printed_reading_is_not_private_and_the_other_is(reading: str, private: bool) -> None:
    """For affine losses the laws do not depend on what was released, so T Gaussian shifts compose to one of √(Σμ_t²): exact."""
    n, d, parameters = (
        200,
        1,
        {**STEPS, "loss": "affine", "steps": 8, "failure": 0.25, "convexity": "strong", "reading": reading},
    )
    ((data, neighbour),) = worst_neighbours(n, d, **parameters)
    _, here = run(dp_sco, data, np.random.default_rng(0), **parameters)
    _, there = replay(dp_sco, neighbour, here, **parameters)
    shifts = [
        float(np.abs(a.law.location - b.law.location)[0] / a.law.scale)  # type: ignore[attr-defined]
        for a, b in zip(here, there, strict=True)
    ]
    assert sum(shift > 0 for shift in shifts) == (1 if private else 8)
    delta = gaussian_delta(math.hypot(*shifts), PRIVATE["epsilon"])
    assert (delta <= PRIVATE["delta"]) == private
    if not private:
        assert delta > 30 * PRIVATE["delta"]


def test_the_shipped_counterexample_runs_again() -> None:
    """A lower bound of δ at the claimed ε, wrong with probability 1e-9: transcripts are drawn until it exceeds the claimed δ."""
    shipped = files("tailproof.verification") / "counterexamples" / "P3.A2.json"
    measured = replay_witness(json.loads(shipped.read_text()))
    assert measured.exceeds
    assert measured.conclusive


def test_published_parameters_by_a_second_method() -> None:
    n, d, eps, v = 10_000, 20, 0.9, 0.5
    convex = published_convex(n, d, epsilon=eps, moment_order=1 + v, gradient_bound=1.5, diameter=2.0)
    assert math.log(convex.truncation) == pytest.approx((math.log(eps * n) - 1.5 * math.log(d)) / (1 + v), rel=1e-12)
    assert convex.steps == math.ceil(1.5**2 * eps**2 * n**2 / (convex.truncation**2 * d**4))
    assert convex.learning_rate == pytest.approx(2.0 / (1.5 * convex.steps**0.5), rel=1e-12)
    assert math.log(convex.failure) == pytest.approx(2 * d * math.log(n ** (-v / (1 + v)) / 2.0), rel=1e-12)
    given: dict[str, Any] = {
        "epsilon": eps,
        "moment_order": 1 + v,
        "moment_bound": 0.7,
        "strong_convexity": 0.5,
        "smoothness": 3.0,
    }
    a, b, u = 0.5, 3.0, 0.7
    for n, d in ((10_000, 20), (10**9, 2)):
        printed, derived = (published_strong(n, d, **given, tau=tau) for tau in ("printed", "derived"))
        error = u ** (1 / (1 + v)) * d**0.5 * (1 / n) ** (v / (1 + v))
        error += u ** (1 / (1 + v)) * d ** ((1 + 2 * v) / (2 + 2 * v)) / (eps * n) ** (v / (1 + v))
        steps = math.log((a + b) * error / (a * b)) / math.log((a**2 + b**2 + a * b) / (a + b) ** 2)
        assert printed.steps == derived.steps == max(1, math.ceil(steps))
        assert (printed.steps > 10) == (n == 10**9)
        assert printed.learning_rate == pytest.approx(1 / 3.5, rel=1e-12)
        assert printed.truncation ** (1 + v) == pytest.approx(u * eps * n / (d**1.5 * printed.steps**0.5), rel=1e-12)
        assert derived.truncation ** (1 + v) == pytest.approx(u * eps * n / (d**0.5 * printed.steps), rel=1e-12)


def test_tuned_parameters_run_and_take_more_steps_with_more_records() -> None:
    given: dict[str, Any] = {**PRIVATE, "moment_order": 1.5, "moment_bound": 1.0, "smoothness": 1.0, "diameter": 2.0}
    steps = [tuned_parameters(n, 5, **given).steps for n in (100, 10_000, 10**7)]
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (1, 10)
    for convexity in ("convex", "strong"):
        chosen = tuned_parameters(300, 5, **given, convexity=convexity)
        assert 0 < chosen.learning_rate <= 1
        run(
            dp_sco,
            np.zeros((300, 5)),
            np.random.default_rng(0),
            loss="affine",
            domain="ball:1",
            **PRIVATE,
            **chosen.keywords(),
        )


def test_bad_parameters_of_the_presets() -> None:
    given: dict[str, Any] = {"epsilon": 0.5, "gradient_bound": 1.0, "diameter": 2.0}
    for order in (1.0, 2.5):
        with pytest.raises(InputError, match="moment_order"):
            published_convex(1000, 2, **given, moment_order=order)
    with pytest.raises(InputError, match="beyond the floats"):
        published_convex(10**6, 200, **given, moment_order=2.0)
    with pytest.raises(InputError, match="Lemma 19's cover"):
        published_convex(10, 2, **{**given, "diameter": 0.1}, moment_order=2.0)
    with pytest.raises(InputError, match="strong_convexity"):
        published_strong(10, 2, epsilon=0.5, moment_order=2.0, moment_bound=1.0, strong_convexity=2.0, smoothness=1.0)
