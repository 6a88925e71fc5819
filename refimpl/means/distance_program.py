"""[P2, program (27) and Algorithm 3, lines 5-11] Distance and direction from a centre to the bulk of some points.

Setting: points Q_1..Q_k in R^d and a centre c.  Write a_j = Q_j − c and keep = ⌈0.9 k⌉.  Program (27) asks for

    max over unit vectors u of f(u),     f(u) = the keep-th largest of ⟨a_1, u⟩, …, ⟨a_k, u⟩,

which estimates ‖μ − c‖ and the direction from c to μ [Lemma 7].  It is negative when c lies deep among the points.  The
program is not convex; three methods answer it and every answer names its own:

exact         d = 1 by inspection, d = 2 by covering the circle with arcs, d ≥ 3 by searching the sets of removed points
              and the hyperplanes through points, where these are few;
semidefinite  a relaxation with a proved upper bound, rounded to a direction and improved by local ascent;
heuristic     random directions and local ascent.

Whatever the method, `distance` is what `direction` attains, `upper` is proved, and both depend on the multiset of points
only: the differences are sorted first, so a permutation of the points changes no bit of the answer.  Everything here is
post-processing of values that are already private, so its own random directions need no channel and may come from a
fixed generator.

If a method misses the optimum by g, then |d − ‖c − μ‖| ≤ r₀ in Lemma 7 becomes −r₀ − g ≤ d − ‖c − μ‖ ≤ r₀.

Departures from print: (27) is printed with the 0/1 weights b_j, which the order statistic eliminates; line 9 takes the
minimum over the centres whose distance line 6 computed, c_1 … c_T (the proof of Lemma 8 counts c_{T+1} as well; the
lemma holds without it).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog, lsq_linear, minimize_scalar, nnls

from tailproof.refimpl.validation import FloatArray, InputError, choice, positive, records, vector, whole

METHODS = ("auto", "exact", "semidefinite", "heuristic")

# What "affordable" means for the exact method in three dimensions and more, about half a second each: hulls of the points
# less a removed set, times points, and hyperplanes through d of the points.
MOST_HULL_POINTS = 200_000
MOST_HYPERPLANES = 20_000
# Beyond this many points or coordinates `auto` does not try the relaxation; its cost grows like d⁶.
MOST_RELAXED, MOST_RELAXED_COORDINATES = 40, 20

# What rounding may cost, relative to a vector's norm and per coordinate (2^7 units in the last place, which is generous);
# added wherever an upper bound is stated.
ROUNDING = 2.0**-46


@dataclass(frozen=True, eq=False)
class Estimate:
    """An answer to program (27): what `direction` attains, and a bound that no direction can exceed."""

    distance: float
    direction: FloatArray
    method: str
    upper: float


def kept(k: int) -> int:
    """The least whole number that is at least 0.9 k."""
    return -(-9 * k // 10)


def attained(points: ArrayLike, centre: ArrayLike, direction: ArrayLike) -> float:
    """The keep-th largest of ⟨Q_j − c, u⟩: the value of `direction` in program (27)."""
    a = _differences(points, centre)
    return _value(a, vector("direction", direction, size=a.shape[1]))


def estimate(
    points: ArrayLike, centre: ArrayLike, *, method: str = "auto", rng: np.random.Generator | None = None
) -> Estimate:
    """Answer program (27) for the given points and centre.

    `auto` is exact where that is affordable, else semidefinite for at most 40 points in at most 20 dimensions, else
    heuristic.  `upper` is rounded outward.  Without `rng` the heuristic's directions come from a fixed generator: privacy
    does not depend on them.
    """
    choice("method", method, METHODS)
    differences = _differences(points, centre)
    k, d = differences.shape
    # A power of two, so that scaling is exact and squares can neither overflow nor vanish: entries are below 2.
    scale = 2.0 ** (math.frexp(float(np.abs(differences).max()))[1] - 1) if differences.any() else 1.0
    a = differences / scale
    # More coordinates than points: every unit vector projects them as one in their span and one further axis does.
    axes = np.linalg.qr(np.column_stack([a.T, np.zeros(d)]))[0] if d > k + 1 else np.eye(d)
    direction, upper, used = _solve(a @ axes, method, _generator(rng))
    direction = axes @ direction
    distance = _value(differences, direction)
    return Estimate(distance, direction, used, max(distance, (upper + _rounding(d)) * scale))


def _solve(a: FloatArray, method: str, rng: np.random.Generator) -> tuple[FloatArray, float, str]:
    """The direction, an upper bound before rounding, and the method that found them."""
    k, d = a.shape
    upper = _simple_upper(a)
    if method in ("auto", "exact"):
        optimal, proved = _exact(a)
        if optimal is not None:
            return optimal, proved, "exact"
        if method == "exact":
            raise InputError(f"method = 'exact': is not affordable for these {k} points; use 'auto'")
        upper = min(upper, proved)
    direction = _heuristic(a, rng)
    if method == "heuristic" or (method == "auto" and (k > MOST_RELAXED or d > MOST_RELAXED_COORDINATES)):
        return direction, upper, "heuristic"
    return *_semidefinite(a, direction, upper), "semidefinite"


def iterate(
    points: ArrayLike,
    start: ArrayLike,
    *,
    steps: int,
    step_size: float = 0.25,
    method: str = "auto",
    rng: np.random.Generator | None = None,
) -> tuple[FloatArray, tuple[Estimate, ...]]:
    """[P2, Algorithm 3, lines 5-11] Follow the estimated distances and directions; return the centre nearest by them.

    The second value holds the `steps` estimates, in order.  Exactly invariant under permutations of the points.
    """
    rate = positive("step_size", step_size)
    count = whole("steps", steps, least=1)
    data = records("points", points, least=1)
    centre = vector("start", start, size=data.shape[1])
    generator = _generator(rng)
    centres, estimates = [centre], []
    for _ in range(count):  # lines 5-8
        answer = estimate(data, centres[-1], method=method, rng=generator)
        estimates.append(answer)
        centres.append(centres[-1] + rate * answer.distance * answer.direction)
    nearest = min(range(count), key=lambda step: estimates[step].distance)  # line 9
    return centres[nearest], tuple(estimates)  # lines 10-11


def _generator(rng: np.random.Generator | None) -> np.random.Generator:
    if rng is None:
        return np.random.default_rng(0)
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng = {rng!r}: must be a numpy random Generator or None")
    return rng


def _differences(points: ArrayLike, centre: ArrayLike) -> FloatArray:
    """Q_j − c in lexicographic order (adding 0.0 turns −0.0 into 0.0, which would sort alike but print apart)."""
    data = records("points", points, least=1)
    with np.errstate(over="ignore"):
        a = data - vector("centre", centre, size=data.shape[1]) + 0.0
        if not np.isfinite(np.abs(a).max() * a.shape[1]):
            raise InputError("points: a difference from the centre overflows; rescale the data")
    return np.ascontiguousarray(a[np.lexsort(a.T[::-1])])


def _value(a: FloatArray, direction: FloatArray) -> float:
    """f(u), with every row summed alike whatever its place."""
    projections = (a * direction).sum(axis=1)
    removed = len(a) - kept(len(a))
    return float(np.partition(projections, removed)[removed])


def _values(a: FloatArray, directions: FloatArray) -> FloatArray:
    """f at every row of `directions`."""
    removed = len(a) - kept(len(a))
    return np.partition(directions @ a.T, removed, axis=1)[:, removed]


def _rounding(d: int) -> float:
    """What rounding may change in ⟨a_j, u⟩, for scaled differences."""
    return 2 * d * math.sqrt(d) * ROUNDING


def _unit(v: FloatArray) -> FloatArray:
    return v / np.linalg.norm(v)


# --- exact -----------------------------------------------------------------------------------------------------------


def _exact(a: FloatArray) -> tuple[FloatArray | None, float]:
    """The optimal direction, or None where it is not affordable, and an upper bound before rounding."""
    k, d = a.shape
    if d == 1:
        signs = np.array([[1.0], [-1.0]])
        values = _values(a, signs)
        return signs[values.argmax()], float(values.max())
    if d == 2:
        return _search_circle(a)
    direction, upper = _search_removed(a)
    if direction is not None:
        return direction, upper
    if upper == math.inf or math.comb(k, d) > MOST_HYPERPLANES:
        return None, upper
    direction, upper_negative = _search_hyperplanes(a)
    # The second bound supposes an optimum that is not positive, which the first search has proved when its bound is 0.
    return direction, upper_negative if upper == 0 else upper


def _search_circle(a: FloatArray) -> tuple[FloatArray, float]:
    """d = 2: f(u) ≥ s exactly when keep of the arcs {u : ⟨a_j, u⟩ ≥ s} contain u; bisect on s.

    A closed arc cover is deepest at some arc's start, so one sort decides each s.
    """
    keep = kept(len(a))
    norms, angles = np.hypot(a[:, 0], a[:, 1]), np.arctan2(a[:, 1], a[:, 0])

    def covered(s: float) -> float | None:
        """An angle in keep arcs, in the middle of the stretch where it is."""
        whole_circle = s <= -norms * (1 - 2.0**-50)  # also where rounding would make an arc meet itself
        proper = ~whole_circle & (norms >= s)
        half = np.arccos(s / norms[proper])
        first = np.mod(angles[proper] - half, 2 * np.pi)
        # Two turns of every arc, so that those across angle 0 are counted there.
        starts = np.sort(np.concatenate([first, first - 2 * np.pi]))
        ends = np.sort(np.concatenate([first + 2 * half, first + 2 * half - 2 * np.pi]))
        places = first if first.size else np.zeros(1)
        depth = np.searchsorted(starts, places, side="right") - np.searchsorted(ends, places, side="left")
        deepest = depth.argmax()
        if depth[deepest] + whole_circle.sum() < keep:
            return None
        place = float(places[deepest])
        following = ends[np.searchsorted(ends, place, side="left") :]
        return (place + float(following[0])) / 2 if following.size else place

    low, high, angle = -3.0, 3.0, 0.0  # norms are below √8
    for _ in range(60):
        middle = (low + high) / 2
        found = covered(middle)
        if found is None:
            high = middle
        else:
            low, angle = middle, found
    return np.array([math.cos(angle), math.sin(angle)]), high


def _nearest(a: FloatArray) -> FloatArray:
    """Weights λ ≥ 0, Σλ = 1, whose Σ λ_j a_j is the point of the convex hull nearest to the origin (Lawson-Hanson)."""
    return _hull_weights(*_hull_system(a))


def _hull_system(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each a_j with a 1 below it, as columns, and what their combination is to be near."""
    return np.vstack([a.T, np.ones(len(a))]), np.append(np.zeros(a.shape[1]), 1.0)


def _hull_weights(system: FloatArray, target: FloatArray) -> FloatArray:
    try:
        weights, _ = nnls(system, target, maxiter=50 * system.shape[1])
    except RuntimeError:  # too many steps; this one ends
        weights = lsq_linear(system, target, bounds=(0, np.inf), method="bvls").x
    return np.asarray(weights / weights.sum())


def _search_removed(a: FloatArray) -> tuple[FloatArray | None, float]:
    """d ≥ 3, positive optimum: the best direction over all sets of removed points, or None if the optimum is not positive.

    For a kept set K, weights λ on any subset B of K prove min over K of ⟨a_j, u⟩ ≤ ‖Σ_B λ_j a_j‖ for every unit u, and
    the hull's point p nearest to the origin, if not 0, attains its norm with u = p/‖p‖.  So keeping all of B leaves no
    hope of more: a better kept set lacks a point of B, and only those need be removed next.  Following this down, every
    kept set of the right size meets a node whose B it contains; hence the largest node bound is an upper bound on the
    optimum, whatever the quality of λ.  B has at most d + 1 points, the tree at most (d + 1)^m leaves instead of (k over m).
    Given up, with no bound, when that is too much.
    """
    k = len(a)
    removed_count = k - kept(k)
    directions, upper = [], 0.0
    level, budget = {frozenset[int]()}, MOST_HULL_POINTS // k
    system, target = _hull_system(a)
    for depth in range(removed_count + 1):
        budget -= len(level)
        if budget < removed_count - depth:
            return None, math.inf
        children = set()
        for removed in level:
            rest = np.array([j for j in range(k) if j not in removed])
            weights = _hull_weights(system[:, rest], target)
            support = np.flatnonzero(weights)
            nearest = weights @ a[rest]
            length = math.sqrt(nearest @ nearest)
            if not _surrounds(a[rest[support]], weights[support], length):
                upper = max(upper, length)
                directions += [nearest, _foot(a[rest[support]])]
            if depth < removed_count:
                children |= {removed | {int(j)} for j in rest[support]}
        level = children
    candidates = np.array([v / n for v in directions if (n := np.linalg.norm(v)) > 0]).reshape(-1, a.shape[1])
    values = _values(a, candidates) if len(candidates) else np.zeros(1)
    best = values.argmax()
    return (candidates[best] if values[best] > 0 else None), upper


def _foot(a: FloatArray) -> FloatArray:
    """The point of the affine hull of `a` that is nearest to the origin.

    The weights lose half of their digits where the points are much farther from each other than from the origin; this does not.
    """
    first, edges = a[0], a[1:] - a[0]
    lengths = np.linalg.norm(edges, axis=1, keepdims=True)
    along = np.linalg.qr((edges / np.where(lengths > 0, lengths, 1.0)).T)[0]
    found = first - along @ (along.T @ first)
    return np.asarray(found - along @ (along.T @ found))


def _surrounds(a: FloatArray, weights: FloatArray, length: float) -> bool:
    """Whether rounding cannot hide that the origin is inside the hull of `a`: then every u has some ⟨a_j, u⟩ < 0.

    Some |⟨a_j, u⟩| is at least η = σ_min/√|B|.  If it is negative, done; otherwise Σ λ_j ⟨a_j, u⟩ ≤ ‖Σ λ_j a_j‖ leaves the
    others a negative sum as soon as λ_min η exceeds that norm.
    """
    if len(a) <= a.shape[1]:
        return False
    spread = np.linalg.svd(a, compute_uv=False)[-1] / math.sqrt(len(a))
    return bool(weights.min() * spread > length + len(a) * ROUNDING)


def _search_hyperplanes(a: FloatArray) -> tuple[FloatArray, float]:
    """d ≥ 3, optimum ≤ 0: the best normal of the hyperplanes through d of the points.

    Let u attain the optimum s ≤ 0, K be a kept set and T the points of K with ⟨a_j, u⟩ = s.  No tangent direction
    increases all of T, so some convex combination of T is s·u (Gordan).  If T did not affinely span the hyperplane
    ⟨x, u⟩ = s, some unit v ⊥ u would be constant on T, and that constant is 0 by the combination; then u cos t + v sin t
    attains s cos t on T: more than s if s < 0, so T spans and u is a normal of d of its points; and if s = 0 the rotation
    may go on until it meets a further point, or all of K lies in a flat through the origin whose normals all attain 0.
    The last right singular vector of the differences is the normal, and a normal of the flat in the second case.

    The bound adds to each value what an error of the normal can hide (backward error over the smallest singular value).
    """
    k, d = a.shape
    flat = np.linalg.svd(a)[2][-1:] if k < d else np.empty((0, d))  # fewer than d points: a normal of their span
    subsets = np.array(list(combinations(range(k), d)), dtype=np.intp).reshape(-1, d)
    edges = a[subsets[:, 1:]] - a[subsets[:, :1]]
    lengths = np.linalg.norm(edges, axis=2, keepdims=True)
    _, singular, right = np.linalg.svd(edges / np.where(lengths > 0, lengths, 1.0))
    normals = np.vstack([right[:, -1, :], flat])
    condition = np.concatenate([singular[:, -1], np.zeros(len(flat))])
    with np.errstate(divide="ignore"):
        slack = _rounding(d) / condition
    values = np.maximum(_values(a, normals), other := _values(a, -normals))
    best = values.argmax()
    direction = -normals[best] if other[best] == values[best] else normals[best]
    return direction, min(0.0, float((values + slack).max()))


# --- heuristic -------------------------------------------------------------------------------------------------------


def _heuristic(a: FloatArray, rng: np.random.Generator, *, draws: int = 256, ascents: int = 12) -> FloatArray:
    """The best of `ascents` local ascents, from the best of random and of natural directions and their opposites."""
    d = a.shape[1]
    axes = np.linalg.svd(a, full_matrices=a.shape[0] < d)[2]
    natural = np.vstack([a.mean(axis=0), np.median(a, axis=0), axes[:3], axes[-3:]])
    half = np.vstack([natural, rng.standard_normal((draws, d))])
    half = half[half.any(axis=1)]
    starts = np.vstack([half, -half])
    starts /= np.linalg.norm(starts, axis=1, keepdims=True)
    best = np.argsort(-_values(a, starts), kind="stable")[:ascents]
    return _exchange(a, _best(a, [_ascend(a, starts[j]) for j in best]))


def _best(a: FloatArray, directions: list[FloatArray]) -> FloatArray:
    return max(directions, key=lambda direction: _value(a, direction))


def _ascend(a: FloatArray, direction: FloatArray) -> FloatArray:
    """Alternate: keep the points that lie furthest along u, then improve u for the kept set.  f never decreases."""
    removed = len(a) - kept(len(a))
    value = _value(a, direction)
    for _ in range(50):
        order = np.argpartition(a @ direction, removed)
        better = _improve(a[order[removed:]], direction)
        reached = _value(a, better)
        if reached <= value + 1e-12:
            break
        direction, value = better, reached
    return direction


def _exchange(a: FloatArray, direction: FloatArray) -> FloatArray:
    """Ascend again from the kept set less one of the points that hold u back, as long as one of these does better.

    Only where the value is positive: a centre deep among the points has many facets near the best, each a linear program.
    """
    removed = len(a) - kept(len(a))
    while len(a) > 1 and (value := _value(a, direction)) > 0:
        projections = a @ direction
        keeping = np.argpartition(projections, removed)[removed:]
        tight = keeping[projections[keeping] <= value + 1e-9]
        other = _best(a, [_ascend(a, _improve(a[keeping[keeping != j]], direction)) for j in tight])
        if _value(a, other) <= value + 1e-12:
            break
        direction = other
    return direction


def _improve(a: FloatArray, direction: FloatArray) -> FloatArray:
    """`_improve_all`, on a few of the points at a time: the lowest along u, then those the new direction violates."""
    few = 4 * a.shape[1] + 16
    active = np.argsort(a @ direction, kind="stable")[:few]
    while True:
        better = _improve_all(a[active], direction)
        projections = a @ better
        lowest = np.argsort(projections, kind="stable")[:few]
        violated = lowest[projections[lowest] < projections[active].min() - 1e-12]
        if not violated.size:
            return better
        active = np.concatenate([active, violated])


def _improve_all(a: FloatArray, direction: FloatArray) -> FloatArray:
    """A unit vector whose least ⟨a_j, u⟩ is larger than the given one's, where there is one.

    With the origin outside the hull it is the nearest point's direction, the global optimum.  Inside, the least ⟨a_j, u⟩ is
    −1/‖x‖ for the x ∥ u on the boundary of the polar {x : ⟨a_j, x⟩ ≥ −1}; the linear program max ⟨u, x⟩ over the polar never
    shortens x, and it ends at a facet.  (The box bounds x where the origin is on the hull's boundary.)
    """
    nearest = _nearest(a) @ a
    length = np.linalg.norm(nearest)
    if length > 1e-9:
        return nearest / length
    solution = linprog(-direction, A_ub=-a, b_ub=np.ones(len(a)), bounds=(-1e6, 1e6)).x
    return direction if solution is None else _unit(solution)


# --- semidefinite ----------------------------------------------------------------------------------------------------


def _simple_upper(a: FloatArray) -> float:
    """⟨a_j, u⟩ ≤ ‖a_j‖, and keep · s² ≤ Σ ⟨a_j, u⟩² ≤ λ_max(AᵀA) for s ≥ 0."""
    removed = len(a) - kept(len(a))
    by_norm = float(np.partition(np.linalg.norm(a, axis=1), removed)[removed])
    return min(by_norm, float(np.linalg.norm(a, 2)) / math.sqrt(kept(len(a))))


def _semidefinite(
    a: FloatArray, direction: FloatArray, upper: float, *, probes: int = 6, precision: float = 1e-3
) -> tuple[FloatArray, float]:
    """Bisect on s: a level that the relaxation refutes is an upper bound, any other suggests directions.

    The relaxation says nothing below 0 (a vector u of mean 0 satisfies it there), so `upper` is never negative.
    """
    solve, norms = _relaxation(a), np.linalg.norm(a, axis=1)
    low = max(_value(a, direction), 0.0)
    # The first probe is just above what is attained: often that is the optimum, and refuted at once.
    for fraction in [0.02] + [0.5] * (probes - 1):
        if upper - low <= precision * upper:
            break
        level = low + fraction * (upper - low)
        reachable = norms >= level * (1 - ROUNDING)  # the others cannot be kept at this level
        moment = solve(level, reachable)
        if moment is None:
            break
        if _most_kept_upper(a[reachable], level, _multipliers(a[reachable], level, moment)) < kept(len(a)):
            upper = level
        else:
            low = level
        direction = _best(a, [direction, *(_ascend(a, u) for u in _roundings(moment))])
        low = max(low, _value(a, direction))
    return direction, upper


def _relaxation(a: FloatArray) -> Callable[[float, NDArray[np.bool_]], FloatArray | None]:
    """The solver (s, points that count) ↦ Y of the relaxation; Y is the moment matrix of (1, u) for a random u with E‖u‖² = 1.

    The usual relaxation (Cherapanamjeri, Flammarion and Bartlett 2019) has the moment matrix of (1, b, u) with X_11 = 1,
    X_{1,b_j} = X_{b_j,b_j}, trace of the u-block 1 and ⟨X_{b_j,u}, a_j⟩ ≥ s X_{b_j,b_j}, and maximises Σ b_j.  No constraint
    has an entry X_{b_i,b_j} with i ≠ j, so positive semidefinite completion leaves one block (b_j, 1, u) per point, and for
    a given Y the largest b_j has a closed form: with x_j = ⟨a_j, u⟩ − s,

        b_j = 1 − min(0, E x_j)² / E x_j²,        (Cantelli's bound on the probability that x_j ≥ 0)

    a concave function of Y.  So the same value takes a matrix of order 1 + d instead of 1 + k + d.  Points too
    short to be kept at the level are left out of the sum.
    """
    import cvxpy as cp  # here because it takes long to load and most calls do without

    k, d = a.shape
    moment = cp.Variable((d + 1, d + 1), PSD=True)
    shortfall, loss = cp.Variable(k, nonneg=True), cp.Variable(k)
    level, level_squared, counted = cp.Parameter(), cp.Parameter(nonneg=True), cp.Parameter(k, nonneg=True)
    mean = a @ moment[0, 1:]
    squares = np.einsum("ji,jl->jil", a, a).reshape(k, -1)
    second = squares @ cp.vec(moment[1:, 1:], order="C") - 2 * level * mean + level_squared
    problem = cp.Problem(
        cp.Minimize(counted @ loss),
        [
            moment[0, 0] == 1,
            cp.trace(moment[1:, 1:]) == 1,
            shortfall >= level - mean,
            cp.SOC(second + loss, cp.vstack([2 * shortfall, second - loss])),  # shortfall² ≤ second · loss
        ],
    )

    def solve(value: float, reachable: NDArray[np.bool_]) -> FloatArray | None:
        level.value, level_squared.value, counted.value = value, value * value, reachable.astype(float)
        for solver, options in (
            ("CLARABEL", {"max_threads": 1, "tol_gap_rel": 1e-6, "tol_gap_abs": 1e-6, "tol_feas": 1e-6}),
            ("SCS", {"eps": 1e-6, "max_iters": 5000}),
        ):
            # Accuracy does not matter for what is proved from the answer, so neither do the solvers' warnings about it.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    problem.solve(solver=solver, **options)
                except cp.error.SolverError:
                    continue
            if moment.value is not None and np.isfinite(moment.value).all():
                return np.asarray(moment.value, dtype=np.float64)
        return None

    return solve


def _multipliers(a: FloatArray, level: float, moment: FloatArray) -> FloatArray:
    """τ_j = −E x_j / E x_j² where E x_j < 0, else 0: the relaxation's optimal multipliers."""
    mean = a @ moment[0, 1:] - level
    second = np.einsum("ji,il,jl->j", a, moment[1:, 1:], a) - 2 * level * (mean + level) + level**2
    return np.asarray(np.where(mean < -1e-9, -mean, 0.0) / np.maximum(np.maximum(second, mean**2), 1e-18))


def _most_kept_upper(a: FloatArray, level: float, multipliers: FloatArray) -> float:
    """An upper bound on how many points any unit u has at ⟨a_j, u⟩ ≥ s, valid for all multipliers τ ≥ 0.

    With x_j = ⟨a_j, u⟩ − s, (1 + τ_j x_j)² is at least 1 where x_j ≥ 0 and at least 0 elsewhere, so their sum bounds the
    count.  It is a quadratic form H in z = (1, u), and z_1² = 1, ‖z‖² = 2 give zᵀHz ≤ t + 2 λ_max(H − t e_1 e_1ᵀ) for
    every t.
    """
    rows = np.column_stack([1 - multipliers * level, multipliers[:, np.newaxis] * a])
    form = rows.T @ rows

    def bound(t: float) -> float:
        shifted = form.copy()
        shifted[0, 0] -= t
        return t + 2 * float(np.linalg.eigvalsh(shifted)[-1])

    # The bound is convex in t, and above the trace on either side of this interval.
    reach = 2 * float(np.trace(form)) + 1.0
    best = float(minimize_scalar(bound, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-9}).fun)
    return best + reach * len(form) * ROUNDING


def _roundings(moment: FloatArray) -> list[FloatArray]:
    """Directions a relaxed solution suggests: its mean and its principal axes, with their opposites."""
    axes = np.linalg.eigh(moment[1:, 1:])[1][:, ::-1].T[:3]
    vectors = [moment[0, 1:], *axes, *(-axes)]
    return [_unit(v) for v in vectors if np.linalg.norm(v) > 1e-9]
