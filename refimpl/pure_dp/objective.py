"""[P4.S2, ours] Objective perturbation of tempered losses: pure privacy for generalised linear losses with heavy tails, in one
shot.

    v = argmin_{w ∈ W} (1/n) Σ h_i(w) + ⟨b, w⟩/n + (Λ/2)‖w − w0‖²,     b with density ∝ exp(−ε₁‖b‖/(2C)),

h_i the tempered loss of the i-th record: gradients at most C long, Hessians η·uuᵀ with 0 ≤ η ≤ B = nΛ·(e^{τ} − 1) (`tempered`).
Released is the projection onto W of v', a point within r of v, plus noise with density ∝ exp(−ε₃‖z‖/(2r)).
All numbers are public: ε = ε₁ + τ + ε₃, C, Λ, W, w0, n; r follows from them (`tilted.accuracy_upper`).

Statement: ε-DP, for all data (one record replaced).

Proof.  Let y be the point above v (`tilted`); its density is g(b(y))·|det Db(y)|, Db = −(M·Q + p(I − Q)), M = Σ∇²h_i + nΛ·I.
Take neighbours that differ in record i, and almost any y.  (1) b(y) and b'(y) differ by ∇h_i − ∇h'_i at Πy, which is at most
2C long: g(b(y)) ≤ e^{ε₁}·g(b'(y)).  (2) Let A be M without ∇²h_i, so A ⪰ nΛ·I, and N = A·Q + p(I − Q).  Then
det(N + η·uuᵀQ)/det N = 1 + η·⟨u, Q·N⁻¹u⟩, and if Q is invertible Q·N⁻¹ = (A + p(Q⁻¹ − I))⁻¹ lies between 0 and 1/(nΛ): the
quotient is between 1 and 1 + B/(nΛ) = e^{τ}.  By continuity, so it is for all Q with eigenvalues in [0, 1].  Both data sets
share N, so the determinants have a quotient of at most e^{τ}.  With (1), the densities of y have one of at most e^{ε₁ + τ}.
(3) Given y, the tilt, and so v', is determined on either data set, and within r of Π(y) on both: the released points'
densities, given y, have a quotient of at most e^{ε₃}.  Integrate over y.  ∎  (Idealised: noise is drawn in floats, and running
time is not hidden.)

(2) is where the rank matters: a Hessian of rank k and norm B would cost (1 + B/(nΛ))^k.  Losses that are not generalised
linear are refused.  The bound ε₁ + τ is attained, by a record at the end of its ramp, but for logistic loss, which never has
its largest slope where it has its largest curvature (`worst_neighbours`).

Utility.  Let E‖x‖^k ≤ G^k, k ≥ 2, w* = argmin_W F, R = max_W ‖w − w0‖, D = diam W.  For losses that are 1-Lipschitz in the margin

    E F − F* ≤ ΛR²/4 + d(d+1)C²/(Λn²ε₁²) + G²/(Λn) + S(B) + D·a_k·G^k·C^{1−k} + G·r·(1 + 2d/ε₃),    a_k = (k−1)^{k−1}/k^k,

with S = G²/(2B) for absolute, hinge and ReLU loss, 0 for affine loss, D·a'_k·G^k·(2√B)^{1−k} for logistic loss,
a'_k = (2/(k+1))·((k−1)/(k+1))^{(k−1)/2}.

Proof.  Add a record to the sample, let u minimise (1/n)Σ_{j≤n+1} h_j + ⟨b, ·⟩/n + (Λ/2)‖· − w0‖² over W.  As in `plan`,
h_{n+1}(v) ≤ h_{n+1}(u) + ℓ²/(Λn), ℓ ≤ ‖x‖ the constant of h_{n+1}; E F_h(v) = E h_{n+1}(v); all n + 1 records have the same
part in u; and (1/n)Σ_{j≤n+1} (h_j(u) − h_j(w*)) ≤ ⟨b, w* − u⟩/n + (Λ/2)(‖w* − w0‖² − ‖u − w0‖² − ‖u − w*‖²).  With m = (w* +
w0)/2 and e = u − m the last bracket is ½‖w* − w0‖² − 2‖e‖²; b has mean zero given w*, so in expectation the right side is at most
ΛR²/4 + E(−⟨b, e⟩/n − Λ‖e‖²) ≤ ΛR²/4 + E‖b‖²/(4Λn²), E‖b‖² = d(d+1)(2C/ε₁)².  Bias: F − F_h at two points of W.  f − s·f has the
constant (1 − s)‖x‖, which is (‖x‖ − C)₊, or at most (‖x‖ − C)₊ + (‖x‖ − 4B/‖x‖)₊ for logistic loss: both are at most their
largest quotient by ‖x‖^k.  s·f − h is between 0 and ‖s·x‖²/(2B).  At last F is G-Lipschitz and E‖z‖ = 2dr/ε₃.  ∎

For fixed n it does not increase with ε, and tends to (1 + o(1))·G·R/√n, the bound without privacy, where n is not too large for
floats: τ is a number of its own, at most 12, and what it does not need goes to the tilt.

With the best Λ, C and τ this is at most a constant times G·D·(1/√n + 1/√(nε) + (d/(nε))^{1−1/k}) for absolute, hinge and ReLU
loss: the optimal rate of [P4] for k = 2 or ε ≥ 1.  For k > 2 and ε < 1 the smoothing may cost more, never more than 1/√(nε).

Departures: none; it is ours.  The minimiser under a linear tilt is the idea of Chaudhuri, Monteleoni and Sarwate (2011) and of
Kifer, Smith and Thakurta (2012), for bounded gradients there.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from tailproof.refimpl.channel import L2, Channel
from tailproof.refimpl.claims import PureDP
from tailproof.refimpl.domains import EPS, Ball, Box, Domain, Ellipsoid, parse_domain
from tailproof.refimpl.extension.certified import LARGEST_REACH
from tailproof.refimpl.laws import L2Laplace, PerturbedMinimiser
from tailproof.refimpl.losses import Affine, GlmLoss, Logistic, Loss, Squared, parse_loss
from tailproof.refimpl.pure_dp.plan import Assumption
from tailproof.refimpl.pure_dp.straight import straighten
from tailproof.refimpl.pure_dp.tempered import admissible, temper
from tailproof.refimpl.pure_dp.tilted import TiltedRisk, accuracy_upper, longest_tilt, nearest
from tailproof.refimpl.universe import table
from tailproof.refimpl.validation import FloatArray, InputError, between, choice, positive, shaped, vector, whole

Preset = Literal["theory", "tuned"]
SHARE, RESERVE = 0.25, 0.01  # of ε: for the determinant, τ; for the rounding, ε₃
MOST_BEND = 12.0  # τ: B is at most nΛ(e^{τ} − 1), and what is beyond is lost in rounding
LEAST_EPSILON, LARGEST_EPSILON = 1e-9, 1e12
COARSEST = 1e-3  # r in units of max_W ‖w − w0‖
CLIP, BEND, TUNED_SHARE = 0.15, 4.0, 0.3  # γ, κ and τ/ε of the tuned plan
# θ; for logistic and squared loss, whose slopes are far below their largest at the minimum
GROWTH, GENTLE_GROWTH = 0.1, 0.02
MOST_CLIP = 10.0  # in units of G√n
START_PULL = 0.05  # a quarter of the curvature at the minimum, in units of min(C, G)/R
_ROUNDING = 1 + 1e-10  # more than what evaluating a bound in floats can lose


@dataclass(frozen=True)
class ObjectivePlan:
    """C, Λ and the shares τ/ε and ε₃/ε; what they guarantee: an expected excess risk of at most `bound`.

    Without a Λ the starting point is returned, no record is used and nothing is spent.
    """

    epsilon: float
    lipschitz: float
    weight: float | None
    bound: float
    share: float = SHARE
    reserve: float = RESERVE

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        positive("lipschitz", self.lipschitz)
        if self.weight is not None:
            positive("weight", self.weight)
        positive("share", self.share)
        positive("reserve", self.reserve)
        if not self.share + self.reserve < 1:
            raise InputError(f"share = {self.share!r}, reserve = {self.reserve!r}: must leave a part of ε for the tilt")
        if self.weight is not None and not self.share * self.epsilon <= MOST_BEND * (1 + 1e-12):
            raise InputError(
                f"share = {self.share!r}: is {self.share * self.epsilon:.6g} of ε = {self.epsilon:g}; at most "
                f"{MOST_BEND:g} of it is of use"
            )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def shares_of(plan: ObjectivePlan) -> tuple[float, float, float]:
    """ε₁, τ, ε₃."""
    return plan.epsilon * (1 - plan.share - plan.reserve), plan.epsilon * plan.share, plan.epsilon * plan.reserve


def longest_bend(epsilon: float) -> float:
    """The largest τ that a plan may take."""
    return min(MOST_BEND, 0.95 * epsilon)


def allowed_epsilon(epsilon: float) -> float:
    return between("epsilon", epsilon, LEAST_EPSILON, LARGEST_EPSILON)


def tilt_scale(plan: ObjectivePlan) -> float:
    """2C/ε₁."""
    return 2 * plan.lipschitz / shares_of(plan)[0]


def curvature_of(plan: ObjectivePlan, size: int) -> float:
    """B = nΛ(e^τ − 1), rounded down."""
    assert plan.weight is not None
    return size * plan.weight * math.expm1(shares_of(plan)[1]) * (1 - 8 * EPS)


def accuracy_of(plan: ObjectivePlan, size: int, *, dimension: int, reach: float, far: float) -> float:
    """r."""
    assert plan.weight is not None
    return accuracy_upper(
        dimension=dimension,
        clip=plan.lipschitz,
        curvature=curvature_of(plan, size),
        weight=plan.weight,
        reach=reach,
        far=far,
        tilt=longest_tilt(tilt_scale(plan), dimension) / size,
    )


def _accuracy(plan: ObjectivePlan, assumption: Assumption, size: int) -> float:
    return accuracy_of(plan, size, dimension=assumption.dimension, reach=assumption.reach, far=assumption.far)


def resolved(plan: ObjectivePlan, assumption: Assumption, *, size: int) -> bool:
    """Whether floats resolve the minimiser well enough: r is at most a thousandth of how far W reaches from the start."""
    return plan.weight is None or _accuracy(plan, assumption, size) <= COARSEST * assumption.reach


# -------------------------------------------------------------------------------------------------------- the mechanism


def objective_perturbation(
    data: ArrayLike,
    channel: Channel,
    *,
    loss: Loss | str,
    domain: Domain | str,
    epsilon: float,
    moment_order: float | None = None,
    moment_bound: float | None = None,
    preset: Preset = "theory",
    plan: ObjectivePlan | None = None,
    center: ArrayLike | None = None,
    strict: bool = False,
) -> FloatArray:
    """A point of W, a ball, a box or an ellipsoid, of small population risk.

    The plan is made from the public assumption E‖x‖^k ≤ G^k, k = `moment_order`, G = `moment_bound`, unless one is given.
    `preset` "theory" minimises the explicit bound, "tuned" does better on ordinary data, with the same privacy and a weaker
    bound.  On an ellipsoid a plan's numbers are those of the ball that it is the image of (`straight`).
    """
    claim = privacy(epsilon=allowed_epsilon(epsilon))
    model = admissible(parse_loss(loss) if isinstance(loss, str) else loss)
    rows = shaped("data", data, least=1)
    view = straighten(parse_domain(domain, 1 + rows.shape[1] - model.columns(1)) if isinstance(domain, str) else domain)
    region, middle = view.inner, _start(view.domain, center)
    start = view.into(middle)
    if model.columns(region.dimension) != rows.shape[1]:
        raise InputError(f"data: has {rows.shape[1]} columns; must have {model.columns(region.dimension)}")
    if plan is None:
        if moment_order is None or moment_bound is None:
            raise InputError("moment_order, moment_bound: must be given, or a plan")
        known = assumption_of(view.domain, middle, moment_order=moment_order, moment_bound=moment_bound)
        plan = objective_plan(known, model, size=len(rows), epsilon=epsilon, preset=preset)
        if plan.weight is None:
            warnings.warn(idle_warning(known, model, size=len(rows), epsilon=epsilon), stacklevel=2)
    elif plan.epsilon != claim.epsilon:
        raise InputError(f"plan: spends ε = {plan.epsilon}; {claim} is allowed")
    _check_resolution(plan, region, start, size=len(rows))
    rows = view.rows(model, table(rows, model, strict=strict))
    if plan.weight is None:
        return middle
    n, C, B = len(rows), plan.lipschitz, curvature_of(plan, len(rows))
    for_tilt, for_bend, for_rounding = shares_of(plan)
    tempered = temper(model, rows, clip=C, curvature=B)
    risk = TiltedRisk(tempered, region, start, C, B, plan.weight)
    above = channel.release(
        "minimiser",
        PerturbedMinimiser(risk, tilt_scale(plan)),
        sensitivity=L2(2 * C),  # of the tilt that belongs to a given point
        spend=PureDP(for_tilt + for_bend),
        visible=False,
    )
    reach, far = (region.max_norm_from(point) for point in (start, np.zeros(region.dimension)))
    slack = L2(2 * accuracy_of(plan, n, dimension=region.dimension, reach=reach, far=far))
    law = L2Laplace(nearest(region, above), slack.value / for_rounding)
    return view.back(region.project(channel.release("point", law, sensitivity=slack, spend=PureDP(for_rounding))))


def _start(region: Domain, center: ArrayLike | None) -> FloatArray:
    start = region.interior_point() if center is None else vector("center", center, size=region.dimension)
    if not region.contains(start):
        raise InputError("center: must lie in the domain")
    if (reach := region.max_norm_from(0 * start)) > LARGEST_REACH:
        raise InputError(f"domain: reaches {reach:.3g} far from the origin; at most {LARGEST_REACH:g} is allowed")
    return start


def _check_resolution(plan: ObjectivePlan, region: Ball | Box, start: FloatArray, *, size: int) -> None:
    reach, far = (region.max_norm_from(point) for point in (start, np.zeros(region.dimension)))
    if plan.weight is None:
        return
    r = accuracy_of(plan, size, dimension=region.dimension, reach=reach, far=far)
    if not r <= COARSEST * reach:
        raise InputError(
            f"plan: with {size} records floats give its minimiser to within {r:.3g}, in a set that reaches {reach:.3g} from the "
            f"start; at most {COARSEST * reach:.3g} is allowed, so share, or the set's distance from the origin, must be smaller"
        )


def privacy(*, epsilon: float) -> PureDP:
    return PureDP(epsilon)


def worst_neighbours(n: int, d: int, *, plan: ObjectivePlan, **_: object) -> Iterator[tuple[FloatArray, FloatArray]]:
    """All records pull one way; one of them is replaced by one that pulls the other way, with all of C, at the end of its ramp
    in the middle of the set: there the tilts differ by 2C along their own direction, and the determinants by 1 + B/(nΛ).

    The last entry is a target, whose size matters, or a label, whose sign does.  Without one the record itself turns round.
    """
    C, B = plan.lipschitz, curvature_of(plan, n)
    for size in (C, 4 * B / C, 1e12):  # the second one is for logistic loss
        feature = size * np.eye(d)[0]
        far = 10 * size * (1 + C / B)  # beyond every ramp
        for last, other in ((far, -C * size / B), (-1.0, 1.0), (far, -far)):
            data = np.tile(np.append(feature[:-1], last) if d > 1 else feature, (n, 1))
            neighbour = data.copy()
            neighbour[0] = np.append(feature[:-1], other) if d > 1 else -feature
            yield data, neighbour


# ------------------------------------------------------------------------------------------------------------- the plan


def assumption_of(domain: Domain, center: FloatArray, *, moment_order: float, moment_bound: float) -> Assumption:
    """What is known of the records and of W; for an ellipsoid, of the records Tᵀx and of the ball."""
    view = straighten(domain) if isinstance(domain, Ellipsoid) else None
    stretch, inner, start = (view.stretch, view.inner, view.into(center)) if view else (1.0, domain, center)
    reach, far = (inner.max_norm_from(point) for point in (start, np.zeros(domain.dimension)))
    bound = stretch * positive("moment_bound", moment_bound)
    return Assumption(moment_order, bound, domain.dimension, reach, inner.diameter_upper(), far)


def clip_bias_constant(order: float) -> float:
    """a_k: the largest (t − 1)/t^k, at t = k/(k − 1)."""
    k = order
    return math.exp((k - 1) * math.log1p(-1 / k)) / k


def bend_bias_constant(order: float) -> float:
    """a'_k: the largest (t − 1/t)/t^k, at t² = (k + 1)/(k − 1)."""
    k = order
    return 2 / (k + 1) * math.pow((k - 1) / (k + 1), (k - 1) / 2)


def objective_bound(plan: ObjectivePlan, assumption: Assumption, loss: Loss, *, size: int) -> float:
    """An upper bound of E F − F*, with all constants.  None is known for squared loss but that of the worst point of W."""
    model, n = admissible(loss), whole("size", size, least=1)
    G, R, D = assumption.moment_bound, assumption.reach, assumption.diameter
    if plan.weight is None:
        return G * R * _ROUNDING
    return min(_sum_of_bounds(plan, assumption, model, n), G * D) * _ROUNDING  # no point of W is worse than that


def _sum_of_bounds(plan: ObjectivePlan, assumption: Assumption, loss: GlmLoss, n: int) -> float:
    assert plan.weight is not None
    k, d = assumption.moment_order, assumption.dimension
    G, R, D = assumption.moment_bound, assumption.reach, assumption.diameter
    C, weight, B = plan.lipschitz, plan.weight, curvature_of(plan, n)
    for_tilt, _, for_rounding = shares_of(plan)
    total = weight * R**2 / 4 + d * (d + 1) * (C / (n * for_tilt)) ** 2 / weight + G**2 / (weight * n)
    total += D * clip_bias_constant(k) * C * math.pow(G / C, k) + _bend_bias(loss, assumption, B)
    r = _accuracy(plan, assumption, n)
    return total + G * r * (1 + 2 * d / for_rounding)


def _bend_bias(loss: GlmLoss, assumption: Assumption, curvature: float) -> float:
    """S(B)."""
    G, k = assumption.moment_bound, assumption.moment_order
    if isinstance(loss, Affine):
        return 0.0
    if isinstance(loss, Squared):
        return math.inf
    if isinstance(loss, Logistic):
        bend = 2 * math.sqrt(curvature)
        return assumption.diameter * bend_bias_constant(k) * bend * math.pow(G / bend, k)
    return G**2 / (2 * curvature)


def objective_plan(
    assumption: Assumption, loss: Loss, *, size: int, epsilon: float, preset: Preset = "theory"
) -> ObjectivePlan:
    """The plan with the least bound, or the tuned one, for `size` records."""
    model, n, epsilon = admissible(loss), whole("size", size, least=1), allowed_epsilon(epsilon)
    if choice("preset", preset, ("theory", "tuned")) == "tuned":
        return tuned_objective_plan(assumption, model, size=n, epsilon=epsilon)
    if isinstance(model, Squared):
        raise InputError("preset = 'theory': no bound is known for squared loss; preset 'tuned' needs none")
    G, R, d, longest = assumption.moment_bound, assumption.reach, assumption.dimension, longest_bend(epsilon)

    def plan_at(logs: FloatArray) -> ObjectivePlan:
        weight, clip = (math.exp(min(max(x, -80.0), 80.0)) for x in logs[:2])
        bend = longest / (1 + math.exp(-min(max(float(logs[2]), -40.0), 40.0)))
        return ObjectivePlan(epsilon, clip * G, weight * G / R, math.inf, bend / epsilon)

    def height(logs: FloatArray) -> float:
        return math.log(_sum_of_bounds(plan_at(logs), assumption, model, n))

    # But for rounding the bound is log-convex in the logarithms and τ: one start is enough, and a second look.
    clip = max(1.0, n * epsilon / d) ** (1 / assumption.moment_order)
    weight = 2 * math.hypot(2 * d * clip / (n * epsilon), math.sqrt(1 / n + 1 / (n * min(epsilon, 1.0))))
    logs = np.array([math.log(weight), math.log(clip), -0.5 if longest < MOST_BEND else 0.0])
    for _ in range(3):
        logs = minimize(height, logs, method="Nelder-Mead", options={"maxiter": 400, "xatol": 1e-5, "fatol": 1e-9}).x
    idle = _bounded(ObjectivePlan(epsilon, G, None, math.inf), assumption, model, n)
    best = min(idle, _bounded(plan_at(logs), assumption, model, n), key=lambda plan: plan.bound)
    return best if resolved(best, assumption, size=n) else idle


def tuned_objective_plan(
    assumption: Assumption,
    loss: Loss,
    *,
    size: int,
    epsilon: float,
    clip: float = CLIP,
    growth: float | None = None,
    bend: float = BEND,
    share: float = TUNED_SHARE,
) -> ObjectivePlan:
    """C = c·G, c = max(γ, θ·ε√n/d)^{2/k}: clipping ends where noise is small beside sampling.  B = κ·√d·(G/R)·min(c, √c).
    (In C, but not in B, c is at most 10√n: few records are longer, if any.)
    τ is a share of ε, or less, until rounding costs at most a hundredth of R/√n.  Λ is what B asks for, and what keeps noise
    from drowning the start.

    γ = `clip`, θ = `growth`, κ = `bend` and the share were found on synthetic problems (benchmarks/objective.py).
    """
    G, R, d = assumption.moment_bound, assumption.reach, assumption.dimension
    n, epsilon = whole("size", size, least=1), allowed_epsilon(epsilon)
    theta = (GENTLE_GROWTH if isinstance(loss, Logistic | Squared) else GROWTH) if growth is None else growth
    order, base, steep = assumption.moment_order, positive("clip", clip), positive("growth", theta) * epsilon / d
    c = max(base, min(steep, MOST_CLIP) * math.sqrt(n)) ** (2 / order)
    bent = positive("bend", bend) * math.sqrt(d) * G / R * min(c, max(base, steep * math.sqrt(n)) ** (1 / order))

    def plan_at(tau: float) -> ObjectivePlan:
        noise = 2 * c * G * math.sqrt(d * (d + 1)) / (n * (epsilon * (1 - RESERVE) - tau))
        weight = bent / (n * math.expm1(tau)) + noise**2 / (START_PULL * min(c, 1.0) * G * R)
        return ObjectivePlan(epsilon, c * G, weight, math.inf, tau / epsilon)

    tau = min(positive("share", share) * epsilon, MOST_BEND)
    for _ in range(100):
        r = _accuracy(plan_at(tau), assumption, n)
        if r <= COARSEST * R and 2 * d * r / (RESERVE * epsilon) <= 0.01 * R / math.sqrt(n):
            break
        tau *= 0.8
    plan = _bounded(plan_at(tau), assumption, loss, n)
    return plan if resolved(plan, assumption, size=n) else _bounded(replace(plan, weight=None), assumption, loss, n)


def _bounded(plan: ObjectivePlan, assumption: Assumption, loss: Loss, size: int) -> ObjectivePlan:
    return replace(plan, bound=objective_bound(plan, assumption, loss, size=size))


def idle_warning(assumption: Assumption, loss: Loss, *, size: int, epsilon: float) -> str:
    """What to say where the theory plan returns the start: with how many records, or for which ε, one would move."""

    def moves(n: float, eps: float) -> bool:
        return objective_plan(assumption, loss, size=int(n), epsilon=eps).weight is not None

    records = _least(lambda n: moves(math.ceil(n), epsilon), float(size), 1e15)
    budget = _least(lambda eps: moves(size, eps), epsilon, LARGEST_EPSILON)
    ways = [f"{math.ceil(records)} records"] if records < math.inf else []
    ways += [f"epsilon = {budget:.3g}"] if budget < math.inf else []
    return (
        f"with {size} records and epsilon = {epsilon:g} no plan has a bound below that of the start, which is returned; "
        + (f"about {' or '.join(ways)} would do" if ways else "neither more records nor a larger epsilon would do")
    )


def _least(enough: Callable[[float], bool], low: float, high: float) -> float:
    """To within a hundredth, where more is enough if less is; inf if none is."""
    if not enough(high):
        return math.inf
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
