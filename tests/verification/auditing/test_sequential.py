"""Bets are fair: expected wealth by summing over all outcomes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, Claim, PureDP
from tailproof.verification.auditing.limits import accuracy_upper, parameter
from tailproof.verification.auditing.runner import FunctionRunner
from tailproof.verification.auditing.runs import source
from tailproof.verification.auditing.sequential import (
    PARTS,
    SMALLEST,
    Counts,
    _log_factors,
    count,
    game,
    opening,
    run_sequential,
)


@pytest.mark.parametrize("leak", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("guessed", [0.0, 0.3, 1.0])
def test_one_sample_is_at_best_fair(leak: float, guessed: float) -> None:
    """Leaks are right guesses; of the other samples a part is guessed, right as often as allowed."""
    accuracies = np.array([0.501, 0.6, 0.73, 0.99])
    right, wrong, cost = _log_factors(accuracies, leak)
    a = accuracies[:, None]
    others = guessed * (a * np.exp(right) + (1 - a) * np.exp(wrong)) + 1 - guessed
    expected = (leak * np.exp(right) + (1 - leak) * others) * np.exp(-cost)
    assert (expected <= 1 + 1e-12).all()
    assert expected == pytest.approx(1.0, abs=1e-12)  # nothing is given away on the worst mechanism


@pytest.mark.parametrize("claim", [PureDP(1.0), GDP(0.5), ZCDP(0.3)])
def test_expected_wealth_after_two_blocks_is_at_most_one(claim: Claim) -> None:
    """The second bet depends on the first block; both at the claim's limit.  Less accurate guesses lose."""
    start = opening(claim)
    here = int(np.flatnonzero(start.values == parameter(claim))[0])
    for accuracy, limit in ((start.accuracies[here], 1 + 1e-9), (start.accuracies[here] - 0.05, 1 - 1e-4)):
        expected = 0.0
        for c in range(13):
            first = start.after(Counts(c, 12, 20), Counts(7, 9, 15), 0.0)
            for e in range(9):
                second = first.after(Counts(e, 8, 10), Counts(c, 12, 20), 0.0)
                chance = float(binom.pmf(c, 12, accuracy) * binom.pmf(e, 8, accuracy))
                expected += chance * math.exp(second.log_wealth[here])
        assert expected <= limit


def test_parts_of_a_block_are_one_bet_made_before_it() -> None:
    """Wealth after the last part is that of the whole block, settled once, by what had been seen before the block; and the largest
    is kept of all parts, at each of which the audit could have stopped."""
    laplace, size, between = FunctionRunner(lambda data, rng, size: data + rng.laplace(size=size)), SMALLEST * PARTS, False
    for seed in range(8):
        played = game(source(laplace, ((0.0, 1.0),), seed), PureDP(1.0), error=1e-9)
        played.play(400)
        predictor, before, past = played.predictors[0], played.bets, played.past_counts[0]
        assert predictor is not None
        spent, block = played._block(0, size)
        assert (spent, len(block)) == (size, size)
        assert played.bets.log_wealth == pytest.approx(before.after(count(predictor, block), past, 0.0).log_wealth, abs=1e-9)
        best = before.best
        for end in range(SMALLEST, size + 1, SMALLEST):
            part = replace(block, outputs=block.outputs[:end], labels=block.labels[:end])
            best = np.maximum(best, before.after(count(predictor, part), past, 0.0).log_wealth)
        assert played.bets.best == pytest.approx(best, abs=1e-9)
        between |= bool((best > np.maximum(before.best, played.bets.log_wealth) + 1e-3).any())
    assert between  # some wealth was largest after a part that was not the last


def test_values_are_refuted_from_below() -> None:
    """One hundred right guesses of a hundred refute a lot; none refutes nothing; what was refuted stays so."""
    bets = opening(PureDP(1.0))
    assert bets.refuted(0.05) == 0
    good = bets.after(Counts(100, 100, 100), Counts(40, 40, 40), 0.0)
    assert 1 < good.refuted(0.05) < math.log(100)
    assert good.p_value() < 1e-6
    bad = good.after(Counts(0, 1000, 1000), Counts(40, 40, 40), 0.0)
    assert bad.refuted(0.05) == good.refuted(0.05)
    assert bets.after(Counts(0, 100, 100), Counts(40, 40, 40), 0.0).refuted(0.05) == 0


def test_a_value_needs_all_smaller_ones_to_be_refuted() -> None:
    """Otherwise several true values would each have the whole error."""
    bets = opening(PureDP(1.0))
    best = np.full(len(bets.values), 9.0)
    assert replace(bets, best=best).refuted(0.05) == bets.values[-1]
    best[4] = 0.0
    assert replace(bets, best=best).refuted(0.05) == bets.values[3]
    assert replace(bets, best=best).p_value() == 1


def test_the_claim_is_one_of_the_values() -> None:
    for claim in (PureDP(1.0), PureDP(1e-4), ApproxDP(8.0, 1e-5), GDP(1e-3), GDP(6.0), ZCDP(1e-6), ZCDP(12.0)):
        bets = opening(claim)
        assert parameter(claim) in bets.values
        assert (np.diff(bets.values) > 0).all()
        assert (bets.accuracies < 1).all()
        assert bets.accuracies == pytest.approx([accuracy_upper(claim, v) for v in bets.values])


def test_stops_early_and_keeps_the_budget() -> None:
    """A shift of 20 standard deviations is found in the second block of 40; no shift never stops (chance 1e-6 that it does)."""
    apart = source(FunctionRunner(lambda data, rng, size: data + rng.normal(size=size)), ((0.0, 20.0),), 1)
    course = run_sequential(apart, PureDP(1.0), budget=5000, error=0.05)
    assert 40 < course.samples <= 80
    assert course.lower >= 1
    same = source(FunctionRunner(lambda data, rng, size: rng.normal(size=size)), ((0.0, 20.0),), 1)  # noqa: ARG005
    course = run_sequential(same, PureDP(0.1), budget=1500, error=1e-6)
    assert course.samples == 1500
    assert course.lower < 0.1 < course.detectable()


def test_one_bad_pair_among_four() -> None:
    pairs = ((0.0, 0.0), (0.0, 0.0), (0.0, 20.0), (0.0, 0.0))
    runs = source(FunctionRunner(lambda data, rng, size: data + rng.normal(size=size)), pairs, 1)
    course = run_sequential(runs, PureDP(1.0), budget=5000, error=1e-4)
    assert course.lower >= 1
    assert course.samples <= 480
