"""A lazy Metropolis walk on a cubic grid: draws from π ∝ exp(−V), with its exact law and a proven number of steps.

Setting: a `Grid` over a bounded convex set in few dimensions, made from public values alone, and energies V of its points, which
depend on private data.  A step stays with probability ½; otherwise it proposes one of the 2d neighbours, each with probability
1/(2d), and goes there from x to y with probability min(1, e^{V(x)−V(y)}); a missing neighbour means staying.  So P is reversible
with respect to π, and its eigenvalues are 1 = λ₀ > λ₁ ≥ … ≥ 0.

Statement 1 (number of steps).  In an orthonormal basis φ_i of eigenvectors of D^{½}PD^{−½}, D = diag π and φ₀ = √π,

    P^T(x, y)/π(y) − 1 = Σ_{i≥1} λ_i^T φ_i(x)φ_i(y)/√(π(x)π(y)),

at most λ₁^T/√(π(x)π(y)) in size, by Cauchy and Schwarz, for Σ_i φ_i(x)² = 1.  Once this is at most 1 − e^{−τ}, which is less than
e^τ − 1, |log P^T(x, y) − log π(y)| ≤ τ  (`steps_for`).  The largest such difference never grows with T, for the ratio
h_T(y) = P^T(x, y)/π(y) = P^T(y, x)/π(x) is an average of values of h_{T−1}  (`steps_by_law`).
Statement 2 (privacy).  If the laws on two neighbouring data sets are within τ of their targets in both directions, and the targets
within ε of each other, the index is (ε + 2τ)-DP  [P4, Lemma F.4].  The targets are within osc(V − V') = max − min of V − V'.
Start and number of steps may depend on the data, for only the law of the index counts.  Running time is not hidden.
Statement 3 (convex energies).  If V is convex on W, up to an error ζ, and changes by no more than κ along one spacing, the gap
 of the walk on a `cubic_grid` is at least e^{−κ√d/2−2ζ}/(4d·N·ℓ), N the number of points and ℓ the sum of the grid's extents
in cells plus 2d  (`gap_of_convex`): public, so that a walk of too many steps can be refused without looking at data.
Proof.  From x the path to the best point o goes through the cells that the segment from x to o meets, and at both ends from the
cell's own centre to the one nearest to the point, as in `cubic_grid`: at most ℓ moves, monotone along every axis on the segment.
Every point on the path stands for a cell whose centre is within r of a point of the segment, so it is within r of that itself,
where V is at most V(x): its energy is at most V(x) + κ√d/2 + 2ζ.  So Q(e) = π(z)P(z, z') ≥ π(x)·e^{−κ√d/2−2ζ}/(4d) for the edges e
of the path, and Var f ≤ Σ_x π(x)(f(x) − f(o))² ≤ Σ_x π(x)·ℓ·Σ_{e of x's path} (Δ_e f)² ≤ 4d·N·ℓ·e^{κ√d/2+2ζ}·Σ_e Q(e)(Δ_e f)².  ∎

Idealised: uniform and exponential draws are floats, so that rises of more than about 40 in energy are never climbed in one step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, eigh_tridiagonal
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu
from scipy.special import logsumexp

from tailproof.refimpl.domains import EPS, Domain
from tailproof.refimpl.validation import FloatArray, InputError, IntArray, choice, positive, vector, whole

MOST_POINTS = 100_000
MOST_DENSE = 3000
"""Points of the largest grid for which an N × N matrix is formed."""
MOST_STEPS = 2**62
BLOCK = 1 << 16
ROUNDS = 40
SMALLEST = 1e-270
"""Underflow costs an entry of P^T at most T·N²·1e-307: entries above this keep their digits."""


# --- the grid -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Grid:
    """Points, one per row, and their neighbours: columns 2j and 2j+1 hold the index one step back and one step forth along axis j,
    or the point's own index where there is none.  Connected."""

    points: FloatArray
    neighbours: IntArray

    def __post_init__(self) -> None:
        neighbours = checked_neighbours(self.neighbours)
        if self.points.shape != (len(neighbours), neighbours.shape[1] // 2):
            raise InputError(f"points: has shape {self.points.shape}; does not fit neighbours of shape {neighbours.shape}")
        if not np.isfinite(_levels(neighbours, 0)).all():
            raise InputError("neighbours: the grid is not connected; every point must be reachable from every other")
        object.__setattr__(self, "neighbours", neighbours)

    def __len__(self) -> int:
        return len(self.points)


def cubic_grid(domain: Domain, spacing: float, *, most: int = MOST_POINTS) -> Grid:
    """The cells of a cubic grid whose centres are within r = spacing·√d/2 of W, each represented by the point of W nearest to its
    centre; centres in W stand for themselves.  Every point of W is within r of a point of the grid.  No data is used.

    Always connected, however thin and tilted W is (the centres in W alone need not be).  From a centre c with ‖c − w‖ ≤ r, w ∈ W,
    go axis by axis to the centre nearest to w: no move increases ‖c − w‖, so the way stays in the grid.  While w moves along a
    segment in W, its nearest centre changes where several are equally near; these form a box of the grid, and all are within r.
    """
    s, d, most = positive("spacing", spacing), domain.dimension, whole("most", most, least=1)
    upper, lower = domain.support(np.eye(d)), -domain.support(-np.eye(d))
    counts = [math.floor(min(width / s, 2.0**62)) + 1 for width in (upper - lower).tolist()]
    size = math.prod(counts)
    if size > most:
        raise InputError(
            f"spacing = {s!r}: the grid over the domain would have up to {size} points; at most {most} are allowed"
        )
    steps = np.indices(counts).reshape(d, -1).T
    centres = (lower + upper) / 2 + s * (steps - (np.array(counts) - 1) / 2)
    points = domain.project(centres)
    near = np.linalg.norm(points - centres, axis=1) <= s * math.sqrt(d) / 2 * (1 + 1e-9)
    number = np.full(size, -1)
    number[near] = np.arange(near.sum())
    table = np.pad(number.reshape(counts), 1, constant_values=-1)
    inner = (slice(1, -1),) * d
    columns = [np.roll(table, shift, axis)[inner].ravel()[near] for axis in range(d) for shift in (1, -1)]
    neighbours = np.column_stack(columns)
    own = np.arange(len(neighbours))[:, np.newaxis]
    return Grid(points[near], np.where(neighbours < 0, own, neighbours))


def checked_neighbours(neighbours: IntArray) -> IntArray:
    """Read-only and of the form that `Grid` states, so that proposals are symmetric."""
    table = np.array(neighbours)
    if table.ndim != 2 or not table.size or table.shape[1] % 2 or table.dtype.kind not in "iu":
        raise InputError(f"neighbours: has shape {table.shape} and type {table.dtype}; must be N × 2d whole numbers")
    table = table.astype(np.int64)
    own = np.arange(len(table))
    if table.min() < 0 or table.max() >= len(table):
        raise InputError(f"neighbours: must be indices of the {len(table)} points")
    for column in range(table.shape[1]):
        there = table[:, column]
        if not ((there == own) | (table[there, column ^ 1] == own)).all():
            raise InputError(f"neighbours: a step of column {column} is not undone by one of column {column ^ 1}")
    table.setflags(write=False)
    return table


def _levels(neighbours: IntArray, root: int) -> FloatArray:
    """The fewest moves from the root to every point; inf where there is no way."""
    n, width = neighbours.shape
    edges = csr_array((np.ones(neighbours.size), (np.repeat(np.arange(n), width), neighbours.ravel())), shape=(n, n))
    return np.asarray(dijkstra(edges, unweighted=True, indices=root))


# --- the walk -------------------------------------------------------------------------------------------------------------


def least_energy(energies: ArrayLike) -> int:
    """A good start: from there the bound on the number of steps is least, and the exact law is accurate for all energies."""
    return int(np.argmin(vector("energies", energies)))


def target(energies: FloatArray) -> FloatArray:
    """log π."""
    below = energies.min() - energies
    return np.asarray(below - logsumexp(below))


def _rises(energies: FloatArray, neighbours: IntArray) -> FloatArray:
    """(V(y) − V(x))₊ for the neighbours y of every x: the acceptance probability is e^{−rise}."""
    return np.asarray(np.maximum(energies[neighbours] - energies[:, np.newaxis], 0.0))


def _rates(energies: FloatArray, neighbours: IntArray) -> FloatArray:
    """P(x, y) of the neighbours y of every x; 0 for the missing ones."""
    rates = np.exp(-_rises(energies, neighbours)) / (2 * neighbours.shape[1])
    rates[neighbours == np.arange(len(neighbours))[:, np.newaxis]] = 0.0
    return np.asarray(rates)


def transition_matrix(energies: ArrayLike, neighbours: IntArray) -> FloatArray:
    """P, dense."""
    neighbours = checked_neighbours(neighbours)
    values = vector("energies", energies, size=len(neighbours))
    n = _dense_size(neighbours)
    rates, matrix = _rates(values, neighbours), np.zeros((n, n))
    np.add.at(matrix, (np.arange(n)[:, np.newaxis], neighbours), rates)
    np.fill_diagonal(matrix, 1 - rates.sum(axis=1))  # no less than ½
    return matrix


def _dense_size(neighbours: IntArray) -> int:
    if len(neighbours) > MOST_DENSE:
        raise InputError(f"energies: {len(neighbours)} points; exact computation is for at most {MOST_DENSE}")
    return len(neighbours)


def _squares(energies: ArrayLike, neighbours: IntArray) -> Iterator[FloatArray]:
    """P, P², P⁴, …: sums of products of non-negative numbers, so that every entry of P^T keeps a small relative error."""
    power = transition_matrix(energies, neighbours)
    while True:
        yield power
        power = power @ power
        power /= power.sum(axis=1, keepdims=True)  # or rounding would add up


def law_error_upper(steps: int, points: int) -> float:
    """A bound of the relative error of the computed P^T; errors seen are far smaller.

    With u = EPS/2: entries of P err by less than 800u (rises above 745 underflow).  Squaring doubles a relative error and adds
    N·u; the row sums by which is divided are 1 up to 4N·u.  After T steps that is at most T(800 + 5N)u.
    """
    return 3 * steps * (points + 300) * EPS


@dataclass(frozen=True, eq=False)
class GridWalk:
    """The index of the point where the walk from `start` is after `steps` steps; the energies are −score/scale."""

    scores: FloatArray
    scale: float
    neighbours: IntArray
    start: int
    steps: int

    def __post_init__(self) -> None:
        neighbours = checked_neighbours(self.neighbours)
        scores = vector("scores", self.scores, size=len(neighbours)).copy()
        scores.setflags(write=False)
        object.__setattr__(self, "neighbours", neighbours)
        object.__setattr__(self, "scores", scores)
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "start", whole("start", self.start, least=0, most=len(neighbours) - 1))
        object.__setattr__(self, "steps", whole("steps", self.steps, least=0, most=MOST_STEPS))

    @cached_property
    def energies(self) -> FloatArray:
        return np.asarray(-self.scores / self.scale)

    def sample(self, rng: np.random.Generator) -> Any:
        """Time and randomness for half the steps: the lazy ones are only counted."""
        width = self.neighbours.shape[1]
        # Positions are kept as offsets of rows in the flat tables.  A rise is climbed if an exponential variable exceeds it.
        rises, onwards = _rises(self.energies, self.neighbours).ravel().tolist(), (self.neighbours * width).ravel().tolist()
        at, left = self.start * width, int(rng.binomial(self.steps, 0.5))
        while left:
            block = min(left, BLOCK)
            left -= block
            heights = rng.standard_exponential(block).tolist()
            for column, height in zip(rng.integers(width, size=block).tolist(), heights, strict=True):
                if height >= rises[at + column]:
                    at = onwards[at + column]
        return np.asarray(at // width, dtype=np.int64)

    @cached_property
    def log_ratios(self) -> FloatArray:
        """log P^T(start, y) − log π(y) for every y, for at most MOST_DENSE points; −inf where T moves do not suffice.

        Equal to log P^T(y, start) − log π(start), so that tiny π(y) cost nothing.  Refused if a probability that is not 0 is below
        SMALLEST; not so if the start has the least energy and the steps are those of `steps_for` or `steps_by_law`.
        """
        column, left = np.zeros(len(self.energies)), self.steps
        column[self.start] = 1.0
        for power in _squares(self.energies, self.neighbours):
            if left & 1:
                column = power @ column
            left >>= 1
            if not left:
                break
        reached = _levels(self.neighbours, self.start) <= self.steps
        if (column[reached] < SMALLEST).any():
            raise InputError(f"steps = {self.steps}: from {self.start}, too few for the exact law; probabilities underflow")
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(reached, np.log(column), -np.inf) - target(self.energies)[self.start])

    def log_probabilities(self) -> FloatArray:
        return self.log_ratios + target(self.energies)

    def logpdf(self, value: Any) -> float:
        return float(self.log_probabilities()[int(value)])


def max_divergence(walk: GridWalk) -> float:
    """max over y of |log P^T(start, y) − log π(y)|: the τ of Statement 2, exact up to rounding."""
    return float(np.abs(walk.log_ratios).max())


# --- how many steps -------------------------------------------------------------------------------------------------------


def gap_of_convex(grid: Grid, *, spacing: float, rise: float, error: float = 0.0) -> float:
    """Statement 3's bound for energies that rise by at most κ = `rise` in one spacing and are convex up to ζ = `error`."""
    d = grid.points.shape[1]
    extents = (grid.points.max(axis=0) - grid.points.min(axis=0)) / positive("spacing", spacing) + 2
    length = float(extents.sum()) + 2 * d
    return float(math.exp(-rise * math.sqrt(d) / 2 - 2 * error) / (4 * d * len(grid) * length))


def most_steps(grid: Grid, *, gap: float, spread: float, tau: float) -> float:
    """At most so many steps are asked for by `steps_for`, whatever the energies, if they differ by `spread` at most and the gap is
    at least that."""
    return (spread + 2 * math.log(len(grid)) - math.log(-math.expm1(-positive("tau", tau)))) * 1.01 / gap + 1


def steps_for(energies: ArrayLike, grid: Grid, start: int, tau: float, *, gap: str = "exact", known: float = 0.0) -> int:
    """So many steps that the law is within τ of π in both directions: Statement 1, with the gap of `gap_lower`, or the `known`
    lower bound of it if that is larger."""
    values, tau = vector("energies", energies, size=len(grid)), positive("tau", tau)
    start = whole("start", start, least=0, most=len(grid) - 1)
    if len(grid) == 1:
        return 0
    log_pi = target(values)
    needed = -(log_pi[start] + log_pi.min()) / 2 - math.log(-math.expm1(-tau)) + 1e-9  # the last for rounding
    rate = -math.log1p(-max(known, gap_lower(values, grid, method=gap)))
    steps = needed * (1 + 1e-9) / rate if rate > 0 else math.inf
    if steps > MOST_STEPS:
        raise InputError(f"energies, tau = {tau!r}: {steps:g} steps would be needed; at most {MOST_STEPS} are allowed")
    return math.ceil(steps)


def steps_by_law(energies: ArrayLike, grid: Grid, start: int, tau: float) -> int:
    """The least power of two for which the exact law is within τ, its rounding error included, for at most MOST_DENSE points.

    Often far less than `steps_for`, whose bound pays for the least likely points in full.
    """
    values, tau = vector("energies", energies, size=len(grid)), positive("tau", tau)
    start, steps = whole("start", start, least=0, most=len(grid) - 1), 1
    for power in _squares(values, grid.neighbours):
        error, arrivals = law_error_upper(steps, len(grid)), power[:, start]
        if arrivals.min() >= SMALLEST and np.abs(np.log(arrivals) - target(values)[start]).max() + error <= tau:
            return steps
        if error > tau:
            break
        steps *= 2
    raise InputError(
        f"energies, tau = {tau!r}: more than {steps} steps would be needed, and rounding hides the law after so many"
    )


def gap_lower(energies: ArrayLike, grid: Grid, *, method: str = "exact") -> float:
    """A lower bound of the spectral gap 1 − λ₁.

    "exact": an eigenvalue of the symmetric matrix D^{½}PD^{−½} (tridiagonal if d = 1, dense otherwise, for at most MOST_DENSE
    points), less 16·N units of rounding error, or the other bound if that is larger.
    "paths": proven by paths, for any connected grid and any energies; see `_gap_by_paths`.
    """
    choice("gap", method, ("exact", "paths"))
    values = vector("energies", energies, size=len(grid))
    if len(grid) == 1:
        return 1.0
    middle = np.exp(target(values)) @ grid.points
    nearest = int(np.argmin(np.linalg.norm(grid.points - middle, axis=1)))
    proven = max(_gap_by_paths(values, grid.neighbours, root) for root in {nearest, least_energy(values)})
    if method == "paths":
        return proven
    return max(proven, 1 - _second_eigenvalue(values, grid.neighbours) - 16 * len(grid) * EPS)


def _second_eigenvalue(energies: FloatArray, neighbours: IntArray) -> float:
    n, width = neighbours.shape
    stay = 1 - _rates(energies, neighbours).sum(axis=1)
    if width == 2 and np.array_equal(neighbours[:-1, 1], np.arange(1, n)):
        beside = np.exp(-np.abs(np.diff(energies)) / 2) / (2 * width)
        return float(eigh_tridiagonal(stay, beside, eigvals_only=True, select="i", select_range=(n - 2, n - 1))[0])
    matrix = np.zeros((_dense_size(neighbours), n))
    beside = np.exp(-np.abs(energies[neighbours] - energies[:, np.newaxis]) / 2) / (2 * width)
    np.add.at(matrix, (np.arange(n)[:, np.newaxis], neighbours), beside)
    np.fill_diagonal(matrix, stay)
    return float(eigh(matrix, eigvals_only=True, subset_by_index=(n - 2, n - 1))[0])


def _gap_by_paths(energies: FloatArray, neighbours: IntArray, root: int) -> float:
    """Random shortest paths to one point o, in the manner of Diaconis and Stroock, Sinclair, with weights.

    From z the path goes to a neighbour z' one level closer to o with probability ∝ Q(z, z') = π(z)P(z, z').  With any weights
    w_r > 0 of the levels and W(x) = w₁ + … + w_{level of x}, Cauchy and Schwarz give along every path

        (f(x) − f(o))² ≤ W(x) Σ_{edges of the path} (f(z) − f(z'))²/w,

    hence Var f ≤ Σ_x π(x)(f(x) − f(o))² ≤ max_z [m(z)/(w·Σ_{z'} Q(z, z'))]·Σ_{edges} Q(e)(Δ_e f)², where m(z) is the sum over x of
    π(x)W(x)·P(the path from x meets z).  The last sum is at most the Dirichlet form, so 1/gap ≤ max_z [...].  In terms of
    μ = m/π and the acceptance probabilities a, with S(z) the sum of a(z, z') over the closer neighbours,

        μ(z) = W(z) + Σ_{y one level farther} a(z, y)·μ(y)/S(y),      m(z)/Σ Q(z, z') = 4d·μ(z)/S(z),

    sums of non-negative terms that no spread of energies spoils.  Every choice of weights gives a bound; each round takes the
    loads of the last one, the power method for the best.
    """
    n, width = neighbours.shape
    levels = _levels(neighbours, root).astype(np.int64)
    order = np.argsort(levels, kind="stable")
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    depth, ahead = levels[order], position[neighbours[order]]  # renumbered by level: the system for μ is triangular
    accept = np.exp(-_rises(energies[order], ahead))
    onward = np.where(depth[ahead] == depth[:, np.newaxis] - 1, accept, 0.0).sum(axis=1)
    onward[0] = 1.0  # the root, from which no path goes on
    if not onward.min() > 1e-290:
        return 0.0
    x, column = np.nonzero(depth[ahead] == depth[:, np.newaxis] + 1)
    y = ahead[x, column]
    system = eye_array(n, format="csc") - csc_array((accept[x, column] / onward[y], (x, y)), shape=(n, n))
    factors = splu(system.tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0)
    starts = np.flatnonzero(np.diff(depth, prepend=-1))
    weights, best = np.ones(depth[-1]), 0.0
    for _ in range(ROUNDS):
        met = factors.solve(np.concatenate([[0.0], np.cumsum(weights)])[depth])
        with np.errstate(over="ignore", invalid="ignore"):
            loads = np.maximum.reduceat(2 * width * met / onward, starts)[1:]
        if not np.isfinite(loads).all():
            break
        bound = 1 / float((loads / weights).max())
        if bound <= 1.001 * best:
            break
        best = bound
        weights = np.maximum(loads / loads.max(), 1e-200)
    return best * (1 - 1e-7)  # rounding
