"""Exact laws of noise and of choices, and what tells two of them apart.

A law on the line has corners, between which the ratio of any two laws of one family is monotone, and atoms; a law on
finitely many outcomes is an array.  `largest_loss` is the supremum of log p/q, `profile` the δ of (ε, δ): sup_S p(S) − e^ε
q(S), both in one direction, p against q.  What is idealised: noise of the continuous families is continuous.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

Array = NDArray[np.float64]
ORDERS = np.concatenate([1 + np.geomspace(1e-4, 1, 25), np.geomspace(2, 1e4, 60)])  # of Rényi divergences


@dataclass(frozen=True)
class Line:
    """`below(x)` is the mass of the continuous part below x; the density is zero where its logarithm is −∞."""

    corners: tuple[float, ...]
    below: Callable[[float], float]
    log_density: Callable[[float], float]
    atoms: dict[float, float] = field(default_factory=dict)

    def cumulative(self, x: float) -> float:
        return self.below(x) + math.fsum(mass for place, mass in self.atoms.items() if place <= x)


def _difference(p: Line, q: Line, x: float) -> float:
    """log p/q at x; −∞ where p has no density."""
    here, there = p.log_density(x), q.log_density(x)
    return here - there if here > -math.inf else -math.inf


def _segments(p: Line, q: Line) -> Iterable[tuple[float, float, float, float]]:
    """(start, end, loss just after the start, loss just before the end)."""
    corners = sorted({*p.corners, *q.corners})
    span = (corners[-1] - corners[0]) or 1.0
    ends = corners[:1]
    for corner in corners[1:]:
        if corner - ends[-1] > 1e-9 * span:  # nearer ones are one corner, rounded
            ends.append(corner)
    for low, high in zip([-math.inf, *ends], [*ends, math.inf], strict=True):
        first = high - span if low == -math.inf else low
        last = low + span if high == math.inf else high
        step = (last - first) * 1e-9
        yield low, high, _difference(p, q, first + step), _difference(p, q, last - step)


def largest_loss(p: Line, q: Line) -> float:
    found = [loss for _, _, *losses in _segments(p, q) for loss in losses]
    for place, mass in p.atoms.items():
        there = q.atoms.get(place, 0.0)
        found.append((math.log(mass / there) if there > 0 else math.inf) if mass > 0 else -math.inf)
    return max(found)


def profile(p: Line, q: Line, epsilon: float) -> float:
    """δ(ε), from cumulative distributions; the ends of {log p/q > ε} are found by bisection."""
    found = [max(0.0, mass - math.exp(epsilon) * q.atoms.get(place, 0.0)) for place, mass in p.atoms.items()]
    for low, high, first, last in _segments(p, q):
        if max(first, last) <= epsilon:
            continue
        if min(first, last) <= epsilon:
            middle = _crossing(p, q, epsilon, low, high)
            low, high = (middle, high) if last > epsilon else (low, middle)
        found.append(p.below(high) - p.below(low) - math.exp(epsilon) * (q.below(high) - q.below(low)))
    return math.fsum(found)


def _crossing(p: Line, q: Line, epsilon: float, low: float, high: float) -> float:
    rising = _difference(p, q, high - (high - low) * 1e-9) > epsilon
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (low, middle) if (_difference(p, q, middle) > epsilon) == rising else (middle, high)
    return (low + high) / 2


def epsilon_at(delta_of: Callable[[float], float], delta: float, *, highest: float = 60.0) -> float:
    """The least ε with δ(ε) ≤ δ, up to rounding."""
    delta *= 1 + 1e-6
    if delta_of(0.0) <= delta:
        return 0.0
    low, high = 0.0, highest
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(middle) <= delta else (middle, high)
    return high


# --- on the line -----------------------------------------------------------------------------------------------------------


def _laplace_below(x: float, scale: float) -> float:
    return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2


def _laplace_mass(start: float, end: float, scale: float) -> float:
    """Between the two; far out on either side, too."""
    if start > 0:
        start, end = -end, -start
    return _laplace_below(end, scale) - _laplace_below(start, scale)


def laplace(center: float, scale: float) -> Line:
    return Line(
        (center,),
        lambda x: _laplace_below(x - center, scale),
        lambda x: -abs(x - center) / scale - math.log(2 * scale),
    )


def clamped(center: float, scale: float, lower: float, upper: float) -> Line:
    """Laplace; what is outside goes to the nearest bound."""
    whole = laplace(center, scale)
    low = whole.below(lower)
    return Line(
        (lower, min(max(center, lower), upper), upper),
        lambda x: whole.below(min(max(x, lower), upper)) - low,
        lambda x: whole.log_density(x) if lower < x < upper else -math.inf,
        {lower: low, upper: _laplace_below(center - upper, scale)},
    )


def _log_cosh(x: float) -> float:
    return abs(x) + math.log1p(math.exp(-2 * abs(x))) - math.log(2)


def _log_sinh(x: float) -> float:
    return x + math.log(-math.expm1(-2 * x)) - math.log(2) if x > 0 else -math.inf


def folded(center: float, scale: float, lower: float, upper: float) -> Line:
    """Laplace, reflected at both bounds until it is inside: cosh((m − lower)/b)·cosh((upper − M)/b)/(b·sinh((upper −
    lower)/b)) with m, M the smaller and the larger of x and the centre."""
    total = _log_sinh((upper - lower) / scale)

    def log_density(x: float) -> float:
        if not lower < x < upper:
            return -math.inf
        small, large = min(x, center), max(x, center)
        return _log_cosh((small - lower) / scale) + _log_cosh((upper - large) / scale) - total - math.log(scale)

    def below(x: float) -> float:
        x = min(max(x, lower), upper)
        inner, outer = _log_cosh((upper - center) / scale), _log_cosh((center - lower) / scale)
        if x <= center:
            return math.exp(inner - total + _log_sinh((x - lower) / scale))
        return 1 - math.exp(outer - total + _log_sinh((upper - x) / scale))

    return Line((lower, center, upper), below, log_density)


def conditioned(center: float, scale: float, lower: float, upper: float) -> Line:
    """Laplace, drawn again until it is inside."""
    whole = laplace(center, scale)
    low, mass = whole.below(lower), whole.below(upper) - whole.below(lower)
    return Line(
        (lower, center, upper),
        lambda x: (whole.below(min(max(x, lower), upper)) - low) / mass,
        lambda x: whole.log_density(x) - math.log(mass) if lower < x < upper else -math.inf,
    )


def tulap(center: float, epsilon: float, delta: float) -> Line:
    """The canonical noise of (ε, δ): a uniform number from (−½, ½) plus a difference of geometric ones, given that it is
    between its quantiles at q/2 and 1 − q/2.  Density is constant between half-integers."""
    b = math.exp(-epsilon)
    cut = 2 * delta * b / (1 - b + 2 * delta * b)

    def whole(x: float) -> float:
        if x > 0:
            return 1 - whole(-x)
        near = math.floor(x + 0.5)
        return b**-near / (1 + b) * (b + (x - near + 0.5) * (1 - b))

    low, high = -1.0, 0.0
    while whole(low) > cut / 2:
        low *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if whole(middle) > cut / 2 else (middle, high)
    end = -low

    def log_density(x: float) -> float:
        x = abs(x - center)
        return math.log((1 - b) / (1 + b) / (1 - cut)) - epsilon * math.floor(x + 0.5) if x < end else -math.inf

    cells = range(math.floor(end + 0.5))
    corners = {center + sign * at for at in (end, *(k + 0.5 for k in cells)) for sign in (-1, 1)}
    return Line(
        tuple(sorted(corners)),
        lambda x: min(max((whole(min(max(x - center, -end), end)) - cut / 2) / (1 - cut), 0.0), 1.0),
        log_density,
    )


def uniform(center: float, half: float) -> Line:
    return Line(
        (center - half, center + half),
        lambda x: min(max((x - center + half) / (2 * half), 0.0), 1.0),
        lambda x: -math.log(2 * half) if abs(x - center) < half else -math.inf,
    )


def staircase(center: float, sensitivity: float, epsilon: float, gamma: float, *, steps: int = 40) -> Line:
    """Steps of height e^{−kε} on [k, k + γ)·Δ and e^{−(k+1)ε} on [k + γ, k + 1)·Δ; corners of the first steps."""
    ratio = math.exp(-epsilon)
    top = (1 - ratio) / (2 * sensitivity * (gamma + (1 - gamma) * ratio))

    def log_density(x: float) -> float:
        whole, part = divmod(abs(x - center) / sensitivity, 1.0)
        return math.log(top) - epsilon * (whole + (part >= gamma))

    def below(x: float) -> float:
        whole, part = divmod(abs(x - center) / sensitivity, 1.0)
        step = min(part, gamma) + ratio * max(part - gamma, 0.0)
        right = (1 - ratio**whole) / 2 + top * sensitivity * ratio**whole * step
        return 0.5 + math.copysign(right, x - center)

    places = {k + part for k in range(steps) for part in (0.0, gamma)}
    return Line(tuple(sorted({center + sign * at * sensitivity for at in places for sign in (-1, 1)})), below, log_density)


def snapped(center: float, scale: float, grid: float, bound: float) -> Line:
    """Laplace, rounded to the nearest multiple of `grid`, then to [−bound, bound]: atoms alone."""
    center = min(max(center, -bound), bound)
    most = math.floor(bound / grid)
    places = [k * grid for k in range(-most, most + 1)]
    atoms = {at: _laplace_mass(at - grid / 2 - center, at + grid / 2 - center, scale) for at in places}
    for side in (-1, 1):
        atoms[side * bound] = atoms.get(side * bound, 0.0) + _laplace_below(side * center - (most + 0.5) * grid, scale)
    return Line((-bound, bound), lambda _: 0.0, lambda _: -math.inf, atoms)


# --- on finitely many outcomes ---------------------------------------------------------------------------------------------


def array_loss(p: Array, q: Array) -> float:
    """The largest log p/q over what p gives."""
    possible = p > 0
    with np.errstate(divide="ignore"):
        return float((np.log(p[possible]) - np.log(q[possible])).max())


def array_profile(p: Array, q: Array, epsilon: float) -> float:
    return math.fsum(np.maximum(0.0, p - math.exp(epsilon) * q))


def array_rho(p: Array, q: Array) -> float:
    """max_α D_α(p‖q)/α over `ORDERS`: a lower bound of the ρ of zCDP."""
    orders = ORDERS[:, np.newaxis]
    logs = logsumexp(orders * np.log(p) + (1 - orders) * np.log(q), axis=1)
    return float((logs / (ORDERS * (ORDERS - 1))).max())


def geometric(center: int, rate: float, lower: int, upper: int) -> Array:
    """P(k) ∝ e^{−rate·|k − center|} for k from `lower` to `upper`, out of all integers."""
    k = np.arange(lower, upper + 1)
    return np.asarray(np.tanh(rate / 2) * np.exp(-rate * np.abs(k - center)))


def discrete_gaussian(center: int, sigma: float, lower: int, upper: int) -> Array:
    """P(k) ∝ e^{−(k − center)²/2σ²} for k from `lower` to `upper`, which hold nearly all of the mass."""
    logs = -((np.arange(lower, upper + 1) - center) ** 2) / (2 * sigma**2)
    wide = np.arange(-math.ceil(45 * sigma) - 1, math.ceil(45 * sigma) + 2)
    return np.asarray(np.exp(logs - logsumexp(-(wide**2) / (2 * sigma**2))))


def moved(masses: Array, lower: int, rule: Callable[[int], int], least: int, most: int) -> Array:
    """The law of rule(k), whose values are from `least` to `most`, when k ≥ `lower` has these masses."""
    found = np.zeros(most - least + 1)
    for offset, mass in enumerate(masses):
        found[rule(lower + offset) - least] += mass
    return found


def fold(value: float, lower: float, upper: float) -> float:
    while not lower <= value <= upper:
        value = 2 * lower - value if value < lower else 2 * upper - value
    return value


# --- choices ---------------------------------------------------------------------------------------------------------------


def permute_and_flip(flips: Sequence[float]) -> Array:
    """Candidates in random order, each taken with its probability: P(i) = q_i·Σ_S (−1)^{|S|}·Π_S q_j/(|S| + 1), sets S of
    others."""
    found = []
    for i, own in enumerate(flips):
        rest = [flip for j, flip in enumerate(flips) if j != i]
        terms = (
            (-1) ** size * math.prod(chosen) / (size + 1)
            for size in range(len(flips))
            for chosen in combinations(rest, size)
        )
        found.append(own * math.fsum(terms))
    return np.array(found)


def softmax(scores: Sequence[float]) -> Array:
    return np.asarray(np.exp(np.asarray(scores, dtype=np.float64) - logsumexp(scores)))


def flip_choice(scores: Sequence[float]) -> Array:
    """Permute-and-flip on scores in units of the noise: P(flip) = e^{score − largest}."""
    return permute_and_flip([math.exp(score - max(scores)) for score in scores])


def in_order(scores: Sequence[float], many: int, choice: Callable[[Sequence[float]], Array]) -> Array:
    """One chosen after another, each out of those that are left: the law of the ordered choices, in lexicographic order."""
    if many == 0:
        return np.ones(1)
    first = choice(scores)
    parts = [first[i] * in_order([s for j, s in enumerate(scores) if j != i], many - 1, choice) for i in range(len(scores))]
    return np.concatenate(parts)


# --- mixtures of Gaussians -------------------------------------------------------------------------------------------------

Mixture = tuple[tuple[float, float], ...]
"""(weight, mean) of each part."""


def mixture_profile(p: Mixture, q: Mixture, sigma: float, epsilon: float) -> float:
    """δ(ε) of Σ wᵢN(mᵢ, σ²) against another; p/q must rise or fall: the one end of {p > e^ε q} is found by bisection."""

    def logs(side: Mixture, x: float) -> float:
        parts = [math.log(w) - (x - m) ** 2 / (2 * sigma**2) for w, m in side if w > 0]
        return max(parts) + math.log(math.fsum(math.exp(part - max(parts)) for part in parts))

    def excess(x: float) -> float:
        return logs(p, x) - logs(q, x) - epsilon

    reach = 40 * sigma + max(abs(m) for _, m in (*p, *q))
    if (excess(-reach) > 0) == (excess(reach) > 0):
        return 0.0
    rising, low, high = excess(reach) > 0, -reach, reach
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if (excess(middle) > 0) == rising else (middle, high)
    side = -1.0 if rising else 1.0
    total = [
        math.fsum(w * math.erfc(-side * (low - m) / sigma / math.sqrt(2)) / 2 for w, m in mixture) for mixture in (p, q)
    ]
    return max(0.0, total[0] - math.exp(epsilon) * total[1])


def composed_lower(
    log_ratio: Callable[[Array], Array],
    masses: Callable[[Array], Array],
    edges: Array,
    epsilon: float,
    times: int,
    *,
    step: float = 2e-3,
) -> float:
    """A lower bound of δ(ε) of so many independent copies: losses, which are monotone on every cell between two edges, are
    rounded down to multiples of `step`, what is outside is left away, and sums are taken by convolution, all of whose terms
    are positive."""
    losses = log_ratio(edges)
    cells = np.floor(np.minimum(losses[1:], losses[:-1]) / step + 1e-9).astype(int)
    start = int(cells.min())
    one = np.bincount(cells - start, weights=masses(edges))
    total = one
    for _ in range(times - 1):
        total = np.convolve(total, one)
    values = (start * times + np.arange(len(total))) * step
    return float((total * np.maximum(0.0, -np.expm1(np.minimum(epsilon - values, 0.0)))).sum())


def mixture_logs(mixture: Mixture, sigma: float, at: Array) -> Array:
    """log density, up to the constant that all mixtures with this σ share."""
    return np.asarray(logsumexp([math.log(w) - (at - m) ** 2 / (2 * sigma**2) for w, m in mixture if w > 0], axis=0))


def composed_mixtures(p: Mixture, q: Mixture, sigma: float, epsilon: float, times: int) -> float:
    """A lower bound of δ(ε) of so many copies."""
    return composed_lower(
        lambda at: mixture_logs(p, sigma, at) - mixture_logs(q, sigma, at),
        lambda at: np.asarray(sum(w * np.diff(ndtr((at - m) / sigma)) for w, m in p)),
        np.linspace(-14 * sigma - 1, 14 * sigma + 2, 200_001),
        epsilon,
        times,
    )


def composed_laplace(scale: float, epsilon: float, times: int) -> float:
    """A lower bound of δ(ε) of so many values with Laplace noise, each moved by 1."""
    whole = laplace(0.0, scale)
    return composed_lower(
        lambda at: np.asarray((np.abs(at - 1) - np.abs(at)) / scale),
        lambda at: np.diff([whole.below(float(x)) for x in at]),
        np.concatenate([[-60 * scale], np.linspace(0.0, 1.0, 4001), [1 + 60 * scale]]),
        epsilon,
        times,
        step=1 / (2000 * scale),
    )


def by_quadrature(p: Callable[[Array], Array], q: Callable[[Array], Array], edges: Array, epsilon: float) -> float:
    """∫(p − e^ε q)₊, by the trapezoidal rule: for densities in one dimension."""
    excess = np.maximum(0.0, p(edges) - math.exp(epsilon) * q(edges))
    return float((np.diff(edges) * (excess[1:] + excess[:-1]) / 2).sum())


def worst(pairs: Iterator[tuple[float, float]]) -> float:
    """The largest quotient, exact over stated; nothing is said where the exact value is 0."""
    return max(true / said if said > 0 else math.inf for true, said in pairs if true > 0)
