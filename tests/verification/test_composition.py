"""Several releases together: honest mechanisms pass at their exact budget, ones with a little too little noise are refuted.

A true claim is called refuted with probability at most 1e-9 by each check here, whatever the seed.  That a false one is found
would fail with probability far below 1e-6: at the sizes chosen, twice to ten times the transcripts needed on average may be drawn.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import stats
from scipy.integrate import quad

from tailproof.refimpl.channel import L1, L2, Channel
from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP, gaussian_delta, gaussian_mu
from tailproof.refimpl.laws import LLN, Finite, Gaussian, Laplace
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import check_mechanism, composition, loss_laws
from tailproof.verification.composition import (
    SHARES,
    TILTS,
    Tilt,
    check_composition,
    log_moment,
    log_wealth,
    mean_lower,
    tilts_of,
)
from tailproof.verification.pair_checks import Measurement, compare, run_pair_check, transcript_loss
from tests.verification import toys

ZERO, ONE = np.zeros((4, 1)), np.array([[1.0], [0.0], [0.0], [0.0]])
STEPS = 10
SEEDS = (0, 1)  # any others would do


def total(data: FloatArray) -> FloatArray:
    return np.asarray(np.clip(data, 0, 1).sum(axis=0))


def gaussians(data: FloatArray, channel: Channel, *, scale: float, visible: bool = True, zcdp: bool = False) -> Any:
    """The sum, ten times; it moves by at most 1."""
    law, spend = Gaussian(total(data), scale), (GDP(1 / scale), ZCDP(0.5 / scale**2))[int(zcdp)]
    return [channel.release(f"{step}", law, sensitivity=L2(1.0), spend=spend, visible=visible)[0] for step in range(STEPS)]


def adaptive(data: FloatArray, channel: Channel, *, scale: float) -> Any:
    """How far a query moves depends on the sign of the value before it."""
    found = [1.0]
    for step in range(STEPS):
        query = total(data) * (1.0 if found[-1] > 0 else 0.95)
        spend = GDP(1 / scale)
        found.append(float(channel.release(f"{step}", Gaussian(query, scale), sensitivity=L2(1.0), spend=spend)[0]))
    return found


def laplaces(data: FloatArray, channel: Channel, *, scale: float) -> Any:
    law = Laplace(total(data), scale)
    return [channel.release(f"{step}", law, sensitivity=L1(1.0), spend=PureDP(1 / scale))[0] for step in range(STEPS)]


def responses(data: FloatArray, channel: Channel, *, epsilon: float) -> Any:
    """Whether there is a record above ½, told with a bias of e^ε, ten times."""
    law = Finite(np.array([0.0, epsilon]) if data.max() > 0.5 else np.array([epsilon, 0.0]))
    return [int(channel.release(f"{step}", law, sensitivity=None, spend=PureDP(epsilon))) for step in range(STEPS)]


def unequal(data: FloatArray, channel: Channel, *, noise: float) -> Any:
    """Laws of which a tilt is known for none."""
    law = LLN(total(data), noise, 0.5)
    return [channel.release(f"{step}", law, sensitivity=L1(1.0), spend=ZCDP(1.0))[0] for step in range(3)]


def found_in(mechanism: Any, claim: Claim, seed: int, **parameters: Any) -> Measurement:
    return check_composition(toys.subject(mechanism, claim, **parameters), ONE, ZERO, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-4, 1e-5])
def test_ten_gaussians_at_their_exact_budget(epsilon: float, delta: float, seed: int) -> None:
    claim, scale = ApproxDP(epsilon, delta), math.sqrt(STEPS) / gaussian_mu(epsilon, delta)
    honest = found_in(gaussians, claim, seed, scale=scale)
    assert honest.passes
    assert honest.measured == pytest.approx(delta, rel=1e-9)
    for share in (0.95, 0.9):
        wrong = found_in(gaussians, claim, seed, scale=share * scale)
        assert wrong.exceeds
        assert wrong.conclusive
        assert wrong.measured <= gaussian_delta(math.sqrt(STEPS) / (share * scale), epsilon)
    hidden = found_in(gaussians, claim, seed, scale=0.9 * scale, visible=False)
    assert hidden.exceeds
    assert not hidden.conclusive


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("delta", [1e-3, 1e-5])
def test_moves_that_depend_on_earlier_values(delta: float, seed: int) -> None:
    """The sum moves by 1 or 0.95: honest at the budget of 1, and not with 15 % less noise than 0.95 needs."""
    claim, scale = ApproxDP(1.0, delta), math.sqrt(STEPS) / gaussian_mu(1.0, delta)
    honest = found_in(adaptive, claim, seed, scale=scale)
    assert honest.passes
    assert "whatever later laws depend on" in honest.detail
    assert "with probability 1/2" in honest.detail
    wrong = found_in(adaptive, claim, seed, scale=0.85 * 0.95 * scale)
    assert wrong.exceeds
    assert wrong.conclusive


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("claim", [ZCDP(0.1), GDP(0.5)], ids=str)
def test_claims_in_other_units(claim: Claim, seed: int) -> None:
    scale = math.sqrt(STEPS / (2 * claim.rho)) if isinstance(claim, ZCDP) else math.sqrt(STEPS) / claim.mu  # type: ignore[union-attr]
    assert found_in(gaussians, claim, seed, scale=scale).passes
    wrong = found_in(gaussians, claim, seed, scale=0.95 * scale)
    assert wrong.exceeds
    assert wrong.conclusive


def test_laplaces_calibrated_by_numerical_composition() -> None:
    """dp-accounting's pessimistic δ of ten is claimed."""
    delta = (
        pld.from_laplace_mechanism(6.0, value_discretization_interval=1e-4).self_compose(STEPS).get_delta_for_epsilon(1.0)
    )
    honest = found_in(laplaces, ApproxDP(1.0, delta), 0, scale=6.0)
    assert honest.passes
    assert honest.ratio > 0.99
    for share in (0.95, 0.9):
        wrong = found_in(laplaces, ApproxDP(1.0, delta), 0, scale=6.0 * share)
        assert wrong.exceeds
        assert wrong.conclusive


def exact_of_responses(epsilon: float, level: float) -> float:
    p = 1 / (1 + math.exp(-epsilon))
    return sum(
        math.comb(STEPS, j) * p**j * (1 - p) ** (STEPS - j) * max(0.0, -math.expm1(level - (2 * j - STEPS) * epsilon))
        for j in range(STEPS + 1)
    )


def test_randomised_response_by_enumeration() -> None:
    delta = exact_of_responses(0.3, 1.0)
    assert found_in(responses, ApproxDP(1.0, delta), 0, epsilon=0.3).passes
    wrong = found_in(responses, ApproxDP(1.0, 0.7 * delta), 0, epsilon=0.3)
    assert wrong.exceeds
    assert wrong.conclusive
    assert wrong.measured <= delta


def test_laws_without_a_tilt_are_sampled_as_they_are() -> None:
    assert found_in(unequal, ApproxDP(0.1, 1e-2), 0, noise=1.0).exceeds
    honest = found_in(unequal, ApproxDP(3.0, 0.5), 0, noise=3.0)
    assert honest.passes
    assert not tilts_of(compare(toys.subject(unequal, ZCDP(1.0), noise=1.0), ONE, ZERO, 0))


def test_a_halved_loss_hides_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests above rest on: with half of every loss nothing is found."""
    honest = composition.transcript_loss
    monkeypatch.setattr(composition, "PROOF", 500)
    monkeypatch.setattr(composition, "transcript_loss", lambda here, there: honest(here, there) / 2)
    claim, scale = ApproxDP(1.0, 1e-3), math.sqrt(STEPS) / gaussian_mu(1.0, 1e-3)
    assert not (wrong := found_in(gaussians, claim, 0, scale=0.9 * scale)).conclusive
    assert wrong.measured > claim.delta  # their composition along the path, which proves nothing by itself


# --- the bound ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "mean"), [(1.0, 0.3), (50.0, 0.3), (1e6, 2.0), (1e-4, 1e-5)])
def test_wealth_is_expected_to_stay(value: float, mean: float) -> None:
    """E[wealth] = 1 after six draws of 0 or `value` whose mean is the one that is bet against; enumerated."""
    p = mean / value
    expected = 0.0
    for outcome in itertools.product([False, True], repeat=6):
        values = np.where(outcome, math.log(value), -np.inf)
        chance = math.prod(p if hit else 1 - p for hit in outcome)
        expected += chance * math.exp(log_wealth(values, math.log(mean)))
    assert expected == pytest.approx(1.0, rel=1e-9)
    assert ((SHARES > 0) & (SHARES < 1)).all()


def test_the_lower_bound_is_where_wealth_is_enough() -> None:
    values = np.log(np.random.default_rng(0).exponential(size=300))
    lower = mean_lower(values, 1e-9)
    assert log_wealth(values, lower) == pytest.approx(math.log(1e9), rel=1e-6)
    assert lower < math.log(np.exp(values).mean())
    assert mean_lower(values + 7.0, 1e-9) == pytest.approx(lower + 7.0)  # in every unit
    assert mean_lower(np.full(5, -np.inf), 1e-9) == -math.inf


# --- tilted laws ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.5, 3.0, 40.0])
@pytest.mark.parametrize("move", [0.4, -1.5, 0.0])
def test_a_tilted_laplace_law_is_drawn_with_its_weight(move: float, size: float) -> None:
    """Draws against the law's distribution function by quadrature (false alarm 1e-9), weights against the two densities."""
    kind, law, rng = Tilt(Laplace, np.array([move]), size), Laplace(np.array([2.0]), 3.0), np.random.default_rng()

    def density(z: float) -> float:
        return math.exp(-abs(z) + size * (abs(z + move) - abs(z) - abs(move)))

    corners = sorted({0.0, -move})
    whole = quad(density, -40, corners[0])[0] + quad(density, corners[-1], 40)[0]
    whole += quad(density, corners[0], corners[-1])[0] if len(corners) > 1 else 0.0

    def below(z: float) -> float:
        ends = [-40.0, *(c for c in corners if c < z), z]
        return sum(quad(density, a, b)[0] for a, b in itertools.pairwise(ends)) / whole

    drawn = [kind.draw(law, rng) for _ in range(2000)]
    z = np.array([float(value[0] - 2.0) / 3.0 for value in drawn])
    assert stats.kstest(z, np.vectorize(below)).pvalue > 1e-9
    for at, value in zip(z[:50], drawn, strict=False):
        assert kind.log_weight(law, value) == pytest.approx(-abs(at) - math.log(2) - math.log(density(at) / whole), abs=1e-6)


def test_weights_of_other_laws_are_ratios_of_densities() -> None:
    rng, moves = np.random.default_rng(), np.array([0.3, -0.2])
    law, tilt = Gaussian(np.array([1.0, 2.0]), np.array([2.0, 0.5])), Tilt(Gaussian, moves, 4.0)
    there = Gaussian(law.location + 4.0 * moves * law.scale, law.scale)
    value = tilt.draw(law, rng)
    assert tilt.log_weight(law, value) == pytest.approx(law.logpdf(value) - there.logpdf(value), abs=1e-9)
    finite, losses = Finite(np.array([0.0, 1.0, -np.inf, 2.0])), np.array([0.5, -0.5, 0.0, 1.0])
    tilted = Finite(finite.logits + 3.0 * losses)
    of_finite = Tilt(Finite, losses, 3.0)
    value = of_finite.draw(finite, rng)
    assert of_finite.log_weight(finite, value) == pytest.approx(finite.logpdf(value) - tilted.logpdf(value), abs=1e-9)


def test_moments_are_those_of_the_losses() -> None:
    """log E[e^{λL}] of ten Laplace releases that move by 1/6, by quadrature."""
    compared = compare(toys.subject(laplaces, PureDP(10.0), scale=6.0), ONE, ZERO, 0)
    tilts = tilts_of(compared)
    for size in (0.0, 1.0, 5.0):
        one = quad(lambda z, s=size: math.exp(-abs(z) + s * (abs(z + 1 / 6) - abs(z))) / 2, -40, 40, points=[-1 / 6, 0.0])[0]
        assert log_moment(tilts, compared.here, size) == pytest.approx(10 * math.log(one), abs=1e-7)
    assert TILTS[0] == 0


@pytest.mark.parametrize("mechanism", [gaussians, laplaces], ids=["Gaussian", "Laplace"])
def test_weights_and_losses_average_to_delta(mechanism: Any) -> None:
    """Their mean against the composition's δ: 1000 values of at most 2, 9 standard errors (false alarm far below 1e-9)."""
    subject = toys.subject(mechanism, ApproxDP(0.5, 1e-3), scale=8.0)
    pilot, rng = compare(subject, ONE, ZERO, 0), np.random.default_rng()
    exact = loss_laws.delta_of([(a.law, b.law) for a, b in pilot.releases], 0.5)
    found = []
    for _ in range(1000):
        channel, weights = composition.drawing(tilts_of(pilot), 3.0, rng)
        _, here = subject.through(ONE, channel)
        _, there = subject.replay(ZERO, here)
        assert composition.log_weight(weights) <= math.log(2) + 1e-12
        loss = transcript_loss(here, there)
        found.append(math.exp(composition.log_weight(weights)) * max(0.0, -math.expm1(0.5 - loss)))
    assert abs(np.mean(found) - exact) < 9 * np.std(found) / math.sqrt(len(found)) + 1e-4 * exact


# --- where mechanisms are checked ------------------------------------------------------------------------------------------------


def exact_checks(mechanism: Any, claim: Claim) -> dict[str, str]:
    """What the exact checks say against it."""
    failed = {}
    for name, check in check_mechanism(mechanism, claim, records=4, bounds=(0.0, 1.0)):
        if name.startswith("exact: "):
            try:
                check()
            except AssertionError as error:
                failed[name] = str(error)
    return failed


SCALE = math.sqrt(STEPS) / gaussian_mu(1.0, 1e-5)


def in_gdp(data: FloatArray, channel: Channel) -> Any:
    return gaussians(data, channel, scale=SCALE)


def in_zcdp(data: FloatArray, channel: Channel) -> Any:
    return gaussians(data, channel, scale=SCALE, zcdp=True)


def short_of_noise(data: FloatArray, channel: Channel) -> Any:
    return gaussians(data, channel, scale=0.95 * SCALE)


def in_pure(data: FloatArray, channel: Channel) -> Any:
    return laplaces(data, channel, scale=6.0)


@pytest.mark.parametrize("mechanism", [in_gdp, in_zcdp])
def test_an_exact_budget_passes_every_check_of_a_mechanism(mechanism: Any) -> None:
    """Also where spends are declared as zCDP, from which the theorems would get less."""
    claim = ApproxDP(1.0, 1e-5)
    assert exact_checks(mechanism, claim) == {}


def test_pure_spends_compose_as_well_as_randomised_response_does() -> None:
    """The δ of ten randomised responses is claimed: theorems that add up, or that go through zCDP, do not get there."""
    delta = exact_of_responses(1 / 6, 1.0) * (1 + 1e-4)
    assert exact_checks(in_pure, ApproxDP(1.0, delta)) == {}
    less = dict(check_mechanism(in_pure, ApproxDP(1.0, 0.98 * delta), records=4, bounds=(0.0, 1.0)))
    with pytest.raises(AssertionError, match="releases that touch a record: 10"):
        less["exact: ledger"]()


def test_too_little_noise_is_proved_in_a_mechanism() -> None:
    failed = exact_checks(short_of_noise, ApproxDP(1.0, 1e-5))
    assert failed["exact: composition"].startswith("δ(1) ≥ ")
    assert "replay_check" in failed["exact: composition"]
    assert failed["exact: measured ledger"].startswith("not certified: ")


def test_the_measured_ledger_composes_losses_where_theorems_fall_short() -> None:
    """Ten Laplace releases at dp-accounting's δ: by the sum of what each reveals they would not be certified."""
    delta = (
        pld.from_laplace_mechanism(6.0, value_discretization_interval=1e-4).self_compose(STEPS).get_delta_for_epsilon(1.0)
    )
    for factor, exceeds in ((1.0, False), (0.95, True)):
        subject = toys.subject(laplaces, ApproxDP(1.0, delta * factor), scale=6.0)
        found = run_pair_check("measured ledger", subject, (ONE, ZERO), 0)
        assert found.exceeds is exceeds
        assert "their losses composed along this path" in found.detail
