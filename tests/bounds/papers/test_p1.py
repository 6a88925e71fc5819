"""P1's statements: complete, readable, derivable, and the explicit inequalities of ours hold."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.integrate import quad

from bounds.papers import p1
from bounds.papers.p1 import COMPARISONS, LABELS, STATEMENTS
from bounds.statements import Comparison, Statement
from refimpl.catalogue import ALGORITHMS
from refimpl.means.trimmed import noise_shape, smooth_sensitivity
from tests.bounds.papers.growth import STILL, base_of, extremes, names, substituted, verdict

BY_ID = {statement.id: statement for statement in STATEMENTS}
SYMBOLS = {"n", "d", "eps", "delta", "mu", "beta", "betahat", "tau", "V", "D", "D0", "G", "F", "T", "m"} | {
    *"rstxaE",
    "chi",
    "tilde",
    "xi",
    "eps0",
}
CATALOGUE = (
    *(f"Lemma {i}" for i in (1, 2, 3, 5, 6, 7, 8)),
    "Appendix Lemma 1",
    "Appendix Lemma 2",
    *(f"Theorem {i}" for i in (2, 4, 5, 7, 8)),
    "Algorithm 3",
    "(22)",
)
DERIVED = [s for s in STATEMENTS if s.derived and s.choices]
GENEROUS = {"P1.L7"}  # stated with one logarithm, T and β more than its sum needs


def test_ids_are_unique_and_belong_to_the_paper() -> None:
    ids = [s.id for s in STATEMENTS] + [c.id for c in COMPARISONS]
    assert len(set(ids)) == len(ids)
    assert all(name.startswith("P1.") for name in ids)


def test_labels_are_the_papers_own() -> None:
    assert len(set(LABELS)) == len(LABELS)
    assert {s.label for s in STATEMENTS if s.source != "ours"} <= set(LABELS)


@pytest.mark.parametrize("label", CATALOGUE)
def test_every_item_of_the_catalogue_is_there(label: str) -> None:
    assert any(s.label == label for s in STATEMENTS)


def test_the_displayed_estimators_are_there() -> None:
    assert {"P1.EST.trim", "P1.EST.soft", "P1.EST.C"} <= set(BY_ID)


def test_links_lead_somewhere() -> None:
    algorithms = {entry.id for entry in ALGORITHMS}
    for statement in STATEMENTS:
        assert set(statement.follows_from) <= set(BY_ID), statement.id
        assert set(statement.algorithms) <= algorithms, statement.id


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s.id)
def test_rates_are_expressions_in_declared_symbols(statement: Statement) -> None:
    texts = [statement.printed, statement.derived, *statement.choices.values()]
    texts += [side for condition in statement.where for side in re.split(r"<=|>=|<|>", condition)]
    for text in texts:
        assert text is None or names(text) <= SYMBOLS
    assert statement.says.endswith(".")
    if statement.source in ("ours", "restored"):
        assert statement.printed is None


@pytest.mark.parametrize("statement", DERIVED, ids=lambda s: s.id)
def test_the_lemma_with_the_choices_is_the_derived_rate(statement: Statement) -> None:
    assert statement.derived is not None
    text, derived = (substituted(statement, rate) for rate in (base_of(statement, BY_ID), statement.derived))
    up, down, count = extremes(text, derived, statement.where, seed=1)
    assert count >= 20
    assert up <= STILL
    assert statement.id in GENEROUS or down >= -STILL


def test_the_derivation_check_can_fail() -> None:
    statement = BY_ID["P1.L2"]
    assert statement.printed is not None
    text = substituted(statement, base_of(statement, BY_ID))
    up, _, _ = extremes(text, statement.printed, statement.where, seed=1)
    assert up > STILL  # 1/√ε̃ where 1/ε̃ is needed


DIFFERENT = {
    "P1.E2",
    "P1.E10",
    "P1.L2",
    "P1.L7",
    "P1.T5.distance",
    "P1.E16",
    "P1.E17",
    "P1.E17.steps",
    "P1.T8",
}


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if s.printed and s.derived], ids=lambda s: s.id)
def test_print_and_derivation_differ_exactly_where_known(statement: Statement) -> None:
    assert statement.printed is not None
    assert statement.derived is not None
    up, down, _ = extremes(statement.printed, statement.derived, statement.where, seed=2)
    assert (up > STILL or down < -STILL) == (statement.id in DIFFERENT)


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda c: c.id)
def test_comparisons_hold_or_fail_as_recorded(comparison: Comparison) -> None:
    assert names(comparison.left) | names(comparison.right) <= SYMBOLS
    assert verdict(comparison, seed=3) == comparison.holds


# Explicit inequalities.


def test_run_budget_is_the_root_of_lemma_three() -> None:
    for epsilon in (1e-6, 0.1, 1.0, 50.0):
        for delta in (1e-12, 1e-3, 0.9):
            tilde = p1.run_budget(epsilon=epsilon, delta=delta)
            assert p1.zcdp_conversion(epsilon=tilde, delta=delta) == pytest.approx(epsilon, rel=1e-9)


def test_one_step_contracts_quadratics() -> None:
    for curvature in (0.2, 0.5, 1.0):
        rate = p1.contraction(strong_convexity=0.2, smoothness=1.0)
        assert (1 - curvature / 1.0) ** 2 <= rate + 1e-12


def test_soft_mean_is_the_integral() -> None:
    def phi(x: float) -> float:
        return x - x**3 / 6 if abs(x) <= math.sqrt(2) else math.copysign(2 * math.sqrt(2) / 3, x)

    for a, b in ((0.3, 0.1), (1.0, 0.7), (-1.7, 0.4), (0.0, 2.0)):
        points = sorted((z - a) / b for z in (-math.sqrt(2), math.sqrt(2)))
        integral, _ = quad(
            lambda z, a=a, b=b: phi(a + b * z) * math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi),
            -12,
            12,
            points=points,
            limit=200,
        )
        assert p1.soft_mean(location=a, spread=b) == pytest.approx(integral, abs=1e-9)


def test_fixed_trimming_has_noise_that_ignores_the_number_of_records() -> None:
    """The published calibration at records all 0, output clamped to [−1, 1]: never below the bound, for any smoothness."""
    for trim, epsilon, records in ((1, 0.5, 100), (3, 1.0, 100), (3, 1.0, 10**6)):
        bound = p1.constant_trim_noise_lower(trim=trim, epsilon=epsilon, radius=1.0)
        for smoothness in (0.01, 0.1, 0.5, 1.0, 3.0):
            sigma, shrink = noise_shape(epsilon, smoothness)
            sensitivity = smooth_sensitivity(
                np.zeros(trim + 1), np.zeros(trim + 1), records, lower=-1.0, upper=1.0, smoothness=smoothness, clamp="output"
            )
            assert sensitivity / shrink * math.sqrt(2) * math.exp(sigma**2) >= bound
