"""The programs of examples/ answer audits and vectors, in every language that is here; broken on purpose, they are found out."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tailproof.verification.cli import main
from tailproof.verification.vectors import reader
from tailproof.verification.vectors.command import SHIPPED

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SUPPORTED = {
    "c": {"calibration": 12, "clipping": 8, "transcript": 11, "truncation": 3},
    "awk": {"calibration": 12, "clipping": 8, "truncation": 3},
    "js": {"calibration": 12, "clipping": 8, "median-of-means": 6, "projection": 8, "truncation": 3},
    "py": {"calibration": 6, "clipping": 8, "transcript": 11},
}
CLAIM = ["--claim", "zcdp(rho=0.5)", "--records", "4", "--columns", "2", "--time-limit", "30"]


def need(tool: str) -> str:
    place = shutil.which(tool)
    if place is None:
        pytest.skip(f"{tool} is not installed")
    return place


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    program = tmp_path_factory.mktemp("examples") / "clipped_mean"
    source = str(EXAMPLES / "clipped_mean.c")
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([need("cc"), *flags, "-o", str(program), source, "-lm"], check=True)
    return str(program)


def command(language: str, request: pytest.FixtureRequest) -> list[str]:
    source = str(EXAMPLES / f"clipped_mean.{language}")
    if language == "c":
        return [request.getfixturevalue("compiled")]
    return {"py": [sys.executable, source], "js": [need("node"), source], "awk": [need("awk"), "-f", source]}[language]


@pytest.mark.parametrize("language", SUPPORTED)
def test_it_passes_the_vectors_that_it_supports(language: str, request: pytest.FixtureRequest) -> None:
    documents = reader.load(SHIPPED)
    found = reader.check_command(documents, shlex.join(command(language, request)), time_limit=600)
    assert found.failures == []
    assert found.passed == SUPPORTED[language]
    assert sum(found.passed.values()) + sum(found.unsupported.values()) == sum(len(d["tests"]) for d in documents)


# At this confidence a correct program is refuted with probability at most 1e-7; there are four of them.
@pytest.mark.parametrize("language", SUPPORTED)
def test_it_is_audited(language: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> None:
    program = ["audit", "--command", shlex.join(command(language, request)), *CLAIM, "--json", "-"]
    assert main([*program, "--budget", "1500", "--confidence", "0.9999999"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["verdict"] == "consistent"
    assert value["samples"] == 1500


def broken(language: str, bug: str, request: pytest.FixtureRequest) -> str:
    return shlex.join([*command(language, request), *(["-v", f"bug={bug}"] if language == "awk" else [bug])])


@pytest.mark.parametrize("language", SUPPORTED)
def test_without_clipping_the_audit_refutes_it(
    language: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """Far records move the mean by any number of deviations: every guess is right."""
    program = ["audit", "--command", broken(language, "unclipped", request), *CLAIM, "--json", "-"]
    assert main([*program, "--budget", "1500", "--sequential"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "violated"


@pytest.mark.parametrize("language", SUPPORTED)
def test_without_clipping_its_vectors_fail(language: str, request: pytest.FixtureRequest) -> None:
    documents = [d for d in reader.load(SHIPPED) if d["kind"] == "clipping"]
    found = reader.check_command(documents, broken(language, "unclipped", request), time_limit=600)
    assert "UNCLIPPED" in found.bug_classes
    assert {failure.id for failure in found.failures} >= {"clipping/outside", "clipping/entries-inside-norm-outside"}


def test_half_the_noise_is_named(request: pytest.FixtureRequest) -> None:
    found = reader.check_command(reader.load(SHIPPED), broken("c", "halved", request), time_limit=600)
    assert {failure.id for failure in found.failures} == {
        f"transcript/P2.A2/0/{part}/noise" for part in ("ordinary", "far", "small")
    }
    assert "UNDERSCALED_NOISE" in found.bug_classes


def test_parameters_reach_the_program_and_its_witness(
    compiled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Noise for ρ = 8 against a claim of 0.5: eight times the claimed budget and more."""
    program = ["audit", "--command", compiled, *CLAIM, "--budget", "4000", "--batch", "100", "--sequential", "--json", "-"]
    witness = tmp_path / "witness.json"
    assert main([*program, "--parameters", '{"clip": 1, "rho": 8}', "--witness", str(witness)]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "violated"
    assert json.loads(witness.read_text())["parameters"] == {"clip": 1, "rho": 8}
    assert main(["replay", str(witness)]) == 1
    assert "still violates" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--command", "cat", "--parameters", "[1]"], "must be a JSON object"),
        (["--command", "cat", "--parameters", '{"clip": NaN}'], "NaN is not JSON"),
        (["--command", "cat", "--batch", "0"], "batch"),
        (["math:sqrt", "--parameters", "{}"], "for --command only"),
    ],
)
def test_wrong_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *arguments, *CLAIM]) == 2
    assert message in capsys.readouterr().err


def test_a_program_that_is_deaf_or_gets_rubbish_says_so(compiled: str, capsys: pytest.CaptureFixture[str]) -> None:
    for text, said in (("rubbish\n", "not JSON\n"), ('{"seed": 1}\n', "there are no data\n")):
        done = subprocess.run([compiled], input=text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
    deaf = shlex.join(["sh", "-c", f"exec {shlex.quote(compiled)} </dev/null"])
    assert main(["audit", "--command", deaf, *CLAIM, "--budget", "1000"]) == 4
    assert "the program ended with exit code 0" in capsys.readouterr().err
