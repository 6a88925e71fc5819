"""The checks on mechanisms whose privacy is known by hand."""

import math
from contextlib import suppress

import numpy as np
import pytest

from tailproof.refimpl.channel import L2, Channel, Smooth
from tailproof.refimpl.claims import ZCDP, ApproxDP, PureDP
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.check import QUICK, privacy_findings
from tailproof.verification.composition import binomial_lower, check_composition
from tailproof.verification.divergences import NoExactFormula
from tailproof.verification.pair_checks import PAIR_CHECKS, Measurement, compare, run_pair_check, transcript_loss
from tailproof.verification.subject import Subject
from tests.verification import toys

ZERO = np.zeros((4, 1))
ONE = np.array([[1.0], [0.0], [0.0], [0.0]])
MINUS = -ONE


def check(name: str, subject: Subject, data: FloatArray, neighbour: FloatArray, seed: int) -> Measurement:
    return PAIR_CHECKS[name](subject, compare(subject, data, neighbour, seed))


def test_exact_loss_of_a_single_laplace_release() -> None:
    subject = toys.subject(toys.laplace_sum, PureDP(1.0))
    assert check("transcript", subject, ONE, MINUS, 0).measured == pytest.approx(1.0)
    assert check("transcript", subject, ONE, ZERO, 0).measured == pytest.approx(0.5)
    assert not check("transcript", subject, ONE, MINUS, 0).exceeds
    assert check("transcript", toys.subject(toys.laplace_sum, PureDP(0.99)), ONE, MINUS, 0).exceeds


def test_exact_profile_of_a_single_laplace_release() -> None:
    """δ(ε) = 1 − e^{(ε − ε₀)/2} for Laplace noise that is ε₀-DP."""
    exact = 1 - math.exp((0.5 - 1.0) / 2)
    subject = toys.subject(toys.laplace_sum, ApproxDP(0.5, exact + 1e-6))
    assert check("transcript", subject, ONE, MINUS, 0).measured == pytest.approx(exact)
    assert not check("transcript", subject, ONE, MINUS, 0).exceeds
    assert check("transcript", toys.subject(toys.laplace_sum, ApproxDP(0.5, exact - 1e-6)), ONE, MINUS, 0).exceeds


def test_sensitivity_and_release_privacy_reach_their_claims() -> None:
    subject = toys.subject(toys.laplace_sum, PureDP(1.0))
    assert check("sensitivity", subject, ONE, MINUS, 0).ratio == pytest.approx(1.0)
    assert check("release privacy", subject, ONE, MINUS, 0).ratio == pytest.approx(1.0)


@pytest.mark.parametrize(("norm", "expected"), [(math.inf, 0.8), (2.0, 1.0), (1.0, 1.4)])
def test_a_smooth_sensitivity_is_measured_in_its_own_norm(norm: float, expected: float) -> None:
    """The query moves by (3, 4) and the bound is 5 on both data sets; where it doubles, that counts by its logarithm."""

    def mechanism(data: FloatArray, channel: Channel, *, growth: float = 1.0) -> FloatArray:
        bound = np.array(5.0 * (growth if data[0, 0] else 1.0))
        place = data[0, 0] * np.array([3.0, 4.0])
        return channel.release("place", Gaussian(place, 1.0), sensitivity=Smooth(bound, 0.5, norm), spend=ZCDP(100.0))

    assert check("sensitivity", toys.subject(mechanism, ZCDP(100.0)), ONE, ZERO, 0).ratio == pytest.approx(expected)
    doubled = toys.subject(mechanism, ZCDP(100.0), growth=2.0)
    assert check("sensitivity", doubled, ONE, ZERO, 0).ratio == pytest.approx(max(expected, math.log(2) / 0.5))


def test_loss_of_two_releases_adds_up() -> None:
    """From 1 to 0 the sum moves by 1 of scale 2 and the squares by 1 of scale 1: a transcript loses at most 1.5."""
    subject = toys.subject(toys.laplace_twice, PureDP(1.5))
    losses = []
    for seed in range(200):
        _, here = subject.run(ONE, seed)
        _, there = subject.replay(ZERO, here)
        losses.append(transcript_loss(here, there))
        assert losses[-1] == pytest.approx(
            sum(a.law.logpdf(a.output) - b.law.logpdf(a.output) for a, b in zip(here, there, strict=True))
        )
    assert max(losses) <= 1.5 + 1e-12
    assert max(losses) > 1.49
    assert not any(check("transcript", subject, ONE, ZERO, seed).exceeds for seed in range(50))


def test_a_loss_above_epsilon_proves_a_violation_only_when_everything_is_visible() -> None:
    for visible in (True, False):
        subject = toys.subject(toys.laplace_twice, PureDP(1.0), visible=visible)
        found = [check("transcript", subject, ONE, ZERO, seed) for seed in range(40)]
        assert any(m.exceeds for m in found)
        assert all(m.conclusive is visible for m in found)


def test_output_that_leaves_outside_the_channel_is_caught() -> None:
    subject = toys.subject(toys.leaks_outside, ZCDP(0.5))
    assert check("closed", subject, ONE, ZERO, 0).exceeds
    assert not check("closed", subject, ONE, np.where(ONE == 0, -1.0, ONE), 0).exceeds  # the maximum is the same


def test_course_that_depends_on_the_data_is_caught_by_every_check() -> None:
    subject = toys.subject(toys.branches_on_data, ZCDP(0.5))
    for name in PAIR_CHECKS:
        assert run_pair_check(name, subject, (ONE, MINUS), 0).exceeds
        with suppress(NoExactFormula):
            assert not run_pair_check(name, subject, (ONE, 2 * ONE), 0).exceeds


def refuses_negative_data(data: FloatArray, channel: Channel) -> FloatArray:
    if data.min() < 0:
        raise ValueError("negative")
    return channel.release("nothing", Gaussian(np.zeros(1), 1.0), sensitivity=L2(1.0), spend=ZCDP(0.5))


def test_raising_on_legal_data_is_caught_by_every_check() -> None:
    subject = toys.subject(refuses_negative_data, ZCDP(0.5))
    for name in PAIR_CHECKS:
        assert "raises on legal data" in run_pair_check(name, subject, (ONE, MINUS), 0).detail
        with suppress(NoExactFormula):
            assert not run_pair_check(name, subject, (ONE, 2 * ONE), 0).exceeds


def test_release_that_touches_records_it_does_not_name_is_caught() -> None:
    subject = toys.subject(toys.touches_other_rows, ZCDP(0.5))
    last = np.array([[0.0], [0.0], [0.0], [1.0]])
    assert check("closed", subject, ZERO, last, 0).exceeds
    assert not check("closed", subject, ZERO, ONE, 0).exceeds


def test_ledger_composes_what_touches_a_record() -> None:
    subject = toys.subject(toys.laplace_twice, PureDP(2.0), claimed=1.0)
    assert check("ledger", subject, ZERO, ONE, 0).measured == pytest.approx(2.0)
    assert check("ledger", toys.subject(toys.laplace_twice, PureDP(1.9), claimed=1.0), ZERO, ONE, 0).exceeds
    shuffled = toys.subject(toys.shuffled_sum, toys.CONDITIONAL)
    assert check("ledger", shuffled, ZERO, ONE, 0).measured == pytest.approx(0.5)  # parallel: one release per record


def test_amplified_claims_are_never_certified_by_the_conditional_loss() -> None:
    subject = toys.subject(toys.shuffled_sum, toys.AMPLIFIED, toys.CONDITIONAL)
    assert subject.amplified
    assert subject.checked_claim == toys.CONDITIONAL
    measured = check("transcript", subject, ONE, MINUS, 0)
    assert measured.bound == toys.CONDITIONAL.rho
    assert measured.ratio == pytest.approx(1.0)
    assert not measured.conclusive
    weaker = toys.subject(toys.shuffled_sum, ApproxDP(30.0, 1e-3), toys.CONDITIONAL)
    assert not weaker.amplified


def test_amplified_claims_are_checked_over_the_hidden_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("check", "amplification"):
        monkeypatch.setattr(f"tailproof.verification.{module}.worst_pairs", lambda *_: [(ONE, MINUS)])
    subject = toys.subject(toys.shuffled_sum, toys.AMPLIFIED, toys.CONDITIONAL)
    findings = {f.check: f for f in privacy_findings(subject, 0, QUICK)}
    assert findings["amplified claim"].status == "violated"  # four records hide little
    assert findings["sensitivity"].status == "consistent"
    assert "zcdp(rho=0.5)" in findings["ledger"].detail


def test_binomial_lower_bound_is_exact() -> None:
    """P(Bin(n, lower) ≥ k) = error."""
    from scipy.stats import binom

    for k, n, error in ((1, 10, 1e-3), (7, 10, 1e-9), (10, 10, 0.05), (300, 1000, 1e-6)):
        assert binom.sf(k - 1, n, binomial_lower(k, n, error)) == pytest.approx(error, rel=1e-6)
    assert binomial_lower(0, 10, 0.1) == 0


def test_composition_detects_a_gross_violation_and_passes_the_truth() -> None:
    """laplace_twice is 1.5-DP on this pair; false alarm 1e-9 per check."""
    honest = toys.subject(toys.laplace_twice, ApproxDP(1.5, 1e-3))
    assert not check_composition(honest, ONE, ZERO, 0, runs=300).exceeds
    wrong = toys.subject(toys.laplace_twice, ApproxDP(0.1, 1e-2))
    assert check_composition(wrong, ONE, ZERO, 0, runs=2000).exceeds
