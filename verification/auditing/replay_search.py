"""A search for neighbours of a subject that exposes its channel: by exact sensitivity instead of samples."""

from __future__ import annotations

import numpy as np

from tailproof.refimpl.validation import whole
from tailproof.verification import neighbours
from tailproof.verification.auditing.search import FINALISTS, Found, Promise
from tailproof.verification.pair_checks import run_pair_check
from tailproof.verification.sensitivity import search_sensitivity
from tailproof.verification.subject import Subject


def search_by_replay(subject: Subject, *, seed: int, keep: int = FINALISTS, steps: int = 60) -> Found:
    """Pairs by the exact sensitivity of what is released, as a multiple of what is claimed: no sampling error, few runs.

    A comparison costs one run and one replay; both are counted.  `looks` is the ratio attained.
    """
    keep, rng = whole("keep", keep, least=1), np.random.default_rng(seed)
    pairs = list(neighbours.structured(subject.setting.n, subject.setting.d, rng))
    judged = [Promise(pair, run_pair_check("sensitivity", subject, pair, seed).ratio, 2) for pair in pairs]
    best = search_sensitivity(subject, seed=seed, restarts=2, steps=steps)
    judged.append(Promise(best.pair, best.measurement.ratio, 2))
    judged.sort(key=lambda promise: -promise.looks)
    return Found(tuple(judged[:keep]), 2 * (len(pairs) + best.tried))
