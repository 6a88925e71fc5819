"""Approximate and zero-concentrated differential privacy for stochastic convex optimisation with heavy-tailed data."""

from refimpl.approx_dp.robust_descent import robust_gradient_descent
from refimpl.approx_dp.sample_aggregate import sample_and_aggregate
from refimpl.approx_dp.soft_descent import soft_truncation_descent
from refimpl.approx_dp.trimmed_descent import trimmed_mean_descent

__all__ = [
    "robust_gradient_descent",
    "sample_and_aggregate",
    "soft_truncation_descent",
    "trimmed_mean_descent",
]
