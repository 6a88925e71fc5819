"""Primitives that answer for all floats, for what data reach: no refusal, no failure to converge, a number of steps that is known.

Entry points check public arguments and refuse them in one line.  Behind them numbers come from data, and whether a computation
raises would tell of these.  What is here equals the ordinary primitive wherever that answers.
"""

from __future__ import annotations

import numpy as np

from tailproof.refimpl.domains import LARGEST_POINT, Domain
from tailproof.refimpl.validation import FloatArray


def nearest(domain: Domain, points: FloatArray) -> FloatArray:
    """The projections of these points.  One with a NaN counts as a point of W; one with an entry beyond `LARGEST_POINT` is
    brought nearer on its way to the origin, which moves what `project` returns by less than its rounding where W is not as far.
    """
    sizes = np.abs(points).max(axis=-1, keepdims=True)
    if not (sizes <= LARGEST_POINT).all():
        points = _within_reach(domain, points)
    return domain.project(points)


def _within_reach(domain: Domain, points: FloatArray) -> FloatArray:
    unknown = np.isnan(points).any(axis=-1, keepdims=True)
    finite = np.nan_to_num(points)  # infinities become the largest float
    powers = np.maximum(np.frexp(np.abs(finite).max(axis=-1, keepdims=True))[1] - 200, 0)
    near = np.clip(np.ldexp(finite, -powers), -(2.0**200), 2.0**200)
    return np.where(unknown, domain.interior_point(), near)


def spectrum(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, ascending, and eigenvectors as columns of a symmetric matrix; of its finite part where entries are not finite,
    of its diagonal where the computation does not converge."""
    finite = matrix if np.isfinite(matrix).all() else np.nan_to_num(matrix, nan=0.0, posinf=1e150, neginf=-1e150)
    try:
        eigenvalues, vectors = np.linalg.eigh(finite)
    except np.linalg.LinAlgError:
        order = np.argsort(np.diagonal(finite))
        return np.diagonal(finite)[order], np.eye(len(finite))[:, order]
    return eigenvalues, vectors


__all__ = ["nearest", "spectrum"]
