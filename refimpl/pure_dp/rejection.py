"""Exact draws from the density ∝ exp(−V/T) on W_loc, by rejection from a Gaussian envelope around the certified minimiser.

V is the computed potential of `centred_risk`, m a point of W_loc, in practice the minimiser.  For every w in W_loc

    V(w) ≥ V(m) − slack + ⟨G, w − m⟩ + ½(w − m)ᵀA(w − m)                                                      (`Envelope.lower`)

with G = (1/n) Σ g_i + λ(m − w0) and A = λI + (1/n) Σ_{i ∈ U} H_i.  U holds the records whose loss is no steeper than C anywhere on
W_loc: there f_C = f, g_i is the gradient at m and H_i a lower bound of the Hessian on W_loc (that of φ at the end of the margins'
range where it is least, times xxᵀ).  For the others g_i comes from the certificate of m, with its gap, and H_i = 0.  The slack is
the mean of these gaps plus twice the tolerance of V plus what rounding may cost.

Where the minimiser is at the boundary, W_loc lies in the half-space {⟨ν, w − m⟩ ≤ s} for the normal part ν of −G.  Proposals have
the density ∝ exp(−(right-hand side)/T) on that half-space: along ν a truncated normal law, across it a normal one.  A proposal in
W_loc is accepted with the probability exp(−(V(w) − right-hand side)/T), others are not.  There is no limit to the number of tries,
so what is drawn has exactly the density asked for: max-divergence 0 (in exact arithmetic of floats that stand for numbers).  How
long it takes depends on the data, and is not hidden.

V is not computed where the tangents of V at former proposals say that a proposal will not be accepted: what is drawn is the same.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from tailproof.refimpl.domains import EPS
from tailproof.refimpl.extension.certificate import Certificate, Problem, record_gaps_upper
from tailproof.refimpl.extension.certified import accuracy_lower, minimise
from tailproof.refimpl.losses import L4, GlmLoss, Logistic, Quadratic, Squared
from tailproof.refimpl.pure_dp.centred_risk import CentredRisk, Tangent
from tailproof.refimpl.total import nearest, spectrum
from tailproof.refimpl.validation import FloatArray, positive

MINIMISER_ACCURACY = 1e-2
"""In units of T: a better minimiser would not raise the acceptance rate by more than this."""


@dataclass(frozen=True, eq=False)
class Envelope:
    """The lower bound of V, as a Gaussian law on a half-space that holds W_loc."""

    point: FloatArray  # m
    height: float  # V(m) − slack
    slope: FloatArray  # G
    curvature: FloatArray  # A
    normal: FloatArray  # ν/‖ν‖, or 0
    limit: float  # ⟨ν, w − m⟩/‖ν‖ is at most that
    temperature: float  # T

    def lower(self, points: FloatArray) -> FloatArray:
        moves = points - self.point
        return np.asarray(
            self.height + moves @ self.slope + np.einsum("...i,ij,...j->...", moves, self.curvature, moves) / 2
        )

    def propose(self, rng: np.random.Generator) -> FloatArray:
        free = self._root @ rng.standard_normal(len(self.point))
        if not self.normal.any():
            return np.asarray(self._mean + free)
        across = self._covariance @ self.normal
        width = math.sqrt(float(self.normal @ across))
        most = (self.limit + float(self.normal @ (self.point - self._mean))) / width
        along = float(ndtri_exp(math.log1p(-rng.random()) + log_ndtr(most)))
        return np.asarray(self._mean + free + across / width * (along - float(self.normal @ free) / width))

    @cached_property
    def _mean(self) -> FloatArray:
        return np.asarray(self.point - np.linalg.solve(self.curvature, self.slope))

    @cached_property
    def _covariance(self) -> FloatArray:
        return np.asarray(self.temperature * np.linalg.inv(self.curvature))

    @cached_property
    def _root(self) -> FloatArray:
        """A root of the covariance; any one will do, and the second is there whatever the rounding."""
        with suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.cholesky(self._covariance), dtype=np.float64)
        eigenvalues, vectors = spectrum(self.curvature)
        return np.asarray(vectors * np.sqrt(self.temperature / np.maximum(eigenvalues, EPS * eigenvalues[-1])))


@dataclass(frozen=True)
class Draw:
    """A point, and after how many proposals in all, and in W_loc, it came.  The numbers depend on the data: for studies only."""

    point: FloatArray
    proposals: int
    inside: int


def draw(risk: CentredRisk, temperature: float, rng: np.random.Generator) -> Draw:
    return draw_below(envelope(risk, temperature), risk, rng)


def draw_below(bound: Envelope, risk: CentredRisk, rng: np.random.Generator) -> Draw:
    proposals = inside = 0
    seen: list[Tangent] = []
    while True:
        proposals += 1
        point = bound.propose(rng)
        if not risk.local.contains(point):
            continue
        inside += 1
        level = float(bound.lower(point)) - bound.temperature * math.log1p(-rng.random())
        if any(tangent.is_above(point, level) for tangent in seen):
            continue  # so is V
        found = risk.tangent_at(point)
        if found.value <= level:
            return Draw(point, proposals, inside)
        seen.append(found)


def envelope(risk: CentredRisk, temperature: float) -> Envelope:
    problem = risk.problem
    accuracy = max(MINIMISER_ACCURACY * positive("temperature", temperature), 1.01 * accuracy_lower(problem))
    found = minimise(problem, accuracy)
    gradients, gaps, hessian = _tangent(problem, found.certificate)
    slope = gradients + problem.weight * (found.point - problem.anchor)
    curvature = (problem.weight * np.eye(problem.dimension) + hessian) * (1 - 1e-9)
    rounding = 1e-9 * problem.lipschitz * risk.reach  # of a million roundings
    height = risk.at(found.point) - gaps - 2 * risk.tolerance - rounding
    normal, limit = _half_space(problem, found.point, slope)
    return Envelope(found.point, height, slope, curvature, normal, limit, temperature)


def _tangent(problem: Problem, certificate: Certificate) -> tuple[FloatArray, float, FloatArray]:
    """(1/n) Σ g_i, (1/n) Σ gap_i and (1/n) Σ H_i."""
    n, point, free = problem.size, certificate.point, unclipped(problem)
    g = certificate.subgradients.copy()
    for i, record in certificate.exact.items():
        g[i] = [float(entry) for entry in record.subgradient]
    g[free] = problem.loss.gradients(point, problem.data)[free]
    gaps = np.where(free, 0.0, record_gaps_upper(problem, certificate))
    return g.mean(axis=0), math.fsum(gaps) / n, least_hessian(problem, free)


def unclipped(problem: Problem) -> np.ndarray:
    """Which records have f_C = f on W_loc, and a loss with a gradient there."""
    if not problem.loss.is_smooth:
        return np.zeros(problem.size, dtype=bool)
    steepest = problem.loss.lipschitz_upper(problem.data, problem.within)
    return np.asarray(steepest * (1 + 64 * EPS) <= problem.lipschitz)


def least_hessian(problem: Problem, chosen: np.ndarray) -> FloatArray:
    """(1/n) Σ over the chosen records of a matrix that is below the Hessian of f at every point of W_loc."""
    share = chosen.mean()
    total = share * problem.ridge * np.eye(problem.dimension)
    if isinstance(problem.model, Quadratic):
        return np.asarray(total + share * problem.model.matrix)
    x = problem.features[chosen]
    middle = x @ problem.within.interior_point()
    reach = problem.norms[chosen] * problem.within.max_norm_from(problem.within.interior_point()) * (1 + 64 * EPS)
    bends = least_curvature(problem.model, middle - reach, middle + reach, problem.targets[chosen])
    return np.asarray(total + (x * bends[:, np.newaxis]).T @ x / problem.size)


def least_curvature(loss: GlmLoss, low: FloatArray, high: FloatArray, targets: FloatArray) -> FloatArray:
    """The least φ'' between two margins."""
    match loss:
        case Squared():
            return np.ones_like(low)
        case Logistic():  # less the farther from 0
            far = np.maximum(np.abs(low), np.abs(high))
            return np.asarray(loss.d2phi(far, targets))
        case L4():  # more the farther from the target
            near = np.clip(targets, low, high)
            return np.asarray(loss.d2phi(near, targets))
    return np.zeros_like(low)


def _half_space(problem: Problem, point: FloatArray, slope: FloatArray) -> tuple[FloatArray, float]:
    """A unit vector ν and a number: ⟨ν, w − m⟩ is at most that on W_loc.  0 where −G has no part normal to W_loc at m."""
    target = point - slope / problem.weight
    normal = target - nearest(problem.within, target)
    length = float(np.linalg.norm(normal))
    if length <= 1e-9 * problem.within.diameter_upper():
        return np.zeros_like(point), math.inf
    unit = normal / length
    limit = float(problem.within.support(unit)) - float(unit @ point)
    return unit, limit + 64 * EPS * (float(np.linalg.norm(point)) + problem.within.diameter_upper())


__all__ = ["Draw", "Envelope", "draw", "draw_below", "envelope", "least_curvature", "least_hessian", "unclipped"]
