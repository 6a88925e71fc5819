"""When and from which commit a report was made: facts about a run that are no part of its reproducible answer."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from json import JSONDecodeError, loads
from pathlib import Path


def facts() -> dict[str, str]:
    """`date` (in UTC; SOURCE_DATE_EPOCH takes the place of the clock), and `commit` where it is known."""
    commit = _commit()
    return {"date": _date()} | ({"commit": commit} if commit else {})


def _date() -> str:
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    return f"{now:%Y-%m-%d %H:%M} UTC"


def _commit() -> str | None:
    """Of the repository that this file is tracked in, or that pip installed from; not of one that merely surrounds it."""
    here = Path(__file__).resolve()
    if _git(here, "ls-files", "--error-unmatch", here.name) is not None:
        commit = _git(here, "rev-parse", "--short=12", "HEAD")
        changed = _git(here, "status", "--porcelain", "--untracked-files=no")
        return f"{commit} with local changes" if commit and changed else commit
    try:
        written = loads(metadata.distribution("tailproof").read_text("direct_url.json") or "{}")
        return str(written["vcs_info"]["commit_id"])[:12]
    except (metadata.PackageNotFoundError, JSONDecodeError, KeyError, TypeError, OSError):
        return None


def _git(file: Path, *arguments: str) -> str | None:
    """What git says; None where it fails or there is none."""
    try:
        done = subprocess.run(["git", *arguments], cwd=file.parent, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
