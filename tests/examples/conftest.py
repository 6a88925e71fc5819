"""The folder of audits is no package: its modules are found while a test runs, and forgotten again."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent.parent / "examples" / "audits"


@pytest.fixture(autouse=True)
def _on_the_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)
