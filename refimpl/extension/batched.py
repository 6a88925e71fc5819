"""The Lipschitz extension f_C(w, x) = min_{y ∈ W} f(y, x) + C‖w − y‖ of all records at once, with its certificates.

For every record of a generalised linear loss f(w) = φ(⟨x, w⟩): the value, a minimiser y, a subgradient g with ‖g‖ ≤ C and
a dual scalar v in dom φ*.  Together they prove, for all u in W,

    f_C(u) ≥ ⟨g, u⟩ − φ*(v) − σ_W(g − v·x),

and at u = w the right-hand side falls short of the value by the sum of three brackets, each ≥ 0, called the gaps:

    [φ(m) + φ*(v) − v·m] + [C‖w − y‖ − ⟨g, w − y⟩] + [σ_W(g − v·x) − ⟨g − v·x, y⟩],   m = ⟨x, y⟩.

There are three cases.  With s the sign of φ' at w:
1. some slope v of φ at ⟨x, w⟩ has |v|·‖x‖ ≤ C: y = w and g = v·x;
2. w − τ·s·x reaches inside W the margin where |φ'| falls to C/‖x‖: y is that point, v = s·C/‖x‖ and g = v·x;
3. otherwise y is on the boundary of W, and g − v·x is normal to W there.

In a ball with centre c, y − c and g lie in the span of x and w − c: only their coefficients are kept, and no array of the
size of the data is formed.  Other domains need only a projection: y = P_W(w − τ·s·x), with τ found by bisection.
Losses with a quadratic part, `Quadratic` and `Ridge`, are solved in `penalised`; their minorants are tangents at y, with the
slope p = v·x + (the quadratic part's gradient at y) in place of v·x.

Rounding.  Results carry rounding errors of the order of 1e-15 of C times the size of W plus |f|; gaps are evaluated
without cancellation, but they are not rounded outward.  In a ball, a record whose x is almost parallel to w − c, at an
angle ϑ, has a subgradient whose coefficients lose a factor 1/ϑ of accuracy where w is close to the sphere.
In other domains values are as accurate as the projection, but where y is closer to w than 1e-8 of the diameter the
subgradient has half the digits only, which the gaps show (up to about 1e-7 of C times the size of W).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, xlogy

from tailproof.refimpl.domains import Ball, Domain, Ellipsoid, Polytope
from tailproof.refimpl.extension.curvature import edge_hessians
from tailproof.refimpl.extension.rays import Case
from tailproof.refimpl.extension.smoothing import Smoothed
from tailproof.refimpl.losses import L4, Absolute, Affine, GlmLoss, Hinge, Logistic, Loss, Quadratic, ReLU, Ridge, Squared
from tailproof.refimpl.total import nearest
from tailproof.refimpl.validation import FloatArray, InputError, between, records, vector

if TYPE_CHECKING:
    from tailproof.refimpl.extension.held import Known, Warm

KindArray: TypeAlias = NDArray[np.int8]
Part: TypeAlias = slice | NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)
LARGEST_RECORD = 1e60  # entries of the data; no intermediate result overflows below
_SMALLEST_MOVE = 2.0**-27  # of the diameter: below, a direction w − y got from a projection is mostly rounding
_BLOCK = 1 << 15


# ------------------------------------------------------------------------------------------- one-dimensional functions


def margin_of_slope(loss: GlmLoss, slope: FloatArray, targets: FloatArray) -> FloatArray:
    """The margin where φ' passes the slope, for slopes inside the range of φ' (affine loss: −inf, it never does)."""
    match loss:
        case Affine():
            return np.full(np.shape(slope), -np.inf)
        case Hinge():
            return np.ones(np.shape(slope))
        case ReLU() | Absolute():
            return targets
        case Squared():
            return targets + slope
        case L4():
            return np.asarray(targets + np.cbrt(slope / 4))
        case Logistic():
            return np.asarray(np.log1p(slope) - np.log(-slope))
        case Smoothed():  # s + μ·v
            return np.asarray(margin_of_slope(loss.loss, slope, targets[..., 0]) + targets[..., 1] * slope)
    raise _unsupported(loss)


def fenchel_gap(loss: GlmLoss, margins: FloatArray, targets: FloatArray, duals: FloatArray) -> FloatArray:
    """φ(m) + φ*(v) − v·m ≥ 0 for v in dom φ*, without cancellation."""
    if isinstance(loss, Smoothed):  # φ_μ(m) = φ(s) + (m − s)²/(2μ) with m − s = μ·φ_μ'(m)
        slopes, width = loss.dphi(margins, targets), targets[:, 1]
        rest = fenchel_gap(loss.loss, margins - width * slopes, targets[:, 0], duals)
        return rest + width * np.square(slopes - duals) / 2
    v, residuals = duals, margins - targets
    match loss:
        case Affine():
            return np.zeros(np.shape(margins))
        case Hinge():
            return np.maximum(1 - margins, 0) * (1 + v) + np.maximum(margins - 1, 0) * -v
        case ReLU():
            return np.maximum(residuals, 0) * (1 - v) + np.maximum(-residuals, 0) * v
        case Absolute():
            return np.maximum(residuals, 0) * (1 - v) + np.maximum(-residuals, 0) * (1 + v)
        case Squared():
            return np.square(residuals - v) / 2
        case L4():  # r⁴ + 3k⁴ − 4k³r with v = 4k³
            k = np.cbrt(v / 4)
            return np.asarray(np.square(residuals - k) * (np.square(residuals + k) + 2 * np.square(k)))
        case Logistic():
            return _divergence(-v, margins) + _divergence(1 + v, -margins)
    raise _unsupported(loss)


def _divergence(p: FloatArray, m: FloatArray) -> FloatArray:
    """p·log(p/q) − p + q for q = 1/(1 + e^m)."""
    q: FloatArray = expit(-m)
    relative = np.divide(p - q, q, out=np.full_like(q, np.inf), where=q > 0)
    near = np.abs(relative) < 1e-3
    r = np.where(near, relative, 0.0)
    series = q * r * r * (1 / 2 - r * (1 / 6 - r * (1 / 12 - r / 20)))
    direct = xlogy(p, p) + p * np.logaddexp(0.0, m) - p + q
    return np.where(near, series, np.maximum(direct, 0.0))


def _unsupported(loss: object) -> InputError:
    allowed = "affine, hinge, ReLU, absolute, logistic, squared, L4 or quadratic"
    return InputError(f"loss = {loss!r}: the batched extension knows {allowed} loss, with or without a ridge")


# ------------------------------------------------------------------------------------------------------------- results


@dataclass(frozen=True, eq=False)
class BallExtension:
    """f_C of every record at one point w of a ball with centre c.

    y = c + y_x·x + y_w·(w − c) and g = g_x·x + g_w·(w − c).  In case 3, y stands for the point of the sphere in this
    direction from c.
    """

    batch: Batch
    offset: FloatArray  # w − c
    values: FloatArray
    duals: FloatArray
    kind: KindArray
    margins: FloatArray  # ⟨x, y⟩
    distances: FloatArray  # ‖w − y‖
    g_x: FloatArray
    g_w: FloatArray
    y_x: FloatArray
    y_w: FloatArray
    along: FloatArray  # w − c along x/‖x‖ ...
    across: FloatArray  # ... and the length of the rest

    def mean_value(self) -> float:
        return float(np.mean(self.values))

    def mean_subgradient(self) -> FloatArray:
        """A subgradient of the mean of f_C at w."""
        count = len(self.values)
        return np.asarray((self.g_x / count) @ self.batch.features + np.mean(self.g_w) * self.offset)

    def subgradients(self) -> FloatArray:
        """The g of all records, of shape (n, d)."""
        return _combined(self.batch.features, self.g_x, self.offset, self.g_w)

    def minimisers(self) -> FloatArray:
        """The y of all records, of shape (n, d), as points of the ball."""
        ball = self.batch.domain
        return nearest(ball, ball.interior_point() + _combined(self.batch.features, self.y_x, self.offset, self.y_w))

    def gaps(self) -> FloatArray:
        """The three brackets of every record, of shape (n, 3), from the coefficients: their sum is its duality gap."""
        gaps = np.zeros((len(self.values), 3))
        gaps[:, 0] = fenchel_gap(self.batch.glm, self.margins, self.batch.targets, self.duals)
        moved = self.kind == 2
        # In case 2 the slopes of g and w − y are the same: the bracket is what g lacks of the length C.
        gaps[moved, 1] = self.distances[moved] * (self.batch.lipschitz - np.abs(self.duals) * self.batch.norms)[moved]
        edge = np.flatnonzero(self.kind == 3)
        if edge.size:
            gaps[edge, 1:] = self._edge_gaps(edge)
        return gaps

    def _edge_gaps(self, edge: NDArray[np.intp]) -> FloatArray:
        """The last two brackets of case 3, in the plane of x and w − c."""
        batch, norms = self.batch, self.batch.norms[edge]
        g, y = self._in_plane(edge)
        move = np.stack([self.along[edge], self.across[edge]]) - y
        # |C − ‖g‖|: rounding may leave g longer than C, and cutting it back costs as much.
        second = np.hypot(*move) * np.abs(batch.lipschitz - np.hypot(*g)) + _product_gap(g, move)
        normal = np.stack([g[0] - self.duals[edge] * norms, g[1]])
        return np.column_stack([second, _product_gap(normal, y)])

    def _in_plane(self, edge: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """g and y − c in case 3: along x, and along the part of w − c across x."""
        norms, along, across = self.batch.norms[edge], self.along[edge], self.across[edge]
        g = np.stack([norms * self.g_x[edge] + self.g_w[edge] * along, self.g_w[edge] * across])
        y = np.stack([norms * self.y_x[edge] + self.y_w[edge] * along, self.y_w[edge] * across])
        return g, y * (_ball(self.batch).radius / np.hypot(*y))

    def mean_hessian(self) -> FloatArray:
        """The second derivative at w of the mean of f_C, where it exists; at the borders of the cases, of one side."""
        batch, count, d = self.batch, len(self.values), self.offset.size
        curvature = batch.glm.d2phi(self.margins, batch.targets)
        bends = np.zeros(count) if curvature is None else curvature
        xx = np.where(self.kind == 1, bends, 0.0)
        xw, ww, identity = np.zeros(count), np.zeros(count), np.zeros(count)
        edge = np.flatnonzero(self.kind == 3)
        if edge.size:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
                xx[edge], xw[edge], ww[edge], identity[edge] = self._edge_hessian(edge, bends[edge])
        cross = np.outer((xw / count) @ batch.features, self.offset)
        hessian = _weighted_gram(batch.features, xx / count) + cross + cross.T
        hessian += np.mean(ww) * np.outer(self.offset, self.offset) + np.mean(identity) * np.eye(d)
        return np.asarray((hessian + hessian.T) / 2)

    def _edge_hessian(self, edge: NDArray[np.intp], bends: FloatArray) -> FloatArray:
        """Case 3: the coefficients of xxᵀ, x(w−c)ᵀ + (w−c)xᵀ, (w−c)(w−c)ᵀ and the identity.

        The Hessian is κ·ttᵀ in the plane, t ⟂ g, and η across the plane, η·(w − c) being the part of g along w − c.
        """
        batch, norms, duals = self.batch, self.batch.norms[edge], self.duals[edge]
        g, y = self._in_plane(edge)
        give = self.distances[edge] / batch.lipschitz
        at_kink = batch.glm.is_polyhedral & (np.abs(duals) < 1)
        stiffness = np.where(at_kink, np.inf, bends * np.square(norms))
        normal = np.stack([g[0] - duals * norms, g[1]])
        turned = (g[0] * y[0] + g[1] * y[1]) / np.hypot(*g)  # t along the circle's tangent, times R
        rest = np.where(y[1] > 0, stiffness * np.square(y[1]), 0.0) + normal[0] * y[0] + normal[1] * y[1]
        kappa = np.where(rest > 0, 1 / (np.square(turned) / rest + give), 0.0)
        slant, over = -self.along[edge] / (self.across[edge] * norms), self.across[edge]
        t = np.stack([-g[1], g[0]]) / np.hypot(*g)
        t_x, t_w = t[0] / norms + t[1] * slant, t[1] / over
        g_x, g_w, eta = self.g_x[edge], self.g_w[edge], self.g_w[edge]
        general = np.stack(
            [
                kappa * t_x * t_x - eta * (1 / np.square(norms) + slant * slant),
                kappa * t_x * t_w - eta * slant / over,
                kappa * t_w * t_w - eta / over / over,
                eta,
            ]
        )
        # Where w − c is nearly parallel to x both curvatures are the limit of η, up to the square of the angle, while the
        # coefficients above lose digits with the inverse of that square.
        steepness, ahead = np.abs(duals) * norms, np.sign(duals) * self.along[edge]
        limit = (steepness - batch.lipschitz) / (steepness * give - ahead)
        share = -limit / np.square(np.hypot(*g))
        parallel = np.stack([share * g_x * g_x, share * g_x * g_w, share * g_w * g_w, limit])
        return np.asarray(np.where(over <= 1e-4 * np.abs(self.along[edge]), parallel, general))


@dataclass(frozen=True, eq=False)
class RowExtension:
    """f_C of every record at one point w of any domain."""

    batch: Batch
    point: FloatArray
    values: FloatArray
    duals: FloatArray
    kind: KindArray
    margins: FloatArray  # ⟨x, y⟩
    g: FloatArray
    y: FloatArray

    def mean_value(self) -> float:
        return float(np.mean(self.values))

    def mean_subgradient(self) -> FloatArray:
        """A subgradient of the mean of f_C at w."""
        return np.asarray(np.mean(self.g, axis=0))

    def subgradients(self) -> FloatArray:
        """The g of all records, of shape (n, d)."""
        return self.g

    def minimisers(self) -> FloatArray:
        """The y of all records, of shape (n, d)."""
        return self.y

    def slopes(self) -> FloatArray:
        """Of shape (n, d), the p of the minorant f(u) ≥ ⟨p, u⟩ + f(y) − ⟨p, y⟩ − first gap: v·x, and the gradient of a
        quadratic part at y."""
        linear = self.duals[:, np.newaxis] * self.batch.features
        part = self.batch.quadratic_part
        return linear if part is None else linear + part.gradients(self.y)

    def gaps(self) -> FloatArray:
        """The three brackets of every record, of shape (n, 3); the third contains the support's outward rounding."""
        batch, move = self.batch, self.point - self.y
        gaps = np.zeros((len(self.values), 3))
        if not isinstance(_without_ridge(batch.loss), Quadratic):
            gaps[:, 0] = fenchel_gap(batch.glm, self.margins, batch.targets, self.duals)
        distances = _row_lengths(move)
        gaps[:, 1] = np.maximum(batch.lipschitz * distances - np.einsum("ij,ij->i", self.g, move), 0.0)
        edge = self.kind == 3 if batch.quadratic_part is None else self.kind > 1
        if edge.any():
            normals = (self.g - self.slopes())[edge]
            reached = np.einsum("ij,ij->i", normals, self.y[edge])
            gaps[edge, 2] = np.maximum(batch.domain.support(normals) - reached, 0.0)
        return gaps

    def mean_hessian(self) -> FloatArray:
        """The second derivative at w of the mean of f_C, where it exists.

        Elsewhere a positive semidefinite matrix: at the borders of the cases that of one side, and for a minimiser on a
        face of W where a constraint is active without pressure, that of f_C with y kept on the face, which is larger.
        A domain whose boundary is not known here counts as if y could not move: then the quadratic function with value,
        slope and Hessian so found lies above f_C to second order.
        """
        batch, count, d = self.batch, len(self.values), self.point.size
        bends = self._bends()
        hessian = _weighted_gram(batch.features, np.where(self.kind == 1, bends, 0.0) / count)
        part = batch.quadratic_part
        edge = np.flatnonzero(self.kind == 3 if part is None else self.kind > 1)
        if part is not None:
            hessian += (1 - edge.size / count) * part.hessian
        step = max(1, _BLOCK // (d * d))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            for start in range(0, edge.size, step):
                rows = edge[start : start + step]
                hessian += self._edge_hessians(rows, bends[rows]).sum(axis=0) / count
        return np.asarray((hessian + hessian.T) / 2)

    def _bends(self) -> FloatArray:
        """φ'' at y."""
        if isinstance(_without_ridge(self.batch.loss), Quadratic):
            return np.zeros(len(self.values))
        curvature = self.batch.glm.d2phi(self.margins, self.batch.targets)
        return np.zeros(len(self.values)) if curvature is None else curvature

    def _edge_hessians(self, rows: NDArray[np.intp], bends: FloatArray) -> FloatArray:
        """Of every record, in case 3; with a quadratic part also in case 2."""
        of, y, g, duals = self.batch, self.y[rows], self.g[rows], self.duals[rows]
        at_kink = _without_ridge(of.loss).is_polyhedral & (duals != 0) & (np.abs(duals) < 1)
        softness = np.where(at_kink, 0.0, 1 / bends)
        give = _row_lengths(self.point - y) / of.lipschitz
        least = _SMALLEST_MOVE * of.domain.diameter_upper() / of.lipschitz
        normals = g - duals[:, np.newaxis] * of.features[rows]
        if of.quadratic_part is not None:
            from tailproof.refimpl.extension.penalised import bent_hessians

            normals = normals - of.quadratic_part.gradients(y, rows)
            inside, give = self.kind[rows] == 2, np.maximum(give, least)
            return bent_hessians(of, rows, y, normals, g, give, softness, inside)
        give[give < least] = 0.0
        return edge_hessians(of.domain, of.features[rows], y, normals, g, give, softness)


Extension: TypeAlias = BallExtension | RowExtension


def _combined(rows: FloatArray, factors: FloatArray, point: FloatArray, shares: FloatArray) -> FloatArray:
    return np.asarray(factors[:, np.newaxis] * rows + shares[:, np.newaxis] * point)


def _weighted_gram(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Σ weight·xxᵀ, a few rows at a time."""
    total = np.zeros((rows.shape[1], rows.shape[1]))
    step = max(1, _BLOCK // rows.shape[1])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        total += (rows[part] * weights[part, np.newaxis]).T @ rows[part]
    return total


def _product_gap(left: FloatArray, right: FloatArray) -> FloatArray:
    """‖a‖‖b‖ − ⟨a, b⟩ of plane vectors: (a × b)²/(‖a‖‖b‖ + ⟨a, b⟩) where this has no cancellation."""
    lengths = np.hypot(*left) * np.hypot(*right)
    inner = left[0] * right[0] + left[1] * right[1]
    outer = left[0] * right[1] - left[1] * right[0]
    acute = inner > 0
    return np.asarray(np.where(acute, outer / np.where(acute, lengths + inner, 1.0) * outer, lengths - inner))


# ------------------------------------------------------------------------------------------------------------ the batch


@dataclass(frozen=True, eq=False)
class QuadraticPart:
    """½(y − x)ᵀA(y − x) + (ω/2)‖y‖², with A = 0 unless the loss is quadratic."""

    quadratic: Quadratic | None
    weight: float
    features: FloatArray

    @property
    def hessian(self) -> FloatArray:
        ridge = self.weight * np.eye(self.features.shape[1])
        return ridge if self.quadratic is None else self.quadratic.matrix + ridge

    def gradients(self, y: FloatArray, rows: Part = slice(None)) -> FloatArray:
        """Of the given records, at one point or at a point for each."""
        pull = self.weight * y
        if self.quadratic is None:
            return np.broadcast_to(pull, self.features[rows].shape)
        return np.asarray((y - self.features[rows]) @ self.quadratic.matrix + pull)

    def values(self, y: FloatArray) -> FloatArray:
        """Of all records, at a point for each."""
        ridge = self.weight / 2 * np.einsum("ij,ij->i", y, y)
        if self.quadratic is None:
            return np.asarray(ridge)
        return np.asarray(np.square((y - self.features) @ self.quadratic.root).sum(axis=1) / 2 + ridge)


@dataclass(frozen=True, eq=False)
class Batch:
    """The records of a data set with what does not depend on w.  Made by `batch`."""

    loss: Loss
    domain: Domain
    lipschitz: float  # C
    features: FloatArray  # x, labels multiplied in
    targets: FloatArray
    norms: FloatArray  # ‖x‖
    centre_margins: FloatArray  # ⟨x, c⟩ at the centre of a ball, else 0

    def at(self, w: ArrayLike) -> Extension:
        """f_C of every record at the point w of the domain."""
        point = vector("w", w, size=self.domain.dimension)
        if not self.domain.contains(point):
            raise InputError(f"w = {point!r}: must lie in the domain")
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            result = self._at(point)
        if not np.isfinite(result.values).all():
            raise OverflowError("a value of the extension exceeds the largest float")
        return result

    def _at(self, point: FloatArray) -> Extension:
        if self.quadratic_part is not None:
            from tailproof.refimpl.extension.penalised import penalised

            return penalised(self, point)
        return _at_ball(self, point) if isinstance(self.domain, Ball) else _at_any(self, point)

    @property
    def glm(self) -> GlmLoss:
        """φ."""
        loss = _without_ridge(self.loss)
        if isinstance(loss, Quadratic):
            raise _unsupported(loss)
        return loss

    @cached_property
    def quadratic_part(self) -> QuadraticPart | None:
        """What f has besides φ."""
        if not isinstance(self.loss, Quadratic | Ridge):
            return None
        loss, weight = (self.loss.loss, self.loss.weight) if isinstance(self.loss, Ridge) else (self.loss, 0.0)
        return QuadraticPart(loss if isinstance(loss, Quadratic) else None, weight, self.features)

    @cached_property
    def warm(self) -> Warm:
        """What evaluations leave for those that follow."""
        from tailproof.refimpl.extension.held import Warm

        return Warm()

    def with_lipschitz(self, lipschitz: float) -> Batch:
        """The same records with another constant C."""
        return replace(self, lipschitz=_constant(lipschitz))


def _without_ridge(loss: Loss) -> GlmLoss | Quadratic:
    return loss.loss if isinstance(loss, Ridge) else loss


def batch(*, loss: Loss, data: ArrayLike, domain: Domain, lipschitz: float) -> Batch:
    """Check the records and prepare them for evaluations of f_C, C = `lipschitz`, at many points.

    The data are as the loss has them, [features | target or label], with entries of at most 1e60.
    """
    part = _without_ridge(loss)
    if not isinstance(part, Affine | Hinge | ReLU | Absolute | Logistic | Squared | L4 | Quadratic):
        raise _unsupported(loss)
    table = records("data", data, least=1, columns=loss.columns(domain.dimension))
    if not max(table.max(), -table.min()) <= LARGEST_RECORD:
        raise InputError(f"data: has an entry of size {np.abs(table).max():g}; at most {LARGEST_RECORD:g} is allowed")
    targets = np.ascontiguousarray(part.split(table)[1])
    features = np.ascontiguousarray(table if isinstance(part, Quadratic) else part.signed_features(table))
    if not isinstance(part, Quadratic) and part.target == "label":
        targets = np.zeros(len(table))  # φ knows no labels
    centre_margins = features @ domain.center if isinstance(domain, Ball) else np.zeros(len(table))
    return Batch(loss, domain, _constant(lipschitz), features, targets, _row_lengths(features), centre_margins)


def _constant(lipschitz: float) -> float:
    return between("lipschitz", lipschitz, 1e-50, 1e50)


def _ball(of: Batch) -> Ball:
    if not isinstance(of.domain, Ball):
        raise InputError(f"domain = {of.domain!r}: must be a ball")
    return of.domain


def _row_lengths(rows: FloatArray) -> FloatArray:
    """Euclidean norms; squares of entries below 1e-150 may underflow only where they do not matter."""
    lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    tiny = np.flatnonzero(lengths < 1e-140)
    if tiny.size:
        scaled = rows[tiny] * 2.0**600
        lengths[tiny] = np.sqrt(np.einsum("ij,ij->i", scaled, scaled)) * 2.0**-600
    return lengths


def _inside(of: Batch) -> float:
    """What a vector of length C is multiplied by, so that it is no longer than C whatever the rounding."""
    return 1 - (of.domain.dimension + 16) * _EPS


# ----------------------------------------------------------------------------------------------------- case 1 and 2


@dataclass(frozen=True, eq=False)
class _Steep:
    """The records not in case 1: indices, sign of φ' at w, and how far −s·x/‖x‖ must be followed to flatten φ to C."""

    rows: NDArray[np.intp]
    sign: FloatArray
    duals: FloatArray  # s·C/‖x‖
    margins: FloatArray  # where φ' = s·C/‖x‖
    way: FloatArray


def _least_slopes(of: Batch, margins: FloatArray) -> tuple[FloatArray, _Steep]:
    """The slope of least size at every margin, and the records for which it is too steep."""
    low, high = of.glm.dphi_interval(margins, of.targets)
    least = np.clip(0.0, low, high)
    rows = np.flatnonzero(np.abs(least) * of.norms > of.lipschitz)
    sign, norms = np.sign(least[rows]), of.norms[rows]
    duals = sign * (of.lipschitz / norms)
    flat = margin_of_slope(of.glm, duals, of.targets[rows])
    way = np.maximum(sign * (margins[rows] - flat) / norms, 0.0)
    return least, _Steep(rows, sign, duals * _inside(of), flat, way)


# -------------------------------------------------------------------------------------------------------------- ball


def _at_ball(of: Batch, point: FloatArray) -> BallExtension:
    ball = _ball(of)
    offset = point - ball.center
    count = len(of.norms)
    length = min(float(_row_lengths(offset[np.newaxis])[0]), ball.radius)
    inner = of.features @ offset
    along = np.clip(np.divide(inner, of.norms, out=np.zeros(count), where=of.norms > 0), -length, length)
    across = np.sqrt((length - along) * (length + along))
    margins = of.centre_margins + inner
    duals, steep = _least_slopes(of, margins)
    kind = np.ones(count, dtype=np.int8)
    distances, g_w, y_x, y_w = np.zeros(count), np.zeros(count), np.zeros(count), np.ones(count)
    g_x = duals.copy()

    # The half chord through w in the direction of x, from R² − across² = (R − ρ)(R + ρ) + along².
    half_chord = np.sqrt((ball.radius - length) * (ball.radius + length) + np.square(along[steep.rows]))
    ahead = steep.sign * along[steep.rows]
    reached = steep.way <= ahead + half_chord
    rows = steep.rows[reached]
    kind[rows], duals[rows], g_x[rows] = 2, steep.duals[reached], steep.duals[reached]
    distances[rows], margins[rows] = steep.way[reached], steep.margins[reached]
    y_x[rows] = -(steep.sign * steep.way)[reached] / of.norms[rows]

    rows = steep.rows[~reached]
    if rows.size:
        across[rows] = _lengths_across(of.features, of.norms, offset, along, across, rows)
        plane = _Plane(
            of.glm,
            of.lipschitz,
            ball.radius,
            length,
            norms=of.norms[rows],
            targets=of.targets[rows],
            centre_margins=of.centre_margins[rows],
            sign=steep.sign[~reached],
            ahead=ahead[~reached],
            across=across[rows],
            half_chord=half_chord[~reached],
            flat_margins=steep.margins[~reached],
            flat=(ahead - steep.way)[~reached] / ball.radius,
        )
        edge = plane.solve(_inside(of))
        kind[rows], duals[rows], margins[rows], distances[rows] = 3, edge.duals, edge.margins, edge.distances
        g_x[rows], g_w[rows], y_x[rows], y_w[rows] = edge.g_x, edge.g_w, edge.y_x, edge.y_w
    values = of.glm.phi(margins, of.targets) + of.lipschitz * distances
    return BallExtension(of, offset, values, duals, kind, margins, distances, g_x, g_w, y_x, y_w, along, across)


def _lengths_across(
    features: FloatArray,
    norms: FloatArray,
    offset: FloatArray,
    along: FloatArray,
    across: FloatArray,
    rows: NDArray[np.intp],
) -> FloatArray:
    """‖(w − c) − its part along x‖ of the given rows, by subtraction where Pythagoras would lose digits."""
    lengths = across[rows]
    total = float(np.sqrt(offset @ offset))
    parallel = np.flatnonzero(lengths < total / 4)
    step = max(1, _BLOCK // offset.size)
    for start in range(0, parallel.size, step):
        part = parallel[start : start + step]
        unit = features[rows[part]] / norms[rows[part], np.newaxis]
        lengths[part] = _row_lengths(offset - along[rows[part], np.newaxis] * unit)
    # What rounding may have made counts as nothing: f_C moves by C times as much.
    lengths[lengths <= 4 * (offset.size + 4) * _EPS * total] = 0.0
    return lengths


@dataclass(frozen=True, eq=False)
class _EdgePoints:
    duals: FloatArray
    margins: FloatArray
    distances: FloatArray
    g_x: FloatArray
    g_w: FloatArray
    y_x: FloatArray
    y_w: FloatArray


@dataclass(frozen=True, eq=False)
class _Plane:
    """Case 3 of many records, each in its plane with the axes e = s·x/‖x‖ and q, the direction of w − c across e.

    The minimiser is y = R·(−cos θ, sin θ).  With β the angle of w, at distance ρ from the centre, δ = β − θ and
    D = ‖w − y‖, the derivative along the circle vanishes where

        ψ'·sin θ = C·K,   K = ρ·sin δ / D,   ψ' = ‖x‖·|φ'| at y.

    K is the sine of the angle between w − y and the radius; the arc searched ends where y is straight behind w.  On the
    arc K ≥ sin θ, so at every root ψ' ≥ C; then the multiplier of the ball is ≥ 0 and the root is the minimiser: there is
    exactly one sign change, from − to +, or none if w is itself on the sphere and the minimiser.
    """

    loss: GlmLoss
    lipschitz: float
    radius: float
    length: float  # ρ
    norms: FloatArray
    targets: FloatArray
    centre_margins: FloatArray
    sign: FloatArray
    ahead: FloatArray  # w − c along e
    across: FloatArray  # w − c along q
    half_chord: FloatArray
    flat_margins: FloatArray  # where ψ' falls to C ...
    flat: FloatArray  # ... and its place along e, in units of R

    @cached_property
    def start(self) -> FloatArray:
        """The angle where the sphere meets the flat margin (0 if it does not): the arc searched begins there."""
        meets = np.where(self.flat > -1, self.flat, -1.0)
        return np.asarray(np.minimum(np.arctan2(np.sqrt((1 - meets) * (1 + meets)), -meets), self.end))

    @cached_property
    def end(self) -> FloatArray:
        """The angle where y is straight behind w."""
        return np.asarray(np.arctan2(self.across, self.half_chord))

    @cached_property
    def start_margins(self) -> FloatArray:
        pole = self.centre_margins - self.sign * self.norms * self.radius
        return np.where(self.flat > -1, self.flat_margins, pole)

    @cached_property
    def beta(self) -> FloatArray:
        return np.asarray(np.arctan2(self.across, -self.ahead))

    def margins(self, turn: FloatArray, part: Part) -> FloatArray:
        """⟨x, y⟩ at θ = start + turn.  Measured from the start, so that a large x magnifies no rounding."""
        rise = np.sin(self.start[part] + turn / 2) * np.sin(turn / 2)
        return np.asarray(self.start_margins[part] + (2 * self.radius) * self.sign[part] * (self.norms[part] * rise))

    def solve(self, inside: float) -> _EdgePoints:
        everything = slice(None)
        turn = self._roots()
        theta = self.start + turn
        sine, cosine = np.sin(theta), np.cos(theta)
        k, _, distances = self._pull(theta, everything)
        margins = self.margins(turn, everything)
        duals = self._slope_near(margins, self.lipschitz * k, self.norms * sine)
        # The subgradient in the frame of the tangent (sin θ, cos θ) and the inward radius (cos θ, −sin θ).
        tangential = np.minimum(np.abs(duals) * self.norms * sine, self.lipschitz)
        radial = np.sqrt((self.lipschitz - tangential) * (self.lipschitz + tangential))
        flat = self.across == 0
        over = np.where(flat, 1.0, self.across)
        g_e = inside * (tangential * sine + radial * cosine)
        g_w = np.where(flat, 0.0, inside * (tangential * cosine - radial * sine) / over)
        y_w = np.where(flat, 0.0, np.minimum(self.radius * sine / over, 1.0))
        g_x = self.sign * (g_e - g_w * self.ahead) / self.norms
        y_x = self.sign * (-self.radius * cosine - y_w * self.ahead) / self.norms
        return _EdgePoints(duals, margins, distances, g_x, g_w, y_x, y_w)

    def _slope_near(self, margins: FloatArray, pull: FloatArray, arm: FloatArray) -> FloatArray:
        """The slope nearest to ±pull/arm that φ has within rounding of the margin; at a kink it has many."""
        rounding = 4 * _EPS * (np.abs(self.start_margins) + np.abs(margins))
        low = self.loss.dphi_interval(margins - rounding, self.targets)[0]
        high = self.loss.dphi_interval(margins + rounding, self.targets)[1]
        at_pole = np.where(self.loss.is_polyhedral, self.sign, self.loss.dphi(margins, self.targets))
        wanted = np.divide(self.sign * pull, arm, out=at_pole, where=arm > 0)
        return np.clip(wanted, low, high)

    def _pull(self, theta: FloatArray, part: Part) -> tuple[FloatArray, FloatArray, FloatArray]:
        """K, its derivative in δ, and D at the angles θ of some of the records."""
        half = (self.beta[part] - theta) / 2
        sine, depth = np.sin(half), self.radius - self.length
        distances = np.hypot(depth, 2 * np.sqrt(self.length * self.radius) * sine)
        k = np.divide(2 * self.length * sine * np.cos(half), distances, out=np.ones_like(theta), where=distances > 0)
        drop = 2 * np.square(sine)
        bend = self.length * (depth - self.radius * drop) * (depth + self.length * drop) / distances**3
        return k, bend, distances

    def _steepness(self, turn: FloatArray, part: Part) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ψ'/C, its derivative in y's place along e, and its rounding error over EPS; of a polyhedral loss the slope
        above the kink."""
        scale = self.norms[part] / self.lipschitz
        if self.loss.is_polyhedral:
            return scale, np.zeros_like(turn), scale
        margins, targets = self.margins(turn, part), self.targets[part]
        curvature = self.loss.d2phi(margins, targets)
        bend = scale * (0.0 if curvature is None else curvature)
        steepness = scale * self.sign[part] * self.loss.dphi(margins, targets)
        return steepness, bend * self.norms[part], steepness + bend * (np.abs(self.start_margins[part]) + np.abs(margins))

    def _tilt(self, turn: FloatArray, part: Part) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ψ'·sin θ/C − K, its derivative in θ, and its rounding error."""
        theta = self.start[part] + turn
        steepness, growth, error = self._steepness(turn, part)
        k, bend, _ = self._pull(theta, part)
        sine = np.sin(theta)
        slope = growth * self.radius * np.square(sine) + steepness * np.cos(theta) + bend
        return steepness * sine - k, slope, 8 * _EPS * (k + error * sine)

    def _breaks(self) -> list[FloatArray]:
        """The turns to the ends of a smoothed kink, between which Newton's method would have to find its way."""
        if not (isinstance(self.loss, Smoothed) and self.loss.loss.is_polyhedral) or isinstance(self.loss.loss, Affine):
            return []
        kinks, widths = margin_of_slope(self.loss.loss, self.sign / 2, self.targets[:, 0]), self.targets[:, 1]
        turns = []
        for slope in self.loss.slope_range:
            way = self.sign * (kinks + slope * widths - self.start_margins) / (self.norms * self.radius)
            turns.append(np.arccos(np.clip(np.cos(self.start) - way, -1.0, 1.0)) - self.start)
        return turns

    def _roots(self) -> FloatArray:
        """The sign changes of the tilt on the arc, as turns from its start: Newton's method, with bisection where it
        does not converge fast."""
        everything = slice(None)
        whole = self.end - self.start
        nothing = np.zeros_like(whole)
        at_start, slope, _ = self._tilt(nothing, everything)
        at_end = self._tilt(whole, everything)[0]
        turn = np.where(at_start >= 0, nothing, whole)
        live = np.flatnonzero((at_start < 0) & (at_end > 0))
        a, b = nothing[live], whole[live]
        for turns in self._breaks():
            trial = np.clip(turns[live], a, b)
            tilt = self._tilt(trial, live)[0]
            a, b = np.where(tilt < 0, trial, a), np.where(tilt > 0, trial, b)
        trial = -at_start[live] / slope[live]
        trial = np.where((trial > a) & (trial < b), trial, (a + b) / 2)
        last = b - a
        for _ in range(400):
            tilt, slope, error = self._tilt(trial, live)
            a, b = np.where(tilt < 0, trial, a), np.where(tilt > 0, trial, b)
            following = trial - tilt / slope
            # Rounding may carry the step beyond an end that is nearly the root.
            following = np.where(following >= b, b - (b - a) / 256, np.where(following <= a, a + (b - a) / 256, following))
            good = (following > a) & (following < b) & (np.abs(following - trial) < last / 2)
            following = np.where(good, following, _middle(a, b))
            last = np.where(good, np.abs(following - trial), b - a)
            settled = np.abs(tilt) <= error
            done = settled | (last <= 2 * _EPS * trial) | (b - a <= 2 * _EPS * b)
            turn[live[done]] = np.where(settled, trial, following)[done]
            keep = ~done
            live, a, b, trial, last = live[keep], a[keep], b[keep], following[keep], last[keep]
            if not live.size:
                return turn
        raise ArithmeticError("the search for the minimiser on the sphere did not end")


def _middle(low: FloatArray, high: FloatArray) -> FloatArray:
    """Halves the logarithm where the ends are of different magnitude."""
    return np.where(high > 16 * low, np.sqrt(np.maximum(low, 1e-6 * high) * high), (low + high) / 2)


# --------------------------------------------------------------------------------------------------------- any domain


def _at_any(of: Batch, point: FloatArray) -> RowExtension:
    margins = of.features @ point
    duals, steep = _least_slopes(of, margins)
    values = of.glm.phi(margins, of.targets).copy()  # affine loss returns the margins themselves
    kind = np.ones(len(duals), dtype=np.int8)
    y = np.tile(point, (len(duals), 1))
    g = duals[:, np.newaxis] * of.features

    units = steep.sign[:, np.newaxis] * of.features[steep.rows] / of.norms[steep.rows, np.newaxis]
    near = np.flatnonzero(steep.way <= of.domain.diameter_upper())
    ends = point - steep.way[near, np.newaxis] * units[near]
    inside = of.domain.contains(ends) if near.size else np.zeros(0, dtype=bool)
    reached = near[inside]
    rows = steep.rows[reached]
    kind[rows], y[rows], duals[rows], margins[rows] = 2, ends[inside], steep.duals[reached], steep.margins[reached]
    g[rows] = duals[rows, np.newaxis] * of.features[rows]
    values[rows] = of.glm.phi(margins[rows], of.targets[rows]) + of.lipschitz * steep.way[reached]

    left = np.setdiff1d(np.arange(steep.rows.size), reached)
    if left.size:
        ray = _Rays(of, point, units[left], _Steep(*(part[left] for part in vars(steep).values())), margins, duals)
        rows = steep.rows[left]
        kind[rows] = 3
        values[rows], margins[rows], duals[rows], g[rows], y[rows] = ray.solve(values[rows])
    return RowExtension(of, point, values, duals, kind, margins, g, y)


@dataclass(frozen=True, eq=False)
class _Rays:
    """Case 3 of many records: y(τ) = P_W(w − τ·e) with e = s·x/‖x‖.

    y minimises φ(⟨x, y⟩) + C‖w − y‖ over W if and only if w − (|v|·‖w − y‖/C)·s·x − y is normal to W at y for a slope v
    of φ there, that is y = y(τ) with ‖x‖·|v|·‖w − y‖ = C·τ.  Along the ray |φ'| does not increase, τ/‖w − y‖ does not
    decrease: one crossing.
    """

    batch: Batch
    point: FloatArray
    units: FloatArray
    steep: _Steep
    point_margins: FloatArray
    point_duals: FloatArray

    def at(self, times: FloatArray, part: Part, *, roundings: float = 1.0) -> tuple[FloatArray, FloatArray, FloatArray]:
        """y(τ), ‖w − y‖ and ⟨x, y⟩; a margin within so many roundings of the flat one counts as it."""
        domain, held = self.batch.domain, self.batch.warm.held
        targets = self.point - np.minimum(times, 1e60)[:, np.newaxis] * self.units[part]
        if isinstance(domain, Polytope) and held is not None and times.size and times.max() < 1e60:
            y = domain.nearest_from(targets, held[self.steep.rows[part]].astype(np.intp))
        else:
            y = nearest(domain, targets)
        move = self.point - y
        done = np.einsum("ij,ij->i", self.units[part], move)
        norms, way, sign = self.norms[part], self.steep.way[part], self.steep.sign[part]
        flat = self.steep.margins[part]
        from_flat = np.where(np.isfinite(way), way - done, 0.0)
        from_flat = np.where(np.abs(from_flat) <= roundings * self.rounding, 0.0, from_flat)
        start = np.where(np.isfinite(way), flat, self.point_margins[self.steep.rows[part]] - sign * norms * done)
        return y, _row_lengths(move), np.asarray(start + sign * norms * from_flat)

    @cached_property
    def norms(self) -> FloatArray:
        return np.asarray(self.batch.norms[self.steep.rows])

    @cached_property
    def targets(self) -> FloatArray:
        return np.asarray(self.batch.targets[self.steep.rows])

    @cached_property
    def rounding(self) -> float:
        """Of a coordinate along e; projections onto ellipsoids and polytopes end with a pull inside."""
        roundings = 64 if isinstance(self.batch.domain, Ellipsoid | Polytope) else 8
        return roundings * _EPS * (float(np.abs(self.point).max()) + self.batch.domain.diameter_upper())

    def _crossings(self) -> FloatArray:
        """τ, where the set's rays are known and no rounding of a margin matters, otherwise by bisection of its logarithm."""
        from tailproof.refimpl.extension.held import Known

        batch, size = self.batch, self.batch.domain.diameter_upper()
        steepest = np.abs(self.point_duals[self.steep.rows]) * self.norms
        low = np.full(len(self.norms), _EPS * size)
        high = 2 * size * np.maximum(steepest / batch.lipschitz, 1.0)
        live = np.arange(len(low))
        if isinstance(batch.domain, Known):
            known = self.norms * self.rounding <= 1e-9
            high[known], live = self._known_crossings(batch.domain, np.flatnonzero(known), steepest[known]), live[~known]
        while live.size:
            middle = np.sqrt(low[live]) * np.sqrt(high[live])
            _, distances, margins = self.at(middle, live)
            slopes = self.steep.sign[live] * batch.glm.dphi(margins, self.targets[live])
            before = slopes * self.norms[live] * distances > batch.lipschitz * middle
            low[live[before]], high[live[~before]] = middle[before], middle[~before]
            live = live[high[live] > low[live] * (1 + 4 * _EPS)]
        return high

    def _known_crossings(self, domain: Known, part: NDArray[np.intp], steepest: FloatArray) -> FloatArray:
        batch, rows = self.batch, self.steep.rows[part]
        numbers = (self.targets[part], self.norms[part], self.point_margins[rows], self.steep.sign[part], steepest)
        mu = 2.0**-60 * domain.diameter_upper() / batch.lipschitz  # so small that nothing is smoothed
        case = Case(batch.glm, mu, batch.lipschitz, self.point, batch.features[rows], *numbers)
        return batch.warm.solve(domain, case, rows, len(batch.norms))[0]

    def solve(self, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Values, margins, duals, subgradients and minimisers; the values given are those of f at w."""
        batch, everything = self.batch, slice(None)
        times = self._crossings()
        # Twice the search's tolerance: a crossing at the edge of what counts as flat must not fall out again.
        y, distances, margins = self.at(times, everything, roundings=2.0)
        found = batch.glm.phi(margins, self.targets) + batch.lipschitz * distances
        stays = values <= found  # w itself is as good
        y[stays], distances[stays] = self.point, 0.0
        margins = np.where(stays, self.point_margins[self.steep.rows], margins)
        # The direction w − y and the slope come from a move long enough to have a direction.
        times = np.maximum(times, _SMALLEST_MOVE * batch.domain.diameter_upper())
        ends, lengths, _ = self.at(times, everything)
        wanted = batch.lipschitz * times / (self.norms * lengths)
        rounding = 4 * _EPS * (np.abs(margins) + np.abs(np.where(np.isfinite(self.steep.way), self.steep.margins, 0.0)))
        rounding = rounding + 4 * self.norms * self.rounding  # more than what counted as flat
        low = batch.glm.dphi_interval(margins - rounding, self.targets)[0]
        high = batch.glm.dphi_interval(margins + rounding, self.targets)[1]
        duals = np.clip(self.steep.sign * wanted, low, high)
        g = (self.point - ends) * (np.abs(duals) * self.norms / times)[:, np.newaxis]
        steepness = np.maximum(_row_lengths(g), batch.lipschitz * _inside(batch))
        g *= (batch.lipschitz * _inside(batch) / steepness)[:, np.newaxis]
        return np.minimum(values, found), margins, duals, g, y
