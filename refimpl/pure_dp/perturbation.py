"""[P4, §2.3] What output perturbation of a regularised minimiser rests on, shared by the algorithms of this package.

    F̂_{λ,C}(w) = (1/n) Σ f_C(w, x_i) + (λ/2)‖w − w0‖²,   f_C(w, x) = min_{y ∈ W} f(y, x) + C‖w − y‖.

On data sets that differ in one record the minimisers over any fixed convex set are within 2C/(λn) of each other.  A point whose
gap is at most α = κ²C²/(2λn²) is within κC/(λn) of the exact one.  So Δ = (2 + 2κ)·C/(λn) bounds the sensitivity of such a
point, for all data, if the gap is proved and not only likely: `extension.certified` proves it.  Nothing of the proof may be
published, neither the gap nor the number of steps: they depend on the data.  What is known of them is that the gap is ≤ α.

Noise with density ∝ exp(−ε‖z‖₂/Δ) makes it ε-DP; Gaussian noise with σ² = Δ²/(2ρ) makes it ρ-zCDP.

Idealised: noise is drawn in floats, and running time is not hidden.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainccinv

from tailproof.refimpl.channel import L2, Bound, Channel
from tailproof.refimpl.claims import ZCDP, PureDP
from tailproof.refimpl.domains import EPS, Domain, Localised, parse_domain
from tailproof.refimpl.extension.certificate import Problem
from tailproof.refimpl.extension.certified import LARGEST_REACH, accuracy_for, accuracy_lower, minimise, rounding_cost
from tailproof.refimpl.laws import Gaussian, L2Laplace, Law
from tailproof.refimpl.losses import GlmLoss, Loss, Quadratic, Ridge, parse_loss
from tailproof.refimpl.universe import table, tamed
from tailproof.refimpl.validation import FloatArray, InputError, positive, probability, shaped, vector

Budget: TypeAlias = PureDP | ZCDP
KAPPA = 0.1  # unless another is asked for, or floats allow no less than a larger one
STAGE_FAILURE = 0.05  # of localisation within double output perturbation, unless another is asked for
_ROUNDINGS = 64  # times (d + 8)·EPS of a record's value: its part of the gap may be wrong by less
_STEEPEST = 2.0**12  # times C: a record that is steeper pulls with C all the same
Minimise: TypeAlias = Callable[[Problem, float], FloatArray]
"""A point of the problem's set whose gap is at most the accuracy: proved, for all data."""


def budget(*, epsilon: float | None = None, rho: float | None = None) -> Budget:
    """The claim of the parameter that is given: `epsilon` for pure privacy, `rho` for zCDP."""
    if (epsilon is None) == (rho is None):
        raise InputError(f"epsilon = {epsilon!r}, rho = {rho!r}: exactly one of them must be given")
    if epsilon is not None:
        return PureDP(epsilon)
    assert rho is not None
    return ZCDP(rho)


def certified_point(problem: Problem, accuracy: float) -> FloatArray:
    """The default way to minimise."""
    return minimise(problem, accuracy).point


@dataclass(frozen=True, eq=False)
class RegularisedProblem:
    """The public side of F̂_{λ,C} and of its noise.  All arguments are checked before any record is used."""

    loss: Loss
    domain: Domain
    center: FloatArray  # w0
    weight: float  # λ
    lipschitz: float  # C
    kappa: float

    @classmethod
    def of(
        cls,
        *,
        loss: Loss | str,
        domain: Domain | str,
        columns: int,
        weight: float,
        lipschitz: float,
        kappa: float,
        center: ArrayLike | None = None,
    ) -> RegularisedProblem:
        """With losses and domains as they are named on a command line, too; the centre is the domain's middle by default."""
        loss = parse_loss(loss) if isinstance(loss, str) else loss
        if not isinstance(loss, GlmLoss | Quadratic | Ridge):
            raise InputError(
                f"loss = {loss!r}: has no Lipschitz extension here; must be generalised linear, quadratic or ridge"
            )
        dimension = 1 + columns - loss.columns(1) if isinstance(domain, str) else domain.dimension
        region = parse_domain(domain, dimension) if isinstance(domain, str) else domain
        if loss.columns(region.dimension) != columns:
            raise InputError(
                f"data: has {columns} columns; must have {loss.columns(region.dimension)} for this loss and domain"
            )
        middle = region.interior_point() if center is None else vector("center", center, size=region.dimension)
        if not region.contains(middle):
            raise InputError("center: must lie in the domain")
        if (reach := region.max_norm_from(0 * middle)) > LARGEST_REACH:
            raise InputError(f"domain: reaches {reach:.3g} far from the origin; at most {LARGEST_REACH:g} is allowed")
        weight, lipschitz = positive("weight", weight), positive("lipschitz", lipschitz)
        return cls(loss, region, middle, weight, lipschitz, positive("kappa", kappa))

    def sensitivity_upper(self, size: int) -> float:
        """Δ = (2 + 2κ)·C/(λn)."""
        return (2 + 2 * self.kappa) * self.lipschitz / (self.weight * size) * (1 + 8 * EPS)

    def slack_upper(self, size: int) -> float:
        """κC/(λn): how far from the exact minimiser the one that is found may be."""
        return self.kappa * self.lipschitz / (self.weight * size) * (1 + 8 * EPS)

    def on(self, data: FloatArray, *, inner: Domain | None = None, within: Domain | None = None) -> Problem:
        """F̂_{λ,C} of these records: with the infimum over `inner` (W by default), to be minimised over `within`."""
        return Problem(
            self.loss, data, inner or self.domain, self.lipschitz, self.weight, self.center, within or inner or self.domain
        )

    def accuracy(self, size: int) -> float:
        """α, if floats allow it.  It is the same for all data, so a refusal comes before any is used."""
        alpha = accuracy_for(lipschitz=self.lipschitz, weight=self.weight, size=size, kappa=self.kappa)
        public = self.on(np.ones((1, self.loss.columns(self.domain.dimension))))  # no record matters for what follows
        if alpha < (least := accuracy_lower(public)):
            raise InputError(
                f"kappa = {self.kappa!r}: asks for a gap of {alpha:.3g} with {size} records; floats allow no less than "
                f"{least:.3g}, so kappa must be at least {self.kappa * math.sqrt(least / alpha):.3g}, or the weight smaller"
            )
        return alpha

    @property
    def far(self) -> float:
        """How far from the origin W reaches, or how wide it is, if that is more."""
        return max(self.domain.max_norm_from(np.zeros(self.domain.dimension)), self.domain.diameter_upper())

    def largest_value(self, size: int) -> float:
        """Of a record's loss: what floats can compute well enough to prove a gap of α, but many times C times the size of W."""
        alpha = accuracy_for(lipschitz=self.lipschitz, weight=self.weight, size=size, kappa=self.kappa)
        least = _STEEPEST * self.lipschitz * self.far
        if isinstance(self.loss, Ridge):  # steeper ones ask for many bits
            return least
        return max(alpha / (_ROUNDINGS * (self.domain.dimension + 8) * EPS), least)

    def within(self, part: Domain, size: int) -> RegularisedProblem:
        """With a κ that floats allow on W or a part of it, whose distance from the centre counts: public where the part is."""
        least = 1.01 * accuracy_lower(self.on(np.ones((1, self.loss.columns(part.dimension))), within=part))
        return replace(self, kappa=max(self.kappa, math.sqrt(2 * self.weight * least) * size / self.lipschitz))


def least_kappa(*, lipschitz: float, weight: float, size: int, dimension: int, far: float, stages: int = 1) -> float:
    """The least κ that floats allow around a centre in the set, which reaches that far from the origin.

    The centre may be outside the part of W over which a second stage minimises (`RegularisedProblem.within`).  λ times its
    distance from that is at most C if the minimiser over W is in it, which it is but for the failure of `localise`.
    """
    least = 1.01 * rounding_cost(steepness=(1 + stages) * lipschitz, weight=weight, dimension=dimension, far=far)
    return math.sqrt(2 * weight * least) * size / lipschitz


def prepare(
    data: ArrayLike,
    *,
    loss: Loss | str,
    domain: Domain | str,
    weight: float,
    lipschitz: float,
    kappa: float | None,
    center: ArrayLike | None,
    strict: bool = False,
) -> tuple[RegularisedProblem, FloatArray]:
    """The problem and its records, in the universe; the public numbers and the shape are checked before these are looked at.

    Without a κ it is `KAPPA`, or the least that floats allow where that is more.
    """
    for name, value in {"weight": weight, "lipschitz": lipschitz, "kappa": KAPPA if kappa is None else kappa}.items():
        positive(name, value)
    problem = RegularisedProblem.of(
        loss=loss,
        domain=domain,
        columns=shaped("data", data, least=1).shape[1],
        weight=weight,
        lipschitz=lipschitz,
        kappa=KAPPA if kappa is None else kappa,
        center=center,
    )
    if kappa is None:
        problem = problem.within(problem.domain, np.shape(data)[0])
    rows = table(data, problem.loss, strict=strict)
    return problem, tamed(rows, problem.loss, far=problem.far, largest_value=problem.largest_value(len(rows)))


def noisy(name: str, point: FloatArray, channel: Channel, *, sensitivity: float, spend: Budget) -> FloatArray:
    """Let the point leave with the noise that the budget asks for.  The noisy point itself counts as published."""
    reach: Bound = L2(sensitivity)
    return channel.release(name, noise_law(point, reach.value, spend), sensitivity=reach, spend=spend)


def noise_law(point: FloatArray, sensitivity: float, spend: Budget) -> Law:
    match spend:
        case PureDP():
            return L2Laplace(point, sensitivity / spend.epsilon)
        case ZCDP():
            return Gaussian(point, sensitivity / math.sqrt(2 * spend.rho))


def noise_radius_upper(*, dimension: int, sensitivity: float, spend: Budget, failure: float) -> float:
    """The noise is longer than this with probability `failure`: a quantile of a gamma or a chi law."""
    zeta = probability("failure", failure)
    match spend:
        case PureDP():
            return float(sensitivity / spend.epsilon * gammainccinv(dimension, zeta)) * (1 + 1e-12)
        case ZCDP():
            return float(sensitivity / math.sqrt(spend.rho) * math.sqrt(gammainccinv(dimension / 2, zeta))) * (1 + 1e-12)


def noise_square_mean(*, dimension: int, sensitivity: float, spend: Budget) -> float:
    """E‖z‖²: d(d + 1)(Δ/ε)², or d·Δ²/(2ρ)."""
    match spend:
        case PureDP():
            return dimension * (dimension + 1) * (sensitivity / spend.epsilon) ** 2
        case ZCDP():
            return dimension * sensitivity**2 / (2 * spend.rho)


def halved(spend: Budget) -> Budget:
    """What each of two releases may spend."""
    return PureDP(spend.epsilon / 2) if isinstance(spend, PureDP) else ZCDP(spend.rho / 2)


def localised_around(problem: RegularisedProblem, point: FloatArray, size: int, spend: Budget, failure: float) -> Localised:
    """W ∩ B(point, r), r the quantile of the noise plus the slack of the minimiser: holds the exact minimiser but for a
    probability of `failure`."""
    reach = problem.sensitivity_upper(size)
    radius = noise_radius_upper(dimension=point.size, sensitivity=reach, spend=spend, failure=failure)
    return Localised(problem.domain, point, radius + problem.slack_upper(size))
