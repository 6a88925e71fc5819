"""The plugin of pytest, in sessions of its own: settings, the line at the end, workers, reruns, and that it costs nothing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tailproof.verification.cli import main

pytest_plugins = ["pytester"]

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "test_my_mechanism.py"
QUIET = (
    "-p",
    "no:xdist",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:cacheprovider",
)  # what takes long to load and is not needed
ONE = """
import numpy as np
from tailproof.verification import assert_private, sessions

def constant(data, rng, size):
    return rng.normal(size=size)

def audit(**further):
    return assert_private(constant, "pure(eps=1)", [(np.zeros((2, 1)), np.ones((2, 1)))], budget=100, **further)

"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions in here are not those of a worker in which they may run."""
    for variable in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "TAILPROOF_FALSE_ALARM"):
        monkeypatch.delenv(variable, raising=False)


def test_the_example_catches_the_broken_mechanism_and_passes_the_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a user runs it: in a process of its own, beside nothing else.  A false alarm has probability at most 1e-3/2 in the first
    test, were its seed not fixed: that one and the same session passes always or never."""
    (tmp_path / EXAMPLE.name).write_text(EXAMPLE.read_text())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *QUIET, EXAMPLE.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "test_my_mechanism:unclipped_mean does not keep pure(eps=1)" in done.stdout
    assert "tailproof: 2 audits; chance of a false alarm at most 0.00067 of 0.001" in done.stdout
    assert re.search(r"E +differ in +record \d+: \[.*\] becomes \[.*\]", done.stdout)
    assert "assertions.py:" not in done.stdout  # the traceback ends at the user's line
    (command,) = re.findall(r"E +replay +tailproof (replay .*)", done.stdout)
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 1
    assert "still violates" in capsys.readouterr().out
    monkeypatch.delitem(sys.modules, "test_my_mechanism")


def test_the_example_is_twenty_odd_lines() -> None:
    code = [line for line in EXAMPLE.read_text().splitlines() if line.strip()]
    assert len(code) <= 20


def test_settings_come_from_the_ini_file(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntailproof_false_alarm = 1e-6\ntailproof_seed = 5\ntailproof_witnesses = kept")
    pytester.makepyfile(
        ONE
        + """
def test_one():
    assert 1 - audit().confidence <= 5e-7
    assert (sessions.current().seed, sessions.current().folder) == (5, "kept")

def test_two():
    audit()
    audit(false_alarm=1e-5)
"""
    )
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(passed=2)
    line = "tailproof: 3 audits; chance of a false alarm at most 6.7e-07 of 1e-06, and 1e-05 that audits stated themselves"
    result.stdout.fnmatch_lines([line])


def test_a_wrong_setting_is_named(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntailproof_false_alarm = 2")
    pytester.makepyfile(ONE + "def test_one():\n    audit()\n")
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*tailproof_false_alarm = '2': must be a number strictly between 0 and 1"])


def test_a_session_without_audits_has_no_line_and_imports_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one():\n    pass\n")
    result = pytester.runpytest_inprocess(*QUIET)
    assert "tailproof:" not in result.stdout.str()
    heavy = "{'numpy', 'scipy', 'tailproof.refimpl', 'tailproof.bounds', 'tailproof.verification', 'hypothesis'} & set(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, tailproof.pytest_plugin; print({heavy})"], capture_output=True, check=True
    )
    assert done.stdout.strip() == b"set()"


def test_another_project_s_package_of_our_name_is_left_alone(pytester: pytest.Pytester) -> None:
    pytester.mkpydir("verification").joinpath("mine.py").write_text("x = 1\n")
    pytester.makepyfile("from verification.mine import x\n\ndef test_one():\n    assert x == 1\n")
    result = pytester.runpytest_subprocess(*QUIET)
    result.assert_outcomes(passed=1)


def test_expected_failures_are_reported_as_such(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
import pytest
from tailproof.verification import check_mechanism

def f(data, rng):
    return rng.normal()

wanted = {"refuses NaN", "refuses infinity", "accepts data"}
checks = check_mechanism(f, "gdp(mu=1)", expected_failures={"refuses NaN": "by design", "accepts data": "wrong"})

@pytest.mark.parametrize("check", [pytest.param(check, id=name) for name, check in checks if name in wanted])
def test_f(check):
    check()
"""
    )
    result = pytester.runpytest_inprocess(*QUIET, "-rxfE")
    result.assert_outcomes(failed=2, xfailed=1)
    text = result.stdout.str()
    assert re.search(r"XFAIL .*refuses NaN\] - by design", text)
    assert "E       AssertionError: accepts data: was expected to fail (wrong), and does not" in text
    assert "E       AssertionError: takes data with an infinite number and returns" in text
    assert "check = <check 'accepts data'>" in text
    assert "mechanism_checks.py:" not in text  # the traceback ends at the user's line


def test_a_rerun_draws_the_same_and_is_charged_again(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    runtestprotocol(item, nextitem=nextitem, log=False)  # once more before the usual one
"""
    )
    pytester.makepyfile(
        ONE + "found = []\n\ndef test_one():\n    found.append(audit().seed)\n    assert len(set(found)) == 1\n"
    )
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["tailproof: 2 audits; chance of a false alarm at most 0.00067 of 0.001"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_test_in_a_forked_process_has_to_state_its_own(pytester: pytest.Pytester) -> None:
    """As pytest-forked runs every test; also when no audit came before the fork."""
    pytester.makepyfile(
        ONE
        + """
import os

def in_a_child(action):
    child = os.fork()
    if child == 0:
        try:
            action()
        except ValueError as error:
            os._exit(3 if "forked" in str(error) else 4)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def test_one():
    assert in_a_child(audit) == 3
    assert in_a_child(lambda: audit(false_alarm=1e-6)) == 0
"""
    )
    pytester.runpytest_inprocess(*QUIET).assert_outcomes(passed=1)


def test_workers_share_the_budget(pytester: pytest.Pytester) -> None:
    """One worker, three tests; it dies after the first, and its successor gets a share of its own."""
    pytester.makepyfile(
        ONE
        + """
import json, os, pathlib, pytest

@pytest.mark.parametrize("number", range(3))
def test_audits(number):
    share = 1 - audit().confidence
    found = audit()
    worker = os.environ["PYTEST_XDIST_WORKER"]
    with open(pathlib.Path(__file__).parent / f"{worker}-{number}.json", "w") as file:
        json.dump([worker, share, found.seed], file)
    if number == 0:
        os._exit(3)
"""
    )
    result = pytester.runpytest_subprocess("-n", "1", *QUIET[2:])  # without the first two words
    notes = [json.loads(path.read_text()) for path in sorted(pytester.path.glob("gw*.json"))]
    assert len(notes) == 3
    assert len({seed for _, _, seed in notes}) == 3
    for worker, share, _ in notes:
        assert share <= 1e-3 / 2 * (1 / 2 if worker == "gw0" else 1 / 4)
    (line,) = [line for line in result.outlines if line.startswith("tailproof: ")]
    assert re.match(
        r"tailproof: 4 audits; chance of a false alarm at most \d.*e?-?\d* of 0.001 \(not counted: 1 worker", line
    )
