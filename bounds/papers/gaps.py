"""Gaps that serve more than one paper: each returns (measured, allowed by the paper)."""

from __future__ import annotations

from collections.abc import Callable

from tailproof.bounds.erratum import Gap
from tailproof.refimpl.claims import gaussian_delta


def gaussian_gap(scale: Callable[..., float]) -> Callable[..., Gap]:
    """The exact δ(ε) of Gaussian noise of the published scale against the δ it is stated for."""

    def gap(*, epsilon: float, delta: float) -> Gap:
        return gaussian_delta(1 / scale(sensitivity=1.0, epsilon=epsilon, delta=delta), epsilon), delta

    return gap


def equality_gap(*, left: float, right: float) -> Gap:
    """Two numbers that are published as equal."""
    return abs(left - right), 0.0
