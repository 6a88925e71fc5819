"""Laws against scipy and mpmath, problems against second methods.

Statistical tests.  Sampling: one Kolmogorov–Smirnov or binomial test per law at level 1e-9, so that all of them together
raise a false alarm with probability below 1e-7.  Excess risks: the median of 100 block means misses the mean by more than
2σ√(100/n) with probability at most P[Bin(100, 1/4) ≥ 50] < 1e-7, by Chebyshev's inequality in every block and nothing
else.  Seeds only make a failure repeatable.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import integrate, special, stats

from tailproof.refimpl.losses import L4, Quadratic, parse_any_loss
from tailproof.refimpl.problems import (
    Contaminated,
    DataLaw,
    Exponential,
    FourthPowerRegression,
    Gaussian,
    GaussianFeatures,
    IndependentFeatures,
    LinearLoss,
    LinearRegression,
    LogisticRegression,
    LogLogistic,
    Lognormal,
    MeanEstimation,
    MedianEstimation,
    Pareto,
    PowerGrowth,
    Problem,
    Shifted,
    StudentT,
    Symmetric,
    TwoPoint,
    centred,
    laplace,
    parse_law,
    probability_between,
)
from tailproof.refimpl.validation import FloatArray, InputError

INF = math.inf
BASIC: list[DataLaw] = [
    StudentT(2.5),
    StudentT(3.7, 2.0, 0.3),
    StudentT(1.0, -1.0, 2.0),
    StudentT(0.6),
    Pareto(2.1),
    Pareto(1.0, 0.5),
    Pareto(0.7, 3.0),
    Lognormal(1.0, 1.0),
    Lognormal(0.0, 0.05),
    LogLogistic.of_logarithm(0.2, 0.2),
    LogLogistic(1.3, 2.0),
    LogLogistic(0.8),
    Gaussian(2.0, 3.0),
    Gaussian(100.0, 0.01),
    Exponential(0.7),
]
COMPOUND: list[DataLaw] = [
    laplace(-1.0, 0.5),
    centred(Pareto(2.1)),
    centred(Lognormal(1.0, 1.0)),
    Symmetric(Pareto(2.1)),
    Symmetric(Lognormal(0.0, 1.0)),
    Contaminated(Gaussian(), Pareto(2.5, 10.0), 0.05),
    Contaminated(Symmetric(Pareto(3.0)), Shifted(Exponential(), 5.0), 0.3),
]
ATOMIC: list[DataLaw] = [
    TwoPoint(10.0, 0.2),
    TwoPoint(-3.0, 0.7),
    TwoPoint(2.0, 1.0),
    Shifted(TwoPoint(4.0, 0.75), -2.0),
    Symmetric(TwoPoint(4.0, 0.25)),
    Contaminated(Gaussian(), TwoPoint(4.0, 0.25), 0.3),
]
basic = pytest.mark.parametrize("law", BASIC, ids=repr)
every_law = pytest.mark.parametrize("law", BASIC + COMPOUND + ATOMIC, ids=repr)


def tail_index(law: DataLaw) -> float:
    match law:
        case StudentT(df):
            return df
        case Pareto(shape) | LogLogistic(shape):
            return shape
        case Symmetric(inner) | Shifted(inner):
            return tail_index(inner)
        case Contaminated(base, outlier):
            return min(tail_index(base), tail_index(outlier))
        case _:
            return INF


class Polished:
    """Student's law of scipy's.  Before scipy 1.17 its quantiles are right to 2e-11 only, and far out not at all: there one Newton
    step, here the power that the tail is but for its rounding."""

    def __init__(self, df: float, location: float, scale: float) -> None:
        self._law, self._df = stats.t(df, location, scale), df

    def __getattr__(self, name: str) -> Any:
        return getattr(self._law, name)

    def ppf(self, levels: ArrayLike) -> FloatArray:
        points = self._law.ppf(levels)
        return self._with_tail(levels, points - (self._law.cdf(points) - levels) / self._law.pdf(points), self._law.ppf)

    def isf(self, levels: ArrayLike) -> FloatArray:
        points = self._law.isf(levels)
        return self._with_tail(levels, points + (self._law.sf(points) - levels) / self._law.pdf(points), self._law.isf)

    def _with_tail(
        self, levels: ArrayLike, points: FloatArray, quantile: Callable[[float], Any], far: float = 1e-40
    ) -> FloatArray:
        end, p = float(quantile(far)), np.asarray(levels)
        with np.errstate(divide="ignore", over="ignore"):
            tail = end * (far / p) ** (1 / self._df)
        return np.asarray(np.where((p < far) & (p > 0) & (abs(end) > 1e10), tail, points))


def reference(law: DataLaw) -> Any:
    """The same law in scipy."""
    match law:
        case StudentT(df, location, scale):  # scipy's t loses nine digits near 0 when df = 1
            return stats.cauchy(location, scale) if df == 1 else Polished(df, location, scale)
        case Pareto(shape, scale):
            return stats.pareto(shape, scale=scale)
        case Lognormal(mu, sigma):
            return stats.lognorm(sigma, scale=math.exp(mu))
        case LogLogistic(shape, scale):
            return stats.burr12(shape, 1.0, scale=scale)  # scipy's fisk has no accurate tail
        case Gaussian(location, scale):
            return stats.norm(location, scale)
        case Exponential(scale):
            return stats.expon(scale=scale)
    raise AssertionError(law)


def expectation(law: DataLaw, function: Callable[[FloatArray], FloatArray], kinks: tuple[float, ...] = ()) -> float:
    """E function(X): sums over the parts of a compound law, and ∫ function(quantile(u)) du with scipy's quantiles.

    With u = 1/(1 + e^−y) a power tail is an exponential in y; panels shrink towards the function's kinks.
    """
    match law:
        case TwoPoint(value, weight):
            here, there = function(np.array([value, 0.0]))
            return float(weight * here + (1 - weight) * there)
        case Symmetric(inner):
            mirrored = expectation(inner, lambda y: function(-y), tuple(-x for x in kinks))
            return (expectation(inner, function, kinks) + mirrored) / 2
        case Shifted(inner, by):
            return expectation(inner, lambda y: function(y + by), tuple(x - by for x in kinks))
        case Contaminated(base, outlier, fraction):
            return (1 - fraction) * expectation(base, function, kinks) + fraction * expectation(outlier, function, kinks)
    scipys = reference(law)
    end = 170.0
    inside = [math.log(scipys.cdf(x) / scipys.sf(x)) for x in kinks if scipys.cdf(x) > 0 and scipys.sf(x) > 0]
    near = np.geomspace(1e-14, 1, 40)
    grid = np.concatenate([np.linspace(-end, end, 341), *(y + np.concatenate([-near, [0], near]) for y in inside)])
    edges = np.unique(grid[np.abs(grid) <= end])
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(edges)[:, np.newaxis] / 2
    y = edges[:-1, np.newaxis] + half * (1 + nodes)
    tail = special.expit(-np.abs(y))
    values = np.where(y < 0, scipys.ppf(tail), scipys.isf(tail))
    return float(np.sum(half * weights * function(values) * tail * (1 - tail)))


# --- laws ---------------------------------------------------------------------------------------------------------------


@basic
def test_distribution_function_against_scipy(law: DataLaw) -> None:
    scipys = reference(law)
    points = np.concatenate([scipys.ppf([1e-12, 1e-3, 0.2, 0.5]), scipys.isf([0.3, 1e-3, 1e-12, 1e-40]), [-50.0, 0.0]])
    np.testing.assert_allclose(law.cdf(points), scipys.cdf(points), rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(law.survival(points), scipys.sf(points), rtol=1e-11)
    levels = [1e-40, 1e-12, 1e-3, 0.2, 0.5, 0.7, 0.999]
    np.testing.assert_allclose(law.quantile(levels), scipys.ppf(levels), rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(law.upper_quantile(levels), scipys.isf(levels), rtol=1e-11, atol=1e-15)
    np.testing.assert_array_equal(law.quantile([0, 1]), [*scipys.support()])
    np.testing.assert_array_equal(law.upper_quantile([1, 0]), [*scipys.support()])
    np.testing.assert_array_equal(law.cdf([-INF, INF]), [0, 1])
    np.testing.assert_array_equal(law.survival([-INF, INF]), [1, 0])


@pytest.mark.parametrize("df", [0.3, 1.0, 2.5, 3.0, 30.0])
def test_student_far_out_and_near_the_middle(df: float) -> None:
    law = StudentT(df)
    with mpmath.workdps(40):
        for z in (1e-12, 1e-6, 0.01, 1.0, 30.0, 1e8, 1e10, 1e200):
            exact = mpmath.betainc(mpmath.mpf(df) / 2, 0.5, 0, df / (df + mpmath.mpf(z) ** 2), regularized=True) / 2
            if exact > 1e-290:
                assert float(law.survival(z)) == pytest.approx(float(exact), rel=1e-12)
                assert float(law.cdf(-z)) == float(law.survival(z))
                assert float(law.cdf(z)) - 0.5 == pytest.approx(float(0.5 - exact), abs=2e-16)
                assert z < 0.1 or float(law.upper_quantile(float(exact))) == pytest.approx(z, rel=1e-11)


def test_laplace_is_laplace() -> None:
    law, scipys, points = laplace(-1.0, 0.5), stats.laplace(-1.0, 0.5), np.linspace(-20, 20, 41)
    np.testing.assert_allclose(law.cdf(points), scipys.cdf(points), rtol=1e-12)
    np.testing.assert_allclose(law.survival(points), scipys.sf(points), rtol=1e-12)
    assert (law.mean(), law.variance()) == (-1, pytest.approx(0.5, rel=1e-14))


@every_law
@settings(deadline=None, max_examples=40)
@given(level=st.floats(1e-12, 1 - 1e-12))
def test_quantiles_invert_the_distribution_function(law: DataLaw, level: float) -> None:
    x = float(law.quantile(level))
    slack = 1e-9 * abs(x) + 1e-12
    assert float(law.cdf(x + slack)) >= level * (1 - 1e-9)
    assert float(law.cdf(x - slack)) <= level * (1 + 1e-9)
    y = float(law.upper_quantile(level))
    slack = 1e-9 * abs(y) + 1e-12
    assert float(law.survival(y + slack)) <= level * (1 + 1e-9)
    assert float(law.survival(y - slack)) >= level * (1 - 1e-9)
    assert float(law.cdf(x)) + float(law.survival(x)) == pytest.approx(1, abs=1e-14)


def test_quantiles_at_atoms() -> None:
    law = TwoPoint(10.0, 0.25)
    np.testing.assert_array_equal(law.cdf([-1, 0, 9, 10]), [0, 0.75, 0.75, 1])
    np.testing.assert_array_equal(law.survival([-1, 0, 9, 10]), [1, 0.25, 0.25, 0])
    np.testing.assert_array_equal(law.quantile([0, 0.75, 0.76, 1]), [0, 0, 10, 10])
    np.testing.assert_array_equal(law.upper_quantile([1, 0.25, 0.24, 0]), [0, 0, 10, 10])
    np.testing.assert_array_equal(TwoPoint(-10.0, 0.25).quantile([0, 0.25, 0.26, 1]), [-10, -10, 0, 0])
    mixed = Contaminated(Gaussian(), law, 0.5)
    jump = 0.5 * stats.norm.cdf(10) + 0.375  # P[X < 10]
    np.testing.assert_array_equal(mixed.quantile([jump + 1e-9, 0.99, 1]), [10, 10, INF])
    np.testing.assert_array_equal(mixed.upper_quantile([0.01, 0]), [10, INF])
    assert float(mixed.quantile(0.0)) == -INF


@every_law
@pytest.mark.parametrize("k", [0.5, 1.0, 1.7, 3.0])
def test_moments_against_quantile_integrals(law: DataLaw, k: float) -> None:
    for centre in (0.0, law.mean(), -1.3, 7.0):
        if k >= tail_index(law):
            assert law.absolute_moment(k) == INF
        elif math.isfinite(centre) and k < 0.85 * tail_index(law):
            exact = expectation(law, lambda x, c=centre: np.abs(x - c) ** k, (centre,))  # type: ignore[misc]
            assert law.absolute_moment(k, centre=centre) == pytest.approx(exact, rel=2e-11)
            if centre == law.mean():
                assert law.central_absolute_moment(k) == pytest.approx(exact, rel=2e-11)


def raw_moment(law: DataLaw, j: int) -> Any:
    """E X^j in closed form, at mpmath's precision."""
    match law:
        case _ if j == 0:
            return mpmath.mpf(1)
        case Pareto(shape, scale):
            return mpmath.mpf(shape) / (mpmath.mpf(shape) - j) * mpmath.mpf(scale) ** j
        case LogLogistic(shape, scale):
            return mpmath.mpf(scale) ** j * mpmath.beta(1 + j / mpmath.mpf(shape), 1 - j / mpmath.mpf(shape))
        case Lognormal(mu, sigma):
            return mpmath.exp(j * mpmath.mpf(mu) + (j * mpmath.mpf(sigma)) ** 2 / 2)
        case Exponential(scale):
            return mpmath.mpf(scale) ** j * mpmath.factorial(j)
        case StudentT(df) if j % 2 == 0:
            half = mpmath.mpf(df) / 2
            return (2 * half) ** (j // 2) * mpmath.beta(mpmath.mpf(j + 1) / 2, half - j // 2) / mpmath.beta(0.5, half)
        case StudentT():
            return mpmath.mpf(0)
    raise AssertionError(law)


@pytest.mark.parametrize(
    ("law", "orders"),
    [
        (Pareto(2.0001), (2,)),  # nearly critical: most of the moment lies far out
        (Pareto(10.01, 50.0), (4, 10)),
        (Pareto(500.0), (2, 4)),
        (LogLogistic(2.001), (2,)),
        (LogLogistic(20.1, 3.0), (2, 4, 10)),
        (LogLogistic(1e5), (2, 4)),  # nearly constant: the moment about the mean is a millionth of the moment about 0
        (StudentT(2.0001), (2,)),
        (StudentT(10.01), (4, 10)),
        (Lognormal(0.0, 3.0), (2, 4)),
        (Lognormal(5.0, 1.0), (2, 10)),
        (Lognormal(0.0, 1e-3), (2, 4)),
        (Exponential(2.0), (2, 20, 60)),
    ],
    ids=repr,
)
def test_even_moments_about_any_centre_against_closed_forms(law: DataLaw, orders: tuple[int, ...]) -> None:
    with mpmath.workdps(80):
        for k, centre in itertools.product(orders, (law.mean(), 1.0, -3.0, 1e3)):
            terms = (mpmath.binomial(k, j) * (-mpmath.mpf(centre)) ** (k - j) * raw_moment(law, j) for j in range(k + 1))
            assert law.absolute_moment(k, centre=centre) == pytest.approx(float(mpmath.fsum(terms)), rel=2e-11)
        exact = float(raw_moment(law, 2) - raw_moment(law, 1) ** 2)
        assert law.variance() == pytest.approx(exact, rel=2e-11)


@every_law
def test_mean_and_variance(law: DataLaw) -> None:
    if tail_index(law) <= 1:
        assert not math.isfinite(law.mean())
        assert law.variance() == law.central_absolute_moment(1) == INF
        return
    size = law.absolute_moment(1)
    if tail_index(law) > 1.25:
        assert law.mean() == pytest.approx(expectation(law, lambda x: x), rel=2e-11, abs=1e-14 * size)
    assert law.mean() == pytest.approx(law.mean_between(-INF, INF), rel=1e-12, abs=1e-14 * size)
    assert law.variance() == pytest.approx(law.central_absolute_moment(2), rel=2e-11)


@every_law
@pytest.mark.parametrize("bound", [0.0, 0.3, 1.0, 4.0, 10.0, 1e3])
def test_clipping_integrals(law: DataLaw, bound: float) -> None:
    scale = min(bound, law.absolute_moment(0.5) ** 2) or 1.0
    inside = expectation(law, lambda x: np.where(np.abs(x) <= bound, x, 0), (-bound, bound))
    assert law.truncated_mean(bound) == pytest.approx(inside, rel=1e-10, abs=1e-13 * scale)
    if tail_index(law) <= 1:
        assert law.tail_mean(bound) == INF
    elif tail_index(law) > 1.25:
        outside = expectation(law, lambda x: np.where(np.abs(x) > bound, np.abs(x), 0), (-bound, bound))
        assert law.tail_mean(bound) == pytest.approx(outside, rel=1e-9, abs=1e-60)


@every_law
@settings(deadline=None, max_examples=40)
@given(ends=st.tuples(st.floats(-20, 20), st.floats(-20, 20)).map(sorted))
def test_partial_means_add_up_and_lie_between_their_ends(law: DataLaw, ends: list[float]) -> None:
    low, high = ends
    part, weight = law.mean_between(low, high), probability_between(law, low, high)
    assert low * weight - 1e-12 <= part <= high * weight + 1e-12
    if tail_index(law) > 1:
        whole = law.mean_between(-INF, low) + part + law.mean_between(high, INF)
        assert whole == pytest.approx(law.mean(), rel=1e-11, abs=1e-11)


def test_partial_means_deep_in_the_tail() -> None:
    far = 1e8
    assert Pareto(2.1).tail_mean(far) == pytest.approx(2.1 / 1.1 * far**-1.1, rel=1e-13)
    assert Pareto(1 + 1e-13).truncated_mean(far) == pytest.approx(math.log(far), rel=1e-11)
    with mpmath.workdps(30):
        df = mpmath.mpf(2.5)
        tail = mpmath.betainc((df - 1) / 2, 1, 0, df / (df + mpmath.mpf(far) ** 2))
        student = mpmath.sqrt(df) * tail / mpmath.beta(df / 2, 0.5)  # E[|T|·1{|T| > far}]
        lognormal = mpmath.exp(0.5) * mpmath.erfc((mpmath.log(far) - 1) / mpmath.sqrt(2)) / 2
        shape = mpmath.mpf(1.3)
        loglogistic = mpmath.quad(
            lambda u: shape * mpmath.exp(u * (1 - shape)) / (1 + mpmath.exp(-u * shape)) ** 2,
            [mpmath.log(far), 50, 100, 200, mpmath.inf],
        )
    assert StudentT(2.5).tail_mean(far) == pytest.approx(float(student), rel=1e-12)
    assert Lognormal().tail_mean(far) == pytest.approx(float(lognormal), rel=1e-12)
    assert LogLogistic(1.3).tail_mean(far) == pytest.approx(float(loglogistic), rel=1e-12)
    assert Exponential().truncated_mean(1e-6) == pytest.approx(5e-13, rel=1e-5)
    assert Contaminated(Gaussian(), Pareto(2.1), 0.1).tail_mean(far) == pytest.approx(0.21 / 1.1 * far**-1.1, rel=1e-13)


def test_closed_and_open_ends_at_atoms() -> None:
    signs = Shifted(TwoPoint(6.0, 0.75), -3.0)
    assert signs.mean() == 1.5
    assert (signs.truncated_mean(3), signs.tail_mean(3)) == (1.5, 0)
    assert (signs.truncated_mean(2.9), signs.tail_mean(2.9)) == (0, 3)
    assert (signs.mean_between(-3, 3), signs.mean_between(-4, -3)) == (2.25, -0.75)
    both = Symmetric(TwoPoint(4.0, 0.5))
    assert (both.tail_mean(4), both.tail_mean(3.9)) == (0, 2)
    assert (both.mean_between(-4, 3.9), both.mean_between(-5, 3.9)) == (0, -1)
    np.testing.assert_array_equal(both.cdf([-4.1, -4, -0.1, 0, 4]), [0, 0.25, 0.25, 0.75, 1])
    np.testing.assert_array_equal(both.survival([-4.1, -4, -0.1, 0, 4]), [1, 0.75, 0.75, 0.25, 0])


def test_loglogistic_of_the_literature() -> None:
    law = LogLogistic.of_logarithm(0.2, 0.2)
    assert law == LogLogistic(shape=5.0, scale=math.exp(0.2))
    x = np.array([0.3, 1.0, 2.0])
    np.testing.assert_allclose(law.cdf(x), stats.logistic.cdf(np.log(x), 0.2, 0.2), rtol=1e-13)


@settings(deadline=None)
@given(weight=st.floats(1e-6, 1), extra=st.floats(0.01, 3), moment=st.floats(1e-3, 1e3))
def test_two_points_with_a_given_moment(weight: float, extra: float, moment: float) -> None:
    law = TwoPoint.with_moment(probability=weight, order=1 + extra, moment=moment)
    assert law.absolute_moment(1 + extra) == pytest.approx(moment, rel=1e-12)
    assert law.value == pytest.approx((moment / weight) ** (1 / (1 + extra)), rel=1e-14)
    assert law.mean() == pytest.approx(weight * law.value, rel=1e-14)


@pytest.mark.parametrize("law", BASIC + COMPOUND, ids=repr)
def test_samples_follow_the_law(law: DataLaw) -> None:
    sample = law.sample(np.random.default_rng(20240611), (100, 200))
    assert sample.shape == (100, 200)
    assert stats.kstest(sample.ravel(), law.cdf).pvalue > 1e-9
    np.testing.assert_array_equal(sample, law.sample(np.random.default_rng(20240611), (100, 200)))


@pytest.mark.parametrize("law", ATOMIC, ids=repr)
def test_samples_hit_atoms_as_often_as_they_should(law: DataLaw) -> None:
    sample = law.sample(np.random.default_rng(20240612), 20_000)
    for atom in np.unique(law.landmarks()):
        weight = probability_between(law, math.nextafter(atom, -INF), atom)
        if weight > 0.01:
            assert stats.binomtest(int(np.sum(sample == atom)), 20_000, weight).pvalue > 1e-9
    weight = float(law.cdf(-1.0))
    assert stats.binomtest(int(np.sum(sample <= -1)), 20_000, weight).pvalue > 1e-9


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("student:2.5", StudentT(2.5)),
        ("student:3,1,2", StudentT(3, 1, 2)),
        ("pareto:2.1", Pareto(2.1)),
        ("pareto:2.1,3", Pareto(2.1, 3)),
        ("symmetric-pareto:2.1", Symmetric(Pareto(2.1))),
        ("lognormal:0,1", Lognormal(0, 1)),
        ("centred-lognormal:0,1", Shifted(Lognormal(0, 1), -math.exp(0.5))),
        ("loglogistic:5,1.2", LogLogistic(5, 1.2)),
        ("gaussian", Gaussian()),
        ("gaussian:1", Gaussian(1)),
        ("laplace:0,2", laplace(0, 2)),
        ("exponential:3", Exponential(3)),
        ("twopoint:10,0.1", TwoPoint(10, 0.1)),
        ("centred-twopoint:10,0.1", Shifted(TwoPoint(10, 0.1), -1.0)),
    ],
)
def test_parse_law(text: str, law: DataLaw) -> None:
    assert parse_law(text) == law


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cauchy:1", "'cauchy:1': must be one of"),
        ("", "must be one of"),
        ("student", "has 0 parameters; must read student:DF"),
        ("pareto:2,1,3", "has 3 parameters"),
        ("gaussian:0,one", "parameters must be numbers, gaussian:"),
        ("gaussian:0,", "parameters must be numbers"),
        ("student:-1", "df = -1.0: must be > 0"),
        ("student:inf", "df = inf: must be finite"),
        ("twopoint:1", "has 1 parameters"),
        ("twopoint:1,1.5", r"must lie in \[0, 1\]"),
        ("symmetric-gaussian", "non-negative"),
        ("centred-pareto:1", "no finite mean"),
        ("centred-student:1", "no finite mean"),
    ],
)
def test_parse_law_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_law(text)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: StudentT(0), "df = 0.0"),
        (lambda: StudentT(2, math.nan), "location = nan"),
        (lambda: StudentT(2, 0, -1), "scale = -1.0"),
        (lambda: Pareto(-1), "shape"),
        (lambda: Pareto(1, 0), "scale"),
        (lambda: Lognormal(INF), "mu"),
        (lambda: Lognormal(0, 0), "sigma"),
        (lambda: LogLogistic(0), "shape"),
        (lambda: LogLogistic.of_logarithm(0, -1), "sigma"),
        (lambda: TwoPoint(0, 0.5), "value = 0"),
        (lambda: TwoPoint(1, 0), "probability = 0"),
        (lambda: TwoPoint.with_moment(probability=0, order=2, moment=1), "probability"),
        (lambda: TwoPoint.with_moment(probability=1, order=0, moment=1), "order"),
        (lambda: Gaussian(0, 0), "scale"),
        (lambda: Exponential(-1), "scale"),
        (lambda: Shifted(Gaussian(), INF), "by"),
        (lambda: Contaminated(Gaussian(), Pareto(2), 1), "fraction"),
        (lambda: Gaussian().absolute_moment(0), "k = 0.0: must be > 0"),
        (lambda: TwoPoint(1, 1).absolute_moment(-1), "k"),
        (lambda: Gaussian().absolute_moment(1, centre=math.nan), "centre"),
        (lambda: Gaussian().truncated_mean(-1), "bound = -1.0: must be >= 0"),
        (lambda: Gaussian().tail_mean(math.nan), "bound"),
        (lambda: Gaussian().quantile(1.5), r"level = 1.5: must lie in \[0, 1\]"),
        (lambda: Pareto(2).upper_quantile([0.5, math.nan]), "level"),
        (lambda: Lognormal(0, 3).absolute_moment(8, centre=1), "floats cannot hold"),
        (lambda: Pareto(40.01).absolute_moment(40, centre=1), "floats cannot hold"),
    ],
)
def test_laws_refuse_bad_input(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# --- problems -----------------------------------------------------------------------------------------------------------

SIGMA = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
TRUE = np.array([0.8, -0.5, 0.3])
TILTED = GaussianFeatures(SIGMA)
HEAVY = centred(Contaminated(StudentT(3.0), Pareto(2.5, 2.0), 0.1))
PROBLEMS: list[Problem] = [
    MeanEstimation(Pareto(2.1), 3),
    MeanEstimation(centred(Lognormal(1.0, 1.0)), 1),
    MedianEstimation(Lognormal(1.0, 1.0)),
    MedianEstimation(Contaminated(Gaussian(), Pareto(1.5, 10.0), 0.2)),
    MedianEstimation(Symmetric(Pareto(1.2))),
    LinearRegression(features=TILTED, weights=TRUE, noise=HEAVY),
    LinearRegression(features=IndependentFeatures(Pareto(4.5), 3), weights=TRUE, noise=centred(LogLogistic(5.0))),
    LinearRegression(features=TILTED, weights=TRUE, noise=StudentT(1.5), loss_name="absolute"),
    LinearRegression(features=TILTED, weights=TRUE, noise=Lognormal(0.0, 0.5), loss_name="absolute"),
    LinearRegression(features=TILTED, weights=TRUE, noise=Symmetric(TwoPoint(1.0, 0.5)), loss_name="absolute"),
    LogisticRegression(features=TILTED, weights=TRUE),
    LogisticRegression(features=TILTED, weights=10 * TRUE),
    PowerGrowth(StudentT(3.0), 3, 2.0),
    PowerGrowth(StudentT(3.0), 3, 4.0),
    FourthPowerRegression(Symmetric(Pareto(4.5)), TRUE),
]
every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{type(p).__name__}-{p.loss_name}")


def directions(dimension: int) -> FloatArray:
    return np.vstack([np.eye(dimension), np.random.default_rng(5).standard_normal((4, dimension))])


@every_problem
def test_minimiser(problem: Problem) -> None:
    """The risk rises on both sides of w* and its slope there vanishes."""
    best = problem.minimiser()
    assert best.shape == (problem.dimension,)
    assert problem.excess_risk(best) == 0
    step = 1e-5
    for u in directions(problem.dimension):
        excess = [problem.excess_risk(best + sign * step * u) for sign in (-1, 1)]
        assert min(excess) >= 0
        if not np.isclose(problem.risk(best), INF):
            risks = [problem.risk(best + sign * 0.1 * u) for sign in (-1, 1)]
            assert min(risks) >= problem.risk(best) - 1e-14 * problem.risk(best)
            slope = (problem.risk(best + step * u) - problem.risk(best - step * u)) / (2 * step)
            assert abs(slope) < 1e-5


@every_problem
def test_excess_is_the_difference_of_risks(problem: Problem) -> None:
    best = problem.minimiser()
    least = problem.risk(best)
    assert math.isfinite(least)
    for u, length in itertools.product(directions(problem.dimension), (-5.0, -0.5, 0.02, 1.0, 30.0)):
        w = best + length * u
        assert problem.excess_risk(w) == pytest.approx(problem.risk(w) - least, rel=1e-10, abs=2e-12 * problem.risk(w))


def test_least_risk() -> None:
    noise, best = centred(LogLogistic(5.0)), np.array([2.0 ** (1 / 2.1)])
    spread = expectation(noise, np.square)
    squared = LinearRegression(features=TILTED, weights=TRUE, noise=noise)
    assert squared.risk(TRUE) == pytest.approx(spread / 2, rel=1e-10)
    assert MeanEstimation(noise, 4).risk(np.zeros(4)) == pytest.approx(2 * spread, rel=1e-10)
    absolute = LinearRegression(features=TILTED, weights=TRUE, noise=noise, loss_name="absolute")
    assert absolute.risk(TRUE) == pytest.approx(expectation(noise, np.abs, (0.0,)), rel=1e-10)
    exact = expectation(Pareto(2.1), lambda x: np.abs(x - best), (float(best[0]),))
    assert MedianEstimation(Pareto(2.1)).risk(best) == pytest.approx(exact, rel=1e-10)


def test_excess_may_be_finite_where_the_risk_is_not() -> None:
    for problem in (
        MeanEstimation(Pareto(1.5), 2),
        LinearRegression(features=IndependentFeatures(Exponential(), 2), weights=np.zeros(2), noise=StudentT(1.5)),
    ):
        w = problem.minimiser() + np.array([0.3, 0.4])
        assert problem.risk(w) == INF
    assert MeanEstimation(Pareto(1.5), 2).excess_risk([3.3, 3.4]) == pytest.approx(0.125, rel=1e-14)
    assert problem.excess_risk(w) == pytest.approx((0.25 + 0.49) / 2, rel=1e-14)
    assert MedianEstimation(StudentT(0.6)).risk([1.0]) == INF
    exact, _ = integrate.quad(lambda x: 2 * stats.t.cdf(x, 0.6) - 1, 0, 3, epsabs=1e-13)
    assert MedianEstimation(StudentT(0.6)).excess_risk([3.0]) == pytest.approx(exact, rel=1e-11)


def loss_values(problem: Problem, w: FloatArray, data: FloatArray) -> FloatArray:
    if problem.loss_name == "quadratic":
        return Quadratic(np.eye(problem.dimension)).values(w, data)
    return parse_any_loss(problem.loss_name).values(w, data)


@pytest.mark.parametrize(
    ("problem", "shift", "deviation_upper"),
    [
        # The deviation of f(w) − f(w*): for squared losses exactly, else at most E⟨w − w*, x⟩² (here 5) by Lipschitz.
        (MeanEstimation(Pareto(2.1), 3), [1.0, 2.0, -3.0], math.sqrt(14 * Pareto(2.1).variance())),
        (MedianEstimation(Pareto(0.8)), [2.0], 2.0),
        (MedianEstimation(Contaminated(Gaussian(), Pareto(1.5, 10.0), 0.2)), [-1.0], 1.0),
        (
            LinearRegression(features=TILTED, weights=TRUE, noise=HEAVY),
            [1.0, -1.0, 2.0],
            math.sqrt(5.0**2 / 2 + 5.0 * HEAVY.variance()),
        ),
        (
            LinearRegression(features=TILTED, weights=TRUE, noise=StudentT(1.5), loss_name="absolute"),
            [1.0, -1.0, 2.0],
            math.sqrt(5.0),
        ),
        (
            LinearRegression(features=TILTED, weights=TRUE, noise=Lognormal(), loss_name="absolute"),
            [1.0, -1.0, 2.0],
            math.sqrt(5.0),
        ),
        (LogisticRegression(features=TILTED, weights=TRUE), [-1.0, 1.0, -2.0], math.sqrt(5.0)),
        (
            LinearLoss(law=TwoPoint(5.0, 0.1), direction=np.array([0.6, -0.8]), diameter=2.0),
            [-1.2, 0.0],
            0.72 * math.sqrt(TwoPoint(5.0, 0.1).variance()),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_excess_against_samples(problem: Problem, shift: list[float], deviation_upper: float) -> None:
    n, blocks = 1_000_000, 100
    data = problem.sample(np.random.default_rng(20240613), n)
    best = problem.minimiser()
    w = best + shift
    gains = loss_values(problem, w, data) - loss_values(problem, best, data)
    estimate = float(np.median(gains.reshape(blocks, -1).mean(axis=1)))
    margin = 2 * deviation_upper * math.sqrt(blocks / n)
    assert abs(estimate - problem.excess_risk(w)) <= margin
    assert margin < 0.15 * problem.excess_risk(w)  # the interval tells something


@pytest.mark.parametrize("noise", [StudentT(2.5), Lognormal(0.0, 0.5), Symmetric(Pareto(2.1)), HEAVY], ids=repr)
@pytest.mark.parametrize("s", [1e-4, 0.1, 1.0, 40.0])
def test_absolute_excess_by_averaging_over_the_noise(noise: DataLaw, s: float) -> None:
    """E|a − sZ| − |a| = 2s·(φ(a/s) − (a/s)·P[Z > a/s]) for a ≥ 0, averaged over a = |ξ|."""
    problem = LinearRegression(features=GaussianFeatures.isotropic(2), weights=[1, 2], noise=noise, loss_name="absolute")

    def gain(x: FloatArray) -> FloatArray:
        a = np.minimum(np.abs(x) / s, 45.0)
        return np.asarray(2 * s * (stats.norm.pdf(a) - a * special.ndtr(-a)))

    kinks = tuple(s * np.arange(-36.0, 37.0, 3.0))
    exact = expectation(noise, gain, kinks)
    assert problem.excess_risk([1 + 0.6 * s, 2 - 0.8 * s]) == pytest.approx(exact, rel=1e-9)


def test_absolute_excess_in_closed_form() -> None:
    """Gaussian noise: (√(σ² + s²) − σ)·√(2/π)."""
    problem = LinearRegression(
        features=GaussianFeatures.isotropic(1), weights=[0], noise=Gaussian(0, 2), loss_name="absolute"
    )
    for s in (1e-7, 1e-3, 1.0, 1e4):
        exact = s**2 / (math.hypot(2, s) + 2) * math.sqrt(2 / math.pi)
        assert problem.excess_risk([s]) == pytest.approx(exact, rel=1e-10 if s > 1e-5 else 1e-8)


def bregman(a: FloatArray, b: FloatArray) -> FloatArray:
    """The mean loss at margin b less that at a when the label's law is logistic with margin a."""
    return np.asarray(np.logaddexp(0, b) - np.logaddexp(0, a) - special.expit(a) * (b - a))


def margins(problem: LogisticRegression, w: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both margins on the grid z × z of independent Gaussians."""
    pair = np.vstack([problem.weights, w])
    root = np.linalg.cholesky(pair @ SIGMA @ pair.T)
    first, second = np.meshgrid(z, z, indexing="ij")
    return root[0, 0] * first, root[1, 0] * first + root[1, 1] * second


@pytest.mark.parametrize("scale", [0.3, 1.0, 6.0])
@pytest.mark.parametrize("shift", [[1.0, -1.0, 2.0], [-3.0, 0.4, 0.1], [0.02, 0.0, 0.0]])
def test_logistic_excess_by_two_dimensional_quadrature(scale: float, shift: list[float]) -> None:
    problem = LogisticRegression(features=TILTED, weights=scale * TRUE)
    w = problem.minimiser() + scale * np.array(shift)
    # The trapezoidal rule converges geometrically for these integrands.
    z, step = np.linspace(-10, 10, 2001, retstep=True)
    weights = stats.norm.pdf(z) * step
    exact = weights @ bregman(*margins(problem, w, z)) @ weights
    assert problem.excess_risk(w) == pytest.approx(exact, rel=1e-10, abs=1e-14)
    if scale <= 0.3:
        nodes, hermite = np.polynomial.hermite_e.hermegauss(100)
        hermite = hermite / hermite.sum()
        assert hermite @ bregman(*margins(problem, w, nodes)) @ hermite == pytest.approx(exact, rel=1e-10)
    both = weights @ np.logaddexp(0, margins(problem, w, z)[1]) @ weights
    linear = weights @ np.multiply(*(f(m) for f, m in zip((special.expit, np.asarray), margins(problem, w, z), strict=True)))
    assert problem.risk(w) == pytest.approx(both - linear @ weights, rel=1e-11)


def test_logistic_excess_with_huge_margins() -> None:
    """One dimension, from weight a to b: the mean of the Bregman distance between the margins az and bz."""
    for a, b in [(300.0, 500.0), (300.0, -200.0), (0.0, 1000.0), (1e-3, 40.0)]:
        problem = LogisticRegression(features=GaussianFeatures.isotropic(1), weights=[a])
        panels = np.concatenate([[0], np.geomspace(1e-8, 12, 400)])
        nodes, weights = np.polynomial.legendre.leggauss(12)
        half = np.diff(panels)[:, np.newaxis] / 2
        z = panels[:-1, np.newaxis] + half * (1 + nodes)
        exact = 2 * np.sum(half * weights * stats.norm.pdf(z) * (bregman(a * z, b * z) + bregman(-a * z, -b * z)) / 2)
        assert problem.excess_risk([b]) == pytest.approx(exact, rel=1e-9)


@every_problem
def test_excess_keeps_its_digits_near_the_minimiser(problem: Problem) -> None:
    """A step of 1e-5 costs a hundredth of a step of 1e-4 but for the curvature's change; risks' differences lose this."""
    best = problem.minimiser()
    has_kink = isinstance(problem, LinearRegression) and float(problem.noise.cdf(0.0)) == 0.75  # an atom at 0
    for u in directions(problem.dimension):
        small, large = (problem.excess_risk(best + t * u) for t in (1e-5, 1e-4))
        if large > 1e-30:  # else no record is near 0 and the absolute loss is flat here
            power = 1.0 if has_kink else growth(problem)
            assert small / large == pytest.approx(0.1**power, rel=2e-3)


def growth(problem: Problem) -> float:
    """The power of the distance with which the risk grows near its minimum."""
    if isinstance(problem, PowerGrowth):
        return problem.theta
    return 4.0 if isinstance(problem, FourthPowerRegression) else 2.0


@pytest.mark.parametrize("shape", [0.3, 0.8, 2.1, 30.0])
def test_median_excess_in_closed_form(shape: float) -> None:
    """Pareto: ∫(1 − 2x^−shape) dx from the median 2^(1/shape) to w, and the slope −1 below 1."""
    problem = MedianEstimation(Pareto(shape))
    with mpmath.workdps(40):
        median, power = mpmath.mpf(2) ** (1 / mpmath.mpf(shape)), 1 - mpmath.mpf(shape)
        for factor in (1.001, 0.95, 1.5, 10.0, 1e4, 1e8, -7.0):
            w = mpmath.mpf(float(median) * factor)
            start = max(w, mpmath.mpf(1))
            exact = start - median - 2 * (start**power - median**power) / power + (start - w)
            assert problem.excess_risk([float(w)]) == pytest.approx(float(exact), rel=1e-11)


def test_noise_conditions() -> None:
    """F(w) − F* ≥ λ‖w − w*‖^θ, with the least of the left side over directions within three times the right."""
    rng = np.random.default_rng(8)
    regression = FourthPowerRegression(Symmetric(Pareto(4.5)), TRUE)
    for problem, theta, constant in (
        (PowerGrowth(StudentT(3.0), 3, 4.0), 4.0, 1 / 4),
        (PowerGrowth(StudentT(3.0), 3, 3.0), 3.0, 1 / 3),
        (regression, 4.0, regression.growth),
    ):
        for u in rng.standard_normal((20, 3)):
            excess = problem.excess_risk(problem.minimiser() + u)
            lower = constant * np.linalg.norm(u) ** theta
            assert excess >= lower * (1 - 1e-12)
            assert isinstance(problem, FourthPowerRegression) or excess == pytest.approx(lower)


def test_fourth_power_risk_is_the_mean_loss() -> None:
    """Signs, so that the mean over all records is a sum of eight terms."""
    problem = FourthPowerRegression(Shifted(TwoPoint(2.0, 0.5), -1.0), TRUE)
    records = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    data = np.column_stack([records, records @ TRUE])
    for w in (np.zeros(3), np.array([1.0, 2.0, -0.3])):
        assert problem.risk(w) == pytest.approx(L4().values(w, data).mean(), rel=1e-13)


@pytest.mark.parametrize("bad", [lambda: PowerGrowth(Pareto(3.0), 2, 4.0), lambda: PowerGrowth(StudentT(3.0), 2, 1.5)])
def test_bad_growth_is_refused(bad: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=r"law|theta"):
        bad()


def test_fourth_power_regression_needs_a_fourth_moment() -> None:
    with pytest.raises(InputError, match="fourth moment"):
        FourthPowerRegression(StudentT(3.0), TRUE)


def test_linear_loss() -> None:
    problem = LinearLoss(law=TwoPoint(5.0, 0.1), direction=np.array([0.6, -0.8]), diameter=4.0)
    np.testing.assert_allclose(problem.mean(), [0.3, -0.4])
    np.testing.assert_allclose(problem.minimiser(), [1.2, -1.6])
    assert problem.risk(problem.minimiser()) == pytest.approx(-1.0)
    assert problem.excess_risk(problem.minimiser()) == 0
    angles = np.linspace(0, 2 * math.pi, 50)
    for w in np.column_stack([np.cos(angles), np.sin(angles)]) * 2:
        assert problem.excess_risk(w) == pytest.approx(1.0 - 0.3 * w[0] + 0.4 * w[1], abs=1e-14)
        assert problem.excess_risk(w) == pytest.approx(problem.risk(w) + 1.0, abs=1e-14)
        assert problem.excess_risk(w) >= -1e-15
        # Lemma G.1 of the pure-DP paper, from which its lower bounds follow.
        estimate = 2 * 0.5 / 4 * w
        assert problem.excess_risk(w) >= 4 / (4 * 0.5) * np.sum((estimate - problem.mean()) ** 2) - 1e-14
    against = LinearLoss(law=Shifted(TwoPoint(2.0, 0.2), -1.0), direction=np.array([0.0, 3.0]), diameter=2.0)
    np.testing.assert_allclose(against.minimiser(), [0, -1])  # the mean is (0.2 − 0.8)·3 along the second axis
    records = against.sample(np.random.default_rng(0), 1000)
    np.testing.assert_array_equal(np.unique(records[:, 1]), [-3, 3])
    assert np.mean(records[:, 1] > 0) > 0.5  # records are −x


# --- moments of gradients -----------------------------------------------------------------------------------------------


def outcomes(law: TwoPoint, dimension: int) -> tuple[FloatArray, FloatArray]:
    """Every value of a vector with independent two-point coordinates, and their probabilities."""
    points = np.array(list(itertools.product([0.0, law.value], repeat=dimension)))
    hits = np.count_nonzero(points, axis=1)
    return points, law.probability**hits * (1 - law.probability) ** (dimension - hits)


@settings(deadline=None, max_examples=200)
@given(
    value=st.floats(-5, 5).filter(lambda x: abs(x) > 0.1),
    weight=st.floats(0.01, 0.99),
    dimension=st.integers(1, 5),
    p=st.floats(1, 7),
    seed=st.integers(0, 2**32 - 1),
    place=st.sampled_from(["origin", "mean", "random"]),
)
def test_moment_bounds_by_enumeration(value: float, weight: float, dimension: int, p: float, seed: int, place: str) -> None:
    law = TwoPoint(value, weight)
    problem = MeanEstimation(law, dimension)
    rng = np.random.default_rng(seed)
    at = {"origin": None, "mean": problem.minimiser(), "random": rng.normal(size=dimension)}[place]
    points, weights = outcomes(law, dimension)
    moved = points - (0 if at is None else at)
    units = rng.standard_normal((20, dimension))
    units = np.vstack([units, np.eye(dimension), np.ones(dimension)])
    units /= np.linalg.norm(units, axis=1)[:, np.newaxis]
    largest = np.max(np.abs(units @ moved.T) ** p @ weights)
    assert problem.direction_moment_upper(p, at=at) >= largest
    for k in (p, p - 0.9):
        assert problem.norm_moment_upper(k, at=at) >= np.linalg.norm(moved, axis=1) ** k @ weights * (1 - 1e-13)
    second = (moved * weights[:, np.newaxis]).T @ moved
    assert problem.direction_moment_upper(2, at=at) == pytest.approx(np.linalg.eigvalsh(second)[-1], rel=1e-9)
    assert problem.norm_moment_upper(2, at=at) == pytest.approx(np.trace(second), rel=1e-9)
    if dimension == 1:
        exact = weights @ np.abs(moved[:, 0]) ** p
        assert problem.direction_moment_upper(p, at=at) == pytest.approx(exact, rel=1e-9)
        assert problem.norm_moment_upper(p, at=at) == pytest.approx(exact, rel=1e-9)


def test_moment_bounds_of_heavy_tails() -> None:
    problem = MeanEstimation(Symmetric(Pareto(1.8)), 4)
    assert problem.coordinate_moment(1.5) == pytest.approx(1.8 / 0.3)
    assert problem.direction_moment_upper(2) == problem.norm_moment_upper(2) == INF
    # Without a variance: von Bahr and Esseen's 2·d^{1−p/2}·E|Y|^p here.
    assert problem.direction_moment_upper(1.5) == pytest.approx(2 * 4**0.25 * 6.0, rel=1e-9)
    assert problem.norm_moment_upper(1.5) == pytest.approx(4 * 6.0, rel=1e-9)
    # Rio's constant does not grow with the dimension.
    for dimension in (1, 10, 1000):
        heavy = MeanEstimation(StudentT(4.5), dimension)
        assert heavy.direction_moment_upper(4) <= 9 * StudentT(4.5).absolute_moment(4) * (1 + 1e-9)
    shifted = MeanEstimation(StudentT(4.5, 2.0), 3)
    assert shifted.coordinate_moment(3, centre=2.0) == pytest.approx(StudentT(4.5).absolute_moment(3), rel=1e-13)
    assert shifted.direction_moment_upper(3, at=[2, 2, 2]) < shifted.direction_moment_upper(3)


# --- records and refusals -----------------------------------------------------------------------------------------------


@every_problem
def test_records(problem: Problem) -> None:
    data = problem.sample(np.random.default_rng(1), 50)
    assert data.shape == (50, problem.dimension + (not problem.loss_name.endswith(("quadratic", "affine"))))
    assert loss_values(problem, problem.minimiser(), data).shape == (50,)
    np.testing.assert_array_equal(data, problem.sample(np.random.default_rng(1), 50))
    for bad in (0, 2.5, -3):
        with pytest.raises(InputError, match="n = "):
            problem.sample(np.random.default_rng(1), bad)  # type: ignore[arg-type]
    for wrong in (np.zeros(problem.dimension + 1), np.full(problem.dimension, math.nan), np.zeros((1, 1, 1))):
        for method in (problem.risk, problem.excess_risk):
            with pytest.raises(InputError, match="w"):
                method(wrong)


def test_feature_laws() -> None:
    rng = np.random.default_rng(20240614)
    data = TILTED.sample(rng, 200_000)
    # By Laurent and Massart's inequality an entry misses by more with probability below 1e-12.
    bound = 8 * np.sqrt(2 * np.outer(np.diag(SIGMA), np.diag(SIGMA)) / len(data))
    assert np.all(np.abs(data.T @ data / len(data) - SIGMA) < bound)
    heavy = IndependentFeatures(Pareto(4.5), 2)
    exact = Pareto(4.5).absolute_moment(2) * 2 - 2 * Pareto(4.5).mean() ** 2
    assert heavy.margin_second_moment(np.array([1.0, -1.0])) == pytest.approx(exact, rel=1e-12)
    assert TILTED.margin_second_moment(TRUE) == pytest.approx(TRUE @ SIGMA @ TRUE, rel=1e-14)


def test_problems_cannot_be_changed_from_outside() -> None:
    weights, covariance = TRUE.copy(), SIGMA.copy()
    problem = LogisticRegression(features=GaussianFeatures(covariance), weights=weights)
    before = problem.risk(np.ones(3))
    weights[:] = 7
    covariance[:] = 7
    problem.minimiser()[:] = 7
    assert problem.risk(np.ones(3)) == before
    with pytest.raises(ValueError, match="read-only"):
        problem.weights[0] = 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MeanEstimation(StudentT(1.0)), "finite mean"),
        (lambda: MeanEstimation(Gaussian(), 0), "dimension = 0"),
        (lambda: MeanEstimation(Gaussian()).direction_moment_upper(0.5), "p = 0.5: must be >= 1"),
        (lambda: MeanEstimation(Gaussian()).norm_moment_upper(0), "k = 0.0"),
        (lambda: MeanEstimation(Gaussian(), 2).norm_moment_upper(2, at=[1]), "at: has 1 entries; must have 2"),
        (lambda: GaussianFeatures(np.ones((2, 3))), "covariance: has shape"),
        (lambda: GaussianFeatures(np.array([[1.0, 0.5], [0.4, 1.0]])), "symmetric"),
        (lambda: GaussianFeatures(np.array([[1.0, 2.0], [2.0, 1.0]])), "positive definite"),
        (lambda: GaussianFeatures(np.zeros((0, 0))), "covariance"),
        (lambda: GaussianFeatures.isotropic(0), "dimension"),
        (lambda: IndependentFeatures(Pareto(1.9), 2), "finite variance"),
        (lambda: IndependentFeatures(Gaussian(), 0), "dimension"),
        (lambda: LinearRegression(features=TILTED, weights=TRUE, noise=Lognormal()), "mean zero.*centred"),
        (lambda: LinearRegression(features=TILTED, weights=TRUE, noise=StudentT(1.0)), "finite mean"),
        (lambda: LinearRegression(features=TILTED, weights=TRUE[:2], noise=Gaussian()), "weights: has 2"),
        (lambda: LinearRegression(features=TILTED, weights=TRUE, noise=Gaussian(), loss_name="l4"), "loss_name = 'l4'"),
        (
            lambda: LinearRegression(
                features=IndependentFeatures(Gaussian(), 3), weights=TRUE, noise=Gaussian(), loss_name="absolute"
            ),
            "must be Gaussian",
        ),
        (lambda: LinearLoss(law=Gaussian(), direction=np.ones(2), diameter=1), "mean other than 0"),
        (lambda: LinearLoss(law=Pareto(1), direction=np.ones(2), diameter=1), "finite mean"),
        (lambda: LinearLoss(law=Pareto(2), direction=np.zeros(2), diameter=1), "direction"),
        (lambda: LinearLoss(law=Pareto(2), direction=np.ones(2), diameter=0), "diameter"),
        (lambda: LinearLoss(law=Pareto(2), direction=np.ones(2), diameter=1).risk([1, 1]), "must lie in the ball"),
        (lambda: LogisticRegression(features=TILTED, weights=[1.0]), "weights"),
    ],
)
def test_problems_refuse_bad_input(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
