"""Minimisers on the boundary of sets whose rays are known in closed form, and what holds them back there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tailproof.refimpl.active_sets import Sets
from tailproof.refimpl.domains import Box, Domain, Ellipsoid, Polytope
from tailproof.refimpl.extension.axis_rays import AxisRays, shell_hessian
from tailproof.refimpl.extension.box_rays import BoxRays
from tailproof.refimpl.extension.curvature import box_hessian, face_hessian
from tailproof.refimpl.extension.facet_rays import FacetRays
from tailproof.refimpl.extension.rays import Case
from tailproof.refimpl.validation import FloatArray

Known: TypeAlias = Box | Ellipsoid | Polytope
Held: TypeAlias = Sets | FloatArray
"""The facets of a polytope by row, the shifts t of an ellipsoid's axes, or the times τ of a box."""


@dataclass(eq=False)
class Warm:
    """What one evaluation leaves for the next, at another point or with another μ: a guess of what holds each y back."""

    held: NDArray[Any] | None = None

    def solve(self, domain: Known, case: Case, rows: NDArray[np.intp], count: int) -> tuple[FloatArray, FloatArray, Held]:
        """τ, y and what holds y back, of these rows of so many records."""
        if self.held is None:
            facets = isinstance(domain, Polytope)
            self.held = np.full((count, len(case.point)), -1, np.int32) if facets else np.full(count, np.inf)
        times, y, held = _solved(domain, case, self.held[rows])
        self.held[rows] = held
        return times, y, held


def _solved(domain: Known, case: Case, start: NDArray[Any]) -> tuple[FloatArray, FloatArray, Held]:
    match domain:
        case Polytope():
            return FacetRays(**vars(case), polytope=domain).solve(start.astype(np.intp))
        case Ellipsoid():
            return AxisRays(**vars(case), ellipsoid=domain).solve(start)
        case Box():
            return BoxRays(**vars(case), box=domain).solve(start)


def hessian(
    domain: Domain, held: Held, x: FloatArray, y: FloatArray, g: FloatArray, give: FloatArray, softness: FloatArray
) -> FloatArray:
    """The sum of the records' Hessians, as `edge_hessians` has them one by one."""
    match domain:
        case Polytope():
            return face_hessian(domain.facets, held.astype(np.intp), x, g, give, softness)
        case Ellipsoid():
            return shell_hessian(domain, np.asarray(held, dtype=np.float64), x, y, g, give, softness)
        case Box():
            return box_hessian((y > domain.lower) & (y < domain.upper), x, g, give, softness)
    raise TypeError(f"{domain!r} has no rays of its own")
