"""P2's statements: complete, readable, derivable, and the explicit inequalities of ours hold."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from bounds.papers import p2
from bounds.papers.p2 import COMPARISONS, LABELS, STATEMENTS
from bounds.statements import Comparison, Statement
from refimpl.catalogue import ALGORITHMS
from refimpl.means.distance_program import iterate
from tests.bounds.papers.growth import STILL, base_of, extremes, names, substituted, verdict

BY_ID = {statement.id: statement for statement in STATEMENTS}
SYMBOLS = {*"ndpLMTRBGEKDcabw", "eps", "delta", "rho", "lam", "eta", "xi", "ell", "sigma", "eps0", "delta0", "r0"}
CATALOGUE = (
    *(f"Theorem {i}" for i in range(1, 8)),
    *(f"Lemma {i}" for i in range(1, 14)),
    "(75)",
    "(76)",
    "Table I",
    "Abstract",
    "Introduction",
)
DERIVED = [s for s in STATEMENTS if s.derived and s.choices]
AS_IT_IS = ("P2.INTRO.lower", "P2.INTRO.simple", "P2.CONCLUSION.simple", "P2.ABS")
GENEROUS = {"P2.T4"}  # the print is above its derivation, by a power of ln n at most
RISKS = {"P2.E69", "P2.E71", "P2.E72", "P2.T4", "P2.O3", "P2.O4"}  # a bound above LM says nothing


def test_ids_are_unique_and_belong_to_the_paper() -> None:
    ids = [s.id for s in STATEMENTS] + [c.id for c in COMPARISONS]
    assert len(set(ids)) == len(ids)
    assert all(name.startswith("P2.") for name in ids)
    assert len(COMPARISONS) >= 15


def test_labels_are_the_papers_own() -> None:
    assert len(set(LABELS)) == len(LABELS)
    assert {s.label for s in STATEMENTS if s.source != "ours"} <= set(LABELS)


@pytest.mark.parametrize("label", CATALOGUE)
def test_every_item_of_the_catalogue_is_there(label: str) -> None:
    assert any(s.label == label for s in STATEMENTS)


def test_table_one_has_its_six_rows() -> None:
    assert [s.id for s in STATEMENTS if s.label == "Table I"] == [f"P2.TAB1.r{i}" for i in range(1, 7)]


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
    if statement.source == "ours":
        assert statement.printed is None


@pytest.mark.parametrize("statement", DERIVED, ids=lambda s: s.id)
def test_the_lemma_with_the_choices_is_the_derived_rate(statement: Statement) -> None:
    assert statement.derived is not None
    text, derived = (substituted(statement, rate) for rate in (base_of(statement, BY_ID), statement.derived))
    up, down, count = extremes(text, derived, statement.where, seed=1, void_above_one=statement.id in RISKS)
    assert count >= 20
    assert up <= STILL
    assert down >= (-6 * STILL if statement.id in GENEROUS else -STILL)


@pytest.mark.parametrize("name", AS_IT_IS)
def test_the_item_it_follows_from_is_the_derived_rate(name: str) -> None:
    statement = BY_ID[name]
    assert statement.derived is not None
    up, down, count = extremes(base_of(statement, BY_ID), statement.derived, statement.where, seed=1)
    assert count >= 20
    assert -STILL <= down <= up <= STILL


def test_the_derivation_check_can_fail() -> None:
    statement = BY_ID["P2.L5"]
    assert statement.printed is not None
    text = substituted(statement, base_of(statement, BY_ID))
    _, down, _ = extremes(text, statement.printed, statement.where, seed=1)
    assert down < -STILL  # (17) has a logarithm too many
    up, _, _ = extremes(text, "sqrt(d*log(n)/n) + R*d/n + d**(p/2)*R**(1-p)", statement.where, seed=1)
    assert up > STILL


DIFFERENT = {
    "P2.INTRO.lower",
    "P2.T1",
    "P2.L3",
    "P2.L5",
    "P2.E72",
    "P2.L9",
    "P2.L9.G",
    "P2.E103",
    "P2.E107",
    "P2.T7",
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


def test_every_explicit_inequality_is_a_function() -> None:
    assert all(callable(s.explicit) for s in STATEMENTS if s.explicit is not None)


def test_step_budgets_compose_to_the_run() -> None:
    for epsilon, delta, steps in itertools.product((0.01, 0.5, 1.0), (1e-9, 0.1, 0.999), (1, 10, 10**6)):
        step = p2.step_epsilon(epsilon=epsilon, delta=delta, steps=steps)
        assert p2.advanced_composition_epsilon(epsilon=step, times=steps, slack=delta / 2) <= epsilon


def test_shuffling_gives_theorem_six() -> None:
    for delta, groups, share in itertools.product((1e-9, 1e-3, 0.5), (10, 10**4, 10**7), (0.1, 0.999)):
        epsilon = share * 8 * math.e**2 * math.sqrt(math.log(4 / delta) / groups)
        rho = p2.explicit.group_zcdp(epsilon=epsilon, delta=delta, groups=groups)
        delta0 = delta / (12 * groups)
        epsilon0 = p2.zcdp_conversion(rho=rho, delta=delta0)
        assert p2.shuffled_epsilon(epsilon0=epsilon0, slack=delta / 2, groups=groups) <= epsilon
        assert p2.shuffled_delta(epsilon0=epsilon0, delta0=delta0, slack=delta / 2, groups=groups) <= delta


def test_good_radius_meets_the_four_conditions() -> None:
    """(90), each term with r = r₀."""
    n, d, beta, M, R, rho = 10**6, 7, 0.01, 2.0, 30.0, 0.2
    k = math.ceil(800 * math.log(1 / beta))
    m, r = n / k, p2.good_radius(n=n, d=d, groups=k, moment=M, clip=R, rho=rho)
    terms = (
        4 * M / r * math.sqrt(d / n),
        4 * math.sqrt(2) * R / (r * m * math.sqrt(k)) * math.sqrt(d / rho),
        math.sqrt(2 * R**2 / (rho * m**2) + M**2 / m) / r,
        math.sqrt(math.log(1 / beta) / (2 * k)),
    )
    assert max(terms) <= 1 / 40 * (1 + 1e-12)


def _moment(points: np.ndarray, weights: np.ndarray, p: float) -> float:
    """The largest directional p-th moment in the plane, on a fine grid of directions (convex in u, so slightly raised)."""
    angles = np.linspace(0, math.pi, 2001)
    moments = weights @ np.abs(points @ np.stack([np.cos(angles), np.sin(angles)])) ** p
    return float(moments.max() ** (1 / p)) * 1.00001


@pytest.mark.parametrize("p", [2.0, 3.0, 6.0])
def test_directional_bias_bound_holds_for_finite_laws(p: float) -> None:
    rng = np.random.default_rng(5)
    worst = 0.0
    for _ in range(300):
        points = rng.normal(size=(6, 2)) * np.exp(rng.normal(size=(6, 1)) * 2)
        weights = rng.dirichlet(np.full(6, 0.3))
        clip = float(rng.uniform(0.1, 1) * np.linalg.norm(points, axis=1).max())
        clipped = points * np.minimum(1, clip / np.linalg.norm(points, axis=1))[:, None]
        bias = float(np.linalg.norm(weights @ (points - clipped)))
        bound = p2.directional_bias_upper(d=2, p=p, moment=_moment(points, weights, p), clip=clip)
        worst = max(worst, bias / bound)
    assert 0.005 < worst <= 1


def test_directional_bias_is_below_the_papers_for_high_dimensions() -> None:
    ours = p2.directional_bias_upper(d=100, p=2.0, moment=1.0, clip=30.0)
    assert ours == pytest.approx(p2.explicit.clipping_bias_upper(d=100, p=2.0, moment=1.0, clip=30.0) / 10)


def test_chaining_constant() -> None:
    """3·Σ2^{−j}(1 + √(2d ln(3·2^j))) ≤ 10√d, the constant of P2.O2."""
    for d in (1, 2, 10, 1000):
        total = sum(2.0**-j * (1 + math.sqrt(2 * d * math.log(3 * 2.0**j))) for j in range(1, 200))
        assert 3 * total <= 10 * math.sqrt(d)


def test_one_pass_bound_is_below_the_claimed_lower_bound() -> None:
    """(6)/P2.O4 grows without bound along n = d⁴, nε = d², δ = n⁻², p = 2."""
    quotients = []
    for d in (10**6, 10**18, 10**30):
        n, epsilon, log = d**4, float(d) ** -2, 8 * math.log(d)
        rho = (epsilon / (1 + 2 * math.sqrt(log))) ** 2
        steps = math.ceil((n * math.sqrt(rho) / d) ** (2 / 3))
        clip = math.sqrt(d) * math.sqrt(n * math.sqrt(rho) / (d * math.sqrt(steps)))
        upper = p2.one_pass_excess_risk_upper(n=n, d=d, p=2.0, moment=1.0, diameter=1.0, clip=clip, rho=rho, steps=steps)
        quotients.append((math.sqrt(d / n) + d**0.75 / math.sqrt(n * epsilon) * log) / upper)
    assert quotients[0] < quotients[1] / 5 < quotients[2] / 25


@pytest.mark.parametrize("d", [1, 2])
def test_iterative_updating_returns_its_start_from_inside(d: int) -> None:
    """P2.O5: d₁ < 0 makes the first centre the best one."""
    rng = np.random.default_rng(d)
    for _ in range(20):
        points = rng.normal(size=(20, d))
        start = 0.2 * rng.normal(size=d)
        estimate, _ = iterate(points, start, steps=5, method="exact")
        assert np.array_equal(estimate, start)
    estimate, _ = iterate(points, np.full(d, 9.0), steps=5, method="exact")
    assert not np.array_equal(estimate, np.full(d, 9.0))
