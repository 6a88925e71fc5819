"""Pairs of neighbours in words: in full where they are small, and what differs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tailproof.verification.auditing.runs import Pair

SHOWN_NUMBERS = 60  # of a data set that is printed in full


def shown_pair(pair: Pair | None) -> list[str]:
    """Both sides, and what differs, where they are tables of the same kind."""
    if pair is None:
        return []
    sides = [_table(side) for side in pair]
    lines = [f"{name}{shown(side)}" for name, side in zip(("A           ", "B           "), pair, strict=True)]
    first, second = sides
    if first is None or second is None or first.shape != second.shape:
        return lines
    rows = np.flatnonzero((first != second).reshape(len(first), -1).any(axis=1))
    return lines + [f"differ in   record {row}: {shown(first[row])} becomes {shown(second[row])}" for row in rows[:3]]


def _table(data: Any) -> Any:
    try:
        values = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return values if values.ndim else None


def shown(data: Any) -> str:
    values = _table(data)
    if values is None:
        return repr(data)[:200]
    text = np.array2string(
        values,
        threshold=SHOWN_NUMBERS,
        edgeitems=2,
        separator=", ",
        max_line_width=10**6,
        formatter={"float_kind": lambda number: f"{number:.10g}"},
    )
    size = f" ({' × '.join(map(str, values.shape))})" if values.size > SHOWN_NUMBERS else ""
    return " ".join(text.split()) + size
