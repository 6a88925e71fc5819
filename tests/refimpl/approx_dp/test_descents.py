"""Gradient descent on trimmed and on softly truncated means, and the baseline without privacy."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import trim_mean

from tailproof.refimpl.approx_dp import (
    robust_gradient_descent,
    sample_and_aggregate,
    soft_truncation_descent,
    trimmed_mean_descent,
)
from tailproof.refimpl.approx_dp import soft_descent as soft
from tailproof.refimpl.approx_dp import trimmed_descent as trimmed
from tailproof.refimpl.channel import Transcript, run
from tailproof.refimpl.claims import ZCDP, ApproxDP, compose_zcdp, implied
from tailproof.refimpl.laws import LLN, Gaussian
from tailproof.refimpl.losses import Quadratic
from tailproof.refimpl.means.soft_truncation import query
from tailproof.refimpl.means.trimmed import trimmed_means
from tailproof.refimpl.validation import FloatArray

PRIVATE = {"epsilon": 1.0, "delta": 1e-6}
COMMON = {"loss": Quadratic(np.eye(2)), "domain": "ball:5", **PRIVATE, "steps": 3, "step_size": 0.5}
TRIMMED = {**COMMON, "lower": -10.0, "upper": 10.0, "trim": 3}
SOFT = {**COMMON, "second_moment": 4.0, "failure": 0.01}
BOTH = [(trimmed_mean_descent, TRIMMED), (soft_truncation_descent, SOFT)]
DATA = np.random.default_rng(2).standard_t(3, size=(60, 2)) + 1


def transcript_of(function: Callable[..., Any], data: FloatArray, **given: Any) -> tuple[FloatArray, Transcript]:
    return run(function, data, np.random.default_rng(4), **given)


@pytest.mark.parametrize(("function", "given"), BOTH, ids=["trimmed", "soft"])
@pytest.mark.parametrize("sampling", ["full", "disjoint"])
def test_every_record_spends_the_whole_budget_once(function: Any, given: dict[str, Any], sampling: str) -> None:
    """Full batches: T parts of it; disjoint ones: one step, all of it.  Either way ½ε̃², which is (ε, δ) by conversion."""
    _, transcript = transcript_of(function, DATA, **given, sampling=sampling)
    tilde = math.sqrt(2 * math.log(1e6) + 2) - math.sqrt(2 * math.log(1e6))
    for record in (0, 25, 59):
        spends = [r.spend for r in transcript if r.rows is None or record in r.rows]  # type: ignore[operator]
        assert all(isinstance(spend, ZCDP) for spend in spends)
        total = compose_zcdp(spends)  # type: ignore[arg-type]
        assert total.rho == pytest.approx(tilde**2 / 2, rel=1e-12)
        spent, allowed = implied(spends, ApproxDP(1.0, 1e-6))  # type: ignore[arg-type]
        assert spent <= allowed


def test_steps_are_gradient_descent_on_the_released_means() -> None:
    """Replayed by hand from the transcript: w ← Π_W(w − η g̃), and the location of every release is the estimate at that w."""
    scale, beta = 9.0, math.log(100)
    found, transcript = transcript_of(soft_truncation_descent, DATA, **SOFT, scale=scale)
    point = np.zeros(2)
    for release in transcript:
        assert isinstance(release.law, Gaussian)
        assert release.law.location == pytest.approx(query(point - DATA, scale=scale, beta=beta), abs=1e-12)
        point = point - 0.5 * np.asarray(release.output)
        point *= min(1.0, 5 / np.linalg.norm(point))
    assert found == pytest.approx(point, abs=1e-12)


def test_trimmed_steps_release_trimmed_means() -> None:
    _, transcript = transcript_of(trimmed_mean_descent, DATA, **TRIMMED)
    point = np.zeros(2)
    for release in transcript:
        assert isinstance(release.law, LLN)
        assert release.law.location == pytest.approx(trim_mean(point - DATA, 3 / 60), abs=1e-12)
        point = point - 0.5 * np.asarray(release.output)
        point *= min(1.0, 5 / np.linalg.norm(point))


def test_record_quadratics_of_unit_curvature_are_quadratics() -> None:
    """The same gradients, hence the same run; also for the minimisers of blocks, to their tolerance."""
    records = np.hstack([np.ones_like(DATA), DATA])
    for function, given in BOTH:
        for sampling in ("full", "disjoint"):
            one, _ = transcript_of(function, DATA, **given, sampling=sampling)
            two, _ = transcript_of(function, records, **{**given, "loss": "record-quadratic"}, sampling=sampling)
            assert one == pytest.approx(two, abs=1e-12)
    blocks = {"domain": "ball:5", "epsilon": 4.0, "delta": 1e-3, "blocks": 12, "noise": "tuned"}
    one, _ = transcript_of(sample_and_aggregate, DATA, loss=Quadratic(np.eye(2)), **blocks)
    two, _ = transcript_of(sample_and_aggregate, records, loss="record-quadratic", **blocks)
    assert one == pytest.approx(two, abs=1e-6)
    first, second = (
        robust_gradient_descent(rows, loss=loss, domain="ball:5", steps=5, step_size=0.5)
        for rows, loss in ((DATA, Quadratic(np.eye(2))), (records, "record-quadratic"))
    )
    assert first == pytest.approx(second, abs=1e-12)


def test_the_baseline_trims_and_finds_the_centre_of_contaminated_data() -> None:
    data = np.vstack([DATA, np.full((3, 2), 1e9)])
    assert trimmed_means(np.array(data.T), 5) == pytest.approx(trim_mean(data, 5 / 63), rel=1e-12)
    for mean in ("trimmed", "soft"):
        found = robust_gradient_descent(
            data, loss=Quadratic(np.eye(2)), domain="ball:5", steps=60, step_size=0.5, mean=mean, trim=6
        )
        assert np.linalg.norm(found - 1) < 1.5
    centre = robust_gradient_descent(DATA, loss=Quadratic(np.eye(2)), domain="ball:5", steps=200, step_size=0.5, trim=0)
    assert centre == pytest.approx(DATA.mean(axis=0), abs=1e-9)


def test_published_parameters_are_those_of_the_theorems() -> None:
    assert trimmed.published_parameters(1000, curvature_upper=4.0, curvature_lower=2.0) == {
        "steps": math.ceil(2 * math.log(1000)),
        "step_size": 0.25,
        "trim": 1,
    }
    assert trimmed.experiment_parameters(1000) == {"step_size": 0.01, "trim": 50}
    common = {**PRIVATE, "curvature_upper": 4.0, "second_moment": 2.0, "failure": 0.01}
    strongly = soft.published_parameters(1000, 3, **common, curvature_lower=2.0)
    assert (strongly["steps"], strongly["step_size"]) == (14, 0.25)
    convex = soft.published_parameters(10**8, 3, **common, distance=7.0)["steps"]
    tilde = math.sqrt(2 * math.log(1e6) + 2) - math.sqrt(2 * math.log(1e6))
    chi = 4.0 * 3 * math.sqrt(2.0 * convex * math.log(7e8 / 0.01)) / math.sqrt(1e8 * tilde)  # (14), constant 1
    assert convex == pytest.approx(4.0 * 7.0 / chi, abs=1)  # T = βD₀/χ
    assert soft.experiment_parameters(sampling="disjoint")["step_size"] == 1.0


@pytest.mark.parametrize("sampling", ["full", "disjoint"])
def test_the_tuned_scale_balances_bias_and_noise(sampling: str) -> None:
    given = soft.tuned_parameters(6000, 2, **PRIVATE, curvature_upper=1.0, second_moment=4.0, steps=3, sampling=sampling)
    data = np.random.default_rng(0).standard_normal((6000, 2))
    _, transcript = transcript_of(
        soft_truncation_descent, data, loss=Quadratic(np.eye(2)), domain="ball:5", **PRIVATE, **given
    )
    law = transcript.releases[0].law
    assert isinstance(law, Gaussian)
    assert float(law.scale) == pytest.approx(4.0 / (2 * given["scale"]), rel=1e-12)


@pytest.mark.parametrize("sampling", ["full", "disjoint"])
def test_tuned_runs_come_near_on_heavy_tailed_data(sampling: str) -> None:
    """n = 20000, ε = 4: within 0.25 of the mean, from 1.4 away.  (The noise's deviation is below 0.03 per coordinate.)"""
    data = np.random.default_rng(1).standard_t(3, size=(20_000, 2)) + 1
    private = {"epsilon": 4.0, "delta": 1e-6, "loss": Quadratic(np.eye(2)), "domain": "ball:5"}
    chosen = soft.tuned_parameters(
        20_000, 2, epsilon=4.0, delta=1e-6, curvature_upper=1.0, second_moment=6.0, sampling=sampling
    )
    found, _ = transcript_of(soft_truncation_descent, data, **private, **chosen)
    assert np.linalg.norm(found - 1) < 0.25
    size = 20_000 if sampling == "full" else 20_000 // trimmed.TUNED_STEPS
    other = {**trimmed.tuned_parameters(size, curvature_upper=1.0), "lower": -10.0, "upper": 10.0, "sampling": sampling}
    found, _ = transcript_of(trimmed_mean_descent, data, **private, **other)
    assert np.linalg.norm(found - 1) < 0.25
