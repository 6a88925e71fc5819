"""The calibration check sees a change of one part in a million, in the scale, in the spend or in the sensitivity."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.catalogue import algorithm
from tailproof.refimpl.channel import L2, Bound, Channel, LInf, Release, Smooth
from tailproof.refimpl.claims import ZCDP, ApproxDP, Claim, PureDP
from tailproof.refimpl.laws import Gaussian
from tailproof.verification.calibration import PUBLISHED, _sensitivity_difference, check_calibration
from tailproof.verification.check import calibration_finding
from tailproof.verification.subject import Subject, subject_of


class Tampered(Channel):
    """A channel that changes what an algorithm says before it is recorded."""

    def __init__(self, inner: Channel, scale: float, spend: float, reach: float) -> None:
        super().__init__(inner._draw, inner._log, inner._prefix, inner._rows)
        self._factors = scale, spend, reach

    def part(self, name: str, rows: Any) -> Channel:
        return Tampered(super().part(name, rows), *self._factors)

    def release(self, name: str, law: Any, *, sensitivity: Any, spend: Claim | None, visible: bool = True) -> Any:
        scale, spent, reach = self._factors
        fields = dict(law.__dict__)
        fields["scale"] = fields["scale"] * scale
        declared = _declared(sensitivity, reach)
        return super().release(name, type(law)(**fields), sensitivity=declared, spend=_scaled(spend, spent), visible=visible)

    def query(self, name: str, value: Any, *, sensitivity: Any) -> Any:
        return super().query(name, value, sensitivity=_declared(sensitivity, self._factors[2]))


def _declared(sensitivity: Any, factor: float) -> Any:
    if isinstance(sensitivity, Bound):
        return replace(sensitivity, value=sensitivity.value * factor)
    return replace(sensitivity, bound=sensitivity.bound * factor)


def _scaled(spend: Claim | None, factor: float) -> Claim | None:
    match spend:
        case ZCDP(rho):
            return replace(spend, rho=rho * factor)
        case PureDP(epsilon) | ApproxDP(epsilon):
            return replace(spend, epsilon=epsilon * factor)
    return spend


def tampered(subject: Subject, scale: float = 1.0, spend: float = 1.0, reach: float = 1.0) -> Subject:
    def mechanism(data: Any, channel: Channel, **parameters: Any) -> Any:
        return subject.mechanism(data, Tampered(channel, scale, spend, reach), **parameters)

    return replace(subject, mechanism=mechanism)


FIRST_KNOWN = ("P1.A1", "P1.A3")
"""Smooth bounds that the formulas know at some settings or of some releases only, and take as recorded elsewhere."""


@pytest.mark.parametrize("identifier", sorted(PUBLISHED))
def test_small_departures_are_seen(identifier: str) -> None:
    implementation = algorithm(identifier).implementation
    assert implementation is not None
    for index, setting in enumerate(implementation.settings):
        if setting.refuted is not None:
            continue  # the same formulas, at a size that takes longer
        subject = subject_of(identifier, index, implementation=implementation)
        data = np.random.default_rng(index).standard_t(2, size=(setting.n, setting.d))
        assert not check_calibration(tampered(subject), data, 3).exceeds
        for change in (1 + 1e-6, 1 - 1e-6):
            if not implementation.query:
                assert check_calibration(tampered(subject, scale=change), data, 3).exceeds
                assert check_calibration(tampered(subject, spend=change), data, 3).exceeds
            if identifier not in FIRST_KNOWN:
                assert check_calibration(tampered(subject, reach=change), data, 3).exceeds


def test_another_norm_or_rate_is_seen() -> None:
    declared = Smooth(np.array([0.3, 0.4]), 0.05)
    release = Release("mean", Gaussian(np.zeros(2), 1.0), np.zeros(2), declared, ZCDP(0.3), None, True)
    assert _sensitivity_difference(release, declared).passes
    for other in (replace(declared, norm=2), replace(declared, rate=0.051), L2(0.4), None):
        assert _sensitivity_difference(release, other).exceeds
    assert _sensitivity_difference(replace(release, sensitivity=L2(0.4)), LInf(0.4)).exceeds


def test_a_scale_that_departs_on_some_data_only_is_seen() -> None:
    implementation = algorithm("P2.A2").implementation
    assert implementation is not None
    subject = subject_of("P2.A2", 0, implementation=implementation)

    def mechanism(data: Any, channel: Channel, **parameters: Any) -> Any:
        factor = 2.0 if np.abs(data).max() < 0.1 else 1.0
        return subject.mechanism(data, Tampered(channel, factor, 1.0, 1.0), **parameters)

    assert calibration_finding(subject, 0).status == "certified"
    finding = calibration_finding(replace(subject, mechanism=mechanism), 0)
    assert finding.status == "violated"
    assert finding.witness is not None
    assert np.abs(finding.witness["data"]).max() < 0.1
