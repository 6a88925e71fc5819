"""δ(ε) of products against second methods: dp-accounting, enumeration, quadrature; bounds are on their side, and near."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, PureDP, gaussian_delta, pure_to_gdp
from tailproof.refimpl.laws import LLN, Finite, Gaussian, L2Laplace, Laplace, Law
from tailproof.verification import divergences, loss_laws
from tailproof.verification.divergences import NoExactFormula
from tailproof.verification.loss_laws import composed_epsilon, delta_of, loss_sum, mu_of, product_of, rho_of, worst_part

ABSOLUTE = 1e-10  # rounding of transforms


def laplace(scale: float, move: float = 1.0) -> tuple[Law, Law]:
    return Laplace(np.array([0.0]), scale), Laplace(np.array([move]), scale)


def gaussian(scale: float, move: float = 1.0) -> tuple[Law, Law]:
    return Gaussian(np.array([0.0]), scale), Gaussian(np.array([move]), scale)


def coin(epsilon: float) -> tuple[Law, Law]:
    return Finite(np.array([epsilon, 0.0])), Finite(np.array([0.0, epsilon]))


INTERVAL = 2e-4  # of theirs; ours is shorter here
OURS_AND_THEIRS = {
    "Laplace": (laplace(5.0), lambda up: pld.from_laplace_mechanism(5.0, **_way(up))),
    "Gaussian": (gaussian(6.0), lambda up: pld.from_gaussian_mechanism(6.0, **_way(up))),
    "response": (coin(0.2), lambda up: pld.from_randomized_response(2 / (1 + math.exp(0.2)), 2, up, INTERVAL)),
}


def _way(up: bool) -> dict[str, object]:
    return {"pessimistic_estimate": up, "value_discretization_interval": INTERVAL} | (
        {} if up else {"use_connect_dots": False}
    )


@pytest.mark.parametrize(
    "names", [("Laplace",), ("Gaussian",), ("response",), ("Laplace", "Gaussian"), tuple(OURS_AND_THEIRS)]
)
@pytest.mark.parametrize(("times", "epsilon"), [(1, 0.1), (10, 0.3), (10, 0.9), (40, 1.5)])
def test_delta_of_a_product_lies_between_the_estimates_of_dp_accounting(
    names: tuple[str, ...], times: int, epsilon: float
) -> None:
    found = delta_of([OURS_AND_THEIRS[name][0] for name in names] * times, epsilon)
    for up in (False, True):
        theirs = [OURS_AND_THEIRS[name][1](up).self_compose(times) for name in names]
        total = theirs[0]
        for one in theirs[1:]:
            total = total.compose(one)
        estimate = total.get_delta_for_epsilon(epsilon)
        assert (found <= estimate * (1 + 1e-9) + ABSOLUTE) if up else (found >= estimate * (1 - 1e-9) - ABSOLUTE)


@pytest.mark.parametrize("part", ["move", "losses"])
def test_a_halved_loss_is_seen(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """The comparison above fails when a release's loss is computed wrongly."""
    honest = loss_laws.parts_of_release

    def halved(p: Law, q: Law) -> list[loss_laws.Part]:
        return [
            loss_laws.LaplaceShift(one.move / 2)
            if isinstance(one, loss_laws.LaplaceShift)
            else loss_laws.Outcomes(tuple(x / 2 for x in one.losses), one.masses)  # type: ignore[union-attr]
            for one in honest(p, q)
        ]

    monkeypatch.setattr(loss_laws, "parts_of_release", halved)
    name = "Laplace" if part == "move" else "response"
    with pytest.raises(AssertionError):
        test_delta_of_a_product_lies_between_the_estimates_of_dp_accounting((name,), 10, 0.3)


logits = st.lists(st.floats(-3, 3), min_size=2, max_size=3)


@given(st.lists(st.tuples(logits, logits), min_size=1, max_size=4), st.floats(0, 2))
@settings(max_examples=60, deadline=None)
def test_delta_of_discrete_products_by_enumeration(
    given_logits: list[tuple[list[float], list[float]]], epsilon: float
) -> None:
    pairs = [(Finite(np.array(a[: len(b)])), Finite(np.array(b[: len(a)]))) for a, b in given_logits]
    exact = 0.0
    for outcome in itertools.product(*(range(p.logits.size) for p, _ in pairs)):
        log_p = sum(p.log_probabilities()[k] for k, (p, _) in zip(outcome, pairs, strict=True))
        log_q = sum(q.log_probabilities()[k] for k, (_, q) in zip(outcome, pairs, strict=True))
        exact += max(0.0, math.exp(log_p) - math.exp(epsilon + log_q))
    found = delta_of(pairs, epsilon)
    assert exact - 1e-3 * min(1, 10 * exact) - ABSOLUTE <= found <= exact + ABSOLUTE


def test_impossible_outcomes_are_losses_without_end() -> None:
    """P gives the third outcome with probability 0.1, Q never: δ ≥ 0.1 at every ε, and 0.19 of two."""
    p, q = Finite(np.log([0.45, 0.45, 0.1])), Finite(np.append(np.log([0.5, 0.5]), -np.inf))
    assert delta_of([(p, q)], 5.0) == pytest.approx(0.1, rel=1e-9)
    assert delta_of([(p, q)] * 2, 5.0) == pytest.approx(0.19, rel=1e-9)
    assert delta_of([(q, p)], 5.0) == 0.0


@pytest.mark.parametrize(("s", "r", "move"), [(1.0, 1.2, 0.4), (1.2, 1.0, 0.4), (1.0, 1.05, 0.0), (2.0, 1.0, 3.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0])
def test_gaussians_of_two_scales(s: float, r: float, move: float, epsilon: float) -> None:
    p, q = Gaussian(np.array([0.0]), s), Gaussian(np.array([move]), r)
    exact = divergences.profile(p, q, epsilon)
    assert exact * (1 - 1e-3) - ABSOLUTE <= delta_of([(p, q)], epsilon) <= exact + ABSOLUTE


@pytest.mark.parametrize("first", [laplace(2.0), laplace(1.0, 0.3), gaussian(2.0)], ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_products_of_two_by_quadrature(first: tuple[Law, Law], epsilon: float) -> None:
    """δ(ε) of a product = ∫ p₁(x) δ₂(ε − ℓ₁(x)) dx, δ₂ being the closed form of a single Laplace release."""
    second = laplace(1.5)

    def integrand(x: float) -> float:
        value = np.array([x])
        loss = first[0].logpdf(value) - first[1].logpdf(value)
        return math.exp(first[0].logpdf(value)) * divergences.profile(*second, epsilon - loss)

    exact = quad(integrand, -40, 40, points=[-1.0, 0.0, 0.3, 1.0], limit=500)[0]
    assert delta_of([first, second], epsilon) == pytest.approx(exact, rel=1e-3)
    assert delta_of([first, second], epsilon) <= exact * (1 + 1e-7)


def test_gaussians_of_one_scale_are_exact_and_coordinates_add_up() -> None:
    pair = Gaussian(np.array([0.0, 1.0]), np.array([1.0, 2.0])), Gaussian(np.array([0.3, 1.8]), np.array([1.0, 2.0]))
    assert delta_of([pair, gaussian(3.0, 1.2)], 0.7) == gaussian_delta(math.sqrt(0.09 + 0.16 + 0.16), 0.7)
    both = Laplace(np.array([0.0, 0.0]), 2.0), Laplace(np.array([1.0, 0.5]), 2.0)
    assert delta_of([both], 0.4) == delta_of([laplace(2.0), laplace(2.0, 0.5)], 0.4)
    line = L2Laplace(np.array([0.0]), 2.0), L2Laplace(np.array([1.0]), 2.0)
    assert delta_of([line], 0.3) == delta_of([laplace(2.0)], 0.3)


def test_laws_without_a_formula_say_so() -> None:
    with pytest.raises(NoExactFormula):
        delta_of([(LLN(np.zeros(1), 1.0, 0.5), LLN(np.ones(1), 1.0, 0.5))], 1.0)
    with pytest.raises(NoExactFormula):
        worst_part(ZCDP(0.1))


@pytest.mark.parametrize(("epsilon", "times", "delta"), [(0.3, 10, 1e-3), (0.1, 30, 1e-5), (1.0, 4, 1e-2)])
def test_worst_pairs_of_pure_spends_by_the_binomial_law(epsilon: float, times: int, delta: float) -> None:
    p = 1 / (1 + math.exp(-epsilon))

    def exact(level: float) -> float:
        return sum(
            math.comb(times, j) * p**j * (1 - p) ** (times - j) * max(0.0, -math.expm1(level - (2 * j - times) * epsilon))
            for j in range(times + 1)
        )

    found = composed_epsilon([PureDP(epsilon)] * times, delta, times * epsilon)
    assert exact(found) <= delta
    assert exact(found * (1 - 1e-3)) > delta
    assert composed_epsilon([PureDP(epsilon)] * times, delta, found * 0.99) == math.inf


def test_worst_pairs_of_other_spends() -> None:
    assert loss_sum([worst_part(GDP(0.5)), worst_part(GDP(1.2))], "upper").delta(1.0) == gaussian_delta(1.3, 1.0)
    leaks = loss_sum([worst_part(ApproxDP(0.2, 0.01))] * 2, "upper").delta(0.4)
    assert leaks == pytest.approx(1 - 0.99**2, rel=1e-6)
    assert leaks >= 1 - 0.99**2


def test_the_mu_of_a_product() -> None:
    assert mu_of([gaussian(2.0), gaussian(1.0, 0.7)]) == pytest.approx(math.hypot(0.5, 0.7), rel=1e-12)
    mu = mu_of([laplace(2.0)])
    assert mu < pure_to_gdp(PureDP(0.5)).mu
    profiles = {level: divergences.profile(*laplace(2.0), float(level)) for level in loss_laws.LEVELS}
    assert any(gaussian_delta(mu * (1 + 1e-3), float(level)) < delta for level, delta in profiles.items() if delta) is False
    assert any(gaussian_delta(mu * (1 - 1e-3), float(level)) < delta for level, delta in profiles.items() if delta)


def test_the_rho_of_a_product_is_no_sum_of_suprema() -> None:
    pairs = [gaussian(2.0), gaussian(1.0, 0.7)]
    assert rho_of(pairs) == pytest.approx(0.25 / 2 + 0.49 / 2, rel=1e-12)
    mixed = [laplace(1.0), coin(1.0)]
    assert rho_of(mixed) <= sum(divergences.zcdp(p, q) for p, q in mixed) * (1 + 1e-12)
    at_orders = divergences.renyi(*mixed[0]) + divergences.renyi(*mixed[1])
    assert rho_of(mixed) == pytest.approx(float((at_orders / divergences.ORDERS).max()), rel=1e-12)


def test_both_directions_count() -> None:
    narrow, wide = Gaussian(np.array([0.0]), 1.0), Gaussian(np.array([0.0]), 2.0)
    claim = ApproxDP(0.8, 0.1)
    assert product_of([(narrow, wide)], claim) == product_of([(wide, narrow)], claim)
    assert delta_of([(narrow, wide)], 0.8) != delta_of([(wide, narrow)], 0.8)
