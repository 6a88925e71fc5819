"""Statements with explicit constants: one pure function per inequality, with the constants exactly as published.

A function returns the right-hand side of its statement, in the paper's own parametrisation and natural logarithms, also
where the statement is wrong: what fails is said in `tailproof.bounds.errata`, and measured in `tailproof.verification.statements`.
`EXPLICIT` lists them with their places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import sympy
from numpy.typing import ArrayLike
from scipy.special import ndtr

from tailproof.refimpl.validation import (
    FloatArray,
    InputError,
    between,
    nonnegative,
    positive,
    probability,
    real,
    vector,
    whole,
)

SOFT_CEILING = 2 * math.sqrt(2) / 3  # the largest value of P1's influence function x − x³/6 cut at |x| = √2


Kind = Literal["upper", "lemma", "privacy", "identity"]


@dataclass(frozen=True)
class ExplicitStatement:
    """One published inequality (or identity) whose constants are all explicit."""

    id: str
    paper: str
    place: str
    kind: Kind
    text: str
    function: Callable[..., Any]


def _moment_order(v: float) -> float:
    """P3's v, of the half-open interval (0, 1]."""
    return between("v", positive("v", v), 0, 1)


def _unit(name: str, value: float) -> float:
    """A number of the half-open interval (0, 1], the range P0 and P3 print for ε and δ."""
    return between(name, positive(name, value), 0, 1)


def _power(base: float, exponent: float) -> float:
    """base ** exponent, infinite where it overflows (outward for an upper bound)."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


def laplace_delta(*, sensitivity: float, scale: float, epsilon: float) -> float:
    """The smallest δ for which one Laplace release of this scale is (ε, δ)-private: 1 − exp((ε − Δ/b)/2)₋."""
    loss = positive("sensitivity", sensitivity) / positive("scale", scale)
    return max(0.0, -math.expm1((nonnegative("epsilon", epsilon) - loss) / 2))


# P0


def p0_gaussian_scale(*, sensitivity: float, epsilon: float, delta: float) -> float:
    """P0 Definition 3: σ = 4Δ√log(1/δ)/ε, stated for 0 < ε, δ ≤ 1."""
    noise = math.sqrt(math.log(1 / _unit("delta", delta)))
    return 4 * positive("sensitivity", sensitivity) * noise / _unit("epsilon", epsilon)


# P1


def minimiser_distance_upper(*, n: int, gradient_second_moment: float, strong_convexity: float) -> float:
    """P1 Lemma 1: ‖w_D − w*‖ ≤ √(40 E‖∇ℓ(w*,x)‖²/(nα²)), stated with probability at least 3/4."""
    n, alpha = whole("n", n, least=1), positive("strong_convexity", strong_convexity)
    return math.sqrt(40 * nonnegative("gradient_second_moment", gradient_second_moment) / n) / alpha


def _subexponential_exponent(scale: float, deviation: float) -> float:
    ratio = nonnegative("deviation", deviation) / positive("scale", scale)
    return min(ratio / 2, ratio**2 / 2)


def subexponential_mean_tail_upper(*, n: int, scale: float, deviation: float) -> float:
    """P1 Lemma 5, first part: P(x̄ − μ ≥ t) ≤ 2 exp(−n min{t/(2v), t²/(2v²)}) for v-sub-exponential data."""
    return 2 * math.exp(-whole("n", n, least=1) * _subexponential_exponent(scale, deviation))


def subexponential_max_tail_upper(*, n: int, scale: float, deviation: float) -> float:
    """P1 Lemma 5, second part: P(max|xᵢ − μ| ≥ s) ≤ 2n exp(−min{s/(2v), s²/(2v²)})."""
    return 2 * whole("n", n, least=1) * math.exp(-_subexponential_exponent(scale, deviation))


def trimmed_mean_error_upper(*, n: int, trim: int, mean_deviation: float, max_deviation: float) -> float:
    """P1 Lemma 5, third part: |Trim_m(x) − μ| ≤ (nt + ms)/(n − 2m)."""
    n = whole("n", n, least=1)
    m = whole("trim", trim, least=0, most=(n - 1) // 2)
    t, s = nonnegative("mean_deviation", mean_deviation), nonnegative("max_deviation", max_deviation)
    return (n * t + m * s) / (n - 2 * m)


def soft_truncation_sensitivity_upper(*, n: int, scale: float) -> float:
    """P1 proof of Theorem 7: replacing one record moves the estimate by at most 4√2·s/(3n)."""
    return 2 * SOFT_CEILING * positive("scale", scale) / whole("n", n, least=1)


def soft_truncation_record(*, value: float, scale: float, beta: float) -> float:
    """P1 proof of Theorem 7, one record's part of ĝⱼ as displayed: C takes |∇ⱼ| and lacks the factor s."""
    x, s, beta = real("value", value), positive("scale", scale), positive("beta", beta)
    polynomial = x * (1 - x**2 / (2 * s**2 * beta)) - x**3 / (6 * s**2)
    if x == 0:
        return 0.0  # C(a, b) → 0 as both of its arguments vanish
    return polynomial + float(catoni_correction(abs(x) / s, abs(x) / (s * math.sqrt(beta))))


def catoni_correction(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """P1 Appendix B, (19)-(27): the C with E φ(a + bZ) = a(1 − b²/2) − a³/6 + C(a, b), Z standard normal, b > 0.

    φ(x) = x − x³/6 on |x| ≤ √2 and ±2√2/3 outside.  In floats the sum loses about |a|³ + b³ units in the last place.
    """
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    if not (np.isfinite(a).all() and np.isfinite(b).all() and (b > 0).all()):
        raise InputError("a, b: must be finite with every b > 0")
    # Beyond 40 the Gaussian terms are exactly 0 or 1 in floats; the cut keeps V² · 0 from becoming ∞ · 0.
    v_minus, v_plus = np.clip((math.sqrt(2) - a) / b, -40, 40), np.clip((math.sqrt(2) + a) / b, -40, 40)
    f_minus, f_plus = ndtr(-v_minus), ndtr(-v_plus)
    e_minus, e_plus = np.exp(-(v_minus**2) / 2), np.exp(-(v_plus**2) / 2)
    root = math.sqrt(2 * math.pi)
    t1 = SOFT_CEILING * (f_minus - f_plus)
    t2 = -(a - a**3 / 6) * (f_minus + f_plus)
    t3 = b / root * (1 - a**2 / 2) * (e_plus - e_minus)
    t4 = a * b**2 / 2 * (f_plus + f_minus + (v_plus * e_plus + v_minus * e_minus) / root)
    t5 = b**3 / (6 * root) * ((2 + v_minus**2) * e_minus - (2 + v_plus**2) * e_plus)
    return np.asarray(t1 + t2 + t3 + t4 + t5)


def catoni_correction_expression(a: Any, b: Any) -> Any:
    """P1 Appendix B, (19)-(27), as a sympy expression in the given symbols or numbers."""
    root_two, root = sympy.sqrt(2), sympy.sqrt(2 * sympy.pi)
    v_minus, v_plus = (root_two - a) / b, (root_two + a) / b
    f_minus, f_plus = (sympy.erfc(v / root_two) / 2 for v in (v_minus, v_plus))
    e_minus, e_plus = (sympy.exp(-(v**2) / 2) for v in (v_minus, v_plus))
    t1 = 2 * root_two / 3 * (f_minus - f_plus)
    t2 = -(a - a**3 / 6) * (f_minus + f_plus)
    t3 = b / root * (1 - a**2 / 2) * (e_plus - e_minus)
    t4 = a * b**2 / 2 * (f_plus + f_minus + (v_plus * e_plus + v_minus * e_minus) / root)
    t5 = b**3 / (6 * root) * ((2 + v_minus**2) * e_minus - (2 + v_plus**2) * e_plus)
    return t1 + t2 + t3 + t4 + t5


# P2


def excess_risk_upper(
    *, diameter: float, step: float, steps: int, bias: float, smoothness: float, second_moment: float
) -> float:
    """P2 Lemma 3 (11): E F(ŵ) − F(w*) ≤ L²/(2ηT) + LB + η(λ²L² + G²); `second_moment` is G²."""
    L, eta, T = positive("diameter", diameter), positive("step", step), whole("steps", steps, least=1)
    gradient = (positive("smoothness", smoothness) * L) ** 2 + nonnegative("second_moment", second_moment)
    return L**2 / (2 * eta * T) + L * nonnegative("bias", bias) + eta * gradient


def run_zcdp(*, epsilon: float, delta: float) -> float:
    """P2 Theorem 3 (15): a run that is ρ-zCDP with ρ = ε²/(1 + 2√ln(1/δ))² is (ε, δ)-private when ε ≤ 1."""
    return (_unit("epsilon", epsilon) / (1 + 2 * math.sqrt(math.log(1 / probability("delta", delta))))) ** 2


def group_zcdp(*, epsilon: float, delta: float, groups: int) -> float:
    """P2 Theorem 6 (24): the zCDP each of k shuffled groups needs, stated for ε ≤ 8e²√(ln(4/δ)/k)."""
    k, delta = whole("groups", groups, least=1), probability("delta", delta)
    epsilon = between("epsilon", positive("epsilon", epsilon), 0, 8 * math.e**2 * math.sqrt(math.log(4 / delta) / k))
    return epsilon**2 * k / (64 * math.e**4 * math.log(8 / delta) * (1 + 2 * math.sqrt(math.log(12 * k / delta))) ** 2)


def _covering_logarithm(d: int, beta: float) -> float:
    """ln(2·6^d/β), without forming 6^d."""
    return whole("d", d, least=1) * math.log(6) + math.log(2 / probability("beta", beta))


def clipped_sampling_error_upper(*, n: int, d: int, moment: float, clip: float, beta: float) -> float:
    """P2 Appendix B (52): ‖Ȳ − μ_Y‖ ≤ max{√(12M²ℓ/n), 8Rℓ/n}, ℓ = ln(2·6^d/β), with probability 1 − β/2."""
    n, log = whole("n", n, least=1), _covering_logarithm(d, beta)
    gaussian = positive("moment", moment) * math.sqrt(12 * log / n)
    return max(gaussian, 8 * positive("clip", clip) * log / n)


def clipping_bias_upper(*, d: int, p: float, moment: float, clip: float) -> float:
    """P2 Appendix B (55): ‖μ_Y − μ‖ ≤ d^{p/2} M^p R^{1−p}/(p − 1), p ≥ 2."""
    d, p, clip = whole("d", d, least=1), between("p", p, 2, math.inf), positive("clip", clip)
    return clip * _power(math.sqrt(d) * positive("moment", moment) / clip, p) / (p - 1)


def clipped_noise_upper(*, n: int, d: int, clip: float, rho: float, beta: float) -> float:
    """P2 Appendix B (58): ‖W‖ ≤ (4R/(n√ρ))√ℓ, ℓ = ln(2·6^d/β), with probability 1 − β/2."""
    scale = 4 * positive("clip", clip) / (whole("n", n, least=1) * math.sqrt(positive("rho", rho)))
    return scale * math.sqrt(_covering_logarithm(d, beta))


def clipped_mean_error_upper(*, n: int, d: int, p: float, moment: float, clip: float, rho: float, beta: float) -> float:
    """P2 Theorem 2 (14): the error of the simple clipping method, with probability 1 − β."""
    return (
        clipped_sampling_error_upper(n=n, d=d, moment=moment, clip=clip, beta=beta)
        + clipping_bias_upper(d=d, p=p, moment=moment, clip=clip)
        + clipped_noise_upper(n=n, d=d, clip=clip, rho=rho, beta=beta)
    )


def bounded_mgf_upper(*, rate: float, variance: float, bound: float) -> float:
    """P2 Lemma 10 (108): E e^{λV} ≤ exp(¾λ²E V²) for centred |V| ≤ R and 0 ≤ λ ≤ 1/R."""
    rate = between("rate", rate, 0, 1 / positive("bound", bound))
    return math.exp(0.75 * rate**2 * nonnegative("variance", variance))


def norm_moment_upper(*, d: int, p: float, moment: float) -> float:
    """P2 Lemma 11: E‖X‖^p ≤ d^{p/2} M^p when E|⟨u, X⟩|^p ≤ M^p for every unit u, p ≥ 2."""
    root = math.sqrt(whole("d", d, least=1)) * nonnegative("moment", moment)
    return _power(root, between("p", p, 2, math.inf))


def symmetrised_upper(*, average: float) -> float:
    """P2 Lemma 12 (113) and (114): twice the average on the right-hand side (Rademacher, or centred)."""
    return 2 * real("average", average)


def contracted_upper(*, average: float) -> float:
    """P2 Lemma 13 (115): the Rademacher average (1/n)E sup Σσᵢf(Uᵢ), published as a bound of E sup Σσᵢ|f(Uᵢ)|."""
    return real("average", average)


# P3


def p3_gaussian_scale(*, sensitivity: float, epsilon: float, delta: float) -> float:
    """P3 Lemma 3: σ = Δ√(2 log(1.25/δ))/ε; stated without a range for ε."""
    noise = math.sqrt(2 * math.log(1.25 / _unit("delta", delta)))
    return positive("sensitivity", sensitivity) * noise / positive("epsilon", epsilon)


def peeling_scale(*, sensitivity: float, sparsity: int, epsilon: float, delta: float) -> float:
    """P3 Algorithm 4 and Lemma 22: Laplace scale 4λ√(2s log(1/δ))/ε, stated for 0 < ε, δ < 1."""
    noise = math.sqrt(2 * whole("sparsity", sparsity, least=1) * math.log(1 / probability("delta", delta)))
    return 4 * positive("sensitivity", sensitivity) * noise / probability("epsilon", epsilon)


def laplace_tail(*, multiple: float) -> float:
    """P3 Lemma 4: P(|X| ≥ t·b) = e^{−t} for X ~ Lap(b)."""
    return math.exp(-nonnegative("multiple", multiple))


def gaussian_tail_upper(*, deviation: float, scale: float) -> float:
    """P3 Lemma 5: P(X ≥ μ + t) ≤ exp(−t²/(2σ²)), t ≥ 0."""
    return math.exp(-((nonnegative("deviation", deviation) / positive("scale", scale)) ** 2) / 2)


def bernstein_tail_upper(*, n: int, variance: float, bound: float, deviation: float) -> float:
    """P3 Lemma 6: P(x̄ ≥ t) ≤ exp(−½t²n/(s + Mt/3)) for centred |Xᵢ| ≤ M, E Xᵢ² ≤ s, t > 0."""
    t = positive("deviation", deviation)
    width = nonnegative("variance", variance) + positive("bound", bound) * t / 3
    return math.exp(-whole("n", n, least=1) * t**2 / (2 * width))


def moment_tail_upper(*, v: float, moment: float, deviation: float) -> float:
    """P3 Lemma 7: P(‖x‖ > t) ≤ E‖x‖^{1+v}/t^{1+v}."""
    return nonnegative("moment", moment) * _power(positive("deviation", deviation), -(1 + _moment_order(v)))


def truncation_bias_upper(*, v: float, moment: float, clip: float) -> float:
    """P3 Lemma 10: E[X·1{|X| > B}] ≤ u/B^v when E|X|^{1+v} ≤ u."""
    return nonnegative("moment", moment) * _power(positive("clip", clip), -_moment_order(v))


def sum_moment_upper(*, moments: ArrayLike) -> float:
    """P3 Lemma 11 (von Bahr and Esseen): E|ΣXᵢ|^{1+v} ≤ 2ΣE|Xᵢ|^{1+v} for independent centred Xᵢ."""
    values = vector("moments", moments)
    if (values < 0).any():
        raise InputError(f"moments: entry {values.min()!r} is negative; every entry must be >= 0")
    return 2 * float(values.sum())


def mean_moment_upper(*, n: int, v: float, moment: float) -> float:
    """P3 Lemma 12: E|x̄|^{1+v} ≤ 2M/n^v for independent centred xᵢ with E|xᵢ|^{1+v} ≤ M."""
    return 2 * nonnegative("moment", moment) * _power(whole("n", n, least=1), -_moment_order(v))


def central_moment_upper(*, raw_moment: float) -> float:
    """P3 Lemma 13, first part: E|⟨x − μ, X⟩|^{1+v} ≤ 4E|⟨x, X⟩|^{1+v}."""
    return 4 * nonnegative("raw_moment", raw_moment)


def raw_moment_upper(*, v: float, central_moment: float, mean_norm: float) -> float:
    """P3 Lemma 13, second part: E|⟨x, X⟩|^{1+v} ≤ 2E|⟨x − μ, X⟩|^{1+v} + 2‖μ‖^{1+v}."""
    power = _power(nonnegative("mean_norm", mean_norm), 1 + _moment_order(v))
    return 2 * nonnegative("central_moment", central_moment) + 2 * power


def mean_tail_upper(*, n: int, v: float, moment: float, deviation: float) -> float:
    """P3 Theorem 4 (1): P(|x̄ − μ| ≥ t) ≤ 8M/(n^v t^{1+v}) when E|xᵢ|^{1+v} ≤ M."""
    return 4 * mean_moment_upper(n=n, v=v, moment=moment) * _power(positive("deviation", deviation), -(1 + v))


def truncation_level(*, n: int, v: float, moment: float, epsilon: float, delta: float, xi: float) -> float:
    """P3 Algorithm 1, line 1: B = (unε/(log(1/ξ)√log(1.25/δ)))^{1/(1+v)}."""
    budget = positive("moment", moment) * whole("n", n, least=1) * _unit("epsilon", epsilon)
    logs = math.log(1 / probability("xi", xi)) * math.sqrt(math.log(1.25 / _unit("delta", delta)))
    return _power(budget / logs, 1 / (1 + _moment_order(v)))


def truncated_sampling_error_upper(*, n: int, v: float, moment: float, clip: float, xi: float) -> float:
    """P3 proof of Theorem 1 (5): √(2B^{1−v}u log(1/ξ)/n) + B log(1/ξ)/(3n), two-sided, stated at 1 − ξ."""
    n, B, log = whole("n", n, least=1), positive("clip", clip), math.log(1 / probability("xi", xi))
    variance = _power(B, 1 - _moment_order(v)) * positive("moment", moment)
    return math.sqrt(2 * variance * log / n) + B * log / (3 * n)


def truncated_mean_error_upper_at(
    *, n: int, v: float, moment: float, clip: float, epsilon: float, delta: float, xi: float
) -> float:
    """P3 proof of Theorem 1 (4): sampling, bias and noise at truncation level B, with probability 1 − 3ξ."""
    deviation = math.sqrt(math.log(1.25 / _unit("delta", delta)) * math.log(1 / probability("xi", xi)))
    noise = 4 * math.sqrt(2) * positive("clip", clip) * deviation / (whole("n", n, least=1) * _unit("epsilon", epsilon))
    sampling = truncated_sampling_error_upper(n=n, v=v, moment=moment, clip=clip, xi=xi)
    return sampling + truncation_bias_upper(v=v, moment=moment, clip=clip) + noise


def truncated_mean_error_upper(*, n: int, v: float, moment: float, epsilon: float, delta: float, xi: float) -> float:
    """P3 proof of Theorem 1 (10): 9u^{1/(1+v)}(√log(1.25/δ) log(1/ξ)/(nε))^{v/(1+v)}, with probability 1 − 3ξ."""
    logs = math.sqrt(math.log(1.25 / _unit("delta", delta))) * math.log(1 / probability("xi", xi))
    rate = logs / (whole("n", n, least=1) * _unit("epsilon", epsilon))
    return 9 * _power(positive("moment", moment) * _power(rate, _moment_order(v)), 1 / (1 + v))


def median_of_means_error_upper(*, n: int, d: int, v: float, moment: float, clip: float, groups: int) -> float:
    """P3 proof of Theorem 3 (16): √d((80u)^{1/(1+v)}(m/n)^{v/(1+v)} + u/τ^v), fails with probability ≤ d·e^{−m/4}."""
    n, d = whole("n", n, least=1), whole("d", d, least=1)
    m = whole("groups", groups, least=1, most=n)
    sampling = _power(80 * positive("moment", moment) * _power(m / n, _moment_order(v)), 1 / (1 + v))
    return math.sqrt(d) * (sampling + truncation_bias_upper(v=v, moment=moment, clip=clip))


def gaussian_norm_upper(*, d: int, scale: float, xi: float) -> float:
    """P3 proof of Theorem 3 (17): ‖ν‖ ≥ 2σ(√d + √log(1/ξ)) has probability ≤ ξ/2."""
    root = math.sqrt(whole("d", d, least=1)) + math.sqrt(math.log(1 / probability("xi", xi)))
    return 2 * positive("scale", scale) * root


def median_of_means_noise_scale(*, n: int, d: int, clip: float, groups: int, epsilon: float, delta: float) -> float:
    """P3 Algorithm 3, line 12: σ = √(8τ²m²d ln(1.25/δ))/(εn)."""
    root = math.sqrt(8 * whole("d", d, least=1) * math.log(1.25 / probability("delta", delta)))
    spread = positive("clip", clip) * whole("groups", groups, least=1, most=whole("n", n, least=1))
    return spread * root / (probability("epsilon", epsilon) * n)


def truncated_median_of_means_error_upper(
    *, n: int, d: int, v: float, moment: float, clip: float, groups: int, epsilon: float, delta: float, xi: float
) -> float:
    """P3 Theorem 3 with the constants of (16) and (17), with probability 1 − ξ; m ≥ 4 log(2d/ξ) groups."""
    least = math.ceil(4 * math.log(2 * whole("d", d, least=1) / probability("xi", xi)))
    m = whole("groups", groups, least=least, most=whole("n", n, least=1))
    scale = median_of_means_noise_scale(n=n, d=d, clip=clip, groups=m, epsilon=epsilon, delta=delta)
    sampling = median_of_means_error_upper(n=n, d=d, v=v, moment=moment, clip=clip, groups=m)
    return sampling + gaussian_norm_upper(d=d, scale=scale, xi=xi)


def laplace_max_upper(*, d: int, scale: float, xi: float) -> float:
    """P3 Lemma 26: ‖w‖²_∞ ≥ 4λ² log²(1/ξ) log²d has probability ≤ ξ; the root of that square."""
    log = math.log(1 / probability("xi", xi)) * math.log(whole("d", d, least=1))
    return 2 * positive("scale", scale) * log


def _row(id: str, place: str, kind: Kind, function: Callable[..., Any], text: str) -> ExplicitStatement:
    return ExplicitStatement(id, id.split(".")[0], place, kind, text, function)


EXPLICIT: tuple[ExplicitStatement, ...] = (
    _row("P0.Def3", "Definition 3", "privacy", p0_gaussian_scale, "N(0, 16Δ²log(1/δ)/ε²) is (ε, δ)-private, 0 < ε, δ ≤ 1"),
    _row("P1.Lem1", "Lemma 1", "upper", minimiser_distance_upper, "‖w_D − w*‖ ≤ √(40E‖∇ℓ‖²/(nα²)) with probability 3/4"),
    _row("P1.Lem5.mean", "Lemma 5", "lemma", subexponential_mean_tail_upper, "P(x̄ − μ ≥ t) ≤ 2exp(−n min{t/2v, t²/2v²})"),
    _row(
        "P1.Lem5.max",
        "Lemma 5",
        "lemma",
        subexponential_max_tail_upper,
        "P(max|xᵢ − μ| ≥ s) ≤ 2n exp(−min{s/2v, s²/2v²})",
    ),
    _row(
        "P1.Lem5.trim",
        "Lemma 5",
        "lemma",
        trimmed_mean_error_upper,
        "|Trim_m − μ| ≤ (nt + ms)/(n − 2m) when x̄ − μ < t and max|xᵢ − μ| < s",
    ),
    _row(
        "P1.Thm7.sensitivity",
        "proof of Theorem 7",
        "privacy",
        soft_truncation_sensitivity_upper,
        "replacing one record moves ĝⱼ by at most 4√2·s/(3n)",
    ),
    _row(
        "P1.Thm7.record",
        "proof of Theorem 7, ĝⱼ",
        "identity",
        soft_truncation_record,
        "one record's part of ĝⱼ is s·E φ(a + bZ), a = x/s, b = |a|/√β",
    ),
    _row("P1.C", "Appendix B (19)-(27)", "identity", catoni_correction, "E φ(a + bZ) = a(1 − b²/2) − a³/6 + C(a, b)"),
    _row("P2.Lem3", "Lemma 3 (11)", "upper", excess_risk_upper, "E F(ŵ) − F(w*) ≤ L²/(2ηT) + LB + η(λ²L² + G²)"),
    _row("P2.Thm3", "Theorem 3 (15)", "privacy", run_zcdp, "ρ-zCDP with ρ = ε²/(1 + 2√ln(1/δ))² is (ε, δ)-DP, ε ≤ 1"),
    _row(
        "P2.Thm6",
        "Theorem 6 (24)",
        "privacy",
        group_zcdp,
        "k shuffled groups, each ρ-zCDP, are (ε, δ)-DP when ε ≤ 8e²√(ln(4/δ)/k)",
    ),
    _row(
        "P2.Thm2",
        "Theorem 2 (14)",
        "upper",
        clipped_mean_error_upper,
        "‖μ̂ − μ‖ ≤ sampling + bias + noise with probability 1 − β",
    ),
    _row(
        "P2.Thm2.(52)",
        "Appendix B (52)",
        "upper",
        clipped_sampling_error_upper,
        "‖Ȳ − μ_Y‖ ≤ max{√(12M²ℓ/n), 8Rℓ/n} with probability 1 − β/2",
    ),
    _row("P2.Thm2.(55)", "Appendix B (55)", "upper", clipping_bias_upper, "‖μ_Y − μ‖ ≤ d^{p/2}M^pR^{1−p}/(p − 1)"),
    _row("P2.Thm2.(58)", "Appendix B (58)", "upper", clipped_noise_upper, "‖W‖ ≤ √(16R²ℓ/(ρn²)) with probability 1 − β/2"),
    _row(
        "P2.Lem10",
        "Lemma 10 (108)",
        "lemma",
        bounded_mgf_upper,
        "E e^{λV} ≤ exp(¾λ²E V²), centred |V| ≤ R, 0 ≤ λ ≤ 1/R",
    ),
    _row("P2.Lem11", "Lemma 11", "lemma", norm_moment_upper, "E‖X‖^p ≤ d^{p/2}M^p when E|⟨u, X⟩|^p ≤ M^p for unit u"),
    _row(
        "P2.Lem12.(113)",
        "Lemma 12 (113)",
        "lemma",
        symmetrised_upper,
        "E sup (1/n)Σ(f(Uᵢ) − E f) ≤ 2E sup (1/n)Σσᵢf(Uᵢ)",
    ),
    _row(
        "P2.Lem12.(114)",
        "Lemma 12 (114)",
        "lemma",
        symmetrised_upper,
        "E sup (1/n)Σσᵢf(Uᵢ) ≤ 2E sup (1/n)Σf(Uᵢ) when E f = 0",
    ),
    _row("P2.Lem13", "Lemma 13 (115)", "lemma", contracted_upper, "E sup Σσᵢ|f(Uᵢ)| ≤ E sup (1/n)Σσᵢf(Uᵢ)"),
    _row("P3.Lem3", "Lemma 3", "privacy", p3_gaussian_scale, "N(0, 2Δ²log(1.25/δ)/ε²) is (ε, δ)-private"),
    _row("P3.Lem4", "Lemma 4", "identity", laplace_tail, "P(|X| ≥ tb) = e^{−t} for X ~ Lap(b)"),
    _row("P3.Lem5", "Lemma 5", "lemma", gaussian_tail_upper, "P(X ≥ μ + t) ≤ exp(−t²/(2σ²)) for X ~ N(μ, σ²)"),
    _row(
        "P3.Lem6",
        "Lemma 6",
        "lemma",
        bernstein_tail_upper,
        "P(x̄ ≥ t) ≤ exp(−½t²n/(s + Mt/3)), centred |Xᵢ| ≤ M, E Xᵢ² ≤ s",
    ),
    _row("P3.Lem7", "Lemma 7", "lemma", moment_tail_upper, "P(‖x‖ > t) ≤ E‖x‖^{1+v}/t^{1+v}"),
    _row("P3.Lem10", "Lemma 10", "lemma", truncation_bias_upper, "E[X·1{|X| > B}] ≤ u/B^v"),
    _row("P3.Lem11", "Lemma 11", "lemma", sum_moment_upper, "E|ΣXᵢ|^{1+v} ≤ 2ΣE|Xᵢ|^{1+v}, independent and centred"),
    _row("P3.Lem12", "Lemma 12", "lemma", mean_moment_upper, "E|x̄|^{1+v} ≤ 2M/n^v, independent and centred"),
    _row("P3.Lem13.central", "Lemma 13", "lemma", central_moment_upper, "E|⟨x − μ, X⟩|^{1+v} ≤ 4E|⟨x, X⟩|^{1+v}"),
    _row("P3.Lem13.raw", "Lemma 13", "lemma", raw_moment_upper, "E|⟨x, X⟩|^{1+v} ≤ 2E|⟨x − μ, X⟩|^{1+v} + 2‖μ‖^{1+v}"),
    _row(
        "P3.Lem22",
        "Algorithm 4, Lemma 22",
        "privacy",
        peeling_scale,
        "peeling with Lap(4λ√(2s log(1/δ))/ε) is (ε, δ)-private, 0 < ε, δ < 1",
    ),
    _row(
        "P3.Lem26",
        "Lemma 26",
        "lemma",
        laplace_max_upper,
        "P(‖w‖²_∞ ≥ 4λ²log²(1/ξ)log²d) ≤ ξ for w of d independent Lap(λ)",
    ),
    _row(
        "P3.Thm1",
        "proof of Theorem 1 (10)",
        "upper",
        truncated_mean_error_upper,
        "|μ̃ − μ| ≤ 9u^{1/(1+v)}(√log(1.25/δ)·log(1/ξ)/(nε))^{v/(1+v)} with probability 1 − 3ξ",
    ),
    _row(
        "P3.Thm1.(4)",
        "proof of Theorem 1 (4)",
        "upper",
        truncated_mean_error_upper_at,
        "|μ̃ − μ| ≤ sampling + u/B^v + noise with probability 1 − 3ξ",
    ),
    _row(
        "P3.Thm1.(5)",
        "proof of Theorem 1 (5)",
        "upper",
        truncated_sampling_error_upper,
        "|x̄' − E x'| ≤ √(2B^{1−v}u log(1/ξ)/n) + B log(1/ξ)/(3n) with probability 1 − ξ",
    ),
    _row(
        "P3.Thm3",
        "Theorem 3, proof (16), (17)",
        "upper",
        truncated_median_of_means_error_upper,
        "‖μ̃ − μ‖ ≤ the sum of (16) and (17) with probability 1 − ξ",
    ),
    _row(
        "P3.Thm3.(16)",
        "proof of Theorem 3 (16)",
        "upper",
        median_of_means_error_upper,
        "‖μ̂ − μ‖ ≥ √d((80u)^{1/(1+v)}(m/n)^{v/(1+v)} + u/τ^v) has probability ≤ d·e^{−m/4}",
    ),
    _row("P3.Thm3.(17)", "proof of Theorem 3 (17)", "upper", gaussian_norm_upper, "P(‖ν‖ ≥ 2σ(√d + √log(1/ξ))) ≤ ξ/2"),
    _row("P3.Thm4", "Theorem 4 (1)", "lemma", mean_tail_upper, "P(|x̄ − μ| ≥ t) ≤ 8M/(n^v t^{1+v})"),
)
