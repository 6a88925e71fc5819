"""The worked example of one-run audits: DP-SGD (P0.B) with a gradient canary in every coordinate.

Canary i is the record S_i·C·e_i of an affine loss: its gradient is itself, of norm C, never clipped, and orthogonal to all others.
Replacing one canary by its opposite is a replace-one move, the largest one of P0.B's claim.  Only the last iterate is looked at.
While the domain is not reached it is −η·Σ_t (mean of batch t + noise), so −w_i is high when S_i = 1.
"""

from __future__ import annotations

import warnings

import numpy as np

from tailproof.refimpl.approx_dp.sgd import dp_sgd
from tailproof.refimpl.channel import run
from tailproof.refimpl.claims import UnprovedClaim
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import Affine
from tailproof.refimpl.validation import FloatArray, between, whole

CLIP = 1.0
STEP = 1e-3
RADIUS = 1e6  # far beyond any iterate


def dp_sgd_scores(
    rng: np.random.Generator, *, canaries: int, epsilon: float, delta: float, share: float = 1.0, steps: int = 50
) -> tuple[FloatArray, FloatArray]:
    """(scores, coins) of one run on as many records as canaries; `share` of them in every batch, noise as for (ε, δ)."""
    m = whole("canaries", canaries, least=2)
    batch = max(1, round(between("share", share, 0.0, 1.0) * m))
    coins = rng.choice([-1.0, 1.0], size=m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnprovedClaim)
        iterate, _ = run(
            dp_sgd,
            np.diag(CLIP * coins),
            rng,
            loss=Affine(),
            domain=Ball(np.zeros(m), RADIUS),
            epsilon=epsilon,
            delta=delta,
            clip=CLIP,
            batch=batch,
            steps=steps,
            step=STEP,
        )
    return -np.asarray(iterate), coins
