"""`assert_private`: what it refutes, what it says, and that what it says can be run."""

import functools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.claims import ADD_REMOVE, PureDP
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification import Admissible, ClaimRefuted, assert_private, replay_audit, sessions
from tailproof.verification.assertions import _confidence
from tailproof.verification.auditing.shown import shown
from tailproof.verification.cli import main

ALARM = 1e-9  # of every audit here, unless it says otherwise: all together stay far below 1e-6


def noisy_mean(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    return np.clip(data, 0, 1).mean() + rng.laplace(scale=1 / len(data), size=size)


def half_the_noise(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    return np.clip(data, 0, 1).mean() + rng.laplace(scale=0.5 / len(data), size=size)


def fails_on_large(data: FloatArray, rng: np.random.Generator) -> float:  # noqa: ARG001
    raise OverflowError(f"cannot sum {len(data)} records")


class Noisy:
    """A value that can be called, and has no name of its own."""

    def __call__(self, data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
        return half_the_noise(data, rng, size)


named_here = Noisy()


def refuted(mechanism: Any, folder: Path, **further: Any) -> ClaimRefuted:
    given = {"columns": 1, "bounds": (0, 1)} if "pairs" not in further else {}
    with pytest.raises(ClaimRefuted) as caught:
        assert_private(mechanism, "pure(eps=1)", **given, false_alarm=ALARM, folder=folder, **further)
    return caught.value


def test_a_true_claim_passes_and_the_audit_is_returned() -> None:
    result = assert_private(noisy_mean, "pure(eps=1)", columns=1, false_alarm=ALARM)
    assert result.verdict == "consistent"
    assert 1 - ALARM * 1.01 < result.confidence < 1


def test_the_text_has_claim_bound_pair_region_and_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = refuted(half_the_noise, Path(".tailproof"))
    text = str(error)
    assert text.startswith(f"{__name__}:half_the_noise does not keep pure(eps=1)\n")
    assert "claimed     pure(eps=1), replace-one neighbours" in text
    found = re.search(r"found       ε > ([\d.]+) with confidence 0\.999999999;", text)
    assert found is not None
    assert 1 <= float(found[1]) <= 2  # the truth is 2; an error here has probability 1e-9
    assert "A           [[" in text
    assert "B           [[" in text
    assert re.search(r"differ in   record \d+: \[.*\] becomes \[.*\]", text)
    assert re.search(r"told apart  output: .*; \d+ of \d+ guesses right", text)
    (command,) = re.findall(r"replay      tailproof (replay \S+)$", text, re.M)
    assert command.split()[1] == str(error.witness)
    assert (tmp_path / ".tailproof" / ".gitignore").read_text() == "*\n"


def test_the_replay_of_a_failure_says_whether_it_still_violates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refuted(half_the_noise, tmp_path)
    assert error.witness is not None
    assert main(["replay", str(error.witness)]) == 1
    printed = capsys.readouterr().out
    assert f"{__name__}:half_the_noise, audit:" in printed
    assert printed.rstrip().endswith(": still violates")
    monkeypatch.setattr(__import__("sys").modules[__name__], "half_the_noise", noisy_mean)  # repaired meanwhile
    assert main(["replay", str(error.witness), "--json", "-"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["violates"] is False
    assert value["claimed"] == 1
    assert value["audit"]["verdict"] == "consistent"


def test_a_value_is_found_by_its_name_in_the_calling_module(tmp_path: Path) -> None:
    with pytest.raises(ClaimRefuted, match=f"{__name__}:named_here does not keep"):
        assert_private(named_here, "pure(eps=1)", columns=1, bounds=(0, 1), false_alarm=ALARM, folder=tmp_path)


def test_a_function_without_a_name_comes_with_a_line_that_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mechanism = functools.partial(half_the_noise)
    error = refuted(mechanism, tmp_path)
    (line,) = re.findall(r"replay      (from tailproof.verification .*)$", str(error), re.M)
    exec(line, {"mechanism": mechanism})
    assert capsys.readouterr().out.startswith("violated: pure(eps=1)")
    with pytest.raises(InputError, match="names no function"):
        replay_audit(error.witness)


def test_a_subject_that_fails_is_no_verdict_but_a_failure(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no verdict on pure") as caught:
        assert_private(fails_on_large, "pure(eps=1)", columns=1, false_alarm=ALARM, folder=tmp_path)
    assert not isinstance(caught.value, ClaimRefuted)
    assert "OverflowError: cannot sum 10 records" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_data_that_no_file_can_hold_are_said_to_be_such(tmp_path: Path) -> None:
    def told(data: dict[str, float], rng: np.random.Generator) -> float:
        return data["x"] + rng.normal()

    error = refuted(told, tmp_path, pairs=[({"x": 0.0}, {"x": 9.0})], budget=2000)
    assert error.witness is None
    assert "A           {'x': 0.0}" in str(error)
    assert f"with the seed {error.result.seed}" in str(error)


def test_add_remove_neighbours_and_lists_are_replayed_as_they_were(tmp_path: Path) -> None:
    def count(data: list[int], rng: np.random.Generator) -> float:
        assert type(data) is list
        assert all(type(one) is int for one in data)
        return len(data) + rng.laplace(scale=0.2)

    with pytest.raises(ClaimRefuted, match="add-remove neighbours") as caught:
        assert_private(count, PureDP(1, ADD_REMOVE), [([3], [])], budget=3000, false_alarm=ALARM, folder=tmp_path)
    assert caught.value.witness is not None
    assert replay_audit(caught.value.witness, count).verdict == "violated"


def test_the_session_s_share_and_seed_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = sessions.Session(false_alarm=1e-6, folder=str(tmp_path / "there"))
    monkeypatch.setattr(sessions, "current", lambda: session)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "tests/test_a.py::test_b[1 x] (call)")
    first = assert_private(noisy_mean, "pure(eps=1)", columns=1, budget=400)
    assert 1 - first.confidence == pytest.approx(5e-7, rel=1e-6)
    with pytest.raises(ClaimRefuted) as caught:
        assert_private(half_the_noise, "pure(eps=1)", columns=1, bounds=(0, 1))
    assert caught.value.result.seed != first.seed
    assert caught.value.witness == tmp_path / "there" / "test_a.py-test_b-1-x-2.json"
    assert assert_private(noisy_mean, "pure(eps=1)", columns=1, budget=400, seed=7).seed == 7


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"bounds": (0, 1, 2)}, r"bounds = \(0, 1, 2\): must be two numbers"),
        ({"bounds": 3}, "bounds = 3: must be two numbers"),
        ({"bounds": (1, 0)}, "low must be below high"),
        ({"columns": 1, "space": Admissible(3, 1)}, "leave them out"),
        ({"columns": 1, "pairs": [((0,), (1,))]}, "leave them out"),
        ({"false_alarm": 0}, "false_alarm = 0"),
        ({"columns": 0}, "columns = 0"),
    ],
)
def test_wrong_arguments_are_named(given: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        assert_private(noisy_mean, "pure(eps=1)", **given)


def test_the_confidence_never_leaves_more_than_the_share() -> None:
    for false_alarm in [*np.geomspace(1e-12, 0.5, 500), 1e-3 / 2, 1e-9]:
        left = 1 - _confidence(float(false_alarm))
        assert left <= false_alarm
        assert left > false_alarm - 3e-16


def test_large_data_are_shown_in_short() -> None:
    text = shown(np.zeros((1000, 3)))
    assert len(text) < 120
    assert text.endswith("(1000 × 3)")
    assert shown(object()).startswith("<object")
