"""Exact tests: their error by summing over all outcomes, not by sampling."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP
from tailproof.verification.auditing.fixed import Tally, choose, goal_of, run_fixed, shortened
from tailproof.verification.auditing.limits import accuracy_upper, delta, parameter
from tailproof.verification.auditing.runner import FunctionRunner
from tailproof.verification.auditing.runs import source

ERROR = 0.05


def outcomes(samples: int, right: float, wrong: float) -> list[tuple[int, int, float]]:
    """(correct, inside, probability) of independent samples that are guessed right, wrong, or passed over."""
    found = []
    for inside in range(samples + 1):
        chance = float(binom.pmf(inside, samples, right + wrong))
        given = binom.pmf(np.arange(inside + 1), inside, right / (right + wrong))
        found += [(k, inside, chance * float(given[k])) for k in range(inside + 1)]
    return found


@pytest.mark.parametrize("samples", [9, 40])
@pytest.mark.parametrize("guessed", [0.05, 0.6, 1.0])
@pytest.mark.parametrize("leaking", [0.0, 1e-3, 0.05, 0.2])
@pytest.mark.parametrize("two_sided", [True, False])
def test_error_on_the_worst_mechanism(samples: int, guessed: float, leaking: float, two_sided: bool) -> None:
    """Randomised response that leaks, with leaks that are always guessed: the hardest pair of laws for (ε, δ).  One-sided guesses
    use half of the leaks."""
    leak = leaking if two_sided else leaking / 2
    a = accuracy_upper(PureDP(1.0), 1.0)
    claim: Claim = ApproxDP(1.0, leaking) if leaking else PureDP(1.0)
    wrongly_refuted = wrongly_bounded = total = 0.0
    for correct, inside, chance in outcomes(samples, leak + (1 - leaking) * guessed * a, (1 - leaking) * guessed * (1 - a)):
        tally = Tally(claim, correct, inside, samples, ERROR, leak)
        wrongly_refuted += chance * (tally.p_value <= ERROR)
        wrongly_bounded += chance * (tally.lower > 1.0)
        total += chance
    assert total == pytest.approx(1)
    assert wrongly_refuted <= ERROR
    assert wrongly_bounded <= ERROR


@pytest.mark.parametrize("samples", [9, 40])
@pytest.mark.parametrize("guessed", [0.05, 0.4, 1.0])
@pytest.mark.parametrize("rho", [0.01, 0.3, 0.8])
def test_error_of_guesses_that_may_pass_under_zcdp(samples: int, guessed: float, rho: float) -> None:
    """As many right guesses as the divergence allows at this chance of a guess."""
    a = accuracy_upper(ZCDP(rho), rho / guessed)
    assert guessed * (2 * a - 1) * math.log(a / (1 - a)) == pytest.approx(rho)
    wrongly = sum(
        chance * (tally.lower > rho or tally.p_value <= ERROR)
        for correct, inside, chance in outcomes(samples, guessed * a, guessed * (1 - a))
        if (tally := Tally(ZCDP(rho), correct, inside, samples, ERROR))
    )
    assert wrongly <= ERROR


def test_the_leaks_are_needed() -> None:
    """Without them the same mechanism is called violated far too often: the test above can fail."""
    a, leaking, samples = accuracy_upper(PureDP(1.0), 1.0), 0.2, 45
    refuted = sum(
        chance * (Tally(PureDP(1.0), correct, inside, samples, ERROR).p_value <= ERROR)
        for correct, inside, chance in outcomes(samples, leaking + (1 - leaking) * 0.6 * a, (1 - leaking) * 0.6 * (1 - a))
    )
    assert refuted > 3 * ERROR


@pytest.mark.parametrize("claim", [PureDP(0.4), GDP(0.4), ZCDP(0.1), ApproxDP(0.4, 1e-4), ApproxDP(0.4, 0.05)])
def test_bound_and_p_value_say_the_same(claim: Claim) -> None:
    inside, counted, leak = 3000, 3000 if isinstance(claim, GDP) else 4000, delta(claim)
    told = set()
    for correct in range(1500, 3000):
        tally = Tally(claim, correct, inside, counted, ERROR, leak)
        assert (tally.lower > parameter(claim)) == (tally.p_value <= ERROR)
        told.add(tally.lower > parameter(claim))
    assert told == {True, False}
    assert Tally(claim, 0, 0, 300, ERROR, leak).lower == 0
    assert Tally(claim, 0, 0, 300, ERROR, leak).p_value == 1


def test_clopper_and_pearson() -> None:
    """At the bound the tail is the error."""
    tally = Tally(PureDP(1.0), 170, 200, 500, ERROR)
    a = accuracy_upper(PureDP(1.0), tally.lower)
    assert float(binom.sf(169, 200, a)) == pytest.approx(ERROR, rel=1e-6)
    assert Tally(PureDP(1.0), 200, 200, 500, ERROR).lower == pytest.approx(
        math.log(ERROR ** (1 / 200) / (1 - ERROR ** (1 / 200)))
    )


@pytest.mark.parametrize("claim", [PureDP(1.0), GDP(0.5), ApproxDP(1.0, 1e-3)])
def test_detectable_has_its_power(claim: Claim) -> None:
    tally = Tally(claim, 0, 400, 1000, ERROR, 1e-3 if isinstance(claim, ApproxDP) else 0.0)
    value = tally.detectable(power=0.9)
    assert value > parameter(claim)
    refuting = [k for k in range(401) if Tally(claim, k, 400, 1000, ERROR, tally.leak).lower > parameter(claim)]
    power = float(binom.sf(refuting[0] - 1, 400, accuracy_upper(claim, value)))
    assert power == pytest.approx(0.9, abs=1e-6)
    assert Tally(claim, 0, 2, 1000, ERROR, tally.leak).detectable() == math.inf


def test_the_bad_pair_is_found_among_many() -> None:
    """Of eight pairs one is far apart: halving keeps it.  Its difference is 10 standard deviations; a miss has no chance."""
    pairs = tuple((0.0, 10.0 if k == 5 else 0.0) for k in range(8))
    runs = source(FunctionRunner(lambda data, rng, size: data + rng.normal(size=size)), pairs, 3)
    chosen = choose(runs, goal_of(PureDP(1.0), 1000, ERROR), 600)
    assert chosen is not None
    pair, seen = chosen
    assert pair == 5
    assert sum(map(len, seen)) < runs.runs <= 600
    course = run_fixed(runs, PureDP(1.0), budget=2000, error=1e-9)
    assert course.pair == 5
    assert course.complete
    assert course.tally.lower > 1


def test_budget_is_kept_and_every_output_is_guessed_where_it_must_be() -> None:
    drawn = []

    def subject(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
        drawn.append(size)
        return data + rng.normal(size=size)

    for claim in (PureDP(1.0), ApproxDP(1.0, 1e-3), GDP(1.0), ZCDP(0.5)):
        drawn.clear()
        tally = run_fixed(source(FunctionRunner(subject), ((0.0, 1.0),), 0), claim, budget=3000, error=ERROR).tally
        assert sum(drawn) == 3000
        assert tally.inside <= tally.counted < 3000
        if isinstance(claim, GDP):
            assert tally.inside == tally.counted > 2800


def test_samples_that_never_came() -> None:
    """Selected by outputs, they change nothing for ε; for μ they count as wrong; for ρ nothing is concluded."""
    for claim, lower in ((PureDP(0.5), True), (ApproxDP(0.5, 1e-4), True), (GDP(0.5), False), (ZCDP(0.1), False)):
        tally = Tally(claim, 90, 100, 400, ERROR, delta(claim))
        assert tally.lower > parameter(claim)
        assert (shortened(tally).lower > parameter(claim)) == lower
    assert shortened(Tally(GDP(0.5), 390, 395, 400, ERROR)).lower > 0.5
    assert shortened(Tally(GDP(0.5), 390, 395, 400, ERROR)).inside == 400


def test_a_failure_that_tells_the_side_refutes_nothing_for_gdp() -> None:
    """An audit that stops at a failure on one side only would have seen more of the other; false-alarm probability 1e-7."""

    def subject(data: float, rng: np.random.Generator) -> float:
        if data == 1 and rng.random() < 0.01:
            raise RuntimeError
        return rng.random()

    runs = range(100)
    refuted = [
        run_fixed(source(FunctionRunner(subject), ((0.0, 1.0),), seed), GDP(0.05), budget=400, error=ERROR).tally.lower
        > 0.05
        for seed in runs
    ]
    assert sum(refuted) <= int(binom.isf(1e-7, len(runs), ERROR))
