"""Losses and sets as the settings name them, as plain formulas: values, gradients, projections.

A loss is a text ("squared", "ridge:0.1:logistic", "record-quadratic") or an object that is known by its attributes (`matrix` for
½(w − x)ᵀA(w − x); `loss` and `weight` for a ridge) or by its name.  A set is a text ("ball:1", "box:-1,1", "l1:2"), an object
with `center` and `radius`, or `lower` and `upper`, or a `Cut` of these.  No method of these objects is called.

Records: [features | target], the last column a real target t or a label y = ±1; "affine" and quadratics have no target; a record of
"record-quadratic" is d curvatures and then d centres.  At a kink the gradient is the subgradient of least norm, here always 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from tailproof.refimpl.validation import FloatArray

# f(w, record) = φ(m; t) with m = ⟨x, w⟩.  Labels stand in t: hinge and logistic loss are functions of t·m.
_VALUES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "affine": lambda m, t: m,  # noqa: ARG005
    "squared": lambda m, t: (m - t) ** 2 / 2,
    "absolute": lambda m, t: np.abs(m - t),
    "hinge": lambda m, t: np.maximum(0.0, 1 - t * m),
    "relu": lambda m, t: np.maximum(0.0, m - t),
    "logistic": lambda m, t: np.logaddexp(0.0, -t * m),
    "l4": lambda m, t: (m - t) ** 4,
}
# φ'(m; t), by hand.
_SLOPES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "affine": lambda m, t: np.ones_like(m),  # noqa: ARG005
    "squared": lambda m, t: m - t,
    "absolute": lambda m, t: np.sign(m - t),
    "hinge": lambda m, t: np.where(t * m < 1, -t, 0.0),
    "relu": lambda m, t: np.where(m > t, 1.0, 0.0),
    "logistic": lambda m, t: -t * expit(-t * m),
    "l4": lambda m, t: 4 * (m - t) ** 3,
}

CURVATURES = {"affine": 0.0, "squared": 1.0, "logistic": 0.25}
"""sup φ'' of the smooth ones."""


def read(loss: Any) -> tuple[str, float, float, Any]:
    """(name, weight, power, matrix): the loss called `name` plus (weight/power)‖w‖^power."""
    if isinstance(loss, str):
        words = loss.split(":")
        if words[0] == "ridge":
            return words[2], float(words[1]), 2.0, None
        if words[0] == "power":
            return words[3], float(words[2]), float(words[1]), None
        return loss, 0.0, 2.0, None
    if hasattr(loss, "matrix"):
        return "quadratic", 0.0, 2.0, np.asarray(loss.matrix)
    if hasattr(loss, "weight"):  # a penalty around another loss
        name, _, _, matrix = read(loss.loss)
        return name, float(loss.weight), float(getattr(loss, "power", 2.0)), matrix
    name = type(loss).__name__.lower()
    return ("record-quadratic" if name == "recordquadratic" else name), 0.0, 2.0, None


def dimension(loss: Any, columns: int) -> int:
    """The number of entries of w for data of that many columns."""
    name, *_ = read(loss)
    if name in ("affine", "quadratic"):
        return columns
    return columns // 2 if name == "record-quadratic" else columns - 1


def values(loss: Any, w: FloatArray, data: FloatArray) -> FloatArray:
    """f(w, record) for every record."""
    name, weight, power, matrix = read(loss)
    penalty = weight / power * float(np.linalg.norm(w)) ** power if weight else 0.0
    if name == "quadratic":
        away = w - data
        return np.asarray(np.einsum("ni,ij,nj->n", away, matrix, away) / 2 + penalty)
    if name == "record-quadratic":
        half = data.shape[1] // 2
        return np.asarray((data[:, :half] * (w - data[:, half:]) ** 2).sum(axis=1) / 2 + penalty)
    features, targets = _split(name, data)
    return np.asarray(_VALUES[name](features @ w, targets) + penalty)


def gradients(loss: Any, w: FloatArray, data: FloatArray) -> FloatArray:
    """∇f(w, record) for every record, of shape (n, d)."""
    return np.asarray(unpenalised_gradients(loss, w, data) + pull(loss, w))


def unpenalised_gradients(loss: Any, w: FloatArray, data: FloatArray) -> FloatArray:
    """The same without the penalty, which all records share."""
    name, _, _, matrix = read(loss)
    if name == "quadratic":
        return np.asarray((w - data) @ matrix.T)
    if name == "record-quadratic":
        half = data.shape[1] // 2
        return np.asarray(data[:, :half] * (w - data[:, half:]))
    features, targets = _split(name, data)
    return np.asarray(_SLOPES[name](features @ w, targets)[:, None] * features)


def value(name: str, margins: FloatArray, targets: FloatArray) -> FloatArray:
    """φ(m; t), entry by entry."""
    return _VALUES[name](margins, targets)


def slope(name: str, margins: FloatArray, targets: FloatArray) -> FloatArray:
    """φ'(m; t), entry by entry."""
    return _SLOPES[name](margins, targets)


def pull(loss: Any, w: FloatArray) -> FloatArray:
    """The gradient of the penalty, weight·‖w‖^(power − 2)·w."""
    _, weight, power, _ = read(loss)
    if not weight or not w.any():
        return np.zeros_like(w)
    return np.asarray(weight * (w if power == 2 else float(np.linalg.norm(w)) ** (power - 2) * w))


def roughness(loss: Any, data: FloatArray) -> FloatArray:
    """The least α for which f(·, record) is α-smooth on the whole space, for every record."""
    name, weight, power, matrix = read(loss)
    if power != 2:
        raise NotImplementedError("a penalty that is not a square is as rough as its set is large")
    if name == "quadratic":
        return np.full(len(data), np.linalg.eigvalsh(matrix)[-1] + weight)
    if name == "record-quadratic":
        return np.asarray(data[:, : data.shape[1] // 2].max(axis=1) + weight)
    curvature = CURVATURES[name]
    features, _ = _split(name, data)
    return np.asarray(curvature * (features**2).sum(axis=1) + weight)


def _split(name: str, data: FloatArray) -> tuple[FloatArray, FloatArray]:
    return (data, np.zeros(len(data))) if name == "affine" else (data[:, :-1], data[:, -1])


# --- sets -------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cut:
    """W ∩ {w : ‖w − center‖₂ ≤ radius}, for a centre in W; W may be such a set itself."""

    base: Any
    center: FloatArray
    radius: float


def project(domain: Any, point: FloatArray) -> FloatArray:
    """The nearest point of the set."""
    if isinstance(domain, Cut):
        return project_on_both(domain.base, domain.center, domain.radius, point)
    kind, (first, second) = _set(domain, len(point))
    if kind == "box":
        return np.asarray(np.minimum(np.maximum(point, first), second))
    return project_on_ball(point, first, second) if kind == "ball" else _project_on_cross(point, first, second)


def project_on_ball(point: FloatArray, centre: FloatArray, radius: float) -> FloatArray:
    """The nearest point of {w : ‖w − centre‖₂ ≤ radius}."""
    away = point - centre
    size = math.sqrt(float(away @ away))
    return point if size <= radius else np.asarray(centre + away * (radius / size))


def project_on_both(domain: Any, centre: FloatArray, radius: float, point: FloatArray) -> FloatArray:
    """The nearest point of W ∩ {w : ‖w − centre‖₂ ≤ radius}, for a centre in W.

    The conditions of optimality: it is p(μ) = P_W((z + μc)/(1 + μ)) for the least μ ≥ 0 with ‖p(μ) − c‖ ≤ radius.
    """

    def at(mu: float) -> FloatArray:
        return project(domain, (point + mu * centre) / (1 + mu))

    def excess(mu: float) -> float:
        return float(np.linalg.norm(at(mu) - centre)) - radius

    if excess(0.0) <= 0:
        return at(0.0)
    most = 2 * float(np.linalg.norm(point - centre)) / radius
    return at(float(brentq(excess, 0.0, most, xtol=1e-16 * most, rtol=4 * np.finfo(float).eps)))


def middle(domain: Any, size: int) -> FloatArray:
    """The centre of the set: where a descent starts when nothing is said."""
    kind, numbers = _set(domain, size)
    return np.asarray((numbers[0] + numbers[1]) / 2 if kind == "box" else numbers[0])


def diameter(domain: Any, size: int) -> float:
    kind, numbers = _set(domain, size)
    return float(np.linalg.norm(numbers[1] - numbers[0])) if kind == "box" else 2 * float(numbers[1])


def support(domain: Any, u: FloatArray) -> float:
    """σ_W(u), the largest ⟨u, w⟩ over w in W."""
    kind, (first, second) = _set(domain, len(u))
    if kind == "box":
        return float(np.maximum(u * first, u * second).sum())
    return float(u @ first + second * (np.linalg.norm(u) if kind == "ball" else np.abs(u).max()))


def _set(domain: Any, size: int) -> tuple[str, tuple[Any, Any]]:
    """("ball" or "l1", (centre, radius)) or ("box", (lower, upper))."""
    if isinstance(domain, str):
        kind, _, words = domain.partition(":")
        numbers = [float(word) for word in words.split(",")]
        if kind == "box":
            return "box", (np.full(size, numbers[0]), np.full(size, numbers[1]))
        return kind, (np.zeros(size), numbers[0])
    if hasattr(domain, "lower"):
        return "box", (np.asarray(domain.lower), np.asarray(domain.upper))
    kind = "l1" if type(domain).__name__ == "L1Ball" else "ball"
    return kind, (np.asarray(domain.center), float(domain.radius))


def _project_on_cross(point: FloatArray, centre: FloatArray, radius: float) -> FloatArray:
    """On {w : ‖w − centre‖₁ ≤ radius}: every |entry| is lowered by one θ ≥ 0, to no less than 0."""
    away = point - centre
    size = np.abs(away)
    if math.fsum(size) <= radius:
        return point
    down = np.sort(size)[::-1]
    thetas = (np.cumsum(down) - radius) / np.arange(1, len(down) + 1)
    theta = thetas[np.flatnonzero(down > thetas)[-1]]
    return np.asarray(centre + np.sign(away) * np.maximum(size - theta, 0.0))


def cvxpy_conditions(domain: Any, variable: Any) -> list[Any]:
    """That the variable lies in the set."""
    import cvxpy

    if isinstance(domain, Cut):
        return [*cvxpy_conditions(domain.base, variable), cvxpy.norm(variable - domain.center) <= domain.radius]
    kind, (first, second) = _set(domain, variable.size)
    if kind == "box":
        return [variable >= first, variable <= second]
    return [cvxpy.norm(variable - first, 2 if kind == "ball" else 1) <= second]
