"""Tasks on workers: the same results however they are run, and nothing lost when something dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tailproof.refimpl.validation import InputError
from tailproof.verification import workers
from tailproof.verification.check import FULL, QUICK
from tailproof.verification.cli import main
from tailproof.verification.files import Failed
from tailproof.verification.verify import work
from tailproof.verification.workers import Task, Workers, identity, run_tasks, started

ABOUT = {"command": "test", "seed": 0}


def squares(count: int = 6) -> list[Task]:
    return [Task(f"square {i}", pow, (i, 2), cost=float(i)) for i in range(count)]


def dying(marker: Path, times: int) -> Callable[[int], int]:
    """Kills its process so many times.  Inside of a function, so that it goes to workers by value."""

    def work(value: int) -> int:
        seen = marker.read_text() if marker.exists() else ""
        if len(seen) < times:
            marker.write_text(seen + "x")
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    return work


def failing(error: BaseException) -> Callable[[], None]:
    def work() -> None:
        raise error

    return work


def interrupted(pid: int) -> None:
    """Somebody types Ctrl-C while a destructor runs: Python drops what is raised there."""

    class Destroyed:
        def __del__(self) -> None:
            os.kill(pid, signal.SIGINT)
            for _ in range(1000):  # time for it to arrive
                pass

    Destroyed()


def names_in(checkpoint: Path) -> list[str]:
    return [json.loads(line)["task"] for line in checkpoint.read_text().splitlines()[1:]]


# --------------------------------------------------------------------------------------------------------------- without a cluster


def test_results_are_in_order_and_plain(tmp_path: Path) -> None:
    tasks = [*squares(), Task("list", tuple, ([1.5, 0.1],))]
    found = [[done.result for done in run_tasks(tasks, Workers(jobs=jobs), ABOUT)] for jobs in (1, 2)]
    assert found[0] == found[1] == [0, 1, 4, 9, 16, 25, [1.5, 0.1]]  # a tuple comes back as JSON has it
    run_tasks(squares(), Workers(checkpoint=tmp_path / "kept"), ABOUT)
    assert names_in(tmp_path / "kept") == [f"square {i}" for i in (5, 4, 3, 2, 1, 0)]  # the long ones first


def test_names_are_different_and_results_json() -> None:
    with pytest.raises(ValueError, match="different names"):
        run_tasks(squares() * 2, Workers(), ABOUT)
    with pytest.raises(ValueError, match="JSON compliant"):
        run_tasks([Task("nan", float, ("nan",))], Workers(), ABOUT)


def test_one_thread_of_linear_algebra() -> None:
    np.ones((3, 3)) @ np.ones((3, 3))  # so that there is a library to ask

    def threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info()]

    with threadpool_limits(limits=2):
        [done] = run_tasks([Task("threads", threads)], Workers(), ABOUT)
    assert set(done.result) == {1}


def test_a_worker_that_dies_loses_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    tasks = [*squares(4), Task("dies once", dying(tmp_path / "once", 1), (7,), cost=2.5)]
    assert [done.result for done in run_tasks(tasks, Workers(2, checkpoint=kept), ABOUT)] == [0, 1, 4, 9, 7]
    assert len(names_in(kept)) == len(set(names_in(kept))) == 5


def test_a_task_that_always_kills_its_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "DEATHS", 0)
    kept = tmp_path / "kept"
    tasks = [*squares(3), Task("dies", dying(tmp_path / "always", 99), (7,), cost=0.0)]
    with pytest.raises(Failed, match=r"^jobs = 2: workers died 1 times in a row.*; \d finished tasks are saved in .*kept"):
        run_tasks(tasks, Workers(2, checkpoint=kept), ABOUT)
    assert set(names_in(kept)) <= {"square 0", "square 1", "square 2"}


# ---------------------------------------------------------------------------------------------------------------------- checkpoints


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    kept, ran = tmp_path / "kept", tmp_path / "ran"

    def noted(value: int) -> int:
        with ran.open("a") as file:
            file.write(f"{value}\n")
        return value

    def tasks(last: Callable[..., Any]) -> list[Task]:
        return [Task(f"note {i}", noted, (i,), cost=2.0) for i in range(3)] + [Task("last", last)]

    with pytest.raises(KeyboardInterrupt, match=r"interrupted; 3 finished tasks are saved in .*kept; --resume continues"):
        run_tasks(tasks(failing(KeyboardInterrupt())), Workers(checkpoint=kept), ABOUT)
    with kept.open("a") as file:
        file.write('{"task": "last", "sec')  # killed while it wrote
    done = run_tasks(tasks(str), Workers(checkpoint=kept, resume=True), ABOUT)
    assert [one.result for one in done] == [0, 1, 2, ""]
    assert ran.read_text() == "0\n1\n2\n"  # none of them twice
    assert min(one.seconds for one in done) > 0
    assert names_in(kept) == ["note 0", "note 1", "note 2", "last"]
    assert run_tasks(tasks(failing(RuntimeError())), Workers(checkpoint=kept, resume=True), ABOUT) == done


@pytest.mark.usefixtures("interruptible")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_is_dropped_counts(tmp_path: Path) -> None:
    tasks = [Task("first", interrupted, (os.getpid(),), cost=2.0), *squares(3)]
    with pytest.raises(KeyboardInterrupt, match="interrupted; 1 finished"):
        run_tasks(tasks, Workers(checkpoint=tmp_path / "kept"), ABOUT)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_workers_that_an_interrupt_ended_are_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def parallel(**_: object) -> Callable[..., Iterator[None]]:
        def run(_: object) -> Iterator[None]:
            interrupted(os.getpid())
            raise workers.TerminatedWorkerError
            yield

        return run

    monkeypatch.setattr(workers, "Parallel", parallel)
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        run_tasks(squares(3), Workers(jobs=2), ABOUT)


def test_further_tasks_share_a_checkpoint(tmp_path: Path) -> None:
    here = Workers(checkpoint=tmp_path / "kept")
    with started(here, ABOUT) as run:
        first, second = run(squares(2)), run(squares(4))
    assert first == second[:2]
    assert sorted(names_in(tmp_path / "kept")) == [f"square {i}" for i in range(4)]


def test_without_resume_an_earlier_checkpoint_is_set_aside(tmp_path: Path) -> None:
    kept = tmp_path / "folder" / "kept"
    run_tasks(squares(), Workers(checkpoint=kept), ABOUT)
    before = kept.read_bytes()
    run_tasks(squares(2), Workers(checkpoint=kept), ABOUT)
    assert kept.with_name("kept.old").read_bytes() == before
    assert len(names_in(kept)) == 2


def header(**changes: Any) -> str:
    return json.dumps({"tailproof": "checkpoint", **identity(), **ABOUT, **changes})


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("content", ["my notes\n", "[1, 2]\n", '{"some": "json"}\n'])
def test_a_file_of_somebody_else_is_not_touched(tmp_path: Path, resume: bool, content: str) -> None:
    (tmp_path / "kept").write_text(content)
    with pytest.raises(InputError, match="is not a checkpoint written by tailproof"):
        run_tasks(squares(), Workers(checkpoint=tmp_path / "kept", resume=resume), ABOUT)
    assert (tmp_path / "kept").read_text() == content
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header(seed=1), "of another run, with seed 1, not 0"),
        (header(command="sweep"), "with command sweep, not test"),
        (header(source="0"), "other source files of tailproof"),
        (header(versions={**identity()["versions"], "numpy": "0.1"}), "numpy 0.1, not "),
        (header() + '\n{"task": "square 0"}', "line 2 is damaged"),
        (header() + "\nnonsense", "line 2 is damaged"),
        (header() + '\n{"task": "square 0", "result": 1, "seconds": "long"}', "line 2 is damaged"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path, content: str, message: str) -> None:
    kept = tmp_path / "kept"
    kept.write_text(content + "\n")
    with pytest.raises(InputError, match=message), started(Workers(checkpoint=kept, resume=True), ABOUT):
        pass
    assert kept.read_text() == content + "\n"


def test_other_tasks_are_another_run(tmp_path: Path) -> None:
    run_tasks(squares(), Workers(checkpoint=tmp_path / "kept"), ABOUT)
    with pytest.raises(InputError, match="other tasks"):
        run_tasks(squares(3), Workers(checkpoint=tmp_path / "kept", resume=True), ABOUT)


@pytest.mark.parametrize("empty", [False, True])
def test_to_resume_from_nothing_is_to_start(tmp_path: Path, empty: bool) -> None:
    """An empty file is what is left of a run that was killed before its first line."""
    kept = tmp_path / "kept"
    if empty:
        kept.touch()
    done = run_tasks(squares(), Workers(checkpoint=kept, resume=True), ABOUT)
    assert [one.result for one in done] == [one.result for one in run_tasks(squares(), Workers(), ABOUT)]
    assert run_tasks(squares(), Workers(checkpoint=kept, resume=True), ABOUT) == done


def test_checkpoints_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="resume: needs a checkpoint"):
        run_tasks(squares(), Workers(resume=True), ABOUT)
    with pytest.raises(InputError, match="could not be written"):
        run_tasks(squares(), Workers(checkpoint=tmp_path), ABOUT)
    kept = tmp_path / "kept"
    kept.write_bytes(header().encode() + b"\n\xff\xfe\n")
    with pytest.raises(InputError, match="cannot be used"), started(Workers(checkpoint=kept, resume=True), ABOUT):
        pass


@pytest.mark.parametrize("resume", [True, False])
def test_two_runs_do_not_share_a_checkpoint(tmp_path: Path, resume: bool) -> None:
    kept = tmp_path / "kept"
    with started(Workers(checkpoint=kept), ABOUT) as run:
        run(squares(2))
        again = started(Workers(checkpoint=kept, resume=resume), ABOUT)
        with pytest.raises(InputError, match="another run is writing to it"), again:
            pass
        run(squares(3))
    assert len(names_in(kept)) == 3


# -------------------------------------------------------------------------------------------------------------------- a cluster


CLUSTER = """
import distributed, time
if __name__ == "__main__":
    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    print(local.scheduler_address, *(nanny.process.process.pid for nanny in local.workers.values()), flush=True)
    time.sleep(600)
"""


@dataclass(frozen=True)
class Cluster:
    """Two worker processes, which are started again when they die, and a scheduler, in a process of its own."""

    process: subprocess.Popen[str]
    address: str
    worker: int


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    monkeypatch.setattr(workers, "ANSWER", 120.0)  # on a busy machine, too
    (tmp_path / "cluster.py").write_text(CLUSTER)
    command = [sys.executable, str(tmp_path / "cluster.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            address, worker, _ = process.stdout.readline().split()
            yield Cluster(process, address, int(worker))
        finally:
            process.kill()


def test_a_cluster_whose_workers_die_gives_the_same_report(cluster: Cluster, tmp_path: Path) -> None:
    """A worker is killed while a report is made, another one by its own task; then the scheduler goes away."""
    address = cluster.address
    words = ["verify", "--only", "P0.A1", "P2.A2", "--report"]
    assert main([*words, str(tmp_path / "one"), "--jobs", "1"]) == 0
    with after(tmp_path / "dask" / "checkpoint.jsonl", 2, lambda: os.kill(cluster.worker, signal.SIGKILL)):
        assert main([*words, str(tmp_path / "dask"), "--cluster", address]) == 0
    one, other = ((tmp_path / name / "report.json").read_bytes() for name in ("one", "dask"))
    assert one == other
    assert not (tmp_path / "dask" / "checkpoint.jsonl").exists()

    once = Task("dies once", dying(tmp_path / "once", 1), (7,))
    assert [done.result for done in run_tasks([*squares(3), once], Workers(cluster=address), ABOUT)] == [0, 1, 4, 7]

    slow = [Task("slow", time.sleep, (600,), cost=0.0)]
    gone = r"^cluster = 'tcp://.*went away.*; 3 finished tasks are saved in .*kept; --resume"
    with after(tmp_path / "kept", 4, cluster.process.kill), pytest.raises(Failed, match=gone):
        run_tasks([*squares(3), *slow], Workers(cluster=address, checkpoint=tmp_path / "kept"), ABOUT)
    assert set(names_in(tmp_path / "kept")) == {"square 0", "square 1", "square 2"}


@contextmanager
def after(checkpoint: Path, lines: int, action: Callable[[], None]) -> Iterator[None]:
    """Beside what follows: as soon as the checkpoint has so many lines."""

    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.01):
            if checkpoint.exists() and checkpoint.read_bytes().count(b"\n") >= lines:
                action()
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nonsense", "must be HOST:PORT of a Dask scheduler"),
        ("local:0", "must be HOST:PORT of a Dask scheduler"),
        ("tcp://127.0.0.1:9", "no Dask scheduler answers there"),
    ],
)
def test_no_cluster_there(
    address: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    monkeypatch.setattr(workers, "ANSWER", 0.5)
    assert main(["verify", "--only", "P2.A2", "--cluster", address, "--report", str(tmp_path / "report")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "report").exists()


def test_a_worker_with_other_files_is_refused() -> None:
    with pytest.raises(InputError, match="other source files of tailproof"):
        workers._performed(squares()[0], {**identity(), "source": "0"})


# ----------------------------------------------------------------------------------------------------------------- the commands


def test_an_interrupted_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["sweep", "P3.T1", "--over", "n=500,1000,2000", "--runs", "6", "--jobs", "1", "--json"]
    assert main([*words, str(tmp_path / "whole")]) == 0
    kept = ["--checkpoint", str(tmp_path / "kept")]
    performed, count = workers._performed, [0]

    def stopping(task: Task) -> Any:
        count[0] += 1
        if count[0] > 2:
            raise KeyboardInterrupt
        return performed(task)

    monkeypatch.setattr(workers, "_performed", stopping)
    assert main([*words, str(tmp_path / "resumed"), *kept]) == 130
    assert capsys.readouterr().err.count("\n") == 1
    assert len(names_in(tmp_path / "kept")) == 2
    monkeypatch.setattr(workers, "_performed", performed)
    assert main([*words, str(tmp_path / "resumed"), *kept, "--resume", "--epsilon", "0.5"]) == 2
    assert "is of another run" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "resumed"), *kept, "--resume"]) == 0
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("effort", [QUICK, FULL])
def test_no_task_of_a_report_outweighs_the_others(effort: Any) -> None:
    """Two workers are nearly twice as fast if the longest task is a small part of half of all."""
    tasks = [task for piece in work(None, 0, effort) for task in piece.tasks]
    assert max(task.cost for task in tasks) < 0.05 * sum(task.cost for task in tasks)
    assert len({task.name for task in tasks}) == len(tasks)


class LosingClient:
    """As much of a Dask client as is asked for: its worker dies with all results, which are then computed anew."""

    status = "running"
    turn = 0

    def submit(self, function: Callable[..., Any], *arguments: Any, **_: Any) -> LostFuture:
        return LostFuture(self, function, arguments)

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:  # noqa: ARG002
        self.turn += 1
        return {"workers": {"one": {}}}

    def cancel(self, *_: Any, **__: Any) -> None: ...


@dataclass(frozen=True)
class LostFuture:
    client: LosingClient
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    @property
    def status(self) -> str:
        return ["pending", "lost", "finished"][min(self.client.turn, 2)]

    def result(self, timeout: float) -> Any:  # noqa: ARG002
        assert self.status == "finished"
        return self.function(*self.arguments)


def test_a_result_that_was_lost_with_its_worker_is_waited_for() -> None:
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    found = dict(workers._on_cluster(LosingClient(), "tcp://here:1", squares(3)))
    assert [found[f"square {number}"].result for number in range(3)] == [0, 1, 4]
