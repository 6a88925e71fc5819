"""[P4, Algorithm 5] Exponential mechanism with a projected-gradient score, on a finite net of W.

Setting: losses with gradients, W in few dimensions.  With the clipped gradient of the regularised risk and η = 1/(β + λ),

    ĝ_C(w) = (1/n) Σ Π_C(∇f(w, x_i)) + λ(w − w0),    𝒢_C(w) = (w − P_W(w − η·ĝ_C(w)))/η,

a point w of the net N is released with probability ∝ exp(ε·q(w)/(2Δ)), q = −‖𝒢_C‖, Δ = 2C/n.
Statement: ε-DP, for all data and losses: replacing a record moves ĝ_C by at most 2C/n, P_W is 1-Lipschitz.  With probability at
least 1 − ζ, if every loss is β-smooth, u* = argmin_W F̂_λ and L_i is the Lipschitz constant of a record's loss on W,

    λ‖w − u*‖ ≤ 3(β + λ)ξ + (2Δ/ε)(log|N| + log(1/ζ)) + (1/n) Σ (L_i − C)₊                                     (`distance_upper`),

for 𝒢_C is 3(β + λ)-Lipschitz with a zero in W (a fixed point of the step, by Brouwer), ‖𝒢 − 𝒢_C‖ is at most the last term, and a
step without clipping contracts by 1 − ηλ, so that λ‖w − u*‖ ≤ ‖𝒢(w)‖  [P4 Theorem E.1, C = G(nε/(log|N| + log(1/ζ)))^{1/k}].
`smoothing` is σ of Appendix E.2, for absolute, hinge and ReLU losses (`ball_smoothing`): W is then replaced by its σ-neighbourhood
in what is assumed of losses, not in the net.
Rounding: 𝒢_C(w) is minus the projection of −ĝ_C(w) onto (W − w)/η, a public set.  On balls and boxes it is computed as that,
without differences of points, so that the error does not grow with β.  On other sets it is a difference of two points of W, times
β + λ.  `rounding_upper` bounds the error of a score from public numbers, and Δ has twice that on top.  Where that is more than a
hundredth of 2C/n the run is refused before a record is looked at.
Departures: β is public, and privacy does not rest on it: no record is refused or left out.  The penalty of a ridge loss is not
clipped, for it is the same for all records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailproof.refimpl.channel import Bound, Channel, LInf
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import EPS, Ball, Box, Domain, parse_domain
from tailproof.refimpl.laws import Softmax
from tailproof.refimpl.losses import GlmLoss, Loss, Quadratic, Ridge, dimension_of, parse_loss
from tailproof.refimpl.means.rows import replace_record
from tailproof.refimpl.pure_dp.ball_smoothing import check_smoothing, smoothed_slopes
from tailproof.refimpl.pure_dp.nets import MOST_POINTS, net
from tailproof.refimpl.total import nearest
from tailproof.refimpl.universe import table
from tailproof.refimpl.validation import FloatArray, InputError, positive, probability, shaped, vector, whole

MOST_ROUNDING = 0.01  # in units of 2C/n
BLOCK = 4_000_000
"""Entries of the largest table that is formed at once."""


def exponential_mechanism(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: Loss | str,
    domain: Domain | str,
    weight: float,
    lipschitz: float,
    smoothness: float,
    mesh: float,
    epsilon: float,
    smoothing: float | None = None,
    center: ArrayLike | None = None,
    most_points: int = MOST_POINTS,
    strict: bool = False,
) -> FloatArray:
    """A point of the net.  `weight` is λ, `lipschitz` C, `smoothness` β, `mesh` ξ, `smoothing` σ, `center` w0 (the middle of W).

    All are public.  A net of more than `most_points` points is refused before it is built, with its size.
    """
    claim = privacy(epsilon=epsilon)
    score = Score.of(loss, weight=weight, lipschitz=lipschitz, smoothness=smoothness, smoothing=smoothing)
    rows = shaped("data", data, least=1)
    region = parse_domain(domain, dimension_of(score.loss, rows.shape[1])) if isinstance(domain, str) else domain
    if score.loss.columns(region.dimension) != rows.shape[1]:
        raise InputError(
            f"data: has {rows.shape[1]} columns; must have {score.loss.columns(region.dimension)} for this loss"
        )
    middle = region.interior_point() if center is None else vector("center", center, size=region.dimension)
    if not region.contains(middle):
        raise InputError("center: must lie in the domain")
    reach = sensitivity(len(rows), lipschitz=lipschitz, rounding=_allowed_rounding(score, region, middle, size=len(rows)))
    points = net(region, mesh, most=most_points)
    rows = table(rows, score.loss, strict=strict)
    law = Softmax(score.of_points(points, rows, region, middle), 2 * reach.value / claim.epsilon)
    chosen = channel.release("index", law, sensitivity=reach, spend=claim)
    return np.array(points[int(chosen)])


def privacy(*, epsilon: float) -> PureDP:
    """[P4, Theorem E.1]"""
    return PureDP(epsilon)


def sensitivity(n: int, *, lipschitz: float, rounding: float = 0.0, **_: Any) -> Bound:
    """Δ = 2C/n, of the score at every point of the net, attained; and twice what rounding can do to a score."""
    return LInf(2 * lipschitz / n + 2 * rounding)


def _allowed_rounding(score: Score, domain: Domain, center: FloatArray, *, size: int) -> float:
    rounding = score.rounding_upper(domain, center, size=size)
    if not 2 * rounding <= MOST_ROUNDING * 2 * score.lipschitz / size:
        raise InputError(
            f"smoothness = {score.smoothness!r}: with {size} records floats give scores to within {rounding:.3g}, of a "
            f"sensitivity of {2 * score.lipschitz / size:.3g}; at most a two-hundredth of it is allowed: smoothness, weight or the "
            "set must be smaller"
        )
    return rounding


@dataclass(frozen=True)
class Score:
    """q(w) = −‖𝒢_C(w)‖ of data, for many points at once."""

    loss: Loss
    weight: float
    lipschitz: float
    smoothness: float
    smoothing: float | None

    @classmethod
    def of(
        cls, loss: Loss | str, *, weight: float, lipschitz: float, smoothness: float, smoothing: float | None = None
    ) -> Score:
        loss = parse_loss(loss) if isinstance(loss, str) else loss
        if not isinstance(loss, GlmLoss | Quadratic | Ridge):
            raise InputError(f"loss = {loss!r}: must be generalised linear, quadratic or ridge")
        base = loss.loss if isinstance(loss, Ridge) else loss
        if smoothing is not None:
            if not isinstance(base, GlmLoss):
                raise InputError(f"smoothing = {smoothing!r}: is for absolute, hinge and relu, not for {loss!r}")
            check_smoothing(base, smoothing)
        numbers = (positive("weight", weight), positive("lipschitz", lipschitz), positive("smoothness", smoothness))
        return cls(loss, *numbers, smoothing)

    def of_points(self, points: FloatArray, rows: FloatArray, domain: Domain, center: FloatArray) -> FloatArray:
        slopes = self.clipped_gradients(points, rows) + self.weight * (points - center)
        mapping = gradient_mapping(domain, points, slopes, steepness=self.smoothness + self.weight)
        return np.asarray(-np.linalg.norm(mapping, axis=1))

    def rounding_upper(self, domain: Domain, center: FloatArray, *, size: int) -> float:
        """At most so much is a score off, for all data, a record's part in ĝ being what floats make of it.

        That part is at most (d/4 + 4)·EPS·C longer than C, and the mean of n of them errs by at most n·EPS/2·C.  With t the
        longest ĝ, everything after it errs by less than 16(d + 8)·EPS·t.  On sets but balls and boxes a projection counts as well,
        times β + λ; its error is taken to be at most 32(d + 8)·EPS times how far its point is from the origin, as tests find it.
        """
        d, reach = domain.dimension, domain.max_norm_from(center)
        far = domain.max_norm_from(np.zeros(d))
        penalty = self.loss.weight if isinstance(self.loss, Ridge) else 0.0
        longest = self.lipschitz + self.weight * reach + penalty * far
        error = (size + d + 16) * self.lipschitz + 16 * (d + 8) * longest
        if not isinstance(domain, Ball | Box):
            error += 64 * (d + 8) * (far * (self.smoothness + self.weight) + longest)
        return error * EPS

    def clipped_gradients(self, points: FloatArray, rows: FloatArray) -> FloatArray:
        """(1/n) Σ Π_C(∇f(w, x_i)) at every point, with the gradient of a penalty, which is not clipped."""
        base, penalty = (self.loss.loss, self.loss.weight) if isinstance(self.loss, Ridge) else (self.loss, 0.0)
        clipped = self._of_quadratic if isinstance(base, Quadratic) else self._of_linear_model
        size = max(1, BLOCK // rows.size)
        parts = [clipped(base, points[i : i + size], rows) for i in range(0, len(points), size)]
        return np.concatenate(parts) + penalty * points

    def _of_linear_model(self, loss: Any, points: FloatArray, rows: FloatArray) -> FloatArray:
        """Π_C(φ'·x) = Π_{[−C, C]}(φ'·‖x‖)·x/‖x‖, labels folded into x."""
        features, (_, targets) = loss.signed_features(rows), loss.split(rows)
        norms = np.linalg.norm(features, axis=1)
        margins = features @ points.T  # records × points
        if self.smoothing is None:
            slopes = loss.dphi(margins, targets[:, np.newaxis])
        else:
            slopes = smoothed_slopes(loss, margins, targets, self.smoothing * norms, points.shape[1])
        pulls = np.clip(slopes * norms[:, np.newaxis], -self.lipschitz, self.lipschitz)
        units = np.divide(features, norms[:, np.newaxis], out=np.zeros_like(features), where=norms[:, np.newaxis] > 0)
        return np.asarray(pulls.T @ units / len(rows))

    def _of_quadratic(self, loss: Any, points: FloatArray, rows: FloatArray) -> FloatArray:
        gradients = (points[:, np.newaxis] - rows) @ loss.matrix  # points × records × d
        norms = np.linalg.norm(gradients, axis=2, keepdims=True)
        return np.asarray((gradients * (self.lipschitz / np.maximum(norms, self.lipschitz))).mean(axis=1))


def gradient_mapping(domain: Domain, points: FloatArray, slopes: FloatArray, *, steepness: float) -> FloatArray:
    """(w − P_W(w − s/steepness))·steepness for every point w of W and its slope s."""
    if isinstance(domain, Box):
        return np.clip(slopes, (points - domain.upper) * steepness, (points - domain.lower) * steepness)
    if isinstance(domain, Ball):
        return _mapping_on_ball(domain, points - domain.center, slopes, steepness)
    return np.asarray((points - nearest(domain, points - slopes / steepness)) * steepness)


def _mapping_on_ball(ball: Ball, offsets: FloatArray, slopes: FloatArray, steepness: float) -> FloatArray:
    """With u = w − c, z = u − s/β and h = β(‖z‖² − R²), which is formed without β(‖u‖² − R²) ≤ 0, the part that is public, being
    rounded twice: s where h ≤ 0, otherwise s·R/‖z‖ + u·h/(‖z‖(‖z‖ + R))."""
    lengths = np.linalg.norm(offsets, axis=1)
    depths = np.maximum((ball.radius - lengths) * (ball.radius + lengths), 0.0)
    with np.errstate(over="ignore"):
        heights = (
            np.einsum("ij,ij->i", slopes, slopes) / steepness
            - 2 * np.einsum("ij,ij->i", offsets, slopes)
            - depths * steepness
        )
    heights = np.maximum(heights, 0.0)
    far = np.sqrt(ball.radius**2 + heights / steepness)
    shrinking, pushing = ball.radius / far, heights / (far * (far + ball.radius))
    return np.asarray(slopes * shrinking[:, np.newaxis] + offsets * pushing[:, np.newaxis])


# --- utility --------------------------------------------------------------------------------------------------------------


def distance_upper(
    lipschitz_constants: ArrayLike,
    *,
    net_size: int,
    weight: float,
    lipschitz: float,
    smoothness: float,
    mesh: float,
    epsilon: float,
    failure: float,
) -> float:
    """The bound of ‖w − u*‖ above, for the Lipschitz constants L_i of these data; it holds but for `failure`."""
    constants = vector("lipschitz_constants", lipschitz_constants)
    logarithm = math.log(whole("net_size", net_size, least=1)) - math.log(probability("failure", failure))
    noise = 4 * lipschitz / (len(constants) * positive("epsilon", epsilon)) * logarithm
    bias = float(np.maximum(constants - lipschitz, 0).mean())
    return (3 * (smoothness + weight) * mesh + noise + bias) / positive("weight", weight)


def published_clip(
    n: int, *, net_size: int, epsilon: float, moment_order: float, moment_bound: float, failure: float
) -> float:
    """C = G(nε/(log|N| + log(1/ζ)))^{1/k}  [P4, Theorem E.1]."""
    logarithm = math.log(whole("net_size", net_size, least=1)) - math.log(probability("failure", failure))
    ratio = whole("n", n, least=1) * positive("epsilon", epsilon) / max(logarithm, 1e-300)
    return float(positive("moment_bound", moment_bound) * ratio ** (1 / positive("moment_order", moment_order)))


# --- neighbours -----------------------------------------------------------------------------------------------------------


def worst_neighbours(n: int, d: int, *, lipschitz: float, **_: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A record that pulls with all of C at every point, against the opposite; the others quiet, or balanced, or all alike."""
    last = np.append(np.ones(d - 1), -1.0)
    for pull in (np.append(np.eye(d)[0, :-1], 1e6 * lipschitz), 1e6 * lipschitz * np.ones(d) / math.sqrt(d)):
        for others in (np.zeros(d), pull, -pull):
            data = np.tile(others, (n, 1))
            data[0] = pull
            for turned in (-pull, pull * last):
                yield data, replace_record(data, 0, turned)
