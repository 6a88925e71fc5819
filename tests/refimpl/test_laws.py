"""Laws against second methods: quadrature, 30-digit arithmetic, exact formulas of small cases, and their own samples.

Statistical tests here call a true law wrong with probability at most 1e-9 each (fewer than 100 of them: 1e-7 for the file);
the seeds only make a failure repeatable.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import quad
from scipy.special import gammaln

from tailproof.refimpl.domains import Ball
from tailproof.refimpl.laws import (
    LAWS,
    LLN,
    Finite,
    Gaussian,
    Gibbs,
    L2Laplace,
    Laplace,
    Law,
    NoisyArgmax,
    PerturbedMinimiser,
    Point,
    Softmax,
    UniformPermutation,
    UniformSubset,
    law_fields,
    lln_log_density,
    same_law,
    support_shape,
)
from tailproof.refimpl.losses import Absolute
from tailproof.refimpl.pure_dp.tempered import temper
from tailproof.refimpl.pure_dp.tilted import TiltedRisk
from tailproof.refimpl.validation import FloatArray, InputError

FALSE_ALARM = 1e-9
DRAWS = 20_000
COORDINATES = 200_000  # of one draw: enough for Kolmogorov–Smirnov to see a scale that is wrong by a twentieth
LOCATION_SCALE: tuple[Callable[..., Any], ...] = (Gaussian, Laplace, L2Laplace, lambda at, scale: LLN(at, scale, 0.7))


def draws(law: Law, seed: int, count: int = DRAWS) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    return np.array([law.sample(rng) for _ in range(count)])


def assert_follows(sample: NDArray[Any], cdf: Callable[[Any], Any]) -> None:
    """Kolmogorov–Smirnov; false alarm with probability FALSE_ALARM."""
    assert stats.kstest(sample, cdf).pvalue > FALSE_ALARM


def assert_frequencies(counts: NDArray[Any], probabilities: NDArray[Any]) -> None:
    """Every frequency by the exact binomial test, each at FALSE_ALARM over the number of outcomes."""
    assert counts.sum() > 0
    for count, probability in zip(counts, probabilities, strict=True):
        test = stats.binomtest(int(count), int(counts.sum()), float(min(1.0, probability)))
        assert test.pvalue > FALSE_ALARM / len(counts)


# --- densities -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("law", LOCATION_SCALE)
def test_densities_on_the_line_integrate_to_1(law: Callable[..., Any], scale: float) -> None:
    for location in (-2.0, np.array([3.0])):
        density = law(location, scale)
        centre = float(np.ravel(location)[0])

        def value(x: float, density: Any = density) -> float:
            return math.exp(density.logpdf(np.full(density.location.shape, x)))

        edges = [centre - scale * 10.0**k for k in (4, 3, 2, 1, 0, -1)]
        edges = [*edges, centre, *(2 * centre - x for x in reversed(edges))]
        total = math.fsum(quad(value, a, b, epsabs=1e-12, epsrel=1e-9)[0] for a, b in itertools.pairwise(edges))
        assert total == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_l2_laplace_integrates_to_1(d: int) -> None:
    """In polar coordinates: ∫ e^{logpdf(r)} (surface of the sphere of radius r) dr."""
    law = L2Laplace(np.full(d, 2.0), 0.7)
    surface = 2 * math.pi ** (d / 2) / math.gamma(d / 2)
    direction = np.full(d, 1 / math.sqrt(d))
    total = quad(
        lambda r: surface * r ** (d - 1) * math.exp(law.logpdf(law.location + r * direction)), 0, 60, epsabs=1e-12, limit=200
    )[0]
    assert total == pytest.approx(1.0, abs=1e-9)


def test_l2_laplace_in_the_plane_without_polar_coordinates() -> None:
    """By Cavalieri: the midpoint rule over squares, kink included."""
    law = L2Laplace(np.zeros(2), 1.0)
    step = 0.1
    axis = np.arange(-22 + step / 2, 22, step)
    radius = np.hypot(axis[:, np.newaxis], axis)
    total = float(np.exp(-radius).sum()) * step**2 * math.exp(law.logpdf(np.zeros(2)))
    assert total == pytest.approx(1.0, abs=1e-3)
    assert law.logpdf(np.array([3.0, 4.0])) == pytest.approx(law.logpdf(np.zeros(2)) - 5, rel=1e-12)


def test_l2_laplace_on_the_line_is_laplace() -> None:
    for x in (-3.0, 0.0, 0.4):
        assert L2Laplace(0.5, 2.0).logpdf(np.array(x)) == pytest.approx(Laplace(0.5, 2.0).logpdf(np.array(x)), rel=1e-13)


@pytest.mark.parametrize(("law", "reference"), [(Gaussian, stats.norm), (Laplace, stats.laplace)])
def test_coordinates_are_independent(law: Any, reference: Any) -> None:
    at, scale, value = np.array([1.0, -2.0, 0.0]), np.array([0.5, 3.0, 1e-3]), np.array([0.0, 5.0, 2e-3])
    assert law(at, scale).logpdf(value) == pytest.approx(reference.logpdf(value, at, scale).sum(), rel=1e-13)
    assert law(at, 2.0).logpdf(value) == pytest.approx(reference.logpdf(value, at, 2.0).sum(), rel=1e-13)
    assert law(1.0, 2.0).logpdf(np.array(4.0)) == pytest.approx(reference.logpdf(4.0, 1.0, 2.0), rel=1e-13)


def test_lln_coordinates_are_independent() -> None:
    at, scale, value = np.array([1.0, -2.0]), np.array([0.5, 3.0]), np.array([0.0, 5.0])
    parts = [LLN(a, s, 0.4).logpdf(np.array(x)) for a, s, x in zip(at, scale, value, strict=True)]
    assert LLN(at, scale, 0.4).logpdf(value) == pytest.approx(sum(parts), rel=1e-13)
    assert parts[1] == pytest.approx(float(lln_log_density(7 / 3, 0.4)) - math.log(3), rel=1e-13)


def exact_lln_log_density(z: float, sigma: float) -> mpmath.mpf:
    """∫ φ(y) ½e^{−σy} exp(−|z|e^{−σy}) dy by fine panels around its largest value, found by bisection; 30 digits."""
    with mpmath.workdps(30):
        size, s = mpmath.mpf(abs(z)), mpmath.mpf(sigma)

        def exponent(y: mpmath.mpf) -> mpmath.mpf:
            return -y * y / 2 - s * y - size * mpmath.exp(-s * y)

        low, high = mpmath.mpf(-10 - 2 * sigma), mpmath.mpf(10) + mpmath.log(1 + size) / s + 2 * s
        for _ in range(100):
            middle = (low + high) / 2
            rising = -middle - s + size * s * mpmath.exp(-s * middle) > 0
            low, high = (middle, high) if rising else (low, middle)
        width = 1 / mpmath.sqrt(1 + size * s**2 * mpmath.exp(-s * low))
        panels = [low + k * width for k in range(-14, 15, 2)]
        while exponent(panels[-1]) - exponent(low) > -75:
            panels.append(panels[-1] + 2 * width)
        while exponent(panels[0]) - exponent(low) > -75:
            panels.insert(0, panels[0] - 2 * width)
        total = mpmath.quad(lambda y: mpmath.exp(exponent(y) - exponent(low)), panels)
        return exponent(low) + mpmath.log(total / (2 * mpmath.sqrt(2 * mpmath.pi)))


@pytest.mark.parametrize("sigma", [0.05, 0.3, 1.0, 2.0, 8.0])
def test_lln_density_against_30_digits(sigma: float) -> None:
    for z in (0.0, 1e-3, 1.0, 30.0, 1e5):
        exact = float(exact_lln_log_density(z, sigma))
        assert float(lln_log_density(-z, sigma)) == pytest.approx(exact, rel=2e-13, abs=2e-13)


@pytest.mark.parametrize("sigma", [0.05, 0.2, 0.5, 1.0, 2.0])
def test_lln_density_integrates_to_1(sigma: float) -> None:
    """On a logarithmic scale of z, where the integrand is smooth: ∫ 2 f(e^v) e^v dv."""
    v = np.arange(-45.0, 12 + 12 * sigma, 0.02)
    assert float((2 * np.exp(lln_log_density(np.exp(v), sigma) + v)).sum() * 0.02) == pytest.approx(1.0, abs=1e-11)


def test_lln_density_at_zero_and_its_shape() -> None:
    for sigma in (0.05, 1.0, 2.0):
        assert float(lln_log_density(0.0, sigma)) == pytest.approx(sigma**2 / 2 - math.log(2), abs=1e-12)
    z = np.linspace(-50, 50, 1001)
    values = lln_log_density(z, 1.0)
    assert values.shape == z.shape
    assert np.array_equal(values, lln_log_density(-z, 1.0))
    assert (np.diff(values[500:]) < 0).all()
    grid = lln_log_density(z[:1000].reshape(10, 100), 1.0)
    assert np.array_equal(grid.ravel(), values[:1000])


def test_a_small_sigma_gives_laplace() -> None:
    for z in (0.0, 1.0, 5.0):
        assert float(lln_log_density(z, 1e-7)) == pytest.approx(-z - math.log(2), abs=1e-9)


# --- samples ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("law", "reference"), [(Gaussian, stats.norm), (Laplace, stats.laplace)])
def test_samples_follow_the_density(law: Any, reference: Any) -> None:
    """One draw of a long vector of two alternating laws: each coordinate its own, all independent."""
    scale = np.array([0.5, 3.0])
    sample = law(np.tile([1.0, -2.0], COORDINATES), np.tile(scale, COORDINATES)).sample(np.random.default_rng(1))
    pairs = sample.reshape(COORDINATES, 2)
    for j, at in enumerate((1.0, -2.0)):
        assert_follows(pairs[:, j], partial(reference.cdf, loc=at, scale=scale[j]))
    assert stats.spearmanr(pairs).pvalue > FALSE_ALARM
    assert_follows(draws(law(7.0, 0.1), seed=2), lambda x: reference.cdf(x, 7.0, 0.1))


@pytest.mark.parametrize("d", [1, 2, 3, 20])
def test_l2_laplace_samples(d: int) -> None:
    """Radius Gamma(d), each half of the space equally likely, and a direction whose squared coordinates are Beta."""
    sample = draws(L2Laplace(np.arange(float(d)), 0.7), seed=3 + d) - np.arange(float(d))
    radius = np.linalg.norm(sample, axis=1)
    assert_follows(radius, lambda r: stats.gamma.cdf(r, d, scale=0.7))
    for j in (0, d - 1):
        assert stats.binomtest(int((sample[:, j] > 0).sum()), DRAWS).pvalue > FALSE_ALARM
        if d > 1:
            assert_follows((sample[:, j] / radius) ** 2, lambda x: stats.beta.cdf(x, 0.5, (d - 1) / 2))
    if d > 1:
        assert stats.spearmanr(radius, sample[:, 0] / radius).pvalue > FALSE_ALARM


def test_l2_laplace_samples_of_a_number() -> None:
    sample = draws(L2Laplace(2.0, 0.5), seed=30)
    assert sample.shape == (DRAWS,)
    assert_follows(sample, lambda x: stats.laplace.cdf(x, 2.0, 0.5))


@pytest.mark.parametrize("sigma", [0.05, 0.5, 2.0])
def test_lln_samples_follow_the_density(sigma: float) -> None:
    """The distribution function by summing the density on a logarithmic scale."""
    law = LLN(np.tile([1.0, -1.0], COORDINATES), np.tile([2.0, 0.1], COORDINATES), sigma)
    sample = law.sample(np.random.default_rng(40)).reshape(COORDINATES, 2)
    v = np.arange(-45.0, 12 + 12 * sigma, 0.02)
    mass = np.exp(lln_log_density(np.exp(v), sigma) + v) * 0.02
    upper = 0.5 + np.cumsum(mass) - mass / 2

    def cdf(x: NDArray[Any]) -> Any:
        beyond = np.interp(np.log(np.maximum(np.abs(x), 1e-19)), v, upper)
        return np.where(x > 0, beyond, 1 - beyond)

    assert_follows((sample[:, 0] - 1) / 2, cdf)
    assert_follows((sample[:, 1] + 1) / 0.1, cdf)
    assert stats.spearmanr(np.abs(sample - [1.0, -1.0])).pvalue > FALSE_ALARM


# --- finite laws -------------------------------------------------------------------------------------------------------------


def test_finite_probabilities_and_samples() -> None:
    logits = np.array([0.0, 1.0, -math.inf, 2.5, -1.0])
    law = Finite(logits)
    probabilities = np.exp(logits) / np.exp(logits).sum()
    assert np.exp(law.log_probabilities()) == pytest.approx(probabilities, rel=1e-13)
    assert law.logpdf(np.array(2)) == -math.inf
    assert law.logpdf(np.array(3)) == pytest.approx(math.log(probabilities[3]), rel=1e-13)
    counts = np.bincount(draws(law, seed=50), minlength=5)
    assert counts[2] == 0
    assert_frequencies(counts, probabilities)


def test_finite_with_huge_spreads() -> None:
    law = Finite(np.array([0.0, -1e6, 1e6, -math.inf]))
    assert law.log_probabilities().tolist() == [-1e6, -2e6, 0.0, -math.inf]
    assert (draws(law, seed=51, count=100) == 2).all()
    assert Finite(np.array([-1e300])).log_probabilities().tolist() == [0.0]
    assert Finite(np.array([-math.inf, -5.0])).log_probabilities().tolist() == [-math.inf, 0.0]


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e6, 1e17, -1e17])
def test_a_common_offset_of_the_logits_changes_nothing(offset: float) -> None:
    law = Finite(np.array([offset, offset, offset]))
    assert np.exp(law.log_probabilities()) == pytest.approx(np.full(3, 1 / 3), rel=1e-9)
    assert_frequencies(np.bincount(draws(law, seed=52, count=3000), minlength=3), np.full(3, 1 / 3))


def exact_argmax(values: list[float]) -> list[mpmath.mpf]:
    """P(values_j + Lap(1) is the largest): every factor of the integrand is a sum of exponentials between the values."""

    def add(terms: dict[int, Any], power: int, coefficient: Any) -> None:
        terms[power] = terms.get(power, mpmath.mpf(0)) + coefficient

    def times(first: dict[int, Any], second: dict[int, Any]) -> dict[int, Any]:
        result: dict[int, Any] = {}
        for (i, a), (j, b) in itertools.product(first.items(), second.items()):
            add(result, i + j, a * b)
        return result

    def integral(terms: dict[int, Any], low: Any, high: Any) -> Any:
        """∫ Σ c_k e^{kt}."""
        total = mpmath.mpf(0)
        for power, coefficient in terms.items():
            if power == 0:
                total += coefficient * (high - low)
            else:
                top = mpmath.mpf(0) if high == mpmath.inf else mpmath.exp(power * high)
                bottom = mpmath.mpf(0) if low == -mpmath.inf else mpmath.exp(power * low)
                total += coefficient * (top - bottom) / power
        return total

    with mpmath.workdps(400):
        a = [mpmath.mpf(v) for v in values]
        corners = [-mpmath.inf, *sorted(set(a)), mpmath.inf]
        half = mpmath.mpf(1) / 2
        results = []
        for j in range(len(a)):
            total = mpmath.mpf(0)
            for low, high in itertools.pairwise(corners):
                # density of j on this stretch, then the distribution functions of the others
                product = {1: half * mpmath.exp(-a[j])} if high <= a[j] else {-1: half * mpmath.exp(a[j])}
                for i in range(len(a)):
                    if i != j:
                        below = high <= a[i]
                        factor = {1: half * mpmath.exp(-a[i])} if below else {0: mpmath.mpf(1), -1: -half * mpmath.exp(a[i])}
                        product = times(product, factor)
                total += integral(product, low, high)
            results.append(total)
        return results


def assert_log_probabilities(values: list[float], tolerance: float = 1e-11) -> None:
    found = NoisyArgmax(np.array(values), 1.0).log_probabilities()
    exact = exact_argmax(values)
    assert abs(mpmath.fsum(exact) - 1) < 1e-100
    for ours, theirs in zip(found, exact, strict=True):
        assert ours == pytest.approx(float(mpmath.log(+theirs)), rel=1e-13, abs=tolerance)


@given(st.lists(st.floats(-6, 6), min_size=1, max_size=5))
@settings(deadline=None, max_examples=60)
def test_noisy_argmax_against_the_exact_integral(values: list[float]) -> None:
    assert_log_probabilities(values)


@pytest.mark.parametrize(
    "values",
    [
        [0.0],
        [0.0, 0.0],
        [1.0, 1.0, 1.0, -2.0],
        [0.0, 30.0, 60.0],
        [0.0, 100.0],
        [0.0, 1e-9, 0.0, 100.0, 100.0],
        [0.0, 80.9, 81.1, 300.0],
        [0.0, 0.04, 0.08, 0.12, 0.16],
        [0.0, 5e-324],
        [1.0, 1.0 + 2**-52, 1.0 + 2**-51],
        [0.0, 150.0, 151.0, 400.0, 400.0, 401.0],
    ],
    ids=str,
)
def test_noisy_argmax_with_ties_and_gaps(values: list[float]) -> None:
    assert_log_probabilities(values)


@pytest.mark.parametrize("gap", [0.0, 1e-3, 1.0, 50.0, 1e3, 1e6])
def test_noisy_argmax_of_two(gap: float) -> None:
    """P(the lower wins) = ½e^{−g}(1 + g/2); scale and place do not matter."""
    lower = math.log(0.5) - gap + math.log1p(gap / 2)
    for scale, place in ((1.0, 0.0), (0.25, -3.0), (8.0, 1.0)):
        found = NoisyArgmax(scale * np.array([gap + place, place]), scale).log_probabilities()
        assert found[1] == pytest.approx(lower, rel=1e-14, abs=1e-11)
        assert found[0] == pytest.approx(math.log1p(-math.exp(lower)), rel=1e-11, abs=1e-11)
        assert found[0] <= 1e-11


@pytest.mark.parametrize("offset", [1e6, -1e9, 1e12])
def test_a_common_offset_of_the_values_changes_nothing(offset: float) -> None:
    values = np.array([0.0, 1.0, -2.0, 2.5])
    assert NoisyArgmax(values + offset, 1.0).log_probabilities() == pytest.approx(
        NoisyArgmax(values, 1.0).log_probabilities(), rel=1e-11
    )


@pytest.mark.parametrize("spread", [0.0, 0.1, 3.0, 60.0])
def test_noisy_argmax_of_many(spread: float) -> None:
    """200 values: the probabilities sum to 1, and one of them agrees with adaptive quadrature of its own integral."""
    values = np.random.default_rng(60).uniform(-spread, spread, 200)
    found = NoisyArgmax(values, 1.0).log_probabilities()
    assert math.fsum(np.exp(found)) == pytest.approx(1.0, abs=1e-11)
    for j in (int(values.argmax()), int(values.argmin()), 17):
        others = np.delete(values, j)

        def integrand(t: float, j: int = j, others: NDArray[Any] = others) -> float:
            return float(stats.laplace.pdf(t - values[j]) * np.exp(stats.laplace.logcdf(t - others).sum()))

        top = float(values.max())
        direct = quad(integrand, top - 12, top + 45, points=[top, top + 3, top + 8], limit=800, epsabs=0, epsrel=1e-9)[0]
        assert found[j] == pytest.approx(math.log(direct), abs=1e-7)


def test_noisy_argmax_of_equal_values_is_uniform() -> None:
    for d in (1, 2, 7, 200):
        found = NoisyArgmax(np.full(d, -3.0), 0.5).log_probabilities()
        assert found == pytest.approx(np.full(d, -math.log(d)), abs=1e-12)


def test_noisy_argmax_without_the_excluded() -> None:
    values = np.array([0.0, 9.0, 1.0, 1.5, 9.0])
    law = NoisyArgmax(values, 2.0, excluded=(4, 1))
    found = law.log_probabilities()
    assert found[[1, 4]].tolist() == [-math.inf, -math.inf]
    assert np.array_equal(found[[0, 2, 3]], NoisyArgmax(values[[0, 2, 3]], 2.0).log_probabilities())
    assert law.allowed().tolist() == [0, 2, 3]
    assert law.logpdf(np.array(2)) == found[2]
    counts = np.bincount(draws(law, seed=61), minlength=5)
    assert counts[1] == counts[4] == 0
    assert_frequencies(counts, np.exp(found))
    assert NoisyArgmax(values, 2.0, excluded=(0, 1, 2, 4)).log_probabilities()[3] == pytest.approx(0.0, abs=1e-13)


def test_a_large_excluded_value_does_not_matter() -> None:
    law = NoisyArgmax(np.array([1e20, 0.0, 2.0]), 1.0, excluded=(0,))
    counts = np.bincount(draws(law, seed=64, count=2000), minlength=3)
    assert_frequencies(counts[1:], np.exp(NoisyArgmax(np.array([0.0, 2.0]), 1.0).log_probabilities()))


@pytest.mark.parametrize("seed", range(4))
def test_noisy_argmax_samples(seed: int) -> None:
    rng = np.random.default_rng([62, seed])
    law = NoisyArgmax(rng.normal(scale=2.0, size=6), 1.3)
    assert_frequencies(np.bincount(draws(law, seed=63 + seed), minlength=6), np.exp(law.log_probabilities()))


def test_log_probabilities_may_be_changed_by_the_caller() -> None:
    law = NoisyArgmax(np.array([0.0, 1.0]), 1.0)
    before = law.log_probabilities()
    law.log_probabilities()[:] = 7.0
    assert np.array_equal(law.log_probabilities(), before)


# --- the others ----------------------------------------------------------------------------------------------------------------


def test_point() -> None:
    law = Point([1.0, -0.0])
    sample = law.sample(np.random.default_rng(0))
    assert np.array_equal(sample, [1.0, 0.0])
    assert law.logpdf(sample) == 0.0
    assert law.logpdf(np.array([1.0, 1e-300])) == -math.inf
    assert sample is not law.location


def test_uniform_permutation() -> None:
    law = UniformPermutation(3)
    orders = list(itertools.permutations(range(3)))
    sample = draws(law, seed=70, count=6000)
    assert_frequencies(np.array([(sample == order).all(axis=1).sum() for order in orders]), np.full(6, 1 / 6))
    assert law.logpdf(sample[0]) == pytest.approx(-math.log(6), rel=1e-13)
    assert UniformPermutation(30).logpdf(np.arange(30)) == pytest.approx(-float(gammaln(31)))


def test_uniform_subset() -> None:
    law = UniformSubset(4, 2)
    subsets = list(itertools.combinations(range(4), 2))
    sample = draws(law, seed=71, count=6000)
    assert_frequencies(np.array([(sample == subset).all(axis=1).sum() for subset in subsets]), np.full(6, 1 / 6))
    assert law.logpdf(sample[0]) == pytest.approx(-math.log(6), rel=1e-13)
    assert UniformSubset(5, 5).logpdf(np.arange(5)) == pytest.approx(0, abs=1e-13)
    with pytest.raises(InputError, match="members = 5"):
        UniformSubset(4, 5)


# --- bad input, sameness -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LOCATION_SCALE)
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_scales(law: Callable[..., Any], bad: float) -> None:
    with pytest.raises(InputError, match="scale"):
        law(np.zeros(2), bad)


@pytest.mark.parametrize("law", [Gaussian, Laplace, LOCATION_SCALE[3]])
def test_bad_scales_of_coordinates(law: Callable[..., Any]) -> None:
    for bad in ([1.0, 0.0], [1.0, math.nan], [1.0, math.inf], [1.0, 1.0, 1.0], [1.0]):
        with pytest.raises(InputError, match="scale"):
            law(np.zeros(2), bad)
    with pytest.raises(InputError, match="scale"):
        law(0.0, [1.0])


@pytest.mark.parametrize("law", [*LOCATION_SCALE, lambda at, _: Point(at)])
@pytest.mark.parametrize("bad", [math.nan, math.inf, [0.0, -math.inf], [[0.0]]])
def test_bad_locations(law: Callable[..., Any], bad: Any) -> None:
    with pytest.raises(InputError, match="location"):
        law(bad, 1.0)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_sigmas(bad: float) -> None:
    with pytest.raises(InputError, match="sigma"):
        LLN(0.0, 1.0, bad)


@pytest.mark.parametrize("bad", [[], [[0.0]], [math.nan, 0.0], [math.inf, 0.0], [-math.inf, -math.inf]])
def test_bad_logits(bad: Any) -> None:
    with pytest.raises(InputError, match="logits"):
        Finite(np.array(bad))


@pytest.mark.parametrize("bad", [[], [[0.0, 1.0]], 0.0])
def test_bad_values_of_a_noisy_argmax(bad: Any) -> None:
    with pytest.raises(InputError, match="values"):
        NoisyArgmax(np.array(bad), 1.0)


def test_a_noisy_argmax_needs_a_candidate() -> None:
    with pytest.raises(InputError, match="not excluded"):
        NoisyArgmax(np.zeros(2), 1.0, excluded=(0, 1))
    with pytest.raises(InputError, match=r"values.*finite"):
        NoisyArgmax(np.array([0.0, -math.inf]), 1.0)
    for scale in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="scale"):
            NoisyArgmax(np.zeros(2), scale)


@pytest.mark.parametrize("bad", [(-1,), (2,), (0, -1)])
def test_excluded_indices_must_exist(bad: tuple[int, ...]) -> None:
    """A negative one would be excluded when sampling and not in the probabilities."""
    with pytest.raises(InputError, match="excluded"):
        NoisyArgmax(np.zeros(2), 1.0, excluded=bad)


@pytest.mark.parametrize("law", LOCATION_SCALE)
def test_what_is_not_a_number_is_refused(law: Callable[..., Any]) -> None:
    for location, scale in (("a", 1.0), (np.zeros(2), "a"), (np.zeros(2), [[1.0], [2.0, 3.0]]), (None, 1.0)):
        with pytest.raises(InputError):
            law(location, scale)


@pytest.mark.parametrize("law", LOCATION_SCALE)
def test_laws_cannot_be_changed(law: Callable[..., Any]) -> None:
    at = np.zeros(2)
    made = law(at, 1.0)
    at[:] = 5.0
    assert not made.location.any()
    with pytest.raises(ValueError, match="read-only"):
        made.location[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        made.location = np.ones(2)
    with pytest.raises(ValueError, match="read-only"):
        made.scale[...] = 2.0


def test_finite_laws_cannot_be_changed() -> None:
    for made, name in ((Finite(np.zeros(2)), "logits"), (NoisyArgmax(np.zeros(2), 1.0), "values")):
        with pytest.raises(ValueError, match="read-only"):
            getattr(made, name)[0] = 1.0


class Parabola:
    """w² on [−1, 1]; draws by rejection."""

    dimension = 1

    def scores(self, points: FloatArray) -> FloatArray:
        return np.asarray(-(points[:, 0] ** 2))

    def net(self) -> FloatArray:
        return np.linspace(-1, 1, 2001)[:, np.newaxis]

    def draw(self, temperature: float, rng: np.random.Generator) -> FloatArray:
        while True:
            point = rng.uniform(-1, 1, size=1)
            if rng.random() <= np.exp(self.scores(point[np.newaxis])[0] / temperature):
                return point


PARABOLA = Parabola()


def test_gibbs() -> None:
    """Against the truncated normal density with respect to the uniform law; the restriction to the net is a softmax."""
    law = Gibbs(PARABOLA, 0.5)
    mass = math.sqrt(math.pi / 2) * math.erf(math.sqrt(2))  # ∫ exp(−2w²) over [−1, 1]
    for w in (0.0, 0.7):
        assert law.logpdf(np.array([w])) == pytest.approx(-2 * w * w - math.log(mass / 2), abs=2e-3)
    sample = draws(law, seed=72, count=4000)[:, 0]
    edges = [-0.5, 0.0, 0.5]
    ends = np.array([-1.0, *edges, 1.0])
    below = np.array([math.erf(math.sqrt(2) * end) for end in ends])
    assert_frequencies(np.bincount(np.digitize(sample, edges)), np.diff(below) / (below[-1] - below[0]))
    assert law.on_net.scale == 0.5
    with pytest.raises(InputError, match="scale"):
        Gibbs(PARABOLA, 0.0)


MADE: list[Callable[[], Any]] = [
    lambda: Gaussian([0.0, 1.0], 1.0),
    lambda: Gaussian([0.0, 1.0], [1.0, 2.0]),
    lambda: Gaussian([0.0, 1.5], 1.0),
    lambda: Laplace([0.0, 1.0], 1.0),
    lambda: L2Laplace([0.0, 1.0], 1.0),
    lambda: LLN([0.0, 1.0], 1.0, 0.5),
    lambda: LLN([0.0, 1.0], 1.0, 0.25),
    lambda: Finite(np.array([0.0, -math.inf])),
    lambda: Finite(np.array([0.0, -1.0])),
    lambda: NoisyArgmax(np.array([0.0, 1.0, 2.0]), 1.0),
    lambda: NoisyArgmax(np.array([0.0, 1.0, 2.0]), 1.0, (1,)),
    lambda: NoisyArgmax(np.array([0.0, 1.0, 2.0]), 2.0),
    lambda: Point([0.0, 1.0]),
    lambda: UniformPermutation(3),
    lambda: UniformPermutation(4),
    lambda: UniformSubset(4, 2),
    lambda: UniformSubset(4, 3),
    lambda: Gibbs(PARABOLA, 0.5),
    lambda: PerturbedMinimiser(_risk(1.0), 2.0),
    lambda: PerturbedMinimiser(_risk(-1.0), 2.0),
    lambda: Softmax(np.array([0.0, 1.0]), 2.0),
    lambda: Softmax(np.array([0.0, 1.0, 2.0]), 2.0),
]


def _risk(target: float) -> TiltedRisk:
    rows = temper(Absolute(), np.array([[1.0, target]]), clip=1.0, curvature=1.0)
    return TiltedRisk(rows, Ball([0.0], 1.0), np.zeros(1), 1.0, 1.0, 1.0)


def test_same_law() -> None:
    for (i, first), (j, second) in itertools.product(enumerate(MADE), repeat=2):
        assert same_law(first(), second()) == (i == j)


def test_support_shape_is_what_must_agree() -> None:
    shapes = [support_shape(make()) for make in MADE]
    assert shapes[0] == shapes[1] == shapes[2] != shapes[3]
    assert shapes[5] == shapes[6]
    assert shapes[7] == shapes[8]
    assert shapes[9] == shapes[11] != shapes[10]
    assert shapes[13] != shapes[14]
    assert shapes[17] != shapes[18]
    assert support_shape(Gaussian(0.0, 1.0)) != support_shape(Gaussian([0.0], 1.0))
    assert len({shape[0] for shape in shapes}) == len(LAWS) == 12


def test_law_fields_rebuild_the_law() -> None:
    for make in MADE:
        law = make()
        assert same_law(LAWS[type(law).__name__](**law_fields(law)), law)


def test_softmax_is_the_exponential_mechanism() -> None:
    """exp(score/scale), normalised; samples by Gumbel's trick, frequencies miss by 6 deviations with probability 2e-9 each."""
    scores, scale = np.array([-1e6, 0.0, 1.0, 1.5]), 0.5
    law = Softmax(scores, scale)
    weights = np.exp(scores / scale)
    np.testing.assert_allclose(np.exp(law.log_probabilities()), weights / weights.sum(), rtol=1e-13)
    assert law.log_probabilities()[0] == pytest.approx(-2e6, rel=1e-5)
    assert law.logpdf(np.array(2)) == law.log_probabilities()[2]
    rng, n = np.random.default_rng(0), 4000
    counts = np.bincount([int(law.sample(rng)) for _ in range(n)], minlength=4)
    chances = weights / weights.sum()
    assert (np.abs(counts - n * chances) <= 6 * np.sqrt(n * chances * (1 - chances)) + 1e-9).all()


@pytest.mark.parametrize(
    ("scores", "scale"), [([], 1.0), ([[1.0]], 1.0), ([0.0, math.nan], 1.0), ([0.0], 0.0), ([0.0], math.inf)]
)
def test_bad_softmaxes_are_refused(scores: Any, scale: float) -> None:
    with pytest.raises(InputError):
        Softmax(np.array(scores, dtype=float), scale)
