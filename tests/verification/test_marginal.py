"""The audit of outputs: on Gaussians whose ε is known, honest and not."""

from dataclasses import replace

import numpy as np
import pytest

from tailproof.refimpl.catalogue import ALGORITHMS, algorithm
from tailproof.refimpl.channel import L2, Channel
from tailproof.refimpl.claims import ZCDP, ApproxDP, gaussian_epsilon
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import marginal
from tailproof.verification.check import QUICK, output_finding
from tailproof.verification.marginal import AUDITED, audited, check_output
from tailproof.verification.witness import replay_witness, witness_of
from tests.verification import toys

DATA = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
PAIR = (DATA, -DATA)


def noisy_sum(data: FloatArray, channel: Channel, *, scale: float) -> FloatArray:
    """Each coordinate has a spread of its own, and only the first one depends on the changed record: the shift is 2/scale."""
    spread = np.array([scale, 10.0, 100.0])
    return channel.release("sum", Gaussian(data.sum(axis=0), spread), sensitivity=L2(2.0), spend=ZCDP(2 / scale**2))


@pytest.mark.parametrize("shift", [0.5, 2.0, 6.0])
def test_the_bound_is_below_the_true_epsilon_and_grows_with_it(shift: float) -> None:
    """False alarm 1e-7."""
    subject = toys.subject(noisy_sum, ApproxDP(0.3, 1e-3), n=2, d=3, scale=2 / shift)
    found = check_output(subject, PAIR, 0, runs=1000)
    assert found.measured <= gaussian_epsilon(shift, 1e-3)
    assert found.measured >= {0.5: 0.0, 2.0: 0.8, 6.0: 2.8}[shift]
    assert found.exceeds is (shift > 1)


def test_claims_in_zcdp_are_bounded_as_such() -> None:
    """ρ of a shift of 2 is 2; false alarm 1e-7."""
    subject = toys.subject(noisy_sum, ZCDP(0.02), n=2, d=3, scale=1.0)
    assert 0.02 < check_output(subject, PAIR, 0, runs=1000).measured <= 2


def test_every_optimiser_with_a_claim_is_audited() -> None:
    helpers = {"P0.A1", "P0.A2", "P1.A3.mean", "P1.A4.mean", "P2.A2", "P2.A3", "P3.A1", "P3.A3", "P3.A4", "P3.A6"}
    assert set(AUDITED) == {a.id for a in ALGORITHMS if a.paper in ("P0", "P1", "P2", "P3")} - helpers
    for identifier in AUDITED:
        subject, _ = audited(identifier)
        assert subject.claim is not None
        assert subject.setting.refuted is None


def test_a_planted_violation_is_found_and_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    def bare(data: FloatArray, channel: Channel, **_: object) -> FloatArray:
        return channel.release("point", Gaussian(data[0], 1e-3), sensitivity=L2(1.0), spend=ZCDP(1e-3))

    honest = output_finding("P2.A1", 0, QUICK)
    assert honest.status == "consistent"
    assert honest.confidence == 1 - marginal.FALSE_ALARM
    subject, pair = audited("P2.A1", mechanism=bare)
    found = check_output(subject, pair, 0, runs=200)
    assert found.exceeds
    witness = witness_of(subject, "final iterate", 0, pair=pair, runs=200)
    implementation = algorithm("P2.A1").implementation
    assert implementation is not None
    assert not replay_witness(witness).exceeds
    broken = replace(implementation, function="bare")
    monkeypatch.setattr(implementation.module, "bare", bare, raising=False)
    monkeypatch.setattr(
        "tailproof.verification.witness.algorithm", lambda _: replace(algorithm("P2.A1"), implementation=broken)
    )
    assert replay_witness(witness).measured == found.measured
