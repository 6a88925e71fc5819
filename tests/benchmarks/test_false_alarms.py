"""The false-alarm study counts every status that nothing expects, and goes on where it was stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks import false_alarms
from tests.verification.attacks import honest

from tailproof.verification.check import implemented
from tailproof.verification.report import Finding

Capture = pytest.CaptureFixture[str]


def test_every_row_and_every_twin_is_run() -> None:
    found = false_alarms.rows()
    assert [row for row in found if not row.startswith("twin:")] == [entry.id for entry in implemented()]
    assert sum(row.startswith("twin:") for row in found) >= len(honest.TWINS)
    assert len(set(found)) == len(found)


def test_every_status_that_nothing_expects_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [
        Finding("P2.A2", "ledger", "violated", 2.0, 1.0, detail="too much"),
        Finding("P2.A2", "transcript", "violated", 2.0, 1.0, expected=True, reason="known"),
        Finding("P2.A2", "closed", "inconclusive"),
        Finding("P2.A2", "state", "skipped"),
        Finding("P2.A2", "utility", "consistent", 0.25, 1.0),
    ]
    monkeypatch.setattr(false_alarms, "honest_findings", lambda *_: iter(said))
    line = false_alarms.judge("P2.A2", 3)
    unexpected = line["unexpected"]
    assert [words.partition(":")[0] for words in unexpected[:3]] == [
        "ledger violated",
        "closed inconclusive",
        "state skipped",
    ]
    assert all(words.startswith("P2.A2: missing: ") for words in unexpected[3:])
    assert len(unexpected) > 6
    assert (line["row"], line["seed"], line["expected"], line["ratios"]) == ("P2.A2", 3, 1, {"utility": 0.25})
    assert f"crashed): {len(unexpected)}\n" in false_alarms.summary([line])


def test_a_crash_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: Any) -> Any:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(false_alarms, "honest_findings", breaks)
    assert false_alarms.judge("P2.A2", 0)["unexpected"] == ["crash: ZeroDivisionError: division by zero"]


def test_a_twin_that_is_flagged_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise AssertionError("leaks\nand more")

    monkeypatch.setattr(
        false_alarms, "check_mechanism", lambda *_, **__: iter({"exact: closed": fails, "output shape": fails}.items())
    )
    line = false_alarms.judge(false_alarms.rows()[-1], 0)
    assert line["unexpected"] == ["exact: closed: leaks"]
    assert line["checks"] == {"exact: closed": 1}


def test_it_runs_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A line that was cut off is run again, and no other; without time nothing is."""
    file, ran = tmp_path / "lines.jsonl", []

    def judged(row: str, seed: int) -> dict[str, Any]:
        ran.append((row, seed))
        return {
            "row": row,
            "seed": seed,
            "checks": {"state": 1},
            "ratios": {},
            "expected": 0,
            "unexpected": [],
            "seconds": 1.0,
        }

    monkeypatch.setattr(false_alarms, "judge", judged)
    words = ["false_alarms.py", "--only", "P2.A2", "P0.A1", "--seeds", "2", "--lines", str(file)]
    monkeypatch.setattr("sys.argv", [*words, "--hours", "0"])
    with pytest.raises(SystemExit, match="4 runs are left"):
        false_alarms.main()
    assert ran == []
    monkeypatch.setattr("sys.argv", words)
    false_alarms.main()
    assert sorted(ran) == [("P0.A1", 0), ("P0.A1", 1), ("P2.A2", 0), ("P2.A2", 1)]
    assert "4 findings, 0 expected to fail; 0.00 CPU hours" in capsys.readouterr().out
    whole = file.read_text()
    file.write_text(whole[:-20])
    ran.clear()
    false_alarms.main()
    assert len(ran) == 1
    assert len([json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]) == 4
    assert {(line["row"], line["seed"]) for line in false_alarms.read(file)} == {(r, s) for r in words[2:4] for s in (0, 1)}
