"""The table of the zoo: what is kept agrees with the specimens, and its exit code means something."""

import importlib.util
import json
import math
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tailproof.verification.auditing import limits
from tailproof.verification.auditing.zoo_truth import everything, specimen

FOLDER = Path(__file__).resolve().parent.parent.parent / "benchmarks"
KEPT = json.loads((FOLDER / "zoo.json").read_text())


@pytest.fixture(scope="module")
def table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("zoo_table", FOLDER / "zoo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_row_stops_at_the_first_budget_that_flags(table: ModuleType) -> None:
    row = table.audited(specimen("laplace-half"), (2000, 3000))
    assert (row["verdict"], row["samples"], row["true"], row["reason"]) == ("violated", 2000, 2.0, "")
    row = table.audited(specimen("ignores-data"), (500, 600))
    assert (row["verdict"], row["samples"], row["true"]) == ("consistent", 600, 0.0)


def test_what_is_missed_has_a_reason(table: ModuleType) -> None:
    row = table.audited(specimen("naive-laplace"), (500,))
    assert (row["true"], row["verdict"]) == ("infinite", "consistent")
    assert "last bits" in row["reason"]
    assert table.wrong(row) == ""
    assert "missed" in table.wrong(row | {"reason": ""})
    assert "flagged" in table.wrong(row | {"holds": True, "verdict": "violated"})
    assert table.line(row)[3] == "infinite"
    assert table.reason(specimen("svt-chen")) == ""  # nothing excuses that
    assert table.reason(specimen("rare-leak")) == ""  # the planner asks for less than the budget


def test_the_planner_s_figure_is_a_reason_above_the_budget(table: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for samples, reason in ((3_000_000, "takes 3e+06 runs, says the planner"), (1_000_000, "")):
        monkeypatch.setattr(table, "plan", lambda *_, n=samples, **__: SimpleNamespace(samples=n))
        assert table.reason(specimen("laplace-99")).startswith(reason)
        assert bool(table.reason(specimen("laplace-99"))) == bool(reason)


def test_the_kept_table(table: ModuleType) -> None:
    """All mechanisms, nothing correct flagged, every miss explained; a lower bound is not above the truth."""
    assert list(KEPT) == [one.name for one in everything()]
    assert [text for text in map(table.wrong, KEPT.values()) if text] == []
    for one in everything():
        row = KEPT[one.name]
        assert (row["claim"], row["claimed"], row["holds"]) == (str(one.claim), limits.parameter(one.claim), one.holds)
        assert row["lower"] <= (math.inf if row["true"] == "infinite" else row["true"])
