"""[P4] Pure ε-DP stochastic convex optimisation with heavy tails: what the paper states, and what we add to it.

The text at hand has words but no formulas.  Rates are reconstructed (`source`), and `printed` is what we take the paper to print.
`derived` follows from the first item of `follows_from` that has a rate, by `choices`; `steps` says how.  A choice may
mention letters that other choices explain.

Letters beyond the common ones: R a diameter (of W_loc, or of the set of a subgradient method); r λ times the distance of a
solver's output from the regularised minimiser, or the error of a mean, as each item says; M a bound on subgradients; nu
the error of a subgradient; alpha an accuracy; B the logarithm of a net's size; tau a probability or a projection's error;
xi a failure probability.  Rates in xi take xi <= 1/2.
"""

from __future__ import annotations

import math
from dataclasses import replace

from tailproof.bounds.statements import Comparison, Statement
from tailproof.refimpl.extension.joint import adaptive_iterations_upper, constant_step_bound
from tailproof.refimpl.pure_dp.moment_choice import level_share_upper
from tailproof.refimpl.pure_dp.objective import objective_bound
from tailproof.refimpl.pure_dp.perturbation import budget, noise_radius_upper
from tailproof.refimpl.pure_dp.plan import expectation_bound, phase_error_upper
from tailproof.refimpl.pure_dp.single import bias_constant, gradient_bias
from tailproof.refimpl.validation import between, nonnegative, positive, probability, real, whole

_NUMBERED = (
    "Assumption 1.1",
    "Definition 1.2",
    "Theorem 2.1",
    "Lemma 2.2",
    "Lemma 2.3",
    "Lemma 2.4",
    "Proposition 2.5",
    "Remark 2.6",
    "Lemma 2.7",
    "Lemma 2.8",
    "Proposition 2.9",
    "Theorem 3.1",
    "Proposition 3.2",
    "Theorem 4.1",
    "Remark A.1",
    "Theorem B.1",
    "Lemma C.1",
    "Lemma C.2",
    "Proposition C.3",
    "Lemma C.4",
    "Proposition C.5",
    "Lemma C.6",
    "Proposition D.1",
    "Theorem D.2",
    "Definition D.3",
    "Theorem D.4",
    "Lemma D.5",
    "Proposition D.6",
    "Corollary D.7",
    "Theorem E.1",
    "Theorem E.2",
    "Remark E.3",
    "Proposition E.4",
    "Theorem E.5",
    "Lemma F.1",
    "Lemma F.2",
    "Lemma F.3",
    "Lemma F.4",
    "Proposition F.5",
    "Theorem F.6",
    "Lemma G.1",
    "Proposition G.2",
    "Lemma G.3",
    "Proposition G.4",
    "Theorem G.5",
    "Theorem G.6",
    "Remark G.7",
)
_TEXT = (
    "Abstract",
    "Section 1",
    "Table 1",
    "Section 1.1",
    "Section 2.2",
    "Section 3",
    "Section 4",
    "Section 5",
    "Appendix A",
)

LABELS: tuple[str, ...] = (
    *_NUMBERED,
    *_TEXT,
    *(f"Algorithm {i}" for i in range(1, 8)),
    *(f"({i})" for i in range(1, 33)),
)


# ------------------------------------------------------------------------------------------------ explicit inequalities


def _order(moment_order: float) -> float:
    return between("moment_order", moment_order, 2.0, 1e6)


def value_bias_upper(*, diameter: float, moment_bound: float, moment_order: float, clip: float) -> float:
    """Lemma C.1: E sup_W (F̂ − F̂_C) ≤ D·G^k·C^{1−k}/(k − 1)."""
    k, C = _order(moment_order), positive("clip", clip)
    return positive("diameter", diameter) * C * math.pow(positive("moment_bound", moment_bound) / C, k) / (k - 1)


def value_bias_constant(order: float) -> float:
    """The best constant in its place: the largest (t − 1)/t^k, at t = k/(k − 1).  1/(k − 1) is e to 4 times that."""
    k = _order(order)
    return math.exp(k * math.log1p(-1 / k)) / (k - 1)


def gradient_bias_mean_upper(*, moment_bound: float, moment_order: float, clip: float) -> float:
    """Ours: λ·E‖argmin F̂_{λ,C} − argmin F̂_λ‖ ≤ c_k·G^k·C^{1−k}."""
    k, C = _order(moment_order), positive("clip", clip)
    return bias_constant(k) * C * math.pow(positive("moment_bound", moment_bound) / C, k)


def output_sensitivity_upper(*, n: int, weight: float, clip: float, kappa: float = 1.0) -> float:
    """Lemma C.2: (2 + 2κ)·C/(λn) for minimisers of gap ≤ κ²C²/(2λn²); the paper has κ = 1."""
    return (
        (2 + 2 * nonnegative("kappa", kappa))
        * positive("clip", clip)
        / (positive("weight", weight) * whole("n", n, least=1))
    )


def noise_length_upper(*, dimension: int, sensitivity: float, epsilon: float, failure: float) -> float:
    """(Δ/ε)(d + √(2dℓ) + ℓ), ℓ = log(1/ζ): above the exact quantile of the noise's length."""
    d, log = whole("dimension", dimension, least=1), math.log(1 / probability("failure", failure))
    return positive("sensitivity", sensitivity) / positive("epsilon", epsilon) * (d + math.sqrt(2 * d * log) + log)


def localised_radius_upper(
    *, n: int, dimension: int, weight: float, clip: float, epsilon: float, failure: float, kappa: float = 1.0
) -> float:
    """Lemma C.2: the quantile of the noise plus κC/(λn), the radius of W_loc."""
    reach = output_sensitivity_upper(n=n, weight=weight, clip=clip, kappa=kappa)
    noise = noise_radius_upper(dimension=dimension, sensitivity=reach, spend=budget(epsilon=epsilon), failure=failure)
    return noise + kappa * clip / (weight * n)


def single_distance_upper(
    *,
    n: int,
    dimension: int,
    moment_order: float,
    moment_bound: float,
    weight: float,
    clip: float,
    epsilon: float,
    failure: float,
    bias_failure: float,
    kappa: float,
) -> float:
    """Ours: ‖ŵ − u*‖ ≤ κC/(λn) + radius_ζ + c_k·G^k·C^{1−k}/(ζ'λ) with probability 1 − ζ − ζ'."""
    bias = gradient_bias_mean_upper(moment_bound=moment_bound, moment_order=moment_order, clip=clip)
    radius = localised_radius_upper(
        n=n, dimension=dimension, weight=weight, clip=clip, epsilon=epsilon, failure=failure, kappa=kappa
    )
    return radius + bias / (probability("bias_failure", bias_failure) * weight)


def localised_excess_upper(*, diameter: float, moment_bound: float, deviation: float, phases: int) -> float:
    """Theorem 2.1: F(w_I) − F* ≤ 12·D·Δ_0 + G·D·4^{−I} but for I·exp(−0.0722·J); Δ_0 = √10·G/√m + a(m), m = 2^I."""
    D, G = positive("diameter", diameter), positive("moment_bound", moment_bound)
    return 12 * D * nonnegative("deviation", deviation) + G * D * 4.0 ** -whole("phases", phases, least=0)


def joint_norm_upper(*, lipschitz_constants: list[float], clip: float, weight: float, reach: float) -> float:
    """(14): √((C + λ·reach)² + (1/n²)Σ(L_i + C)²), reach = max_W ‖w − w_0‖, for the subgradients of J."""
    n, C = len(lipschitz_constants), positive("clip", clip)
    own = math.hypot(*(nonnegative("lipschitz_constants", L) + C for L in lipschitz_constants)) / n
    return math.hypot(C + positive("weight", weight) * positive("reach", reach), own)


def steepest_record_upper(*, n: int, moment_bound: float, moment_order: float, failure: float) -> float:
    """Proposition D.1, runtime: max L_i ≤ G(n/ζ)^{1/k} but for ζ."""
    records = whole("n", n, least=1) / probability("failure", failure)
    return positive("moment_bound", moment_bound) * math.pow(records, 1 / _order(moment_order))


def projection_calls_upper(*, distance: float, radius: float, accuracy: float) -> int:
    """Lemma C.6: max(0, ⌈log2(‖z − c‖²/(rζ))⌉) + 2 projections onto W."""
    quotient = positive("distance", distance) / positive("radius", radius) * (distance / positive("accuracy", accuracy))
    return max(0, math.ceil(math.log2(quotient))) + 2


def net_size_upper(*, dimension: int, diameter: float, spacing: float) -> float:
    """Appendix E: a net of W of that spacing has at most (1 + 2D/ξ)^d points."""
    ratio = positive("diameter", diameter) / positive("spacing", spacing)
    return math.pow(1 + 2 * ratio, whole("dimension", dimension, least=1))


def score_sensitivity_upper(*, n: int, clip: float) -> float:
    """Theorem E.1: one record moves the clipped projected-gradient score by at most 2C/n."""
    return 2 * positive("clip", clip) / whole("n", n, least=1)


def score_slope_upper(*, smoothness: float, weight: float) -> float:
    """Theorem E.1: the score is 3(β + λ)-Lipschitz at η = 1/(β + λ)."""
    return 3 * (nonnegative("smoothness", smoothness) + positive("weight", weight))


def selected_score_upper(*, n: int, clip: float, epsilon: float, log_size: float, failure: float) -> float:
    """Theorem E.1: (4C/(nε))(log|N| + log(1/ζ)) above the least score of the net, but for ζ."""
    logs = nonnegative("log_size", log_size) + math.log(1 / probability("failure", failure))
    return 2 * score_sensitivity_upper(n=n, clip=clip) / positive("epsilon", epsilon) * logs


def stationary_distance_upper(*, mapping_norm: float, weight: float) -> float:
    """(25): ‖w − u*‖ ≤ ‖𝒢(w)‖/λ at η ≤ 1/(β + λ)."""
    return nonnegative("mapping_norm", mapping_norm) / positive("weight", weight)


def clipping_bias_mean_upper(*, moment_bound: float, moment_order: float, clip: float) -> float:
    """(21) in expectation: E sup_w ‖mean(Π_C g_i − g_i)‖ ≤ G^k·C^{1−k}/(k − 1)."""
    return value_bias_upper(diameter=1.0, moment_bound=moment_bound, moment_order=moment_order, clip=clip)


def ball_smoothness_constant(dimension: int) -> float:
    """(29): f^σ is c·L/σ-smooth, c = 2Γ(d/2 + 1)/(√π·Γ((d + 1)/2)) ≤ √d; the paper has d."""
    d = whole("dimension", dimension, least=1)
    return 2 / math.sqrt(math.pi) * math.exp(math.lgamma(d / 2 + 1) - math.lgamma((d + 1) / 2))


def smoothing_distance_upper(*, width: float, mean_lipschitz: float, weight: float) -> float:
    """§E.2: ball smoothing moves the regularised minimiser by at most √(σL̄/λ)."""
    return math.sqrt(
        nonnegative("width", width) * nonnegative("mean_lipschitz", mean_lipschitz) / positive("weight", weight)
    )


def centred_sensitivity_upper(*, n: int, clip: float, diameter: float) -> float:
    """Lemma F.1: (2C/n)·diam."""
    return score_sensitivity_upper(n=n, clip=clip) * positive("diameter", diameter)


def evaluator_divergence_upper(*, inverse_temperature: float, error: float) -> float:
    """Lemma F.2 and F.3: a potential known up to ±ζ has max-divergence at most 2γζ from the target."""
    return 2 * positive("inverse_temperature", inverse_temperature) * nonnegative("error", error)


def determinant_quotient_upper(*, n: int, weight: float, curvature: float) -> float:
    """1 + B/(nΛ): how much one Hessian of rank one can change the Jacobian of the map from minimisers to tilts."""
    return 1 + nonnegative("curvature", curvature) / (whole("n", n, least=1) * positive("weight", weight))


def objective_epsilon(
    *, n: int, clip: float, weight: float, curvature: float, tilt: float, accuracy: float, noise: float
) -> float:
    """2C/s + log(1 + B/(nΛ)) + 2r/t, for tilts ∝ exp(−‖b‖/s) and noise ∝ exp(−‖z‖/t)."""
    moved = 2 * positive("clip", clip) / positive("tilt", tilt)
    bent = math.log(determinant_quotient_upper(n=n, weight=weight, curvature=curvature))
    return moved + bent + 2 * nonnegative("accuracy", accuracy) / positive("noise", noise)


def transferred_epsilon(*, epsilon: float, divergence: float) -> float:
    """Lemma F.4: ε + 2τ."""
    return positive("epsilon", epsilon) + 2 * nonnegative("divergence", divergence)


def gibbs_excess_upper(*, dimension: int, inverse_temperature: float) -> float:
    """Proposition F.5: the mean of V under the density ∝ exp(−γV) is at most d/γ above its minimum."""
    return whole("dimension", dimension, least=1) / positive("inverse_temperature", inverse_temperature)


def linear_excess_lower(*, diameter: float, mean_norm: float, error: float) -> float:
    """Lemma G.1: excess ≥ (D/(4‖μ‖))·‖μ̂ − μ‖² for f(w, x) = −⟨w, x⟩ on the ball, μ̂ = (2‖μ‖/D)·w."""
    return positive("diameter", diameter) / (4 * positive("mean_norm", mean_norm)) * nonnegative("error", error) ** 2


def two_point_failure_lower(*, n: int, tilt: float) -> float:
    """Proposition G.2: whoever guesses the sign of ±τ from n records errs with probability ≥ ¼·exp(−nτ·log((1+τ)/(1−τ)))."""
    t = between("tilt", tilt, 0.0, 0.999)
    return math.exp(-whole("n", n, least=1) * t * (math.log1p(t) - math.log1p(-t))) / 4


def nonprivate_excess_lower(*, n: int, moment_bound: float, diameter: float, failure: float) -> float:
    """Theorem G.6, first part: with probability ≥ ζ the excess is ≥ τGD/2, τ = min{½, √(log(1/(4ζ))/(2.2·n))}, ζ < ¼."""
    zeta = between("failure", failure, 1e-300, 0.25)
    tilt = min(0.5, math.sqrt(math.log(1 / (4 * zeta)) / (2.2 * whole("n", n, least=1))))
    return tilt * positive("moment_bound", moment_bound) * positive("diameter", diameter) / 2


def decoding_error_lower(*, size: int, epsilon: float, changed: int) -> float:
    """Proposition G.4: mean error over |V| members, x/(2(1 + x)) with x = (|V| − 1)e^{−εK}, K ≥ ⌈np⌉ records that differ."""
    x = (whole("size", size, least=2) - 1) * math.exp(-positive("epsilon", epsilon) * whole("changed", changed, least=0))
    return x / (2 * (1 + x))


def private_excess_lower(
    *,
    n: int,
    size: int,
    separation: float,
    moment_order: float,
    moment_bound: float,
    diameter: float,
    epsilon: float,
    failure: float,
) -> float:
    """Theorem G.6, second part: D·G·p^{1−1/k}·sep²/16, p = min{1, K/n}, for the largest K whose decoding error is ≥ ζ < ½."""
    zeta, members = between("failure", failure, 1e-300, 0.499), whole("size", size, least=2)
    room = math.log(members - 1) + math.log1p(-2 * zeta) - math.log(2 * zeta)
    share = min(1.0, max(0, math.floor(room / positive("epsilon", epsilon))) / whole("n", n, least=1))
    norm = positive("moment_bound", moment_bound) * math.pow(share, 1 - 1 / _order(moment_order))
    return positive("diameter", diameter) * norm * real("separation", separation) ** 2 / 16


# ------------------------------------------------------------------------------------------------------------ the rates

_K = ("k>=2",)
_PRIVATE = "(d/(n*eps))**(1-1/k)"
_HEADLINE = f"G*D*(1/sqrt(n) + {_PRIVATE})"
_OBJECTIVE = f"G*D*(1/sqrt(n) + 1/sqrt(n*eps) + {_PRIVATE})"
_DISTANCE = f"G/lam*{_PRIVATE}"
_UPPER = "G*D*(sqrt(log(1/xi)/n) + (d*log(1/xi)/(n*eps))**(1-1/k))"
_LOWER = "G*D*Min(1, sqrt(log(1/xi)/n) + ((d+log(1/xi))/(n*eps))**(1-1/k))"
_NET = "G*D*(sqrt(log(1/xi)/n) + (d*log(n)*log(1/xi)/(n*eps))**(1-1/k))"
_KNOWN_LOWER = f"G*D*Min(1, 1/sqrt(n) + {_PRIVATE})"
_APPROX = "G*D*(1/sqrt(n) + (sqrt(d*log(1/delta))/(n*eps))**(1-1/k))"
_ZCDP = "G*D*(1/sqrt(n) + (sqrt(d/rho)/n)**(1-1/k))"
_LIPSCHITZ = "L*D*(1/sqrt(n) + d/(n*eps))"
_PAPER_CLIP = "G*(n*eps/d)**(1/k)"
_LOG_CLIP = "G*(n*eps/(B+log(1/xi)))**(1/k)"
_UNLOCALISED = "G**(k/(k+1))*(lam*D)**(1/(k+1))*(d/(n*eps))**((k-1)/(k+1))/lam"
_CLIPPED_DESCENT = "G*D*(d/(n*eps))**((k-1)/(2*k-1))"
_SETTING = ("f(·, x) is convex on W, closed convex of diameter D; E L_x^k ≤ G^k with G public",)
_CENTRE = "P4.T2.1 is applied with n/log(1/xi) records in place of n"


STATEMENTS: tuple[Statement, ...] = (
    # ------------------------------------------------------------------------------------- abstract, introduction, tables
    Statement(
        "P4.ABS",
        "Abstract",
        "upper",
        "reconstructed",
        "The minimax excess risk of pure ε-DP heavy-tailed convex optimisation is characterised up to logarithms, in polynomial "
        "time with high probability, and with certainty for polynomially bounded Lipschitz constants or structured losses.",
        assumptions=_SETTING,
        where=_K,
        printed=_HEADLINE,
        derived=_HEADLINE,
        hidden="logarithms, of 1/xi in T3.1",
        follows_from=("P4.EQ4",),
        algorithms=("P4.A1", "P4.A4", "P4.D4"),
    ),
    Statement(
        "P4.EQ4",
        "(4)",
        "upper",
        "reconstructed",
        "With high probability the excess risk is at most G·D(1/√n + (d/(nε))^{1−1/k}) up to logarithms.",
        place="Section 1, Contribution 1",
        assumptions=_SETTING,
        where=("k>=2", "eps<=d", "n*eps>=d"),
        printed=_HEADLINE,
        derived=_HEADLINE,
        hidden="log(1/xi) as in T3.1; none in expectation (ours)",
        choices={"lam": "(G/sqrt(n)+r)/D", "r": f"G*{_PRIVATE}"},
        follows_from=("P4.OURS.phases", "P4.OURS.phase"),
        steps=("in expectation, by our bound; nε < d: output any fixed point, excess ≤ G·D",),
        algorithms=("P4.A1", "P4.A4", "P4.S1"),
    ),
    Statement(
        "P4.EQ3",
        "(3)",
        "definition",
        "reconstructed",
        "E L_x^k ≤ G^k for some k ≥ 2, L_x the Lipschitz constant of f(·, x) on W; sup_x L_x may be infinite.",
        place="Section 1",
    ),
    Statement(
        "P4.EQ5",
        "(5)",
        "definition",
        "reconstructed",
        "f_C(w, x) = inf over y in W of f(y, x) + C‖w − y‖.",
        place="Section 1, Contribution 3",
    ),
    Statement(
        "P4.INTRO.a",
        "Section 1",
        "upper",
        "reconstructed",
        "Known for (ε, δ)-DP: √(d·log(1/δ)) in place of d.",
        assumptions=_SETTING,
        where=_K,
        printed=_APPROX,
        derived=_APPROX,
        hidden="logarithms",
        choices={"lam": "(G/sqrt(n)+r)/D", "r": "G*(sqrt(d*log(1/delta))/(n*eps))**(1-1/k)"},
        follows_from=("P4.OURS.phases",),
        steps=("Gaussian noise of scale Δ√log(1/δ)/ε has length √d times that",),
    ),
    Statement(
        "P4.INTRO.b",
        "Section 1",
        "upper",
        "reconstructed",
        "Under the worst-case Lipschitz constant L the pure-DP rate is L·D(1/√n + d/(nε)).",
        assumptions=("every f(·, x) is L-Lipschitz on W",),
        printed=_LIPSCHITZ,
        derived=_LIPSCHITZ,
        choices={"lam": "(G/sqrt(n)+r)/D", "r": "L*d/(n*eps)", "G": "L"},
        follows_from=("P4.OURS.phases",),
        steps=("C = L: no bias at all; it is the limit k → ∞ of (4)",),
    ),
    Statement(
        "P4.INTRO.c",
        "Section 1",
        "lower",
        "reconstructed",
        "The lower bound known before, in expectation: G·D·min{1, 1/√n + (d/(nε))^{1−1/k}}.",
        place="The pure-DP gap; Appendix A",
        where=_K,
        printed=_KNOWN_LOWER,
        derived=_KNOWN_LOWER,
        follows_from=("P4.TG.6",),
        choices={"xi": "1/8"},
        steps=("T G.6 at a constant failure probability, and E ≥ ζ·quantile",),
        algorithms=("P4.G",),
    ),
    Statement(
        "P4.INTRO.d",
        "Section 1.1",
        "lemma",
        "reconstructed",
        "Challenge 1: noisy clipped gradient methods are suboptimal under pure DP, since only basic composition is available.",
        where=("k>=2", "n*eps>=d"),
        derived=_CLIPPED_DESCENT,
        choices={"T": "G*n*eps/(C*d)", "C": "G*(n*eps/d)**(1/(2*k-1))"},
        follows_from=("P4.INTRO.e",),
        steps=("balance G/√T with the noise, then noise with bias",),
    ),
    Statement(
        "P4.INTRO.e",
        "Section 1.1",
        "lemma",
        "ours",
        "T full-batch clipped gradient steps, each with ε/T and noise of length C·d·T/(nε): the usual bound of the average.",
        where=_K,
        derived="D*(G/sqrt(T) + C*d*sqrt(T)/(n*eps) + G**k*C**(1-k))",
        steps=("D·G/√T from the steps, D·(C·d·T/(nε))/√T from the noise, D·G^k·C^{1−k} from the clipping bias",),
    ),
    Statement(
        "P4.INTRO.f",
        "Section 1.1",
        "lemma",
        "printed",
        "Challenge 3: over the whole domain the bias of the extension is too large for the optimal rate, so W is localised first.",
        where=("k>=2", "eps<=d"),
        derived=_DISTANCE,
        choices={"C": _PAPER_CLIP, "xi": "1/10"},
        follows_from=("P4.OURS.distance",),
        steps=(
            "True of the value bias (L2.3), and of guarantees that rest on it; the distance of the minimisers is bounded by the "
            "bias of gradients (OURS.lemma), which is small enough over the whole of W",
        ),
        algorithms=("P4.S1", "P4.A4"),
    ),
    Statement(
        "P4.TAB.1",
        "Table 1",
        "upper",
        "reconstructed",
        "Approximate-DP bounds of earlier work: (ε, δ)-DP, polynomial time with certainty, general losses.",
        where=_K,
        printed=_APPROX,
        derived=_APPROX,
        follows_from=("P4.INTRO.a",),
    ),
    Statement(
        "P4.TAB.2",
        "Table 1",
        "upper",
        "reconstructed",
        "Exponential mechanism: pure ε-DP, inefficient, general losses.",
        where=_K,
        printed=_NET,
        derived=_NET,
        hidden="logarithms of all parameters",
        follows_from=("P4.TE.2", "P4.TE.5"),
        steps=(
            "§E.2 assumes losses on W + σB; that costs nothing: inf over y in W of f(y, x) + L_x‖w − y‖ is convex, "
            "L_x-Lipschitz everywhere and equals f on W",
        ),
        algorithms=("P4.A5",),
    ),
    Statement(
        "P4.TAB.3",
        "Table 1",
        "upper",
        "reconstructed",
        "Double output perturbation: pure ε-DP, polynomial time with high probability, general losses.",
        where=_K,
        printed=_UPPER,
        derived=_UPPER,
        follows_from=("P4.T3.1",),
        algorithms=("P4.A1", "P4.A4"),
    ),
    Statement(
        "P4.TAB.4",
        "Table 1",
        "upper",
        "reconstructed",
        "Structured subclasses: pure ε-DP, polynomial time with certainty.",
        where=_K,
        printed=_UPPER,
        derived=_UPPER,
        follows_from=("P4.TD.4",),
        algorithms=("P4.D4",),
    ),
    Statement(
        "P4.TAB.5",
        "Table 1",
        "lower",
        "reconstructed",
        "Pure-DP lower bound, general losses.",
        where=_K,
        printed=_LOWER,
        derived=_LOWER,
        follows_from=("P4.T4.1",),
        algorithms=("P4.G",),
    ),
    Statement(
        "P4.CONCL",
        "Section 5",
        "upper",
        "reconstructed",
        "The optimal rate up to a logarithmic factor; open: d + log(1/ξ) in place of d·log(1/ξ), certain polynomial time for all "
        "losses, practical implementation.",
        where=_K,
        printed=_UPPER,
        derived=_UPPER,
        follows_from=("P4.T3.1",),
    ),
    Statement(
        "P4.A1.1", "Assumption 1.1", "definition", "reconstructed", "Convex losses, (3), W closed convex with a projection."
    ),
    Statement(
        "P4.D1.2", "Definition 1.2", "definition", "reconstructed", "(ε, δ)-DP for data sets that differ in one entry."
    ),
    Statement("P4.R.A1", "Remark A.1", "definition", "printed", "G is known, as is standard; estimating it is left open."),
    # ------------------------------------------------------------------------------------------------------ Section 2
    Statement(
        "P4.EQ6",
        "(6)",
        "definition",
        "reconstructed",
        "What Theorem 2.1 asks of a solver: within (G/λ)(d/(nε))^{1−1/k} of argmin F̂_λ with constant probability, for every λ.",
        where=_K,
        printed=_DISTANCE,
        derived=_DISTANCE,
    ),
    Statement(
        "P4.T2.1",
        "Theorem 2.1",
        "upper",
        "reconstructed",
        "A solver within r/λ of argmin F̂_λ with probability 0.8 gives excess risk D(G√(log(1/ξ)/n) + r), r at n/log(1/ξ) records.",
        assumptions=(*_SETTING, "r(m/2) ≤ 2·r(m)", "batches are disjoint: the run has the privacy of one call"),
        printed="D*(G*sqrt(log(1/xi)/n) + r)",
        derived="D*(G*sqrt(log(1/xi)/n) + r)",
        hidden="with equally many repetitions in every phase log(log(n)/xi) in place of log(1/xi)",
        steps=(
            "argmin F̂_λ is within √10·G/(λ√m) of argmin F_λ with probability 0.9, so every repetition is within Δ/λ with 0.7",
            "J repetitions, aggregated, are within 3Δ/λ but for exp(−0.0722·J)",
            "F(w_i*) − F(w_{i−1}*) ≤ (λ_i/4)‖w_{i−1}* − w_{i−1}‖²; λ_i = 8^i·λ, λ = 3Δ_0/D make the sum geometric",
            "J_i = ⌈13.9·log(2^i/ξ)⌉ repetitions of n_i = n/(2^i·J_i) records: failures sum to ξ, Δ_i ≤ i·2^i·Δ_0 up to constants, "
            "and Σ i²·4^i/8^i converges, so log log n does not appear",
        ),
        algorithms=("P4.A1",),
        explicit=localised_excess_upper,
    ),
    Statement(
        "P4.L2.2",
        "Lemma 2.2",
        "lemma",
        "reconstructed",
        "f_C is convex, C-Lipschitz and ≤ f on W; it equals f where some g in ∂f + N_W has ‖g‖ ≤ C.",
    ),
    Statement(
        "P4.EQ7",
        "(7)",
        "lemma",
        "reconstructed",
        "F̂_λ(w) − min F̂_λ ≤ F̂_{λ,C}(w) − min F̂_{λ,C} + sup (F̂ − F̂_C).",
        follows_from=("P4.L2.2",),
    ),
    Statement(
        "P4.L2.3",
        "Lemma 2.3",
        "lemma",
        "reconstructed",
        "The value bias: E sup_W (F̂ − F̂_C) ≤ D·G^k·C^{1−k}/(k − 1).",
        where=_K,
        printed="D*G**k*C**(1-k)",
        derived="D*G**k*C**(1-k)",
        follows_from=("P4.LC.1",),
        explicit=value_bias_upper,
    ),
    Statement(
        "P4.LC.1",
        "Lemma C.1",
        "lemma",
        "reconstructed",
        "sup_W (F̂ − F̂_C) ≤ (D/n)Σ(L_i − C)₊ for every data set; in expectation D·G^k·C^{1−k}/(k − 1).",
        where=_K,
        printed="D*G**k*C**(1-k)",
        derived="D*G**k*C**(1-k)",
        steps=(
            "f(w) − f(y) − C‖w − y‖ ≤ (L − C)‖w − y‖; E(L − C)₊ = ∫_C^∞ P(L > t)dt ≤ G^k·C^{1−k}/(k − 1)",
            "the best constant is (k − 1)^{k−1}/k^k (`value_bias_constant`), since E(L − C)₊ ≤ G^k·max (t − C)/t^k",
        ),
        explicit=value_bias_upper,
    ),
    Statement(
        "P4.S2.2",
        "Section 2.2",
        "lemma",
        "printed",
        "Over the whole of W the value bias, with the best C, gives less than (6).",
        where=("k>=2", "lam*D>=G*(d/(n*eps))**(1-1/k)", "n*eps>=d", "eps<=d"),
        derived=_UNLOCALISED,
        choices={"C": "(lam*D*G**k)**(1/(k+1))*(n*eps/d)**(2/(k+1))"},
        follows_from=("P4.S2.2.value", "P4.L2.3"),
        steps=("balance the two terms in C; equals (6) at λD = G(d/(nε))^{1−1/k} and is larger beyond",),
    ),
    Statement(
        "P4.S2.2.value",
        "Section 2.2",
        "lemma",
        "ours",
        "One output perturbation over W, its bias bounded by values: C·d/(λnε) + √(D·G^k·C^{1−k}/λ).",
        where=_K,
        derived="C*d/(lam*n*eps) + sqrt(D*G**k*C**(1-k)/lam)",
        follows_from=("P4.L2.3",),
        steps=("strong convexity: a gap of b in value is a distance of √(2b/λ)",),
    ),
    Statement(
        "P4.L2.4",
        "Lemma 2.4",
        "privacy",
        "reconstructed",
        "Algorithm 2 is ε-DP; W_loc holds argmin_W F̂_{λ,C} with probability 1 − ξ; its diameter is of the order published.",
        assumptions=("the point that is perturbed has a gap ≤ C²/(2λn²) for certain",),
        where=("eps<=d",),
        printed="C*d*log(1/xi)/(lam*n*eps)",
        derived="C*(d+log(1/xi))/(lam*n*eps)",
        follows_from=("P4.LC.2",),
        algorithms=("P4.A2",),
        explicit=localised_radius_upper,
    ),
    Statement(
        "P4.LC.2",
        "Lemma C.2",
        "privacy",
        "reconstructed",
        "Sensitivity 4C/(λn), noise ∝ exp(−ε‖z‖/Δ), W_loc = W ∩ B(w_p, r) with r the noise's quantile plus C/(λn).",
        printed="C*d*log(1/xi)/(lam*n*eps) + C/(lam*n)",
        derived="C*(d+log(1/xi))/(lam*n*eps) + C/(lam*n)",
        steps=(
            "exact minimisers on neighbours are within 2C/(λn), each approximate one within C/(λn) of its own",
            "‖z‖ is Gamma(d, Δ/ε): its quantile is at most (Δ/ε)(d + √(2d·log(1/ξ)) + log(1/ξ)) (`noise_length_upper`)",
        ),
        algorithms=("P4.A2",),
        explicit=localised_radius_upper,
    ),
    Statement(
        "P4.P2.5",
        "Proposition 2.5",
        "upper",
        "reconstructed",
        "A solver on W_loc within C·d/(λnε) of the localised minimiser is within (G/λ)(d/(nε))^{1−1/k} of argmin F̂_λ: (9).",
        assumptions=(*_SETTING, "constant probability"),
        where=("k>=2", "eps<=d"),
        printed=_DISTANCE,
        derived=_DISTANCE,
        choices={"C": _PAPER_CLIP, "xi": "1/10"},
        follows_from=("P4.OURS.distance", "P4.OURS.lemma", "P4.L2.4"),
        steps=(
            "the published route (PC.3) needs the bias to scale with the diameter of W_loc, which fails where f_C is over W",
            "the bias of gradients gives (9) with either set in f_C: over W_loc the distance is at most 3B/λ",
        ),
        algorithms=("P4.A2", "P4.A4"),
    ),
    Statement(
        "P4.PC.3",
        "Proposition C.3",
        "upper",
        "reconstructed",
        "As Proposition 2.5: the distance is at most √(R·G^k·C^{1−k}/λ) plus the solver's, R the diameter of W_loc.",
        where=("k>=2", "eps<=d"),
        printed=_DISTANCE,
        derived=_DISTANCE,
        choices={"R": "C*d/(lam*n*eps)", "C": _PAPER_CLIP},
        follows_from=("P4.PC.3.route",),
        steps=("the choices give the published rate; that the route is valid is another matter: see PC.3.route",),
        algorithms=("P4.A4",),
    ),
    Statement(
        "P4.PC.3.route",
        "Proposition C.3",
        "lemma",
        "reconstructed",
        "Its proof's inequality: √(R·G^k·C^{1−k}/λ) + C·d/(λnε), with Lemma C.1 applied on W_loc.",
        place="proof of Proposition C.3",
        where=_K,
        printed="sqrt(R*G**k*C**(1-k)/lam) + C*d/(lam*n*eps)",
        derived="sqrt(R*G**k*C**(1-k)/lam) + C*d/(lam*n*eps)",
        follows_from=("P4.LC.1",),
        steps=(
            "on W_loc Lemma C.1 bounds f − f_C by (L − C)₊·R only if the infimum of f_C runs over W_loc",
            "then F̂_{λ,C} is not the function whose minimiser W_loc holds, and the step by uniqueness fails",
        ),
    ),
    Statement("P4.R2.6", "Remark 2.6", "definition", "printed", "Localise; then minimise privately over W_loc."),
    Statement(
        "P4.L2.7",
        "Lemma 2.7",
        "lemma",
        "reconstructed",
        "J(w, y) is convex on W^{n+1}, min J = min F̂_{λ,C}, and the w of an α-minimiser of J is an α-minimiser of F̂_{λ,C}.",
        follows_from=("P4.LC.4",),
        algorithms=("P4.A3",),
    ),
    Statement(
        "P4.LC.4", "Lemma C.4", "lemma", "reconstructed", "As Lemma 2.7: F̂_{λ,C}(w) = min over y of J(w, y) ≤ J(w, y)."
    ),
    Statement(
        "P4.L2.8",
        "Lemma 2.8",
        "runtime",
        "reconstructed",
        "A point of W ∩ B(c, r) within ζ of the projection, by logarithmically many projections onto W; c in W.",
        follows_from=("P4.LC.6",),
        algorithms=("P4.C6",),
        explicit=projection_calls_upper,
    ),
    Statement(
        "P4.LC.6",
        "Lemma C.6",
        "runtime",
        "reconstructed",
        "max(0, ⌈log2(‖z − c‖²/(rζ))⌉) + 2 calls.",
        steps=("p(μ) = P_W((z + μc)/(1 + μ)); bisect μ on [0, ‖z − c‖/r]; ‖p(μ) − p(μ')‖ ≤ ‖z − c‖·|μ − μ'|",),
        algorithms=("P4.C6",),
        explicit=projection_calls_upper,
    ),
    Statement(
        "P4.P2.9",
        "Proposition 2.9",
        "runtime",
        "reconstructed",
        "Algorithm 3 halts within (2.5·R·L/α)² steps with an α-minimiser, L unknown to it.",
        assumptions=("subgradients are at most L long", "R is at least the diameter of the set"),
        printed="(R*L/alpha)**2",
        derived="(R*L/alpha)**2",
        follows_from=("P4.PC.5",),
        algorithms=("P4.A3",),
        explicit=adaptive_iterations_upper,
    ),
    Statement(
        "P4.PC.5",
        "Proposition C.5",
        "runtime",
        "reconstructed",
        "As Proposition 2.9: the average is within (5/2)·R·√S_t/t of the minimum, S_t the sum of squared norms.",
        printed="(R*L/alpha)**2",
        derived="(R*L/alpha)**2",
        steps=("R√S/2 from distances, R√S from the steps, R√S from the projections' errors η²‖g‖²/(3R)", "√S_t ≤ L√t"),
        algorithms=("P4.A3",),
        explicit=adaptive_iterations_upper,
    ),
    # ------------------------------------------------------------------------------------------------ Section 3, Appendix D
    Statement(
        "P4.T3.1",
        "Theorem 3.1",
        "upper",
        "reconstructed",
        "Localised double output perturbation: ε-DP, and this excess risk with probability 1 − ξ.",
        assumptions=_SETTING,
        where=_K,
        printed=_UPPER,
        derived=_UPPER,
        hidden="up to a factor log n as reconstructed; none is needed",
        choices={"r": "G*(d*log(1/xi)/(n*eps))**(1-1/k)"},
        follows_from=("P4.T2.1", "P4.P3.2"),
        steps=(_CENTRE, "for ε > d run it with ε = d: then (d/(nε))^{1−1/k} ≤ 1/√n"),
        algorithms=("P4.A1", "P4.A4"),
    ),
    Statement(
        "P4.T3.1.optimal",
        "Section 3",
        "upper",
        "reconstructed",
        "Theorem 3.1 is optimal up to a logarithmic factor: log(1/ξ)^{1−1/k} at worst.",
        where=_K,
        printed="log(1/xi)**(1-1/k)",
        derived="log(1/xi)**(1-1/k)",
        follows_from=("P4.T3.1.ratio",),
        choices={"d": "log(1/xi)"},
        steps=("the worst d is of the order log(1/ξ), with the private term dominant",),
    ),
    Statement(
        "P4.T3.1.ratio",
        "Section 3",
        "lemma",
        "ours",
        "The quotient of the private terms of Theorems 3.1 and 4.1.",
        where=_K,
        derived="(d*log(1/xi)/(d+log(1/xi)))**(1-1/k)",
        follows_from=("P4.T3.1", "P4.T4.1"),
    ),
    Statement(
        "P4.P3.2",
        "Proposition 3.2",
        "upper",
        "reconstructed",
        "Algorithm 4 with C = G(nε/d)^{1/k} is within (G/λ)(d/(nε))^{1−1/k} of argmin F̂_λ with constant probability.",
        assumptions=_SETTING,
        where=("k>=2", "eps<=d"),
        printed=_DISTANCE,
        derived=_DISTANCE,
        choices={"C": _PAPER_CLIP, "xi": "1/10"},
        follows_from=("P4.OURS.distance", "P4.P2.5"),
        steps=("ε ≤ d makes the solver's slack C/(λn) at most the noise's C·d/(λnε)",),
        algorithms=("P4.A4",),
    ),
    Statement(
        "P4.P3.2.privacy",
        "Proposition 3.2",
        "privacy",
        "reconstructed",
        "Algorithm 4 is ε-DP: ε/2 for Algorithm 2, ε/2 for the second perturbation, on a set fixed by the first.",
        assumptions=("both minimisers have a gap ≤ C²/(2λn²) for certain, on every data set",),
        steps=(
            "for fixed W_loc the sensitivity is 4C/(λn), with f_C over W or over W_loc",
            "the projection onto W_loc is post-processing; adaptive composition",
        ),
        follows_from=("P4.LC.2", "P4.P2.9"),
        algorithms=("P4.A4",),
        explicit=output_sensitivity_upper,
    ),
    Statement(
        "P4.P3.2.runtime",
        "Proposition 3.2",
        "runtime",
        "reconstructed",
        "The steps of Algorithm 3 in Algorithm 4, but for a probability ξ.",
        where=_K,
        derived="(D*n**(5/2)*lam*(C + lam*D + G*(n/xi)**(1/k)/sqrt(n))/C**2)**2",
        choices={
            "R": "D*sqrt(n)",
            "L": "C + lam*D + G*(n/xi)**(1/k)/sqrt(n)",
            "alpha": "C**2/(lam*n**2)",
        },
        follows_from=("P4.P2.9", "P4.EQ14"),
        steps=("max L_i ≤ G(n/ξ)^{1/k} by Markov and a union bound (`steepest_record_upper`)",),
        algorithms=("P4.A4", "P4.A3"),
        explicit=steepest_record_upper,
    ),
    Statement(
        "P4.EQ14",
        "(14)",
        "lemma",
        "reconstructed",
        "Subgradients of J are at most √((C + λD)² + n^{−2}Σ(L_i + C)²) long.",
        place="proof of Proposition D.1",
        derived="C + lam*D + L/sqrt(n)",
        steps=("L stands for max L_i",),
        explicit=joint_norm_upper,
    ),
    Statement(
        "P4.PD.1",
        "Proposition D.1",
        "upper",
        "reconstructed",
        "As Proposition 3.2.",
        where=("k>=2", "eps<=d"),
        printed=_DISTANCE,
        derived=_DISTANCE,
        follows_from=("P4.P3.2",),
        algorithms=("P4.A4",),
    ),
    Statement(
        "P4.TD.2",
        "Theorem D.2",
        "upper",
        "reconstructed",
        "As Theorem 3.1.",
        where=_K,
        printed=_UPPER,
        derived=_UPPER,
        follows_from=("P4.T3.1",),
        algorithms=("P4.A1", "P4.A4"),
    ),
    Statement(
        "P4.DD.3",
        "Definition D.3",
        "definition",
        "reconstructed",
        "A deterministic oracle of ν-subgradients of f_C, at most C long, in time polynomial in log(1/ν).",
    ),
    Statement(
        "P4.TD.4",
        "Theorem D.4",
        "upper",
        "reconstructed",
        "With such oracles: the excess risk of Theorem 3.1, ε-DP, in polynomial time with certainty.",
        assumptions=(*_SETTING, "the oracle of Definition D.3 for every C"),
        where=_K,
        printed=_UPPER,
        derived=_UPPER,
        choices={"r": "G*(d*log(1/xi)/(n*eps))**(1-1/k)"},
        follows_from=("P4.T2.1", "P4.LD.5.step", "P4.P3.2"),
        steps=("Lemma D.5 on F̂_{λ,C} itself, M = C + λD, accuracy C²/(2λn²); the rest as Theorem 3.1",),
        algorithms=("P4.D4",),
    ),
    Statement(
        "P4.LD.5",
        "Lemma D.5",
        "lemma",
        "reconstructed",
        "The average of T constant steps is within R²/(2ηT) + ηM²/2 + ν + 3Rτ/(2η) of the minimum, τ ≤ R the projection's error.",
        assumptions=("F(u) ≥ F(z) + ⟨g, u − z⟩ − ν", "‖g‖ ≤ M", "R is at least the diameter"),
        printed="R**2/(eta*T) + eta*M**2 + nu + R*tau/eta",
        derived="R**2/(eta*T) + eta*M**2 + nu + R*tau/eta",
        algorithms=("P4.D4",),
        explicit=constant_step_bound,
    ),
    Statement(
        "P4.LD.5.step",
        "Lemma D.5",
        "lemma",
        "reconstructed",
        "With η = R/(M√T): RM/√T + ν + (3/2)·τM√T.",
        printed="R*M/sqrt(T) + nu + tau*M*sqrt(T)",
        derived="R*M/sqrt(T) + nu + tau*M*sqrt(T)",
        choices={"eta": "R/(M*sqrt(T))"},
        follows_from=("P4.LD.5",),
        algorithms=("P4.D4",),
    ),
    Statement(
        "P4.PD.6",
        "Proposition D.6",
        "runtime",
        "reconstructed",
        "Polyhedral losses on second-order-cone domains with a strictly interior point have the oracle of Definition D.3.",
        assumptions=("the size of the record counts as input: its logarithm enters the number of interior-point steps",),
        steps=("the multiplier of q + y = w, dual feasible within ν, is a ν-subgradient of length ≤ C",),
        algorithms=("P4.D4",),
    ),
    Statement(
        "P4.COR.D7",
        "Corollary D.7",
        "upper",
        "reconstructed",
        "Affine, hinge, ReLU and absolute losses on balls, ellipsoids and polytopes (with interior): Theorem D.4 applies.",
        where=_K,
        printed=_UPPER,
        derived=_UPPER,
        follows_from=("P4.TD.4", "P4.PD.6"),
        algorithms=("P4.D4",),
    ),
    # --------------------------------------------------------------------------------------------------------- Appendix B
    Statement(
        "P4.TB.1",
        "Theorem B.1",
        "impossibility",
        "reconstructed",
        "No deterministic algorithm with finitely many local queries computes f_C at an interior point for all smooth convex f.",
        steps=(
            "the published proof runs the algorithm before the function exists: sound for queries fixed in advance only, since the "
            "first gradient shows the hidden direction",
            "true for adaptive algorithms too, by a resisting oracle in one dimension",
        ),
        algorithms=("P4.B1",),
    ),
    # --------------------------------------------------------------------------------------------------------- Appendix E
    Statement(
        "P4.TE.1",
        "Theorem E.1",
        "upper",
        "reconstructed",
        "Exponential mechanism with the clipped projected-gradient score on a net, B = log|N|: ε-DP, and this distance.",
        assumptions=(*_SETTING, "f(·, x) is β-smooth for every x", "β, η and the net are public"),
        where=("k>=2", "n*eps>=B+log(1/xi)"),
        printed="G/lam*((B+log(1/xi))/(n*eps))**(1-1/k)",
        derived="G/lam*((B+log(1/xi))/(n*eps))**(1-1/k)",
        hidden="B = d·log(1 + 2D/spacing); Markov's 1/xi on the bias at a constant probability",
        choices={"C": _LOG_CLIP},
        follows_from=("P4.TE.1.steps",),
        algorithms=("P4.A5",),
        explicit=selected_score_upper,
    ),
    Statement(
        "P4.TE.1.steps",
        "Theorem E.1",
        "lemma",
        "reconstructed",
        "(22)–(25): the selected score, the bias of clipping and the net's spacing, over λ.",
        place="proof of Theorem E.1",
        where=_K,
        derived="(C*(B+log(1/xi))/(n*eps) + G**k*C**(1-k))/lam",
        steps=(
            "score within (4C/(nε))(B + log(1/ξ)) of the net's least; spacing C/(nε(β + λ)) adds 3C/(nε)",
            "‖𝒢_C(u*)‖ and ‖𝒢 − 𝒢_C‖ are at most the clipping bias, (1/n)Σ(L_i − C)₊",
            "‖w − u*‖ ≤ ‖𝒢(w)‖/λ, since a projected gradient step contracts by 1 − ηλ",
        ),
        algorithms=("P4.A5",),
        explicit=stationary_distance_upper,
    ),
    Statement(
        "P4.TE.1.privacy",
        "Theorem E.1",
        "privacy",
        "reconstructed",
        "The score has sensitivity 2C/n, whatever η, and the mechanism is ε-DP.",
        steps=("projection is non-expansive and 1/η cancels η",),
        algorithms=("P4.A5",),
        explicit=score_sensitivity_upper,
    ),
    Statement(
        "P4.EQ21",
        "(21)",
        "lemma",
        "reconstructed",
        "The clipping bias: E sup_w ‖mean(Π_C g_i − g_i)‖ ≤ G^k·C^{1−k}/(k − 1).",
        where=_K,
        printed="G**k*C**(1-k)",
        derived="G**k*C**(1-k)",
        explicit=clipping_bias_mean_upper,
    ),
    Statement(
        "P4.TE.2",
        "Theorem E.2",
        "upper",
        "reconstructed",
        "The smooth case: the optimal rate up to logarithms.",
        assumptions=(*_SETTING, "f(·, x) is β-smooth for every x"),
        where=_K,
        printed=_NET,
        derived=_NET,
        hidden="log(n) stands for the logarithm of a polynomial in all parameters, β among them",
        choices={"r": "G*(d*log(n)*log(1/xi)/(n*eps))**(1-1/k)"},
        follows_from=("P4.T2.1", "P4.TE.1"),
        algorithms=("P4.A1", "P4.A5"),
    ),
    Statement(
        "P4.R.E3",
        "Remark E.3",
        "runtime",
        "printed",
        "Inefficient: the net is exponential in d, the density not log-concave.",
    ),
    Statement(
        "P4.EQ27",
        "(27)",
        "lemma",
        "reconstructed",
        "Ball smoothing of width σ changes the risk by at most σ·L̄.",
        printed="sigma*G",
        derived="sigma*G",
        algorithms=("P4.A5",),
        explicit=smoothing_distance_upper,
    ),
    Statement(
        "P4.EQ29",
        "(29)",
        "lemma",
        "reconstructed",
        "The smoothed empirical risk is of this smoothness with constant probability.",
        printed="d*G/sigma",
        derived="sqrt(d)*G/sigma",
        hidden="Markov's constant",
        steps=(
            "the gradient of f^σ is c·L/σ-Lipschitz, c = 2Γ(d/2 + 1)/(√π·Γ((d + 1)/2)) ≤ √d; the sphere identity gives d",
        ),
        algorithms=("P4.A5",),
        explicit=ball_smoothness_constant,
    ),
    Statement(
        "P4.PE.4",
        "Proposition E.4",
        "upper",
        "reconstructed",
        "The non-smooth case: the distance of Theorem E.1 from the smoothed minimiser, β of the order of (29).",
        assumptions=(*_SETTING, "f(·, x) is convex and L_x-Lipschitz on W + σB", "β, η and the net are public"),
        where=("k>=2", "n*eps>=B+log(1/xi)"),
        printed="G/lam*((B+log(1/xi))/(n*eps))**(1-1/k)",
        derived="G/lam*((B+log(1/xi))/(n*eps))**(1-1/k)",
        choices={"C": _LOG_CLIP},
        follows_from=("P4.TE.1.steps", "P4.EQ29"),
        algorithms=("P4.A5",),
    ),
    Statement(
        "P4.TE.5",
        "Theorem E.5",
        "upper",
        "reconstructed",
        "The non-smooth case: the optimal rate up to logarithms, for σ of the order D/√n.",
        assumptions=(*_SETTING, "f(·, x) is convex and L_x-Lipschitz on W + σB"),
        where=_K,
        printed=_NET,
        derived=_NET,
        hidden="log(n) as in Theorem E.2",
        choices={"sigma": "D/sqrt(n)"},
        follows_from=("P4.TE.5.width", "P4.PE.4", "P4.EQ27"),
        algorithms=("P4.A1", "P4.A5"),
    ),
    Statement(
        "P4.TE.5.width",
        "Theorem E.5",
        "upper",
        "reconstructed",
        "For any width σ: the rate of Theorem E.2 plus G·σ.",
        where=_K,
        printed="G*D*(sqrt(log(1/xi)/n) + (d*log(n)*log(1/xi)/(n*eps))**(1-1/k)) + G*sigma",
        derived="G*D*(sqrt(log(1/xi)/n) + (d*log(n)*log(1/xi)/(n*eps))**(1-1/k)) + G*sigma",
        follows_from=("P4.TE.2", "P4.EQ27"),
        algorithms=("P4.A1", "P4.A5"),
    ),
    # --------------------------------------------------------------------------------------------------------- Appendix F
    Statement(
        "P4.LF.1",
        "Lemma F.1",
        "privacy",
        "reconstructed",
        "The score F̂_{λ,C}(w) − F̂_{λ,C}(a) has sensitivity (2C/n)·R, R the diameter, and the same mechanism as without a.",
        printed="C*R/n",
        derived="C*R/n",
        algorithms=("P4.A7",),
        explicit=centred_sensitivity_upper,
    ),
    Statement(
        "P4.LF.2",
        "Lemma F.2",
        "runtime",
        "reconstructed",
        "Algorithm 6 evaluates the potential with a certified error, in polynomial time with high probability.",
        follows_from=("P4.P2.9",),
        algorithms=("P4.A7",),
        explicit=evaluator_divergence_upper,
    ),
    Statement(
        "P4.LF.3",
        "Lemma F.3",
        "lemma",
        "reconstructed",
        "A sampler for log-concave densities whose potential is known up to an error: close in max-divergence.",
        algorithms=("P4.A7",),
        explicit=evaluator_divergence_upper,
    ),
    Statement(
        "P4.LF.4",
        "Lemma F.4",
        "privacy",
        "reconstructed",
        "Within max-divergence τ, in both directions, of an ε-DP mechanism: (ε + 2τ)-DP.",
        algorithms=("P4.A7",),
        explicit=transferred_epsilon,
    ),
    Statement(
        "P4.PF.5",
        "Proposition F.5",
        "upper",
        "reconstructed",
        "Localised exponential mechanism: ε-DP, and the distance (9) with constant probability.",
        assumptions=_SETTING,
        where=("k>=2", "eps<=d"),
        printed=_DISTANCE,
        derived=_DISTANCE,
        hidden="logarithms in the paper; none in the derivation",
        choices={"R": "C*d/(lam*n*eps)", "C": _PAPER_CLIP},
        follows_from=("P4.PF.5.steps", "P4.LF.1", "P4.LF.4"),
        algorithms=("P4.A7",),
        explicit=gibbs_excess_upper,
    ),
    Statement(
        "P4.PF.5.steps",
        "Proposition F.5",
        "lemma",
        "reconstructed",
        "√(d·C·R/(λnε)) from the mean excess d/γ, γ = nε/(4CR), plus the bias.",
        place="proof of Proposition F.5",
        where=_K,
        derived="sqrt(d*C*R/(lam*n*eps)) + G**k*C**(1-k)/lam",
        follows_from=("P4.OURS.lemma",),
        steps=("Markov on the excess, strong convexity; the bias by gradients, not by PC.3",),
        algorithms=("P4.A7",),
        explicit=gibbs_excess_upper,
    ),
    Statement(
        "P4.TF.6",
        "Theorem F.6",
        "upper",
        "reconstructed",
        "Excess risk of the localised exponential mechanism; polynomial time with high probability.",
        assumptions=_SETTING,
        where=_K,
        derived=_UPPER,
        hidden="the paper calls it worse than Theorem 3.1 by logarithms; the derivation has none more",
        choices={"r": "G*(d*log(1/xi)/(n*eps))**(1-1/k)"},
        follows_from=("P4.T2.1", "P4.PF.5"),
        algorithms=("P4.A1", "P4.A7"),
    ),
    # -------------------------------------------------------------------------------------------------- Section 4, Appendix G
    Statement(
        "P4.T4.1",
        "Theorem 4.1",
        "lower",
        "reconstructed",
        "For every ε-DP algorithm there is an instance on which the excess risk exceeds this with probability ξ.",
        where=_K,
        printed=_LOWER,
        derived=_LOWER,
        follows_from=("P4.TG.6",),
        algorithms=("P4.G",),
    ),
    Statement(
        "P4.LG.1",
        "Lemma G.1",
        "lemma",
        "reconstructed",
        "Linear losses on the ball: excess ≥ (D/(4‖μ‖))‖μ̂ − μ‖²; mu is ‖μ‖, r the error ‖μ̂ − μ‖.",
        assumptions=("all members of the family have means of the same norm",),
        printed="D*r**2/mu",
        derived="D*r**2/mu",
        steps=("1 − ⟨a, u⟩ ≥ ½‖a − u‖² for ‖a‖ ≤ 1 = ‖u‖",),
        algorithms=("P4.G",),
        explicit=linear_excess_lower,
    ),
    Statement(
        "P4.PG.2",
        "Proposition G.2",
        "lower",
        "reconstructed",
        "X = ±G·e₁ with probabilities (1 ± τ)/2: squared error G²·min{1, log(1/ξ)/n} with probability ξ.",
        assumptions=("ξ < 1/4",),
        printed="G**2*Min(1, log(1/xi)/n)",
        derived="G**2*Min(1, log(1/xi)/n)",
        choices={"tau": "Min(1, sqrt(log(1/xi)/n))"},
        follows_from=("P4.PG.2.family",),
        steps=("KL = τ·log((1 + τ)/(1 − τ)) ≤ 2.2·τ² for τ ≤ ½; Bretagnolle–Huber",),
        algorithms=("P4.G",),
        explicit=two_point_failure_lower,
    ),
    Statement(
        "P4.PG.2.family",
        "Proposition G.2",
        "definition",
        "reconstructed",
        "The family's squared mean norm, (Gτ)²; its k-th moment is G^k for every k.",
        derived="G**2*tau**2",
        algorithms=("P4.G",),
    ),
    Statement(
        "P4.LG.3",
        "Lemma G.3",
        "lemma",
        "reconstructed",
        "An estimator within half of the separation but for ξ decodes the packing but for ξ, on average.",
        algorithms=("P4.G",),
    ),
    Statement(
        "P4.PG.4",
        "Proposition G.4",
        "lower",
        "reconstructed",
        "Q_v = (1 − τ)δ_0 + τ·δ at Gτ^{−1/k}v, v in a packing of at least 2^d members: this squared error with probability ξ.",
        where=_K,
        printed="G**2*Min(1, (d+log(1/xi))/(n*eps))**(2-2/k)",
        derived="G**2*Min(1, (d+log(1/xi))/(n*eps))**(2-2/k)",
        choices={"tau": "Min(1, (d+log(1/xi))/(n*eps))"},
        follows_from=("P4.PG.4.family", "P4.PG.4.decoding", "P4.LG.3"),
        steps=(
            "ε⌈nτ⌉ ≤ log(|V| − 1) + log((1 − 2ξ)/(2ξ)) keeps the mean decoding error ≥ ξ",
            "where nτ < 1/2 (ε beyond d + log(1/ξ)), all records are 0 with probability ≥ 1/2: decoding is left to chance",
        ),
        algorithms=("P4.G",),
        explicit=private_excess_lower,
    ),
    Statement(
        "P4.PG.4.family",
        "Proposition G.4",
        "definition",
        "reconstructed",
        "The family's squared mean norm, (G·τ^{1−1/k})²; its k-th moment is G^k.",
        where=_K,
        derived="G**2*tau**(2-2/k)",
        algorithms=("P4.G",),
    ),
    Statement(
        "P4.PG.4.decoding",
        "Proposition G.4",
        "lower",
        "reconstructed",
        "Mean decoding error of any ε-DP decoder: at least ½x/(1 + x), x = (|V| − 1)e^{−ε⌈nτ⌉}.",
        place="proof of Proposition G.4",
        steps=("couple on the number of records that are not 0, whose median is at most ⌈nτ⌉; sum over the other members",),
        algorithms=("P4.G",),
        explicit=decoding_error_lower,
    ),
    Statement(
        "P4.TG.5",
        "Theorem G.5",
        "lower",
        "reconstructed",
        "Mean estimation: the two squared errors together.",
        where=_K,
        printed="G**2*Min(1, log(1/xi)/n + ((d+log(1/xi))/(n*eps))**(2-2/k))",
        derived="G**2*Min(1, log(1/xi)/n + ((d+log(1/xi))/(n*eps))**(2-2/k))",
        follows_from=("P4.PG.2", "P4.PG.4"),
        steps=("the larger of two is at least half of their sum",),
        algorithms=("P4.G",),
    ),
    Statement(
        "P4.TG.6",
        "Theorem G.6",
        "lower",
        "reconstructed",
        "Every ε-DP algorithm has a member of the class on which its excess risk exceeds this with probability ξ.",
        assumptions=("the class holds both families",),
        where=_K,
        printed=_LOWER,
        derived=_LOWER,
        choices={"r": "mu", "mu": "G*Min(1, sqrt(log(1/xi)/n) + ((d+log(1/xi))/(n*eps))**(1-1/k))"},
        follows_from=("P4.LG.1", "P4.TG.5"),
        algorithms=("P4.G",),
        explicit=private_excess_lower,
    ),
    Statement(
        "P4.TG.6.first",
        "Theorem G.6",
        "lower",
        "reconstructed",
        "Its non-private part with constants.",
        derived="G*D*Min(1, sqrt(log(1/xi)/n))",
        choices={"r": "mu", "mu": "G*Min(1, sqrt(log(1/xi)/n))"},
        follows_from=("P4.LG.1", "P4.PG.2"),
        algorithms=("P4.G",),
        explicit=nonprivate_excess_lower,
    ),
    Statement(
        "P4.R.G7",
        "Remark G.7",
        "upper",
        "reconstructed",
        "With the trivial algorithm, G·D: Theorem G.6 is tight but for d·log(1/ξ) against d + log(1/ξ).",
        where=_K,
        printed="G*D*Min(1, sqrt(log(1/xi)/n) + (d*log(1/xi)/(n*eps))**(1-1/k))",
        derived="G*D*Min(1, sqrt(log(1/xi)/n) + (d*log(1/xi)/(n*eps))**(1-1/k))",
        follows_from=("P4.T3.1",),
        algorithms=("P4.A1", "P4.A4"),
    ),
    Statement(
        "P4.S4.trivial",
        "Section 4",
        "upper",
        "reconstructed",
        "Any fixed point has excess risk at most G·D.",
        printed="G*D",
        derived="G*D",
    ),
    # -------------------------------------------------------------------------------------------------------------- ours
    Statement(
        "P4.OURS.lemma",
        "ours",
        "lemma",
        "ours",
        "λ‖argmin F̂_{λ,C} − argmin F̂_λ‖ ≤ (1/n)Σ√(L_i² − C²)₊ for every data set; at most c_k·G^k·C^{1−k} in expectation.",
        where=_K,
        derived="G**k*C**(1-k)/lam",
        steps=(
            "h = f − f_C has ‖∇h‖² ≤ L² − C² where f_C < f: ∇f_C = C·n and ⟨∇f, n⟩ ≥ C",
            "add both strong convexities: h(v*) − h(u*) ≥ λ‖u* − v*‖²",
            "c_k = max √(t² − 1)/t^k = (k − 1)^{−1/2}((k − 1)/k)^{k/2}",
        ),
        algorithms=("P4.S1",),
        explicit=gradient_bias,
    ),
    Statement(
        "P4.OURS.lemma.mean",
        "ours",
        "lemma",
        "ours",
        "Its expectation with constants.",
        where=_K,
        derived="G**k*C**(1-k)/lam",
        follows_from=("P4.OURS.lemma",),
        algorithms=("P4.S1",),
        explicit=gradient_bias_mean_upper,
    ),
    Statement(
        "P4.OURS.distance",
        "ours",
        "upper",
        "ours",
        "Single output perturbation: κC/(λn) + the noise's quantile + c_k·G^k·C^{1−k}/(ξλ).",
        assumptions=_SETTING,
        where=_K,
        derived="C*(d+log(1/xi))/(lam*n*eps) + C/(lam*n) + G**k*C**(1-k)/(xi*lam)",
        follows_from=("P4.OURS.lemma", "P4.LC.2"),
        algorithms=("P4.S1",),
        explicit=single_distance_upper,
    ),
    Statement(
        "P4.OURS.single",
        "ours",
        "upper",
        "ours",
        "Single output perturbation has (6) with constant probability: no localisation, the whole ε for one release.",
        assumptions=_SETTING,
        where=("k>=2", "eps<=d"),
        derived=_DISTANCE,
        choices={"C": _PAPER_CLIP, "xi": "1/10"},
        follows_from=("P4.OURS.distance",),
        steps=("for ε > d take κ ≤ d/ε: a constant κ leaves κC/(λn) as the largest term",),
        algorithms=("P4.S1",),
    ),
    Statement(
        "P4.OURS.phase",
        "ours",
        "upper",
        "ours",
        "√V(n), V ≥ E(λ‖ŵ − u*‖)²: noise, slack, mean and variance of the bias.",
        assumptions=_SETTING,
        where=("k>=2", "eps<=d"),
        derived=f"G*{_PRIVATE} + G*(d/(n*eps))**(1/2-1/k)/sqrt(n)",
        choices={"C": _PAPER_CLIP},
        follows_from=("P4.OURS.phase.steps",),
        steps=("the last term is at most G/√n where nε ≥ d",),
        algorithms=("P4.S1",),
        explicit=phase_error_upper,
    ),
    Statement(
        "P4.OURS.phase.steps",
        "ours",
        "upper",
        "ours",
        "√V(n) for any C: E‖z‖² = d(d + 1)(Δ/ε)², E B ≤ c_k·G^k·C^{1−k}, Var B ≤ c'_k·G^k·C^{2−k}/n.",
        where=_K,
        derived="C*d/(n*eps) + C/n + G**k*C**(1-k) + G**(k/2)*C**(1-k/2)/sqrt(n)",
        follows_from=("P4.OURS.lemma",),
        algorithms=("P4.S1",),
        explicit=phase_error_upper,
    ),
    Statement(
        "P4.OURS.phases",
        "ours",
        "upper",
        "ours",
        "E F(w_I) − F* ≤ λ_1R₀²/4 + ΣG²/(λ_im_i) + Σλ_iV(m_{i−1})/(4λ_{i−1}²) + G√V(m_I)/λ_I; r = √V(n).",
        assumptions=(*_SETTING, "V(m/2) ≤ 4·V(m)"),
        derived="lam*D**2 + G**2/(lam*n) + r**2/lam",
        steps=("m_i = n/2^i and λ_i = 8^i·λ make both sums geometric; the last term is at most G√V/(λn²)",),
        algorithms=("P4.A1", "P4.S1"),
        explicit=expectation_bound,
    ),
    Statement(
        "P4.OURS.bound",
        "ours",
        "upper",
        "ours",
        "Localised single output perturbation attains (4) in expectation without logarithms, with explicit constants.",
        assumptions=_SETTING,
        where=("k>=2", "eps<=d", "n*eps>=d"),
        derived=_HEADLINE,
        choices={"lam": "(G/sqrt(n)+r)/D", "r": f"G*{_PRIVATE} + G*(d/(n*eps))**(1/2-1/k)/sqrt(n)"},
        follows_from=("P4.OURS.phases", "P4.OURS.phase"),
        algorithms=("P4.A1", "P4.S1"),
        explicit=expectation_bound,
    ),
    Statement(
        "P4.OURS.objective.determinant",
        "ours",
        "lemma",
        "ours",
        "1 ≤ det(N + ηuuᵀQ)/det N ≤ 1 + η/(nΛ), N = AQ + p(I − Q), for unit u, η ≥ 0, p > 0, A ⪰ nΛI, 0 ⪯ Q ⪯ I.",
        steps=(
            "det(N + ηuuᵀQ)/det N = 1 + η⟨u, QN⁻¹u⟩",
            "for invertible Q, QN⁻¹ = (A + p(Q⁻¹ − I))⁻¹, which lies between 0 and I/(nΛ); by continuity for every Q",
        ),
        algorithms=("P4.S2",),
        explicit=determinant_quotient_upper,
    ),
    Statement(
        "P4.OURS.objective.privacy",
        "ours",
        "privacy",
        "ours",
        "Objective perturbation of tempered losses is (2C/s + log(1 + B/(nΛ)) + 2r/t)-DP, for all data: ε = ε₁ + τ + ε₃.",
        assumptions=(
            "every record's loss is convex with gradients at most C long and, almost everywhere, Hessians ηuuᵀ, 0 ≤ η ≤ B",
            "W is closed and convex; tilts have a density ∝ exp(−‖b‖/s), noise one ∝ exp(−‖z‖/t)",
            "the point that is perturbed is within r of the tilted minimiser for certain, on every data set",
        ),
        steps=(
            "the minimiser lifted to y has the density g(b(y))·|det Db(y)|, b(y) the negated normal map (area formula)",
            "on neighbours b(y) and b'(y) are within 2C: g(b(y)) ≤ e^{2C/s}·g(b'(y))",
            "the Jacobians differ by a Hessian of rank one from the same N each: their quotient is at most 1 + B/(nΛ)",
            "given y, both data sets perturb points within r of Π(y) by noise: another e^{2r/t}; integrate over y",
        ),
        follows_from=("P4.OURS.objective.determinant",),
        algorithms=("P4.S2",),
        explicit=objective_epsilon,
    ),
    Statement(
        "P4.OURS.objective.sum",
        "ours",
        "upper",
        "ours",
        "Objective perturbation of tempered losses (absolute, hinge, ReLU): regularisation, tilt, stability, smoothing, clipping.",
        assumptions=(*_SETTING, "generalised linear losses, 1-Lipschitz in the margin; E‖x‖^k ≤ G^k"),
        where=_K,
        derived="lam*D**2 + (C*d/(n*eps))**2/lam + G**2/(lam*n) + G**2/(lam*n*eps) + D*G**k*C**(1-k)",
        steps=(
            "B = nΛ(e^τ − 1) ≥ nΛτ with τ = min(ε/4, 12), so that smoothing costs at most G²/(2nΛτ), or less than G²/(Λn)",
            "the tilt has at least 0.74·ε; rounding, G·r·(1 + 2d/ε₃), is left out",
        ),
        algorithms=("P4.S2",),
        explicit=objective_bound,
    ),
    Statement(
        "P4.OURS.objective",
        "ours",
        "upper",
        "ours",
        "One objective perturbation, without localisation, has (4) for k = 2 and for ε ≥ 1.",
        assumptions=(*_SETTING, "generalised linear losses, 1-Lipschitz in the margin; E‖x‖^k ≤ G^k"),
        where=_K,
        derived=_OBJECTIVE,
        choices={"lam": "G/D*(1/sqrt(n) + 1/sqrt(n*eps)) + C*d/(n*eps*D)", "C": _PAPER_CLIP},
        follows_from=("P4.OURS.objective.sum",),
        algorithms=("P4.S2",),
        explicit=objective_bound,
    ),
    Statement(
        "P4.OURS.moment.privacy",
        "ours",
        "privacy",
        "ours",
        "A level of a public grid of norms, chosen by the exponential mechanism with a count of records as its score, is ε-DP.",
        steps=(
            "N(g) = Σ min(1, ‖x_i‖/g)^k moves by at most 1 when a record is replaced",
            "so do q_j = −max(N(g_j) − τ, τ − N(g_{j−1}), 0), and exp(ε·q_j/2) is the mechanism of sensitivity 1",
        ),
        algorithms=("P4.S3",),
    ),
    Statement(
        "P4.OURS.moment",
        "ours",
        "upper",
        "ours",
        "At most 3r records are longer than the level g that is chosen, and (1/n)Σ min(‖x_i‖, g)^k ≤ Ĝ^k, Ĝ = g(3r/n)^{1/k}: "
        "the share 3r/n, r = 2·max(1, 1/ε)·(B + log(1/ξ)), B the logarithm of the grid's size.",
        assumptions=("n ≥ 3r", "the grid does not end below g", "any data"),
        derived="(B + log(1/xi))/(n*eps) + (B + log(1/xi))/n",
        steps=(
            "the least level with N(g) ≤ τ has the score 0",
            "all scores below −r have together a probability of at most e^{B − εr/2} ≤ ξ",
            "a score of at least −r is N(g) ≤ τ + r = 3r",
        ),
        algorithms=("P4.S3",),
        explicit=level_share_upper,
    ),
    Statement(
        "P4.OURS.moment.scale",
        "ours",
        "upper",
        "ours",
        "Ĝ ≤ b·12^{1/k}·G for independent records with E‖x‖^k ≤ G^k, b the grid's ratio; no lower bound can hold.",
        assumptions=("n ≥ 3r", "Ĝ is not the grid's least level"),
        derived="G",
        follows_from=("P4.OURS.moment",),
        steps=(
            "a level g ≥ G(4n/r)^{1/k} has E N(g) ≤ r/4, and N(g) ≥ r with probability at most exp(−r(log 4 − 3/4)) ≤ ξ",
            "the level below the chosen one has N ≥ r",
        ),
        algorithms=("P4.S3",),
    ),
    Statement(
        "P4.OURS.zcdp",
        "ours",
        "upper",
        "ours",
        "The same with Gaussian noise is ρ-zCDP: √(d/ρ)/n in place of d/(nε), for non-smooth losses too.",
        assumptions=_SETTING,
        where=("k>=2", "rho<=d", "n**2*rho>=d"),
        derived=_ZCDP,
        choices={"lam": "(G/sqrt(n)+r)/D", "r": "G*(sqrt(d/rho)/n)**(1-1/k)"},
        follows_from=("P4.OURS.phases",),
        steps=("√V has C√(d/ρ)/n for C·d/(nε): C = G(n√(ρ/d))^{1/k}",),
        algorithms=("P4.A1", "P4.S1"),
        explicit=expectation_bound,
    ),
    Statement(
        "P4.OURS.high",
        "ours",
        "upper",
        "ours",
        "With repetitions: Theorem 3.1's rate by single output perturbation.",
        assumptions=_SETTING,
        where=_K,
        derived=_UPPER,
        choices={"r": "G*(d*log(1/xi)/(n*eps))**(1-1/k)"},
        follows_from=("P4.T2.1", "P4.OURS.single"),
        algorithms=("P4.A1", "P4.S1"),
        explicit=localised_excess_upper,
    ),
)


_COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        "P4.C1",
        "Section 1",
        "Bounds in G are often sharper than bounds in L: where L ≥ G(nε/d)^{1/k}, that is L ≥ C.",
        _HEADLINE,
        "<=",
        _LIPSCHITZ,
        ("k>=2", "L>=G*(n*eps/d)**(1/k)", "L>=G"),
    ),
    Comparison(
        "P4.C2",
        "Section 1",
        "Often, not always: L ≥ G alone does not make the heavy-tailed rate the smaller one.",
        _HEADLINE,
        "not <=",
        _LIPSCHITZ,
        ("k>=2", "L>=G", "n*eps>=d"),
    ),
    Comparison(
        "P4.C3",
        "Section 1, (4)",
        "k → ∞: the Lipschitz rate d/(nε) is at most (4) for every k.",
        "G*D*(1/sqrt(n) + d/(n*eps))",
        "<=",
        _HEADLINE,
        ("k>=2", "n*eps>=d"),
    ),
    Comparison(
        "P4.C4",
        "Section 1, (4)",
        "k = 2: √(d/(nε)) is the largest of all k.",
        _HEADLINE,
        "<=",
        "G*D*(1/sqrt(n) + sqrt(d/(n*eps)))",
        ("k>=2", "n*eps>=d"),
    ),
    Comparison(
        "P4.C5",
        "Section 1",
        "Approximate DP is no harder than pure DP, d ≥ log(1/δ).",
        _APPROX,
        "<=",
        _HEADLINE,
        ("k>=2", "d>=log(1/delta)"),
    ),
    Comparison(
        "P4.C6",
        "Section 1",
        "The pure-DP rate is really larger: d against √(d·log(1/δ)).",
        _HEADLINE,
        "not <=",
        _APPROX,
        ("k>=2", "d>=log(1/delta)", "n*eps>=d"),
    ),
    Comparison(
        "P4.C7",
        "Section 1",
        "ρ-zCDP, ρ of the order ε² as pure DP implies: no harder than pure DP.",
        "G*D*(1/sqrt(n) + (sqrt(d/eps**2)/n)**(1-1/k))",
        "<=",
        _HEADLINE,
        _K,
    ),
    Comparison(
        "P4.C8",
        "Section 1, Contribution 1",
        "(4) is minimax optimal: it equals the earlier lower bound where that is not trivial.",
        _HEADLINE,
        "==",
        _KNOWN_LOWER,
        ("k>=2", "n*eps>=d"),
    ),
    Comparison(
        "P4.C9",
        "Section 1 and Section 4",
        "The high-probability lower bound is at least the one in expectation.",
        _KNOWN_LOWER,
        "<=",
        _LOWER,
        _K,
    ),
    Comparison(
        "P4.C10",
        "Section 1, Section 4, Appendix G",
        "It is sharper by logarithmic factors.",
        _LOWER,
        "not <=",
        _KNOWN_LOWER,
        ("k>=2", "n*eps>=d+log(1/xi)", "n>=log(1/xi)"),
    ),
    Comparison(
        "P4.C11",
        "Section 3",
        "Theorem 3.1 is optimal up to a logarithmic factor: log(1/ξ)^{1−1/k} suffices.",
        "G*D*Min(1, sqrt(log(1/xi)/n) + (d*log(1/xi)/(n*eps))**(1-1/k))",
        "<=",
        f"log(1/xi)**(1-1/k)*{_LOWER}",
        _K,
    ),
    Comparison(
        "P4.C12",
        "Section 4 and Remark G.7",
        "There is a gap: d·log(1/ξ) against d + log(1/ξ).",
        _UPPER,
        "not <=",
        _LOWER,
        ("k>=2", "n*eps>=d*log(1/xi)"),
    ),
    Comparison(
        "P4.C13",
        "Section 4 and Remark G.7",
        "It is the only gap: in one dimension both are the same.",
        "G*D*Min(1, sqrt(log(1/xi)/n) + (log(1/xi)/(n*eps))**(1-1/k))",
        "==",
        "G*D*Min(1, sqrt(log(1/xi)/n) + ((1+log(1/xi))/(n*eps))**(1-1/k))",
        _K,
    ),
    Comparison(
        "P4.C14",
        "Section 4",
        "The lower bound is never above that of the upper bound.",
        _LOWER,
        "<=",
        "G*D*Min(1, sqrt(log(1/xi)/n) + (d*log(1/xi)/(n*eps))**(1-1/k))",
        _K,
    ),
    Comparison(
        "P4.C15",
        "Section 4",
        "The trivial algorithm: the lower bound is at most G·D.",
        _LOWER,
        "<=",
        "G*D",
        _K,
    ),
    Comparison(
        "P4.C16",
        "Section 1.1, Challenge 1",
        "Noisy clipped gradients, by basic composition, miss the pure-DP rate.",
        _CLIPPED_DESCENT,
        "not <=",
        f"G*D*(1/sqrt(n) + {_PRIVATE})",
        ("k>=2", "n*eps>=d", "eps<=1"),
    ),
    Comparison(
        "P4.C17",
        "Section 2.2",
        "Over the whole of W the value bias, with the best C, is weaker than (6).",
        _UNLOCALISED,
        "not <=",
        _DISTANCE,
        ("k>=2", "n*eps>=d", "lam*D>=G*(d/(n*eps))**(1-1/k)"),
    ),
    Comparison(
        "P4.C18",
        "Section 2.2",
        "It is weaker for every λ that the phases use.",
        _DISTANCE,
        "<=",
        _UNLOCALISED,
        ("k>=2", "lam*D>=G*(d/(n*eps))**(1-1/k)"),
    ),
    Comparison(
        "P4.C19",
        "Section 1.1, Challenge 3",
        "The bias over the whole of W is too large for (6).  It is not: that of gradients, at the paper's C, is at most (6).",
        f"G**k*({_PAPER_CLIP})**(1-k)/lam",
        "not <=",
        _DISTANCE,
        _K,
        holds=False,
        errata=("P4.Challenge3",),
    ),
    Comparison(
        "P4.C20",
        "Section 2.3 and the proof of Proposition C.3",
        "After localisation the value bias scales with the diameter R of W_loc, not with D.  Not so where f_C is over W.",
        "D*G**k*C**(1-k)",
        "<=",
        "R*G**k*C**(1-k)",
        ("k>=2", "R<=D"),
        holds=False,
        errata=("P4.C3.bias",),
    ),
    Comparison(
        "P4.C21",
        "Proposition 2.5, (9) and (6)",
        "Localised, C = G(nε/d)^{1/k} gives (6).",
        f"sqrt(R*G**k*({_PAPER_CLIP})**(1-k)/lam)",
        "<=",
        _DISTANCE,
        ("k>=2", "R<=G*(d/(n*eps))**(1-1/k)/lam"),
    ),
    Comparison(
        "P4.C22",
        "Appendix E, Table 1",
        "The exponential mechanism has the rate of Theorem 3.1 up to logarithms.",
        _NET,
        "<=",
        f"log(n)**(1-1/k)*{_UPPER}",
        _K,
    ),
    Comparison(
        "P4.C23",
        "Theorem E.5",
        "σ of the order D/√n costs nothing.",
        "G*D/sqrt(n)",
        "<=",
        _HEADLINE,
        _K,
    ),
    Comparison(
        "P4.C24",
        "Appendix F",
        "The localised exponential mechanism is worse by logarithmic factors; its distance, as derived, is that of Algorithm 4.",
        f"sqrt(d*({_PAPER_CLIP})**2*d/(lam*n*eps)/(lam*n*eps)) + G**k*({_PAPER_CLIP})**(1-k)/lam",
        "==",
        _DISTANCE,
        _K,
    ),
    Comparison(
        "P4.C25",
        "Section 3.1, Theorem D.4",
        "Structured subclasses: the same excess risk as Theorem 3.1.",
        _UPPER,
        "==",
        "D*(G*sqrt(log(1/xi)/n) + G*(d*log(1/xi)/(n*eps))**(1-1/k))",
        _K,
    ),
    Comparison(
        "P4.C26",
        "Section 1, (4)",
        "For ε ≥ d privacy is free.",
        _HEADLINE,
        "==",
        "G*D/sqrt(n)",
        ("k>=2", "eps>=d"),
    ),
    Comparison(
        "P4.C27",
        "Lemma 2.4",
        "The noise's length: d + log(1/ξ) is at most the paper's d·log(1/ξ).",
        "C*(d+log(1/xi))/(lam*n*eps)",
        "<=",
        "C*d*log(1/xi)/(lam*n*eps)",
    ),
    Comparison(
        "P4.C28",
        "Lemma 2.4",
        "The paper's length is larger by more than a constant.",
        "C*d*log(1/xi)/(lam*n*eps)",
        "not <=",
        "C*(d+log(1/xi))/(lam*n*eps)",
    ),
    Comparison(
        "P4.C29",
        "Algorithm 4 and ours",
        "One release with ε has the rate of two with ε/2.",
        _DISTANCE,
        "==",
        "G/lam*(2*d/(n*eps))**(1-1/k)",
        _K,
    ),
    Comparison(
        "P4.C30",
        "ours",
        "The expectation bound has no logarithm: at most Theorem 3.1's rate.",
        _HEADLINE,
        "<=",
        _UPPER,
        _K,
    ),
    Comparison(
        "P4.C31",
        "Proposition 3.2",
        "ε ≤ d is needed: with constant κ the slack C/(λn) exceeds (9) beyond it.",
        f"{_PAPER_CLIP}/(lam*n)",
        "not <=",
        _DISTANCE,
        ("k>=2", "n*eps>=d"),
    ),
    Comparison(
        "P4.C32",
        "Section 1 and Appendix A",
        "Where nε < d the trivial algorithm is optimal.",
        "G*D",
        "<=",
        _KNOWN_LOWER,
        ("k>=2", "n*eps<=d"),
    ),
    Comparison(
        "P4.C33",
        "(29)",
        "√d in place of the paper's d for the smoothness of ball smoothing.",
        "sqrt(d)*G/sigma",
        "<=",
        "d*G/sigma",
    ),
    Comparison(
        "P4.C34",
        "Appendix E, (21)",
        "Clipping gradients and extending the loss have biases of the same order: both give (6) at C = G(nε/d)^{1/k}.",
        f"G**k*({_PAPER_CLIP})**(1-k)/lam",
        "==",
        _DISTANCE,
        _K,
    ),
    Comparison(
        "P4.C35",
        "ours",
        "Objective perturbation attains (4) for ε ≥ 1.",
        _OBJECTIVE,
        "==",
        _HEADLINE,
        ("k>=2", "eps>=1"),
    ),
    Comparison(
        "P4.C36",
        "ours",
        "… and for k = 2, whatever ε is.",
        _OBJECTIVE,
        "==",
        _HEADLINE,
        ("k>=2", "k<=2"),
    ),
    Comparison(
        "P4.C37",
        "ours",
        "… but for k > 2 and small ε the smoothing of losses with kinks costs more.",
        _OBJECTIVE,
        "not <=",
        _HEADLINE,
        ("k>=2", "k>2", "eps<=1", "n*eps>=d"),
    ),
)

COMPARISONS = tuple(replace(comparison, reconstructed=True) for comparison in _COMPARISONS)  # the text has no rates
