"""[P2] Simple clipping and iterative updating: what the paper states, and what we add to it.

`derived` follows from the first item of `follows_from` that has a rate, with `choices` substituted (a choice, and `derived`
itself, may mention letters that other choices explain); `steps` says how.  The paper's constants L (diameter), λ, M are
dropped in rates of risk, as it does.

Letters beyond the common ones: K the number of groups (printed k), xi a failure probability (printed β), ell the logarithm
ln(2·6^d·N/β) or ln(1/β) of a union bound, B the bias and G the root mean square error of a gradient estimate, E the error of a
gradient estimate uniformly over W, eps0 and delta0 the budget of one step, r0 the radius (25), c the distance of the start
from the mean, a, b, w the three parts of an error.
"""

from __future__ import annotations

import math

from tailproof.bounds import explicit
from tailproof.bounds.statements import Comparison, Statement
from tailproof.refimpl.validation import between, nonnegative, positive, probability, whole

LABELS = (
    "Abstract",
    "Introduction",
    "Section II",
    "Section III",
    "Section IV",
    "Section V",
    "Conclusion",
    "Table I",
    "Definition 1",
    "Definition 2",
    "Assumption 1",
    *(f"Theorem {i}" for i in range(1, 8)),
    *(f"Lemma {i}" for i in range(1, 14)),
    *(f"Algorithm {i}" for i in range(1, 4)),
    *(f"Appendix {letter}" for letter in "ABCDEFGHI"),
    *(f"({i})" for i in range(1, 116)),
)

# ------------------------------------------------------------------------------------------------ explicit inequalities


def advanced_composition_epsilon(*, epsilon: float, times: int, slack: float) -> float:
    """Lemma 1(1): √(2k ln(1/δ'))ε + kε(e^ε − 1)."""
    eps, k = positive("epsilon", epsilon), whole("times", times, least=1)
    return math.sqrt(2 * k * math.log(1 / probability("slack", slack))) * eps + k * eps * math.expm1(eps)


def composed_zcdp(*, rho: float, times: int) -> float:
    """Lemma 1(2): k·ρ."""
    return whole("times", times, least=1) * positive("rho", rho)


def pure_zcdp(*, epsilon: float) -> float:
    """Lemma 1(3): ε²/2."""
    return positive("epsilon", epsilon) ** 2 / 2


def zcdp_conversion(*, rho: float, delta: float) -> float:
    """Lemma 1(4) at ρ = ε²/2: ρ + 2√(ρ ln(1/δ))."""
    return positive("rho", rho) + 2 * math.sqrt(rho * math.log(1 / probability("delta", delta)))


def gaussian_variance(*, sensitivity: float, rho: float) -> float:
    """Lemma 2: Δ²/(2ρ) in each coordinate."""
    return positive("sensitivity", sensitivity) ** 2 / (2 * positive("rho", rho))


def clipped_variance(*, n: int, clip: float, rho: float) -> float:
    """Lemma 4 (and (23) for the n records of a group): 2R²/(ρn²)."""
    return 2 * positive("clip", clip) ** 2 / (positive("rho", rho) * whole("n", n, least=1) ** 2)


def shuffled_epsilon(*, epsilon0: float, slack: float, groups: int) -> float:
    """(75) as published, with 8e^{ε₀}/√k where the cited theorem has 8e^{ε₀}/k."""
    eps0, k = nonnegative("epsilon0", epsilon0), whole("groups", groups, least=1)
    root = 8 * math.sqrt(math.exp(eps0) * math.log(4 / probability("slack", slack)) / k) + 8 * math.exp(eps0) / math.sqrt(k)
    return min(math.log1p(math.tanh(eps0 / 2) * root), eps0)


def shuffled_delta(*, epsilon0: float, delta0: float, slack: float, groups: int) -> float:
    """(76): δ' + (e^{ε_g} + 1)(1 + ½e^{−ε₀})kδ₀."""
    eps = shuffled_epsilon(epsilon0=epsilon0, slack=slack, groups=groups)
    return slack + (math.exp(eps) + 1) * (1 + math.exp(-epsilon0) / 2) * groups * probability("delta0", delta0)


def good_radius(*, n: int, d: int, groups: int, moment: float, clip: float, rho: float) -> float:
    """(91), the radius r₀ of Lemma 6 with its constants."""
    n, d, k = whole("n", n, least=1), whole("d", d, least=1), whole("groups", groups, least=1)
    M, noise = positive("moment", moment), positive("clip", clip) / (n * math.sqrt(positive("rho", rho)))
    sampling, spread = 160 * M * math.sqrt(d / n), 160 * math.sqrt(2 * k * d) * noise
    return max(sampling, spread, 40 * math.sqrt(2 * (k * noise) ** 2 + M**2 * k / n))


def contraction_steps(*, distance: float, radius: float) -> float:
    """Lemma 8: 2 ln(‖c₁ − μ_Y‖/(4r₀))/ln(256/233), zero when the start is that near."""
    ratio = nonnegative("distance", distance) / (4 * positive("radius", radius))
    return 2 * math.log(ratio) / math.log(256 / 233) if ratio > 1 else 0.0


def last_radius(*, radius: float) -> float:
    """Lemma 8 (30): 6r₀."""
    return 6 * positive("radius", radius)


def step_epsilon(*, epsilon: float, delta: float, steps: int) -> float:
    """(32): ε₀ = ε/(2√(2T ln(2/δ))); δ₀ = δ/(2T)."""
    log = math.log(2 / probability("delta", delta))
    return positive("epsilon", epsilon) / (2 * math.sqrt(2 * whole("steps", steps, least=1) * log))


def directional_bias_upper(*, d: int, p: float, moment: float, clip: float) -> float:
    """Ours: ‖μ_Y − μ‖ ≤ M^p d^{(p−1)/2} R^{1−p}, a root of d below (55)."""
    p, clip = between("p", p, 2, math.inf), positive("clip", clip)
    ratio = positive("moment", moment) / clip
    return moment * math.pow(math.sqrt(whole("d", d, least=1)) * ratio, p - 1)


def uniform_deviation_upper(*, n: int, d: int, moment: float, smoothness: float, diameter: float) -> float:
    """Ours: E sup_W ‖g₀ − E g₀‖ ≤ (M + 10λL)√(d/n) when every record's loss is λ-smooth; no R, no logarithm."""
    rate = positive("moment", moment) + 10 * nonnegative("smoothness", smoothness) * positive("diameter", diameter)
    return rate * math.sqrt(whole("d", d, least=1) / whole("n", n, least=1))


def reused_excess_risk_upper(
    *,
    n: int,
    d: int,
    p: float,
    moment: float,
    smoothness: float,
    diameter: float,
    clip: float,
    rho: float,
    step: float,
    steps: int,
) -> float:
    """Ours: L²/(2ηT) + L(deviation + bias) + η(M²(1 + d/n) + λ²L² + dR²T/(ρn²)) for simple clipping, every record λ-smooth."""
    eta, T, L = positive("step", step), whole("steps", steps, least=1), positive("diameter", diameter)
    deviation = uniform_deviation_upper(n=n, d=d, moment=moment, smoothness=smoothness, diameter=L)
    bias = directional_bias_upper(d=d, p=p, moment=moment, clip=clip)
    square = moment**2 * (1 + d / n) + (smoothness * L) ** 2 + d * T * clipped_variance(n=n, clip=clip, rho=rho) / 2
    return L**2 / (2 * eta * T) + L * (deviation + bias) + eta * square


def one_pass_excess_risk_upper(
    *, n: int, d: int, p: float, moment: float, diameter: float, clip: float, rho: float, steps: int
) -> float:
    """Ours: L(M/√T + M√(d/n) + √2·R√(dT)/(n√ρ) + M^p d^{(p−1)/2}R^{1−p}) for clipped means of T disjoint batches."""
    n, d, T = whole("n", n, least=1), whole("d", d, least=1), whole("steps", steps, least=1)
    noise = math.sqrt(2 * d * T / positive("rho", rho)) * positive("clip", clip) / n
    sampling = positive("moment", moment) * (1 / math.sqrt(T) + math.sqrt(d / n))
    return positive("diameter", diameter) * (sampling + noise + directional_bias_upper(d=d, p=p, moment=moment, clip=clip))


# ------------------------------------------------------------------------------------------------ rates used several times

_ROOT = "sqrt(d/n)"
_PRIVATE = "sqrt(d)*(sqrt(d)/(n*eps))**(1-1/p)"
_THIRD = "d**(3/2-1/p)/n**(1-1/p)"
_SIMPLE = f"{_ROOT} + {_PRIVATE} + {_THIRD}"
_OPTIMAL = f"{_ROOT} + {_PRIVATE}"
_DIRECTIONAL = "sqrt(d/n) + (d/(n*eps))**(1-1/p)"
_LOWER = "sqrt(d/n) + sqrt(d)*(sqrt(d)/(n*eps))**(1-1/p)*log(1/delta)"
_WANG = "(d**3/(eps**2*n))**(1/3)"
_KAMATH = "d/sqrt(n) + sqrt(d)*(d**(3/2)/(eps*n))**(1-1/p)"
_KAMATH_SECOND = "d/(eps**(1/4)*sqrt(n)) + d**(3/4)/sqrt(eps*n)"
_T4 = "sqrt(d*log(n)/n) + sqrt(d)*(sqrt(d)*sqrt(log(1/delta))/(n*eps))**(1-1/p) + d**(3/2-1/p)/n**(1-1/p)*log(n)"
_T7 = "sqrt(d/n) + sqrt(d)*(sqrt(d)/(n*eps))**(1-1/p)*log(1/delta)*log(n*d)"
_T2 = "Max(sqrt(M**2*(d+log(1/xi))/n), R*(d+log(1/xi))/n) + d**(p/2)*M**p*R**(1-p) + R*sqrt(d+log(1/xi))/(n*sqrt(rho))"
_L5 = "sqrt(d*log(n)/n) + R*d*log(n)/n + d**(p/2)*R**(1-p)"
_L5G = "d*log(n)/n + R**2*d**2*log(n)**2/n**2 + d**p*R**(2*(1-p)) + R**2*T*d/(rho*n**2)"
_E69 = "R*sqrt(d)/(n*sqrt(rho)) + sqrt(d*log(n)/n) + R*d*log(n)/n + d**(p/2)*R**(1-p)"
_E31 = "sqrt((d+log(1/xi))/n) + R/n*sqrt(K/rho)*sqrt(d+log(1/xi)) + d**(p/2)*R**(1-p)"
_T5 = (
    "sqrt((d+log(1/xi))/n) + d**(p/2)*R**(1-p)"
    " + R/(n*eps)*sqrt(d+log(1/xi))*(log(1/delta) + sqrt(log(1/delta)*log(log(1/xi))))"
)
_O3 = "sqrt(d/n) + (d*sqrt(log(1/delta))/(n*eps))**(1-1/p)"
_STEP_LOGS = "(log(1/delta0) + sqrt(log(1/delta0)*(log(d) + log(log(n)))))"
_E33 = "sqrt((d+ell)/n) + d**(p/2)*R**(1-p) + R/(n*eps0)*sqrt(d+ell)*(log(1/delta0) + sqrt(log(1/delta0)*log(ell)))"
_L9 = f"sqrt(d*log(n)/n) + d**(p/2)*R**(1-p) + R*sqrt(d*log(n))/(n*eps0)*{_STEP_LOGS}"
_L9G = f"d*log(n)/n + d**p*R**(2*(1-p)) + R**2*d*log(n)/(n**2*eps0**2)*{_STEP_LOGS}**2"
_RUN_LOGS = "(log(T/delta) + sqrt(log(T/delta)*(log(d) + log(log(n)))))"
_T7_STEPS = "(n*eps/sqrt(d))**(2-2/p)/d"
_BUDGET = {"eps0": "eps/sqrt(T*log(1/delta))", "delta0": "delta/T"}
_CONSTANTS = {"L": "1", "lam": "1", "M": "1"}
_T7_CHOICES = {"eta": "1/sqrt(T)", "T": "n**2*eps**2/(d*R**2)", "R": "sqrt(d)*(n*eps/sqrt(d))**(1/p)"}
_P = ("p>=2",)
_RANGE = ("p>=2", "eps<=1")
_LONG_RUN = ("p>=2", "eps<=1", "n>=d*log(n)", "(n*eps/sqrt(d))**(2-2/p)>=d", "T>=1", "T<=n**2")
_RISK = ("Assumption 1: W of diameter L, F λ-smooth, E|⟨u, ∇l(w, Z)⟩|^p ≤ M^p for every unit u", "l convex, records i.i.d.")
_MEAN = ("X_1..X_n i.i.d. with E|⟨u, X⟩|^p ≤ M^p for every unit u",)
_BOTH = ("P2.A1", "P2.A2")
_ITERATIVE = ("P2.A1", "P2.A3")

STATEMENTS: tuple[Statement, ...] = (
    # -------------------------------------------------------------------------------------------- abstract, introduction, table
    Statement(
        "P2.ABS",
        "Abstract",
        "upper",
        "printed",
        "Simple clipping has this population risk for ε ≤ 1/√d.",
        assumptions=_RISK,
        where=("p>=2", "eps<=1/sqrt(d)"),
        printed=_OPTIMAL,
        derived=_OPTIMAL,
        hidden="logarithms (Õ)",
        follows_from=("P2.TAB1.r4",),
        steps=("For ε ≤ 1/√d the third term of Table I's row is at most the second.",),
        algorithms=_BOTH,
    ),
    Statement(
        "P2.ABS.iterative",
        "Abstract",
        "upper",
        "printed",
        "Iterative updating has the same population risk for all ε ≤ 1.",
        assumptions=_RISK,
        where=_RANGE,
        printed=_OPTIMAL,
        hidden="logarithms (Õ)",
        follows_from=("P2.T7",),
        steps=("Rests on Theorem 7, which fails at its own choices: see P2.O5.",),
        algorithms=_ITERATIVE,
    ),
    Statement(
        "P2.INTRO.lower",
        "Introduction",
        "lower",
        "printed",
        "The minimax lower bound, with √(d/(εn)) where Table I and Theorem 1 have √d/(εn).",
        assumptions=("(ε, δ)-DP", "bounded p-th moments"),
        where=_P,
        printed="sqrt(d/n) + sqrt(d)*(sqrt(d/(eps*n)))**(1-1/p)",
        derived=_OPTIMAL,
        follows_from=("P2.TAB1.r6",),
        steps=("The root covers d only, as in Table I.",),
        errata=("P2.Intro.lower",),
    ),
    Statement(
        "P2.INTRO.simple",
        "Introduction",
        "upper",
        "printed",
        "Simple clipping, item 1) of the contributions.",
        assumptions=_RISK,
        where=_RANGE,
        printed=_SIMPLE,
        derived=_SIMPLE,
        hidden="logarithms (Õ)",
        follows_from=("P2.TAB1.r4",),
        algorithms=_BOTH,
    ),
    Statement(
        "P2.INTRO.iterative",
        "Introduction",
        "upper",
        "printed",
        "Iterative updating, item 2) of the contributions.",
        assumptions=_RISK,
        where=_RANGE,
        printed=_OPTIMAL,
        hidden="logarithms (Õ)",
        follows_from=("P2.T7",),
        algorithms=_ITERATIVE,
    ),
    Statement(
        "P2.TAB1.r1",
        "Table I",
        "upper",
        "printed",
        "[25] (P1), corrected in [1]; the exponent −1 in the extracted text is the mark of footnote 1.",
        printed=_WANG,
        hidden="logarithms (Õ)",
        steps=("P1's own proofs give (d²/(ε²n))^{1/3}: P1.T8.",),
        algorithms=("P1.A4",),
    ),
    Statement(
        "P2.TAB1.r2",
        "Table I",
        "upper",
        "printed",
        "[1], first method.",
        where=_RANGE,
        printed=_KAMATH,
        hidden="logarithms (Õ)",
    ),
    Statement(
        "P2.TAB1.r3",
        "Table I",
        "upper",
        "printed",
        "[1], second method: min over 0.5 ≤ q ≤ 2 of d^{(3−q)/2}/√n + d^{(1+q)/2}/√(εn); the exponent 2 is the mark of footnote 2.",
        where=("eps<=1",),
        printed=_KAMATH_SECOND,
        hidden="logarithms (Õ)",
        steps=(
            "The two terms balance at d^{1−q} = ε^{−1/2}, value d·ε^{−1/4}/√n; q ≤ 1 since ε ≤ 1.",
            "q ≥ ½ binds for ε < 1/d, where the value is d^{3/4}/√(εn); the larger of the two values is the minimum.",
        ),
    ),
    Statement(
        "P2.TAB1.r4",
        "Table I",
        "upper",
        "printed",
        "Simple clipping.",
        assumptions=_RISK,
        where=_RANGE,
        printed=_SIMPLE,
        derived=_SIMPLE,
        hidden="logarithms (Õ)",
        follows_from=("P2.T4",),
        steps=("Theorem 4 without its logarithms.",),
        algorithms=_BOTH,
    ),
    Statement(
        "P2.TAB1.r5",
        "Table I",
        "upper",
        "printed",
        "Iterative updating.",
        assumptions=_RISK,
        where=_RANGE,
        printed=_OPTIMAL,
        hidden="logarithms (Õ)",
        follows_from=("P2.T7",),
        algorithms=_ITERATIVE,
    ),
    Statement(
        "P2.TAB1.r6",
        "Table I",
        "lower",
        "printed",
        "Lower bound.",
        where=_P,
        printed=_OPTIMAL,
        derived=_OPTIMAL,
        hidden="logarithms",
        follows_from=("P2.T1",),
        steps=("Theorem 1 as published, without its logarithm; under (4) it is too large, see P2.T1.",),
    ),
    # -------------------------------------------------------------------------------------------- preliminaries
    Statement(
        "P2.D1",
        "Definition 1",
        "definition",
        "printed",
        "(ε, δ)-DP: P(A(D) ∈ S) ≤ e^ε P(A(D') ∈ S) + δ for data sets that differ in one element (replacement).",
    ),
    Statement(
        "P2.D2",
        "Definition 2",
        "definition",
        "printed",
        "ρ-CDP is zero-concentrated DP: D_α(A(D)‖A(D')) ≤ ρα for every α > 1.",
    ),
    Statement(
        "P2.ASM1",
        "Assumption 1",
        "definition",
        "printed",
        "Diameter L, F λ-smooth, directional p-th moments of gradients at most M^p; proofs also use λ-smooth l(·, z).",
        where=_P,
        steps=("(65) needs the record's smoothness; (39) needs ∇F(w*) = 0 or ‖∇F‖ ≤ M from (c).",),
    ),
    Statement(
        "P2.L1.1",
        "Lemma 1",
        "privacy",
        "printed",
        "Advanced composition of K mechanisms that are (ε, δ)-DP: (√(2K ln(1/δ'))ε + Kε(e^ε − 1), Kδ + δ').",
        where=("eps<=1",),
        printed="sqrt(K*log(1/delta))*eps + K*eps**2",
        derived="sqrt(K*log(1/delta))*eps + K*eps**2",
        explicit=advanced_composition_epsilon,
    ),
    Statement(
        "P2.L1.2",
        "Lemma 1",
        "privacy",
        "printed",
        "K mechanisms that are ρ-CDP compose to Kρ-CDP.",
        printed="K*rho",
        derived="K*rho",
        explicit=composed_zcdp,
    ),
    Statement(
        "P2.L1.3",
        "Lemma 1",
        "privacy",
        "printed",
        "ε-DP implies ε²/2-CDP.",
        printed="eps**2",
        derived="eps**2",
        explicit=pure_zcdp,
    ),
    Statement(
        "P2.L1.4",
        "Lemma 1",
        "privacy",
        "printed",
        "ε²/2-CDP implies (ε²/2 + ε√(2 ln(1/δ)), δ)-DP; here with ρ = ε²/2.",
        printed="rho + sqrt(rho*log(1/delta))",
        derived="rho + sqrt(rho*log(1/delta))",
        explicit=zcdp_conversion,
    ),
    Statement(
        "P2.L2",
        "Lemma 2",
        "privacy",
        "printed",
        "Gaussian noise of variance Δ²/(2ρ) in each coordinate is ρ-CDP.",
        printed="D**2/rho",
        derived="D**2/rho",
        explicit=gaussian_variance,
        steps=("D stands for the ℓ₂ sensitivity.",),
    ),
    Statement(
        "P2.T1",
        "Theorem 1",
        "lower",
        "printed",
        "Every (ε, δ)-DP algorithm has this excess risk on some F (rephrased from [1], Theorem 6.4).",
        assumptions=(
            "(ε, δ)-DP, no range for ε, δ, n",
            "stated under Assumption 1; [1] bounds moments along basis vectors only, (5)",
        ),
        where=_P,
        printed=_LOWER,
        derived=_DIRECTIONAL,
        steps=(
            "The factor ln(1/δ) cannot be: the excess risk is at most LM, and (20) has (ln(1/δ))^{(1−1/p)/2} only.",
            "Under (4) no lower bound above √(d/n) + (d/(nε))^{1−1/p} holds: see P2.O3 and, without smooth records, P2.O4.",
            "For means with directional moments that order is necessary by the work cited as [55]; not re-proved here.",
            "√d(√d/(nε))^{1−1/p}, larger by d^{1/(2p)}, belongs to moments bounded along basis vectors, (5), or of the norm.",
        ),
        errata=(
            "P2.Thm1.class",
            "P2.Thm1.log",
        ),
    ),
    Statement(
        "P2.T1.limit",
        "Section III",
        "lower",
        "printed",
        "Theorem 1 in the limit p → ∞.",
        printed="sqrt(d/n) + d/(n*eps)",
        derived="sqrt(d/n) + d/(n*eps)",
        hidden="ln(1/δ)",
        follows_from=("P2.T1",),
        steps=("√d·(√d/(nε)); the directional rate has the same limit.",),
    ),
    Statement(
        "P2.T1.lipschitz",
        "Section III",
        "upper",
        "printed",
        "The excess risk for gradients of norm O(1), from [8].",
        printed="1/sqrt(n) + sqrt(d)/(n*eps)",
        hidden="√ln(1/δ)",
    ),
    Statement(
        "P2.L3",
        "Lemma 3",
        "upper",
        "printed",
        "Excess risk of Algorithm 1 from the bias B and the mean square error G² of its gradient estimates.",
        assumptions=_RISK,
        printed="L**2/(eta*T) + L*B + eta*(lam**2*L**2 + G**2)",
        derived="L**2/(eta*T) + L*B + eta*(M**2 + G**2)",
        steps=(
            "‖∇F‖ ≤ λL needs a minimiser with zero gradient; ‖∇F‖ ≤ M follows from Assumption 1(c).",
            "B must bound E‖E[g(w_t) | w_t] − ∇F(w_t)‖: with the plain expectation of (9) data used twice refute (11).",
        ),
        algorithms=("P2.A1",),
        explicit=explicit.excess_risk_upper,
        errata=("P2.Lem3",),
    ),
    # -------------------------------------------------------------------------------------------- simple clipping
    Statement(
        "P2.L4",
        "Lemma 4",
        "privacy",
        "printed",
        "The clipped mean with variance 2R²/(ρn²) is ρ-CDP.",
        printed="R**2/(rho*n**2)",
        derived="R**2/(rho*n**2)",
        follows_from=("P2.L2",),
        choices={"D": "R/n"},
        algorithms=("P2.A2",),
        explicit=clipped_variance,
    ),
    Statement(
        "P2.E43",
        "(43)",
        "lemma",
        "printed",
        "The error is at most sampling a, clipping bias b and noise w.",
        printed="a + b + w",
        derived="a + b + w",
    ),
    Statement(
        "P2.E52",
        "(52)",
        "lemma",
        "printed",
        "‖Ȳ − μ_Y‖ with probability 1 − β/2.",
        assumptions=_MEAN,
        printed="Max(sqrt(M**2*(d+log(1/xi))/n), R*(d+log(1/xi))/n)",
        derived="Max(sqrt(M**2*(d+log(1/xi))/n), R*(d+log(1/xi))/n)",
        follows_from=("P2.L10",),
        explicit=explicit.clipped_sampling_error_upper,
    ),
    Statement(
        "P2.E55",
        "(55)",
        "lemma",
        "printed",
        "Clipping bias ‖μ_Y − μ‖ ≤ d^{p/2}M^pR^{1−p}/(p − 1).",
        assumptions=_MEAN,
        where=_P,
        printed="d**(p/2)*M**p*R**(1-p)",
        derived="d**(p/2)*M**p*R**(1-p)",
        follows_from=("P2.L11",),
        steps=("True, but not the best under (4): P2.O1 saves √d.",),
        explicit=explicit.clipping_bias_upper,
    ),
    Statement(
        "P2.E58",
        "(58)",
        "lemma",
        "printed",
        "‖W‖ with probability 1 − β/2.",
        printed="R*sqrt(d+log(1/xi))/(n*sqrt(rho))",
        derived="R*sqrt(d+log(1/xi))/(n*sqrt(rho))",
        explicit=explicit.clipped_noise_upper,
    ),
    Statement(
        "P2.T2",
        "Theorem 2",
        "upper",
        "printed",
        "Error of simple clipping with probability 1 − β, constants explicit.",
        assumptions=_MEAN,
        where=_P,
        printed=_T2,
        derived=_T2,
        follows_from=("P2.E43", "P2.E52", "P2.E55", "P2.E58"),
        choices={
            "a": "Max(sqrt(M**2*(d+log(1/xi))/n), R*(d+log(1/xi))/n)",
            "b": "d**(p/2)*M**p*R**(1-p)",
            "w": "R*sqrt(d+log(1/xi))/(n*sqrt(rho))",
        },
        algorithms=("P2.A2",),
        explicit=explicit.clipped_mean_error_upper,
    ),
    Statement(
        "P2.T2.tail",
        "Section IV",
        "upper",
        "printed",
        "Sampling error in words: subgaussian, followed by a subexponential tail.",
        printed="sqrt((d+log(1/xi))/n) + R/n*(d+log(1/xi))",
        derived="sqrt((d+log(1/xi))/n) + R/n*(d+log(1/xi))",
        follows_from=("P2.E52",),
        choices={"M": "1"},
        steps=("A maximum of two is their sum up to a factor 2.",),
    ),
    Statement(
        "P2.T3",
        "Theorem 3",
        "privacy",
        "printed",
        "Steps of ρ/T-CDP with (15) make a run that is (ε, δ)-DP; the rate is ρ.",
        where=("eps<=1",),
        printed="eps**2/log(1/delta)",
        derived="eps**2/log(1/delta)",
        follows_from=("P2.L1.4",),
        steps=("ρ ≤ 1, so ρ + 2√(ρ ln(1/δ)) ≤ √ρ(1 + 2√ln(1/δ)) = ε.",),
        algorithms=_BOTH,
        explicit=explicit.run_zcdp,
    ),
    Statement(
        "P2.E66",
        "(66)",
        "lemma",
        "printed",
        "sup over W of ‖g₀ − ∇F‖ with probability 1 − β; ell = ln(2·6^d N_c/β), net radius 1/n.",
        assumptions=(*_RISK, "every l(·, z) λ-smooth (used in (65), not assumed)"),
        where=_P,
        printed="Max(sqrt(ell/n), R*ell/n) + d**(p/2)*R**(1-p)",
        derived="Max(sqrt(ell/n), R*ell/n) + d**(p/2)*R**(1-p)",
        follows_from=("P2.T2",),
        steps=("The last term, 2λa at a = 1/n, is below the others; the paper has 2La.",),
    ),
    Statement(
        "P2.L5",
        "Lemma 5",
        "lemma",
        "printed",
        "B of simple clipping over a run that uses all records in every step.",
        place="(17)",
        assumptions=(*_RISK, "every l(·, z) λ-smooth (used in (65), not assumed)"),
        where=_P,
        printed="sqrt(d*log(n)/n) + R*d*log(n)/n*log(n) + d**(p/2)*R**(1-p)",
        derived=_L5,
        follows_from=("P2.E66",),
        choices={"ell": "d*log(n)"},
        steps=(
            "β = n⁻², net radius 1/n: ell is of order d ln n.",
            "(67) has one logarithm in the second term, (17) has two.",
        ),
        algorithms=_BOTH,
        errata=("P2.(17)",),
    ),
    Statement(
        "P2.E68",
        "(68)",
        "lemma",
        "printed",
        "G² is at most the squared uniform error plus the noise σ²d.",
        printed="E**2 + sigma**2*d",
        derived="E**2 + sigma**2*d",
    ),
    Statement(
        "P2.L5.G",
        "Lemma 5",
        "lemma",
        "printed",
        "G² of simple clipping.",
        place="(18)",
        assumptions=(*_RISK, "every l(·, z) λ-smooth (used in (65), not assumed)"),
        where=_P,
        printed=_L5G,
        derived=_L5G,
        follows_from=("P2.E68", "P2.L5"),
        choices={"E": _L5, "sigma": "R*sqrt(T/rho)/n"},
        algorithms=_BOTH,
    ),
    Statement(
        "P2.E69",
        "(69)",
        "upper",
        "printed",
        "Excess risk of simple clipping for any R.",
        assumptions=_RISK,
        where=(*_P, f"{_E69}<=1"),
        printed=_E69,
        derived=_E69,
        follows_from=("P2.L3", "P2.L5"),
        choices={**_CONSTANTS, "eta": "1/sqrt(T)", "B": _L5, "G": f"sqrt({_L5G})", "T": "rho*n**2/(d*R**2)"},
        steps=("Squares of terms below 1, divided by √T, are below the terms; a bound above LM says nothing.",),
        algorithms=_BOTH,
    ),
    Statement(
        "P2.E71",
        "(71)",
        "upper",
        "printed",
        "Excess risk of simple clipping for ρ > 1/d.",
        where=("p>=2", "rho>=1/d", "rho<=1", "n>=d"),
        printed="sqrt(d*log(n)/n) + d**(3/2-1/p)/n**(1-1/p)*log(n)",
        derived="sqrt(d*log(n)/n) + d**(3/2-1/p)/n**(1-1/p)*log(n)",
        follows_from=("P2.E69",),
        choices={"R": "sqrt(d)*(n/d)**(1/p)"},
        algorithms=_BOTH,
    ),
    Statement(
        "P2.E72",
        "(72)",
        "upper",
        "printed",
        "Excess risk of simple clipping for ρ ≤ 1/d.",
        where=("p>=2", "rho<=1/d"),
        printed="sqrt(d*log(n)/n) + sqrt(d)*(sqrt(d)/(n*sqrt(rho)))**(1-1/p)",
        derived="sqrt(d*log(n)/n) + sqrt(d)*(sqrt(d)/(n*sqrt(rho)))**(1-1/p)*(1 + sqrt(rho*d)*log(n))",
        follows_from=("P2.E69",),
        choices={"R": "sqrt(d)*(n*sqrt(rho)/sqrt(d))**(1/p)"},
        steps=("Rd·ln n/n is √(ρd)·ln n times the second term: the paper drops it; (73) has it again.",),
        algorithms=_BOTH,
        errata=("P2.(72)",),
    ),
    Statement(
        "P2.T4",
        "Theorem 4",
        "upper",
        "printed",
        "Excess risk of simple clipping.",
        assumptions=(*_RISK, "every l(·, z) λ-smooth (used in (65), not assumed)"),
        where=_RANGE,
        printed=_T4,
        derived=_T4,
        hidden="constants L, λ, M",
        follows_from=("P2.E69", "P2.T3"),
        choices={
            "R": "sqrt(d)*Min((n*sqrt(rho)/sqrt(d))**(1/p), (n/d)**(1/p))",
            "rho": "eps**2/log(1/delta)",
        },
        steps=(
            "R√d/(n√ρ) and d^{p/2}R^{1−p} are at most the sum of the last two terms; Rd log n/n is at most the last, and less when "
            "R is the first entry of its minimum: generous by a logarithm.",
            "Not sharp: with P2.O1 and P2.O2 the same method has P2.O3.",
        ),
        algorithms=_BOTH,
    ),
    # -------------------------------------------------------------------------------------------- iterative updating
    Statement(
        "P2.MOM",
        "Section II",
        "upper",
        "printed",
        "Geometric median of means [47], no privacy, with probability 1 − β.",
        printed="sqrt(d*log(1/xi)/n)",
    ),
    Statement(
        "P2.SUBGAUSSIAN",
        "Section II",
        "upper",
        "printed",
        "Mean estimators of subgaussian error [19–21], no privacy, with probability 1 − β.",
        printed="sqrt((d+log(1/xi))/n)",
    ),
    Statement(
        "P2.IDEAL",
        "Section V",
        "upper",
        "printed",
        "What one would like of a ρ-CDP mean.",
        where=_P,
        printed="sqrt((d+log(1/xi))/n) + R*sqrt(d+log(1/xi))/(n*sqrt(rho)) + d**(p/2)*R**(1-p)",
    ),
    Statement(
        "P2.T6",
        "Theorem 6",
        "privacy",
        "printed",
        "An estimator that is invariant under permutations of K group means, each ρ-CDP with (24), is (ε, δ)-DP; the rate is ρ.",
        where=("eps<=sqrt(log(1/delta)/K)",),
        printed="eps**2*K/(log(1/delta)*log(K/delta))",
        derived="eps**2*K/(log(1/delta)*log(K/delta))",
        follows_from=("P2.E75", "P2.E76"),
        steps=(
            "ε₀ ≤ √ρ(1 + 2√ln(12k/δ)) ≤ 1, δ' = δ/2, δ₀ = δ/(12k).",
            "Proved for groups of one record, and for k ≤ 64e⁴ln(8/δ), where no amplification is needed; otherwise unproved.",
        ),
        algorithms=("P2.A3",),
        explicit=explicit.group_zcdp,
    ),
    Statement(
        "P2.E75",
        "(75)",
        "privacy",
        "printed",
        "ε of K shuffled (ε₀, δ₀)-DP releases.",
        where=("eps0<=1",),
        printed="Min(eps0*sqrt(log(1/delta)/K), eps0)",
        derived="Min(eps0*sqrt(log(1/delta)/K), eps0)",
        assumptions=("ε₀ ≤ ln(K/(16 ln(2/δ'))), not stated", "randomisers private for any two inputs, not stated"),
        steps=("The cited theorem has 8e^{ε₀}/K in its second term; the paper has 8e^{ε₀}/√K, which is weaker.",),
        algorithms=("P2.A3",),
        explicit=shuffled_epsilon,
    ),
    Statement(
        "P2.E76",
        "(76)",
        "privacy",
        "printed",
        "δ of K shuffled (ε₀, δ₀)-DP releases; delta is the free δ'.",
        where=("eps0<=1",),
        printed="delta + K*delta0",
        derived="delta + K*delta0",
        algorithms=("P2.A3",),
        explicit=shuffled_delta,
    ),
    Statement(
        "P2.E91",
        "(91)",
        "lemma",
        "printed",
        "The radius r₀ with its constants.",
        printed="Max(sqrt(d/n), R*sqrt(K)/n*sqrt(d/rho), sqrt(R**2*K**2/(rho*n**2) + K/n))",
        derived="Max(sqrt(d/n), R*sqrt(K)/n*sqrt(d/rho), sqrt(R**2*K**2/(rho*n**2) + K/n))",
        steps=("Each of the four terms of (89) is at most 1/40; k = 800 ln(1/β) makes the last one 1/40 exactly.",),
        explicit=good_radius,
    ),
    Statement(
        "P2.L6",
        "Lemma 6",
        "lemma",
        "printed",
        "With k = 800 ln(1/β) groups at most a tenth of the Q_j is beyond r₀ of μ_Y in any direction, with probability 1 − β.",
        assumptions=(*_MEAN, "n ≥ 800 ln(1/β)"),
        printed="sqrt((d+log(1/xi))/n) + R/n*sqrt(log(1/xi)/rho)*sqrt(d+log(1/xi))",
        derived="sqrt((d+log(1/xi))/n) + R/n*sqrt(log(1/xi)/rho)*sqrt(d+log(1/xi))",
        follows_from=("P2.E91",),
        choices={"K": "log(1/xi)"},
        algorithms=("P2.A3",),
        explicit=good_radius,
    ),
    Statement(
        "P2.L7",
        "Lemma 7",
        "lemma",
        "printed",
        "Under (26) the value d of program (27) is within r₀ of ‖c − μ_Y‖.",
        place="(28)",
        printed="r0",
        derived="r0",
        follows_from=("P2.L6",),
        steps=(
            "The proof of (95) must use (26) in the optimal direction g, not in (93); nine tenths and nine tenths share a point.",
        ),
        algorithms=("P2.A3",),
    ),
    Statement(
        "P2.L7.direction",
        "Lemma 7",
        "lemma",
        "printed",
        "If ‖μ_Y − c‖ ≥ 4r₀ the direction g has inner product at least ½ with that from c to μ_Y.",
        place="(29)",
        algorithms=("P2.A3",),
    ),
    Statement(
        "P2.L8",
        "Lemma 8",
        "lemma",
        "printed",
        "With η = ¼ and enough steps Algorithm 3 ends within 6r₀ of μ_Y.",
        printed="r0",
        derived="r0",
        follows_from=("P2.L7",),
        steps=("It may end at its start: when d₁ < 0 it returns c₁ (P2.O5), which is then within 4r₀.",),
        algorithms=("P2.A3",),
        explicit=last_radius,
    ),
    Statement(
        "P2.L8.steps",
        "Lemma 8",
        "runtime",
        "printed",
        "Steps of Algorithm 3: t_c ≥ 2 ln(‖c₁ − μ_Y‖/(4r₀))/ln(256/233).",
        where=("c>=r0",),
        printed="log(c/r0)",
        derived="log(c/r0)",
        algorithms=("P2.A3",),
        explicit=contraction_steps,
    ),
    Statement(
        "P2.E31",
        "(31)",
        "upper",
        "printed",
        "Error of Algorithm 3 in terms of ρ.",
        assumptions=_MEAN,
        where=_P,
        printed=_E31,
        derived=_E31,
        follows_from=("P2.E43", "P2.L6", "P2.L8", "P2.E55"),
        choices={
            "a": "sqrt((d+log(1/xi))/n)",
            "b": "d**(p/2)*R**(1-p)",
            "w": "R/n*sqrt(K/rho)*sqrt(d+log(1/xi))",
        },
        algorithms=("P2.A3",),
    ),
    Statement(
        "P2.T5",
        "Theorem 5",
        "upper",
        "printed",
        "Error of an (ε, δ)-DP mean with probability 1 − β, for ε ≤ c√(ln(1/δ)/k), k = 800 ln(1/β).",
        assumptions=(*_MEAN, "n ≥ 800 ln(1/β)", "the privacy is Theorem 6's, unproved for large groups"),
        where=("p>=2", "eps<=sqrt(log(1/delta)/log(1/xi))"),
        printed=_T5,
        derived="sqrt((d+log(1/xi))/n) + d**(p/2)*R**(1-p)"
        " + R/(n*eps)*sqrt(d+log(1/xi))*sqrt(log(1/delta)*(log(1/delta) + log(log(1/xi))))",
        follows_from=("P2.E31", "P2.T6"),
        choices={"K": "log(1/xi)", "rho": "eps**2*K/(log(1/delta)*log(K/delta))"},
        steps=("√(ln(1/δ)·ln(12k/δ)) is of order ln(1/δ) + √(ln(1/δ)·ln ln(1/β)) for δ ≤ ½.",),
        algorithms=("P2.A3",),
    ),
    Statement(
        "P2.T5.limit",
        "Section V",
        "upper",
        "printed",
        "Theorem 5 for ε → ∞ or δ → 1 and R large.",
        printed="sqrt((d+log(1/xi))/n)",
        steps=("Both limits leave Theorem 5's own range ε ≤ c√(ln(1/δ)/k).",),
        follows_from=("P2.T5",),
        algorithms=("P2.A3",),
    ),
    Statement(
        "P2.E32",
        "(32)",
        "privacy",
        "printed",
        "T steps of ε₀ = ε/(2√(2T ln(2/δ))), δ₀ = δ/(2T) are (ε, δ)-DP; the rate is ε₀.",
        where=("eps<=1",),
        printed="eps/sqrt(T*log(1/delta))",
        derived="eps/sqrt(T*log(1/delta))",
        follows_from=("P2.L1.1",),
        steps=("√(2T ln(2/δ))ε₀ = ε/2, and Tε₀(e^{ε₀} − 1) ≤ 0.23ε² ≤ ε/2 for ε ≤ 1.",),
        algorithms=_ITERATIVE,
        explicit=step_epsilon,
    ),
    Statement(
        "P2.E33",
        "(33)",
        "upper",
        "printed",
        "Error of one step's gradient for fixed w; ell = ln(1/β).",
        where=_P,
        printed=_E33,
        derived=_E33,
        follows_from=("P2.T5",),
        steps=("Theorem 5 with ε₀, δ₀.",),
        algorithms=_ITERATIVE,
    ),
    Statement(
        "P2.L9",
        "Lemma 9",
        "lemma",
        "printed",
        "B of iterative updating: no proof is given.",
        place="(34)",
        assumptions=_RISK,
        where=_P,
        printed="sqrt(d/n) + d**(p/2)*R**(1-p)",
        derived=_L9,
        follows_from=("P2.E33",),
        choices={"ell": "d*log(n)"},
        steps=(
            "Algorithm 3 is not linear in its noise, so Theorem 5 bounds the bias by the whole error, noise included.",
            "(34) is false: whenever the noise of a group exceeds the distance from c₁ to the mean, the output is c₁ (P2.O5).",
        ),
        algorithms=_ITERATIVE,
        errata=("P2.Lem9.bias",),
    ),
    Statement(
        "P2.L9.G",
        "Lemma 9",
        "lemma",
        "printed",
        "G² of iterative updating.",
        place="(35)",
        assumptions=_RISK,
        where=_P,
        printed="d/n + R**2*d/(n**2*eps0**2)*(log(1/delta0) + sqrt(log(1/delta0)*log(d))) + d**p*R**(2*(1-p))",
        derived=_L9G,
        follows_from=("P2.E68", "P2.L9"),
        choices={"E": _L9, "sigma": "E/sqrt(d)"},
        steps=(
            "The square of (33): the bracket is squared too, ln(1/β) is of order d ln n, and the noise is part of E already.",
        ),
        algorithms=_ITERATIVE,
        errata=("P2.(35)",),
    ),
    Statement(
        "P2.E103",
        "(103)",
        "lemma",
        "printed",
        "(35) with the budget (32).",
        where=_RANGE,
        printed="d/n + R**2*d*T/(n**2*eps**2)*log(1/delta)*(log(T/delta) + sqrt(log(T/delta)*log(d))) + d**p*R**(2*(1-p))",
        derived=f"d*log(n)/n + R**2*d*T*log(n)/(n**2*eps**2)*log(1/delta)*{_RUN_LOGS}**2 + d**p*R**(2*(1-p))",
        follows_from=("P2.L9.G", "P2.E32"),
        choices=_BUDGET,
        algorithms=_ITERATIVE,
        errata=("P2.(35)",),
    ),
    Statement(
        "P2.E107",
        "(107)",
        "upper",
        "printed",
        "Last but one line of Theorem 7's proof, derived here as if (34) held up to a logarithm.",
        assumptions=_RISK,
        where=_LONG_RUN,
        printed="sqrt(d/n) + sqrt(d)*(sqrt(d)/(n*eps))**(1-1/p)*log(1/delta)*(log(T/delta) + sqrt(log(T/delta))*log(d))",
        derived=f"sqrt(d*log(n)/n) + sqrt(d)*(sqrt(d)/(n*eps))**(1-1/p)*log(n)*log(1/delta)*{_RUN_LOGS}**2",
        follows_from=("P2.L3", "P2.E103"),
        choices={
            **_CONSTANTS,
            **_T7_CHOICES,
            "B": "sqrt(d*log(n)/n) + d**(p/2)*R**(1-p)",
            "G": f"sqrt(d*log(n)/n + R**2*d*T*log(n)/(n**2*eps**2)*log(1/delta)*{_RUN_LOGS}**2 + d**p*R**(2*(1-p)))",
        },
        steps=(
            "In (104) and (107) the root should cover ln d too.",
            "The last line replaces ln(T/δ) by ln n + ln d, which drops a ln(1/δ).",
        ),
        algorithms=_ITERATIVE,
        errata=(
            "P2.(35)",
            "P2.(104)",
        ),
    ),
    Statement(
        "P2.E106",
        "(106)",
        "runtime",
        "printed",
        "Number of steps at Theorem 7's choices.",
        where=_P,
        printed=_T7_STEPS,
        derived=_T7_STEPS,
        follows_from=("P2.E106.T",),
        choices={"R": "sqrt(d)*(n*eps/sqrt(d))**(1/p)"},
        algorithms=_ITERATIVE,
    ),
    Statement(
        "P2.E106.T",
        "Theorem 7",
        "runtime",
        "printed",
        "T = n²ε²/(dR²).",
        printed="n**2*eps**2/(d*R**2)",
        derived="n**2*eps**2/(d*R**2)",
        algorithms=_ITERATIVE,
    ),
    Statement(
        "P2.T7",
        "Theorem 7",
        "upper",
        "printed",
        "Excess risk of iterative updating for ε ≤ 1.",
        assumptions=(*_RISK, "ε₀ ≤ 8e²√(ln(4/δ₀)/k) with k of order d ln n: not implied by ε ≤ 1"),
        where=_LONG_RUN,
        printed=_T7,
        derived=f"sqrt(d*log(n)/n) + sqrt(log(n)*log(1/delta))*{_RUN_LOGS}"
        f" + sqrt(d)*(sqrt(d)/(n*eps))**(1-1/p)*log(n)*log(1/delta)*{_RUN_LOGS}**2",
        hidden="constants L, λ, M",
        follows_from=("P2.L3", "P2.L9", "P2.L9.G"),
        choices={**_CONSTANTS, **_T7_CHOICES, **_BUDGET, "B": _L9, "G": f"sqrt({_L9G})"},
        steps=(
            "At the published T the noise of one step is of order 1, and what is proved of B includes it: the bound says nothing.",
            "It is not the proof alone that fails: at these choices Algorithm 3 returns its start in every step, P2.O5.",
        ),
        algorithms=_ITERATIVE,
        errata=("P2.Thm7.start",),
    ),
    Statement(
        "P2.CONCLUSION.simple",
        "Conclusion",
        "upper",
        "printed",
        "Simple clipping.",
        where=_RANGE,
        printed=_SIMPLE,
        derived=_SIMPLE,
        hidden="logarithms (Õ)",
        follows_from=("P2.TAB1.r4",),
        algorithms=_BOTH,
    ),
    Statement(
        "P2.CONCLUSION.iterative",
        "Conclusion",
        "upper",
        "printed",
        "Iterative updating.",
        where=_RANGE,
        printed=_OPTIMAL,
        hidden="logarithms (Õ)",
        follows_from=("P2.T7",),
        algorithms=_ITERATIVE,
    ),
    # -------------------------------------------------------------------------------------------- technical lemmas
    Statement(
        "P2.L10",
        "Lemma 10",
        "lemma",
        "printed",
        "E e^{λV} ≤ exp(¾λ²E V²) for centred |V| ≤ R and 0 ≤ λ ≤ 1/R.",
        steps=("e^x ≤ 1 + x + ¾x² for x ≤ 1.",),
        explicit=explicit.bounded_mgf_upper,
    ),
    Statement(
        "P2.L11",
        "Lemma 11",
        "lemma",
        "printed",
        "E‖X‖^p ≤ d^{p/2}M^p; the rate is the p-th root.",
        where=_P,
        printed="sqrt(d)*M",
        derived="sqrt(d)*M",
        explicit=explicit.norm_moment_upper,
    ),
    Statement(
        "P2.L12",
        "Lemma 12",
        "lemma",
        "printed",
        "Symmetrisation (113), and (114) for centred classes.",
        steps=("(114) needs absolute values inside both suprema.",),
        explicit=explicit.symmetrised_upper,
    ),
    Statement(
        "P2.L13",
        "Lemma 13",
        "lemma",
        "printed",
        "Contraction: absolute values do not increase a Rademacher average.",
        steps=("1/n is missing on the left of (115).",),
        explicit=explicit.contracted_upper,
    ),
    # -------------------------------------------------------------------------------------------- ours
    Statement(
        "P2.O1",
        "ours",
        "lemma",
        "ours",
        "Clipping bias under (4): M^p d^{(p−1)/2}R^{1−p}, by √d less than (55).",
        assumptions=_MEAN,
        where=_P,
        derived="d**((p-1)/2)*M**p*R**(1-p)",
        steps=(
            "For unit u: |⟨u, μ − μ_Y⟩| ≤ E|⟨u, X⟩|1{‖X‖ > R} ≤ (E|⟨u, X⟩|^p)^{1/p} P(‖X‖ > R)^{1−1/p} by Hölder.",
            "P(‖X‖ > R) ≤ d^{p/2}M^p/R^p by Lemma 11; take the supremum over u.",
        ),
        algorithms=("P2.A2",),
        explicit=directional_bias_upper,
    ),
    Statement(
        "P2.O2",
        "ours",
        "lemma",
        "ours",
        "E sup_W ‖g₀ − E g₀‖ ≤ (M + 10λL)√(d/n) when every l(·, z) is λ-smooth: neither R nor ln n enters.",
        assumptions=(*_RISK, "every l(·, z) λ-smooth, as (65) uses"),
        derived="sqrt(d/n)",
        steps=(
            "At one w₀: E‖g₀(w₀) − E g₀(w₀)‖² ≤ E‖Y‖²/n ≤ dM²/n.",
            "A record's clipped gradient moves by at most λ‖w − w'‖, clipping being 1-Lipschitz, so the difference of deviations at"
            " w, w' has mean norm ≤ λ‖w − w'‖/√n and bounded differences 2λ‖w − w'‖/n.",
            "Chaining, nets of radius L/2^j with at most (3·2^j)^d points: 3λL/√n·Σ2^{−j}(1 + √(2d ln(3·2^j))) ≤ 10λL√(d/n).",
        ),
        algorithms=_BOTH,
        explicit=uniform_deviation_upper,
    ),
    Statement(
        "P2.O3",
        "ours",
        "upper",
        "ours",
        "Simple clipping with R = √d(n√ρ/d)^{1/p}, T = ρn²/(dR²), for all ε ≤ 1: below Theorem 4, Theorem 7 and (6).",
        assumptions=(*_RISK, "every l(·, z) λ-smooth, as (65) uses"),
        where=(*_RANGE, f"{_O3}<=1"),
        derived=_O3,
        hidden="constants L, λ, M",
        follows_from=("P2.L3", "P2.O1", "P2.O2", "P2.T3"),
        choices={
            **_CONSTANTS,
            "eta": "1/sqrt(T)",
            "T": "rho*n**2/(d*R**2)",
            "R": "sqrt(d)*(n*sqrt(rho)/d)**(1/p)",
            "rho": "eps**2/log(1/delta)",
            "B": "sqrt(d/n) + d**((p-1)/2)*R**(1-p)",
            "G": "R*sqrt(d*T/rho)/n + sqrt(d/n)",
        },
        steps=(
            "E⟨g − ∇F, w_t − w*⟩ ≥ −L·E sup‖g₀ − ∇F‖, whatever w_t has seen; ‖g₀(w)‖ ≤ ‖g₀(w₀)‖ + λL for the second moment.",
        ),
        algorithms=_BOTH,
        explicit=reused_excess_risk_upper,
    ),
    Statement(
        "P2.O4.bound",
        "ours",
        "upper",
        "ours",
        "Clipped means of T disjoint batches, each step ρ-CDP by disjoint data; needs neither smoothness.",
        assumptions=("Assumption 1(a), (c)", "l convex, records i.i.d."),
        where=_P,
        derived="1/sqrt(T) + sqrt(d/n) + R*sqrt(d*T)/(n*sqrt(rho)) + d**((p-1)/2)*R**(1-p)",
        hidden="constants L, M",
        follows_from=("P2.O1",),
        steps=(
            "w_t is independent of batch t: the bias is P2.O1's, and E‖g_t‖² ≤ M² + dM²T/n + 2dR²T²/(ρn²) = S².",
            "L²/(2ηT) + Lb + ηS²/2 at η = L/(S√T).",
        ),
        explicit=one_pass_excess_risk_upper,
    ),
    Statement(
        "P2.O4",
        "ours",
        "upper",
        "ours",
        "One pass under Assumption 1 as published: below (6) for d^{3/2} ≤ nε ≤ d^{5/2} at p = 2, so (6) is not a lower bound.",
        assumptions=("Assumption 1(a), (c)", "l convex, records i.i.d."),
        where=_RANGE,
        derived="sqrt(d/n) + (d*sqrt(log(1/delta))/(n*eps))**((p-1)/(2*p-1))",
        hidden="constants L, M",
        follows_from=("P2.O4.bound", "P2.T3"),
        choices={
            "R": "sqrt(d)*(n*sqrt(rho)/(d*sqrt(T)))**(1/p)",
            "T": "(n*sqrt(rho)/d)**(2*(p-1)/(2*p-1))",
            "rho": "eps**2/log(1/delta)",
        },
    ),
    Statement(
        "P2.O5",
        "ours",
        "impossibility",
        "ours",
        "Algorithm 3 returns c₁ whenever d₁ < 0: at Theorem 7's choices in every step, and the worse of two linear losses costs ½.",
        assumptions=("program (27) solved exactly", "c₁ fixed, within half a standard deviation of a group mean's noise"),
        where=_LONG_RUN,
        derived="1",
        steps=(
            "g_l with its points is feasible at c_{l+1}: d_{l+1} ≥ d_l − ηd_l.  If d₁ < 0, then d_l ≥ (¾)^{l−1}d₁ > d₁ for l ≥ 2.",
            "d₁ < 0 unless a half-space with c₁ on its border holds nine tenths of the Q_j; for Q_j ~ N(μ, σ²I), ‖c₁ − μ‖ ≤ σ/2,"
            " that has probability e^{−Ω(k)}, uniformly over half-spaces once k ≳ d.",
            "σ = √2(R/n)√k√(k/ρ) with (24), (32) and T = n²ε²/(dR²) is at least 32e²√(k/d): far above ‖∇F‖ ≤ M.",
            "So g ≡ c₁ for the losses w and −w on [−½, ½] alike, and their excess risks add up to 1.",
        ),
        algorithms=_ITERATIVE,
    ),
)

COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        "P2.C1",
        "Abstract",
        "Simple clipping has the abstract's rate for ε ≤ 1/√d.",
        _SIMPLE,
        "<=",
        _OPTIMAL,
        ("p>=2", "eps<=1/sqrt(d)"),
    ),
    Comparison(
        "P2.C2",
        "Abstract",
        "Iterative updating has the abstract's rate for all ε ≤ 1: Theorem 7 as published hides no more than logarithms.",
        _T7,
        "<=",
        f"({_OPTIMAL})*log(1/delta)*log(n*d)",
        _RANGE,
    ),
    Comparison(
        "P2.C3", "Abstract", "Existing methods, here [1]'s first, are suboptimal.", _KAMATH, "not <=", _OPTIMAL, _RANGE
    ),
    Comparison("P2.C4", "Abstract", "Existing methods, here [25], are suboptimal.", _WANG, "not <=", _OPTIMAL, _RANGE),
    Comparison(
        "P2.C5",
        "Abstract",
        "Existing methods, here [1]'s second, are suboptimal.",
        _KAMATH_SECOND,
        "not <=",
        _OPTIMAL,
        _RANGE,
    ),
    Comparison(
        "P2.C6",
        "Introduction",
        "The introduction's lower bound is Table I's.",
        "sqrt(d/n) + sqrt(d)*(sqrt(d/(eps*n)))**(1-1/p)",
        "==",
        _OPTIMAL,
        _RANGE,
        holds=False,
        errata=("P2.Intro.lower",),
    ),
    Comparison(
        "P2.C7",
        "Introduction",
        "The third term does not dominate if ε ≤ 1/√d.",
        _THIRD,
        "<=",
        _PRIVATE,
        ("p>=2", "eps<=1/sqrt(d)"),
    ),
    Comparison(
        "P2.C8",
        "Introduction",
        "Simple clipping matches the lower bound if ε ≤ 1/√d.",
        _SIMPLE,
        "==",
        _OPTIMAL,
        ("p>=2", "eps<=1/sqrt(d)"),
    ),
    Comparison(
        "P2.C9",
        "Introduction",
        "Simple clipping's rate is suboptimal somewhere in ε > 1/√d.",
        _SIMPLE,
        "not <=",
        _OPTIMAL,
        ("p>=2", "eps<=1", "eps>=1/sqrt(d)"),
    ),
    Comparison(
        "P2.C10",
        "Introduction",
        "… and for every ε > 1/√d: not so for p > 2 and n ≥ d^{2(p−1)/(p−2)}, where √(d/n) dominates.",
        _SIMPLE,
        "not <=",
        _OPTIMAL,
        ("p>2", "eps<=1", "eps>=1/sqrt(d)", "n>=d**(2*(p-1)/(p-2))"),
        holds=False,
        errata=("P2.Sec5.suboptimal",),
    ),
    Comparison(
        "P2.C11",
        "Introduction",
        "Simple clipping improves over [1]'s first method.",
        _SIMPLE,
        "<=",
        _KAMATH,
        ("p>=2", "eps<=1", "n>=1"),
    ),
    Comparison("P2.C12", "Introduction", "… strictly.", _KAMATH, "not <=", _SIMPLE, _RANGE),
    Comparison(
        "P2.C13",
        "Introduction",
        "Simple clipping improves over [1]'s second method, where the bounds are below 1.",
        _SIMPLE,
        "<=",
        _KAMATH_SECOND,
        ("p>=2", "eps<=1", "n>=d", "n*eps>=sqrt(d)"),
    ),
    Comparison(
        "P2.C14",
        "Introduction",
        "Simple clipping improves over [25], where the bounds are below 1.",
        _SIMPLE,
        "<=",
        _WANG,
        ("p>=2", "eps<=1", "n>=d", "n*eps>=sqrt(d)"),
    ),
    Comparison("P2.C15", "Introduction", "Iterative updating removes the additional term.", _OPTIMAL, "<=", _SIMPLE, _RANGE),
    Comparison("P2.C16", "Introduction", "… which matters.", _SIMPLE, "not <=", _OPTIMAL, _RANGE),
    Comparison(
        "P2.C17", "Introduction", "Iterative updating improves over [1]'s first method.", _OPTIMAL, "<=", _KAMATH, _RANGE
    ),
    Comparison(
        "P2.C18",
        "Section II",
        "[19] improves the error of the median of means.",
        "sqrt((d+log(1/xi))/n)",
        "<=",
        "sqrt(d*log(1/xi)/n)",
    ),
    Comparison("P2.C19", "Section II", "… strictly.", "sqrt(d*log(1/xi)/n)", "not <=", "sqrt((d+log(1/xi))/n)"),
    Comparison(
        "P2.C20",
        "Section III",
        "For p → ∞ the lower bound is √(d/n) + d/(nε).",
        "sqrt(d/n) + sqrt(d)*(sqrt(d)/(n*eps))",
        "==",
        "sqrt(d/n) + d/(n*eps)",
    ),
    Comparison(
        "P2.C21",
        "Section III",
        "That is larger by √d than the rate for Lipschitz losses.",
        "sqrt(d/n) + d/(n*eps)",
        "==",
        "sqrt(d)*(1/sqrt(n) + sqrt(d)/(n*eps))",
    ),
    Comparison(
        "P2.C22",
        "Section IV",
        "The sampling error of (14) is subgaussian, then subexponential.",
        "Max(sqrt((d+log(1/xi))/n), R*(d+log(1/xi))/n)",
        "==",
        "sqrt((d+log(1/xi))/n) + R/n*(d+log(1/xi))",
    ),
    Comparison("P2.C23", "Section IV", "ln(2·6^d/β) improves over [1]'s d·ln(1/β).", "d + log(1/xi)", "<=", "d*log(1/xi)"),
    Comparison("P2.C24", "Section IV", "… strictly.", "d*log(1/xi)", "not <=", "d + log(1/xi)"),
    Comparison(
        "P2.C25",
        "Section IV",
        "The first two terms of (20) match (6) up to logarithms.",
        "sqrt(d*log(n)/n) + sqrt(d)*(sqrt(d)*sqrt(log(1/delta))/(n*eps))**(1-1/p)",
        "<=",
        f"({_LOWER})*log(n)",
        _RANGE,
    ),
    Comparison(
        "P2.C26",
        "Section IV",
        "With the logarithms as published a lower bound should be below an upper bound: (6) ≲ (20) times powers of ln n, ε ≤ 1/√d.",
        _LOWER,
        "<=",
        f"({_T4})*log(n)",
        ("p>=2", "eps<=1/sqrt(d)"),
        holds=False,
        errata=("P2.Thm1.log",),
    ),
    Comparison(
        "P2.C27",
        "Section V",
        "(14) exceeds the ideal error by R(d + ln(1/β))/n.",
        _T2.replace("M**2*", "").replace("*M**p", ""),
        "==",
        "sqrt((d+log(1/xi))/n) + R*sqrt(d+log(1/xi))/(n*sqrt(rho)) + d**(p/2)*R**(1-p) + R*(d+log(1/xi))/n",
        _P,
    ),
    Comparison(
        "P2.C28",
        "Section V",
        "(24) asks less of a group than (15) asks of a run, for many groups.",
        "eps**2/log(1/delta)",
        "<=",
        "eps**2*K/(log(1/delta)*log(K/delta))",
        ("K>=log(1/delta)", "K>=1"),
    ),
    Comparison(
        "P2.C29",
        "Section V",
        "The first term of (25) is [19]'s error without privacy.",
        "sqrt((d+log(1/xi))/n)",
        "<=",
        "sqrt((d+log(1/xi))/n) + R/n*sqrt(K/rho)*sqrt(d+log(1/xi))",
    ),
    Comparison(
        "P2.C30",
        "Section V",
        "(36) matches the lower bound of Theorem 1, up to ln(nd).",
        _T7,
        "<=",
        f"({_LOWER})*log(n*d)",
        ("p>=2", "eps<=1"),
    ),
    Comparison("P2.C31", "Section V", "… and is above it.", _LOWER, "<=", _T7, _RANGE),
    Comparison(
        "P2.C32",
        "Appendix H",
        "ln(T/δ) + √(ln(T/δ)ln d) ≲ ln n + ln d.",
        "log(T/delta) + sqrt(log(T/delta)*log(d))",
        "<=",
        "log(n) + log(d)",
        ("T<=n**2", "T>=1"),
        holds=False,
        errata=("P2.(107).delta",),
    ),
    Comparison(
        "P2.C33",
        "Appendix D",
        "(72) follows from (69) at ρ ≤ 1/d.",
        "sqrt(d*log(n)/n) + sqrt(d)*(sqrt(d)/(n*sqrt(rho)))**(1-1/p)*(1 + sqrt(rho*d)*log(n))",
        "<=",
        "sqrt(d*log(n)/n) + sqrt(d)*(sqrt(d)/(n*sqrt(rho)))**(1-1/p)",
        ("p>=2", "rho<=1/d"),
        holds=False,
        errata=("P2.(72)",),
    ),
    Comparison("P2.C34", "Conclusion", "Iterative updating further improves the bound.", _OPTIMAL, "<=", _SIMPLE, _RANGE),
    Comparison(
        "P2.C35",
        "Theorem 1",
        "A lower bound under Assumption 1 is below P2.O3, at δ fixed.",
        _OPTIMAL,
        "<=",
        _DIRECTIONAL,
        _RANGE,
        holds=False,
        errata=("P2.Thm1.class",),
    ),
    Comparison(
        "P2.C36",
        "Theorem 1",
        "… and below P2.O4, at δ fixed.",
        _OPTIMAL,
        "<=",
        "sqrt(d/n) + (d/(n*eps))**((p-1)/(2*p-1))",
        ("p>=2", "eps<=1", "n*eps>=d"),
        holds=False,
        errata=("P2.Thm1.class",),
    ),
    Comparison("P2.C37", "ours", "P2.O3's rate is never above the paper's optimal one.", _DIRECTIONAL, "<=", _OPTIMAL, _P),
)
