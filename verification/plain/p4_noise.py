"""P4's algorithms by noise: output perturbation (Algorithms 2 and 4, Theorem D.4), population localisation over it (Algorithm 1),
and ours, single output perturbation and objective perturbation.

Where the paper leaves something open, or a departure is stated beside the row: r is the exact quantile of the noise plus κC/(λn);
ρ-zCDP spends Gaussian noise, σ = Δ/√(2ρ); phases and their numbers are those of the plan.  A minimiser is known up to κC/(λn),
which is all that the statements ask of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import chi2

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.plain import Expected, Plain, PlainAlgorithm, extension, losses

# --- output perturbation ------------------------------------------------------------------------------------------------


def _start(data: FloatArray, p: dict[str, Any]) -> FloatArray:
    """w0: as given, or the middle of W."""
    if p.get("center") is not None:
        return np.asarray(p["center"], dtype=np.float64)
    return losses.middle(p["domain"], losses.dimension(p["loss"], data.shape[1]))


def _minimiser(name: str, rows: FloatArray, p: dict[str, Any], centre: FloatArray, inner: Any, within: Any) -> Expected:
    """argmin over `within` of F̂_{λ,C}, the infimum of f_C over `inner`."""
    found, error = _solved(
        p["loss"], rows.tobytes(), len(rows), inner, within, centre.tobytes(), p["weight"], p["lipschitz"]
    )
    return Expected(name, found, within=_slack(len(rows), p) * (1 + 1e-6) + error)


@lru_cache(maxsize=64)  # the first stage is the same in every run on the same records
def _solved(loss: Any, rows: bytes, n: int, inner: Any, within: Any, centre: bytes, weight: float, clip: float) -> Any:
    table, start = np.frombuffer(rows).reshape(n, -1), np.frombuffer(centre)
    return extension.minimiser(extension.Problem(loss, table, inner, within, start, weight, clip))


def _slack(n: int, p: dict[str, Any]) -> float:
    return float(p.get("kappa", 0.1) * p["lipschitz"] / (p["weight"] * n))


def _quantile(dimension: int, n: int, p: dict[str, Any], share: float, failure: float) -> float:
    """The noise is longer with probability ζ.  2ε‖z‖/Δ has a χ² law of 2d degrees of freedom, (‖z‖/σ)² one of d."""
    reach = (2 + 2 * p.get("kappa", 0.1)) * p["lipschitz"] / (p["weight"] * n)
    if p.get("epsilon") is not None:
        return float(reach / (p["epsilon"] * share) * chi2.isf(failure, 2 * dimension) / 2)
    return float(reach / math.sqrt(2 * p["rho"] * share) * math.sqrt(chi2.isf(failure, dimension)))


def _single(rows: FloatArray, p: dict[str, Any], centre: FloatArray, prefix: str) -> Plain:
    noisy = yield _minimiser(f"{prefix}point", rows, p, centre, p["domain"], p["domain"])
    return losses.project(p["domain"], noisy)


def localise(rows: FloatArray, p: dict[str, Any], centre: FloatArray, prefix: str, share: float, failure: float) -> Plain:
    """Algorithm 2: W_loc = W ∩ B(w_p, r)."""
    near = yield from _single(rows, p, centre, prefix)
    return losses.Cut(p["domain"], near, _quantile(len(near), len(rows), p, share, failure) + _slack(len(rows), p))


def _double(rows: FloatArray, p: dict[str, Any], centre: FloatArray, prefix: str) -> Plain:
    """Algorithm 4, the infimum of its second stage over W (A) or over W_loc (B)."""
    local = yield from localise(rows, p, centre, f"{prefix}localise/", 0.5, p.get("failure", 0.05))
    inner = p["domain"] if p.get("reading", "A") == "A" else local
    noisy = yield _minimiser(f"{prefix}point", rows, p, centre, inner, local)
    return losses.project(local, noisy)


def structured(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 4, reading A, by the fixed-step subgradient method of Theorem D.4."""
    centre, W = _start(data, p), p["domain"]
    noisy = yield _by_steps("localise/point", data, p, centre, W)
    near = losses.project(W, noisy)
    radius = _quantile(len(near), len(data), p, 0.5, p.get("failure", 0.05)) + _slack(len(data), p)
    local = losses.Cut(W, near, radius)
    noisy = yield _by_steps("point", data, p, centre, local)
    return losses.project(local, noisy)


def _by_steps(name: str, rows: FloatArray, p: dict[str, Any], centre: FloatArray, within: Any) -> Expected:
    """The mean of the T points of the method, if all that its subgradients may be is known well enough; or else the minimiser."""
    certain = _minimiser(name, rows, p, centre, p["domain"], within)
    alpha = _slack(len(rows), p) ** 2 * p["weight"] / 2
    problem = extension.Problem(p["loss"], rows, p["domain"], within, centre, p["weight"], p["lipschitz"])
    found = extension.mean_of_steps(problem, 0.9 * alpha)  # a tenth is for rounding (stated)
    return certain if found is None or found[1] > certain.within else Expected(name, found[0], within=found[1])


def single_output(data: FloatArray, p: dict[str, Any]) -> Plain:
    return (yield from _single(data, p, _start(data, p), ""))


def double_output(data: FloatArray, p: dict[str, Any]) -> Plain:
    return (yield from _double(data, p, _start(data, p), ""))


def localised_ball(data: FloatArray, p: dict[str, Any]) -> Plain:
    """Algorithm 2; returned are w_p and r."""
    local = yield from localise(data, p, _start(data, p), "", 1.0, p["failure"])
    return np.append(local.center, local.radius)


# --- Algorithm 1 --------------------------------------------------------------------------------------------------------


def population(data: FloatArray, p: dict[str, Any]) -> Plain:
    """J disjoint batches in every phase, each minimised around the last phase's point; then one of the J answers."""
    plan, w, used = p["plan"], _start(data, p), 0
    solver = {"single": _single, "double": _double}[plan.solver]
    for i, phase in enumerate(plan.phases, start=1):
        numbers = {"weight": phase.weight, "lipschitz": phase.lipschitz, "kappa": phase.kappa}
        answers = []
        for j in range(plan.repetitions):
            batch = data[used : used + phase.size]
            used += phase.size
            name = f"phase{i}/" if plan.repetitions == 1 else f"phase{i}/{j}/"
            answers.append((yield from solver(batch, {**p, **numbers}, w, name)))
        w = most_popular(answers, 2 * phase.radius / 3)
    return w


def most_popular(points: list[FloatArray], distance: float) -> FloatArray:
    """A point with the most others within the distance; the first of several."""
    counts = [sum(float(np.linalg.norm(a - b)) <= distance for b in points) for a in points]
    return points[counts.index(max(counts))]


# --- objective perturbation (ours) ----------------------------------------------------------------------------------------


def objective(data: FloatArray, p: dict[str, Any]) -> Plain:
    """v(b) = argmin over W of Σ h_i + ⟨b, ·⟩ + (nΛ/2)‖· − w0‖², b the noise, h_i the tempered loss of a record.

    Released is a y above it: v = Π(y), and b is what makes y's normal map vanish,
    b(y) = −(Σ ∇h_i(Πy) + nΛ(Πy − w0) + stiffness·(y − Πy)), stiffness = n(B + Λ + C/R).  Then Π(y) with the noise for rounding.
    """
    plan, n, W, w0 = p["plan"], len(data), p["domain"], _start(data, p)
    if plan.weight is None:
        return w0
    C, Lambda = plan.lipschitz, plan.weight
    B = n * Lambda * math.expm1(plan.epsilon * plan.share)
    radius = max(float(np.linalg.norm(corner - w0)) for corner in extension.farthest(W, w0))
    stiffness = n * (B + Lambda + C / radius)

    def tilt(y: FloatArray) -> FloatArray:
        v = losses.project(W, y)
        slope = tempered_gradient(p["loss"], data, v, C, B) + n * Lambda * (v - w0)
        return np.asarray(-slope - stiffness * (y - v))

    above = yield Expected("minimiser", tilt)
    noisy = yield Expected("point", losses.project(W, above))
    return losses.project(W, noisy)


def tempered_gradient(loss: Any, rows: FloatArray, w: FloatArray, clip: float, bend: float) -> FloatArray:
    """Σ ∇h_i(w): every gradient at most C long, every Hessian at most B.

    Homogeneous losses: of the record shortened to ‖x̃‖ = min(‖x‖, C), with its target; the slope rises by B/‖x̃‖² from one end of
    its range to the other.  Logistic loss: weighted with min(1, C/‖x‖, 4B/‖x‖²).  Squared loss: the record shortened to
    ‖x̃‖ ≤ √B, the slope cut at C/‖x̃‖.
    """
    name = losses.read(loss)[0]
    total = np.zeros_like(w)
    for row in rows:
        x, t = (row, 0.0) if name == "affine" else (row[:-1], float(row[-1]))
        length = math.hypot(*x)
        if length == 0:
            continue
        total += _TEMPERED[name](x, t, length, w, clip, bend)
    return total


def _ramp(low: float, high: float) -> Callable[..., FloatArray]:
    def gradient(x: FloatArray, t: float, length: float, w: FloatArray, clip: float, bend: float) -> FloatArray:
        s = min(1.0, clip / length)
        rate = bend / (s * length) ** 2
        return np.asarray(min(max((s * float(x @ w) - s * t) * rate, low), high) * s * x)

    return gradient


def _tempered_hinge(x: FloatArray, t: float, length: float, w: FloatArray, clip: float, bend: float) -> FloatArray:
    s = min(1.0, clip / length)
    rate = bend / (s * length) ** 2
    return np.asarray(min(max((s * t * float(x @ w) - s) * rate, -1.0), 0.0) * s * t * x)


def _tempered_logistic(x: FloatArray, t: float, length: float, w: FloatArray, clip: float, bend: float) -> FloatArray:
    return np.asarray(-min(1.0, clip / length, 4 * bend / length / length) * t * expit(-t * float(x @ w)) * x)


def _tempered_squared(x: FloatArray, t: float, length: float, w: FloatArray, clip: float, bend: float) -> FloatArray:
    s = min(1.0, math.sqrt(bend) / length)
    most = clip / (s * length)
    return np.asarray(min(max(s * float(x @ w) - s * t, -most), most) * s * x)


_TEMPERED: dict[str, Callable[..., FloatArray]] = {
    "affine": lambda x, t, length, w, clip, bend: min(1.0, clip / length) * x,  # noqa: ARG005
    "absolute": _ramp(-1.0, 1.0),
    "relu": _ramp(0.0, 1.0),
    "hinge": _tempered_hinge,
    "logistic": _tempered_logistic,
    "squared": _tempered_squared,
}


ALGORITHMS: dict[str, PlainAlgorithm] = {
    "P4.A1": population,
    "P4.A2": localised_ball,
    "P4.A4": double_output,
    "P4.D4": structured,
    "P4.S1": single_output,
    "P4.S2": objective,
}
