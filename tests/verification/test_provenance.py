"""Date and commit of a run: of Tailproof's own repository or none, and outside of what is reproducible."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tailproof.verification import provenance


def test_the_date_is_that_of_the_clock_or_of_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", provenance.facts()["date"])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert provenance.facts()["date"] == "2023-11-14 22:13 UTC"


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_repository_that_surrounds_an_installed_copy_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "site-packages" / "provenance.py"
    copied.parent.mkdir()
    shutil.copy(provenance.__file__, copied)
    monkeypatch.setattr(provenance, "__file__", str(copied))
    monkeypatch.setattr(provenance.metadata, "distribution", _without_a_commit)
    assert "commit" not in provenance.facts()

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        done = subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init")
    (tmp_path / "mine.txt").write_text("a user's own file")
    git("add", "mine.txt")
    git("commit", "-m", "mine")
    assert "commit" not in provenance.facts()  # the file is not tracked there
    git("add", "site-packages")
    git("commit", "-m", "theirs")
    assert provenance.facts()["commit"] == git("rev-parse", "--short=12", "HEAD")
    copied.write_text(copied.read_text() + "# changed\n")
    assert provenance.facts()["commit"].endswith(" with local changes")


def test_without_git_there_is_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(provenance.metadata, "distribution", _without_a_commit)
    assert list(provenance.facts()) == ["date"]


def test_pip_says_which_commit_it_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "_git", lambda *_: None)
    monkeypatch.setattr(
        provenance.metadata, "distribution", lambda _: _Installed('{"vcs_info": {"commit_id": "abcdef0123456789"}}')
    )
    assert provenance.facts()["commit"] == "abcdef012345"


class _Installed:
    def __init__(self, text: str | None) -> None:
        self.text = text

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.text


def _without_a_commit(_: str) -> _Installed:
    return _Installed('{"url": "file:///x", "dir_info": {"editable": true}}')
