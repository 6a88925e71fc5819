"""The independent reader: it refuses malformed files, tells right answers from wrong ones, and says how a program failed."""

import copy
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tailproof.verification.vectors import reader
from tailproof.verification.vectors.command import SHIPPED

READER = Path(reader.__file__)
PROGRAM = shlex.join([sys.executable, str(Path(__file__).parent / "program.py")])
Document = dict[str, Any]
PATIENCE = 600.0  # seconds; what answers does so within milliseconds, but for a busy machine


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return reader.load(SHIPPED)


def of_kind(documents: list[Document], kind: str) -> Document:
    return next(document for document in documents if document["kind"] == kind)


# --- files ------------------------------------------------------------------------------------------------------------------


def test_the_shipped_files_are_valid_by_another_validator_too(documents: list[Document]) -> None:
    for document in documents:
        schema = json.loads((SHIPPED / document["schema"]).read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(document)
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 1_000_000


def change(document: Document, *keys: Any, to: Any = ...) -> None:
    """Put a value there, or take away what is there."""
    for key in keys[:-1]:
        document = document[key]
    if to is ...:
        del document[keys[-1]]
    else:
        document[keys[-1]] = to


MALFORMED: dict[str, tuple[str, Callable[[Document], None], str]] = {
    "missing key": ("clipping", lambda d: change(d, "tests", 0, "flags"), "'flags' is missing"),
    "missing input": ("clipping", lambda d: change(d, "tests", 0, "inputs", "clip"), "'clip' is missing"),
    "extra key": ("clipping", lambda d: change(d, "tests", 0, "note", to="?"), "'note' is not allowed"),
    "extra input": ("clipping", lambda d: change(d, "tests", 0, "inputs", "seed", to=1), "'seed' is not allowed"),
    "extra parameter": (
        "transcript",
        lambda d: change(d, "runs", next(iter(d["runs"])), "parameters", "secret", to=1.0),
        "'secret' is not allowed",
    ),
    "wrong type": ("clipping", lambda d: change(d, "tests", 0, "inputs", "clip", to="1"), "type number"),
    "truth for a number": ("clipping", lambda d: change(d, "tests", 0, "inputs", "clip", to=True), "type number"),
    "number for a list": ("clipping", lambda d: change(d, "tests", 0, "expected", "mean", to=0.5), "type array"),
    "negative clip": ("clipping", lambda d: change(d, "tests", 0, "inputs", "clip", to=-1.0), "more than 0"),
    "fractional count": ("median-of-means", lambda d: change(d, "tests", 0, "inputs", "groups", to=2.5), "type integer"),
    "unknown flag": ("clipping", lambda d: change(d, "tests", 0, "flags", to=["TYPO"]), "TYPO"),
    "no flag": ("clipping", lambda d: change(d, "tests", 0, "flags", to=[]), "at least 1"),
    "flag twice": ("clipping", lambda d: change(d, "tests", 0, "flags", to=["UNCLIPPED"] * 2), "twice"),
    "wrong version": ("clipping", lambda d: change(d, "version", to=2), "must be 1"),
    "version as truth": ("clipping", lambda d: change(d, "version", to=True), "must be 1"),
    "wrong format": ("clipping", lambda d: change(d, "format", to="vectors"), "tailproof-vectors"),
    "unknown claim": ("composition", lambda d: change(d, "tests", 0, "inputs", "claims", 0, "claim", to="rdp"), "none of"),
    "wrong id": ("clipping", lambda d: change(d, "tests", 0, "id", to="truncation/inside"), "clipping/"),
    "no tests": ("clipping", lambda d: change(d, "tests", to=[]), "at least 1"),
    "unknown bug class": (
        "clipping",
        lambda d: change(d, "bug_classes", "TYPO", to={"description": "a", "effect": "b"}),
        "TYPO",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_schemas_refuse(name: str, documents: list[Document]) -> None:
    kind, damage, message = MALFORMED[name]
    document = copy.deepcopy(of_kind(documents, kind))
    schema = json.loads((SHIPPED / document["schema"]).read_text())
    reader.validate(document, schema)
    damage(document)
    with pytest.raises(reader.Malformed, match=message):
        reader.validate(document, schema)
    assert not jsonschema.Draft202012Validator(schema).is_valid(document)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"clip":1.0', '"clip":NaN', "NaN is not JSON"),
        ('"clip":1.0', '"clip":-Infinity', "Infinity is not JSON"),
        ('"clip":1.0', '"clip":1e999', "type number"),
        ('"clip":1.0', '"clip":1.0,"clip":1.0', "repeated"),
        ('"clip":1.0', '"clip":1.0}', "not JSON"),
        ('"kind": "clipping"', '"kind": "../clipping"', "no schema"),
        ('"id":"clipping/inside"', '"id":"clipping/outside"', "used twice"),
        ('"flags":["UNCLIPPED","WRONG_QUERY"]', '"flags":["INFLATED_NOISE"]', "not described"),
    ],
)
def test_files_that_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    shutil.copy(SHIPPED / "clipping.schema.json", tmp_path)
    text = (SHIPPED / "clipping.json").read_text()
    assert old in text
    (tmp_path / "clipping.json").write_text(text.replace(old, new, 1))
    with pytest.raises(reader.Malformed, match=message):
        reader.load(tmp_path)


def test_references_are_checked(documents: list[Document]) -> None:
    document = copy.deepcopy(of_kind(documents, "transcript"))
    document["tests"][0]["inputs"]["run"] = "P9.A9/0"
    with pytest.raises(reader.Malformed, match="no run 'P9"):
        reader._check_references(document)
    far = copy.deepcopy(of_kind(documents, "transcript"))
    test = next(test for test in far["tests"] if "replace" in test["inputs"])
    test["inputs"]["replace"]["row"] = 10**6
    with pytest.raises(reader.Malformed, match="does not fit"):
        reader._check_references(far)


def test_keywords_that_the_reader_does_not_know_are_refused() -> None:
    with pytest.raises(reader.Malformed, match="maxLength"):
        reader.validate("abc", {"type": "string", "maxLength": 2})


# --- expected answers, computed again ---------------------------------------------------------------------------------------


def test_expected_answers_are_right_by_formulas_of_the_reader(documents: list[Document]) -> None:
    counts, wrong = reader.recompute(documents)
    assert wrong == []
    assert sum(counts.values()) >= 329
    assert all(counts[kind] for kind in ("clipping", "calibration", "composition", "conversion", "projection", "transcript"))


@pytest.mark.parametrize(
    ("kind", "prefix", "keys", "factor"),
    [
        ("clipping", "clipping/outside", ("mean",), 1.001),
        ("soft-truncation", "soft-truncation/beta-4", ("values",), 1 + 1e-7),
        ("calibration", "calibration/analytic-4", ("value",), 1 + 1e-7),
        ("lipschitz-extension", "lipschitz-extension/absolute-ball", ("values",), 1.01),
        ("transcript", "transcript/P2.A2/0/ordinary/noise", ("scales",), 0.5),
        ("transcript", "transcript/P4.S1/0/ordinary/sensitivity", ("sensitivities",), 0.5),
    ],
)
def test_a_wrong_expected_answer_is_seen(
    kind: str, prefix: str, keys: tuple[str, ...], factor: float, documents: list[Document]
) -> None:
    document = next(d for d in documents if d["kind"] == kind and any(t["id"] == prefix for t in d["tests"]))
    test = copy.deepcopy(next(test for test in document["tests"] if test["id"] == prefix))
    for key in keys:
        test["expected"][key] = scaled(test["expected"][key], factor)
    _, wrong = reader.recompute([{**document, "tests": [test]}])
    assert len(wrong) == 1
    assert wrong[0].startswith(prefix)


def scaled(value: Any, factor: float) -> Any:
    if isinstance(value, list):
        return [scaled(part, factor) for part in value]
    if isinstance(value, dict):
        return {key: scaled(part, factor) for key, part in value.items()}
    return value * factor if isinstance(value, float) else value


# --- answers ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "got", "message"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-9}, None),
        ({"a": 1.0}, {"a": 1, "b": 2}, None),
        ({"a": [100.0, 0.0]}, {"a": [100.0, 1e-8]}, None),
        ({"a": [1.0, 0.0]}, {"a": [1.0, 1e-6]}, "a[1]: expected 0.0, got 1e-06"),
        ({"a": [[1.0], [2.0]]}, {"a": [[1.0], [3.0]]}, "a[1]: expected 2.0"),
        ({"a": 1.0}, {}, "a: is missing"),
        ({"a": 1.0}, {"a": True}, "got true"),
        ({"a": True}, {"a": 1}, "got 1"),
        ({"a": None}, {"a": 0.0}, "got 0.0"),
        ({"a": [1.0]}, {"a": [1.0, 2.0]}, "expected 1 entries"),
        ({"a": {"b": 1.0}}, {"a": 1.0}, "expected an object"),
        ({"a": "x"}, {"a": "y"}, "expected 'x'"),
        ({"a": 1.0}, {"a": float("nan")}, "got NaN"),
    ],
)
def test_differences(expected: Any, got: Any, message: str | None) -> None:
    found = reader.difference(expected, got, {"absolute": 0.0, "relative": 1e-8})
    assert found is None if message is None else message in str(found)


# --- programs ---------------------------------------------------------------------------------------------------------------


def clipping(documents: list[Document]) -> list[Document]:
    """The first four tests, and one of another kind."""
    return [
        {**of_kind(documents, "clipping"), "tests": of_kind(documents, "clipping")["tests"][:4]},
        {**of_kind(documents, "schedule"), "tests": of_kind(documents, "schedule")["tests"][:1]},
    ]


@pytest.mark.parametrize("behaviour", ["honest", "own-id"])
def test_an_honest_program_passes(behaviour: str, documents: list[Document]) -> None:
    report = reader.check_command(clipping(documents), f"{PROGRAM} {behaviour}", time_limit=PATIENCE)
    assert (report.passed, report.failed, report.unsupported) == ({"clipping": 4}, {}, {"schedule": 1})
    assert "Unsupported tests were not checked" in str(report)


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("words", 'rows: expected 3 entries, got "many"'),
        ("nan", "mean[0]: expected 0.1, got NaN"),
        ("keys", 'none of "outputs"'),
        ("missing", "mean: is missing"),
        ("list", 'no "outputs"'),
        ("other-id", "the reply is to 'clipping/other'"),
        ("error", "cannot read the records"),
        ("chatty", "not JSON: 'thinking…'"),
        ("die", "died: the program ended with exit code 1; it said: out of memory"),
    ],
)
def test_a_program_that_fails(behaviour: str, message: str, documents: list[Document]) -> None:
    report = reader.check_command(clipping(documents)[:1], f"{PROGRAM} {behaviour}", time_limit=PATIENCE)
    assert report.passed == {}
    assert len(report.failures) == 4
    assert message in report.failures[0].difference
    assert report.bug_classes == ["UNCLIPPED", "WRONG_QUERY"]
    if behaviour == "die":
        assert "not asked: the program failed 3 times in a row" in report.failures[3].difference


def test_a_program_that_died_is_started_again(tmp_path: Path, documents: list[Document]) -> None:
    report = reader.check_command(clipping(documents)[:1], f"{PROGRAM} die-once {tmp_path / 'died'}", time_limit=PATIENCE)
    assert (report.passed, report.failed) == ({"clipping": 3}, {"clipping": 1})


def test_a_program_that_hangs_is_killed(documents: list[Document]) -> None:
    tests = clipping(documents)[:1]
    tests[0]["tests"] = tests[0]["tests"][:1]
    report = reader.check_command(tests, f"{PROGRAM} hang", time_limit=0.7)
    assert "timed out: no reply within 0.7 s; the program was killed" in report.failures[0].difference


def test_a_reply_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, documents: list[Document]) -> None:
    monkeypatch.setattr(reader, "LONGEST", 1000)
    report = reader.check_command(clipping(documents)[:1], "sh -c 'tr \"\\0\" x </dev/zero'", time_limit=PATIENCE)
    assert "more than 1000 characters" in report.failures[0].difference


def test_it_runs_alone_and_imports_nothing_of_ours(tmp_path: Path) -> None:
    """By its path, isolated, and from another folder: neither refimpl nor numpy can be found."""
    hidden = "sys.modules.update(dict.fromkeys(['numpy', 'tailproof']))"
    code = f"import sys, runpy; {hidden}; sys.argv[:] = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-I", "-S", "-c", code, str(READER), str(SHIPPED), "--kind", "clipping", "conversion"]
    done = subprocess.run([*command, "--command", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "26 tests in 2 files; 25 expected answers computed again" in done.stdout
    done = subprocess.run(
        [*command, "--command", f"{PROGRAM} nan"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "FAILED clipping/inside" in done.stdout
    done = subprocess.run([*command[:-2], "nonsense"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "kind 'nonsense': must be one of" in done.stderr
