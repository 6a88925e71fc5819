"""Laws from elsewhere: a test of the sampler against the law's own log-density, and no more trust than that.

A law of one of the fixed types is drawn by code that is tested here.  Any other law brings a sampler that could draw
anything.  Of one with finitely many outcomes (`log_probabilities()`) every outcome is counted; of a number on the line the
masses of cells are compared with integrals of its density.  Whatever else cannot be tested, and nothing is said about it.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import binom

from tailproof.refimpl.channel import Transcript
from tailproof.refimpl.laws import Law, is_trusted
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.pair_checks import Measurement

FALSE_ALARM = 1e-7
"""Probability with which the test of one law calls a right sampler wrong."""
DRAWS = 4000
CELLS = 16
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def check_laws(transcripts: list[Transcript], seed: int) -> Measurement:
    """Every law that is not of the fixed types, once for each type and release."""
    tested: set[tuple[type, str]] = set()
    unknown = ""
    for transcript in transcripts:
        for release in transcript:
            key = (type(release.law), release.name)
            if is_trusted(release.law) or key in tested:
                continue
            tested.add(key)
            found = _tested(release.name, release.law, np.random.default_rng([seed, len(tested)]))
            if found.exceeds:
                return found
            unknown = unknown or found.undecided
    said = f"{len(tested)} laws from elsewhere draw as they say" if tested else "every law is of a known type"
    return Measurement(0.0, 1.0, said, undecided=unknown)


def _tested(name: str, law: Law, rng: np.random.Generator) -> Measurement:
    if callable(getattr(law, "log_probabilities", None)):
        return _counted(name, law, rng)
    draws = [np.asarray(law.sample(rng)) for _ in range(DRAWS)]
    if any(draw.size != 1 or draw.dtype.kind != "f" or not np.isfinite(draw).all() for draw in draws):
        said = (
            f"{name}: {type(law).__name__} is neither finite nor a number on the line, so that its sampler cannot be tested"
        )
        return Measurement(0.0, 1.0, said, undecided=said)
    return _in_cells(name, law, np.array([float(np.ravel(draw)[0]) for draw in draws]))


def _counted(name: str, law: Any, rng: np.random.Generator) -> Measurement:
    logs = np.asarray(law.log_probabilities(), dtype=np.float64)
    stated = np.array([law.logpdf(np.asarray(k, dtype=np.int64)) for k in range(len(logs))])
    if not np.allclose(stated, logs, rtol=0, atol=1e-9) or abs(np.exp(logs).sum() - 1) > 1e-9:
        return Measurement(math.inf, 1.0, f"{name}: {type(law).__name__}'s log-density is not that of its probabilities")
    drawn = np.array([int(law.sample(rng)) for _ in range(DRAWS)])
    if drawn.min() < 0 or drawn.max() >= len(logs):
        return Measurement(math.inf, 1.0, f"{name}: {type(law).__name__} draws what is not among its outcomes")
    counts = np.bincount(drawn, minlength=len(logs))
    return _judged(name, law, counts.astype(np.float64), np.exp(logs), DRAWS)


def _in_cells(name: str, law: Law, draws: FloatArray) -> Measurement:
    """Cells from the first half of the draws; what the second half puts there against the density's integral."""
    first, second = np.sort(draws[: DRAWS // 2]), draws[DRAWS // 2 :]
    edges = np.unique(first[np.linspace(0, len(first) - 1, CELLS + 1).astype(int)])
    if len(edges) < 3:
        return Measurement(math.inf, 1.0, f"{name}: {type(law).__name__} repeats values, and gives a density")
    masses = np.array([_mass(law, low, high) for low, high in pairwise(edges.tolist())])
    if masses.sum() > 1 + 1e-6:
        return Measurement(math.inf, 1.0, f"{name}: {type(law).__name__}'s density has more mass than one")
    counts = np.histogram(second, bins=edges)[0].astype(np.float64)
    return _judged(name, law, counts, np.minimum(masses, 1.0), len(second))


def _mass(law: Law, low: float, high: float) -> float:
    """By Gauss's rule on eight pieces: far more accurate than the test is sharp, for a density that is smooth or has a few
    corners.
    """
    edges = np.linspace(low, high, 9)
    half = np.diff(edges) / 2
    points = (edges[:-1] + half)[:, np.newaxis] + half[:, np.newaxis] * _NODES
    densities = np.array([math.exp(law.logpdf(np.asarray(point))) for point in points.ravel()]).reshape(points.shape)
    return float((densities * _WEIGHTS).sum(axis=1) @ half)


def _judged(name: str, law: Law, counts: FloatArray, masses: FloatArray, draws: int) -> Measurement:
    """Exact binomial tails for every cell, the error split evenly; 0.2 % of slack in the masses for the quadrature."""
    each = FALSE_ALARM / (2 * len(counts))
    low, high = np.clip(masses * 0.998 - 1e-12, 0, 1), np.clip(masses * 1.002 + 1e-12, 0, 1)
    too_many, too_few = binom.sf(counts - 1, draws, high) < each, binom.cdf(counts, draws, low) < each
    wrong = np.flatnonzero(too_many | too_few)
    if wrong.size:
        k = int(wrong[0])
        said = f"{counts[k]:g} of {draws} draws fall where its density says {draws * masses[k]:.1f}"
        return Measurement(math.inf, 1.0, f"{name}: {type(law).__name__}'s sampler is not that of its density: {said}")
    return Measurement(0.0, 1.0, f"{name}: {type(law).__name__} draws as its density says")
