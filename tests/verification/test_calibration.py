"""The calibration check sees a change of one part in a million, in the scale or in the spend."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.catalogue import algorithm
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ZCDP, ApproxDP, Claim, PureDP
from tailproof.verification.calibration import PUBLISHED, check_calibration
from tailproof.verification.subject import Subject, subject_of


class Tampered(Channel):
    """A channel that changes what an algorithm says before it is recorded."""

    def __init__(self, inner: Channel, scale: float, spend: float) -> None:
        super().__init__(inner._draw, inner._log, inner._prefix, inner._rows)
        self._factor, self._spend_factor = scale, spend

    def part(self, name: str, rows: Any) -> Channel:
        return Tampered(super().part(name, rows), self._factor, self._spend_factor)

    def release(self, name: str, law: Any, *, sensitivity: Any, spend: Claim | None, visible: bool = True) -> Any:
        fields = dict(law.__dict__)
        fields["scale"] = fields["scale"] * self._factor
        return super().release(
            name, type(law)(**fields), sensitivity=sensitivity, spend=_scaled(spend, self._spend_factor), visible=visible
        )


def _scaled(spend: Claim | None, factor: float) -> Claim | None:
    match spend:
        case ZCDP(rho):
            return replace(spend, rho=rho * factor)
        case PureDP(epsilon) | ApproxDP(epsilon):
            return replace(spend, epsilon=epsilon * factor)
    return spend


def tampered(subject: Subject, scale: float, spend: float) -> Subject:
    def mechanism(data: Any, channel: Channel, **parameters: Any) -> Any:
        return subject.mechanism(data, Tampered(channel, scale, spend), **parameters)

    return replace(subject, mechanism=mechanism)


@pytest.mark.parametrize("identifier", sorted(PUBLISHED))
def test_small_departures_are_seen(identifier: str) -> None:
    implementation = algorithm(identifier).implementation
    assert implementation is not None
    for index, setting in enumerate(implementation.settings):
        if setting.refuted is not None:
            continue  # the same formulas, at a size that takes longer
        subject = subject_of(identifier, index, implementation=implementation)
        data = np.random.default_rng(index).standard_t(2, size=(setting.n, setting.d))
        assert not check_calibration(tampered(subject, 1.0, 1.0), data, 3).exceeds
        for scale, spend in ((1 + 1e-6, 1.0), (1 - 1e-6, 1.0), (1.0, 1 + 1e-6), (1.0, 1 - 1e-6)):
            assert check_calibration(tampered(subject, scale, spend), data, 3).exceeds
