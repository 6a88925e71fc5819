"""The checks of the explicit statements: their verdicts, their ability to refute, and the exact laws they rest on."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

import mpmath
import numpy as np
import pytest

from tailproof.bounds import explicit
from tailproof.bounds.errata import errata
from tailproof.bounds.explicit import EXPLICIT
from tailproof.refimpl.validation import InputError
from tailproof.verification import statements
from tailproof.verification.statements import TRIALS, Trial, check_statement, run

VIOLATED = statements.KNOWN_FALSE


def named(trial: Trial) -> str:
    return f"{trial.id}-{trial.reading}"


@pytest.fixture(scope="module")
def results() -> dict[tuple[str, str], statements.StatementCheck]:
    return {(result.id, result.reading): result for result in statements.check_statements()}


# Verdicts


def test_every_statement_is_tried_as_printed() -> None:
    assert {trial.id for trial in TRIALS if trial.reading == "printed"} == {statement.id for statement in EXPLICIT}
    keys = [(trial.id, trial.reading) for trial in TRIALS]
    assert len(set(keys)) == len(keys)


def test_verdicts(results: dict[tuple[str, str], statements.StatementCheck]) -> None:
    assert {id for (id, reading), result in results.items() if reading == "printed" and not result.holds} == VIOLATED
    assert all(result.holds for (_, reading), result in results.items() if reading == "corrected")


def test_results_are_consistent_and_json(results: dict[tuple[str, str], statements.StatementCheck]) -> None:
    for result in results.values():
        assert result.cases > 0
        assert math.isfinite(result.worst_ratio)
        assert result.holds == (result.worst_ratio <= 1 + statements.FLOATING_SLACK)
        if result.holds:
            assert result.witness is None
            assert result.worst is None
        else:
            assert result.worst is not None
            assert (
                result.worst["measured"] / result.worst["bound"] == result.worst_ratio
            )  # the case shown has the ratio shown
            assert json.loads(json.dumps(result.witness, allow_nan=False)) == result.witness
            assert result.witness["measured"] > result.witness["bound"]


def test_every_violation_is_an_erratum() -> None:
    listed = {erratum.id for erratum in errata()}
    for id in VIOLATED:
        assert any(entry.startswith(id) for entry in listed) or id in {
            "P1.Lem5.trim",  # listed as P1.Lem5.event: its cause is the first part's event
            "P1.Thm7.sensitivity",  # both listed as P1.Thm7.estimator
            "P1.Thm7.record",
        }


def test_one_statement_by_its_id() -> None:
    assert check_statement(id="P3.Thm4").holds
    assert not check_statement(id="P2.Lem13").holds
    assert check_statement(id="P2.Lem13", reading="corrected").holds
    with pytest.raises(InputError, match="P9"):
        check_statement(id="P9.Thm1")


# A check must be able to refute: shrink the bound below what was measured, and it does.

SHRINKABLE = {
    statement.id: statement.function.__name__
    for statement in EXPLICIT
    if statement.kind in {"upper", "lemma"} and statement.id not in VIOLATED | {"P1.Lem1", "P2.Lem10"}
}


@pytest.mark.parametrize("id", SHRINKABLE)
def test_a_bound_below_the_measured_is_refuted(
    id: str, results: dict[tuple[str, str], statements.StatementCheck], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, factor = SHRINKABLE[id], 0.99 * results[id, "printed"].worst_ratio
    assert factor > 0.1  # the cases come within a factor ten of the bound
    original = getattr(explicit, name)
    monkeypatch.setattr(explicit, name, lambda **arguments: factor * original(**arguments))
    assert not check_statement(id=id).holds


@pytest.mark.parametrize(
    ("id", "reading", "name", "factor"),
    [
        ("P0.Def3", "corrected", "p0_gaussian_scale", 0.3),
        ("P3.Lem3", "corrected", "p3_gaussian_scale", 0.5),
        ("P2.Thm3", "printed", "run_zcdp", 2.0),
        ("P2.Thm6", "printed", "group_zcdp", 1e3),
        ("P1.Lem1", "printed", "minimiser_distance_upper", 0.1),
        ("P1.C", "printed", "catoni_correction", 1.001),
        ("P3.Lem4", "printed", "laplace_tail", 1.001),
    ],
)
def test_less_noise_or_another_constant_is_refuted(
    id: str, reading: statements.Reading, name: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = getattr(explicit, name)
    monkeypatch.setattr(explicit, name, lambda *a, **arguments: factor * original(*a, **arguments))
    assert not check_statement(id=id, reading=reading).holds


def test_lemma_10_with_a_smaller_constant_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = explicit.bounded_mgf_upper
    monkeypatch.setattr(explicit, "bounded_mgf_upper", lambda **arguments: original(**arguments) ** (0.71 / 0.75))
    assert not check_statement(id="P2.Lem10").holds


# The exact laws


def test_binomial_by_fractions() -> None:
    values, weights = statements._binomial(5, 0.25)
    chance = Fraction(1, 4)
    exact = [math.comb(5, k) * chance**k * (1 - chance) ** (5 - k) for k in range(6)]
    assert weights == pytest.approx([float(weight) for weight in exact], rel=1e-13)
    assert values.tolist() == [k / 5 for k in range(6)]


def test_atom_quantile() -> None:
    deviations, weights = np.array([2.0, 0.5, 1.0, 2.0]), np.array([0.1, 0.4, 0.3, 0.2])
    cases = {0.0: 2.0, 0.2: 2.0, 0.3: 1.0, 0.5: 1.0, 0.61: 0.5, 1.0: 0.0}
    for level, expected in cases.items():
        found = statements._atom_quantile(deviations, weights, level)
        assert found == expected
        assert weights[deviations > found].sum() <= level + 1e-12


def test_continuous_quantiles_by_their_definition() -> None:
    one = np.array([1.0])
    # A standard normal's two-sided quantile, whatever the guess.
    for guess in (0.01, 100.0):
        quantile = statements._gaussian_quantile(np.zeros(1), one, 2.0, 0.05, guess)
        assert quantile == pytest.approx(2 * 1.959963984540054, rel=1e-10)
    # In one dimension the norm is the absolute value.
    means, weights = np.array([0.3, 1.5]), np.array([0.6, 0.4])
    assert statements._norm_quantile(means, weights, 0.7, 1, 0.1, 1.0) == pytest.approx(
        statements._gaussian_quantile(means, weights, 0.7, 0.1, 1.0), rel=1e-8
    )
    assert statements._quantile(lambda r: 0.1 * math.exp(-r), 0.5, 1.0) == 0.0


def test_median_law_by_enumeration() -> None:
    parameters, deviations, weights = next(
        law for law in statements._median_laws() if law[0]["n"] == law[0]["groups"] and law[0]["height"] <= law[0]["clip"]
    )
    chance, groups = parameters["height"] ** -(1 + parameters["v"]), parameters["groups"]
    high = sum(math.comb(groups, k) * chance**k * (1 - chance) ** (groups - k) for k in range(groups // 2 + 1, groups + 1))
    assert weights == pytest.approx([1 - high, high], rel=1e-10)
    mean = chance * parameters["height"]
    assert deviations == pytest.approx([mean, parameters["height"] - mean])


def test_a_record_above_the_truncation_level_leaves_bias_and_noise_alone() -> None:
    cases = statements._truncated_mean(explicit.truncated_mean_error_upper, needs_clip=False)
    seen = 0
    for parameters, error, _ in cases:
        public = {name: parameters[name] for name in ("n", "v", "moment", "epsilon", "delta", "xi")}
        clip = explicit.truncation_level(**public)
        if parameters["height"] > clip:
            scale = math.sqrt(8 * math.log(1.25 / public["delta"])) * clip / (public["n"] * public["epsilon"])
            law = NormalDist(-parameters["chance"] * parameters["height"], scale)
            assert law.cdf(-error) + 1 - law.cdf(error) == pytest.approx(3 * public["xi"], rel=1e-6)
            seen += 1
    assert seen > 100


def test_one_clipped_record_by_hand() -> None:
    seen = 0
    for parameters, error, _ in statements._clipped_mean():
        if (parameters["n"], parameters["d"]) == (1, 1):
            height, clip, chance = parameters["height"], parameters["clip"], parameters["height"] ** -parameters["p"]
            scale = math.sqrt(2 / parameters["rho"]) * clip  # P2 Lemma 4 at n = 1
            laws = {NormalDist(min(height, clip), scale): chance, NormalDist(0, scale): 1 - chance}
            mean = chance * height
            inside = sum(weight * (law.cdf(mean + error) - law.cdf(mean - error)) for law, weight in laws.items())
            assert 1 - inside == pytest.approx(parameters["beta"], rel=1e-6)
            seen += 1
    assert seen > 10


def test_averages_by_plain_loops() -> None:
    values = np.array([[1.0, -1.0, 0.5], [0.0, 2.0, -3.0]])
    n, found = 2, statements._averages(np.array(values), 2)
    totals = {
        "centred": 0.0,
        "plain": 0.0,
        "plain_absolute": 0.0,
        "signed": 0.0,
        "signed_absolute": 0.0,
        "signed_moduli": 0.0,
    }
    draws = list(itertools.product(range(3), repeat=n))
    for draw in draws:
        sums = [sum(f[u] for u in draw) / n for f in values]
        totals["plain"] += max(sums) / len(draws)
        totals["plain_absolute"] += max(abs(x) for x in sums) / len(draws)
        totals["centred"] += max(x - f.mean() for x, f in zip(sums, values, strict=True)) / len(draws)
        for sign in itertools.product((-1, 1), repeat=n):
            share = 1 / (len(draws) * 2**n)
            signed = [sum(s * f[u] for s, u in zip(sign, draw, strict=True)) / n for f in values]
            moduli = [sum(s * abs(f[u]) for s, u in zip(sign, draw, strict=True)) / n for f in values]
            totals["signed"] += max(signed) * share
            totals["signed_absolute"] += max(abs(x) for x in signed) * share
            totals["signed_moduli"] += max(moduli) * share
    for name, total in totals.items():
        assert getattr(found, name) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0.4, 0.5), (-2.0, 1.0), (30.0, 0.1)])
def test_influence_mean_by_a_second_quadrature(a: float, b: float) -> None:
    def integrand(z: mpmath.mpf) -> mpmath.mpf:
        x = a + b * z
        inside = abs(x) <= mpmath.sqrt(2)
        return (x - x**3 / 6 if inside else mpmath.sign(x) * 2 * mpmath.sqrt(2) / 3) * mpmath.npdf(z)

    with mpmath.workdps(25):
        kinks = [kink for kink in ((-mpmath.sqrt(2) - a) / b, (mpmath.sqrt(2) - a) / b) if abs(kink) < 12]
        expected = mpmath.quad(integrand, sorted([-12, -4, 0, 4, 12, *kinks]), method="gauss-legendre")
    assert statements.influence_mean(a, b) == pytest.approx(float(expected), abs=1e-13)


# P1 Lemma 5: the laws tried are sub-exponential in the sense E e^{λ(x−μ)} ≤ e^{v²λ²/2} for |λ| ≤ 1/v.


def satisfies_definition(log_mgf: Callable[[float], float], v: float) -> bool:
    rates = np.linspace(-1 / v, 1 / v, 2001)
    return all(log_mgf(rate) <= v**2 * rate**2 / 2 + 1e-12 for rate in rates)


def test_laws_of_lemma_5_satisfy_the_definition() -> None:
    def exponential(rate: float) -> float:
        return -rate - math.log1p(-rate)

    least = statements.smallest_exponential_scale()
    assert 1.43 < least < 1.44
    assert satisfies_definition(exponential, 2.0)
    assert satisfies_definition(exponential, least)
    assert not satisfies_definition(exponential, least - 0.01)
    assert satisfies_definition(lambda rate: math.log(math.cosh(rate)), 1.0)


def test_lemma_5_holds_one_sided_even_without_its_factor_two() -> None:
    for parameters, measured, bound in statements._mean_tails(two_sided=False):
        assert measured <= bound / 2 * (1 + 1e-12), parameters


# Witnesses, recomputed by hand


def test_witness_of_equation_5() -> None:
    witness = check_statement(id="P3.Thm1.(5)").witness
    assert (witness["n"], witness["xi"], witness["measured"]) == (2, 0.48, 0.5)
    log = math.log(1 / 0.48)
    assert math.sqrt(log) + log / 6 < 1  # the threshold lies below the two extreme means ±1


def test_witness_of_the_trimmed_mean_is_one_record() -> None:
    assert check_statement(id="P1.Lem5.trim").witness["data"] == [-2]


def test_a_trial_reports_the_first_case_beyond_and_the_worst_ratio() -> None:
    trial = Trial(
        "X", "printed", "three cases", lambda: iter([({"k": 1}, 0.5, 1.0), ({"k": 2}, 2.0, 1.0), ({"k": 3}, 5.0, 1.0)])
    )
    result = run(trial)
    assert (result.holds, result.worst_ratio, result.cases) == (False, 5.0, 3)
    assert result.witness == {"k": 2, "measured": 2.0, "bound": 1.0}


def test_nothing_is_random() -> None:
    assert check_statement(id="P3.Thm1.(5)") == check_statement(id="P3.Thm1.(5)")
