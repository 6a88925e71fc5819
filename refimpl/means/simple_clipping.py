"""[P2, Algorithm 2] Simple clipping: clip to radius R, average, add Gaussian noise.

Setting: X_1..X_n in R^d, E|⟨u, X⟩|^p ≤ M^p for every unit u.  Statement: ρ-zCDP [P2 Lemma 4]; error [P2 Theorem 2].
Departures: none.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from tailproof.refimpl import validation
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ZCDP
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.means.clipped import sensitivity, worst_neighbours
from tailproof.refimpl.means.rows import clipped_mean_of
from tailproof.refimpl.validation import FloatArray

__all__ = ["privacy", "sensitivity", "simple_clipping_mean", "worst_neighbours"]


def simple_clipping_mean(data: ArrayLike, channel: Channel, *, clip: float, rho: float) -> FloatArray:
    """The clipped mean plus Gaussian noise."""
    clip = validation.positive("clip", clip)
    rho = validation.positive("rho", rho)
    data = validation.records("data", data)
    n = len(data)
    mean = clipped_mean_of(data, clip)  # lines 1-3
    law = Gaussian(mean, math.sqrt(2 / rho) * clip / n)  # line 4, as printed
    return channel.release("mean", law, sensitivity=sensitivity(n, clip=clip), spend=privacy(rho=rho))  # line 5


def privacy(*, rho: float) -> ZCDP:
    """[P2, Lemma 4]"""
    return ZCDP(rho)
