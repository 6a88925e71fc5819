"""What goes wrong outside: full disks, folders one may not write in, closed pipes, Ctrl-C, kill -9.  One line, no traceback, and
nothing half written."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tailproof.refimpl.validation import InputError
from tailproof.verification import files
from tailproof.verification.cli import entry, main

Capture = pytest.CaptureFixture[str]
TAILPROOF = [sys.executable, "-m", "tailproof"]
VERIFY = [*TAILPROOF, "verify", "--only", "P2.A2", "P0.A1", "--jobs", "1"]
PATIENCE = 300.0  # seconds after which a process counts as stuck: far more than anything here takes


def one_line(error: str, *said: str) -> None:
    assert error.count("\n") == 1
    assert error.startswith("tailproof")
    assert "Traceback" not in error
    for words in said:
        assert words in error


def limited(size: int) -> Callable[[], None]:
    """A process that can write no file larger than this: to it, every disk is as good as full."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


# --- files are there in full or not at all --------------------------------------------------------------------------------


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    place = tmp_path / "file"
    files.write("json", place, "first")
    place.chmod(0o640)
    files.write("json", place, b"second")
    assert place.read_bytes() == b"second"
    assert place.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [place]


def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    files.write("json", tmp_path / "ours", "text")
    (tmp_path / "usual").write_text("text")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    files.write("json", tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_when_writing_fails_the_old_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    place = tmp_path / "file"
    files.write("json", place, "first")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    with pytest.raises(files.Failed, match=r"json = .*No space left"):
        files.write("json", place, "second")
    assert place.read_text() == "first"
    assert list(tmp_path.iterdir()) == [place]


def test_interrupted_while_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "file"
    files.write("json", place, "first")

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        files.write("json", place, "second")
    assert place.read_text() == "first"
    assert list(tmp_path.iterdir()) == [place]


def test_places_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        files.write("plot", tmp_path / "nowhere" / "file", "text")
    with pytest.raises(InputError, match="directory"):
        files.write("plot", tmp_path, "text")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="there is no folder"):
        files.write("plot", tmp_path / "file" / "inside", "text")
    files.write("plot", "/dev/null", "text")
    assert not Path("/dev/null").is_file()
    with pytest.raises(files.Failed, match="No space left"):
        files.write("plot", "/dev/full", "text")


# --- a full disk ----------------------------------------------------------------------------------------------------------


def test_a_full_disk_while_the_report_is_written(tmp_path: Path) -> None:
    """The report is larger than what can be written, the checkpoint is not.  Files stay, or are replaced in full."""
    for name in ("report.json", "report.html"):
        (tmp_path / name).write_text("old")
    done = subprocess.run(
        [*VERIFY, "-o", str(tmp_path)], capture_output=True, text=True, preexec_fn=limited(40_000), timeout=PATIENCE
    )
    assert done.returncode == 4
    one_line(done.stderr, "tailproof verify: report = ", "could not be written (File too large)")
    assert (tmp_path / "report.html").read_text() == "old"
    text = (tmp_path / "report.json").read_text()
    assert text == "old" or json.loads(text)["findings"]
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".tmp"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The report of a run that nothing happened to."""
    folder = tmp_path_factory.mktemp("whole")
    assert subprocess.run([*VERIFY, "-o", str(folder)], stdout=subprocess.DEVNULL, timeout=PATIENCE).returncode == 0
    return (folder / "report.json").read_bytes()


def test_a_full_disk_while_the_checkpoint_is_written(tmp_path: Path, whole: bytes) -> None:
    """What is in it until then can be resumed from, and the report is the same as without all this."""
    done = subprocess.run(
        [*VERIFY, "-o", str(tmp_path / "a")], capture_output=True, text=True, preexec_fn=limited(4_000), timeout=PATIENCE
    )
    assert done.returncode == 4
    one_line(done.stderr, "tailproof verify: checkpoint = ", "(File too large)", "--resume")
    assert not (tmp_path / "a" / "report.json").exists()
    saved = (tmp_path / "a" / "checkpoint.jsonl").read_bytes().count(b"\n")
    assert saved > 1
    assert subprocess.run([*VERIFY, "-o", str(tmp_path / "a"), "--resume"], timeout=PATIENCE).returncode == 0
    assert (tmp_path / "a" / "report.json").read_bytes() == whole


@pytest.mark.parametrize("words", [["list"], ["list", "--json", "-"], ["--version"], ["--help"], ["errata"]])
def test_standard_output_on_a_full_disk(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*TAILPROOF, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    assert done.returncode == 4
    one_line(done.stderr, "No space left")


def test_json_on_a_full_disk(capsys: Capture) -> None:
    assert main(["list", "--json", "/dev/full"]) == 4
    one_line(capsys.readouterr().err, "tailproof list: json = '/dev/full'", "No space left")


# --- folders one may not write in -----------------------------------------------------------------------------------------


def test_a_file_in_place_of_a_folder(tmp_path: Path, capsys: Capture) -> None:
    """As root one may write everywhere; but not below a file."""
    (tmp_path / "file").write_text("mine")
    inside = str(tmp_path / "file" / "inside")
    for words in (
        ["verify", "--only", "P2.A2", "-o", inside],
        ["list", "--json", inside],
        ["vectors", "export", inside],
        ["compare", "n", "n", "--smt2", inside],
        ["sweep", "P3.T1", "--plot", inside],
    ):
        assert main(words) == 2
        one_line(capsys.readouterr().err, f"tailproof {words[0]}: ")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("words", [["verify", "--only", "P2.A2", "-o", "FOLDER"], ["list", "--json", "FOLDER/out.json"]])
def test_a_read_only_folder(words: list[str], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's answer is simulated: root is never refused."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("tempfile.mkstemp", refused)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    assert main([word.replace("FOLDER", str(tmp_path)) for word in words]) == 2
    one_line(capsys.readouterr().err, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


# --- pipes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["errata"], ["theorem"], ["errata", "--json", "-"], ["--help"], ["list", "--help"]])
def test_a_closed_pipe_is_silent(words: list[str]) -> None:
    process = subprocess.Popen([*TAILPROOF, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # nobody reads a line
    assert process.stderr.read() == b""
    assert process.wait(PATIENCE) == 0
    process.stderr.close()


def test_a_closed_pipe_does_not_hide_how_it_ended(tmp_path: Path) -> None:
    """And the file that was asked for is written."""
    out = tmp_path / "out.json"
    process = subprocess.Popen(
        [*TAILPROOF, "compare", "n**2", "n", "--json", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(PATIENCE) == 1
    assert json.loads(out.read_text())["verdict"] == "separated"
    process.stderr.close()


# --- Ctrl-C and kill -9 ---------------------------------------------------------------------------------------------------


def stopped_by(number: int, folder: Path, jobs: str) -> tuple[int, str]:
    """A run that got the signal as soon as a few tasks were done: (how it ended, what it said)."""
    process = subprocess.Popen(
        [*VERIFY[:-1], jobs, "-o", str(folder)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        process_group=0,
    )
    checkpoint, deadline = folder / "checkpoint.jsonl", time.monotonic() + PATIENCE
    while not (checkpoint.exists() and checkpoint.read_bytes().count(b"\n") >= 3):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)
    os.killpg(process.pid, number)  # as a terminal does it: to all processes of the group
    assert process.stderr is not None
    error = process.stderr.read()
    process.stderr.close()
    return process.wait(PATIENCE), error


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGINT, "1"), (signal.SIGINT, "2"), (signal.SIGKILL, "2")])
def test_a_run_that_is_stopped_can_be_resumed(tmp_path: Path, number: int, jobs: str, whole: bytes) -> None:
    code, error = stopped_by(number, tmp_path, jobs)
    if number == signal.SIGINT:
        assert code == 130
        one_line(error, "tailproof verify: interrupted", "--resume continues")
    else:
        assert code == -signal.SIGKILL
    assert not (tmp_path / "report.json").exists()
    assert (tmp_path / "checkpoint.jsonl").read_bytes().count(b"\n") >= 3
    again = [*VERIFY, "-o", str(tmp_path), "--resume"]
    done = subprocess.run(again, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0
    assert done.stderr == ""
    assert (tmp_path / "report.json").read_bytes() == whole
    assert not (tmp_path / "checkpoint.jsonl").exists()


def test_ctrl_c_is_one_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "_run", stopped)
    assert main(["list"]) == 130
    one_line(capsys.readouterr().err, "tailproof list: interrupted")


def test_nothing_to_resume_starts_from_the_beginning(tmp_path: Path, capsys: Capture) -> None:
    words = ["verify", "--only", "P0.A1", "--jobs", "1", "-o", str(tmp_path / "a"), "--resume"]
    assert main(words) == 0
    one_line(capsys.readouterr().err, "no checkpoint", "checkpoint.jsonl", "starting from the beginning")
    kept = str(tmp_path / "kept")
    words = ["sweep", "P3.T1", "--over", "n=500,600,700", "--runs", "3", "--jobs", "1", "--checkpoint", kept, "--resume"]
    assert main(words) in (0, 1)
    one_line(capsys.readouterr().err, f"tailproof sweep: no checkpoint {kept!r} to resume from; starting from the beginning")


# --- a mistake of ours ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyError("x"), RuntimeError("two\nlines"), ZeroDivisionError(), RecursionError("deep")])
def test_a_crash_is_one_line_and_exit_4(error: Exception, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise error

    monkeypatch.setattr(entry, "_run", broken)
    assert main(["list"]) == 4
    one_line(capsys.readouterr().err, "tailproof list: failed: ", type(error).__name__, "TAILPROOF_TRACEBACK=1")
    monkeypatch.setenv("TAILPROOF_TRACEBACK", "1")
    assert main(["list"]) == 4
    assert "Traceback" in capsys.readouterr().err
