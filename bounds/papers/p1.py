"""[P1] Heavy-tailed private optimisation, the appendix: what its proofs state, and the statements they lean on.

Only the appendix survives, so what a theorem claims is read off its proof (`source` "proof"); what the proofs use but do not
print is "reconstructed".  The main text's Lemma 1 and 2 share their numbers with lemmas of the appendix: the latter are
"Appendix Lemma 1, 2".  `derived` follows from the first item of `follows_from` that has a rate, with `choices` substituted.

Letters beyond the common ones: D the diameter Δ and D0 = ‖w⁰ − w*‖, beta the smoothness, betahat its coordinate-wise norm,
mu the strong convexity (printed α), tilde the budget ε̃, V the variance bound (printed v), tau the sub-exponential scale, xi the
failure probability (printed δ'), chi the error (14) of a gradient, E any error of a gradient, G the root mean square of
∇ℓ(w*, x), F the risk L(w*), x a distance, r a radius (the net's in (10)), a the clamping interval's length, s a truncation
level or a bound on deviations, as each says.
"""

from __future__ import annotations

import math

from tailproof.bounds import explicit
from tailproof.bounds.statements import Comparison, Statement
from tailproof.refimpl.validation import nonnegative, positive, probability, whole

LABELS = (
    "Lemma 1",
    "Lemma 2",
    "Appendix Lemma 1",
    "Appendix Lemma 2",
    *(f"Lemma {i}" for i in range(3, 9)),
    *(f"Theorem {i}" for i in range(1, 9)),
    "Definition 1",
    "Algorithm 1",
    "Algorithm 3",
    "Algorithm 4",
    "Appendix A",
    "Appendix B",
    "Appendix C",
    "Figure 1",
    "Figure 2",
    *(f"({i})" for i in range(1, 28)),
)

# ------------------------------------------------------------------------------------------------ explicit inequalities


def zcdp_conversion(*, epsilon: float, delta: float) -> float:
    """Lemma 3: ½ε² + ε√(2 log(1/δ))."""
    eps = positive("epsilon", epsilon)
    return eps**2 / 2 + eps * math.sqrt(2 * math.log(1 / probability("delta", delta)))


def run_budget(*, epsilon: float, delta: float) -> float:
    """Proof of Theorem 5, read as meant: ε̃ = √(2 log(1/δ) + 2ε) − √(2 log(1/δ))."""
    log, eps = 2 * math.log(1 / probability("delta", delta)), positive("epsilon", epsilon)
    return 2 * eps / (math.sqrt(log + 2 * eps) + math.sqrt(log))


def lln_epsilon(*, smoothness: float, shape: float, shrink: float) -> float:
    """Theorem 3 (restored): ε = t/σ + e^{1.5σ²}s of Trim + (S^t/s)·Z, which is ½ε²-zCDP."""
    t, sigma = nonnegative("smoothness", smoothness), positive("shape", shape)
    return t / sigma + math.exp(1.5 * sigma**2) * positive("shrink", shrink)


def smooth_gradient_upper(*, smoothness: float, value: float) -> float:
    """Appendix Lemma 1: ‖∇f(w)‖ ≤ √(4βf(w)); needs f non-negative on all of R^d."""
    return math.sqrt(4 * positive("smoothness", smoothness) * nonnegative("value", value))


def mean_norm_upper(*, n: int, second_moment: float) -> float:
    """Appendix Lemma 2: E‖x̄‖² ≤ E‖X‖²/n for centred independent copies."""
    return nonnegative("second_moment", second_moment) / whole("n", n, least=1)


def contraction(*, strong_convexity: float, smoothness: float) -> float:
    """(11): the squared distance shrinks by 1 − 2α/(α + β) at step 1/β."""
    alpha, beta = positive("strong_convexity", strong_convexity), positive("smoothness", smoothness)
    return 1 - 2 * alpha / (alpha + beta)


def constant_trim_noise_lower(*, trim: int, epsilon: float, radius: float) -> float:
    """Ours: noise of the trimmed mean clamped to [−radius, radius] on records all 0 is at least √2·radius·e^{−m²ε²/10}/ε.

    After m changes one more record moves the output from 0 to the radius, so S^t ≥ radius·e^{−mt}; with s = e^{−1.5σ²}(ε − t/σ)
    and Var Z = 2e^{2σ²} the deviation is at least √2·radius·exp(2.5σ² − mεσ)/ε, least at σ = mε/5, for any number of records.
    """
    m, eps = whole("trim", trim, least=0), positive("epsilon", epsilon)
    return math.sqrt(2) * positive("radius", radius) * math.exp(-((m * eps) ** 2) / 10) / eps


def soft_mean(*, location: float, spread: float) -> float:
    """Appendix B: E φ(a + bZ) = a(1 − b²/2) − a³/6 + C(a, b)."""
    a, b = location, positive("spread", spread)
    return a * (1 - b**2 / 2) - a**3 / 6 + float(explicit.catoni_correction(a, b))


# ------------------------------------------------------------------------------------------------ rates used several times

_LOG = "log(n*D/xi)"
_TRIM = "tau*d*sqrt(T*log(n))/(sqrt(n)*tilde)"
_SOFT = f"beta*d*sqrt(V*T*{_LOG})/(sqrt(n)*tilde)"
_CHI = f"beta*D0**(1/3)*(d**2*V*{_LOG}/(n*tilde**2))**(1/3)"
_BUDGET = "eps/sqrt(log(1/delta))"
_MODERATE = ("eps<=log(1/delta)",)
_STRONG = ("L_D β-smooth and α-strongly convex with minimiser w* in W, ∇L_D(w*) = 0", "W of diameter Δ")
_SUBEXPONENTIAL = ("every ∇_jℓ(w, x) τ-sub-exponential", "ℓ_j(·, x) β_j-smooth", "W of diameter Δ")
_MOMENTS = ("E(∇_jℓ(w, x))² ≤ v for every j and w", "ℓ(·, x) β-smooth", "W of diameter Δ")

STATEMENTS: tuple[Statement, ...] = (
    Statement(
        "P1.D1",
        "Definition 1",
        "definition",
        "printed",
        "ρ-zCDP: D_α(A(D)‖A(D')) ≤ ρα for all neighbours and all α > 1.",
        place="proof of Theorem 4",
    ),
    # -------------------------------------------------------------------------------------------- sample and aggregate
    Statement(
        "P1.AL1",
        "Appendix Lemma 1",
        "lemma",
        "printed",
        "A non-negative β-smooth f has ‖∇f‖² ≤ 4βf; the rate is the root.",
        assumptions=("stated for f on W; needs f non-negative on R^d",),
        printed="sqrt(beta*F)",
        derived="sqrt(beta*F)",
        steps=(
            "f(w − ∇f/β) ≥ 0 gives ‖∇f‖² ≤ 2βf, but w − ∇f/β must be in the domain: f(w) = w on [0, 1] refutes it as published.",
        ),
        explicit=smooth_gradient_upper,
    ),
    Statement(
        "P1.AL2",
        "Appendix Lemma 2",
        "lemma",
        "printed",
        "E‖x̄‖² ≤ E‖X‖²/n for centred independent copies; the rate is the root.",
        printed="G/sqrt(n)",
        derived="G/sqrt(n)",
        explicit=mean_norm_upper,
    ),
    Statement(
        "P1.L1",
        "Lemma 1",
        "lemma",
        "proof",
        "The empirical minimiser is within √(40E‖∇ℓ(w*, x)‖²/(nα²)) of w* with probability 3/4.",
        place="proof of Lemma 1",
        assumptions=("∇L_D(w*) = 0", "for n ≥ n_α the empirical risk is α-strongly convex with probability 5/6"),
        printed="G/(mu*sqrt(n))",
        derived="G/(mu*sqrt(n))",
        follows_from=("P1.AL2",),
        steps=(
            "(α/2)‖w_D − w*‖² ≤ ‖∇L̂(w*)‖‖w_D − w*‖ and Markov; the probabilities need the sharper step, 1 − 1/6 − 1/40 > 3/4.",
        ),
        algorithms=("P1.A1",),
        explicit=explicit.minimiser_distance_upper,
    ),
    Statement(
        "P1.T1",
        "Theorem 1",
        "upper",
        "reconstructed",
        "Sample-and-aggregate is within O(√d·r/ε) of w* when each block's solution is within r of w* with probability 3/4.",
        derived="sqrt(d)*r/eps",
        hidden="√log(1/δ)",
        algorithms=("P1.A1",),
    ),
    Statement(
        "P1.T2.distance",
        "Theorem 2",
        "upper",
        "proof",
        "Distance of sample-and-aggregate's output from w* with m blocks.",
        place="proof of Theorem 2",
        printed="sqrt(d*m)*G/(eps*mu*sqrt(n))",
        derived="sqrt(d*m)*G/(eps*mu*sqrt(n))",
        follows_from=("P1.T1", "P1.L1"),
        choices={"r": "sqrt(m)*G/(mu*sqrt(n))"},
        steps=("The middle of the display has √(dr); the root covers d only.",),
        algorithms=("P1.A1",),
    ),
    Statement(
        "P1.SMOOTH",
        "Theorem 2",
        "lemma",
        "proof",
        "L_D(w) − L_D(w*) ≤ (β/2)‖w − w*‖² when ∇L_D(w*) = 0.",
        place="proof of Theorem 2",
        printed="beta*x**2",
        derived="beta*x**2",
    ),
    Statement(
        "P1.T2",
        "Theorem 2",
        "upper",
        "proof",
        "Excess risk of sample-and-aggregate with m = Θ̃(d²/ε²) blocks.",
        place="proof of Theorem 2",
        assumptions=("ℓ non-negative and β-smooth (on R^d)", "n ≥ m·n_α"),
        printed="beta**2/mu**2*d**3*F/(n*eps**4)",
        derived="beta**2/mu**2*d**3*F/(n*eps**4)",
        hidden="logarithms in m",
        follows_from=("P1.SMOOTH", "P1.T2.distance", "P1.AL1"),
        choices={"x": "sqrt(d*m)*G/(eps*mu*sqrt(n))", "G": "sqrt(beta*F)", "m": "d**2/eps**2"},
        algorithms=("P1.A1",),
    ),
    # -------------------------------------------------------------------------------------------- trimmed mean
    Statement(
        "P1.L3",
        "Lemma 3",
        "privacy",
        "printed",
        "½ε̃²-zCDP implies (½ε̃² + ε̃√(2 log(1/δ)), δ)-DP.",
        place="proof of Theorem 4",
        printed="tilde**2 + tilde*sqrt(log(1/delta))",
        derived="tilde**2 + tilde*sqrt(log(1/delta))",
        explicit=zcdp_conversion,
    ),
    Statement(
        "P1.BUDGET",
        "Theorem 5",
        "privacy",
        "proof",
        "ε̃ = √(2 log(1/δ) + 2ε) − √(2 log(1/δ)) is of order ε/√log(1/δ).",
        place="proof of Theorem 5",
        where=_MODERATE,
        printed=_BUDGET,
        derived=_BUDGET,
        follows_from=("P1.L3",),
        steps=("2ε/(√(2 log(1/δ) + 2ε) + √(2 log(1/δ))); for ε above log(1/δ) it is √ε only.",),
        algorithms=("P1.A3", "P1.A4"),
        explicit=run_budget,
    ),
    Statement(
        "P1.T3",
        "Theorem 3",
        "privacy",
        "reconstructed",
        "Trim + (S^t/s)·Z with Z ~ LLN(σ) is ½ε²-zCDP for ε = t/σ + e^{1.5σ²}s.",
        algorithms=("P1.A3",),
        explicit=lln_epsilon,
    ),
    Statement(
        "P1.T4",
        "Theorem 4",
        "privacy",
        "proof",
        "Algorithm 3 is (ε, δ)-DP: dT scalar releases of ½ε̃²/(dT)-zCDP each; the rate is one release's zCDP.",
        place="proof of Theorem 4",
        where=_MODERATE,
        printed="eps**2/(d*T*log(1/delta))",
        derived="eps**2/(d*T*log(1/delta))",
        follows_from=("P1.T4.scalar", "P1.L3"),
        choices={"tilde": _BUDGET},
        algorithms=("P1.A3",),
    ),
    Statement(
        "P1.T4.scalar",
        "Theorem 4",
        "privacy",
        "proof",
        "One coordinate of one iteration is ½ε̃²/(dT)-zCDP.",
        printed="tilde**2/(d*T)",
        derived="tilde**2/(d*T)",
        follows_from=("P1.T3",),
        algorithms=("P1.A3", "P1.A4"),
    ),
    Statement(
        "P1.EST.trim",
        "Algorithm 3",
        "definition",
        "proof",
        "[Trim_m(D_j(w))]_[a,b] + (1/s)·S^t·Z_j in coordinate j: the output is clamped, the data are not.",
        place="proof of Lemma 2, (1)",
        algorithms=("P1.A3",),
    ),
    Statement(
        "P1.L4",
        "Lemma 4",
        "lemma",
        "printed",
        "([X]_[a,b] − μ)² ≤ (X − μ)² for a ≤ μ ≤ b.",
        place="proof of Lemma 2",
    ),
    Statement(
        "P1.E2",
        "(2)",
        "lemma",
        "proof",
        "Mean square of the smooth-sensitivity noise with m = O(1) records trimmed on each side and b − a = O(1).",
        printed="tau**2*d*T*log(n)/(n*tilde**2)",
        derived="d*T/tilde**2",
        where=("tilde<=1", "T>=1"),
        hidden="log σ², log(b − a)",
        follows_from=("P1.E2.noise",),
        choices={"eps0": "tilde/sqrt(d*T)", "a": "1"},
        steps=(
            "With m fixed the noise does not vanish with n: S^t ≥ e^{−mt}(b − a)/2 on constant records.",
            "m of order √(dT)·log(n)/ε̃ makes e^{−mt} small; then the published order can hold.",
        ),
        algorithms=("P1.A3",),
        explicit=constant_trim_noise_lower,
        errata=("P1.(2)",),
    ),
    Statement(
        "P1.E2.noise",
        "(2)",
        "lower",
        "ours",
        "Mean square of the noise of one clamped trimmed mean with fixed m: at least of order (b − a)²/ε₀², ε₀ its own budget.",
        where=("eps0<=1",),
        derived="a**2/eps0**2",
        explicit=constant_trim_noise_lower,
    ),
    Statement(
        "P1.L5.mean",
        "Lemma 5",
        "lemma",
        "printed",
        "P(x̄ − μ ≥ t) ≤ 2exp(−n min{t/(2v), t²/(2v²)}) for v-sub-exponential data.",
        explicit=explicit.subexponential_mean_tail_upper,
    ),
    Statement(
        "P1.L5.max",
        "Lemma 5",
        "lemma",
        "printed",
        "P(max|x_i − μ| ≥ s) ≤ 2n exp(−min{s/(2v), s²/(2v²)}).",
        explicit=explicit.subexponential_max_tail_upper,
    ),
    Statement(
        "P1.L5",
        "Lemma 5",
        "lemma",
        "printed",
        "|Trim_m − μ| ≤ (nt + ms)/(n − 2m) when |x̄ − μ| ≤ t and max|x_i − μ| ≤ s.",
        assumptions=("4m ≤ n, for the rate",),
        printed="t + m*s/n",
        derived="t + m*s/n",
        steps=("2m records are trimmed; the bound stands, with n − m in the denominator too.",),
        algorithms=("P1.A3",),
        explicit=explicit.trimmed_mean_error_upper,
    ),
    Statement(
        "P1.E10",
        "(10)",
        "lemma",
        "proof",
        "Error of the private gradient of Algorithm 3 uniformly over W; the net has radius r.",
        assumptions=_SUBEXPONENTIAL,
        printed="sqrt(d)*(t + m*s/n) + betahat*r + tau*d*sqrt(T*log(n))/sqrt(n*tilde)",
        derived=f"sqrt(d)*(t + m*s/n) + betahat*r + {_TRIM}",
        follows_from=("P1.L5", "P1.E2"),
        steps=("The root of d times (2) as published has √n·ε̃ in the denominator, not √(nε̃).",),
        algorithms=("P1.A3",),
        errata=("P1.(10)",),
    ),
    Statement(
        "P1.L2",
        "Lemma 2",
        "lemma",
        "proof",
        "Error of the private gradient of Algorithm 3, uniformly over W.",
        place="proof of Lemma 2, as used in (12)",
        assumptions=(*_SUBEXPONENTIAL, "(2) as published, which m = O(1) does not give"),
        where=("tilde<=1", "T>=1", "n>=d*log(n)", "tau>=1/sqrt(n)"),
        printed="tau*d*sqrt(T*log(n))/sqrt(n*tilde)",
        derived=_TRIM,
        hidden="log(β̂Δ)",
        follows_from=("P1.E10",),
        choices={"m": "1", "r": "1/(n*betahat)", "t": "tau*Max(d/n*log(n), sqrt(d/n*log(n)))", "s": "tau*d*log(n)"},
        algorithms=("P1.A3",),
        errata=("P1.(10)",),
    ),
    Statement(
        "P1.E12",
        "(12)",
        "lemma",
        "proof",
        "Distance from w* after T = O((β/α) log n) steps of size 1/β with gradient errors E.",
        assumptions=_STRONG,
        printed="D/n + E/mu",
        derived="D/n + E/mu",
        follows_from=("P1.E11",),
        steps=("(1 − α/(α+β))^T Δ ≤ Δ/n, and the errors sum to (1/β)E(α+β)/α ≤ 2E/α.",),
        algorithms=("P1.A3", "P1.A4"),
    ),
    Statement(
        "P1.E11",
        "(11)",
        "lemma",
        "proof",
        "One exact step of size 1/β shrinks the squared distance by 1 − 2α/(α + β).",
        assumptions=_STRONG,
        steps=("Co-coercivity; 1/β² − 2/(β(α+β)) = (α − β)/(β²(α+β)) ≤ 0.",),
        explicit=contraction,
    ),
    Statement(
        "P1.T5.distance",
        "Theorem 5",
        "upper",
        "proof",
        "Distance of Algorithm 3's last iterate from w*.",
        place="proof of Theorem 5",
        assumptions=(*_STRONG, *_SUBEXPONENTIAL),
        printed="sqrt(beta/mu*D*tau*d*log(n)/(mu*sqrt(n*tilde)))",
        derived="D/n + sqrt(beta/mu)*tau*d*log(n)/(mu*sqrt(n)*tilde)",
        follows_from=("P1.E12", "P1.L2"),
        choices={"E": _TRIM, "T": "beta/mu*log(n)"},
        steps=("In the paper the root covers everything; it belongs to β/α only.",),
        algorithms=("P1.A3",),
        errata=("P1.Thm5.root",),
    ),
    Statement(
        "P1.T5",
        "Theorem 5",
        "upper",
        "proof",
        "Excess risk of Algorithm 3, strongly convex.",
        place="proof of Theorem 5",
        assumptions=(*_STRONG, *_SUBEXPONENTIAL),
        where=_MODERATE,
        derived="beta*D**2/n**2 + beta**2*tau**2*d**2*log(n)**2*log(1/delta)/(mu**3*n*eps**2)",
        follows_from=("P1.SMOOTH", "P1.T5.distance", "P1.BUDGET"),
        choices={"x": "D/n + sqrt(beta/mu)*tau*d*log(n)/(mu*sqrt(n)*tilde)", "tilde": _BUDGET},
        steps=("The proof squares E‖w − w*‖ where E‖w − w*‖² is needed; contraction in mean square gives the same order.",),
        algorithms=("P1.A3",),
    ),
    # -------------------------------------------------------------------------------------------- soft truncation
    Statement(
        "P1.EST.soft",
        "Theorem 7",
        "definition",
        "printed",
        "ĝ_j: the mean over records of ∇_j(1 − ∇_j²/(2s²β)) − ∇_j³/(6s²) + C(|∇_j|/s, |∇_j|/(s√β)), as displayed.",
        place="proof of Theorem 7",
        steps=("Meant is s·E φ(a + bZ), a = ∇_j/s, b = |a|/√β: C needs the factor s and the sign of ∇_j.",),
        algorithms=("P1.A4",),
        explicit=explicit.soft_truncation_record,
    ),
    Statement(
        "P1.EST.C",
        "(22)",
        "definition",
        "printed",
        "C(a, b) = T₁ + … + T₅, so that E φ(a + bZ) = a(1 − b²/2) − a³/6 + C(a, b).",
        place="Appendix B, (19)-(27)",
        algorithms=("P1.A4",),
        explicit=soft_mean,
    ),
    Statement(
        "P1.T7.sensitivity",
        "Theorem 7",
        "privacy",
        "printed",
        "One record moves a coordinate of ĝ by at most 4√2·s/(3n).",
        place="proof of Theorem 7",
        printed="s/n",
        derived="s/n",
        steps=("True of s·E φ(a + bZ), false of ĝ as displayed.",),
        algorithms=("P1.A4",),
        explicit=explicit.soft_truncation_sensitivity_upper,
    ),
    Statement(
        "P1.L6",
        "Lemma 6",
        "lemma",
        "printed",
        "‖ĝ(w) − E∇ℓ(w, x)‖ for all w with probability 1 − δ' (from Holland 2019).",
        assumptions=_MOMENTS,
        printed=f"beta*d*sqrt(V*{_LOG}/n)",
        steps=("Cited; not re-derived.  With s tuned to δ' and a plain union bound one gets √d more.",),
        algorithms=("P1.A4",),
    ),
    Statement(
        "P1.L7.sum",
        "Lemma 7",
        "lemma",
        "proof",
        "The private gradient errs by ĝ's error E and the norm of d Gaussians of scale (s/n)√(dT)/ε̃.",
        derived="E + d*s/n*sqrt(T)/tilde",
        follows_from=("P1.T7.sensitivity", "P1.T4.scalar"),
        algorithms=("P1.A4",),
    ),
    Statement(
        "P1.L7",
        "Lemma 7",
        "lemma",
        "printed",
        "‖g(w) − E∇ℓ(w, x)‖ with probability 1 − 2δ'.",
        assumptions=_MOMENTS,
        where=("tilde<=1", "T>=1", "beta>=1"),
        printed=f"beta*d*sqrt(V*T*{_LOG})/(sqrt(n)*sqrt(tilde))",
        derived=_SOFT,
        follows_from=("P1.L7.sum", "P1.L6"),
        choices={"E": f"beta*d*sqrt(V*{_LOG}/n)", "s": "sqrt(n*V/log(1/xi))"},
        steps=("Noise for ½ε̃²/(dT)-zCDP is of order 1/ε̃, not 1/√ε̃; the bound is generous by logarithms, T and β.",),
        algorithms=("P1.A4",),
        errata=("P1.Lem7.budget",),
    ),
    Statement(
        "P1.T7",
        "Theorem 7",
        "upper",
        "proof",
        "Excess risk of Algorithm 4, strongly convex, with probability 1 − 2δ'T.",
        place="proof of Theorem 7",
        assumptions=(*_STRONG, *_MOMENTS),
        where=_MODERATE,
        derived=f"beta*D**2/n**2 + beta**4*d**2*V*log(n)*{_LOG}*log(1/delta)/(mu**3*n*eps**2)",
        follows_from=("P1.SMOOTH", "P1.E12", "P1.L7", "P1.BUDGET"),
        choices={"x": "D/n + E/mu", "E": _SOFT, "T": "beta/mu*log(n)", "tilde": _BUDGET},
        steps=("As Theorem 5, with (14) corrected; on one event, so that the square of the distance is right here.",),
        algorithms=("P1.A4",),
    ),
    Statement(
        "P1.E16",
        "(16)",
        "lemma",
        "proof",
        "Increase of the risk by one step's error, χ²/(2β).",
        printed=f"beta*d**2*V*T*{_LOG}/(n*tilde)",
        derived=f"beta*d**2*V*T*{_LOG}/(n*tilde**2)",
        follows_from=("P1.E16.step", "P1.L7"),
        choices={"chi": _SOFT},
        algorithms=("P1.A4",),
        errata=("P1.Lem7.budget",),
    ),
    Statement(
        "P1.E16.step",
        "(16)",
        "lemma",
        "proof",
        "L(w^t) ≤ L(w^{t−1}) − ‖∇L‖²/(2β) + χ²/(2β) at step 1/β.",
        printed="chi**2/beta",
        derived="chi**2/beta",
        algorithms=("P1.A4",),
    ),
    Statement(
        "P1.L8",
        "Lemma 8",
        "lemma",
        "printed",
        "Some iterate has excess risk at most 16D₀χ.",
        place="proof of Theorem 8",
        assumptions=("(14) in every step", "T = βD₀/χ", "W contains the ball of radius 2D₀ about w* (used, not stated)"),
        printed="D0*chi",
        derived="D0*chi",
        steps=(
            "D_t must grow by χ/β in each step; Tχ/β = D₀ keeps it below 2D₀.",
            "The displayed decrease lacks a square on L(w^{t−1}) − L(w*); the line after it has it.",
        ),
        algorithms=("P1.A4",),
    ),
    Statement(
        "P1.E17",
        "(17)",
        "lemma",
        "proof",
        "χ at the number of steps T = βD₀/χ.",
        assumptions=_MOMENTS,
        printed="D*d**(2/3)/(n*tilde)**(1/3)",
        derived=_CHI,
        hidden="logarithms, β, v",
        follows_from=("P1.L7",),
        choices={"T": f"(D0*sqrt(n)*tilde/(d*sqrt(V*{_LOG})))**(2/3)"},
        steps=("T^{3/2} = D₀√n·ε̃/(d√(v log)); the paper has √ε̃ for ε̃.",),
        algorithms=("P1.A4",),
        errata=("P1.Lem7.budget",),
    ),
    Statement(
        "P1.E17.steps",
        "(17)",
        "runtime",
        "proof",
        "Number of steps of Algorithm 4, convex case.",
        printed="(D0*sqrt(n)*sqrt(tilde)/d)**(2/3)",
        derived=f"(D0*sqrt(n)*tilde/(d*sqrt(V*{_LOG})))**(2/3)",
        hidden="logarithms, v",
        follows_from=("P1.E17.choice", "P1.E17"),
        choices={"chi": _CHI},
        algorithms=("P1.A4",),
        errata=("P1.Lem7.budget",),
    ),
    Statement(
        "P1.E17.choice",
        "(17)",
        "runtime",
        "proof",
        "T = βD₀/χ.",
        printed="beta*D0/chi",
        derived="beta*D0/chi",
        algorithms=("P1.A4",),
    ),
    Statement(
        "P1.E18",
        "(18)",
        "upper",
        "proof",
        "The last iterate has excess risk at most 16D₀χ + χ²/(2β).",
        printed="D0*chi + chi**2/beta",
        derived="D0*chi + chi**2/beta",
        follows_from=("P1.L8",),
        algorithms=("P1.A4",),
    ),
    Statement(
        "P1.T8",
        "Theorem 8",
        "upper",
        "proof",
        "Excess risk of Algorithm 4, convex, with probability 1 − 2δ'T.",
        place="proof of Theorem 8",
        assumptions=_MOMENTS,
        where=("eps<=log(1/delta)", f"n*eps**2*D0**2>=d**2*V*{_LOG}*log(1/delta)"),
        printed="D0*D*d**(2/3)/(n*tilde)**(1/3)",
        derived=f"beta*D0**(4/3)*(d**2*V*{_LOG}*log(1/delta)/(n*eps**2))**(1/3)",
        hidden="in the paper: logarithms, β, v",
        follows_from=("P1.E18", "P1.E17", "P1.BUDGET"),
        choices={"chi": _CHI, "tilde": _BUDGET},
        steps=("The condition says T ≥ 1, under which χ²/β ≤ D₀χ.",),
        algorithms=("P1.A4",),
        errata=("P1.Lem7.budget",),
    ),
)

COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        "P1.C1",
        "proof of Theorem 2",
        "√(dr)/ε is √(dm·E‖∇ℓ‖²/(nε²α²)), r = √(40m·E‖∇ℓ‖²/(nα²)).",
        "sqrt(d*sqrt(m)*G/(mu*sqrt(n)))/eps",
        "==",
        "sqrt(d*m)*G/(eps*mu*sqrt(n))",
        holds=False,
        errata=("P1.Thm2.radius",),
    ),
    Comparison(
        "P1.C2",
        "proof of Theorem 5",
        "ε̃ is of order ε/√log(1/δ): the smaller of that and √ε.",
        "Min(eps/sqrt(log(1/delta)), sqrt(eps))",
        "==",
        _BUDGET,
        _MODERATE,
    ),
    Comparison(
        "P1.C3",
        "proof of Theorem 5",
        "… stated without the condition ε ≤ log(1/δ).",
        "Min(eps/sqrt(log(1/delta)), sqrt(eps))",
        "==",
        _BUDGET,
        holds=False,
        errata=("P1.Thm5.budget",),
    ),
    Comparison(
        "P1.C4",
        "(10)",
        "(10)'s last term is the root of d times (2).",
        "tau*d*sqrt(T*log(n))/(sqrt(n)*tilde)",
        "<=",
        "tau*d*sqrt(T*log(n))/sqrt(n*tilde)",
        ("tilde<=1",),
        holds=False,
        errata=("P1.(10)",),
    ),
    Comparison(
        "P1.C5",
        "Lemma 7",
        "(14) is no less than (13).",
        f"beta*d*sqrt(V*{_LOG}/n)",
        "<=",
        _SOFT,
        ("tilde<=1", "T>=1"),
    ),
    Comparison(
        "P1.C6",
        "Lemma 7",
        "(14) as published covers the noise.",
        "d*sqrt(V*T)/(sqrt(n*log(1/xi))*tilde)",
        "<=",
        f"beta*d*sqrt(V*T*{_LOG})/(sqrt(n)*sqrt(tilde))",
        ("tilde<=1", "T>=1", "beta>=1"),
        holds=False,
        errata=("P1.Lem7.budget",),
    ),
    Comparison(
        "P1.C7",
        "proof of Theorem 5",
        "The last display's root over everything equals the recursion's value.",
        "sqrt(beta/mu*D*tau*d*log(n)/(mu*sqrt(n*tilde)))",
        "==",
        "sqrt(beta/mu)*tau*d*log(n)/(mu*sqrt(n)*tilde)",
        holds=False,
        errata=("P1.Thm5.root",),
    ),
    Comparison(
        "P1.C8",
        "Table I of P2, row 1",
        "P1's proofs, corrected for ε̃, give no more than the rate that P2 lists for it.",
        "(d**2/(n*eps**2))**(1/3)",
        "<=",
        "(d**3/(eps**2*n))**(1/3)",
    ),
)
