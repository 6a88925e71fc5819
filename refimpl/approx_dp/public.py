"""Checks of the public numbers from which presets choose parameters."""

from __future__ import annotations

from typing import Any

from tailproof.refimpl.validation import InputError, positive, real, whole


def positives(**values: Any) -> tuple[float, ...]:
    """All of them, by the names they are given."""
    return tuple(positive(name, value) for name, value in values.items())


def sizes(*, least: int = 1, **values: Any) -> tuple[int, ...]:
    """Numbers of records and of dimensions."""
    return tuple(whole(name, value, least=least) for name, value in values.items())


def high_order(moment_order: Any) -> float:
    """k ≥ 2 of P0, p ≥ 2 of P2."""
    order = real("moment_order", moment_order)
    if order < 2:
        raise InputError(f"moment_order = {order!r}: must be >= 2")
    return order


def low_order(moment_order: Any) -> float:
    """1 + v of P3, v in (0, 1]."""
    order = real("moment_order", moment_order)
    if not 1 < order <= 2:
        raise InputError(f"moment_order = {order!r}: must lie in (1, 2]")
    return order
