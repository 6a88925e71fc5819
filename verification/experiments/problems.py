"""What an experiment minimises, and what is publicly known of it: numbers that the methods' presets take.

Nothing here looks at records.  From files, the norm of a row is a promise of the user's, and bounds hold for all such rows; from
laws, moments are those of the law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tailproof.refimpl.domains import Domain, parse_domain
from tailproof.refimpl.losses import L4, Logistic, Loss, Ridge, Squared
from tailproof.refimpl.validation import FloatArray, InputError
from tailproof.verification.experiments.data import LOGNORMAL

EVERY_ORDER = 100.0
"""k of gradients that are bounded: they have moments of every order."""

ROUNDING = 1 + 1e-9
LAW_DRAWS, LAW_SEED, LAW_ORDER, LEFT_OUT = 200_000, 2024, 4.0, 1e-3


@dataclass(frozen=True)
class Law:
    """Of the gradients of a record's loss on W, without the penalty, which is no record's."""

    moment: float  # r̃ ≥ (E‖∇f‖^{2k})^{1/2k}
    order: float  # k
    lipschitz: float  # inf if unbounded
    record_smoothness: float
    smoothness: float
    second_moment: float  # of a coordinate
    mean_slope: float  # |E ∂_j f|

    def to_json(self) -> dict[str, Any]:
        return {name: value if math.isfinite(value) else None for name, value in vars(self).items()}


@dataclass(frozen=True)
class Problem:
    loss: Loss
    domain_text: str
    dimension: int
    law: Law
    diameter: float
    steps: int = 400  # of a phase of LNC-GM: they cost no privacy

    @property
    def domain(self) -> Domain:
        return parse_domain(self.domain_text, self.dimension)


def penalised(name: str, ridge: float) -> Loss:
    """Of ℓ4 regression there is no penalty."""
    if name == "l4":
        return L4()
    base = Squared() if name == "squared" else Logistic()
    return Ridge(base, ridge) if ridge > 0 else base


def problem_of_files(
    name: str, *, domain: str, dimension: int, ridge: float, row_norm: float, column: float, moment_bound: float | None
) -> Problem:
    """Labels ±1, ‖x‖ ≤ `row_norm`, |x_j| ≤ `column`."""
    region = parse_domain(domain, dimension)
    reach = row_norm * region.max_norm_from(np.zeros(dimension)) + 1  # of |⟨w, x⟩ − y|
    steep, curved = {"l4": (4 * reach**3, 12 * reach**2), "squared": (reach, 1.0), "logistic": (1.0, 0.25)}[name]
    loss = penalised(name, ridge)
    weight = loss.weight if isinstance(loss, Ridge) else 0.0
    smooth = (row_norm**2 * curved + weight) * ROUNDING
    law = Law(
        moment=row_norm * steep if moment_bound is None else moment_bound,
        order=EVERY_ORDER,
        lipschitz=row_norm * steep,
        record_smoothness=smooth,
        smoothness=smooth,
        second_moment=(column * steep + weight * reach) ** 2,
        mean_slope=column * steep + weight * reach,
    )
    return _problem(loss, domain, dimension, law)


def _problem(loss: Loss, domain: str, dimension: int, law: Law) -> Problem:
    return Problem(loss, domain, dimension, law, parse_domain(domain, dimension).diameter_upper())


def regression_problem(*, domain: str, dimension: int, ridge: float) -> Problem:
    """`linear_model`, for P1: E x_j²(⟨u, x⟩ − e)² = 3‖u‖² at most + E e², where u = w − w*."""
    far = 1 + parse_domain(domain, dimension).max_norm_from(np.zeros(dimension))
    second = 3 * far**2 + LOGNORMAL.absolute_moment(2)
    slope = far + ridge * (far - 1)
    return _problem(penalised("squared", ridge), domain, dimension, _of_coordinates(second, slope, 1 + ridge))


def classification_problem(*, domain: str, dimension: int, ridge: float) -> Problem:
    """`threshold_model`, for P1: |φ'| ≤ 1, E x_j² = 1, E|x_j| < 1."""
    far = parse_domain(domain, dimension).max_norm_from(np.zeros(dimension))
    slope = math.sqrt(2 / math.pi) + ridge * far
    return _problem(
        penalised("logistic", ridge), domain, dimension, _of_coordinates((1 + ridge * far) ** 2, slope, 0.25 + ridge)
    )


def _of_coordinates(second: float, slope: float, smoothness: float) -> Law:
    return Law(math.inf, 2.0, math.inf, math.inf, smoothness, second, slope)


def sparse_problem(*, domain: str, dimension: int) -> Problem:
    """`sparse_model` over an ℓ1-ball: moments of 4‖x‖(R‖x‖_∞ + 1)³, and as α what a record's smoothness exceeds rarely."""
    reach = float(parse_domain(domain, dimension).support(np.eye(dimension)[:1])[0])
    norms, largest = _normal_norms(dimension)
    slopes = 4 * norms * (reach * largest + 1) ** 3
    rough = np.quantile(12 * norms**2 * (reach * largest + 1) ** 2, 1 - LEFT_OUT)
    moment = float(np.mean(slopes ** (2 * LAW_ORDER)) ** (1 / (2 * LAW_ORDER)))
    mean = float(np.mean(12 * norms**2 / dimension * (reach * largest + 1) ** 2) * math.sqrt(dimension))
    if not domain.startswith("l1:"):
        raise InputError(f"domain = {domain!r}: must be an l1 ball, l1:RADIUS")
    second = float(np.mean(slopes**2) / dimension)
    return _problem(L4(), domain, dimension, Law(moment, LAW_ORDER, math.inf, float(rough), mean, second, math.sqrt(second)))


@lru_cache(maxsize=8)
def _normal_norms(dimension: int) -> tuple[FloatArray, FloatArray]:
    """‖x‖ and ‖x‖_∞ of standard normal x: the law's, from draws of their own."""
    x = np.random.default_rng(LAW_SEED).standard_normal((LAW_DRAWS, dimension))
    return np.linalg.norm(x, axis=1), np.abs(x).max(axis=1)
