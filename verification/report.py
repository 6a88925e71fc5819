"""Findings: what a check says, in words a report can print and a script can read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tailproof.verification.shown import Rows, Table, render

Status = Literal["violated", "consistent", "certified", "inconclusive", "skipped"]
PASSING = ("consistent", "certified")


@dataclass(frozen=True)
class Finding:
    """What a check found.  `consistent` means not refuted at this effort, `certified` proved by exact computation.

    `measured` ≤ `bound` is what the check asks for.  `confidence` is 1 for exact checks, else the probability with which
    a true claim is not called violated.  `expected` marks the findings on published claims that are known to fail.
    `detail` is for people: no code reads it.
    """

    algorithm: str
    check: str
    status: Status
    measured: float | None = None
    bound: float | None = None
    confidence: float = 1.0
    seed: int | None = None
    expected: bool = False
    detail: str = ""
    setting: str = ""
    witness: dict[str, Any] | None = None
    losses: dict[str, Any] | None = None  # how they are distributed on the pair of a transcript's check, for the report
    tried: int = 0  # pairs that a search tried
    errata: tuple[str, ...] = ()  # ids of those that a violated or inconclusive check is about
    reason: str = ""  # why a status that is no pass is the expected one

    @property
    def unexpected_violation(self) -> bool:
        return self.status == "violated" and not self.expected

    def to_json(self) -> dict[str, Any]:
        result: dict[str, Any] = plain(asdict(self))
        return result


def plain(value: Any) -> Any:
    """The value with its infinities and NaNs as text: JSON has none."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"


def short(value: float) -> str:
    """What was estimated from few runs has no more digits."""
    return f"{value:.4g}"


def table(rows: Rows, header: Sequence[str]) -> str:
    """Columns of text, aligned; as wide as they are."""
    return render(Table(rows, header))
