"""Transcripts of several releases against an approximate claim: Monte Carlo with an exact confidence bound.

δ(ε) = E[(1 − e^{ε−L})₊] over the transcript's loss L.  Each sampled value in [0, 1] is turned into a coin of that bias, so
the number of heads is binomial with mean δ(ε) and Clopper–Pearson's lower bound is exact.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv

from tailproof.refimpl.channel import ReplayDiverged
from tailproof.refimpl.claims import ApproxDP
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.pair_checks import Measurement, transcript_loss
from tailproof.verification.subject import Subject

FALSE_ALARM = 1e-9
"""Probability with which one check here calls a true claim violated."""


def binomial_lower(successes: int, trials: int, error: float) -> float:
    """A lower confidence bound for a binomial probability: wrong with probability at most `error`."""
    return 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, error))


def check_composition(
    subject: Subject, data: FloatArray, neighbour: FloatArray, seed: int, *, runs: int = 400
) -> Measurement:
    """A lower confidence bound of δ at the claimed ε, on this pair; first data against second."""
    claim = subject.checked_claim
    assert isinstance(claim, ApproxDP)
    coins = np.random.default_rng([seed, 1])
    heads, conclusive, losses = 0, True, []
    for trial in range(runs):
        _, here = subject.run(data, seed + trial)
        try:
            _, there = subject.replay(neighbour, here)
        except ReplayDiverged as error:
            return Measurement(math.inf, 1.0, f"the course of the run depends on the data: {error}")
        loss = transcript_loss(here, there)
        losses.append(loss)
        if math.isnan(loss):
            return Measurement(loss, claim.delta, "the loss of a transcript is not a number")
        excess = -math.expm1(min(0.0, claim.epsilon - loss))
        heads += bool(coins.random() < excess)
        conclusive = conclusive and here.all_visible
    lower = binomial_lower(heads, runs, FALSE_ALARM)
    detail = f"lower bound of δ({claim.epsilon:g}) from {runs} transcripts"
    return Measurement(lower, claim.delta, detail, conclusive, tuple(losses))
