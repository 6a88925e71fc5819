"""P0, "Beyond Ordinary Lipschitz Constraints: DP Stochastic Optimization with Tsybakov Noise Condition": k-th moments of gradients.

Letters: `r`, `r2k`, `R2k` are r̃_k, r̃_{2k}, R̃_{2k,n}; `L` is L_f; `xi` the failure probability (the paper's β), `beta` the
smoothness of F in Section 6; `D` the diameter (`R0` in Algorithms 4 and 5); `p` the exponent of L_f ≤ n^{p/2}…; `q` the mass of
Theorem 4's instance (its p), `h` the bias of Theorem 5's (its δ), `mu` the norm of the instance's mean; `b` a clipping bias,
`V` a second moment, `G` an empirical moment's root, `m` a number of records, `rest` a factor that tends to zero, `a` the rate per
unit of diameter, `E` the E_i of Theorem 3's proof, `Delta` a sensitivity, `eps0`, `delta0` the local budget.

Where a statement has `choices`, its `derived` is the rate of `follows_from[0]` with them substituted (a choice may mention letters
that other choices explain); elsewhere `steps` says how it follows, or what is missing.
"""

from __future__ import annotations

import math

from tailproof.bounds import explicit
from tailproof.bounds.statements import Comparison, Statement
from tailproof.refimpl.validation import between, nonnegative, positive, probability, whole

SYMBOLS: tuple[str, ...] = (
    *("n", "d", "eps", "delta", "rho", "xi", "lam", "beta", "eta", "sigma", "L", "D", "R0", "T", "C", "r", "r2k", "R2k"),
    *("q", "h", "mu", "b", "V", "G", "m", "rest", "a", "E", "Delta", "eps0", "delta0", "k", "p", "theta"),
)

LABELS: tuple[str, ...] = (
    "Abstract",
    "Introduction",
    "Table 1",
    "Assumption 1",
    *(f"Section {i}" for i in range(1, 9)),
    *(f"Definition {i}" for i in range(1, 9)),
    *(f"Lemma {i}" for i in range(1, 8)),
    *(f"Theorem {i}" for i in range(1, 12)),
    *(f"Remark {i}" for i in range(1, 6)),
    *(f"Algorithm {i}" for i in range(1, 8)),
    *(f"Equation {i}" for i in range(1, 28)),
    *(f"Figure {i}" for i in range(1, 7)),
)

# Explicit inequalities.


def _order(name: str, value: float) -> float:
    """A growth or moment order above one."""
    return between(name, value, 1 + 1e-12, math.inf)


def growth_distance_upper(*, lipschitz: float, growth: float, theta: float) -> float:
    """Lemma 1, first part: ‖w − w*‖ ≤ (L_f/λ)^{1/(θ−1)}."""
    ratio = nonnegative("lipschitz", lipschitz) / positive("growth", growth)
    return math.pow(ratio, 1 / (_order("theta", theta) - 1))


def growth_value_upper(*, lipschitz: float, growth: float, theta: float) -> float:
    """Lemma 1, second part: F(w) − F(w*) ≤ (L_f^θ/λ)^{1/(θ−1)}."""
    return lipschitz * growth_distance_upper(lipschitz=lipschitz, growth=growth, theta=theta)


def clipped_mean_sensitivity_upper(*, n: int, clip: float) -> float:
    """(5): replacing one record moves the mean of clipped gradients by at most 2C/n."""
    return 2 * positive("clip", clip) / whole("n", n, least=1)


def localised_noise_scale(*, n: int, clip: float, strength: float, epsilon: float, delta: float) -> float:
    """Algorithm 3: σ_i = 8C_i√log(1/δ)/(n_iλ_iε), which is Definition 3 at sensitivity 2C_i/(n_iλ_i)."""
    stable = clipped_mean_sensitivity_upper(n=n, clip=clip) / positive("strength", strength)
    return 4 * stable * math.sqrt(math.log(1 / probability("delta", delta))) / positive("epsilon", epsilon)


def clipping_bias_upper(*, k: float, moment: float, clip: float) -> float:
    """Lemma 7 and the B̂ of Theorem 8: ‖E Π_C(z) − E z‖ ≤ r^{(k)}/((k−1)C^{k−1}); `moment` is r^{(k)}."""
    k = between("k", k, 2, math.inf)
    return nonnegative("moment", moment) / ((k - 1) * math.pow(positive("clip", clip), k - 1))


def clipped_variance_upper(*, d: int, records: int, scale: float, second_moment: float) -> float:
    """Lemma 7: E‖ν̃ − E ν̃‖² ≤ dσ² + r^{(2)}/s."""
    noise = whole("d", d, least=1) * nonnegative("scale", scale) ** 2
    return noise + nonnegative("second_moment", second_moment) / whole("records", records, least=1)


def descent_distance_upper(
    *, step: float, strength: float, steps: int, start: float, second_moment: float, reach: float, bias: float
) -> float:
    """Theorem 8: ‖w_T − ŵ‖² ≤ e^{−ληT/2}‖w₀ − ŵ‖² + 8ηr̂²/λ + 8ηλD² + 20B̂²/λ²; `second_moment` is r̂², printed for η ≤ 2/λ."""
    lam = positive("strength", strength)
    eta = between("step", positive("step", step), 0, 2 / lam)
    shrink = math.exp(-lam * eta * whole("steps", steps, least=0) / 2)
    noise = 8 * eta * (nonnegative("second_moment", second_moment) / lam + lam * nonnegative("reach", reach) ** 2)
    return shrink * nonnegative("start", start) ** 2 + noise + 20 * (nonnegative("bias", bias) / lam) ** 2


def gaussian_norm_tail_upper(*, deviation: float, scale: float) -> float:
    """Proof of Theorem 9: P(‖ξ‖ ≥ t√d) ≤ 2e^{−t²/(16σ²)} for ξ ~ N(0, σ²I_d)."""
    return 2 * math.exp(-((nonnegative("deviation", deviation) / positive("scale", scale)) ** 2) / 16)


def localised_risk_upper(*, growth: float, theta: float, rate: float) -> float:
    """Proof of Theorem 11, case 1: F(ŵ_m) − F(w*) ≤ 4(2a)^{θ/(θ−1)}λ^{−1/(θ−1)} (stated at last with 2a^{θ/(θ−1)})."""
    theta = _order("theta", theta)
    power = (2 * nonnegative("rate", rate)) ** (theta / (theta - 1))
    return float(4 * power * positive("growth", growth) ** (-1 / (theta - 1)))


def flat_risk_upper(*, growth: float, theta: float, rate: float) -> float:
    """Proof of Theorem 11, case 2: F(ŵ_m) − F(w*) ≤ 2(2/λ)^{1/(θ−1)}a^{θ/(θ−1)}."""
    theta = _order("theta", theta)
    return float(
        2 * (2 / positive("growth", growth)) ** (1 / (theta - 1)) * nonnegative("rate", rate) ** (theta / (theta - 1))
    )


def iterated_factor_upper(*, theta: float, log_c: float) -> float:
    """Proof of Theorem 3: log₂ of the C with Δ_l ≤ C·E_l^{1/(θ−1)}, θ²((θ²−θ+1)/(θ−1)² + |log₂ c₁|)."""
    theta = _order("theta", theta)
    return theta**2 * ((theta**2 - theta + 1) / (theta - 1) ** 2 + abs(log_c))


def zcdp_fano_lower(
    *, separation: float, log_packing: float, n: int, divergence: float, distance: float, rho: float
) -> float:
    """Lemma 5: (α/2)max{1 − (nβ + log 2)/log M, 1 − (ρ(n²γ² + nγ(1−γ)) + log 2)/log M}, as published for any Φ."""
    n, log = whole("n", n, least=1), positive("log_packing", log_packing)
    gamma = between("distance", distance, 0, 1)
    plain = n * nonnegative("divergence", divergence)
    private = positive("rho", rho) * (n**2 * gamma**2 + n * gamma * (1 - gamma))
    return positive("separation", separation) / 2 * (1 - (min(plain, private) + math.log(2)) / log)


def local_noise_scale(*, clip: float, epsilon0: float, delta0: float) -> float:
    """Proof of Theorem 6: σ₁ = 2√2·C√log(1/δ₀)/ε₀ for one record."""
    noise = math.sqrt(math.log(1 / probability("delta0", delta0)))
    return 2 * math.sqrt(2) * positive("clip", clip) * noise / positive("epsilon0", epsilon0)


def shuffled_epsilon_factor_upper(*, n: int, epsilon0: float, delta: float) -> float:
    """Proof of Theorem 6: (1 − e^{−ε₀})(√(e^{ε₀}log(1/δ̂)/n) + e^{ε₀}/n) ≤ ε₀(³⁄₂√(log(1/δ̂)/n) + 2/n) for ε₀ ≤ 1/2."""
    n, epsilon0 = whole("n", n, least=1), between("epsilon0", epsilon0, 0, 0.5)
    return epsilon0 * (1.5 * math.sqrt(math.log(1 / probability("delta", delta)) / n) + 2 / n)


# Rates.

TAU = "sqrt(d*log(1/delta))/(eps*n)"
TAU_LOG = "sqrt(d*log(1/delta)*log(n))/(eps*n)"
SIZE = f"(1/sqrt(n) + ({TAU})**(1-1/k))"  # what the paper's rates have in common
SIZE_LOG = f"(1/sqrt(n) + ({TAU_LOG})**(1-1/k))"
SIZE_BARE = "(1/sqrt(n) + (sqrt(d)/(eps*n))**(1-1/k))"
SIZE_RHO = "(1/sqrt(n) + (sqrt(d)/(sqrt(rho)*n))**(1-1/k))"
LIPSCHITZ = "(1/sqrt(n) + sqrt(d)/(eps*n))"
MISPLACED = f"({LIPSCHITZ})**(1-1/k)"  # the abstract's: the exponent outside the outer bracket
FAST = "theta/(theta-1)"
GROWTH = "lam**(-1/(theta-1))"
TAIL = "sqrt(log(1/xi))/(2**(p+1)*sqrt(n))"
TAIL_LOG = "sqrt(log(n)*log(1/xi))/(2**(p+1)*sqrt(n))"
ORDERS = ("k>=2", "p>=1")
LARGE = "p ≥ 1 with L_f ≤ n^{p/2}R̃_{2k,n}(1/√n + (√(d log(1/δ)log n)/(εn))^{(k−1)/k})"
MOMENTS = "Assumption 1: E sup_w‖∇f(w, x)‖^k ≤ r̃_k^k, W of diameter D"

CONVEX = f"R2k*D*{SIZE} + D*{TAIL}"
BIAS = f"({TAU_LOG})**(1-1/k)"
ELL = "sqrt(log(n)*log(1/xi))"
# The rates of Theorem 10's proof, with b for BIAS and a for 1/sqrt(n) + b.
STEPS = "D**2/(eta*n**(2*p)) + eta*(L**2 + R2k**2*n**p*b**2) + L**2*eta*n**(p-1/2)*log(n)*sqrt(log(1/xi))"
PACE = f"D/n**(p/2)*Min(1/L, 1/(R2k*n**((p+1)/2)*b), 1/(n**((p-1)/2)*L**2*{ELL}))"  # Algorithm 4's γ, log(1/δ) restored
AT_PACE = (  # STEPS with η and L put in
    f"R2k*D*Max(n**(-p)*a, n**(1/2-p)*b, R2k*a**2*{ELL}/sqrt(n))"
    f" + D*Min(R2k*a, R2k*a**2/(sqrt(n)*b), n**(1/2-p)/{ELL})"
    f" + R2k*D*b**2*Min(1/a, 1/(sqrt(n)*b), n**(1/2-p)/(R2k*a**2*{ELL}))"
    f" + D*log(n)*sqrt(log(1/xi))*Min(R2k*n**(p-1/2)*a, R2k*n**(p-1)*a**2/b, 1/{ELL})"
)
AT_PACE_CHOICES = {"eta": PACE, "L": "n**(p/2)*R2k*a", "a": "1/sqrt(n) + b", "b": BIAS}
PER_DIAMETER = f"R2k*{SIZE_LOG} + {TAIL}"
SPLIT = (  # PER_DIAMETER at n/log n records
    f"R2k*(sqrt(log(n)/n) + (sqrt(d*log(1/delta)*log(n)**3)/(eps*n))**(1-1/k)) + {TAIL_LOG}"
)
TNC = f"{GROWTH}*(R2k*{SIZE} + {TAIL_LOG})**({FAST})"
TNC_ITERATED = f"{GROWTH}*(R2k*{SIZE} + {TAIL})**({FAST})"
TNC_SPLIT = f"{GROWTH}*({SPLIT})**({FAST})"
LOWER_PRIVATE = f"(r*(sqrt(d)/(sqrt(rho)*n))**(1-1/k))**({FAST})"
LOWER_PLAIN = f"(r/sqrt(n))**({FAST})"
AC_SA = "beta*D**2/T**2 + D*(sqrt(d)*sigma + r*sqrt(T/n) + b)/sqrt(T) + b*D"
CLIP = "r*(eps*n/sqrt(d*log(1/delta)))**(1/k)"
ROUNDS = "sqrt(beta*D/r)*Min((eps*n/sqrt(d*log(1/delta)))**((k-1)/(2*k)), n**(1/4))"
SHUFFLED = f"r*D*{SIZE}"
SHUFFLED_PROVED = f"r*D*(1/sqrt(n) + sqrt(log(n/delta))*({TAU})**(1-1/k))"
ROUNDS_AT_LEAST_ONE = ("k>=2", "r<=beta*D", "sqrt(d*log(1/delta))<=eps*n")

_PRELIMINARIES: tuple[Statement, ...] = (
    Statement(
        "P0.D3",
        "Definition 3",
        "privacy",
        "printed",
        "Gaussian noise of scale 4Δ√log(1/δ)/ε gives (ε, δ)-DP for 0 < ε, δ ≤ 1.",
        "Section 3",
        where=("eps<=1",),
        printed="Delta*sqrt(log(1/delta))/eps",
        derived="Delta*sqrt(log(1/delta))/eps",
        steps=(
            "Δ/σ = ε/(4√log(1/δ)) is ρ = ε²/(32 log(1/δ)) zCDP, hence (ε, δ) whenever ε ≤ 20 log(1/δ).",
            "Fails only for δ near 1, where ε ≤ 1 exceeds that range.",
        ),
        explicit=explicit.p0_gaussian_scale,
    ),
    Statement(
        "P0.D8",
        "Definition 8",
        "definition",
        "printed",
        "(θ, λ)-TNC: F(w) − F(w*) ≥ λ‖w − w*‖^θ, w* the nearest minimiser, θ > 1.",
        "Section 3",
        where=("theta>1",),
        printed="lam*D**theta",
        derived="lam*D**theta",
    ),
    Statement(
        "P0.D8.strong",
        "Definition 8",
        "lemma",
        "printed",
        "A λ-strongly convex function is (2, λ/2)-TNC; Section 7 has (2, λ).",
        "Section 3, after (1); Section 7.1",
        printed="lam*D**2",
        derived="lam*D**2",
        follows_from=("P0.D8",),
        choices={"theta": "2"},
        steps=("Definition 7 at w', where ⟨∇F(w*), w − w*⟩ ≥ 0; F = λw²/2 shows that λ/2 is best.",),
    ),
    Statement(
        "P0.D8.order",
        "Definition 8",
        "lemma",
        "printed",
        "A (θ, λ)-TNC function is (θ', λ)-TNC for θ' > θ; true with λD^{θ−θ'}, D the diameter, hence as published for D ≤ 1 only.",
        "Section 3, after (1)",
        where=("theta>1",),
        steps=("t^θ ≥ D^{θ−θ'}t^{θ'} for t ≤ D, with equality at t = D.",),
    ),
    Statement(
        "P0.L1.distance",
        "Lemma 1",
        "lemma",
        "printed",
        "‖w − w*‖ ≤ (L_f/λ)^{1/(θ−1)} for every w.",
        "Section 3",
        assumptions=("F is (θ, λ)-TNC and L_f-Lipschitz",),
        where=("theta>1",),
        printed="(L/lam)**(1/(theta-1))",
        derived="(L/lam)**(1/(theta-1))",
        follows_from=("P0.D8",),
        steps=("λt^θ ≤ F(w) − F(w*) ≤ L_f·t.",),
        explicit=growth_distance_upper,
    ),
    Statement(
        "P0.L1",
        "Lemma 1",
        "lemma",
        "printed",
        "F(w) − F(w*) ≤ (L_f^θ/λ)^{1/(θ−1)} for every w.",
        "Section 3",
        assumptions=("F is (θ, λ)-TNC and L_f-Lipschitz",),
        where=("theta>1",),
        printed="(L**theta/lam)**(1/(theta-1))",
        derived="(L**theta/lam)**(1/(theta-1))",
        follows_from=("P0.L1.distance",),
        steps=("L_f times the distance.",),
        explicit=growth_value_upper,
    ),
    Statement(
        "P0.S3.lipschitz",
        "Assumption 1",
        "lemma",
        "printed",
        "r̃_k ≤ L_f, and r̃_k may be far smaller.",
        "Section 3",
        where=("r<=L",),
        printed="L",
        derived="L",
    ),
    Statement(
        "P0.L2",
        "Lemma 2",
        "lemma",
        "printed",
        "ẽ₁^{(k)} ≥ ẽ₂^{(k)} ≥ ẽ₄^{(k)} ≥ …, hence R̃_{k,n} ≤ r̃_k; with 2k for k, R̃_{2k,n} ≤ r̃_{2k}.",
        "Section 3, Appendix B",
        assumptions=(MOMENTS, "n a power of two"),
        where=("R2k<=r2k",),
        printed="r2k",
        derived="r2k",
        steps=(
            "The supremum of a sum of two halves is at most the sum of suprema.",
            "R̃² = Σ2^{−i}r̃²_{k,n_i} ≤ r̃_k²(1 − 1/n).",
            "Between r̃_k and R̃_{2k,n} no order holds: x uniform on very many directions makes R̃_{2k,n} about n^{−1/(2k)}r̃_k.",
        ),
    ),
)

_CONVEX: tuple[Statement, ...] = (
    Statement(
        "P0.A1.sensitivity",
        "Equation 5",
        "lemma",
        "proof",
        "Replacing a record moves a mean of clipped gradients by at most 2C/n at a common point.",
        "Appendix B (5)",
        printed="C/n",
        derived="C/n",
        algorithms=("P0.A1",),
        explicit=clipped_mean_sensitivity_upper,
    ),
    Statement(
        "P0.A2.stability",
        "Algorithm 3",
        "lemma",
        "printed",
        "What the noise scale of Algorithm 3 presumes: Algorithm 2's output moves by at most 2C/(nλ).",
        "Algorithm 3, line 7; Remark 2",
        assumptions=(
            "clipped gradients are gradients of convex smooth functions: d = 1, or f(w, x) = ℓ(⟨w, x⟩)",
            "η(α + λ) ≤ 1",
        ),
        printed="C/(n*lam)",
        derived="C/(n*lam)",
        follows_from=("P0.A1.sensitivity",),
        steps=(
            "If w ↦ w − η·(clipped mean) does not expand, the distance obeys x ← (1 − ηλ)x + 2ηC/n, whose limit is 2C/(nλ).",
            "Clipping in the plane is not the gradient of a convex function: for ½(aw₁² + w₂²) the fixed point moves by up to "
            "(a + 1)/(2√a) times 2C/(nλ), so in general neither this nor the privacy of Algorithms 3, 4 and 5 holds.",
            "The published proof instead calls line 3 of Algorithm 2 ε²/(2T)-zCDP, although no noise is added there.",
        ),
        algorithms=("P0.A2", "P0.A3"),
    ),
    Statement(
        "P0.A3.scale",
        "Algorithm 3",
        "definition",
        "printed",
        "σ_i = 8C_i√log(1/δ)/(n_iλ_iε): Definition 3 at sensitivity 2C_i/(n_iλ_i).",
        "Algorithm 3, line 7",
        printed="C*sqrt(log(1/delta))/(n*lam*eps)",
        derived="C*sqrt(log(1/delta))/(n*lam*eps)",
        follows_from=("P0.D3", "P0.A2.stability"),
        choices={"Delta": "C/(n*lam)"},
        algorithms=("P0.A3",),
        explicit=localised_noise_scale,
    ),
    Statement(
        "P0.A3.clip",
        "Algorithm 3",
        "definition",
        "printed",
        "C_i = r̃_{2k,n_i}(εn_i/√(d log(1/δ)log n))^{1/k}.",
        "Algorithm 3, line 6",
        where=("k>=2",),
        printed="r2k*(eps*n/sqrt(d*log(1/delta)*log(n)))**(1/k)",
        derived="r2k*(eps*n/sqrt(d*log(1/delta)*log(n)))**(1/k)",
        steps=("It balances the bias r^k/C^{k−1} and the noise C√(d log(1/δ)log n)/(εn) at r(√(d …)/(εn))^{(k−1)/k}.",),
        algorithms=("P0.A3",),
    ),
    Statement(
        "P0.T1.privacy",
        "Theorem 1",
        "privacy",
        "printed",
        "Algorithm 3 is (ε, δ)-DP for 0 < ε ≤ √log(1/δ) when every η_i ≤ 1/α.",
        "Section 4, Appendix B",
        assumptions=("f(·, x) α-smooth and L_f-Lipschitz", "the batches are disjoint"),
        where=("eps<=sqrt(log(1/delta))",),
        follows_from=("P0.A3.scale", "P0.A2.stability"),
        steps=(
            "Where P0.A2.stability holds: ρ = ε²/(32 log(1/δ)), hence (ε, δ) even for ε ≤ 20 log(1/δ).",
            "Where it fails so does the claim: 256 records in the plane give δ = 0.0013 instead of 10^{−5}.",
            "The published proof turns (2ε√log(1/δ), δ) into (ε², δ), which is the wrong direction.",
        ),
        algorithms=("P0.A3",),
    ),
    Statement(
        "P0.L3",
        "Lemma 3",
        "lemma",
        "printed",
        "Empirical minimiser, L-Lipschitz λ-strongly convex loss: cL²log n·log(1/β)/(λn) + cLD√(log(1/β)/n), probability 1 − β.",
        "Appendix B",
        assumptions=("β ≤ 1/n", "cited from Feldman and Vondrák"),
        where=("xi<=1/n",),
        printed="L**2*log(n)*log(1/xi)/(lam*n) + L*D*sqrt(log(1/xi)/n)",
        derived="L**2*log(n)*log(1/xi)/(lam*n) + L*D*sqrt(log(1/xi)/n)",
        hidden="the constant c",
    ),
    Statement(
        "P0.T8.bias",
        "Theorem 8",
        "lemma",
        "proof",
        "B̂ = sup_t‖b_t‖ ≤ r̂_n(X)^{(k)}/((k−1)C^{k−1}).",
        "Appendix B",
        where=("k>=2",),
        printed="G**k/C**(k-1)",
        derived="G**k/C**(k-1)",
        steps=("(t − C)₊ ≤ t^k(k−1)^{k−1}/(k^kC^{k−1}), which is smaller than published by more than e.",),
        explicit=clipping_bias_upper,
    ),
    Statement(
        "P0.T8",
        "Theorem 8",
        "lemma",
        "printed",
        "‖w_T − ŵ‖² ≤ e^{−ληT/2}‖w₀ − ŵ‖² + 8ηr̂²/λ + 8ηλD² + 20B̂²/λ² for Algorithm 2 (`rest` is e^{−ληT/2}).",
        "Appendix B",
        assumptions=("η ≤ 2/λ", "every iterate within D of w₀", "r̂² the empirical second moment"),
        printed="rest*D**2 + eta*V/lam + eta*lam*D**2 + b**2/lam**2",
        derived="rest*D**2 + eta*V/lam + eta*lam*D**2 + b**2/lam**2",
        follows_from=("P0.T8.bias",),
        steps=(
            "x_{t+1} ≤ (1 − λη/2)x_t + 4η²(r̂² + λ²D² + B̂²) + 2ηB̂²/λ, summed with 2/(λη).",
            "8ηB̂²/λ ≤ 16B̂²/λ² for η ≤ 2/λ.",
        ),
        algorithms=("P0.A2",),
        explicit=descent_distance_upper,
    ),
    Statement(
        "P0.T9.distance",
        "Equation 6",
        "lemma",
        "proof",
        "Optimisation error of phase i, published as η²n/(16^i4^i)·(L_f² + n r̃^{2k}/(C_i^{2k−2}4^i)).",
        "Appendix B (6)",
        where=ORDERS,
        printed="eta**2*n*(L**2 + n*G**(2*k)/C**(2*k-2))",
        derived="eta**2*n**p*(L**2 + n**p*G**(2*k)/C**(2*k-2))",
        hidden="powers of 2^i",
        follows_from=("P0.T8",),
        choices={"rest": "eta*lam", "V": "L**2", "D": "L/lam", "b": "G**k/C**(k-1)", "lam": "1/(eta*n**p)"},
        steps=(
            "λ_i = 1/(η_in_i^p), so η_i/λ_i = η_i²n_i^p and 1/λ_i² = η_i²n_i^{2p}: the published formula is the case p = 1.",
            "T_i makes the first term as small as the third; D_i = 2L_f/λ_i and r̂ ≤ L_f.",
        ),
        algorithms=("P0.A3",),
        errata=("P0.(6)",),
    ),
    Statement(
        "P0.T9.tail",
        "Theorem 9",
        "lemma",
        "proof",
        "P(‖ξ_i‖ ≥ t√d) ≤ 2e^{−t²/(16σ_i²)}, hence ‖ξ_i‖ ≤ 4√d·σ_i log(4/β) with probability 1 − β.",
        "Appendix B",
        printed="sqrt(d)*sigma*log(1/xi)",
        derived="sqrt(d)*sigma*log(1/xi)",
        steps=("Already 4√d·σ_i√log(2/β) does it.",),
        explicit=gaussian_norm_tail_upper,
    ),
    Statement(
        "P0.T9.value",
        "Theorem 9",
        "lemma",
        "proof",
        "F(w_l) − F(ŵ_l) ≤ 4L_f√d·σ_l log(4/β), the noise of the last phase.",
        "Appendix B",
        printed="L*sqrt(d)*sigma*log(1/xi)",
        derived="L*sqrt(d)*sigma*log(1/xi)",
        follows_from=("P0.T9.tail",),
        algorithms=("P0.A3",),
    ),
    Statement(
        "P0.T9",
        "Theorem 9",
        "lemma",
        "printed",
        "F(w_l) − F(ŵ_l) ≤ Õ((r̃_{2k,n_l}/R̃_{2k,n})·DL_f/√n).",
        "Appendix B",
        assumptions=(LARGE, MOMENTS),
        where=ORDERS,
        printed="r2k/R2k*D*L/sqrt(n)",
        derived="r2k/R2k*D*L*log(1/xi)/sqrt(log(n))*n**(1-1/k)/n**(p+5/2)",
        hidden="logarithms",
        follows_from=("P0.T9.value",),
        choices={
            "sigma": "C*sqrt(log(1/delta))*eta/(eps*n**2)",
            "C": "r2k*(eps/sqrt(d*log(1/delta)*log(n)))**(1/k)",
            "eta": f"D/n**(p/2)/(R2k*n**((p+1)/2)*{BIAS})",
        },
        steps=(
            "n_l = 1, η_l = η/n², λ_l = 1/η_l, and η at most the second entry of Algorithm 4's minimum.",
            "d, ε and δ cancel, and the published bound holds with much to spare.",
        ),
        algorithms=("P0.A3",),
    ),
    Statement(
        "P0.T10.sum",
        "Theorem 10",
        "upper",
        "proof",
        "Sum over the phases at any η: D²/(ηn^{2p}) + η(L_f² + R̃n^p(d log n/(ε²n²))^{(k−1)/k}) + L_f²ηn^{p−1/2}√log(1/β)·log n; "
        "b is (√(d log(1/δ)log n)/(εn))^{(k−1)/k}.",
        "Appendix B",
        assumptions=(MOMENTS, "probability 1 − β, β ≤ 1/n"),
        where=ORDERS,
        printed=STEPS.replace("R2k**2", "R2k"),
        derived=STEPS,
        hidden="constants that depend on p",
        follows_from=("P0.L3", "P0.T9.distance"),
        steps=(
            "Lemma 3 in phase i: L²log n_i/(λ_in_i) = L²η_in_i^{p−1} and LD_i/√n_i = 2L²η_in_i^{p−1/2}.",
            "r̃^{2k}/C^{2k−2} = r̃²(…)^{2(k−1)/k}: the square of R̃ is lost in the paper.",
            "λ_i‖w_{i−1} − ŵ_{i−1}‖² should also have λ_i·dσ²_{i−1}; with λ₁ = 1/(η₁n₁^{2p}) the noise of phase 1 adds "
            "ηn^{3p}R̃²(…)^{2(k−1)/k}, larger than everything else.  It is left out here, as in the paper.",
        ),
        algorithms=("P0.A3",),
        errata=(
            "P0.Thm10.R",
            "P0.Thm10.noise",
        ),
    ),
    Statement(
        "P0.T10",
        "Theorem 10",
        "upper",
        "printed",
        "F(w_l) − F(w*) ≲ R̃_{2k,n}D(1/√n + (√(d log(1/δ)log n)/(εn))^{(k−1)/k}) + D√log(1/β)/(2^{p+1}√n).",
        "Appendix B",
        assumptions=(LARGE, MOMENTS, "η_i ≤ 1/α"),
        where=ORDERS,
        printed=f"R2k*D*{SIZE_LOG} + D*{TAIL}",
        derived=AT_PACE,
        follows_from=("P0.T10.sum",),
        choices=AT_PACE_CHOICES,
        steps=(
            "Algorithm 4's η (the proof has the prefactor n^{−1/2}, Algorithm 5 n^{−(p−1)/2}), L_f as large as allowed.",
            "The first three terms are ≲ R̃D(1/√n + …) when R̃(1/√n + …) ≲ √n.",
            "The last is D·min{R̃n^{p−1/2}(…), R̃n^{p−1}(…)²/(√d…/(εn))^{(k−1)/k}, 1/√log n…}, which does not vanish at p = 2; "
            "D/√n would need η ≤ D/(n^pL_f²), and a factor R̃ to have the right unit.",
        ),
        algorithms=("P0.A3",),
        errata=(
            "P0.Thm10.stepsize",
            "P0.Thm10.noise",
        ),
    ),
    Statement(
        "P0.T1",
        "Theorem 1",
        "upper",
        "printed",
        "Algorithm 3: F(w_l) − F(w*) ≤ Õ(R̃_{2k,n}D(1/√n + (√(d log(1/δ))/(εn))^{(k−1)/k}) + D√log(1/β)/(2^{p+1}√n)), "
        "probability 1 − β.",
        "Section 4",
        assumptions=(MOMENTS, LARGE, "f(·, x) α-smooth, L_f-Lipschitz, η_i ≤ 1/α", "β ≤ 1/n"),
        where=(*ORDERS, "eps<=sqrt(log(1/delta))"),
        printed=CONVEX,
        derived=AT_PACE,
        hidden="logarithms of n (log(1/δ) and log(1/β) are written)",
        follows_from=("P0.T10.sum",),
        choices=AT_PACE_CHOICES,
        steps=(
            "As Theorem 10, which has log n inside the power.",
            "Not reached by Algorithm 3 as published: at p = 1, d = 1 and records ±1 the noise of phase 1 is about √n·D/8, so that "
            "W₂ = {w in W: ‖w − w₁‖ ≤ D₂} is empty with probability near 1.",
        ),
        algorithms=("P0.A3",),
        errata=(
            "P0.Thm10.stepsize",
            "P0.Alg3.phase1",
        ),
    ),
    Statement(
        "P0.S4.rate",
        "Section 4",
        "upper",
        "printed",
        "Overview: Algorithm 3 has rate Õ(max{1/√n, (d log(1/δ)/(εn))^{(k−1)/k}}).",
        "Section 4, before Theorem 1",
        where=("k>=2",),
        printed="Max(1/sqrt(n), (d*log(1/delta)/(eps*n))**(1-1/k))",
        derived=f"Max(1/sqrt(n), ({TAU})**(1-1/k))",
        hidden="R̃, D and logarithms",
        follows_from=("P0.T1",),
        steps=("Theorem 1 has √(d log(1/δ)); the root is possibly an extraction loss.",),
        algorithms=("P0.A3",),
        errata=("P0.Sec4.rate",),
    ),
    Statement(
        "P0.R1",
        "Remark 1",
        "privacy",
        "printed",
        "Algorithms 1-5 give zCDP as easily; Algorithm 6 does not, since shuffling is for (ε, δ)-LDP.",
        "Section 3",
        printed="C/(n*lam*sqrt(rho))",
        derived="C/(n*lam*sqrt(rho))",
        follows_from=("P0.A3.scale",),
        choices={"eps": "sqrt(rho*log(1/delta))"},
        steps=("σ = Δ/√(2ρ) for ρ-zCDP, Δ = 2C/(nλ) where P0.A2.stability holds.",),
        algorithms=("P0.A3", "P0.A4", "P0.A5"),
    ),
    Statement(
        "P0.R2",
        "Remark 2",
        "lemma",
        "printed",
        "Clipping makes the stability of gradient descent depend on the clipping threshold alone.",
        "Section 4",
        printed="C/(n*lam)",
        derived="C/(n*lam)",
        follows_from=("P0.A2.stability",),
        steps=("Only where clipped gradients are those of convex functions; else the condition number enters.",),
        algorithms=("P0.A2",),
    ),
)

_GROWTH: tuple[Statement, ...] = (
    Statement(
        "P0.T11.phase",
        "Lemma 4",
        "lemma",
        "printed",
        "F(ŵ_k) − F(w*) ≤ μ_kR_k^θ = 2^{−k}μ₀R₀^θ for k ≤ k*, and F(ŵ_k) − F(ŵ_{k*}) ≤ μ_{k*}R_{k*}^θ after; μ₀ = 2R₀^{1−θ}a(n₀).",
        "Appendix B (7)-(9)",
        assumptions=("Theorem 1 on balls: R·a(n₀)",),
        where=("theta>=2",),
        printed="mu*R0**theta",
        derived="mu*R0**theta",
        follows_from=("P0.T1",),
        steps=("R_{k−1}a(n₀) = μ_kR_k^θ, and TNC with λ ≥ μ_{k*} ≥ μ_k keeps w* in the next ball.",),
        algorithms=("P0.A4",),
    ),
    Statement(
        "P0.T11.case1",
        "Theorem 11",
        "upper",
        "proof",
        "Case λ ≥ μ₀: F(ŵ_m) − F(w*) ≤ 4λ^{−1/(θ−1)}(2a(n₀))^{θ/(θ−1)}.",
        "Appendix B",
        where=("theta>=2",),
        printed=f"{GROWTH}*a**({FAST})",
        derived=f"{GROWTH}*a**({FAST})",
        follows_from=("P0.T11.phase",),
        steps=(
            "2μ_{k*}R_{k*}^θ ≤ 4(μ_{k*}/λ)^{1/(θ−1)}μ_{k*}R_{k*}^θ = 4R₀^θμ₀^{θ/(θ−1)}λ^{−1/(θ−1)}, and R₀ cancels.",
            "λ ≤ μ_m by θ ≥ 2, m phases and λ ≤ L/R₀^{θ−1}; the paper loses a factor log n₀√log(1/β) on the way, without need.",
        ),
        algorithms=("P0.A4",),
        explicit=localised_risk_upper,
    ),
    Statement(
        "P0.T11.case2",
        "Theorem 11",
        "upper",
        "proof",
        "Case λ < μ₀: F(ŵ_m) − F(w*) ≤ 2R₀a(n₀) ≤ 2(2/λ)^{1/(θ−1)}a(n₀)^{θ/(θ−1)}.",
        "Appendix B",
        where=("theta>=2",),
        printed=f"{GROWTH}*a**({FAST})",
        derived=f"{GROWTH}*a**({FAST})",
        follows_from=("P0.T11.phase",),
        steps=("R₀ = (2a/μ₀)^{1/(θ−1)} < (2a/λ)^{1/(θ−1)}.",),
        algorithms=("P0.A4",),
        explicit=flat_risk_upper,
    ),
    Statement(
        "P0.T11.a",
        "Theorem 11",
        "definition",
        "proof",
        "a(n) = O(R̃_{2k,n}(1/√n + (√(d log n)/(εn))^{(k−1)/k}) + √log(1/β)/(2^{p+1}√n)): Theorem 10 per unit of diameter.",
        "Appendix B",
        where=ORDERS,
        printed=f"R2k*(1/sqrt(n) + (sqrt(d*log(n))/(eps*n))**(1-1/k)) + {TAIL}",
        derived=PER_DIAMETER,
        follows_from=("P0.T10",),
        steps=("Theorem 10 as published, divided by D, has log(1/δ) as well.",),
        errata=("P0.Thm11.log",),
    ),
    Statement(
        "P0.T11",
        "Theorem 11",
        "upper",
        "printed",
        "Algorithm 4: F(ŵ_m) − F(w*) ≤ O(λ^{−1/(θ−1)}(R̃(√(log n/n) + (√(d log(1/δ)log³n)/(εn))^{(k−1)/k}) + "
        "√(log n log(1/β))/(2^{p+1}√n))^{θ/(θ−1)}).",
        "Appendix B",
        assumptions=("F is (θ, λ)-TNC with θ ≥ 2", "f(·, x) convex, α-smooth, L_f-Lipschitz", LARGE, MOMENTS),
        where=(*ORDERS, "theta>=2"),
        printed=TNC_SPLIT,
        derived=TNC_SPLIT,
        follows_from=("P0.T11.case1", "P0.T11.case2", "P0.T11.a"),
        choices={
            "a": "R2k*(1/sqrt(m) + (sqrt(d*log(1/delta)*log(n))/(eps*m))**(1-1/k)) + sqrt(log(1/xi))/(2**(p+1)*sqrt(m))",
            "m": "n/log(n)",
        },
        steps=("n₀ = n/m with m about ½log₂n phases; Theorem 1 is taken as published.",),
        algorithms=("P0.A4",),
    ),
    Statement(
        "P0.T2",
        "Theorem 2",
        "upper",
        "printed",
        "Algorithm 4: F(ŵ_m) − F(w*) ≤ Õ(λ^{−1/(θ−1)}(R̃_{2k,n}(1/√n + (√(d log(1/δ))/(εn))^{(k−1)/k}) + "
        "√(log n log(1/β))/(2^{p+1}√n))^{θ/(θ−1)}), probability 1 − β.",
        "Section 4",
        assumptions=("F is (θ, λ)-TNC with θ ≥ 2", "f(·, x) α-smooth, L_f-Lipschitz, γ_l ≤ 1/α", LARGE, MOMENTS),
        where=(*ORDERS, "theta>=2"),
        printed=TNC,
        derived=TNC_SPLIT,
        hidden="logarithms of n inside the power",
        follows_from=("P0.T11",),
        steps=("Theorem 11 without its powers of log n.",),
        algorithms=("P0.A4",),
    ),
    Statement(
        "P0.T2.privacy",
        "Theorem 2",
        "privacy",
        "printed",
        "Algorithm 4 is (ε, δ)-DP.",
        "Section 4",
        assumptions=("the range of Theorem 1, which the statement does not repeat", "γ_l ≤ 1/α"),
        where=("eps<=sqrt(log(1/delta))",),
        follows_from=("P0.T1.privacy",),
        steps=("Disjoint subsets; with the reservation of Theorem 1.",),
        algorithms=("P0.A4",),
    ),
    Statement(
        "P0.T3.step",
        "Theorem 3",
        "lemma",
        "proof",
        "Δ_i ≤ (Δ_{i−1}E_i)^{1/θ} for every phase gives Δ_l ≤ C·E_l^{1/(θ−1)} after l = ⌊log_θ̄ 2·log log n⌋ phases.",
        "Appendix B (10)-(14)",
        assumptions=("E_{i−1} ≤ 2^θE_i", "base-2 logarithms", "l + 1 ≥ log_θ 2·log log n, since θ ≥ θ̄"),
        where=("theta>1",),
        printed="E**(1/(theta-1))",
        derived="E**(1/(theta-1))",
        follows_from=("P0.T1", "P0.D8"),
        steps=(
            "x_i = Δ_i/E_i^{1/(θ−1)} obeys x_i ≤ 2^{1/(θ−1)}x_{i−1}^{1/θ}, with fixed point 2^{θ/(θ−1)²}.",
            "x₁ is polynomial in n, and θ^{l−1} ≥ log n/θ² brings it to a constant.",
            "(11) puts ‖w_{i−1} − w*‖ for the D of Theorem 1, the diameter that the step size is made for; Algorithm 5 only halves "
            "its R_t, and R_{l−1} = R₀/(log n)^{O(1)} gives no more than R_{l−1}a(n_l).",
        ),
        explicit=iterated_factor_upper,
    ),
    Statement(
        "P0.T3",
        "Theorem 3",
        "upper",
        "printed",
        "Algorithm 5: F(w_l) − F(w*) ≤ Õ(λ^{−1/(θ−1)}(R̃_{2k,n}(1/√n + (√(d log(1/δ))/(εn))^{(k−1)/k}) + "
        "√log(1/β)/(2^{p+1}√n))^{θ/(θ−1)}), probability 1 − β.",
        "Section 4",
        assumptions=(
            "F is (θ, λ)-TNC with θ ≥ θ̄ > 1, θ̄ known",
            "f(·, x) convex, α-smooth, L_f-Lipschitz, η_t ≤ 1/α",
            "θ̄ ≥ 2^{log log n/(log n − 1)}",
            LARGE,
            MOMENTS,
        ),
        where=(*ORDERS, "theta>1"),
        printed=TNC_ITERATED,
        derived=TNC_ITERATED,
        hidden="logarithms of n",
        follows_from=("P0.T3.step",),
        choices={"E": f"(R2k*{SIZE} + {TAIL})**theta/lam"},
        steps=("n_l ≥ n/4 when the exponent of log n in n_i is log_θ̄ 2 (Algorithm 5 has its square).",),
        algorithms=("P0.A5",),
    ),
    Statement(
        "P0.T3.privacy",
        "Theorem 3",
        "privacy",
        "printed",
        "Algorithm 5 is (ε, δ)-DP for ε ≤ 2 log(1/δ).",
        "Section 4",
        where=("eps<=log(1/delta)",),
        follows_from=("P0.A3.scale", "P0.A2.stability"),
        steps=(
            "Said to follow from Theorem 1, whose range ε ≤ √log(1/δ) is smaller.",
            "Where P0.A2.stability holds: ρ + 2√(ρ log(1/δ)) = ε(ε/(32 log(1/δ)) + 1/√8) < ε.",
        ),
        algorithms=("P0.A5",),
    ),
    Statement(
        "P0.R3",
        "Remark 3",
        "upper",
        "printed",
        "The optimal rate for O(1)-Lipschitz losses under TNC, published as (1/√n + (√d/(εn))^{(k−1)/k})^{θ/(θ−1)}.",
        "Section 4",
        where=("k>=2", "theta>1"),
        printed=f"{SIZE_BARE}**({FAST})",
        derived=f"{LIPSCHITZ}**({FAST})",
        hidden="logarithms",
        follows_from=("P0.TAB1.r5.upper",),
        steps=("Table 1 has (1/√n + √d/(εn))^{θ/(θ−1)} for the same paper, without (k−1)/k.",),
        errata=("P0.Rem3.rate",),
    ),
    Statement(
        "P0.R3.strong",
        "Remark 3",
        "upper",
        "printed",
        "θ = 2: Theorem 2 covers the strongly convex result of Lowy and Razaviyayn.",
        "Section 4; Section 2",
        where=("k>=2",),
        printed="R2k**2*(1/n + (sqrt(d)/(eps*n))**(2*(1-1/k)))",
        derived=f"(R2k*{SIZE_BARE})**2",
        hidden="logarithms and the strong convexity",
        follows_from=("P0.T2",),
        steps=("θ/(θ−1) = 2, and the square of a sum is the sum of squares up to 2.",),
        algorithms=("P0.A4",),
    ),
    Statement(
        "P0.EX1",
        "Equation 2",
        "upper",
        "printed",
        "ℓ₄ regression on the ℓ₁ ball, θ = 4, truncated Gaussian features: Poly(n)-Lipschitz with moments O(1).",
        "Section 4, first example",
        assumptions=("d fixed: at w = 0 and |y| = 1 the gradient's second moment is already 16·E‖x‖² = 16d",),
        where=("k>=2",),
        printed=f"{SIZE_BARE}**(4/3)",
        derived=f"(r2k*{SIZE_BARE})**(4/3)",
        hidden="logarithms; r̃_{2k}, of order √d at least",
        follows_from=("P0.T2",),
        algorithms=("P0.A4",),
        errata=("P0.Ex1.moment",),
    ),
    Statement(
        "P0.EX2",
        "Equation 3",
        "upper",
        "printed",
        "ℓ₂-regularised logistic regression on the unit ball, θ = 2, moments O(1) for ‖x‖ ≤ R.",
        "Section 4, second example",
        where=("k>=2",),
        printed=f"{SIZE_BARE}**2",
        derived=f"{SIZE_BARE}**2",
        hidden="logarithms, λ and R",
        follows_from=("P0.T2",),
        algorithms=("P0.A4",),
    ),
)

_LOWER: tuple[Statement, ...] = (
    Statement(
        "P0.L5",
        "Lemma 5",
        "lemma",
        "printed",
        "zCDP Fano: the average risk is at least (α/2)max{1 − (nβ + log 2)/log M, 1 − (ρ(n²γ² + nγ(1−γ)) + log 2)/log M}.",
        "Appendix B",
        assumptions=("Φ(ϱ(θ_i, θ_j)) ≥ α, KL ≤ β, TV ≤ γ", "as published for every Φ; true with Φ(½Φ^{−1}(α)) for α/2"),
        steps=("For Φ(t) = t^θ the constant is α/2^θ at best: the centre of a simplex refutes α/2 at θ = 4.",),
        explicit=zcdp_fano_lower,
    ),
    Statement(
        "P0.T4.separation",
        "Equation 20",
        "lower",
        "proof",
        "The minimisers μ_v/μ^{(θ−2)/(θ−1)} of two instances are Ω(r̃_k^{θ/(θ−1)}p^{θ(k−1)/(k(θ−1))}) apart, in ‖·‖^θ.",
        "Appendix B (20)",
        where=("k>=2", "theta>=2"),
        printed="(q**(1-1/k)*r)**theta/mu**(theta*(theta-2)/(theta-1))",
        derived="(q**(1-1/k)*r)**theta/mu**(theta*(theta-2)/(theta-1))",
        steps=("‖v − v'‖ ≥ √(d/2) on the packing; μ = p^{(k−1)/k}r̃_k/2.",),
        algorithms=("P4.G",),
    ),
    Statement(
        "P0.T4",
        "Theorem 4",
        "lower",
        "printed",
        "ρ-zCDP minimax risk ≥ Ω((r̃_k(√d/(√ρ·n))^{(k−1)/k})^{θ/(θ−1)}).",
        "Section 5, Appendix B",
        assumptions=(
            "n ≥ Ω(√d/√ρ)",
            "W a ball of radius (r̃_k/2)^{1/(θ−1)}: on the published one, larger by p^{−1/(k(θ−1))}, (16) fails at x = 0",
            "p a small multiple of √d/(n√ρ); the statement has d/(n√ρ)",
            "TNC with a constant below 1/θ, not 1",
            "d at least about 40, and ρ ≲ d, in the proof",
        ),
        where=("k>=2", "theta>=2", "sqrt(d)<=n*sqrt(rho)"),
        printed=LOWER_PRIVATE,
        derived=LOWER_PRIVATE,
        follows_from=("P0.T4.separation", "P0.L5"),
        choices={"mu": "q**(1-1/k)*r", "q": "sqrt(d)/(n*sqrt(rho))"},
        steps=(
            "ρn²p² ≲ log M ≍ d gives p; at p = √d/(n√ρ) itself ρn²p² = d exceeds log M for every packing, M ≤ 2^d.",
            "ρ > d: np < 1, so that all records are zero with constant probability, and the bound holds without Fano.",
        ),
        algorithms=("P4.G",),
    ),
    Statement(
        "P0.T5.separation",
        "Equation 27",
        "lower",
        "proof",
        "The minimisers of two instances are Ω((r̃_kδ)^{θ/(θ−1)}) apart, in ‖·‖^θ; stated with KL ≤ δ².",
        "Appendix B (27)",
        where=("theta>=2",),
        printed="(h*r)**theta/mu**(theta*(theta-2)/(theta-1))",
        derived="(h*r)**theta/mu**(theta*(theta-2)/(theta-1))",
        steps=("KL = (differing signs)·δ log((1+δ)/(1−δ)), between dδ²/4 and about 2dδ² on the packing.",),
        algorithms=("P4.G",),
    ),
    Statement(
        "P0.T5",
        "Theorem 5",
        "lower",
        "printed",
        "Minimax risk ≥ Ω((r̃_k/√n)^{θ/(θ−1)}) on the ball of radius (r̃_k/2)^{1/(θ−1)}.",
        "Section 5, Appendix B",
        assumptions=("n ≥ Ω(√d) in the paper, not needed", "TNC with a constant below 1/θ, not 1"),
        where=("k>=2", "theta>=2"),
        printed=LOWER_PLAIN,
        derived=LOWER_PLAIN,
        follows_from=("P0.T5.separation", "P0.L5"),
        choices={"mu": "h*r", "h": "1/sqrt(n)"},
        steps=(
            "n·KL ≍ ndδ² against log M ≍ d: δ = c/√n.",
            "The proof has δ = √(d/n), with which n·KL ≥ d²/4 exceeds log M; with KL ≤ δ² it would prove (r̃_k√(d/n))^{θ/(θ−1)}.",
        ),
        algorithms=("P4.G",),
    ),
    Statement(
        "P0.R5",
        "Remark 5",
        "upper",
        "printed",
        "Upper bounds of Section 4 for ρ-zCDP: √log(1/δ)/ε becomes 1/√ρ.",
        "Section 5",
        where=(*ORDERS, "theta>=2"),
        printed=f"{GROWTH}*(R2k*{SIZE_RHO} + {TAIL_LOG})**({FAST})",
        derived=f"{GROWTH}*(R2k*(sqrt(log(n)/n) + (sqrt(d*log(n)**3)/(sqrt(rho)*n))**(1-1/k)) + {TAIL_LOG})**({FAST})",
        hidden="logarithms of n",
        follows_from=("P0.T11",),
        choices={"eps": "sqrt(rho*log(1/delta))"},
        steps=("Disjoint batches and Gaussian noise, with the reservation of Theorem 1.",),
        algorithms=("P0.A3", "P0.A4", "P0.A5"),
    ),
    Statement(
        "P0.R5.optimal",
        "Remark 5",
        "lower",
        "printed",
        "With Theorems 4 and 5 the zCDP upper bound is nearly optimal when R̃_{2k,n} and r̃_k agree.",
        "Section 5",
        where=("k>=2", "theta>=2"),
        printed=f"(r*{SIZE_RHO})**({FAST})",
        derived=f"{LOWER_PLAIN} + {LOWER_PRIVATE}",
        follows_from=("P0.T4", "P0.T5"),
    ),
)

_SHUFFLED: tuple[Statement, ...] = (
    Statement(
        "P0.L6",
        "Lemma 6",
        "privacy",
        "printed",
        "Shuffling (ε₀, δ₀) local randomisers of n records: ε = O((1 − e^{−ε₀})(√(e^{ε₀}log(1/δ)/n) + e^{ε₀}/n)).",
        "Appendix B",
        assumptions=("ε₀ ≤ log(n/(16 log(2/δ)))", "cited from Feldman, McMillan and Talwar", "δ grows by O(e^εδ₀n)"),
        where=("eps0<=1",),
        printed="eps0*(sqrt(log(1/delta)/n) + 1/n)",
        derived="eps0*sqrt(log(1/delta)/n)",
        steps=("ε₀ ≤ 1/2: (1 − e^{−ε₀})√e^{ε₀} ≤ ³⁄₂ε₀ and e^{ε₀} − 1 ≤ 2ε₀.",),
        algorithms=("P0.A6",),
        explicit=shuffled_epsilon_factor_upper,
    ),
    Statement(
        "P0.T6.local",
        "Theorem 6",
        "definition",
        "proof",
        "Noise of one record: σ₁ = O(C√(log(1/δ)log(e^εn/δ))/(ε√n)); the mean of a batch of n/T then has σ₁√(T/n).",
        "Appendix B",
        where=("eps<=1",),
        printed="C*sqrt(log(1/delta)*log(n/delta))/(eps*sqrt(n))",
        derived="C*sqrt(log(1/delta)*log(n/delta))/(eps*sqrt(n))",
        follows_from=("P0.L6",),
        steps=("ε₀ = 2√2·C√log(1/δ₀)/σ₁ with δ₀ of order δ/n, put into ε̂ ≲ ε₀√(log(1/δ)/n) and solved for σ₁.",),
        algorithms=("P0.A6",),
        explicit=local_noise_scale,
    ),
    Statement(
        "P0.A6.scale",
        "Algorithm 6",
        "definition",
        "printed",
        "Noise of a batch's mean: σ² = O(C²T log(1/δ)/(n²ε²)).",
        "Algorithm 6, line 6",
        printed="C*sqrt(T*log(1/delta))/(n*eps)",
        derived="C*sqrt(T*log(1/delta)*log(n/delta))/(n*eps)",
        follows_from=("P0.T6.local",),
        steps=("σ₁√(T/n); independent noises of one scale add up to one noise, so a batch may draw it at once.",),
        algorithms=("P0.A6",),
        errata=("P0.Alg6.variance",),
    ),
    Statement(
        "P0.T6.privacy",
        "Theorem 6",
        "privacy",
        "printed",
        "Algorithm 6 is (ε, δ)-DP for ε = O(√(log(n/δ)/n)), 0 < δ < 1.",
        "Section 6, Appendix B",
        assumptions=("n ≥ 16√e·log(4/δ), for Lemma 6", "the noise of P0.A6.scale as derived"),
        where=("eps<=sqrt(log(n/delta)/n)",),
        printed="sqrt(log(n/delta)/n)",
        derived="sqrt(log(1/delta)/n)",
        follows_from=("P0.L6", "P0.T6.local"),
        steps=(
            "ε₀ = O(ε√(n/log(1/δ))) has to be at most 1/2: the range is √(log(1/δ)/n), the same for δ ≤ n^{−c} only.",
            "Fewer records than Lemma 6 needs: ε₀ ≲ ε already, no amplification is wanted.",
        ),
        algorithms=("P0.A6", "P0.A7"),
        errata=("P0.Thm6.range",),
    ),
    Statement(
        "P0.L7.bias",
        "Lemma 7",
        "lemma",
        "printed",
        "‖E ν̃ − ν‖ ≤ r^{(k)}/((k−1)C^{k−1}) for a mean of clipped records.",
        "Appendix B",
        where=("k>=2",),
        printed="r**k/C**(k-1)",
        derived="r**k/C**(k-1)",
        steps=("The middle term E‖ν̂ − ν‖ of the paper is not below it: it contains the sampling error.",),
        algorithms=("P0.A1",),
        explicit=clipping_bias_upper,
    ),
    Statement(
        "P0.L7",
        "Lemma 7",
        "lemma",
        "printed",
        "E‖ν̃ − E ν̃‖² ≤ dσ² + r^{(2)}/s for the mean of s clipped records with noise N(0, σ²I).",
        "Appendix B",
        printed="d*sigma**2 + V/m",
        derived="d*sigma**2 + V/m",
        steps=("E‖Π_C(z) − E Π_C(z)‖² ≤ E‖z‖².",),
        algorithms=("P0.A6",),
        explicit=clipped_variance_upper,
    ),
    Statement(
        "P0.T6.sum",
        "Theorem 6",
        "upper",
        "proof",
        "Accelerated method with bias b and noise Σ² = dσ² + r²T/n: O(βD²/T² + D(Σ + b)/√T + bD).",
        "Appendix B",
        assumptions=("Proposition 40 of Lowy and Razaviyayn", "α₁ = 1 (Algorithm 7 has α_t = 2/(t+2))"),
        printed=AC_SA,
        derived=AC_SA,
        follows_from=("P0.L7", "P0.L7.bias"),
        algorithms=("P0.A6",),
    ),
    Statement(
        "P0.T6",
        "Theorem 6",
        "upper",
        "printed",
        "E F(w_T^{ag}) − F* ≤ O(r̃_kD(1/√n + (√(d log(1/δ))/(εn))^{(k−1)/k})).",
        "Section 6",
        assumptions=(MOMENTS, "F convex and β-smooth", "1 ≤ T ≤ n, hence βD/r̃_k ≤ n^{3/2} at the longest"),
        where=ROUNDS_AT_LEAST_ONE,
        printed=SHUFFLED,
        derived=SHUFFLED_PROVED,
        hidden="nothing: the paper has O, not Õ",
        follows_from=("P0.T6.sum",),
        choices={
            "b": "r**k/C**(k-1)",
            "sigma": "C*sqrt(T*log(1/delta)*log(n/delta))/(n*eps)",
            "C": CLIP,
            "T": ROUNDS,
        },
        steps=(
            "T makes βD²/T² the larger of both terms.",
            "With the noise that privacy needs, a factor √log(n/δ) at the second term; the box's noise gives the published rate.",
        ),
        algorithms=("P0.A6",),
        errata=("P0.Alg6.variance",),
    ),
    Statement(
        "P0.T6.box",
        "Theorem 6",
        "upper",
        "proof",
        "The same with the noise of Algorithm 6's box.",
        "Appendix B",
        where=ROUNDS_AT_LEAST_ONE,
        printed=SHUFFLED,
        derived=SHUFFLED,
        follows_from=("P0.T6.sum",),
        choices={"b": "r**k/C**(k-1)", "sigma": "C*sqrt(T*log(1/delta))/(n*eps)", "C": CLIP, "T": ROUNDS},
        algorithms=("P0.A6",),
    ),
    Statement(
        "P0.T6.T",
        "Theorem 6",
        "runtime",
        "printed",
        "T = min{√(βD/r̃_k)(εn/√(d log(1/δ)))^{(k−1)/(2k)}, √(βD/r̃_k)n^{1/4}} rounds of n/T records each.",
        "Section 6",
        where=ROUNDS_AT_LEAST_ONE,
        printed=ROUNDS,
        derived=ROUNDS,
        steps=("βD²/T² = r̃_kD max{1/√n, (√(d log(1/δ))/(εn))^{(k−1)/k}}.", "Exceeds n when βD/r̃_k > n^{3/2}."),
        algorithms=("P0.A6",),
    ),
    Statement(
        "P0.T7",
        "Theorem 7",
        "upper",
        "printed",
        "Algorithm 7: E F − F(w*) ≤ Õ(λ^{−1/(θ−1)}(r̃_k(1/√n + (√(d log(1/δ))/(εn))^{(k−1)/k}))^{θ/(θ−1)}).",
        "Section 6 (4)",
        assumptions=("F is (θ, λ)-TNC with θ ≥ θ̄ > 1 (not said in the statement)", MOMENTS, "F β-smooth"),
        where=("k>=2", "theta>1", "eps<=sqrt(log(n/delta)/n)"),
        printed=f"{GROWTH}*(r*{SIZE})**({FAST})",
        derived=f"{GROWTH}*(r*{SIZE})**({FAST})",
        hidden="logarithms",
        follows_from=("P0.T3.step", "P0.T6"),
        choices={"E": f"(r*{SIZE})**theta/lam"},
        steps=(
            "As Theorem 3, with E‖w_{i−1} − w*‖ ≤ (E Δ_{i−1}/λ)^{1/θ}; the reservation about the step size is the same.",
            "ε ≤ √(log(n/δ)/n) is enough for all subsets: log(x/δ)/x decreases.",
        ),
        algorithms=("P0.A7",),
    ),
    Statement(
        "P0.T7.privacy",
        "Theorem 7",
        "privacy",
        "printed",
        "Algorithm 7 is (ε, δ)-DP for ε = O(√(log(n/δ)/n)).",
        "Section 6",
        where=("eps<=sqrt(log(n/delta)/n)",),
        follows_from=("P0.T6.privacy",),
        steps=("Disjoint subsets, each smaller than n.",),
        algorithms=("P0.A7",),
    ),
)


def _row(
    number: int,
    side: str,
    who: str,
    rate: str,
    where: tuple[str, ...],
    derived: str | None = None,
    note: str = "",
    erratum: str = "",
) -> Statement:
    return Statement(
        f"P0.TAB1.r{number}.{side}",
        "Table 1",
        "upper" if side == "upper" else "lower",
        "printed",
        f"{who}, {side} bound.",
        f"Table 1, row {number}",
        where=where,
        printed=rate,
        derived=derived or rate,
        hidden="log(1/δ), smoothness, strong convexity, D, and logarithms under Õ",
        steps=(note,) if note else (),
        errata=(erratum,) if erratum else (),
    )


MOMENT = ("k>=2",)
GROWING = ("k>=2", "theta>1")
STEEP = ("k>=2", "theta>=2")
ROOT = "The root covers n in the text at hand, possibly an extraction loss: √ρ·n is meant."
LOWY_LOST = "(1/sqrt(n) + (sqrt(d)/sqrt(rho*n))**(1-1/k))"
_TABLE: tuple[Statement, ...] = (
    _row(1, "upper", "Bassily et al. 2019, convex", LIPSCHITZ, ()),
    _row(1, "lower", "Bassily et al. 2019, convex", LIPSCHITZ, ()),
    _row(2, "upper", "Bassily et al. 2019, strongly convex (not said)", "1/n + d/(n*eps)**2", ()),
    _row(
        2,
        "lower",
        "Bassily et al. 2019, strongly convex (not said)",
        "1/sqrt(n) + d/(n*eps)**2",
        (),
        "1/n + d/(n*eps)**2",
        "1/√n exceeds the upper bound of the same row; 1/n is meant.",
        "P0.Table1.Bassily",
    ),
    _row(
        3,
        "upper",
        "Kamath et al. 2021, convex",
        "d/sqrt(n) + d**2/(n*eps)*(eps*n/d**(3/2))**(1/k)",
        MOMENT,
        None,
        "The text at hand has d^{n/2} for d^{3/2}, possibly an extraction loss.",
    ),
    _row(3, "lower", "Kamath et al. 2021, convex, zCDP", "sqrt(d/n) + sqrt(d)*(sqrt(d)/(n*sqrt(rho)))**(1-1/k)", MOMENT),
    _row(4, "upper", "Kamath et al. 2021, strongly convex", "d/n + d*(sqrt(d)/(n*eps))**(2*(1-1/k))", MOMENT),
    _row(4, "lower", "Kamath et al. 2021, strongly convex, zCDP", "d/n + d*(sqrt(d)/(n*sqrt(rho)))**(2*(1-1/k))", MOMENT),
    _row(5, "upper", "Asi et al., Su et al., TNC", f"{LIPSCHITZ}**({FAST})", ("theta>1",)),
    _row(5, "lower", "Asi et al., Su et al., TNC", f"{LIPSCHITZ}**({FAST})", ("theta>=2",)),
    _row(6, "upper", "Lowy and Razaviyayn, large Lipschitz constant", f"R2k*{SIZE_BARE}", MOMENT),
    _row(6, "lower", "Lowy and Razaviyayn, zCDP", f"r*{LOWY_LOST}", MOMENT, f"r*{SIZE_RHO}", ROOT, "P0.Table1.Lowy"),
    _row(
        7,
        "upper",
        "Lowy and Razaviyayn, no Lipschitz constant",
        "r*(1/sqrt(n) + Max((r**(-1/4)*sqrt(d)/(eps*n))**(4*(k-1)/(5*k-1)), (sqrt(d)/(eps*n))**(1-1/k)))",
        MOMENT,
    ),
    _row(7, "lower", "Lowy and Razaviyayn, zCDP", f"r*{LOWY_LOST}", MOMENT, f"r*{SIZE_RHO}", ROOT, "P0.Table1.Lowy"),
    _row(8, "upper", "Lowy and Razaviyayn, strongly convex", "R2k**2*(1/n + (sqrt(d)/(eps*n))**(2*(1-1/k)))", MOMENT),
    _row(
        8,
        "lower",
        "Lowy and Razaviyayn, strongly convex, zCDP",
        "r**2*(1/n + (sqrt(d)/sqrt(rho*n))**(2*(1-1/k)))",
        MOMENT,
        "r**2*(1/n + (sqrt(d)/(sqrt(rho)*n))**(2*(1-1/k)))",
        ROOT,
        "P0.Table1.Lowy",
    ),
    _row(9, "upper", "Theorems 2 and 3", f"(R2k*{SIZE_BARE})**({FAST})", GROWING),
    _row(
        9,
        "lower",
        "Theorems 4 and 5, stated for (ε, δ)-DP",
        f"(r*{SIZE_BARE})**({FAST})",
        STEEP,
        f"(r*{SIZE_RHO})**({FAST})",
        "The theorems are for ρ-zCDP; the row lacks the †, and no theorem is for (ε, δ)-DP.",
        "P0.Table1.dagger",
    ),
    _row(
        10,
        "upper",
        "Theorem 7",
        f"r**({FAST})*{SIZE_BARE}**({FAST})",
        GROWING,
        None,
        "★ is explained as ε = Õ(1/n); Theorems 6 and 7 have ε = O(√(log(n/δ)/n)).",
    ),
    _row(
        10,
        "lower",
        "Theorems 4 and 5, stated for (ε, δ)-DP",
        f"(r*{SIZE_BARE})**({FAST})",
        STEEP,
        f"(r*{SIZE_RHO})**({FAST})",
        "As row 9.",
        "P0.Table1.dagger",
    ),
)

BRACKET = "The paper has the exponent (k−1)/k outside the bracket, where it catches 1/√n as well."
_FRONT: tuple[Statement, ...] = (
    Statement(
        "P0.ABS",
        "Abstract",
        "upper",
        "printed",
        "Lipschitz case, θ ≥ 2: Õ((r̃_{2k}(1/√n + √d/(nε))^{(k−1)/k})^{θ/(θ−1)}) with high probability.",
        "Abstract",
        where=STEEP,
        printed=f"(r2k*{MISPLACED})**({FAST})",
        derived=f"(r2k*{SIZE_BARE})**({FAST})",
        hidden="logarithms, λ",
        follows_from=("P0.T2", "P0.L2"),
        steps=(BRACKET, "An upper bound weaker than Theorem 2, hence true with it."),
        algorithms=("P0.A4",),
        errata=("P0.Abs.lower",),
    ),
    Statement(
        "P0.ABS.shuffled",
        "Abstract",
        "upper",
        "printed",
        "Small ε, no Lipschitz constant: Õ((r̃_k(1/√n + √d/(nε))^{(k−1)/k})^{θ/(θ−1)}).",
        "Abstract",
        where=GROWING,
        printed=f"(r*{MISPLACED})**({FAST})",
        derived=f"(r*{SIZE_BARE})**({FAST})",
        hidden="logarithms, λ",
        follows_from=("P0.T7",),
        steps=(BRACKET, "The text at hand has (k−1)/(θ−1) for (k−1)/k, an extraction loss."),
        algorithms=("P0.A7",),
        errata=("P0.Abs.lower",),
    ),
    Statement(
        "P0.ABS.lower",
        "Abstract",
        "lower",
        "printed",
        "θ ≥ 2, ρ-zCDP: Ω((r̃_k(1/√n + √d/(n√ρ))^{(k−1)/k})^{θ/(θ−1)}).",
        "Abstract",
        where=STEEP,
        printed=f"(r*(1/sqrt(n) + sqrt(d)/(sqrt(rho)*n))**(1-1/k))**({FAST})",
        derived=f"(r*{SIZE_RHO})**({FAST})",
        follows_from=("P0.T4", "P0.T5"),
        steps=(BRACKET, "A lower bound larger than Theorems 4 and 5 prove, and false for large ρ."),
        errata=("P0.Abs.lower",),
    ),
    Statement(
        "P0.INTRO.a",
        "Introduction",
        "upper",
        "printed",
        "First contribution: as the abstract's first rate.",
        "Introduction, item 1",
        where=STEEP,
        printed=f"(r2k*{MISPLACED})**({FAST})",
        derived=f"(r2k*{SIZE_BARE})**({FAST})",
        hidden="logarithms, λ",
        follows_from=("P0.T2", "P0.L2"),
        steps=(BRACKET,),
        algorithms=("P0.A4",),
        errata=("P0.Abs.lower",),
    ),
    Statement(
        "P0.INTRO.b",
        "Introduction",
        "upper",
        "printed",
        "Second contribution: the same for θ ≥ θ̄ > 1, and with r̃_k without a Lipschitz constant when ε is small.",
        "Introduction, item 2",
        where=GROWING,
        printed=f"(r*{MISPLACED})**({FAST})",
        derived=f"(r*{SIZE_BARE})**({FAST})",
        hidden="logarithms, λ",
        follows_from=("P0.T7", "P0.T3"),
        steps=(BRACKET,),
        algorithms=("P0.A5", "P0.A7"),
        errata=("P0.Abs.lower",),
    ),
    Statement(
        "P0.INTRO.c",
        "Introduction",
        "lower",
        "printed",
        "Third contribution: the abstract's lower bound.",
        "Introduction, item 3",
        where=STEEP,
        printed=f"(r*(1/sqrt(n) + sqrt(d)/(sqrt(rho)*n))**(1-1/k))**({FAST})",
        derived=f"(r*{SIZE_RHO})**({FAST})",
        follows_from=("P0.T4", "P0.T5"),
        steps=(BRACKET,),
        errata=("P0.Abs.lower",),
    ),
    Statement(
        "P0.S2.plain",
        "Section 2",
        "upper",
        "printed",
        "Best known rate without privacy: O((1/√n)^{θ/(θ−1)}), tight for θ ≥ 2 by Theorem 5.",
        "Section 2, losses with TNC",
        where=("theta>1",),
        printed=f"(1/sqrt(n))**({FAST})",
        derived=f"(1/sqrt(n))**({FAST})",
        hidden="the Lipschitz constant and λ",
    ),
)

STATEMENTS: tuple[Statement, ...] = (
    *_FRONT,
    *_TABLE,
    *_PRELIMINARIES,
    *_CONVEX,
    *_GROWTH,
    *_LOWER,
    *_SHUFFLED,
)

COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        "P0.C1",
        "Abstract; Introduction, item 3",
        "The lower bound published there is what Theorems 4 and 5 prove; it is larger (the bracket), and false.",
        f"(r*(1/sqrt(n) + sqrt(d)/(sqrt(rho)*n))**(1-1/k))**({FAST})",
        "<=",
        f"(r*{SIZE_RHO})**({FAST})",
        STEEP,
        holds=False,
        errata=("P0.Abs.lower",),
    ),
    Comparison(
        "P0.C2",
        "Abstract; Introduction, item 1",
        "Theorem 2 proves the upper bound published there.",
        f"(R2k*{SIZE_BARE})**({FAST})",
        "<=",
        f"(r2k*{MISPLACED})**({FAST})",
        (*STEEP, "R2k<=r2k"),
    ),
    Comparison(
        "P0.C3",
        "Introduction, item 2",
        "For θ ≥ θ̄ > 1 the bound is asymptotically the same as the previous one (up to the logarithm in its last term).",
        TNC_ITERATED,
        "<=",
        TNC,
        (*ORDERS, "theta>=2"),
    ),
    Comparison(
        "P0.C4",
        "Abstract; after Assumption 1",
        "Independent of the Lipschitz constant, which may be far larger than r̃_{2k}: never worse than R̃ = L_f would give.",
        f"(R2k*{SIZE_BARE})**({FAST})",
        "<=",
        f"(L*{SIZE_BARE})**({FAST})",
        (*STEEP, "R2k<=r2k", "r2k<=L"),
    ),
    Comparison(
        "P0.C5",
        "Introduction, the question",
        "Faster than the optimal rate of general convex losses (where that rate is below one; λ = D = 1).",
        f"(R2k*{SIZE_BARE})**({FAST})",
        "<=",
        f"R2k*{SIZE_BARE}",
        ("k>=2", "theta>1", "R2k<=sqrt(n)", "R2k*(sqrt(d)/(eps*n))**(1-1/k)<=1"),
    ),
    Comparison(
        "P0.C6",
        "Introduction, the question",
        "For θ < 2 faster than the optimal rate of strongly convex losses (where that rate is below one; λ = 1).",
        f"(R2k*{SIZE_BARE})**({FAST})",
        "<=",
        f"(R2k*{SIZE_BARE})**2",
        ("k>=2", "theta>1", "theta<=2", "R2k<=sqrt(n)", "R2k*(sqrt(d)/(eps*n))**(1-1/k)<=1"),
    ),
    Comparison(
        "P0.C7",
        "Table 1, row 1",
        "Upper and lower bounds of Bassily et al. for convex losses agree.",
        LIPSCHITZ,
        "==",
        "Max(1/sqrt(n), sqrt(d)/(eps*n))",
    ),
    Comparison(
        "P0.C8",
        "Table 1, row 2",
        "The lower bound of Bassily et al. for strongly convex losses is below their upper bound; as published (1/√n) it is above.",
        "1/sqrt(n) + d/(n*eps)**2",
        "<=",
        "1/n + d/(n*eps)**2",
        holds=False,
        errata=("P0.Table1.Bassily",),
    ),
    Comparison(
        "P0.C9",
        "Table 1, row 3",
        "Kamath et al., convex: the lower bound is below the upper bound.",
        "sqrt(d/n) + sqrt(d)*(sqrt(d)/(n*sqrt(rho)))**(1-1/k)",
        "<=",
        "d/sqrt(n) + d**2/(n*eps)*(eps*n/d**(3/2))**(1/k)",
        ("k>=2", "eps==sqrt(rho)"),
    ),
    Comparison(
        "P0.C10",
        "Section 2; Table 1, row 4",
        "Kamath et al. have optimal rates for strongly convex losses.",
        "d/n + d*(sqrt(d)/(n*eps))**(2*(1-1/k))",
        "==",
        "d/n + d*(sqrt(d)/(n*sqrt(rho)))**(2*(1-1/k))",
        ("k>=2", "eps==sqrt(rho)"),
    ),
    Comparison(
        "P0.C11",
        "Section 2; Remark 3",
        "At θ = 2 the result agrees with the strongly convex one of Lowy and Razaviyayn.",
        f"(R2k*{SIZE_BARE})**2",
        "==",
        "R2k**2*(1/n + (sqrt(d)/(eps*n))**(2*(1-1/k)))",
        MOMENT,
    ),
    Comparison(
        "P0.C12",
        "Remark 2",
        "For convex losses the rate is that of Lowy and Razaviyayn; the difference is the high probability.",
        f"R2k*{SIZE_BARE}",
        "==",
        "R2k*Max(1/sqrt(n), (sqrt(d)/(eps*n))**(1-1/k))",
        MOMENT,
    ),
    Comparison(
        "P0.C13",
        "Remark 3 against Table 1, row 5",
        "The optimal rate of Asi et al. for O(1)-Lipschitz losses under TNC, as Remark 3 and as Table 1 print it.",
        f"{SIZE_BARE}**({FAST})",
        "==",
        f"{LIPSCHITZ}**({FAST})",
        GROWING,
        holds=False,
        errata=("P0.Rem3.rate",),
    ),
    Comparison(
        "P0.C14",
        "Section 4, first example",
        "Polynomially large Lipschitz constant (√n or more), moments O(1): far below the rates with the Lipschitz constant.",
        f"{SIZE_BARE}**({FAST})",
        "<=",
        f"(L*{LIPSCHITZ})**({FAST})",
        (*GROWING, "L>=sqrt(n)"),
    ),
    Comparison(
        "P0.C15",
        "Section 4, second example",
        "Regularised logistic regression improves on Liu et al., whose rate without privacy is 1/n; a private one cannot.",
        f"{SIZE_BARE}**2",
        "<=",
        "1/n",
        MOMENT,
        holds=False,
        errata=("P0.Ex2.improve",),
    ),
    Comparison(
        "P0.C16",
        "Section 4, overview, against Theorem 1",
        "The rate announced before Theorem 1 is the theorem's; as published it lacks a root over d.",
        "Max(1/sqrt(n), (d/(eps*n))**(1-1/k))",
        "==",
        SIZE_BARE,
        MOMENT,
        holds=False,
        errata=("P0.Sec4.rate",),
    ),
    Comparison(
        "P0.C17",
        "Remark 5; Section 5",
        "Nearly optimal for ρ-zCDP when R̃_{2k,n} and r̃_k agree (λ = 1).",
        f"(R2k*{SIZE_RHO})**({FAST})",
        "==",
        f"{LOWER_PLAIN} + {LOWER_PRIVATE}",
        (*STEEP, "R2k==r"),
    ),
    Comparison(
        "P0.C18",
        "Section 2, losses with TNC",
        "The rate without privacy is the first term of the upper bounds.",
        f"(R2k/sqrt(n))**({FAST})",
        "<=",
        f"(R2k*{SIZE_BARE})**({FAST})",
        GROWING,
    ),
    Comparison(
        "P0.C19",
        "Section 2, losses with TNC",
        "By Theorem 5 the rate without privacy is tight for θ ≥ 2 (r̃_k for the Lipschitz constant).",
        f"(r*(1/sqrt(n)))**({FAST})",
        "==",
        LOWER_PLAIN,
        ("theta>=2",),
    ),
    Comparison(
        "P0.C20",
        "Section 6, after Theorem 6",
        "The accelerated method of Lowy and Razaviyayn is sub-optimal.",
        "r*(1/sqrt(n) + Max((r**(-1/4)*sqrt(d)/(eps*n))**(4*(k-1)/(5*k-1)), (sqrt(d)/(eps*n))**(1-1/k)))",
        "not <=",
        f"r*{SIZE_BARE}",
        MOMENT,
    ),
    Comparison(
        "P0.C21",
        "Section 6, after Theorem 6",
        "Theorem 6 is never worse than it.",
        f"r*{SIZE_BARE}",
        "<=",
        "r*(1/sqrt(n) + Max((r**(-1/4)*sqrt(d)/(eps*n))**(4*(k-1)/(5*k-1)), (sqrt(d)/(eps*n))**(1-1/k)))",
        MOMENT,
    ),
    Comparison(
        "P0.C22",
        "Section 6, after Theorem 6",
        "Theorem 6 has the optimal rate for general convex losses without Lipschitz constant.",
        f"r*{SIZE_BARE}",
        "==",
        f"r*{SIZE_RHO}",
        ("k>=2", "eps==sqrt(rho)"),
    ),
    Comparison(
        "P0.C23",
        "Section 6; after Theorem 7",
        "The dependence improves from R̃_{2k,n} to r̃_k; but only r̃_k ≤ r̃_{2k} and R̃_{2k,n} ≤ r̃_{2k} hold.",
        f"(r*{SIZE_BARE})**({FAST})",
        "<=",
        f"(R2k*{SIZE_BARE})**({FAST})",
        (*GROWING, "r<=r2k", "R2k<=r2k"),
        holds=False,
        errata=("P0.Sec6.improve",),
    ),
    Comparison(
        "P0.C24",
        "Section 6",
        "The same upper bound as in Section 4 without Lipschitz constant, r̃_k ≤ r̃_{2k} for R̃_{2k,n} ≤ r̃_{2k}.",
        f"(r*{SIZE_BARE})**({FAST})",
        "<=",
        f"(r2k*{SIZE_BARE})**({FAST})",
        (*GROWING, "r<=r2k"),
    ),
    Comparison(
        "P0.C25",
        "Table 1, the star, against Theorem 7",
        "The range of ε: Õ(1/n) in the table, √(log(n/δ)/n) in Theorems 6 and 7.",
        "sqrt(log(n/delta)/n)",
        "<=",
        "log(n/delta)**2/n",
        holds=False,
        errata=("P0.Table1.star",),
    ),
    Comparison(
        "P0.C26",
        "Theorem 6 against its proof",
        "ε = O(√(log(n/δ)/n)) keeps ε₀ ≤ 1/2, for which the proof needs √(log(1/δ)/n).",
        "sqrt(log(n/delta)/n)",
        "<=",
        "sqrt(log(1/delta)/n)",
        holds=False,
        errata=("P0.Thm6.range",),
    ),
    Comparison(
        "P0.C27",
        "Theorem 6 against its proof",
        "The noise of Algorithm 6's box is that of the proof (which has a further √log(n/δ)).",
        "C*sqrt(T*log(1/delta)*log(n/delta))/(n*eps)",
        "<=",
        "C*sqrt(T*log(1/delta))/(n*eps)",
        holds=False,
        errata=("P0.Alg6.variance",),
    ),
    Comparison(
        "P0.C28",
        "Theorem 3 against Theorem 1",
        "The privacy of Algorithm 5 for ε ≤ 2 log(1/δ) follows from Theorem 1, whose range is ε ≤ √log(1/δ).",
        "log(1/delta)",
        "<=",
        "sqrt(log(1/delta))",
        holds=False,
        errata=("P0.Thm3.range",),
    ),
    Comparison(
        "P0.C29",
        "Table 1, rows 6 and 7",
        "The lower bounds of Lowy and Razaviyayn are below their upper bounds; not with √(ρn), possibly an extraction loss.",
        f"r*{LOWY_LOST}",
        "<=",
        f"R2k*{SIZE_BARE}",
        ("k>=2", "eps==sqrt(rho)", "R2k==r"),
        holds=False,
        errata=("P0.Table1.Lowy",),
    ),
    Comparison(
        "P0.C30",
        "Proof of Theorem 10, (6), at p = 2",
        "(η_i/λ_i)L_f² is within the published η²n(L_f² + …); for p > 1 it is larger.",
        "eta**2*n**2*L**2",
        "<=",
        f"eta**2*n*(L**2 + n*r2k**2*({TAU_LOG})**(2*(1-1/k)))",
        ("k>=2", "r2k<=L"),
        holds=False,
        errata=("P0.(6)",),
    ),
)
