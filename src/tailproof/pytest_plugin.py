"""A plugin of pytest: settings of `tailproof.verification.assert_private`, and one line at the end of a session that had audits.

pytest loads it at every start, wherever Tailproof is installed: so it imports nothing heavy.
`tailproof.verification.sessions` puts the session here once there is an audit.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

KEY = "tailproof"
SESSIONS: list[dict[str, Any]] = []  # the session that runs, last; a session may run inside of another one's test


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "tailproof_false_alarm",
        "probability with which all audits of a session together may call a true claim refuted (default 1e-3; the environment "
        "variable TAILPROOF_FALSE_ALARM comes first)",
    )
    parser.addini("tailproof_seed", "seed of all audits of a session (default 0)")
    parser.addini("tailproof_witnesses", "folder for witnesses of refuted claims (default .tailproof)")


def pytest_configure(config: pytest.Config) -> None:
    names = ("false_alarm", "seed", "witnesses")
    settings = {name: config.getini(f"tailproof_{name}") for name in names}
    SESSIONS.append(settings | {"process": os.getpid(), "workers": [], "config": config})


def pytest_unconfigure(config: pytest.Config) -> None:
    if SESSIONS and SESSIONS[-1]["config"] is config:
        SESSIONS.pop()


def pytest_runtest_setup(item: pytest.Item) -> None:
    session = SESSIONS[-1].get("session")
    if session is not None:
        session.starts(item.nodeid)


# --- what was spent -------------------------------------------------------------------------------------------------------


def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)  # of a worker of pytest-xdist
    mine = SESSIONS[-1].get("session")
    if output is not None and mine is not None:
        output[KEY] = mine.account()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker of pytest-xdist has ended; one that crashed has told nothing."""
    account = getattr(node, "workeroutput", {}).get(KEY)
    SESSIONS[-1]["workers"].append(account or {"lost": int(error is not None)})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    session = SESSIONS[-1].get("session")
    accounts = ([] if session is None else [session.account()]) + SESSIONS[-1]["workers"]
    audits, spent, stated, lost = (
        sum(account.get(key, 0) for account in accounts) for key in ("audits", "spent", "stated", "lost")
    )
    if not audits:
        return
    budget = max(account.get("budget", 0) for account in accounts)
    text = f"tailproof: {audits} audit{'s' if audits > 1 else ''}; chance of a false alarm at most {spent:.2g} of {budget:g}"
    if stated:
        text += f", and {stated:.2g} that audits stated themselves"
    if lost:
        text += f" (not counted: {lost} worker{'s' if lost > 1 else ''} that crashed, within the same budget)"
    terminalreporter.write_line(text)
