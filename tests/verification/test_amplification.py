"""Claims over hidden orders: against quadrature, against sampled transcripts of the mechanism itself, and on mutants."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from tailproof.refimpl.catalogue import algorithm
from tailproof.refimpl.channel import L2, Channel
from tailproof.refimpl.claims import ZCDP, ApproxDP, gaussian_delta
from tailproof.refimpl.laws import Gaussian, UniformPermutation
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import amplification, mutants
from tailproof.verification.amplification import Round, amplified_delta, check_amplified, scenes
from tailproof.verification.check import QUICK, amplification_findings, judge_mutant
from tailproof.verification.composition import binomial_lower
from tailproof.verification.divergences import NoExactFormula
from tailproof.verification.subject import Subject, subject_of
from tailproof.verification.witness import replay_witness
from tests.verification import toys

Z = np.linspace(-10, 12, 4401)
WEIGHTS = np.exp(-(Z**2) / 2) / math.sqrt(2 * math.pi) * (Z[1] - Z[0])


def ratio(shift: float) -> FloatArray:
    return np.exp(shift * Z - shift**2 / 2)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("shifts", [(0.0, 0.7), (0.7, 0.0), (0.4, -0.3), (-1.5, 0.0)])
def test_a_known_place_has_the_law_of_one_gaussian(shifts: tuple[float, float], epsilon: float) -> None:
    exact = gaussian_delta(abs(shifts[0] - shifts[1]), epsilon)
    found = amplified_delta([Round(1, 1.0, *shifts)], epsilon)
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower < 1e-3 * exact + 1e-9


@pytest.mark.parametrize("steps", [2, 50])
def test_batches_of_all_records_compose_to_one_gaussian(steps: int) -> None:
    exact = gaussian_delta(0.2 * math.sqrt(steps), 0.5)
    found = amplified_delta([Round(1, 1.0, 0.0, 0.2)] * steps, 0.5)
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower < 2e-2 * exact


@pytest.mark.parametrize("shifts", [(0.0, 0.9), (0.9, 0.0), (0.5, -0.6)])
@pytest.mark.parametrize("chance", [0.5, 0.2])
def test_two_places_by_quadrature(shifts: tuple[float, float], chance: float) -> None:
    here, there = ratio(shifts[0]), ratio(shifts[1])
    first = 1 - 2 * chance + chance * (here[:, None] + here)
    second = 1 - 2 * chance + chance * (there[:, None] + there)
    exact = float(WEIGHTS @ np.maximum(0.0, first - math.exp(0.2) * second) @ WEIGHTS)
    found = amplified_delta([Round(2, chance, *shifts)], 0.2)
    assert found.lower - 1e-6 <= exact <= found.upper + 1e-6
    assert found.upper - found.lower < 2e-3


@pytest.mark.parametrize("shifts", [(0.0, 0.9), (0.9, 0.0), (0.5, -0.6)])
def test_two_fresh_batches_by_quadrature(shifts: tuple[float, float]) -> None:
    here, there = 0.7 + 0.3 * ratio(shifts[0]), 0.7 + 0.3 * ratio(shifts[1])
    gain = np.maximum(0.0, np.outer(here, here) - math.exp(0.2) * np.outer(there, there))
    found = amplified_delta([Round(1, 0.3, *shifts)] * 2, 0.2)
    exact = float(WEIGHTS @ gain @ WEIGHTS)
    assert found.lower - 1e-6 <= exact <= found.upper + 1e-6
    assert found.upper - found.lower < 1e-3


def test_many_places_tend_to_a_gaussian() -> None:
    """The mean of many ratios is nearly normal, and L nearly that of a shift of √((e^{c²} − 1)/n)."""
    n, c = 10_000, 0.3
    shift = math.sqrt(math.expm1(c * c) / n)
    found = amplified_delta([Round(n, 1 / n, 0.0, c)], 0.003)
    assert found.lower <= gaussian_delta(shift, 0.003) * 1.02
    assert found.upper >= gaussian_delta(shift, 0.003) * 0.98
    assert found.upper - found.lower < 2e-4


@pytest.mark.parametrize("shifts", [(0.0, 0.3), (0.3, 0.0), (0.15, -0.15)])
def test_rounding_both_ways_agrees_with_rounding_one_way(
    shifts: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Round(1000, 1e-3, *shifts)
    first = amplified_delta([one], 0.005)
    monkeypatch.setattr(amplification, "MOST_ROUNDED", 1)
    second = amplified_delta([one], 0.005)
    assert max(first.lower, second.lower) <= min(first.upper, second.upper)
    assert second.upper - second.lower < 1e-4
    assert second.lower > 1e-3


def test_a_million_places_are_a_gaussian() -> None:
    n, c = 10**6, 0.1
    shift = math.sqrt(math.expm1(c * c) / n)
    found = amplified_delta([Round(n, 1 / n, 0.0, c)], 5e-5)
    assert found.lower <= gaussian_delta(shift, 5e-5) * (1 + 1e-3)
    assert found.upper >= gaussian_delta(shift, 5e-5) * (1 - 1e-3)
    assert found.upper - found.lower < 5e-6


def test_the_bound_far_out_is_a_lower_one_and_refutes_the_box_at_a_tiny_delta() -> None:
    one = Round(20, 0.05, 0.0, 1.2)
    for epsilon in (0.5, 1.0, 2.0):
        assert math.exp(amplification.log_delta_lower(one, epsilon)) <= amplified_delta([one.swapped()], epsilon).upper
    claim, lower = amplification.beyond_the_box(7970, log_delta=300.0)
    assert lower > math.log(claim.delta)
    claim, lower = amplification.beyond_the_box(5332, log_delta=200.0)
    assert lower < math.log(claim.delta)


def batched(data: FloatArray, channel: Channel, *, steps: int, size: int, kind: str) -> FloatArray:
    """Noisy sums of batches: of one order, of a fresh one in every step, of an order that is not used, or of the same batch."""
    n, total = len(data), np.zeros(data.shape[1])
    for t in range(steps):
        if kind == "fresh" or t == 0:
            order = np.asarray(channel.hidden(f"order{t}", UniformPermutation(n)))
        places = np.arange(size) if kind in ("fresh", "same") else np.arange(t * size, (t + 1) * size)
        members = places if kind == "unused" else order[places]
        law = Gaussian(np.clip(data[members], -1, 1).sum(axis=0), 4.0)
        total = total + channel.part(f"step{t}", members).release(
            "sum", law, sensitivity=L2(2.0), spend=ZCDP(0.125), visible=False
        )
    return total


ONE, MINUS, ZERO = np.array([1.0]), np.array([-1.0]), np.array([0.0])


def rounds_of(kind: str, other: FloatArray = ZERO) -> list[Round]:
    subject = toys.subject(batched, toys.AMPLIFIED, toys.CONDITIONAL, n=7, steps=3, size=2, kind=kind)
    (found,) = scenes(subject, other, ONE, MINUS, 0)
    return found


def test_where_the_record_may_be_is_found_by_replays() -> None:
    assert rounds_of("one") == [Round(3, 2 / 7, 0.25, -0.25)]
    assert rounds_of("fresh") == [Round(1, 2 / 7, 0.25, -0.25)] * 3
    assert rounds_of("unused") == [Round(1, 1.0, 0.25, -0.25)]
    (same,) = rounds_of("same")
    assert (same.places, same.chance) == (1, 2 / 7)
    assert same.here == pytest.approx(0.25 * math.sqrt(3))
    (aligned,) = rounds_of("one", ONE)
    assert (aligned.here, aligned.there) == (0.0, 0.5)
    shuffled = toys.subject(toys.shuffled_sum, toys.AMPLIFIED, toys.CONDITIONAL)
    assert list(scenes(shuffled, ZERO, ONE, MINUS, 0)) == [[Round(4, 0.25, 0.5, -0.5)]]


def test_noise_for_every_record_makes_every_record_a_place() -> None:
    subject = subject_of("P0.A6", 0, implementation=algorithm("P0.A6").implementation)  # type: ignore[arg-type]
    record, turned = np.array([1.0, 0.0, 1e6]), np.array([1.0, 0.0, -1e6])
    ((one,),) = scenes(subject, np.zeros(3), record, turned, 0)
    assert (one.places, one.chance) == (240, 1 / 242)  # two records are in no batch
    assert isinstance(subject.conditional, ZCDP)
    assert one.here - one.there == pytest.approx(math.sqrt(2 * subject.conditional.rho))


def sampled_heads(subject: Subject, other: FloatArray, runs: int) -> int:
    """Coins of bias (1 − e^{ε−L})₊, L of a sampled transcript: the record at every place, by replays of the mechanism."""
    assert isinstance(subject.claim, ApproxDP)
    n, coins, heads = subject.setting.n, np.random.default_rng(1), 0
    for run in range(runs):
        data = np.tile(other, (n, 1))
        data[0] = ONE
        _, here = subject.run(data, run)
        logs = []
        for record in (ONE, MINUS):
            densities = []
            for row in range(n):  # to move the record is to change the order
                moved = np.tile(other, (n, 1))
                moved[row] = record
                _, there = subject.replay(moved, here)
                densities.append(sum(r.law.logpdf(r.output) for r in there.spending))
            logs.append(logsumexp(densities))
        loss = float(logs[0] - logs[1])
        heads += bool(coins.random() < -math.expm1(min(0.0, subject.claim.epsilon - loss)))
    return heads


@pytest.mark.parametrize("other", [ZERO, ONE])
def test_against_sampled_transcripts_of_the_mechanism(other: FloatArray) -> None:
    """False alarm 2e-7 each."""
    subject = toys.subject(batched, ApproxDP(0.05, 0.5), toys.CONDITIONAL, n=6, steps=3, size=2, kind="one")
    runs = 300
    heads = sampled_heads(subject, other, runs)
    (rounds,) = scenes(subject, other, ONE, MINUS, 0)
    found = amplified_delta(rounds, 0.05)
    assert found.upper - found.lower < 1e-3
    assert binomial_lower(heads, runs, 1e-7) <= found.upper
    assert 1 - binomial_lower(runs - heads, runs, 1e-7) >= found.lower
    assert found.lower > 0.02


def test_a_claim_is_violated_where_the_law_says_so() -> None:
    pair = (np.vstack([ONE, np.zeros((6, 1))]), np.vstack([MINUS, np.zeros((6, 1))]))
    subject = toys.subject(batched, ApproxDP(0.05, 0.2), toys.CONDITIONAL, n=7, steps=3, size=2, kind="one")
    measured = check_amplified(subject, 0, [pair])
    assert not measured.exceeds
    assert check_amplified(replace(subject, claim=ApproxDP(0.05, measured.measured * 0.99)), 0, [pair]).exceeds
    unlike = (np.arange(7.0)[:, None], np.vstack([MINUS, np.arange(1.0, 7.0)[:, None]]))
    with pytest.raises(NoExactFormula, match="alike"):
        check_amplified(subject, 0, [unlike])


def test_what_the_cited_theorems_ask_for() -> None:
    def of(identifier: str, index: int) -> list[bool]:
        subject = subject_of(identifier, index, implementation=algorithm(identifier).implementation)  # type: ignore[arg-type]
        return [condition.holds for condition in amplification.conditions(subject)]

    assert of("P0.A6", 0) == [True] * 5
    assert of("P0.A6", 1) == [True, True, False, False, True]  # one noise for a batch of five, and too little for a record
    assert of("P0.A6", 2) == []  # central noise
    assert of("P0.A7", 0) == [True] * 10
    assert of("P0.B", 0) == [True] * 2
    assert of("P2.A3", 0) == [True, False, False]
    assert of("P2.A3", 1) == []


def test_findings_of_the_published_algorithms() -> None:
    for identifier, amplified in (("P0.B", True), ("P2.A3", False)):
        subject = subject_of(identifier, 0, implementation=algorithm(identifier).implementation)  # type: ignore[arg-type]
        assert subject.amplified is amplified
        conditions, claim = amplification_findings(subject, 0)
        assert conditions.status == "certified"
        assert claim.status == "consistent"
        assert claim.measured is not None
        assert claim.measured < 1e-6
    (many,) = amplification.trial_subjects("P2.A3")
    assert many.amplified
    conditions, claim = amplification_findings(many, 0)
    assert conditions.status == "inconclusive"
    assert "P2.Thm6.randomiser" in conditions.detail
    assert claim.status == "consistent"
    small = subject_of("P2.A3", 0, implementation=algorithm("P2.A3").implementation)  # type: ignore[arg-type]
    assert isinstance(small.conditional, ZCDP)
    clip = small.setting.parameters["clip"]
    ((one,),) = scenes(small, ZERO, clip * ONE, clip * MINUS, 0)
    assert (one.places, one.chance) == (40, 1 / 40)
    assert one.here - one.there == pytest.approx(math.sqrt(2 * small.conditional.rho))  # what the calibration says


@pytest.mark.parametrize(("identifier", "name"), [("P0.A6", "not shuffled"), ("P0.B", "one batch for all steps")])
def test_what_the_conditional_checks_cannot_see_is_killed(identifier: str, name: str) -> None:
    found = mutants.mutant(identifier, name)
    assert not judge_mutant(replace(found, kind="privacy"), 0, QUICK).killed
    result = judge_mutant(found, 0, QUICK)
    assert result.killed_by == ("amplified claim",)
    assert result.witness is not None  # that it violates when replayed is in test_mutants, as for all mutants
    assert not replay_witness({**result.witness, "mutant": None}).exceeds
