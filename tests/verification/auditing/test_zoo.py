"""Subjects of known verdict: their outputs follow the exact laws, and the exact laws have the stated privacy.

A comparison of counts with an exact law tests every cell by an exact binomial test, both sides, and raises a false alarm with
probability at most 1e-7.
"""

import math
from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, kstest, laplace, norm

from tailproof.refimpl.claims import ADD_REMOVE, GDP, ZCDP, ApproxDP, PureDP, gaussian_delta
from tailproof.verification.auditing import limits, zoo, zoo_reports, zoo_truth
from tailproof.verification.auditing.admissible import Admissible
from tailproof.verification.auditing.zoo import Specimen
from tailproof.verification.auditing.zoo_truth import CLOSED, LAWS, Law, exact_parameter, greatest_loss, sparse_vector_law

ALL = zoo_truth.everything()
FALSE_ALARM = 1e-7
RUNS = 40_000


def assert_follows(outputs: np.ndarray, law: Law) -> None:
    counts = Counter(tuple(row) for row in outputs.reshape(len(outputs), -1).tolist())
    assert set(counts) <= set(law)
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-6)
    for value, probability in law.items():
        low, high = binom.cdf(counts[value], RUNS, probability), binom.sf(counts[value] - 1, RUNS, probability)
        assert min(low, high) > FALSE_ALARM / (2 * len(law)), (value, counts[value], probability * RUNS)


@cache
def laws(name: str) -> tuple[Law, ...]:
    return tuple(LAWS[name](data) for data in zoo_truth.specimen(name).pair)


@pytest.mark.parametrize("name", LAWS)
def test_outputs_follow_the_exact_law(name: str) -> None:
    one = zoo_truth.specimen(name)
    for side, data in enumerate(one.pair):
        outputs = one.subject(data, np.random.default_rng([side, len(name)]), RUNS)
        assert_follows(outputs, laws(name)[side])


@pytest.mark.parametrize("name", LAWS)
def test_the_exact_loss_on_the_pair(name: str) -> None:
    one = zoo_truth.specimen(name)
    loss = greatest_loss(*laws(name))
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
    "naive-laplace": lambda data: laplace(data.sum(), 1.0).cdf,
    "laplace-std": lambda data: laplace(data.sum(), math.sqrt(0.5)).cdf,
    "laplace-99": lambda data: laplace(data.sum(), 0.99).cdf,
    "drawn-again": lambda data: between(data.sum(), 1.0, 0.0, 2.0),
    "drawn-again-wider": lambda data: between(data.sum(), 2.0, 0.0, 2.0),
    "cut-noise": lambda data: between(data.sum(), 1.0, data.sum() - 5.0, data.sum() + 5.0),
    "gaussian-pure": lambda data: norm(data.sum(), 3.7306316348).cdf,
    "gaussian-large": lambda data: norm(data.sum(), math.sqrt(2 * math.log(125.0)) / 8).cdf,
    "lower-bound-square": lambda data: laplace((data**2).sum(), 0.25).cdf,
    "variance": lambda data: laplace(data.var(), 0.09).cdf,
    "variance-square": lambda data: laplace(data.var(), 0.01).cdf,
    "clipped-sum": lambda data: laplace(data.sum(), 1.0).cdf,
    "local-sensitivity": lambda data: laplace(0.0, 1.0 if data.sum() == 2 else 1e-3).cdf,
    "batch": lambda data: lambda x: (laplace.cdf(x) + laplace.cdf(x, data.sum())) / 2,
    "batch-fixed": lambda data: laplace(data.sum(), 1.0).cdf,
}


def between(centre: float, scale: float, low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
    """Laplace, given that it is between the two."""
    law = laplace(centre, scale)
    return lambda x: (law.cdf(x) - law.cdf(low)) / (law.cdf(high) - law.cdf(low))


SCALES: dict[str, tuple[Callable[[np.ndarray], list[float]], list[float]]] = {
    "histogram": (lambda data: [2 - data.sum(), data.sum()], [2.0] * 2),
    "histogram-replaced": (lambda data: [2 - data.sum(), data.sum()], [1.0] * 2),
    "clipped-moments": (lambda data: [data.prod(axis=1).sum(), (data[:, 0] ** 2).sum()], [4.0, 2.0]),
    "unclipped-moments": (lambda data: [data.prod(axis=1).sum(), (data[:, 0] ** 2).sum()], [4.0, 2.0]),
    "vector-l2": (lambda data: list(data.sum(axis=0)), [math.sqrt(8)] * 8),
    "releases": (lambda data: [data.sum()] * 4, [4.0] * 4),
    "releases-five": (lambda data: [data.sum()] * 5, [4.0] * 5),
    "tree-of-counts": (lambda data: [len(data), 0, 0, 0, len(data), 0, len(data)], [3.0] * 7),
    "tree-levels": (lambda data: [len(data), 0, 0, 0, len(data), 0, len(data)], [1.0] * 7),
}
"""Queries and scales of the Laplace noise of every column."""


@pytest.mark.parametrize("name", SCALES)
def test_columns_have_independent_laplace_noise(name: str) -> None:
    one = zoo_truth.specimen(name)
    queries, scales = SCALES[name]
    for side, data in enumerate(one.pair):
        noise = (one.subject(data, np.random.default_rng([side, 11]), RUNS) - queries(data)) / scales
        assert noise.shape == (RUNS, len(scales))
        assert all(kstest(column, laplace().cdf).pvalue > FALSE_ALARM / 10 for column in noise.T)
        signs = int((np.sign(noise[:, 0]) == np.sign(noise[:, -1])).sum())
        assert min(binom.sf(signs - 1, RUNS, 0.5), binom.cdf(signs, RUNS, 0.5)) > FALSE_ALARM


@pytest.mark.parametrize("name", ["vector-gaussian", "vector-linf"])
def test_columns_have_gaussian_noise(name: str) -> None:
    one = zoo_truth.specimen(name)
    for data in one.pair:
        noise = one.subject(data, np.random.default_rng(2), RUNS) - data.sum(axis=0)
        scale = math.sqrt(8) if one.holds else 1.0
        assert all(kstest(column, norm(0, scale).cdf).pvalue > FALSE_ALARM / 10 for column in noise.T)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_the_exact_parameter_agrees_with_the_verdict(one: Specimen) -> None:
    if one.name not in LAWS:
        exact = exact_parameter(one)
        assert (exact <= limits.parameter(one.claim) * (1 + 1e-9)) == one.holds
        assert exact <= one.epsilon_upper * (1 + 1e-9)


def test_every_specimen_has_an_exact_law_and_a_name_of_its_own() -> None:
    assert {one.name for one in ALL} == set(LAWS) | set(CLOSED)
    assert len(ALL) == len({one.name for one in ALL}) == len(LAWS) + len(CLOSED) >= 60
    assert [one.name for one in ALL if one.holds] == [one.name for one in (*zoo.correct(), *zoo_reports.correct())]


def test_supports_that_tell_the_data() -> None:
    """What makes these infinite: outputs that one side has and the other has not."""

    def outputs(name: str) -> list[np.ndarray]:
        one = zoo_truth.specimen(name)
        return [one.subject(data, np.random.default_rng([side, 5]), RUNS) for side, data in enumerate(one.pair)]

    first, second = outputs("naive-laplace-bits")
    assert (second[:, 1] == 1.0).all()
    assert (first[:, 1] == 0.0).mean() > 0.1  # of a fifth of the outputs, seven of eight
    assert not set(outputs("coarse-uniform")[0]) & set(outputs("coarse-uniform")[1])
    first, second = outputs("one-sided")
    assert first.min() == 0.0
    assert second.min() == 1.0
    first, second = outputs("rounded-noise")
    assert (np.mod(first, 1) == 0.0).all()
    assert (np.mod(second, 1) == 0.5).all()
    assert [len(np.unique(side)) for side in outputs("fixed-seed")] == [1, 1]
    leaks = int((outputs("rare-leak")[0] >= 100).sum())
    assert min(binom.sf(leaks - 1, RUNS, 1e-3), binom.cdf(leaks, RUNS, 1e-3)) > FALSE_ALARM
    for name, ends in (("clamped-output", (0.0, 2.0)), ("drawn-again", (0.0, 2.0))):
        assert all(side.min() >= ends[0] and side.max() <= ends[1] for side in outputs(name))
    atom = int((outputs("clamped-output")[1] == 0.0).sum())
    assert min(binom.sf(atom - 1, RUNS, math.exp(-1) / 2), binom.cdf(atom, RUNS, math.exp(-1) / 2)) > FALSE_ALARM


@pytest.mark.parametrize("name", CDFS)
def test_outputs_with_densities_follow_their_law(name: str) -> None:
    one = zoo_truth.specimen(name)
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
