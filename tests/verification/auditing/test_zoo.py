"""Subjects of known verdict: their outputs follow the exact laws, and the exact laws have the stated privacy.

A comparison of counts with an exact law tests every cell by an exact binomial test, both sides, and raises a false alarm with
probability at most 1e-7.
"""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, kstest, laplace, norm

from refimpl.claims import ADD_REMOVE, GDP, ZCDP, ApproxDP, PureDP, gaussian_delta
from verification.auditing import zoo
from verification.auditing.admissible import Admissible
from verification.auditing.zoo import Specimen

ALL = (*zoo.correct(), *zoo.broken())
FALSE_ALARM = 1e-7
RUNS = 40_000
Law = dict[tuple[float, ...], float]


def assert_follows(outputs: np.ndarray, law: Law) -> None:
    counts = Counter(tuple(row) for row in outputs.reshape(len(outputs), -1).tolist())
    assert set(counts) <= set(law)
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-6)
    for value, probability in law.items():
        low, high = binom.cdf(counts[value], RUNS, probability), binom.sf(counts[value] - 1, RUNS, probability)
        assert min(low, high) > FALSE_ALARM / (2 * len(law)), (value, counts[value], probability * RUNS)


def greatest_loss(here: Law, there: Law) -> float:
    return max(abs(math.log(p / there[value])) if there[value] > 0 else math.inf for value, p in here.items() if p > 0)


# --- exact laws of the finite ones ------------------------------------------------------------------------------------------------


def sparse_vector_law(sums: np.ndarray, *, threshold: float, query: float, answers: float, refreshed: bool = False) -> Law:
    """Every pattern of answers, by quadrature over the noisy threshold; where it is refreshed, one quadrature per stretch."""
    grid = np.linspace(-30 * threshold, 30 * threshold, 12_001)
    weights = np.exp(-np.abs(grid) / threshold) / (2 * threshold) * (grid[1] - grid[0])
    weights /= weights.sum()  # the kink at 0 is a grid point
    below = [laplace.cdf(1.0 + grid - q, scale=query) if query > 0 else (q < 1.0 + grid).astype(float) for q in sums]
    law: Law = {}

    def extend(pattern: tuple[float, ...], given: int, inner: np.ndarray, outer: float) -> None:
        j = len(pattern)
        if j == len(sums):
            law[pattern] = outer * float(inner @ weights)
        elif given >= answers:
            extend((*pattern, zoo.STOPPED), given, inner, outer)
        else:
            extend((*pattern, zoo.BELOW), given, inner * below[j], outer)
            above = inner * (1 - below[j])
            if refreshed:
                extend((*pattern, zoo.ABOVE), given + 1, np.ones_like(grid), outer * float(above @ weights))
            else:
                extend((*pattern, zoo.ABOVE), given + 1, above, outer)

    extend((), 0, np.ones_like(grid), 1.0)
    return law


def noisy_max_law(sums: np.ndarray, scale: float) -> Law:
    """By the trapezoidal rule (the density is 0 at the ends); the kinks are grid points."""
    grid = np.linspace(-80, 80, 16_001)
    cdfs = np.array([laplace.cdf(grid, s, scale) for s in sums])
    found = {}
    for j, s in enumerate(sums):
        density = laplace.pdf(grid, s, scale) * np.prod(np.delete(cdfs, j, axis=0), axis=0)
        found[(float(j),)] = float(density.sum() * (grid[1] - grid[0]))
    return found


def softmax_law(logits: np.ndarray) -> Law:
    weights = np.exp(logits)
    return {(float(j),): float(w) for j, w in enumerate(weights / weights.sum())}


def geometric_law(data: np.ndarray) -> Law:
    return {(float(k),): math.tanh(0.5) * math.exp(-abs(k - data.sum())) for k in range(-40, 41)}


def response_law(data: np.ndarray) -> Law:
    right = 1 / (1 + math.exp(-1.0))
    a, b = data[:, 0]
    return {
        (x, y): (right if x == a else 1 - right) * (right if y == b else 1 - right) for x in (0.0, 1.0) for y in (0.0, 1.0)
    }


LAWS: dict[str, Callable[[np.ndarray], Law]] = {
    "geometric": geometric_law,
    "randomised-response": response_law,
    "noisy-max": lambda data: noisy_max_law(data.sum(axis=0), 2.0),
    "exponential": lambda data: softmax_law(data.sum(axis=0) / 2),
    "exponential-twice": lambda data: softmax_law(data.sum(axis=0)),
    "svt-lyu": lambda data: sparse_vector_law(data.sum(axis=0), threshold=2.0, query=8.0, answers=2),
    "svt-dwork-roth": lambda data: sparse_vector_law(data.sum(axis=0), threshold=4.0, query=8.0, answers=2, refreshed=True),
    "svt-lee-clifton": lambda data: sparse_vector_law(data.sum(axis=0), threshold=4.0, query=4 / 3, answers=2),
    "svt-chen": lambda data: sparse_vector_law(data.sum(axis=0), threshold=2.0, query=2.0, answers=math.inf),
    "svt-stoddard": lambda data: sparse_vector_law(data.sum(axis=0), threshold=2.0, query=0.0, answers=math.inf),
    "constant": lambda data: {(0.0,): 1.0},  # noqa: ARG005
}
"""Written from the definitions, with numbers for ε = 1, c = 2."""


@pytest.mark.parametrize("name", LAWS)
def test_outputs_follow_the_exact_law(name: str) -> None:
    one = zoo.specimen(name)
    for side, data in enumerate(one.pair):
        outputs = one.subject(data, np.random.default_rng([side, len(name)]), RUNS)
        assert_follows(outputs, LAWS[name](data))


@pytest.mark.parametrize("name", LAWS)
def test_the_exact_loss_on_the_pair(name: str) -> None:
    one = zoo.specimen(name)
    loss = greatest_loss(LAWS[name](one.pair[0]), LAWS[name](one.pair[1]))
    assert isinstance(one.claim, PureDP)
    assert loss <= one.epsilon_upper * (1 + 1e-6)
    assert (loss <= one.claim.epsilon * (1 + 1e-6)) == one.holds
    expected = {"svt-lee-clifton": 2.603, "svt-chen": 3.185, "svt-stoddard": math.inf, "exponential-twice": 1.5}
    if name in expected:
        assert loss >= expected[name] - 0.001


@pytest.mark.parametrize("answers", [1, 3])
def test_sparse_vectors_with_other_numbers_of_answers(answers: int) -> None:
    """The right ones stay within ε; Lee and Clifton's within (1 + 6c)/4·ε, which it comes close to as queries grow."""
    pair = [np.array([1.0] * answers + [0.0] * (7 - answers)), np.array([0.0] * answers + [1.0] * (7 - answers))]
    for threshold, query, bound in ((2.0, 4.0 * answers, 1.0), (4.0, 4 / 3, (1 + 6 * answers) / 4)):
        laws = [sparse_vector_law(sums, threshold=threshold, query=query, answers=answers) for sums in pair]
        assert greatest_loss(*laws) <= bound * (1 + 1e-6)
    long = [np.array([0.0] * 12 + [1.0] * answers), np.array([1.0] * 12 + [0.0] * answers)]
    pattern = tuple([zoo.BELOW] * 12 + [zoo.ABOVE] * answers)
    grid = np.linspace(-100, 100, 20_001)
    weights = np.exp(-np.abs(grid) / 4)
    found = []
    for sums in long:
        cdf = [laplace.cdf(grid - q, scale=4 / 3) for q in sums]
        factors = [c if a == zoo.BELOW else 1 - c for c, a in zip(cdf, pattern, strict=True)]
        found.append(float(np.prod(factors, axis=0) @ weights))
    assert math.log(found[0] / found[1]) > 0.95 * (1 + 6 * answers) / 4


# --- laws with densities ----------------------------------------------------------------------------------------------------------


CDFS: dict[str, Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]]] = {
    "laplace": lambda data: laplace(data.sum(), 1.0).cdf,
    "laplace-half": lambda data: laplace(data.sum(), 0.5).cdf,
    "gaussian": lambda data: norm(data.sum(), 3.7306316348).cdf,
    "gaussian-log10": lambda data: norm(data.sum(), math.sqrt(2 * math.log10(1.25 / 1e-5))).cdf,
    "unclipped-mean": lambda data: laplace(data.mean(), 0.1).cdf,
    "signed-sum": lambda data: laplace(data.sum(), 1.0).cdf,
    "noise-by-size": lambda data: laplace(data.mean(), 1 / len(data)).cdf,
    "ignores-data": lambda data: laplace(0.0, 1.0).cdf,  # noqa: ARG005
    "noisy-max-value": lambda data: lambda x: np.prod([laplace.cdf(x, s, 1.0) for s in data.sum(axis=0)], axis=0),
}


@pytest.mark.parametrize("name", CDFS)
def test_outputs_with_densities_follow_their_law(name: str) -> None:
    one = zoo.specimen(name)
    for side, data in enumerate(one.pair):
        outputs = one.subject(data, np.random.default_rng([side, 7]), RUNS)
        assert kstest(outputs, CDFS[name](data)).pvalue > FALSE_ALARM


def test_vector_noise_is_independent_where_it_should_be() -> None:
    for name, independent in (("vector-laplace", True), ("shared-noise", False)):
        one = zoo.specimen(name)
        outputs = one.subject(one.pair[0], np.random.default_rng(3), RUNS)
        noise = outputs - one.pair[0].sum(axis=0)
        assert kstest(noise[:, 0], laplace(0, 8.0).cdf).pvalue > FALSE_ALARM
        signs = int((np.sign(noise[:, 0]) == np.sign(noise[:, 1])).sum())
        assert (binom.sf(signs - 1, RUNS, 0.5) > FALSE_ALARM) == independent


def test_clipping_too_late_puts_everything_on_the_bound() -> None:
    one = zoo.specimen("clipped-too-late")
    first, second = (one.subject(data, np.random.default_rng(1), 2000) for data in one.pair)
    assert (second == 1.0).all()
    assert (first == 1.0).mean() < 0.01


def test_the_claims_of_gaussian_noise() -> None:
    """From the exact curve of the shift; the broken one has a μ half as large again as it claims."""
    by_name = {one.name: one.claim for one in ALL}
    approx, gdp, zcdp, log10 = (by_name[n] for n in ("gaussian", "gaussian-gdp", "gaussian-zcdp", "gaussian-log10"))
    assert isinstance(approx, ApproxDP)
    assert isinstance(gdp, GDP)
    assert isinstance(zcdp, ZCDP)
    assert isinstance(log10, GDP)
    assert gaussian_delta(gdp.mu, approx.epsilon) == pytest.approx(approx.delta, rel=1e-9)
    assert zcdp.rho == pytest.approx(gdp.mu**2 / 2)
    assert 1 / math.sqrt(2 * math.log10(1.25e5)) > 1.5 * log10.mu


def test_the_value_told_by_roth_s_notes_is_the_noisy_query() -> None:
    """At a ⊤ the output is at least the threshold, so that its density is 0 where the threshold was not below; a ⊥ is 0."""
    one = zoo.specimen("svt-roth-notes")
    outputs = one.subject(one.pair[0], np.random.default_rng(5), RUNS)
    told = outputs[(outputs != zoo.BELOW) & (outputs != zoo.STOPPED)]
    assert len(np.unique(told)) == len(told) > RUNS
    assert ((outputs != zoo.BELOW) & (outputs != zoo.STOPPED)).sum(axis=1).max() == 2
    # Query 0 alone: P(value ≤ x) = P(ν ≤ x − q, ν + q ≥ 1 + ρ) by quadrature
    sums = one.pair[0].sum(axis=0)
    below_two = float(
        quad(lambda x: laplace.pdf(x, sums[0], 4.0) * laplace.cdf(x - 1.0, scale=2.0), -100, 2.0, points=[1.0], limit=200)[0]
    )
    count = int(((outputs[:, 0] != zoo.BELOW) & (outputs[:, 0] <= 2.0)).sum())
    assert min(binom.cdf(count, RUNS, below_two), binom.sf(count - 1, RUNS, below_two)) > FALSE_ALARM / 2


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_specimens_are_well_formed(one: Specimen) -> None:
    assert one.space.is_pair(one.pair)
    assert one.claim.neighbouring is one.space.neighbouring
    for data in one.pair:
        before = np.array(data)
        outputs = one.subject(data, np.random.default_rng(0), 5)
        assert len(outputs) == 5
        assert np.isfinite(outputs).all()
        assert np.array_equal(before, data)
        assert np.array_equal(outputs, one.subject(data, np.random.default_rng(0), 5))


def test_admissible_data() -> None:
    space = Admissible(3, 2, 0.0, 1.0)
    zeros = np.zeros((3, 2))
    other = np.array([[0.0, 0.0], [1.0, 0.5], [0.0, 0.0]])
    assert space.is_pair((zeros, other))
    assert not space.is_pair((zeros, other * 2))
    assert not space.is_pair((zeros, 1 - zeros))
    assert not space.is_pair((zeros[:2], zeros[:2]))
    sized = Admissible(3, 2, 0.0, 1.0, ADD_REMOVE)
    assert sized.is_pair((other, np.delete(other, 0, axis=0)))
    assert sized.is_pair((np.delete(other, 1, axis=0), other))
    assert not sized.is_pair((other, 1 - zeros[:2]))
    assert not sized.is_pair((other, other))
    for bad in ({"records": 0}, {"columns": 0}, {"low": 1.0, "high": 1.0}, {"low": math.nan}):
        with pytest.raises(ValueError):
            Admissible(**{"records": 3, "columns": 2, **bad})
    with pytest.raises(ValueError, match="records"):
        Admissible(1, 1, neighbouring=ADD_REMOVE)
