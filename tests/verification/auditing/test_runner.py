"""Runners: every way to fail is reported with the data, the seed and the batch that caused it, and nothing is lost."""

import json
import multiprocessing
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest, laplace

from tailproof.refimpl.validation import InputError
from tailproof.verification.auditing import zoo
from tailproof.verification.auditing.outputs import KINDS, Incident, SubjectFailed
from tailproof.verification.auditing.programs import CommandRunner
from tailproof.verification.auditing.runner import FunctionRunner, WorkerRunner, collect, is_vectorised
from tailproof.verification.auditing.runs import Source, hidden_randomness, repetition, source
from tests.verification.auditing import subjects

ZEROS, ONE = np.zeros((2, 1)), np.array([[0.0], [1.0]])
PAIR = (ZEROS, ONE)
PROGRAM = shlex.join([sys.executable, str(Path(__file__).parent / "program.py")])


def failure(runner: Any, data: np.ndarray, size: int = 10) -> SubjectFailed:
    with pytest.raises(SubjectFailed) as caught:
        runner.sample(data, np.random.default_rng(0), size)
    return caught.value


def test_signatures() -> None:
    assert is_vectorised(subjects.vectorised)
    assert not is_vectorised(subjects.scalar)
    assert is_vectorised(partial(zoo.laplace, scale=2.0))
    assert not is_vectorised(lambda data, rng, clip=1.0: (data, rng, clip))
    assert is_vectorised(lambda data, rng, size=1: (data, rng, size))
    assert is_vectorised(lambda data, rng, count: (data, rng, count))
    bad: list[Any] = [
        lambda: 0.0,
        lambda a: a,
        lambda a, b, c, d: (a, b, c, d),
        lambda a, b, *, c: (a, b, c),
        subjects.plain,
    ]
    for function in bad:
        with pytest.raises(InputError, match="must be f"):
            is_vectorised(function)
    with pytest.raises(InputError, match="no signature"):
        is_vectorised(dict)


@pytest.mark.parametrize("subject", [subjects.scalar, subjects.vectorised])
def test_outputs_follow_the_law_and_repeat_from_their_seed(subject: Any) -> None:
    runner = FunctionRunner(subject)
    outputs = runner.sample(ONE, np.random.default_rng(1), 3000)
    assert kstest(outputs, laplace(1.0, 1.0).cdf).pvalue > 1e-7
    assert np.array_equal(runner.run(ONE, 5, 20), runner.run(ONE, 5, 20))
    assert not np.array_equal(runner.run(ONE, 5, 20), runner.run(ONE, 6, 20))


CASES = [
    (subjects.raises_at_one, "raised", "ZeroDivisionError: no such record"),
    (subjects.exits, "no return", "ends the process: SystemExit"),
    (subjects.not_finite, "not finite", "nan at (9,)"),
    (subjects.overflows, "not finite", "run 0 has the entry inf"),
    (subjects.changing_shape, "shape changed", "earlier ones had"),
    (subjects.one_short, "shape changed", "(9,); must be (10,)"),
    (subjects.ragged, "shape changed", "differ in shape"),
    (subjects.nothing, "wrong type", "None"),
    (subjects.text, "wrong type", "list"),
    (subjects.complex_numbers, "wrong type", "complex"),
]


@pytest.mark.parametrize(("subject", "kind", "message"), CASES, ids=lambda case: getattr(case, "__name__", None))
def test_what_is_reported(subject: Any, kind: str, message: str) -> None:
    incident = failure(FunctionRunner(subject), ONE).incident
    assert incident.kind == kind
    assert kind in KINDS
    assert message in incident.message
    assert incident.fatal
    assert np.array_equal(incident.data, ONE)
    assert incident.size == 10
    with pytest.raises(SubjectFailed) as again:  # what is reported repeats it
        FunctionRunner(subject).run(incident.data, incident.seed, incident.size)
    assert again.value.incident.message == incident.message
    assert json.loads(json.dumps(incident.to_json()))["kind"] == kind


def test_runs_before_a_failure_are_kept() -> None:
    failed = failure(FunctionRunner(subjects.raises_sometimes), ZEROS, 5000)
    expected = np.random.default_rng(failed.incident.seed).random(len(failed.partial) + 1)
    assert 0 < len(failed.partial) < 5000
    assert np.array_equal(failed.partial, expected[:-1])
    assert expected[-1] > 0.98


def test_collecting_keeps_what_came_before_and_names_the_pair() -> None:
    runner = FunctionRunner(subjects.raises_sometimes)
    found = collect(runner, PAIR, np.random.default_rng(0), per_side=10_000, batch=10)
    assert found.incident is not None
    assert found.incident.pair is PAIR
    assert "did not converge" in str(found.incident)
    assert 0 <= len(found.first) - len(found.second) <= 10
    assert len(found.first) > 0
    one_side = collect(FunctionRunner(subjects.raises_at_one), PAIR, np.random.default_rng(0), per_side=50)
    assert (len(one_side.first), len(one_side.second)) == (50, 0)
    assert one_side.incident is not None
    assert one_side.incident.data is not ZEROS
    assert one_side.incident.data.sum() == 1
    full = collect(FunctionRunner(subjects.vectorised), PAIR, np.random.default_rng(0), per_side=25, batch=10)
    assert (len(full.first), len(full.second), full.incident) == (25, 25, None)
    assert len(np.unique(full.first)) == 25
    assert not np.array_equal(full.first + 1, full.second)  # other seeds on the other side


def test_shapes_are_the_same_on_all_data() -> None:
    runner = FunctionRunner(subjects.shape_of_the_data)
    runner.sample(ZEROS, np.random.default_rng(0), 10)
    assert failure(runner, np.zeros((3, 1))).incident.kind == "shape changed"


def test_a_subject_cannot_change_the_data() -> None:
    """Every run gets a copy of its own."""

    def adds_up(data: np.ndarray, rng: np.random.Generator) -> float:
        data += 1
        return float(data.sum()) + 0 * rng.random()

    assert (FunctionRunner(adds_up).run(ZEROS, 0, 5) == 2).all()
    assert not ZEROS.any()
    incident = failure(FunctionRunner(subjects.changes_its_data), ZEROS).incident
    assert not incident.data.any()


def test_data_may_be_anything() -> None:
    def counts(data: dict[str, list[int]], rng: np.random.Generator) -> float:
        data["x"].append(0)
        return len(data["x"]) + 0 * rng.random()

    incident = Incident("raised", "oh", {"x": [1]}, 3, 4)
    assert (FunctionRunner(counts).run({"x": [1, 2]}, 0, 3) == 3).all()
    assert incident.to_json()["data"] == "a dict"
    assert Incident("raised", "oh", np.zeros((60, 60)), 3, 4).to_json()["data"] == "60 × 60 numbers"


# --- generators --------------------------------------------------------------------------------------------------------------


def drawn(subject: Any) -> tuple[Source, list[int]]:
    runs = source(FunctionRunner(subject), [PAIR], 0)
    return runs, [len(runs.draw(0, 600)) for _ in range(3)]


def test_runs_that_are_not_independent() -> None:
    for subject, kind in ((subjects.own_seed, "ignores its generator"), (subjects.one_draw, "one draw per batch")):
        runs, sizes = drawn(subject)
        assert sizes == [600, 0, 0]
        assert runs.failed(0)
        assert runs.incidents[0].kind == kind
        assert runs.incidents[0].pair is runs.pairs[0]


def test_hidden_randomness_is_told_and_not_fatal() -> None:
    incident = hidden_randomness(FunctionRunner(subjects.own_randomness), PAIR, 0)
    assert incident is not None
    assert (incident.kind, incident.fatal) == ("hidden randomness", False)
    assert hidden_randomness(FunctionRunner(subjects.scalar), PAIR, 0) is None
    assert hidden_randomness(FunctionRunner(subjects.exits), PAIR, 0) is None


@pytest.mark.parametrize("one", [*zoo.correct(), *zoo.broken()], ids=lambda one: one.name)
def test_sound_generators_are_not_accused(one: zoo.Specimen) -> None:
    runs = source(FunctionRunner(one.subject), [one.pair], 1)
    assert [len(runs.draw(0, size)) for size in (40, 40, 5, 300, 300)] == [40, 40, 5, 300, 300]
    assert runs.incidents == []
    assert hidden_randomness(FunctionRunner(one.subject), one.pair, 1) is None


def test_a_repetition_must_be_none_of_chance() -> None:
    """Twelve equal bits have a chance of 2⁻¹²; forty of 2⁻⁴⁰."""
    bits = np.tile([[0.0], [1.0]], (20, 1))
    assert repetition(bits[:12], bits[:12]) is None
    found = repetition(bits, bits)
    assert found is not None
    assert found[0] == "ignores its generator"
    assert repetition(np.zeros((50, 1)), np.zeros((50, 1))) is None
    assert repetition(np.zeros((5, 1)), np.ones((5, 1))) is None
    assert repetition(bits, 1 - bits) is None


# --- failures on the way ----------------------------------------------------------------------------------------------------


def test_samples_before_a_failure_are_kept_in_the_order_of_the_coins() -> None:
    """A side that fails at its k-th run ends the samples there, wherever its coin lies; both sides fail in turn here."""
    for failing in (0.0, 1.0):
        calls = []

        def subject(data: float, rng: np.random.Generator, failing: float = failing, calls: list[float] = calls) -> float:
            calls.append(float(data))
            if data == failing and calls.count(failing) == 31:
                raise RuntimeError("the thirty-first")
            return float(data) + 0 * rng.random()

        runner = FunctionRunner(subject)
        runner.chunk = 400
        runs = source(runner, [(0.0, 1.0)], 3)
        found = runs.draw(0, 400)
        side = -1 if failing == 0 else 1
        assert int((found.labels == side).sum()) == 30
        coins = 2 * np.random.default_rng([3, 0]).integers(0, 2, 400, dtype=np.int8) - 1
        assert np.array_equal(found.labels, coins[: np.flatnonzero(coins == side)[30]])
        assert np.array_equal(found.outputs[:, 0], (found.labels > 0).astype(float))
        assert runs.failed(0)


# --- workers: few, for each takes a second to start ----------------------------------------------------------------------


def test_workers_that_hang_or_die_are_replaced() -> None:
    with WorkerRunner(subjects.moody, time_limit=5.0) as runner:
        found = collect(runner, PAIR, np.random.default_rng(0), per_side=20)
        assert found.incident is not None
        assert found.incident.kind == "timed out"
        assert np.array_equal(found.incident.data, ONE)
        assert np.array_equal(found.first, FunctionRunner(subjects.moody).sample(ZEROS, np.random.default_rng(0), 20))
        assert 1 <= len(found.second) <= 9  # single runs before the one that hangs
        assert not multiprocessing.active_children()
        incident = failure(runner, 2 * ONE).incident
        assert incident.kind == "died"
        assert "exit code -11" in incident.message
        assert not multiprocessing.active_children()


def test_what_cannot_be_sent_to_a_worker_is_refused() -> None:
    with pytest.raises(InputError, match="define it at the top level of a module"):
        WorkerRunner(lambda data, rng: (data, rng))
    with pytest.raises(InputError, match="time_limit"):
        WorkerRunner(subjects.scalar, time_limit=0)


# --- programs ---------------------------------------------------------------------------------------------------------------


def test_a_program() -> None:
    with CommandRunner(PROGRAM) as runner:
        outputs = runner.sample(ONE, np.random.default_rng(0), 3000)
        assert kstest(outputs, laplace(1.0, 1.0).cdf).pvalue > 1e-7
        assert np.array_equal(runner.run(ONE, 5, 20), runner.run(ONE, 5, 20))
        assert hidden_randomness(runner, PAIR, 0) is None


@pytest.mark.parametrize(
    ("behaviour", "kind", "message"),
    [
        ("few", "shape changed", "(9,); must be (10,)"),
        ("error", "raised", "cannot read the records"),
        ("keys", "protocol", 'no "outputs"'),
        ("nan", "not finite", "nan"),
        ("words", "wrong type", "list"),
        ("ragged", "shape changed", "differ in shape"),
        ("chatty", "protocol", "not JSON: 'thinking…'"),
        ("die", "died", "exit code 1; it said: out of memory"),
    ],
)
def test_a_program_that_fails(behaviour: str, kind: str, message: str) -> None:
    with CommandRunner(f"{PROGRAM} {behaviour}") as runner:
        incident = failure(runner, ONE).incident
    assert incident.kind == kind
    assert message in incident.message


def test_a_program_that_hangs_is_killed_and_started_again() -> None:
    with CommandRunner(f"{PROGRAM} hang", time_limit=0.5) as runner:
        assert failure(runner, ONE).incident.kind == "timed out"
        runner._program._limit = 600.0  # starting it again takes as long as the machine needs
        assert len(runner.run(ZEROS, 0, 5)) == 5


@pytest.mark.parametrize(
    ("command", "kind", "message"),
    [
        ("true", "died", "exit code 0"),
        ("cat", "protocol", 'no "outputs"'),
        ("sh -c 'exec >&-; sleep 600'", "died", "closed its output"),
        ("yes", "protocol", "not JSON"),
    ],
)
def test_programs_that_are_no_subjects(command: str, kind: str, message: str) -> None:
    with CommandRunner(command, time_limit=600) as runner:
        incident = failure(runner, ZEROS).incident
    assert incident.kind == kind
    assert message in incident.message


def test_commands_that_cannot_be() -> None:
    for command, message in (("", "must name a program"), ("'", "quotation"), ("no-such-program-here", "cannot be started")):
        with pytest.raises(InputError, match=message), CommandRunner(command) as runner:
            runner.run(ZEROS, 0, 1)
    with pytest.raises(InputError, match="size"):
        FunctionRunner(subjects.scalar).run(ZEROS, 0, 0)


def test_incidents_say_what_repeats_them() -> None:
    incident = Incident("raised", "oh", ZEROS, 12, 5)
    assert str(incident) == "the subject raised oh (data of 2 records, seed 12, batch of 5)"
