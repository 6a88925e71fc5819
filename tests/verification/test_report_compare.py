"""What changed between two reports: every kind of change is found, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tailproof.refimpl.validation import InputError
from tailproof.verification.cli import main
from tailproof.verification.report_compare import PARTS, compare, describe, read
from tests.verification.small_report import small_report

Capture = pytest.CaptureFixture[str]
Json = dict[str, Any]


def test_a_report_is_the_same_as_itself_in_any_order_and_up_to_rounding() -> None:
    old, new = small_report(), small_report()
    for name in ("findings", "mutants", "errata", "comparisons", "published_claims"):
        new[name] = sorted(new[name], key=lambda entry: json.dumps(entry, sort_keys=True))
    compared = compare(old, old)
    assert compared.same
    assert describe(compared) == "Nothing changed."
    for finding in new["findings"]:
        if isinstance(finding["measured"], float):
            finding["measured"] *= 1 + 1e-12
        finding["detail"] += " in other words"
    found = compare(old, new)
    twice = {"composition"}  # two directions at one setting: told apart by their order alone
    assert {change.id.split(", ")[1] for change in found.changes} <= twice


def _status(report: Json) -> None:
    report["findings"][0] |= {"status": "violated", "measured": 7.25}


def _verdict(report: Json) -> None:
    report["published_claims"][0]["verdict"] = "not decidable here"


def _bug(report: Json) -> None:
    report["mutants"][1]["killed_by"] = []


def _erratum(report: Json) -> None:
    report["errata"][0]["stands"] = False


def _severity(report: Json) -> None:
    report["errata"][0]["severity"] = "serious"


def _comparison(report: Json) -> None:
    report["comparisons"][0]["holds"] = None


def _statement(report: Json) -> None:
    report["statements"][0]["measured"] = 3.5


def _library(report: Json) -> None:
    report["libraries"]["results"][0] |= {"verdict": "inconclusive"}


def _sweep(report: Json) -> None:
    report["sweeps"][0]["verdict"] = "grows"


def _pair(report: Json) -> None:
    report["sandwich"][0]["verdict"] = "violated"


CHANGED: list[tuple[str, Callable[[Json], None], str]] = [
    ("findings", _status, "→ violated, measured"),
    ("published_claims", _verdict, "→ not decidable here"),
    ("mutants", _bug, "→ none"),
    ("errata", _erratum, "stands True → False"),
    ("errata", _severity, "severity – → serious"),
    ("comparisons", _comparison, "→ –"),
    ("statements", _statement, "→ 3.5"),
    ("libraries", _library, "→ inconclusive"),
    ("sweeps", _sweep, "falls → grows"),
    ("sandwich", _pair, "consistent → violated"),
]


@pytest.mark.parametrize(("part", "change", "said"), CHANGED, ids=[change.__name__ for _, change, _ in CHANGED])
def test_a_changed_entry_is_named_with_both_values(part: str, change: Callable[[Json], None], said: str) -> None:
    new = small_report()
    change(new)
    found = compare(small_report(), new)
    assert [(one.part, one.change) for one in found.changes] == [(part, "changed")]
    text = describe(found)
    assert text.startswith("1 change.")
    assert said in text
    assert json.loads(json.dumps(found.to_json()))["same"] is False
    back = compare(new, small_report()).changes[0]
    assert (back.old, back.new) == (found.changes[0].new, found.changes[0].old)


@pytest.mark.parametrize("part", [part for part in PARTS if part.name != "failures"], ids=lambda part: part.name)
def test_an_entry_that_is_lost_or_new_is_named(part: Any) -> None:
    old, new = small_report(), small_report()
    removed = part.entries(new).pop()
    (lost,), (added,) = compare(old, new).changes, compare(new, old).changes
    assert (lost.part, lost.change, lost.new) == (part.name, "lost", None)
    assert (added.part, added.change, added.old) == (part.name, "new", None)
    assert all(str(removed[key]) in lost.id for key in part.keys)


def test_failures_and_how_they_were_made() -> None:
    old = small_report()
    new = small_report() | {"failures": ["P2.A2: x"], "seed": 3, "versions": {"tailproof": "1", "numpy": "2"}}
    found = compare(old, new)
    assert [(one.part, one.change, one.id) for one in found.changes] == [("failures", "new", "P2.A2: x")]
    assert found.about == {"seed": (0, 3), "tailproof": ("0", "1")}
    only_made = compare(old, old | {"seed": 3})
    assert only_made.same
    assert describe(only_made) == "Nothing changed.\nseed: 0 → 3"


def test_the_command(tmp_path: Path, capsys: Capture) -> None:
    new = small_report()
    _status(new)
    for name, report in (("old", small_report()), ("new", new)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps(report))
    old, changed = str(tmp_path / "old"), str(tmp_path / "new" / "report.json")
    assert main(["report", "--compare", old, old]) == 0
    assert capsys.readouterr().out.strip() == "Nothing changed."
    assert main(["report", "--compare", old, changed, "--json", "-"]) == 1
    written = json.loads(capsys.readouterr().out)
    assert [change["part"] for change in written["changes"]] == ["findings"]
    for arguments, said in (
        ([], "DIR is missing"),
        (["x", "--compare", old, old], "DIR = 'x'"),
        (["--compare", old, str(tmp_path / "none")], "--compare NEW = "),
    ):
        assert main(["report", *arguments]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"findings": 3}', "\ufffe"])
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "report.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="OLD = "):
        read(file, "OLD")
    with pytest.raises(InputError, match="damaged"):
        compare({"findings": [{}]}, {"findings": []})
