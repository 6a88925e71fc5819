"""The explicit statements: each formula against a second writing of it, and the relations the papers' proofs use."""

from __future__ import annotations

import inspect
import math

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from tailproof.bounds import explicit
from tailproof.bounds.explicit import EXPLICIT
from tailproof.refimpl.validation import InputError

mp = mpmath.mp.clone()
mp.dps = 30

orders = st.floats(0.01, 1.0)
units = st.floats(1e-6, 1.0)
chances = st.floats(1e-6, 0.999)
sizes = st.integers(1, 10**6)
positives = st.floats(1e-3, 1e3)
SETTINGS = settings(deadline=None, max_examples=60)


def close(value: float, expected: mpmath.mpf, tolerance: float = 1e-12) -> bool:
    return abs(mp.mpf(value) - expected) <= tolerance * abs(expected)


# The table


def test_ids_are_unique_and_carry_their_paper() -> None:
    ids = [statement.id for statement in EXPLICIT]
    assert len(set(ids)) == len(ids)
    assert all(statement.id.startswith(statement.paper + ".") for statement in EXPLICIT)


@pytest.mark.parametrize("statement", EXPLICIT, ids=lambda statement: statement.id)
def test_docstring_cites_the_paper_and_the_formula_is_keyword_only(statement: explicit.ExplicitStatement) -> None:
    assert (statement.function.__doc__ or "").startswith(statement.paper)
    kinds = {parameter.kind for parameter in inspect.signature(statement.function).parameters.values()}
    keyword_only = kinds == {inspect.Parameter.KEYWORD_ONLY}
    assert keyword_only or statement.function is explicit.catoni_correction


# Arguments

GOOD = {
    explicit.p0_gaussian_scale: {"sensitivity": 1.0, "epsilon": 1.0, "delta": 1.0},
    explicit.minimiser_distance_upper: {"n": 4, "gradient_second_moment": 1.0, "strong_convexity": 1.0},
    explicit.subexponential_mean_tail_upper: {"n": 4, "scale": 1.0, "deviation": 1.0},
    explicit.subexponential_max_tail_upper: {"n": 4, "scale": 1.0, "deviation": 1.0},
    explicit.trimmed_mean_error_upper: {"n": 5, "trim": 2, "mean_deviation": 1.0, "max_deviation": 1.0},
    explicit.soft_truncation_sensitivity_upper: {"n": 4, "scale": 1.0},
    explicit.soft_truncation_record: {"value": -1.0, "scale": 1.0, "beta": 1.0},
    explicit.excess_risk_upper: {
        "diameter": 1.0, "step": 1.0, "steps": 1, "bias": 0.0, "smoothness": 1.0, "second_moment": 0.0,
    },
    explicit.run_zcdp: {"epsilon": 1.0, "delta": 0.1},
    explicit.group_zcdp: {"epsilon": 1.0, "delta": 0.1, "groups": 3},
    explicit.clipped_sampling_error_upper: {"n": 4, "d": 2, "moment": 1.0, "clip": 1.0, "beta": 0.1},
    explicit.clipping_bias_upper: {"d": 2, "p": 2.0, "moment": 1.0, "clip": 1.0},
    explicit.clipped_noise_upper: {"n": 4, "d": 2, "clip": 1.0, "rho": 1.0, "beta": 0.1},
    explicit.clipped_mean_error_upper: {
        "n": 4, "d": 2, "p": 2.0, "moment": 1.0, "clip": 1.0, "rho": 1.0, "beta": 0.1,
    },
    explicit.bounded_mgf_upper: {"rate": 1.0, "variance": 1.0, "bound": 1.0},
    explicit.norm_moment_upper: {"d": 2, "p": 2.0, "moment": 1.0},
    explicit.symmetrised_upper: {"average": 1.0},
    explicit.contracted_upper: {"average": 1.0},
    explicit.p3_gaussian_scale: {"sensitivity": 1.0, "epsilon": 1.0, "delta": 1.0},
    explicit.laplace_tail: {"multiple": 1.0},
    explicit.gaussian_tail_upper: {"deviation": 1.0, "scale": 1.0},
    explicit.bernstein_tail_upper: {"n": 4, "variance": 1.0, "bound": 1.0, "deviation": 1.0},
    explicit.moment_tail_upper: {"v": 1.0, "moment": 1.0, "deviation": 1.0},
    explicit.truncation_bias_upper: {"v": 1.0, "moment": 1.0, "clip": 1.0},
    explicit.sum_moment_upper: {"moments": [1.0, 2.0]},
    explicit.mean_moment_upper: {"n": 4, "v": 1.0, "moment": 1.0},
    explicit.central_moment_upper: {"raw_moment": 1.0},
    explicit.raw_moment_upper: {"v": 1.0, "central_moment": 1.0, "mean_norm": 1.0},
    explicit.peeling_scale: {"sensitivity": 1.0, "sparsity": 1, "epsilon": 0.5, "delta": 0.1},
    explicit.laplace_max_upper: {"d": 2, "scale": 1.0, "xi": 0.1},
    explicit.truncated_mean_error_upper: {"n": 4, "v": 1.0, "moment": 1.0, "epsilon": 1.0, "delta": 1.0, "xi": 0.1},
    explicit.truncated_mean_error_upper_at: {
        "n": 4, "v": 1.0, "moment": 1.0, "clip": 1.0, "epsilon": 1.0, "delta": 1.0, "xi": 0.1,
    },
    explicit.truncated_sampling_error_upper: {"n": 4, "v": 1.0, "moment": 1.0, "clip": 1.0, "xi": 0.1},
    explicit.truncated_median_of_means_error_upper: {
        "n": 40, "d": 2, "v": 1.0, "moment": 1.0, "clip": 1.0, "groups": 20, "epsilon": 0.5, "delta": 0.1, "xi": 0.1,
    },
    explicit.median_of_means_error_upper: {"n": 40, "d": 2, "v": 1.0, "moment": 1.0, "clip": 1.0, "groups": 20},
    explicit.gaussian_norm_upper: {"d": 2, "scale": 1.0, "xi": 0.1},
    explicit.mean_tail_upper: {"n": 4, "v": 1.0, "moment": 1.0, "deviation": 1.0},
}  # fmt: skip


def test_every_statement_but_the_correction_has_arguments_to_break() -> None:
    assert set(GOOD) | {explicit.catoni_correction} == {statement.function for statement in EXPLICIT}


@pytest.mark.parametrize("function", GOOD, ids=lambda function: function.__name__)
def test_bad_arguments_are_named(function: object) -> None:
    good = GOOD[function]
    assert math.isfinite(function(**good))
    for name in good:
        for bad in (math.nan, "much"):
            with pytest.raises(InputError, match=name):
                function(**(good | {name: bad}))


@pytest.mark.parametrize(
    ("function", "change"),
    [
        (explicit.p0_gaussian_scale, {"epsilon": 1.5}),
        (explicit.trimmed_mean_error_upper, {"trim": 3}),
        (explicit.run_zcdp, {"epsilon": 1.1}),
        (explicit.group_zcdp, {"epsilon": 70.0}),
        (explicit.clipping_bias_upper, {"p": 1.5}),
        (explicit.bounded_mgf_upper, {"rate": 1.1}),
        (explicit.bounded_mgf_upper, {"rate": -0.1}),
        (explicit.gaussian_tail_upper, {"deviation": -1.0}),
        (explicit.peeling_scale, {"delta": 1.0}),
        (explicit.mean_tail_upper, {"v": 1.1}),
        (explicit.mean_tail_upper, {"v": 0.0}),
        (explicit.truncated_mean_error_upper, {"delta": 1.01}),
        (explicit.truncated_median_of_means_error_upper, {"groups": 14}),
    ],
)
def test_ranges_are_those_printed(function: object, change: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(change))):
        function(**(GOOD[function] | change))


def test_sum_moment_refuses_what_is_not_a_list_of_moments() -> None:
    for bad in ([-1.0], [[1.0]], [math.inf]):
        with pytest.raises(InputError, match="moments"):
            explicit.sum_moment_upper(moments=bad)


# P0, P1


@SETTINGS
@given(positives, units, units)
def test_gaussian_scales(sensitivity: float, epsilon: float, delta: float) -> None:
    p0 = explicit.p0_gaussian_scale(sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    p3 = explicit.p3_gaussian_scale(sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    unit = (mp.mpf(sensitivity) / epsilon) ** 2
    # log(1/δ) near δ = 1 loses relative, not absolute, accuracy.
    assert abs(mp.mpf(p0) ** 2 / unit - 16 * mp.log(1 / mp.mpf(delta))) <= 1e-12 * (1 + 16 * abs(math.log(delta)))
    assert close(p3**2, unit * 2 * mp.log(mp.mpf("1.25") / delta))


def test_laplace_delta_is_the_hockey_stick_integral() -> None:
    for scale, epsilon in ((0.3, 0.5), (1.0, 0.2), (2.0, 0.7)):

        def excess(x: mpmath.mpf, b: float = scale, e: float = epsilon) -> mpmath.mpf:
            return max(mp.exp(-abs(x) / b) - mp.exp(e - abs(x - 1) / b), 0) / (2 * b)

        edge = (1 - epsilon * scale) / 2  # where the two densities cross, if they do
        integral = mp.quad(excess, [-mp.inf, 0, max(edge, 0), 1, mp.inf])
        assert abs(explicit.laplace_delta(sensitivity=1.0, scale=scale, epsilon=epsilon) - integral) < 1e-12


def test_p1_lemma_1_squares_back() -> None:
    bound = explicit.minimiser_distance_upper(n=7, gradient_second_moment=3.0, strong_convexity=0.5)
    assert close(bound**2, mp.mpf(40) * 3 / (7 * mp.mpf("0.25")))


@SETTINGS
@given(st.integers(1, 100), positives, positives)
def test_p1_lemma_5_tails(n: int, scale: float, deviation: float) -> None:
    v, t = mp.mpf(scale), mp.mpf(deviation)
    exponent = min(t / (2 * v), t**2 / (2 * v**2))
    mean = explicit.subexponential_mean_tail_upper(n=n, scale=scale, deviation=deviation)
    largest = explicit.subexponential_max_tail_upper(n=n, scale=scale, deviation=deviation)
    assert mean == pytest.approx(float(2 * mp.exp(-n * exponent)), rel=1e-9, abs=1e-300)
    assert largest == pytest.approx(float(2 * n * mp.exp(-exponent)), rel=1e-9, abs=1e-300)


def test_p1_lemma_5_trim() -> None:
    assert explicit.trimmed_mean_error_upper(n=7, trim=2, mean_deviation=0.5, max_deviation=3.0) == (3.5 + 6) / 3
    assert explicit.soft_truncation_sensitivity_upper(n=6, scale=3.0) == pytest.approx(4 * math.sqrt(2) * 3 / 18)


def influence_mean(a: float, b: float) -> mpmath.mpf:
    """E φ(a + bZ) by quadrature from φ's definition; beyond 12 standard deviations lies less than 1e-32."""

    def influence(x: mpmath.mpf) -> mpmath.mpf:
        return mp.sign(x) * 2 * mp.sqrt(2) / 3 if abs(x) > mp.sqrt(2) else x - x**3 / 6

    kinks = [kink for kink in ((-mp.sqrt(2) - a) / b, (mp.sqrt(2) - a) / b) if abs(kink) < 12]
    nodes = sorted([-12, -4, 0, 4, 12, *kinks])
    return mp.quad(lambda z: influence(a + b * z) * mp.npdf(z), nodes, method="gauss-legendre")


@pytest.mark.parametrize("a", [-3.0, -1.4, -0.2, 0.0, 0.7, 1.5, 6.0])
@pytest.mark.parametrize("b", [0.2, 1.0, 2.5])
def test_correction_by_quadrature(a: float, b: float) -> None:
    correction = influence_mean(a, b) - (mp.mpf(a) * (1 - mp.mpf(b) ** 2 / 2) - mp.mpf(a) ** 3 / 6)
    assert abs(float(explicit.catoni_correction(a, b)) - correction) < 1e-14 * (1 + abs(a) ** 3 + b**3)
    symbolic = explicit.catoni_correction_expression(sympy.Rational(a), sympy.Rational(b))
    assert abs(mp.mpf(str(sympy.N(symbolic, 30))) - correction) < 1e-22


@SETTINGS
@given(st.floats(-20, 20), st.floats(0.01, 20))
def test_correction_is_odd_and_the_influence_bounded(a: float, b: float) -> None:
    value, mirror = float(explicit.catoni_correction(a, b)), float(explicit.catoni_correction(-a, b))
    slack = 1e-13 * (1 + abs(a) ** 3 + b**3 + abs(a) * b**2)
    assert abs(value + mirror) <= slack
    assert abs(a * (1 - b**2 / 2) - a**3 / 6 + value) <= explicit.SOFT_CEILING + slack


def test_correction_takes_arrays_and_extremes() -> None:
    grid = explicit.catoni_correction(np.array([[0.5], [2.0]]), np.array([1e-300, 1e-6, 1.0]))
    assert grid.shape == (2, 3)
    assert grid[0, 0] == 0.0  # no noise, inside: nothing to correct
    assert grid[1, 0] == pytest.approx(explicit.SOFT_CEILING - (2 - 8 / 6), rel=1e-14)  # no noise, outside: the cut
    for bad in ((1.0, 0.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.inf)):
        with pytest.raises(InputError, match="b > 0"):
            explicit.catoni_correction(*bad)


def test_displayed_record_is_right_only_for_positive_values_at_unit_scale() -> None:
    def true_part(x: float, s: float, beta: float) -> float:
        return float(s * influence_mean(x / s, abs(x) / (s * math.sqrt(beta))))

    for x, s, agrees in ((1.3, 1.0, True), (-1.3, 1.0, False), (1.3, 2.0, False), (-1.3, 2.0, False)):
        printed = explicit.soft_truncation_record(value=x, scale=s, beta=2.0)
        assert (abs(printed - true_part(x, s, 2.0)) < 1e-12) == agrees
    assert explicit.soft_truncation_record(value=0.0, scale=1.0, beta=1.0) == 0.0


# P2


def test_p2_lemma_3() -> None:
    bound = explicit.excess_risk_upper(diameter=2.0, step=0.5, steps=8, bias=0.25, smoothness=3.0, second_moment=7.0)
    assert bound == 4 / 8 + 0.5 + 0.5 * (36 + 7)


@SETTINGS
@given(units, chances, st.integers(1, 10**6))
def test_p2_budgets(fraction: float, delta: float, groups: int) -> None:
    log = mp.log(1 / mp.mpf(delta))
    assert close(explicit.run_zcdp(epsilon=fraction, delta=delta), (mp.mpf(fraction) / (1 + 2 * mp.sqrt(log))) ** 2, 1e-9)
    epsilon = fraction * 8 * math.e**2 * math.sqrt(math.log(4 / delta) / groups) * (1 - 1e-12)
    rho = explicit.group_zcdp(epsilon=epsilon, delta=delta, groups=groups)
    root = 1 + 2 * mp.sqrt(mp.log(12 * groups / mp.mpf(delta)))
    assert close(rho, mp.mpf(epsilon) ** 2 * groups / (64 * mp.exp(4) * mp.log(8 / mp.mpf(delta)) * root**2))
    # What (77) and (78) conclude: ρ < 1 and ε₀ ≤ 1.
    assert rho < 1
    assert rho + 2 * math.sqrt(rho * math.log(12 * groups / delta)) <= 1


@SETTINGS
@given(sizes, st.integers(1, 300), st.floats(2, 12), positives, positives, positives, chances)
def test_p2_theorem_2(n: int, d: int, p: float, moment: float, clip: float, rho: float, beta: float) -> None:
    M, R, log = mp.mpf(moment), mp.mpf(clip), mp.log(2 * mp.mpf(6) ** d / mp.mpf(beta))
    sampling = max(mp.sqrt(12 * M**2 / n * log), 8 * R / n * log)
    bias = mp.mpf(d) ** (mp.mpf(p) / 2) * M**p / (mp.mpf(p) - 1) * R ** (1 - mp.mpf(p))
    noise = 4 * R / (n * mp.sqrt(rho)) * mp.sqrt(log)
    assert close(
        explicit.clipped_mean_error_upper(n=n, d=d, p=p, moment=moment, clip=clip, rho=rho, beta=beta),
        sampling + bias + noise,
    )
    assert close(explicit.norm_moment_upper(d=d, p=p, moment=moment), mp.mpf(d) ** (mp.mpf(p) / 2) * M**p)


def test_p2_bias_overflows_outward() -> None:
    assert explicit.clipping_bias_upper(d=10, p=1e4, moment=1e3, clip=1.0) == math.inf


def test_p2_lemmas() -> None:
    assert close(explicit.bounded_mgf_upper(rate=0.5, variance=2.0, bound=1.5), mp.exp(mp.mpf(3) / 8))
    assert explicit.symmetrised_upper(average=-1.5) == -3
    assert explicit.contracted_upper(average=0.3) == 0.3


# P3


def test_p3_tails() -> None:
    assert close(explicit.laplace_tail(multiple=3.0), mp.exp(-3))
    assert close(explicit.gaussian_tail_upper(deviation=3.0, scale=2.0), mp.exp(mp.mpf(-9) / 8))
    bernstein = explicit.bernstein_tail_upper(n=5, variance=2.0, bound=3.0, deviation=0.5)
    assert close(bernstein, mp.exp(-mp.mpf("0.625") / mp.mpf("2.5")))
    assert close(explicit.laplace_max_upper(d=7, scale=2.0, xi=0.1) ** 2, 16 * mp.log(10) ** 2 * mp.log(7) ** 2)
    peeling = explicit.peeling_scale(sensitivity=3.0, sparsity=4, epsilon=0.5, delta=0.1)
    assert close(peeling, 4 * 3 * mp.sqrt(8 * mp.log(10)) / mp.mpf("0.5"))


@SETTINGS
@given(sizes, orders, positives, positives)
def test_p3_moment_bounds(n: int, v: float, moment: float, deviation: float) -> None:
    M, t, order = mp.mpf(moment), mp.mpf(deviation), mp.mpf(v)
    tail = explicit.mean_tail_upper(n=n, v=v, moment=moment, deviation=deviation)
    assert close(tail, 8 * M / mp.mpf(n) ** order / t ** (1 + order))
    assert close(explicit.moment_tail_upper(v=v, moment=moment, deviation=deviation), M / t ** (1 + order))
    assert close(explicit.truncation_bias_upper(v=v, moment=moment, clip=deviation), M / t**order)
    assert close(explicit.mean_moment_upper(n=n, v=v, moment=moment), 2 * M / mp.mpf(n) ** order)
    assert explicit.sum_moment_upper(moments=[moment, deviation]) == 2 * (moment + deviation)
    assert explicit.central_moment_upper(raw_moment=moment) == 4 * moment
    raw = explicit.raw_moment_upper(v=v, central_moment=moment, mean_norm=deviation)
    assert close(raw, 2 * M + 2 * t ** (1 + order))
    # (21): at t = (80M/n^v)^{1/(1+v)} the tail is 1/10.
    threshold = float((80 * M / mp.mpf(n) ** order) ** (1 / (1 + order)))
    assert explicit.mean_tail_upper(n=n, v=v, moment=moment, deviation=threshold) == pytest.approx(0.1)


@SETTINGS
@given(sizes, orders, positives, units, units, st.floats(1e-9, 1 / 3))
def test_p3_theorem_1_follows_from_its_terms(
    n: int, v: float, moment: float, epsilon: float, delta: float, xi: float
) -> None:
    public = {"n": n, "v": v, "moment": moment, "epsilon": epsilon, "delta": delta, "xi": xi}
    clip = explicit.truncation_level(**public)
    final = explicit.truncated_mean_error_upper(**public)
    A, L = math.sqrt(math.log(1.25 / delta)), math.log(1 / xi)
    # (8) with log(1/ξ): the bias term is the rate itself.
    assert final == pytest.approx(9 * explicit.truncation_bias_upper(v=v, moment=moment, clip=clip))
    # Every term of (4) over the rate, in closed form.
    total = explicit.truncated_mean_error_upper_at(**public, clip=clip)
    quotient = math.sqrt(2 * epsilon / A) + epsilon / (3 * A) + 1 + 4 * math.sqrt(2 / L)
    assert total == pytest.approx(quotient * final / 9)
    if epsilon <= A:
        assert total <= final * (1 + 1e-12)
    # With the noise taken at ξ instead of ξ² the constant 9 covers every 0 < ε, δ ≤ 1.
    assert quotient - 4 * math.sqrt(2 / L) + 4 / math.sqrt(L) < 7.6


def test_p3_equation_4_exceeds_9_where_the_range_of_delta_is_ignored() -> None:
    public = {"n": 100, "v": 0.5, "moment": 1.0, "epsilon": 1.0, "delta": 1.0, "xi": 0.333}
    clip = explicit.truncation_level(**public)
    assert explicit.truncated_mean_error_upper_at(**public, clip=clip) > explicit.truncated_mean_error_upper(**public)


@SETTINGS
@given(st.integers(1, 50), orders, positives, positives, st.floats(0.01, 0.99), chances, chances)
def test_p3_theorem_3(d: int, v: float, moment: float, clip: float, epsilon: float, delta: float, xi: float) -> None:
    groups = math.ceil(4 * math.log(2 * d / xi))
    n = 10 * groups
    u, tau, order, m = mp.mpf(moment), mp.mpf(clip), mp.mpf(v), mp.mpf(groups)
    sampling = mp.sqrt(d) * ((80 * u) ** (1 / (1 + order)) * (m / n) ** (order / (1 + order)) + u / tau**order)
    sigma = mp.sqrt(8 * tau**2 * m**2 * d / (mp.mpf(epsilon) ** 2 * n**2) * mp.log(mp.mpf("1.25") / mp.mpf(delta)))
    noise = 2 * sigma * (mp.sqrt(d) + mp.sqrt(mp.log(1 / mp.mpf(xi))))
    bound = explicit.truncated_median_of_means_error_upper(
        n=n, d=d, v=v, moment=moment, clip=clip, groups=groups, epsilon=epsilon, delta=delta, xi=xi
    )
    assert close(bound, sampling + noise, 1e-10)
