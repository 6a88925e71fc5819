"""How far an audit is: told to whoever asks, after every batch of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Stage = Literal["searching", "testing", "shrinking"]


@dataclass(frozen=True)
class Progress:
    """Pairs tried, runs so far of at most `budget`, and the lower bound of the claim's parameter that they give (0 at first)."""

    stage: Stage
    pairs: int
    runs: int
    budget: int
    lower: float


@dataclass(eq=False)
class Watch:
    """What an audit writes down on the way; `tell`, where somebody listens, gets it with the number of runs."""

    budget: int
    tell: Callable[[Progress], None] | None = None
    stage: Stage = "testing"
    pairs: int = 0
    lower: float = 0.0

    def heard(self, runs: int) -> None:
        if self.tell is not None:
            self.tell(Progress(self.stage, self.pairs, runs, self.budget, self.lower))
