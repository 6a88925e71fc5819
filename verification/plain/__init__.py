"""Every published algorithm a second time, as plainly as its paper states it, with holes where the noise goes.

A plain algorithm is a generator.  It yields an `Expected` where the paper adds noise, and receives the value that was
released there. It yields a `Hidden` where the paper flips a coin that does not depend on data, and receives the coin.  It
returns the output. Driven along a recorded transcript it says, release by release, what the query should have been.

Nothing here is taken from `refimpl`: formulas are written again from the papers, with numpy and scipy alone.  Parameters arrive as
they stand in the setting (numbers, text such as "ball:1", plans).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from tailproof.refimpl.validation import FloatArray


@dataclass(frozen=True, eq=False)
class Expected:
    """The query of the release `name`: what its noise is added to, or the scores it chooses by.

    `within` is how far, in the ℓ₂ norm, the recorded query may be from it: 0 leaves a relative 1e-9 for rounding.  A query that is
    only known up to a certified accuracy says that accuracy.  `up_to_constant` is for scores: adding a constant to all means
    nothing.  The noise of a perturbed minimiser is its tilt: `query` is then the tilt as a function of what is released.

    `places` are the points that are chosen from, where the paper says nothing of their order.  Scores are compared without an order
    then, each of them with the nearest (`within` is for every one), and what is received is not an index but the points that have
    the chosen score: one of them, unless points tie.  Of a density on a set, `places` are any points at all, and `query` has the
    scores of those of the set that are nearest to them.

    `law` is for a law that is only near the published one: how far it is, as a multiple of what is stated.
    """

    name: str
    query: FloatArray | Callable[[Any], FloatArray]
    within: float = 0.0
    up_to_constant: bool = False
    places: FloatArray | None = None
    law: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Hidden:
    """Randomness without data: an order, a subset, a sign."""

    name: str


@dataclass(frozen=True, eq=False)
class OneOf:
    """The output is one of these: points that tie."""

    outputs: tuple[FloatArray, ...]


Plain = Generator[Expected | Hidden, Any, Any]
"""Yields what it expects, receives what was released, returns the output (None: the output is not stated)."""

PlainAlgorithm = Callable[[FloatArray, dict[str, Any]], Plain]
"""(data, the setting's parameters) to a run."""
