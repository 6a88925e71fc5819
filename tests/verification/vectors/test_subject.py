"""refimpl passes all vectors over the protocol; its mutants fail, each under the name of what is wrong with it."""

import json
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tailproof.verification.mutants import MUTANTS, Mutant, mutant
from tailproof.verification.vectors import bugs, reader
from tailproof.verification.vectors.command import SHIPPED
from tailproof.verification.vectors.subject import answerer, main, reply_to

SUBJECT = shlex.join([sys.executable, "-m", "tailproof.verification.vectors.subject"])
QUICK = (  # one of each class, over all papers
    ("P2.A2", "clip skipped"),
    ("P3.A1", "C/n for 2C/n"),
    ("P1.A4.mean", "noise halved"),
    ("P3.A3", "noise doubled"),
    ("P2.A1", "variance for deviation"),
    ("P3.A4", "budget not split over the s rounds"),
    ("P0.A3", "budget of every phase for all records: batches overlap"),
    ("P3.A2", "noise reused"),
    ("P3.A6", "noise reused: exact gradient added"),
    ("P4.A2", "C from the data"),
    ("P2.A3", "groups by value"),
    ("P0.A6", "not shuffled"),
    ("P4.S2", "certificate ignored: single precision"),
    ("P4.S1", "certificate ignored: the centre where it is hard to find"),
    ("P2.A1", "√ln(1/δ) for 2√ln(1/δ) in ρ"),
    ("P4.A1", "turned round"),
)


def report(broken: Mutant) -> reader.Report:
    """On the vectors of its algorithm; answers pass through JSON, as over a pipe."""
    prefix = f"transcript/{broken.algorithm}/"
    found = [{**d, "tests": [t for t in d["tests"] if t["id"].startswith(prefix)]} for d in reader.load(SHIPPED)]
    answer = answerer(broken)
    return reader.check(found, lambda request: reader.read_reply(reply_to(json.dumps(request), answer)))


def test_refimpl_passes_all_vectors_over_the_pipe(tmp_path: Path) -> None:
    """The reader by itself, without our packages; on the other side of the pipe refimpl."""
    command = [sys.executable, "-I", "-S", str(reader.__file__), str(SHIPPED), "--command", SUBJECT, "--time-limit", "120"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = Counter(test["id"].split("/")[0] for document in reader.load(SHIPPED) for test in document["tests"])
    lines = [line.split() for line in done.stdout.splitlines()[2:]]  # kind, passed, failed, unsupported
    assert {tuple(line) for line in lines} == {(kind, str(count), "0", "0") for kind, count in counts.items()}


def test_a_mutant_fails_over_the_pipe() -> None:
    documents = [d for d in reader.load(SHIPPED) if d["kind"] == "transcript"]
    documents = [{**d, "tests": [t for t in d["tests"] if "/P2.A2/" in t["id"]]} for d in documents]
    found = reader.check_command(documents, f"{SUBJECT} --mutant P2.A2 'noise halved'", time_limit=600)
    assert {failure.id for failure in found.failures} == {
        f"transcript/P2.A2/0/{part}/noise" for part in ("ordinary", "far", "small")
    }
    assert "UNDERSCALED_NOISE" in found.bug_classes


def test_the_quick_selection_has_every_class_that_mutants_have() -> None:
    assert {bugs.bug_class(mutant(*names)) for names in QUICK} == {bugs.bug_class(m) for m in MUTANTS}


@pytest.mark.parametrize("names", QUICK, ids=lambda names: f"{names[0]}-{names[1]}")
def test_a_mutant_fails_by_the_name_of_its_bug(names: tuple[str, str]) -> None:
    broken = mutant(*names)
    assert bugs.bug_class(broken) in report(broken).bug_classes


@pytest.mark.long
@pytest.mark.parametrize("broken", MUTANTS, ids=lambda m: f"{m.algorithm}-{m.name}")
def test_every_mutant_fails_by_the_name_of_its_bug(broken: Mutant) -> None:
    assert bugs.bug_class(broken) in report(broken).bug_classes


def test_every_mutant_has_a_class_and_no_class_names_a_mutant_that_is_gone() -> None:
    assert {bugs.bug_class(m) for m in MUTANTS} <= set(bugs.BUG_CLASSES)
    names = [name for members in bugs._BY_NAME.values() for name in members]
    assert len(set(names)) == len(names)
    assert set(names) == {m.name for m in MUTANTS}
    with pytest.raises(KeyError, match="has no bug class"):
        bugs.bug_class(Mutant("P2.A2", "new", "privacy", ()))


def test_what_the_subject_cannot_do_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    answer = answerer()
    assert "unsupported" in json.loads(reply_to('{"kind": "weather", "inputs": {}}', answer))
    assert "unsupported" in json.loads(reply_to('{"kind": "transcript", "inputs": {"algorithm": "P9.A9"}}', answer))
    assert "KeyError" in json.loads(reply_to('{"kind": "clipping", "inputs": {}}', answer))["error"]
    assert "error" in json.loads(reply_to("rubbish", answer))
    with pytest.raises(SystemExit):
        main(["--mutant", "P2.A2", "none"])
    assert "has no mutant 'none'" in capsys.readouterr().err
