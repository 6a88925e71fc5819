"""The judge of random edits: what is broken is killed, what changes nothing is equivalent, a crash counts apart."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"
CLIPPING, ROWS = "tailproof.refimpl.means.simple_clipping", "tailproof.refimpl.means.rows"
SCALE = "math.sqrt(2 / rho) * clip / n"

SCRIPT = """
import json, sys, tempfile
from pathlib import Path
from mutating.apart import ask, copied, prepared
prepared()
found = []
with tempfile.TemporaryDirectory() as folder:
    yard, file = copied(Path(sys.argv[1]), Path(folder, "tree")), str(Path(folder, "kept"))
    declared = str(Path(folder, "declared"))
    recorded = ask(yard, "equivalence:record", "P2.A2", file, 60.0, seconds=120)
    agreeing = ask(yard, "agreement:agreeing", "P2.A2", file, declared, seconds=120)
    for module, old, new in json.loads(sys.argv[2]):
        source = yard.file_of(module).read_bytes()
        assert source.count(old.encode()) == 1 or old == new, (old, source.count(old.encode()))
        with yard.edited(module, source.replace(old.encode(), new.encode())):
            said = ask(yard, "judging:verdict", "P2.A2", seconds=300)
            same = ask(yard, "equivalence:compare", "P2.A2", file, seconds=120)
            within = ask(yard, "agreement:agrees", "P2.A2", declared, seconds=120)
            found.append([said, same, within])
        assert yard.file_of(module).read_bytes() == source
    late = ask(yard, "judging:verdict", "P2.A2", seconds=0.01)
print(json.dumps({"recorded": recorded, "agreeing": agreeing, "found": found, "late": late}))
"""

CASES = {
    "nothing": (CLIPPING, SCALE, SCALE),
    "noise halved": (CLIPPING, SCALE, f"{SCALE} / 2"),
    "regrouped": (CLIPPING, SCALE, "math.sqrt(2 / rho) * (clip / n)"),
    "crash": (CLIPPING, SCALE, f"-{SCALE}"),
    "import": (CLIPPING, "def simple_clipping_mean(", "1 / 0\n\n\ndef simple_clipping_mean("),
    "infinite records": (ROWS, "np.isinf(norms)", "norms"),
}


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    command = [sys.executable, "-c", SCRIPT, str(BENCHMARKS.parent), json.dumps(list(CASES.values()))]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told | dict(zip(CASES, told["found"], strict=True))


def test_what_is_not_edited_survives_and_is_equivalent(answers: dict[str, Any]) -> None:
    said, same, within = answers["nothing"]
    assert said["status"] == "survived"
    assert same["equivalent"]
    assert same["rounding"] == 0
    assert answers["recorded"]["settings"] == same["settings"] >= 50
    assert answers["agreeing"]["settings"] == within["settings"] >= 50
    assert within["agrees"]


def test_less_noise_is_killed_and_not_equivalent(answers: dict[str, Any]) -> None:
    said, same, within = answers["noise halved"]
    assert said["status"] == "killed"
    assert said["failing"] == ["calibration"]
    assert not same["equivalent"]
    assert not within["agrees"]


def test_another_order_of_two_products_is_rounding(answers: dict[str, Any]) -> None:
    said, same, within = answers["regrouped"]
    assert said["status"] == "survived"
    assert same["equivalent"]
    assert 0 < same["rounding"] < 1e-15
    assert within["agrees"]


def test_crashes_count_apart(answers: dict[str, Any]) -> None:
    said, same, within = answers["crash"]
    assert said["status"] == "crashed"
    assert not same["equivalent"]
    assert not within["agrees"]
    assert answers["import"][0]["failed"] == "raised"
    assert answers["late"]["failed"] == "timeout"


def test_an_error_at_some_data_is_killed(answers: dict[str, Any]) -> None:
    said, _, _ = answers["infinite records"]
    assert said["status"] == "killed"


# --- the table --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The modules of the folder, which is no package that is installed."""

    kept: Any
    mutation: Any


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Parts]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import mutation
    from mutating import kept

    yield Parts(kept, mutation)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("mutating", "mutation")]:
        del sys.modules[name]


def _edit(name: str) -> dict[str, Any]:
    parts = {
        "module": "tailproof.refimpl.means.rows",
        "function": "f",
        "text": name,
        "new": name,
        "operator": "o",
        "variant": "v",
    }
    return {"row": "P2.A2", "edit": name, **parts}


def test_rates_are_of_what_matters(parts: Parts, tmp_path: Path) -> None:
    kept = parts.kept.Kept(tmp_path / "results.jsonl")
    for name, status in {
        "a": "killed",
        "b": "survived",
        "c": "survived",
        "d": "crashed",
        "e": "timeout",
        "f": "killed",
    }.items():
        kept.add("P2.A2", name, "verify", "x", {"status": status, "failing": ["ledger"] if status == "killed" else []})
    kept.add("P2.A2", "b", "equivalence", "x", {"equivalent": True, "settings": 60, "rounding": 0.0})
    kept.add("P2.A2", "c", "equivalence", "x", {"equivalent": False, "settings": 3, "detail": "differs"})
    kept.add("P2.A2", "c", "tests", "x", {"status": "killed", "failing": ["test_it"]})
    again = parts.kept.Kept(tmp_path / "results.jsonl")
    said = parts.kept.table(parts.kept.fates(again, [_edit(name) for name in "abcdef"]))
    row = next(line for line in said.splitlines() if line.startswith("P2.A2"))
    assert row.split() == ["P2.A2", "6", "2", "1", "3", "1", "(33.3", "%)", "0", "0"]
    for listed in ("survive verify: 1", "equivalent: 1", "apart: crash, do not end, or are no longer there: 2"):
        assert listed in said


def test_what_was_judged_by_other_code_is_asked_again(parts: Parts, tmp_path: Path) -> None:
    kept = parts.kept.Kept(tmp_path / "results.jsonl")
    kept.add("P2.A2", "a", "verify", "old", {"status": "killed"})
    assert kept.get("P2.A2", "a", "verify", "old") is not None
    assert kept.get("P2.A2", "a", "verify", "new") is None
    kept.add("P2.A2", "a", "verify", "new", {"status": "survived"})
    assert kept.stale([_edit("a")], {"verify": "new"}) == 0
    assert kept.stale([_edit("a")], {"verify": "newer"}) == 1
    kept.tidy()
    assert [json.loads(line)["by"] for line in (tmp_path / "results.jsonl").read_text().splitlines()] == ["new"]


def test_the_frame_is_what_was_drawn(parts: Parts) -> None:
    """Not where its code has moved since: then the table lists it under what is no longer there."""
    edits = parts.kept.drawn()
    rows = [edit["row"] for edit in edits]
    assert len({(edit["row"], edit["edit"]) for edit in edits}) == len(edits)
    assert max(rows.count(row) for row in rows) == 20
    assert parts.mutation._rows(["P2.A2"]) == ["P2.A2"]
    with pytest.raises(SystemExit, match="unknown rows"):
        parts.mutation._rows(["P9.A1"])
