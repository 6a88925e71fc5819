"""The shipped vectors are those that the command writes, and the command writes the same every time."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailproof.refimpl.catalogue import ALGORITHMS, Algorithm
from tailproof.refimpl.domains import Box
from tailproof.verification.cli import main
from tailproof.verification.vectors import reader
from tailproof.verification.vectors.bugs import BUG_CLASSES
from tailproof.verification.vectors.cases import CASES
from tailproof.verification.vectors.command import SHIPPED
from tailproof.verification.vectors.export import documents, rounded, text_of
from tailproof.verification.vectors.histories import _agree
from tailproof.verification.vectors.parameters import from_json, to_json
from tailproof.verification.vectors.pieces import PIECES
from tailproof.verification.vectors.schemas import KINDS, schema_of


def compare(name: str, document: dict[str, Any]) -> None:
    """Questions and flags to the letter; answers within the tests' tolerances, as machines round differently."""
    shipped, new = json.loads((SHIPPED / name).read_text()), json.loads(text_of(document))
    close = {"absolute": 1e-9, "relative": 1e-9}
    for ours, theirs in zip(new.pop("tests"), shipped.pop("tests"), strict=True):
        assert reader.difference(theirs.pop("expected"), ours.pop("expected"), theirs["tolerance"]) is None, ours["id"]
        assert reader.difference(theirs, ours, close) is None
        assert reader.difference(ours, theirs, close) is None
    assert reader.difference(shipped, new, close) is None
    assert reader.difference(new, shipped, close) is None


@pytest.mark.long
def test_the_shipped_vectors_are_what_is_written_now() -> None:
    for name, document in documents():
        compare(name, document)


def test_the_shipped_pieces_are_what_is_written_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the schemas, and two files' names; refimpl's answers to all transcripts are checked over the pipe."""
    monkeypatch.setattr("tailproof.verification.vectors.export.ALGORITHMS", ())
    written = dict(documents())
    for name, document in written.items():
        compare(name, document)
    for kind in KINDS:
        assert json.loads((SHIPPED / f"{kind}.schema.json").read_text()) == json.loads(json.dumps(schema_of(kind)))
    papers = {f"transcript-{entry.paper}.json" for entry in ALGORITHMS}
    assert {path.name for path in SHIPPED.iterdir()} == {*written, *papers, *(f"{kind}.schema.json" for kind in KINDS)}


@pytest.mark.parametrize("entry", [a for a in ALGORITHMS if a.implementation], ids=lambda a: a.id)
def test_the_shipped_runs_are_at_the_catalogue_s_settings(entry: Algorithm) -> None:
    """And parameters survive JSON."""
    runs = json.loads((SHIPPED / f"transcript-{entry.paper}.json").read_text())["runs"]
    assert entry.implementation is not None
    for index, setting in enumerate(entry.implementation.settings):
        if setting.refuted is not None:
            continue
        written = json.loads(json.dumps(to_json(setting.parameters)))
        assert to_json(from_json(written)) == written
        there = [run for name, run in runs.items() if name.startswith(f"{entry.id}/{index}/")]
        assert there
        for run in there:
            assert run["algorithm"] == entry.id
            assert reader.difference(written, run["parameters"], {"absolute": 0, "relative": 1e-9}) is None
            assert np.shape(run["data"]) == (setting.n, setting.d)


def test_what_has_no_plain_form_is_refused() -> None:
    with pytest.raises(TypeError, match="a Box has no plain form"):
        to_json({"domain": Box(np.zeros(2), np.ones(2))})


def test_the_same_bytes_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Of all pieces and of some algorithms: those of all take seconds."""
    some = tuple(entry for entry in ALGORITHMS if entry.id in ("P0.A6", "P2.A2", "P3.A4", "P4.S1", "P4.S2"))
    monkeypatch.setattr("tailproof.verification.vectors.export.ALGORITHMS", some)
    for folder in ("a", "b"):
        assert main(["vectors", "export", str(tmp_path / folder), "--json", "-"]) == 0
        value = json.loads(capsys.readouterr().out)
    assert value["bytes"] == sum(path.stat().st_size for path in (tmp_path / "b").iterdir())
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == sorted(value["files"])
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    reader.load(tmp_path / "a")


def test_every_algorithm_and_every_kind_has_vectors() -> None:
    ids = [test["id"] for document in reader.load(SHIPPED) for test in document["tests"]]
    assert set(CASES) == set(PIECES) == set(KINDS) - {"transcript"}
    for kind in KINDS:
        assert any(name.startswith(f"{kind}/") for name in ids)
    for entry in ALGORITHMS:
        if entry.implementation is not None:
            assert any(name.startswith(f"transcript/{entry.id}/") for name in ids), entry.id


def test_every_bug_class_is_hunted_and_described() -> None:
    hunted = {flag for document in reader.load(SHIPPED) for test in document["tests"] for flag in test["flags"]}
    assert hunted == set(BUG_CLASSES)
    assert all(bug.description and bug.effect for bug in BUG_CLASSES.values())


def test_a_scale_that_is_not_the_published_one_is_not_written() -> None:
    with pytest.raises(ValueError, match="published"):
        _agree("P2.A2 mean", [1.0], [1.0 + 1e-8])


def test_expected_numbers_have_few_digits() -> None:
    assert rounded({"a": [1 / 3, -0.0, True, None, 3, "x"]}) == {"a": [0.3333333333333, 0.0, True, None, 3, "x"]}
    assert str(rounded(-0.0)) == "0.0"
