"""Approximate and zero-concentrated differential privacy for stochastic convex optimisation: P0, P1, P2, P3."""

from refimpl.approx_dp.accelerated import pnca_sgd
from refimpl.approx_dp.approximation import private_stochastic_approximation
from refimpl.approx_dp.descent import clipped_descent
from refimpl.approx_dp.iterated import iterated_lnc_gm
from refimpl.approx_dp.iterated_accelerated import iterated_pnca_sgd
from refimpl.approx_dp.localised import lnc_gm
from refimpl.approx_dp.repaired import localised_extension
from refimpl.approx_dp.sgd import dp_sgd

__all__ = [
    "clipped_descent",
    "dp_sgd",
    "iterated_lnc_gm",
    "iterated_pnca_sgd",
    "lnc_gm",
    "localised_extension",
    "pnca_sgd",
    "private_stochastic_approximation",
]
