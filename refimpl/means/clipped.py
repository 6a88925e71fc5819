"""[P0, Algorithm 1] ClippedMean: project every record onto the ball of radius C and average.

Setting: z_1..z_n in R^d.  A deterministic helper: it releases nothing and claims nothing; what uses it relies on
its ℓ2-sensitivity 2C/n.  Departures: none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl import validation
from tailproof.refimpl.channel import L2, Bound
from tailproof.refimpl.means.rows import clipped_mean_of, replace_record
from tailproof.refimpl.validation import FloatArray


def clipped_mean(data: ArrayLike, *, clip: float) -> FloatArray:
    """The mean of the records, each projected on the ball of radius `clip`."""
    clip = validation.positive("clip", clip)
    return clipped_mean_of(validation.records("data", data), clip)  # line 1


def sensitivity(n: int, *, clip: float) -> Bound:
    """Two points of a ball of radius C are at most 2C apart.  Attained, so it is also the supremum."""
    return L2(2 * clip / n)


def worst_neighbours(n: int, d: int, *, clip: float, **_: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Antipodal points of the sphere; far outliers, which clipping brings back to antipodal points."""
    direction = np.ones(d) / np.sqrt(d)
    for length in (clip, 1e12 * clip):
        data = np.zeros((n, d))
        data[0] = length * direction
        yield data, replace_record(data, 0, -length * direction)
