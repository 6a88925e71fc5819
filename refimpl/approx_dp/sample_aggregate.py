"""[P1, Algorithm 1 and Theorem 2] Sample and aggregate: minimise on disjoint blocks, publish a private centre of the minimisers.

Setting: a smooth convex loss and a set W of public diameter Λ; for utility, a strongly convex risk.  Statement: (ε, δ)-DP for all
data; if every block's minimiser is within r of w* with probability at least 3/4, the output is within O(√d·r/ε) of w*.

The aggregation has to be private for *any* m points of W, one of which is replaced.  Let r_i(t) be the distance from point i to
the t-th nearest (itself the first), R_j(t) the j-th smallest of r_1(t), …, r_m(t), and Λ if j or t is more than m;
t0 = ⌊(m+1)/2⌋ + 1.  The centre is the point with the least r_i(t0).

- Two balls that hold t0 of the points, one before and one after, have an unchanged point in common, for 2(t0 − 1) > m − 1.  So the
  centre moves by at most R_1(t0) + R'_1(t0).
- Of j + 1 points at most one is replaced, and so is at most one of the t + 1 points nearest to an unchanged one:
  R'_j(t) ≤ R_{j+1}(t + 1).

Hence S = 2·max_k e^{−βk}·R_{k+2}(t0 + k + 1) bounds the move, and S ≤ e^β·S'.  The noise is Gaussian, of deviation S/α in every
coordinate.  With u the move, in units of S, and e^λ = S'/S, the privacy loss at g + (S/α)z is

    dλ + (e^{−2λ} − 1)‖z‖²/2 + e^{−2λ}(α⟨z, u⟩ + α²‖u‖²/2),   ‖u‖ ≤ min(1, e^λ),  |λ| ≤ β,

which is at most e^β·α·z_{δ/2} + α²/2 + max{dβ, (e^{2β} − 1)q/2 − dβ} but for a probability of δ, where z_{δ/2} and q are what a
standard Gaussian and χ²_d exceed with probability δ/2.  Where this is at most ε the claim is proved; other parameters are refused.

Departures: the paper's Algorithm 1 takes its aggregation from Nissim, Raskhodnikova and Smith (2007).  With `noise="published"`
α and β are theirs, α = ε/(5√(2ln(2/δ))) and β = ε/(4(d + ln(2/δ))), which needs an ε that is not large; "tuned" takes the largest
that the bound above allows.  The radius of the best ball around one of the points, R_1, is not smooth: when the point in the
middle of a star is replaced it doubles in one step, whatever β is.  The rank j = k + 2 that grows with k repairs that; if three
quarters of the points are within r of w*, S ≤ 4r all the same, up to e^{−βm/4}.  On a line `centres="any"` uses the smallest
intervals, of any centre and radius r(t), Λ/2 if t > m: S = 2·max_k e^{−βk}·r(t0 + k + 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import chdtri, ndtri

from tailproof.refimpl.approx_dp.budget import warn_if_weak
from tailproof.refimpl.approx_dp.empirical import block_minimisers
from tailproof.refimpl.approx_dp.problem import prepare
from tailproof.refimpl.approx_dp.public import positives, sizes
from tailproof.refimpl.channel import Channel, Smooth
from tailproof.refimpl.claims import ApproxDP
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.laws import Gaussian
from tailproof.refimpl.losses import AnyLoss, Quadratic
from tailproof.refimpl.means.rows import replace_record
from tailproof.refimpl.validation import FloatArray, InputError, choice, positive, probability, whole

NOISES = ("published", "tuned")
CENTRES = ("data", "any")
BLOCKS = 1.0  # the constant of m = Θ̃(d²/ε²), its logarithms left out
GOOD_BLOCK = math.sqrt(40)  # r = √(40 m E‖∇ℓ‖²/(n α²))  [P1, Lemma 1]
_FLOOR = 1e-200  # of S, in units of Λ: keeps the noise positive where e^{−βm/2} underflows


def sample_and_aggregate(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    epsilon: float,
    delta: float,
    blocks: int,
    noise: str = "published",
    centres: str = "data",
    center: ArrayLike | None = None,
    most_steps: int = 600,
) -> FloatArray:
    """`blocks` is m: each has ⌊n/m⌋ records, and what is left at the end is not used.  A block's risk is minimised in at most
    `most_steps` steps from `center`; privacy does not depend on how well."""
    claim = ApproxDP(epsilon, delta)
    blocks, noise = whole("blocks", blocks, least=2), choice("noise", noise, NOISES)
    most_steps = whole("most_steps", most_steps, least=1)
    choice("centres", centres, CENTRES)
    problem = prepare(data, loss=loss, domain=domain, start=center, name="center", smooth=True)
    warn_if_weak(delta, len(problem.rows))
    dimension = problem.domain.dimension
    if centres == "any" and dimension > 1:
        raise InputError(f"centres = {centres!r}: is for one dimension, not for {dimension}; must be 'data'")
    if blocks > len(problem.rows):
        raise InputError(f"blocks = {blocks}: must be at most the number of records, {len(problem.rows)}")
    alpha, beta = noise_shape(dimension, epsilon=epsilon, delta=delta, noise=noise)
    points = block_minimisers(problem, blocks=blocks, most_steps=most_steps)
    aggregate = data_centre if centres == "data" else interval_centre
    centre, bound = aggregate(points, diameter=problem.domain.diameter_upper(), rate=beta)
    law = Gaussian(centre, bound / alpha)
    return problem.domain.project(channel.release("centre", law, sensitivity=Smooth(np.array(bound), beta, 2), spend=claim))


def data_centre(points: FloatArray, *, diameter: float, rate: float) -> tuple[FloatArray, float]:
    """(centre, S) of any points that are at most `diameter` apart, as described above."""
    m = len(points)
    majority = (m + 1) // 2 + 1  # t0
    near = np.sort(cdist(points, points), axis=1)  # near[i, t − 1] = r_i(t)
    centre = points[int(np.argmin(near[:, majority - 1]))]
    ordered = np.sort(near[:, majority:], axis=0)  # ordered[j − 1, k] = R_j(t0 + k + 1)
    k = np.arange(m - majority)
    return centre, _smooth_bound(ordered[k + 1, k], diameter, rate)


def interval_centre(points: FloatArray, *, diameter: float, rate: float) -> tuple[FloatArray, float]:
    """The same on a line, with the smallest intervals around any centre."""
    m, ordered = len(points), np.sort(points[:, 0])
    majority = (m + 1) // 2 + 1

    def width(t: int) -> FloatArray:
        return np.asarray(ordered[t - 1 :] - ordered[: m - t + 1])

    first = int(np.argmin(width(majority)))
    centre = ordered[first] + width(majority)[first] / 2
    radii = [float(width(t).min()) / 2 for t in range(majority + 1, m + 1)]
    return np.array([centre]), _smooth_bound(np.array(radii), diameter / 2, rate)


def _smooth_bound(radii: FloatArray, largest: float, rate: float) -> float:
    """2·max_k e^{−βk}·radii_k, with the largest radius there is beyond the last."""
    decay = np.exp(-rate * np.arange(len(radii) + 1))
    return 2 * max(float((decay * np.append(radii, largest)).max()), _FLOOR * largest)


def noise_shape(dimension: int, *, epsilon: float, delta: float, noise: str = "published") -> tuple[float, float]:
    """(α, β) for the deviation S/α of β-smooth S, proved to give (ε, δ)."""
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta)
    if noise == "tuned":
        return _tuned_shape(dimension, epsilon, delta)
    alpha = epsilon / (5 * math.sqrt(2 * math.log(2 / delta)))
    beta = epsilon / (4 * (dimension + math.log(2 / delta)))
    if (loss := loss_upper(dimension, alpha=alpha, beta=beta, delta=delta)) > epsilon:
        raise InputError(
            f"epsilon = {epsilon!r}: the published noise is not proved private for so large a value (the privacy loss is below "
            f"{loss:.4g} only); noise must be 'tuned'"
        )
    return alpha, beta


def loss_upper(dimension: int, *, alpha: float, beta: float, delta: float) -> float:
    """A bound of the privacy loss that holds but for a probability of δ, for every pair of neighbours."""
    return math.exp(beta) * alpha * float(-ndtri(delta / 2)) + alpha**2 / 2 + _dilation(dimension, beta, delta)


def _dilation(dimension: int, beta: float, delta: float) -> float:
    far = float(chdtri(dimension, delta / 2))
    return max(dimension * beta, math.expm1(2 * beta) * far / 2 - dimension * beta)


def _tuned_shape(dimension: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Half of ε for the change of scale, the rest for the move."""
    half = epsilon / 2
    beta = float(brentq(lambda b: _dilation(dimension, b, delta) - half, 0.0, half / dimension, xtol=1e-300, rtol=1e-12))
    beta *= 1 - 1e-9
    reach = math.exp(beta) * float(-ndtri(delta / 2))
    alpha = 2 * half / (reach + math.sqrt(reach**2 + 2 * half))  # e^β·α·z + α²/2 = ε/2
    return alpha * (1 - 1e-9), beta


def privacy(*, epsilon: float, delta: float) -> ApproxDP:
    """[P1, Theorem 2]"""
    return ApproxDP(epsilon, delta)


def published_parameters(n: int, d: int, *, epsilon: float, delta: float) -> dict[str, Any]:
    """m = Θ̃(d²/ε²), as `BLOCKS`·d²/ε² [P1, Theorem 2].  S needs an m of the order (d + log(1/δ))/ε only: `tuned_parameters`."""
    d, epsilon = whole("d", d, least=1), positive("epsilon", epsilon)
    blocks = max(3, math.ceil(BLOCKS * (d / epsilon) ** 2))
    if blocks > whole("n", n, least=3):
        raise InputError(f"n = {n}: Theorem 2's number of blocks is {blocks}; at least so many records are needed")
    noise_shape(d, epsilon=epsilon, delta=delta)
    return {"blocks": blocks, "noise": "published"}


def tuned_parameters(
    n: int, d: int, *, epsilon: float, delta: float, diameter: float, spread: float, least_block: int | None = None
) -> dict[str, Any]:
    """The number of blocks with the least predicted error, of public numbers alone.

    `spread` is √E‖∇ℓ(w*, x)‖²/α, α the strong convexity: a block of b records is within √40·spread/√b of w* with probability 3/4
    [P1, Lemma 1].  If three quarters of the points are so, S ≤ 2·max(2r, e^{−β(m/4 − 3)}Λ), and the noise has length √d·S/α.
    A block has at least `least_block` records, 2d by default, for Lemma 1 needs strong convexity in it.
    """
    n, d = sizes(n=n, d=d)
    alpha, beta = noise_shape(d, epsilon=epsilon, delta=delta, noise="tuned")
    diameter, spread = positives(diameter=diameter, spread=spread)
    least_block = 2 * d if least_block is None else whole("least_block", least_block, least=1)
    if n // 3 < least_block:
        raise InputError(f"n = {n}: three blocks of {least_block} records need {3 * least_block}")
    m = np.arange(3, n // least_block + 1)
    radius = GOOD_BLOCK * spread * np.sqrt(m / n)
    reach = 2 * np.maximum(2 * radius, diameter * np.exp(-beta * np.maximum(m / 4 - 3, 0)))
    return {"blocks": int(m[np.argmin(math.sqrt(d) * reach / alpha + radius)]), "noise": "tuned"}


def worst_neighbours(
    n: int, d: int, *, loss: AnyLoss | str, blocks: int, **_: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """For quadratics, whose minimisers are the blocks' means, along one axis: all points at one end of W but for some, whose
    number changes, so that S does; two clusters, one the majority's before, the other after, so that the centre does; a star.

    One record of a block goes as far as it takes to bring its block to the other end of W.
    """
    if not isinstance(loss, Quadratic):
        return
    size, far = n // blocks, 1e6
    majority = (blocks + 1) // 2 + 1

    def table(*places: float) -> FloatArray:
        """The blocks one after another, the last place repeated."""
        points = np.array([*places, *([places[-1]] * (blocks - len(places)))])
        return np.outer(np.repeat(np.append(points, points[-1:]), [size] * blocks + [n - size * blocks]), np.eye(d)[0])

    for count in sorted({0, max(0, blocks - majority - 1), blocks // 2 - 1}):
        data = table(*[far] * count, -far)
        yield data, replace_record(data, size * count, 2 * size * far * np.eye(d)[0])
    data = table(-1 + 1e-9, *[0.0] * (majority - 1), 1.0)
    yield data, replace_record(data, 0, 2 * size * far * np.eye(d)[0])
    star = table(0.0, *[-1.0] * (blocks // 2), 1.0)  # its middle goes to one end
    yield star, replace_record(star, 0, 2 * size * far * np.eye(d)[0])
