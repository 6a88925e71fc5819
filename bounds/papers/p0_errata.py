"""[P0] Where a published statement, step or display is wrong, each with a discrepancy that can be recomputed.

Where the paper has a hidden constant, a gap either is a growth between two settings or leaves a generous `constant`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from tailproof.bounds import explicit
from tailproof.bounds.erratum import LOST, Erratum, Gap, erratum
from tailproof.bounds.papers import p0
from tailproof.bounds.papers.gaps import equality_gap, gaussian_gap
from tailproof.refimpl.approx_dp.shuffling import LOCAL_LIMIT, shuffled_epsilon
from tailproof.refimpl.claims import gaussian_delta

Point = tuple[float, float]

# Gaps: each returns (measured, allowed by the print).


def _direction(curvature: float) -> Point:
    """The unit vector u for which clipping ∇½(aw₁² + w₂²) costs most: (√a, 1)/√(a + 1)."""
    return math.sqrt(curvature / (curvature + 1)), math.sqrt(1 / (curvature + 1))


def _regularised(point: Point, curvature: float, strength: float, share: float, pull: float, start: Point) -> Point:
    """What Algorithm 2 steps along, C = 1: a share of records ½(aw₁² + w₂²), and linear records with mean gradient pull·u."""
    g = curvature * point[0], point[1]
    u, clipped = _direction(curvature), share * min(1.0, 1 / math.hypot(*g))
    x, y = (clipped * gi + pull * ui + strength * (wi - si) for gi, ui, wi, si in zip(g, u, point, start, strict=True))
    return x, y


def _start(curvature: float, strength: float, share: float, pull: float) -> Point:
    """The w₀ from which (u₁/a, u₂), where the quadratic records' gradient is u, is a fixed point."""
    u, reach = _direction(curvature), (share + pull) / strength
    return u[0] * (1 / curvature + reach), u[1] * (1 + reach)


def _fixed_point(curvature: float, strength: float, share: float, pull: float, start: Point) -> Point:
    """Where Algorithm 2 stands still with gradients beyond the clipping threshold, by Newton's method."""
    u = _direction(curvature)
    x, y = 2 * u[0] / curvature, 2 * u[1]
    for _ in range(60):
        size = math.hypot(curvature * x, y)
        across, turn = (-y / size, curvature * x / size), share / size
        a, b = turn * across[0] ** 2 * curvature + strength, turn * across[0] * across[1]
        c, d = turn * across[0] * across[1] * curvature, turn * across[1] ** 2 + strength
        r, s = _regularised((x, y), curvature, strength, share, pull, start)
        x, y = x - (d * r - b * s) / (a * d - b * c), y - (a * s - c * r) / (a * d - b * c)
    return x, y


def _shift(*, batch: int, curvature: float, strength: float, share: float, balance: float) -> float:
    """How far the fixed point moves when one record of the batch turns from ⟨u, w⟩ to −⟨u, w⟩, in units of 2C/(nλ)."""
    start = _start(curvature, strength, share, balance + 1 / batch)
    ends = [_fixed_point(curvature, strength, share, balance + sign / batch, start) for sign in (1, -1)]
    return math.dist(*ends) * batch * strength / 2


def _balanced_shift(batch: int, curvature: float) -> float:
    """The same for n/2 − 1 records ½(aw₁² + w₂²), as many −⟨u, w⟩ and a zero, at p = 1, η = 1/(an), λ = a/n."""
    share = 0.5 - 1 / batch
    return _shift(batch=batch, curvature=curvature, strength=curvature / batch, share=share, balance=-share)


def _clipped_descent_gap(*, batch: int, curvature: float, delta: float, steps: int) -> Gap:
    """The exact δ at ε = √log(1/δ) of Algorithm 3's output against δ: `_balanced_shift` in the first batch, zero losses later.

    σ₁ = 8C√log(1/δ)/(nλε), and the later phases add (σ₁/n)²/15 at most.  Ten times (1 − ηλ)^T of the shift is taken off for
    the way from the T-th iterate to the fixed point; the tests run the iteration.
    """
    epsilon, strength = math.sqrt(math.log(1 / delta)), curvature / batch
    rest = max(0.0, 1 - 10 * math.exp(steps * math.log1p(-1 / batch**2)))
    moved = _balanced_shift(batch, curvature) * rest * p0.clipped_mean_sensitivity_upper(n=batch, clip=1.0) / strength
    scale = p0.localised_noise_scale(n=batch, clip=1.0, strength=strength, epsilon=epsilon, delta=delta)
    return gaussian_delta(moved / (scale * math.sqrt(1 + 1 / (15 * batch**2))), epsilon), delta


def _conversion_gap(*, epsilon: float, delta: float) -> Gap:
    """The exact δ at ε² of a Gaussian mechanism that is ½ε²-zCDP, against δ."""
    return gaussian_delta(epsilon, epsilon**2), delta


def _range_gap(*, delta: float) -> Gap:
    """The largest ε of Theorem 3 against the largest ε of Theorem 1, which is to give it."""
    return 2 * math.log(1 / delta), math.sqrt(math.log(1 / delta))


def _released_gradients_gap(*, n: int, log_delta: float, range_constant: float, noise_constant: float) -> Gap:
    """A lower bound of ln δ(ε) when all noisy gradients of Algorithm 6 are released, against ln δ; T = n, C = 1.

    Linear losses, every clipped gradient −1 but one that is ±1; E = {some noisy gradient ≥ s}, with the best s of a grid:
    δ(ε) ≥ P(E) − e^εQ(E) ≥ (1 − np₋)(p₊ − p₋) − (e^ε − 1)np₋, p± = P(N(±1, σ²) ≥ s).
    """
    epsilon = range_constant * math.sqrt((math.log(n) + log_delta) / n)
    scale = math.sqrt(noise_constant * log_delta / n) / epsilon
    s = np.linspace(0, scale**2 * (math.log(n) + 10), 20_001)
    above, below = log_ndtr((1 - s) / scale), log_ndtr((-1 - s) / scale)
    rare = n * np.exp(below)
    share = (1 - rare) * -np.expm1(below - above) - math.expm1(epsilon) * n * np.exp(below - above)
    useful = share > 0
    return float(np.max(above[useful] + np.log(share[useful]), initial=-math.inf)), -log_delta


def _local_epsilon_gap(*, few: float, many: float, power: float, constant: float) -> Gap:
    """Growth of ε₀ at the largest ε, √(log(n/δ)/n), from n = few to many, δ = n^{−power}/2 and δ₀ = δ/n, against a constant."""
    sizes = [math.sqrt(1 + math.log(n) / math.log(2 * math.pow(n, power))) for n in (few, many)]
    return sizes[1] / sizes[0], constant


def _bounded_problem(n: int, epsilon: float, delta: float) -> dict[str, float]:
    """f = wx, x ≡ 1 on [−½, ½]: D = L = 1, k = 2, p = 1, η as in Algorithm 4 and the proof; σ₁, the λᵢ, Theorem 1's bound."""
    R, logs = math.sqrt(1 - 1 / n), math.sqrt(math.log(1 / delta) * math.log(n))
    private = math.sqrt(logs / (epsilon * n))
    eta = min(1.0, 1 / (R * n * private), 1 / math.log(n)) / math.sqrt(n)  # β = 1/n
    first = 1 / (eta / 4 * (n / 2) ** 2)  # λ₁ = 1/(η₁n₁^{2p})
    clip = math.sqrt(epsilon * (n / 2) / logs)
    sigma = p0.localised_noise_scale(n=n // 2, clip=clip, strength=first, epsilon=epsilon, delta=delta)
    bound = R * (1 / math.sqrt(n) + private) + math.sqrt(math.log(n)) / (4 * math.sqrt(n))
    return {"eta": eta, "clip": clip, "sigma": sigma, "second": 64 / (eta * n), "bound": bound}


def _empty_set_gap(*, n: int, epsilon: float, delta: float) -> Gap:
    """A lower bound P(|ξ₁| > D + D₂) for the chance that W₂ = {w in W: |w − w₁| ≤ D₂} is empty, against β = 1/n."""
    problem = _bounded_problem(n, epsilon, delta)
    return math.erfc((1 + 2 / problem["second"]) / problem["sigma"] / math.sqrt(2)), 1 / n


def _left_out_noise_gap(*, n: int, epsilon: float, delta: float, constant: float) -> Gap:
    """λ₂E‖ξ₁‖², a part of λ₂‖w₁ − ŵ₁‖² that the proof leaves out, against constant times the bound."""
    problem = _bounded_problem(n, epsilon, delta)
    return problem["second"] * problem["sigma"] ** 2, constant * problem["bound"]


def _step_size_gap(*, n: int, p: float, constant: float) -> Gap:
    """The last term L²ηn^{p−1/2}√log(1/β)·log n/2^{p+1} at Algorithm 4's η, against constant times the bound.

    D = R̃ = d = ε = 1, β = 1/n, k = 2, log(1/δ)log n taken as 1, L_f as large as Theorem 1 allows.
    """
    private, log = 1 / math.sqrt(n), math.log(n)
    rate = 1 / math.sqrt(n) + private
    L = math.pow(n, p / 2) * rate
    entries = (1 / L, 1 / (math.pow(n, (p + 1) / 2) * private), 1 / (math.pow(n, (p - 1) / 2) * L**2 * log))
    eta = math.pow(n, -p / 2) * min(entries)
    term = L**2 * eta * math.pow(n, p - 0.5) * math.sqrt(log) * log / math.pow(2, p + 1)
    return term, constant * (rate + math.sqrt(log / n) / math.pow(2, p + 1))


def _distance_step_gap(*, n: int, p: float, i: int, constant: float) -> Gap:
    """(6): (η_i/λ_i)L², i ≥ 2, against constant times its published bound; η = L = r̃ = d = ε = 1, k = 2, logs 1."""
    size = n / 2**i
    printed = n / 64.0**i * (1 + n / size / 4.0**i)  # r̃^{(2k)}/C^{2k−2} = r̃²/n_i
    return math.pow(size, p) / 16.0**i, constant * printed


def _radius_gap(*, log2_n: int, theta: float, theta_bar: float, constant: float) -> Gap:
    """R_{l−1}a(n_l) for steps made for R_{l−1} = 2^{1−l}R₀, against constant·a(n)^{θ/(θ−1)}; λ = R₀ = R̃ = 1, no privacy."""
    phases = math.floor(math.log(2) / math.log(theta_bar) * math.log2(log2_n))
    log_size = log2_n + phases - 1 - math.log2(log2_n) / math.log2(theta_bar)
    return math.pow(2, 1 - phases - log_size / 2), constant * math.pow(2, -log2_n / 2 * theta / (theta - 1))


def _partition_gap(*, log2_n: int, theta_bar: float) -> Gap:
    """Σnᵢ/n with the published exponent (log_θ̄ 2)², base-2 logarithms, against 1."""
    order = math.log(2) / math.log(theta_bar)
    sizes = (2.0 ** (i - 1) / math.pow(log2_n, order**2) for i in range(1, math.floor(order * math.log2(log2_n)) + 1))
    return sum(math.floor(2.0**log2_n * size) for size in sizes) / 2.0**log2_n, 1.0


def _squared_bias_gap(*, norm: float, clip: float, k: float) -> Gap:
    """Theorem 8's 20B̂² against the published last term with r̂² read as G⁴, the larger reading; all norms G, λ = 1."""
    bias = p0.clipping_bias_upper(k=k, moment=math.pow(norm, k), clip=clip)
    return 20 * bias**2, 20 * norm**4 / ((k - 1) * math.pow(clip, k - 1))


def _moment_power_gap(*, moment: float) -> Gap:
    """R̃² over the published R̃, less 1."""
    return abs(moment**2 / moment - 1), 0.0


def _delta_log_gap(*, log_delta: float, n: int, constant: float) -> Gap:
    """Theorem 10's rate over a(n), which lacks log(1/δ), against a constant; d = ε = R̃ = p = 1, k = 2, β = 1/n."""
    tail = math.sqrt(math.log(n) / n) / 4
    rates = [1 / math.sqrt(n) + math.sqrt(math.sqrt(factor * math.log(n)) / n) + tail for factor in (log_delta, 1.0)]
    return rates[0] / rates[1], constant


def _dropped_factor_gap(*, n: int, factor: bool) -> Gap:
    """The fourth expression for μ_m, with the third's factor 1/(log n₀√log(1/β)) or without, against the third.

    In units of 5R̃R₀^{1−θ}√(2n/log₂n); no privacy term, β = 1/n, p = R̃ = 1.
    """
    m = math.floor(0.5 * math.log2(2 * n / math.log2(n))) - 1
    size, root = n // m, math.sqrt(math.log(n))
    divisor = math.log(size) * root
    fourth = math.sqrt((math.log2(2 * n) - math.log2(math.log2(n)) - 4) / (2 * n))
    return (fourth / divisor if factor else fourth), (1 + root / 4) / math.sqrt(size) / divisor


def _growth_order_gap(*, theta: float, other: float, w: float) -> Gap:
    """F = |w|^θ: λ|w|^{θ'} against F, λ = 1."""
    return math.pow(w, other), math.pow(w, theta)


def _beyond_theorem_1(*, epsilon: float, records: int) -> Gap:
    """The ε of an experiment at δ = n^{−1.1}, and the largest that Theorem 1 allows."""
    return epsilon, math.sqrt(1.1 * math.log(records))


def _beyond_shuffling(*, epsilon: float, records: int) -> Gap:
    """The least ε of the experiments, and the largest that shuffling allows (δ̂ = δ/2)."""
    return epsilon, shuffled_epsilon(LOCAL_LIMIT, n=records, slack=records**-1.1 / 2)


def _strong_convexity_gap(*, strength: float, w: float) -> Gap:
    """F = λw²/2: what (2, λ)-TNC demands, λw², against F."""
    return strength * w**2, strength * w**2 / 2


def _rounds_gap(*, n: int, smoothness: float) -> Gap:
    """Theorem 6's T against n, the records that its batches share; D = r̃ = d = ε = log(1/δ) = 1, k = 2."""
    return math.sqrt(smoothness) * math.pow(n, 0.25), float(n)


def _first_weight_gap(*, shift: int) -> Gap:
    """Algorithm 7's α₁ = 2/(1 + shift) against the α₁ = 1 that Algorithm 6 requires."""
    return abs(2 / (1 + shift) - 1), 0.0


def _clipped_mean_gap(*, clip: float, k: float) -> Gap:
    """Lemma 7's middle term E|ν̂ − ν| for one record z = ±1, against r^{(k)}/((k−1)C^{k−1})."""
    return min(1.0, clip), p0.clipping_bias_upper(k=k, moment=1.0, clip=clip)


def _p_dependence_gap(*, p: float, other: float) -> Gap:
    """1/2^{p+1} at two values of p, said not to matter."""
    return abs(math.pow(2, other - p) - 1), 0.0


def _most_frequent_upper(draws: float, cells: float) -> float:
    """E max of the counts when `draws` records fall into `cells` cells: min over s of (ln N + (m/N)(e^s − 1))/s."""
    return min((math.log(cells) + draws / cells * math.expm1(s / 10)) / (s / 10) for s in range(1, 120))


def _moment_order_gap(*, log2_n: int, k: float, constant: float) -> Gap:
    """r̃_k = 1 against constant times an upper bound of R̃_{2k,n}; x uniform on n unit vectors, f(w, e_j) = h(w_j), ‖w‖₁ ≤ 1.

    h' = 0 below 3/4 and h'(1) = 1: at most one coordinate matters, so ẽ_m^{(2k)} ≤ E max_j(records at e_j)/m.
    """
    sizes = [(2.0**-i, 2.0 ** (log2_n - i)) for i in range(1, log2_n + 1)]
    squares = (weight * math.pow(min(1.0, _most_frequent_upper(m, 2.0**log2_n) / m), 1 / k) for weight, m in sizes)
    return 1.0, constant * math.sqrt(sum(squares))


def _example_moment_gap(*, d: int, constant: float) -> Gap:
    """ℓ₄ regression at w = 0, |y| = 1, x standard Gaussian: (E‖∇f‖²)^{1/2} = 4√d against O(1)."""
    return 4 * math.sqrt(d), constant


def _lower_moment_gap(*, mass: float, k: float) -> Gap:
    """E sup‖∇f‖^k of Theorem 4's instance over r̃^{(k)}: x ≠ 0 gives 1, x = 0 gives (1 − p)(p^{−1/k}/2)^k; against 1."""
    return 1 + (1 - mass) / (mass * math.pow(2, k)), 1.0


def _growth_constant_gap(*, theta: float, w: float, mean: float, constant: float) -> Gap:
    """F = −μw + |w|^θ/θ on the line: constant·|w − w*|^θ against F(w) − F(w*)."""
    best = math.pow(mean, 1 / (theta - 1))
    value, least = (-mean * x + math.pow(abs(x), theta) / theta for x in (w, best))
    return constant * math.pow(abs(w - best), theta), value - least


def _private_fano_gap(*, d: int, n: int, rho: float, multiple: float) -> Gap:
    """The share that Lemma 5 takes off at γ = multiple·√d/(n√ρ) for M = 2^d, the largest packing of {±1}^d, against 1."""
    gamma, log = multiple * math.sqrt(d) / (n * math.sqrt(rho)), d * math.log(2)
    return 1 - 2 * p0.zcdp_fano_lower(separation=1.0, log_packing=log, n=n, divergence=1e9, distance=gamma, rho=rho), 1.0


def _fano_constant_gap(*, points: int, theta: float) -> Gap:
    """Lemma 5 for points at distance 1 from each other with equal laws and Φ(t) = t^θ, against the risk of their centre."""
    log = math.log(points)
    bound = p0.zcdp_fano_lower(separation=1.0, log_packing=log, n=1, divergence=0.0, distance=0.0, rho=1.0)
    return bound, math.pow((points - 1) / (2 * points), theta / 2)


def _divergence(d: int, bias: float) -> float:
    """KL of two of Theorem 5's laws that differ in d/8 signs, the fewest its packing has."""
    return math.ceil(d / 8) * bias * math.log((1 + bias) / (1 - bias))


def _divergence_gap(*, d: int, bias: float) -> Gap:
    """The divergence against the published δ²."""
    return _divergence(d, bias), bias**2


def _fano_bias_gap(*, d: int, n: int, bias: float) -> Gap:
    """n·KL/log M for M = 2^d, which Fano's lemma needs below 1."""
    return n * _divergence(d, bias) / (d * math.log(2)), 1.0


def _probability_gap(*, d: int, multiple: float) -> Gap:
    """Theorem 4's p = d/(n√ρ) at n = multiple·√d/√ρ against 1."""
    return math.sqrt(d) / multiple, 1.0


def _rate(n: float, tau: float, k: float, theta: float) -> float:
    """(1/√n + τ^{(k−1)/k})^{θ/(θ−1)}."""
    return math.pow(1 / math.sqrt(n) + math.pow(tau, 1 - 1 / k), theta / (theta - 1))


def _abstract_lower_gap(*, n: float, tau: float, k: float, theta: float, constant: float) -> Gap:
    """((1/√n + τ)^{(k−1)/k})^{θ/(θ−1)} against constant times what is attained, r̃ = 1."""
    printed = math.pow(1 / math.sqrt(n) + tau, (1 - 1 / k) * theta / (theta - 1))
    return printed, constant * _rate(n, tau, k, theta)


def _remark_rate_gap(*, n: float, tau: float, k: float, theta: float, constant: float) -> Gap:
    """Remark 3's optimal rate for O(1)-Lipschitz losses against constant times Table 1's (1/√n + τ)^{θ/(θ−1)}."""
    return _rate(n, tau, k, theta), constant * math.pow(1 / math.sqrt(n) + tau, theta / (theta - 1))


def _section_rate_gap(*, n: float, d: float, k: float, constant: float) -> Gap:
    """max{1/√n, (d/n)^{(k−1)/k}} against constant times Theorem 1's rate; ε = log(1/δ) = 1."""
    tau = math.sqrt(d) / n
    return max(1 / math.sqrt(n), math.pow(d / n, 1 - 1 / k)), constant * (1 / math.sqrt(n) + math.pow(tau, 1 - 1 / k))


def _strongly_convex_row_gap(*, n: float, d: float, constant: float) -> Gap:
    """The row's lower bound 1/√n + d/n² against constant times its upper bound 1/n + d/n², ε = 1."""
    return 1 / math.sqrt(n) + d / n**2, constant * (1 / n + d / n**2)


def _heavy_tailed_row_gap(*, n: float, k: float, constant: float) -> Gap:
    """A lower bound with √(ρn) below √d against constant times the row's upper bound; d = ρ = ε = 1."""
    root = 1 / math.sqrt(n)
    return root + math.pow(root, 1 - 1 / k), constant * (root + math.pow(1 / n, 1 - 1 / k))


def _star_gap(*, n: float, delta: float, power: float) -> Gap:
    """The range √(log(n/δ)/n) of Theorems 6 and 7 against the table's, 1/n times a power of log(n/δ)."""
    log = math.log(n / delta)
    return math.sqrt(log / n), math.pow(log, power) / n


def _half_the_records_gap(*, n: float, epsilon: float, k: float, theta: float, constant: float) -> Gap:
    """The row's lower bound at d = 1 against constant times the non-private rate at n/2 records; r̃ = 1.

    To keep each record with probability ½ and to minimise without noise is (0, ½)-private: with probability ½ the record that
    differs is dropped, and the outputs are the same."""
    return _rate(n, 1 / (epsilon * n), k, theta), constant * math.pow(2 / n, theta / (2 * (theta - 1)))


def _private_example_gap(*, n: float, d: float, epsilon: float, k: float, constant: float) -> Gap:
    """Theorem 2's rate at θ = 2 and R̃ = λ = 1 against constant times the non-private 1/n."""
    return _rate(n, math.sqrt(d) / (epsilon * n), k, 2.0), constant / n


def errata() -> tuple[Erratum, ...]:
    """All of them, by place: main text, then proofs."""
    return (
        erratum(
            "P0.Abs.lower",
            "abstract and introduction, item 3",
            "rate",
            "the lower bound Ω((r̃_k(1/√n + √d/(n√ρ))^{(k−1)/k})^{θ/(θ−1)})",
            "The power (k−1)/k belongs to the private term alone, as in Theorems 4 and 5.  As published it is false for large "
            "ρ: the non-private rate (r̃_k/√n)^{θ/(θ−1)} is then attained, since W is bounded.  The upper bounds stated with "
            "the same bracket are weaker than the theorems, hence true.",
            _abstract_lower_gap,
            n=1000000000000.0,
            tau=1e-12,
            k=2.0,
            theta=2.0,
            constant=1000.0,
        ),
        erratum(
            "P0.Table1.star",
            "Table 1, ★",
            "typo",
            "★ holds when ε = Õ(1/n)",
            f"Theorems 6 and 7 have O(√(log(n/δ)/n)); at ε = Õ(1/n) the row's bound is trivial.  {LOST}",
            _star_gap,
            n=1000000000.0,
            delta=1e-09,
            power=2.0,
        ),
        erratum(
            "P0.Table1.Bassily",
            "Table 1, row 2",
            "typo",
            "lower bound Ω(1/√n + d/(n²ε²)) beside the upper bound O(1/n + d/(n²ε²))",
            f"The lower bound exceeds the upper one; 1/n is meant.  {LOST}",
            _strongly_convex_row_gap,
            n=1000000000000.0,
            d=1.0,
            constant=1000.0,
        ),
        erratum(
            "P0.Table1.Lowy",
            "Table 1, rows 6-8",
            "typo",
            "√d/√(ρn) in three lower bounds",
            f"√d/(√ρ·n), as in Theorem 4; under one root the lower bounds exceed the rows' upper bounds.  {LOST}",
            _heavy_tailed_row_gap,
            n=1e16,
            k=2.0,
            constant=1000.0,
        ),
        erratum(
            "P0.Table1.dagger",
            "Table 1, rows 9 and 10",
            "typo",
            "lower bounds with √d/(εn) for (ε, δ)-DP, without the † of the rows for ρ-zCDP",
            "Theorems 4 and 5 are for ρ-zCDP, √d/(√ρ·n); nothing is proved for (ε, δ)-DP, and with no limit for δ it is false: to "
            f"keep each record with probability ½ is (0, ½)-private and has the non-private rate.  {LOST}",
            _half_the_records_gap,
            n=1e12,
            epsilon=1e-9,
            k=2.0,
            theta=2.0,
            constant=1000.0,
        ),
        erratum(
            "P0.Def3",
            "Definition 3",
            "privacy",
            "N(0, 16Δ²log(1/δ)/ε²) is (ε, δ)-private for 0 < ε, δ ≤ 1",
            "The noise vanishes as δ → 1 faster than 1 − δ allows: false at ε = 1, δ = 0.999.  No failure on a fine grid of "
            "δ ≤ 0.99.",
            gaussian_gap(explicit.p0_gaussian_scale),
            epsilon=1.0,
            delta=0.999,
        ).told(
            "The Gaussian mechanism in Definition 3 of P0 fails when δ is close to 1.",
            "The published noise scale shrinks to zero as δ approaches 1, faster than (ε, δ)-DP allows. It fails at ε"
            " = 1 and δ = 0.999. A fine grid of δ ≤ 0.99 shows no failure.",
        ),
        erratum(
            "P0.TNC.order",
            "after Definition 8",
            "constant",
            "(θ, λ)-TNC implies (θ', λ)-TNC for every θ' > θ",
            "Only where ‖w − w*‖ ≤ 1, which is not assumed; otherwise with λD^{θ−θ'} for λ.",
            _growth_order_gap,
            theta=2.0,
            other=4.0,
            w=2.0,
        ),
        erratum(
            "P0.Sec4.rate",
            "Section 4, overview",
            "typo",
            "Algorithm 3 achieves Õ(max{1/√n, (d log(1/δ)/(εn))^{(k−1)/k}})",
            f"Weaker than Theorem 1, which has √(d log(1/δ)), hence true.  {LOST}",
            _section_rate_gap,
            n=1000000000000.0,
            d=10000000000.0,
            k=2.0,
            constant=100.0,
        ),
        erratum(
            "P0.Alg2.stability",
            "Theorem 1 (privacy), Algorithm 3, Remark 2",
            "privacy",
            "Algorithm 3 is (ε, δ)-DP for 0 < ε ≤ √log(1/δ), η_i ≤ 1/α, with noise for an ℓ₂-sensitivity 2C_i/(n_iλ_i) of "
            "Algorithm 2 (“the stability now only depends on the clipping threshold”)",
            "False for d ≥ 2: Π_C∘∇f need not be the gradient of a convex function, and the sensitivity can exceed 2C/(nλ) by "
            "(a + 1)/(2√a), a the condition number of one record's loss, hence by any factor.  With n₁ = 512, a = 100, p = 1, "
            "T = 14n₁², δ = 1e-5, ε = √log(1/δ) and 3-Lipschitz losses that meet the condition on L_f too, the output has "
            "δ(ε) = 1.2e-4 (T = 2n₁² is too few at this n₁); at the fixed point for n₁ = 2¹⁶, a = 1000 it is 0.78, so no "
            "constant in σ_i helps.  64 records of quadratics in the plane, n₁ = 32, have δ(ε) = 8.7e-4 at the same ε and δ: "
            "the witness that is shipped for P0.A3.  With quadratic losses it fails also if batches are drawn at random.  The "
            "published proof "
            "calls Algorithm 2's update zCDP though it adds no noise.  The claim stands for d = 1 and for losses ℓ(⟨w, x⟩).  "
            "The privacy proofs of Theorems 2, 3 rest on it.",
            _clipped_descent_gap,
            batch=512,
            curvature=100.0,
            delta=1e-05,
            steps=14 * 512**2,
        ).told(
            "Clipping does not limit how far one record can move Algorithm 2 of P0, so Algorithms 3, 4 and 5 exceed "
            "their privacy claims.",
            "P0 adds noise as if replacing one record could move the output of Algorithm 2 by at most 2C/(nλ). Here C"
            " is the clipping threshold, n the number of records and λ the weight of the regulariser. The proof "
            "treats a clipped gradient as the gradient of a convex function. In two or more dimensions it need not be"
            " one, and one record can then move the output further, by any factor. The counterexample uses 64 "
            "quadratic losses in the plane. The claim holds in one dimension and for losses of the form ℓ(⟨w, x⟩).",
        ),
        erratum(
            "P0.Alg3.phase1",
            "Theorem 1 (utility), Algorithm 3",
            "rate",
            "Theorem 1's bound with probability at least 1 − β, η as in its proof",
            "d = 1, f = wx, x ≡ 1 on [−½, ½], ε = 1, δ = 1e-6, n = 2²⁰, p = 1: σ₁ = 194·D, so that W₂ is empty with "
            "probability ≥ 0.9958; and if w₁ is projected to W, the later phases can move by 0.0096·D in all, so F(w_l) − F* "
            "≥ 0.99·D with probability ≥ 0.49, for larger n as well.  The cause is λ₁'s exponent 2p.  Theorem 1 does not fix "
            "η itself; Algorithms 4, 5 and the proof do.",
            _empty_set_gap,
            n=2**20,
            epsilon=1.0,
            delta=1e-06,
        ),
        erratum(
            "P0.Sec4.p",
            "Section 4, after Theorem 2",
            "typo",
            "no dependence on p in the final bound in Theorem 1 and 2",
            "The bounds have 2^{p+1} in a denominator.  Harmless: 1/2^{p+1} ≤ 1/4 can be dropped.",
            _p_dependence_gap,
            p=1.0,
            other=2.0,
        ),
        erratum(
            "P0.Rem3.rate",
            "Remark 3",
            "rate",
            "the optimal rate for O(1)-Lipschitz losses is Θ((1/√n + (√d/(εn))^{(k−1)/k})^{θ/(θ−1)})",
            "That result has no k: (1/√n + √d/(εn))^{θ/(θ−1)}, as in Table 1, row 5.  Θ is claimed, so the larger rate is "
            "false.",
            _remark_rate_gap,
            n=1000000000000.0,
            tau=1e-05,
            k=2.0,
            theta=2.0,
            constant=1000.0,
        ),
        erratum(
            "P0.Ex1.moment",
            "example after Theorem 2",
            "rate",
            "the 2k-th moment of the gradient is O(1)",
            "In n for fixed d only: (E‖∇f‖²)^{1/2} ≥ 4√d at w = 0, |y| = 1, in a paper whose bounds track d.",
            _example_moment_gap,
            d=10**6,
            constant=1000.0,
        ),
        erratum(
            "P0.Ex2.improve",
            "Section 4, second example",
            "rate",
            "regularised logistic regression with ‖x‖ ≤ R: an improvement on the earlier rate for TNC, which is not private",
            "At θ = 2 that rate is 1/n, and Theorem 2 adds a private term to it: no improvement where the loss is O(1)-Lipschitz.  "
            "For sub-Gaussian x the earlier rate needs a Lipschitz constant that does not exist, and there is nothing to compare.",
            _private_example_gap,
            n=1e12,
            d=1e6,
            epsilon=1e-3,
            k=2.0,
            constant=1000.0,
        ),
        erratum(
            "P0.Alg5.sizes",
            "Algorithms 5 and 7",
            "typo",
            "n_i = 2^{i−1}n/(log n)^{(log_θ̄ 2)²}",
            "The proof of Theorem 3 has the exponent log_θ̄ 2.  With the square the parts can hold more than n records: 1.5n "
            f"at θ̄ = 4, n = 2¹⁶ with base-2 logarithms (with natural ones at larger n).  {LOST}",
            _partition_gap,
            log2_n=16,
            theta_bar=4.0,
        ),
        erratum(
            "P0.Alg5.radius",
            "proof of Theorem 3 (11), Algorithm 5",
            "rate",
            "Δ_i ≤ cR̃D_{i−1}(…) + cD_{i−1}(…) by Theorem 1, D_{i−1} = ‖w_{i−1} − w*‖",
            "(11)'s first inequality does not follow from Theorem 1: the steps are made for R_{i−1} = 2^{1−i}R₀, not for "
            "D_{i−1}.  Unproved, not known to be false.",
            _radius_gap,
            log2_n=64,
            theta=2.0,
            theta_bar=1.5,
            constant=1000.0,
        ),
        erratum(
            "P0.Thm3.range",
            "Theorem 3",
            "typo",
            "(ε, δ)-DP for ε ≤ 2 log(1/δ), by Theorem 1",
            "Not covered by the theorem it is said to follow from, whose range is ε ≤ √log(1/δ) (less for log(1/δ) > 1/4).  "
            "Not false where the sensitivity is 2C/(nλ).",
            _range_gap,
            delta=1e-05,
        ),
        erratum(
            "P0.Thm4.p",
            "Theorem 4",
            "typo",
            "p = d/(n√ρ) for n ≥ √d/√ρ",
            f"The proof has √d/(n√ρ); as published p may exceed 1.  {LOST}",
            _probability_gap,
            d=10**4,
            multiple=10.0,
        ),
        erratum(
            "P0.Alg6.variance",
            "Algorithm 6, Theorem 6",
            "privacy",
            "σ² = O(C²T log(1/δ)/(n²ε²)) (Algorithm 6), (ε, δ)-DP and a rate without logarithms (Theorem 6)",
            "The proof needs σ₁²T/n = O(C²T log(1/δ)log(e^εn/δ)/(n²ε²)): the displayed variance is smaller by log(n/δ), and "
            "with the proof's noise (C as published) the second term of the rate gains √log(n/δ).  If all noisy gradients are "
            "released, as the proof has it, the displayed noise fails for δ ≤ e^{−A log²n}; for δ = n^{−c} it is unproved, "
            "not refuted.",
            _released_gradients_gap,
            n=10**6,
            log_delta=200.0,
            range_constant=1.0,
            noise_constant=16.0,
        ),
        erratum(
            "P0.Thm6.range",
            "Theorems 6 and 7",
            "privacy",
            "ε = O(√(log(n/δ)/n)), 0 < δ < 1, ensures ε₀ ≤ ½",
            "Only if log(n/δ) = O(log(1/δ)), e.g. δ ≤ n^{−c}; for the stated 0 < δ < 1 the range must read O(√(log(1/δ)/n)).  "
            "Privacy beyond is unproved, not known to be false.",
            _local_epsilon_gap,
            few=1000.0,
            many=1e30,
            power=0.0,
            constant=2.0,
        ),
        erratum(
            "P0.Thm6.T",
            "Theorem 6",
            "constant",
            "T = min{√(βD/r̃_k)(εn/√(d log(1/δ)))^{(k−1)/(2k)}, √(βD/r̃_k)n^{1/4}}",
            "Needs T ≤ n, i.e. at most βD/r̃_k ≤ n^{3/2}; not stated.  Void for fixed β, D, r̃_k and large n.",
            _rounds_gap,
            n=1000,
            smoothness=1000000000.0,
        ),
        erratum(
            "P0.Alg7.alpha",
            "Algorithm 7",
            "typo",
            "α_t = 2/(t + 2)",
            f"α₁ = 2/3, but Algorithm 6 requires α₁ = 1, which 2/(t + 1) gives.  {LOST}",
            _first_weight_gap,
            shift=2,
        ),
        erratum(
            "P0.Sec6.improve",
            "Section 6, and after Theorem 7",
            "rate",
            "Theorems 6, 7 improve the dependency from R̃_{2k,n} to r̃_k",
            "R̃_{2k,n} can be below r̃_k (by n^{−1/(2k)} up to logarithms), so it is no improvement in general; what is "
            "improved is r̃_{2k}.",
            _moment_order_gap,
            log2_n=16,
            k=2.0,
            constant=2.0,
        ),
        erratum(
            "P0.Sec7.loss",
            "Section 7",
            "typo",
            "“ℓ₄-norm regression”: E(⟨w, x⟩ − y)²",
            f"The fourth power; the square is the ℓ₂ problem.  {LOST}",
            equality_gap,
            left=4.0,
            right=16.0,
        ),
        erratum(
            "P0.Sec7.TNC",
            "Section 7",
            "constant",
            "λ-strong convexity gives (2, λ)-TNC",
            "(2, λ/2), as after Definition 8; at x = 0 the loss is λ‖w‖²/2 and a constant.",
            _strong_convexity_gap,
            strength=1.0,
            w=1.0,
        ),
        erratum(
            "P0.Sec7.range",
            "Section 7",
            "privacy",
            "(ε, δ)-DP runs of LNC-GM at ε = 8 (n up to 3.5·10⁴) and up to 5 (n = 10⁴), δ = n^{−1.1}",
            "Theorem 1 is for ε ≤ √log(1/δ), which is 3.4 and 3.2 there; beyond it the claim is unproved, not known to be false "
            "(for losses of a linear model).",
            _beyond_theorem_1,
            epsilon=8.0,
            records=35_000,
        ),
        erratum(
            "P0.Sec7.shuffling",
            "Section 7",
            "privacy",
            "(ε, δ)-DP runs of PNCA-SGD at n = 10⁴, ε from 0.5 to 5, δ = n^{−1.1}",
            "With explicit constants the shuffling that Theorem 6 rests on allows ε ≤ 0.086 at ε₀ = 1/2: every run is beyond it.",
            _beyond_shuffling,
            epsilon=0.5,
            records=10_000,
        ),
        erratum(
            "P0.Thm1.conversion",
            "proof of Theorem 1",
            "typo",
            "½ε²-zCDP is (2ε√log(1/δ), δ)-DP, hence by ε ≤ √log(1/δ) (ε², δ)-DP",
            "Wrong direction: 2ε√log(1/δ) ≥ 2ε².  The conclusion needs ρ = ε²/(32 log(1/δ)), which the published σ_i gives once "
            "the sensitivity is 2C/(nλ).",
            _conversion_gap,
            epsilon=1.0,
            delta=1e-05,
        ),
        erratum(
            "P0.Thm9.bias",
            "proof of Theorem 9",
            "typo",
            "last term 20r̂²_{n_i}(B_i)^{(2)}/(λ_i²(k−1)C_i^{k−1})",
            f"20B̂²/λ² = 20(r̂^{{(k)}})²/(λ²(k−1)²C^{{2k−2}}), as the powers in (6), next line, have it.  {LOST}",
            _squared_bias_gap,
            norm=10.0,
            clip=1.0,
            k=3.0,
        ),
        erratum(
            "P0.(6)",
            "proof of Theorem 9 (6), repeated in that of Theorem 10",
            "rate",
            "(η_i/λ_i)L_f² + r̃^{(2k)}/(λ_i²C_i^{2k−2}4^i) ≲ η²n/(16^i4^i)·(L_f² + n·r̃^{(2k)}/(C_i^{2k−2}4^i))",
            "η_i/λ_i = η_i²n_i^p and 1/λ_i² = η_i²n_i^{2p} for i ≥ 2 (η₁²n₁^{2p}, η₁²n₁^{4p} for i = 1): false by n^{p−1} for "
            "p > 1 and by 2^i at p = 1.  At i = 1 it makes λ₂‖w₁ − ŵ₁‖² of order ηn^pL_f², not ηL_f² as in the sum of Theorem "
            "10.",
            _distance_step_gap,
            n=2**20,
            p=3.0,
            i=2,
            constant=1000.0,
        ),
        erratum(
            "P0.Thm10.noise",
            "proof of Theorem 10",
            "rate",
            "λ_i‖w_{i−1} − ŵ_{i−1}‖² is bounded by (6)",
            "w_{i−1} contains the noise ξ_{i−1}, which (6) leaves out.  With λ₁ = 1/(η₁n₁^{2p}) the missing λ₂E‖ξ₁‖² ≍ "
            "ηn^{3p}R̃²(…)^{2(k−1)/k} is far larger than the bound; only i = 2, because of λ₁'s exponent 2p.",
            _left_out_noise_gap,
            n=2**20,
            epsilon=1.0,
            delta=1e-06,
            constant=1000.0,
        ),
        erratum(
            "P0.Thm10.R",
            "proof of Theorem 10",
            "typo",
            "R̃_{2k,n}n^p(…)^{(k−1)/k}, four times",
            "R̃² is meant: ẽ^{(2k)}/C^{2k−2} = r̃²(…)^{2(k−1)/k}.  With R̃ the choice of η would give D(…) instead of R̃D(…).",
            _moment_power_gap,
            moment=2.0,
        ),
        erratum(
            "P0.Thm10.stepsize",
            "end of the proof of Theorem 10, Algorithms 4 and 5",
            "rate",
            "at the given η the last term L_f²ηn^{p−1/2}√log(1/β)/2^{p+1} is D√log(1/β)/(2^{p+1}√n)",
            "The third entry of η makes it D/2^{p+1} up to logarithms, for p ≥ 2 with L_f at its limit (at p = 1 the second "
            "entry may save the line); with the proof's prefactor n^{−1/2} it is larger still.  A third entry "
            "1/(n^{p/2}L_f²…) gives 1/√n, but the unit, D/L² for D/L, also asks for a factor R̃ that Theorem 1's last term "
            "lacks.",
            _step_size_gap,
            n=2**50,
            p=2.0,
            constant=1000.0,
        ),
        erratum(
            "P0.Thm11.log",
            "proof of Theorem 11, a(n); Algorithms 4 and 5",
            "typo",
            "a(n) has (√(d log n)/(εn))^{(k−1)/k}",
            "Theorem 10 has log(1/δ) below the root, and Theorem 11 restores it.",
            _delta_log_gap,
            log_delta=10000.0,
            n=10**4,
            constant=2.0,
        ),
        erratum(
            "P0.Thm11.mu",
            "proof of Theorem 11, chain for μ_m",
            "typo",
            "the fourth expression is at most the third",
            "The factor 1/(log n₀√log(1/β)) disappears on the larger side.  Not needed: 2^m ≥ ¼√(2n/log₂n) holds without it, "
            "and a's constant gives μ_m ≥ λ.",
            _dropped_factor_gap,
            n=2**20,
            factor=False,
        ),
        erratum(
            "P0.Thm4.TNC",
            "proofs of Theorems 4 and 5",
            "constant",
            "−⟨w, μ⟩ + ‖w‖^θ/θ satisfies (θ, 1)-TNC",
            "The constant is ½ at θ = 2 and at most 1/θ in general, so the instance is outside the class with λ = 1, and "
            "(19), (26) lose a constant.  θ2^{θ−2} times the power repairs it.",
            _growth_constant_gap,
            theta=2.0,
            w=1.0,
            mean=0.1,
            constant=1.0,
        ),
        erratum(
            "P0.Thm4.moment",
            "proof of Theorem 4 (16), Theorem 4's W",
            "rate",
            "E sup_w‖∇f‖^k ≤ E‖2x‖^k = r̃^{(k)}",
            "Fails where x = 0: it is r̃^{(k)}(1 + (1 − p)/(p2^k)), so the instance is not in the class, and with this W no F "
            "with a single minimiser is once p < 2^{−k} (Lemma 1).  The rate stands with Theorem 5's ball, radius "
            "(r̃_k/2)^{1/(θ−1)}: then E sup ≤ r̃^{(k)}, and w* is inside.",
            _lower_moment_gap,
            mass=0.01,
            k=2.0,
        ),
        erratum(
            "P0.Lem5",
            "Lemma 5",
            "constant",
            "α/2 times Fano's share for every Φ",
            "For Φ(t) = t^θ it is Φ(½Φ⁻¹(α)) = α/2^θ: 17 points at distance 1 and θ = 4 have a smaller risk at their centre.  "
            "Only constants in the theorems.",
            _fano_constant_gap,
            points=17,
            theta=4.0,
        ),
        erratum(
            "P0.Thm4.Fano",
            "proof of Theorem 4",
            "constant",
            "Lemma 5 at p = √d/(n√ρ)",
            "Void there: ρn²p² = d > log M for every packing of {±1}^d, as M ≤ 2^d.  A small multiple is needed.",
            _private_fano_gap,
            d=100,
            n=10**4,
            rho=1.0,
            multiple=1.0,
        ),
        erratum(
            "P0.Thm5.KL",
            "proof of Theorem 5",
            "typo",
            "KL ≤ δ²",
            "It is δ log((1 + δ)/(1 − δ)) for each differing sign, at least dδ²/4 on the packing.  (One coordinate drawn at "
            "random, as in the cited proof, would contradict 𝒳 = {±r̃_k/(2√d)}^d.)  The theorem stands.",
            _divergence_gap,
            d=8,
            bias=0.1,
        ),
        erratum(
            "P0.Thm5.delta",
            "proof of Theorem 5",
            "typo",
            "δ = √(d/n)",
            "Then n·KL ≥ d²/4 > log M.  δ = c/√n proves the theorem; √(d/n) belongs to the other construction, and may exceed "
            "1 under n ≥ Ω(√d).",
            _fano_bias_gap,
            d=100,
            n=10**4,
            bias=0.1,
        ),
        erratum(
            "P0.Lem7",
            "Lemma 7",
            "typo",
            "‖E ν̂ − ν‖ ≤ E‖ν̂ − ν‖ ≤ r^{(k)}/((k−1)C^{k−1})",
            "The middle term contains the sampling error: false for z = ±1, C = 10.  The ends stand.",
            _clipped_mean_gap,
            clip=10.0,
            k=2.0,
        ),
    )
