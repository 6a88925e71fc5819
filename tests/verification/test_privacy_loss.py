"""Histograms of privacy losses: they add up, mark what they should, and agree with the exact divergences."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tailproof.refimpl.catalogue import algorithm
from tailproof.refimpl.claims import GDP, ZCDP, ApproxDP, PureDP
from tailproof.refimpl.laws import LLN, Finite, Gaussian, L2Laplace, Laplace
from tailproof.verification import divergences
from tailproof.verification.check import QUICK, honest_findings, judge_mutant
from tailproof.verification.mutants import mutant
from tailproof.verification.privacy_loss import BINS, DRAWS, SLOW_DRAWS, drawn_losses, histogram, losses_on
from tailproof.verification.subject import subject_of, worst_pairs


def test_shares_add_up_and_beyond_is_what_exceeds_epsilon() -> None:
    losses = np.array([-1.0, 0.0, 0.5, 2.0, math.inf])
    found = histogram(losses, ApproxDP(1.0, 1e-3), of="x", draws=5)
    assert found is not None
    assert sum(found.shares) + found.infinite == pytest.approx(1.0)
    assert len(found.shares) == 5  # few draws, few bins
    many = histogram(np.arange(1000.0), PureDP(1.0), of="x", draws=1000)
    assert many is not None
    assert len(many.shares) == BINS <= 40
    assert (found.beyond, found.infinite, found.low, found.high) == (pytest.approx(0.4), pytest.approx(0.2), -1.0, 2.0)
    assert (found.mean, found.spread) == (pytest.approx(0.375), pytest.approx(float(np.std(losses[:4]))))
    assert (found.epsilon, found.delta, found.rho, found.mu) == (1.0, 1e-3, None, None)
    assert histogram(np.array([math.inf]), PureDP(1.0), of="x", draws=1) is None


def test_losses_that_are_all_alike_have_a_bin() -> None:
    found = histogram(np.full(7, 0.25), PureDP(0.25), of="x", draws=7)
    assert found is not None
    assert sum(found.shares) == pytest.approx(1.0)
    assert found.low < 0.25 < found.high
    assert found.beyond == 0.0  # at ε is not beyond it
    assert histogram(np.array([0.1]), ZCDP(0.5), of="x", draws=1).rho == 0.5  # type: ignore[union-attr]
    assert histogram(np.array([0.1]), GDP(0.5), of="x", draws=1).mu == 0.5  # type: ignore[union-attr]


LAWS = [
    (Gaussian([0.0, 1.0], 1.0), Gaussian([0.3, 1.0], 1.0)),
    (Gaussian([0.0, 1.0], [1.0, 2.0]), Gaussian([0.3, 1.0], [1.5, 2.0])),
    (Laplace([0.0, 1.0], 1.0), Laplace([0.3, 1.0], 1.2)),
    (LLN([0.0], 1.0, 0.5), LLN([0.3], 1.1, 0.5)),
    (L2Laplace([0.0, 0.0], 1.0), L2Laplace([0.3, 0.0], 1.0)),
]


@pytest.mark.parametrize(("p", "q"), LAWS, ids=lambda law: type(law).__name__)
def test_drawn_losses_are_those_of_the_densities(p: Gaussian, q: Gaussian) -> None:
    losses = drawn_losses(p, q, np.random.default_rng(3))
    assert len(losses) == (SLOW_DRAWS if isinstance(p, L2Laplace) else DRAWS)
    rng = np.random.default_rng(3)
    values = [p.sample(rng) for _ in range(20)]
    assert losses[:20] == pytest.approx([p.logpdf(v) - q.logpdf(v) for v in values], abs=1e-9)


def test_gaussian_losses_have_the_law_that_is_drawn_beside_them() -> None:
    """Mean ρ, variance 2ρ: six standard errors of 2000 normal draws are exceeded with probability below 1e-8."""
    shift = 1.2
    losses = drawn_losses(Gaussian([0.0], 1.0), Gaussian([shift], 1.0), np.random.default_rng(0))
    rho = divergences.zcdp(Gaussian([0.0], 1.0), Gaussian([shift], 1.0))
    assert float(losses.mean()) == pytest.approx(rho, abs=6 * math.sqrt(2 * rho / DRAWS))
    assert float(losses.var()) == pytest.approx(2 * rho, rel=6 * math.sqrt(2 / DRAWS))


def test_an_enumerated_release_has_exact_shares() -> None:
    entry = algorithm("P4.A5").implementation
    assert entry is not None
    subject = subject_of("P4.A5", 0, implementation=entry)
    found = losses_on(subject, worst_pairs("P4.A5", subject.setting)[0], 1)
    assert found is not None
    assert found.draws is None
    assert sum(found.shares) == pytest.approx(1.0, abs=1e-4)
    assert found.largest <= found.epsilon  # type: ignore[operator]
    assert Finite([0.0, 1.0]).log_probabilities().size == 2


def test_findings_carry_a_histogram_that_is_small_and_the_same_every_time() -> None:
    first, second = (list(honest_findings(algorithm("P2.A2"), 0, QUICK)) for _ in range(2))
    assert json.dumps([f.to_json() for f in first]) == json.dumps([f.to_json() for f in second])
    with_losses = [f for f in first if f.losses]
    assert [f.check for f in with_losses] == ["transcript"]
    assert len(json.dumps(with_losses[0].losses)) < 1500
    assert with_losses[0].losses is not None
    assert with_losses[0].losses["rho"] == with_losses[0].bound
    killed = judge_mutant(mutant("P2.A2", "noise halved"), 0)
    assert killed.killed
