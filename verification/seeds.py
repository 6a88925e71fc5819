"""Seeds of tasks."""

from __future__ import annotations

import zlib
from typing import Any


def task_seed(seed: int, *names: Any) -> int:
    """Seeds are keyed by the task's name, so that neither order nor worker matters."""
    return zlib.crc32(repr((seed, *names)).encode())
