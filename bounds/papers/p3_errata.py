"""P3: where a published statement, step or display is wrong, each with a discrepancy that can be recomputed.

The gaps stand first, in the order of the paper, and then the entries.  In the gaps v is the paper's (moments of order 1 + v);
`factor` is a constant that an O or Ω of the paper may hide, chosen against the entry.
"""

from __future__ import annotations

import math
from typing import Any

from tailproof.bounds import explicit
from tailproof.bounds.erratum import LOST, Erratum, Gap, erratum
from tailproof.bounds.papers import p3
from tailproof.bounds.papers.gaps import gaussian_gap
from tailproof.refimpl.claims import gaussian_delta

# ---------------------------------------------------------------------------------- privacy mechanisms, tails, Theorem 1


def _density_gap(*, scale: float, reach: float) -> Gap:
    """The mass that exp(−x/λ)/(2λ) puts on [−reach, reach] alone; a density has at most 1."""
    return math.sinh(reach / scale), 1.0


def _peeling_gap(*, epsilon: float, delta: float) -> Gap:
    """One coordinate and s = 1, where peeling is a single Laplace release."""
    scale = explicit.peeling_scale(sensitivity=1.0, sparsity=1, epsilon=epsilon, delta=delta)
    return explicit.laplace_delta(sensitivity=1.0, scale=scale, epsilon=epsilon), delta


def _tail_integral_gap(*, constant: float, clip: float) -> Gap:
    """X constant above B: E[X·1{|X| > B}] against ∫_B^∞ P(|X| > t)dt, published as equal."""
    return abs(constant - (constant - clip)), 0.0


def _laplace_max_gap(*, d: int, xi: float) -> Gap:
    threshold = explicit.laplace_max_upper(d=d, scale=1.0, xi=xi)
    return 1 - (1 - math.exp(-threshold)) ** d, xi


def _two_sided_gap(*, n: int, xi: float) -> Gap:
    """(5) for records ±1 with probability ½, B = u = 1 (any v): the chance of an error beyond the bound, against ξ."""
    bound = explicit.truncated_sampling_error_upper(n=n, v=1.0, moment=1.0, clip=1.0, xi=xi)
    return sum(math.comb(n, k) for k in range(n + 1) if abs(2 * k / n - 1) > bound) / 2**n, xi


def _proof_of_theorem_1(*, n: int, v: float, epsilon: float, delta: float, xi: float) -> dict[str, float]:
    """The quantities of (6)-(9) at u = 1: B, the rate T, and L = log(1/ξ)."""
    clip = explicit.truncation_level(n=n, v=v, moment=1.0, epsilon=epsilon, delta=delta, xi=xi)
    rate = explicit.truncated_mean_error_upper(n=n, v=v, moment=1.0, epsilon=epsilon, delta=delta, xi=xi) / 9
    return {"clip": clip, "rate": rate, "log": math.log(1 / xi), "root": math.sqrt(math.log(1.25 / delta))}


def _sampling_step_gap(**setting: Any) -> Gap:
    """(7): B log(1/ξ)/(3n) against a third of the rate."""
    proof = _proof_of_theorem_1(**setting)
    return proof["clip"] * proof["log"] / (3 * setting["n"]), proof["rate"] / 3


def _bias_step_gap(**setting: Any) -> Gap:
    """(8): u/B^v against the published value with log(2/ξ)."""
    proof, v = _proof_of_theorem_1(**setting), setting["v"]
    doubled = math.log(2 / setting["xi"]) / proof["log"]
    return abs(proof["clip"] ** -v / (proof["rate"] * doubled ** (v / (1 + v))) - 1), 0.0


def _noise_step_gap(**setting: Any) -> Gap:
    """(9): its left side against the published middle, exponent 1/(1+v)."""
    proof, v, n, epsilon = _proof_of_theorem_1(**setting), setting["v"], setting["n"], setting["epsilon"]
    left = proof["clip"] * proof["root"] * math.sqrt(proof["log"]) / (n * epsilon)
    middle = (proof["root"] / (n * epsilon)) ** (1 / (1 + v)) * proof["log"] ** ((v - 1) / (2 * (1 + v)))
    return abs(left / middle - 1), 0.0


def _vanishing_rate_gap(*, n: int, v: float, epsilon: float, delta: float, xi: float) -> Gap:
    """The noise's standard deviation alone, against 100 times the published rate with √log(1/δ)."""
    clip = explicit.truncation_level(n=n, v=v, moment=1.0, epsilon=epsilon, delta=delta, xi=xi)
    rate = (math.log(1 / xi) * math.sqrt(math.log(1 / delta)) / (n * epsilon)) ** (v / (1 + v))
    return math.sqrt(8 * math.log(1.25 / delta)) * clip / (n * epsilon), 100 * rate


def _optimal_gap(*, n: int, v: float, epsilon: float, log_inverse_delta: float, xi: float, factor: float) -> Gap:
    """The standard deviation of Algorithm 1's noise alone, u = 1, against the error of the same mean with Laplace noise."""
    log, root = math.log(1 / xi), math.sqrt(math.log(1.25) + log_inverse_delta)
    clip = (n * epsilon / (log * root)) ** (1 / (1 + v))
    laplace = p3.truncated_laplace_error_upper(n=n, v=v, moment=1.0, epsilon=epsilon, xi=xi)
    return math.sqrt(8) * clip * root / (n * epsilon), factor * laplace


def _half_sample_gap(*, n: int, mass: float, epsilon: float, factor: float) -> Gap:
    """Lemma 16 at δ = ½: whether a random half of the records has a non-zero one is (0, ½)-private and errs with probability
    (1 − p)^{n/2} at most.  Where that is below ⅓, the pnε claimed, at least a constant, against pnε."""
    error = (1 - mass) ** (n // 2)
    return (factor if error < 1 / 3 else 0.0), mass * n * epsilon


def _few_records_gap(*, product: float, v: float, factor: float) -> Gap:
    """The bound at nε = product in units of u^{1/(1+v)}, against 1, which the constant 0 never exceeds."""
    return factor * product ** (-v / (1 + v)), 1.0


def _known_mean_gap(*, mean: float, guess: float, claimed: float) -> Gap:
    """The error claimed of every algorithm for this distribution, against that of a constant guess."""
    return claimed, abs(guess - mean)


def _sample_power_gap(*, moment: float, v: float) -> Gap:
    """u^{1/v}, Lemma 16's, against u^{1/(1+v)} in the proof that uses it."""
    return abs(moment ** (1 / v) - moment ** (1 / (1 + v))), 0.0


# --------------------------------------------------------------------------------------------------- stochastic convex optimisation


def _group_mean_gap(*, constant: float, groups: int, size: int) -> Gap:
    """Line 7 on constant data: (m/n)Σ over all n records against the constant."""
    n = groups * size
    return abs(groups / n * (n * constant) - constant), 0.0


def _median_event_gap(*, groups: int) -> Gap:
    """(15) on constant data: the published event is certain, its published probability at most e^{−m/4}."""
    return 1.0, math.exp(-groups / 4)


def _dimension_power_gap(*, v: float) -> Gap:
    """The power of d in the introduction's strongly convex rate, against Theorem 7's."""
    return (1 + 4 * v) / (1 + v), (1 + 2 * v) / (1 + v)


def _record_power_gap(*, v: float, numerator: float) -> Gap:
    """A power numerator/(1 + v) of εn in the denominator of an upper bound, against Theorem 6's."""
    return numerator / (1 + v), v / (1 + v)


def _reused_batch_gap(*, epsilon: float, delta: float, steps: int) -> Gap:
    """The exact δ of T Gaussian releases of all of X, each with noise for (ε, δ), against δ."""
    shift = math.sqrt(steps) / explicit.p3_gaussian_scale(sensitivity=1.0, epsilon=epsilon, delta=delta)
    return gaussian_delta(shift, epsilon), delta


def _small_moment_gap(*, n: int, v: float, moment: float, factor: float) -> Gap:
    """d = ε = 1, W = [−1, 1], ℓ = |x| − wx + αw²/2, x = ±(u/(4q))^{1/(1+v)} with probability q = 1/n, else 0, α = E|x|.

    ∇L(w*) = 0 at w* = ±1 and E|∇ℓ|^{1+v} ≤ u.  Whoever sees zeros only has expected excess α/2 for one of the two signs.
    """
    q = 1 / n
    alpha = (moment / 4) ** (1 / (1 + v)) * q ** (v / (1 + v))
    printed = 2 * moment**2 * (n ** (-v / (1 + v)) + n ** (-3 * v / (1 + v)))
    return (1 - q) ** n * alpha / 2, factor * printed


def _combined_gap(*, n: int, d: int, epsilon: float, v: float, factor: float) -> Gap:
    """The proof's last display against Theorem 6's two terms, Δ = u = 1."""
    scale = (epsilon * n) ** (-v / (1 + v))
    term = d ** ((1 + 4 * v) / (2 + 2 * v)) * scale
    return d ** ((3 + 12 * v) / (2 + 2 * v)) * scale, factor * (term + term**3)


def _threshold_gap(*, n: int, d: int, epsilon: float, v: float, factor: float) -> Gap:
    """Theorem 7's τ at T = u = α = β = 1, ℓ = ½‖w − x‖², W the ball of diameter 1 about 0, without noise.

    Every coordinate of x is just above τ + ½ with probability ½τ^{−(1+v)}, else 0, so E|∇ⱼℓ|^{1+v} ≤ 1 for large τ.  All such
    gradients are set to 0: w stays at 0, where the excess risk is ½‖μ‖² ≥ d/(8τ^{2v}); against the published rate.
    """
    tau = (epsilon * n / d**1.5) ** (1 / (1 + v))
    printed = 16 * d ** ((1 + 2 * v) / (1 + v)) / (epsilon * n) ** (2 * v / (1 + v))
    return d / (8 * tau ** (2 * v)), factor * printed


def _condition_gap(*, alpha: float, beta: float, v: float, factor: float) -> Gap:
    """What T^{2v/(1+v)} brings besides logarithms, against a constant."""
    return ((alpha + beta) ** 2 / (alpha * beta)) ** (2 * v / (1 + v)), factor


def _exact_descent_gap(*, curvature: float, steps: int) -> Gap:
    """Lemma 18, L = βw²/2 on [0, 1], α = β, V = 0, w₀ = 1: L(w_T) against (1 − (α+β)/(α+β)²)^T Δ."""
    w = 0.5**steps
    return curvature * w**2 / 2, (1 - 1 / (2 * curvature)) ** steps


def _offset_descent_gap(*, curvature: float, error: float, diameter: float, steps: int) -> Gap:
    """Lemma 18, L = βw²/2, α = β, gradients off by a constant V, w₀ = 0: L(w_T) against its second display."""
    w = 0.0
    for _ in range(steps):
        w = max(-diameter / 2, min(diameter / 2, w - (curvature * w + error) / (2 * curvature)))
    allowed = p3.strongly_convex_risk_upper(diameter=diameter, convexity=curvature, smoothness=curvature, error=error)
    return curvature * w**2 / 2, allowed


def _burst_gap(*, mean_error: float, burst: float, steps: int) -> Gap:
    """Lemma 18, L = w²/2 on [−K, K], w₀ = 0, gradient errors K with probability V/K, else 0: E L(w_T), w_T = −½Σ2^{−i}e_i."""
    variance = mean_error * (burst - mean_error)
    second = variance * (1 - 4.0**-steps) / 3 + (mean_error * (1 - 2.0**-steps)) ** 2
    allowed = p3.strongly_convex_risk_upper(diameter=2 * burst, convexity=1.0, smoothness=1.0, error=mean_error)
    return second / 2, allowed


def _step_count_gap(*, alpha: float, beta: float, target: float) -> Gap:
    """One step, the least, against Lemma 18's published T at (α+β)V/(αβ) = target."""
    squares = alpha**2 + beta**2
    return 1.0, math.log(target) / math.log((squares + alpha * beta) / squares)


def _jump_gap(*, gradient: float, threshold: float, smoothness: float, radius: float) -> Gap:
    """One record of gradient g + βw: how far its thresholded value moves from w = 0 to w = γ, against βγ."""
    near, far = (g if abs(g) <= threshold else 0.0 for g in (gradient, gradient + smoothness * radius))
    return abs(near - far), smoothness * radius


def _failure_gap(*, n: int, epsilon: float, v: float, gradient_bound: float) -> Gap:
    """d = 1: on the failure event the estimate may be τ, so its error is at least τ − R, against R."""
    return (epsilon * n) ** (1 / (1 + v)) - gradient_bound, gradient_bound


def _logarithms_gap(*, steps: int, delta: float) -> Gap:
    """ln(1.25/δ')·log(2/δ) at δ' = δ/(2T), against the published log((2.5T + 2)/δ)."""
    return math.log(2.5 * steps / delta) * math.log(2 / delta), math.log((2.5 * steps + 2) / delta)


def _exponent_gap(*, moment: float, d: int, threshold: float, v: float) -> Gap:
    """u^{√d/τ^v} against u·√d/τ^v."""
    ratio = math.sqrt(d) / threshold**v
    return abs(moment**ratio - moment * ratio), 0.0


def _rare_error_gap(*, bound: float, failure: float, burst: float, factor: float) -> Gap:
    """The mean of an error that is `bound`, but `burst` with probability `failure`, against a multiple of `bound`."""
    return (1 - failure) * bound + failure * burst, factor * bound


def _step_power_gap(*, v: float, power: float) -> Gap:
    """The power of T in the noise τdT/(εn) at τ = (uεn/(√d·T^power))^{1/(1+v)}, against (24)'s."""
    return 1 - power / (1 + v), v / (1 + v)


# ------------------------------------------------------------------------------------------------------------ lower bounds


def _chances(*, epsilon: float, delta: float) -> list[float]:
    """From 0 to 1 as fast as an event's chance may grow when one record changes under (ε, δ)-privacy."""
    chances = [0.0]
    while chances[-1] < 1:
        a = chances[-1]
        chances.append(min(1.0, math.exp(epsilon) * a + delta, 1 - math.exp(-epsilon) * (1 - a - delta)))
    return chances


def _fano_gap(*, n: int, d: int, epsilon: float, delta: float, share: float) -> Gap:
    """Lemma 15 on Lemma 21's family, p = share·√(d log(1/δ))/(nε), α = ι/2, in units of ι, against the risk of an (ε, δ)-DP rule.

    The rule publishes the commonest non-zero value with the chance at half its lead over the next, else 0.  A record moves the
    lead by at most 2, and where it changes the value, both chances are 0, or one is 0 and the other the next.  The rule misses
    with probability P(Bin(n, p) < lead needed) at most.
    """
    mass = share * math.sqrt(d * math.log(1 / delta)) / (n * epsilon)
    claimed = p3.approximate_fano_lower(
        separation=0.5, log_packing=7 * d * math.log(2) / 128, n=n, distance=mass, epsilon=epsilon, delta=delta
    )
    needed = 2 * (len(_chances(epsilon=epsilon, delta=delta)) - 1)
    short = max(0.0, 1 - needed / (n * mass))
    return claimed, math.exp(-n * mass * short**2 / 2)


def _strong_delta_gap(*, d: int, v: float, epsilon: float, log_inverse_delta: float, multiple: float, factor: float) -> Gap:
    """Theorem 8 at a multiple of its least n, u = 1, ℓ = ½‖x − w‖²: P_W(μ̃) has excess risk ≤ ‖μ̃ − μ‖², μ̃ the ε-DP mean."""
    root = math.sqrt(log_inverse_delta)
    n = math.ceil(multiple * root * d ** ((1 + 2 * v) / (2 * v)) / epsilon)
    claim = d * (math.sqrt(d) * root / (epsilon * n)) ** (2 * v / (1 + v))
    return factor * claim, p3.pure_mean_square_upper(n=n, d=d, v=v, moment=1.0, epsilon=epsilon)


def _convex_delta_gap(*, d: int, v: float, epsilon: float, log_inverse_delta: float, multiple: float, factor: float) -> Gap:
    """Theorem 9 in the same way, ℓ = −⟨w, x⟩ on the unit ball: μ̃/‖μ̃‖ has excess risk ≤ 2‖μ̃ − μ‖."""
    n = math.ceil(multiple * math.sqrt(d * log_inverse_delta) / epsilon)
    claim = math.sqrt(d) * (math.sqrt(d * log_inverse_delta) / (epsilon * n)) ** (v / (1 + v))
    return factor * claim, 2 * math.sqrt(p3.pure_mean_square_upper(n=n, d=d, v=v, moment=1.0, epsilon=epsilon))


def _sparse_delta_gap(
    *, d: int, sparsity: int, v: float, epsilon: float, log_inverse_delta: float, multiple: float, factor: float
) -> Gap:
    """Theorem 11 in the same way, ℓ = ½‖x − w‖², μ sparse: the sparse vector nearest to μ̃ is within 2‖μ̃ − μ‖ of μ."""
    root = math.sqrt(sparsity * math.log(d) * log_inverse_delta)
    n = math.ceil(multiple * root / epsilon)
    claim = (root / (epsilon * n)) ** (2 * v / (1 + v))
    return factor * claim, 2 * p3.pure_mean_square_upper(n=n, d=d, v=v, moment=1.0, epsilon=epsilon)


def _gradient_moment_gap(*, position: float, moment: float, mass: float, v: float) -> Gap:
    """E|∇ⱼℓ(w, x)|^{1+v} of the proof's instance at w = −position·eⱼ, θⱼ = 1, against u."""
    jump = (moment / mass) ** (1 / (1 + v))
    return (1 - mass) * position ** (1 + v) + mass * (position + jump) ** (1 + v), moment


def _stationary_gap(*, moment: float, mass: float, v: float, d: int, curvature: float) -> Gap:
    """‖∇L(w*)‖ = (ι − c)₊ for the loss −⟨w, x⟩ + c‖w‖²/2 on the unit ball (the proof's has c = 0), against 0."""
    length = moment ** (1 / (1 + v)) * mass ** (v / (1 + v)) * math.sqrt(d / 2)
    return max(0.0, length - curvature), 0.0


def _code_gap(*, d: int, multiple: float) -> Gap:
    """multiple·ι against the largest distance of two 0/1 vectors of weight d/2, both in units of u^{1/(1+v)}p^{v/(1+v)}."""
    return multiple * math.sqrt(d / 2), math.sqrt(d)


def _private_fano_gap(*, power: float) -> Gap:
    """Lemma 14 for two equal laws, two points at distance 1 and Φ(t) = t^power, against the risk of the point halfway."""
    bound = p3.private_fano_lower(separation=1.0, log_packing=math.log(2), n=1, distance=0.0, epsilon=1.0)
    return bound, math.pow(0.5, power)


def _sphere_gap(*, norm: float) -> Gap:
    """√2 against the largest least distance of three points of that norm, an equilateral triangle's."""
    return math.sqrt(2), math.sqrt(3) * norm


def _packing_gap(*, log_d: float, factor: float) -> Gap:
    """s* = d, per coordinate: the multiple of s* log d that p needs of log|Θ|, against log|H| = d log 2."""
    return factor * log_d, math.log(2)


def _least_records_gap(*, epsilon: float, log_product: float) -> Gap:
    """p = √(s* log d log(1/δ))/(nε) at the published least n, the root over ε too, against 1."""
    return math.sqrt(log_product) / (math.sqrt(log_product / epsilon) * epsilon), 1.0


def _square_gap(*, distance: float) -> Gap:
    """½‖w − μ‖² against the published ½‖w − μ‖."""
    return abs(distance**2 - distance) / 2, 0.0


# -------------------------------------------------------------------------------------------------------- sparse learning


def _unbounded_gap(*, convexity: float, moment: float, v: float, multiple: float) -> Gap:
    """w = te₁, t = multiple·u^{1/(1+v)}/μ: |∂₁L| ≥ μt − |∂₁L(0)| by strong convexity, against the moment's u^{1/(1+v)}."""
    root = moment ** (1 / (1 + v))
    return convexity * (multiple * root / convexity) - root, root


def _logistic_gap(*, feature: float, ridge: float, smoothness: float, step: float) -> Gap:
    """log(1 + e^{wx}) + λw²/2 at one feature: its Bregman remainder from 0 to `step`, against γ·step²/2."""
    z = feature * step
    return math.log((1 + math.exp(z)) / 2) - z / 2 + ridge * step**2 / 2, smoothness * step**2 / 2


def _sensitivity_gap(*, clip: float, step: float, size: int, sparsity: int) -> Gap:
    """The published 2Bηs/(3m), η read as η₀, against line 10's λ = 2Bη₀/m, which Lemma 22 needs to cover it."""
    return 2 * clip * step * sparsity / (3 * size), 2 * clip * step / size


def _projection_gap(*, sparsity: int, size: int, inside: int, c: float) -> Gap:
    """Lemma 24, no noise, ṽ = 2 on S and 1 on I∖S, |S ∩ I| = inside, v̂ = 0: ‖v_S − v‖² against its bound."""
    outside = size - inside
    square = 4.0 * inside + outside
    allowed = p3.peeling_projection_upper(size=size, sparsity=sparsity, target=0, distance=square, c=c, noise=0.0)
    return float(outside), allowed


def _restricted_gap(*, coordinate: float, shift: float) -> Gap:
    """Lemma 25, L = ½‖w − c‖², s* = 1, c = (1, coordinate), w = (1, (1 + shift)·coordinate): its lower bound against ‖g‖²."""
    gradient, away = shift * coordinate, (1 + shift) * coordinate
    excess = (gradient**2 - coordinate**2) / 2
    return p3.restricted_gradient_lower(convexity=1.0, excess=excess, distance=away), gradient**2


def _coefficient_gap(*, eta: float, gamma: float) -> Gap:
    """η/(2γ) against η²/γ²."""
    return abs(eta / (2 * gamma) - (eta / gamma) ** 2), 0.0


def _union_gap(*, new: float, both: float, old: float) -> Gap:
    """‖g‖² on S^{t+1}∖S^t, S^{t+1} ∩ S^t and S^t∖S^{t+1} given: the display's left side against −‖g_{S^{t+1} ∪ S^t}‖²."""
    return new - old - (new + both), -(new + both + old)


def _cross_term_gap(*, noise: float, error: float) -> Gap:
    """(39) on one coordinate of S^{t+1}: (w̃ + e)² against w̃² + e², e = (η/γ)(g − g̃)."""
    return (noise + error) ** 2, noise**2 + error**2


def _weight_gap(*, c: float) -> Gap:
    """(c + 1)²/(c(c − 1)) against (42)'s 3/2."""
    return (c + 1) ** 2 / (c * (c - 1)), 1.5


def _inverse_gap(*, c: float) -> Gap:
    """Before (45) at w = w*: (γ/2)‖(η/γ)g‖² in units of η²‖g‖²/(2γ), against the published 1/c."""
    return 1.0, 1 / c


def _contraction_gap(*, condition: float, ratio: float) -> Gap:
    """1 − 2s*/(s + s*) − μ/(24γ), as (50) gives, at γ/μ = condition and s/s* = ratio, against 1 − (5/72)μ/γ."""
    return 1 - 2 / (ratio + 1) - 1 / (24 * condition), 1 - 5 / (72 * condition)


def _dimension_gap(*, log_d: float, xi: float, factor: float) -> Gap:
    """s = T = 1: the chance that the largest of d Laplace variables exceeds factor·λ log(1/ξ), from below, against ξ."""
    return -math.expm1(-math.exp(log_d - factor * math.log(1 / xi))), xi


def _merged_terms_gap(*, moment: float, clip: float, v: float, n: int, factor: float) -> Gap:
    """(54) at s = T = log = 1: its middle against its right side."""
    variance = clip ** (1 - v) * moment / n
    middle = (math.sqrt(2 * variance) + clip / (3 * n) + moment / clip**v) ** 2
    return middle, factor * (variance + clip ** (2 - 2 * v))


# ------------------------------------------------------------------------------------------------------------ the entries


def errata() -> tuple[Erratum, ...]:
    """All of them, by place."""
    return (*_means(), *_upper_bounds(), *_lower_bounds(), *_sparse_learning())


def _means() -> tuple[Erratum, ...]:
    small_delta = {"n": 1000, "v": 0.5, "epsilon": 0.5, "delta": 1e-5, "xi": 0.05}
    return (
        erratum(
            "P3.Lem2",
            "Lemma 2",
            "typo",
            "Lap(λ)(x) = exp(−x/λ)/(2λ)",
            f"Not a density; |x| is meant.  {LOST}",
            _density_gap,
            scale=1.0,
            reach=2.0,
        ),
        erratum(
            "P3.Lem3",
            "Lemma 3",
            "privacy",
            "N(0, 2Δ²log(1.25/δ)/ε²) is (ε, δ)-private (no range for ε)",
            "False for large ε.  No failure on a fine grid of 0 < ε, δ ≤ 1, the range of the theorems that use it.",
            gaussian_gap(explicit.p3_gaussian_scale),
            epsilon=10.0,
            delta=0.01,
        ).told(
            "Lemma 3 of P3 sets no limit on ε, and the Gaussian mechanism it states fails for large ε.",
            "The lemma takes Gaussian noise of variance 2Δ²log(1.25/δ)/ε² for every ε, where Δ is the ℓ₂-sensitivity."
            " It fails at ε = 10 and δ = 0.01, for example. A fine grid of 0 < ε, δ ≤ 1 shows no failure, and the "
            "theorems that use the lemma stay in that range.",
        ),
        erratum(
            "P3.Lem10.step",
            "proof of Lemma 10",
            "typo",
            "∫_B^∞ P(|X| > t)dt = E[X·1{|X| > B}]",
            "The integral lacks B·P(|X| > B).  The lemma stands: |X| ≤ |X|^{1+v}/B^v where |X| > B.",
            _tail_integral_gap,
            constant=2.0,
            clip=1.0,
        ),
        erratum(
            "P3.Thm1.rate",
            "Theorem 1",
            "rate",
            "|μ̃ − μ| ≤ O(u^{1/(1+v)}(log(1/ξ)√log(1/δ)/(nε))^{v/(1+v)}) for any 0 < δ ≤ 1",
            "The rate vanishes as δ → 1 while the noise does not; its proof has log(1.25/δ).",
            _vanishing_rate_gap,
            n=100,
            v=1.0,
            epsilon=1.0,
            delta=1 - 1e-12,
            xi=0.1,
        ),
        erratum(
            "P3.Thm1.(5)",
            "proof of Theorem 1 (5)",
            "constant",
            "|x̄' − E x'| ≤ √(2B^{1−v}u log(1/ξ)/n) + B log(1/ξ)/(3n) with probability 1 − ξ, by Lemma 6",
            "Lemma 6 gives less: the centred records are bounded by 2B, one side only, and its inversion has 2/3 for 1/3.  "
            "Bennett's inequality with raw second moments gives each side at ξ, so both at 2ξ; at ξ it fails for two "
            "records ±1.  (4) and (10) stand at 1 − 3ξ, because the noise term fails with probability ξ² at most.",
            _two_sided_gap,
            n=2,
            xi=0.48,
        ),
        erratum(
            "P3.Thm1.(7)",
            "proof of Theorem 1 (6), (7)",
            "constant",
            "both hold because ε ≤ 1",
            "The quotients are √(ε/A) and ε/A with A = √log(1.25/δ), so ε ≤ A is needed, which fails for δ near 1.  (10) "
            "stands for all 0 < ε, δ ≤ 1 by the noise term's slack: √(2ε/A) + ε/(3A) + 1 + 4/√log(1/ξ) < 7.6 for ξ < 1/3.",
            _sampling_step_gap,
            n=100,
            v=0.5,
            epsilon=1.0,
            delta=0.9,
            xi=0.1,
        ),
        erratum(
            "P3.Thm1.(8)",
            "proof of Theorem 1 (8)",
            "typo",
            "u/B^v = u^{1/(1+v)}(√log(1.25/δ) log(2/ξ)/(nε))^{v/(1+v)}",
            "B has log(1/ξ), hence so has u/B^v.",
            _bias_step_gap,
            **small_delta,
        ),
        erratum(
            "P3.Thm1.(9)",
            "proof of Theorem 1 (9)",
            "typo",
            "… = 4√2u^{1/(1+v)}(√log(1.25/δ)/(nε))^{1/(1+v)}(log(1/ξ))^{(v−1)/(2(1+v))}",
            f"The exponent is v/(1+v).  The last step also needs log(1/ξ) ≥ 1, which 3ξ < 1 gives.  {LOST}",
            _noise_step_gap,
            **small_delta,
        ),
        erratum(
            "P3.Thm1.optimal",
            "Introduction and Remark 1",
            "rate",
            "error O((√log(1/δ)/(nε))^{v/(1+v)}), optimal by a matching lower bound; Gaussian noise, not Laplace, thus lower",
            "The lower bound lacks (log(1/δ))^{v/(2(1+v))}, which is unbounded.  Laplace noise 2B/(nε) on the same truncated mean "
            "is ε-DP and reaches (log(1/ξ)/(nε))^{v/(1+v)}, so the factor comes from the Gaussian mechanism.",
            _optimal_gap,
            n=10**6,
            v=1.0,
            epsilon=1.0,
            log_inverse_delta=1e10,
            xi=0.05,
            factor=5.0,
        ),
        erratum(
            "P3.Thm2.delta",
            "Theorem 2 and Lemma 16",
            "rate",
            "|μ̃ − μ| ≥ Ω(u^{1/(1+v)}(1/(nε))^{v/(1+v)}) for any (ε, δ)-DP algorithm (Theorem 1 allows 0 < δ ≤ 1)",
            "The cited testing lemma gives 1/(ε + δ), so δ ≲ ε is needed.  False at δ = ½ and small ε: whether a random half of "
            "the records has a non-zero one is (0, ½)-private and tells Lemma 16's laws apart.  Lemma 27's first display too "
            "must mean ε-DP.",
            _half_sample_gap,
            n=10**7,
            mass=1e-6,
            epsilon=1e-5,
            factor=1e-3,
        ),
        erratum(
            "P3.Thm2.range",
            "Theorem 2",
            "constant",
            "|μ̃ − μ| ≥ Ω(u^{1/(1+v)}(1/(nε))^{v/(1+v)}) (no range for nε)",
            "Needs nε ≳ 1: the constant 0 has error |μ| ≤ u^{1/(1+v)}.",
            _few_records_gap,
            product=1e-9,
            v=1.0,
            factor=1e-3,
        ),
        erratum(
            "P3.Thm2.order",
            "Theorem 2",
            "typo",
            "there exists a distribution such that for any algorithm …",
            "Read: for every algorithm there is a distribution, as the proof shows; for a fixed D the constant μ(D) has error 0.",
            _known_mean_gap,
            mean=0.1,
            guess=0.1,
            claimed=1e-3,
        ),
        erratum(
            "P3.Lem16.exponent",
            "proof of Theorem 2, after Lemma 16",
            "typo",
            "n ∈ Ω(u^{1/(v+1)}/(εα^{(1+v)/v}))",
            f"Lemma 16 has u^{{1/v}}, and the conclusion needs it.  {LOST}",
            _sample_power_gap,
            moment=2.0,
            v=0.5,
        ),
    )


def _upper_bounds() -> tuple[Erratum, ...]:
    return (
        erratum(
            "P3.Intro.strong",
            "Introduction",
            "typo",
            "strongly convex: Õ(d^{(1+4v)/(1+v)}/(εn)^{2v/(1+v)})",
            "Theorem 7 has d^{(1+2v)/(1+v)} (d^{3/2} at v = 1, as the text after it says); the introduction's power is what "
            "Theorem 7's published τ gives.",
            _dimension_power_gap,
            v=1.0,
        ),
        erratum(
            "P3.Intro.convex",
            "Introduction",
            "typo",
            "convex: first term d^{(1+4v)/(2+2v)}/(εn)^{(1+v)/(1+v)}",
            f"Theorem 6 has (εn)^{{v/(1+v)}}; the paper would contradict Theorem 9.  {LOST}",
            _record_power_gap,
            v=0.5,
            numerator=1.5,
        ),
        erratum(
            "P3.Alg2.batch",
            "Algorithm 2, line 7",
            "typo",
            "DPHDME is given the gradients of all x ∈ X",
            "X_t is meant, as in Algorithm 6 and before Lemma 20; with X at every step the strongly convex branch would not be "
            f"(ε, δ)-private.  {LOST}",
            _reused_batch_gap,
            epsilon=0.5,
            delta=1e-5,
            steps=10,
        ).told(
            "Read literally, Algorithm 2 of P3 uses every record at every step and exceeds its privacy claim.",
            "Line 7 passes the gradients of all records X to the private mean estimator. The noise of the strongly "
            "convex branch suits one use of each record, but the branch takes many steps. The batch X_t was probably "
            "meant, as in Algorithm 6, and with X_t no check refutes the claim. The text at hand may have lost the "
            "subscript.",
        ),
        erratum(
            "P3.Alg3.line7",
            "Algorithm 3, line 7",
            "typo",
            "μ̂ⱼᵏ = (m/n)Σ_{i=1}^n [xᵢ']ⱼ",
            f"The sum is over the k-th group; over all records it is m times the mean.  (12) has the right range.  {LOST}",
            _group_mean_gap,
            constant=1.0,
            groups=3,
            size=2,
        ),
        erratum(
            "P3.Thm3.(15)",
            "proof of Theorem 3 (15)",
            "typo",
            "P(|…| ≤ (80u)^{1/(1+v)}(m/n)^{v/(1+v)}) ≤ e^{−m/4}",
            "The inner inequality points the wrong way; (16) uses the right one.",
            _median_event_gap,
            groups=9,
        ),
        erratum(
            "P3.Lem18.first",
            "Lemma 18, first display",
            "typo",
            "E L(w_T) − L(w*) ≤ (1 − (α+β)/(α+β)²)^T Δ + (α+β)V/(αβ)",
            "With 1 − αβ/(α+β)² this bounds the distance ‖w_T − w*‖, which is meant.  As published L = 5w² on [0, 1] refutes it at "
            "T = 1, V = 0.",
            _exact_descent_gap,
            curvature=10.0,
            steps=1,
        ),
        erratum(
            "P3.Lem18.beta",
            "Lemma 18, last display",
            "constant",
            "E L(w_T) − L(w*) ≤ (α+β)²(Δ+1)²V²/(2α²β²)",
            "The risk is at most β/2 times the squared distance, so β and not β² stands below, as Theorem 7 has.",
            _offset_descent_gap,
            curvature=100.0,
            error=1.0,
            diameter=1.0,
            steps=60,
        ),
        erratum(
            "P3.Lem18.moment",
            "Lemma 18",
            "rate",
            "E‖∇L̃ − ∇L‖ ≤ V suffices for a risk of order V²",
            "The mean square is needed: errors that are rare and large have E‖·‖ = V and give a risk of order V.  Theorem 7 "
            "stands, because Algorithm 3's error has that mean square: P(|median − a| > t) ≤ 2P(|group mean − a| > t).",
            _burst_gap,
            mean_error=1e-4,
            burst=1.0,
            steps=50,
        ),
        erratum(
            "P3.Lem18.steps",
            "Lemma 18",
            "typo",
            "T = log((α+β)V/(αβ))/log((α²+β²+αβ)/(α²+β²))",
            f"Negative when V is small; the inner denominator is (α+β)², as in Theorem 7.  {LOST}",
            _step_count_gap,
            alpha=1.0,
            beta=2.0,
            target=0.01,
        ),
        erratum(
            "P3.Lem19.jump",
            "proof of Lemma 19",
            "typo",
            "by β-smoothness a group's average differs by at most βγ between w and w̃",
            "Thresholding jumps: a gradient that grows past τ becomes 0; and Assumption 1 makes only the population risk smooth.  "
            "The lemma stands when every ℓ(·, x) is β-smooth: few records are within βγ of τ.",
            _jump_gap,
            gradient=10.0,
            threshold=10.0,
            smoothness=1.0,
            radius=0.01,
        ),
        erratum(
            "P3.Lem19.failure",
            "proof of Lemma 19",
            "typo",
            "the failure event adds R(γ/Δ)^d to the expectation",
            "There the estimate is anywhere in [−τ, τ]^d, so the error is up to √d·τ + R, and √d·τ(γ/Δ)^d is absorbed only "
            "if (d − 1)v ≥ 1.  A smaller ξ, a constant factor in m, mends it.",
            _failure_gap,
            n=1000,
            epsilon=1.0,
            v=0.5,
            gradient_bound=1.0,
        ),
        erratum(
            "P3.Lem19.log",
            "proof of Lemma 19, variance of the noise",
            "typo",
            "8τ²m²d²ln(1.25/δ')/(ε'²n²) = 1024τ²[…]²d²T log((2.5T + 2)/δ)/(ε²n²)",
            "The product log(2.5T/δ)·log(2/δ) became one logarithm.  Õ hides both.",
            _logarithms_gap,
            steps=10,
            delta=1e-5,
        ),
        erratum(
            "P3.Lem19.exponent",
            "Lemma 19 and (22)",
            "typo",
            "… + u^{√d/τ^v}",
            f"u·√d/τ^v, as Theorem 3 gives and the second part squares.  {LOST}",
            _exponent_gap,
            moment=3.0,
            d=4,
            threshold=4.0,
            v=1.0,
        ),
        erratum(
            "P3.Thm6.moment",
            "Theorem 6",
            "rate",
            "err ≤ Õ(Δu²(…)) for any u > 0",
            "False for u < 1, with or without privacy: two laws that only a rare non-zero record tells apart force an excess of "
            "order u^{1/(1+v)}n^{−v/(1+v)}.  The proof has max{1, u, u²}; u² holds for u ≥ 1.",
            _small_moment_gap,
            n=100,
            v=1.0,
            moment=1e-12,
            factor=1e6,
        ),
        erratum(
            "P3.Thm6.combined",
            "proof of Theorem 6, last display",
            "typo",
            "Õ(Δd^{(3+12v)/(2+2v)}/(εn)^{v/(1+v)})",
            f"d's power of the second term with n's of the first, and no u; it does not give the theorem.  {LOST}",
            _combined_gap,
            n=10**12,
            d=100,
            epsilon=1.0,
            v=1.0,
            factor=100.0,
        ),
        erratum(
            "P3.Thm7.tau",
            "Theorem 7",
            "rate",
            "τ = (uεn/(d^{3/2}√T))^{1/(1+v)} gives d^{(1+2v)/(1+v)}/(εn)^{2v/(1+v)}",
            "With this τ the squared bias alone is of order d·u²/τ^{2v}, which has d^{(1+4v)/(1+v)}; the rate needs Corollary 1's "
            "τ at n/T records, (uεn/(√d·T))^{1/(1+v)}.",
            _threshold_gap,
            n=10**40,
            d=10**9,
            epsilon=1.0,
            v=1.0,
            factor=1e6,
        ),
        erratum(
            "P3.Thm7.iterations",
            "proof of Theorem 7",
            "typo",
            "T is poly-logarithmic on n and d, so (24) with Lemma 18 gives the theorem",
            "T ≍ ((α+β)²/(αβ))·log: Lemma 18 gives the bound times ((α+β)²/(αβ))^{2v/(1+v)}, a factor that the theorem, which "
            "keeps α and β, lacks.  Not shown to be needed.",
            _condition_gap,
            alpha=1e-6,
            beta=1.0,
            v=1.0,
            factor=100.0,
        ),
        erratum(
            "P3.Lem20.probability",
            "Lemma 20, from Corollary 1",
            "typo",
            "a bound with probability 0.9 gives the same bound in expectation, for every t ≤ T",
            "An error that is large with probability 0.1 has a large mean (norm bars are missing in (24), too).  Stands by second "
            "moments, see P3.Lem18.moment.",
            _rare_error_gap,
            bound=1e-3,
            failure=0.1,
            burst=1e3,
            factor=1e3,
        ),
        erratum(
            "P3.Lem20.tau",
            "Lemma 20",
            "typo",
            "τ = (uεn/√(dT))^{1/(1+v)}",
            f"(24)'s power of T needs √d·T in place of √(dT); for fixed α, β a logarithm, which Õ hides.  {LOST}",
            _step_power_gap,
            v=0.5,
            power=0.5,
        ),
    )


def _lower_bounds() -> tuple[Erratum, ...]:
    return (
        erratum(
            "P3.Lem15",
            "Lemma 15",
            "rate",
            "for (ε, δ)-DP, ε ≪ log(1/δ): risk ≥ (α/2)(1 − (ε²(n²γ² + nγ(1−γ))/(4 log(1/δ)) + log 2)/log M), because each ρ-zCDP "
            "mechanism is (ε, δ)-DP",
            "The inclusion runs the wrong way: the theorem quoted is for ρ-zCDP, a smaller class.  False for M point masses, "
            "log M → ∞, where a majority vote of O(log(1/δ)/ε) records is (ε, δ)-private with risk 0, and on Lemma 21's own "
            "family.  The (ε, δ) parts of Theorems 8, 9, 11 and Lemmas 21, 27 rest on it; they are proved for ρ-zCDP with "
            "ρ ≈ ε²/(4 log(1/δ)).",
            _fano_gap,
            n=10**6,
            d=4000,
            epsilon=0.1,
            delta=1e-6,
            share=0.25,
        ),
        erratum(
            "P3.Lem14",
            "Lemma 14, proof of Theorem 9",
            "constant",
            "0.4α min{1, M/e^{10εnγ}} for every non-decreasing Φ, used for ‖w − μ̄_θ‖² in the proof of Theorem 9",
            "For Φ(t) = t² and two equal laws the point halfway has risk α/4.  True is Φ(½Φ⁻¹(α))·0.9(M−1)/(M−1 + e^{10εnγ}); only "
            "constants change.",
            _private_fano_gap,
            power=2.0,
        ),
        erratum(
            "P3.Lem21.separation",
            "proof of Lemma 21",
            "constant",
            "‖μ_θ − μ_θ'‖ ≥ 2ι",
            "Two 0/1 vectors of weight d/2 are at most √2·ι apart; the code gives ι/2.  Only constants change.",
            _code_gap,
            d=8,
            multiple=2.0,
        ),
        erratum(
            "P3.Thm8.delta",
            "Theorem 8 and Lemma 21",
            "rate",
            "for any (ε, δ)-DP algorithm, ε ≪ log(1/δ), err ≥ Ω(u^{2/(1+v)}d(√(d log(1/δ))/(εn))^{2v/(1+v)})",
            "Without a lower limit for δ false for the loss of the proof: an ε-DP algorithm is (ε, δ)-DP, and the coordinate-wise "
            "truncated mean with Laplace noise has E‖μ̃ − μ‖² ≤ 10d·u^{2/(1+v)}(d/(nε))^{2v/(1+v)}, smaller once log(1/δ) ≫ d.  "
            "√(d log(1/δ)) would have to be min{d, ·}; what the proof shows is the ρ-zCDP bound (P3.Lem15).",
            _strong_delta_gap,
            d=10,
            v=1.0,
            epsilon=1.0,
            log_inverse_delta=1e12,
            multiple=1000.0,
            factor=1e-3,
        ),
        erratum(
            "P3.Thm8.moment",
            "Theorem 8 and its proof",
            "constant",
            "E|∇ⱼℓ(w, x)|^{1+v} ≤ u for every w",
            "Only E|xⱼ|^{1+v} ≤ u is shown; at w = −eⱼ it is (1−p) + p(1 + (u/p)^{1/(1+v)})^{1+v} > u.  For u ≥ 1 it is at most "
            "4u; for u < 1 the loss must be scaled.",
            _gradient_moment_gap,
            position=1.0,
            moment=0.01,
            mass=0.001,
            v=1.0,
        ),
        erratum(
            "P3.Thm9.delta",
            "Theorem 9",
            "rate",
            "for any (ε, δ)-DP algorithm, ε ≪ log(1/δ), err ≥ Ω(u^{1/(1+v)}√d(√(d log(1/δ))/(εn))^{v/(1+v)})",
            "As P3.Thm8.delta: for the loss of the proof the direction of the ε-DP mean has excess ≤ 2‖μ̃ − μ‖, smaller once "
            "log(1/δ) ≫ d.",
            _convex_delta_gap,
            d=10,
            v=1.0,
            epsilon=1.0,
            log_inverse_delta=1e16,
            multiple=1000.0,
            factor=1e-2,
        ),
        erratum(
            "P3.Thm9.class",
            "before Theorem 8, and proof of Theorem 9",
            "typo",
            "in the following we show that Theorem 6's term is optimal",
            "The hard loss −⟨w, x⟩ lies outside Assumption 1 (it is negative, and ∇L(w*) ≠ 0); ‖x‖ − ⟨w, x⟩ + ι‖w‖²/2 mends it for "
            "ι ≤ min{R, u^{1/(1+v)}}.",
            _stationary_gap,
            moment=1.0,
            mass=0.01,
            v=1.0,
            d=2,
            curvature=0.0,
        ),
        erratum(
            "P3.Thm11.class",
            "Theorem 11",
            "rate",
            "W = {‖w‖₀ ≤ s*}, a strongly convex loss, E|∇ⱼℓ(w, x)|^{1+v} ≤ u for every w",
            "|∂₁L(te₁)| ≥ αt − u^{1/(1+v)} exceeds u^{1/(1+v)} for large t, so no distribution exists for any strongly convex loss "
            "on this W; bound W.",
            _unbounded_gap,
            convexity=1.0,
            moment=1.0,
            v=0.5,
            multiple=3.0,
        ),
        erratum(
            "P3.Thm11.delta",
            "Theorem 11 and Lemma 27",
            "rate",
            "for any (ε, δ)-DP algorithm, ε ≪ log(1/δ), err ≥ Ω(u^{2/(1+v)}(√(s* log d log(1/δ))/(εn))^{2v/(1+v)})",
            "As P3.Thm8.delta, for the sparse means of Lemma 27: the ε-DP mean is better once log(1/δ) ≫ a power of d.",
            _sparse_delta_gap,
            d=10,
            sparsity=2,
            v=1.0,
            epsilon=1.0,
            log_inverse_delta=1e16,
            multiple=1000.0,
            factor=1e-3,
        ),
        erratum(
            "P3.Thm11.range",
            "Theorem 11",
            "typo",
            "n ≥ Ω(√(s* log d log(1/δ)/ε))",
            f"ε belongs outside the root, else p > 1.  {LOST}",
            _least_records_gap,
            epsilon=0.1,
            log_product=50.0,
        ),
        erratum(
            "P3.Lem27.separation",
            "proof of Lemma 27",
            "constant",
            "‖θ − θ'‖ ≥ √2 for all θ ≠ θ' in Θ = H̃/√(2s*)",
            "‖θ‖ = 1/√2, so no three such points exist; Hamming distance s*/2 gives ½.  Only constants change.",
            _sphere_gap,
            norm=math.sqrt(0.5),
        ),
        erratum(
            "P3.Thm11.packing",
            "proof of Lemma 27, choice of p",
            "typo",
            "p = Ω(min{1, s* log d/(nε)})",
            "That needs log|Θ| ≳ s* log d, and Lemma 28 gives s* log(d/s*); at s* = d all of H has only d log 2.  The ε-DP rate "
            "stands by the packing without 1/√(2s*), whose bound is larger by s*.",
            _packing_gap,
            log_d=100.0,
            factor=0.01,
        ),
        erratum(
            "P3.Thm11.square",
            "proof of Theorem 11, last display",
            "typo",
            "L(w) − L(w*) = ½E‖w − E x‖",
            f"The square is missing.  {LOST}",
            _square_gap,
            distance=0.5,
        ),
    )


def _sparse_learning() -> tuple[Erratum, ...]:
    return (
        erratum(
            "P3.Asm2",
            "Assumption 2",
            "rate",
            "L_D μ_r-RSC and E|∇ⱼℓ(w, x)|^{1+v} ≤ u for every s-sparse w",
            "No loss satisfies both: W' is unbounded, and |∂₁L(te₁)| ≥ μt − u^{1/(1+v)} exceeds u^{1/(1+v)} for t > "
            "2u^{1/(1+v)}/μ.  Theorem 10's utility part is empty as stated; a bounded set, and iterates kept in it, are needed.",
            _unbounded_gap,
            convexity=1.0,
            moment=1.0,
            v=1.0,
            multiple=3.0,
        ),
        erratum(
            "P3.Asm2.example",
            "after Assumption 2",
            "rate",
            "|ℓ'|, |ℓ''| ≤ O(1) and (1+v)-th moments of xᵢ suffice for Assumption 2",
            "ℓ(·, x) has Hessian ℓ''(⟨w, x⟩)xx', so γ_r is infinite for unbounded x; if E x² = ∞ not even L_D is smooth.",
            _logistic_gap,
            feature=1000.0,
            ridge=1.0,
            smoothness=100.0,
            step=0.01,
        ),
        erratum(
            "P3.Lem22",
            "Algorithm 4 and Lemma 22",
            "privacy",
            "peeling with Laplace scale 4λ√(2s log(1/δ))/ε is (ε, δ)-private for 0 < ε, δ < 1",
            "The noise vanishes as δ → 1: false already for d = s = 1 at δ = 0.99999.",
            _peeling_gap,
            epsilon=0.9,
            delta=0.99999,
        ).told(
            "The peeling step in Lemma 22 of P3 fails when δ is close to 1.",
            "Peeling selects s coordinates and adds Laplace noise of scale 4λ√(2s log(1/δ))/ε, where one record moves"
            " a coordinate by at most λ. This scale shrinks to zero as δ approaches 1. The claim fails even for a "
            "single coordinate, at δ = 0.99999.",
        ),
        erratum(
            "P3.Thm10.sensitivity",
            "proof of Theorem 10, privacy",
            "typo",
            "‖…‖_∞ ≤ 2Bηs/(3m), thus by Lemma 22 private",
            "With η = η₀ this is s/3 times line 10's λ = 2Bη₀/m, so Lemma 22 would not apply; the sensitivity is 2Bη₀/m, and "
            f"privacy stands.  {LOST}",
            _sensitivity_gap,
            clip=1.0,
            step=1.0,
            size=10,
            sparsity=72,
        ),
        erratum(
            "P3.Lem24",
            "Lemma 24",
            "typo",
            "for any index set I, ‖v_S − v‖² ≤ (1 + 1/c)(|I| − s)/(|I| − ŝ)‖v̂ − v‖² + …",
            f"S ⊆ I is needed, or the selection made within I.  {LOST}",
            _projection_gap,
            sparsity=2,
            size=3,
            inside=0,
            c=2.0,
        ),
        erratum(
            "P3.Thm10.(33)",
            "proof of Theorem 10, after (33)",
            "typo",
            "(c + (c+1)²/c)·η/(2γ)",
            "η²/γ² is meant, as (33) and the next display have; the last norm of (33) has S^t∖S^{t+1} for "
            f"S^{{t+1}}∖S^t.  {LOST}",
            _coefficient_gap,
            eta=2 / 3,
            gamma=1.0,
        ),
        erratum(
            "P3.Thm10.(35)",
            "proof of Theorem 10, before (35)",
            "typo",
            "−(η/(2γ))(‖g_{S^t∖S^{t+1}}‖² + ‖g_{S^{t+1} ∩ S^t}‖²) = −(η/(2γ))‖g_{S^{t+1} ∪ S^t}‖²",
            "The left side is −(η/(2γ))‖g_{S^t}‖².  (35) stands: split ⟨g̃ − g, g⟩ in (30) with weight 1/(4c) in place of ½.",
            _union_gap,
            new=1.0,
            both=0.0,
            old=0.0,
        ),
        erratum(
            "P3.Thm10.(39)",
            "proof of Theorem 10 (39)",
            "typo",
            "ŵ^{t+1} − w^t + (η/γ)g^t is 0 on S^{t+1}, so the cross term vanishes",
            "It is (η/γ)(g − g̃) there; the cross term stays and is O(N^t).",
            _cross_term_gap,
            noise=1.0,
            error=1.0,
        ),
        erratum(
            "P3.Thm10.(42)",
            "proof of Theorem 10 (42)",
            "typo",
            "take c ≥ √3/(√3 − √2)",
            "That makes (c/(c−1))² ≤ 3/2; the factor before (42) is (c+1)²/(c(c−1)), 1.715 there, and needs c ≥ (7+√57)/2.  (42) "
            "stands with other constants.",
            _weight_gap,
            c=math.sqrt(3) / (math.sqrt(3) - math.sqrt(2)),
        ),
        erratum(
            "P3.Thm10.(45)",
            "proof of Theorem 10, before (45)",
            "typo",
            "(γ/2)‖w* − w + (η/γ)g‖² = η⟨w* − w, g⟩ + (γ/2)‖w* − w‖² + (η²/(2cγ))‖g‖²",
            "The last term has no 1/c; the 1/(36γ) that follows is right without it.",
            _inverse_gap,
            c=8.0,
        ),
        erratum(
            "P3.Lem25",
            "Lemma 25",
            "typo",
            "‖g_{S^t ∪ S*}‖² − (μ²/4)‖w* − w^t‖² ≥ (μ/2)(L(w^t) − L(w*))",
            "Needs L(w^t) ≥ L(w*), which may fail, as w^t has s > s* non-zeros.  Where it fails, the left side is at least "
            "μ(L(w^t) − L(w*)), and L(w^{t+1}) − L(w*) is at most of the order of the noise.",
            _restricted_gap,
            coordinate=0.5,
            shift=0.5,
        ),
        erratum(
            "P3.Thm10.contraction",
            "proof of Theorem 10, after Lemma 25 and at the end",
            "constant",
            "L(w^{t+1}) − L(w*) ≤ (1 − (5/72)μ/γ)(L(w^t) − L(w*)) + …, then with 1 − μ/(12γ)",
            "(50) gives 1 − 2s*/(s+s*) − μ/(24γ), and 2s*/(s+s*) ≈ μ²/(36γ²), not μ/(36γ); neither follows, and the exponent T+1 "
            "should be T.  T changes by a constant.",
            _contraction_gap,
            condition=10.0,
            ratio=7200.0,
        ),
        erratum(
            "P3.Lem26",
            "Lemma 26",
            "constant",
            "P(‖w‖²_∞ ≥ 4λ²log²(1/ξ)log²d) ≤ ξ for any ξ > 0",
            "False for d = 1, where the threshold is 0, and for every d at ξ near 1.  P(‖w‖_∞ ≥ λ log(d/ξ)) ≤ ξ holds.",
            _laplace_max_gap,
            d=3,
            xi=0.5,
        ),
        erratum(
            "P3.Thm10.dimension",
            "proof of Theorem 10, after Lemma 26, and (55)",
            "typo",
            "Σ‖w_i‖²_∞ + s‖w̃‖²_∞ ≤ O(… log²(Ts/ξ))",
            "The maximum is over d variables, so log²(dTs/ξ).  The theorem stands, since its B contains log(dT/ξ) and s ≤ d.",
            _dimension_gap,
            log_d=100.0,
            xi=0.1,
            factor=10.0,
        ),
        erratum(
            "P3.Thm10.(54)",
            "proof of Theorem 10 (54)",
            "typo",
            "… + B²T²log²(1/ξ)/B^{2v}",
            f"Two terms in one: B²T²log²(d/ξ)/n² and u²/B^{{2v}}, the latter as in (55).  {LOST}",
            _merged_terms_gap,
            moment=1e6,
            clip=1.0,
            v=0.5,
            n=10**12,
            factor=10.0,
        ),
    )
