"""Where a printed statement, step or display is wrong, each with a discrepancy that can be recomputed.

Every entry rests on a gap: a small function that returns the measured quantity and what the print allows for it, so
that the entry stands exactly when measured > allowed.  `evidence` holds the gap's arguments and both numbers;
`recheck` computes the gap anew.  Where one lost symbol would explain the discrepancy, `found` says that it is possibly
an extraction loss, because the texts at hand were extracted by machine.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bounds import explicit
from refimpl.claims import gaussian_delta

Kind = Literal["privacy", "rate", "constant", "typo"]
Gap = tuple[float, float]  # measured, allowed

LOST = "Possibly an extraction loss."
ROUNDING = 1e-9  # what is allowed where the print claims equality


@dataclass(frozen=True)
class Erratum:
    """One discrepancy.  `privacy`: a privacy claim fails; `typo` also covers steps of proofs whose conclusion stands."""

    id: str
    paper: str
    place: str
    kind: Kind
    printed: str
    found: str
    evidence: dict[str, Any]
    recheck: Callable[[], bool]


def _stands(gap: Gap) -> bool:
    measured, allowed = gap
    return measured > allowed + ROUNDING * abs(allowed)


def _erratum(
    id: str, place: str, kind: Kind, printed: str, found: str, gap: Callable[..., Gap], **arguments: Any
) -> Erratum:
    measured, allowed = gap(**arguments)
    evidence = arguments | {"measured": measured, "allowed": allowed}
    return Erratum(id, id.split(".")[0], place, kind, printed, found, evidence, lambda: _stands(gap(**arguments)))


# Gaps: each returns (measured, allowed by the print).


def _gaussian_gap(scale: Callable[..., float]) -> Callable[..., Gap]:
    """The exact δ(ε) of Gaussian noise of the printed scale against the δ it is printed for."""

    def gap(*, epsilon: float, delta: float) -> Gap:
        return gaussian_delta(1 / scale(sensitivity=1.0, epsilon=epsilon, delta=delta), epsilon), delta

    return gap


def _peeling_gap(*, epsilon: float, delta: float) -> Gap:
    """One coordinate and s = 1, where peeling is a single Laplace release."""
    scale = explicit.peeling_scale(sensitivity=1.0, sparsity=1, epsilon=epsilon, delta=delta)
    return explicit.laplace_delta(sensitivity=1.0, scale=scale, epsilon=epsilon), delta


def _union_gap(*, failures: list[float], claimed_failure: float) -> Gap:
    return sum(failures), claimed_failure


def _last_iterate_gap(*, squared_contraction: float) -> Gap:
    """Lemma 8's error in units of r₀ when only the iterate after the last one compared is known to be within 4r₀."""
    return 4 / math.sqrt(squared_contraction) + 2, 6.0


def _direction_gap(*, points: list[float], centre: float) -> Gap:
    """How far program (27)'s best direction on the line is from the printed (c − μ)/‖c − μ‖, all points at μ."""
    best = max((1.0, -1.0), key=lambda u: min((point - centre) * u for point in points))
    return abs(best - math.copysign(1.0, centre - points[0])), 0.0


def _randomiser_gap(*, size: int, rho: float, clip: float) -> Gap:
    """The ρ of a noisy group mean between two inputs that differ in every record, against the ρ of one record."""
    scale = math.sqrt(2 / rho) * clip / size
    return (2 * clip / scale) ** 2 / 2, rho


def _aggregate_gap(*, d: int, radius: float, epsilon: float) -> Gap:
    """√(dr)/ε against the √(d·r²)/ε it is set equal to, both sides' order in r."""
    return abs(math.sqrt(d * radius) / epsilon / (math.sqrt(d) * radius / epsilon) - 1), 0.0


def _tilde_epsilon_gap(*, epsilon: float, delta: float) -> Gap:
    """The ε that ½ε̃²-zCDP gives by P1 Lemma 3, with ε̃ as printed, against the target ε."""
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


def _descent_gap(*, slope: float, smoothness: float, step: float) -> Gap:
    """One step from w = 1 on F(w) = slope·w over [0, 1] with the exact gradient: F(ŵ) − F(w*) against (11)."""
    bound = explicit.excess_risk_upper(diameter=1.0, step=step, steps=1, bias=0.0, smoothness=smoothness, second_moment=0.0)
    return slope, bound


def _conversion_gap(*, rho: float, delta: float) -> Gap:
    """The printed ε = ρ + 2√ln(1/δ) against the lemma's ρ + 2√(ρ ln(1/δ))."""
    return rho + 2 * math.sqrt(math.log(1 / delta)), rho + 2 * math.sqrt(rho * math.log(1 / delta))


def _clip_step_gap(*, constant: float, clip: float) -> Gap:
    """X constant: E⟨u, Y − μ⟩² against E⟨u, X − μ⟩² = 0."""
    return (min(constant, clip) - constant) ** 2, 0.0


def _chernoff_range_gap(*, n: int, clip: float, moment: float, t: float) -> Gap:
    """(50): the infimum over the printed range 0 ≤ λ ≤ 1/(2R) against the printed result."""
    rate = min(2 * n * t / (3 * moment**2), 1 / (2 * clip))
    infimum = math.exp(-rate * t + 3 * rate**2 * moment**2 / (4 * n))
    small = t <= 3 * moment**2 / (4 * clip)
    return infimum, math.exp(-n * t**2 / (3 * moment**2) if small else -n * t / (4 * clip))


def _shuffle_term_gap(*, epsilon0: float, groups: int) -> Gap:
    """The second term of (75) against the cited theorem's."""
    return 8 * math.exp(epsilon0) / math.sqrt(groups), 8 * math.exp(epsilon0) / groups


def _rho_gap(*, delta: float, groups: int) -> Gap:
    """(77): its middle expression, printed as less than 1."""
    return math.log(8 / delta) * (1 + 2 * math.sqrt(math.log(12 * groups / delta))) ** 2, 1.0


def _equality_gap(*, left: float, right: float) -> Gap:
    return abs(left - right), 0.0


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
    """(115) with its left side as printed, without 1/n."""
    values = np.array(functions)
    right = explicit.contracted_upper(average=_signed_average(values, n))
    return n * _signed_average(np.abs(values), n), right


def _density_gap(*, scale: float, reach: float) -> Gap:
    """The mass that exp(−x/λ)/(2λ) puts on [−reach, reach] alone; a density has at most 1."""
    return math.sinh(reach / scale), 1.0


def _tail_integral_gap(*, constant: float, clip: float) -> Gap:
    """X constant above B: E[X·1{|X| > B}] against ∫_B^∞ P(|X| > t)dt, printed as equal."""
    return abs(constant - (constant - clip)), 0.0


def _two_sided_gap(*, n: int, xi: float) -> Gap:
    """(5) for records ±1 with probability ½, B = u = 1 (any v): the chance of an error beyond the bound, against ξ."""
    bound = explicit.truncated_sampling_error_upper(n=n, v=1.0, moment=1.0, clip=1.0, xi=xi)
    return sum(math.comb(n, k) for k in range(n + 1) if abs(2 * k / n - 1) > bound) / 2**n, xi


def _proof_of_p3_theorem_1(*, n: int, v: float, epsilon: float, delta: float, xi: float) -> dict[str, float]:
    """The quantities of (6)-(9) at u = 1: B, the rate T, and L = log(1/ξ)."""
    clip = explicit.truncation_level(n=n, v=v, moment=1.0, epsilon=epsilon, delta=delta, xi=xi)
    rate = explicit.truncated_mean_error_upper(n=n, v=v, moment=1.0, epsilon=epsilon, delta=delta, xi=xi) / 9
    return {"clip": clip, "rate": rate, "log": math.log(1 / xi), "root": math.sqrt(math.log(1.25 / delta))}


def _sampling_step_gap(**setting: Any) -> Gap:
    """(7): B log(1/ξ)/(3n) against a third of the rate."""
    proof = _proof_of_p3_theorem_1(**setting)
    return proof["clip"] * proof["log"] / (3 * setting["n"]), proof["rate"] / 3


def _bias_step_gap(**setting: Any) -> Gap:
    """(8): u/B^v against the printed value with log(2/ξ)."""
    proof, v = _proof_of_p3_theorem_1(**setting), setting["v"]
    doubled = math.log(2 / setting["xi"]) / proof["log"]
    return abs(proof["clip"] ** -v / (proof["rate"] * doubled ** (v / (1 + v))) - 1), 0.0


def _noise_step_gap(**setting: Any) -> Gap:
    """(9): its left side against the printed middle, exponent 1/(1+v)."""
    proof, v, n, epsilon = _proof_of_p3_theorem_1(**setting), setting["v"], setting["n"], setting["epsilon"]
    left = proof["clip"] * proof["root"] * math.sqrt(proof["log"]) / (n * epsilon)
    middle = (proof["root"] / (n * epsilon)) ** (1 / (1 + v)) * proof["log"] ** ((v - 1) / (2 * (1 + v)))
    return abs(left / middle - 1), 0.0


def _vanishing_rate_gap(*, n: int, v: float, epsilon: float, delta: float, xi: float) -> Gap:
    """The noise's standard deviation alone, against 100 times the printed rate with √log(1/δ)."""
    clip = explicit.truncation_level(n=n, v=v, moment=1.0, epsilon=epsilon, delta=delta, xi=xi)
    rate = (math.log(1 / xi) * math.sqrt(math.log(1 / delta)) / (n * epsilon)) ** (v / (1 + v))
    return math.sqrt(8 * math.log(1.25 / delta)) * clip / (n * epsilon), 100 * rate


def _group_mean_gap(*, constant: float, groups: int, size: int) -> Gap:
    """Line 7 on constant data: (m/n)Σ over all n records against the constant."""
    n = groups * size
    return abs(groups / n * (n * constant) - constant), 0.0


def _median_event_gap(*, groups: int) -> Gap:
    """(15) on constant data: the printed event is certain, its printed probability at most e^{−m/4}."""
    return 1.0, math.exp(-groups / 4)


def _laplace_max_gap(*, d: int, xi: float) -> Gap:
    threshold = explicit.laplace_max_upper(d=d, scale=1.0, xi=xi)
    return 1 - (1 - math.exp(-threshold)) ** d, xi


def errata() -> tuple[Erratum, ...]:
    """All of them, by paper and place."""
    small_delta = {"n": 1000, "v": 0.5, "epsilon": 0.5, "delta": 1e-5, "xi": 0.05}
    return (
        _erratum(
            "P0.Def3",
            "Definition 3",
            "privacy",
            "N(0, 16Δ²log(1/δ)/ε²) is (ε, δ)-private for 0 < ε, δ ≤ 1",
            "The noise vanishes as δ → 1 faster than 1 − δ allows: false at ε = 1, δ = 0.999.  No failure on a fine grid of "
            "δ ≤ 0.99.",
            _gaussian_gap(explicit.p0_gaussian_scale),
            epsilon=1.0,
            delta=0.999,
        ),
        _erratum(
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
        _erratum(
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
        _erratum(
            "P1.Thm5.budget",
            "proof of Theorem 5",
            "typo",
            "ε̃ = √(2 log(1/δ)) + 2ε − √(2 log(1/δ))",
            "The first root must cover 2ε as well; as printed ε̃ = 2ε, and ½ε̃²-zCDP is then far from (ε, δ).  The Taylor "
            f"expansion that follows uses the right form.  {LOST}",
            _tilde_epsilon_gap,
            epsilon=1.0,
            delta=1e-5,
        ),
        _erratum(
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
        _erratum(
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
        _erratum(
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
        ),
        _erratum(
            "P1.Lem7.budget",
            "Lemma 7 (14), and (15)-(17)",
            "rate",
            "‖g − E∇ℓ‖ ≤ O(βd√(vT log(Δn/δ'))/(√n·√ε̃))",
            "Noise for ½ε̃²/(dT)-zCDP per scalar is of order 1/ε̃, not 1/√ε̃: the print is too small without bound as "
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
        _erratum(
            "P2.Thm3.conversion",
            "proof of Theorem 3",
            "typo",
            "ρ-CDP implies (ρ + 2√ln(1/δ), δ)-DP",
            f"Lemma 1(4) gives ρ + 2√(ρ ln(1/δ)), as (16) then uses.  {LOST}",
            _conversion_gap,
            rho=0.01,
            delta=1e-5,
        ),
        _erratum(
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
        _erratum(
            "P2.(47)",
            "Appendix B (47)",
            "typo",
            "E⟨u, Y − μ⟩² ≤ E⟨u, X − μ⟩²",
            "False when μ lies outside the clipping ball.  The ends stand: Var⟨u, Y⟩ ≤ E⟨u, Y⟩² ≤ E⟨u, X⟩² ≤ M².",
            _clip_step_gap,
            constant=2.0,
            clip=1.0,
        ),
        _erratum(
            "P2.(50)",
            "Appendix B (50)",
            "typo",
            "the infimum is over 0 ≤ λ ≤ 1/(2R)",
            "By (49) the range is 0 ≤ λ ≤ n/(2R); over the printed one the infimum exceeds the printed result.",
            _chernoff_range_gap,
            n=100,
            clip=1.0,
            moment=1.0,
            t=0.5,
        ),
        _erratum(
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
        _erratum(
            "P2.(77)",
            "Appendix E (77)",
            "typo",
            "… < ln(8/δ)(1 + 2√ln(12k/δ))² < 1",
            f"The middle expression always exceeds 2; its reciprocal is meant, and ρ < 1 stands.  {LOST}",
            _rho_gap,
            delta=0.99,
            groups=1,
        ),
        _erratum(
            "P2.(79)",
            "Appendix E (79)",
            "typo",
            "½δ + (e + 1)(1 + ½)kδ₀ = ½δ + 6kδ₀",
            "(e + 1)·3/2 = 5.577…; an inequality, and the conclusion stands.",
            _equality_gap,
            left=(math.e + 1) * 1.5,
            right=6.0,
        ),
        _erratum(
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
        _erratum(
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
        _erratum(
            "P2.Lem7.direction",
            "after (27)",
            "typo",
            "g estimates the direction from c to μ_Y, i.e. (c − μ_Y)/‖c − μ_Y‖",
            "The direction from c to μ_Y is (μ_Y − c)/‖μ_Y − c‖, which is what (29) uses.",
            _direction_gap,
            points=[1.0, 1.0],
            centre=0.0,
        ),
        _erratum(
            "P2.Lem8.proof",
            "Appendix G, proof of Lemma 8",
            "constant",
            "some l in {1, …, t_c + 1} has ‖c_l − μ_Y‖ ≤ 4r₀, hence ‖c_{l*} − μ_Y‖ ≤ 6r₀ by (102)",
            "Line 9 compares d₁, …, d_{t_c} only, so the printed contraction 233/256 gives 6.19r₀.  The lemma stands: the squared "
            "distance really contracts by 217/256, since ⟨μ_Y − c, g⟩ ≥ d − r₀ gives D² − 7d²/16 + dr₀/2, worst at d = D − r₀.",
            _last_iterate_gap,
            squared_contraction=233 / 256,
        ),
        _erratum(
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
        _erratum(
            "P2.(88)",
            "Appendix F (88)",
            "constant",
            "P(V − E V > t) ≤ 2e^{−2kt²}, and at t = √(ln(1/β)/(2k)) this is at most β",
            "As printed it is 2β.  The one-sided bounded difference inequality has no factor 2, and then β is right.",
            _difference_gap,
            beta=0.1,
            groups=10,
        ),
        _erratum(
            "P2.Lem12.(114)",
            "Lemma 12 (114)",
            "typo",
            "E sup (1/n)Σσᵢf(Uᵢ) ≤ 2E sup (1/n)Σf(Uᵢ) when E f = 0",
            "False for classes that are not symmetric; holds with absolute values inside both suprema, which is how (81)(d) "
            f"uses it.  {LOST}",
            _desymmetrise_gap,
            functions=(1 - 5 * np.eye(5)).tolist(),
        ),
        _erratum(
            "P2.Lem13",
            "Lemma 13 (115)",
            "typo",
            "E sup Σσᵢ|f(Uᵢ)| ≤ E sup (1/n)Σσᵢf(Uᵢ)",
            f"1/n is missing on the left; with it the contraction principle applies.  {LOST}",
            _contraction_gap,
            functions=[[0.0], [1.0]],
            n=2,
        ),
        _erratum(
            "P3.Lem2",
            "Lemma 2",
            "typo",
            "Lap(λ)(x) = exp(−x/λ)/(2λ)",
            f"Not a density; |x| is meant.  {LOST}",
            _density_gap,
            scale=1.0,
            reach=2.0,
        ),
        _erratum(
            "P3.Lem3",
            "Lemma 3",
            "privacy",
            "N(0, 2Δ²log(1.25/δ)/ε²) is (ε, δ)-private (no range for ε)",
            "False for large ε.  No failure on a fine grid of 0 < ε, δ ≤ 1, the range of the theorems that use it.",
            _gaussian_gap(explicit.p3_gaussian_scale),
            epsilon=10.0,
            delta=0.01,
        ),
        _erratum(
            "P3.Lem22",
            "Algorithm 4 and Lemma 22",
            "privacy",
            "peeling with Laplace scale 4λ√(2s log(1/δ))/ε is (ε, δ)-private for 0 < ε, δ < 1",
            "The noise vanishes as δ → 1: false already for d = s = 1 at δ = 0.99999.",
            _peeling_gap,
            epsilon=0.9,
            delta=0.99999,
        ),
        _erratum(
            "P3.Lem10.step",
            "proof of Lemma 10",
            "typo",
            "∫_B^∞ P(|X| > t)dt = E[X·1{|X| > B}]",
            "The integral lacks B·P(|X| > B).  The lemma stands: |X| ≤ |X|^{1+v}/B^v where |X| > B.",
            _tail_integral_gap,
            constant=2.0,
            clip=1.0,
        ),
        _erratum(
            "P3.Lem26",
            "Lemma 26",
            "constant",
            "P(‖w‖²_∞ ≥ 4λ²log²(1/ξ)log²d) ≤ ξ for any ξ > 0",
            "False for d = 1, where the threshold is 0, and for every d at ξ near 1.  P(‖w‖_∞ ≥ λ log(d/ξ)) ≤ ξ holds.",
            _laplace_max_gap,
            d=3,
            xi=0.5,
        ),
        _erratum(
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
        _erratum(
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
        _erratum(
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
        _erratum(
            "P3.Thm1.(8)",
            "proof of Theorem 1 (8)",
            "typo",
            "u/B^v = u^{1/(1+v)}(√log(1.25/δ) log(2/ξ)/(nε))^{v/(1+v)}",
            "B has log(1/ξ), hence so has u/B^v.",
            _bias_step_gap,
            **small_delta,
        ),
        _erratum(
            "P3.Thm1.(9)",
            "proof of Theorem 1 (9)",
            "typo",
            "… = 4√2u^{1/(1+v)}(√log(1.25/δ)/(nε))^{1/(1+v)}(log(1/ξ))^{(v−1)/(2(1+v))}",
            f"The exponent is v/(1+v).  The last step also needs log(1/ξ) ≥ 1, which 3ξ < 1 gives.  {LOST}",
            _noise_step_gap,
            **small_delta,
        ),
        _erratum(
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
        _erratum(
            "P3.Thm3.(15)",
            "proof of Theorem 3 (15)",
            "typo",
            "P(|…| ≤ (80u)^{1/(1+v)}(m/n)^{v/(1+v)}) ≤ e^{−m/4}",
            "The inner inequality points the wrong way; (16) uses the right one.",
            _median_event_gap,
            groups=9,
        ),
    )
