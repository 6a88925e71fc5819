"""Approximate and zero-concentrated differential privacy for stochastic convex optimisation: P0, P1, P2, P3."""

from refimpl.approx_dp.accelerated import pnca_sgd
from refimpl.approx_dp.descent import clipped_descent
from refimpl.approx_dp.localised import lnc_gm
from refimpl.approx_dp.repaired import localised_extension

__all__ = ["clipped_descent", "lnc_gm", "localised_extension", "pnca_sgd"]
