"""[P4, Algorithm 7] Exponential mechanism on the extension's risk, over a set found by output perturbation.

    1. W_loc = W ∩ B(w_p, r) by Algorithm 2, with the share ε₁ of ε;
    2. a point w of W_loc with density ∝ exp(−F̂_{λ,C}(w)/T), with ε₂ = ε − ε₁;  T = 1/γ in the paper.

Statement: ε-DP, for all data.  The potential V = F̂_{λ,C} − F̂_{λ,C}(a) changes by at most Δ = (2C/n)·max ‖w − a‖, and 1 % of it for
errors of evaluation, when a record is replaced (`centred_risk`, Algorithm 6), and T = 2Δ/ε₂.  With u = argmin_W F̂_{λ,C},
but for the failure ζ of localisation and η,

    F̂_{λ,C}(w) − F̂_{λ,C}(u) ≤ q·T,   hence   ‖w − u‖² ≤ 2q·T/λ,   P(Γ_d > q) = η               (`excess_upper`, `distance_upper`)

for Γ_d of the gamma law with shape d.  Proof: the volume v(t) of {V − min V ≤ t} has a concave d-th root k(t) ≥ 0, by Brunn and
Minkowski, so that v'(t)/t^{d−1} = d·(k/t)^{d−1}·k' does not increase.  The law of V − min V, which is ∝ e^{−t/T}dv(t), has then a
decreasing density with respect to that of T·Γ_d (and perhaps an atom at 0): it is stochastically smaller.  ∎  (The paper has
Markov's inequality on the mean d·T.)  See `single` for the distance of u from the minimiser without extension.

Samplers for line 2.  All keep ε; each states how far its law may be from the density, in max-divergence τ:
- "rejection": exact draws (`rejection`), τ = 0; any dimension;
- "grid": the density on a net of W_loc of mesh ξ·r, exact probabilities, τ = 0 for what it aims at;
- "walk": a lazy Metropolis walk on the points of a grid in W_loc, as many steps as make τ at most `WALK_SHARE`·ε₂/2, by the
  spectral gap, computed exactly or bounded by paths (`grid_walk`): 2τ of ε₂ are set aside for it, so that T = 2Δ/(ε₂ − 2τ)
  [P4 Lemma F.4].  A public bound of the gap refuses grids too coarse for a walk, whatever the data.
Departures: r is a quantile of the noise (`localise`).  Where the paper has the diameter of W_loc in Δ, half of it
suffices (`spread="diameter"` gives what is printed).  The grid walk is Metropolis's, its steps are counted from the spectral gap
and not from a theorem of the literature; running time is not hidden.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainccinv

from tailproof.refimpl.channel import Bound, Channel, LInf
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import Domain, Localised
from tailproof.refimpl.laws import Gibbs, Softmax
from tailproof.refimpl.losses import Loss
from tailproof.refimpl.means.rows import replace_record
from tailproof.refimpl.pure_dp.centred_risk import CentredRisk, accuracy, sensitivity_upper
from tailproof.refimpl.pure_dp.grid_walk import (
    MOST_STEPS,
    Grid,
    GridWalk,
    cubic_grid,
    gap_of_convex,
    least_energy,
    most_steps,
    steps_for,
)
from tailproof.refimpl.pure_dp.localise import localised_part
from tailproof.refimpl.pure_dp.nets import MOST_POINTS, net
from tailproof.refimpl.pure_dp.perturbation import (
    STAGE_FAILURE,
    Minimise,
    RegularisedProblem,
    certified_point,
    noise_radius_upper,
    prepare,
)
from tailproof.refimpl.validation import FloatArray, InputError, choice, positive, probability

Sampler = Literal["rejection", "grid", "walk"]
WALK_SHARE = 0.02
"""The part of ε₂ that is set aside for the walk's distance from its target."""
MESH, RISE = 0.1, 8.0
EXACT_GAPS = 1500
"""Points of the largest grid whose spectral gap is computed; that of larger ones is bounded by paths."""


def localised_exponential(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: Loss | str,
    domain: Domain | str,
    weight: float,
    lipschitz: float,
    epsilon: float,
    sampler: Sampler = "rejection",
    share: float = 0.5,
    failure: float = STAGE_FAILURE,
    spread: Literal["reach", "diameter"] = "reach",
    mesh: float | None = None,
    kappa: float = 0.1,
    center: ArrayLike | None = None,
    most_points: int = MOST_POINTS,
    method: Minimise = certified_point,
    strict: bool = False,
) -> FloatArray:
    """A point of W_loc, hence of W.  `weight` is λ, `lipschitz` C, `share` ε₁/ε, `failure` ζ, `mesh` ξ: all public.

    By default ξ is 0.1, or as much less as keeps the potential from rising by more than `RISE`·T between points of a walk.
    """
    claim, zeta = privacy(epsilon=epsilon), probability("failure", failure)
    first = PureDP(claim.epsilon * probability("share", share))
    second = PureDP(claim.epsilon - first.epsilon)
    choice("sampler", sampler, ("rejection", "grid", "walk"))
    choice("spread", spread, ("reach", "diameter"))
    if mesh is not None:
        positive("mesh", mesh)
    problem, rows = prepare(
        data, loss=loss, domain=domain, weight=weight, lipschitz=lipschitz, kappa=kappa, center=center, strict=strict
    )
    n = len(rows)

    local = localised_part(problem, rows, channel.part("localise", range(n)), spend=first, failure=zeta, method=method)
    risk = potential(problem, rows, local)
    reach = sensitivity(n, lipschitz=lipschitz, distance=risk.reach if spread == "reach" else local.diameter_upper())
    set_aside = WALK_SHARE * second.epsilon if sampler == "walk" else 0.0
    temperature = 2 * reach.value / (second.epsilon - set_aside)
    if sampler == "rejection":
        return channel.release("point", Gibbs(risk, temperature), sensitivity=reach, spend=second)
    law: Softmax | GridWalk
    if sampler == "grid":
        points = net(local, (mesh or MESH) * local.radius, most=most_points)
        law = Softmax(risk.scores(points), temperature)
    else:
        spacing = walk_spacing(problem, local, temperature, mesh)
        grid = cubic_grid(local, spacing, most=most_points)
        points = grid.points
        known = slowest_gap(problem, local, grid, spacing=spacing, temperature=temperature, tau=set_aside / 2)
        law = walk_to(risk.scores(points), temperature, grid, tau=set_aside / 2, known=known)
    return np.array(points[int(channel.release("index", law, sensitivity=reach, spend=second))])


def steepest(problem: RegularisedProblem, local: Localised) -> float:
    """At least the slope of V anywhere on W_loc, for all data."""
    return problem.lipschitz + problem.weight * local.max_norm_from(problem.center)


def walk_spacing(problem: RegularisedProblem, local: Localised, temperature: float, mesh: float | None) -> float:
    """The distance of neighbouring points: 2ξr/√d, so that every point of W_loc is within ξr of one."""
    widest = 2 * (mesh or MESH) * local.radius / math.sqrt(local.dimension)
    return widest if mesh else min(widest, RISE * temperature / steepest(problem, local))


def slowest_gap(
    problem: RegularisedProblem, local: Localised, grid: Grid, *, spacing: float, temperature: float, tau: float
) -> float:
    """A lower bound of the walk's spectral gap, the same for all data.  If even that would ask for too many steps, the walk is
    refused: before any record is looked at again."""
    slope = steepest(problem, local)
    error = accuracy(1) * problem.lipschitz * local.diameter_upper() / temperature
    rise, spread = slope * spacing / temperature, slope * local.diameter_upper() / temperature + error
    gap = gap_of_convex(grid, spacing=spacing, rise=rise, error=error)
    if gap == 0 or most_steps(grid, gap=gap, spread=spread, tau=tau) > MOST_STEPS:
        raise InputError(
            f"mesh: the potential may rise by {rise:.3g} T from a point of the grid to the next, so that a walk could be stuck; "
            "a smaller mesh is needed (or another sampler)"
        )
    return gap


def walk_to(scores: FloatArray, temperature: float, grid: Grid, *, tau: float, known: float) -> GridWalk:
    """From the best point, with the number of steps that keeps the law within τ of the target."""
    energies = -scores / temperature
    start, method = least_energy(energies), "exact" if len(grid) <= EXACT_GAPS else "paths"
    steps = steps_for(energies, grid, start, tau, gap=method, known=known)
    return GridWalk(scores, temperature, grid.neighbours, start, steps)


def potential(problem: RegularisedProblem, rows: FloatArray, local: Localised) -> CentredRisk:
    """V of these records on W_loc."""
    return CentredRisk(problem.loss, rows, local, problem.lipschitz, problem.weight, problem.center)


def privacy(*, epsilon: float) -> PureDP:
    """[P4, Proposition F.5]"""
    return PureDP(epsilon)


def sensitivity(n: int, *, lipschitz: float, distance: float, **_: Any) -> Bound:
    """Δ = (2C/n)·(distance from the anchor) and twice ζ, of V at every point of W_loc.  Attained up to the latter."""
    return LInf(sensitivity_upper(n, lipschitz=lipschitz, distance=distance))


# --- utility --------------------------------------------------------------------------------------------------------------


def temperature_upper(
    n: int,
    *,
    dimension: int,
    weight: float,
    lipschitz: float,
    epsilon: float,
    share: float = 0.5,
    failure: float = STAGE_FAILURE,
    kappa: float = 0.1,
    **_: Any,
) -> float:
    """T of the first two samplers, for W_loc in a ball of the radius of Algorithm 2: public."""
    first = PureDP(epsilon * probability("share", share))
    reach = (2 + 2 * kappa) * lipschitz / (weight * n)
    radius = noise_radius_upper(dimension=dimension, sensitivity=reach, spend=first, failure=failure)
    far = radius + kappa * lipschitz / (weight * n)
    return 2 * sensitivity_upper(n, lipschitz=lipschitz, distance=far) / (epsilon - first.epsilon)


def excess_upper(*, dimension: int, temperature: float, failure: float, points: int | None = None) -> float:
    """V(w) − min V is at most this but for `failure`: over W_loc, or over a net of so many points."""
    zeta = probability("failure", failure)
    quantile = float(gammainccinv(dimension, zeta)) if points is None else math.log(points / zeta)
    return quantile * temperature * (1 + 1e-12)


def distance_upper(n: int, *, dimension: int, weight: float, lipschitz: float, epsilon: float, **others: Any) -> float:
    """‖w − u‖ is at most this for exact draws, but for twice `failure`: that of localisation and η."""
    given = {"dimension": dimension, "weight": weight, "lipschitz": lipschitz, "epsilon": epsilon, **others}
    failure = given.get("failure", STAGE_FAILURE)
    return math.sqrt(
        2 * excess_upper(dimension=dimension, temperature=temperature_upper(n, **given), failure=failure) / weight
    )


def worst_neighbours(n: int, d: int, *, lipschitz: float, **_: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A record that pulls with all of C at every point, against the opposite: the others quiet, or balanced."""
    for size in (100 * lipschitz, 1e12):
        record = size * np.append(np.eye(d)[0, :-1], 10.0)
        for turned in (-record, record * np.append(np.ones(d - 1), -1.0)) if d > 1 else (-record,):
            balanced = np.where(np.arange(n)[:, np.newaxis] % 2 == 0, record, turned)
            for data in (np.zeros((n, d)), balanced) if size < 1e12 else (np.zeros((n, d)),):
                yield replace_record(data, 0, record), replace_record(data, 0, turned)
