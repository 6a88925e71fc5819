"""Penalties are the same for all records: P0's methods add their gradient after clipping."""

from __future__ import annotations

import numpy as np
import pytest

from tailproof.refimpl.approx_dp.gradients import clipped_mean_gradient, smoothness_upper
from tailproof.refimpl.domains import Ball
from tailproof.refimpl.losses import AnyLoss, parse_any_loss


@pytest.mark.parametrize(
    ("text", "pull", "curvature"),
    [
        ("ridge:0.5:affine", lambda w: 0.5 * w, 0.5),
        ("power:4:0.5:affine", lambda w: 0.5 * (w @ w) * w, 0.5 * 3 * 2**2),
    ],
)
def test_only_the_records_are_clipped(text: str, pull: object, curvature: float) -> None:
    loss: AnyLoss = parse_any_loss(text)
    rows, w, domain = np.array([[3.0, 4.0], [0.3, 0.4]]), np.array([1.0, -0.5]), Ball(np.zeros(2), 2.0)
    found = clipped_mean_gradient(loss, rows, clip=1.0, domain=domain, smoothness=10.0)(w)
    assert callable(pull)
    np.testing.assert_allclose(found, np.array([0.45, 0.6]) + pull(w), rtol=1e-14)
    np.testing.assert_allclose(smoothness_upper(loss, rows, domain), curvature, rtol=1e-12)
