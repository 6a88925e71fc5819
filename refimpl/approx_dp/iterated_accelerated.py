"""[P0, Algorithm 7] Iterated PNCA-SGD: Algorithm 6 on parts of growing size, each from where the last one ended.

Setting: that of Algorithm 6, and (θ, λ)-TNC with θ ≥ θ̄ > 1, θ̄ known.
Statement: (ε, δ)-DP for ε = O(√(log(n/δ)/n)), by Theorem 6 on disjoint parts; excess risk in expectation [P0 Theorem 7].
What holds: what holds for Algorithm 6 on every part, with n_t records to shuffle: ε's range is that of the smallest part.
Departures: those of `accelerated`, with α_t = 2/(t + 1); part sizes as in `iterated`.  The printed R_l = R_{l−1}/2 is used
nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refimpl.approx_dp import accelerated
from refimpl.approx_dp.accelerated import calibration, pnca_sgd, privacy, published_parameters
from refimpl.approx_dp.gradients import prepare
from refimpl.approx_dp.iterated import part_sizes
from refimpl.channel import Channel
from refimpl.claims import ZCDP
from refimpl.domains import Domain
from refimpl.losses import AnyLoss
from refimpl.validation import FloatArray, InputError

__all__ = ["Part", "conditional_privacy", "iterated_pnca_sgd", "privacy", "published_parts", "worst_neighbours"]


@dataclass(frozen=True)
class Part:
    """n_t, and C, T and η of Algorithm 6 on it."""

    size: int
    clip: float
    steps: int
    proximity: float


def iterated_pnca_sgd(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: AnyLoss | str,
    domain: Domain | str,
    parts: Sequence[Part],
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    noise: str = "record",
    start: ArrayLike | None = None,
) -> FloatArray:
    """w_k, a point of W.  `parts` are those of `published_parts`, or tuned ones; `noise` as for `pnca_sgd`."""
    claim = {"epsilon": epsilon, "delta": delta, "rho": rho}
    conditional_privacy(parts=parts, noise=noise, **claim)  # refuses what any part would refuse
    function, region, point, rows = prepare(data, loss=loss, domain=domain, start=start)
    if (needed := sum(part.size for part in parts)) > len(rows):
        raise InputError(f"data: has {len(rows)} records; the parts need {needed}")
    for i, (part, end) in enumerate(zip(parts, accumulate(p.size for p in parts), strict=True), start=1):  # lines 1-2
        members = range(end - part.size, end)
        point = pnca_sgd(
            rows[members.start : members.stop],
            channel.part(f"part{i}", members),
            loss=function,
            domain=region,
            clip=part.clip,
            steps=part.steps,
            proximity=part.proximity,
            noise=noise,
            start=point,
            **claim,
        )  # line 3
    return point


def conditional_privacy(
    *,
    parts: Sequence[Part],
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    noise: str = "record",
) -> ZCDP:
    """Given the orders: a record is in one batch of one part."""
    spend = privacy(epsilon=epsilon, delta=delta, rho=rho, noise=noise)
    if not parts:
        raise InputError("parts: are none; at least one is needed")
    spends = (calibration(p.size, clip=p.clip, steps=p.steps, spend=spend, noise=noise).spend.rho for p in parts)
    return ZCDP(max(spends))


def published_parts(n: int, *, theta_bar: float, noise: str = "record", **law: Any) -> tuple[Part, ...]:
    """Algorithm 5's sizes, and for each part what `accelerated.published_parameters` makes of `law`."""
    found = []
    for size in part_sizes(n, theta_bar=theta_bar):
        given = published_parameters(size, noise=noise, **law)
        found.append(Part(size, given["clip"], given["steps"], given["proximity"]))
    return tuple(found)


def worst_neighbours(n: int, d: int, *, parts: Sequence[Part], **_: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Those of Algorithm 6 in the first part, the others quiet."""
    first = parts[0]
    quiet = np.zeros((n - first.size, d))
    for rows, neighbour in accelerated.worst_neighbours(first.size, d, clip=first.clip):
        yield np.vstack([rows, quiet]), np.vstack([neighbour, quiet])
