"""Figures that tests record with `record_property` are summed up at the end of the run: counts of words, ranges of numbers."""

from collections import Counter, defaultdict
from collections.abc import Generator

import numpy as np
import pytest


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
