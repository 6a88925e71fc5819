"""Figures that tests record with `record_property` are summed up at the end of the run: counts of words, ranges of numbers.

One thread of BLAS for each process, as `tailproof` has it: there are as many processes as cores, and threads beyond that wait in
loops for each other.  What is there once all tests are collected, modules and tests, is left out of later garbage collections.
"""

# ruff: noqa: E402  (the variables are read when numpy is imported)

from __future__ import annotations

import gc
import os
import signal
import sys

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from collections import Counter, defaultdict
from collections.abc import Generator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")  # no test depends on how fast the machine is

OURS = {"refimpl", "bounds", "verification"}


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """`python -m pytest` puts the repository on the path: what imports a room by its bare name passes here and fails elsewhere."""
    bare = [name for name in OURS & sys.modules.keys() if str(item.config.rootpath) in str(sys.modules[name].__file__)]
    assert not bare, f"imported by a bare name: {', '.join(bare)}"


@pytest.fixture(autouse=True)
def _own_modules(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """What a test imports from a temporary folder goes with it: another test may have another module of that name."""
    path, temporary = list(sys.path), str(tmp_path_factory.getbasetemp())
    yield
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(temporary):
            del sys.modules[name]


@pytest.fixture
def interruptible() -> Generator[None]:
    """In the background of a script tests ignore SIGINT; this one takes it as on a terminal, and so do the processes it starts."""
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Numbers of numpy become Python's: worker processes can send no others."""
    report = yield
    report.user_properties = [
        (name, value.item() if isinstance(value, np.generic) else value) for name, value in report.user_properties
    ]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    figures = defaultdict(list)
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties if report.when == "call" else []:
            figures[name].append(value)
    if figures:
        terminalreporter.section("figures")
    for name, values in sorted(figures.items()):
        if isinstance(values[0], str):
            text = ", ".join(f"{word} {count}" for word, count in Counter(values).most_common())
        else:
            low, middle, high = np.quantile(values, [0, 0.5, 1])
            text = f"{len(values)} values, {sum(v > 0 for v in values)} > 0; {low:.3g} to {high:.3g}, median {middle:.3g}"
        terminalreporter.write_line(f"{name}: {text}")
