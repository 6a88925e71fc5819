"""Nothing passes unchecked: what must speak, what a missing check does, NaNs, pins, and the matrix without an empty cell."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailproof.bounds.errata import errata
from tailproof.refimpl.catalogue import ALGORITHMS, Pin, algorithm
from tailproof.refimpl.claims import PureDP
from tailproof.verification import amplification, check, matrix, pair_checks, statements, utility, verify
from tailproof.verification.check import QUICK, _missing, implemented, subject_findings
from tailproof.verification.cli import main
from tailproof.verification.composition import check_composition
from tailproof.verification.expected import CHECKS, OF_ROWS, applying, expected_checks, expected_of_row
from tailproof.verification.pair_checks import PAIR_CHECKS, Measurement, either_way
from tailproof.verification.report import PASSING, Finding
from tailproof.verification.subject import Subject, subject_of, worst_pairs
from tests.verification.small_report import small_report

Capture = pytest.CaptureFixture[str]
FEW = replace(QUICK, restarts=1, steps=2, transcripts=20, forced=8, rows=8)


def the_subject(identifier: str, index: int) -> Subject:
    implementation = algorithm(identifier).implementation
    assert implementation is not None
    return subject_of(identifier, index, implementation=implementation)


SUBJECTS = [
    the_subject(entry.id, index)
    for entry in implemented()
    if entry.implementation is not None
    for index in range(len(entry.implementation.settings))
]
NAMES = [f"{subject.algorithm}-{subject.setting_index}" for subject in SUBJECTS]
PINNED = [(subject.algorithm, subject.setting_index, pin) for subject in SUBJECTS for pin in subject.setting.pins]


# --- what must speak -------------------------------------------------------------------------------------------------------


def test_the_table_has_every_check_and_nothing_else() -> None:
    assert set(PAIR_CHECKS) <= set(CHECKS)
    assert len(set(CHECKS)) == len(CHECKS)
    for subject in SUBJECTS:
        assert [*expected_checks(subject), *OF_ROWS] == list(CHECKS)
    for entry in implemented():
        assert tuple(expected_of_row(entry)) == OF_ROWS


@pytest.mark.parametrize(
    ("identifier", "index"),
    [("P0.A1", 0), ("P0.B", 0), ("P1.A3", 1), ("P2.A1", 3), ("P2.A2", 0), ("P3.A2", 2), ("P3.A6", 0), ("P4.S2", 0)],
)
def test_exactly_the_expected_checks_speak(identifier: str, index: int) -> None:
    """A query, random batches, smooth bounds, groups, one release, a refuted claim, none, and a perturbed minimiser."""
    subject = the_subject(identifier, index)
    spoke = {finding.check for finding in subject_findings(subject, 0, FEW)}
    assert {name.removeprefix("pinned: ") for name in spoke} == applying(expected_checks(subject))


def test_a_check_that_says_nothing_fails_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever it is: its generator yields nothing."""
    subject = the_subject("P2.A1", 3)
    asked = applying(expected_checks(subject))
    assert {"composition", "amplified claim", "published query", "calibration", "state"} <= asked
    whole = list(subject_findings(subject, 0, FEW))
    assert [f.check for f in whole if f.status not in PASSING] == []
    for name in sorted(asked - {"calibration", "published query"}):
        rest = [f for f in whole if f.check not in (name, "calibration", "published query")]
        monkeypatch.setattr(check, "privacy_findings", lambda *_, rest=rest: iter(rest))
        (missing,) = [f for f in subject_findings(subject, 0, FEW) if f.status not in PASSING]
        assert (missing.check, missing.status, missing.expected) == (name, "skipped", False)
        assert missing.detail.startswith(f"missing: {name}")
    monkeypatch.setattr(check, "plain_algorithms", dict)
    monkeypatch.setattr(check, "PUBLISHED", {})
    assert {"calibration", "published query"} <= {
        f.check for f in subject_findings(subject, 0, FEW) if f.status == "skipped"
    }


def test_an_edit_that_loses_releases_loses_no_check() -> None:
    subject = the_subject("P3.A2", 0)
    once = replace(subject, mechanism=lambda data, *_, **__: np.zeros(data.shape[1]))
    failed = {f.check: f.status for f in subject_findings(once, 0, FEW) if f.status not in PASSING}
    assert failed["composition"] == "skipped"
    assert failed["calibration"] == failed["published query"] == "violated"


def test_amplified_claims_speak_at_their_own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "amplification_findings", lambda *_: iter(()))
    lost = [f for f in check._further_amplification("P0.B", 0) if f.status == "skipped"]
    assert {f.check for f in lost} == {"amplified claim", "amplification conditions"}
    assert {f.setting for f in lost} == {str(setting) for setting in amplification.TRIALS["P0.B"]}


# --- pins ------------------------------------------------------------------------------------------------------------------


def test_every_pin_is_of_a_check_that_speaks_once_with_a_reason_and_a_size() -> None:
    known = {erratum.id for erratum in errata()}
    for subject in SUBJECTS:
        pins = subject.setting.pins
        assert len({pin.check for pin in pins}) == len(pins)
        assert {pin.check for pin in pins} <= applying(expected_checks(subject))
        assert bool(subject.setting.refuted) == any(pin.status == "violated" for pin in pins)
    assert PINNED
    for _, __, pin in PINNED:
        assert pin.reason
        assert pin.status != "violated" or pin.erratum in known
        assert pin.ratio is not None or pin.check == "amplification conditions"  # which measures nothing


@pytest.mark.parametrize("status", ["inconclusive", "skipped", "violated"])
def test_only_a_pin_of_this_status_and_size_excuses(status: Any) -> None:
    subject = the_subject("P2.A2", 0)
    found = Finding("P2.A2", "ledger", status, 3.0, 1.0)

    def expected(*pins: Pin) -> list[bool]:
        setting = replace(subject.setting, pins=pins)
        return [f.expected for f in check.pinned(replace(subject, setting=setting), [found])]

    assert expected() == [False]
    assert expected(Pin("ledger", status, "why", ratio=(2.9, 3.1))) == [True]
    assert expected(Pin("ledger", status, "why", ratio=(2.0, 2.9))) == [False, False]  # and the pin was not met
    other = "violated" if status != "violated" else "inconclusive"
    assert expected(Pin("ledger", other, "why", ratio=(2.9, 3.1))) == [False, False]
    assert not Pin("ledger", status, "why", ratio=(0.0, math.inf)).covers(math.nan, 1.0)


# --- NaN ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measured", "bound"), [(math.nan, 1.0), (0.5, math.nan), (math.inf, math.inf), (0.5, math.inf), (2.0, 1.0)]
)
def test_what_is_no_number_exceeds_every_bound(measured: float, bound: float) -> None:
    found = Measurement(measured, bound)
    assert found.exceeds
    assert check._status(found) == "violated"
    assert not Measurement(1.0, 1.0).exceeds


def test_a_nan_of_either_direction_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for values in ((math.nan, 1.0), (1.0, math.nan)):
        left = iter(values)
        monkeypatch.setattr(pair_checks, "measured_privacy", lambda *_, left=left: next(left))
        assert math.isnan(either_way(None, None, PureDP(1.0)))


def test_a_loss_that_is_no_number_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = the_subject("P2.A1", 0)
    monkeypatch.setattr("tailproof.verification.composition.transcript_loss", lambda *_: math.nan)
    assert check_composition(subject, *worst_pairs("P2.A1", subject.setting)[0], 0, runs=20).exceeds


def test_an_error_that_is_no_number_is_beyond_its_bound() -> None:
    def broken(data: Any, channel: Any, **_: Any) -> Any:  # noqa: ARG001
        return np.full(data.shape[1], math.nan)

    assert utility.check_utility("P2.A2", broken, 0, runs=100).exceeds


@pytest.mark.parametrize("cases", [[], [({}, math.nan, 1.0)], [({}, 0.1, 1.0), ({}, 0.5, math.nan)]])
def test_a_statement_without_cases_or_with_a_nan_does_not_hold(cases: list[Any]) -> None:
    assert not statements.run(statements.Trial("X", "printed", "made up", lambda: iter(cases))).holds
    assert statements.run(statements.Trial("X", "printed", "made up", lambda: iter([({}, 0.5, 1.0)]))).holds


# --- the matrix --------------------------------------------------------------------------------------------------------------


def cells(found: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["algorithm"], cell["check"]): cell for row in found["rows"] for cell in row["cells"]}


def everything_passes() -> list[dict[str, Any]]:
    """A finding for every (row, setting, check) that is expected."""
    found = []
    for entry in implemented():
        for place, expected in matrix._places(entry):
            found += [Finding(entry.id, name, "consistent", setting=place).to_json() for name in applying(expected)]
    return found


def test_the_matrix_has_no_empty_cell_and_says_why_a_check_does_not_apply() -> None:
    findings = everything_passes()
    found = matrix.matrix(findings, implemented())
    table = cells(found)
    assert len(table) == len(implemented()) * len(CHECKS)
    assert {cell["status"] for cell in table.values()} == {"consistent", matrix.ABSENT}
    assert all(cell["says"] for cell in table.values() if cell["status"] == matrix.ABSENT)
    assert table["P0.A3", "transcript"]["settings"] == len(algorithm("P0.A3").implementation.settings)  # type: ignore[union-attr]
    assert matrix.failures(found, findings) == []
    assert json.loads(json.dumps(found)) == found


def test_settings_of_a_row_are_told_apart_by_what_findings_say() -> None:
    for entry in implemented():
        places = [place for place, _ in matrix._places(entry)]
        assert len(set(places)) == len(places)


def test_one_lost_finding_of_one_setting_fails() -> None:
    findings = everything_passes()
    rng = np.random.default_rng()
    for at in rng.choice(len(findings), size=20, replace=False):
        lost = findings[at]
        rest = [f for i, f in enumerate(findings) if i != at]
        found = matrix.matrix(rest, implemented())
        assert cells(found)[lost["algorithm"], lost["check"]]["status"] == matrix.MISSING
        (line,) = matrix.failures(found, rest)
        assert line.startswith(f"{lost['algorithm']}: missing: {lost['check']}")


def test_a_check_that_no_table_knows_fails() -> None:
    findings = [*everything_passes(), Finding("P2.A2", "horoscope", "consistent").to_json()]
    assert matrix.failures(matrix.matrix(findings, implemented()), findings) == [
        "horoscope: no table says where this check applies"
    ]


def test_a_cell_shows_what_is_unexpected_before_what_is_worse_and_expected() -> None:
    pin = Finding("P2.A2", "ledger", "violated", setting="x", expected=True, reason="known").to_json()
    open_ = Finding("P2.A2", "ledger", "inconclusive", setting="x", detail="no formula").to_json()
    fine = Finding("P2.A2", "ledger", "certified", setting="x").to_json()
    places = [("x", {"ledger": ""})]
    assert matrix._cell("ledger", places, [fine, pin, open_])["says"] == "no formula"
    known = matrix._cell("ledger", places, [fine, pin])
    assert (known["status"], known["expected"], known["says"]) == ("violated", True, "known")
    assert matrix._cell("ledger", places, [fine])["status"] == "certified"


def test_every_cell_of_a_real_report_that_does_not_pass_has_a_reason() -> None:
    table = cells(small_report()["matrix"])
    assert {"consistent", "certified", "violated", matrix.ABSENT} <= {c["status"] for c in table.values()}
    for cell in table.values():
        assert cell["status"] in PASSING or cell["says"]
    assert table["P3.A2", "composition"]["says"] == "P3.Alg2.batch"


# --- how the command ends ------------------------------------------------------------------------------------------------------


def test_all_rows_are_asked() -> None:
    assert {entry.id for entry in implemented()} == {entry.id for entry in ALGORITHMS if entry.implementation}


@pytest.mark.parametrize(("status", "code"), [("consistent", 0), ("inconclusive", 3), ("skipped", 3), ("violated", 1)])
def test_the_exit_code_says_refuted_or_undecided(
    status: Any, code: int, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailproof.verification.mutants.MUTANTS", ())

    def answered(subject: Subject, seed: int) -> Finding:
        return Finding(subject.algorithm, "calibration", status, seed=seed, detail="said so", setting=str(subject.setting))

    monkeypatch.setattr(check, "calibration_finding", answered)
    assert main(["verify", "--only", "P2.A2", "--jobs", "1", "--report", str(tmp_path)]) == code
    shown = capsys.readouterr().out
    assert (f"P2.A2: calibration {status}: said so" in shown) is (code != 0)
    assert ("Nothing unexpected." in shown) is (code == 0)


def test_a_part_that_is_lost_fails_the_command(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one finding, but the task itself."""
    monkeypatch.setattr("tailproof.verification.mutants.MUTANTS", ())
    monkeypatch.setattr(verify, "parts_of", lambda entry: [p for p in check.parts_of(entry) if p != "utility"])
    assert main(["verify", "--only", "P2.A2", "--jobs", "1", "--report", str(tmp_path)]) == 1
    assert "P2.A2: missing: utility: nothing was checked at no one setting" in capsys.readouterr().out


def test_missing_findings_fail_as_such() -> None:
    subject = the_subject("P2.A2", 0)
    (missing,) = _missing(subject, {"state"}, [])
    lines = verify._failures([missing.to_json()], [], [], [])
    assert lines == ["P2.A2: state skipped: missing: state: nothing was checked"]
