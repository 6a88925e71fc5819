"""The study of P4's second stage: it measures what it says, and can fail."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import Affine
from tailproof.verification import second_stage
from tailproof.verification.page import page
from tailproof.verification.second_stage import SOLVERS, bias_row, distance_row, failures


def test_minimisers_of_affine_losses_are_those_of_the_mean() -> None:
    """Without extension u* = −mean/λ inside W; with it every record is cut to length C, from 0 on."""
    data = np.array([[0.3, 0.0], [0.0, 0.2], [6.0, 0.0]])
    domain, weight = Ball(np.zeros(2), 10.0), 1.0
    u = second_stage.without_extension(Affine(), data, domain, weight)
    assert u == pytest.approx(-data.mean(axis=0), abs=1e-3)
    v = second_stage.exact_minimiser(Affine(), data, domain, weight, lipschitz=1.0)
    assert float(np.linalg.norm(u - v)) <= second_stage.gradient_bias([0.3, 0.2, 6.0], lipschitz=1.0) / weight
    assert float(np.linalg.norm(u - v)) > 1.0


@pytest.mark.parametrize("name", ["affine", "quadratic"])
def test_bias_after_the_second_stage(name: str) -> None:
    """Reading A minimises the same function over a set that contains the minimiser, but for ξ = 0.05: nothing changes."""
    row = bias_row(name, 60, 2, 0.6, 1)
    assert row["before"] > 0.1
    assert not row["v_inside"] or row["after_A"] == pytest.approx(row["before"], rel=0.01)
    assert row["before"] <= row["lemma"]
    assert failures({"bias": [row], "distance": []}) == []
    assert failures({"bias": [row | {"lemma": row["before"] / 2}], "distance": []})


def test_distance_of_single_output_perturbation_is_that_of_its_noise() -> None:
    """Length of the noise: mean dΔ/ε, standard deviation √d·Δ/ε; six deviations of 40 runs have probability below 1e-8."""
    n, d, epsilon, runs = 100, 3, 1.0, 40
    row = distance_row(n, d, epsilon, runs, 0)
    scale = (2 + 2 * 0.1) * 3.0 / (10 * 2 * 3.0 * d / epsilon) / epsilon
    assert row["single"][0] == pytest.approx(d * scale, abs=6 * math.sqrt(d) * scale / math.sqrt(runs) + 1e-3)
    assert row["double, reading A"][0] > row["single"][0]


def test_the_report_has_both_tables() -> None:
    rows = {
        "bias": [{"loss": "affine", "n": 3, "lemma": 0.9, "before": 0.5, "after_A": 0.5, "after_B": 0.25}],
        "distance": [{"n": 3, "d": 2, "epsilon": 1.0, "runs": 4} | {name: [0.2, 0.01] for name in SOLVERS}],
    }
    parts = (
        "findings",
        "mutants",
        "inapplicable",
        "statements",
        "agreements",
        "comparisons",
        "errata",
        "sweeps",
        "sandwich",
        "published_claims",
    )
    empty: dict[str, object] = {part: [] for part in parts}
    text = page(empty | {"summary": "", "second_stage": rows})
    assert "1.0000, 0.5000" in text
    assert "0.2000 ± 0.0100" in text
    assert "second stage" not in page(empty | {"summary": "", "second_stage": None})
