"""[P2] Where a published statement, step or display is wrong, each with a discrepancy that can be recomputed.

Where the paper claims a rate, both numbers of a gap are growths between two settings, so that no hidden constant matters.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy.special import ndtr, poch
from scipy.stats import binom

from tailproof.bounds import explicit
from tailproof.bounds.erratum import LOST, Erratum, Gap, erratum
from tailproof.bounds.papers import p2
from tailproof.bounds.papers.gaps import equality_gap

# Gaps: each returns (measured, allowed by the print).


def _growth(before: float, after: float) -> Gap:
    """How much a quotient grows that the paper bounds by a constant; none if it was not positive before."""
    return (after / before if before > 0 else 0.0), 1.0


def _last_iterate_gap(*, squared_contraction: float) -> Gap:
    """Lemma 8's error in units of r₀ when only the iterate after the last one compared is known to be within 4r₀."""
    return 4 / math.sqrt(squared_contraction) + 2, 6.0


def _direction_gap(*, points: list[float], centre: float) -> Gap:
    """How far program (27)'s best direction on the line is from the published (c − μ)/‖c − μ‖, all points at μ."""
    best = max((1.0, -1.0), key=lambda u: min((point - centre) * u for point in points))
    return abs(best - math.copysign(1.0, centre - points[0])), 0.0


def _randomiser_gap(*, size: int, rho: float, clip: float) -> Gap:
    """The ρ of a noisy group mean between two inputs that differ in every record, against the ρ of one record."""
    scale = math.sqrt(2 / rho) * clip / size
    return (2 * clip / scale) ** 2 / 2, rho


def _descent_gap(*, slope: float, smoothness: float, step: float) -> Gap:
    """One step from w = 1 on F(w) = slope·w over [0, 1] with the exact gradient: F(ŵ) − F(w*) against (11)."""
    bound = explicit.excess_risk_upper(diameter=1.0, step=step, steps=1, bias=0.0, smoothness=smoothness, second_moment=0.0)
    return slope, bound


def _conversion_gap(*, rho: float, delta: float) -> Gap:
    """The published ε = ρ + 2√ln(1/δ) against the lemma's ρ + 2√(ρ ln(1/δ))."""
    return rho + 2 * math.sqrt(math.log(1 / delta)), rho + 2 * math.sqrt(rho * math.log(1 / delta))


def _clip_step_gap(*, constant: float, clip: float) -> Gap:
    """X constant: E⟨u, Y − μ⟩² against E⟨u, X − μ⟩² = 0."""
    return (min(constant, clip) - constant) ** 2, 0.0


def _chernoff_range_gap(*, n: int, clip: float, moment: float, t: float) -> Gap:
    """(50): the infimum over the published range 0 ≤ λ ≤ 1/(2R) against the published result."""
    rate = min(2 * n * t / (3 * moment**2), 1 / (2 * clip))
    infimum = math.exp(-rate * t + 3 * rate**2 * moment**2 / (4 * n))
    small = t <= 3 * moment**2 / (4 * clip)
    return infimum, math.exp(-n * t**2 / (3 * moment**2) if small else -n * t / (4 * clip))


def _shuffle_term_gap(*, epsilon0: float, groups: int) -> Gap:
    """The second term of (75) against the cited theorem's."""
    return 8 * math.exp(epsilon0) / math.sqrt(groups), 8 * math.exp(epsilon0) / groups


def _rho_gap(*, delta: float, groups: int) -> Gap:
    """(77): its middle expression, published as less than 1."""
    return math.log(8 / delta) * (1 + 2 * math.sqrt(math.log(12 * groups / delta))) ** 2, 1.0


def _shuffle_condition_gap(*, groups: int, delta: float) -> Gap:
    """ε₀ at Theorem 6's largest ε, against the shuffling theorem's condition at δ' = δ/2."""
    epsilon = 8 * math.e**2 * math.sqrt(math.log(4 / delta) / groups) * (1 - 1e-12)
    rho = explicit.group_zcdp(epsilon=epsilon, delta=delta, groups=groups)
    epsilon0 = rho + 2 * math.sqrt(rho * math.log(12 * groups / delta))
    return epsilon0, math.log(groups / (16 * math.log(4 / delta)))


def _group_variance_gap(*, n: int, groups: int, clip: float, rho: float) -> Gap:
    """(82): 2R²k/(ρn²) against σ² = 2R²/(ρm²), m = n/k."""
    variance = 2 * clip**2 / (rho * (n / groups) ** 2)
    return abs(2 * clip**2 * groups / (rho * n**2) / variance - 1), 0.0


def _difference_gap(*, beta: float, groups: int) -> Gap:
    """(88) at the t chosen below it, against the β claimed."""
    t = math.sqrt(math.log(1 / beta) / (2 * groups))
    return 2 * math.exp(-2 * groups * t**2), beta


def _signed_average(values: np.ndarray[Any, np.dtype[np.float64]], n: int) -> float:
    """E sup (1/n)Σσᵢf(Uᵢ), U uniform on the columns, by enumeration."""
    atoms = itertools.product(range(values.shape[1]), repeat=n)
    draws = itertools.product(atoms, itertools.product((-1.0, 1.0), repeat=n))
    return float(np.mean([(values[:, list(atom)] @ np.array(sign)).max() / n for atom, sign in draws]))


def _desymmetrise_gap(*, functions: list[list[float]]) -> Gap:
    """(114) at n = 1 for a finite centred class, U uniform on the columns."""
    values = np.array(functions)
    return _signed_average(values, 1), explicit.symmetrised_upper(average=float(values.max(axis=0).mean()))


def _contraction_gap(*, functions: list[list[float]], n: int) -> Gap:
    """(115) with its left side as published, without 1/n."""
    values = np.array(functions)
    right = explicit.contracted_upper(average=_signed_average(values, n))
    return n * _signed_average(np.abs(values), n), right


def _one_pass_quotient(n: int, d: int, epsilon: float, log: float, lower: float) -> float:
    """A claimed lower bound over the risk of clipped means of disjoint batches, p = 2, M = L = 1, ρ by (15) at ln(1/δ) = log."""
    rho = (epsilon / (1 + 2 * math.sqrt(log))) ** 2
    steps = math.ceil((n * math.sqrt(rho) / d) ** (2 / 3))
    clip = math.sqrt(n * math.sqrt(rho / steps))
    return lower / p2.one_pass_excess_risk_upper(n=n, d=d, p=2.0, moment=1.0, diameter=1.0, clip=clip, rho=rho, steps=steps)


def _class_gap(*, low: int, high: int, reach: float) -> Gap:
    """Growth of (6), without its ln(1/δ), over an achieved risk from d = low to high along n = d⁴, nε = d^reach, δ = n⁻², p = 2."""

    def quotient(d: int) -> float:
        n, product = d**4, math.pow(d, reach)
        lower = math.sqrt(d / n) + math.pow(d, 0.75) / math.sqrt(product)
        return _one_pass_quotient(n, d, product / n, 8 * math.log(d), lower)

    return _growth(quotient(low), quotient(high))


def _lower_log_gap(*, few: int, many: int, power: float) -> Gap:
    """Growth of (6) over an achieved risk from n = few to many at ln(1/δ) = n^power, d = ε = 1, p = 2."""

    def quotient(n: int) -> float:
        log = math.pow(n, power)
        return _one_pass_quotient(n, 1, 1.0, log, (1 + log) / math.sqrt(n))

    return _growth(quotient(few), quotient(many))


def _tail_gap(*, low: int, high: int) -> Gap:
    """Growth of the claimed optimum over simple clipping's proved risk from d = low to high, p = 2, ε = 1, n = d⁴, δ = n⁻².

    Every record's loss 1-smooth, M = L = 1; R = √d(n√ρ/d)^{1/2}, T = ρn²/(dR²), η = 1/√T.
    """

    def quotient(d: int) -> float:
        n = d**4
        rho = (1 / (1 + 2 * math.sqrt(8 * math.log(d)))) ** 2
        clip = math.sqrt(n * math.sqrt(rho))
        steps = math.ceil(rho * float(n) ** 2 / (d * clip**2))
        risk = p2.reused_excess_risk_upper(
            n=n,
            d=d,
            p=2.0,
            moment=1.0,
            smoothness=1.0,
            diameter=1.0,
            clip=clip,
            rho=rho,
            step=1 / math.sqrt(steps),
            steps=steps,
        )
        return (math.sqrt(d / n) + math.pow(d, 0.75) / math.sqrt(n)) / risk

    return _growth(quotient(low), quotient(high))


def _group_deviation(*, n: int, clip: float, groups: int, epsilon: float, delta: float) -> float:
    """σ of a group's mean, by (23) and (24)."""
    rho = explicit.group_zcdp(epsilon=epsilon, delta=delta, groups=groups)
    return math.sqrt(2 / rho) * clip * groups / n


def _noise_of_theorem_7(n: int, epsilon: float, delta: float) -> tuple[float, int, int]:
    """(σ of a group's mean, T, k) at Theorem 7's R and T for d = 1, p = 2, with k = 800 ln(1/β), β = n⁻²."""
    steps, groups = math.ceil(n * epsilon), math.ceil(1600 * math.log(n))
    epsilon0 = p2.step_epsilon(epsilon=epsilon, delta=delta, steps=steps)
    clip = math.sqrt(n * epsilon)
    sigma = _group_deviation(n=n, clip=clip, groups=groups, epsilon=epsilon0, delta=delta / (2 * steps))
    return sigma, steps, groups


def _leaving(start: float, mean: float, sigma: float, groups: int) -> float:
    """The chance that nine tenths of the group means N(mean, σ²) are on one side of c₁; otherwise Algorithm 3 returns c₁."""
    needed = math.ceil(0.9 * groups)
    return sum(float(binom.sf(needed - 1, groups, ndtr(sign * (mean - start) / sigma))) for sign in (1, -1))


def _start_gap(*, epsilon: float, delta: float, start: float, few: int, many: int) -> Gap:
    """Growth of the risk for the worse of F = ±w on [−½, ½] over (36) at its own choices from n = few to many, d = 1, p = 2."""

    def quotient(n: int) -> float:
        sigma, steps, groups = _noise_of_theorem_7(n, epsilon, delta)
        leaves = steps * sum(_leaving(start, mean, sigma, groups) for mean in (1.0, -1.0))
        printed = math.sqrt(1 / n) + math.sqrt(1 / (n * epsilon)) * math.log(1 / delta) * math.log(n)
        return 0.5 * (1 - min(1.0, leaves)) / printed

    return _growth(quotient(few), quotient(many))


def _bias_gap(*, epsilon: float, delta: float, start: float, few: int, many: int) -> Gap:
    """Growth of |E g − μ| over (34) from n = few to many at Theorem 7's choices, d = 1, p = 2, records all 1."""

    def quotient(n: int) -> float:
        sigma, _, groups = _noise_of_theorem_7(n, epsilon, delta)
        rare = math.sqrt(_leaving(start, 1.0, sigma, groups) * groups * (sigma**2 + (1 - start) ** 2))
        return max(0.0, abs(1 - start) - rare) / (math.sqrt(1 / n) + 1 / math.sqrt(n * epsilon))

    return _growth(quotient(few), quotient(many))


def _squared_log_gap(*, n: int, d: int, groups: int, mild: float, tiny: float) -> Gap:
    """Growth of σ², the square of the error from a far start, over (35)'s last term from δ₀ = mild to tiny; ε₀ = R = 1."""

    def quotient(delta: float) -> float:
        log = math.log(1 / delta)
        square = _group_deviation(n=n, clip=1.0, groups=groups, epsilon=1.0, delta=delta) ** 2
        return square / (d / n**2 * (log + math.sqrt(log * math.log(d))))

    return _growth(quotient(mild), quotient(tiny))


def _shuffle_range_gap(*, power: float, delta: float, low: float, high: float) -> Gap:
    """Growth of a step's ε₀ over Theorem 6's limit from d = low to high along n = d^power, p = 2, ε = 1, k = 800d ln n.

    Zero if (36) does not fall below 1 there.
    """

    def quotient(d: float) -> tuple[float, float]:
        n = math.pow(d, power)
        steps = math.ceil(n / math.pow(d, 1.5))
        printed = math.sqrt(d / n) + math.pow(d, 0.75) / math.sqrt(n) * math.log(1 / delta) * math.log(n * d)
        limit = 8 * math.e**2 * math.sqrt(math.log(8 * steps / delta) / (800 * d * math.log(n)))
        return p2.step_epsilon(epsilon=1.0, delta=delta, steps=steps) / limit, printed

    (before, _), (after, printed) = quotient(low), quotient(high)
    return (after / before if printed < 1 and after > 1 else 0.0), 1.0


def _reuse_gap(*, smoothness: float, slope: float, step: float, steps: int) -> Gap:
    """Lemma 3 with one record b = ±1 used in every step: l = λw²/2 − Kbw on [−1, 1], start 0, exact gradients.

    E[g(w_t) − ∇F(w_t)] = −K E b = 0 in every step, so B = 0 and G² = K²; F = λw²/2.  By symmetry b = 1 suffices.
    """
    w, total = 0.0, 0.0
    for _ in range(steps):
        total += w
        w = min(1.0, max(-1.0, w - step * (smoothness * w - slope)))
    bound = explicit.excess_risk_upper(
        diameter=2.0, step=step, steps=steps, bias=0.0, smoothness=smoothness, second_moment=slope**2
    )
    return smoothness * (total / steps) ** 2 / 2, bound


def _record_smoothness_gap(*, width: float) -> Gap:
    """l = |w − z|, z uniform on [0, 1]: the jump 2 of one record's gradient between w and w + width, against 2·width, F's."""
    return 2.0, 2 * width


def _delta_log_gap(*, n: float, steps: float, d: float, mild: float, tiny: float) -> Gap:
    """Growth of ln(T/δ) + √(ln(T/δ)ln d) over ln n + ln d as ln(1/δ) goes from mild to tiny."""

    def quotient(log: float) -> float:
        inner = math.log(steps) + log
        return (inner + math.sqrt(inner * math.log(d))) / (math.log(n) + math.log(d))

    return _growth(quotient(mild), quotient(tiny))


def _vanishing_log_gap(*, groups: int, mild: float, near_one: float) -> Gap:
    """Growth of √(k/ρ) by (24) over (21)'s last bracket/ε as δ goes from mild to near_one, lnln(1/β) = ln(k/800)."""

    def quotient(delta: float) -> float:
        log = math.log(1 / delta)
        epsilon = math.sqrt(log / groups)
        derived = math.sqrt(groups / explicit.group_zcdp(epsilon=epsilon, delta=delta, groups=groups))
        return derived * epsilon / (log + math.sqrt(log * math.log(groups / 800)))

    return _growth(quotient(mild), quotient(near_one))


def _missing_log_gap(*, few: float, many: float, power: float) -> Gap:
    """Growth of (69)/(72) from n = few to many at ρ = d^{−power}, p = 2, d = n^{1/4}."""

    def quotient(n: float) -> float:
        d = math.pow(n, 0.25)
        rho = math.pow(d, -power)
        clip = math.sqrt(d) * math.sqrt(n * math.sqrt(rho) / math.sqrt(d))
        sampling = math.sqrt(d * math.log(n) / n)
        full = clip * math.sqrt(d / rho) / n + sampling + clip * d / n * math.log(n) + d / clip
        return full / (sampling + math.sqrt(d) * math.sqrt(math.sqrt(d) / (n * math.sqrt(rho))))

    return _growth(quotient(few), quotient(many))


def _intro_lower_gap(*, p: float, few: float, many: float) -> Gap:
    """Growth of √(d/(εn))^{1−1/p} over (√d/(εn))^{1−1/p} from n = few to many, d = ε = 1."""
    return (many / few) ** ((1 - 1 / p) / 2), 1.0


def _double_log_gap(*, few: float, many: float) -> Gap:
    """Growth of (17)'s second term over (67)'s from n = few to many."""
    return math.log(many) / math.log(few), 1.0


def _projection_gap(*, gradient: float, step: float) -> Gap:
    """w_t = w* = 0 on [0, 1]: ‖w_t − ηg − w*‖² against ‖w_{t+1} − w*‖², published as equal."""
    return (step * gradient) ** 2, min(1.0, max(0.0, -step * gradient)) ** 2


def _covering_gap(*, diameter: float, moment: float, radius: float, low: int, high: int) -> Gap:
    """Growth of (L/(2a))^d, below every covering number of a ball of diameter L, over (M/a)^d from d = low to high."""
    quotient = (diameter / (2 * radius)) / (moment / radius)
    return quotient ** (high - low), 1.0


def _net_gap(*, smoothness: float, diameter: float, radius: float) -> Gap:
    """2λa, what two gradients that move at rate λ cost from net to W, against the published 2La."""
    return 2 * smoothness * radius, 2 * diameter * radius


def _norm_log_gap(*, n: int, d: int, constant: float) -> Gap:
    """ln(2·6^d N_c/β) with N_c = (1/a)^d, a = 1/n, β = n⁻², against constant·d ln n."""
    return math.log(2) + d * math.log(6 * n) + 2 * math.log(n), constant * d * math.log(n)


def _fourth_power_gap(*, error: float) -> Gap:
    """A constant error: its square against the published square of the square."""
    return error**2, error**4


def _centred_moment_gap(*, p: float, low: float, weight: float) -> Gap:
    """d = 1, X = 1, or −low with that weight: E|X − μ|^p against M^p = E|X|^p."""
    mean = 1 - weight - weight * low
    raw = (1 - weight) + weight * low**p
    return (1 - weight) * abs(1 - mean) ** p + weight * abs(low + mean) ** p, raw


def _root_two_gap(*, clip: float) -> Gap:
    """√(2R) over √2·R, less 1."""
    return abs(math.sqrt(2 * clip) / (math.sqrt(2) * clip) - 1), 0.0


def _gaussian_norm_gap(*, d: int) -> Gap:
    """√d against E‖W‖ = √2·Γ((d + 1)/2)/Γ(d/2), published as equal, σ = 1."""
    return math.sqrt(d), math.sqrt(2) * float(poch(d / 2, 0.5))


def _one_direction_gap(*, point: list[float], mean: list[float], radius: float) -> Gap:
    """c = 0, every Q_j = point: d of (27) against r₀ + ‖μ_Y − c‖; zero if (94) fails along (93)."""
    along = sum((q - m) * m for q, m in zip(point, mean, strict=True)) / math.hypot(*mean)
    return (math.hypot(*point) if abs(along) <= radius else 0.0), radius + math.hypot(*mean)


def _at_least_gap(*, points: list[float], centre: float, radius: float) -> Gap:
    """All Q_j at μ_Y on the line: r₀, published as the least error of d, against the error |d − ‖c − μ_Y‖|."""
    distance = max(min((point - centre) * u for point in points) for u in (1, -1))
    return radius, abs(distance - abs(points[0] - centre))


def _root_reach_gap(*, few: float, many: float, delta: float) -> Gap:
    """Growth of √ln(T/δ)·ln d over ln n + ln d from n = few to many, d = √n, T = n^{1/4}."""

    def quotient(n: float) -> float:
        log = math.log(n)
        return math.sqrt(log / 4 + math.log(1 / delta)) * (log / 2) / (log + log / 2)

    return _growth(quotient(few), quotient(many))


def errata() -> tuple[Erratum, ...]:
    """All of them, by place: main text, then appendices."""
    return (
        erratum(
            "P2.Intro.lower",
            "introduction",
            "typo",
            "√d(√(d/εn))^{1−1/p}",
            f"Table I, the abstract and (6) have √d/(εn); with the root over all it would contradict (20) at d = 1.  {LOST}",
            _intro_lower_gap,
            p=2.0,
            few=10.0,
            many=1000000.0,
        ),
        erratum(
            "P2.Sec5.suboptimal",
            "introduction and Section V-A",
            "rate",
            "simple clipping is suboptimal for ε > 1/√d, because of the subexponential tail",
            "True of the bound (20) only, and for p > 2 and n ≥ d^{2(p−1)/(p−2)} up to logarithms not even of it.  With the "
            "λ-smooth records that (65) uses, E sup_W‖g₀ − E g₀‖ ≤ (M + 10λL)√(d/n) by chaining, without R or ln n: only "
            "increments vary with w, and they are at most λ‖w − w'‖.  So the same method, even at the published R, has no third "
            "term and is for all ε ≤ 1 not above the claimed optimum, up to ln(1/δ).",
            _tail_gap,
            low=10**6,
            high=10**24,
        ),
        erratum(
            "P2.Thm1.class",
            "Theorem 1 (6)",
            "rate",
            "under Assumption 1, inf sup R ≳ √(d/n) + √d(√d/(nε))^{1−1/p}·ln(1/δ)",
            "That order belongs to moments along basis vectors, (5); Assumption 1 bounds them along all directions, (4).  "
            "Then the clipping bias is M^p d^{(p−1)/2}R^{1−p} (Hölder along u), and clipped means of disjoint batches have "
            "risk ≤ L(M/√T + M√(d/n) + √2R√(dT)/(n√ρ) + M^p d^{(p−1)/2}R^{1−p}), at p = 2 below (6) for d^{3/2} ≪ nε ≪ "
            "d^{5/2}, even without its ln(1/δ).  As p → ∞, (4) makes gradients bounded by M, where the O(1/√n + √d/(nε)) of "
            "[8] holds.",
            _class_gap,
            low=10**6,
            high=10**24,
            reach=2.0,
        ),
        erratum(
            "P2.Thm1.log",
            "Theorem 1 (6)",
            "rate",
            "the lower bound has the factor ln(1/δ), with no range for δ",
            "Too much by ln(1/δ): at d = ε = 1, p = 2, ln(1/δ) = n^{1/4} clipped means of disjoint batches have a risk of "
            "smaller order; a pure-DP method does not feel δ at all.  (20) has (ln(1/δ))^{(1−1/p)/2}, and the limit p → ∞ "
            "after (6) is written without it.",
            _lower_log_gap,
            few=10**12,
            many=10**48,
            power=0.25,
        ),
        erratum(
            "P2.(9)",
            "Lemma 3 (9), (40) and (61)",
            "typo",
            "B = max_t‖E[g(w_t)] − ∇F(w_t)‖ in (11) and in (61)",
            "With the expectation over everything, (11) fails by any factor when steps reuse data (l = λw²/2 − Kbw, b = ±1: B "
            "= 0, yet w_t → Kb/λ).  Given w_t, (11) holds but (61)'s last step does not.  B = max_t E‖E[g(w_t)|w_t] − "
            "∇F(w_t)‖ serves both, so Theorem 4 stands.",
            _reuse_gap,
            smoothness=1.0,
            slope=1.0,
            step=0.01,
            steps=20000,
        ),
        erratum(
            "P2.Lem3",
            "Lemma 3 (11), through (39)",
            "constant",
            "E F(ŵ) − F(w*) ≤ L²/(2ηT) + LB + η(λ²L² + G²) under Assumption 1",
            "(39) needs ∇F(w*) = 0, which Assumption 1 does not give: with the minimiser on the boundary (11) fails.  "
            "‖∇F‖² ≤ M², from Assumption 1(c), may replace λ²L².",
            _descent_gap,
            slope=1.0,
            smoothness=0.1,
            step=10.0,
        ),
        erratum(
            "P2.Thm3.conversion",
            "proof of Theorem 3",
            "typo",
            "ρ-CDP implies (ρ + 2√ln(1/δ), δ)-DP",
            f"Lemma 1(4) gives ρ + 2√(ρ ln(1/δ)), as (16) then uses.  {LOST}",
            _conversion_gap,
            rho=0.01,
            delta=1e-5,
        ),
        erratum(
            "P2.(17)",
            "(17)",
            "typo",
            "(Rd ln n/n)·ln n",
            "One ln n, as in (67), (18) and (69); the published bound is weaker, hence true.",
            _double_log_gap,
            few=10.0,
            many=1000000.0,
        ),
        erratum(
            "P2.(21).delta",
            "Theorem 5 (21), the remark after it, and Theorem 4 (20)",
            "rate",
            "Theorem 5 for δ ∈ (0, 1), and ε → ∞ or δ → 1 gives the non-private rate",
            "(24) has ln(8/δ) and ln(12k/δ), (15) has 1 + 2√ln(1/δ): as δ → 1 the published terms of (21), (20) vanish and the "
            "noise does not.  ε → ∞ leaves the theorem's range ε ≤ c√(ln(1/δ)/k).  δ ≤ ½ is needed, and the remark does not "
            "follow.",
            _vanishing_log_gap,
            groups=10000,
            mild=0.1,
            near_one=1 - 1e-9,
        ),
        erratum(
            "P2.Lem7.direction",
            "after (27)",
            "typo",
            "g estimates the direction from c to μ_Y, i.e. (c − μ_Y)/‖c − μ_Y‖",
            "The direction from c to μ_Y is (μ_Y − c)/‖μ_Y − c‖, which is what (29) uses.",
            _direction_gap,
            points=[1.0, 1.0],
            centre=0.0,
        ),
        erratum(
            "P2.(28).text",
            "after Lemma 7",
            "typo",
            "the error of distance estimate is at least r₀",
            "At most, by (28).",
            _at_least_gap,
            points=[1.0, 1.0],
            centre=0.0,
            radius=1.0,
        ),
        erratum(
            "P2.Lem9.bias",
            "Lemma 9 (34)",
            "rate",
            "B ≲ √(d/n) + d^{p/2}R^{1−p}",
            "Algorithm 3 is not linear in its noise, so the noise does not average out of its mean: with records all 1 and c₁ "
            "= 0 at Theorem 7's choices g = c₁ and the bias is 1; from a far c₁ it is about 1.28σ.  Theorem 5 bounds B by the "
            "whole error only.",
            _bias_gap,
            epsilon=1.0,
            delta=1e-06,
            start=0.0,
            few=10**6,
            many=10**30,
        ),
        erratum(
            "P2.(35)",
            "Lemma 9 (35), and (103)",
            "rate",
            "G² has R²d/(n²ε₀²)·(ln(1/δ₀) + √(ln(1/δ₀)ln d))",
            "The square of (33) has the bracket squared.  From a start outside the groups' means the error is about 1.28σ, "
            "with σ² of order R²k ln²(1/δ₀)/(n²ε₀²).",
            _squared_log_gap,
            n=1000,
            d=3,
            groups=100,
            mild=0.0001,
            tiny=1e-300,
        ),
        erratum(
            "P2.Thm7.start",
            "Theorem 7 (36)",
            "rate",
            "Algorithm 1 with Algorithm 3 has excess risk (36) at R, T, η as given, if ε ≤ 1",
            "Algorithm 3 returns its start c₁ whenever d₁ < 0, since g_l stays feasible: d_{l+1} ≥ (1 − η)d_l.  At these "
            "choices a group's noise is σ ≥ 32e²√(k/d) for every k, while ‖∇F‖ ≤ M, so with k = 800 ln(1/β) as in Lemma 6 a "
            "c₁ fixed without the data is returned in every step (a far c₁ gives a point biased by about 1.28σ): of the "
            "losses w, −w on [−½, ½] one has risk ≥ ½ for every n.",
            _start_gap,
            epsilon=1.0,
            delta=1e-06,
            start=0.0,
            few=10**6,
            many=10**30,
        ),
        erratum(
            "P2.Thm7.condition",
            "Theorem 7",
            "privacy",
            "ε ≤ 1 is the only condition",
            "Each step's (ε₀, δ₀) must meet Theorem 6's ε₀ ≤ 8e²√(ln(4/δ₀)/k), with k of order d ln n for the union bound: n "
            "≳ d^{(3p−1)/(2(p−1))}ε^{1/(p−1)} up to logs.  For ε > 1/√d that is more than (36) < 1 needs; in between privacy "
            "is unproved.",
            _shuffle_range_gap,
            power=2.0,
            delta=1e-06,
            low=1e16,
            high=1e32,
        ),
        erratum(
            "P2.(37)",
            "Appendix A (37), (40)",
            "typo",
            "‖w_{t+1} − w*‖² = …, E‖w_{t+1} − w*‖² = …, ⟨F(w_t), ·⟩",
            "With the projection of (7) both are ≤, and F is ∇F; the conclusion stands.",
            _projection_gap,
            gradient=1.0,
            step=0.5,
        ),
        erratum(
            "P2.(47)",
            "Appendix B (47)",
            "typo",
            "E⟨u, Y − μ⟩² ≤ E⟨u, X − μ⟩²",
            "False when μ lies outside the clipping ball.  The ends stand: Var⟨u, Y⟩ ≤ E⟨u, Y⟩² ≤ E⟨u, X⟩² ≤ M².",
            _clip_step_gap,
            constant=2.0,
            clip=1.0,
        ),
        erratum(
            "P2.(50)",
            "Appendix B (50)",
            "typo",
            "the infimum is over 0 ≤ λ ≤ 1/(2R)",
            "By (49) the range is 0 ≤ λ ≤ n/(2R); over the published one the infimum exceeds the published result.",
            _chernoff_range_gap,
            n=100,
            clip=1.0,
            moment=1.0,
            t=0.5,
        ),
        erratum(
            "P2.(63)",
            "Appendix C (63)",
            "typo",
            "N_c ≤ C₀(M/a)^d",
            "W has diameter L (M bounds moments): (CL/a)^d, the constant to the power d.  ln N_c ≲ d ln n stands.",
            _covering_gap,
            diameter=4.0,
            moment=1.0,
            radius=0.01,
            low=1,
            high=10,
        ),
        erratum(
            "P2.(65)",
            "Appendix C (65)",
            "rate",
            "from Assumption 1 l is λ-smooth, so g₀ is λ-Lipschitz",
            "Assumption 1(b) makes F smooth, not l: for l = |w − z|, z uniform on [0, 1], F is 2-smooth and one record's "
            "gradient jumps by 2.  Lemma 5 and Theorem 4 need every l(·, z) λ-smooth; without it they are unproved for d ≥ 2, "
            "not known to be false.",
            _record_smoothness_gap,
            width=0.01,
        ),
        erratum(
            "P2.(66)",
            "Appendix C (66)",
            "typo",
            "+ 2La",
            "+ 2λa: g₀ and ∇F are λ-Lipschitz, L is the diameter.",
            _net_gap,
            smoothness=2.0,
            diameter=1.0,
            radius=0.01,
        ),
        erratum(
            "P2.(66).log",
            "Appendix C, after (66)",
            "constant",
            "ln(2·6^d N_c/β) ≤ d ln n",
            f"Only ≲: with a = 1/n, β = n^{{−2}} it is d ln(6n) + 2 ln n + ln 2.  {LOST}",
            _norm_log_gap,
            n=100,
            d=3,
            constant=1.0,
        ),
        erratum(
            "P2.(68)",
            "Appendix C (68)",
            "typo",
            "E‖g₀ − ∇F‖² ≤ E[(sup‖g₀ − ∇F‖²)²]",
            "One square too many; the next line uses E sup‖·‖².",
            _fourth_power_gap,
            error=0.1,
        ),
        erratum(
            "P2.(72)",
            "Appendix D (72)",
            "typo",
            "(69) gives (72) for ρ ≤ 1/d",
            "(69)'s Rd ln n/n is √(ρd)·ln n times the second term: at ρ = 1/d (69) has a factor ln n that (72) lacks.  (73) "
            "has it, in its third term.",
            _missing_log_gap,
            few=10000.0,
            many=1e80,
            power=1.0,
        ),
        erratum(
            "P2.Thm6.condition",
            "Theorem 6 and Appendix E",
            "typo",
            "the shuffling theorem gives (75), (76) for any δ' in (0, 1)",
            "It requires ε₀ ≤ ln(k/(16 ln(2/δ'))), which Theorem 6's own condition does not imply.  No harm here: for "
            "k ≤ 64e⁴ln(8/δ) already ε₀ ≤ ε and δ₀ ≤ δ without shuffling, and beyond that ln(k/(16 ln(4/δ))) > 1 ≥ ε₀.",
            _shuffle_condition_gap,
            groups=100,
            delta=1e-5,
        ),
        erratum(
            "P2.Thm6.randomiser",
            "Theorem 6 and Appendix E",
            "privacy",
            "Q₁, …, Q_k are ρ-CDP, so shuffling them amplifies privacy by the cited theorem",
            "The cited theorem needs randomisers that are private for any two inputs; a noisy group mean is ρ-CDP only for "
            "groups that differ in one record, and m²ρ-CDP otherwise.  So the proof covers groups of one record, and all groups "
            "when k ≤ 64e⁴ln(8/δ), where no amplification is needed.  Beyond that the claim is unproved, not known to be false.",
            _randomiser_gap,
            size=10,
            rho=0.01,
            clip=1.0,
        ),
        erratum(
            "P2.(75)",
            "Appendix E (75)",
            "typo",
            "second term 8e^{ε₀}/√k",
            "The cited theorem has 8e^{ε₀}/k, and so has the third line of (80).  (75) is weaker than the theorem, hence "
            "true, and the end of (80) holds with either.",
            _shuffle_term_gap,
            epsilon0=1.0,
            groups=100,
        ),
        erratum(
            "P2.(77)",
            "Appendix E (77)",
            "typo",
            "… < ln(8/δ)(1 + 2√ln(12k/δ))² < 1",
            f"The middle expression always exceeds 2; its reciprocal is meant, and ρ < 1 stands.  {LOST}",
            _rho_gap,
            delta=0.99,
            groups=1,
        ),
        erratum(
            "P2.(79)",
            "Appendix E (79)",
            "typo",
            "½δ + (e + 1)(1 + ½)kδ₀ = ½δ + 6kδ₀",
            "(e + 1)·3/2 = 5.577…; an inequality, and the conclusion stands.",
            equality_gap,
            left=(math.e + 1) * 1.5,
            right=6.0,
        ),
        erratum(
            "P2.(82)",
            "Appendix F (82)",
            "typo",
            "σ² = 2R²k/(ρn²)",
            f"σ² = 2R²/(ρm²) = 2R²k²/(ρn²), as in (91).  {LOST}",
            _group_variance_gap,
            n=100,
            groups=10,
            clip=1.0,
            rho=1.0,
        ),
        erratum(
            "P2.(83)",
            "Appendix F, before (83)",
            "typo",
            "E‖X − μ‖^p ≤ d^{p/2}M^p by Lemma 11; E‖Ȳ − μ‖² ≤ E‖X̄ − μ‖²",
            "Lemma 11 is for X, not X − μ (false at p = 4); the second fails for μ outside the ball, as (47).  E‖Ȳ − μ_Y‖² ≤ "
            "E‖Y‖²/n ≤ dM²/n gives the end.",
            _centred_moment_gap,
            p=4.0,
            low=1.0,
            weight=0.1,
        ),
        erratum(
            "P2.(84)",
            "Appendix F (84)",
            "typo",
            "√(2R)",
            f"√2·R, as in (91); also in (85), (87), (89), (90).  {LOST}",
            _root_two_gap,
            clip=4.0,
        ),
        erratum(
            "P2.(84).norm",
            "Appendix F (84)",
            "typo",
            "E‖W_j‖ = σ√d",
            "≤ (Jensen); at d = 1 it is √(2/π)σ.  The conclusion stands.",
            _gaussian_norm_gap,
            d=1,
        ),
        erratum(
            "P2.(88)",
            "Appendix F (88)",
            "constant",
            "P(V − E V > t) ≤ 2e^{−2kt²}, and at t = √(ln(1/β)/(2k)) this is at most β",
            "As published it is 2β.  The one-sided bounded difference inequality has no factor 2, and then β is right.",
            _difference_gap,
            beta=0.1,
            groups=10,
        ),
        erratum(
            "P2.(95)",
            "Appendix G (95)",
            "typo",
            "d ≤ r₀ + ‖μ_Y − c‖ from (94)",
            "(94) is along the one direction (93), (27) maximises over all: it does not suffice (c = 0, μ_Y = (1, 0), all Q_j "
            "= (1, 5)).  (26) along the maximiser g does: 0.9k + 0.9k > k points share both inequalities.  (28) stands.",
            _one_direction_gap,
            point=[1.0, 5.0],
            mean=[1.0, 0.0],
            radius=0.0,
        ),
        erratum(
            "P2.Lem8.proof",
            "Appendix G, proof of Lemma 8",
            "constant",
            "some l in {1, …, t_c + 1} has ‖c_l − μ_Y‖ ≤ 4r₀, hence ‖c_{l*} − μ_Y‖ ≤ 6r₀ by (102)",
            "Line 9 compares d₁, …, d_{t_c} only, so the published contraction 233/256 gives 6.19r₀.  The lemma stands: "
            "the squared distance really contracts by 217/256, since ⟨μ_Y − c, g⟩ ≥ d − r₀ gives D² − 7d²/16 + dr₀/2, worst at d = "
            "D − r₀.",
            _last_iterate_gap,
            squared_contraction=233 / 256,
        ),
        erratum(
            "P2.(104)",
            "Appendix H (104), (107)",
            "typo",
            "√ln(T/δ)·ln d",
            f"√(ln(T/δ)ln d), as in (103); as published the last step of (107) would fail for d = √n.  {LOST}",
            _root_reach_gap,
            few=10000000000.0,
            many=1e300,
            delta=0.5,
        ),
        erratum(
            "P2.(107).delta",
            "Appendix H (107) and Theorem 7",
            "rate",
            "ln(T/δ) + √(ln(T/δ)ln d) ≲ ln n + ln d",
            "Drops ln(1/δ); needs δ ≥ n^{−c}, which is not assumed.  Otherwise (36) has ln²(1/δ).",
            _delta_log_gap,
            n=1000000.0,
            steps=10000.0,
            d=10.0,
            mild=10.0,
            tiny=1000000.0,
        ),
        erratum(
            "P2.Lem12.(114)",
            "Lemma 12 (114)",
            "typo",
            "E sup (1/n)Σσᵢf(Uᵢ) ≤ 2E sup (1/n)Σf(Uᵢ) when E f = 0",
            "False for classes that are not symmetric; holds with absolute values inside both suprema, which is how (81)(d) "
            f"uses it.  {LOST}",
            _desymmetrise_gap,
            functions=(1 - 5 * np.eye(5)).tolist(),
        ),
        erratum(
            "P2.Lem13",
            "Lemma 13 (115)",
            "typo",
            "E sup Σσᵢ|f(Uᵢ)| ≤ E sup (1/n)Σσᵢf(Uᵢ)",
            f"1/n is missing on the left; with it the contraction principle applies.  {LOST}",
            _contraction_gap,
            functions=[[0.0], [1.0]],
            n=2,
        ),
    )
