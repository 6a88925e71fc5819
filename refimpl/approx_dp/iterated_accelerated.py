"""[P0, Algorithm 7] Iterated PNCA-SGD: Algorithm 6 on parts of growing size, each from where the last one ended.

Setting: that of Algorithm 6, and (θ, λ)-TNC with θ ≥ θ̄ > 1, θ̄ known.
Statement: (ε, δ)-DP for ε = O(√(log(n/δ)/n)), by Theorem 6 on disjoint parts; excess risk in expectation [P0 Theorem 7].
What holds: what holds for Algorithm 6 on every part, with n_t records to shuffle: ε's range is that of the smallest part.
Departures: those of `accelerated`, with α_t = 2/(t + 1); part sizes as in `iterated`.  The printed R_l = R_{l−1}/2 is used
nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from tailproof.refimpl.approx_dp import accelerated
from tailproof.refimpl.approx_dp.accelerated import calibration, privacy, published_parameters, run_batches
from tailproof.refimpl.approx_dp.budget import warn_if_weak
from tailproof.refimpl.approx_dp.iterated import part_sizes
from tailproof.refimpl.approx_dp.problem import prepare, with_quiet
from tailproof.refimpl.approx_dp.steps import consecutive
from tailproof.refimpl.channel import Channel
from tailproof.refimpl.claims import ZCDP
from tailproof.refimpl.domains import Domain
from tailproof.refimpl.losses import AnyLoss
from tailproof.refimpl.validation import FloatArray, InputError, positive, whole

__all__ = ["Part", "conditional_privacy", "iterated_pnca_sgd", "privacy", "published_parts", "worst_neighbours"]


@dataclass(frozen=True)
class Part:
    """n_t, and C, T and η of Algorithm 6 on it."""

    size: int
    clip: float
    steps: int
    proximity: float

    def __post_init__(self) -> None:
        whole("size", self.size, least=1)
        whole("steps", self.steps, least=1, most=self.size)
        positive("clip", self.clip)
        positive("proximity", self.proximity)


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
    conditional_privacy(
        parts=parts, epsilon=epsilon, delta=delta, rho=rho, noise=noise
    )  # refuses what any part would refuse
    spend = privacy(epsilon=epsilon, delta=delta, rho=rho, noise=noise)
    problem = prepare(data, loss=loss, domain=domain, start=start)
    warn_if_weak(delta, len(problem.rows))
    places = consecutive((part.size for part in parts), len(problem.rows), what="parts")  # line 1
    for i, (part, members) in enumerate(zip(parts, places, strict=True), start=1):  # line 2
        inner = replace(problem, rows=problem.rows[members.start : members.stop])
        how: dict[str, Any] = {"clip": part.clip, "steps": part.steps, "proximity": part.proximity}
        found = run_batches(inner, channel.part(f"part{i}", members), **how, spend=spend, noise=noise)  # line 3
        problem = replace(problem, start=found)
    return problem.start


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
    return with_quiet(accelerated.worst_neighbours(parts[0].size, d, clip=parts[0].clip), n)
