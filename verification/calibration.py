"""Recorded noise scales, sensitivities and spends against the published formulas, written out here a second time from the papers.

Nothing is taken from the implementations: each function below states, for one algorithm, the law's kind, scale, sensitivity and
spend that the paper prints, in its letters.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import chi2, norm

from tailproof.refimpl.channel import L1, L2, UNCLAIMED, Bound, Free, LInf, Release, Sensitivity, Smooth, Unclaimed
from tailproof.refimpl.claims import ZCDP, ApproxDP, Claim, PureDP, claim_to_json
from tailproof.refimpl.laws import LLN, Gaussian, Gibbs, L2Laplace, Laplace, NoisyArgmax, PerturbedMinimiser, Point, Softmax
from tailproof.refimpl.losses import Quadratic
from tailproof.refimpl.pure_dp.grid_walk import GridWalk
from tailproof.refimpl.validation import FloatArray
from tailproof.verification.pair_checks import Measurement
from tailproof.verification.subject import Subject

RELATIVE = 1e-9


@dataclass(frozen=True)
class Published:
    law: type[Any]
    scale: FloatArray | float
    sensitivity: Sensitivity
    spend: Claim | Unclaimed


def _p0_a1(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P0 Algorithm 1: a mean of vectors of length C moves by 2C/n."""
    return Published(Point, 1.0, L2(2 * p["clip"] / len(data)), UNCLAIMED)


def _p0_a2(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P0 Algorithm 2: 2C/(λn), what its proof claims of the point."""
    return Published(Point, 1.0, L2(2 * p["clip"] / (p["weight"] * len(data))), UNCLAIMED)


def _p2_a2(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P2 Algorithm 2, line 4: W ~ N(0, 2R²/(ρn²))."""
    R, rho, n = p["clip"], p["rho"], len(data)
    return Published(Gaussian, (2 * R**2 / (rho * n**2)) ** 0.5, L2(2 * R / n), ZCDP(rho))


def _p2_a3(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P2 (23), (24): W_j ~ N(0, 2R²/(ρm²)); without amplification ρ is the one whose conversion is (ε, δ)."""
    eps, delta, k = p["epsilon"], p["delta"], p["groups"]
    if p.get("amplification") == "none":
        rho = (math.sqrt(math.log(1 / delta) + eps) - math.sqrt(math.log(1 / delta))) ** 2
    else:
        rho = eps**2 * k / (64 * math.e**4) / (math.log(8 / delta) * (1 + 2 * math.sqrt(math.log(12 * k / delta))) ** 2)
    m = len(data) // k
    return Published(Gaussian, (2 * p["clip"] ** 2 / (rho * m**2)) ** 0.5, L2(2 * p["clip"] / m), ZCDP(rho))


def _p3_a1(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P3 Algorithm 1: ν ~ N(0, 8B²log(1.25/δ)/(n²ε²)) with B of line 1."""
    eps, delta, n = p["epsilon"], p["delta"], len(data)
    B = (p["moment_bound"] * n * eps / (math.log(1 / p["failure"]) * math.sqrt(math.log(1.25 / delta)))) ** (
        1 / p["moment_order"]
    )
    scale = math.sqrt(8 * B**2 / (n**2 * eps**2) * math.log(1.25 / delta))
    return Published(Gaussian, scale, L2(2 * B / n), ApproxDP(eps, delta))


def _p3_a3(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P3 Algorithm 3: ν ~ N(0, 8τ²m²d ln(1.25/δ)/(ε²n²)), m/n read as one over the smallest group."""
    eps, delta, (n, d) = p["epsilon"], p["delta"], data.shape
    m = math.ceil(4 * math.log(2 * d / p["failure"]))
    variance = 8 * p["truncation"] ** 2 * d * math.log(1.25 / delta) / (eps**2 * (n // m) ** 2)
    return Published(Gaussian, math.sqrt(variance), L2(2 * p["truncation"] * math.sqrt(d) / (n // m)), ApproxDP(eps, delta))


def _p3_a4(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """P3 Algorithm 4: Lap(4λ√(2s log(1/δ))/ε) with λ = 2B/n; a noisy maximum costs 2λ/scale, a value λ/scale."""
    lam = 2 * p["truncation"] / len(data)
    scale = 4 * lam * math.sqrt(2 * p["sparsity"] * math.log(1 / p["delta"])) / p["epsilon"]
    if release.name.startswith("index"):
        return Published(NoisyArgmax, scale, LInf(lam), PureDP(2 * lam / scale))
    return Published(Laplace, scale, L1(lam), PureDP(lam / scale))


def _step(release: Release) -> int:
    """t of a release's name, "step{t}/…"."""
    return int(release.name.split("/")[0].removeprefix("step"))


def _batch(release: Release, n: int, T: int) -> int:
    """|X_t| of the t-th of T disjoint batches of n records."""
    return n * _step(release) // T - n * (_step(release) - 1) // T


def _p2_a1(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """P2 Theorem 3: Algorithm 2 with ρ/T in each step, ρ of (15); P2 (32): Algorithm 3 with ε/(2√(2T ln(2/δ))), δ/(2T)."""
    eps, delta, T = p["epsilon"], p["delta"], p["steps"]
    if p.get("estimator") == "updating":
        share = {"epsilon": eps / (2 * math.sqrt(2 * T * math.log(2 / delta))), "delta": delta / (2 * T)}
        return _p2_a3(release, data, {**p, **share})
    rho = eps**2 / (1 + 2 * math.sqrt(math.log(1 / delta))) ** 2
    scale = (2 * p["clip"] ** 2 * T / (rho * len(data) ** 2)) ** 0.5
    return Published(Gaussian, scale, L2(2 * p["clip"] / len(data)), ZCDP(rho / T))


def _p3_a2(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """P3 Algorithm 2, lines 3, 5 and 6: DPHDME with (ε', δ') on all records, or with (ε, δ) on n/T of them (all, if X is read)."""
    eps, delta, n, T = p["epsilon"], p["delta"], len(data), p["steps"]
    if p.get("convexity") != "strong":
        eps, delta = eps / (2 * math.sqrt(2 * T * math.log(2 / delta))), delta / (2 * T)
    elif p.get("reading") != "printed":
        n = _batch(release, n, T)
    return _p3_a3(release, data[:n], {**p, "epsilon": eps, "delta": delta})


def _p3_a5(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """P3 Algorithm 5, line 10: Peeling with λ = 2Bη₀/m."""
    lam = 2 * p["truncation"] * p["learning_rate"] / _batch(release, len(data), p["steps"])
    scale = 4 * lam * math.sqrt(2 * p["sparsity"] * math.log(1 / p["delta"])) / p["epsilon"]
    if release.name.split("/")[1].startswith("index"):
        return Published(NoisyArgmax, scale, LInf(lam), PureDP(2 * lam / scale))
    return Published(Laplace, scale, L1(lam), PureDP(lam / scale))


def _p3_a6(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """P3 Algorithm 6: its estimator's, on X_t."""
    if p.get("batching") == "disjoint":
        data = data[: _batch(release, len(data), p["steps"])]
    of = {"simple_clipping_mean": _p2_a2, "truncated_median_of_means": _p3_a3}[p["estimator"].function.__name__]
    return of(release, data, p["estimator"].parameters)


def reference_smooth_sensitivity(x: FloatArray, *, a: float, b: float, m: int, t: float, clamp: str) -> float:
    """The formulas as they stand: every k, every l.  (The estimator's own routine finds the same maximum in O(m log m).)"""
    n = len(x)
    ordered = np.sort(np.clip(x, a, b) if clamp == "data" else x)

    def order_statistic(i: int) -> float:
        return a if i <= 0 else b if i > n else float(ordered[i - 1])

    def inner(k: int) -> float:
        return max(order_statistic(n - m + 1 + k - i) - order_statistic(m + 1 - i) for i in range(k + 2)) / (n - 2 * m)

    if clamp == "data":
        return max(math.exp(-k * t) * inner(k) for k in range(n + 1))
    return max(math.exp(-m * t) * (b - a), *(math.exp(-k * t) * min(b - a, inner(k)) for k in range(m)))


def _p1_a3(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """Scale S/s per coordinate, each ½ε̃²/(dT)-zCDP; σ the real root of 5(ε/t)σ³ − 5σ² − 1, s = e^{−1.5σ²}(ε − t/σ)."""
    tilde, rounds = _p1_budget(p), p.get("iterations", 1)
    d, t = data.shape[1], p["smoothness"]
    eps = tilde / math.sqrt(d * rounds)
    sigma = max(root.real for root in np.roots([5 * eps / t, -5, 0, -1]) if abs(root.imag) < 1e-9)
    s = math.exp(-1.5 * sigma**2) * (eps - t / sigma)
    keys = {"a": p["lower"], "b": p["upper"], "m": p["trim"], "t": t, "clamp": p.get("clamp", "output")}
    S = np.array([reference_smooth_sensitivity(column, **keys) for column in data.T])
    return Published(LLN, S / s, Smooth(S, t), ZCDP(tilde**2 / 2 / rounds))


def _p1_a4(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """σ = Δ√(dT)/ε̃ per coordinate, Δ = 4√2 s/(3n), s = √(nv/(2log(1/δ')))."""
    (n, d), tilde, rounds = data.shape, _p1_budget(p), p.get("iterations", 1)
    s = math.sqrt(n * p["second_moment"] / (2 * math.log(1 / p["failure"])))
    Delta = 4 * math.sqrt(2) * s / (3 * n)
    return Published(Gaussian, Delta * math.sqrt(d * rounds) / tilde, LInf(Delta), ZCDP(tilde**2 / 2 / rounds))


def _p1_a1(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """Nissim–Raskhodnikova–Smith: S/α, α = ε/(5√(2ln(2/δ))), β = ε/(4(d + ln(2/δ))); tuned, what the bound of the loss allows."""
    assert isinstance(release.sensitivity, Smooth)
    eps, delta, m, d = p["epsilon"], p["delta"], p["blocks"], np.size(release.output)
    if p.get("noise", "published") == "published":
        alpha, beta = eps / (5 * math.sqrt(2 * math.log(2 / delta))), eps / (4 * (d + math.log(2 / delta)))
    else:
        alpha, beta = _p1_a1_tuned(d, eps, delta)
    S = float(release.sensitivity.bound)  # but where the minimisers are known: on a line, the blocks' means, clamped to W
    if d == 1 and isinstance(p["loss"], Quadratic) and p["domain"].startswith("box:"):
        low, high = _interval(p["domain"])
        size = len(data) // m
        points = [min(max(float(data[size * i : size * (i + 1), 0].mean()), low), high) for i in range(m)]
        S = reference_aggregate_sensitivity(points, beta=beta, width=high - low, any_centre=p.get("centres") == "any")
    return Published(Gaussian, S / alpha, Smooth(np.array(S), beta, norm=2), ApproxDP(eps, delta))


def _p1_a1_tuned(d: int, eps: float, delta: float) -> tuple[float, float]:
    """By bisection: the largest β with max{dβ, (e^{2β} − 1)q/2 − dβ} ≤ ε/2, then the largest α with e^β αz + α²/2 ≤ ε/2."""
    z, q = float(norm.isf(delta / 2)), float(chi2.isf(delta / 2, d))
    beta = _bisected(lambda b: max(d * b, (math.exp(2 * b) - 1) * q / 2 - d * b) <= eps / 2) * (1 - 1e-9)
    return _bisected(lambda a: math.exp(beta) * a * z + a * a / 2 <= eps / 2) * (1 - 1e-9), beta


def _bisected(holds: Callable[[float], bool]) -> float:
    """The largest number below 1000 for which it holds."""
    low, high = 0.0, 1000.0
    for _ in range(200):
        low, high = (
            ((low + high) / 2, high) if (low + high) / 2 < 300 and holds((low + high) / 2) else (low, (low + high) / 2)
        )
    return low


def reference_aggregate_sensitivity(points: list[float], *, beta: float, width: float, any_centre: bool) -> float:
    """The formulas as they stand, on a line: every interval, or every R_j(t)."""
    m = len(points)
    t0 = (m + 1) // 2 + 1

    def radius(t: int, j: int) -> float:
        if t > m or j > m:
            return width / 2 if any_centre else width
        if any_centre:
            return min(max(subset) - min(subset) for subset in itertools.combinations(points, t)) / 2
        return sorted(sorted(abs(x - y) for y in points)[t - 1] for x in points)[j - 1]

    return 2 * max(math.exp(-beta * k) * radius(t0 + k + 1, k + 2) for k in range(m))


def _p1_a3_descent(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """As of the mean, with d·T releases or, on batches, d; S of the first step's gradients, later as recorded."""
    assert isinstance(release.sensitivity, Smooth)
    first, rounds = _first_gradients(release, data, p)
    d = np.size(release.output)
    tilde, t = _p1_budget(p), p["smoothness"]
    eps = tilde / math.sqrt(d * rounds)
    sigma = max(root.real for root in np.roots([5 * eps / t, -5, 0, -1]) if abs(root.imag) < 1e-9)
    s = math.exp(-1.5 * sigma**2) * (eps - t / sigma)
    S = np.asarray(release.sensitivity.bound)
    if first is not None:
        keys = {"a": p["lower"], "b": p["upper"], "m": p["trim"], "t": t, "clamp": p.get("clamp", "output")}
        S = np.array([reference_smooth_sensitivity(column, **keys) for column in first.T])
    return Published(LLN, S / s, Smooth(S, t), ZCDP(tilde**2 / 2 / rounds))


def _p1_a4_descent(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """σ = Δ√(dT)/ε̃, Δ = 4√2 s/(3n), s = √(nv/(2log(1/δ'))) or as given; on batches of ⌊n/T⌋ records T is 1 and n their number."""
    _, rounds = _first_gradients(release, data, p)
    n = len(data) * rounds // p["steps"]
    s = p.get("scale") or math.sqrt(n * p["second_moment"] / (2 * math.log(1 / p["failure"])))
    tilde, d, Delta = _p1_budget(p), np.size(release.output), 4 * math.sqrt(2) * s / (3 * n)
    return Published(Gaussian, Delta * math.sqrt(d * rounds) / tilde, LInf(Delta), ZCDP(tilde**2 / 2 / rounds))


def _first_gradients(release: Release, data: FloatArray, p: dict[str, Any]) -> tuple[FloatArray | None, int]:
    """(the gradients at 0 where this is the first step, how many steps a record is in)."""
    rounds, size = (1, len(data) // p["steps"]) if p.get("sampling") == "disjoint" else (p["steps"], len(data))
    if not release.name.startswith("step1/"):
        return None, rounds
    rows = data[:size]
    if isinstance(p["loss"], Quadratic):
        return -rows @ p["loss"].matrix, rounds
    target = np.where(rows[:, -1:] < 0, -0.5, 0.5) if "logistic" in p["loss"] else rows[:, -1:]  # a half: the slope at 0
    return -rows[:, :-1] * target, rounds


def _p1_budget(p: dict[str, Any]) -> float:
    """ε̃ = √(2log(1/δ)+2ε) − √(2log(1/δ))."""
    log_term = 2 * math.log(1 / p["delta"])
    return math.sqrt(log_term + 2 * p["epsilon"]) - math.sqrt(log_term)


def _output_perturbation(n: int, C: float, lam: float, kappa: float, releases: int, p: dict[str, Any]) -> Published:
    """P4 §2.3: Δ = (2+2κ)C/(λn) and density ∝ exp(−ε‖z‖/Δ), or σ² = Δ²/(2ρ); every release spends its share of ε or ρ."""
    Delta = (2 + 2 * kappa) * C / (lam * n)
    if "rho" in p:
        rho = p["rho"] / releases
        return Published(Gaussian, math.sqrt(Delta**2 / (2 * rho)), L2(Delta), ZCDP(rho))
    eps = p["epsilon"] / releases
    return Published(L2Laplace, Delta / eps, L2(Delta), PureDP(eps))


def _p4_once(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P4 Algorithm 2, line 2, and our single output perturbation."""
    return _output_perturbation(len(data), p["lipschitz"], p["weight"], p["kappa"], 1, p)


def _p4_twice(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P4 Algorithm 4: ε/2 for Algorithm 2, ε/2 for the second stage."""
    return _output_perturbation(len(data), p["lipschitz"], p["weight"], p["kappa"], 2, p)


def _p4_a1(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P4 Algorithm 1: every batch has m records of its own and the whole budget; λ, C and κ are those of its phase."""
    plan = p["plan"]
    phase = plan.phases[int(release.name.split("/")[0].removeprefix("phase")) - 1]
    releases = {"single": 1, "double": 2}[plan.solver]
    return _output_perturbation(phase.size, phase.lipschitz, phase.weight, phase.kappa, releases, p)


def _p4_s2(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """Ours: a tilt with density ∝ exp(−ε₁‖b‖/(2C)), which spends ε₁ + ln(1 + B/(nΛ)); then noise ∝ exp(−ε₃‖z‖/(2r)).  With u the
    spacing of floats at 1, r = 4(d + 8)u·((B + Λ + C/R)·far + C + (200 + 4d)·(2C/ε₁)/n + ΛR)/Λ; R is how far W reaches from its
    middle, far how far from the origin."""
    plan, n, C, lam = p["plan"], len(data), p["plan"].lipschitz, p["plan"].weight
    eps3, tau = plan.reserve * p["epsilon"], plan.share * p["epsilon"]
    eps1, B = p["epsilon"] - eps3 - tau, n * lam * math.expm1(tau)
    if release.name == "minimiser":
        return Published(PerturbedMinimiser, 2 * C / eps1, L2(2 * C), PureDP(eps1 + math.log1p(B / (n * lam))))
    d = data.shape[1] - 1
    low, high = _interval(p["domain"])
    root = math.sqrt(d) if p["domain"].startswith("box") else 1.0
    R, far = (high - low) / 2 * root, max(-low, high) * root
    tilt = (200 + 4 * d) * 2 * C / eps1 / n
    r = 4 * (d + 8) * math.ulp(1.0) * ((B + lam + C / R) * far + C + tilt + lam * R) / lam
    return Published(L2Laplace, 2 * r / eps3, L2(2 * r), PureDP(eps3))


def _interval(domain: str) -> tuple[float, float]:
    """The ends of "box:a,b", or −r and r of "ball:r"."""
    kind, numbers = domain.split(":")
    if kind == "ball":
        return -float(numbers), float(numbers)
    low, high = numbers.split(",")
    return float(low), float(high)


def _p0_budget(p: dict[str, Any], Delta: float) -> Published:
    """P0 Definition 3: N(0, 16Δ²log(1/δ)/ε²); Remark 5: ρ-zCDP, by Δ²/(2ρ)."""
    if "rho" in p:
        return Published(Gaussian, math.sqrt(Delta**2 / (2 * p["rho"])), L2(Delta), ZCDP(p["rho"]))
    eps, delta = p["epsilon"], p["delta"]
    return Published(Gaussian, math.sqrt(16 * Delta**2 * math.log(1 / delta) / eps**2), L2(Delta), ApproxDP(eps, delta))


def _p0_a3(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """P0 Algorithm 3: σ_i = 8C_i√log(1/δ)/(n_iλ_iε), n_i = ⌊n/2^i⌋, λ_i = 1/(η_i n_i^p), λ_1 = 1/(η_1 n_1^{2p}); here p = 1."""
    i = int(release.name.split("/")[0].removeprefix("phase"))
    phase = p["phases"][i - 1]
    n_i = len(data) // 2**i
    lam = 1 / (phase.step * n_i ** (2 if i == 1 else 1))
    return _p0_budget(p, 2 * phase.clip / (n_i * lam))


def _p0_stages(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P0 Algorithms 4 and 5: Algorithm 3's σ_i = 8C_i√log(1/δ)/(n_iλ_iε) in every stage."""
    stage, phase = release.name.split("/")[:2]
    chosen = p["stages"][int(stage.removeprefix("stage")) - 1].phases[int(phase.removeprefix("phase")) - 1]
    return _p0_budget(p, 2 * chosen.clip / (chosen.size * chosen.weight))


def _p0_a7(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """P0 Algorithm 7: Algorithm 6 on n_t records."""
    part = p["parts"][int(release.name.split("/")[0].removeprefix("part")) - 1]
    return _p0_a6(release, data[: part.size], {**p, "clip": part.clip, "steps": part.steps})


def _p0_r3(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """As P0.A3, for the sensitivity (2 + 2κ)C/(nλ) of a point with a certified gap."""
    phase = p["phases"][int(release.name.split("/")[0].removeprefix("phase")) - 1]
    return _p0_budget(p, (2 + 2 * p.get("kappa", 0.1)) * phase.clip / (phase.size * phase.weight))


def _p0_a6(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P0 Algorithm 6: σ² = 128C²T·log(1/δ)/(n²ε²); its proof: σ₁² = 8C²log(1/δ₀)/ε₀² per record, ε₀ and δ₀ by shuffling n
    records.  Batches have m = ⌊n/T⌋ records: T/n is read as 1/m.
    """
    n, C, m = len(data), p["clip"], len(data) // p["steps"]
    if p["noise"] == "central":
        return _p0_budget(p, 2 * C / m)
    eps, delta = p["epsilon"], p["delta"]
    if p["noise"] == "batch":
        variance, Delta = 128 * C**2 * math.log(1 / delta) / (n * m * eps**2), 2 * C / m
        return Published(Gaussian, math.sqrt(variance), L2(Delta), ZCDP(Delta**2 / (2 * variance)))
    low, high = 0.0, 0.5
    for _ in range(200):  # e^ε − 1 = (e^ε₀ − 1)/(e^ε₀ + 1)·(8√(e^ε₀ log(4/δ̂)/n) + 8e^ε₀/n), δ̂ = δ/2
        e0 = (low + high) / 2
        amplified = (math.exp(e0) - 1) / (math.exp(e0) + 1)
        amplified *= 8 * math.sqrt(math.exp(e0) * math.log(8 / delta) / n) + 8 * math.exp(e0) / n
        low, high = (e0, high) if amplified < math.exp(eps) - 1 else (low, e0)
    d0 = delta / 2 / ((math.exp(eps) + 1) * (1 + math.exp(-low) / 2) * n)
    variance = 8 * C**2 * math.log(1 / d0) / low**2
    return Published(Gaussian, math.sqrt(variance), L2(2 * C), ZCDP((2 * C) ** 2 / (2 * variance)))


def _p0_b(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """The recorded scale, corrected by what a second accountant makes of it."""
    scale = np.asarray(release.law.scale)  # type: ignore[attr-defined]
    z = float(scale) / (2 * p["clip"] / p["batch"])
    off = _second_accountant(z, p["batch"] / len(data), p["steps"], p["delta"]) / p["epsilon"]
    return Published(Gaussian, scale * off, L2(2 * p["clip"] / p["batch"]), ZCDP(1 / (2 * z**2)))


@lru_cache(maxsize=8)
def _second_accountant(z: float, gamma: float, T: int, delta: float) -> float:
    """ε by the theorems that `tailproof.refimpl.approx_dp.accountant` cites, orders up to 64, as exact sums in 80 digits."""
    import mpmath  # type: ignore[import-untyped]

    with mpmath.workdps(80):
        s2 = 1 / mpmath.mpf(z) ** 2
        tower = [mpmath.exp(i * (i - 1) * s2 / 2) for i in range(66)]  # E_q(p/q)^i
        B = {m: mpmath.fsum((-1) ** i * math.comb(m, i) * tower[m - i] for i in range(m + 1)) for m in range(0, 66, 2)}
        powers = [gamma**j * min(4 * mpmath.sqrt(B[j // 2 * 2] * B[-(-j // 2) * 2]), 2 * tower[j]) for j in range(65)]
        powers[2] = gamma**2 * min(4 * (mpmath.exp(s2) - 1), 2 * mpmath.exp(s2))
        found = []
        for alpha in range(2, 65):
            total = 1 + mpmath.fsum(math.comb(alpha, j) * powers[j] for j in range(2, alpha + 1))
            divergence = min(alpha * s2 / 2, mpmath.log(total) / (alpha - 1))
            found.append(T * divergence + mpmath.log(1 - mpmath.mpf(1) / alpha) - mpmath.log(delta * alpha) / (alpha - 1))
        return float(min(found))


def _p4_a5(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """P4 Algorithm 5: probabilities ∝ exp(ε·q/(2·(2C/n)))."""
    Delta = 2 * p["lipschitz"] / len(data)
    return Published(Softmax, 2 * Delta / p["epsilon"], LInf(Delta), PureDP(p["epsilon"]))


def _p4_s3(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:  # noqa: ARG001
    """Ours: probabilities ∝ exp(ε·q/2), q a count of records."""
    return Published(Softmax, 2 / p["epsilon"], LInf(1.0), PureDP(p["epsilon"]))


def _p4_a7(release: Release, data: FloatArray, p: dict[str, Any]) -> Published:
    """P4 Algorithm 7 with ε₁ and ε₂ = ε − ε₁ for its stages: first Algorithm 2, then probabilities ∝ exp(−γF̂).

    The paper has γ = ε₂/(2·(2C/n)·diam(W_loc)); ours is ε₂/((2C/n)·2·min(r, R)), r the radius of localisation and R that of W, from
    whose centre no point is farther, with 1e-6 added to 1/n for errors of evaluation.
    The walk's γ is that of what is left of ε₂: 2 % are for its distance from the target.
    """
    n, C, lam, kappa = len(data), p["lipschitz"], p["weight"], p.get("kappa", 0.1)
    eps1 = p.get("share", 0.5) * p["epsilon"]
    eps2 = p["epsilon"] - eps1
    scale = (2 + 2 * kappa) * C / (lam * n * eps1)
    if release.name.startswith("localise"):
        return Published(L2Laplace, scale, L2(scale * eps1), PureDP(eps1))
    d = data.shape[1] - (p["loss"] != "affine")
    radius = float(chi2.isf(p.get("failure", 0.05), 2 * d)) / 2 * scale + kappa * C / (lam * n)
    reach = min(radius, float(p["domain"].split(":")[1].split(",")[-1]))
    kind, left = {"rejection": (Gibbs, 1.0), "grid": (Softmax, 1.0), "walk": (GridWalk, 0.98)}[p.get("sampler", "rejection")]
    Delta = 2 * C * reach * (1 / n + 1e-6)
    return Published(kind, 2 * Delta / (eps2 * left), LInf(Delta), PureDP(eps2))


PUBLISHED: dict[str, Callable[[Release, FloatArray, dict[str, Any]], Published]] = {
    "P0.A1": _p0_a1,
    "P0.A2": _p0_a2,
    "P0.A3": _p0_a3,
    "P0.A4": _p0_stages,
    "P0.A5": _p0_stages,
    "P0.A6": _p0_a6,
    "P0.A7": _p0_a7,
    "P0.B": _p0_b,
    "P0.R3": _p0_r3,
    "P1.A1": _p1_a1,
    "P1.A3": _p1_a3_descent,
    "P1.A3.mean": _p1_a3,
    "P1.A4": _p1_a4_descent,
    "P1.A4.mean": _p1_a4,
    "P2.A1": _p2_a1,
    "P2.A2": _p2_a2,
    "P2.A3": _p2_a3,
    "P3.A1": _p3_a1,
    "P3.A2": _p3_a2,
    "P3.A3": _p3_a3,
    "P3.A4": _p3_a4,
    "P3.A5": _p3_a5,
    "P3.A6": _p3_a6,
    "P4.A1": _p4_a1,
    "P4.A2": _p4_once,
    "P4.A4": _p4_twice,
    "P4.A5": _p4_a5,
    "P4.A7": _p4_a7,
    "P4.S1": _p4_once,
    "P4.S2": _p4_s2,
    "P4.S3": _p4_s3,
    "P4.D4": _p4_twice,
}


def check_calibration(subject: Subject, data: FloatArray, seed: int) -> Measurement:
    """The largest relative difference between what was recorded and what the paper prints."""
    _, transcript = subject.run(data, seed)
    worst = Measurement(0.0, RELATIVE, "recorded scales, sensitivities and spends are those of the published formulas")
    if not transcript.spending:
        return Measurement(math.inf, RELATIVE, "nothing was released")
    for release in transcript.spending:
        published = PUBLISHED[subject.algorithm](release, data, subject.setting.parameters)
        worst = max(worst, *_differences(release, published), key=lambda m: m.ratio)
    return worst


def _differences(release: Release, published: Published) -> list[Measurement]:
    if not isinstance(release.law, published.law):
        return [_wrong(f"{release.name}: {type(release.law).__name__}, published {published.law.__name__}")]
    recorded = np.asarray(release.law.scale)
    found = [
        Measurement(
            _off(recorded, published.scale), RELATIVE, f"{release.name}: scale {recorded}, published {published.scale}"
        ),
        _sensitivity_difference(release, published.sensitivity),
    ]
    said = f"{release.name}: spend {release.spend}, published {published.spend}"
    if type(release.spend) is not type(published.spend) or isinstance(release.spend, Free):
        return [*found, _wrong(said)]
    if isinstance(release.spend, Unclaimed) or isinstance(published.spend, Unclaimed):
        return found
    ours, theirs = claim_to_json(release.spend), claim_to_json(published.spend)
    numbers = [key for key, value in theirs.items() if isinstance(value, float)]
    off = float(np.max([abs(ours[key] - theirs[key]) / theirs[key] for key in numbers]))
    return [*found, Measurement(off, RELATIVE, said)]


def _sensitivity_difference(release: Release, published: Sensitivity) -> Measurement:
    """Too large a declared sensitivity breaks nothing, and is not the published one."""
    declared = release.sensitivity
    said = f"{release.name}: sensitivity {declared}, published {published}"
    match declared, published:
        case Bound(norm=norm, value=value), Bound(norm=wanted_norm, value=wanted) if norm == wanted_norm:
            return Measurement(_off(value, wanted), RELATIVE, said)
        case Smooth(bound=bound, rate=rate, norm=norm), Smooth(bound=wanted, rate=wanted_rate, norm=wanted_norm) if (
            norm == wanted_norm
        ):
            return Measurement(max(_off(bound, wanted), _off(rate, wanted_rate)), RELATIVE, said)
    return _wrong(said)


def _off(recorded: FloatArray | float, published: FloatArray | float) -> float:
    return float(np.max(np.abs(np.asarray(recorded) - published) / published))


def _wrong(said: str) -> Measurement:
    return Measurement(math.inf, RELATIVE, said)
