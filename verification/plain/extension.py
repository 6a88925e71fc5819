"""The Lipschitz extension of P4 §2 and its regularised minimiser a second time, each with an error that weak duality proves.

    F(w) = (1/n) Σ f_C(w, x_i) + (λ/2)‖w − w0‖²,      f_C(w, x) = min_{y ∈ W} f(y, x) + C‖w − y‖.

Let f ≥ k + ⟨p, ·⟩ on W, ‖g‖ ≤ C, and let σ_W(u) be the maximum of ⟨u, y⟩ over y ∈ W.  Then for every w

    f_C(w) ≥ ⟨g, w⟩ + min_{y ∈ W} (f(y) − ⟨g, y⟩) ≥ ⟨g, w⟩ + k − σ_W(g − p).

One such bound for every record, with the mean ḡ of their g, bounds F from below: the minimum of ⟨ḡ, w⟩ + (λ/2)‖w − w0‖² over a
convex set is at the projection of w0 − ḡ/λ.  A point whose F is that close to the bound is near the minimiser, as F is λ-strongly
convex.  Whatever the solver says of itself is not used.

Losses and sets are those of `losses`.  Minorants are tangents and, for f = φ(⟨x, ·⟩; t), p = v·x with k = −φ*(v; t).
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlog1py, xlogy

from tailproof.refimpl.validation import FloatArray
from tailproof.verification.plain import losses


@dataclass(frozen=True, eq=False)
class Problem:
    """F over `within`, the infimum in f_C being over `inner`; both are sets of `losses`."""

    loss: Any
    rows: FloatArray
    inner: Any
    within: Any
    centre: FloatArray
    weight: float
    clip: float


# --- the minimiser ----------------------------------------------------------------------------------------------------------


def minimiser(problem: Problem) -> tuple[FloatArray, float]:
    """A point of `within`, and how far at most it is from the minimiser of F.

    The conic program is solved in up to three units, as far records try a solver, and the answer with the best proof is taken.
    """
    steep = problem.clip + float(np.abs(losses.gradients(problem.loss, problem.centre, problem.rows)).max())
    best = (problem.centre, math.inf)
    for unit in dict.fromkeys((1.0, 10.0 ** round(math.log10(steep) / 2), 10.0 ** round(math.log10(steep)))):
        solved = _solved(problem, unit)
        if solved is not None:
            best = min(best, _proved(problem, *solved), key=lambda pair: pair[1])
        if best[1] <= 1e-4 * problem.clip / (problem.weight * len(problem.rows)):
            break
    return best


def _proved(p: Problem, w: FloatArray, y: FloatArray, g: FloatArray, v: FloatArray) -> tuple[FloatArray, float]:
    """The point, moved into the set, and √(2·gap/λ)."""
    point = losses.project(p.within, w)
    y = np.array([losses.project(p.inner, row) for row in y])
    g = g / np.maximum(np.linalg.norm(g, axis=1, keepdims=True) / p.clip, 1.0)
    gaps = [_gap(p.loss, p.inner, point, *record, p.clip) for record in zip(p.rows, y, g, v, strict=True)]
    mean = g.mean(axis=0)
    lowest = losses.project(p.within, p.centre - mean / p.weight)
    gap = math.fsum(gaps) / len(p.rows) + float(mean @ (point - lowest))
    gap += p.weight / 2 * float((point - lowest) @ (point + lowest - 2 * p.centre))
    return point, math.sqrt(2 * max(gap, 0.0) / p.weight)


def _gap(
    loss: Any, domain: Any, w: FloatArray, row: FloatArray, y: FloatArray, g: FloatArray, v: float, clip: float
) -> float:
    """f(y) + C‖w − y‖ less the bound of f_C(w) for this g, by minorants that touch f, or nearly so, at y.

    The f(y) cancels by algebra, not in floats: of the tangent at y, k = f(y) − ⟨p, y⟩; of others φ(m) + φ*(v) − v·m is left.  One
    part in 1e15 of all terms is added for rounding.
    """
    name, weight, _, _ = losses.read(loss)
    m, t, slopes = 0.0, 0.0, [(losses.gradients(loss, y, row[None])[0], 0.0)]
    if name in FENCHEL:
        x, t = (row, 0.0) if name == "affine" else (row[:-1], float(row[-1]))
        m, (low, high) = float(x @ y), slope_range(name, t)
        slope = min(max(float(v), low), high)
        slopes.append((slope * x + weight * y, FENCHEL[name](m, t, slope)))
    found = []
    for p, rest in slopes:
        terms = (clip * float(np.linalg.norm(w - y)), -float(g @ w), rest, float(p @ y), support(domain, g - p))
        found.append(math.fsum(terms) + 1e-15 * math.fsum(map(abs, terms)))
    return min(found)


# φ(m; t) + φ*(v; t) − v·m ≥ 0, for every slope v that φ can have.
FENCHEL: dict[str, Callable[[float, float, float], float]] = {
    "affine": lambda m, t, v: 0.0,  # noqa: ARG005
    "squared": lambda m, t, v: (m - t - v) ** 2 / 2,
    "absolute": lambda m, t, v: abs(m - t) - v * (m - t),
    "hinge": lambda m, t, v: max(0.0, 1 - t * m) + v * t * (1 - t * m),
    "relu": lambda m, t, v: max(0.0, m - t) - v * (m - t),
    "logistic": lambda m, t, v: float(np.logaddexp(0.0, -t * m) + xlogy(-v * t, -v * t) + xlog1py(1 + v * t, v * t)) - v * m,
    "l4": lambda m, t, v: (m - t) ** 4 + 3 * (abs(v) / 4) ** (4 / 3) - v * (m - t),
}


def slope_range(name: str, t: float) -> tuple[float, float]:
    """The least and the greatest slope of φ(·; t)."""
    match name:
        case "affine":
            return 1.0, 1.0
        case "absolute":
            return -1.0, 1.0
        case "relu":
            return 0.0, 1.0
        case "hinge" | "logistic":
            return min(-t, 0.0), max(-t, 0.0)
    return -math.inf, math.inf


def support(domain: Any, u: FloatArray) -> float:
    """σ_W(u); in a `Cut` the maximum is where the nearest points of c + τ·u in the rest leave the ball around c."""
    length = float(np.linalg.norm(u))
    if not isinstance(domain, losses.Cut):
        return losses.support(domain, u)

    def at(reach: float) -> FloatArray:
        return losses.project(domain.base, domain.center + reach * u / length)

    def excess(reach: float) -> float:
        return float(np.linalg.norm(at(reach) - domain.center)) - domain.radius

    far = 1e6 * domain.radius
    if length == 0 or excess(far) <= 0:
        return support(domain.base, u)
    return float(u @ at(float(brentq(excess, 0.0, far, xtol=1e-15 * domain.radius, rtol=4 * np.finfo(float).eps))))


# --- the conic program --------------------------------------------------------------------------------------------------


def _solved(p: Problem, unit: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray] | None:
    """w, the y_i, the g_i and the slopes v_i (0 without margins), by Clarabel; None if it gives up."""
    import cvxpy

    program, given, found, links = _program(
        p.loss, _shape(p.inner), _shape(p.within), len(p.rows), len(p.centre), p.weight / unit, p.clip / unit, unit
    )
    name, _, _, matrix = losses.read(p.loss)
    if name == "quadratic":
        given["pull"].value = p.rows @ matrix / unit
    elif name == "affine":
        given["features"].value = p.rows
    else:
        given["features"].value, given["targets"].value = p.rows[:, :-1], p.rows[:, -1]
    given["centre"].value = p.centre
    for which, domain in (("inner", p.inner), ("within", p.within)):
        if isinstance(domain, losses.Cut):
            given[f"{which} centre"].value, given[f"{which} radius"].value = domain.center, domain.radius
    accuracy = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    with warnings.catch_warnings(), contextlib.suppress(cvxpy.SolverError):
        warnings.simplefilter("ignore", UserWarning)  # it stops above these tolerances, as near as floats let it come
        program.solve(solver=cvxpy.CLARABEL, **accuracy)
        if found[0].value is not None and links["q"].dual_value is not None:
            n = len(p.rows)
            v = -n * unit * links["m"].dual_value if "m" in links else np.zeros(n)
            return found[0].value, found[1].value, -n * unit * links["q"].dual_value, v
    return None


def _shape(domain: Any) -> Any:
    """What of the set stays the same where a ball around a released point is new in every run."""
    return ("cut", domain.base) if isinstance(domain, losses.Cut) else domain


@lru_cache(maxsize=64)
def _program(loss: Any, inner: Any, within: Any, n: int, d: int, weight: float, clip: float, unit: float) -> Any:
    """The joint program over w and all y_i, with the records as parameters: compiled once for many data sets."""
    import cvxpy

    name, ridge, _, matrix = losses.read(loss)
    given: dict[str, Any] = {"centre": cvxpy.Parameter(d)}
    w, y, q = cvxpy.Variable(d), cvxpy.Variable((n, d)), cvxpy.Variable((n, d))
    links = {"q": q == np.ones((n, 1)) @ cvxpy.reshape(w, (1, d), order="C") - y}
    if name == "quadratic":
        values, vectors = np.linalg.eigh(matrix / unit)
        given["pull"] = cvxpy.Parameter((n, d))
        root = np.sqrt(np.maximum(values, 0.0)) * vectors
        total = cvxpy.sum_squares(y @ root) / 2 - cvxpy.sum(cvxpy.multiply(given["pull"], y))
    else:
        given["features"], m = cvxpy.Parameter((n, d)), cvxpy.Variable(n)
        if name != "affine":
            given["targets"] = cvxpy.Parameter(n)
        links["m"] = m == cvxpy.sum(cvxpy.multiply(given["features"], y), axis=1)
        total = cvxpy.sum(_convex(name, m, given.get("targets"))) / unit
    total = total + ridge / unit / 2 * cvxpy.sum_squares(y) + clip * cvxpy.sum(cvxpy.norm(q, 2, axis=1))
    objective = total / n + weight / 2 * cvxpy.sum_squares(w - given["centre"])
    conditions = [*links.values()]
    for which, domain, places in (("inner", inner, y), ("within", within, cvxpy.reshape(w, (1, d), order="C"))):
        base = domain
        if isinstance(domain, tuple):
            base = domain[1]
            given[f"{which} centre"], given[f"{which} radius"] = cvxpy.Parameter(d), cvxpy.Parameter(nonneg=True)
            away = places - np.ones((places.shape[0], 1)) @ cvxpy.reshape(given[f"{which} centre"], (1, d), order="C")
            conditions.append(cvxpy.norm(away, 2, axis=1) <= given[f"{which} radius"])
        for i in range(places.shape[0]):
            conditions += losses.cvxpy_conditions(base, places[i])
    return cvxpy.Problem(cvxpy.Minimize(objective), conditions), given, (w, y), links


def _convex(name: str, m: Any, t: Any) -> Any:
    """φ(m; t), entry by entry; of labels t = ±1 only their products with m occur."""
    import cvxpy

    match name:
        case "affine":
            return m
        case "squared":
            return cvxpy.square(m - t) / 2
        case "absolute":
            return cvxpy.abs(m - t)
        case "hinge":
            return cvxpy.pos(1 - cvxpy.multiply(t, m))
        case "relu":
            return cvxpy.pos(m - t)
        case "logistic":
            return cvxpy.logistic(-cvxpy.multiply(t, m))
        case "l4":
            return cvxpy.power(m - t, 4)
    raise NotImplementedError(f"no conic form of {name} here")


# --- values ---------------------------------------------------------------------------------------------------------------


def values(loss: Any, domain: Any, rows: FloatArray, points: FloatArray, clip: float) -> tuple[FloatArray, float]:
    """The mean of f_C(w, x_i) at every row w of `points`, and how far the worst of them is from the truth at most.

    For losses of a linear model, by the condition of optimality: y is P_W(w − τ·s·x), s the sign of φ' at w, and v = s·C·τ/‖w − y‖
    is a slope of φ at y.  Along τ the one grows and the other falls: τ is found by bisection.
    """
    name, weight, _, _ = losses.read(loss)
    if name not in FENCHEL or weight:
        raise NotImplementedError(f"values of the extension of {loss!r}")
    x, t = (rows, np.zeros(len(rows))) if name == "affine" else (rows[:, :-1], rows[:, -1])
    n, places = len(rows), np.repeat(points, len(rows), axis=0)
    x, t = np.tile(x, (len(points), 1)), np.tile(t, len(points))
    y, g, v = _nearest_trade(name, domain, places, x, t, clip)
    found = losses.value(name, np.einsum("ij,ij->i", x, y), t) + clip * np.linalg.norm(places - y, axis=1)
    tables = np.tile(rows, (len(points), 1))
    gaps = [_gap(loss, domain, *record, clip) for record in zip(places, tables, y, g, v, strict=True)]
    return found.reshape(-1, n).mean(axis=1), float(np.reshape(gaps, (-1, n)).mean(axis=1).max(initial=0.0))


def _nearest_trade(
    name: str, domain: Any, w: FloatArray, x: FloatArray, t: FloatArray, clip: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Row by row y, the subgradient |v|·(w − y)/τ, no longer than C, and v."""
    start = losses.slope(name, np.einsum("ij,ij->i", x, w), t)
    sign = np.sign(start)

    def at(tau: FloatArray) -> FloatArray:
        return np.array([losses.project(domain, row) for row in w - (tau * sign)[:, None] * x])

    def size(y: FloatArray) -> FloatArray:
        """|φ'|, negative where its sign is not that at w."""
        return np.asarray(sign * losses.slope(name, np.einsum("ij,ij->i", x, y), t))

    diameter, steep = losses.diameter(domain, w.shape[1]), np.maximum(np.linalg.norm(x, axis=1), 1e-300)
    most = 2 * diameter * np.abs(start) / clip
    low, high = np.zeros(len(w)), most
    for _ in range(80):
        tau = (low + high) / 2
        y = at(tau)
        on = clip * tau < size(y) * np.linalg.norm(w - y, axis=1)  # C·τ/‖w − y‖ is still below the slope
        low, high = np.where(on, tau, low), np.where(on, high, tau)
    y = at(low)
    length = np.linalg.norm(w - y, axis=1)
    stays = length <= 1e-8 * diameter  # y is w: then the direction is that in which it would set out
    tau = np.where(stays, 1e-8 * diameter / steep, low)
    v = np.where(stays, np.abs(start), np.divide(clip * low, length, out=np.zeros_like(low), where=length > 0))
    g = np.divide(v, tau, out=np.zeros_like(v), where=tau > 0)[:, None] * (w - at(tau))
    return y, g / np.maximum(np.linalg.norm(g, axis=1, keepdims=True) / clip, 1.0), sign * v


# --- the subgradient method of Theorem D.4 ----------------------------------------------------------------------------------

SOLVED = 1e-9
"""What a conic program's answer lacks, relative to the record and to C: two orders above what is seen."""
REACH = 1e-2
"""How far around a point a subgradient must stay the same."""


def mean_of_steps(p: Problem, accuracy: float) -> tuple[FloatArray, float] | None:
    """The mean of T projected subgradient steps of F over W from w0, and how far at most another's mean may be from it.

    T = ⌈(RM/(0.9(α − ν)))²⌉ steps of length R/(M√T), R the diameter, M = C + λ·max ‖w − w0‖, α the accuracy, ν a tenth of it.
    A ν'-subgradient g at w has ⟨g, e⟩ ≤ ⟨g', e⟩ + ν'/δ for the subgradients g' at w + δe, and so it is known, axis by axis, where
    these are nearly the same on both sides.  None for a part of W, where projections are inexact.
    """
    size = len(p.centre)
    part = p.within if isinstance(p.within, losses.Cut) else None
    if part and max(np.linalg.norm(c - part.center) for c in farthest(p.inner, part.center)) > part.radius:
        return None
    most = max(float(np.linalg.norm(c - p.centre)) for c in farthest(p.inner, p.centre))
    R, M = losses.diameter(p.inner, size), p.clip + p.weight * most
    T = math.ceil((R * M / (0.9 * 0.9 * accuracy)) ** 2)
    step = R / (M * math.sqrt(T))
    bias = SOLVED * (p.clip * R + float(np.abs(p.rows).max()))
    point, off, points, offs = p.centre, 0.0, [], []
    for _ in range(T):
        points.append(point)
        offs.append(off)
        slope = _mean_slope(p, point)
        sides = [_mean_slope(p, point + side * (REACH + off) * e)[j] for j, e in enumerate(np.eye(size)) for side in (-1, 1)]
        spread = np.abs(np.reshape(sides, (size, 2)) - slope[:, None]).max(axis=1) + bias / REACH
        off += step * (float(np.linalg.norm(spread)) + p.weight * off)
        point = losses.project(p.inner, point - step * (slope + p.weight * (point - p.centre)))
    return np.mean(points, axis=0), float(np.mean(offs))


def _mean_slope(p: Problem, w: FloatArray) -> FloatArray:
    name = losses.read(p.loss)[0]
    x, t = (p.rows, np.zeros(len(p.rows))) if name == "affine" else (p.rows[:, :-1], p.rows[:, -1])
    return np.asarray(_nearest_trade(name, p.inner, np.tile(w, (len(x), 1)), x, t, p.clip)[1].mean(axis=0))


def farthest(domain: Any, point: FloatArray) -> list[FloatArray]:
    """Points of a ball or a box among which is the one farthest from the point: beyond its middle, or a corner."""
    size = len(point)
    middle, far = losses.middle(domain, size), 1e9 * losses.diameter(domain, size)
    away = middle - point
    length = float(np.linalg.norm(away))
    ways = [away / length if length else np.eye(size)[0], *(2.0 * np.array(i) - 1 for i in np.ndindex(*[2] * size))]
    return [losses.project(domain, middle + far * way) for way in ways]
