"""Approximate and zero-concentrated differential privacy for stochastic convex optimisation with heavy-tailed data."""

from tailproof.refimpl.approx_dp.accelerated import pnca_sgd
from tailproof.refimpl.approx_dp.approximation import private_stochastic_approximation
from tailproof.refimpl.approx_dp.descent import clipped_descent
from tailproof.refimpl.approx_dp.framework import sco_framework
from tailproof.refimpl.approx_dp.iterated import iterated_lnc_gm
from tailproof.refimpl.approx_dp.iterated_accelerated import iterated_pnca_sgd
from tailproof.refimpl.approx_dp.localised import lnc_gm
from tailproof.refimpl.approx_dp.mean_descent import private_gradient_descent
from tailproof.refimpl.approx_dp.median_descent import dp_sco
from tailproof.refimpl.approx_dp.repaired import localised_extension
from tailproof.refimpl.approx_dp.robust_descent import robust_gradient_descent
from tailproof.refimpl.approx_dp.sample_aggregate import sample_and_aggregate
from tailproof.refimpl.approx_dp.sgd import dp_sgd
from tailproof.refimpl.approx_dp.soft_descent import soft_truncation_descent
from tailproof.refimpl.approx_dp.sparse import sparse_optimisation
from tailproof.refimpl.approx_dp.trimmed_descent import trimmed_mean_descent

__all__ = [
    "clipped_descent",
    "dp_sco",
    "dp_sgd",
    "iterated_lnc_gm",
    "iterated_pnca_sgd",
    "lnc_gm",
    "localised_extension",
    "pnca_sgd",
    "private_gradient_descent",
    "private_stochastic_approximation",
    "robust_gradient_descent",
    "sample_and_aggregate",
    "sco_framework",
    "soft_truncation_descent",
    "sparse_optimisation",
    "trimmed_mean_descent",
]
