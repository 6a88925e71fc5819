"""[P4.S1, ours] Single output perturbation: one certified minimisation of the regularised extension, one noise draw.

Statement: ε-DP (or ρ-zCDP), for all data.  With u* = argmin_W F̂_λ, the regularised minimiser without extension, and L_i the
Lipschitz constant of the i-th record's loss on W,

    ‖argmin F̂_{λ,C} − u*‖ ≤ (1/(λn)) Σ √(L_i² − C²)₊ ≤ c_k·G^k·C^{1−k}/λ  in expectation, if E L^k ≤ G^k     (`gradient_bias`),

so the output is within κC/(λn) + (quantile of the noise) + c_k·G^k·C^{1−k}/(ζ'λ) of u* but for the sum of both failure
probabilities.  No localisation is needed for that; see `plan` for the choice of C and λ.
Departures: none; it is ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.channel import L2, Bound, Channel
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import Loss
from tailproof.refimpl.pure_dp.perturbation import KAPPA, Budget, Minimise, budget, certified_point, noisy, prepare
from tailproof.refimpl.validation import FloatArray, positive


def single_output_perturbation(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: Loss | str,
    domain: Domain | str,
    weight: float,
    lipschitz: float,
    epsilon: float | None = None,
    rho: float | None = None,
    kappa: float | None = None,
    center: ArrayLike | None = None,
    method: Minimise = certified_point,
    strict: bool = False,
) -> FloatArray:
    """A point of W near argmin_W F̂_λ.  `weight` is λ, `lipschitz` is C, `kappa` κ: all public.

    By default κ is 0.1, or the least that floats allow where that is more, as with very many records.
    """
    claim = privacy(epsilon=epsilon, rho=rho)
    problem, rows = prepare(
        data, loss=loss, domain=domain, weight=weight, lipschitz=lipschitz, kappa=kappa, center=center, strict=strict
    )
    n = len(rows)
    point = method(problem.on(rows), problem.accuracy(n))
    return problem.domain.project(noisy("point", point, channel, sensitivity=problem.sensitivity_upper(n), spend=claim))


def privacy(*, epsilon: float | None = None, rho: float | None = None) -> Budget:
    return budget(epsilon=epsilon, rho=rho)


def sensitivity(n: int, *, weight: float, lipschitz: float, kappa: float = KAPPA) -> Bound:
    """(2 + 2κ)·C/(λn), attained up to the 2κ by `worst_neighbours`.  Where a run takes a larger κ by default, that one counts."""
    return L2((2 + 2 * positive("kappa", kappa)) * lipschitz / (weight * n))


def gradient_bias(lipschitz_constants: ArrayLike, *, lipschitz: float) -> float:
    """B = (1/n) Σ √(L_i² − C²)₊: λ‖argmin F̂_{λ,C} − argmin F̂_λ‖ is at most this, for every data set."""
    steep = np.asarray(lipschitz_constants, dtype=np.float64)
    excess = np.sqrt(np.maximum(steep - lipschitz, 0.0)) * np.sqrt(steep + lipschitz)  # L² may be beyond the floats
    return float(np.mean(excess))


def bias_constant(order: float) -> float:
    """c_k = (k − 1)^{−1/2}((k − 1)/k)^{k/2}: the largest √(t² − 1)/t^k, at t² = k/(k − 1), so E B ≤ c_k·G^k·C^{1−k}."""
    k = order
    return math.exp(k / 2 * math.log1p(-1 / k)) / math.sqrt(k - 1)


def bias_variance_constant(order: float) -> float:
    """c'_k: the largest (t² − 1)/t^k, so n·Var B ≤ E(L² − C²)₊ ≤ c'_k·G^k·C^{2−k}."""
    k = order
    return 1.0 if k == 2 else 2 / (k - 2) * math.exp(k / 2 * math.log1p(-2 / k))


def worst_neighbours(n: int, d: int, *, lipschitz: float, **_: object) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Records so steep that each pulls with all of C, every other one the opposite way, so that the minimiser is free to move:
    one of them turned round moves it by 2C/(λn).

    A record without a target turns round when it is negated, one with a target when that is.
    """
    for size in (lipschitz, 1e12):
        record = size * np.append(np.eye(d)[0, :-1], 10.0)
        for turned in (-record, record * np.append(np.ones(d - 1), -1.0)) if d > 1 else (-record,):
            data = np.where(np.arange(n)[:, np.newaxis] % 2 == 0, record, turned)
            neighbour = data.copy()
            neighbour[0] = turned
            yield data, neighbour
