"""Claims against second methods: 60-digit arithmetic, exact laws of small compositions, and the dp-accounting package."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError
from typing import Any

import dp_accounting
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from tailproof.refimpl import claims
from tailproof.refimpl.claims import (
    ADD_REMOVE,
    GDP,
    REPLACE_ONE,
    ZCDP,
    ApproxDP,
    Claim,
    Neighbouring,
    PureDP,
    UnsoundConversion,
    analytic_gaussian_scale,
    claim_from_json,
    claim_to_json,
    classical_gaussian_scale,
    compose_advanced,
    compose_basic,
    compose_gdp,
    compose_parallel,
    compose_zcdp,
    convert,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    gdp_to_approx,
    gdp_to_zcdp,
    implied,
    implied_epsilon,
    implied_gdp,
    implied_pure,
    implied_zcdp,
    parse_claim,
    pure_to_gdp,
    pure_to_zcdp,
    split_for_advanced,
    to_add_remove,
    to_replace_one,
    zcdp_budget,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_to_approx,
)
from tailproof.refimpl.validation import InputError

KINDS = (PureDP, ApproxDP, ZCDP, GDP)
EXAMPLES: tuple[Claim, ...] = (PureDP(0.7), ApproxDP(0.7, 1e-5), ZCDP(0.2), GDP(0.6))

sizes = st.floats(1e-6, 50)
deltas = st.floats(1e-12, 0.999)
relations = st.sampled_from([REPLACE_ONE, ADD_REMOVE])


def claim_of(kind: type[Claim], size: float, delta: float, relation: Neighbouring = REPLACE_ONE) -> Claim:
    return ApproxDP(size, delta, relation) if kind is ApproxDP else kind(size, neighbouring=relation)  # type: ignore[call-arg]


any_claim = st.builds(claim_of, st.sampled_from(KINDS), sizes, deltas, relations)


def exact_gaussian_delta(mu: float, epsilon: float) -> mpmath.mpf:
    """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) with 60 digits left after the cancellation, which costs about log₁₀(1/μ) of them."""
    with mpmath.workdps(60 + max(0, round(-math.log10(mu)))):
        shift, level = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(shift / 2 - level / shift) - mpmath.exp(level) * mpmath.ncdf(-shift / 2 - level / shift)


def response_delta(epsilon: float, level: float) -> float:
    """The δ of randomised response of strength ε at `level`: it lies with probability 1/(1+e^ε)."""
    truth = 1 / (1 + math.exp(-epsilon))
    return truth * max(0.0, -math.expm1(level - epsilon)) + (1 - truth) * max(0.0, -math.expm1(level + epsilon))


def exact_delta(spends: Sequence[Claim], level: float) -> float:
    """The δ at ε = `level` of the composition of one mechanism per spend, each as bad as its claim can be shown to be.

    Pure: randomised response.  Approximate: the record itself with probability δ, randomised response otherwise.  zCDP and
    GDP: a Gaussian shift.  Enumerates the answers; the Gaussians compose to one.
    """
    strengths = [s.epsilon for s in spends if isinstance(s, PureDP | ApproxDP)]
    kept = math.prod(1 - s.delta for s in spends if isinstance(s, ApproxDP))
    shift = math.sqrt(sum(s.mu**2 if isinstance(s, GDP) else 2 * s.rho for s in spends if isinstance(s, GDP | ZCDP)))
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(strengths)):
        loss = sum(sign * strength for sign, strength in zip(signs, strengths, strict=True))
        chance = math.prod(1 / (1 + math.exp(-sign * strength)) for sign, strength in zip(signs, strengths, strict=True))
        total += chance * gaussian_delta(shift, level - loss)
    return 1 - kept + kept * total


# --- values, text and JSON ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, "1", b"1", True, None, [1.0], 1j])
@pytest.mark.parametrize("kind", KINDS)
def test_sizes_must_be_positive_numbers(kind: type[Claim], bad: Any) -> None:
    with pytest.raises(InputError, match=r"^(epsilon|rho|mu) = "):
        claim_of(kind, bad, 0.1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1e-9, 1.0, 1.5, "0.1", None])
def test_delta_lies_strictly_between_0_and_1(bad: Any) -> None:
    with pytest.raises(InputError, match=r"^delta = "):
        ApproxDP(1.0, bad)
    for function in (gaussian_epsilon, gaussian_mu, zcdp_epsilon, zcdp_budget):
        with pytest.raises(InputError, match=r"^delta = "):
            function(1.0, bad)
    for scale in (classical_gaussian_scale, analytic_gaussian_scale):
        with pytest.raises(InputError, match=r"^delta = "):
            scale(1.0, 1.0, bad)
    with pytest.raises(InputError, match=r"^slack = "):
        compose_advanced(PureDP(1.0), 2, bad)


@given(st.one_of(st.floats(max_value=0), st.just(math.nan), st.just(math.inf)))
@settings(deadline=None, max_examples=50)
def test_bad_arguments_of_conversions_are_named(bad: float) -> None:
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("mu", lambda: gaussian_epsilon(bad, 0.1)),
        ("rho", lambda: zcdp_epsilon(bad, 0.1)),
        ("rho", lambda: zcdp_delta(bad, 0.1)),
        ("epsilon", lambda: zcdp_delta(0.1, bad)),
        ("epsilon", lambda: zcdp_budget(bad, 0.1)),
        ("sensitivity", lambda: classical_gaussian_scale(bad, 0.5, 0.1)),
        ("sensitivity", lambda: analytic_gaussian_scale(bad, 0.5, 0.1)),
        ("epsilon", lambda: classical_gaussian_scale(1.0, bad, 0.1)),
        ("times", lambda: compose_advanced(PureDP(1.0), bad, 0.1)),  # type: ignore[arg-type]
        ("times", lambda: split_for_advanced(ApproxDP(1.0, 0.1), bad)),  # type: ignore[arg-type]
    ]
    if bad != 0:
        calls += [("mu", lambda: gaussian_delta(bad, 0.1)), ("epsilon", lambda: gaussian_mu(bad, 0.1))]
    for name, call in calls:
        with pytest.raises(InputError, match=f"^{name} = "):
            call()


def test_claims_are_values() -> None:
    assert PureDP(1.0) == PureDP(1.0) != PureDP(1.0, ADD_REMOVE)
    assert hash(GDP(1.0)) == hash(GDP(1.0))
    with pytest.raises(FrozenInstanceError):
        PureDP(1.0).epsilon = 2.0  # type: ignore[misc]
    assert all(claim.neighbouring is REPLACE_ONE for claim in EXAMPLES)


@given(any_claim)
@settings(deadline=None, max_examples=200)
def test_json_round_trip(claim: Claim) -> None:
    assert claim_from_json(json.loads(json.dumps(claim_to_json(claim)))) == claim


@pytest.mark.parametrize("number", [1, np.float32(0.5), np.float64(0.5), np.int64(1)])
def test_any_kind_of_number_is_kept_as_a_float(number: Any) -> None:
    """Otherwise the claim cannot be written, or a comparison of its floats passes it over."""
    claim = PureDP(number)
    assert type(claim.epsilon) is float
    assert claim_from_json(json.loads(json.dumps(claim_to_json(claim)))) == claim


@given(any_claim)
@settings(deadline=None, max_examples=200)
def test_text_round_trip(claim: Claim) -> None:
    letters = {"epsilon": "eps", "delta": "delta", "rho": "rho", "mu": "mu"}
    value = claim_to_json(claim)
    fields = ",".join(f"{letters[name]}={number!r}" for name, number in value.items() if isinstance(number, float))
    assert parse_claim(f"{value['claim']}({fields})", claim.neighbouring) == claim


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("pure(eps=1)", PureDP(1.0)),
        ("approx(eps=1,delta=1e-05)", ApproxDP(1.0, 1e-5)),
        ("zcdp(rho=0.125)", ZCDP(0.125)),
        ("gdp(mu=1.5)", GDP(1.5)),
    ],
)
def test_text_of_claims(text: str, claim: Claim) -> None:
    assert str(claim) == text
    assert parse_claim(text) == claim
    assert parse_claim(text, ADD_REMOVE).neighbouring is ADD_REMOVE
    assert parse_claim("  " + text.replace("(", " ( ").replace("=", " = ").replace(",", " , ") + "  ") == claim


def test_order_of_the_letters_is_free() -> None:
    assert parse_claim("approx(delta=.1,eps=2)") == ApproxDP(2.0, 0.1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pure",
        "pure()",
        "pure(eps)",
        "pure(eps=)",
        "pure(=1)",
        "pure(eps=one)",
        "pure(eps==1)",
        "pure(eps=1;2)",
        "pure(eps=1 2)",
        "pure(eps=1,eps=1)",
        "pure(eps=1,delta=.1)",
        "pure(rho=1)",
        "pure(eps=1)x",
        "pure(eps=(1))",
        "pure(eps=1",
        "pure eps=1",
        "dp(eps=1)",
        "approx(eps=1)",
        "approx(delta=.1)",
        "zcdp(eps=1)",
        "gdp(rho=1)",
        "pure(eps=1)pure(eps=1)",
        "pure(eps=nan)",
        "pure(eps=inf)",
        "pure(eps=0)",
        "pure(eps=-1)",
        "approx(eps=1,delta=0)",
        "approx(eps=1,delta=1)",
        "approx(eps=1,delta=nan)",
        "zcdp(rho=-0.0)",
        "gdp(mu=1e999)",
    ],
)
def test_malformed_text_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_claim(text)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("pure(1)", PureDP(1)),
        ("pure(epsilon=1)", PureDP(1)),
        ("Pure( eps = 1 )", PureDP(1)),
        ("PureDP(epsilon=1)", PureDP(1)),
        ("eps=1", PureDP(1)),
        ("epsilon = 1", PureDP(1)),
        ("ε=1", PureDP(1)),
        ("approx(1, 1e-5)", ApproxDP(1, 1e-5)),
        ("approx(delta=1e-5, epsilon=1)", ApproxDP(1, 1e-5)),
        ("eps=1,delta=1e-5", ApproxDP(1, 1e-5)),
        ("zcdp(.1)", ZCDP(0.1)),
        ("ZCDP(rho=.1)", ZCDP(0.1)),
        ("rho=.1", ZCDP(0.1)),
        ("mu=1", GDP(1)),
    ],
)
def test_claims_as_people_write_them(text: str, claim: Claim) -> None:
    assert parse_claim(text) == claim


@pytest.mark.parametrize(
    "text",
    ["1", "eps", "eps=1,rho=1", "delta=1e-5", "pure(1,2)", "approx(1)", "approx(1,delta=1e-5)", "eps=1,eps=1", "1,1e-5"],
)
def test_ambiguous_claims_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="claim = "):
        parse_claim(text)


# --- the Gaussian mechanism ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0])
def test_gaussian_delta_against_60_digits(mu: float) -> None:
    """Relative accuracy down to the smallest floats, also where the two terms are nearly equal."""
    tolerance = 1e-11
    checked = 0
    for deviations in np.concatenate([np.linspace(0, 4, 21), np.arange(5, 37)]):
        for epsilon in (mu * deviations, mu * mu / 2 + mu * deviations, mu * mu / 2 - mu * deviations):
            exact = exact_gaussian_delta(mu, float(epsilon))
            if exact > 1e-300:
                assert abs(gaussian_delta(mu, float(epsilon)) - exact) <= tolerance * exact
                checked += 1
    assert checked > 100


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.4, 0.6, 3.0, 30.0])
@pytest.mark.parametrize("deviations", [0.0, 3.0, 30.0, 59.0, 61.0, 300.0, 1e5])
def test_log_delta_where_delta_itself_underflows(mu: float, deviations: float) -> None:
    """Searches for ε and μ pass through such values."""
    epsilon = mu * deviations
    with mpmath.workdps(60):
        exact = mpmath.log(exact_gaussian_delta(mu, epsilon))
    assert claims._log_gaussian_delta(mu, epsilon) == pytest.approx(float(exact), rel=1e-13, abs=1e-11)


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 4.0])
def test_gaussian_delta_against_quadrature(mu: float, epsilon: float) -> None:
    """∫ (density − e^ε other density)₊, not knowing where the integrand is positive."""
    start = epsilon / mu + mu / 2
    area = quad(lambda x: max(0.0, norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x)), start - 8, start, epsabs=0)[0]
    assert area == 0.0
    area = quad(lambda x: norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x), start, start + 12, epsabs=0, epsrel=1e-11)[0]
    assert gaussian_delta(mu, epsilon) == pytest.approx(area, rel=1e-8)


def test_gaussian_delta_without_a_shift() -> None:
    assert gaussian_delta(0.0, 0.5) == 0.0
    assert gaussian_delta(0.0, -0.5) == pytest.approx(1 - math.exp(-0.5), rel=1e-15)
    assert gaussian_delta(1e300, 1.0) == 1.0
    assert gaussian_delta(1e-300, 1e300) == 0.0


@given(st.floats(1e-3, 40), st.floats(-50, 500), st.floats(1.0, 3.0))
@settings(deadline=None, max_examples=200)
def test_gaussian_delta_is_a_probability_and_monotone(mu: float, epsilon: float, factor: float) -> None:
    here = gaussian_delta(mu, epsilon)
    assert 0.0 <= here <= 1.0
    assert here >= max(0.0, -math.expm1(epsilon)) - 1e-15
    assert gaussian_delta(mu * factor, epsilon) >= here * (1 - 1e-8)
    assert gaussian_delta(mu, epsilon + factor) <= here * (1 + 1e-8)


@given(st.floats(1e-3, 40), st.floats(-280, -0.01))
@settings(deadline=None, max_examples=150)
def test_epsilon_and_mu_are_inverses(mu: float, exponent: float) -> None:
    delta = 10.0**exponent
    epsilon = gaussian_epsilon(mu, delta)
    if epsilon == 0:
        assert exact_gaussian_delta(mu, 0.0) <= delta * (1 + 1e-12)
        return
    assert abs(exact_gaussian_delta(mu, epsilon) - delta) <= 1e-8 * delta
    assert gaussian_mu(epsilon, delta) == pytest.approx(mu, rel=1e-8)
    assert analytic_gaussian_scale(3.0, epsilon, delta) == pytest.approx(3.0 / mu, rel=1e-8)


@given(st.floats(0, 100), st.floats(-280, -0.01))
@settings(deadline=None, max_examples=100)
def test_gaussian_mu_is_the_largest(epsilon: float, exponent: float) -> None:
    delta = 10.0**exponent
    mu = gaussian_mu(epsilon, delta)
    assert exact_gaussian_delta(mu * (1 - 1e-9), epsilon) <= delta <= exact_gaussian_delta(mu * (1 + 1e-9), epsilon)


@pytest.mark.parametrize("sigma", [0.1, 0.5, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3, 0.1])
def test_against_dp_accounting_gaussian(sigma: float, delta: float) -> None:
    theirs = dp_accounting.get_epsilon_gaussian(sigma, delta)
    ours = gaussian_epsilon(1 / sigma, delta)
    assert ours == pytest.approx(theirs, rel=1e-7, abs=1e-9)
    assert gdp_to_approx(GDP(1 / sigma), delta) == ApproxDP(max(ours, math.nextafter(0, 1)), delta)
    if ours > 0:
        assert analytic_gaussian_scale(1.0, ours, delta) == pytest.approx(
            dp_accounting.get_sigma_gaussian(ours, delta), rel=1e-7
        )


@pytest.mark.parametrize("epsilon", [1e-3, 0.05, 0.3, 0.7, 1.0])
def test_classical_gaussian_scale_is_sound_up_to_epsilon_1(epsilon: float) -> None:
    for delta in (1e-300, 1e-30, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999):
        sigma = classical_gaussian_scale(2.5, epsilon, delta)
        assert sigma == pytest.approx(2.5 / epsilon * (2 * math.log(1.25 / delta)) ** 0.5, rel=1e-14)
        assert exact_gaussian_delta(2.5 / sigma, epsilon) <= delta
        assert analytic_gaussian_scale(2.5, epsilon, delta) <= sigma


def test_classical_gaussian_scale_refuses_epsilon_above_1() -> None:
    for epsilon in (math.nextafter(1, 2), 2.0, 100.0):
        with pytest.raises(InputError, match="analytic_gaussian_scale"):
            classical_gaussian_scale(1.0, epsilon, 1e-5)
    # and for a reason: the formula is wrong for a large ε
    assert exact_gaussian_delta(20 / math.sqrt(2 * math.log(1.25 / 0.1)), 20.0) > 0.1


# --- conversions ---------------------------------------------------------------------------------------------------------


def response_renyi(epsilon: float, order: float) -> mpmath.mpf:
    """D_α of randomised response, from its two probabilities, in 60 digits."""
    with mpmath.workdps(60):
        e, a = mpmath.mpf(epsilon), mpmath.mpf(order)
        truth, lie = mpmath.exp(e) / (1 + mpmath.exp(e)), 1 / (1 + mpmath.exp(e))
        return mpmath.log(truth**a * lie ** (1 - a) + lie**a * truth ** (1 - a)) / (a - 1)


@given(st.floats(1e-3, 30), st.floats(-12, 4))
@settings(deadline=None, max_examples=200)
def test_pure_to_zcdp_covers_randomised_response(epsilon: float, log_excess: float) -> None:
    order = 1 + 10.0**log_excess
    rho = pure_to_zcdp(PureDP(epsilon), tight=True).rho
    assert response_renyi(epsilon, order) <= order * rho * (1 + 1e-12)
    assert rho <= pure_to_zcdp(PureDP(epsilon)).rho


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 4.0, 12.0])
def test_pure_to_zcdp_is_attained_as_alpha_falls_to_1(epsilon: float) -> None:
    claim = PureDP(epsilon, ADD_REMOVE)
    assert float(response_renyi(epsilon, 1 + 1e-12)) == pytest.approx(pure_to_zcdp(claim, tight=True).rho, rel=1e-9)
    assert pure_to_zcdp(claim) == ZCDP(epsilon**2 / 2, ADD_REMOVE)
    assert convert(claim, ZCDP) == pure_to_zcdp(claim, tight=True)


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.5, 1.0, 3.0, 10.0, 30.0])
def test_pure_to_gdp_dominates_and_touches(epsilon: float) -> None:
    """Gaussian trade-off curve below that of ε-DP everywhere, equal at the corner, above it there for any smaller μ."""
    mu = pure_to_gdp(PureDP(epsilon, ADD_REMOVE)).mu
    corner = 1 / (1 + math.exp(epsilon))

    def gaussian_curve(x: Any, shift: float) -> Any:
        return ndtr(-ndtri(x) - shift)

    x = np.concatenate([np.geomspace(1e-300, 0.5, 4000), corner * np.linspace(0.9, 1.1, 2001)])
    pure_curve = np.maximum.reduce([np.zeros(len(x)), 1 - math.exp(epsilon) * x, math.exp(-epsilon) * (1 - x)])
    assert (gaussian_curve(x, mu) <= pure_curve * (1 + 1e-12) + 1e-14).all()
    assert gaussian_curve(corner, mu) == pytest.approx(corner, rel=1e-11)
    assert gaussian_curve(corner, mu * (1 - 1e-6)) > corner * (1 + 1e-12)
    assert convert(PureDP(epsilon, ADD_REMOVE), GDP) == GDP(mu, ADD_REMOVE)


@pytest.mark.parametrize("epsilon", [1e-200, 1e-17, 1e-12, 1e-7, 1e-3, 0.3, 1.0, 5.0, 40.0, 700.0, 800.0, 1e5])
def test_pure_to_gdp_at_every_size(epsilon: float) -> None:
    mu = pure_to_gdp(PureDP(epsilon)).mu
    with mpmath.workdps(60):
        if epsilon < 1:
            exact = 2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.tanh(mpmath.mpf(epsilon) / 2))
            assert abs(mu - exact) <= 1e-12 * exact
        else:
            lie = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
            assert abs(mpmath.ncdf(-mpmath.mpf(mu) / 2) / lie - 1) <= 1e-11 * (1 + epsilon)


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 8.0])
def test_gdp_to_zcdp_against_quadrature(mu: float, order: float) -> None:
    claim = gdp_to_zcdp(GDP(mu, ADD_REMOVE))
    centre = mu * order
    area = quad(
        lambda x: math.exp(order * norm.logpdf(x, mu) + (1 - order) * norm.logpdf(x)), centre - 12, centre + 12, epsrel=1e-12
    )[0]
    assert math.log(area) / (order - 1) == pytest.approx(order * claim.rho, rel=1e-8)
    assert claim.neighbouring is ADD_REMOVE
    assert convert(GDP(mu, ADD_REMOVE), ZCDP) == claim


def zcdp_epsilon_on_a_grid(rho: float, delta: float) -> float:
    excess = np.geomspace(1e-8, 1e12, 400_001)
    order = 1 + excess
    return float(np.min(rho * order + np.log(excess / order) - (math.log(delta) + np.log(order)) / excess))


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 1e-3, 0.05, 0.5, 5.0, 1e3])
@pytest.mark.parametrize("delta", [1e-250, 1e-30, 1e-6, 0.01, 0.5, 0.99])
def test_zcdp_epsilon_against_a_dense_grid(rho: float, delta: float) -> None:
    papers = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert zcdp_epsilon(rho, delta, tight=False) == pytest.approx(papers, rel=1e-14)
    tight = zcdp_epsilon(rho, delta)
    grid = zcdp_epsilon_on_a_grid(rho, delta)
    assert tight <= papers
    assert tight == pytest.approx(max(0.0, min(grid, papers)), rel=1e-8, abs=1e-12)


@given(st.floats(1e-6, 100), st.floats(-100, -0.01))
@settings(deadline=None, max_examples=150)
def test_zcdp_epsilon_is_sound_for_the_gaussian(rho: float, exponent: float) -> None:
    """A Gaussian shift of √(2ρ) is ρ-zCDP, so its exact ε is a lower bound."""
    delta = 10.0**exponent
    assert zcdp_epsilon(rho, delta) >= gaussian_epsilon(math.sqrt(2 * rho), delta) * (1 - 1e-10)


@pytest.mark.parametrize("rho", [1e-4, 0.05, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.05])
def test_zcdp_epsilon_against_dp_accounting(rho: float, delta: float) -> None:
    accountant = dp_accounting.rdp.RdpAccountant(orders=1 + np.geomspace(0.02, 1e5, 4001))
    accountant.compose(dp_accounting.ZCDpEvent(rho))
    theirs = accountant.get_epsilon(delta)
    ours = zcdp_epsilon(rho, delta)
    assert ours <= theirs * (1 + 1e-12)
    assert ours == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("rho", [1e-4, 0.05, 1.0, 20.0])
@pytest.mark.parametrize("factor", [0.5, 1.5, 4.0, 20.0])
def test_zcdp_delta_is_the_inverse(rho: float, factor: float) -> None:
    epsilon = factor * (rho + math.sqrt(rho))
    delta = zcdp_delta(rho, epsilon)
    if delta < 1:
        assert zcdp_epsilon(rho, delta) <= epsilon * (1 + 1e-12)
        if delta > 1e-300:
            assert zcdp_epsilon(rho, delta * (1 - 1e-9)) > epsilon * (1 - 1e-14)
            assert gaussian_delta(math.sqrt(2 * rho), epsilon) <= delta
    assert zcdp_delta(rho, 1e6) == pytest.approx(math.exp(-700))


def test_zcdp_delta_where_nothing_follows() -> None:
    assert zcdp_delta(1e6, 1e-3) == 1.0


@given(st.floats(1e-6, 100), st.floats(-100, -0.01))
@settings(deadline=None, max_examples=150)
def test_zcdp_budget_is_the_inverse_of_the_papers_conversion(epsilon: float, exponent: float) -> None:
    delta = 10.0**exponent
    rho = zcdp_budget(epsilon, delta)
    assert zcdp_epsilon(rho, delta, tight=False) == pytest.approx(epsilon, rel=1e-12)
    tilde = mpmath.sqrt(2 * mpmath.log(1 / mpmath.mpf(delta)) + 2 * epsilon) - mpmath.sqrt(
        2 * mpmath.log(1 / mpmath.mpf(delta))
    )
    assert rho == pytest.approx(float(tilde**2 / 2), rel=1e-4)  # P1's form, with its cancellation


@pytest.mark.parametrize("delta", [1e-308, 1e-310, 5e-324])
def test_the_smallest_deltas(delta: float) -> None:
    """1/δ is infinite for these; log(1/δ) is not."""
    log_term = -math.log(delta)
    assert zcdp_epsilon(1.0, delta, tight=False) == pytest.approx(1 + 2 * math.sqrt(log_term), rel=1e-12)
    assert zcdp_epsilon(1.0, delta) <= 1 + 2 * math.sqrt(log_term)
    assert zcdp_budget(1.0, delta) == pytest.approx((math.sqrt(log_term + 1) - math.sqrt(log_term)) ** 2, rel=1e-9)
    assert compose_advanced(PureDP(0.1), 4, delta).epsilon == pytest.approx(
        0.1 * math.sqrt(8 * log_term) + 0.4 * math.expm1(0.1), rel=1e-12
    )
    assert classical_gaussian_scale(1.0, 1.0, delta) == pytest.approx(math.sqrt(2 * (math.log(1.25) + log_term)), rel=1e-12)


def test_approximate_forms_keep_relation_and_delta() -> None:
    for delta in (1e-9, 0.3):
        assert zcdp_to_approx(ZCDP(0.5, ADD_REMOVE), delta) == ApproxDP(zcdp_epsilon(0.5, delta), delta, ADD_REMOVE)
        assert zcdp_to_approx(ZCDP(0.5), delta, tight=False).epsilon == 0.5 + 2 * math.sqrt(0.5 * math.log(1 / delta))
        assert gdp_to_approx(GDP(2.0, ADD_REMOVE), delta) == ApproxDP(gaussian_epsilon(2.0, delta), delta, ADD_REMOVE)


def test_an_epsilon_of_zero_becomes_the_least_claim() -> None:
    """δ = ½ alone covers these; the claim made is the smallest that can be written."""
    for claim in (gdp_to_approx(GDP(1e-3), 0.5), zcdp_to_approx(ZCDP(1e-6), 0.5), convert(ZCDP(1e-6), ApproxDP, delta=0.5)):
        assert 0 < claim.epsilon < 1e-300


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 8.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.3])
def test_pure_to_approximate_is_sound_for_randomised_response(epsilon: float, delta: float) -> None:
    result = convert(PureDP(epsilon), ApproxDP, delta=delta)
    assert result.delta == delta
    assert result.epsilon <= epsilon
    assert response_delta(epsilon, result.epsilon) <= delta * (1 + 1e-9)


SOUND = {(PureDP, ZCDP), (PureDP, GDP), (GDP, ZCDP), (PureDP, ApproxDP), (ZCDP, ApproxDP), (GDP, ApproxDP)}


@pytest.mark.parametrize("source", EXAMPLES, ids=str)
@pytest.mark.parametrize("target", KINDS)
def test_conversions_that_exist(source: Claim, target: Any) -> None:
    if type(source) is target:
        assert convert(source, target) is source
    elif (type(source), target) in SOUND:
        result = convert(source, target, delta=1e-4)
        assert type(result) is target
        assert result.neighbouring is source.neighbouring
    else:
        with pytest.raises(UnsoundConversion, match=target.__name__):
            convert(source, target, delta=1e-4)


def test_an_approximate_target_needs_a_delta() -> None:
    for claim in (PureDP(1.0), ZCDP(1.0), GDP(1.0)):
        with pytest.raises(InputError, match="delta"):
            convert(claim, ApproxDP)
        with pytest.raises(InputError, match="delta"):
            convert(claim, ApproxDP, delta=1.0)


def test_a_smaller_delta_does_not_follow() -> None:
    with pytest.raises(UnsoundConversion):
        convert(ApproxDP(1.0, 1e-3), ApproxDP, delta=1e-9)


def test_replacement_is_a_removal_and_an_addition() -> None:
    assert to_replace_one(PureDP(0.7, ADD_REMOVE)) == PureDP(1.4)
    assert to_replace_one(ZCDP(0.2, ADD_REMOVE)) == ZCDP(0.8)
    assert to_replace_one(GDP(0.6, ADD_REMOVE)) == GDP(1.2)
    assert to_replace_one(ApproxDP(0.7, 1e-5, ADD_REMOVE)) == ApproxDP(1.4, (1 + math.exp(0.7)) * 1e-5)
    for claim in EXAMPLES:
        assert to_replace_one(claim) is claim


@given(st.floats(0.05, 3), st.floats(0.0, 4))
@settings(deadline=None, max_examples=100)
def test_replacement_covers_two_gaussian_steps(mu: float, epsilon: float) -> None:
    """A shift of μ for one record is one of 2μ for two: the converted claim must cover it."""
    delta = gaussian_delta(mu, epsilon)
    if delta > 1e-200 and (1 + math.exp(epsilon)) * delta < 1 and epsilon > 0:
        two = to_replace_one(ApproxDP(epsilon, delta, ADD_REMOVE))
        assert isinstance(two, ApproxDP)
        assert exact_gaussian_delta(2 * mu, two.epsilon) <= two.delta * (1 + 1e-9)


@pytest.mark.parametrize("claim", [ApproxDP(1.0, 0.3, ADD_REMOVE), ApproxDP(800.0, 1e-5, ADD_REMOVE)], ids=str)
def test_replacement_says_nothing_when_delta_reaches_1(claim: ApproxDP) -> None:
    with pytest.raises(UnsoundConversion):
        to_replace_one(claim)


@pytest.mark.parametrize("claim", EXAMPLES, ids=str)
def test_replace_one_says_nothing_about_adding(claim: Claim) -> None:
    with pytest.raises(UnsoundConversion):
        to_add_remove(claim)
    added = claim_of(type(claim), 0.5, 0.1, ADD_REMOVE)
    assert to_add_remove(added) is added


# --- composition ---------------------------------------------------------------------------------------------------------


def test_basic_composition_adds_up() -> None:
    assert compose_basic([PureDP(0.1)] * 10) == PureDP(math.fsum([0.1] * 10))
    assert compose_basic([PureDP(0.1), ApproxDP(0.2, 1e-5), ApproxDP(0.4, 1e-6)]) == ApproxDP(
        math.fsum([0.1, 0.2, 0.4]), math.fsum([1e-5, 1e-6])
    )
    assert compose_basic([PureDP(1.0, ADD_REMOVE)]).neighbouring is ADD_REMOVE
    with pytest.raises(InputError, match="delta"):
        compose_basic([ApproxDP(1.0, 0.6)] * 2)


def test_zcdp_adds_and_gdp_adds_in_squares() -> None:
    assert compose_zcdp([ZCDP(0.1), ZCDP(0.2), ZCDP(0.4)]) == ZCDP(math.fsum([0.1, 0.2, 0.4]))
    assert compose_gdp([GDP(2.0), GDP(3.0), GDP(6.0)]).mu == pytest.approx(7.0, rel=1e-15)
    assert compose_zcdp([ZCDP(0.1, ADD_REMOVE)]).neighbouring is ADD_REMOVE
    assert compose_gdp([GDP(0.1, ADD_REMOVE)]).neighbouring is ADD_REMOVE


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("times", [1, 2, 9, 200])
@pytest.mark.parametrize("slack", [1e-8, 1e-3, 0.4])
def test_advanced_composition(epsilon: float, delta: float, times: int, slack: float) -> None:
    """The printed formula, and the exact k-fold randomised response (of which a part δ leaks) obeys it."""
    result = compose_advanced(ApproxDP(epsilon, delta, ADD_REMOVE) if delta else PureDP(epsilon, ADD_REMOVE), times, slack)
    assert result.epsilon == pytest.approx(
        (2 * times * math.log(1 / slack)) ** 0.5 * epsilon + times * epsilon * (math.e**epsilon - 1), rel=1e-12
    )
    assert result.delta == pytest.approx(times * delta + slack, rel=1e-15)
    assert result.neighbouring is ADD_REMOVE
    truth = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
    inner = mpmath.fsum(
        mpmath.binomial(times, j)
        * truth**j
        * (1 - truth) ** (times - j)
        * max(0, 1 - mpmath.exp(result.epsilon - (2 * j - times) * epsilon))
        for j in range(times + 1)
    )
    kept = (1 - delta) ** times
    assert 1 - kept + kept * inner <= result.delta


@given(st.floats(1e-3, 1.0), st.floats(-100, -1e-3), st.integers(1, 10**6))
@settings(deadline=None, max_examples=200)
def test_the_split_composes_back(epsilon: float, exponent: float, times: int) -> None:
    whole = ApproxDP(epsilon, 10.0**exponent, ADD_REMOVE)
    share = split_for_advanced(whole, times)
    assert share.epsilon == pytest.approx(epsilon / 2 / math.sqrt(2 * times * math.log(2 / whole.delta)), rel=1e-12)
    assert share.delta == pytest.approx(whole.delta / times / 2, rel=1e-15)
    assert share.neighbouring is ADD_REMOVE
    back = compose_advanced(share, times, whole.delta / 2)
    assert back.epsilon <= epsilon
    assert back.delta <= whole.delta * (1 + 1e-15)


def test_the_split_refuses_epsilon_above_1() -> None:
    with pytest.raises(InputError, match="epsilon"):
        split_for_advanced(ApproxDP(1.0001, 1e-5), 2)


def test_parallel_composition_takes_the_worst() -> None:
    assert compose_parallel([PureDP(1.0), PureDP(3.0), PureDP(2.0)]) == PureDP(3.0)
    assert compose_parallel([ZCDP(1.0), ZCDP(3.0)]) == ZCDP(3.0)
    assert compose_parallel([GDP(4.0), GDP(3.0)]) == GDP(4.0)
    assert compose_parallel([ApproxDP(1.0, 1e-3), ApproxDP(2.0, 1e-5)]) == ApproxDP(2.0, 1e-3)
    with pytest.raises(UnsoundConversion):
        compose_parallel([PureDP(1.0), ZCDP(1.0)])
    with pytest.raises(UnsoundConversion):
        compose_parallel([PureDP(1.0, ADD_REMOVE)])


COMPOSITIONS: list[Callable[[list[Any]], Any]] = [
    compose_basic,
    compose_zcdp,
    compose_gdp,
    compose_parallel,
    implied_pure,
    implied_zcdp,
    implied_gdp,
    lambda members: implied_epsilon(members, 0.1),
    lambda members: implied(members, PureDP(1.0)),
]


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_nothing_and_mixed_relations_do_not_compose(composition: Callable[[list[Any]], Any]) -> None:
    with pytest.raises(InputError, match="claims"):
        composition([])
    kind = {compose_zcdp: ZCDP, compose_gdp: GDP}.get(composition, PureDP)
    with pytest.raises(UnsoundConversion):
        composition([kind(1.0), kind(1.0, ADD_REMOVE)])


def test_implied_looks_at_the_relation_of_the_claim() -> None:
    for spend, claim in itertools.product(EXAMPLES, EXAMPLES):
        with pytest.raises(UnsoundConversion):
            implied([spend], claim_of(type(claim), 0.5, 0.1, ADD_REMOVE))


# --- what spends imply ---------------------------------------------------------------------------------------------------

spend_lists = st.lists(
    st.builds(claim_of, st.sampled_from(KINDS), st.floats(0.01, 3), st.floats(1e-9, 0.02)), min_size=1, max_size=6
)


@given(spend_lists, st.floats(-6, -0.5))
@example([ApproxDP(1.0, 1e-6), ZCDP(1.0)], -6.0)
@settings(deadline=None, max_examples=150)
def test_implied_is_never_better_than_the_truth(spends: list[Claim], exponent: float) -> None:
    """Against the exact δ of a composition that the spends allow: answers enumerated, Gaussians exact."""
    delta = 10.0**exponent
    epsilon, allowed = implied(spends, ApproxDP(1.0, delta))
    assert allowed == 1.0
    used = sum(s.delta for s in spends if isinstance(s, ApproxDP))
    if used > delta * (1 + 1e-9):
        assert epsilon == math.inf
    elif epsilon == math.inf:
        assert used >= delta * (1 - 1e-9)  # nothing is left for the tails of the others
    else:
        assert exact_delta(spends, epsilon) <= delta * (1 + 1e-8)


@given(spend_lists, st.randoms(use_true_random=False), st.floats(-6, -0.5))
@settings(deadline=None, max_examples=75)
def test_implied_does_not_depend_on_the_order(spends: list[Claim], random: Any, exponent: float) -> None:
    mixed = list(spends)
    random.shuffle(mixed)
    for claim in (PureDP(1.0), ApproxDP(1.0, 10.0**exponent), ZCDP(1.0), GDP(1.0)):
        assert implied(mixed, claim)[0] == pytest.approx(implied(spends, claim)[0], rel=1e-12)


@given(st.lists(st.floats(0.01, 3), min_size=1, max_size=8), deltas)
@settings(deadline=None, max_examples=75)
def test_gaussians_compose_exactly(shifts: list[float], delta: float) -> None:
    total = math.sqrt(sum(mu**2 for mu in shifts))
    spends = [GDP(mu) for mu in shifts]
    assert implied_gdp(spends) == pytest.approx(total, rel=1e-14)
    assert implied_zcdp(spends) == pytest.approx(total**2 / 2, rel=1e-14)
    assert implied_epsilon(spends, delta) == pytest.approx(gaussian_epsilon(total, delta), rel=1e-12, abs=1e-12)


def test_units_that_do_not_follow_are_infinite() -> None:
    for spend in (ApproxDP(0.1, 1e-9), ZCDP(0.1), GDP(0.1)):
        assert implied([PureDP(0.1), spend], PureDP(1.0)) == (math.inf, 1.0)
    assert implied([PureDP(0.1), ApproxDP(0.1, 1e-9)], ZCDP(1.0)) == (math.inf, 1.0)
    for spend in (ApproxDP(0.1, 1e-9), ZCDP(0.1)):
        assert implied([GDP(0.1), spend], GDP(1.0)) == (math.inf, 1.0)


def test_each_unit_by_hand() -> None:
    spends = [PureDP(0.1), PureDP(0.2)]
    assert implied(spends, PureDP(0.5)) == (math.fsum([0.1, 0.2]), 0.5)
    rho = 0.1 * math.tanh(0.05) + 0.2 * math.tanh(0.1)
    assert implied_zcdp(spends) == pytest.approx(rho, rel=1e-14)
    assert implied_zcdp([*spends, ZCDP(0.3), GDP(2.0)]) == pytest.approx(rho + 0.3 + 2.0, rel=1e-14)
    mu = math.hypot(pure_to_gdp(PureDP(0.1)).mu, pure_to_gdp(PureDP(0.2)).mu, 2.0)
    assert implied_gdp([*spends, GDP(2.0)]) == pytest.approx(mu, rel=1e-14)


def test_every_route_to_an_approximate_claim_is_taken() -> None:
    delta = 1e-6
    assert implied_epsilon([PureDP(0.1)], delta) == 0.1  # pure addition is best for one
    many = [PureDP(0.1)] * 200
    routes = [20.0, gaussian_epsilon(implied_gdp(many), delta), zcdp_epsilon(implied_zcdp(many), delta)]
    assert implied_epsilon(many, delta) == min(routes) < 20.0
    zcdp: list[Claim] = [ZCDP(0.1), GDP(0.2)]  # no exact Gaussian curve for a zCDP spend
    assert implied_epsilon(zcdp, delta) == zcdp_epsilon(0.12, delta)
    mixed: list[Claim] = [ApproxDP(0.5, 4e-7), GDP(1.0), ApproxDP(0.25, 1e-7)]
    assert implied_epsilon(mixed, delta) == pytest.approx(0.75 + gaussian_epsilon(1.0, 5e-7), rel=1e-9)


def test_a_delta_that_is_used_up() -> None:
    assert implied_epsilon([ApproxDP(0.5, 1e-6)], 1e-6) == 0.5
    assert implied_epsilon([ApproxDP(0.5, 1e-6)], 0.9999e-6) == math.inf
    assert implied_epsilon([ApproxDP(0.5, 1e-6), PureDP(0.25)], 1e-6) == 0.75
    assert implied_epsilon([ApproxDP(0.5, 1e-6), ZCDP(0.25)], 1e-6) == math.inf
    ten = [ApproxDP(0.1, 1e-7)] * 10
    assert implied_epsilon(ten, 1e-6) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("times", [10, 100])
@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_implied_against_dp_accounting_numerical_composition(times: int, epsilon: float) -> None:
    """k Laplace releases: ours is above their optimistic estimate, which is below the truth."""
    distribution = dp_accounting.pld.privacy_loss_distribution.from_laplace_mechanism(
        1 / epsilon, pessimistic_estimate=False, use_connect_dots=False, value_discretization_interval=1e-3
    )
    truth_lower = distribution.self_compose(times).get_epsilon_for_delta(1e-5)
    assert implied_epsilon([PureDP(epsilon)] * times, 1e-5) >= truth_lower > 0


@pytest.mark.parametrize("times", [20, 200])
def test_many_approximate_spends_cost_less_than_their_sum(times: int) -> None:
    """T shares of (ε, δ) imply it, by a margin; the truth is below ours and not far."""
    whole = ApproxDP(0.8, 1e-3)
    share = split_for_advanced(whole, times)
    spends = [share] * times
    found = implied_epsilon(spends, whole.delta)
    assert found <= whole.epsilon
    assert found < compose_advanced(share, times, whole.delta / 2).epsilon
    assert found < times * share.epsilon
    distribution = dp_accounting.pld.privacy_loss_distribution.from_privacy_parameters(
        dp_accounting.pld.common.DifferentialPrivacyParameters(share.epsilon, share.delta),
        value_discretization_interval=1e-4,
    )
    assert 0.5 * found < distribution.self_compose(times).get_epsilon_for_delta(whole.delta) <= found * (1 + 1e-2)


@pytest.mark.parametrize("epsilon", [1e-17, 800.0])
def test_very_small_and_very_large_pure_spends_compose(epsilon: float) -> None:
    assert implied_epsilon([PureDP(epsilon)], 1e-5) <= epsilon


def test_least_is_the_least_positive_float() -> None:
    assert 0 < claims._LEAST < 1e-320
