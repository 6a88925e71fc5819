"""Divergences against second methods: quadrature that knows the densities only, enumeration of events, and sampling.

Sampling tests here call a true formula wrong with probability at most 1e-9 each; the seeds only make a failure repeatable.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr

from tailproof.refimpl.claims import PureDP, gaussian_delta, pure_to_zcdp
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.laws import (
    LLN,
    Finite,
    Gaussian,
    L2Laplace,
    Laplace,
    Law,
    NoisyArgmax,
    PerturbedMinimiser,
    Point,
    UniformPermutation,
    lln_log_density,
)
from tailproof.refimpl.losses import Affine
from tailproof.refimpl.means.trimmed import noise_shape
from tailproof.refimpl.pure_dp.tempered import temper
from tailproof.refimpl.pure_dp.tilted import TiltedRisk
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.divergences import (
    ORDERS,
    NoExactFormula,
    distance_upper,
    gaussian_shift,
    max_loss,
    profile,
    renyi,
    zcdp,
)

Array = NDArray[Any]
FALSE_ALARM = 1e-9
FEW_ORDERS = np.array([1.001, 1.2, 2.0, 7.0, 30.0])
EPSILONS = (0.0, 0.05, 0.5, 2.0)

# pairs of laws on the line: (location, scale) of p and of q
LINE = [
    ((0.0, 1.0), (1.0, 1.0)),
    ((0.3, 0.5), (-0.2, 0.5)),
    ((0.0, 1.0), (0.0, 1.5)),
    ((0.0, 1.0), (0.7, 1.1)),
    ((2.0, 0.3), (1.0, 1.0)),
    ((0.0, 1.0), (4.0, 1.001)),
]


def normal(x: Any, at: float, scale: float) -> Any:
    """log density"""
    return -0.5 * ((x - at) / scale) ** 2 - math.log(scale * math.sqrt(2 * math.pi))


def double_exponential(x: Any, at: float, scale: float) -> Any:
    """log density"""
    return -np.abs((x - at) / scale) - math.log(2 * scale)


KINDS: list[tuple[Any, Any]] = [(Gaussian, normal), (Laplace, double_exponential)]


def both_ways(pairs: list[Any]) -> list[Any]:
    return [*pairs, *((q, p) for p, q in pairs)]


# --- references on the line ------------------------------------------------------------------------------------------------


def panels(edges: Array, nodes: int = 20) -> tuple[Array, Array]:
    """Gauss's rule on every panel."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    half = np.diff(edges)[:, np.newaxis] / 2
    return (edges[:-1, np.newaxis] + half * (x + 1)).ravel(), (half * w).ravel()


def line_edges(p: tuple[float, float], q: tuple[float, float]) -> Array:
    steps = np.concatenate([[0.0], np.geomspace(0.02, 1500, 120)])
    return np.unique(np.concatenate([at + sign * scale * steps for at, scale in (p, q) for sign in (1, -1)]))


def reference_renyi(reference: Any, p: tuple[float, float], q: tuple[float, float], order: float) -> float:
    x, w = panels(line_edges(p, q))
    terms = order * reference(x, *p) + (1 - order) * reference(x, *q)
    return float(logsumexp(terms + np.log(w))) / (order - 1)


def reference_profile(reference: Any, p: tuple[float, float], q: tuple[float, float], epsilon: float) -> float:
    """∫ (p − e^ε q)₊, cut where the integrand changes its sign."""

    def excess(x: Any) -> Any:
        return reference(x, *p) - reference(x, *q) - epsilon

    edges = line_edges(p, q)
    signs = np.sign(excess(edges))
    turns = [brentq(excess, edges[i], edges[i + 1], xtol=1e-15) for i in np.flatnonzero(signs[:-1] * signs[1:] < 0)]
    x, w = panels(np.sort(np.concatenate([edges, turns])))
    log_p, loss = reference(x, *p), excess(x)
    return float(w @ (np.exp(log_p) * np.maximum(0.0, -np.expm1(-np.maximum(loss, 0.0)))))


@pytest.mark.parametrize(("kind", "reference"), KINDS)
@pytest.mark.parametrize(("p", "q"), both_ways(LINE))
def test_profile_on_the_line(kind: Any, reference: Any, p: tuple[float, float], q: tuple[float, float]) -> None:
    for epsilon in EPSILONS:
        expected = reference_profile(reference, p, q, epsilon)
        assert profile(kind(*p), kind(*q), epsilon) == pytest.approx(expected, abs=2e-10)
        vectors = kind([p[0]], p[1]), kind([q[0]], q[1])
        assert profile(*vectors, epsilon) == pytest.approx(expected, abs=2e-10)


@pytest.mark.parametrize(("kind", "reference", "p", "q"), [(*KINDS[0], *pair) for pair in both_ways(LINE)])
def test_gaussian_renyi_on_the_line(kind: Any, reference: Any, p: tuple[float, float], q: tuple[float, float]) -> None:
    found = renyi(kind(*p), kind(*q), FEW_ORDERS)
    for order, ours in zip(FEW_ORDERS, found, strict=True):
        if order * q[1] ** 2 + (1 - order) * p[1] ** 2 <= 0:  # p's tails win: the integral diverges
            assert ours == math.inf
        elif order * (q[1] / p[1]) ** 2 + (1 - order) > 0.05:
            assert ours == pytest.approx(reference_renyi(reference, p, q, order), rel=1e-9)


@pytest.mark.parametrize("shift", [1e-3, 0.1, 1.0, 6.0, 40.0])
@pytest.mark.parametrize("scale", [0.2, 3.0])
def test_laplace_renyi_on_the_line(shift: float, scale: float) -> None:
    for sign in (1, -1):
        found = renyi(Laplace(0.5, scale), Laplace(0.5 + sign * shift * scale, scale), FEW_ORDERS)
        for order, ours in zip(FEW_ORDERS, found, strict=True):
            expected = reference_renyi(double_exponential, (0.0, 1.0), (shift, 1.0), order)
            assert ours == pytest.approx(expected, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(("p", "q"), both_ways(LINE))
def test_largest_loss_of_laplace_on_the_line(p: tuple[float, float], q: tuple[float, float]) -> None:
    x = line_edges(p, q)
    highest = float(np.max(double_exponential(x, *p) - double_exponential(x, *q)))
    for kind in (Laplace, L2Laplace):
        found = max_loss(kind(*p), kind(*q))
        if p[1] > q[1]:
            assert found == math.inf
            assert highest > 1
        else:
            assert found == pytest.approx(highest, rel=1e-12)


# --- scales far apart, nearly equal, equal in another form -----------------------------------------------------------------


@pytest.mark.parametrize("narrow", [0.3, 1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_profile_of_a_narrow_laplace(narrow: float, epsilon: float) -> None:
    """At one place: p exceeds e^ε q inside |x| < x*."""
    edge = (math.log(1 / narrow) - epsilon) / (1 / narrow - 1)
    inside = max(0.0, -math.expm1(-edge / narrow) + math.exp(epsilon) * math.expm1(-edge)) if edge > 0 else 0.0
    assert profile(Laplace(2.0, narrow), Laplace(2.0, 1.0), epsilon) == pytest.approx(inside, abs=1e-9)
    # the other direction: p is the wide one and wins far out
    start = (math.log(1 / narrow) + epsilon) / (1 / narrow - 1)
    outside = math.exp(-start) - math.exp(epsilon - start / narrow)
    assert profile(Laplace(2.0, 1.0), Laplace(2.0, narrow), epsilon) == pytest.approx(outside, abs=1e-9)


@pytest.mark.parametrize("excess", [1e-3, 1e-5, 1e-6, 1e-7])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_profile_of_gaussians_of_nearly_equal_scales(excess: float, d: int) -> None:
    """Changing q's scale by a factor 1 ± η moves q by at most dη in total variation, so δ by at most e^ε dη."""
    here, there = np.zeros(d), np.eye(d)[0]
    for epsilon in (0.1, 1.0, 3.0):
        equal = gaussian_delta(1.0, epsilon)
        allowed = 2 * math.exp(epsilon) * d * excess
        for scale in (1 + excess, 1 - excess):
            assert profile(Gaussian(here, 1.0), Gaussian(there, scale), epsilon) == pytest.approx(equal, abs=allowed)
            assert profile(Gaussian(here, scale), Gaussian(there, 1.0), epsilon) == pytest.approx(equal, abs=allowed)


@given(st.floats(0.1, 10), st.floats(-16, -3), st.floats(0, 4), st.sampled_from([0.0, 0.1, 1.0]))
@settings(deadline=None, max_examples=200)
def test_profile_of_laplaces_of_nearly_equal_scales(scale: float, exponent: float, shift: float, epsilon: float) -> None:
    """As above, down to neighbouring floats: the loss beyond the locations is then flat but for rounding."""
    excess = 10.0**exponent
    other = max(scale * (1 + excess), math.nextafter(scale, math.inf))
    equal = max(0.0, -math.expm1((epsilon - shift) / 2))
    allowed = 2 * math.exp(epsilon) * excess + 1e-12
    for s, r in ((scale, other), (other, scale)):
        assert profile(Laplace(0.0, s), Laplace(shift * scale, r), epsilon) == pytest.approx(equal, abs=allowed)


@pytest.mark.parametrize("epsilon", [0.5, 5.0, 20.0, 30.0])
def test_profile_of_a_wide_gaussian_at_large_epsilon(epsilon: float) -> None:
    """In the plane, at one place, scale 2 against 1: the radius is Rayleigh, both masses are exponentials."""
    square = 2 * (epsilon + 2 * math.log(2)) / 0.75
    expected = math.exp(-square / 8) - math.exp(epsilon - square / 2)
    assert profile(Gaussian(np.zeros(2), 2.0), Gaussian(np.zeros(2), 1.0), epsilon) == pytest.approx(expected, rel=1e-6)


def test_equal_scales_in_different_forms_are_equal() -> None:
    """One number for all coordinates, or the same number for each."""
    one, each = Gaussian([0.0, 0.0], 2.0), Gaussian([1.0, -2.0], [2.0, 2.0])
    assert zcdp(one, each) == zcdp(each, one) == pytest.approx(5 / 8, rel=1e-14)
    assert profile(one, each, 0.5) == pytest.approx(gaussian_delta(math.sqrt(5) / 2, 0.5), rel=1e-12)
    assert max_loss(Laplace([0.0, 0.0], 2.0), Laplace([1.0, -2.0], [2.0, 2.0])) == pytest.approx(1.5, rel=1e-14)
    assert renyi(Laplace([0.0], 2.0), Laplace([1.0], [2.0]))[0] == renyi(Laplace([0.0], 2.0), Laplace([1.0], 2.0))[0]


def test_a_narrower_gaussian_has_a_largest_loss() -> None:
    """One direction only: ln(r/s) + m²/(2(r² − s²)) when p is the narrower one."""
    p, q = Gaussian(0.0, 1.0), Gaussian(0.5, 2.0)
    x = np.linspace(-3, 3, 600_001)
    highest = float(np.max(normal(x, 0, 1) - normal(x, 0.5, 2)))
    assert max_loss(p, q) == pytest.approx(highest, rel=1e-9)
    assert max_loss(q, p) == math.inf
    assert zcdp(p, q) == pytest.approx(float((renyi(p, q) / ORDERS).max()), rel=1e-12)
    assert zcdp(q, p) == math.inf
    assert max_loss(Gaussian(0.0, 1.0), Gaussian(0.5, 1.0)) == math.inf


def test_laplace_profile_at_negative_epsilon() -> None:
    """Below minus the largest loss every point counts: δ = 1 − e^ε."""
    assert profile(Laplace(0.0, 1.0), Laplace(1.0, 1.0), -3.0) == pytest.approx(1 - math.exp(-3), rel=1e-12)
    assert profile(Laplace(0.0, 1.0), Laplace(1.0, 1.0), -0.5) == pytest.approx(1 - math.exp(-0.75), rel=1e-12)


# --- several dimensions ------------------------------------------------------------------------------------------------------


def test_divergences_of_independent_coordinates_add_up() -> None:
    at, move, scale = np.array([0.0, 1.0, -2.0]), np.array([0.5, 0.0, -3.0]), np.array([1.0, 0.1, 4.0])
    for kind, reference in KINDS:
        found = renyi(kind(at, scale), kind(at + move, scale), FEW_ORDERS)
        for order, ours in zip(FEW_ORDERS, found, strict=True):
            parts = [reference_renyi(reference, (0.0, s), (m, s), order) for m, s in zip(move, scale, strict=True) if m]
            assert ours == pytest.approx(sum(parts), rel=1e-9)
    wider = scale * np.array([1.2, 1.0, 1.5])
    found = renyi(Gaussian(at, scale), Gaussian(at + move, wider), FEW_ORDERS)
    each = [renyi(Gaussian(0.0, s), Gaussian(m, r), FEW_ORDERS) for m, s, r in zip(move, scale, wider, strict=True)]
    assert found == pytest.approx(sum(each), rel=1e-12)
    assert max_loss(Laplace(at, scale), Laplace(at + move, scale)) == pytest.approx(0.5 + 0.75, rel=1e-13)
    assert gaussian_shift(Gaussian(at, scale), Gaussian(at + move, scale)) == pytest.approx(math.hypot(0.5, 0.75), rel=1e-13)
    assert gaussian_shift(Gaussian(0.0, 2.0), Gaussian(3.0, 2.0)) == 1.5


@given(st.integers(1, 4), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_largest_loss_is_reached_and_not_exceeded(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    at, other = rng.normal(size=(2, d))
    scales = rng.uniform(0.5, 2.0, d)
    pairs: list[tuple[Any, Any]] = [
        (Laplace(at, scales), Laplace(other, scales)),
        (Laplace(at, scales), Laplace(other, scales * rng.uniform(1.0, 2.0, d))),
        (L2Laplace(at, 0.7), L2Laplace(other, 0.7)),
        (L2Laplace(at, 0.7), L2Laplace(other, 1.3)),
    ]
    points = at + rng.standard_cauchy((200, d))
    for p, q in pairs:
        bound = max_loss(p, q)
        assert max(p.logpdf(x) - q.logpdf(x) for x in points) <= bound + 1e-9
        assert p.logpdf(at) - q.logpdf(at) == pytest.approx(bound, rel=1e-12)
    assert max_loss(pairs[1][1], pairs[1][0]) == max_loss(pairs[3][1], pairs[3][0]) == math.inf


@pytest.mark.parametrize(("s", "r"), [(1.0, 1.5), (1.5, 1.0), (1.0, 1.05), (0.4, 0.3)])
def test_profile_of_gaussians_in_the_plane(s: float, r: float) -> None:
    """Strips across the line of centres: on each, the part of it where p exceeds e^ε q is known."""
    move = np.array([0.6, -0.8]) * s
    x, w = panels(np.linspace(-9 * max(s, r), 9 * max(s, r) + s, 4001), nodes=12)
    for epsilon in (0.1, 0.7, 2.0):
        line = normal(x, 0, s) - normal(x, s, r)
        # across: ln(r/s) − y²/2s² + y²/2r² > ε − line
        square = 2 * (epsilon - line - math.log(r / s)) / (1 / r**2 - 1 / s**2)
        edge = np.sqrt(np.maximum(square, 0.0))
        mass = [2 * ndtr(-edge / v) if r < s else 1 - 2 * ndtr(-edge / v) for v in (s, r)]
        strips = np.exp(normal(x, 0, s)) * mass[0] - math.exp(epsilon) * np.exp(normal(x, s, r)) * mass[1]
        found = profile(Gaussian(np.ones(2), s), Gaussian(np.ones(2) + move, r), epsilon)
        assert found == pytest.approx(float(w @ strips), abs=1e-7)


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize(("s", "r"), [(1.0, 1.3), (1.3, 1.0)])
def test_profile_of_gaussians_by_sampling(d: int, s: float, r: float) -> None:
    """(1 − e^{ε−L})₊ under p has mean δ; a coin of that bias is binomial, and Clopper–Pearson's interval is exact."""
    rng = np.random.default_rng([d, round(10 * s)])
    runs, epsilon = 200_000, 0.5
    move = np.full(d, 0.8 / math.sqrt(d))
    z = rng.standard_normal((runs, d))
    loss = d * math.log(r / s) - (z**2).sum(axis=1) / 2 + ((s * z - move) ** 2).sum(axis=1) / (2 * r**2)
    heads = int((rng.random(runs) < -np.expm1(np.minimum(0.0, epsilon - loss))).sum())
    interval = stats.binomtest(heads, runs).proportion_ci(1 - FALSE_ALARM, method="exact")
    found = profile(Gaussian(np.zeros(d), s), Gaussian(move, r), epsilon)
    assert interval.low <= found <= interval.high
    assert interval.high - interval.low < 0.02


# --- finite laws ---------------------------------------------------------------------------------------------------------------

logit_vectors = st.lists(st.floats(-5, 5), min_size=2, max_size=6)


@st.composite
def finite_pairs(draw: Any) -> tuple[Any, Any]:
    first = draw(logit_vectors)
    second = draw(st.lists(st.floats(-5, 5), min_size=len(first), max_size=len(first)))
    kinds = draw(st.tuples(st.booleans(), st.booleans()))
    laws = [
        NoisyArgmax(np.array(v), 1.5) if noisy else Finite(np.array(v))
        for v, noisy in zip((first, second), kinds, strict=True)
    ]
    return laws[0], laws[1]


@given(finite_pairs(), st.floats(0, 4))
@settings(deadline=None, max_examples=60)
def test_finite_laws_by_enumeration(pair: tuple[Any, Any], epsilon: float) -> None:
    """The profile over every event; the rest from the sums that define it."""
    p, q = (np.exp(law.log_probabilities()) for law in pair)
    events = itertools.chain.from_iterable(itertools.combinations(range(len(p)), k) for k in range(len(p) + 1))
    best = max(math.fsum(p[j] - math.exp(epsilon) * q[j] for j in event) for event in events)
    assert profile(*pair, epsilon) == pytest.approx(best, abs=1e-11)
    assert max_loss(*pair) == pytest.approx(float(np.max(np.log(p / q))), rel=1e-9, abs=1e-11)
    orders = np.array([1.5, 2.0, 9.0])
    for order, ours in zip(orders, renyi(*pair, orders), strict=True):
        assert ours == pytest.approx(math.log(math.fsum(p**order * q ** (1 - order))) / (order - 1), rel=1e-9, abs=1e-11)
    assert zcdp(*pair) == pytest.approx(max(renyi(*pair) / ORDERS), rel=1e-12)


def test_outcomes_that_only_one_law_gives() -> None:
    p, q = Finite(np.array([0.0, 0.0, -math.inf])), Finite(np.array([0.0, -math.inf, 0.0]))
    assert max_loss(p, q) == math.inf
    assert (renyi(p, q) == math.inf).all()
    assert zcdp(p, q) == math.inf
    assert profile(p, q, 1.0) == pytest.approx(0.5)
    fewer = Finite(np.array([0.0, -math.inf, -math.inf]))
    assert max_loss(fewer, q) == pytest.approx(math.log(2))
    assert renyi(fewer, q) == pytest.approx(np.full(len(ORDERS), math.log(2)), rel=1e-9)
    assert profile(fewer, q, 0.1) == pytest.approx(1 - math.exp(0.1) / 2)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
def test_randomised_response(epsilon: float) -> None:
    p, q = Finite(np.array([epsilon, 0.0])), Finite(np.array([0.0, epsilon]))
    assert max_loss(p, q) == pytest.approx(epsilon, rel=1e-12)
    best = pure_to_zcdp(PureDP(epsilon), tight=True).rho
    assert 0.99 * best <= zcdp(p, q) <= best * (1 + 1e-9)
    assert profile(p, q, epsilon) == pytest.approx(0.0, abs=1e-15)
    assert profile(p, q, 0.0) == pytest.approx(math.tanh(epsilon / 2), rel=1e-12)


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=6), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_a_noisy_argmax_loses_at_most_twice_the_move(values: list[float], seed: int) -> None:
    """2Δ/scale when no value moves by more than Δ; close to it when the winner rises and the rest fall."""
    move = np.random.default_rng(seed).uniform(-0.4, 0.4, len(values))
    pair = NoisyArgmax(np.array(values), 0.8), NoisyArgmax(np.array(values) + move, 0.8)
    assert max(max_loss(*pair), max_loss(*reversed(pair))) <= 2 * np.abs(move).max() / 0.8 + 1e-9


def test_the_worst_noisy_argmax_reaches_twice_the_move() -> None:
    far = np.array([-40.0, 0.0])
    move = np.array([0.5, -0.5])
    assert max_loss(NoisyArgmax(far + move, 1.0), NoisyArgmax(far, 1.0)) == pytest.approx(1.0, abs=0.05)


# --- Laplace-log-normal ----------------------------------------------------------------------------------------------------------

MANY_ORDERS = np.array([1.01, 1.1, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0])


def reference_lln_renyi(move: float, ratio: float, sigma: float, orders: Array) -> Array:
    """N(0)-like noise against the same noise moved and scaled: Gauss's rule on panels of the logarithm of the distance from
    the nearer location, as narrow as σ and as far out as the integrand of the highest order reaches."""
    width = min(1.0, sigma)
    reach = float(orders.max()) * abs(math.log(ratio))
    top = reach + math.log1p(reach / sigma**2) + math.log1p(abs(move)) + 10 * sigma + 5
    logs, log_weights = panels(np.arange(-35.0, top + width, width), nodes=10)
    u, du = np.exp(logs), log_weights * np.exp(logs)
    distance = [(u, abs(move) + u, du), (abs(move) + u, u, du)]
    if move:
        half = abs(move) / 2
        edges = math.log(half) + np.append(np.arange(-35.0, 0.0, width), 0.0)
        logs, log_weights = panels(edges, nodes=10)
        u, du = np.exp(logs), log_weights * np.exp(logs)
        distance += [(u, abs(move) - u, du), (abs(move) - u, u, du)]
    to_p, to_q, weights = (np.concatenate(column) for column in zip(*distance, strict=True))
    log_p = lln_log_density(to_p, sigma)
    log_q = lln_log_density(to_q / ratio, sigma) - math.log(ratio)
    return np.array([logsumexp(a * log_p + (1 - a) * log_q + np.log(weights)) / (a - 1) for a in orders])


@pytest.mark.parametrize(("sigma", "move", "ratio"), [(0.5, 0.3, 1.0), (0.5, -1.5, 0.8), (1.0, 0.5, 1.5)])
@pytest.mark.parametrize("order", [1.5, 4.0])
def test_the_reference_itself_against_adaptive_quadrature(sigma: float, move: float, ratio: float, order: float) -> None:
    def integrand(x: float) -> float:
        log_q = float(lln_log_density((x - move) / ratio, sigma)) - math.log(ratio)
        return math.exp(order * float(lln_log_density(x, sigma)) + (1 - order) * log_q)

    low, high = min(0.0, move), max(0.0, move)
    edges = [low - 3000, low - 100, low - 8, low - 1, low, high, high + 1, high + 8, high + 100, high + 3000]
    total = math.fsum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-9)[0] for a, b in itertools.pairwise(edges))
    expected = reference_lln_renyi(move, ratio, sigma, np.array([order]))[0]
    assert math.log(total) / (order - 1) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    ("sigma", "move", "ratio"),
    [
        (0.3, 0.1, 1.0),
        (0.3, -5.0, 1.0),
        (1.0, 1.0, 1.0),
        (0.15, 0.4, 1.05),
        (0.5, 0.3, 0.9),
        (0.3, 20.0, 1.0),
        (1.0, 20.0, 1.0),
        (1.0, -100.0, 1.0),
        (2.0, 0.5, 1.0),
        (0.7, 0.3, math.exp(-1)),
        (0.7, 0.3, math.exp(1)),
        (1.06, 0.1, math.exp(-1.8)),
        (0.03, 0.3, math.exp(-0.7)),
    ],
)
def test_lln_renyi_against_the_reference(sigma: float, move: float, ratio: float) -> None:
    scale = 0.25
    found = renyi(LLN(3.0, scale, sigma), LLN(3.0 + scale * move, scale * ratio, sigma), MANY_ORDERS)
    assert found == pytest.approx(reference_lln_renyi(move, ratio, sigma, MANY_ORDERS), rel=1e-8)


def test_lln_coordinates_add_up() -> None:
    p = LLN([0.0, 1.0], [1.0, 0.5], 0.4)
    q = LLN([0.2, 0.9], [1.1, 0.5], 0.4)
    parts = [renyi(LLN(0.0, 1.0, 0.4), LLN(0.2, 1.1, 0.4)), renyi(LLN(1.0, 0.5, 0.4), LLN(0.9, 0.5, 0.4))]
    assert renyi(p, q) == pytest.approx(parts[0] + parts[1], rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.25, 0.5, 0.9])
def test_the_lln_release_keeps_its_claim(epsilon: float, share: float) -> None:
    """½ε²-zCDP for t = share·ε: the query moves by the one or the other smooth sensitivity, which changes by e^{±t}."""
    t = share * epsilon
    sigma, shrink = noise_shape(epsilon, t)
    assert t / sigma + math.exp(1.5 * sigma**2) * shrink == pytest.approx(epsilon, rel=1e-12)
    for ratio in (math.exp(t), math.exp(-t), 1.0):
        for move in {shrink, shrink * ratio, 0.0}:
            if move or ratio != 1:
                exact = reference_lln_renyi(move, ratio, sigma, MANY_ORDERS)
                assert (exact <= MANY_ORDERS * epsilon**2 / 2 * (1 + 1e-9)).all()
                assert (exact > 0).all()
                assert zcdp(LLN(0.0, 1.0, sigma), LLN(move, ratio, sigma)) <= epsilon**2 / 2 * (1 + 1e-9)


def test_the_claim_of_the_lln_release_can_be_broken() -> None:
    """So the test above says something: noise too small by a factor breaks the claim, and `zcdp` sees it."""
    epsilon, t = 0.3, 0.006
    sigma, shrink = noise_shape(epsilon, t)
    moved = LLN(2 * shrink, math.exp(t), sigma)
    assert zcdp(LLN(0.0, 1.0, sigma), moved) > epsilon**2 / 2
    assert zcdp(moved, LLN(0.0, 1.0, sigma)) > epsilon**2 / 2


# --- zCDP, sameness and what has no formula -----------------------------------------------------------------------------------


def test_orders_lie_above_1() -> None:
    assert (ORDERS > 1).all()
    assert (np.diff(ORDERS) > 0).all()
    assert ORDERS[0] <= 1.001
    assert ORDERS[-1] >= 60


@pytest.mark.parametrize("shift", [0.01, 1.0, 10.0])
def test_zcdp(shift: float) -> None:
    assert zcdp(Gaussian([0.0, 0.0], 2.0), Gaussian([0.0, 2 * shift], 2.0)) == pytest.approx(shift**2 / 2, rel=1e-13)
    near_one = reference_renyi(double_exponential, (0.0, 1.0), (shift, 1.0), 1.001) / 1.001
    for kind in (Laplace, L2Laplace):
        found = zcdp(kind(0.0, 2.0), kind(2 * shift, 2.0))
        assert near_one * (1 - 1e-7) <= found <= pure_to_zcdp(PureDP(shift), tight=True).rho
        assert zcdp(kind([0.0], 2.0), kind([-2 * shift], 2.0)) == pytest.approx(found, rel=1e-12)
    lln = LLN(0.0, 1.0, 0.5), LLN(0.4, 1.1, 0.5)
    assert zcdp(*lln) == pytest.approx(float((renyi(*lln) / ORDERS).max()), rel=1e-12)


SAMPLES: list[Callable[[], Law]] = [
    lambda: Gaussian([0.0, 1.0], 1.0),
    lambda: Laplace([0.0, 1.0], [1.0, 2.0]),
    lambda: L2Laplace([0.0, 1.0], 1.0),
    lambda: LLN([0.0, 1.0], 1.0, 0.5),
    lambda: Finite(np.array([0.0, -math.inf])),
    lambda: NoisyArgmax(np.array([0.0, 1.0]), 1.0, (1,)),
    lambda: Point([0.0, 1.0]),
    lambda: UniformPermutation(4),
]


@pytest.mark.parametrize("make", SAMPLES)
def test_the_same_law_loses_nothing(make: Callable[[], Law]) -> None:
    assert max_loss(make(), make()) == 0.0
    assert profile(make(), make(), 0.0) == 0.0
    assert zcdp(make(), make()) == 0.0
    assert not renyi(make(), make()).any()


GAUSSIANS = Gaussian([0.0, 0.0], [1.0, 2.0]), Gaussian([0.0, 0.0], [2.0, 2.0])
LAPLACES = Laplace([0.0, 0.0], 1.0), Laplace([1.0, 0.0], 1.0)
NO_FORMULA: list[tuple[Callable[..., Any], Law, Law]] = [
    (max_loss, LLN(0.0, 1.0, 0.5), LLN(1.0, 1.0, 0.5)),
    (max_loss, Gaussian(0.0, 1.0), Laplace(0.0, 1.0)),
    (max_loss, Finite(np.zeros(2)), Gaussian(0.0, 1.0)),
    (renyi, LLN(0.0, 1.0, 0.5), LLN(0.0, 1.0, 0.6)),
    (renyi, Laplace(0.0, 1.0), Laplace(0.0, 2.0)),
    (renyi, L2Laplace([0.0, 0.0], 1.0), L2Laplace([1.0, 0.0], 1.0)),
    (renyi, Gaussian(0.0, 1.0), Laplace(0.0, 1.0)),
    (zcdp, L2Laplace([0.0, 0.0], 1.0), L2Laplace([1.0, 0.0], 1.0)),
    (zcdp, Laplace(0.0, 1.0), Laplace(0.0, 2.0)),
    (lambda p, q: profile(p, q, 0.5), *GAUSSIANS),
    (lambda p, q: profile(p, q, 0.5), *LAPLACES),
    (lambda p, q: profile(p, q, 0.5), L2Laplace([0.0, 0.0], 1.0), L2Laplace([1.0, 0.0], 1.0)),
    (lambda p, q: profile(p, q, 0.5), LLN(0.0, 1.0, 0.5), LLN(1.0, 1.0, 0.5)),
    (lambda p, q: profile(p, q, 0.5), Gaussian(0.0, 1.0), Laplace(0.0, 1.0)),
]


@pytest.mark.parametrize(("divergence", "p", "q"), NO_FORMULA)
def test_no_formula_is_said(divergence: Callable[..., Any], p: Law, q: Law) -> None:
    with pytest.raises(NoExactFormula):
        divergence(p, q)
    with pytest.raises(NoExactFormula):
        divergence(q, p)


def test_the_profile_starts_at_the_total_variation_and_falls() -> None:
    pairs: list[tuple[Law, Law]] = [
        (Gaussian(0.0, 1.0), Gaussian(1.0, 1.0)),
        (Gaussian(0.0, 1.0), Gaussian(1.0, 1.2)),
        (Laplace(0.0, 1.0), Laplace(1.0, 1.0)),
        (Laplace(0.0, 1.0), Laplace(1.0, 1.2)),
        (Finite(np.array([0.0, 1.0, 2.0])), Finite(np.array([1.0, 1.0, 0.0]))),
    ]
    for p, q in pairs:
        assert profile(p, q, 0.0) == pytest.approx(profile(q, p, 0.0), abs=1e-10)
        values = [profile(p, q, epsilon) for epsilon in np.linspace(0, 3, 13)]
        assert all(b <= a + 1e-12 for a, b in itertools.pairwise(values))
        assert values[-1] < values[0]


# ------------------------------------------------------------------------------------------------- perturbed minimisers


def perturbed(x: float, scale: float, weight: float = 0.5) -> PerturbedMinimiser:
    """Two affine losses on [−1, 1]: the tilt that belongs to a point moves by as much as their sum does."""
    rows = temper(Affine(), np.array([[x], [0.1]]), clip=1.0, curvature=1.0)
    return PerturbedMinimiser(TiltedRisk(rows, Ball([0.0], 1.0), np.zeros(1), 1.0, 1.0, weight), scale)


def test_the_largest_loss_of_perturbed_minimisers() -> None:
    assert max_loss(perturbed(0.5, 2.0), perturbed(0.5, 2.0)) == 0
    assert max_loss(perturbed(0.5, 2.0), perturbed(-0.3, 2.0)) == pytest.approx(0.8 / 2, rel=1e-9)
    assert max_loss(perturbed(0.5, 2.1), perturbed(-0.3, 2.0)) == math.inf
    wider = max_loss(perturbed(0.5, 2.0), perturbed(-0.3, 2.1))  # largest where p's tilt is 0: ln(2.1/2) + 0.8/2.1
    assert wider == pytest.approx(math.log(2.1 / 2) + 0.8 / 2.1, rel=1e-2)


def test_a_minimiser_that_is_not_one_is_seen() -> None:
    class Coarse(TiltedRisk):
        def minimiser(self, tilt: FloatArray) -> FloatArray:
            return np.round(super().minimiser(tilt), 6)

    honest = perturbed(0.5, 2.0).problem
    assert isinstance(honest, TiltedRisk)
    coarse = Coarse(*(getattr(honest, f.name) for f in fields(honest)))
    for tilt in (np.array([0.123456789]), np.array([-0.0456789123])):
        assert distance_upper(honest, tilt) <= honest.accuracy(1.0)
        assert 1e-9 < distance_upper(coarse, tilt) < 1e-6
