"""More subjects with a known verdict: mistakes that papers and public bug reports describe, and right ones beside them.

Written anew from the descriptions, in the setting of `zoo.py`:
- floats: [M12] Mironov 2012, "On significance of the least significant bits": naive Laplace noise is a porous set of doubles, which
  the data shift; his snapping mechanism is the repair.  Rounding the noise instead of the output, uniforms of few bits, noise cut
  off or drawn again until the output is in range (Holohan et al. 2020), discrete noise with one side or with 0 twice.
- calibration: scales that are standard deviations, ℓ∞ or ℓ2 for ℓ1 sensitivities, [BW18] the classical Gaussian scale beyond ε = 1,
  histograms for records that are added where they are replaced, squares bounded by the lower bound alone (regressions), variances
  by the square of a record's weight, regressors that are not clipped, sums clipped instead of records, scales from the data.
- composition: one release too many, trees of counts whose levels are not counted, permute-and-flip and randomised response with
  the wrong factor, amplification claimed for a batch that never changes, seeds that are fixed.
`Specimen.planned` is what the power planner is asked where a violation is too small, or too rare, for the budget of a table.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tailproof.refimpl.claims import (
    ADD_REMOVE,
    GDP,
    ApproxDP,
    PureDP,
    analytic_gaussian_scale,
    classical_gaussian_scale,
)
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.auditing.admissible import Admissible
from tailproof.verification.auditing.zoo import COLUMNS, QUERIES, UNIT, Specimen, _moved, _split, _sum, gaussian, laplace

CUT = 5.0  # where truncated noise ends
BITS = 8  # of a coarse uniform number
LEAK = 1e-3  # how often a subject tells its data as they are
LEVELS = 3  # of a tree of counts over four times

# --- floats and discrete noise ------------------------------------------------------------------------------------------------


def _signs(rng: np.random.Generator, size: int) -> FloatArray:
    return np.asarray(rng.integers(0, 2, size) * 2.0 - 1.0)


def naive_laplace(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """[M12] sum ± ln U in doubles.  Broken: which doubles can occur depends on the sum."""
    return np.asarray(float(_sum(data)[0]) + _signs(rng, size) * -np.log(1.0 - rng.random(size)))


def naive_laplace_bits(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """The same outputs with what an attacker computes from them: 1 if 2⁵³·output is whole.  Where the sum is 1 and the output below
    ¼ it must be, for ±ln U is then at least ½ and a multiple of 2⁻⁵³; where the sum is 0 most outputs there are not."""
    outputs = naive_laplace(data, rng, size)
    near = np.abs(outputs) < 0.25
    return np.column_stack([outputs, np.where(near, np.mod(outputs * 2.0**53, 1.0) == 0.0, 1.0)])


def snapping(data: FloatArray, rng: np.random.Generator, size: int, *, bound: float = 64.0) -> FloatArray:
    """[M12] clamped sum ± ln U, rounded to the next multiple of 1, clamped; U a double with all its bits."""
    uniform = np.ldexp(1.0 - rng.random(size) / 2, 1 - rng.geometric(0.5, size))
    noisy = np.clip(_sum(data)[0], -bound, bound) + _signs(rng, size) * -np.log(uniform)
    return np.asarray(np.clip(np.round(noisy), -bound, bound))


def coarse_uniform(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: inverse-CDF sampling from uniforms of eight bits; its 2·2⁸ values are shifted by the data."""
    uniform = (rng.integers(0, 2**BITS, size) + 0.5) / 2**BITS
    return np.asarray(float(_sum(data)[0]) + _signs(rng, size) * -np.log(uniform))


def rounded_noise(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: the noise is rounded to integers, the sum is not; its fraction is told."""
    return np.asarray(float(_sum(data)[0]) + np.round(rng.laplace(0.0, 1.0, size)))


def rounded_output(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    return np.asarray(np.round(laplace(data, rng, size)))


def cut_noise(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: noise outside [−5, 5] is drawn again (here: by its inverse CDF), so that the ends tell the sum."""
    shape = rng.random(size) * -math.expm1(-CUT)
    return np.asarray(float(_sum(data)[0]) + _signs(rng, size) * -np.log1p(-shape))


def drawn_again(data: FloatArray, rng: np.random.Generator, size: int, *, scale: float = 1.0) -> FloatArray:
    """Laplace noise until the output is in [0, 2]: broken for scale 1/ε, as the chance of that depends on the sum."""
    value, low, high = float(_sum(data)[0]), 0.0, 2.0
    first, last = (_laplace_cdf((end - value) / scale) for end in (low, high))
    uniform = first + (last - first) * rng.random(size)
    tail = np.log(2 * np.minimum(uniform, 1 - uniform))
    return np.asarray(np.clip(value + scale * np.where(uniform < 0.5, tail, -tail), low, high))


def _laplace_cdf(x: float) -> float:
    return 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x)


def clamped_output(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    return np.asarray(np.clip(laplace(data, rng, size), 0.0, 2.0))


def _count(data: FloatArray) -> float:
    return float((data[:, 0] > 0.5).sum())


def one_sided(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: geometric noise of one side; an output of 0 says that the count is 0."""
    return np.asarray(_count(data) + rng.geometric(-math.expm1(-1.0), size) - 1.0)


def zero_twice(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: a sign and a size are drawn, and 0 has two signs: P(0) is twice what it should be."""
    return np.asarray(_count(data) + _signs(rng, size) * (rng.geometric(-math.expm1(-1.0), size) - 1.0))


# --- calibration --------------------------------------------------------------------------------------------------------------


def vector_noise(data: FloatArray, rng: np.random.Generator, size: int, *, scale: float) -> FloatArray:
    """All eight sums with the same scale of Laplace noise each."""
    sums = _sum(data)
    return rng.laplace(sums, scale, (size, len(sums)))


def vector_gaussian(data: FloatArray, rng: np.random.Generator, size: int, *, scale: float) -> FloatArray:
    sums = _sum(data)
    return rng.normal(sums, scale, (size, len(sums)))


def histogram(data: FloatArray, rng: np.random.Generator, size: int, *, scale: float) -> FloatArray:
    """Below and above ½; a record that is replaced moves both counts."""
    above = _count(data)
    return rng.laplace([len(data) - above, above], scale, (size, 2))


def lower_bound_square(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: Σx² for x in [½, 1] with noise for the square of the lower bound, ¼; it moves by ¾."""
    return rng.laplace(float((np.clip(data[:, 0], 0.5, 1.0) ** 2).sum()), 0.25, size)


def variance(data: FloatArray, rng: np.random.Generator, size: int, *, factor: float) -> FloatArray:
    """Of n records in [0, 1], whose sensitivity is (n − 1)/n²; noise for factor/n²."""
    return rng.laplace(float(np.clip(data[:, 0], 0.0, 1.0).var()), factor / len(data) ** 2, size)


def unclipped_moments(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: Σxy and Σx² of a regression with noise for |x| ≤ 1; the labels are clipped, the regressors are not."""
    x, y = data[:, 0], np.clip(data[:, 1], -1.0, 1.0)
    return rng.laplace([float(x @ y), float(x @ x)], [4.0, 2.0], (size, 2))


def clipped_moments(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    x, y = np.clip(data[:, 0], -1.0, 1.0), np.clip(data[:, 1], -1.0, 1.0)
    return rng.laplace([float(x @ y), float(x @ x)], [4.0, 2.0], (size, 2))


def clipped_sum(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: a batch's sum is clipped to [−1, 1] instead of each record; one record moves it by 2, noise is for 1."""
    return rng.laplace(float(np.clip(data[:, 0].sum(), -1.0, 1.0)), 1.0, size)


def local_sensitivity(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: a median with noise for how far it could move on these data; the scale tells more than the median."""
    values = np.sort(np.clip(data[:, 0], 0.0, 1.0))
    middle = len(values) // 2
    gap = max(values[middle] - values[middle - 1], values[middle + 1] - values[middle])
    return rng.laplace(values[middle], max(gap, 1e-3), size)


# --- composition and choice -----------------------------------------------------------------------------------------------------


def releases(data: FloatArray, rng: np.random.Generator, size: int, *, number: int, share: float) -> FloatArray:
    """The same sum so many times, each with its share of ε = 1."""
    return rng.laplace(float(_sum(data)[0]), 1 / share, (size, number))


def tree_of_counts(data: FloatArray, rng: np.random.Generator, size: int, *, scale: float) -> FloatArray:
    """Counts of four times, of both halves, and of all; a record is in three of the seven nodes."""
    at = np.clip(data[:, 1].astype(np.int64), 0, 3)
    leaves = np.bincount(at, weights=np.clip(data[:, 0], 0.0, 1.0), minlength=4)
    nodes = np.concatenate([leaves, leaves.reshape(2, 2).sum(axis=1), [leaves.sum()]])
    return rng.laplace(nodes, scale, (size, 7))


def permute_and_flip(data: FloatArray, rng: np.random.Generator, size: int, *, factor: float) -> FloatArray:
    """[McKenna and Sheldon 2020] candidates in random order, each taken with probability exp(factor·ε·(sum − largest)); ½ is right,
    1 only where no sum can fall while another one grows.  Drawn as its equivalent [Ding et al. 2021], the largest of the sums with
    exponential noise of mean 1/(factor·ε)."""
    sums = _sum(data)
    return np.asarray((sums + rng.exponential(1 / factor, (size, len(sums)))).argmax(axis=1).astype(np.float64))


def biased_response(data: FloatArray, rng: np.random.Generator, size: int, *, truth: float) -> FloatArray:
    """The last record's bit, told with probability `truth`."""
    bit = float(data[-1, 0] > 0.5)
    return np.asarray(np.where(rng.random(size) < truth, bit, 1 - bit))


def batch(data: FloatArray, rng: np.random.Generator, size: int, *, sampled: bool) -> FloatArray:
    """The sum of a batch, every record in it with probability ½; or, broken, always of all."""
    values = np.clip(data[:, 0], 0.0, 1.0)
    chosen = (rng.random((size, len(values))) < 0.5) if sampled else np.ones((size, len(values)))
    return np.asarray(chosen @ values + rng.laplace(0.0, 1.0, size))


def fixed_seed(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:  # noqa: ARG001
    """Broken: a seed in the code; the noise is the same in every run."""
    return np.full(size, np.random.default_rng(0).laplace(_sum(data)[0], 1.0))


def rare_leak(data: FloatArray, rng: np.random.Generator, size: int) -> FloatArray:
    """Broken: tells the sum as it is once in a thousand runs, ten times as often as its δ allows; otherwise ε = 1."""
    noisy = laplace(data, rng, size)
    return np.asarray(np.where(rng.random(size) < LEAK, 100.0 + _sum(data)[0], noisy))


# --- the specimens --------------------------------------------------------------------------------------------------------------

MEDIAN = Admissible(5, 1, 0.0, 1.0)
HALVES = Admissible(2, 1, 0.5, 1.0)
TEN = Admissible(10, 1, 0.0, 1.0)
MOMENTS = Admissible(2, 2)
TIMED = Admissible(2, 2, 0.0, 1.0, ADD_REMOVE)
GROWING = Admissible(2, 1, 0.0, 1.0, ADD_REMOVE)
HALF_BATCH = math.log1p(math.expm1(1.0) / 2)  # ε of a batch of half of the records
WARNER = 0.75  # the truth in three of four cases
BITS_UNREAD = "the outputs differ in their last bits, which no score reads: see the next row"


def correct() -> tuple[Specimen, ...]:
    claim, one, every = PureDP(1.0), _moved([0.0], [1.0]), _moved([0.0] * QUERIES, [1.0] * QUERIES)
    zeros, last = np.zeros((10, 1)), np.vstack([np.zeros((9, 1)), [[1.0]]])
    snapped = PureDP(1.0 + 2.0**-49 * 64 + 2.0**-40)
    moved = _moved([0.0, 0.0], [1.0, 1.0])
    added = np.array([[1.0, 0.0], [1.0, 0.0]])
    root = math.sqrt(QUERIES)
    return (
        Specimen("snapping", snapping, snapped, True, "[M12] rounded to whole numbers, B = 64", one, UNIT, 1.0),
        Specimen("rounded-output", rounded_output, claim, True, "Laplace, the output is rounded", one, UNIT, 1.0),
        Specimen("clamped-output", clamped_output, claim, True, "Laplace, the output is clamped to [0, 2]", one, UNIT, 1.0),
        Specimen(
            "drawn-again-wider",
            partial(drawn_again, scale=2.0),
            claim,
            True,
            "Laplace noise 2/ε, drawn again until in [0, 2]",
            one,
            UNIT,
            1.0,
        ),
        Specimen(
            "vector-gaussian",
            partial(vector_gaussian, scale=root),
            GDP(1.0),
            True,
            "eight sums, noise for ℓ2",
            every,
            COLUMNS,
        ),
        Specimen("histogram", partial(histogram, scale=2.0), claim, True, "two counts, noise 2/ε", one, UNIT, 1.0),
        Specimen("variance", partial(variance, factor=9.0), claim, True, "of ten records", (zeros, last), TEN, 1.0),
        Specimen("clipped-moments", clipped_moments, claim, True, "Σxy, Σx² of clipped records", moved, MOMENTS, 1.0),
        Specimen("releases", partial(releases, number=4, share=0.25), claim, True, "four of ε/4 each", one, UNIT, 1.0),
        Specimen(
            "tree-of-counts",
            partial(tree_of_counts, scale=float(LEVELS)),
            PureDP(1.0, ADD_REMOVE),
            True,
            "noise 3/ε for three levels",
            (added, added[:1]),
            TIMED,
            1.0,
        ),
        Specimen(
            "permute-and-flip",
            partial(permute_and_flip, factor=0.5),
            claim,
            True,
            "exponent ½",
            _split(1),
            COLUMNS,
            1.0,
        ),
        Specimen(
            "batch",
            partial(batch, sampled=True),
            PureDP(HALF_BATCH, ADD_REMOVE),
            True,
            "a batch of half the records, ε = log(1 + (e − 1)/2)",
            (np.array([[0.0], [1.0]]), np.array([[0.0]])),
            GROWING,
            HALF_BATCH,
        ),
    )


def broken() -> tuple[Specimen, ...]:
    claim, one, every = PureDP(1.0), _moved([0.0], [1.0]), _moved([0.0] * QUERIES, [1.0] * QUERIES)
    zeros, last = np.zeros((10, 1)), np.vstack([np.zeros((9, 1)), [[1.0]]])
    root = math.sqrt(QUERIES)
    wide = partial(gaussian, scale=analytic_gaussian_scale(1.0, 1.0, 1e-5))
    large = classical_gaussian_scale(1.0, 0.8, 1e-2) / 10  # for ε = 8
    added = np.array([[1.0, 0.0], [1.0, 0.0]])
    told = math.log(WARNER / (1 - WARNER))
    return (
        Specimen("naive-laplace", naive_laplace, claim, False, "[M12] porous doubles", one, UNIT, why=BITS_UNREAD),
        Specimen("naive-laplace-bits", naive_laplace_bits, claim, False, "[M12] and the attacker's test", one, UNIT),
        Specimen("coarse-uniform", coarse_uniform, claim, False, "uniforms of eight bits", one, UNIT),
        Specimen("rounded-noise", rounded_noise, claim, False, "noise is rounded", _moved([0.0], [0.5]), UNIT),
        Specimen("cut-noise", cut_noise, claim, False, "noise ends at 5/ε", one, UNIT),
        Specimen(
            "drawn-again",
            drawn_again,
            claim,
            False,
            "noise 1/ε, drawn again until in [0, 2]",
            one,
            UNIT,
            1 + math.log(2 / (1 + math.exp(-1.0))),
        ),
        Specimen("one-sided", one_sided, claim, False, "geometric noise of one side", one, UNIT),
        Specimen("zero-twice", zero_twice, claim, False, "0 has two signs", one, UNIT, 1.0 + math.log(2.0)),
        Specimen(
            "laplace-std",
            partial(laplace, scale=math.sqrt(0.5)),
            claim,
            False,
            "1/ε taken for the standard deviation",
            one,
            UNIT,
            math.sqrt(2.0),
        ),
        Specimen(
            "laplace-99",
            partial(laplace, scale=0.99),
            claim,
            False,
            "1 % too little noise",
            one,
            UNIT,
            1 / 0.99,
            planned=(PureDP(1 / 0.99), "laplace"),
        ),
        Specimen(
            "vector-l2", partial(vector_noise, scale=root), claim, False, "ℓ2 for ℓ1 sensitivity", every, COLUMNS, root
        ),
        Specimen(
            "vector-linf", partial(vector_gaussian, scale=1.0), GDP(1.0), False, "ℓ∞ for ℓ2 sensitivity", every, COLUMNS
        ),
        Specimen(
            "gaussian-pure",
            wide,
            claim,
            False,
            "δ = 1e-5 is not mentioned",
            one,
            UNIT,
            planned=(ApproxDP(1.0, 1e-5), "gaussian"),
        ),
        Specimen(
            "gaussian-large",
            partial(gaussian, scale=large),
            ApproxDP(8.0, 1e-2),
            False,
            "[BW18] classical scale, ε = 8",
            one,
            UNIT,
            planned=(GDP(1 / large), "gaussian"),
        ),
        Specimen(
            "histogram-replaced",
            partial(histogram, scale=1.0),
            claim,
            False,
            "noise for records that are added",
            one,
            UNIT,
            2.0,
        ),
        Specimen(
            "lower-bound-square",
            lower_bound_square,
            claim,
            False,
            "the lower bound's square",
            (np.array([[0.5], [0.5]]), np.array([[0.5], [1.0]])),
            HALVES,
            3.0,
        ),
        Specimen(
            "variance-square", partial(variance, factor=1.0), claim, False, "1/n² for (n − 1)/n²", (zeros, last), TEN, 9.0
        ),
        Specimen(
            "unclipped-moments",
            unclipped_moments,
            claim,
            False,
            "regressors are not clipped",
            _moved([0.0, 1.0], [10.0, 1.0]),
            MOMENTS,
        ),
        Specimen(
            "clipped-sum",
            clipped_sum,
            claim,
            False,
            "the batch is clipped, not the records",
            (np.array([[0.0], [-1.0]]), np.array([[0.0], [1.0]])),
            Admissible(2, 1, -1.0, 1.0),
            2.0,
        ),
        Specimen(
            "local-sensitivity",
            local_sensitivity,
            claim,
            False,
            "the scale is that of the data",
            (np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), np.array([[0.0], [0.0], [0.0], [0.0], [1.0]])),
            MEDIAN,
        ),
        Specimen(
            "releases-five",
            partial(releases, number=5, share=0.25),
            claim,
            False,
            "one of ε/4 too many",
            one,
            UNIT,
            1.25,
        ),
        Specimen(
            "tree-levels",
            partial(tree_of_counts, scale=1.0),
            PureDP(1.0, ADD_REMOVE),
            False,
            "levels are not counted",
            (added, added[:1]),
            TIMED,
            float(LEVELS),
        ),
        Specimen(
            "permute-and-flip-one",
            partial(permute_and_flip, factor=1.0),
            claim,
            False,
            "exponent 1, though sums fall, too",
            _split(1),
            COLUMNS,
            2.0,
        ),
        Specimen(
            "warner",
            partial(biased_response, truth=WARNER),
            claim,
            False,
            "the truth three times of four: ln 3",
            one,
            UNIT,
            told,
        ),
        Specimen(
            "batch-fixed",
            partial(batch, sampled=False),
            PureDP(HALF_BATCH, ADD_REMOVE),
            False,
            "the batch is not drawn",
            (np.array([[0.0], [1.0]]), np.array([[0.0]])),
            GROWING,
            1.0,
        ),
        Specimen("fixed-seed", fixed_seed, claim, False, "the seed is in the code", one, UNIT),
        Specimen(
            "rare-leak",
            rare_leak,
            ApproxDP(1.0, 1e-4),
            False,
            "tells all once in a thousand runs",
            one,
            UNIT,
            planned=(ApproxDP(1.0, LEAK), "response"),
        ),
    )
