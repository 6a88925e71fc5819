"""The shape of a domain's boundary, and how functions with a minimiser on it bend."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tailproof.refimpl.active_sets import Facets, Sets, widest
from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope
from tailproof.refimpl.validation import FloatArray


def edge_hessians(
    domain: Domain,
    x: FloatArray,
    y: FloatArray,
    normals: FloatArray,
    g: FloatArray,
    give: FloatArray,
    softness: FloatArray,
) -> FloatArray:
    """The Hessians in w of min_y f(y) + k(w − y), y on the boundary of the domain, one for every record.

    k bends by (1/give)(I − nnᵀ) at w − y; n = g/‖g‖ for k = C‖·‖, which has give = ‖w − y‖/C, and n = 0 if g = 0, for k a
    square.  f bends by xxᵀ/softness.  Let T project onto the tangent space of the boundary at y, and n_T, n_N be the parts
    of n.  Eliminating the tangent space splits I − nnᵀ into ZᵀMZ + S,

        M = T − n_T n_Tᵀ,   Z = T − n_T n_Nᵀ/‖n_N‖²,   S = I − T − n_N n_Nᵀ/‖n_N‖²:

    Z is how a move of w moves y if both the boundary and f are flat.  With VᵀV the pressure on the boundary times its
    curvature, N = M⁻¹ = T + n_T n_Tᵀ/‖n_N‖², B = (I + give·VNVᵀ)⁻¹ and R = I − give·VᵀBVN, f and k together bend in the tangent
    space by

        Q = VᵀBV + (Rx)(Rx)ᵀ/(softness + give·⟨x, NRx⟩),

    and the whole by ZᵀQZ + S/give.  The last term is left out where give is 0: there w is on an edge, and f_C not smooth.
    """
    identity = np.eye(x.shape[1])
    tangent, roots = _boundary(domain, y, normals)
    roots = np.clip(roots @ tangent, -1e120, 1e120)
    give = give[:, np.newaxis, np.newaxis]
    n = _directions(g)[:, :, np.newaxis]
    n_tangent = tangent @ n
    n_normal = n - n_tangent
    depth = np.maximum(np.square(n_normal).sum(axis=1, keepdims=True), 1e-12)
    shear = tangent - n_tangent @ _turned(n_normal) / depth
    inverse = tangent + n_tangent @ _turned(n_tangent) / depth
    # The eigenvalues are ≥ 1, whatever the rounding of extreme pressures makes of them.
    levels, vectors = np.linalg.eigh(np.eye(roots.shape[1]) + give * (roots @ inverse @ _turned(roots)))
    held = (vectors / np.maximum(levels, 1.0)[:, np.newaxis, :]) @ _turned(vectors)
    boundary = _turned(roots) @ held @ roots
    along = tangent @ x[:, :, np.newaxis]
    bent = along - give * (boundary @ inverse @ along)
    resistance = softness[:, np.newaxis, np.newaxis] + give * (_turned(along) @ inverse @ bent)
    share = np.divide(1.0, resistance, out=np.zeros_like(resistance), where=resistance > 0)
    inner = boundary + share * (bent @ _turned(bent))
    edge = identity - tangent - n_normal @ _turned(n_normal) / depth
    stiffness = np.divide(1.0, give, out=np.zeros_like(give), where=give > 0)
    return np.asarray(_turned(shear) @ inner @ shear + stiffness * edge)


def face_hessian(
    facets: Facets, sets: Sets, x: FloatArray, g: FloatArray, give: FloatArray, softness: FloatArray
) -> FloatArray:
    """The sum of the same for a polytope, y held back by the facets of the sets: flat faces leave vectors to be added.

    With V = 0 it is v vᵀ/(softness + give·(‖Tx‖² + ⟨n_T, x⟩²/‖n_N‖²)) + S/give, v = Tx − n_N·⟨n_T, x⟩/‖n_N‖².
    """
    chosen = sets[:, : widest(sets)]
    normals = np.vstack([facets.unit, np.zeros(x.shape[1])])[chosen]
    spans = np.linalg.solve(facets.system(chosen), normals)

    def held(rows: FloatArray) -> FloatArray:  # I − T
        return np.asarray(np.einsum("ijk,ij->ik", spans, np.einsum("ijk,ik->ij", normals, rows)))

    stiffness = _inverse(give)
    flat = (normals * stiffness[:, np.newaxis, np.newaxis]).reshape(-1, x.shape[1]).T @ spans.reshape(-1, x.shape[1])
    return _flat_hessian(held, flat, x, g, give, softness)


def box_hessian(free: NDArray[np.bool_], x: FloatArray, g: FloatArray, give: FloatArray, softness: FloatArray) -> FloatArray:
    """The same for a box, some coordinates of y being free."""
    flat = np.diag(np.where(free, 0.0, _inverse(give)[:, np.newaxis]).sum(axis=0))
    return _flat_hessian(lambda rows: np.where(free, 0.0, rows), flat, x, g, give, softness)


def _flat_hessian(
    held: Callable[[FloatArray], FloatArray],
    flat: FloatArray,
    x: FloatArray,
    g: FloatArray,
    give: FloatArray,
    softness: FloatArray,
) -> FloatArray:
    """From I − T as a function, and the sum of (I − T)/give."""
    n = _directions(g)
    n_normal = held(n)
    depth = np.maximum(np.square(n_normal).sum(axis=1), 1e-12)
    along, lean = x - held(x), np.einsum("ij,ij->i", n - n_normal, x)
    resistance = softness + give * (np.square(along).sum(axis=1) + np.square(lean) / depth)
    moved = along - (lean / depth)[:, np.newaxis] * n_normal
    bent = (moved * _inverse(resistance)[:, np.newaxis]).T @ moved
    return np.asarray(bent + flat - (n_normal * (_inverse(give) / depth)[:, np.newaxis]).T @ n_normal)


def _inverse(numbers: FloatArray) -> FloatArray:
    """1/number, 0 where it is not positive."""
    return np.asarray(np.divide(1.0, numbers, out=np.zeros_like(numbers), where=numbers > 0))


def _turned(matrices: FloatArray) -> FloatArray:
    return np.swapaxes(matrices, 1, 2)


def _boundary(domain: Domain, points: FloatArray, normals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The boundary of W at its points y: the projector T on the tangent space of the face of y, and a root V of the second
    derivative of the Lagrangian of the constraints, VᵀV = Σ η∇²h, the normals being their pressures, Σ η∇h.

    A domain not known here has T = 0, as if y were a vertex.
    """
    count, d = points.shape
    identity = np.broadcast_to(np.eye(d), (count, d, d))
    flat = np.zeros((count, 1, d))
    match domain:
        case Box():
            return identity * ((points > domain.lower) & (points < domain.upper))[:, np.newaxis, :], flat
        case L1Ball():
            signs = np.sign(points - domain.center)
            return identity * np.abs(signs)[:, np.newaxis, :] - _squares(_directions(signs)), flat
        case Polytope():
            return _faces(domain, points), flat
        case Ball():
            return _smooth_boundary(points - domain.center, normals, np.eye(d))
        case Ellipsoid():
            root = (domain.basis / domain.axes).T
            return _smooth_boundary((points - domain.center) @ root.T @ root, normals, root)
        case Localised():
            return _localised_boundary(domain, points, normals)
    return np.zeros((count, d, d)), flat


def _smooth_boundary(gradients: FloatArray, normals: FloatArray, root: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of one constraint h ≤ 0 with ∇h given at every point, and everywhere a root of ∇²h."""
    units = _directions(gradients)
    pressures = np.maximum(np.einsum("ij,ij->i", normals, units), 0.0) / _row_norms(gradients)
    return np.eye(len(root)) - _squares(units), np.sqrt(pressures)[:, np.newaxis, np.newaxis] * root


def _faces(polytope: Polytope, points: FloatArray) -> FloatArray:
    """The projectors on the directions along all facets that contain the point; there are few different faces."""
    lengths = _row_norms(polytope.normals)
    on_facet = polytope.offsets - points @ polytope.normals.T <= 1e-9 * lengths * polytope.diameter_upper()
    kinds, which = np.unique(on_facet, axis=0, return_inverse=True)
    identity = np.eye(points.shape[1])
    projectors = np.array(
        [identity - np.linalg.pinv(polytope.normals[kind], rcond=1e-9) @ polytope.normals[kind] for kind in kinds]
    )
    return np.asarray(projectors[which.ravel()])


def _localised_boundary(domain: Localised, points: FloatArray, normals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Normal = part normal to the base + μ·(y − centre), where the ball presses; the multiplier is that of a projection
    of a point ahead of y."""
    offsets = points - domain.center
    lengths = _row_norms(normals)
    ahead = np.divide(domain.radius, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    shares = domain.project_with_multiplier(points + ahead[:, np.newaxis] * normals)[1]
    multipliers = np.divide(shares, ahead, out=np.zeros_like(ahead), where=ahead > 0)
    rest = normals - multipliers[:, np.newaxis] * offsets
    on_ball = multipliers * _row_norms(offsets) > 1e-9 * lengths
    on_base = _row_norms(rest) > 1e-9 * lengths
    tangent, roots = _boundary(domain.base, points, rest)
    tangent = np.where(on_base[:, np.newaxis, np.newaxis], tangent, np.eye(domain.dimension))
    roots = np.where(on_base[:, np.newaxis, np.newaxis], roots, 0.0)
    radial = _directions((tangent @ offsets[:, :, np.newaxis])[:, :, 0])
    tangent = tangent - np.where(on_ball[:, np.newaxis, np.newaxis], _squares(radial), 0.0)
    of_ball = np.sqrt(multipliers)[:, np.newaxis, np.newaxis] * np.eye(domain.dimension)
    return tangent, np.concatenate([roots, of_ball], axis=1)


def _row_norms(rows: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _directions(rows: FloatArray) -> FloatArray:
    """Rows of length 1, or 0 if they are 0."""
    lengths = _row_norms(rows)[:, np.newaxis]
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _squares(rows: FloatArray) -> FloatArray:
    """The matrices rrᵀ of all rows r."""
    return np.asarray(rows[:, :, np.newaxis] * rows[:, np.newaxis, :])
