"""[P4.S3, ours] A private moment bound: the exponential mechanism on a public geometric grid of norms.

Setting: records x_i of any length, a moment order k, a grid g_1 < … < g_m with g_{j+1} = b·g_j.  Count the records beyond g, and
those within it in part:

    N(g) = Σ_i min(1, ‖x_i‖/g)^k,     r = 2·max(1, 1/ε)·log(m/ζ),     τ = 2r,

and let j have the score q_j = −max(N(g_j) − τ, τ − N(g_{j−1}), 0), where N(g_0) = n and the last cell has no end: N(g_m) counts as
0 there.  The index j is released with probability ∝ exp(ε·q_j/2), and with it g = g_j and

    Ĝ = g·(3r/n)^{1/k}.

Statement: ε-DP, for all data (one record replaced).  With probability at least 1 − ζ, for all data with n ≥ 3r,

    (a) N(g) ≤ 3r, unless j = m: all but 3r records are no longer than g, and the records cut to the length g have
        (1/n) Σ min(‖x_i‖, g)^k ≤ Ĝ^k;
    (b) Ĝ ≤ b·3^{1/k}·((1/n) Σ min(‖x_i‖, g/b)^k)^{1/k}, unless j = 1;
    (c) Ĝ ≤ b·12^{1/k}·G, unless j = 1, if the records are independent with E‖x‖^k ≤ G^k; this one but for 2ζ.

Proof.  A replaced record moves every N(g_j) by at most 1, its terms being in [0, 1], so every score by at most 1, for a maximum of
numbers that move by at most 1 does.  Hence ε-DP.  Some score is 0: that of the least j with N(g_j) ≤ τ, or of m if there is none,
for N(g_{j−1}) > τ then, or j = 1 and n ≥ τ.  So a score below −r is released with probability at most m·e^{−εr/2} ≤ ζ.  Otherwise
N(g_j) ≤ 3r and N(g_{j−1}) ≥ r.  (a) A record beyond g counts 1 in N(g), and g^k·N(g) = Σ min(‖x_i‖, g)^k.  (b) Likewise, at g/b:
Ĝ^k = 3b^k·(g/b)^k·r/n.  (c) Let g° be the least of the grid with n(G/g°)^k ≤ r/4.  Terms are independent, in [0, 1], and their sum
N(g°) has a mean of at most r/4: by Chernoff's bound it is at least r with probability at most exp(−r(log 4 − 3/4)) ≤ ζ.  Otherwise
N(g_{j−1}) ≥ r > N(g°), so g_{j−1} < g°, and g ≤ g° ≤ b·G·(4n/r)^{1/k}.  ∎  (Idealised: noise is drawn in floats.)

What it does not say.  Ĝ need not be at least G: no algorithm can bound a moment of a law by its draws, as a rare enough record is
in none of them.  Ĝ bounds the moment of the records cut to the length g, which are all but 3r of them as they are.  The algorithms
that take it as their G are private whatever G is; their bounds of the excess risk hold if the law has that moment.

The terms are rounded down to multiples of a power of two, all together by less than (n + 1)²/2⁵¹.  So the counts are exact in
floats, and the sensitivity of 1 is, too.

Departures: none; it is ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.channel import Bound, Channel, LInf
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import Domain, parse_domain
from tailproof.refimpl.laws import Softmax
from tailproof.refimpl.losses import L4, Loss, Quadratic, Ridge, Squared, dimension_of, parse_loss
from tailproof.refimpl.means.rows import replace_record
from tailproof.refimpl.universe import table
from tailproof.refimpl.validation import FloatArray, InputError, positive, probability, real, shaped

MOST_LEVELS = 100_000
LOW, HIGH, RATIO, FAILURE, SHARE = 1e-6, 1e6, 2**0.25, 0.05, 0.1  # the defaults; the last is the share of ε
Number = TypeVar("Number", float, FloatArray)


def private_moment_bound(
    data: ArrayLike,
    channel: Channel,
    *,
    epsilon: float,
    moment_order: float,
    low: float = LOW,
    high: float = HIGH,
    ratio: float = RATIO,
    failure: float = FAILURE,
) -> FloatArray:
    """Ĝ.  The grid begins with `low` and ends with the first g ≥ `high`; `ratio` is b, `failure` ζ.  All are public."""
    claim, k = privacy(epsilon=epsilon), _order(moment_order)
    levels = grid(low=low, high=high, ratio=ratio)
    slack = slack_of(levels.size, epsilon=claim.epsilon, failure=failure)
    n = len(shaped("data", data, least=1))
    if n < (least := least_records(levels.size, epsilon=claim.epsilon, failure=failure)):
        raise InputError(
            f"data: {n} records are too few for a private moment bound at epsilon = {claim.epsilon:g}; {least} are needed"
        )
    rows, reach = table(data, None, largest=2.0**199), sensitivity()
    law = Softmax(scores(rows, levels, k, slack), 2 * reach.value / claim.epsilon)
    chosen = channel.release("index", law, sensitivity=reach, spend=claim)
    return np.asarray(levels[int(chosen)] * (3 * slack / n) ** (1 / k))


def privacy(*, epsilon: float) -> PureDP:
    return PureDP(epsilon)


def sensitivity(**_: Any) -> Bound:
    """1, of every score.  Attained."""
    return LInf(1.0)


def grid(*, low: float = LOW, high: float = HIGH, ratio: float = RATIO) -> FloatArray:
    """g_1, …, g_m."""
    least, most, b = positive("low", low), positive("high", high), real("ratio", ratio)
    if not b > 1:
        raise InputError(f"ratio = {b!r}: must be > 1")
    if not most > least:
        raise InputError(f"high = {most!r}: must be above low = {least!r}")
    count = 1 + math.ceil((math.log(most) - math.log(least)) / math.log(b) * (1 - 1e-12))
    if count > MOST_LEVELS:
        raise InputError(f"ratio = {b!r}: the grid would have {count} levels; at most {MOST_LEVELS} are allowed")
    with np.errstate(over="ignore"):
        levels = np.asarray(np.exp(math.log(least) + math.log(b) * np.arange(count)))
    if not np.isfinite(levels).all():
        raise InputError(f"high = {most!r}: the grid would end beyond the floats")
    return levels


def slack_of(levels: int, *, epsilon: float, failure: float = FAILURE) -> float:
    """r."""
    return 2 * max(1.0, 1 / positive("epsilon", epsilon)) * math.log(levels / probability("failure", failure))


def least_records(levels: int, *, epsilon: float, failure: float = FAILURE) -> int:
    """The least n ≥ 3r."""
    return math.ceil(3 * slack_of(levels, epsilon=epsilon, failure=failure))


def level_share_upper(n: int, *, epsilon: float, levels: int, failure: float = FAILURE) -> float:
    """3r/n: the share of the records beyond the level that is chosen, but for `failure`; also (Ĝ/g)^k."""
    return 3 * slack_of(levels, epsilon=epsilon, failure=failure) / n


def _order(moment_order: float) -> float:
    if not (k := real("moment_order", moment_order)) >= 1:
        raise InputError(f"moment_order = {k!r}: must be >= 1")
    return k


def counts(rows: FloatArray, levels: FloatArray, order: float) -> FloatArray:
    """N(g_j), every term rounded down to a multiple of 2^{−b}, with b so small that their sums are exact."""
    unit = _unit(len(rows))
    sizes = np.linalg.norm(rows, axis=1)
    found = []
    for level in levels.tolist():
        with np.errstate(over="ignore", under="ignore"):
            shares = np.minimum(sizes / level, 1.0) ** order
        found.append(float(np.floor(shares / unit).sum()) * unit)
    return np.array(found)


def _unit(size: int) -> float:
    """A power of two of which `size` times its inverse is a whole number that floats have."""
    return math.ldexp(1.0, size.bit_length() - 52)


def scores(rows: FloatArray, levels: FloatArray, order: float, slack: float) -> FloatArray:
    """q_j."""
    unit = _unit(len(rows))
    target = math.floor(2 * slack / unit) * unit  # as exact as the counts
    beyond = counts(rows, levels, order)
    above = np.append(beyond[:-1], 0.0) - target
    below = target - np.append(float(len(rows)), beyond[:-1])
    return np.asarray(-np.maximum(np.maximum(above, below), 0.0))


def cut_of(bound: float, n: int, *, slack: float, order: float) -> float:
    """g of a Ĝ."""
    return float(bound / (3 * slack / n) ** (1 / order))


def worst_neighbours(
    n: int,
    d: int,
    *,
    epsilon: float,
    low: float = LOW,
    high: float = HIGH,
    ratio: float = RATIO,
    failure: float = FAILURE,
    **_: Any,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A record of no length becomes one beyond the grid: every count grows by 1.  The others are such that the counts are just
    below, at or just above τ, r and 3r, everywhere or on a part of the grid."""
    levels = grid(low=low, high=high, ratio=ratio)
    slack = slack_of(levels.size, epsilon=epsilon, failure=failure)
    direction = np.ones(d) / math.sqrt(d)
    for length in (10 * levels[-1], levels[len(levels) // 2], math.sqrt(levels[0] * levels[-1])):
        for count in (slack, 2 * slack, 3 * slack):
            for many in (math.floor(count), math.ceil(count)):
                data = np.zeros((n, d))
                data[1 : 1 + min(many, n - 1)] = length * direction
                yield data, replace_record(data, 0, 10 * levels[-1] * direction)


# --- for the algorithms that need a G -------------------------------------------------------------------------------------------


def steepness_upper(loss: Loss, *, norm: Number, target: Number, reach: float) -> Number:
    """At least the Lipschitz constant of a record's loss: of features and a target of these sizes, weights within `reach` of 0."""
    with np.errstate(over="ignore"):
        match loss:
            case Ridge():
                return steepness_upper(loss.loss, norm=norm, target=target, reach=reach) + loss.weight * reach
            case Quadratic():
                return float(np.linalg.norm(loss.matrix, 2)) * (norm + reach)
            case Squared():
                return norm * (norm * reach + target)
            case L4():
                return 4 * norm * (norm * reach + target) ** 3
            case _:
                return norm


def steepness_of(loss: Loss, rows: FloatArray, domain: Domain) -> FloatArray:
    """`steepness_upper` of every record, one a row: of these the moment bound of P4.A1 and P4.S2 speaks."""
    base = loss.loss if isinstance(loss, Ridge) else loss
    has_target = not isinstance(base, Quadratic) and base.target != "none"
    features, targets = (rows[:, :-1], rows[:, -1]) if has_target else (rows, np.zeros(len(rows)))
    reach = domain.max_norm_from(np.zeros(domain.dimension))
    norms: FloatArray = np.linalg.norm(features, axis=1)
    steep = steepness_upper(loss, norm=norms, target=np.abs(targets), reach=reach)
    return np.minimum(steep, 1e60)[:, np.newaxis]


def with_private_bound(
    data: ArrayLike,
    channel: Channel,
    *,
    solve: Callable[..., FloatArray],
    loss: Loss | str,
    domain: Domain | str,
    epsilon: float,
    moment_order: float,
    moment_share: float = SHARE,
    moment_low: float = LOW,
    moment_high: float = HIGH,
    moment_failure: float = FAILURE,
    **parameters: Any,
) -> FloatArray:
    """`solve`, an algorithm that takes a moment bound, with a private one, which has this share of ε.  Together ε-DP."""
    first, rest = split(epsilon, moment_share)
    loss = parse_loss(loss) if isinstance(loss, str) else loss
    rows = table(data, loss)
    region = parse_domain(domain, dimension_of(loss, rows.shape[1])) if isinstance(domain, str) else domain
    bound = private_moment_bound(
        steepness_of(loss, rows, region),
        channel,
        epsilon=first.epsilon,
        moment_order=moment_order,
        low=moment_low,
        high=moment_high,
        failure=moment_failure,
    )
    return solve(
        rows,
        channel,
        loss=loss,
        domain=region,
        epsilon=rest.epsilon,
        moment_order=moment_order,
        moment_bound=float(bound),
        **parameters,
    )


def split(epsilon: float, share: float) -> tuple[PureDP, PureDP]:
    """What the moment bound spends, and what is left."""
    whole = PureDP(epsilon)
    first = PureDP(probability("moment_share", share) * whole.epsilon)
    return first, PureDP(whole.epsilon - first.epsilon)
