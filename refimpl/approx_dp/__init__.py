"""Approximate and zero-concentrated differential privacy for stochastic convex optimisation with heavy-tailed data."""

from refimpl.approx_dp.framework import sco_framework
from refimpl.approx_dp.mean_descent import private_gradient_descent
from refimpl.approx_dp.median_descent import dp_sco
from refimpl.approx_dp.robust_descent import robust_gradient_descent
from refimpl.approx_dp.sample_aggregate import sample_and_aggregate
from refimpl.approx_dp.soft_descent import soft_truncation_descent
from refimpl.approx_dp.sparse import sparse_optimisation
from refimpl.approx_dp.trimmed_descent import trimmed_mean_descent

__all__ = [
    "dp_sco",
    "private_gradient_descent",
    "robust_gradient_descent",
    "sample_and_aggregate",
    "sco_framework",
    "soft_truncation_descent",
    "sparse_optimisation",
    "trimmed_mean_descent",
]
