"""The audit of outputs: on Gaussians whose ε is known, honest and not."""

from dataclasses import replace

import numpy as np
import pytest

from refimpl.catalogue import ALGORITHMS, algorithm
from refimpl.channel import L2, Channel
from refimpl.claims import ZCDP, ApproxDP, gaussian_epsilon, zcdp_epsilon
from refimpl.laws import Gaussian
from refimpl.validation import FloatArray
from tests.verification import toys
from verification import marginal
from verification.check import QUICK, output_finding
from verification.marginal import AUDITED, audited, check_output
from verification.witness import replay_witness, witness_of

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


def test_the_false_alarm_at_equality() -> None:
    """With δ = 0 and an error of a tenth for the whole check, at most a tenth of checks exceed the largest ε of these events.

    Two data sets with the same law: ε = 0, so every positive bound is a false alarm; 200 checks have more than 48 with
    probability below 1e-7.
    """
    subject = toys.subject(noisy_sum, ApproxDP(1e-9, 1e-9), n=2, d=3, scale=1.0)
    alarms = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginal, "FALSE_ALARM", 0.1)
        for seed in range(200):
            alarms += check_output(subject, (DATA, DATA), 1000 * seed, runs=40).exceeds
    assert alarms <= 48


def test_what_chooses_the_event_does_not_judge_it(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen_on: list[FloatArray] = []
    judged_on: list[FloatArray] = []

    class Recorder:
        def count(self, outputs: FloatArray) -> int:
            judged_on.append(outputs)
            return 1

    def best_event(p: FloatArray, q: FloatArray, _: float) -> Recorder:
        chosen_on.extend([p, q])
        return Recorder()

    monkeypatch.setattr(marginal, "_best_event", best_event)
    check_output(toys.subject(noisy_sum, ApproxDP(0.3, 1e-3), n=2, d=3, scale=1.0), PAIR, 0, runs=20)
    first, second = ({tuple(row) for outputs in both for row in outputs} for both in (chosen_on, judged_on))
    assert len(first) == len(second) == 20  # half of the runs on both data sets
    assert not first & second


def test_claims_in_zcdp_are_read_at_a_fixed_delta() -> None:
    assert marginal.claimed(ZCDP(0.5)) == (zcdp_epsilon(0.5, 1e-3), 1e-3)
    assert marginal.claimed(ApproxDP(0.2, 1e-6)) == (0.2, 1e-6)


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
    monkeypatch.setattr("verification.witness.algorithm", lambda _: replace(algorithm("P2.A1"), implementation=broken))
    assert replay_witness(witness).measured == found.measured
