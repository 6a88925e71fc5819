"""Random convex sets near the origin, of every kind."""

from __future__ import annotations

import numpy as np

from tailproof.refimpl.domains import Ball, Box, Domain, Ellipsoid, L1Ball, Localised, Polytope


def random_domain(kind: str, d: int, rng: np.random.Generator) -> Domain:
    center = 0.3 * rng.normal(size=d)
    match kind:
        case "ball":
            return Ball(center, rng.uniform(0.3, 2))
        case "box":
            return Box(center - rng.uniform(0.2, 1, d), center + rng.uniform(0.2, 1, d))
        case "l1":
            return L1Ball(center, rng.uniform(0.5, 2))
        case "ellipsoid":
            root = rng.normal(size=(d, d))
            return Ellipsoid(center, root @ root.T / d + 0.3 * np.eye(d))
        case "localised":
            base = random_domain(["ball", "box"][int(rng.integers(2))], d, rng)
            return Localised(base, base.project(center), rng.uniform(0.2, 0.8))
        case "polytope":
            facets = rng.normal(size=(2 * d, d))
            facets /= np.linalg.norm(facets, axis=1)[:, np.newaxis]
            sides = np.vstack([facets, np.eye(d), -np.eye(d)])
            return Polytope(sides, sides @ center + rng.uniform(0.4, 1, 4 * d))
    raise ValueError(kind)
