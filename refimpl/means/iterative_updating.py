"""[P2, Algorithm 3] Iterative updating: noisy means of random groups, then distance-and-direction steps on them.

Setting: X_1..X_n in R^d, E|⟨u, X⟩|^p ≤ M^p for every unit u.  Statement: (ε, δ)-DP for ε ≤ 8e²√(ln(4/δ)/k) by
amplification through shuffling the k groups [P2 Theorem 6]; error [P2 Theorem 5].
What holds: each group mean is ρ-zCDP with the ρ of (24), whatever the groups are, and a record is in one group only.
For k ≤ 64e⁴ln(8/δ) that alone implies the published (ε, δ), by P2 Lemma 1(4): no shuffling is needed.
For larger k the published proof cites a shuffling theorem (Feldman–McMillan–Talwar 2021, Theorem III.8).  Its condition
e^{ε0} ≤ k/(16 ln(4/δ)) then holds, but it asks every group's randomiser to be private for *any* two inputs, and a
group mean is private only for inputs that differ in one record.  So it covers groups of one record; for larger groups
the function refuses, unless `accept_unproved` records the claim as published (with an `UnprovedClaim` warning).
Departures: groups hold ⌊n/k⌋ or ⌈n/k⌉ records, the noise is scaled to the smallest (the printed m = n/k when k
divides n).  `amplification="none"` spends (ε, δ) on each group without shuffling.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl import validation
from tailproof.refimpl.channel import L2, Bound, Channel
from tailproof.refimpl.claims import ZCDP, ApproxDP, UnprovedClaim, zcdp_budget, zcdp_epsilon
from tailproof.refimpl.laws import Gaussian, UniformPermutation
from tailproof.refimpl.means.distance_program import METHODS, iterate
from tailproof.refimpl.means.rows import clip_weights, replace_record
from tailproof.refimpl.validation import FloatArray, IntArray

AMPLIFICATIONS = ("published", "none")


def iterative_updating_mean(
    data: ArrayLike,
    channel: Channel,
    *,
    epsilon: float,
    delta: float,
    clip: float,
    groups: int,
    steps: int,
    start: ArrayLike | None = None,
    method: str = "auto",
    amplification: str = "published",
    accept_unproved: bool = False,
) -> FloatArray:
    """`clip` is R, `groups` is k, `steps` is t_c, `start` is c_1 (default: the origin), `method` solves program (27)."""
    clip = validation.positive("clip", clip)
    steps = validation.whole("steps", steps, least=1)
    groups = validation.whole("groups", groups, least=1)
    method = validation.choice("method", method, METHODS)
    rho = group_budget(epsilon=epsilon, delta=delta, groups=groups, amplification=amplification)
    data = validation.records("data", data)
    n, d = data.shape
    centre = np.zeros(d) if start is None else validation.vector("start", start, size=d)
    if n < groups:
        raise validation.InputError(f"data: has {n} records; at least {groups} are needed, one for each of the groups")
    _refuse_unproved(n, groups, epsilon, delta, rho, accept_unproved)
    order = np.asarray(channel.hidden("order", UniformPermutation(n)))  # line 1
    members = np.array_split(order, groups)
    means = group_means(data, members, clip)
    smallest = n // groups
    scale = math.sqrt(2 / rho) * clip / smallest  # (23)
    reach, spend = sensitivity(smallest, clip=clip), ZCDP(rho)
    points = np.stack(
        [
            channel.part(f"group{j + 1}", rows).release(
                "mean", Gaussian(mean, scale), sensitivity=reach, spend=spend, visible=False
            )
            for j, (rows, mean) in enumerate(zip(members, means, strict=True))
        ]
    )  # lines 2-4
    estimate, _ = iterate(points, centre, steps=steps, method=method)  # lines 5-11: post-processing of the noisy means
    return np.asarray(estimate)


def group_means(data: FloatArray, members: list[IntArray], clip: float) -> FloatArray:
    """The mean of the clipped records of each group.  One column of temporaries; the data are never reordered."""
    groups = np.empty(len(data), dtype=np.int64)
    for j, rows in enumerate(members):
        groups[rows] = j
    weights = clip_weights(data, clip)
    sums = [np.bincount(groups, weights * column, minlength=len(members)) for column in data.T]
    sizes = np.array([len(rows) for rows in members])
    return np.asarray(np.stack(sums, axis=1) / sizes[:, np.newaxis])


def group_budget(*, epsilon: float, delta: float, groups: int, amplification: str = "published") -> float:
    """The ρ of each group's release: (24), or what (ε, δ) allows without shuffling."""
    epsilon, delta = validation.positive("epsilon", epsilon), validation.probability("delta", delta)
    if validation.choice("amplification", amplification, AMPLIFICATIONS) == "none":
        return zcdp_budget(epsilon, delta)
    most = 8 * math.e**2 * math.sqrt(math.log(4 / delta) / groups)
    if epsilon > most:
        raise validation.InputError(f"epsilon = {epsilon!r}: Theorem 6 needs epsilon <= 8e²√(ln(4/δ)/k) = {most:.6g}")
    logs = math.log(8 / delta) * (1 + 2 * math.sqrt(math.log(12 * groups / delta))) ** 2
    return epsilon**2 * groups / (64 * math.e**4 * logs)


def _refuse_unproved(n: int, groups: int, epsilon: float, delta: float, rho: float, accepted: bool) -> None:
    """The claim is proved when one group's ρ implies it, or when the shuffled groups are single records."""
    if n == groups or zcdp_epsilon(rho, delta) <= epsilon:
        return
    reason = f"with {groups} groups the claim rests on shuffling, which is proved for groups of one record; here n = {n}"
    if not accepted:
        raise validation.InputError(
            f"groups = {groups}: {reason}; use fewer groups, amplification='none' or accept_unproved"
        )
    warnings.warn(reason, UnprovedClaim, stacklevel=3)


def sensitivity(size: int, *, clip: float) -> Bound:
    """Of the mean of a group of `size` clipped records.  Attained."""
    return L2(2 * clip / size)


def privacy(*, epsilon: float, delta: float, **_: Any) -> ApproxDP:
    """[P2, Theorem 6] of the output, over the random grouping.  See the module's text for when it is proved."""
    return ApproxDP(epsilon, delta)


def conditional_privacy(*, epsilon: float, delta: float, groups: int, amplification: str = "published", **_: Any) -> ZCDP:
    """Of all group means together, given the groups: a record is in one group only.  Holds for every grouping."""
    return ZCDP(group_budget(epsilon=epsilon, delta=delta, groups=groups, amplification=amplification))


def worst_neighbours(n: int, d: int, *, clip: float, **_: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A record at R against −R, all others at 0: whatever its group, that group's mean moves by 2R/size."""
    direction = np.ones(d) / math.sqrt(d)
    for others in (0.0, clip):
        data = np.tile(others * direction, (n, 1))
        data[0] = clip * direction
        yield data, replace_record(data, 0, -clip * direction)
