"""Mechanisms that are not private as they claim, written against the public interface, and honest twins.

Every attack says why its claim is false and which checks may catch it: one of those must fail.  No check may fail on a twin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailproof.refimpl.channel import L1, Channel, Sensitivity
from tailproof.refimpl.claims import Claim, PureDP
from tailproof.refimpl.laws import Laplace
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.ending import TIME_LIMIT

ONE = PureDP(1.0)


@dataclass(frozen=True)
class Attack:
    """Not private as claimed, because of `why`; data are `records` × `columns` numbers in [0, 1] unless bounds say otherwise.

    `seconds` is the time limit of a run.
    """

    mechanism: Callable[..., Any]
    why: str
    caught_by: tuple[str, ...]
    claim: Claim = ONE
    records: int = 6
    columns: int = 1
    bounds: tuple[float, float] | None = (0.0, 1.0)
    seconds: float = TIME_LIMIT

    @property
    def name(self) -> str:
        return getattr(self.mechanism, "__name__", type(self.mechanism).__name__)


@dataclass(frozen=True)
class Honest:
    """Private as claimed."""

    mechanism: Callable[..., Any]
    claim: Claim = ONE
    records: int = 6
    columns: int = 1
    bounds: tuple[float, float] | None = (0.0, 1.0)

    @property
    def name(self) -> str:
        return getattr(self.mechanism, "__name__", type(self.mechanism).__name__)


def total(data: FloatArray) -> FloatArray:
    """Moves by at most 1 when a record is replaced."""
    return np.asarray(np.clip(data, 0, 1).sum(axis=0))


def noisy_sum(
    data: FloatArray, channel: Channel, *, name: str = "sum", epsilon: float = 1.0, sensitivity: Sensitivity = None
) -> FloatArray:
    """An honest release, which many attacks make beside their leak."""
    law = Laplace(total(data), 1 / epsilon)
    return channel.release(name, law, sensitivity=sensitivity or L1(1.0), spend=PureDP(epsilon))
