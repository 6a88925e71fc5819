"""[P1] Where a published statement, step or display is wrong, each with a discrepancy that can be recomputed.

Where the paper claims a rate, both numbers of a gap are growths between two settings, so that no hidden constant matters.
"""

from __future__ import annotations

import math

from tailproof.bounds import explicit
from tailproof.bounds.erratum import LOST, Erratum, Gap, erratum
from tailproof.bounds.papers import p1

# Gaps: each returns (measured, allowed by the print).


def _union_gap(*, failures: list[float], claimed_failure: float) -> Gap:
    return sum(failures), claimed_failure


def _aggregate_gap(*, d: int, radius: float, epsilon: float) -> Gap:
    """√(dr)/ε against the √(d·r²)/ε it is set equal to, both sides' order in r."""
    return abs(math.sqrt(d * radius) / epsilon / (math.sqrt(d) * radius / epsilon) - 1), 0.0


def _tilde_epsilon_gap(*, epsilon: float, delta: float) -> Gap:
    """The ε that ½ε̃²-zCDP gives by P1 Lemma 3, with ε̃ as published, against the target ε."""
    tail = math.sqrt(2 * math.log(1 / delta))
    tilde = tail + 2 * epsilon - tail
    return tilde**2 / 2 + tilde * tail, epsilon


def _trim_step_gap(*, data: list[float], trim: int) -> Gap:
    """|Σ over the trimmed records| against m·max|x|, μ = 0."""
    ordered = sorted(data)
    dropped = ordered[:trim] + ordered[len(ordered) - trim :]
    return abs(sum(dropped)), trim * max(abs(x) for x in data)


def _trim_event_gap(*, data: list[float], trim: int, t: float) -> Gap:
    """|Trim| against Lemma 5's bound when only x̄ − μ < t is assumed, μ = 0."""
    kept, largest = sorted(data)[trim : len(data) - trim], max(abs(x) for x in data)
    bound = explicit.trimmed_mean_error_upper(n=len(data), trim=trim, mean_deviation=t, max_deviation=largest)
    return (abs(sum(kept) / len(kept)) if sum(data) / len(data) < t else 0.0), bound


def _soft_sensitivity_gap(*, record: float, replacement: float, scale: float, beta: float) -> Gap:
    """How far one record moves the displayed estimator, n = 1, against its published sensitivity."""
    one, two = (explicit.soft_truncation_record(value=x, scale=scale, beta=beta) for x in (record, replacement))
    return abs(one - two), explicit.soft_truncation_sensitivity_upper(n=1, scale=scale)


def _soft_noise_gap(*, n: int, d: int, steps: int, variance: float, xi: float, strong: float, weak: float) -> Gap:
    """How much ‖noise‖/(14) grows from ε̃ = strong to ε̃ = weak, each scalar released with ½ε̃²/(dT)-zCDP."""
    scale = math.sqrt(n * variance / (2 * math.log(1 / xi)))
    sensitivity = explicit.soft_truncation_sensitivity_upper(n=n, scale=scale)

    def quotient(tilde: float) -> float:
        noise = math.sqrt(d) * sensitivity * math.sqrt(d * steps) / tilde
        return noise / (d * math.sqrt(variance * steps * math.log(n / xi) / (n * tilde)))

    return quotient(weak) / quotient(strong), 1.0


def _constant_trim_gap(*, epsilon: float, records: list[int], trims: list[int]) -> Gap:
    """Growth of the least noise (data all 0, [a, b] = [−1, 1]) over √(log n/n)/ε, the root of (2), between two n with their m."""

    def quotient(n: int, trim: int) -> float:
        noise = p1.constant_trim_noise_lower(trim=trim, epsilon=epsilon, radius=1.0)
        return noise * epsilon / math.sqrt(math.log(n) / n)

    few, many = map(quotient, records, trims)
    return many / few, 1.0


def _trim_budget_gap(*, n: int, d: int, steps: int, strong: float, weak: float) -> Gap:
    """Growth of √(d·(2)) over the last term of (10) from ε̃ = strong to ε̃ = weak, τ = 1."""

    def quotient(tilde: float) -> float:
        noise = math.sqrt(d * (d * steps * math.log(n) / (n * tilde**2)))
        return noise / (d * math.sqrt(steps * math.log(n)) / math.sqrt(n * tilde))

    return quotient(weak) / quotient(strong), 1.0


def _smooth_gradient_gap(*, slopes: list[float], values: list[float], smoothness: float) -> Gap:
    """E|∇f|² against 4βE f at one point, for losses affine on W and equally likely."""
    return sum(x**2 for x in slopes) / len(slopes), 4 * smoothness * sum(values) / len(values)


def _square_gap(*, value: float, probability: float) -> Gap:
    """E X² against (E X)² for X = value with that probability, else 0."""
    return probability * value**2, (probability * value) ** 2


def _root_gap(*, n: int, d: int, tau: float, tilde: float) -> Gap:
    """The last display with everything under one root over τd log n/(α√n·ε̃), α = β = Δ = 1, less 1."""
    printed = math.sqrt(tau * d * math.log(n) / math.sqrt(n * tilde))
    return abs(printed * math.sqrt(n) * tilde / (tau * d * math.log(n)) - 1), 0.0


def _drift_gap(*, start: float, drift: float, steps: int) -> Gap:
    """D_t when (15) adds its last term in each of t steps, against the published D_t, which adds it once."""
    return start + steps * drift, start + drift


def _gradient_square_gap(*, smoothness: float, w: float) -> Gap:
    """L = βw²/2, w* = 0: the published decrease (L − L*)/D² against the |∇L|² that it replaces."""
    return smoothness / 2, (smoothness * w) ** 2


def errata() -> tuple[Erratum, ...]:
    """All of them, by place: main text, then appendix."""
    return (
        erratum(
            "P1.Lem1.probability",
            "proof of Lemma 1",
            "constant",
            "events of probability 9/10 and 5/6 hold together with probability at least 3/4",
            "The union bound gives 11/15.  The lemma stands: strong convexity gives ‖w_D − w*‖ ≤ ‖∇L̂(w*)‖/α without the "
            "factor 2, so Markov is needed at 1/40 only, and 1 − 1/6 − 1/40 > 3/4.",
            _union_gap,
            failures=[1 / 10, 1 / 6],
            claimed_failure=1 / 4,
        ),
        erratum(
            "P1.Thm2.radius",
            "proof of Theorem 2",
            "typo",
            "O(√(dr)/ε) = O(√(dm E‖∇ℓ‖²/(nε²α²)))",
            f"With r = √(40mE‖∇ℓ‖²/(nα²)) the right side is √d·r/ε; the root covers d only.  {LOST}",
            _aggregate_gap,
            d=4,
            radius=0.01,
            epsilon=1.0,
        ),
        erratum(
            "P1.ALem1",
            "Appendix, Lemma 1",
            "constant",
            "f : W → R₊ β-smooth has ‖∇f‖² ≤ 4βf on W",
            "True for f ≥ 0 on all of R^d; f(w) = w on [0, 1] is β-smooth for every β > 0 and fails at 0.  In its use "
            "∇L(w*) = 0 does not help: ℓ = 1 ± w on [−1, 1] with equal chance has E|∇ℓ|² = 1 > 4βL at w* = 0 for β < 1/4.",
            _smooth_gradient_gap,
            slopes=[1.0, -1.0],
            values=[1.0, 1.0],
            smoothness=0.1,
        ),
        erratum(
            "P1.(2)",
            "(2), and m = O(1) after (10)",
            "rate",
            "with m, a, b = O(1): E(S^t Z/s)² ≤ O(τ²dT log n/(nε̃²))",
            "The output is clamped, not the data: on records all 0, m + 1 changes move it from 0 to b, so S^t ≥ e^{−mt} "
            "(a = −1, b = 1) and for every t, σ the noise is at least √2e^{−m²ε²/10}/ε with ε = ε̃/√(dT), whatever n.  m must "
            "grow at least like √(dT log n)/ε̃ (the experiments take 0.05n).",
            _constant_trim_gap,
            epsilon=1.0,
            records=[10**3, 10**9],
            trims=[3, 3],
        ),
        erratum(
            "P1.(10)",
            "(10), (12) and after",
            "typo",
            "τd√(T log n)/√(nε̃)",
            f"√n·ε̃ below: the root of d times (2).  (14)-(17) print √n·√ε̃ outright, see P1.Lem7.budget.  {LOST}",
            _trim_budget_gap,
            n=1000,
            d=5,
            steps=10,
            strong=1.0,
            weak=1e-4,
        ),
        erratum(
            "P1.Thm5.budget",
            "proof of Theorem 5",
            "typo",
            "ε̃ = √(2 log(1/δ)) + 2ε − √(2 log(1/δ))",
            "The first root must cover 2ε as well; as published ε̃ = 2ε, and ½ε̃²-zCDP is then far from (ε, δ).  The Taylor "
            "expansion that follows uses the right form; its order ε/√log(1/δ) needs ε ≤ log(1/δ), beyond which ε̃ is of order √ε.  "
            f"{LOST}",
            _tilde_epsilon_gap,
            epsilon=1.0,
            delta=1e-5,
        ),
        erratum(
            "P1.Thm5.root",
            "proof of Theorem 5, last display",
            "typo",
            "√((β/α)Δτd log n/(α√(nε̃)))",
            "√(β/α)·τd log n/(α√n·ε̃) from the line before at T = (β/α)log n: the root covers β/α only, and Δ belongs to the "
            f"vanishing term.  {LOST}",
            _root_gap,
            n=10**8,
            d=4,
            tau=1.0,
            tilde=0.5,
        ),
        erratum(
            "P1.Thm5.square",
            "proof of Theorem 5, last step",
            "typo",
            "E‖w^T − w*‖² from the bound on E‖w^T − w*‖",
            "The square of a mean does not bound a mean square.  The contraction holds in mean square too (Minkowski), and (2) "
            "is a mean square: same order.",
            _square_gap,
            value=10.0,
            probability=0.01,
        ),
        erratum(
            "P1.Lem5.event",
            "Lemma 5",
            "typo",
            "P{x̄ − μ ≥ t} ≤ 2 exp(…), and under the two events |Trim_m − μ| ≤ (nt + ms)/(n − 2m)",
            "The third part needs |x̄ − μ| ≤ t; without bars already m = 0 refutes it.  The factor 2 suggests that bars were "
            f"meant, and the first part holds with them.  {LOST}",
            _trim_event_gap,
            data=[-2.0],
            trim=0,
            t=0.5,
        ),
        erratum(
            "P1.Lem5.step",
            "proof of Lemma 5, after (3)",
            "typo",
            "|Σ_{i∈T}(xᵢ − μ)| ≤ m max|xᵢ − μ|",
            "T has 2m elements.  The lemma's bound stands, even with n − m in the denominator: if the kept mean c is "
            "positive, the m highest are ≥ c and the m lowest ≥ −s, so c(n − m) ≤ nt + ms.",
            _trim_step_gap,
            data=[1.0, 1.0, 1.0],
            trim=1,
        ),
        erratum(
            "P1.Thm7.estimator",
            "proof of Theorem 7, display of ĝⱼ",
            "privacy",
            "ĝⱼ adds C(|∇ⱼ|/s, |∇ⱼ|/(s√β)) to ∇ⱼ(1 − ∇ⱼ²/(2s²β)) − ∇ⱼ³/(6s²); its sensitivity is 4√2·s/(3n)",
            "s·E φ(a + bZ) has s·C(∇ⱼ/s, |∇ⱼ|/(s√β)), C odd in its first argument.  As displayed a record's part is "
            "unbounded (for negative ∇ⱼ, and for positive ∇ⱼ when s ≠ 1), so no sensitivity is finite.",
            _soft_sensitivity_gap,
            record=-10.0,
            replacement=0.0,
            scale=1.0,
            beta=1.0,
        ).told(
            "The estimator displayed in the proof of Theorem 7 of P1 has no finite sensitivity.",
            "Theorem 7 says that replacing one record moves a coordinate of the estimate by at most 4√2·s/(3n). Here "
            "s is the truncation scale and n the number of records. The displayed formula puts |∇ⱼ| where ∇ⱼ is "
            "needed and leaves out a factor s. Read literally, one record can move the estimate by any amount. With "
            "the corrected formula, the bound holds in every case tried.",
        ),
        erratum(
            "P1.Lem7.budget",
            "Lemma 7 (14), and (15)-(17)",
            "rate",
            "‖g − E∇ℓ‖ ≤ O(βd√(vT log(Δn/δ'))/(√n·√ε̃))",
            "Noise for ½ε̃²/(dT)-zCDP per scalar is of order 1/ε̃, not 1/√ε̃: the published noise is too small without bound as "
            "ε̃ → 0, and χ of (17) becomes Õ(Δd^{2/3}/(nε̃²)^{1/3}).",
            _soft_noise_gap,
            n=1000,
            d=5,
            steps=10,
            variance=1.0,
            xi=0.05,
            strong=1.0,
            weak=1e-4,
        ),
        erratum(
            "P1.Thm8.drift",
            "proof of Theorem 8",
            "typo",
            "D_t = ‖w⁰ − w*‖ + O(χ/β), t = 0, …, T",
            "(15) adds the last term in every step: t times.  With T = βD₀/χ then D_t ≤ 2D₀ up to the constant, as used.  "
            f"{LOST}",
            _drift_gap,
            start=1.0,
            drift=0.1,
            steps=5,
        ),
        erratum(
            "P1.Lem8.square",
            "proof of Lemma 8",
            "typo",
            "… − (1/(4βD²))(L − L*)",
            f"(L − L*)², as the next line uses; false as published for L = w²/2 at w = ½.  {LOST}",
            _gradient_square_gap,
            smoothness=1.0,
            w=0.5,
        ),
    )
