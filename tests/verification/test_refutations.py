"""Published claims that fail: their counterexamples are expected findings, and losing one is a failure."""

from dataclasses import replace
from typing import Any

import pytest

from tailproof.refimpl.catalogue import ALGORITHMS, algorithm
from tailproof.refimpl.channel import Channel, Release
from tailproof.refimpl.claims import ZCDP
from tailproof.verification.check import QUICK, honest_findings, subject_findings
from tailproof.verification.pair_checks import compare
from tailproof.verification.subject import subject_of, worst_pairs
from tailproof.verification.transcripts.forcing import check_all

REFUTED = [(a.id, i) for a in ALGORITHMS if a.implementation for i, s in enumerate(a.implementation.settings) if s.refuted]


def test_there_are_some_and_each_names_an_erratum() -> None:
    from tailproof.bounds.errata import errata

    known = {entry.id for entry in errata()}
    assert {"P0.A2", "P0.A3", "P0.A4", "P0.A5"} <= {identifier for identifier, _ in REFUTED}
    for identifier, index in REFUTED:
        assert algorithm(identifier).implementation.settings[index].refuted in known  # type: ignore[union-attr]


def test_a_counterexample_is_an_expected_violation_with_a_witness() -> None:
    implementation = algorithm("P0.A2").implementation
    assert implementation is not None
    found = [f for f in honest_findings(algorithm("P0.A2"), 0, QUICK) if f.status == "violated"]
    assert [f.check for f in found] == ["sensitivity"]
    assert found[0].expected
    assert not found[0].unexpected_violation
    assert "P0.Alg2.stability" in found[0].detail
    assert found[0].witness is not None
    assert found[0].measured / found[0].bound == pytest.approx(4.2135, rel=1e-3)  # type: ignore[operator]


def test_a_counterexample_that_no_longer_stands_is_a_failure() -> None:
    implementation = algorithm("P0.A2").implementation
    assert implementation is not None
    index = next(i for i, setting in enumerate(implementation.settings) if setting.refuted)
    subject = subject_of("P0.A2", index, implementation=implementation)
    few = replace(subject.setting, parameters={**subject.setting.parameters, "steps": 1})
    found = list(subject_findings(replace(subject, setting=few), 0, QUICK))
    assert found[-1].unexpected_violation
    assert "sensitivity was expected to be violated (P0.Alg2.stability), and is not" in found[-1].detail


class Generous(Channel):
    """Declares an enormous spend for every release, and gives on the same law."""

    def _record(self, declared: Release) -> Any:
        spend = declared.spend if declared.hidden else ZCDP(1000.0)
        return Channel(self._draw, self._log, self._prefix, self._rows)._record(replace(declared, spend=spend))

    def part(self, name: str, rows: Any) -> Channel:
        inner = Channel(self._draw, self._log, self._prefix, self._rows).part(name, rows)
        return Generous(inner._draw, inner._log, inner._prefix, inner._rows)


class Quiet(Generous):
    """Halves the noise, and declares what is published."""

    def _record(self, declared: Release) -> Any:
        law: Any = declared.law
        law = law if declared.hidden else replace(law, scale=law.scale / 2)
        return Channel(self._draw, self._log, self._prefix, self._rows)._record(replace(declared, law=law))

    def part(self, name: str, rows: Any) -> Channel:
        inner = Channel(self._draw, self._log, self._prefix, self._rows).part(name, rows)
        return Quiet(inner._draw, inner._log, inner._prefix, inner._rows)


RELEASING = [(identifier, index) for identifier, index in REFUTED if identifier != "P0.A2"]


@pytest.mark.parametrize(("identifier", "index"), RELEASING)
@pytest.mark.parametrize("edit", [Generous, Quiet])
def test_a_setting_that_refutes_excuses_nothing_else(identifier: str, index: int, edit: type[Generous]) -> None:
    """A spend of zCDP(1000) there is no part of the erratum, and neither is half of the noise; calibration runs."""
    implementation = algorithm(identifier).implementation
    assert implementation is not None
    subject = subject_of(identifier, index, implementation=implementation)

    def edited(data: Any, channel: Channel, **parameters: Any) -> Any:
        return subject.mechanism(data, edit(channel._draw, channel._log), **parameters)

    found = list(subject_findings(replace(subject, mechanism=edited), 0, QUICK))
    caught = {f.check for f in found if f.unexpected_violation}
    assert "calibration" in caught
    assert caught & ({"ledger", "pinned: ledger"} if edit is Generous else {"release privacy", "forced replay"})


def test_along_other_paths_a_pin_excuses_no_more_than_it_says() -> None:
    implementation = algorithm("P0.A4").implementation
    assert implementation is not None
    index = next(i for i, setting in enumerate(implementation.settings) if setting.refuted)
    subject = subject_of("P0.A4", index, implementation=implementation)
    compared = compare(subject, *worst_pairs("P0.A4", subject.setting)[0], 0)
    assert check_all(subject, compared).passes
    for pin in subject.setting.pins:
        assert pin.ratio is not None
        tighter = replace(pin, ratio=(1.0, pin.ratio[0] * 0.9))
        others = tuple(other for other in subject.setting.pins if other != pin)
        found = check_all(replace(subject, setting=replace(subject.setting, pins=(*others, tighter))), compared)
        assert found.exceeds
        assert found.detail.startswith(f"{pin.check}: ")
