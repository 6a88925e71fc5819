"""Subjects with a known verdict, correct and broken: what an audit is tried on.

Every subject is a vectorised function (data, rng, size) ↦ outputs, one row or number for each of `size` independent runs.  Data are
n × k records; unless said otherwise entries are in [0, 1], and the queries are the sums of the columns, which a replacement moves
by at most 1 each.

Sparse vector: [LSL] Lyu, Su and Li 2017, Figure 1, whose Algorithms 1 to 6 differ in the noise of the threshold T and of the
queries, in whether they stop after c answers ⊤, and in what they say at a ⊤.  With ε₁, ε₂ the shares of threshold and queries:
  Algorithm 1 (theirs)                   Lap(1/ε₁) once,    Lap(2c/ε₂), stops      ε-DP
  Algorithm 2 (Dwork and Roth 2014)      Lap(c/ε₁), afresh after every ⊤, Lap(2c/ε₂), stops      ε-DP
  Algorithm 3 (Roth's lecture notes)     Lap(1/ε₁), Lap(c/ε₂), stops, releases query + noise at a ⊤      not private for any ε
  Algorithm 4 (Lee and Clifton 2014)     Lap(1/ε₁), Lap(1/ε₂), stops, ε₁ = ε/4      (1 + 6c)/4·ε-DP
  Algorithm 5 (Stoddard et al. 2014)     Lap(1/ε₁), no noise on queries, never stops      not private for any ε
  Algorithm 6 (Chen et al. 2015)         Lap(1/ε₁), Lap(1/ε₂), never stops      not private for any ε (over all numbers of queries)
All others have ε₁ = ε₂ = ε/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tailproof.refimpl.claims import (
    ADD_REMOVE,
    GDP,
    ZCDP,
    ApproxDP,
    Claim,
    PureDP,
    analytic_gaussian_scale,
    classical_gaussian_scale,
)
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing.admissible import Admissible, Pair

Sampler = Callable[[FloatArray, np.random.Generator, int], FloatArray]

ABOVE, BELOW, STOPPED = 1.0, 0.0, -1.0
"""Answers of a sparse vector."""


@dataclass(frozen=True)
class Specimen:
    """`holds`: whether the subject satisfies the `claim`.  It is ε-DP, for data of every size, with ε = `epsilon_upper` (infinite:
    for no ε, or for none over all numbers of queries).  `pair` is a worst or nearly worst one of its `space`.  A violation that is
    too small or too rare for a table's budget is `planned`: a truth and a pair of laws for the power planner; or it says `why`
    outputs do not show it."""

    name: str
    subject: Sampler
    claim: Claim
    holds: bool
    about: str
    pair: Pair
    space: Admissible
    epsilon_upper: float = math.inf
    planned: tuple[Claim, str] | None = None
    why: str = ""


def _sum(data: FloatArray) -> FloatArray:
    return np.asarray(np.clip(data, 0.0, 1.0).sum(axis=0))


# --- additive noise ---------------------------------------------------------------------------------------------------------


def laplace(data: FloatArray, rng: np.random.Generator, size: int, *, scale: float = 1.0) -> FloatArray:
    """The sum of the first column."""
    return rng.laplace(_sum(data)[0], scale, size)


def gaussian(data: FloatArray, rng: np.random.Generator, size: int, *, scale: float) -> FloatArray:
    return rng.normal(_sum(data)[0], scale, size)


def geometric(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """How many records are above ½, with discrete Laplace noise, P(k) ∝ e^{−ε|k|}: the difference of two geometric numbers."""
    stop = -math.expm1(-epsilon)
    noise = rng.geometric(stop, size) - rng.geometric(stop, size)
    return np.asarray(noise + float((data[:, 0] > 0.5).sum()))


def vector_laplace(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """All k column sums, whose ℓ1 sensitivity is k."""
    sums = _sum(data)
    return rng.laplace(sums, len(sums) / epsilon, (size, len(sums)))


def shared_noise(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """Broken: the same noise on all coordinates, whose differences are exact."""
    sums = _sum(data)
    return np.asarray(sums + rng.laplace(0.0, len(sums) / epsilon, (size, 1)))


def unclipped_mean(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """Broken: noise 1/(nε) is for records in [0, 1], and nothing puts them there."""
    return rng.laplace(float(data[:, 0].mean()), 1 / (len(data) * epsilon), size)


def clipped_too_late(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """Broken: the noisy mean is clipped to [0, 1], the records are not."""
    return np.asarray(np.clip(unclipped_mean(data, rng, size, epsilon=epsilon), 0.0, 1.0))


def signed_sum(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """Broken under replace-one: records are in [−1, 1], noise 1/ε is for adding one; a replacement moves the sum by 2."""
    return rng.laplace(float(np.clip(data[:, 0], -1.0, 1.0).sum()), 1 / epsilon, size)


def noise_by_size(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """Broken under add-remove: the scale 1/(nε) of a mean's noise tells n, as far out as one looks."""
    return rng.laplace(float(_sum(data)[0]) / len(data), 1 / (len(data) * epsilon), size)


def ignores_data(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG001
    return rng.laplace(0.0, 1.0, size)


def constant(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG001
    return np.zeros(size)


# --- finite outputs -----------------------------------------------------------------------------------------------------------


def randomised_response(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """Every record's bit, flipped with probability 1/(1 + e^ε)."""
    flips = rng.random((size, len(data))) < 1 / (1 + math.exp(epsilon))
    return np.asarray(((data[:, 0] > 0.5) ^ flips).astype(np.float64))


def noisy_max(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """The index of the largest of the sums with noise Lap(2/ε)."""
    sums = _sum(data)
    return np.asarray(rng.laplace(sums, 2 / epsilon, (size, len(sums))).argmax(axis=1).astype(np.float64))


def noisy_max_value(data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0) -> FloatArray:
    """Broken: noise Lap(1/ε), with which the index of counts may be told [DR14, Claim 3.9, add-remove], but the value is told.

    When all k sums move by 1 so does the value, and far down its density is that of k numbers at once: ε grows k-fold.
    """
    sums = _sum(data)
    return np.asarray(rng.laplace(sums, 1 / epsilon, (size, len(sums))).max(axis=1))


def exponential(
    data: FloatArray, rng: np.random.Generator, size: int, *, epsilon: float = 1.0, factor: float = 0.5
) -> FloatArray:
    """An index with P(j) ∝ exp(factor·ε·sum j); factor ½ is right, for all sums may move by 1 in either direction."""
    logits = factor * epsilon * _sum(data)
    return np.asarray((logits + rng.gumbel(size=(size, len(logits)))).argmax(axis=1).astype(np.float64))


# --- sparse vector --------------------------------------------------------------------------------------------------------------


def sparse_vector(
    data: FloatArray,
    rng: np.random.Generator,
    size: int,
    *,
    threshold_scale: float,
    query_scale: float,
    answers: int | None,
    threshold: float = 1.0,
    refreshed: bool = False,
    tells_value: bool = False,
) -> FloatArray:
    """One column per query: ⊤ (or the noisy query), ⊥, or that it has stopped; `answers` is c, None never stops."""
    sums = _sum(data)
    levels = threshold + rng.laplace(0.0, threshold_scale, size)
    noise = rng.laplace(0.0, query_scale, (size, len(sums))) if query_scale > 0 else np.zeros((size, len(sums)))
    outputs = np.full((size, len(sums)), STOPPED)
    given = np.zeros(size, dtype=np.int64)
    for j, query in enumerate(sums):
        running = given < (answers if answers is not None else math.inf)
        noisy = query + noise[:, j]
        above = noisy >= levels
        outputs[running, j] = np.where(above, noisy if tells_value else ABOVE, BELOW)[running]
        given += running & above
        if refreshed:
            levels = np.where(running & above, threshold + rng.laplace(0.0, threshold_scale, size), levels)
    return outputs


def _svt(
    epsilon: float, first_share: float, threshold_scale: float, query_scale: float, answers: int | None
) -> partial[FloatArray]:
    """Scales in units of 1/ε₁ and 1/ε₂."""
    first = first_share * epsilon
    return partial(
        sparse_vector,
        threshold_scale=threshold_scale / first,
        query_scale=query_scale / (epsilon - first),
        answers=answers,
    )


def svt_lyu(epsilon: float = 1.0, answers: int = 2) -> Sampler:
    """[LSL, Algorithm 1]"""
    return _svt(epsilon, 0.5, 1.0, 2.0 * answers, answers)


def svt_dwork_roth(epsilon: float = 1.0, answers: int = 2) -> Sampler:
    """[LSL, Algorithm 2]"""
    return partial(_svt(epsilon, 0.5, answers, 2.0 * answers, answers), refreshed=True)


def svt_roth_notes(epsilon: float = 1.0, answers: int = 2) -> Sampler:
    """[LSL, Algorithm 3]"""
    return partial(_svt(epsilon, 0.5, 1.0, answers, answers), tells_value=True)


def svt_lee_clifton(epsilon: float = 1.0, answers: int = 2) -> Sampler:
    """[LSL, Algorithm 4]"""
    return _svt(epsilon, 0.25, 1.0, 1.0, answers)


def svt_stoddard(epsilon: float = 1.0) -> Sampler:
    """[LSL, Algorithm 5]"""
    return _svt(epsilon, 0.5, 1.0, 0.0, None)


def svt_chen(epsilon: float = 1.0) -> Sampler:
    """[LSL, Algorithm 6]"""
    return _svt(epsilon, 0.5, 1.0, 1.0, None)


# --- the specimens --------------------------------------------------------------------------------------------------------------

QUERIES = 8
UNIT = Admissible(2, 1, 0.0, 1.0)
COLUMNS = Admissible(2, QUERIES, 0.0, 1.0)


def _moved(before: list[float], after: list[float]) -> Pair:
    """A record replaced beside one of zeros."""
    zeros = [0.0] * len(before)
    return np.array([zeros, before]), np.array([zeros, after])


def _split(up: int) -> Pair:
    """The first `up` queries go down by one, all others up."""
    first = [1.0] * up + [0.0] * (QUERIES - up)
    return _moved(first, [1 - x for x in first])


def correct() -> tuple[Specimen, ...]:
    """Subjects that satisfy their claim; no audit may flag one more often than its error allows."""
    claim, one, every = PureDP(1.0), _moved([0.0], [1.0]), _moved([0.0] * QUERIES, [1.0] * QUERIES)
    scale = analytic_gaussian_scale(1.0, 1.0, 1e-5)
    normal = partial(gaussian, scale=scale)
    rows = [
        Specimen("laplace", laplace, claim, True, "sum with Laplace noise 1/ε", one, UNIT, 1.0),
        Specimen("gaussian", normal, ApproxDP(1.0, 1e-5), True, "sum, least Gaussian noise for (1, 1e-5)", one, UNIT),
        Specimen("gaussian-gdp", normal, GDP(1 / scale), True, "the same as μ-GDP", one, UNIT),
        Specimen("gaussian-zcdp", normal, ZCDP(1 / (2 * scale**2)), True, "the same as ρ-zCDP", one, UNIT),
        Specimen("geometric", geometric, claim, True, "count with discrete Laplace noise", one, UNIT, 1.0),
        Specimen("randomised-response", randomised_response, claim, True, "every record's bit", one, UNIT, 1.0),
        Specimen("noisy-max", noisy_max, claim, True, "index of the largest of eight noisy sums", _split(1), COLUMNS, 1.0),
        Specimen("vector-laplace", vector_laplace, claim, True, "eight sums, noise 8/ε", every, COLUMNS, 1.0),
        Specimen("exponential", exponential, claim, True, "exponential mechanism over eight sums", _split(1), COLUMNS, 1.0),
        Specimen("svt-lyu", svt_lyu(), claim, True, "[LSL, Algorithm 1], c = 2", _split(3), COLUMNS, 1.0),
        Specimen("svt-dwork-roth", svt_dwork_roth(), claim, True, "[LSL, Algorithm 2], c = 2", _split(3), COLUMNS, 1.0),
        Specimen("ignores-data", ignores_data, claim, True, "noise alone: identical laws", one, UNIT, 0.0),
        Specimen("constant", constant, claim, True, "always 0: identical laws", one, UNIT, 0.0),
    ]
    return tuple(rows)


def broken() -> tuple[Specimen, ...]:
    """Subjects that violate their claim, with what is wrong."""
    claim, one, every = PureDP(1.0), _moved([0.0], [1.0]), _moved([0.0] * QUERIES, [1.0] * QUERIES)
    free = Admissible(10, 1)
    outlier = np.zeros((10, 1)), np.vstack([np.zeros((9, 1)), [[100.0]]])
    classical = classical_gaussian_scale(1.0, 1.0, 1e-5)
    log10 = partial(gaussian, scale=math.sqrt(2 * math.log10(1.25e5)))
    signed = Admissible(2, 1, -1.0, 1.0)
    sized = Admissible(3, 1, 0.0, 1.0, ADD_REMOVE)
    stop = "the noise of queries is for one answer, c = 2 are given: (1 + 6c)/4·ε"
    rows = [
        Specimen("laplace-half", partial(laplace, scale=0.5), claim, False, "half the noise", one, UNIT, 2.0),
        Specimen("noisy-max-value", noisy_max_value, claim, False, "tells the largest value", every, COLUMNS, 8.0),
        Specimen("svt-stoddard", svt_stoddard(), claim, False, "queries have no noise", _split(4), COLUMNS),
        Specimen("svt-chen", svt_chen(), claim, False, "never stops", _split(4), COLUMNS),
        Specimen("svt-lee-clifton", svt_lee_clifton(), claim, False, stop, _split(3), COLUMNS, 3.25),
        Specimen("svt-roth-notes", svt_roth_notes(), claim, False, "tells the noise it compared", _split(7), COLUMNS),
        Specimen("unclipped-mean", unclipped_mean, claim, False, "records are not clipped", outlier, free),
        Specimen("clipped-too-late", clipped_too_late, claim, False, "clips the output", outlier, free),
        Specimen("gaussian-log10", log10, GDP(1 / classical), False, "log10 for ln in the scale", one, UNIT),
        Specimen("signed-sum", signed_sum, claim, False, "a replacement moves it by 2", _moved([-1.0], [1.0]), signed, 2.0),
        Specimen("shared-noise", shared_noise, claim, False, "one noise for all sums", _split(4), COLUMNS),
        Specimen(
            "exponential-twice",
            partial(exponential, factor=1.0),
            claim,
            False,
            "no ½ in the exponent",
            _split(1),
            COLUMNS,
            2.0,
        ),
        Specimen(
            "noise-by-size",
            noise_by_size,
            PureDP(1.0, ADD_REMOVE),
            False,
            "the scale of the noise is that of a mean over n records, and n is private",
            (np.zeros((3, 1)), np.zeros((2, 1))),
            sized,
        ),
    ]
    return tuple(rows)


def specimen(name: str) -> Specimen:
    return next(one for one in (*correct(), *broken()) if one.name == name)
