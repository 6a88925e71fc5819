"""Witnesses of audits: written, read, and run again, of functions and of programs; and where functions are found."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification import audit, replay_audit
from tailproof.verification.auditing.places import place_of
from tailproof.verification.auditing.witnesses import read_witness, witness_of_audit, write_witness
from tailproof.verification.cli import main

SUBJECT = """
import numpy as np

class Held:
    @staticmethod
    def mean(data, rng, size):
        return np.clip(data, 0, 1).mean() + rng.laplace(scale=0.4 / len(data), size=size)

mean = Held.mean

def zeros_and_ones():
    return [(np.zeros((5, 1)), np.eye(5)[:, :1])]
"""


def shifted(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    return float(np.sum(data)) + rng.laplace(size=size)


def witness(**edits: Any) -> dict[str, Any]:
    result = audit(shifted, "pure(eps=1)", [(np.zeros((2, 1)), np.full((2, 1), 2.0))], budget=2000, confidence=1 - 1e-9)
    assert result.verdict == "violated"
    found = witness_of_audit(result, place_of(shifted), budget=2000)
    assert found is not None
    return found | edits


def test_a_witness_keeps_everything_bit_for_bit(tmp_path: Path) -> None:
    first, second = np.array([[0.1, 1e-300], [-0.0, 1e300]]), np.empty((0, 2))
    result = audit(lambda data, rng: len(data) * 9 + rng.normal(), "gdp(mu=1)", [(first, second)], budget=200)
    found = witness_of_audit(result, {}, budget=200)
    assert found is not None
    write_witness(found, tmp_path / "deeper" / "w.json")
    assert read_witness(tmp_path / "deeper" / "w.json") == found
    seen = []

    def noted(data: FloatArray, rng: np.random.Generator) -> float:
        seen.append(data)
        return len(data) * 9 + rng.normal()

    assert replay_audit(tmp_path / "deeper" / "w.json", noted).verdict == "violated"
    assert {data.shape for data in seen} == {(2, 2), (0, 2)}
    assert next(data for data in seen if len(data)).tobytes() == first.tobytes()


def test_a_replay_draws_its_own_coins_and_keeps_the_settings() -> None:
    found = witness(sequential=True, budget=500)
    again = replay_audit(found)
    assert (again.seed, again.sequential, again.pairs_tried) == (found["seed"] + 1, True, 1)
    assert again.confidence == found["confidence"]
    assert again.samples <= 500
    assert replay_audit(found, seed=9).seed == 9
    repaired = replay_audit(found, lambda data, rng: rng.normal())  # noqa: ARG005
    assert repaired.verdict == "consistent"


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        ({"check": "ledger"}, "must be one of an audit"),
        ({"claim": {"claim": "none"}}, "damaged"),
        ({"data": [1, 2]}, "damaged"),
        ({"data": {"kind": "object", "shape": [1], "values": [1]}}, "damaged"),
        ({"data": {"kind": "float64", "shape": [3], "values": [1]}}, "damaged"),
        ({"seed": None}, "damaged"),
        ({"mechanism": "nowhere:f"}, "no module nowhere"),
        ({"budget": 1}, "budget = 1"),
    ],
)
def test_a_damaged_witness_is_refused_in_one_line(edits: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        replay_audit(witness(**edits))


def test_audit_writes_a_witness_when_the_claim_is_violated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "audited_here.py").write_text(SUBJECT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "audited_here", raising=False)
    asked = [
        "audit",
        "audited_here:mean",
        "--pairs",
        "audited_here:zeros_and_ones",
        "--time-limit",
        "0",
        "--confidence",
        "0.999999999",
    ]
    assert main([*asked, "--claim", "pure(eps=1)", "--witness", "w it.json", "--budget", "4000"]) == 1
    assert capsys.readouterr().out.rstrip().endswith("replay      tailproof replay 'w it.json'")
    assert main(["replay", "w it.json"]) == 1
    assert "audited_here:mean, audit:" in capsys.readouterr().out
    assert main([*asked, "--claim", "pure(eps=3)", "--witness", "none.json", "--budget", "2000"]) == 0
    assert "replay" not in capsys.readouterr().out
    assert not Path("none.json").exists()
    held = sys.modules["audited_here"].Held
    assert place_of(held.mean) == {"mechanism": "audited_here:Held.mean", "folder": "."}
    monkeypatch.chdir(tmp_path.parent)
    assert place_of(held.mean)["folder"] == tmp_path.name
    monkeypatch.chdir("/")
    (tmp_path / "moved").mkdir()
    monkeypatch.chdir(tmp_path / "moved")
    assert place_of(held.mean)["folder"] == str(tmp_path)


def test_a_program_s_witness_runs_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = f"{sys.executable} {Path(__file__).parent / 'program.py'}"
    monkeypatch.chdir(tmp_path)
    for name, value in (("a.csv", 0.0), ("b.csv", 40.0)):
        Path(name).write_text(f"x\n{value}\n0\n")
    asked = ["audit", "--command", program, "--data", "a.csv", "--neighbour", "b.csv", "--budget", "300"]
    assert main([*asked, "--claim", "pure(eps=1)", "--witness", "w.json"]) == 1
    assert json.loads(Path("w.json").read_text())["command"] == program
    assert main(["replay", "w.json", "--json", "-"]) == 1
    printed = capsys.readouterr().out
    assert '"violates": true' in printed


def test_what_has_no_name_has_no_place() -> None:
    assert place_of(lambda data: data) == {}
    assert place_of(np.sum) == {} or place_of(np.sum)["mechanism"].startswith("numpy")
    assert place_of(3) == {}
    assert place_of(shifted)["mechanism"] == f"{__name__}:shifted"
