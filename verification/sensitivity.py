"""Adversarial search for neighbours that move a release farther than claimed: random restarts and local ascent.

The search is told nothing about the algorithm: only the size of the data and a way to evaluate a pair.  It never
certifies; what it returns is a pair and the ratio moved / claimed attained on it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from tailproof.refimpl.laws import Gaussian, Laplace, Softmax
from tailproof.refimpl.validation import FloatArray
from tailproof.verification import neighbours
from tailproof.verification.divergences import NoExactFormula
from tailproof.verification.pair_checks import (
    Measurement,
    check_on,
    compare,
    compare_or_say_why_not,
    run_pair_check,
    smooth_parts,
)
from tailproof.verification.subject import Pair, Subject

CHEAP = (Gaussian, Laplace, Softmax)  # laws whose divergences are formulas


@dataclass(frozen=True)
class Attained:
    """The best pair found, what was measured on it, and how many pairs were tried."""

    pair: Pair
    measurement: Measurement
    tried: int


def search_sensitivity(
    subject: Subject,
    *,
    seed: int,
    restarts: int = 6,
    steps: int = 150,
    starts: float = 1.0,
    score: Callable[[Pair], Measurement] | None = None,
) -> Attained:
    """Maximise moved / claimed over neighbouring pairs; `starts` is the share of the structured ones that are tried."""
    rng = np.random.default_rng(seed)
    n, d = subject.setting.n, subject.setting.d
    evaluate = score or (lambda pair: run_pair_check("sensitivity", subject, pair, seed))
    stride = round(1 / starts) | 1  # odd: candidates come in groups of eight kinds, and all kinds shall be among them
    structured = list(neighbours.structured(n, d, rng))[::stride]
    found = [(evaluate(pair), pair) for pair in structured]
    found.sort(key=lambda start: -start[0].ratio)
    tried = len(found)
    best = found[0]
    for measurement, pair in _spread(found, restarts):
        current = (measurement, pair)
        step = 1.0
        for _ in range(steps):
            candidate = _move(current[1], step, rng)
            measured = evaluate(candidate)
            tried += 1
            better = measured.ratio > current[0].ratio
            if measured.ratio >= current[0].ratio:
                current = (measured, candidate)
            step = min(2.0, step * 1.5) if better else max(1e-3, step * 0.93)
        best = max(best, current, key=lambda one: one[0].ratio)
        if best[0].exceeds:
            break
    return Attained(best[1], best[0], tried)


def _spread(starts: list[tuple[Measurement, Pair]], count: int) -> list[tuple[Measurement, Pair]]:
    """The best starts, and some from the rest of the list."""
    top = starts[: (count + 1) // 2]
    rest = starts[len(top) :]
    stride = max(1, len(rest) // max(1, count - len(top)))
    return (top + rest[::stride])[:count]


def _move(pair: Pair, step: float, rng: np.random.Generator) -> Pair:
    """One random change that keeps the two data sets neighbours."""
    data, neighbour = np.array(pair[0]), np.array(pair[1])
    n, d = data.shape
    changed = np.flatnonzero((data != neighbour).any(axis=1))
    row = int(changed[0]) if len(changed) else 0
    replacement = np.array(neighbour[row])
    size = max(float(np.abs(data).max()), float(np.abs(replacement).max()), 1e-12)
    kind = rng.integers(9)
    if kind == 0:  # scale everything
        factor = np.exp(step * rng.standard_normal())
        data, replacement = data * factor, replacement * factor
    elif kind == 1:  # jiggle or enlarge the replacement
        replacement = replacement * np.exp(step * rng.standard_normal()) + 0.1 * step * size * rng.standard_normal(d)
    elif kind == 2:  # the same for the record it replaces
        data[row] = data[row] * np.exp(step * rng.standard_normal()) + 0.1 * step * size * rng.standard_normal(d)
    elif kind == 3:  # oppose them
        replacement = -data[row]
    elif kind == 4:  # move other records, alone or as a block
        start = int(rng.integers(n))
        stop = min(n, start + int(rng.integers(1, max(2, n // 4))))
        data[start:stop] = _other_values(data, size, rng)
    elif kind == 5:  # jiggle all others
        data += 0.1 * step * size * rng.standard_normal((n, d)) * (rng.random((n, 1)) < 0.3)
    elif kind == 6:  # flip one coordinate of the replacement, or align it with the record
        axis = int(rng.integers(d))
        replacement[axis] = -data[row, axis] if rng.random() < 0.7 else data[row, axis]
    elif kind == 7:  # every entry to a corner of the box they span
        data, replacement = size * np.sign(data), size * np.sign(replacement)
    else:  # another record changes instead
        new = int(rng.integers(n))
        data[[row, new]] = data[[new, row]]
        row = new
    neighbour = np.array(data)
    neighbour[row] = replacement
    return data, neighbour


def _other_values(data: FloatArray, size: float, rng: np.random.Generator) -> FloatArray:
    kind = rng.integers(4)
    if kind == 0:
        return np.zeros(data.shape[1])
    if kind == 1:
        return np.array(data[rng.integers(len(data))])
    sign = rng.choice([-1.0, 1.0])
    return np.asarray(sign * size * (np.ones(data.shape[1]) if kind == 2 else rng.random(data.shape[1])))


def every_check(subject: Subject, seed: int) -> Callable[[Pair], Measurement]:
    """A score by all checks of a pair: the worst of their ratios, from one comparison.

    Laws whose divergence is dear (quadratures, minimisers, Gibbs) are scored by their sensitivity and by what leaves outside of the
    channel; their privacy is for the pair that the search ends with.
    """

    def score(pair: Pair) -> Measurement:
        compared = compare_or_say_why_not(subject, pair, seed)
        if isinstance(compared, Measurement):
            return compared
        cheap = all(type(release.law) in CHEAP for release in compared.here.spending)
        found = []
        for name in ("sensitivity", "closed", *(("release privacy", "transcript") if cheap and subject.claim else ())):
            with suppress(NoExactFormula):
                found.append(check_on(name, subject, compared))
        return max(found, key=lambda one: one.ratio if one.conclusive or not one.exceeds else 0.0)

    return score


def smooth_growth(subject: Subject, seed: int) -> Callable[[Pair], Measurement]:
    """A score for smooth sensitivities alone: how fast the bound itself changes, as a multiple of its rate."""
    return lambda pair: _smooth(subject, pair, seed)[1]


def smooth_local(subject: Subject, seed: int) -> Callable[[Pair], Measurement]:
    """A score for smooth sensitivities alone: the move of the query as a multiple of the bound."""
    return lambda pair: _smooth(subject, pair, seed)[0]


def _smooth(subject: Subject, pair: Pair, seed: int) -> tuple[Measurement, Measurement]:
    return smooth_parts(*compare(subject, *pair, seed).spending[0])
