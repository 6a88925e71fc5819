"""Audits whose runs are made on workers: the same samples, the same verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing.audit import audit
from tailproof.verification.auditing.outputs import SubjectFailed
from tailproof.verification.auditing.pooled import PooledRunner
from tailproof.verification.auditing.runner import FunctionRunner, SeededRunner
from tailproof.verification.auditing.runs import source
from tailproof.verification.cli import main
from tailproof.verification.workers import Workers, started

PAIR = (np.zeros((4, 1)), np.array([[1.0], [0.0], [0.0], [0.0]]))


def noisy(data: FloatArray, rng: np.random.Generator) -> list[float]:
    return [float(data.sum() + rng.laplace()), float(rng.normal())]


def fails_late(data: FloatArray, rng: np.random.Generator) -> float:
    value = float(rng.uniform())
    if value > 0.999:
        raise ValueError("out of luck")
    return float(data.sum()) + value


def make(name: str) -> SeededRunner:
    return FunctionRunner({"noisy": noisy, "fails late": fails_late}[name])


class Here:
    """Runs tasks here, and counts them."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, tasks: Any) -> Any:
        wanted = list(tasks)
        self.names += [task.name for task in wanted]
        with started(Workers(), {}) as run:
            return run(wanted)


def pooled(name: str, worth: float = 0.0) -> tuple[PooledRunner, Here]:
    tasks = Here()
    return PooledRunner(make, (name,), tasks, worth), tasks


def test_all_batches_are_foreseen() -> None:
    """None is run here, and none for nothing."""
    runner, tasks = pooled("noisy")
    drawn, plain = source(runner, [PAIR], 3), source(make("noisy"), [PAIR], 3)
    for size in (1, 700, 64, 129):
        ours, theirs = drawn.draw(0, size), plain.draw(0, size)
        np.testing.assert_array_equal(ours.outputs, theirs.outputs)
        np.testing.assert_array_equal(ours.labels, theirs.labels)
    assert runner._runs == 0
    assert not runner._ready
    assert len(tasks.names) == len(set(tasks.names)) > 20


@pytest.mark.parametrize("sequential", [True, False])
@pytest.mark.parametrize("name", ["noisy", "fails late"])
def test_an_audit_finds_the_same(name: str, sequential: bool) -> None:
    runner, _ = pooled(name)
    found = [
        audit(subject, "pure(eps=.5)", [PAIR], budget=4000, seed=2, sequential=sequential).to_json()
        for subject in (runner, make(name))
    ]
    assert [one.pop("seconds") > 0 for one in found] == [True, True]
    assert found[0] == found[1]


def test_a_failure_ends_the_foresight() -> None:
    runner, tasks = pooled("fails late")
    drawn = source(runner, [PAIR], 0)
    assert len(drawn.draw(0, 100_000)) < 20_000  # more have a probability below 1e-8
    assert len(tasks.names) < 2000  # of more than 3000 batches
    assert drawn.failed(0)
    with pytest.raises(SubjectFailed):
        runner.run(PAIR[0], 0, 100_000)  # that none of them is beyond 0.999 has a probability below 1e-43


def test_quick_subjects_stay_here() -> None:
    runner, tasks = pooled("noisy", worth=60.0)
    source(runner, [PAIR], 3).draw(0, 500)
    assert not tasks.names
    assert runner._runs == 500


MODULE = """
import numpy as np
def mean(data, rng):
    return float(np.clip(data, 0, 1).mean() + rng.laplace(scale=0.1))
"""


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """From a checkpoint: an audit in two goes ends like one in one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pooled_subject.py").write_text(MODULE)
    np.save("a.npy", np.zeros((3, 1)))
    np.save("b.npy", np.ones((3, 1)) * [[1], [0], [0]])
    words = ["audit", "pooled_subject:mean", "--claim", "pure(eps=1)", "--data", "a.npy", "--neighbour", "b.npy"]
    words += ["--budget", "3000", "--time-limit", "0", "--json", "-"]
    kept = ["--checkpoint", "kept"]

    def found(*more: str) -> Any:
        assert main([*words, *more]) == 1
        result = json.loads(capsys.readouterr().out)
        assert result.pop("seconds") > 0
        return result

    whole = found()
    monkeypatch.setattr("tailproof.verification.cli.audit.discard", lambda _: None)
    assert found(*kept) == whole
    lines = (tmp_path / "kept").read_text().splitlines(keepends=True)
    (tmp_path / "kept").write_text("".join(lines[: len(lines) // 2]))
    assert found(*kept, "--resume") == whole
    assert sorted((tmp_path / "kept").read_text().splitlines()) != sorted(lines)  # other seconds
    (tmp_path / "pooled_subject.py").write_text(MODULE.replace("0.1", "0.4"))
    assert main([*words, *kept, "--resume"]) == 2
    assert "is of another run" in capsys.readouterr().err
    assert main([word for word in words if word not in ("--time-limit", "0")] + ["--jobs", "2"]) == 2
    assert "time_limit" in capsys.readouterr().err
