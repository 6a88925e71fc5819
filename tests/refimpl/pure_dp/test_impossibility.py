"""The pairs answer alike, are convex and smooth, and their extensions differ as stated."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from tailproof.refimpl.domains import Ball
from tailproof.refimpl.pure_dp.impossibility import (
    Answer,
    HiddenPair,
    RidgeFunction,
    RoundedPolyline,
    hidden_pair,
    resisting_pair,
    rounding_depth_bounds,
    smooth_step,
)
from tailproof.refimpl.validation import FloatArray, InputError

seeds = st.integers(0, 2**32 - 1)


def random_ball(d: int, rng: np.random.Generator) -> Ball:
    return Ball(rng.standard_normal(d), float(10 ** rng.uniform(-1, 1)))


def axis_minimum(f: RidgeFunction, radius: float) -> float:
    """min over s in [−radius, radius] of f(center + s·v) + C|s|, by a grid and a refinement."""

    def cost(s: float) -> float:
        return f.value(f.center + s * f.direction) + f.lipschitz * abs(s)

    grid = np.linspace(-radius, radius, 201)
    j = int(np.argmin([cost(s) for s in grid]))
    near = (grid[max(0, j - 1)], grid[min(200, j + 1)])
    return float(minimize_scalar(cost, bounds=near, method="bounded", options={"xatol": 1e-10 * radius}).fun)


# ------------------------------------------------------------------------------------------- queries fixed in advance


@settings(deadline=None, max_examples=40)
@given(seed=seeds, d=st.integers(2, 6), q=st.integers(0, 30), lipschitz=st.floats(0.1, 10))
def test_the_pair_looks_alike_and_its_extensions_differ(seed: int, d: int, q: int, lipschitz: float) -> None:
    rng = np.random.default_rng(seed)
    ball = random_ball(d, rng)
    queries = ball.project(ball.center + ball.radius * rng.standard_normal((q, d)))
    pair = hidden_pair(queries, lipschitz=lipschitz, ball=ball)
    for x in queries:
        np.testing.assert_array_equal(pair.first.derivatives(x, 8), pair.second.derivatives(x, 8))
        np.testing.assert_array_equal(pair.first.gradient(x), pair.second.gradient(x))
        assert float(pair.first.direction @ (x - ball.center)) < pair.first.threshold  # with all its neighbourhood
    for f in (pair.first, pair.second):
        lower, upper = f.extension_bounds()
        assert lower <= upper <= lower + 1e-12 * lipschitz * ball.radius
        assert axis_minimum(f, ball.radius) == pytest.approx((lower + upper) / 2, abs=1e-9 * lipschitz * ball.radius)
    assert pair.gap_lower == pytest.approx(lipschitz * pair.first.height / 12, rel=1e-6)
    assert np.array_equal(pair.point, ball.center)
    if q < d:
        assert pair.first.height == pytest.approx(ball.radius)


@settings(deadline=None, max_examples=30)
@given(seed=seeds, d=st.integers(2, 4))
def test_off_the_axis_nothing_is_lower(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    ball = random_ball(d, rng)
    pair = hidden_pair(ball.project(rng.standard_normal((d - 1, d))), lipschitz=1.0, ball=ball)
    for y in ball.project(ball.center + ball.radius * rng.standard_normal((50, d))):
        for f in (pair.first, pair.second):
            assert f.value(y) + math.dist(y, ball.center) >= f.extension_bounds()[0]


@settings(deadline=None, max_examples=40)
@given(seed=seeds, x=st.floats(0.05, 1.0))
def test_derivatives_and_convexity(seed: int, x: float) -> None:
    rng = np.random.default_rng(seed)
    direction = np.array([0.6, 0.8])
    f = RidgeFunction(np.zeros(2), direction, rng.uniform(0.5, 2), 0.2, 0.8, rng.uniform(0.2, 0.9))
    s = 0.2 + 0.8 * x

    def profile(t: mpmath.mpf) -> mpmath.mpf:
        u = (t - mpmath.mpf("0.2")) / mpmath.mpf("0.8")
        return -2 * f.lipschitz * t + f.weight * u * mpmath.exp(-1 / u)

    with mpmath.workdps(40):
        expected = [float(mpmath.diff(profile, mpmath.mpf(s), k)) for k in range(6)]
    np.testing.assert_allclose(f.derivatives(s * direction, 5), expected, rtol=1e-8, atol=1e-9)
    assert f.derivatives(s * direction, 2)[2] > 0
    a, b = rng.uniform(-1, 1, (2, 2))
    assert f.value(b) >= f.value(a) + f.gradient(a) @ (b - a) - 1e-12


def test_derivatives_vanish_towards_the_threshold() -> None:
    f = RidgeFunction(np.zeros(1), np.ones(1), 1.0, 0.0, 1.0, 0.5)
    for u in (1e-2, 2e-3, 1e-3, 1e-6, 5e-324):
        beyond = f.derivatives([u], 10) - f.derivatives([-u], 10)
        beyond[0] += 4 * u
        assert np.abs(beyond).max() <= math.exp(-1 / u) * u**-20.0 * 1e9 if u > 1e-3 else not beyond[1:].any()


def finite_evaluator(
    value: Callable[[FloatArray], float], slope: Callable[[FloatArray], FloatArray], queries: FloatArray
) -> float:
    """A plausible evaluator of f_C(0), C = 1: the best cutting-plane bound from what it saw."""
    seen = [(value(x), slope(x), x) for x in queries]
    return max(v - float(g @ x) - max(0.0, float(np.linalg.norm(g)) - 1.0) for v, g, x in seen)


def test_an_evaluator_is_fooled() -> None:
    rng = np.random.default_rng(3)
    ball = Ball(np.zeros(5), 1.0)
    queries = ball.project(rng.standard_normal((4, 5)))
    pair = hidden_pair(queries, lipschitz=1.0, ball=ball)
    answers = [finite_evaluator(f.value, f.gradient, queries) for f in (pair.first, pair.second)]
    assert answers[0] == answers[1]
    # The orthogonal direction leaves the whole radius: −1/3 and −1/4, so the common answer is off by 1/24 or more.
    np.testing.assert_allclose(pair.first.extension_bounds(), -1 / 3, rtol=1e-12)
    np.testing.assert_allclose(pair.second.extension_bounds(), -1 / 4, rtol=1e-12)
    assert pair.gap_lower == pytest.approx(1 / 12, rel=1e-12)


def test_an_adaptive_evaluator_sees_the_hidden_direction() -> None:
    """Why `hidden_pair` is for queries fixed in advance: two adaptive queries tell the two functions apart."""
    ball = Ball(np.zeros(5), 1.0)
    pair = hidden_pair(np.zeros((1, 5)), lipschitz=1.0, ball=ball)

    def second_answer(f: RidgeFunction) -> float:
        gradient = f.gradient(ball.center)
        return f.value(-0.9 * gradient / np.linalg.norm(gradient))

    assert abs(second_answer(pair.first) - second_answer(pair.second)) > 0.1


def test_many_queries_on_the_circle_leave_a_cap() -> None:
    angles = np.linspace(0, 2 * np.pi, 200, endpoint=False) + 0.01
    queries = 0.999999 * np.column_stack([np.cos(angles), np.sin(angles)])
    pair: HiddenPair = hidden_pair(queries, lipschitz=2.0, ball=Ball(np.zeros(2), 1.0))
    # Of 201 caps of half-angle π/201 one is free.
    assert pair.first.height >= 1 - math.cos(math.pi / 201) - 1e-14
    assert pair.gap_lower > 0


# --------------------------------------------------------------------------------------------------- adaptive queries


def bisecting(transcript: tuple[Answer, ...]) -> Fraction:
    """Look for slope −C = −1 by bisection."""
    low, high = Fraction(0), Fraction(2)
    for s, _, slope in transcript:
        low, high = (s, high) if slope < -1 else (low, s)
    return (low + high) / 2


def cutting_planes(transcript: tuple[Answer, ...]) -> Fraction:
    """Query where the known lines meet nearest to slope −C: hits every kink the oracle has."""
    if len(transcript) < 2:
        return Fraction(2 * len(transcript))
    left = max((a for a in transcript if a[2] < -1), key=lambda a: a[0])
    right = min((a for a in transcript if a[2] > -1), key=lambda a: a[0])
    return (left[1] - left[2] * left[0] - right[1] + right[2] * right[0]) / (right[2] - left[2])


def revisiting(transcript: tuple[Answer, ...]) -> Fraction:
    """Query where any two neighbouring known lines meet, which are kinks of all kinds."""
    seen = sorted(transcript)
    known = {a[0] for a in seen}
    for a, b in pairwise(seen):
        if a[2] != b[2]:
            meet = (a[1] - a[2] * a[0] - b[1] + b[2] * b[0]) / (b[2] - a[2])
            if meet not in known:
                return meet
    return cutting_planes(transcript)


def random_evaluator(seed: int) -> Callable[[tuple[Answer, ...]], Fraction | float]:
    """Deterministic given the seed; its queries depend on the answers; it likes meeting points of known lines."""

    def ask(transcript: tuple[Answer, ...]) -> Fraction | float:
        rng = np.random.default_rng([seed, len(transcript), int(sum(abs(a[1]) for a in transcript) * 1000)])
        if len(transcript) < 2:
            return Fraction(2 * len(transcript))  # 0 and 2, so that both kinds of slope are known
        if rng.random() < 0.3:
            return float(rng.uniform(-2, 2))
        strategies = [bisecting, revisiting]
        return strategies[int(rng.integers(2))](transcript)

    return ask


def check_resisted(
    evaluator: Callable[[tuple[Answer, ...]], Fraction | float], count: int
) -> tuple[RoundedPolyline, RoundedPolyline]:
    pair = resisting_pair(evaluator, queries=count, lipschitz=1.0, radius=2.0)
    assert len(pair.transcript) == count
    for f in (pair.first, pair.second):
        # Run the evaluator on the finished function: it asks the same and hears the same.
        transcript: tuple[Answer, ...] = ()
        for _ in range(count):
            transcript = (*transcript, f.answer(evaluator(transcript)))
        assert transcript == pair.transcript
        assert list(f.kinks) == sorted(f.kinks)
        assert all(0 < kink < 2 for kink in f.kinks)
        # Rounded zones do not meet one another: with increasing slopes, convexity follows.
        zones = list(zip(f.kinks, f.half_widths, strict=True))
        assert all(a + u <= b - v for (a, u), (b, v) in pairwise(zones))
    assert pair.first.extension_lower > pair.second.extension_upper
    assert pair.gap_lower > 0
    return pair.first, pair.second


@pytest.mark.parametrize("evaluator", [bisecting, cutting_planes, revisiting])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 25])
def test_strategies_are_resisted(evaluator: Callable[[tuple[Answer, ...]], Fraction], count: int) -> None:
    check_resisted(evaluator, count)


@settings(deadline=None, max_examples=60)
@given(seed=seeds, count=st.integers(0, 12))
def test_random_strategies_are_resisted(seed: int, count: int) -> None:
    check_resisted(random_evaluator(seed), count)


@pytest.mark.parametrize("evaluator", [bisecting, cutting_planes, revisiting])
def test_extension_of_the_resisting_functions_by_brute_force(evaluator: Callable[[tuple[Answer, ...]], Fraction]) -> None:
    """f_C(0) by minimising g(s) + |s| numerically, for few enough queries that floats resolve the rounding."""
    first, second = check_resisted(evaluator, 4)
    for f in (first, second):
        marks = np.array(
            [float(k + j * w / 20) for k, w in zip(f.kinks, f.half_widths, strict=True) for j in range(-20, 21)]
        )
        grid = np.union1d(np.linspace(-2, 2, 101), marks)
        found = min(f.value(s) + abs(s) for s in grid)
        width = float(max(f.extension_upper - f.extension_lower, Fraction(0)))
        assert float(f.extension_lower) - 1e-12 <= found <= float(f.extension_upper) + 1e-12
        assert width < float(first.extension_lower - second.extension_upper) / 100


def test_resisting_functions_are_convex_and_smooth() -> None:
    first, second = check_resisted(revisiting, 6)
    for f in (first, second):
        for kink, width in zip(f.kinks, f.half_widths, strict=True):
            grid = np.linspace(float(kink - 2 * width), float(kink + 2 * width), 41)
            values = np.array([f.value(s) for s in grid])
            slopes = np.diff(values) / np.diff(grid)
            assert (np.diff(slopes) >= -1e-7).all()
        assert not f.is_affine_near(f.kinks[0])
        with pytest.raises(InputError, match="rounded kink"):
            f.answer(f.kinks[0])


def test_without_resistance_one_query_suffices() -> None:
    """The point of the oracle: at the kink of the first polyline, a function that stays as it was is determined."""
    untouched = resisting_pair(lambda _: 0, queries=0, lipschitz=1.0, radius=2.0).first
    assert untouched.kinks == (Fraction(1),)
    resisted = resisting_pair(lambda _: 1, queries=1, lipschitz=1.0, radius=2.0).first
    assert Fraction(1) not in resisted.kinks
    assert len(resisted.kinks) == 3


def test_step_and_depth() -> None:
    for u in np.linspace(-1.5, 1.5, 61):

        def e(t: float) -> float:
            return math.exp(-1 / t) if t > 0 else 0.0

        assert smooth_step(u) == pytest.approx(e(1 + u) / (e(1 + u) + e(1 - u)), rel=1e-12, abs=1e-300)
        assert smooth_step(u) + smooth_step(-u) == pytest.approx(1.0, rel=1e-15)
    lower, upper = rounding_depth_bounds()
    depth = quad(smooth_step, -1, 0, epsabs=1e-13)[0]
    assert lower < depth < upper < lower + 2e-4
    assert quad(smooth_step, -1, 1, epsabs=1e-13)[0] == pytest.approx(1.0, rel=1e-12)


# ----------------------------------------------------------------------------------------------------------- bad input


def test_bad_input() -> None:
    ball = Ball(np.zeros(2), 1.0)
    for queries, message in (
        (np.zeros((1, 3)), "columns"),
        (np.full((1, 2), 0.9), "outside"),
        (np.full((1, 2), np.nan), "finite"),
        (np.zeros(2), "two-dimensional"),
    ):
        with pytest.raises(InputError, match=message):
            hidden_pair(queries, lipschitz=1.0, ball=ball)
    with pytest.raises(InputError, match="lipschitz"):
        hidden_pair(np.zeros((1, 2)), lipschitz=0.0, ball=ball)
    with pytest.raises(InputError, match="dimension 1"):
        hidden_pair(np.zeros((1, 1)), lipschitz=1.0, ball=Ball(np.zeros(1), 1.0))
    with pytest.raises(InputError, match="ball"):
        hidden_pair(np.zeros((1, 2)), lipschitz=1.0, ball="ball")  # type: ignore[arg-type]
    f = hidden_pair(np.zeros((1, 2)), lipschitz=1.0, ball=ball).first
    with pytest.raises(InputError, match="point"):
        f.value([1.0])
    with pytest.raises(InputError, match="order"):
        f.derivatives([0.0, 0.0], -1)
    for change in ({"direction": np.ones(2)}, {"lipschitz": -1.0}, {"threshold": -1.0}, {"height": 0.0}, {"depth": 1.0}):
        good = {"center": np.zeros(2), "direction": np.array([1.0, 0.0]), "lipschitz": 1.0, "threshold": 0.0, "height": 1.0}
        with pytest.raises(InputError, match=next(iter(change))):
            RidgeFunction(**({**good, "depth": 0.5} | change))  # type: ignore[arg-type]


def test_bad_evaluators() -> None:
    for answer, message in (
        (3.0, "must lie in"),
        (math.nan, "finite"),
        (math.inf, "finite"),
        ("x", "finite"),
        (None, "finite"),
    ):
        with pytest.raises(InputError, match=message):
            resisting_pair(lambda _, answer=answer: answer, queries=1, lipschitz=1.0, radius=2.0)  # type: ignore[misc]
    for change in ({"queries": -1}, {"lipschitz": 0.0}, {"radius": -1.0}):
        with pytest.raises(InputError, match=next(iter(change))):
            resisting_pair(bisecting, **({"queries": 1, "lipschitz": 1.0, "radius": 2.0} | change))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="panels"):
        rounding_depth_bounds(1)
